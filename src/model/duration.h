/* SPDX-License-Identifier: ISC */
/* Times, durations and numbers as people read them. All cut to room, terminated; each returns the size of
 * what was written. 48 bytes are enough. */
#ifndef WEFT_MODEL_DURATION_H
#define WEFT_MODEL_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* Three significant digits: "8.21 ms". */
int weft_format_duration(char *out, size_t room, int64_t ns);

/* A time of a trace, to the microsecond, below 1 ms to the nanosecond: "39.912 ms", "1.408291 s". */
int weft_format_moment(char *out, size_t room, int64_t time_ns);

/* With commas: "1,204". */
int weft_format_count(char *out, size_t room, uint64_t n);

#endif
