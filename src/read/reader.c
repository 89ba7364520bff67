/* SPDX-License-Identifier: ISC */
#include "read/reader.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/mirage.h"
#include "read/mirage.h"

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

/* Says what the file is instead of a trace. */
static int not_a_trace(struct weft_reader *r, struct weft_error *err)
{
    unsigned char head[WEFT_MIRAGE_MARK_SIZE] = {0};
    ptrdiff_t n = weft_input_read(&r->input, head, sizeof head, 0, err);
    if (n < 0)
        return (int)n;
    if (n == 0)
        return weft_error_set(err, WEFT_E_FORMAT, 0, "is empty: nothing was recorded into it");
    if (r->input.size < WEFT_MIRAGE_HEADER_SIZE && memcmp(head, WEFT_MIRAGE_MARK, (size_t)n) == 0)
        return weft_error_set(err, WEFT_E_FORMAT, r->input.size,
                              "ends in the middle of its first packet's header");
    if (memcmp(head, WEFT_MIRAGE_MARK, sizeof head) == 0)
        return weft_error_set(err, WEFT_E_FORMAT, r->damage.first[0].offset,
                              "has no packet that can be read: %.200s", r->damage.first[0].text);
    if (n >= 4 && weft_read_u32(head) == WEFT_CTF_MAGIC)
        return weft_error_set(err, WEFT_E_FORMAT, 4,
                              "is a CTF stream, but not of mirage-profile (another UUID); "
                              "try babeltrace2");
    return weft_error_set(err, WEFT_E_FORMAT, 0,
                          "is not a trace: expected a packet beginning with c1 1f fc c1, found "
                          "%02x %02x %02x %02x",
                          head[0], head[1], head[2], head[3]);
}

int weft_reader_open(struct weft_reader **out, const char *path, struct weft_error *err)
{
    *out = NULL;
    struct weft_reader *r = calloc(1, sizeof *r);
    if (!r)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
    int rc = weft_input_open(&r->input, path, err);
    if (rc < 0)
        goto out;
    r->facts = (struct weft_reader_facts){
        .format = "mirage",
        .clock = "nanoseconds, origin unknown",
        .file_bytes = r->input.size,
        .streams = 1,
    };
    rc = weft__mirage_index(r, err);
    if (rc == 0 && r->facts.packets + r->facts.unused_packets == 0)
        rc = not_a_trace(r, err);
out:
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
    weft_input_close(&r->input);
    free(r->packet);
    free(r->window);
    free(r);
}

ptrdiff_t weft_reader_next(struct weft_reader *r, const struct weft_event **events,
                           struct weft_error *err)
{
    *events = r->batch;
    return weft__mirage_next(r, err);
}

uint32_t weft_reader_stream(const struct weft_reader *r)
{
    (void)r;
    return 0; /* mirage has only one */
}

const struct weft_damage *weft_reader_damage(const struct weft_reader *r)
{
    return &r->damage;
}

const struct weft_reader_facts *weft_reader_facts(const struct weft_reader *r)
{
    return &r->facts;
}

double weft_reader_progress(const struct weft_reader *r)
{
    uint64_t done = r->done_bytes;
    if (r->position)
        done += r->position - r->packet[r->current].offset;
    return r->facts.content_bytes ? (double)done / (double)r->facts.content_bytes : 1;
}
