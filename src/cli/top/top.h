/* SPDX-License-Identifier: ISC */
/* weft top: what its files share. Each process that is shown is followed by a struct live; a window (window.h) has
 * what happened in the last seconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/top/samples.h"
#include "cli/top/window.h"
#include "live/live.h"

enum top_view {
    TOP_PENDING,
    TOP_TREE,
    TOP_LATENCY,
    TOP_THREADS,
    TOP_COUNTERS,
    TOP_SAMPLES,
    TOP_VIEWS
};

struct top_request {
    const char *view, *sort, *filter, *user, *metrics; /* NULL: not given */
    int64_t interval_ns, window_ns;
    uint64_t count;
    uint32_t rows;
    uint32_t sample_hz; /* > 0: processes are sampled from the beginning */
    bool batch, json, all_views;
    bool count_given, interval_given, rows_given;
};

enum { TOP_HISTORY = 40, TOP_SAMPLED_MAX = 8, TOP_SAMPLE_HZ = 99 };

/* The last values of a counter, the oldest first. */
struct top_history {
    int64_t value[TOP_HISTORY];
    unsigned values;
};

struct top_process {
    pid_t pid;
    uint64_t start; /* weft_process_start */
    uid_t user;
    char program[64]; /* clean */
    uint64_t recording_ns;
    struct live *live;
    struct top_window window;
    struct top_samples samples;
    struct top_history *history; /* of the first counters */
    uint32_t histories, history_room;
    int64_t history_ns; /* when it was last added to */
    bool paused;
    bool ended;          /* it is shown for a while, then removed */
    bool ended_said;     /* … in the output without a screen */
    int64_t ended_at_ns; /* our clock */
    char how[96];        /* how it ended */
    char trouble[256];   /* why the last look failed, or "" */
    uint8_t *exported;   /* by row: see metrics.c */
    uint32_t exported_room, exported_names;
};

struct top {
    struct top_request request;
    struct top_finder *finder;
    struct top_process **process;
    uint32_t processes, room;
    unsigned window_seconds;
    int64_t interval_ns; /* as wanted; */
    int64_t wait_ns;     /* as it is: longer if looking takes long */
    int64_t look_ns;     /* what the last look and what followed it took */
    uint64_t looks;
    enum top_view view;
    unsigned sort[TOP_VIEWS];
    bool reverse[TOP_VIEWS];
    char filter[64];
    bool given;        /* processes were asked for by their numbers */
    char refused[256]; /* about a process that was asked for and cannot be followed, or "" */
};

/* ---- Looking (process.c) ---- */

/* Finds new processes, reads what is new of all, and removes those that ended a while ago. */
void top_look(struct top *t);

/* How long to wait from now on, if looking and showing took that long on a CPU, and no less the time before. */
void top_pace(struct top *t, int64_t took_ns);

/* Begins or ends the sampling of a process. Returns false if as many as may be are sampled already. */
bool top_sample(struct top *t, struct top_process *p, bool begin);

void top_fini(struct top *t);

/* ---- Finding processes that record (find.c) ---- */

struct top_finder;

/* pid: only these processes; none: all of this user, for root of all users. user: only that user's; (uid_t)-1: any.
 * NULL: no memory. */
struct top_finder *top_finder_new(const pid_t *pid, unsigned pids, uid_t user);
void top_finder_user(struct top_finder *f, uid_t user);
void top_finder_free(struct top_finder *f);

/* Calls found for each process that may record and is not known: it has a trace mapped, or was given. The caller opens
 * it. A process that was tested is tested again when its memory has changed, or after a while. */
typedef bool top_known_fn(void *data, pid_t pid, uint64_t start);
typedef bool top_found_fn(void *data, pid_t pid, uint64_t start, uid_t user); /* true: it records */
void top_find(struct top_finder *f, top_known_fn *known, top_found_fn *found, void *data);

/* All that were given have ended, or do not exist. False if none was given. */
bool top_finder_done(const struct top_finder *f);

/* ---- Without a screen (batch.c) ---- */

/* Prints what is to be said once; or a JSON object, one line. */
void top_batch_print(const struct top *t);

/* Says which processes have ended; they are removed at the next look. */
void top_batch_ended(struct top *t);

/* ---- On the screen (screen.c) ---- */

struct top_serve;

/* Returns the exit status. serve may be NULL. */
int top_screen_run(struct top *t, struct top_serve *serve);

/* ---- For others (serve.c, metrics.c) ---- */

/* Begins to offer /metrics at "PORT", "ADDRESS:PORT", "[ADDRESS]:PORT" or "unix:PATH". On failure prints why and returns
 * NULL. */
struct top_serve *top_serve_begin(struct top *t, const char *where);
void top_serve_end(struct top_serve *s);

/* Waits until that time (of our clock), or until fd has something to read; fd -1: none. Meanwhile requests are
 * answered. s may be NULL. Returns true if fd has something, or a signal came. */
bool top_serve_wait(struct top_serve *s, int fd, int64_t until_ns);

/* The text of all processes, which the caller frees. NULL: no memory. */
char *top_metrics(struct top *t, bool openmetrics, size_t *size);
