/* SPDX-License-Identifier: ISC */
/* Kills a program in the middle of recording, again and again, and reads what it has left: of each thread
 * its newest events, none torn, up to the last call that had returned. Until the ring has gone round there
 * is no gap in them; after that only where it went round while a thread was interrupted, and the sums agree.
 *
 *     killed [-n TIMES] [-s SEED] FOLDER
 *
 * How many times may also be in the environment: CRASHES. Ends of other kinds are tried once each. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../record/pattern.h"
#include "../record/trace.h"

enum { THREADS_MAX = 4 };

enum end { KILL, ABORT, EXIT_AT_ONCE, SEGFAULT, EXIT, ENDS };

struct shared {
    uint64_t returned[THREADS_MAX]; /* calls, of each thread */
    int error;                      /* of weft_start */
};

static struct shared *shared;
static char path[4096];
static uint64_t events_read, gaps;

static void *work(void *arg)
{
    unsigned t = (unsigned)(uintptr_t)arg;
    for (uint64_t n = 0;;) {
        pattern_write(t, n);
        __atomic_store_n(&shared->returned[t], ++n, __ATOMIC_RELEASE);
    }
    return NULL;
}

static uint64_t returned(unsigned t)
{
    return __atomic_load_n(&shared->returned[t], __ATOMIC_ACQUIRE);
}

/* The program that is killed. */
static void record(unsigned threads, uint64_t bytes, enum end end)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    __atomic_store_n(&shared->error, rc, __ATOMIC_RELEASE);
    if (rc < 0)
        _exit(1);
    if (end == KILL) {
        for (uintptr_t t = 1; t < threads; t++) {
            pthread_t thread;
            pthread_create(&thread, NULL, work, (void *)t);
        }
        work(0);
    }
    for (uint64_t n = 0; n < 100; n++) {
        pattern_write(0, n);
        shared->returned[0] = n + 1;
    }
    switch (end) {
    case ABORT:
        abort();
    case EXIT_AT_ONCE:
        _exit(0);
    case SEGFAULT:
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
        break;
    default:
        exit(0);
    }
}

/* Whether the ring has gone round since that thread's last event that is there. So a thread may lose even
 * its newest ones, if it is interrupted for long; and its oldest packet may be left if that was just as
 * it was about to overwrite it. */
static bool gone_round(const struct trace *t, unsigned k)
{
    size_t since = 0;
    unsigned thread;
    uint64_t n;
    for (size_t i = t->events; i-- > 0; since++)
        if (pattern_read(&t->event[i], &thread, &n) && thread == k)
            break;
    return t->facts->wrapped && since >= t->events / 2;
}

