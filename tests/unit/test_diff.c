/* SPDX-License-Identifier: ISC */
/* Comparing runs: what is aligned, where they part, what is told, and what is not. */
#include "analyse/diff.h"

#include "allocations.h"
#include "format/utf8.h"
#include "packets.h"

#define US(x) ((uint64_t)(x)*1000)
#define MS(x) ((uint64_t)(x)*1000000)

/* ---- Runs ---- */

enum site { S_NONE, S_TASK, S_CONDITION, S_PROMISE, S_CATCH, S_MUTEX, S_COUNT };

/* A recording that grows by calls. */
struct maker {
    struct trace t;
    struct strings s;
    uint32_t site[S_COUNT];
};

/* stop_ns: 0: it does not say when it was stopped. */
static void begin_until(struct maker *k, enum weft_trace_state state, uint64_t stop_ns)
{
    static const char *const types[] = {"", "task", "condition", "promise", "catch", "mutex"};
    *k = (struct maker){.t = {.fd = -1}};
    for (unsigned i = S_TASK; i < S_COUNT; i++)
        k->site[i] = strings_site(&k->s, strings_text(&k->s, types[i]), 0, 0, 0);
    facts_packet(
        &k->t,
        (struct weft_facts_header){.state = state, .stop_ticks = stop_ns, .stop_mono_ns = stop_ns},
        "");
    strings_packet(&k->t, &k->s);
    events_begin(&k->t, (struct weft_events_header){.sequence = 1, .begin_ticks = 0});
}

static void begin_as(struct maker *k, enum weft_trace_state state)
{
    begin_until(k, state, 0);
}

static void begin(struct maker *k)
{
    begin_as(k, WEFT_TRACE_STOPPED);
}

static void put(struct maker *k, struct weft_event ev)
{
    events_put(&k->t, ev, 0);
}

static void make(struct maker *k, uint64_t t, uint64_t parent, uint64_t id, enum site site,
                 const char *text)
{
    events_put(&k->t, creates(t, parent, id, 0), k->site[site]);
    if (text)
        put(k, label(t, id, text));
}

struct run {
    struct weft_model *m;
    struct weft_history *h;
};

static struct run finish(struct maker *k, uint64_t t)
{
    struct run r;
    events_end(&k->t, t);
    r.m = trace_model(&k->t);
    assert_int_equal(weft_history_new(&r.h, r.m, NULL, NULL), 0);
    return r;
}

static void leave(struct run *r)
{
    weft_history_free(r->h);
    weft_model_free(r->m);
}

static uint32_t at(const struct run *r, uint64_t id)
{
    uint32_t p = weft_model_find(r->m, id);
    assert_int_not_equal(p, WEFT_NONE);
    return p;
}

/* ---- Differences as lines ---- */

static char lines[20000];

static void add_line(const char *mark, const char *text)
{
    char clean[2000];
    size_t used = strlen(lines), size = strlen(text);
    assert_true(size < sizeof clean);
    assert_int_equal(weft_text_clean(clean, sizeof clean, text, size), size);
    assert_memory_equal(clean, text, size);
    snprintf(lines + used, sizeof lines - used, "%s %s\n", mark, text);
}

/* What must hold for all of them. */
static void check(const struct weft_diff *d, const struct weft_model *g, const struct weft_model *b)
{
    uint64_t aligned = 0;
    for (uint32_t p = 0; p < g->promises; p++) {
        uint32_t other = d->bad_of_good[p];
        assert_true(other == WEFT_NONE || other < b->promises);
        assert_true(other == WEFT_NONE || d->good_of_bad[other] == p);
        aligned += p && other != WEFT_NONE;
    }
    for (uint32_t p = 0; p < b->promises; p++) {
        uint32_t other = d->good_of_bad[p];
        assert_true(other == WEFT_NONE || (other < g->promises && d->bad_of_good[other] == p));
    }
    assert_int_equal(aligned, d->aligned);
    assert_int_equal(d->good_promises, g->promises - 1);
    assert_int_equal(d->bad_promises, b->promises - 1);
    for (uint32_t i = 0; i < d->changes; i++) {
        const struct weft_change_found *c = &d->change[i];
        assert_int_equal(c->good == WEFT_NONE, c->kind == WEFT_CHANGE_ADDED);
        assert_int_equal(c->bad == WEFT_NONE, c->kind == WEFT_CHANGE_MISSING);
        assert_true(c->count >= 1);
    }
}

static const char *compare(const struct run *good, uint32_t goods, const struct run *bad)
{
    const struct weft_history *h[8];
    struct weft_diff d;
    for (uint32_t i = 0; i < goods; i++)
        h[i] = good[i].h;
    assert_int_equal(weft_diff_find(&d, h, goods, bad->h, NULL, NULL), 0);
    lines[0] = '\0';
    check(&d, good[0].m, bad->m);
    if (d.doubt)
        add_line("doubt", d.doubt);
    if (d.divergence.found)
        add_line("parts", d.divergence.text);
    for (uint32_t i = 0; i < d.changes; i++)
        add_line(d.change[i].follows ? "follows" : "change", d.change[i].text);
    for (uint32_t i = 0; i < d.latencies; i++)
        add_line("takes", d.latency[i].text);
    for (uint32_t i = 0; i < d.runnings; i++)
        add_line("runs", d.running[i].text);
    assert_int_equal(weft_diff_any(&d),
                     d.strangers || d.divergence.found || d.changes || d.latencies || d.runnings);
    weft_diff_fini(&d);
    return lines;
}

