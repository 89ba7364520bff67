/* SPDX-License-Identifier: ISC */
#include "cli/late/inject.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/late/inject_frame.h"
#include "cli/rights.h"
#include "sample/standing.h"
#include "sample/stop.h"
#include "symbols/worker.h"

enum {
    THREADS_MAX = 1000, /* that are looked at */
    TRIES = 20,         /* a signal may come, or no thread be fit for a moment */
    NAP_NS = 1000 * 1000,
    FRESH_NS = 1100 * 1000 * 1000, /* for a wait to end that has a time limit: often one second */
    LOOK_NS = 300 * 1000,
};

/* ---- In a child process, which does not make others wait if a thread does not stop ---- */

struct order {
    uint64_t thread;
    struct cli_inject_call call;
    struct cli_inject_at at;
};

struct answer {
    struct cli_inject_result result;
    bool again; /* it was about to receive a signal, or does not wait any more */
};

/* Returns false if the thread was not let go: then only the end of this process does that. */
static bool obey(const struct order *o, struct answer *a)
{
    const pid_t thread = (pid_t)o->thread;
    int64_t since_ns;
    int status;
    *a = (struct answer){.result = {.how = CLI_INJECT_REFUSED}};
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0) {
        a->result.error = errno;
        return true;
    }
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    if (!sample_stop_await(thread, &status, &since_ns)) {
        a->result.how = CLI_INJECT_LATE;
        return false;
    }
    const int sig = sample_stop_signal(status);
    a->again = sig != 0;
    if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
        a->result.how = CLI_INJECT_HALTED;
    else if (!sig)
        a->result.how = cli_inject_enter(thread, SYMBOLS_WORKER_FILES, &o->at, &o->call);
    a->again |= a->result.how == CLI_INJECT_NONE;
    a->result.error = errno;
    const bool gone_on = ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)sig) == 0;
    a->result.stopped_ns = weft_monotonic_ns() - since_ns;
    return gone_on;
}

static void serve(int fd, void *data)
{
    struct order o;
    struct answer a;
    (void)data;
    sample_stop_hasten();
    while (symbols_worker_get(fd, &o, sizeof o, -1)) {
        const bool gone_on = obey(&o, &a);
        if (!symbols_worker_put(fd, &a, sizeof a) || !gone_on)
            return;
    }
}

/* ---- Which thread ---- */

/* The lower the better. What the kernel does not continue comes late: its caller sees that it was interrupted. */
enum rank { CONTINUED, RUNNING, ENDED, UNFIT };

static enum rank rank_of_call(const struct sample_standing_at *at)
{
    static const int64_t continued[] = {
        SYS_read,
        SYS_readv,
        SYS_recvfrom,
        SYS_recvmsg,
        SYS_accept,
        SYS_accept4,
        SYS_wait4,
        SYS_waitid,
        SYS_clock_nanosleep,
        SYS_nanosleep,
        SYS_restart_syscall,
        SYS_ppoll,
        SYS_pselect6,
        SYS_connect,
#if defined(__x86_64__)
        SYS_poll,
        SYS_select,
        SYS_pause,
#endif
    };
    for (size_t i = 0; i < sizeof continued / sizeof *continued; i++)
        if (at->call == continued[i])
            return CONTINUED;
#if defined(__x86_64__)
    if (at->call == SYS_epoll_wait)
        return (int32_t)at->arg[3] < 0 ? CONTINUED : ENDED;
#endif
    if (at->call == SYS_epoll_pwait)
        return (int32_t)at->arg[3] < 0 ? CONTINUED : ENDED;
    if (at->call == 441 /* epoll_pwait2 */)
        return at->arg[3] == 0 ? CONTINUED : ENDED;
    return UNFIT;
}

static enum rank rank_of(pid_t pid, pid_t thread, enum cli_inject_where where,
                         const struct cli_inject_call *call, bool *halted)
{
    struct sample_standing_at at;
    char state[32];
    if (!cli_status_line(thread, "State", state, sizeof state))
        return UNFIT;
    *halted |= *state == 'T';
    if (*state == 'R')
        return where == CLI_INJECT_WAITING ? UNFIT : RUNNING;
    if (*state != 'S' || !sample_standing_at((uint32_t)pid, (uint32_t)thread, &at))
        return UNFIT;
    if (at.running)
        return where == CLI_INJECT_WAITING ? UNFIT : RUNNING;
    if (call->fits && !call->fits(call->data, at.sp))
        return UNFIT;
    const enum rank rank = rank_of_call(&at);
    if (rank != UNFIT || where == CLI_INJECT_WAITING)
        return rank;
    return at.call == SYS_futex ? CONTINUED : ENDED;
}

