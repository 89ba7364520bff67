/* SPDX-License-Identifier: ISC */
/* Names for addresses: functions, files, lines and what was inlined, by elfutils; the kernel's by kallsyms; generated
 * code's by /tmp/perf-PID.map. Debug information that stands in a file of its own is found by build id
 * (/usr/lib/debug/.build-id) or by .gnu_debuglink. A file whose build id is another one than the mapping's is not
 * used: it has been replaced since. Files are hostile, too. */
#ifndef WEFT_SYMBOLS_SYMBOLS_H
#define WEFT_SYMBOLS_SYMBOLS_H

#include "profile/build.h"

struct weft_symbols_options {
    const char *kallsyms;   /* NULL: /proc/kallsyms */
    const char *sysroot;    /* before each path; NULL: none */
    const char *debug_path; /* as dwfl's; NULL: "+:.debug:SYSROOT/usr/lib/debug" */
    bool
        this_machine; /* the profile is of this machine, this boot: the kernel's and generated code's names fit */

    /* Called for each file that there are no names from though it was asked, with a few words why. May be NULL. */
    void (*trouble)(void *data, const char *path, const char *why);
    void *trouble_data;
};

struct weft_symbols_stats {
    uint64_t locations, named, with_lines;
    uint64_t objects, missing, other_build; /* files: in all, not there, not those that ran */
    uint64_t damaged;                       /* … and those that could not be read to their end */
};

/* Resolves all locations of a finished profile that are not resolved. stats may be NULL. progress may be NULL.
 * 0, WEFT_E_NOMEM or WEFT_E_CANCELED; that a name is not found is no error. Locations whose file is not there, or not
 * the one that ran, stay unresolved: it may be there elsewhere.
 *
 * ELF files are read in a child process, which a file may crash but not the caller. It is gone on return. */
int weft_symbols_resolve(struct weft_profile *p, const struct weft_symbols_options *o,
                         struct weft_symbols_stats *stats, weft_progress_fn *progress, void *data);

/* The build id of an ELF file; returns its size, 0 if there is none. id has room for WEFT_BUILD_ID_MAX. root: in which
 * path is looked up, or NULL. */
uint32_t weft_symbols_build_id(const char *root, const char *path, uint8_t *id);

#endif
