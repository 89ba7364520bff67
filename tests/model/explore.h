/* SPDX-License-Identifier: ISC */
/* Runs a scene, some threads of the real recorder, again and again, each time in another way, until every way within the
 * scene's limits has been tried.
 *
 * The threads are coroutines of one OS thread. They change hands only before an access to memory that several of them
 * use, one of them to write (memory.c knows which); everything else commutes. A way is a list of choices: which thread goes
 * on, and, where the memory model leaves several values to a load, which of them it gets. The first choice is always the
 * plain one: the same thread goes on, the newest value. Depth first, the others are tried from the last choice on; each way
 * is run from the beginning.
 *
 * What is tried: all ways with at most `preemptions` changes of a thread that could have gone on, and `stale` loads of
 * another value than the newest. UNLIMITED is what it says. Ways that only differ in the order of accesses that do
 * not meet come to the same state, which is known by a hash and looked at once. The hash has 64 bits: among 10^7 states, two
 * different ones are taken for the same with a probability of 1 in 360 000. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { THREADS = 4, UNLIMITED = 7 };

struct scene {
    const char *name;
    void (*set_up)(void); /* once, before there are threads */
    void (*thread[THREADS])(void);
    void (*at_end)(void); /* what must hold when all threads have ended, or NULL */
    uint8_t preemptions, stale;
    uint8_t flags; /* of the following */
};

enum {
    LEAVE = 1,   /* threads end, and leave their packets to others */
    FOREIGN = 2, /* bytes of words are stored, by weft ctl */
    NO_KILL = 4, /* the file is not judged meanwhile */
    FIRST = 8,   /* thread 0 begins, and is the only one that sees old values */
};

struct explored {
    uint64_t runs, states;
    double seconds;
    const char *wrong; /* NULL: nothing is */
    bool all;          /* else there were too many states */
};

/* tell: print the way to what is wrong. */
struct explored explore(const struct scene *s, bool tell);

/* The thread that runs: 0 is the scene's first. */
extern unsigned self;

/* How many threads the scene has. */
unsigned explore_threads(void);

/* It is being printed what happens. */
extern bool telling;

/* What happens was not looked at before: else it repeats the beginning of another way. */
bool is_new(void);

/* Which of so many values a load gets; 0: the newest. */
unsigned choose_value(unsigned values);

/* The running thread is about to use memory that others use, too: another one may go on first. */
void point(void);

/* It cannot go on before another one has. If none can, it sees all that was stored, as in the end everybody does; it must
 * not wait again then. */
void wait_for_others(void);

/* Others have not ended. */
bool others_run(void);

/* This way ends: something is wrong; or a location turns out to be used by several threads, so begin again. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void begin_again(void);
