/* SPDX-License-Identifier: ISC */
/* What is found of loops that are not free: long runs, spins, and what is ready and does not run. */
#include <inttypes.h>

#include "allocations.h"
#include "analyse/finding.h"
#include "packets.h"
#include "rules.h"

#define MS(x) ((uint64_t)((x)*1e6))
#define US(x) ((uint64_t)((x)*1e3))

/* ---- Programs ---- */

struct program {
    struct trace t;
    uint32_t site, streams;
    uint64_t begin_ns; /* of the next stream */
    bool open;
};

static struct program begin_as(unsigned state)
{
    struct program p = {.t = {.fd = -1}};
    struct strings s = {.used = 0};
    p.site = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    facts_packet_with_pause(&p.t, (struct weft_facts_header){.state = state});
    strings_packet(&p.t, &s);
    return p;
}

static struct program begin(void)
{
    return begin_as(WEFT_TRACE_STOPPED);
}

static void put(struct program *p, struct weft_event ev)
{
    if (!p->open) {
        events_begin(&p->t, (struct weft_events_header){.stream = p->streams,
                                                        .sequence = p->streams + 1,
                                                        .begin_ticks = ev.time_ns});
        p->streams++;
        p->open = true;
    }
    events_put(&p->t, ev, p->site);
}

/* What follows is on another thread. */
static void next_stream(struct program *p)
{
    p->open = false;
}

static void task(struct program *p, uint64_t id, const char *name)
{
    put(p, creates(0, LOOP, id, 0));
    put(p, label(0, id, name));
}

/* The loop sleeps for a while. */
static void nap(struct program *p, uint64_t from, uint64_t to)
{
    put(p, suspends(from));
    put(p, resumes(to));
}

/* A task beats: every 5 ms from a time on it waits for a tick. Sleeps in between. Ticks are numbered from 1000 on. */
static uint64_t beats(struct program *p, uint64_t id, uint64_t from, unsigned count, uint64_t tick)
{
    for (unsigned i = 0; i < count; i++, from += MS(5)) {
        put(p, switches(from, id));
        put(p, creates(from, id, tick + i, 0));
        put(p, try_read(from, id, tick + i));
        put(p, switches(from + US(10), LOOP));
        nap(p, from + US(20), from + MS(5) - US(10));
        put(p, fulfills(from + MS(5) - US(5), LOOP, tick + i));
        put(p, reads(from + MS(5), id, tick + i));
    }
    return from;
}

/* ---- Findings ---- */

#define LOOPS                                                                                      \
    (1u << WEFT_FINDING_LOOP_BLOCKED | 1u << WEFT_FINDING_SLOW_WAKE | 1u << WEFT_FINDING_SPIN)

struct result {
    struct weft_model *m;
    struct weft_history *h;
    struct weft_findings found;
    struct analyse_blocked *blocked;
    uint32_t blockeds;
    bool failed;
};

static void search(struct result *r)
{
    struct weft_explain_options o = weft_explain_defaults(NULL);
    struct analyse_families f;
    assert_int_equal(analyse_families_init(&f, r->m), 0);
    struct analyse_search s = {.h = r->h, .m = r->m, .o = &o, .families = &f, .out = &r->found};
    analyse_search_run(&s, analyse_find_blocks);
    r->failed = s.failed;
    r->blocked = s.blocked;
    r->blockeds = s.blockeds;
    analyse_families_fini(&f);
}

static char *confidences(void *of)
{
    struct result r = {.m = ((struct result *)of)->m, .h = ((struct result *)of)->h};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    search(&r);
    for (uint32_t i = 0; i < r.found.count; i++)
        fprintf(out, "%d %d %u %s\n", r.found.finding[i].kind, r.found.finding[i].confidence,
                r.found.finding[i].promise,
                r.found.finding[i].doubt ? r.found.finding[i].doubt : "");
    fclose(out);
    weft_findings_fini(&r.found);
    free(r.blocked);
    return text;
}

/* Losing something lowers it. */
static struct result look_at(const char *scene, struct program *p, bool losing)
{
    struct result r = {.m = trace_model(&p->t)};
    r.m->losses.discarded = losing;
    assert_int_equal(weft_history_new(&r.h, r.m, NULL, NULL), 0);
    rules_change(LOOPS, scene, confidences, &r);
    search(&r);
    return r;
}

#define look(p) look_at(__func__, p, false)

static void leave(struct result *r)
{
    weft_findings_fini(&r->found);
    free(r->blocked);
    weft_history_free(r->h);
    weft_model_free(r->m);
}

/* All findings as lines: "confidence name (promise): text [doubt]". */
static void expect_in(const char *scene, struct program *p, const char *wanted)
{
    struct result r = look_at(scene, p, false);
    char found[8192] = "";
    size_t n = 0;
    assert_false(r.failed);
    for (uint32_t i = 0; i < r.found.count; i++) {
        const struct weft_finding *f = &r.found.finding[i];
        assert_non_null(f->text);
        assert_true(f->evidences > 0);
        for (uint32_t k = 1; k < f->evidences; k++)
            assert_true(f->evidence[k].time_ns >= f->evidence[k - 1].time_ns);
        n += (size_t)snprintf(found + n, sizeof found - n, "%s %s: %s%s%s%s\n",
                              weft_confidence_name(f->confidence), weft_finding_name(f->kind),
                              f->text, f->doubt ? " [" : "", f->doubt ? f->doubt : "",
                              f->doubt ? "]" : "");
    }
    for (uint32_t i = 0; i < r.blockeds; i++) {
        assert_true(r.blocked[i].from_ns < r.blocked[i].to_ns);
        assert_true(i == 0 || r.blocked[i - 1].to_ns <= r.blocked[i].from_ns);
        assert_in_range(r.blocked[i].finding, 0, r.found.count - 1);
    }
    expect_text(found, wanted);
    leave(&r);
}

#define expect(p, wanted) expect_in(__func__, p, wanted)

/* ---- Long runs ---- */

/* Task 1 beats, and task 2 runs for long while a tick is due. */
static struct program with_block(uint64_t length, unsigned times)
{
    struct program p = begin();
    task(&p, 1, "heartbeat");
    task(&p, 2, "render");
    uint64_t now = MS(1);
    for (unsigned i = 0; i < times; i++) {
        now = beats(&p, 1, now, 10, 1000 + 20 * i);
        put(&p, creates(now, 1, 1015 + 20 * i, 0));
        put(&p, try_read(now, 1, 1015 + 20 * i));
        put(&p, switches(now + US(10), 2));
        put(&p, switches(now + US(10) + length, LOOP));
        now += US(20) + length;
        put(&p, fulfills(now, LOOP, 1015 + 20 * i));
        put(&p, reads(now + US(5), 1, 1015 + 20 * i));
    }
    put(&p, switches(now + US(10), LOOP));
    nap(&p, now + US(20), now + MS(10));
    return p;
}

TEST(long_run_harms_who_is_due)
{
    struct program p = with_block(MS(230), 1);
    expect(
        &p,
        "certain loop-blocked: 'render' (task 2) ran for 230 ms without a break, from 51.01 ms on. "
        "Meanwhile 'heartbeat' could not run although it was its turn.\n");
    p = with_block(MS(40), 2);
    expect(
        &p,
        "likely loop-blocked: 'render' (task 2) ran for 40 ms without a break, from 51.01 ms on. "
        "Meanwhile 'heartbeat' could not run although it was its turn. 2 such runs took 80 ms in "
        "all.\n");
}

