/* SPDX-License-Identifier: ISC */
/* Explores all states that a system can come to, one atomic step of one of its actors after the other, and
 * stops at the first that is wrong.
 *
 * States are compared by a 64-bit hash: two different ones among n are taken for one with a probability of
 * n^2 / 2^65, for 10^8 states 1 in 3700; for those of the short tier, 1 in 10^5 and less.
 *
 *     struct explored found = explore(&system, 0);
 *     if (found.wrong)
 *         printf("%s after %u steps\n", found.wrong, found.steps); */
#ifndef WEFT_TESTS_MODEL_EXPLORE_H
#define WEFT_TESTS_MODEL_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A state is a structure of state_bytes, a multiple of 8, without padding that differs. */
struct system {
    size_t state_bytes;
    unsigned moves; /* of all actors, at most: each has a number */
    void (*first)(void *state);
    /* Makes the move with that number in *state. False: it cannot be made now. */
    bool (*move)(void *state, unsigned number);
    /* What is wrong with the state; NULL: nothing. last: there is no move from it. */
    const char *(*wrong)(const void *state, bool last);
    /* Prints what the move did. */
    void (*tell)(const void *before, unsigned number, const void *after);
};

struct explored {
    uint64_t states, moves;
    unsigned depth;
    double seconds;
    const char *wrong; /* NULL: no state is */
    unsigned steps;    /* to the wrong one */
    bool all;          /* else there was no more memory */
};

/* most: states, then it gives up; 0: as many as fit into 2^31 entries. tell: prints the way to what is wrong. */
struct explored explore(const struct system *s, uint64_t most, bool tell);

#endif
