/* SPDX-License-Identifier: ISC */
#include "analyse/history.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/pairs.h"
#include "analyse/types.h"
#include "base/array.h"
#include "base/lists.h"
#include "base/order.h"

struct maker {
    struct weft_history *h;
    const struct weft_model *m;
    uint32_t idles, idle_room, wait_room;
    struct analyse_pairs two;  /* reader and source: what they became */
    uint32_t *last, last_room; /* by the number of such a pair: its last wait */
};

/* ---- Lists by key ---- */

static uint32_t stream_key(const void *history, uint32_t run)
{
    return weft_history_stream(history, run);
}

static uint32_t reader_key(const void *history, uint32_t wait)
{
    const struct weft_history *h = history;
    return weft_model_final(h->m, h->wait[wait].reader);
}

static uint32_t notified_key(const void *history, uint32_t interaction)
{
    const struct weft_interaction *x =
        &((const struct weft_history *)history)->m->interaction[interaction];
    return x->kind == WEFT_NOTIFIES ? (uint32_t)x->other : WEFT_NONE;
}

static uint32_t creator_key(const void *history, uint32_t promise)
{
    const struct weft_history *h = history;
    return promise == WEFT_ROOT ? WEFT_NONE : h->m->promise[promise].creator;
}

/* What is listed twice: by a promise, and by what that has become, if it has become another one. */
static uint32_t either(const struct weft_history *h, uint32_t promise, uint32_t twice)
{
    if (promise == WEFT_NONE || twice % 2 == 0)
        return promise;
    const uint32_t final = weft_model_final(h->m, promise);
    return final != promise ? final : WEFT_NONE;
}

static uint32_t source_key(const void *history, uint32_t twice)
{
    const struct weft_history *h = history;
    return either(h, h->wait[twice / 2].source, twice);
}

static uint32_t holder_key(const void *history, uint32_t twice)
{
    const struct weft_history *h = history;
    return either(h, h->m->hold[twice / 2].holder, twice);
}

static uint32_t resource_key(const void *history, uint32_t twice)
{
    const struct weft_history *h = history;
    return either(h, h->m->hold[twice / 2].resource, twice);
}

static bool list_twice(const struct weft_history *h, uint32_t **first, uint32_t **item,
                       uint32_t count, weft_list_fn *key)
{
    const uint32_t promises = h->m->promises;
    const bool ok = weft_lists(first, item, promises, 2 * (uint64_t)count, key, h);
    for (uint32_t i = 0; ok && i < (*first)[promises]; i++)
        (*item)[i] /= 2;
    return ok;
}

/* ---- Runs ---- */

static bool find_runs(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    uint32_t listed = 0;
    h->streams = m->streams ? m->streams : 1;
    h->run_promise = weft_resize(NULL, m->runs, sizeof *h->run_promise);
    h->runs_of = weft_resize(NULL, m->runs, sizeof *h->runs_of);
    h->runs_of_first = calloc((size_t)m->promises + 1, sizeof *h->runs_of_first);
    if (!h->run_promise || !h->runs_of || !h->runs_of_first)
        return false;
    for (uint32_t p = 0; p < m->promises; p++) {
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next) {
            h->run_promise[r] = p;
            h->runs_of[listed++] = r;
        }
        h->runs_of_first[p + 1] = listed;
    }
    return weft_lists(&h->stream_first, &h->stream_run, h->streams, m->runs, stream_key, h);
}

/* A thread of the system, which waits by itself. It may be busy as long as it likes, or be in a call that nothing says. */
static bool is_thread(const struct weft_model *m, uint32_t promise)
{
    return analyse_type(m, promise) & ANALYSE_THREAD;
}

/* Nothing else runs there: no callbacks of a loop, for instance. */
static bool runs_only_threads(const struct weft_history *h, uint32_t stream)
{
    bool found = false;
    analyse_each(i, h->stream_first, stream) {
        const uint32_t p = h->run_promise[h->stream_run[i]];
        if (p != WEFT_ROOT && !is_thread(h->m, p))
            return false;
        found |= p != WEFT_ROOT;
    }
    return found;
}

