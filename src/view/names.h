/* SPDX-License-Identifier: ISC */
/* Names in rows that are too low for a text of their own. Private to src/view.
 *
 * In such rows a text also covers the rows above its line. So the promises that matter most come first: those that are
 * marked, that failed or should have been resolved, that have a name, that are long. A text that would lie over another
 * one goes to the right along its line, or is left out. */
#ifndef WEFT_VIEW_NAMES_H
#define WEFT_VIEW_NAMES_H

#include "view/canvas.h"

struct names;

/* NULL: no memory. */
struct names *view_names_new(struct canvas *c);
void view_names_free(struct names *n);

/* Records that a text of that width is already there. */
void view_names_take(struct names *n, int32_t x, int32_t baseline, int32_t width);

/* Chooses, places and draws the names. Returns how many lines that are drawn singly (c->shape) have a text. */
uint32_t view_names_write(struct names *n);

/* ---- labels.c: what is written ---- */

/* The label itself, or the first one after it that is shown; WEFT_NONE: there is none. In weft's own traces a counter's
 * change says nothing about what runs; its strip shows it. */
uint32_t view_next_label(const struct weft_model *m, uint32_t label);

/* The label at the start of the line: the promise's name, if that comes soon enough, so that a counter's change does
 * not take its place. WEFT_NONE: there is no label yet. */
uint32_t view_label_at_start(const struct canvas *c, const struct weft_promise *p, int32_t x0);

/* Why the promise failed, if it failed inside the picture, or a note that it should have been resolved; NULL: neither.
 * Not terminated. */
const char *view_reason_text(const struct canvas *c, uint32_t promise, uint32_t *size);

#endif
