/* SPDX-License-Identifier: ISC */
#include "sample/stop.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

enum {
    PATIENCE_NS = 500 * 1000 * 1000, /* for a thread to stop: it must be on a core for that */
    NAP_NS = 30 * 1000,
};

void sample_stop_hasten(void)
{
    prctl(PR_SET_TIMERSLACK, 1);
    if (sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 1}) < 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

bool sample_stop_await(pid_t thread, int *status, int64_t *ns)
{
    const int64_t since_ns = weft_monotonic_ns();
    for (int64_t now_ns = since_ns; now_ns - since_ns < PATIENCE_NS;) {
        *ns = now_ns;
        now_ns = weft_monotonic_ns();
        const pid_t pid = waitpid(thread, status, __WALL | WNOHANG);
        if (pid < 0 || (pid == thread && !WIFSTOPPED(*status)))
            return false;
        if (pid == thread)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return false;
}

int sample_stop_signal(int status)
{
    return status >> 16 ? 0 : WSTOPSIG(status);
}
