/* SPDX-License-Identifier: ISC */
/* Encodes the records of Akaros's two streams: version 1 (kpoprofile), and the typed records of October 2015
 * (kpdata). */
#ifndef WEFT_KPROF_STREAM_H
#define WEFT_KPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KPROF_STREAM_FRAMES 127 /* maximum addresses in a record */
#define KPROF_STREAM_PATH 4095  /* maximum bytes of a path; longer ones are cut */
#define KPROF_STREAM_BYTES 4608 /* size of the longest record */

struct weft_kprof_sample {
    uint64_t time_ns;
    uint32_t process, core;
    /* The sample is in the kernel, so these are kernel addresses; otherwise the program's. */
    bool kernel;
    const uint64_t *address; /* innermost first */
    uint32_t addresses;
};

struct weft_kprof_mapping { /* of an executable file */
    uint64_t time_ns, start, size, offset;
    uint32_t process;
    const char *path;
};

/* Each function encodes a record into `to`, which has KPROF_STREAM_BYTES, and returns its size. A sample has 1
 * to KPROF_STREAM_FRAMES addresses. */
uint32_t kprof_stream_version_1(uint8_t *to, const struct weft_kprof_sample *s);
uint32_t kprof_stream_sample(uint8_t *to, const struct weft_kprof_sample *s);
uint32_t kprof_stream_mapping(uint8_t *to, const struct weft_kprof_mapping *m);
uint32_t kprof_stream_process(uint8_t *to, uint64_t time_ns, uint32_t process, const char *path);

#endif
