/* SPDX-License-Identifier: ISC */
/* Whether a copy of a writer's trace (writer.c, or mirage.c) is as it should be: every event whole, of each thread in
 * order, what is missing between them counted, and the promises that were pending all the time there, once. Says what
 * it has seen, or what is wrong.
 *
 *     check [-t THREADS] [-p PROMISES] [-e ENDED] [-c COUNT,COUNT...] [-s MILLISECONDS] [-l] FILE
 *
 * -c: so many calls of each thread had returned before the copy was made. -s: it was made at least so much later than
 * the last event. -l: the "last words" are there. Without -t: mirage's, with one thread. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../record/pattern.h"
#include "model/model.h"

enum { THREADS_MAX = 16 };

static unsigned threads, promises;
static uint64_t returned[THREADS_MAX], silent_ms, last_ns;
static const char *ended;
static bool last_words, is_mirage = true;

static struct seen {
    uint64_t events, first, next;
    uint32_t stream;
} seen[THREADS_MAX];
static uint64_t others;
static bool bad;

#define WRONG(...) (bad = true, (void)printf(__VA_ARGS__), (void)putchar('\n'))

/* ---- Events ---- */

static void see(unsigned t, uint64_t n, const struct weft_event *ev)
{
    struct seen *s = &seen[t];
    if (n < s->next)
        WRONG("thread %u: call %" PRIu64 " comes after call %" PRIu64, t, n, s->next - 1);
    if (!s->events++)
        s->first = n;
    s->next = n + 1;
    s->stream = ev->stream;
}

static void see_weft(const struct weft_event *ev)
{
    uint64_t id = ev->kind == WEFT_EVENT_COUNTER ? (uint64_t)ev->value : ev->a, n;
    unsigned t = (unsigned)(id >> 40) - 1;
    if (ev->promoted || t >= threads) {
        others++;
        return;
    }
    bool whole = pattern_read(ev, &t, &n);
    if (!whole) {
        t = (unsigned)(id >> 40) - 1;
        n = id & ((UINT64_C(1) << 40) - 1);
        whole = pattern_is_native(ev, id);
    }
    if (whole && t < threads)
        see(t, n, ev);
    else
        WRONG("torn: %s %" PRIx64 " %" PRIx64 " value %" PRIx64, weft_event_kinds[ev->kind].name,
              ev->a, ev->b, (uint64_t)ev->value);
}

static void see_mirage(const struct weft_event *ev)
{
    char text[128];
    uint64_t n = ev->a;
    pattern_text(text, n);
    if (ev->kind == WEFT_EVENT_COUNTER && (uint64_t)ev->value == pattern_check(n) &&
        ev->text_size == strlen(text) && !memcmp(ev->text, text, ev->text_size))
        see(0, n, ev);
    else
        WRONG("torn: %s %" PRIx64 " %" PRIx64 " value %" PRIx64, weft_event_kinds[ev->kind].name,
              ev->a, ev->b, (uint64_t)ev->value);
}

/* What is missing before and between the events of a thread is what was counted. A packet that was overwritten while it
 * was copied is counted, too. */
static void check_stream(const struct weft_reader_facts *f, unsigned t)
{
    const struct seen *s = &seen[t];
    if (!s->events) { /* it was interrupted while the others went round the ring */
        if (!f->wrapped)
            WRONG("thread %u: nothing is there", t);
        return;
    }
    const struct weft_stream_facts *facts = &f->stream[s->stream];
    uint64_t missing = s->next - s->events,
             counted = facts->overwritten + facts->missing + facts->discarded;
    if (missing > counted)
        WRONG("thread %u: %" PRIu64 " of %" PRIu64 " calls are missing; counted are %" PRIu64, t,
              missing, s->next, counted);
    if (s->next < returned[t])
        WRONG("thread %u: %" PRIu64 " calls had returned, the last that is there is %" PRIu64, t,
              returned[t], s->next - 1);
}

