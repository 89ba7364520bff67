/* SPDX-License-Identifier: ISC */
/* Profiles for pprof: profile.proto (gzip), and gperftools' older CPU profile. */
#pragma once

#include <stdio.h>

#include "profile/frames.h"

/* What is written: one or more profiles, which are combined. Processes, addresses and promises of
 * different profiles are unrelated. */
struct weft_pprof_part {
    struct weft_profile *profile; /* finished and resolved; joined with a model if there is one */
    int64_t real_ns;              /* the time of its first_ns, since 1970; 0: not known */
    const char *comment;          /* for example the command line of the program; may be NULL */
    uint32_t *family;             /* names of promises in async stacks; NULL: their labels */
};

struct weft_pprof_options {
    enum weft_async_stacks async;
    bool off_cpu; /* adds absences as samples of the type off_cpu/nanoseconds */
    bool only;    /* only samples of process */
    uint32_t process;
};

/* Both functions write at most the innermost WEFT_FRAMES_MAX addresses of a stack, since a small
 * file may have many deep stacks. *cut: how many samples and absences had more; profile.proto has a
 * frame "…" there, with async stacks further in. */

/* Writes profile.proto, compressed. Each source, by name and unit, gives two values per sample: how
 * many samples, and what they stand for. They are named samples/count and cpu/nanoseconds, or
 * NAME/count; with several sources NAME_samples/count and NAME/UNIT. It has mappings with build
 * ids, locations with inlined lines, and functions. Labels of each sample: promise (its number),
 * type, label, root, thread, tid, pid, core. Callers' addresses are those of the byte before the
 * return address, as pprof expects. Samples with the same stack and labels are combined. Output is
 * buffered; the caller flushes and closes. Returns 0, WEFT_E_NOMEM, WEFT_E_IO, or WEFT_E_LIMIT if
 * there are more kinds of samples than any real profile has. */
int weft_pprof_write(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                     const struct weft_pprof_options *o, uint64_t *cut, struct weft_error *err);

/* Writes gperftools' legacy CPU profile, 64-bit words: period in microseconds, a record for each
 * distinct stack, whole addresses, and the memory map after the trailer. Callers are return
 * addresses: readers of the format subtract one. Of several sources it writes the first that counts
 * time, or else the first. If samples of several processes have different files at the same
 * address, they cannot be distinguished: WEFT_E_INVALID. Of the options, only process is used. */
int weft_pprof_write_legacy(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                            const struct weft_pprof_options *o, uint64_t *cut,
                            struct weft_error *err);
