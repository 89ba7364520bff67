/* SPDX-License-Identifier: ISC */
/* Which times and which rows are visible, and how the panes are aligned. */
#include <stdio.h>

#include "base/order.h"
#include "explore/state.h"

#define SPAN_MIN 100.0    /* ns; narrower only if the trace is shorter */
#define BEYOND 1.1        /* at most this many times the trace's length is visible */
#define PAN_MARGIN 0.1    /* this part of the width stays over the trace */
#define ROW_PX 22.0       /* height of a row that is not squeezed */
#define PRECISION 0x1p-44 /* of the largest time: what is narrower cannot be told apart */

/* ---- Times ---- */

static double offset_of(const struct weft_explorer *e, unsigned pane)
{
    return e->is_free ? 0 : e->pane[pane].view.offset;
}

struct explore_window explore_window_get(const struct weft_explorer *e, unsigned pane)
{
    if (e->is_free)
        return e->pane[pane].view.window;
    double offset = e->pane[pane].view.offset;
    return (struct explore_window){e->window.from + offset, e->window.to + offset};
}

const struct weft_folds *explore_folds(const struct weft_explorer *e, unsigned pane)
{
    bool own = e->is_free || e->panes == 1;
    const struct weft_folds *f = &e->pane[pane].scene->folds;
    return e->folds && own && f->count ? f : NULL;
}

struct explore_window explore_window_shown(const struct weft_explorer *e, unsigned pane,
                                           struct explore_window w)
{
    const struct weft_folds *f = explore_folds(e, pane);
    return (struct explore_window){weft_folds_shown_at(f, w.from), weft_folds_shown_at(f, w.to)};
}

struct explore_window explore_window_real(const struct weft_explorer *e, unsigned pane,
                                          struct explore_window shown)
{
    const struct weft_folds *f = explore_folds(e, pane);
    return (struct explore_window){weft_folds_time_at(f, shown.from),
                                   weft_folds_time_at(f, shown.to)};
}

/* The range that can be shown at all, in shown times of the first pane if axes are linked; and the range that "show
 * everything" shows, in real ones. */
struct bounds {
    double begin, end, fit_from, fit_to, least, most;
    double first_from; /* what the first view shows: from here to fit_to */
};

static struct bounds find_bounds(const struct weft_explorer *e, unsigned pane)
{
    struct bounds b = {.end = 1, .fit_to = 1};
    unsigned first = e->is_free ? pane : 0, last = e->is_free ? pane + 1 : e->panes;
    for (unsigned i = first; i < last && i < e->panes; i++) {
        const struct explore_pane *p = &e->pane[i];
        double offset = offset_of(e, i), begin = p->begin - offset, end = p->end - offset;
        bool is_first = i == first;
        b.begin = is_first || begin < b.begin ? begin : b.begin;
        b.end = is_first || end > b.end ? end : b.end;
        b.fit_from = is_first || -offset < b.fit_from ? -offset : b.fit_from;
        b.fit_to = b.end;
        double whole = p->first - offset;
        b.first_from = is_first || whole < b.first_from ? whole : b.first_from;
    }
    struct explore_window all = {b.begin, b.end}, fits = {b.fit_from, b.fit_to};
    if (first < e->panes) { /* linked axes have no folds, so all panes are alike */
        all = explore_window_shown(e, first, all);
        fits = explore_window_shown(e, first, fits);
    }
    b.begin = all.from;
    b.end = all.to;
    double longest = b.end - b.begin;
    for (unsigned i = 0; i < e->panes; i++) { /* all are shown as wide as the longest */
        all = explore_window_shown(e, i, (struct explore_window){e->pane[i].begin, e->pane[i].end});
        double length = all.to - all.from;
        longest = length > longest ? length : longest;
    }
    double fit = fits.to - fits.from, large = b.end > -b.begin ? b.end : -b.begin;
    b.most = longest * BEYOND;
    b.least = fit < SPAN_MIN ? fit : SPAN_MIN;
    if (b.least < large * PRECISION)
        b.least = large * PRECISION;
    if (b.most < b.least)
        b.most = b.least;
    return b;
}

