/* SPDX-License-Identifier: ISC */
/* What it costs a program to record its events: CPU time of each thread, for each call.
 *
 *     record-RECORDER [OPTION...]
 *       --workload W    event, label, counter: one call again and again; create, create-labelled: one and a
 *                       fulfilment; mixture: see below
 *       --threads N     each on a CPU of its own
 *       --events N      calls of each thread, at least, whose time is taken
 *       --warm N        calls of each thread before that
 *       --alive N       mixture: promises of each thread that are alive all the time
 *       --turn N        the event loop sleeps after so many calls
 *       --path FILE     what is recorded, where that is a file
 *       --bytes N       its size, all threads together
 *       --off           linked and not started
 *       --turn-clock    the time is taken once in a turn
 *
 * prints a line for each thread: its system number, how many calls it made in all, how many of them were
 * timed, and the nanoseconds of CPU time for each of these.
 *
 * The mixture is a server with alive/2 connections, each of which waits for the reply to a call. They are
 * answered in a random order, new in each round: the reply is fulfilled, which wakes the connection, which
 * makes the next call: creates a reply, labels it and waits for it. With several threads, every 8th reply is
 * fulfilled by another one, to which it goes through a queue; its connection goes on a while later. Every
 * 64th time the connection ends and another one begins. One reply in 20 000 is lost: it stays pending for
 * ever. Which of these happens, the processor can predict: its mistakes are not what is measured. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include RECORDER

enum {
    QUEUE = 1024,
    BATCH = 64,
    SHARED = 8,  /* every 8th connection's replies are fulfilled by other threads */
    LATER = 256, /* so many of these are answered before a connection goes on */
    CALLS_OF_CONNECTION = 64,
    LOST = 20000,
    THREADS_MAX = 64,
};

/* Replies from one thread to another, made known in batches. */
struct queue {
    _Alignas(64) _Atomic uint64_t put;
    uint64_t written, taken_seen;
    _Alignas(64) _Atomic uint64_t taken;
    _Alignas(64) uint64_t reply[QUEUE];
};

struct connection {
    uint64_t promise;
    uint64_t reply; /* that it waits for */
};

struct thread {
    _Alignas(64) pthread_t pthread;
    unsigned number;
    struct recorder recorder;
    struct queue *in, *out; /* NULL: there is only one thread */
    struct connection *connection;
    uint32_t *order; /* of the connections; those before next have had their turn in this round */
    uint32_t own, next;
    /* The rest is shared. The replies of those in a ring of later ones were handed over. */
    uint32_t connections, later, oldest;
    uint64_t random, steps;
    uint64_t condition; /* for the workloads that repeat one call */
    uint64_t calls, timed;
    double ns;
    int tid;
};

static struct options options = {
    .workload = "event", .threads = 1, .events = 10000000, .alive = 10000, .bytes = 8 << 20};
static pthread_barrier_t together;

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "record: %s\n", what);
    exit(1);
}

/* The compiler must not know what p is: the work that a recorder gets stays where there is none. */
static inline uint64_t unknown(uint64_t p)
{
    __asm__ volatile("" : "+r"(p));
    return p;
}

/* ---- One call again and again ---- */

#define REPEAT(name, CALL)                                                                         \
    static uint64_t name(struct thread *t, uint64_t calls)                                         \
    {                                                                                              \
        struct recorder *const r = &t->recorder;                                                   \
        const uint64_t p = t->condition;                                                           \
        for (uint64_t i = 0; i < calls; i++) {                                                     \
            CALL;                                                                                  \
        }                                                                                          \
        (void)r, (void)p;                                                                          \
        return calls;                                                                              \
    }

REPEAT(repeat_event, NOTIFY(r, unknown(p)))
REPEAT(repeat_label, LABEL(r, unknown(p), "a literal text"))
REPEAT(repeat_counter, COUNT(r, (int64_t)unknown(1)))

