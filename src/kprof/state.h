/* SPDX-License-Identifier: ISC */
/* Shared by the files of the device. */
#pragma once

#include <stdio.h>

#include "base/table.h"
#include "kprof/device.h"

/* ---- kptrace: a log of text lines, of which the latest are kept ---- */

#define KPROF_LOG_BYTES (256u << 10)
#define KPROF_LOG_LINE 1024u /* maximum bytes of a line; the rest is cut off */

struct kprof_log_buffer { /* places are numbers of bytes since the very first line */
    char *bytes;          /* a ring */
    uint64_t begin, end;
};

/* Adds "[seconds.nanoseconds]:cpuN: text" for each line of text. Characters that are unsafe on a terminal
 * become '?'. */
void kprof_log_put(struct kprof_log_buffer *l, uint64_t time_ns, uint32_t core, const char *text,
                   size_t size);

/* Reads up to size bytes from *place on, and advances it. If that place has been overwritten, reading begins at
 * the oldest line that is left. */
size_t kprof_log_read(const struct kprof_log_buffer *l, uint64_t *place, char *to, size_t size);

/* ---- mpstat: what each core did, according to the kernel's statistics (/proc/stat) ---- */

enum kprof_mpstat_kind {
    KPROF_MPSTAT_IRQ,  /* interrupts and softirqs */
    KPROF_MPSTAT_KERN, /* the rest of the kernel */
    KPROF_MPSTAT_USER, /* programs, including nice ones and virtual machines */
    KPROF_MPSTAT_IDLE, /* nothing to do, waiting for a disk, or the core was taken by the hypervisor */
    KPROF_MPSTAT_KINDS,
};

struct kprof_mpstat_core {
    uint64_t ticks[KPROF_MPSTAT_KINDS];
    bool online;
};

/* Fills core[0 … cores) from a file in the format of /proc/stat; ignores other cores. Returns 0, WEFT_E_IO or WEFT_E_NOMEM. */
int kprof_mpstat_read(struct kprof_mpstat_core *core, uint32_t cores, const char *path,
                      struct weft_error *err);

/* Prints the difference between now and then. Both are in ticks, ticks_a_second. */
void kprof_mpstat_print(FILE *out, const struct kprof_mpstat_core *then,
                        const struct kprof_mpstat_core *now, uint32_t cores,
                        uint32_t ticks_a_second, bool raw);

/* ---- The older profile: how many ticks hit each address of the kernel ---- */

#define KPROF_HISTOGRAM_ADDRESSES (1u << 18) /* maximum number of different addresses */

struct kprof_histogram_cell {
    uint64_t address, ticks;
};

struct kprof_histogram { /* all zeros: empty */
    struct kprof_histogram_cell *cell;
    uint32_t used, room;
    struct weft_table by;    /* cells by their addresses */
    uint64_t total, outside; /* all ticks; those outside the kernel */
    uint64_t unplaced;       /* ticks in the kernel for which there was no room */
};

void kprof_histogram_fini(struct kprof_histogram *h); /* leaves an empty histogram */
void kprof_histogram_outside(struct kprof_histogram *h);
void kprof_histogram_tick(struct kprof_histogram *h, uint64_t address);

/* Prints total, outside, and a line for each address, in order of addresses. Returns 0 or WEFT_E_NOMEM. */
int kprof_histogram_print(const struct kprof_histogram *h, FILE *out, kprof_name_fn *name,
                          void *data);

/* ---- Records of Akaros's two streams: version 1 (kpoprofile), and the typed ones of October 2015 (kpdata) ---- */

#define KPROF_STREAM_PATH 4095  /* maximum bytes of a path; longer ones are cut */
#define KPROF_STREAM_BYTES 4608 /* size of the longest record */

/* Each function encodes a record into `to`, which has KPROF_STREAM_BYTES, and returns its size. A sample has 1
 * to KPROF_STREAM_FRAMES addresses. */
uint32_t kprof_stream_version_1(uint8_t *to, const struct weft_kprof_sample *s);
uint32_t kprof_stream_sample(uint8_t *to, const struct weft_kprof_sample *s);
uint32_t kprof_stream_mapping(uint8_t *to, const struct weft_kprof_mapping *m);
uint32_t kprof_stream_process(uint8_t *to, uint64_t time_ns, uint32_t process, const char *path);

/* ---- A bounded queue of records on their way to readers; reading empties it ----
 *
 * A reader gets whole records if its buffer has room for one. A reader with a smaller buffer gets a record in
 * parts, and no other reader gets any part of that record. */

struct kprof_queue {
    struct kprof_record *first,
        **last;              /* last: where the next one is linked; NULL: the queue is empty */
    uint64_t records, bytes; /* in the queue */
    uint64_t limit_bytes;
    uint64_t dropped; /* records for which there was no room */
};

/* A reader's position. All zeros: between two records. */
struct kprof_queue_reader {
    struct kprof_record *part; /* a record of which it has read a part */
};

void kprof_queue_init(struct kprof_queue *q, uint64_t limit_bytes);
void kprof_queue_fini(struct kprof_queue *q);

/* Appends a record. If there is no room, drops and counts it, and returns false. */
bool kprof_queue_put(struct kprof_queue *q, const void *record, uint32_t bytes);

bool kprof_queue_empty(const struct kprof_queue *q, const struct kprof_queue_reader *r);

/* Reads at most size bytes. Returns how many. */
ptrdiff_t kprof_queue_read(struct kprof_queue *q, struct kprof_queue_reader *r, void *to,
                           size_t size);

/* The reader leaves: a record of which it has read a part is available again, complete, for the next reader. */
void kprof_queue_leave(struct kprof_queue *q, struct kprof_queue_reader *r);

/* ---- The device ---- */

enum kprof_stream { KPROF_KPOPROFILE, KPROF_KPDATA, KPROF_STREAMS };

#define KPROF_CORE_BYTES (16u << 10) /* size of a core's buffer */
#define KPROF_KERNEL_FRAMES 16u      /* addresses in a sample of the kernel */
#define KPROF_PERIOD_US 1000u
#define KPROF_REFUSALS 16u

struct kprof_buffer { /* records of one core, each after its size */
    uint8_t *bytes;   /* NULL before the first record */
    uint32_t used, records;
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

/* How often the timers were slowed down since opstart. */
uint64_t kprof_slowed(const struct weft_kprof *k);

/* Puts a record that comes from no core's timer directly into the queue. */
bool kprof_put(struct weft_kprof *k, enum kprof_stream stream, const uint8_t *record,
               uint32_t bytes);

/* The commands. They return 0 or a negative errno. */
int kprof_opstart(struct weft_kprof *k, struct weft_error *err);
int kprof_opstop(struct weft_kprof *k);
int kprof_count(struct weft_kprof *k, bool on, struct weft_error *err);
