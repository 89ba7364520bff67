/* SPDX-License-Identifier: ISC */
/* The file as it is; and where its own variables lie, which each run begins with anew. */
#include "record/pool.c"

#include "host.h"

void host_pool(void)
{
    numbers_taken = 0;
    host_variable(&numbers_taken, sizeof numbers_taken, "numbers_taken");
}
