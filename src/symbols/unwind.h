/* SPDX-License-Identifier: ISC */
/* The callers of a sample by DWARF call frame information, from a copy of the upper part of its stack: for code that
 * was compiled without frame pointers. One unwinder for all processes of a recording, on one thread.
 *
 * Files are read in a child process (symbols/worker.h), which begins with the first mapping and ends with the
 * unwinder; what they say of an address is kept, so that it is seldom asked. Where they say nothing, frame pointers
 * are followed. */
#ifndef WEFT_SYMBOLS_UNWIND_H
#define WEFT_SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct weft_unwinder;

struct weft_unwinder *weft_unwinder_new(void); /* NULL: no memory */
void weft_unwinder_free(struct weft_unwinder *u);

/* What is mapped in a process from now on; and that it is gone or runs another program. */
int weft_unwinder_map(struct weft_unwinder *u, const struct weft_mapping *m, const char *path);
void weft_unwinder_forget(struct weft_unwinder *u, uint32_t process);

/* A forked process begins with its parent's mappings. 0 or WEFT_E_NOMEM. */
int weft_unwinder_fork(struct weft_unwinder *u, uint32_t process, uint32_t parent);

/* A copy of a thread's registers (as perf's PERF_SAMPLE_REGS_USER for mask, in the order of its bits) and of its
 * stack from the stack pointer upward. */
struct weft_unwind_input {
    uint32_t process, thread;
    uint64_t regs_mask;
    const uint64_t *regs;
    const uint8_t *stack;
    uint64_t stack_bytes;
};

/* Fills pcs, innermost first (callers as return addresses; what a signal interrupted: one behind it, so that one less
 * is right for both); returns how many, at most room. It ends where the copy of the stack does. 0: registers do not
 * even say which instruction. */
uint32_t weft_unwinder_run(struct weft_unwinder *u, const struct weft_unwind_input *in,
                           uint64_t *pcs, uint32_t room);

/* Mends the user's part of a stack by frame pointers, of which pcs has count, innermost first, as the kernel gives
 * it: callers of functions that have none are missing there, and where a register was used for something else,
 * anything may follow. The innermost frames become those of a small copy of the stack (at least its registers); then
 * comes what of the chain lies beyond them and has been made by functions that do keep frame pointers. Returns how
 * many there are then, at most room, which is at least count. *complete: it ends where the thread began, or where the
 * kernel's chain does. */
uint32_t weft_unwinder_mend(struct weft_unwinder *u, const struct weft_unwind_input *in,
                            uint64_t *pcs, uint32_t count, uint32_t room, bool *complete);

#endif
