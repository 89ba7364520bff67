/* SPDX-License-Identifier: ISC */
#ifndef WEFT_RECORD_METADATA_H
#define WEFT_RECORD_METADATA_H

#include <stddef.h>

/* Writes the TSDL text that a trace carries along, as much of it as there is room. Returns its size, without
 * the NUL that ends it. */
size_t weft_record_metadata(char *out, size_t room);

#endif
