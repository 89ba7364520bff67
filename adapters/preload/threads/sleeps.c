/* SPDX-License-Identifier: ISC */
/* Threads that sleep for a time: each time is a promise. */
#include "thread.h"

#include <errno.h>
#include <threads.h>
#include <unistd.h>

LIBC(nanosleep);
LIBC(clock_nanosleep);
LIBC(usleep);
LIBC(sleep);
LIBC(thrd_sleep);

#define SECOND_NS UINT64_C(1000000000)

/* Returns false if nothing is to be recorded. */
static bool sleeps(struct threads_wait *w, uint64_t ns)
{
    char text[ADAPTER_TEXT];
    if (!ns || !threads_on() || !threads_self())
        return false;
    const weft_promise p = adapter_create(NULL, "sleep", adapter_duration(text, ns));
    threads_wait(w, p, CLOCK_REALTIME, NULL);
    threads_me.limit = w->limit = p;
    return true;
}

static void sleep_ends(const struct threads_wait *w, bool done)
{
    threads_wait_ends(w, done ? THREADS_TIME : THREADS_NEITHER);
}

static uint64_t length_of(const struct timespec *t)
{
    const bool right = t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)SECOND_NS &&
                       (uint64_t)t->tv_sec < UINT64_MAX / SECOND_NS;
    return right ? (uint64_t)t->tv_sec * SECOND_NS + (uint64_t)t->tv_nsec : 0;
}

/* How long it is until then. */
static uint64_t length_until(clockid_t clock, const struct timespec *t)
{
    struct timespec now = {0};
    const int error = errno;
    const bool known = clock_gettime(clock, &now) == 0;
    errno = error;
    const uint64_t at = length_of(t), from = length_of(&now);
    return known && at > from ? at - from : 0;
}

ADAPTER_EXPORT int nanosleep(const struct timespec *t, struct timespec *left)
{
    struct threads_wait w;
    if (!threads_on() || !sleeps(&w, length_of(t)))
        return REAL(nanosleep)(t, left);
    const int result = REAL(nanosleep)(t, left);
    sleep_ends(&w, result == 0);
    return result;
}

ADAPTER_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                                   struct timespec *left)
{
    struct threads_wait w;
    if (!threads_on() || !sleeps(&w, flags & TIMER_ABSTIME ? length_until(clock, t) : length_of(t)))
        return REAL(clock_nanosleep)(clock, flags, t, left);
    const int result = REAL(clock_nanosleep)(clock, flags, t, left);
    sleep_ends(&w, result == 0);
    return result;
}

ADAPTER_EXPORT int usleep(useconds_t us)
{
    struct threads_wait w;
    if (!sleeps(&w, (uint64_t)us * 1000))
        return REAL(usleep)(us);
    const int result = REAL(usleep)(us);
    sleep_ends(&w, result == 0);
    return result;
}

ADAPTER_EXPORT unsigned sleep(unsigned seconds)
{
    struct threads_wait w;
    if (!sleeps(&w, seconds * SECOND_NS))
        return REAL(sleep)(seconds);
    const unsigned left = REAL(sleep)(seconds);
    sleep_ends(&w, left == 0);
    return left;
}

ADAPTER_EXPORT int thrd_sleep(const struct timespec *t, struct timespec *left)
{
    struct threads_wait w;
    if (!threads_on() || !sleeps(&w, length_of(t)))
        return REAL(thrd_sleep)(t, left);
    const int result = REAL(thrd_sleep)(t, left);
    sleep_ends(&w, result == 0);
    return result;
}
