/* SPDX-License-Identifier: ISC */
/* Critical paths and stories: of small traces whole, of random ones that the steps fill the time. */
#include <inttypes.h>

#include "allocations.h"
#include "analyse/crowd.h"
#include "analyse/story.h"
#include "packets.h"

/* ---- Traces ---- */

enum site { S_TASK, S_READ, S_TIMER, S_COUNT };

static struct step on(uint32_t stream, struct weft_event ev)
{
    return (struct step){.ev = ev, .stream = stream};
}

static struct step made(struct weft_event ev, enum site site)
{
    return (struct step){.ev = ev, .site = site};
}

#define EV(call) on(0, call)

static struct weft_history *build(const struct step *step, size_t count)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    struct weft_history *h;
    uint32_t site[S_COUNT];
    site[S_TASK] = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    site[S_READ] = strings_site(&s, strings_text(&s, "read"), strings_text(&s, "disk"), 0, 0);
    site[S_TIMER] = strings_site(&s, strings_text(&s, "timer"), strings_text(&s, "tick 1"), 0, 0);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    steps_put(&t, step, count, site, 0);
    assert_int_equal(weft_history_new(&h, trace_model(&t), NULL, NULL), 0);
    return h;
}

#define BUILD(...)                                                                                 \
    build((const struct step[]){__VA_ARGS__}, COUNT(((const struct step[]){__VA_ARGS__})))

static void drop(struct weft_history *h)
{
    struct weft_model *m = (struct weft_model *)h->m;
    weft_history_free(h);
    weft_model_free(m);
}

static uint32_t find(const struct weft_history *h, uint64_t id)
{
    uint32_t p = weft_model_find(h->m, id);
    assert_true(p != WEFT_NONE);
    return p;
}

/* ---- Paths ---- */

/* "from-to kind promise [behind promise]", a line each. */
static void expect_found(const struct weft_history *h, uint64_t id, bool own, const char *wanted)
{
    struct weft_path path = {0};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal((own ? weft_path_find_own : weft_path_find)(&path, h, find(h, id)), 0);
    for (uint32_t i = 0; i < path.count; i++) {
        const struct weft_step *s = &path.step[i];
        fprintf(out, "%" PRId64 "-%" PRId64 " %s %" PRId64, s->from_ns, s->to_ns,
                weft_step_name(s->kind), (int64_t)h->m->promise[s->promise].id);
        if (s->behind != WEFT_NONE)
            fprintf(out, " behind %" PRId64, (int64_t)h->m->promise[s->behind].id);
        fputc('\n', out);
    }
    if (path.pending)
        fputs("pending\n", out);
    fclose(out);
    expect_text(text, wanted);
    free(text);
    weft_path_fini(&path);
}

static void expect_path(const struct weft_history *h, uint64_t id, const char *wanted)
{
    expect_found(h, id, false, wanted);
}

/* To the end of the promise itself, not of what it became. */
static void expect_own_path(const struct weft_history *h, uint64_t id, const char *wanted)
{
    expect_found(h, id, true, wanted);
}

/* A request waits for a read, which the outside completes; something else runs when it is ready; then the
 * request runs and is done. */
TEST(waits_for_outside)
{
    struct weft_history *h =
        BUILD(EV(switches(0, LOOP)), EV(creates(10, LOOP, 1, 0)), EV(switches(20, 1)),
              made(creates(30, 1, 2, 0), S_READ), EV(try_read(40, 1, 2)), EV(suspends(50)),
              EV(resumes(140)), EV(creates(141, LOOP, 3, 0)), EV(fulfills(142, LOOP, 2)),
              EV(switches(150, 3)), EV(fulfills(190, 3, 3)), EV(reads(200, 1, 2)),
              EV(fulfills(230, 1, 1)), EV(suspends(240)), EV(resumes(250)));
    expect_path(h, 1,
                "10-20 ready 1 behind -1\n"
                "20-40 running 1\n"
                "40-142 outside 2\n"
                "142-200 ready 1 behind 3\n"
                "200-230 running 1\n");
    expect_path(h, 2, "30-142 outside 2\n");
    drop(h);
}

/* What 2 did before 1 began to wait for it does not count: until then 1 ran itself. */
TEST(never_past_the_wait)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(10, 1, 2, 0), S_READ),
              EV(try_read(100, 1, 2)), EV(suspends(110)), EV(resumes(300)),
              EV(fulfills(310, LOOP, 2)), EV(reads(320, 1, 2)), EV(fulfills(330, 1, 1)));
    expect_path(h, 1,
                "0-100 running 1\n"
                "100-310 outside 2\n"
                "310-320 ready 1 behind -1\n"
                "320-330 running 1\n");
    drop(h);
}

/* A chain: 1 waits for 2, which waits for 3, which a timer lets go on. */
TEST(chain_of_waits)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(10, 1, 2, 0)),
              EV(try_read(20, 1, 2)), EV(switches(30, 2)), made(creates(40, 2, 3, 0), S_TIMER),
              EV(try_read(50, 2, 3)), EV(suspends(60)), EV(resumes(200)),
              EV(fulfills(210, LOOP, 3)), EV(reads(220, 2, 3)), EV(fulfills(250, 2, 2)),
              EV(reads(260, 1, 2)), EV(fulfills(270, 1, 1)));
    expect_path(h, 1,
                "0-20 running 1\n"
                "20-30 ready 2 behind 1\n"
                "30-50 running 2\n"
                "50-210 outside 3\n"
                "210-220 ready 2 behind -1\n"
                "220-250 running 2\n"
                "250-260 ready 1\n"
                "260-270 running 1\n");
    drop(h);
}

/* The result comes from another thread; garbage is collected while 1 runs. */
TEST(worker_and_collector)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(10, 1, 2, 0)),
              EV(try_read(20, 1, 2)), EV(suspends(30)), on(1, switches(50, 2)),
              on(1, fulfills(150, 2, 2)), on(1, switches(150, LOOP)), EV(resumes(170)),
              EV(reads(180, 1, 2)), EV(gc(220, 25)), EV(fulfills(240, 1, 1)));
    expect_path(h, 1,
                "0-20 running 1\n"
                "20-50 ready 2\n"
                "50-150 running 2\n"
                "150-180 ready 1\n"
                "180-195 running 1\n"
                "195-220 collecting 1\n"
                "220-240 running 1\n");
    drop(h);
}

