/* SPDX-License-Identifier: ISC */
/* The searches for swallowed failures, leaks, serial waits and herds: each fault in several styles of recording, and
 * what looks alike but is as it should be. Linked with --wrap=malloc and so on. */
#include <inttypes.h>

#include "allocations.h"
#include "analyse/types.h"
#include "analyse/words.h"
#include "packets.h"
#include "rules.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* ---- A program that is recorded ---- */

#define KINDS(X)                                                                                   \
    X(TASK_, "task")                                                                               \
    X(FETCH, "fetch")                                                                              \
    X(TIMER, "timer")                                                                              \
    X(CONDITION_, "condition")                                                                     \
    X(PROMISE, "promise")                                                                          \
    X(CONNECTION, "connection")                                                                    \
    X(ASYNC, "async")                                                                              \
    X(READ_, "read") X(ITER_S, "iter_s")

enum kind {
#define X(NAME, name) NAME,
    KINDS(X)
#undef X
        KIND_COUNT
};

static struct trace trace;
static uint32_t site[KIND_COUNT];
static uint64_t now, last_id;

static void begin(void)
{
    static const char *const names[] = {
#define X(NAME, name) name,
        KINDS(X)
#undef X
    };
    trace = (struct trace){.fd = -1};
    sites_packets(&trace, WEFT_TRACE_STOPPED, names, site, KIND_COUNT);
    now = 1000;
    last_id = 0;
    events_begin(&trace,
                 (struct weft_events_header){.stream = 0, .sequence = 1, .begin_ticks = now});
}

static void put(struct weft_event ev)
{
    events_put(&trace, ev, 0);
    now += 100;
}

static uint64_t make(uint64_t creator, enum kind kind, const char *text)
{
    events_put(&trace, creates(now, creator, ++last_id, 0), site[kind]);
    now += 100;
    if (text)
        put(label(now, last_id, text));
    return last_id;
}

static uint64_t make_one(uint64_t creator, enum kind kind, const char *format, int number)
{
    char text[64];
    snprintf(text, sizeof text, format, number);
    return make(creator, kind, text);
}

static void run(uint64_t p)
{
    put(switches(now, p));
}

static void wait_for(uint64_t reader, uint64_t p)
{
    put(try_read(now, reader, p));
}

static void wake(uint64_t reader, uint64_t p)
{
    put(reads(now, reader, p));
}

static void fulfil(uint64_t by, uint64_t p)
{
    put(fulfills(now, by, p));
}

static void fail_with(uint64_t by, uint64_t p, const char *reason)
{
    struct weft_event ev = fails(now, by, p, reason ? reason : "");
    ev.text = reason;
    put(ev);
}

/* The loop sleeps. */
static void sleep_for(uint64_t ns)
{
    put(suspends(now));
    now += ns;
    put(resumes(now));
}

/* ---- What is found ---- */

typedef void search(struct analyse_search *s);

static struct weft_model *model;
static struct weft_history *history;
static struct weft_findings found;

static struct weft_words *words; /* of the user's */

static int search_by(search *const *searches, size_t count)
{
    struct weft_explain_options o =
        weft_explain_defaults(&(struct weft_explain_options){.words = words});
    struct analyse_families families;
    struct analyse_search s = {
        .h = history, .m = model, .o = &o, .families = &families, .out = &found};
    found = (struct weft_findings){0};
    s.failed = analyse_families_init(&families, model) < 0;
    for (size_t i = 0; i < count && !s.failed; i++)
        analyse_search_run(&s, searches[i]);
    analyse_families_fini(&families);
    if (s.failed)
        weft_findings_fini(&found);
    return s.failed ? WEFT_E_NOMEM : 0;
}

static void understand(void)
{
    model = trace_model(&trace);
    assert_int_equal(weft_history_new(&history, model, NULL, NULL), 0);
}

static void forget(void)
{
    weft_findings_fini(&found);
    weft_history_free(history);
    weft_model_free(model);
}

#define SEARCHED                                                                                   \
    (1u << WEFT_FINDING_SWALLOWED_FAILURE | 1u << WEFT_FINDING_LEAK |                              \
     1u << WEFT_FINDING_SERIAL_WAITS | 1u << WEFT_FINDING_HERD)

static char *confidences(void *what)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(search_by(what, 1), 0);
    for (uint32_t i = 0; i < found.count; i++)
        fprintf(out, "%d %u %s\n", found.finding[i].confidence, found.finding[i].promise,
                found.finding[i].doubt ? found.finding[i].doubt : "");
    fclose(out);
    weft_findings_fini(&found);
    return text;
}

/* Of what is looked at next: not one of weft's traces; how the program ended. */
static bool is_mirage;
static enum weft_ended ended;

static void look_in(const char *scene, search *what)
{
    understand();
    model->quirks.mirage_kinds = model->quirks.loop_is_sleep = is_mirage;
    model->losses.ended = ended ? ended : WEFT_ENDED_STOPPED;
    rules_change(SEARCHED, scene, confidences, &what);
    assert_int_equal(search_by(&what, 1), 0);
    is_mirage = false;
    ended = 0;
    for (uint32_t i = 0; i < found.count; i++)
        print_message("%s: %s [%s]\n", weft_confidence_name(found.finding[i].confidence),
                      found.finding[i].text, found.finding[i].doubt ? found.finding[i].doubt : "-");
}

static void expect_nothing_in(const char *scene, search *what)
{
    look_in(scene, what);
    assert_int_equal(found.count, 0);
    forget();
}

/* One finding, of that confidence, of the promise with that id; text: all of it, or NULL. */
static const struct weft_finding *expect_in(const char *scene, search *what,
                                            enum weft_confidence confidence, uint64_t id,
                                            const char *text)
{
    look_in(scene, what);
    assert_int_equal(found.count, 1);
    const struct weft_finding *f = &found.finding[0];
    assert_int_equal(f->confidence, confidence);
    assert_int_equal(model->promise[f->promise].id, id);
    assert_true(f->doubt || confidence != WEFT_POSSIBLE);
    assert_non_null(f->text);
    if (text)
        assert_string_equal(f->text, text);
    for (uint32_t i = 1; i < f->evidences; i++)
        assert_true(f->evidence[i - 1].time_ns <= f->evidence[i].time_ns);
    return f;
}

#define look(what) look_in(__func__, what)
#define expect_nothing(what) expect_nothing_in(__func__, what)
#define expect(what, confidence, id, text) expect_in(__func__, what, confidence, id, text)

static uint64_t id_of(uint32_t promise)
{
    return model->promise[promise].id;
}

/* ---- Failures ---- */

/* A task that goes on for long enough that somebody could look. */
static void go_on(uint64_t task)
{
    for (int i = 0; i < 3; i++) {
        sleep_for(MS);
        run(task);
        uint64_t timer = make(task, TIMER, "pause");
        wait_for(task, timer);
        run(LOOP);
        sleep_for(5 * MS);
        fulfil(LOOP, timer);
        wake(task, timer);
        run(LOOP);
    }
}

static uint64_t begin_fetch(uint64_t *main_task)
{
    begin();
    *main_task = make(LOOP, TASK_, "main");
    run(*main_task);
    uint64_t fetch = make(*main_task, FETCH, "config");
    run(LOOP);
    sleep_for(MS);
    return fetch;
}

TEST(test_swallowed)
{
    uint64_t task, fetch = begin_fetch(&task);
    fail_with(LOOP, fetch, "connection refused");
    go_on(task);
    const struct weft_finding *f =
        expect(analyse_find_failures, WEFT_LIKELY, fetch,
               "'config' (fetch 2), created by 'main', failed at 1 ms with 'connection "
               "refused', and nobody has looked at it: nobody waits for it, and nobody reads its "
               "result.");
    assert_int_equal(f->evidences, 2);
    assert_int_equal(f->evidence[1].event, WEFT_EVIDENCE_FAILED);
    forget();
}

