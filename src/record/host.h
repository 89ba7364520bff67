/* SPDX-License-Identifier: ISC */
/* What the recorder's core (calls.c, pool.c, pending.c, cells.c, text.c, layout.c) needs of its surroundings, and
 * nothing else. There are two: a process (start.c, thread.c, clock.c), and a machine without an operating
 * system (freestanding.c), which is told from the compiler's -ffreestanding. */
#ifndef WEFT_RECORD_HOST_H
#define WEFT_RECORD_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/clock.h"

/* Memory. Every C compiler may call these four, so whoever links it has them. */

#if __STDC_HOSTED__
#include <pthread.h>
#include <string.h>
#define WEFT_HOST_DESCRIBES 1 /* a trace carries a description of itself: metadata.h */
#include "record/metadata.h"

/* The size of a text, at most max. */
static inline size_t text_size(const char *text, size_t max)
{
    return strnlen(text, max);
}
#else
#define WEFT_HOST_DESCRIBES 0

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
#define memcpy __builtin_memcpy /* so that few bytes are copied in place */
#define memset __builtin_memset
#define memcmp __builtin_memcmp

static inline size_t text_size(const char *text, size_t max)
{
    size_t size = 0;
    while (size < max && text[size])
        size++;
    return size;
}
#endif

#pragma GCC visibility push(hidden)

/* Threads: whatever is interrupted only by what returns before it goes on. In a process OS threads, which
 * signal handlers interrupt; else processors, which interrupts interrupt. */

struct thread;
struct writer;

#if __STDC_HOSTED__
extern __thread struct thread *weft_record_self __attribute__((tls_model("initial-exec")));

/* Takes a slot for the calling thread, which has none. NULL: there is no more. */
struct thread *weft_record_thread_new(void);

static inline struct thread *this_thread(void)
{
    return __builtin_expect(weft_record_self != NULL, 1) ? weft_record_self
                                                         : weft_record_thread_new();
}
#else
/* NULL: this one cannot record. */
struct thread *weft_record_this_thread(void);

static inline struct thread *this_thread(void)
{
    return weft_record_this_thread();
}
#endif

/* Makes the slot's writer one of the present recording. False: that is another process's, from which this one
 * was forked without handlers. */
bool weft_record_thread_renew(struct thread *t, struct writer *w);

#if __STDC_HOSTED__
/* What the system's scheduler says of a thread. */
struct core_time {
    uint64_t had_ns;    /* a core */
    uint64_t wanted_ns; /* … and had none */
};

/* How it stands with this thread. Leaves errno as it is, and is no cancellation point. False: the system does not say. */
bool weft_record_core_time(struct core_time *t);
#endif

/* What a call does that finds no writer of the present recording. */

#if __STDC_HOSTED__
/* weft_record_rec.recording, if there is none. No writer has this generation, nor one whose memory is empty (0). */
#define NO_RECORDING UINT32_MAX

/* control.c: does what weft ctl asks for. Not in the middle of another call; afterwards anything may be so. */
void weft_record_asked(void);

/* A recording is open and not paused. */
bool weft_record_is_on(void);

/* start.c: an event was discarded because it interrupts two others. */
void weft_record_refused(void);
#else
#define NO_RECORDING 0u

static inline void weft_record_asked(void)
{
}

bool weft_record_is_on(void);

static inline void weft_record_refused(void)
{
}
#endif

/* While a packet is in nobody's hands, the thread must not be cancelled. (There are no cancellation points
 * here, so it need only not be asynchronous; glibc 2.36 heeds that, but not always the cancel state.) */

#if __STDC_HOSTED__
static inline int cancel_hold(void)
{
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
    return before;
}

static inline void cancel_again(int before)
{
    pthread_setcanceltype(before, &before);
}
#else
static inline int cancel_hold(void)
{
    return 0;
}

static inline void cancel_again(int before)
{
    (void)before;
}
#endif

/* Those that ever recorded are among the first *count ones. */
struct thread *weft_record_threads(uint32_t *count);

/* Whether no other thread has ever recorded. */
bool weft_record_threads_alone(void);

/* Afterwards this thread sees what any other one has stored before, or that one's next loads see what this
 * one has stored before. Where that cannot be, weft_record_rec.fenced is set, and the other ones make fences. */
void weft_record_threads_barrier(void);

/* Clocks are in clock.h: weft_record_clock_ticks, weft_record_clock_pair. */

#pragma GCC visibility pop

#endif
