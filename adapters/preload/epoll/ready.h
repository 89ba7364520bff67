/* SPDX-License-Identifier: ISC */
/* What is known about descriptors: ready.c. The functions that tell it are in wait.c (epoll), poll.c (poll, select),
 * calls.c (read, write, close …), timers.c and uring.c.
 *
 * A descriptor that is waited for is a promise, from the first time on until it is closed: it runs while it is handled.
 * That it becomes ready is another, a condition: that one is notified. */
#pragma once

#include "../adapter.h"

enum { READY_DESCRIPTORS = 1 << 20 }; /* larger numbers are not followed */

/* Bits of ready_state. */
enum {
    READY_KNOWN = 1,      /* it is waited for */
    READY_DUE = 2,        /* it was reported to be ready, and nothing was done with it since then */
    READY_CONNECTING = 4, /* … by a connect that has not waited */
    READY_ACCEPTED = 8,   /* it is a connection that somebody else has begun */
    READY_REQUEST = 16,   /* … and has sent something, and was not answered */
    READY_EVENTFD = 32,   /* a write makes it ready */
    READY_TIMER = 64,     /* a timerfd */
    READY_WAITING = 128   /* nothing is there: its promise waits for the condition */
};

/* For each descriptor; 0: nothing is known. What asks nearly every call of the program. */
extern uint8_t ready_state[READY_DESCRIPTORS] __attribute__((visibility("hidden")));

static inline unsigned ready_state_of(int fd)
{
    return (unsigned)fd < READY_DESCRIPTORS ? __atomic_load_n(&ready_state[fd], __ATOMIC_RELAXED)
                                            : 0;
}

/* Whether a call with this descriptor is to be told. */
static inline bool ready_is_followed(int fd)
{
    return __builtin_expect(ready_state_of(fd) != 0, 0) && adapter_on();
}

/* Everything below keeps errno, and is called with what adapter_enter says: a signal handler tells nothing meanwhile. */

/* Whether the code at this address is to be recorded: the program, or a library that has no adapter of its own that was
 * chosen. */
bool ready_sees(const void *caller);

/* The descriptor is waited for, through the epoll descriptor, with that data; or by poll: -1 and its own number. fresh: it
 * was not waited for there. */
void ready_watch(int fd, int epoll, uint64_t data, bool fresh);
/* … no longer there. */
void ready_unwatch(int fd, int epoll);

/* The descriptor with that data; -1: it is not known. */
int ready_find(int epoll, uint64_t data);

/* A wait of this thread: begin, await for what poll names, sleep; then woken, add for what is ready, added. */
struct ready_wait {
    bool sleeps; /* it waits for some time */
    bool
        by_thread; /* in: if something else than the event loop runs, that waits and continues. Out: so it is */
    bool alone; /* after it: one is ready */
};
void ready_begin(struct ready_wait *w);
void ready_await(const struct ready_wait *w, int fd);
void ready_sleep(const struct ready_wait *w);
void ready_woken(const struct ready_wait *w);
/* connected: if it connects, a connection is there. */
void ready_add(const struct ready_wait *w, int fd, bool connected);
void ready_added(const struct ready_wait *w);

/* The program does something with a descriptor: it handles it from now on, if it was reported. */
void ready_touch(int fd);

/* A read of it gave this result, with that errno, into these bytes (NULL: not known); a write. */
void ready_read(int fd, int64_t result, int error, const void *bytes);
void ready_written(int fd, int64_t result, int error);

/* A connection was accepted. */
void ready_accepted(int fd);

/* A connect without waiting has begun; the result of one is known. */
struct sockaddr;
void ready_connect(int fd, const struct sockaddr *address, size_t size);
void ready_connected(int fd, int error);

/* A timerfd was set to a time from now on, or to 0: off. */
void ready_timer(int fd, uint64_t ns, bool repeats);

/* For uring.c: what the descriptor is, its promise, and that it handles the result of another, which notifies or has
 * ended. */
const char *ready_name(char text[ADAPTER_TEXT], int fd);
weft_promise ready_descriptor(int fd);
void ready_handle(int fd, weft_promise source, bool notified);

/* The number is free again, or stands for something else. */
void ready_close(int fd);
