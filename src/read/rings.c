/* SPDX-License-Identifier: ISC */
/* The file in which a program in OCaml 5 keeps its runtime events: PID.events, a ring of words for each domain.
 *
 * The runtime may still write to it. So of each ring the counts are read, then the words, then the counts again: what was
 * overwritten meanwhile is left out. Everything in the file is checked: a ring is read in steps of what its items say, and given up
 * where one says nonsense.
 *
 * Source: OCaml's runtime/caml/runtime_events.h and runtime_events_consumer.c, versions 5.0 to 5.3. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "format/bytes.h"
#include "format/packet.h"
#include "read/alive.h"
#include "read/eio.h"
#include "read/rings.h"
#include "read/state.h"

enum {
    HEAD_BYTES = 64, /* of the file */
    RING_HEAD_BYTES = 80,
    DOMAINS_MAX = 4096,
    RING_WORDS_MAX = 1 << 24,
    NAMES = 8192,
    NAME_BYTES = 128,
    NO_EVENT = 0xff,
    OWN_EVENT = 0xfe, /* one of the program itself */
};

/* Types of items, and numbers of the runtime's own. */
enum { PADDING = 0, LIFECYCLE = 1, BEGIN = 2, END = 3 };
enum { UNIT = 0, INT = 1, SPAN_BEGIN = 2, SPAN_END = 3, CUSTOM = 4 };
enum { RING_START = 0, RING_STOP = 1 };

struct ring {
    unsigned char *bytes; /* of the words from head to tail, in order */
    uint64_t words, at;   /* at: of the next item to be decoded */
    uint64_t lost;        /* words, before all */
    uint64_t file_at;     /* where its words stand in the file */
    uint32_t number;      /* in the file */
    bool ready[2];
    struct weft__eio_item item[2]; /* the first one that has not been told, and the one after it */
};

struct rings {
    struct weft_reader common;
    struct ring *ring;
    uint32_t rings;
    struct weft_stream_facts *facts;
    unsigned char *names;
    uint8_t
        event[NAMES]; /* by user id: enum weft__eio_event, or these; NO_EVENT: not looked up yet */
    struct weft__eio *eio;
    uint64_t words;
    bool stopped; /* the runtime has */
};

bool weft__is_rings(const unsigned char *head, size_t size)
{
    if (size < HEAD_BYTES)
        return false;
    uint64_t w[8];
    for (int i = 0; i < 8; i++)
        w[i] = weft_read_u64(head + 8 * i);
    return w[0] == 1 && w[1] && w[1] <= DOMAINS_MAX && w[2] == RING_HEAD_BYTES && w[4] &&
           !(w[4] & (w[4] - 1)) && w[4] <= RING_WORDS_MAX && w[3] == 8 * w[4] && w[5] == HEAD_BYTES;
}

/* ---- Items ---- */

static uint64_t word(const struct ring *g, uint64_t at)
{
    return weft_read_u64(g->bytes + 8 * at);
}

static uint8_t event_of(struct rings *r, unsigned id)
{
    static const struct {
        const char *name;
        uint8_t event;
    } known[] = {
#define X(NAME, name) {name, WEFT__EIO_##NAME},
        WEFT_EIO_EVENTS(X)
#undef X
    };
    if (r->event[id] != NO_EVENT)
        return r->event[id];
    const char *name = (const char *)r->names + (size_t)id * NAME_BYTES;
    r->event[id] = OWN_EVENT;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(name, known[i].name, NAME_BYTES))
            r->event[id] = known[i].event;
    return r->event[id];
}

/* Takes id, other, kind and text out of the bytes of a custom event. */
static void read_custom(struct weft__eio_item *x, const unsigned char *bytes, size_t size)
{
    const bool has_id = x->event == WEFT__EIO_CREATE_OBJ || x->event == WEFT__EIO_CREATE_CC ||
                        x->event == WEFT__EIO_CREATE_FIBER || x->event == WEFT__EIO_ERROR ||
                        x->event == WEFT__EIO_NAME;
    if (has_id && size < 8) {
        x->event = WEFT__EIO_EVENTS;
        return;
    }
    if (has_id) {
        x->id = weft_read_u64(bytes);
        bytes += 8;
        size -= 8;
    }
    if (x->event == WEFT__EIO_CREATE_FIBER) {
        x->other = size >= 8 ? weft_read_u64(bytes) : WEFT_ID_LOOP;
    } else if (x->event == WEFT__EIO_CREATE_OBJ || x->event == WEFT__EIO_CREATE_CC) {
        x->kind = size ? bytes[0] : 0;
    } else {
        x->text = (const char *)bytes;
        x->text_size = (uint32_t)size;
    }
}

