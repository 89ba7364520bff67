/* SPDX-License-Identifier: ISC */
/* Herds: one signal or resolution wakes many, one of them finds something to do, and the others
 * wait again at once.
 * If all that are woken wait again without doing anything that is recorded, that is normal: they
 * may have done their work in between, for example when they are notified of news. So a few of them
 * must have done something else, or run for much longer. The waits for something are examined in
 * the order in which they began: those that one signal ends for all are next to each other. */
#include "analyse/judge.h"
#include "analyse/types.h"

#define US INT64_C(1000)
#define TURN_NS (10 * 1000 * US) /* signals of one turn of the loop are at most this far apart */
#define VAIN_NS (200 * US)       /* a promise that runs longer than this did something */
#define WORK_NS (100 * US)       /* so did one that runs this long and WORK_TIMES the median */
enum {
    WORK_TIMES = 10,
    FEW = 4,         /* at most 1/FEW of them may have got something */
    FEW_WINNERS = 2, /* on average: there is one winner for each job */
    NEAR = 64,       /* events that are examined between waking and waiting */
};

/* What ended a wait: waits with the same cause belong together. */
struct cause {
    enum { BY_NOTHING, BY_END, BY_NOTIFY, BY_SIGNAL } kind;
    uint32_t notify; /* interaction */
};

struct member {
    uint32_t wait;
    bool idle;      /* it did nothing except wait again */
    bool silent;    /* if it did something, only the time says so */
    int64_t ran_ns; /* if it waited again in the same run: how long that took */
};

/* For one family of what is waited for. */
struct herd {
    uint32_t moments;     /* with a winner, and therefore a herd */
    uint32_t empty;       /* in which all waited again */
    uint32_t first, last; /* the worst one: places in waits_for */
    uint32_t source, woken, vain, winner;
    uint64_t vain_total;
    int64_t cost_ns;
    uint32_t silent; /* moments in which only the time says that anybody got something; */
    uint32_t weak;   /* … and in which that one ran only a little longer than the others */
    uint32_t late;   /* … in which others were woken before the one that got it */
    uint64_t winners;
    bool winners_differ;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct herd *herd;     /* by family */
    struct member *member; /* of the current moment */
    int64_t *length;       /* … of their runs, for finding the median */
    uint32_t members;
};

/* ---- Moments ---- */

static struct cause what_woke(const struct finder *f, uint32_t source, const struct weft_wait *w)
{
    const struct weft_history *h = f->h;
    int64_t resolved = weft_history_resolved_ns(h, source);
    if (resolved != INT64_MAX && w->until_ns >= resolved)
        return (struct cause){.kind = w->from_ns <= resolved ? BY_END : BY_NOTHING};
    uint32_t first = h->notified_first[source];
    uint32_t low = weft_history_notified_from(h, source, w->until_ns + 1);
    if (low > first && f->m->interaction[h->notified[low - 1]].time_ns >= w->from_ns)
        return (struct cause){.kind = BY_NOTIFY, .notify = h->notified[low - 1]};
    return (struct cause){.kind = BY_SIGNAL};
}

static bool same_moment(const struct finder *f, struct cause a, struct cause b,
                        const struct weft_wait *before, const struct weft_wait *w)
{
    if (a.kind == BY_NOTHING || a.kind != b.kind)
        return false;
    if (a.kind != BY_SIGNAL)
        return a.kind == BY_END || a.notify == b.notify;
    int64_t from = before->until_ns, to = w->until_ns;
    if (to < from || to - from > TURN_NS)
        return false;
    uint32_t run = weft_history_run_at(f->h, w->reader, to);
    return run == WEFT_NONE ||
           weft_history_idles(f->h, weft_history_stream(f->h, run), from, to, 1) == 0;
}

/* ---- Members ---- */

/* The next wait of a reader, or NULL. */
static const struct weft_wait *next_wait(const struct weft_history *h, uint32_t wait)
{
    uint32_t reader = weft_model_final(h->m, h->wait[wait].reader);
    uint32_t low = h->waits_of_first[reader], end = h->waits_of_first[reader + 1], high = end;
    WEFT_SEEK(low, high, h->waits_of[middle] <= wait); /* the first after it */
    return low < end ? &h->wait[h->waits_of[low]] : NULL;
}

/* Returns true if events say that a promise does anything between being woken and waiting again. */
static bool does_anything(const struct finder *f, const struct weft_wait *w,
                          const struct weft_wait *again)
{
    for (uint32_t i = again->begun_by, n = 0; i > w->begun_by + 1 && n < NEAR; n++) {
        const struct weft_interaction *x = &f->m->interaction[--i];
        if (i == w->ended_by || x->time_ns < w->until_ns)
            break;
        if (x->actor == w->reader)
            return true;
    }
    return false;
}

