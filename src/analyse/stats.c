/* SPDX-License-Identifier: ISC */
#include "analyse/stats.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "base/order.h"
#include "analyse/spent.h"
#include "analyse/times.h"
#include "format/utf8.h"
#include "base/array.h"

enum { STEP = 65536 }; /* promises between two calls of progress */

enum phase { SORTS, COUNT, STORE, SORT, MERGE, MEASURE, DONE };

struct weft_stats_work {
    const struct weft_history *h;
    const struct weft_model *m;
    struct weft_stats_options o;
    struct weft_stats out;
    struct analyse_sorting sorting; /* while families are made */
    struct analyse_families families;
    uint32_t *row_of; /* by promise, or WEFT_NONE; NULL: the options' members say it */
    struct weft_meter meter;
    enum phase phase;
    uint32_t at;    /* the next promise, member or row */
    int64_t *spare; /* for sorting */
    /* Of the row that is sorted: it is sorted in pieces of `width`, and two neighbouring ones are merged at a time. */
    uint32_t width, left, right, to;
};

typedef struct weft_stats_work maker;

/* ---- Rows ---- */

static bool add_rows(maker *k, uint32_t rows)
{
    k->out.row = calloc((size_t)rows + 1, sizeof *k->out.row);
    for (uint32_t i = 0; k->out.row && i < rows; i++)
        k->out.row[i] = (struct weft_stats_row){
            .promise = WEFT_NONE, .named = WEFT_NONE, .one_label = true, .slowest = WEFT_NONE};
    k->out.rows = rows;
    return k->out.row != NULL;
}

/* If no labels differ only in numbers, a family is a label. */
static bool find_rows(maker *k)
{
    struct analyse_families *f = &k->families;
    const enum weft_stats_by by = k->out.by;
    bool several = false;
    if (by == WEFT_BY_MEMBERS)
        return add_rows(k, k->o.rows);
    *f = k->sorting.f;
    k->sorting.f = (struct analyse_families){.count = 0};
    analyse_sorting_end(&k->sorting);
    k->row_of = weft_new_none(k->m->promises, sizeof *k->row_of);
    if (!k->row_of || !add_rows(k, by == WEFT_BY_CREATOR ? f->count : f->count - 1))
        return false;
    for (uint32_t i = 1; i < f->count; i++)
        several |= f->differs[i];
    if (by == WEFT_BY_AUTO)
        k->out.by = several ? WEFT_BY_FAMILY : WEFT_BY_LABEL;
    return true;
}

/* Its row, whether it counts or not; the loop has none, except as a creator. */
static uint32_t sort_of(const maker *k, uint32_t promise)
{
    return k->out.by == WEFT_BY_CREATOR ? k->families.of[k->m->promise[promise].creator]
                                        : k->families.of[promise] - 1;
}

static bool is_alive(const maker *k, uint32_t promise)
{
    return k->o.from_ns == k->o.to_ns || (k->m->promise[promise].start_ns <= k->o.to_ns &&
                                          weft_history_ended_ns(k->h, promise) >= k->o.from_ns);
}

static bool counts(const maker *k, uint32_t promise)
{
    return is_alive(k, promise) && (!k->o.keep || k->o.keep(k->o.data, promise));
}

/* Promises or members: how many, which promise it is, and its row; NULL: it does not count. */
static uint32_t items(const maker *k)
{
    return k->row_of ? k->m->promises - 1 : k->o.members;
}

static uint32_t promise_of(const maker *k, uint32_t item)
{
    return k->row_of ? item + 1 : k->o.member[item].promise;
}

static struct weft_stats_row *row_of(const maker *k, uint32_t item)
{
    uint32_t p = promise_of(k, item);
    if (!k->row_of)
        return counts(k, p) ? &k->out.row[k->o.member[item].row] : NULL;
    return k->row_of[p] == WEFT_NONE ? NULL : &k->out.row[k->row_of[p]];
}

/* ---- Counts and latencies ---- */

/* Returns true if a promise has a latency: its creation was recorded, and it got a result or error,
 * or what it became did, then not before it became that. */
