/* SPDX-License-Identifier: ISC */
/* What is known of a process while it records: this one. */
#include <inttypes.h>
#include <string.h>

#include "own_trace.h"
#include "live/live.h"

enum { SMALL = 128 << 10, LARGE = 8 << 20 };

static struct weft_counter queue = WEFT_COUNTER("queue"), noise = WEFT_COUNTER("noise");

/* The calls, as text. */
static char said[4096];
static struct live *live;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    const size_t used = strlen(said);
    va_list args;
    va_start(args, format);
    vsnprintf(said + used, sizeof said - used, format, args);
    va_end(args);
}

static void on_ended(void *data, const struct live_promise *p, enum live_outcome outcome,
                     uint64_t ended_ns, const char *reason, size_t reason_size)
{
    static const char *const names[] = {"fulfilled", "failed", "resolved", "cancelled",
                                        "forgotten"};
    (void)data;
    assert_true(ended_ns >= p->created_ns);
    say("%s %s%s%.*s; ", live_name(live, p->label), names[outcome], reason ? ": " : "",
        (int)reason_size, reason ? reason : "");
}

static void on_counted(void *data, const struct live_counter *c)
{
    (void)data;
    if (strcmp(live_name(live, c->name), "noise") != 0)
        say("%s=%" PRId64 "; ", live_name(live, c->name), c->value);
}

static void on_turned(void *data, const struct live_thread *t, uint64_t end_ns)
{
    (void)data;
    assert_true(end_ns >= t->since_ns);
    say("turn; ");
}

static void start(uint64_t bytes, const struct live_options *limits)
{
    struct live_options o = limits ? *limits : (struct live_options){0};
    struct weft_error err;
    own_start(bytes);
    struct weft_input in = own_input();
    o.calls = (struct live_calls){.ended = on_ended, .counted = on_counted, .turned = on_turned};
    assert_int_equal(live_open(&live, &in, &o, &err), 0);
    *said = 0;
}

static void stop(void)
{
    live_close(live);
    own_stop();
}

static void look_now(void)
{
    struct weft_error err;
    if (live_look(live, &err) != 0)
        fail_msg("%s", err.text);
}

static const char *look(void)
{
    own_let_pass();
    *said = 0;
    look_now();
    return said;
}

static uint32_t pending(void)
{
    uint32_t count;
    live_promises(live, &count);
    return count;
}

static const struct live_row *row(const char *type, const char *label)
{
    uint32_t count;
    const struct live_row *rows = live_rows(live, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(live_name(live, rows[i].type), type) &&
            !strcmp(live_name(live, rows[i].label), label))
            return &rows[i];
    fail_msg("no row %s %s", type, label);
    return NULL;
}

TEST(ends)
{
    char name[32];
    start(LARGE, NULL);
    weft_promise before = weft_create("rpc", "before");
    look();
    assert_string_equal(said, "");
    assert_int_equal(pending(), 1);
    assert_string_equal(live_name(live, live_find(live, before)->label), "before");
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "GET /users/%d", i);
        weft_fulfill(weft_create("rpc", name));
    }
    weft_fail(weft_create("rpc", "bad"), "no such user");
    weft_cancel(weft_create("rpc", "late"));
    weft_fulfill(before);
    assert_string_equal(look(),
                        "GET /users/0 fulfilled; GET /users/1 fulfilled; GET /users/2 fulfilled; "
                        "GET /users/3 fulfilled; GET /users/4 fulfilled; GET /users/5 fulfilled; "
                        "GET /users/6 fulfilled; GET /users/7 fulfilled; GET /users/8 fulfilled; "
                        "GET /users/9 fulfilled; bad failed: no such user; late cancelled; "
                        "before fulfilled; ");
    assert_int_equal(pending(), 0);
    const struct live_row *users = row("rpc", "GET /users/#");
    uint64_t took = 0;
    for (unsigned i = 0; i < LIVE_BUCKETS; i++)
        took += users->took[i];
    assert_int_equal(users->fulfilled, 10);
    assert_int_equal(took, 10);
    assert_int_equal(users->pending, 0);
    assert_int_equal(row("rpc", "bad")->failed, 1);
    assert_int_equal(row("rpc", "late")->cancelled, 1);
    assert_int_equal(live_totals(live)->created, 12);
    assert_int_equal(live_totals(live)->ended, 13);
    stop();
}

