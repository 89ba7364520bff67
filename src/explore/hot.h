/* SPDX-License-Identifier: ISC */
/* What ran while samples were taken: which functions, and for how long. Private to the facts. */
#ifndef WEFT_EXPLORE_HOT_H
#define WEFT_EXPLORE_HOT_H

#include "explore/fact.h"

enum { EXPLORE_HOT_MAX = 10 };

struct explore_hot {
    uint64_t samples, on_ns; /* total number; estimated time on a core */
    uint32_t functions;      /* different ones */
    struct {
        uint32_t location; /* location of the profile, innermost in such a sample */
        uint64_t on_ns;
    } function[EXPLORE_HOT_MAX]; /* the hottest ones, by their own time */
    uint32_t count;
};

/* Reads the scene's samples from from_ns to to_ns: those of the promises marked in `mark`, by index; if mark is NULL,
 * those of promise; if that is WEFT_NONE, all. Returns 0 or WEFT_E_NOMEM. A scene without samples gives nothing. */
struct explore_hot_of {
    int64_t from_ns, to_ns;
    uint32_t promise; /* or WEFT_NONE */
    const uint8_t *mark;
};
int explore_hot_find(struct explore_hot *out, const struct weft_scene *s,
                     const struct explore_hot_of *of);

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
