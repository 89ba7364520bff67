/* SPDX-License-Identifier: ISC */
/* From a frame to its caller's. Registers and the copy of a stack are only numbers here, and nothing but the copy is
 * read. */
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
    uint64_t sp, fp; /* sp: where the copy begins; fp: UINT64_MAX where it is not known */
    struct symbols_frame frame;
};

/* At the innermost frame; false: the registers do not even say which instruction. */
bool symbols_walk_begin(struct symbols_walk *w, const struct weft_unwind_input *in);

/* The frame that called w's. False: its registers or its place in the stack were not copied. */
bool symbols_step_by_rule(const struct symbols_walk *w, const struct symbols_rule *rule,
                          struct symbols_frame *next);
bool symbols_step_by_frame_pointer(const struct symbols_walk *w, struct symbols_frame *next);

/* A frame takes room; only the innermost (exact) need not, where a call does not push. */
bool symbols_is_above(const struct symbols_frame *caller, const struct symbols_frame *f,
                      bool exact);

uint64_t symbols_sp(const struct symbols_frame *f);
bool symbols_fp(const struct symbols_frame *f, uint64_t *fp); /* false: not known */
bool symbols_load(const struct symbols_walk *w, uint64_t address, uint64_t *value);

/* Whether a function with such a rule has had the frame pointer's register for something else. */
bool symbols_spoils_fp(const struct symbols_rule *rule);

/* A return address may be signed, above the bits that an address has. */
uint64_t symbols_address(uint64_t pc);

#endif
