/* SPDX-License-Identifier: ISC */
/* The file that a recording goes to: made, locked, mapped, named. All of it under the lock of weft_start, so
 * buffers are static; all of it safe in a signal handler. */
#ifndef WEFT_RECORD_FILE_H
#define WEFT_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct weft_record_file {
    unsigned char *map; /* all of it */
    bool named;         /* it has a name that is not its own yet */
};

/* Makes a file of that size beside path, in which %p is replaced by the process id unless it is literal, and
 * maps it. 0 or a negative errno: also if what stands at path may not be replaced. */
int weft_record_file_make(struct weft_record_file *f, const char *path, bool literal,
                          uint64_t bytes);

/* Gives the file its name. What stood there and was a trace that nobody writes is gone then; but one that
 * this process made before exec is kept as FILE.1. */
int weft_record_file_publish(struct weft_record_file *f);

/* Maps memory that cannot be made smaller instead, and closes fd. -EBADF: it is none. */
int weft_record_file_take(struct weft_record_file *f, int fd, uint64_t bytes);

/* Undoes make or take. */
void weft_record_file_drop(struct weft_record_file *f, uint64_t bytes);

/* About the system, for facts. Returns how many bytes it read; a NUL stands after them. */
size_t weft_record_read_small(const char *path, char *out, size_t room);

void weft_record_boot_id(uint8_t id[16]);

/* The start of a process in clock ticks after boot. 0: there is no such process, or it has ended and waits
 * for its parent. */
uint64_t weft_record_process_start(uint32_t pid);

#pragma GCC visibility pop

#endif
