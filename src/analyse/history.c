/* SPDX-License-Identifier: ISC */
#include "analyse/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"

struct maker {
    struct weft_history *h;
    const struct weft_model *m;
    struct weft_idle *gap; /* idle times of streams, in the order in which they are found */
    uint32_t gaps, gap_room, wait_room;
    uint32_t *open; /* hash table of open waits: indices */
    uint32_t open_mask, open_count;
    uint64_t seed;
};

/* ---- Lists by key ---- */

/* The key of item i, or WEFT_NONE. */
typedef uint32_t key_of(const struct maker *k, uint32_t i);

/* Sorts the items below count into lists: *first has keys + 1 entries. An item is kept as i / per. */
static bool sort_by(const struct maker *k, uint32_t **first, uint32_t **items, uint32_t keys,
                    uint64_t count, uint32_t per, key_of *key)
{
    uint32_t *begin = calloc((size_t)keys + 2, sizeof *begin), sum = 0;
    *first = begin;
    if (!begin || count > UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = key(k, i);
        if (at != WEFT_NONE)
            begin[at + 2]++; /* begin[at + 1] is moved on while the items are stored */
    }
    for (uint32_t i = 2; i < keys + 2; i++) {
        sum += begin[i];
        begin[i] = sum;
    }
    *items = weft_resize(NULL, (uint64_t)sum + 1, sizeof **items);
    if (!*items)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = key(k, i);
        if (at != WEFT_NONE)
            (*items)[begin[at + 1]++] = i / per;
    }
    return true;
}

static uint32_t run_key(const struct maker *k, uint32_t run)
{
    return k->h->run_promise[run];
}

static uint32_t stream_key(const struct maker *k, uint32_t run)
{
    return weft_history_stream(k->h, run);
}

static uint32_t reader_key(const struct maker *k, uint32_t wait)
{
    return weft_model_final(k->h->m, k->h->wait[wait].reader);
}

/* Each wait is in the lists twice if the source has become another promise. */
static uint32_t source_key(const struct maker *k, uint32_t twice)
{
    uint32_t source = k->h->wait[twice / 2].source, final = weft_model_final(k->m, source);
    return twice % 2 == 0 ? source : final != source ? final : WEFT_NONE;
}

static uint32_t notified_key(const struct maker *k, uint32_t interaction)
{
    const struct weft_interaction *x = &k->m->interaction[interaction];
    return x->kind == WEFT_NOTIFIES ? (uint32_t)x->other : WEFT_NONE;
}

/* Each hold is in the lists twice if its holder has become another promise. */
static uint32_t holder_key(const struct maker *k, uint32_t twice)
{
    uint32_t holder = k->m->hold[twice / 2].holder;
    uint32_t final = holder == WEFT_NONE ? WEFT_NONE : weft_model_final(k->m, holder);
    return twice % 2 == 0 ? holder : final != holder ? final : WEFT_NONE;
}

/* … or its resource has. */
static uint32_t resource_key(const struct maker *k, uint32_t twice)
{
    uint32_t resource = k->m->hold[twice / 2].resource, final = weft_model_final(k->m, resource);
    return twice % 2 == 0 ? resource : final != resource ? final : WEFT_NONE;
}

static uint32_t creator_key(const struct maker *k, uint32_t promise)
{
    return promise == WEFT_ROOT ? WEFT_NONE : k->m->promise[promise].creator;
}

/* ---- Runs ---- */

static bool find_runs(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    h->run_promise = weft_resize(NULL, (uint64_t)m->runs + 1, sizeof *h->run_promise);
    if (!h->run_promise)
        return false;
    for (uint32_t p = 0; p < m->promises; p++)
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
            h->run_promise[r] = p;
    h->streams = m->streams ? m->streams : 1;
    return sort_by(k, &h->runs_of_first, &h->runs_of, m->promises, m->runs, 1, run_key) &&
           sort_by(k, &h->stream_first, &h->stream_run, h->streams, m->runs, 1, stream_key);
}

