/* SPDX-License-Identifier: ISC */
/* The greatest few of many: the longest promises, the hottest functions. */
#pragma once

#include <stdint.h>

#define WEFT_GREATEST_MAX 10

struct weft_greatest {
    uint32_t item[WEFT_GREATEST_MAX]; /* the greatest first */
    int64_t value[WEFT_GREATEST_MAX], second[WEFT_GREATEST_MAX];
    uint32_t count, room; /* room: how many are wanted, 1 to WEFT_GREATEST_MAX */
};

/* If values are equal, second decides; then the one that was added first. */
void weft_greatest_add(struct weft_greatest *g, uint32_t item, int64_t value, int64_t second);