/* The interaction with which each run began. */
static bool find_causes(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    uint32_t *at = weft_resize(NULL, m->promises, sizeof *at); /* the next run of each promise */
    h->run_cause = weft_new_none(m->runs, sizeof *h->run_cause);
    h->is_loop = calloc(h->streams, sizeof *h->is_loop);
    if (!at || !h->run_cause || !h->is_loop) {
        free(at);
        return false;
    }
    memcpy(at, h->runs_of_first, m->promises * sizeof *at);
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
        bool *is_loop = &h->is_loop[weft_history_stream(h, run)];
        *is_loop = *is_loop || (p != WEFT_ROOT && !is_thread(m, p));
    }
    free(at);
    if (h->streams == 1)
        h->is_loop[0] = !runs_only_threads(h, 0);
    return true;
}

/* ---- Idle ---- */

static bool add_idle(struct maker *k, uint32_t stream, int64_t from, int64_t to)
{
    if (to <= from)
        return true;
    struct weft_history *h = k->h;
    struct weft_idle *last = k->idles ? &h->idle[k->idles - 1] : NULL;
    if (last && last->stream == stream && from <= last->end_ns) {
        last->end_ns = weft_later(to, last->end_ns);
        return true;
    }
    if (!weft_reserve(&h->idle, k->idles, &k->idle_room, sizeof *h->idle))
        return false;
    h->idle[k->idles++] = (struct weft_idle){from, to, stream};
    return true;
}

/* On a stream that is never suspended: the loop's own runs, and times when nothing ran. */
static bool idle_between_runs(struct maker *k, uint32_t stream)
{
    const struct weft_history *h = k->h;
    int64_t until = 0;
    bool ok = true;
    analyse_each(i, h->stream_first, stream) {
        uint32_t run = h->stream_run[i];
        const struct weft_run *r = &k->m->run[run];
        if (i > h->stream_first[stream])
            ok = ok && add_idle(k, stream, until, r->start_ns);
        if (h->run_promise[run] == WEFT_ROOT)
            ok = ok && add_idle(k, stream, r->start_ns, r->end_ns);
        until = r->end_ns;
    }
    return ok;
}

static uint32_t idle_key(const void *history, uint32_t i)
{
    return ((const struct weft_history *)history)->m->idle[i].stream;
}

static bool find_idle(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_history *h = k->h;
    uint32_t *first = NULL, *item = NULL;
    h->idle_first = calloc((size_t)h->streams + 1, sizeof *h->idle_first);
    bool ok =
        h->idle_first && weft_lists(&first, &item, h->streams, m->idle ? m->idles : 0, idle_key, h);
    for (uint32_t s = 0; s < h->streams && ok; s++) {
        h->idle_first[s] = k->idles;
        const uint32_t sleeps = !m->idle && s == m->sleep_stream ? m->sleeps : 0;
        for (uint32_t i = 0; i < sleeps && ok; i++)
            ok = add_idle(k, s, m->sleep[i].start_ns, m->sleep[i].end_ns);
        for (uint32_t i = first[s]; i < first[s + 1] && ok; i++)
            ok = add_idle(k, s, m->idle[item[i]].start_ns, m->idle[item[i]].end_ns);
        if (ok && !sleeps && first[s] == first[s + 1])
            ok = idle_between_runs(k, s);
    }
    weft_free_all(first, item);
    h->idle_sum = ok ? calloc((size_t)k->idles + 1, sizeof *h->idle_sum) : NULL;
    if (!h->idle_sum)
        return false;
    h->idle_first[h->streams] = k->idles;
    for (uint32_t i = 0; i < k->idles; i++)
        h->idle_sum[i + 1] = h->idle_sum[i] + (uint64_t)(h->idle[i].end_ns - h->idle[i].start_ns);
    return true;
}

/* If nothing is ever woken, the loops are the streams that were suspended, else the first one. */
static bool look_at_streams(struct weft_history *h)
{
    const struct weft_model *m = h->m;
    bool woken = false;
    h->suspends = calloc(h->streams, sizeof *h->suspends);
    h->informed = calloc(h->streams, sizeof *h->informed);
    if (!h->suspends || !h->informed)
        return false;
    for (uint32_t i = 0; m->idle && i < m->idles; i++)
        h->suspends[m->idle[i].stream] = true;
    if (!m->idle && !m->quirks.loop_is_sleep && m->sleeps && m->sleep_stream < h->streams)
        h->suspends[m->sleep_stream] = true;
    for (uint32_t s = 0; s < h->streams; s++)
        woken |= h->is_loop[s];
    const uint32_t only = m->sleep_stream < h->streams ? m->sleep_stream : 0;
    if (!woken && !m->idle)
        h->is_loop[only] = !runs_only_threads(h, only);
    for (uint32_t s = 0; s < h->streams; s++) {
        h->is_loop[s] |= !woken && m->idle && h->suspends[s] && !runs_only_threads(h, s);
        h->informed[s] = h->suspends[s] || m->quirks.loop_is_sleep;
        for (uint32_t i = h->stream_first[s] + 1; i + 1 < h->stream_first[s + 1]; i++)
            h->informed[s] |= h->run_promise[h->stream_run[i]] == WEFT_ROOT;
    }
    return true;
}

