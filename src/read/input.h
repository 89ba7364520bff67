/* SPDX-License-Identifier: ISC */
/* The bytes of a file or another source, at any offset. The file is not mapped, since anybody may
 * truncate it. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/error.h"

/* Whether somebody may still be writing to it. */
enum weft_writer {
    WEFT_WRITER_PROCESS, /* yes, if the process in its facts is alive on this machine */
    WEFT_WRITER_ALIVE,   /* yes; the writer is another machine */
    /* no; the other machine has ended or crashed, and this is how it left it */
    WEFT_WRITER_DEAD,
};

struct weft_input {
    int fd;        /* -1: none */
    uint64_t size; /* when it was opened; bytes appended later are ignored */

    /* Used instead of fd if it is not NULL: copies up to size bytes from memory, starting at
     * offset, and returns how many. Others may change the memory in the meantime. */
    size_t (*copy)(const void *memory, void *buffer, size_t size, uint64_t offset);
    const void *memory;
    enum weft_writer writer;
    /* the process known to record into it, by its number here; 0: the one in its facts */
    uint32_t process;
    const struct weft_sight
        *sight; /* what was observed of its clock (read/sight.h), or NULL; a copy stores it */
};

/* Opens path for reading. "-" (standard input), pipes and sockets are first read into memory to
 * their end. What is compressed by zstd is decompressed (read/unpack.h). For a core file, opens the trace in it. Returns 0 or a negative WEFT_E
 * code; in->fd is then -1. */
int weft_input_open(struct weft_input *in, const char *path, struct weft_error *err);

void weft_input_close(struct weft_input *in);

/* The offset of the first hole in the file at or after an offset; the file's size if there is none
 * or it is not known. … of the first byte that is not in a hole; the same offset if that is not
 * known. */
uint64_t weft_input_hole(const struct weft_input *in, uint64_t offset);
uint64_t weft_input_data(const struct weft_input *in, uint64_t offset);

/* Reads up to size bytes at offset. Returns how many; it is fewer only at the end of the file. */
ptrdiff_t weft_input_read(const struct weft_input *in, void *buffer, size_t size, uint64_t offset,
                          struct weft_error *err);

/* Finds the trace in a core file: the program recorded into its own memory, or its shared mappings
 * were dumped. If in is a core file, replaces in with a copy, in memory, of the newest complete weft
 * trace in it, of the process that left the core if there is one. If it only has other packets of weft's or mirage's, like the memory of a whole
 * machine, in stays as it is. Returns 0 or a negative WEFT_E code if there is no trace in it. */
int read_core_open(struct weft_input *in, struct weft_error *err);

/* Reads size bytes. Returns 1, 0 if the file ends earlier, or a negative WEFT_E code. */
static inline int read_whole(const struct weft_input *in, void *buffer, size_t size,
                             uint64_t offset, struct weft_error *err)
{
    const ptrdiff_t got = weft_input_read(in, buffer, size, offset, err);
    return got < 0 ? (int)got : got == (ptrdiff_t)size;
}

/* Reads size bytes, with zeros for those after the end of the file. Returns 0 or a negative WEFT_E
 * code. */
static inline int read_filled(const struct weft_input *in, void *buffer, size_t size,
                              uint64_t offset, struct weft_error *err)
{
    const ptrdiff_t got = weft_input_read(in, buffer, size, offset, err);
    if (got < 0)
        return (int)got;
    memset((char *)buffer + got, 0, size - (size_t)got);
    return 0;
}
