/* SPDX-License-Identifier: ISC */
/* Reads a trace again and again while threads write to it as fast as they can: every event is whole, and
 * up to the ring's first lap each stream is without a gap.
 *
 *     live [-t THREADS] [-b BYTES] [-n EVENTS] [-p] FILE
 *
 * until so many events have been read. -p: another process writes. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"
#include "read/reader.h"

enum { THREADS_MAX = 16 };

struct shared {
    uint64_t returned[THREADS_MAX];
    int stop, error;
};

static struct shared *shared;
static unsigned threads = 3;
static uint64_t bytes = 1 << 20, wanted = 10000000;
static const char *path;
static struct {
    uint64_t events, times, changed, gaps, discarded;
} result;

static void *work(void *arg)
{
    unsigned t = (unsigned)(uintptr_t)arg;
    for (uint64_t n = 0; !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED);) {
        pattern_write(t, n);
        __atomic_store_n(&shared->returned[t], ++n, __ATOMIC_RELEASE);
    }
    return NULL;
}

static int start(pthread_t *thread)
{
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    for (uintptr_t t = 0; t < threads && rc == 0; t++)
        rc = -pthread_create(&thread[t], NULL, work, (void *)t);
    return rc;
}

static void stop(pthread_t *thread)
{
    __atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
    for (unsigned t = 0; t < threads; t++)
        pthread_join(thread[t], NULL);
    weft_stop();
}

static bool check(const struct weft_event *ev, uint64_t *next, bool *gap)
{
    unsigned t;
    uint64_t n;
    if (!pattern_read(ev, &t, &n) || t >= threads || n < next[t]) {
        printf("torn: %s %" PRIx64 " %" PRIx64 " value %" PRIx64 " text %.*s; next is %" PRIx64
               "\n",
               weft_event_kinds[ev->kind].name, ev->a, ev->b, (uint64_t)ev->value,
               (int)ev->text_size, ev->text ? ev->text : "", t < threads ? next[t] : 0);
        return false;
    }
    *gap |= next[t] && n != next[t];
    next[t] = n + 1;
    return true;
}

/* Reads all of it once. */
static bool read_once(void)
{
    struct weft_reader *r;
    struct weft_error err;
    const struct weft_event *ev;
    uint64_t next[THREADS_MAX] = {0}, before[THREADS_MAX], problems;
    bool ok = true, gap = false;
    ptrdiff_t n;
    for (unsigned t = 0; t < threads; t++)
        before[t] = __atomic_load_n(&shared->returned[t], __ATOMIC_ACQUIRE);
    if (weft_reader_open(&r, path, &err) < 0) {
        printf("%s\n", err.text);
        return false;
    }
    while (ok && (n = weft_reader_next(r, &ev, &err)) != 0) {
        ok = n > 0;
        for (ptrdiff_t i = 0; i < n && ok; i++)
            ok = check(&ev[i], next, &gap);
        result.events += n > 0 ? (uint64_t)n : 0;
    }
    const struct weft_reader_facts *f = weft_reader_facts(r);
    problems = weft_reader_damage(r)->problems;
    /* What had been recorded before is there. Or it was overwritten: then a thread that was interrupted as
     * it claimed a packet may have its oldest one left. */
    bool lost = f->changed_packets || f->discarded_events || f->wrapped;
    for (unsigned t = 0; t < threads && ok && !lost; t++)
        if (next[t] && next[t] < before[t]) {
            printf("thread %u: %" PRIu64 " calls had returned; only %" PRIu64 " are there\n", t,
                   before[t], next[t]);
            ok = false;
        }
    if (problems || f->unknown_events || f->ended != WEFT_ENDED_RUNNING || (gap && !lost)) {
        printf("%" PRIu64 " problems: %s; %s; %s\n", problems,
               problems ? weft_reader_damage(r)->first[0].text : "", weft_ended_name(f->ended),
               gap ? "a gap" : "");
        ok = false;
    }
    result.changed += f->changed_packets;
    result.discarded = f->discarded_events;
    result.gaps += gap;
    result.times++;
    weft_reader_close(r);
    return ok;
}

int main(int argc, char **argv)
{
    bool process = false;
    for (int o; (o = getopt(argc, argv, "t:b:n:p")) != -1;) {
        uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;
        if (o == '?')
            return 2;
        if (o == 'p')
            process = true;
        else if (o == 't')
            threads = (unsigned)n;
        else
            *(o == 'b' ? &bytes : &wanted) = n;
    }
    if (optind != argc - 1 || threads < 1 || threads > THREADS_MAX)
        return 2;
    path = argv[optind];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    shared->error = 1;
    pthread_t thread[THREADS_MAX];
    pid_t pid = process ? fork() : 0;
    if (pid == 0) {
        shared->error = start(thread);
        while (process && !shared->error)
            pause();
        if (process)
            _exit(1);
    }
    bool ok = true;
    for (unsigned t = 0; t < threads; t++) /* until all of them write */
        while (__atomic_load_n(&shared->error, __ATOMIC_ACQUIRE) >= 0 &&
               !__atomic_load_n(&shared->returned[t], __ATOMIC_ACQUIRE))
            usleep(100);
    while (ok && result.events < wanted)
        ok = read_once();
    if (pid == 0) {
        stop(thread);
    } else {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    uint64_t written = 0;
    for (unsigned t = 0; t < threads; t++)
        written += shared->returned[t];
    printf("%" PRIu64 " events read, of %" PRIu64 " written, in %" PRIu64 " times; %" PRIu64
           " packets overwritten meanwhile, %" PRIu64 " times a gap; %" PRIu64
           " events discarded\n",
           result.events, written, result.times, result.changed, result.gaps, result.discarded);
    return !ok;
}
