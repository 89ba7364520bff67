/* SPDX-License-Identifier: ISC */
/* What is said of promises, ranges and traces, and which promises a list for screen readers has. */
#include <inttypes.h>

#include "analyse/path.h"
#include "analyse/stats.h"
#include "analyse/story.h"
#include "explore/fact.h"
#include "explore/state.h"
#include "packets.h"
#include "base/duration.h"
#include "view/search.h"
#include "view/text.h"

#define MS(x) ((x)*UINT64_C(1000000))

/* ---- Scenes ---- */

struct subject {
    struct weft_model *m;
    struct weft_scene *s;
    struct weft_history *h;
    struct weft_hung hung;
    struct explore_facts f;
};

static struct subject take_file(const char *path)
{
    struct subject x = {0};
    struct weft_reader *r;
    assert_int_equal(weft_reader_open(&r, path, NULL), 0);
    assert_int_equal(weft_model_build(&x.m, r, NULL, NULL, NULL), 0);
    weft_reader_close(r);
    assert_int_equal(weft_scene_new(&x.s, x.m, false, NULL, NULL), 0);
    assert_int_equal(weft_history_new(&x.h, x.m, NULL, NULL), 0);
    explore_hung_find(&x.hung, x.h);
    x.f.history = x.h;
    return x;
}

static struct subject take(struct trace *t)
{
    struct subject x = take_file(trace_path(t));
    trace_fini(t);
    return x;
}

static struct subject build(const struct weft_event *ev, size_t count)
{
    struct trace t = {.fd = -1};
    trace_packet(&t, 0, ev, count);
    return take(&t);
}

#define BUILD(...)                                                                                 \
    build((const struct weft_event[]){__VA_ARGS__},                                                \
          COUNT(((const struct weft_event[]){__VA_ARGS__})))

static int about_trace(struct subject *x, const char *title)
{
    x->f.hung = x->f.history ? &x->hung : NULL;
    return explore_facts_of_trace(&x->f, x->s, title);
}

static void leave(struct subject *x)
{
    explore_facts_fini(&x->f);
    weft_history_free(x->h);
    weft_scene_free(x->s);
    weft_model_free(x->m);
}

/* ---- Facts as lines ---- */

/* What must hold for all facts of any trace. */
static void check(const struct subject *x)
{
    char clean[1000];
    for (uint32_t i = 0; i < x->f.count; i++) {
        const struct weft_fact *f = &x->f.fact[i];
        const char *texts[] = {f->name, f->text};
        for (unsigned k = 0; k < 2; k++) {
            size_t n = strlen(texts[k]);
            assert_true(n <= 200);
            assert_int_equal(weft_text_clean(clean, sizeof clean, texts[k], n), n);
            assert_memory_equal(clean, texts[k], n);
        }
        if (f->link == WEFT_LINK_PROMISE)
            assert_in_range(x->f.target[i].promise, 1, x->m->promises - 1);
        if (f->heading)
            assert_true(f->name[0] && !f->text[0] && f->link == WEFT_LINK_NONE);
    }
}

/* All of them: headings in brackets, links as <p ID> and <t NS>, ! for bad ones. */
static const char *lines(const struct subject *x)
{
    static char out[64 << 10];
    size_t n = 0;
    check(x);
    out[0] = 0;
    for (uint32_t i = 0; i < x->f.count && n < sizeof out - 1000; i++) {
        const struct weft_fact *f = &x->f.fact[i];
        const struct explore_target *t = &x->f.target[i];
        size_t room = sizeof out - n;
        if (f->heading)
            n += (size_t)snprintf(out + n, room, "[%s]\n", f->name);
        else
            n += (size_t)snprintf(out + n, room, "%s: %s%s", f->name, f->text, f->bad ? " !" : "");
        if (f->link == WEFT_LINK_PROMISE)
            n += (size_t)snprintf(out + n, sizeof out - n, " <p %" PRIu64 ">",
                                  x->m->promise[t->promise].id);
        else if (f->link == WEFT_LINK_TIME)
            n += (size_t)snprintf(out + n, sizeof out - n, " <t %" PRId64 ">", t->time_ns);
        if (!f->heading)
            n += (size_t)snprintf(out + n, sizeof out - n, "\n");
    }
    return out;
}

static const char *about(struct subject *x, uint64_t id)
{
    assert_int_equal(explore_facts_of_promise(&x->f, x->s, weft_model_find(x->m, id)), 0);
    return lines(x);
}

static void expect(const char *found, const char *wanted)
{
    if (!strstr(found, wanted))
        print_message("%s\n-- has no --\n%s\n", found, wanted);
    assert_non_null(strstr(found, wanted));
}

static void expect_not(const char *found, const char *unwanted)
{
    if (strstr(found, unwanted))
        print_message("%s\n-- has --\n%s\n", found, unwanted);
    assert_null(strstr(found, unwanted));
}

static uint64_t id_of(const struct subject *x, uint32_t promise)
{
    return promise == WEFT_NONE ? LOOP : x->m->promise[promise].id;
}

/* ---- Promises ---- */

