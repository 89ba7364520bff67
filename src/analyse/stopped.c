/* SPDX-License-Identifier: ISC */
/* Something continued again and again, waited again each time, and after the last time did not: a
 * timer that nobody set again, a reader that is no longer notified. It is pending, does not run,
 * and waits for nothing. Or each time it is another timer, set by the one before, and the last sets
 * none. */
#include "analyse/judge.h"
#include "analyse/types.h"

enum {
    TIMES = 10,  /* how often it continued, at least */
    IDLE = 10,   /* times its usual gap */
    RARE = 10,   /* it may be late once in this many times */
    LIKE = 3,    /* of its sort, for knowing what they do */
    LINE = 1000, /* timers to follow back, each set by the one before */
};

/* One time that it continued: it had waited since from_ns. */
struct round {
    int64_t from_ns, to_ns;
    uint32_t source;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct round *round; /* of the current promise */
    int64_t *gap;        /* … from one to the next */
    uint32_t rounds, room;
    struct sort {
        uint32_t awaited;        /* promises that somebody waits for at the end */
        uint32_t waiting, still; /* … those that wait at the end, and pending ones that do not */
        uint32_t ended, newest;
    } * sort; /* by family */
};

struct stop {
    uint32_t promise;
    int64_t usual_ns, last_ns; /* last_ns: since when it has done nothing */
};

/* Returns true if it waits when the trace ends; besides what comes again and again, waits for
 * something that is meant to be pending for long do not count. */
static bool is_waiting(const struct finder *f, uint32_t p)
{
    uint32_t first = f->h->waits_of_first[p], end = f->h->waits_of_first[p + 1];
    for (uint32_t i = end; i > first; i--) {
        const struct weft_wait *w = &f->h->wait[f->h->waits_of[i - 1]];
        if (w->end == WEFT_WAIT_OPEN &&
            (i == end || !f->m->promise[weft_model_final(f->m, w->source)].background))
            return true;
    }
    return false;
}

/* ---- Rounds ---- */

static void add_round(struct finder *f, struct round x)
{
    struct round *last = f->rounds ? &f->round[f->rounds - 1] : NULL;
    if (last && x.to_ns <= last->to_ns) /* it waited for several things */
        last->from_ns = weft_earlier(x.from_ns, last->from_ns);
    else
        analyse_append(f->s, &f->round, &f->rounds, &f->room, &x, sizeof x);
}

/* Its waits; or, if it reports none, what made it run, from its creation on. */
static void find_rounds(struct finder *f, uint32_t p)
{
    const struct weft_history *h = f->h;
    f->rounds = 0;
    analyse_each(i, h->waits_of_first, p) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (analyse_is_served(w))
            add_round(f, (struct round){w->from_ns, w->until_ns, w->source});
    }
    if (analyse_count(h->waits_of_first, p) > 0)
        return;
    analyse_each(i, h->runs_of_first, p) {
        const uint32_t source = analyse_run_read(h, h->runs_of[i]);
        if (source != WEFT_NONE && source != WEFT_ROOT)
            add_round(f, (struct round){f->m->promise[source].start_ns,
                                        f->m->run[h->runs_of[i]].start_ns, source});
    }
}

/* Since when it has done nothing. */
static int64_t idle_since(const struct finder *f, uint32_t p)
{
    const uint32_t run = weft_history_last_run(f->h, p);
    const int64_t last = f->round[f->rounds - 1].to_ns;
    return run == WEFT_NONE ? last : weft_later(f->m->run[run].end_ns, last);
}

/* Returns true if it nearly always began to wait at once, and now for long has not. */
static bool has_stopped(struct finder *f, struct stop *x)
{
    uint32_t n = f->rounds - 1, late = 0;
    int64_t idle = f->m->end_ns - x->last_ns, away = 0;
    for (uint32_t i = 0; i < n; i++)
        f->gap[i] = f->round[i + 1].to_ns - f->round[i].to_ns;
    x->usual_ns = analyse_median(f->gap, n); /* sorts them */
    for (uint32_t i = 0; i < n; i++) {
        int64_t gap = f->round[i + 1].from_ns - f->round[i].to_ns;
        away = weft_later(gap, away);
        late += gap > x->usual_ns / 2;
    }
    return late <= n / RARE && idle >= f->s->o->hang_ns && idle / IDLE >= x->usual_ns &&
           idle / IDLE >= away && idle / 2 >= f->gap[n - 1];
}

