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
static bool have_key;

static __thread struct thread *self __attribute__((tls_model("initial-exec")));

static void give_back(void *slot)
{
    struct thread *t = slot;
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (weft__rec.open && t->generation == weft__rec.generation)
        for (int i = 0; i < 2; i++)
            weft__pool_leave(&t->writer[i]);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
    self = NULL;
    t->in_use = 0;
    uint64_t top = __atomic_load_n(&free_slots, __ATOMIC_RELAXED), next;
    do {
        t->next_free = (uint32_t)top;
        next = ((top >> 32) + 1) << 32 | ((uint64_t)(t - slots) + 1);
        /* (E) the slot is as we leave it */
    } while (!__atomic_compare_exchange_n(&free_slots, &top, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static struct thread *take_slot(void)
{
    uint64_t top = __atomic_load_n(&free_slots, __ATOMIC_ACQUIRE), next; /* with (E) */
    while ((uint32_t)top) {
        struct thread *t = &slots[(uint32_t)top - 1];
        next = ((top >> 32) + 1) << 32 | t->next_free;
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
    if (!slots || !have_key)
        return NULL;
    struct thread *t = take_slot();
    if (!t)
        return NULL;
    t->busy = 0;
    t->generation = 0;
    t->tid = (uint32_t)syscall(SYS_gettid);
    memset(t->name, 0, sizeof t->name);
    prctl(PR_GET_NAME, t->name);
    t->in_use = 1;
    self = t;
    pthread_setspecific(at_exit, t);
    return t;
}

void weft__thread_renew(struct thread *t)
{
    for (int i = 0; i < 2; i++) {
        uint64_t next_id = t->writer[i].next_id, ids_end = t->writer[i].ids_end;
        t->writer[i] =
            (struct writer){.running = UINT64_MAX, .next_id = next_id, .ids_end = ids_end};
    }
    t->generation = weft__rec.generation;
}

bool weft__threads_quiet(void)
{
    struct timespec pause = {.tv_nsec = 50000};
    uint32_t n = __atomic_load_n(&slots_used, __ATOMIC_RELAXED);
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + QUIET_NS;
    for (uint32_t i = 0; i < n && i < SLOTS; i++)
        while (slots[i].in_use && slots[i].busy && &slots[i] != self) {
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
            slots[i].in_use = 0;
    if (self)
        self->tid = (uint32_t)syscall(SYS_gettid);
    tell_forked();
}

void weft__threads_init(void (*forked)(void))
{
    if (slots)
        return;
    void *p = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return;
    tell_forked = forked;
    have_key = pthread_key_create(&at_exit, give_back) == 0;
    pthread_atfork(NULL, NULL, in_child);
    slots = p;
}
