/* SPDX-License-Identifier: ISC */
/* Leaks: promises of one sort whose number grows, and that nobody will end.
 * Many pending promises are not enough: they may be young, or something that is alive may hold
 * them. Among those that are pending at the end, only these are considered: those that wait for
 * nothing themselves (a promise that waits for something hangs, or is idle: the leak is what it
 * waits for); and those that only sleep, though nobody waits for them and their creator has ended.
 * Each of them is one of these:
 *     held     somebody waits for it
 *     orphan   its creator has ended
 *     kept     it belongs to a creator that is alive and has one or two of them: if there are too many, the creators leak
 *     loose    the rest: created by the event loop, or by a promise that creates many
 * It is old if it is older than others of its sort usually become, and outlived if younger ones
 * have ended. */
#include "analyse/judge.h"
#include "analyse/types.h"

enum {
    BUCKETS = 64,          /* periods for which pending promises are counted */
    KEPT = 2,              /* of one creator */
    OUTLIVED_BY = 5,       /* younger ones that have ended */
    QUARTER = BUCKETS / 8, /* periods in a quarter of the last half */
    GROWTH = 3,            /* times the median of the first half; */
    /* those that are left were created over at least 1/SPREAD of the time of the others; */
    SPREAD = 4,
    /* … or over 1/SPREAD_ALONE of the trace: they are not a pool that was created at the start */
    SPREAD_ALONE = 10,
    DEEP = 8,    /* nested calls */
    AT_ONCE = 8, /* promises of one creator, created at the same time */
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    int64_t *length;            /* of those that ended, for finding out what is usual */
    uint32_t *pending;          /* by family: how many are pending at the end and count */
    struct analyse_lists sorts; /* promises by family, for families with enough of them */
    struct {
        uint32_t family, count;
    } * creator;            /* by promise: how many pending promises of a family it has created */
    uint32_t made[BUCKETS]; /* promises of all families, by time of creation */
};

/* What is known about a family. */
struct sort {
    uint32_t family;
    uint32_t total, ended; /* of the whole family */
    uint32_t held, orphans, kept, loose;
    uint32_t strays;   /* orphans and loose ones that are old and outlived */
    uint32_t held_old; /* held ones that are old and outlived */
    /* orphans that are old, if any promises have ended; otherwise all orphans */
    uint32_t orphans_old;
    uint32_t creators;         /* how many different creators the orphans have */
    uint32_t unsure;           /* held ones, orphans and loose ones that may have ended unseen */
    uint32_t middle;           /* pending in the middle of the trace */
    uint32_t oldest;           /* the first promise that points to a leak */
    int64_t usual_ns;          /* a lifetime that few of those that ended exceed */
    int64_t first_ns, last_ns; /* creation of the first and the last pending one */
    bool reused, grows;
    bool spread; /* those that are left were not all created at once */
    bool full;   /* none has been created for long, though the program continued as before */
};

/* ---- One promise ---- */

enum state { WAITING, ALIVE, HELD, ORPHAN, KEPT_BY, LOOSE };

/* What a promise waits for: nothing; something of its own; or only something that many wait for and
 * that is meant to be pending for long (then nothing hangs, and the promise is there to listen). */
static enum { NOTHING, SOMETHING, NEWS } waits(const struct finder *f, uint32_t p)
{
    const struct weft_history *h = f->h;
    bool any = false;
    for (uint32_t i = h->waits_of_first[p + 1]; i > h->waits_of_first[p]; i--) {
        const struct weft_wait *w = &h->wait[h->waits_of[i - 1]];
        uint32_t source = weft_model_final(f->m, w->source);
        if (w->end != WEFT_WAIT_OPEN)
            continue;
        if (!f->m->promise[source].background ||
            analyse_count(h->waits_for_first, source) < f->s->o->leak_count)
            return SOMETHING;
        any = true;
    }
    return any ? NEWS : NOTHING;
}

static bool is_waited_for(const struct finder *f, uint32_t p)
{
    analyse_each(i, f->h->waits_for_first, p) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_for[i]];
        if (w->end == WEFT_WAIT_OPEN && w->reader != WEFT_ROOT &&
            !analyse_has_ended(f->m, w->reader))
            return true;
    }
    return false;
}

/* Returns true if a timer set right after it, in the same run, was cancelled: it was to end at that
 * time, and is forgotten with the timer, like a time limit that was not needed. */
