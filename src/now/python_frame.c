/* SPDX-License-Identifier: ISC */
/* Frames, and the tables of their code objects. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "now/python.h"

enum { TABLE_MAX = 1 << 16, LOCALS_MAX = 1 << 12, STACK_MAX = 1 << 10 };

static bool is_old(const struct python *py)
{
    return py->at.minor < PYTHON_3_11;
}

/* How many of the values on its stack are in use, where the frame says so. */
static int64_t stack_of(struct python *py, const struct python_frame *f)
{
    const struct python_layout *at = &py->at;
    const uint64_t begin = is_old(py) ? python_word(py, f->at + at->frame_valuestack) : 0;
    if (at->minor == PYTHON_3_9) { /* NULL: while it runs */
        const uint64_t top = python_word(py, f->at + at->frame_stacktop);
        return top >= begin && top % 8 == 0 ? (int64_t)((top - begin) / 8) : -1;
    }
    const int64_t top = (int32_t)python_u32(py, f->at + at->frame_stacktop);
    return is_old(py) ? top : top - (int64_t)f->nlocalsplus;
}

static bool read_code(struct python *py, uint64_t name, struct python_frame *f)
{
    const struct python_layout *at = &py->at;
    if (!python_is(py, f->code, "code"))
        return false;
    f->stacksize = python_u32(py, f->code + at->code_stacksize);
    f->nlocals = python_u32(py, f->code + at->code_nlocals);
    f->nlocalsplus = f->nlocals;
    if (is_old(py)) {
        const uint64_t cells =
            (uint64_t)python_size(py, python_word(py, f->code + at->code_cellvars)) +
            (uint64_t)python_size(py, python_word(py, f->code + at->code_freevars));
        f->nlocalsplus += cells < LOCALS_MAX ? (uint32_t)cells : 0;
    } else {
        f->nlocalsplus = python_u32(py, f->code + at->code_nlocalsplus);
        name = python_word(py, f->code + at->code_qualname);
    }
    if (f->stacksize > STACK_MAX)
        f->stacksize = STACK_MAX;
    if (f->nlocalsplus > LOCALS_MAX)
        return false;
    python_text(py, python_word(py, f->code + at->code_file), f->file, sizeof f->file);
    if (!name || !python_text(py, name, f->function, sizeof f->function))
        python_text(py, python_word(py, f->code + at->code_name), f->function, sizeof f->function);
    return true;
}

bool python_frame(struct python *py, uint64_t address, uint64_t name, struct python_frame *f)
{
    const struct python_layout *at = &py->at;
    memset(f, 0, offsetof(struct python_frame, function));
    f->function[0] = f->file[0] = 0;
    f->at = address;
    if (address == 0 || address % 8 || (is_old(py) && !python_is(py, address, "frame")))
        return false;
    f->back = python_word(py, address + at->frame_back);
    f->owner = is_old(py) ? 0 : python_u8(py, address + at->frame_owner);
    f->code = python_word(py, address + at->frame_code);
    if (!read_code(py, name, f))
        return false;
    f->globals = python_word(py, address + at->frame_globals);
    f->locals = address + at->frame_locals;
    if (at->minor == PYTHON_3_9)
        f->instruction = (int32_t)python_u32(py, address + at->frame_instruction);
    else if (at->minor == PYTHON_3_10)
        f->instruction = 2 * (int64_t)(int32_t)python_u32(py, address + at->frame_instruction);
    else
        f->instruction = (int64_t)(python_word(py, address + at->frame_instruction) -
                                   (f->code + at->code_instructions));
    f->stack = stack_of(py, f);
    if (f->stack < 0 || f->stack > f->stacksize)
        f->stack = -1;
    return true;
}

uint64_t python_stack(struct python *py, const struct python_frame *f, uint32_t i)
{
    return i < f->stacksize
               ? python_word(py, f->locals + UINT64_C(8) * ((uint64_t)f->nlocalsplus + i))
               : 0;
}

/* ---- Tables ---- */

