/* SPDX-License-Identifier: ISC */
/* Where a process has used the CPU in the last seconds: by function, and by the kind of the promise that ran.
 *     struct top_samples s = TOP_SAMPLES_NONE;
 *     top_samples_begin(&s, pid, 99);
 *     top_samples_take(&s), live_look(l, &err), top_samples_join(&s, l, seconds);   again and again
 *     top_samples_end(&s);
 * top_samples_event is called with every event meanwhile (live_calls.event). Samples are taken by a child process
 * (cli/sampler.h). Another one looks names of functions up, so they come later than the samples. Memory is bounded: of
 * what is more than the numbers below, the oldest samples are dropped, and functions have no names. */
#pragma once

#include "base/table.h"
#include "cli/sampler.h"
#include "live/live.h"

enum {
    TOP_SAMPLES_MOST = 1 << 16,
    TOP_PLACES_MOST = 1 << 15,
    TOP_FUNCTION_BYTES = 160,
    TOP_OBJECT_BYTES = 96,
};

/* A function, or an address in it as long as that is not known. */
struct top_place {
    uint64_t key; /* hash of the file and the offset in it */
    bool asked;   /* its name is, or was, looked up */
    char function[TOP_FUNCTION_BYTES];
    char object[TOP_OBJECT_BYTES];
};

#define TOP_LOOP_RAN (UINT32_MAX - 1)    /* the event loop itself */
#define TOP_NOTHING_RAN (UINT32_MAX - 2) /* no promise, as far as is known */

struct top_sample {
    uint64_t time_ns;
    uint32_t thread; /* the system's number */
    uint32_t place;
    uint32_t row; /* of live_rows, or one of those above; LIVE_NONE: not known yet */
};

/* In the window, most first. */
struct top_share {
    uint32_t of; /* a place that stands for all of its function; or a row as above */
    uint32_t samples;
};

struct top_waiting;
struct top_passed;

struct top_samples {
    uint32_t hz; /* 0: the process is not sampled */
    bool began;
    char trouble[CLI_SAMPLER_TEXT]; /* why it is not sampled, or "" */
    struct top_share *function, *label;
    uint32_t functions, labels;
    uint32_t samples; /* in the window, */
    uint64_t window_ns;
    /* The rest belongs to samples.c. */
    struct cli_sampler sampler;
    uint64_t
        question; /* CLOCK_MONOTONIC: samples until then, and hardly later ones, come with the next look */
    uint64_t begun_ns, taken_ns; /* taken_ns: samples until then were taken */
    struct top_sample *sample;   /* by time */
    uint32_t held, sample_room;
    uint32_t joined; /* so many at the beginning have a row, perhaps also others */
    struct top_place *place;
    uint32_t places, place_room, share_room;
    struct weft_table place_by;
    uint64_t seed;
    const struct live *live;
    struct top_waiting *waiting; /* by stream, in the present look */
    uint32_t streams, stream_room;
    struct top_passed *passed; /* events since the last samples that were taken */
    uint32_t passes, pass_room;
    bool passed_all;
    pid_t namer; /* a process that looks up names, or 0; it writes into: */
    int names;
    int64_t namer_begun_ns, namer_next_ns;
};

#define TOP_SAMPLES_NONE                                                                           \
    {                                                                                              \
        .sampler = CLI_SAMPLER_NONE, .names = -1                                                   \
    }

/* They begin and end the sampling of a process. */
void top_samples_begin(struct top_samples *s, pid_t process, uint32_t hz);
void top_samples_end(struct top_samples *s);

/* Of a share; NULL: of several functions for which there was no room, or of none that is known. */
const struct top_place *top_samples_place(const struct top_samples *s, uint32_t place);

/* Before a look at the process, after which l has its events: asks for what was sampled until now; takes it. */
void top_samples_ask(struct top_samples *s);
void top_samples_take(struct top_samples *s, const struct live *l, pid_t process);

void top_samples_event(struct top_samples *s, const struct weft_event *ev);

/* After the look: adds up the last seconds. Returns 0 or WEFT_E_NOMEM. */
int top_samples_join(struct top_samples *s, unsigned seconds);
