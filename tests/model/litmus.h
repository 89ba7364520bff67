/* SPDX-License-Identifier: ISC */
/* Whether the memory is C11's: small programs of which it is known what they may see. */
#pragma once

#include <stdbool.h>

#include "explore.h"

struct litmus {
    struct scene scene;
    bool may; /* what at_end fails for may happen; then it must be found */
};

extern const struct litmus litmus[];
extern const unsigned litmus_count;