#define REPEAT_CREATE(name, label)                                                                 \
    static uint64_t name(struct thread *t, uint64_t calls)                                         \
    {                                                                                              \
        struct recorder *const r = &t->recorder;                                                   \
        for (uint64_t i = 0; i < calls; i += 2) {                                                  \
            uint64_t p = CREATE(r, rpc, label);                                                    \
            FULFIL(r, unknown(p));                                                                 \
        }                                                                                          \
        (void)r;                                                                                   \
        return (calls + 1) / 2 * 2;                                                                \
    }

REPEAT_CREATE(repeat_create, NULL)
REPEAT_CREATE(repeat_create_labelled, "a literal text")

static uint64_t repeat_turns(struct thread *t, uint64_t calls)
{
    for (uint64_t done = 0; done < calls; done += options.turn) {
        repeat_event(t, options.turn - 2);
        TURN(&t->recorder);
    }
    return (calls + options.turn - 1) / options.turn * options.turn;
}

/* ---- The mixture ---- */

/* A number below limit (xorshift64*). */
static inline uint32_t below(struct thread *t, uint64_t limit)
{
    t->random ^= t->random >> 12;
    t->random ^= t->random << 25;
    t->random ^= t->random >> 27;
    return (uint32_t)((t->random * 0x2545f4914f6cdd1d >> 32) * limit >> 32);
}

/* A shuffle that goes on while its result is used. */
static inline struct connection *whose_turn(struct thread *t)
{
    uint32_t other = t->next + below(t, t->own - t->next);
    uint32_t chosen = t->order[other];
    t->order[other] = t->order[t->next];
    t->order[t->next] = chosen;
    t->next = t->next + 1 < t->own ? t->next + 1 : 0;
    return &t->connection[chosen];
}

static inline bool hand_over(struct queue *q, uint64_t reply)
{
    if (q->written - q->taken_seen == QUEUE) {
        q->taken_seen = atomic_load_explicit(&q->taken, memory_order_acquire); /* with (A) */
        if (q->written - q->taken_seen == QUEUE)
            return false;
    }
    q->reply[q->written++ % QUEUE] = reply;
    if (q->written % BATCH == 0)
        atomic_store_explicit(&q->put, q->written, memory_order_release); /* (B) the replies */
    return true;
}

/* Fulfils what other threads have handed over. Returns the number of calls. */
static inline uint64_t fulfil_others(struct thread *t)
{
    struct queue *q = t->in;
    uint64_t first = atomic_load_explicit(&q->taken, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&q->put, memory_order_acquire); /* with (B) */
    for (uint64_t i = first; i != end; i++)
        FULFIL(&t->recorder, unknown(q->reply[i % QUEUE]));
    if (end != first)
        atomic_store_explicit(&q->taken, end, memory_order_release); /* (A) it is copied */
    return end - first;
}

static inline void begin_connection(struct recorder *r, struct connection *c)
{
    RUN(r, UINT64_MAX);
    c->promise = CREATE(r, connection, NULL);
    RUN(r, unknown(c->promise));
    (void)r;
}

static inline void call(struct recorder *r, struct connection *c)
{
    c->reply = CREATE(r, rpc, "lookup");
    LABEL(r, unknown(c->reply), "GET /users/7");
    WAIT(r, unknown(c->reply));
    (void)r;
}

/* Hands the reply of some connection over; another one, whose reply was, goes on. */
static inline uint64_t step_shared(struct thread *t)
{
    struct recorder *r = &t->recorder;
    uint32_t *ring = t->order + t->own;
    uint32_t *any = ring + t->later + below(t, t->connections - t->own - t->later);
    uint32_t chosen = *any, waiting = ring[t->oldest];
    struct connection *c = &t->connection[waiting];
    bool gone = hand_over(t->out, t->connection[chosen].reply);
    if (!gone)
        FULFIL(r, unknown(t->connection[chosen].reply));
    *any = waiting;
    ring[t->oldest] = chosen;
    t->oldest = t->oldest + 1 < t->later ? t->oldest + 1 : 0;
    WAKE(r, unknown(c->promise), unknown(c->reply));
    call(r, c);
    return 4 + !gone;
}