/* Compares, and leaves all runs. */
static void expect(struct run *good, uint32_t goods, struct run bad, const char *wanted)
{
    expect_text(compare(good, goods, &bad), wanted);
    for (uint32_t i = 0; i < goods; i++)
        leave(&good[i]);
    leave(&bad);
}

static void expect_one(struct run good, struct run bad, const char *wanted)
{
    expect(&good, 1, bad, wanted);
}

/* ---- The race for an ARP response ---- */

enum { MAIN = 1, CONNECT, ARP, DRIVER, RESPONSE, WRITE, ACK };

static void transmitted(struct maker *k, uint64_t t)
{
    put(k, switches(t, DRIVER));
    put(k, fulfills(t + 1000, DRIVER, WRITE));
    put(k, reads(t + 2000, ARP, WRITE));
    put(k, try_read(t + 3000, ARP, RESPONSE));
    put(k, suspends(t + 4000));
}

/* early: the response comes before the query has been sent. again: then it is sent once more, which does no harm. */
static struct run race_with(bool early, bool again)
{
    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, MAIN, S_TASK, "main");
    put(&k, should_resolve(0, MAIN));
    make(&k, US(1), MAIN, DRIVER, S_TASK, "driver");
    put(&k, background(US(1), DRIVER));
    make(&k, US(2), MAIN, CONNECT, S_TASK, "connect");
    put(&k, try_read(US(3), MAIN, CONNECT));
    make(&k, US(4), CONNECT, ARP, S_TASK, "ARP query");
    put(&k, try_read(US(5), CONNECT, ARP));
    make(&k, US(6), ARP, RESPONSE, S_CONDITION, "ARP response");
    make(&k, US(7), ARP, WRITE, S_PROMISE, "write");
    put(&k, try_read(US(8), ARP, WRITE));
    put(&k, suspends(US(9)));
    if (!early)
        transmitted(&k, MS(20));
    put(&k, resumes(early ? MS(20) : MS(40)));
    put(&k, notifies((early ? MS(20) : MS(40)) + 1000, DRIVER, RESPONSE));
    if (early) {
        put(&k, suspends(MS(21)));
        transmitted(&k, again ? MS(30) : MS(40));
        put(&k, resumes(again ? MS(40) : MS(200)));
        if (!again)
            return finish(&k, MS(200));
        put(&k, notifies(MS(40) + 1000, DRIVER, RESPONSE));
    }
    put(&k, (struct weft_event){
                .time_ns = MS(40) + 2000, .kind = WEFT_EVENT_SIGNAL, .a = ARP, .b = RESPONSE});
    put(&k, fulfills(MS(40) + 3000, ARP, ARP));
    put(&k, reads(MS(40) + 4000, CONNECT, ARP));
    make(&k, MS(40) + 5000, CONNECT, ACK, S_PROMISE, "ACK");
    put(&k, fulfills(MS(60), CONNECT, ACK));
    put(&k, fulfills(MS(60) + 1000, CONNECT, CONNECT));
    put(&k, reads(MS(60) + 2000, MAIN, CONNECT));
    put(&k, fulfills(MS(60) + 3000, MAIN, MAIN));
    return finish(&k, MS(60) + 4000);
}

static struct run race(bool early)
{
    return race_with(early, false);
}

#define RACE_PARTS                                                                                 \
    "parts In the good run 'write' was fulfilled (at 20.001 ms) before 'ARP response' was "        \
    "signalled (at 40.001 ms); in the bad run after: 'ARP response' was signalled at 20.001 ms, "  \
    "'write' was fulfilled at 40.001 ms. So 'ARP query' began to wait for 'ARP response' only at " \
    "40.003 ms, too late, and still waits.\n"
#define RACE_CHANGES                                                                               \
    "change 'ARP query' (task 3), created by 'connect' for 'main', is pending when the trace "     \
    "ends; in the good run it was fulfilled at 40.003 ms.\n"                                       \
    "change 'connect' (task 2), created by 'main', is pending when the trace ends; in the good "   \
    "run it was fulfilled at 60.001 ms.\n"                                                         \
    "change 'main' (task 1) is pending when the trace ends; in the good run it was fulfilled at "  \
    "60.003 ms.\n"                                                                                 \
    "follows 'ACK' (promise 7), created by 'connect' for 'main', is missing; in the good run it "  \
    "was created at 40.005 ms.\n"

TEST(inversion)
{
    expect_one(race(false), race(true), RACE_PARTS RACE_CHANGES);
}

/* In another good run the same came too late and did no harm, so that is not why. */
TEST(inversion_without_harm)
{
    struct run good[] = {race(false), race_with(true, true)};
    expect(good, 2, race(true),
           "parts In the good run 'ARP query' was fulfilled (at 40.003 ms); in the bad run it is "
           "still pending when the trace ends. When the trace ends, 'ARP query' waits for 'ARP "
           "response' (condition 5).\n" RACE_CHANGES);
}

