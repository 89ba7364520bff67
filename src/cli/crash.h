/* SPDX-License-Identifier: ISC */
/* weft explain of a core file: which thread ended the process, by which signal, where, and which promise ran on it. */
#pragma once

#include <jansson.h>

#include "analyse/history.h"
#include "now/now.h"
#include "read/elf_core.h"

struct cli_crash {
    struct weft_core *core;
    struct now *now;    /* its threads and what they waited for; NULL: nothing is known */
    char no_trace[256]; /* why there is no trace of the process; "": there is one */
};

/* NULL: the file is no core, or there is no memory. */
struct cli_crash *cli_crash_open(const char *path);
void cli_crash_free(struct cli_crash *c); /* NULL is allowed */

/* To standard output: the thread and its stack; with its trace's history: the promise that ran on it at the end; without one
 * (NULL): what all threads waited for, and why there is no trace. */
void cli_crash_print(const struct cli_crash *c, const char *path, const struct weft_history *h,
                     bool all);

/* The same. */
json_t *cli_crash_json(const struct cli_crash *c, const struct weft_history *h);
