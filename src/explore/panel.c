/* SPDX-License-Identifier: ISC */
/* What is shown beside the picture: facts, the list of visible promises, counters. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "explore/fact.h"
#include "explore/state.h"

/* ---- Facts ---- */

static bool has_range(const struct weft_explorer *e)
{
    return e->range_from_ns != e->range_to_ns;
}

/* The pane that a group of facts is about; WEFT_PANES_MAX: the group is not shown. */
static unsigned pane_of_part(const struct weft_explorer *e, unsigned part)
{
    bool selected = e->selected != WEFT_NONE, finding = e->finding != WEFT_NONE;
    bool any = has_range(e) || finding || selected, shown = false;
    unsigned pane = 0;
    switch ((enum explore_part)part) {
    case EXPLORE_FLAME:
        shown = e->flame.open;
        break;
    case EXPLORE_COMPARED:
        shown = e->kept.is;
        pane = e->kept.pane;
        break;
    case EXPLORE_RANGE:
        shown = has_range(e);
        pane = e->range_pane;
        break;
    case EXPLORE_FINDING:
        shown = finding;
        pane = e->finding_pane;
        break;
    case EXPLORE_SELECTION:
        shown = selected;
        pane = e->selected_pane;
        break;
    case EXPLORE_DIFF:
    case EXPLORE_TRACE:
        shown = !any;
        pane = part == EXPLORE_TRACE ? e->active : 0;
        break;
    case EXPLORE_PARTS:
        break;
    }
    return shown && e->panes ? pane : WEFT_PANES_MAX;
}

static struct explore_side side_of(struct weft_explorer *e, unsigned pane)
{
    struct explore_pane *p = &e->pane[pane];
    return (struct explore_side){.s = p->scene,
                                 .h = explore_history_of(p),
                                 .trace = p->title,
                                 .pane = pane,
                                 .promise = WEFT_NONE};
}

/* What is kept, and the selection or range of the same kind. While that is dragged, it is not compared. */
static void fill_compared(struct weft_explorer *e, struct explore_facts *f)
{
    const struct explore_where *where = &e->kept.where;
    struct explore_side side[2] = {side_of(e, e->kept.pane)};
    bool has_second = where->of_promise ? e->selected != WEFT_NONE : has_range(e);
    if (where->of_promise)
        side[0].promise = weft_model_find(side[0].s->m, where->id);
    side[0].from_ns = where->from_ns;
    side[0].to_ns = where->to_ns;
    if (has_second) {
        side[1] = side_of(e, where->of_promise ? e->selected_pane : e->range_pane);
        side[1].promise = where->of_promise ? e->selected : WEFT_NONE;
        side[1].from_ns = where->of_promise ? 0 : e->range_from_ns;
        side[1].to_ns = where->of_promise ? 0 : e->range_to_ns;
    }
    if (where->of_promise && side[0].promise == WEFT_NONE) /* it is gone from a ring */
        explore_facts_fini(f);
    else
        explore_facts_of_compared(f, side,
                                  has_second && e->drag.grip != EXPLORE_GRIP_RULER ? 2 : 1);
}

static void fill(struct weft_explorer *e, unsigned part, unsigned pane)
{
    struct explore_facts *f = &e->part[part];
    struct explore_pane *p = &e->pane[pane];
    char axis[EXPLORE_FACT_BYTES];
    switch ((enum explore_part)part) {
    case EXPLORE_FLAME:
        explore_flame_facts(e);
        break;
    case EXPLORE_COMPARED:
        fill_compared(e, f);
        break;
    case EXPLORE_RANGE:
        explore_facts_of_range(f, p->scene, e->range_from_ns, e->range_to_ns);
        break;
    case EXPLORE_FINDING:
        f->analysis = p->trace->analysis;
        explore_facts_of_finding(f, p->scene, e->finding,
                                 explore_findings_shown(p->trace->analysis));
        break;
    case EXPLORE_SELECTION:
        f->trace = e->panes > 1 ? p->title : NULL;
        f->path = explore_path(e);
        f->history = explore_history_of(p);
        explore_facts_of_promise(f, p->scene, e->selected);
        break;
    case EXPLORE_DIFF:
        explore_facts_of_diff(f, e->has_diff ? e->pane[0].scene : NULL,
                              e->has_diff ? e->pane[1].scene : NULL, &e->diff);
        break;
    case EXPLORE_TRACE:
        f->analysis = p->trace->analysis;
        f->history = f->analysis ? f->analysis->history : p->trace->history;
        f->hung = f->analysis ? &f->analysis->hung : f->history ? &p->trace->hung : NULL;
        f->analysing = p->trace->analysing;
        f->hidden = explore_groups_hidden(p->trace->groups);
        f->axis = explore_clocks_say(e, pane, axis, sizeof axis);
        explore_facts_of_trace(f, p->scene, p->title);
        break;
    case EXPLORE_PARTS:
        break;
    }
    e->stale_parts &= ~(1u << part);
}

