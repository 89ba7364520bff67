/* SPDX-License-Identifier: ISC */
/* What happened in the last seconds: differences of what live.h counts from the beginning.
 *     struct top_window w = {.seconds = 10};
 *     while (live_look(l, &err) == 0)
 *         top_window_note(&w, l);
 *     rows = top_window_rows(&w, &count);
 *     top_window_fini(&w);
 * Only what changed between two looks is kept, for TOP_SECONDS_MAX; so memory is bounded: TOP_SLOTS * TOP_CHANGES_MAX
 * changes. If more change between two looks, the rest counts as changed at the next one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "live/live.h"

enum {
    TOP_SECONDS_MAX = 60,
    TOP_SLOTS = 128,
    TOP_CHANGES_MAX = 16384,
    TOP_THREADS_MAX = 256, /* of one process; of others nothing is said */
};

/* A thread in the window. Its index is that of live_threads. */
struct top_use {
    uint64_t busy_ns; /* with the part of its present turn that lies in the window */
    uint64_t turns;
    uint64_t longest_ns; /* of the turns that ended in the window, and the present one until now */
};

struct top_change {
    uint32_t row;
    uint32_t what; /* which number of the row */
    uint64_t by;
};

struct top_slot {
    uint64_t from_ns, to_ns;
    struct top_change *change;
    uint32_t changes, room;
    uint64_t events, lost, created, ended, failed;
    struct top_use use[TOP_THREADS_MAX];
};

struct top_window {
    unsigned seconds; /* 1 to TOP_SECONDS_MAX; changed by top_window_set */
    /* The rest belongs to top_window.c. */
    bool begun;
    struct live_row *last, *sum; /* rows: what was noted, and the sum over the window */
    uint32_t rows, last_room, sum_room;
    struct top_slot *slot; /* a ring */
    uint32_t first, slots; /* of all that are kept */
    uint32_t outside;      /* … of those, how many are before the window */
    struct live_totals totals;
    uint64_t busy_ns[TOP_THREADS_MAX], turns[TOP_THREADS_MAX]; /* as noted */
    uint64_t longest_ns[TOP_THREADS_MAX];                      /* since it was noted */
    uint64_t present_ns[TOP_THREADS_MAX];                      /* the present turn until now */
    uint32_t threads;
};

/* Call it after each look. Returns 0 or WEFT_E_NOMEM. */
int top_window_note(struct top_window *w, const struct live *l);

/* A turn of that thread is over; for live_calls.turned. */
void top_window_turned(struct top_window *w, uint32_t thread, uint64_t ns);

void top_window_set(struct top_window *w, unsigned seconds);

/* What was counted in the window, in the order of live_rows; `pending` is the present one. After the first look, which
 * reads what was recorded before, it is all that. Valid until the next call. */
const struct live_row *top_window_rows(const struct top_window *w, uint32_t *count);

/* How long the window is, which is less than wanted at first. 0: there was only one look. */
uint64_t top_window_ns(const struct top_window *w);

/* events, lost, created, ended and failed in the window; after the first look, of all that it read. */
struct live_totals top_window_totals(const struct top_window *w);

struct top_use top_window_use(const struct top_window *w, uint32_t thread);

void top_window_fini(struct top_window *w);
