/* SPDX-License-Identifier: ISC */
/* The picture: its size, what is in it, and rows that glide. */
#include "explore/state.h"
#include "view/overview.h"

enum {
    FRAME_NS = 16000000, /* the first of several */
    GLIDE_NS = 40000000,
};

static int32_t within(int px)
{
    return px < WEFT_PICTURE_MIN_PX   ? WEFT_PICTURE_MIN_PX
           : px > WEFT_PICTURE_MAX_PX ? WEFT_PICTURE_MAX_PX
                                      : px;
}

void weft_explorer_resize(struct weft_explorer *e, int width_px, int height_px)
{
    if (e->width_px == within(width_px) && e->height_px == within(height_px))
        return;
    e->width_px = within(width_px);
    e->height_px = within(height_px);
    e->drag.grip = EXPLORE_GRIP_NONE;
    e->placed = false;
    explore_changed(e, WEFT_CHANGED_PANES);
    explore_moved(e);
}

void weft_explorer_usually_overview(struct weft_explorer *e)
{
    e->overview = e->usually_overview = true;
    e->placed = false;
    explore_moved(e);
}

void weft_explorer_text_size(struct weft_explorer *e, unsigned percent)
{
    percent = percent < 50 ? 50 : percent > 300 ? 300 : percent;
    if (e->text_percent == percent)
        return;
    e->text_percent = (uint16_t)percent;
    e->placed = false;
    explore_changed(e, WEFT_CHANGED_PANES);
    explore_moved(e);
}

static void place_times(const struct weft_explorer *e, unsigned pane, struct weft_viewport *v)
{
    const int64_t most = WEFT_TIME_MAX;
    struct explore_window w = explore_window_get(e, pane);
    int64_t from = explore_round(w.from), to = explore_round(w.to);
    v->from_ns = from > most - 1 ? most - 1 : from < -most ? -most : from;
    v->to_ns = to > most ? most : to <= v->from_ns ? v->from_ns + 1 : to;
    if (e->range_from_ns == e->range_to_ns || (e->is_free && pane != e->range_pane))
        return;
    /* If axes are linked, all panes show the same range. */
    double shift = e->is_free ? 0 : e->pane[pane].view.offset - e->pane[e->range_pane].view.offset;
    v->range_from_ns = explore_round((double)e->range_from_ns + shift);
    v->range_to_ns = explore_round((double)e->range_to_ns + shift);
    if (pane == e->range_pane) {
        v->range_from_ns = e->range_from_ns;
        v->range_to_ns = e->range_to_ns;
    }
}

static struct weft_viewport viewport_of(struct weft_explorer *e, unsigned pane)
{
    const struct explore_pane *p = &e->pane[pane];
    struct weft_viewport v = {
        .width_px = e->width_px,
        .height_px = p->height_px,
        .top_px = p->top_px,
        .focus_row = p->view.focus_row,
        .focus_px = p->view.focus_px,
        .spread = (uint16_t)explore_round(p->view.spread),
        .text_percent = e->text_percent,
        .selected = pane == e->selected_pane ? e->selected : WEFT_NONE,
        .hovered = pane == e->hovered_pane ? e->hovered : WEFT_NONE,
        .hovered_arrow = pane == e->hovered_pane ? e->hovered_arrow : 0,
        .hidden = e->hidden,
        .search = p->search,
        .groups = p->trace->groups,
        .title = p->title,
        .title_room_px = explore_title_room(e, pane),
        .added = true,
        .counter_off = p->counter_off,
        .no_counters = e->no_counters,
        .no_strips = e->no_strips,
        .folds = explore_folds(e, pane),
        .no_legend = true,
        .older = e->older,
        .mark = p->mark,
        .marks = p->marks,
    };
    const struct weft_path *path = pane == e->selected_pane ? explore_path_shown(e) : NULL;
    if (path && e->path_mark) {
        v.path = e->path_mark;
        v.path_steps = path->count;
    }
    place_times(e, pane, &v);
    return v;
}

/* The same for a picture that is saved: one legend for all, with the notes. */
static struct weft_viewport still_of(struct weft_explorer *e, unsigned pane)
{
    struct weft_viewport v = viewport_of(e, pane);
    bool last = pane + 1 == e->panes;
    v.no_legend = (e->has_diff || !e->panes_fit) && !last;
    v.note = e->note;
    v.notes = last ? e->note_count : 0;
    return v;
}

static int draw_nothing(const struct weft_explorer *e, struct weft_drawlist *list)
{
    static const char text[] = "Open a trace, or drop one here";
    weft_notice_text(list, WEFT_INK_FAINT_TEXT, 16 * WEFT_PX, e->width_px * WEFT_PX / 2,
                     e->height_px * WEFT_PX / 2, e->width_px * WEFT_PX, text);
    return list->failed ? WEFT_E_NOMEM : 0;
}

/* Covers what panes that scroll have drawn outside of their place. */
static void cover(const struct weft_explorer *e, struct weft_drawlist *list)
{
    int32_t above = weft_explorer_panes_above(e) * WEFT_PX, width = e->width_px * WEFT_PX;
    int32_t below = e->legend_px ? e->legend_top_px : e->flame.top_px;
    if (e->panes_fit)
        return;
    if (above)
        weft_notice_rect(list, WEFT_INK_GROUND, 0, 0, width, above);
    if (below < e->height_px)
        weft_notice_rect(list, WEFT_INK_GROUND, 0, below * WEFT_PX, width, list->height);
}