static void read_user(struct rings *r, const struct ring *g, struct weft__eio_item *x, uint64_t at,
                      unsigned words, unsigned type, unsigned id)
{
    x->event = event_of(r, id);
    if (x->event == OWN_EVENT) {
        const char *name = (const char *)r->names + (size_t)id * NAME_BYTES;
        x->event = type == SPAN_BEGIN          ? WEFT__EIO_ENTER_SPAN
                   : type == SPAN_END          ? WEFT__EIO_EXIT_SPAN
                   : type == INT && words >= 3 ? WEFT__EIO_COUNTER
                                               : WEFT__EIO_LOG;
        x->id = x->event == WEFT__EIO_COUNTER ? word(g, at + 2) : 0;
        x->text = name;
        x->text_size = (uint32_t)strnlen(name, NAME_BYTES);
        return;
    }
    if (x->event == WEFT__EIO_SUSPEND_DOMAIN) {
        x->event = type == SPAN_END ? WEFT__EIO_RESUME_DOMAIN : WEFT__EIO_SUSPEND_DOMAIN;
    } else if (type == INT && words >= 3) {
        x->id = word(g, at + 2);
    } else if (type == CUSTOM && words >= 3) {
        const size_t bytes = 8 * (size_t)(words - 2), pad = g->bytes[8 * (at + words) - 1];
        read_custom(x, g->bytes + 8 * (at + 2), bytes > 1 + pad ? bytes - 1 - pad : 0);
    } else if (type != UNIT) {
        x->event = WEFT__EIO_EVENTS;
    }
}

static void read_runtime(struct rings *r, const struct ring *g, struct weft__eio_item *x,
                         uint64_t at, unsigned words, unsigned type, unsigned id)
{
    x->event = WEFT__EIO_EVENTS;
    if (type == BEGIN)
        x->event = WEFT__EIO_GC_BEGIN;
    else if (type == END)
        x->event = WEFT__EIO_GC_END;
    else if (type == LIFECYCLE && id == RING_START)
        x->event = WEFT__EIO_RING_START;
    r->stopped |= type == LIFECYCLE && id == RING_STOP && g->number == 0;
    if (x->event == WEFT__EIO_RING_START && words >= 3 && !r->common.facts.process.pid)
        r->common.facts.process.pid = (uint32_t)word(g, at + 2);
}

/* Decodes the ring's next item. False: there is none. */
static bool read_item(struct rings *r, struct ring *g, struct weft__eio_item *x)
{
    while (g->at < g->words) {
        const uint64_t head = word(g, g->at), at = g->at;
        const unsigned words = (unsigned)(head >> 54), type = head >> 49 & 15,
                       id = head >> 36 & 8191;
        const bool user = head >> 53 & 1, padding = !user && type == PADDING && id == 0;
        if (words < (padding ? 1u : 2u) || words > g->words - at) {
            weft__reader_problem(
                &r->common, g->file_at, 8 * (g->words - at),
                "the ring of domain %u has an item of %u words where %llu are left; the "
                "rest of it is left out",
                g->number, words, (unsigned long long)(g->words - at));
            g->at = g->words;
            return false;
        }
        g->at += words;
        if (padding)
            continue;
        *x = (struct weft__eio_item){.time_ns = word(g, at + 1), .ring = (uint32_t)(g - r->ring)};
        if (user)
            read_user(r, g, x, at, words, type, id);
        else
            read_runtime(r, g, x, at, words, type, id);
        return true;
    }
    return false;
}

