/* SPDX-License-Identifier: ISC */
/* weft explain --pending: all that is pending when a trace ends, as a tree: below a promise stands what it waits for, and
 * what it has created for which nobody waits. */
#pragma once

#include <jansson.h>

#include "analyse/history.h"

/* To standard output. all: each of those that are alike, and any number of lines. */
void cli_pending_print(const struct weft_history *h, bool all);

/* A list, in order of creation. */
json_t *cli_pending_json(const struct weft_history *h);
