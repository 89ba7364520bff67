/* SPDX-License-Identifier: ISC */
/* Opens the events: one for each core, or for each thread on each core. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "sample/state.h"

/* ---- Cores ---- */

#define MANY_CORES 8192

/* Parses a list like "0-3,5" and calls add for each core; returns false if add does. */
static bool each_core(bool (*add)(struct weft_sampler *s, uint32_t core), struct weft_sampler *s)
{
    char line[4096];
    if (!sample_line(line, sizeof line, "/sys/devices/system/cpu/online")) { /* no sysfs */
        long n = sysconf(_SC_NPROCESSORS_CONF);
        snprintf(line, sizeof line, "0-%ld", n > 0 ? n - 1 : 0);
    }
    for (char *at = line; *at >= '0' && *at <= '9';) {
        unsigned long from = strtoul(at, &at, 10), to = from;
        if (*at == '-')
            to = strtoul(at + 1, &at, 10);
        for (; from <= to && from < MANY_CORES; from++)
            if (!add(s, (uint32_t)from))
                return false;
        at += *at == ',';
    }
    return true;
}

static bool add_one(struct weft_sampler *s, uint32_t core, bool side)
{
    if (!weft_reserve(&s->ring, s->rings, &s->ring_room, sizeof *s->ring))
        return false;
    s->ring[s->rings++] =
        (struct sample_ring){.core = core, .side = side, .owner = NONE, .on = !s->o.keep_off};
    return true;
}

static bool add_ring(struct weft_sampler *s, uint32_t core)
{
    return add_one(s, core, false) &&
           ((s->o.no_switches && !s->o.interrupts) || add_one(s, core, true));
}

/* ---- Threads ---- */

struct threads {
    struct sample_numbers all; /* UINT32_MAX: every thread */
    uint32_t from;             /* threads before this index are done */
};

static bool add_thread(struct sample_numbers *t, uint32_t thread)
{
    if (!weft_reserve(&t->number, t->count, &t->room, sizeof *t->number))
        return false;
    t->number[t->count++] = thread;
    return true;
}

/* Finds the threads for which events are opened. */
static int find_threads(struct sample_numbers *t, const struct weft_sampler *s)
{
    if (s->o.scope == WEFT_SAMPLE_CORES || s->by_cores)
        return add_thread(t, UINT32_MAX) ? 0 : ENOMEM;
    if (s->o.scope == WEFT_SAMPLE_COMMAND)
        return add_thread(t, s->o.process) ? 0 : ENOMEM;
    const int error = sample_numbers_read(t, "/proc/%u/task", s->o.process);
    return error == ENOENT ? ESRCH : error;
}

/* Looks again. New threads are added after those found before. */
static int find_new(struct threads *t, const struct weft_sampler *s)
{
    struct sample_numbers now = {0};
    int error = find_threads(&now, s);
    t->from = t->all.count;
    qsort(t->all.number, t->from, sizeof *t->all.number, weft_order_u32);
    for (uint32_t i = 0; !error && i < now.count; i++)
        if (!bsearch(&now.number[i], t->all.number, t->from, sizeof *t->all.number,
                     weft_order_u32) &&
            !add_thread(&t->all, now.number[i]))
            error = ENOMEM;
    free(now.number);
    return error == ESRCH ? 0 : error; /* the process has ended, which will be noticed later */
}

/* ---- Events ---- */

static bool more_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Returns 0 or an errno. */
static int open_event(struct weft_sampler *s, enum sample_role role, pid_t thread, uint32_t ring)
{
    if (!weft_reserve(&s->event, s->events, &s->event_room, sizeof *s->event))
        return ENOMEM;
    struct perf_event_attr attr = sample_attr(s, role);
    s->sample_type[role] = attr.sample_type;
    s->regs_mask |= attr.sample_regs_user;
    struct sample_event *e = &s->event[s->events];
    *e = (struct sample_event){.ring = ring, .role = role, .thread = thread};
    do
        e->fd = (int)syscall(SYS_perf_event_open, &attr, thread, (int)s->ring[ring].core, -1,
                             PERF_FLAG_FD_CLOEXEC);
    while (e->fd < 0 && (errno == EINTR || (errno == EMFILE && more_files())));
    if (e->fd < 0)
        return errno;
    if (ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id) < 0) {
        int error = errno;
        close(e->fd);
        return error;
    }
    s->events++;
    return 0;
}

static void close_events(struct weft_sampler *s, uint32_t left)
{
    while (s->events > left)
        close(s->event[--s->events].fd);
}

/* Opens one of this role for each thread on each core. */
static int open_role(struct weft_sampler *s, enum sample_role role, const struct threads *t)
{
    const uint32_t before = s->events;
    int error = 0, last = 0;
    for (uint32_t r = 0; !error && r < s->rings; r++)
        for (uint32_t i = t->from; !error && i < t->all.count; i++) {
            if (s->ring[r].side != (role >= SAMPLE_SWITCHES))
                continue;
            last = open_event(s, role, (pid_t)t->all.number[i], r);
            /* Meanwhile the thread has ended, or the core was taken offline. */
            error = last == ESRCH || (last == ENODEV && r) ? 0 : last;
        }
    if (!error && s->events == before)
        error = last ? last : ESRCH;
    if (error)
        close_events(s, before);
    s->used[role] |= !error;
    return error;
}

static int open_main_as(struct weft_sampler *s, const struct threads *t)
{
    int error = open_role(s, SAMPLE_MAIN, t);
    if (error == EINVAL) {
        s->no_lost_counts = true;
        error = open_role(s, SAMPLE_MAIN, t);
    }
    if (error == EINVAL) {
        s->no_kernel_build_ids = true;
        error = open_role(s, SAMPLE_MAIN, t);
    }
    return error;
}