/* The interaction with which each run began. */
static bool find_causes(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    uint32_t *at = weft_resize(NULL, m->promises, sizeof *at); /* the next run of each promise */
    h->run_cause = weft_resize(NULL, (uint64_t)m->runs + 1, sizeof *h->run_cause);
    h->is_loop = calloc(h->streams, sizeof *h->is_loop);
    if (!at || !h->run_cause || !h->is_loop) {
        free(at);
        return false;
    }
    memcpy(at, h->runs_of_first, m->promises * sizeof *at);
    memset(h->run_cause, 0xff, m->runs * sizeof *h->run_cause);
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind != WEFT_READS && x->kind != WEFT_SIGNALS)
            continue;
        uint32_t p = x->kind == WEFT_READS ? x->actor : x->other, end = h->runs_of_first[p + 1];
        while (at[p] < end && m->run[h->runs_of[at[p]]].start_ns < x->time_ns)
            at[p]++;
        if (at[p] == end || m->run[h->runs_of[at[p]]].start_ns != x->time_ns)
            continue;
        uint32_t run = h->runs_of[at[p]++];
        h->run_cause[run] = i;
        if (p != WEFT_ROOT)
            h->is_loop[weft_history_stream(h, run)] = true;
    }
    free(at);
    if (h->streams == 1)
        h->is_loop[0] = true;
    return true;
}

/* ---- Idle ---- */

static bool add_idle(struct maker *k, uint32_t stream, int64_t from, int64_t to)
{
    if (to <= from)
        return true;
    struct weft_idle *last = k->gaps ? &k->gap[k->gaps - 1] : NULL;
    if (last && last->stream == stream && from <= last->end_ns) {
        last->end_ns = to > last->end_ns ? to : last->end_ns;
        return true;
    }
    if (k->gaps == k->gap_room) {
        uint64_t room = k->gap_room ? k->gap_room + k->gap_room / UINT64_C(2) : 64;
        struct weft_idle *grown =
            room > UINT32_MAX ? NULL : weft_resize(k->gap, room, sizeof *grown);
        if (!grown)
            return false;
        k->gap = grown;
        k->gap_room = (uint32_t)room;
    }
    k->gap[k->gaps++] = (struct weft_idle){from, to, stream};
    return true;
}

/* On a stream that is never suspended: the loop's own runs, and times when nothing ran. */
static bool idle_between_runs(struct maker *k, uint32_t stream)
{
    const struct weft_history *h = k->h;
    int64_t until = 0;
    bool ok = true;
    for (uint32_t i = h->stream_first[stream]; i < h->stream_first[stream + 1] && ok; i++) {
        uint32_t run = h->stream_run[i];
        const struct weft_run *r = &k->m->run[run];
        if (i > h->stream_first[stream])
            ok = add_idle(k, stream, until, r->start_ns);
        if (ok && h->run_promise[run] == WEFT_ROOT)
            ok = add_idle(k, stream, r->start_ns, r->end_ns);
        until = r->end_ns;
    }
    return ok;
}

static uint32_t idle_key(const struct maker *k, uint32_t i)
{
    return k->m->idle[i].stream;
}

static bool find_idle(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    uint32_t *first = NULL, *item = NULL;
    h->idle_first = calloc((size_t)h->streams + 1, sizeof *h->idle_first);
    bool ok =
        h->idle_first && sort_by(k, &first, &item, h->streams, m->idle ? m->idles : 0, 1, idle_key);
    for (uint32_t s = 0; s < h->streams && ok; s++) {
        h->idle_first[s] = k->gaps;
        if (!m->idle && s == m->sleep_stream) {
            for (uint32_t i = 0; i < m->sleeps && ok; i++)
                ok = add_idle(k, s, m->sleep[i].start_ns, m->sleep[i].end_ns);
            if (m->sleeps)
                continue;
        }
        for (uint32_t i = first[s]; i < first[s + 1] && ok; i++)
            ok = add_idle(k, s, m->idle[item[i]].start_ns, m->idle[item[i]].end_ns);
        if (ok && first[s] == first[s + 1])
            ok = idle_between_runs(k, s);
    }
    free(first);
    free(item);
    if (!ok)
        return false;
    h->idle_first[h->streams] = k->gaps;
    h->idle = k->gap;
    k->gap = NULL;
    h->idle_sum = weft_resize(NULL, (uint64_t)k->gaps + 1, sizeof *h->idle_sum);
    if (!h->idle_sum)
        return false;
    h->idle_sum[0] = 0;
    for (uint32_t i = 0; i < k->gaps; i++)
        h->idle_sum[i + 1] = h->idle_sum[i] + (uint64_t)(h->idle[i].end_ns - h->idle[i].start_ns);
    return true;
}

