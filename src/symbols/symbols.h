/* SPDX-License-Identifier: ISC */
/* Finds names for addresses: functions, files, lines and what was inlined, with elfutils; the
 * kernel's from kallsyms; those of generated code from /tmp/perf-PID.map. Debug information in a
 * separate file is found by build id (/usr/lib/debug/.build-id) or by .gnu_debuglink. A file with
 * another build id than the mapping's is not used: it has been replaced since then. Files are
 * hostile input, too. */
#pragma once

#include "profile/build.h"

struct weft_symbols_options {
    const char *kallsyms;   /* NULL: /proc/kallsyms */
    const char *sysroot;    /* put in front of each path; NULL: none */
    const char *debug_path; /* as in libdwfl; NULL: "+:.debug:SYSROOT/usr/lib/debug" */
    /* the profile is from this machine and this boot: the names of the kernel and of generated
     * code apply */
    bool this_machine;
};

struct weft_symbols_stats {
    uint64_t locations, named, with_lines;
    /* files: all of them, those not there, those that are not the ones that ran */
    uint64_t objects, missing, other_build;
    uint64_t damaged; /* … and those that could not be read to the end */
};

/* Resolves all locations of a finished profile that are not resolved yet. stats and progress may be
 * NULL. Returns 0, WEFT_E_NOMEM or WEFT_E_CANCELED; a name that is not found is not an error.
 * Locations whose file is not there, or is not the one that ran, stay unresolved, since the right
 * file may exist elsewhere.
 * ELF files are read in a child process: a file may crash it, but not the caller. It has ended when
 * this returns. */
int weft_symbols_resolve(struct weft_profile *p, const struct weft_symbols_options *o,
                         struct weft_symbols_stats *stats, weft_progress_fn *progress, void *data);

/* A place in code: an address in an ELF file, as it was linked. */
struct weft_symbol {
    const char *path;
    uint64_t address;
    /* What is found; NULL, 0: not known. The caller frees the texts. function: as people write it,
     * without parameters, and shortened to WEFT_NAME_LONGEST bytes (format/names.h) */
    char *function, *file;
    uint32_t line;
};

/* Finds names for places, which are sorted by path, then address. If a function begins there, its
 * name and the line where it begins; otherwise the innermost one, and the line of the instruction.
 * Returns and runs as above. */
int weft_symbols_find(struct weft_symbol *s, uint32_t count, weft_progress_fn *progress,
                      void *data);

/* The build id of an ELF file. Returns its size, 0 if there is none. id must have room for
 * WEFT_BUILD_ID_MAX bytes. root: the directory in which path is resolved, or NULL. */
uint32_t weft_symbols_build_id(const char *root, const char *path, uint8_t *id);
