/* SPDX-License-Identifier: ISC */
/* What the parts of a picture share while they draw. Private to src/view.
 *
 * The picture from top to bottom: title, ruler, rows, counters, legend. view.c divides it and calls the parts from back
 * to front.
 *
 * The visible rows are joined into lanes a few pixels high. A lane with one row shows lines that are wide enough as
 * shapes; narrower ones, and everything in a lane with several rows, are folded into cells, which are darker the more
 * is covered. */
#pragma once

#include "base/count.h"
#include "base/duration.h"
#include "view/index.h"
#include "view/text.h"
#include "view/view.h"

#define PX WEFT_PX
#define MARGIN (8 * PX)
#define CELL (2 * PX)             /* width of a cell */
#define ROW_HEIGHT_SMALL (6 * PX) /* height of a row in which no line is wide enough for a label */
#define LABEL_LINE (12 * PX)      /* minimum width of a line with a label */
#define SHAPE_WIDTH (3 * PX)      /* narrower lines are folded with their neighbours */
#define COUNTER_STRIP_MIN (26 * PX) /* height of a strip of counters when space is scarce */

#define AXIS_SLOTS 256

/* A map from times to coordinates, in integers: the same on every machine. It is linear in shown time. */
struct axis {
    int64_t from_ns, to_ns;
    int64_t shown_from;
    uint64_t span;           /* of shown time, at least 1 */
    struct weft_folds folds; /* those in the picture; count 0: time is shown as it is */
    /* How many of the folds begin before each of equal parts of the time, so that few are looked at for a time. */
    uint16_t before[AXIS_SLOTS + 1];
    unsigned slot_shift; /* a part is 2^slot_shift long */
    int32_t x0, x1;
    unsigned shift;
    uint64_t scale;
};

/* What can be seen of a row. */
struct seen {
    uint32_t begin, end; /* spans */
    bool full;           /* it has a label */
    bool through;        /* it is one line from edge to edge, and nothing else */
    bool marked;         /* it has a mark whose text must be readable */
    uint8_t group;       /* if there are groups */
};

/* A line that is drawn as a shape. */
struct shape {
    uint32_t at; /* shown row */
    uint32_t span;
    int32_t x0, x1; /* up to some pixels outside of the axis */
};

/* A promise that concerns the selection. */
struct kin {
    uint32_t promise;
    bool joined; /* it became the selection or the other way round, or it is the selection */
};

/* A flag: evidence in the picture. */
struct flag {
    const struct weft_mark *mark;
    uint32_t at;            /* shown row, or WEFT_NONE: on the ruler */
    int32_t x, y;           /* the moment */
    int32_t x0, y0, x1, y1; /* the text's box */
};

struct mix;
struct mix_entry;

struct canvas {
    struct weft_drawlist *list;
    struct weft_geometry *g;
    const struct weft_model *m;
    const struct weft_layout *l;
    const struct weft_index *x;
    const struct weft_density *d; /* samples to be drawn as strips, or NULL */
    const struct weft_viewport *vp;
    struct axis axis;
    int64_t from_ns, to_ns;
    int32_t x0, x1; /* of the time axis */
    int32_t top, height;
    int32_t rows_y0, rows_y1;
    int32_t ruler_y0;

    /* Sizes that depend on the text size. */
    int32_t percent, font, font_small;
    int32_t row_height;      /* a line with its label above */
    int32_t row_height_text; /* minimum height at which a text does not reach into the row above */

    int32_t counter_strip; /* height of a strip of counters */

    /* The rows in which something can be seen, from top to bottom. */
    uint32_t *shown_row; /* row of the layout */
    int32_t *shown_y;    /* top of each, and of what follows the last one */
    struct seen *seen;
    uint32_t shown;
    uint32_t *shown_at; /* of each row of the layout: place in shown_row, or WEFT_NONE */
    uint32_t group_at[WEFT_GROUPS_MAX + 1]; /* the first shown row of each group, and the end */
    uint32_t groups;
    uint64_t visible; /* number of visible spans */
    uint32_t buckets; /* number of visible buckets of the index */

    struct shape *shape; /* in the order of rows, then of time */
    uint32_t shapes, shapes_room;
    uint32_t *shape_first; /* of each lane; with one extra entry at the end */
    struct mix *mix;       /* see lanes.c; NULL until needed */

    struct kin *kin; /* sorted by promise */
    uint32_t kins;
    bool selected; /* a promise is selected */

    struct flag *flag; /* by row and place */
    uint32_t flags;

    uint32_t arrows_begin, arrows_end; /* in the draw list */

    struct weft_left_out left_out;
    int32_t legend_lines; /* lines of the legend that name kinds … */
    int32_t note_lines;   /* … and that say what is left out */
    uint32_t hits;
};

