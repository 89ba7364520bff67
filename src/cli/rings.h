/* SPDX-License-Identifier: ISC */
/* Programs in OCaml 5 as they are: weft record has their runtime write its events into ring files, in a folder of its own, and takes
 * them out while the program runs. A thread does that, so that nothing else waits for it.
 *
 *     cli_rings_init(&r, …);              before the program is started
 *     cli_rings_set(&r);                  in the child, which becomes the program
 *     cli_rings_start(&r, …);             when it is known which process that is
 *     cli_rings_stop(&r);                 when it has ended, also if it could not be started */
#ifndef WEFT_CLI_RINGS_H
#define WEFT_CLI_RINGS_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CLI_RINGS_MAX 64 /* processes at a time; others wait until one has ended */

struct sample_drain;

struct cli_rings_program {
    const char *path; /* of its trace */
    const char *
        children; /* pattern of those of other processes, as cli_children_pattern has it; "": they are left out */
    char *const *argv;
    uint64_t bytes;    /* of each trace */
    uint64_t begun_ns; /* CLOCK_MONOTONIC: when that began */
    pid_t pid;
};

struct cli_rings {
    char folder[PATH_MAX]; /* "": nothing is recorded */
    bool own;              /* the folder is ours */
    bool preserve;         /* files stay there */
    unsigned log2_words;   /* of a ring; 0: as the user has set it */
    struct cli_rings_program program;
    struct sample_drain *drain[CLI_RINGS_MAX];
    unsigned drains;
    pid_t *done; /* whose files stay, and have been read */
    unsigned dones, done_room;
    unsigned silent;       /* traces of others that say nothing but that there were collections */
    int folder_watch, end; /* inotify; an eventfd */
    pthread_t thread;
    bool runs;
    int error;
};

/* Finds a place for ring files. If there is none, nothing is recorded of OCaml. */
void cli_rings_init(struct cli_rings *r);

/* Sets the environment. */
void cli_rings_set(const struct cli_rings *r);

void cli_rings_start(struct cli_rings *r, const struct cli_rings_program *p);

/* The program has ended: takes out the rest, removes what is not needed any more. Says what is wrong. */
void cli_rings_stop(struct cli_rings *r);

#endif
