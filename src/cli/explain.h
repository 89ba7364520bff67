/* SPDX-License-Identifier: ISC */
/* What weft explain found in one file, and how it is told; inside of the command. */
#ifndef WEFT_CLI_EXPLAIN_H
#define WEFT_CLI_EXPLAIN_H

#include <jansson.h>

#include "analyse/explain.h"
#include "analyse/slow.h"

struct cli_explained {
    const char *path;
    uint32_t ignored; /* as in the options */
    struct weft_model *model;
    struct weft_history *history;
    struct weft_findings found;
    bool *shown;              /* beside the findings: whether it is to be told */
    uint64_t accepted, below; /* findings that are not: accepted, or not likely enough */
    bool only_possible;       /* there is nothing better */
    struct weft_slow slow;    /* empty: it was not looked for */
};

/* The first label of a promise, as clean UTF-8, or NULL if it has none (or there is no memory). The caller frees
 * it. */
char *cli_explained_label(const struct weft_model *m, uint32_t promise);

/* To standard output. */
void cli_explained_print(const struct cli_explained *x);

/* The caller owns it. */
json_t *cli_explained_json(const struct cli_explained *x);

#endif