TEST(short_run_may_be_the_machine)
{
    struct program p = with_block(MS(15), 1);
    expect(
        &p,
        "possible loop-blocked: 'render' (task 2) ran for 15 ms without a break, from 51.01 ms on. "
        "Meanwhile 'heartbeat' could not run although it was its turn. "
        "[it happened once, and may be due to what else the machine had to do]\n");
    p = with_block(MS(9), 3);
    expect(&p, "");
    p = with_block(MS(15), 2);
    expect(
        &p,
        "possible loop-blocked: 'render' (task 2) ran for 15 ms without a break, from 51.01 ms on. "
        "Meanwhile 'heartbeat' could not run although it was its turn. 2 such runs took 30 ms in "
        "all. [it was not much longer than the limit, and may be due to what else the machine had "
        "to do]\n");
}

TEST(time_without_a_core_does_not_count)
{
    for (unsigned known = 0; known < 2; known++) {
        struct program p = begin();
        task(&p, 1, "heartbeat");
        task(&p, 2, "render");
        uint64_t now = beats(&p, 1, MS(1), 10, 1000);
        put(&p, creates(now, 1, 1015, 0));
        put(&p, try_read(now, 1, 1015));
        put(&p, switches(now + US(10), 2));
        put(&p, switches(now + MS(230), LOOP));
        now += MS(230) + US(10);
        put(&p, fulfills(now, LOOP, 1015));
        put(&p, reads(now + US(5), 1, 1015));
        put(&p, switches(now + US(10), LOOP));
        if (known)
            put(&p, preempted(now + US(20), MS(190)));
        nap(&p, now + US(20), now + MS(10));
        expect(
            &p,
            known ? "likely loop-blocked: 'render' (task 2) ran for 40 ms without a break, from "
                    "51.01 ms on; others had its core for another 190 ms. Meanwhile 'heartbeat' "
                    "could "
                    "not run although it was its turn.\n"
                  : "certain loop-blocked: 'render' (task 2) ran for 230 ms without a break, from "
                    "51.01 ms on. Meanwhile 'heartbeat' could not run although it was its turn.\n");
    }
}

TEST(collections_do_not_count)
{
    struct program p = begin();
    task(&p, 1, "a");
    task(&p, 2, "b");
    uint64_t now = beats(&p, 2, MS(1), 2, 1000);
    put(&p, switches(now, 1));
    put(&p, gc(now + MS(20), MS(15)));
    put(&p, switches(now + MS(21), LOOP));
    nap(&p, now + MS(22), now + MS(30));
    expect(&p, "");
}

/* What waits for something that is meant to be pending for long needs the loop only when that comes; and what is a background
 * itself may run as soon as it is over. */
TEST(who_waits_for_long_needs_no_loop)
{
    for (int marked = 0; marked < 4; marked++) {
        struct program p = begin();
        task(&p, 1, "watch");
        task(&p, 2, "pack");
        task(&p, 3, "stop");
        if (marked & 1)
            put(&p, background(0, 3));
        if (marked & 2)
            put(&p, background(0, 1));
        put(&p, switches(MS(1), 1));
        put(&p, try_read(MS(1), 1, 3));
        put(&p, switches(MS(1) + US(10), LOOP));
        nap(&p, MS(1) + US(20), MS(20));
        put(&p, switches(MS(20), 2));
        put(&p, fulfills(MS(220), 2, 2));
        put(&p, switches(MS(220) + US(10), LOOP));
        if (marked == 3) /* Eio's own fiber by which others wake a domain */
            put(&p, reads(MS(220) + US(11), 1, 3));
        put(&p, switches(MS(220) + US(12), LOOP));
        nap(&p, MS(221), MS(400));
        expect(&p, marked & 1
                       ? "possible loop-blocked: 'pack' (task 2) ran for 200 ms without a break, "
                         "from 20 ms on. [nobody needed the event loop meanwhile, as far as is "
                         "recorded]\n"
                       : "likely loop-blocked: 'pack' (task 2) ran for 200 ms without a break, "
                         "from 20 ms on. Meanwhile 'watch' was waiting.\n");
    }
}

/* The program did something else meanwhile, of which nothing is recorded. */
TEST(what_is_not_recorded_blocks_nobody)
{
    struct program p = with_block(MS(400), 1);
    facts_pause(&p.t, MS(60), MS(400));
    expect(&p, "");
    p = with_block(MS(400), 1);
    facts_pause(&p.t, MS(20), MS(30)); /* before that */
    struct result r = look(&p);
    assert_int_equal(r.found.count, 1);
    leave(&r);
}

TEST(waiting_ends_a_run_that_nobody_ends)
{
    struct program p = begin(); /* never says when nothing runs */
    task(&p, 1, "a");
    task(&p, 2, "b");
    task(&p, 3, "c");
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(2), 1, 3));
    put(&p, switches(MS(400), 2));
    put(&p, fulfills(MS(401), 2, 3));
    put(&p, try_read(MS(402), 2, 1));
    put(&p, reads(MS(403), 1, 3));
    put(&p, fulfills(MS(404), 1, 1));
    expect(&p, "");
}

/* It begins to wait for one thing, then for another; the first is there only after that, and it has never stopped. */
TEST(several_waits_within_a_run)
{
    struct program p = begin(); /* never says when nothing runs */
    task(&p, 1, "a");
    task(&p, 2, "b");
    for (uint64_t i = 3; i < 8; i++)
        task(&p, i, "c");
    put(&p, switches(US(500), 2));
    put(&p, try_read(US(600), 2, 7));
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(200), 1, 3));
    put(&p, try_read(MS(300), 1, 4));
    put(&p, try_read(MS(380), 1, 5));
    put(&p, switches(MS(400), 2));
    put(&p, reads(MS(400), 2, 7));
    put(&p, fulfills(MS(401), 2, 4));
    put(&p, fulfills(MS(402), 2, 5));
    put(&p, reads(MS(403), 1, 3));
    put(&p, fulfills(MS(404), 1, 1));
    next_stream(&p);
    put(&p, switches(MS(100), 6));
    put(&p, fulfills(MS(101), 6, 7));
    put(&p, fulfills(MS(350), 6, 3));
    expect(&p, "certain loop-blocked: 'a' (task 1) ran for 379 ms without a break, from 1 ms on. "
               "Meanwhile 'b' could not run although it was its turn.\n");
}

TEST(workers_may_be_busy)
{
    struct program p = begin();
    task(&p, 1, "heartbeat");
    task(&p, 2, "worker");
    task(&p, 3, "job");
    beats(&p, 1, MS(1), 60, 1000);
    next_stream(&p);
    put(&p, switches(MS(2), 2));
    put(&p, fulfills(MS(250), 2, 3));
    put(&p, fulfills(MS(250), 2, 2));
    expect(&p, "");
}

