/* SPDX-License-Identifier: ISC */
/* Failures that are handled or that nobody looks at; and exceptions that only mean a cancellation. */
#include "futures.h"
#include "names.h"

enum { FAILED_MAX = 256, DEEP = 8 };

/* asyncio knows whether a failure was retrieved, and reports it when the future is gone. Futures that still exist are
 * checked now and then. */
static struct promise *failed[FAILED_MAX];
static unsigned faileds, next_failed;

/* The future is gone, but asyncio has not reported it yet. */
static struct {
    PyObject *object;
    weft_promise id;
} gone[FAILED_MAX];
static unsigned gones;

void note_failure(struct promise *p)
{
    if (faileds < FAILED_MAX) {
        failed[faileds++] = p;
        p->failed = true;
    }
}

void looked_at(struct promise *p)
{
    for (unsigned i = 0; i < faileds && p->failed; i++)
        if (failed[i] == p) {
            failed[i] = failed[--faileds];
            p->failed = false;
        }
}

static void settle_gone(void)
{
    for (unsigned i = 0; i < gones; i++)
        weft_read(WEFT_LOOP, gone[i].id);
    gones = 0;
}

void look_at_failed(unsigned most)
{
    settle_gone();
    for (unsigned n = 0; n < most && n < faileds; n++) {
        struct promise *p = failed[next_failed % faileds];
        PyObject *unseen = get(p->object, s__log_traceback);
        if (unseen == Py_False) {
            weft_read(WEFT_LOOP, p->id);
            looked_at(p);
        } else {
            next_failed++;
        }
        Py_XDECREF(unseen);
    }
}

void failure_gone(struct promise *p)
{
    if (p->failed && gones < FAILED_MAX) {
        gone[gones].object = p->object;
        gone[gones++].id = p->id;
    }
    looked_at(p);
}

void failures_forked(void)
{
    faileds = gones = 0;
}

/* In a garbage cycle, the promise is gone before asyncio reports; else asyncio reports first. */
void never_looked_at(PyObject *future)
{
    struct promise *p = promise_find(future);
    if (p)
        looked_at(p); /* no more checks are needed */
    for (unsigned i = 0; i < gones; i++)
        if (gone[i].object == future)
            gone[i] = gone[--gones];
}

/* ---- Cancellation ---- */

static bool is_cancelled(PyObject *exception, unsigned depth)
{
    for (unsigned i = 0; i < RUNTIMES; i++)
        if (runtimes[i].cancelled && PyErr_GivenExceptionMatches(exception, runtimes[i].cancelled))
            return true;
    PyObject *all = depth < DEEP && PyExceptionInstance_Check(exception)
                        ? get(exception, s_exceptions) /* of a group */
                        : NULL;
    const Py_ssize_t n = all && PyTuple_Check(all) ? PyTuple_Size(all) : 0;
    bool is = n > 0;
    for (Py_ssize_t i = 0; i < n && is; i++)
        is = is_cancelled(PyTuple_GetItem(all, i), depth + 1);
    Py_XDECREF(all);
    PyErr_Clear();
    return is;
}

bool says_cancelled(PyObject *exception)
{
    return is_cancelled(exception, 0);
}
