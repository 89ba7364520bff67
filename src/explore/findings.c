/* SPDX-License-Identifier: ISC */
/* Navigation through what an analysis has found; the path of the selection; the comparison of two traces. */
#include <assert.h>
#include <stdlib.h>

#include "explore/state.h"

#define MARGIN 0.15 /* margin on each side, as a part of a finding's time */
#define BEYOND 0.1  /* part of the margin that may lie outside the trace */
#define LEAST_NS 1000.0

/* ---- Analyses ---- */

int weft_analysis_new(struct weft_analysis **out, const struct weft_model *m,
                      weft_progress_fn *progress, void *data)
{
    struct weft_analysis *a = *out = calloc(1, sizeof *a);
    if (!a)
        return WEFT_E_NOMEM;
    int rc = weft_history_new(&a->history, m, progress, data);
    if (rc == 0) {
        explore_hung_find(&a->hung, a->history);
        rc = weft_explain(&a->findings, a->history, NULL, progress, data);
    }
    if (rc < 0) {
        weft_analysis_free(a);
        *out = NULL;
    }
    return rc;
}

void weft_analysis_free(struct weft_analysis *a)
{
    if (!a)
        return;
    weft_findings_fini(&a->findings);
    weft_history_free(a->history);
    free(a);
}

/* Frees whatever was made from a pane's history. */
static void drop_path(struct weft_explorer *e)
{
    e->path.count = 0;
    e->path_promise = WEFT_NONE;
}

/* a replaces what it has; NULL: it has none then. Takes ownership. */
static void set_analysis(struct explore_trace *t, struct weft_analysis *a)
{
    weft_analysis_free(t->analysis);
    weft_history_free(t->history);
    t->analysis = a;
    t->history = NULL;
    t->analysing = false;
}

const struct weft_history *explore_history_of(struct explore_pane *p)
{
    struct explore_trace *t = p->trace;
    if (t->analysis)
        return t->analysis->history;
    if (!t->history && !t->analysing && weft_history_new(&t->history, p->model, NULL, NULL) == 0)
        explore_hung_find(&t->hung, t->history);
    return t->history;
}

static void findings_changed(struct weft_explorer *e)
{
    e->marks_stale = true;
    explore_changed(e, WEFT_CHANGED_FACTS);
    explore_moved(e); /* rows with marks are high */
}

void weft_explorer_analysing(struct weft_explorer *e, unsigned pane)
{
    assert(pane < e->panes);
    e->pane[pane].trace->analysing = true;
    explore_changed(e, WEFT_CHANGED_FACTS);
}

void weft_explorer_analysed(struct weft_explorer *e, unsigned pane, struct weft_analysis *a)
{
    assert(pane < e->panes);
    struct explore_pane *p = &e->pane[pane];
    if (a && a->history->m != p->model) {
        weft_analysis_free(a);
        return;
    }
    if (e->finding != WEFT_NONE && e->pane[e->finding_pane].source == p->source)
        explore_finding_leave(e);
    drop_path(e);
    explore_facts_fini(&e->part[EXPLORE_FINDING]);
    explore_table_forget(e);
    if (!e->flame.tree) /* one may be in the making */
        explore_flame_forget(e);
    set_analysis(p->trace, a);
    findings_changed(e);
    explore_finding_come(e);
}

const struct weft_analysis *weft_explorer_analysis(const struct weft_explorer *e, unsigned pane)
{
    assert(pane < e->panes);
    return e->pane[pane].trace->analysis;
}

void explore_diff_drop(struct weft_explorer *e)
{
    explore_facts_fini(&e->part[EXPLORE_DIFF]);
    weft_diff_fini(&e->diff);
    e->has_diff = false;
}

void explore_findings_forget(struct weft_explorer *e, unsigned pane, bool gone)
{
    struct explore_pane *p = &e->pane[pane];
    if (e->finding != WEFT_NONE && e->finding_pane == pane) {
        const struct weft_finding *f = &p->trace->analysis->findings.finding[e->finding];
        struct explore_wanted again = {.is = !gone,
                                       .again = true,
                                       .pane = pane,
                                       .kind = f->kind,
                                       .id = p->model->promise[f->promise].id};
        explore_finding_leave(e);
        e->wanted = again;
    } else if (gone) {
        e->wanted.is = false;
    }
    drop_path(e);
    explore_table_forget(e);
    explore_flame_forget(e);
    if (pane < 2) {
        explore_diff_drop(e);
        e->wants_diff = e->wants_diff && !gone;
        e->diff_moves = false;
    }
    if (!gone)
        set_analysis(p->trace, NULL);
    p->marks = 0;
    findings_changed(e);
}

