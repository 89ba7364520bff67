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

void kprof_histogram_outside(struct kprof_histogram *h)
{
    h->total++;
    h->outside++;
}

void kprof_histogram_tick(struct kprof_histogram *h, uint64_t address)
{
    const struct kprof_histogram_cell cell = {.address = address};
    h->total++;
    /* The addresses come from the kernel and not from an attacker, so the hash needs no seed. */
    uint32_t at = weft_table_get(&h->by, h->cell, sizeof cell, sizeof address, &cell, 0);
    if (at == UINT32_MAX && h->used < KPROF_HISTOGRAM_ADDRESSES)
        at = weft_table_add(&h->by, &h->cell, &h->used, &h->room, sizeof cell, sizeof address,
                            &cell, 0);
    if (at != UINT32_MAX)
        h->cell[at].ticks++;
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
