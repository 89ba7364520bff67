/* SPDX-License-Identifier: ISC */
/* Drift: something should happen at a fixed rate, but sets its timer again after its own work, so
 * each time comes later by the time that the work took. If it set the timer for the next full
 * period instead, the first timer, which is set before any work, would be longer than the others;
 * so they must be equally long. The timer is set by the promise that it wakes, or by the timer
 * before. */
#include <string.h>

#include "analyse/judge.h"
#include "analyse/types.h"

#define NEAR_NS INT64_C(200000) /* a timer may be late by this much, */
enum {
    NEAR = 10,  /* … or by 1/NEAR; 1/NEAR of them may be shorter */
    TIME = 4,   /* 1/TIME must be on time: none comes early, but on a busy machine many come late */
    TIMES = 10, /* how often a timer must be set again */
    SHARE = 5,  /* the work takes at least 1/SHARE of the timer */
    LINE = 10000, /* timers to follow back, each set by the one before */
};

/* One time that its timer woke it. */
struct tick {
    int64_t set_ns, over_ns, woken_ns, done_ns; /* done: the end of the run that it started */
    uint32_t timer;
};

struct finder {
    struct analyse_search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct tick *tick; /* of one handler and one sort of timer, each set by the run before */
    int64_t *length;   /* parallel to these */
    uint32_t ticks, room;
};

static bool is_near(int64_t a, int64_t b)
{
    int64_t apart = a > b ? a - b : b - a;
    return apart <= NEAR_NS || apart <= b / NEAR;
}

/* In a damaged trace a length may be anything. */
static int64_t times_ns(int64_t length_ns, uint32_t n)
{
    int64_t sum;
    return __builtin_mul_overflow(length_ns, (int64_t)n, &sum) ? INT64_MAX : sum;
}

/* who: WEFT_NONE if each timer sets the next one. */
static void report_drift(struct finder *f, uint32_t who, int64_t timer, int64_t work)
{
    enum { SHOWN = 3 };
    const struct tick *last = &f->tick[f->ticks - 1];
    const char *type = weft_model_type(f->m, last->timer);
    bool rate =
        strcmp(type, "interval") == 0 || strcmp(type, "tick") == 0 || strcmp(type, "ticker") == 0;
    if (!analyse_report(f->s, WEFT_FINDING_DRIFT,
                        analyse_signs(f->s, WEFT_ROOT) | (rate ? 0 : ANALYSE_D_PAUSE),
                        who == WEFT_NONE ? last->timer : who, f->tick[0].set_ns, last->woken_ns,
                        times_ns(work, f->ticks - 1)))
        return;
    const int64_t mean = (last->woken_ns - f->tick[0].woken_ns) / (f->ticks - 1);
    analyse_say(f->s, SAY_DRIFT, PROMISE(setter, who), FLAG(itself, who == WEFT_NONE),
                PROMISE(timer, last->timer), LENGTH(length, timer), LENGTH(work, work),
                LENGTH(mean, mean), AMOUNT(ticks, f->ticks),
                LENGTH(late, times_ns(mean - timer, f->ticks - 1)));
    f->s->finding->count = f->ticks;
    for (uint32_t i = 0; i < SHOWN; i++) {
        if (who == WEFT_NONE)
            analyse_show(f->s, f->tick[i].woken_ns, WEFT_EVIDENCE_RUNS, f->tick[i].timer,
                         WEFT_NONE);
        else
            analyse_show(f->s, f->tick[i].woken_ns, WEFT_EVIDENCE_WOKEN, who, f->tick[i].timer);
        analyse_show_created(f->s, f->tick[i + 1].timer);
    }
}

static void report_if_late(struct finder *f, uint32_t who)
{
    if (f->s->failed || f->ticks <= TIMES)
        return;
    const uint32_t n = f->ticks - 1;
    for (uint32_t i = 0; i < n; i++) /* the work, before all ticks but the first */
        f->length[i] = f->tick[i + 1].set_ns - f->tick[i].woken_ns;
    const int64_t work = analyse_median(f->length, n);
    for (uint32_t i = 0; i < n; i++)
        f->length[i] = f->tick[i + 1].over_ns - f->tick[i + 1].set_ns;
    analyse_median(f->length, n);              /* sorts them */
    const int64_t timer = f->length[n / NEAR]; /* how long they were set for: few were shorter */
    const int64_t first = f->tick[0].over_ns - f->tick[0].set_ns;
    uint32_t near = 0;
    for (uint32_t i = 0; i < f->ticks; i++)
        near += is_near(f->tick[i].over_ns - f->tick[i].set_ns, timer);
    const bool is_first =
        is_near(first, timer) || (first > timer && first - timer < work - work / TIME); /* late */
    if (near >= f->ticks / TIME && is_first && work >= timer / SHARE && work > NEAR_NS)
        report_drift(f, who, timer, work);
}

static void add_tick(struct finder *f, struct tick x)
{
    analyse_append(f->s, &f->tick, &f->ticks, &f->room, &x, sizeof x);
}

/* Timers of which each has set the next one, up to the last of them. */
static void follow_timers(struct finder *f, uint32_t last)
{
    uint32_t line[LINE], n = analyse_timer_line(f->s, last, line, LINE);
    f->ticks = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_run *r = &f->m->run[f->h->runs_of[f->h->runs_of_first[line[i]]]];
        add_tick(f, (struct tick){f->m->promise[line[i]].start_ns, r->start_ns, r->start_ns,
                                  r->end_ns, line[i]});
    }
    report_if_late(f, WEFT_NONE);
}

/* Examines the runs of one promise that were started by a timer which the run before had set. */
static void follow_handler(struct finder *f, uint32_t p)
{
    const struct weft_history *h = f->h;
    const uint32_t *of = f->s->families->of;
    f->ticks = 0;
    for (uint32_t i = h->runs_of_first[p]; i < h->runs_of_first[p + 1] && !f->s->failed; i++) {
        const struct weft_run *r = &f->m->run[h->runs_of[i]];
        const uint32_t timer = analyse_run_read(h, h->runs_of[i]);
        if (timer == WEFT_NONE)
            continue;
        const struct tick *last = f->ticks ? &f->tick[f->ticks - 1] : NULL;
        int64_t set = f->m->promise[timer].start_ns, over = weft_history_resolved_ns(h, timer);
        if (!analyse_is_timer(f->m, timer) || over > r->start_ns)
            continue;
        if (last && (of[timer] != of[last->timer] || set < last->woken_ns || set > last->done_ns)) {
            report_if_late(f, p);
            f->ticks = 0;
        }
        add_tick(f, (struct tick){set, over, r->start_ns, r->end_ns, timer});
    }
    report_if_late(f, p);
}

void analyse_find_drift(struct analyse_search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    f.length = analyse_take(s, s->m->runs, sizeof *f.length); /* each tick begins another run */
    uint32_t *newest = analyse_take(s, s->families->count, sizeof *newest); /* that went off */
    for (uint32_t p = 1; p < f.m->promises && !s->failed; p++) {
        const uint32_t runs = analyse_count(f.h->runs_of_first, p);
        if (runs > TIMES)
            follow_handler(&f, p);
        if (runs && analyse_is_timer(f.m, p))
            newest[s->families->of[p]] = p;
    }
    for (uint32_t i = 0; i < s->families->count && !s->failed; i++)
        if (newest[i] != WEFT_ROOT)
            follow_timers(&f, newest[i]);
}