TEST(test_failure_is_seen)
{
    enum { WAITED, WOKEN, READ, RAN, WAYS };
    for (int way = 0; way < WAYS; way++) {
        uint64_t task, fetch = begin_fetch(&task);
        if (way == WAITED || way == RAN)
            wait_for(task, fetch);
        fail_with(LOOP, fetch, "connection refused");
        if (way == WOKEN)
            wake(task, fetch);
        if (way == READ)
            put(read_later(now, task, fetch));
        if (way == WAITED)
            sleep_for(20 * MS); /* it still waits: that is a hang */
        else
            go_on(task);
        expect_nothing(analyse_find_failures);
    }
}

/* Of a failure that is handed on, the last one counts. */
TEST(test_failure_handed_on)
{
    for (int seen = 0; seen < 2; seen++) {
        uint64_t task, fetch = begin_fetch(&task);
        uint64_t part = make(fetch, PROMISE, "socket");
        if (seen)
            wait_for(task, fetch);
        fail_with(LOOP, part, "reset");
        fail_with(LOOP, fetch, "reset");
        if (seen)
            wake(task, fetch);
        go_on(task);
        if (seen) {
            expect_nothing(analyse_find_failures);
            continue;
        }
        const struct weft_finding *f = expect(analyse_find_failures, WEFT_LIKELY, fetch, NULL);
        assert_int_equal(f->evidences, 3);
        assert_int_equal(id_of(f->evidence[1].promise), part);
        forget();
    }
}

/* Each lets somebody know of it, perhaps; unless the program's own runtime says that nobody does. */
TEST(test_failure_possible)
{
    enum {
        CANCELLED,
        RETRIED,
        AT_THE_END,
        GIVEN_UP,
        PROGRAM,
        MASTER,
        NEXT,
        LATER,
        PAUSED,
        MIRAGE,
        NO_READS,
        WAYS
    };
    for (int way = 0; way < WAYS; way++)
        for (int unhandled = way == CANCELLED ? 1 : 0; unhandled < 2; unhandled++) {
            const char *reason = way == CANCELLED ? "AbortError: no longer needed"
                                 : unhandled      ? "unhandled rejection: refused"
                                                  : "connection refused";
            uint64_t task, fetch = begin_fetch(&task), other = make(LOOP, TASK_, "other");
            if (way == GIVEN_UP) {
                put(cancels(now, LOOP, task));
                sleep_for(MS);
            }
            if (way == PROGRAM) {
                fulfil(LOOP, fetch);
                wake(task, fetch);
                fetch = task;
            }
            if (way == MASTER)
                fetch = make(LOOP, CONNECTION, "peer 1");
            if (way == NEXT)
                fetch = make(LOOP, PROMISE, "dial 1");
            if (way == LATER)
                wait_for(task, make(task, FETCH, "config"));
            if (way == MIRAGE) {
                fulfil(LOOP, fetch);
                wake(task, fetch);
                fetch = make(task, PROMISE, NULL);
            }
            fail_with(LOOP, fetch, reason);
            if (way == NEXT)
                fulfil(LOOP, make(LOOP, PROMISE, "dial 2"));
            if (way == RETRIED)
                wait_for(task, make(task, FETCH, "config"));
            if (way == PAUSED) {
                facts_pause(&trace, now, now + MS);
                now += 2 * MS;
            }
            if (way == NO_READS)
                sleep_for(20 * MS);
            else if (way != AT_THE_END)
                go_on(way == RETRIED ? task : other);
            is_mirage = way == MIRAGE;
            ended = way == LATER ? WEFT_ENDED_KILLED : WEFT_ENDED_STOPPED;
            print_message("%d %d\n", way, unhandled);
            bool sure = unhandled && way != CANCELLED;
            expect(analyse_find_failures, sure ? WEFT_LIKELY : WEFT_POSSIBLE, fetch, NULL);
            forget();
        }
}

/* Whoever reports success at the time of the failure has not looked at it, and will not. */
TEST(test_failure_and_success)
{
    for (int before = 0; before < 2; before++) {
        uint64_t task, fetch = begin_fetch(&task), timer = make(task, TIMER, "limit");
        wait_for(task, timer);
        sleep_for(MS);
        fulfil(LOOP, timer);
        wake(task, timer);
        if (before)
            fulfil(LOOP, task);
        fail_with(LOOP, fetch, "connection refused");
        now -= 100;
        if (!before)
            fulfil(LOOP, task);
        expect(analyse_find_failures, before ? WEFT_POSSIBLE : WEFT_LIKELY, fetch, NULL);
        forget();
    }
}

/* Whoever looked at a younger one later may have looked at the failure without an event, if others of the sort are there
 * at which nobody has looked either: the very first promise, for instance. */
TEST(test_failure_passed_by)
{
    for (int missed = 0; missed < 2; missed++) {
        begin();
        uint64_t early = make(LOOP, FETCH, "config"), task = make(LOOP, TASK_, "main");
        run(task);
        uint64_t fetch = make(task, FETCH, "config"), younger = make(task, FETCH, "config");
        run(LOOP);
        sleep_for(MS);
        if (missed)
            fulfil(LOOP, early);
        fail_with(LOOP, fetch, "connection refused");
        sleep_for(20 * MS);
        run(task);
        wait_for(task, younger);
        run(LOOP);
        sleep_for(MS);
        fulfil(LOOP, younger);
        wake(task, younger);
        run(LOOP);
        go_on(task);
        expect(analyse_find_failures, missed ? WEFT_POSSIBLE : WEFT_LIKELY, fetch, NULL);
        forget();
    }
}

TEST(test_failure_left)
{
    uint64_t task, fetch = begin_fetch(&task), timer = make(task, TIMER, "limit");
    wait_for(task, fetch);
    wait_for(task, timer);
    sleep_for(MS);
    fulfil(LOOP, timer);
    wake(task, timer);
    wait_for(task, make(task, PROMISE, "another"));
    run(LOOP);
    sleep_for(MS);
    fail_with(LOOP, fetch, "connection refused");
    sleep_for(20 * MS);
    expect(analyse_find_failures, WEFT_POSSIBLE, fetch, NULL);
    forget();
}

/* In a program that ended by itself nobody comes to it any more; and nobody may come to it who does not wait for others. What has
 * no label is a part of another one only in traces of others, and what has one is not. */
TEST(test_failure_all_the_same)
{
    enum { LATER, KILLED, NAMELESS, MIRAGE, WAYS };
    for (int way = 0; way < WAYS; way++) {
        uint64_t task, fetch = begin_fetch(&task);
        if (way == LATER)
            wait_for(task, make(task, FETCH, "config"));
        if (way == NAMELESS) {
            fulfil(LOOP, fetch);
            wake(task, fetch);
            fetch = make(task, PROMISE, NULL);
        }
        fail_with(LOOP, fetch, "connection refused");
        go_on(make(LOOP, TASK_, "other"));
        ended = way == KILLED ? WEFT_ENDED_KILLED : WEFT_ENDED_STOPPED;
        is_mirage = way == MIRAGE;
        expect(analyse_find_failures, WEFT_LIKELY, fetch, NULL);
        forget();
    }
}

/* While the recording was off, somebody may have looked. */
TEST(test_failure_before_a_pause)
{
    for (int after = 0; after < 2; after++) {
        uint64_t task, fetch = begin_fetch(&task);
        if (!after)
            fail_with(LOOP, fetch, "connection refused");
        facts_pause(&trace, now, now + MS);
        now += 2 * MS;
        if (after)
            fail_with(LOOP, fetch, "connection refused");
        go_on(task);
        const struct weft_finding *f =
            expect(analyse_find_failures, after ? WEFT_LIKELY : WEFT_POSSIBLE, fetch, NULL);
        assert_true(after || strstr(f->doubt, "was off"));
        forget();
    }
}

