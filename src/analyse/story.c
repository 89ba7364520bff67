/* SPDX-License-Identifier: ISC */
#include "analyse/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* A time at which a waiting promise ran again, and since when it could have. */
struct turn {
    int64_t at_ns, ready_ns;
};

/* ---- Waits ---- */

/* When a wait could end, and whose resolution or signal allowed it. */
static struct weft_story_wait resolved_by(const struct weft_history *h, uint32_t wait)
{
    uint32_t by;
    int64_t there = weft_history_there_ns(h, &h->wait[wait], &by);
    return (struct weft_story_wait){wait, there,
                                    by == WEFT_NONE ? WEFT_NONE : h->m->interaction[by].actor};
}

/* Makes room for an entry of that length in a list of the longest, in order of time; lengths: those
 * of the others. Returns its place, or WEFT_NONE: all are longer. Of equal ones the first stay. */
static uint32_t place_for(int64_t length, int64_t *lengths, void *list, size_t entry,
                          uint32_t *kept)
{
    const uint32_t last = WEFT_STORY_KEPT - 1;
    uint32_t least = 0;
    if (*kept <= last) {
        lengths[*kept] = length;
        return (*kept)++;
    }
    for (uint32_t i = 1; i <= last; i++)
        if (lengths[i] <= lengths[least])
            least = i;
    if (lengths[least] >= length)
        return WEFT_NONE;
    memmove(lengths + least, lengths + least + 1, (last - least) * sizeof *lengths);
    memmove((char *)list + least * entry, (char *)list + (least + 1) * entry,
            (last - least) * entry);
    lengths[last] = length;
    return last;
}

static void add_story_wait(const struct weft_history *h, struct weft_story_wait *list,
                           int64_t *lengths, uint32_t *kept, struct weft_story_wait w)
{
    const int64_t length = h->wait[w.wait].until_ns - h->wait[w.wait].from_ns;
    const uint32_t at = place_for(length, lengths, list, sizeof *list, kept);
    if (at != WEFT_NONE)
        list[at] = w;
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
    int64_t lengths[WEFT_STORY_KEPT];
    analyse_each(i, h->waits_of_first, s->promise) {
        struct weft_story_wait told_of = resolved_by(h, h->waits_of[i]);
        const struct weft_wait *w = &h->wait[told_of.wait];
        add_story_wait(h, s->wait, lengths, &s->kept_waits, told_of);
        s->waits++;
        s->waits_open += w->end == WEFT_WAIT_OPEN;
        if (w->end == WEFT_WAIT_READ || w->end == WEFT_WAIT_RAN)
            turn[turns++] = (struct turn){w->until_ns, weft_earlier(told_of.there_ns, w->until_ns)};
    }
    qsort(turn, turns, sizeof *turn, by_time);
    return turns;
}

static void find_story_readers(struct weft_story *s, const struct weft_history *h)
{
    int64_t lengths[WEFT_STORY_KEPT];
    for (uint32_t p = s->promise;; p = s->final) { /* and those that waited for what it became */
        analyse_each(i, h->waits_for_first, p) {
            const struct weft_wait *w = &h->wait[h->waits_for[i]];
            /* for it, and already counted; or for another promise that became the same */
            if (p != s->promise && w->source != p)
                continue;
            add_story_wait(h, s->reader, lengths, &s->kept_readers,
                           resolved_by(h, h->waits_for[i]));
            s->readers++;
            s->readers_open += w->end == WEFT_WAIT_OPEN;
        }
        if (p == s->final)
            break;
    }
}

/* ---- Runs ---- */

/* Its runs. turn is sorted. */
static void find_story_runs(struct weft_story *s, const struct weft_history *h,
                            const struct turn *turn, uint32_t turns)
{
    const struct weft_model *m = h->m;
    int64_t ran = s->start_ns, lengths[WEFT_STORY_KEPT];
    uint32_t t = 0, at;
    analyse_each(i, h->runs_of_first, s->promise) {
        struct weft_story_run r = {.run = h->runs_of[i],
                                   .because = weft_history_cause(h, h->runs_of[i])};
        int64_t from = m->run[r.run].start_ns, to = m->run[r.run].end_ns, ready = INT64_MIN;
        while (t < turns && turn[t].at_ns < from)
            t++;
        for (; t < turns && turn[t].at_ns == from; t++)
            ready = weft_later(ready, turn[t].ready_ns);
        if (ready != INT64_MIN && from > weft_later(ready, ran))
            r.ready_ns = from - weft_later(ready, ran);
        ran = weft_later(ran, to);
        s->runs++;
        at = place_for(to - from + r.ready_ns, lengths, s->run, sizeof r, &s->kept_runs);
        if (at != WEFT_NONE)
            s->run[at] = r;
        s->longest_run_ns = weft_later(s->longest_run_ns, to - from);
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
