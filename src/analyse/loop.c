/* SPDX-License-Identifier: ISC */
/* Runs the searches for loops that are not free, one after another; and what they share. */
#include "analyse/loop.h"

#include <stdlib.h>

/* ---- Times that are explained ---- */

void analyse_span_add(struct analyse_loops *l, uint32_t stream, int64_t from_ns, int64_t to_ns,
                      int64_t usual_ns, uint32_t finding)
{
    const struct analyse_span x = {.from_ns = from_ns,
                                   .to_ns = to_ns,
                                   .stream = stream,
                                   .usual_ns = weft_later(usual_ns, 0),
                                   .finding = finding};
    if (to_ns > from_ns)
        analyse_append(l->s, &l->span, &l->spans, &l->span_room, &x, sizeof x);
}

static int by_stream(const void *a, const void *b)
{
    const struct analyse_span *x = a, *y = b;
    WEFT_ORDER(x->stream, y->stream);
    WEFT_ORDER(x->from_ns, y->from_ns);
    return weft_order(x->to_ns, y->to_ns);
}

/* A finding that is only possible does not explain anything else. */
static bool is_doubtful(const struct analyse_loops *l, const struct analyse_span *x)
{
    return x->finding == WEFT_NONE || l->s->out->finding[x->finding].confidence == WEFT_POSSIBLE;
}

/* How much of the first part of a span is doubtful. */
static int64_t doubtful_of(const struct analyse_loops *l, const struct analyse_span *x,
                           int64_t length)
{
    return is_doubtful(l, x) && length > x->usual_ns ? length - x->usual_ns : 0;
}

static void sort_spans(struct analyse_loops *l)
{
    uint32_t kept = 0;
    weft_sort(l->span, l->spans, sizeof *l->span, by_stream);
    /* if one overlaps an earlier one, it begins where that ends */
    for (uint32_t i = 0; i < l->spans; i++) {
        struct analyse_span x = l->span[i], *last = kept ? &l->span[kept - 1] : NULL;
        bool same = last && last->stream == x.stream;
        if (same && x.from_ns < last->to_ns)
            x.from_ns = last->to_ns;
        if (x.to_ns <= x.from_ns)
            continue;
        int64_t length = same ? last->to_ns - last->from_ns : 0;
        x.before_ns = same ? last->before_ns + length : 0;
        x.doubtful_before_ns = same ? last->doubtful_before_ns + doubtful_of(l, last, length) : 0;
        l->span[kept++] = x;
    }
    l->spans = kept;
    for (uint32_t s = 0, i = 0; s <= l->s->h->streams; s++) {
        while (i < kept && l->span[i].stream < s)
            i++;
        l->span_first[s] = i;
    }
}

/* The time covered by spans, or by doubtful ones, before a time. */
static int64_t covered_before(const struct analyse_loops *l, uint32_t stream, int64_t time_ns,
                              bool doubtful)
{
    uint32_t first = l->span_first[stream], low = first, high = l->span_first[stream + 1];
    /* the first that begins at or after it */
    WEFT_SEEK(low, high, l->span[middle].from_ns < time_ns);
    if (low == first)
        return 0;
    const struct analyse_span *x = &l->span[low - 1];
    int64_t length = (x->to_ns < time_ns ? x->to_ns : time_ns) - x->from_ns;
    return doubtful ? x->doubtful_before_ns + doubtful_of(l, x, length) : x->before_ns + length;
}

int64_t analyse_spans_within(const struct analyse_loops *l, uint32_t stream, int64_t from_ns,
                             int64_t to_ns, bool doubtful)
{
    if (to_ns <= from_ns || !l->spans)
        return 0;
    return covered_before(l, stream, to_ns, doubtful) -
           covered_before(l, stream, from_ns, doubtful);
}

static int by_start(const void *a, const void *b)
{
    const struct analyse_blocked *x = a, *y = b;
    WEFT_ORDER(x->from_ns, y->from_ns);
    WEFT_ORDER(y->to_ns, x->to_ns);
    return weft_order(x->finding, y->finding);
}

/* For the following searches: the spans of all streams together, without overlaps. */
static void publish_spans(struct analyse_loops *l)
{
    struct analyse_search *s = l->s;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->spans; i++) {
        const struct analyse_span *x = &l->span[i];
        if (is_doubtful(l, x))
            continue;
        if (!analyse_search_room(s, &s->blocked, s->blockeds, &s->blocked_room, sizeof *s->blocked))
            return;
        s->blocked[s->blockeds++] = (struct analyse_blocked){x->from_ns, x->to_ns, x->finding};
    }
    weft_sort(s->blocked, s->blockeds, sizeof *s->blocked, by_start);
    for (uint32_t i = 0; i < s->blockeds; i++) {
        struct analyse_blocked x = s->blocked[i];
        if (kept && x.from_ns < s->blocked[kept - 1].to_ns)
            x.from_ns = s->blocked[kept - 1].to_ns;
        if (x.to_ns > x.from_ns)
            s->blocked[kept++] = x;
    }
    s->blockeds = kept;
}

/* ---- Questions ---- */

/* Returns true if no other promise waits for it, among some: a notification may be for others. */
static bool has_one_reader(const struct weft_history *h, uint32_t promise)
{
    enum { LOOKED_AT = 64 };
    uint32_t first = h->waits_for_first[promise], end = h->waits_for_first[promise + 1];
    for (uint32_t i = first; i < end && i - first < LOOKED_AT; i++)
        if (h->wait[h->waits_for[i]].reader != h->wait[h->waits_for[first]].reader)
            return false;
    return true;
}

int64_t analyse_surely_there_ns(const struct weft_history *h, const struct weft_wait *w)
{
    uint32_t by;
    const int64_t there = weft_history_there_ns(h, w, &by);
    const bool resolved = weft_history_resolved_ns(h, w->source) <= w->until_ns;
    return resolved || (by != WEFT_NONE && has_one_reader(h, w->source)) ? there : INT64_MAX;
}

uint32_t analyse_interaction_from(const struct weft_model *m, int64_t time_ns)
{
    uint32_t low = 0, high = m->interactions;
    WEFT_SEEK(low, high, m->interaction[middle].time_ns < time_ns);
    return low;
}

/* ---- All of it ---- */

void analyse_find_blocks(struct analyse_search *s)
{
    struct analyse_loops l = {.s = s};
    l.span_first = analyse_take(s, (uint64_t)s->h->streams + 1, sizeof *l.span_first);
    static void (*const searches[])(struct analyse_loops *) = {
        analyse_find_long_runs, analyse_find_spins, analyse_find_turns};
    for (unsigned i = 0; i < 3 && !s->failed && !s->canceled; i++) {
        searches[i](&l);
        if (!s->failed)
            sort_spans(&l);
        s->canceled |= s->progress && !s->progress(s->data, s->done);
    }
    if (!s->failed)
        publish_spans(&l);
}
