/* SPDX-License-Identifier: ISC */
/* Profiles for pprof: profile.proto (gzip), and gperftools' older CPU profile. */
#ifndef WEFT_PPROF_PPROF_H
#define WEFT_PPROF_PPROF_H

#include <stdio.h>

#include "profile/frames.h"

/* What is written: one or several profiles, which become one. Processes, addresses and promises of different ones
 * have nothing to do with each other. */
struct weft_pprof_part {
    struct weft_profile *profile; /* finished, resolved; joined with a model if there is one */
    int64_t real_ns;              /* when its first_ns was, since 1970; 0: not known */
    const char *comment;          /* for instance the command line of the program; may be NULL */
    uint32_t *family; /* what promises are called in async stacks; NULL: by their labels */
};

struct weft_pprof_options {
    enum weft_async_stacks async;
    bool off_cpu; /* absences as samples of the type off_cpu/nanoseconds, beside the others */
    bool only;    /* samples of process only */
    uint32_t process;
};

/* Both write of a stack the innermost WEFT_FRAMES_MAX addresses: a small file may have many deep ones. *cut: of how many
 * samples, and absences, that was not all; profile.proto has a frame "…" there, with async stacks further in. */

/* profile.proto, compressed. Of each source, by name and unit, two values a sample: how many, and what they stand for:
 * samples/count and cpu/nanoseconds, or NAME/count; with several sources NAME_samples/count and NAME/UNIT. Mappings
 * with build ids, locations with inlined lines, functions; labels of each sample: promise (its number), type,
 * label, root, thread, tid, pid, core. Callers' addresses are the byte before the return, as pprof has it.
 *
 * Samples with the same stack and labels are one. Buffered output; the caller flushes and closes. 0, WEFT_E_NOMEM,
 * WEFT_E_IO, or WEFT_E_LIMIT: more kinds of samples than anybody has. */
int weft_pprof_write(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                     const struct weft_pprof_options *o, uint64_t *cut, struct weft_error *err);

/* gperftools' legacy CPU profile, 64-bit words: period in microseconds, a record for each distinct stack, whole
 * addresses, the memory map behind the trailer. Callers are the addresses that calls return to: the format's
 * readers take one off. Of several sources it has the first that counts time, or the first.
 *
 * Samples of several processes that have different files at the same address cannot be told apart there:
 * WEFT_E_INVALID. Of the options only, process counts. */
int weft_pprof_write_legacy(FILE *out, const struct weft_pprof_part *part, uint32_t parts,
                            const struct weft_pprof_options *o, uint64_t *cut,
                            struct weft_error *err);

#endif
