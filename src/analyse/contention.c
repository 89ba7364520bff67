/* SPDX-License-Identifier: ISC */
/* Contention: waits for one lock take a large part of the lives of a sort of promise, since only
 * one at a time can have it.
 * A lock is something that the program says is held, never by two at once; or something that is
 * handed on: whoever got it last lets the next one have it, while others queue. The latter may be
 * one condition, or a promise of one sort for each place in the queue. A wait counts for its
 * reader, and for those that wait for the reader in the meantime. */
#include <stdlib.h>
#include <string.h>

#include "analyse/judge.h"

#define LEAST_NS INT64_C(10000000) /* total waiting time */
#define SOON_NS INT64_C(5000000)   /* a shorter average is a short wait */

enum {
    SHARE = 30, /* percent of the lives of the sort */
    WAITS = 20, /* for the lock */
    FEW = 4,    /* promises of a sort, none of which is marked */
    OFTEN = 3,  /* it is a batch if each waits for it less often than this; */
    BATCH = 10, /* … and all come within 1/BATCH of the time that they take in total */
    HANDED = 5, /* all but 1/HANDED are handed on by the previous one */
    FREE = 4,   /* it is mostly free if somebody waits for less than 1/FREE of the time */
    DEEP = 6,   /* how deep to follow the reader's waiters, and creators of whoever hands it on */
    SHOWN = 3,  /* holders that are named */
};

/* A family. */
struct sort {
    double life_ns; /* sum over the family */
    uint32_t count, marked, creator;
    int64_t first_ns, last_ns, end_ns; /* creation of the first and last one; the last end */
    bool creators;                     /* there is more than one */
    double waited_ns;                  /* for this lock: */
    uint32_t waits, lock;
};

/* Somebody had the lock while others waited. */
struct holder {
    uint32_t who;
    int64_t from_ns, to_ns;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct sort *sort; /* by family */
    uint32_t *touched, touches;
    /* by lock: by promise, and then, after all promises, by family */
    struct analyse_lists waits_for;
    int64_t *covered; /* by promise: the time up to which its waits for this lock are counted; */
    uint32_t *seen;   /* … valid if this is the current lock */
    struct weft_wait *served;    /* copies of waits for it that have ended, in that order */
    struct holder holder[SHOWN]; /* the longest ones */
    uint32_t lock;               /* 1 + its place in first */
    int64_t waited_ns, from_ns, to_ns;
    int64_t wanted_ns; /* how long somebody was waiting */
};

/* ---- Which waits are for one lock ---- */

/* The place of a wait's source: its own, or, if nobody else waits for that, its family's. */
static uint32_t place_of_source(const struct finder *f, const struct weft_wait *w)
{
    const uint32_t source = weft_model_final(f->m, w->source);
    const uint32_t waits = analyse_count(f->h->waits_for_first, source);
    return waits > 1 || analyse_count(f->h->holds_for_first, source) > 0
               ? source
               : f->m->promises + f->s->families->of[source];
}

/* The list of a wait. One that lasts to the end may be a hang: its length says nothing. */
static uint32_t list_of_wait(const void *finder, uint32_t wait)
{
    const struct finder *f = finder;
    return f->h->wait[wait].end == WEFT_WAIT_OPEN ? WEFT_NONE
                                                  : place_of_source(f, &f->h->wait[wait]);
}

static void measure_lives(struct finder *f)
{
    for (uint32_t p = 1; p < f->m->promises; p++) {
        const struct weft_promise *q = &f->m->promise[p];
        struct sort *k = &f->sort[f->s->families->of[p]];
        const struct weft_wait *last = analyse_last_wait(f->h, p);
        int64_t end = last && last->end == WEFT_WAIT_OPEN ? last->from_ns : analyse_end_ns(f->h, p);
        if (end < q->start_ns)
            continue;
        if (k->count++ == 0) {
            k->first_ns = q->start_ns;
            k->creator = q->creator;
        }
        k->creators |= k->creator != q->creator;
        k->last_ns = weft_later(q->start_ns, k->last_ns);
        k->end_ns = weft_later(end, k->end_ns);
        k->life_ns += (double)(end - q->start_ns);
        k->marked += q->should_resolve;
    }
}

/* ---- One lock ---- */

static void add_holder(struct finder *f, uint32_t who, int64_t from_ns, int64_t to_ns)
{
    struct holder x = {who, from_ns, to_ns};
    for (unsigned i = 0; i < SHOWN; i++) {
        struct holder *at = &f->holder[i];
        if (x.to_ns - x.from_ns <= at->to_ns - at->from_ns)
            continue;
        struct holder less = *at;
        *at = x;
        x = less;
    }
}

/* Returns true if the trace says who holds it, one at a time; stores who held it longest. */
static bool is_held_by_one(struct finder *f, uint32_t resource)
{
    int64_t until = INT64_MIN;
    analyse_each(i, f->h->holds_for_first, resource) {
        const struct weft_hold *x = &f->m->hold[f->h->holds_for[i]];
        if (x->holder == WEFT_NONE || x->from_ns < until)
            return false;
        until = x->to_ns;
        add_holder(f, x->holder, x->from_ns, x->to_ns);
    }
    return true;
}

