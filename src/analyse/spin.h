/* SPDX-License-Identifier: ISC */
/* Runs without progress: spin.c finds them, spin_judge.c judges a series. Internal to analyse. */
#pragma once

#include "analyse/judge.h"
#include "analyse/loop.h"

#define ANALYSE_SPIN_GAP (5 * ANALYSE_MS) /* after a longer gap it is another series */
/* … but a promise that wakes itself cannot have slept: the machine was busy */
#define ANALYSE_SPIN_LONG_GAP (100 * ANALYSE_MS)
#define ANALYSE_SPIN_NOTHING 200     /* ns of a run that is too short to do anything at all */
#define ANALYSE_SPIN_NO_TIME 3000    /* … too short to ask much of anybody outside */
#define ANALYSE_SPIN_FEW 10000       /* … only enough to check whether something has happened */
#define ANALYSE_SPIN_SHORT 20000     /* … too short to do much */
#define ANALYSE_SPIN_SLICE 100000    /* ns of a run that may be real work */
#define ANALYSE_SPIN_LONG ANALYSE_MS /* from this length on, others may have had the core */
#define ANALYSE_SPIN_CORE ANALYSE_MS /* … but not before a thread had the core for this long */

/* Lengths of something that repeats; long ones are counted separately. */
struct analyse_lengths {
    int64_t short_ns, long_ns;
    uint64_t shorts, longs;
};

enum analyse_waker {
    ANALYSE_BY_ITSELF,
    ANALYSE_BY_LOOP,
    ANALYSE_BY_NOBODY,   /* it just ran */
    ANALYSE_BY_PARTNERS, /* a few promises that wake each other */
    ANALYSE_WAKERS
};

enum analyse_spin_end { ANALYSE_SPIN_ENDED, ANALYSE_SPIN_ENDED_BY_OTHER, ANALYSE_SPIN_ENDLESS };

struct analyse_series {
    uint32_t promise, stream;
    /* one of those that wake each other; how many there are besides it */
    uint32_t partner, partners;
    int64_t from_ns, last_ns;
    int64_t before_ns; /* the second last wake */
    uint64_t wakes[ANALYSE_WAKERS];
    /* If wakes are not recorded: waits that only a wake of that sort can have ended: */
    uint64_t waits[2];
    uint32_t waited; /* what it last waited for, or WEFT_ROOT */
    bool polls;      /* the stream checks for news in between */
    enum analyse_spin_end ending;
    struct analyse_lengths ran;
    int64_t ran_ns, idle_ns; /* without the time in which others may have had the core */
    uint64_t progress;       /* things that may be useful to others */
    struct analyse_verdict verdict;
};

struct analyse_spins {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_series best; /* of the current promise */
    struct analyse_spin {       /* the worst spin of each family */
        struct analyse_series worst;
        uint32_t family;
        uint64_t count;
        int64_t cost_ns;
    } * found;
    uint32_t founds, room;
    uint32_t *found_of;  /* by family, or WEFT_NONE */
    bool *shared;        /* by promise */
    uint64_t steps_left; /* limits for interactions and labels that are visited again, … */
    uint64_t idles_left; /* … and for idle times */
};

/* In the header, since these are called for each interaction. */
static inline uint64_t analyse_spin_wakes(const struct analyse_series *x, enum analyse_waker by)
{
    return by <= ANALYSE_BY_LOOP && x->waits[by] > x->wakes[by] ? x->waits[by] : x->wakes[by];
}

/* The total. */
static inline uint64_t analyse_spin_runs(const struct analyse_series *x)
{
    uint64_t n = 0;
    for (unsigned by = 0; by < ANALYSE_WAKERS; by++)
        n += analyse_spin_wakes(x, by);
    return n;
}

void analyse_length_add(struct analyse_lengths *l, int64_t length_ns);

/* Marks promises that others use than the one that made them. */
void analyse_spins_share(struct analyse_spins *k);
/* Returns true if another promise uses q. */
bool analyse_spin_serves(const struct analyse_spins *k, uint32_t q, uint32_t self);
/* What resolved q, or last notified it before a time: interaction and promise; or WEFT_NONE. */
uint32_t analyse_spin_wake(const struct weft_history *h, uint32_t q, int64_t time_ns);
uint32_t analyse_spin_waker(const struct weft_history *h, uint32_t q, int64_t time_ns);

/* How many labels and counters changed during a series. */
uint64_t analyse_spin_marks(struct analyse_spins *k, const struct analyse_series *x);

/* Judges a series, and stores it if it is a spin. */
void analyse_spin_keep(struct analyse_spins *k, struct analyse_series x);
