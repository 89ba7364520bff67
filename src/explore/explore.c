/* SPDX-License-Identifier: ISC */
/* The life of the explorer and of its traces. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "explore/state.h"
#include "view/overview.h"

enum {
    DEFAULT_WIDTH = 1600,
    DEFAULT_HEIGHT = 900,
};

/* ---- Life ---- */

int weft_explorer_new(struct weft_explorer **out)
{
    struct weft_explorer *e = *out = calloc(1, sizeof *e);
    if (!e)
        return WEFT_E_NOMEM;
    e->history = calloc(EXPLORE_HISTORY_MAX, sizeof *e->history);
    if (!e->history) {
        free(e);
        *out = NULL;
        return WEFT_E_NOMEM;
    }
    e->width_px = DEFAULT_WIDTH;
    e->height_px = DEFAULT_HEIGHT;
    e->text_percent = 100;
    e->window.to = 1;
    e->selected = e->hovered = e->finding = e->path_promise = e->flame.hovered = e->noted_at =
        WEFT_NONE;
    e->legend_pointed = WEFT_KINDS;
    e->wheel_x = -1;
    e->frame_ns = -1;
    e->pointed_pane = WEFT_PANES_MAX;
    explore_changed(e, ~0u);
    explore_moved(e);
    return 0;
}

static void free_trace(struct explore_trace *t)
{
    explore_notebook_free(t->notebook);
    weft_groups_free(t->groups);
    weft_analysis_free(t->analysis);
    weft_history_free(t->history);
    free(t);
}

static struct explore_trace *new_trace(void)
{
    struct explore_trace *t = calloc(1, sizeof *t);
    if (t && !(t->notebook = explore_notebook_new())) {
        free(t);
        return NULL;
    }
    return t;
}

/* shared: another pane shows the same trace. */
static void fini_pane(struct explore_pane *p, bool shared)
{
    weft_search_free(p->search);
    if (!shared) {
        free_trace(p->trace); /* before the model that it is about */
        weft_scene_free(p->scene);
        weft_model_free(p->model);
    }
    weft_geometry_fini(&p->geometry);
    weft_glide_fini(&p->glide);
    free(p->mark);
    free(p->counter_off);
}

static void fini_facts(struct weft_explorer *e)
{
    for (unsigned i = 0; i < EXPLORE_PARTS; i++)
        explore_facts_fini(&e->part[i]);
}

void weft_explorer_free(struct weft_explorer *e)
{
    if (!e)
        return;
    for (unsigned i = e->panes; i-- > 0;)
        fini_pane(&e->pane[i], !explore_pane_is_first(e, i));
    fini_facts(e);
    explore_flame_fini(e);
    explore_table_fini(e);
    weft_diff_fini(&e->diff);
    weft_path_fini(&e->path);
    free(e->path_mark);
    weft_free_all(e->note_text, e->listed, e->noted);
    weft_drawlist_fini(&e->list);
    free(e->fact);
    free(e->history);
    free(e);
}

void explore_changed(struct weft_explorer *e, unsigned flags)
{
    e->changed |= flags;
    e->dirty = e->dirty || (flags & WEFT_CHANGED_PICTURE);
    if (flags & WEFT_CHANGED_FACTS)
        e->stale_parts = ~0u;
    if (flags & WEFT_CHANGED_VISIBLE)
        e->visible_is_stale = true;
    if (flags & WEFT_CHANGED_TIP)
        e->tip_is_stale = true;
}

void explore_part_changed(struct weft_explorer *e, enum explore_part part)
{
    e->stale_parts |= 1u << part;
    e->changed |= WEFT_CHANGED_FACTS;
}

void explore_activate(struct weft_explorer *e, unsigned pane)
{
    if (e->active == pane)
        return;
    e->active = pane;
    explore_part_changed(e, EXPLORE_TRACE);
    if (pane < e->panes && e->pane[pane].height_px == 0)
        explore_panes_reveal(e, pane);
}

