/* SPDX-License-Identifier: ISC */
/* What the subcommands share: messages, options, times, opening traces, writing files.
 *
 * Everything here may print to standard error; functions about the command line may exit. One thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "analyse/history.h"
#include "base/count.h"
#include "base/duration.h"
#include "cli/options.h"
#include "model/model.h"
#include "output/output.h"
#include "read/reader.h"

/* Exit statuses. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,      /* the input, or writing the output */
    CLI_MISUSED = 2,     /* the command line */
    CLI_CHECK_FAILED = 3 /* a requested check failed */
};

/* The disposition of SIGPIPE when weft was started; weft ignores it. */
extern void (*cli_sigpipe)(int);

/* The address behind the last argument that weft was started with. */
extern char *cli_arguments_end;

/* Never use a pager. */
extern bool cli_no_pager;

/* ---- Messages ---- */

/* A name or a text from a trace, made safe for a terminal. */
struct cli_shown {
    char text[512];
};
struct cli_shown cli_shown(const char *name);

/* "1 event", "1,204 events". */
struct cli_many {
    char text[80];
};
struct cli_many cli_many(uint64_t n, const char *noun);

/* weft: NAME: … Returns false, for functions that end with that. */
bool cli_say(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* weft: FILE: what is wrong, at offset N; what to do. Returns false. */
bool cli_complain(const char *path, const struct weft_error *err);

/* The same for commands that end with that: the exit status. */
#define cli_fail(...) (cli_say(__VA_ARGS__), CLI_FAILED)
#define cli_fail_by(path, err) (cli_complain(path, err), CLI_FAILED)

/* weft COMMAND: what is wrong; see weft COMMAND --help. Exits. */
_Noreturn void cli_misuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Values of options ---- */

/* Writes pattern with the process id for every %p. Returns its length; size or more: it does not fit, and the buffer
 * does not hold a string. */
size_t cli_expand_pid(char *path, size_t size, const char *pattern, pid_t pid);

/* The last part of a path. */
const char *cli_base(const char *path);

/* The folder of this program's file, in the build or as installed. False: it is not known. */
bool cli_own_folder(char *folder, size_t size);

/* ---- Traces ---- */

/* Progress on standard error, if that is a terminal, after a second. */
struct cli_progress {
    const char *path;
    int64_t next_ns; /* when to show it next; 0: never */
    bool shown;
};
struct cli_progress cli_progress_begin(const char *path); /* NULL: off */
bool cli_progress_show(void *progress, double share);     /* a weft_progress_fn */
void cli_progress_end(struct cli_progress *p);

/* The part of a trace that the command is about, by these options; cli_parse sets it. */
extern struct weft_part cli_part;
#define CLI_PART_TIMES                                                                             \
    CLI_TIME("from", cli_part.from_ns, "TIME",                                                     \
             "only that part of the trace: from then on (39.5ms, 2s; a bare number is "            \
             "nanoseconds since the first event)"),                                                \
        CLI_TIME("to", cli_part.to_ns, "TIME", "… and up to then, as if it had been saved then")
#define CLI_PART_STREAM                                                                            \
    CLI_NUMBER("stream", cli_part.stream, "N",                                                     \
               "only what happened on that stream (weft info lists them), and what became of the " \
               "promises that it names",                                                           \
               .most = UINT32_MAX)
#define CLI_PART_PROMISE                                                                           \
    CLI_NUMBER("promise", cli_part.promise, "ID",                                                  \
               "only that promise and what it depends on: what it waited for or became, and so "   \
               "on, and who created these",                                                        \
               .most = WEFT_ID_LOOP - 1)
#define CLI_PART CLI_PART_TIMES, CLI_PART_STREAM, CLI_PART_PROMISE

/* Opens a trace, or the part of it, from a file or a Xen domain (cli/source.h), or prints why not and returns NULL. */
struct weft_reader *cli_open(const char *path);

/* The same for the trace in an open file, whole, without a word. Returns 0 or a negative WEFT_E code. */
int cli_open_file(struct weft_reader **out, int fd, struct weft_error *err);

/* Opens a trace, builds its model and warns of damage; or prints why not and returns NULL. */
struct weft_model *cli_model(const char *path);

/* The same for a trace that is already open, and stays open. NULL: the reason was printed. cli_model_quiet: without
 * warnings. */
struct weft_model *cli_model_of(struct weft_reader *reader, const char *path);
struct weft_model *cli_model_quiet(struct weft_reader *reader, const char *path);

/* The history of a model; or prints why not and returns NULL. The caller frees it. */
struct weft_history *cli_history(const struct weft_model *model, const char *path);

/* Prints what was wrong with the trace, in a few lines. */
void cli_warn(const char *path, const struct weft_damage *damage);

/* The same, and where its events contradict each other. */
void cli_warn_of_model(const char *path, const struct weft_model *m);

/* The exit status for a trace that was read to its end: CLI_FAILED, with a message, if the damage is so bad that not a
 * single event could be read. */
int cli_status(const char *path, const struct weft_damage *damage, uint64_t events);

/* ---- Output ---- */

/* Opens the output (output/output.h). path and the names of the sources are as given on the command line. On failure
 * prints why and returns false. */
bool cli_output_open(struct weft_output *out, const char *path, enum weft_output_kind kind,
                     const char *const *source, unsigned sources);

/* Keeps what was written, or discards it; on failure prints why and returns false. */
bool cli_output_close(struct weft_output *out, const char *path, bool keep);

/* Call it when the reader of standard output has gone away: that is not a failure, and nothing is printed. */
bool cli_stdout_left(void);

/* Closes a descriptor; a negative one is none. */
static inline void cli_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Flushes standard output. Returns status, or CLI_FAILED after printing that it cannot be written. */
int cli_finish(int status);