TEST(who_waits_for_the_work_is_served)
{
    struct program p = begin();
    task(&p, 1, "client");
    task(&p, 2, "answer");
    task(&p, 3, "compute");
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(1), 1, 2));
    put(&p, switches(MS(2), 2));
    put(&p, try_read(MS(2), 2, 3));
    put(&p, switches(MS(3), LOOP));
    nap(&p, MS(3), MS(10));
    put(&p, switches(MS(10), 3));
    put(&p, fulfills(MS(60), 3, 3));
    put(&p, reads(MS(60) + 1000, 2, 3));
    put(&p, fulfills(MS(60) + 2000, 2, 2));
    put(&p, reads(MS(60) + 3000, 1, 2));
    put(&p, switches(MS(60) + 4000, LOOP));
    nap(&p, MS(61), MS(70));
    expect(
        &p,
        "possible loop-blocked: 'compute' (task 3) ran for 50 ms without a break, from 10 ms on. "
        "[nobody needed the event loop meanwhile, as far as is recorded]\n");
}

TEST(never_yielding)
{
    for (unsigned killed = 0; killed < 2; killed++) {
        struct program p = begin_as(killed ? WEFT_TRACE_RECORDING : WEFT_TRACE_STOPPED);
        task(&p, 1, "heartbeat");
        task(&p, 2, "parse");
        task(&p, 3, "watchdog");
        uint64_t now = beats(&p, 1, MS(1), 4, 1000);
        put(&p, creates(now, 1, 1100, 0));
        put(&p, try_read(now, 1, 1100));
        put(&p, switches(now + US(10), 2));
        next_stream(&p);
        put(&p, switches(MS(2), 3));
        put(&p, fulfills(MS(3000), 3, 3));
        char wanted[400];
        snprintf(
            wanted, sizeof wanted,
            "%s loop-blocked: 'parse' (task 2) has run since 21.01 ms and has not given the event "
            "loop back when the trace ends, 2.98 s later: nothing else could run. Meanwhile "
            "'heartbeat' was waiting.\n",
            killed ? "certain" : "likely");
        expect(&p, wanted);
    }
}

/* 2 does not stop before the trace ends, after ms; 3 has run before, and 1 may wait for something. */
static struct program with_endless(unsigned state, unsigned ms, bool alone, bool needed, bool told)
{
    struct program p = begin_as(state);
    task(&p, 1, "heartbeat");
    task(&p, 2, "parse");
    task(&p, 3, "config");
    task(&p, 4, "watchdog");
    if (told)
        nap(&p, US(100), US(900));
    for (uint64_t i = 0; i < 3 && !alone; i++) { /* those that have run, and ended */
        task(&p, 10 + i, "step");
        put(&p, switches(MS(1) + i * US(10), 10 + i));
        put(&p, fulfills(MS(1) + i * US(10) + US(5), 10 + i, 10 + i));
    }
    if (needed) {
        put(&p, switches(MS(1.5), 1));
        put(&p, try_read(MS(1.6), 1, 3));
    }
    put(&p, switches(MS(2), 2));
    next_stream(&p);
    put(&p, switches(MS(2), 4));
    put(&p, fulfills(MS(2) + MS(ms), 4, 4));
    return p;
}

TEST(what_never_ends)
{
    static const struct {
        unsigned state, ms;
        bool alone, needed, told;
        const char *wanted;
    } of[] = {
        {WEFT_TRACE_RECORDING, 3000, true, false, true, "certain: -"},
        {WEFT_TRACE_RECORDING, 3000, false, false, true, "certain: -"},
        {WEFT_TRACE_STOPPED, 3000, true, false, true, ""},
        {WEFT_TRACE_STOPPED, 3000, false, false, true, "possible: the program may just"},
        {WEFT_TRACE_STOPPED, 3000, false, true, true, "likely: -"},
        {WEFT_TRACE_RECORDING, 3000, false, true, false, "likely: the trace does not say when"},
        {WEFT_TRACE_RECORDING, 3000, false, false, false, "possible: the trace does not say when"},
        {WEFT_TRACE_RECORDING, 50, false, true, true, "possible: the program may just"},
        {WEFT_TRACE_RECORDING, 200, false, true, true, "likely: -"},
    };
    for (unsigned i = 0; i < COUNT(of); i++) {
        struct program p =
            with_endless(of[i].state, of[i].ms, of[i].alone, of[i].needed, of[i].told);
        struct result r = look(&p);
        char found[300] = "";
        if (r.found.count)
            snprintf(found, sizeof found, "%s: %s",
                     weft_confidence_name(r.found.finding[0].confidence),
                     r.found.finding[0].doubt ? r.found.finding[0].doubt : "-");
        print_message("%u: %s\n", i, found);
        assert_in_range(r.found.count, 0, 1);
        assert_true(*of[i].wanted ? strncmp(found, of[i].wanted, strlen(of[i].wanted)) == 0
                                  : !*found);
        leave(&r);
    }
}

/* What runs last in a trace that ends with a kill, after a long sleep. */
TEST(what_the_trace_ends_with)
{
    struct program p = begin_as(WEFT_TRACE_KILLED);
    task(&p, 1, "parse");
    put(&p, switches(US(50), 1));
    put(&p, switches(US(60), LOOP));
    nap(&p, US(100), MS(100));
    put(&p, switches(MS(100), 1));
    expect(&p, "likely loop-blocked: 'parse' (task 1) began to run at 100 ms and never gave the "
               "event loop back: nothing more happened until the program was killed. [the trace "
               "ends with it: the program may also have crashed there]\n");
}

/* Nobody needs the loop; but what takes long here usually does not. */
TEST(far_longer_than_usual)
{
    for (int named = 0; named < 2; named++) { /* what has no label may be anything */
        struct program p = begin();
        for (unsigned i = 0; i < 8; i++)
            if (named)
                task(&p, 1 + i, "parse");
            else
                put(&p, creates(0, LOOP, 1 + i, 0));
        nap(&p, US(100), MS(1));
        uint64_t now = MS(1);
        for (unsigned i = 0; i < 8; i++, now += MS(60)) {
            put(&p, switches(now, 1 + i));
            put(&p, fulfills(now + (i == 4 ? MS(50) : MS(1)), 1 + i, 1 + i));
            put(&p, switches(now + (i == 4 ? MS(50) : MS(1)) + US(1), LOOP));
            nap(&p, now + MS(i == 4 ? 51 : 2), now + MS(59));
        }
        expect(&p, named ? "likely loop-blocked: 'parse' (task 5) ran for 50 ms without a break, "
                           "from 241 ms on. Usually such a run takes 1 ms.\n"
                         : "possible loop-blocked: task 5 ran for 50 ms without a break, from 241 "
                           "ms on. [nobody needed the event loop meanwhile, as far as is "
                           "recorded]\n");
    }
}

TEST(starting_is_no_fault)
{
    struct program p = begin();
    task(&p, 1, "heartbeat");
    put(&p, try_read(MS(1), 1, 1));
    beats(&p, 1, MS(300), 5, 1000);
    expect(&p, "");
}

