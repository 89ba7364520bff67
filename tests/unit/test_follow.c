/* SPDX-License-Identifier: ISC */
/* A trace that this program records is followed meanwhile: each event comes once, in order, or is counted as lost. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "own_trace.h"
#include "read/follow.h"

enum { THREADS = 3, SMALL = 128 << 10, LARGE = 8 << 20 };

static struct weft_counter counted = WEFT_COUNTER("counted");

/* What was handed out, by thread: each thread counts from 1. */
struct followed {
    struct weft_follow *follow;
    struct {
        uint32_t number; /* of its stream */
        int64_t last;
        uint64_t events;
    } thread[THREADS + 1];
    unsigned threads;
    uint64_t events, missing, promoted, created, resolved;
    uint64_t last_ns;
    char label[64]; /* of the newest promise */
};

static void follow(struct followed *to)
{
    struct weft_input in = own_input();
    struct weft_error err;
    *to = (struct followed){.follow = NULL};
    assert_int_equal(weft_follow_open(&to->follow, &in, &err), 0);
}

static void check_count(struct followed *to, uint32_t number, int64_t value, bool missing)
{
    unsigned at = 0;
    while (at < to->threads && to->thread[at].number != number)
        at++;
    if (at == to->threads) {
        assert_true(to->threads <= THREADS);
        to->thread[to->threads++].number = number;
    }
    if (missing)
        assert_true(value > to->thread[at].last);
    else if (to->thread[at].events)
        assert_int_equal(value, to->thread[at].last + 1);
    to->thread[at].last = value;
    to->thread[at].events++;
}

static void use(struct followed *to, const struct weft_event *ev)
{
    const struct weft_reader_facts *facts = weft_reader_facts(weft_follow_reader(to->follow));
    to->promoted += ev->promoted;
    if (ev->promoted)
        return;
    to->events++;
    to->missing += ev->missing;
    assert_true(ev->time_ns >= to->last_ns);
    to->last_ns = ev->time_ns;
    to->created += ev->kind == WEFT_EVENT_CREATES;
    to->resolved += ev->kind == WEFT_EVENT_FULFILLS || ev->kind == WEFT_EVENT_RESOLVES;
    if (ev->kind == WEFT_EVENT_CREATES)
        snprintf(to->label, sizeof to->label, "%.*s", (int)ev->text_size, ev->text);
    if (ev->kind == WEFT_EVENT_COUNTER)
        check_count(to, facts->stream[ev->stream].number, ev->value, ev->missing);
}

/* Returns how many events came. */
static uint64_t look(struct followed *to)
{
    struct weft_error err;
    const struct weft_event *events;
    const uint64_t before = to->events;
    ptrdiff_t n;
    assert_int_equal(weft_follow_look(to->follow, &err), 0);
    to->last_ns = 0; /* an event of a slow thread may be older than those of an earlier look */
    while ((n = weft_follow_next(to->follow, &events, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++)
            use(to, &events[i]);
    assert_int_equal(n, 0);
    assert_int_equal(weft_reader_damage(weft_follow_reader(to->follow))->problems, 0);
    return to->events - before;
}

TEST(each_once)
{
    struct followed to;
    own_start(LARGE);
    for (int i = 1; i <= 100; i++)
        weft_counter_set(&counted, i);
    follow(&to);
    assert_int_equal(look(&to), 100);
    assert_int_equal(look(&to), 0);
    for (int i = 101; i <= 20000; i++) {
        weft_counter_set(&counted, i);
        if (i % 1000 == 0) {
            own_let_pass();
            assert_int_equal(look(&to), i == 1000 ? 900 : 1000);
        }
    }
    assert_int_equal(weft_follow_lost(to.follow), 0);
    assert_int_equal(to.missing, 0);
    weft_follow_close(to.follow);
    own_stop();
}

/* Texts and places that are new since the last look. */
TEST(new_texts)
{
    struct followed to;
    char text[32];
    own_start(LARGE);
    follow(&to);
    look(&to);
    for (int i = 0; i < 50; i++) {
        snprintf(text, sizeof text, "label %d", i);
        weft_promise p = weft_create("kind", NULL);
        weft_label(p, text);
        weft_create("other", "fixed");
        weft_resolve(p);
        own_let_pass();
        assert_int_equal(look(&to), 4);
        assert_string_equal(to.label, "fixed");
    }
    assert_int_equal(to.created, 100);
    assert_int_equal(to.resolved, 50);
    weft_follow_close(to.follow);
    own_stop();
}

/* What a small ring overwrites between two looks is counted. */
TEST(lost)
{
    struct followed to;
    int64_t all = 100;
    own_start(SMALL);
    for (int64_t i = 1; i <= all; i++)
        weft_counter_set(&counted, i);
    follow(&to);
    look(&to);
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 100000; i++)
            weft_counter_set(&counted, ++all);
        own_let_pass();
        assert_true(look(&to) > 100);
    }
    assert_int_equal(to.missing, 5);
    assert_int_equal(weft_follow_lost(to.follow) + to.events, all);
    assert_int_equal(to.thread[0].last, all);
    weft_follow_close(to.follow);
    own_stop();
}

