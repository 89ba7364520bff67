/* SPDX-License-Identifier: ISC */
/* How to get from a function to its caller: a row of DWARF's table of call frame information, in a form that can be
 * applied without the file. A worker finds it. */
#ifndef WEFT_SYMBOLS_CFI_H
#define WEFT_SYMBOLS_CFI_H

#include "symbols/elf_file.h"
#include "symbols/worker.h"

enum { WEFT__REGS = 33, WEFT__OPS_MAX = 16 }; /* x86-64: 0 to 16; arm64: 0 to 31 */

enum weft__reg_kind {
    WEFT__REG_SAME,   /* the caller's is what is in it */
    WEFT__REG_LOST,   /* nobody knows */
    WEFT__REG_AT_CFA, /* in memory at CFA + offset */
    WEFT__REG_IS_CFA, /* is CFA + offset */
    WEFT__REG_IN,     /* in another register */
    WEFT__REG_AT_REG, /* in memory at another register + offset */
    WEFT__REG_KINDS
};

struct weft__reg_rule {
    uint8_t kind, reg;
    int32_t offset;
};

struct weft__op { /* of a DWARF expression */
    uint8_t code;
    int64_t n, m;
};

enum weft__rule_state {
    WEFT__RULE_NONE, /* there is none */
    WEFT__RULE_STEP,
    WEFT__RULE_LAST, /* the thread began here */
};

struct weft__rule {
    uint8_t state;
    bool signal;        /* what is below was interrupted, not calling */
    uint8_t return_reg; /* whose rule is that of the return address */
    uint8_t ops;
    struct weft__op op[WEFT__OPS_MAX]; /* yields the canonical frame address */
    struct weft__reg_rule reg[WEFT__REGS];
};

/* ---- Outside ---- */

/* Tells a worker that runs weft__cfi_work of an object, by its number: 0, 1, 2 … fd: its file, or -1; stays the
 * caller's. false: it is gone. */
bool weft__cfi_object(const struct weft__worker *w, int fd);

/* Asks it for the rule at an offset in one of them. */
bool weft__cfi_send(const struct weft__worker *w, uint32_t object, uint64_t offset);
bool weft__cfi_receive(const struct weft__worker *w, int timeout_ms, struct weft__rule *rule);

/* ---- In the worker ---- */

void weft__cfi_work(int fd, void *data); /* data: NULL */

#endif
