/* SPDX-License-Identifier: ISC */
/* Statistics: rows, latencies, what promises did meanwhile, and how busy the loop was. */
#include "allocations.h"
#include "analyse/stats.h"
#include "packets.h"

#define FIND(m, h, s, by) find(m, &(h), &(s), by)

static void find(const struct weft_model *m, struct weft_history **h, struct weft_stats *s,
                 unsigned by)
{
    assert_int_equal(weft_history_new(h, m, NULL, NULL), 0);
    assert_int_equal(weft_stats_find(s, *h, by, NULL, NULL), 0);
}

static void done(struct weft_model *m, struct weft_history *h, struct weft_stats *s)
{
    weft_stats_fini(s);
    weft_history_free(h);
    weft_model_free(m);
}

/* The row of what a promise with that number is. */
static const struct weft_stats_row *row(const struct weft_model *m, const struct weft_stats *s,
                                        const char *label)
{
    for (uint32_t i = 0; i < s->rows; i++) {
        char *text;
        assert_int_equal(weft_stats_label(&text, s, m, &s->row[i]), 0);
        bool found = text ? strcmp(text, label) == 0 : *label == 0;
        free(text);
        if (found)
            return &s->row[i];
    }
    print_error("no row '%s'\n", label);
    fail();
    return NULL;
}

/* ---- Counts and latencies ---- */

TEST(percentiles)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (uint64_t i = 1; i <= 10; i++) /* they take 900, 800 … 0 */
        trace_add(&t, creates(100 * i, LOOP, i, WAIT));
    for (uint64_t i = 1; i <= 10; i++)
        trace_add(&t, label(1000, i, "x"));
    for (uint64_t i = 1; i <= 10; i++)
        trace_add(&t, i == 3 ? fails(1000, LOOP, i, "no") : fulfills(1000, LOOP, i));
    trace_add(&t, creates(1000, LOOP, 11, WAIT)); /* never ends */
    trace_add(&t, label(1000, 11, "x"));
    trace_add(&t, label(1900, 12, "x")); /* preexisting, of a type of its own */
    trace_add(&t, fulfills(2000, LOOP, 12));

    struct weft_model *m = trace_model(&t);
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.by, WEFT_BY_LABEL);
    const struct weft_stats_row *r = &s.row[0];
    assert_int_equal(r->count, 11);
    assert_int_equal(r->resolved, 9);
    assert_int_equal(r->failed, 1);
    assert_int_equal(r->pending, 1);
    assert_int_equal(r->preexisting, 0);
    assert_int_equal(r->latencies, 10);
    assert_int_equal(r->p50_ns, 400);
    assert_int_equal(r->p90_ns, 800);
    assert_int_equal(r->p99_ns, 900);
    assert_int_equal(r->max_ns, 900);
    assert_int_equal(r->total_ns, 4500);
    assert_int_equal(m->promise[r->slowest].id, 1);
    assert_int_equal(weft_stats_below(&s, r, 400), 4);
    assert_int_equal(weft_stats_below(&s, r, 401), 5);
    static const uint32_t in_power[WEFT_STATS_POWERS] = {
        [0] = 1, [6] = 1, [7] = 1, [8] = 3, [9] = 4};
    for (unsigned power = 0; power < WEFT_STATS_POWERS; power++)
        assert_int_equal(weft_stats_in_power(&s, r, power), in_power[power]);
    assert_int_equal(weft_stats_percentile(&s, r, 100), 900);
    assert_int_equal(weft_stats_percentile(&s, r, 0), 0);
    assert_true(r->rate > 11 / 1.9e-6 - 1 && r->rate < 11 / 1.9e-6 + 1); /* of 100 to 2000 ns */
    r = &s.row[1];
    assert_int_equal(r->preexisting, 1);
    assert_int_equal(r->resolved, 1);
    assert_int_equal(r->latencies, 0);
    assert_int_equal(r->p99_ns, 0);
    assert_int_equal(r->slowest, WEFT_NONE);
    done(m, h, &s);
}

/* As a person would: sort, and count. */
static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

