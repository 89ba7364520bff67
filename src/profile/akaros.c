/* SPDX-License-Identifier: ISC */
/* Akaros's streams: kpoprofile, 64-bit words, little endian; kpdata from October 2015 on, records of
 * a type, a size, and that many bytes; and the histogram that kpdata was in July 2015. */
#include <string.h>

#include "format/bytes.h"
#include "profile/foreign_state.h"

#define KERNEL_BIT (UINT64_C(1) << 63)
#define DEFAULT_PERIOD_NS 1000000 /* of Akaros's timer: "optimer period 1000" */

enum { WORD = 8 };

/* ---- What the streams have in common ---- */

struct akaros {
    struct profile_foreign *f;
    uint32_t source, first_sample;
    uint64_t first_ns, last_ns;
    bool kernel; /* there were addresses of the kernel */
};

struct sample {
    uint64_t time_ns;
    uint32_t process; /* UINT32_MAX: not known */
    uint32_t core;
    const unsigned char *pc; /* pcs addresses, one word each, innermost first */
    uint32_t pcs;
};

static uint32_t add_text(struct profile_foreign *f, const char *text)
{
    return weft_profile_add_text(f->p, text, (uint32_t)strlen(text));
}

static struct akaros begin(struct profile_foreign *f)
{
    struct akaros a = {.f = f, .first_ns = UINT64_MAX, .first_sample = f->p->samples};
    a.source = weft_profile_add_source(
        f->p, &(struct weft_source){.name = add_text(f, "timer"), .unit = WEFT_UNIT_NS});
    return a;
}

static void add_sample(struct akaros *a, const struct sample *s)
{
    struct weft_profile *p = a->f->p;
    uint32_t stack = 0;
    for (uint32_t i = s->pcs; i-- > 0;) { /* the outermost first */
        uint64_t pc = weft_read_u64(s->pc + (size_t)i * WORD);
        bool kernel = pc & KERNEL_BIT;
        stack = weft_profile_push(p, stack, kernel ? UINT32_MAX : s->process, pc,
                                  kernel ? WEFT_NODE_KERNEL : 0, s->time_ns);
    }
    bool in_kernel = s->pcs && weft_read_u64(s->pc) & KERNEL_BIT;
    a->kernel |= s->pcs && (in_kernel || weft_read_u64(s->pc + (s->pcs - 1u) * WORD) & KERNEL_BIT);
    const struct weft_sample sample = {
        .time_ns = s->time_ns,
        .stack = stack,
        .thread = weft_profile_add_thread(p, s->process, UINT32_MAX, WEFT_NONE),
        .core = s->core,
        .source = a->source,
        .flags = in_kernel ? WEFT_SAMPLE_IN_KERNEL : 0};
    weft_profile_add_sample(p, &sample);
    a->first_ns = s->time_ns < a->first_ns ? s->time_ns : a->first_ns;
    a->last_ns = s->time_ns > a->last_ns ? s->time_ns : a->last_ns;
    a->f->facts->samples++;
}

/* Gives all samples their value. The stream does not say how often the timer ticked; so, as in op2,
 * each sample stands for its part of the time. The kernel gets the name that Akaros's own tool used;
 * its symbols are found by address, wherever it begins. rc: the result of reading. */
static int end(struct akaros *a, int rc)
{
    struct weft_profile *p = a->f->p;
    uint64_t samples = a->f->facts->samples, period = a->f->options->period_ns;
    if (rc == WEFT_E_NOMEM)
        return rc;
    if (samples && !period)
        period = (a->last_ns - a->first_ns) / samples;
    if (!period)
        period = DEFAULT_PERIOD_NS;
    p->source[a->source].period = period;
    for (uint32_t i = a->first_sample; i < p->samples; i++)
        p->sample[i].value = period;
    if (a->kernel)
        weft_profile_add_mapping(p,
                                 &(struct weft_mapping){.process = UINT32_MAX,
                                                        .path = add_text(a->f, "[kernel.kallsyms]"),
                                                        .start = KERNEL_BIT,
                                                        .size = UINT64_MAX - KERNEL_BIT,
                                                        .offset = KERNEL_BIT,
                                                        .kernel = true});
    int added = profile_foreign_added(a->f);
    return added < 0 ? added : rc;
}