static int by_stream(const void *a, const void *b)
{
    const struct weft_preemption *x = a, *y = b;
    WEFT_ORDER(x->stream, y->stream);
    return weft_order(x->start_ns, y->start_ns);
}

/* Sorts times by stream, and joins those of a stream that overlap. */
static bool join_times(struct weft_collection **out, uint32_t **first, uint32_t streams,
                       struct weft_preemption *list, uint32_t count)
{
    uint32_t n = 0, i = 0;
    weft_free_all(*out, *first);
    *out = weft_resize(NULL, count, sizeof **out);
    *first = calloc((size_t)streams + 1, sizeof **first);
    if (!*out || !*first)
        return false;
    weft_sort(list, count, sizeof *list, by_stream);
    for (uint32_t s = 0; s < streams; s++) {
        struct weft_collection *last = NULL;
        for (int64_t before = 0; i < count && list[i].stream == s; i++) {
            const int64_t from =
                last ? weft_later(last->end_ns, list[i].start_ns) : list[i].start_ns;
            if (list[i].end_ns <= from)
                continue;
            if (!last || from > last->end_ns) {
                last = &(*out)[n++];
                *last = (struct weft_collection){from, from, before};
            }
            before += list[i].end_ns - from;
            last->end_ns = list[i].end_ns;
        }
        (*first)[s + 1] = n;
    }
    return true;
}

/* Garbage collections; and when others had the core: if that was not recorded, it is not known. */
static bool find_halts(struct weft_history *h)
{
    const struct weft_model *m = h->m;
    uint32_t *first = NULL;
    struct weft_preemption *list =
        weft_resize(NULL, m->pauses > m->preemptions ? m->pauses : m->preemptions, sizeof *list);
    for (uint32_t i = 0; list && i < m->pauses; i++)
        list[i] = (struct weft_preemption){m->pause[i].start_ns, m->pause[i].end_ns, 0};
    bool ok = list && join_times(&h->collection, &first, 1, list, m->pauses);
    h->collections = ok ? first[1] : 0;
    if (ok && m->preemptions) {
        memcpy(list, m->preemption, m->preemptions * sizeof *list);
        ok = weft_history_preempted(h, list, m->preemptions) == 0;
    }
    weft_free_all(list, first);
    return ok;
}

int weft_history_preempted(struct weft_history *h, struct weft_preemption *list, uint32_t count)
{
    return join_times(&h->preemption, &h->preemption_first, h->streams, list, count) ? 0
                                                                                     : WEFT_E_NOMEM;
}

/* ---- Waits ---- */

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
    const uint32_t before = k->two.count, reader = weft_model_final(h->m, x->actor);
    const uint32_t two = analyse_pairs_add(&k->two, reader, weft_model_final(h->m, x->other));
    if (two == WEFT_NONE || !weft_reserve(&k->last, two, &k->last_room, sizeof *k->last))
        return false;
    if (two < before && h->wait[k->last[two]].end == WEFT_WAIT_OPEN) { /* a new one, or the same? */
        uint32_t run = run_from(h, x->actor, h->wait[k->last[two]].from_ns + 1);
        if (run == WEFT_NONE || h->m->run[run].start_ns > x->time_ns)
            return true;
    }
    if (!weft_reserve(&h->wait, h->waits, &k->wait_room, sizeof *h->wait))
        return false;
    k->last[two] = h->waits;
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
    const uint32_t two =
        analyse_pairs_find(&k->two, weft_model_final(k->m, reader), weft_model_final(k->m, source));
    struct weft_wait *w = two == WEFT_NONE ? NULL : &k->h->wait[k->last[two]];
    if (!w || w->end != WEFT_WAIT_OPEN)
        return;
    w->end = WEFT_WAIT_READ;
    w->until_ns = weft_later(k->m->interaction[interaction].time_ns, w->from_ns);
    w->ended_by = interaction;
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
    free(k->last);
    k->last = NULL;
    analyse_pairs_fini(&k->two);
    return true;
}

