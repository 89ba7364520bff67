/* SPDX-License-Identifier: ISC */
#include "symbols/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/regular.h"

/* ---- Finding ---- */

/* A file of this process's vdso. */
static int vdso_open(void)
{
    const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        return -1;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)image;
    size_t size = (size_t)header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static enum symbols_file_state check(int fd, const struct symbols_build_id *wanted)
{
    uint8_t id[WEFT_BUILD_ID_MAX];
    char magic[SELFMAG];
    if (pread(fd, magic, sizeof magic, 0) != sizeof magic || memcmp(magic, ELFMAG, SELFMAG) != 0)
        return SYMBOLS_FILE_ODD;
    if (wanted->bytes == 0 || (symbols_build_id_read(fd, id) == wanted->bytes &&
                               memcmp(id, wanted->id, wanted->bytes) == 0))
        return SYMBOLS_FILE_OPEN;
    return SYMBOLS_FILE_OTHER;
}

static int candidate(const struct symbols_place *place, unsigned which)
{
    char name[96];
    if (which == 0)
        return !place->path                         ? -1
               : strcmp(place->path, "[vdso]") == 0 ? vdso_open()
                                                    : symbols_regular_open(NULL, place->path);
    if (which == 1) {
        snprintf(name, sizeof name, "/proc/%u/root", place->process);
        return place->inside ? symbols_regular_open(name, place->inside) : -1;
    }
    snprintf(name, sizeof name, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, place->process,
             place->start, place->end);
    return place->end ? symbols_regular_open_trusted(name) : -1;
}

int symbols_place_open(const struct symbols_place *place, enum symbols_file_state *state)
{
    *state = SYMBOLS_FILE_MISSING;
    for (unsigned i = 0; i < 3; i++) {
        int fd = candidate(place, i);
        if (fd < 0)
            continue;
        enum symbols_file_state here = check(fd, &place->build_id);
        if (here == SYMBOLS_FILE_OPEN) {
            *state = here;
            return fd;
        }
        close(fd);
        if (*state == SYMBOLS_FILE_MISSING)
            *state = here;
    }
    return -1;
}

int symbols_debug_open(const char *path)
{
    static const struct symbols_build_id any = {.bytes = 0};
    int fd = path[0] == '/' ? symbols_regular_open(NULL, path) : -1;
    if (fd >= 0 && check(fd, &any) != SYMBOLS_FILE_OPEN) {
        close(fd);
        fd = -1;
        errno = ENOENT;
    }
    return fd;
}

/* ---- Opening ---- */

static bool no_debuginfo; /* for the file that is open */

/* The link is the name of a file; with a path in it, it could lead to any file of the machine.
 * Nothing is fetched from elsewhere. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **found)
{
    if (link && strchr(link, '/'))
        link = NULL;
    if (no_debuginfo)
        return -1;
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc, found);
}

static char *debuginfo_path = NULL;
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .debuginfo_path = &debuginfo_path,
};

struct symbols_elf *symbols_elf_open(int fd, const char *debug_path, bool symbols_only)
{
    char path[64], real[4096];
    struct symbols_elf *e = calloc(1, sizeof *e);
    if (!e) {
        close(fd);
        return NULL;
    }
    /* Its location matters for .gnu_debuglink. */
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, real, sizeof real - 1);
    real[n > 0 ? n : 0] = '\0';

    debuginfo_path = (char *)(uintptr_t)debug_path;
    no_debuginfo = symbols_only;
    e->dwfl = dwfl_begin(&callbacks);
    if (e->dwfl) {
        dwfl_report_begin(e->dwfl);
        /* Reports it at address 0: a module's addresses are then the file's own. */
        e->module = dwfl_report_elf(e->dwfl, "", real, fd, 0, true);
        if (e->module)
            fd = -1;
        dwfl_report_end(e->dwfl, NULL, NULL);
    }
    GElf_Addr bias;
    e->elf = e->module ? dwfl_module_getelf(e->module, &bias) : NULL;
    if (fd >= 0)
        close(fd);
    if (!e->elf) {
        symbols_elf_close(e);
        return NULL;
    }
    if (!symbols_only)
        e->dwarf = symbols_dwarf_new(e->module);
    return e;
}

void symbols_elf_close(struct symbols_elf *e)
{
    if (!e)
        return;
    symbols_dwarf_free(e->dwarf);
    symbols_symbol_table_free(&e->table);
    symbols_symbol_table_free(&e->variables);
    if (e->dwfl)
        dwfl_end(e->dwfl);
    free(e);
}

/* The executable part with this offset in the file, or linked: with this address. */
static bool find_code(Elf *elf, bool linked, uint64_t at, GElf_Phdr *h)
{
    size_t count;
    if (elf_getphdrnum(elf, &count) < 0)
        return false;
    for (size_t i = 0; i < count && i < INT32_MAX && gelf_getphdr(elf, (int)i, h); i++) {
        const uint64_t from = linked ? h->p_vaddr : h->p_offset;
        if (h->p_type == PT_LOAD && (h->p_flags & PF_X) && at >= from && at - from < h->p_filesz)
            return true;
    }
    return false;
}

