/* SPDX-License-Identifier: ISC */
/* A thread that runs has no registers to be read in /proc. A child process seizes it, interrupts it, reads them and a
 * copy of its stack, and lets go of it. If the child ends, or is killed, the kernel lets go of the thread; so it is the
 * child that does this: it is killed if it is late, and dies with its parent.
 * The interruption is not seen by the thread: it is not in a system call, or the kernel repeats the call. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include <asm/perf_regs.h>

#include "base/clock.h"
#include "now/threads.h"
#include "sample/stop.h"

struct answer {
    int64_t stopped_ns;
    struct now_registers regs;
    uint32_t bytes; /* of its stack, which follow */
    bool ok;
};

struct now_runner {
    struct symbols_worker worker;
    struct now *n;
};

#if defined(__x86_64__) || defined(__aarch64__)

static void put(struct now_registers *r, unsigned number, uint64_t value)
{
    r->mask |= UINT64_C(1) << number;
    r->reg[__builtin_popcountll(r->mask & ((UINT64_C(1) << number) - 1))] = value;
}

/* In ascending order of perf's numbers. */
void now_registers_of(struct now_registers *r, const struct user_regs_struct *from)
{
    const struct user_regs_struct u = *from;
    *r = (struct now_registers){0};
#if defined(__x86_64__)
    const uint64_t low[] = {u.rax, u.rbx, u.rcx, u.rdx, u.rsi, u.rdi, u.rbp, u.rsp, u.rip};
    const uint64_t high[] = {u.r8, u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15};
    for (unsigned i = 0; i < 9; i++)
        put(r, PERF_REG_X86_AX + i, low[i]);
    for (unsigned i = 0; i < 8; i++)
        put(r, PERF_REG_X86_R8 + i, high[i]);
    r->sp = u.rsp, r->pc = u.rip;
#else
    for (unsigned i = 0; i < 31; i++)
        put(r, PERF_REG_ARM64_X0 + i, u.regs[i]);
    put(r, PERF_REG_ARM64_SP, u.sp);
    put(r, PERF_REG_ARM64_PC, u.pc);
    r->sp = u.sp, r->pc = u.pc;
#endif
}

static void replace(struct now_registers *r, unsigned number, uint64_t value)
{
    r->reg[__builtin_popcountll(r->mask & ((UINT64_C(1) << number) - 1))] = value;
}

bool now_registers_return(struct now_registers *r, const uint64_t *stack, size_t bytes)
{
#if defined(__x86_64__)
    if (bytes < sizeof *stack)
        return false;
    r->pc = stack[0];
    r->sp += sizeof *stack;
    replace(r, PERF_REG_X86_SP, r->sp);
    replace(r, PERF_REG_X86_IP, r->pc);
#else
    (void)stack, (void)bytes;
    r->pc = r->reg[PERF_REG_ARM64_LR];
    replace(r, PERF_REG_ARM64_PC, r->pc);
#endif
    return true;
}

static bool read_registers(pid_t thread, struct now_registers *r)
{
    struct user_regs_struct u;
    struct iovec to = {&u, sizeof u};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &to) < 0 || to.iov_len != sizeof u)
        return false; /* … a 32-bit program's */
    now_registers_of(r, &u);
    return true;
}

/* Returns false if the thread was not let go: then only the end of this process does that. */
static bool look(pid_t thread, int mem, struct answer *a, void *stack, size_t room)
{
    int64_t since_ns;
    int status;
    *a = (struct answer){0};
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) < 0)
        return true;
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    if (!sample_stop_await(thread, &status, &since_ns))
        return false;
    const int sig = sample_stop_signal(status);
    if (read_registers(thread, &a->regs)) {
        const ssize_t n = pread(mem, stack, room, (off_t)a->regs.sp);
        a->ok = true;
        a->bytes = n > 0 ? (uint32_t)n : 0;
    }
    const bool gone_on = ptrace(PTRACE_DETACH, thread, NULL, (void *)(intptr_t)sig) == 0;
    a->stopped_ns = weft_monotonic_ns() - since_ns;
    return gone_on;
}

#else
void now_registers_of(struct now_registers *r, const struct user_regs_struct *from)
{
    (void)from;
    *r = (struct now_registers){0};
}

bool now_registers_return(struct now_registers *r, const uint64_t *stack, size_t bytes)
{
    (void)r, (void)stack, (void)bytes;
    return false;
}

static bool look(pid_t thread, int mem, struct answer *a, void *stack, size_t room)
{
    (void)thread, (void)mem, (void)stack, (void)room;
    *a = (struct answer){0};
    return true;
}
#endif

static void serve(int fd, void *data)
{
    static char stack[SAMPLE_STANDING_BYTES];
    struct answer a;
    uint32_t thread;
    (void)data;
    sample_stop_hasten();
    while (symbols_worker_get(fd, &thread, sizeof thread, -1)) {
        const bool gone_on = look((pid_t)thread, SYMBOLS_WORKER_FILES, &a, stack, sizeof stack);
        if (!symbols_worker_put(fd, &a, sizeof a) || !symbols_worker_put(fd, stack, a.bytes) ||
            !gone_on)
            return;
    }
}

struct now_runner *now_runner_new(struct now_threads *t)
{
    char path[64];
    struct now_runner *r = calloc(1, sizeof *r);
    snprintf(path, sizeof path, "/proc/%d/task/%d/mem", (int)t->p->pid, (int)t->p->thread);
    const int mem = r ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const struct symbols_worker_options o = {.aside = true, .keep = {mem, -1}};
    if (r && (mem < 0 || symbols_worker_start(&r->worker, &o, serve, NULL) < 0)) {
        free(r);
        r = NULL;
    }
    if (mem >= 0)
        close(mem);
    if (r)
        r->n = t->n;
    return r;
}

bool now_runner_look(struct now_runner *r, uint32_t thread, struct now_registers *regs, void *stack,
                     size_t room, size_t *bytes)
{
    struct answer a;
    if (r->worker.late || !symbols_worker_put(r->worker.fd, &thread, sizeof thread) ||
        !symbols_worker_answers(&r->worker, &a, sizeof a))
        return false;
    if (a.bytes > room || !symbols_worker_answers(&r->worker, stack, a.bytes))
        return false;
    *bytes = a.bytes;
    *regs = a.regs;
    r->n->stopped_ns += (uint64_t)(a.stopped_ns > 0 ? a.stopped_ns : 0);
    return a.ok;
}

void now_runner_free(struct now_runner *r)
{
    if (r)
        symbols_worker_stop(&r->worker);
    free(r);
}