/* A condition: the notification counts, not the creation. Who notified had been resumed by the loop. */
TEST(condition)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 9, 0)), EV(creates(0, LOOP, 5, 0)), EV(creates(0, LOOP, 1, 0)),
              EV(switches(0, 9)), EV(switches(5, 1)), EV(try_read(20, 1, 5)), EV(suspends(30)),
              EV(resumes(90)), EV(switches(100, 9)), EV(notifies(110, 9, 5)),
              EV(signals(130, 1, 5)), EV(fulfills(140, 1, 1)));
    expect_path(h, 1,
                "0-5 ready 1 behind 9\n"
                "5-20 running 1\n"
                "20-100 outside 5\n"
                "100-110 running 9\n"
                "110-130 ready 1 behind 9\n"
                "130-140 running 1\n");
    drop(h);
}

/* 1 calls 2, which runs inside of it: 1 is not ready meanwhile. */
TEST(call)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(10, 1, 2, 0)),
              EV(switches(20, 2)), EV(switches(60, 1)), EV(fulfills(70, 1, 1)));
    expect_path(h, 1,
                "0-20 running 1\n"
                "20-60 running 2\n"
                "60-70 running 1\n");
    drop(h);
}

/* Becoming: until then it counts what 1 did, and then what 2 does. */
TEST(becoming)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), made(creates(5, LOOP, 2, 0), S_READ), EV(switches(10, 1)),
              EV(becomes(50, 1, 2)), EV(suspends(60)), EV(resumes(100)), EV(fulfills(120, LOOP, 2)),
              EV(creates(130, LOOP, 3, 0)), EV(switches(140, 3)), EV(becomes(150, 3, 2)));
    expect_path(h, 1,
                "0-10 ready 1 behind -1\n"
                "10-50 running 1\n"
                "50-60 running 2\n"
                "60-120 outside 2\n");
    expect_own_path(h, 1, "0-10 ready 1 behind -1\n10-50 running 1\n");
    expect_own_path(h, 2,
                    "5-50 ready 2 behind 1\n"
                    "50-60 running 2\n"
                    "60-120 outside 2\n");
    expect_path(h, 3,
                "130-140 ready 3 behind -1\n"
                "140-150 running 3\n");
    drop(h);
}

/* Nothing is said to run: only waits and resolutions. */
TEST(without_runs)
{
    struct weft_history *h = BUILD(EV(creates(0, LOOP, 1, 0)), made(creates(10, 1, 2, 0), S_READ),
                                   EV(try_read(10, 1, 2)), EV(fulfills(110, LOOP, 2)),
                                   made(creates(112, 1, 3, 0), S_TIMER), EV(try_read(112, 1, 3)),
                                   EV(fulfills(212, LOOP, 3)), EV(fulfills(214, LOOP, 1)));
    expect_path(h, 1,
                "0-10 outside 1\n"
                "10-110 outside 2\n"
                "110-112 outside 1\n"
                "112-212 outside 3\n"
                "212-214 outside 1\n");
    drop(h);
}

TEST(pending)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(10, 1, 2, 0)),
              EV(try_read(20, 1, 2)), EV(switches(20, 2)), made(creates(30, 2, 3, 0), S_READ),
              EV(try_read(40, 2, 3)), EV(suspends(50)), EV(resumes(500)));
    expect_path(h, 1,
                "0-20 running 1\n"
                "20-40 running 2\n"
                "40-500 outside 3\n"
                "pending\n");
    drop(h);
}

TEST(circle)
{
    struct weft_history *h = BUILD(EV(creates(0, LOOP, 1, 0)), EV(creates(0, LOOP, 2, 0)),
                                   EV(switches(0, 1)), EV(try_read(20, 1, 2)), EV(switches(30, 2)),
                                   EV(try_read(40, 2, 1)), EV(suspends(50)), EV(resumes(500)));
    expect_path(h, 1,
                "0-20 running 1\n"
                "20-30 ready 2 behind 1\n"
                "30-40 running 2\n"
                "40-500 unknown 1\n"
                "pending\n");
    drop(h);
}

/* Events of one turn of the loop have one time. */
TEST(equal_times)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(0, 1, 2, 0)),
              EV(try_read(0, 1, 2)), EV(switches(0, 2)), made(creates(0, 2, 3, 0), S_READ),
              EV(try_read(0, 2, 3)), EV(suspends(0)), EV(resumes(100)), EV(fulfills(100, LOOP, 3)),
              EV(reads(100, 2, 3)), EV(fulfills(100, 2, 2)), EV(reads(100, 1, 2)),
              made(creates(100, 1, 4, 0), S_TIMER), EV(try_read(100, 1, 4)), EV(suspends(100)),
              EV(resumes(300)), EV(fulfills(300, LOOP, 4)), EV(reads(300, 1, 4)),
              EV(fulfills(300, 1, 1)));
    expect_path(h, 1, "0-100 outside 3\n100-300 outside 4\n");
    drop(h);
}

/* ---- What the loop did not see ---- */

#define US(x) (UINT64_C(1000) * (x))

/* 1 waits for 2 from 10 us on. 3 runs on the loop from 10 to 60 ms, and then the loop brings 2. */
TEST(a_blocked_loop)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(US(10), 1, 2, 0), S_READ),
        EV(try_read(US(10), 1, 2)), EV(suspends(US(20))), EV(resumes(US(10000))),
        EV(creates(US(10000), LOOP, 3, 0)), EV(switches(US(10010), 3)),
        EV(fulfills(US(60000), 3, 3)), EV(fulfills(US(60010), LOOP, 2)), EV(reads(US(60020), 1, 2)),
        EV(fulfills(US(60030), 1, 1)));
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-10010000 outside 2\n"
                "10010000-60010000 blocked 2 behind 3\n"
                "60010000-60020000 ready 1\n"
                "60020000-60030000 running 1\n");
    expect_path(h, 2, "10000-10010000 outside 2\n10010000-60010000 blocked 2 behind 3\n");
    drop(h);
}

/* The same, and the loop looks once or twice before it brings 2: it brings what was there when it looks first. Or it sleeps
 * until then. */