/* If nothing is ever woken, the loops are the streams that were suspended; at least the first
 * stream is one. */
static void find_loops(struct weft_history *h)
{
    const struct weft_model *m = h->m;
    bool any = false;
    for (uint32_t s = 0; s < h->streams; s++)
        any |= h->is_loop[s];
    for (uint32_t i = 0; i < m->idles && !any; i++)
        h->is_loop[m->idle[i].stream] = true;
    if (!any && !m->idle)
        h->is_loop[m->sleep_stream < h->streams ? m->sleep_stream : 0] = true;
}

static bool look_at_streams(struct weft_history *h)
{
    const struct weft_model *m = h->m;
    h->suspends = calloc(h->streams, sizeof *h->suspends);
    h->informed = calloc(h->streams, sizeof *h->informed);
    if (!h->suspends || !h->informed)
        return false;
    for (uint32_t i = 0; m->idle && i < m->idles; i++)
        h->suspends[m->idle[i].stream] = true;
    if (!m->idle && !m->quirks.loop_is_sleep && m->sleeps && m->sleep_stream < h->streams)
        h->suspends[m->sleep_stream] = true;
    for (uint32_t s = 0; s < h->streams; s++) {
        h->informed[s] = h->suspends[s] || m->quirks.loop_is_sleep;
        for (uint32_t i = h->stream_first[s] + 1; i + 1 < h->stream_first[s + 1]; i++)
            h->informed[s] |= h->run_promise[h->stream_run[i]] == WEFT_ROOT;
    }
    return true;
}

/* The model has pauses sorted by end: going backwards from the last one, overlapping ones are
 * joined. */
static bool find_collections(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    uint32_t first = m->pauses;
    struct weft_collection *list = weft_resize(NULL, (uint64_t)m->pauses + 1, sizeof *list);
    h->collection = list;
    if (!list)
        return false;
    for (uint32_t i = m->pauses; i-- > 0;) {
        int64_t start = m->pause[i].start_ns, end = m->pause[i].end_ns;
        if (end <= start)
            continue;
        if (first == m->pauses || end < list[first].start_ns)
            list[--first] = (struct weft_collection){.start_ns = start, .end_ns = end};
        else if (start < list[first].start_ns)
            list[first].start_ns = start;
    }
    h->collections = m->pauses - first;
    memmove(list, list + first, h->collections * sizeof *list);
    for (uint32_t i = 1; i < h->collections; i++)
        list[i].before_ns = list[i - 1].before_ns + list[i - 1].end_ns - list[i - 1].start_ns;
    return true;
}

/* When others had the core, if the recorder has recorded that. If not, it is treated as not
 * known. */
static bool find_preemptions(struct weft_history *h)
{
    const struct weft_model *m = h->m;
    if (!m->preemptions)
        return true;
    struct weft_preemption *list = weft_resize(NULL, m->preemptions, sizeof *list);
    if (!list)
        return false;
    memcpy(list, m->preemption, m->preemptions * sizeof *list);
    const int rc = weft_history_preempted(h, list, m->preemptions);
    free(list);
    return rc == 0;
}

/* ---- Waits ---- */

static uint64_t pair_hash(const struct maker *k, uint32_t reader, uint32_t source)
{
    return weft_mix((uint64_t)weft_model_final(k->m, reader) << 32 | weft_model_final(k->m, source),
                    k->seed);
}

static bool same_pair(const struct maker *k, const struct weft_wait *w, uint32_t reader,
                      uint32_t source)
{
    return weft_model_final(k->m, w->reader) == weft_model_final(k->m, reader) &&
           weft_model_final(k->m, w->source) == weft_model_final(k->m, source);
}