/* Returns true if it creates anything except what it then becomes. */
static bool creates(const struct weft_history *h, uint32_t creator, int64_t from, int64_t to)
{
    const struct weft_promise *promise = h->m->promise;
    uint32_t low = weft_history_child_from(h, creator, from), end = h->children_first[creator + 1];
    low += low < end && h->children[low] == promise[creator].becomes;
    return low < end && promise[h->children[low]].start_ns <= to;
}

static struct member judge_whether_idle(const struct finder *f, uint32_t wait)
{
    const struct weft_wait *w = &f->h->wait[wait], *again = next_wait(f->h, wait);
    const uint32_t *of = f->s->families->of;
    struct member x = {.wait = wait};
    uint32_t run = weft_history_run_at(f->h, w->reader, w->until_ns);
    if (!again || run == WEFT_NONE || of[again->source] != of[w->source] ||
        again->from_ns < w->until_ns || again->from_ns > f->m->run[run].end_ns)
        return x;
    x.ran_ns = again->from_ns - w->until_ns;
    x.silent = !does_anything(f, w, again) &&
               !creates(f->h, w->reader, w->until_ns, again->from_ns) &&
               !analyse_is_labelled(f->m, w->reader, w->until_ns, again->from_ns, NEAR);
    x.idle = x.silent && x.ran_ns <= VAIN_NS;
    return x;
}

/* What ran for much longer than the others did something, too. Returns how long the others ran. */
static int64_t judge_members(struct finder *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->members; i++) {
        f->member[i] = judge_whether_idle(f, f->member[i].wait);
        if (f->member[i].idle)
            f->length[n++] = f->member[i].ran_ns;
    }
    const int64_t median = analyse_median(f->length, n);
    for (uint32_t i = 0; i < f->members; i++) {
        struct member *x = &f->member[i];
        x->idle = x->idle && (x->ran_ns < WORK_NS || x->ran_ns / WORK_TIMES < median);
    }
    return median;
}

static bool is_woken(const struct weft_wait *w)
{
    return analyse_is_served(w) && w->reader != WEFT_ROOT;
}

/* ---- Herds ---- */

static void count_winners(struct finder *f, struct herd *k, int64_t usual_ns)
{
    int64_t first = INT64_MAX, first_idle = INT64_MAX;
    uint32_t winner = 0, winners = 0;
    bool silent = true, weak = true;
    for (uint32_t i = 0; i < f->members; i++) {
        const struct member *x = &f->member[i];
        int64_t woken = f->h->wait[x->wait].until_ns;
        if (x->idle) {
            first_idle = weft_earlier(woken, first_idle);
            continue;
        }
        winner = winners++ ? winner : f->h->wait[x->wait].reader;
        first = weft_earlier(woken, first);
        silent = silent && x->silent;
        weak = weak && x->silent && (x->ran_ns <= VAIN_NS || x->ran_ns / WORK_TIMES < usual_ns);
    }
    k->winners += winners;
    k->winners_differ |= winners > 1 || (k->moments > 0 && k->winner != winner);
    k->late += first_idle < first;
    k->silent += silent;
    k->weak += weak;
    if (k->moments == 0)
        k->winner = winner;
}

/* Ends a moment: one cause ended the waits from first to last, of which some are members. */
static void end_moment(struct finder *f, uint32_t source, uint32_t first, uint32_t last)
{
    struct herd *k = &f->herd[f->s->families->of[source]];
    uint32_t n = f->members, vain = 0;
    int64_t cost = 0;
    if (n < f->s->o->herd_readers)
        return;
    const int64_t usual = judge_members(f);
    for (uint32_t i = 0; i < n; i++) {
        vain += f->member[i].idle;
        cost += f->member[i].idle ? f->member[i].ran_ns : 0;
    }
    k->empty += vain == n;
    if (vain == n || n - vain > n / FEW)
        return;
    count_winners(f, k, usual);
    k->moments++;
    k->vain_total += vain;
    k->cost_ns = analyse_sum(k->cost_ns, cost);
    if (vain > k->vain) {
        k->vain = vain;
        k->woken = n;
        k->source = source;
        k->first = first;
        k->last = last;
    }
}

static void find_herds_of(struct finder *f, uint32_t source)
{
    const struct weft_history *h = f->h;
    uint32_t first = h->waits_for_first[source], end = h->waits_for_first[source + 1];
    uint32_t begin = first, last = first;
    struct cause cause = {.kind = BY_NOTHING};
    f->members = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct weft_wait *w = &h->wait[h->waits_for[i]];
        if (!is_woken(w))
            continue;
        struct cause now = what_woke(f, source, w);
        if (!same_moment(f, cause, now, &h->wait[h->waits_for[last]], w)) {
            end_moment(f, source, begin, last);
            f->members = 0;
            begin = i;
        }
        cause = now;
        last = i;
        f->member[f->members++].wait = h->waits_for[i];
    }
    end_moment(f, source, begin, last);
}

/* ---- Findings ---- */