static int by_end_of_service(const void *a, const void *b)
{
    const struct weft_wait *x = a, *y = b;
    WEFT_ORDER(x->until_ns, y->until_ns);
    return weft_order(x->begun_by, y->begun_by);
}

/* Returns true if it is handed on by whoever got it last, one after another; stores who had it
 * longest. In a chain, where each waits for the one before it, nothing is handed on. */
static bool is_handed_on(struct finder *f, const uint32_t *item, uint32_t count)
{
    uint32_t n = 0, queued = 0, handed = 0;
    for (uint32_t i = 0; i < count; i++)
        if (analyse_is_served(&f->h->wait[item[i]]))
            f->served[n++] = f->h->wait[item[i]];
    weft_sort(f->served, n, sizeof *f->served, by_end_of_service);
    for (uint32_t i = 1; i < n; i++) {
        const struct weft_wait *before = &f->served[i - 1], *w = &f->served[i];
        uint32_t by;
        if (w->from_ns >= before->until_ns)
            continue;
        queued++;
        const int64_t there = weft_history_there_ns(f->h, w, &by);
        if (by == WEFT_NONE || there < before->until_ns ||
            analyse_is_of(f->m, w->source, before->reader, DEEP) ||
            !analyse_is_of(f->m, (uint32_t)f->m->interaction[by].actor, before->reader, DEEP))
            continue;
        handed++;
        add_holder(f, before->reader, before->until_ns, there);
    }
    return queued >= WAITS / 2 && handed >= queued - queued / HANDED;
}

static void count_for(struct finder *f, uint32_t promise, const struct weft_wait *w)
{
    const uint32_t family = f->s->families->of[promise];
    struct sort *k = &f->sort[family];
    if (f->seen[promise] != f->lock) {
        f->seen[promise] = f->lock;
        f->covered[promise] = INT64_MIN;
    }
    const int64_t from = weft_later(w->from_ns, f->covered[promise]);
    if (w->until_ns <= from)
        return;
    if (k->lock != f->lock) {
        f->touched[f->touches++] = family;
        k->lock = f->lock;
        k->waits = 0;
        k->waited_ns = 0;
    }
    k->waits++;
    k->waited_ns += (double)(w->until_ns - from);
    f->covered[promise] = w->until_ns;
}

/* Who waits for a promise at that moment, or WEFT_NONE. */
static uint32_t waiter_of(const struct finder *f, uint32_t promise, int64_t time_ns)
{
    uint32_t first = f->h->waits_for_first[promise], end = f->h->waits_for_first[promise + 1];
    for (uint32_t i = first; i < end && i < first + DEEP; i++) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_for[i]];
        if (w->from_ns <= time_ns && w->until_ns >= time_ns && w->reader != WEFT_ROOT)
            return w->reader;
    }
    return WEFT_NONE;
}

/* Returns true if it is only a place in the queue: it has the lock's type and label. */
static bool is_place(const struct finder *f, uint32_t promise, uint32_t lock)
{
    const uint32_t name = weft_model_name(f->m, promise);
    return name != WEFT_NONE && name == weft_model_name(f->m, lock) &&
           f->m->promise[promise].type == f->m->promise[lock].type;
}

static void count_waits(struct finder *f, const uint32_t *item, uint32_t count)
{
    f->from_ns = f->to_ns = f->h->wait[item[0]].from_ns;
    f->wanted_ns = 0;
    for (uint32_t i = 0; i < count; i++) { /* in the order in which they began */
        const struct weft_wait *w = &f->h->wait[item[i]];
        uint32_t who = w->reader;
        if (w->until_ns > f->to_ns) {
            f->wanted_ns =
                analyse_sum(f->wanted_ns, w->until_ns - weft_later(w->from_ns, f->to_ns));
            f->to_ns = w->until_ns;
        }
        for (unsigned depth = 0; depth < DEEP && who != WEFT_NONE && who != WEFT_ROOT; depth++) {
            if (!is_place(f, who, w->source))
                count_for(f, weft_model_final(f->m, who), w);
            who = waiter_of(f, who, w->until_ns);
        }
    }
}

/* The family, marked ones first, that waits for the largest part of its life; or WEFT_NONE. */
static uint32_t worst_sort(const struct finder *f)
{
    uint32_t best = WEFT_NONE;
    for (uint32_t i = 0; i < f->touches; i++) {
        const struct sort *k = &f->sort[f->touched[i]];
        const struct sort *b = best == WEFT_NONE ? NULL : &f->sort[best];
        if (k->waited_ns * 100 < SHARE * k->life_ns || k->waited_ns < (double)LEAST_NS ||
            k->count < 2)
            continue;
        if (!b || (k->marked && !b->marked) ||
            (!k->marked == !b->marked && k->waited_ns * b->life_ns > b->waited_ns * k->life_ns))
            best = f->touched[i];
    }
    return best;
}

