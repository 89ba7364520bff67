/* SPDX-License-Identifier: ISC */
/* How to get from a function to its caller: a row of DWARF's table of call frame information, in a
 * form that can be applied without the file. A worker finds it. */
#ifndef WEFT_SYMBOLS_CFI_H
#define WEFT_SYMBOLS_CFI_H

#include "symbols/elf_file.h"
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

#endif
