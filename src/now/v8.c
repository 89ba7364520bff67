/* SPDX-License-Identifier: ISC */
#include "now/v8.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/order.h"
#include "now/objects.h"

enum {
    BLOCK_BYTES = 1 << 12,
    BLOCKS = 1 << 12,
    UNREADABLE = 1,            /* beside the address of a block: it was tried */
    TABLE_BYTES_MAX = 1 << 26, /* of dynamic symbols or their names */
    COPY_MS = 1000,
    LIMIT_MS = 2500,
    CORE_PATIENCE = 4, /* times as long: what a core says stays true */
    MOVES_MAX = 4,
};

/* ---- The dynamic symbols, as they are in memory ---- */

struct object {
    uint64_t bias, symbols, names, names_bytes;
};

static uint64_t moved(uint64_t address, uint64_t bias)
{
    return address < bias ? address + bias : address; /* the loader may have added it already */
}

static bool read_dynamic(struct now_process *p, struct object *o, uint64_t at, uint64_t bytes)
{
    Elf64_Dyn d = {.d_tag = 1};
    for (uint64_t i = 0; i < bytes / sizeof d && d.d_tag != DT_NULL; i++) {
        if (!now_read(p, at + i * sizeof d, &d, sizeof d))
            return false;
        if (d.d_tag == DT_SYMTAB)
            o->symbols = moved(d.d_un.d_ptr, o->bias);
        else if (d.d_tag == DT_STRTAB)
            o->names = moved(d.d_un.d_ptr, o->bias);
        else if (d.d_tag == DT_STRSZ)
            o->names_bytes = d.d_un.d_val;
    }
    return o->symbols && o->names > o->symbols && o->names - o->symbols < TABLE_BYTES_MAX &&
           o->names_bytes && o->names_bytes < TABLE_BYTES_MAX;
}

static bool find_tables(struct now_process *p, struct object *o, uint64_t start)
{
    Elf64_Ehdr head;
    Elf64_Phdr part, dynamic = {0};
    bool placed = false;
    if (!now_read(p, start, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof part)
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        if (!now_read(p, start + head.e_phoff + i * sizeof part, &part, sizeof part))
            return false;
        if (part.p_type == PT_DYNAMIC)
            dynamic = part;
        if (part.p_type == PT_LOAD && part.p_offset == 0 && !placed) {
            o->bias = start - part.p_vaddr;
            placed = true;
        }
    }
    return placed && dynamic.p_vaddr &&
           read_dynamic(p, o, dynamic.p_vaddr + o->bias, dynamic.p_memsz);
}

/* The table of names comes right after that of symbols: no linker does it in another way. */
static bool take_numbers(struct v8 *v, const struct object *o)
{
    const uint64_t bytes = o->names - o->symbols;
    static const char *const begins[V8_COUNT] = {
#define X(name, text) [V8_##name] = "v8dbg_" text,
        V8_NUMBERS(X)
#undef X
    };
    Elf64_Sym *symbol = malloc(bytes);
    char *names = malloc(o->names_bytes + 1);
    uint32_t found = 0;
    if (symbol && names && now_read(v->p, o->symbols, symbol, bytes) &&
        now_read(v->p, o->names, names, o->names_bytes)) {
        names[o->names_bytes] = 0;
        for (uint64_t i = 0; i < bytes / sizeof *symbol; i++) {
            const char *name = symbol[i].st_name < o->names_bytes ? names + symbol[i].st_name : "";
            if (strncmp(name, "v8dbg_", 6) != 0)
                continue;
            found++;
            for (unsigned k = 0; k < V8_COUNT; k++)
                if (strncmp(name, begins[k], strlen(begins[k])) == 0 && v->number[k] == V8_MISSING)
                    now_read(v->p, symbol[i].st_value + o->bias, &v->number[k], sizeof(int32_t));
        }
    }
    free(symbol);
    free(names);
    return found;
}

/* The program itself, or the library that Debian puts it in. A core does not name the program's file. */
static bool may_have_v8(const struct v8 *v, const struct now_mapping *m, const char *program)
{
    return m->offset == 0 && m->path[0] == '/' &&
           (v->p->core || strcmp(m->path, program) == 0 ||
            strncmp(now_mapping_file(m), "libnode", 7) == 0);
}

static bool find_numbers(struct v8 *v)
{
    char link[64], program[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)v->p->pid);
    const ssize_t n = readlink(link, program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    for (uint32_t i = 0; i < v->p->mappings; i++) {
        const struct now_mapping *m = &v->p->mapping[i];
        struct object o = {0};
        if (may_have_v8(v, m, program) && find_tables(v->p, &o, m->start) && take_numbers(v, &o)) {
            v->object = now_mapping_file(m);
            return true;
        }
    }
    return false;
}

/* All but one are types, offsets, and masks of types. */
static bool is_possible(enum v8_number which, int32_t number)
{
    if (which == V8_PROPERTY_INDEX_MASK)
        return number > 0;
    if (which == V8_PROPERTY_INDEX_SHIFT)
        return number >= 0 && number < 31;
    return (number >= 0 && number <= UINT16_MAX) ||
           (number == V8_MISSING && which == V8_TYPE_TRUSTED_BYTES);
}

