/* SPDX-License-Identifier: ISC */
/* Steps from a frame to its caller's. Registers and the copy of the stack are only numbers here;
 * nothing but the copy is read. */
#ifndef WEFT_SYMBOLS_STEP_H
#define WEFT_SYMBOLS_STEP_H

#include "symbols/cfi.h"
#include "symbols/unwind.h"

struct symbols_frame {
    uint64_t reg[SYMBOLS_REGS], pc;
    uint64_t known; /* bits: which registers */
};

struct symbols_walk {
    const struct weft_unwind_input *in;
    uint64_t sp, fp; /* sp: where the copy begins; fp: UINT64_MAX if it is not known */
    struct symbols_frame frame;
};

/* Begins at the innermost frame. Returns false if not even the instruction pointer is known. */
bool symbols_walk_begin(struct symbols_walk *w, const struct weft_unwind_input *in);

/* Goes to the caller's frame. Returns false if its registers or its part of the stack were not
 * copied. */
bool symbols_step_by_rule(const struct symbols_walk *w, const struct symbols_rule *rule,
                          struct symbols_frame *next);
bool symbols_step_by_frame_pointer(const struct symbols_walk *w, struct symbols_frame *next);

/* A frame takes space; only the innermost one (exact) need not, on machines where a call does not
 * push. */
bool symbols_is_above(const struct symbols_frame *caller, const struct symbols_frame *f,
                      bool exact);

uint64_t symbols_sp(const struct symbols_frame *f);
bool symbols_fp(const struct symbols_frame *f, uint64_t *fp); /* false: not known */
bool symbols_load(const struct symbols_walk *w, uint64_t address, uint64_t *value);

/* Returns true if a function with such a rule has used the frame pointer's register for something
 * else. */
bool symbols_spoils_fp(const struct symbols_rule *rule);

/* A return address may be signed, in the bits above those of an address. */
uint64_t symbols_address(uint64_t pc);

#endif
