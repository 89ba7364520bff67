/* SPDX-License-Identifier: ISC */
#include "symbols/cfi.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

enum { TELL = 1, ASK = 2, RULE_MS = 2000 /* of CPU time */ };

struct request {
    uint32_t kind;
    uint32_t object; /* ASK */
    uint64_t offset; /* ASK; TELL: whether there is a file; it is sent with the next byte */
};

/* ---- Outside ---- */

bool symbols_cfi_object(const struct symbols_worker *w, int fd)
{
    struct request r = {.kind = TELL, .offset = fd >= 0};
    return symbols_worker_put(w->fd, &r, sizeof r) && (fd < 0 || symbols_file_send(w->fd, fd, 0));
}

static bool is_sound(const struct symbols_rule *r)
{
    if (r->state > SYMBOLS_RULE_LAST || r->ops > SYMBOLS_OPS_MAX || r->return_reg >= SYMBOLS_REGS)
        return false;
    for (unsigned i = 0; i < SYMBOLS_REGS; i++)
        if (r->reg[i].kind >= SYMBOLS_REG_KINDS || r->reg[i].reg >= SYMBOLS_REGS)
            return false;
    return true;
}

bool symbols_cfi_send(const struct symbols_worker *w, uint32_t object, uint64_t offset)
{
    struct request r = {.kind = ASK, .object = object, .offset = offset};
    return symbols_worker_put(w->fd, &r, sizeof r);
}

bool symbols_cfi_receive(const struct symbols_worker *w, int timeout_ms, struct symbols_rule *rule)
{
    return symbols_worker_get(w->fd, rule, sizeof *rule, timeout_ms) && is_sound(rule);
}

/* ---- In the worker: files ---- */

struct file {
    Elf *elf; /* NULL: none */
    Dwarf *dwarf;
    Dwarf_CFI *eh,
        *debug; /* of .eh_frame and, looked at only where that says nothing, .debug_frame */
    bool debug_tried;
    unsigned regs; /* of the machine */
};

static struct file open_file(int fd)
{
    struct file f = {0};
    GElf_Ehdr header;
    if (fd < 0)
        return f;
    elf_version(EV_CURRENT);
    f.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (f.elf)
        elf_cntl(f.elf, ELF_C_FDREAD); /* there may be more files than descriptors */
    close(fd);
    if (f.elf && gelf_getehdr(f.elf, &header) && header.e_ident[EI_CLASS] == ELFCLASS64)
        f.regs = header.e_machine == EM_X86_64 ? 17 : header.e_machine == EM_AARCH64 ? 32 : 0;
    if (f.regs > 0)
        f.eh = dwarf_getcfi_elf(f.elf);
    return f;
}

static void close_file(struct file *f)
{
    dwarf_cfi_end(f->eh);
    dwarf_end(f->dwarf); /* and f->debug */
    elf_end(f->elf);
}

/* ---- In the worker: rules ---- */

/* What libdw says of a register, as one of the kinds that compilers use. */
static struct symbols_reg_rule reg_rule(Dwarf_Frame *frame, int reg, unsigned regs)
{
    static const struct symbols_reg_rule same = {.kind = SYMBOLS_REG_SAME},
                                         lost = {.kind = SYMBOLS_REG_LOST};
    Dwarf_Op memory[3], *op;
    size_t ops;
    if (dwarf_frame_register(frame, reg, memory, &op, &ops) != 0)
        return lost;
    if (ops == 0)
        return op == NULL ? same : lost;
    int64_t n = (int64_t)op[0].number;
    if (ops == 1 && op[0].atom >= DW_OP_reg0 && op[0].atom <= DW_OP_reg31 &&
        op[0].atom - DW_OP_reg0 < (int)regs)
        return (struct symbols_reg_rule){SYMBOLS_REG_IN, (uint8_t)(op[0].atom - DW_OP_reg0), 0};
    if (ops == 1 && op[0].atom == DW_OP_regx && op[0].number < regs)
        return (struct symbols_reg_rule){SYMBOLS_REG_IN, (uint8_t)op[0].number, 0};
    if (op[0].atom != DW_OP_call_frame_cfa)
        return lost;
    if (ops == 1)
        return (struct symbols_reg_rule){SYMBOLS_REG_AT_CFA, 0, 0};
    n = (int64_t)op[1].number;
    if (n < INT32_MIN || n > INT32_MAX)
        return lost;
    if (ops == 2 && op[1].atom == DW_OP_plus_uconst)
        return (struct symbols_reg_rule){SYMBOLS_REG_AT_CFA, 0, (int32_t)n};
    if (ops == 2 && op[1].atom == DW_OP_stack_value)
        return (struct symbols_reg_rule){SYMBOLS_REG_IS_CFA, 0, 0};
    if (ops == 3 && op[1].atom == DW_OP_plus_uconst && op[2].atom == DW_OP_stack_value)
        return (struct symbols_reg_rule){SYMBOLS_REG_IS_CFA, 0, (int32_t)n};
    /* The trampoline of signals: everything lies at offsets from the stack pointer. */
    if (ops == 2 && op[1].atom >= DW_OP_breg0 && op[1].atom <= DW_OP_breg31 &&
        op[1].atom - DW_OP_breg0 < (int)regs)
        return (struct symbols_reg_rule){SYMBOLS_REG_AT_REG, (uint8_t)(op[1].atom - DW_OP_breg0),
                                         (int32_t)n};
    return lost;
}

