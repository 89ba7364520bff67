/* SPDX-License-Identifier: ISC */
/* What programs do with descriptors. Nearly all calls only ask a byte. */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS /* sendfile and sendfile64 are two names */
#include "ready.h"

#include <errno.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

static void before(int fd)
{
    const int error = errno;
    adapter_enter();
    ready_touch(fd);
    adapter_leave();
    errno = error;
}

static void was_read(int fd, int64_t result, const void *bytes)
{
    const int error = errno;
    adapter_enter();
    ready_read(fd, result, error, bytes);
    adapter_leave();
    errno = error;
}

static void was_written(int fd, int64_t result)
{
    const int error = errno;
    adapter_enter();
    ready_written(fd, result, error);
    adapter_leave();
    errno = error;
}

/* after: what is told when it has returned. */
#define FOLLOWED(type, name, after, parameters, ...)                                               \
    REAL_OF(name, "libc.so.6");                                                                    \
    ADAPTER_EXPORT type name parameters                                                            \
    {                                                                                              \
        if (!ready_is_followed(fd))                                                                \
            return REAL(name)(__VA_ARGS__);                                                        \
        before(fd);                                                                                \
        const type result = REAL(name)(__VA_ARGS__);                                               \
        after;                                                                                     \
        return result;                                                                             \
    }

#define READS(type, name, bytes, parameters, ...)                                                  \
    FOLLOWED(type, name, was_read(fd, result, bytes), parameters, __VA_ARGS__)

#define WRITES(type, name, parameters, ...)                                                        \
    FOLLOWED(type, name, was_written(fd, result), parameters, __VA_ARGS__)

/* What programs call that are built to be checked for overflows. */
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict to, size_t size, size_t room, int flags,
                       struct sockaddr *restrict from, socklen_t *restrict length);

READS(ssize_t, read, to, (int fd, void *to, size_t size), fd, to, size)
READS(ssize_t, __read_chk, to, (int fd, void *to, size_t size, size_t room), fd, to, size, room)
READS(ssize_t, readv, NULL, (int fd, const struct iovec *to, int count), fd, to, count)
READS(ssize_t, recv, to, (int fd, void *to, size_t size, int flags), fd, to, size, flags)
READS(ssize_t, __recv_chk, to, (int fd, void *to, size_t size, size_t room, int flags), fd, to,
      size, room, flags)
READS(ssize_t, recvfrom, to,
      (int fd, void *restrict to, size_t size, int flags, struct sockaddr *restrict from,
       socklen_t *restrict length),
      fd, to, size, flags, from, length)
READS(ssize_t, __recvfrom_chk, to,
      (int fd, void *restrict to, size_t size, size_t room, int flags,
       struct sockaddr *restrict from, socklen_t *restrict length),
      fd, to, size, room, flags, from, length)
READS(ssize_t, recvmsg, NULL, (int fd, struct msghdr *to, int flags), fd, to, flags)

WRITES(ssize_t, write, (int fd, const void *from, size_t size), fd, from, size)
WRITES(ssize_t, writev, (int fd, const struct iovec *from, int count), fd, from, count)
WRITES(ssize_t, send, (int fd, const void *from, size_t size, int flags), fd, from, size, flags)
WRITES(ssize_t, sendto,
       (int fd, const void *from, size_t size, int flags, const struct sockaddr *to,
        socklen_t length),
       fd, from, size, flags, to, length)
WRITES(ssize_t, sendmsg, (int fd, const struct msghdr *from, int flags), fd, from, flags)
WRITES(ssize_t, sendfile, (int fd, int from, off_t *offset, size_t size), fd, from, offset, size)
WRITES(ssize_t, sendfile64, (int fd, int from, off64_t *offset, size_t size), fd, from, offset,
       size)

/* ---- Connections ---- */

REAL_OF(connect, "libc.so.6");
REAL_OF(getsockopt, "libc.so.6");

static void was_accepted(int fd, int result)
{
    const int error = errno;
    adapter_enter();
    if (result >= 0)
        ready_accepted(result);
    else
        ready_read(fd, result, error, NULL);
    adapter_leave();
    errno = error;
}

FOLLOWED(int, accept, was_accepted(fd, result),
         (int fd, struct sockaddr *restrict from, socklen_t *restrict length), fd, from, length)
FOLLOWED(int, accept4, was_accepted(fd, result),
         (int fd, struct sockaddr *restrict from, socklen_t *restrict length, int flags), fd, from,
         length, flags)

