/* SPDX-License-Identifier: ISC */
/* Finds out when conditions hold in a recording process, as it goes on.
 *     struct watch *w;
 *     rc = watch_open(&w, conditions, count, found, data);
 *     o.calls = watch_calls(w);
 *     live_open(&l, &in, &o, &err), watch_process(w, l, false);
 *     while (live_look(l, &err) == 0)
 *         watch_look(w), wait();
 *     watch_free(w);
 * A condition holds once for each promise, for each turn of a loop, for each call; a counter's or a rate's once until
 * it does not hold any more. Memory is bounded by the number of conditions, threads and counters, and by
 * WATCH_REMEMBERED promises.
 * Threads: it belongs to one thread at a time. */
#pragma once

#include "live/live.h"
#include "watch/condition.h"

struct watch;

#define WATCH_SAID_BYTES 512u
/* Promises that are pending and were found already; of others beyond that it is only known when they end. */
#define WATCH_REMEMBERED 65536u

struct watch_trigger {
    unsigned condition; /* index */
    uint64_t promise;   /* 0: it is not about one */
    uint64_t time_ns;   /* on the clock of the trace, when it was so; 0: not known */
    uint64_t real_ns;   /* the same on the wall clock, as it is now */
    uint64_t took_ns;   /* how long it took or has lasted; 0: that is not what it is about */
    char said[WATCH_SAID_BYTES]; /* what happened: a sentence without its end, printable */
};

typedef void watch_fn(void *data, const struct watch_trigger *trigger);

/* conditions are borrowed; at most WATCH_CONDITIONS_MAX. found is called during live_look and watch_look, also during
 * the other calls below. Returns 0 or WEFT_E_NOMEM. */
int watch_open(struct watch **out, const struct watch_condition *condition, unsigned conditions,
               watch_fn *found, void *data);

/* Other conditions from now on. What goes on is found anew. */
void watch_conditions(struct watch *w, const struct watch_condition *condition,
                      unsigned conditions);

/* For live_options. */
struct live_calls watch_calls(struct watch *w);

/* What is looked at from now on, before its first look; NULL: nothing. from_start: as in its live_options. */
void watch_process(struct watch *w, const struct live *l, bool from_start);

/* After each live_look. */
void watch_look(struct watch *w);

/* weft got that signal. Returns true if a condition waits for it. */
bool watch_signalled(struct watch *w, int number);

/* The process has ended. crashed: by a signal, or without stopping its recording; how: the same in words, as in
 * "killed by signal 11"; failed: its exit status is known and not 0. */
void watch_ended(struct watch *w, bool crashed, bool failed, const char *how);

/* w may be NULL. */
void watch_free(struct watch *w);