/* Task 1 waits, and task 2 runs; what 1 waits for comes long after. Then the same again. */
static struct program with_waiter(uint64_t length, unsigned quick, uint64_t takes,
                                  bool is_background)
{
    struct program p = begin();
    task(&p, 1, "heartbeat");
    task(&p, 2, "pack");
    if (is_background)
        put(&p, background(0, 1));
    uint64_t now = MS(1);
    nap(&p, US(100), MS(1));
    for (unsigned i = 0; i <= quick; i++, now += MS(30)) {
        put(&p, switches(now, 1));
        put(&p, creates(now, 1, 100 + i, 0));
        put(&p, try_read(now, 1, 100 + i));
        put(&p, switches(now + US(10), 2));
        now += i ? takes : length;
        put(&p, switches(now + US(20), LOOP));
        nap(&p, now + US(30), now + MS(20));
        put(&p, fulfills(now + MS(20), LOOP, 100 + i));
        put(&p, reads(now + MS(20), 1, 100 + i));
        put(&p, switches(now + MS(20) + US(10), LOOP));
        nap(&p, now + MS(21), now + MS(29));
    }
    return p;
}

TEST(who_waits_meanwhile_counts)
{
    for (unsigned i = 0; i < 2; i++) {
        struct program p = with_waiter(MS(30), 0, 0, i);
        expect(&p,
               "likely loop-blocked: 'pack' (task 2) ran for 30 ms without a break, from 1.01 ms "
               "on. Meanwhile 'heartbeat' was waiting.\n");
    }
    struct program p = with_waiter(MS(19), 0, 0, false);
    expect(&p,
           "possible loop-blocked: 'pack' (task 2) ran for 19 ms without a break, from 1.01 ms on. "
           "Meanwhile 'heartbeat' was waiting. [it happened once, and may be due to what else the "
           "machine had to do]\n");
    for (unsigned i = 0; i < 2; i++) { /* others of it take 1 ms, or 4 ms */
        p = with_waiter(MS(25), 6, i ? MS(4) : MS(1), false);
        struct result r = look(&p);
        assert_int_equal(r.found.count, 1);
        assert_int_equal(r.found.finding[0].confidence, i ? WEFT_POSSIBLE : WEFT_LIKELY);
        leave(&r);
    }
    p = with_waiter(MS(39), 40, MS(1), false);
    expect(
        &p,
        "possible loop-blocked: 'pack' (task 2) ran for 39 ms without a break, from 1.01 ms on. "
        "Meanwhile 'heartbeat' was waiting. [nearly all other runs of it are short, so that it may "
        "be due to what else the machine had to do]\n");
}

/* What harms somebody is told first, however long others run. */
TEST(who_harms_comes_first)
{
    struct program p = begin();
    task(&p, 1, "heartbeat");
    task(&p, 2, "render");
    task(&p, 3, "alone");
    uint64_t now = beats(&p, 1, MS(1), 10, 1000);
    put(&p, creates(now, 1, 1015, 0));
    put(&p, try_read(now, 1, 1015));
    put(&p, switches(now + US(10), 2));
    put(&p, switches(now + MS(40), LOOP));
    now += MS(41);
    put(&p, fulfills(now, LOOP, 1015));
    put(&p, reads(now + US(5), 1, 1015));
    put(&p, switches(now + US(10), LOOP));
    nap(&p, now + US(20), now + MS(9));
    now += MS(10);
    put(&p, switches(now, 3));
    put(&p, switches(now + MS(60), LOOP));
    nap(&p, now + MS(61), now + MS(90));
    expect(&p,
           "likely loop-blocked: 'render' (task 2) ran for 40 ms without a break, from 51.01 ms "
           "on. Meanwhile 'heartbeat' could not run although it was its turn.\n"
           "possible loop-blocked: 'alone' (task 3) ran for 60 ms without a break, from 102 ms on. "
           "[nobody needed the event loop meanwhile, as far as is recorded]\n");
}

/* Requests come every 10 ms. Each takes that long; the sixth holds up the loop. */
static struct program with_requests(uint64_t length, bool due)
{
    struct program p = begin();
    uint64_t now = MS(1);
    nap(&p, US(100), MS(1));
    for (unsigned i = 0; i < 12; i++) {
        uint64_t id = 10 + i, takes = i == 6 ? length : US(500);
        put(&p, creates(now, LOOP, id, 0));
        put(&p, label(now, id, i == 6 ? "big" : "request"));
        put(&p, switches(now, id));
        now += takes;
        put(&p, fulfills(now, id, id));
        put(&p, switches(now + US(1), LOOP));
        if (i == 6 && due) {
            now += US(5);
            continue;
        }
        nap(&p, now + US(5), now + MS(9));
        now += MS(9) + US(2);
    }
    return p;
}

TEST(what_comes_at_once_was_due)
{
    struct program p = with_requests(MS(30), true);
    expect(&p, "likely loop-blocked: 'big' (task 16) ran for 30 ms without a break, from 57.912 ms "
               "on. As soon as it was over, 'request' came, as if it had been due before.\n");
    p = with_requests(MS(30), false);
    expect(&p,
           "possible loop-blocked: 'big' (task 16) ran for 30 ms without a break, from 57.912 ms "
           "on. [nobody needed the event loop meanwhile, as far as is recorded]\n");
}

/* A thread of its own runs a job, and then goes on itself. */
TEST(who_began_it_goes_on)
{
    struct program p = begin();
    task(&p, 1, "worker");
    task(&p, 2, "work");
    task(&p, 3, "job");
    put(&p, switches(MS(1), 1));
    for (unsigned i = 0; i < 3; i++) {
        put(&p, try_read(MS(2 + 60 * i), 1, 2));
        put(&p, switches(MS(2 + 60 * i), LOOP));
        nap(&p, MS(3 + 60 * i), MS(9 + 60 * i));
        put(&p, signals(MS(9 + 60 * i), 1, 2));
        put(&p, switches(MS(9 + 60 * i) + 100, 3));
        put(&p, switches(MS(59 + 60 * i), 1));
    }
    put(&p, switches(MS(180), LOOP));
    expect(&p,
           "possible loop-blocked: 'job' (task 3) ran for 50 ms without a break, from 9 ms on. 3 "
           "such runs took 150 ms in all. [nobody needed the event loop meanwhile, as "
           "far as is recorded]\n");
}

/* ---- Spins ---- */

/* x yields again and again, for work of that length each; says what else it does. */
static struct program with_yields(unsigned count, uint64_t each, uint64_t counts, bool from_outside)
{
    struct program p = begin();
    task(&p, 1, "x");
    task(&p, 2, "y");
    uint64_t now = MS(1);
    nap(&p, US(100), US(900));
    put(&p, switches(now, 1));
    for (unsigned i = 0; i < count; i++, now += each) {
        if (from_outside && i + 1 == count) { /* what x looks for */
            put(&p, switches(now + each - US(0.5), 2));
            put(&p, fulfills(now + each - US(0.4), 2, 2));
        }
        put(&p, creates(now, 1, 1000 + i, 0));
        put(&p, fulfills(now, 1, 1000 + i));
        put(&p, try_read(now + US(0.1), 1, 1000 + i));
        if (counts && i % counts == 0)
            put(&p, increases(now + US(0.2), 1, 1, "done"));
        put(&p, switches(now + each - US(0.2), LOOP));
        put(&p, reads(now + each, 1, 1000 + i));
    }
    put(&p, fulfills(now, 1, 1));
    put(&p, switches(now + US(1), LOOP));
    nap(&p, now + US(2), now + MS(50));
    return p;
}