TEST(inversion_places)
{
    struct run good = race(false), bad = race(true);
    const struct weft_history *h = good.h;
    struct weft_diff d;
    assert_int_equal(weft_diff_find(&d, &h, 1, bad.h, NULL, NULL), 0);
    const struct weft_divergence *v = &d.divergence;
    assert_true(v->found);
    assert_int_equal(v->good_first, at(&good, WRITE));
    assert_int_equal(v->bad_first, at(&bad, WRITE));
    assert_int_equal(v->good_second, at(&good, RESPONSE));
    assert_int_equal(v->bad_second, at(&bad, RESPONSE));
    assert_int_equal(v->good_first_ns, MS(20) + 1000);
    assert_int_equal(v->good_second_ns, MS(40) + 1000);
    assert_int_equal(v->bad_first_ns, MS(40) + 1000);
    assert_int_equal(v->bad_second_ns, MS(20) + 1000);
    assert_int_equal(v->good_ns, US(7)); /* the creation of "write" */
    assert_int_equal(v->bad_ns, US(7));
    assert_int_equal(d.aligned, 6);
    assert_int_equal(d.bad_of_good[at(&good, ACK)], WEFT_NONE);
    weft_diff_fini(&d);
    leave(&good);
    leave(&bad);
}

/* The same run as its own counterpart, either of them. */
TEST(nothing_differs)
{
    expect_one(race(false), race(false), "");
    expect_one(race(true), race(true), "");
    struct run goods[] = {race(false), race(true)};
    /* it has hung before: so that is no difference */
    expect(goods, 2, race(true), "");
}

/* ---- Alignment ---- */

/* Children of one task: texts, by number from 2 on. */
static struct run children(const char *const *text, unsigned count)
{
    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, 1, S_TASK, "parent");
    for (unsigned i = 0; i < count; i++)
        make(&k, US(i + 1), 1, i + 2, S_TASK, *text[i] ? text[i] : NULL);
    return finish(&k, US(100));
}

/* Pairs of numbers, by the good ones. */
static void expect_pairs(const char *const *a, unsigned as, const char *const *b, unsigned bs,
                         const char *wanted)
{
    struct run good = children(a, as), bad = children(b, bs);
    const struct weft_history *h = good.h;
    struct weft_diff d;
    char text[200] = "";
    assert_int_equal(weft_diff_find(&d, &h, 1, bad.h, NULL, NULL), 0);
    check(&d, good.m, bad.m);
    for (unsigned i = 0; i < as; i++) {
        uint32_t other = d.bad_of_good[at(&good, i + 2)];
        if (other != WEFT_NONE)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %u-%u", i,
                     (unsigned)bad.m->promise[other].id - 2);
    }
    expect_text(text, wanted);
    weft_diff_fini(&d);
    leave(&good);
    leave(&bad);
}

#define LIST(...) (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__}))

TEST(alignment)
{
    expect_pairs(LIST("a", "b", "a", "c"), LIST("b", "a", "d", "a"), " 0-1 1-0 2-3");
    /* numbers are looked away from, but equal ones come first */
    expect_pairs(LIST("get 1", "get 2", "get 3"), LIST("get 3", "get 7", "get 8"), " 0-1 1-2 2-0");
    expect_pairs(LIST("", "x", ""), LIST("x", "", ""), " 0-1 1-0 2-2");
    expect_pairs(LIST("x", "x", "x"), LIST("x"), " 0-0");
    expect_pairs(LIST("x"), LIST("y"), "");
    /* some that are pending got no label yet */
    expect_pairs(LIST("x", "", "y"), LIST("", ""), " 0-1 1-0");
    expect_pairs(LIST("", ""), LIST("", "x"), " 0-0 1-1");
}

/* Where every promise has a name of its own, these are no sorts. */
TEST(free_texts)
{
    struct run run[2];
    for (unsigned r = 0; r < 2; r++) {
        struct maker k;
        char text[] = "user aaa";
        begin(&k);
        for (unsigned i = 0; i < 80; i++) {
            text[5] = r ? 'x' : 'y';
            text[6] = (char)('a' + i % 26);
            text[7] = (char)('a' + i / 26);
            make(&k, MS(i), LOOP, i + 1, S_TASK, text);
            put(&k, fulfills(MS(i) + US(1), LOOP, i + 1));
        }
        run[r] = finish(&k, MS(100));
    }
    expect_one(run[0], run[1], "");
}

/* ---- Changes ---- */

/* How a promise "reply" of "main" ends in the middle of 10 ms. */
static struct run ends(enum weft_trace_state state, struct weft_event how)
{
    struct maker k;
    begin_as(&k, state);
    make(&k, 0, LOOP, 1, S_TASK, "main");
    make(&k, US(10), 1, 2, S_TASK, "worker");
    make(&k, US(20), 1, 3, S_PROMISE, "reply");
    put(&k, switches(MS(4), 2));
    if (how.time_ns)
        put(&k, how);
    put(&k, switches(MS(6), LOOP));
    put(&k, fulfills(MS(10), LOOP, 1));
    return finish(&k, MS(10));
}

#define NEVER ((struct weft_event){.time_ns = 0})

