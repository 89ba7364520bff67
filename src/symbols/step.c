/* SPDX-License-Identifier: ISC */
#include "symbols/step.h"

#include <dwarf.h>
#include <string.h>

/* ---- Registers and the stack ---- */

struct machine {
    uint8_t regs, sp, fp;
    uint8_t pc_bit;        /* in perf's mask */
    const uint8_t *number; /* perf's number of each register; NULL: the same numbers */
    bool stack_has_return; /* a call pushes it */
};

#if defined(__aarch64__)
static const struct machine machine = {.regs = 32, .sp = 31, .fp = 29, .pc_bit = 32};
#else
static const uint8_t perf_numbers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
static const struct machine machine = {
    .regs = 16, .sp = 7, .fp = 6, .pc_bit = 8, .number = perf_numbers, .stack_has_return = true};
#endif

static bool has(const struct symbols_frame *f, unsigned reg)
{
    return reg < SYMBOLS_REGS && (f->known >> reg & 1);
}

static void set(struct symbols_frame *f, unsigned reg, uint64_t value)
{
    f->reg[reg] = value;
    f->known |= UINT64_C(1) << reg;
}

/* The value of a register by perf's number, if it was copied. */
static bool copied(const struct weft_unwind_input *in, unsigned number, uint64_t *value)
{
    if (!(in->regs_mask >> number & 1))
        return false;
    uint64_t below = in->regs_mask & ((UINT64_C(1) << number) - 1);
    *value = in->regs[__builtin_popcountll(below)];
    return true;
}

bool symbols_walk_begin(struct symbols_walk *w, const struct weft_unwind_input *in)
{
    struct symbols_frame *f = &w->frame;
    uint64_t value;
    w->in = in;
    f->known = 0;
    for (unsigned i = 0; i < machine.regs; i++)
        if (copied(in, machine.number ? machine.number[i] : i, &value))
            set(f, i, value);
    if (!copied(in, machine.pc_bit, &f->pc))
        return false;
    if (machine.stack_has_return)
        set(f, 16, f->pc);
    w->sp = has(f, machine.sp) ? f->reg[machine.sp] : UINT64_MAX;
    w->fp = has(f, machine.fp) ? f->reg[machine.fp] : UINT64_MAX;
    return true;
}

bool symbols_load(const struct symbols_walk *w, uint64_t address, uint64_t *value)
{
    const struct weft_unwind_input *in = w->in;
    uint64_t at = address - w->sp;
    if (address < w->sp || in->stack_bytes < sizeof *value || at > in->stack_bytes - sizeof *value)
        return false;
    memcpy(value, in->stack + at, sizeof *value);
    return true;
}

uint64_t symbols_sp(const struct symbols_frame *f)
{
    return has(f, machine.sp) ? f->reg[machine.sp] : 0;
}

bool symbols_fp(const struct symbols_frame *f, uint64_t *fp)
{
    *fp = f->reg[machine.fp];
    return has(f, machine.fp);
}

uint64_t symbols_address(uint64_t pc)
{
#if defined(__aarch64__)
    pc &= (UINT64_C(1) << 48) - 1;
#endif
    return pc;
}

bool symbols_is_above(const struct symbols_frame *caller, const struct symbols_frame *f, bool exact)
{
    const uint64_t sp = symbols_sp(f), above = symbols_sp(caller);
    return above > sp || (above == sp && exact && !machine.stack_has_return);
}

/* ---- One step ---- */