/* 0: none. */
static pid_t choose(pid_t pid, enum cli_inject_where where, const struct cli_inject_call *call,
                    enum rank *rank_chosen, bool *halted)
{
    char path[64];
    enum rank best = UNFIT;
    pid_t chosen = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *list = opendir(path);
    const struct dirent *e;
    *halted = false;
    for (unsigned i = 0; list && i < THREADS_MAX && (e = readdir(list));) {
        const pid_t thread = (pid_t)strtol(e->d_name, NULL, 10);
        if (thread <= 0)
            continue;
        i++;
        const enum rank rank = rank_of(pid, thread, where, call, halted);
        if (rank < best) {
            best = rank;
            chosen = thread;
        }
    }
    if (list)
        closedir(list);
    *rank_chosen = best;
    return chosen;
}

/* Waits until a thread has begun to wait anew. Returns false if it does not. */
static bool await_fresh(pid_t pid, pid_t thread, enum cli_inject_where where,
                        const struct cli_inject_call *call)
{
    const int64_t until_ns = weft_monotonic_ns() + FRESH_NS;
    uint64_t before, now;
    bool halted = false;
    sample_standing_switches((uint32_t)pid, (uint32_t)thread, &before);
    do {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        const bool waits = sample_standing_switches((uint32_t)pid, (uint32_t)thread, &now) &&
                           rank_of(pid, thread, where, call, &halted) == ENDED;
        if (waits && now != before)
            return true;
        /* It is about to. */
        before = waits ? now : UINT64_MAX;
    } while (weft_monotonic_ns() < until_ns);
    return false;
}

/* Where it waits. Returns false if it does not any more. */
static bool note_place(pid_t pid, pid_t thread, const struct cli_inject_call *call,
                       struct cli_inject_at *to)
{
    struct sample_standing_at at;
    if (!sample_standing_at((uint32_t)pid, (uint32_t)thread, &at) || at.running ||
        rank_of_call(&at) == UNFIT || (call->fits && !call->fits(call->data, at.sp)))
        return false;
    to->waits = true;
    to->sp = at.sp;
    to->pc = at.pc;
    return true;
}

/* ---- Outside ---- */

struct cli_inject_result cli_inject(pid_t pid, int mem, enum cli_inject_where where,
                                    const struct cli_inject_call *call)
{
    const struct symbols_worker_options o = {.aside = true, .keep = {mem, -1}};
    struct cli_inject_result result = {.how = CLI_INJECT_NONE};
    struct symbols_worker w = {.fd = -1};
    struct answer a = {.again = true};
    if (symbols_worker_start(&w, &o, serve, NULL) < 0)
        return result;
    for (unsigned i = 0; i < TRIES && a.again; i++) {
        bool halted;
        enum rank rank;
        struct order order = {.call = *call};
        order.thread = (uint64_t)choose(pid, where, call, &rank, &halted);
        result.how = halted ? CLI_INJECT_HALTED : CLI_INJECT_NONE;
        if (order.thread == 0) {
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
            continue;
        }
        /* Of any other rank, it is not in such a wait now: if it is when it is interrupted, it has just begun. */
        order.at.fresh = !call->returns_to &&
                         (rank != ENDED || await_fresh(pid, (pid_t)order.thread, where, call));
        if (where == CLI_INJECT_WAITING && !note_place(pid, (pid_t)order.thread, call, &order.at))
            continue;
        result.how = CLI_INJECT_LATE;
        if (!symbols_worker_put(w.fd, &order, sizeof order) ||
            !symbols_worker_answers(&w, &a, sizeof a))
            break;
        const int64_t before_ns = result.stopped_ns;
        result = a.result;
        result.stopped_ns += before_ns;
    }
    symbols_worker_stop(&w);
    return result;
}

void cli_inject_why(pid_t pid, const struct cli_inject_result *r, char *to, size_t size)
{
    char tracer[32] = "";
    static const char *const text[] = {
        [CLI_INJECTED] = "",
        [CLI_INJECT_NONE] = "none of its threads can be interrupted for that",
        [CLI_INJECT_HALTED] = "it is stopped (SIGCONT continues it)",
        [CLI_INJECT_REFUSED] = "it may not be interrupted for that",
        [CLI_INJECT_ROOM] = "the stack of its thread has no room for that",
        [CLI_INJECT_LATE] = "its thread could not be interrupted",
        [CLI_INJECT_UNKNOWN] = "it cannot be interrupted for that on this kind of processor",
    };
    snprintf(to, size, "%s", text[r->how]);
    if (r->how != CLI_INJECT_REFUSED)
        return;
    if (cli_status_line(pid, "TracerPid", tracer, sizeof tracer) && strtol(tracer, NULL, 10) > 0)
        snprintf(to, size, "it may not be interrupted for that: process %ld traces it",
                 strtol(tracer, NULL, 10));
    else
        snprintf(to, size,
                 "it may not be interrupted for that: %s; be root, or have CAP_SYS_PTRACE",
                 strerror(r->error));
}
