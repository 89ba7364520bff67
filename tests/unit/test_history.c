/* SPDX-License-Identifier: ISC */
/* The history: how waits end, why runs begin, when streams are idle. */
#include <inttypes.h>

#include "allocations.h"
#include "analyse/history.h"
#include "packets.h"

static struct weft_model *build(const struct step *step, size_t count)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    steps_put(&t, step, count, &site, 0);
    return trace_model(&t);
}

static struct step on(uint32_t stream, struct weft_event ev)
{
    return (struct step){.ev = ev, .stream = stream};
}

static struct weft_history *history_of(struct weft_model *m)
{
    struct weft_history *h;
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    return h;
}

/* "reader>source from-until how", by beginning. */
static void expect_waits(const struct step *step, size_t count, const char *wanted)
{
    static const char *const ends[] = {"open", "read", "ran", "ended", "left"};
    struct weft_model *m = build(step, count);
    struct weft_history *h = history_of(m);
    char found[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < h->waits; i++) {
        const struct weft_wait *w = &h->wait[i];
        used +=
            (size_t)snprintf(found + used, sizeof found - used,
                             "%s%" PRId64 ">%" PRId64 " %" PRId64 "-%" PRId64 " %s", i ? ", " : "",
                             (int64_t)m->promise[w->reader].id, (int64_t)m->promise[w->source].id,
                             w->from_ns, w->until_ns, ends[w->end]);
    }
    expect_text(found, wanted);
    weft_history_free(h);
    weft_model_free(m);
}

#define STEPS(...) (const struct step[]){__VA_ARGS__}, COUNT(((const struct step[]){__VA_ARGS__}))
#define E(ev) on(0, ev)
#define TASKS                                                                                      \
    E(creates(0, LOOP, 1, 0)), E(creates(1, LOOP, 2, 0)), E(creates(2, LOOP, 3, 0)),               \
        E(creates(3, LOOP, 4, 0))

/* ---- Waits ---- */

TEST(waits_end_by_reading)
{
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(switches(12, 3)),
                       E(fulfills(13, 3, 2)), E(reads(20, 1, 2)), E(try_read(21, 1, 4)),
                       E(switches(22, LOOP)), E(notifies(23, LOOP, 4)), E(signals(24, 1, 4))),
                 "1>2 11-20 read, 1>4 21-24 read");
}

TEST(waits_end_by_running)
{
    /* Nothing says why 1 runs; but 2 was there. */
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(switches(12, 3)),
                       E(fulfills(13, 3, 2)), E(switches(20, 1)), E(switches(30, LOOP))),
                 "1>2 11-20 ran");
    /* It ran before 2 was there, and not afterwards. */
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(switches(12, 3)),
                       E(switches(20, 1)), E(switches(25, LOOP)), E(fulfills(26, LOOP, 2)),
                       E(suspends(30))),
                 "1>2 11-30 open");
    /* A condition is there when it is notified, not before. */
    expect_waits(STEPS(TASKS, E(notifies(5, 3, 2)), E(switches(10, 1)), E(try_read(11, 1, 2)),
                       E(switches(12, 3)), E(switches(20, 1)), E(switches(30, LOOP))),
                 "1>2 11-30 open");
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(switches(12, 3)),
                       E(notifies(15, 3, 2)), E(switches(20, 1)), E(switches(30, LOOP))),
                 "1>2 11-20 ran");
}

TEST(the_run_in_which_a_wait_began_does_not_end_it)
{
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(10, 1, 2)), E(notifies(10, 3, 2)),
                       E(switches(12, 3)), E(switches(30, LOOP))),
                 "1>2 10-30 open");
}

TEST(who_became_another_runs_as_that)
{
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(switches(12, 3)),
                       E(becomes(13, 1, 4)), E(fulfills(14, 3, 2)), E(switches(20, 4)),
                       E(switches(30, LOOP))),
                 "1>2 11-20 ran");
}