/* The same width, moved so that margin of it is over the trace. */
static struct explore_window bring_inside(const struct bounds *b, struct explore_window w,
                                          double margin)
{
    double keep = (w.to - w.from) * margin;
    double back = w.from - (b->end - keep), on = b->begin + keep - w.to;
    if (back > 0)
        return (struct explore_window){w.from - back, w.to - back};
    if (on > 0)
        return (struct explore_window){w.from + on, w.to + on};
    return w;
}

static void put(struct weft_explorer *e, unsigned pane, struct explore_window w)
{
    struct explore_window *at = e->is_free ? &e->pane[pane].view.window : &e->window;
    if (at->from == w.from && at->to == w.to)
        return;
    *at = w;
    explore_moved(e);
}

void explore_window_set(struct weft_explorer *e, unsigned pane, struct explore_window w,
                        double margin)
{
    struct bounds b = find_bounds(e, pane);
    double offset = offset_of(e, pane);
    struct explore_window real = {w.from - offset, w.to - offset}, shown = w;
    if (pane < e->panes)
        shown = explore_window_shown(e, pane, real);
    w = shown;
    double span = w.to - w.from, wanted = span < b.least ? b.least : span > b.most ? b.most : span;
    if (wanted != span) {
        double middle = w.from + span / 2;
        w.from = middle - wanted / 2;
        if (wanted < span &&
            wanted >= b.end - b.begin) { /* all of the trace stays visible that was */
            w.from = shown.from <= b.begin && w.from > b.begin ? b.begin : w.from;
            double first = b.end - wanted;
            w.from = shown.to >= b.end && w.from < first ? first : w.from;
        }
        w.to = w.from + wanted;
    }
    w = bring_inside(&b, w, margin);
    bool kept = w.from == shown.from && w.to == shown.to; /* then without another rounding */
    put(e, pane, kept ? real : explore_window_real(e, pane, w));
}

void explore_window_settle(struct weft_explorer *e)
{
    for (unsigned i = 0; i < (e->is_free ? e->panes : e->panes != 0); i++)
        explore_window_set(e, i, explore_window_get(e, i), 0);
}

bool explore_window_go(struct weft_explorer *e, unsigned pane, struct explore_window w)
{
    struct bounds b = find_bounds(e, pane);
    double offset = offset_of(e, pane);
    w.from -= offset;
    w.to -= offset;
    /* A little more than can be reached otherwise, because a place is rounded. The place written for this view must be
     * the same again: so the range is either kept exactly or not at all. */
    struct explore_window shown = explore_window_shown(e, pane, w);
    double span = shown.to - shown.from;
    bool kept = span > 0 && span >= b.least - 2 && span <= b.most + 2 && shown.from <= b.end + 2 &&
                shown.to >= b.begin - 2;
    if (kept)
        put(e, pane, w);
    return kept;
}

/* Where things are in a pane that has been drawn; NULL: there is none. */
static const struct weft_geometry *drawn(const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].height_px && e->pane[i].geometry.x1 > e->pane[i].geometry.x0)
            return &e->pane[i].geometry;
    return NULL;
}

double explore_axis_x0(const struct weft_explorer *e)
{
    const struct weft_geometry *g = drawn(e);
    return g ? (double)g->x0 / WEFT_PX : 0;
}

double explore_axis_px(const struct weft_explorer *e)
{
    const struct weft_geometry *g = drawn(e);
    return g ? (double)(g->x1 - g->x0) / WEFT_PX : e->width_px;
}

double explore_time_at(const struct weft_explorer *e, unsigned pane, double x)
{
    struct explore_window w = explore_window_shown(e, pane, explore_window_get(e, pane));
    double shown = w.from + (w.to - w.from) * ((x - explore_axis_x0(e)) / explore_axis_px(e));
    return weft_folds_time_at(explore_folds(e, pane), shown);
}

void explore_window_zoom(struct weft_explorer *e, unsigned pane, double x, double factor)
{
    struct bounds b = find_bounds(e, pane);
    struct explore_window w = explore_window_shown(e, pane, explore_window_get(e, pane));
    double span = w.to - w.from, wanted = span / factor, share;
    wanted = wanted < b.least ? b.least : wanted > b.most ? b.most : wanted;
    if ((factor > 1 && wanted >= span) || (factor < 1 && wanted <= span))
        return;
    share = (x - explore_axis_x0(e)) / explore_axis_px(e);
    w.from += (span - wanted) * share;
    w.to = w.from + wanted;
    explore_window_set(e, pane, explore_window_real(e, pane, w), 0);
}

