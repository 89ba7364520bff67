/* SPDX-License-Identifier: ISC */
/* Names of what is no function, as texts of the profile, each made once; inside of the profile. */
#ifndef WEFT_PROFILE_NAMES_H
#define WEFT_PROFILE_NAMES_H

#include "profile/profile.h"

struct profile_names {
    struct weft_profile *p;
    uint32_t *address; /* beside the locations; WEFT_NONE: not made yet */
    uint32_t *text_of; /* beside the model's texts */
    uint32_t *line;    /* a small cache: see profile_name_line */
    uint64_t *line_key;
    const uint32_t *family; /* beside the promises: see weft_calltree_options; or NULL */
    bool failed;            /* there was no memory for one */
    uint32_t gap[WEFT_GAPS], no_stack, waiting, preempted; /* texts */
};

/* Whether it is why there is no promise: see weft_frames_whose. */
static inline bool profile_is_gap(uint32_t whose)
{
    return whose > WEFT_NONE - WEFT_GAPS;
}

/* p is finished, and joined if it will be. false: no memory; fini may be called in any case. */
bool profile_names_init(struct profile_names *n, struct weft_profile *p);
void profile_names_fini(struct profile_names *n);

/* All return WEFT_NONE where there is no memory. */

/* "0x4f10 (libfoo.so.1)": the offset in a file, so that it means the same in another run; where there is none, the
 * address. */
uint32_t profile_name_address(struct profile_names *n, uint32_t location);

/* A promise's label, or its type; "(no promise)" and the like where there is none. */
uint32_t profile_name_promise(struct profile_names *n, uint32_t whose);

/* … or what it is called with others of its family. */
uint32_t profile_name_family(struct profile_names *n, uint32_t whose);

/* "src/foo.c:12" */
uint32_t profile_name_line(struct profile_names *n, uint32_t file, uint32_t line);

/* "worker 1234", "core 3" */
uint32_t profile_name_thread(struct profile_names *n, uint32_t thread);
uint32_t profile_name_core(struct profile_names *n, uint32_t core);

#endif
