/* SPDX-License-Identifier: ISC */
#include "sample/sampler.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sample/state.h"

#define FRAMES 127        /* the kernel's limit unless kernel.perf_event_max_stack is larger */
#define FREQUENCY 1000    /* samples per second */
#define DWARF_MAX 65528   /* the size of a record has 16 bits */
#define SLACK_NS 20000000 /* until a record is this old, an earlier one may still arrive */

void sample_note(struct weft_sampler *s, const char *format, ...)
{
    if (s->notes == SAMPLE_NOTES)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(s->note[s->notes], sizeof s->note[0], format, args);
    va_end(args);
    for (uint32_t i = 0; i < s->notes; i++)
        if (strcmp(s->note[i], s->note[s->notes]) == 0)
            return;
    s->notes++;
}

const char *weft_sampler_note(const struct weft_sampler *s, uint32_t i)
{
    return i < s->notes ? s->note[i] : NULL;
}

/* ---- Opening ---- */

static int settle_event(struct weft_sampler *s, struct weft_error *err)
{
    struct weft_sampler_options *o = &s->o;
    s->kind = sample_event_kind(o->event);
    if (!s->kind)
        return weft_error_set(
            err, WEFT_E_INVALID, WEFT_NO_OFFSET,
            "there is no event \"%.64s\"; expected one such as cpu-clock, cycles, "
            "instructions, cache-misses, page-faults",
            o->event);
    if (!o->frequency && !o->period)
        o->frequency = FREQUENCY;
    TRY(sample_check_rate(s->kind, o->frequency, o->period, err));
    s->period = o->period;
    if (!o->period && sample_is_clock(s->kind))
        s->period = (1000000000u + o->frequency / 2) / o->frequency;
    if (o->dwarf_bytes > DWARF_MAX)
        return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "%u bytes of each stack are too many; at most %u are possible",
                              o->dwarf_bytes, DWARF_MAX);
    o->dwarf_bytes = (o->dwarf_bytes + 7) & ~7u;
    const int64_t most = sample_sysctl("kernel/perf_event_max_sample_rate", 0);
    if (sample_is_clock(s->kind) && most > 0 && s->period < 1000000000u / (uint64_t)most)
        sample_note(s,
                    "the kernel will pause the timer: sysctl kernel.perf_event_max_sample_rate is "
                    "%d samples a second",
                    (int)most);
    return 0;
}

static int settle_stacks(struct weft_sampler *s)
{
    struct weft_sampler_options *o = &s->o;
    const int64_t most = sample_sysctl("kernel/perf_event_max_stack", FRAMES);
    s->max_frames = o->max_frames ? o->max_frames : FRAMES;
    if (most > 0 && s->max_frames > most)
        s->max_frames = (uint32_t)most;
    if (o->dwarf_bytes && !sample_can_unwind()) {
        sample_note(s, "stacks are by frame pointers: unwinding by DWARF is not there for this "
                       "architecture");
        o->dwarf_bytes = 0;
    }
    s->address = malloc((s->max_frames + (size_t)1) * sizeof *s->address);
    const bool unwinds = o->dwarf_bytes || sample_piece_bytes(s, SAMPLE_MAIN);
    s->unwinder = unwinds ? weft_unwinder_new() : NULL;
    return s->address && (s->unwinder || !unwinds) ? 0 : WEFT_E_NOMEM;
}

static int open_sampler(struct weft_sampler *s, struct weft_error *err)
{
    s->kernel = !s->o.no_kernel;
    s->by_cores =
        s->o.by_cores && s->o.scope != WEFT_SAMPLE_CORES && s->o.no_switches && !s->o.interrupts;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    TRY(settle_event(s, err));
    if (settle_stacks(s) < 0)
        return weft_no_memory(err);
    int rc = sample_open_events(s, err);
    if (rc == 0)
        rc = sample_map_rings(s, err);
    for (uint32_t i = 0; rc == 0 && i < s->rings; i++) {
        s->ring[i].leaving = malloc((s->max_frames + (size_t)1) * sizeof *s->ring[i].leaving);
        if (!s->ring[i].leaving)
            rc = weft_no_memory(err);
    }
    if (rc == 0 && s->kernel && sample_tell_kernel(s) < 0)
        rc = weft_no_memory(err);
    return rc;
}

