/* SPDX-License-Identifier: ISC */
/* What ran while samples were taken: which functions, and for how long. Private to the facts. */
#ifndef WEFT_EXPLORE_HOT_H
#define WEFT_EXPLORE_HOT_H

#include "explore/fact.h"

/* A mark for each promise: set for this one and those it created, directly or not. The caller frees the array. NULL: no
 * memory. */
uint8_t *explore_created_by(const struct weft_model *m, uint32_t promise);

/* The innermost function at a location, cleaned: "parse_request", "0x7f1234 (libz.so.1)". Returns its size. */
size_t explore_function_name(char *out, size_t room, const struct weft_profile *p,
                             uint32_t location);

/* Adds groups of facts, if there are samples. */
void explore_fact_hot_promise(struct explore_facts *f, const struct weft_scene *s,
                              uint32_t promise);
void explore_fact_hot_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                            int64_t to_ns);
void explore_fact_hot_trace(struct explore_facts *f, const struct weft_scene *s);

#endif
