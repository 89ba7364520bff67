/* SPDX-License-Identifier: ISC */
/* Facts about a trace as a whole, and what to look at first. */
#include <stdio.h>
#include <string.h>

#include "explore/fact.h"
#include "view/overview.h"

enum { FINDINGS_SHOWN = 30 };

/* named: the first row gets that fact's name. */
static void add_list(struct explore_facts *f, const struct weft_scene *s, enum explore_fact which,
                     bool named, const struct weft_greatest *few, uint64_t all, bool bad)
{
    for (uint32_t i = 0; i < few->count; i++) {
        explore_say_promise(f, s, which, few->item[i], i || !named);
        if (bad)
            explore_fact_bad(f);
    }
    explore_fact_more(f, all, few->count);
}

/* The longest wait without an end, up to the promise that is not known to wait for anything. */
static void add_hang(struct explore_facts *f, const struct weft_scene *s)
{
    const struct weft_hung *x = f->hung;
    explore_say(f, explore_promise(s, x->waiter, false), FACT_LONGEST_WAIT,
                TEXT(promise, explore_named(s, x->waiter).text), TIME(since, x->since_ns));
    explore_say_promise(f, s, FACT_LONGEST_WAIT_FOR, x->source, false);
    if (x->end != x->source)
        explore_say_promise(f, s, FACT_LONGEST_WAIT_END, x->end, false);
    struct explore_dealings d;
    if (explore_dealings_find(&d, f->history, x->end, s->l->raw) < 0)
        f->failed = true;
    else if (d.notified_in_vain)
        explore_fact_in_vain(f, FACT_NOTIFIED_IN_VAIN, FACT_NOTIFIED_IN_VAIN_ONCE, &d);
}

/* If there are findings, they say what hangs and why. */
static void add_hint(struct explore_facts *f, const struct weft_scene *s, bool has_findings)
{
    const struct weft_overview *o = s->o;
    const uint64_t failed = o->outcome[WEFT_FAILED];
    explore_heading(f, has_findings ? FACT_LOOK_ALSO_HEAD : FACT_LOOK_HEAD);
    if (o->overdue && !has_findings) {
        explore_say_count(f, FACT_NEVER_RESOLVED, o->overdue);
        explore_fact_bad(f);
        add_list(f, s, FACT_LONGEST, false, &o->longest_overdue, o->overdue, true);
    }
    if (f->hung && f->hung->waiting && !has_findings) {
        explore_say_count(f, FACT_STILL_WAITING, f->hung->waiting);
        add_hang(f, s);
    }
    if (failed) {
        explore_say_count(f, FACT_FAILED, failed);
        explore_fact_bad(f);
        add_list(f, s, FACT_LONGEST, false, &o->first_failed, failed, true);
    }
    add_list(f, s, FACT_LONGEST, true, &o->longest, 0, false);
}

static void add_contradictions(struct explore_facts *f, const struct weft_model *m)
{
    const struct weft_contradictions *x = &m->contradictions;
    uint64_t all = x->created_twice + x->resolved_twice + x->circles + x->on_loop;
    if (m->promoted_events)
        explore_say_count(f, FACT_OLDER_EVENTS, m->promoted_events);
    if (all) {
        explore_say_count(f, FACT_CONTRADICTIONS, all);
        explore_fact_bad(f);
    }
    if (m->damage.backward_times) {
        explore_say_count(f, FACT_BACKWARD, m->damage.backward_times);
        explore_fact_bad(f);
    }
}

/* Adds the findings that are at least likely, or else some that are possible; returns true if there are likely ones.
 * missing: something of the trace is not there. */
