/* SPDX-License-Identifier: ISC */
#ifndef WEFT_FORMAT_COLUMNS_H
#define WEFT_FORMAT_COLUMNS_H

#include <stdint.h>

/* How many columns of a terminal a character takes: 2 for one of Chinese, Japanese or Korean, and for an emoji; 0 for an
 * accent on the one before; else 1. */
unsigned weft_columns_of(uint32_t code);

#endif
