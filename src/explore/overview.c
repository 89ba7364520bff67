/* SPDX-License-Identifier: ISC */
/* The overview above the panes: one strip, in which each trace has a band. While axes are linked, all bands have one time
 * axis, and the view is the same window in each; while they are free, each band shows its own trace's whole time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "explore/state.h"
#include "view/overview.h"

#define EDGE_PX 5.0 /* this near to an edge of the window, one drags the edge */
#define WHOLE 0.98  /* a window of this share is not moved, but brushed anew */
#define JUMP 0.1    /* share of the whole time that a click shows if everything is in view */
#define MARK_PX 4.0 /* a click this near to a finding shows it */
enum { ONE_PX = 52, SEVERAL_PX = 116, BAND_PX = 26, PAD_PX = 2, PANE_LEAST_PX = 200, PARTS = 20 };

/* ---- Where things are ---- */

int32_t explore_overview_height(const struct weft_explorer *e, int32_t height_px)
{
    if (!e->overview || e->panes == 0)
        return 0;
    int32_t height = (int32_t)e->panes * BAND_PX;
    height = e->panes == 1 ? ONE_PX : height < SEVERAL_PX ? height : SEVERAL_PX;
    height = height * e->text_percent / 100;
    return height_px - height >= PANE_LEAST_PX ? height : 0;
}

static int32_t shown_height(const struct weft_explorer *e)
{
    return explore_overview_height(e, e->height_px - explore_flame_height(e, e->height_px));
}

bool explore_overview_has(const struct weft_explorer *e, double y)
{
    return y >= 0 && y < shown_height(e);
}

/* The top of a pane's band, or the end of the last one, in pixels. */
static int32_t band_top(const struct weft_explorer *e, unsigned pane, int32_t height)
{
    int32_t room = height - 2 * PAD_PX;
    return PAD_PX + room * (int32_t)pane / (int32_t)e->panes;
}

static unsigned pane_at(const struct weft_explorer *e, double y)
{
    int32_t height = shown_height(e);
    unsigned pane = 0;
    while (pane + 1 < e->panes && y >= band_top(e, pane + 1, height))
        pane++;
    return pane;
}

/* The times of a pane that its band shows. */
static struct explore_window whole_of(const struct weft_explorer *e, unsigned pane)
{
    struct explore_window w = {0, e->pane[pane].end};
    if (e->is_free)
        return w;
    double own = e->pane[pane].view.offset;
    for (unsigned i = 0; i < e->panes; i++) {
        double offset = own - e->pane[i].view.offset, end = e->pane[i].end + offset;
        w.from = offset < w.from ? offset : w.from;
        w.to = end > w.to ? end : w.to;
    }
    return w;
}

static double x0_of(void)
{
    return WEFT_OVERVIEW_MARGIN / (double)WEFT_PX;
}

static double axis_px(const struct weft_explorer *e)
{
    return e->width_px - 2 * x0_of();
}

/* The time at an x, within what the band shows. */
static double time_at(const struct weft_explorer *e, unsigned pane, double x)
{
    struct explore_window w = whole_of(e, pane);
    double share = (x - x0_of()) / axis_px(e);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return w.from + share * (w.to - w.from);
}

static double x_of(const struct weft_explorer *e, unsigned pane, double time)
{
    struct explore_window w = whole_of(e, pane);
    double share = (time - w.from) / (w.to - w.from);
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return x0_of() + share * axis_px(e);
}

/* ---- Drawing ---- */

/* A finding that took a while is marked where it begins. */
static uint32_t find_marks(const struct explore_pane *p, struct weft_overview_mark *mark)
{
    const struct weft_findings *f = p->trace->analysis ? &p->trace->analysis->findings : NULL;
    uint32_t count = 0;
    for (; f && count < f->count; count++)
        mark[count] =
            (struct weft_overview_mark){.time_ns = f->finding[count].start_ns,
                                        .weight = (uint8_t)(f->finding[count].confidence + 1)};
    return count;
}