static struct weft_history *looks(uint64_t naps, uint64_t nap_us)
{
    struct step step[40];
    size_t n = 0;
    uint64_t now = US(60000);
    step[n++] = EV(creates(0, LOOP, 1, 0));
    step[n++] = EV(switches(0, 1));
    step[n++] = made(creates(US(10), 1, 2, 0), S_READ);
    step[n++] = EV(try_read(US(10), 1, 2));
    step[n++] = EV(suspends(US(20)));
    step[n++] = EV(resumes(US(10000)));
    step[n++] = EV(creates(US(10000), LOOP, 3, 0));
    step[n++] = EV(switches(US(10000), 3));
    step[n++] = EV(fulfills(now, 3, 3));
    for (uint64_t i = 0; i < naps; i++) {
        step[n++] = EV(suspends(now));
        step[n++] = EV(resumes(now += US(nap_us)));
        now += US(10);
    }
    step[n++] = EV(fulfills(now, LOOP, 2));
    return build(step, n);
}

TEST(a_loop_that_looks)
{
    struct weft_history *h = looks(1, 5);
    expect_path(h, 2, "10000-10000000 outside 2\n10000000-60015000 blocked 2 behind 3\n");
    drop(h);
    h = looks(2, 5);
    expect_path(h, 2, "10000-60030000 outside 2\n");
    drop(h);
    h = looks(1, 50);
    expect_path(h, 2, "10000-60060000 outside 2\n");
    drop(h);
}

/* Another thread resolves 2 while the loop is blocked: that is when it was there. */
TEST(another_thread_is_not_blocked)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(US(10), 1, 2, 0), S_READ),
        EV(try_read(US(10), 1, 2)), EV(suspends(US(20))), EV(resumes(US(10000))),
        EV(creates(US(10000), LOOP, 3, 0)), EV(switches(US(10000), 3)),
        on(1, fulfills(US(40000), LOOP, 2)), EV(fulfills(US(60000), 3, 3)),
        EV(reads(US(60000), 1, 2)), EV(fulfills(US(60010), 1, 1)));
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-40000000 outside 2\n"
                "40000000-60000000 ready 1 behind 3\n"
                "60000000-60010000 running 1\n");
    drop(h);
}

/* A collection while all are asleep delays nothing; one in which the answer may have come does. */
TEST(collections_outside)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(US(10), 1, 2, 0), S_READ),
        EV(try_read(US(10), 1, 2)), EV(suspends(US(20))), on(1, gc(US(7000), US(5000))),
        EV(resumes(US(10000))), EV(gc(US(15000), US(4900))), EV(fulfills(US(15000), LOOP, 2)));
    expect_path(h, 2,
                "10000-10000000 outside 2\n"
                "10000000-10100000 blocked 2 behind -1\n"
                "10100000-15000000 collecting 2\n");
    drop(h);
}

/* A trace that ends while the loop is blocked: whether the answer is there nobody knows. */
TEST(blocked_at_the_end)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)),
              made(creates(US(10), 1, 2, 0), S_READ), EV(try_read(US(10), 1, 2)),
              EV(suspends(US(20))), EV(resumes(US(10000))), EV(creates(US(10000), LOOP, 3, 0)),
              EV(switches(US(10000), 3)), EV(label(US(90000), 3, "on")));
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-10000000 outside 2\n"
                "10000000-90000000 blocked 2 behind 3\n"
                "pending\n");
    drop(h);
}

/* Others have the core while 3 runs, while 1 is ready, and while 1 runs. */
TEST(others_have_the_core)
{
    struct weft_preemption away[] = {{US(20000), US(30000), 0},
                                     {US(55000), US(61000), 0},
                                     {US(70000), US(71000), 0},
                                     {US(1000), US(2000), 0}};
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(US(10), 1, 2, 0), S_READ),
        EV(try_read(US(10), 1, 2)), EV(suspends(US(20))), EV(resumes(US(10000))),
        EV(creates(US(10000), LOOP, 3, 0)), EV(switches(US(10000), 3)),
        EV(fulfills(US(50000), 3, 3)), EV(fulfills(US(50000), LOOP, 2)),
        EV(creates(US(50000), LOOP, 4, 0)), EV(switches(US(50000), 4)),
        EV(fulfills(US(62000), 4, 4)), EV(reads(US(62000), 1, 2)), EV(fulfills(US(80000), 1, 1)));
    assert_int_equal(weft_history_preempted(h, away, COUNT(away)), 0);
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-10000000 outside 2\n"
                "10000000-20000000 blocked 2 behind 3\n"
                "20000000-30000000 preempted 2\n"
                "30000000-50000000 blocked 2 behind 3\n"
                "50000000-55000000 ready 1 behind 4\n"
                "55000000-61000000 preempted 1\n"
                "61000000-62000000 ready 1 behind 4\n"
                "62000000-70000000 running 1\n"
                "70000000-71000000 preempted 1\n"
                "71000000-80000000 running 1\n");
    drop(h);
}

/* … as the recorder says it: in its turn, at the end of the longest time without an event. */
TEST(the_recorder_knows_who_had_the_core)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(US(10), 1, 2, 0), S_READ),
        EV(try_read(US(10), 1, 2)), EV(suspends(US(20))), EV(resumes(US(10000))),
        EV(creates(US(10000), LOOP, 3, 0)), EV(switches(US(10000), 3)),
        EV(fulfills(US(20000), 3, 3)), EV(fulfills(US(20000), LOOP, 2)), EV(reads(US(20000), 1, 2)),
        EV(label(US(70000), 1, "on")), EV(fulfills(US(80000), 1, 1)),
        EV(preempted(US(80000), US(45000))), EV(suspends(US(80000))), EV(resumes(US(90000))),
        EV(preempted(US(91000), US(7000))), EV(suspends(US(91000))));
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-10000000 outside 2\n"
                "10000000-20000000 blocked 2 behind 3\n"
                "20000000-25000000 running 1\n"
                "25000000-70000000 preempted 1\n"
                "70000000-80000000 running 1\n");
    assert_int_equal(weft_history_preempted_ns(h, 0, 0, US(80000)), US(45000));
    assert_int_equal(weft_history_preempted_ns(h, 0, US(80000), US(91000)),
                     US(1000)); /* no more than the turn */
    drop(h);
    /* There is no more of it than there is of the turn before the longest time without an event. */
    h = BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(label(US(30000), 1, "a")),
              EV(label(US(50000), 1, "b")), EV(preempted(US(60000), US(40000))),
              EV(suspends(US(60000))));
    assert_int_equal(weft_history_preempted_ns(h, 0, 0, US(40000)), US(40000));
    drop(h);
}