const struct weft_fact *weft_explorer_facts(struct weft_explorer *e, uint32_t *count)
{
    *count = e->facts = 0;
    for (unsigned i = 0; i < EXPLORE_PARTS; i++) {
        const struct explore_facts *f = &e->part[i];
        unsigned pane = pane_of_part(e, i);
        if (pane == WEFT_PANES_MAX)
            continue;
        if (e->stale_parts & 1u << i)
            fill(e, i, pane);
        uint32_t all = e->facts + f->count;
        if (!weft_reserve_all(&e->fact, all, &e->facts_room, sizeof *e->fact)) {
            e->facts = 0;
            return e->fact;
        }
        if (f->count)
            memcpy(e->fact + e->facts, f->fact, f->count * sizeof *e->fact);
        e->facts = all;
    }
    *count = e->facts;
    return e->fact;
}

void weft_explorer_follow(struct weft_explorer *e, uint32_t fact)
{
    unsigned part = 0, pane;
    if (fact >= e->facts) /* an old index: the facts have changed since */
        return;
    for (; part < EXPLORE_PARTS; part++) {
        uint32_t count = (pane = pane_of_part(e, part)) < e->panes ? e->part[part].count : 0;
        if (fact < count)
            break;
        fact -= count;
    }
    if (part == EXPLORE_PARTS)
        return;
    struct explore_target target = e->part[part].target[fact];
    pane = part == EXPLORE_DIFF || part == EXPLORE_COMPARED ? target.pane : pane;
    switch (e->part[part].fact[fact].link) {
    case WEFT_LINK_NONE:
        break;
    case WEFT_LINK_PROMISE:
        explore_jump(e, pane, target.promise);
        break;
    case WEFT_LINK_TIME:
        explore_moment_go(e, pane, WEFT_NONE, target.time_ns, true);
        break;
    case WEFT_LINK_MOMENT:
        explore_moment_go(e, pane, target.promise, target.time_ns, false);
        break;
    case WEFT_LINK_FINDING:
        weft_explorer_show_finding(e, pane, target.promise + 1);
        break;
    case WEFT_LINK_DIFF:
        explore_diff_go(e);
        break;
    case WEFT_LINK_FRAME:
        explore_flame_focus(e, target.promise);
        break;
    }
}

/* ---- Visible promises ---- */

const struct weft_visible *weft_explorer_visible(struct weft_explorer *e, uint32_t *count,
                                                 uint32_t *all)
{
    if (e->visible_is_stale && explore_refresh(e) == 0) {
        unsigned shown = 0;
        for (unsigned i = 0; i < e->panes; i++)
            shown += e->pane[i].height_px != 0;
        explore_visible_clear(&e->visible);
        for (unsigned i = 0; i < e->panes; i++)
            if (e->pane[i].height_px)
                explore_visible_list(&e->visible, e->pane[i].scene, &e->pane[i].geometry, i,
                                     WEFT_VISIBLE_MAX / shown);
        e->visible_is_stale = false;
    }
    *count = e->visible.count;
    *all = e->visible.all;
    return e->visible.item;
}

/* ---- Counters ---- */

uint32_t weft_explorer_counters(const struct weft_explorer *e)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < e->panes; i++)
        n += e->pane[i].model->counters;
    return n;
}

