/* SPDX-License-Identifier: ISC */
/* Threads that already wait when sampling begins. The kernel reports a thread's stack when the thread leaves
 * its core. These threads have left before, and one in a deadlock never comes back. So they are reported as if
 * they left when sampling began and came back when it ended.
 * If a thread has not run between two looks, it has waited all the time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "sample/distant.h"
#include "sample/standing.h"
#include "sample/state.h"

enum { THREADS_MAX = 4096 };

struct sample_blocked_thread {
    uint32_t thread; /* first: they are sorted by it */
    bool told, back;
    uint64_t switches; /* how often it had left a core at the first look */
};

/* What cannot be read is treated as missing. */
static void open_memory(struct symbols_worker *d, uint32_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/mem", process);
    const int mem = open(path, O_RDONLY | O_CLOEXEC);
    sample_distant_open(d, mem, -1);
    if (mem >= 0)
        close(mem);
}

/* ---- Before sampling begins, and just after ---- */

int sample_blocked_look(struct weft_sampler *s)
{
    struct sample_blocked_thread t = {.told = false};
    struct sample_numbers threads = {0};
    int rc = 0;
    s->blocked.count = 0;
    s->blocked.looked = false;
    if (s->o.scope != WEFT_SAMPLE_PROCESS || s->o.no_switches)
        return 0;
    if (sample_numbers_read(&threads, "/proc/%u/task", s->o.process) == ENOMEM)
        rc = WEFT_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < threads.count && s->blocked.count < THREADS_MAX; i++) {
        t.thread = threads.number[i];
        if (!sample_standing_switches(s->o.process, t.thread, &t.switches))
            continue;
        if (weft_reserve(&s->blocked.thread, s->blocked.count, &s->blocked.room,
                         sizeof *s->blocked.thread))
            s->blocked.thread[s->blocked.count++] = t;
        else
            rc = WEFT_E_NOMEM;
    }
    free(threads.number);
    weft_sort(s->blocked.thread, s->blocked.count, sizeof t, weft_order_u32);
    return rc;
}

static struct weft_sampled record_of(const struct weft_sampler *s, uint32_t thread,
                                     uint64_t time_ns)
{
    struct weft_sampled r = sample_record(WEFT_RECORD_SWITCH, time_ns);
    r.process = s->o.process;
    r.thread = thread;
    return r;
}

bool sample_blocked_begin(struct weft_sampler *s)
{
    uint64_t switches;
    bool more = true;
    if (s->blocked.looked || s->blocked.count == 0)
        return true;
    s->blocked.looked = true;
    struct sample_standing *now = malloc(sizeof *now);
    struct symbols_worker memory;
    bool complete;
    open_memory(&memory, s->o.process);
    for (uint32_t i = 0; now && more && i < s->blocked.count; i++) {
        struct sample_blocked_thread *t = &s->blocked.thread[i];
        now->process = s->o.process;
        now->thread = t->thread;
        if (!sample_standing_at(now->process, t->thread, &now->at))
            continue;
        sample_standing_read(now, &memory);
        if (!sample_standing_switches(now->process, t->thread, &switches) ||
            switches != t->switches)
            continue; /* it was there before, and the kernel reports the rest */
        struct weft_sampled r = record_of(s, t->thread, s->blocked.since_ns);
        r.flags = WEFT_SWITCH_OUT;
        r.address = s->address;
        r.addresses = sample_standing_callers(s->unwinder, now, &memory, s->address, s->max_frames,
                                              &complete);
        t->told = true;
        s->counts.switches++;
        more = sample_give(s, &r);
    }
    symbols_worker_stop(&memory);
    free(now);
    return more;
}

void sample_blocked_back(struct weft_sampler *s, uint32_t thread)
{
    struct sample_blocked_thread *t =
        s->blocked.count
            ? bsearch(&thread, s->blocked.thread, s->blocked.count, sizeof *t, weft_order_u32)
            : NULL;
    if (t)
        t->back = true;
}

bool sample_blocked_end(struct weft_sampler *s)
{
    bool more = true;
    if (s->burden.over) /* it is not known when they came back */
        s->blocked.count = 0;
    for (uint32_t i = 0; more && i < s->blocked.count; i++) {
        const struct sample_blocked_thread *t = &s->blocked.thread[i];
        if (!t->told || t->back)
            continue;
        const struct weft_sampled r = record_of(s, t->thread, s->blocked.until_ns);
        more = sample_give(s, &r);
    }
    s->blocked.count = 0;
    return more;
}
