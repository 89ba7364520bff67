/* SPDX-License-Identifier: ISC */
/* From a frame to its caller's. Registers and the copy of a stack are only numbers here, and nothing but the copy is
 * read. */
#ifndef WEFT_SYMBOLS_STEP_H
#define WEFT_SYMBOLS_STEP_H

#include "symbols/cfi.h"
#include "symbols/unwind.h"

struct weft__frame {
    uint64_t reg[WEFT__REGS], pc;
    uint64_t known; /* bits: which registers */
};

struct weft__walk {
    const struct weft_unwind_input *in;
    uint64_t sp, fp; /* sp: where the copy begins; fp: UINT64_MAX where it is not known */
    struct weft__frame frame;
};

/* At the innermost frame; false: the registers do not even say which instruction. */
bool weft__walk_begin(struct weft__walk *w, const struct weft_unwind_input *in);

/* The frame that called w's. False: its registers or its place in the stack were not copied. */
bool weft__step_by_rule(const struct weft__walk *w, const struct weft__rule *rule,
                        struct weft__frame *next);
bool weft__step_by_frame_pointer(const struct weft__walk *w, struct weft__frame *next);

/* A frame takes room; only the innermost (exact) need not, where a call does not push. */
bool weft__is_above(const struct weft__frame *caller, const struct weft__frame *f, bool exact);

uint64_t weft__sp(const struct weft__frame *f);
bool weft__fp(const struct weft__frame *f, uint64_t *fp); /* false: not known */
bool weft__load(const struct weft__walk *w, uint64_t address, uint64_t *value);

/* Whether a function with such a rule has had the frame pointer's register for something else. */
bool weft__spoils_fp(const struct weft__rule *rule);

/* A return address may be signed, above the bits that an address has. */
uint64_t weft__address(uint64_t pc);

#endif
