/* SPDX-License-Identifier: ISC */
/* A thread of another process that waits: where it does, and who called. The process is not touched, nor stopped. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sample/distant.h"
#include "symbols/unwind.h"

enum { SAMPLE_STANDING_BYTES = 1 << 16 }; /* most bytes of a stack */

/* What /proc/PID/task/TID/syscall says. */
struct sample_standing_at {
    bool running;    /* it does not wait: nothing else is known */
    int64_t call;    /* the number of the system call; -1: it waits in none */
    uint64_t arg[6]; /* of the call */
    uint64_t sp, pc;
};

struct sample_standing {
    uint32_t process, thread;
    struct sample_standing_at at;
    size_t bytes; /* of the copy */
    uint64_t stack[SAMPLE_STANDING_BYTES / 8];
};

/* How often the thread has left a core. Returns false if it is running or gone. */
bool sample_standing_switches(uint32_t process, uint32_t thread, uint64_t *switches);

/* Returns false if it is running, gone, or may not be looked at. */
bool sample_standing_at(uint32_t process, uint32_t thread, struct sample_standing_at *at);

/* Equal for a thread that is in the same system call, with the same first argument, of the same function. */
uint64_t sample_standing_place(const struct sample_standing_at *at);

/* Copies the stack from at.sp on. */
void sample_standing_read(struct sample_standing *t, struct symbols_worker *memory);

/* Fills pcs, innermost first, as weft_unwinder_whole does. u: NULL: only the innermost. room is at least 1. Returns how
 * many, at least 1. */
uint32_t sample_standing_callers(struct weft_unwinder *u, const struct sample_standing *t,
                                 struct symbols_worker *memory, uint64_t *pcs, uint32_t room,
                                 bool *complete);
