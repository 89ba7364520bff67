/* SPDX-License-Identifier: ISC */
/* The recorder, from its interface: what is asked for is what the reader finds, whatever the sizes,
 * numbers, texts, threads, handlers and forks. Long, for there are many ways to ask. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../record/trace.h"
#include "record/record.h"
#include "test.h"
#include <weft/weft.h>

#define LOOP ((int64_t)WEFT_LOOP)
#define KIB 1024u
#define MIB (1024u * KIB)

static char folder[] = "/tmp/test_record.XXXXXX";
static struct trace trace;

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static unsigned i;
    char *p = path[i++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static int make_folder(void **state)
{
    (void)state;
    if (getenv("ONLY_BEGIN")) /* another test has started this, to see what is recorded */
        exit(0);
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static int clean(void **state)
{
    (void)state;
    weft_stop();
    weft_standby(0);
    trace_free(&trace);
    unlink(in_folder("t"));
    return 0;
}

static uint64_t ticks;

static uint64_t tick(void)
{
    return ticks;
}

static uint64_t next_tick(void)
{
    return ++ticks;
}

static void start(uint64_t bytes)
{
    assert_int_equal(weft_start(&(struct weft_options){.path = in_folder("t"), .bytes = bytes}), 0);
}

static void read_trace(void)
{
    trace_free(&trace);
    int rc = trace_read(&trace, in_folder("t"));
    if (rc < 0)
        print_error("%s\n", trace.error.text);
    assert_int_equal(rc, 0);
    assert_int_equal(trace.damage->problems, 0);
    assert_int_equal(trace.damage->half_written, 0);
    assert_int_equal(trace.facts->unknown_events, 0);
}

static void stop_and_read(void)
{
    weft_stop();
    read_trace();
    assert_int_equal(trace.facts->ended, WEFT_ENDED_STOPPED);
}

/* The next event of the trace is that one. */
__attribute__((format(printf, 1, 2))) static void next(const char *format, ...)
{
    char *wanted;
    va_list list;
    va_start(list, format);
    assert_true(vasprintf(&wanted, format, list) >= 0);
    va_end(list);
    assert_string_equal(trace.at < trace.events ? trace_line(&trace.event[trace.at]) : "(nothing)",
                        wanted);
    trace.at++;
    free(wanted);
}

static void end(void)
{
    assert_string_equal(trace.at < trace.events ? trace_line(&trace.event[trace.at]) : "(nothing)",
                        "(nothing)");
}

/* Recorded = kept + overwritten + discarded. */
static void adds_up(uint64_t recorded)
{
    const struct weft_reader_facts *f = trace.facts;
    assert_int_equal(trace.events + f->overwritten_events + f->missing_events + f->discarded_events,
                     recorded);
}

/* ---- Every call ---- */

static struct weft_counter queued = WEFT_COUNTER("queued");

static const uint8_t trace_id[16] = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6,
                                     0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36};
static const uint8_t span_id[8] = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}, no_id[16];
#define IDS "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
#define HEADER "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define HEADER_IDS "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"

TEST(test_every_call)
{
    queued.value = 0;
    start(MIB);
    weft_promise a = weft_create("task", "main"), b = weft_create_from(a, "read", NULL);
    weft_promise c = weft_create_id(b, 77, "timer", "tick");
    assert_true(a && b && c == 77);
    assert_true(weft_run(a) == WEFT_LOOP);
    weft_wait(b);
    weft_wait_by(b, c);
    weft_fulfill(c);
    weft_wake(b, c);
    weft_fail(b, "EIO");
    weft_fail(b, NULL);
    weft_signal(a, c);
    weft_read(a, b);
    weft_cancel(c);
    weft_resolve(c);
    weft_forget(c);
    weft_resolve_by(b, c, WEFT_BY_VALUE, "not used");
    weft_resolve_by(b, c, WEFT_BY_ERROR, "reset");
    weft_resolve_by(b, c, WEFT_BY_UNKNOWN, NULL);
    weft_resolve_by(b, c, WEFT_BY_CANCEL, NULL);
    weft_notify(c);
    weft_notify_by(b, c);
    weft_acquire(b);
    weft_acquire_by(b, c);
    weft_release(c);
    weft_release_by(c, b);
    weft_label(a, "busy");
    weft_should_resolve(a);
    weft_background(b);
    weft_span(a, trace_id, span_id);
    weft_span_parent(c, trace_id, span_id);
    weft_span(UINT64_C(1) << 40, trace_id, span_id); /* a number without a short form */
    assert_int_equal(weft_traceparent_sent(b, HEADER), 1);
    assert_int_equal(weft_traceparent_received(b, HEADER), 1);
    weft_counter_add(&queued, 5);
    weft_counter_add(&queued, -7);
    weft_counter_set(&queued, 9);
    weft_become(a, b);
    weft_fulfill(c); /* by b, which a is now */
    weft_suspend(WEFT_WAIT_FOR_WORK);
    weft_suspend(WEFT_SUSPEND);
    weft_suspend(WEFT_HIBERNATE);
    weft_resume();
    weft_gc(1500);
    weft_fulfill(a);
    stop_and_read();
    const int64_t A = (int64_t)a, B = (int64_t)b;
    next("creates -1 %" PRId64 " task \"main\"", A);
    next("creates %" PRId64 " %" PRId64 " read", A, B);
    next("creates %" PRId64 " 77 timer \"tick\"", B);
    next("switch %" PRId64, A);
    next("try_read %" PRId64 " %" PRId64, A, B);
    next("try_read %" PRId64 " 77", B);
    next("fulfills %" PRId64 " 77", A);
    next("read %" PRId64 " 77", B);
    next("fails %" PRId64 " %" PRId64 " \"EIO\"", B, B);
    next("fails %" PRId64 " %" PRId64, B, B);
    next("signal %" PRId64 " 77", A);
    next("read_later %" PRId64 " %" PRId64, A, B);
    next("cancels %" PRId64 " 77", A);
    next("resolves %" PRId64 " 77", A);
    next("forgets 77");
    next("fulfills %" PRId64 " 77", B);
    next("fails %" PRId64 " 77 \"reset\"", B);
    next("resolves %" PRId64 " 77", B);
    next("cancels %" PRId64 " 77", B);
    next("notifies %" PRId64 " 77", A);
    next("notifies %" PRId64 " 77", B);
    next("acquires %" PRId64 " %" PRId64, A, B);
    next("acquires %" PRId64 " 77", B);
    next("releases %" PRId64 " 77", A);
    next("releases 77 %" PRId64, B);
    next("label %" PRId64 " \"busy\"", A);
    next("should_resolve %" PRId64, A);
    next("background %" PRId64, B);
    next("span %" PRId64 " \"" IDS "\"", A);
    next("span_parent 77 \"" IDS "\"");
    next("span 1099511627776 \"" IDS "\"");
    next("span %" PRId64 " \"" HEADER_IDS "\"", B);
    next("span_parent %" PRId64 " \"" HEADER_IDS "\"", B);
    next("increase %" PRId64 " 5 \"queued\" = 5", A);
    next("increase %" PRId64 " -7 \"queued\" = -2", A);
    next("counter %" PRId64 " 9 \"queued\"", A);
    next("becomes %" PRId64 " %" PRId64, A, B);
    next("fulfills %" PRId64 " 77", B);
    next("suspend wait_for_work");
    next("suspend suspend");
    next("suspend hibernate");
    next("resume");
    next("gc 1500");
    next("fulfills -1 %" PRId64, A);
    end();
    adds_up(44);
}