struct table {
    uint8_t *bytes;
    size_t size, at;
};

/* A bytes object; without bytes if it is none, or too long. */
static struct table read_table(struct python *py, uint64_t object)
{
    struct table t = {NULL, 0, 0};
    const int64_t size = python_size(py, object);
    if (!python_has_flag(py, object, PYTHON_BYTES_TYPE) || size <= 0 || size > TABLE_MAX)
        return t;
    t.bytes = malloc((size_t)size);
    if (t.bytes && python_bytes(py, object + PYTHON_BYTES, t.bytes, (size_t)size))
        t.size = (size_t)size;
    return t;
}

static unsigned take(struct table *t)
{
    return t->at < t->size ? t->bytes[t->at++] : 0;
}

/* 3.9: pairs of (bytes of code, lines). */
static int64_t line_of_pairs(struct table *t, int64_t line, int64_t instruction)
{
    int64_t at = 0;
    while (t->at + 1 < t->size) {
        at += take(t);
        if (at > instruction)
            break;
        line += (int8_t)take(t);
    }
    return line;
}

/* 3.10: ranges of (bytes of code, lines); -128: without a line. */
static int64_t line_of_ranges(struct table *t, int64_t line, int64_t instruction)
{
    int64_t end = 0;
    while (t->at + 1 < t->size) {
        end += take(t);
        const int lines = (int8_t)take(t);
        line += lines == -128 ? 0 : lines;
        if (instruction < end)
            return lines == -128 ? 0 : line;
    }
    return 0;
}

/* A number in pieces of six bits, the lowest first; bit 6: another piece follows. */
static int64_t take_signed(struct table *t)
{
    uint64_t n = 0;
    for (unsigned shift = 0, byte = 0x40; byte & 0x40 && shift < 36; shift += 6)
        n |= (uint64_t)((byte = take(t)) & 0x3f) << shift;
    return n & 1 ? -(int64_t)(n >> 1) : (int64_t)(n >> 1);
}

/* From 3.11 on: entries whose first byte has bit 7 set: its form, and for how many instructions it is. */
static int64_t line_of_entries(struct table *t, int64_t line, int64_t instruction)
{
    enum { PLAIN = 13, LONG, NONE };
    int64_t end = 0;
    while (t->at < t->size) {
        const unsigned first = take(t), form = first >> 3 & 15;
        end += 2 * ((first & 7) + 1);
        if (form == PLAIN || form == LONG)
            line += take_signed(t);
        else if (form >= 10 && form <= 12)
            line += form - 10;
        if (instruction < end)
            return form == NONE ? 0 : line;
        while (t->at < t->size && !(t->bytes[t->at] & 0x80))
            t->at++;
    }
    return 0;
}