/* The place of an open wait in the table, or where it would be stored. */
static uint32_t *open_at(const struct maker *k, uint32_t reader, uint32_t source)
{
    for (uint64_t at = pair_hash(k, reader, source);; at++) {
        uint32_t *slot = &k->open[at & k->open_mask];
        if (*slot == WEFT_NONE || same_pair(k, &k->h->wait[*slot], reader, source))
            return slot;
    }
}

static bool grow_open(struct maker *k)
{
    if (k->open && k->open_count < k->open_mask / 2)
        return true;
    uint64_t size = k->open ? 2 * ((uint64_t)k->open_mask + 1) : 64;
    uint32_t *before = k->open, old = before ? k->open_mask + 1 : 0;
    uint32_t *table = size > UINT32_MAX ? NULL : weft_resize(NULL, size, sizeof *table);
    if (!table)
        return false;
    memset(table, 0xff, size * sizeof *table);
    k->open = table;
    k->open_mask = (uint32_t)size - 1;
    for (uint32_t i = 0; i < old; i++)
        if (before[i] != WEFT_NONE)
            *open_at(k, k->h->wait[before[i]].reader, k->h->wait[before[i]].source) = before[i];
    free(before);
    return true;
}

/* Removes a wait from the table; those after it move up. */
static void close_slot(struct maker *k, uint32_t *slot)
{
    uint32_t hole = (uint32_t)(slot - k->open);
    k->open_count--;
    for (uint32_t at = hole;;) {
        at = (at + 1) & k->open_mask;
        uint32_t wait = k->open[at];
        if (wait == WEFT_NONE)
            break;
        const struct weft_wait *w = &k->h->wait[wait];
        uint32_t home = (uint32_t)pair_hash(k, w->reader, w->source) & k->open_mask;
        if (((at - home) & k->open_mask) >= ((at - hole) & k->open_mask)) {
            k->open[hole] = wait;
            hole = at;
        }
    }
    k->open[hole] = WEFT_NONE;
}

/* The first run of a promise that begins at or after a time, or WEFT_NONE. */
static uint32_t run_from(const struct weft_history *h, uint32_t promise, int64_t time_ns)
{
    uint32_t place = weft_history_run_from(h, promise, time_ns);
    return place < h->runs_of_first[promise + 1] ? h->runs_of[place] : WEFT_NONE;
}

static bool begin_wait(struct maker *k, uint32_t interaction)
{
    const struct weft_interaction *x = &k->m->interaction[interaction];
    struct weft_history *h = k->h;
    if (x->other == WEFT_ROOT)
        return true;
    if (!grow_open(k))
        return false;
    uint32_t *slot = open_at(k, x->actor, x->other);
    if (*slot != WEFT_NONE) { /* a new wait, or the same one? */
        uint32_t run = run_from(h, x->actor, h->wait[*slot].from_ns + 1);
        if (run == WEFT_NONE || h->m->run[run].start_ns > x->time_ns)
            return true;
        k->open_count--;
    }
    if (h->waits == k->wait_room) {
        uint64_t room = k->wait_room ? k->wait_room + k->wait_room / UINT64_C(2) : 256;
        struct weft_wait *grown =
            room > UINT32_MAX ? NULL : weft_resize(h->wait, room, sizeof *grown);
        if (!grown)
            return false;
        h->wait = grown;
        k->wait_room = (uint32_t)room;
    }
    *slot = h->waits;
    k->open_count++;
    h->wait[h->waits++] = (struct weft_wait){.from_ns = x->time_ns,
                                             .until_ns = h->m->end_ns,
                                             .reader = x->actor,
                                             .source = x->other,
                                             .begun_by = interaction,
                                             .ended_by = WEFT_NONE,
                                             .notified_by = WEFT_NONE,
                                             .end = WEFT_WAIT_OPEN};
    return true;
}

