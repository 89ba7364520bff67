/* SPDX-License-Identifier: ISC */
/* Times and durations as text and back. Text is returned by value, ready for printf:
 *
 *     printf("waited %s\n", weft_duration(ns).text); */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/count.h"

/* Three significant digits: "8.21 ms", "1.5 s"; from ten minutes on in minutes, hours and days: "12 min", "3.4 h". */
struct weft_figure weft_duration(int64_t ns);

/* The same without the space, for narrow columns, and with trailing zeros so that columns line up: "8.21ms", "1.50s". */
struct weft_figure weft_duration_narrow(int64_t ns);

/* A time in a trace: to the microsecond, or to the nanosecond if it is below 1 ms: "39.912 ms", "1.408291 s". */
struct weft_figure weft_moment(int64_t ns);

/* For the labels of an axis that reaches to far_ns in steps of step_ns, or the cells of a column: in the largest unit
 * that far_ns reaches, rounded to as many digits as step_ns needs. step_ns is positive. */
struct weft_figure weft_axis_time(int64_t ns, int64_t step_ns, int64_t far_ns);

/* Reads a duration from the first `size` bytes of text: "39.5ms", "-2 s", "1.5h". The result is exact; no floating
 * point is used. Units: ns us µs ms s m min h d; without a unit, nanoseconds. Returns false if the text is not a
 * duration, if it does not fit, or if it has more decimals than nanoseconds can hold (for min, h and d: more than
 * nine). */
bool weft_parse_duration(const char *text, size_t size, int64_t *ns);
