/* SPDX-License-Identifier: ISC */
/* Facts about what an analysis has found: a finding, a path, two traces compared. */
#include <stdlib.h>

#include "explore/fact.h"

enum { AFFECTED_SHOWN = 12, SHARES_SHOWN = 8, CHANGES_SHOWN = 20, LATENCIES_SHOWN = 8 };

void explore_put_share(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_share *s)
{
    const bool known = s->promise != WEFT_NONE, behind = weft_step_is_behind(s->kind);
    const enum explore_fact which = behind && s->kind == WEFT_STEP_READY ? FACT_SHARE_READY
                                    : behind                             ? FACT_SHARE_BLOCKED
                                    : !known                             ? FACT_SHARE_OTHER
                                    : weft_step_is_halt(s->kind)         ? FACT_SHARE_HALT
                                                                         : FACT_SHARE_OF;
    const struct analyse_slot slots[] = {LENGTH(length, s->total_ns), PROMISE(promise, s->promise),
                                         TEXT(kind, weft_step_name(s->kind))};
    analyse_fill(t, m, NULL, explore_fact_text(which), slots, sizeof slots / sizeof *slots);
}

/* ---- A finding ---- */

/* Adds a text that the caller has composed as a fact of its own. */
static void say_text(struct explore_facts *f, struct explore_link to, enum explore_fact which,
                     const char *text)
{
    explore_say(f, to, which, TEXT(text, text));
}

static void add_evidence(struct explore_facts *f, const struct weft_model *m,
                         const struct weft_finding *x)
{
    if (x->evidences)
        explore_heading(f, FACT_EVIDENCE_HEAD);
    for (uint32_t i = 0; i < x->evidences; i++) {
        const struct weft_evidence *v = &x->evidence[i];
        struct analyse_text t = {0};
        weft_evidence_say(&t, m, x, i);
        f->failed |= t.failed;
        explore_say(f,
                    explore_long(WEFT_LINK_MOMENT, (struct explore_target){.promise = v->promise,
                                                                           .time_ns = v->time_ns}),
                    FACT_EVIDENCE, NUMBER(number, i + 1), TIME(when, v->time_ns),
                    TEXT(text, t.text));
        analyse_text_fini(&t);
    }
}

static void add_affected(struct explore_facts *f, const struct weft_scene *s,
                         const struct weft_finding *x)
{
    uint32_t shown = 0;
    if (!x->affected_total)
        return;
    explore_heading(f, FACT_AFFECTED_HEAD);
    for (; shown < x->affecteds && shown < AFFECTED_SHOWN; shown++)
        explore_say_promise(f, s, FACT_AFFECTED, x->affected[shown], false);
    explore_fact_more(f, x->affected_total, shown);
}

int explore_facts_of_finding(struct explore_facts *f, const struct weft_scene *s, uint32_t finding,
                             uint32_t shown)
{
    const struct weft_finding *x = &f->analysis->findings.finding[finding];
    const struct explore_link nowhere = explore_nowhere();
    const struct explore_link long_one = explore_long(WEFT_LINK_NONE, nowhere.target);
    explore_fact_begin(f);
    explore_heading(f, finding < shown ? FACT_FINDING_OF : FACT_FINDING,
                    NUMBER(number, finding + 1), NUMBER(all, shown),
                    TEXT(kind, weft_finding_name(x->kind)));
    explore_say(f, explore_long(WEFT_LINK_FINDING, (struct explore_target){.promise = finding}),
                FACT_FINDING_TEXT, TEXT(confidence, weft_confidence_name(x->confidence)),
                TEXT(text, x->text));
    if (x->confidence == WEFT_CERTAIN)
        explore_fact_bad(f);
    if (x->doubt)
        explore_say(f, long_one, FACT_NOT_SURE, TEXT(doubt, x->doubt));
    if (x->count > 1)
        explore_say(f, nowhere, FACT_FOUND, AMOUNT(count, x->count));
    if (x->cost_ns > 0)
        explore_say(f, nowhere, FACT_COST, LENGTH(length, x->cost_ns));
    explore_say(f, long_one, FACT_HELPS, TEXT(hint, weft_finding_hint(x->kind)));
    add_evidence(f, s->m, x);
    add_affected(f, s, x);
    return explore_fact_end(f);
}

/* ---- A path ---- */

/* A long text that links to a promise, if there is one. */
static struct explore_link to_promise(uint32_t promise, unsigned pane)
{
    const bool leads = promise != WEFT_NONE && promise != WEFT_ROOT;
    return explore_long(leads ? WEFT_LINK_PROMISE : WEFT_LINK_NONE,
                        (struct explore_target){.promise = promise, .pane = pane});
}