int weft_sampler_open(struct weft_sampler **out, const struct weft_sampler_options *o,
                      struct weft_error *err)
{
    *out = NULL;
    struct weft_sampler *s = calloc(1, sizeof *s);
    if (!s)
        return weft_no_memory(err);
    s->o = *o;
    s->epoll = -1;
    sample_burden_look(&s->burden, sample_now_ns()); /* from now on */
    int rc = open_sampler(s, err);
    s->o.event = s->kind ? s->kind->name : NULL; /* the caller's string may not live long enough */
    if (rc == 0)
        *out = s;
    else
        weft_sampler_close(s);
    return rc;
}

static void forget_told(struct weft_sampler *s)
{
    for (uint32_t i = 0; i < s->tolds; i++)
        free(s->told[i].text);
    s->tolds = s->told_next = 0;
}

void weft_sampler_close(struct weft_sampler *s)
{
    if (!s)
        return;
    sample_unmap_rings(s);
    sample_close_events(s);
    if (s->epoll >= 0)
        close(s->epoll);
    for (uint32_t i = 0; i < s->rings; i++)
        free(s->ring[i].leaving);
    free(s->ring);
    forget_told(s);
    free(s->told);
    sample_order_fini(&s->order);
    sample_comms_fini(&s->comms);
    sample_comms_fini(&s->family);
    sample_build_ids_fini(&s->build_ids);
    if (s->unwinder)
        weft_unwinder_free(s->unwinder);
    free(s->address);
    free(s->blocked.thread);
    free(s);
}

/* ---- Switching ---- */

/* Records of switches are so frequent that they cost too much: switches them off for good, and closes them if nothing else
 * uses their rings: while they are open, the kernel looks at them at each switch. */
static bool give_switches_up(struct weft_sampler *s)
{
    const uint64_t now_ns = sample_now_ns();
    sample_switch(s, SAMPLE_SWITCHES, SAMPLE_LEAVE, NONE, false);
    const struct sample_burden *b = &s->burden;
    s->counts.given_up_ns = now_ns - b->started_ns;
    s->counts.given_up_rate = sample_burden_rate(b);
    struct weft_sampled r = sample_record(WEFT_RECORD_LOST, now_ns);
    r.flags = WEFT_LOST_SWITCHES;
    return sample_give(s, &r) && (s->used[SAMPLE_IRQ_ENTRY] || sample_close_side(s));
}

/* Mappings and threads are read after the kernel has begun to report new ones, so none is missed; they are
 * reported as if they had been there before. */
int weft_sampler_start(struct weft_sampler *s)
{
    const uint64_t now_ns = sample_now_ns();
    int rc = 0;
    if (s->started && !s->stopped)
        return 0;
    s->stopped = false;
    s->started = true;
    if (s->o.scope == WEFT_SAMPLE_COMMAND && !s->by_cores)
        return 0;
    if (s->o.scope == WEFT_SAMPLE_CORES || s->by_cores) {
        sample_switch(s, SAMPLE_TRACK, SAMPLE_ROLES, NONE, true);
        rc = s->by_cores ? sample_family_begin(s) : sample_tell_processes(s, now_ns);
        if (rc == 0 && s->o.scope == WEFT_SAMPLE_PROCESS)
            rc = weft_sampler_tell(s, s->o.process, now_ns);
        for (uint32_t i = 0; i < s->rings; i++)
            if (s->ring[i].on)
                sample_switch(s, SAMPLE_MAIN, SAMPLE_MAIN, i, true);
        return rc;
    }
    rc = sample_blocked_look(s);
    s->blocked.since_ns = sample_now_ns();
    sample_switch(s, SAMPLE_MAIN, SAMPLE_ROLES, NONE, true);
    if (rc == 0 && s->o.scope == WEFT_SAMPLE_PROCESS)
        rc = weft_sampler_tell(s, s->o.process, now_ns);
    return rc;
}