/* What is a header traceparent, by W3C's Trace Context. */
TEST(test_traceparent)
{
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
    static const struct {
        const char *header;
        int valid;
    } list[] = {
        {HEADER, 1},
        {"00-" TRACE "-" SPAN "-00", 1},
        {"00-" TRACE "-" SPAN "-ff", 1},
        {"01-" TRACE "-" SPAN "-01", 1},
        {"fe-" TRACE "-" SPAN "-01-what is to come", 1},
        {"01-" TRACE "-" SPAN "-01-", 1},
        {"01-" TRACE "-" SPAN "-01.", 0},
        {"00-" TRACE "-" SPAN "-01-", 0},
        {"00-" TRACE "-" SPAN "-010", 0},
        {"00-" TRACE "-" SPAN "-01 ", 0},
        {" 00-" TRACE "-" SPAN "-01", 0},
        {"ff-" TRACE "-" SPAN "-01", 0},
        {"0-" TRACE "-" SPAN "-01", 0},
        {"0g-" TRACE "-" SPAN "-01", 0},
        {"0A-" TRACE "-" SPAN "-01", 0},
        {"00-" TRACE "-" SPAN "-0", 0},
        {"00-" TRACE "-" SPAN "-0G", 0},
        {"00-" TRACE "-" SPAN "-", 0},
        {"00-" TRACE "-" SPAN, 0},
        {"00-" TRACE, 0},
        {"", 0},
        {"00_" TRACE "-" SPAN "-01", 0},
        {"00-" TRACE "_" SPAN "-01", 0},
        {"00-" TRACE "-" SPAN "_01", 0},
        {"00-4BF92f3577b34da6a3ce929d0e0e4736-" SPAN "-01", 0},
        {"00-" TRACE "-00F067aa0ba902b7-01", 0},
        {"00-00000000000000000000000000000000-" SPAN "-01", 0},
        {"00-" TRACE "-0000000000000000-01", 0},
        {"00-00000000000000000000000000000001-" SPAN "-01", 1},
        {"00-" TRACE "-0000000000000001-01", 1},
    };
    int valid = 0;
    assert_int_equal(weft_traceparent_sent(5, HEADER), 0); /* nothing is recorded */
    start(MIB);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (weft_traceparent_received(5, list[i].header) != list[i].valid)
            fail_msg("\"%s\" should%s be valid", list[i].header, list[i].valid ? "" : " not");
        valid += list[i].valid;
    }
    stop_and_read();
    assert_int_equal(trace.events, valid);
}

/* How many events say that the promise is a span, or in one; "kept": they were overwritten. */
static unsigned kept_spans(weft_promise p)
{
    struct weft_reader *r;
    const struct weft_event *ev;
    unsigned kept = 0;
    ptrdiff_t n;
    assert_int_equal(weft_reader_open(&r, in_folder("t"), NULL), 0);
    while ((n = weft_reader_next(r, &ev, NULL)) > 0)
        for (const struct weft_event *last = ev + n; ev < last; ev++) {
            if ((ev->kind != WEFT_EVENT_SPAN && ev->kind != WEFT_EVENT_SPAN_PARENT) || ev->a != p)
                continue;
            assert_true(ev->promoted);
            assert_int_equal(ev->text_size, strlen(IDS));
            assert_memory_equal(ev->text, IDS, strlen(IDS));
            kept++;
        }
    assert_int_equal(n, 0);
    weft_reader_close(r);
    return kept;
}

/* The ids of a promise that hangs stay when their packet is overwritten, also if it is another one than that with the
 * creation. */
TEST(test_spans_are_kept)
{
    for (int own = 0; own < 2; own++) {
        const weft_promise far = UINT64_C(1) << 40;
        start(256 * KIB);
        weft_promise hangs = own ? weft_create_id(WEFT_LOOP, far, "rpc", NULL)
                                 : weft_create("rpc", NULL),
                     ends = own ? weft_create_id(WEFT_LOOP, far + 1, "rpc", NULL)
                                : weft_create("rpc", NULL);
        weft_span_parent(hangs, trace_id, no_id); /* not valid */
        weft_span_parent(hangs, trace_id, span_id);
        weft_span_parent(ends, trace_id, span_id);
        weft_fulfill(ends);
        for (unsigned i = 0; i < 40000; i++) {
            weft_suspend(WEFT_WAIT_FOR_WORK);
            if (i == 20000)
                weft_span(hangs, trace_id, span_id);
        }
        stop_and_read();
        assert_true(trace.facts->overwritten_events > 40000 - 20000);
        assert_int_equal(kept_spans(hangs), 2);
        assert_int_equal(kept_spans(ends), 0);
    }
}

/* Returned by weft_run: what ran, which can always be given back. */
TEST(test_run_returns)
{
    assert_true(weft_run(5) == WEFT_LOOP); /* nothing is recorded */
    start(MIB);
    assert_true(weft_run(5) == WEFT_LOOP);
    assert_true(weft_run(6) == 5);
    assert_true(weft_run(0) == 6);
    assert_true(weft_run(WEFT_LOOP) == 6);
    weft_suspend(WEFT_WAIT_FOR_WORK);
    assert_true(weft_run(7) == WEFT_LOOP);
    weft_wake(8, 7);
    assert_true(weft_run(9) == 8);
    weft_signal(10, 7);
    weft_become(10, 11);
    weft_become(12, 13); /* does not run */
    assert_true(weft_run(WEFT_LOOP) == 11);
    stop_and_read();
    assert_int_equal(trace.events, 11);
}

TEST(test_untracked)
{
    start(MIB);
    weft_wait(0);
    weft_wait_by(1, 0);
    weft_wait_by(0, 1);
    weft_fulfill(0);
    weft_wake(1, 0);
    weft_wake(0, 1);
    weft_fail(0, "x");
    weft_signal(0, 1);
    weft_signal(1, 0);
    weft_read(0, 1);
    weft_read(1, 0);
    weft_cancel(0);
    weft_resolve(0);
    weft_forget(0);
    weft_resolve_by(0, 1, WEFT_BY_VALUE, "x");
    weft_resolve_by(1, 0, WEFT_BY_ERROR, "x");
    weft_resolve_by(1, 0, WEFT_BY_UNKNOWN, "x");
    weft_resolve_by(1, 2, (enum weft_ending)99, "x");
    weft_notify(0);
    weft_notify_by(1, 0);
    weft_acquire(0);
    weft_acquire_by(0, 1);
    weft_acquire_by(1, 0);
    weft_release(0);
    weft_release_by(0, 1);
    weft_release_by(1, 0);
    weft_label(0, "x");
    weft_label(1, NULL);
    weft_should_resolve(0);
    weft_background(0);
    weft_span(0, trace_id, span_id);
    weft_span(WEFT_LOOP, trace_id, span_id);
    weft_span_parent(1, no_id, span_id);
    weft_span_parent(1, trace_id, no_id);
    weft_traceparent_received(0, HEADER);
    assert_int_equal(weft_traceparent_received(1, NULL), 0);
    weft_become(0, 1);
    weft_become(1, 0);
    weft_run(0);
    assert_true(weft_create_id(1, 0, "t", NULL) == 0);
    assert_true(weft_create_id(1, WEFT_LOOP, "t", NULL) == 0);
    weft_fulfill(1); /* what runs is still the loop */
    stop_and_read();
    next("fulfills -1 1");
    end();
    adds_up(1);
}

/* ---- Numbers ---- */

/* With a number of the program's own, no number says any more in which packet its promise was created. */
TEST(test_own_numbers)
{
    start(MIB);
    const struct recorder *r = &weft_record_rec;
    uint64_t packet, id;
    do
        id = weft_create("t", NULL);
    while (id && (home_of(id) & r->homes_mask) < r->homes_mask);
    assert_true(find_home(id, &packet));
    assert_true(weft_create_id(WEFT_LOOP, UINT64_C(1) << 40, "t", NULL) == UINT64_C(1) << 40);
    for (uint64_t i = 0; i <= r->homes_mask; i++)
        assert_int_equal(r->homes[i], 0);
}

