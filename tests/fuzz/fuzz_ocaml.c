/* SPDX-License-Identifier: ISC */
/* Any bytes as a ring file of OCaml, or as an .fxt. */
#include "try.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_target(data, size);
    return 0;
}
