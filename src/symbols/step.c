/* SPDX-License-Identifier: ISC */
#include "symbols/cfi.h"

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

enum { DEPTH_MAX = 16 };

/* Supports the few operations that compilers, linkers and C libraries use. */
static bool evaluate(const struct symbols_walk *w, const struct symbols_rule *rule,
                     struct symbols_ops ops, uint64_t cfa, uint64_t *value)
{
    uint64_t stack[DEPTH_MAX + 1]; /* the lowest place is never used */
    unsigned depth = 0;
    for (unsigned i = ops.at; i < ops.at + ops.count; i++) {
        const struct symbols_op op = rule->op[i];
        const uint64_t n = (uint64_t)(int64_t)op.n;
        const bool is_reg = op.code == DW_OP_bregx || op.code == DW_OP_regx;
        if (is_reg || op.code == DW_OP_lit0 || op.code == DW_OP_call_frame_cfa) {
            if (depth == DEPTH_MAX || (is_reg && !has(&w->frame, op.reg)))
                return false;
            stack[++depth] = is_reg ? w->frame.reg[op.reg] + n : op.code == DW_OP_lit0 ? n : cfa;
            continue;
        }
        const bool is_unary =
            op.code == DW_OP_deref || op.code == DW_OP_plus_uconst || op.code == DW_OP_stack_value;
        if (depth < (is_unary ? 1 : 2))
            return false;
        depth -= !is_unary;
        uint64_t *top = &stack[depth], above = is_unary ? 0 : top[1];
        switch (op.code) {
        case DW_OP_stack_value:
            break;
        case DW_OP_deref:
            if (!symbols_load(w, *top, top))
                return false;
            break;
        case DW_OP_plus_uconst:
            *top += n;
            break;
        case DW_OP_plus:
            *top += above;
            break;
        case DW_OP_minus:
            *top -= above;
            break;
        case DW_OP_and:
            *top &= above;
            break;
        case DW_OP_shl:
            *top = above < 64 ? *top << above : 0;
            break;
        case DW_OP_ge:
            *top = (int64_t)*top >= (int64_t)above;
            break;
        default:
            return false;
        }
    }
    *value = stack[depth];
    return depth > 0;
}

static bool find_register(const struct symbols_walk *w, const struct symbols_rule *rule,
                          struct symbols_ops ops, uint64_t cfa, uint64_t *value)
{
    const uint8_t last = rule->op[ops.at + ops.count - 1].code;
    return evaluate(w, rule, ops, cfa, value) &&
           (last == DW_OP_stack_value || last == DW_OP_regx || symbols_load(w, *value, value));
}

bool symbols_step_by_rule(const struct symbols_walk *w, const struct symbols_rule *rule,
                          struct symbols_frame *next)
{
    uint64_t cfa;
    next->known = 0;
    if (rule->state != SYMBOLS_RULE_STEP || !evaluate(w, rule, rule->cfa, 0, &cfa))
        return false;
    for (unsigned i = 0; i <= machine.regs && i < SYMBOLS_REGS; i++) {
        const struct symbols_ops ops = rule->reg[i];
        uint64_t value = w->frame.reg[i];
        if (ops.count ? find_register(w, rule, ops, cfa, &value)
                      : (rule->same >> i & 1) && has(&w->frame, i))
            set(next, i, value);
    }
    if (!has(next, rule->return_reg))
        return false;
    next->pc = next->reg[rule->return_reg];
    if ((rule->same >> machine.sp & 1) || !has(next, machine.sp))
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
    const struct symbols_ops ops = rule->reg[machine.fp];
    const struct symbols_op *op = &rule->op[ops.at];
    if (!machine.stack_has_return || rule->state != SYMBOLS_RULE_STEP || rule->signal ||
        ops.count == 0)
        return false;
    const uint8_t first = op->code, last = op[ops.count - 1].code;
    if (first != DW_OP_regx && (first != DW_OP_call_frame_cfa ||
                                (last != DW_OP_call_frame_cfa && last != DW_OP_plus_uconst)))
        return false;
    for (unsigned i = rule->cfa.at; i < rule->cfa.at + rule->cfa.count; i++)
        if (rule->op[i].code == DW_OP_bregx && rule->op[i].reg == machine.fp)
            return false;
    return true;
}
