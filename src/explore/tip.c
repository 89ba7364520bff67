/* SPDX-License-Identifier: ISC */
/* The tip: describes what is under the pointer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "explore/state.h"

enum {
    NOTE_PX = 4,      /* a note this near to the pointer is told */
    COUNTERS_MAX = 6, /* how many are named in a tip */
};

/* "GET /users/7 (request) #12: at 1.2 ms, 3 ms, fulfilled" */
static void describe(struct analyse_text *t, const struct weft_scene *s, uint32_t promise)
{
    const struct weft_model *m = s->m;
    const struct weft_promise *p = &m->promise[promise];
    char label[160], type[40];
    explore_fact_type(type, sizeof type, m, promise);
    if (explore_fact_label(label, sizeof label, m, promise))
        analyse_put_format(t, "%s (%s)", label, type);
    else
        analyse_put_format(t, "%s", type);
    analyse_put_format(t, " #%" PRIu64 ": at %s, %s, %s", p->id,
                       weft_moment(weft_layout_start(s->l, p)).text,
                       weft_duration(explore_length(s, promise)).text,
                       weft_outcome_name((enum weft_outcome)p->outcome));
    if (weft_model_overdue(m, promise))
        analyse_put_format(t, " though it should be resolved");
    uint32_t size, reason = weft_model_reason(m, promise);
    if (p->outcome == WEFT_FAILED && reason != WEFT_NONE) {
        const char *why = weft_model_text(m, reason, &size);
        explore_fact_clean(label, sizeof label, why, size);
        analyse_put_format(t, ": %s", label);
    }
}

/* How long that one of `count` sorted spans is that contains that time; -1: none does. */
static int64_t span_at(const struct weft_span *span, uint32_t count, int64_t time_ns)
{
    uint32_t low = 0, high = count;
    WEFT_SEEK(low, high, span[middle].start_ns <= time_ns);
    const struct weft_span *x = low ? &span[low - 1] : NULL;
    return x && x->end_ns >= time_ns ? x->end_ns - x->start_ns : -1;
}

static void say_region(struct analyse_text *t, const struct weft_model *m, int64_t time_ns)
{
    int64_t length = span_at(m->pause, m->pauses, time_ns);
    if (span_at(m->missing, m->missings, time_ns) >= 0)
        analyse_put_format(t, "events of a thread are missing");
    else if (length >= 0)
        analyse_put_format(t, "GC %s", weft_duration(length).text);
    else if ((length = span_at(m->sleep, m->sleeps, time_ns)) >= 0)
        analyse_put_format(t, "sleeping %s", weft_duration(length).text);
}

/* The values of the first counters at that time. */
static void say_counters(struct analyse_text *t, const struct explore_pane *p, int64_t time_ns)
{
    const struct weft_model *m = p->model;
    unsigned said = 0;
    for (uint32_t k = 0; k < m->counters && said < COUNTERS_MAX; k++) {
        char name[48];
        uint32_t size;
        int64_t value;
        if (p->counter_off && p->counter_off[k])
            continue;
        const char *text = weft_model_text(m, m->counter[k].name, &size);
        explore_fact_clean(name, sizeof name, text, size);
        analyse_put_format(t, "%s%s: ", said++ ? ", " : "", name);
        if (weft_view_counter_at(&value, p->scene, k, time_ns))
            analyse_put_format(t, "%" PRId64, value);
        else
            analyse_put_format(t, "not known");
    }
}

