/* SPDX-License-Identifier: ISC */
/* What the subcommands share: messages, options, times, opening traces, writing files.
 *
 * Everything here may print to standard error, and what concerns the command line may exit. One
 * thread. */
#ifndef WEFT_CLI_COMMON_H
#define WEFT_CLI_COMMON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/count.h"
#include "base/duration.h"
#include "cli/options.h"
#include "model/model.h"
#include "output/output.h"

/* Exit statuses. */
enum {
    WEFT__DONE = 0,
    WEFT__FAILED = 1,      /* the input, or writing the output */
    WEFT__MISUSED = 2,     /* the command line */
    WEFT__CHECK_FAILED = 3 /* a check that was asked for */
};

/* What SIGPIPE did when weft was started; weft ignores it. */
extern void (*weft__sigpipe)(int);

/* Behind the last argument that weft was started with, in memory. */
extern char *cli_arguments_end;

/* Nothing goes through a pager. */
extern bool cli_no_pager;

/* ---- Messages ---- */

/* A name or a text from a trace as it may go to a terminal. */
struct weft__shown {
    char text[512];
};
struct weft__shown weft__shown(const char *name);

/* weft: NAME: … */
void weft__say(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* weft: FILE: what is wrong, at offset N; what to do */
void weft__complain(const char *path, const struct weft_error *err);

/* weft COMMAND: what is wrong; see weft COMMAND --help. Exits. */
_Noreturn void weft__misuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Values of options ---- */

/* Writes pattern with the process id for every %p. Returns its length; size or more: it does not fit, and what is there
 * is no string. */
size_t weft__expand_pid(char *path, size_t size, const char *pattern, pid_t pid);

/* The folder that this program lies in, as it was built or installed. False: it is not known. */
bool weft__own_folder(char *folder, size_t size);

/* "1600x900", or "1600": height 0. */
bool weft__parse_pixels(const char *text, int32_t *width, int32_t *height);

/* ---- Traces ---- */

/* Progress on standard error, if that is a terminal, after a second. */
struct weft__progress {
    const char *path;
    int64_t next_ns; /* when to show it next; 0: never */
    bool shown;
};
struct weft__progress weft__progress_begin(const char *path); /* NULL: off */
bool weft__progress_show(void *progress, double share);       /* a weft_progress_fn */
void weft__progress_end(struct weft__progress *p);

/* Opens a trace, a file's or a Xen domain's (cli/source.h), or says why not and returns NULL. */
struct weft_reader *weft__open(const char *path);

/* Opens a trace, builds its model and warns of damage; or says why not and returns NULL. */
struct weft_model *weft__model(const char *path);

/* Likewise of one that was opened, which stays open. NULL: says why. */
struct weft_model *weft__model_of(struct weft_reader *reader, const char *path);

/* Says what was wrong with the trace, in a few lines. */
void weft__warn(const char *path, const struct weft_damage *damage);

/* The exit status for a trace that was read to its end: failed, and said so, if it is so damaged that
 * not a single event came out. */
int weft__status(const char *path, const struct weft_damage *damage, uint64_t events);

/* ---- Output ---- */

/* Opens what is written (output/output.h). path and the names of the sources: as the command line gives them. Says what
 * is wrong and returns false. */
bool weft__output_open(struct weft_output *out, const char *path, enum weft_output_kind kind,
                       const char *const *source, unsigned sources);

/* Keeps what was written, or throws it away; says what is wrong and returns false. */
bool weft__output_close(struct weft_output *out, const char *path, bool keep);

/* The reader of standard output has gone away. That is no failure, and nothing to talk about. */
bool weft__stdout_left(void);

/* Flushes standard output. Returns status, or WEFT__FAILED after saying that it cannot be
 * written. */
int weft__finish(int status);

#endif