TEST(many_latencies)
{
    enum { N = 7001 };
    static int64_t expected[N];
    struct trace t = {.fd = -1};
    uint64_t random = 1;
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < N; i++)
        trace_add(&t, creates(0, LOOP, i + 1, TASK));
    for (uint64_t i = 0; i < N; i++) { /* times run backwards, but that does not matter here */
        random = random * 6364136223846793005u + 1442695040888963407u;
        expected[i] = (int64_t)(random >> (24 + i % 30));
        trace_add(&t, fulfills((uint64_t)expected[i], LOOP, i + 1));
    }
    struct weft_model *m = trace_model(&t);
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    qsort(expected, N, sizeof *expected, by_value);
    assert_int_equal(s.rows, 1);
    assert_int_equal(s.row[0].latencies, N);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(s.latency[i], expected[i]);
    assert_int_equal(s.row[0].p50_ns, expected[3500]); /* rank 3501 of 7001 */
    assert_int_equal(s.row[0].p90_ns, expected[6300]);
    assert_int_equal(s.row[0].p99_ns, expected[6930]);
    done(m, h, &s);
}

/* What became another one takes until that is resolved. */
TEST(became)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), label(0, 1, "a"), creates(10, LOOP, 2, WAIT),
              label(10, 2, "b"), becomes(20, 1, 2), creates(30, LOOP, 3, TASK), label(30, 3, "c"),
              becomes(40, 3, 4), fulfills(100, LOOP, 2));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    assert_int_equal(row(m, &s, "a")->max_ns, 100);
    assert_int_equal(row(m, &s, "a")->resolved, 1);
    assert_int_equal(row(m, &s, "a")->became, 1);
    assert_int_equal(row(m, &s, "b")->max_ns, 90);
    assert_int_equal(row(m, &s, "b")->became, 0);
    assert_int_equal(row(m, &s, "c")->pending, 1);
    assert_int_equal(row(m, &s, "c")->became, 1);
    done(m, h, &s);
}

/* By creator: there is no row for whoever has created nothing. */
TEST(creators)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), label(0, 1, "a"), creates(10, 1, 2, TASK),
              label(10, 2, "b"), creates(10, 1, 3, TASK), label(10, 3, "c"), fulfills(100, 1, 2));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_CREATOR);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.row[0].count, 2);
    assert_int_equal(s.row[0].total_ns, 90);
    assert_int_equal(s.row[1].count, 1);
    done(m, h, &s);
}

/* A bind begins with its first read, but for raw. */
TEST(simplified)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, WAIT), creates(0, LOOP, 2, BIND), label(70, 2, "then"),
              fulfills(60, LOOP, 1), reads(60, 2, 1), label(70, 2, "then"), fulfills(100, 2, 2));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_TYPE);
    assert_int_equal(s.rows, 2);
    weft_stats_fini(&s);
    assert_int_equal(weft_stats_find(&s, h, WEFT_BY_TYPE | WEFT_STATS_RAW, NULL, NULL), 0);
    assert_int_equal(s.row[0].max_ns, 100);
    done(m, h, &s);

    m = MODEL(creates(0, LOOP, 1, WAIT), creates(0, LOOP, 2, BIND), fulfills(60, LOOP, 1),
              switches(60, 3), reads(65, 2, 1), fulfills(100, 2, 2));
    FIND(m, h, s, WEFT_BY_TYPE);
    assert_int_equal(s.row[0].max_ns, 60); /* the wait */
    assert_int_equal(s.row[1].max_ns, 35);
    assert_int_equal(s.row[1].ready_ns, 0);
    weft_stats_fini(&s);
    assert_int_equal(weft_stats_find(&s, h, WEFT_BY_TYPE | WEFT_STATS_RAW, NULL, NULL), 0);
    assert_int_equal(s.row[0].max_ns, 100); /* the bind; 1 was there at 60, and it ran at 65 */
    assert_int_equal(s.row[0].ready_ns, 5);
    done(m, h, &s);
}

TEST(backwards)
{
    struct weft_model *m =
        MODEL(creates(100, LOOP, 9, TASK), creates(1000, LOOP, 1, TASK), label(1000, 1, "a"),
              try_read(1200, 1, 2), fulfills(900, LOOP, 2), reads(800, 1, 2), fulfills(500, 1, 1));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    const struct weft_stats_row *r = row(m, &s, "a");
    assert_int_equal(r->latencies, 1);
    assert_int_equal(r->max_ns, 0);
    assert_true(r->waiting_ns >= 0 && r->ready_ns >= 0 && r->running_ns >= 0);
    assert_true(s.ready_mean >= 0);
    done(m, h, &s);
}

TEST(nothing)
{
    struct weft_model *m = MODEL(switches(0, LOOP));
    struct weft_history *h;
    struct weft_stats s;
    for (unsigned by = WEFT_BY_AUTO; by <= WEFT_BY_TYPE; by++) {
        assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
        assert_int_equal(weft_stats_find(&s, h, by, NULL, NULL), 0);
        assert_int_equal(s.rows, 0);
        assert_int_equal(s.ready_max, 0);
        weft_stats_fini(&s);
        weft_history_free(h);
    }
    weft_model_free(m);
}