static void end_wait(struct maker *k, uint32_t reader, uint32_t source, uint32_t interaction)
{
    if (!k->open)
        return;
    uint32_t *slot = open_at(k, reader, source);
    if (*slot == WEFT_NONE)
        return;
    struct weft_wait *w = &k->h->wait[*slot];
    int64_t time = k->m->interaction[interaction].time_ns;
    w->end = WEFT_WAIT_READ;
    w->until_ns = time > w->from_ns ? time : w->from_ns;
    w->ended_by = interaction;
    close_slot(k, slot);
}

static bool find_all_waits(struct maker *k)
{
    const struct weft_model *m = k->m;
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_WAITS && !begin_wait(k, i))
            return false;
        if (x->kind == WEFT_READS)
            end_wait(k, x->actor, x->other, i);
        else if (x->kind == WEFT_SIGNALS)
            end_wait(k, x->other, x->actor, i);
    }
    free(k->open);
    k->open = NULL;
    return true;
}

/* When the reader of a wait could first have continued: it was resolved, or notified after the wait
 * began. INT64_MAX: never. */
static int64_t earliest_ns(const struct weft_history *h, const struct weft_wait *w)
{
    int64_t resolved = weft_history_resolved_ns(h, w->source);
    if (resolved != INT64_MAX)
        return resolved > w->from_ns ? resolved : w->from_ns;
    uint32_t first = weft_history_notified_from(h, w->source, w->from_ns);
    return first < h->notified_first[w->source + 1] ? h->m->interaction[h->notified[first]].time_ns
                                                    : INT64_MAX;
}

/* The first run of a reader, or of what it became, from a time on. */
static uint32_t reader_run(const struct weft_history *h, uint32_t reader, int64_t time_ns)
{
    uint32_t final = weft_model_final(h->m, reader), run = run_from(h, reader, time_ns);
    uint32_t later = final == reader ? WEFT_NONE : run_from(h, final, time_ns);
    if (run == WEFT_NONE || later == WEFT_NONE)
        return run == WEFT_NONE ? later : run;
    return h->m->run[later].start_ns < h->m->run[run].start_ns ? later : run;
}

/* Returns true if an interaction that made a promise run was about a source. */
static bool has_to_do_with(const struct weft_history *h, uint32_t interaction, uint32_t source)
{
    const struct weft_interaction *x = &h->m->interaction[interaction];
    uint32_t about = x->kind == WEFT_READS ? x->other : x->actor;
    return weft_model_final(h->m, about) == weft_model_final(h->m, source);
}

/* Finds how a wait ended if no event has ended it. */
static void end_wait_by_runs(const struct weft_history *h, struct weft_wait *w, uint32_t next)
{
    const struct weft_model *m = h->m;
    const struct weft_promise *reader = &m->promise[weft_model_final(m, w->reader)];
    int64_t there = earliest_ns(h, w);
    bool resolved = weft_history_resolved_ns(h, w->source) != INT64_MAX;
    uint32_t run = there == INT64_MAX ? WEFT_NONE : reader_run(h, w->reader, there);
    if (run != WEFT_NONE && m->run[run].start_ns == w->from_ns) /* the one in which it began */
        run = reader_run(h, w->reader, w->from_ns + 1);
    if (run != WEFT_NONE && (resolved || h->run_cause[run] == WEFT_NONE ||
                             has_to_do_with(h, h->run_cause[run], w->source))) {
        w->end = WEFT_WAIT_RAN;
        w->until_ns = m->run[run].start_ns;
        return;
    }
    run = reader_run(h, w->reader, w->from_ns + 1);
    if (run != WEFT_NONE && next != WEFT_NONE && h->wait[next].from_ns >= m->run[run].start_ns) {
        w->end = WEFT_WAIT_LEFT;
        w->until_ns = m->run[run].start_ns;
    } else if (reader->outcome != WEFT_PENDING) {
        w->end = WEFT_WAIT_ENDED;
        w->until_ns = reader->end_ns > w->from_ns ? reader->end_ns : w->from_ns;
    }
}

