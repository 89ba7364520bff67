/* SPDX-License-Identifier: ISC */
/* A pool of threads that work off jobs in the order in which they come. */
#ifndef EXAMPLES_WORKERS_H
#define EXAMPLES_WORKERS_H

#include "bugs.h"

struct job {
    struct job *next;
    weft_promise id;
    void (*work)(struct job *);
    bool done;
};

void workers_start(int count);
void workers_stop(void); /* waits until all jobs are done */

/* Hands a job to the workers: job->id and job->work are set. */
void workers_add(struct job *job);

/* Blocks this thread until the job is done; what runs on it waits for the job meanwhile. */
void workers_await(struct job *job);

bool workers_are_done(const struct job *job);

/* What runs does nothing for that time. */
void sleep_for(uint64_t duration_ns);

#endif
