/* SPDX-License-Identifier: ISC */
#include "analyse/times.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* Sorts times by one digit of their difference to least. */
static void sort_digit(int64_t *to, const int64_t *from, size_t count, int64_t least,
                       unsigned shift)
{
    size_t place[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++)
        place[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++;
    for (unsigned d = 0; d < DIGITS; d++) {
        size_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[place[(uint64_t)(from[i] - least) >> shift & (DIGITS - 1)]++] = from[i];
}

void analyse_sort_times(int64_t *time, size_t count, int64_t *spare)
{
    int64_t least = count ? time[0] : 0, most = least;
    bool sorted = true;
    for (size_t i = 1; i < count; i++) {
        sorted &= time[i - 1] <= time[i];
        least = time[i] < least ? time[i] : least;
        most = time[i] > most ? time[i] : most;
    }
    if (sorted)
        return;
    if (count < DIGITS) {
        qsort(time, count, sizeof *time, weft_order_i64);
        return;
    }
    int64_t *from = time,
            *to = spare; /* lengths and times are within 2^62, so their differences fit */
    for (unsigned shift = 0; shift < 64 && (uint64_t)(most - least) >> shift; shift += DIGIT_BITS) {
        sort_digit(to, from, count, least, shift);
        int64_t *other = from;
        from = to;
        to = other;
    }
    if (from != time)
        memcpy(time, from, count * sizeof *time);
}

/* ---- Streams ---- */

static int64_t run_length(const struct weft_history *h, uint32_t run)
{
    const struct weft_run *r = &h->m->run[run];
    return r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
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
        *first = r->start_ns < *first ? r->start_ns : *first;
        *last = r->end_ns > *last ? r->end_ns : *last;
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
    uint32_t begin = h->idle_first[s->stream], end = h->idle_first[s->stream + 1];
    for (uint32_t i = begin; i < end; i++) {
        *first = h->idle[i].start_ns < *first ? h->idle[i].start_ns : *first;
        *last = h->idle[i].end_ns > *last ? h->idle[i].end_ns : *last;
        analyse_add(&s->idle_ns, h->idle[i].end_ns - h->idle[i].start_ns);
    }
    int64_t from = *first;
    for (uint32_t i = begin; i < end; i++) {
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

bool analyse_stats_streams(struct weft_stats *out, const struct weft_history *h)
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
