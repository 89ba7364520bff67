/* SPDX-License-Identifier: ISC */
/* Calls of known depth in code without frame pointers, and their registers and stack as perf copies them. */
#pragma once

#include <stdint.h>

enum { CHAIN_DEPTH = 20, CHAIN_STACK = 65528, CHAIN_REGS = 33 };

struct chain {
    uint64_t returns[CHAIN_DEPTH]; /* where each call returns to, the innermost first */
    uint64_t regs_mask, regs[CHAIN_REGS];
    uint8_t stack[CHAIN_STACK];
    uint64_t stack_bytes;
    /* Set before: it is taken in a signal handler that the innermost call is interrupted by; or in one that is the
     * end of the function that calls it. */
    int in_handler, at_end;
};

/* Goes down CHAIN_DEPTH calls and takes a copy there. Threads: one at a time. */
void chain_take(struct chain *c);
