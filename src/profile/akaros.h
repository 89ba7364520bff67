/* SPDX-License-Identifier: ISC */
/* Samples of Akaros's two streams, kpoprofile (akaros.c) and kpdata (kpdata.c). */
#ifndef WEFT_PROFILE_AKAROS_H
#define WEFT_PROFILE_AKAROS_H

#include "profile/foreign_state.h"

struct weft__akaros {
    struct weft__foreign *f;
    uint32_t source, first_sample;
    uint64_t first_ns, last_ns;
    bool kernel; /* addresses of it were met */
};

struct weft__akaros_sample {
    uint64_t time_ns;
    uint32_t process; /* UINT32_MAX: not known */
    uint32_t core;
    const unsigned char *pc; /* pcs words, the innermost first */
    uint32_t pcs;
};

/* 0 or WEFT_E_NOMEM, with the error set. */
int weft__akaros_begin(struct weft__akaros *a, struct weft__foreign *f);
int weft__akaros_add(struct weft__akaros *a, const struct weft__akaros_sample *s);

/* Gives all samples since weft__akaros_begin their value. rc: how reading ended, which is returned. */
int weft__akaros_end(struct weft__akaros *a, int rc);

/* The file ends within the record at offset, of which left bytes are there: sets the error and returns it. */
int weft__akaros_cut(struct weft__foreign *f, uint64_t offset, uint64_t wanted, uint64_t left);

#endif