bool v8_open(struct v8 *v, struct now_process *p, bool *odd)
{
    const int64_t now_ns = weft_monotonic_ns();
    const int64_t patience = p->core ? CORE_PATIENCE : 1;
    *v = (struct v8){.p = p,
                     .copy_until_ns = now_ns + patience * COPY_MS * INT64_C(1000000),
                     .until_ns = now_ns + patience * LIMIT_MS * INT64_C(1000000)};
    *odd = false;
    for (unsigned k = 0; k < V8_COUNT; k++)
        v->number[k] = V8_MISSING;
    if (!find_numbers(v))
        return false;
    v->block = malloc((size_t)BLOCKS * BLOCK_BYTES);
    v->block_at = weft_new_none(BLOCKS, sizeof *v->block_at);
    for (unsigned k = 0; k < V8_COUNT; k++)
        *odd |= !is_possible((enum v8_number)k, v->number[k]);
    return !*odd && v->block && v->block_at;
}

void v8_close(struct v8 *v)
{
    v8_forget(v);
    weft_free_all(v->block, v->block_at);
    *v = (struct v8){0};
}

bool v8_late(const struct v8 *v)
{
    return v->p->memory.late || weft_monotonic_ns() > v->until_ns;
}

/* ---- Objects ---- */

/* NULL: it cannot be read. */
static const char *block_of(struct v8 *v, uint64_t at)
{
    const uint64_t start = at & ~(uint64_t)(BLOCK_BYTES - 1);
    const size_t slot = (size_t)(start / BLOCK_BYTES % BLOCKS);
    char *block = v->block + slot * BLOCK_BYTES;
    if (v->block_at[slot] == start)
        return block;
    if (v->block_at[slot] == (start | UNREADABLE))
        return NULL;
    v->block_at[slot] = start | UNREADABLE;
    if (!now_read(v->p, start, block, BLOCK_BYTES))
        return NULL;
    v->block_at[slot] = start;
    return block;
}

/* Only whole: what is partly in the copy is read again. */
static bool read_copy(const struct v8 *v, uint64_t at, void *to, size_t bytes)
{
    uint32_t low = 0, high = v->pieces;
    WEFT_SEEK(low, high, v->piece[middle].at + v->piece[middle].words * 8 <= at);
    if (low == v->pieces || at < v->piece[low].at ||
        bytes > v->piece[low].at + v->piece[low].words * 8 - at)
        return false;
    memcpy(to, (const char *)v->piece[low].word + (at - v->piece[low].at), bytes);
    return true;
}

bool v8_read(struct v8 *v, uint64_t at, void *to, size_t bytes)
{
    if (read_copy(v, at, to, bytes))
        return true;
    for (char *piece = to; bytes;) {
        const char *block = block_of(v, at);
        const size_t begin = (size_t)(at % BLOCK_BYTES), left = BLOCK_BYTES - begin;
        const size_t n = bytes < left ? bytes : left;
        if (!block)
            return false;
        memcpy(piece, block + begin, n);
        piece += n, at += n, bytes -= n;
    }
    return true;
}

/* Where an object has been moved to by the collection of garbage: its first word is that address then. What refers to it
 * is corrected, unless it is garbage itself. */
static uint64_t moved_to(struct v8 *v, uint64_t object)
{
    for (unsigned i = 0; i < MOVES_MAX; i++) {
        uint64_t first;
        if (!v8_is_object(object) || !v8_read(v, object - 1, &first, sizeof first) ||
            first % 8 != 0 || first == 0)
            break;
        object = first + 1;
    }
    return object;
}

uint64_t v8_field(struct v8 *v, uint64_t object, int32_t offset)
{
    uint64_t word = 0;
    if (!v8_is_object(object) || !v8_read(v, object - 1 + (uint64_t)offset, &word, sizeof word))
        return 0;
    return v8_is_object(word) ? moved_to(v, word) : word;
}

static int32_t map_type(struct v8 *v, uint64_t map)
{
    uint16_t type;
    if (!v8_is_object(map) ||
        !v8_read(v, map - 1 + (uint64_t)v->number[V8_MAP_TYPE], &type, sizeof type))
        return V8_NO_TYPE;
    return type;
}

int32_t v8_type(struct v8 *v, uint64_t object)
{
    const uint64_t map = v8_field(v, object, 0);
    return map_type(v, v8_field(v, map, 0)) == v->number[V8_TYPE_MAP] ? map_type(v, map)
                                                                      : V8_NO_TYPE;
}

bool v8_is(struct v8 *v, uint64_t object, enum v8_number type)
{
    return v8_type(v, object) == v->number[type];
}

/* Functions have several types: some of V8's own constructors, and classes. */
bool v8_is_function(struct v8 *v, uint64_t object)
{
    const int32_t type = v8_type(v, object), first = v->number[V8_TYPE_FUNCTION];
    return type >= first && type < first + 24 &&
           v8_is(v, v8_field(v, object, v->number[V8_FUNCTION_SHARED]), V8_TYPE_SHARED);
}

bool v8_is_context(struct v8 *v, uint64_t object)
{
    const int32_t type = v8_type(v, object);
    return type >= v->number[V8_FIRST_CONTEXT] && type <= v->number[V8_LAST_CONTEXT];
}

bool v8_is_built_in(struct v8 *v, uint64_t function)
{
    const uint64_t shared = v8_field(v, function, v->number[V8_FUNCTION_SHARED]);
    return v8_is(v, shared, V8_TYPE_SHARED) && v8_is_small(v8_field(v, shared, V8_SHARED_CODE));
}