TEST(test_failure_strands)
{
    uint64_t task, fetch = begin_fetch(&task);
    uint64_t value = make(fetch, PROMISE, "value");
    wait_for(task, value);
    fail_with(LOOP, fetch, NULL);
    sleep_for(20 * MS);
    sleep_for(20 * MS);
    const struct weft_finding *f =
        expect(analyse_find_failures, WEFT_LIKELY, fetch,
               "'config' (fetch 2), created by 'main', failed at 1.001 ms, and nobody has looked "
               "at it: nobody waits for it, and nobody reads its result; 'main' has been waiting "
               "ever since for 'value', which it was to resolve.");
    assert_int_equal(f->affecteds, 2);
    assert_int_equal(id_of(f->affected[0]), task);
    assert_int_equal(id_of(f->affected[1]), value);
    assert_true(f->cost_ns > (int64_t)(40 * MS));
    forget();
}

/* What somebody waits for in vain was begun by it, through others: of 16 creators each is known. */
TEST(test_failure_strands_far_away)
{
    for (int between = 15; between <= 16; between++) {
        uint64_t task, fetch = begin_fetch(&task), last = fetch, first = last_id + 1;
        for (int i = 0; i < between; i++)
            last = make(last, PROMISE, "part");
        uint64_t value = make(last, PROMISE, "value");
        for (uint64_t p = first; p < value; p++)
            fulfil(LOOP, p);
        wait_for(task, value);
        fail_with(LOOP, fetch, NULL);
        sleep_for(40 * MS);
        const struct weft_finding *f = expect(analyse_find_failures, WEFT_LIKELY, fetch, NULL);
        assert_int_equal(strstr(f->text, "ever since for 'value'") != NULL, between == 15);
        forget();
    }
}

/* The same fault again and again is one finding; what is not known for sure is said with less confidence. */
TEST(test_failures_grouped)
{
    for (int discarded = 0; discarded < 2; discarded++) {
        uint64_t task, fetch = begin_fetch(&task);
        fail_with(LOOP, fetch, "disk full");
        for (int i = 0; i < 4; i++) {
            sleep_for(MS);
            fail_with(LOOP, make(task, FETCH, "config"), i ? "disk full" : "disk on fire");
        }
        go_on(task);
        understand();
        model->losses.discarded = (uint64_t)discarded;
        assert_int_equal(search_by((search *[]){analyse_find_failures}, 1), 0);
        assert_int_equal(found.count, 2);
        for (uint32_t i = 0; i < 2; i++) {
            const struct weft_finding *f = &found.finding[i];
            assert_int_equal(f->confidence, discarded ? WEFT_POSSIBLE : WEFT_LIKELY);
            assert_int_equal(f->count, id_of(f->promise) == fetch ? 4 : 1);
        }
        forget();
    }
}

/* The parent of what has failed reports success, without having looked: at once, or in its next run. */
TEST(test_parent_reports_success)
{
    for (int way = 0; way < 4; way++) {
        bool waits = way < 2, same_run = way % 2;
        begin();
        uint64_t request = make(LOOP, TASK_, "PUT /a");
        run(request);
        uint64_t write = make(request, PROMISE, "replica"), read = make(request, FETCH, "old");
        if (waits)
            wait_for(request, read);
        run(LOOP);
        sleep_for(MS);
        if (waits) {
            fulfil(LOOP, read);
            wake(request, read);
            run(LOOP);
            sleep_for(MS);
        }
        fail_with(LOOP, write, "disk full");
        if (!same_run)
            run(request);
        fulfil(same_run ? LOOP : request, request);
        run(LOOP);
        uint64_t other = make(LOOP, TASK_, "other");
        go_on(other);
        if (!waits && same_run)
            expect_nothing(analyse_find_failures); /* it may have been told directly */
        else {
            expect(analyse_find_failures, waits ? WEFT_LIKELY : WEFT_POSSIBLE, write, NULL);
            forget();
        }
    }
}

/* A group that waits for all its parts, and is told of those that went well only. */
TEST(test_failure_in_group)
{
    enum { ONLY_SUCCESSES, ALL, ANY, RAN_ONCE_MORE, WAYS, PARTS = 6, BAD = 2 };
    for (int way = 0; way < WAYS; way++) {
        uint64_t part[PARTS];
        begin();
        uint64_t group = make(LOOP, TASK_, "all parts"), other = make(LOOP, TASK_, "other");
        run(group);
        for (int i = 0; i < PARTS; i++)
            wait_for(group, part[i] = make_one(group, FETCH, "part %d", i));
        run(LOOP);
        for (int i = way == ANY ? BAD : 0; i < (way == ANY ? BAD + 2 : PARTS); i++) {
            sleep_for(MS);
            if (i == BAD)
                fail_with(LOOP, part[i], "checksum");
            else
                fulfil(LOOP, part[i]);
            if (i == BAD && way == RAN_ONCE_MORE)
                run(group);
            else if (i != BAD || way == ALL)
                wake(group, part[i]);
            if (i == (way == ANY ? BAD + 1 : PARTS - 1))
                fulfil(group, group);
            run(LOOP);
        }
        go_on(other);
        if (way == ONLY_SUCCESSES) {
            expect(analyse_find_failures, WEFT_LIKELY, part[BAD], NULL);
            forget();
        } else
            expect_nothing(analyse_find_failures);
    }
}

/* One other part may be all that it wants; two are not, whether or not it has run before. */
TEST(test_failure_in_a_small_group)
{
    for (int way = 0; way < 4; way++) {
        const int parts = 2 + way % 2;
        uint64_t part[3];
        begin();
        uint64_t group = make(LOOP, TASK_, "all parts"), other = make(LOOP, TASK_, "other");
        if (way / 2)
            run(group);
        for (int i = 0; i < parts; i++)
            wait_for(group, part[i] = make_one(group, FETCH, "part %d", i));
        run(LOOP);
        sleep_for(MS);
        fail_with(LOOP, part[0], "checksum");
        for (int i = 1; i < parts; i++) {
            fulfil(LOOP, part[i]);
            wake(group, part[i]);
            if (i == parts - 1)
                fulfil(group, group);
            run(LOOP);
        }
        go_on(other);
        if (parts == 3) {
            expect(analyse_find_failures, WEFT_LIKELY, part[0], NULL);
            forget();
        } else
            expect_nothing(analyse_find_failures);
    }
}

/* Parts that are awaited one after the other: those that are there already are used without a word. */
TEST(test_failure_come_to)
{
    uint64_t part[4];
    for (int unhandled = 0; unhandled < 2; unhandled++) {
        begin();
        uint64_t task = make(LOOP, TASK_, "check"), other = make(LOOP, TASK_, "other");
        run(task);
        for (int i = 0; i < 4; i++)
            part[i] = make_one(task, FETCH, "part %d", i);
        run(LOOP);
        for (int i = 0; i < 4; i += 3) {
            run(task);
            wait_for(task, part[i]);
            run(LOOP);
            sleep_for(MS);
            if (i == 0) {
                fulfil(LOOP, part[1]);
                fail_with(LOOP, part[2], unhandled ? "unhandled rejection" : "checksum");
            }
            fulfil(LOOP, part[i]);
            wake(task, part[i]);
        }
        fulfil(task, task);
        run(LOOP);
        go_on(other);
        expect(analyse_find_failures, unhandled ? WEFT_LIKELY : WEFT_POSSIBLE, part[2], NULL);
        forget();
    }
}

/* ---- Leaks ---- */

