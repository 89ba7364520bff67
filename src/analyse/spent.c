/* SPDX-License-Identifier: ISC */
#include "analyse/spent.h"

#include <stdlib.h>

#include "analyse/times.h"
#include "base/array.h"
#include "base/order.h"

enum {
    LOOK_BACK = 64,    /* runs before one */
    LONG_NS = 1000000, /* the loop itself may have slept */
};

/* A period in the life of one promise. A kind with more weight hides the others. */
struct weft_meter_span {
    int64_t from_ns, to_ns;
    enum { BLOCKED, WAITING, READY, RUNNING, KINDS } kind;
    uint32_t wait; /* of waits */
};

static bool add_span(struct weft_meter *k, int64_t from, int64_t to, unsigned kind)
{
    if (to <= from && kind != READY) /* see add_ready */
        return true;
    if (!weft_reserve(&k->span, k->spans, &k->span_room, sizeof *k->span))
        return false;
    k->span[k->spans++] = (struct weft_meter_span){from, to, kind, WEFT_NONE};
    return true;
}

static bool add_wait(struct weft_meter *k, int64_t from, int64_t to, unsigned kind, uint32_t wait)
{
    uint32_t before = k->spans;
    bool added = add_span(k, from, to, kind);
    if (k->spans > before)
        k->span[before].wait = wait;
    return added;
}

/* Leaves what is outside of the meter's time. */
static void clip_spans(struct weft_meter *k)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->spans && k->from_ns != k->to_ns; i++) {
        struct weft_meter_span s = k->span[i];
        s.from_ns = weft_later(s.from_ns, k->from_ns);
        s.to_ns = weft_earlier(s.to_ns, k->to_ns);
        if (s.from_ns < s.to_ns)
            k->span[kept++] = s;
    }
    if (k->from_ns != k->to_ns)
        k->spans = kept;
}

/* When the source was there, or its reader stopped waiting; and the interaction, or WEFT_NONE. */
static int64_t there_ns(const struct weft_history *h, const struct weft_wait *w, uint32_t *by)
{
    int64_t there = weft_history_there_ns(h, w, by);
    if (there <= w->until_ns)
        return there;
    *by = WEFT_NONE;
    return w->until_ns;
}

/* Since when it may have been there, though the loop brought it only then. */
static int64_t unseen_ns(const struct weft_history *h, const struct weft_wait *w, int64_t there_ns,
                         uint32_t by)
{
    if (by == WEFT_NONE || h->m->interaction[by].actor != WEFT_ROOT)
        return there_ns;
    return weft_history_unseen_ns(h, weft_history_loop_of(h, w->reader, w->until_ns), w->from_ns,
                                  there_ns);
}

static int by_end(const void *a, const void *b)
{
    const struct weft_meter_span *x = a, *y = b;
    WEFT_ORDER(x->to_ns, y->to_ns);
    return weft_order(y->from_ns, x->from_ns);
}

static int by_begin(const void *a, const void *b)
{
    const struct weft_meter_span *x = a, *y = b;
    WEFT_ORDER(x->from_ns, y->from_ns);
    WEFT_ORDER(x->kind, y->kind);
    return weft_order(x->to_ns, y->to_ns);
}

/* Most promises have one or two. */
static void sort_spans(struct weft_meter *k, int compare(const void *, const void *))
{
    for (size_t i = 1; i < k->spans; i++)
        if (compare(&k->span[i - 1], &k->span[i]) > 0) {
            qsort(k->span, k->spans, sizeof *k->span, compare);
            return;
        }
}

/* A loop does not sleep while something is ready: what ran after it slept was woken from outside,
 * and ready since then. If it does not report sleeping, it may have slept where it ran for long. */
static int64_t ready_since(const struct weft_meter *k, uint32_t stream, uint32_t run, int64_t from)
{
    const struct weft_history *h = k->h;
    int64_t start = k->h->m->run[run].start_ns;
    uint32_t first = h->idle_first[stream], low = weft_history_idle_until(h, stream, start);
    from = low > first && h->idle[low - 1].end_ns > from ? h->idle[low - 1].end_ns : from;
    first = h->stream_first[stream];
    low = weft_history_stream_from(h, stream, start);
    for (uint32_t i = 0; i < LOOK_BACK && low > first; i++) {
        uint32_t before = h->stream_run[--low];
        const struct weft_run *r = &k->h->m->run[before];
        if (r->end_ns <= from)
            break;
        if (h->run_promise[before] == WEFT_ROOT && r->end_ns - r->start_ns >= LONG_NS)
            return r->end_ns;
    }
    return from;
}