void explore_moved(struct weft_explorer *e)
{
    e->moved = true;
    explore_changed(e, WEFT_CHANGED_PICTURE | WEFT_CHANGED_PLACE | WEFT_CHANGED_VISIBLE);
}

int64_t explore_round(double x)
{
    const double most = 4.6e18;
    if (!(x > -most)) /* nor a number at all */
        return -(int64_t)4600000000000000000;
    if (x > most)
        return (int64_t)4600000000000000000;
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole;
    return rest >= 0.5 ? whole + 1 : rest < -0.5 ? whole - 1 : whole;
}

/* ---- Panes ---- */

static double clamped(int64_t time_ns)
{
    int64_t most = WEFT_TIME_MAX;
    return (double)(time_ns > most ? most : time_ns < -most ? -most : time_ns);
}

/* Of a ring that has wrapped, the first view begins shortly before what is complete, unless little of what happened is
 * after that: a thread that seldom records makes that moment late. */
static int64_t find_first(const struct explore_pane *p)
{
    int64_t whole = weft_layout_whole(p->model);
    struct weft_overview_sum all, after;
    if (p->model->quirks.at_once)
        return weft_layout_moment(p->model);
    if (whole <= 0 || whole >= p->model->end_ns)
        return 0;
    weft_overview_between(&all, p->scene, 0, p->model->end_ns);
    weft_overview_between(&after, p->scene, whole, p->model->end_ns);
    return after.acts >= all.acts / 2 ? weft_layout_before(p->model, whole) : 0;
}

static void measure(struct explore_pane *p)
{
    const int64_t end_ns = p->model->end_ns;
    p->begin = clamped(p->scene->o->begin_ns);
    p->end = clamped(end_ns > 0 ? end_ns : 1);
    p->first = (double)find_first(p);
}

/* One flag for each counter, set if it is switched off; never NULL. */
static uint8_t *new_counters(const struct weft_model *m)
{
    return calloc((size_t)m->counters + 1, 1);
}

int weft_explorer_add(struct weft_explorer *e, struct weft_scene *scene, struct weft_model *model,
                      const char *title)
{
    if (e->panes == WEFT_PANES_MAX)
        return WEFT_E_LIMIT;
    uint8_t *counter_off = new_counters(model);
    struct explore_trace *trace = new_trace();
    if (!counter_off || !trace) {
        if (trace)
            free_trace(trace);
        free(counter_off);
        return WEFT_E_NOMEM;
    }
    bool was_fit = explore_window_is_fit(e), was_first = explore_window_is_first(e);
    struct explore_pane *p = &e->pane[e->panes];
    *p = (struct explore_pane){
        .scene = scene, .model = model, .counter_off = counter_off, .view.focus_row = WEFT_NONE};
    p->source = ++e->sources;
    p->trace = trace;
    explore_fact_clean(p->title, sizeof p->title, title ? title : "", title ? strlen(title) : 0);
    measure(p);
    e->placed = false;
    p->view.window = (struct explore_window){0, p->end};
    bool is_first = e->panes++ == 0;
    struct explore_clocks clocks;
    explore_clocks_find(e, &clocks);
    p->view.offset = clocks.offset[e->panes - 1];
    if (is_first || was_fit || was_first)
        explore_window_fit(e);
    if (is_first || was_first)
        explore_window_first(e);
    explore_window_settle(e);
    explore_search_pane(e, e->panes - 1);
    explore_history_clear(e);
    explore_changed(e, ~0u);
    explore_moved(e);
    return 0;
}

/* Forgets what was measured of a scene that goes away. */
static void forget_scene(struct weft_explorer *e)
{
    fini_facts(e);
    explore_flame_forget(e);
    explore_table_forget(e);
    e->facts = 0;
    explore_visible_clear(&e->visible);
    e->hovered = WEFT_NONE;
    e->hovered_arrow = 0;
}

