/* SPDX-License-Identifier: ISC */
/* A trace in an order in which it compresses twice as well: of the events in a packet first all codes, then byte by byte
 * the differences of times, then those of the other words. docs/format.md has the layout. It becomes the same trace again,
 * byte for byte; what is not events is copied as it is. */
#pragma once

#include "read/input.h"

enum {
    READ_COLUMNS_BLOCK = 4 << 20, /* bytes of the trace in a block, at most */
    /* … and of the block made of them */
    READ_COLUMNS_ROOM = READ_COLUMNS_BLOCK + READ_COLUMNS_BLOCK / 4 + 64,
    READ_COLUMNS_HEAD = 8, /* before the first block */
};

extern const unsigned char read_columns_mark[READ_COLUMNS_HEAD];

/* Makes a block of the first bytes of a trace, up to size, at most READ_COLUMNS_BLOCK. to has READ_COLUMNS_ROOM bytes.
 * Returns the size of the block; *used: how many bytes are in it. */
size_t read_columns_put(unsigned char *to, const unsigned char *from, size_t size, size_t *used);

/* Makes the bytes of a block again, in to, which has READ_COLUMNS_BLOCK bytes. Returns how many, or 0: it is damaged. */
size_t read_columns_get(unsigned char *to, const unsigned char *block, size_t size);

/* If in begins with the mark, replaces it with the trace, in an unnamed file. Returns 0 or a negative WEFT_E code; in then
 * stays as it is. */
int read_columns_open(struct weft_input *in, struct weft_error *err);