/* Drawing. A failed allocation sets list->failed; after that, nothing more is drawn. */

struct weft_draw *canvas_rect(struct canvas *c, enum weft_ink ink, int32_t x0, int32_t y0,
                              int32_t x1, int32_t y1);
/* Arrows and pointers are lines with another op. */
struct weft_draw *canvas_line(struct canvas *c, enum weft_ink ink, int32_t width, int32_t x0,
                              int32_t y0, int32_t x1, int32_t y1);

/* Cells along the axis, those from first up to end, with their opacities: one draw for each stretch without more than
 * `gap` empty ones between others. */
void canvas_cells(struct canvas *c, enum weft_ink ink, int32_t y0, int32_t y1, const uint8_t *shade,
                  uint32_t first, uint32_t end, uint32_t gap);

/* Draws any bytes, cleaned and cut to max_width; an ellipsis shows that something was cut. Returns the drawn width; 0
 * if not even the ellipsis fits. */
int32_t canvas_text(struct canvas *c, enum weft_ink ink, int32_t font, bool bold, int32_t x,
                    int32_t baseline, int32_t max_width, const char *text, size_t size);
/* The same, on a veil that separates it from what lies behind. */
int32_t canvas_text_apart(struct canvas *c, enum weft_ink ink, int32_t font, int32_t x,
                          int32_t baseline, int32_t max_width, const char *text, size_t size);

/* The first line of a picture that reaches from MARGIN to end: its title ("weft" if NULL), and a note to the right. */
void canvas_title(struct canvas *c, int32_t top, int32_t end, const char *title, const char *note,
                  int32_t gap);

/* A polyline: begin, then points, then end. */
struct weft_draw *canvas_steps(struct canvas *c, enum weft_ink ink, int32_t width);
void canvas_point(struct canvas *c, int32_t x, int32_t y);

/* Sets the text that is shown when the user points at the draw. */
void canvas_tip(struct canvas *c, struct weft_draw *d, const char *text, size_t size);

/* Makes room for one more item in a growing array. Without memory, sets list->failed and returns false. */
bool canvas_grow(struct canvas *c, void *array, uint32_t used, uint32_t *room, size_t item);

/* Sets the size of texts; 0: 100 %. */
static inline void canvas_set_text(struct canvas *c, uint16_t percent)
{
    c->percent = percent ? percent : 100;
    c->font = 11 * PX * c->percent / 100;
    c->font_small = 10 * PX * c->percent / 100;
}

/* Scales a size, given for a text size of 100 %, to the current text size. Whole pixels become whole pixels. */
static inline int32_t canvas_scaled(const struct canvas *c, int32_t size)
{
    return c->percent == 100 ? size : size * c->percent / 100 / PX * PX;
}

/* Time and place */

/* folds may be NULL, and must exist as long as the axis does. */
void axis_init(struct axis *a, const struct weft_folds *folds, int64_t from_ns, int64_t to_ns,
               int32_t x0, int32_t x1);

/* Shown time since the beginning of the picture, for times in the picture. */
static inline uint64_t axis_since(const struct axis *a, int64_t time_ns)
{
    if (a->folds.count) {
        uint64_t slot =
            time_ns > a->from_ns ? ((uint64_t)time_ns - (uint64_t)a->from_ns) >> a->slot_shift : 0;
        slot = slot < AXIS_SLOTS ? slot : AXIS_SLOTS - 1;
        time_ns = weft_folds_shown_among(&a->folds, a->before[slot], a->before[slot + 1], time_ns);
    }
    return (uint64_t)time_ns - (uint64_t)a->shown_from;
}

/* x = x0 + (time - from) * scale / 2^43, where time - from is shifted to at most 38 bits; the width takes 20. scale is
 * rounded up, so that round times give round places. The result is at most a few pixels outside the axis. */
static inline int32_t axis_x(const struct axis *a, int64_t time_ns)
{
    const int32_t beyond = 4 * PX;
    if (time_ns <= a->from_ns)
        return time_ns == a->from_ns ? a->x0 : a->x0 - beyond;
    if (time_ns >= a->to_ns)
        return time_ns == a->to_ns ? a->x1 : a->x1 + beyond;
    uint64_t since = axis_since(a, time_ns) >> a->shift;
    int32_t x = a->x0 + (int32_t)(since * a->scale >> 43);
    return x < a->x1 ? x : a->x1;
}

/* The earliest time that maps to x (x0 to x1). */
int64_t axis_time(const struct axis *a, int32_t x);

/* The duration that is `width` wide outside of folds, rounded down: nothing shorter is that wide anywhere. */
int64_t axis_length(const struct axis *a, int32_t width);

