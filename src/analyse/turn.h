/* SPDX-License-Identifier: ISC */
/* What was ready and did not run: turn.c finds it and turn_tell.c describes it. Internal to
 * analyse. */
#ifndef WEFT_ANALYSE_TURN_H
#define WEFT_ANALYSE_TURN_H

#include "analyse/loop.h"

#define ANALYSE_MERGED 256 /* how many findings others are compared with */
#define ANALYSE_VICTIMS 3  /* waits in a turn; fewer are reported alone */

/* A turn of the loop that took long. */
struct analyse_turn {
    int64_t from_ns, to_ns;
    uint32_t stream, runs;
    /* the first promise of the family that ran for most of it; WEFT_ROOT: there is none */
    uint32_t promise;
    int64_t first_ns; /* when it began */
    int64_t share_ns; /* how long that family ran */
    uint32_t wait;    /* the wait that was ready for longest, or WEFT_NONE */
    int64_t ready_ns; /* how long it was ready */
    uint32_t victims; /* waits that were ready for long during it */
    uint32_t late;    /* waits for things that the loop noticed late because of it */
};

enum analyse_delay_why { ANALYSE_SLEPT, ANALYSE_OVERTAKEN, ANALYSE_QUEUED };

/* What happened while something was ready. */
struct analyse_delay {
    uint32_t wait, stream;
    int64_t from_ns, to_ns;
    enum analyse_delay_why why;
    uint32_t runs, first; /* how many came before it; how many overtook it */
    uint32_t most;        /* a promise of the family that ran for most of that time */
    int64_t most_ns, idle_ns;
    bool other_stream; /* it was resolved on another stream */
    bool was_there;    /* it was resolved before the reader began to wait */
};

struct analyse_turns {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_turn *turn; /* sorted by stream and start */
    uint32_t turns, room, *first;
    struct analyse_slow {      /* by family of the reader */
        uint32_t worst, count; /* a wait, or WEFT_NONE; how many were slow */
        uint32_t ended;        /* how many waits ended in total */
        int64_t longest_ns, sum_ns;
    } * slow;
    int64_t *family_ns; /* how long each family ran, valid where family_at is the current number */
    uint32_t *family_at, *promise_at, now;
    struct told { /* for joining what has one cause */
        enum analyse_delay_why why;
        uint32_t family, finding;
    } told[ANALYSE_MERGED];
    uint32_t tolds;
};

/* The turn that contains a time, or NULL. */
struct analyse_turn *analyse_turn_at(const struct analyse_turns *k, uint32_t stream,
                                     int64_t time_ns);

/* Why a wait ended late. */
struct analyse_delay analyse_delay_explain(struct analyse_turns *k, uint32_t wait);

/* Reports what came too late, and then the turns that this does not explain, as findings. */
void analyse_turns_tell(struct analyse_turns *k);

#endif
