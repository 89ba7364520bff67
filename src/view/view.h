/* SPDX-License-Identifier: ISC */
/* The picture: a pure function (model, viewport) -> draw list.
 *
 *     struct weft_drawlist list = {0};
 *     struct weft_viewport vp = {.from_ns = 39500000, .to_ns = 47500000, .width_px = 1600};
 *     if (weft_view_draw(&list, model, layout, &vp) == 0)
 *         weft_paint_svg(&list, stdout, 0);
 *
 * The size of the list is bounded by the size of the picture, not of the trace. */
#pragma once

#include "view/drawlist.h"
#include "view/groups.h"
#include "view/legend.h"
#include "view/scene.h"
#include "view/search.h"

#define WEFT_PICTURE_MIN_PX 200
#define WEFT_PICTURE_MAX_PX 16384

/* What an analysis says, drawn into the picture. */
enum weft_mark_kind {
    WEFT_MARK_AFFECTED,   /* a band behind the promise's line */
    WEFT_MARK_EVIDENCE,   /* a flag with a short text, at from_ns on the promise's line */
    WEFT_MARK_DIVERGENCE, /* a dashed line over all rows, its text on the ruler */
    WEFT_MARK_NOTE, /* the user's: a flag like that, or a bar on the ruler from from_ns to to_ns */
    WEFT_MARK_RUNNING,    /* this and the rest are steps of a path: thick lines joined into one */
    WEFT_MARK_READY,      /* or the loop was blocked: something else ran */
    WEFT_MARK_COLLECTING, /* or others had the core */
    WEFT_MARK_OUTSIDE,
    WEFT_MARK_UNKNOWN,
    WEFT_MARK_KINDS
};

struct weft_mark {
    enum weft_mark_kind kind;
    uint32_t promise; /* WEFT_NONE or the loop have no line: then the flag is on the ruler */
    uint32_t other;   /* EVIDENCE: the promise that is linked at that time, or WEFT_NONE */
    int64_t from_ns, to_ns;
    const char *text; /* or NULL */
};

#define WEFT_MARKS_MAX 1000

/* Where the rows were in the latest picture on a screen, so that they can glide from there. All zero at first. The caller
 * sets the part; the rest is filled in while a picture is drawn. */
#define WEFT_GLIDE_WHOLE 1024
struct weft_glide {
    uint32_t part; /* of the way that is left, of WEFT_GLIDE_WHOLE */
    bool moves;    /* rows are not yet where they belong */
    const struct weft_layout *layout;
    uint32_t rows, shown, room;
    int32_t height;
    uint32_t *row;
    int32_t *y;
};

void weft_glide_fini(struct weft_glide *g);

struct weft_viewport {
    int64_t from_ns, to_ns; /* from < to, within WEFT_TIME_MAX; both 0: all */
    int32_t width_px;       /* 0: 1600 */
    int32_t height_px;      /* 0: as high as the rows need, up to a limit */
    int32_t
        top_px; /* where it begins in the list, which may hold other pictures above; below 0: its
                             * upper part is cut off */
    bool added; /* to what the list has, even with a top_px of 0 */

    /* The scene's, if long sleep is to be drawn as narrow breaks, or NULL. */
    const struct weft_folds *folds;

    /* If the rows do not all fit, they are squeezed; spread says how much those near the focus are spared: from 0 (all
     * alike) to WEFT_SPREAD_MAX (as high as they need; the others are then pressed together at the upper and the lower
     * edge). The focus is a row of the layout and where its middle lies, in pixels below top_px. WEFT_NONE: the row of
     * the selection where there is one, else the first. */
    uint32_t focus_row;
    int32_t focus_px;
    uint16_t spread;

