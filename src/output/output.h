/* SPDX-License-Identifier: ISC */
/* What weft writes, and what it never overwrites: one rule for all commands and the window.
 *     struct weft_output out;
 *     const struct weft_output_options o = {.source = names, .sources = count};
 *     if (weft_output_open(&out, "picture.svg", &o, &err) == 0) {
 *         bool fine = write_to(out.file);
 *         rc = weft_output_close(&out, fine, &err);
 *     }
 * The rule: it never overwrites a source, a trace that is being recorded, or another trace, unless
 * the output is a trace of that kind. A file or folder is made next to its final place under a
 * temporary name, and renamed when it is complete. After an error, SIGINT, SIGTERM, SIGHUP or
 * SIGQUIT, what was there before is still there, and nothing else. What is not a regular file (a
 * pipe, a device, standard output) is written directly.
 * The output can be read by those who can read all sources, but by nobody who could not read the
 * file that it replaces. If a source is not a file (a pipe, a Xen domain, a process's memory), only
 * the user who runs weft can read the output.
 * Threads: a process has one output at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/error.h"

/* What is written decides which traces it may replace. */
enum weft_output_kind {
    WEFT_OUTPUT_OTHER,  /* a picture, a page, a profile: it may not replace any trace */
    WEFT_OUTPUT_MIRAGE, /* a trace of mirage's: may replace another of mirage's */
    WEFT_OUTPUT_TRACE,  /* a copy of a trace: may replace any that is not being recorded */
};

struct weft_output_options {
    enum weft_output_kind kind;
    /* names of the sources; "-" is standard input. Borrowed until the output is closed */
    const char *const *source;
    unsigned sources;
};

struct weft_output {
    FILE *file;         /* to write to; for standard output, stdout itself. NULL for a folder */
    const char *folder; /* for a folder: the path of an empty one, to be filled with files */
    char *temporary;    /* NULL: there is nothing to rename */
    char *target;
    bool inside; /* for a folder: the target exists, so the temporary one is inside it */
    struct weft_output_options options;
};

/* Opens a file at path; "-" is standard output, and so are its other names, like /dev/stdout.
 * Returns 0 or a negative WEFT_E code. */
int weft_output_open(struct weft_output *out, const char *path,
                     const struct weft_output_options *options, struct weft_error *err);

/* Makes a folder; nothing may be at its place, or an empty folder. Returns the same. */
int weft_output_open_folder(struct weft_output *out, const char *path,
                            const struct weft_output_options *options, struct weft_error *err);

/* Moves what was written to its place, or removes it. Standard output is not flushed. Returns 0 or
 * a negative WEFT_E code; nothing is left of the output then. */
int weft_output_close(struct weft_output *out, bool keep, struct weft_error *err);

/* Returns true if the source of that name is the file that standard output goes to. */
bool weft_output_is_stdout(const char *source);

/* Returns true if this trace, an open file, is being recorded: its lock is held, or the process
 * that its facts name is alive. *pid: that process, according to the facts. */
bool weft_output_is_recorded(int fd, uint32_t *pid);