/* 60 requests; each ends, and leaves a timer. */
static void leave(enum kind kind, bool cancelled, bool background_, int ended_first)
{
    begin();
    uint64_t server = make(LOOP, TASK_, "server");
    for (int i = 0; i < 60; i++) {
        uint64_t request = make_one(server, TASK_, "GET /%d", i);
        run(request);
        uint64_t timer = make(request, kind, "limit");
        if (background_)
            put(background(now, timer));
        run(LOOP);
        sleep_for(MS);
        if (cancelled)
            put(cancels(now, LOOP, timer));
        else if (i < ended_first)
            fulfil(LOOP, timer);
        fulfil(LOOP, request);
    }
}

static void leave_timers(bool cancelled, bool background_)
{
    leave(TIMER, cancelled, background_, 0);
}

TEST(test_leak_of_ended)
{
    leave_timers(false, false);
    const struct weft_finding *f = expect(
        analyse_find_leaks, WEFT_LIKELY, 3,
        "'limit' (timer): 60 are pending when the trace ends, 30 at its middle; 60 were created "
        "and none ended. The oldest one left, timer 3, was created at 500 ns by 'GET /0', "
        "which ended at 1.001 ms.");
    assert_int_equal(f->affected_total, 59);
    assert_int_equal(f->evidences, 3);
    forget();
    leave_timers(true, false);
    expect_nothing(analyse_find_leaks);
    leave_timers(false, true);
    expect_nothing(analyse_find_leaks);
    leave(CONNECTION, false, false, 0); /* that these may stay does not matter then */
    expect(analyse_find_leaks, WEFT_LIKELY, 3, NULL);
    forget();
    leave_timers(false, false); /* they do not become more any longer */
    sleep_for(1000 * MS);
    expect(analyse_find_leaks, WEFT_LIKELY, 3, NULL);
    forget();
    leave(TIMER, false, false, 10);
    sleep_for(1000 * MS);
    expect(analyse_find_leaks, WEFT_LIKELY, 23, NULL);
    forget();
    leave_timers(false, false);
    is_mirage = true;
    expect(analyse_find_leaks, WEFT_POSSIBLE, 3, NULL);
    forget();
}

/* Ever more on their way: half of them come, and the younger ones are not older than those that came. Or somebody waits for
 * each of them. */
TEST(test_leak_of_slow_ones)
{
    static uint64_t reply[200];
    for (int awaited = 0; awaited < 2; awaited++) {
        begin();
        uint64_t server = make(LOOP, TASK_, "server");
        for (int i = 0; i < 200; i++) {
            reply[i] = make_one(server, PROMISE, "reply %d", i);
            if (awaited)
                wait_for(make_one(server, TASK_, "client %d", i), reply[i]);
            sleep_for(MS);
            if (!awaited && i % 2)
                fulfil(LOOP, reply[i / 2]);
        }
        look(analyse_find_leaks);
        assert_true(found.count >= 1);
        for (uint32_t i = 0; i < found.count; i++)
            assert_int_equal(found.finding[i].confidence, WEFT_POSSIBLE);
        forget();
    }
}

/* A server creates replies, of which one in every comes late or never. */
static void replies(int count, int every, enum kind kind, const char *name, int window)
{
    static uint64_t reply[1000];
    begin();
    uint64_t server = make(LOOP, TASK_, "server");
    for (int i = 0; i < count; i++) {
        reply[i] = make_one(server, kind, name, i);
        sleep_for(MS);
        int old = i - window;
        if (old >= 0 && (every == 0 || old % every != 0))
            fulfil(LOOP, reply[old]);
    }
}

TEST(test_leak_outlived)
{
    replies(200, 4, PROMISE, "reply %d", 0);
    expect(analyse_find_leaks, WEFT_LIKELY, 2, NULL);
    forget();
    replies(200, 4, PROMISE, "reply %d", 0);
    sleep_for(3000 * MS);
    expect(analyse_find_leaks, WEFT_LIKELY, 2, NULL);
    forget();
    replies(100, 1, PROMISE, "reply %d", 0); /* none comes, from the beginning on */
    expect(analyse_find_leaks, WEFT_LIKELY, 2, NULL);
    forget();
    replies(100, 1, CONNECTION, "peer %d", 0); /* may stay */
    expect(analyse_find_leaks, WEFT_POSSIBLE, 2, NULL);
    forget();
    replies(100, 1, READ_, "readv %d", 0); /* may stay, too */
    expect(analyse_find_leaks, WEFT_POSSIBLE, 2, NULL);
    forget();
    replies(100, 1, CONDITION_, "changed %d", 0); /* never resolved */
    expect(analyse_find_leaks, WEFT_POSSIBLE, 2, NULL);
    forget();
}

/* Those from before the recording was off may have ended then; the others are enough if they are many. */
TEST(test_leak_and_a_pause)
{
    for (unsigned part = 1; part <= 4; part++) {
        replies(100, 1, PROMISE, "reply %d", 0);
        facts_pause(&trace, part * 25 * MS, part == 4 ? 0 : part * 25 * MS + 1);
        const struct weft_finding *f =
            expect(analyse_find_leaks, part < 3 ? WEFT_LIKELY : WEFT_POSSIBLE, 2, NULL);
        assert_true(part < 3 || strstr(f->doubt, "was off"));
        forget();
    }
}

TEST(test_no_leak)
{
    enum { STEADY, BURST, POOL, WAITING, WAYS };
    for (int way = 0; way < WAYS; way++) {
        replies(way == STEADY  ? 300
                : way == BURST ? 100
                               : 0,
                0, PROMISE, "job %d", way == STEADY ? 40 : 2);
        uint64_t root = make(LOOP, PROMISE, "go");
        for (int i = 0; i < (way == STEADY ? 0 : 50); i++) {
            uint64_t p = make_one(1, PROMISE, "job %d", 1000 + i);
            if (way == WAITING) { /* a hang, not a leak */
                wait_for(p, root);
                sleep_for(MS);
            }
        }
        if (way == POOL)
            sleep_for(300 * MS);
        expect_nothing(analyse_find_leaks);
    }
}

/* 40 buffers come first, then the program goes on with those; or it ends, or is idle: that says nothing. */
/* A promise that only its timer would have ended is forgotten with that. */
TEST(test_leak_of_limits)
{
    for (unsigned way = 0; way < 4; way++) {
        const bool cancelled = way & 1, other = way & 2;
        begin();
        for (int i = 0; i < 50; i++) {
            uint64_t request = make(LOOP, TASK_, "request");
            sleep_for(MS);
            run(request);
            make(request, PROMISE, "limit");
            if (other)
                fulfil(request, make(request, PROMISE, "check"));
            uint64_t timer = make(request, TIMER, "1 s");
            if (cancelled)
                put(cancels(now, LOOP, timer));
            else
                fulfil(request, timer);
            fulfil(request, request);
            run(LOOP);
            sleep_for(MS);
        }
        sleep_for(1000 * MS);
        if (cancelled && !other) {
            expect_nothing(analyse_find_leaks);
        } else {
            expect(analyse_find_leaks, WEFT_LIKELY, 2, NULL);
            forget();
        }
    }
}

TEST(test_leak_or_pool)
{
    enum { POOL, ENDS, IDLE, WAYS };
    for (int way = 0; way < WAYS; way++) {
        begin();
        uint64_t server = make(LOOP, TASK_, "server");
        for (int i = 0; i < 40; i++) {
            make(server, PROMISE, "buffer, 4 KiB");
            sleep_for(MS);
        }
        for (int i = 0; i < 100 && way == POOL; i++) {
            uint64_t request = make(server, FETCH, "request");
            sleep_for(MS);
            fulfil(LOOP, request);
        }
        if (way == IDLE)
            sleep_for(100 * MS);
        const struct weft_finding *f =
            expect(analyse_find_leaks, way == POOL ? WEFT_POSSIBLE : WEFT_LIKELY, 2, NULL);
        assert_non_null(strstr(f->text, "'buffer, 4 KiB'")); /* all have this one: no '#' */
        forget();
    }
}

