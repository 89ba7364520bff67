/* SPDX-License-Identifier: ISC */
/* Profiles that other programs recorded: Akaros's streams and Linux's perf.data.
 *     struct weft_input in;
 *     if (weft_input_open(&in, path, &err) == 0 && weft_foreign_kind(&in) != WEFT_FOREIGN_NONE)
 *         rc = weft_profile_load_foreign(p, &in, NULL, NULL, &err);
 * They are added to a profile that the caller has made and will finish (profile/build.h); several
 * can be added. Input is hostile: an error says what is wrong at which offset, and what could be
 * read before it has been added. */
#pragma once

#include "profile/build.h"
#include "read/input.h"

enum weft_foreign {
    WEFT_FOREIGN_NONE,
    WEFT_FOREIGN_AKAROS, /* kpoprofile: "version 1" */
    WEFT_FOREIGN_KPDATA, /* kpdata: records, from October 2015 */
    WEFT_FOREIGN_TICKS,  /* kpdata of July 2015: lines of address, function, ticks */
    WEFT_FOREIGN_PERF,   /* perf.data, as a file or as it goes through a pipe */
};

/* What the file says it is. kpdata has no mark: its first record must be valid. */
enum weft_foreign weft_foreign_kind(const struct weft_input *in);

/* Finds callers from copies of the stack (perf record --call-graph dwarf); symbols/unwind.h has the
 * contracts. Called in order of time. */
struct weft_foreign_unwinder {
    void *data;
    int (*map)(void *data, const struct weft_mapping *m, const char *path); /* 0 or WEFT_E_NOMEM */
    void (*forget)(void *data, uint32_t process);
    uint32_t (*run)(void *data, uint32_t process, uint32_t thread, uint64_t regs_mask,
                    const uint64_t *regs, const uint8_t *stack, uint64_t stack_bytes, uint64_t *pcs,
                    uint32_t room);
    int (*fork)(void *data, uint32_t process, uint32_t parent); /* 0 or WEFT_E_NOMEM */
};

struct weft_foreign_options {
    enum weft_foreign kind; /* NONE: found by weft_foreign_kind */
    /* What a sample of an Akaros stream stands for, since the stream does not state it. 0: the time
     * that the stream covers, divided by the number of samples. */
    uint64_t period_ns;
    /* NULL: stacks end where the callers are not in the file */
    const struct weft_foreign_unwinder *unwinder;
};

/* What else the file says; long texts are cut. */
struct weft_foreign_facts {
    enum weft_foreign kind;
    uint64_t samples; /* samples that were added */
    /* how many of them have no callers, because only a copy of their stack would have shown them */
    uint64_t without_callers;
    /* how many of them are from guests, whose addresses mean nothing here */
    uint64_t other_machines;
    /* One moment, as time since 1970 and on the clock of the samples; both 0: not known. */
    int64_t real_ns, clock_ns;
    uint64_t kernel_start; /* where the kernel's code began; 0: not known */
    bool cut;              /* the file itself says that it was not finished */
    char host[128], release[128], command[512];
};

/* options and facts may be NULL. Returns 0 or a negative WEFT_E code; facts are valid in both
 * cases. */
int weft_profile_load_foreign(struct weft_profile *p, const struct weft_input *in,
                              const struct weft_foreign_options *options,
                              struct weft_foreign_facts *facts, struct weft_error *err);
