/* SPDX-License-Identifier: ISC */
/* Which rows a view has, and in which order. There may be millions of promises, of which a few are shown: these are found
 * with a heap of as many items as are shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "cli/top/views.h"

const char *const top_view_names[] = {[TOP_PENDING] = "pending",
                                      [TOP_TREE] = "tree",
                                      [TOP_LATENCY] = "latency",
                                      [TOP_THREADS] = "threads",
                                      [TOP_COUNTERS] = "counters",
                                      [TOP_SAMPLES] = "samples",
                                      NULL};

enum { BY_AGE, BY_WAITING, BY_LABEL, BY_TYPE, BY_WHERE };
enum { BY_COUNT, BY_P50, BY_P90, BY_P99, BY_MAX, BY_TOTAL, BY_FAILED, BY_PENDING, BY_NAME };
enum { BY_BUSY, BY_LONGEST, BY_TURNS, BY_THREAD_NAME };
enum { BY_COUNTER_NAME, BY_VALUE, BY_CHANGE };

const char *const *top_view_sorts(enum top_view view)
{
    static const char *const pending[] = {"age", "waiting", "label", "type", "where", NULL};
    static const char *const tree[] = {"size", NULL};
    static const char *const latency[] = {"count", "p50",    "p90",     "p99",   "max",
                                          "total", "failed", "pending", "label", NULL};
    static const char *const threads[] = {"busy", "longest", "turns", "name", NULL};
    static const char *const counters[] = {"name", "value", "change", NULL};
    static const char *const samples[] = {"samples", NULL};
    static const char *const *const sorts[TOP_VIEWS] = {pending, tree,     latency,
                                                        threads, counters, samples};
    return sorts[view];
}

/* ---- Order ---- */

struct order {
    const struct top *t;
    enum top_view view;
    unsigned sort;
    bool reverse;
};

static int texts(const char *a, const char *b)
{
    if (!*a || !*b)
        return *a ? -1 : *b ? 1 : 0; /* what has none comes last */
    return strcmp(a, b);
}

/* Oldest first. */
static int by_age(const struct live_promise *a, const struct live_promise *b)
{
    WEFT_ORDER(a->created_ns, b->created_ns);
    return weft_order(a->id, b->id);
}

static int promises(const struct order *o, const struct top_item *x, const struct top_item *y)
{
    uint32_t count;
    const struct live_promise *a = &live_promises(x->p->live, &count)[x->index];
    const struct live_promise *b = &live_promises(y->p->live, &count)[y->index];
    const struct live *l = x->p->live, *m = y->p->live;
    int order = 0;
    if (o->sort == BY_WAITING) /* what waits for nothing comes last */
        order = weft_order(a->waits_for ? a->waits_since_ns : UINT64_MAX,
                           b->waits_for ? b->waits_since_ns : UINT64_MAX);
    else if (o->sort == BY_LABEL)
        order = texts(live_name(l, a->label), live_name(m, b->label));
    else if (o->sort == BY_TYPE)
        order = texts(live_name(l, a->type), live_name(m, b->type));
    else if (o->sort == BY_WHERE)
        order = texts(live_name(l, a->file), live_name(m, b->file));
    else /* what is meant to be pending is no news */
        order = weft_order(a->background, b->background);
    if (order == 0 && o->sort == BY_WHERE)
        order = weft_order(a->line, b->line);
    return order ? order : by_age(a, b);
}

uint64_t top_row_measured(const struct live_row *r)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < LIVE_BUCKETS; i++)
        n += r->took[i];
    return n;
}

uint64_t top_row_ended(const struct live_row *r)
{
    return r->fulfilled + r->failed + r->resolved + r->cancelled + r->forgotten;
}

uint64_t top_row_max_ns(const struct live_row *r)
{
    for (unsigned i = LIVE_BUCKETS; i-- > 0;)
        if (r->took[i])
            return i + 1 < LIVE_BUCKETS ? live_bucket_ns(i) : live_bucket_ns(i - 1);
    return 0;
}

const struct live_row *top_row(const struct top_process *p, uint32_t index)
{
    uint32_t count;
    const struct live_row *row = top_window_rows(&p->window, &count);
    return index < count ? &row[index] : NULL;
}

static uint64_t row_key(const struct live_row *r, unsigned sort)
{
    switch (sort) {
    case BY_COUNT:
        return top_row_ended(r);
    case BY_P50:
        return live_percentile(r->took, 0.5);
    case BY_P90:
        return live_percentile(r->took, 0.9);
    case BY_P99:
        return live_percentile(r->took, 0.99);
    case BY_MAX:
        return top_row_max_ns(r);
    case BY_TOTAL:
        return r->total_ns;
    case BY_FAILED:
        return r->failed;
    case BY_PENDING:
        return r->pending;
    default:
        return 0;
    }
}

static int rows(const struct order *o, const struct top_item *x, const struct top_item *y)
{
    const struct live_row *a = top_row(x->p, x->index), *b = top_row(y->p, y->index);
    WEFT_ORDER(row_key(b, o->sort), row_key(a, o->sort));
    if (o->sort != BY_NAME) {
        WEFT_ORDER(top_row_ended(b), top_row_ended(a));
        WEFT_ORDER(b->pending, a->pending);
    }
    const int labels = texts(live_name(x->p->live, a->label), live_name(y->p->live, b->label));
    return labels ? labels : texts(live_name(x->p->live, a->type), live_name(y->p->live, b->type));
}

