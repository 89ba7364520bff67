/* SPDX-License-Identifier: ISC */
/* Finds sorts of promises that take longer, or shorter, than the good runs vary; and those that run
 * more often, or longer without a break, than in the good runs. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/differ.h"
#include "analyse/times.h"
#include "base/array.h"
#include "base/order.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum {
    FEW = 10, /* with fewer, the median says little */
};

struct sorter {
    struct analyse_differ *d;
    uint64_t *first; /* by kind and run: places in length */
    int64_t *length;
    int64_t *spare; /* as long as the list of the largest kind */
    uint32_t kinds, runs;
    /* how long the good runs are; a run that ended by itself has seen everything */
    int64_t seen_ns;
};

/* How long a promise took, or -1: it was not resolved, or is not compared. */
static int64_t length_of(const struct weft_history *h, uint32_t p)
{
    const struct weft_promise *x = &h->m->promise[p];
    enum analyse_ending e = analyse_ending_of(h->m, p);
    if (p == WEFT_ROOT || !x->created || x->promoted || x->background ||
        (e != ANALYSE_VALUE && e != ANALYSE_ERROR && e != ANALYSE_SOMEHOW))
        return -1;
    return weft_history_length_ns(h, p);
}

static bool sort_lengths(struct sorter *k)
{
    const struct analyse_sides *s = &k->d->sides;
    size_t places = (size_t)k->kinds * k->runs;
    uint64_t longest = 0;
    k->first = calloc(places + 2, sizeof *k->first);
    if (!k->first)
        return false;
    for (uint32_t r = 0; r < k->runs; r++)
        for (uint32_t p = 1; p < s->side[r].h->m->promises; p++)
            if (length_of(s->side[r].h, p) >= 0)
                k->first[(size_t)s->side[r].kind[p] * k->runs + r + 2]++;
    for (size_t i = 2; i < places + 2; i++)
        k->first[i] += k->first[i - 1];
    k->length = weft_resize(NULL, k->first[places + 1] + 1, sizeof *k->length);
    if (!k->length)
        return false;
    for (uint32_t r = 0; r < k->runs; r++)
        for (uint32_t p = 1; p < s->side[r].h->m->promises; p++) {
            int64_t length = length_of(s->side[r].h, p);
            if (length >= 0)
                k->length[k->first[(size_t)s->side[r].kind[p] * k->runs + r + 1]++] = length;
        }
    for (size_t i = 0; i < k->kinds; i++) {
        uint64_t n = k->first[(i + 1) * k->runs] - k->first[i * k->runs];
        longest = n > longest ? n : longest;
    }
    k->spare = weft_resize(NULL, longest + 1, sizeof *k->spare);
    return k->spare != NULL;
}

struct figures {
    uint64_t count;
    int64_t median_ns, p99_ns, longest_ns, spread_ns; /* spread: median distance from the median */
};

/* The median distance of sorted values from their median. */
static int64_t spread_of(const int64_t *x, uint64_t count)
{
    const uint64_t middle = (count - 1) / 2;
    uint64_t low = middle, high = middle; /* [low, high) has been passed */
    int64_t distance = 0;
    for (uint64_t n = 0; n <= middle; n++) {
        const int64_t below = low > 0 ? x[middle] - x[low - 1] : INT64_MAX;
        const int64_t above = high < count ? x[high] - x[middle] : INT64_MAX;
        distance = weft_earlier(below, above);
        if (below < above)
            low--;
        else
            high++;
    }
    return distance;
}

/* Sorts the values. */
static struct figures figures_of(struct sorter *k, int64_t *x, uint64_t count)
{
    if (count == 0)
        return (struct figures){0};
    analyse_sort_times(x, count, k->spare);
    return (struct figures){.count = count,
                            .median_ns = x[(count - 1) / 2],
                            .p99_ns = x[(uint64_t)((double)(count - 1) * 0.99)],
                            .longest_ns = x[count - 1],
                            .spread_ns = spread_of(x, count)};
}

/* ---- What matters ---- */

struct compared {
    struct figures good, bad;
    int64_t low_ns, high_ns; /* of the good runs' medians */
    int64_t seen_ns;         /* the good runs may have ended before longer ones did */
    uint32_t runs;           /* good runs that have the kind */
};

/* Returns true if the medians differ by more than chance explains. */
static bool median_differs(const struct compared *c)
{
    int64_t g = c->good.median_ns, b = c->bad.median_ns;
    int64_t less = g < b ? g : b, more = g < b ? b : g, apart = more - less;
    int64_t spread = c->good.spread_ns > c->bad.spread_ns ? c->good.spread_ns : c->bad.spread_ns;
    if (b > c->seen_ns)
        return false;
    bool few = c->good.count < FEW || c->bad.count < FEW;
    if (few && (apart < 5 * MS || more / 3 < less))
        return false;
    if (c->runs > 1) { /* the range of the good runs, widened */
        int64_t width = c->high_ns - c->low_ns, margin = g / 4 > width ? g / 4 : width;
        margin = margin > 100 * US ? margin : 100 * US;
        return (b > c->high_ns && b - c->high_ns > margin) ||
               (b < c->low_ns && c->low_ns - b > margin);
    }
    return apart > 100 * US && more - more / 3 > less && apart / 3 > spread;
}

/* Returns true if some took far longer than any in the good runs. */
static bool tail_differs(const struct compared *c)
{
    int64_t g = c->good.longest_ns, b = c->bad.longest_ns;
    return c->good.count >= FEW && c->bad.count >= FEW && b > g && b - g > 20 * MS && b / 3 > g &&
           b <= c->seen_ns;
}