/* "kv_server 4711, at 1.2 ms: on a core 35 % of 120 µs, 80 % of that for a promise; mostly in parse (7 of 9 samples)" */
static void say_strip(struct analyse_text *t, const struct explore_pane *p,
                      const struct weft_pick *at)
{
    const struct weft_profile *samples = p->scene->p;
    struct weft_strip_pick s;
    char name[80];
    weft_view_strip_at(&s, p->scene, &p->geometry, at);
    if (s.thread < samples->threads) {
        const struct weft_thread *x = &samples->thread[s.thread];
        const char *text = weft_profile_text(samples, x->name);
        explore_fact_clean(name, sizeof name, *text ? text : "thread",
                           strlen(*text ? text : "thread"));
        analyse_put_format(t, x->thread == UINT32_MAX ? "%s" : "%s %" PRIu32, name, x->thread);
    } else {
        analyse_put_format(t, "%" PRIu32 " threads", s.threads);
    }
    uint64_t whole = (uint64_t)(s.to_ns - s.from_ns), on = s.on_ns < whole ? s.on_ns : whole;
    if (s.threads > 1)
        on = s.on_ns;
    analyse_put_format(t, ", at %s: ", weft_moment(at->time_ns).text);
    if (on == 0)
        analyse_put_format(t, "on no core");
    else
        analyse_put_format(t, "on a core %s of %s", explore_share(on, whole).text,
                           weft_duration((int64_t)whole).text);
    if (on && p->model->promises > 1)
        analyse_put_format(t, ", %s of that for a promise",
                           explore_share(s.promise_ns, s.on_ns).text);
    if (s.location != WEFT_NONE) {
        char function[160];
        explore_function_name(function, sizeof function, samples, s.location);
        analyse_put_format(t, "; mostly in %s (%s of %s sample%s)", function,
                           weft_count(s.hottest).text, weft_count(s.looked).text,
                           weft_plural(s.looked));
    }
    if (s.interrupted_ns)
        analyse_put_format(t, "; interrupted for %s", explore_share(s.interrupted_ns, whole).text);
}

/* What is known of a time in a ring that has wrapped. */
static void say_whole(struct analyse_text *t, const struct weft_model *m, int64_t time_ns)
{
    int64_t whole = weft_layout_whole(m);
    if (!m->losses.overwritten || time_ns > whole)
        return;
    analyse_put_format(t, ": not complete, events before %s were overwritten",
                       weft_moment(whole).text);
}

static void say_older(struct analyse_text *t, const struct explore_pane *p, int64_t time_ns)
{
    const struct weft_layout *l = p->scene->l;
    uint32_t left = weft_layout_pending_since(l, time_ns);
    analyse_put_format(t, "%s promise%s pending since before the trace; ",
                       weft_count(l->gones).text, l->gones == 1 ? " was" : "s were");
    analyse_put_format(t, "at %s, %s of them", weft_moment(time_ns).text, weft_count(left).text);
    if (l->quiet)
        analyse_put_format(t, "; nothing more is known of %s", weft_count(l->quiet).text);
}

/* "1: at 40 ms: 'ARP query' creates 'ARP response'": a piece of evidence; the first marks of a pane are that of its finding. */
static void say_mark(struct analyse_text *t, const struct weft_explorer *e, unsigned pane,
                     uint32_t mark)
{
    const struct explore_pane *p = &e->pane[pane];
    if (mark >= p->marks)
        return;
    const struct weft_mark *m = &p->mark[mark];
    if (m->kind == WEFT_MARK_NOTE) {
        analyse_put_format(t, "at %s", weft_moment(m->from_ns).text);
        explore_notes_say(t, p, m->promise, m->from_ns, m->to_ns);
        return;
    }
    if (m->text)
        analyse_put_format(t, "%s: ", m->text);
    analyse_put_format(t, "at %s", weft_moment(m->from_ns).text);
    if (e->finding != WEFT_NONE && e->finding_pane == pane) {
        const struct weft_finding *f = &p->trace->analysis->findings.finding[e->finding];
        if (mark < f->evidences) {
            analyse_put_format(t, ": ");
            weft_evidence_say(t, p->model, f, mark);
        }
    } else if (m->promise != WEFT_NONE) {
        analyse_put_format(t, ": differs here: ");
        analyse_put_full(t, p->model, m->promise);
    }
}

/* "; on the critical path: 1.2 ms of 40 ms, something else runs" */
static void say_step(struct analyse_text *t, struct weft_explorer *e, unsigned pane,
                     const struct weft_pick *at)
{
    const struct weft_path *path = pane == e->selected_pane ? explore_path_shown(e) : NULL;
    uint32_t low = 0, high = path ? path->count : 0;
    WEFT_SEEK(low, high, path->step[middle].to_ns < at->time_ns);
    if (!path || low == path->count || path->step[low].promise != at->promise ||
        path->step[low].from_ns > at->time_ns)
        return;
    const struct weft_step *s = &path->step[low];
    analyse_put_format(t, "; on the critical path: %s", weft_step_name(s->kind));
    analyse_put_format(t, " for ");
    analyse_text_add(t, weft_duration(s->to_ns - s->from_ns).text);
}

