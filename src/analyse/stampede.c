/* SPDX-License-Identifier: ISC */
/* Stampedes: several promises make the same thing at the same time, each for itself, because none
 * of them finds the result of another one.
 * That it is the same thing is inferred from type and label, and from what comes later: whoever
 * needs it again has it at once, or does not make it. A promise that waits for what others do
 * shares it already. */

#include "analyse/judge.h"
#include "analyse/loop.h"
#include "analyse/types.h"

#define LEAST_NS INT64_C(1000000) /* the time that one takes */

enum {
    LEAST = 4, /* at the same time */
    LATER = 4, /* that find the result */
    QUICK = 10,
    DEEP = 4, /* creators */
    LOOKED_AT = 64,
};

/* A promise with a label, for sorting. */
struct item {
    uint32_t type, name, promise;
    int64_t start_ns;
};

/* Promises of one type and label that were all pending at the same time. */
struct burst {
    uint32_t first, last; /* places in the list */
    uint32_t count;       /* those that did it for themselves, for different creators */
    uint32_t chief;       /* the first of these */
    int64_t from_ns, to_ns, least_ns, sum_ns;
    bool work, sort, cached;
};

/* For a family. */
struct stampede {
    struct burst worst;
    uint32_t bursts;
    int64_t cost_ns;
    /* the finding about what its creators belong to, or what they make, describes it better */
    bool inner;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct item *item;
    uint32_t items;
    struct stampede *found; /* by family */
    uint32_t *seen;         /* by creator: the burst for which it made one */
    uint32_t bursts;
};

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    WEFT_ORDER(x->type, y->type);
    WEFT_ORDER(x->name, y->name);
    WEFT_ORDER(x->start_ns, y->start_ns);
    return weft_order(x->promise, y->promise);
}

static bool same_key(const struct item *x, const struct item *y)
{
    return x->type == y->type && x->name == y->name;
}

static void gather_labelled(struct finder *f)
{
    f->item = analyse_take(f->s, f->m->promises, sizeof *f->item);
    for (uint32_t p = 1; p < f->m->promises && !f->s->failed; p++) {
        const struct weft_promise *q = &f->m->promise[p];
        const uint32_t name = weft_model_name(f->m, p);
        if (name != WEFT_NONE && q->created && q->becomes == WEFT_NONE)
            f->item[f->items++] = (struct item){q->type, name, p, q->start_ns};
    }
    weft_sort(f->item, f->items, sizeof *f->item, by_key);
}

/* ---- Who does the same ---- */

static bool has_result(const struct finder *f, uint32_t p)
{
    const unsigned outcome = f->m->promise[p].outcome;
    return outcome == WEFT_FULFILLED || outcome == WEFT_RESOLVED;
}

/* Returns true if others could share it, and none of it comes from others. */
static bool is_shareable(const struct finder *f, uint32_t p)
{
    const unsigned no_result = ANALYSE_TIMER | ANALYSE_LOCK | ANALYSE_REUSED | ANALYSE_LASTING |
                               ANALYSE_ORDERED | ANALYSE_OUTSIDE | ANALYSE_FOR_ALL;
    const struct weft_promise *q = &f->m->promise[p];
    const struct weft_history *h = f->h;
    if (!has_result(f, p) || q->creator == WEFT_ROOT || q->should_resolve || q->background ||
        (analyse_known(f->s, p) & no_result))
        return false;
    for (uint32_t i = h->waits_of_first[p], n = 0; i < h->waits_of_first[p + 1]; i++, n++)
        if (n == LOOKED_AT || !analyse_is_of(f->m, h->wait[h->waits_of[i]].source, p, DEEP))
            return false;
    return analyse_count(h->holds_of_first, p) == 0;
}

/* Returns true if another promise ends it, and in the same run the one before it. */
static bool is_of_batch(const struct finder *f, uint32_t before, uint32_t p)
{
    const uint32_t a = f->h->resolution[before], b = f->h->resolution[p];
    if (a == WEFT_NONE || b == WEFT_NONE)
        return true;
    const struct weft_interaction *x = &f->m->interaction[a], *y = &f->m->interaction[b];
    const uint32_t by = (uint32_t)y->actor;
    return by != WEFT_ROOT && x->actor == y->actor && !analyse_is_of(f->m, by, p, DEEP) &&
           weft_history_run_at(f->h, by, x->time_ns) == weft_history_run_at(f->h, by, y->time_ns);
}

/* The burst that begins at a place of the list. */
static struct burst burst_at(struct finder *f, uint32_t first)
{
    const uint32_t *of = f->s->families->of;
    struct burst x = {.first = first,
                      .last = first,
                      .least_ns = INT64_MAX,
                      .to_ns = INT64_MIN,
                      .work = true,
                      .sort = true};
    int64_t ended = INT64_MAX;
    uint32_t before = WEFT_NONE;
    f->bursts++;
    for (; x.last < f->items && same_key(&f->item[x.last], &f->item[first]); x.last++) {
        const uint32_t p = f->item[x.last].promise, creator = f->m->promise[p].creator;
        const int64_t start = f->item[x.last].start_ns, end = weft_history_ended_ns(f->h, p);
        if (start >= ended)
            break;
        if (!is_shareable(f, p) || end < start || f->seen[creator] == f->bursts)
            continue;
        f->seen[creator] = f->bursts;
        if (before != WEFT_NONE && is_of_batch(f, before, p))
            continue;
        if (x.count++ == 0) {
            x.chief = p;
            x.from_ns = start;
        }
        before = p;
        ended = weft_earlier(end, ended);
        x.to_ns = weft_later(end, x.to_ns);
        const int64_t length = weft_history_length_ns(f->h, p);
        x.least_ns = weft_earlier(length, x.least_ns);
        x.sum_ns = analyse_sum(x.sum_ns, length);
        x.work = x.work && (analyse_count(f->h->runs_of_first, p) > 0 ||
                            analyse_count(f->h->children_first, p) > 0);
        x.sort = x.sort && of[creator] == of[f->m->promise[x.chief].creator];
    }
    return x;
}

