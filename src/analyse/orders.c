/* SPDX-License-Identifier: ISC */
/* Orders that are the same in all good runs and swapped in the bad one. With few good runs, most
 * are chance: only the clearest are reported, and only if nothing else explains the bad run. */
#include <stdlib.h>

#include "analyse/differ.h"
#include "base/array.h"

enum { MOST = 1000 }; /* promises that are compared with each other */

/* A promise that all runs have exactly once, and that ended in the same way. */
struct event {
    uint32_t good, bad;
    int64_t good_ns, bad_ns;
    uint32_t before; /* see before */
};

struct swap {
    uint32_t first, second; /* index of an event */
    int64_t apart_ns;       /* the smallest distance in any run */
};

struct sorter {
    const struct analyse_differ *d;
    struct event *event;
    uint32_t events;
    struct swap best[WEFT_ORDERS_MAX];
    uint32_t bests;
};

static bool is_event(const struct analyse_differ *d, uint32_t good)
{
    uint32_t bad = d->bad_of_good[good];
    const struct analyse_clan *c = analyse_clan_of(d, 0, good);
    if (bad == WEFT_NONE || weft_model_name(d->good->m, good) == WEFT_NONE || c->promises[1] != 1 ||
        c->promises[0] != d->goods || weft_history_ended_ns(d->good, good) == INT64_MAX ||
        analyse_ending_of(d->good->m, good) != analyse_ending_of(d->bad->m, bad))
        return false;
    for (uint32_t r = 1; r < d->goods; r++)
        if (d->other[r][good] == WEFT_NONE ||
            weft_history_ended_ns(d->sides.side[r].h, d->other[r][good]) == INT64_MAX)
            return false;
    return true;
}

/* The least time by which the two are swapped in any run; 0 or less: they are not. */
static int64_t swapped_by(const struct analyse_differ *d, const struct event *first,
                          const struct event *second)
{
    int64_t least = second->good_ns - first->good_ns, bad = first->bad_ns - second->bad_ns;
    least = bad < least ? bad : least;
    for (uint32_t r = 1; r < d->goods && least > 0; r++) {
        const struct weft_history *h = d->sides.side[r].h;
        int64_t apart = weft_history_ended_ns(h, d->other[r][second->good]) -
                        weft_history_ended_ns(h, d->other[r][first->good]);
        least = apart < least ? apart : least;
    }
    return least;
}

/* What the promise of an event last waited for, among the events; or WEFT_NONE. */
static uint32_t waited_for_before(const struct sorter *k, uint32_t event)
{
    const struct weft_history *h = k->d->good;
    uint32_t p = k->event[event].good, first = h->waits_of_first[p], end = h->waits_of_first[p + 1];
    uint32_t source = first == end ? WEFT_NONE : h->wait[h->waits_of[end - 1]].source;
    for (uint32_t i = 0; i < k->events && source != WEFT_NONE; i++)
        if (k->event[i].good == source)
            return i;
    return WEFT_NONE;
}

/* Returns true if what one of the two had waited for is swapped already. */
static bool follows_other_swap(const struct sorter *k, uint32_t first, uint32_t second)
{
    const struct event *e = k->event;
    uint32_t a = e[first].before, b = e[second].before;
    return (a != WEFT_NONE && swapped_by(k->d, &e[a], &e[second]) > 0) ||
           (b != WEFT_NONE && swapped_by(k->d, &e[first], &e[b]) > 0);
}

static void add_swap(struct sorter *k, struct swap s)
{
    uint32_t at = k->bests;
    while (at > 0 && k->best[at - 1].apart_ns < s.apart_ns)
        at--;
    if (at == WEFT_ORDERS_MAX || follows_other_swap(k, s.first, s.second))
        return;
    k->bests += k->bests < WEFT_ORDERS_MAX;
    for (uint32_t i = k->bests - 1; i > at; i--)
        k->best[i] = k->best[i - 1];
    k->best[at] = s;
}

static void find_events(struct sorter *k)
{
    for (uint32_t p = 1; p < k->d->good->m->promises && k->events < MOST; p++) {
        uint32_t bad = k->d->bad_of_good[p];
        if (is_event(k->d, p))
            k->event[k->events++] =
                (struct event){p, bad, weft_history_ended_ns(k->d->good, p),
                               weft_history_ended_ns(k->d->bad, bad), WEFT_NONE};
    }
    for (uint32_t i = 0; i < k->events; i++)
        k->event[i].before = waited_for_before(k, i);
}

void analyse_find_orders(struct analyse_differ *d)
{
    struct sorter k = {.d = d};
    struct weft_diff *o = d->out;
    if (o->strangers || (o->divergence.found && o->divergence.causal))
        return;
    k.event = calloc(MOST, sizeof *k.event);
    o->order = calloc(WEFT_ORDERS_MAX, sizeof *o->order);
    d->failed |= !k.event || !o->order;
    if (!d->failed)
        find_events(&k);
    for (uint32_t i = 0; i < k.events; i++)
        for (uint32_t j = 0; j < k.events; j++) {
            int64_t apart = swapped_by(d, &k.event[i], &k.event[j]);
            if (apart > 0)
                add_swap(&k, (struct swap){i, j, apart});
        }
    for (uint32_t i = 0; i < k.bests && !d->failed; i++) {
        const struct event *a = &k.event[k.best[i].first], *b = &k.event[k.best[i].second];
        char *text = analyse_put_new(
            &d->failed, d->good->m, NULL, SAY_ORDER, GOOD(first, a->good), GOOD(second, b->good),
            PHRASE(runs, d->goods > 1 ? SAY_ALL_GOOD_RUNS : SAY_THE_GOOD_RUN),
            TIME(good_first, a->good_ns), TIME(good_second, b->good_ns), TIME(bad_first, a->bad_ns),
            TIME(bad_second, b->bad_ns));
        o->order[o->orders++] = (struct weft_order_change){a->good, b->good, a->bad, b->bad, text};
    }
    free(k.event);
}
