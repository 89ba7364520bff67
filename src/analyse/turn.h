/* SPDX-License-Identifier: ISC */
/* What was ready and did not run: what turn.c finds and turn_tell.c puts into words; inside of analyse. */
#ifndef WEFT_ANALYSE_TURN_H
#define WEFT_ANALYSE_TURN_H

#include "analyse/loop.h"

#define ANALYSE_MERGED 256 /* findings with which others are compared */
#define ANALYSE_VICTIMS 3  /* of a turn; fewer are told one by one */

/* A turn of the loop that took long. */
struct analyse_turn {
    int64_t from_ns, to_ns;
    uint32_t stream, runs;
    uint32_t promise; /* the first one of the family that ran most of it; WEFT_ROOT: nobody did */
    int64_t first_ns; /* when it began */
    int64_t share_ns; /* of that family */
    uint32_t wait;    /* the one that was ready for longest, or WEFT_NONE */
    int64_t ready_ns; /* for how long */
    uint32_t victims; /* waits that were ready for long in it */
    uint32_t late;    /* waits for what the loop saw only late in it */
};

enum analyse_delay_why { ANALYSE_SLEPT, ANALYSE_OVERTAKEN, ANALYSE_QUEUED };

/* What happened while something was ready. */
struct analyse_delay {
    uint32_t wait, stream;
    int64_t from_ns, to_ns;
    enum analyse_delay_why why;
    uint32_t runs, first; /* that came before it; those that overtook it */
    uint32_t most;        /* the promise whose family ran most of that time */
    int64_t most_ns, idle_ns;
    bool other_stream; /* it was resolved on another one */
    bool was_there;    /* it was resolved before the reader began to wait */
};

struct analyse_turns {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_turn *turn; /* by stream and start */
    uint32_t turns, room, *first;
    struct analyse_slow {      /* by family of the reader */
        uint32_t worst, count; /* wait, or WEFT_NONE; how many were slow */
        uint32_t ended;        /* waits that ended in all */
        int64_t longest_ns, sum_ns;
    } * slow;
    int64_t *family_ns; /* what each family ran, where family_at is now */
    uint32_t *family_at, *promise_at, now;
    struct told { /* to join what has one cause */
        enum analyse_delay_why why;
        uint32_t family, finding;
    } told[ANALYSE_MERGED];
    uint32_t tolds;
};

/* The turn in which a time lies, or NULL. */
struct analyse_turn *analyse_turn_at(const struct analyse_turns *k, uint32_t stream,
                                     int64_t time_ns);

/* Why a wait ended late. */
struct analyse_delay analyse_delay_explain(struct analyse_turns *k, uint32_t wait);

/* What came too late, and then the turns that are not explained by that, as findings. */
void analyse_turns_tell(struct analyse_turns *k);

#endif
