/* SPDX-License-Identifier: ISC */
/* Sampling into a file: what weft sample and weft record --sample share. */
#ifndef WEFT_CLI_SAMPLING_H
#define WEFT_CLI_SAMPLING_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sample/file.h"
#include "sample/sampler.h"

struct cli_sampling {
    struct weft_sampler *sampler;
    struct weft_samples_file *file;
    int fd;                   /* of the file; -1: none */
    char path[PATH_MAX + 16]; /* where it is */
    char temporary[PATH_MAX + 32];
    const char *name; /* for messages */
    uint64_t begun_ns, flushed_ns, ended_ns;
    bool failed; /* it is said why; what was written before can be read */
    bool stopped;
};

/* What was sampled, of a file that has ended. */
struct cli_sampled {
    uint64_t samples, switches, threads, own, lost, lost_switches, throttled, bytes, span_ns;
    uint64_t given_up_ns, given_up_rate; /* as the sampler has it */
    bool cut; /* the file could not be written to the end: samples and span are what it has */
};

/* Opens the sampler; says why not, and returns false. Notes are told. */
bool cli_sampling_open(struct cli_sampling *s, const char *name,
                       const struct weft_sampler_options *o);

/* Begins a file of samples at a name beside path, which becomes path by cli_sampling_settle. Says why not. */
bool cli_sampling_create(struct cli_sampling *s, const char *path,
                         const struct weft_sampler_options *o, char *const *argv);

/* Gives the file its name; a trace that stands there becomes FILE.old. Says why not. */
bool cli_sampling_settle(struct cli_sampling *s);

/* Whether the file may stand there: there is a folder, and nothing but a trace. Says why not. */
bool cli_sampling_check(const char *path, const char *name);

/* Waits a while, and writes what there is. */
void cli_sampling_step(struct cli_sampling *s);

/* Stops the sampler and writes the rest. */
void cli_sampling_stop(struct cli_sampling *s);

/* Names what was sampled, counts it, and ends the file. symbols: put names into it. False if something failed, which
 * is said. */
bool cli_sampling_end(struct cli_sampling *s, bool symbols, struct cli_sampled *counts);

/* Frees; a file that has not got its name goes away. */
void cli_sampling_close(struct cli_sampling *s);

/* "12,345 samples of 3 threads in 10.2 s; 0 lost" */
void cli_sampling_tell(const struct cli_sampled *c);

/* Ends that line: how to look at it, in the file that is named so. Then, in lines of their own, what is not as one
 * would expect it. */
void cli_sampling_advise(const struct cli_sampled *c, const char *name);

#endif
