/* SPDX-License-Identifier: ISC */
/* Collecting samples: into one buffer per core and stream, and from there into the stream's queue. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

#define QUEUE_BYTES (UINT64_C(64) << 20)
#define WAIT_NS UINT64_C(200000000) /* maximum age of a record in a core's buffer */

int weft_kprof_new(struct weft_kprof **out, const struct weft_kprof_options *o,
                   const struct weft_kprof_host *host)
{
    *out = NULL;
    struct weft_kprof *k = calloc(1, sizeof *k);
    if (!k)
        return WEFT_E_NOMEM;
    k->o = *o;
    k->host = *host;
    k->period_us = KPROF_PERIOD_US;
    k->histogram = o->kpdata == WEFT_KPROF_HISTOGRAM;
    k->o.stat = o->stat ? o->stat : "/proc/stat";
    k->o.ticks_a_second = o->ticks_a_second ? o->ticks_a_second : 100;
    k->o.user_frames = o->user_frames ? o->user_frames : 1;
    if (k->o.user_frames > KPROF_STREAM_FRAMES)
        k->o.user_frames = KPROF_STREAM_FRAMES;
    for (unsigned i = 0; i < KPROF_STREAMS; i++)
        kprof_queue_init(&k->queue[i], o->queue_bytes ? o->queue_bytes : QUEUE_BYTES);
    k->log.bytes = malloc(KPROF_LOG_BYTES);
    k->core = calloc(host->cores, sizeof *k->core);
    k->stat = calloc(host->cores, sizeof *k->stat);
    k->stat_then = calloc(host->cores, sizeof *k->stat_then);
    if (!k->log.bytes || !k->core || !k->stat || !k->stat_then) {
        weft_kprof_free(k);
        return WEFT_E_NOMEM;
    }
    *out = k;
    return 0;
}

void weft_kprof_free(struct weft_kprof *k)
{
    if (!k)
        return;
    for (unsigned i = 0; i < KPROF_STREAMS; i++) {
        kprof_queue_fini(&k->queue[i]);
        for (uint32_t c = 0; k->core && c < k->host.cores; c++)
            free(k->core[c].buffer[i].bytes);
    }
    kprof_histogram_fini(&k->ticks);
    weft_free_all(k->log.bytes, k->core, k->stat, k->stat_then, k);
}

void kprof_log(struct weft_kprof *k, uint32_t core, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t size = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    kprof_log_put(&k->log, k->host.now(k->host.data), core, line, size);
}

/* ---- Buffers and queues ---- */

/* Only the first dropped record is logged; the file kpctl has the count. */
bool kprof_put(struct weft_kprof *k, enum kprof_stream stream, const uint8_t *record,
               uint32_t bytes)
{
    if (kprof_queue_put(&k->queue[stream], record, bytes))
        return true;
    if (k->queue[stream].dropped == 1)
        kprof_log(k, 0, "the queue of %s is full: what comes is dropped, and counted in kpctl",
                  stream == KPROF_KPDATA ? "kpdata" : "kpoprofile");
    return false;
}

static void flush(struct weft_kprof *k, uint32_t core, enum kprof_stream stream)
{
    struct kprof_buffer *b = &k->core[core].buffer[stream];
    for (uint32_t at = 0; at < b->used;) {
        uint32_t bytes;
        memcpy(&bytes, b->bytes + at, sizeof bytes);
        kprof_put(k, stream, b->bytes + at + sizeof bytes, bytes);
        at += (uint32_t)sizeof bytes + bytes;
    }
    b->used = b->records = 0;
}

/* Moves the buffers of cores whose oldest record is that old into the queue. */
static void flush_older(struct weft_kprof *k, uint64_t before_ns)
{
    for (uint32_t c = 0; c < k->host.cores; c++)
        for (enum kprof_stream i = 0; i < KPROF_STREAMS; i++) {
            const struct kprof_buffer *b = &k->core[c].buffer[i];
            if (b->used > 0 && b->since_ns <= before_ns)
                flush(k, c, i);
        }
}

void weft_kprof_flush(struct weft_kprof *k)
{
    const uint64_t now_ns = k->host.now(k->host.data);
    flush_older(k, now_ns > WAIT_NS ? now_ns - WAIT_NS : 0);
}

static void buffer_put(struct weft_kprof *k, uint32_t core, enum kprof_stream stream,
                       uint64_t time_ns, const uint8_t *record, uint32_t bytes)
{
    struct kprof_buffer *b = &k->core[core].buffer[stream];
    if (b->used + sizeof bytes + bytes > KPROF_CORE_BYTES)
        flush(k, core, stream);
    if (!b->bytes && !(b->bytes = malloc(KPROF_CORE_BYTES))) {
        k->queue[stream].dropped++;
        return;
    }
    if (b->used == 0)
        b->since_ns = time_ns;
    memcpy(b->bytes + b->used, &bytes, sizeof bytes);
    memcpy(b->bytes + b->used + sizeof bytes, record, bytes);
    b->used += (uint32_t)sizeof bytes + bytes;
    b->records++;
}

/* ---- Reports of the host ---- */

