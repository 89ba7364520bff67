/* SPDX-License-Identifier: ISC */
/* Akaros's kpdata from October 2015 on: records of a type, a size, and that many bytes. */
#include <inttypes.h>
#include <string.h>

#include "format/bytes.h"
#include "profile/akaros.h"

enum { KERNEL_TRACE = 1, USER_TRACE = 2, MAPPING = 3, PROCESS = 4 };

enum {
    VARINT_MAX = 10,    /* bytes of a number of 64 bits */
    TRACE_BYTES = 24,   /* before the addresses */
    MAPPING_BYTES = 36, /* before the path */
    PROCESS_BYTES = 12, /* before the path */
    TRACE_MAX = TRACE_BYTES + 8 * 65535,
};

struct record {
    uint64_t at; /* in the file */
    uint64_t type, size;
    unsigned head;             /* bytes of type and size */
    const unsigned char *body; /* size bytes, or NULL: more than any known record has */
};

/* A number with 7 bits per byte. Returns how many bytes it takes; 0: it continues beyond size; -1:
 * it does not fit into 64 bits. */
static int read_varint(const unsigned char *b, size_t size, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < size && i < VARINT_MAX; i++) {
        uint64_t bits = b[i] & 0x7f;
        if (i == VARINT_MAX - 1 && b[i] > 1)
            return -1;
        *value |= bits << 7 * i;
        if (!(b[i] & 0x80))
            return (int)i + 1;
    }
    return size < VARINT_MAX ? 0 : -1;
}

/* Type and size. Returns 1; 0: they continue beyond size; -1: they are invalid. */
static int read_head(struct record *r, const unsigned char *b, size_t size)
{
    int type = read_varint(b, size, &r->type);
    if (type <= 0)
        return type;
    int bytes = read_varint(b + type, size - (size_t)type, &r->size);
    r->head = (unsigned)(type + bytes);
    return bytes > 0 ? 1 : bytes;
}

/* Returns true if the record ends with a path and its NUL. */
static bool has_path(const unsigned char *body, uint64_t size, unsigned before)
{
    return size > before && memchr(body + before, 0, (size_t)(size - before));
}

static bool is_trace(const struct record *r)
{
    return r->size >= TRACE_BYTES && r->size - TRACE_BYTES >= 8u * weft_read_u16(r->body + 22);
}

bool profile_kpdata_begins(const unsigned char *head, size_t size)
{
    struct record r = {.at = 0};
    if (read_head(&r, head, size) != 1)
        return false;
    r.body = head + r.head;
    uint64_t left = size - r.head, here = r.size < left ? r.size : left;
    switch (r.type) {
    case KERNEL_TRACE:
    case USER_TRACE:
        return here >= TRACE_BYTES && r.size == TRACE_BYTES + 8u * weft_read_u16(r.body + 22);
    case MAPPING:
        return r.size <= left && has_path(r.body, r.size, MAPPING_BYTES) && !r.body[r.size - 1];
    case PROCESS:
        return r.size <= left && has_path(r.body, r.size, PROCESS_BYTES) && !r.body[r.size - 1];
    default:
        return false;
    }
}

/* Reads the record at offset. Returns 1, 0 at the end of the file, or a negative WEFT_E code. */
static int next_record(struct profile_foreign *f, uint64_t at, struct record *r)
{
    const unsigned char *b;
    *r = (struct record){.at = at};
    ptrdiff_t got = profile_window_at(f->window, at, 2 * VARINT_MAX, &b, f->err);
    if (got <= 0)
        return (int)got;
    int rc = read_head(r, b, (size_t)got);
    if (rc < 0)
        return weft_error_set(f->err, WEFT_E_FORMAT, at,
                              "expected type and size of a record of kpdata, not a number of more "
                              "than 64 bits");
    uint64_t left = f->in->size - at;
    if (rc == 0 || left < r->head || r->size > left - r->head) {
        uint64_t wanted = rc == 0 ? left + 1 : r->size; /* which may be any number */
        return profile_akaros_cut(f, at, wanted > left ? wanted : r->head + r->size, left);
    }
    if (r->size > TRACE_MAX)
        return 1;
    got = profile_window_at(f->window, at, r->head + (size_t)r->size, &b, f->err);
    if (got < 0)
        return (int)got;
    if ((uint64_t)got < r->head + r->size) /* the file was cut since it was opened */
        return profile_akaros_cut(f, at, r->head + r->size, (uint64_t)got);
    r->body = b + r->head;
    return 1;
}

static int add_mapping(struct profile_foreign *f, const struct record *r)
{
    const unsigned char *b = r->body;
    const char *path = (const char *)b + MAPPING_BYTES;
    uint32_t text = weft_profile_add_text(f->p, path, (uint32_t)strlen(path));
    struct weft_mapping m = {.from_ns = weft_read_u64(b),
                             .start = weft_read_u64(b + 8),
                             .size = weft_read_u64(b + 16),
                             .offset = weft_read_u64(b + 24),
                             .process = weft_read_u32(b + 32),
                             .path = text};
    m.size = m.size > UINT64_MAX - m.start ? UINT64_MAX - m.start : m.size;
    if (text == WEFT_NONE || weft_profile_add_mapping(f->p, &m) == WEFT_NONE)
        return profile_foreign_no_memory(f);
    return 0;
}

static int add_process(struct profile_foreign *f, const struct record *r)
{
    const char *path = (const char *)r->body + PROCESS_BYTES, *slash = strrchr(path, '/');
    const char *name = slash && slash[1] ? slash + 1 : path;
    uint32_t process = weft_read_u32(r->body + 8);
    uint32_t text = weft_profile_add_text(f->p, name, (uint32_t)strlen(name));
    if (text == WEFT_NONE || weft_profile_add_thread(f->p, process, UINT32_MAX, text) == WEFT_NONE)
        return profile_foreign_no_memory(f);
    weft_profile_exec(f->p, process, weft_read_u64(r->body));
    return 0;
}

static int add_trace(struct profile_akaros *a, const struct record *r)
{
    return profile_akaros_add(
        a, &(struct profile_akaros_sample){.time_ns = weft_read_u64(r->body + 8),
                                           .process = weft_read_u32(r->body + 16),
                                           .core = weft_read_u16(r->body + 20),
                                           .pcs = weft_read_u16(r->body + 22),
                                           .pc = r->body + TRACE_BYTES});
}

static int add_record(struct profile_akaros *a, const struct record *r)
{
    if (r->body && (r->type == KERNEL_TRACE || r->type == USER_TRACE) && is_trace(r))
        return add_trace(a, r);
    if (r->body && r->type == MAPPING && has_path(r->body, r->size, MAPPING_BYTES))
        return add_mapping(a->f, r);
    if (r->body && r->type == PROCESS && has_path(r->body, r->size, PROCESS_BYTES))
        return add_process(a->f, r);
    a->f->p->skipped++;
    return 0;
}

int profile_kpdata_load(struct profile_foreign *f)
{
    struct profile_akaros a;
    struct record r;
    int rc = profile_akaros_begin(&a, f);
    if (rc < 0)
        return rc;
    for (uint64_t at = 0; (rc = next_record(f, at, &r)) > 0; at += r.head + r.size) {
        rc = add_record(&a, &r);
        if (rc < 0)
            break;
    }
    return profile_akaros_end(&a, rc);
}
