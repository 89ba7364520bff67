/* SPDX-License-Identifier: ISC */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "sample/state.h"

struct comm {
    uint32_t thread; /* first: a thread's number is a key */
    char text[16];
};

bool sample_comms_set(void **comms, uint32_t thread, const char *text)
{
    if (thread == 0)
        return true; /* the idle thread */
    struct comm *const *found = tfind(&thread, comms, weft_order_u32);
    struct comm *c = found ? *found : calloc(1, sizeof *c);
    if (c && !found) {
        c->thread = thread;
        if (!tsearch(c, comms, weft_order_u32)) {
            free(c);
            c = NULL;
        }
    }
    if (c && c->text != text)
        strncpy(c->text, text, sizeof c->text - 1); /* the rest stays 0 */
    return c != NULL;
}

const char *sample_comms_get(void *const *comms, uint32_t thread)
{
    struct comm *const *found = tfind(&thread, comms, weft_order_u32);
    return found ? (*found)->text : "";
}

void sample_comms_drop(void **comms, uint32_t thread)
{
    struct comm *const *found = tfind(&thread, comms, weft_order_u32), *c = found ? *found : NULL;
    if (c)
        tdelete(c, comms, weft_order_u32);
    free(c);
}

void sample_comms_fini(void **comms)
{
    tdestroy(*comms, free);
    *comms = NULL;
}
