/* SPDX-License-Identifier: ISC */
/* poll and select. Calls that only look, with a timeout of 0, are not recorded, and of long lists the first descriptors. */
#undef _FORTIFY_SOURCE
#include "ready.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <time.h>

enum { LISTED = 64 };

REAL_OF(poll, "libc.so.6");
REAL_OF(ppoll, "libc.so.6");
REAL_OF(select, "libc.so.6");
REAL_OF(pselect, "libc.so.6");

static bool is_zero(const struct timespec *t)
{
    return t && t->tv_sec == 0 && t->tv_nsec == 0;
}

/* ---- poll ---- */

static void begin_poll(struct ready_wait *w, const struct pollfd *p, nfds_t count)
{
    const int error = errno;
    adapter_enter();
    ready_begin(w);
    for (nfds_t i = 0; i < count && i < LISTED; i++)
        if (p[i].fd >= 0 && p[i].events)
            ready_await(w, p[i].fd);
    ready_sleep(w);
    adapter_leave();
    errno = error;
}

static void end_poll(struct ready_wait *w, const struct pollfd *p, nfds_t count, int ready)
{
    const int error = errno;
    adapter_enter();
    w->alone = ready == 1;
    ready_woken(w);
    for (nfds_t i = 0; i < count && ready > 0; i++) {
        if (!p[i].revents)
            continue;
        ready--;
        if (!(p[i].revents & POLLNVAL))
            ready_add(w, p[i].fd, p[i].revents & POLLOUT && !(p[i].revents & (POLLERR | POLLHUP)));
    }
    ready_added(w);
    adapter_leave();
    errno = error;
}

#define POLL(name, looks, parameters, ...)                                                         \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        if ((looks) || count == 0 || !list || !adapter_on() ||                                     \
            !ready_sees(__builtin_return_address(0)))                                              \
            return REAL(name)(__VA_ARGS__);                                                        \
        struct ready_wait w = {.sleeps = true, .by_thread = true};                                 \
        begin_poll(&w, list, count);                                                               \
        const int ready = REAL(name)(__VA_ARGS__);                                                 \
        end_poll(&w, list, count, ready);                                                          \
        return ready;                                                                              \
    }

POLL(poll, timeout == 0, (struct pollfd * list, nfds_t count, int timeout), list, count, timeout)
POLL(ppoll, is_zero(timeout),
     (struct pollfd * list, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     list, count, timeout, mask)

/* Programs that are built to be checked for overflows call these. */
int __poll_chk(struct pollfd *list, nfds_t count, int timeout, size_t bytes);
int __ppoll_chk(struct pollfd *list, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t bytes);
REAL_OF(__poll_chk, "libc.so.6");
REAL_OF(__ppoll_chk, "libc.so.6");
POLL(__poll_chk, timeout == 0, (struct pollfd * list, nfds_t count, int timeout, size_t bytes),
     list, count, timeout, bytes)
POLL(__ppoll_chk, is_zero(timeout),
     (struct pollfd * list, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
      size_t bytes),
     list, count, timeout, mask, bytes)

/* ---- select ---- */

static bool is_in(int fd, const fd_set *set)
{
    return set && FD_ISSET(fd, set);
}

static void begin_select(struct ready_wait *w, int count, const fd_set *reads, const fd_set *writes)
{
    const int error = errno;
    int listed = 0;
    adapter_enter();
    ready_begin(w);
    for (int fd = 0; fd < count && fd < FD_SETSIZE && listed < LISTED; fd++)
        if (is_in(fd, reads) || is_in(fd, writes)) {
            ready_await(w, fd);
            listed++;
        }
    ready_sleep(w);
    adapter_leave();
    errno = error;
}

static void end_select(struct ready_wait *w, int count, const fd_set *reads, const fd_set *writes,
                       int ready)
{
    const int error = errno;
    int found = 0;
    adapter_enter();
    w->alone = ready == 1;
    ready_woken(w);
    for (int fd = 0; fd < count && fd < FD_SETSIZE && found < ready; fd++) {
        const bool reads_it = is_in(fd, reads), writes_it = is_in(fd, writes);
        found += reads_it + writes_it;
        if (reads_it || writes_it)
            ready_add(w, fd, false);
    }
    ready_added(w);
    adapter_leave();
    errno = error;
}

#define SELECT(name, looks, parameters, ...)                                                       \
    ADAPTER_EXPORT int name parameters                                                             \
    {                                                                                              \
        if ((looks) || (!reads && !writes) || !adapter_on() ||                                     \
            !ready_sees(__builtin_return_address(0)))                                              \
            return REAL(name)(__VA_ARGS__);                                                        \
        struct ready_wait w = {.sleeps = true, .by_thread = true};                                 \
        begin_select(&w, count, reads, writes);                                                    \
        const int ready = REAL(name)(__VA_ARGS__);                                                 \
        end_select(&w, count, reads, writes, ready);                                               \
        return ready;                                                                              \
    }

SELECT(select, timeout && timeout->tv_sec == 0 && timeout->tv_usec == 0,
       (int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
        struct timeval *restrict timeout),
       count, reads, writes, others, timeout)
SELECT(pselect, is_zero(timeout),
       (int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
        const struct timespec *restrict timeout, const sigset_t *restrict mask),
       count, reads, writes, others, timeout, mask)