/* The last wait of each reader says what it waits for now. */
static void end_open_waits(struct weft_history *h)
{
    for (uint32_t p = 0; p < h->m->promises; p++) {
        uint32_t first = h->waits_of_first[p], end = h->waits_of_first[p + 1];
        uint32_t last = first < end ? h->waits_of[end - 1] : WEFT_NONE;
        for (uint32_t i = first; i < end; i++) {
            struct weft_wait *w = &h->wait[h->waits_of[i]];
            if (w->end == WEFT_WAIT_OPEN)
                end_wait_by_runs(h, w, i + 1 < end ? last : WEFT_NONE);
        }
    }
}

/* ---- Notifications that let a reader continue ---- */

/* A wait for a condition after which its reader continued. */
struct gone {
    int64_t until_ns;
    uint32_t ended_by, wait;
};

static int by_end(const void *a, const void *b)
{
    const struct gone *x = a, *y = b;
    WEFT_ORDER(x->until_ns, y->until_ns);
    return weft_order(x->ended_by, y->ended_by);
}

static bool is_before(const struct weft_history *h, uint32_t notified, const struct gone *g)
{
    int64_t time = h->m->interaction[notified].time_ns;
    return time < g->until_ns || (time == g->until_ns && notified < g->ended_by);
}

/* Returns true if a notification may have let a reader continue: it waited, and its thread did not
 * fall asleep in between; a thread does not do that while something on it is ready. */
static bool is_turn(const struct weft_history *h, uint32_t notified, const struct weft_wait *w)
{
    int64_t time = h->m->interaction[notified].time_ns;
    uint32_t run = weft_history_run_before(h, w->reader, w->until_ns);
    if (w->begun_by > notified || time < w->from_ns)
        return false;
    if (run == WEFT_NONE)
        return true;
    uint32_t stream = weft_history_stream(h, run), end = h->idle_first[stream + 1];
    for (uint32_t i = weft_history_idle_from(h, stream, time);
         i < end && h->idle[i].start_ns < w->until_ns; i++)
        if (h->idle[i].start_ns > time && h->idle[i].end_ns - h->idle[i].start_ns >= ANALYSE_NAP)
            return false;
    return true;
}

/* Finds which notification let each of them continue: the last one before that. As long as there
 * are enough, each notification serves one; they are assigned from the last one backwards. Returns
 * the last notification that nobody needed, or WEFT_NONE. */
static uint32_t give_turns(struct weft_history *h, const struct gone *gone, uint32_t count,
                           uint32_t condition)
{
    uint32_t first = h->notified_first[condition], seen = count, next = count, spare = WEFT_NONE;
    for (uint32_t i = h->notified_first[condition + 1]; i-- > first;) {
        uint32_t x = h->notified[i];
        bool needed = false;
        for (; seen > 0 && is_before(h, x, &gone[seen - 1]); seen--) {
            struct weft_wait *w = &h->wait[gone[seen - 1].wait];
            if (w->begun_by < x)
                w->notified_by = x;
            needed = true;
        }
        while (next > seen) {
            struct weft_wait *w = &h->wait[gone[--next].wait];
            if (is_turn(h, x, w)) {
                w->notified_by = x;
                needed = true;
                break;
            }
        }
        spare = needed || spare != WEFT_NONE ? spare : x;
    }
    return spare;
}

static bool find_turns(struct weft_history *h)
{
    struct gone *gone = NULL;
    uint32_t room = 0;
    bool ok = true;
    for (uint32_t c = 0; c < h->m->promises && ok; c++) {
        uint32_t count = 0, end = h->waits_for_first[c + 1];
        if (h->notified_first[c] == h->notified_first[c + 1])
            continue;
        for (uint32_t i = h->waits_for_first[c]; i < end && ok; i++) {
            const struct weft_wait *w = &h->wait[h->waits_for[i]];
            if (w->end != WEFT_WAIT_READ && w->end != WEFT_WAIT_RAN)
                continue;
            ok = weft_reserve(&gone, count, &room, sizeof *gone);
            if (ok)
                gone[count++] = (struct gone){w->until_ns, w->ended_by, h->waits_for[i]};
        }
        if (ok && count)
            qsort(gone, count, sizeof *gone, by_end);
        uint32_t spare = ok ? give_turns(h, gone, count, c) : WEFT_NONE;
        for (uint32_t i = h->waits_for_first[c]; i < end && spare != WEFT_NONE; i++) {
            struct weft_wait *w = &h->wait[h->waits_for[i]];
            if (w->end == WEFT_WAIT_OPEN && w->begun_by < spare)
                w->notified_by = spare;
        }
    }
    free(gone);
    return ok;
}