TEST(endings)
{
    struct weft_event good = fulfills(MS(5), 2, 3);
    expect_one(ends(WEFT_TRACE_STOPPED, good), ends(WEFT_TRACE_STOPPED, good), "");
    expect_one(ends(WEFT_TRACE_STOPPED, good),
               ends(WEFT_TRACE_STOPPED, fails(MS(5), 2, 3, "no route")),
               "parts In the good run 'reply' was fulfilled at 5 ms; in the bad run it failed at 5 "
               "ms (no route), by 'worker'.\n"
               "change 'reply' (promise 3), created by 'main', failed at 5 ms (no route); in the "
               "good run it was fulfilled at 5 ms.\n");
    expect_one(
        ends(WEFT_TRACE_STOPPED, good), ends(WEFT_TRACE_STOPPED, NEVER),
        "parts In the good run 'reply' was fulfilled (at 5 ms, by 'worker'); in the bad run "
        "it is still pending when the trace ends. 'worker' ran there, too (at 4 ms), but did "
        "not do that.\n"
        "change 'reply' (promise 3), created by 'main', is pending when the trace ends; in "
        "the good run it was fulfilled at 5 ms.\n");
    expect_one(
        ends(WEFT_TRACE_STOPPED, cancels(MS(5), 2, 3)),
        ends(WEFT_TRACE_STOPPED, fulfills(MS(5), 2, 3)),
        "parts In the good run 'reply' was cancelled at 5 ms; in the bad run it was fulfilled "
        "at 5 ms, by 'worker'.\n"
        "change 'reply' (promise 3), created by 'main', was fulfilled at 5 ms; in the good "
        "run it was cancelled at 5 ms.\n");
    /* how it was resolved is not known, or both ways it was dropped */
    expect_one(ends(WEFT_TRACE_STOPPED, resolves(MS(5), 2, 3)), ends(WEFT_TRACE_STOPPED, good), "");
    expect_one(ends(WEFT_TRACE_STOPPED, cancels(MS(5), 2, 3)),
               ends(WEFT_TRACE_STOPPED, forgets(MS(5), 3)), "");
}

/* What one good run has as well is no difference. */
TEST(several_good_runs)
{
    struct run good[] = {ends(WEFT_TRACE_STOPPED, fulfills(MS(5), 2, 3)),
                         ends(WEFT_TRACE_STOPPED, fails(MS(5), 2, 3, "busy"))};
    expect(good, 2, ends(WEFT_TRACE_STOPPED, fails(MS(5), 2, 3, "busy")), "");
}

/* A run that is killed says nothing of what would have come. */
static struct run cut_off(uint64_t t)
{
    struct maker k;
    begin_as(&k, WEFT_TRACE_SAVED);
    make(&k, 0, LOOP, 1, S_TASK, "main");
    put(&k, should_resolve(0, 1));
    for (uint64_t i = 0; MS(10 * i) < t; i++) {
        make(&k, MS(10 * i), 1, 10 + i, S_PROMISE, "tick");
        if (MS(10 * i + 9) < t)
            put(&k, fulfills(MS(10 * i + 9), 1, 10 + i));
    }
    if (t > MS(100))
        put(&k, fulfills(MS(100), 1, 1));
    put(&k, switches(t, LOOP));
    return finish(&k, t);
}

TEST(shorter_runs)
{
    expect_one(cut_off(MS(110)), cut_off(MS(35)), "");
    expect_one(cut_off(MS(110)), cut_off(MS(72)), "");
    expect_one(cut_off(MS(35)), cut_off(MS(72)), "");
}

/* Requests, one after the other, until the program is killed; the reply to one of them may never come. */
static struct run served(unsigned without)
{
    struct maker k;
    begin_as(&k, WEFT_TRACE_SAVED);
    for (unsigned i = 0; i < 30; i++) {
        uint64_t t = MS(10 * i), request = 2 * i + 1, reply = request + 1;
        make(&k, t, LOOP, request, S_TASK, "request");
        make(&k, t, request, reply, S_PROMISE, "reply");
        put(&k, try_read(t, request, reply));
        if (i == without || i == 29)
            continue;
        put(&k, fulfills(t + MS(5), LOOP, reply));
        put(&k, reads(t + MS(5), request, reply));
        put(&k, fulfills(t + MS(5), request, request));
    }
    put(&k, switches(MS(291), LOOP));
    return finish(&k, MS(291));
}

/* The last request is pending in both runs, since they were killed; that excuses no other one. */
TEST(one_of_many)
{
    struct run good = served(99), bad = served(7);
    const char *wanted =
        "parts In the good run 'reply' was fulfilled (at 75 ms); in the bad run it is "
        "still pending when the trace ends.\n";
    assert_memory_equal(compare(&good, 1, &bad), wanted, strlen(wanted));
    leave(&good);
    leave(&bad);
    expect_one(served(99), served(99), "");
}

/* A program that sleeps until a reply comes, or is killed before. */
static struct run sleeper(bool killed)
{
    struct maker k;
    begin_as(&k, WEFT_TRACE_RECORDING);
    make(&k, 0, LOOP, 1, S_TASK, "main");
    put(&k, should_resolve(0, 1));
    make(&k, 0, 1, 2, S_PROMISE, "reply");
    put(&k, try_read(0, 1, 2));
    put(&k, suspends(MS(1)));
    if (killed)
        return finish(&k, MS(1));
    put(&k, resumes(MS(20)));
    put(&k, fulfills(MS(20), LOOP, 2));
    put(&k, reads(MS(20), 1, 2));
    put(&k, fulfills(MS(21), 1, 1));
    put(&k, suspends(MS(21)));
    return finish(&k, MS(21));
}

TEST(asleep_at_the_end)
{
    expect_one(sleeper(false), sleeper(true),
               "parts In the good run 'reply' was fulfilled (at 20 ms); in the bad run it is still "
               "pending when the trace ends.\n"
               "change 'reply' (promise 2), created by 'main', is pending when the trace ends; in "
               "the good run it was fulfilled at 20 ms.\n"
               "change 'main' (task 1) is pending when the trace ends; in the good run it was "
               "fulfilled at 21 ms.\n");
    expect_one(sleeper(true), sleeper(true), "");
}

