/* SPDX-License-Identifier: ISC */
/* Reads the program's own file: its symbol table, and the line programs in .debug_line (DWARF 2 to 5), which ocamlopt
 * -g writes for each function. The file belongs to the running program, but it is validated all the same. */
#define _GNU_SOURCE
#include "weft_lwt_functions.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    struct weft_lwt_function *function; /* by start */
    size_t count;
    struct outside *outside;
    size_t outsides, room;
    uint64_t file; /* of the module whose lines are read */
} all;

/* A line of a module that does not belong to any of its functions. */
struct outside {
    const struct weft_lwt_function *entry;
    unsigned line;
};

/* ---- The symbols ---- */

struct bytes {
    const unsigned char *at;
    size_t size;
};

static struct bytes section(struct bytes file, const ElfW(Shdr) * s)
{
    if (s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) || s->sh_offset > file.size ||
        s->sh_size > file.size - s->sh_offset)
        return (struct bytes){0};
    return (struct bytes){file.at + s->sh_offset, s->sh_size};
}

static int by_start(const void *a, const void *b)
{
    const struct weft_lwt_function *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void read_symbols(struct bytes symbols, struct bytes names, uintptr_t base)
{
    const size_t count = symbols.size / sizeof(ElfW(Sym));
    if (names.size == 0 || names.at[names.size - 1] != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        ElfW(Sym) s;
        memcpy(&s, symbols.at + i * sizeof s, sizeof s);
        if ((s.st_info & 15) != STT_FUNC || s.st_shndx == SHN_UNDEF || s.st_name >= names.size)
            continue;
        struct weft_lwt_function *f = &all.function[all.count++];
        *f = (struct weft_lwt_function){.start = base + s.st_value,
                                        .symbol = (const char *)names.at + s.st_name};
    }
    qsort(all.function, all.count, sizeof *all.function, by_start);
    for (size_t i = 0; i < all.count; i++)
        all.function[i].end = i + 1 < all.count ? all.function[i + 1].start : all.function[i].start;
}

/* The function that an address lies in, or NULL. */
static struct weft_lwt_function *function_of(uintptr_t address)
{
    size_t low = 0, high = all.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all.function[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &all.function[low - 1] : NULL;
}

/* The length of the module part of a symbol: up to the last separator. */
static size_t module_length(const char *symbol)
{
    size_t length = 0;
    for (size_t i = 0; symbol[i]; i++)
        if (symbol[i] == '.' || (symbol[i] == '_' && symbol[i + 1] == '_'))
            length = i + 1 + (symbol[i] == '_');
    return length;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_entry(const struct weft_lwt_function *f)
{
    return begins(f->symbol, "caml") && strcmp(f->symbol + module_length(f->symbol), "entry") == 0;
}

/* ---- The lines ---- */

static uint64_t number(struct bytes *b, size_t size)
{
    uint64_t n = 0;
    if (size > b->size || size > sizeof n) {
        *b = (struct bytes){0};
        return 0;
    }
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    memcpy((char *)&n + sizeof n - size, b->at, size);
#else
    memcpy(&n, b->at, size);
#endif
    b->at += size;
    b->size -= size;
    return n;
}

/* LEB128, with a sign or without. */
static int64_t packed(struct bytes *b, bool is_signed)
{
    uint64_t n = 0;
    unsigned shift = 0;
    while (b->size) {
        unsigned char c = (unsigned char)number(b, 1);
        if (shift < 64)
            n |= (uint64_t)(c & 127) << shift;
        shift += 7;
        if (c & 128)
            continue;
        if (is_signed && (c & 64) && shift < 64)
            n |= ~UINT64_C(0) << shift;
        break;
    }
    return (int64_t)n;
}

static void row(uintptr_t base, uint64_t address, uint64_t file, int64_t line)
{
    struct weft_lwt_function *f = function_of(base + (uintptr_t)address);
    if (!f || line <= 0)
        return;
    const bool first = f->line == 0;
    if (first)
        f->line = (unsigned)line;
    if (!is_entry(f))
        return;
    all.file = first ? file : all.file;
    const struct outside *last = all.outsides ? &all.outside[all.outsides - 1] : NULL;
    if (file != all.file || (last && last->entry == f && last->line >= (unsigned)line))
        return; /* of a function that is inlined there */
    if (all.outsides == all.room) {
        const size_t room = all.room ? all.room * 2 : 1024;
        struct outside *more = realloc(all.outside, room * sizeof *more);
        if (!more)
            return;
        all.outside = more;
        all.room = room;
    }
    all.outside[all.outsides++] = (struct outside){f, (unsigned)line};
}

/* Reads a line program, header first. */
static void read_lines_of(struct bytes b, unsigned version, uintptr_t base)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    enum { END_SEQUENCE = 1, SET_ADDRESS };
    if (version >= 5)
        number(&b, 2);
    const uint64_t header = number(&b, 4);
    if (header > b.size)
        return;
    struct bytes program = {b.at + header, b.size - header};
    const unsigned step = (unsigned)number(&b, 1);
    number(&b, version >= 4 ? 2 : 1);
    const int line_base = (int8_t)number(&b, 1);
    const unsigned line_range = (unsigned)number(&b, 1), first = (unsigned)number(&b, 1);
    const unsigned char *const operands = b.at;
    if (line_range == 0 || first == 0 || first - 1 > b.size)
        return;
    uint64_t address = 0, file_number = 1;
    int64_t line = 1;
    while (program.size) {
        const unsigned op = (unsigned)number(&program, 1);
        if (op >= first) {
            address += (uint64_t)(op - first) / line_range * step;
            line += line_base + (int)((op - first) % line_range);
            row(base, address, file_number, line);
        } else if (op == 0) {
            const uint64_t size = (uint64_t)packed(&program, false);
            if (size == 0 || size > program.size)
                return;
            struct bytes more = {program.at, size};
            program.at += size;
            program.size -= size;
            const unsigned extended = (unsigned)number(&more, 1);
            if (extended == SET_ADDRESS)
                address = number(&more, more.size);
            if (extended == END_SEQUENCE) {
                address = 0;
                file_number = 1;
                line = 1;
            }
        } else if (op == COPY)
            row(base, address, file_number, line);
        else if (op == ADVANCE_PC)
            address += (uint64_t)packed(&program, false) * step;
        else if (op == ADVANCE_LINE)
            line += packed(&program, true);
        else if (op == SET_FILE)
            file_number = (uint64_t)packed(&program, false);
        else if (op == CONST_ADD_PC)
            address += (uint64_t)(255 - first) / line_range * step;
        else if (op == FIXED_ADVANCE_PC)
            address += number(&program, 2);
        else
            for (unsigned i = 0; i < operands[op - 1]; i++)
                packed(&program, false);
    }
}

static void read_lines(struct bytes b, uintptr_t base)
{
    while (b.size) {
        const uint64_t size = number(&b, 4);
        if (size < 2 || size > b.size) /* DWARF's 64-bit format, too */
            return;
        struct bytes unit = {b.at, size};
        b.at += size;
        b.size -= size;
        const unsigned version = (unsigned)number(&unit, 2);
        if (version >= 2 && version <= 5)
            read_lines_of(unit, version, base);
    }
}

/* ---- The file ---- */

static int note_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the program itself is the first one */
}

static void read_file(struct bytes file)
{
    ElfW(Ehdr) e;
    uintptr_t base = 0;
    if (file.size < sizeof e)
        return;
    memcpy(&e, file.at, sizeof e);
    const size_t count = e.e_shnum;
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_shentsize != sizeof(ElfW(Shdr)) ||
        e.e_shoff > file.size || count > (file.size - e.e_shoff) / sizeof(ElfW(Shdr)) ||
        e.e_shstrndx >= count)
        return;
    ElfW(Shdr) *const s = malloc(count * sizeof *s);
    if (!s)
        return;
    memcpy(s, file.at + e.e_shoff, count * sizeof *s);
    const struct bytes names = section(file, &s[e.e_shstrndx]);
    dl_iterate_phdr(note_base, &base);
    for (size_t i = 0; i < count; i++) {
        if (s[i].sh_type != SHT_SYMTAB || s[i].sh_link >= count || all.function)
            continue;
        struct bytes symbols = section(file, &s[i]);
        all.function = calloc(symbols.size / sizeof(ElfW(Sym)) + 1, sizeof *all.function);
        if (all.function)
            read_symbols(symbols, section(file, &s[s[i].sh_link]), base);
    }
    static const char lines[] = ".debug_line";
    for (size_t i = 0; i < count && all.count; i++)
        if (names.size >= sizeof lines && s[i].sh_name <= names.size - sizeof lines &&
            memcmp(names.at + s[i].sh_name, lines, sizeof lines) == 0)
            read_lines(section(file, &s[i]), base);
    free(s);
}

