/* SPDX-License-Identifier: ISC */
/* How the clock of a trace's events stands to the wall clock, by the pairs of readings in its packets. */
#ifndef WEFT_READ_WALL_H
#define WEFT_READ_WALL_H

#include "read/clock.h"

#define WALL_PAIRS 17 /* kept of the oldest, and of the newest packets */

struct wall_pair {
    uint64_t sequence; /* of the packet; 0: the recording began */
    uint64_t ticks, real_ns;
    uint64_t error; /* ticks, or CLOCK_NO_ERROR */
};

struct wall_pairs {
    struct wall_pair pair[WALL_PAIRS]; /* in order of their sequence */
    unsigned count;
};

/* One moment by the trace's clock and by the wall clock of the machine that copied the trace, within the error: see
 * sight.h. */
struct weft_sight {
    uint64_t ticks;
    uint64_t real_ns, error_ns;
};

struct wall {
    struct wall_pairs oldest, newest;
    uint64_t pairs; /* in all */
    bool has_sight;
    struct weft_sight sight;
};

/* Takes a pair in; one without a wall time (0) is none. */
void wall_add(struct wall *w, const struct wall_pair *pair);

struct wall_found {
    int64_t
        ahead_ns; /* what to add to times of the clock for the wall clock, as it was at the end of the trace */
    int64_t own_ns; /* … by the pairs alone; 0: they do not say */
    int64_t
        set_ns; /* how much the wall clock was set forward between the oldest pairs and the newest ones */
    bool
        measured; /* ahead_ns is of the sight, which is better than what the other machine believes */
};

/* False: nothing is known. */
bool wall_find(const struct wall *w, const struct clock *clock, uint64_t hz,
               struct wall_found *out);

/* A sight as a text of the facts, "wall=…", with its NUL; returns its size. And the value back. */
#define WEFT_SIGHT_KEY "wall"
#define WEFT_SIGHT_TEXT 80
size_t weft_sight_write(char text[WEFT_SIGHT_TEXT], const struct weft_sight *sight);
bool weft_sight_read(struct weft_sight *out, const char *value);

/* Makes sights that stand in size bytes of such texts unreadable: the recorder itself cannot have seen anything. */
void weft_sight_blank(char *texts, size_t size);

#endif
