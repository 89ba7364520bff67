/* SPDX-License-Identifier: ISC */
/* What ran while samples were taken: which functions, and for how long. Inside of facts. */
#ifndef WEFT_EXPLORE_HOT_H
#define WEFT_EXPLORE_HOT_H

#include "explore/fact.h"

enum { EXPLORE_HOT_MAX = 10 };

struct explore_hot {
    uint64_t samples, on_ns; /* in all; about so long on a core */
    uint32_t functions;      /* different ones */
    struct {
        uint32_t location; /* of the profile, that such a sample had innermost */
        uint64_t on_ns;
    } function[EXPLORE_HOT_MAX]; /* the hottest ones, by themselves */
    uint32_t count;
};

/* Of the scene's samples from from_ns to to_ns: those of the promises that are marked, by index, or, where mark is
 * NULL, of promise; both without: all. Returns 0 or WEFT_E_NOMEM. A scene without samples: nothing. */
struct explore_hot_of {
    int64_t from_ns, to_ns;
    uint32_t promise; /* or WEFT_NONE */
    const uint8_t *mark;
};
int explore_hot_find(struct explore_hot *out, const struct weft_scene *s,
                     const struct explore_hot_of *of);

/* A mark for each promise: it, and what it created, directly or not. The caller frees it. NULL: no memory. */
uint8_t *explore_created_by(const struct weft_model *m, uint32_t promise);

/* The innermost function at a location, cleaned: "parse_request", "0x7f1234 (libz.so.1)". Returns its size. */
size_t explore_function_name(char *out, size_t room, const struct weft_profile *p,
                             uint32_t location);

/* Groups of facts, if there are samples. */
void explore_fact_hot_promise(struct explore_facts *f, const struct weft_scene *s,
                              uint32_t promise);
void explore_fact_hot_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                            int64_t to_ns);
void explore_fact_hot_trace(struct explore_facts *f, const struct weft_scene *s);

#endif
