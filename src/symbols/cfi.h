/* SPDX-License-Identifier: ISC */
/* How to get from a function to its caller: a row of DWARF's table of call frame information, in a
 * form that can be applied without the file. A worker finds it. */
#pragma once

#include "symbols/unwind.h"
#include "symbols/worker.h"

enum { SYMBOLS_REGS = 33, SYMBOLS_OPS_MAX = 72 }; /* x86-64: 0 to 16; arm64: 0 to 31 */

struct symbols_op { /* of a DWARF expression; DW_OP_bregN is bregx, and likewise regN and litN */
    uint8_t code, reg;
    int32_t n;
};

struct symbols_ops { /* an expression: so many of a rule's operations */
    uint8_t at, count;
};

enum symbols_rule_state {
    SYMBOLS_RULE_NONE, /* there is none */
    SYMBOLS_RULE_STEP,
    SYMBOLS_RULE_LAST, /* the thread began here */
};

struct symbols_rule {
    uint8_t state;
    bool signal;            /* the frame below was interrupted by a signal; it was not calling */
    uint8_t return_reg;     /* the register whose rule gives the return address */
    struct symbols_ops cfa; /* yields the canonical frame address */
    /* Yield where the caller's value is in memory; or, if the last operation is regx or stack_value,
     * that value. Without operations it is unknown, or the current one. */
    struct symbols_ops reg[SYMBOLS_REGS];
    uint64_t same; /* bits: the registers whose value is the current one */
    struct symbols_op op[SYMBOLS_OPS_MAX];
};

/* ---- Outside ---- */

/* Tells a worker that runs symbols_cfi_work about an object, by its number: 0, 1, 2 … fd: its file,
 * or -1; it still belongs to the caller. Returns false if the worker is gone. */
bool symbols_cfi_object(const struct symbols_worker *w, int fd);

/* Asks the worker for the rule at an offset in an object. */
bool symbols_cfi_send(const struct symbols_worker *w, uint32_t object, uint64_t offset);
bool symbols_cfi_receive(const struct symbols_worker *w, int timeout_ms, struct symbols_rule *rule);

/* ---- In the worker ---- */

void symbols_cfi_work(int fd, void *data); /* data: NULL */

/* ---- step.c: from a frame to its caller's ---- */

/* Registers and the copy of the stack are only numbers here; nothing but the copy is read. */
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