/* ---- All of it ---- */

static bool find_resolutions(struct weft_history *h)
{
    const struct weft_model *m = h->m;
    h->resolution = weft_resize(NULL, m->promises, sizeof *h->resolution);
    if (!h->resolution)
        return false;
    memset(h->resolution, 0xff, m->promises * sizeof *h->resolution);
    for (uint32_t i = 0; i < m->interactions; i++)
        if (m->interaction[i].kind == WEFT_RESOLVES)
            h->resolution[m->interaction[i].other] = i;
    for (uint32_t p = 0; p < m->promises; p++)
        if (m->promise[p].becomes != WEFT_NONE)
            h->resolution[p] = h->resolution[weft_model_final(m, p)];
    return true;
}

static int make_history(struct maker *k, weft_progress_fn *progress, void *data)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
#define STEP(share, ok)                                                                            \
    do {                                                                                           \
        if (!(ok))                                                                                 \
            return WEFT_E_NOMEM;                                                                   \
        if (progress && !progress(data, share))                                                    \
            return WEFT_E_CANCELED;                                                                \
    } while (0)
    STEP(0.2, find_runs(k));
    STEP(0.3, find_causes(k));
    STEP(0.4, find_idle(k));
    find_loops(h);
    STEP(0.42, look_at_streams(h));
    STEP(0.45, find_collections(k) && find_preemptions(h));
    STEP(0.5, find_resolutions(h));
    STEP(0.7, find_all_waits(k));
    STEP(0.8, sort_by(k, &h->waits_of_first, &h->waits_of, m->promises, h->waits, 1, reader_key));
    STEP(0.9, sort_by(k, &h->waits_for_first, &h->waits_for, m->promises, 2 * (uint64_t)h->waits, 2,
                      source_key));
    STEP(0.95, sort_by(k, &h->notified_first, &h->notified, m->promises, m->interactions, 1,
                       notified_key));
    STEP(0.96, sort_by(k, &h->holds_of_first, &h->holds_of, m->promises, 2 * (uint64_t)m->holds, 2,
                       holder_key) &&
                   sort_by(k, &h->holds_for_first, &h->holds_for, m->promises,
                           2 * (uint64_t)m->holds, 2, resource_key));
    end_open_waits(h);
    STEP(0.97, find_turns(h));
    STEP(1.0,
         sort_by(k, &h->children_first, &h->children, m->promises, m->promises, 1, creator_key));
#undef STEP
    return 0;
}

int weft_history_new(struct weft_history **out, const struct weft_model *m,
                     weft_progress_fn *progress, void *data)
{
    struct maker k = {.m = m, .h = calloc(1, sizeof *k.h), .seed = weft_seed()};
    *out = NULL;
    if (!k.h)
        return WEFT_E_NOMEM;
    k.h->m = m;
    int rc = make_history(&k, progress, data);
    free(k.gap);
    free(k.open);
    if (rc < 0)
        weft_history_free(k.h);
    else
        *out = k.h;
    return rc;
}

void weft_history_free(struct weft_history *h)
{
    if (!h)
        return;
    free(h->wait);
    free(h->waits_of_first);
    free(h->waits_of);
    free(h->waits_for_first);
    free(h->waits_for);
    free(h->resolution);
    free(h->run_promise);
    free(h->run_cause);
    free(h->runs_of_first);
    free(h->runs_of);
    free(h->stream_first);
    free(h->stream_run);
    free(h->is_loop);
    free(h->suspends);
    free(h->informed);
    free(h->idle);
    free(h->idle_first);
    free(h->idle_sum);
    free(h->collection);
    free(h->preemption);
    free(h->preemption_first);
    free(h->holds_of_first);
    free(h->holds_of);
    free(h->holds_for_first);
    free(h->holds_for);
    free(h->notified_first);
    free(h->notified);
    free(h->children_first);
    free(h->children);
    free(h);
}
