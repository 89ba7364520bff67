/* SPDX-License-Identifier: ISC */
/* Queries on a complete history. */
#include "analyse/history.h"
#include "base/order.h"

enum {
    LONG_NS = 1000000, /* a shorter run does not block anything */
    LOOK_BACK = 64,    /* runs and idle times before a moment */
};

int64_t weft_history_resolved_ns(const struct weft_history *h, uint32_t promise)
{
    const struct weft_promise *p = &h->m->promise[weft_model_final(h->m, promise)];
    bool never = p->outcome == WEFT_PENDING || p->outcome == WEFT_FORGOTTEN;
    return never ? INT64_MAX : p->end_ns;
}

int64_t weft_history_ended_ns(const struct weft_history *h, uint32_t promise)
{
    const struct weft_promise *p = &h->m->promise[promise];
    const struct weft_promise *final = &h->m->promise[weft_model_final(h->m, promise)];
    return final->outcome == WEFT_PENDING ? INT64_MAX
           : p->end_ns > final->end_ns    ? p->end_ns
                                          : final->end_ns;
}

int64_t weft_history_length_ns(const struct weft_history *h, uint32_t promise)
{
    const int64_t end = weft_history_ended_ns(h, promise);
    return end == INT64_MAX ? end : weft_later(end - h->m->promise[promise].start_ns, 0);
}

int64_t weft_history_there_ns(const struct weft_history *h, const struct weft_wait *w, uint32_t *by)
{
    int64_t there = weft_history_resolved_ns(h, w->source);
    uint32_t x = WEFT_NONE;
    if (there <= w->until_ns) {
        x = h->resolution[w->source];
    } else if (w->notified_by != WEFT_NONE) {
        x = w->notified_by;
        there = h->m->interaction[x].time_ns;
    } else {
        there = w->end == WEFT_WAIT_READ ? w->until_ns : INT64_MAX; /* whatever it was */
    }
    if (by)
        *by = x;
    return there > w->from_ns ? there : w->from_ns;
}

/* Searches a list for the first entry; at: true if the middle item comes before it. */
#define FROM(name, of, item_first, at)                                                             \
    uint32_t weft_history_##name(const struct weft_history *h, uint32_t of, int64_t time_ns)       \
    {                                                                                              \
        uint32_t low = h->item_first[of], high = h->item_first[of + 1];                            \
        WEFT_SEEK(low, high, at);                                                                  \
        return low;                                                                                \
    }
FROM(run_from, promise, runs_of_first, h->m->run[h->runs_of[middle]].start_ns < time_ns)
FROM(wait_from, reader, waits_of_first, h->wait[h->waits_of[middle]].from_ns < time_ns)
FROM(notified_from, promise, notified_first,
     h->m->interaction[h->notified[middle]].time_ns < time_ns)
FROM(child_from, creator, children_first, h->m->promise[h->children[middle]].start_ns < time_ns)
FROM(stream_from, stream, stream_first, h->m->run[h->stream_run[middle]].start_ns < time_ns)
FROM(idle_from, stream, idle_first, h->idle[middle].end_ns <= time_ns)
#undef FROM

uint32_t weft_history_run_before(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    bool forever = time_ns == INT64_MAX;
    uint32_t place =
        forever ? h->runs_of_first[promise + 1] : weft_history_run_from(h, promise, time_ns + 1);
    return place > h->runs_of_first[promise] ? h->runs_of[place - 1] : WEFT_NONE;
}

uint32_t weft_history_run_at(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    uint32_t run = weft_history_run_before(h, promise, time_ns);
    return run != WEFT_NONE && h->m->run[run].end_ns >= time_ns ? run : WEFT_NONE;
}

uint32_t weft_history_idle_until(const struct weft_history *h, uint32_t stream, int64_t time_ns)
{
    uint32_t place = weft_history_idle_from(h, stream, time_ns);
    bool begun = place < h->idle_first[stream + 1] && h->idle[place].start_ns < time_ns;
    return place + begun;
}

int64_t weft_history_idle(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                          int64_t to_ns, int64_t least_ns, uint32_t *times)
{
    uint32_t first = weft_history_idle_from(h, stream, from_ns), n = 0;
    uint32_t end = weft_history_idle_until(h, stream, to_ns);
    int64_t sum = 0;
    if (least_ns <= 1 && first < end && from_ns < to_ns) {
        int64_t early = from_ns - h->idle[first].start_ns, late = h->idle[end - 1].end_ns - to_ns;
        sum = (int64_t)(h->idle_sum[end] - h->idle_sum[first]) - (early > 0 ? early : 0) -
              (late > 0 ? late : 0);
        n = end - first;
    }
    for (; least_ns > 1 && first < end; first++) {
        int64_t a = h->idle[first].start_ns, b = h->idle[first].end_ns;
        int64_t length = (b < to_ns ? b : to_ns) - (a > from_ns ? a : from_ns);
        sum += length < least_ns ? 0 : length;
        n += length >= least_ns;
    }
    if (times)
        *times = n;
    return sum;
}

uint32_t weft_history_idles(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                            int64_t to_ns, uint32_t most)
{
    const uint32_t low = weft_history_idle_from(h, stream, from_ns),
                   end = h->idle_first[stream + 1];
    uint32_t n = 0;
    while (low + n < end && n < most && h->idle[low + n].start_ns < to_ns)
        n++;
    return n;
}

uint32_t weft_history_collection_from(const struct weft_collection *list, uint32_t first,
                                      uint32_t end, int64_t time_ns)
{
    WEFT_SEEK(first, end, list[middle].start_ns < time_ns);
    return first;
}