/* Whether the trace is what those threads can have left. */
static bool check(const struct trace *t, unsigned threads, enum end end)
{
    uint64_t next[THREADS_MAX] = {0}, first[THREADS_MAX];
    const struct weft_stream_facts *stream[THREADS_MAX] = {0};
    const enum weft_ended ended = end == EXIT ? WEFT_ENDED_STOPPED : WEFT_ENDED_KILLED;
    if (t->damage->problems || t->facts->unknown_events || t->facts->ended != ended) {
        printf("%" PRIu64 " problems, %s, %s\n", t->damage->problems, t->damage->first[0].text,
               weft_ended_name(t->facts->ended));
        return false;
    }
    for (size_t i = 0; i < t->events; i++) {
        unsigned thread;
        uint64_t n;
        if (!pattern_read(&t->event[i], &thread, &n) || thread >= threads) {
            printf("torn: %s\n", trace_line(&t->event[i]));
            return false;
        }
        if (next[thread] && n != next[thread]) {
            gaps++; /* of whole packets that were overwritten: the sums tell */
            if (n < next[thread] || !t->facts->wrapped) {
                printf("thread %u: from %" PRIu64 " to %" PRIu64 "\n", thread, next[thread], n);
                return false;
            }
        }
        stream[thread] = &t->facts->stream[t->event[i].stream];
        if (!next[thread])
            first[thread] = n;
        next[thread] = n + 1;
    }
    events_read += t->events;
    uint64_t accounted = t->events + t->facts->overwritten_events + t->facts->discarded_events;
    for (unsigned k = 0; k < threads; k++) {
        uint64_t done = returned(k);
        bool there = next[k] != 0, all = !t->facts->wrapped && !t->facts->discarded_events;
        accounted -= done;
        if (next[k] > done + 1 || (all && (next[k] < done || (there && first[k]))) ||
            (next[k] < done && !gone_round(t, k))) {
            printf("thread %u: %" PRIu64 " calls returned; there are those from %" PRIu64
                   " to %" PRIu64 "\n",
                   k, done, there ? first[k] : 0, next[k]);
            return false;
        }
        const struct weft_stream_facts *s = stream[k];
        if (s && s->kept + s->overwritten + s->discarded != next[k]) {
            printf("thread %u: %" PRIu64 " kept, %" PRIu64 " overwritten, %" PRIu64
                   " discarded up to %" PRIu64 "\n",
                   k, s->kept, s->overwritten, s->discarded, next[k]);
            return false;
        }
    }
    /* A thread that is killed just as it overwrites a packet may not have counted that. */
    const uint64_t packets = threads * (64 << 10) / 12;
    if (accounted + packets > UINT64_MAX / 2) {
        printf("%" PRIu64 " calls are not accounted for\n", -accounted);
        return false;
    }
    return true;
}

static bool crash(unsigned threads, uint64_t bytes, enum end end, long wait_ns)
{
    int status;
    struct trace t;
    fflush(stdout);
    memset(shared, 0, sizeof *shared);
    shared->error = 1;
    pid_t pid = fork();
    if (pid == 0) {
        record(threads, bytes, end);
        _exit(1);
    }
    if (end == KILL) {
        for (unsigned k = 0; k < threads; k++)
            while (__atomic_load_n(&shared->error, __ATOMIC_ACQUIRE) >= 0 && !returned(k))
                nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        nanosleep(&(struct timespec){.tv_nsec = wait_ns}, NULL);
        kill(pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    if (shared->error || trace_read(&t, path) < 0) {
        printf("%s\n", shared->error ? strerror(-shared->error) : t.error.text);
        return false;
    }
    bool ok = check(&t, threads, end);
    if (ok && end != KILL && t.events != 100) {
        printf("%zu of 100 events\n", t.events);
        ok = false;
    }
    trace_free(&t);
    if (!ok)
        printf("%u threads, %" PRIu64 " bytes, end %d\n", threads, bytes, end);
    return ok;
}

int main(int argc, char **argv)
{
    static const uint64_t sizes[] = {64 << 10, 256 << 10, 1 << 20, 16 << 20};
    const char *times = getenv("CRASHES");
    unsigned long n = times ? strtoul(times, NULL, 10) : 100, seed = (unsigned long)getpid();
    for (int o; (o = getopt(argc, argv, "n:s:")) != -1;) {
        if (o == '?')
            return 2;
        *(o == 'n' ? &n : &seed) = strtoul(optarg, NULL, 10);
    }
    if (optind != argc - 1)
        return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    snprintf(path, sizeof path, "%s/killed.%d", argv[optind], (int)getpid());
    printf("seed %lu\n", seed);
    bool ok = true;
    srandom((unsigned)seed);
    for (int end = ABORT; end < ENDS; end++)
        ok &= crash(1, 64 << 10, (enum end)end, 0);
    for (unsigned long i = 0; i < n && ok; i++) {
        long r = random();
        ok = crash(1 + (unsigned)(r % THREADS_MAX), sizes[r / 4 % 4], KILL, r / 16 % 8000000);
    }
    unlink(path);
    printf("%lu killed, %" PRIu64 " events read, %" PRIu64 " gaps\n", n, events_read, gaps);
    return !ok;
}