static int threads(const struct order *o, const struct top_item *x, const struct top_item *y)
{
    uint32_t count;
    const struct live_thread *a = &live_threads(x->p->live, &count)[x->index];
    const struct live_thread *b = &live_threads(y->p->live, &count)[y->index];
    const struct top_use u = top_window_use(&x->p->window, x->index),
                         v = top_window_use(&y->p->window, y->index);
    if (o->sort == BY_THREAD_NAME && strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name);
    if (o->sort == BY_BUSY)
        WEFT_ORDER(v.busy_ns, u.busy_ns);
    if (o->sort == BY_LONGEST)
        WEFT_ORDER(v.longest_ns, u.longest_ns);
    if (o->sort == BY_TURNS)
        WEFT_ORDER(v.turns, u.turns);
    WEFT_ORDER(b->is_loop, a->is_loop);
    return weft_order(a->number, b->number);
}

static int64_t change_of(const struct top_process *p, uint32_t counter)
{
    const struct top_history *h = counter < p->histories ? &p->history[counter] : NULL;
    if (!h || h->values < 2)
        return 0;
    int64_t change;
    return __builtin_sub_overflow(h->value[h->values - 1], h->value[0], &change) ? INT64_MAX
                                                                                 : change;
}

static int counters(const struct order *o, const struct top_item *x, const struct top_item *y)
{
    uint32_t count;
    const struct live_counter *a = &live_counters(x->p->live, &count)[x->index];
    const struct live_counter *b = &live_counters(y->p->live, &count)[y->index];
    if (o->sort == BY_VALUE)
        WEFT_ORDER(b->value, a->value);
    if (o->sort == BY_CHANGE)
        WEFT_ORDER(change_of(y->p, y->index), change_of(x->p, x->index));
    return texts(live_name(x->p->live, a->name), live_name(y->p->live, b->name));
}

static int compare(const void *a, const void *b, void *data)
{
    static int (*const by[TOP_VIEWS])(const struct order *o, const struct top_item *x,
                                      const struct top_item *y) = {
        [TOP_PENDING] = promises,
        [TOP_LATENCY] = rows,
        [TOP_THREADS] = threads,
        [TOP_COUNTERS] = counters,
    };
    const struct order *o = data;
    const struct top_item *x = a, *y = b;
    int order = by[o->view](o, x, y);
    if (order == 0)
        order = weft_order(x->p->pid, y->p->pid);
    if (order == 0)
        order = weft_order(x->index, y->index);
    return o->reverse ? -order : order;
}

/* ---- Which ---- */

static uint32_t items(const struct top_process *p, enum top_view view)
{
    uint32_t count = 0;
    if (view == TOP_PENDING)
        live_promises(p->live, &count);
    else if (view == TOP_LATENCY)
        top_window_rows(&p->window, &count);
    else if (view == TOP_THREADS)
        live_threads(p->live, &count);
    else if (view == TOP_COUNTERS)
        live_counters(p->live, &count);
    return count;
}

static bool row_matches(const struct top *t, const struct top_process *p, uint32_t index)
{
    const struct live_row *r = top_row(p, index);
    if (!r->pending && !top_row_ended(r))
        return false; /* nothing happened in the window */
    return top_matches(t, live_name(p->live, r->label)) ||
           top_matches(t, live_name(p->live, r->type)) || top_matches(t, p->program);
}

static bool matches(const struct top *t, enum top_view view, const struct top_process *p,
                    uint32_t index)
{
    uint32_t count;
    if (view == TOP_LATENCY)
        return row_matches(t, p, index);
    if (!*t->filter)
        return true;
    if (view == TOP_PENDING)
        return top_promise_matches(t, p, &live_promises(p->live, &count)[index]);
    if (top_matches(t, p->program))
        return true;
    return view == TOP_THREADS
               ? top_matches(t, live_threads(p->live, &count)[index].name)
               : top_matches(t, live_name(p->live, live_counters(p->live, &count)[index].name));
}

/* A heap with the last of the items on top. */
static void keep(struct top_item *item, uint32_t *count, uint32_t most, struct top_item new,
                 struct order *o)
{
    uint32_t at;
    if (*count < most) {
        for (at = (*count)++; at && compare(&item[(at - 1) / 2], &new, o) < 0; at = (at - 1) / 2)
            item[at] = item[(at - 1) / 2];
        item[at] = new;
        return;
    }
    if (compare(&new, &item[0], o) > 0)
        return;
    for (at = 0;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < *count && compare(&item[child + 1], &item[child], o) > 0)
            child++;
        if (child >= *count || compare(&item[child], &new, o) < 0)
            break;
        item[at] = item[child];
        at = child;
    }
    item[at] = new;
}

struct top_item *top_pick(const struct top *t, enum top_view view, uint32_t most, uint32_t *count,
                          uint64_t *all)
{
    struct order o = {t, view, t->sort[view], t->reverse[view]};
    *count = 0;
    *all = 0;
    struct top_item *item = most ? weft_resize(NULL, most, sizeof *item) : NULL;
    for (uint32_t i = 0; item && i < t->processes; i++) {
        const struct top_process *p = t->process[i];
        const uint32_t n = items(p, view);
        for (uint32_t k = 0; k < n; k++) {
            if (!matches(t, view, p, k))
                continue;
            ++*all;
            keep(item, count, most, (struct top_item){p, k}, &o);
        }
    }
    if (item && *count)
        qsort_r(item, *count, sizeof *item, compare, &o);
    return item;
}