/* Pending promises whose creation was overwritten before the first look. */
TEST(older)
{
    struct followed to;
    own_start(SMALL);
    weft_promise p = weft_create("kind", "old");
    for (unsigned i = 0; i < 100000; i++)
        weft_counter_set(&counted, i);
    follow(&to);
    look(&to);
    assert_true(to.promoted > 0);
    const uint64_t promoted = to.promoted;
    weft_resolve(p);
    own_let_pass();
    assert_int_equal(look(&to), 1);
    assert_int_equal(to.resolved, 1);
    assert_int_equal(to.promoted, promoted);
    weft_follow_close(to.follow);
    own_stop();
}

static void *count(void *data)
{
    const int64_t *most = data;
    for (int64_t i = 1; i <= *most; i++)
        weft_counter_set(&counted, i);
    return NULL;
}

/* Threads record while looks are taken. all: nothing is overwritten. */
static void threads(uint64_t bytes, bool all)
{
    struct followed to;
    pthread_t thread[THREADS];
    int64_t most = 300000;
    own_start(bytes);
    follow(&to);
    look(&to);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, count, &most), 0);
    for (unsigned i = 0; i < 50; i++)
        look(&to);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    own_let_pass();
    look(&to);
    assert_int_equal(look(&to), 0);
    const uint64_t lost = weft_follow_lost(to.follow), recorded = (uint64_t)(THREADS * most);
    printf("%" PRIu64 " events, %" PRIu64 " lost\n", to.events, lost);
    assert_true(to.events + lost <=
                recorded); /* the last ones of a thread may be overwritten, too */
    if (all) {
        assert_int_equal(lost, 0);
        assert_int_equal(to.events, recorded);
    }
    weft_follow_close(to.follow);
    own_stop();
}

TEST(large_ring)
{
    threads(64 << 20, true);
}

TEST(small_ring)
{
    threads(256 << 10, false);
}

/* The program has ended: nothing new comes, and nothing twice. */
TEST(ended)
{
    struct followed to;
    own_start(LARGE);
    for (int i = 1; i <= 1000; i++)
        weft_counter_set(&counted, i);
    follow(&to);
    assert_int_equal(look(&to), 1000);
    weft_counter_set(&counted, 1001);
    weft_stop();
    own_let_pass();
    assert_int_equal(look(&to), 1);
    assert_int_equal(weft_reader_facts(weft_follow_reader(to.follow))->ended, WEFT_ENDED_STOPPED);
    assert_int_equal(look(&to), 0);
    weft_follow_close(to.follow);
    unlink(own_path);
}

RUN_TESTS(NULL, NULL)
