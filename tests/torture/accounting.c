/* SPDX-License-Identifier: ISC */
/* Nothing is lost silently: what was recorded is kept, overwritten or discarded, exactly, of each stream and
 * in total, as `weft info --json` says (or the library, without WEFT). What was recorded is counted here.
 *
 *     accounting [-n ROUNDS] [-s SEED] FILE
 *
 * In each round threads do one of these, in rings of several sizes: record much; come and go by hundreds; be
 * more than there are packets; use up the room for texts; be interrupted by handlers that record. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "read/reader.h"
#include "truth.h"
#include <weft/weft.h>

enum { CREWS = 8, MEMBERS = 400, STREAMS = CREWS * MEMBERS };

enum kind { MUCH, SHORT_LIVED, CROWD, TEXTS, HANDLERS, KINDS };
static const char *const kinds[] = {"much", "short-lived threads", "more threads than packets",
                                    "texts without room", "handlers"};

/* A thread of the program; named after its place here. */
struct member {
    uint64_t calls, in_handlers;
};

static struct member member[STREAMS];
static __thread struct member *self;
static enum kind kind;
static uint64_t seed = 1, dice, calls_each;
static const char *path;
static pthread_barrier_t all_here;

static void call(struct member *m, uint64_t r)
{
    char text[40];
    switch (r % 4) {
    case 0:
        m->calls += 2;
        weft_fulfill(weft_create("a", "b"));
        break;
    case 1:
        m->calls += 1;
        weft_wait(r);
        break;
    case 2:
        m->calls += 1;
        snprintf(text, sizeof text, "%" PRIx64, kind == TEXTS ? r : r % 512);
        weft_label(r | 1, text);
        break;
    default:
        m->calls += 1;
        weft_run(r | 1);
    }
}

static void in_handler(int number)
{
    (void)number;
    const int was = errno;
    if (self) {
        self->in_handlers += 3;
        weft_promise ran = weft_run(77);
        weft_label(77, "in a handler");
        weft_run(ran);
    }
    errno = was;
}

static void *live(void *arg)
{
    uint64_t place = (uint64_t)(uintptr_t)arg, state = seed * 7919 + place + 1;
    char name[16];
    struct member *m = &member[place];
    timer_t timer;
    snprintf(name, sizeof name, "m%u", (unsigned)place);
    pthread_setname_np(pthread_self(), name);
    if (kind == HANDLERS) {
        struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
        const struct itimerspec often = {{0, 20000}, {0, 20000}};
        e._sigev_un._tid = (pid_t)syscall(SYS_gettid);
        self = m;
        if (timer_create(CLOCK_MONOTONIC, &e, &timer) || timer_settime(timer, 0, &often, NULL))
            abort();
    }
    for (uint64_t i = truth_dice(&state) % (calls_each + 1); i < calls_each; i++)
        call(m, truth_dice(&state));
    if (kind == CROWD) { /* each with a packet, or none */
        pthread_barrier_wait(&all_here);
        call(m, truth_dice(&state));
    }
    if (kind == HANDLERS) {
        timer_delete(timer);
        self = NULL;
    }
    return NULL;
}

/* A thread that has others live, one after the other. */
static void *crew(void *arg)
{
    uintptr_t first = (uintptr_t)arg * MEMBERS;
    for (uintptr_t i = 0; i < MEMBERS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, live, (void *)(first + i)))
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void run_round(void)
{
    pthread_t thread[64];
    unsigned threads = kind == CROWD ? 40 : kind == HANDLERS ? 3 : CREWS;
    pthread_barrier_init(&all_here, NULL, threads);
    for (uintptr_t i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, kind == SHORT_LIVED ? crew : live, (void *)i))
            abort();
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&all_here);
}

/* ---- What weft says ---- */

struct said {
    uint64_t kept, overwritten, discarded;
    uint64_t of[STREAMS], discarded_of; /* their sums by thread; and the streams' discarded */
    uint64_t lost_texts;
};

static void add_stream(struct said *s, const char *name, uint64_t kept, uint64_t overwritten,
                       uint64_t discarded)
{
    unsigned long place = strtoul(name + 1, NULL, 10);
    if (name[0] != 'm' || place >= STREAMS) {
        printf("a stream of nobody: %s\n", name);
        exit(1);
    }
    s->of[place] += kept + overwritten + discarded;
    s->discarded_of += discarded;
}

static bool ask_library(struct said *s)
{
    struct weft_reader *r;
    struct weft_error err;
    const struct weft_event *ev;
    ptrdiff_t n;
    if (weft_reader_open(&r, path, &err) < 0)
        return false;
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++)
            s->kept += !ev[i].promoted;
    const struct weft_reader_facts *f = weft_reader_facts(r);
    s->overwritten = f->overwritten_events + f->missing_events;
    s->discarded = f->discarded_events;
    s->lost_texts = f->lost_texts;
    for (uint32_t i = 0; i < f->streams; i++)
        add_stream(s, f->stream[i].name, f->stream[i].kept,
                   f->stream[i].overwritten + f->stream[i].missing, f->stream[i].discarded);
    weft_reader_close(r);
    return n == 0;
}

