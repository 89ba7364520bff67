/* SPDX-License-Identifier: ISC */
/* In which order people want to read it, and what is alike, so that five hundred workers are one line. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "now/now.h"

/* A text without its digits: what differs between things of one kind. */
static uint64_t text_sum(const char *text, uint64_t sum)
{
    for (; text && *text; text++)
        if (!(*text >= '0' && *text <= '9') && !(*text >= 'a' && *text <= 'f'))
            sum = weft_mix(sum ^ (unsigned char)*text, 0);
    return sum;
}

/* Of the thing itself. On a cycle each is told by itself. */
static uint64_t own_sum(const struct now_thing *t, uint64_t seed)
{
    uint64_t sum = t->cycle ? weft_mix(t->key, t->kind + 1) : weft_mix(t->kind, seed);
    if (t->frames == 0)
        sum = text_sum(t->state, text_sum(t->name, sum));
    for (uint32_t i = 0; i < t->frames; i++)
        sum = weft_mix(
            text_sum(t->frame[i].file, text_sum(t->frame[i].function, sum)) + t->frame[i].line, 0);
    return sum;
}

struct walk {
    const struct now *n;
    uint64_t seed; /* so that a process cannot choose what it looks like */
    /* of each thing: the next link to be followed; 0: not reached yet, else one more than the link */
    uint32_t *next;
    uint32_t *path;
    uint64_t *sum;
    bool *bad; /* it leads to a cycle */
};

/* What the links of a thing lead to is known, except on the way back to where the walk came from. */
static void sum_up(struct walk *w, uint32_t thing)
{
    const struct now *n = w->n;
    uint64_t sum = own_sum(&n->thing[thing], w->seed);
    for (uint32_t i = now_first_link(n, thing); i < n->links && n->link[i].from == thing; i++) {
        sum += weft_mix(w->sum[n->link[i].to] ^ text_sum(n->link[i].how, 0), 1);
        w->bad[thing] |= w->bad[n->link[i].to] || n->thing[n->link[i].to].cycle;
    }
    w->sum[thing] = weft_mix(sum, 2);
}

static void walk(struct walk *w, uint32_t from)
{
    const struct now *n = w->n;
    uint32_t paths = 0;
    if (w->next[from])
        return;
    w->path[paths++] = from;
    w->next[from] = now_first_link(n, from) + 1;
    while (paths) {
        const uint32_t thing = w->path[paths - 1], at = w->next[thing] - 1;
        if (at == n->links || n->link[at].from != thing) {
            sum_up(w, thing);
            paths--;
            continue;
        }
        w->next[thing]++;
        const uint32_t to = n->link[at].to;
        if (!w->next[to]) {
            w->next[to] = now_first_link(n, to) + 1;
            w->path[paths++] = to;
        }
    }
}

uint32_t now_first_link(const struct now *n, uint32_t thing)
{
    uint32_t low = 0, high = n->links;
    WEFT_SEEK(low, high, n->link[middle].from < thing);
    return low;
}

/* The lower, the earlier people want to read it. */
static unsigned rank(const struct walk *w, uint32_t thing)
{
    const struct now *n = w->n;
    unsigned best = 5;
    if (n->thing[thing].cycle)
        return 0;
    if (w->bad[thing])
        return 1;
    if (n->thing[thing].kind == NOW_TASK)
        return 2;
    for (uint32_t i = now_first_link(n, thing); i < n->links && n->link[i].from == thing; i++) {
        const enum now_kind to = n->thing[n->link[i].to].kind;
        const unsigned r = to == NOW_DESCRIPTOR || to == NOW_TIMER ? 4 : 3;
        best = r < best ? r : best;
    }
    return best;
}

static int by_rank(const void *a, const void *b)
{
    const struct now_story *x = a, *y = b;
    WEFT_ORDER(x->rank, y->rank);
    WEFT_ORDER(x->cycle, y->cycle);
    WEFT_ORDER(x->alike, y->alike);
    return weft_order(x->thing, y->thing);
}

