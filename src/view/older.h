/* SPDX-License-Identifier: ISC */
/* Promises that are older than a trace. Private to src/view. */
#pragma once

#include "view/layout.h"

/* Finds them, when what is awaited is known and nothing else. Returns 0 or WEFT_E_NOMEM. */
int view_older_find(struct weft_layout *l, const struct weft_model *m);
