/* SPDX-License-Identifier: ISC */
/* Finds sorts of promises that run more often, or longer without a break, than in the good runs. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/differ.h"
#include "base/array.h"
#include "base/order.h"

#define MS INT64_C(1000000)

/* A kind: [0] in all good runs together, [1] in the bad run. */
struct activity {
    uint64_t promises[2], runs[2];
    double alive_ns[2];
    uint64_t on_loop[2];   /* runs on a loop */
    int64_t longest_ns[2]; /* of these, without the time in which they were halted */
};

static void count_runs(struct activity *of, const struct analyse_side *s, unsigned which)
{
    const struct weft_history *h = s->h;
    for (uint32_t p = 1; p < h->m->promises; p++) {
        struct activity *a = &of[s->kind[p]];
        int64_t alive = h->m->promise[p].end_ns - h->m->promise[p].start_ns;
        a->promises[which]++;
        a->runs[which] += h->runs_of_first[p + 1] - h->runs_of_first[p];
        a->alive_ns[which] += alive > 0 ? (double)alive : 0;
    }
    for (uint32_t r = 0; r < h->m->runs; r++) {
        const struct weft_run *run = &h->m->run[r];
        struct activity *a = &of[s->kind[h->run_promise[r]]];
        int64_t length = run->end_ns - run->start_ns;
        if (h->run_promise[r] == WEFT_ROOT || !h->is_loop[weft_history_stream(h, r)])
            continue;
        a->on_loop[which]++;
        if (length <= a->longest_ns[which])
            continue;
        length -= weft_history_halted(h, weft_history_stream(h, r), run->start_ns, run->end_ns);
        a->longest_ns[which] = length > a->longest_ns[which] ? length : a->longest_ns[which];
    }
}

/* Returns true if it ran three times as often, both per promise and per time that the promises
 * exist. */
static bool more_often(const struct activity *a)
{
    double good = (double)a->runs[0], bad = (double)a->runs[1];
    double promises = (double)a->promises[1] / (double)(a->promises[0] ? a->promises[0] : 1);
    double alive = a->alive_ns[1] / (a->alive_ns[0] > 1 ? a->alive_ns[0] : 1);
    double most = promises > alive ? promises : alive; /* the factor that is expected anyway */
    return a->promises[0] && a->runs[1] >= 50 && bad > 3 * good * most && bad > good * most + 50;
}

static bool runs_longer(const struct activity *a)
{
    return a->on_loop[0] && a->longest_ns[1] / 3 > a->longest_ns[0] &&
           a->longest_ns[1] - a->longest_ns[0] > 10 * MS;
}

/* ---- Telling ---- */

/* "8", "1.6" */
static struct weft_figure mean_runs(uint64_t runs, uint64_t promises)
{
    const uint64_t tenths = (10 * runs + promises / 2) / promises;
    struct weft_figure out;
    if (promises <= 1 || tenths >= 100 || tenths % 10 == 0)
        return weft_count((tenths + 5) / 10);
    snprintf(out.text, sizeof out.text, "%u.%u", (unsigned)(tenths / 10), (unsigned)(tenths % 10));
    return out;
}

static char *say_running(struct analyse_differ *d, const struct activity *a, uint32_t kind,
                         bool long_one)
{
    const struct weft_model *m = d->bad->m;
    if (long_one)
        return analyse_put_new(&d->failed, m, &d->kinds[1], SAY_RUNS_LONGER, SORT(sort, kind),
                               LENGTH(bad, a->longest_ns[1]), LENGTH(good, a->longest_ns[0]));
    return analyse_put_new(&d->failed, m, &d->kinds[1], SAY_RUNS_MORE_OFTEN, SORT(sort, kind),
                           TEXT(bad, mean_runs(a->runs[1], a->promises[1]).text),
                           TEXT(good, mean_runs(a->runs[0], a->promises[0]).text),
                           AMOUNT(count, a->promises[1] > 1 ? a->promises[1] : 0));
}

static void add_running(struct analyse_differ *d, const struct activity *a, uint32_t kind,
                        bool long_one, uint32_t *room)
{
    struct weft_diff *o = d->out;
    if (o->runnings == WEFT_CHANGES_MAX)
        return;
    if (!weft_reserve(&o->running, o->runnings, room, sizeof *o->running)) {
        d->failed = true;
        return;
    }
    o->running[o->runnings++] = (struct weft_running_change){
        .good = d->kinds[0].first[kind],
        .bad = d->kinds[1].first[kind],
        .longer = long_one,
        .good_runs = a->runs[0],
        .bad_runs = a->runs[1],
        .good_longest_ns = a->longest_ns[0],
        .bad_longest_ns = a->longest_ns[1],
        .text = say_running(d, a, kind, long_one),
    };
}

static int by_importance(const void *a, const void *b)
{
    const struct weft_running_change *x = a, *y = b;
    if (x->longer != y->longer)
        return x->longer ? -1 : 1;
    if (x->longer && x->bad_longest_ns != y->bad_longest_ns)
        return x->bad_longest_ns > y->bad_longest_ns ? -1 : 1;
    if (!x->longer && x->bad_runs != y->bad_runs)
        return x->bad_runs > y->bad_runs ? -1 : 1;
    return weft_order(x->bad, y->bad);
}

void analyse_find_running(struct analyse_differ *d)
{
    uint32_t kinds = d->sides.kinds.count, room = 0;
    struct activity *of = calloc(kinds, sizeof *of);
    d->failed |= !of;
    for (uint32_t r = 0; r <= d->goods && !d->failed; r++)
        count_runs(of, &d->sides.side[r], r == d->goods);
    for (uint32_t kind = 1; kind < kinds && !d->failed; kind++) {
        if (runs_longer(&of[kind]))
            add_running(d, &of[kind], kind, true, &room);
        if (more_often(&of[kind]))
            add_running(d, &of[kind], kind, false, &room);
    }
    if (d->out->runnings)
        qsort(d->out->running, d->out->runnings, sizeof *d->out->running, by_importance);
    free(of);
}
