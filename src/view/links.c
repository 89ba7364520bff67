/* SPDX-License-Identifier: ISC */
/* The parts of the index that lead from one thing to others: which interactions act on a promise, which promises became
 * it, which interactions matter most, the changes of a counter. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "view/index.h"

uint8_t view_interaction_weight(const struct weft_model *m, uint32_t interaction)
{
    const struct weft_interaction *i = &m->interaction[interaction];
    if (i->replaced || i->actor == i->other || i->actor == WEFT_ROOT || i->other == WEFT_ROOT)
        return 0;
    const struct weft_promise *p = &m->promise[i->other];
    uint64_t lived = p->end_ns > p->start_ns ? (uint64_t)(p->end_ns - p->start_ns) + 1 : 1;
    unsigned bits = 63 - (unsigned)__builtin_clzll(lived); /* the lifetime to a quarter of 2^bits */
    unsigned quarter = bits >= 2 ? (unsigned)(lived >> (bits - 2)) & 3 : 0;
    return (uint8_t)(1 + bits * 4 + quarter);
}

static uint32_t other_of(const struct weft_model *m, uint32_t i)
{
    return m->interaction[i].other;
}

/* The loop, about which nobody asks, stands for "none". */
static uint32_t becomes_of(const struct weft_model *m, uint32_t promise)
{
    return m->promise[promise].becomes == WEFT_NONE ? WEFT_ROOT : m->promise[promise].becomes;
}

static int make_groups(struct view_groups *g, const struct weft_model *m, uint32_t items,
                       uint32_t key(const struct weft_model *m, uint32_t item))
{
    g->first = calloc((size_t)m->promises / 16 + 3, sizeof *g->first);
    if (!g->first)
        return WEFT_E_NOMEM;
    uint32_t *next = g->first + 1, count = 0;
    for (uint32_t i = 0; i < items; i++) {
        uint32_t k = key(m, i);
        next[k / 16 + 1] += k != WEFT_ROOT;
        count += k != WEFT_ROOT;
    }
    g->item = malloc(((size_t)count + 1) * sizeof *g->item);
    if (!g->item)
        return WEFT_E_NOMEM;
    for (uint32_t k = 0; k <= m->promises / 16; k++)
        next[k + 1] += next[k];
    for (uint32_t i = 0; i < items; i++) {
        uint32_t k = key(m, i);
        if (k != WEFT_ROOT)
            g->item[next[k / 16]++] = i;
    }
    return 0;
}

struct moment {
    int64_t time_ns;
    uint32_t number;
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(x->number, y->number);
}

static int64_t time_of(const struct weft_model *m, bool changes, uint32_t number)
{
    return changes ? m->change[number].time_ns : m->interaction[number].time_ns;
}

/* Sorts the numbers of changes, or of interactions, by time, if they are not in this order: times may run backwards.
 * *number is NULL for 0 … n - 1, and stays so if these are in order. */
static int sort_by_time(uint32_t **number, uint32_t n, const struct weft_model *m, bool changes)
{
    uint32_t i = 1;
    while (i < n && time_of(m, changes, *number ? (*number)[i] : i) >=
                        time_of(m, changes, *number ? (*number)[i - 1] : i - 1))
        i++;
    if (i >= n)
        return 0;
    struct moment *moment = malloc(n * sizeof *moment);
    uint32_t *sorted = *number ? *number : malloc(n * sizeof *sorted);
    if (!moment || !sorted) {
        free(moment);
        return WEFT_E_NOMEM;
    }
    for (i = 0; i < n; i++) {
        uint32_t k = *number ? (*number)[i] : i;
        moment[i] = (struct moment){time_of(m, changes, k), k};
    }
    qsort(moment, n, sizeof *moment, by_time);
    for (i = 0; i < n; i++)
        sorted[i] = moment[i].number;
    *number = sorted;
    free(moment);
    return 0;
}

int view_index_links(struct weft_index *x, const struct weft_model *m)
{
    x->weight = malloc((size_t)m->interactions + 1);
    x->weightiest = calloc((size_t)m->interactions / VIEW_HEAP + 1, 1);
    x->drawable = calloc((size_t)m->interactions / VIEW_HEAP + 2, sizeof *x->drawable);
    if (!x->weight || !x->weightiest || !x->drawable)
        return WEFT_E_NOMEM;
    int rc = sort_by_time(&x->by_time, m->interactions, m, false);
    for (uint32_t i = 0; i < m->interactions && rc == 0; i++) {
        uint8_t weight = view_interaction_weight(m, view_interaction_at(x, i));
        uint8_t *most = &x->weightiest[i / VIEW_HEAP];
        x->weight[i] = weight;
        *most = weight > *most ? weight : *most;
        x->drawable[i / VIEW_HEAP + 1] += weight != 0;
    }
    for (uint32_t block = 0; block < m->interactions / VIEW_HEAP + 1; block++)
        x->drawable[block + 1] += x->drawable[block];
    if (rc == 0)
        rc = make_groups(&x->about, m, m->interactions, other_of);
    return rc < 0 ? rc : make_groups(&x->became, m, m->promises, becomes_of);
}

int view_index_changes(struct weft_index *x, const struct weft_model *m)
{
    uint32_t n = m->counters, blocks = 0;
    x->change_first = calloc((size_t)n + 2, sizeof *x->change_first);
    x->extremes_first = calloc((size_t)n + 2, sizeof *x->extremes_first);
    x->change = malloc(((size_t)m->changes + 1) * sizeof *x->change);
    if (!x->change_first || !x->extremes_first || !x->change)
        return WEFT_E_NOMEM;
    uint32_t *next = x->change_first + 1;
    for (uint32_t i = 0; i < m->changes; i++)
        next[m->change[i].counter + 1]++;
    for (uint32_t k = 0; k < n; k++) {
        blocks += (next[k + 1] + VIEW_CHANGES - 1) / VIEW_CHANGES;
        x->extremes_first[k + 1] = blocks;
        next[k + 1] += next[k];
    }
    for (uint32_t i = 0; i < m->changes; i++)
        x->change[next[m->change[i].counter]++] = i;
    x->extremes = malloc(((size_t)blocks + 1) * sizeof *x->extremes);
    if (!x->extremes)
        return WEFT_E_NOMEM;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t first = x->change_first[k], *change = x->change + first;
        if (sort_by_time(&change, x->change_first[k + 1] - first, m, true) < 0)
            return WEFT_E_NOMEM;
        for (uint32_t i = first; i < x->change_first[k + 1]; i++) {
            const struct weft_change *ch = &m->change[x->change[i]];
            struct view_extremes *e =
                &x->extremes[x->extremes_first[k] + (i - first) / VIEW_CHANGES];
            if ((i - first) % VIEW_CHANGES == 0)
                *e = (struct view_extremes){
                    .time_ns = ch->time_ns, .min = ch->value, .max = ch->value};
            e->min = ch->value < e->min ? ch->value : e->min;
            e->max = ch->value > e->max ? ch->value : e->max;
            e->last = ch->value;
        }
    }
    return 0;
}