static const uint64_t edges[] = {
    1,
    2,
    INT32_MAX - 1,
    INT32_MAX,
    (uint64_t)INT32_MAX + 1,
    (uint64_t)INT32_MAX + 2,
    UINT32_MAX - 1,
    UINT32_MAX,
    (uint64_t)UINT32_MAX + 1,
    (uint64_t)UINT32_MAX + 2,
    INT64_MAX - 1,
    INT64_MAX,
    (uint64_t)INT64_MAX + 1,
    (uint64_t)INT64_MAX + 2,
    UINT64_MAX - (uint64_t)INT32_MAX - 2,
    UINT64_MAX - (uint64_t)INT32_MAX - 1,
    UINT64_MAX - (uint64_t)INT32_MAX,
    UINT64_MAX - 2,
    UINT64_MAX - 1,
    UINT64_MAX,
};
enum { EDGES = sizeof edges / sizeof *edges };

/* All pairs, each first in its packet, so that each is the base once, and as what runs. */
TEST(test_far_apart)
{
    for (int base = 0; base < EDGES; base++) {
        start(256 * KIB);
        weft_forget(edges[base]);
        for (int i = 0; i < EDGES; i++)
            for (int j = 0; j < EDGES; j++) {
                weft_run(edges[i]);
                weft_create_id(edges[i], edges[j], "t", "l");
                weft_create_id(edges[i], edges[j], "t", NULL);
                weft_wait(edges[j]);
                weft_wait_by(edges[j], edges[i]);
                weft_fail(edges[j], "why");
                weft_resolve_by(edges[j], edges[i], WEFT_BY_ERROR, "why");
                weft_label(edges[j], "l");
                weft_background(edges[j]);
                weft_wake(edges[j], edges[i]);
                weft_notify(edges[i]);
                weft_become(edges[j], edges[i]);
                weft_cancel(edges[i]);
            }
        stop_and_read();
        next("forgets %" PRId64, (int64_t)edges[base]);
        for (int i = 0; i < EDGES; i++)
            for (int j = 0; j < EDGES; j++) {
                const int64_t a = (int64_t)edges[i], b = (int64_t)edges[j];
                next("switch %" PRId64, a);
                if (b != LOOP) {
                    next("creates %" PRId64 " %" PRId64 " t \"l\"", a, b);
                    next("creates %" PRId64 " %" PRId64 " t", a, b);
                }
                next("try_read %" PRId64 " %" PRId64, a, b);
                next("try_read %" PRId64 " %" PRId64, b, a);
                next("fails %" PRId64 " %" PRId64 " \"why\"", a, b);
                next("fails %" PRId64 " %" PRId64 " \"why\"", b, a);
                next("label %" PRId64 " \"l\"", b);
                next("background %" PRId64, b);
                next("read %" PRId64 " %" PRId64, b, a);
                next("notifies %" PRId64 " %" PRId64, b, a);
                next("becomes %" PRId64 " %" PRId64, b, a);
                next("cancels %" PRId64 " %" PRId64, a, a);
            }
        end();
        clean(NULL);
    }
}

TEST(test_counters)
{
    static const int64_t values[] = {0,         1,
                                     -1,        INT32_MAX,
                                     INT32_MIN, (int64_t)INT32_MAX + 1,
                                     INT64_MAX, (int64_t)INT32_MIN - 1,
                                     INT64_MIN, 5};
    enum { N = sizeof values / sizeof *values };
    static struct weft_counter c = WEFT_COUNTER("c"), unnamed = WEFT_COUNTER(NULL);
    uint64_t total = 0; /* which wraps, as the counter does */
    start(MIB);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            weft_counter_set(&c, values[i]);
            weft_counter_add(&c, values[j]);
        }
    weft_counter_add(&unnamed, 3);
    weft_gc(0);
    weft_gc(INT32_MAX);
    weft_gc((uint64_t)INT32_MAX + 1);
    weft_gc(UINT32_MAX);
    weft_gc(5000000000);
    weft_gc(UINT64_MAX);
    stop_and_read();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            total = (uint64_t)values[i] + (uint64_t)values[j];
            next("counter -1 %" PRId64 " \"c\"", values[i]);
            next("increase -1 %" PRId64 " \"c\" = %" PRId64, values[j], (int64_t)total);
        }
    next("increase -1 3%s = 3", trace.event[trace.at].text ? " \"\"" : "");
    next("gc 0");
    next("gc %d", INT32_MAX);
    next("gc 2147483648");
    next("gc 4294967295");
    next("gc 5000000000");
    next("gc -1");
    end();
}

/* ---- Texts ---- */

/* The n-th text of that size: any bytes but NUL. */
static char *text_of(size_t size, unsigned n)
{
    static char text[9100];
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(1 + (i * 7 + n * 31 + size) % 255);
    text[size] = 0;
    return text;
}

static void is_text(const struct weft_event *ev, size_t size, unsigned n, size_t max)
{
    const char *text = text_of(size, n);
    size_t kept = size < max ? size : max;
    assert_int_equal(ev->text_size, kept);
    assert_memory_equal(ev->text, text, kept);
}

TEST(test_text_sizes)
{
    enum { MAX = 9000 };
    start(64 * MIB);
    for (size_t size = 0; size <= MAX; size++)
        weft_label(1, text_of(size, 0));
    stop_and_read();
    assert_int_equal(trace.events, MAX + 1);
    for (size_t size = 0; size <= MAX; size++)
        is_text(&trace.event[size], size, 0, WEFT_TEXT_MAX);
    /* Those that were too long, and those that did not fit anywhere whole. */
    assert_true(trace.facts->lost_texts >= MAX - WEFT_TEXT_MAX);
}

/* A text is stored, and found again, also among many that end alike. */
TEST(test_texts_are_stored_once)
{
    uint64_t used[2];
    start(2 * MIB);
    for (int again = 0; again < 2; again++) {
        for (unsigned i = 0; i < 500; i++) {
            char text[32];
            snprintf(text, sizeof text, "text %03u, and more words", i);
            assert_int_equal(strlen(text) % 8, 0);
            weft_label(1, text);
        }
        used[again] = weft_record_rec.strings->used_bytes;
    }
    stop_and_read();
    assert_int_equal(trace.events, 1000);
    assert_true(used[0] >= 500 * 24);
    assert_int_equal(used[0], used[1]);
}

/* The strings packet fills; the texts that come then stand before their events. */
TEST(test_inline_texts)
{
    static struct weft_counter late = WEFT_COUNTER("late");
    enum { N = 5000 };
    const size_t max =
        (16 * KIB - sizeof(struct weft_events_header) - KIB) / 4; /* as text.c says */
    start(2 * MIB);
    assert_int_equal(weft_record_rec.packet_bytes, 16 * KIB);
    for (unsigned i = 0; i < 40; i++)
        weft_label(1, text_of(8000, i));
    uint64_t lost = weft_record_rec.facts->lost_texts;
    static weft_promise made[N];
    for (unsigned i = 0; i < N; i++) {
        weft_promise p = made[i] = weft_create(text_of(i % 5000, i), "literal");
        weft_create("a type", text_of(i % 3001, i + 1));
        weft_fail(p, text_of(i % 700, i + 2));
        weft_counter_add(&late, 1);
    }
    weft_create(NULL, NULL);
    stop_and_read();
    assert_true(lost < trace.facts->lost_texts);
    assert_true(trace.facts->wrapped);
    adds_up(40 + 4 * N + 1);
    assert_int_equal(trace.facts->discarded_events, 0);
    size_t kept = trace.events - 1;
    for (size_t k = 0; k < kept; k++) {
        const struct weft_event *ev = &trace.event[kept - 1 - k];
        unsigned i = (unsigned)(N - 1 - k / 4);
        if (k / 4 >= N)
            break;
        if (k % 4 == 0) {
            assert_int_equal(ev->kind, WEFT_EVENT_INCREASE);
            assert_int_equal(ev->total, i + 1);
            assert_int_equal(ev->text_size, 4);
            assert_memory_equal(ev->text, "late", 4);
        } else if (k % 4 == 1) {
            assert_int_equal(ev->kind, WEFT_EVENT_FAILS);
            is_text(ev, i % 700, i + 2, max);
        } else if (k % 4 == 2) {
            assert_string_equal(ev->origin->type, "a type");
            is_text(ev, i % 3001, i + 1, max);
        } else {
            size_t size = i % 5000 < max ? i % 5000 : max;
            assert_int_equal(strlen(ev->origin->type), size);
            assert_memory_equal(ev->origin->type, text_of(i % 5000, i), size);
            assert_int_equal(ev->text_size, 7);
            assert_memory_equal(ev->text, "literal", 7);
            assert_int_equal(ev->b, made[i]);
        }
    }
}

