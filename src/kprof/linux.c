/* SPDX-License-Identifier: ISC */
#include "kprof/linux.h"

#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/sampler.h"
#include "symbols/symbol_table.h"

#define PERIOD_NS 1000000u
#define KERNEL_FRAMES 16u
#define NAMES_NS UINT64_C(10000000000) /* then they are read again, because modules come and go */

struct weft_kprof_linux {
    struct weft_sampler *sampler;
    struct weft_kprof *k;
    bool runs, troubled;
    struct symbols_symbol_table names;
    uint64_t names_ns; /* when the names were read; 0: not yet */
};

int weft_kprof_linux_open(struct weft_kprof_linux **out, uint32_t user_frames,
                          struct weft_error *err)
{
    *out = NULL;
    struct weft_kprof_linux *l = calloc(1, sizeof *l);
    if (!l)
        return weft_no_memory(err);
    const struct weft_sampler_options o = {
        .scope = WEFT_SAMPLE_CORES,
        .period = PERIOD_NS,
        .max_frames = user_frames > KERNEL_FRAMES ? user_frames : KERNEL_FRAMES,
        .frame_pointers = true,
        .no_switches = true,
        .keep_off = true,
    };
    int rc = weft_sampler_open(&l->sampler, &o, err);
    if (rc < 0) {
        free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void weft_kprof_linux_close(struct weft_kprof_linux *l)
{
    if (!l)
        return;
    weft_sampler_close(l->sampler);
    symbols_symbol_table_free(&l->names);
    free(l);
}

const char *weft_kprof_linux_note(const struct weft_kprof_linux *l, uint32_t i)
{
    return weft_sampler_note(l->sampler, i);
}

void weft_kprof_linux_give(struct weft_kprof_linux *l, struct weft_kprof *k)
{
    l->k = k;
}

int weft_kprof_linux_fd(const struct weft_kprof_linux *l)
{
    return weft_sampler_fd(l->sampler);
}

bool weft_kprof_linux_runs(const struct weft_kprof_linux *l)
{
    return l->runs;
}

/* ---- Samples and other records ---- */

static void take_sample(struct weft_kprof *k, const struct weft_sampled *r)
{
    struct weft_kprof_sample s = {
        .time_ns = r->time_ns,
        .process = r->process,
        .core = r->core,
        .kernel = r->kernel_addresses > 0,
        .address = r->address,
        .addresses = r->kernel_addresses > 0 ? r->kernel_addresses : r->addresses,
    };
    weft_kprof_take_sample(k, &s);
}

/* Only the process itself can say which file its new program is; if it has ended, its name must do. */
static void take_program(struct weft_kprof *k, const struct weft_sampled *r)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%u/exe", r->process);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    weft_kprof_take_process(k, r->time_ns, r->process, n > 0 ? path : r->text);
}

/* A process is new if it is reported as existing, if it runs another program, or if it comes by fork. After a
 * fork it has its parent's mappings, which the stream cannot express: so they are looked up. */
static void take_thread(struct weft_kprof_linux *l, const struct weft_sampled *r)
{
    if (!weft_kprof_wants_mappings(l->k) || r->thread != r->process)
        return;
    if (r->parent != UINT32_MAX)
        weft_sampler_tell(l->sampler, r->process,
                          r->time_ns); /* without them if there is no memory */
    else if (r->flags & WEFT_THREAD_EXEC || r->core == UINT32_MAX)
        take_program(l->k, r);
}

static bool take_record(void *data, const struct weft_sampled *r)
{
    struct weft_kprof_linux *l = data;
    switch (r->kind) {
    case WEFT_RECORD_SAMPLE:
        take_sample(l->k, r);
        break;
    case WEFT_RECORD_MAPPING:
        if (r->process != UINT32_MAX) /* no file contains the kernel */
            weft_kprof_take_mapping(l->k, &(struct weft_kprof_mapping){.time_ns = r->time_ns,
                                                                       .start = r->start,
                                                                       .size = r->size,
                                                                       .offset = r->offset,
                                                                       .process = r->process,
                                                                       .path = r->text});
        break;
    case WEFT_RECORD_THREAD:
        take_thread(l, r);
        break;
    case WEFT_RECORD_LOST:
        weft_kprof_take_lost(l->k, r->value);
        break;
    default:
        break;
    }
    return true;
}

void weft_kprof_linux_take(struct weft_kprof_linux *l)
{
    struct weft_error err;
    const bool failed = weft_sampler_read(l->sampler, 0, take_record, l, &err) < 0;
    if (failed && !l->troubled)
        weft_kprof_take_trouble(l->k, err.text);
    l->troubled = failed;
}

/* ---- The host ---- */

static uint64_t now(void *data)
{
    (void)data;
    return (uint64_t)weft_monotonic_ns();
}

static int core(void *data, uint32_t core, bool on, struct weft_error *err)
{
    struct weft_kprof_linux *l = data;
    int rc = weft_sampler_core(l->sampler, core, on);
    return rc < 0 ? weft_error_set(err, rc, WEFT_NO_OFFSET, "%s", weft_error_name(rc)) : 0;
}

static int period(void *data, uint64_t ns, struct weft_error *err)
{
    struct weft_kprof_linux *l = data;
    int rc = weft_sampler_period(l->sampler, ns);
    return rc < 0 ? weft_error_set(err, rc, WEFT_NO_OFFSET, "the kernel does not take it") : 0;
}

/* While nobody collects, nothing ticks and nothing is reported: then timers that are on cost nothing. */
static int start(void *data, struct weft_error *err)
{
    struct weft_kprof_linux *l = data;
    int rc = weft_sampler_start(l->sampler);
    if (rc < 0)
        return weft_error_set(err, rc, WEFT_NO_OFFSET, "%s", weft_error_name(rc));
    l->runs = true;
    return 0;
}

static void stop(void *data)
{
    struct weft_kprof_linux *l = data;
    weft_sampler_stop(l->sampler);
    weft_kprof_linux_take(l);
    weft_kprof_linux_take(l); /* what the first sampler had looked up */
    l->runs = false;
}

static uint64_t slowed(void *data)
{
    const struct weft_kprof_linux *l = data;
    return weft_sampler_counts(l->sampler).throttled;
}

static const char *name(void *data, uint64_t address)
{
    struct weft_kprof_linux *l = data;
    const uint64_t now_ns = now(NULL);
    if (l->names_ns == 0 || now_ns - l->names_ns > NAMES_NS) {
        symbols_symbol_table_free(&l->names);
        symbols_kallsyms_load(&l->names, "/proc/kallsyms"); /* without memory some are missing */
        l->names_ns = now_ns;
    }
    const struct symbols_symbol *s = symbols_symbol_table_find(&l->names, address);
    return s && s->rank > 0 ? l->names.names + s->name : NULL;
}

struct weft_kprof_host weft_kprof_linux_host(struct weft_kprof_linux *l)
{
    return (struct weft_kprof_host){
        .cores = weft_sampler_cores(l->sampler),
        .data = l,
        .now = now,
        .core = core,
        .period = period,
        .start = start,
        .stop = stop,
        .slowed = slowed,
        .name = name,
    };
}