/* Ever more that listen for what is meant to be pending for long. Where it is not, it is that which hangs. */
TEST(test_leak_of_listeners)
{
    for (int marked = 0; marked < 2; marked++) {
        begin();
        uint64_t server = make(LOOP, TASK_, "server"), drained = make(LOOP, CONDITION_, "drained");
        if (marked)
            put(background(now, drained));
        for (int i = 0; i < 60; i++) {
            uint64_t listener = make(server, TASK_, "on drained");
            run(listener);
            wait_for(listener, drained);
            run(LOOP);
            sleep_for(MS);
        }
        if (marked) {
            expect(analyse_find_leaks, WEFT_LIKELY, 3, NULL);
            forget();
        } else
            expect_nothing(analyse_find_leaks);
    }
}

/* Each request starts a watcher, which sleeps, by itself or in a call of its own. It is the watcher that is left, and not what it sleeps for;
 * unless somebody waits for it, or its request is still there, or it waits for what somebody else is to do. */
TEST(test_leak_of_sleepers)
{
    enum { LEFT, DIRECT, AWAITED, OWNED, WAITING, WAYS };
    for (int way = 0; way < WAYS; way++) {
        begin();
        uint64_t server = make(LOOP, TASK_, "server");
        for (int i = 0; i < 60; i++) {
            uint64_t request = make_one(server, FETCH, "GET /%d", i);
            run(request);
            uint64_t watcher = make(request, TASK_, "watch");
            if (way == AWAITED)
                wait_for(server, watcher);
            run(watcher);
            uint64_t call = way == DIRECT ? watcher : make(watcher, PROMISE, "pause");
            if (call != watcher)
                wait_for(watcher, call);
            wait_for(call, make(watcher, way == WAITING ? PROMISE : TIMER, "30 s"));
            run(LOOP);
            sleep_for(MS);
            if (way != OWNED)
                fulfil(LOOP, request);
        }
        if (way <= DIRECT) {
            const struct weft_finding *f = expect(analyse_find_leaks, WEFT_LIKELY, 3, NULL);
            assert_non_null(strstr(f->text, "'watch' (task): 60 are pending"));
        } else {
            look(analyse_find_leaks);
            for (uint32_t i = 0; i < found.count; i++)
                assert_null(strstr(found.finding[i].text, "'watch' (task): "));
        }
        forget();
    }
}

/* ---- Serial waits ---- */

struct serial {
    int count;
    enum kind kind;
    const char *name;
    bool together, ends, works, alternates;
    enum { BY_LOOP, BY_BUSY_LOOP, BY_TASK, BY_TIMER } by; /* who resolves them */
    bool background;
    bool top;        /* the event loop has made who asks */
    bool fails;      /* every other one */
    bool elsewhere;  /* two of them are on their way at once, before */
    bool fans_out;   /* each waits for two things at once, */
    bool part;       /* … for one thing of its own, */
    bool news;       /* … for what was there before */
    bool sent_off;   /* an async waits for who asks */
    bool prepares;   /* who asks waited for something else before */
    bool room;       /* … for what another one makes meanwhile */
    bool in_order;   /* by its type, who asks was told to do so */
    bool late_timer; /* the timer is set when somebody asks */
};

/* A request that asks for one thing after the other. */
static uint64_t ask(struct serial o)
{
    static uint64_t fetch[1000];
    begin();
    uint64_t server = make(LOOP, TASK_, "server");
    uint64_t request = make(o.top ? LOOP : server, o.in_order ? ITER_S : TASK_, "GET /page");
    uint64_t maker = make(LOOP, TASK_, "maker"), timer = make(maker, TIMER, "tick");
    const uint64_t news = o.news ? make(server, PROMISE, "news") : 0;
    const uint64_t sent_off = o.sent_off ? make(server, ASYNC, "connection") : 0;
    if (o.background)
        put(background(now, request));
    if (o.sent_off)
        wait_for(sent_off, request);
    run(request);
    if (o.prepares) {
        const uint64_t parsed = make(request, PROMISE, "parsed");
        wait_for(request, parsed);
        run(LOOP);
        sleep_for(MS);
        fulfil(LOOP, parsed);
        wake(request, parsed);
    }
    for (int i = 0; i < 2 && o.elsewhere; i++)
        fetch[i] = make(server, o.kind, o.name);
    for (int i = 0; i < 2 && o.elsewhere; i++)
        fulfil(LOOP, fetch[i]);
    for (int i = 0; o.together && i < o.count; i++)
        fetch[i] = make_one(request, o.kind, o.name, i);
    for (int i = 0; i < o.count; i++) {
        const uint64_t room = o.room ? make(maker, PROMISE, "room") : 0;
        if (!o.together)
            fetch[i] = o.alternates && i % 2 ? make(request, PROMISE, "other")
                       : o.name              ? make_one(request, o.kind, o.name, i)
                                             : make(request, o.kind, NULL);
        wait_for(request, fetch[i]);
        const uint64_t of = o.part ? make(fetch[i], PROMISE, "part") : o.room ? room : news;
        if (o.part || o.news || o.room)
            wait_for(fetch[i], of);
        if (o.part && o.news)
            wait_for(of, news);
        if (o.fans_out) {
            const uint64_t part[] = {make(fetch[i], PROMISE, "a"), make(fetch[i], PROMISE, "b")};
            for (int k = 0; k < 2; k++)
                wait_for(fetch[i], part[k]);
            run(LOOP);
            sleep_for(4 * MS);
            for (int k = 0; k < 2; k++)
                fulfil(LOOP, part[k]);
        }
        if (o.works) {
            run(fetch[i]);
            now += 4 * MS;
            run(LOOP);
        } else if (o.by == BY_TASK) { /* it works for 4 ms, and the loop sleeps a moment */
            run(maker);
            now += 4 * MS;
            run(LOOP);
            sleep_for(US);
            run(maker);
        } else if (o.by == BY_BUSY_LOOP) {
            run(LOOP);
            now += 4 * MS;
        } else {
            run(LOOP);
            sleep_for(i == 2 ? 5 * MS : 4 * MS);
        }
        if (o.late_timer)
            timer = make(maker, TIMER, "tick");
        if (o.by == BY_TIMER) {
            fulfil(LOOP, timer);
            wake(maker, timer);
        }
        if (o.part || o.room)
            fulfil(LOOP, of);
        if (o.fails && i % 2)
            fail_with(LOOP, fetch[i], "refused");
        else
            fulfil(o.by == BY_TASK || o.by == BY_TIMER ? maker : LOOP, fetch[i]);
        if (o.by == BY_TIMER)
            timer = make(maker, TIMER, "tick");
        wake(request, fetch[i]);
    }
    if (o.ends)
        fulfil(request, request);
    run(LOOP);
    sleep_for(MS);
    return request;
}

TEST(test_serial)
{
    uint64_t reader = ask((struct serial){8, FETCH, "user %d", .ends = true});
    const struct weft_finding *f =
        expect(analyse_find_serial, WEFT_LIKELY, reader,
               "'GET /page' (task 2) started 8 promises ('user #', fetch) one after the other "
               "from 1.1 µs on, each only when the one before was there, and waited 33 ms for them "
               "in all; started together, they would need about 5 ms.");
    assert_int_equal(f->affected_total, 8);
    assert_int_equal(f->evidences, 2 * 5); /* how the first four and the last began and ended */
    assert_in_range(f->cost_ns, 28 * MS, 28 * MS + 10 * US);
    forget();
}