static bool latency_of(const maker *k, uint32_t promise, int64_t *ns)
{
    const struct weft_model *m = k->m;
    const struct weft_promise *p = &m->promise[promise],
                              *final = &m->promise[weft_model_final(m, promise)];
    if (!p->created || (final->outcome != WEFT_FULFILLED && final->outcome != WEFT_FAILED &&
                        final->outcome != WEFT_RESOLVED))
        return false;
    int64_t from = k->meter.raw ? p->start_ns : weft_model_wake(m, p);
    *ns = weft_later(weft_history_ended_ns(k->h, promise) - from, 0);
    return true;
}

/* Adds a promise to the counts of its row. */
static void count_promise(maker *k, uint32_t item)
{
    const struct weft_model *m = k->m;
    const uint32_t p = promise_of(k, item);
    const struct weft_promise *promise = &m->promise[p];
    const enum weft_outcome outcome = m->promise[weft_model_final(m, p)].outcome;
    int64_t ns;
    if (k->row_of && counts(k, p))
        k->row_of[p] = sort_of(k, p);
    struct weft_stats_row *r = row_of(k, item);
    if (!r)
        return;
    const uint32_t named = k->out.by == WEFT_BY_CREATOR ? promise->creator : p;
    if (r->promise == WEFT_NONE) {
        r->promise = p;
        r->named = named;
    }
    r->one_label &= weft_model_name(m, named) == weft_model_name(m, r->named);
    r->count++;
    r->became += promise->becomes != WEFT_NONE;
    r->preexisting += !promise->created;
    r->resolved += outcome == WEFT_FULFILLED || outcome == WEFT_RESOLVED;
    r->failed += outcome == WEFT_FAILED;
    r->cancelled += outcome == WEFT_CANCELLED;
    r->forgotten += outcome == WEFT_FORGOTTEN;
    r->pending += outcome == WEFT_PENDING || outcome == WEFT_BECAME;
    r->rate += promise->created && !promise->promoted && !m->quirks.at_once;
    if (k->o.amount && __builtin_add_overflow(r->amount, k->o.amount[p], &r->amount))
        r->amount = UINT64_MAX;
    if (latency_of(k, p, &ns)) {
        r->latencies++;
        analyse_add(&r->total_ns, ns);
        if (r->slowest == WEFT_NONE || ns > r->max_ns) {
            r->max_ns = ns;
            r->slowest = p;
        }
    }
}

/* Where the latencies of each row will be. */
static bool place_latencies(maker *k)
{
    struct weft_stats *s = &k->out;
    uint32_t total = 0, most = 0;
    for (uint32_t i = 0; i < s->rows; i++) {
        struct weft_stats_row *r = &s->row[i];
        r->rate = s->span_ns > 0 ? r->rate / ((double)s->span_ns / 1e9) : 0;
        r->first_latency = total;
        total += r->latencies;
        most = r->latencies > most ? r->latencies : most;
        r->latencies = 0; /* counted again while they are stored */
    }
    s->latency = weft_resize(NULL, (uint64_t)total + 1, sizeof *s->latency);
    k->spare = weft_resize(NULL, (uint64_t)most + 1, sizeof *k->spare);
    return s->latency && k->spare;
}

static void store_latency(maker *k, uint32_t item)
{
    struct weft_stats_row *r = row_of(k, item);
    int64_t ns;
    if (r && latency_of(k, promise_of(k, item), &ns))
        k->out.latency[r->first_latency + r->latencies++] = ns;
}

int64_t weft_stats_percentile(const struct weft_stats *s, const struct weft_stats_row *r,
                              unsigned percent)
{
    uint64_t rank = ((uint64_t)percent * r->latencies + 99) / 100;
    if (r->latencies == 0)
        return 0;
    rank = rank == 0 ? 1 : rank > r->latencies ? r->latencies : rank;
    return s->latency[r->first_latency + rank - 1];
}

uint32_t weft_stats_below(const struct weft_stats *s, const struct weft_stats_row *r, int64_t ns)
{
    const int64_t *latency = s->latency + r->first_latency;
    uint32_t low = 0, high = r->latencies;
    WEFT_SEEK(low, high, latency[middle] < ns);
    return low;
}

/* ---- Sorting, in pieces, since a row may have nearly all promises ---- */

enum { PIECE = 1 << 16 };