struct explore_window explore_window_beside(const struct weft_explorer *e, unsigned pane,
                                            struct explore_window w, double pixels)
{
    w = explore_window_shown(e, pane, w);
    double by = (w.to - w.from) * pixels / explore_axis_px(e);
    return explore_window_real(e, pane, (struct explore_window){w.from + by, w.to + by});
}

void explore_window_pan(struct weft_explorer *e, unsigned pane, double pixels)
{
    struct explore_window w = explore_window_beside(e, pane, explore_window_get(e, pane), pixels);
    explore_window_set(e, pane, w, PAN_MARGIN);
}

void explore_window_shift(struct weft_explorer *e, unsigned pane, struct explore_window w)
{
    if (e->is_free || e->panes == 1) {
        explore_window_set(e, pane, w, PAN_MARGIN);
        return;
    }
    const struct explore_pane *p = &e->pane[pane];
    struct bounds own = {.begin = p->begin, .end = p->end};
    w = bring_inside(&own, w, PAN_MARGIN);
    double by = w.from - e->window.from - p->view.offset;
    if (pane == 0) { /* its offset is always 0, so the others move the other way */
        e->window = w;
        for (unsigned i = 1; i < e->panes; i++)
            e->pane[i].view.offset -= by;
    } else {
        e->pane[pane].view.offset += by;
    }
    explore_moved(e);
}

/* Whether everything is shown, or what the first view shows. */
static bool shows(const struct weft_explorer *e, bool first)
{
    for (unsigned i = 0; i < e->panes; i++) {
        struct bounds b = find_bounds(e, i);
        const struct explore_window *w = e->is_free ? &e->pane[i].view.window : &e->window;
        if (w->from != (first ? b.first_from : b.fit_from) || w->to != b.fit_to ||
            e->pane[i].view.spread > 0)
            return false;
    }
    return true;
}

static void show(struct weft_explorer *e, bool first)
{
    for (unsigned i = 0; i < e->panes; i++) {
        struct bounds b = find_bounds(e, i);
        put(e, i, (struct explore_window){first ? b.first_from : b.fit_from, b.fit_to});
    }
}

void explore_window_link(struct weft_explorer *e, bool linked)
{
    if (e->is_free == !linked)
        return;
    if (linked) {
        struct explore_window w = e->pane[e->active].view.window;
        double first = e->pane[0].view.window.from;
        for (unsigned i = 0; i < e->panes; i++)
            e->pane[i].view.offset = e->pane[i].view.window.from - first;
        e->window = (struct explore_window){first, first + (w.to - w.from)};
    } else {
        for (unsigned i = 0; i < e->panes; i++)
            e->pane[i].view.window = explore_window_get(e, i);
    }
    const bool first = !linked && shows(e, true), all = !linked && shows(e, false);
    e->is_free = !linked;
    if (first || all)
        show(e, first); /* of each as much as there is of it */
    else
        explore_window_settle(e);
    explore_moved(e);
}

bool explore_window_is_fit(const struct weft_explorer *e)
{
    return shows(e, false);
}

void explore_window_fit(struct weft_explorer *e)
{
    bool again = explore_window_is_fit(e); /* not even moved relative to each other */
    struct explore_clocks clocks;
    explore_clocks_find(e, &clocks);
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *p = &e->pane[i];
        explore_rows_squeeze(p);
        p->view.offset = again ? clocks.offset[i] : p->view.offset;
    }
    show(e, false);
    explore_moved(e);
}

bool explore_window_is_first(const struct weft_explorer *e)
{
    return shows(e, true);
}

void explore_window_first(struct weft_explorer *e)
{
    show(e, true);
}

