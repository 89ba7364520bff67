/* SPDX-License-Identifier: ISC */
/* The overview: a strip that shows the whole time of a trace: how much ran, what failed, samples, counters, findings,
 * and which part a view shows. It is drawn from sums over cells of equal length that are made once, with the scene; and
 * so is what there is to say about all promises together. */
#pragma once

#include "base/greatest.h"
#include "view/drawlist.h"
#include "view/scene.h"

#define WEFT_OVERVIEW_MARGIN (8 * WEFT_PX) /* beside the strip: as in pictures */
#define WEFT_OVERVIEW_CELLS                                                                        \
    4096 /* at most; at least half of that in traces longer than that in ns */
#define WEFT_OVERVIEW_COUNTERS 8 /* the first ones by name have values */
#define WEFT_OVERVIEW_FEW 6      /* promises that are named */

struct weft_overview {
    unsigned shift;   /* a cell is 1 << shift ns wide; the first one begins at 0 */
    uint32_t cells;   /* up to the trace's end */
    int64_t begin_ns; /* the earliest beginning of a promise, or 0 if all begin later */
    bool runs;        /* something ran; else acts says where something happened */
    uint64_t *run_ns; /* of each cell: time that promises ran, all threads together */
    uint32_t *acts;   /* promises that began, and interactions */
    uint32_t *failed; /* promises that failed there, or never were resolved though they should */
    uint64_t *on_ns;  /* threads were on a core, by samples; NULL: there are no samples */
    uint32_t counters;
    int64_t *value; /* of each counter, in each cell: the last value */

    uint64_t outcome[WEFT_OUTCOME_COUNT]; /* promises with each outcome, without the loop … */
    uint64_t overdue;                     /* … and that never were resolved though they should */
    struct weft_greatest longest, longest_overdue, first_failed;
};

/* raw: as of the layout. On success the caller owns *out. Returns 0 or WEFT_E_NOMEM; *out is then NULL. */
int view_overview_new(struct weft_overview **out, const struct weft_model *m, bool raw);
void view_overview_free(struct weft_overview *o);

/* Adds the samples of the scene. Returns 0 or WEFT_E_NOMEM. */
int view_overview_sample(struct weft_overview *o, const struct weft_scene *s);

/* What happens from a time to another. */
struct weft_overview_sum {
    int64_t from_ns, to_ns; /* whole cells */
    uint64_t run_ns, on_ns;
    uint64_t acts, failed;
};

void weft_overview_between(struct weft_overview_sum *out, const struct weft_scene *s,
                           int64_t from_ns, int64_t to_ns);

/* Where something happened: a mark in the strip. */
struct weft_overview_mark {
    int64_t time_ns;
    uint8_t weight; /* 1 to 3: the higher, the surer */
};

struct weft_overview_strip {
    int32_t x0, x1, y0, y1; /* coordinates of the list */
    int64_t from_ns, to_ns; /* the times that x0 and x1 stand for, of this trace; from < to */
    int64_t view_from_ns, view_to_ns;
    const struct weft_overview_mark *mark;
    uint32_t marks;
    const uint8_t *counter_off; /* as in a viewport */
    bool no_counters, no_strips;
    uint16_t text_percent;
};

/* Adds a strip to a list; takes the same time for any trace. Returns 0 or WEFT_E_NOMEM. */
int weft_overview_draw(struct weft_drawlist *list, const struct weft_scene *s,
                       const struct weft_overview_strip *strip);
