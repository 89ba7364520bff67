/* SPDX-License-Identifier: ISC */
/* What the parts of a picture share while it is drawn. Private to src/view.
 *
 * The picture from top to bottom: title, ruler, rows, counters, legend. view.c divides it and calls the
 * parts in the order in which they lie over one another. */
#ifndef WEFT_VIEW_CANVAS_H
#define WEFT_VIEW_CANVAS_H

#include "view/text.h"
#include "view/view.h"

#define PX WEFT_PX
#define FONT (11 * PX)
#define FONT_SMALL (10 * PX)
#define MARGIN (8 * PX)
#define ROW_HEIGHT (22 * PX)      /* a line with its label above */
#define ROW_HEIGHT_TEXT (15 * PX) /* the least in which a label can be read */
#define ROW_HEIGHT_SMALL (6 * PX) /* a row in which nothing is wide enough for a label */
#define LABEL_LINE (12 * PX)      /* a line that is wide enough */
#define SHAPE_WIDTH (3 * PX)      /* what is narrower is folded with its neighbours */

struct canvas {
    struct weft_drawlist *list;
    const struct weft_model *m;
    const struct weft_layout *l;
    const struct weft_viewport *vp;
    int64_t from_ns, to_ns;
    int32_t x0, x1; /* of the time axis */
    int32_t rows_y0, rows_y1;
    int32_t ruler_y0;

    /* The rows in which something can be seen, from top to bottom. */
    uint32_t *shown_row; /* row of the layout */
    int32_t *shown_y;    /* top of each, and of what follows the last one */
    bool *shown_full;    /* each: has a label */
    uint32_t shown;
    uint32_t *shown_at; /* of each row of the layout: place in shown_row, or WEFT_NONE */
    bool *in_chain;     /* of each promise: selected, or joined to that by becoming; may be NULL */

    /* For the legend. */
    uint32_t folded; /* promises that are not drawn singly */
    uint32_t arrows_left_out;
    uint32_t scales_left_out;
    uint32_t hits;
};

/* Drawing. A failed allocation sets list->failed, and nothing is drawn any more. */

struct weft_draw *canvas_rect(struct canvas *c, enum weft_ink ink, int32_t x0, int32_t y0,
                              int32_t x1, int32_t y1);
struct weft_draw *canvas_line(struct canvas *c, enum weft_ink ink, int32_t width, int32_t x0,
                              int32_t y0, int32_t x1, int32_t y1);
struct weft_draw *canvas_arrow(struct canvas *c, enum weft_ink ink, int32_t x0, int32_t y0,
                               int32_t x1, int32_t y1);
struct weft_draw *canvas_pointer(struct canvas *c, enum weft_ink ink, int32_t x0, int32_t y0,
                                 int32_t x1, int32_t y1);

/* Any bytes, cleaned and cut to max_width, an ellipsis at the end if something was cut. Returns how
 * wide it is drawn; 0 if not even the ellipsis fits. */
int32_t canvas_text(struct canvas *c, enum weft_ink ink, int32_t font, bool bold, int32_t x,
                    int32_t baseline, int32_t max_width, const char *text, size_t size);
/* Likewise, on a veil that sets it apart from what lies behind. */
int32_t canvas_text_apart(struct canvas *c, enum weft_ink ink, int32_t font, int32_t x,
                          int32_t baseline, int32_t max_width, const char *text, size_t size);

/* A polyline: begin, then points, then end. */
struct weft_draw *canvas_steps(struct canvas *c, enum weft_ink ink, int32_t width);
void canvas_point(struct canvas *c, int32_t x, int32_t y);

/* What is shown when the draw is pointed at. */
void canvas_tip(struct canvas *c, struct weft_draw *d, const char *text, size_t size);

/* Time and place */

/* The x of a time, not farther than some pixels outside of the axis. */
int32_t canvas_x(const struct canvas *c, int64_t time_ns);

/* The y of the line of a promise; false: its row is not shown. */
bool canvas_y(const struct canvas *c, uint32_t promise, int32_t *y);

/* The y of the line in a shown row, and how high the row is. */
int32_t canvas_row_y(const struct canvas *c, uint32_t at);
int32_t canvas_row_height(const struct canvas *c, uint32_t at);

/* The first span of a row of the layout that ends at from_ns or later; first[row + 1] if none. Spans
 * from there on that start after to_ns are not visible. */
uint32_t canvas_first_span(const struct canvas *c, uint32_t row);

/* Where the part of the row that a span has for itself ends: the start of the next one at the latest,
 * or the end of the axis. */
int32_t canvas_span_room(const struct canvas *c, uint32_t row, uint32_t span);

/* A time as people write it, in the unit that suits step_ns: "40 ms". Returns its size. */
int canvas_format_time(char *out, size_t room, int64_t time_ns, int64_t step_ns);

/* A duration, three significant digits: "8.21 ms". Returns its size. */
int canvas_format_duration(char *out, size_t room, int64_t ns);

/* The parts */

void canvas_draw_title(struct canvas *c);
void canvas_draw_regions(struct canvas *c);
void canvas_draw_ruler(struct canvas *c);
void canvas_draw_marks(struct canvas *c);
void canvas_draw_edges(struct canvas *c);
void canvas_draw_promises(struct canvas *c);
void canvas_draw_arrows(struct canvas *c);
void canvas_draw_labels(struct canvas *c);
int32_t canvas_counters_height(const struct canvas *c);
void canvas_draw_counters(struct canvas *c, int32_t y0);
int32_t canvas_legend_height(struct canvas *c);
void canvas_draw_legend(struct canvas *c, int32_t y0);

#endif
