/* SPDX-License-Identifier: ISC */
/* Runs without any progress: how they are found (spin.c: by who wakes whom; spin_runs.c: by what runs), and what such
 * a series was like (spin_judge.c); inside of analyse. */
#ifndef WEFT_ANALYSE_SPIN_H
#define WEFT_ANALYSE_SPIN_H

#include "analyse/judge.h"
#include "analyse/loop.h"

#define ANALYSE_SPIN_GAP (5 * ANALYSE_MS) /* later is another series */
/* … but a promise that wakes itself cannot have slept: the machine was busy */
#define ANALYSE_SPIN_LONG_GAP (100 * ANALYSE_MS)
#define ANALYSE_SPIN_NOTHING 200  /* ns of a run in which nothing at all can be done */
#define ANALYSE_SPIN_NO_TIME 3000 /* … in which nobody outside can be asked for much */
#define ANALYSE_SPIN_FEW 10000    /* … in which one only looks whether something has happened */
#define ANALYSE_SPIN_SHORT 20000  /* … in which not much can be done */
#define ANALYSE_SPIN_SLICE 100000 /* a piece of real work */
#define ANALYSE_SPIN_LONG ANALYSE_MS /* from here on others may have had the core */
#define ANALYSE_SPIN_CORE ANALYSE_MS /* … but not before a thread had it for so long */

/* Of what happens again and again: long ones apart. */
struct analyse_lengths {
    int64_t short_ns, long_ns;
    uint64_t shorts, longs;
};

enum analyse_waker {
    ANALYSE_BY_ITSELF,
    ANALYSE_BY_LOOP,
    ANALYSE_BY_NOBODY,   /* it was simply run */
    ANALYSE_BY_PARTNERS, /* a few that wake each other */
    ANALYSE_WAKERS
};

enum analyse_spin_end { ANALYSE_SPIN_ENDED, ANALYSE_SPIN_ENDED_BY_OTHER, ANALYSE_SPIN_ENDLESS };

struct analyse_series {
    uint32_t promise, stream;
    uint32_t partner, partners; /* one of those who wake each other, how many they are besides it */
    int64_t from_ns, last_ns;
    int64_t before_ns; /* the last wake but one */
    uint64_t wakes[ANALYSE_WAKERS];
    /* That nothing but a wake of that sort can have ended, where wakes are not recorded: */
    uint64_t waits[2];
    uint32_t waited; /* for which it waited last, or WEFT_ROOT */
    bool polls;      /* the stream asks for news in between */
    enum analyse_spin_end ending;
    struct analyse_lengths ran;
    int64_t ran_ns, idle_ns; /* without what may be due to others that had the core */
    uint64_t progress;       /* things that may be of use to others */
    struct analyse_verdict verdict;
};

struct analyse_spins {
    struct analyse_loops *l;
    struct analyse_search *s;
    const struct weft_history *h;
    const struct weft_model *m;
    struct analyse_series best; /* of the promise that is looked at */
    struct analyse_spin {       /* the worst of each family */
        struct analyse_series worst;
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
static inline uint64_t analyse_spin_wakes(const struct analyse_series *x, enum analyse_waker by)
{
    return by <= ANALYSE_BY_LOOP && x->waits[by] > x->wakes[by] ? x->waits[by] : x->wakes[by];
}

/* All of them. */
static inline uint64_t analyse_spin_runs(const struct analyse_series *x)
{
    uint64_t n = 0;
    for (unsigned by = 0; by < ANALYSE_WAKERS; by++)
        n += analyse_spin_wakes(x, by);
    return n;
}

void analyse_length_add(struct analyse_lengths *l, int64_t length_ns);

/* Notes what is used by others than the one who made it. */
void analyse_spins_share(struct analyse_spins *k);
/* Whether somebody else uses q. */
bool analyse_spin_serves(const struct analyse_spins *k, uint32_t q, uint32_t self);
/* What resolved q, or notified it last before a time: an interaction, or WEFT_NONE. And who did that. */
uint32_t analyse_spin_wake(const struct weft_history *h, uint32_t q, int64_t time_ns);
uint32_t analyse_spin_waker(const struct weft_history *h, uint32_t q, int64_t time_ns);

/* Changes of labels and of counters during a series. */
uint64_t analyse_spin_marks(struct analyse_spins *k, const struct analyse_series *x);

/* Judges a series, and keeps it if it is a spin. */
void analyse_spin_keep(struct analyse_spins *k, struct analyse_series x);

/* Those that are not found along the interactions of a promise. */
void analyse_spins_of_stream(struct analyse_spins *k, uint32_t stream);
void analyse_spins_repeated(struct analyse_spins *k);
void analyse_spins_exchanged(struct analyse_spins *k, uint32_t stream);

#endif
