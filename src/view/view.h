/* SPDX-License-Identifier: ISC */
/* The picture: a pure function (model, viewport) -> draw list.
 *
 *     struct weft_drawlist list = {0};
 *     struct weft_viewport vp = {.from_ns = 39500000, .to_ns = 47500000, .width_px = 1600};
 *     if (weft_view_draw(&list, model, layout, &vp) == 0)
 *         weft_paint_svg(&list, stdout, 0);
 *
 * The size of the list is bounded by the size of the picture, not of the trace. */
#ifndef WEFT_VIEW_VIEW_H
#define WEFT_VIEW_VIEW_H

#include "view/drawlist.h"
#include "view/scene.h"
#include "view/search.h"

#define WEFT_PICTURE_MIN_PX 200
#define WEFT_PICTURE_MAX_PX 16384

/* What an analysis says, drawn into the picture. */
enum weft_mark_kind {
    WEFT_MARK_AFFECTED,   /* a band behind the promise's line */
    WEFT_MARK_EVIDENCE,   /* a flag with a short text, at from_ns on the promise's line */
    WEFT_MARK_DIVERGENCE, /* a dashed line over all rows, its text on the ruler */
    WEFT_MARK_RUNNING,    /* the others are steps of a path: thick lines, joined to one */
    WEFT_MARK_READY,      /* or the loop was blocked: something else ran */
    WEFT_MARK_COLLECTING, /* or others had the core */
    WEFT_MARK_OUTSIDE,
    WEFT_MARK_UNKNOWN,
    WEFT_MARK_KINDS
};

struct weft_mark {
    enum weft_mark_kind kind;
    uint32_t promise; /* WEFT_NONE or the loop, which have no line: a flag is on the ruler then */
    uint32_t other;   /* EVIDENCE: whose line is joined with it at that time, or WEFT_NONE */
    int64_t from_ns, to_ns;
    const char *text; /* or NULL */
};

#define WEFT_MARKS_MAX 1000

struct weft_viewport {
    int64_t from_ns, to_ns; /* from < to, within WEFT_TIME_MAX; both 0: all */
    int32_t width_px;       /* 0: 1600 */
    int32_t height_px;      /* 0: as high as the rows need, within reason */
    int32_t top_px;         /* where it begins in the list, which may hold other pictures above */

    /* Rows that do not all fit are squeezed; spread says how far those near the focus are not: from 0
     * (all alike) to WEFT_SPREAD_MAX (as high as they need; the others then lie pressed together at the
     * upper and the lower edge). The focus is a row of the layout and where its middle lies, in pixels
     * below top_px. WEFT_NONE: the row of the selection where there is one, else the first. */
    uint32_t focus_row;
    int32_t focus_px;
    uint16_t spread;

    uint16_t text_percent;              /* size of texts, 0: 100; from 50 to 300 */
    uint32_t selected;                  /* promise, or WEFT_NONE; 0 (the loop) counts as none */
    uint32_t hovered;                   /* likewise: its arrows are drawn, too */
    const struct weft_search *search;   /* its hits are marked; may be NULL */
    int64_t range_from_ns, range_to_ns; /* a range that is being measured; both equal: none */
    const char *title;                  /* for instance the name of the file; may be NULL */
    const uint8_t *counter_off;   /* of each counter of the model: not 0: not drawn; may be NULL */
    const struct weft_mark *mark; /* the first WEFT_MARKS_MAX of marks are drawn */
    uint32_t marks;
    const struct weft_mark *path; /* steps of a path in the order of time, any number */
    uint32_t path_steps;
    const char *const *note; /* lines for the legend, instead of what is selected */
    uint32_t notes;
    bool no_counters;
    bool no_strips; /* of samples */
    bool no_legend;
    bool tips; /* texts for being pointed at, as a still picture needs them */
};

#define WEFT_SPREAD_MAX 1000

