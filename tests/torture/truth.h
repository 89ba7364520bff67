/* SPDX-License-Identifier: ISC */
/* A program whose every call is known: threads that create, await and resolve each other's promises, and
 * write down, in memory that they share with the test, what they are about to do and what they have done.
 * Whenever such a program is stopped, truth.c knows what its trace must show, but for one call of each
 * thread; verify.c compares.
 *
 *     struct truth *w = truth_new();           in the test; the program is its child
 *     w->plan = (struct truth_plan){.threads = 3, .cells = 1000, .seed = 1};
 *     if (fork() == 0)
 *         truth_run(w, 0);                     this thread and the others: until the end of all
 *     …                                        the child ends, somehow
 *     verify_promises(&snapshot, NULL, path, …) and verify_calls(w, path, …)
 *
 * Calls are of two kinds: counters and short-lived promises, which fill the ring, and steps in the life of
 * the promises in the table, each of which any thread may take. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRUTH_THREADS = 16,
    TRUTH_LOG = 1 << 20,   /* calls of each thread that are remembered */
    TRUTH_CELLS = 1 << 16, /* promises at once, at most */
    TRUTH_LINKS = 1 << 10, /* promises of each thread that became others that are remembered */
    TRUTH_ALARM = 1700,    /* seconds after which a program of a test ends by itself */
};

/* What may happen to a pending promise, each once. It is more than fits into the notes of a promise whose events
 * are overwritten: a label, a notify, waits of different readers. */
enum { TRUTH_WAITERS = 6 };
enum truth_step {
    STEP_LABEL = 1,
    STEP_MARK = 2,
    STEP_BACKGROUND = 4,
    STEP_NOTIFY = 8,
    STEP_WAIT = 16, /* of the first one; the others are above it */
    STEPS = 4 + TRUTH_WAITERS,
};

enum truth_stage { STAGE_FREE, STAGE_CREATING, STAGE_PENDING, STAGE_ENDING };

/* A promise of the table, the present one in its place. */
struct truth_cell {
    uint32_t version; /* odd: a thread is at it */
    uint32_t text;    /* its first label; the one of STEP_LABEL is text + 1 */
    uint64_t id;      /* 0: not known yet */
    uint64_t creator, waiter[TRUTH_WAITERS], notifier;
    uint64_t before_ns, after_ns; /* its creation lies between, CLOCK_MONOTONIC */
    uint8_t stage;                /* enum truth_stage */
    uint16_t begun, done;         /* steps */
    bool unknown;                 /* in a snapshot: it was changing */
};

/* A call as the reader must tell it. */
struct truth_call {
    uint64_t a, b;
    uint32_t text; /* see truth_text; 0: none */
    uint8_t kind;
};

/* A promise of the table that became another one of it: who waits for it waits for that one. */
struct truth_link {
    uint64_t id, became;
    uint64_t waiter[TRUTH_WAITERS +
                    1]; /* those that had begun to wait by then; and one that began later, or 0 */
    uint16_t waits;     /* which of them, by bits: their calls have returned */
    bool done;          /* the call that says what it became has returned */
};

struct truth_thread {
    uint64_t links;
    struct truth_link link[TRUTH_LINKS]; /* link n is in place n % TRUTH_LINKS */
    uint32_t tid;
    uint64_t begun, done;   /* calls */
    uint64_t made;          /* promises of the table that it has begun to create */
    uint64_t numbers;       /* of its own */
    uint64_t filler;        /* the short-lived promise that is pending; 0: none, or not known yet */
    bool filler_open;       /* there may be one */
    uint64_t floor;         /* calls that had returned when weft_stop was called */
    uint64_t running, dice; /* for the thread itself */
    unsigned char apart[64];
};

struct truth_plan {
    unsigned threads;
    bool own;           /* numbers of its own (weft_create_id) */
    bool late;          /* who waits may begin to when that has become another one */
    unsigned few_waits; /* not so many of TRUTH_WAITERS wait for a promise */
    uint32_t cells;     /* promises in the table */
    uint32_t old;       /* the first of them are never resolved */
    uint32_t share;     /* of steps that concern the table, in 1024 */
    uint32_t labels;    /* different ones; 0: each promise has its own */
    uint64_t seed;
    uint64_t steps; /* of each thread; 0: no end */
};

struct truth {
    struct truth_plan plan;
    uint32_t ready, stop; /* threads that have begun; set: they shall end */
    int error;            /* of weft_start; 1: not called yet */
    struct truth_thread thread[TRUTH_THREADS];
    struct truth_cell cell[TRUTH_CELLS];
    struct truth_call log[TRUTH_THREADS][TRUTH_LOG]; /* call n is in place n % TRUTH_LOG */
};

/* Memory to be shared with children that are forked afterwards. NULL: there is none. */
struct truth *truth_new(void);

/* As new, but for the log, which needs none of it. */
void truth_clear(struct truth *w);

/* What thread t does, for truth_run, or step by step. Before the first step: truth_begin. */
void truth_begin(struct truth *w, unsigned t);
void truth_step(struct truth *w, unsigned t);
bool truth_step_cell(struct truth *w,
                     unsigned t); /* of a promise of the table; false: there was none */
void *truth_run(struct truth *w, unsigned t);

/* Creates those promises of the table and takes some of their steps, in the calling thread, as thread t. */
void truth_fill(struct truth *w, unsigned t, uint32_t from, uint32_t to);

/* Begins the threads but for the first. Returns 0 or an error number. */
int truth_start_threads(struct truth *w);

/* Writes the text with that number. */
void truth_text(char out[32], uint32_t text);

/* The table as it is; live: while threads change it. The caller frees cell. */
struct truth_snapshot {
    struct truth_cell *cell;
    struct truth_thread thread[TRUTH_THREADS];
    uint32_t cells;
    unsigned threads;
};

/* The link with that number of a thread which has it, if it is not too long ago; or NULL. */
const struct truth_link *truth_link(const struct truth_thread *t, uint64_t n);
void truth_snap(struct truth_snapshot *out, struct truth *w, bool live);

uint64_t truth_now_ns(void);
uint64_t truth_dice(uint64_t *state);