/* "nothing happens for 3.2 s, from 1.2 s: asleep" */
static void say_fold(struct analyse_text *t, const struct explore_pane *p,
                     const struct weft_fold *f)
{
    analyse_put_format(t, "%s %s from %s, folded",
                       p->scene->folds.asleep ? "asleep for" : "nothing for",
                       weft_duration(f->to_ns - f->from_ns).text, weft_moment(f->from_ns).text);
}

static void say_place(struct analyse_text *t, struct weft_explorer *e, unsigned pane,
                      const struct weft_pick *at)
{
    const struct explore_pane *p = &e->pane[pane];
    const int32_t x = weft_geometry_x(&p->geometry, at->time_ns);
    switch (at->kind) {
    case WEFT_PLACE_PROMISE:
        describe(t, p->scene, at->promise);
        explore_moment_say(t, p->model, at->promise, at->time_ns);
        say_step(t, e, pane, at);
        explore_notes_say(t, p, at->promise, 0, 0);
        break;
    case WEFT_PLACE_ARROW:
        explore_arrow_say(t, p->scene, &p->geometry.arrow[at->arrow]);
        break;
    case WEFT_PLACE_MARK:
        say_mark(t, e, pane, at->mark);
        break;
    case WEFT_PLACE_FOLD:
        analyse_put_format(t, "%s promise%s; the longest: ", weft_count(at->folded).text,
                           weft_plural(at->folded));
        describe(t, p->scene, at->promise);
        break;
    case WEFT_PLACE_RULER:
        analyse_put_format(t, "%s", weft_moment(at->time_ns).text);
        say_whole(t, p->model, at->time_ns);
        if (at->fold) {
            analyse_put_format(t, "; ");
            say_fold(t, p, at->fold);
        }
        explore_notes_say(t, p, WEFT_NONE, weft_geometry_time(&p->geometry, x - NOTE_PX * WEFT_PX),
                          weft_geometry_time(&p->geometry, x + NOTE_PX * WEFT_PX));
        break;
    case WEFT_PLACE_OLDER:
        say_older(t, p, at->time_ns);
        break;
    case WEFT_PLACE_BREAK:
        say_fold(t, p, at->fold);
        break;
    case WEFT_PLACE_COUNTERS:
        say_counters(t, p, at->time_ns);
        break;
    case WEFT_PLACE_STRIP:
        say_strip(t, p, at);
        break;
    case WEFT_PLACE_NONE:
        if (at->row != WEFT_NONE)
            say_region(t, p->model, at->time_ns);
        break;
    }
}

const char *weft_explorer_tip(struct weft_explorer *e)
{
    if (!e->tip_is_stale)
        return e->tip;
    struct analyse_text t = {0};
    *e->tip = '\0';
    if (e->pointed && explore_refresh(e) == 0 && explore_flame_has(e, e->point_y)) {
        explore_flame_tip(e, e->tip, sizeof e->tip);
    } else if (e->pointed && !e->moved && explore_overview_has(e, e->point_y)) {
        explore_overview_tip(e, &t, e->point_x, e->point_y);
        snprintf(e->tip, sizeof e->tip, "%s", t.text ? t.text : "");
        analyse_text_fini(&t);
    } else if (e->pointed && explore_legend_has(e, e->point_y)) {
        explore_legend_tip(e, e->tip, sizeof e->tip);
    } else if (e->pointed && !e->moved) {
        unsigned pane = explore_pane_at(e, e->point_y);
        if (pane < e->panes) {
            struct weft_pick at = explore_pick(e, pane, e->point_x, e->point_y);
            enum explore_title title = explore_title_at(e, pane, e->point_x, e->point_y);
            if (title != EXPLORE_TITLE_NONE)
                analyse_put_format(&t, title == EXPLORE_TITLE_CLOSE
                                           ? "closes this trace (X)"
                                           : "drag this up or down to move the trace");
            else
                say_place(&t, e, pane, &at);
            snprintf(e->tip, sizeof e->tip, "%s", t.text ? t.text : "");
            analyse_text_fini(&t);
        }
    }
    e->tip_is_stale = false;
    return e->tip;
}