static weft_promise labelled(const char *label)
{
    return weft_create("helper", label);
}

/* A literal is looked up once for each place and recording: what is in the buffer later does not matter. */
TEST(test_literals)
{
    static const char *const texts[] = {"first", "again"};
    struct weft_site site = {.file = "here.c", .line = 7, .literal = 1};
    struct weft_text place = {.literal = 1};
    char text[6];
    struct weft_counter count = WEFT_COUNTER(text);
    for (int recording = 0; recording < 2; recording++) {
        unsigned named = 0;
        strcpy(text, texts[recording]);
        start(MIB);
        for (int i = 0; i < 2; i++) {
            const weft_promise p = weft_impl_create(&site, text, NULL);
            weft_impl_label(&place, p, text);
            weft_impl_counter(&count, i, 0);
            strcpy(text, "other");
        }
        stop_and_read();
        for (size_t i = 0; i < trace.events; i++) {
            const struct weft_event *e = &trace.event[i];
            const char *is = e->kind == WEFT_EVENT_CREATES ? e->origin->type : e->text;
            named += strncmp(is, texts[recording], 5) == 0;
        }
        assert_int_equal(trace.events, 6);
        assert_int_equal(named, 6);
    }
}

/* Buffers that are used again, literals, and what only looks like one. */
TEST(test_reused_buffers)
{
    char type[16], label[16];
    static const char *const names[] = {"zero", "one", "two"};
    start(MIB);
    for (int i = 0; i < 3; i++) {
        snprintf(type, sizeof type, "type %d", i);
        snprintf(label, sizeof label, "label %d", i);
        weft_create(type, label);
        weft_create("literal", label);
        weft_create(type, "literal");
        weft_create("literal", "literal");
        weft_create(names[i], i % 2 ? "odd" : "even");
        labelled(i % 2 ? "odd" : "even");
        weft_label(1, label);
        weft_label(1, "literal");
        weft_fail(1, i ? names[i] : NULL);
    }
    stop_and_read();
    for (int64_t i = 0, id = trace.events ? (int64_t)trace.event[0].b : 0; i < 3; i++) {
        next("creates -1 %" PRId64 " type %" PRId64 " \"label %" PRId64 "\"", id++, i, i);
        assert_non_null(strstr(trace.event[0].origin->file, "test_record.c"));
        assert_true(trace.event[0].origin->line > 0);
        next("creates -1 %" PRId64 " literal \"label %" PRId64 "\"", id++, i);
        next("creates -1 %" PRId64 " type %" PRId64 " \"literal\"", id++, i);
        next("creates -1 %" PRId64 " literal \"literal\"", id++);
        next("creates -1 %" PRId64 " %s \"%s\"", id++, names[i], i % 2 ? "odd" : "even");
        next("creates -1 %" PRId64 " helper \"%s\"", id++, i % 2 ? "odd" : "even");
        next("label 1 \"label %" PRId64 "\"", i);
        next("label 1 \"literal\"");
        if (i)
            next("fails -1 1 \"%s\"", names[i]);
        else
            next("fails -1 1");
    }
    end();
}

/* What a trace says of its own events: the name of each, its number, and fields that are as long as it. */
TEST(test_metadata)
{
    static const struct {
        const char *name;
        unsigned words, code;
    } forms[] = {
#define FORM(words, number, NAME, KIND, FIELDS) {#NAME, (words), (words)*32 + (number)},
#include "format/events.def"
    };
    static const struct {
        const char *text;
        unsigned words;
    } fields[] = {{"i32 ", 1}, {"u32 ", 1},           {"i64 ", 2},
                  {"u64 ", 2}, {"trace_id[16]; ", 4}, {"span_id[8]; ", 2}};
    static char text[64 * KIB];
    assert_in_range(weft_record_metadata(text, sizeof text), 1000, sizeof text - 1);
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        char wanted[200];
        unsigned words = 0;
        snprintf(wanted, sizeof wanted,
                 "event { name = \"%s\"; id = %u; stream_id = 1;\n  fields := struct { ",
                 forms[i].name, forms[i].code);
        const char *at = strstr(text, wanted);
        assert_non_null(at);
        at += strlen(wanted);
        const char *end = strstr(at, "}; };\n");
        assert_non_null(end);
        for (; at < end; at++)
            for (unsigned k = 0; k < sizeof fields / sizeof *fields; k++)
                words +=
                    strncmp(at, fields[k].text, strlen(fields[k].text)) == 0 ? fields[k].words : 0;
        assert_int_equal(words, forms[i].words);
    }
}

/* ---- Starting and stopping ---- */

static int try_start(const char *path, uint64_t bytes)
{
    int rc = weft_start(&(struct weft_options){.path = path, .bytes = bytes});
    if (rc == 0)
        weft_stop();
    return rc;
}