/* ---- Signs ---- */

/* Returns true if something that it has created since then is pending: it may wake it. */
static bool is_armed(const struct finder *f, const struct stop *x)
{
    for (uint32_t i = weft_history_child_from(f->h, x->promise, f->round[f->rounds - 1].to_ns);
         i < f->h->children_first[x->promise + 1]; i++)
        if (analyse_is_pending(f->m, weft_model_final(f->m, f->h->children[i])))
            return true;
    return false;
}

static bool is_needed(const struct finder *f, uint32_t p)
{
    analyse_each(i, f->h->waits_for_first, p)
        if (f->h->wait[f->h->waits_for[i]].end == WEFT_WAIT_OPEN)
            return true;
    for (uint32_t i = f->m->promise[p].first_interaction; i != WEFT_NONE;
         i = f->m->interaction[i].next) {
        const struct weft_interaction *a = &f->m->interaction[i];
        if (a->kind == WEFT_RESOLVES && f->sort[f->s->families->of[a->other]].awaited)
            return true;
    }
    return false;
}

/* Returns true if what it had waited for was signalled again, and nobody waited. */
static bool comes_later(const struct finder *f, const struct stop *x)
{
    const struct weft_history *h = f->h;
    const struct round *last = &f->round[f->rounds - 1];
    uint32_t source = last->source, i = weft_history_notified_from(h, source, x->last_ns + 1);
    if (i == h->notified_first[source + 1])
        return false;
    analyse_each(k, h->waits_for_first, source)
        if (h->wait[h->waits_for[k]].until_ns > last->to_ns)
            return false;
    return true;
}

static uint64_t signs_of_stop(const struct finder *f, const struct stop *x)
{
    const uint32_t p = x->promise;
    const struct sort *k = &f->sort[f->s->families->of[p]];
    const uint32_t source = weft_model_final(f->m, f->round[f->rounds - 1].source);
    const enum weft_outcome outcome = f->m->promise[source].outcome;
    uint32_t timers = 0; /* that woke it */
    for (uint32_t i = 0; i < f->rounds; i++)
        timers += analyse_is_timer(f->m, f->round[i].source);
    return analyse_signs(f->s, p) | (timers == f->rounds ? ANALYSE_A_TIMER : 0) |
           (f->m->promise[p].background ? ANALYSE_A_BACKGROUND : 0) |
           (comes_later(f, x) ? ANALYSE_A_LATER : 0) | (is_needed(f, p) ? ANALYSE_A_NEEDED : 0) |
           (k->waiting >= LIKE && k->still == 1 ? ANALYSE_A_ALONE : 0) |
           (k->ended >= LIKE ? ANALYSE_A_ENDS : 0) |
           (outcome == WEFT_FAILED || outcome == WEFT_CANCELLED ? ANALYSE_A_FAILED : 0);
}

/* ---- Findings ---- */

/* line: a line of timers has ended. */
static void report_stop(struct finder *f, const struct stop *x, bool line)
{
    const struct weft_history *h = f->h;
    const struct round *last = &f->round[f->rounds - 1];
    const bool failed = analyse_has_failed(f->m, x->promise);
    const uint64_t signs = !line ? signs_of_stop(f, x)
                                 : analyse_signs(f->s, x->promise) | ANALYSE_A_TIMER |
                                       ANALYSE_A_LINE | (failed ? ANALYSE_A_FAILED : 0);
    if (!analyse_report(f->s, WEFT_FINDING_STOPPED, signs, x->promise, last->to_ns, INT64_MAX,
                        f->m->end_ns - x->last_ns))
        return;
    analyse_say(f->s, line ? SAY_TIMER_STOPPED : SAY_STOPPED, FLAG(failed, failed),
                SORT(sort, f->s->families->of[x->promise]), PROMISE(promise, x->promise),
                AMOUNT(rounds, f->rounds), LENGTH(usual, x->usual_ns), TIME(last, last->to_ns),
                PROMISE(source, last->source), LENGTH(idle, f->m->end_ns - x->last_ns));
    for (const struct round *r = last - 2; r <= last; r++)
        if (line) {
            analyse_show_created(f->s, r->source);
            analyse_show(f->s, r->to_ns, WEFT_EVIDENCE_RUNS, r->source, WEFT_NONE);
        } else {
            analyse_show(f->s, r->from_ns, WEFT_EVIDENCE_WAITS, x->promise, r->source);
            analyse_show(f->s, r->to_ns, WEFT_EVIDENCE_WOKEN, x->promise, r->source);
        }
    if (line)
        return;
    analyse_show(f->s, f->m->end_ns, WEFT_EVIDENCE_PENDING, x->promise, WEFT_NONE);
    analyse_each(i, h->waits_for_first, x->promise)
        if (h->wait[h->waits_for[i]].end == WEFT_WAIT_OPEN)
            analyse_affects(f->s, h->wait[h->waits_for[i]].reader);
}