/* Sorts the next piece of the row at k->at. Returns how many steps that took. */
static uint32_t sort_piece(maker *k)
{
    struct weft_stats_row *r = &k->out.row[k->at];
    int64_t *latency = k->out.latency + r->first_latency;
    uint32_t left = r->latencies - k->to, count = left < PIECE ? left : PIECE;
    analyse_sort_times(latency + k->to, count, k->spare);
    k->to += count;
    if (k->to < r->latencies)
        return count;
    k->to = 0;
    if (r->latencies > PIECE) { /* the pieces are merged first */
        k->phase = MERGE;
        k->width = PIECE;
        k->left = 0;
        k->right = PIECE;
        return count;
    }
    k->at++;
    return count + 1;
}

/* Where the pair of pieces that begins at `from` ends, and its second piece begins. */
static uint32_t cut(const struct weft_stats_row *r, uint32_t from, uint64_t length)
{
    return length < r->latencies - from ? from + (uint32_t)length : r->latencies;
}

/* Merges two pieces of the row at k->at, up to `steps` items. Returns how many steps that took. */
static uint32_t merge_pieces(maker *k, uint32_t steps)
{
    const struct weft_stats_row *r = &k->out.row[k->at];
    int64_t *latency = k->out.latency + r->first_latency;
    uint32_t pair = k->to - (uint32_t)(k->to % (2 * (uint64_t)k->width)), done = 0;
    uint32_t middle = cut(r, pair, k->width), end = cut(r, pair, 2 * (uint64_t)k->width);
    for (; k->to < end && done < steps; done++) {
        bool left = k->left < middle && (k->right >= end || latency[k->left] <= latency[k->right]);
        k->spare[k->to++] = latency[left ? k->left++ : k->right++];
    }
    if (k->to < end)
        return done;
    k->left = end;
    k->right = cut(r, end, k->width);
    if (end < r->latencies)
        return done;
    memcpy(latency, k->spare, r->latencies * sizeof *latency);
    k->to = k->left = 0;
    if (2 * (uint64_t)k->width < r->latencies) {
        k->width *= 2;
        k->right = k->width;
        return done + 1;
    }
    k->phase = SORT;
    k->at++;
    return done + 1;
}

static void find_percentiles(maker *k)
{
    for (uint32_t i = 0; i < k->out.rows; i++) {
        struct weft_stats_row *r = &k->out.row[i];
        r->p50_ns = weft_stats_percentile(&k->out, r, 50);
        r->p90_ns = weft_stats_percentile(&k->out, r, 90);
        r->p99_ns = weft_stats_percentile(&k->out, r, 99);
    }
    free(k->spare);
    k->spare = NULL;
}

/* ---- What each promise did ---- */

static bool measure_promise(maker *k, uint32_t item)
{
    struct weft_stats_row *r = row_of(k, item);
    struct weft_spent spent;
    if (!r)
        return true;
    if (weft_spent_find(&spent, &k->meter, promise_of(k, item)) < 0)
        return false;
    analyse_add(&r->running_ns, spent.running_ns);
    analyse_add(&r->ready_ns, spent.ready_ns);
    analyse_add(&r->waiting_ns, spent.waiting_ns);
    analyse_add(&r->blocked_ns, spent.blocked_ns);
    return true;
}

/* How many were ready at once; of changes at one moment, those that stop come first. */
static bool find_depth(maker *k)
{
    struct weft_stats *s = &k->out;
    k->spare = weft_resize(NULL, (uint64_t)k->meter.readies + 1, sizeof *k->spare);
    if (!k->spare)
        return false;
    for (size_t i = 0; i < k->meter.readies; i++)
        s->ready_mean += (double)(k->meter.end[i] - k->meter.begin[i]);
    s->ready_mean = s->span_ns > 0 ? s->ready_mean / (double)s->span_ns : 0;
    analyse_sort_times(k->meter.begin, k->meter.readies, k->spare);
    analyse_sort_times(k->meter.end, k->meter.readies, k->spare);
    for (size_t i = 0, gone = 0; i < k->meter.readies; i++) {
        while (k->meter.end[gone] <= k->meter.begin[i])
            gone++;
        if (i + 1 - gone > s->ready_max) {
            s->ready_max = (uint32_t)(i + 1 - gone);
            s->ready_max_ns = k->meter.begin[i];
        }
    }
    return true;
}