/* Opening the main event shows what is permitted. */
static int open_main(struct weft_sampler *s, const struct threads *t)
{
    int error = open_main_as(s, t);
    if ((error == EACCES || error == EPERM) && s->kernel) {
        s->kernel = false;
        error = open_role(s, SAMPLE_MAIN, t);
        if (!error)
            sample_note(s,
                        "left out: what happens in the kernel%s; that needs root, CAP_PERFMON, or "
                        "sysctl kernel.perf_event_paranoid=1 (it is %d)",
                        s->o.no_switches ? "" : ", and where threads wait",
                        (int)sample_sysctl("kernel/perf_event_paranoid", 2));
    }
    return error;
}

/* Clears by_cores if that is not permitted. */
static int open_by_cores(struct weft_sampler *s, struct threads *t)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", s->o.process);
    int error = access(path, F_OK) < 0 ? ESRCH : find_threads(&t->all, s);
    if (!error)
        error = open_main_as(s, t);
    if (error != EACCES && error != EPERM)
        return error;
    s->by_cores = false;
    t->all.count = 0;
    return 0;
}

static void open_leaving(struct weft_sampler *s, const struct threads *t)
{
    if (s->o.no_switches)
        return;
    /* This event happens in the kernel: without permission to sample the kernel it never fires. */
    s->leaving = s->kernel && open_role(s, SAMPLE_LEAVE, t) == 0;
    if (!s->leaving && (s->kernel || s->o.no_kernel))
        sample_note(s, "left out: where threads wait, which happens in the kernel");
}

static void open_interrupts(struct weft_sampler *s, const struct threads *t)
{
    const uint32_t before = s->events;
    int error = 0;
    if (!s->o.interrupts || !sample_find_tracepoints(s))
        return;
    for (enum sample_role role = SAMPLE_IRQ_ENTRY; !error && role <= SAMPLE_SOFT_EXIT; role++)
        error = open_role(s, role, t);
    if (!error)
        return;
    close_events(s, before);
    for (enum sample_role role = SAMPLE_IRQ_ENTRY; role <= SAMPLE_SOFT_EXIT; role++)
        s->used[role] = false;
    sample_note(s,
                "interrupts are left out: their tracepoints cannot be opened (%s); that needs root",
                strerror(error));
}

enum {
    LOOKS = 10
}; /* a process that creates threads all the time will always have a new one without an event */

/* A thread created meanwhile, by one without an event, has no event. */
static int open_late(struct weft_sampler *s, struct threads *t)
{
    int error = 0;
    s->late = s->events;
    if (s->o.scope != WEFT_SAMPLE_PROCESS || s->by_cores)
        return 0;
    for (int look = 0; !error && look < LOOKS; look++) {
        error = find_new(t, s);
        if (error || t->from == t->all.count)
            break;
        for (enum sample_role role = SAMPLE_MAIN; !error && role < SAMPLE_ROLES; role++)
            error = s->used[role] ? open_role(s, role, t) : 0;
        error = error == ESRCH ? 0 : error;
    }
    return error;
}

static int compare_ids(const void *a, const void *b)
{
    const struct sample_event *const *x = a, *const *y = b;
    return weft_order((*x)->id, (*y)->id);
}

int sample_open_events(struct weft_sampler *s, struct weft_error *err)
{
    struct threads t = {0};
    int error = each_core(add_ring, s) ? 0 : ENOMEM;
    if (!error && s->by_cores)
        error = open_by_cores(s, &t);
    if (!error && !s->by_cores)
        error = find_threads(&t.all, s);
    if (!error && s->o.scope == WEFT_SAMPLE_PROCESS && t.all.count == 0)
        error = ESRCH;
    if (!error && !s->by_cores)
        error = open_main(s, &t);
    if (!error && (s->o.scope == WEFT_SAMPLE_CORES || s->by_cores))
        error = open_role(s, SAMPLE_TRACK, &t);
    if (!error && !s->o.no_switches)
        error = open_role(s, SAMPLE_SWITCHES, &t);
    if (!error) {
        open_leaving(s, &t);
        open_interrupts(s, &t);
        error = open_late(s, &t);
    }
    if (!error) {
        for (uint32_t i = 0; i < s->rings; i++)
            if (s->ring[i].core >= s->cores)
                s->cores = s->ring[i].core + 1;
        s->by_id = malloc(s->events * sizeof *s->by_id);
        if (!s->by_id)
            error = ENOMEM;
    }
    free(t.all.number);
    if (error)
        return sample_open_error(s, error, err);
    for (uint32_t i = 0; i < s->events; i++)
        s->by_id[i] = &s->event[i];
    qsort(s->by_id, s->events, sizeof *s->by_id, compare_ids);
    return 0;
}

void sample_close_events(struct weft_sampler *s)
{
    close_events(s, 0);
    free(s->event);
    free(s->by_id);
    s->event = NULL;
    s->by_id = NULL;
}

void sample_switch(struct weft_sampler *s, enum sample_role first, enum sample_role last,
                   uint32_t ring, bool on)
{
    for (uint32_t i = 0; i < s->events; i++) {
        const struct sample_event *e = &s->event[i];
        const bool given_up =
            s->burden.over && (e->role == SAMPLE_SWITCHES || e->role == SAMPLE_LEAVE);
        if (e->role >= first && e->role <= last && (ring == NONE || ring == e->ring) &&
            !(on && given_up))
            ioctl(e->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    }
}
