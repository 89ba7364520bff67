/* SPDX-License-Identifier: ISC */
/* The conditions on which weft watch keeps the last seconds of a recording, as text. One condition is one of:
 *     LABEL > TIME                 a promise with that label or type took longer, or is pending longer
 *     pending LABEL > TIME         … is pending longer
 *     failed LABEL                 … ended with an error
 *     loop > TIME                  an event loop was, or is, in one turn for longer
 *     counter NAME > N             a counter's value; also <
 *     rate [failed] LABEL > N/s    so many of them end (or fail) in a second; also /min, /h
 *          [over TIME] [for TIME]  … on average over that time (10 s); and have done so for that time
 *     signal NAME                  weft itself gets that signal
 *     call [REASON]                the program called weft_snapshot
 *     crash                        the process ended by a signal, or without stopping its recording
 *     exit                         … or with a status other than 0, if that is known
 * LABEL, NAME and REASON are patterns (base/glob.h). They end before the next '>' or '<', unless they are in quotes; a
 * backslash takes the meaning from any character. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WATCH_TEXT_BYTES 256u
#define WATCH_CONDITIONS_MAX 64u

enum watch_kind {
    WATCH_SLOW,
    WATCH_PENDING,
    WATCH_FAILED,
    WATCH_LOOP,
    WATCH_COUNTER,
    WATCH_RATE,
    WATCH_SIGNAL,
    WATCH_CALL,
    WATCH_CRASH,
    WATCH_EXIT,
};

struct watch_condition {
    enum watch_kind kind;
    char text[WATCH_TEXT_BYTES];    /* as it was given */
    char pattern[WATCH_TEXT_BYTES]; /* "*" where none was given */
    bool below;                     /* of a counter: < */
    bool failed;                    /* of a rate */
    int64_t bound;                  /* nanoseconds; or a counter's value */
    double per_second;
    uint64_t window_ns, for_ns;
    int signal;
};

struct watch_mistake {
    size_t at; /* offset in the text */
    char why[160];
};

/* Returns true, or false and what is wrong. */
bool watch_condition_parse(struct watch_condition *out, const char *text,
                           struct watch_mistake *mistake);

/* "USR1", "SIGUSR1": the signal's number; 0: it has none that a program can wait for. */
int watch_signal_number(const char *name, size_t size);
