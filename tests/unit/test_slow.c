/* SPDX-License-Identifier: ISC */
/* What the slowest of a sort spent their time on: a scene for each cause, and what nothing is said of. Linked with
 * --wrap=malloc and so on. */
#include "allocations.h"
#include "analyse/slow.h"
#include "packets.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

enum site { REQUEST, LOCK_, TASK_, READ_, SITES };

static uint32_t site[SITES];
static struct trace trace;
static uint64_t now, last_id;

static void begin(void)
{
    static const char *const types[SITES] = {"request", "lock", "task", "read"};
    struct strings s = {.used = 0};
    trace = (struct trace){.fd = -1};
    for (unsigned i = 0; i < SITES; i++)
        site[i] = strings_site(&s, strings_text(&s, types[i]), 0, 0, 0);
    facts_packet(&trace, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&trace, &s);
    events_begin(&trace, (struct weft_events_header){.sequence = 1});
    now = last_id = 0;
}

static void put_at(struct weft_event ev, uint32_t where)
{
    ev.time_ns = now += 100;
    events_put(&trace, ev, where);
}

static void put(struct weft_event ev)
{
    put_at(ev, 0);
}

static uint64_t make(uint64_t creator, enum site where, const char *text)
{
    put_at(with_text(creates(0, creator, ++last_id, 0), text), site[where]);
    return last_id;
}

/* A request "VERB /N", which begins to run. */
static uint64_t request_to(const char *verb, unsigned n, bool marked)
{
    char text[32];
    snprintf(text, sizeof text, "%s /%u", verb, n);
    uint64_t r = make(LOOP, REQUEST, text);
    if (marked)
        put(should_resolve(0, r));
    put(switches(0, r));
    return r;
}

static uint64_t request(unsigned n, bool marked)
{
    return request_to("GET", n, marked);
}

static void sleep_for(uint64_t ns)
{
    put(suspends(0));
    now += ns;
    put(resumes(0));
}

static void end(uint64_t p)
{
    put(fulfills(0, p, p));
    put(switches(0, LOOP));
}

/* It waits for something from outside. */
static void fetch(uint64_t r, const char *what, uint64_t ns)
{
    uint64_t p = make(r, READ_, what);
    put(try_read(0, r, p));
    put(switches(0, LOOP));
    sleep_for(ns);
    put(fulfills(0, LOOP, p));
    put(switches(0, r));
    put(reads(0, r, p));
}

static char *as_text(const struct weft_history *h)
{
    struct weft_slow s;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(weft_slow_find(&s, h), 0);
    for (uint32_t i = 0; i < s.count; i++) {
        const struct weft_slow_sort *x = &s.sort[i];
        assert_true(x->looked > 0 && x->looked <= WEFT_SLOW_LOOKED && x->looked <= x->count);
        assert_true(2 * x->cause.share.total_ns >= x->total_ns &&
                    x->cause.share.total_ns <= x->total_ns);
        fprintf(out, "%s: %s #%u\n", weft_slow_cause_name(&x->cause), x->text,
                (unsigned)h->m->promise[x->slowest].id);
    }
    fclose(out);
    weft_slow_fini(&s);
    return text;
}

static void expect(const char *wanted)
{
    struct weft_history *h;
    events_end(&trace, now);
    struct weft_model *m = trace_model(&trace);
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    char *text = as_text(h);
    assert_string_equal(text, wanted);
    free(text);
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc)) {
        struct weft_slow s;
        rc = weft_slow_find(&s, h);
        if (rc == 0)
            weft_slow_fini(&s);
    }
    weft_history_free(h);
    weft_model_free(m);
}

/* ---- One cause ---- */

/* Requests need a lock for a moment; an import holds it for 90 ms, so that three wait. */
TEST(lock)
{
    uint64_t r[3];
    begin();
    uint64_t l = make(LOOP, LOCK_, "db lock"), import = make(LOOP, TASK_, "import");
    for (unsigned i = 0; i < 30; i++) {
        uint64_t quick = request(i, true);
        put(acquires(0, quick, l));
        fetch(quick, "row", MS);
        put(releases(0, quick, l));
        end(quick);
    }
    put(acquires(0, import, l));
    for (unsigned i = 0; i < 3; i++) {
        r[i] = request(100 + i, true);
        if (i == 2) { /* what it became waits */
            uint64_t rest = make(r[i], TASK_, "rest");
            put(becomes(0, r[i], rest));
            r[i] = rest;
        }
        put(try_read(0, r[i], l));
        put(switches(0, LOOP));
    }
    sleep_for(90 * MS);
    put(switches(0, import));
    put(releases(0, import, l));
    for (unsigned i = 0; i < 3; i++) {
        put(notifies(0, import, l));
        put(switches(0, r[i]));
        put(signals(0, r[i], l));
        put(acquires(0, r[i], l));
        fetch(r[i], "row", 10 * MS);
        put(releases(0, r[i], l));
        end(r[i]);
        put(switches(0, import));
    }
    end(import);
    expect("lock: The slowest of 'GET /#' (3 of 33, 110 ms instead of 1 ms) spent 91 % of their "
           "time waiting for 'db lock', which 'import' held. #65\n");
}

