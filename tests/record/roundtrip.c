/* SPDX-License-Identifier: ISC */
/* Random calls from several threads, each of which keeps a log; then the trace is read and compared with
 * the logs, event by event.
 *
 *     roundtrip [-t THREADS] [-n CALLS] [-b BYTES] [-s SEED] [-r ROUNDS] [-c] FILE
 *
 * Each thread makes that many calls. -c: with a clock of the caller. In round R the seed is SEED + R, and
 * what a thread does follows from the seed and its number alone. If the ring is too small, what is left
 * of each stream must be its newest calls. There is no gap in them, unless no packet could be had at some
 * moment, or a thread was interrupted while it held the oldest packets, so that newer ones were overwritten; the sums tell that
 * what is missing was counted.
 *
 * Prints what was compared. Exit status 1: something differs. */
#include <getopt.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"
#include <weft/weft.h>

enum { THREADS_MAX = 64, IDS = 64, OWN_COUNTERS = 3, TEXT_ROOM = 9300 };

/* One call, as the reader must tell it. */
struct call {
    uint64_t a, b, running;
    int64_t value, total;
    char *text, *type; /* or NULL */
    uint64_t before_ns, after_ns;
    uint32_t text_size;
    uint8_t kind;
    bool has_total, shared; /* total of a counter that all threads change */
};

struct worker {
    pthread_t thread;
    uint64_t random;
    uint32_t tid;
    unsigned number, calls;
    struct call *log; /* so many */
    uint64_t running;
    uint64_t ids[IDS];
    struct weft_counter counter[OWN_COUNTERS];
    char counter_name[OWN_COUNTERS][32];
    int64_t value[OWN_COUNTERS];
    char text[TEXT_ROOM], other_text[TEXT_ROOM];
};

