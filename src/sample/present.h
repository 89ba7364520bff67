/* SPDX-License-Identifier: ISC */
/* What there is now: processes, their threads, and what is mapped in them; kept up to date by the sampler's records. A
 * ring of samples repeats from it what its samples need (file.h). It is as large as what there is: whatever ends is
 * dropped. */
#pragma once

#include "profile/profile.h"
#include "sample/sampler.h"

struct sample_path;

struct sample_mapped {
    uint64_t start, size, offset, from_ns;
    struct sample_path *path;
    uint64_t put; /* for the caller; 0 at first, and whenever it changes */
    uint8_t flags, build_id_bytes;
    uint8_t build_id[WEFT_BUILD_ID_MAX];
};

struct sample_process {
    uint32_t number; /* UINT32_MAX: what all have, the kernel */
    uint32_t threads;
    uint64_t began_ns; /* when it began anew, by fork or exec; 0: before the first record */
    uint64_t put;      /* for the caller */
    struct sample_mapped *mapped; /* by address; none overlap */
    uint32_t count, room;
};

struct sample_thread {
    uint32_t number, process;
    uint64_t since_ns; /* of the name */
    uint64_t put;      /* for the caller */
    char name[64];
};

struct sample_present { /* all zero: nothing */
    void *processes, *threads;
};

void sample_present_fini(struct sample_present *p);

/* Takes in a record of a mapping, a thread or an exit; others change nothing. Returns 0 or WEFT_E_NOMEM. */
int sample_present_take(struct sample_present *p, const struct weft_sampled *r);

/* NULL: not known. They are valid until the next record is taken in. */
struct sample_process *sample_present_process(const struct sample_present *p, uint32_t process);
struct sample_thread *sample_present_thread(const struct sample_present *p, uint32_t thread);
struct sample_mapped *sample_present_at(const struct sample_process *process, uint64_t address);
const char *sample_present_path(const struct sample_mapped *m);