bool explore_counters_hide(uint8_t *counter_off, const struct weft_model *m, const char *name)
{
    uint32_t first = 0, high = m->counters; /* they are sorted by name */
    WEFT_SEEK(first, high, strcmp(weft_model_text(m, m->counter[middle].name, NULL), name) < 0);
    uint32_t i = first;
    while (i < m->counters && !strcmp(weft_model_text(m, m->counter[i].name, NULL), name))
        counter_off[i++] = 1;
    return i > first;
}

/* Counters that were switched off stay off. */
static void keep_counters(struct explore_pane *p, const struct weft_model *m, uint8_t *counter_off)
{
    for (uint32_t i = 0; i < p->model->counters; i++)
        if (p->counter_off[i])
            explore_counters_hide(counter_off, m,
                                  weft_model_text(p->model, p->model->counter[i].name, NULL));
}

/* How much later the new trace begins: the oldest events of a ring may be gone. 0 if it is a trace from another time. */
static double lost_ns(const struct weft_model *old, const struct weft_model *m)
{
    uint64_t later = m->first_ns - old->first_ns;
    return old->end_ns > 0 && later <= (uint64_t)old->end_ns ? (double)later : 0;
}

/* Shifts the pane's times: they are counted from a later moment now. */
static void begin_later(struct weft_explorer *e, unsigned pane, double by)
{
    struct explore_pane *p = &e->pane[pane];
    p->view.window.from -= by;
    p->view.window.to -= by;
    if (e->range_pane == pane) {
        e->range_from_ns -= (int64_t)by;
        e->range_to_ns -= (int64_t)by;
    }
    if (e->kept.pane == pane) {
        e->kept.where.from_ns -= (int64_t)by;
        e->kept.where.to_ns -= (int64_t)by;
    }
    if (pane > 0) {
        p->view.offset -= by;
        return;
    }
    e->window.from -= by;
    e->window.to -= by;
    for (unsigned i = 1; i < e->panes; i++)
        e->pane[i].view.offset += by;
}

/* Exchanges the trace of one pane. */
static void exchange(struct weft_explorer *e, unsigned pane, struct weft_scene *scene,
                     struct weft_model *model)
{
    struct explore_pane *p = &e->pane[pane];
    uint8_t *counter_off = new_counters(model);
    if (counter_off)
        keep_counters(p, model, counter_off);
    if (e->selected != WEFT_NONE && e->selected_pane == pane)
        e->selected = weft_model_find(model, p->model->promise[e->selected].id);
    explore_table_keep(e, pane, model);
    explore_findings_forget(e, pane, false);
    weft_search_free(p->search);
    p->search = NULL;
    free(p->counter_off);
    double lost = lost_ns(p->model, model);
    p->scene = scene;
    p->model = model;
    p->counter_off = counter_off; /* NULL: all are shown */
    if (p->view.focus_row != WEFT_NONE && p->view.focus_row >= scene->l->rows)
        p->view.focus_row = WEFT_NONE;
    if (e->drag.row != WEFT_NONE && e->drag.row >= scene->l->rows)
        e->drag.row = WEFT_NONE;
    p->geometry.folds = NULL; /* they were the old scene's */
    measure(p);
    if (lost > 0 && explore_pane_is_first(e, pane))
        explore_notes_later(p, (int64_t)lost);
    if (lost > 0)
        begin_later(e, pane, lost);
}

