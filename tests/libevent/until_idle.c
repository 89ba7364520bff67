/* SPDX-License-Identifier: ISC */
/* Loaded into a program by LD_PRELOAD: interrupts it, as Ctrl-C does, when it has slept in epoll_wait for two seconds and would
 * go on. So a program of which a test knows that it hangs ends. */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>

enum { LONG_MS = 2000 };

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    int (*const own)(int, struct epoll_event *, int, int) =
        (int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");
    const bool is_long = timeout_ms < 0 || timeout_ms > LONG_MS;
    const int ready = own(fd, events, most, is_long ? LONG_MS : timeout_ms);
    if (ready == 0 && is_long)
        raise(SIGINT);
    return ready;
}
