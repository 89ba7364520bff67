/* SPDX-License-Identifier: ISC */
/* Counts and sizes in bytes as text and back. Text is returned by value, ready for printf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number as text. */
struct weft_figure {
    char text[40];
};

/* With commas: "1,234,567". */
struct weft_figure weft_count(uint64_t n);

/* Below a million, with commas; from there on, three digits: "1.23 M", "18.4 E". */
struct weft_figure weft_count_short(uint64_t n);

/* The plural ending: "" for 1, "s" for any other number. */
const char *weft_plural(uint64_t n);

/* Bytes: "900 bytes", "512 KiB", "64 MiB"; below 10 of a unit, the next smaller unit is used. Rounded down. */
struct weft_figure weft_size(uint64_t bytes);

/* Reads a decimal number, digits only, of at most `max`: from the first `size` bytes, or from the whole text. */
bool weft_parse_digits(const char *text, size_t size, uint64_t max, uint64_t *n);

/* The same with a sign, if it is "-"; least to most, above INT64_MIN. */
bool weft_parse_signed(const char *text, size_t size, int64_t least, int64_t most, int64_t *n);
bool weft_parse_count(const char *text, uint64_t max, uint64_t *n);

/* "65536", "64K", "64MB", "1GiB": bytes; K, M, G and T are powers of 1024. A number that does not fit becomes
 * UINT64_MAX. */
bool weft_parse_size(const char *text, uint64_t *bytes);
