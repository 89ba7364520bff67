/* SPDX-License-Identifier: ISC */
/* What weft writes, and what it never writes over: one rule for all commands and the window.
 *
 *     struct weft_output out;
 *     const struct weft_output_options o = {.source = names, .sources = count};
 *     if (weft_output_open(&out, "picture.svg", &o, &err) == 0) {
 *         bool fine = write_to(out.file);
 *         rc = weft_output_close(&out, fine, &err);
 *     }
 *
 * The rule: never a source; never a trace that is being recorded; never another trace unless the output is a trace
 * of that kind. A file or a folder is made beside its place under a temporary name, and renamed when it is complete. An
 * error, SIGINT, SIGTERM, SIGHUP and SIGQUIT leave what was there, and nothing else. What is not a regular file (a
 * pipe, a device, standard output) is written directly.
 *
 * Who may read the output: those who may read all sources, and no more than those who could read the file that it
 * replaces. A source that is no file (a pipe, a Xen domain, a process's memory) is its user's alone.
 *
 * Threads: a process has one output at a time. */
#ifndef WEFT_OUTPUT_OUTPUT_H
#define WEFT_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/error.h"

/* What is written decides which traces it may replace. */
enum weft_output_kind {
    WEFT_OUTPUT_OTHER,  /* a picture, a page, a profile: none */
    WEFT_OUTPUT_MIRAGE, /* a trace of mirage's: another of mirage's */
    WEFT_OUTPUT_TRACE,  /* a copy of a trace: any that is not being recorded */
};

struct weft_output_options {
    enum weft_output_kind kind;
    const char *const *
        source; /* names of the sources; "-" is standard input. Borrowed until the output is closed */
    unsigned sources;
};

struct weft_output {
    FILE *file;         /* to write to; stdout itself for standard output. NULL for a folder */
    const char *folder; /* of a folder: the path of an empty one, to be filled with files */
    char *temporary;    /* NULL: nothing to be renamed */
    char *target;
    bool inside; /* of a folder: the target is there, so the temporary one lies in it */
    struct weft_output_options options;
};

/* Opens a file at path; "-" is standard output, and so are its other names, as /dev/stdout. Returns 0 or a negative
 * WEFT_E code. */
int weft_output_open(struct weft_output *out, const char *path,
                     const struct weft_output_options *options, struct weft_error *err);

/* Makes a folder, whose place is empty: nothing is there, or an empty folder. Likewise. */
int weft_output_open_folder(struct weft_output *out, const char *path,
                            const struct weft_output_options *options, struct weft_error *err);

/* Puts what was written into its place, or removes it. Standard output is not flushed. Returns 0 or a negative WEFT_E
 * code; then nothing is left of it. */
int weft_output_close(struct weft_output *out, bool keep, struct weft_error *err);

/* Returns true if the source of that name is the file that standard output goes to. */
bool weft_output_is_stdout(const char *source);

/* Returns true if somebody records into this trace, an open file: its lock is held, or the process that its facts name is
 * alive. *pid: which, by its facts. */
bool weft_output_is_recorded(int fd, uint32_t *pid);

#endif