TEST(waits_and_resolution)
{
    struct subject x =
        BUILD(creates(MS(1), LOOP, 1, TASK), label(MS(1), 1, "request"), switches(MS(1), 1),
              creates(MS(2), 1, 2, WAIT), label(MS(2), 2, "reply"), creates(MS(2), 1, 3, WAIT),
              try_read(MS(3), 1, 2), switches(MS(3), LOOP), switches(MS(10), 3),
              fulfills(MS(10), 3, 2), reads(MS(12), 1, 2), try_read(MS(13), 1, 3),
              switches(MS(13), LOOP), try_read(MS(14), 2, 3), switches(MS(20), LOOP));
    assert_string_equal(about(&x, 1), "[#1 request]\n"
                                      "type: task\n"
                                      "created: at 0 ns <t 0>\n"
                                      "created by: the event loop\n"
                                      "pending: not resolved when the trace ends\n"
                                      "last sign of life: at 12 ms <t 12000000>\n"
                                      "pending for: 19 ms\n"
                                      "[Waits for]\n"
                                      "in all: 14 ms in 2 waits, 74 % of its life\n"
                                      "for: #3 wait: still waits, since 12 ms (7 ms) ! <p 3>\n"
                                      ": #2 wait reply: waited 9 ms from 2 ms <p 2>\n"
                                      "ready: 2 ms: it could have gone on, but did not run yet\n"
                                      "at the latest: #2 wait reply: 2 ms late <p 2>\n"
                                      "[Labels]\n"
                                      "0 ns: request <t 0>\n"
                                      "[Running]\n"
                                      "in all: 3 ms in 2 runs, 16 % of its life\n"
                                      "longest run: 2 ms from 0 ns <t 0>\n"
                                      "first ran: at 0 ns <t 0>\n"
                                      "last ran: at 11 ms <t 11000000>\n"
                                      "[Created]\n"
                                      "in all: 2 promises\n"
                                      "the longest: #3 wait, 18 ms, pending <p 3>\n"
                                      ": #2 wait reply, 8 ms <p 2>\n");
    const char *two = about(&x, 2);
    expect(two, "created by: #1 task request, 19 ms, pending <p 1>\n");
    expect(two, "fulfilled: at 9 ms <t 9000000>\nlasted: 8 ms\n"
                "resolved by: #3 wait, 18 ms, pending <p 3>\n");
    expect(two, "[Was waited for]\nin all: 9 ms in 1 wait\n"
                "by: #1 task request: waited 9 ms from 2 ms <p 1>\n"
                "was used late: 2 ms after it was there, in all\n");
    const char *three = about(&x, 3);
    expect(three, "[Did]\nresolved: #2 wait reply, at 9 ms <p 2>\n");
    expect(three, "in all: 7 ms in 2 waits\n");
    expect(three, "by: #1 task request: still waits, since 12 ms (7 ms) ! <p 1>\n");
    /* Keys. */
    uint32_t one = weft_model_find(x.m, 1), other = weft_model_find(x.m, 2);
    assert_int_equal(id_of(&x, explore_walk_waited_for(x.h, one)), 3);
    assert_int_equal(id_of(&x, explore_walk_creator(x.s, other)), 1);
    assert_int_equal(explore_walk_creator(x.s, one), WEFT_NONE);
    assert_int_equal(id_of(&x, explore_walk_resolver(x.s, other)), 3);
    assert_int_equal(explore_walk_resolver(x.s, one), WEFT_NONE);
    assert_int_equal(explore_walk_became(x.s, one), WEFT_NONE);
    leave(&x);
}

TEST(waits_end_in_many_ways)
{
    struct subject x =
        BUILD(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, CONDITION), creates(0, LOOP, 3, WAIT),
              creates(0, LOOP, 4, WAIT), creates(0, LOOP, 5, TASK), creates(0, LOOP, 6, WAIT),
              try_read(MS(1), 1, 2), signals(MS(3), 1, 2),      /* 2 ms, signalled */
              try_read(MS(4), 1, 3), fulfills(MS(8), LOOP, 3),  /* 4 ms, not used */
              try_read(MS(9), 1, 4), fulfills(MS(10), LOOP, 1), /* 1 ms, ends itself */
              try_read(MS(11), 5, 6), try_read(MS(12), 5, 6),   /* one wait */
              becomes(MS(13), 6, 4), fulfills(MS(14), LOOP, 4), reads(MS(15), 5, 6), /* as 4 */
              read_later(MS(16), 5, 3));
    const char *one = about(&x, 1);
    expect(one, "in all: 2 ms in 3 waits, 20 % of its life\n"); /* from 3 ms on it runs */
    expect(one, "for: #3 wait: waited 6 ms from 4 ms, until it ended itself <p 3>");
    expect(one, ": #2 condition: waited 2 ms from 1 ms, until signalled <p 2>\n");
    expect(one, ": #4 wait: waited 1 ms from 9 ms, until it ended itself <p 4>\n");
    expect(one, "signalled by: #2 condition, at 3 ms <p 2>\n");
    expect_not(one, "!");
    const char *five = about(&x, 5);
    expect(five, "in all: 3 ms in 1 wait");
    expect(five, "for: #6 wait: waited 4 ms from 11 ms <p 6>\n"
                 "ready: 1 ms: it could have gone on, but did not run yet\n");
    expect(five, "used: #3 wait, at 16 ms <p 3>\n");
    expect(about(&x, 6), "became: at 13 ms <t 13000000>\nlasted: 13 ms\n"
                         "what it became: #4 wait, 14 ms <p 4>\n");
    expect(lines(&x), "by: #5 task: waited 4 ms from 11 ms <p 5>\n");
    expect(about(&x, 4), "was: #6 wait, 13 ms <p 6>\n");
    expect(about(&x, 2), "[Signals]\nsignalled: #1 task, at 3 ms <p 1>\n");
    assert_int_equal(id_of(&x, explore_walk_became(x.s, weft_model_find(x.m, 6))), 4);
    leave(&x);
}

static uint64_t random_state;

static uint64_t below(uint64_t limit) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(0x2545f4914f6cdd1d) >> 32) * limit >> 32;
}

static struct weft_event any_event(uint64_t now)
{
    uint64_t a = 1 + below(8), b = 1 + below(8);
    switch (below(10)) {
    case 9:
        return gc(now, MS(below(3)));
    case 0:
        return creates(now, a, b, WAIT + (unsigned)below(3));
    case 1:
        return reads(now, a, b);
    case 2:
        return fulfills(now, below(3) ? a : LOOP, b);
    case 3:
        return below(4) ? switches(now, a) : becomes(now, a, b);
    case 4:
        return signals(now, a, b);
    case 5:
    case 6:
        return switches(now, LOOP);
    default:
        return try_read(now, a, b);
    }
}