/* Sees to it that both of the ring's items are there, as far as it has them. */
static void fill(struct rings *r, struct ring *g)
{
    for (int i = 0; i < 2; i++)
        if (!g->ready[i]) {
            g->ready[i] = read_item(r, g, &g->item[i]);
            if (i && g->ready[1] && g->item[1].time_ns < g->item[0].time_ns) {
                r->common.damage.backward_times++;
                g->item[1].time_ns = g->item[0].time_ns;
            }
        }
}

static void advance(struct rings *r, struct ring *g)
{
    g->item[0] = g->item[1];
    g->ready[0] = g->ready[1];
    g->ready[1] = false;
    fill(r, g);
}

/* ---- The file ---- */

/* What the file does not have of it is zeros. */
static int read_at(struct rings *r, void *buffer, size_t size, uint64_t offset,
                   struct weft_error *err)
{
    const ptrdiff_t got = weft_input_read(&r->common.input, buffer, size, offset, err);
    if (got >= 0)
        memset((char *)buffer + got, 0, size - (size_t)got);
    return got < 0 ? (int)got : 0;
}

/* The words from head on, put straight; those that were overwritten meanwhile are lost. */
static int read_words(struct rings *r, struct ring *g, uint64_t head_at, uint64_t room,
                      struct weft_error *err)
{
    unsigned char bytes[16] = {0};
    int rc = read_at(r, bytes, sizeof bytes, head_at, err);
    const uint64_t tail = weft_read_u64(bytes + 8);
    uint64_t head = weft_read_u64(bytes);
    if (rc < 0)
        return rc;
    if (tail < head || tail - head > room) {
        weft__reader_problem(
            &r->common, head_at, 0,
            "the ring of domain %u goes from word %llu to %llu, and has room for %llu", g->number,
            (unsigned long long)head, (unsigned long long)tail, (unsigned long long)room);
        return 0;
    }
    if (g->file_at > r->common.input.size || r->common.input.size - g->file_at < 8 * room) {
        weft__reader_problem(
            &r->common, r->common.input.size, 0,
            "the file ends in the middle of the ring of domain %u, which is left out", g->number);
        return 0;
    }
    g->words = tail - head;
    g->bytes = weft__resize(NULL, g->words + 1, 8);
    if (!g->bytes)
        return weft_error_set(err, WEFT_E_NOMEM, g->file_at, "out of memory for a ring");
    const uint64_t first = head & (room - 1),
                   straight = room - first < g->words ? room - first : g->words;
    rc = read_at(r, g->bytes, 8 * (size_t)straight, g->file_at + 8 * first, err);
    if (rc == 0)
        rc =
            read_at(r, g->bytes + 8 * straight, 8 * (size_t)(g->words - straight), g->file_at, err);
    if (rc == 0)
        rc = read_at(r, bytes, sizeof bytes, head_at, err);
    if (rc < 0)
        return rc;
    const uint64_t now = weft_read_u64(bytes);
    if (now > head)
        g->at = now - head < g->words ? now - head : g->words;
    g->lost = head + g->at;
    r->words += g->words;
    return 0;
}

static int read_ring(struct rings *r, uint32_t number, const uint64_t *w, struct weft_error *err)
{
    struct ring *g = &r->ring[r->rings];
    *g = (struct ring){.number = number, .file_at = w[6] + number * w[3]};
    int rc = read_words(r, g, w[5] + number * w[2], w[4], err);
    if (rc < 0 || (!g->words && !g->lost)) {
        free(g->bytes);
        g->bytes = NULL;
        return rc;
    }
    struct weft_stream_facts *f = &r->facts[r->rings++];
    *f = (struct weft_stream_facts){.overwritten = g->lost};
    weft__eio_name_stream(f, number);
    r->common.facts.overwritten_words += g->lost;
    return 0;
}

