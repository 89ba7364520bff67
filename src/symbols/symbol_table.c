/* SPDX-License-Identifier: ISC */
#include "symbols/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

/* Ranges that contain others are rare and not deeply nested. */
#define LOOK_BACK 64

bool symbols_symbol_table_add(struct symbols_symbol_table *t, uint64_t start, uint64_t size,
                              uint32_t rank, const char *name, size_t name_size)
{
    name_size = strnlen(name, name_size);
    if (name_size == 0)
        return true;
    if (!weft_reserve(&t->symbol, t->symbols, &t->symbols_room, sizeof *t->symbol) ||
        !weft_reserve_all(&t->names, (uint64_t)t->names_bytes + name_size + 1, &t->names_room, 1))
        return false;
    memcpy(t->names + t->names_bytes, name, name_size);
    t->names[t->names_bytes + name_size] = '\0';
    t->symbol[t->symbols++] = (struct symbols_symbol){start, size, t->names_bytes, rank};
    t->names_bytes += (uint32_t)name_size + 1;
    return true;
}

/* The best symbol of an address comes last. Names are stored in the order of adding, so their
 * position gives that order. */
static int by_start(const void *a, const void *b)
{
    const struct symbols_symbol *x = a, *y = b;
    WEFT_ORDER(x->start, y->start);
    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? -1 : 1;
    WEFT_ORDER(x->rank, y->rank);
    return weft_order(x->name, y->name);
}

void symbols_symbol_table_sort(struct symbols_symbol_table *t)
{
    if (t->symbols > 1)
        qsort(t->symbol, t->symbols, sizeof *t->symbol, by_start);
}

const struct symbols_symbol *symbols_symbol_table_find(const struct symbols_symbol_table *t,
                                                       uint64_t address)
{
    uint32_t low = 0, high = t->symbols;
    WEFT_SEEK(low, high, t->symbol[middle].start <= address);
    if (low == 0)
        return NULL;
    uint32_t last = low - 1, end = last < LOOK_BACK ? 0 : last - LOOK_BACK;
    for (uint32_t i = last + 1; i-- > end;) {
        const struct symbols_symbol *s = &t->symbol[i];
        if (s->size > 0 && address - s->start < s->size)
            return s;
    }
    return t->symbol[last].size == 0 ? &t->symbol[last] : NULL;
}

void symbols_symbol_table_free(struct symbols_symbol_table *t)
{
    free(t->symbol);
    free(t->names);
    *t = (struct symbols_symbol_table){0};
}
