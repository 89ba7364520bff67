/* SPDX-License-Identifier: ISC */
/* Finds the offset between the clock of a trace's events and the wall clock, from the pairs of
 * readings in its packets. */
#pragma once

#include "read/clock.h"

#define WALL_PAIRS 17 /* pairs kept of the oldest packets, and of the newest */

struct wall_pair {
    uint64_t sequence; /* of the packet; 0: from the start of the recording */
    uint64_t ticks, real_ns;
    uint64_t error; /* ticks, or CLOCK_NO_ERROR */
};

struct wall_pairs {
    struct wall_pair pair[WALL_PAIRS]; /* sorted by sequence */
    unsigned count;
};

/* One moment on the trace's clock and on the wall clock of the machine that copied the trace, with
 * the possible error: see sight.h. */
struct weft_sight {
    uint64_t ticks;
    uint64_t real_ns, error_ns;
};

struct wall {
    struct wall_pairs oldest, newest;
    uint64_t pairs; /* total number */
    bool has_sight;
    struct weft_sight sight;
};

/* Adds a pair. A pair without a wall time (0) is ignored. */
void wall_add(struct wall *w, const struct wall_pair *pair);

/* Sets has_wall and the other facts about the wall clock. */
struct weft_reader_facts;
void wall_find(const struct wall *w, const struct clock *clock, struct weft_reader_facts *facts);

/* Writes a sight as a text of the facts, "wall=…", with its NUL, and returns its size; and reads it
 * back. */
#define WEFT_SIGHT_KEY "wall"
#define WEFT_SIGHT_TEXT 80
size_t weft_sight_write(char text[WEFT_SIGHT_TEXT], const struct weft_sight *sight);
bool weft_sight_read(struct weft_sight *out, const char *value);

/* Makes sights in size bytes of such texts unreadable: the recorder itself cannot have made any. */
void weft_sight_blank(char *texts, size_t size);
