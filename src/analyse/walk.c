/* SPDX-License-Identifier: ISC */
#include "analyse/walk.h"
#include "base/order.h"

#include <stdlib.h>

#include "base/array.h"

enum {
    LOOK_FURTHER = 64, /* waits, beyond those that must be examined */
};

/* ---- Steps ---- */

void analyse_walk_step(struct analyse_walk *k, enum weft_step_kind kind, int64_t from,
                       uint32_t promise, uint32_t behind)
{
    struct weft_path *out = k->out;
    from = analyse_later(from, analyse_walk_top(k)->from_ns);
    if (from >= k->now_ns || k->failed)
        return;
    struct weft_step *last = out->count ? &out->step[out->count - 1] : NULL;
    if (last && last->kind == kind && last->promise == promise && last->behind == behind) {
        last->from_ns = k->now_ns = from;
        return;
    }
    if (out->count == WEFT_PATH_MAX - 1) {
        out->cut = true;
        kind = WEFT_STEP_UNKNOWN;
        from = k->low_ns;
        behind = WEFT_NONE;
    }
    k->failed = !weft_reserve(&out->step, out->count, &k->room, sizeof *out->step);
    if (k->failed)
        return;
    out->step[out->count++] = (struct weft_step){from, k->now_ns, kind, promise, behind};
    k->now_ns = from;
}

/* The last in a list that begins before a time, and its end, if that is later than *end_ns. */
static const struct weft_collection *last_halt(const struct weft_collection *list, uint32_t first,
                                               uint32_t end, int64_t now_ns, int64_t *end_ns)
{
    uint32_t low = weft_history_collection_from(list, first, end, now_ns);
    if (low == first || list[low - 1].end_ns <= *end_ns)
        return NULL;
    *end_ns = list[low - 1].end_ns < now_ns ? list[low - 1].end_ns : now_ns;
    return &list[low - 1];
}

void analyse_walk_busy(struct analyse_walk *k, enum weft_step_kind kind, uint32_t stream,
                       int64_t from, uint32_t promise, uint32_t behind)
{
    const struct weft_history *h = k->h;
    from = analyse_later(from, analyse_walk_top(k)->from_ns);
    while (k->now_ns > from && k->looks < ANALYSE_LOOKS_MAX && !k->failed) {
        int64_t end = from;
        const struct weft_collection *halt =
            last_halt(h->collection, 0, h->collections, k->now_ns, &end);
        const struct weft_collection *preempted =
            h->preemption_first ? last_halt(h->preemption, h->preemption_first[stream],
                                            h->preemption_first[stream + 1], k->now_ns, &end)
                                : NULL;
        k->looks++;
        if (!halt && !preempted)
            break;
        analyse_walk_step(k, kind, end, promise, behind);
        analyse_walk_step(k, preempted ? WEFT_STEP_PREEMPTED : WEFT_STEP_COLLECTING,
                          analyse_later((preempted ? preempted : halt)->start_ns, from), promise,
                          WEFT_NONE);
    }
    analyse_walk_step(k, kind, from, promise, behind);
}

/* ---- Runs and streams ---- */

/* The place of a number in an ascending list. */
static uint32_t place_of(const uint32_t *list, uint32_t first, uint32_t end, uint32_t number)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (list[middle] < number)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

uint32_t analyse_run_before_this(const struct weft_history *h, uint32_t run)
{
    uint32_t p = h->run_promise[run], first = h->runs_of_first[p];
    uint32_t at = place_of(h->runs_of, first, h->runs_of_first[p + 1], run);
    return at > first ? h->runs_of[at - 1] : WEFT_NONE;
}

uint32_t analyse_walk_run_now(struct analyse_walk *k, uint32_t promise)
{
    const struct weft_history *h = k->h;
    uint32_t run = weft_history_run_at(h, promise, k->now_ns);
    while (run != WEFT_NONE && k->looks < ANALYSE_LOOKS_MAX && h->run_cause[run] != WEFT_NONE &&
           h->run_cause[run] >= k->before && k->m->run[run].start_ns == k->now_ns) {
        k->looks++;
        run = analyse_run_before_this(h, run);
        if (run != WEFT_NONE && k->m->run[run].end_ns < k->now_ns)
            return WEFT_NONE;
    }
    return run;
}

/* What ran longest on a stream from then until now; WEFT_NONE if nothing ran for most of the
 * time. */
