/* SPDX-License-Identifier: ISC */
#include "analyse/story.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"

/* A time at which a waiting promise ran again, and since when it could have. */
struct turn {
    int64_t at_ns, ready_ns;
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Waits ---- */

/* When a wait could end, and whose resolution or signal allowed it. */
static struct weft_story_wait resolved_by(const struct weft_history *h, uint32_t wait)
{
    uint32_t by;
    int64_t there = weft_history_there_ns(h, &h->wait[wait], &by);
    return (struct weft_story_wait){wait, there,
                                    by == WEFT_NONE ? WEFT_NONE : h->m->interaction[by].actor};
}

static int64_t length_of(const struct weft_history *h, const struct weft_story_wait *w)
{
    return h->wait[w->wait].until_ns - h->wait[w->wait].from_ns;
}

/* Keeps the longest: replaces the shortest one. Among equal ones the first stay. */
static void add_story_wait(const struct weft_history *h, struct weft_story_wait *list,
                           uint32_t *kept, struct weft_story_wait w)
{
    uint32_t shortest = 0;
    if (*kept < WEFT_STORY_KEPT) {
        list[(*kept)++] = w;
        return;
    }
    for (uint32_t i = 1; i < *kept; i++)
        if (length_of(h, &list[i]) <= length_of(h, &list[shortest]))
            shortest = i;
    if (length_of(h, &list[shortest]) >= length_of(h, &w))
        return;
    for (uint32_t i = shortest; i + 1 < *kept; i++) /* in order of time */
        list[i] = list[i + 1];
    list[*kept - 1] = w;
}

static int by_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    WEFT_ORDER(x->at_ns, y->at_ns);
    return weft_order(x->ready_ns, y->ready_ns);
}

/* Its waits; turn gets an entry for each that made it run. Returns how many. */
static uint32_t tell_waits(struct weft_story *s, const struct weft_history *h, struct turn *turn)
{
    uint32_t turns = 0;
    analyse_each(i, h->waits_of_first, s->promise) {
        struct weft_story_wait told_of = resolved_by(h, h->waits_of[i]);
        const struct weft_wait *w = &h->wait[told_of.wait];
        add_story_wait(h, s->wait, &s->kept_waits, told_of);
        s->waits++;
        s->waits_open += w->end == WEFT_WAIT_OPEN;
        if (w->end == WEFT_WAIT_READ || w->end == WEFT_WAIT_RAN)
            turn[turns++] = (struct turn){w->until_ns, earlier(told_of.there_ns, w->until_ns)};
    }
    qsort(turn, turns, sizeof *turn, by_time);
    return turns;
}

static void find_story_readers(struct weft_story *s, const struct weft_history *h)
{
    for (uint32_t p = s->promise;; p = s->final) { /* and those that waited for what it became */
        analyse_each(i, h->waits_for_first, p) {
            const struct weft_wait *w = &h->wait[h->waits_for[i]];
            /* for it, and already counted; or for another promise that became the same */
            if (p != s->promise && w->source != p)
                continue;
            add_story_wait(h, s->reader, &s->kept_readers, resolved_by(h, h->waits_for[i]));
            s->readers++;
            s->readers_open += w->end == WEFT_WAIT_OPEN;
        }
        if (p == s->final)
            break;
    }
}

/* ---- Runs ---- */

static int64_t weight_of_run(const struct weft_history *h, const struct weft_story_run *r)
{
    return h->m->run[r->run].end_ns - h->m->run[r->run].start_ns + r->ready_ns;
}

static void add_story_run(const struct weft_history *h, struct weft_story *s,
                          struct weft_story_run r)
{
    uint32_t least = 0;
    if (s->kept_runs < WEFT_STORY_KEPT) {
        s->run[s->kept_runs++] = r;
        return;
    }
    for (uint32_t i = 1; i < s->kept_runs; i++)
        if (weight_of_run(h, &s->run[i]) <= weight_of_run(h, &s->run[least]))
            least = i;
    if (weight_of_run(h, &s->run[least]) >= weight_of_run(h, &r))
        return;
    for (uint32_t i = least; i + 1 < s->kept_runs; i++)
        s->run[i] = s->run[i + 1];
    s->run[s->kept_runs - 1] = r;
}

/* Its runs. turn is sorted. */
static void find_story_runs(struct weft_story *s, const struct weft_history *h,
                            const struct turn *turn, uint32_t turns)
{
    const struct weft_model *m = h->m;
    int64_t ran = s->start_ns;
    uint32_t t = 0;
    analyse_each(i, h->runs_of_first, s->promise) {
        struct weft_story_run r = {.run = h->runs_of[i], .because = WEFT_NONE};
        int64_t from = m->run[r.run].start_ns, to = m->run[r.run].end_ns, ready = INT64_MIN;
        uint32_t cause = h->run_cause[r.run];
        if (cause != WEFT_NONE)
            r.because = m->interaction[cause].kind == WEFT_READS ? m->interaction[cause].other
                                                                 : m->interaction[cause].actor;
        while (t < turns && turn[t].at_ns < from)
            t++;
        for (; t < turns && turn[t].at_ns == from; t++)
            ready = later(ready, turn[t].ready_ns);
        if (ready != INT64_MIN && from > later(ready, ran))
            r.ready_ns = from - later(ready, ran);
        ran = later(ran, to);
        s->runs++;
        add_story_run(h, s, r);
        s->longest_run_ns = later(s->longest_run_ns, to - from);
    }
}

int weft_story_find(struct weft_story *out, const struct weft_history *h, uint32_t promise)
{
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[promise];
    uint32_t waits = h->waits_of_first[promise + 1] - h->waits_of_first[promise];
    *out = (struct weft_story){.promise = promise,
                               .final = weft_model_final(m, promise),
                               .start_ns = p->start_ns,
                               .end_ns = m->end_ns,
                               .resolver = WEFT_NONE};
    out->pending = m->promise[out->final].outcome == WEFT_PENDING;
    if (!out->pending)
        out->end_ns = weft_history_ended_ns(h, promise);
    if (h->resolution[promise] != WEFT_NONE)
        out->resolver = m->interaction[h->resolution[promise]].actor;
    for (uint32_t c = p->creator;
         promise != WEFT_ROOT && c != WEFT_ROOT && out->creators < WEFT_STORY_CREATORS;
         c = m->promise[c].creator)
        out->creator[out->creators++] = c;
    struct weft_meter meter = {.h = h};
    int rc = weft_spent_find(&out->spent, &meter, promise);
    weft_meter_fini(&meter);
    struct turn *turn = weft_resize(NULL, (uint64_t)waits + 1, sizeof *turn);
    if (!turn || rc < 0) {
        free(turn);
        return WEFT_E_NOMEM;
    }
    find_story_runs(out, h, turn, tell_waits(out, h, turn));
    find_story_readers(out, h);
    free(turn);
    return 0;
}