TEST(losers_are_left)
{
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(try_read(12, 1, 3)),
                       E(switches(13, LOOP)), E(fulfills(14, LOOP, 2)), E(reads(20, 1, 2)),
                       E(try_read(21, 1, 4)), E(switches(30, LOOP))),
                 "1>2 11-20 read, 1>3 12-20 left, 1>4 21-30 open");
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(try_read(12, 1, 3)),
                       E(switches(13, LOOP)), E(fulfills(14, LOOP, 1)), E(switches(30, LOOP))),
                 "1>2 11-14 ended, 1>3 12-14 ended");
}

TEST(one_wait_told_twice_is_one)
{
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(try_read(12, 1, 2)),
                       E(switches(13, LOOP))),
                 "1>2 11-13 open");
    /* A condition again, in the next run. */
    expect_waits(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(switches(12, LOOP)),
                       E(switches(20, 1)), E(try_read(21, 1, 2)), E(switches(30, LOOP))),
                 "1>2 11-20 left, 1>2 21-30 open");
}

/* Of each wait for a condition: when its reader could go on; -1: never. */
static void expect_turns(const struct step *step, size_t count, const char *wanted)
{
    struct weft_model *m = build(step, count);
    struct weft_history *h = history_of(m);
    char found[512] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < h->waits; i++) {
        int64_t there = weft_history_there_ns(h, &h->wait[i], NULL);
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%" PRId64, i ? " " : "",
                                 there == INT64_MAX ? -1 : there);
    }
    expect_text(found, wanted);
    weft_history_free(h);
    weft_model_free(m);
}

#define QUEUE                                                                                      \
    TASKS, E(switches(10, 1)), E(try_read(11, 1, 4)), E(switches(12, 2)), E(try_read(13, 2, 4)),   \
        E(switches(14, LOOP))

TEST(turns_at_a_condition)
{
    /* One after the other: each has its own turn. */
    expect_turns(STEPS(QUEUE, E(notifies(50, LOOP, 4)), E(signals(51, 1, 4)), E(switches(52, LOOP)),
                       E(notifies(150, LOOP, 4)), E(signals(151, 2, 4))),
                 "50 150");
    /* The loop comes to it later. */
    expect_turns(STEPS(QUEUE, E(notifies(50, LOOP, 4)), E(notifies(60, LOOP, 4)),
                       E(signals(100, 1, 4)), E(signals(110, 2, 4))),
                 "50 60");
    /* All at once. */
    expect_turns(
        STEPS(QUEUE, E(notifies(50, LOOP, 4)), E(signals(100, 1, 4)), E(signals(110, 2, 4))),
        "50 50");
    /* Somebody else, who had not waited, had the first one: the loop slept since. */
    expect_turns(STEPS(QUEUE, E(notifies(50, 3, 4)), E(suspends(60)), E(resumes(90000)),
                       E(notifies(90001, 3, 4)), E(signals(90002, 1, 4)), E(signals(90003, 2, 4))),
                 "90001 90001");
    /* Only one has gone on; the other one still stands in line, or does not come to run. */
    expect_turns(
        STEPS(QUEUE, E(notifies(50, LOOP, 4)), E(signals(51, 1, 4)), E(switches(99, LOOP))),
        "50 -1");
    expect_turns(STEPS(QUEUE, E(notifies(50, LOOP, 4)), E(signals(51, 1, 4)),
                       E(notifies(60, LOOP, 4)), E(switches(99, LOOP))),
                 "50 60");
    /* Nothing was said of the signal but that it came. */
    expect_turns(STEPS(QUEUE, E(signals(51, 1, 4)), E(switches(99, LOOP))), "51 -1");
}

/* ---- Runs and idle times ---- */

