/* SPDX-License-Identifier: ISC */
/* Collecting: samples go into a buffer for each core and stream, from there into the stream's queue. */
#include "kprof/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kprof/state.h"

#define QUEUE_BYTES (UINT64_C(64) << 20)
#define WAIT_NS UINT64_C(200000000) /* how old a record in a core's buffer gets */

int weft_kprof_new(struct weft_kprof **out, const struct weft_kprof_options *o,
                   const struct weft_kprof_host *host)
{
    *out = NULL;
    struct weft_kprof *k = calloc(1, sizeof *k);
    if (!k)
        return WEFT_E_NOMEM;
    k->o = *o;
    k->host = *host;
    k->period_us = WEFT__PERIOD_US;
    k->histogram = o->kpdata == WEFT_KPROF_HISTOGRAM;
    k->o.stat = o->stat ? o->stat : "/proc/stat";
    k->o.ticks_a_second = o->ticks_a_second ? o->ticks_a_second : 100;
    k->o.user_frames = o->user_frames ? o->user_frames : 1;
    if (k->o.user_frames > WEFT__STREAM_FRAMES)
        k->o.user_frames = WEFT__STREAM_FRAMES;
    for (unsigned i = 0; i < WEFT__STREAMS; i++)
        weft__queue_init(&k->queue[i], o->queue_bytes ? o->queue_bytes : QUEUE_BYTES);
    k->core = calloc(host->cores, sizeof *k->core);
    k->stat = calloc(host->cores, sizeof *k->stat);
    k->stat_then = calloc(host->cores, sizeof *k->stat_then);
    if (weft__log_init(&k->log) < 0 || !k->core || !k->stat || !k->stat_then) {
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
    for (unsigned i = 0; i < WEFT__STREAMS; i++) {
        weft__queue_fini(&k->queue[i]);
        for (uint32_t c = 0; k->core && c < k->host.cores; c++)
            free(k->core[c].buffer[i].bytes);
    }
    weft__histogram_fini(&k->ticks);
    weft__log_fini(&k->log);
    free(k->core);
    free(k->stat);
    free(k->stat_then);
    free(k);
}

void weft__kprof_log(struct weft_kprof *k, uint32_t core, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t size = (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    weft__log_put(&k->log, k->host.now(k->host.data), core, line, size);
}

/* ---- Buffers and queues ---- */

/* Only the first record that is dropped is told; how many there are, the file kpctl says. */
bool weft__kprof_put(struct weft_kprof *k, enum weft__kprof_stream stream, const uint8_t *record,
                     uint32_t bytes)
{
    if (weft__queue_put(&k->queue[stream], record, bytes))
        return true;
    if (k->queue[stream].dropped == 1)
        weft__kprof_log(k, 0,
                        "the queue of %s is full: what comes is dropped, and counted in kpctl",
                        stream == WEFT__KPDATA ? "kpdata" : "kpoprofile");
    return false;
}

static void flush(struct weft_kprof *k, uint32_t core, enum weft__kprof_stream stream)
{
    struct weft__kprof_buffer *b = &k->core[core].buffer[stream];
    for (uint32_t at = 0; at < b->used;) {
        uint32_t bytes;
        memcpy(&bytes, b->bytes + at, sizeof bytes);
        weft__kprof_put(k, stream, b->bytes + at + sizeof bytes, bytes);
        at += (uint32_t)sizeof bytes + bytes;
    }
    b->used = 0;
}

static void flush_older(struct weft_kprof *k, uint64_t before_ns)
{
    for (uint32_t c = 0; c < k->host.cores; c++)
        for (enum weft__kprof_stream i = 0; i < WEFT__STREAMS; i++) {
            const struct weft__kprof_buffer *b = &k->core[c].buffer[i];
            if (b->used > 0 && b->since_ns <= before_ns)
                flush(k, c, i);
        }
}

void weft__kprof_flush(struct weft_kprof *k)
{
    flush_older(k, UINT64_MAX);
}

void weft_kprof_flush(struct weft_kprof *k)
{
    const uint64_t now_ns = k->host.now(k->host.data);
    flush_older(k, now_ns > WAIT_NS ? now_ns - WAIT_NS : 0);
}

static void buffer_put(struct weft_kprof *k, uint32_t core, enum weft__kprof_stream stream,
                       uint64_t time_ns, const uint8_t *record, uint32_t bytes)
{
    struct weft__kprof_buffer *b = &k->core[core].buffer[stream];
    if (b->used + sizeof bytes + bytes > WEFT__CORE_BYTES)
        flush(k, core, stream);
    if (!b->bytes && !(b->bytes = malloc(WEFT__CORE_BYTES))) {
        k->queue[stream].dropped++;
        return;
    }
    if (b->used == 0)
        b->since_ns = time_ns;
    memcpy(b->bytes + b->used, &bytes, sizeof bytes);
    memcpy(b->bytes + b->used + sizeof bytes, record, bytes);
    b->used += (uint32_t)sizeof bytes + bytes;
}

/* ---- What the host tells ---- */

static void collect(struct weft_kprof *k, const struct weft_kprof_sample *s)
{
    uint8_t record[WEFT__STREAM_BYTES];
    struct weft_kprof_sample cut = *s;
    const uint32_t most = s->kernel ? WEFT__KERNEL_FRAMES : k->o.user_frames;
    if (cut.addresses > most)
        cut.addresses = most;
    k->samples++;
    buffer_put(k, s->core, WEFT__KPOPROFILE, s->time_ns, record,
               weft__stream_version_1(record, &cut));
    if (k->o.kpdata != WEFT_KPROF_HISTOGRAM)
        buffer_put(k, s->core, WEFT__KPDATA, s->time_ns, record, weft__stream_sample(record, &cut));
}

void weft_kprof_take_sample(struct weft_kprof *k, const struct weft_kprof_sample *s)
{
    if (s->core >= k->host.cores || s->addresses == 0)
        return;
    /* What was taken before the timer was switched off may come later. */
    const struct weft__kprof_core *c = &k->core[s->core];
    if (!c->on && s->time_ns >= c->off_ns)
        return;
    if (k->counting && s->time_ns >= k->counting_ns) {
        if (s->kernel)
            weft__histogram_tick(&k->ticks, s->address[0]);
        else
            weft__histogram_outside(&k->ticks);
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
    uint8_t record[WEFT__STREAM_BYTES];
    if (weft_kprof_wants_mappings(k) && m->time_ns >= k->collecting_ns)
        weft__kprof_put(k, WEFT__KPDATA, record, weft__stream_mapping(record, m));
}

void weft_kprof_take_process(struct weft_kprof *k, uint64_t time_ns, uint32_t process,
                             const char *path)
{
    uint8_t record[WEFT__STREAM_BYTES];
    if (weft_kprof_wants_mappings(k) && time_ns >= k->collecting_ns)
        weft__kprof_put(k, WEFT__KPDATA, record,
                        weft__stream_process(record, time_ns, process, path));
}

void weft_kprof_take_lost(struct weft_kprof *k, uint64_t count)
{
    if (k->collecting || k->counting)
        k->lost += count;
}

void weft_kprof_take_trouble(struct weft_kprof *k, const char *text)
{
    weft__kprof_log(k, 0, "%s", text);
}

/* ---- Switching ---- */

uint64_t weft__kprof_slowed(const struct weft_kprof *k)
{
    return k->host.slowed ? k->host.slowed(k->host.data) - k->slowed_before : 0;
}

static int start(struct weft_kprof *k, struct weft_error *err)
{
    return k->host.start(k->host.data, err) < 0 ? -EIO : 0;
}

/* The timers were stopped to be switched, and cannot be started again. */
static void end_counting(struct weft_kprof *k, const struct weft_error *why)
{
    k->counting = false;
    weft__kprof_log(k, 0, "the histogram ends: %s", why->text);
}

/* Whoever begins gets only what is taken from now on, and all mappings that there are now. */
int weft__kprof_opstart(struct weft_kprof *k, struct weft_error *err)
{
    if (k->collecting)
        return 0;
    if (k->counting)
        k->host.stop(k->host.data);
    k->collecting = true;
    k->collecting_ns = k->host.now(k->host.data);
    k->samples = k->lost = 0;
    k->slowed_before += weft__kprof_slowed(k);
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
        weft__kprof_log(k, c, "%s", line);
        if (k->host.print)
            k->host.print(k->host.data, line);
    }
    return 0;
}

int weft__kprof_opstop(struct weft_kprof *k)
{
    struct weft_error err;
    if (!k->collecting)
        return 0;
    k->host.stop(k->host.data);
    k->collecting = false;
    weft__kprof_flush(k);
    if (weft__kprof_slowed(k) > 0)
        weft__kprof_log(k, 0,
                        "the kernel slowed the timers down %" PRIu64 " times: the period is "
                        "too short (sysctl kernel.perf_event_max_sample_rate)",
                        weft__kprof_slowed(k));
    if (k->counting && start(k, &err) < 0)
        end_counting(k, &err);
    return 0;
}

int weft__kprof_count(struct weft_kprof *k, bool on, struct weft_error *err)
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
    weft__kprof_flush(k);
}
