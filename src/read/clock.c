/* SPDX-License-Identifier: ISC */
/* Each packet has a pair of readings, ticks and nanoseconds. Some pairs may be wrong: an
 * interruption came between the two readings, or the pair is damaged. This uses the longest
 * sequence of pairs in which the nanoseconds never run backwards, and never run faster than twice
 * what the clock's nominal frequency says. (They may run slower: a counter may continue while the
 * machine is suspended, but CLOCK_MONOTONIC does not.)
 * Pairs of that sequence that are too close together are left out: their errors would dominate the
 * slope. */
#include "read/clock.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "read/wide.h"

#define SECOND UINT64_C(1000000000)

enum {
    APART_NS = 10000000, /* two pairs with errors of 100 ns give a slope with an error of 2e-5 */
    LEAST_APART_NS =
        2000000,         /* still better than the nominal frequency, which was measured over 1 ms */
    ERRORS_MAX = 8,      /* a pair may be worse than the best one by this factor … */
    ERROR_FREE_NS = 1000 /* … and this much more */
};

bool clock_add(struct clock *c, uint64_t ticks, uint64_t ns, uint64_t error)
{
    if (!weft_reserve(&c->pair, c->pairs, &c->room, sizeof *c->pair))
        return false;
    c->pair[c->pairs++] = (struct clock_pair){.ticks = ticks, .ns = ns, .error = error};
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct clock_pair *x = a, *y = b;
    WEFT_ORDER(x->ns, y->ns);
    return weft_order(x->ticks, y->ticks);
}

uint64_t clock_error_most(uint64_t best, uint64_t hz)
{
    return wide_shifted(best, ERRORS_MAX, wide_scaled(hz, ERROR_FREE_NS, SECOND), 0);
}

/* Leaves out the pairs that took much longer to read than the best one. */
static void drop_slow(struct clock *c, uint64_t hz)
{
    uint64_t best = UINT64_MAX, kept = 0;
    for (uint64_t i = 0; i < c->pairs; i++)
        best = c->pair[i].error < best ? c->pair[i].error : best;
    const uint64_t most = clock_error_most(best, hz);
    for (uint64_t i = 0; i < c->pairs; i++)
        if (c->pair[i].error == CLOCK_NO_ERROR || c->pair[i].error <= most)
            c->pair[kept++] = c->pair[i];
    c->pairs = kept;
}

/* Finds the longest sequence in which neither the time nor the excess ever falls. (The excess is
 * how far twice the nominal time is ahead of the time.) After sorting by time, that is the longest
 * sequence with rising excess. */
static bool keep_consistent(struct clock *c, uint64_t hz)
{
    if (c->pairs < 2)
        return true;
    double per_tick = hz ? 2e9 / (double)hz : 1;
    uint64_t *end_of =
        malloc(c->pairs * sizeof *end_of); /* the pair that ends the best sequence of each length */
    uint64_t *before = malloc(c->pairs * sizeof *before); /* for each pair: the one before it */
    uint64_t length = 0;
    if (end_of && before) {
        qsort(c->pair, c->pairs, sizeof *c->pair, by_time);
        const struct clock_pair first = c->pair[0];
        for (uint64_t i = 0; i < c->pairs; i++) {
            struct clock_pair *p = &c->pair[i];
            p->excess = (double)(int64_t)(p->ticks - first.ticks) * per_tick;
            p->excess -= hz ? (double)(p->ns - first.ns) : 0;
            uint64_t low = 0, high = length;
            WEFT_SEEK(low, high, c->pair[end_of[middle]].excess <= p->excess);
            before[i] = low ? end_of[low - 1] : i;
            end_of[low] = i;
            length = low == length ? length + 1 : length;
        }
        for (uint64_t n = length, i = end_of[length - 1]; n--; i = before[i])
            end_of[n] = i;
        for (uint64_t n = 0; n < length; n++) /* end_of[n] >= n */
            c->pair[n] = c->pair[end_of[n]];
        c->pairs = length;
    }
    weft_free_all(end_of, before);
    return length > 0;
}

static uint64_t slope_of(uint64_t ns, uint64_t ticks, unsigned shift)
{
    return wide_scaled(ns, UINT64_C(1) << shift, ticks ? ticks : 1);
}

static void add_point(struct clock *c, const struct clock_pair *p, uint64_t apart_ns,
                      uint64_t nominal)
{
    const uint64_t ticks = p->ticks, ns = p->ns;
    if (c->points) {
        struct clock_point *last = &c->point[c->points - 1];
        if (ticks <= last->ticks || ns - last->ns < apart_ns)
            return;
        last->slope = slope_of(ns - last->ns, ticks - last->ticks, c->shift);
        nominal = last->slope;
    }
    c->point[c->points++] = (struct clock_point){ticks, ns, nominal};
}

bool clock_finish(struct clock *c, uint32_t kind, uint64_t hz)
{
    bool related = kind != WEFT_CLOCK_CALLER;
    uint64_t nominal_hz = hz ? hz : SECOND;
    c->plain = kind == WEFT_CLOCK_MONOTONIC;
    c->shift = nominal_hz > 50000 ? 44 : 28;
    drop_slow(c, nominal_hz);
    if (related && !keep_consistent(c, hz))
        return false;
    c->point = malloc((c->pairs + 1) * sizeof *c->point);
    if (!c->point)
        return false;
    uint64_t nominal = slope_of(SECOND, nominal_hz, c->shift);
    for (uint64_t i = 0; related && i < c->pairs; i++)
        add_point(c, &c->pair[i], APART_NS, nominal);
    if (c->points == 1)
        add_point(c, &c->pair[c->pairs - 1], LEAST_APART_NS, nominal);
    if (!c->points)
        add_point(c, &(struct clock_pair){.ticks = 0}, 0, nominal);
    free(c->pair);
    c->pair = NULL;
    return true;
}

void clock_fini(struct clock *c)
{
    weft_free_all(c->pair, c->point);
}

/* The last point at or before ticks, or the first one. */
static uint64_t find_point(const struct clock *c, uint64_t ticks)
{
    uint64_t low = 1, high = c->points;
    WEFT_SEEK(low, high, c->point[middle].ticks <= ticks);
    return low - 1;
}

uint64_t clock_convert(const struct clock *c, uint64_t ticks, uint64_t *hint)
{
    if (c->plain)
        return ticks;
    uint64_t i = *hint;
    bool inside = i < c->points && ticks >= c->point[i].ticks &&
                  (i + 1 == c->points || ticks < c->point[i + 1].ticks);
    if (!inside)
        *hint = i = find_point(c, ticks);
    const struct clock_point *p = &c->point[i];
    const uint64_t half = UINT64_C(1) << (c->shift - 1);
    if (ticks < p->ticks) {
        uint64_t back = wide_shifted(p->ticks - ticks, p->slope, half, c->shift);
        return back < p->ns ? p->ns - back : 0;
    }
    uint64_t on = wide_shifted(ticks - p->ticks, p->slope, half, c->shift);
    return on < UINT64_MAX - p->ns ? p->ns + on : UINT64_MAX;
}