/* The label may come later, and only the first counts. */
TEST(labels)
{
    start(LARGE, NULL);
    look();
    weft_promise p = weft_create("task", NULL);
    look();
    assert_int_equal(row("task", "")->pending, 1);
    weft_label(p, "first");
    weft_label(p, "second");
    weft_should_resolve(p);
    look();
    assert_int_equal(row("task", "")->pending, 0);
    assert_int_equal(row("task", "first")->pending, 1);
    assert_true(live_find(live, p)->should_resolve);
    assert_false(live_find(live, p)->background);
    weft_fulfill(p);
    weft_label(p, "after the end");
    assert_string_equal(look(), "first fulfilled; ");
    assert_int_equal(pending(), 0);
    stop();
}

TEST(waits)
{
    start(LARGE, NULL);
    look();
    weft_promise task = weft_create("task", "t"), reply = weft_create("rpc", "r"),
                 lock = weft_create("lock", "l");
    weft_wait_by(task, reply);
    weft_acquire_by(task, lock);
    look();
    assert_int_equal(live_find(live, task)->waits_for, reply);
    assert_int_equal(live_find(live, lock)->holder, task);
    weft_fulfill(reply);
    weft_read(task, reply);
    weft_release_by(task, lock);
    look();
    assert_int_equal(live_find(live, task)->waits_for, 0);
    assert_int_equal(live_find(live, lock)->holder, 0);
    stop();
}

TEST(becomes)
{
    start(LARGE, NULL);
    look();
    weft_promise a = weft_create("task", "a"), b = weft_create("task", "b"),
                 c = weft_create("task", "c"), d = weft_create("task", "d");
    weft_become(a, b);
    weft_become(b, c);
    weft_become(d, c);
    look();
    assert_int_equal(live_find(live, a)->became, c);
    assert_int_equal(live_find(live, b)->became, c);
    assert_string_equal(said, "");
    weft_fulfill(c);
    assert_string_equal(look(), "c fulfilled; d fulfilled; b fulfilled; a fulfilled; ");
    a = weft_create("task", "a");
    weft_become(a, c); /* which has ended */
    assert_string_equal(look(), "a resolved; ");
    /* A loop without end. */
    a = weft_create("task", "first round");
    weft_promise round = a;
    for (int i = 0; i < 10000; i++) {
        weft_promise next = weft_create("task", "round");
        weft_become(round, next);
        round = next;
    }
    look();
    assert_in_range(pending(), 2, 20);
    assert_int_equal(live_find(live, a)->became, round);
    weft_fulfill(round);
    look();
    assert_int_equal(pending(), 0);
    stop();
}

TEST(loops)
{
    uint32_t count;
    start(LARGE, NULL);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    look();
    for (int i = 0; i < 3; i++) {
        weft_resume();
        weft_suspend(WEFT_WAIT_FOR_WORK);
    }
    assert_string_equal(look(), "turn; turn; turn; ");
    const struct live_thread *t = live_threads(live, &count);
    assert_int_equal(count, 1);
    assert_int_equal(t->turns, 3);
    assert_true(t->is_loop && t->idle);
    const uint64_t busy = t->busy_ns;
    const int64_t began = weft_monotonic_ns();
    weft_resume();
    look();
    t = live_threads(live, &count);
    assert_false(t->idle);
    assert_int_equal(t->busy_ns, busy);
    look(); /* 5 ms pass */
    weft_suspend(WEFT_WAIT_FOR_WORK);
    assert_string_equal(look(), "turn; ");
    t = live_threads(live, &count);
    assert_true(t->longest_ns >= 5000000 && t->busy_ns >= busy + 5000000);
    assert_true(t->busy_ns <= busy + (uint64_t)(weft_monotonic_ns() - began) + 10000000);
    stop();
}

TEST(counters)
{
    uint32_t count;
    start(LARGE, NULL);
    weft_counter_set(&queue, 7);
    look();
    assert_string_equal(said, "");
    assert_int_equal(live_counters(live, &count)->value, 7);
    weft_counter_add(&queue, 3);
    weft_counter_set(&queue, 1);
    assert_string_equal(look(), "queue=10; queue=1; ");
    weft_counter_set(&noise, 5);
    weft_counter_set(&queue, 2);
    weft_counter_set(&noise, 6);
    assert_string_equal(look(), "queue=2; ");
    const struct live_counter *c = live_counters(live, &count);
    assert_int_equal(count, 2);
    assert_int_equal(c[0].value, 2);
    assert_int_equal(c[1].value, 6);
    stop();
}

/* What was overwritten ended some promises and created others: what is pending is found anew, and nothing is counted
 * twice. */