static void put_file(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static void has_content(const char *path, const char *content)
{
    char found[100] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    found[fread(found, 1, sizeof found - 1, f)] = 0;
    fclose(f);
    assert_string_equal(found, content);
}

/* How many files there are: none is left over. */
static int files(void)
{
    char command[300];
    snprintf(command, sizeof command, "exit $(ls -A %s | wc -l)", folder);
    return WEXITSTATUS(system(command));
}

TEST(test_refusals)
{
    alignas(8) static unsigned char memory[64 * KIB + 8];
    const char *link = in_folder("link"), *text = in_folder("text"), *fifo = in_folder("fifo");
    const char *t = in_folder("t");
    put_file(text, "mine");
    assert_int_equal(symlink(text, link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(try_start(text, MIB), -EEXIST);
    assert_int_equal(try_start(link, MIB), -ELOOP);
    assert_int_equal(try_start(fifo, MIB), -EEXIST);
    assert_int_equal(try_start(folder, MIB), -EEXIST);
    assert_int_equal(try_start("", MIB), -EINVAL);
    assert_int_equal(try_start("/nowhere/t", MIB), -ENOENT);
    assert_int_equal(try_start(t, 1), -EINVAL);
    assert_int_equal(try_start(t, 64 * KIB - 1), -EINVAL);
    assert_int_equal(try_start(t, UINT64_C(1) << 63), -EINVAL);
    assert_int_equal(try_start(t, UINT64_MAX), -EINVAL);
    assert_int_equal(try_start(t, UINT64_C(1) << 40), -ENOSPC);
    has_content(text, "mine");
    has_content(link, "mine");
    assert_int_equal(weft_start(&(struct weft_options){.memory = memory + 4, .bytes = 64 * KIB}),
                     -EINVAL);
    assert_int_equal(weft_start(&(struct weft_options){.memory = memory}), -EINVAL);
    assert_int_equal(weft_start(&(struct weft_options){.memory = memory, .bytes = 64 * KIB - 8}),
                     -EINVAL);
    assert_int_equal(weft_start(&(struct weft_options){.path = t, .flags = 1u << 31}), -E2BIG);
    unlink(link);
    unlink(text);
    unlink(fifo);
    assert_int_equal(files(), 0);

    start(64 * KIB);
    assert_int_equal(weft_start(NULL), -EALREADY);
    struct stat st;
    assert_int_equal(stat(t, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 64 * KIB);
    weft_forget(1);
    weft_stop();
    assert_int_equal(try_start(t, 64 * KIB), 0); /* a finished trace is replaced */
    weft_stop();
    weft_stop();
}

static unsigned mappings(void)
{
    unsigned lines = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        lines += c == '\n';
    fclose(f);
    return lines;
}

static int next_descriptor(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

/* A question to the scheduler leaves nothing open. */
TEST(test_core_time)
{
    struct core_time core;
    const int fd = next_descriptor();
    errno = ENOTTY;
    for (int i = 0; i < 3; i++)
        weft_record_core_time(&core);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(next_descriptor(), fd);
}

/* What the scheduler says, read another way; 0: it does not say. */
static int ask_scheduler(uint64_t had_wanted[2])
{
    FILE *f = fopen("/proc/thread-self/schedstat", "re");
    const int n = f ? fscanf(f, "%" SCNu64 " %" SCNu64, &had_wanted[0], &had_wanted[1]) : 0;
    if (f)
        fclose(f);
    return n == 2;
}

/* Both times only grow. */
TEST(test_core_time_is_what_the_scheduler_says)
{
    struct core_time core;
    uint64_t before[2], after[2];
    const int says = ask_scheduler(before);
    assert_int_equal(weft_record_core_time(&core), says);
    if (!says)
        return;
    assert_true(ask_scheduler(after));
    assert_in_range(core.had_ns, before[0], after[0]);
    assert_in_range(core.wanted_ns, before[1], after[1]);
}

/* In a child, since limits and users are the process's. */
static void in_child(int (*run)(void), int expected)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(-run());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status)); /* not by SIGXFSZ */
    assert_int_equal(WEXITSTATUS(status), -expected);
}

static int start_limited(void)
{
    struct rlimit limit = {.rlim_cur = 32 * KIB, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    return try_start(in_folder("t"), MIB);
}

static int start_as_nobody(void)
{
    chmod(folder, 0755);
    return setuid(65534) ? 0 : try_start(in_folder("t"), 64 * KIB);
}

/* With ever more memory, until it is enough: before, nothing is left. */
static int start_in_little_memory(void)
{
    const unsigned mapped = mappings();
    for (rlim_t more = KIB; more < 64 * MIB; more += 4 * KIB) {
        unsigned long pages = 0;
        FILE *f = fopen("/proc/self/statm", "re");
        if (!f || fscanf(f, "%lu", &pages) != 1)
            return -1;
        fclose(f);
        struct rlimit all, limit;
        getrlimit(RLIMIT_AS, &all);
        limit = all;
        limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
        setrlimit(RLIMIT_AS, &limit);
        int rc = try_start(in_folder("t"), 256 * KIB);
        setrlimit(RLIMIT_AS, &all);
        if (rc != -ENOMEM)
            return rc;
        if (mappings() > mapped + 2 || files() > 0)
            return -2;
    }
    return -3;
}

TEST(test_signals_stay_as_they_were)
{
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    start(64 * KIB);
    weft_stop();
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int i = 1; i < NSIG; i++)
        assert_int_equal(sigismember(&after, i), sigismember(&before, i));
}

TEST(test_no_room)
{
    in_child(start_in_little_memory, 0);
    clean(NULL);
    in_child(start_limited, -EFBIG);
    assert_int_equal(files(), 0);
    if (geteuid() != 0) {
        print_message("not root: no small disk, no other user\n");
        return;
    }
    in_child(start_as_nobody, -EACCES);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=512k") == 0) {
        assert_int_equal(try_start(in_folder("t"), MIB), -ENOSPC);
        assert_int_equal(files(), 0);
        assert_int_equal(try_start(in_folder("t"), 256 * KIB), 0);
        umount(folder);
    }
}

/* How large the trace is of a program with that size in its environment; -1: there is none. */
static long size_of_trace(const char *size)
{
    struct stat st;
    pid_t pid = fork();
    if (pid == 0) {
        setenv("WEFT_TRACE", in_folder("t"), 1);
        setenv("WEFT_TRACE_SIZE", size, 1);
        setenv("ONLY_BEGIN", "yes", 1);
        execl("/proc/self/exe", "test_record", (char *)NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    const long bytes = stat(in_folder("t"), &st) == 0 ? (long)st.st_size : -1;
    unlink(in_folder("t"));
    return bytes;
}

TEST(test_sizes)
{
    static const struct {
        const char *text;
        long bytes;
    } sizes[] = {{"65536", 65536},
                 {"128K", 131072},
                 {"128k", 131072},
                 {"128KB", 131072},
                 {"128KiB", 131072},
                 {"1M", MIB},
                 {"1MiB", MIB},
                 {"128KX", -1},
                 {"128KBi", -1},
                 {"128X", -1},
                 {"K", -1},
                 {"-1", -1},
                 {"18446744073709551615K", -1}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const long bytes = size_of_trace(sizes[i].text);
        if (bytes != sizes[i].bytes)
            print_error("%s: %ld\n", sizes[i].text, bytes);
        assert_int_equal(bytes, sizes[i].bytes);
    }
}

/* The trace says which program made it, and where. */
TEST(test_provenance)
{
    char host[256] = "", program[256] = "";
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    assert_true(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    start(64 * KIB);
    stop_and_read();
    assert_string_equal(trace.facts->process.host, host);
    assert_string_equal(trace.facts->process.program, program);
    assert_int_equal(trace.facts->process.pid, getpid());
}

/* A trace that somebody is writing is left to him; when he is dead it is nobody's. */
TEST(test_somebody_else_writes)
{
    int ready[2], status;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int rc = weft_start(&(struct weft_options){.path = in_folder("t"), .bytes = 64 * KIB});
        if (write(ready[1], &rc, 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 0);
    assert_int_equal(try_start(in_folder("t"), 64 * KIB), -EBUSY);
    kill(pid, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(try_start(in_folder("t"), 64 * KIB), 0); /* though it has its number still */
    waitpid(pid, &status, 0);
    close(ready[0]);
    close(ready[1]);
}

/* A trace that this process wrote before it called exec is kept beside the new one, unless something else is there. */
TEST(test_former)
{
    enum { BYTES = 64 * 1024 };
    static char bytes[BYTES];
    for (int taken = 0; taken < 2; taken++) {
        start(BYTES);
        weft_forget(7);
        FILE *f = fopen(in_folder("t"), "r");
        assert_non_null(f);
        assert_int_equal(fread(bytes, 1, BYTES, f), BYTES);
        fclose(f);
        weft_stop();
        unlink(in_folder("t"));
        f = fopen(in_folder("t"), "w"); /* the same, not mapped */
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, BYTES, f), BYTES);
        fclose(f);
        if (taken)
            put_file(in_folder("t.1"), "mine");
        start(BYTES);
        weft_stop();
        assert_int_equal(files(), 2);
        read_trace();
        assert_int_equal(trace.events, 0);
        trace_free(&trace);
        assert_int_equal(rename(in_folder("t.1"), in_folder("t")), 0);
        if (taken)
            assert_true(trace_read(&trace, in_folder("t")) < 0);
        else
            stop_and_read();
        assert_int_equal(trace.events, !taken);
        unlink(in_folder("t"));
    }
}

/* On the caller's memory, full of what was there before. */
TEST(test_memory)
{
    enum { BYTES = 300 * 1024 + 56 };
    uint64_t *memory = malloc(BYTES);
    assert_non_null(memory);
    for (int round = 0; round < 3; round++) {
        size_t bytes = round == 2 ? 64 * KIB : BYTES; /* smaller, over a larger one */
        memset(memory, round ? 0xc1 : 0xff, round == 1 ? BYTES : 0);
        assert_int_equal(weft_start(&(struct weft_options){.memory = memory, .bytes = bytes}), 0);
        for (unsigned i = 1; i <= 50000; i++)
            weft_forget(i);
        for (int live = 1; live >= 0; live--) {
            if (!live)
                weft_stop();
            FILE *f = fopen(in_folder("t"), "w");
            assert_non_null(f);
            fwrite(memory, 1, bytes, f);
            fclose(f);
            read_trace();
            adds_up(50000);
            assert_int_equal(trace.facts->ended, live ? WEFT_ENDED_RUNNING : WEFT_ENDED_STOPPED);
            assert_true(trace.events > 1000);
            for (size_t k = 0; k < trace.events; k++)
                assert_int_equal(trace.event[k].a, 50000 - trace.events + 1 + k);
        }
    }
    free(memory);
}

/* One recording after the other: what places in the program remember is of the former. */
static void use_places(int i)
{
    char buffer[20];
    snprintf(buffer, sizeof buffer, "round %d", i);
    weft_run(weft_create("task", "literal"));
    weft_label(1, "literal");
    weft_create("task", buffer);
    weft_fail(2, "why");
    weft_counter_add(&queued, 1);
}

TEST(test_again)
{
    queued.value = 0;
    for (int i = 0; i < 5; i++) {
        start(i % 2 ? MIB : 64 * KIB);
        if (i % 2) /* so that numbers of texts differ */
            weft_label(3, "first");
        use_places(i);
        weft_pause();
        use_places(i);
        weft_unpause();
        weft_forget(9);
        stop_and_read();
        if (i % 2)
            next("label 3 \"first\"");
        int64_t id = (int64_t)trace.event[trace.at].b;
        next("creates -1 %" PRId64 " task \"literal\"", id);
        next("switch %" PRId64, id);
        next("label 1 \"literal\"");
        next("creates %" PRId64 " %" PRId64 " task \"round %d\"", id, id + 1, i);
        next("fails %" PRId64 " 2 \"why\"", id);
        next("increase %" PRId64 " 1 \"queued\" = %d", id, i + 1);
        next("forgets 9");
        end();
    }
    assert_int_equal(weft_start(&(struct weft_options){
                         .path = in_folder("t"), .bytes = 64 * KIB, .flags = WEFT_START_PAUSED}),
                     0);
    use_places(0);
    weft_unpause();
    weft_forget(1);
    stop_and_read();
    next("forgets 1");
    end();
    weft_unpause(); /* there is none */
    weft_forget(1);
}

static uint64_t test_ticks;

static uint64_t clock_of_the_test(void)
{
    return test_ticks;
}

/* The facts say when it was paused and taken up again, the last time: of an open recording, and only if that changed
 * anything; also by a clock that stands still. */
TEST(test_paused)
{
    const struct weft_process_facts *p;
    test_ticks = 1000;
    const struct weft_options options = {.path = in_folder("t"),
                                         .bytes = 64 * KIB,
                                         .clock = clock_of_the_test,
                                         .clock_hz = 1000000000};
    weft_pause(); /* there is none */
    assert_int_equal(weft_start(&options), 0);
    weft_unpause(); /* it is on */
    weft_forget(1);
    stop_and_read();
    p = &trace.facts->process;
    assert_false(p->was_paused);
    for (uint64_t step = 0; step < 2; step++) { /* 0: the clock stands still */
        assert_int_equal(weft_start(&options), 0);
        for (int i = 0; i < 3; i++) {
            weft_forget(1);
            test_ticks += step;
            weft_pause();
            const uint64_t paused = test_ticks;
            test_ticks += step;
            weft_pause();
            read_trace();
            p = &trace.facts->process;
            assert_true(p->was_paused && p->is_paused);
            if (step)
                assert_int_equal(p->paused_ns, paused);
            weft_unpause();
            const uint64_t resumed = test_ticks;
            test_ticks += step;
            weft_unpause();
            read_trace();
            p = &trace.facts->process;
            assert_true(p->was_paused && !p->is_paused);
            if (step)
                assert_int_equal(p->resumed_ns, resumed);
        }
        weft_pause();
        weft_stop();
        read_trace();
        assert_true(trace.facts->process.is_paused);
    }
}

static void *pause_and_go_on(void *ended)
{
    while (!__atomic_load_n((bool *)ended, __ATOMIC_ACQUIRE)) {
        weft_pause();
        weft_unpause();
    }
    return NULL;
}

/* While others end the recording and begin the next one, whose memory lies elsewhere. */
TEST(test_paused_meanwhile)
{
    pthread_t thread[2];
    bool ended = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, pause_and_go_on, &ended), 0);
    for (int i = 0; i < 50; i++) {
        while (weft_start(&(struct weft_options){.path = in_folder("t"), .bytes = 64 * KIB}) != 0)
            ; /* a thread has the lock */
        weft_forget(1);
        weft_stop();
    }
    __atomic_store_n(&ended, true, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    read_trace();
    start(64 * KIB);
    weft_forget(1);
    stop_and_read();
    assert_false(trace.facts->process.was_paused);
}

TEST(test_standby)
{
    assert_true(weft_create("t", "off") == 0);
    weft_standby(1);
    weft_promise a = weft_create("t", "one"), b = weft_create_from(a, "t", "two");
    assert_true(a && b && a != b);
    assert_true(weft_create_id(a, 7, "t", NULL) == 0);
    weft_fulfill(a);
    start(MIB);
    weft_promise c = weft_create("t", "three");
    assert_true(c && c != a && c != b);
    weft_fulfill(a);
    weft_pause();
    weft_promise d = weft_create("t", "four");
    assert_true(d && d != c);
    weft_standby(0);
    assert_true(weft_create("t", "five") == 0);
    weft_unpause();
    weft_fulfill(d);
    stop_and_read();
    next("creates -1 %" PRIu64 " t \"three\"", c);
    next("fulfills -1 %" PRIu64, a);
    next("fulfills -1 %" PRIu64, d);
    end();
}

/* A call that is left in the middle, here out of the caller's clock, never ends. After two of them nothing is recorded on the
 * thread, and why is said. */
static jmp_buf way_out;
static bool leaves;

static uint64_t clock_that_leaves(void)
{
    static uint64_t ticks;
    if (__atomic_exchange_n(&leaves, false, __ATOMIC_RELAXED))
        longjmp(way_out, 1);
    return __atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
}

static void *leave_calls(void *jumps)
{
    for (volatile intptr_t left = (intptr_t)jumps; left > 0; left--)
        if (!setjmp(way_out)) {
            leaves = true;
            weft_forget(1);
        }
    weft_forget(2);
    return NULL;
}

TEST(test_left_by_longjmp)
{
    for (intptr_t jumps = 0; jumps <= 2; jumps++) {
        pthread_t thread;
        assert_int_equal(weft_start(&(struct weft_options){.path = in_folder("t"),
                                                           .bytes = 64 * KIB,
                                                           .clock = clock_that_leaves}),
                         0);
        assert_int_equal(pthread_create(&thread, NULL, leave_calls, (void *)jumps), 0);
        pthread_join(thread, NULL);
        stop_and_read();
        assert_int_equal(trace.facts->discarded_events, jumps == 2);
        assert_int_equal(trace.facts->refused, jumps == 2);
        if (jumps < 2)
            next("forgets 2");
        end();
    }
}

/* The caller's clock, at odd rates, high numbers, and across what 56 bits hold. */
TEST(test_callers_clock)
{
    static const struct {
        uint64_t from, hz;
    } cases[] = {{0, 1000000000},
                 {5, 0},
                 {1, 32768},
                 {UINT64_C(1) << 30, 3},
                 {(UINT64_C(1) << 56) - 500, 100000007},
                 {(UINT64_C(1) << 62) - 5, UINT64_C(5000000000)}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ticks = cases[k].from;
        uint64_t hz = cases[k].hz ? cases[k].hz : 1000000000;
        assert_int_equal(
            weft_start(&(struct weft_options){
                .path = in_folder("t"), .bytes = 64 * KIB, .clock = tick, .clock_hz = cases[k].hz}),
            0);
        for (uint64_t i = 0; i < 1000; i++, ticks++)
            weft_forget(i + 1);
        stop_and_read();
        assert_int_equal(trace.events, 1000);
        assert_int_equal(trace.facts->process.until_ns, 0); /* it is not on this clock */
        for (uint64_t i = 1; i < 1000; i++) {
            double wanted = (double)i * 1e9 / (double)hz;
            double got = (double)(trace.event[i].time_ns - trace.event[0].time_ns);
            if (got < wanted - 1.5 || got > wanted + 1.5) {
                print_error("hz %" PRIu64 ", %" PRIu64 " ticks: %.1f, not %.1f\n", hz, i, got,
                            wanted);
                fail();
            }
        }
        clean(NULL);
    }
}

/* Of a clock that goes on by 1 whenever somebody looks, a pause is as long as they look often: not the time since the start. */
TEST(test_longest_pause)
{
    ticks = 100000;
    assert_int_equal(weft_start(&(struct weft_options){
                         .path = in_folder("t"), .bytes = 64 * KIB, .clock = next_tick}),
                     0);
    for (uint64_t i = 0; i < 5000; i++)
        weft_forget(i + 1);
    stop_and_read();
    assert_in_range(trace.facts->promotion.pauses, 5, 100);
    assert_in_range(trace.facts->promotion.longest_pause_ns, 1, 100);
}

/* ---- Handlers, threads, forks ---- */

static int storms, storm_on, errno_changed;

static void storm(int signal)
{
    (void)signal;
    const int was_errno = errno;
    const weft_promise n = (weft_promise)storms;
    weft_promise was = weft_run(1000000 + n);
    weft_label(1000000 + n, "in a handler");
    weft_fulfill(2000000 + n);
    weft_run(was);
    errno_changed += errno != was_errno;
    errno = was_errno;
    __atomic_store_n(&storms, storms + 1, __ATOMIC_RELAXED);
}

static void *send_signals(void *target)
{
    while (__atomic_load_n(&storm_on, __ATOMIC_RELAXED) &&
           __atomic_load_n(&storms, __ATOMIC_RELAXED) < 100000) {
        pthread_kill(*(pthread_t *)target, SIGALRM);
        for (int was = __atomic_load_n(&storms, __ATOMIC_RELAXED), i = 0;
             was == __atomic_load_n(&storms, __ATOMIC_RELAXED) && i < 1000; i++)
            sched_yield();
    }
    return NULL;
}

TEST(test_handlers)
{
    enum { N = 300000 };
    struct sigaction action = {.sa_handler = storm, .sa_flags = SA_RESTART};
    pthread_t self = pthread_self(), thread;
    start(64 * MIB);
    storms = 0;
    weft_run(7);
    sigaction(SIGALRM, &action, NULL);
    __atomic_store_n(&storm_on, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&thread, NULL, send_signals, &self), 0);
    for (unsigned i = 0; i < N; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %u", i % 1000);
        weft_label(i + 1, text);
        weft_fulfill(i + 1);
    }
    __atomic_store_n(&storm_on, 0, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGALRM, &action, NULL);
    stop_and_read();
    adds_up(1 + 2 * (uint64_t)N + 4 * (uint64_t)storms);
    assert_int_equal(trace.facts->discarded_events, 0);
    unsigned mine = 0, ran = 0, labels = 0, ends = 0, second = 0;
    for (size_t i = 0; i < trace.events; i++) {
        const struct weft_event *ev = &trace.event[i];
        char text[40];
        second += ev->stream != trace.event[0].stream;
        if (ev->kind == WEFT_EVENT_SWITCH) {
            ran++;
        } else if (ev->kind == WEFT_EVENT_LABEL && ev->a < 1000000) {
            snprintf(text, sizeof text, "label %u \"text %u\"", mine + 1, mine % 1000);
            assert_string_equal(trace_line(ev), text);
        } else if (ev->kind == WEFT_EVENT_FULFILLS && ev->b < 1000000) {
            snprintf(text, sizeof text, "fulfills 7 %u", ++mine);
            assert_string_equal(trace_line(ev), text);
        } else if (ev->kind == WEFT_EVENT_LABEL) {
            snprintf(text, sizeof text, "label %u \"in a handler\"", 1000000 + labels++);
            assert_string_equal(trace_line(ev), text);
        } else {
            snprintf(text, sizeof text, "fulfills %u %u", 1000000 + ends, 2000000 + ends);
            ends++;
            assert_string_equal(trace_line(ev), text);
        }
    }
    assert_int_equal(mine, N);
    assert_int_equal(errno_changed, 0);
    assert_int_equal(labels, storms);
    assert_int_equal(ends, storms);
    assert_int_equal(ran, 1 + 2 * storms);
    print_message("%d signals, %u events recorded within another\n", storms, second);
}

/* What a handler does that comes in the middle of an event, here without one. */
TEST(test_within_an_event)
{
    for (int round = 0; round < 3; round++) {
        assert_int_equal(weft_start(&(struct weft_options){
                             .path = in_folder("t"), .bytes = 64 * KIB, .clock = next_tick}),
                         0);
        struct thread *t = this_thread();
        t->busy = 1; /* before anything else in this recording, too */
        weft_forget(1);
        weft_wait(2);
        t->busy = 0;
        weft_run(7);
        t->busy = 1;
        weft_fulfill(3);
        assert_true(weft_run(8) == 7);
        weft_fulfill(4);
        assert_true(weft_run(7) == 8);
        weft_fulfill(5);
        t->busy = 2;
        weft_fulfill(6); /* no room, but counted */
        t->busy = 0;
        weft_fulfill(7);
        t->busy = 1;
        weft_run(9);
        t->busy = 0;
        weft_fulfill(8); /* by what the handler has left running */
        weft_create("t", NULL);
        stop_and_read();
        const int64_t id = trace.events ? (int64_t)trace.event[trace.events - 1].b : 0;
        next("forgets 1");
        next("try_read -1 2");
        next("switch 7");
        next("fulfills 7 3");
        next("switch 8");
        next("fulfills 8 4");
        next("switch 7");
        next("fulfills 7 5");
        next("fulfills 7 7");
        next("switch 9");
        next("fulfills 9 8");
        next("creates 9 %" PRId64 " t", id);
        end();
        adds_up(13);
        assert_int_equal(trace.facts->streams, 2);
        clean(NULL);
    }
}

static void *brief(void *arg)
{
    weft_run((weft_promise)(uintptr_t)arg);
    weft_fulfill((weft_promise)(uintptr_t)arg + 1);
    return NULL;
}

/* Threads one after the other share a packet; each has its stream and its actor. */
TEST(test_threads_in_turn)
{
    enum { N = 2000 };
    start(MIB);
    for (uintptr_t i = 1; i <= N; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, brief, (void *)(2 * i)), 0);
        pthread_join(thread, NULL);
    }
    stop_and_read();
    adds_up(2 * N);
    assert_int_equal(trace.facts->streams_recorded, N);
    assert_int_equal(trace.facts->overwritten_events, 0);
    size_t room = weft_record_rec.packet_bytes * 3 / 4 - events_at();
    assert_true(trace.facts->packets <= N * (32 + 12 + 12) / room + 2);
    for (unsigned i = 0; i < N; i++) {
        next("switch %u", 2 * i + 2);
        next("fulfills %u %u", 2 * i + 2, 2 * i + 3);
        assert_int_equal(trace.facts->stream[trace.event[2 * i].stream].number, i);
        assert_int_equal(trace.facts->stream[trace.event[2 * i].stream].kept, 2);
        assert_int_equal(trace.event[2 * i].stream, trace.event[2 * i + 1].stream);
    }
    end();
}