/* ---- Streams ---- */

static int64_t run_length(const struct weft_history *h, uint32_t run)
{
    return weft_later(h->m->run[run].end_ns - h->m->run[run].start_ns, 0);
}

static void add_longest_run(const struct weft_history *h, struct weft_stats_stream *s, uint32_t run)
{
    int64_t length = run_length(h, run);
    unsigned at = WEFT_STATS_RUNS;
    while (at > 0 &&
           (s->longest_run[at - 1] == WEFT_NONE || run_length(h, s->longest_run[at - 1]) < length))
        at--;
    for (unsigned i = WEFT_STATS_RUNS; i-- > at + 1;)
        s->longest_run[i] = s->longest_run[i - 1];
    if (at < WEFT_STATS_RUNS)
        s->longest_run[at] = run;
}

/* Adds runs that are not idle: of promises, and of the loop itself if it reports sleeping. */
static void add_runs(struct weft_stats_stream *s, const struct weft_history *h, int64_t *first,
                     int64_t *last)
{
    analyse_each(i, h->stream_first, s->stream) {
        uint32_t run = h->stream_run[i];
        const struct weft_run *r = &h->m->run[run];
        bool loop = h->run_promise[run] == WEFT_ROOT;
        int64_t length = run_length(h, run);
        *first = weft_earlier(r->start_ns, *first);
        *last = weft_later(r->end_ns, *last);
        if (loop)
            length -= weft_history_idle(h, s->stream, r->start_ns, r->end_ns, 0, NULL);
        s->runs += !loop;
        if (length <= 0)
            continue;
        analyse_add(&s->busy_ns, length);
        if (loop)
            analyse_add(&s->loop_ns, length);
        if (h->m->pauses)
            analyse_add(&s->collecting_ns, weft_history_collecting(h, r->start_ns, r->end_ns));
        add_longest_run(h, s, run);
    }
}

static void add_turn(struct weft_stats_stream *s, int64_t from, int64_t to)
{
    if (to <= from)
        return;
    s->turns++;
    if (to - from > s->turn_to_ns - s->turn_from_ns) {
        s->turn_from_ns = from;
        s->turn_to_ns = to;
    }
}

static void add_idle_times(struct weft_stats_stream *s, const struct weft_history *h,
                           int64_t *first, int64_t *last)
{
    analyse_each(i, h->idle_first, s->stream) {
        *first = weft_earlier(h->idle[i].start_ns, *first);
        *last = weft_later(h->idle[i].end_ns, *last);
        analyse_add(&s->idle_ns, h->idle[i].end_ns - h->idle[i].start_ns);
    }
    int64_t from = *first;
    analyse_each(i, h->idle_first, s->stream) {
        add_turn(s, from, h->idle[i].start_ns);
        from = h->idle[i].end_ns;
    }
    add_turn(s, from, *last);
}

static void measure_stream(struct weft_stats_stream *s, const struct weft_history *h)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    memset(s->longest_run, 0xff, sizeof s->longest_run);
    add_runs(s, h, &first, &last);
    if (h->idle_first[s->stream] < h->idle_first[s->stream + 1] || last > first)
        add_idle_times(s, h, &first, &last);
    s->span_ns = last > first ? last - first : 0;
    analyse_each(i, h->stream_first, s->stream) {
        uint32_t run = h->stream_run[i];
        const struct weft_run *r = &h->m->run[run];
        s->turn_runs += h->run_promise[run] != WEFT_ROOT && r->start_ns >= s->turn_from_ns &&
                        r->start_ns < s->turn_to_ns;
    }
}

static bool measure_streams(struct weft_stats *out, const struct weft_history *h)
{
    out->stream = calloc(h->streams, sizeof *out->stream);
    for (uint32_t i = 0; i < h->streams && out->stream; i++) {
        struct weft_stats_stream *s = &out->stream[out->streams];
        *s = (struct weft_stats_stream){.stream = i,
                                        .is_loop = h->is_loop[i],
                                        .suspends = h->suspends[i] ||
                                                    (h->m->quirks.loop_is_sleep && h->m->sleeps)};
        measure_stream(s, h);
        out->streams += s->span_ns != 0 && !h->m->quirks.at_once;
    }
    return out->stream != NULL;
}

