/* SPDX-License-Identifier: ISC */
/* The names of groups, above their rows; over them, if the group is closed or squeezed. */
#include <stdio.h>
#include <string.h>

#include "view/canvas.h"

enum { GAP = 4 * PX };

static void write_head(struct canvas *c, struct names *names, uint32_t group, int32_t y0,
                       int32_t y1)
{
    const struct weft_group *g = &c->vp->groups->group[group];
    const int32_t high = c->font + 3 * PX, x = c->x0 + GAP;
    char text[WEFT_GROUP_NAME + 64];
    snprintf(text, sizeof text, "%s %s%s × %s", g->is_closed ? "+" : "–", g->name,
             g->is_pinned ? " (pinned)" : "", weft_count_short(g->promises).text);
    const int32_t width = weft_text_width(text, strlen(text), c->font, true);
    canvas_line(c, WEFT_INK_FAINT_TEXT, PX / 2, c->x0, y0, c->x1, y0);
    if (y1 - y0 < high || width > c->x1 - x)
        return;
    const int32_t middle = g->is_closed ? (y0 + y1 + high) / 2 : y0 + high,
                  baseline = middle - 3 * PX;
    canvas_rect(c, WEFT_INK_GROUND, x - PX, middle - high, x + width + PX, middle)->alpha = 220;
    canvas_text(c, WEFT_INK_TEXT, c->font, true, x, baseline, width + PX, text, strlen(text));
    view_names_take(names, x, baseline, width);
    c->g->head[c->g->heads++] = (struct weft_group_head){
        .group = group, .x0 = x - GAP, .y0 = middle - high, .x1 = x + width + GAP, .y1 = middle};
}

void view_heads_write(struct canvas *c, struct names *names)
{
    c->g->heads = 0;
    for (uint32_t i = 0; i < c->groups && !c->list->failed; i++)
        if (c->group_at[i + 1] > c->group_at[i])
            write_head(c, names, i, c->shown_y[c->group_at[i]], c->shown_y[c->group_at[i + 1]]);
}