/* ---- Rows ---- */

static struct weft_model *labelled(unsigned count)
{
    struct trace t = {.fd = -1};
    char text[32];
    trace_begin(&t, 0);
    for (unsigned i = 1; i <= count; i++) {
        snprintf(text, sizeof text, "GET /users/%u", i);
        trace_add(&t, creates(i, LOOP, i, i % 2 ? TASK : WAIT));
        trace_add(&t, label(i, i, text));
        trace_add(&t, fulfills(2 * i, LOOP, i));
    }
    trace_add(&t, creates(2 * count, LOOP, count + 1, TASK));
    trace_add(&t, label(2 * count, count + 1, "stage 2"));
    return trace_model(&t);
}

TEST(kinds)
{
    struct weft_model *m = labelled(199);
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    assert_int_equal(s.by, WEFT_BY_LABEL);
    assert_int_equal(s.rows, 200);
    assert_int_equal(row(m, &s, "GET /users/7")->count, 1);
    weft_stats_fini(&s);
    assert_int_equal(weft_stats_find(&s, h, WEFT_BY_FAMILY, NULL, NULL), 0);
    assert_int_equal(s.by, WEFT_BY_FAMILY);
    assert_int_equal(s.rows, 3);
    assert_int_equal(s.row[0].count, 100); /* tasks 1, 3 … 199 */
    assert_int_equal(s.row[0].max_ns, 199);
    assert_int_equal(row(m, &s, "GET /users/#")->count, 100);
    assert_int_equal(row(m, &s, "stage 2")->count, 1);
    weft_stats_fini(&s);
    assert_int_equal(weft_stats_find(&s, h, WEFT_BY_TYPE, NULL, NULL), 0);
    assert_int_equal(s.rows, 2);
    assert_int_equal(row(m, &s, "")->count, 101);
    done(m, h, &s);

    m = labelled(2);
    FIND(m, h, s, WEFT_BY_AUTO);
    assert_int_equal(s.by, WEFT_BY_LABEL); /* one is a task, the other none */
    assert_int_equal(s.rows, 3);
    done(m, h, &s);

    m = labelled(3);
    FIND(m, h, s, WEFT_BY_AUTO);
    assert_int_equal(s.by, WEFT_BY_FAMILY);
    assert_int_equal(s.rows, 3);
    assert_int_equal(row(m, &s, "GET /users/#")->count, 2);
    weft_stats_fini(&s);
    assert_int_equal(weft_stats_find(&s, h, WEFT_BY_LABEL, NULL, NULL), 0);
    assert_int_equal(s.rows, 4);
    done(m, h, &s);
}

/* ---- What promises did ---- */

#define ASSERT_TIMES(r, waiting, ready, running)                                                   \
    do {                                                                                           \
        assert_int_equal((r)->waiting_ns, waiting);                                                \
        assert_int_equal((r)->ready_ns, ready);                                                    \
        assert_int_equal((r)->running_ns, running);                                                \
    } while (0)

TEST(one_wait)
{
    struct weft_model *m = MODEL(
        creates(0, LOOP, 1, TASK), label(0, 1, "a"), creates(0, LOOP, 2, WAIT), switches(5, 1),
        try_read(10, 1, 2), switches(15, LOOP), switches(45, 3), fulfills(50, 3, 2), gc(65, 5),
        reads(70, 1, 2), gc(90, 8), fulfills(100, 1, 1), switches(100, LOOP), switches(110, LOOP));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    /* Ready: 0 to 5, before it ran at all, and 50 to 70. Running: 5 to 15, and 70 to 100 but for 8. */
    ASSERT_TIMES(row(m, &s, "a"), 35, 25, 32);
    assert_int_equal(s.ready_max, 1);
    assert_int_equal(s.ready_max_ns, 0);
    assert_true(s.ready_mean > 25.0 / 110 - 1e-9 && s.ready_mean < 25.0 / 110 + 1e-9);
    done(m, h, &s);
}

/* All of several: ready when the last one is there. */
TEST(join)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 2, WAIT), creates(0, LOOP, 3, WAIT), creates(0, LOOP, 1, TASK),
              label(0, 1, "all"), try_read(0, 1, 2), try_read(0, 1, 3), switches(40, 9),
              fulfills(50, 9, 2), fulfills(70, 9, 3), reads(90, 1, 2), reads(90, 1, 3),
              fulfills(100, 1, 1));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    ASSERT_TIMES(row(m, &s, "all"), 70, 20, 10);
    done(m, h, &s);
}

