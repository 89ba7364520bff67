/* SPDX-License-Identifier: ISC */
/* The order of what is done here matters: this process may be killed between any two lines, and the thread goes on then.
 * Before its registers are set, only memory has changed that belongs to nobody; after that, all is there that it needs to
 * go back. */
#include "cli/late/inject_frame.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "record/control.h"

#if defined(__x86_64__) || defined(__aarch64__)

enum { FLOATS_MAX = 16 << 10, STACK_SPARE = 4096 };

struct stopped {
    pid_t thread;
    bool fresh;
    struct user_regs_struct u;
    uint64_t mask;       /* the signals that it blocks */
    size_t floats_bytes; /* of its registers for floating-point numbers and vectors */
    _Alignas(64) unsigned char floats[FLOATS_MAX];
};

static bool get_set(pid_t thread, int set, void *to, size_t *bytes)
{
    struct iovec v = {to, *bytes};
    const bool got = ptrace(PTRACE_GETREGSET, thread, (void *)(intptr_t)set, &v) == 0;
    *bytes = v.iov_len;
    return got;
}

static bool set_registers(const struct stopped *s, const struct user_regs_struct *u)
{
    struct iovec v = {(void *)(uintptr_t)u, sizeof *u};
    return ptrace(PTRACE_SETREGSET, s->thread, (void *)NT_PRSTATUS, &v) == 0;
}

/* What is written must be there as a whole; some room below it is left for the function. */
static bool put(int mem, uint64_t at, const void *from, size_t bytes)
{
    return at > STACK_SPARE && pwrite(mem, from, bytes, (off_t)at) == (ssize_t)bytes;
}

/* All signals wait until rt_sigreturn. */
static void block_signals(const struct stopped *s)
{
    uint64_t all = UINT64_MAX;
    ptrace(PTRACE_SETSIGMASK, s->thread, (void *)sizeof all, &all);
}

/* rt_sigreturn would set the stack for signal handlers; it ignores what is invalid, and the thread keeps its own. */
#define NO_STACK                                                                                   \
    (stack_t)                                                                                      \
    {                                                                                              \
        .ss_flags = 4                                                                              \
    }
#endif

#if defined(__x86_64__)

enum {
    FEATURES_AT = 464,    /* in what XSAVE stores: free, and used by the kernel */
    IN_USE_AT = 512,      /* which features are not in their first state */
    MAGIC_1 = 0x46505853, /* see <asm/sigcontext.h> */
    MAGIC_2 = 0x46505845,
    CONTEXT_FLAGS = 1 | 2 | 4, /* with XSAVE's state, and the stack segment */
    FLAGS_OFF = 0x100 | 0x400 | 0x4000 | 0x10000 | 0x40000, /* what no function expects to be set */
    TILES = 3 << 17,                                        /* AMX: large, and rarely used */
};

/* The call that was interrupted is made again. A wait that had a time limit goes on with what is left of it
 * (restart_syscall), but for epoll_wait, which the kernel ends: then its caller gets EINTR, unless it has waited for a moment
 * only. Without a limit, it waits on. */
static void restart(struct user_regs_struct *u, bool fresh)
{
    enum { RESTART_SYS = -512, RESTART_NOINTR = -513, RESTART_NOHAND = -514, RESTART_BLOCK = -516 };
    const int64_t result = (int64_t)u->rax, call = (int64_t)u->orig_rax;
    const bool again =
        ((call == SYS_epoll_wait || call == SYS_epoll_pwait) && (fresh || (int32_t)u->r10 < 0)) ||
        (call == 441 /* epoll_pwait2 */ && (fresh || u->r10 == 0));
    if (call < 0)
        return;
    u->orig_rax = UINT64_MAX;
    if (result == RESTART_SYS || result == RESTART_NOINTR || result == RESTART_NOHAND ||
        (result == -EINTR && again))
        u->rax = (uint64_t)call;
    else if (result == RESTART_BLOCK)
        u->rax = SYS_restart_syscall;
    else
        return;
    u->rip -= 2;
}

static uint64_t word_at(const struct stopped *s, size_t at)
{
    uint64_t word;
    memcpy(&word, s->floats + at, sizeof word);
    return word;
}

