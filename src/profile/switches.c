/* SPDX-License-Identifier: ISC */
/* Turns context switches, which the system reports one by one, into absences; and sorts by time. */
#include <stdlib.h>
#include <string.h>

#include "profile/builder.h"

/* NULL: no memory. */
static struct profile_away *away_of(struct weft_profile *p, uint32_t thread)
{
    struct weft_profile_build *b = p->build;
    while (!b->no_memory && b->aways <= thread)
        if (profile_is_there(p, weft_reserve(&b->away, b->aways, &b->away_room, sizeof *b->away)))
            b->away[b->aways++] = (struct profile_away){.away = false};
    return b->no_memory ? NULL : &b->away[thread];
}

static void come_back(struct weft_profile *p, uint32_t thread, uint64_t to_ns, bool open)
{
    struct profile_away *a = &p->build->away[thread];
    if (a->away && to_ns >= a->from_ns)
        weft_profile_add_absence(p, &(struct weft_sample){
                                        .time_ns = a->from_ns,
                                        .value = to_ns - a->from_ns,
                                        .thread = thread,
                                        .stack = a->stack,
                                        .core = a->core,
                                        .preempted = a->preempted,
                                        .open = open,
                                    });
    a->away = false;
}

void profile_switch_out(struct weft_profile *p, uint32_t thread, uint64_t time_ns, uint32_t core,
                        uint32_t stack, bool preempted)
{
    struct profile_away *a = away_of(p, thread);
    if (a && !a->ended) /* if it was away already, it is not known when it came back */
        *a = (struct profile_away){time_ns, stack, core, true, preempted, false};
}

void profile_switch_in(struct weft_profile *p, uint32_t thread, uint64_t time_ns)
{
    struct profile_away *a = away_of(p, thread);
    if (!a)
        return;
    a->ended = false;
    come_back(p, thread, time_ns, false);
}

void profile_switch_exit(struct weft_profile *p, uint32_t thread, uint64_t time_ns)
{
    struct profile_away *a = away_of(p, thread);
    if (!a)
        return;
    a->ended = true;
    const uint64_t until_ns = p->switches_until_ns;
    if (until_ns && until_ns < time_ns) /* it came back earlier, but it is not known when */
        come_back(p, thread, until_ns > a->from_ns ? until_ns : a->from_ns, true);
    else
        come_back(p, thread, time_ns, false);
}

void profile_switch_end(struct weft_profile *p)
{
    struct weft_profile_build *b = p->build;
    uint64_t end_ns = p->last_ns;
    for (uint32_t t = 0; t < b->aways; t++)
        if (b->away[t].away && b->away[t].from_ns > end_ns)
            end_ns = b->away[t].from_ns;
    if (p->switches_until_ns && p->switches_until_ns < end_ns)
        end_ns = p->switches_until_ns; /* it is not known when they came back */
    for (uint32_t t = 0; t < b->aways; t++)
        come_back(p, t, end_ns, true);
}

/* ---- Sorting ---- */

static uint64_t time_of(const char *items, size_t index, size_t item)
{
    uint64_t time;
    memcpy(&time, items + index * item, sizeof time);
    return time;
}

/* Where the ascending items that begin at index from end. */
static size_t run_end(const char *items, size_t from, size_t count, size_t item)
{
    size_t i = from + 1;
    for (; i < count && time_of(items, i - 1, item) <= time_of(items, i, item); i++)
        ;
    return i < count ? i : count;
}

/* Merges items [a, b) and [b, c) into out. */
static void merge(char *out, const char *items, size_t a, size_t b, size_t c, size_t item)
{
    size_t x = a, y = b;
    for (size_t i = a; i < c; i++) {
        bool first = y == c || (x < b && time_of(items, x, item) <= time_of(items, y, item));
        memcpy(out + i * item, items + (first ? x++ : y++) * item, item);
    }
}

/* Merges ascending parts, two at a time, until there is one. */
bool profile_sort_by_time(void *array, uint32_t count, size_t item)
{
    if (count == 0 || run_end(array, 0, count, item) == count)
        return true;
    char *other = weft_resize(NULL, count, item), *from = array, *to = other;
    if (!other)
        return false;
    for (size_t runs = 2; runs > 1;) {
        runs = 0;
        for (size_t a = 0; a < count; runs++) {
            size_t b = run_end(from, a, count, item);
            size_t c = b < count ? run_end(from, b, count, item) : b;
            merge(to, from, a, b, c, item);
            a = c;
        }
        char *swap = from;
        from = to;
        to = swap;
    }
    if (from != array)
        memcpy(array, from, count * item);
    free(other);
    return true;
}
