/* SPDX-License-Identifier: ISC */
/* What the readers of foreign profiles share. */
#ifndef WEFT_PROFILE_FOREIGN_STATE_H
#define WEFT_PROFILE_FOREIGN_STATE_H

#include "profile/foreign.h"

/* A stretch of the input, so that small records do not cost a call each. */
struct weft__window {
    const struct weft_input *in;
    uint64_t offset;
    size_t have;
    unsigned char at[1 << 20];
};

/* Points *bytes at what stands at offset, until the next call. Returns how many bytes are there, at most size, which
 * is at most that of the window; fewer only at the end of the input. Or a negative WEFT_E code. */
ptrdiff_t weft__window_at(struct weft__window *w, uint64_t offset, size_t size,
                          const unsigned char **bytes, struct weft_error *err);

/* What a loader works with. */
struct weft__foreign {
    struct weft_profile *p;
    const struct weft_input *in;
    const struct weft_foreign_options *options;
    struct weft_foreign_facts *facts;
    struct weft__window *window;
    struct weft_error *err;
};

int weft__akaros_load(struct weft__foreign *f);
int weft__kpdata_load(struct weft__foreign *f);
int weft__ticks_load(struct weft__foreign *f);
int weft__perf_load(struct weft__foreign *f);

/* Whether the first bytes of a file, of which there are size, can be these. */
bool weft__akaros_begins(const unsigned char *head, size_t size);
bool weft__kpdata_begins(const unsigned char *head, size_t size);
bool weft__ticks_begins(const unsigned char *head, size_t size);
bool weft__perf_begins(const unsigned char *head, size_t size);

/* There is no memory, and no place to point at. */
static inline int weft__foreign_no_memory(struct weft__foreign *f)
{
    return weft_error_set(f->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory");
}

#endif
