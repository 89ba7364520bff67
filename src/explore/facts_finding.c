/* SPDX-License-Identifier: ISC */
/* The facts of what an analysis has found: a finding, a path, two traces compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/fact.h"

enum { AFFECTED_SHOWN = 12, SHARES_SHOWN = 8, CHANGES_SHOWN = 20, LATENCIES_SHOWN = 8 };

static const struct weft__target nowhere = {.promise = WEFT_NONE};

void weft__put_share(struct weft__text *t, const struct weft_model *m, const struct weft_share *s)
{
    weft__put_length(t, s->total_ns);
    if (weft_step_is_behind(s->kind)) {
        bool ready = s->kind == WEFT_STEP_READY;
        weft__put(t, ready ? " ready" : " the loop was blocked");
        if (s->promise != WEFT_NONE) {
            weft__put(t, ready ? " behind " : " by ");
            weft__put_name(t, m, s->promise);
        }
        return;
    }
    if (s->promise != WEFT_NONE && !weft_step_is_halt(s->kind)) {
        weft__put(t, " ");
        weft__put_name(t, m, s->promise);
    }
    weft__put(t, s->promise != WEFT_NONE ? " (%s)" : " %s", weft_step_name(s->kind));
}

/* Takes what is in t as a fact. */
static void take(struct weft__facts *f, const char *name, struct weft__text *t, enum weft_link link,
                 struct weft__target target)
{
    f->failed |= t->failed;
    weft__fact_long(f, name, t->text ? t->text : "", link, target);
    weft__text_fini(t);
}

/* ---- A finding ---- */

static void add_evidence(struct weft__facts *f, const struct weft_model *m,
                         const struct weft_finding *x)
{
    char number[WEFT__FACT_NUMBER];
    if (!x->evidences)
        return;
    weft__fact_heading(f, "What shows it");
    for (uint32_t i = 0; i < x->evidences; i++) {
        const struct weft_evidence *v = &x->evidence[i];
        struct weft__text t = {0};
        snprintf(number, sizeof number, "%u", i + 1);
        weft__put(&t, "at ");
        weft__put_time(&t, v->time_ns);
        weft__put(&t, ": ");
        weft_evidence_say(&t, m, x, i);
        take(f, number, &t, WEFT_LINK_MOMENT,
             (struct weft__target){.promise = v->promise, .time_ns = v->time_ns});
    }
}

static void add_affected(struct weft__facts *f, const struct weft_scene *s,
                         const struct weft_finding *x)
{
    uint32_t shown = 0;
    if (!x->affected_total)
        return;
    weft__fact_heading(f, "Affected by it");
    for (; shown < x->affecteds && shown < AFFECTED_SHOWN; shown++)
        weft__fact_promise(f, "", s, x->affected[shown], "%s", "");
    weft__fact_more(f, x->affected_total, shown);
}

int weft__facts_of_finding(struct weft__facts *f, const struct weft_scene *s, uint32_t finding,
                           uint32_t shown)
{
    const struct weft_finding *x = &f->analysis->findings.finding[finding];
    weft__fact_begin(f);
    if (finding < shown)
        weft__fact_heading(f, "Finding %u of %u: %s", finding + 1, shown,
                           weft_finding_name(x->kind));
    else
        weft__fact_heading(f, "Finding %u: %s", finding + 1, weft_finding_name(x->kind));
    weft__fact_long(f, weft_confidence_name(x->confidence), x->text ? x->text : "",
                    WEFT_LINK_FINDING, (struct weft__target){.promise = finding});
    if (x->confidence == WEFT_CERTAIN)
        weft__fact_bad(f);
    if (x->doubt)
        weft__fact_long(f, "not sure", x->doubt, WEFT_LINK_NONE, nowhere);
    if (x->count > 1)
        weft__fact_text(f, "found", "%s times; this is the worst", weft_count(x->count).text);
    if (x->cost_ns > 0)
        weft__fact_text(f, "cost", "%s", weft_duration(x->cost_ns).text);
    weft__fact_long(f, "what helps", weft_finding_hint(x->kind), WEFT_LINK_NONE, nowhere);
    add_evidence(f, s->m, x);
    add_affected(f, s, x);
    return weft__fact_end(f);
}

/* ---- A path ---- */

void weft__fact_path(struct weft__facts *f, const struct weft_scene *s,
                     const struct weft_path *path)
{
    uint32_t count = 0, shown = 0;
    struct weft_share *share = weft_path_shares(path, s->m, &count);
    int64_t all = path->step[path->count - 1].to_ns - path->step[0].from_ns;
    f->failed |= !share;
    weft__fact_heading(f, "Critical path");
    weft__fact_text(f, "in all", "%s, from its creation to %s", weft_duration(all).text,
                    path->pending ? "the end of the trace" : "its resolution");
    for (; share && shown < count && shown < SHARES_SHOWN; shown++) {
        struct weft__text t = {0};
        weft__put_share(&t, s->m, &share[shown]);
        uint32_t promise = share[shown].promise;
        bool leads = promise != WEFT_NONE && promise != WEFT_ROOT;
        take(f, weft__share((uint64_t)share[shown].total_ns, all > 0 ? (uint64_t)all : 0).text, &t,
             leads ? WEFT_LINK_PROMISE : WEFT_LINK_NONE, (struct weft__target){.promise = promise});
    }
    weft__fact_more(f, count, shown);
    free(share);
}