/* The pane of a counter, whose number in the pane is then *counter. */
static unsigned pane_of(const struct weft_explorer *e, uint32_t *counter)
{
    unsigned pane = 0;
    while (pane < e->panes && *counter >= e->pane[pane].model->counters)
        *counter -= e->pane[pane++].model->counters;
    return pane;
}

const char *weft_explorer_counter(struct weft_explorer *e, uint32_t counter, bool *shown)
{
    char name[EXPLORE_FACT_BYTES];
    uint32_t size;
    unsigned pane = pane_of(e, &counter);
    *e->counter_text = '\0';
    *shown = false;
    if (pane == e->panes)
        return e->counter_text;
    const struct explore_pane *p = &e->pane[pane];
    const char *text = weft_model_text(p->model, p->model->counter[counter].name, &size);
    explore_fact_clean(name, sizeof name, text, size);
    if (e->panes > 1)
        snprintf(e->counter_text, sizeof e->counter_text, "%s (%.100s)", name, p->title);
    else
        snprintf(e->counter_text, sizeof e->counter_text, "%s", name);
    explore_fact_clean(name, sizeof name, e->counter_text, strlen(e->counter_text));
    memcpy(e->counter_text, name, strlen(name) + 1);
    *shown = !(p->counter_off && p->counter_off[counter]) && !e->no_counters;
    return e->counter_text;
}

void weft_explorer_show_counter(struct weft_explorer *e, uint32_t counter, bool shown)
{
    unsigned pane = pane_of(e, &counter);
    if (pane == e->panes)
        return;
    struct explore_pane *p = &e->pane[pane];
    if (shown && e->no_counters) { /* then this counter and no other */
        for (unsigned i = 0; i < e->panes; i++)
            if (e->pane[i].counter_off)
                memset(e->pane[i].counter_off, 1, e->pane[i].model->counters);
        e->no_counters = false;
    }
    if (p->counter_off)
        p->counter_off[counter] = !shown;
    e->placed = false;
    explore_moved(e);
}

/* ---- A list of the visible promises ---- */

struct found {
    int64_t start_ns;
    uint32_t promise;
};

/* "fsync log, #12, from 1.2 ms, 3 ms long, failed" */
static void describe(char *out, size_t room, const struct weft_scene *s, uint32_t promise)
{
    const struct weft_promise *p = &s->m->promise[promise];
    char type[EXPLORE_FACT_LABEL], label[EXPLORE_FACT_LABEL];
    explore_fact_type(type, sizeof type, s->m, promise);
    bool labelled = explore_fact_label(label, sizeof label, s->m, promise) != 0;
    snprintf(out, room, "%s%s%s, #%" PRIu64 ", from %s, %s long, %s", type, labelled ? " " : "",
             label, p->id, weft_moment(weft_layout_start(s->l, p)).text,
             weft_duration(explore_length(s, promise)).text,
             weft_model_overdue(s->m, promise) ? "never resolved, but must be"
                                               : weft_outcome_name((enum weft_outcome)p->outcome));
}

void explore_visible_clear(struct explore_visible *v)
{
    v->count = v->all = 0;
}

static int by_start(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    WEFT_ORDER(x->start_ns, y->start_ns);
    return weft_order(x->promise, y->promise);
}

int explore_visible_list(struct explore_visible *v, const struct weft_scene *s,
                         const struct weft_geometry *g, unsigned pane, uint32_t max)
{
    struct found found[WEFT_VISIBLE_MAX];
    uint32_t count;
    uint64_t all;
    max = max < WEFT_VISIBLE_MAX - v->count ? max : WEFT_VISIBLE_MAX - v->count;
    struct weft_view_line *line = weft_view_longest(s, g, max, &count, &all);
    if (!line)
        return WEFT_E_NOMEM;
    v->all = all < UINT32_MAX - v->all ? v->all + (uint32_t)all : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        found[i] = (struct found){s->l->start[line[i].span], s->l->spans[line[i].span]};
    free(line);
    qsort(found, count, sizeof *found, by_start);
    for (uint32_t i = 0; i < count; i++) {
        char *text = v->text[v->count];
        describe(text, sizeof v->text[0], s, found[i].promise);
        v->item[v->count++] =
            (struct weft_visible){.text = text, .pane = pane, .promise = found[i].promise};
    }
    return 0;
}
