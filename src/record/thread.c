/* SPDX-License-Identifier: ISC */
/* What each OS thread has: a slot of a table, taken at its first event and given back when it ends. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/start.h"

enum { SLOTS = 1 << 16, QUIET_NS = 1000000000 };

static struct thread *slots; /* all of them; a page uses memory once it is touched */
static uint32_t slots_used;  /* slots after these were never taken */
static uint64_t free_slots;  /* stack: number plus 1, and a tag against reuse in the high half */
static pthread_key_t at_exit;
static uint32_t prepared; /* the at_exit key exists */

__thread struct thread *weft_record_self;

static void push_free(struct thread *t)
{
    uint64_t top = __atomic_load_n(&free_slots, __ATOMIC_RELAXED), next;
    __atomic_store_n(&t->in_use, 0, __ATOMIC_RELEASE); /* (H) */
    do {
        __atomic_store_n(&t->next_free, (uint32_t)top, __ATOMIC_RELAXED);
        next = ((top >> 32) + 1) << 32 | ((uint64_t)(t - slots) + 1);
        /* (E) the slot as this thread leaves it */
    } while (!__atomic_compare_exchange_n(&free_slots, &top, next, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* The thread ends. */
static void give_back(void *slot)
{
    struct thread *t = slot;
    __atomic_store_n(&t->busy, 2, __ATOMIC_RELAXED); /* both writers: no handler writes meanwhile */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&weft_record_rec.open, __ATOMIC_ACQUIRE)) /* with (G) */
        for (int i = 0; i < 2; i++)
            if (t->writer[i].generation == weft_record_rec.generation)
                weft_record_pool_leave(&t->writer[i]);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE); /* (H) */
    weft_record_self = NULL;
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
    uint32_t n = __atomic_fetch_add(&slots_used, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with the one of weft_record_threads_barrier */
    if (n < SLOTS)
        return &slots[n];
    __atomic_fetch_sub(&slots_used, 1, __ATOMIC_RELAXED);
    return NULL;
}

struct thread *weft_record_thread_new(void)
{
    if (!__atomic_load_n(&slots, __ATOMIC_ACQUIRE)) /* with (J) */
        return NULL;
    struct thread *t = take_slot(), *none = NULL;
    if (!t)
        return NULL;
    t->writer[0].generation = t->writer[1].generation = 0; /* none */
    t->tid = (uint32_t)syscall(SYS_gettid);
    memset(t->name, 0, sizeof t->name);
    prctl(PR_GET_NAME, t->name);
    __atomic_store_n(&t->in_use, 1, __ATOMIC_RELAXED);
    /* A signal handler may have run in between and taken a slot for this thread. */
    if (!__atomic_compare_exchange_n(&weft_record_self, &none, t, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        push_free(t);
    if (__atomic_load_n(&prepared, __ATOMIC_ACQUIRE))
        pthread_setspecific(at_exit, weft_record_self);
    return weft_record_self;
}

/* The file's format: "CPU time, time on a run queue, time slices". Linux,
 * Documentation/scheduler/sched-stats.rst */
bool weft_record_core_time(struct core_time *t)
{
    const int before = errno;
    char text[64];
    const long fd =
        syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    const long got = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = before;
    uint64_t n[2] = {0};
    unsigned k = 0;
    for (long i = 0; i < got && k < 2; i++) {
        if (text[i] < '0' || text[i] > '9')
            k++;
        else
            n[k] = n[k] * 10 + (uint64_t)(text[i] - '0');
    }
    *t = (struct core_time){.had_ns = n[0], .wanted_ns = n[1]};
    return k == 2;
}

bool weft_record_thread_renew(struct thread *t, struct writer *w)
{
    /* In a child that was forked without fork handlers all slots are zeroed, so its first call gets here. */
    if (!weft_record_is_ours())
        return false;
    const uint32_t generation = weft_record_rec.generation;
    /* True in a signal handler if the interrupted code had not got this far. */
    if (t->writer[0].generation != generation)
        t->running = UINT64_MAX;
    *w = (struct writer){.running = UINT64_MAX, .low = UINT64_MAX, .generation = generation};
    if (w == &t->writer[0] && weft_record_rec.core_ticks != UINT64_MAX &&
        weft_record_core_time(&w->core))
        w->woken = weft_record_clock_ticks(&weft_record_rec.clock);
    return true;
}

bool weft_record_threads_alone(void)
{
    return __atomic_load_n(&slots_used, __ATOMIC_SEQ_CST) <= 1;
}

void weft_record_threads_barrier(void)
{
    /* If there is no membarrier, whoever resolves a promise makes a fence. A thread that takes its slot from
     * now on makes one when it counts the slot. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!weft_record_threads_alone() && !weft_record_rec.fenced)
        membarrier(MEMBARRIER_PRIVATE_EXPEDITED);
}

struct thread *weft_record_threads(uint32_t *count)
{
    uint32_t n = __atomic_load_n(&slots_used, __ATOMIC_ACQUIRE);
    *count = n < SLOTS ? n : SLOTS;
    return slots;
}

bool weft_record_threads_quiet(void)
{
    struct timespec pause = {.tv_nsec = 50000};
    uint32_t n = __atomic_load_n(&slots_used, __ATOMIC_RELAXED);
    uint64_t until = clock_ns(CLOCK_MONOTONIC) + QUIET_NS;
    for (uint32_t i = 0; i < n && i < SLOTS; i++)
        while (&slots[i] != weft_record_self &&
               __atomic_load_n(&slots[i].in_use, __ATOMIC_ACQUIRE) &&
               __atomic_load_n(&slots[i].busy, __ATOMIC_ACQUIRE)) { /* with (H) */
            if (clock_ns(CLOCK_MONOTONIC) > until)
                return false;
            nanosleep(&pause, NULL);
        }
    return true;
}

static void (*tell_forked)(void);

/* The child has one thread, and nothing of the recording belongs to it. */
void weft_record_threads_forked(void)
{
    for (uint32_t i = 0; i < slots_used && i < SLOTS; i++)
        if (&slots[i] != weft_record_self)
            __atomic_store_n(&slots[i].in_use, 0, __ATOMIC_RELAXED);
    if (weft_record_self) { /* its slot is zeroed */
        weft_record_self->tid = (uint32_t)syscall(SYS_gettid);
        __atomic_store_n(&weft_record_self->in_use, 1, __ATOMIC_RELAXED);
        prctl(PR_GET_NAME, weft_record_self->name);
    }
    tell_forked();
}

void weft_record_threads_prepare(void (*forked)(void))
{
    static uint32_t begun;
    if (__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED))
        return;
    if (pthread_key_create(&at_exit, give_back)) {
        __atomic_store_n(&begun, 0, __ATOMIC_RELAXED);
        return;
    }
    tell_forked = forked;
    pthread_atfork(NULL, weft_record_follow_parent, weft_record_threads_forked);
    __atomic_store_n(&prepared, 1, __ATOMIC_RELEASE); /* the key; read with acquire */
}

void weft_record_threads_init(void (*forked)(void))
{
    struct thread *none = NULL;
    weft_record_threads_prepare(forked);
    if (!__atomic_load_n(&prepared, __ATOMIC_ACQUIRE) || __atomic_load_n(&slots, __ATOMIC_ACQUIRE))
        return;
    void *p = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return;
    madvise(p, SLOTS * sizeof *slots, MADV_WIPEONFORK); /* see weft_record_thread_renew */
    /* (J) */
    if (!__atomic_compare_exchange_n(&slots, &none, p, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        munmap(p, SLOTS * sizeof *slots);
}

/* Returns true if this process has one thread, according to /proc: the link count of a folder counts its
 * subfolders. */
static bool is_alone(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

bool weft_record_threads_end(void)
{
    if (__atomic_exchange_n(&prepared, 0, __ATOMIC_SEQ_CST))
        pthread_key_delete(at_exit);
    if (!is_alone())
        return false;
    if (slots)
        munmap(slots, SLOTS * sizeof *slots);
    slots = NULL;
    slots_used = 0;
    free_slots = 0;
    weft_record_self = NULL;
    return true;
}