TEST(spin_by_itself)
{
    struct program p = with_yields(2000, US(5), 0, false);
    expect(&p, "likely spin: 'x' (task 1) ran 2,000 times within 10 ms, from 1.005 ms on, "
               "each time woken by itself, "
               "and, as far as is recorded, did nothing for anybody else.\n");
    p = with_yields(100, US(50), 0, true);
    expect(&p, "likely spin: 'x' (task 1) ran 100 times within 4.95 ms, from 1.05 ms on, "
               "each time woken by itself, "
               "without getting anywhere, until something else happened.\n");
}

TEST(short_spins)
{
    struct program p = with_yields(300, US(1), 0, false); /* not even a millisecond */
    expect(&p, "likely spin: 'x' (task 1) ran 300 times within 299 µs, from 1.001 ms on, each time "
               "woken by itself, and, as far as is recorded, did nothing for anybody else.\n");
    p = with_yields(600, US(50), 0, false);
    expect(&p, "likely spin: 'x' (task 1) ran 600 times within 30 ms, from 1.05 ms on, each time "
               "woken by itself, and, as far as is recorded, did nothing for anybody else.\n");
    p = with_yields(60, US(1), 0, false);
    expect(&p, "");
}

/* Whether that is found, and more than possible. */
static bool is_likely_in(const char *scene, struct program *p, enum weft_finding_kind kind)
{
    struct result r = look_at(scene, p, false);
    bool likely = false;
    for (uint32_t i = 0; i < r.found.count; i++)
        likely |= r.found.finding[i].kind == kind && r.found.finding[i].confidence > WEFT_POSSIBLE;
    leave(&r);
    return likely;
}

#define is_likely(p, kind) is_likely_in(__func__, p, kind)

/* On a busy machine: others have the core for a while, every so many turns, in another place each time. */
static uint64_t kept_off(unsigned turn, unsigned every, unsigned place)
{
    return every && turn % every == every - 1 && turn / every % 2 == place ? MS(12) : 0;
}

/* Two tasks wake each other with conditions, one of them first. Every so often, one of them makes something, which says so;
 * or others have the core. */
static struct program exchange_from(unsigned first, unsigned count, uint64_t each, unsigned makes,
                                    unsigned busy)
{
    struct program p = begin();
    task(&p, 1, "left");
    task(&p, 2, "right");
    task(&p, 3, "left has it");
    task(&p, 4, "right has it");
    task(&p, 5, "customer");
    put(&p, try_read(US(50), 1, 3));
    put(&p, try_read(US(50), 2, 4));
    nap(&p, US(100), MS(1));
    uint64_t now = MS(1);
    for (unsigned i = 0; i < count; i++, now += each) {
        uint64_t self = 1 + (first - 1 + i) % 2, other = 3 - self;
        if (i)
            put(&p, signals(now, self, 2 + self));
        else
            put(&p, switches(now, self));
        if (makes && i % makes == 0) {
            put(&p, creates(now, LOOP, 1000 + i, 0));
            put(&p, try_read(now, 5, 1000 + i));
            put(&p, fulfills(now, self, 1000 + i));
        }
        now += kept_off(i, busy, 0);
        put(&p, notifies(now + each / 2, self, 2 + other));
        put(&p, try_read(now + each / 2, self, 2 + self));
        put(&p, switches(now + each - US(0.1), LOOP));
        now += kept_off(i, busy, 1);
    }
    nap(&p, now, now + MS(20));
    return p;
}

static struct program exchange(unsigned count, uint64_t each, unsigned makes, unsigned busy)
{
    return exchange_from(1, count, each, makes, busy);
}

static struct program with_exchange(unsigned count, uint64_t each, unsigned makes)
{
    return exchange(count, each, makes, 0);
}

TEST(exchange_of_wakes)
{
    struct program p = with_exchange(4000, US(2), 0);
    expect(&p,
           "likely spin: 'left' (task 1) and 'right' (task 2) ran 3,999 times within 8 ms, from "
           "1.002 ms on, waking each other all the time, and, as far as is recorded, did nothing "
           "for anybody else.\n");
    p = exchange_from(2, 4000, US(2), 0, 0);
    expect(&p,
           "likely spin: 'left' (task 1) and 'right' (task 2) ran 3,999 times within 8 ms, from "
           "1.002 ms on, waking each other all the time, and, as far as is recorded, did nothing "
           "for anybody else.\n");
    p = with_exchange(900, US(2), 0);
    expect(&p, "");
    p = with_exchange(4000, US(60), 0); /* work */
    expect(&p, "possible spin: 'left' (task 1) and 'right' (task 2) ran 3,999 times within 240 ms, "
               "from 1.06 ms on, waking each other all the time, and, as far as is recorded, did "
               "nothing for anybody else. [it may do its work in many small pieces]\n");
    p = with_exchange(4000, US(2), 10); /* somebody has use of it */
    struct result r = look(&p);
    for (uint32_t i = 0; i < r.found.count; i++)
        assert_int_equal(r.found.finding[i].confidence, WEFT_POSSIBLE);
    leave(&r);
}

/* A socket that is always ready wakes x. The loop says when it sleeps, or only that x does not run. */
static struct program with_ready_socket(unsigned count, unsigned busy, bool sleeps)
{
    struct program p = begin();
    task(&p, 1, "x");
    uint64_t now = MS(1);
    if (sleeps)
        nap(&p, US(100), now);
    put(&p, switches(now, 1));
    for (unsigned i = 0; i < count; i++, now += US(2)) {
        put(&p, creates(now, 1, 1000 + i, 0));
        put(&p, try_read(now, 1, 1000 + i));
        now += kept_off(i, busy, 0);
        put(&p, switches(now + US(0.5), LOOP));
        now += kept_off(i, busy, 1);
        put(&p, fulfills(now + US(1.8), LOOP, 1000 + i));
        put(&p, reads(now + US(2), 1, 1000 + i));
    }
    put(&p, fulfills(now, 1, 1));
    put(&p, switches(now + US(1), LOOP));
    return p;
}

TEST(spins_on_a_busy_machine)
{
    struct program p = exchange(4000, US(2), 0, 1500);
    assert_true(is_likely(&p, WEFT_FINDING_SPIN));
    p = exchange(4000, US(2), 0, 200); /* too often: it works */
    assert_false(is_likely(&p, WEFT_FINDING_SPIN));
    p = with_ready_socket(12000, 1500, true);
    assert_true(is_likely(&p, WEFT_FINDING_SPIN));
    p = with_ready_socket(12000, 1500, false); /* it may have slept in between */
    assert_false(is_likely(&p, WEFT_FINDING_SPIN));
}

TEST(pieces_of_work_are_no_spin)
{
    struct program p = with_yields(40, MS(1), 0, false);
    expect(&p, "");
    p = with_yields(100, US(50), 0, false);
    expect(&p, "possible spin: 'x' (task 1) ran 100 times within 4.95 ms, from 1.05 ms on, "
               "each time woken by itself, "
               "and, as far as is recorded, did nothing for anybody else. [it may do its work in "
               "many small "
               "pieces]\n");
    p = with_yields(2000, US(5), 5, false);
    expect(&p, "possible spin: 'x' (task 1) ran 2,000 times within 10 ms, from 1.005 ms on, "
               "each time woken by itself, "
               "and, as far as is recorded, did nothing for anybody else. [it may get on with "
               "something in "
               "between]\n");
}

