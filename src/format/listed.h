/* SPDX-License-Identifier: ISC */
/* Pending promises with numbers of the program's own, which belong to no packet: what the packets of classes 5
 * (pending) and 8 (roll) say about them. The roll lists pending promises without a cell (packet.h).
 * docs/format.md, "Pending promises" and "The roll". */
#pragma once

#include "format/packet.h"

/* Flags in the field unsure of struct weft_pending_header. */
#define WEFT_UNSURE 1u /* there are such promises */
#define WEFT_LISTED 2u /* … and each pending one has a cell or is on the roll */
#define WEFT_LET_GO 4u /* for some promises it is not kept what they became */

/* Stands in for the index of a sort: no event of the promise has been overwritten yet. */
#define WEFT_ROLL_FRESH (WEFT_ROLL_SORTS_MAX - 1)