static void collect(struct weft_kprof *k, const struct weft_kprof_sample *s)
{
    uint8_t record[KPROF_STREAM_BYTES];
    struct weft_kprof_sample cut = *s;
    const uint32_t most = s->kernel ? KPROF_KERNEL_FRAMES : k->o.user_frames;
    if (cut.addresses > most)
        cut.addresses = most;
    k->samples++;
    buffer_put(k, s->core, KPROF_KPOPROFILE, s->time_ns, record,
               kprof_stream_version_1(record, &cut));
    if (k->o.kpdata != WEFT_KPROF_HISTOGRAM)
        buffer_put(k, s->core, KPROF_KPDATA, s->time_ns, record, kprof_stream_sample(record, &cut));
}

void weft_kprof_take_sample(struct weft_kprof *k, const struct weft_kprof_sample *s)
{
    if (s->core >= k->host.cores || s->addresses == 0)
        return;
    /* Samples taken before the timer was switched off may arrive later. */
    const struct kprof_core *c = &k->core[s->core];
    if (!c->on && s->time_ns >= c->off_ns)
        return;
    if (k->counting && s->time_ns >= k->counting_ns) {
        if (s->kernel)
            kprof_histogram_tick(&k->ticks, s->address[0]);
        else
            kprof_histogram_outside(&k->ticks);
    }
    if (k->collecting && s->time_ns >= k->collecting_ns)
        collect(k, s);
}

bool weft_kprof_wants_mappings(const struct weft_kprof *k)
{
    return k->collecting && k->o.kpdata != WEFT_KPROF_HISTOGRAM;
}

void weft_kprof_take_mapping(struct weft_kprof *k, const struct weft_kprof_mapping *m)
{
    uint8_t record[KPROF_STREAM_BYTES];
    if (weft_kprof_wants_mappings(k) && m->time_ns >= k->collecting_ns)
        kprof_put(k, KPROF_KPDATA, record, kprof_stream_mapping(record, m));
}

void weft_kprof_take_process(struct weft_kprof *k, uint64_t time_ns, uint32_t process,
                             const char *path)
{
    uint8_t record[KPROF_STREAM_BYTES];
    if (weft_kprof_wants_mappings(k) && time_ns >= k->collecting_ns)
        kprof_put(k, KPROF_KPDATA, record, kprof_stream_process(record, time_ns, process, path));
}

void weft_kprof_take_lost(struct weft_kprof *k, uint64_t count)
{
    if (k->collecting || k->counting)
        k->lost += count;
}

void weft_kprof_take_trouble(struct weft_kprof *k, const char *text)
{
    kprof_log(k, 0, "%s", text);
}

/* ---- Switching ---- */

uint64_t kprof_slowed(const struct weft_kprof *k)
{
    return k->host.slowed ? k->host.slowed(k->host.data) - k->slowed_before : 0;
}

static int start(struct weft_kprof *k, struct weft_error *err)
{
    return k->host.start(k->host.data, err) < 0 ? -EIO : 0;
}

/* The timers were stopped in order to switch them, and cannot be restarted. */
static void end_counting(struct weft_kprof *k, const struct weft_error *why)
{
    k->counting = false;
    kprof_log(k, 0, "the histogram ends: %s", why->text);
}

/* A new collection gets only samples taken from now on, and all mappings that exist now. */
int kprof_opstart(struct weft_kprof *k, struct weft_error *err)
{
    if (k->collecting)
        return 0;
    if (k->counting)
        k->host.stop(k->host.data);
    k->collecting = true;
    k->collecting_ns = k->host.now(k->host.data);
    k->samples = k->lost = 0;
    k->slowed_before += kprof_slowed(k);
    int rc = start(k, err);
    if (rc < 0) {
        k->collecting = false;
        if (k->counting)
            end_counting(k, err);
        return rc;
    }
    for (uint32_t c = 0; c < k->host.cores; c++) {
        char line[64];
        snprintf(line, sizeof line, "Enable tracing on %" PRIu32, c);
        kprof_log(k, c, "%s", line);
        if (k->host.print)
            k->host.print(k->host.data, line);
    }
    return 0;
}

int kprof_opstop(struct weft_kprof *k)
{
    struct weft_error err;
    if (!k->collecting)
        return 0;
    k->host.stop(k->host.data);
    k->collecting = false;
    flush_older(k, UINT64_MAX);
    if (kprof_slowed(k) > 0)
        kprof_log(k, 0,
                  "the kernel slowed the timers down %" PRIu64 " times: the period is "
                  "too short (sysctl kernel.perf_event_max_sample_rate)",
                  kprof_slowed(k));
    if (k->counting && start(k, &err) < 0)
        end_counting(k, &err);
    return 0;
}

int kprof_count(struct weft_kprof *k, bool on, struct weft_error *err)
{
    if (on == k->counting)
        return 0;
    if (!on) {
        if (!k->collecting)
            k->host.stop(k->host.data);
        k->counting = false;
        return 0;
    }
    int rc = k->collecting ? 0 : start(k, err);
    k->counting = rc == 0;
    k->counting_ns = k->host.now(k->host.data);
    return rc;
}

void weft_kprof_end(struct weft_kprof *k)
{
    if (k->counting || k->collecting)
        k->host.stop(k->host.data);
    k->counting = k->collecting = false;
    flush_older(k, UINT64_MAX);
}