/* A loop that sleeps for a moment each time, and works. */
TEST(spins_with_naps)
{
    for (unsigned busy = 0; busy < 2; busy++) {
        struct program p = begin();
        task(&p, 1, "x");
        nap(&p, US(100), MS(1));
        put(&p, switches(MS(1), 1));
        uint64_t now = MS(1), runs = busy ? US(90) : US(15);
        for (unsigned i = 0; i < 1500; i++, now += US(160)) {
            put(&p, creates(now, 1, 1000 + i, 0));
            put(&p, try_read(now, 1, 1000 + i));
            put(&p, switches(now + runs, LOOP));
            nap(&p, now + runs + US(1), now + US(155));
            put(&p, fulfills(now + US(157), LOOP, 1000 + i));
            put(&p, reads(now + US(160), 1, 1000 + i));
        }
        put(&p, fulfills(now, 1, 1));
        put(&p, switches(now + US(1), LOOP));
        assert_int_equal(is_likely(&p, WEFT_FINDING_SPIN), busy);
    }
}

/* It sleeps for so long after each run. */
static struct program with_naps_of(uint64_t ns)
{
    struct program p = begin();
    uint64_t now = MS(1);
    task(&p, 1, "x");
    nap(&p, US(100), MS(1));
    put(&p, switches(MS(1), 1));
    for (unsigned i = 0; i < 1000; i++) {
        put(&p, creates(now, 1, 1000 + i, 0));
        put(&p, try_read(now, 1, 1000 + i));
        put(&p, switches(now + US(15), LOOP));
        nap(&p, now + US(16), now + US(16) + ns);
        now += US(18) + ns;
        put(&p, fulfills(now - US(1), LOOP, 1000 + i));
        put(&p, reads(now, 1, 1000 + i));
    }
    put(&p, fulfills(now, 1, 1));
    put(&p, switches(now + US(1), LOOP));
    return p;
}

/* Idle times that last 20 us on average, without the last one, are no sleep yet. */
TEST(naps_of_20_us)
{
    static const uint64_t naps[] = {19999, 20000, 20021, 20022};
    for (unsigned i = 0; i < COUNT(naps); i++) {
        struct program p = with_naps_of(naps[i]);
        char wanted[400];
        snprintf(wanted, sizeof wanted,
                 "possible spin: 'x' (task 1) ran 1,000 times within 38 ms, from 1.03%c ms on, %s, "
                 "and, as far as is recorded, did nothing for anybody else. [%s]\n",
                 i ? '8' : '7',
                 i < 3 ? "again and again without a pause" : "each time after a short sleep",
                 i < 3 ? "it may do its work in many small pieces"
                       : "it asks again and again, but sleeps in between");
        expect(&p, wanted);
    }
}

/* It is still there when the trace ends, and nobody else did anything for 100 ms. */
TEST(spin_for_ever)
{
    for (unsigned lost = 0; lost < 2; lost++) {
        struct program p = begin_as(WEFT_TRACE_RECORDING);
        task(&p, 1, "x");
        nap(&p, US(100), US(900));
        put(&p, switches(MS(1), 1));
        for (unsigned i = 0; i < 3000; i++) {
            put(&p, creates(MS(1) + i * US(50), 1, 1000 + i, 0));
            put(&p, fulfills(MS(1) + i * US(50), 1, 1000 + i));
            put(&p, try_read(MS(1) + i * US(50), 1, 1000 + i));
            put(&p, switches(MS(1) + i * US(50) + US(49), LOOP));
            put(&p, reads(MS(1) + i * US(50) + US(50), 1, 1000 + i));
        }
        struct result r = look_at(__func__, &p, lost);
        assert_int_equal(r.found.count, 1);
        assert_int_equal(r.found.finding[0].confidence, lost ? WEFT_LIKELY : WEFT_CERTAIN);
        leave(&r);
    }
}

TEST(spin_without_wakes)
{
    for (unsigned shown = 0; shown < 2; shown++) { /* the loop in between */
        struct program p = begin();
        task(&p, 1, "x");
        nap(&p, US(100), MS(1));
        for (unsigned i = 0; i < 6000; i++) {
            put(&p, switches(MS(1) + i * US(2), 1));
            if (shown)
                put(&p, switches(MS(1) + i * US(2) + US(1.5), LOOP));
        }
        put(&p, switches(MS(13), LOOP));
        nap(&p, MS(13), MS(30));
        struct result r = look(&p);
        assert_int_equal(r.found.count, 1);
        const struct weft_finding *f = &r.found.finding[0];
        assert_string_equal(weft_finding_name(f->kind), "spin");
        assert_int_equal(f->confidence, WEFT_LIKELY);
        leave(&r);
    }
}

/* Every so many times, the loop looks for news in between. */
static struct program with_looks(unsigned every)
{
    struct program p = begin_as(WEFT_TRACE_RECORDING);
    task(&p, 1, "x");
    nap(&p, US(100), US(900));
    for (unsigned i = 0; i < 6000; i++) {
        const uint64_t now = MS(1) + i * US(20);
        put(&p, switches(now, 1));
        put(&p, switches(now + US(15), LOOP));
        if (i % every == 0)
            nap(&p, now + US(16), now + US(17));
    }
    return p;
}

/* If it does so often, what runs may be what came from outside each time. */
TEST(spin_that_asks_in_between)
{
    struct program p = with_looks(20);
    assert_true(is_likely(&p, WEFT_FINDING_SPIN));
    p = with_looks(5);
    assert_false(is_likely(&p, WEFT_FINDING_SPIN));
}

/* First one promise, with another run in between, then another one. */
TEST(spins_without_wakes)
{
    struct program p = begin();
    task(&p, 1, "x");
    task(&p, 2, "y");
    nap(&p, US(100), MS(1));
    for (unsigned i = 0; i < 1800; i++) {
        put(&p, switches(MS(1) + i * US(2), 1));
        if (i == 600)
            put(&p, switches(MS(1) + i * US(2) + US(1), LOOP));
    }
    put(&p, switches(MS(5), LOOP));
    nap(&p, MS(5), MS(6));
    for (unsigned i = 0; i < 1500; i++)
        put(&p, switches(MS(6) + i * US(2), 2));
    put(&p, switches(MS(9), LOOP));
    nap(&p, MS(9), MS(30));
    expect(&p,
           "likely spin: 'x' (task 1) ran 1,798 times within 4 ms, from 1 ms on, again and again "
           "without a pause, and, as far as is recorded, did nothing for anybody else.\n"
           "likely spin: 'y' (task 2) ran 1,499 times within 3 ms, from 6 ms on, again and again "
           "without a pause, and, as far as is recorded, did nothing for anybody else.\n");
}