static bool is_called_off(const struct finder *f, uint32_t p)
{
    const struct weft_history *h = f->h;
    const struct weft_promise *q = &f->m->promise[p];
    if (q->creator == WEFT_ROOT)
        return false;
    const uint32_t end = h->children_first[q->creator + 1];
    uint32_t i = weft_history_child_from(h, q->creator, q->start_ns);
    for (unsigned n = 0; n < AT_ONCE && i < end && h->children[i] != p; n++)
        i++;
    if (i + 1 >= end || h->children[i] != p)
        return false;
    const uint32_t timer = h->children[i + 1];
    const uint32_t run = weft_history_run_at(h, q->creator, q->start_ns);
    return f->m->promise[timer].outcome == WEFT_CANCELLED && analyse_is_timer(f->m, timer) &&
           !analyse_is_timer(f->m, p) && run != WEFT_NONE &&
           run == weft_history_run_at(h, q->creator, f->m->promise[timer].start_ns);
}

static bool may_leak(const struct finder *f, uint32_t p)
{
    const struct weft_promise *q = &f->m->promise[p];
    return q->created && analyse_is_pending(f->m, p) && !q->background && !q->should_resolve &&
           (is_waited_for(f, p) || !is_called_off(f, p));
}

/* Returns true if it gave a sign of life in the second half of its life. */
static bool is_alive(const struct weft_model *m, uint32_t p)
{
    const struct weft_promise *q = &m->promise[p];
    if (q->promoted) /* its end means nothing */
        return q->first_run != WEFT_NONE;
    return m->end_ns - q->end_ns < (m->end_ns - q->start_ns) / 2;
}

/* Returns true if it waits for nothing but a time that it, or one of its calls, has set. */
static bool only_sleeps(const struct finder *f, uint32_t promise)
{
    const struct weft_history *h = f->h;
    uint32_t p = promise;
    for (unsigned depth = 0; depth < DEEP; depth++) {
        uint32_t open;
        const uint32_t wait = analyse_open(h, h->waits_of_first, h->waits_of, p, &open);
        if (open == 0)
            return depth > 0 && (analyse_known(f->s, p) & ANALYSE_TIMER);
        const uint32_t source = weft_model_final(f->m, h->wait[wait].source);
        const uint32_t creator = f->m->promise[source].creator;
        if (open > 1 || (creator != promise && creator != p))
            return false;
        analyse_open(h, h->waits_for_first, h->waits_for, source, &open);
        if (open != 1)
            return false;
        p = source;
    }
    return false;
}

/* Nobody waits for it, and whoever could end it is gone. */
static bool is_left_asleep(const struct finder *f, uint32_t p)
{
    return p != WEFT_ROOT && analyse_has_ended(f->m, f->m->promise[p].creator) &&
           !is_waited_for(f, p) && only_sleeps(f, p);
}

static enum state state_of(const struct finder *f, uint32_t p)
{
    uint32_t creator = f->m->promise[p].creator;
    unsigned waiting = waits(f, p);
    bool asleep = waiting == SOMETHING && is_left_asleep(f, p);
    if (waiting == SOMETHING && !asleep)
        return WAITING;
    if (is_alive(f->m, p))
        return ALIVE;
    if (asleep)
        return ORPHAN;
    /* it listens by itself, so it does not matter that its creator has ended */
    if (waiting == NEWS)
        return LOOSE;
    if (is_waited_for(f, p)) /* the time that one of those sleeps for is part of it */
        return is_left_asleep(f, creator) ? WAITING : HELD;
    if (analyse_has_ended(f->m, creator))
        return ORPHAN;
    return creator != WEFT_ROOT && f->creator[creator].count <= KEPT ? KEPT_BY : LOOSE;
}

/* ---- One family ---- */

/* What is usual; and how many of the pending promises each creator has. */
static void find_usual(struct finder *f, struct sort *k)
{
    uint32_t lengths = 0;
    analyse_each(i, f->sorts.first, k->family) {
        const uint32_t p = f->sorts.item[i];
        const struct weft_promise *q = &f->m->promise[p];
        k->ended += q->outcome != WEFT_PENDING;
        k->reused |= analyse_count(f->h->notified_first, p) > 0;
        if (q->outcome != WEFT_PENDING && q->created)
            f->length[lengths++] = weft_later(q->end_ns - q->start_ns, 0);
        if (!may_leak(f, p))
            continue;
        if (f->creator[q->creator].family != k->family) {
            f->creator[q->creator].family = k->family;
            f->creator[q->creator].count = 0;
        }
        f->creator[q->creator].count++;
    }
    k->total = analyse_count(f->sorts.first, k->family);
    analyse_median(f->length, lengths); /* sorts them */
    k->usual_ns = lengths ? f->length[lengths - 1 - lengths / 100] : 0;
}