/* Two workers end while the loop is blocked, and 1 takes note of each in a run: the second one was what was missing. */
TEST(two_came_meanwhile)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(0, 1, 2, 0)),
        EV(creates(0, 1, 3, 0)), EV(try_read(US(10), 1, 2)), EV(try_read(US(10), 1, 3)),
        EV(suspends(US(20))), EV(resumes(US(10000))), EV(creates(US(10000), LOOP, 4, 0)),
        EV(switches(US(10000), 4)), EV(fulfills(US(60000), 4, 4)), EV(reads(US(60000), 1, 2)),
        EV(switches(US(61000), LOOP)), EV(reads(US(61000), 1, 3)), EV(fulfills(US(61010), 1, 1)),
        on(1, switches(0, 2)), on(1, fulfills(US(30000), 2, 2)), on(2, switches(0, 3)),
        on(2, fulfills(US(40000), 3, 3)));
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-40000000 running 3\n"
                "40000000-60000000 ready 1 behind 4\n"
                "60000000-61010000 running 1\n");
    drop(h);
}

/* A loop that never says when it sleeps: 3 seems to run as long as nothing else does. */
TEST(a_loop_that_says_nothing)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(US(10), 1, 2, 0), S_READ),
        EV(creates(US(10), 1, 3, 0)), EV(try_read(US(10), 1, 2)), EV(switches(US(20), 3)),
        EV(reads(US(60000), 1, 2)), EV(fulfills(US(60010), 1, 1)));
    expect_path(h, 1,
                "0-10000 running 1\n"
                "10000-60000000 outside 2\n"
                "60000000-60010000 running 1\n");
    drop(h);
}

/* ---- Shares ---- */

TEST(shares)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), made(creates(10, 1, 2, 0), S_READ),
              EV(try_read(10, 1, 2)), EV(suspends(10)), EV(resumes(100)),
              EV(fulfills(100, LOOP, 2)), EV(reads(103, 1, 2)), made(creates(110, 1, 3, 0), S_READ),
              EV(try_read(110, 1, 3)), EV(suspends(110)), EV(resumes(150)),
              EV(fulfills(150, LOOP, 3)), EV(reads(150, 1, 3)), EV(fulfills(151, 1, 1)));
    struct weft_path path = {0};
    uint32_t count;
    assert_int_equal(weft_path_find(&path, h, find(h, 1)), 0);
    struct weft_share *s = weft_path_shares(&path, h->m, &count);
    assert_non_null(s);
    assert_int_equal(count, 3);
    assert_int_equal(s[0].kind, WEFT_STEP_OUTSIDE); /* both reads: of one type and label */
    assert_int_equal(s[0].total_ns, 90 + 40);
    assert_int_equal(s[0].steps, 2);
    assert_int_equal(s[1].kind, WEFT_STEP_RUNNING);
    assert_int_equal(s[1].total_ns, 10 + 7 + 1);
    assert_int_equal(s[2].kind, WEFT_STEP_READY);
    assert_int_equal(s[2].promise, WEFT_ROOT);
    assert_int_equal(s[2].total_ns, 3);
    free(s);
    weft_path_fini(&path);
    drop(h);
}

/* ---- Stories ---- */

TEST(story)
{
    struct weft_history *h = BUILD(
        EV(creates(0, LOOP, 1, 0)), EV(switches(0, 1)), EV(creates(10, 1, 2, 0)),
        EV(try_read(20, 1, 2)), EV(switches(30, 2)), made(creates(40, 2, 3, 0), S_TIMER),
        EV(try_read(50, 2, 3)), EV(suspends(60)), EV(resumes(200)), EV(fulfills(210, LOOP, 3)),
        EV(switches(212, 1)), EV(reads(220, 2, 3)), EV(gc(240, 5)), EV(fulfills(250, 2, 2)),
        EV(reads(260, 1, 2)), EV(fulfills(270, 1, 1)));
    struct weft_story s;
    assert_int_equal(weft_story_find(&s, h, find(h, 2)), 0);
    assert_int_equal(s.start_ns, 10);
    assert_int_equal(s.end_ns, 250);
    assert_false(s.pending);
    assert_int_equal(s.resolver, find(h, 2));
    assert_int_equal(s.creators, 1);
    assert_int_equal(s.creator[0], find(h, 1));
    assert_int_equal(s.waits, 1);
    assert_int_equal(s.kept_waits, 1);
    assert_int_equal(s.wait[0].there_ns, 210);
    assert_int_equal(s.wait[0].waker, WEFT_ROOT);
    assert_int_equal(s.spent.waiting_ns, 210 - 60); /* it ran until 60 */
    assert_int_equal(s.spent.ready_ns, 20 + 10);    /* since it was created, and since 210 */
    assert_int_equal(s.runs, 2);
    assert_int_equal(s.spent.running_ns, 30 + 30 - 5);
    assert_int_equal(s.spent.collecting_ns, 5);
    assert_int_equal(s.longest_run_ns, 30);
    assert_int_equal(s.run[1].because, find(h, 3));
    assert_int_equal(s.run[1].ready_ns, 10);
    assert_int_equal(s.readers, 1);
    assert_int_equal(s.readers_open, 0);
    assert_int_equal(h->wait[s.reader[0].wait].reader, find(h, 1));
    drop(h);
}

/* When a promise has become another one, whoever waits for either of them is a reader of both, once. */
TEST(readers_of_what_became_the_same)
{
    struct weft_history *h =
        BUILD(EV(creates(0, LOOP, 1, 0)), EV(creates(0, LOOP, 2, 0)), EV(creates(0, LOOP, 3, 0)),
              EV(creates(0, LOOP, 4, 0)), EV(switches(5, 1)), EV(try_read(20, 1, 3)),
              EV(becomes(30, 3, 2)), EV(switches(35, 4)), EV(try_read(40, 4, 2)),
              EV(fulfills(50, LOOP, 2)), EV(reads(60, 1, 3)), EV(reads(70, 4, 2)));
    struct weft_story s;
    assert_int_equal(weft_story_find(&s, h, find(h, 2)), 0);
    assert_int_equal(s.readers, 2);
    assert_int_equal(weft_story_find(&s, h, find(h, 3)), 0);
    assert_int_equal(s.readers, 2);
    assert_int_equal(h->wait[s.reader[0].wait].reader, find(h, 1));
    assert_int_equal(h->wait[s.reader[1].wait].reader, find(h, 4));
    drop(h);
}

