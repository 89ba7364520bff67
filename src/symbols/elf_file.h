/* SPDX-License-Identifier: ISC */
/* Names for the offsets in one ELF file. Only to be used in a worker (symbols/worker.h). */
#pragma once

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "symbols/symbol_table.h"

enum symbols_file_state {
    SYMBOLS_FILE_OPEN,
    SYMBOLS_FILE_MISSING, /* or it may not be read */
    SYMBOLS_FILE_OTHER,   /* it has another build id */
    SYMBOLS_FILE_ODD,     /* not an ELF file */
    SYMBOLS_FILE_LATE,    /* it, or others before it, took too long */
};

struct symbols_build_id {
    uint8_t id[WEFT_BUILD_ID_MAX];
    uint8_t bytes; /* 0: not known */
};

/* Where the file of a mapping may be. The places are tried in this order; the first file with the
 * build id is used. Names must be those of regular files (symbols/regular.h). */
struct symbols_place {
    const char *path; /* NULL: none; "[vdso]": this process's */
    /* its name within the process, which may have another root directory; or NULL */
    const char *inside;
    uint32_t process;    /* for its root directory, and for its mapping: */
    uint64_t start, end; /* end 0: do not look there */
    struct symbols_build_id build_id;
};

/* Returns an open descriptor; or -1, with the reason in *state. */
int symbols_place_open(const struct symbols_place *place, enum symbols_file_state *state);

/* The same for a file with debug information that another file names. It must be an ELF file.
 * Returns -1 and sets errno if it fails. */
int symbols_debug_open(const char *path);

/* The build id among notes, whose names and contents are each filled up to a multiple of align; and that
 * of an open file. Return what weft_symbols_build_id does. */
uint32_t symbols_build_id_find(const uint8_t *notes, size_t size, size_t align,
                               uint8_t id[WEFT_BUILD_ID_MAX]);
uint32_t symbols_build_id_read(int fd, uint8_t id[WEFT_BUILD_ID_MAX]);

/* A function at an address. Texts belong to the file and are valid as long as it is open. */
struct symbols_named {
    const char *name, *system_name; /* system_name may be NULL: the same */
    const char *file,
        /* or NULL; the directory in which the compiler ran, if file is relative to it */
        *directory;
    const void *key; /* identifies the function; the same for all its addresses */
    uint32_t line, start_line;
    bool begins; /* the function begins at the address */
};

enum { SYMBOLS_INLINED_MAX = 100 };

struct symbols_dwarf;

struct symbols_elf {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    struct symbols_symbol_table table, variables;
    bool table_loaded, variables_loaded;
    struct symbols_dwarf *dwarf; /* NULL: none */
    char plt_name[256];
};

/* Takes over fd and closes it in any case. debug_path: NULL: the usual one. symbols_only: does not
 * use DWARF. Returns NULL if it is not an ELF file, or there is no memory. */
struct symbols_elf *symbols_elf_open(int fd, const char *debug_path, bool symbols_only);
void symbols_elf_close(struct symbols_elf *e);

/* Converts an offset to the address that the file was linked at. Returns false if there is nothing
 * executable. */
bool symbols_elf_address(Elf *elf, uint64_t offset, uint64_t *address);

/* Returns true if something executable is linked at the address. */
bool symbols_elf_is_code(Elf *elf, uint64_t address);

/* Finds the functions, innermost first. Returns how many; 0 if nothing is known. The last one's
 * name may become invalid with the next call. */
uint32_t symbols_elf_name(struct symbols_elf *e, uint64_t address,
                          struct symbols_named frame[SYMBOLS_INLINED_MAX]);

/* Completes what is known about a function that begins there: the line of the beginning, and the name that the
 * linker knows. In DWARF, functions that are not visible elsewhere have only a part of their name: "_FUN" is
 * some lambda. */
void symbols_elf_name_function(struct symbols_elf *e, uint64_t address, struct symbols_named *f);

/* Finds the variable there; "name+0x28": within it. Returns 1; 0: there is none. The name may become invalid with the next
 * call. */
uint32_t symbols_elf_name_variable(struct symbols_elf *e, uint64_t address,
                                   struct symbols_named *f);

/* ---- symbols/dwarf.c ---- */

/* NULL: there is none. */
struct symbols_dwarf *symbols_dwarf_new(Dwfl_Module *module);
void symbols_dwarf_free(struct symbols_dwarf *d);

/* Like symbols_elf_name. If there is no function, as in assembly, *line still gives the line and
 * file. */
uint32_t symbols_dwarf_name(struct symbols_dwarf *d, uint64_t address,
                            struct symbols_named frame[SYMBOLS_INLINED_MAX],
                            struct symbols_named *line);
