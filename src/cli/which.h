/* SPDX-License-Identifier: ISC */
/* Promises named on the command line, by number or by label. */
#ifndef WEFT_CLI_WHICH_H
#define WEFT_CLI_WHICH_H

#include "analyse/names.h"

struct cli_which {
    uint32_t *promise; /* in order of creation */
    uint32_t count;    /* not 0 */
};

/* Finds the promises with that label or, if there are none, the first of these that finds any: the same label apart
 * from its numbers ("GET /users/#"); that type; that type and label ("get /users/#"); a label that contains the text,
 * ignoring case, if all those labels differ only in numbers. On failure prints why and returns false. The caller
 * releases *out. */
bool cli_which_find(struct cli_which *out, const struct weft_model *m,
                    const struct analyse_families *families, const char *which);
/* Returns true if all labels differ only in numbers. */
bool cli_are_alike(const struct weft_model *m, const uint32_t *promise, uint32_t count);

void cli_which_fini(struct cli_which *w);

#endif