static const struct weft_wait *first_winner(const struct finder *f)
{
    uint32_t i = 0;
    while (i + 1 < f->members && f->member[i].idle)
        i++;
    return &f->h->wait[f->member[i].wait];
}

static void say_herd(const struct finder *f, const struct herd *k, int64_t time)
{
    const uint32_t winners = k->woken - k->vain;
    analyse_say(f->s, SAY_HERD, PROMISE(source, k->source), AMOUNT(woken, k->woken),
                TIME(when, time), AMOUNT(vain, k->vain),
                PROMISE(winner, winners == 1 ? first_winner(f)->reader : WEFT_NONE),
                AMOUNT(winners, winners == 1 ? 0 : winners));
    if (k->moments > 1)
        analyse_say(f->s, SAY_HERDS, AMOUNT(times, k->moments), AMOUNT(vain, k->vain_total),
                    LENGTH(cost, k->cost_ns >= WORK_NS ? k->cost_ns : 0));
}

/* Adds the evidence: who signalled or resolved it, the winner and some of the others. */
static void prove_herd(const struct finder *f, const struct herd *k)
{
    enum { SHOWN = 3 };
    const struct weft_wait *w = first_winner(f);
    struct cause cause = what_woke(f, k->source, w);
    uint32_t by = cause.kind == BY_NOTIFY ? cause.notify
                  : cause.kind == BY_END  ? f->h->resolution[k->source]
                                          : WEFT_NONE;
    if (by != WEFT_NONE)
        analyse_show(f->s, f->m->interaction[by].time_ns,
                     cause.kind == BY_NOTIFY ? WEFT_EVIDENCE_SIGNALLED : WEFT_EVIDENCE_RESOLVED,
                     k->source, f->m->interaction[by].actor);
    analyse_show(f->s, w->until_ns, WEFT_EVIDENCE_WOKEN, w->reader, k->source);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < f->members; i++) {
        w = &f->h->wait[f->member[i].wait];
        if (!f->member[i].idle)
            continue;
        analyse_affects(f->s, w->reader);
        if (shown++ >= SHOWN)
            continue;
        const struct weft_wait *again = next_wait(f->h, f->member[i].wait);
        analyse_show_woken(f->s, w);
        analyse_show_waits(f->s, again);
    }
}

static uint64_t signs_of_herd(const struct finder *f, const struct herd *k)
{
    bool late = 2 * k->late > k->moments && (!k->winners_differ || k->winners > k->moments);
    bool weak = 2 * k->weak > k->moments || (k->silent == k->moments && k->moments == 1);
    /* It does not matter if what they wait for is older than the recording. */
    return analyse_signs(f->s, WEFT_ROOT) |
           (analyse_type(f->m, k->source) & ANALYSE_TIMER ? ANALYSE_T_TIMER : 0) |
           (analyse_called(f->s, k->source) & ANALYSE_FOR_ALL ? ANALYSE_CALLED : 0) |
           (k->empty > k->moments ? ANALYSE_T_EMPTY : 0) | (late ? ANALYSE_T_LATE : 0) |
           (weak ? ANALYSE_T_WEAK : 0) |
           (k->winners > FEW_WINNERS * (uint64_t)k->moments ? ANALYSE_T_SEVERAL : 0) |
           (weft_model_name(f->m, k->source) == WEFT_NONE ? ANALYSE_T_NAMELESS : 0);
}

static void report_herd(struct finder *f, const struct herd *k)
{
    f->members = 0; /* those of the worst moment again */
    for (uint32_t i = k->first; i <= k->last; i++)
        if (is_woken(&f->h->wait[f->h->waits_for[i]]))
            f->member[f->members++].wait = f->h->waits_for[i];
    judge_members(f);
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (uint32_t i = 0; i < f->members; i++) {
        int64_t woken = f->h->wait[f->member[i].wait].until_ns;
        start = weft_earlier(woken, start);
        end = weft_later(woken + f->member[i].ran_ns, end);
    }
    if (!analyse_report(f->s, WEFT_FINDING_HERD, signs_of_herd(f, k), k->source, start, end,
                        k->cost_ns))
        return;
    say_herd(f, k, start);
    f->s->finding->count = k->moments;
    prove_herd(f, k);
}

void analyse_find_herds(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.herd = analyse_take(s, s->families->count, sizeof *f.herd);
    f.length = analyse_take(s, s->h->waits, sizeof *f.length);
    f.member = analyse_take(s, s->h->waits, sizeof *f.member);
    for (uint32_t p = 1; p < f.m->promises && !s->failed; p++) {
        uint32_t waits = analyse_count(f.h->waits_for_first, p);
        if (waits >= s->o->herd_readers && f.m->promise[p].becomes == WEFT_NONE)
            find_herds_of(&f, p);
    }
    for (uint32_t i = 1; i < s->families->count && !s->failed; i++)
        if (f.herd[i].moments)
            report_herd(&f, &f.herd[i]);
}
