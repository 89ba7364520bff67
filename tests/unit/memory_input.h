/* SPDX-License-Identifier: ISC */
/* Memory as an input that changes at every reading, and in the middle of each; and its copy, read. */
#pragma once

#include <string.h>

#include "read/input.h"
#include "read/reader.h"
#include "trace.h"

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

/* Opens a copy that is in memory. */
static inline struct weft_reader *copy_reader(const struct weft_input *copy)
{
    struct weft_reader *r;
    struct weft_error err = {.code = 0};
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", copy->fd);
    if (weft_reader_open(&r, name, &err) < 0)
        fail_msg("%s", err.text);
    return r;
}