/* It goes back itself, by what is in struct weft_record_frame. */
static enum cli_injected enter_ours(struct stopped *s, int mem, uint64_t function)
{
    _Alignas(64) static unsigned char bytes[FLOATS_MAX + 64 + sizeof(struct weft_record_frame)];
    const struct user_regs_struct *u = &s->u;
    const struct weft_record_frame f = {u->r15, u->r14, u->r13, u->r12,    u->r11, u->r10,
                                        u->r9,  u->r8,  u->rdi, u->rsi,    u->rbp, u->rdx,
                                        u->rcx, u->rbx, u->rax, u->eflags, u->rip, {0}};
    const size_t used = offsetof(struct weft_record_frame, red_zone);
    const uint64_t frame_at = u->rsp - sizeof f;
    const uint64_t at = (frame_at - s->floats_bytes) & ~UINT64_C(63);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, s->floats, s->floats_bytes);
    memcpy(bytes + (frame_at - at), &f, used);
    if (!put(mem, at, bytes, (size_t)(frame_at - at) + used))
        return CLI_INJECT_ROOM;
    struct user_regs_struct to = *u;
    to.rip = function;
    to.rsp = at;
    to.rbx = frame_at;
    to.eflags &= ~(uint64_t)FLAGS_OFF;
    return set_registers(s, &to) ? CLI_INJECTED : CLI_INJECT_REFUSED;
}

/* The kernel takes no more bytes than the thread has room for, which without tiles is less than ptrace gives. */
static size_t without_tiles(const struct stopped *s)
{
    const uint64_t features = word_at(s, FEATURES_AT);
    size_t end = IN_USE_AT + 64;
    if (word_at(s, IN_USE_AT) & TILES)
        return s->floats_bytes;
    for (unsigned i = 2; i < 63; i++) {
        uint32_t size, offset, c, d;
        if (!(features >> i & 1) || (UINT64_C(1) << i & TILES))
            continue;
        __asm__("cpuid" : "=a"(size), "=b"(offset), "=c"(c), "=d"(d) : "a"(0xd), "c"(i));
        end = offset + size > end ? offset + size : end;
    }
    return end < s->floats_bytes ? end : s->floats_bytes;
}

/* As the kernel does it for a signal handler. */
static enum cli_injected enter_as_handler(struct stopped *s, int mem,
                                          const struct cli_inject_call *call)
{
    struct frame {
        uint64_t returns_to;
        ucontext_t context;
    };
    _Alignas(64) static unsigned char bytes[FLOATS_MAX + 256 + sizeof(struct frame)];
    struct user_regs_struct *u = &s->u;
    const size_t floats = without_tiles(s);
    const uint64_t floats_at = (u->rsp - 128 - floats - 8) & ~UINT64_C(63);
    const uint64_t at = ((floats_at - sizeof(struct frame)) & ~UINT64_C(15)) - 8;
    const uint32_t magic_1[] = {MAGIC_1, (uint32_t)floats + 4}, magic_2 = MAGIC_2;
    const uint64_t features = word_at(s, FEATURES_AT);
    const uint32_t size[] = {(uint32_t)floats, 0};
    struct frame f = {
        .returns_to = call->returns_to,
        .context = {.uc_flags = CONTEXT_FLAGS, .uc_stack = NO_STACK},
    };
    const uint64_t regs[] = {u->r8,
                             u->r9,
                             u->r10,
                             u->r11,
                             u->r12,
                             u->r13,
                             u->r14,
                             u->r15,
                             u->rdi,
                             u->rsi,
                             u->rbp,
                             u->rbx,
                             u->rdx,
                             u->rax,
                             u->rcx,
                             u->rsp,
                             u->rip,
                             u->eflags,
                             (u->cs & 0xffff) | u->ss << 48};
    memcpy(f.context.uc_mcontext.gregs, regs, sizeof regs);
    memcpy(&f.context.uc_mcontext.fpregs, &floats_at, sizeof floats_at);
    memcpy(&f.context.uc_sigmask, &s->mask, sizeof s->mask);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &f, sizeof f);
    unsigned char *to_floats = bytes + (floats_at - at);
    memcpy(to_floats, s->floats, floats);
    memcpy(to_floats + FEATURES_AT, magic_1, sizeof magic_1);
    memcpy(to_floats + FEATURES_AT + 8, &features, sizeof features);
    memcpy(to_floats + FEATURES_AT + 16, size, sizeof size);
    memcpy(to_floats + floats, &magic_2, sizeof magic_2);
    if (!put(mem, at, bytes, (size_t)(floats_at - at) + floats + sizeof magic_2))
        return CLI_INJECT_ROOM;
    struct user_regs_struct to = *u;
    to.rip = call->function;
    to.rsp = at;
    to.rdi = call->arg[0];
    to.rsi = call->arg[1];
    to.rdx = call->arg[2];
    to.rcx = call->arg[3];
    to.r8 = call->arg[4];
    to.r9 = call->arg[5];
    to.rax = 0;
    to.eflags &= ~(uint64_t)FLAGS_OFF;
    if (!set_registers(s, &to))
        return CLI_INJECT_REFUSED;
    block_signals(s);
    return CLI_INJECTED;
}