TEST(lost)
{
    start(SMALL, NULL);
    weft_promise gone = weft_create("task", "gone"), stays = weft_create("task", "stays");
    look();
    assert_int_equal(pending(), 2);
    weft_fulfill(gone);
    weft_promise new = weft_create("task", "new");
    for (int64_t i = 0; i < 100000; i++)
        weft_counter_set(&noise, i);
    weft_fulfill(weft_create("rpc", "seen"));
    look();
    assert_non_null(strstr(said, "seen fulfilled; "));
    assert_null(strstr(said, "gone"));
    assert_true(live_totals(live)->lost > 0);
    for (unsigned i = 0; i < 1000 && live_find(live, gone); i++)
        assert_null(strstr(look(), "seen"));
    assert_null(live_find(live, gone));
    assert_non_null(live_find(live, stays));
    assert_non_null(live_find(live, new));
    assert_int_equal(pending(), 2);
    assert_int_equal(row("task", "stays")->pending, 1);
    assert_int_equal(row("task", "gone")->pending, 0);
    assert_int_equal(row("rpc", "seen")->fulfilled, 1);
    weft_fulfill(new);
    assert_string_equal(look(), "new fulfilled; ");
    stop();
}

/* While the recording is off, promises may end unseen: those that were there before are not sure. */
TEST(off)
{
    start(LARGE, NULL);
    const weft_promise before = weft_create("task", "before");
    look();
    assert_int_equal(live_totals(live)->off_ns, 0);
    weft_pause();
    look();
    assert_true(live_find(live, before)->created_ns < live_totals(live)->off_ns);
    weft_unpause();
    const weft_promise after = weft_create("task", "after");
    look();
    assert_true(live_find(live, before)->created_ns < live_totals(live)->off_ns);
    assert_true(live_find(live, after)->created_ns >= live_totals(live)->off_ns);
    stop();
}

TEST(one_row)
{
    uint32_t count;
    start(LARGE, &(struct live_options){.rows_max = 1});
    look();
    const weft_promise p = weft_create("task", "a");
    weft_fulfill(weft_create("request", "b"));
    look();
    const struct live_row *row = live_rows(live, &count);
    assert_int_equal(count, 1);
    assert_int_equal(row->pending, 1);
    assert_int_equal(row->fulfilled, 1);
    assert_string_equal(live_name(live, live_find(live, p)->label), "a");
    stop();
}

/* What has no room is counted, and the names of what has gone make room. */
TEST(bounds)
{
    char name[32];
    weft_promise p[20];
    uint32_t count;
    start(LARGE, &(struct live_options){.promises_max = 10, .names_max = 40, .rows_max = 5});
    look();
    for (unsigned i = 0; i < 20; i++)
        p[i] = weft_create("task", "many");
    look();
    assert_int_equal(pending(), 10);
    assert_int_equal(live_totals(live)->unfollowed, 10);
    for (unsigned i = 0; i < 20; i++)
        weft_fulfill(p[i]);
    look();
    assert_int_equal(pending(), 0);
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "n%u", i);
        weft_promise q = weft_create("task", name);
        if (i % 100 == 0) {
            look();
            assert_string_equal(live_name(live, live_find(live, q)->label), name);
        }
        weft_fulfill(q);
    }
    for (char c = 'a'; c <= 'z'; c++) {
        snprintf(name, sizeof name, "%c", c);
        weft_fulfill(weft_create("task", name));
    }
    look();
    live_rows(live, &count);
    assert_int_equal(count, 5);
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all += live_rows(live, &count)[i].fulfilled;
    assert_int_equal(all, 10 + 5000 + 26);
    stop();
}

TEST(buckets)
{
    uint64_t took[LIVE_BUCKETS] = {0};
    assert_int_equal(live_bucket_ns(0), 1024);
    for (unsigned i = 0; i < LIVE_BUCKETS - 1; i++) {
        const uint64_t bound = live_bucket_ns(i);
        assert_int_equal(live_bucket_of(bound), i);
        assert_int_equal(live_bucket_of(bound + 1), i + 1);
        assert_true(i == 0 ||
                    (bound > live_bucket_ns(i - 1) && bound <= live_bucket_ns(i - 1) * 5 / 4));
    }
    assert_int_equal(live_bucket_of(0), 0);
    assert_int_equal(live_bucket_of(UINT64_MAX), LIVE_BUCKETS - 1);
    assert_int_equal(live_percentile(took, 0.5), 0);
    took[live_bucket_of(1000000)] = 99;
    took[live_bucket_of(1000000000)] = 1;
    assert_in_range(live_percentile(took, 0.5), 750000, 1250000);
    assert_in_range(live_percentile(took, 0.999), 750000000, 1250000000);
}

RUN_TESTS(NULL, NULL)