/* ---- In steps ---- */

int weft_stats_begin(struct weft_stats_work **out, const struct weft_history *h,
                     const struct weft_stats_options *o)
{
    maker *k = *out = calloc(1, sizeof *k);
    if (!k)
        return WEFT_E_NOMEM;
    k->h = h;
    k->m = h->m;
    k->o = *o;
    k->meter = (struct weft_meter){
        .h = h, .raw = o->by & WEFT_STATS_RAW, .from_ns = o->from_ns, .to_ns = o->to_ns};
    k->out.span_ns = weft_later(k->m->end_ns - k->m->from_ns, 0);
    const enum weft_stats_by by = k->out.by = o->by & ~WEFT_STATS_RAW;
    if (by == WEFT_BY_MEMBERS ||
        analyse_sorting_begin(&k->sorting, k->m, by == WEFT_BY_TYPE ? NULL : weft_model_name,
                              by == WEFT_BY_LABEL || by == WEFT_BY_CREATOR) == 0)
        return 0;
    weft_stats_end(k);
    *out = NULL;
    return WEFT_E_NOMEM;
}

void weft_stats_end(struct weft_stats_work *k)
{
    if (!k)
        return;
    analyse_sorting_end(&k->sorting);
    analyse_families_fini(&k->families);
    weft_meter_fini(&k->meter);
    weft_free_all(k->spare, k->row_of);
    weft_stats_fini(&k->out);
    free(k);
}

/* Steps of a phase that goes through all promises. Returns false if there is no memory. */
static bool step_promises(maker *k, uint32_t *steps)
{
    for (; k->at < items(k) && *steps; k->at++, --*steps) {
        if (k->phase == COUNT)
            count_promise(k, k->at);
        else if (k->phase == STORE)
            store_latency(k, k->at);
        else if (!measure_promise(k, k->at))
            return false;
    }
    return true;
}

static void step_sorting(maker *k, uint32_t *steps)
{
    while (k->at < k->out.rows && *steps) {
        uint32_t took = k->phase == SORT ? sort_piece(k) : merge_pieces(k, *steps);
        *steps -= took < *steps ? took : *steps;
    }
}

/* One step or more of the current phase; the next one begins when it is done. */
static bool step(maker *k, uint32_t *steps)
{
    if (k->phase == SORTS) {
        int rc = k->out.by == WEFT_BY_MEMBERS ? 0 : analyse_sorting_work(&k->sorting, steps);
        k->phase = rc == 0 ? COUNT : SORTS;
        return rc == 0 ? find_rows(k) : rc > 0;
    }
    bool sorting = k->phase == SORT || k->phase == MERGE;
    if (sorting)
        step_sorting(k, steps);
    else if (!step_promises(k, steps))
        return false;
    if (k->at < (sorting ? k->out.rows : items(k)))
        return true;
    k->at = 0;
    if (k->phase == COUNT && !place_latencies(k))
        return false;
    if (sorting)
        find_percentiles(k);
    k->phase = k->phase == COUNT ? STORE : k->phase == STORE ? SORT : sorting ? MEASURE : DONE;
    return true;
}

int weft_stats_work(struct weft_stats_work *k, uint32_t steps)
{
    while (k->phase != DONE && steps)
        if (!step(k, &steps))
            return WEFT_E_NOMEM;
    return k->phase != DONE;
}

const struct weft_stats *weft_stats_result(const struct weft_stats_work *k)
{
    return &k->out;
}

uint32_t weft_stats_row_of(const struct weft_stats_work *k, uint32_t promise)
{
    for (uint32_t i = 0; !k->row_of && i < k->o.members; i++)
        if (k->o.member[i].promise == promise)
            return k->o.member[i].row;
    return k->row_of ? sort_of(k, promise) : WEFT_NONE;
}