static struct weft_counter shared = WEFT_COUNTER("shared by all");
static struct worker workers[THREADS_MAX];
static unsigned threads = 4, calls = 50000, rounds = 1;
static uint64_t bytes = 64 << 20, seed = 1;
static bool callers_clock;
static pthread_barrier_t start_line;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t dice(struct worker *w)
{
    w->random ^= w->random << 13; /* xorshift64 */
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

/* Mostly one of a few that are in use; at times one of the edges, or anything. */
static uint64_t any_id(struct worker *w)
{
    static const uint64_t edges[] = {
        1,          (1u << 31) - 1,    1u << 31,          (1u << 31) + 1,
        UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX - 1,
        UINT64_MAX};
    uint64_t n = dice(w);
    if (n % 64 == 0)
        return edges[n / 64 % (sizeof edges / sizeof *edges)];
    if (n % 64 == 1)
        return dice(w) | 1;
    return w->ids[n / 64 % IDS];
}

/* A text in a buffer that is used again: short ones that come back, and now and then a long one that
 * does not. */
static const char *any_text(struct worker *w, char *out)
{
    uint64_t n = dice(w);
    if (n % 16 == 0)
        return NULL;
    if (n % 512 == 1) {
        size_t size = n / 512 % 9200;
        for (size_t i = 0; i < size; i++)
            out[i] = (char)(1 + (i * 11 + n / 65536) % 255);
        out[size] = 0;
    } else {
        sprintf(out, "text %u of %u", (unsigned)(n / 512 % 300), (unsigned)(n / 65536 % 3));
    }
    return out;
}

static struct call *log_text(struct call *c, const char *text)
{
    if (text) {
        size_t size = strlen(text);
        c->text_size = (uint32_t)(size > WEFT_TEXT_MAX ? WEFT_TEXT_MAX : size);
        c->text = trace_copy(text, c->text_size);
    }
    return c;
}

static void log_creation(struct call *c, uint64_t parent, uint64_t id, const char *type,
                         const char *label)
{
    c->kind = WEFT_EVENT_CREATES;
    c->a = parent;
    c->b = id;
    size_t size = strlen(type);
    c->type = trace_copy(type, size > WEFT_TEXT_MAX ? WEFT_TEXT_MAX : size);
    log_text(c, label);
}

static void remember(struct worker *w, uint64_t id)
{
    w->ids[dice(w) % IDS] = id;
}

static void create(struct worker *w, struct call *c)
{
    const char *label = any_text(w, w->text), *type = any_text(w, w->other_text);
    uint64_t parent = any_id(w), id = any_id(w), how = dice(w) % 6;
    if (!type)
        type = "task";
    if (id == WEFT_LOOP)
        id--;
    switch (how) {
    case 0:
        type = "literal type", label = "literal label";
        parent = w->running;
        id = weft_create("literal type", "literal label");
        break;
    case 1:
        type = "literal type";
        parent = w->running;
        id = weft_create("literal type", label);
        break;
    case 2:
        parent = w->running;
        id = weft_create(type, label);
        break;
    case 3:
        label = NULL;
        id = weft_create_from(parent, type, NULL);
        break;
    case 4:
        label = "literal";
        id = weft_create_from(parent, type, "literal");
        break;
    default:
        id = weft_create_id(parent, id, type, label);
    }
    log_creation(c, parent, id, type, label);
    remember(w, id);
}

static void count(struct worker *w, struct call *c)
{
    unsigned i = (unsigned)(dice(w) % OWN_COUNTERS);
    uint64_t how = dice(w);
    int64_t n = how % 8 == 0 ? (int64_t)dice(w) : (int64_t)(how / 8 % 100) - 50;
    c->a = w->running;
    c->value = n;
    if (how % 16 == 1) {
        c->value = 1;
        weft_counter_add(&shared, 1);
        c->kind = WEFT_EVENT_INCREASE;
        c->has_total = c->shared = true;
        log_text(c, shared.name);
        return;
    }
    if (how % 2) {
        weft_counter_add(&w->counter[i], n);
        w->value[i] = (int64_t)((uint64_t)w->value[i] + (uint64_t)n);
        c->kind = WEFT_EVENT_INCREASE;
        c->has_total = true;
        c->total = w->value[i];
    } else {
        weft_counter_set(&w->counter[i], n);
        w->value[i] = n;
        c->kind = WEFT_EVENT_COUNTER;
    }
    log_text(c, w->counter_name[i]);
}

static void end_by(struct worker *w, struct call *c, uint64_t a, uint64_t p)
{
    const char *reason = any_text(w, w->text);
    enum weft_ending ending = (enum weft_ending)(dice(w) % 4);
    static const uint8_t kinds[] = {WEFT_EVENT_FULFILLS, WEFT_EVENT_FAILS, WEFT_EVENT_RESOLVES,
                                    WEFT_EVENT_CANCELS};
    weft_resolve_by(a, p, ending, reason);
    *c = (struct call){.kind = kinds[ending], .a = a, .b = p};
    if (ending == WEFT_BY_ERROR)
        log_text(c, reason);
}

#define EVENT_OF(KIND, first, second) (c->kind = WEFT_EVENT_##KIND, c->a = (first), c->b = (second))

static void make_call(struct worker *w, struct call *c)
{
    uint64_t p = any_id(w), q = any_id(w), n = dice(w);
    const char *text;
    enum weft_reason why = (enum weft_reason)(n / 64 % 3);
    uint64_t gc = n >> (n / 64 % 60);
    *c = (struct call){0};
    uint64_t ran = w->running;
    switch (n % 24) {
    case 0:
    case 1:
    case 2:
        create(w, c);
        break;
    case 3:
    case 4:
        if (weft_run(p) != w->running)
            fprintf(stderr, "weft_run: something else ran\n"), exit(1);
        EVENT_OF(SWITCH, w->running = p, 0);
        break;
    case 5:
        weft_wait(p), EVENT_OF(TRY_READ, w->running, p);
        break;
    case 6:
        weft_wait_by(q, p), EVENT_OF(TRY_READ, q, p);
        break;
    case 7:
        weft_wake(q, p), EVENT_OF(READ, w->running = q, p);
        break;
    case 8:
        weft_read(q, p), EVENT_OF(READ_LATER, q, p);
        break;
    case 9:
        weft_fulfill(p), EVENT_OF(FULFILLS, w->running, p);
        break;
    case 10:
        text = any_text(w, w->text);
        weft_fail(p, text), EVENT_OF(FAILS, w->running, p);
        log_text(c, text);
        break;
    case 11:
        weft_cancel(p), EVENT_OF(CANCELS, w->running, p);
        break;
    case 12:
        weft_resolve(p), EVENT_OF(RESOLVES, w->running, p);
        break;
    case 13:
        weft_forget(p), EVENT_OF(FORGETS, p, 0);
        break;
    case 14:
        weft_become(p, q), EVENT_OF(BECOMES, p, q);
        if (w->running == p)
            w->running = q;
        break;
    case 15:
        end_by(w, c, q, p);
        break;
    case 16:
        weft_notify(p), EVENT_OF(NOTIFIES, w->running, p);
        break;
    case 17:
        weft_notify_by(q, p), EVENT_OF(NOTIFIES, q, p);
        break;
    case 18:
        weft_signal(q, p), EVENT_OF(SIGNAL, w->running = q, p);
        break;
    case 19:
        text = any_text(w, w->text);
        if (!text)
            text = "";
        weft_label(p, text), EVENT_OF(LABEL, p, 0);
        log_text(c, text);
        break;
    case 20:
        if (n / 64 % 2)
            weft_should_resolve(p), EVENT_OF(SHOULD_RESOLVE, p, 0);
        else
            weft_background(p), EVENT_OF(BACKGROUND, p, 0);
        break;
    case 21:
        count(w, c);
        break;
    case 22:
        if (n / 64 % 4)
            weft_gc(gc), EVENT_OF(GC, 0, 0), c->value = (int64_t)gc;
        else
            weft_label(p, "a literal"), log_text((EVENT_OF(LABEL, p, 0), c), "a literal");
        break;
    default:
        if (n / 64 % 2)
            weft_resume(), EVENT_OF(RESUME, 0, 0);
        else
            weft_suspend(why), EVENT_OF(SUSPEND, 0, 0), c->value = why;
        w->running = WEFT_LOOP;
    }
    c->running = ran;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    w->tid = (uint32_t)gettid();
    pthread_barrier_wait(&start_line);
    for (unsigned i = 0; i < w->calls; i++) {
        uint64_t before = now();
        make_call(w, &w->log[i]);
        w->log[i].before_ns = before;
        w->log[i].after_ns = now();
    }
    return NULL;
}

static void set_up(struct worker *w, unsigned number, uint64_t round)
{
    *w = (struct worker){.number = number, .calls = calls, .running = WEFT_LOOP};
    w->random = (seed + round) * 0x9e3779b97f4a7c15 + number * 0xbf58476d1ce4e5b9 + 1;
    w->log = calloc(calls, sizeof *w->log);
    if (!w->log)
        abort();
    for (unsigned i = 0; i < IDS; i++)
        w->ids[i] = number * 1000 + i + 1;
    for (unsigned i = 0; i < OWN_COUNTERS; i++) {
        sprintf(w->counter_name[i], "counter %u of thread %u", i, number);
        w->counter[i] = (struct weft_counter)WEFT_COUNTER(w->counter_name[i]);
    }
}

/* Comparing */

static struct {
    uint64_t events, missing, too_early, too_late; /* the last two: at most, ns */
} result;

static bool same_text(const struct call *c, const char *text, size_t size, bool may_be_cut)
{
    if (!c->text != !text)
        return false;
    if (!text)
        return true;
    return (size == c->text_size || (may_be_cut && size >= 900 && size < c->text_size)) &&
           !memcmp(text, c->text, size);
}

static bool same_type(const char *mine, const char *found, bool may_be_cut)
{
    size_t n = strlen(found);
    mine = *mine ? mine : "promise"; /* what has no type is one */
    return !strcmp(mine, found) || (may_be_cut && n >= 900 && !strncmp(mine, found, n));
}

/* may_be_cut: texts that stand before events are shorter in small packets. */
static bool same(const struct call *c, const struct weft_event *ev, bool may_be_cut)
{
    if (c->kind != ev->kind || c->a != ev->a || c->b != ev->b || c->has_total != ev->has_total ||
        c->running != ev->running || !same_text(c, ev->text, ev->text_size, may_be_cut))
        return false;
    if (c->kind == WEFT_EVENT_SUSPEND)
        return ev->type == c->value;
    if (c->type && !(ev->origin && same_type(c->type, ev->origin->type, may_be_cut)))
        return false;
    return c->value == ev->value && (c->shared || c->total == ev->total);
}

static const char *describe(const struct call *c)
{
    struct weft_origin origin = {.type = c->type ? c->type : ""};
    return trace_line(&(struct weft_event){.kind = c->kind,
                                           .a = c->a,
                                           .b = c->b,
                                           .value = c->value,
                                           .total = c->total,
                                           .has_total = c->has_total,
                                           .text = c->text,
                                           .text_size = c->text_size,
                                           .origin = c->type ? &origin : NULL});
}

static uint64_t slack(void)
{
    return callers_clock ? 1 : 50000;
}

static bool in_time(const struct call *c, const struct weft_event *ev)
{
    uint64_t early = ev->time_ns < c->before_ns ? c->before_ns - ev->time_ns : 0;
    uint64_t late = ev->time_ns > c->after_ns ? ev->time_ns - c->after_ns : 0;
    if (early > result.too_early)
        result.too_early = early;
    if (late > result.too_late)
        result.too_late = late;
    return early <= slack() && late <= slack();
}

/* Whether the event may be of that call, as far as it is known by what it says, and by when. */
static bool may_be(const struct call *c, const struct weft_event *ev, const struct trace *t)
{
    return same(c, ev, t->facts->lost_texts > 0) && c->before_ns <= ev->time_ns + slack();
}

/* The events of the worker, from the newest back, are its newest calls; unless newer packets than those that are left were
 * overwritten, because the thread was interrupted while it held these. */
static bool compare(struct worker *w, const struct trace *t)
{
    const struct weft_stream_facts *stream = NULL;
    uint64_t missing = 0, kept = 0, newer_ns = UINT64_MAX;
    unsigned at = w->calls;
    for (uint32_t s = 0; s < t->facts->streams; s++)
        if (t->facts->stream[s].thread == w->tid)
            stream = &t->facts->stream[s];
    if (!stream)
        return true; /* overwritten: the sum tells */
    for (size_t i = t->events; i-- > 0;) {
        const struct weft_event *ev = &t->event[i];
        if (&t->facts->stream[ev->stream] != stream)
            continue;
        while (at > 0 && !may_be(&w->log[at - 1], ev, t) &&
               (t->facts->wrapped || t->facts->discarded_events))
            at--, missing++;
        if (at == 0 || !same(&w->log[at - 1], ev, t->facts->lost_texts > 0)) {
            printf("thread %u, call %u of %u: %s\n", w->number, at, w->calls,
                   at ? describe(&w->log[at - 1]) : "(none)");
            printf("is in the trace: %s (what runs: %" PRId64 ", should be %" PRId64 ")\n",
                   trace_line(ev), (int64_t)ev->running, at ? (int64_t)w->log[at - 1].running : 0);
            return false;
        }
        at--;
        kept++;
        if (ev->time_ns > newer_ns || !in_time(&w->log[at], ev)) {
            printf("thread %u, call %u: at %" PRIu64 ", not from %" PRIu64 " to %" PRIu64
                   " and before %" PRIu64 "\n",
                   w->number, at, ev->time_ns, w->log[at].before_ns, w->log[at].after_ns, newer_ns);
            return false;
        }
        newer_ns = ev->time_ns;
    }
    result.events += kept;
    result.missing += missing;
    uint64_t all = stream->kept + stream->overwritten + stream->missing + stream->discarded;
    uint64_t elsewhere = t->facts->overwritten_elsewhere + t->facts->discarded_events;
    bool ok = stream->kept == kept && (elsewhere ? all <= w->calls : all == w->calls) &&
              missing <= stream->overwritten + stream->missing + elsewhere;
    if (!ok)
        printf("thread %u: kept %" PRIu64 " (found %" PRIu64 "), overwritten %" PRIu64
               ", discarded %" PRIu64 ", missing %" PRIu64 ", of %u calls\n",
               w->number, stream->kept, kept, stream->overwritten, stream->discarded, missing,
               w->calls);
    return ok;
}

/* Increases of the counter that all share: if all are there, each total once. */
static bool shared_totals(const struct trace *t)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < threads; i++)
        for (unsigned k = 0; k < calls; k++)
            n += workers[i].log[k].shared;
    char *seen = calloc(n + 1, 1);
    uint64_t found = 0;
    bool ok = seen != NULL;
    for (size_t i = 0; i < t->events && ok; i++) {
        const struct weft_event *ev = &t->event[i];
        if (ev->kind != WEFT_EVENT_INCREASE || ev->text_size != strlen(shared.name) ||
            memcmp(ev->text, shared.name, ev->text_size))
            continue;
        ok = ev->total > 0 && (uint64_t)ev->total <= n && !seen[ev->total];
        if (ok)
            seen[ev->total] = 1, found++;
    }
    free(seen);
    if (!ok || (t->events == (size_t)threads * calls && found != n))
        printf("counter of all: %" PRIu64 " of %" PRIu64 " totals\n", found, n);
    return ok && (t->events < (size_t)threads * calls || found == n);
}