TEST(handing_on_is_no_spin)
{
    struct program p = begin();
    task(&p, 1, "producer");
    task(&p, 2, "consumer");
    nap(&p, US(100), MS(1));
    uint64_t now = MS(1);
    for (unsigned i = 0; i < 3000; i++, now += US(4)) {
        uint64_t item = 1000 + 2 * i, turn = item + 1;
        put(&p, creates(now, 2, item, 0));
        put(&p, try_read(now, 2, item));
        put(&p, switches(now + US(1), 1));
        put(&p, fulfills(now + US(1), 1, item));
        put(&p, creates(now + US(1), 1, turn, 0));
        put(&p, fulfills(now + US(1), 1, turn));
        put(&p, try_read(now + US(1), 1, turn));
        put(&p, reads(now + US(2), 2, item));
        put(&p, reads(now + US(3), 1, turn));
        put(&p, switches(now + US(3.5), 2));
    }
    put(&p, switches(now, LOOP));
    nap(&p, now, now + MS(20));
    expect(&p, "");
}

/* ---- Ready, and not run ---- */

/* Another thread resolves what main waits for, at 20 ms; the loop wakes up then, or later. */
static struct program with_worker(uint64_t wakes)
{
    struct program p = begin();
    task(&p, 1, "main");
    task(&p, 2, "picture");
    task(&p, 3, "worker");
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(2), 1, 2));
    put(&p, switches(MS(2), LOOP));
    nap(&p, MS(2), wakes);
    put(&p, reads(wakes, 1, 2));
    put(&p, fulfills(wakes + US(10), 1, 1));
    nap(&p, wakes + US(20), wakes + MS(1));
    next_stream(&p);
    put(&p, switches(MS(2), 3));
    put(&p, fulfills(MS(20), 3, 2));
    put(&p, fulfills(MS(20), 3, 3));
    return p;
}

TEST(asleep_though_something_is_ready)
{
    struct program p = with_worker(MS(21));
    expect(&p, "");
    p = with_worker(MS(35)); /* it may have been told, and got no core */
    assert_false(is_likely(&p, WEFT_FINDING_SLOW_WAKE));
    p = with_worker(MS(150));
    expect(&p,
           "likely slow-wake: 'main' (task 1) went on only 130 ms after 'picture', for which it "
           "waited, was fulfilled at 20 ms by another thread: the event loop slept for 130 ms "
           "meanwhile, as if nobody had told it.\n");
}

/* The result is there before anybody waits. */
TEST(there_before_the_wait)
{
    struct program p = begin();
    task(&p, 1, "main");
    task(&p, 2, "picture");
    task(&p, 3, "worker");
    nap(&p, US(100), MS(30));
    put(&p, switches(MS(30), 1));
    put(&p, try_read(MS(30), 1, 2));
    put(&p, switches(MS(30) + US(10), LOOP));
    nap(&p, MS(31), MS(150));
    put(&p, reads(MS(150), 1, 2));
    put(&p, fulfills(MS(150) + US(10), 1, 1));
    put(&p, switches(MS(151), LOOP));
    next_stream(&p);
    put(&p, switches(MS(2), 3));
    put(&p, fulfills(MS(20), 3, 2));
    put(&p, fulfills(MS(20), 3, 3));
    expect(&p, "possible slow-wake: 'main' (task 1) went on only 120 ms after it began to wait for "
               "'picture', which was there already, at 30.01 ms by another thread: the event loop "
               "slept for 119 ms meanwhile, as if nobody had told it. [it was there already when "
               "the wait began]\n");
}

/* Something is ready at 10 ms. Then 100 others run for a while, which are ready before or afterwards. */
static struct program with_queue(bool later, uint64_t each)
{
    struct program p = begin();
    task(&p, 1, "main");
    task(&p, 2, "reply");
    for (unsigned i = 0; i < 100; i++) {
        task(&p, 100 + i, "chunk");
        put(&p, creates(0, LOOP, 300 + i, 0));
        put(&p, try_read(0, 100 + i, 300 + i));
    }
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(1), 1, 2));
    put(&p, switches(MS(2), LOOP));
    nap(&p, MS(2), MS(9));
    for (unsigned i = 0; i < 100 && !later; i++)
        put(&p, fulfills(MS(9), LOOP, 300 + i));
    put(&p, fulfills(MS(10), LOOP, 2));
    for (unsigned i = 0; i < 100; i++) {
        if (later)
            put(&p, fulfills(MS(10 + i), LOOP, 300 + i));
        put(&p, reads(MS(10 + i) + US(10), 100 + i, 300 + i));
        put(&p, fulfills(MS(10 + i) + US(10) + each, 100 + i, 100 + i));
        if (each < US(980))
            put(&p, switches(MS(10 + i) + US(10) + each, LOOP));
    }
    put(&p, reads(MS(110), 1, 2));
    put(&p, switches(MS(111), LOOP));
    nap(&p, MS(111), MS(120));
    return p;
}

TEST(others_come_first)
{
    struct program p = with_queue(true, US(980));
    expect(&p, "likely slow-wake: 'main' (task 1) went on only 100 ms after 'reply', for which it "
               "waited, was "
               "fulfilled at 10 ms: 99 runs that became ready later came first, most of the time "
               "'chunk'.\n");
}

TEST(too_much_to_do)
{
    struct program p = with_queue(false, US(980));
    expect(&p,
           "likely loop-blocked: The event loop had no pause for 102 ms, from 9 ms on: 101 "
           "runs came one after "
           "another; those of 'chunk' took 98 ms. 'chunk' (task 199) was ready for 100 ms before "
           "it could run.\n");
}

/* Those of one kind take half of the turn: that is most of it. Or nearly half. */
TEST(half_of_a_turn)
{
    for (unsigned nearly = 0; nearly < 2; nearly++) {
        struct program p = with_queue(false, US(510 - nearly));
        char wanted[400];
        snprintf(wanted, sizeof wanted,
                 "%s loop-blocked: The event loop had no pause for 102 ms, from 9 ms on: 101 runs "
                 "came one after another%s. 'chunk' (task 199) was ready for 100 ms before it "
                 "could run.%s\n",
                 nearly ? "possible" : "likely", nearly ? "" : "; those of 'chunk' took 51 ms",
                 nearly ? " [there may simply have been much to do]" : "");
        expect(&p, wanted);
    }
}

TEST(waiting_for_several_is_not_slow)
{
    struct program p = begin();
    task(&p, 1, "main");
    task(&p, 2, "first");
    task(&p, 3, "second");
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(1), 1, 2));
    put(&p, try_read(MS(1), 1, 3));
    put(&p, switches(MS(2), LOOP));
    nap(&p, MS(2), MS(10));
    put(&p, fulfills(MS(10), LOOP, 2));
    nap(&p, MS(11), MS(99));
    put(&p, fulfills(MS(99), LOOP, 3));
    put(&p, reads(MS(100), 1, 2));
    put(&p, reads(MS(100), 1, 3));
    put(&p, switches(MS(101), LOOP));
    nap(&p, MS(101), MS(110));
    expect(&p, "");
}

/* 'reply' is there at 10 ms; then others of another sort run which were ready before. On a busy machine some of them take
 * long. */