/* Since when a promise was ready that had not waited when it first ran. */
static int64_t ready_to_start(const struct weft_meter *k, uint32_t promise, uint32_t run)
{
    const struct weft_history *h = k->h;
    const struct weft_promise *p = &k->h->m->promise[promise];
    int64_t start = k->h->m->run[run].start_ns,
            from = k->raw ? p->start_ns : weft_model_wake(k->h->m, p);
    uint32_t cause = h->run_cause[run], stream = weft_history_stream(h, run);
    if (!p->created || (cause != WEFT_NONE && k->h->m->interaction[cause].kind == WEFT_SIGNALS))
        return start;
    if (cause != WEFT_NONE) { /* it has waited, though no event says so */
        int64_t resolved = weft_history_resolved_ns(h, k->h->m->interaction[cause].other);
        return resolved > start ? start : resolved > from ? resolved : from;
    }
    return ready_since(k, stream, run, from);
}

/* If several waits ended at the same moment, the reader was ready since the last of their sources
 * was there. What it had given up by then does not count. */
static bool add_ready(struct weft_meter *k, uint32_t promise)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->waits_of_first[promise], last = h->waits_of_first[promise + 1];
    bool runs = h->runs_of_first[promise] < h->runs_of_first[promise + 1];
    for (uint32_t i = first; i < last; i++) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        /* If it never runs in the trace, it may still run, without an event that says so. */
        bool counts = w->end == WEFT_WAIT_READ || w->end == WEFT_WAIT_RAN ||
                      (w->end == WEFT_WAIT_OPEN && runs);
        uint32_t by;
        int64_t there = there_ns(h, w, &by);
        if (counts && w->until_ns >= there && !add_span(k, there, w->until_ns, READY))
            return false;
    }
    sort_spans(k, by_end);
    const uint32_t found = k->spans;
    k->spans = 0;
    for (uint32_t i = 0, end; i < found; i = end) { /* the first that ends then may be empty */
        const struct weft_meter_span s = k->span[i];
        for (end = i + 1; end < found && k->span[end].to_ns == s.to_ns; end++)
            ;
        if (s.from_ns < s.to_ns)
            k->span[k->spans++] = s;
    }
    if (!runs)
        return true;
    uint32_t run = h->runs_of[h->runs_of_first[promise]];
    int64_t start = k->h->m->run[run].start_ns;
    if (first < last && h->wait[h->waits_of[first]].from_ns < start)
        return true;
    return add_span(k, ready_to_start(k, promise, run), start, READY);
}

static bool add_waits_and_runs(struct weft_meter *k, uint32_t promise)
{
    const struct weft_history *h = k->h;
    analyse_each(i, h->waits_of_first, promise) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        uint32_t by;
        int64_t there = there_ns(h, w, &by), unseen = unseen_ns(h, w, there, by);
        if (!add_wait(k, w->from_ns, unseen, WAITING, h->waits_of[i]) ||
            !add_wait(k, unseen, there, BLOCKED, h->waits_of[i]))
            return false;
    }
    analyse_each(i, h->runs_of_first, promise) {
        const struct weft_run *r = &k->h->m->run[h->runs_of[i]];
        if (!add_span(k, r->start_ns, r->end_ns, RUNNING))
            return false;
    }
    return true;
}

/* The spans of a promise, by their begin. */
static bool find_spans(struct weft_meter *k, uint32_t promise)
{
    k->spans = 0;
    if (!add_ready(k, promise) || !add_waits_and_runs(k, promise))
        return false;
    clip_spans(k);
    sort_spans(k, by_begin);
    return true;
}

int weft_spent_find(struct weft_spent *out, struct weft_meter *k, uint32_t promise)
{
    /* By kind: how much time the spans of at least that kind cover, and up to when. */
    int64_t sum[KINDS] = {0}, until[KINDS] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    int64_t collecting = 0;
    *out = (struct weft_spent){0};
    if (!find_spans(k, promise))
        return WEFT_E_NOMEM;
    for (size_t i = 0; i < k->spans; i++) {
        const struct weft_meter_span *s = &k->span[i];
        for (unsigned least = 0; least <= s->kind; least++) {
            const int64_t from = weft_later(s->from_ns, until[least]);
            if (s->to_ns <= from)
                continue;
            until[least] = s->to_ns;
            analyse_add(&sum[least], s->to_ns - from);
            if (least == RUNNING && k->h->m->pauses)
                collecting += weft_history_collecting(k->h, from, s->to_ns);
            if (least != READY || s->kind != READY)
                continue;
            if (!weft_reserve(&k->begin, k->readies, &k->begin_room, sizeof *k->begin) ||
                !weft_reserve(&k->end, k->readies, &k->end_room, sizeof *k->end))
                return WEFT_E_NOMEM;
            k->begin[k->readies] = from;
            k->end[k->readies++] = s->to_ns;
        }
    }
    *out = (struct weft_spent){sum[BLOCKED] - sum[READY], sum[BLOCKED] - sum[WAITING],
                               sum[READY] - sum[RUNNING], sum[RUNNING] - collecting, collecting};
    return 0;
}