/* One of several: ready when the first one is there, though the other is pending. */
TEST(race)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 2, WAIT), creates(0, LOOP, 3, WAIT), creates(0, LOOP, 1, TASK),
              label(0, 1, "any"), try_read(0, 1, 2), try_read(0, 1, 3), switches(40, 9),
              fulfills(50, 9, 2), reads(90, 1, 2), fulfills(100, 1, 1));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    ASSERT_TIMES(row(m, &s, "any"), 50, 40, 10);
    done(m, h, &s);
}

/* Created, and run for the first time: ready in between, unless the loop slept. */
TEST(first_run)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 9, TASK), switches(0, 9), creates(10, 9, 1, TASK),
              label(10, 1, "now"), creates(10, 9, 2, TASK), label(10, 2, "later"), switches(30, 1),
              switches(40, LOOP), switches(80, 9), switches(90, 2), switches(95, LOOP));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    ASSERT_TIMES(row(m, &s, "now"), 0, 20, 10);
    ASSERT_TIMES(row(m, &s, "later"), 0, 10, 5);
    assert_int_equal(s.ready_max, 1);
    done(m, h, &s);
}

/* Many stand ready at the same time; those that are gone at a moment do not count beside those that come. */
TEST(depth)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_add(&t, creates(0, LOOP, 100, TASK));
    trace_add(&t, switches(0, 100));
    for (uint64_t i = 1; i <= 5; i++)
        trace_add(&t, creates(10 * i, 100, i, TASK));
    for (uint64_t i = 1; i <= 5; i++)
        trace_add(&t, switches(50 + 10 * i, i)); /* the first one stops at 60 … */
    trace_add(&t, creates(110, 5, 6, TASK));
    trace_add(&t, switches(120, 6));
    trace_add(&t, switches(130, LOOP));
    struct weft_model *m = trace_model(&t);
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    assert_int_equal(s.ready_max, 5);
    assert_int_equal(s.ready_max_ns, 50);
    done(m, h, &s);
}

/* ---- Loops ---- */

TEST(loop)
{
    struct weft_model *m = MODEL(
        creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), switches(10, 1), switches(40, LOOP),
        switches(50, 2), switches(60, 1), gc(80, 4), switches(90, LOOP), switches(100, LOOP));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    assert_int_equal(s.streams, 1);
    const struct weft_stats_stream *l = &s.stream[0];
    assert_true(l->is_loop);
    assert_true(l->suspends);
    assert_int_equal(l->span_ns, 90); /* before 10 nothing is known */
    assert_int_equal(l->busy_ns, 70);
    assert_int_equal(l->loop_ns, 0);
    assert_int_equal(l->idle_ns, 20);
    assert_int_equal(l->collecting_ns, 4);
    assert_int_equal(l->runs, 3);
    assert_int_equal(l->turns, 2);
    assert_int_equal(l->turn_from_ns, 50);
    assert_int_equal(l->turn_to_ns, 90);
    assert_int_equal(l->turn_runs, 2);
    assert_int_equal(m->run[l->longest_run[0]].start_ns, 10);
    assert_int_equal(m->run[l->longest_run[1]].start_ns, 60);
    assert_int_equal(m->run[l->longest_run[2]].start_ns, 50);
    assert_int_equal(l->longest_run[3], WEFT_NONE);
    done(m, h, &s);
}

struct event_on {
    struct weft_event ev;
    uint32_t stream;
};

static struct weft_model *weft_model_of(const struct event_on *step, size_t count)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    for (uint32_t stream = 0; stream < 2; stream++) {
        events_begin(&t, (struct weft_events_header){
                             .stream = stream, .sequence = stream + 1, .begin_ticks = 1000});
        for (size_t i = 0; i < count; i++)
            if (step[i].stream == stream) {
                struct weft_event ev = step[i].ev;
                ev.time_ns += 1000;
                events_put(&t, ev, site);
            }
    }
    return trace_model(&t);
}

static struct weft_event event(unsigned kind, uint64_t t, uint64_t a)
{
    return (struct weft_event){.time_ns = t, .kind = (uint8_t)kind, .a = a};
}

static struct weft_event notified(uint64_t t, uint64_t a, uint64_t b)
{
    return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_NOTIFIES, .a = a, .b = b};
}