/* ---- Whether the result is kept ---- */

static bool differs(const struct finder *f, uint32_t promise)
{
    const struct analyse_families *k = f->s->families;
    return k->differs && k->differs[k->of[promise]];
}

/* Returns true if it ended at once, without waiting for anything. */
static bool is_quick(const struct finder *f, uint32_t p, int64_t least_ns)
{
    return weft_history_length_ns(f->h, p) <= least_ns / QUICK &&
           analyse_count(f->h->waits_of_first, p) == 0;
}

/* Returns true if later ones have it at once, or do not make it. If creators with the same label
 * make none, that means something only if the label says what they need. */
static bool is_result_kept(const struct finder *f, const struct burst *x)
{
    const uint32_t creator = f->m->promise[x->chief].creator;
    uint32_t i = x->last, quick = 0, none = 0;
    while (i < f->items && same_key(&f->item[i], &f->item[x->first]) &&
           is_quick(f, f->item[i].promise, x->least_ns)) {
        i++;
        quick++;
    }
    if (quick >= LATER)
        return true;
    const bool more = i < f->items && same_key(&f->item[i], &f->item[x->first]);
    const int64_t until = more ? f->item[i].start_ns : f->m->end_ns;
    const struct item key = {f->m->promise[creator].type, weft_model_name(f->m, creator), 0,
                             x->to_ns};
    if (quick || key.name == WEFT_NONE || (differs(f, x->chief) && !differs(f, creator)))
        return false;
    uint32_t k = 0, high = f->items; /* the first one in the list that is not before the key */
    WEFT_SEEK(k, high, by_key(&f->item[middle], &key) < 0);
    for (uint32_t n = 0; k < f->items && same_key(&f->item[k], &key) && n < LOOKED_AT; k++, n++)
        none += has_result(f, f->item[k].promise) &&
                weft_history_ended_ns(f->h, f->item[k].promise) <= until;
    return none >= LATER;
}

/* ---- Findings ---- */

static void add_overlap(struct finder *f, struct burst *x)
{
    struct stampede *k = &f->found[f->s->families->of[x->chief]];
    x->cached = is_result_kept(f, x);
    k->bursts++;
    k->cost_ns = analyse_sum(k->cost_ns, x->sum_ns - x->sum_ns / x->count);
    if (k->bursts == 1 || x->cached > k->worst.cached ||
        (x->cached == k->worst.cached && x->count > k->worst.count))
        k->worst = *x;
}

static void report_stampede(struct finder *f, const struct stampede *k)
{
    enum { SHOWN = 4 };
    const struct burst *x = &k->worst;
    uint32_t shown = 0;
    const uint64_t signs = analyse_signs(f->s, WEFT_ROOT) | (x->cached ? ANALYSE_M_KEPT : 0) |
                           (differs(f, x->chief) ? ANALYSE_M_SPECIFIC : 0) |
                           (x->work ? ANALYSE_M_WORK : 0) | (x->sort ? ANALYSE_M_SORT : 0);
    if (!analyse_report(f->s, WEFT_FINDING_STAMPEDE, signs, x->chief, x->from_ns, x->to_ns,
                        k->cost_ns))
        return;
    analyse_say(f->s, SAY_STAMPEDE, PROMISE(promise, x->chief), AMOUNT(count, x->count),
                TIME(from, x->from_ns), TIME(to, x->to_ns),
                PROMISE(creator, f->m->promise[x->chief].creator),
                LENGTH(mean, x->sum_ns / x->count));
    if (k->bursts > 1)
        analyse_say(f->s, SAY_HAPPENED_OFTEN, AMOUNT(times, k->bursts));
    f->s->finding->count = k->bursts;
    f->bursts++;
    for (uint32_t i = x->first; i < x->last; i++) {
        const uint32_t p = f->item[i].promise;
        const struct weft_promise *q = &f->m->promise[p];
        if (!is_shareable(f, p) || f->seen[q->creator] == f->bursts)
            continue;
        f->seen[q->creator] = f->bursts;
        analyse_affects(f->s, q->creator);
        if (shown++ >= SHOWN)
            continue;
        analyse_show_created(f->s, p);
        analyse_show_ended(f->s, p);
    }
}

/* If those that do the same each make one more thing that is the same, one finding is enough: the
 * thing whose result is kept, or the outer one. */
static void drop_inner_or_outer(struct finder *f, uint32_t family)
{
    struct stampede *k = &f->found[family];
    struct stampede *outer = &f->found[f->s->families->of[f->m->promise[k->worst.chief].creator]];
    if (!outer->bursts || outer == k)
        return;
    if (k->worst.cached && !outer->worst.cached)
        outer->inner = true;
    else
        k->inner = true;
}

void analyse_find_stampedes(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.found = analyse_take(s, s->families->count, sizeof *f.found);
    f.seen = analyse_take(s, s->m->promises, sizeof *f.seen);
    gather_labelled(&f);
    for (uint32_t i = 0; i < f.items && !s->failed;) {
        struct burst x = burst_at(&f, i);
        if (x.count >= LEAST && x.least_ns >= LEAST_NS)
            add_overlap(&f, &x);
        i = x.last > i ? x.last : i + 1;
    }
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (f.found[i].bursts)
            drop_inner_or_outer(&f, i);
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (f.found[i].bursts && !f.found[i].inner)
            report_stampede(&f, &f.found[i]);
}
