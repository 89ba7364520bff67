/* SPDX-License-Identifier: ISC */
/* The names of groups, above their rows; over them, if the group is closed or squeezed. */
#include <stdio.h>
#include <string.h>

#include "view/canvas.h"

enum { GAP = 4 * PX, TEXT = WEFT_GROUP_NAME + 64 };

static void words(const struct canvas *c, uint32_t group, char *text)
{
    const struct weft_group *g = &c->vp->groups->group[group];
    snprintf(text, TEXT, "%s %s%s × %s", g->is_closed ? "+" : "–", g->name,
             g->is_pinned ? " (pinned)" : "", weft_count_short(g->promises).text);
}

static void place_head(struct canvas *c, struct names *names, uint32_t group, int32_t y0,
                       int32_t y1)
{
    const int32_t high = c->font + 3 * PX, x = c->x0 + GAP;
    char text[TEXT];
    words(c, group, text);
    const int32_t width = weft_text_width(text, strlen(text), c->font, true);
    if (y1 - y0 < high || width > c->x1 - x)
        return;
    const bool is_closed = c->vp->groups->group[group].is_closed;
    const int32_t bottom = is_closed ? (y0 + y1 + high) / 2 : y0 + high;
    view_names_take(names, x, bottom - 3 * PX, width);
    c->g->head[c->g->heads++] = (struct weft_group_head){
        .group = group, .x0 = c->x0, .y0 = bottom - high, .x1 = x + width + GAP, .y1 = bottom};
}

void view_heads_place(struct canvas *c, struct names *names)
{
    c->g->heads = 0;
    for (uint32_t i = 0; i < c->groups; i++)
        if (c->group_at[i + 1] > c->group_at[i])
            place_head(c, names, i, c->shown_y[c->group_at[i]], c->shown_y[c->group_at[i + 1]]);
}

void view_heads_draw(struct canvas *c)
{
    for (uint32_t i = 0; i < c->groups && !c->list->failed; i++)
        if (c->group_at[i + 1] > c->group_at[i]) {
            const int32_t y = c->shown_y[c->group_at[i]];
            canvas_line(c, WEFT_INK_FAINT_TEXT, PX / 2, c->x0, y, c->x1, y);
        }
    for (uint32_t i = 0; i < c->g->heads && !c->list->failed; i++) {
        const struct weft_group_head *h = &c->g->head[i];
        char text[TEXT];
        words(c, h->group, text);
        canvas_rect(c, WEFT_INK_GROUND, h->x0 + GAP - PX, h->y0, h->x1 - GAP + PX, h->y1)->alpha =
            220;
        canvas_text(c, WEFT_INK_TEXT, c->font, true, h->x0 + GAP, h->y1 - 3 * PX, h->x1 - h->x0,
                    text, strlen(text));
    }
}
