/* SPDX-License-Identifier: ISC */
#include "read/choose.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/idmap.h"
#include "base/order.h"

/* What is known about a promise. */
enum { NAMED, INSIDE };

struct link {
    uint64_t from, to;
};

struct links {
    struct link *link; /* sorted by from, once all are there */
    uint64_t links;
    uint32_t room;
};

struct read_choice {
    struct weft_part part;
    struct weft_idmap *known; /* by number: NAMED or INSIDE */
    uint64_t *queue;          /* promises whose links have not been followed yet */
    uint64_t queued;
    uint32_t queue_room;
    struct links depends; /* waits, and what promises became */
    struct links leads;   /* who created them, and what they became */
    /* nothing says what ran before an event, so all that does is handed out */
    bool all_that_runs;
    bool found; /* there was such an event */
    bool failed;
    bool *left; /* by the stream's index: events were left out since the last one */
    uint32_t left_room;
};

#define BIT(kind) (UINT32_C(1) << WEFT_EVENT_##kind)
#define ENDS (BIT(FULFILLS) | BIT(FAILS) | BIT(RESOLVES) | BIT(CANCELS))
#define WAITS (BIT(READ) | BIT(TRY_READ) | BIT(READ_LATER) | BIT(SIGNAL) | BIT(SIGNAL_ONLY))
#define RUNS (BIT(READ) | BIT(SIGNAL) | BIT(SWITCH) | BIT(SUSPEND) | BIT(RESUME))
#define HOLDS (BIT(ACQUIRES) | BIT(RELEASES))
/* About the second promise; the others are about the first one, if they name any. */
#define OF_SECOND (ENDS | BIT(CREATES) | BIT(NOTIFIES))
#define OF_NONE (BIT(GC) | BIT(SUSPEND) | BIT(RESUME) | BIT(PREEMPTED))
/* What is handed out about promises that are only named. */
#define OF_NAMED                                                                                   \
    (OF_SECOND | BIT(BECOMES) | BIT(LABEL) | BIT(FORGETS) | BIT(SHOULD_RESOLVE) |                  \
     BIT(BACKGROUND) | BIT(SPAN) | BIT(SPAN_PARENT))

static inline bool is_of(const struct weft_event *ev, uint32_t kinds)
{
    return kinds >> ev->kind & 1;
}

/* The promise that it is about; WEFT_ID_LOOP: none. */
static uint64_t subject_of(const struct weft_event *ev)
{
    return is_of(ev, OF_NONE) ? WEFT_ID_LOOP : is_of(ev, OF_SECOND) ? ev->b : ev->a;
}

static uint32_t known_as(struct read_choice *c, uint64_t id)
{
    return id == WEFT_ID_LOOP ? WEFT_IDMAP_NONE : weft_idmap_seek(c->known, id);
}

static bool is_inside(struct read_choice *c, const struct weft_event *ev, uint64_t number)
{
    if (c->part.stream != WEFT_ALL_STREAMS)
        return number == c->part.stream && !ev->promoted;
    if (known_as(c, subject_of(ev)) == INSIDE)
        return true;
    return is_of(ev, RUNS) && !ev->promoted &&
           (c->all_that_runs || known_as(c, ev->running) == INSIDE);
}

/* Notes what is known about a promise, if that is more than before. */
static void note(struct read_choice *c, uint64_t id, uint32_t as)
{
    const uint32_t before = known_as(c, id);
    if (id == WEFT_ID_LOOP || (before != WEFT_IDMAP_NONE && before >= as) || c->failed)
        return;
    c->failed = !weft_reserve(&c->queue, c->queued, &c->queue_room, sizeof *c->queue) ||
                !weft_idmap_put(c->known, id, as);
    if (!c->failed)
        c->queue[c->queued++] = id;
}

static void add_link(struct read_choice *c, struct links *l, uint64_t from, uint64_t to)
{
    if (from == WEFT_ID_LOOP || to == WEFT_ID_LOOP || from == to || c->failed)
        return;
    c->failed = !weft_reserve(&l->link, l->links, &l->room, sizeof *l->link);
    if (!c->failed)
        l->link[l->links++] = (struct link){from, to};
}

/* All promises that these lead to, from those in the queue on, are known as that. Each is followed at most twice. */
static void follow(struct read_choice *c, const struct links *l, uint32_t as)
{
    while (c->queued && !c->failed) {
        const uint64_t id = c->queue[--c->queued];
        uint64_t low = 0, high = l->links;
        WEFT_SEEK(low, high, l->link[middle].from < id);
        for (; low < l->links && l->link[low].from == id; low++)
            note(c, l->link[low].to, as);
    }
}

static int by_from(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    WEFT_ORDER(x->from, y->from);
    return weft_order(x->to, y->to);
}

static void sort_links(struct links *l)
{
    weft_sort(l->link, l->links, sizeof *l->link, by_from);
}

/* ---- Reading before ---- */

typedef void look_fn(struct read_choice *c, const struct weft_event *ev, uint64_t number);

