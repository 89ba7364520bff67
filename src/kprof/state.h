/* SPDX-License-Identifier: ISC */
/* Shared by the files of the device. */
#ifndef WEFT_KPROF_STATE_H
#define WEFT_KPROF_STATE_H

#include "kprof/device.h"
#include "kprof/log.h"
#include "kprof/mpstat.h"
#include "kprof/queue.h"

enum kprof_stream { KPROF_KPOPROFILE, KPROF_KPDATA, KPROF_STREAMS };

#define KPROF_CORE_BYTES (16u << 10) /* size of a core's buffer */
#define KPROF_KERNEL_FRAMES 16u      /* addresses in a sample of the kernel */
#define KPROF_PERIOD_US 1000u
#define KPROF_REFUSALS 16u

struct kprof_buffer { /* records of one core, each after its size */
    uint8_t *bytes;   /* NULL before the first record */
    uint32_t used;
    uint64_t since_ns; /* time of the oldest record */
};

struct kprof_core {
    bool on;         /* its timer is on */
    uint64_t off_ns; /* since when it is off */
    struct kprof_buffer buffer[KPROF_STREAMS];
};

struct kprof_refusal {
    bool used;
    uint32_t uid;
    uint64_t number; /* for finding the oldest one */
    char text[256];
};

struct weft_kprof {
    struct weft_kprof_options o;
    struct weft_kprof_host host;
    struct kprof_core *core; /* host.cores elements */
    uint64_t period_us;

    bool collecting, counting;           /* counting: into the histogram */
    uint64_t collecting_ns, counting_ns; /* since when */
    bool histogram;                      /* kpdata is the histogram now */
    struct kprof_queue queue[KPROF_STREAMS];
    struct kprof_histogram ticks;
    uint64_t samples, lost; /* since opstart; lost: by the host */
    uint64_t slowed_before; /* the host's count at opstart */

    struct kprof_log_buffer log;
    bool printx;
    struct kprof_mpstat_core *stat, *stat_then; /* host.cores elements each */
    bool ipi;
    struct kprof_refusal refusal[KPROF_REFUSALS];
    uint64_t refusals;
};

/* Adds a line to kptrace. */
void kprof_log(struct weft_kprof *k, uint32_t core, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Moves the buffers of all cores into the queue. */
void kprof_flush(struct weft_kprof *k);

/* How often the timers were slowed down since opstart. */
uint64_t kprof_slowed(const struct weft_kprof *k);

/* Puts a record that comes from no core's timer directly into the queue. */
bool kprof_put(struct weft_kprof *k, enum kprof_stream stream, const uint8_t *record,
               uint32_t bytes);

/* The commands. They return 0 or a negative errno. */
int kprof_opstart(struct weft_kprof *k, struct weft_error *err);
int kprof_opstop(struct weft_kprof *k);
int kprof_count(struct weft_kprof *k, bool on, struct weft_error *err);

/* The text of a file, for reading. The caller frees *text. Returns 0 or a negative errno. */
int kprof_text(struct weft_kprof *k, enum weft_kprof_file file, uint32_t uid, char **text,
               size_t *size);

#endif
