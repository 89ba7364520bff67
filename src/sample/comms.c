/* SPDX-License-Identifier: ISC */
#include "sample/comms.h"

#include <stdlib.h>
#include <string.h>

/* Open addressing. The kernel hands out consecutive thread numbers, so they need no hashing. */

void sample_comms_fini(struct sample_comms *n)
{
    free(n->slot);
    *n = (struct sample_comms){0};
}

static uint32_t find(const struct sample_comms *n, uint32_t thread)
{
    uint32_t i = thread & (n->slots - 1);
    while (n->slot[i].thread && n->slot[i].thread != thread)
        i = (i + 1) & (n->slots - 1);
    return i;
}

static bool grow(struct sample_comms *n)
{
    struct sample_comms wider = {.slots = n->slots ? n->slots * 2 : 256, .used = n->used};
    wider.slot = wider.slots ? calloc(wider.slots, sizeof *wider.slot) : NULL;
    if (!wider.slot)
        return false;
    for (uint32_t i = 0; i < n->slots; i++)
        if (n->slot[i].thread)
            wider.slot[find(&wider, n->slot[i].thread)] = n->slot[i];
    free(n->slot);
    *n = wider;
    return true;
}

bool sample_comms_set(struct sample_comms *n, uint32_t thread, const char *text)
{
    char copy[sizeof n->slot->text] = ""; /* text may point into this table, which may move here */
    if (thread == 0)
        return true; /* the idle thread */
    memcpy(copy, text, strnlen(text, sizeof copy - 1));
    if (n->used >= n->slots / 2 && !grow(n))
        return false;
    struct sample_comm *slot = &n->slot[find(n, thread)];
    n->used += slot->thread == 0;
    slot->thread = thread;
    memcpy(slot->text, copy, sizeof copy);
    return true;
}

const char *sample_comms_get(const struct sample_comms *n, uint32_t thread)
{
    return n->slots && thread ? n->slot[find(n, thread)].text : "";
}

void sample_comms_drop(struct sample_comms *n, uint32_t thread)
{
    if (n->slots == 0 || thread == 0)
        return;
    uint32_t hole = find(n, thread), mask = n->slots - 1;
    if (n->slot[hole].thread == 0)
        return;
    n->used--;
    /* Entries after the hole that belong before it move into it. */
    for (uint32_t i = (hole + 1) & mask; n->slot[i].thread; i = (i + 1) & mask)
        if (((i - n->slot[i].thread) & mask) >= ((i - hole) & mask)) {
            n->slot[hole] = n->slot[i];
            hole = i;
        }
    n->slot[hole] = (struct sample_comm){0};
}