static void add_one(const struct finder *f, struct sort *k, uint32_t p, uint32_t younger_ended)
{
    const struct weft_promise *q = &f->m->promise[p];
    enum state state = state_of(f, p);
    bool old = (f->m->end_ns - q->start_ns) / 2 > k->usual_ns;
    bool outlived = k->ended && old && younger_ended >= OUTLIVED_BY;
    if (state == WAITING || state == ALIVE)
        return;
    k->held += state == HELD;
    k->held_old += state == HELD && outlived;
    k->kept += state == KEPT_BY;
    k->loose += state == LOOSE;
    k->strays += outlived && (state == ORPHAN || state == LOOSE);
    if (state == ORPHAN) {
        k->orphans++;
        k->orphans_old += old;
        k->creators += f->creator[q->creator].count > 0;
        f->creator[q->creator].count = 0; /* each is counted once */
    }
    k->unsure += state != KEPT_BY && q->start_ns < f->m->resumed_ns;
    if (state != KEPT_BY) { /* the last one found is the oldest */
        k->oldest = p;
        k->first_ns = q->start_ns;
        k->last_ns = k->last_ns == INT64_MIN ? q->start_ns : k->last_ns;
    }
}

/* From the youngest to the oldest. */
static void add_all(struct finder *f, struct sort *k)
{
    int64_t half = f->m->end_ns / 2;
    uint32_t ended = 0;
    for (uint32_t i = f->sorts.first[k->family + 1]; i-- > f->sorts.first[k->family];) {
        const struct weft_promise *p = &f->m->promise[f->sorts.item[i]];
        bool pending = p->outcome == WEFT_PENDING;
        k->middle += p->start_ns <= half && (pending || p->end_ns > half);
        if (may_leak(f, f->sorts.item[i]))
            add_one(f, k, f->sorts.item[i], ended);
        ended += !pending;
    }
}

/* Returns true if the number of pending ones rises throughout the last half of the time in which
 * they are created, to much more than was usual in the first half. */
static bool keeps_growing(const struct finder *f, const struct sort *k)
{
    int64_t pending[BUCKETS] = {0}, span = k->last_ns, sum = 0, low = -1;
    /* if none ever ends, one quarter may be flat: the program may have been held up */
    unsigned flat = 0;
    analyse_each(i, f->sorts.first, k->family) {
        const struct weft_promise *p = &f->m->promise[f->sorts.item[i]];
        if (p->start_ns > span)
            continue;
        pending[analyse_part(p->start_ns, 0, span, BUCKETS)]++;
        if (p->outcome != WEFT_PENDING && p->end_ns <= span)
            pending[analyse_part(p->end_ns, 0, span, BUCKETS)]--;
    }
    for (unsigned i = 0; i < BUCKETS; i++)
        pending[i] = sum += pending[i];
    for (unsigned q = BUCKETS / 2; q < BUCKETS; q += QUARTER) {
        int64_t least = pending[q];
        for (unsigned i = q; i < q + QUARTER; i++)
            least = weft_earlier(pending[i], least);
        if (least < low || (least == low && flat++ >= (k->ended ? 0 : 1)))
            return false;
        low = least;
    }
    return sum > GROWTH * analyse_median(pending, BUCKETS / 2) &&
           k->last_ns - k->first_ns >= f->m->end_ns / SPREAD_ALONE;
}

/* Returns true if it looks like a pool that became large enough: as much happens afterwards. */
static bool is_full(const struct finder *f, const struct sort *k)
{
    int64_t span = f->m->end_ns;
    uint64_t own[BUCKETS] = {0}, during = 0, after = 0;
    unsigned first = analyse_part(k->first_ns, 0, span, BUCKETS),
             last = analyse_part(k->last_ns, 0, span, BUCKETS);
    if (span - k->last_ns < (k->last_ns - k->first_ns) / 2)
        return false;
    analyse_each(i, f->sorts.first, k->family)
        own[analyse_part(f->m->promise[f->sorts.item[i]].start_ns, 0, span, BUCKETS)]++;
    for (unsigned i = first; i < BUCKETS; i++)
        *(i <= last ? &during : &after) += f->made[i] - own[i];
    return after >= f->s->o->leak_count && after >= during / 2;
}

/* ---- Judging ---- */