static enum cli_injected enter(struct stopped *s, int mem, const struct cli_inject_call *call)
{
    enum {
        SHADOW_STACK = 0x204
    }; /* NT_X86_SHSTK: returning to where no call was is a fault there */
    uint64_t shadow;
    size_t bytes = sizeof shadow;
    s->floats_bytes = sizeof s->floats;
    if (get_set(s->thread, SHADOW_STACK, &shadow, &bytes) ||
        !get_set(s->thread, NT_X86_XSTATE, s->floats, &s->floats_bytes))
        return CLI_INJECT_UNKNOWN;
    restart(&s->u, s->fresh);
    return call->returns_to ? enter_as_handler(s, mem, call) : enter_ours(s, mem, call->function);
}

#elif defined(__aarch64__)

/* The kernel has prepared the registers so that an interrupted call is made again. */
static enum cli_injected enter(struct stopped *s, int mem, const struct cli_inject_call *call)
{
    enum { FLOATS_MAGIC = 0x46508001 };
    struct frame {
        unsigned char info[128];
        ucontext_t context;
    };
    static struct frame f;
    const struct user_regs_struct *u = &s->u;
    struct user_fpsimd_struct floats;
    struct {
        uint32_t magic, size, status, control;
        __uint128_t vector[32];
    } record = {FLOATS_MAGIC, sizeof record, 0, 0, {0}};
    const uint64_t at = (u->sp - sizeof f) & ~UINT64_C(15);
    s->floats_bytes = sizeof floats;
    if (!get_set(s->thread, NT_FPREGSET, &floats, &s->floats_bytes))
        return CLI_INJECT_UNKNOWN;
    record.status = floats.fpsr;
    record.control = floats.fpcr;
    memcpy(record.vector, floats.vregs, sizeof record.vector);
    memset(&f, 0, sizeof f);
    f.context.uc_stack = NO_STACK;
    memcpy(&f.context.uc_sigmask, &s->mask, sizeof s->mask);
    memcpy(f.context.uc_mcontext.regs, u->regs, sizeof u->regs);
    f.context.uc_mcontext.sp = u->sp;
    f.context.uc_mcontext.pc = u->pc;
    f.context.uc_mcontext.pstate = u->pstate;
    memcpy(f.context.uc_mcontext.__reserved, &record, sizeof record);
    if (!put(mem, at, &f, sizeof f))
        return CLI_INJECT_ROOM;
    struct user_regs_struct to = *u;
    to.pc = call->function;
    to.sp = at;
    memcpy(to.regs, call->arg, sizeof call->arg);
    to.regs[29] = 0;
    to.regs[30] = call->returns_to;
    if (!set_registers(s, &to))
        return CLI_INJECT_REFUSED;
    block_signals(s);
    return CLI_INJECTED;
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)

/* Perhaps the call has returned by now, but nothing was done after that. */
static bool is_at(const struct user_regs_struct *u, const struct cli_inject_at *at)
{
#if defined(__x86_64__)
    return u->rsp == at->sp && u->rip == at->pc && (int64_t)u->orig_rax >= 0;
#else
    return u->sp == at->sp && (u->pc == at->pc || u->pc == at->pc - 4);
#endif
}

enum cli_injected cli_inject_enter(pid_t thread, int mem, const struct cli_inject_at *at,
                                   const struct cli_inject_call *call)
{
    static struct stopped s;
    size_t bytes = sizeof s.u;
    s.thread = thread;
    s.fresh = at->fresh;
    if (!get_set(thread, NT_PRSTATUS, &s.u, &bytes) ||
        ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof s.mask, &s.mask) < 0)
        return CLI_INJECT_REFUSED;
    if (bytes != sizeof s.u) /* a 32-bit program's */
        return CLI_INJECT_UNKNOWN;
    if (at->waits && !is_at(&s.u, at))
        return CLI_INJECT_NONE;
    return enter(&s, mem, call);
}

#else
enum cli_injected cli_inject_enter(pid_t thread, int mem, const struct cli_inject_at *at,
                                   const struct cli_inject_call *call)
{
    (void)thread, (void)mem, (void)at, (void)call;
    return CLI_INJECT_UNKNOWN;
}
#endif
