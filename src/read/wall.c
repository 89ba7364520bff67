/* SPDX-License-Identifier: ISC */
/* The wall clock may be set while a trace is recorded; then no single distance is right for all of
 * the trace. The distance at the end is used: that is the part people look at after a fault, and
 * when a clock is set, it is usually set right. (Slewing does no harm: it moves CLOCK_MONOTONIC as
 * well.)
 * A pair may be damaged, or an interruption may come between the readings of the two clocks. So the
 * median of several distances is used: of up to WALL_PAIRS of the newest pairs, but at most half of
 * all pairs, so that a clock set in the middle of few packets is noticed, too. The distance of the
 * oldest pairs, found in the same way, shows how far the clock was set. Memory and time are
 * bounded, whatever the file contains. */
#include "read/wall.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/order.h"
#include "read/reader.h"

/* Keeps the pair among the newest ones, or the oldest. */
static void insert_pair(struct wall_pairs *kept, const struct wall_pair *pair, bool newest)
{
    struct wall_pair all[WALL_PAIRS + 1];
    unsigned at = kept->count;
    memcpy(all, kept->pair, at * sizeof *all);
    for (; at > 0 && all[at - 1].sequence > pair->sequence; at--)
        all[at] = all[at - 1];
    all[at] = *pair;
    const bool full = kept->count == WALL_PAIRS;
    kept->count += !full;
    memcpy(kept->pair, all + (full && newest), kept->count * sizeof *all);
}

void wall_add(struct wall *w, const struct wall_pair *pair)
{
    if (!pair->real_ns)
        return;
    w->pairs++;
    insert_pair(&w->oldest, pair, false);
    insert_pair(&w->newest, pair, true);
}

/* The distances of those pairs that are about as precise as the best one. */
static unsigned find_distances(const struct wall_pair *pair, unsigned pairs,
                               const struct clock *clock, uint64_t hz, int64_t *ahead_ns)
{
    uint64_t best = UINT64_MAX, hint = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < pairs; i++)
        best = pair[i].error < best ? pair[i].error : best;
    const uint64_t most = clock_error_most(best, hz);
    for (unsigned i = 0; i < pairs; i++) {
        uint64_t ns = clock_convert(clock, pair[i].ticks, &hint);
        bool is_sound = ns <= INT64_MAX && pair[i].real_ns <= INT64_MAX;
        if (is_sound && (pair[i].error <= most || pair[i].error == CLOCK_NO_ERROR))
            ahead_ns[count++] = (int64_t)pair[i].real_ns - (int64_t)ns;
    }
    return count;
}

/* The median; of two middle ones the larger, since an interruption makes the wall clock seem
 * behind. */
static int64_t middle_of(int64_t *ns, unsigned count)
{
    qsort(ns, count, sizeof *ns, weft_order_i64);
    return ns[count / 2];
}

/* Uses only the pairs of the packets. */
static bool find_own(const struct wall *w, const struct clock *clock,
                     struct weft_reader_facts *facts)
{
    const uint64_t hz = facts->clock_hz;
    int64_t old[WALL_PAIRS], new[WALL_PAIRS];
    uint64_t half = w->pairs / 2, rest = w->pairs - half;
    unsigned olds = half < WALL_PAIRS ? (unsigned)half : WALL_PAIRS;
    unsigned news = rest < WALL_PAIRS ? (unsigned)rest : WALL_PAIRS;
    unsigned kept = w->newest.count;
    news = find_distances(w->newest.pair + kept - news, news, clock, hz, new);
    if (news == 0) /* none of them is usable */
        news = find_distances(w->newest.pair, kept, clock, hz, new);
    if (news == 0)
        return false;
    facts->wall_own_ns = middle_of(new, news);
    olds = find_distances(w->oldest.pair, olds, clock, hz, old);
    if (olds > 0 &&
        __builtin_sub_overflow(facts->wall_own_ns, middle_of(old, olds), &facts->wall_set_ns))
        facts->wall_set_ns = 0;
    return true;
}

void wall_find(const struct wall *w, const struct clock *clock, struct weft_reader_facts *facts)
{
    const bool known = find_own(w, clock, facts);
    const struct wall_pair seen = {.ticks = w->sight.ticks, .real_ns = w->sight.real_ns};
    facts->wall_ns = facts->wall_own_ns;
    facts->wall_measured =
        w->has_sight && find_distances(&seen, 1, clock, facts->clock_hz, &facts->wall_ns) == 1;
    facts->wall_error_ns = facts->wall_measured ? w->sight.error_ns : 0;
    facts->has_wall = known || facts->wall_measured;
}

size_t weft_sight_write(char text[WEFT_SIGHT_TEXT], const struct weft_sight *s)
{
    int n = snprintf(text, WEFT_SIGHT_TEXT, WEFT_SIGHT_KEY "=%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                     s->ticks, s->real_ns, s->error_ns);
    return (size_t)n + 1;
}

void weft_sight_blank(char *texts, size_t size)
{
    static const char begin[] = WEFT_SIGHT_KEY "=";
    const size_t key = sizeof begin - 1;
    for (char *at = texts, *end = texts + size; at && (size_t)(end - at) >= key;) {
        if (memcmp(at, begin, key) == 0)
            *at = '-';
        at = memchr(at, '\0', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
}

/* Reads a number and the character after it. */
static bool read_number(const char **at, uint64_t *number, char after)
{
    const size_t digits = strspn(*at, "0123456789");
    const bool found = weft_parse_digits(*at, digits, UINT64_MAX, number) && (*at)[digits] == after;
    *at += digits + (found && after);
    return found;
}

bool weft_sight_read(struct weft_sight *out, const char *value)
{
    return read_number(&value, &out->ticks, ':') && read_number(&value, &out->real_ns, ':') &&
           read_number(&value, &out->error_ns, '\0') && out->real_ns != 0;
}
