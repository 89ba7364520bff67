/* SPDX-License-Identifier: ISC */
/* Writes packets of samples into a file. The file is a trace of its own that begins with facts
 * (docs/format.md), so it can be read even if the sampler is killed. Or its packets are appended to a trace
 * that was recorded at the same time (weft_samples_append). */
#pragma once

#include "sample/sampler.h"

struct weft_samples_file;

struct weft_samples_facts {
    uint32_t process; /* the process that is sampled; 0: all */
    const char *program;
    const char *const *arg;
    uint32_t args;
    /* > 0: the file is a ring of that many bytes at most: the oldest packets are overwritten, and each packet has what
     * is needed to name its samples. */
    uint64_t ring_bytes;
    uint64_t
        packets_before; /* … of the same recording in another file: packets are numbered from there on */
};

#define WEFT_SAMPLES_RING_LEAST (UINT64_C(256) << 10)

/* Begins a file on fd, which stays the caller's and must be empty and seekable. WEFT_E_INVALID: the ring is too
 * small. */
int weft_samples_begin(struct weft_samples_file **out, int fd,
                       const struct weft_samples_facts *facts, const struct weft_source *source,
                       const char *source_name, struct weft_error *err);
int weft_samples_put(struct weft_samples_file *f, const struct weft_sampled *r);

/* Writes what has not been written yet: call it at least once a second. */
int weft_samples_flush(struct weft_samples_file *f, struct weft_error *err);

/* How many samples of a ring were overwritten so far. */
uint64_t weft_samples_overwritten(const struct weft_samples_file *f);

/* Adds the symbols of a finished profile of this file, so that it can be read on other machines. In a ring they overwrite
 * the oldest packets, at most half of it: those that do not fit are of samples that are older than the others'. */
int weft_samples_put_symbols(struct weft_samples_file *f, const struct weft_profile *p,
                             struct weft_error *err);

/* Marks the file as ended and frees f, also after an error. */
int weft_samples_end(struct weft_samples_file *f, struct weft_error *err);

/* Appends the packets of samples in the file `from` to the trace `to`, with the UUID of `to`. Both are open;
 * `to` for writing. Packets of a ring whose samples are all from before since_ns (CLOCK_MONOTONIC) are left out; 0: none
 * are. */
int weft_samples_append(int to, int from, uint64_t since_ns, struct weft_error *err);

/* The number of the last packet of samples in a file that nobody writes any more. */
uint64_t weft_samples_packets(int fd);
