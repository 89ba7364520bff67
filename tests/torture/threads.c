/* SPDX-License-Identifier: ISC */
/* Threads that are not well-behaved: very many that live for a moment; some that are cancelled in the middle
 * of recording; signals that record while an event is recorded. What the others record is whole and complete.
 *
 *     threads [-n THREADS] [-s SEED] FILE
 *
 * Also in the environment: THREADS and SEED. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "../record/pattern.h"
#include "../record/trace.h"
#include "truth.h"
#include <weft/weft.h>

#if defined __SANITIZE_THREAD__
#define WITHOUT_ASYNCHRONOUS
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define WITHOUT_ASYNCHRONOUS
#endif
#endif

enum { CREWS = 4 };

static const char *path;
static uint64_t count = 5000, dice;
static struct trace trace;

static bool start(uint64_t bytes)
{
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    if (rc < 0)
        printf("weft_start: %s\n", strerror(-rc));
    return rc == 0;
}

static bool stop_and_read(void)
{
    weft_stop();
    trace_free(&trace);
    if (trace_read(&trace, path) == 0 && !trace.damage->problems && !trace.facts->unknown_events &&
        trace.facts->ended == WEFT_ENDED_STOPPED)
        return true;
    printf("%s; %" PRIu64 " problems\n", trace.error.text,
           trace.damage ? trace.damage->problems : 0);
    return false;
}

/* Recorded = kept + overwritten + discarded; most: as many may have been. */
static bool adds_up(uint64_t least, uint64_t most)
{
    const struct weft_reader_facts *f = trace.facts;
    uint64_t kept = 0;
    for (size_t i = 0; i < trace.events; i++)
        kept += !trace.event[i].promoted;
    uint64_t all = kept + f->overwritten_events + f->missing_events + f->discarded_events;
    printf("%" PRIu64 " = %" PRIu64 " kept + %" PRIu64 " overwritten + %" PRIu64 " discarded\n",
           all, kept, f->overwritten_events + f->missing_events, f->discarded_events);
    if (all < least || all > most)
        printf("recorded were %" PRIu64 " to %" PRIu64 "\n", least, most);
    return all >= least && all <= most;
}

/* ---- Short-lived threads ---- */

static void *brief(void *arg)
{
    uint64_t n = (uint64_t)(uintptr_t)arg;
    weft_promise p = weft_create("brief", NULL);
    weft_run(p);
    weft_wait_by(p, (UINT64_C(5) << 40) + n);
    weft_fulfill(p);
    return NULL;
}

static void *crew(void *arg)
{
    for (uint64_t i = (uint64_t)(uintptr_t)arg; i < count; i += CREWS) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, brief, (void *)(uintptr_t)i))
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

static bool is_pending(uint64_t id)
{
    for (size_t i = 0; i < trace.events; i++)
        if ((trace.event[i].kind == WEFT_EVENT_FULFILLS && trace.event[i].b == id) ||
            (trace.event[i].kind == WEFT_EVENT_RESOLVES && trace.event[i].b == id))
            return false;
    return true;
}

/* Each leaves its four events, one after the other, in a stream of its own. */
static bool short_lived(void)
{
    pthread_t thread[CREWS];
    if (!start(1 << 20))
        return false;
    weft_promise lost = weft_create("rpc", "lost");
    weft_should_resolve(lost);
    for (uintptr_t i = 0; i < CREWS; i++)
        if (pthread_create(&thread[i], NULL, crew, (void *)i))
            return false;
    for (unsigned i = 0; i < CREWS; i++)
        pthread_join(thread[i], NULL);
    if (!stop_and_read() || !adds_up(4 * count + 2, 4 * count + 2))
        return false;
    bool found = false;
    uint64_t whole = 0, parts = 0;
    for (size_t i = 0; i < trace.events; i++) {
        const struct weft_event *ev = &trace.event[i];
        found |= ev->kind == WEFT_EVENT_CREATES && ev->b == lost && is_pending(lost);
        if (ev->promoted || ev->kind != WEFT_EVENT_FULFILLS || ev->a != ev->b)
            continue;
        const struct weft_stream_facts *f = &trace.facts->stream[ev->stream];
        whole += f->kept == 4;
        parts += f->kept + f->overwritten + f->missing + f->discarded != 4;
    }
    printf("%" PRIu64 " threads, %" PRIu32 " streams there, %" PRIu64 " of them whole\n", count,
           trace.facts->streams, whole);
    if (parts || !found || trace.facts->streams_recorded != count + 1)
        printf("%" PRIu64 " streams of other than 4 events; %" PRIu64 " streams recorded; the lost "
               "one is %s\n",
               parts, trace.facts->streams_recorded, found ? "there" : "gone");
    return !parts && found && trace.facts->streams_recorded == count + 1;
}

/* ---- Cancelled threads ---- */

static struct {
    uint64_t begun, done;
    unsigned char apart[48];
} victim[CREWS];
static int canceltype;

static void *record_until_cancelled(void *arg)
{
    unsigned t = (unsigned)(uintptr_t)arg;
    int old;
    pthread_setcanceltype(canceltype, &old);
    for (;;) {
        uint64_t n = victim[t].begun;
        __atomic_store_n(&victim[t].begun, n + 1, __ATOMIC_RELEASE);
        weft_label(pattern_id(t, n), n % 2 ? "odd" : "even");
        __atomic_store_n(&victim[t].done, victim[t].done + 1, __ATOMIC_RELEASE);
        if (canceltype == PTHREAD_CANCEL_DEFERRED)
            pthread_testcancel();
    }
    return NULL;
}