void weft_sampler_stop(struct weft_sampler *s)
{
    sample_switch(s, SAMPLE_MAIN, SAMPLE_ROLES, NONE, false);
    s->blocked.until_ns = sample_now_ns();
    s->stopped = true;
}

int weft_sampler_core(struct weft_sampler *s, uint32_t core, bool on)
{
    int rc = WEFT_E_INVALID;
    for (uint32_t i = 0; i < s->rings; i++)
        if (core == NONE || s->ring[i].core == core) {
            rc = 0;
            s->ring[i].on = on;
            if (s->started && !s->stopped)
                sample_switch(s, SAMPLE_MAIN, SAMPLE_MAIN, i, on);
        }
    return rc;
}

int weft_sampler_period(struct weft_sampler *s, uint64_t period)
{
    /* For an event with a frequency, the kernel would take the period as a frequency. */
    if (period == 0 || s->period == 0 || sample_check_rate(s->kind, 0, period, NULL) < 0)
        return WEFT_E_INVALID;
    int rc = 0;
    for (uint32_t i = 0; i < s->events; i++)
        if (s->event[i].role == SAMPLE_MAIN &&
            ioctl(s->event[i].fd, PERF_EVENT_IOC_PERIOD, &period) < 0)
            rc = WEFT_E_IO;
    s->period_before = s->period;
    s->period_since_ns = sample_now_ns();
    s->period = period;
    return rc;
}

uint32_t weft_sampler_cores(const struct weft_sampler *s)
{
    return s->cores;
}

int weft_sampler_fd(const struct weft_sampler *s)
{
    return s->epoll;
}

struct weft_sampler_counts weft_sampler_counts(const struct weft_sampler *s)
{
    return s->counts;
}

/* ---- Reading ---- */

static bool hand_out_told(struct weft_sampler *s)
{
    while (s->told_next < s->tolds) {
        struct sample_told *t = &s->told[s->told_next++];
        t->r.text = t->text;
        t->r.build_id = t->build_id;
        if (!sample_hand_mapping(s, &t->r) || !sample_give(s, &t->r))
            return false;
    }
    forget_told(s);
    return true;
}

ptrdiff_t weft_sampler_read(struct weft_sampler *s, int timeout_ms, weft_sampled_fn *fn, void *data,
                            struct weft_error *err)
{
    s->fn = fn;
    s->data = data;
    s->given = 0;
    if (!hand_out_told(s) || !sample_blocked_begin(s))
        return s->given;
    int rc = timeout_ms && !s->stopped ? sample_wait(s, timeout_ms) : 0;
    const bool all =
        s->stopped; /* read before the rings are: if it is set, nothing comes after what they hold */
    const uint64_t before_ns = all ? UINT64_MAX : sample_now_ns() - SLACK_NS;
    if (rc == 0)
        rc = sample_drain(s);
    if (rc < 0)
        return weft_error_set(err, rc, WEFT_NO_OFFSET, "the kernel's rings cannot be read: %s",
                              weft_error_name(rc));
    sample_order_sort(&s->order);
    const uint8_t *bytes;
    uint32_t size, ring;
    bool more = true;
    /* Checked at once: handing out what has come may take longer than the rings take to fill again. */
    if (!s->o.all_switches && sample_burden_look(&s->burden, sample_now_ns()))
        more = give_switches_up(s);
    while (more && (bytes = sample_order_take(&s->order, before_ns, &size, &ring)))
        more = sample_hand_out(s, &s->ring[ring], bytes, size);
    if (more && all)
        more = sample_lost_at_end(s) && sample_blocked_end(s);
    rc = sample_order_drop(&s->order);
    if (rc < 0)
        return weft_no_memory(err);
    return s->given;
}