/* ---- Findings ---- */

static void say_lock_holders(const struct finder *f)
{
    for (unsigned i = 0; i < SHOWN && f->holder[i].to_ns > f->holder[i].from_ns; i++) {
        const struct holder *x = &f->holder[i];
        analyse_list(f->s, "; ", SAY_LOCK_HOLDER, PROMISE(holder, x->who),
                     LENGTH(length, x->to_ns - x->from_ns), TIME(from, x->from_ns));
        analyse_show(f->s, x->from_ns, WEFT_EVIDENCE_ACQUIRED, x->who, f->s->finding->promise);
    }
    if (f->s->list.size)
        analyse_say(f->s, SAY_LOCK_HOLDERS, TEXT(holders, f->s->list.text));
}

static void report_contention(const struct finder *f, uint32_t family, const uint32_t *item,
                              uint32_t count)
{
    const struct sort *k = &f->sort[family];
    const struct weft_wait *first = &f->h->wait[item[0]];
    const uint32_t lock = weft_model_final(f->m, first->source);
    const bool batch = !k->creators && k->waits < OFTEN * (uint64_t)k->count &&
                       k->last_ns - k->first_ns < (k->end_ns - k->first_ns) / BATCH;
    const bool little =
        f->waited_ns / count < SOON_NS && f->wanted_ns < (f->to_ns - f->from_ns) / FREE;
    if (!analyse_report(f->s, WEFT_FINDING_CONTENTION,
                        analyse_signs(f->s, WEFT_ROOT) | (k->marked ? ANALYSE_C_MARKED : 0) |
                            (k->count < FEW ? ANALYSE_C_FEW : 0) | (batch ? ANALYSE_C_BATCH : 0) |
                            (little ? ANALYSE_C_LITTLE : 0),
                        lock, f->from_ns, f->to_ns, f->waited_ns))
        return;
    analyse_say(f->s, SAY_CONTENTION, SORT(sort, family),
                NUMBER(percent, k->life_ns > 0 ? k->waited_ns * 100 / k->life_ns : 100),
                AMOUNT(count, k->count), PROMISE(lock, lock), AMOUNT(waits, count),
                LENGTH(waited, f->waited_ns));
    say_lock_holders(f);
    for (uint32_t i = 0; i < count && i < WEFT_AFFECTED_MAX; i++)
        analyse_affects(f->s, f->h->wait[item[i]].reader);
    analyse_show(f->s, first->from_ns, WEFT_EVIDENCE_WAITS, first->reader, lock);
}

/* Returns true if what a wait is for waits for something that is held: then that is the lock. */
static bool is_queued(const struct finder *f, const struct weft_wait *w)
{
    const struct weft_history *h = f->h;
    const uint32_t source = weft_model_final(f->m, w->source), at = h->waits_of_first[source];
    if (at == h->waits_of_first[source + 1])
        return false;
    const uint32_t lock = weft_model_final(f->m, h->wait[h->waits_of[at]].source);
    return analyse_count(h->holds_for_first, lock) > 0;
}

static void find_contention(struct finder *f, uint32_t place)
{
    const uint32_t *item = &f->waits_for.item[f->waits_for.first[place]];
    const uint32_t count = analyse_count(f->waits_for.first, place);
    int64_t waited = 0;
    for (uint32_t i = 0; i < count; i++)
        waited = analyse_sum(waited, f->h->wait[item[i]].until_ns - f->h->wait[item[i]].from_ns);
    if (count < WAITS || waited < LEAST_NS ||
        (place >= f->m->promises && is_queued(f, &f->h->wait[item[0]])))
        return;
    f->lock = place + 1;
    f->waited_ns = waited;
    memset(f->holder, 0, sizeof f->holder);
    const bool told = place < f->m->promises && analyse_count(f->h->holds_for_first, place) > 0;
    if (!(told ? is_held_by_one(f, place) : is_handed_on(f, item, count)))
        return;
    f->touches = 0;
    count_waits(f, item, count);
    const uint32_t family = worst_sort(f);
    if (family != WEFT_NONE)
        report_contention(f, family, item, count);
}

void analyse_find_contention(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    if (s->h->waits < WAITS)
        return;
    f.sort = analyse_take(s, s->families->count, sizeof *f.sort);
    f.touched = analyse_take(s, s->families->count, sizeof *f.touched);
    f.covered = analyse_take(s, s->m->promises, sizeof *f.covered);
    f.seen = analyse_take(s, s->m->promises, sizeof *f.seen);
    f.served = analyse_take(s, s->h->waits, sizeof *f.served);
    const uint32_t places = s->m->promises + s->families->count;
    f.waits_for = analyse_lists(s, places, s->h->waits, list_of_wait, &f);
    if (!s->failed)
        measure_lives(&f);
    for (uint32_t i = 1; i < places && !s->failed; i++)
        find_contention(&f, i);
}