bool symbols_elf_address(Elf *elf, uint64_t offset, uint64_t *address)
{
    GElf_Phdr h;
    if (!find_code(elf, false, offset, &h))
        return false;
    *address = h.p_vaddr + (offset - h.p_offset);
    return true;
}

bool symbols_elf_is_code(Elf *elf, uint64_t address)
{
    GElf_Phdr h;
    return find_code(elf, true, address, &h);
}

/* ---- Symbols ---- */

static bool is_code(const struct symbols_elf *e, const GElf_Sym *sym, GElf_Word index, Elf *elf)
{
    int type = GELF_ST_TYPE(sym->st_info);
    if (index == SHN_UNDEF || index == SHN_ABS || (elf == NULL && index == 0))
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return true;
    if (type != STT_NOTYPE)
        return false;
    /* For assembly; also labels within functions, but these are used only where no function covers
     * them. */
    GElf_Shdr header;
    Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(elf ? elf : e->elf, index) : NULL;
    return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
}

static bool is_variable(const GElf_Sym *sym, GElf_Word index)
{
    return GELF_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size > 0 && index != SHN_UNDEF &&
           index != SHN_ABS;
}

/* Of several names of one function or variable, prefers a global one, with few leading underscores. */
static uint32_t rank_of(const GElf_Sym *sym, const char *name)
{
    int bind = GELF_ST_BIND(sym->st_info);
    uint32_t rank = bind == STB_GLOBAL ? 3000 : bind == STB_LOCAL ? 1000 : 2000;
    if (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE)
        rank -= 500;
    for (unsigned i = 0; i < 100 && name[i] == '_'; i++)
        rank--;
    return rank;
}

/* Functions, or variables, of the file's symbol table, or that of its debug information, or the dynamic one together with
 * that of .gnu_debugdata: libdwfl chooses. */
static void load_table(struct symbols_elf *e, struct symbols_symbol_table *table)
{
    int count = dwfl_module_getsymtab(e->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym sym;
        GElf_Addr address;
        GElf_Word index;
        Elf *elf = NULL;
        const char *name =
            dwfl_module_getsym_info(e->module, i, &sym, &address, &index, &elf, NULL);
        if (!name || name[0] == '\0' || name[0] == '$' ||
            !(table == &e->table ? is_code(e, &sym, index, elf) : is_variable(&sym, index)))
            continue;
        uint64_t size = sym.st_size > UINT64_MAX - address ? 0 : sym.st_size;
        if (!symbols_symbol_table_add(table, address, size, rank_of(&sym, name), name,
                                      strcspn(name, "@"))) /* and its version */
            break;
    }
    symbols_symbol_table_sort(table);
}

/* ---- The procedure linkage table ---- */

/* The word that a stub jumps through, from its instructions; 0: it is not a stub. */
static uint64_t stub_target(const struct symbols_elf *e, uint64_t stub, const unsigned char *code,
                            size_t bytes)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(e->elf, &header))
        return 0;
    if (header.e_machine == EM_X86_64) { /* [endbr64] [bnd] jmp *offset(%rip) */
        size_t i = bytes >= 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
        i += i < bytes && code[i] == 0xf2;
        int32_t offset;
        if (i + 6 > bytes || code[i] != 0xff || code[i + 1] != 0x25)
            return 0;
        memcpy(&offset, code + i + 2, sizeof offset);
        return stub + i + 6 + (uint64_t)(int64_t)offset;
    }
    if (header.e_machine == EM_AARCH64) { /* [bti c] adrp x16, page; ldr x17, [x16, #offset] */
        uint32_t word[3] = {0};
        memcpy(word, code, bytes < sizeof word ? bytes : sizeof word);
        unsigned i = word[0] == 0xd503245f;
        if ((word[i] & 0x9f00001f) != 0x90000010 || (word[i + 1] & 0xffc003ff) != 0xf9400211)
            return 0;
        uint64_t pages = (uint64_t)(word[i] >> 5 & 0x7ffff) << 2 | (word[i] >> 29 & 3);
        pages = (pages ^ 0x100000) - 0x100000; /* 21 bits, signed */
        return ((stub + 4 * i) & ~UINT64_C(0xfff)) + (pages << 12) +
               (uint64_t)(word[i + 1] >> 10 & 0xfff) * 8;
    }
    return 0;
}

/* The symbol of an entry; for a function that is chosen when the program starts, the symbol of the
 * function that chooses. */
