/* SPDX-License-Identifier: ISC */
/* Has a thread of another process call a function, as if it were a signal handler.
 *
 * A thread is stopped, gets what a signal handler's frame would be below its stack, other registers, and is let go: some
 * microseconds. It does the rest itself: it calls, and goes back to what it was doing, with all its registers, and with its
 * system call where it waited in one. So whoever dies meanwhile, the process does not notice. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli_inject_call {
    uint64_t function; /* an address in the process */
    uint64_t arg[6];
    /* An instruction of the process that calls rt_sigreturn. 0: the function is its weft_record_interrupted, which goes
     * back itself. */
    uint64_t returns_to;
    /* Returns true if the function can run in a thread that waits with that stack pointer. NULL: it can in any. */
    bool (*fits)(const void *data, uint64_t sp);
    const void *data;
};

/* Which thread. The first thread comes before others. */
enum cli_inject_where {
    CLI_INJECT_ANY, /* one that waits, or else one that runs */
    CLI_INJECT_WAITING, /* one that waits for time, a descriptor or a child: the C library has nothing locked then */
};

enum cli_injected {
    CLI_INJECTED,
    CLI_INJECT_NONE,    /* no such thread */
    CLI_INJECT_HALTED,  /* the process is stopped by a signal, as by Ctrl-Z */
    CLI_INJECT_REFUSED, /* tracing it is not permitted: error */
    CLI_INJECT_ROOM,    /* there is no room on its stack */
    CLI_INJECT_LATE,    /* the thread did not stop */
    CLI_INJECT_UNKNOWN, /* not on this kind of processor */
};

struct cli_inject_result {
    enum cli_injected how;
    int error;          /* an errno */
    int64_t stopped_ns; /* for how long the thread was stopped, also if nothing came of it */
};

/* mem: /proc/PID/mem, open for writing. Returns when the thread goes on, in the call. */
struct cli_inject_result cli_inject(pid_t pid, int mem, enum cli_inject_where where,
                                    const struct cli_inject_call *call);

/* Why it was refused, for a sentence: "it is being traced by process 12". */
void cli_inject_why(pid_t pid, const struct cli_inject_result *r, char *to, size_t size);