/* When the reader of a wait could first continue: at its end, or when notified; or INT64_MAX. */
static int64_t earliest_ns(const struct weft_history *h, const struct weft_wait *w)
{
    int64_t resolved = weft_history_resolved_ns(h, w->source);
    if (resolved != INT64_MAX)
        return weft_later(resolved, w->from_ns);
    uint32_t first = weft_history_notified_from(h, w->source, w->from_ns);
    return first < h->notified_first[w->source + 1] ? h->m->interaction[h->notified[first]].time_ns
                                                    : INT64_MAX;
}

/* The first run of a reader, or of what it became, from a time on. */
static uint32_t reader_run(const struct weft_history *h, uint32_t reader, int64_t time_ns)
{
    uint32_t final = weft_model_final(h->m, reader), run = run_from(h, reader, time_ns);
    uint32_t later = final == reader ? WEFT_NONE : run_from(h, final, time_ns);
    if (run == WEFT_NONE)
        return later;
    return later != WEFT_NONE && h->m->run[later].start_ns < h->m->run[run].start_ns ? later : run;
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
        w->until_ns = weft_later(reader->end_ns, w->from_ns);
    }
}

/* The last wait of each reader says what it waits for now. */
static void end_open_waits(struct weft_history *h)
{
    for (uint32_t p = 0; p < h->m->promises; p++)
        analyse_each(i, h->waits_of_first, p) {
            struct weft_wait *w = &h->wait[h->waits_of[i]];
            if (w->end == WEFT_WAIT_OPEN)
                end_wait_by_runs(h, w, i + 1 < i_end ? h->waits_of[i_end - 1] : WEFT_NONE);
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
    WEFT_ORDER(x->ended_by, y->ended_by);
    return weft_order(x->wait, y->wait);
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
    h->resolution = weft_new_none(m->promises, sizeof *h->resolution);
    if (!h->resolution)
        return false;
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
    struct weft_history *h = k->h;
    const uint32_t promises = h->m->promises;
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
    STEP(0.42, look_at_streams(h));
    STEP(0.45, find_halts(h));
    STEP(0.5, find_resolutions(h));
    STEP(0.7, find_all_waits(k));
    STEP(0.8, weft_lists(&h->waits_of_first, &h->waits_of, promises, h->waits, reader_key, h));
    STEP(0.9, list_twice(h, &h->waits_for_first, &h->waits_for, h->waits, source_key));
    STEP(0.95, weft_lists(&h->notified_first, &h->notified, promises, h->m->interactions,
                          notified_key, h));
    STEP(0.96, list_twice(h, &h->holds_of_first, &h->holds_of, h->m->holds, holder_key) &&
                   list_twice(h, &h->holds_for_first, &h->holds_for, h->m->holds, resource_key));
    end_open_waits(h);
    STEP(0.97, find_turns(h));
    STEP(1.0, weft_lists(&h->children_first, &h->children, promises, promises, creator_key, h));
#undef STEP
    return 0;
}

int weft_history_new(struct weft_history **out, const struct weft_model *m,
                     weft_progress_fn *progress, void *data)
{
    struct maker k = {.m = m, .h = calloc(1, sizeof *k.h)};
    *out = NULL;
    if (!k.h)
        return WEFT_E_NOMEM;
    k.h->m = m;
    int rc = make_history(&k, progress, data);
    free(k.last);
    analyse_pairs_fini(&k.two);
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
    weft_free_all(h->wait, h->waits_of_first, h->waits_of, h->waits_for_first, h->waits_for,
                  h->resolution, h->run_promise, h->run_cause, h->runs_of_first, h->runs_of,
                  h->stream_first, h->stream_run, h->is_loop, h->suspends, h->informed, h->idle,
                  h->idle_first, h->idle_sum, h->collection, h->preemption, h->preemption_first,
                  h->holds_of_first, h->holds_of, h->holds_for_first, h->holds_for,
                  h->notified_first, h->notified, h->children_first, h->children);
    free(h);
}
