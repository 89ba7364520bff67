/* SPDX-License-Identifier: ISC */
/* The records of Akaros's two streams, as bytes: version 1 (kpoprofile) and the typed records of October 2015
 * (kpdata). */
#ifndef WEFT_KPROF_STREAM_H
#define WEFT_KPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KPROF_STREAM_FRAMES 127 /* addresses of a record, at most */
#define KPROF_STREAM_PATH 4095  /* bytes of a path; longer ones are cut */
#define KPROF_STREAM_BYTES 4608 /* of the longest record */

struct weft_kprof_sample {
    uint64_t time_ns;
    uint32_t process, core;
    bool kernel; /* where it was: then these are the kernel's addresses, else the program's */
    const uint64_t *address; /* innermost first */
    uint32_t addresses;
};

struct weft_kprof_mapping { /* of an executable file */
    uint64_t time_ns, start, size, offset;
    uint32_t process;
    const char *path;
};

/* Each fills to, of KPROF_STREAM_BYTES, and returns how many bytes. Addresses: 1 to KPROF_STREAM_FRAMES. */
uint32_t kprof_stream_version_1(uint8_t *to, const struct weft_kprof_sample *s);
uint32_t kprof_stream_sample(uint8_t *to, const struct weft_kprof_sample *s);
uint32_t kprof_stream_mapping(uint8_t *to, const struct weft_kprof_mapping *m);
uint32_t kprof_stream_process(uint8_t *to, uint64_t time_ns, uint32_t process, const char *path);

#endif
