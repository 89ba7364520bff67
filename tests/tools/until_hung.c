/* SPDX-License-Identifier: ISC */
/* Loaded into a program by LD_PRELOAD: interrupts it, as Ctrl-C does, when its first thread has slept in poll for two
 * seconds without a time limit, or a thread in epoll_wait and would go on. So a program of which a test knows that it
 * hangs ends. */
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONG_MS = 2000 };

/* GLib since 2.80 */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    const struct timespec limit = {.tv_sec = LONG_MS / 1000};
    int (*const own)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *) =
        (int (*)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))dlsym(
            RTLD_NEXT, "ppoll");
    if (timeout || syscall(SYS_gettid) != getpid())
        return own(fds, n, timeout, mask);
    const int ready = own(fds, n, &limit, mask);
    if (ready == 0)
        raise(SIGINT);
    return ready;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    int (*const own)(struct pollfd *, nfds_t, int) =
        (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    if (timeout >= 0 || syscall(SYS_gettid) != getpid())
        return own(fds, n, timeout);
    const int ready = own(fds, n, LONG_MS);
    if (ready == 0)
        raise(SIGINT);
    return ready;
}

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
