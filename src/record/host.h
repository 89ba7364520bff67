/* SPDX-License-Identifier: ISC */
/* What the recorder's core (calls.c, pool.c, pending.c, cells.c, roll.c, text.c, layout.c) needs from its
 * surroundings, and nothing else. There are two implementations: a process (start.c, thread.c, clock.c), and a
 * machine without an operating system (freestanding.c), which is chosen by the compiler's -ffreestanding. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/clock.h"

/* Memory. A C compiler may emit calls of these four anywhere, so every program that links this has them. */

#if __STDC_HOSTED__
#include <pthread.h>
#include <string.h>
#define WEFT_HOST_DESCRIBES 1 /* a trace contains a description of itself */

/* Writes the TSDL text that a trace contains, as much of it as fits into room bytes. Returns its size without
 * the NUL at its end. */
size_t weft_record_metadata(char *out, size_t room);

/* The size of a text; at most max. */
static inline size_t text_size(const char *text, size_t max)
{
    return strnlen(text, max);
}
#else
#define WEFT_HOST_DESCRIBES 0

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
#define memcpy __builtin_memcpy /* so that small copies are inlined */
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

/* Threads. A thread is whatever is interrupted only by code that returns before the thread continues. In a
 * process these are OS threads, which signal handlers interrupt; otherwise processors, which interrupts
 * interrupt. */

struct thread;
struct writer;

#if __STDC_HOSTED__
extern __thread struct thread *weft_record_self __attribute__((tls_model("initial-exec")));

/* Takes a slot for the calling thread, which has none. Returns NULL if there are no more slots. */
struct thread *weft_record_thread_new(void);

static inline struct thread *this_thread(void)
{
    return __builtin_expect(weft_record_self != NULL, 1) ? weft_record_self
                                                         : weft_record_thread_new();
}
#else
/* Returns NULL if this thread cannot record. */
struct thread *weft_record_this_thread(void);

static inline struct thread *this_thread(void)
{
    return weft_record_this_thread();
}
#endif

/* Attaches the slot's writer to the current recording. Returns false if the recording belongs to another
 * process, from which this one was forked without fork handlers. */
bool weft_record_thread_renew(struct thread *t, struct writer *w);

#if __STDC_HOSTED__
/* What the operating system's scheduler knows about a thread, in ns. */
struct core_time {
    uint64_t had_ns;    /* it ran on a core */
    uint64_t wanted_ns; /* it could have run, but had no core */
};

/* Reads the times of this thread. Keeps errno, and is no cancellation point. Returns false if the system does
 * not provide them. */
bool weft_record_core_time(struct core_time *t);
#endif

/* For a call that finds no writer of the current recording. */

#if __STDC_HOSTED__
/* The value of weft_record_rec.recording if there is no recording. No writer has this generation, not even one in
 * zeroed memory, whose generation is 0. */
#define NO_RECORDING UINT32_MAX

/* In control.c: carries out requests of weft ctl. Not in the middle of another call; afterwards recording may
 * be on or off, and the recording another one. */
void weft_record_asked(void);

/* Returns true if a recording is open and not paused. */
bool weft_record_is_on(void);

/* In start.c: counts an event that is discarded because it interrupts two others. */
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

/* A thread must not be cancelled while it moves a packet from one owner to the next, because the packet would be
 * lost. (There are no cancellation points here, so asynchronous cancellation is the only problem; glibc 2.36
 * respects the cancel type, but not always the cancel state.) */

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

/* The slots of all threads that ever recorded are among the first *count ones. */
struct thread *weft_record_threads(uint32_t *count);

/* Returns true if no other thread has ever recorded. */
bool weft_record_threads_alone(void);

/* For each other thread: after this call, either this thread sees what the other one stored before, or the
 * other one's next loads see what this thread stored before. If the system cannot do that,
 * weft_record_rec.fenced is set, and the other threads make fences. */
void weft_record_threads_barrier(void);

/* For clocks see clock.h: weft_record_clock_ticks, weft_record_clock_pair. */

#pragma GCC visibility pop
