/* SPDX-License-Identifier: ISC */
#ifndef WEFT_FORMAT_COLUMNS_H
#define WEFT_FORMAT_COLUMNS_H

#include <stdint.h>

/* Returns how many terminal columns a character takes: 2 for Chinese, Japanese and Korean characters and for
 * emojis; 0 for a combining accent; otherwise 1. Threads: one at a time. */
unsigned weft_columns_of(uint32_t code);

#endif