/* A few each time, but again and again. */
TEST(test_serial_short)
{
    for (int count = 2; count <= 3; count++)
        for (int times = 9; times <= 10; times++) {
            uint64_t first = 0;
            begin();
            for (int t = 0; t < times; t++) {
                uint64_t request = make(LOOP, TASK_, "GET /page");
                first = first ? first : request;
                run(request);
                for (int i = 0; i < count; i++) {
                    uint64_t fetch = make_one(request, FETCH, "user %d", i);
                    wait_for(request, fetch);
                    run(LOOP);
                    sleep_for(8 * MS);
                    fulfil(LOOP, fetch);
                    wake(request, fetch);
                }
                fulfil(request, request);
                run(LOOP);
            }
            if (count < 3 || times < 10) {
                expect_nothing(analyse_find_serial);
                continue;
            }
            assert_int_equal(expect(analyse_find_serial, WEFT_LIKELY, first, NULL)->count, 10);
            forget();
        }
}

/* … to the same one: a worker that waits for news, and does something in between. */
TEST(test_serial_worker)
{
    begin();
    uint64_t worker = make(LOOP, TASK_, "worker");
    run(worker);
    for (int t = 0; t < 20; t++)
        for (int i = 0; i < 4; i++) {
            uint64_t news =
                i < 3 ? make_one(worker, FETCH, "user %d", i) : make(worker, TIMER, "pause");
            wait_for(worker, news);
            run(LOOP);
            sleep_for(8 * MS);
            fulfil(LOOP, news);
            wake(worker, news);
        }
    expect_nothing(analyse_find_serial);
}

/* All have the same label, and nobody is seen who works for them: they may be pieces of one stream; not if two of them were on
 * their way at once before. */
TEST(test_serial_alike)
{
    static const char *const names[] = {"query", "key press", "op"};
    for (size_t i = 0; i < COUNT(names); i++)
        for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
            uint64_t reader =
                ask((struct serial){10, FETCH, names[i], .ends = true, .elsewhere = elsewhere});
            expect(analyse_find_serial, elsewhere ? WEFT_LIKELY : WEFT_POSSIBLE, reader, NULL);
            forget();
        }
}

/* What they are called does not matter, whatever it says. */
TEST(test_serial_names)
{
    static const char *const names[] = {"fetch %d", "GET /orders?after=%d00", "page %d",
                                        "timer %d", "readChunk %d",           "get key %d"};
    for (size_t i = 0; i < COUNT(names); i++) {
        uint64_t reader = ask((struct serial){6, PROMISE, names[i], .ends = true});
        expect(analyse_find_serial, WEFT_LIKELY, reader, NULL);
        forget();
    }
}

/* Each of them puts something into a queue that somebody else reads. */
TEST(test_serial_feeds)
{
    for (int others = 0; others < 2; others++) {
        begin();
        uint64_t reader = make(LOOP, TASK_, "reader"), request = make(LOOP, TASK_, "GET /page");
        for (int i = 0; i < 8; i++) {
            run(request);
            uint64_t part = make_one(request, FETCH, "user %d", i);
            uint64_t item = make(others ? reader : part, PROMISE, "item");
            wait_for(reader, item);
            wait_for(request, part);
            run(LOOP);
            sleep_for(4 * MS);
            run(part);
            fulfil(part, item);
            fulfil(part, part);
            wake(request, part);
        }
        fulfil(request, request);
        run(LOOP);
        sleep_for(MS);
        expect(analyse_find_serial, others ? WEFT_POSSIBLE : WEFT_LIKELY, request, NULL);
        forget();
    }
}

TEST(test_serial_ordered)
{
    static const struct serial ordered[] = {
        {8, READ_, "chunk %d", .ends = true},
        {8, FETCH, "thing %d", .ends = true, .by = BY_TIMER},
        {8, FETCH, "thing %d", .ends = true, .by = BY_TIMER, .late_timer = true},
        {8, FETCH, NULL, .ends = true, .elsewhere = true},
        {8, FETCH, "user %d", .ends = true, .fails = true},
        {120, FETCH, "user %d", .ends = true, .top = true},
        {600, FETCH, "printer state %d", .ends = true},
        {8, FETCH, "user %d", .ends = true, .top = true, .fans_out = true},
        {10, FETCH, "user %d", .ends = true, .top = true, .part = true},
        {8, FETCH, "user %d", .ends = true, .news = true},
        {8, FETCH, "user %d", .ends = true, .part = true, .news = true},
        {8, FETCH, "request %d", .ends = true, .part = true, .sent_off = true},
        {8, FETCH, "user %d", .ends = true, .room = true},
    };
    for (size_t i = 0; i < COUNT(ordered); i++) {
        uint64_t reader = ask(ordered[i]);
        expect(analyse_find_serial, WEFT_POSSIBLE, reader, NULL);
        forget();
    }
    /* One that asks for parts of its own answer; and one whose parts wait for nothing. */
    for (int way = 0; way < 2; way++) {
        uint64_t reader = ask((struct serial){8, FETCH, "user %d", .ends = true, .top = way == 1,
                                              .fans_out = way == 0});
        expect(analyse_find_serial, WEFT_LIKELY, reader, NULL);
        forget();
    }
    /* Fewer; not created by the loop; of nothing. */
    for (int way = 0; way < 3; way++) {
        uint64_t reader = ask((struct serial){way == 0 ? 9 : 10, FETCH, "user %d", .ends = true,
                                              .top = way != 1, .part = way != 2});
        expect(analyse_find_serial, WEFT_LIKELY, reader, NULL);
        forget();
    }
    /* Sent off for something else; waited for by nobody; without parts. */
    for (int way = 0; way < 3; way++) {
        uint64_t reader = ask((struct serial){8, FETCH, "user %d", .ends = true, .part = way != 2,
                                              .sent_off = way != 1, .prepares = way == 0});
        expect(analyse_find_serial, WEFT_LIKELY, reader, NULL);
        forget();
    }
    const uint64_t reader =
        ask((struct serial){8, FETCH, "user %d", .ends = true, .in_order = true});
    expect(analyse_find_serial, WEFT_POSSIBLE, reader, NULL);
    forget();
    ask((struct serial){8, READ_, "chunk %d", .ends = false}); /* and so on for ever */
    expect_nothing(analyse_find_serial);
}

/* What is waited for sleeps: a timer ends it that was made with it; or it waits for a timer, which counts if it is for a moment
 * only. */
TEST(test_serial_sleeps)
{
    static const struct {
        bool within, twice;   /* twice: it sleeps once more */
        uint64_t ns, late_ns; /* late: of its first one, before anybody waits for that */
        enum weft_confidence confidence;
    } of[] = {{false, false, 4 * MS, 0, WEFT_POSSIBLE},
              {true, false, 2 * MS, 0, WEFT_POSSIBLE},
              {true, false, 4 * MS, 0, WEFT_LIKELY},
              {true, true, 4 * MS, 0, WEFT_POSSIBLE},
              {true, false, 4 * MS, 2 * MS, WEFT_LIKELY}};
    for (size_t k = 0; k < COUNT(of); k++) {
        begin();
        uint64_t server = make(LOOP, TASK_, "server"), page = make(server, TASK_, "GET /page");
        run(page);
        for (int i = 0; i < 8; i++) {
            uint64_t part = make_one(page, PROMISE, "part %d", i);
            uint64_t timer = make(of[k].within ? part : page, TIMER, NULL);
            if (of[k].within)
                wait_for(part, timer);
            now += i == 0 ? of[k].late_ns : 0;
            wait_for(page, part);
            run(LOOP);
            sleep_for(of[k].ns - (i == 0 ? of[k].late_ns : 0));
            run(timer);
            if (of[k].within) {
                fulfil(LOOP, timer);
                wake(part, timer);
                if (of[k].twice) {
                    timer = make(part, TIMER, NULL);
                    wait_for(part, timer);
                    run(LOOP);
                    sleep_for(of[k].ns);
                    fulfil(LOOP, timer);
                    wake(part, timer);
                }
                fulfil(part, part);
            } else
                fulfil(timer, part);
            wake(page, part);
        }
        fulfil(page, page);
        run(LOOP);
        sleep_for(MS);
        expect(analyse_find_serial, of[k].confidence, page, NULL);
        forget();
    }
}

