/* SPDX-License-Identifier: ISC */
/* The folder of kept recordings: compressed copies (NAME.weft.zst) and texts beside them (NAME.weft.zst.txt), bounded in
 * number and bytes. NAME is PROGRAM-PID-TIME-REASON; the time is UTC, for people: which of them is the oldest is said by a
 * number in each file, so a clock that is set back changes nothing. A file appears when it is complete.
 *     struct watch_folder f = {.path = "kept", .files_most = 20, .bytes_most = 1 << 30};
 *     struct watch_subject s = {.program = "server", .pid = pid, .real_ns = now, .reason = "render > 500ms"};
 *     watch_keep(&f, &in, &s, &kept, &err);
 * Threads: several processes may use a folder. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "read/input.h"

struct watch_folder {
    const char *path; /* created if it is not there */
    uint32_t files_most;
    uint64_t
        bytes_most; /* of all files, also the texts; what is being written comes on top of it */
};

/* What is kept. program and reason may be anything. */
struct watch_subject {
    const char *program;
    uint32_t pid;
    uint64_t real_ns;
    const char *reason;
    /* NULL, or called with the copy, an open file, before it is compressed: may append packets to it. */
    void (*add)(void *data, int copy);
    void *data;
};

struct watch_kept {
    char name[NAME_MAX + 1]; /* in the folder */
    uint64_t bytes, source_bytes;
    unsigned removed; /* older ones, for which there was no room */
};

/* Keeps a copy of a trace that may still be recorded. Returns 0 or a negative WEFT_E code: WEFT_E_LIMIT if the copy alone
 * is larger than bytes_most. */
int watch_keep(const struct watch_folder *f, const struct weft_input *in,
               const struct watch_subject *s, struct watch_kept *out, struct weft_error *err);

/* Removes the oldest until there is room for that many files of that many bytes. Returns how many were removed. */
unsigned watch_keep_make_room(const struct watch_folder *f, uint32_t files, uint64_t bytes);

/* PROGRAM-PID-TIME-REASON.weft.zst; copy: how many there are already of that name. */
void watch_keep_name(char name[NAME_MAX + 1], const char *program, uint32_t pid, uint64_t real_ns,
                     const char *reason, unsigned copy);

/* That is the name of a kept recording. */
bool watch_keep_is_name(const char *name);
