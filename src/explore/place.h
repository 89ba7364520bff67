/* SPDX-License-Identifier: ISC */
/* The keys of places as texts: key=value&key=value. In a value, everything but letters, digits and -_. is written as %XX.
 * place.c writes a place, place_go.c reads it and goes there. Private to src/explore. */
#pragma once

#include "explore/state.h"
#include "explore/tour.h"

enum {
    PLACE_KEY_MAX = 16,
    PLACE_NAMES_MAX = 1000, /* bytes for the names of a pane's switched-off counters */
};

/* KEY(NAME, "name", kind, least, most): the bounds are those of a NUMBER. Up to OFF, each pane has its own; of the others
 * there is one, maybe of a certain pane. */
#define EACH_KEY                                                                                   \
    KEY(FROM, "from", NUMBER, -WEFT_TIME_MAX, WEFT_TIME_MAX)                                       \
    KEY(TO, "to", NUMBER, -WEFT_TIME_MAX, WEFT_TIME_MAX)                                           \
    KEY(OFFSET, "offset", NUMBER, -WEFT_TIME_MAX, WEFT_TIME_MAX)                                   \
    KEY(ROW, "row", NUMBER, 0, UINT32_MAX - 1)                                                     \
    KEY(Y, "y", NUMBER, 0, WEFT_PICTURE_MAX_PX)                                                    \
    KEY(SPREAD, "spread", NUMBER, 0, WEFT_SPREAD_MAX)                                              \
    KEY(GROUP, "group", BYTES, 0, 0)                                                               \
    KEY(CLOSED, "closed", BYTES, 0, 0)                                                             \
    KEY(HIDDEN, "hidden", BYTES, 0, 0)                                                             \
    KEY(PINNED, "pinned", BYTES, 0, 0)                                                             \
    KEY(NOTES, "notes", BYTES, 0, 0)                                                               \
    KEY(OFF, "off", BYTES, 0, 0)                                                                   \
    KEY(PANES, "panes", BYTES, 0, 0)                                                               \
    KEY(TOP, "top", NUMBER, 0, WEFT_PANES_MAX * 1000)                                              \
    KEY(FREE, "free", NUMBER, 0, 1)                                                                \
    KEY(SELECT, "select", ID, 0, 0)                                                                \
    KEY(WITH, "with", BYTES, 0, 0)                                                                 \
    KEY(SEARCH, "search", BYTES, 0, 0)                                                             \
    KEY(FINDING, "finding", NUMBER, 1, WEFT_FINDINGS_MAX)                                          \
    KEY(PATH, "path", NUMBER, 0, 1)                                                                \
    KEY(DIFF, "diff", NUMBER, 0, 1)                                                                \
    KEY(FOLD, "fold", NUMBER, 0, 1)                                                                \
    KEY(RANGE, "range", SPAN, 0, 0)                                                                \
    KEY(RAW, "raw", NUMBER, 0, 1)                                                                  \
    KEY(COUNTERS, "counters", ON_OFF, 0, 0)                                                        \
    KEY(SAMPLES, "samples", ON_OFF, 0, 0)                                                          \
    KEY(OLDER, "older", NUMBER, 0, 1)                                                              \
    KEY(OVERVIEW, "overview", NUMBER, 0, 1)                                                        \
    KEY(LEGEND, "legend", ON_OFF, 0, 0)                                                            \
    KEY(TOUR, "tour", NUMBER, 0, WEFT_TOUR_STEPS)                                                  \
    KEY(HIDE, "hide", KINDS, 0, 0)                                                                 \
    KEY(FLAME, "flame", NUMBER, 0, 1)                                                              \
    KEY(CREATED, "created", NUMBER, 0, 1)                                                          \
    KEY(ASYNC, "async", NUMBER, 0, 1)                                                              \
    KEY(AWAY, "away", NUMBER, 0, 1)                                                                \
    KEY(WHY, "why", NUMBER, 0, 1)                                                                  \
    KEY(TABLE, "table", BYTES, 0, 0)                                                               \
    KEY(SORT, "sort", BYTES, 0, 0)                                                                 \
    KEY(KIND, "kind", ID, 0, 0)                                                                    \
    KEY(PIN, "pin", ID, 0, 0)                                                                      \
    KEY(FRAME, "frame", NUMBER, 0, UINT32_MAX - 1)                                                 \
    KEY(TEXT_SIZE, "text", NUMBER, 50, 300)

enum key {
#define KEY(NAME, ...) NAME,
    EACH_KEY
#undef KEY
        KEYS
};

extern const struct explore_key {
    const char *name;
    enum { NUMBER, ON_OFF, ID, SPAN, BYTES, KINDS } kind;
    int64_t least, most;
} explore_keys[KEYS];

/* What CLOSED, HIDDEN and PINNED say of a group. */
static inline bool *explore_group_flag(struct weft_group *g, enum key key)
{
    return key == CLOSED ? &g->is_closed : key == HIDDEN ? &g->is_hidden : &g->is_pinned;
}