static inline uint64_t step_own(struct thread *t, uint64_t n)
{
    struct recorder *r = &t->recorder;
    struct connection *c = whose_turn(t);
    if (n % LOST == LOST - 1) {
        RUN(r, unknown(c->promise));
        call(r, c);
        return 4;
    }
    FULFIL(r, unknown(c->reply));
    WAKE(r, unknown(c->promise), unknown(c->reply));
    if (n % CALLS_OF_CONNECTION == CALLS_OF_CONNECTION - 1) {
        FULFIL(r, unknown(c->promise));
        begin_connection(r, c);
        call(r, c);
        return 9;
    }
    call(r, c);
    return 5;
}

/* Answers one connection. Returns the number of calls. */
static inline uint64_t step(struct thread *t)
{
    uint64_t n = t->steps++;
    if (t->out && n % SHARED == 0)
        return step_shared(t) + (n % (SHARED * BATCH) == 0 ? fulfil_others(t) : 0);
    return step_own(t, n);
}

static uint64_t mixture(struct thread *t, uint64_t calls)
{
    uint64_t done = 0;
    while (done < calls)
        done += step(t);
    return done;
}

static uint64_t mixture_turns(struct thread *t, uint64_t calls)
{
    uint64_t done = 0;
    while (done < calls) {
        for (uint64_t end = done + options.turn - 2; done < end;)
            done += step(t);
        TURN(&t->recorder);
        done += 2;
    }
    return done;
}

static uint64_t begin_mixture(struct thread *t)
{
    for (uint32_t i = 0; i < t->connections; i++) {
        begin_connection(&t->recorder, &t->connection[i]);
        call(&t->recorder, &t->connection[i]);
    }
    for (uint32_t i = 0; i < t->later; i++)
        hand_over(t->out, t->connection[t->order[t->own + i]].reply);
    return (uint64_t)t->connections * 6;
}

/* ---- Threads ---- */

static const struct workload {
    const char *name;
    uint64_t (*run)(struct thread *t, uint64_t calls),
        (*run_turns)(struct thread *t, uint64_t calls);
} workloads[] = {
    {"event", repeat_event, repeat_turns},
    {"label", repeat_label, NULL},
    {"counter", repeat_counter, NULL},
    {"create", repeat_create, NULL},
    {"create-labelled", repeat_create_labelled, NULL},
    {"mixture", mixture, mixture_turns},
};

static void *allocate(size_t count, size_t size)
{
    void *p = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (!p)
        fail("out of memory");
    memset(p, 0, count * size);
    return p;
}