/* What a loop that was blocked or spun explains is no finding. */
TEST(test_serial_explained)
{
    for (int whole = 0; whole < 2; whole++) {
        ask((struct serial){8, FETCH, "user %d", .ends = true});
        understand();
        struct weft_explain_options o = weft_explain_defaults(NULL);
        struct analyse_families families;
        struct analyse_blocked blocked = {0, whole ? (int64_t)(30 * MS) : (int64_t)(2 * MS), 0};
        struct analyse_search s = {.h = history,
                                   .m = model,
                                   .o = &o,
                                   .families = &families,
                                   .out = &found,
                                   .blocked = &blocked,
                                   .blockeds = 1};
        found = (struct weft_findings){0};
        assert_int_equal(analyse_families_init(&families, model), 0);
        analyse_search_run(&s, analyse_find_serial);
        analyse_families_fini(&families);
        assert_false(s.failed);
        assert_int_equal(found.count, whole ? 0 : 1);
        forget();
    }
}

TEST(test_serial_possible)
{
    uint64_t reader =
        ask((struct serial){8, FETCH, "user %d", .ends = false}); /* and so on for ever, perhaps */
    expect(analyse_find_serial, WEFT_POSSIBLE, reader, NULL);
    forget();
}

TEST(test_not_serial)
{
    static const struct serial healthy[] = {
        {8, FETCH, "user %d", .ends = true, .together = true},
        {8, FETCH, "user %d", .ends = true, .works = true},
        {16, FETCH, "user %d", .ends = true, .alternates = true},
        {4, FETCH, "user %d", .ends = true},
        {8, TIMER, "pause", .ends = true},
        {8, FETCH, "user %d", .ends = true, .by = BY_BUSY_LOOP},
        {8, FETCH, "user %d", .ends = true, .by = BY_TASK},
        {8, FETCH, "user %d", .ends = true, .background = true},
    };
    for (size_t i = 0; i < COUNT(healthy); i++) {
        ask(healthy[i]);
        expect_nothing(analyse_find_serial);
    }
}

/* ---- Herds ---- */

enum style { SIGNALLED, SIGNALLED_ONLY, RAN, RESOLVED };

struct herd {
    enum style style;
    int woken;       /* of the workers */
    int winner;      /* which one takes the job, or -1 */
    bool silent;     /* it is recorded only how long the winner ran */
    uint64_t ran_ns; /* … 0: 2 ms */
    int winners;     /* 0: one */
    int turns;       /* 0: 5 */
    bool rotates;    /* always another one wins, and is the last that is told */
    int empty;       /* so many more come, for nobody */
    bool timer;
    bool becomes; /* whoever waits again becomes another one for it: a function that calls itself */
    int between;  /* the winner only ends a job of others; so many events of others follow */
    int workers;  /* 0: 12 */
    const char *name;
};

static uint64_t job_comes(struct herd o, uint64_t c, uint64_t *worker, int turn)
{
    uint64_t next = c, others = o.between ? make(LOOP, PROMISE, "job") : 0;
    if (o.style == RESOLVED) {
        fulfil(LOOP, c);
        next = make(LOOP, PROMISE, o.name);
    } else if (o.style != SIGNALLED_ONLY)
        put(notifies(now, LOOP, c));
    for (int i = 0; i < o.woken; i++) {
        uint64_t *at = &worker[o.woken < o.workers || o.rotates ? (turn + i) % o.workers : i],
                 w = *at;
        if (o.style == RAN)
            run(w);
        else if (o.style == RESOLVED)
            wake(w, c);
        else
            put(signals(now, w, c));
        now += US;
        bool wins = i >= o.winner && i < o.winner + (o.winners ? o.winners : 1) && o.winner >= 0;
        if (wins && o.between) {
            fulfil(w, others);
            for (int n = 0; n < o.between; n++)
                put(notifies(now, LOOP, others));
        } else if (wins && o.silent)
            now += o.ran_ns ? o.ran_ns : 2 * MS;
        else if (wins) {
            uint64_t job = make(w, PROMISE, "job");
            fulfil(w, job);
        }
        if (o.becomes)
            *at = make(w, TASK_, "goes on");
        wait_for(*at, next);
        if (o.becomes)
            put(becomes(now, w, *at));
    }
    run(LOOP);
    return next;
}

static void jobs_come(struct herd o)
{
    uint64_t worker[12];
    begin();
    o.name = o.name ? o.name : "job ready";
    o.workers = o.workers ? o.workers : 12;
    uint64_t c = make(LOOP,
                      o.timer               ? TIMER
                      : o.style == RESOLVED ? PROMISE
                                            : CONDITION_,
                      is_mirage ? NULL : o.name);
    for (int i = 0; i < o.workers; i++) {
        worker[i] = make_one(LOOP, TASK_, "worker %d", i);
        run(worker[i]);
        wait_for(worker[i], c);
    }
    run(LOOP);
    for (int turn = 0; turn < (o.turns ? o.turns : 5); turn++) {
        sleep_for(5 * MS);
        c = job_comes(o, c, worker, turn);
    }
    for (o.winner = -1; o.empty > 0; o.empty--) {
        sleep_for(5 * MS);
        c = job_comes(o, c, worker, 0);
    }
}

TEST(test_herd)
{
    jobs_come((struct herd){SIGNALLED, 12, 0, .silent = false});
    const struct weft_finding *f = expect(
        analyse_find_herds, WEFT_LIKELY, 1,
        "'job ready' (condition 1) woke 12 promises at 5.005 ms, and 11 of them found nothing to "
        "do and waited again at once; only 'worker 0' (task 2) went on. This happened 5 times: "
        "55 runs in vain.");
    assert_int_equal(f->count, 5);
    assert_int_equal(f->affecteds, 11);
    assert_int_equal(f->cost_ns, 55 * 1100);
    assert_int_equal(f->evidence[0].event, WEFT_EVIDENCE_SIGNALLED);
    forget();
    for (int style = SIGNALLED; style <= RAN; style++) {
        jobs_come((struct herd){(enum style)style, 12, 0, .silent = style == RAN});
        expect(analyse_find_herds, WEFT_LIKELY, 1, NULL);
        forget();
    }
    jobs_come((struct herd){SIGNALLED, 12, 0, .becomes = true});
    f = expect(analyse_find_herds, WEFT_LIKELY, 1, NULL);
    assert_int_equal(f->affecteds, 11);
    forget();
    jobs_come((struct herd){RESOLVED, 12, 0, .silent = false});
    f = expect(analyse_find_herds, WEFT_LIKELY, 1, NULL);
    assert_int_equal(f->count, 5);
    forget();
}

