/* SPDX-License-Identifier: ISC */
/* A promise needs at most one other; so what is pending is a set of trees, some of which stand on a circle instead of a
 * root. What nobody depends on is taken away again and again (by a queue); what remains are the circles. */
#include "cli/top/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

struct build {
    const struct live *l;
    const struct live_promise *p;
    uint32_t count;
    struct top_tree_options o;
    uint32_t *needs;        /* by promise, or LIVE_NONE */
    uint32_t *below;        /* by promise: how many depend on it */
    uint32_t *first, *next; /* by promise: those that need it, as a list */
    unsigned char *need, *circle;
    uint32_t *queue; /* also the roots, and children that are put in order */
    struct top_tree *out;
    uint32_t room;
    struct frame *stack;
    uint32_t stacked, stack_room;
};

/* A node that is still to be put out. */
struct frame {
    uint32_t promise, depth, last, more;
    bool again;
};

uint32_t top_tree_need(const struct live *l, const struct live_promise *p, enum top_need *need)
{
    const struct {
        uint64_t id;
        enum top_need need;
    } ways[] = {{p->became, TOP_BECAME}, {p->waits_for, TOP_WAITS}, {p->holder, TOP_HELD}};
    uint32_t count;
    const struct live_promise *all = live_promises(l, &count);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct live_promise *other =
            ways[i].id && ways[i].id != WEFT_ID_LOOP ? live_find(l, ways[i].id) : NULL;
        if (!other)
            continue;
        *need = ways[i].need;
        return (uint32_t)(other - all);
    }
    *need = TOP_NEEDS_NOTHING;
    return LIVE_NONE;
}

static bool allocate(struct build *b)
{
    const uint64_t n = b->count;
    b->needs = weft_resize(NULL, n, sizeof *b->needs);
    b->below = calloc(n + 1, sizeof *b->below);
    b->first = weft_new_none(n, sizeof *b->first);
    b->next = weft_resize(NULL, n, sizeof *b->next);
    b->need = calloc(n + 1, 1);
    b->circle = calloc(n + 1, 1);
    b->queue = weft_resize(NULL, n, sizeof *b->queue);
    return b->needs && b->below && b->first && b->next && b->need && b->circle && b->queue;
}

/* Sets needs, the lists, below and circle. */
static bool link_all(struct build *b)
{
    uint32_t *pending = calloc((size_t)b->count + 1, sizeof *pending), queued = 0;
    if (!pending)
        return false;
    for (uint32_t i = 0; i < b->count; i++) {
        enum top_need need;
        b->needs[i] = top_tree_need(b->l, &b->p[i], &need);
        b->need[i] = (unsigned char)need;
        if (b->needs[i] == LIVE_NONE)
            continue;
        b->next[i] = b->first[b->needs[i]];
        b->first[b->needs[i]] = i;
        pending[b->needs[i]]++;
    }
    memset(b->circle, 1, b->count);
    for (uint32_t i = 0; i < b->count; i++)
        if (pending[i] == 0)
            b->queue[queued++] = i;
    for (uint32_t at = 0; at < queued; at++) {
        const uint32_t i = b->queue[at], other = b->needs[i];
        b->circle[i] = 0;
        if (other == LIVE_NONE)
            continue;
        b->below[other] += b->below[i] + 1;
        if (--pending[other] == 0)
            b->queue[queued++] = other;
    }
    free(pending);
    return true;
}

/* ---- Order ---- */

static int older(const struct build *b, uint32_t x, uint32_t y)
{
    WEFT_ORDER(b->p[x].created_ns, b->p[y].created_ns);
    return weft_order(b->p[x].id, b->p[y].id);
}

static int by_age(const void *x, const void *y, void *data)
{
    return older(data, *(const uint32_t *)x, *(const uint32_t *)y);
}

static int by_importance(const void *x, const void *y, void *data)
{
    const struct build *b = data;
    const uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    WEFT_ORDER(b->circle[k], b->circle[i]);
    WEFT_ORDER(b->below[k], b->below[i]);
    return older(b, i, k);
}

/* Counts what depends on a circle at its oldest promise, which stands for it. */
static void measure_circles(struct build *b)
{
    unsigned char *done =
        b->circle; /* 1: part of a circle; 2: … that was measured; 3: … and stands for it */
    for (uint32_t i = 0; i < b->count; i++) {
        if (done[i] != 1)
            continue;
        uint32_t oldest = i, at = i;
        uint64_t below = 0;
        do {
            done[at] = 2;
            below += (uint64_t)b->below[at] + 1;
            if (older(b, at, oldest) < 0)
                oldest = at;
            at = b->needs[at];
        } while (at != i);
        done[oldest] = 3;
        b->below[oldest] = (uint32_t)(below - 1);
        b->out->deadlocks++;
    }
}

