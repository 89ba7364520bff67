/* SPDX-License-Identifier: ISC */
/* What a thread that has stopped needs for a call (inject.h), for each kind of processor. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/late/inject.h"

struct cli_inject_at {
    bool
        fresh; /* it had only just begun to wait, so a wait of which the kernel does not know the rest may begin again */
    bool
        waits; /* it must still be at sp and pc, in a system call; otherwise the result is CLI_INJECT_NONE */
    uint64_t sp, pc;
};

/* The thread has stopped under PTRACE_SEIZE, not for a signal. Writes below its stack, into mem, then sets its registers and
 * the signals that it blocks. Nothing has changed if the result is not CLI_INJECTED. */
enum cli_injected cli_inject_enter(pid_t thread, int mem, const struct cli_inject_at *at,
                                   const struct cli_inject_call *call);