/* The width of what is visible between two coordinates. */
static inline int32_t axis_seen(const struct axis *a, int32_t x0, int32_t x1)
{
    return (x1 < a->x1 ? x1 : a->x1) - (x0 > a->x0 ? x0 : a->x0);
}

static inline int32_t canvas_x(const struct canvas *c, int64_t time_ns)
{
    return axis_x(&c->axis, time_ns);
}

/* The part of a stretch of time that is in the picture, widened to `least` if it is narrower. */
void canvas_ends(const struct canvas *c, int64_t from_ns, int64_t to_ns, int32_t least, int32_t *x0,
                 int32_t *x1);

/* The shown row of a promise's line, or WEFT_NONE; the promise may be WEFT_NONE, too. */
uint32_t canvas_row_of(const struct canvas *c, uint32_t promise);

/* Gets the y of a promise's line; false: its row is not shown. */
bool canvas_y(const struct canvas *c, uint32_t promise, int32_t *y);

/* Gets the y of the line in a shown row, and the row's height. */
int32_t canvas_row_y(const struct canvas *c, uint32_t at);
int32_t canvas_row_height(const struct canvas *c, uint32_t at);

/* Where the part of the row that belongs to a span ends: at the latest where the next span starts, or at the end of the
 * axis. */
int32_t canvas_span_room(const struct canvas *c, uint32_t row, uint32_t span);

/* The parts */

/* rows.c; the first returns false if there is no memory. */
bool canvas_find_rows(struct canvas *c);
int64_t canvas_natural_height(const struct canvas *c);
/* The height at which rows are squeezed but every row with a text still has room for it. */
int64_t canvas_readable_height(const struct canvas *c);
void canvas_place_rows(struct canvas *c, int32_t height);
/* glide.c: moves the rows back to where they were, and a part of the way towards their places. */
void canvas_glide_rows(struct canvas *c);
void canvas_find_lanes(struct canvas *c);
void canvas_find_shapes(struct canvas *c);

/* kin.c */
void canvas_find_kin(struct canvas *c);
const struct kin *canvas_kin(const struct canvas *c, uint32_t promise);
void canvas_draw_marks(struct canvas *c);

/* Draws the band behind a promise. */
void canvas_draw_band(struct canvas *c, enum weft_ink ink, uint32_t promise);

/* marks.c: finds which rows have marks, after the rows are found; and where the flags are, after the rows are placed */
void canvas_find_marked(struct canvas *c);
void canvas_find_flags(struct canvas *c);
void canvas_draw_affected(struct canvas *c);
void canvas_draw_joins(struct canvas *c);
/* Dims the rest, and draws the path and the texts of its rows over it; the texts begin with the draw `labels`. */
void canvas_draw_path(struct canvas *c, uint32_t labels);
void canvas_draw_flags(struct canvas *c);

/* Looks for space for a text of that width in a row between x and end, beside the flags. Returns where the text begins;
 * *room is how much space it has. */
int32_t canvas_beside_flags(const struct canvas *c, uint32_t at, int32_t x, int32_t end,
                            int32_t width, int32_t *room);

void canvas_draw_title(struct canvas *c);
void canvas_draw_regions(struct canvas *c);
/* Takes the names of regions and the lengths of folds, drawn from `from` to `to`, out of the list where they lie below
 * texts drawn from `labels` to `labels_end`. Later draws move up. */
void canvas_drop_covered_regions(struct canvas *c, uint32_t from, uint32_t to, uint32_t labels,
                                 uint32_t labels_end);
void canvas_draw_folds(struct canvas *c); /* breaks.c */
void canvas_draw_range(struct canvas *c);
void canvas_draw_ruler(struct canvas *c);
void canvas_draw_edges(struct canvas *c);
void canvas_draw_promises(struct canvas *c);
void canvas_draw_arrows(struct canvas *c);
void canvas_draw_labels(struct canvas *c); /* names.c */
/* Draws again the heads that labels hide; the labels begin with that draw. */
void canvas_draw_heads(struct canvas *c, uint32_t labels);
/* The height of the counter strips that fit into a given height, as high as they may be. */
int32_t canvas_counters_fit(struct canvas *c, int32_t height);
/* With a height of 0, no strip is drawn and all are counted as left out. */
void canvas_draw_counters(struct canvas *c, int32_t y0, int32_t height);
/* older.c: the row of what has been pending since before the trace; 0: there is none */
int32_t canvas_older_height(const struct canvas *c);
void canvas_draw_older(struct canvas *c, int32_t y0);
/* Where what a ring still has is complete. */
void canvas_draw_whole(struct canvas *c);
/* strips.c; how many can be drawn, and how many of them fit */
uint32_t canvas_strips(const struct canvas *c);
int32_t canvas_strip_height(const struct canvas *c);
void canvas_draw_strips(struct canvas *c, int32_t y0, uint32_t strips);
/* legend.c: notes that the picture shows `count` more of a kind, or many of which nobody knows how many. */
void canvas_saw(struct canvas *c, enum weft_kind kind, uint64_t count);
void canvas_saw_more(struct canvas *c, enum weft_kind kind);
/* Returns false for a kind that is switched off. */
bool canvas_shows(const struct canvas *c, enum weft_kind kind);
/* Names what was seen so far, from y0 on, or (draw is false) only returns how many lines that takes. */
int32_t canvas_name_kinds(struct canvas *c, int32_t y0, bool draw);
int32_t canvas_legend_height(struct canvas *c);
void canvas_draw_legend(struct canvas *c, int32_t y0);
/* How many lines are needed to say what is left out. */
int32_t canvas_note_lines(const struct canvas *c);