/* Supports the few operations that compilers, linkers and C libraries use for a frame's address. */
static bool operate(const struct symbols_walk *w, const struct symbols_op *op, uint64_t *stack,
                    unsigned *depth)
{
    uint64_t a, b;
    unsigned code = op->code;
    bool is_bregx = code == DW_OP_bregx;
    if ((code >= DW_OP_breg0 && code <= DW_OP_breg31) || is_bregx) {
        uint64_t reg = is_bregx ? (uint64_t)op->n : code - DW_OP_breg0;
        if (*depth >= SYMBOLS_OPS_MAX || reg >= SYMBOLS_REGS || !has(&w->frame, (unsigned)reg))
            return false;
        stack[(*depth)++] = w->frame.reg[reg] + (uint64_t)(is_bregx ? op->m : op->n);
        return true;
    }
    if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
        if (*depth >= SYMBOLS_OPS_MAX)
            return false;
        stack[(*depth)++] = code - DW_OP_lit0;
        return true;
    }
    if (*depth == 0)
        return false;
    a = stack[*depth - 1];
    if (code == DW_OP_deref)
        return symbols_load(w, a, &stack[*depth - 1]);
    if (code == DW_OP_plus_uconst) {
        stack[*depth - 1] = a + (uint64_t)op->n;
        return true;
    }
    if (*depth < 2)
        return false;
    b = stack[*depth - 2];
    (*depth)--;
    switch (code) {
    case DW_OP_plus:
        stack[*depth - 1] = b + a;
        return true;
    case DW_OP_minus:
        stack[*depth - 1] = b - a;
        return true;
    case DW_OP_and:
        stack[*depth - 1] = b & a;
        return true;
    case DW_OP_shl:
        stack[*depth - 1] = a < 64 ? b << a : 0;
        return true;
    case DW_OP_ge:
        stack[*depth - 1] = (int64_t)b >= (int64_t)a;
        return true;
    default:
        return false;
    }
}

static bool frame_address(const struct symbols_walk *w, const struct symbols_rule *rule,
                          uint64_t *cfa)
{
    uint64_t stack[SYMBOLS_OPS_MAX];
    unsigned depth = 0;
    for (unsigned i = 0; i < rule->ops; i++)
        if (!operate(w, &rule->op[i], stack, &depth))
            return false;
    if (depth == 0)
        return false;
    *cfa = stack[depth - 1];
    return true;
}

bool symbols_step_by_rule(const struct symbols_walk *w, const struct symbols_rule *rule,
                          struct symbols_frame *next)
{
    const struct symbols_frame *f = &w->frame;
    uint64_t cfa, value;
    next->known = 0;
    if (rule->state != SYMBOLS_RULE_STEP || !frame_address(w, rule, &cfa))
        return false;
    for (unsigned i = 0; i <= machine.regs && i < SYMBOLS_REGS; i++) {
        struct symbols_reg_rule r = rule->reg[i];
        uint64_t offset = (uint64_t)(int64_t)r.offset;
        if (r.kind == SYMBOLS_REG_SAME && has(f, i))
            set(next, i, f->reg[i]);
        else if (r.kind == SYMBOLS_REG_IN && has(f, r.reg))
            set(next, i, f->reg[r.reg]);
        else if (r.kind == SYMBOLS_REG_IS_CFA)
            set(next, i, cfa + offset);
        else if (r.kind == SYMBOLS_REG_AT_CFA && symbols_load(w, cfa + offset, &value))
            set(next, i, value);
        else if (r.kind == SYMBOLS_REG_AT_REG && has(f, r.reg) &&
                 symbols_load(w, f->reg[r.reg] + offset, &value))
            set(next, i, value);
    }
    if (!has(next, rule->return_reg))
        return false;
    next->pc = next->reg[rule->return_reg];
    if (rule->reg[machine.sp].kind == SYMBOLS_REG_SAME || !has(next, machine.sp))
        set(next, machine.sp, cfa);
    return true;
}

/* On both machines: the caller's frame pointer, and above it the return address. */
bool symbols_step_by_frame_pointer(const struct symbols_walk *w, struct symbols_frame *next)
{
    uint64_t fp, pc, at = w->frame.reg[machine.fp];
    if (!has(&w->frame, machine.fp) || !has(&w->frame, machine.sp) || at < symbols_sp(&w->frame) ||
        !symbols_load(w, at, &fp) || !symbols_load(w, at + 8, &pc))
        return false;
    *next = w->frame;
    set(next, machine.fp, fp);
    set(next, machine.sp, at + 16);
    next->pc = pc;
    return true;
}

/* A function that saves the register is compiled without frame pointers, unless it uses the
 * register to find its own frame. On arm64 no function uses the register for anything else. */
bool symbols_spoils_fp(const struct symbols_rule *rule)
{
    const uint8_t kind = rule->reg[machine.fp].kind;
    if (!machine.stack_has_return || rule->state != SYMBOLS_RULE_STEP || rule->signal ||
        (kind != SYMBOLS_REG_AT_CFA && kind != SYMBOLS_REG_IN))
        return false;
    for (unsigned i = 0; i < rule->ops; i++)
        if (rule->op[i].code == DW_OP_breg0 + machine.fp ||
            (rule->op[i].code == DW_OP_bregx && rule->op[i].n == machine.fp))
            return false;
    return true;
}
