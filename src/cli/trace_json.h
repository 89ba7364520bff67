/* SPDX-License-Identifier: ISC */
/* What comes from a trace, as JSON. The caller owns what is returned; NULL: no memory. Texts stay what they are, but for
 * bytes that are not UTF-8, which become U+FFFD; characters that must not leave as they are, are escaped. */
#ifndef WEFT_CLI_TRACE_JSON_H
#define WEFT_CLI_TRACE_JSON_H

#include <jansson.h>

#include "model/model.h"

/* JSON knows no more than 2^63 - 1. */
json_t *weft__json_number(uint64_t n);

/* Any bytes. */
json_t *weft__json_text(const char *text, size_t size);

/* Any text; null for NULL. */
json_t *weft__json_string(const char *text);

/* Prints it on standard output; flags: jansson's. False: it is NULL, or was not written. */
bool weft__json_write(const json_t *o, size_t flags);

/* A text of the model; null for WEFT_NONE. */
json_t *weft__json_model_text(const struct weft_model *m, uint32_t text);

/* The number of a promise; -1 for the event loop, null for WEFT_NONE. */
json_t *weft__json_id(const struct weft_model *m, uint32_t promise);

/* The first label of a promise, or null. */
json_t *weft__json_label(const struct weft_model *m, uint32_t promise);

/* Ends of a promise that had ended before, or of all (WEFT_ROOT): {"count", "first": [{"promise", "label", "ended_ns",
 * "by", "by_label", "again_ns"}]}. */
json_t *weft__json_again(const struct weft_model *m, uint32_t promise);

/* Sets "exit_status" and "signal": numbers, or null. */
void weft__json_exit(json_t *o, const struct weft_exit *e);

#endif