/* A loop that is suspended, a worker, and a condition: ready since the last notification. */
TEST(two_streams)
{
    const struct event_on step[] = {
        {creates(0, LOOP, 1, 0), 0}, {label(0, 1, "waiter"), 0},
        {creates(0, LOOP, 2, 0), 0}, {label(0, 2, "worker"), 0},
        {switches(5, 1), 0},         {try_read(10, 1, 3), 0},
        {switches(12, LOOP), 0},     {event(WEFT_EVENT_SUSPEND, 20, 0), 0},
        {switches(20, 2), 1},        {notified(30, 2, 3), 1},
        {notified(40, 2, 3), 1},     {event(WEFT_EVENT_RESUME, 50, 0), 0},
        {reads(60, 1, 3), 0},        {fulfills(90, 1, 1), 0},
        {fulfills(100, 2, 2), 1},
    };
    struct weft_model *m = weft_model_of(step, COUNT(step));
    struct weft_history *h;
    struct weft_stats s;
    FIND(m, h, s, WEFT_BY_LABEL);
    /* 0 to 5 before its first run; waiting 12 to 40, ready 40 to 60, running 5 to 12 and 60 to 90. */
    ASSERT_TIMES(row(m, &s, "waiter"), 28, 25, 37);
    assert_int_equal(row(m, &s, "worker")->running_ns, 80);
    assert_int_equal(s.streams, 2);
    const struct weft_stats_stream *l = &s.stream[0], *w = &s.stream[1];
    assert_true(l->is_loop && l->suspends);
    assert_int_equal(l->idle_ns, 30);
    assert_int_equal(l->runs, 2);
    assert_int_equal(l->busy_ns, l->loop_ns + 37);
    assert_int_equal(l->span_ns - l->idle_ns, l->busy_ns);
    assert_false(w->is_loop);
    assert_int_equal(w->busy_ns, 80);
    done(m, h, &s);
}

/* Rows that the caller gives; a promise may be in several. */
TEST(members_of_rows)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(1, LOOP, 2, TASK), creates(2, LOOP, 3, TASK));
    const uint32_t one = weft_model_find(m, 1), two = weft_model_find(m, 2);
    const struct weft_stats_member member[] = {{0, one}, {1, one}, {1, two}};
    struct weft_history *h;
    struct weft_stats_work *w;
    int rc;
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    assert_int_equal(weft_stats_begin(&w, h,
                                      &(struct weft_stats_options){.by = WEFT_BY_MEMBERS,
                                                                   .member = member,
                                                                   .members = COUNT(member),
                                                                   .rows = 2}),
                     0);
    while ((rc = weft_stats_work(w, 1)) > 0)
        ;
    assert_int_equal(rc, 0);
    assert_int_equal(weft_stats_result(w)->rows, 2);
    assert_int_equal(weft_stats_result(w)->row[0].count, 1);
    assert_int_equal(weft_stats_result(w)->row[1].count, 2);
    assert_int_equal(weft_stats_row_of(w, one), 0);
    assert_int_equal(weft_stats_row_of(w, two), 1);
    assert_int_equal(weft_stats_row_of(w, weft_model_find(m, 3)), WEFT_NONE);
    weft_stats_end(w);
    weft_history_free(h);
    weft_model_free(m);
}

/* ---- No memory ---- */

TEST(out_of_memory)
{
    struct weft_model *m = labelled(300);
    struct weft_history *h;
    struct weft_stats s;
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    for (unsigned by = WEFT_BY_AUTO; by <= WEFT_BY_TYPE; by++) {
        struct failing f = {0};
        int rc = 0;
        while (fails_next(&f, rc)) {
            rc = weft_stats_find(&s, h, by, NULL, NULL);
            if (rc < 0)
                assert_int_equal(s.rows, 0);
            weft_stats_fini(&s);
        }
        assert_true(f.n > 5);
    }
    weft_history_free(h);
    weft_model_free(m);
}

static bool stop(void *data, double share)
{
    int *left = data;
    assert_true(share >= 0 && share <= 1);
    return (*left)-- > 0;
}

TEST(canceled)
{
    struct weft_model *m = labelled(10);
    struct weft_history *h;
    struct weft_stats s;
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    for (int calls = 0; calls < 2; calls++) {
        int left = calls;
        assert_int_equal(weft_stats_find(&s, h, WEFT_BY_AUTO, stop, &left), WEFT_E_CANCELED);
        assert_int_equal(s.rows, 0);
    }
    weft_history_free(h);
    weft_model_free(m);
}

RUN_TESTS(NULL, NULL)