/* The longest are kept, in order of time. */
TEST(story_keeps_the_longest)
{
    enum { WAITS = 3 * WEFT_STORY_KEPT };
    struct step *step = calloc(2 + 5 * WAITS, sizeof *step);
    size_t n = 0;
    uint64_t now = 1000;
    step[n++] = EV(creates(0, LOOP, 1, 0));
    for (uint64_t i = 0; i < WAITS; i++) {
        step[n++] = EV(switches(now, 1));
        step[n++] = EV(creates(now, 1, 10 + i, 0));
        step[n++] = EV(try_read(now, 1, 10 + i));
        step[n++] = EV(suspends(now));
        now += i % 3 == 1 ? 100 + i : 10;
        step[n++] = EV(fulfills(now, LOOP, 10 + i));
    }
    struct weft_history *h = build(step, n);
    struct weft_story s;
    free(step);
    assert_int_equal(weft_story_find(&s, h, find(h, 1)), 0);
    assert_int_equal(s.waits, WAITS);
    assert_int_equal(s.kept_waits, WEFT_STORY_KEPT);
    for (uint32_t i = 0; i < s.kept_waits; i++)
        assert_int_equal(h->m->promise[h->wait[s.wait[i].wait].source].id, 10 + 3 * i + 1);
    drop(h);
}

/* ---- Many of one sort ---- */

TEST(crowd)
{
    enum { ALL = 10 };
    struct step step[3 * ALL + 1];
    struct analyse_families families;
    struct weft_crowd c;
    uint32_t list[ALL];
    size_t n = 0;
    uint64_t now = 0;
    step[n++] = EV(switches(0, LOOP));
    for (uint64_t i = 0; i < ALL; i++, now += 1000) {
        step[n++] = made(creates(now, LOOP, 1 + i, 0), S_READ);
        if (i < ALL - 1)
            step[n++] = EV(fulfills(now + 10 * (i + 1), LOOP, 1 + i));
    }
    struct weft_history *h = build(step, n);
    for (uint32_t i = 0; i < ALL; i++)
        list[i] = find(h, 1 + i);
    assert_int_equal(analyse_families_init(&families, h->m), 0);
    assert_int_equal(weft_crowd_find(&c, h, &families, list, ALL), 0);
    assert_int_equal(c.count, ALL);
    assert_int_equal(c.outcomes[WEFT_FULFILLED], ALL - 1);
    assert_int_equal(c.outcomes[WEFT_PENDING], 1);
    assert_int_equal(c.oldest_pending, list[ALL - 1]);
    assert_int_equal(c.members, ALL - 1);
    assert_int_equal(c.member[0].promise, list[0]);
    assert_int_equal(weft_crowd_percentile(&c, 50), 50);
    assert_int_equal(weft_crowd_percentile(&c, 99), 90);
    assert_int_equal(c.sampled, ALL - 1);
    assert_int_equal(c.sampled_ns, 450);
    assert_int_equal(c.shares, 1);
    assert_int_equal(c.share[0].kind, WEFT_STEP_OUTSIDE);
    assert_int_equal(c.share[0].total_ns, 450);
    assert_true(c.share[0].one_label);
    weft_crowd_fini(&c);
    analyse_families_fini(&families);
    drop(h);
}

/* ---- Any trace ---- */

static uint64_t random_state;

static uint64_t below(uint64_t limit) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(0x2545f4914f6cdd1d) >> 32) * limit >> 32;
}

/* Any event, about any of a few promises. */
static struct weft_event any_event(uint64_t now, uint64_t promises)
{
    uint64_t a = below(8) ? 1 + below(promises) : LOOP, b = 1 + below(promises);
    switch (below(16)) {
    case 0:
    case 1:
        return creates(now, a, b, 0);
    case 2:
    case 3:
        return reads(now, b, a);
    case 4:
    case 5:
        return try_read(now, a, b);
    case 6:
        return fulfills(now, a, b);
    case 7:
        return resolves(now, a, b);
    case 8:
        return below(4) ? switches(now, a) : becomes(now, b, 1 + below(promises));
    case 9:
        return signals(now, b, 1 + below(promises));
    case 10:
        return notifies(now, a, b);
    case 11:
        return suspends(now);
    case 12:
        return resumes(now);
    case 13:
        return below(3) ? switches(now, b) : gc(now, below(50));
    case 14:
        return below(4) ? cancels(now, a, b) : forgets(now, b);
    default:
        return read_later(now, a, b);
    }
}

/* The steps touch each other and fill the time from the creation to the end. */
static void check_path(const struct weft_history *h, struct weft_path *path, uint32_t promise)
{
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[promise], *f;
    uint32_t count;
    int64_t sum = 0;
    f = &m->promise[weft_model_final(m, promise)];
    assert_int_equal(weft_path_find(path, h, promise), 0);
    assert_int_equal(path->pending, f->outcome == WEFT_PENDING);
    assert_false(path->cut);
    int64_t end = path->pending                     ? m->end_ns
                  : f->end_ns > p->end_ns || f == p ? f->end_ns
                                                    : p->end_ns;
    if (end <= p->start_ns) {
        assert_int_equal(path->count, 0);
        return;
    }
    assert_true(path->count > 0);
    assert_int_equal(path->step[0].from_ns, p->start_ns);
    assert_int_equal(path->step[path->count - 1].to_ns, end);
    for (uint32_t i = 0; i < path->count; i++) {
        const struct weft_step *s = &path->step[i];
        assert_true(s->from_ns < s->to_ns);
        assert_true(s->kind < WEFT_STEP_KINDS && s->promise < m->promises);
        assert_true(s->behind == WEFT_NONE || s->behind < m->promises);
        if (i)
            assert_int_equal(s->from_ns, s[-1].to_ns);
    }
    struct weft_share *share = weft_path_shares(path, m, &count);
    for (uint32_t i = 0; i < count; i++) {
        sum += share[i].total_ns;
        assert_true(i == 0 || share[i].total_ns <= share[i - 1].total_ns);
    }
    assert_int_equal(sum, end - p->start_ns);
    free(share);
}

