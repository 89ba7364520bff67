/* SPDX-License-Identifier: ISC */
/* Sampling into a file: what weft sample and weft record --sample share. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sample/file.h"
#include "sample/sampler.h"

/* What --low means, besides the sampler's options. */
#define CLI_LOW_HZ 99
#define CLI_LOW_STEP_MS 500

struct cli_sampling {
    struct weft_sampler *sampler;
    struct weft_samples_file *file;
    int fd;                   /* of the file; -1: none */
    char path[PATH_MAX + 16]; /* where it is */
    char temporary[PATH_MAX + 32];
    const char *name; /* for messages */
    uint64_t begun_ns, flushed_ns, ended_ns;
    int step_ms;  /* how often it looks, unless a ring fills faster */
    int flush_ms; /* … and writes what there is */
    bool failed;  /* the reason was printed; what was written before is readable */
    bool stopped;
};

/* What was sampled; valid for a finished file. */
struct cli_sampled {
    struct weft_sampler_counts by; /* the sampler */
    uint64_t samples, threads, own, span_ns;
    uint64_t kept; /* samples that are in the file: of a ring the others were overwritten */
    bool cut;      /* the file could not be completed: samples and span describe what it contains */
};

/* Opens the sampler; on failure prints why and returns false. Its notes are printed. */
bool cli_sampling_open(struct cli_sampling *s, const char *name,
                       const struct weft_sampler_options *o);

/* Begins a file of samples on fd, an empty file. ring_bytes: 0, or how large it may become. argv: of the program, or NULL.
 * Returns 0 or a negative WEFT_E code. */
int cli_sampling_begin(struct weft_samples_file **file, int fd,
                       const struct weft_sampler_options *o, uint64_t ring_bytes, char *const *argv,
                       struct weft_error *err);

/* Begins a file of samples under a name next to path; cli_sampling_settle renames it to path. ring_bytes: 0, or how
 * large the file may become. On failure prints why. */
bool cli_sampling_create(struct cli_sampling *s, const char *path,
                         const struct weft_sampler_options *o, uint64_t ring_bytes,
                         char *const *argv);

/* Gives the file its name; an existing trace becomes FILE.old. On failure prints why. */
bool cli_sampling_settle(struct cli_sampling *s);

/* Returns true if the file may be put there: the folder exists, and there is nothing or only a trace. Otherwise prints
 * why not. */
bool cli_sampling_check(const char *path, const char *name);

/* Waits a while, and writes what there is. */
void cli_sampling_step(struct cli_sampling *s);

/* Stops the sampler and writes the rest. */
void cli_sampling_stop(struct cli_sampling *s);

/* Resolves the names of what was sampled, counts it, and completes the file. symbols: put names into the file. False:
 * something failed, which is printed. */
bool cli_sampling_end(struct cli_sampling *s, bool symbols, struct cli_sampled *counts);

/* Frees s; a file without its final name is removed. */
void cli_sampling_close(struct cli_sampling *s);

/* "weft: NAME: 12,345 samples of 3 threads in 10.2 s; 0 lost", how the program ended, unless status is NULL, and how to
 * look at the file of that name. Then prints, in separate lines, what is unusual. */
void cli_sampling_tell(const struct cli_sampled *c, const char *name, const int *status);