void weft_explorer_fold(struct weft_explorer *e, bool on)
{
    if (e->folds == on)
        return;
    e->folds = on;
    e->drag.grip = EXPLORE_GRIP_NONE;
    e->wheel_x = -1;
    explore_window_settle(e);
    explore_changed(e, WEFT_CHANGED_TIP);
    explore_moved(e);
}

/* ---- Rows ---- */

/* Without the math library, which the page does not have. */
double explore_notches(double notches)
{
    const double most = 40, log_of_notch = 0.1823215567939546;
    notches = notches > most ? most : notches < -most ? -most : notches == notches ? notches : 0;
    double result = 1;
    for (; notches >= 1; notches--)
        result *= 1.2;
    for (; notches <= -1; notches++)
        result /= 1.2;
    double x = notches * log_of_notch, term = 1, sum = 1;
    for (int i = 1; i < 12; i++) {
        term *= x / i;
        sum += term;
    }
    return notches == 0 ? result : result * sum;
}

void explore_rows_squeeze(struct explore_pane *p)
{
    p->view.spread = 0;
    p->view.focus_row = WEFT_NONE;
    p->view.focus_px = 0;
}

void explore_rows_spread(struct weft_explorer *e, unsigned pane, double factor)
{
    struct explore_pane *p = &e->pane[pane];
    double rows = (double)p->scene->l->rows * ROW_PX * e->text_percent / 100;
    double whole =
        p->height_px ? rows / p->height_px : 1; /* ratio of the height to the squeezed height */
    if (whole < 1.01)
        whole = 1.01;
    double scale = 1 + p->view.spread / WEFT_SPREAD_MAX * (whole - 1);
    scale *= factor;
    scale = scale < 1 ? 1 : scale > whole ? whole : scale;
    double spread = (scale - 1) / (whole - 1) * WEFT_SPREAD_MAX;
    if (explore_round(spread) != explore_round(p->view.spread))
        explore_moved(e);
    p->view.spread = spread;
}

void explore_zoom(struct weft_explorer *e, unsigned pane, double x, double factor)
{
    explore_window_zoom(e, pane, x, factor);
    for (unsigned i = 0; i < e->panes; i++)
        if (i == pane || (factor < 1 && !e->is_free))
            explore_rows_spread(e, i, factor);
}

bool explore_row_at(const struct weft_explorer *e, unsigned pane, uint32_t row, int32_t *middle_px,
                    int32_t *height_px)
{
    const struct weft_geometry *g = &e->pane[pane].geometry;
    uint32_t low = 0, high = e->pane[pane].height_px ? g->shown : 0;
    WEFT_SEEK(low, high, g->shown_row[middle] < row);
    if (!e->pane[pane].height_px || low == g->shown || g->shown_row[low] != row)
        return false;
    int32_t top = g->shown_y[low], bottom = g->shown_y[low + 1];
    *middle_px = (top + (bottom - top) / 2) / WEFT_PX - e->pane[pane].top_px;
    *height_px = (bottom - top) / WEFT_PX;
    return true;
}

void explore_rows_focus(struct weft_explorer *e, unsigned pane, uint32_t row, int32_t middle_px)
{
    struct explore_pane *p = &e->pane[pane];
    int32_t most = p->height_px;
    middle_px = middle_px < 0 ? 0 : middle_px > most ? most : middle_px;
    if (p->view.focus_row == row && p->view.focus_px == middle_px)
        return;
    p->view.focus_row = row;
    p->view.focus_px = middle_px;
    if (explore_round(p->view.spread) > 0)
        explore_moved(e);
    else
        explore_changed(e, WEFT_CHANGED_PLACE);
}

void explore_rows_scroll(struct weft_explorer *e, unsigned pane, double pixels)
{
    struct explore_pane *p = &e->pane[pane];
    if (explore_refresh_rested(e) < 0 || p->geometry.shown == 0 ||
        explore_round(p->view.spread) == 0)
        return;
    const struct weft_geometry *g = &p->geometry;
    /* The row in the middle is the focus: it moves by exactly this, as far as there are rows. */
    const int32_t centre = (g->rows_y0 + g->rows_y1) / 2;
    const double most = (double)(g->rows_y1 - g->rows_y0) / WEFT_PX / 3;
    pixels = pixels > most ? most : pixels < -most ? -most : pixels;
    uint32_t low = 1, high = g->shown;
    WEFT_SEEK(low, high, g->shown_y[middle] <= centre);
    const uint32_t row = g->shown_row[low - 1];
    int32_t at, height;
    e->wheel_x = -1;
    if (explore_row_at(e, pane, row, &at, &height))
        explore_rows_focus(e, pane, row, at - (int32_t)explore_round(pixels));
}

