/* SPDX-License-Identifier: ISC */
/* Profiles that others recorded: Akaros's streams and Linux's perf.data.
 *
 *     struct weft_input in;
 *     if (weft_input_open(&in, path, &err) == 0 && weft_foreign_kind(&in) != WEFT_FOREIGN_NONE)
 *         rc = weft_profile_load_foreign(p, &in, NULL, NULL, &err);
 *
 * They add to a profile that the caller has made and will finish (profile/build.h), as many as are wanted. Input is
 * hostile: an error says what is wrong at which offset, and what could be read before it has been added. */
#ifndef WEFT_PROFILE_FOREIGN_H
#define WEFT_PROFILE_FOREIGN_H

#include "profile/build.h"
#include "read/input.h"

enum weft_foreign {
    WEFT_FOREIGN_NONE,
    WEFT_FOREIGN_AKAROS, /* kpoprofile: "version 1" */
    WEFT_FOREIGN_KPDATA, /* kpdata: records, from October 2015 */
    WEFT_FOREIGN_TICKS,  /* kpdata of July 2015: lines of address, function, ticks */
    WEFT_FOREIGN_PERF,   /* perf.data, as a file or as it goes through a pipe */
};

/* What the file says it is. kpdata has no mark: its first record must be a sound one. */
enum weft_foreign weft_foreign_kind(const struct weft_input *in);

/* Callers by copies of the stack (perf record --call-graph dwarf), by somebody who can: symbols/unwind.h has the
 * contracts. Told in order of time. */
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
    enum weft_foreign kind; /* NONE: as weft_foreign_kind finds it */
    /* What a sample of an Akaros stream stands for, which the stream does not say. 0: the time that it covers,
     * divided by the number of samples. */
    uint64_t period_ns;
    const struct weft_foreign_unwinder *unwinder; /* NULL: stacks end where callers are not told */
};

/* What else the file says; texts are cut where they are longer. */
struct weft_foreign_facts {
    enum weft_foreign kind;
    uint64_t samples;         /* that were added */
    uint64_t without_callers; /* of them: only a copy of their stack would have said who called */
    uint64_t other_machines;  /* of them: of guests, whose addresses mean nothing here */
    /* A moment since 1970, and on the clock of the samples; both 0: not known. */
    int64_t real_ns, clock_ns;
    uint64_t kernel_start; /* where the kernel's code began; 0: not known */
    bool cut;              /* it says itself that it was not finished */
    char host[128], release[128], command[512];
};

/* options and facts may be NULL. 0, or a negative WEFT_E code; facts are good also then. */
int weft_profile_load_foreign(struct weft_profile *p, const struct weft_input *in,
                              const struct weft_foreign_options *options,
                              struct weft_foreign_facts *facts, struct weft_error *err);

#endif