/* What of a trace belongs into a picture but is not in it, or not singly: what the legend says. */
struct weft_left_out {
    uint64_t folded;        /* promises that are drawn as density, with others */
    uint32_t arrows;        /* interactions without one; those that look alike have one together */
    uint32_t names;         /* promises with a line of their own at which nothing is written */
    uint32_t regions;       /* sleeps and collections */
    uint32_t scales;        /* groups of counters … */
    uint32_t counters;      /* … and counters of a group that is drawn … */
    uint32_t counter_names; /* … and those that have a line and no name */
    uint32_t threads;       /* of samples, which have no strip at all … */
    uint32_t together;      /* … or share one */
    uint32_t marks;
    bool edges; /* lines of creation and becoming, of promises that are folded */
};

/* Where things lie in a picture: filled while it is drawn, for questions about it. All zero at first,
 * used again by the next picture. Coordinates are those of the draw list. */
struct weft_geometry {
    int32_t x0, x1;         /* of the time axis … */
    int64_t from_ns, to_ns; /* … from and to these times */
    int32_t y0, ruler_y0, rows_y0, rows_y1, y1;
    int32_t strips_y1;   /* strips of samples are between rows_y1 and this */
    int32_t counters_y1; /* counters are between that and this */
    uint32_t strips;
    struct weft_left_out left_out;

    /* The rows in which something can be seen, from top to bottom. */
    uint32_t *shown_row; /* row of the layout */
    int32_t *shown_y;    /* top of each, and of what would follow the last one */
    uint32_t shown, room;

    /* Rows that are drawn together: the first of each (place in shown_row), and shown. */
    uint32_t *lane;
    uint32_t lanes;
    int32_t shape_width; /* wider lines in a lane of their own are not folded */
};

void weft_geometry_fini(struct weft_geometry *g);

/* The time at an x, and the x of a time (not farther than some pixels outside of the axis). */
int64_t weft_geometry_time(const struct weft_geometry *g, int32_t x);
int32_t weft_geometry_x(const struct weft_geometry *g, int64_t time_ns);

/* What lies at a point of a picture. */
enum weft_place_kind {
    WEFT_PLACE_NONE, /* outside, the legend, an empty part of the rows */
    WEFT_PLACE_RULER,
    WEFT_PLACE_PROMISE, /* a line of its own */
    WEFT_PLACE_FOLD,    /* several promises that are drawn as one */
    WEFT_PLACE_COUNTERS,
    WEFT_PLACE_STRIP, /* samples of a thread */
};

struct weft_pick {
    enum weft_place_kind kind;
    int64_t time_ns;
    uint32_t row;     /* of the layout, nearest; WEFT_NONE: no rows */
    uint32_t promise; /* the one, or the longest of a fold; WEFT_NONE */
    uint32_t folded;  /* how many promises of the fold, exactly; 1 for a promise */
    uint32_t strip;   /* which, of a strip */
};

/* Draws into *list, which is empty (all zero) or of an earlier picture; with a top_px, below what is
 * there. g may be NULL. Returns 0, WEFT_E_NOMEM, or WEFT_E_INVALID for a viewport out of range; the list
 * may then be released and nothing else. */
int weft_view_draw(struct weft_drawlist *list, struct weft_geometry *g, const struct weft_scene *s,
                   const struct weft_viewport *vp);

/* What lies at a point of the picture that was drawn with that geometry. */
struct weft_pick weft_view_pick(const struct weft_scene *s, const struct weft_geometry *g,
                                int32_t x, int32_t y);

/* What a strip of samples shows where it is pointed at. */
struct weft_strip_pick {
    uint32_t thread;        /* of the profile; WEFT_NONE: several … */
    uint32_t threads;       /* … so many */
    int64_t from_ns, to_ns; /* what lies under the pointer */
    uint64_t on_ns;         /* on a core, within that: of several threads perhaps more */
    uint64_t promise_ns;    /* … of that while a promise ran */
    uint64_t interrupted_ns;
    uint64_t samples;
    uint32_t
        location; /* what was found running most often: innermost; WEFT_NONE: there are no samples … */
    uint64_t hottest, looked; /* … in so many, of those that were looked at */
};

/* pick is of a strip, of that picture. */
void weft_view_strip_at(struct weft_strip_pick *out, const struct weft_scene *s,
                        const struct weft_geometry *g, const struct weft_pick *pick);

/* The promise and all that it becomes or that became it, as indices; *count says how many. The caller
 * frees it. NULL: no memory. */
uint32_t *weft_view_chain(const struct weft_model *m, uint32_t promise, uint32_t *count);

#endif
