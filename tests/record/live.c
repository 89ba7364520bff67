/* SPDX-License-Identifier: ISC */
/* Reads a trace again and again while threads write to it as fast as they can: every event is whole, of
 * each stream there are its newest events, and what is missing between them was counted. Now and then its
 * promises, too: those that were pending all the time are there, whole and once.
 *
 *     live [-t THREADS] [-b BYTES] [-n EVENTS] [-s SEED] [-p] [-c] [-i] [-o] FILE
 *
 * until so many events have been read. -p: another process writes. -c: reads copies that `weft save` makes
 * (WEFT: that program). -i: the promises have numbers of the program's own, so nothing is known of those
 * whose events are overwritten. -o: nothing but promises with such numbers, all of which are known. Also in the
 * environment: EVENTS and SEED. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../torture/truth.h"
#include "../torture/verify.h"
#include "pattern.h"

enum { CELLS = 1000, CELL_EVERY = 64 };

struct shared {
    uint64_t returned[TRUTH_THREADS];
    int stop, error;
};

static struct shared *shared;
static struct truth *truth;
static unsigned threads = 3;
static uint64_t bytes = 1 << 20, wanted = 10000000, seed = 1;
static bool own_ids, copies;
static const char *path, *weft;
static char copy[4096];
static struct verified verified;
static struct {
    uint64_t events, times, changed, gaps, discarded, behind;
} result;

static void *work(void *arg)
{
    unsigned t = (unsigned)(uintptr_t)arg;
    truth_begin(truth, t);
    for (uint64_t n = 0; !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED);) {
        unsigned kind = n % PATTERN_KINDS;
        if (truth->plan.own)
            ; /* none of the pattern */
        else if (own_ids || (kind > 3 && kind < 7))
            pattern_write(t, n);
        else
            pattern_write_native(t, n);
        __atomic_store_n(&shared->returned[t], ++n, __ATOMIC_RELEASE);
        if (truth->plan.own || (!own_ids && n % CELL_EVERY == 0))
            truth_step_cell(truth, t);
    }
    return NULL;
}

