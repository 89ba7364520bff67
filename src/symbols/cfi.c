/* SPDX-License-Identifier: ISC */
#include "symbols/cfi.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "symbols/elf_file.h"

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
    int end = r->cfa.at + r->cfa.count;
    for (unsigned i = 0; i < SYMBOLS_REGS; i++)
        end = r->reg[i].at + r->reg[i].count > end ? r->reg[i].at + r->reg[i].count : end;
    return r->state <= SYMBOLS_RULE_LAST && r->return_reg < SYMBOLS_REGS && end <= SYMBOLS_OPS_MAX;
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

/* Appends operations to those of the rule. Returns false if there are too many, or an operand is too
 * large. */
static bool add_ops(struct symbols_rule *rule, unsigned *used, struct symbols_ops *to,
                    const Dwarf_Op *op, size_t ops)
{
    if (ops > SYMBOLS_OPS_MAX - *used)
        return false;
    for (size_t i = 0; i < ops; i++) {
        unsigned code = op[i].atom;
        int64_t reg = 0, n = (int64_t)op[i].number;
        if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
            reg = code - DW_OP_breg0;
            code = DW_OP_bregx;
        } else if (code >= DW_OP_reg0 && code <= DW_OP_reg31) {
            reg = code - DW_OP_reg0;
            code = DW_OP_regx;
        } else if (code >= DW_OP_lit0 && code <= DW_OP_lit31) {
            n = code - DW_OP_lit0;
            code = DW_OP_lit0;
        } else if (code == DW_OP_bregx || code == DW_OP_regx) {
            reg = n;
            n = code == DW_OP_bregx ? (int64_t)op[i].number2 : 0;
        }
        if (reg < 0 || reg >= SYMBOLS_REGS || n < INT32_MIN || n > INT32_MAX)
            return false;
        rule->op[*used + i] = (struct symbols_op){(uint8_t)code, (uint8_t)reg, (int32_t)n};
    }
    *to = (struct symbols_ops){(uint8_t)*used, (uint8_t)ops};
    *used += (unsigned)ops;
    return true;
}

static void rule_of_frame(Dwarf_Frame *frame, unsigned regs, struct symbols_rule *rule)
{
    Dwarf_Op memory[3], *op;
    size_t ops;
    bool signal = false;
    unsigned used = 0;
    int return_reg = dwarf_frame_info(frame, NULL, NULL, &signal);
    if (return_reg < 0 || return_reg >= (int)regs || dwarf_frame_cfa(frame, &op, &ops) != 0 ||
        ops == 0 || !add_ops(rule, &used, &rule->cfa, op, ops))
        return;
    for (unsigned i = 0; i < regs; i++) {
        if (dwarf_frame_register(frame, (int)i, memory, &op, &ops) != 0)
            continue; /* unknown */
        if (ops > 0)
            add_ops(rule, &used, &rule->reg[i], op, ops);
        else if (!op)
            rule->same |= UINT64_C(1) << i;
    }
    rule->signal = signal;
    rule->return_reg = (uint8_t)return_reg;
    const bool last = rule->reg[return_reg].count == 0 && !(rule->same >> return_reg & 1);
    rule->state = last ? SYMBOLS_RULE_LAST : SYMBOLS_RULE_STEP;
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
