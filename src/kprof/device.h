/* SPDX-License-Identifier: ISC */
/* Akaros's profiling device: its files, without a file system around them. What happens on the machine is a host
 * (kprof/linux.h, or a test's), who says in turn which samples were taken.
 *
 *     weft_kprof_new(&k, &options, &host);
 *     weft_kprof_write(k, WEFT_KPROF_KPCTL, "optimer 0 on", 12, &writer);
 *     weft_kprof_write(k, WEFT_KPROF_KPCTL, "opstart", 7, &writer);
 *     …
 *     h = weft_kprof_open(k, WEFT_KPROF_KPOPROFILE, uid);
 *     n = weft_kprof_read(h, buffer, sizeof buffer, 0);
 *     weft_kprof_close(h);
 *
 * One thread. Nothing here waits: who reads where there is nothing yet is told to come back (WEFT_KPROF_WAIT). */
#ifndef WEFT_KPROF_DEVICE_H
#define WEFT_KPROF_DEVICE_H

#include "format/error.h"
#include "kprof/histogram.h"
#include "kprof/stream.h"

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
    WEFT_KPROF_AUTO, /* records; the histogram from start or startclr on until it is stopped and cleared */
    WEFT_KPROF_RECORDS,
    WEFT_KPROF_HISTOGRAM,
};

struct weft_kprof_options {
    enum weft_kprof_kpdata kpdata;
    uint64_t queue_bytes;    /* of each queue; 0: 64 MiB */
    uint32_t user_frames;    /* addresses of a user's sample; 0: 1 */
    const char *stat;        /* NULL: /proc/stat */
    uint32_t ticks_a_second; /* of it; 0: 100 */
};

/* The machine. What it calls back is weft_kprof_take_…, only from within stop and read of its own. */
struct weft_kprof_host {
    uint32_t cores; /* highest number + 1 */
    void *data;
    uint64_t (*now)(void *data); /* ns; the clock of samples */

    /* Timers. core UINT32_MAX: all. WEFT_E_INVALID: no such core, or not possible; others: err says why. */
    int (*core)(void *data, uint32_t core, bool on, struct weft_error *err);
    int (*period)(void *data, uint64_t ns, struct weft_error *err);

    /* From now on ticks are taken. First comes what there is: mappings and processes. */
    int (*start)(void *data, struct weft_error *err);
    /* Not any more; everything that was taken until now is handed out. */
    void (*stop)(void *data);

    uint64_t (*slowed)(void *data); /* how often it ticked slower than asked for; may be NULL */
    kprof_name_fn *name;            /* of a function of the kernel; may be NULL */
    void (*print)(void *data, const char *line); /* on the console; may be NULL */
};

struct weft_kprof;
struct weft_kprof_handle;

int weft_kprof_new(struct weft_kprof **out, const struct weft_kprof_options *o,
                   const struct weft_kprof_host *host);
void weft_kprof_free(struct weft_kprof *k); /* handles have been closed; does not call the host */

/* ---- What the host tells ---- */

void weft_kprof_take_sample(struct weft_kprof *k, const struct weft_kprof_sample *s);
void weft_kprof_take_mapping(struct weft_kprof *k, const struct weft_kprof_mapping *m);
void weft_kprof_take_process(struct weft_kprof *k, uint64_t time_ns, uint32_t process,
                             const char *path);
void weft_kprof_take_lost(struct weft_kprof *k, uint64_t count);
void weft_kprof_take_trouble(struct weft_kprof *k, const char *text); /* into kptrace */

/* Whether mappings and processes are of any use now. */
bool weft_kprof_wants_mappings(const struct weft_kprof *k);

/* Puts buffers of cores into the queue that have waited too long. To be called now and then. */
void weft_kprof_flush(struct weft_kprof *k);

/* ---- Files ---- */

struct weft_kprof_writer {
    uint32_t uid;  /* whose error it is */
    uint32_t core; /* on which it ran */
};

/* A write of size bytes, wherever. 0, or a negative errno; what was wrong is then in the file "error". */
int weft_kprof_write(struct weft_kprof *k, enum weft_kprof_file file, const char *text, size_t size,
                     const struct weft_kprof_writer *w);

/* For one reader. NULL: no memory. */
struct weft_kprof_handle *weft_kprof_open(struct weft_kprof *k, enum weft_kprof_file file,
                                          uint32_t uid);
void weft_kprof_close(struct weft_kprof_handle *h);

#define WEFT_KPROF_WAIT (-1000000)

/* Reads at most size bytes; offset matters only to texts. Returns how many, 0 at the end, a negative errno, or
 * WEFT_KPROF_WAIT: there is nothing as yet. */
ptrdiff_t weft_kprof_read(struct weft_kprof_handle *h, void *to, size_t size, uint64_t offset);

/* Whether weft_kprof_read would not say WEFT_KPROF_WAIT. */
bool weft_kprof_ready(const struct weft_kprof_handle *h);

/* Ends collecting and the histogram, so that nobody has to wait any more. */
void weft_kprof_end(struct weft_kprof *k);

#endif