ADAPTER_EXPORT int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    if (!adapter_on() || !ready_sees(__builtin_return_address(0)))
        return REAL(connect)(fd, to, length);
    if (ready_state_of(fd))
        before(fd);
    const int result = REAL(connect)(fd, to, length);
    const int error = errno;
    adapter_enter();
    if (ready_state_of(fd) & READY_CONNECTING && (result == 0 || error != EALREADY))
        ready_connected(fd, result == 0 || error == EISCONN ? 0 : error);
    else if (result < 0 && error == EINPROGRESS)
        ready_connect(fd, to, length);
    adapter_leave();
    errno = error;
    return result;
}

ADAPTER_EXPORT int getsockopt(int fd, int level, int name, void *restrict value,
                              socklen_t *restrict length)
{
    const int result = REAL(getsockopt)(fd, level, name, value, length);
    if (result < 0 || level != SOL_SOCKET || name != SO_ERROR || *length < sizeof(int) ||
        !(ready_state_of(fd) & READY_CONNECTING) || !adapter_on())
        return result;
    const int error = errno;
    adapter_enter();
    ready_touch(fd);
    ready_connected(fd, *(const int *)value);
    adapter_leave();
    errno = error;
    return result;
}

/* ---- Timers ---- */

REAL_OF(timerfd_settime, "libc.so.6");

static uint64_t in_ns(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

ADAPTER_EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *to,
                                   struct itimerspec *before_it)
{
    struct itimerspec left;
    if (!adapter_on() || !ready_sees(__builtin_return_address(0)))
        return REAL(timerfd_settime)(fd, flags, to, before_it);
    if (ready_state_of(fd))
        before(fd);
    const int result = REAL(timerfd_settime)(fd, flags, to, before_it);
    const int error = errno;
    if (result < 0)
        return result;
    adapter_enter();
    left = *to;
    if (flags & TFD_TIMER_ABSTIME && in_ns(to->it_value))
        timerfd_gettime(fd, &left);
    /* If that time is past, it is 0 now, which does not mean that the timer is off. */
    const uint64_t ns = in_ns(left.it_value);
    ready_timer(fd, ns ? ns : in_ns(to->it_value) ? 1 : 0, in_ns(to->it_interval) != 0);
    adapter_leave();
    errno = error;
    return result;
}

/* ---- What ends ---- */

REAL_OF(close, "libc.so.6");
REAL_OF(fclose, "libc.so.6");
REAL_OF(dup2, "libc.so.6");
REAL_OF(dup3, "libc.so.6");

static void ends(int fd)
{
    const int error = errno;
    if (adapter_inside)
        return;
    adapter_enter();
    ready_close(fd);
    adapter_leave();
    errno = error;
}

ADAPTER_EXPORT int close(int fd)
{
    /* Before, because another thread may get the number at once. */
    if (__builtin_expect(ready_state_of(fd) != 0, 0))
        ends(fd);
    return REAL(close)(fd);
}

ADAPTER_EXPORT int fclose(FILE *file)
{
    const int fd = fileno(file);
    if (__builtin_expect(ready_state_of(fd) != 0, 0))
        ends(fd);
    return REAL(fclose)(file);
}

ADAPTER_EXPORT int dup2(int from, int to)
{
    const int result = REAL(dup2)(from, to);
    if (result == to && from != to && ready_state_of(to))
        ends(to);
    return result;
}

ADAPTER_EXPORT int dup3(int from, int to, int flags)
{
    const int result = REAL(dup3)(from, to, flags);
    if (result == to && ready_state_of(to))
        ends(to);
    return result;
}

#if __GLIBC_PREREQ(2, 34)
REAL_OF(close_range, "libc.so.6");
ADAPTER_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    const unsigned end = last < READY_DESCRIPTORS ? last + 1 : READY_DESCRIPTORS;
    if (!flags)
        for (unsigned fd = first; fd < end; fd++)
            if (ready_state_of((int)fd))
                ends((int)fd);
    return REAL(close_range)(first, last, flags);
}

REAL_OF(closefrom, "libc.so.6");
ADAPTER_EXPORT void closefrom(int first)
{
    for (unsigned fd = first > 0 ? (unsigned)first : 0; fd < READY_DESCRIPTORS; fd++)
        if (ready_state_of((int)fd))
            ends((int)fd);
    REAL(closefrom)(first);
}
#endif