int weft_explorer_analyse(struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++) {
        struct weft_analysis *a;
        if (e->pane[i].trace->analysis)
            continue;
        TRY(weft_analysis_new(&a, e->pane[i].model, NULL, NULL));
        weft_explorer_analysed(e, i, a);
    }
    if (!weft_explorer_wants_diff(e))
        return 0;
    struct weft_diff d = {0};
    const struct weft_history *good = e->pane[0].trace->analysis->history;
    int rc = weft_diff_find(&d, &good, 1, e->pane[1].trace->analysis->history, NULL, NULL);
    if (rc == 0)
        weft_explorer_compared(e, &d);
    return rc;
}

/* ---- Findings ---- */

enum { POSSIBLE_SHOWN = 3 }; /* as in weft explain */

uint32_t explore_findings_shown(const struct weft_analysis *a)
{
    uint32_t n = 0;
    while (a && n < a->findings.count && a->findings.finding[n].confidence >= WEFT_LIKELY)
        n++;
    if (a && n == 0)
        n = a->findings.count < POSSIBLE_SHOWN ? a->findings.count : POSSIBLE_SHOWN;
    return n;
}

/* Shows the trace's end, even if everything else was long before. */
static bool is_end(const struct weft_evidence *v)
{
    return v->event == WEFT_EVIDENCE_WAITS_STILL || v->event == WEFT_EVIDENCE_PENDING ||
           v->event == WEFT_EVIDENCE_RUNS_STILL;
}

static void include(struct explore_window *w, bool *any, int64_t time_ns)
{
    double t = (double)time_ns;
    w->from = !*any || t < w->from ? t : w->from;
    w->to = !*any || t > w->to ? t : w->to;
    *any = true;
}

/* The range of time to show for a finding. */
static struct explore_window times_of(const struct weft_explorer *e, unsigned pane,
                                      const struct weft_finding *f)
{
    const struct explore_pane *p = &e->pane[pane];
    struct explore_window w = {0, 0}, all_times = {p->begin, p->end};
    bool any = false;
    for (uint32_t i = 0; i < f->evidences; i++)
        if (!is_end(&f->evidence[i]))
            include(&w, &any, f->evidence[i].time_ns);
    bool all = f->kind == WEFT_FINDING_LEAK; /* it is about long times */
    if (!any || all || w.to - w.from < LEAST_NS) {
        include(&w, &any, f->start_ns);
        include(&w, &any, f->end_ns);
    }
    w = explore_window_shown(e, pane, w);
    all_times = explore_window_shown(e, pane, all_times);
    double margin = (w.to - w.from) * MARGIN;
    margin = margin < LEAST_NS / 2 ? LEAST_NS / 2 : margin;
    double before = all_times.from - margin * BEYOND, after = all_times.to + margin * BEYOND;
    w = (struct explore_window){w.from - margin, w.to + margin};
    w.from = w.from < before && w.to > before ? before : w.from;
    w.to = w.to > after && w.from < after ? after : w.to;
    return explore_window_real(e, pane, w);
}

void explore_finding_show(struct weft_explorer *e, unsigned pane, uint32_t finding, bool moves)
{
    struct explore_pane *p = &e->pane[pane];
    const struct weft_finding *f = &p->trace->analysis->findings.finding[finding];
    e->wanted.is = false;
    if (moves)
        explore_history_leave(e);
    e->finding = finding;
    e->finding_pane = pane;
    if (moves) {
        explore_activate(e, pane);
        explore_panes_reveal(e, pane);
        explore_select(e, pane, f->promise);
        explore_window_set(e, pane, times_of(e, pane, f), 0);
        explore_rows_squeeze(p);
        e->wheel_x = -1;
        explore_history_arrive(e);
    }
    findings_changed(e);
}

bool weft_explorer_show_finding(struct weft_explorer *e, unsigned pane, uint32_t number)
{
    if (pane >= e->panes || !e->pane[pane].trace->analysis || number == 0 ||
        number > e->pane[pane].trace->analysis->findings.count)
        return false;
    explore_finding_show(e, pane, number - 1, true);
    return true;
}