void explore_fact_path(struct explore_facts *f, const struct weft_scene *s,
                       const struct weft_path *path)
{
    uint32_t count = 0, shown = 0;
    struct weft_share *share = weft_path_shares(path, s->m, &count);
    int64_t all = path->step[path->count - 1].to_ns - path->step[0].from_ns;
    f->failed |= !share;
    explore_heading(f, FACT_PATH_HEAD);
    explore_say(f, explore_nowhere(),
                path->pending  ? FACT_PATH_PENDING
                : path->became ? FACT_PATH_BECAME
                               : FACT_PATH,
                LENGTH(length, all));
    for (; share && shown < count && shown < SHARES_SHOWN; shown++) {
        struct analyse_text t = {0};
        const uint32_t promise = share[shown].promise;
        explore_put_share(&t, s->m, &share[shown]);
        f->failed |= t.failed;
        explore_say(
            f, to_promise(promise, 0), FACT_SHARE,
            TEXT(share,
                 explore_share((uint64_t)share[shown].total_ns, all > 0 ? (uint64_t)all : 0).text),
            TEXT(text, t.text));
        analyse_text_fini(&t);
    }
    explore_fact_more(f, count, shown);
    free(share);
}

/* ---- Two traces compared ---- */

static void add_change(struct explore_facts *f, const struct weft_change_found *c)
{
    static const enum explore_fact facts[] = {[WEFT_CHANGE_MISSING] = FACT_CHANGE_MISSING,
                                              [WEFT_CHANGE_ADDED] = FACT_CHANGE_ADDED,
                                              [WEFT_CHANGE_OUTCOME] = FACT_CHANGE_OUTCOME,
                                              [WEFT_CHANGE_UNREAD] = FACT_CHANGE_UNREAD,
                                              [WEFT_CHANGE_TYPE] = FACT_CHANGE_TYPE};
    const unsigned pane = c->bad != WEFT_NONE;
    say_text(f, to_promise(pane ? c->bad : c->good, pane), facts[c->kind], c->text);
}

/* The event as it happened in one run. */
static void add_event(struct explore_facts *f, const struct weft_scene *s, unsigned pane,
                      uint32_t number, uint32_t promise, int64_t time_ns)
{
    if (time_ns == INT64_MIN || promise == WEFT_NONE)
        return;
    explore_say(
        f,
        explore_long(WEFT_LINK_MOMENT,
                     (struct explore_target){.promise = promise, .time_ns = time_ns, .pane = pane}),
        pane ? FACT_EVENT_BAD : FACT_EVENT_GOOD, NUMBER(number, number), TIME(when, time_ns),
        PROMISE_OF(s->m, promise, promise));
}

int explore_facts_of_diff(struct explore_facts *f, const struct weft_scene *good,
                          const struct weft_scene *bad, const struct weft_diff *d)
{
    const struct weft_divergence *v = &d->divergence;
    explore_fact_begin(f);
    if (!good)
        return explore_fact_end(f);
    explore_heading(f, FACT_DIFF_HEAD);
    const struct explore_link long_one = explore_long(WEFT_LINK_NONE, explore_nowhere().target);
    if (v->text)
        say_text(f, explore_long(v->found ? WEFT_LINK_DIFF : WEFT_LINK_NONE, long_one.target),
                 FACT_DIVERGES, v->text);
    else if (v->found)
        explore_say(f, explore_long(WEFT_LINK_DIFF, long_one.target), FACT_DIVERGES_HERE);
    else
        explore_say(f, long_one,
                    d->strangers        ? FACT_DIFF_STRANGERS
                    : !weft_diff_any(d) ? FACT_DIFF_NONE
                                        : FACT_DIFF_NO_ORDER);
    if (d->swapped)
        say_text(f, long_one, FACT_SWAPPED, d->swapped);
    if (d->doubt)
        explore_say(f, long_one, FACT_NOT_SURE, TEXT(doubt, d->doubt));
    if (v->found) {
        add_event(f, good, 0, 1, v->good_first, v->good_first_ns);
        add_event(f, good, 0, 2, v->good_second, v->good_second_ns);
        add_event(f, bad, 1, 1, v->bad_first, v->bad_first_ns);
        add_event(f, bad, 1, 2, v->bad_second, v->bad_second_ns);
    }
    for (uint32_t i = 0; i < d->orders; i++)
        say_text(f, to_promise(d->order[i].bad_first, 1), FACT_DIFF_ORDER, d->order[i].text);
    uint32_t shown = 0;
    for (; shown < d->changes && shown < CHANGES_SHOWN; shown++)
        add_change(f, &d->change[shown]);
    explore_fact_more(f, d->changes + d->changes_left_out, shown);
    for (shown = 0; shown < d->latencies && shown < LATENCIES_SHOWN; shown++)
        say_text(f, to_promise(d->latency[shown].bad, 1), FACT_DIFF_LATENCY,
                 d->latency[shown].text);
    explore_fact_more(f, d->latencies, shown);
    for (shown = 0; shown < d->runnings && shown < LATENCIES_SHOWN; shown++)
        say_text(f, to_promise(d->running[shown].bad, 1), FACT_DIFF_RUNNING,
                 d->running[shown].text);
    explore_fact_more(f, d->runnings, shown);
    return explore_fact_end(f);
}