    uint16_t text_percent;              /* size of texts, 0: 100; from 50 to 300 */
    uint32_t selected;                  /* promise, or WEFT_NONE; 0 (the loop) counts as none */
    uint32_t hovered;                   /* likewise: its arrows are drawn, too */
    uint32_t hovered_arrow;             /* 1 + the interaction of an arrow; 0: none */
    const struct weft_search *search;   /* its hits are marked; may be NULL */
    int64_t range_from_ns, range_to_ns; /* a range that is being measured; both equal: none */
    int32_t title_room_px;              /* kept free at the right end of the title */
    const char *title;                  /* for instance the name of the file; may be NULL */
    const struct weft_groups *groups;   /* that the scene has; NULL: none */
    struct weft_glide *glide;           /* NULL: rows are where they belong */
    const uint8_t *counter_off;   /* of each counter of the model: not 0: not drawn; may be NULL */
    const struct weft_mark *mark; /* the first WEFT_MARKS_MAX of marks are drawn */
    uint32_t marks;
    const struct weft_mark *path; /* steps of a path in the order of time, any number */
    uint32_t path_steps;
    const char *const *note; /* lines for the legend, instead of what is selected */
    uint32_t notes;
    uint32_t hidden; /* kinds that are not drawn, a bit for each */
    bool no_counters;
    bool no_strips; /* of samples */
    bool no_legend;
    bool
        older; /* promises without events, pending since before the trace, have rows of their own */
    bool tips; /* with tips, which a still picture needs */
};

#define WEFT_SPREAD_MAX 1000

/* What belongs into a picture but is missing or not shown individually: the legend says so. */
struct weft_left_out {
    uint64_t hidden;        /* promises of groups that are hidden */
    uint64_t folded;        /* promises that are drawn as density, with others */
    uint32_t arrows;        /* interactions without an arrow; those that look alike share one */
    uint32_t names;         /* promises with a line of their own but without a text */
    uint32_t regions;       /* sleeps and collections */
    uint32_t scales;        /* groups of counters … */
    uint32_t counters;      /* … and counters of a group that is drawn … */
    uint32_t counter_names; /* … and those that have a line but no name */
    uint32_t threads;       /* of samples, which have no strip at all … */
    uint32_t together;      /* … or share one */
    uint32_t marks;
    bool edges; /* lines of creation and becoming, of promises that are folded */
};

/* The name of a group, in the picture: a click on it opens or closes the group. */
struct weft_group_head {
    uint32_t group;
    int32_t x0, y0, x1, y1;
};

/* Where things are in a picture: filled in while it is drawn, used to answer questions about it. All zero at first; the
 * next picture reuses it. Coordinates are those of the draw list. */
struct weft_geometry {
    int32_t x0, x1;                 /* of the time axis … */
    int64_t from_ns, to_ns;         /* … from and to these times */
    const struct weft_folds *folds; /* those of the viewport */
    int32_t y0, ruler_y0, rows_y0, rows_y1, y1;
    int32_t older_y1; /* what has been pending since before the trace is between rows_y1 and this */
    int32_t strips_y1;   /* strips of samples are between that and this */
    int32_t counters_y1; /* counters are between that and this */
    uint32_t strips;
    struct weft_left_out left_out;
    struct weft_kind_seen kind[WEFT_KINDS]; /* what the picture shows */

    /* The arrows, those drawn last at the end, at most WEFT_ARROWS_MAX; and the flags of evidence. */
    struct weft_arrow {
        int32_t x0, y0, x1, y1;
        uint32_t interaction;
        uint32_t count; /* interactions that look the same */
    } * arrow;
    uint32_t arrows, arrows_room;
    struct weft_flag {
        int32_t x0, y0, x1, y1;
        uint32_t mark; /* index in the viewport's marks */
    } * flag;
    uint32_t flags, flags_room;

    /* The rows in which something can be seen, from top to bottom. */
    uint32_t *shown_row; /* row of the layout */
    int32_t *shown_y;    /* top of each; one extra entry for the end of the last row */
    uint32_t shown, room;

    /* Rows that are drawn together: the first of each lane (place in shown_row), then `shown` as the end. */
    uint32_t *lane;
    uint32_t lanes;
    int32_t shape_width; /* wider lines in a lane of their own are not folded */

    struct weft_group_head head[WEFT_GROUPS_MAX];
    uint32_t heads;
};

#define WEFT_ARROWS_MAX 4096 /* of a geometry */

