/* SPDX-License-Identifier: ISC */
/* Single runs that took long: what block.c finds and block_tell.c puts into words; inside of analyse. */
#ifndef WEFT_ANALYSE_BLOCK_H
#define WEFT_ANALYSE_BLOCK_H

#include "analyse/loop.h"

#define ANALYSE_BLOCK_NAMED 8 /* harmed promises that are kept of a block */

/* Something ran for long. */
struct analyse_block {
    int64_t from_ns, to_ns;
    int64_t free_ns;                 /* when its stream was idle again */
    int64_t length_ns;               /* without what halts it (weft_history_halted) */
    uint32_t promise, stream, place; /* place in stream_run */
    uint32_t harmed;                 /* promises that ran late because of it */
    uint32_t nameds,
        named[ANALYSE_BLOCK_NAMED]; /* waits: of those, or else of who waited meanwhile */
    uint32_t waiting, needing; /* waits for anything meanwhile; of those that are not background */
    uint32_t
        pushed; /* a promise that has nothing to do with it and ran as soon as it was over, or WEFT_ROOT */
    uint32_t due; /* … or that came from outside then, as if it had been due before, or WEFT_ROOT */
    bool still;   /* it runs when the trace ends */
    bool silent; /* … and no event is later than its beginning */
    bool alone;  /* nothing else ran on its stream before it */
    bool unsure; /* its end is not known: the trace does not say when nothing runs */
};

struct analyse_blocks {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_block *block;   /* by stream and start */
    uint32_t blocks, room, *first; /* by stream */
    uint32_t *cursor;              /* of each promise: where in its interactions one was */
    uint32_t *family_runs;         /* by family: how often its promises ran */
    int64_t *family_ns;            /* … and for how long */
    uint64_t steps_left; /* a damaged trace could make the search visit them again and again */
};

/* Counts who waited during each of these, for anything. */
void analyse_blocks_waiting(struct analyse_blocks *b, struct analyse_block *const *told,
                            uint32_t tolds);

/* Reports them as findings, one for each family. */
void analyse_blocks_tell(struct analyse_blocks *b);

#endif
