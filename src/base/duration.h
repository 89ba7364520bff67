/* SPDX-License-Identifier: ISC */
/* Times and durations as text and back. Text is returned by value, ready for printf:
 *
 *     printf("waited %s\n", weft_duration(ns).text); */
#ifndef WEFT_BASE_DURATION_H
#define WEFT_BASE_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/count.h"

/* Three significant digits: "8.21 ms", "1.5 s"; from ten minutes on, minutes, hours and days: "12 min", "3.4 h". */
struct weft_figure weft_duration(int64_t ns);

/* The same without the space, for narrow columns, and with zeros at the end so that columns agree: "8.21ms", "1.50s". */
struct weft_figure weft_duration_narrow(int64_t ns);

/* A time in a trace, to the microsecond, below 1 ms to the nanosecond: "39.912 ms", "1.408291 s". */
struct weft_figure weft_moment(int64_t ns);

/* In the largest unit that far_ns reaches, with as many digits as step_ns needs, to the nearest: labels of an axis with
 * that step that reaches that far, cells of a column. step_ns is positive. */
struct weft_figure weft_axis_time(int64_t ns, int64_t step_ns, int64_t far_ns);

/* The first size bytes of text: "39.5ms", "-2 s", "1.5h", exactly, without floating point. Units: ns us µs ms s m
 * min h d; without one, nanoseconds. Returns false if it is no time, does not fit, or has more digits after the point
 * than nanoseconds (of min, h and d: than nine). */
bool weft_parse_duration(const char *text, size_t size, int64_t *ns);

#endif
