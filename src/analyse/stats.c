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

struct maker {
    const struct weft_history *h;
    const struct weft_model *m;
    struct weft_stats *out;
    struct analyse_families families;
    struct weft_meter meter;
    int64_t *spare; /* for sorting */
    weft_progress_fn *progress;
    void *data;
};

static bool report_progress(const struct maker *k, double share)
{
    return !k->progress || k->progress(k->data, share);
}

/* ---- Rows ---- */

/* If no labels differ only in numbers, a family is a label. */
static bool find_rows(struct maker *k, enum weft_stats_by by)
{
    struct analyse_families *f = &k->families;
    bool several = false;
    if (analyse_sorts_init(f, k->m, by == WEFT_BY_TYPE ? NULL : weft_model_name,
                           by == WEFT_BY_LABEL) < 0)
        return false;
    k->out->row = weft_resize(NULL, f->count, sizeof *k->out->row);
    if (!k->out->row)
        return false;
    for (uint32_t i = 1; i < f->count; i++) {
        several |= f->differs[i];
        k->out->row[k->out->rows++] = (struct weft_stats_row){
            .promise = f->first[i], .one_label = !f->differs[i], .slowest = WEFT_NONE};
    }
    k->out->by = by != WEFT_BY_AUTO ? by : several ? WEFT_BY_FAMILY : WEFT_BY_LABEL;
    return true;
}

static struct weft_stats_row *row_of(const struct maker *k, uint32_t promise)
{
    return &k->out->row[k->families.of[promise] - 1]; /* the loop has none */
}

/* ---- Counts and latencies ---- */

/* Returns true if a promise has a latency: its creation was recorded, and it got a result or error,
 * or what it became did, then not before it became that. */
static bool latency_of(const struct maker *k, uint32_t promise, int64_t *ns)
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

static void count_promises(struct maker *k)
{
    const struct weft_model *m = k->m;
    struct weft_stats *s = k->out;
    int64_t ns;
    for (uint32_t p = 1; p < m->promises; p++) {
        struct weft_stats_row *r = row_of(k, p);
        const struct weft_promise *promise = &m->promise[p];
        const enum weft_outcome outcome = m->promise[weft_model_final(m, p)].outcome;
        r->count++;
        r->became += promise->becomes != WEFT_NONE;
        r->preexisting += !promise->created;
        r->resolved += outcome == WEFT_FULFILLED || outcome == WEFT_RESOLVED;
        r->failed += outcome == WEFT_FAILED;
        r->cancelled += outcome == WEFT_CANCELLED;
        r->forgotten += outcome == WEFT_FORGOTTEN;
        r->pending += outcome == WEFT_PENDING || outcome == WEFT_BECAME;
        r->rate += promise->created && !promise->promoted;
        if (latency_of(k, p, &ns)) {
            r->latencies++;
            analyse_add(&r->total_ns, ns);
            if (r->slowest == WEFT_NONE || ns > r->max_ns) {
                r->max_ns = ns;
                r->slowest = p;
            }
        }
    }
    for (uint32_t i = 0; i < s->rows; i++)
        s->row[i].rate = s->span_ns > 0 ? s->row[i].rate / ((double)s->span_ns / 1e9) : 0;
}

static bool sort_latencies(struct maker *k)
{
    struct weft_stats *s = k->out;
    uint32_t total = 0, most = 0;
    int64_t ns;
    for (uint32_t i = 0; i < s->rows; i++) {
        s->row[i].first_latency = total;
        total += s->row[i].latencies;
        most = s->row[i].latencies > most ? s->row[i].latencies : most;
        s->row[i].latencies = 0; /* counted again while they are stored */
    }
    s->latency = weft_resize(NULL, (uint64_t)total + 1, sizeof *s->latency);
    k->spare = weft_resize(NULL, (uint64_t)most + 1, sizeof *k->spare);
    if (!s->latency || !k->spare)
        return false;
    for (uint32_t p = 1; p < k->m->promises; p++) {
        struct weft_stats_row *r = row_of(k, p);
        if (latency_of(k, p, &ns))
            s->latency[r->first_latency + r->latencies++] = ns;
    }
    for (uint32_t i = 0; i < s->rows; i++) {
        struct weft_stats_row *r = &s->row[i];
        analyse_sort_times(s->latency + r->first_latency, r->latencies, k->spare);
        r->p50_ns = weft_stats_percentile(s, r, 50);
        r->p90_ns = weft_stats_percentile(s, r, 90);
        r->p99_ns = weft_stats_percentile(s, r, 99);
    }
    free(k->spare);
    k->spare = NULL;
    return true;
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

/* ---- What each promise did ---- */

static int measure_promises(struct maker *k)
{
    for (uint32_t p = 1; p < k->m->promises; p++) {
        struct weft_stats_row *r = row_of(k, p);
        struct weft_spent spent;
        if (p % STEP == 0 && !report_progress(k, 0.4 + 0.4 * p / k->m->promises))
            return WEFT_E_CANCELED;
        if (weft_spent_find(&spent, &k->meter, p) < 0)
            return WEFT_E_NOMEM;
        analyse_add(&r->running_ns, spent.running_ns);
        analyse_add(&r->ready_ns, spent.ready_ns);
        analyse_add(&r->waiting_ns, spent.waiting_ns);
        analyse_add(&r->blocked_ns, spent.blocked_ns);
    }
    return 0;
}

/* How many were ready at once; of changes at one moment, those that stop come first. */
static bool find_depth(struct maker *k)
{
    struct weft_stats *s = k->out;
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
        out->streams += s->span_ns != 0;
    }
    return out->stream != NULL;
}

/* ---- All of it ---- */

static int by_total(const void *a, const void *b)
{
    const struct weft_stats_row *x = a, *y = b;
    WEFT_ORDER(y->total_ns, x->total_ns);
    return weft_order(x->promise, y->promise);
}

static int make_stats(struct maker *k, enum weft_stats_by by)
{
    struct weft_stats *s = k->out;
    s->span_ns = weft_later(k->m->end_ns, 0);
    if (!find_rows(k, by))
        return WEFT_E_NOMEM;
    if (!report_progress(k, 0.2))
        return WEFT_E_CANCELED;
    count_promises(k);
    if (!sort_latencies(k))
        return WEFT_E_NOMEM;
    TRY(measure_promises(k));
    if (!find_depth(k) || !measure_streams(s, k->h))
        return WEFT_E_NOMEM;
    weft_sort(s->row, s->rows, sizeof *s->row, by_total);
    return report_progress(k, 1.0) ? 0 : WEFT_E_CANCELED;
}

int weft_stats_find(struct weft_stats *out, const struct weft_history *h, unsigned by,
                    weft_progress_fn *progress, void *data)
{
    struct maker k = {.h = h,
                      .m = h->m,
                      .out = out,
                      .meter = {.h = h, .raw = by & WEFT_STATS_RAW},
                      .progress = progress,
                      .data = data};
    *out = (struct weft_stats){0};
    int rc = make_stats(&k, by & ~WEFT_STATS_RAW);
    analyse_families_fini(&k.families);
    weft_meter_fini(&k.meter);
    free(k.spare);
    if (rc < 0)
        weft_stats_fini(out);
    return rc;
}

void weft_stats_fini(struct weft_stats *s)
{
    free(s->row);
    free(s->latency);
    free(s->stream);
    *s = (struct weft_stats){0};
}

int weft_stats_label(char **out, const struct weft_stats *s, const struct weft_model *m,
                     const struct weft_stats_row *r)
{
    uint32_t size, name = s->by == WEFT_BY_TYPE ? WEFT_NONE : weft_model_name(m, r->promise);
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
