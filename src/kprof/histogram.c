/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "kprof/state.h"

void kprof_histogram_fini(struct kprof_histogram *h)
{
    free(h->cell);
    weft_table_drop(&h->by);
    *h = (struct kprof_histogram){0};
}

/* The addresses come from the kernel and not from an attacker, so the hash needs no seed. */
static uint64_t hash_cell(const void *cells, uint32_t cell, uint64_t seed)
{
    return weft_mix(((const struct kprof_histogram_cell *)cells)[cell].address, seed);
}

static bool is_at(const void *cells, uint32_t cell, const void *address)
{
    return ((const struct kprof_histogram_cell *)cells)[cell].address == *(const uint64_t *)address;
}

void kprof_histogram_outside(struct kprof_histogram *h)
{
    h->total++;
    h->outside++;
}

void kprof_histogram_tick(struct kprof_histogram *h, uint64_t address)
{
    h->total++;
    uint32_t *slot = weft_table_reserve(&h->by, h->cell, h->used, hash_cell, 0)
                         ? weft_table_find(&h->by, weft_mix(address, 0), is_at, h->cell, &address)
                         : NULL;
    if (slot && !*slot && h->used < KPROF_HISTOGRAM_ADDRESSES &&
        weft_reserve(&h->cell, h->used, &h->room, sizeof *h->cell)) {
        h->cell[h->used] = (struct kprof_histogram_cell){.address = address};
        *slot = ++h->used;
    }
    if (slot && *slot)
        h->cell[*slot - 1].ticks++;
    else
        h->unplaced++;
}

static int by_address(const void *a, const void *b)
{
    const struct kprof_histogram_cell *x = a, *y = b;
    return weft_order(x->address, y->address);
}

int kprof_histogram_print(const struct kprof_histogram *h, FILE *out, kprof_name_fn *name,
                          void *data)
{
    struct kprof_histogram_cell *line = weft_resize(NULL, h->used, sizeof *line);
    if (!line)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < h->used; i++)
        line[i] = h->cell[i];
    qsort(line, h->used, sizeof *line, by_address);
#define LINE "%016" PRIx64 " %29.29s %016" PRIx64 "\n"
    fprintf(out, LINE LINE, UINT64_C(0), "Total", h->total, UINT64_C(0), "User", h->outside);
    for (uint32_t i = 0; i < h->used; i++) {
        const char *text = name ? name(data, line[i].address) : NULL;
        fprintf(out, LINE, line[i].address, text ? text : "?", line[i].ticks);
    }
#undef LINE
    free(line);
    return 0;
}