/* ---- In parts ---- */

/* The times that a kind of spans covers, joined: what is visited next of them. */
struct cover {
    const struct weft_meter *k;
    unsigned least, most; /* kinds */
    uint32_t at;          /* the next span */
    struct weft_meter_span now;
    bool is_joined; /* spans that touch are one; otherwise the one that lasts longest counts */
};

static bool is_of(const struct cover *c, const struct weft_meter_span *s)
{
    return s->kind >= c->least && s->kind <= c->most && s->from_ns < s->to_ns;
}

/* Goes to the next time that is covered. Returns false if there is none. */
static bool go_on(struct cover *c)
{
    int64_t from = c->now.to_ns;
    bool found = false;
    for (; c->at < c->k->spans; c->at++) {
        const struct weft_meter_span *s = &c->k->span[c->at];
        if (!is_of(c, s) || s->to_ns <= (found ? c->now.to_ns : from))
            continue;
        if (found && (!c->is_joined || s->from_ns > c->now.to_ns)) {
            if (s->from_ns < c->now.to_ns)
                c->now.to_ns = s->from_ns; /* that one is visited next, from its beginning */
            return true;
        }
        if (found) {
            c->now.to_ns = s->to_ns;
            continue;
        }
        c->now = *s;
        c->now.from_ns = weft_later(s->from_ns, from);
        found = true;
    }
    return found;
}

/* Where parts are added. */
struct parts {
    struct weft_spent_part **part;
    uint32_t *parts, *room;
};

static bool put(const struct parts *out, int64_t from, int64_t to, enum weft_spent_kind kind,
                uint32_t wait)
{
    if (to <= from)
        return true;
    if (!weft_reserve(out->part, *out->parts, out->room, sizeof **out->part))
        return false;
    (*out->part)[(*out->parts)++] = (struct weft_spent_part){from, to, kind, wait};
    return true;
}

/* Adds what is covered by `under` from a time on, up to `to`; it may reach further. */
static bool put_under(const struct parts *out, struct cover *under, bool *more, int64_t from,
                      int64_t to, enum weft_spent_kind kind)
{
    while (*more && under->now.to_ns <= from)
        *more = go_on(under);
    while (*more && under->now.from_ns < to) {
        if (!put(out, weft_later(under->now.from_ns, from), weft_earlier(under->now.to_ns, to),
                 kind, under->now.wait))
            return false;
        if (under->now.to_ns > to)
            break;
        *more = go_on(under);
    }
    return true;
}

int weft_spent_parts(struct weft_spent_part **part, uint32_t *parts, uint32_t *room,
                     struct weft_meter *k, uint32_t promise)
{
    const struct parts out = {part, parts, room};
    if (!find_spans(k, promise))
        return WEFT_E_NOMEM;
    struct weft_meter_span none = {.to_ns = INT64_MIN};
    struct cover running = {k, RUNNING, RUNNING, 0, none, true};
    struct cover waiting = {k, BLOCKED, WAITING, 0, none, false};
    struct cover covered = {k, READY, RUNNING, 0, none, true};
    bool runs = go_on(&running), waits = go_on(&waiting);
    int64_t at = INT64_MIN;
    while (go_on(&covered)) {
        if (!put_under(&out, &waiting, &waits, at, covered.now.from_ns, WEFT_SPENT_WAITING))
            return WEFT_E_NOMEM;
        at = covered.now.from_ns;
        while (at < covered.now.to_ns) { /* ready, unless it runs */
            while (runs && running.now.to_ns <= at)
                runs = go_on(&running);
            bool now = runs && running.now.from_ns <= at;
            int64_t to = !runs ? covered.now.to_ns : now ? running.now.to_ns : running.now.from_ns;
            to = weft_earlier(to, covered.now.to_ns);
            if (!put(&out, at, to, now ? WEFT_SPENT_RUNNING : WEFT_SPENT_READY, WEFT_NONE))
                return WEFT_E_NOMEM;
            at = to;
        }
    }
    return put_under(&out, &waiting, &waits, at, INT64_MAX, WEFT_SPENT_WAITING) ? 0 : WEFT_E_NOMEM;
}

void weft_meter_fini(struct weft_meter *k)
{
    weft_free_all(k->span, k->begin, k->end);
    *k = (struct weft_meter){0};
}