/* How much of the list, from first on, is before a time. */
static int64_t sum_until(const struct weft_collection *list, uint32_t first, uint32_t end,
                         int64_t time_ns)
{
    uint32_t low = weft_history_collection_from(list, first, end, time_ns);
    if (low == first)
        return 0;
    const struct weft_collection *c = &list[low - 1];
    return c->before_ns + (c->end_ns < time_ns ? c->end_ns : time_ns) - c->start_ns;
}

/* How much of the list, from first on, is between two times. */
static int64_t sum_between(const struct weft_collection *list, uint32_t first, uint32_t end,
                           int64_t from_ns, int64_t to_ns)
{
    return from_ns < to_ns
               ? sum_until(list, first, end, to_ns) - sum_until(list, first, end, from_ns)
               : 0;
}

int64_t weft_history_collecting(const struct weft_history *h, int64_t from_ns, int64_t to_ns)
{
    return sum_between(h->collection, 0, h->collections, from_ns, to_ns);
}

int64_t weft_history_preempted_ns(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                                  int64_t to_ns)
{
    const uint32_t *first = h->preemption_first;
    return first ? sum_between(h->preemption, first[stream], first[stream + 1], from_ns, to_ns) : 0;
}

/* ---- What a loop did not see ---- */

uint32_t analyse_only_loop(const struct weft_history *h)
{
    uint32_t loop = WEFT_NONE, loops = 0;
    for (uint32_t s = 0; s < h->streams; s++)
        if (h->is_loop[s] && loops++ == 0)
            loop = s;
    return loops == 1 ? loop : WEFT_NONE;
}

uint32_t weft_history_loop_of(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    for (unsigned i = 0; i < 2 && promise != WEFT_ROOT; i++) {
        uint32_t run = weft_history_run_before(h, promise, time_ns),
                 first = h->runs_of_first[promise];
        if (run == WEFT_NONE && first < h->runs_of_first[promise + 1])
            run = h->runs_of[first];
        if (run != WEFT_NONE)
            return weft_history_stream(h, run);
        promise = h->m->promise[promise].creator;
    }
    return analyse_only_loop(h);
}

/* When a loop last knew that there was nothing new: it slept, or it looked and found something only
 * when it looked again. If it does not report sleeping, it may have slept where it ran for long. */
static int64_t knew_ns(const struct weft_history *h, uint32_t loop, int64_t time_ns)
{
    bool says = h->suspends[loop] || h->m->quirks.loop_is_sleep;
    int64_t knew = INT64_MIN;
    uint32_t i = weft_history_idle_until(h, loop, time_ns), first = h->idle_first[loop], looks = 0;
    for (uint32_t n = 0; i > first && n < LOOK_BACK && knew == INT64_MIN; n++) {
        const struct weft_idle *x = &h->idle[--i];
        int64_t end = x->end_ns < time_ns ? x->end_ns : time_ns;
        bool slept = end - x->start_ns >= (says ? ANALYSE_NAP : LONG_NS);
        if (slept || (says && looks++) || n + 1 == LOOK_BACK)
            knew = end;
    }
    return knew;
}

/* Since when something ran on a loop for long, right before a time, and after knew_ns. */
static int64_t busy_since(const struct weft_history *h, uint32_t loop, int64_t time_ns,
                          int64_t knew_ns)
{
    uint32_t first = h->stream_first[loop], low = weft_history_stream_from(h, loop, time_ns);
    int64_t since = time_ns;
    bool found = false;
    for (uint32_t n = 0; low > first && n < LOOK_BACK && since > knew_ns; n++) {
        uint32_t run = h->stream_run[--low];
        const struct weft_run *r = &h->m->run[run];
        bool root = h->run_promise[run] == WEFT_ROOT;
        int64_t from = r->start_ns > knew_ns ? r->start_ns : knew_ns;
        if (r->end_ns > time_ns && !root)
            return time_ns; /* another thread brought it */
        int64_t to = r->end_ns < time_ns ? r->end_ns : time_ns;
        if (found && (root || to < since)) /* the loop itself may have looked */
            break;
        if (!found && to - from >= LONG_NS) {
            if (time_ns - to > to - from) /* something else was done since then */
                return time_ns;
            found = true;
        }
        since = found ? from : since;
    }
    return since;
}

int64_t weft_history_unseen_ns(const struct weft_history *h, uint32_t loop, int64_t from_ns,
                               int64_t time_ns)
{
    if (loop == WEFT_NONE || !h->is_loop[loop] || !h->informed[loop])
        return time_ns;
    int64_t since = busy_since(h, loop, time_ns, knew_ns(h, loop, time_ns));
    uint32_t low = weft_history_collection_from(h->collection, 0, h->collections, since);
    if (low > 0 && h->collection[low - 1].end_ns >= since - ANALYSE_NAP)
        since = h->collection[low - 1].start_ns;
    since = since > from_ns ? since : from_ns;
    return time_ns - since >= LONG_NS ? since : time_ns;
}

int64_t weft_history_halted(const struct weft_history *h, uint32_t stream, int64_t from_ns,
                            int64_t to_ns)
{
    const int64_t off_ns = from_ns > h->m->paused_ns ? from_ns : h->m->paused_ns;
    const int64_t on_ns = to_ns < h->m->resumed_ns ? to_ns : h->m->resumed_ns;
    const int64_t sum = weft_history_collecting(h, from_ns, to_ns) +
                        weft_history_preempted_ns(h, stream, from_ns, to_ns) +
                        (on_ns > off_ns ? on_ns - off_ns : 0);
    return from_ns < to_ns && sum > to_ns - from_ns ? to_ns - from_ns : sum;
}