/* Most find it in memory; some ask somebody who takes 50 ms. Nothing is marked. */
TEST(dependency)
{
    begin();
    for (unsigned i = 0; i < 300; i++) {
        uint64_t r = request(i, false);
        if (i % 60 == 7)
            fetch(r, "catalogue", (50 + i / 60) * MS);
        end(r);
    }
    expect("outside: The slowest of 'GET /#' (3 of 300, 53 ms instead of 200 ns) spent 100 % of "
           "their time waiting for 'catalogue', which comes from outside the program. #252\n");
}

/* Three that wait for a moment only, while something else runs for long. */
TEST(blocked_loop)
{
    uint64_t r[3], p[3];
    begin();
    for (unsigned i = 0; i < 20; i++) {
        uint64_t quick = request(i, true);
        fetch(quick, "row", US);
        end(quick);
    }
    for (unsigned i = 0; i < 3; i++) {
        r[i] = request(100 + i, true);
        p[i] = make(r[i], READ_, "row");
        put(try_read(0, r[i], p[i]));
        put(switches(0, LOOP));
    }
    uint64_t other = make(LOOP, TASK_, "template");
    put(switches(0, other));
    now += 40 * MS;
    end(other);
    for (unsigned i = 0; i < 3; i++) {
        put(fulfills(0, LOOP, p[i]));
        put(switches(0, r[i]));
        put(reads(0, r[i], p[i]));
        end(r[i]);
    }
    expect("blocked: The slowest of 'GET /#' (3 of 23, 40 ms instead of 2.1 µs) spent 100 % of "
           "their time waiting while the loop was blocked by 'template'. #41\n");
}

/* All of them do much. */
TEST(running)
{
    begin();
    for (unsigned i = 0; i < 5; i++) {
        uint64_t r = request(i, true);
        now += 30 * MS;
        end(r);
    }
    expect("running: 'GET /#' (5, most about 30 ms) spent 100 % of their time running. #5\n");
}

/* All of them take long, and what they wait for takes as long: it is told once. */
TEST(all_alike)
{
    begin();
    for (unsigned i = 0; i < 40; i++) {
        uint64_t r = request(i, false);
        fetch(r, "stock", 20 * MS);
        end(r);
    }
    expect("outside: 'GET /#' (40, most about 20 ms) spent 100 % of their time waiting for "
           "'stock', which comes from outside the program. #77\n");
}

/* Those that are marked come first, whatever the others took; then those that took longer together. */
TEST(order)
{
    begin();
    for (unsigned i = 0; i < 30; i++) {
        uint64_t r = request_to("LIST", i, false);
        fetch(r, "stock", 90 * MS);
        end(r);
    }
    for (unsigned i = 0; i < 3; i++) {
        uint64_t r = request(i, true);
        now += 30 * MS;
        end(r);
        r = request_to("PUT", i, true);
        now += 80 * MS;
        end(r);
    }
    expect("running: 'PUT /#' (3, most about 80 ms) spent 100 % of their time running. #66\n"
           "running: 'GET /#' (3, most about 30 ms) spent 100 % of their time running. #65\n"
           "outside: 'LIST /#' (30, most about 90 ms) spent 100 % of their time waiting for "
           "'stock', which comes from outside the program. #57\n");
}

/* ---- Nothing ---- */

TEST(healthy)
{
    begin();
    for (unsigned i = 0; i < 100; i++) {
        uint64_t r = request(i, true);
        fetch(r, "row", i % 10 == 0 ? 3 * MS : MS);
        end(r);
    }
    expect("");
}

/* A third of the time each. */
TEST(no_main_cause)
{
    begin();
    for (unsigned i = 0; i < 30; i++) {
        uint64_t r = request(i, true);
        fetch(r, "stock", 10 * MS);
        fetch(r, "price", 10 * MS);
        now += 10 * MS;
        end(r);
    }
    expect("");
}

/* One of a sort, or too few that nobody has marked; and what is meant to last. */
TEST(no_sort)
{
    begin();
    uint64_t all = make(LOOP, TASK_, "main");
    put(should_resolve(0, all));
    for (unsigned i = 0; i < 10; i++) {
        uint64_t r = request(i, false);
        fetch(r, "stock", 20 * MS);
        end(r);
    }
    for (unsigned i = 0; i < 30; i++) {
        uint64_t r = make(LOOP, TASK_, "idle");
        put(background(0, r));
        put(switches(0, r));
        fetch(r, i % 2 ? "news" : "mail", 20 * MS);
        end(r);
    }
    end(all);
    expect("");
}

RUN_TESTS(NULL, NULL)