/* The panel, the story of weft explain and weft stats say the same of each promise. */
TEST(all_say_the_same)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct trace t = {.fd = -1};
        uint64_t now = MS(1);
        struct weft_spent sum = {0};
        struct weft_stats stats;
        random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
        trace_begin(&t, 0);
        for (unsigned i = 0; i < 120; i++)
            trace_add(&t, any_event(now += MS(below(4))));
        struct subject x = take(&t);
        for (uint32_t p = 1; p < x.m->promises; p++) {
            struct weft_story story;
            char wanted[200];
            assert_int_equal(weft_story_find(&story, x.h, p), 0);
            sum.waiting_ns += story.spent.waiting_ns;
            sum.blocked_ns += story.spent.blocked_ns;
            sum.ready_ns += story.spent.ready_ns;
            sum.running_ns += story.spent.running_ns;
            const char *found = about(&x, x.m->promise[p].id);
            snprintf(wanted, sizeof wanted, "[%s]\nin all: %s in %" PRIu64 " wait",
                     story.waits_open ? "Waits for" : "Waited for",
                     weft_duration(story.spent.waiting_ns).text, story.waits);
            if (story.waits)
                expect(found, wanted);
            snprintf(wanted, sizeof wanted, "\nready: %s: it could",
                     weft_duration(story.spent.ready_ns).text);
            if (story.spent.ready_ns)
                expect(found, wanted);
            snprintf(wanted, sizeof wanted, "[Running]\nin all: %s in %" PRIu64 " run",
                     weft_duration(story.spent.running_ns).text, story.runs);
            if (story.runs)
                expect(found, wanted);
            snprintf(wanted, sizeof wanted, "\npaused: %s: garbage",
                     weft_duration(story.spent.collecting_ns).text);
            if (story.spent.collecting_ns)
                expect(found, wanted);
            else
                expect_not(found, "\npaused: ");
            snprintf(wanted, sizeof wanted, "\nblocked: %s of that",
                     weft_duration(story.spent.blocked_ns).text);
            assert_true(story.spent.blocked_ns <= story.spent.waiting_ns);
            if (story.spent.blocked_ns)
                expect(found, wanted);
            else
                expect_not(found, "\nblocked: ");
        }
        assert_int_equal(weft_stats_find(&stats, x.h, WEFT_BY_TYPE, NULL, NULL), 0);
        for (uint32_t i = 0; i < stats.rows; i++) {
            sum.waiting_ns -= stats.row[i].waiting_ns;
            sum.blocked_ns -= stats.row[i].blocked_ns;
            sum.ready_ns -= stats.row[i].ready_ns;
            sum.running_ns -= stats.row[i].running_ns;
        }
        assert_true(sum.waiting_ns == 0 && sum.blocked_ns == 0 && sum.ready_ns == 0 &&
                    sum.running_ns == 0);
        weft_stats_fini(&stats);
        leave(&x);
    }
}

/* A request waits for what the loop brings after it was blocked: the path, the story, the panel and the statistics give that
 * time to the same. */
TEST(all_say_what_was_blocked)
{
    struct subject x =
        BUILD(creates(0, LOOP, 1, TASK), switches(0, 1), creates(MS(1), 1, 2, WAIT),
              label(MS(1), 2, "db"), try_read(MS(1), 1, 2), switches(MS(1), LOOP),
              creates(MS(40), LOOP, 3, TASK), label(MS(40), 3, "render"), switches(MS(40), 3),
              gc(MS(60), MS(10)), fulfills(MS(90), 3, 3), fulfills(MS(90), LOOP, 2),
              reads(MS(90), 1, 2), fulfills(MS(95), 1, 1));
    uint32_t one = weft_model_find(x.m, 1), count;
    struct weft_path path = {0};
    struct weft_story story;
    struct weft_stats stats;
    int64_t sum[WEFT_STEP_KINDS] = {0};
    assert_int_equal(weft_path_find(&path, x.h, one), 0);
    for (uint32_t i = 0; i < path.count; i++)
        sum[path.step[i].kind] += path.step[i].to_ns - path.step[i].from_ns;
    assert_int_equal(sum[WEFT_STEP_OUTSIDE], MS(39));
    assert_int_equal(sum[WEFT_STEP_BLOCKED], MS(40));
    assert_int_equal(sum[WEFT_STEP_COLLECTING], MS(10));
    assert_int_equal(weft_story_find(&story, x.h, one), 0);
    assert_int_equal(story.spent.waiting_ns, MS(89));
    assert_int_equal(story.spent.blocked_ns, sum[WEFT_STEP_BLOCKED] + sum[WEFT_STEP_COLLECTING]);
    expect(about(&x, 1), "in all: 89 ms in 1 wait, 94 % of its life\n"
                         "blocked: 50 ms of that: the loop did not look, it may have been there\n");
    struct weft_share *share = weft_path_shares(&path, x.m, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct analyse_text t = {0};
        explore_put_share(&t, x.m, &share[i]);
        if (share[i].kind == WEFT_STEP_BLOCKED)
            assert_string_equal(t.text, "40 ms the loop was blocked by 'render'");
        analyse_text_fini(&t);
    }
    free(share);
    assert_int_equal(weft_stats_find(&stats, x.h, WEFT_BY_TYPE, NULL, NULL), 0);
    int64_t blocked = 0;
    for (uint32_t i = 0; i < stats.rows; i++)
        blocked += stats.row[i].blocked_ns;
    assert_int_equal(blocked, story.spent.blocked_ns);
    weft_stats_fini(&stats);
    weft_path_fini(&path);
    leave(&x);
}