/* A thread is cancelled, the next takes its place: what they have recorded is there, in order, but for one
 * call of each that was cancelled. Afterwards the ring is as large as it was. */
static bool cancelled(int type, unsigned times)
{
    uint64_t least = 0, most = 0;
    canceltype = type;
    memset(victim, 0, sizeof victim);
    if (!start(256 << 10))
        return false;
    for (unsigned i = 0; i < times; i++) {
        pthread_t thread[CREWS];
        void *status;
        for (uintptr_t t = 0; t < CREWS; t++)
            if (pthread_create(&thread[t], NULL, record_until_cancelled, (void *)t))
                return false;
        for (unsigned t = 0; t < CREWS; t++) {
            uint64_t until =
                __atomic_load_n(&victim[t].done, __ATOMIC_ACQUIRE) + 1 + truth_dice(&dice) % 2000;
            while (__atomic_load_n(&victim[t].done, __ATOMIC_ACQUIRE) < until)
                sched_yield();
            pthread_cancel(thread[t]);
        }
        for (unsigned t = 0; t < CREWS; t++) {
            pthread_join(thread[t], &status);
            if (status != PTHREAD_CANCELED)
                return false;
        }
    }
    for (uint64_t n = 0; n < 100000; n++)
        weft_counter_set(&(struct weft_counter){"after", 0, 0}, (int64_t)n);
    for (unsigned t = 0; t < CREWS; t++) {
        least += victim[t].done;
        most += victim[t].begun;
    }
    printf("%s: ", type == PTHREAD_CANCEL_DEFERRED ? "deferred" : "asynchronous");
    if (!stop_and_read() || !adds_up(least + 100000, most + 100000))
        return false;
    /* At least half of the packets went to the events that came last. */
    uint64_t after = 0;
    for (size_t i = 0; i < trace.events; i++)
        after += trace.event[i].kind == WEFT_EVENT_COUNTER;
    printf("%" PRIu64 " of %zu events after the cancelling; %" PRIu64 " packets are there\n", after,
           trace.events, trace.facts->packets);
    return after >= trace.events / 2 && trace.facts->packets >= 40;
}

/* ---- Handlers ---- */

static uint64_t interrupted, recorded;

/* Once, so that what it interrupts goes on for a while, however slow the handler is. */
static void interrupt_soon(void)
{
    const struct itimerval soon = {{0, 0}, {0, 10}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

static void in_handler(int number)
{
    (void)number;
    const int was = errno;
    weft_promise ran = weft_run(99);
    weft_promise p = weft_create("in a handler", "once more");
    weft_wait(p);
    weft_fulfill(p);
    weft_run(ran);
    interrupted++;
    interrupt_soon();
    errno = was;
}

/* A timer's handler records in the middle of events that are recorded; all of it is there. */
static bool handlers(uint64_t n)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_RESTART};
    if (!start(64 << 20))
        return false;
    interrupted = recorded = 0;
    sigaction(SIGALRM, &action, NULL);
    interrupt_soon();
    for (uint64_t i = 0; i < n; i++)
        pattern_write(0, i);
    signal(SIGALRM, SIG_IGN);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%" PRIu64 " handlers: ", interrupted);
    if (!stop_and_read() || !adds_up(n + 5 * interrupted, n + 5 * interrupted))
        return false;
    uint64_t next = 0, ends = 0;
    for (size_t i = 0; i < trace.events; i++) {
        const struct weft_event *ev = &trace.event[i];
        unsigned t;
        uint64_t which;
        if (pattern_read(ev, &t, &which) && t == 0) {
            if (which != next++ && !trace.facts->wrapped) {
                printf("call %" PRIu64 " is followed by %" PRIu64 "\n", next - 2, which);
                return false;
            }
        } else if (ev->kind == WEFT_EVENT_FULFILLS) {
            ends += ev->a == 99;
        }
    }
    printf("%" PRIu64 " of %" PRIu64 " calls, %" PRIu64 " of %" PRIu64 " in handlers\n", next, n,
           ends, interrupted);
    return trace.facts->wrapped || (next == n && ends == interrupted);
}

int main(int argc, char **argv)
{
    const char *env[] = {getenv("THREADS"), getenv("SEED")};
    uint64_t seed = env[1] ? strtoull(env[1], NULL, 10) : 1;
    count = env[0] ? strtoull(env[0], NULL, 10) : count;
    for (int o; (o = getopt(argc, argv, "n:s:")) != -1;) {
        if (o == '?')
            return 2;
        *(o == 'n' ? &count : &seed) = strtoull(optarg, NULL, 10);
    }
    if (optind != argc - 1)
        return 2;
    path = argv[optind];
    dice = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    printf("seed %" PRIu64 "\n", seed);
    bool ok = short_lived();
    ok &= cancelled(PTHREAD_CANCEL_DEFERRED, 50);
#ifdef WITHOUT_ASYNCHRONOUS
    printf("not tried: asynchronous cancelling, which the thread sanitizer puts off\n");
#else
    ok &= cancelled(PTHREAD_CANCEL_ASYNCHRONOUS, 50);
#endif
    ok &= handlers(count < 1000000 ? 200000 : 1000000);
    trace_free(&trace);
    return !ok;
}
