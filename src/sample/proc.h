/* SPDX-License-Identifier: ISC */
/* Small files and folders of /proc. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers among the names in a folder. Returns 0, or an errno if it cannot be read. The caller frees
 * n->number. */
struct sample_numbers {
    uint32_t *number;
    uint32_t count, room;
};
int sample_numbers_read(struct sample_numbers *n, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads the first line of a file, without its end. Returns false if there is none; the line is then "". */
bool sample_line(char *line, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Of the line in a stat file of a process or thread: the letter of its state, and its parent, unless that is NULL; 0: the
 * line is no such one, as of what has ended. */
char sample_state(const char *line, uint32_t *parent);