TEST(failures_and_marks)
{
    struct subject x = BUILD(
        creates(0, LOOP, 1, TASK), creates(0, 1, 2, TRY), label(0, 1, "__should_resolve"),
        fails(MS(2), 1, 2, "Not\x01 found\xff"), reads(MS(5), 7, 2), creates(MS(9), 1, 3, TASK));
    expect(about(&x, 2), "failed: at 2 ms ! <t 2000000>\n");
    expect(lines(&x),
           "failure: Not  found\xef\xbf\xbd !\nfailed by: #1 task, 9 ms, pending <p 1>\n");
    expect(about(&x, 1), "pending: marked as one that must be resolved, and never was !\n"
                         "pending for: 9 ms\n");
    expect(about(&x, 7), "created: before the trace begins\n");
    expect_not(lines(&x), "created by");
    leave(&x);
}

/* A bind is shown from when it is woken. */
TEST(simplified)
{
    struct subject x =
        BUILD(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, WAIT), creates(0, 1, 3, BIND),
              fulfills(MS(5), LOOP, 2), reads(MS(5), 3, 2), fulfills(MS(6), 3, 3));
    expect(about(&x, 3), "created: at 0 ns <t 0>\ncreated by: #1 task, 6 ms, pending <p 1>\n"
                         "hangs under: #2 wait, 5 ms <p 2>\n"
                         "shown from: 5 ms, when it used that <t 5000000>\n"
                         "fulfilled: at 6 ms <t 6000000>\nlasted: 1 ms; 6 ms since it was created\n"
                         "resolved by: #3 bind, 1 ms (itself) <p 3>\n");
    expect_not(lines(&x), "[Did]\nresolved");
    expect(about(&x, 1), "[Created]\nin all: 1 promise\n: #3 bind, 1 ms <p 3>\n");
    leave(&x);
}

TEST(lists_are_bounded)
{
    struct trace t = {.fd = -1};
    char text[300];
    trace_begin(&t, 0);
    trace_add(&t, creates(0, LOOP, 1, TASK));
    trace_add(&t, creates(0, LOOP, 2, TASK));
    for (uint64_t i = 0; i < 1000; i++) {
        memset(text, 'x', sizeof text - 1);
        text[sizeof text - 1] = 0;
        snprintf(text, 20, "%" PRIu64, i);
        text[strlen(text)] = i % 2 ? 'y' : '\xc3';
        trace_add(&t, label(MS(i), 1, text));
        trace_add(&t, creates(MS(i), 1, 10 + i, TASK));
        trace_add(&t, label(MS(i), 10 + i, text));
        trace_add(&t, try_read(MS(i), 1, 10 + i));
        trace_add(&t, signal_only(MS(i), 2, 1));
        trace_add(&t, read_later(MS(i), 1, 2));
    }
    for (uint64_t i = 0; i < 1000; i++)
        trace_add(&t, fulfills(MS(1000 + i), 1, 10 + i));
    struct subject x = take(&t);
    const char *one = about(&x, 1);
    assert_true(x.f.count < 80);
    expect(one, ": and 988 more\n"); /* labels */
    expect(one, "in all: 1,000 promises\n");
    expect(one, ": and 992 more\n");
    expect(one, "in 1,000 waits");
    expect(one, "\xe2\x80\xa6");
    assert_int_equal(about_trace(&x, text), 0);
    lines(&x);
    leave(&x);
}

/* What only weft's own traces have: place, notifications, marks; a counter's change is no label there. */
TEST(own_trace)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t file = strings_text(&s, "src/arp.c");
    uint32_t site =
        strings_site(&s, strings_text(&s, "condition"), strings_text(&s, "response"), file, 77);
    struct weft_event notify = {.time_ns = MS(2), .kind = WEFT_EVENT_NOTIFIES, .a = 1, .b = 2};
    struct weft_event calm = {.time_ns = MS(2), .kind = WEFT_EVENT_BACKGROUND, .a = 3};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .running = LOOP});
    events_put(&t, creates(0, LOOP, 1, 0), site);
    events_put(&t, creates(0, LOOP, 2, 0), site);
    events_put(&t, creates(0, LOOP, 3, 0), site);
    events_put(&t, creates(0, LOOP, 4, 0), site);
    events_put(&t, notify, 0);
    events_put(&t, calm, 0);
    events_put(&t, try_read(MS(4), 3, 4), 0);
    events_put(&t, try_read(MS(5), 1, 2), 0);
    events_put(&t, switches(MS(10), LOOP), 0);
    struct subject x = take(&t);
    const char *two = about(&x, 2);
    expect(two, "[#2 response]\ntype: condition\ncreated: at 0 ns <t 0>\n"
                "in the source: src/arp.c:77\ncreated by: the event loop\n");
    expect(two, "[Signals]\nnotified by: #1 condition response, at 2 ms <p 1>\n"
                "in vain: once, when nobody waited: at 2 ms ! <t 2000000>\n");
    expect(two, "by: #1 condition response: still waits, since 5 ms (5 ms), 3 ms after it was last "
                "notified ! <p 1>\n");
    expect(about(&x, 1), "notified: #2 condition response, at 2 ms <p 2>\n");
    const char *three = about(&x, 3); /* it is no fault that this one waits */
    expect(three, "pending: meant to be pending for long\n");
    expect(three, "still waits, since 4 ms (6 ms) <p 4>\n");
    /* The wait that hangs, not the one that is meant to be long. */
    assert_int_equal(about_trace(&x, NULL), 0);
    expect(lines(&x), "still waiting: 1 promise when the trace ends\n"
                      "the longest wait: #1 condition response: waits since 5 ms <p 1>\n"
                      "for: #2 condition response, 10 ms, pending <p 2>\n"
                      "which was notified: once, when nobody waited: at 2 ms ! <t 2000000>\n");
    leave(&x);
}

#define TRACE_A "4bf92f3577b34da6a3ce929d0e0e4736"
#define TRACE_B "0af7651916cd43dd8448eb211c80319c"