static uint64_t signs_of_leak(const struct finder *f, const struct sort *k)
{
    uint32_t least = f->s->o->leak_count, p = k->oldest, sum = k->held + k->orphans + k->loose;
    uint32_t sure = sum - k->unsure;
    const unsigned type = analyse_type(f->m, p);
    bool orphans = k->orphans_old >= least && k->creators >= k->orphans_old / 2;
    bool old = k->spread && (k->strays >= least || k->held_old >= least);
    bool steady = k->grows && !k->ended && k->orphans + k->loose >= least;
    return analyse_signs(f->s, p) | (orphans ? ANALYSE_L_ORPHANS : 0) | (old ? ANALYSE_L_OLD : 0) |
           (steady ? ANALYSE_L_STEADY : 0) | (k->grows && sum >= least ? ANALYSE_L_MORE : 0) |
           (k->ended ? ANALYSE_L_SOME_END : 0) |
           (k->reused || (type & ANALYSE_REUSED) ? ANALYSE_L_REUSED : 0) |
           (type & ANALYSE_LASTING ? ANALYSE_L_LASTING : 0) |
           (analyse_called(f->s, p) & ANALYSE_LASTING ? ANALYSE_CALLED : 0) |
           (k->full ? ANALYSE_L_FULL : 0) |
           (k->unsure > sure || (k->unsure && sure < least) ? ANALYSE_L_PAUSED : 0);
}

/* ---- Findings ---- */

static void prove_end_of(const struct finder *f, uint32_t promise)
{
    const uint32_t p = weft_model_final(f->m, promise);
    analyse_show(f->s, f->m->promise[p].end_ns, analyse_ending(f->m, p), promise,
                 analyse_resolver(f->h, p));
}

static void report_leak(const struct finder *f, const struct sort *k)
{
    const struct weft_promise *p = &f->m->promise[k->oldest];
    const bool named = weft_model_name(f->m, k->oldest) != WEFT_NONE,
               over = analyse_has_ended(f->m, p->creator);
    uint32_t younger = WEFT_NONE;
    if (!analyse_report(f->s, WEFT_FINDING_LEAK, signs_of_leak(f, k), k->oldest, p->start_ns,
                        INT64_MAX, 0))
        return;
    analyse_say(f->s, SAY_LEAK, FLAG(none, !k->ended), SORT(sort, k->family),
                PROMISE(named, named ? k->oldest : WEFT_NONE),
                AMOUNT(pending, f->pending[k->family]), AMOUNT(middle, k->middle),
                AMOUNT(total, k->total), AMOUNT(ended, k->ended));
    analyse_say(f->s, SAY_LEAK_OLDEST, PROMISE(oldest, k->oldest), TIME(created, p->start_ns),
                PROMISE(creator, p->creator), PROMISE(over, over ? p->creator : WEFT_NONE));
    analyse_show_created(f->s, k->oldest);
    if (over)
        prove_end_of(f, p->creator);
    analyse_each(i, f->sorts.first, k->family) {
        const uint32_t q = f->sorts.item[i];
        if (q != k->oldest && may_leak(f, q))
            analyse_affects(f->s, q);
        if (younger == WEFT_NONE && q > k->oldest && analyse_has_ended(f->m, q))
            younger = q;
    }
    if (younger != WEFT_NONE) {
        analyse_show_created(f->s, younger);
        prove_end_of(f, younger);
    }
    analyse_show(f->s, f->m->end_ns, WEFT_EVIDENCE_PENDING, k->oldest, WEFT_NONE);
}

static void find_leak(struct finder *f, uint32_t family)
{
    struct sort k = {.family = family, .oldest = WEFT_NONE, .last_ns = INT64_MIN};
    find_usual(f, &k);
    add_all(f, &k);
    if (k.oldest == WEFT_NONE)
        return;
    int64_t first = f->m->promise[f->sorts.item[f->sorts.first[family]]].start_ns;
    int64_t last = f->m->promise[f->sorts.item[f->sorts.first[family + 1] - 1]].start_ns;
    k.spread = k.last_ns - k.first_ns >= (last - first) / SPREAD;
    k.grows = keeps_growing(f, &k);
    k.full = is_full(f, &k);
    report_leak(f, &k);
}

/* Collects the promises of the families that have enough pending ones. */
static uint32_t family_of_many(const void *finder, uint32_t promise)
{
    const struct finder *f = finder;
    const uint32_t family = f->s->families->of[promise];
    return promise && f->pending[family] >= f->s->o->leak_count ? family : WEFT_NONE;
}

void analyse_find_leaks(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.pending = analyse_take(s, s->families->count, sizeof *f.pending);
    for (uint32_t p = 1; p < s->m->promises && !s->failed; p++)
        f.pending[s->families->of[p]] += may_leak(&f, p);
    f.sorts =
        analyse_lists(s, s->families->count, s->failed ? 0 : s->m->promises, family_of_many, &f);
    f.creator = analyse_take(s, s->m->promises, sizeof *f.creator);
    f.length = analyse_take(s, s->m->promises, sizeof *f.length);
    for (uint32_t p = 1; p < s->m->promises && !s->failed; p++)
        f.made[analyse_part(s->m->promise[p].start_ns, 0, s->m->end_ns, BUCKETS)]++;
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (f.pending[i] >= s->o->leak_count)
            find_leak(&f, i);
}
