/* SPDX-License-Identifier: ISC */
/* Any bytes as a trace. */
#include "try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size, 0, TRY_VIEWPORTS);
    return 0;
}