static int start(pthread_t *thread)
{
    struct weft_pending_header h;
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    if (rc == 0 && verify_pending_header(path, &h) && truth->plan.cells > h.cells / 4)
        truth->plan.cells = h.cells / 4;
    truth->plan.old = truth->plan.cells / 2;
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

/* ---- Events ---- */

struct window {
    uint64_t next[TRUTH_THREADS], seen[TRUTH_THREADS], first[TRUTH_THREADS];
    uint64_t others; /* events about promises of the table */
    uint32_t stream[TRUTH_THREADS];
};

/* Whether the event is of the pattern, by the number that says where it belongs. */
static bool of_pattern(const struct weft_event *ev)
{
    uint64_t a = (ev->kind == WEFT_EVENT_COUNTER ? (uint64_t)ev->value : ev->a) >> 40;
    return own_ids || (a >= 1 && a <= threads);
}

static bool check(const struct weft_event *ev, struct window *w)
{
    unsigned t = UINT32_MAX;
    uint64_t n = 0, id = ev->a;
    bool ok = pattern_read(ev, &t, &n);
    if (!ok && !own_ids) {
        ok = pattern_is_native(ev, id);
        t = (unsigned)(id >> 40) - 1;
        n = id & ((UINT64_C(1) << 40) - 1);
    }
    if (!ok || t >= threads || n < w->next[t]) {
        printf("torn: %s %" PRIx64 " %" PRIx64 " value %" PRIx64 " text %.*s; next is %" PRIx64
               "\n",
               weft_event_kinds[ev->kind].name, ev->a, ev->b, (uint64_t)ev->value,
               (int)ev->text_size, ev->text ? ev->text : "", t < threads ? w->next[t] : 0);
        return false;
    }
    if (!w->seen[t]++)
        w->first[t] = n;
    w->next[t] = n + 1;
    w->stream[t] = ev->stream;
    return true;
}

/* What is missing in a stream is what was counted; but where the writer has overwritten what was about to
 * be read, more may be. Events about promises of the table are counted, too, but are in no order here.
 * What was overwritten between a packet that has been copied and the newest one, of which nothing is as old as the copy's
 * moment, is counted, and comes after all that is seen. That must be rare. */
static bool check_stream(const struct weft_reader_facts *f, const struct window *w, unsigned t)
{
    const struct weft_stream_facts *s = &f->stream[w->stream[t]];
    uint64_t missing = w->next[t] - w->seen[t];
    uint64_t counted = s->overwritten + s->missing + s->discarded;
    uint64_t gap = w->next[t] - w->first[t] - w->seen[t];
    result.gaps += gap != 0;
    result.behind += own_ids && missing < counted && !f->changed_packets;
    if (missing <= counted && gap <= s->missing + s->discarded)
        return true;
    printf("thread %u: %" PRIu64 " of %" PRIu64 " calls are missing, %" PRIu64
           " between others; counted are %" PRIu64 " overwritten, %" PRIu64 " missing, %" PRIu64
           " discarded\n",
           t, missing, w->next[t], gap, s->overwritten, s->missing, s->discarded);
    return false;
}

static bool check_window(struct weft_reader *r, const struct window *w, const uint64_t *before)
{
    const struct weft_reader_facts *f = weft_reader_facts(r);
    const uint64_t problems = weft_reader_damage(r)->problems;
    const enum weft_ended ended = copies ? WEFT_ENDED_SAVED : WEFT_ENDED_RUNNING;
    bool ok = !problems && !f->unknown_events && f->ended == ended;
    if (!ok)
        printf("%" PRIu64 " problems: %s; %s\n", problems,
               problems ? weft_reader_damage(r)->first[0].text : "", weft_ended_name(f->ended));
    /* What had been recorded before is there. Or it was overwritten: then a thread that was interrupted as
     * it claimed a packet may have its oldest one left. */
    bool lost = f->changed_packets || f->discarded_events || f->wrapped;
    for (unsigned t = 0; t < threads && ok; t++) {
        if (!lost && w->next[t] && w->next[t] < before[t]) {
            printf("thread %u: %" PRIu64 " calls had returned; only %" PRIu64 " are there\n", t,
                   before[t], w->next[t]);
            ok = false;
        }
        if (w->seen[t] && !check_stream(f, w, t))
            ok = false;
    }
    result.changed += f->changed_packets;
    result.discarded = f->discarded_events;
    return ok;
}

static bool read_events(const char *from, const uint64_t *before)
{
    struct weft_reader *r;
    struct weft_error err;
    const struct weft_event *ev;
    struct window w = {.others = 0};
    bool ok = true;
    ptrdiff_t n;
    if (weft_reader_open(&r, from, &err) < 0) {
        printf("%s\n", err.text);
        return false;
    }
    while (ok && (n = weft_reader_next(r, &ev, &err)) != 0) {
        ok = n > 0;
        for (ptrdiff_t i = 0; i < n && ok; i++) {
            if (!of_pattern(&ev[i]) || ev[i].promoted)
                w.others++;
            else
                ok = check(&ev[i], &w);
        }
        result.events += n > 0 ? (uint64_t)n : 0;
    }
    ok = ok && check_window(r, &w, before);
    weft_reader_close(r);
    return ok;
}

/* ---- Once ---- */

static bool save(void)
{
    int status = -1;
    unlink(copy);
    pid_t pid = fork();
    if (pid == 0) {
        execl(weft, "weft", "save", "-o", copy, path, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
        printf("weft save: status %x\n", (unsigned)status);
        return false;
    }
    return true;
}

static bool read_once(void)
{
    struct truth_snapshot first;
    uint64_t before[TRUTH_THREADS];
    const char *from = copies ? copy : path;
    for (unsigned t = 0; t < threads; t++)
        before[t] = __atomic_load_n(&shared->returned[t], __ATOMIC_ACQUIRE);
    truth_snap(&first, truth, true);
    bool ok = !copies || save();
    ok = ok && read_events(from, before);
    if (ok && !own_ids && (truth->plan.own || result.times % 4 == 0)) {
        if (!copies) { /* it is read again */
            free(first.cell);
            truth_snap(&first, truth, true);
        }
        ok = verify_promises(&first, truth, from, &verified);
    }
    free(first.cell);
    result.times++;
    return ok;
}

static int options(int argc, char **argv, bool *process, bool *own)
{
    const char *from_env[] = {getenv("EVENTS"), getenv("SEED")};
    wanted = from_env[0] ? strtoull(from_env[0], NULL, 10) : wanted;
    seed = from_env[1] ? strtoull(from_env[1], NULL, 10) : seed;
    for (int o; (o = getopt(argc, argv, "t:b:n:s:pcio")) != -1;) {
        uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (o) {
        case 'p':
            *process = true;
            break;
        case 'c':
            copies = true;
            break;
        case 'i':
            own_ids = true;
            break;
        case 'o':
            *own = true;
            break;
        case 't':
            threads = (unsigned)n;
            break;
        case '?':
            return 2;
        default:
            *(o == 'b' ? &bytes : o == 's' ? &seed : &wanted) = n;
        }
    }
    weft = getenv("WEFT");
    if (copies && !weft)
        return 77;
    return optind == argc - 1 && threads >= 1 && threads <= TRUTH_THREADS ? 0 : 2;
}

int main(int argc, char **argv)
{
    bool process = false, own = false;
    int rc = options(argc, argv, &process, &own);
    if (rc)
        return rc;
    path = argv[optind];
    snprintf(copy, sizeof copy, "%s.copy", path);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    truth = truth_new();
    if (shared == MAP_FAILED || !truth)
        return 2;
    truth->plan = (struct truth_plan){.threads = threads,
                                      .own = own,
                                      .cells = CELLS,
                                      .old = CELLS / 2,
                                      .labels = 128,
                                      .seed = seed};
    shared->error = 1;
    pthread_t thread[TRUTH_THREADS];
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
           " events discarded; %" PRIu64 " promises pending, %" PRIu64 " of them promoted\n",
           result.events, written, result.times, result.changed, result.gaps, result.discarded,
           verified.pending, verified.promoted);
    unlink(copy);
    if (result.behind * 10 > result.times) {
        printf("%" PRIu64 " times more is counted than is missing\n", result.behind);
        ok = false;
    }
    return !ok;
}