static uint32_t busiest(struct analyse_walk *k, uint32_t stream, int64_t from, uint32_t except)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->stream_first[stream], found = WEFT_NONE;
    uint32_t low = weft_history_stream_from(h, stream, k->now_ns);
    int64_t longest = 0, sum = 0;
    from = analyse_later(from, analyse_walk_top(k)->from_ns);
    for (; low > first && k->looks < ANALYSE_LOOKS_MAX; k->looks++) {
        uint32_t run = h->stream_run[--low];
        const struct weft_run *r = &k->m->run[run];
        if (r->end_ns <= from)
            break;
        int64_t length =
            (r->end_ns < k->now_ns ? r->end_ns : k->now_ns) - analyse_later(r->start_ns, from);
        if (h->run_promise[run] == except ||
            (h->run_promise[run] == WEFT_ROOT && k->m->quirks.loop_is_sleep))
            continue;
        sum += length;
        if (length > longest) {
            longest = length;
            found = h->run_promise[run];
        }
    }
    return sum > (k->now_ns - from) / 2 ? found : WEFT_NONE;
}

void analyse_walk_ready(struct analyse_walk *k, uint32_t stream, int64_t from, uint32_t promise)
{
    if (from < k->now_ns)
        analyse_walk_busy(k, WEFT_STEP_READY, stream, from, promise,
                          busiest(k, stream, from, promise));
}

void analyse_walk_outside(struct analyse_walk *k, int64_t from, uint32_t promise)
{
    uint32_t reader =
        analyse_walk_top(k)->reader == WEFT_ROOT ? promise : analyse_walk_top(k)->reader;
    uint32_t loop = weft_history_loop_of(k->h, reader, k->now_ns);
    from = analyse_later(from, analyse_walk_top(k)->from_ns);
    int64_t since = weft_history_unseen_ns(k->h, loop, from, k->now_ns);
    if (since < k->now_ns)
        analyse_walk_busy(k, WEFT_STEP_BLOCKED, loop, since, promise,
                          busiest(k, loop, since, WEFT_NONE));
    analyse_walk_step(k, WEFT_STEP_OUTSIDE, from, promise, WEFT_NONE);
}

bool analyse_walk_slept(const struct analyse_walk *k, uint32_t stream, int64_t from)
{
    from = analyse_later(from, analyse_walk_top(k)->from_ns);
    return k->h->is_loop[stream] && from < k->now_ns &&
           weft_history_idle(k->h, stream, from, k->now_ns, 1, NULL) > (k->now_ns - from) / 2;
}

bool analyse_walk_never_slept(const struct analyse_walk *k, uint32_t stream, int64_t from)
{
    from = analyse_later(from, analyse_walk_top(k)->from_ns);
    return k->h->is_loop[stream] && weft_history_idle(k->h, stream, from, k->now_ns, 1, NULL) == 0;
}

uint32_t analyse_walk_stream(const struct weft_history *h, uint32_t run)
{
    uint32_t stream = 0;
    if (run != WEFT_NONE)
        return weft_history_stream(h, run);
    while (stream + 1 < h->streams && !h->is_loop[stream])
        stream++;
    return stream;
}

uint32_t analyse_walk_calls_between(struct analyse_walk *k, uint32_t previous)
{
    enum { CALLS_MAX = 256 };
    const struct weft_run *all = k->m->run;
    uint32_t stream = weft_history_stream(k->h, k->run), first = k->h->stream_first[stream];
    uint32_t at = place_of(k->h->stream_run, first, k->h->stream_first[stream + 1], k->run);
    uint32_t last = at > first ? k->h->stream_run[at - 1] : WEFT_NONE;
    int64_t until = k->m->run[k->run].start_ns;
    for (uint32_t i = 0; i < CALLS_MAX && at > first && k->looks < ANALYSE_LOOKS_MAX;
         i++, k->looks++) {
        uint32_t run = k->h->stream_run[--at];
        const struct weft_promise *p = &k->m->promise[k->h->run_promise[run]];
        bool resolved = p->outcome != WEFT_PENDING && p->end_ns == all[run].end_ns;
        /* a run of a promise that is resolved ends there, though nothing else begins to run */
        if (all[run].end_ns != until && !(resolved && all[run].end_ns < until))
            break;
        if (run == previous)
            return run == last ? WEFT_NONE : last;
        if (k->h->run_promise[run] == WEFT_ROOT)
            break;
        until = all[run].start_ns;
    }
    return WEFT_NONE;
}

/* ---- Waits ---- */

void analyse_walk_push(struct analyse_walk *k, uint32_t reader, int64_t from, uint32_t source,
                       uint32_t before)
{
    k->awaited = source;
    if (from <= analyse_walk_top(k)->from_ns || from >= k->now_ns || k->frames == WEFT_PATH_MAX)
        return;
    if (k->frames == k->frame_room) {
        uint32_t room = 2 * k->frame_room;
        struct analyse_frame *grown = weft_resize(k->frame, room, sizeof *grown);
        k->failed |= !grown;
        if (!grown)
            return;
        k->frame = grown;
        k->frame_room = room;
    }
    k->frame[k->frames++] = (struct analyse_frame){from, reader, source, before};
}

