/* SPDX-License-Identifier: ISC */
/* Programs in OCaml 5 as they are: weft record has their runtime write its events into ring files, in a folder of its own, and takes
 * them out while the program runs. A thread does that, so that nothing else waits for it.
 *
 *     weft__rings_init(&r, …);              before the program is started
 *     weft__rings_set(&r);                  in the child, which becomes the program
 *     weft__rings_start(&r, …);             when it is known which process that is
 *     weft__rings_stop(&r);                 when it has ended, also if it could not be started */
#ifndef WEFT_CLI_RINGS_H
#define WEFT_CLI_RINGS_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WEFT__RINGS_MAX 64 /* processes at a time; others wait until one has ended */

struct weft__drain;

struct weft__rings_program {
    const char *path; /* of its trace */
    const char *
        children; /* pattern of those of other processes, as weft__children_pattern has it; "": they are left out */
    char *const *argv;
    uint64_t bytes;    /* of each trace */
    uint64_t begun_ns; /* CLOCK_MONOTONIC: when that began */
    pid_t pid;
};

struct weft__rings {
    char folder[PATH_MAX]; /* "": nothing is recorded */
    bool own;              /* the folder is ours */
    bool preserve;         /* files stay there */
    unsigned log2_words;   /* of a ring; 0: as the user has set it */
    struct weft__rings_program program;
    struct weft__drain *drain[WEFT__RINGS_MAX];
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
void weft__rings_init(struct weft__rings *r);

/* Sets the environment. */
void weft__rings_set(const struct weft__rings *r);

void weft__rings_start(struct weft__rings *r, const struct weft__rings_program *p);

/* The program has ended: takes out the rest, removes what is not needed any more. Says what is wrong. */
void weft__rings_stop(struct weft__rings *r);

#endif
