/* SPDX-License-Identifier: ISC */
/* Any bytes as perf.data. */
#include "try_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_foreign(data, size, WEFT_FOREIGN_PERF);
    return 0;
}
