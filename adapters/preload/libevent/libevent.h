/* SPDX-License-Identifier: ISC */
/* The adapter for libevent 2.1, whose parts share this. What libevent does for itself is not recorded: its callbacks
 * and its calls are told from the program's by their addresses. */
#pragma once

#include <event2/event.h>

#include "../adapter.h"

/* Declares a function of libevent. A program is linked with one library that has them all, or with some of the others. */
#define LIBEVENT(name)                                                                             \
    REAL_OF(name, "libevent-2.1.so.7 libevent_core-2.1.so.7 libevent_extra-2.1.so.7 "              \
                  "libevent_openssl-2.1.so.7")

/* Whether the address is in one of libevent's libraries. Leaves errno unchanged. */
bool libevent_is_own(const void *code);

/* Whether to record the call of the function that this stands in: the program called it, not libevent itself. */
#define LIBEVENT_RECORDED() (adapter_on() && !libevent_is_own(__builtin_return_address(0)))

/* ---- Callbacks ---- */

/* How what runs ends when its callback returns, or ends the program. */
enum libevent_end {
    LIBEVENT_STAYS, /* not then */
    LIBEVENT_FULFILLED,
    LIBEVENT_FAILED,
    LIBEVENT_CANCELLED
};

/* A callback of the program while it runs; a thread's are nested. */
struct libevent_frame {
    weft_promise before, own; /* what ran before, and what runs */
    unsigned depth;
    enum libevent_end end;
    char reason[64]; /* of the failure */
    struct libevent_frame *outer;
};

/* Around a callback: p runs. */
void libevent_begin(struct libevent_frame *f, weft_promise p, enum libevent_end end,
                    const char *reason);
/* … because another one was resolved, for which it waited; 0: none was. */
void libevent_begin_by(struct libevent_frame *f, weft_promise p, weft_promise because,
                       enum libevent_end end, const char *reason);
void libevent_end(struct libevent_frame *f);

/* p ends: now, or if its callback runs on this thread, when that returns. reason: NULL unless it failed. */
void libevent_finish(weft_promise p, enum libevent_end end, const char *reason);

/* A callback that gets only the program's argument, and the argument, until it is called. Allocated in calls that
 * allocate themselves. */
struct libevent_pair {
    void *callback, *argument;
    weft_promise promise;
    unsigned state; /* of struct libevent_pair's user */
};

/* NULL: no memory. */
struct libevent_pair *libevent_pair_new(void *callback, void *argument);

/* The base whose loop runs on this thread; NULL: none does. */
extern __thread struct event_base *libevent_base __attribute__((tls_model("initial-exec")));

/* ---- Descriptors ---- */

struct libevent_descriptor {
    char text[ADAPTER_TEXT]; /* of adapter_descriptor */
    bool listens, connects;  /* a socket: connects: of streams, and not connected yet */
    bool terminal;
};

/* What a descriptor is. It is asked only once what a socket that is connected, or listens, is. Leaves errno unchanged. */
void libevent_describe(struct libevent_descriptor *d, int fd);

/* Whether the process has accepted this connection. It serves there, so that it may have to wait for long. */
bool libevent_is_accepted(int fd);

/* A thread that is about to leave a callback, or to begin a loop, looks at what the callback has written. */
void libevent_look_at_buffers(void);
