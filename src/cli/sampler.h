/* SPDX-License-Identifier: ISC */
/* A process is sampled while something else goes on: by a child process, into a ring in memory that others can copy at
 * any moment, so that neither a process that lets nobody read it, nor what the sampler needs, concerns the caller.
 *     struct cli_sampler s;
 *     cli_sampler_start(&s, &(struct cli_sampler_options){.process = pid, .hz = 99, .ring_bytes = 4 << 20});
 *     while (cli_sampler_hear(&s, &what, text, sizeof text))   when s.said can be read
 *         ...
 *     cli_sampler_await(&s, cli_sampler_ask(&s)), fd = cli_sampler_copy(&s, &err);
 *     cli_sampler_stop(&s);
 * It samples as weft sample --low does. The child ends with its parent. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/error.h"

struct cli_sampler {
    pid_t pid; /* 0: none */
    int ring;  /* … and where it is */
    int ask;   /* to the child */
    int said;  /* has messages from it; -1: none */
};

#define CLI_SAMPLER_NONE                                                                           \
    {                                                                                              \
        .ring = -1, .ask = -1, .said = -1                                                          \
    }

struct cli_sampler_options {
    uint32_t process, hz;
    uint64_t ring_bytes; /* at least WEFT_SAMPLES_RING_LEAST */
};

/* Returns 0 or an errno; s is valid, also then. */
int cli_sampler_start(struct cli_sampler *s, const struct cli_sampler_options *o);

enum cli_sampler_says {
    CLI_SAMPLER_BEGAN,
    CLI_SAMPLER_NOTE,   /* what is not as it was asked for */
    CLI_SAMPLER_FAILED, /* it does not sample (any more), and has ended */
};

enum { CLI_SAMPLER_TEXT = 400 };

/* The next message, a sentence without its end; "" for BEGAN. Does not wait. Returns false if there is none. */
bool cli_sampler_hear(struct cli_sampler *s, enum cli_sampler_says *what,
                      char text[CLI_SAMPLER_TEXT]);

/* Asks that the ring get what was sampled until now, and not much more. Only one process may ask at a time. Returns when
 * that was (CLOCK_MONOTONIC), for the next function; 0: it cannot be asked. */
uint64_t cli_sampler_ask(const struct cli_sampler *s);

/* Waits until that is so, for a second at most. Returns false if it is not (yet). */
bool cli_sampler_await(const struct cli_sampler *s, uint64_t question);

/* Copies the ring, as below. */
int cli_sampler_copy(const struct cli_sampler *s, struct weft_error *err);

void cli_sampler_stop(struct cli_sampler *s);

/* ---- What was sampled ---- */

/* Copies a file of samples that is being written to, into memory. Its file is closed; it must have been opened for that.
 * Returns a descriptor, or a negative WEFT_E code: WEFT_E_LIMIT if it is larger than 256 MiB. */
int cli_samples_copy(int file, struct weft_error *err);

struct weft_profile;

/* The samples of such a copy, without names. NULL: err says why not. */
struct weft_profile *cli_samples_load(int samples, struct weft_error *err);

/* Appends a copy of samples to a trace: those since then (CLOCK_MONOTONIC), and the names of their functions, which are
 * looked up, for that time at most. A trace that has got no samples stays as it was. Returns how many there are, or a
 * negative WEFT_E code. */
int64_t cli_samples_append(int trace, int samples, uint64_t since_ns, int64_t names_ns,
                           struct weft_error *err);