static pthread_barrier_t all_here;

static void *hold(void *arg)
{
    for (unsigned i = 0; i < 3; i++)
        weft_forget((weft_promise)(uintptr_t)arg + i);
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here);
    return NULL;
}

/* What a packet says of promises of long ago is listed once, however often it says so. */
TEST(test_listed_once)
{
    weft_promise old[3];
    unsigned most = 0;
    start(64 * KIB);
    for (int i = 0; i < 3; i++)
        old[i] = weft_create("task", "old");
    for (int i = 0; i < 40000; i++)
        weft_resolve(weft_create("task", "short"));
    for (int i = 0; i < 60; i++)
        weft_wait_by(old[i % 3], old[(i + 1) % 3]);
    for (uint64_t k = 0; k < weft_record_rec.packets; k++)
        most = weft_record_rec.notes[k].olds > most ? weft_record_rec.notes[k].olds : most;
    assert_in_range(most, 3, 6);
    stop_and_read();
}

/* A part of the file for texts has whole pages, whatever its size. */
TEST(test_pages)
{
    for (uint64_t bytes = 64 * KIB; bytes < 1024 * KIB; bytes += 8) {
        struct layout l;
        assert_true(weft_record_layout_plan(&l, bytes, 0));
        assert_int_equal(l.strings_bytes % 4096, 0);
        assert_true(l.strings_bytes >= bytes / 16);
    }
}