/* ---- kpoprofile ---- */

enum { VERSION_1 = 1, MARK = 0xee };

static bool is_record(const unsigned char *b)
{
    return b[7] == MARK && b[6] == VERSION_1 && b[0] > 0;
}

bool profile_akaros_begins(const unsigned char *head, size_t size)
{
    return size >= WORD && is_record(head) && head[1] == 0 && head[4] == 0 && head[5] == 0;
}

/* The bytes at offset are not a record. */
static int complain(struct profile_foreign *f, uint64_t offset, const unsigned char *b)
{
    if (b[7] == MARK && b[6] != VERSION_1)
        return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                              "a record of version %u; only version 1 is known", b[6]);
    if (b[7] == MARK)
        return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                              "a record with 0 addresses; there must be at least 1");
    return weft_error_set(f->err, WEFT_E_FORMAT, offset,
                          "expected a record of kpoprofile, whose first word begins with 0xee01, "
                          "not 0x%02x%02x",
                          b[7], b[6]);
}

static int read_records(struct akaros *a)
{
    struct profile_foreign *f = a->f;
    const unsigned char *b;
    for (uint64_t at = 0;;) {
        ptrdiff_t got = profile_window_at(f->window, at, 2 * WORD, &b, f->err);
        if (got >= WORD && !is_record(b))
            return complain(f, at, b);
        size_t bytes = (got < 2 * WORD ? 2u : 2u + b[0]) * WORD;
        int rc = profile_record_at(f, at, bytes, &b);
        if (rc <= 0)
            return rc;
        add_sample(a, &(struct sample){.time_ns = weft_read_u64(b + WORD),
                                       .process = UINT32_MAX,
                                       .core = weft_read_u16(b + 2),
                                       .pc = b + 2 * WORD,
                                       .pcs = b[0]});
        TRY(profile_foreign_added(f));
        at += bytes;
    }
}

int profile_akaros_load(struct profile_foreign *f)
{
    struct akaros a = begin(f);
    int rc = profile_foreign_added(f);
    return end(&a, rc < 0 ? rc : read_records(&a));
}

/* ---- kpdata: records ---- */

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
        return profile_record_cut(f, at, wanted > left ? wanted : r->head + r->size, left);
    }
    if (r->size > TRACE_MAX)
        return 1;
    rc = profile_record_at(f, at, r->head + r->size, &b);
    r->body = b + r->head;
    return rc;
}

static void add_mapping(struct profile_foreign *f, const struct record *r)
{
    const unsigned char *b = r->body;
    struct weft_mapping m = {.from_ns = weft_read_u64(b),
                             .start = weft_read_u64(b + 8),
                             .size = weft_read_u64(b + 16),
                             .offset = weft_read_u64(b + 24),
                             .process = weft_read_u32(b + 32),
                             .path = add_text(f, (const char *)b + MAPPING_BYTES)};
    m.size = m.size > UINT64_MAX - m.start ? UINT64_MAX - m.start : m.size;
    weft_profile_add_mapping(f->p, &m);
}

static void add_process(struct profile_foreign *f, const struct record *r)
{
    const char *path = (const char *)r->body + PROCESS_BYTES, *slash = strrchr(path, '/');
    uint32_t process = weft_read_u32(r->body + 8);
    weft_profile_add_thread(f->p, process, UINT32_MAX,
                            add_text(f, slash && slash[1] ? slash + 1 : path));
    weft_profile_exec(f->p, process, weft_read_u64(r->body));
}

static void add_record(struct akaros *a, const struct record *r)
{
    if (r->body && (r->type == KERNEL_TRACE || r->type == USER_TRACE) && is_trace(r))
        add_sample(a, &(struct sample){.time_ns = weft_read_u64(r->body + 8),
                                       .process = weft_read_u32(r->body + 16),
                                       .core = weft_read_u16(r->body + 20),
                                       .pcs = weft_read_u16(r->body + 22),
                                       .pc = r->body + TRACE_BYTES});
    else if (r->body && r->type == MAPPING && has_path(r->body, r->size, MAPPING_BYTES))
        add_mapping(a->f, r);
    else if (r->body && r->type == PROCESS && has_path(r->body, r->size, PROCESS_BYTES))
        add_process(a->f, r);
    else
        a->f->p->skipped++;
}