bool explore_finding_leave(struct weft_explorer *e)
{
    if (e->finding == WEFT_NONE)
        return false;
    e->finding = WEFT_NONE;
    e->finding_pane = 0;
    findings_changed(e);
    return true;
}

static uint32_t find_again(const struct explore_pane *p, const struct explore_wanted *w)
{
    const struct weft_findings *all = &p->trace->analysis->findings;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->finding[i].kind == w->kind &&
            p->model->promise[all->finding[i].promise].id == w->id)
            return i + 1;
    return 0;
}

bool explore_finding_come(struct weft_explorer *e)
{
    const struct explore_wanted w = e->wanted;
    if (!w.is || w.pane >= e->panes || !e->pane[w.pane].trace->analysis)
        return true;
    const struct explore_pane *p = &e->pane[w.pane];
    uint32_t number = w.again ? find_again(p, &w) : w.number;
    e->wanted.is = false;
    if (number == 0 || number > p->trace->analysis->findings.count)
        return false;
    explore_finding_show(e, w.pane, number - 1, w.moves);
    return true;
}

bool explore_finding_go(struct weft_explorer *e, int step)
{
    uint32_t all = 0, at = WEFT_NONE, first = 0;
    for (unsigned i = 0; i < e->panes; i++) {
        const struct explore_pane *p = &e->pane[i];
        if (!explore_pane_is_first(e, i))
            continue;
        uint32_t shown = explore_findings_shown(p->trace->analysis);
        if (e->finding != WEFT_NONE && e->pane[e->finding_pane].source == p->source)
            at = all + (e->finding < shown ? e->finding : shown - (shown > 0));
        first = i == e->active ? all : first;
        if (!p->trace->analysis && !p->trace->analysing) { /* nobody else will make it: do it now */
            if (weft_explorer_analyse(e) < 0)
                return false;
            shown = explore_findings_shown(p->trace->analysis);
        }
        all += shown;
    }
    if (all == 0)
        return false;
    if (at == WEFT_NONE)
        at = step > 0 ? first % all : (first + all - 1) % all;
    else
        at = (step > 0 ? at + 1 : at + all - 1) % all;
    unsigned pane = 0;
    for (;; pane++) {
        uint32_t shown = explore_findings_shown(e->pane[pane].trace->analysis);
        if (explore_pane_is_first(e, pane) && at < shown)
            break;
        at -= explore_pane_is_first(e, pane) ? shown : 0;
    }
    explore_finding_show(e, pane, at, true);
    return true;
}

void explore_moment_go(struct weft_explorer *e, unsigned pane, uint32_t promise, int64_t time_ns,
                       bool centres)
{
    struct explore_window w = explore_window_shown(e, pane, explore_window_get(e, pane));
    double t = weft_folds_shown_at(explore_folds(e, pane), (double)time_ns), span = w.to - w.from;
    explore_history_leave(e);
    explore_panes_reveal(e, pane);
    if (promise != WEFT_ROOT && promise != WEFT_NONE)
        explore_select(e, pane, promise);
    if (centres || t < w.from || t > w.to) {
        w = (struct explore_window){t - span / 2, t + span / 2};
        explore_window_set(e, pane, explore_window_real(e, pane, w), 0);
    }
    explore_history_arrive(e);
}

/* ---- The path ---- */

static void make_path(struct weft_explorer *e)
{
    static const enum weft_mark_kind marks[] = {
        [WEFT_STEP_RUNNING] = WEFT_MARK_RUNNING,      [WEFT_STEP_READY] = WEFT_MARK_READY,
        [WEFT_STEP_BLOCKED] = WEFT_MARK_READY,        [WEFT_STEP_COLLECTING] = WEFT_MARK_COLLECTING,
        [WEFT_STEP_PREEMPTED] = WEFT_MARK_COLLECTING, [WEFT_STEP_OUTSIDE] = WEFT_MARK_OUTSIDE,
        [WEFT_STEP_UNKNOWN] = WEFT_MARK_UNKNOWN,
    };
    const struct explore_pane *p = &e->pane[e->selected_pane];
    e->path_pane = e->selected_pane;
    e->path_promise = e->selected;
    free(e->path_mark);
    e->path_mark = NULL;
    if (weft_path_find_own(&e->path, p->trace->analysis->history, e->selected) < 0)
        e->path.count = 0;
    if (e->path.count)
        e->path_mark = malloc(e->path.count * sizeof *e->path_mark);
    for (uint32_t i = 0; e->path_mark && i < e->path.count; i++) {
        const struct weft_step *s = &e->path.step[i];
        e->path_mark[i] = (struct weft_mark){.kind = marks[s->kind],
                                             .promise = s->promise,
                                             .other = WEFT_NONE,
                                             .from_ns = s->from_ns,
                                             .to_ns = s->to_ns};
    }
}