/* ---- names.c: names in rows that are too low for a text of their own
 *
 * In such rows a text also covers the rows above its line. So the promises that matter most come first: those that are
 * marked, that failed or should have been resolved, that have a name, that are long. A text that would lie over another
 * one goes to the right along its line, or is left out. */
struct names;

/* Records that a text of that width is already there. */
void view_names_take(struct names *n, int32_t x, int32_t baseline, int32_t width);

/* Returns true if no text is between x0 and x1 at that height. */
bool view_names_is_free(const struct names *n, int32_t x0, int32_t x1, int32_t baseline);

/* ---- gross.c: names for many lines together, where none has a name of its own; after the names ---- */
void view_gross_write(struct canvas *c, struct names *names);

/* ---- heads.c: the names of groups; placed before the other names, drawn after them ---- */
void view_heads_place(struct canvas *c, struct names *names);
void view_heads_draw(struct canvas *c);

/* ---- labels.c: what is written ---- */

/* Draws the texts of rows in which every line has room for its own. Returns how many lines have one. */
uint32_t view_labels_write(struct canvas *c, struct names *names);

/* ---- chains.c: the labels of a promise ---- */

/* The label itself, or the first one after it that is shown; WEFT_NONE: there is none. In weft's own traces a counter's
 * change says nothing about what runs; its strip shows it. */
uint32_t view_next_label(const struct canvas *c, uint32_t label);

/* The same, but labels that are left of x may be skipped. */
uint32_t view_label_from(const struct canvas *c, uint32_t label, int32_t x);

/* The label at the start of the line: the promise's name, if that comes soon enough, so that a counter's change does
 * not take its place. WEFT_NONE: there is no label yet. */
uint32_t view_label_at_start(const struct canvas *c, uint32_t promise, int32_t x0);

/* Like weft_model_name. */
uint32_t view_name(const struct canvas *c, uint32_t promise);

/* ---- labels.c: more of what is written ---- */

/* Why the promise failed, if it failed inside the picture, or a note that it should have been resolved; NULL: neither.
 * Not terminated. */
const char *view_reason_text(const struct canvas *c, uint32_t promise, uint32_t *size);

/* ---- mix.c ---- */

/* Computes cells of the picture from cells of the index. Which intervals of the index a cell uses, and how much of
 * each, is the same for all blocks of rows and is computed once per picture. An interval that is wider than a cell
 * (because little happens there) would smear what is in it: it becomes a gap, whose lines are read one by one. */
#define MIX_GAPS_MAX 64

#define MIX_WIDE 8

/* How much each of MIX_WIDE cells of a block counts, from `at` on. */
struct mix_group {
    uint32_t at;
    uint16_t weight[MIX_WIDE]; /* in all groups of a cell at most 257, so that sums fit 16 bits */
};

struct mix_gap {
    int64_t from_ns, to_ns;
    uint32_t begin, end; /* buckets */
};

struct mix {
    uint32_t *first; /* groups of each cell; one more */
    uint32_t *begin; /* bucket in which each begins; one more */
    uint32_t *order; /* the cells, those with equally many groups together, so that a processor can
                      * predict how often a loop runs */
    struct mix_group *group;
    uint32_t groups, room;
    struct mix_entry *entry; /* of the cell that is being computed */
    uint32_t entries, entries_room;
    struct mix_gap gap[MIX_GAPS_MAX]; /* to be looked at line by line */
    uint32_t gaps, gaps_max;
    bool useful; /* there are as many buckets as cells */
};

/* The picture's mix, made on first use. NULL: no memory; list->failed is set. */
const struct mix *canvas_mix(struct canvas *c, uint32_t cells);
void canvas_free_mix(struct canvas *c);