static void check_story(const struct weft_history *h, uint32_t promise)
{
    struct weft_story s;
    assert_int_equal(weft_story_find(&s, h, promise), 0);
    assert_true(s.kept_waits <= s.waits && s.kept_runs <= s.runs && s.kept_readers <= s.readers);
    assert_true(s.spent.waiting_ns >= 0 && s.spent.ready_ns >= 0 && s.spent.running_ns >= 0);
}

static void check_any(uint64_t seed, bool backwards)
{
    enum { EVENTS = 300 };
    static struct step step[EVENTS];
    uint64_t now = 10000000, promises = 2 + seed % 30, streams = 1 + seed % 3;
    struct weft_path path = {0};
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; i < EVENTS; i++) {
        now += below(3) ? 0 : below(30);
        if (backwards && below(20) == 0)
            now -= below(500);
        step[i] = on((uint32_t)below(streams), any_event(now, promises));
        step[i].site = (enum site)below(S_COUNT);
    }
    struct weft_history *h = build(step, EVENTS);
    for (uint32_t p = 1; p < h->m->promises; p++) {
        check_path(h, &path, p);
        check_story(h, p);
    }
    weft_path_fini(&path);
    drop(h);
}

TEST(any_trace)
{
    for (uint64_t seed = 1; seed <= 500; seed++)
        check_any(seed, false);
}

TEST(any_trace_with_times_that_run_backwards)
{
    for (uint64_t seed = 1; seed <= 500; seed++)
        check_any(seed, true);
}

/* ---- Paths that are known ---- */

/* How a task is told that waits for several at once. */
enum style {
    EACH,     /* it runs at each arrival, and notes it */
    AGAIN,    /* it runs at each arrival, and waits again for what is missing */
    ALL,      /* it waits for a promise that waits for them all */
    LAST,     /* it runs when the last one is there */
    READ,     /* … and reads them all, in the order in which it began them */
    UNWAITED, /* it reads each as it comes, and says nothing of waiting */
    ANY,      /* it goes on with the first one */
    STYLES
};

enum {
    NODES = 4000,
    MANY = 5,       /* side by side */
    UNIT = 1000000, /* what is waited for takes some of that; what is done, a few nanoseconds */
    WORKERS = 40,   /* streams beside the loop's */
    LOCKS = 2,
    DEPTH = 3,
};

enum kind { LEAF, WORK, INNER, ALL_OF };

/* A task, or what it waits for: made by the task above it at a time, done at another. */
struct node {
    uint64_t id, from, until;
    struct node *above, *next_in_line;
    /* What it went on with: kept from at[i] until then[i] by what[i]. */
    struct node *what[64];
    uint64_t at[64], then[64];
    uint32_t segments, phases, missing, stream, lock;
    enum kind kind;
    struct node *part[MANY], *all;
    uint32_t parts, depth;
    bool wants_lock, done;
};

struct world {
    enum style style;
    struct node node[NODES];
    uint32_t nodes;
    struct node *agenda[NODES]; /* what ends by itself, and when */
    uint32_t agendas;
    struct step *step;
    size_t steps, room;
    uint64_t now;
    struct node *holder[LOCKS], *line[LOCKS]; /* of locks: who has it, who stands in line */
    uint32_t busy;                            /* workers */
    /* When the loop was blocked, and by whom; and collections, all of them meanwhile. */
    struct span {
        uint64_t from, until, id;
    } block[NODES], collection[NODES];
    uint32_t blocks, collections;
};

static void say(struct world *w, uint32_t stream, struct weft_event ev)
{
    if (w->steps == w->room)
        w->step = realloc(w->step, (w->room = 2 * w->room + 1000) * sizeof *w->step);
    assert_non_null(w->step);
    ev.time_ns = w->now++;
    w->step[w->steps++] = on(stream, ev);
}

#define SAY(...) say(w, 0, __VA_ARGS__)

static struct node *new_node(struct world *w, struct node *above, enum kind kind)
{
    assert_true(w->nodes < NODES);
    struct node *n = &w->node[w->nodes++];
    *n = (struct node){.id = 100 + w->nodes, .above = above, .kind = kind, .from = w->now};
    SAY(creates(0, above ? above->id : LOOP, n->id, 0));
    return n;
}

/* What a task begins: the outside, a worker, or another task. */
static struct node *begin_part(struct world *w, struct node *task)
{
    uint64_t what = task->depth < DEPTH ? below(4) : below(2);
    if (what > 1) {
        struct node *n = new_node(w, task, INNER);
        n->depth = task->depth + 1;
        n->phases = 1 + (uint32_t)below(3);
        return n;
    }
    struct node *n = new_node(w, task, what && w->busy < WORKERS ? WORK : LEAF);
    if (n->kind == WORK)
        say(w, n->stream = ++w->busy, switches(0, n->id));
    n->until = w->now + UNIT + below(100) * UNIT;
    w->agenda[w->agendas++] = n;
    return n;
}

static void await(struct world *w, struct node *n, struct node *what)
{
    if (w->style != UNWAITED)
        SAY(try_read(0, n->id, what->id));
}

static void kept(struct node *n, struct node *by, uint64_t from, uint64_t until)
{
    assert_true(n->segments < COUNT(n->what));
    n->what[n->segments] = by;
    n->at[n->segments] = from;
    n->then[n->segments++] = until;
}

/* It runs. */
static void begin_phase(struct world *w, struct node *n)
{
    uint64_t side_by_side = 1 + below(MANY);
    n->phases--;
    n->parts = 0;
    if (n->depth == DEPTH && !n->wants_lock && below(2)) {
        n->lock = (uint32_t)below(LOCKS);
        n->wants_lock = true;
        if (w->holder[n->lock]) {
            struct node **end = &w->line[n->lock];
            while (*end)
                end = &(*end)->next_in_line;
            *end = n;
            SAY(try_read(0, n->id, 1 + n->lock));
            n->phases++;
            n->from = w->now; /* since then it stands in line */
            return;
        }
        w->holder[n->lock] = n;
    }
    n->from = w->now;
    if (w->style == ALL && side_by_side > 1) {
        n->all = new_node(w, n, ALL_OF);
        SAY(try_read(0, n->id, n->all->id));
    }
    for (uint64_t i = 0; i < side_by_side; i++)
        n->part[n->parts++] = begin_part(w, n);
    n->missing = n->parts;
    for (uint32_t i = 0; i < n->parts; i++)
        await(w, n->all ? n->all : n, n->part[i]);
    for (uint32_t i = 0; i < n->parts; i++)
        if (n->part[i]->kind == INNER && n->part[i]->segments == 0 && !n->part[i]->parts) {
            SAY(switches(0, n->part[i]->id));
            begin_phase(w, n->part[i]);
        }
}

