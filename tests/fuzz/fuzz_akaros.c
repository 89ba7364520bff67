/* SPDX-License-Identifier: ISC */
/* Any bytes as one of Akaros's streams: as what they look like, and as what they do not. */
#include "try_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_foreign(data, size, WEFT_FOREIGN_NONE);
    try_foreign(data, size, WEFT_FOREIGN_AKAROS);
    try_foreign(data, size, WEFT_FOREIGN_KPDATA);
    try_foreign(data, size, WEFT_FOREIGN_TICKS);
    return 0;
}