TEST(test_herd_guards)
{
    static const struct {
        struct herd o;
        enum weft_confidence confidence;
    } of[] = {
        {{RAN, 12, 0, .silent = true, .ran_ns = 150 * US}, WEFT_POSSIBLE}, /* little longer */
        {{RAN, 12, 0, .silent = true, .turns = 1}, WEFT_POSSIBLE},         /* by chance, once */
        {{SIGNALLED, 12, 0, .turns = 1}, WEFT_LIKELY},
        {{SIGNALLED, 12, 0, .winners = 3}, WEFT_POSSIBLE},
        {{SIGNALLED, 12, 0, .winners = 2}, WEFT_LIKELY},
        {{SIGNALLED, 12, 11, .rotates = true}, WEFT_LIKELY},
        {{SIGNALLED, 12, 10, .winners = 2, .rotates = true}, WEFT_POSSIBLE},
        {{SIGNALLED, 12, 0, .name = "config"}, WEFT_LIKELY}, /* says nothing */
        {{SIGNALLED, 12, 0, .timer = true}, WEFT_POSSIBLE},
        {{SIGNALLED, 12, 0, .empty = 6}, WEFT_POSSIBLE},
    };
    for (size_t i = 0; i < COUNT(of); i++) {
        jobs_come(of[i].o);
        expect(analyse_find_herds, of[i].confidence, 1, NULL);
        forget();
    }
    for (int named = 0; named < 2; named++) {
        is_mirage = !named;
        jobs_come((struct herd){SIGNALLED, 12, 0, .silent = false});
        is_mirage = true;
        expect(analyse_find_herds, named ? WEFT_LIKELY : WEFT_POSSIBLE, 1, NULL);
        forget();
    }
    is_mirage = true;
    jobs_come((struct herd){SIGNALLED, 12, 0, .silent = false});
    is_mirage = false;
    expect(analyse_find_herds, WEFT_LIKELY, 1, NULL);
    forget();
}

TEST(test_no_herd)
{
    jobs_come((struct herd){SIGNALLED, 12, -1, .silent = false}); /* all are told the same */
    expect_nothing(analyse_find_herds);
    jobs_come((struct herd){RESOLVED, 12, -1, .silent = false});
    expect_nothing(analyse_find_herds);
    jobs_come((struct herd){SIGNALLED, 1, 0, .silent = false}); /* one for each job */
    expect_nothing(analyse_find_herds);
    jobs_come((struct herd){SIGNALLED, 12, 5,
                            .silent = false}); /* always the same one, which is not first */
    expect(analyse_find_herds, WEFT_POSSIBLE, 1, NULL);
    forget();
    jobs_come((struct herd){RESOLVED, 7, 0, .workers = 7}); /* few */
    expect_nothing(analyse_find_herds);
    jobs_come((struct herd){RESOLVED, 8, 0, .workers = 8});
    expect(analyse_find_herds, WEFT_LIKELY, 1, NULL);
    forget();
    jobs_come((struct herd){SIGNALLED, 12, 0, .between = 63});
    expect(analyse_find_herds, WEFT_LIKELY, 1, NULL);
    forget();
    jobs_come((struct herd){SIGNALLED, 12, 0, .between = 64}); /* no search looks at more */
    expect_nothing(analyse_find_herds);
}

/* ---- The rest ---- */

TEST(test_words)
{
    static const struct {
        const char *text;
        bool has;
    } of[] = {
        {"timer", true},    {"idle timers", true}, {"idleTimer 7", true}, {"IDLE_TIMER", true},
        {"writing", true},  {"writer", true},      {"nexting", true},     {"timertable", false},
        {"rewrite", false}, {"text", false},       {"", false},           {"s", false},
        {"next", true},     {"timer\xff", true},   {"er", false},
    };
    static const char *const wrong[] = {"may-last",        "may-last accept",
                                        "lasts: accept",   "timer: a2",
                                        "timer: Wait",     "timer: a,b",
                                        "timer: \x01",     ":",
                                        "timer: \xc3\xa4", "timer:abcdefghijklmnopqrstuvwxy"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_non_null(weft_words_add(&words, wrong[i]));
    assert_null(weft_words_add(&words, "# timer: text"));
    assert_null(weft_words_add(&words, ""));
    assert_null(weft_words_add(&words, "timer: timer \twrite"));
    assert_null(weft_words_add(&words, "  timer:next "));
    assert_null(weft_words_add(&words, "lock:"));
    for (size_t i = 0; i < COUNT(of); i++) {
        print_message("%s\n", of[i].text);
        assert_int_equal(analyse_words_in(words, of[i].text, (uint32_t)strlen(of[i].text)),
                         of[i].has ? ANALYSE_TIMER : 0);
    }
    char large[1 << 16];
    memset(large, 'a', sizeof large);
    assert_int_equal(analyse_words_in(words, large, sizeof large), 0);
    memcpy(large, "timer:", 6);
    for (size_t i = 6; i < sizeof large; i += 2)
        large[i] = ' ';
    large[sizeof large - 1] = '\0';
    assert_non_null(weft_words_add(&words, large));
    weft_words_free(words);
    words = NULL;
}

/* What is found of labels with words that the user has listed is only possible; of other traces it is not lowered. */
TEST(test_words_of_the_user)
{
    static const char *const lines[] = {"may-last: reply", "in-order: user", "for-all: job",
                                        "meant-to-fail: refused"};
    for (int listed = 0; listed < 2; listed++) {
        const enum weft_confidence wanted = listed ? WEFT_POSSIBLE : WEFT_LIKELY;
        for (size_t i = 0; i < COUNT(lines) && listed; i++)
            assert_null(weft_words_add(&words, lines[i]));
        replies(100, 1, PROMISE, "reply %d", 0);
        expect(analyse_find_leaks, wanted, 2, NULL);
        forget();
        uint64_t task, p = ask((struct serial){8, FETCH, "user %d", .ends = true});
        expect(analyse_find_serial, wanted, p, NULL);
        forget();
        jobs_come((struct herd){SIGNALLED, 12, 0, .silent = false});
        expect(analyse_find_herds, wanted, 1, NULL);
        forget();
        for (int unhandled = 0; unhandled < 2; unhandled++) {
            p = begin_fetch(&task);
            fail_with(LOOP, p, unhandled ? "unhandled rejection: refused" : "connection refused");
            go_on(task);
            expect(analyse_find_failures, unhandled ? WEFT_LIKELY : wanted, p, NULL);
            forget();
        }
    }
    weft_words_free(words);
    words = NULL;
}

static search *const all[] = {analyse_find_failures, analyse_find_leaks, analyse_find_serial,
                              analyse_find_herds};

/* Many waiters on one promise, circles and times that run backwards: nothing but that it ends. */
TEST(test_hostile)
{
    enum { MANY_ = 20000 };
    begin();
    uint64_t root = make(LOOP, PROMISE, "root");
    for (int i = 0; i < MANY_; i++) {
        uint64_t p = make(root, TASK_, NULL);
        wait_for(p, root);
        wait_for(root, p);
        if (i % 3 == 0)
            fail_with(root, p, "x");
        if (i % 7 == 0)
            put(becomes(now, p, p - 1));
        if (i % 5 == 0)
            put(notifies(now, p, root));
        wake(p, root);
        now = i % 11 == 0 ? now - 500 : now;
    }
    understand();
    assert_int_equal(search_by(all, COUNT(all)), 0);
    forget();
}

TEST(test_no_memory)
{
    for (int which = 0; which < 4; which++) {
        uint64_t task, fetch;
        if (which == 0) {
            fetch = begin_fetch(&task);
            fail_with(LOOP, fetch, "AbortError");
            go_on(task);
        } else if (which == 1)
            replies(100, 1, CONNECTION, "peer %d", 0);
        else if (which == 2)
            ask((struct serial){8, READ_, "chunk %d", .ends = true});
        else
            jobs_come((struct herd){SIGNALLED, 12, 5, .silent = false});
        understand();
        struct failing f = {0};
        int rc = 0;
        while (fails_next(&f, rc)) {
            rc = search_by(&all[which], 1);
            assert_int_equal(found.count, rc < 0 ? 0 : 1);
            weft_findings_fini(&found);
        }
        forget();
    }
}

static int each_rule_is_needed(void **state)
{
    (void)state;
    return rules_noticed(SEARCHED);
}

RUN_TESTS(NULL, each_rule_is_needed)