static void look_for_links(struct read_choice *c, const struct weft_event *ev, uint64_t number)
{
    (void)number;
    const bool waits = c->part.promise != WEFT_ID_LOOP;
    if (ev->kind == WEFT_EVENT_CREATES)
        add_link(c, &c->leads, ev->b, ev->a);
    else if (ev->kind == WEFT_EVENT_BECOMES)
        add_link(c, &c->leads, ev->a, ev->b);
    if (waits && (is_of(ev, WAITS) || ev->kind == WEFT_EVENT_BECOMES))
        add_link(c, &c->depends, ev->a, ev->b);
    c->found |=
        waits && ((!is_of(ev, OF_NONE) && ev->a == c->part.promise) || ev->b == c->part.promise);
}

static void look_for_names(struct read_choice *c, const struct weft_event *ev, uint64_t number)
{
    if (!is_inside(c, ev, number))
        return;
    c->found = true;
    if (!is_of(ev, OF_NONE)) {
        note(c, ev->a, NAMED);
        if (weft_event_kinds[ev->kind].fields > 1 &&
            weft_event_kinds[ev->kind].field[1].field == WEFT_FIELD_PROMISE)
            note(c, ev->b, NAMED);
    }
    if (!c->all_that_runs)
        note(c, ev->running, NAMED);
}

static int read_through(struct read_choice *c, struct weft_input *in, uint64_t from_ns,
                        uint64_t to_ns, look_fn *look, struct weft_error *err)
{
    struct weft_reader *r;
    const struct weft_event *ev;
    ptrdiff_t n = 0;
    const struct read_bounds bounds = {.from_ns = from_ns, .to_ns = to_ns, .part = WEFT_WHOLE};
    int rc = read_open_within(&r, in, &bounds, err);
    if (rc < 0)
        return rc;
    c->all_that_runs = r->facts.quirks.no_running;
    while (!c->failed && (n = weft_reader_next(r, &ev, err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++)
            look(c, &ev[i], read_stream_number(r, ev[i].stream));
    rc = c->failed ? weft_no_memory(err) : (int)n;
    if (rc == 0)
        read_take_input(r, in);
    weft_reader_close(r);
    return rc;
}

int read_choice_new(struct read_choice **out, struct weft_input *in, const struct weft_part *part,
                    uint64_t from_ns, uint64_t to_ns, struct weft_error *err)
{
    struct read_choice *c = *out = calloc(1, sizeof *c);
    int rc = c && (c->known = weft_idmap_new()) ? 0 : weft_no_memory(err);
    if (rc == 0) {
        c->part = *part;
        rc = read_through(c, in, from_ns, to_ns, look_for_links, err);
    }
    if (rc == 0) {
        sort_links(&c->leads);
        sort_links(&c->depends);
        note(c, part->promise, INSIDE);
        follow(c, &c->depends, INSIDE);
        rc = read_through(c, in, from_ns, to_ns, look_for_names, err);
    }
    if (rc == 0) {
        follow(c, &c->leads, NAMED);
        if (c->failed)
            rc = weft_no_memory(err);
        else if (!c->found && part->promise != WEFT_ID_LOOP)
            rc = weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                                "has no event about promise %" PRIu64, part->promise);
        else if (!c->found)
            rc = weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                                "has no event on stream %" PRIu64 "; weft info lists its streams",
                                part->stream);
        weft_free_all(c->queue, c->leads.link, c->depends.link);
        c->queue = NULL;
        c->leads.link = c->depends.link = NULL;
    }
    if (rc < 0) {
        weft_input_close(in);
        read_choice_free(c);
        *out = NULL;
    }
    return rc;
}

/* ---- Handing out ---- */

static bool *left_on(struct read_choice *c, uint32_t stream)
{
    if (stream == WEFT_STREAM_NONE)
        return NULL;
    return weft_reach(&c->left, stream, &c->left_room, sizeof *c->left, 0) ? &c->left[stream]
                                                                           : NULL;
}

/* Of promises that are only named. */
static bool is_about_named(struct read_choice *c, const struct weft_event *ev)
{
    if (is_of(ev, HOLDS))
        return known_as(c, ev->a) != WEFT_IDMAP_NONE && known_as(c, ev->b) != WEFT_IDMAP_NONE;
    return is_of(ev, OF_NAMED) && known_as(c, subject_of(ev)) != WEFT_IDMAP_NONE;
}

bool read_choice_takes(struct read_choice *c, struct weft_event *ev, uint64_t number)
{
    bool *left = ev->promoted ? NULL : left_on(c, ev->stream);
    if (is_inside(c, ev, number)) {
        ev->gap |= left && *left;
        ev->missing |= left && *left;
        if (left)
            *left = false;
        return true;
    }
    if (left)
        *left = true;
    if (!is_about_named(c, ev))
        return false;
    ev->promoted = true;
    if (is_of(ev, ENDS | BIT(NOTIFIES)) && ev->a != WEFT_ID_LOOP &&
        known_as(c, ev->a) == WEFT_IDMAP_NONE) {
        ev->a = WEFT_ID_LOOP;
        ev->unsaid = true;
    }
    return true;
}

void read_choice_free(struct read_choice *c)
{
    if (!c)
        return;
    weft_idmap_free(c->known);
    weft_free_all(c->queue, c->leads.link, c->depends.link, c->left);
    free(c);
}
