/* SPDX-License-Identifier: ISC */
/* Stops a thread of another process for a moment. Do this in a process that may be killed: if the thread does not stop, only
 * the end of that process lets go of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes this process one that others keep waiting as little as possible, also where many run. */
void sample_stop_hasten(void);

/* Waits, after PTRACE_SEIZE and PTRACE_INTERRUPT, until the thread has stopped, for half a second at most. False: it did
 * not, or is gone. *status: as waitpid gives it; *ns: when it still ran (CLOCK_MONOTONIC). */
bool sample_stop_await(pid_t thread, int *status, int64_t *ns);

/* The signal that the thread was about to receive, which it must get when it goes on; 0: none. */
int sample_stop_signal(int status);