static int draw_band(const struct weft_explorer *e, struct weft_drawlist *list, unsigned pane,
                     int32_t height, struct weft_overview_mark *mark)
{
    const struct explore_pane *p = &e->pane[pane];
    struct explore_window w = whole_of(e, pane), view = explore_window_get(e, pane);
    int32_t y1 = band_top(e, pane + 1, height) - (pane + 1 < e->panes);
    struct weft_overview_strip s = {
        .x0 = WEFT_OVERVIEW_MARGIN,
        .x1 = e->width_px * WEFT_PX - WEFT_OVERVIEW_MARGIN,
        .y0 = band_top(e, pane, height) * WEFT_PX,
        .y1 = y1 * WEFT_PX,
        .from_ns = explore_round(w.from),
        .to_ns = explore_round(w.to),
        .view_from_ns = explore_round(view.from),
        .view_to_ns = explore_round(view.to),
        .mark = mark,
        .marks = find_marks(p, mark),
        .counter_off = p->counter_off,
        .no_counters = e->no_counters,
        .no_strips = e->no_strips,
        .text_percent = e->text_percent,
    };
    s.to_ns = s.to_ns > s.from_ns ? s.to_ns : s.from_ns + 1;
    return weft_overview_draw(list, p->scene, &s);
}

int explore_overview_draw(struct weft_explorer *e, struct weft_drawlist *list)
{
    int32_t height = shown_height(e);
    if (height == 0)
        return 0;
    struct weft_overview_mark *mark = malloc(WEFT_FINDINGS_MAX * sizeof *mark);
    int rc = mark ? 0 : WEFT_E_NOMEM;
    for (unsigned i = 0; rc == 0 && i < e->panes; i++)
        rc = draw_band(e, list, i, height, mark);
    free(mark);
    if (rc == 0)
        weft_notice_line(list, WEFT_INK_GRID, 0, (height - 1) * WEFT_PX, e->width_px * WEFT_PX);
    return rc;
}

/* ---- The pointer ---- */

static enum explore_overview_part part_at(const struct weft_explorer *e, unsigned pane, double x)
{
    struct explore_window w = whole_of(e, pane), view = explore_window_get(e, pane);
    double from = x_of(e, pane, view.from), to = x_of(e, pane, view.to);
    double left = x > from ? x - from : from - x, right = x > to ? x - to : to - x;
    bool narrow = to - from < 4 * EDGE_PX; /* then its middle moves it */
    if (left <= EDGE_PX && left <= right && (!narrow || x < from))
        return EXPLORE_OVERVIEW_FROM;
    if (right <= EDGE_PX && (!narrow || x > to))
        return EXPLORE_OVERVIEW_TO;
    if (x < from || x > to || view.to - view.from >= WHOLE * (w.to - w.from))
        return EXPLORE_OVERVIEW_BRUSH;
    return EXPLORE_OVERVIEW_MOVE;
}

void explore_overview_press(struct weft_explorer *e, double x, double y, int clicks)
{
    unsigned pane = pane_at(e, y);
    explore_activate(e, pane);
    explore_tip_forget(e);
    if (clicks == 2) {
        weft_explorer_command(e, WEFT_COMMAND_FIT);
        return;
    }
    e->drag = (struct explore_drag){.grip = EXPLORE_GRIP_OVERVIEW,
                                    .part = part_at(e, pane, x),
                                    .pane = pane,
                                    .x = x,
                                    .y = y,
                                    .row = WEFT_NONE,
                                    .window = explore_window_get(e, pane),
                                    .time_ns = explore_round(time_at(e, pane, x))};
}

/* Shows these times, moved into what the strip shows. */
static void move_to(struct weft_explorer *e, unsigned pane, struct explore_window w)
{
    struct explore_window whole = whole_of(e, pane);
    double over = w.to - whole.to;
    w.from -= over > 0 ? over : 0;
    w.to -= over > 0 ? over : 0;
    double under = whole.from - w.from;
    w.from += under > 0 ? under : 0;
    w.to += under > 0 ? under : 0;
    explore_window_set(e, pane, w, 0);
}