static void find_stop(struct finder *f, uint32_t p)
{
    struct stop x = {.promise = p};
    const uint32_t run = weft_history_last_run(f->h, p), *of = f->s->families->of;
    uint32_t like = 0;
    if (run != WEFT_NONE && run >= f->m->runs_ended) /* it runs still */
        return;
    find_rounds(f, p);
    if (f->rounds < TIMES)
        return;
    x.last_ns = idle_since(f, p);
    for (uint32_t i = 0; i + 1 < f->rounds; i++)
        like += of[f->round[i].source] == of[f->round[f->rounds - 1].source];
    /* like: otherwise something woke it that had not woken it before */
    if (f->m->resumed_ns < x.last_ns && has_stopped(f, &x) && like >= f->rounds / RARE &&
        !is_armed(f, &x))
        report_stop(f, &x, false);
}

/* ---- Timers of which each sets the next one ---- */

/* The newest timer of its sort. */
static void find_stopped_timers(struct finder *f, uint32_t p)
{
    struct stop x = {.promise = p};
    const enum weft_outcome outcome = f->m->promise[p].outcome;
    uint32_t line[LINE];
    if (outcome != WEFT_FULFILLED && outcome != WEFT_FAILED && outcome != WEFT_RESOLVED)
        return;
    const uint32_t n = analyse_timer_line(f->s, p, line, LINE);
    f->rounds = 0;
    for (uint32_t i = 0; i < n && n >= TIMES; i++) {
        const uint32_t first = f->h->runs_of_first[line[i]];
        add_round(f, (struct round){f->m->promise[line[i]].start_ns,
                                    f->m->run[f->h->runs_of[first]].start_ns, line[i]});
    }
    if (f->rounds < TIMES)
        return;
    x.last_ns = idle_since(f, p);
    if (f->m->resumed_ns < f->round[0].from_ns && has_stopped(f, &x) && !is_armed(f, &x))
        report_stop(f, &x, true);
}

/* ---- All ---- */

/* Counts what the others of each sort do when the trace ends. */
static void count_sorts(struct finder *f)
{
    const uint32_t *of = f->s->families->of;
    for (uint32_t i = 0; i < f->h->waits; i++) {
        const struct weft_wait *w = &f->h->wait[i];
        f->sort[of[w->source]].awaited += w->end == WEFT_WAIT_OPEN;
    }
    for (uint32_t p = 1; p < f->m->promises; p++) {
        struct sort *k = &f->sort[of[p]];
        const bool pending = analyse_is_pending(f->m, p), waits = pending && is_waiting(f, p);
        if (f->m->promise[p].start_ns >= f->m->promise[k->newest].start_ns)
            k->newest = p;
        k->ended += !pending;
        k->waiting += waits;
        k->still += pending && !waits;
    }
}

void analyse_find_stopped(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.gap = analyse_take(s, (uint64_t)s->h->waits + s->m->runs, sizeof *f.gap);
    f.sort = analyse_take(s, s->families->count, sizeof *f.sort);
    if (!s->failed)
        count_sorts(&f);
    for (uint32_t p = 1; p < f.m->promises && !s->failed; p++)
        if (f.sort[s->families->of[p]].newest == p && analyse_is_timer(f.m, p))
            find_stopped_timers(&f, p);
        else if (analyse_is_pending(f.m, p) && !is_waiting(&f, p))
            find_stop(&f, p);
}
