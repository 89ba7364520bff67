/* SPDX-License-Identifier: ISC */
/* One ELF file, asked for what stands at an offset in it. Only to be used in a worker (symbols/worker.h). */
#ifndef WEFT_SYMBOLS_ELF_FILE_H
#define WEFT_SYMBOLS_ELF_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "symbols/symbol_table.h"

enum symbols_file_state {
    SYMBOLS_FILE_OPEN,
    SYMBOLS_FILE_MISSING, /* or it may not be read */
    SYMBOLS_FILE_OTHER,   /* it has another build id */
    SYMBOLS_FILE_ODD,     /* no ELF file */
    SYMBOLS_FILE_LATE,    /* it, or others before it, took too long */
};

struct symbols_build_id {
    uint8_t id[WEFT_BUILD_ID_MAX];
    uint8_t bytes; /* 0: not known */
};

/* Where the file of a mapping may be found. It is looked for in this order, and the first one with that build id is
 * taken. Names are those of a file, and open regular files only (symbols/regular.h). */
struct symbols_place {
    const char *path;    /* NULL: none; "[vdso]": this process's */
    const char *inside;  /* as the process calls it, which may live in another root; or NULL */
    uint32_t process;    /* whose root, and mapping: */
    uint64_t start, end; /* end 0: not to be looked for there */
    struct symbols_build_id build_id;
};

/* An open descriptor, or -1 and in *state why not. */
int symbols_place_open(const struct symbols_place *place, enum symbols_file_state *state);

/* The same for a file that another one names: with debug information. It must be an ELF file. -1: errno. */
int symbols_debug_open(const char *path);

/* The build id of an open file, as weft_symbols_build_id. */
uint32_t symbols_build_id_read(int fd, uint8_t id[WEFT_BUILD_ID_MAX]);

/* A function at an address. Texts are the file's, valid as long as it is open. */
struct symbols_named {
    const char *name, *system_name; /* system_name may be NULL: the same */
    const char *file,
        *directory;  /* or NULL; where the compiler ran, for a file that is relative to it */
    const void *key; /* of the function, the same for all its addresses */
    uint32_t line, start_line;
};

enum { SYMBOLS_INLINED_MAX = 100 };

struct symbols_dwarf;

struct symbols_elf {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    struct symbols_symbol_table table;
    bool table_loaded;
    struct symbols_dwarf *dwarf; /* NULL: none */
    char plt_name[256];
};

struct symbols_elf_options {
    const char *debug_path; /* NULL: the usual one */
    bool symbols_only;      /* without DWARF */
};

/* fd is gone afterwards. The caller owns *out. false: no ELF file, or no memory. */
bool symbols_elf_open(struct symbols_elf **out, int fd, const struct symbols_elf_options *o);
void symbols_elf_close(struct symbols_elf *e);

/* What is linked at an address of the file itself: false if nothing executable is. */
bool symbols_elf_address(Elf *elf, uint64_t offset, uint64_t *address);

/* Innermost first; their number, 0 if nothing is known. The last one's name may be gone with the next call. */
uint32_t symbols_elf_name(struct symbols_elf *e, uint64_t address,
                          struct symbols_named frame[SYMBOLS_INLINED_MAX]);

/* ---- symbols/dwarf.c ---- */

/* NULL: there is none. */
struct symbols_dwarf *symbols_dwarf_new(Dwfl_Module *module);
void symbols_dwarf_free(struct symbols_dwarf *d);

/* As symbols_elf_name. Where there is no function, as in assembly, *line still says the line and file. */
uint32_t symbols_dwarf_name(struct symbols_dwarf *d, uint64_t address,
                            struct symbols_named frame[SYMBOLS_INLINED_MAX],
                            struct symbols_named *line);

#endif
