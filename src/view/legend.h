/* SPDX-License-Identifier: ISC */
/* The legend: what a picture shows, each kind a switch. A picture notes in its geometry what it shows
 * (weft_geometry.kind); the legend names these kinds, and those that are switched off.
 *
 *     struct weft_legend legend = {.width_px = 1600, .lines = 1, .hidden = vp.hidden};
 *     weft_legend_add(&legend, geometry.kind);
 *     if (weft_legend_draw(&list, &legend) == 0)
 *         kind = weft_legend_at(&legend, x, y); */
#pragma once

#include "view/drawlist.h"

enum weft_kind {
#define KIND(NAME, ...) WEFT_KIND_##NAME,
#include "view/kind.def"
    WEFT_KINDS /* at most 32, because a set of them is a uint32_t */
};

/* Returns the set with only that kind. */
static inline uint32_t weft_kind_bit(unsigned kind)
{
    return UINT32_C(1) << kind;
}

enum weft_kind_sample {
    WEFT_SAMPLE_BAR,
    WEFT_SAMPLE_RUNNING,
    WEFT_SAMPLE_PENDING,
    WEFT_SAMPLE_FAIL,
    WEFT_SAMPLE_FOLD,
    WEFT_SAMPLE_DOWN,
    WEFT_SAMPLE_STEP,
    WEFT_SAMPLE_BOX,
    WEFT_SAMPLE_PATH,
    WEFT_SAMPLE_FLAG,
};

struct weft_kind_info {
    const char *key; /* in places */
    enum weft_kind_sample sample;
    enum weft_ink ink;
    const char *text;    /* in the legend */
    const char *meaning; /* half a sentence */
};
extern const struct weft_kind_info weft_kinds[WEFT_KINDS];

/* How much of a kind a picture shows. */
struct weft_kind_seen {
    uint64_t count;
    bool seen;
    bool more; /* than are counted, because many are drawn as one */
};

struct weft_legend {
    int32_t top_px, width_px;
    int32_t lines; /* at most this many; what does not fit is counted in `left` */
    uint16_t text_percent;
    uint32_t hidden;        /* kinds that are switched off */
    enum weft_kind pointed; /* WEFT_KINDS: none */
    struct weft_kind_seen kind[WEFT_KINDS];

    /* Filled in by weft_legend_draw: what it names, from x0 to x1 … */
    struct weft_legend_item {
        enum weft_kind kind;
        int32_t x0, y0, x1, y1;
    } item[WEFT_KINDS];
    uint32_t items, left;
};

/* Adds what one more picture shows. */
void weft_legend_add(struct weft_legend *l, const struct weft_kind_seen kind[WEFT_KINDS]);

/* "running 1,204", "running (hidden)". */
void weft_kind_say(char *out, size_t room, enum weft_kind kind, const struct weft_kind_seen *seen,
                   bool hidden);

/* The height of a legend of that many lines, in pixels. */
int32_t weft_legend_height(int32_t lines, uint16_t text_percent);

/* How many lines a legend of all these kinds takes at most. */
int32_t weft_legend_lines(uint32_t kinds, int32_t width_px, uint16_t text_percent);

/* Draws it, from top_px on. Returns 0 or WEFT_E_NOMEM. */
int weft_legend_draw(struct weft_drawlist *list, struct weft_legend *l);

/* The kind that is named at a point of the drawn legend, in the draw list's coordinates; WEFT_KINDS: none. */
enum weft_kind weft_legend_at(const struct weft_legend *l, int32_t x, int32_t y);