/* ---- Two traces compared ---- */

static void add_change(struct weft__facts *f, const struct weft_change_found *c)
{
    static const char *const names[] = {[WEFT_CHANGE_MISSING] = "missing",
                                        [WEFT_CHANGE_ADDED] = "added",
                                        [WEFT_CHANGE_OUTCOME] = "outcome",
                                        [WEFT_CHANGE_UNREAD] = "not used",
                                        [WEFT_CHANGE_TYPE] = "type"};
    unsigned pane = c->bad != WEFT_NONE;
    uint32_t promise = pane ? c->bad : c->good;
    bool leads = promise != WEFT_NONE && promise != WEFT_ROOT;
    bool named = c->kind < sizeof names / sizeof *names && names[c->kind];
    weft__fact_long(f, named ? names[c->kind] : "other", c->text ? c->text : "",
                    leads ? WEFT_LINK_PROMISE : WEFT_LINK_NONE,
                    (struct weft__target){.promise = promise, .pane = pane});
}

static void add_in_bad(struct weft__facts *f, const char *name, const char *text, uint32_t promise)
{
    bool leads = promise != WEFT_NONE && promise != WEFT_ROOT;
    weft__fact_long(f, name, text ? text : "", leads ? WEFT_LINK_PROMISE : WEFT_LINK_NONE,
                    (struct weft__target){.promise = promise, .pane = 1});
}

/* The event as each run has it. */
static void add_event(struct weft__facts *f, const struct weft_scene *s, unsigned pane,
                      const char *name, uint32_t promise, int64_t time_ns)
{
    struct weft__text t = {0};
    if (time_ns == INT64_MIN || promise == WEFT_NONE)
        return;
    weft__put(&t, pane ? "in the bad run at " : "in the good run at ");
    weft__put_time(&t, time_ns);
    weft__put(&t, ": ");
    weft__put_full(&t, s->m, promise);
    take(f, name, &t, WEFT_LINK_MOMENT,
         (struct weft__target){.promise = promise, .time_ns = time_ns, .pane = pane});
}

int weft__facts_of_diff(struct weft__facts *f, const struct weft_scene *good,
                        const struct weft_scene *bad, const struct weft_diff *d)
{
    const struct weft_divergence *v = &d->divergence;
    weft__fact_begin(f);
    if (!good)
        return weft__fact_end(f);
    weft__fact_heading(f, "Difference");
    weft__fact_long(f, v->found ? "diverges" : "",
                    v->text        ? v->text
                    : v->found     ? "here"
                    : d->strangers ? "hardly anything in one run has a counterpart in the other"
                    : !weft_diff_any(d) ? "none that matters was found"
                                        : "none in the order of what depends on each other",
                    v->found ? WEFT_LINK_DIFF : WEFT_LINK_NONE, nowhere);
    if (d->swapped)
        weft__fact_long(f, "swapped", d->swapped, WEFT_LINK_NONE, nowhere);
    if (d->doubt)
        weft__fact_long(f, "not sure", d->doubt, WEFT_LINK_NONE, nowhere);
    if (v->found) {
        add_event(f, good, 0, "1", v->good_first, v->good_first_ns);
        add_event(f, good, 0, "2", v->good_second, v->good_second_ns);
        add_event(f, bad, 1, "1", v->bad_first, v->bad_first_ns);
        add_event(f, bad, 1, "2", v->bad_second, v->bad_second_ns);
    }
    for (uint32_t i = 0; i < d->orders; i++)
        add_in_bad(f, "order", d->order[i].text, d->order[i].bad_first);
    uint32_t shown = 0;
    for (; shown < d->changes && shown < CHANGES_SHOWN; shown++)
        add_change(f, &d->change[shown]);
    weft__fact_more(f, d->changes + d->changes_left_out, shown);
    for (shown = 0; shown < d->latencies && shown < LATENCIES_SHOWN; shown++)
        add_in_bad(f, "latency", d->latency[shown].text, d->latency[shown].bad);
    weft__fact_more(f, d->latencies, shown);
    for (shown = 0; shown < d->runnings && shown < LATENCIES_SHOWN; shown++)
        add_in_bad(f, "running", d->running[shown].text, d->running[shown].bad);
    weft__fact_more(f, d->runnings, shown);
    return weft__fact_end(f);
}