static void read_program(void)
{
    struct stat is;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &is) == 0 && is.st_size > 0) {
        void *at = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED) /* symbols point into it */
            read_file((struct bytes){at, (size_t)is.st_size});
    }
    close(fd);
}

const struct weft_lwt_function *weft_lwt_function_at(uintptr_t start)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (pthread_once(&once, read_program))
        return NULL;
    const struct weft_lwt_function *f = function_of(start);
    return f && f->start == start ? f : NULL;
}

/* ---- The module of a function ---- */

bool weft_lwt_function_has_name(const struct weft_lwt_function *f)
{
    const char *name = f->symbol + module_length(f->symbol);
    return !begins(name, "fun_") && !begins(name, "code_") && !is_entry(f);
}

/* "handle$27_42" is handle'. */
void weft_lwt_function_name(const struct weft_lwt_function *f, char *name, size_t size)
{
    const char *from = f->symbol + module_length(f->symbol), *end = strrchr(from, '_');
    size_t n = 0;
    for (end = end ? end : from + strlen(from); from < end && n + 1 < size; n++) {
        unsigned c;
        if (*from == '$' && sscanf(from + 1, "%2x", &c) == 1) {
            name[n] = (char)c;
            from += 3;
        } else
            name[n] = *from++;
    }
    name[n] = 0;
}

static bool same_module(const struct weft_lwt_function *f, const struct weft_lwt_function *g)
{
    const size_t length = module_length(f->symbol);
    return module_length(g->symbol) == length && strncmp(f->symbol, g->symbol, length) == 0;
}

const struct weft_lwt_function *weft_lwt_function_beside(const struct weft_lwt_function *f,
                                                         const struct weft_lwt_function *last)
{
    size_t i = last ? (size_t)(last - all.function) + 1 : 0;
    while (i < all.count && !same_module(f, &all.function[i]))
        i++;
    return i < all.count ? &all.function[i] : NULL;
}

const struct weft_lwt_function *weft_lwt_function_around(const struct weft_lwt_function *f)
{
    const struct weft_lwt_function *best = NULL, *g = NULL;
    while (f->line && (g = weft_lwt_function_beside(f, g)))
        if (g->line && g->line <= f->line && (!best || g->line > best->line) &&
            weft_lwt_function_has_name(g))
            best = g;
    /* Not if top-level code of the module is between them. */
    for (size_t i = 0; best && i < all.outsides; i++)
        if (all.outside[i].line > best->line && all.outside[i].line <= f->line &&
            same_module(f, all.outside[i].entry))
            return NULL;
    return best;
}