void weft_geometry_fini(struct weft_geometry *g);

/* The time at an x, and the x of a time (at most a few pixels outside the axis). */
int64_t weft_geometry_time(const struct weft_geometry *g, int32_t x);
int32_t weft_geometry_x(const struct weft_geometry *g, int64_t time_ns);

/* What lies at a point of a picture. */
enum weft_place_kind {
    WEFT_PLACE_NONE, /* outside, in the legend or in an empty part of the rows */
    WEFT_PLACE_RULER,
    WEFT_PLACE_PROMISE, /* a line of its own */
    WEFT_PLACE_FOLD,    /* several promises that are drawn as one */
    WEFT_PLACE_COUNTERS,
    WEFT_PLACE_STRIP, /* samples of a thread */
    WEFT_PLACE_OLDER, /* the row of what has been pending since before the trace */
    WEFT_PLACE_ARROW, /* promise and folded say what is under it, if anything is */
    WEFT_PLACE_MARK,  /* the flag of a piece of evidence; likewise */
    WEFT_PLACE_BREAK, /* an empty part of the rows, in a fold */
};

struct weft_pick {
    enum weft_place_kind kind;
    int64_t time_ns;
    uint32_t row;                 /* nearest row of the layout; WEFT_NONE: no rows */
    uint32_t promise;             /* the promise, or the longest one of a fold; or WEFT_NONE */
    uint32_t folded;              /* exact number of promises in the fold; 1 for a promise */
    uint32_t strip;               /* which strip */
    uint32_t arrow;               /* index in the geometry's arrows */
    uint32_t mark;                /* index in the marks of the viewport */
    const struct weft_fold *fold; /* the fold that time_ns lies in; NULL: none */
};

/* Draws into *list, which is empty (all zero) or left from an earlier picture; with a top_px, or if it is `added`, to what
 * the list contains. g
 * may be NULL. Returns 0, WEFT_E_NOMEM, or WEFT_E_INVALID for a viewport out of range; after an error the list can only
 * be released. */
int weft_view_draw(struct weft_drawlist *list, struct weft_geometry *g, const struct weft_scene *s,
                   const struct weft_viewport *vp);

/* Finds what is at a point of the picture that was drawn with that geometry. */
struct weft_pick weft_view_pick(const struct weft_scene *s, const struct weft_geometry *g,
                                int32_t x, int32_t y);

/* A line of the picture, and how much of it is visible. */
struct weft_view_line {
    int64_t seen_ns;
    uint32_t span;
};

/* The value of a counter at a time: after the last change at or before it. Returns false if the trace does not say it:
 * that is before the first change, if that does not tell, or something may have been overwritten. Logarithmic. */
bool weft_view_counter_at(int64_t *value, const struct weft_scene *s, uint32_t counter,
                          int64_t time_ns);

/* Finds the lines of which most is visible, at most max of them, the longest first: returns an array that the caller
 * frees, *count long. Of very many that are about equally long, it may miss some. *all: how many lines are visible; exact
 * up to 10000, beyond that it counts some that have ended shortly before. NULL: no memory. */
struct weft_view_line *weft_view_longest(const struct weft_scene *s, const struct weft_geometry *g,
                                         uint32_t max, uint32_t *count, uint64_t *all);

/* What a strip of samples shows under the pointer. */
struct weft_strip_pick {
    uint32_t thread;        /* thread of the profile; WEFT_NONE: several … */
    uint32_t threads;       /* … this many */
    int64_t from_ns, to_ns; /* times under the pointer */
    uint64_t on_ns;         /* on a core within that time; with several threads it can be more */
    uint64_t promise_ns;    /* … of that while a promise ran */
    uint64_t interrupted_ns;
    uint64_t samples;
    uint32_t
        location; /* the innermost function found most often; WEFT_NONE: there are no samples … */
    uint64_t hottest, looked; /* … found in this many of the samples that were read */
};

/* pick must be a strip of that picture. */
void weft_view_strip_at(struct weft_strip_pick *out, const struct weft_scene *s,
                        const struct weft_geometry *g, const struct weft_pick *pick);
