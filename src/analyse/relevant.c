/* SPDX-License-Identifier: ISC */
/* Finds what went wrong in a bad run, and what that depends on in either run: what it waited for,
 * what resolved and notified that, what had created it, and what these waited for before.
 * A promise went wrong if it ended worse than in the good run. What should resolve matters most;
 * then what somebody waits for, or what waits itself; and last what has nothing to do with others.
 * If nothing ended worse, it is what became slower, by most; otherwise what somebody waits for and
 * only one of the runs has; otherwise whatever ended differently. */
#include <stdlib.h>

#include "analyse/differ.h"
#include "base/array.h"
#include "base/order.h"

#define MS INT64_C(1000000)

/* ---- What it depends on ---- */

struct walk {
    const struct weft_history *h;
    uint8_t *mark, bit; /* bit: to be set in mark */
    struct place {
        int64_t until_ns;           /* what it did until then matters; INT64_MIN: nothing */
        uint32_t wait, notice, act; /* places in its lists that are still to be examined */
        bool queued;
    } * at; /* by promise */
    uint32_t *queue, queued;
};

static bool walk_init(struct walk *w, const struct weft_history *h, uint8_t *mark, uint8_t bit)
{
    uint32_t n = h->m->promises;
    *w = (struct walk){.h = h, .mark = mark, .bit = bit};
    w->at = weft_resize(NULL, n, sizeof *w->at);
    w->queue = weft_resize(NULL, n, sizeof *w->queue);
    for (uint32_t p = 0; w->at && p < n; p++)
        w->at[p] = (struct place){INT64_MIN, h->waits_of_first[p], h->notified_first[p],
                                  h->m->promise[p].first_interaction, false};
    return w->at && w->queue;
}

static void walk_fini(struct walk *w)
{
    weft_free_all(w->at, w->queue);
}

static void reach_promise(struct walk *w, uint32_t promise, int64_t until_ns)
{
    struct place *at = &w->at[promise];
    if (promise == WEFT_ROOT || at->until_ns >= until_ns)
        return;
    at->until_ns = until_ns;
    w->mark[promise] |= w->bit;
    if (!at->queued)
        w->queue[w->queued++] = promise;
    at->queued = true;
}

/* Everything is visited once, so it is linear. */
static void reach_causes(struct walk *w, uint32_t promise)
{
    const struct weft_history *h = w->h;
    const struct weft_model *m = h->m;
    struct place *at = &w->at[promise];
    int64_t until = at->until_ns;
    uint32_t end = h->resolution[promise];
    reach_promise(w, m->promise[promise].creator, m->promise[promise].start_ns);
    reach_promise(w, weft_model_final(m, promise), until);
    if (end != WEFT_NONE && m->interaction[end].time_ns <= until)
        reach_promise(w, m->interaction[end].actor, m->interaction[end].time_ns);
    for (; at->wait < h->waits_of_first[promise + 1]; at->wait++) {
        const struct weft_wait *x = &h->wait[h->waits_of[at->wait]];
        if (x->from_ns > until)
            break;
        reach_promise(w, x->source, weft_earlier(x->until_ns, until));
    }
    for (; at->act != WEFT_NONE; at->act = m->interaction[at->act].next) {
        const struct weft_interaction *x = &m->interaction[at->act];
        if (x->time_ns > until)
            break;
        if (x->kind == WEFT_READS)
            reach_promise(w, x->other, x->time_ns);
    }
    for (; at->notice < h->notified_first[promise + 1]; at->notice++) {
        const struct weft_interaction *x = &m->interaction[h->notified[at->notice]];
        if (x->time_ns > until)
            break;
        reach_promise(w, x->actor, x->time_ns);
    }
}

static void walk_on(struct walk *w)
{
    while (w->queued) {
        uint32_t promise = w->queue[--w->queued];
        w->at[promise].queued = false;
        reach_causes(w, promise);
    }
}

/* ---- What went wrong ---- */

unsigned analyse_weight_in(const struct weft_history *h, uint32_t promise)
{
    uint32_t final = weft_model_final(h->m, promise);
    if (h->m->promise[promise].should_resolve || h->m->promise[final].should_resolve)
        return 3;
    return analyse_count(h->waits_of_first, promise) || analyse_count(h->waits_of_first, final) ||
                   analyse_count(h->waits_for_first, promise) ||
                   analyse_count(h->waits_for_first, final)
               ? 2
               : 1;
}

