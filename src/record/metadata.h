/* SPDX-License-Identifier: ISC */
#ifndef WEFT_RECORD_METADATA_H
#define WEFT_RECORD_METADATA_H

#include <stddef.h>

/* Writes the TSDL text that a trace contains, as much of it as fits into room bytes. Returns its size without
 * the NUL at its end. */
size_t weft_record_metadata(char *out, size_t room);

#endif