/* On the nth CPU of those that the process may use. */
static void pin(unsigned n)
{
    cpu_set_t set, one;
    if (sched_getaffinity(0, sizeof set, &set) < 0 || CPU_COUNT(&set) == 0)
        return;
    n %= (unsigned)CPU_COUNT(&set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && n-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const struct workload *chosen_workload(void)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (!strcmp(workloads[i].name, options.workload))
            return &workloads[i];
    fail("no such workload");
}

static void *run_thread(void *arg)
{
    struct thread *t = arg;
    const struct workload *w = chosen_workload();
    uint64_t (*run)(struct thread *, uint64_t) = options.turn ? w->run_turns : w->run;
    pin(t->number);
    t->tid = (int)syscall(SYS_gettid);
    pthread_barrier_wait(&together); /* no thread pins itself any more */
    recorder_enter(&t->recorder, &options, t->number);
    if (w->run == mixture)
        t->calls += begin_mixture(t);
    else
        t->calls++, t->condition = CREATE(&t->recorder, rpc, "condition");
    t->calls += run(t, options.warm);
    pthread_barrier_wait(&together);
    double begun = cpu_ns();
    t->timed = run(t, options.events);
    t->ns = cpu_ns() - begun;
    t->calls += t->timed;
    pthread_barrier_wait(&together);
    if (t->in && w->run == mixture)
        t->calls += fulfil_others(t);
    recorder_leave(&t->recorder, t->calls);
    return NULL;
}

static void prepare(struct thread *t, unsigned number)
{
    t->number = number;
    t->random = number + 1;
    t->connections = (uint32_t)(options.alive / 2);
    t->connection = allocate(t->connections, sizeof *t->connection);
    t->order = allocate(t->connections, sizeof *t->order);
    for (uint32_t i = 0; i < t->connections; i++)
        t->order[i] = i;
}

static void share(struct thread *t)
{
    uint32_t shared = t->out ? t->connections / SHARED : 0;
    t->own = t->connections - shared;
    t->later = shared / 2 < LATER ? shared / 2 : LATER;
}

static void run_all(struct thread *threads, unsigned n)
{
    struct queue *queues = n > 1 ? allocate(n, sizeof *queues) : NULL;
    pthread_barrier_init(&together, NULL, n);
    for (unsigned i = 0; i < n; i++) {
        prepare(&threads[i], i);
        threads[i].in = queues ? &queues[i] : NULL;
        threads[i].out = queues ? &queues[(i + 1) % n] : NULL;
        share(&threads[i]);
    }
    recorder_start(&options);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i].pthread, NULL, run_thread, &threads[i]))
            fail("cannot create a thread");
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i].pthread, NULL);
    recorder_stop();
}

/* ---- Arguments ---- */

static uint64_t number(const char *text)
{
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || *end || errno || *text == '-')
        fail("not a number");
    return n;
}

static void read_options(int argc, char **argv)
{
    static const struct option known[] = {{"workload", 1, NULL, 'w'},
                                          {"threads", 1, NULL, 't'},
                                          {"events", 1, NULL, 'e'},
                                          {"warm", 1, NULL, 'W'},
                                          {"alive", 1, NULL, 'a'},
                                          {"turn", 1, NULL, 'T'},
                                          {"path", 1, NULL, 'p'},
                                          {"bytes", 1, NULL, 'b'},
                                          {"off", 0, NULL, 'o'},
                                          {"turn-clock", 0, NULL, 'c'},
                                          {0}};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        uint64_t n = optarg && c != 'w' && c != 'p' ? number(optarg) : 0;
        switch (c) {
        case 'w':
            options.workload = optarg;
            break;
        case 't':
            options.threads = (unsigned)n;
            break;
        case 'e':
            options.events = n;
            break;
        case 'W':
            options.warm = n;
            break;
        case 'a':
            options.alive = n;
            break;
        case 'T':
            options.turn = (unsigned)n;
            break;
        case 'p':
            options.path = optarg;
            break;
        case 'b':
            options.bytes = n;
            break;
        case 'o':
            options.off = true;
            break;
        case 'c':
            options.turn_clock = true;
            break;
        default:
            exit(2);
        }
    }
    if (optind != argc || !options.threads || options.threads > THREADS_MAX || options.alive < 64 ||
        options.turn == 1 || options.turn == 2)
        fail("wrong arguments; the first lines of record.c say them");
    if (options.turn && !chosen_workload()->run_turns)
        fail("this workload has no turns");
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    chosen_workload();
    struct thread *threads = allocate(options.threads, sizeof *threads);
    run_all(threads, options.threads);
    for (unsigned i = 0; i < options.threads; i++)
        printf("thread=%d calls=%" PRIu64 " timed=%" PRIu64 " ns=%.3f\n", threads[i].tid,
               threads[i].calls, threads[i].timed, threads[i].ns / (double)threads[i].timed);
    return 0;
}
