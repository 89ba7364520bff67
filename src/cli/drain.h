/* SPDX-License-Identifier: ISC */
/* Copies a ring file of OCaml's runtime (format/ocaml.h) into a trace while the process that writes it runs. What
 * cannot be read or written is lost and counted; nothing waits for it. One thread at a time. */
#ifndef WEFT_CLI_DRAIN_H
#define WEFT_CLI_DRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sample_drain;

struct cli_drain_options {
    const char *events; /* the ring file */
    const char *path;   /* of the trace */
    char *const *argv;  /* if the process has no command line any more; NULL: not known */
    uint64_t bytes;     /* how large the trace may become */
    uint64_t since_ns;  /* CLOCK_MONOTONIC: a later trace is the process's own */
    pid_t pid;
};

/* NULL: no memory. */
struct sample_drain *cli_drain_new(const struct cli_drain_options *o);

/* Reads everything that is there. Returns how full the fullest ring was, in thousandths; 1000: it overflowed. */
unsigned cli_drain_round(struct sample_drain *d);

/* Returns true if the process has ended. */
bool cli_drain_ended(const struct sample_drain *d);

struct cli_drained {
    pid_t pid;
    bool
        says; /* the program itself has recorded something: the trace is worth keeping besides others */
    int error; /* 0, or the errno with which the trace could not be written */
};
const struct cli_drained *cli_drained(const struct sample_drain *d);

/* Records the state of the process in the trace, and frees d. keep: false removes the trace. */
void cli_drain_close(struct sample_drain *d, bool keep);

#endif
