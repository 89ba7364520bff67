/* SPDX-License-Identifier: ISC */
/* Finds the callers of a sample with DWARF call frame information, from a copy of the upper part of
 * its stack: for code that was compiled without frame pointers. One unwinder serves all processes
 * of a recording, on one thread.
 * Files are read in a child process (symbols/worker.h), which starts with the first mapping and
 * ends with the unwinder. Its answers are cached, so it is rarely asked. If files give no answer,
 * frame pointers are followed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct weft_unwinder;

struct weft_unwinder *weft_unwinder_new(void); /* NULL: no memory */
void weft_unwinder_free(struct weft_unwinder *u);

/* A mapping of a process, from now on; and: the process has ended or runs another program. */
int weft_unwinder_map(struct weft_unwinder *u, const struct weft_mapping *m, const char *path);
void weft_unwinder_forget(struct weft_unwinder *u, uint32_t process);

/* A forked process begins with its parent's mappings. Returns 0 or WEFT_E_NOMEM. */
int weft_unwinder_fork(struct weft_unwinder *u, uint32_t process, uint32_t parent);

/* A copy of a thread's registers (perf's PERF_SAMPLE_REGS_USER for mask, in the order of its bits)
 * and of its stack from the stack pointer upwards. */
struct weft_unwind_input {
    uint32_t process, thread;
    uint64_t regs_mask;
    const uint64_t *regs;
    const uint8_t *stack;
    uint64_t stack_bytes;
};

/* Fills pcs, innermost first. Callers are return addresses; code that a signal interrupted is given
 * as one byte further, so that subtracting one is right for both. Returns how many, at most room.
 * It ends where the copy of the stack ends. 0: not even the instruction pointer is known. */
uint32_t weft_unwinder_run(struct weft_unwinder *u, const struct weft_unwind_input *in,
                           uint64_t *pcs, uint32_t room);

/* The same. *complete: it ends where the thread began. */
uint32_t weft_unwinder_whole(struct weft_unwinder *u, const struct weft_unwind_input *in,
                             uint64_t *pcs, uint32_t room, bool *complete);

/* Returns true if something of the process is mapped at the address, by what weft_unwinder_map was told. */
bool weft_unwinder_knows(const struct weft_unwinder *u, uint32_t process, uint64_t address);

/* Repairs the user part of a stack that was found by frame pointers; pcs has count of them,
 * innermost first, as the kernel reports them. Callers of functions without frame pointers are
 * missing there, and if the register was used for something else, anything may follow. The
 * innermost frames are replaced by those found in a small copy of the stack (at least its
 * registers). After them come those frames of the chain that are further out, as far as functions
 * that keep frame pointers made them. Returns how many there are then, at most room, which must be
 * at least count. *complete: it ends where the thread began, or where the kernel's chain ends. */
uint32_t weft_unwinder_mend(struct weft_unwinder *u, const struct weft_unwind_input *in,
                            uint64_t *pcs, uint32_t count, uint32_t room, bool *complete);