/* A program that needs 300 ms, and sleeps in between for so long at a time; or sleeps from 20 ms on, and is recorded for 220 ms. */
static struct run napper(bool forever, uint64_t nap_ms)
{
    struct maker k;
    begin_until(&k, WEFT_TRACE_SAVED, forever ? MS(220) : MS(301));
    make(&k, 0, LOOP, 1, S_TASK, "main");
    put(&k, should_resolve(0, 1));
    for (uint64_t ms = 0; ms < (forever ? 20 : 300); ms += nap_ms) {
        put(&k, suspends(MS(ms) + US(1)));
        put(&k, resumes(MS(ms + nap_ms)));
    }
    if (forever) {
        put(&k, suspends(MS(20) + US(1)));
        return finish(&k, MS(220));
    }
    put(&k, fulfills(MS(300) + US(1), LOOP, 1));
    return finish(&k, MS(301));
}

/* What should resolve is not only late if all sleeps for longer than it ever did before. */
TEST(sleeps_for_longer)
{
    expect_one(
        napper(false, 20), napper(true, 20),
        "parts In the good run 'main' was fulfilled (at 300.001 ms); in the bad run it is still "
        "pending when the trace ends.\n"
        "change 'main' (task 1) is pending when the trace ends; in the good run it was "
        "fulfilled at 300.001 ms.\n");
    expect_one(napper(false, 150), napper(true, 20), "");
}

/* A promise that a request makes, and waits for, or not. */
static void part_of_request(struct maker *k, uint64_t t, uint64_t request, uint64_t id,
                            const char *name, bool waits)
{
    make(k, t, request, id, S_PROMISE, name);
    if (waits)
        put(k, try_read(t + 200, request, id));
    put(k, fulfills(t + 400, LOOP, id));
    if (waits)
        put(k, reads(t + 600, request, id));
}

/* Requests, of which each has a query; not the one with number without. odd: it has something else. */
static struct run requests(unsigned count, unsigned without, const char *odd, bool waits)
{
    struct maker k;
    char text[20];
    begin(&k);
    for (unsigned i = 0; i < count; i++) {
        uint64_t t = MS(10 * i), id = 10 * i + 1;
        snprintf(text, sizeof text, "GET /%u", i);
        make(&k, t, LOOP, id, S_TASK, text);
        put(&k, switches(t, id));
        if (i != without)
            part_of_request(&k, t + US(1), id, id + 1, "query", waits);
        else if (odd)
            part_of_request(&k, t + US(1), id, id + 2, odd, waits);
        put(&k, fulfills(t + US(3), id, id));
        put(&k, switches(t + US(4), LOOP));
    }
    return finish(&k, MS(10 * count));
}

TEST(missing_and_added)
{
    expect_one(requests(5, 99, NULL, true), requests(7, 99, NULL, true), "");
    /* now and then there is none */
    expect_one(requests(5, 2, NULL, true), requests(5, 3, NULL, true), "");
    expect_one(
        requests(5, 99, NULL, true), requests(5, 3, NULL, true),
        "parts In the good run 'GET /3' created 'query' (promise 32) at 30.001 ms; in the bad "
        "run there is no such promise.\n"
        "change 'query' (promise 32), created by 'GET /3', is missing; in the good run it was "
        "created at 30.001 ms.\n");
    expect_one(
        requests(5, 2, NULL, true), requests(5, 2, "retry", true),
        "parts In the bad run 'GET /2' created 'retry' (promise 23) at 20.001 ms; in the good "
        "run there is no such promise.\n"
        "change 'retry' (promise 23), created by 'GET /2', was created at 20.001 ms; the good "
        "run has no such promise.\n");
    /* nobody waits for it: that is not where they part */
    expect_one(
        requests(5, 99, NULL, false), requests(5, 3, NULL, false),
        "change 'query' (promise 32), created by 'GET /3', is missing; in the good run it was "
        "created at 30.001 ms.\n");
}

TEST(strangers)
{
    struct run good = requests(5, 99, NULL, true), bad = race(false);
    compare(&good, 1, &bad);
    assert_true(strncmp(lines,
                        "doubt No promise has a counterpart: are these two runs of one program?\n",
                        70) == 0);
    assert_null(strstr(lines, "takes"));
    leave(&good);
    leave(&bad);
}

/* ---- Waits ---- */

/* A failure that main waits for, or not. */
static struct run failure(bool waits)
{
    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, 1, S_TASK, "main");
    make(&k, US(1), 1, 2, S_PROMISE, "save");
    if (waits)
        put(&k, try_read(US(2), 1, 2));
    put(&k, fails(MS(5), LOOP, 2, "disk full"));
    if (waits)
        put(&k, reads(MS(5) + US(1), 1, 2));
    put(&k, fulfills(MS(6), 1, 1));
    return finish(&k, MS(6));
}

TEST(unread_failure)
{
    expect_one(failure(true), failure(true), "");
    expect_one(failure(false), failure(true), "");
    expect_one(
        failure(true), failure(false),
        "parts In both runs 'save' failed (at 5 ms and at 5 ms); in the good run somebody "
        "waited for it or used its result, in the bad run nobody did.\n"
        "change 'save' (promise 2), created by 'main', failed at 5 ms (disk full), and nobody "
        "looked at that; in the good run somebody did.\n");
}

