/* SPDX-License-Identifier: ISC */
/* The bytes of a file, wherever they come from, at any offset. Not mapped, since anybody may truncate it. */
#ifndef WEFT_READ_INPUT_H
#define WEFT_READ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/error.h"

/* Who may still write to it. */
enum weft_writer {
    WEFT_WRITER_PROCESS, /* if the process of its facts is alive, on this machine */
    WEFT_WRITER_ALIVE,   /* another machine's: yes */
    WEFT_WRITER_DEAD,    /* … and it has ended or crashed, as it was */
};

struct weft_input {
    int fd;        /* -1: none */
    uint64_t size; /* when it was opened; what is appended later is not seen */

    /* Instead of fd, if it is not NULL: copies up to size bytes from offset on out of memory, which others may
     * change meanwhile, and returns how many. */
    size_t (*copy)(const void *memory, void *buffer, size_t size, uint64_t offset);
    const void *memory;
    enum weft_writer writer;
    uint32_t
        process; /* that is known to record into it, by its number here; 0: the one of its facts */
    const struct weft_sight
        *sight; /* what was seen of its clock (read/sight.h), or NULL: a copy says so */
};

/* Opens path for reading. "-" (standard input), pipes and sockets are read to their end into memory. Of a
 * core file, the trace in it (read/core.h). Returns 0 or a negative WEFT_E code; in->fd is then -1. */
int weft_input_open(struct weft_input *in, const char *path, struct weft_error *err);

void weft_input_close(struct weft_input *in);

/* Where the first hole of a file begins, at that offset or behind it; its size if there is none, or it is not known. */
uint64_t weft_input_hole(const struct weft_input *in, uint64_t offset);

/* Reads up to size bytes at offset. Returns how many: fewer only at the end of the file. */
ptrdiff_t weft_input_read(const struct weft_input *in, void *buffer, size_t size, uint64_t offset,
                          struct weft_error *err);

/* Reads size bytes. Returns 1, 0 if the file ends before, or a negative WEFT_E code. */
static inline int read_whole(const struct weft_input *in, void *buffer, size_t size,
                             uint64_t offset, struct weft_error *err)
{
    const ptrdiff_t got = weft_input_read(in, buffer, size, offset, err);
    return got < 0 ? (int)got : got == (ptrdiff_t)size;
}

/* Reads size bytes; zeros for those behind the end of the file. Returns 0 or a negative WEFT_E code. */
static inline int read_filled(const struct weft_input *in, void *buffer, size_t size,
                              uint64_t offset, struct weft_error *err)
{
    const ptrdiff_t got = weft_input_read(in, buffer, size, offset, err);
    if (got < 0)
        return (int)got;
    memset((char *)buffer + got, 0, size - (size_t)got);
    return 0;
}

#endif
