/* SPDX-License-Identifier: ISC */
/* Akaros's profiling device: its files, without a file system around them. The machine is a host
 * (kprof/linux.h, or a test's). The device switches the host's timers, and the host reports the samples.
 *
 *     weft_kprof_new(&k, &options, &host);
 *     weft_kprof_write(k, WEFT_KPROF_KPCTL, "optimer 0 on", 12, &writer);
 *     weft_kprof_write(k, WEFT_KPROF_KPCTL, "opstart", 7, &writer);
 *     …
 *     h = weft_kprof_open(k, WEFT_KPROF_KPOPROFILE, uid);
 *     n = weft_kprof_read(h, buffer, sizeof buffer, 0);
 *     weft_kprof_close(h);
 *
 * For one thread. Nothing here waits: a read without data returns WEFT_KPROF_WAIT, and the caller tries again
 * later. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"

#define KPROF_STREAM_FRAMES 127 /* maximum addresses in a sample */

/* X(enumerator, name, mode) */
#define WEFT_KPROF_FILE_TABLE(X)                                                                   \
    X(KPCTL, "kpctl", 0600)                                                                        \
    X(KPOPROFILE, "kpoprofile", 0600)                                                              \
    X(KPDATA, "kpdata", 0600)                                                                      \
    X(KPTRACE, "kptrace", 0600)                                                                    \
    X(KPRINTX, "kprintx", 0600)                                                                    \
    X(MPSTAT, "mpstat", 0600)                                                                      \
    X(MPSTAT_RAW, "mpstat-raw", 0600)                                                              \
    X(ERROR, "error", 0400)

enum weft_kprof_file {
#define X(name, text, mode) WEFT_KPROF_##name,
    WEFT_KPROF_FILE_TABLE(X)
#undef X
        WEFT_KPROF_FILES,
};

enum weft_kprof_kpdata {
    WEFT_KPROF_AUTO, /* the records; or the histogram, from start or startclr until it is stopped and cleared */
    WEFT_KPROF_RECORDS,
    WEFT_KPROF_HISTOGRAM,
};

struct weft_kprof_options {
    enum weft_kprof_kpdata kpdata;
    uint64_t queue_bytes;    /* of each queue; 0: 64 MiB */
    uint32_t user_frames;    /* addresses in a sample of user space; 0: 1 */
    const char *stat;        /* NULL: /proc/stat */
    uint32_t ticks_a_second; /* unit of stat; 0: 100 */
};

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

/* Returns the name of the function at an address, or NULL. */
typedef const char *kprof_name_fn(void *data, uint64_t address);

/* The machine. It calls back weft_kprof_take_…, but only from within its stop and read. */
struct weft_kprof_host {
    uint32_t cores; /* highest number + 1 */
    void *data;
    uint64_t (*now)(void *data); /* in ns, on the clock of the samples */

    /* Switches timers. core UINT32_MAX: all. WEFT_E_INVALID: no such core, or impossible; other codes: err
     * explains. */
    int (*core)(void *data, uint32_t core, bool on, struct weft_error *err);
    int (*period)(void *data, uint64_t ns, struct weft_error *err);

    /* Begins to take samples. First it reports what exists: mappings and processes. */
    int (*start)(void *data, struct weft_error *err);
    /* Ends that; everything taken until now is handed out. */
    void (*stop)(void *data);

    uint64_t (*slowed)(void *data); /* how often the timer ran slower than requested; may be NULL */
    kprof_name_fn *name;            /* of a function of the kernel; may be NULL */
    void (*print)(void *data, const char *line); /* on the console; may be NULL */
};

struct weft_kprof;
struct weft_kprof_handle;

int weft_kprof_new(struct weft_kprof **out, const struct weft_kprof_options *o,
                   const struct weft_kprof_host *host);
void weft_kprof_free(struct weft_kprof *k); /* close all handles before; does not call the host */

/* ---- Reports of the host ---- */

void weft_kprof_take_sample(struct weft_kprof *k, const struct weft_kprof_sample *s);
void weft_kprof_take_mapping(struct weft_kprof *k, const struct weft_kprof_mapping *m);
void weft_kprof_take_process(struct weft_kprof *k, uint64_t time_ns, uint32_t process,
                             const char *path);
void weft_kprof_take_lost(struct weft_kprof *k, uint64_t count);
void weft_kprof_take_trouble(struct weft_kprof *k, const char *text); /* adds it to kptrace */

/* Returns true if mappings and processes are needed now. */
bool weft_kprof_wants_mappings(const struct weft_kprof *k);

/* Moves buffers of cores that have waited too long into the queue. Call it now and then. */
void weft_kprof_flush(struct weft_kprof *k);

/* ---- Files ---- */

struct weft_kprof_writer {
    uint32_t uid;  /* the user whose error it is */
    uint32_t core; /* the core on which it ran */
};

/* A write of size bytes, at any offset. Returns 0 or a negative errno; the file "error" then explains it. */
int weft_kprof_write(struct weft_kprof *k, enum weft_kprof_file file, const char *text, size_t size,
                     const struct weft_kprof_writer *w);

/* Opens a file for one reader. NULL: no memory. */
struct weft_kprof_handle *weft_kprof_open(struct weft_kprof *k, enum weft_kprof_file file,
                                          uint32_t uid);
void weft_kprof_close(struct weft_kprof_handle *h);

#define WEFT_KPROF_WAIT (-1000000)

/* Reads at most size bytes; offset matters only for texts. Returns the number of bytes, 0 at the end, a
 * negative errno, or WEFT_KPROF_WAIT if there is no data yet. */
ptrdiff_t weft_kprof_read(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset);

/* Returns true if weft_kprof_read would not return WEFT_KPROF_WAIT. */
bool weft_kprof_ready(const struct weft_kprof_handle *h);

/* Ends collecting and the histogram, so that no reader has to wait any longer. */
void weft_kprof_end(struct weft_kprof *k);