static void arrive(struct world *w, struct node *n, struct node *part);

/* It runs and has all: on, or done. */
static void go_on(struct world *w, struct node *n)
{
    if (n->phases) {
        begin_phase(w, n);
        return;
    }
    n->done = true;
    n->until = w->now;
    if (n->wants_lock) { /* the next in line has it, once the loop comes to that */
        struct node *next = w->line[n->lock];
        SAY(notifies(0, n->id, 1 + n->lock));
        w->holder[n->lock] = next;
        w->line[n->lock] = next ? next->next_in_line : NULL;
        SAY(fulfills(0, n->id, n->id));
        if (next) {
            kept(next, n, next->from, w->now);
            SAY(signals(0, next->id, 1 + n->lock));
            begin_phase(w, next);
        }
    } else
        SAY(fulfills(0, n->id, n->id));
    if (n->above)
        arrive(w, n->above, n);
}

static void arrive(struct world *w, struct node *n, struct node *part)
{
    uint32_t its = 0;
    while (its < n->parts && n->part[its] != part)
        its++;
    if (its == n->parts)
        return; /* it went on without it */
    bool last = --n->missing == 0 || w->style == ANY;
    switch (w->style) {
    case EACH:
    case AGAIN:
    case UNWAITED:
        SAY(reads(0, n->id, part->id));
        for (uint32_t i = 0; i < n->parts && w->style == AGAIN; i++)
            if (!n->part[i]->done)
                SAY(try_read(0, n->id, n->part[i]->id));
        break;
    case ALL:
        if (n->all) {
            SAY(reads(0, n->all->id, part->id));
            if (last) {
                SAY(fulfills(0, n->all->id, n->all->id));
                SAY(reads(0, n->id, n->all->id));
            }
        } else
            SAY(reads(0, n->id, part->id));
        break;
    case READ:
        if (last)
            SAY(switches(0, n->id));
        for (uint32_t i = 0; i < n->parts && last; i++)
            SAY(reads(0, n->id, n->part[i]->id));
        break;
    default:
        if (last)
            SAY(reads(0, n->id, part->id));
        break;
    }
    if (!last)
        return;
    kept(n, part, n->from, w->now);
    n->parts = 0;
    n->missing = 0;
    n->all = NULL;
    go_on(w, n);
}

/* What ends by itself next. */
static uint32_t next_of(const struct world *w)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < w->agendas; i++)
        if (w->agenda[i]->until < w->agenda[first]->until)
            first = i;
    return first;
}

static void deliver(struct world *w)
{
    uint32_t first = next_of(w);
    struct node *n = w->agenda[first];
    w->agenda[first] = w->agenda[--w->agendas];
    n->done = true;
    if (n->kind == WORK) {
        say(w, n->stream, fulfills(0, n->id, n->id));
        say(w, n->stream, switches(0, LOOP));
    }
    SAY(resumes(0));
    if (n->kind == LEAF)
        SAY(fulfills(0, LOOP, n->id));
    arrive(w, n->above, n);
    SAY(switches(0, LOOP));
}

/* Something runs for long, with collections in it, and then the loop looks; it may say so. */
static void block_loop(struct world *w)
{
    struct span *b = &w->block[w->blocks++];
    *b = (struct span){w->now, 0, UINT64_C(1000000) + w->blocks};
    SAY(resumes(0));
    SAY(creates(0, LOOP, b->id, 0));
    SAY(switches(0, b->id));
    for (uint64_t i = below(3); i > 0; i--) {
        struct span *c = &w->collection[w->collections++];
        c->from = w->now += UNIT + below(20) * UNIT;
        w->now += UNIT + below(20) * UNIT;
        SAY(gc(0, w->now - c->from));
        c->until = w->now;
    }
    w->now += UNIT + below(50) * UNIT;
    SAY(fulfills(0, b->id, b->id));
    b->until = w->now;
    if (below(2))
        SAY(suspends(0));
}

/* Until nothing happens any more: the loop sleeps, and what is done next wakes it. Or it is blocked, unless workers are
 * busy: of what ends beside it, it is not always told what was needed. */
static void run_world(struct world *w, bool is_blocked)
{
    while (w->agendas) {
        uint64_t next = w->agenda[next_of(w)]->until, later = UINT64_MAX;
        bool works = false;
        for (uint32_t i = 0; i < w->agendas; i++)
            works |= w->agenda[i]->kind == WORK;
        if (is_blocked && !works && w->blocks < NODES / 4)
            later = w->now + below(60) * UNIT;
        SAY(suspends(0));
        if (later < next) {
            w->now = later;
            block_loop(w);
            later = w->now;
            while (w->agendas && w->agenda[next_of(w)]->until <= later)
                deliver(w);
        } else {
            w->now = next > w->now ? next : w->now;
            deliver(w);
        }
    }
}

/* How much of the time from low to high a path gives to whom the truth gives it. */
static uint64_t agreed(const struct weft_history *h, const struct weft_path *path,
                       const struct node *n, uint64_t low, uint64_t high)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n->segments; i++) {
        uint64_t from = n->at[i] > low ? n->at[i] : low,
                 until = n->then[i] < high ? n->then[i] : high;
        const struct node *by = n->what[i];
        if (from >= until)
            continue;
        if (by->kind == INNER) {
            sum += agreed(h, path, by, from, until);
            continue;
        }
        for (uint32_t k = 0; k < path->count; k++) {
            const struct weft_step *s = &path->step[k];
            int64_t a = s->from_ns > (int64_t)from ? s->from_ns : (int64_t)from;
            int64_t b = s->to_ns < (int64_t)until ? s->to_ns : (int64_t)until;
            if (b > a && h->m->promise[s->promise].id == by->id)
                sum += (uint64_t)(b - a);
        }
    }
    return sum;
}

static const struct span *within(const struct span *list, uint32_t count, const struct weft_step *s)
{
    for (uint32_t i = 0; i < count; i++)
        if (s->from_ns + UNIT / 2 >= (int64_t)list[i].from &&
            s->to_ns <= (int64_t)list[i].until + UNIT / 2)
            return &list[i];
    return NULL;
}