/* ---- Clocks ----
 *
 * Traces that were recorded at the same time are aligned so that the same wall-clock time is at the same x. A trace is
 * aligned with the first one above it that it overlaps; if there is none, both begin at the same place. */

/* The wall clock at the beginning of a trace, and at its end. */
static bool wall_of(const struct explore_pane *p, int64_t *begin, int64_t *end)
{
    const struct weft_model *m = p->model;
    *begin = m->wall_ns;
    *end = m->wall_ns + (m->end_ns > 0 ? m->end_ns : 0); /* cannot overflow */
    return m->has_wall;
}

static bool overlap(const struct explore_pane *a, const struct explore_pane *b)
{
    int64_t a_begin, a_end, b_begin, b_end;
    return wall_of(a, &a_begin, &a_end) && wall_of(b, &b_begin, &b_end) && a_begin <= b_end &&
           b_begin <= a_end;
}

void explore_clocks_find(const struct weft_explorer *e, struct explore_clocks *c)
{
    *c = (struct explore_clocks){.count = 0};
    for (unsigned i = 0; i < e->panes; i++)
        for (unsigned j = 0; j < i; j++)
            if (overlap(&e->pane[j], &e->pane[i])) {
                int64_t later = e->pane[j].model->wall_ns - e->pane[i].model->wall_ns;
                c->offset[i] = c->offset[j] + (double)later;
                c->is_common[i] = c->is_common[j] = true;
                c->count++;
                break;
            }
}

/* Returns true if the pane is where the clocks say. */
static bool is_there(const struct weft_explorer *e, const struct explore_clocks *c, unsigned pane)
{
    return explore_round(e->pane[pane].view.offset) == explore_round(c->offset[pane]);
}

void explore_clocks_keep(struct weft_explorer *e, const struct explore_clocks *before)
{
    struct explore_clocks now;
    explore_clocks_find(e, &now);
    for (unsigned i = 1; i < e->panes; i++)
        if (before->is_common[i] && now.is_common[i] && is_there(e, before, i))
            e->pane[i].view.offset = now.offset[i];
}

bool explore_clocks_align(struct weft_explorer *e)
{
    struct explore_clocks c;
    bool are_there = !e->is_free;
    explore_clocks_find(e, &c);
    for (unsigned i = 1; i < e->panes; i++)
        are_there = are_there && is_there(e, &c, i);
    if (e->panes < 2 || (are_there && c.count == 0))
        return false;
    explore_history_leave(e);
    explore_window_link(e, true);
    for (unsigned i = 1; i < e->panes; i++)
        e->pane[i].view.offset = are_there ? 0 : c.offset[i];
    explore_window_settle(e);
    explore_history_arrive(e);
    explore_changed(e, WEFT_CHANGED_FACTS);
    explore_moved(e);
    return true;
}

const char *explore_clocks_say(const struct weft_explorer *e, unsigned pane, char *out, size_t room)
{
    struct explore_clocks c;
    if (e->panes < 2)
        return NULL;
    if (e->is_free)
        return "free: each trace has its own";
    explore_clocks_find(e, &c);
    if (!c.is_common[pane])
        return "no time in common with the others by the wall clock";
    bool are_there = true;
    for (unsigned i = 1; i < e->panes; i++)
        are_there = are_there && (!c.is_common[i] || is_there(e, &c, i));
    if (pane == 0 && !are_there)
        return "others are not where they are by the wall clock";
    if (pane == 0 || is_there(e, &c, pane))
        return "aligned by the wall clock";
    double later = e->pane[pane].view.offset - c.offset[pane];
    snprintf(out, room, "%s %s than by the wall clock",
             weft_duration(explore_round(later < 0 ? -later : later)).text,
             later < 0 ? "later" : "earlier");
    return out;
}