static uint64_t number(const json_t *o, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(o, key));
}

static bool ask_weft(const char *weft, struct said *s)
{
    char command[4096];
    size_t i;
    const json_t *stream;
    snprintf(command, sizeof command, "'%s' info --json '%s'", weft, path);
    FILE *f = popen(command, "r");
    json_t *o = f ? json_loadf(f, 0, NULL) : NULL;
    bool ok = f && pclose(f) == 0 && o;
    s->kept = number(o, "events_total");
    s->overwritten = number(o, "overwritten") + number(o, "missing");
    s->discarded = number(o, "discarded");
    s->lost_texts = number(o, "lost_texts");
    json_array_foreach(json_object_get(o, "streams_by"), i, stream) add_stream(
        s, json_string_value(json_object_get(stream, "name")), number(stream, "kept"),
        number(stream, "overwritten") + number(stream, "missing"), number(stream, "discarded"));
    json_decref(o);
    return ok;
}

/* Of a thread of which a packet is there everything is known, but for what was discarded after its last
 * one: that is in the total alone. Of others nothing. */
static bool compare(const struct said *s)
{
    uint64_t all = 0, unknown = 0;
    bool ok = true;
    for (unsigned i = 0; i < STREAMS; i++) {
        uint64_t calls = member[i].calls + member[i].in_handlers;
        all += calls;
        if (s->of[i] == calls || !calls)
            continue;
        if (s->of[i] && (s->of[i] > calls || kind != CROWD) && kind != HANDLERS) {
            printf("thread %u: %" PRIu64 " of %" PRIu64 " calls\n", i, s->of[i], calls);
            ok = false;
        }
        unknown += calls - s->of[i];
    }
    if (s->kept + s->overwritten + s->discarded != all) {
        printf("%" PRIu64 " kept + %" PRIu64 " overwritten + %" PRIu64 " discarded = %" PRIu64
               ", recorded were %" PRIu64 "\n",
               s->kept, s->overwritten, s->discarded, s->kept + s->overwritten + s->discarded, all);
        ok = false;
    }
    printf("%s: %" PRIu64 " recorded = %" PRIu64 " + %" PRIu64 " + %" PRIu64 ", %" PRIu64
           " of them of streams that have gone; %" PRIu64 " texts lost\n",
           kinds[kind], all, s->kept, s->overwritten, s->discarded, unknown, s->lost_texts);
    return ok;
}

static bool one_round(uint64_t round)
{
    static const uint64_t sizes[] = {64 << 10, 256 << 10, 4 << 20};
    struct said said[2] = {0};
    uint64_t bytes = sizes[truth_dice(&dice) % 3];
    const char *weft = getenv("WEFT");
    kind = (enum kind)(round % KINDS);
    calls_each = 1 + truth_dice(&dice) % (kind == SHORT_LIVED ? 300 : kind == CROWD ? 3000 : 60000);
    memset(member, 0, sizeof member);
    int rc = weft_start(&(struct weft_options){
        .path = path, .bytes = kind == CROWD || kind == TEXTS ? sizes[0] : bytes});
    if (rc < 0) {
        printf("weft_start: %s\n", strerror(-rc));
        return false;
    }
    run_round();
    weft_stop();
    bool ok = ask_library(&said[0]) && compare(&said[0]);
    if (ok && weft) {
        ok = ask_weft(weft, &said[1]);
        if (!ok || memcmp(&said[0], &said[1], sizeof said[0])) {
            printf("weft info says something else\n");
            ok = false;
        }
    }
    return ok;
}

int main(int argc, char **argv)
{
    const char *env[] = {getenv("ROUNDS"), getenv("SEED")};
    uint64_t rounds = env[0] ? strtoull(env[0], NULL, 10) : 2 * KINDS;
    seed = env[1] ? strtoull(env[1], NULL, 10) : seed;
    for (int o; (o = getopt(argc, argv, "n:s:")) != -1;) {
        if (o == '?')
            return 2;
        *(o == 'n' ? &rounds : &seed) = strtoull(optarg, NULL, 10);
    }
    if (optind != argc - 1)
        return 2;
    path = argv[optind];
    dice = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    printf("seed %" PRIu64 "\n", seed);
    sigaction(SIGRTMIN, &(struct sigaction){.sa_handler = in_handler, .sa_flags = SA_RESTART},
              NULL);
    bool ok = true;
    for (uint64_t i = 0; i < rounds && ok; i++)
        ok = one_round(i);
    return !ok;
}