void explore_overview_drag(struct weft_explorer *e, double x, bool first)
{
    const struct explore_drag *d = &e->drag;
    struct explore_window w = d->window;
    double now = time_at(e, d->pane, x), then = (double)d->time_ns;
    if (first)
        explore_history_leave(e);
    switch (d->part) {
    case EXPLORE_OVERVIEW_MOVE:
        w.from += now - then;
        w.to += now - then;
        break;
    case EXPLORE_OVERVIEW_FROM:
        w.from = now;
        break;
    case EXPLORE_OVERVIEW_TO:
        w.to = now;
        break;
    case EXPLORE_OVERVIEW_BRUSH:
        w = (struct explore_window){then, now};
        break;
    }
    if (w.from > w.to)
        w = (struct explore_window){w.to, w.from};
    if (d->part == EXPLORE_OVERVIEW_MOVE)
        move_to(e, d->pane, w);
    else
        explore_window_set(e, d->pane, w, 0);
}

/* The finding nearest to x, or WEFT_NONE. */
static uint32_t finding_at(const struct weft_explorer *e, unsigned pane, double x, double reach)
{
    const struct weft_analysis *a = e->pane[pane].trace->analysis;
    uint32_t best = WEFT_NONE;
    double nearest = reach;
    for (uint32_t i = 0; a && i < a->findings.count; i++) {
        double at = x_of(e, pane, (double)a->findings.finding[i].start_ns),
               far = at > x ? at - x : x - at;
        if (far < nearest) {
            nearest = far;
            best = i;
        }
    }
    return best;
}

/* Shows the time in the middle of the view; if everything is in view, zooms in there. */
static void jump(struct weft_explorer *e, unsigned pane, double time)
{
    struct explore_window w = whole_of(e, pane), view = explore_window_get(e, pane);
    double span = view.to - view.from, all = w.to - w.from;
    if (span >= WHOLE * all)
        span = all * JUMP;
    move_to(e, pane, (struct explore_window){time - span / 2, time + span / 2});
}

void explore_overview_release(struct weft_explorer *e, const struct explore_drag *d, bool moved)
{
    if (!moved) {
        uint32_t finding = finding_at(e, d->pane, d->x, MARK_PX);
        explore_history_leave(e);
        if (finding != WEFT_NONE)
            explore_finding_show(e, d->pane, finding, true);
        else
            jump(e, d->pane, (double)d->time_ns);
    }
    explore_history_arrive(e);
}

static void zoom(struct weft_explorer *e, unsigned pane, double x, double factor)
{
    struct explore_window view = explore_window_get(e, pane);
    double time = time_at(e, pane, x), share = (time - view.from) / (view.to - view.from);
    double span = (view.to - view.from) / factor;
    if (share < 0 || share > 1) /* what is not in view comes into it first */
        share = 0.5;
    explore_window_set(e, pane,
                       (struct explore_window){time - span * share, time + span * (1 - share)}, 0);
}

static void pan(struct weft_explorer *e, unsigned pane, double pixels)
{
    struct explore_window whole = whole_of(e, pane), w = explore_window_get(e, pane);
    double by = (whole.to - whole.from) * pixels / axis_px(e);
    move_to(e, pane, (struct explore_window){w.from + by, w.to + by});
}

void explore_overview_move(struct weft_explorer *e, double x, double y, double pixels,
                           double factor, enum explore_movement movement)
{
    unsigned pane = pane_at(e, y);
    explore_history_move(e, movement);
    explore_activate(e, pane);
    explore_tip_forget(e);
    pan(e, pane, pixels);
    zoom(e, pane, x, factor);
}

/* ---- In words ---- */

static void say_finding(struct analyse_text *t, const struct weft_explorer *e, unsigned pane,
                        double x)
{
    uint32_t at = finding_at(e, pane, x, MARK_PX);
    if (at == WEFT_NONE)
        return;
    const struct weft_finding *f = &e->pane[pane].trace->analysis->findings.finding[at];
    analyse_put_format(t, "; %s (%s)", weft_finding_name(f->kind),
                       weft_confidence_name(f->confidence));
}

