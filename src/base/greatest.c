/* SPDX-License-Identifier: ISC */
#include "base/greatest.h"

void weft_greatest_add(struct weft_greatest *g, uint32_t item, int64_t value, int64_t second)
{
    uint32_t at = g->count;
    while (at > 0 &&
           (g->value[at - 1] < value || (g->value[at - 1] == value && g->second[at - 1] < second)))
        at--;
    if (at == g->room)
        return;
    uint32_t last = g->count < g->room ? g->count++ : g->room - 1;
    for (uint32_t i = last; i > at; i--) {
        g->item[i] = g->item[i - 1];
        g->value[i] = g->value[i - 1];
        g->second[i] = g->second[i - 1];
    }
    g->item[at] = item;
    g->value[at] = value;
    g->second[at] = second;
}