TEST(why_runs_begin)
{
    struct weft_model *m =
        build(STEPS(TASKS, E(switches(10, 1)), E(reads(20, 2, 3)), E(switches(25, LOOP)),
                    E(signals(30, 3, 4)), E(switches(40, LOOP))));
    struct weft_history *h = history_of(m);
    static const struct {
        uint64_t id;
        int64_t start_ns;
        bool caused;
    } runs[] = {{1, 10, false}, {2, 20, true}, {3, 30, true}};
    for (size_t i = 0; i < COUNT(runs); i++) {
        uint32_t p = weft_model_find(m, runs[i].id);
        assert_int_equal(h->runs_of_first[p + 1] - h->runs_of_first[p], 1);
        uint32_t run = h->runs_of[h->runs_of_first[p]], cause = h->run_cause[run];
        assert_int_equal(m->run[run].start_ns, runs[i].start_ns);
        assert_int_equal(h->run_promise[run], p);
        assert_int_equal(cause != WEFT_NONE, runs[i].caused);
        if (cause != WEFT_NONE)
            assert_int_equal(m->interaction[cause].time_ns, runs[i].start_ns);
        assert_int_equal(weft_history_run_at(h, p, runs[i].start_ns), run);
        assert_int_equal(weft_history_run_before(h, p, runs[i].start_ns - 1), WEFT_NONE);
        assert_int_equal(weft_history_run_before(h, p, 1000), run);
    }
    assert_int_equal(weft_history_run_at(h, weft_model_find(m, 1), 21), WEFT_NONE);
    weft_history_free(h);
    weft_model_free(m);
}

TEST(when_streams_are_idle)
{
    struct weft_model *m =
        build(STEPS(E(creates(0, LOOP, 1, 0)), E(suspends(10)), E(resumes(30)), E(switches(31, 1)),
                    E(suspends(40)), E(resumes(45)), on(1, switches(5, 1)), on(1, suspends(50)),
                    on(1, resumes(90))));
    struct weft_history *h = history_of(m);
    uint32_t times;
    assert_int_equal(h->streams, 2);
    assert_int_equal(weft_history_idle(h, 0, 0, 100, 0, &times), 25);
    assert_int_equal(times, 2);
    assert_int_equal(weft_history_idle(h, 0, 20, 42, 0, &times), 12);
    assert_int_equal(weft_history_idle(h, 0, 0, 100, 10, &times), 20);
    assert_int_equal(times, 1);
    assert_int_equal(weft_history_idle(h, 0, 30, 40, 0, &times), 0);
    assert_int_equal(times, 0);
    assert_int_equal(weft_history_idle(h, 1, 60, 100, 0, &times), 30);
    weft_history_free(h);
    weft_model_free(m);
}

TEST(which_streams_are_loops)
{
    struct weft_model *m =
        build(STEPS(E(creates(0, LOOP, 1, 0)), E(creates(1, LOOP, 2, 0)), E(switches(2, 1)),
                    on(1, switches(3, 2)), on(1, fulfills(4, 2, 2)), E(reads(5, 1, 2))));
    struct weft_history *h = history_of(m);
    assert_true(h->is_loop[0]);
    assert_false(h->is_loop[1]);
    weft_history_free(h);
    weft_model_free(m);
}

TEST(who_resolved_what)
{
    struct weft_model *m = build(STEPS(TASKS, E(becomes(10, 1, 2)), E(fulfills(20, 3, 2)),
                                       E(forgets(21, 4)), E(suspends(30))));
    struct weft_history *h = history_of(m);
    uint32_t one = weft_model_find(m, 1), two = weft_model_find(m, 2);
    assert_int_equal(weft_history_resolved_ns(h, one), 20);
    assert_int_equal(weft_history_resolved_ns(h, two), 20);
    assert_int_equal(h->resolution[one], h->resolution[two]);
    assert_int_equal(m->promise[m->interaction[h->resolution[two]].actor].id, 3);
    assert_int_equal(h->resolution[weft_model_find(m, 3)], WEFT_NONE);
    assert_int_equal(weft_history_resolved_ns(h, weft_model_find(m, 4)), INT64_MAX);
    weft_history_free(h);
    weft_model_free(m);
}