static bool one_round(uint64_t round, const char *path)
{
    struct trace t;
    shared.value = 0;
    int rc = weft_start(
        &(struct weft_options){.path = path, .bytes = bytes, .clock = callers_clock ? now : NULL});
    if (rc < 0) {
        printf("weft_start: %s\n", strerror(-rc));
        return false;
    }
    pthread_barrier_init(&start_line, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        set_up(&workers[i], i, round);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            abort();
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    weft_stop();
    bool ok = trace_read(&t, path) == 0;
    if (!ok) {
        printf("%s\n", t.error.text);
        return false;
    }
    const struct weft_reader_facts *f = t.facts;
    if (t.damage->problems || f->unknown_events || f->changed_packets || f->missing_packets) {
        printf("%" PRIu64 " problems, %s\n", t.damage->problems, t.damage->first[0].text);
        ok = false;
    }
    uint64_t all = t.events + f->overwritten_events + f->missing_events + f->discarded_events;
    if (all != (uint64_t)threads * calls) {
        printf("kept %zu overwritten %" PRIu64 " discarded %" PRIu64 " of %u\n", t.events,
               f->overwritten_events, f->discarded_events, threads * calls);
        ok = false;
    }
    for (unsigned i = 0; i < threads; i++)
        ok &= compare(&workers[i], &t);
    ok &= shared_totals(&t);
    trace_free(&t);
    for (unsigned i = 0; i < threads; i++) {
        for (unsigned k = 0; k < calls; k++) {
            free(workers[i].log[k].text);
            free(workers[i].log[k].type);
        }
        free(workers[i].log);
    }
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = true;
    for (int o; (o = getopt(argc, argv, "t:n:b:s:r:c")) != -1;) {
        uint64_t n = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (o) {
        case 't':
            threads = (unsigned)n;
            break;
        case 'n':
            calls = (unsigned)n;
            break;
        case 'b':
            bytes = n;
            break;
        case 's':
            seed = n;
            break;
        case 'r':
            rounds = (unsigned)n;
            break;
        case 'c':
            callers_clock = true;
            break;
        default:
            return 2;
        }
    }
    if (optind != argc - 1 || threads < 1 || threads > THREADS_MAX)
        return 2;
    for (unsigned i = 0; i < rounds && ok; i++) {
        ok = one_round(i, argv[optind]);
        if (!ok)
            printf("seed %" PRIu64 "\n", seed + i);
    }
    printf("%" PRIu64 " of %" PRIu64 " calls compared, %" PRIu64 " lost between; outside of "
           "the thread's own clock readings by at most -%" PRIu64 " +%" PRIu64 " ns\n",
           result.events, (uint64_t)rounds * threads * calls, result.missing, result.too_early,
           result.too_late);
    return !ok;
}
