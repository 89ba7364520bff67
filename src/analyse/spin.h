/* SPDX-License-Identifier: ISC */
/* Runs without any progress: how they are found (spin.c: by who wakes whom; spin_runs.c: by what runs), and what such
 * a series was like (spin_judge.c); inside of analyse. */
#ifndef WEFT_ANALYSE_SPIN_H
#define WEFT_ANALYSE_SPIN_H

#include "analyse/judge.h"
#include "analyse/loop.h"

#define WEFT__SPIN_GAP (5 * WEFT__MS) /* later is another series */
/* … but a promise that wakes itself cannot have slept: the machine was busy */
#define WEFT__SPIN_LONG_GAP (100 * WEFT__MS)
#define WEFT__SPIN_NOTHING 200   /* ns of a run in which nothing at all can be done */
#define WEFT__SPIN_NO_TIME 3000  /* … in which nobody outside can be asked for much */
#define WEFT__SPIN_FEW 10000     /* … in which one only looks whether something has happened */
#define WEFT__SPIN_SHORT 20000   /* … in which not much can be done */
#define WEFT__SPIN_SLICE 100000  /* a piece of real work */
#define WEFT__SPIN_LONG WEFT__MS /* from here on others may have had the core */
#define WEFT__SPIN_CORE WEFT__MS /* … but not before a thread had it for so long */

/* Of what happens again and again: long ones apart. */
struct weft__lengths {
    int64_t short_ns, long_ns;
    uint64_t shorts, longs;
};

enum weft__waker {
    WEFT__BY_ITSELF,
    WEFT__BY_LOOP,
    WEFT__BY_NOBODY,   /* it was simply run */
    WEFT__BY_PARTNERS, /* a few that wake each other */
    WEFT__WAKERS
};

enum weft__spin_end { WEFT__SPIN_ENDED, WEFT__SPIN_ENDED_BY_OTHER, WEFT__SPIN_ENDLESS };

struct weft__series {
    uint32_t promise, stream;
    uint32_t partner, partners; /* one of those who wake each other, how many they are besides it */
    int64_t from_ns, last_ns;
    int64_t before_ns; /* the last wake but one */
    uint64_t wakes[WEFT__WAKERS];
    /* That nothing but a wake of that sort can have ended, where wakes are not recorded: */
    uint64_t waits[2];
    uint32_t waited; /* for which it waited last, or WEFT_ROOT */
    bool polls;      /* the stream asks for news in between */
    enum weft__spin_end ending;
    struct weft__lengths ran;
    int64_t ran_ns, idle_ns; /* without what may be due to others that had the core */
    uint64_t progress;       /* things that may be of use to others */
    struct weft__verdict verdict;
};

struct weft__spins {
    struct weft__loops *l;
    struct weft__search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct weft__series best; /* of the promise that is looked at */
    struct weft__spin {       /* the worst of each family */
        struct weft__series worst;
        uint32_t family;
        uint64_t count;
        int64_t cost_ns;
    } * found;
    uint32_t founds, room;
    uint32_t *found_of;    /* by family, or WEFT_NONE */
    unsigned char *shared; /* a bit for each promise */
    uint64_t steps_left;   /* along interactions and labels that were seen already, … */
    uint64_t idles_left;   /* … and idle times */
};

/* In the header, since they are asked for at each interaction. */
static inline uint64_t weft__spin_wakes(const struct weft__series *x, enum weft__waker by)
{
    return by <= WEFT__BY_LOOP && x->waits[by] > x->wakes[by] ? x->waits[by] : x->wakes[by];
}

/* All of them. */
static inline uint64_t weft__spin_runs(const struct weft__series *x)
{
    uint64_t n = 0;
    for (unsigned by = 0; by < WEFT__WAKERS; by++)
        n += weft__spin_wakes(x, by);
    return n;
}

void weft__length_add(struct weft__lengths *l, int64_t length_ns);

/* Notes what is used by others than the one who made it. */
void weft__spins_share(struct weft__spins *k);
/* Whether somebody else uses q. */
bool weft__spin_serves(const struct weft__spins *k, uint32_t q, uint32_t self);
/* What resolved q, or notified it last before a time: an interaction, or WEFT_NONE. And who did that. */
uint32_t weft__spin_wake(const struct weft_history *h, uint32_t q, int64_t time_ns);
uint32_t weft__spin_waker(const struct weft_history *h, uint32_t q, int64_t time_ns);

/* Changes of labels and of counters during a series. */
uint64_t weft__spin_marks(struct weft__spins *k, const struct weft__series *x);

/* Judges a series, and keeps it if it is a spin. */
void weft__spin_keep(struct weft__spins *k, struct weft__series x);

/* Those that are not found along the interactions of a promise. */
void weft__spins_of_stream(struct weft__spins *k, uint32_t stream);
void weft__spins_repeated(struct weft__spins *k);
void weft__spins_exchanged(struct weft__spins *k, uint32_t stream);

#endif