bool analyse_walk_there(const struct analyse_walk *k, uint32_t source, uint32_t wait,
                        uint32_t before, struct analyse_there *out)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->notified_first[source], end = h->notified_first[source + 1];
    uint32_t at = place_of(h->notified, first, end, before), by = h->resolution[source];
    int64_t result = weft_history_ended_ns(h, source);
    bool found = weft_history_resolved_ns(h, source) != INT64_MAX && result <= k->now_ns &&
                 (by == WEFT_NONE || by < before);
    if (found)
        *out = (struct analyse_there){.time_ns = result, .by = by};
    if (at == first)
        return found;
    uint32_t turn = wait == WEFT_NONE ? WEFT_NONE : h->wait[wait].notified_by;
    turn = turn < before ? turn : h->notified[at - 1];
    int64_t notified = k->m->interaction[turn].time_ns;
    if (notified <= k->now_ns && (!found || notified > result)) {
        *out = (struct analyse_there){notified, turn, true};
        found = true;
    }
    return found;
}

uint32_t analyse_walk_last_served(struct analyse_walk *k, uint32_t promise, const int64_t *at_ns,
                                  int64_t since_ns, struct analyse_there *out)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->waits_of_first[promise], found = WEFT_NONE, further = 0;
    uint32_t low = weft_history_wait_from(h, promise, k->now_ns);
    while (low > first && k->looks < ANALYSE_LOOKS_MAX && further < LOOK_FURTHER) {
        uint32_t i = h->waits_of[--low];
        const struct weft_wait *w = &h->wait[i];
        struct analyse_there t;
        k->looks++;
        further += w->from_ns < since_ns;
        if (at_ns && (w->end != WEFT_WAIT_RAN || w->until_ns != *at_ns))
            continue;
        if (!analyse_walk_there(k, w->source, i, k->before, &t) || w->begun_by >= k->before)
            continue;
        t.time_ns = analyse_later(t.time_ns, w->from_ns);
        if (found == WEFT_NONE || t.time_ns > out->time_ns) {
            *out = t;
            found = i;
        }
    }
    return found;
}

uint32_t analyse_walk_ended_wait(struct analyse_walk *k, uint32_t source, uint32_t cause)
{
    const struct weft_history *h = k->h;
    uint32_t final = weft_model_final(k->m, source), found = WEFT_NONE, further = 0;
    uint32_t first = h->waits_for_first[final], low = first, high = h->waits_for_first[final + 1];
    WEFT_SEEK(low, high,
              h->wait[h->waits_for[middle]].begun_by < cause); /* the first that begins later */
    while (low > first && k->looks < ANALYSE_LOOKS_MAX && further < LOOK_FURTHER) {
        const struct weft_wait *w = &h->wait[h->waits_for[--low]];
        k->looks++;
        further += found != WEFT_NONE;
        if (found == WEFT_NONE
                ? w->ended_by == cause
                : w->reader == h->wait[found].reader && w->until_ns >= h->wait[found].from_ns)
            found = h->waits_for[low];
    }
    return found;
}

uint32_t analyse_walk_last_read(struct analyse_walk *k, uint32_t wait, struct analyse_there *there)
{
    const struct weft_history *h = k->h;
    const struct weft_run *run = &k->m->run[k->run];
    uint32_t first = h->waits_of_first[k->promise], further = 0;
    uint32_t low = weft_history_wait_from(h, k->promise, run->start_ns);
    int64_t since = wait == WEFT_NONE ? run->start_ns : h->wait[wait].from_ns;
    while (low > first && k->looks < ANALYSE_LOOKS_MAX && further < LOOK_FURTHER) {
        uint32_t i = h->waits_of[--low];
        const struct weft_wait *w = &h->wait[i];
        struct analyse_there t;
        k->looks++;
        further += w->from_ns < since;
        if (w->ended_by == WEFT_NONE || w->until_ns < run->start_ns || w->until_ns > run->end_ns ||
            !analyse_walk_there(k, w->source, i, w->ended_by, &t) || t.time_ns <= there->time_ns)
            continue;
        *there = t;
        wait = i;
    }
    return wait;
}

uint32_t analyse_walk_open_wait(struct analyse_walk *k, uint32_t promise)
{
    const struct weft_history *h = k->h;
    uint32_t first = h->waits_of_first[promise], i = h->waits_of_first[promise + 1];
    uint32_t run = weft_history_run_at(h, promise, k->now_ns);
    for (; i > first && k->looks < ANALYSE_LOOKS_MAX; k->looks++) {
        const struct weft_wait *w = &h->wait[h->waits_of[--i]];
        if (run != WEFT_NONE && w->from_ns < k->m->run[run].start_ns)
            break;
        if (w->end == WEFT_WAIT_OPEN)
            return h->waits_of[i];
    }
    return WEFT_NONE;
}