TEST(spans)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t task = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .running = LOOP});
    events_put(&t, creates(0, LOOP, 1, 0), task);
    events_put(&t, creates(0, 1, 2, 0), task);
    events_put(&t, creates(0, LOOP, 3, 0), task);
    events_put(&t, creates(0, LOOP, 4, 0), task);
    events_put(&t, with_text(in_span(1, 1), TRACE_A "-00f067aa0ba902b7"), 0);
    events_put(&t, with_text(is_span(2, 3), TRACE_A "-0000000000000003"), 0);
    events_put(&t, with_text(in_span(3, 3), TRACE_B "-0000000000000004"), 0);
    struct subject x = take(&t);
    expect(about(&x, 1), "\ntrace id: " TRACE_A "\ncaused by span: 00f067aa0ba902b7\n");
    expect(about(&x, 2), "\ntrace id: " TRACE_A ", of #1 task <p 1>\n");
    expect_not(about(&x, 2), "span");
    expect(about(&x, 3), "\ntrace id: " TRACE_A "\nspan id: 0000000000000003\ncaused by span: "
                         "0000000000000004, of the trace " TRACE_B "\n");
    expect_not(about(&x, 4), "trace id");
    leave(&x);
}

TEST(what_is_held)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t task = strings_site(&s, strings_text(&s, "task"), strings_text(&s, "importer"), 0, 0);
    uint32_t lock = strings_site(&s, strings_text(&s, "lock"), strings_text(&s, "catalogue"), 0, 0);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .running = LOOP});
    events_put(&t, creates(0, LOOP, 1, 0), task);
    events_put(&t, creates(0, LOOP, 2, 0), lock);
    events_put(&t, acquires(MS(1), 1, 2), 0);
    events_put(&t, releases(MS(3), 1, 2), 0);
    events_put(&t, acquires(MS(4), 1, 2), 0);
    events_put(&t, fails(MS(5), 1, 1, "bad record"), 0);
    events_put(&t, switches(MS(10), LOOP), 0);
    struct subject x = take(&t);
    expect(about(&x, 1), "[Held]\n: #2 lock catalogue: still, since 4 ms (6 ms) ! <p 2>\n"
                         ": #2 lock catalogue: 2 ms from 1 ms <p 2>\n");
    expect(about(&x, 2),
           "[Was held]\nby: #1 task importer, failed: still, since 4 ms (6 ms) ! <p 1>\n"
           ": #1 task importer, failed: 2 ms from 1 ms <p 1>\n");
    leave(&x);
}

/* ---- Traces ---- */

TEST(a_hanging_trace)
{
    struct subject x =
        BUILD(creates(0, LOOP, 1, TASK), label(0, 1, "connect"), label(0, 1, "__should_resolve"),
              creates(0, 1, 2, TASK), creates(0, 2, 3, CONDITION), label(0, 3, "response"),
              try_read(MS(1), 1, 2), try_read(MS(4), 2, 3), creates(MS(5), LOOP, 4, TASK),
              try_read(MS(6), 4, 3), signals(MS(7), 4, 3), /* goes on */
              fails(MS(8), LOOP, 4, "x"), switches(MS(10), LOOP));
    assert_int_equal(about_trace(&x, "bad\x1b.weft"), 0);
    assert_string_equal(lines(&x),
                        "[bad .weft]\n"
                        "time span: 10 ms\n"
                        "events: 13\n"
                        "promises: 4\n"
                        "pending: 3\n"
                        "failed: 1 !\n"
                        "rows: 4\n"
                        "[Look first at]\n"
                        "never resolved: 1 promise !\n"
                        ": #1 task connect, 10 ms, pending ! <p 1>\n"
                        "still waiting: 2 promises when the trace ends\n"
                        "the longest wait: #1 task connect: waits since 1 ms <p 1>\n"
                        "for: #2 task, 10 ms, pending <p 2>\n"
                        "and that in the end for: #3 condition response, 10 ms, pending <p 3>\n"
                        "failed: 1 promise !\n"
                        ": #4 task, 3 ms, failed ! <p 4>\n"
                        "the longest: #1 task connect, 10 ms, pending <p 1>\n"
                        ": #2 task, 10 ms, pending <p 2>\n"
                        ": #3 condition response, 10 ms, pending <p 3>\n"
                        ": #4 task, 3 ms, failed <p 4>\n");
    leave(&x);
    /* Waiting in a circle. */
    x = BUILD(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), try_read(1, 1, 2),
              try_read(2, 2, 1));
    assert_int_equal(about_trace(&x, ""), 0);
    expect(lines(&x), "still waiting: 2 promises");
    leave(&x);
}

/* An analysis that found nothing. */
static void found_nothing(struct subject *x, struct weft_analysis *a)
{
    *a = (struct weft_analysis){.history = x->h};
    x->f.analysis = a;
}

/* Before anything else, and no all-clear. */
TEST(what_is_missing)
{
    struct trace t = {.fd = -1};
    struct weft_analysis a;
    facts_packet(&t,
                 (struct weft_facts_header){
                     .overwritten_packets = 6, .overwritten_events = 4321, .discarded_events = 7},
                 "");
    events_begin(&t, (struct weft_events_header){.sequence = 7, .begin_ticks = MS(1)});
    events_put(&t, creates(MS(1), LOOP, 1, 0), 0);
    events_put(&t, switches(MS(10), LOOP), 0);
    struct subject x = take(&t);
    found_nothing(&x, &a);
    assert_int_equal(about_trace(&x, NULL), 0);
    static const char first[] =
        "[What is missing]\n"
        "overwritten: 4,321 events: before 0 ns only what was pending is known, and of some "
        "threads nothing ! <t 0>\n"
        "lost: 7 events or more in between: a cause may be among them !\n"
        "not known: all that is pending: something may hang of which nothing is said here !\n"
        "[Findings]\n"
        "none: nothing was found in what is there; what is missing may have had faults\n"
        "[Trace]\n";
    assert_memory_equal(lines(&x), first, sizeof first - 1);
    leave(&x);

    /* Bytes that are no packet, and a trace that is whole. */
    for (int damaged = 1; damaged >= 0; damaged--) {
        const struct weft_event ev[] = {creates(0, LOOP, 1, TASK), fulfills(MS(1), LOOP, 1)};
        struct trace m = {.fd = -1};
        trace_packet(&m, 0, ev, COUNT(ev));
        if (damaged)
            memset(trace_extend(&m, 5000), 0x55, 5000);
        x = take(&m);
        found_nothing(&x, &a);
        assert_int_equal(about_trace(&x, NULL), 0);
        const char *found =
            strstr(lines(&x), "[What is missing]\ndamaged: 1 place in the file could");
        assert_int_equal(found != NULL, damaged);
        assert_true(!damaged || found == lines(&x));
        expect(lines(&x), damaged ? "none: nothing was found in what is there"
                                  : "[Findings]\nnone: nothing that hangs, blocks, spins,");
        leave(&x);
    }
}