static int open_rings(struct weft_reader *common, struct weft_error *err)
{
    struct rings *r = (struct rings *)common;
    struct weft_reader_facts *f = &common->facts;
    unsigned char head[HEAD_BYTES] = {0};
    uint64_t w[8];
    int rc = read_at(r, head, sizeof head, 0, err);
    for (int i = 0; i < 8; i++)
        w[i] = weft_read_u64(head + 8 * i);
    if (rc < 0)
        return rc;
    memset(r->event, NO_EVENT, sizeof r->event);
    r->ring = calloc((size_t)w[1] + 1, sizeof *r->ring);
    r->facts = calloc((size_t)w[1] + 1, sizeof *r->facts);
    r->names = calloc(NAMES, NAME_BYTES);
    if (!r->ring || !r->facts || !r->names)
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its rings");
    if (w[7] > common->input.size || common->input.size - w[7] < (uint64_t)NAMES * NAME_BYTES)
        weft__reader_problem(common, common->input.size, 0,
                             "the file ends before the names of its events do");
    rc = read_at(r, r->names, (size_t)NAMES * NAME_BYTES, w[7], err);
    for (uint32_t i = 0; i < w[1] && rc == 0; i++)
        rc = read_ring(r, i, w, err);
    r->eio = rc == 0 ? weft__eio_new(r->rings) : NULL;
    if (rc == 0 && !r->eio)
        rc = weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its rings");
    if (rc < 0)
        return rc;
    common->is_trace = f->is_weft = true;
    f->clock = "CLOCK_MONOTONIC";
    f->clock_kind = WEFT_CLOCK_MONOTONIC;
    f->clock_hz = 1000000000;
    f->packets = f->streams = r->rings;
    f->streams_recorded = r->rings;
    f->stream = r->facts;
    f->content_bytes = 8 * r->words;
    f->wrapped = f->overwritten_words > 0;
    for (uint32_t i = 0; i < r->rings; i++)
        fill(r, &r->ring[i]);
    return 0;
}

/* Without the runtime's last word: where there is no process of that number, it was killed. One that there is may be another. */
static enum weft_ended how_it_stands(const struct weft_reader *r)
{
    const uint32_t pid = r->facts.process.pid;
    return !pid || weft_process_start(pid) ? WEFT_ENDED_UNKNOWN : WEFT_ENDED_KILLED;
}

/* The ring whose next item is the earliest. NULL: there is none. */
static struct ring *earliest(struct rings *r)
{
    struct ring *first = NULL;
    for (uint32_t i = 0; i < r->rings; i++) {
        struct ring *g = &r->ring[i];
        if (g->ready[0] && (!first || g->item[0].time_ns < first->item[0].time_ns))
            first = g;
    }
    return first;
}

static ptrdiff_t next_events(struct weft_reader *common, struct weft_error *err)
{
    struct rings *r = (struct rings *)common;
    size_t n = 0;
    struct ring *g;
    while (n + WEFT__EIO_MOST <= WEFT_BATCH && (g = earliest(r))) {
        if (g->lost) { /* before the first one */
            g->lost = 0;
            (void)weft__eio_tell(
                r->eio, common->batch + n,
                &(struct weft__eio_item){.event = WEFT__EIO_LOST, .ring = g->item[0].ring}, NULL);
        }
        const int told = weft__eio_tell(r->eio, common->batch + n, &g->item[0],
                                        g->ready[1] ? &g->item[1] : NULL);
        if (told < 0)
            return weft_error_set(err, told, g->file_at, "out of memory for its promises");
        r->facts[g->item[0].ring].kept += (uint64_t)told;
        n += (size_t)told;
        advance(r, g);
    }
    if (!n)
        common->facts.ended = r->stopped ? WEFT_ENDED_STOPPED : how_it_stands(common);
    return (ptrdiff_t)n;
}

static double progress(const struct weft_reader *common)
{
    const struct rings *r = (const struct rings *)common;
    uint64_t done = 0;
    for (uint32_t i = 0; i < r->rings; i++)
        done += r->ring[i].at;
    return r->words ? (double)done / (double)r->words : 1;
}

static void fini(struct weft_reader *common)
{
    struct rings *r = (struct rings *)common;
    for (uint32_t i = 0; i < r->rings; i++)
        free(r->ring[i].bytes);
    free(r->ring);
    free(r->facts);
    free(r->names);
    weft__eio_free(r->eio);
}

const struct weft_reader_format weft__rings_format = {
    .name = "OCaml events",
    .size = sizeof(struct rings),
    .index = open_rings,
    .next = next_events,
    .progress = progress,
    .fini = fini,
};