/* The trace begins at 1000; what is known of a promise from before that is also that it is pending. */
TEST(how_long_promises_took)
{
    const uint64_t id = 70;
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    const uint32_t site = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    const struct weft_pending_cell old = {
        .created_ticks = 50, .creator = LOOP, .site = site, .packet = 1};
    const struct step step[] = {E(creates(1000, LOOP, 1, 0)), E(creates(1001, LOOP, 2, 0)),
                                E(fulfills(1031, LOOP, 1))};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    pending_packet(&t, (struct weft_pending_header){.kept = 1}, &id, &old, 1);
    steps_put(&t, step, COUNT(step), &site, 0);
    struct weft_model *m = trace_model(&t);
    struct weft_history *h = history_of(m);
    const uint32_t p = weft_model_find(m, 70);
    assert_int_equal(m->promise[p].start_ns, -950);
    assert_int_equal(weft_history_length_ns(h, p), INT64_MAX);
    assert_int_equal(weft_history_length_ns(h, weft_model_find(m, 1)), 31);
    assert_int_equal(weft_history_length_ns(h, weft_model_find(m, 2)), INT64_MAX);
    weft_history_free(h);
    weft_model_free(m);
}

TEST(collections_are_counted_once)
{
    struct weft_model *m = build(STEPS(E(creates(0, LOOP, 1, 0)), E(gc(20, 10)), E(gc(25, 10)),
                                       E(gc(50, 5)), E(suspends(60))));
    struct weft_history *h = history_of(m);
    assert_int_equal(weft_history_collecting(h, 0, 60), 20);
    assert_int_equal(weft_history_collecting(h, 18, 47), 9);
    assert_int_equal(weft_history_collecting(h, 30, 40), 0);
    weft_history_free(h);
    weft_model_free(m);
}

/* A million waiters, and a chain of as many, are sorted by reader and by source. */
TEST(many_waits)
{
    enum { MANY = 20000 };
    struct step *step = calloc(3 * MANY + 1, sizeof *step);
    assert_non_null(step);
    size_t count = 0;
    for (uint64_t i = 1; i <= MANY; i++)
        step[count++] = E(creates(i, LOOP, i, 0));
    for (uint64_t i = 2; i <= MANY; i++) {
        step[count++] = E(try_read(MANY + i, i, 1));
        step[count++] = E(try_read(MANY + i, i - 1, i));
    }
    struct weft_model *m = build(step, count);
    struct weft_history *h = history_of(m);
    free(step);
    assert_int_equal(h->waits, 2 * (MANY - 1));
    for (uint32_t p = 1; p < m->promises; p++) {
        uint32_t sources = h->waits_of_first[p + 1] - h->waits_of_first[p];
        uint32_t readers = h->waits_for_first[p + 1] - h->waits_for_first[p];
        uint64_t id = m->promise[p].id;
        assert_int_equal(sources, id == 1 || id == MANY ? 1 : 2);
        assert_int_equal(readers, id == 1 ? MANY - 1 : 1);
    }
    weft_history_free(h);
    weft_model_free(m);
}

TEST(each_allocation_may_fail)
{
    struct weft_model *m =
        build(STEPS(TASKS, E(switches(10, 1)), E(try_read(11, 1, 2)), E(try_read(12, 1, 3)),
                    E(suspends(13)), E(resumes(14)), E(fulfills(15, LOOP, 2)), E(reads(20, 1, 2)),
                    on(1, switches(21, 3)), on(1, notifies(22, 3, 4)), on(1, suspends(23))));
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc)) {
        struct weft_history *h;
        rc = weft_history_new(&h, m, NULL, NULL);
        assert_true((h != NULL) == (rc == 0));
        weft_history_free(h);
    }
    assert_true(f.n > 20);
    weft_model_free(m);
}

RUN_TESTS(NULL, NULL)