/* A condition that is signalled, and a worker that waits for it in the bad run only, afterwards. */
static struct run late_wait(bool waits)
{
    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, 1, S_TASK, "worker");
    make(&k, US(1), 1, 2, S_CONDITION, "filled");
    put(&k, notifies(MS(4), LOOP, 2));
    put(&k, switches(MS(8), 1));
    put(&k, waits ? try_read(MS(8) + US(1), 1, 2) : fulfills(MS(8) + US(2), 1, 1));
    put(&k, suspends(MS(8) + US(3)));
    put(&k, resumes(MS(20)));
    return finish(&k, MS(20));
}

TEST(extra_wait)
{
    expect_one(
        late_wait(false), late_wait(true),
        "parts In the bad run 'worker' began to wait for 'filled' at 8.001 ms, when that had "
        "been signalled already (at 4 ms), and still waits; in the good run it never waited "
        "for it.\n"
        "change 'worker' (task 1) is pending when the trace ends; in the good run it was "
        "fulfilled at 8.002 ms.\n");
}

/* Two tasks that want two locks, one after the other or both at once. */
static struct run locks(bool at_once)
{
    struct maker k;
    enum { A = 1, B, A7, A9, B9, B7 };
    begin(&k);
    make(&k, 0, LOOP, A, S_TASK, "A");
    make(&k, 0, LOOP, B, S_TASK, "B");
    make(&k, US(1), A, A7, S_PROMISE, "lock 7");
    put(&k, fulfills(US(1), LOOP, A7));
    uint64_t b = at_once ? US(2) : US(20);
    if (at_once) {
        make(&k, b, B, B9, S_PROMISE, "lock 9");
        put(&k, fulfills(b, LOOP, B9));
    }
    make(&k, US(10), A, A9, S_PROMISE, "lock 9");
    if (at_once)
        put(&k, try_read(US(11), A, A9));
    else {
        put(&k, fulfills(US(11), LOOP, A9));
        put(&k, fulfills(US(12), A, A));
        make(&k, b, B, B9, S_PROMISE, "lock 9");
        put(&k, fulfills(b, LOOP, B9));
    }
    make(&k, US(21), B, B7, S_PROMISE, "lock 7");
    if (at_once)
        put(&k, try_read(US(22), B, B7));
    else {
        put(&k, fulfills(US(22), LOOP, B7));
        put(&k, fulfills(US(23), B, B));
    }
    put(&k, switches(MS(20), LOOP));
    return finish(&k, MS(20));
}

TEST(overtaken)
{
    struct run good = locks(false), bad = locks(true);
    const char *found = compare(&good, 1, &bad),
               *wanted =
                   "parts In the bad run 'A' began to wait for 'lock 9' at 11 \xc2\xb5s, and "
                   "still waits; in the good run it never waited for it. Before that, at 2 "
                   "\xc2\xb5s, 'lock 9' of 'B' was fulfilled, in the good run only afterwards.\n";
    lines[strcspn(lines, "\n") + 1] = '\0';
    expect_text(found, wanted);
    leave(&good);
    leave(&bad);
}

/* A worker that waits for a signal, which comes or does not. */
static struct run signalled(bool comes)
{
    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, 1, S_TASK, "worker");
    make(&k, US(1), 1, 2, S_CONDITION, "filled");
    put(&k, switches(US(2), 1));
    put(&k, try_read(US(3), 1, 2));
    put(&k, suspends(US(4)));
    put(&k, resumes(MS(4)));
    if (comes) {
        put(&k, notifies(MS(4), LOOP, 2));
        put(&k, (struct weft_event){
                    .time_ns = MS(4) + US(1), .kind = WEFT_EVENT_SIGNAL, .a = 1, .b = 2});
        put(&k, fulfills(MS(4) + US(2), 1, 1));
    }
    put(&k, switches(MS(9), LOOP));
    return finish(&k, MS(9));
}

TEST(no_signal)
{
    expect_one(
        signalled(true), signalled(false),
        "parts In the good run 'filled' was signalled at 4 ms, when 'worker' waited for it; in "
        "the bad run it never was ('worker' waits since 3 \xc2\xb5s).\n"
        "change 'worker' (task 1) is pending when the trace ends; in the good run it was "
        "fulfilled at 4.002 ms.\n");
}

/* ---- Lengths and runs ---- */

/* 40 queries of about that length, of which one takes longest; each vary longer than the one before. */
static struct run queries(uint64_t length, uint64_t vary, uint64_t longest)
{
    struct maker k;
    char text[20];
    begin(&k);
    for (unsigned i = 0; i < 40; i++) {
        uint64_t t = MS(100 * i);
        snprintf(text, sizeof text, "query %u", i);
        make(&k, t, LOOP, i + 1, S_PROMISE, text);
        put(&k, fulfills(t + (i == 7 && longest ? longest : length + vary * i), LOOP, i + 1));
    }
    return finish(&k, MS(4000));
}

TEST(lengths)
{
    expect_one(queries(MS(1), US(1), 0), queries(MS(4), US(1), 0),
               "takes 'query #': 4.02 ms instead of 1.02 ms (median of 40)\n");
    expect_one(queries(MS(4), US(1), 0), queries(MS(1), US(1), 0),
               "takes 'query #': 1.02 ms instead of 4.02 ms (median of 40)\n");
    expect_one(queries(US(20), 0, 0), queries(US(90), 0, 0), "");         /* too short to matter */
    expect_one(queries(MS(10), US(1), 0), queries(MS(14), US(1), 0), ""); /* not even half more */
    expect_one(queries(MS(1), US(200), 0), queries(MS(4), US(200), 0), ""); /* they vary so much */
    expect_one(queries(MS(1), US(1), 0), queries(MS(1), US(1), MS(50)),
               "takes 'query #': up to 50 ms instead of at most 1.04 ms (of 40; the median is 1.02 "
               "ms)\n");
}

