/* SPDX-License-Identifier: ISC */
/* The file in which a program in OCaml 5 keeps its runtime events (format/ocaml.h).
 * The runtime may still be writing to it. So the counts of each ring are read first, then the
 * words, then the counts again. What was overwritten in between is left out. */
#include <stdlib.h>

#include "base/array.h"
#include "format/ocaml.h"
#include "format/packet.h"
#include "read/alive.h"
#include "read/ocaml.h"

struct rings {
    struct weft_reader common;
    struct read_ocaml o;
    char *names;
};

static bool probe(const unsigned char *head, size_t size)
{
    uint64_t w[WEFT_OCAML_HEAD_WORDS];
    return weft_ocaml_head_read(head, size, w);
}

/* Copies the words from head on into a straight line. Those that were overwritten in the meantime
 * are lost. */
static int read_words(struct rings *r, struct read_domain *g, uint64_t head_at, uint64_t room,
                      uint64_t *lost, struct weft_error *err)
{
    unsigned char bytes[16] = {0};
    int rc = read_filled(&r->common.input, bytes, sizeof bytes, head_at, err);
    const uint64_t tail = weft_read_u64(bytes + 8);
    uint64_t head = weft_read_u64(bytes);
    if (rc < 0)
        return rc;
    if (tail < head || tail - head > room) {
        read_reader_problem(
            &r->common, head_at, 0,
            "the ring of domain %u goes from word %llu to %llu, and has room for %llu", g->number,
            (unsigned long long)head, (unsigned long long)tail, (unsigned long long)room);
        return 0;
    }
    if (g->file_at > r->common.input.size || r->common.input.size - g->file_at < 8 * room) {
        read_reader_problem(
            &r->common, r->common.input.size, 0,
            "the file ends in the middle of the ring of domain %u, which is left out", g->number);
        return 0;
    }
    g->words = tail - head;
    g->bytes = weft_resize(NULL, g->words + 1, 8);
    if (!g->bytes)
        return weft_error_set(err, WEFT_E_NOMEM, g->file_at, "out of memory for a ring");
    const uint64_t first = head & (room - 1),
                   straight = room - first < g->words ? room - first : g->words;
    rc = read_filled(&r->common.input, g->bytes, 8 * (size_t)straight, g->file_at + 8 * first, err);
    if (rc == 0)
        rc = read_filled(&r->common.input, g->bytes + 8 * straight,
                         8 * (size_t)(g->words - straight), g->file_at, err);
    if (rc == 0)
        rc = read_filled(&r->common.input, bytes, sizeof bytes, head_at, err);
    if (rc < 0)
        return rc;
    const uint64_t now = weft_read_u64(bytes);
    if (now > head)
        g->at = now - head < g->words ? now - head : g->words;
    *lost = head + g->at;
    g->gap = *lost > 0;
    r->common.all += g->words;
    r->common.done += g->at;
    return 0;
}

static int read_ring(struct rings *r, uint32_t number, const uint64_t *w, struct weft_error *err)
{
    struct read_domain g = {.number = number,
                            .file_at = w[WEFT_OCAML_HEAD_RINGS_AT] +
                                       number * w[WEFT_OCAML_HEAD_RING_BYTES]};
    uint64_t lost = 0;
    int rc =
        read_words(r, &g, WEFT_OCAML_HEAD_BYTES + number * (uint64_t)WEFT_OCAML_RING_HEAD_BYTES,
                   w[WEFT_OCAML_HEAD_RING_WORDS], &lost, err);
    if (rc < 0 || (!g.words && !lost)) {
        free(g.bytes);
        return rc;
    }
    read_ocaml_add(&r->o, &g)->overwritten = lost;
    r->common.facts.overwritten_words += lost;
    return 0;
}

static int read_names(struct rings *r, uint64_t at, struct weft_error *err)
{
    const uint64_t size = (uint64_t)WEFT_OCAML_NAMES * WEFT_OCAML_NAME_BYTES;
    r->names = calloc(1, size);
    if (!r->names)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its names");
    if (at > r->common.input.size || r->common.input.size - at < size)
        read_reader_problem(&r->common, r->common.input.size, 0,
                            "the file ends before the names of its events do");
    int rc = read_filled(&r->common.input, r->names, size, at, err);
    for (unsigned i = 0; rc == 0 && i < WEFT_OCAML_NAMES; i++)
        read_ocaml_set_name(&r->o, i, r->names + (size_t)i * WEFT_OCAML_NAME_BYTES,
                            WEFT_OCAML_NAME_BYTES);
    return rc;
}

static int open_rings(struct weft_reader *common, struct weft_error *err)
{
    struct rings *r = (struct rings *)common;
    struct weft_reader_facts *f = &common->facts;
    unsigned char head[WEFT_OCAML_HEAD_BYTES] = {0};
    uint64_t w[WEFT_OCAML_HEAD_WORDS];
    int rc = read_filled(&r->common.input, head, sizeof head, 0, err);
    if (rc == 0 && !weft_ocaml_head_read(head, sizeof head, w))
        rc = weft_error_set(err, WEFT_E_FORMAT, 0, "has changed while it was opened");
    if (rc == 0)
        rc = read_ocaml_init(&r->o, common, (uint32_t)w[WEFT_OCAML_HEAD_DOMAINS], err);
    if (rc == 0)
        rc = read_names(r, w[WEFT_OCAML_HEAD_NAMES_AT], err);
    for (uint32_t i = 0; rc == 0 && i < w[WEFT_OCAML_HEAD_DOMAINS]; i++)
        rc = read_ring(r, i, w, err);
    if (rc < 0)
        return rc;
    common->is_trace = true;
    f->clock = "CLOCK_MONOTONIC";
    f->clock_kind = WEFT_CLOCK_MONOTONIC;
    f->clock_hz = 1000000000;
    f->packets = r->o.rings;
    f->content_bytes = 8 * common->all;
    f->wrapped = f->overwritten_words > 0;
    return read_ocaml_begin(&r->o, err);
}

/* If the runtime did not say that it stopped, and no process has that number, it was killed. If one
 * has it, it may be another process. */
static ptrdiff_t next_events(struct weft_reader *common, struct weft_error *err)
{
    struct rings *r = (struct rings *)common;
    const ptrdiff_t n = read_ocaml_next(&r->o, err);
    const uint32_t pid = common->facts.process.pid;
    if (!n)
        common->facts.ended = r->o.stopped                      ? WEFT_ENDED_STOPPED
                              : !pid || weft_process_start(pid) ? WEFT_ENDED_UNKNOWN
                                                                : WEFT_ENDED_KILLED;
    return n;
}

static void fini(struct weft_reader *common)
{
    struct rings *r = (struct rings *)common;
    read_ocaml_fini(&r->o);
    free(r->names);
}

const struct weft_reader_format read_rings_format = {
    .name = "OCaml events",
    .whose = "OCaml's rings",
    .size = sizeof(struct rings),
    .quirks = {.counters_anywhere = true},
    .probe = probe,
    .index = open_rings,
    .next = next_events,
    .fini = fini,
};