/* A thing that nothing waits for, and that waits or says something; or that is on a cycle. */
static bool begins_story(const struct now *n, const bool *waited_for, uint32_t thing)
{
    const struct now_thing *t = &n->thing[thing];
    const uint32_t first = now_first_link(n, thing);
    return t->cycle || (!waited_for[thing] && (t->kind == NOW_THREAD || t->kind == NOW_TASK ||
                                               (first < n->links && n->link[first].from == thing)));
}

/* Those that only lead back to each other through links of any kind are told from one of them. */
static void add_unreached(const struct now *n, bool *reached, struct now_story *story,
                          uint32_t *stories, uint32_t *path)
{
    for (uint32_t round = 0, before = *stories; round < before + n->things; round++) {
        uint32_t paths = 0;
        const uint32_t from = round < before ? story[round].thing : round - before;
        if (reached[from])
            continue;
        const bool waits =
            now_first_link(n, from) < n->links && n->link[now_first_link(n, from)].from == from;
        if (round >= before && !waits)
            continue;
        if (round >= before)
            story[(*stories)++] = (struct now_story){.thing = from};
        reached[from] = true;
        for (path[paths++] = from; paths;) {
            const uint32_t thing = path[--paths];
            for (uint32_t i = now_first_link(n, thing); i < n->links && n->link[i].from == thing;
                 i++)
                if (!reached[n->link[i].to]) {
                    reached[n->link[i].to] = true;
                    path[paths++] = n->link[i].to;
                }
        }
    }
}

struct summed {
    uint64_t sum;
    uint32_t thing;
};

static int by_sum(const void *a, const void *b)
{
    const struct summed *x = a, *y = b;
    WEFT_ORDER(x->sum, y->sum);
    return weft_order(x->thing, y->thing);
}

/* Replaces the sum of each thing by one more than the first thing that has the same; 0 for those on a cycle. Returns
 * false if there is no memory. */
static bool number_alike(const struct now *n, uint64_t *sum)
{
    struct summed *all = calloc((size_t)n->things + 1, sizeof *all);
    for (uint32_t i = 0; all && i < n->things; i++)
        all[i] = (struct summed){sum[i], i};
    if (all && n->things)
        qsort(all, n->things, sizeof *all, by_sum);
    for (uint32_t i = 0, first = 0; all && i < n->things; i++) {
        first = all[i].sum == all[first].sum ? first : i;
        sum[all[i].thing] = n->thing[all[i].thing].cycle ? 0 : (uint64_t)all[first].thing + 1;
    }
    const bool ok = all != NULL;
    free(all);
    return ok;
}

bool now_order(const struct now *n, struct now_order *o)
{
    const size_t things = (size_t)n->things + 1;
    struct walk w = {n,
                     weft_seed(),
                     calloc(things, sizeof *w.next),
                     calloc(things, sizeof *w.path),
                     calloc(things, sizeof *w.sum),
                     calloc(things, sizeof *w.bad)};
    bool *waited_for = calloc(things, sizeof *waited_for),
         *reached = calloc(things, sizeof *reached);
    *o = (struct now_order){calloc(things, sizeof *o->story), 0, w.sum};
    bool ok = w.next && w.path && w.sum && w.bad && waited_for && reached && o->story;
    for (uint32_t i = 0; ok && i < n->links; i++)
        waited_for[n->link[i].to] |= n->link[i].to != n->link[i].from;
    for (uint32_t i = 0; ok && i < n->things; i++)
        walk(&w, i);
    for (uint32_t i = 0; ok && i < n->things; i++)
        if (begins_story(n, waited_for, i))
            o->story[o->stories++] = (struct now_story){.thing = i};
    if (ok)
        add_unreached(n, reached, o->story, &o->stories, w.path);
    ok = ok && number_alike(n, w.sum);
    for (uint32_t i = 0; ok && i < o->stories; i++) {
        struct now_story *s = &o->story[i];
        s->rank = rank(&w, s->thing);
        s->cycle = n->thing[s->thing].cycle;
        s->alike = w.sum[s->thing];
    }
    if (o->stories)
        qsort(o->story, o->stories, sizeof *o->story, by_rank);
    weft_free_all(w.next, w.path, w.bad, waited_for, reached);
    return ok;
}

void now_order_free(struct now_order *o)
{
    weft_free_all(o->story, o->alike);
}