unsigned analyse_weight_of(const struct analyse_differ *d, uint32_t good)
{
    uint32_t bad = d->bad_of_good[good];
    unsigned of_good = analyse_weight_in(d->good, good), of_bad = analyse_weight_in(d->bad, bad);
    unsigned most = of_good > of_bad ? of_good : of_bad;
    return most == 1 && (d->mark[good] | d->bad_mark[bad]) & ANALYSE_USED ? 2 : most;
}

/* Returns true if a promise that ended differently ended worse in one run than in the other. */
bool analyse_ended_worse(const struct weft_history *h, uint32_t promise,
                         const struct weft_history *than, uint32_t other)
{
    static const unsigned char how_bad[ANALYSE_ENDINGS] = {
        [ANALYSE_CANCEL] = 1, [ANALYSE_DROP] = 1, [ANALYSE_ERROR] = 2, [ANALYSE_OPEN] = 3};
    return how_bad[analyse_ending_of(h->m, promise)] > how_bad[analyse_ending_of(than->m, other)];
}

struct goals {
    struct analyse_differ *d;
    struct walk good, bad;
    bool any, marked; /* marked: something should resolve */
};

static void add_goal(struct goals *k, uint32_t good, uint32_t bad)
{
    k->any = true;
    if (good != WEFT_NONE)
        reach_promise(&k->good, good, INT64_MAX);
    if (bad != WEFT_NONE)
        reach_promise(&k->bad, bad, INT64_MAX);
}

/* Marks what a promise depends on, if the promise resolves one that should resolve. */
static void mark_serving(struct goals *k, const struct weft_history *h, uint8_t *mark)
{
    struct walk w;
    if (!walk_init(&w, h, mark, ANALYSE_SERVES))
        k->d->failed = true;
    for (uint32_t p = 1; p < h->m->promises && !k->d->failed; p++)
        if (h->m->promise[p].should_resolve) {
            k->marked = true;
            reach_promise(&w, p, INT64_MAX);
            walk_on(&w);
        }
    walk_fini(&w);
}

/* Returns true if the runs may diverge here though nothing ended worse. */
static bool is_goal(const struct goals *k, uint8_t mark)
{
    return mark & ANALYSE_USED && (mark & ANALYSE_SERVES || !k->marked);
}

/* Adds what ended differently, and matters most. */
static void add_changed(struct goals *k, bool worse)
{
    const struct analyse_differ *d = k->d;
    unsigned most = 1;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t p = 1; p < d->good->m->promises; p++) {
            if (!(d->mark[p] & ANALYSE_CHANGED) ||
                (worse && !analyse_ended_worse(d->bad, d->bad_of_good[p], d->good, p)))
                continue;
            unsigned weight = analyse_weight_of(d, p);
            bool alone = weight == 1 && d->good->m->promise[p].creator == WEFT_ROOT;
            if (alone || (weight < 3 && d->mark[p] & ANALYSE_COMES_AND_GOES) ||
                (!worse && k->marked && !(d->mark[p] & ANALYSE_SERVES)))
                continue;
            if (pass && weight == most)
                add_goal(k, p, d->bad_of_good[p]);
            most = weight > most ? weight : most;
        }
}

/* What the good runs say about how long a kind takes. */
struct lengths {
    uint32_t count;
    int64_t longest_ns, limit_ns; /* limit: from there on it is longer than they vary */
};

static void find_limits(const struct analyse_differ *d, struct lengths *of)
{
    enum { FEW = 10 };
    for (uint32_t r = 0; r < d->goods; r++) {
        const struct analyse_side *s = &d->sides.side[r];
        for (uint32_t p = 1; p < s->h->m->promises; p++) {
            struct lengths *k = &of[s->kind[p]];
            int64_t length = weft_history_length_ns(s->h, p);
            k->count++;
            if (length != INT64_MAX && length > k->longest_ns)
                k->longest_ns = length;
        }
    }
    for (uint32_t i = 0; i < d->sides.kinds.count; i++)
        of[i].limit_ns = of[i].count < FEW * d->goods && of[i].longest_ns < INT64_MAX / 4
                             ? 3 * of[i].longest_ns + 5 * MS
                             : INT64_MAX;
    for (uint32_t i = 0; i < d->out->latencies; i++) {
        const struct weft_latency_change *c = &d->out->latency[i];
        struct lengths *k = &of[d->side[1]->kind[c->bad]];
        k->limit_ns = c->bad_median_ns > c->good_median_ns ? 0 : k->longest_ns;
    }
}

