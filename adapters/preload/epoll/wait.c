/* SPDX-License-Identifier: ISC */
/* epoll. */
#undef _FORTIFY_SOURCE
#include "ready.h"

#include <errno.h>
#include <features.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

REAL_OF(epoll_ctl, "libc.so.6");
REAL_OF(epoll_wait, "libc.so.6");
REAL_OF(epoll_pwait, "libc.so.6");

ADAPTER_EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    if (!adapter_on() || !ready_sees(__builtin_return_address(0)))
        return REAL(epoll_ctl)(epoll, operation, fd, event);
    /* The other way round, another thread might be told of it before we know it. */
    const int error = errno;
    const uint64_t data = operation != EPOLL_CTL_DEL && event ? event->data.u64 : 0;
    adapter_enter();
    if (operation == EPOLL_CTL_DEL)
        ready_unwatch(fd, epoll);
    adapter_leave();
    const int result = REAL(epoll_ctl)(epoll, operation, fd, event);
    const int failed = errno;
    adapter_enter();
    if (result == 0 && operation != EPOLL_CTL_DEL)
        ready_watch(fd, epoll, data, operation == EPOLL_CTL_ADD);
    adapter_leave();
    errno = result < 0 ? failed : error;
    return result;
}

static void begin(struct ready_wait *w)
{
    const int error = errno;
    adapter_enter();
    ready_begin(w);
    ready_sleep(w);
    adapter_leave();
    errno = error;
}

static void end(struct ready_wait *w, int epoll, const struct epoll_event *event, int count)
{
    const int error = errno;
    adapter_enter();
    w->alone = count == 1;
    ready_woken(w);
    for (int i = 0; i < count; i++) {
        const int fd = ready_find(epoll, event[i].data.u64);
        if (fd >= 0)
            ready_add(w, fd,
                      event[i].events & EPOLLOUT && !(event[i].events & (EPOLLERR | EPOLLHUP)));
    }
    ready_added(w);
    adapter_leave();
    errno = error;
}

#define EPOLL_WAIT(name, timeless, parameters, ...)                                                \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        if (!adapter_on() || !ready_sees(__builtin_return_address(0)))                             \
            return REAL(name)(__VA_ARGS__);                                                        \
        struct ready_wait w = {.sleeps = !(timeless)};                                             \
        begin(&w);                                                                                 \
        const int count = REAL(name)(__VA_ARGS__);                                                 \
        end(&w, epoll, events, count);                                                             \
        return count;                                                                              \
    }

EPOLL_WAIT(epoll_wait, timeout == 0, (int epoll, struct epoll_event *events, int most, int timeout),
           epoll, events, most, timeout)
EPOLL_WAIT(epoll_pwait, timeout == 0,
           (int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask),
           epoll, events, most, timeout, mask)
#if __GLIBC_PREREQ(2, 35)
REAL_OF(epoll_pwait2, "libc.so.6");
EPOLL_WAIT(epoll_pwait2, timeout && timeout->tv_sec == 0 && timeout->tv_nsec == 0,
           (int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
            const sigset_t *mask),
           epoll, events, most, timeout, mask)
#endif