/* still: a picture to be saved. Otherwise the panes remember where everything is. */
static int compose(struct weft_explorer *e, struct weft_drawlist *list, bool still)
{
    weft_drawlist_clear(list, e->width_px, e->height_px);
    explore_panes_place(e, still);
    if (e->panes == 0)
        return draw_nothing(e, list);
    explore_marks_update(e);
    if (still && !explore_notes_make(e))
        return WEFT_E_NOMEM;
    for (unsigned i = 0; i < e->panes; i++) {
        struct explore_pane *p = &e->pane[i];
        struct weft_viewport v = still ? still_of(e, i) : viewport_of(e, i);
        v.tips = still;
        if (still) {
            v.hovered = WEFT_NONE;
            v.hovered_arrow = 0;
            v.title_room_px = 0;
        } else
            p->viewport = v;
        p->glide.part = e->glide_part;
        v.glide = e->glide_part && !still ? &p->glide : NULL;
        if (p->height_px == 0)
            continue;
        TRY(weft_view_draw(list, still ? NULL : &p->geometry, p->scene, &v));
        if (p->top_px > weft_explorer_panes_above(e))
            weft_notice_line(list, WEFT_INK_FAINT_TEXT, 0, p->top_px * WEFT_PX,
                             e->width_px * WEFT_PX);
        if (!still)
            explore_title_draw(e, list, i);
    }
    list->height = e->height_px * WEFT_PX; /* a pane may reach below it */
    cover(e, list);
    if (e->legend_px)
        TRY(explore_legend_draw(e, list, e->legend_top_px));
    /* Not first, because the first text is a picture's title. */
    TRY(explore_overview_draw(e, list));
    int rc = explore_flame_draw(e, list, still);
    return rc < 0 || list->failed ? WEFT_E_NOMEM : 0;
}

static int redraw(struct weft_explorer *e)
{
    int rc = compose(e, &e->list, false);
    e->moved = rc < 0;
    e->placed = e->placed || rc == 0;
    return rc;
}

int explore_refresh(struct weft_explorer *e)
{
    if (!e->moved)
        return 0;
    int rc = redraw(e);
    e->dirty = rc < 0 || e->frame_ns >= 0; /* a frame may have rows that are still on their way */
    e->glides = false;
    return rc;
}

int explore_refresh_rested(struct weft_explorer *e)
{
    e->moved = e->moved || e->glides;
    return explore_refresh(e);
}

/* ---- Gliding ---- */

static bool is_gliding(const struct weft_explorer *e)
{
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].height_px && e->pane[i].glide.moves)
            return true;
    return false;
}

/* The way that is left gets shorter by dt / (dt + 40 ms): smooth, and independent of how many frames there are. */
void weft_explorer_frame(struct weft_explorer *e, int64_t now_ns)
{
    const int64_t least = 1000000, most = 100 * least;
    int64_t dt = now_ns - e->frame_ns;
    if (!e->glides || e->frame_ns < 0 || dt > most)
        dt = FRAME_NS; /* it begins */
    dt = dt < least ? least : dt;
    e->frame_ns = now_ns < 0 ? 0 : now_ns;
    e->glide_part = (uint32_t)(dt * WEFT_GLIDE_WHOLE / (dt + GLIDE_NS));
    if (e->drag.grip != EXPLORE_GRIP_NONE) /* what is held stays under the pointer */
        e->glide_part = WEFT_GLIDE_WHOLE;
    e->dirty = e->dirty || e->glides;
}

bool weft_explorer_glides(const struct weft_explorer *e)
{
    return e->glides;
}

const struct weft_drawlist *weft_explorer_draw(struct weft_explorer *e)
{
    int rc = 0;
    if (e->dirty || e->glides) {
        rc = redraw(e);
        e->dirty = rc < 0;
        e->glides = rc == 0 && e->glide_part && is_gliding(e);
    }
    e->glide_part = 0;
    return rc < 0 ? NULL : &e->list;
}

int weft_explorer_picture(struct weft_explorer *e, struct weft_drawlist *list)
{
    int rc = compose(e, list, true);
    explore_panes_place(e, false);
    if (rc < 0)
        weft_drawlist_fini(list);
    return rc;
}

int weft_explorer_natural_height(struct weft_explorer *e, int most_px)
{
    int32_t height = 0;
    explore_marks_update(e);
    if (!explore_notes_make(e))
        return 0;
    for (unsigned i = 0; i < e->panes; i++) {
        struct weft_drawlist list = {0};
        struct weft_viewport v = still_of(e, i);
        v.height_px = v.top_px = 0;
        int rc = weft_view_draw(&list, NULL, e->pane[i].scene, &v);
        int32_t own = list.height / WEFT_PX;
        height = own > height ? own : height; /* all get the same value */
        weft_drawlist_fini(&list);
        if (rc < 0)
            return 0;
    }
    height = (height < WEFT_PICTURE_MIN_PX ? WEFT_PICTURE_MIN_PX : height) * (int32_t)e->panes;
    height += explore_overview_height(e, height + WEFT_PICTURE_MIN_PX);
    return height > most_px ? most_px : height;
}
