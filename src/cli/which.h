/* SPDX-License-Identifier: ISC */
/* Promises that somebody has named on the command line: by number, or by label. */
#ifndef WEFT_CLI_WHICH_H
#define WEFT_CLI_WHICH_H

#include "analyse/names.h"

struct cli_which {
    uint32_t *promise; /* in order of creation */
    uint32_t count;    /* not 0 */
};

/* The promise with the number "413" or "#413", or WEFT_NONE. */
uint32_t cli_which_number(const struct weft_model *m, const char *which);

/* Those with that label; or, if there are none, with this label but for its numbers ("GET /users/#"); of that type;
 * of that type with that label ("get /users/#"); with this as a part of the label, regardless of case, if their labels
 * differ in numbers only. Says what is wrong and returns false. The caller releases *out. */
bool cli_which_find(struct cli_which *out, const struct weft_model *m,
                    const struct analyse_families *families, const char *which);
/* Whether the labels of all differ in numbers only. */
bool cli_are_alike(const struct weft_model *m, const uint32_t *promise, uint32_t count);

void cli_which_fini(struct cli_which *w);

#endif
