/* SPDX-License-Identifier: ISC */
/* Records unmodified OCaml 5 programs: weft record makes their runtime write its events into ring files, in a folder of
 * weft's own, and reads them while the program runs. A thread does that, so that nothing else waits for it.
 *
 *     cli_rings_init(&r, …);              before the program is started
 *     cli_rings_set(&r);                  in the child, which becomes the program
 *     cli_rings_start(&r, …);             when the process id is known
 *     cli_rings_stop(&r);                 when it has ended, or could not be started */
#ifndef WEFT_CLI_RINGS_H
#define WEFT_CLI_RINGS_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CLI_RINGS_MAX 64 /* processes at the same time; others wait until one has ended */

struct sample_drain;

struct cli_rings_program {
    const char *path; /* of its trace */
    const char *
        children; /* pattern of other processes' traces, from cli_children_pattern; "": they are not recorded */
    char *const *argv;
    uint64_t bytes;    /* of each trace */
    uint64_t begun_ns; /* CLOCK_MONOTONIC: when that began */
    pid_t pid;
};

struct cli_rings {
    char folder[PATH_MAX]; /* "": nothing is recorded */
    bool own;              /* the folder is ours */
    bool preserve;         /* files stay there */
    unsigned log2_words;   /* size of a ring; 0: the user's setting */
    struct cli_rings_program program;
    struct sample_drain *drain[CLI_RINGS_MAX];
    unsigned drains;
    pid_t *done; /* whose files stay, and have been read */
    unsigned dones, done_room;
    unsigned silent;       /* traces of other processes with nothing but collections */
    int folder_watch, end; /* inotify; an eventfd */
    pthread_t thread;
    bool runs;
    int error;
};

/* Finds a place for ring files. If there is none, OCaml is not recorded. */
void cli_rings_init(struct cli_rings *r);

/* Sets the environment. */
void cli_rings_set(const struct cli_rings *r);

void cli_rings_start(struct cli_rings *r, const struct cli_rings_program *p);

/* Call it when the program has ended: reads the rest and removes what is no longer needed. Prints what is wrong. */
void cli_rings_stop(struct cli_rings *r);

#endif
