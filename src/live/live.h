/* SPDX-License-Identifier: ISC */
/* What a recording process does now, kept up to date from its events as they come: what is pending and since when, who
 * waits for whom, how long promises took, how busy each event loop is, counters. Nothing but the present is kept, so it
 * can run for months; for explanations, make a snapshot (read/snapshot.h) and a model of it.
 *     struct live *l;
 *     rc = live_open(&l, &in, &options, &err);
 *     while (rc == 0 && (rc = live_look(l, &err)) == 0)
 *         show(l), wait();
 *     live_close(l);
 * Times are CLOCK_MONOTONIC in nanoseconds, if the program did not give a clock of its own. What is said about the
 * program comes from its trace and may be anything: names have any bytes but NUL and are cut to LIVE_NAME_BYTES.
 * Memory is bounded by the options and the number of threads.
 * Threads: it belongs to one thread at a time. */
#pragma once

#include "read/follow.h"

#define LIVE_NAME_BYTES 255u
#define LIVE_NONE UINT32_MAX

struct live;

enum live_outcome {
    LIVE_FULFILLED,
    LIVE_FAILED,
    LIVE_RESOLVED, /* how is not known */
    LIVE_CANCELLED,
    LIVE_FORGOTTEN,
};

/* A promise that is pending. */
struct live_promise {
    uint64_t id;
    uint64_t created_ns;
    uint64_t creator;   /* the promise that created it, or WEFT_ID_LOOP */
    uint64_t waits_for; /* what it waits for; 0: nothing that is known. It may have ended since */
    uint64_t waits_since_ns;    /* since when it has waited for that */
    uint64_t became;            /* what it has become by now, which is pending, too; or 0 */
    uint64_t holder;            /* of a resource: who holds it; 0: nobody, or several do */
    uint32_t label, type, file; /* live_name; 0: none. The label is the first one */
    uint32_t line;
    uint32_t row;    /* live_row: where its latency will count */
    uint32_t thread; /* live_thread that created it; LIVE_NONE: not known */
    bool older;      /* it was created before that time, or its creation was not seen */
    bool background, should_resolve;
    /* Internal: the list of those that became this one, by id, and how many they are. */
    uint64_t first_became, next_became;
    uint32_t became_this;
};

/* Promises of one type and label, with `#` for each number in the label; live_rows says how many rows there are, also of labels that do not come any more.
 * Everything but `pending` only grows, so what happened between two moments is a difference. */
#define LIVE_BUCKETS 136u
struct live_row {
    uint32_t type, label; /* live_name; row 0 has neither: it is for what has no room */
    uint32_t pending;
    uint64_t fulfilled, failed, resolved, cancelled, forgotten;
    uint64_t
        total_ns; /* of those that were fulfilled, failed or were resolved, from creation to end */
    /* … and how many of them took at most live_bucket_ns(i), and more than that of i - 1 */
    uint64_t took[LIVE_BUCKETS];
};

/* The upper bound of a bucket: from 1 microsecond up, four for each power of two; UINT64_MAX for the last. */
uint64_t live_bucket_ns(unsigned bucket);
unsigned live_bucket_of(uint64_t ns);

/* Of the counts in took, the duration below which that share (0 to 1) lies, interpolated; 0 if there are none. */
uint64_t live_percentile(const uint64_t took[LIVE_BUCKETS], double share);

/* A thread of the program. */
struct live_thread {
    uint32_t number;   /* of its stream */
    uint32_t tid;      /* the system's */
    char name[17];     /* any bytes */
    bool is_loop;      /* it says when it is idle */
    bool idle;         /* now */
    uint64_t since_ns; /* since when it is idle or busy: the present turn's beginning */
    uint64_t busy_ns;  /* sum of the turns that have ended since live_open; other threads: 0 */
    uint64_t idle_ns;
    uint64_t turns, longest_ns;
    uint64_t running; /* the promise that runs, WEFT_ID_LOOP, or 0: nothing, or not known */
    uint64_t last_ns; /* of its last event */
    uint64_t preempted_ns;
};

struct live_counter {
    uint32_t name;
    int64_t value;
    uint64_t changed_ns;
};

struct live_totals {
    uint64_t events, lost; /* lost: overwritten before they were read */
    uint64_t created, ended, failed;
    uint64_t unfollowed; /* promises for which there was no room */
    uint64_t now_ns;     /* what happened until then has been seen */
    uint64_t since_ns;   /* of the first look */
    /* The recording was off until then, or is since then; 0: neither. What was created before may have ended unseen. */
    uint64_t off_ns;
};

/* Called while live_look runs; each may be NULL. They must not call functions that change it. */
struct live_calls {
    void *data;
    /* p has ended; it is removed after the call. Also called for each promise that had become p. */
    void (*ended)(void *data, const struct live_promise *p, enum live_outcome outcome,
                  uint64_t ended_ns, const char *reason, size_t reason_size);
    /* A turn of an event loop is over: t->since_ns is its beginning. */
    void (*turned)(void *data, const struct live_thread *t, uint64_t end_ns);
    void (*counted)(void *data, const struct live_counter *c);
    /* Every event, before it has any effect. */
    void (*event)(void *data, const struct weft_event *ev);
};

struct live_options {
    uint64_t promises_max; /* pending ones; 0: 4 million */
    uint32_t rows_max;     /* 0: 4096; 1: all promises are in row 0, which is faster */
    uint32_t names_max;    /* 0: 65,536; what has no room is called "…" */
    bool from_start;       /* what the first look reads is counted, and has all calls */
    struct live_calls calls;
};

/* in: as for weft_follow_open: taken over, also on failure. options may be NULL. Returns 0 or a negative WEFT_E code. */
int live_open(struct live **out, struct weft_input *in, const struct live_options *options,
              struct weft_error *err);

/* Reads what is new. The first look reads all that is there, without calls but `event`, except from_start. Returns 0, or a negative WEFT_E
 * code, after which the caller may look again. */
int live_look(struct live *l, struct weft_error *err);

/* NULL before the first look; valid until the next. For facts about the process and how it ended. */
const struct weft_reader *live_reader(const struct live *l);

const struct live_totals *live_totals(const struct live *l);

/* NUL-terminated; "" for 0. Valid until the next look. */
const char *live_name(const struct live *l, uint32_t name);

/* All that are pending, in no order; valid until the next look. */
const struct live_promise *live_promises(const struct live *l, uint32_t *count);
/* NULL: it is not pending, or not known. */
const struct live_promise *live_find(const struct live *l, uint64_t id);

const struct live_row *live_rows(const struct live *l, uint32_t *count);
const struct live_thread *live_threads(const struct live *l, uint32_t *count);
const struct live_counter *live_counters(const struct live *l, uint32_t *count);

/* l may be NULL. */
void live_close(struct live *l);
