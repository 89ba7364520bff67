/* SPDX-License-Identifier: ISC */
/* Watches a recording process and keeps its last seconds when conditions hold: for weft watch, and for weft record --keep.
 *     static struct cli_keep keep = CLI_KEEP_DEFAULTS;
 *     struct cli_watcher *w = cli_watcher_new(&keep, "watch");
 *     cli_watcher_begin(w), cli_watcher_follow(w, &target);
 * Copies, explanations and commands are made by child processes: one copy at a time, and one explanation or command at a
 * time, all with limits. So a copy that is due does not wait for a command. */
#pragma once

#include <limits.h>

#include "cli/common.h"
#include "watch/keep.h"
#include "watch/watch.h"

/* The options. */
struct cli_keep {
    const char *condition[WATCH_CONDITIONS_MAX];
    unsigned conditions;
    const char *file; /* with further ones, or NULL */
    const char *to, *run, *log;
    uint32_t files_most;
    uint64_t bytes_most;
    int64_t every_ns, run_timeout_ns, interval_ns;
    uint32_t sample_hz; /* > 0: what is watched is sampled, into a ring of this size: */
    uint64_t sample_bytes;
};

#define CLI_KEEP_DEFAULTS                                                                          \
    {                                                                                              \
        .files_most = 20, .bytes_most = UINT64_C(1) << 30, .every_ns = INT64_C(10000000000),       \
        .run_timeout_ns = INT64_C(60000000000), .interval_ns = 250000000,                          \
        .sample_bytes = UINT64_C(4) << 20                                                          \
    }

/* Rows of a table of options: k is a struct cli_keep, prefix "" or "keep-". */
#define CLI_KEEP_OPTIONS(k, prefix)                                                                \
    CLI_TEXT(prefix "to", k.to, "DIR", "the folder of what is kept, created if it is not there",   \
             .shown = "weft-kept", .completes = CLI_FOLDERS),                                      \
        CLI_NUMBER(prefix "max-files", k.files_most, "N",                                          \
                   "how many recordings are kept there; the oldest are removed", .least = 1,       \
                   .shown = "20"),                                                                 \
        CLI_SIZE(prefix "max-bytes", k.bytes_most, "SIZE", "how large all of them may be",         \
                 .least = 1, .shown = "1G"),                                                       \
        CLI_TIME(prefix "every", k.every_ns, "TIME",                                               \
                 "keep at most one for each condition in that time; what happens meanwhile is "    \
                 "counted, and is in the next one",                                                \
                 .shown = "10s"),                                                                  \
        CLI_TEXT(prefix "run", k.run, "COMMAND",                                                   \
                 "run by sh for each, with WEFT_FILE, WEFT_TEXT, WEFT_REASON and WEFT_PID in its " \
                 "environment; never two at once"),                                                \
        CLI_TIME(prefix "run-timeout", k.run_timeout_ns, "TIME", "kill the command after that",    \
                 .shown = "60s"),                                                                  \
        CLI_TIME(prefix "interval", k.interval_ns, "TIME", "how often to look at the process",     \
                 .least = 10000000, .most = 60000000000, .shown = "250ms")

struct cli_watcher;

/* Reads the conditions: those given, those of the file, or, if there are none, those of WEFT_KEEP. Prints what is wrong
 * with them and exits. command: whose options they are. */
struct cli_watcher *cli_watcher_new(const struct cli_keep *k, const char *command);

/* How many conditions there are; and the signals that they wait for: up to `room` of them. */
unsigned cli_watcher_conditions(const struct cli_watcher *w);
unsigned cli_watcher_signals(const struct cli_watcher *w, int *signal, unsigned room);

/* Where it keeps recordings, if the options do not say it: in a folder weft-kept beside that file. */
void cli_watcher_beside(struct cli_watcher *w, const char *path);

/* Takes over the signals of this process. */
void cli_watcher_begin(struct cli_watcher *w);

struct cli_watcher_target {
    pid_t pid;
    struct weft_input in; /* its trace, taken over */
    const char *path;     /* … to be shown */
    const char *samples;  /* a file into which somebody else samples it, or NULL */
    bool from_start;      /* what happened before the first look counts, too */
    bool quiet;           /* it is not said that it is watched */
    /* -1, or where an int comes from when the process has ended: how, as waitpid says it */
    int control;
};

/* PAUSED: the process goes on, but its recording was stopped, by weft ctl or by itself. */
enum cli_watcher_end { CLI_WATCH_ENDED, CLI_WATCH_PAUSED, CLI_WATCH_STOPPED };

/* Watches until the process ends, or a signal ends weft. */
enum cli_watcher_end cli_watcher_follow(struct cli_watcher *w, struct cli_watcher_target *t);

/* Waits for a time, or until a signal. Returns false if it ends weft. */
bool cli_watcher_wait(struct cli_watcher *w, int64_t ns);

/* Waits until everything is kept and explained, or a signal ends weft. */
void cli_watcher_finish(struct cli_watcher *w);

/* Kills what is being made. w may be NULL. */
void cli_watcher_free(struct cli_watcher *w);