TEST(lengths_of_several)
{
    struct run same[] = {queries(MS(1), US(1), 0), queries(MS(4), US(1), 0)};
    expect(same, 2, queries(MS(5), US(1), 0), "");
    struct run close[] = {queries(MS(1), US(1), 0), queries(US(1100), US(1), 0)};
    expect(close, 2, queries(MS(2), US(1), 0),
           "takes 'query #': 2.02 ms instead of 1.04 ms (median of 40; good runs: 1.02 ms to 1.12 "
           "ms)\n");
    /* of what is short, at least 100 us more */
    struct run brief[] = {queries(US(20), 0, 0), queries(US(20), 0, 0)};
    expect(brief, 2, queries(US(120), 0, 0), "");
    struct run again[] = {queries(US(20), 0, 0), queries(US(20), 0, 0)};
    expect(again, 2, queries(US(120) + 500, 0, 0),
           "takes 'query #': 121 µs instead of 20 µs (median of 40; good runs: 20 µs to 20 µs)\n");
}

/* A task that runs so often, for so long. */
static struct run running(unsigned times, uint64_t length)
{
    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, 1, S_TASK, "poll");
    for (unsigned i = 0; i < times; i++) {
        uint64_t t = US(100) + i * (MS(90) / times);
        put(&k, switches(t, 1));
        put(&k, suspends(t + length));
    }
    put(&k, resumes(MS(99)));
    put(&k, fulfills(MS(99), LOOP, 1));
    return finish(&k, MS(100));
}

TEST(runs)
{
    expect_one(running(10, US(1)), running(20, US(1)), "");
    expect_one(running(10, US(1)), running(500, US(1)),
               "runs 'poll' ran 500 times instead of 10\n");
    expect_one(
        running(3, US(1)), running(3, MS(25)),
        "runs 'poll' ran for 25 ms without a break; in the good run for 1 \xc2\xb5s at most\n");
    expect_one(running(3, MS(9)), running(3, MS(25)), "");
}

/* ---- Anything at all ---- */

static uint64_t seed;