static bool add_findings(struct explore_facts *f, const struct weft_model *m, bool missing)
{
    const struct weft_findings *all = f->analysis ? &f->analysis->findings : NULL;
    const uint32_t chosen = explore_findings_shown(f->analysis);
    const bool likely = chosen && all->finding[0].confidence >= WEFT_LIKELY;
    uint32_t shown = 0;
    if (!all && !f->analysing)
        return false;
    explore_heading(f, FACT_FINDINGS_HEAD);
    if (!all) {
        explore_say(f, explore_nowhere(), FACT_LOOKING_FOR_FAULTS);
        return false;
    }
    if (chosen && !likely)
        explore_say(f, explore_nowhere(), FACT_ONLY_POSSIBLE);
    for (; shown < chosen && shown < FINDINGS_SHOWN; shown++) {
        const struct weft_finding *x = &all->finding[shown];
        explore_say(f, explore_long(WEFT_LINK_FINDING, (struct explore_target){.promise = shown}),
                    FACT_FOUND_KIND, TEXT(kind, weft_finding_name(x->kind)), TEXT(text, x->text));
        if (x->confidence == WEFT_CERTAIN)
            explore_fact_bad(f);
    }
    explore_fact_more(f, chosen, shown);
    if (all->count + all->left_out > chosen)
        explore_say_count(f, FACT_POSSIBLE_TOO, (uint64_t)all->count + all->left_out - chosen);
    if (chosen == 0)
        explore_say(f, explore_nowhere(),
                    weft_model_is_empty(m) ? FACT_NOTHING_RECORDED
                    : missing              ? FACT_NOTHING_FOUND_THERE
                                           : FACT_NOTHING_FOUND);
    return likely;
}

/* When the first event was; without the C library's calendar, which the page does not have. Here years begin in March,
 * so that a leap day is the last day of a year. */
static void add_date(struct explore_facts *f, int64_t wall_ns)
{
    const int64_t day_ns = INT64_C(86400000000000), of_400_years = 146097, of_100 = 36524,
                  of_4 = 1461;
    int64_t day = wall_ns / day_ns + 719468, ns = wall_ns % day_ns; /* since March 1, 0 */
    int64_t year = day / of_400_years * 400;
    day %= of_400_years;
    int64_t centuries = day / of_100 < 4 ? day / of_100 : 3;
    day -= centuries * of_100;
    int64_t fours = day / of_4;
    day %= of_4;
    int64_t years = day / 365 < 4 ? day / 365 : 3;
    day -= years * 365;
    int64_t month = (5 * day + 2) / 153;
    year += centuries * 100 + fours * 4 + years + (month >= 10);
    int seconds = (int)(ns / 1000000000);
    char when[EXPLORE_FACT_BYTES];
    snprintf(when, sizeof when, "%d-%02d-%02d %02d:%02d:%02d.%06d UTC", (int)year,
             (int)(month < 10 ? month + 3 : month - 9), (int)(day - (153 * month + 2) / 5 + 1),
             seconds / 3600, seconds / 60 % 60, seconds % 60, (int)(ns % 1000000000 / 1000));
    explore_say(f, explore_nowhere(), FACT_BEGAN, TEXT(when, when));
}

int explore_facts_of_trace(struct explore_facts *f, const struct weft_scene *s, const char *title)
{
    const struct weft_model *m = s->m;
    explore_fact_begin(f);
    const bool missing = explore_fact_missing(f, m);
    bool has_findings = add_findings(f, m, missing);
    if (title && title[0])
        explore_heading(f, FACT_TITLE_HEAD, TEXT(title, title));
    else
        explore_heading(f, FACT_TRACE_HEAD);
    if (m->has_wall)
        add_date(f, m->wall_ns);
    if (f->axis)
        explore_say(f, explore_nowhere(), FACT_AXIS, TEXT(axis, f->axis));
    explore_say(f, explore_nowhere(), FACT_SPAN, LENGTH(length, m->end_ns));
    explore_say(f, explore_nowhere(), FACT_EVENTS, AMOUNT(count, m->events_total),
                FLAG(about, false));
    explore_say_count(f, FACT_PROMISES, m->promises - 1);
    if (s->p && s->p->overwritten)
        explore_say_count(f, FACT_SAMPLES_OVERWRITTEN, s->p->overwritten);
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        if (s->o->outcome[o]) {
            explore_say(f, explore_nowhere(), FACT_OUTCOME,
                        TEXT(outcome, weft_outcome_name((enum weft_outcome)o)),
                        AMOUNT(count, s->o->outcome[o]));
            if (o == WEFT_FAILED)
                explore_fact_bad(f);
        }
    explore_say_count(f, FACT_ROWS, s->l->rows);
    if (f->hidden)
        explore_say_count(f, FACT_HIDDEN_PROMISES, f->hidden);
    if (m->counters)
        explore_say_count(f, FACT_COUNTERS, m->counters);
    add_contradictions(f, m);
    if (m->promises > 1)
        add_hint(f, s, has_findings);
    explore_fact_hot_trace(f, s);
    return explore_fact_end(f);
}