int profile_kpdata_load(struct profile_foreign *f)
{
    struct akaros a = begin(f);
    struct record r;
    int rc = profile_foreign_added(f);
    for (uint64_t at = 0; rc == 0 && (rc = next_record(f, at, &r)) > 0; at += r.head + r.size) {
        add_record(&a, &r);
        rc = profile_foreign_added(f);
    }
    return end(&a, rc);
}

/* ---- The histogram: 0123456789abcdef  NAME  0123456789abcdef\n, 64 bytes a line ---- */

enum { LINE_BYTES = 64, NAME_AT = 17, NAME_BYTES = 29, TICKS_AT = 47 };

static bool read_hex(const unsigned char *b, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 16; i++) {
        bool digit = b[i] >= '0' && b[i] <= '9', letter = b[i] >= 'a' && b[i] <= 'f';
        if (!digit && !letter)
            return false;
        *value = *value << 4 | (unsigned)(b[i] - (digit ? '0' : 'a' - 10));
    }
    return true;
}

static bool is_line(const unsigned char *b, uint64_t *address, uint64_t *ticks)
{
    return read_hex(b, address) && b[NAME_AT - 1] == ' ' && b[TICKS_AT - 1] == ' ' &&
           read_hex(b + TICKS_AT, ticks) && b[LINE_BYTES - 1] == '\n';
}

bool profile_ticks_begins(const unsigned char *head, size_t size)
{
    uint64_t address, ticks;
    return size >= LINE_BYTES && is_line(head, &address, &ticks);
}

/* A function of the kernel, or everything outside of it: address 0. */
static void add_ticks(struct profile_foreign *f, const struct weft_sample *like,
                      const unsigned char *line, uint64_t address, bool outside)
{
    struct weft_profile *p = f->p;
    const char *name = (const char *)line + NAME_AT;
    uint32_t size = NAME_BYTES;
    for (; size && *name == ' '; size--)
        name++;
    uint32_t text =
        outside ? add_text(f, "(outside the kernel)") : weft_profile_add_text(p, name, size);
    struct weft_sample sample = *like;
    sample.stack = weft_profile_push(p, 0, UINT32_MAX, address, outside ? 0 : WEFT_NODE_KERNEL, 0);
    sample.flags = outside ? 0 : WEFT_SAMPLE_IN_KERNEL;
    const struct weft_frame frame = {
        .function = weft_profile_add_function(
            p, &(struct weft_function){.name = text, .system_name = text})};
    if (profile_foreign_added(f) == 0)
        weft_profile_resolve(p, p->stack[sample.stack].location, &frame, size || outside);
    weft_profile_add_sample(p, &sample);
    f->facts->samples++;
}

int profile_ticks_load(struct profile_foreign *f)
{
    const struct weft_source source = {
        .name = add_text(f, "samples"), .unit = WEFT_UNIT_COUNT, .period = 1};
    struct weft_sample sample = {
        .thread = weft_profile_add_thread(f->p, UINT32_MAX, UINT32_MAX, WEFT_NONE),
        .core = UINT32_MAX,
        .source = weft_profile_add_source(f->p, &source)};
    const unsigned char *b;
    int rc = profile_foreign_added(f);
    for (uint64_t line = 0; rc == 0; line++) {
        uint64_t address;
        rc = profile_record_at(f, line * LINE_BYTES, LINE_BYTES, &b);
        if (rc <= 0)
            break;
        if (!is_line(b, &address, &sample.value))
            return weft_error_set(f->err, WEFT_E_FORMAT, line * LINE_BYTES,
                                  "expected a line of 16 hexadecimal digits, 29 characters and 16 "
                                  "hexadecimal digits");
        if (line > 0 && sample.value) /* the first is the sum of the others */
            add_ticks(f, &sample, b, line == 1 ? 0 : address, line == 1);
        rc = profile_foreign_added(f);
    }
    return rc;
}