static void check_events(const char *path, struct weft_reader *r)
{
    struct weft_error err;
    const struct weft_event *ev;
    ptrdiff_t n;
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n && !bad; i++) {
            if (is_mirage)
                see_mirage(&ev[i]);
            else
                see_weft(&ev[i]);
            last_ns = ev[i].promoted ? last_ns : ev[i].time_ns;
        }
    if (n < 0)
        WRONG("%s: %s", path, err.text);
    const struct weft_reader_facts *f = weft_reader_facts(r);
    const struct weft_damage *damage = weft_reader_damage(r);
    if (damage->problems || f->unknown_events)
        WRONG("%" PRIu64 " problems: %s; %" PRIu64 " unknown events", damage->problems,
              damage->problems ? damage->first[0].text : "", f->unknown_events);
    if (ended && strcmp(ended, weft_ended_name(f->ended)))
        WRONG("has ended: %s, not %s", weft_ended_name(f->ended), ended);
    if (silent_ms && f->process.until_ns < last_ns + silent_ms * 1000000)
        WRONG("ends %.3f ms after its last event",
              ((double)f->process.until_ns - (double)last_ns) / 1e6);
    for (unsigned t = 0; t < threads && !is_mirage; t++)
        check_stream(f, t);
}

/* ---- Promises ---- */

static void check_promises(struct weft_reader *r)
{
    struct weft_error err;
    struct weft_model *m;
    unsigned kept = 0, done = 0, words = 0, short_lived = 0;
    if (weft_model_build(&m, r, NULL, NULL, &err) < 0) {
        WRONG("%s", err.text);
        return;
    }
    for (uint32_t p = 1; p < m->promises; p++) {
        const char *type = weft_model_type(m, p);
        if (m->promise[p].outcome != WEFT_PENDING || !m->promise[p].created)
            continue;
        uint32_t name = weft_model_name(m, p);
        if (name != WEFT_NONE && !strcmp(weft_model_text(m, name, NULL), "last words"))
            words++;
        else if (!strcmp(type, "kept"))
            kept++;
        else if (!strcmp(type, "done"))
            done++;
        else
            short_lived++;
    }
    if (kept != promises)
        WRONG("%u promises are shown as pending, instead of %u", kept, promises);
    if (done || short_lived > 3 * threads)
        WRONG("%u promises are shown as pending that were resolved", done ? done : short_lived);
    if (words != last_words)
        WRONG("the last words are there %u times", words);
    weft_model_free(m);
}

static struct weft_reader *open_trace(const char *path)
{
    struct weft_reader *r;
    struct weft_error err;
    if (weft_reader_open(&r, path, &err) < 0) {
        printf("%s: %s\n", path, err.text);
        exit(1);
    }
    return r;
}

int main(int argc, char **argv)
{
    char *end;
    for (int o; (o = getopt(argc, argv, "t:p:e:c:s:l")) != -1;) {
        if (o == 't') {
            threads = (unsigned)atoi(optarg);
            is_mirage = false;
        } else if (o == 'p') {
            promises = (unsigned)atoi(optarg);
        } else if (o == 'e') {
            ended = optarg;
        } else if (o == 's') {
            silent_ms = strtoull(optarg, NULL, 10);
        } else if (o == 'l') {
            last_words = true;
        } else if (o == 'c') {
            end = optarg;
            for (unsigned t = 0; t < THREADS_MAX && *end; t++, end += *end == ',')
                returned[t] = strtoull(end, &end, 10);
        } else {
            return 2;
        }
    }
    if (optind != argc - 1 || threads > THREADS_MAX)
        return 2;
    const char *path = argv[optind];
    struct weft_reader *r = open_trace(path);
    uint64_t events = 0;
    check_events(path, r);
    for (unsigned t = 0; t < THREADS_MAX; t++)
        events += seen[t].events;
    if (!events)
        WRONG("no events");
    if (!bad)
        printf("%" PRIu64 " events, %" PRIu64 " of them not the threads', %" PRIu64
               " overwritten, %s\n",
               events + others, others, weft_reader_facts(r)->overwritten_events,
               weft_ended_name(weft_reader_facts(r)->ended));
    weft_reader_close(r);
    if (!bad && !is_mirage) {
        r = open_trace(path);
        check_promises(r);
        weft_reader_close(r);
    }
    return bad;
}
