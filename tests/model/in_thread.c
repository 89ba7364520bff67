/* SPDX-License-Identifier: ISC */
/* The file as it is; and where its own variables lie, which each run begins with anew. */
#include "record/thread.c"

#include "host.h"

void host_threads(void)
{
    slots = NULL;
    slots_used = 0;
    free_slots = 0;
    weft_record_self = NULL;
    host_variable(&slots, sizeof slots, "slots");
    host_variable(&slots_used, sizeof slots_used, "slots_used");
    host_variable(&free_slots, sizeof free_slots, "free_slots");
}
