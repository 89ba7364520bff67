/* SPDX-License-Identifier: ISC */
/* The system calls in which threads wait (calls.def). */
#pragma once

#include <stdint.h>

enum now_call_kind {
    NOW_CALL_FUTEX,
    NOW_CALL_EPOLL,
    NOW_CALL_POLL,
    NOW_CALL_SELECT,
    NOW_CALL_DESCRIPTOR, /* its first argument */
    NOW_CALL_LOCKED,     /* a lock on the file that its first argument is */
    NOW_CALL_CHILD,
    NOW_CALL_SLEEP,
    NOW_CALL_SIGNAL,
    NOW_CALL_QUEUE,
    NOW_CALL_SEMAPHORES,
    NOW_CALL_PATH,
    NOW_CALL_NEW,   /* makes a child, and waits until it ends or executes a program */
    NOW_CALL_AGAIN, /* the kernel goes on with a call that a signal interrupted */
    NOW_CALL_OTHER,
};

struct now_call {
    int64_t number;
    const char *name;
    enum now_call_kind kind;
    const char *how; /* what it does with its descriptor; or NULL */
};

/* NULL: not one of these. The name is that of the C library's function. */
const struct now_call *now_call_by_number(int64_t number);
const struct now_call *now_call_by_name(const char *name);