static struct compared compare_latencies(struct sorter *k, uint32_t kind)
{
    struct compared c = {.low_ns = INT64_MAX, .seen_ns = k->seen_ns};
    const uint64_t *first = &k->first[(size_t)kind * k->runs];
    for (uint32_t r = 0; r + 1 < k->runs; r++) {
        uint64_t n = first[r + 1] - first[r];
        if (n == 0)
            continue;
        int64_t median = figures_of(k, k->length + first[r], n).median_ns;
        c.low_ns = median < c.low_ns ? median : c.low_ns;
        c.high_ns = median > c.high_ns ? median : c.high_ns;
        c.runs++;
    }
    c.good = figures_of(k, k->length + first[0], first[k->runs - 1] - first[0]);
    c.bad = figures_of(k, k->length + first[k->runs - 1], first[k->runs] - first[k->runs - 1]);
    return c;
}

/* ---- Telling ---- */

struct told {
    struct compared c;
    uint32_t kind;
    double weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight > y->weight ? -1 : 1;
    return weft_order(x->kind, y->kind);
}

static char *say_latency(struct sorter *k, const struct told *x)
{
    const struct analyse_families *names = &k->d->kinds[1];
    const struct compared *c = &x->c;
    const bool several = c->bad.count > 1 || c->good.count > 1, runs = c->runs > 1;
    const struct weft_model *m = k->d->bad->m;
    if (!median_differs(c))
        return analyse_put_new(&k->d->failed, m, names, SAY_LONGER_AT_MOST, SORT(sort, x->kind),
                               LENGTH(bad, c->bad.longest_ns), LENGTH(good, c->good.longest_ns),
                               AMOUNT(count, c->bad.count), LENGTH(median, c->bad.median_ns));
    return analyse_put_new(&k->d->failed, m, names,
                           several ? SAY_LONGER_OF_MANY
                           : runs  ? SAY_LONGER_THAN_RUNS
                                   : SAY_LONGER,
                           SORT(sort, x->kind), LENGTH(bad, c->bad.median_ns),
                           LENGTH(good, c->good.median_ns), AMOUNT(count, c->bad.count),
                           FLAG(runs, runs), LENGTH(low, c->low_ns), LENGTH(high, c->high_ns));
}

static double weight_of(const struct compared *c)
{
    const bool median = median_differs(c);
    double was = (double)(median ? c->good.median_ns : c->good.longest_ns) + 1e3;
    double is = (double)(median ? c->bad.median_ns : c->bad.longest_ns) + 1e3;
    return (is > was ? is / was + 1e6 : was / is) + (median ? 2e6 : 0); /* slower ones first */
}

static bool find_told(struct sorter *k, struct told **list, uint32_t *count)
{
    uint32_t room = 0;
    for (uint32_t kind = 1; kind < k->kinds; kind++) {
        struct compared c = compare_latencies(k, kind);
        if (c.good.count == 0 || c.bad.count == 0)
            continue;
        k->d->out->latencies_compared++;
        if (!median_differs(&c) && !tail_differs(&c))
            continue;
        if (!weft_reserve(list, *count, &room, sizeof **list))
            return false;
        (*list)[(*count)++] = (struct told){c, kind, weight_of(&c)};
    }
    weft_sort(*list, *count, sizeof **list, by_weight);
    return true;
}

static bool fill_latencies(struct sorter *k, const struct told *list, uint32_t count)
{
    struct weft_diff *o = k->d->out;
    uint32_t kept = count < WEFT_CHANGES_MAX ? count : WEFT_CHANGES_MAX;
    o->latency = calloc(kept ? kept : 1, sizeof *o->latency);
    for (; o->latency && o->latencies < kept; o->latencies++) {
        const struct told *x = &list[o->latencies];
        const struct compared *c = &x->c;
        o->latency[o->latencies] = (struct weft_latency_change){
            .good = k->d->kinds[0].first[x->kind],
            .bad = k->d->kinds[1].first[x->kind],
            .good_count = c->good.count,
            .bad_count = c->bad.count,
            .good_median_ns = c->good.median_ns,
            .bad_median_ns = c->bad.median_ns,
            .good_low_ns = c->low_ns,
            .good_high_ns = c->high_ns,
            .good_p99_ns = c->good.p99_ns,
            .bad_p99_ns = c->bad.p99_ns,
            .text = say_latency(k, x),
        };
    }
    return o->latency;
}

void analyse_find_latencies(struct analyse_differ *d)
{
    struct sorter k = {.d = d, .kinds = d->sides.kinds.count, .runs = d->sides.count};
    struct told *list = NULL;
    uint32_t count = 0;
    for (uint32_t r = 0; r < d->goods; r++) {
        const struct weft_model *m = d->sides.side[r].h->m;
        int64_t seen = m->losses.ended == WEFT_ENDED_STOPPED ? INT64_MAX : m->end_ns;
        k.seen_ns = seen > k.seen_ns ? seen : k.seen_ns;
    }
    bool ok = sort_lengths(&k) && find_told(&k, &list, &count) && fill_latencies(&k, list, count);
    d->failed |= !ok;
    weft_free_all(list, k.first, k.length, k.spare);
}

/* ---- What runs ---- */

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
        a->runs[which] += analyse_count(h->runs_of_first, p);
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

/* Returns true if it ran three times as often, per promise and per time that they exist. */
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

static int by_length(const void *a, const void *b)
{
    const struct weft_running_change *x = a, *y = b;
    WEFT_ORDER(y->longer, x->longer);
    if (x->longer)
        WEFT_ORDER(y->bad_longest_ns, x->bad_longest_ns);
    else
        WEFT_ORDER(y->bad_runs, x->bad_runs);
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
    weft_sort(d->out->running, d->out->runnings, sizeof *d->out->running, by_length);
    free(of);
}
