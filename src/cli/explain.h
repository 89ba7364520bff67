/* SPDX-License-Identifier: ISC */
/* What weft explain found in one file, and what prints it for people. Private to the command. */
#ifndef WEFT_CLI_EXPLAIN_H
#define WEFT_CLI_EXPLAIN_H

#include "analyse/explain.h"
#include "analyse/slow.h"

struct cli_explained {
    const char *path;
    uint32_t ignored; /* as in the options */
    struct weft_model *model;
    struct weft_history *history;
    struct weft_findings found;
    bool *shown;              /* parallel to the findings: whether it is shown */
    uint64_t accepted, below; /* findings that are not shown: accepted, or not likely enough */
    bool only_possible;       /* shown because there is nothing better */
    struct weft_slow slow;    /* empty: not searched for */
};

/* The first label of a promise, as clean UTF-8, or NULL if it has none (or there is no memory). The caller frees
 * it. */
char *cli_explained_label(const struct weft_model *m, uint32_t promise);

/* To standard output. */
void cli_explained_print(const struct cli_explained *x);

#endif
