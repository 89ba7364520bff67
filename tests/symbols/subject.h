/* SPDX-License-Identifier: ISC */
#pragma once

#include <stdint.h>

struct seen {
    uintptr_t at; /* where a call returns to */
    int line[3];  /* of the call, innermost first */
};

uintptr_t here(void);
struct seen outer(void);
struct seen in_library(uintptr_t (*where)(void));