/* Returns true if a finding is shown that says more than the culprit's path. */
static bool says_enough(const struct weft_explorer *e)
{
    if (e->wants_path || e->finding == WEFT_NONE || e->finding_pane != e->selected_pane)
        return false;
    const struct weft_finding *f =
        &e->pane[e->finding_pane].trace->analysis->findings.finding[e->finding];
    bool is_about_time = f->kind == WEFT_FINDING_LOOP_BLOCKED ||
                         f->kind == WEFT_FINDING_SLOW_WAKE || f->kind == WEFT_FINDING_SERIAL_WAITS;
    return f->promise == e->selected && !is_about_time;
}

const struct weft_path *explore_path(struct weft_explorer *e)
{
    if (e->selected == WEFT_NONE || !e->pane[e->selected_pane].trace->analysis || says_enough(e))
        return NULL;
    if (e->path_promise != e->selected || e->path_pane != e->selected_pane)
        make_path(e);
    return e->path.count > 1 ? &e->path : NULL;
}

const struct weft_path *explore_path_shown(struct weft_explorer *e)
{
    return e->wants_path ? explore_path(e) : NULL;
}

bool explore_path_toggle(struct weft_explorer *e)
{
    if (!e->wants_path && e->selected == WEFT_NONE)
        return false;
    e->wants_path = !e->wants_path;
    findings_changed(e);
    return true;
}

/* ---- Two traces compared ---- */

bool weft_explorer_wants_diff(const struct weft_explorer *e)
{
    return e->wants_diff && !e->has_diff && e->panes >= 2 && e->pane[0].trace->analysis &&
           e->pane[1].trace->analysis;
}

void weft_explorer_compared(struct weft_explorer *e, struct weft_diff *d)
{
    explore_diff_drop(e);
    e->diff = *d;
    *d = (struct weft_diff){0};
    e->has_diff = e->wants_diff = true;
    findings_changed(e);
    if (e->diff_moves)
        explore_diff_go(e);
}

/* How far the differing events are from the point of divergence. */
static void stretch(double *before, double *after, int64_t time_ns, int64_t middle_ns)
{
    double by = (double)time_ns - (double)middle_ns;
    if (time_ns == INT64_MIN)
        return;
    *before = -by > *before ? -by : *before;
    *after = by > *after ? by : *after;
}

void explore_diff_go(struct weft_explorer *e)
{
    const struct weft_divergence *d = &e->diff.divergence;
    if (!e->has_diff || !d->found)
        return;
    double before = 0, after = 0,
           longest = e->pane[0].end > e->pane[1].end ? e->pane[0].end : e->pane[1].end;
    stretch(&before, &after, d->good_first_ns, d->good_ns);
    stretch(&before, &after, d->good_second_ns, d->good_ns);
    stretch(&before, &after, d->bad_first_ns, d->bad_ns);
    stretch(&before, &after, d->bad_second_ns, d->bad_ns);
    double all = before + after > LEAST_NS ? before + after : longest / 10;
    double good_past = (double)d->good_ns - e->pane[0].begin;
    double bad_past = (double)d->bad_ns - e->pane[1].begin;
    double past = good_past > bad_past ? good_past : bad_past;
    before += all * MARGIN;
    after += all * MARGIN;
    before = before > past + all * MARGIN * BEYOND ? past + all * MARGIN * BEYOND : before;
    explore_history_leave(e);
    explore_window_link(e, true);
    e->pane[1].view.offset = (double)d->bad_ns - (double)d->good_ns;
    explore_rows_squeeze(&e->pane[0]);
    explore_rows_squeeze(&e->pane[1]);
    explore_finding_leave(e);
    explore_select(e, 0, WEFT_NONE);
    double good = (double)d->good_ns;
    explore_window_set(e, 0, (struct explore_window){good - before, good + after}, 0);
    explore_history_arrive(e);
    e->diff_moves = false;
    findings_changed(e);
}
