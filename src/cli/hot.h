/* SPDX-License-Identifier: ISC */
/* In which functions a promise used the CPU, as far as a trace has samples, and names of functions. */
#pragma once

#include <stdint.h>

#include "analyse/names.h"
#include "cli/trace_json.h"
#include "profile/profile.h"

#define CLI_HOT_SPOTS 3

struct cli_hot {
    struct {
        uint32_t function; /* of the profile */
        uint32_t samples;
    } spot[CLI_HOT_SPOTS]; /* most first */
    uint32_t spots;
    uint32_t samples; /* all */
};

/* In that time of the model. A sample counts for the innermost function of the program that has a name; only if there is
 * none, for one of the kernel. p: joined with the model; or NULL: there are no samples. Returns 0 or WEFT_E_NOMEM. */
int cli_hot_find(struct cli_hot *hot, const struct weft_profile *p, uint32_t promise,
                 int64_t from_ns, int64_t to_ns);

/* "grind (driven.c:30) 98 %, read 2 %"; nothing if there are too few samples. Returns false then. */
bool cli_hot_put(struct analyse_text *t, const struct weft_profile *p, const struct cli_hot *hot);

json_t *cli_hot_json(const struct weft_profile *p, const struct cli_hot *hot);
