/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "chain.h"

static struct chain *taken;
static uint64_t stack_end;

/* Runs on a stack of its own, so that the other one stays as it was. */
static void copy(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *u = context;
    uint64_t sp;
    (void)signal, (void)info;
#if defined(__x86_64__)
    /* perf's order: ax bx cx dx si di bp sp ip, and r8 to r15 from bit 16 on */
    static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
                                REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    taken->regs_mask = 0xff01ff;
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        taken->regs[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
    sp = (uint64_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    taken->regs_mask = (UINT64_C(1) << 33) - 1;
    memcpy(taken->regs, u->uc_mcontext.regs, 31 * sizeof *taken->regs);
    taken->regs[31] = u->uc_mcontext.sp;
    taken->regs[32] = u->uc_mcontext.pc;
    sp = u->uc_mcontext.sp;
#endif
    taken->stack_bytes = stack_end - sp < CHAIN_STACK ? stack_end - sp : CHAIN_STACK;
    memcpy(taken->stack, (const void *)(uintptr_t)sp, taken->stack_bytes);
}

static void interrupt(int signal)
{
    (void)signal;
    raise(SIGUSR2);
}

static jmp_buf back;

__attribute__((noinline, noreturn)) static void leave(void)
{
    raise(SIGUSR2);
    longjmp(back, 1);
}

/* What it calls does not return: the return address is that of whatever stands behind it. */
__attribute__((noinline, noreturn)) static void end(struct chain *c)
{
    volatile char room[200] = {(char)c->in_handler};
    (void)room;
    leave();
}

/* Not inlined, not turned into a jump, and with something on the stack, so that each needs a rule of its own. */
__attribute__((noinline)) static int go(struct chain *c, int depth, volatile int *up)
{
    volatile int room[5 + 3] = {depth};
    c->returns[CHAIN_DEPTH - 1 - depth] = (uint64_t)(uintptr_t)__builtin_return_address(0);
    if (depth + 1 < CHAIN_DEPTH)
        room[1] = go(c, depth + 1, room);
    else if (c->at_end)
        end(c);
    else
        raise(c->in_handler ? SIGUSR1 : SIGUSR2);
    return room[0] + room[1] + *up;
}

void chain_take(struct chain *c)
{
    static char other_stack[65536];
    volatile int top = 0;
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack}, before;
    struct sigaction action = {.sa_sigaction = copy, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old[2];
    struct sigaction first = {.sa_handler = interrupt};
    taken = c;
    stack_end = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    sigaltstack(&stack, &before);
    sigaction(SIGUSR2, &action, &old[1]);
    sigaction(SIGUSR1, &first, &old[0]);
    if (setjmp(back) == 0)
        go(c, 0, &top);
    sigaction(SIGUSR1, &old[0], NULL);
    sigaction(SIGUSR2, &old[1], NULL);
    sigaltstack(&before, NULL);
}
