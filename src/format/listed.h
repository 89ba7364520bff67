/* SPDX-License-Identifier: ISC */
/* Pending promises whose numbers are no packet's, because the program has numbers of its own: what the packets of classes
 * 5 and 8 say of them. docs/format.md, "Pending promises" and "The roll". */
#ifndef WEFT_FORMAT_LISTED_H
#define WEFT_FORMAT_LISTED_H

#include "format/packet.h"

/* Flags in struct weft_pending_header, unsure. */
#define WEFT_UNSURE 1u /* there are such promises */
#define WEFT_LISTED 2u /* … and all that are pending have cells, or stand on the roll */
#define WEFT_LET_GO 4u /* it is not kept of all promises what they became */

/* The index of no sort: nothing has been overwritten yet that tells of the promise. */
#define WEFT_ROLL_FRESH (WEFT_ROLL_SORTS_MAX - 1)

#endif
