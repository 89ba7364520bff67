/* SPDX-License-Identifier: ISC */
/* Samples of Akaros's two streams, kpoprofile (akaros.c) and kpdata (kpdata.c). */
#ifndef WEFT_PROFILE_AKAROS_H
#define WEFT_PROFILE_AKAROS_H

#include "profile/foreign_state.h"

struct profile_akaros {
    struct profile_foreign *f;
    uint32_t source, first_sample;
    uint64_t first_ns, last_ns;
    bool kernel; /* there were addresses of the kernel */
};

struct profile_akaros_sample {
    uint64_t time_ns;
    uint32_t process; /* UINT32_MAX: not known */
    uint32_t core;
    const unsigned char *pc; /* pcs addresses, one word each, innermost first */
    uint32_t pcs;
};

/* Returns 0 or WEFT_E_NOMEM, with the error set. */
int profile_akaros_begin(struct profile_akaros *a, struct profile_foreign *f);
int profile_akaros_add(struct profile_akaros *a, const struct profile_akaros_sample *s);

/* Gives all samples since profile_akaros_begin their value. rc: the result of reading, which is
 * returned. */
int profile_akaros_end(struct profile_akaros *a, int rc);

/* The file ends within the record at offset, of which only left bytes are there: sets the error and
 * returns it. */
int profile_akaros_cut(struct profile_foreign *f, uint64_t offset, uint64_t wanted, uint64_t left);

#endif