bool weft_stats_slower(const struct weft_stats_work *k, struct weft_stats_seek *s, uint32_t steps)
{
    const struct weft_stats_row *row = &k->out.row[s->row];
    const uint32_t all = items(k), end = all - s->at > steps ? s->at + steps : all;
    int64_t before_ns = INT64_MAX, ns;
    if (s->before != WEFT_NONE && !latency_of(k, s->before, &before_ns))
        before_ns = -1;
    for (; s->at < end; s->at++) {
        if (row_of(k, s->at) != row)
            continue;
        const uint32_t p = promise_of(k, s->at);
        if (!latency_of(k, p, &ns))
            ns = -1;
        bool is_later = ns < before_ns || (ns == before_ns && p > s->before);
        if (is_later &&
            (s->best == WEFT_NONE || ns > s->best_ns || (ns == s->best_ns && p < s->best))) {
            s->best = p;
            s->best_ns = ns;
        }
    }
    return s->at < all;
}

/* ---- All of it ---- */

static int by_total(const void *a, const void *b)
{
    const struct weft_stats_row *x = a, *y = b;
    WEFT_ORDER(y->total_ns, x->total_ns);
    return weft_order(x->promise, y->promise);
}

static int make_stats(maker *k, weft_progress_fn *progress, void *data)
{
    struct weft_stats *s = &k->out;
    for (int rc = 1; rc;) {
        double share = 0.2 + 0.12 * (int)k->phase + 0.1 * k->at / (items(k) + 1.0);
        if (progress && !progress(data, share))
            return WEFT_E_CANCELED;
        rc = weft_stats_work(k, STEP);
        if (rc < 0)
            return rc;
    }
    if (!find_depth(k) || !measure_streams(s, k->h))
        return WEFT_E_NOMEM;
    weft_sort(s->row, s->rows, sizeof *s->row, by_total);
    while (s->rows && s->row[s->rows - 1].count == 0) /* sorts that created nothing */
        s->rows--;
    return !progress || progress(data, 1.0) ? 0 : WEFT_E_CANCELED;
}

int weft_stats_find(struct weft_stats *out, const struct weft_history *h, unsigned by,
                    weft_progress_fn *progress, void *data)
{
    maker *k;
    *out = (struct weft_stats){0};
    int rc = weft_stats_begin(&k, h, &(struct weft_stats_options){.by = by});
    if (rc == 0)
        rc = make_stats(k, progress, data);
    if (rc == 0) {
        *out = k->out;
        k->out = (struct weft_stats){0};
    }
    weft_stats_end(k);
    return rc;
}

void weft_stats_fini(struct weft_stats *s)
{
    weft_free_all(s->row, s->latency, s->power, s->stream);
    *s = (struct weft_stats){0};
}

uint32_t weft_stats_in_power(const struct weft_stats *s, const struct weft_stats_row *r,
                             unsigned power)
{
    if (!s->latency)
        return r->latencies ? s->power[r->first_latency + power] : 0;
    const uint32_t below = power == 0 ? 0 : weft_stats_below(s, r, INT64_C(1) << power);
    const bool last = power == WEFT_STATS_POWERS - 1;
    return (last ? r->latencies : weft_stats_below(s, r, INT64_C(2) << power)) - below;
}

const char *weft_stats_type(const struct weft_model *m, const struct weft_stats_row *r)
{
    return r->named == WEFT_ROOT ? "the event loop" : weft_model_type(m, r->named);
}

int weft_stats_label(char **out, const struct weft_stats *s, const struct weft_model *m,
                     const struct weft_stats_row *r)
{
    uint32_t size, name = s->by == WEFT_BY_TYPE || r->named == WEFT_NONE || r->named == WEFT_ROOT
                              ? WEFT_NONE
                              : weft_model_name(m, r->named);
    char family[ANALYSE_SHAPE_BYTES];
    *out = NULL;
    if (name == WEFT_NONE)
        return 0;
    const char *label = weft_model_text(m, name, &size);
    bool cut = false;
    if (s->by == WEFT_BY_FAMILY && !r->one_label) {
        cut = size > ANALYSE_SHAPE_BYTES;
        size = analyse_shape(family, label, size);
        label = family;
    }
    size_t room = 3 * (size_t)size; /* one byte may become three */
    char *text = malloc(room + 4);
    if (!text)
        return WEFT_E_NOMEM;
    size_t used = weft_text_clean(text, room, label, size);
    strcpy(text + used, cut ? "\xe2\x80\xa6" : "");
    *out = text;
    return 0;
}
