/* SPDX-License-Identifier: ISC */
/* How to get from a function to its caller: a row of DWARF's table of call frame information, in a
 * form that can be applied without the file. A worker finds it. */
#ifndef WEFT_SYMBOLS_CFI_H
#define WEFT_SYMBOLS_CFI_H

#include "symbols/elf_file.h"
#include "symbols/worker.h"

enum { SYMBOLS_REGS = 33, SYMBOLS_OPS_MAX = 16 }; /* x86-64: 0 to 16; arm64: 0 to 31 */

enum symbols_reg_kind {
    SYMBOLS_REG_SAME,   /* the caller's value is the current one */
    SYMBOLS_REG_LOST,   /* unknown */
    SYMBOLS_REG_AT_CFA, /* in memory at CFA + offset */
    SYMBOLS_REG_IS_CFA, /* it is CFA + offset */
    SYMBOLS_REG_IN,     /* in another register */
    SYMBOLS_REG_AT_REG, /* in memory at another register + offset */
    SYMBOLS_REG_KINDS
};

struct symbols_reg_rule {
    uint8_t kind, reg;
    int32_t offset;
};

struct symbols_op { /* of a DWARF expression */
    uint8_t code;
    int64_t n, m;
};

enum symbols_rule_state {
    SYMBOLS_RULE_NONE, /* there is none */
    SYMBOLS_RULE_STEP,
    SYMBOLS_RULE_LAST, /* the thread began here */
};

struct symbols_rule {
    uint8_t state;
    bool signal;        /* the frame below was interrupted by a signal; it was not calling */
    uint8_t return_reg; /* the register whose rule gives the return address */
    uint8_t ops;
    struct symbols_op op[SYMBOLS_OPS_MAX]; /* yields the canonical frame address */
    struct symbols_reg_rule reg[SYMBOLS_REGS];
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
