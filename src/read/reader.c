/* SPDX-License-Identifier: ISC */
#include "read/reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/mirage.h"
#include "format/packet.h"
#include "read/fxt.h"
#include "read/rings.h"
#include "read/state.h"
#include "read/weft.h"

enum { SIGNATURE_AT = 20, MARK_SIZE = 24, HEAD_SIZE = 256, WINDOW = 64 << 10 };

void weft__reader_problem(struct weft_reader *r, uint64_t offset, uint64_t skipped_bytes,
                          const char *format, ...)
{
    char text[sizeof r->damage.first[0].text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct weft_damage *d = &r->damage;
    d->skipped_bytes += skipped_bytes;
    if (d->problems < WEFT_DAMAGE_KEPT)
        weft_error_set(&d->first[d->problems], WEFT_E_FORMAT, offset, "%s", text);
    d->problems++;
}

/* Whose packet begins with these bytes. NULL: nobody's. */
static const struct weft_reader_format *format_of(const unsigned char *bytes, size_t size)
{
    if (size >= WEFT_MIRAGE_MARK_SIZE && !memcmp(bytes, WEFT_MIRAGE_MARK, WEFT_MIRAGE_MARK_SIZE))
        return &weft__mirage_format;
    if (size >= MARK_SIZE && weft_read_u32(bytes) == WEFT_PACKET_MAGIC &&
        weft_read_u32(bytes + SIGNATURE_AT) == WEFT_PACKET_SIGNATURE)
        return &weft__weft_format;
    return NULL;
}

/* The format of the first packet in the file; mirage's if there is none. */
static int find_format(const struct weft_input *in, const struct weft_reader_format **format,
                       struct weft_error *err)
{
    *format = &weft__mirage_format;
    unsigned char *window = malloc(WINDOW);
    if (!window)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    ptrdiff_t got = weft_input_read(in, window, HEAD_SIZE, 0, err);
    const size_t head = got > 0 ? (size_t)got : 0;
    if (weft__is_rings(window, head) || weft__is_fxt(window, head)) {
        *format = weft__is_fxt(window, head) ? &weft__fxt_format : &weft__rings_format;
        free(window);
        return 0;
    }
    for (uint64_t at = 0, want = MARK_SIZE; at < in->size; want = WINDOW) {
        got = weft_input_read(in, window, want, at, err);
        if (got < MARK_SIZE && at)
            break;
        for (unsigned char *hit = window, *end = window + (got > 0 ? got : 0);
             (hit = memmem(hit, (size_t)(end - hit), WEFT_MIRAGE_MARK, 4)); hit++) {
            const struct weft_reader_format *found = format_of(hit, (size_t)(end - hit));
            if (found) {
                *format = found;
                free(window);
                return 0;
            }
        }
        if (got <= 0)
            break;
        at += at ? (uint64_t)got - (MARK_SIZE - 1) : 1;
    }
    free(window);
    return got < 0 ? (int)got : 0;
}

#define READS                                                                                      \
    "; weft reads its own traces, mirage-profile's, OCaml's rings and .fxt, weft profile also "    \
    "perf.data and Akaros's profiles"

/* What a file is that begins so, as far as that is easy to see; else NULL. */
static const char *kind_of(const unsigned char *head, size_t size)
{
    static const struct {
        const char *mark, *what;
    } marks[] = {
        {"\x7f"
         "ELF",
         "it is a program or a library (weft record runs one)"},
        {"PERFILE2", "it is perf.data, which weft profile reads"},
        {"\x1f\x8b", "it is compressed by gzip, so unpack it first"},
        {"\xfd"
         "7zXZ",
         "it is compressed by xz, so unpack it first"},
        {"\x28\xb5\x2f\xfd", "it is compressed by zstd, so unpack it first"},
        {"BZh", "it is compressed by bzip2, so unpack it first"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (size >= strlen(marks[i].mark) && !memcmp(head, marks[i].mark, strlen(marks[i].mark)))
            return marks[i].what;
    for (size_t i = 0; i < size; i++)
        if ((head[i] < ' ' && !strchr("\t\n\v\f\r", head[i])) || !head[i] || head[i] == 0x7f)
            return NULL;
    return "it is text";
}

/* Says what the file is instead of a trace. */
static int not_a_trace(struct weft_reader *r, struct weft_error *err)
{
    unsigned char head[HEAD_SIZE] = {0};
    ptrdiff_t n = weft_input_read(&r->input, head, sizeof head, 0, err);
    if (n < 0)
        return (int)n;
    if (n == 0)
        return weft_error_set(err, WEFT_E_FORMAT, 0, "is empty: nothing was recorded into it");
    if (r->input.size < WEFT_MIRAGE_HEADER_SIZE &&
        memcmp(head, WEFT_MIRAGE_MARK, n < 20 ? (size_t)n : 20) == 0)
        return weft_error_set(err, WEFT_E_FORMAT, r->input.size,
                              "ends in the middle of its first packet's header");
    if (r->damage.problems && format_of(head, (size_t)n))
        return weft_error_set(err, WEFT_E_FORMAT, r->damage.first[0].offset,
                              "has no packet that can be read: %.200s", r->damage.first[0].text);
    if (format_of(head, (size_t)n))
        return weft_error_set(err, WEFT_E_FORMAT, 0,
                              "has no packet that this version of weft can read");
    if (n >= 4 && weft_read_u32(head) == WEFT_CTF_MAGIC)
        return weft_error_set(err, WEFT_E_FORMAT, 4,
                              "is a CTF stream, but not of mirage-profile (another UUID); "
                              "try babeltrace2");
    const char *kind = kind_of(head, (size_t)n);
    if (kind)
        return weft_error_set(err, WEFT_E_FORMAT, 0, "is not a trace: %s" READS, kind);
    return weft_error_set(err, WEFT_E_FORMAT, 0,
                          "is not a trace: it begins with %02x %02x %02x %02x" READS, head[0],
                          head[1], head[2], head[3]);
}

/* Makes the reader that fits the file; it takes over in. */
static int make(struct weft_reader **out, struct weft_input *in, struct weft_error *err)
{
    const struct weft_reader_format *format;
    int rc = find_format(in, &format, err);
    if (rc < 0)
        return rc;
    struct weft_reader *r = calloc(1, format->size);
    if (!r)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    *out = r;
    r->format = format;
    r->input = *in;
    in->fd = -1;
    r->facts.format = format->name;
    r->facts.file_bytes = r->input.size;
    return 0;
}

int weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err)
{
    struct weft_reader *r = NULL;
    struct weft_input in;
    *out = NULL;
    int rc = weft_input_open(&in, path, err);
    if (rc == 0)
        rc = make(&r, &in, err);
    if (rc == 0)
        rc = r->format->index(r, err);
    if (rc == 0 && !r->is_trace)
        rc = not_a_trace(r, err);
    weft_input_close(&in);
    if (rc < 0)
        weft_reader_close(r);
    else
        *out = r;
    return rc;
}

void weft_reader_close(struct weft_reader *r)
{
    if (!r)
        return;
    r->format->fini(r);
    weft_input_close(&r->input);
    free(r);
}

ptrdiff_t weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                           struct weft_error *err)
{
    ptrdiff_t n = r->format->next(r, err);
    for (ptrdiff_t i = 0; i < n && !r->has_first; i++) {
        r->has_first = !r->batch[i].promoted;
        if (r->has_first || !r->facts.first_ns)
            r->facts.first_ns = r->batch[i].time_ns;
    }
    *events = r->batch;
    return n;
}

ptrdiff_t weft_reader_next_samples(struct weft_reader *r, const void **packet, uint64_t *offset,
                                   struct weft_error *err)
{
    return r->format->next_samples ? r->format->next_samples(r, packet, offset, err) : 0;
}

const struct weft_damage *weft_reader_damage(const struct weft_reader *r)
{
    return &r->damage;
}

const struct weft_reader_facts *weft_reader_facts(const struct weft_reader *r)
{
    return &r->facts;
}

bool weft_reader_was_overwritten(const struct weft_reader *r, uint64_t id)
{
    return r->facts.is_weft && r->facts.promotion.complete &&
           weft__pending_overwritten((const struct weft_file *)r, id);
}

double weft_reader_progress(const struct weft_reader *r)
{
    return r->format->progress(r);
}

const char *weft_ended_name(enum weft_ended ended)
{
    static const char *const names[] = {
        [WEFT_ENDED_UNKNOWN] = "unknown", [WEFT_ENDED_STOPPED] = "stopped",
        [WEFT_ENDED_SAVED] = "saved",     [WEFT_ENDED_RUNNING] = "still running",
        [WEFT_ENDED_KILLED] = "killed",   [WEFT_ENDED_EXITED] = "exited",
    };
    return names[ended];
}