/* Of those that take longer than good runs vary, adds the one that was waited for longest. */
static void add_slowest(struct goals *k)
{
    const struct analyse_differ *d = k->d;
    const uint32_t *kind = d->side[0]->kind;
    uint32_t slowest = WEFT_NONE;
    int64_t most = 0;
    struct lengths *of = calloc(d->sides.kinds.count, sizeof *of);
    if (!of) {
        k->d->failed = true;
        return;
    }
    find_limits(d, of);
    for (uint32_t p = 1; p < d->good->m->promises; p++) {
        uint32_t bad = d->bad_of_good[p];
        if (bad == WEFT_NONE || weft_history_ended_ns(d->good, p) == INT64_MAX ||
            weft_history_ended_ns(d->bad, bad) == INT64_MAX || analyse_weight_of(d, p) < 2 ||
            (k->marked && !(d->bad_mark[bad] & ANALYSE_SERVES)) ||
            d->mark[p] & ANALYSE_COMES_AND_GOES)
            continue;
        const int64_t good_ns = weft_history_length_ns(d->good, p),
                      longer = weft_history_length_ns(d->bad, bad) - good_ns;
        if (longer < MS || longer < good_ns / 2 || good_ns + longer < of[kind[p]].limit_ns)
            continue;
        d->mark[p] |= ANALYSE_SLOW;
        if (longer > most) {
            most = longer;
            slowest = p;
        }
    }
    free(of);
    if (slowest != WEFT_NONE)
        add_goal(k, slowest, d->bad_of_good[slowest]);
}

static void add_lonely(struct goals *k)
{
    const struct analyse_differ *d = k->d;
    for (uint32_t p = 1; p < d->good->m->promises; p++)
        if (d->mark[p] & ANALYSE_LONELY && is_goal(k, d->mark[p]) &&
            !(d->mark[p] & ANALYSE_COMES_AND_GOES))
            add_goal(k, p, WEFT_NONE);
    for (uint32_t p = 1; p < d->bad->m->promises; p++)
        if (d->bad_mark[p] & ANALYSE_LONELY && is_goal(k, d->bad_mark[p]) &&
            !(d->mark[d->good_of_bad[d->bad->m->promise[p].creator]] & ANALYSE_COMES_AND_GOES))
            add_goal(k, WEFT_NONE, p);
}

/* Marks promises that some good run does without, and all below them. */
static void mark_coming_and_going(struct goals *k)
{
    const struct analyse_differ *d = k->d;
    const struct weft_history *g = d->good;
    uint32_t *queue = k->good.queue, count = 1; /* not used yet */
    queue[0] = WEFT_ROOT;
    for (uint32_t at = 0; at < count; at++)
        analyse_each(i, g->children_first, queue[at]) {
            uint32_t child = g->children[i];
            if (d->mark[queue[at]] & ANALYSE_COMES_AND_GOES || analyse_dispensable(d, child))
                d->mark[child] |= ANALYSE_COMES_AND_GOES;
            queue[count++] = child;
        }
}

/* What is relevant in one run is also relevant in the other. */
static void share_marks(const struct analyse_differ *d, struct walk *good, struct walk *bad)
{
    for (uint32_t p = 1; p < d->good->m->promises; p++) {
        uint32_t other = d->bad_of_good[p];
        if (other != WEFT_NONE && d->mark[p] & ANALYSE_RELEVANT)
            reach_promise(bad, other, analyse_final_end_ns(d->bad, other));
        else if (other != WEFT_NONE && d->bad_mark[other] & ANALYSE_RELEVANT)
            reach_promise(good, p, analyse_final_end_ns(d->good, p));
    }
}

void analyse_find_relevant(struct analyse_differ *d)
{
    struct goals k = {.d = d};
    d->failed |= !walk_init(&k.good, d->good, d->mark, ANALYSE_RELEVANT);
    d->failed |= !walk_init(&k.bad, d->bad, d->bad_mark, ANALYSE_RELEVANT);
    if (!d->failed) {
        mark_coming_and_going(&k);
        add_changed(&k, true);
    }
    if (!d->failed && !k.any) {
        mark_serving(&k, d->good, d->mark);
        mark_serving(&k, d->bad, d->bad_mark);
    }
    if (!d->failed && !k.any)
        add_slowest(&k);
    if (!d->failed && !k.any)
        add_lonely(&k);
    if (!d->failed && !k.any)
        add_changed(&k, false);
    for (int pass = 0; pass < 2 && !d->failed; pass++) {
        walk_on(&k.good);
        walk_on(&k.bad);
        share_marks(d, &k.good, &k.bad);
    }
    walk_fini(&k.good);
    walk_fini(&k.bad);
}
