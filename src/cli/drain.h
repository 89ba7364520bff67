/* SPDX-License-Identifier: ISC */
/* A ring file of OCaml's runtime (format/ocaml.h) into a trace, while the process runs that writes it. What cannot be read or
 * written is lost and counted, never waited for. One thread at a time. */
#ifndef WEFT_CLI_DRAIN_H
#define WEFT_CLI_DRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct weft__drain;

struct weft__drain_options {
    const char *events; /* the ring file */
    const char *path;   /* of the trace */
    char *const
        *argv; /* if the process cannot be asked for its command line any more; NULL: not known */
    uint64_t bytes;    /* how large the trace may become */
    uint64_t since_ns; /* CLOCK_MONOTONIC: a trace of the process that began later is its own */
    pid_t pid;
};

/* NULL: no memory. */
struct weft__drain *weft__drain_new(const struct weft__drain_options *o);

/* Takes out what is there. Returns how full the fullest ring was, in thousandths; 1000: it ran over. */
unsigned weft__drain_round(struct weft__drain *d);

/* Whether the process has ended. */
bool weft__drain_ended(const struct weft__drain *d);

pid_t weft__drain_pid(const struct weft__drain *d);

/* Whether there is a trace, and it is worth keeping beside others: the program has said something itself. */
bool weft__drain_is_there(const struct weft__drain *d);
bool weft__drain_says(const struct weft__drain *d);

/* 0, or the errno with which the trace could not be written. */
int weft__drain_error(const struct weft__drain *d);

/* Says in the trace how the process stands. keep: false removes the trace. Frees. */
void weft__drain_close(struct weft__drain *d, bool keep);

#endif
