/* SPDX-License-Identifier: ISC */
#include "table.h"

#include <stdlib.h>

/* The index of an entry, or of the hole where it belongs. */
static size_t place(const struct table *t, const void *wanted)
{
    size_t at = t->hash(wanted) & (t->room - 1);
    while (t->at[at] && !t->same(t->at[at], wanted))
        at = (at + 1) & (t->room - 1);
    return at;
}

void *table_find(const struct table *t, const void *wanted)
{
    return t->room ? t->at[place(t, wanted)] : NULL;
}

static bool grow(struct table *t)
{
    struct table n = *t;
    n.room = t->room ? 2 * t->room : 256;
    n.at = calloc(n.room, sizeof *n.at);
    if (!n.at)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->at[i])
            n.at[place(&n, t->at[i])] = t->at[i];
    free(t->at);
    *t = n;
    return true;
}

bool table_insert(struct table *t, void *entry)
{
    if (t->room <= 2 * t->used && !grow(t))
        return false;
    t->at[place(t, entry)] = entry;
    t->used++;
    return true;
}

/* Entries after a hole whose search would stop at the hole are moved into it. */
void table_remove(struct table *t, const void *entry)
{
    const size_t mask = t->room - 1;
    size_t hole = place(t, entry);
    t->at[hole] = NULL;
    t->used--;
    for (size_t at = (hole + 1) & mask; t->at[at]; at = (at + 1) & mask) {
        const size_t start = t->hash(t->at[at]) & mask;
        if (((at - start) & mask) < ((at - hole) & mask))
            continue;
        t->at[hole] = t->at[at];
        t->at[at] = NULL;
        hole = at;
    }
}
