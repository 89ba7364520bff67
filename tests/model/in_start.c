/* SPDX-License-Identifier: ISC */
/* The file as it is; and where its own variables lie, which each run begins with anew. */
#include <sys/random.h>

#define weft_record_layout_plan model_plan
#define getrandom(at, bytes, flags) (-1)
#include "record/start.c"

#include "host.h"

void host_start(void)
{
    starting = 0;
    mark = NULL;
    host_variable(&starting, sizeof starting, "starting");
}
