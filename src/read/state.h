/* SPDX-License-Identifier: ISC */
/* What the readers of all formats share; weft_reader's inside. Each format has a structure that begins
 * with a struct weft_reader. */
#ifndef WEFT_READ_STATE_H
#define WEFT_READ_STATE_H

#include "read/input.h"
#include "read/reader.h"

#define WEFT_BATCH 256

struct weft_reader_format {
    const char *name;
    size_t size; /* of the structure */

    /* Finds the packets and puts them in order. 0 or a negative WEFT_E code. */
    int (*index)(struct weft_reader *r, struct weft_error *err);

    ptrdiff_t (*next)(struct weft_reader *r, struct weft_error *err); /* as weft_reader_next */
    double (*progress)(const struct weft_reader *r);

    /* As weft_reader_next_samples; NULL: there are none. */
    ptrdiff_t (*next_samples)(struct weft_reader *r, const void **packet, uint64_t *offset,
                              struct weft_error *err);

    /* Releases what the format has, also if index has failed or was never called. */
    void (*fini)(struct weft_reader *r);
};

struct weft_reader {
    const struct weft_reader_format *format;
    struct weft_input input;
    struct weft_reader_facts facts;
    struct weft_damage damage;
    bool has_first; /* facts.first_ns is known */
    bool is_trace;  /* index has found a packet that it understands */
    struct weft_event batch[WEFT_BATCH];
};

extern const struct weft_reader_format weft__mirage_format, weft__weft_format, weft__rings_format,
    weft__fxt_format;

/* Counts a problem at that offset of the file, and keeps its text if it is one of the first. */
void weft__reader_problem(struct weft_reader *r, uint64_t offset, uint64_t skipped_bytes,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