static const char *symbol_of(const struct symbols_elf *e, const GElf_Rela *r, Elf_Data *symbols,
                             size_t names)
{
    GElf_Sym sym;
    uint64_t number = GELF_R_SYM(r->r_info);
    if (number == 0) {
        const struct symbols_symbol *s =
            symbols_symbol_table_find(&e->table, (uint64_t)r->r_addend);
        return s ? e->table.names + s->name : NULL;
    }
    if (number > INT32_MAX || !symbols || !gelf_getsym(symbols, (int)number, &sym))
        return NULL;
    return elf_strptr(e->elf, names, sym.st_name);
}

/* The symbol whose address the loader writes there. */
static const char *relocated(const struct symbols_elf *e, uint64_t word)
{
    GElf_Shdr header, symbols = {.sh_link = 0};
    GElf_Rela r;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));) {
        if (!gelf_getshdr(s, &header) || header.sh_type != SHT_RELA || header.sh_entsize == 0)
            continue;
        Elf_Data *data = elf_getdata(s, NULL), *table = NULL;
        Elf_Scn *linked = elf_getscn(e->elf, header.sh_link);
        if (linked && gelf_getshdr(linked, &symbols) && symbols.sh_type == SHT_DYNSYM)
            table = elf_getdata(linked, NULL);
        for (uint64_t i = 0; data && i < data->d_size / header.sh_entsize && i < INT32_MAX; i++)
            if (gelf_getrela(data, (int)i, &r) && r.r_offset == word)
                return symbol_of(e, &r, table, symbols.sh_link);
    }
    return NULL;
}

/* Stubs have 8 to 24 bytes; they begin at a multiple of 16 or 8 bytes. */
static const char *plt_name(struct symbols_elf *e, uint64_t address)
{
    size_t names;
    GElf_Shdr h;
    if (elf_getshdrstrndx(e->elf, &names) < 0)
        return NULL;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(e->elf, s));) {
        const char *section;
        Elf_Data *data;
        if (!gelf_getshdr(s, &h) || h.sh_type != SHT_PROGBITS || !(h.sh_flags & SHF_EXECINSTR) ||
            address < h.sh_addr || address - h.sh_addr >= h.sh_size ||
            !(section = elf_strptr(e->elf, names, h.sh_name)) || strncmp(section, ".plt", 4) != 0 ||
            !(data = elf_rawdata(s, NULL)) || !data->d_buf)
            continue;
        uint64_t at = (address - h.sh_addr) & ~UINT64_C(7);
        for (unsigned back = 0; back < 3 && at < data->d_size; back++, at -= 8) {
            uint64_t word = stub_target(e, h.sh_addr + at, (unsigned char *)data->d_buf + at,
                                        data->d_size - at);
            const char *name = word ? relocated(e, word) : NULL;
            if (name && *name) {
                snprintf(e->plt_name, sizeof e->plt_name, "%s@plt", name);
                return e->plt_name;
            }
            if (at < 8)
                break;
        }
    }
    return NULL;
}

/* ---- Names ---- */

static const struct symbols_symbol *find_symbol(struct symbols_elf *e, uint64_t address)
{
    if (!e->table_loaded)
        load_table(e, &e->table);
    e->table_loaded = true;
    return symbols_symbol_table_find(&e->table, address);
}

uint32_t symbols_elf_name(struct symbols_elf *e, uint64_t address,
                          struct symbols_named frame[SYMBOLS_INLINED_MAX])
{
    struct symbols_named line = {0};
    uint32_t frames = e->dwarf ? symbols_dwarf_name(e->dwarf, address, frame, &line) : 0;
    if (frames > 0)
        return frames;
    const struct symbols_symbol *s = find_symbol(e, address);
    const char *stub = s && s->size > 0 ? NULL : plt_name(e, address);
    line.name = stub ? stub : s ? e->table.names + s->name : NULL;
    line.key = stub ? NULL : s;
    frame[0] = line;
    return line.name ? 1 : 0;
}

void symbols_elf_name_function(struct symbols_elf *e, uint64_t address, struct symbols_named *f)
{
    const struct symbols_symbol *s = find_symbol(e, address);
    if (s && s->start == address)
        f->name = f->system_name = e->table.names + s->name;
    if (f->start_line)
        f->line = f->start_line;
}

uint32_t symbols_elf_name_variable(struct symbols_elf *e, uint64_t address, struct symbols_named *f)
{
    if (!e->variables_loaded)
        load_table(e, &e->variables);
    e->variables_loaded = true;
    const struct symbols_symbol *s = symbols_symbol_table_find(&e->variables, address);
    if (!s || address - s->start >= s->size)
        return 0;
    const char *name = e->variables.names + s->name;
    *f = (struct symbols_named){.name = name, .key = s};
    if (address > s->start) { /* an element of it */
        snprintf(e->plt_name, sizeof e->plt_name, "%.200s+0x%" PRIx64, name, address - s->start);
        *f = (struct symbols_named){.name = e->plt_name};
    }
    return 1;
}