/* The roots, in the queue. */
static uint32_t find_roots(struct build *b)
{
    uint32_t roots = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->circle[i] == 3 || (b->circle[i] == 0 && b->needs[i] == LIVE_NONE))
            b->queue[roots++] = i;
    if (roots)
        qsort_r(b->queue, roots, sizeof *b->queue, by_importance, b);
    b->out->roots = roots;
    return roots;
}

/* ---- Putting out ---- */

static bool push(struct build *b, struct frame f)
{
    if (!weft_reserve(&b->stack, b->stacked, &b->stack_room, sizeof *b->stack))
        return false;
    b->stack[b->stacked++] = f;
    return true;
}

/* Keeps the oldest of those that need `of` in list, which has room for all that may stay: a heap with the youngest on
 * top. *left: how many do not stay. */
static uint32_t oldest_children(const struct build *b, uint32_t of, uint32_t *list, uint32_t *left)
{
    uint32_t n = 0;
    *left = 0;
    for (uint32_t c = b->first[of]; c != LIVE_NONE; c = b->next[c]) {
        uint32_t at;
        if (n < b->o.children_max) {
            for (at = n++; at && older(b, list[(at - 1) / 2], c) < 0; at = (at - 1) / 2)
                list[at] = list[(at - 1) / 2];
            list[at] = c;
            continue;
        }
        ++*left;
        if (older(b, c, list[0]) > 0)
            continue;
        for (at = 0;;) {
            uint32_t child = 2 * at + 1;
            if (child + 1 < n && older(b, list[child + 1], list[child]) > 0)
                child++;
            if (child >= n || older(b, list[child], c) < 0)
                break;
            list[at] = list[child];
            at = child;
        }
        list[at] = c;
    }
    if (n)
        qsort_r(list, n, sizeof *list, by_age, (void *)(uintptr_t)b);
    return n;
}

static uint32_t with_last(uint32_t last, uint32_t depth, bool is_last)
{
    return depth < 32 && is_last ? last | UINT32_C(1) << depth : last;
}

/* Those that need the promise, the first one on top of the stack. */
static bool push_children(struct build *b, const struct frame *f, uint32_t *list)
{
    uint32_t left;
    const uint32_t n = oldest_children(b, f->promise, list, &left), depth = f->depth + 1;
    if (left && !push(b, (struct frame){f->promise, depth, with_last(f->last, depth, true), left,
                                        .again = false}))
        return false;
    for (uint32_t i = n; i-- > 0;) {
        const bool is_last = i + 1 == n && !left;
        if (!push(b, (struct frame){list[i], depth, with_last(f->last, depth, is_last), 0,
                                    .again = b->circle[list[i]] == 3}))
            return false;
    }
    return true;
}

static bool put(struct build *b, const struct frame *f)
{
    if (!weft_reserve(&b->out->node, b->out->nodes, &b->room, sizeof *b->out->node))
        return false;
    b->out->node[b->out->nodes++] = (struct top_node){
        .promise = f->promise,
        .depth = f->depth,
        .below = f->more ? 0 : b->below[f->promise],
        .more = f->more,
        .last = f->last,
        .need = f->depth && !f->more ? (enum top_need)b->need[f->promise] : TOP_NEEDS_NOTHING,
        .circle = !f->more && b->circle[f->promise] != 0,
        .again = f->again,
    };
    return true;
}

static bool put_tree(struct build *b, uint32_t root, uint32_t *list)
{
    bool ok = push(b, (struct frame){.promise = root});
    while (ok && b->stacked && b->out->nodes < b->o.nodes_max) {
        const struct frame f = b->stack[--b->stacked];
        ok = put(b, &f) && (f.more || f.again || push_children(b, &f, list));
    }
    return ok;
}

int top_tree_build(struct top_tree *out, const struct live *l, const struct top_tree_options *o)
{
    struct build b = {.l = l, .o = *o, .out = out};
    *out = (struct top_tree){0};
    b.p = live_promises(l, &b.count);
    uint32_t *list = weft_resize(NULL, o->children_max, sizeof *list);
    bool ok = list && allocate(&b) && link_all(&b);
    if (ok) {
        measure_circles(&b);
        const uint32_t roots = find_roots(&b);
        uint32_t i = 0;
        for (; i < roots && ok && out->nodes < o->nodes_max; i++) {
            b.stacked = 0;
            ok = put_tree(&b, b.queue[i], list);
        }
        out->cut = ok && (i < roots || b.stacked);
    }
    weft_free_all(b.needs, b.below, b.first, b.next, b.need, b.circle, b.queue, b.stack, list);
    return ok ? 0 : WEFT_E_NOMEM;
}

void top_tree_fini(struct top_tree *t)
{
    free(t->node);
    *t = (struct top_tree){0};
}
