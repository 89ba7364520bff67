/* SPDX-License-Identifier: ISC */
/* What each OS thread has: a slot of a table, taken at its first event and given back when it ends. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/record.h"

enum { SLOTS = 1 << 16, QUIET_NS = 1000000000 };

static struct thread *slots; /* all of them; pages come as they are touched */
static uint32_t slots_used;  /* the rest was never taken */
static uint64_t free_slots;  /* stack: number plus 1, and a tag against reuse in the high half */
static pthread_key_t at_exit;

static __thread struct thread *self __attribute__((tls_model("initial-exec")));

static void push_free(struct thread *t)
{
    uint64_t top = __atomic_load_n(&free_slots, __ATOMIC_RELAXED), next;
    __atomic_store_n(&t->in_use, 0, __ATOMIC_RELEASE); /* (H) */
    do {
        __atomic_store_n(&t->next_free, (uint32_t)top, __ATOMIC_RELAXED);
        next = ((top >> 32) + 1) << 32 | ((uint64_t)(t - slots) + 1);
        /* (E) the slot is as we leave it */
    } while (!__atomic_compare_exchange_n(&free_slots, &top, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* The thread ends. */
static void give_back(void *slot)
{
    struct thread *t = slot;
    __atomic_store_n(&t->busy, 2, __ATOMIC_RELAXED); /* both: no handler writes meanwhile */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&weft__rec.open, __ATOMIC_ACQUIRE)) /* with (G) */
        for (int i = 0; i < 2; i++)
            if (t->writer[i].generation == weft__rec.generation)
                weft__pool_leave(&t->writer[i]);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE); /* (H) */
    self = NULL;
    push_free(t);
}

static struct thread *take_slot(void)
{
    uint64_t top = __atomic_load_n(&free_slots, __ATOMIC_ACQUIRE), next; /* with (E) */
    while ((uint32_t)top) {
        struct thread *t = &slots[(uint32_t)top - 1];
        next = ((top >> 32) + 1) << 32 | __atomic_load_n(&t->next_free, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&free_slots, &top, next, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return t;
    }
    uint32_t n = __atomic_fetch_add(&slots_used, 1, __ATOMIC_RELAXED);
    if (n < SLOTS)
        return &slots[n];
    __atomic_fetch_sub(&slots_used, 1, __ATOMIC_RELAXED);
    return NULL;
}

struct thread *weft__thread(void)
{
    if (__builtin_expect(self != NULL, 1))
        return self;
    if (!__atomic_load_n(&slots, __ATOMIC_ACQUIRE)) /* with (J) */
        return NULL;
    struct thread *t = take_slot(), *none = NULL;
    if (!t)
        return NULL;
    t->writer[0].generation = t->writer[1].generation = 0;
    t->tid = (uint32_t)syscall(SYS_gettid);
    memset(t->name, 0, sizeof t->name);
    prctl(PR_GET_NAME, t->name);
    __atomic_store_n(&t->in_use, 1, __ATOMIC_RELAXED);
    /* A handler may have come in between, and have taken one for the thread. */
    if (!__atomic_compare_exchange_n(&self, &none, t, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        push_free(t);
    pthread_setspecific(at_exit, self);
    return self;
}

void weft__thread_renew(struct thread *t, struct writer *w)
{
    const uint32_t generation = weft__rec.generation;
    /* In a handler, if what it interrupted had not come to this. */
    if (t->writer[0].generation != generation)
        t->running = UINT64_MAX;
    *w = (struct writer){.running = UINT64_MAX,
                         .next_id = w->next_id,
                         .ids_end = w->ids_end,
                         .generation = generation};
}

bool weft__threads_quiet(void)
{
    struct timespec pause = {.tv_nsec = 50000};
    uint32_t n = __atomic_load_n(&slots_used, __ATOMIC_RELAXED);
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + QUIET_NS;
    for (uint32_t i = 0; i < n && i < SLOTS; i++)
        while (&slots[i] != self && __atomic_load_n(&slots[i].in_use, __ATOMIC_ACQUIRE) &&
               __atomic_load_n(&slots[i].busy, __ATOMIC_ACQUIRE)) { /* with (H) */
            if (clock_ns(CLOCK_MONOTONIC) > until)
                return false;
            nanosleep(&pause, NULL);
        }
    return true;
}

static void (*tell_forked)(void);

/* The child has one thread, and nothing of the recording is its own. */
static void in_child(void)
{
    for (uint32_t i = 0; i < slots_used && i < SLOTS; i++)
        if (&slots[i] != self)
            __atomic_store_n(&slots[i].in_use, 0, __ATOMIC_RELAXED);
    if (self)
        self->tid = (uint32_t)syscall(SYS_gettid);
    tell_forked();
}

void weft__threads_init(void (*forked)(void))
{
    static uint32_t begun;
    if (__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED))
        return;
    void *p = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED || pthread_key_create(&at_exit, give_back)) {
        if (p != MAP_FAILED)
            munmap(p, SLOTS * sizeof *slots);
        __atomic_store_n(&begun, 0, __ATOMIC_RELAXED);
        return;
    }
    tell_forked = forked;
    pthread_atfork(NULL, NULL, in_child);
    __atomic_store_n(&slots, p, __ATOMIC_RELEASE); /* (J) and the key */
}
