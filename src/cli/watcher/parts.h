/* SPDX-License-Identifier: ISC */
/* What the parts of the watcher share; see watcher.h. Internal to watcher*.c. */
#pragma once

#include <signal.h>

#include "cli/sampler.h"
#include "cli/watcher/watcher.h"

enum { LISTED_MAX = 64, STORIES_MAX = 2, QUEUE_MAX = 32 };

/* Triggers that are to be kept, or were. */
struct cli_triggers {
    struct watch_trigger list[LISTED_MAX];
    unsigned listed;
    uint64_t total;
    uint64_t count[WATCH_CONDITIONS_MAX]; /* of each condition */
    uint64_t oldest_ns; /* on the clock of the trace: when the first one began; 0: none */
};

/* A kept recording that is to be explained. */
struct cli_kept {
    char name[NAME_MAX + 1];
    char reason[WATCH_TEXT_BYTES];
    uint64_t promise[STORIES_MAX];
    unsigned promises;
    uint64_t conditions; /* that held, as bits */
    pid_t pid;           /* of the process */
    uint64_t source_bytes, samples;
    char without[200]; /* why it has no samples; "": it has, or nothing is sampled */
};

struct cli_job {
    pid_t pid; /* 0: none */
    int64_t until_ns;
    bool late;      /* it was killed */
    int64_t cpu_ns; /* that it took, when it has ended */
};

/* What a child that keeps a recording answers. */
struct cli_answer {
    int rc, error;
    struct watch_kept kept;
    char why[sizeof((struct weft_error *)0)->text];
    uint64_t samples;
    char without[sizeof((struct cli_kept *)0)->without];
};

struct cli_watcher {
    const struct cli_keep *k;
    const char *command;
    char to[PATH_MAX];
    struct watch_condition condition[WATCH_CONDITIONS_MAX];
    unsigned conditions;
    struct watch *watch;
    int signals; /* a signalfd */
    sigset_t mask, before;
    bool stop, hurry; /* it is to end; without finishing anything */
    FILE *log;
    bool to_journal;

    pid_t pid;
    char program[64];
    struct weft_input in;
    struct live *live;
    struct cli_sampler sampler; /* of the process, if it is to be sampled; else: */
    const char *samples;        /* a file with its samples, or NULL */
    bool unsampled;             /* it was said why there are no samples */
    bool noted;                 /* … and what is different about them */

    struct cli_triggers waiting, kept; /* kept: by the child */
    uint64_t overwritten;              /* packets, when the first one that waits was found: */
    int64_t found_ns;
    int64_t last_ns[WATCH_CONDITIONS_MAX]; /* when one was kept for the condition; 0: none */
    int64_t last_any_ns, retry_ns, pause_ns;
    int64_t rest_ns; /* between two copies for a condition, at least */
    bool complained;
    struct cli_job keeping;
    int answer; /* from that child; -1: none */

    struct cli_kept queue[QUEUE_MAX];
    unsigned queue_first, queued;
    struct cli_job telling;
    unsigned stage;                              /* of the first in the queue */
    int text;                                    /* what is being written, or -1 */
    int64_t told_until_ns[WATCH_CONDITIONS_MAX]; /* until then a condition has had enough */
};

/* ---- say.c ---- */

enum { CLI_SAY_ERROR = 3, CLI_SAY_WARNING = 4, CLI_SAY_NOTICE = 5, CLI_SAY_INFO = 6 };

/* kept may be NULL; its fields go to the journal. */
void cli_watcher_say(struct cli_watcher *w, int priority, const struct cli_kept *kept,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Opens the log, or opens it again. */
bool cli_watcher_log(struct cli_watcher *w);

/* ---- samples.c ---- */

void cli_watcher_sample(struct cli_watcher *w); /* begins */
void cli_watcher_hear(struct cli_watcher *w);   /* the sampler says something */
void cli_watcher_sample_end(struct cli_watcher *w);

/* In a child: puts the samples into a copy of the trace, or says why there are none. question: the sampler was asked it. */
void cli_watcher_add_samples(const struct cli_watcher *w, uint64_t question, int copy,
                             struct cli_answer *a);

/* ---- jobs.c ---- */

/* Begins, goes on with or ends what child processes do, if that is possible now. all: what waits is kept now. */
void cli_watcher_jobs(struct cli_watcher *w, bool all);

/* Nothing is being made, and nothing is to be. */
bool cli_watcher_idle(const struct cli_watcher *w);

/* Kills what is running. */
void cli_watcher_kill(struct cli_watcher *w);

void cli_triggers_add(struct cli_triggers *t, const struct watch_trigger *trigger);