/* 10 packets, 40 threads that hold one each. */
TEST(test_more_threads_than_packets)
{
    enum { N = 40, PACKETS = 10 };
    pthread_t thread[N];
    pthread_barrier_init(&all_here, NULL, N + 1);
    start(64 * KIB);
    assert_int_equal(weft_record_rec.packets, PACKETS);
    for (uintptr_t i = 0; i < N; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hold, (void *)(10 * i + 10)), 0);
    pthread_barrier_wait(&all_here);
    read_trace();
    assert_int_equal(trace.events, 3 * PACKETS);
    assert_int_equal(trace.facts->discarded_events, 3 * (N - PACKETS));
    pthread_barrier_wait(&all_here);
    for (unsigned i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
    weft_forget(1); /* now there is one again */
    stop_and_read();
    adds_up(3 * N + 1);
    assert_int_equal(trace.facts->discarded_events, 3 * (N - PACKETS));
    assert_int_equal(trace.event[trace.events - 1].a, 1);
    pthread_barrier_destroy(&all_here);
}

static void *other_thread(void *stop)
{
    for (unsigned i = 1; !__atomic_load_n((int *)stop, __ATOMIC_RELAXED); i++)
        weft_forget(i);
    return NULL;
}

TEST(test_fork)
{
    int status, stop = 0;
    pthread_t thread;
    start(MIB);
    weft_forget(1);
    for (int i = 0; i < 20; i++) {
        if (i == 10)
            assert_int_equal(pthread_create(&thread, NULL, other_thread, &stop), 0);
        pid_t pid = fork();
        if (pid == 0) {
            if (weft_create("child", NULL))
                _exit(1);
            weft_forget(666);
            weft_unpause();
            weft_forget(666);
            weft_stop();
            if (i % 2 == 0)
                exit(0); /* which stops nothing of the parent's */
            if (weft_start(&(struct weft_options){.path = in_folder("c"), .bytes = 64 * KIB}))
                _exit(2);
            weft_forget(667);
            weft_stop();
            struct trace child;
            if (trace_read(&child, in_folder("c")) || child.events != 1 || child.event->a != 667)
                _exit(3);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        weft_forget(2);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    read_trace();
    assert_int_equal(trace.facts->ended, WEFT_ENDED_RUNNING);
    stop_and_read();
    unsigned twos = 0;
    for (size_t i = 0; i < trace.events; i++) {
        assert_true(trace.event[i].a != 666);
        twos += trace.event[i].a == 2;
    }
    assert_true(twos >= 20 || trace.facts->overwritten_events || trace.facts->missing_events);
    assert_int_equal(trace.facts->process.pid, getpid());
    unlink(in_folder("c"));
}

/* Of a kernel that does not clear the threads' memory in a child (before 4.14): nobody is there but the one that forked. */
TEST(test_fork_without_wiping)
{
    enum { N = 5 };
    int status;
    pthread_t thread[N];
    uint32_t count;
    pthread_barrier_init(&all_here, NULL, N + 1);
    start(MIB);
    weft_forget(1);
    for (uintptr_t i = 0; i < N; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hold, (void *)(10 * i + 10)), 0);
    pthread_barrier_wait(&all_here);
    struct thread *slot = weft_record_threads(&count);
    assert_true(count > N);
    assert_int_equal(madvise(slot, count * sizeof *slot, MADV_KEEPONFORK), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int others = 0;
        for (uint32_t i = 0; i < count; i++)
            others += slot[i].in_use && slot[i].tid != (uint32_t)gettid();
        _exit(others);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(madvise(slot, count * sizeof *slot, MADV_WIPEONFORK), 0);
    pthread_barrier_wait(&all_here);
    for (unsigned i = 0; i < N; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&all_here);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Small rings, wrapped often, threads that come and go: nothing is unaccounted for. */
struct wrapper {
    unsigned events;
    uint32_t tid;
    pthread_t thread;
};

static void *wrap(void *arg)
{
    struct wrapper *w = arg;
    w->tid = (uint32_t)gettid();
    for (unsigned i = 1; i <= w->events; i++)
        weft_run(i);
    return NULL;
}

TEST(test_adds_up)
{
    for (unsigned round = 0; round < 30; round++) {
        enum { MAX = 12 };
        struct wrapper w[MAX];
        unsigned threads = 1 + round % MAX;
        uint64_t recorded = 0, in_streams = 0;
        start((64 + 64 * (round % 3)) * KIB);
        for (unsigned i = 0; i < threads; i++) {
            w[i] = (struct wrapper){.events = 1 + (round * 7919 + i * 104729) % 30000};
            recorded += w[i].events;
            assert_int_equal(pthread_create(&w[i].thread, NULL, wrap, &w[i]), 0);
        }
        for (unsigned i = 0; i < threads; i++)
            pthread_join(w[i].thread, NULL);
        stop_and_read();
        adds_up(recorded);
        assert_int_equal(trace.facts->streams_recorded, threads);
        for (unsigned s = 0; s < trace.facts->streams; s++) {
            const struct weft_stream_facts *f = &trace.facts->stream[s];
            in_streams += f->kept;
            unsigned i = 0;
            while (i < threads && w[i].tid != f->thread)
                i++;
            assert_true(i < threads);
            uint64_t all = f->kept + f->overwritten + f->missing + f->discarded;
            if (trace.facts->discarded_events ? all > w[i].events : all != w[i].events) {
                print_error("kept %" PRIu64 " overwritten %" PRIu64 " discarded %" PRIu64
                            " of %u\n",
                            f->kept, f->overwritten, f->discarded, w[i].events);
                fail();
            }
        }
        assert_int_equal(in_streams, trace.events);
        clean(NULL);
    }
}

RUN_TESTS_WITH(make_folder, remove_folder, NULL, clean)
