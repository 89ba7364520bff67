/* SPDX-License-Identifier: ISC */
/* Computes cells of the picture from cells of the index. Which intervals of the index a cell uses, and how much of
 * each, is the same for all blocks of rows and is computed once per picture. An interval that is wider than a cell
 * (because little happens there) would smear what is in it: it becomes a gap, whose lines are read one by one. Private
 * to src/view. */
#ifndef WEFT_VIEW_MIX_H
#define WEFT_VIEW_MIX_H

#include "view/canvas.h"

#define MIX_GAPS_MAX 64

struct entry {
    uint32_t at; /* cell of a block */
    uint32_t weight;
};

struct gap {
    int64_t from_ns, to_ns;
    uint32_t begin, end; /* buckets */
};

struct mix {
    uint32_t *first; /* entries of each cell; one more */
    uint32_t *begin; /* bucket in which each begins; one more */
    uint32_t *order; /* the cells, those with equally many entries together, so that a processor can
                      * predict how often a loop runs */
    struct entry *entry;
    uint32_t entries, room;
    struct gap gap[MIX_GAPS_MAX]; /* to be looked at line by line */
    uint32_t gaps, gaps_max;
    bool useful; /* there are as many buckets as cells */
};

/* The picture's mix, made on first use. NULL: no memory; list->failed is set. */
const struct mix *canvas_mix(struct canvas *c, uint32_t cells);

#endif
