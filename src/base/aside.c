/* SPDX-License-Identifier: ISC */
#include "base/aside.h"

#ifdef WEFT_HAS_THREADS
#include <signal.h>
#include <unistd.h>

static void *run(void *data)
{
    const struct weft_aside *a = data;
    a->work(a->data);
    return NULL;
}

/* Signals are for the threads that the program knows about. */
static bool start(struct weft_aside *a)
{
    sigset_t all, before;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool begun = pthread_create(&a->thread, NULL, run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static void join(struct weft_aside *a)
{
    pthread_join(a->thread, NULL);
}
#else
static bool start(struct weft_aside *a)
{
    (void)a;
    return false;
}

static void join(struct weft_aside *a)
{
    (void)a;
}
#endif

bool weft_aside_try(struct weft_aside *a, weft_aside_fn *work, void *data)
{
    *a = (struct weft_aside){.work = work, .data = data};
    const bool begun = start(a);
    a->begun = begun; /* the thread does not read it */
    return begun;
}

void weft_aside_begin(struct weft_aside *a, weft_aside_fn *work, void *data, bool worth)
{
    a->begun = false;
    if (!worth || !weft_aside_try(a, work, data))
        work(data);
}

void weft_aside_end(struct weft_aside *a)
{
    if (a->begun)
        join(a);
    a->begun = false;
}
