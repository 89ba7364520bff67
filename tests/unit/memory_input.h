/* SPDX-License-Identifier: ISC */
/* Memory as an input that changes at every reading, and in the middle of each. */
#ifndef MEMORY_INPUT_H
#define MEMORY_INPUT_H

#include <string.h>

#include "read/input.h"

struct memory {
    unsigned char *bytes;
    size_t size;
    void (*change)(
        struct memory *m); /* before a reading, and when half of it is done; may be NULL */
    uint64_t reads;
};

static inline size_t memory_copy(const void *memory, void *buffer, size_t size, uint64_t offset)
{
    struct memory *m = *(struct memory *const *)memory;
    const size_t half = size > 8 ? size / 2 : 0; /* a number is read in one piece */
    m->reads++;
    if (m->change && half)
        m->change(m);
    memcpy(buffer, m->bytes + offset, half);
    if (m->change)
        m->change(m);
    memcpy((char *)buffer + half, m->bytes + offset + half, size - half);
    return size;
}

/* m: a pointer that lasts. */
static inline struct weft_input memory_input(struct memory *const *m, enum weft_writer writer)
{
    return (struct weft_input){
        .fd = -1, .size = (*m)->size, .copy = memory_copy, .memory = m, .writer = writer};
}

#endif