static struct program with_others_busy(unsigned count, const char *name, unsigned longs)
{
    struct program p = begin();
    task(&p, 1, name);
    task(&p, 2, "reply");
    for (unsigned i = 0; i < count; i++) {
        task(&p, 100 + i, "thumb");
        put(&p, creates(0, LOOP, 300 + i, 0));
        put(&p, try_read(0, 100 + i, 300 + i));
    }
    put(&p, switches(MS(1), 1));
    put(&p, try_read(MS(1), 1, 2));
    put(&p, switches(MS(2), LOOP));
    nap(&p, MS(2), MS(10));
    for (unsigned i = 0; i < count; i++)
        put(&p, fulfills(MS(10), LOOP, 300 + i));
    put(&p, fulfills(MS(10), LOOP, 2));
    uint64_t now = MS(10);
    for (unsigned i = 0; i < count; i++) {
        put(&p, reads(now + US(10), 100 + i, 300 + i));
        now += MS(i < longs ? 11 + i : 3);
        put(&p, fulfills(now - US(10), 100 + i, 100 + i));
    }
    put(&p, reads(now, 1, 2));
    put(&p, switches(now + MS(1), LOOP));
    nap(&p, now + MS(1), now + MS(9));
    return p;
}

static struct program with_others(unsigned count, const char *name)
{
    return with_others_busy(count, name, 0);
}

TEST(behind_what_was_earlier)
{
    struct program p = with_others(11, "checkout");
    expect(&p,
           "likely slow-wake: 'checkout' (task 1) went on only 33 ms after 'reply', for which it "
           "waited, was fulfilled at 10 ms: 11 other runs came first, most of the time "
           "'thumb'.\n");
    p = with_others(4, "checkout");
    expect(&p,
           "possible slow-wake: 'checkout' (task 1) went on only 12 ms after 'reply', for which "
           "it waited, was fulfilled at 10 ms: 4 other runs came first, most of the time "
           "'thumb'. [it was not much longer than the limit]\n");
    p = with_others(11, "thumb"); /* of the same sort: there is much to do */
    expect(&p, "");
}

TEST(behind_others_on_a_busy_machine)
{
    static const struct {
        unsigned count, longs;
        bool likely;
    } tries[] = {{11, 6, true}, {6, 2, false}, {6, 5, false}};
    for (unsigned i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct program p = with_others_busy(tries[i].count, "checkout", tries[i].longs);
        assert_int_equal(is_likely(&p, WEFT_FINDING_SLOW_WAKE), tries[i].likely);
    }
}

TEST(asleep_for_a_short_time)
{
    struct program p = begin();
    task(&p, 1, "main");
    task(&p, 2, "worker");
    for (unsigned i = 0; i < 10; i++) { /* once, the loop sleeps for longer */
        uint64_t at = MS(1 + 60 * i), late = i == 5 ? MS(40) : US(50);
        put(&p, switches(at, 1));
        put(&p, creates(at, 1, 10 + i, 0));
        put(&p, try_read(at, 1, 10 + i));
        put(&p, switches(at + US(10), LOOP));
        nap(&p, at + US(20), at + MS(10) + late);
        put(&p, reads(at + MS(10) + late, 1, 10 + i));
        put(&p, switches(at + MS(10) + late + US(10), LOOP));
        nap(&p, at + MS(10) + late + US(20), at + MS(60) - US(1));
    }
    next_stream(&p);
    for (unsigned i = 0; i < 10; i++) {
        put(&p, switches(MS(2 + 60 * i), 2));
        put(&p, fulfills(MS(11 + 60 * i), 2, 10 + i));
        put(&p, switches(MS(11 + 60 * i) + US(10), LOOP));
    }
    expect(&p,
           "possible slow-wake: 'main' (task 1) went on only 40 ms after task 15, for which it "
           "waited, was fulfilled at 311 ms by another thread: the event loop slept for 40 ms "
           "meanwhile, as if nobody had told it. [it hardly ever happened, and may be due to other "
           "load on the machine]\n");
}

/* 40 rows of 2 ms each; what the sessions wait for comes only then. */
static struct program with_sessions(unsigned sessions)
{
    struct program p = begin();
    task(&p, 1, "import");
    for (unsigned i = 0; i < sessions; i++) {
        task(&p, 10 + i, "session");
        put(&p, creates(0, LOOP, 20 + i, 0));
        put(&p, switches(US(10), 10 + i));
        put(&p, try_read(US(10), 10 + i, 20 + i));
    }
    for (unsigned i = 0; i < 40; i++)
        task(&p, 100 + i, "row");
    put(&p, switches(US(20), 1));
    put(&p, try_read(US(20), 1, 2));
    put(&p, switches(US(20), LOOP));
    nap(&p, MS(1), MS(10));
    put(&p, fulfills(MS(10), LOOP, 2));
    put(&p, reads(MS(10), 1, 2));
    for (unsigned i = 0; i < 40; i++)
        put(&p, switches(MS(11 + 2 * i), 100 + i));
    for (unsigned i = 0; i < sessions; i++) {
        put(&p, fulfills(MS(91), LOOP, 20 + i));
        put(&p, reads(MS(91), 10 + i, 20 + i));
    }
    put(&p, switches(MS(92), LOOP));
    nap(&p, MS(92), MS(99));
    return p;
}

TEST(news_that_nobody_looked_for)
{
    struct program p = with_sessions(4);
    expect(
        &p,
        "likely loop-blocked: The event loop had no pause for 82 ms, from 10 ms on: 45 runs came "
        "one after another; those of 'row' took 80 ms. Meanwhile 4 others were waiting, among "
        "them 'session'; what they waited for was looked at only afterwards.\n");
    p = with_sessions(1);
    struct result r = look(&p);
    assert_int_equal(r.found.count, 1);
    assert_int_equal(r.found.finding[0].confidence, WEFT_POSSIBLE);
    leave(&r);
}

/* ---- Any trace ---- */

TEST(each_allocation_may_fail)
{
    struct program p = with_block(MS(40), 3);
    struct weft_model *m = trace_model(&p.t);
    struct weft_explain_options o = weft_explain_defaults(NULL);
    struct weft_history *h;
    struct analyse_families f;
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    assert_int_equal(analyse_families_init(&f, m), 0);
    struct failing each = {0};
    int rc = 0;
    while (fails_next(&each, rc)) {
        struct weft_findings found = {0};
        struct analyse_search s = {.h = h, .m = m, .o = &o, .families = &f, .out = &found};
        analyse_search_run(&s, analyse_find_blocks);
        rc = s.failed ? WEFT_E_NOMEM : 0;
        weft_findings_fini(&found);
        free(s.blocked);
    }
    analyse_families_fini(&f);
    weft_history_free(h);
    weft_model_free(m);
}

TEST(times_may_run_backwards)
{
    static const uint64_t times[] = {50, 3, UINT64_C(1) << 62, 7, 90, 1};
    struct program p = begin();
    task(&p, 1, "a");
    task(&p, 2, "b");
    for (unsigned i = 0; i < 200; i++) {
        uint64_t now = times[i % COUNT(times)] * (i + 1) & (UINT64_MAX >> 9);
        put(&p, creates(now, 1, 100 + i, 0));
        put(&p, try_read(now, 1 + i % 2, 100 + i / 2));
        put(&p, switches(now, 1 + i % 3));
        if (i % 5 == 0)
            put(&p, suspends(now));
        put(&p, fulfills(now, 1, 100 + i));
        put(&p, reads(now, 1 + i % 2, 100 + i / 2));
    }
    struct result r = look(&p);
    assert_false(r.failed);
    leave(&r);
}

static int each_rule_is_needed(void **state)
{
    (void)state;
    return rules_noticed(LOOPS);
}

RUN_TESTS(NULL, each_rule_is_needed)
