/* SPDX-License-Identifier: ISC */
/* The story of one promise: what it waited for, when it ran, who waited for it.
 *     struct weft_story s;
 *     if (weft_story_find(&s, history, promise) == 0)
 *         printf("it ran %" PRIu64 " times\n", s.runs);
 * If the promise became another one, this is what it did before that, with the result of the other
 * one. Lists keep the longest entries, in order of time. Nothing has to be released. */
#pragma once

#include "analyse/spent.h"

#define WEFT_STORY_KEPT 20
#define WEFT_STORY_CREATORS 16

struct weft_story_wait {
    uint32_t wait;    /* index of a wait of the history */
    int64_t there_ns; /* see weft_history_there_ns */
    uint32_t waker;   /* who did that; WEFT_ROOT: the event loop; WEFT_NONE: not known */
};

struct weft_story_run {
    uint32_t run;     /* index of a run of the model */
    uint32_t because; /* what it read, or what signalled it, or WEFT_NONE */
    int64_t ready_ns; /* how long it had been ready */
};

struct weft_story {
    uint32_t promise, final; /* the promise that it became in the end, or itself */
    bool pending;
    int64_t start_ns, end_ns;              /* end: when its result was there, or the trace's end */
    uint32_t resolver;                     /* WEFT_ROOT: the event loop; WEFT_NONE: not known */
    uint32_t creator[WEFT_STORY_CREATORS]; /* the closest first, without the event loop */
    uint32_t creators;

    struct weft_story_wait wait[WEFT_STORY_KEPT]; /* its own waits */
    uint32_t kept_waits;
    uint64_t waits, waits_open;
    struct weft_story_run run[WEFT_STORY_KEPT];
    uint32_t kept_runs;
    uint64_t runs;
    /* the waits of others, for it or what it became */
    struct weft_story_wait reader[WEFT_STORY_KEPT];
    uint32_t kept_readers;
    uint64_t readers, readers_open;

    struct weft_spent spent;
    int64_t longest_run_ns;
};

/* Returns 0 or WEFT_E_NOMEM. Needs memory for the waits of the promise. */
int weft_story_find(struct weft_story *out, const struct weft_history *h, uint32_t promise);
