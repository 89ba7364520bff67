/* SPDX-License-Identifier: ISC */
#include "kprof/histogram.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "format/error.h"

#define FIRST_CAPACITY 1024u

void weft__histogram_fini(struct weft__histogram *h)
{
    free(h->cell);
    *h = (struct weft__histogram){0};
}

/* Addresses are the kernel's own, no stranger's: a hash without a seed will do. */
static struct weft__histogram_cell *find(struct weft__histogram_cell *cell, uint32_t capacity,
                                         uint64_t address)
{
    uint32_t i = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
    while (cell[i].ticks && cell[i].address != address)
        i = (i + 1) & (capacity - 1);
    return &cell[i];
}

static int grow(struct weft__histogram *h)
{
    uint32_t capacity = h->capacity ? h->capacity * 2 : FIRST_CAPACITY;
    struct weft__histogram_cell *cell = calloc(capacity, sizeof *cell);
    if (!cell)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < h->capacity; i++)
        if (h->cell[i].ticks)
            *find(cell, capacity, h->cell[i].address) = h->cell[i];
    free(h->cell);
    h->cell = cell;
    h->capacity = capacity;
    return 0;
}

void weft__histogram_outside(struct weft__histogram *h)
{
    h->total++;
    h->outside++;
}

void weft__histogram_tick(struct weft__histogram *h, uint64_t address)
{
    h->total++;
    struct weft__histogram_cell *c = h->cell ? find(h->cell, h->capacity, address) : NULL;
    if (!c || !c->ticks) {
        bool full = h->used == WEFT__HISTOGRAM_ADDRESSES;
        if (full || (h->used >= h->capacity / 2 && grow(h) < 0)) {
            h->unplaced++;
            return;
        }
        c = find(h->cell, h->capacity, address);
        c->address = address;
        h->used++;
    }
    c->ticks++;
}

static int by_address(const void *a, const void *b)
{
    const struct weft__histogram_cell *x = a, *y = b;
    return weft_order(x->address, y->address);
}

int weft__histogram_print(const struct weft__histogram *h, FILE *out, weft__name_fn *name,
                          void *data)
{
    struct weft__histogram_cell *line = NULL;
    uint32_t lines = 0;
    if (h->used > 0 && !(line = malloc(h->used * sizeof *line)))
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < h->capacity; i++)
        if (h->cell[i].ticks)
            line[lines++] = h->cell[i];
    if (lines > 1)
        qsort(line, lines, sizeof *line, by_address);
#define LINE "%016" PRIx64 " %29.29s %016" PRIx64 "\n"
    fprintf(out, LINE LINE, UINT64_C(0), "Total", h->total, UINT64_C(0), "User", h->outside);
    for (uint32_t i = 0; i < lines; i++) {
        const char *text = name ? name(data, line[i].address) : NULL;
        fprintf(out, LINE, line[i].address, text ? text : "?", line[i].ticks);
    }
#undef LINE
    free(line);
    return 0;
}