static void rule_of_frame(Dwarf_Frame *frame, unsigned regs, struct symbols_rule *rule)
{
    Dwarf_Op *op;
    size_t ops;
    bool signal = false;
    int return_reg = dwarf_frame_info(frame, NULL, NULL, &signal);
    if (return_reg < 0 || return_reg >= (int)regs || dwarf_frame_cfa(frame, &op, &ops) != 0 ||
        ops == 0 || ops > SYMBOLS_OPS_MAX)
        return;
    for (size_t i = 0; i < ops; i++)
        rule->op[i] =
            (struct symbols_op){op[i].atom, (int64_t)op[i].number, (int64_t)op[i].number2};
    for (unsigned i = 0; i < regs; i++)
        rule->reg[i] = reg_rule(frame, (int)i, regs);
    rule->ops = (uint8_t)ops;
    rule->signal = signal;
    rule->return_reg = (uint8_t)return_reg;
    rule->state =
        rule->reg[return_reg].kind == SYMBOLS_REG_LOST ? SYMBOLS_RULE_LAST : SYMBOLS_RULE_STEP;
}

static void find_rule(struct file *f, uint64_t offset, struct symbols_rule *rule)
{
    Dwarf_Frame *frame = NULL;
    uint64_t address;
    *rule = (struct symbols_rule){.state = SYMBOLS_RULE_NONE};
    if (f->regs == 0 || !symbols_elf_address(f->elf, offset, &address))
        return;
    if (!f->eh || dwarf_cfi_addrframe(f->eh, address, &frame) != 0) {
        if (!f->debug_tried) {
            f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
            f->debug = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
            f->debug_tried = true;
        }
        frame = NULL;
        if (!f->debug || dwarf_cfi_addrframe(f->debug, address, &frame) != 0)
            return;
    }
    rule_of_frame(frame, f->regs, rule);
    free(frame);
}

/* ---- In the worker: requests ---- */

struct server {
    struct file *file;
    uint32_t files, room;
};

static bool take_object(struct server *s, int fd, const struct request *r)
{
    int error, file = r->offset ? symbols_file_receive(fd, &error) : -1;
    if (weft_reserve(&s->file, s->files, &s->room, sizeof *s->file)) {
        s->file[s->files++] = open_file(file);
        return true;
    }
    if (file >= 0)
        close(file);
    return false;
}

void symbols_cfi_work(int fd, void *data)
{
    struct server s = {0};
    struct request r;
    struct symbols_rule rule;
    (void)data;
    unsetenv("DEBUGINFOD_URLS"); /* nothing is fetched from elsewhere */
    while (symbols_worker_get(fd, &r, sizeof r, -1)) {
        symbols_confine_time(RULE_MS);
        if (r.kind == TELL) {
            if (!take_object(&s, fd, &r))
                break;
            symbols_confine_time(0);
            continue;
        }
        rule = (struct symbols_rule){.state = SYMBOLS_RULE_NONE};
        if (r.object < s.files)
            find_rule(&s.file[r.object], r.offset, &rule);
        symbols_confine_time(0);
        if (!symbols_worker_put(fd, &rule, sizeof rule))
            break;
    }
    for (uint32_t i = 0; i < s.files; i++)
        close_file(&s.file[i]);
    free(s.file);
}
