/* SPDX-License-Identifier: ISC */
/* Maps Python objects to promises, as long as the object lives; it is not kept alive. Everything here is called with
 * the interpreter's lock held, keeps a pending exception, and raises none. */
#pragma once

#include "codes.h"

/* A coroutine that a task is in. Coroutines of libraries that were called by other library coroutines have no promise. */
struct call {
    PyObject *coroutine; /* its address */
    PyObject *ref;       /* weak: whether it is still that one */
    weft_promise id;     /* or 0 */
};

struct promise {
    PyObject *object; /* its address */
    PyObject *ref;    /* weak */
    weft_promise id;
    bool ended;
    bool shared; /* it is that of another object, as of the event that a future waits for */
    bool failed; /* and no retrieval of it is known */
    bool of_job; /* of a job that a future of asyncio's represents, or of that future */
    bool inner;  /* of a lock or the like: it belongs to a queue or something else of asyncio's */
    bool is_request;
    bool unread;        /* of a job: it has failed and nobody has retrieved that */
    weft_promise by;    /* which promise asked for its cancellation; 0: none */
    weft_promise waits; /* for what a task waits; 0: nothing */
    weft_promise
        lock; /* of a future, or of the task that waits for it: the resource that it grants; or 0 */
    PyObject *coroutine; /* of a task; its address */
    /* Of a task of trio's: */
    bool waits_alone;   /* nothing else waits for it, so it ends when the task is to continue */
    bool naps;          /* until some time */
    PyObject *nursery;  /* for whose tasks it waits; its address */
    struct call *calls; /* from the outermost on */
    unsigned count, room;
    PyObject *answer; /* of a request: a weak reference to what knows its status, or NULL */
    long status;      /* of what answers a request, once it is sent */
    char *label;      /* of a lock or the like, or NULL */
    weft_promise
        *requests; /* of a task: those it works at by weft.request, from the outermost on */
    unsigned requests_count, requests_room;
    weft_promise whole; /* of a task whose own coroutine is weft.request: its request; else 0 */
};

/* 0 or -1 with an exception. */
int promises_init(void);

/* NULL: there is none. */
struct promise *promise_find(PyObject *object);

/* What a weak reference refers to, borrowed; None if that is gone. */
PyObject *promise_referent(PyObject *ref);

/* The caller has checked that there is none. NULL: there is no memory, or the object does not support weak references. */
struct promise *promise_add(PyObject *object, weft_promise id);

/* For a child process: none of the parent's promises belong to it. */
void promises_drop(void);

/* Called when the object of a promise is gone, before *p is. */
extern void (*promise_gone)(struct promise *p);

/* The innermost of its requests, or its own. */
weft_promise promise_works_at(const struct promise *p);

bool promise_has_request(const struct promise *p, weft_promise request);

/* The task that works at a request, or NULL. */
struct promise *promise_of_request(weft_promise request);

/* The innermost of its calls that has a promise, or its own. */
weft_promise promise_inner(const struct promise *p);