void weft_explorer_exchange(struct weft_explorer *e, unsigned pane, struct weft_scene **old_scene,
                            struct weft_model **old_model)
{
    assert(pane < e->panes);
    struct explore_pane *p = &e->pane[pane];
    struct weft_scene *scene = *old_scene;
    struct weft_model *model = *old_model;
    struct explore_window w = explore_window_get(e, pane);
    double end = p->end, near = (w.to - w.from) / 100, lost = lost_ns(p->model, model);
    struct explore_clocks clocks;
    explore_clocks_find(e, &clocks);
    bool at_end = w.to >= end - near && w.to <= end + near, was_fit = explore_window_is_fit(e);
    bool was_first = explore_window_is_first(e);
    forget_scene(e);
    *old_scene = p->scene;
    *old_model = p->model;
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].source == p->source)
            exchange(e, i, scene, model);
    explore_groups_keep(e, pane);
    explore_clocks_keep(e, &clocks);
    if (was_fit || was_first)
        explore_window_fit(e);
    if (was_first)
        explore_window_first(e);
    else if (at_end && !was_fit)
        explore_window_set(e, pane, (struct explore_window){w.from - lost, w.to + (p->end - end)},
                           0);
    explore_window_settle(e);
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].source == p->source)
            explore_search_pane(e, i);
    explore_changed(e, ~0u);
    explore_moved(e);
}

void weft_explorer_replace(struct weft_explorer *e, unsigned pane, struct weft_scene *scene,
                           struct weft_model *model)
{
    weft_explorer_exchange(e, pane, &scene, &model);
    weft_scene_free(scene);
    weft_model_free(model);
}

static void drop_number(unsigned *number, unsigned pane)
{
    if (*number > pane)
        --*number;
}

void weft_explorer_remove(struct weft_explorer *e, unsigned pane)
{
    assert(pane < e->panes);
    bool shared = explore_pane_is_shared(e, pane);
    explore_findings_forget(e, pane, true);
    forget_scene(e);
    explore_table_leave(e);
    e->placed = false;
    e->drag.grip = EXPLORE_GRIP_NONE;
    e->pointed = false;
    e->pointed_pane = WEFT_PANES_MAX;
    if (e->selected_pane == pane) {
        e->selected = WEFT_NONE;
        e->selected_pane = 0;
    }
    if (e->range_pane == pane) {
        e->range_from_ns = e->range_to_ns = 0;
        e->range_pane = 0;
    }
    if (e->kept.pane == pane)
        e->kept = (struct explore_kept){.is = false};
    if (pane == 0 && e->panes > 1 && !e->is_free) { /* the next pane becomes the first */
        double offset = e->pane[1].view.offset;
        e->window.from += offset;
        e->window.to += offset;
        for (unsigned i = 1; i < e->panes; i++)
            e->pane[i].view.offset -= offset;
    }
    fini_pane(&e->pane[pane], shared);
    e->panes--;
    memmove(&e->pane[pane], &e->pane[pane + 1], (e->panes - pane) * sizeof e->pane[0]);
    drop_number(&e->selected_pane, pane);
    drop_number(&e->range_pane, pane);
    drop_number(&e->finding_pane, pane);
    drop_number(&e->kept.pane, pane);
    drop_number(&e->active, pane);
    if (e->active >= e->panes)
        e->active = e->panes ? e->panes - 1 : 0;
    explore_window_settle(e);
    explore_history_clear(e);
    explore_changed(e, ~0u);
    explore_moved(e);
}

unsigned weft_explorer_panes(const struct weft_explorer *e)
{
    return e->panes;
}

const char *weft_explorer_title(const struct weft_explorer *e, unsigned pane)
{
    assert(pane < e->panes);
    return e->pane[pane].title;
}

uint64_t weft_explorer_events(const struct weft_explorer *e, unsigned pane)
{
    assert(pane < e->panes);
    return e->pane[pane].model->events_total;
}

unsigned weft_explorer_changed(struct weft_explorer *e)
{
    unsigned changed = e->changed;
    e->changed = 0;
    return changed;
}

unsigned explore_pane_at(const struct weft_explorer *e, double y)
{
    unsigned i = 0;
    if (explore_overview_has(e, y) || explore_legend_has(e, y) || explore_flame_has(e, y))
        return e->panes;
    while (i < e->panes &&
           !(y >= e->pane[i].top_px && y < e->pane[i].top_px + e->pane[i].height_px))
        i++;
    return i;
}
