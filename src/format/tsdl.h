/* SPDX-License-Identifier: ISC */
/* What a stream in mirage-profile's format looks like, in CTF 1.8's description language (TSDL), so
 * that any CTF reader understands it. Made from the event table. */
#ifndef WEFT_FORMAT_TSDL_H
#define WEFT_FORMAT_TSDL_H

#include <stdio.h>

/* Writes the text to out, which the caller checks for errors and closes. Only the kinds of events
 * that mirage-profile has are described. */
void weft_tsdl_write_mirage(FILE *out);

#endif