uint32_t python_line(struct python *py, const struct python_frame *f)
{
    const int64_t first = (int32_t)python_u32(py, f->code + py->at.code_first_line);
    if (f->instruction < 0)
        return first > 0 ? (uint32_t)first : 0;
    struct table t = read_table(py, python_word(py, f->code + py->at.code_lines));
    const int64_t line = py->at.minor == PYTHON_3_9    ? line_of_pairs(&t, first, f->instruction)
                         : py->at.minor == PYTHON_3_10 ? line_of_ranges(&t, first, f->instruction)
                                                       : line_of_entries(&t, first, f->instruction);
    free(t.bytes);
    return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* The highest piece first; the first byte of an entry has bit 7 set. */
static uint32_t take_number(struct table *t)
{
    uint32_t n = 0;
    for (unsigned pieces = 0, byte = 0x40; byte & 0x40 && pieces < 6; pieces++)
        n = n << 6 | ((byte = take(t)) & 0x3f);
    return n;
}

/* Before 3.11, a block says it. */
static uint32_t depth_of_blocks(struct python *py, const struct python_frame *f)
{
    enum { BLOCKS_MAX = 20, BLOCK_BYTES = 12 }; /* b_type, b_handler, b_level */
    const uint32_t blocks = python_u32(py, f->at + py->at.frame_blocks);
    return blocks == 0 || blocks > BLOCKS_MAX
               ? 0
               : python_u32(py, f->at + py->at.frame_blockstack + UINT64_C(12) * (blocks - 1) +
                                    BLOCK_BYTES - 4);
}

uint32_t python_stack_depth(struct python *py, const struct python_frame *f)
{
    uint32_t depth = 0;
    if (is_old(py)) {
        depth = depth_of_blocks(py, f);
    } else if (f->instruction >= 0) {
        struct table t = read_table(py, python_word(py, f->code + py->at.code_exceptions));
        const uint64_t here = (uint64_t)f->instruction / 2;
        while (t.at < t.size) { /* begin, length, handler, 2 * depth + 1 if it stores where */
            const uint32_t begin = take_number(&t), length = take_number(&t);
            take_number(&t);
            const uint32_t entry = take_number(&t) >> 1;
            if (here >= begin && here - begin < length) {
                depth = entry;
                break;
            }
        }
        free(t.bytes);
    }
    return depth < f->stacksize ? depth : f->stacksize;
}

/* ---- Variables ---- */

enum { CELL = 0x40, FREE = 0x80 }; /* kinds of variables */

/* Follows its cell. */
static uint64_t variable(struct python *py, const struct python_frame *f, uint32_t i)
{
    const uint64_t value = python_word(py, f->locals + UINT64_C(8) * i);
    return value && python_is(py, value, "cell") ? python_word(py, value + PYTHON_REFERENT) : value;
}

/* The names of variables, in their order: all in one tuple, or before 3.11 in three. */
struct names {
    struct python_walk walk;
    uint64_t tuple[3];
    unsigned at, tuples;
    uint32_t next;
};

static struct names names_of(struct python *py, const struct python_frame *f)
{
    struct names n = {.tuples = is_old(py) ? 3 : 1};
    n.tuple[0] = python_word(py, f->code + py->at.code_names);
    if (is_old(py)) {
        n.tuple[1] = python_word(py, f->code + py->at.code_cellvars);
        n.tuple[2] = python_word(py, f->code + py->at.code_freevars);
    }
    python_walk(py, n.tuple[0], &n.walk);
    return n;
}

static bool next_name(struct python *py, const struct python_frame *f, struct names *n,
                      char name[PYTHON_NAME_MAX], uint32_t *index)
{
    uint64_t key, none;
    while (!python_next(py, &n->walk, &key, &none)) {
        if (++n->at >= n->tuples)
            return false;
        python_walk(py, n->tuple[n->at], &n->walk);
    }
    *index = n->next++;
    python_text(py, key, name, PYTHON_NAME_MAX);
    return *index < f->nlocalsplus;
}

uint64_t python_local(struct python *py, const struct python_frame *f, const char *name)
{
    struct names n = names_of(py, f);
    char text[PYTHON_NAME_MAX];
    for (uint32_t i; next_name(py, f, &n, text, &i);) {
        const uint64_t value = strcmp(text, name) == 0 ? variable(py, f, i) : 0;
        if (value)
            return value;
    }
    return 0;
}

bool python_local_at(struct python *py, const struct python_frame *f, uint32_t *at,
                     char name[PYTHON_NAME_MAX], uint64_t *value)
{
    struct names n = names_of(py, f);
    *value = 0;
    for (uint32_t i; next_name(py, f, &n, name, &i);)
        if (i >= *at && (*value = variable(py, f, i))) {
            *at = i + 1;
            return true;
        }
    return false;
}

/* ---- Generators ---- */

bool python_generator_frame(struct python *py, uint64_t generator, struct python_frame *f,
                            int *state)
{
    const uint64_t name = python_word(py, generator + py->at.generator_qualname);
    const uint64_t at = generator + py->at.generator_frame;
    *state = 0;
    if (is_old(py))
        return python_frame(py, python_word(py, at), name, f);
    *state = (int8_t)python_u8(py, generator + py->at.generator_state);
    return *state <= 0 && python_frame(py, at, name, f);
}
