/* SPDX-License-Identifier: ISC */
/* What the readers of foreign profiles share. */
#pragma once

#include "profile/builder.h"
#include "profile/foreign.h"

/* A part of the input in memory, so that small records do not cost a call each. */
struct profile_window {
    const struct weft_input *in;
    uint64_t offset;
    size_t have;
    unsigned char at[1 << 20];
};

/* Points *bytes at the bytes at offset, until the next call. Returns how many there are, at most
 * size, which must not be larger than the window; fewer only at the end of the input. Or a negative
 * WEFT_E code. */
ptrdiff_t profile_window_at(struct profile_window *w, uint64_t offset, size_t size,
                            const unsigned char **bytes, struct weft_error *err);

/* The state of a loader. */
struct profile_foreign {
    struct weft_profile *p;
    const struct weft_input *in;
    const struct weft_foreign_options *options;
    struct weft_foreign_facts *facts;
    struct profile_window *window;
    struct weft_error *err;
    const char *what; /* that ends, if it ends within a record: "the file" */
    uint64_t end;     /* where it ends */
};

/* Points *bytes at the record of `size` bytes at offset, until the next call. Returns 1; 0 at the
 * end; or a negative WEFT_E code, also if the end is within the record. */
int profile_record_at(struct profile_foreign *f, uint64_t offset, uint64_t size,
                      const unsigned char **bytes);

/* Of the record's bytes, only `left` are there: sets the error and returns it. */
int profile_record_cut(struct profile_foreign *f, uint64_t offset, uint64_t size, uint64_t left);

int profile_akaros_load(struct profile_foreign *f);
int profile_kpdata_load(struct profile_foreign *f);
int profile_ticks_load(struct profile_foreign *f);
int profile_perf_load(struct profile_foreign *f);

/* Returns true if the first bytes of a file, of which there are size, may be of that kind. */
bool profile_akaros_begins(const unsigned char *head, size_t size);
bool profile_kpdata_begins(const unsigned char *head, size_t size);
bool profile_ticks_begins(const unsigned char *head, size_t size);
bool profile_perf_begins(const unsigned char *head, size_t size);

/* 0, or this error if there was no memory for something that was added to the profile. */
static inline int profile_foreign_added(struct profile_foreign *f)
{
    return f->p->build->no_memory ? weft_no_memory(f->err) : 0;
}
