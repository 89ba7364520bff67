/* SPDX-License-Identifier: ISC */
/* Single runs that took long: block.c finds them and block_tell.c describes them. Internal to
 * analyse. */
#ifndef WEFT_ANALYSE_BLOCK_H
#define WEFT_ANALYSE_BLOCK_H

#include "analyse/loop.h"

#define ANALYSE_BLOCK_NAMED 8 /* how many harmed promises are stored for a block */

/* A long run. */
struct analyse_block {
    int64_t from_ns, to_ns;
    int64_t free_ns; /* when its stream was idle again */
    /* without the time in which it was halted (weft_history_halted) */
    int64_t length_ns;
    uint32_t promise, stream, place; /* place: in stream_run */
    uint32_t family, rank;           /* rank: a first estimate of how bad it is */
    uint32_t harmed;                 /* promises that ran late because of it */
    uint32_t nameds,
        /* waits of those, or otherwise of promises that waited in the meantime */
        named[ANALYSE_BLOCK_NAMED];
    /* waits for anything during the block; those of promises that are not background */
    uint32_t waiting, needing;
    /* a promise that is unrelated and ran as soon as the block was over, or WEFT_ROOT */
    uint32_t pushed;
    /* … or one that came from outside at that time, as if it had been due before, or WEFT_ROOT */
    uint32_t due;
    bool still;  /* it is still running when the trace ends */
    bool silent; /* … and there is no event after its beginning */
    bool alone;  /* nothing else ran on its stream before it */
    bool unsure; /* its end is not known: the trace does not say when nothing runs */
};

struct analyse_blocks {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_block *block;   /* sorted by stream and start, until they are reported */
    uint32_t blocks, room, *first; /* by stream */
    uint32_t *cursor;              /* for each promise: the current position in its interactions */
    uint32_t *family_runs;         /* by family: how often its promises ran */
    int64_t *family_ns;            /* … and for how long */
    /* limits the search: a damaged trace could make it visit them again and again */
    uint64_t steps_left;
};

/* For each of these, counts the promises that waited for anything during the block. */
void analyse_blocks_waiting(struct analyse_blocks *b, struct analyse_block *const *told,
                            uint32_t tolds);

/* Reports them as findings, one for each family. */
void analyse_blocks_tell(struct analyse_blocks *b);

#endif
