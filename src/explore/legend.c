/* SPDX-License-Identifier: ISC */
/* The legend below the pictures: what they show now, each kind a switch. */
#include <stdio.h>
#include <string.h>

#include "explore/state.h"

enum {
    LINES_MAX = 2, /* so that the pictures keep their height, whatever they show */
    LINES_MAX_NARROW = 3,
    NARROW_PX = 1000,
    PICTURES_MIN_PX = 300, /* if there is less room for the pictures, there is no legend */
};

/* ---- Place ---- */

static int32_t lines_of(const struct weft_explorer *e)
{
    uint32_t kinds = 0;
    for (unsigned i = 0; i < e->panes; i++)
        kinds |= weft_scene_kinds(e->pane[i].scene);
    int32_t lines = weft_legend_lines(kinds, e->width_px, e->text_percent);
    int32_t most = e->width_px < NARROW_PX ? LINES_MAX_NARROW : LINES_MAX;
    return lines < most ? (lines ? lines : 1) : most;
}

int32_t explore_legend_height(const struct weft_explorer *e, int32_t height_px)
{
    if (e->no_legend || e->panes == 0)
        return 0;
    int32_t own = weft_legend_height(lines_of(e), e->text_percent);
    return height_px - own < PICTURES_MIN_PX ? 0 : own;
}

int explore_legend_draw(struct weft_explorer *e, struct weft_drawlist *list, int32_t top_px)
{
    struct weft_legend *l = &e->legend;
    *l = (struct weft_legend){.top_px = top_px,
                              .width_px = e->width_px,
                              .lines = lines_of(e),
                              .text_percent = e->text_percent,
                              .hidden = e->hidden,
                              .pointed = e->legend_pointed};
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].height_px)
            weft_legend_add(l, e->pane[i].geometry.kind);
    return weft_legend_draw(list, l);
}

bool explore_legend_has(const struct weft_explorer *e, double y)
{
    return e->legend_px && y >= e->legend_top_px && y < e->legend_top_px + e->legend_px;
}

static enum weft_kind kind_at(const struct weft_explorer *e, double x, double y)
{
    if (!explore_legend_has(e, y))
        return WEFT_KINDS;
    return weft_legend_at(&e->legend, (int32_t)(x * WEFT_PX), (int32_t)(y * WEFT_PX));
}

/* ---- Input ---- */

void explore_legend_point(struct weft_explorer *e, double x, double y)
{
    enum weft_kind kind = kind_at(e, x, y);
    if (kind == e->legend_pointed)
        return;
    e->legend_pointed = kind;
    explore_changed(e, WEFT_CHANGED_PICTURE);
}

void explore_legend_click(struct weft_explorer *e, double x, double y)
{
    enum weft_kind kind = kind_at(e, x, y);
    if (kind < WEFT_KINDS)
        weft_explorer_show_kind(e, kind, e->hidden & weft_kind_bit(kind));
}

size_t explore_legend_tip(const struct weft_explorer *e, char *out, size_t room)
{
    enum weft_kind kind = kind_at(e, e->point_x, e->point_y);
    *out = '\0';
    if (kind == WEFT_KINDS)
        return 0;
    const struct weft_kind_info *k = &weft_kinds[kind];
    bool hidden = e->hidden & weft_kind_bit(kind);
    int n = snprintf(out, room, "%s: %s (click to %s)", k->text, k->meaning,
                     hidden ? "show it again" : "hide it");
    return n > 0 ? (size_t)n : 0;
}

/* ---- For front ends ---- */

bool weft_explorer_kind(struct weft_explorer *e, enum weft_kind kind, const char **text,
                        bool *shown)
{
    struct weft_kind_seen seen[1] = {{0}};
    *e->kind_text = '\0';
    *text = e->kind_text;
    *shown = true;
    if ((unsigned)kind >= WEFT_KINDS || explore_refresh(e) < 0)
        return false;
    for (unsigned i = 0; i < e->panes; i++)
        if (e->pane[i].height_px) {
            const struct weft_kind_seen *k = &e->pane[i].geometry.kind[kind];
            seen->count += k->count;
            seen->seen = seen->seen || k->seen;
            seen->more = seen->more || k->more;
        }
    *shown = !(e->hidden & weft_kind_bit(kind));
    weft_kind_say(e->kind_text, sizeof e->kind_text, kind, seen, false);
    return e->panes && (seen->seen || !*shown);
}

void weft_explorer_show_kind(struct weft_explorer *e, enum weft_kind kind, bool shown)
{
    uint32_t hidden = e->hidden;
    if ((unsigned)kind >= WEFT_KINDS)
        return;
    hidden = shown ? hidden & ~weft_kind_bit(kind) : hidden | weft_kind_bit(kind);
    if (hidden == e->hidden)
        return;
    explore_history_leave(e);
    e->hidden = hidden;
    explore_history_arrive(e);
    explore_moved(e);
    explore_changed(e, WEFT_CHANGED_TIP);
}