TEST(an_empty_trace)
{
    struct subject x = BUILD(gc(10, 1));
    static struct explore_visible v;
    assert_int_equal(about_trace(&x, NULL), 0);
    expect(lines(&x), "promises: 0\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, -5, 5), 0);
    expect(lines(&x), "events: 1\n");
    about(&x, LOOP);
    struct weft_geometry g = {.to_ns = 10};
    assert_int_equal(explore_visible_list(&v, x.s, &g, 0, WEFT_VISIBLE_MAX), 0);
    assert_int_equal(v.count + v.all, 0);
    leave(&x);
}

/* ---- Ranges ---- */

TEST(a_range)
{
    struct subject x =
        BUILD(creates(0, LOOP, 1, TASK), switches(0, 1), creates(MS(1), 1, 2, WAIT),
              switches(MS(2), LOOP), switches(MS(6), 1), fails(MS(7), 1, 2, "x"), gc(MS(8), MS(1)),
              creates(MS(8), 1, 3, WAIT), fulfills(MS(9), 1, 1), switches(MS(10), LOOP));
    assert_int_equal(explore_facts_of_range(&x.f, x.s, (int64_t)MS(10), -1), 0);
    assert_string_equal(lines(&x), "[Measured range]\n"
                                   "duration: 10 ms\n"
                                   "from: -1 ns <t -1>\n"
                                   "to: 10 ms <t 10000000>\n"
                                   "events: 10\n"
                                   "running: 4 ms, 40 %\n"
                                   "sleeping: 4 ms, 40 %\n"
                                   "collecting garbage: 1 ms, 10 %\n"
                                   "[Promises]\n"
                                   "alive in it: 3\n"
                                   "created in it: 3\n"
                                   "resolved in it: 2\n"
                                   "failed in it: 1 !\n"
                                   "longest in it: #1 task, 9 ms <p 1>\n"
                                   ": #2 wait, 6 ms, failed <p 2>\n"
                                   ": #3 wait, 2 ms, pending <p 3>\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, (int64_t)MS(3), (int64_t)MS(7)), 0);
    expect(lines(&x), "running: 1 ms, 25 %\nsleeping: 3 ms, 75 %\ncollecting garbage: 0 ns, 0 %\n");
    expect(lines(&x), "alive in it: 2\ncreated in it: 0\nresolved in it: 1\nfailed in it: 1 !\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, INT64_MIN, INT64_MAX), 0);
    expect(lines(&x), "events: 10\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, INT64_MAX - 1, INT64_MAX), 0);
    lines(&x);
    leave(&x);
}

/* A loop that sleeps, a worker that never says when it does, and a thread that is a promise itself. */
TEST(who_runs)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    const uint32_t site[] = {strings_site(&s, strings_text(&s, "task"), 0, 0, 0),
                             strings_site(&s, strings_text(&s, "thread"), 0, 0, 0)};
    const struct step steps[] = {
        {creates(0, LOOP, 1, 0), 0, 0},
        {switches(0, 1), 0, 0},
        {fulfills(MS(2), 1, 1), 0, 0},
        {switches(MS(2), LOOP), 0, 0},
        {suspends(MS(3)), 0, 0},
        {resumes(MS(9)), 0, 0},
        {switches(MS(10), LOOP), 0, 0},
        {creates(MS(1), LOOP, 2, 0), 1, 0},
        {switches(MS(4), 2), 1, 0},
        {gc(MS(5), MS(1) / 2), 1, 0},
        {fulfills(MS(6), 2, 2), 1, 0},
        {switches(MS(6), LOOP), 1, 0},
        {creates(MS(10), LOOP, 4, 0), 1, 0},
        {creates(0, LOOP, 3, 0), 2, 1},
        {switches(0, 3), 2, 1},
        {creates(MS(10), LOOP, 5, 0), 2, 0},
    };
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    steps_put(&t, steps, COUNT(steps), site, 0);
    struct subject x = take(&t);
    /* Of 10 ms: one ran for 2, the other for 2, of which half a millisecond was a collection; the loop itself for 1 before
     * it slept. What it did after it had slept no event has ended. */
    assert_int_equal(explore_facts_of_range(&x.f, x.s, 0, (int64_t)MS(10)), 0);
    expect(lines(&x), "running: 3.5 ms, 18 % of 2 threads\n"
                      "the loop itself: 1 ms, 5.0 % of 2 threads\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, 0, (int64_t)MS(4)), 0);
    expect(lines(&x),
           "running: 2 ms, 25 % of 2 threads\nthe loop itself: 1 ms, 12 % of 2 threads\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, 0, (int64_t)MS(3)), 0);
    expect(lines(&x), "running: 2 ms, 67 %\nthe loop itself: 1 ms, 33 %\n");
    assert_int_equal(explore_facts_of_range(&x.f, x.s, (int64_t)MS(7), (int64_t)MS(8)), 0);
    expect(lines(&x), "running: 0 ns, 0 %\n");
    expect_not(lines(&x), "the loop itself");
    leave(&x);
}

/* Numbers of a line "name: N…". */
static uint64_t number(const struct subject *x, const char *name)
{
    for (uint32_t i = 0; i < x->f.count; i++) {
        uint64_t n = 0;
        if (strcmp(x->f.fact[i].name, name) != 0)
            continue;
        for (const char *c = x->f.fact[i].text; *c; c++)
            if (*c >= '0' && *c <= '9')
                n = 10 * n + (uint64_t)(*c - '0');
        return n;
    }
    return 0;
}

static uint64_t random_of(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Thousands of promises of all lengths: summaries say what counting says. */
TEST(ranges_as_counted)
{
    struct trace t = {.fd = -1};
    uint64_t seed = 1, now = 0, n = 20000, other_kinds = 0;
    trace_begin(&t, 0);
    for (uint64_t i = 1; i <= n; i++) {
        struct weft_event ev[4];
        size_t count = 0;
        ev[count++] = creates(now, LOOP, i, TASK);
        if (random_of(&seed) % 3 == 0)
            ev[count++] = switches(now, i), other_kinds++;
        uint64_t back = random_of(&seed) % 50 ? 10 : 9000;
        if (i > back && random_of(&seed) % 4)
            ev[count++] =
                random_of(&seed) % 9 ? fulfills(now, i, i - back) : fails(now, i, i - back, "x");
        else if (i > back)
            ev[count++] = try_read(now, i, i - back);
        if (i % 100 == 0)
            ev[count++] = gc(now, 50);
        for (size_t k = 0; k < count; k++)
            weft_event_encode(trace_extend(&t, weft_event_size(&ev[k])), &ev[k]);
        now += random_of(&seed) % 200;
    }
    trace_set_sizes(&t, t.size);
    struct subject x = take(&t);
    const struct weft_model *m = x.m;
    for (unsigned k = 0; k < 300; k++) {
        int64_t from = (int64_t)(random_of(&seed) % now);
        int64_t to = from + (int64_t)(random_of(&seed) % (k % 2 ? now : 5000));
        uint64_t alive = 0, created = 0, resolved = 0, failed = 0, longest = 0;
        assert_int_equal(explore_facts_of_range(&x.f, x.s, from, to), 0);
        for (uint32_t p = 1; p < m->promises; p++) {
            const struct weft_promise *q = &m->promise[p];
            bool ends = q->outcome != WEFT_PENDING && q->end_ns >= from && q->end_ns <= to;
            created += q->start_ns >= from && q->start_ns <= to;
            resolved += ends;
            failed += ends && q->outcome == WEFT_FAILED;
            int64_t end = q->start_ns + weft_layout_lasts(m, x.s->l->raw, p);
            if (q->start_ns > to || end < from)
                continue;
            alive++;
            int64_t a = q->start_ns > from ? q->start_ns : from, b = end < to ? end : to;
            longest = (uint64_t)(b - a) > longest ? (uint64_t)(b - a) : longest;
        }
        assert_int_equal(number(&x, "alive in it"), alive);
        assert_int_equal(number(&x, "created in it"), created);
        assert_int_equal(number(&x, "resolved in it"), resolved);
        assert_int_equal(number(&x, "failed in it"), failed);
        for (uint32_t i = 0; i < x.f.count; i++) {
            if (strcmp(x.f.fact[i].name, "longest in it") != 0)
                continue;
            const struct weft_promise *q = &m->promise[x.f.target[i].promise];
            int64_t end = q->start_ns + weft_layout_lasts(m, x.s->l->raw, x.f.target[i].promise);
            int64_t a = q->start_ns > from ? q->start_ns : from, b = end < to ? end : to;
            assert_int_equal((uint64_t)(b - a), longest);
        }
        uint64_t events = 0;
        for (uint32_t i = 0; i < m->interactions; i++)
            events += m->interaction[i].time_ns >= from && m->interaction[i].time_ns <= to;
        uint64_t said = number(&x, "events"), least = events + created;
        assert_in_range(said, least, least + other_kinds + m->pauses);
    }
    assert_int_equal(explore_facts_of_range(&x.f, x.s, 0, m->end_ns), 0);
    assert_int_equal(number(&x, "events"), m->events_total);
    leave(&x);
}

/* ---- The list of what is seen ---- */

TEST(the_longest_are_listed)
{
    struct trace t = {.fd = -1};
    uint64_t seed = 7, now = 0;
    trace_begin(&t, 0);
    for (uint64_t i = 1; i <= 3000; i++) {
        trace_add(&t, creates(now, LOOP, i, TASK));
        uint64_t back = random_of(&seed) % 20 ? 3 : 300;
        if (i > back)
            trace_add(&t, fulfills(now, LOOP, i - back));
        now += random_of(&seed) % 2000;
    }
    struct subject x = take(&t);
    static struct explore_visible v;
    for (unsigned k = 0; k < 30; k++) {
        struct weft_geometry g = {.from_ns = k ? (int64_t)(random_of(&seed) % now) : 0,
                                  .shown = x.s->l->rows};
        uint32_t *rows = malloc(g.shown * sizeof *rows), all = 0;
        assert_non_null(rows);
        for (uint32_t i = 0; i < g.shown; i++)
            rows[i] = i;
        g.shown_row = rows;
        g.to_ns =
            k ? g.from_ns + (int64_t)(random_of(&seed) % (k % 2 ? 50000 : now)) : (int64_t)now;
        int64_t shortest = INT64_MAX;
        uint32_t longer = 0;
        explore_visible_clear(&v);
        assert_int_equal(explore_visible_list(&v, x.s, &g, 3, WEFT_VISIBLE_MAX), 0);
#define SEEN(p)                                                                                    \
    ((x.m->promise[p].end_ns < g.to_ns ? x.m->promise[p].end_ns : g.to_ns) -                       \
     (x.m->promise[p].start_ns > g.from_ns ? x.m->promise[p].start_ns : g.from_ns))
        for (uint32_t i = 0; i < v.count; i++) {
            uint32_t p = v.item[i].promise;
            assert_int_equal(v.item[i].pane, 3);
            shortest = SEEN(p) < shortest ? SEEN(p) : shortest;
            if (i)
                assert_true(x.m->promise[v.item[i - 1].promise].start_ns <=
                            x.m->promise[p].start_ns);
        }
        for (uint32_t p = 1; p < x.m->promises; p++) {
            all += SEEN(p) >= 0;
            longer += SEEN(p) >= 0 && SEEN(p) > shortest;
        }
#undef SEEN
        assert_int_equal(v.all, all);
        assert_int_equal(v.count, all < WEFT_VISIBLE_MAX ? all : WEFT_VISIBLE_MAX);
        assert_true(longer < WEFT_VISIBLE_MAX);
        uint32_t before = v.count; /* another pane, if there is room */
        assert_int_equal(explore_visible_list(&v, x.s, &g, 4, 10), 0);
        assert_true(v.count <= WEFT_VISIBLE_MAX && v.count <= before + 10);
        assert_int_equal(v.all, 2 * all);
        free(rows);
    }
    leave(&x);
    x = BUILD(creates(0, LOOP, 1, TASK), label(0, 1, "fsync\nlog"),
              fails(1200000, LOOP, 1, "no space"), creates(2000000, LOOP, 2, WAIT));
    uint32_t row = 0;
    struct weft_geometry g = {.to_ns = 5000000, .shown_row = &row, .shown = 1};
    explore_visible_clear(&v);
    assert_int_equal(explore_visible_list(&v, x.s, &g, 0, WEFT_VISIBLE_MAX), 0);
    assert_int_equal(v.count, 2);
    assert_string_equal(v.item[0].text, "task fsync log, #1, from 0 ns, 1.2 ms long, failed");
    assert_string_equal(v.item[1].text, "wait, #2, from 2 ms, 0 ns long, pending");
    leave(&x);
}

/* ---- Real traces ---- */

/* A promise lasts equally long in its own facts, in links to it, and for the search. */
static void check_duration(struct subject *x, uint32_t promise)
{
    const struct weft_promise *p = &x->m->promise[promise];
    const int64_t lasts = weft_layout_lasts(x->m, x->s->l->raw, promise);
    const struct weft_figure text = weft_duration(lasts);
    const char *wanted = p->outcome == WEFT_PENDING ? "pending for" : "lasted";
    bool said = false;
    for (uint32_t i = 0; i < x->f.count; i++) {
        const size_t n = strlen(text.text);
        said |= !strcmp(x->f.fact[i].name, wanted) && !strncmp(x->f.fact[i].text, text.text, n) &&
                (!x->f.fact[i].text[n] || x->f.fact[i].text[n] == ';');
    }
    if (!said)
        print_error("#%" PRIu64 " is not said to have lasted %s\n", p->id, text.text);
    assert_true(said);
    char link[200];
    snprintf(link, sizeof link, ", %s%s", text.text,
             p->outcome == WEFT_FAILED    ? ", failed"
             : p->outcome == WEFT_PENDING ? ", pending"
                                          : "");
    const struct explore_name name = explore_called(x->s, promise);
    const size_t size = strlen(name.text), end = strlen(link);
    assert_true(size > end);
    if (size < EXPLORE_FACT_PROMISE - 4) /* it is not cut */
        assert_string_equal(name.text + size - end, link);
}

/* The hits for longer and shorter ones are what weft_layout_lasts says, at the lengths that occur. */
static void check_searches(const struct subject *x)
{
    for (uint32_t k = 1; k < x->m->promises; k += x->m->promises / 50 + 1) {
        const int64_t limit = weft_layout_lasts(x->m, x->s->l->raw, k);
        for (int longer = 0; longer < 2; longer++) {
            char query[64];
            struct weft_search *q;
            snprintf(query, sizeof query, "%c%" PRId64 "ns", longer ? '>' : '<', limit);
            assert_int_equal(weft_search_new(&q, x->s, query), 0);
            while (weft_search_work(q, 0))
                ;
            for (uint32_t p = 1; p < x->m->promises; p++) {
                const int64_t lasts = weft_layout_lasts(x->m, x->s->l->raw, p);
                assert_int_equal(weft_search_has(q, p), longer ? lasts > limit : lasts < limit);
            }
            weft_search_free(q);
        }
    }
}

TEST(real_traces)
{
    static const char *const names[] = {"net", "all-events", "ring-wrapped"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[600];
        const char *shared = getenv("SHARED"), *root = getenv("SOURCE_ROOT");
        snprintf(path, sizeof path, "%s%s/data/mirage/%s.ctf",
                 shared ? shared
                 : root ? root
                        : ".",
                 shared ? "" : "/../shared", names[i]);
        if (access(path, R_OK) != 0) {
            print_message("%s is not there: skipped\n", names[i]);
            continue;
        }
        struct subject x = take_file(path);
        for (uint32_t p = 0; p < x.m->promises; p++) {
            assert_int_equal(explore_facts_of_promise(&x.f, x.s, p), 0);
            check(&x);
            if (p != WEFT_ROOT)
                check_duration(&x, p);
            explore_walk_waited_for(x.h, p);
            explore_walk_resolver(x.s, p);
        }
        check_searches(&x);
        assert_int_equal(about_trace(&x, path), 0);
        check(&x);
        assert_int_equal(strncmp(lines(&x), "[What is missing]\noverwritten: ", 30) == 0, i == 2);
        assert_int_equal(number(&x, "events"), x.m->events_total);
        assert_int_equal(explore_facts_of_range(&x.f, x.s, -WEFT_TIME_MAX, WEFT_TIME_MAX), 0);
        check(&x);
        assert_int_equal(number(&x, "events"), x.m->events_total);
        if (i == 0) {
            expect(about(&x, 100), "[#100 Xs.read waiting]\ntype: bind\n");
            expect(lines(&x), "became: at 8.639 ms <t 8639");
            expect(lines(&x), "used: #99 try, at 8.531 ms <p 99>\n");
        }
        leave(&x);
    }
}

RUN_TESTS(NULL, NULL)