static uint64_t chance(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static struct weft_event any_event(uint64_t t)
{
    static const uint8_t kinds[] = {WEFT_EVENT_READ,     WEFT_EVENT_FULFILLS,  WEFT_EVENT_BECOMES,
                                    WEFT_EVENT_SIGNAL,   WEFT_EVENT_TRY_READ,  WEFT_EVENT_TRY_READ,
                                    WEFT_EVENT_NOTIFIES, WEFT_EVENT_CANCELS,   WEFT_EVENT_RESOLVES,
                                    WEFT_EVENT_SWITCH,   WEFT_EVENT_READ_LATER};
    uint64_t a = chance(12), b = chance(12);
    struct weft_event ev = {.time_ns = t, .kind = kinds[chance(COUNT(kinds))]};
    ev.a = a ? a : LOOP;
    ev.b = b ? b : LOOP;
    return ev;
}

static struct run any_run(void)
{
    static const char *const texts[] = {"a", "b", "c 1", "c 2", "c 3"};
    struct maker k;
    begin_as(&k, chance(2) ? WEFT_TRACE_STOPPED : WEFT_TRACE_SAVED);
    uint64_t t = 0, id = 1;
    for (unsigned i = 0; i < 60; i++) {
        t += chance(MS(2)) * chance(2);
        if (id < 12 && chance(3) == 0) {
            uint64_t parent = chance(id);
            make(&k, t, parent ? parent : LOOP, id, (enum site)(1 + chance(3)),
                 chance(3) ? texts[chance(COUNT(texts))] : NULL);
            id++;
        } else if (chance(20) == 0) {
            put(&k, should_resolve(t, 1 + chance(11)));
        } else {
            put(&k, any_event(t));
        }
    }
    return finish(&k, t);
}

TEST(by_chance)
{
    for (seed = 1; seed < 3000; seed += 7) {
        uint64_t was = seed;
        struct run r[3] = {any_run(), any_run(), any_run()};
        compare(r, 2, &r[2]);
        const char *text = compare(r, 1, &r[0]);
        if (text[0] && strncmp(text, "doubt", 5) != 0)
            fprintf(stderr, "seed %u: %s", (unsigned)was, text);
        assert_true(!text[0] || strncmp(text, "doubt", 5) == 0);
        for (unsigned i = 0; i < 3; i++)
            leave(&r[i]);
        seed = was;
    }
}

/* Tasks that end one after another; two that are next to each other, the other way round. */
static struct run in_order(uint64_t count, uint64_t swapped)
{
    struct maker k;
    begin(&k);
    for (uint64_t i = 1; i <= count; i++) {
        const char name[] = {(char)('a' + i / 676), (char)('a' + i / 26 % 26), (char)('a' + i % 26),
                             0};
        make(&k, US(i), LOOP, i, S_TASK, name);
    }
    for (uint64_t i = 1; i <= count; i++)
        put(&k, fulfills(MS(10) + US(i), LOOP,
                         i == swapped       ? i + 1
                         : i == swapped + 1 ? swapped
                                            : i));
    return finish(&k, MS(20));
}

/* Only the first 1000 are compared with each other. */
TEST(orders)
{
    static const struct {
        uint64_t count, swapped;
        uint32_t orders;
    } runs[] = {{3, 1, 1}, {1050, 999, 1}, {1050, 1000, 0}};
    for (unsigned i = 0; i < COUNT(runs); i++) {
        const uint64_t first = runs[i].swapped;
        struct run good = in_order(runs[i].count, UINT32_MAX),
                   bad = in_order(runs[i].count, runs[i].swapped);
        const struct weft_history *h = good.h;
        struct weft_diff d;
        assert_int_equal(weft_diff_find(&d, &h, 1, bad.h, NULL, NULL), 0);
        assert_false(weft_diff_any(&d));
        assert_int_equal(d.orders, runs[i].orders);
        if (d.orders) {
            assert_int_equal(d.order[0].good_first, at(&good, first));
            assert_int_equal(d.order[0].good_second, at(&good, first + 1));
            assert_int_equal(d.order[0].bad_first, at(&bad, first));
            assert_int_equal(d.order[0].bad_second, at(&bad, first + 1));
        }
        weft_diff_fini(&d);
        leave(&good);
        leave(&bad);
    }
}

/* A program with mirage-profile's Lwt and with one that tells weft: other types, names that nobody has given, a promise that stands
 * for the loop, a lock, and a place in the queue of a condition. */
TEST(old_and_new_lwt)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_add(&t, switches(0, 0));
    trace_add(&t, label(US(1), 0, "query"));
    trace_add(&t, creates(US(2), 0, 1, CONDITION));
    trace_add(&t, label(US(3), 1, "(response)"));
    trace_add(&t, creates(US(4), 0, 2, TRY));
    trace_add(&t, creates(US(5), 1, 3, TASK));
    trace_add(&t, creates(US(6), 0, 4, TASK));
    trace_add(&t, label(US(7), 4, "given up"));
    trace_add(&t, fails(US(8), 0, 4, "Lwt.Canceled"));
    struct run old = {.m = trace_model(&t)};
    assert_int_equal(weft_history_new(&old.h, old.m, NULL, NULL), 0);

    struct maker k;
    begin(&k);
    make(&k, 0, LOOP, 1, S_MUTEX, "Lwt_mutex.create Query.lock query.ml:3");
    make(&k, US(2), LOOP, 2, S_CONDITION, "Lwt_condition.create Query query.ml:4");
    put(&k, label(US(3), 2, "(response)"));
    make(&k, US(4), LOOP, 3, S_CATCH, ".ml:12");
    make(&k, US(6), LOOP, 4, S_TASK, "given up");
    put(&k, cancels(US(8), LOOP, 4));
    struct run new = finish(&k, US(9));

    for (int way = 0; way < 2; way++) {
        const struct run *good = way ? &new : &old, *bad = way ? &old : &new;
        const struct weft_history *h = good->h;
        struct weft_diff d;
        assert_int_equal(weft_diff_find(&d, &h, 1, bad->h, NULL, NULL), 0);
        assert_int_equal(d.aligned, 3);
        assert_int_equal(d.good_promises, 3);
        assert_int_equal(d.bad_promises, 3);
        assert_int_equal(d.changes, 0);
        assert_int_equal(d.divergence.found, false);
        const uint32_t *new_of_old = way ? d.good_of_bad : d.bad_of_good;
        assert_int_equal(new_of_old[at(&old, 1)], at(&new, 2));
        assert_int_equal(new_of_old[at(&old, 2)], at(&new, 3));
        assert_int_equal(new_of_old[at(&old, 4)], at(&new, 4));
        assert_int_equal(new_of_old[at(&old, 0)], WEFT_NONE);
        assert_int_equal(new_of_old[at(&old, 3)], WEFT_NONE);
        weft_diff_fini(&d);
    }
    leave(&old);
    leave(&new);
}

/* So many that the tables of kinds grow, once or twice. */
static struct run of_many_kinds(void)
{
    struct maker k;
    begin(&k);
    for (uint64_t i = 1; i <= 60; i++) {
        const char label[] = {(char)('a' + i / 26), (char)('a' + i % 26), 0};
        make(&k, US(i), LOOP, i, S_TASK, label);
    }
    return finish(&k, MS(1));
}

/* Lets the n-th allocation fail, for n = 1, 2, 3 … */
static void expect_no_memory(struct run *good, struct run bad)
{
    const struct weft_history *h[] = {good[0].h, good[1].h};
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc)) {
        struct weft_diff d;
        rc = weft_diff_find(&d, h, 2, bad.h, NULL, NULL);
        weft_diff_fini(&d);
    }
    leave(&good[0]);
    leave(&good[1]);
    leave(&bad);
}

TEST(no_memory)
{
    expect_no_memory((struct run[]){race(false), race(false)}, race(true));
    expect_no_memory((struct run[]){of_many_kinds(), of_many_kinds()}, of_many_kinds());
}

static bool stop_at(void *data, double share)
{
    (void)share;
    return --*(int *)data > 0;
}

TEST(canceled)
{
    struct run good = race(false), bad = race(true);
    const struct weft_history *h = good.h;
    int rc = WEFT_E_CANCELED, steps = 1;
    for (; rc == WEFT_E_CANCELED && steps < 50; steps++) {
        struct weft_diff d;
        int left = steps;
        long before = live;
        rc = weft_diff_find(&d, &h, 1, bad.h, stop_at, &left);
        weft_diff_fini(&d);
        assert_int_equal(live, before);
    }
    assert_int_equal(rc, 0);
    assert_true(steps > 3);
    leave(&good);
    leave(&bad);
}

RUN_TESTS(NULL, NULL)