static void say_sum(struct analyse_text *t, const struct weft_scene *s,
                    const struct weft_overview_sum *x)
{
    uint64_t whole = (uint64_t)(x->to_ns - x->from_ns);
    if (s->o->runs)
        analyse_put_format(t, "running %s", explore_share(x->run_ns, whole).text);
    else
        analyse_put_format(t, "%s began or happened", weft_count(x->acts).text);
    if (s->o->on_ns)
        analyse_put_format(t, ", on a core %s", explore_share(x->on_ns, whole).text);
    if (x->from_ns < weft_layout_whole(s->m))
        analyse_put_format(t, ", events are overwritten");
    if (x->failed)
        analyse_put_format(t, ", %s failed", weft_count(x->failed).text);
}

void explore_overview_tip(const struct weft_explorer *e, struct analyse_text *t, double x, double y)
{
    unsigned pane = pane_at(e, y);
    const struct explore_pane *p = &e->pane[pane];
    int64_t from = explore_round(time_at(e, pane, x - 1)),
            to = explore_round(time_at(e, pane, x + 1));
    if (to < 0 || from > explore_round(p->end))
        return;
    struct weft_overview_sum sum;
    weft_overview_between(&sum, p->scene, from, to);
    if (e->panes > 1)
        analyse_put_format(t, "%s: ", p->title);
    analyse_put_format(t, "%s to ", weft_moment(sum.from_ns).text);
    analyse_put_format(t, "%s: ", weft_moment(sum.to_ns).text);
    say_sum(t, p->scene, &sum);
    say_finding(t, e, pane, x);
}

/* Where the most ran, or happened, in one of PARTS equal parts of a trace. */
static void say_busiest(struct analyse_text *t, const struct explore_pane *p)
{
    struct weft_overview_sum best = {0}, sum, all;
    int64_t end = explore_round(p->end);
    weft_overview_between(&all, p->scene, 0, end);
    for (int64_t i = 0; i < PARTS; i++) {
        int64_t from = end / PARTS * i, to = i + 1 < PARTS ? end / PARTS * (i + 1) : end;
        weft_overview_between(&sum, p->scene, from, to);
        bool more = p->scene->o->runs ? sum.run_ns > best.run_ns : sum.acts > best.acts;
        best = i == 0 || more ? sum : best;
    }
    analyse_put_format(t, ". Busiest from %s ", weft_moment(best.from_ns).text);
    analyse_put_format(t, "to %s: ", weft_moment(best.to_ns).text);
    say_sum(t, p->scene, &best);
    if (all.failed > best.failed)
        analyse_put_format(t, "; %s failed in all", weft_count(all.failed).text);
    if (p->trace->analysis)
        analyse_put_format(t, ". %s finding%s", weft_count(p->trace->analysis->findings.count).text,
                           weft_plural(p->trace->analysis->findings.count));
}

const char *weft_explorer_where(struct weft_explorer *e)
{
    struct analyse_text t = {0};
    *e->where = '\0';
    if (e->active >= e->panes)
        return e->where;
    const struct explore_pane *p = &e->pane[e->active];
    struct explore_window w = explore_window_get(e, e->active);
    if (e->panes > 1)
        analyse_put_format(&t, "%s: ", p->title);
    analyse_put_format(&t, "%s ", weft_moment(explore_round(w.from)).text);
    analyse_put_format(&t, "to %s ", weft_moment(explore_round(w.to)).text);
    analyse_put_format(&t, "of %s are in view", weft_duration(explore_round(p->end)).text);
    say_busiest(&t, p);
    if (p->model->losses.overwritten)
        analyse_put_format(&t, ". Complete from %s on",
                           weft_moment(weft_layout_whole(p->model)).text);
    if (p->scene->l->gones)
        analyse_put_format(&t, ". Pending since before the trace: %s",
                           weft_count(p->scene->l->gones).text);
    snprintf(e->where, sizeof e->where, "%s.", t.text ? t.text : "");
    analyse_text_fini(&t);
    return e->where;
}