/* Nothing that came from outside is outside after it came, nor blocked before somebody blocked the loop; what is blocked
 * came while it was. */
static bool is_true(const struct world *w, const struct weft_history *h, const struct weft_step *s)
{
    uint64_t id = h->m->promise[s->promise].id;
    const struct node *n = id > 100 && id <= 100 + w->nodes ? &w->node[id - 101] : NULL;
    const struct span *block = within(w->block, w->blocks, s);
    if (s->to_ns - s->from_ns < UNIT / 2) /* what the loop does takes some nanoseconds */
        return true;
    switch (s->kind) {
    case WEFT_STEP_OUTSIDE:
        return !n || n->kind != LEAF || s->to_ns <= (int64_t)n->until + UNIT / 2;
    case WEFT_STEP_BLOCKED:
        return n && n->kind == LEAF && block && s->behind != WEFT_NONE &&
               h->m->promise[s->behind].id == block->id && n->until + UNIT / 2 >= block->from &&
               n->until <= block->until + UNIT / 2;
    case WEFT_STEP_COLLECTING:
        return within(w->collection, w->collections, s) != NULL;
    default:
        return true;
    }
}

static void check_known(enum style style, uint64_t seed, bool is_blocked)
{
    struct world *w = calloc(1, sizeof *w);
    struct weft_path path = {0};
    assert_non_null(w);
    w->style = style;
    random_state = (seed * STYLES + style + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t lock = 0; lock < LOCKS; lock++)
        SAY(creates(0, LOOP, 1 + lock, 0));
    struct node *request = new_node(w, NULL, INNER);
    request->phases = 1 + (uint32_t)below(4);
    uint64_t from = request->from;
    SAY(switches(0, request->id));
    begin_phase(w, request);
    SAY(switches(0, LOOP));
    run_world(w, is_blocked);
    assert_true(request->done);
    struct weft_history *h = build(w->step, w->steps);
    int64_t origin = 0; /* of the model's times */
    uint32_t p = find(h, request->id);
    origin = (int64_t)from - h->m->promise[p].start_ns;
    assert_int_equal(weft_path_find(&path, h, p), 0);
    for (uint32_t i = 0; i < path.count; i++) {
        path.step[i].from_ns += origin;
        path.step[i].to_ns += origin;
        if (!is_true(w, h, &path.step[i]))
            print_error("style %d, seed %" PRIu64 ": step %u is not true\n", (int)style, seed, i);
        assert_true(is_true(w, h, &path.step[i]));
    }
    uint64_t whole = request->until - from, right = agreed(h, &path, request, from, request->until);
    if (whole - right > UNIT / 2)
        print_error("style %d, seed %" PRIu64 ": %" PRIu64 " ns of %" PRIu64 " are told wrongly\n",
                    (int)style, seed, whole - right, whole);
    assert_true(whole - right <= UNIT / 2);
    weft_path_fini(&path);
    drop(h);
    free(w->step);
    free(w);
}

TEST(known_paths)
{
    const char *more = getenv("WEFT_TEST_SEEDS"); /* by hand: thousands */
    for (uint64_t seed = 1; seed <= (more ? strtoull(more, NULL, 10) : 40); seed++)
        for (int style = 0; style < STYLES; style++)
            for (int is_blocked = 0; is_blocked < 2; is_blocked++)
                check_known((enum style)style, seed, is_blocked);
}

/* Each waits for the next one. Resolved from the end, or not. */
static struct weft_history *chain(uint64_t count, bool resolved)
{
    struct step *step = calloc(6 * count, sizeof *step);
    size_t n = 0;
    uint64_t now = 0;
    for (uint64_t i = 1; i <= count; i++) {
        step[n++] = EV(creates(now, i == 1 ? LOOP : i - 1, i, 0));
        step[n++] = EV(switches(++now, i));
        if (i < count)
            step[n++] = EV(try_read(++now, i, i + 1));
    }
    for (uint64_t i = count; resolved && i > 0; i--) {
        step[n++] = EV(fulfills(++now, i, i));
        if (i > 1)
            step[n++] = EV(reads(++now, i - 1, i));
    }
    step[n++] = EV(switches(now + 1000, LOOP));
    struct weft_history *h = build(step, n);
    free(step);
    return h;
}

TEST(long_chains)
{
    enum { LONG = 200000 };
    for (int resolved = 0; resolved < 2; resolved++) {
        struct weft_history *h = chain(LONG, resolved);
        struct weft_path path = {0};
        assert_int_equal(weft_path_find(&path, h, find(h, 1)), 0);
        assert_int_equal(path.step[0].from_ns, 0);
        assert_true(path.cut);
        assert_true(path.count <= WEFT_PATH_MAX);
        for (uint32_t i = 1; i < path.count; i++)
            assert_int_equal(path.step[i].from_ns, path.step[i - 1].to_ns);
        weft_path_fini(&path);
        drop(h);
    }
}

/* ---- Without memory ---- */

struct request {
    const struct weft_history *h;
    const struct analyse_families *families;
    uint32_t list[20];
};

static int find_all(struct request *r)
{
    struct weft_path path = {0};
    struct weft_story s;
    struct weft_crowd c;
    uint32_t count;
    int rc = weft_path_find(&path, r->h, r->list[0]);
    struct weft_share *share = rc == 0 ? weft_path_shares(&path, r->h->m, &count) : NULL;
    if (rc == 0 && !share)
        rc = WEFT_E_NOMEM;
    free(share);
    weft_path_fini(&path);
    if (rc == 0)
        rc = weft_story_find(&s, r->h, r->list[0]);
    if (rc == 0)
        rc = weft_crowd_find(&c, r->h, r->families, r->list, COUNT(r->list));
    if (rc == 0)
        weft_crowd_fini(&c);
    return rc;
}

/* Each allocation fails once: that is said, and nothing is leaked. */
TEST(without_memory)
{
    struct weft_history *h = chain(300, true);
    struct analyse_families families;
    struct request r = {.h = h, .families = &families};
    assert_int_equal(analyse_families_init(&families, h->m), 0);
    for (uint32_t i = 0; i < COUNT(r.list); i++)
        r.list[i] = find(h, 1 + 15 * i);
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc))
        rc = find_all(&r);
    assert_true(f.n > 20);
    analyse_families_fini(&families);
    drop(h);
}

RUN_TESTS(NULL, NULL)
