/* SPDX-License-Identifier: ISC */
/* Work that is done at the same time as the caller's, by another thread.
 *
 *     struct weft_aside a;
 *     weft_aside_begin(&a, make_links, &links, large);
 *     make_rows(&rows);
 *     weft_aside_end(&a);
 *
 * The two may read the same things, and write none that the other one reads. Where there is no second thread (the page, the
 * fuzzers, a machine with one processor, a process that may have no more), the work is done within weft_aside_begin.
 * A handle belongs to one thread. */
#pragma once

#include <stdbool.h>

#if !defined __wasm__ && !defined WEFT_ONE_THREAD
#define WEFT_HAS_THREADS
#include <pthread.h>
#endif

typedef void weft_aside_fn(void *data);

struct weft_aside {
    weft_aside_fn *work;
    void *data;
#ifdef WEFT_HAS_THREADS
    pthread_t thread;
#endif
    bool begun; /* by another thread */
};

/* Begins work(data). worth: it takes so long that a thread is worth its cost; otherwise the work is done at once. */
void weft_aside_begin(struct weft_aside *a, weft_aside_fn *work, void *data, bool worth);

/* Begins work(data) in another thread. Returns false if there is none; then nothing is done. */
bool weft_aside_try(struct weft_aside *a, weft_aside_fn *work, void *data);

/* Waits until it is done. */
void weft_aside_end(struct weft_aside *a);
