/* SPDX-License-Identifier: ISC */
/* The file of a recording: creating, locking, mapping and naming it. All functions are called under the lock of
 * weft_start, so buffers are static. All are safe in a signal handler. */
#ifndef WEFT_RECORD_FILE_H
#define WEFT_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct weft_record_file {
    unsigned char *map; /* the whole file */
    bool named;         /* it has a temporary name: publish gives it its own */
};

/* Creates a file of that size beside path, and maps it. %p in path is replaced by the process id unless literal
 * is true. Returns 0 or a negative errno, also if the file at path may not be replaced. */
int weft_record_file_make(struct weft_record_file *f, const char *path, bool literal,
                          uint64_t bytes);

/* Gives the file its final name. A trace that had this name and no writer is replaced; but one that this
 * process wrote before exec is kept as FILE.1. */
int weft_record_file_publish(struct weft_record_file *f);

/* Maps sealed memory (which cannot be made smaller) instead of a file, and closes fd. -EBADF: fd is not such
 * memory. */
int weft_record_file_take(struct weft_record_file *f, int fd, uint64_t bytes);

/* Undoes make or take. */
void weft_record_file_drop(struct weft_record_file *f, uint64_t bytes);

/* Reads a small system file, for the facts. Returns the number of bytes read; a NUL follows them. */
size_t weft_record_read_small(const char *path, char *out, size_t room);

void weft_record_boot_id(uint8_t id[16]);

/* When a process started, in clock ticks after boot. 0: there is no such process, or it has ended and its
 * parent has not waited for it yet. */
uint64_t weft_record_process_start(uint32_t pid);

#pragma GCC visibility pop

#endif
