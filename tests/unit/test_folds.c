/* SPDX-License-Identifier: ISC */
/* Sleep that is folded: what is, where times are shown then, and what the explorer makes of it. */
#include <inttypes.h>

#include "trace.h"

#include "explore/explore.h"
#include "explore/state.h"
#include "view/canvas.h"

enum { MS = 1000000, BURSTS = 4, EACH = 200 };
#define SECOND ((uint64_t)1000 * MS)

/* Bursts of work of 20 ms each, with seconds of sleep between them; promise 1 waits all the time. In one burst, a promise
 * runs for 3 s without an event if `blocks`. */
static struct weft_model *make_model(uint64_t sleep_ns, bool blocks)
{
    struct trace t = {.fd = -1};
    uint64_t now = 1000, id = 2;
    trace_begin(&t, 0);
    trace_add(&t, creates(0, LOOP, 1, TASK));
    trace_add(&t, label(0, 1, "waits"));
    for (unsigned i = 0; i < BURSTS; i++) {
        for (unsigned k = 0; k < EACH; k++, id++, now += 100000) {
            trace_add(&t, creates(now, LOOP, id, TASK));
            trace_add(&t, switches(now + 10, id));
            trace_add(&t, counter(now + 20, id, (int64_t)k, "work"));
            if (blocks && i == 1 && k == 50)
                now += 3 * SECOND;
            trace_add(&t, fulfills(now + 90000, id, id));
            trace_add(&t, switches(now + 90010, LOOP));
        }
        now += sleep_ns * (i + 1);
    }
    trace_add(&t, fulfills(now, LOOP, 1));
    return trace_model(&t);
}

static struct weft_explorer *explorer(unsigned panes, bool blocks)
{
    struct weft_explorer *e;
    assert_int_equal(weft_explorer_new(&e), 0);
    weft_explorer_resize(e, 1200, 700);
    for (unsigned i = 0; i < panes; i++) {
        struct weft_model *m = make_model(SECOND, blocks);
        struct weft_scene *s;
        assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
        assert_int_equal(weft_explorer_add(e, s, m, "a trace"), 0);
    }
    weft_explorer_fold(e, true);
    assert_non_null(weft_explorer_draw(e));
    return e;
}

/* ---- What is folded ---- */

static void expect_empty(const struct weft_folds *f, int64_t time_ns)
{
    const struct weft_fold *x = weft_folds_at(f, time_ns);
    if (x && time_ns > x->from_ns)
        fail_msg("something happens at %lld, in the fold from %lld", (long long)time_ns,
                 (long long)x->from_ns);
}

TEST(nothing_happens_in_a_fold)
{
    for (int blocks = 0; blocks < 2; blocks++) {
        struct weft_model *m = make_model(SECOND, blocks);
        struct weft_folds f;
        assert_int_equal(weft_folds_init(&f, m, NULL), 0);
        assert_int_equal(f.count, BURSTS);
        assert_true(f.asleep);
        for (uint32_t i = 0; i < f.count; i++)
            assert_in_range(f.fold[i].to_ns - f.fold[i].from_ns, (i + 1) * SECOND,
                            (i + 1) * SECOND + 200000);
        for (uint32_t i = 1; i < m->promises; i++) {
            expect_empty(&f, m->promise[i].start_ns);
            expect_empty(&f, m->promise[i].end_ns);
            for (uint32_t r = m->promise[i].first_run; r != WEFT_NONE; r = m->run[r].next)
                for (int64_t t = m->run[r].start_ns; t < m->run[r].end_ns; t += MS)
                    expect_empty(&f, t);
        }
        for (uint32_t i = 0; i < m->interactions; i++)
            expect_empty(&f, m->interaction[i].time_ns);
        for (uint32_t i = 0; i < m->changes; i++)
            expect_empty(&f, m->change[i].time_ns);
        weft_folds_fini(&f);
        weft_model_free(m);
    }
}

/* What runs without an event is no sleep, also where the trace does not say when the loop sleeps. */
TEST(what_runs_is_not_folded)
{
    struct weft_model *m =
        MODEL(switches(0, 1), creates(0, 1, 1, TASK), fulfills(6 * SECOND, 1, 1));
    struct weft_folds f;
    assert_int_equal(m->sleeps, 0);
    assert_int_equal(weft_folds_init(&f, m, NULL), 0);
    assert_int_equal(f.count, 0);
    weft_folds_fini(&f);
    weft_model_free(m);
}

TEST(a_trace_without_long_sleep_has_none)
{
    static const uint64_t sleeps[] = {0, 1000, 50000, 2 * MS};
    for (size_t i = 0; i < COUNT(sleeps); i++) {
        struct weft_model *m = make_model(sleeps[i], false);
        struct weft_folds f;
        assert_int_equal(weft_folds_init(&f, m, NULL), 0);
        assert_int_equal(f.count, 0);
        weft_folds_fini(&f);
        weft_model_free(m);
    }
}

/* Waits of equal length between runs that take 9 ms together. */
static struct weft_model *make_waits(unsigned waits, uint64_t wait_ns)
{
    struct trace t = {.fd = -1};
    uint64_t now = 0;
    trace_begin(&t, 0);
    trace_add(&t, creates(0, LOOP, 1, TASK));
    for (unsigned i = 0; i < waits; i++) {
        trace_add(&t, switches(now, 1));
        now += 9 * MS / waits;
        trace_add(&t, switches(now, LOOP));
        now += wait_ns;
    }
    trace_add(&t, fulfills(now, LOOP, 1));
    return trace_model(&t);
}

/* Many folds are worth it as soon as each is four times as long as it is shown: what is not folded, divided by three times
 * their number. */
TEST(many_short_waits_are_folded)
{
    enum { WAITS = 30, SHOWN_NS = 9 * MS / (3 * WAITS) };
    for (uint64_t ns = 4 * SHOWN_NS - 400; ns < 4 * SHOWN_NS + 10000; ns += 200) {
        struct weft_model *m = make_waits(WAITS, ns);
        struct weft_folds f;
        assert_int_equal(weft_folds_init(&f, m, NULL), 0);
        assert_int_equal(f.count, ns < 4 * SHOWN_NS ? 0 : WAITS);
        weft_folds_fini(&f);
        weft_model_free(m);
    }
}

/* ---- Shown time ---- */

/* Of these folds, times are shown in order, and the time found for a shown time is the earliest one. */
static void expect_order(const struct weft_folds *f, const int64_t *time, size_t count)
{
    int64_t last = INT64_MIN, last_time = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t shown = weft_folds_shown(f, time[i]), back = weft_folds_time(f, shown);
        assert_true(time[i] >= last_time);
        assert_true(shown >= last);
        assert_true(shown <= time[i]);
        assert_true(back <= time[i]);
        assert_int_equal(weft_folds_shown(f, back), shown);
        assert_true(weft_folds_shown(f, back - 1) < shown);
        uint32_t before = 0;
        while (before < f->count && f->fold[before].from_ns < time[i])
            before++;
        for (uint32_t low = 0; low <= before; low += 1 + low / 2)
            assert_int_equal(weft_folds_shown_among(f, low, before, time[i]), shown);
        double at = weft_folds_shown_at(f, (double)time[i]), tolerance = (double)time[i] * 1e-12;
        tolerance = tolerance < 0 ? 1 - tolerance : 1 + tolerance;
        double there = weft_folds_time_at(f, at) - (double)time[i];
        const struct weft_fold *x = weft_folds_at(f, time[i]);
        double wide = x ? (double)((int64_t)1 << x->shift) : 1;
        assert_true(at - (double)shown >= -tolerance && at - (double)shown <= 1 + tolerance);
        assert_true(there >= -tolerance * wide && there <= tolerance * wide);
        last = shown;
        last_time = time[i];
    }
}

/* An axis finds the folds in its own way. */
TEST(an_axis_shows_times_as_folds_say)
{
    enum { MANY = 300 };
    static struct weft_fold fold[MANY];
    const int64_t most = WEFT_TIME_MAX;
    int64_t shown = 0, time = 0;
    for (uint32_t i = 0; i < MANY; i++) { /* close to each other, then far apart */
        const int64_t from = time + (i < 200 ? 3 : 100000), length = i < 200 ? 64 : 1 << 20;
        shown += from - time;
        fold[i] = (struct weft_fold){from, from + length, shown, shown + (length >> 5), 5};
        shown = fold[i].shown_to;
        time = from + length;
    }
    const struct weft_folds f = {.fold = fold, .count = MANY};
    const int64_t window[][2] = {{0, time},
                                 {-most, most},
                                 {fold[100].from_ns + 1, fold[250].to_ns},
                                 {fold[299].to_ns, most},
                                 {-50, 10},
                                 {fold[7].from_ns, fold[7].from_ns + 1}};
    for (size_t w = 0; w < COUNT(window); w++) {
        struct axis a;
        axis_init(&a, &f, window[w][0], window[w][1], 0, 2000 * PX);
        for (uint32_t i = 0; i < 3 * MANY; i++) {
            const struct weft_fold *x = &fold[i / 3];
            const int64_t at = i % 3 == 0 ? x->from_ns : i % 3 == 1 ? x->from_ns + 33 : x->to_ns;
            if (at < window[w][0] || at > window[w][1])
                continue;
            const int64_t since = weft_folds_shown(&f, at) - weft_folds_shown(&f, window[w][0]);
            if ((int64_t)axis_since(&a, at) != since)
                fail_msg("window %zu, time %" PRId64 ": %" PRIu64 ", not %" PRId64, w, at,
                         axis_since(&a, at), since);
        }
    }
}

TEST(shown_time_is_in_order)
{
    const int64_t most = WEFT_TIME_MAX;
    struct weft_fold fold[] = {{100, 1124, 100, 164, 4},
                               {1124, 2148, 164, 180, 6},
                               {5000, most - 1000, 3032, 3032 + ((most - 6000) >> 40), 40}};
    const struct weft_folds f = {.fold = fold, .count = COUNT(fold)};
    const int64_t time[] = {-most,       -1,          0,          99,       100,  101,
                            115,         116,         1123,       1124,     1125, 2147,
                            2148,        2149,        4999,       5000,     5001, most / 2,
                            most - 1001, most - 1000, most - 999, most - 1, most};
    expect_order(&f, time, COUNT(time));
    expect_order(&(struct weft_folds){0}, time, COUNT(time));
    struct weft_model *m = make_model(SECOND, true);
    struct weft_folds own;
    assert_int_equal(weft_folds_init(&own, m, NULL), 0);
    int64_t many[20000];
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = m->end_ns / (int64_t)COUNT(many) * (int64_t)i;
    expect_order(&own, many, COUNT(many));
    weft_folds_fini(&own);
    weft_model_free(m);
}

/* Folds are narrow, and there is one time for each place. */
TEST(a_picture_has_narrow_breaks)
{
    struct weft_explorer *e = explorer(1, false);
    const struct weft_geometry *g = &e->pane[0].geometry;
    const struct weft_folds *f = &e->pane[0].scene->folds;
    for (uint32_t i = 0; i < f->count; i++) {
        int32_t width =
            weft_geometry_x(g, f->fold[i].to_ns) - weft_geometry_x(g, f->fold[i].from_ns);
        assert_in_range(width, 6 * WEFT_PX, 22 * WEFT_PX);
    }
    int64_t last = INT64_MIN;
    for (int32_t x = g->x0; x <= g->x1; x += 3) {
        int64_t time = weft_geometry_time(g, x);
        assert_true(time >= last);
        assert_true(weft_geometry_x(g, time) >= x);
        /* The scale is rounded up, by less than 1/16 of a step. */
        const struct weft_fold *in = weft_folds_at(f, time);
        int64_t step = (g->to_ns - g->from_ns) / 100 / (g->x1 - g->x0) / 16 + 1;
        int64_t before = time - (in ? step << in->shift : step);
        if (before > g->from_ns && weft_geometry_x(g, before) >= x)
            fail_msg("%d is also where %lld is, before %lld", x, (long long)before,
                     (long long)time);
        last = time;
    }
    weft_explorer_fold(e, false);
    weft_explorer_draw(e);
    assert_true(weft_geometry_x(g, f->fold[3].to_ns) - weft_geometry_x(g, f->fold[3].from_ns) >
                (g->x1 - g->x0) / 3);
    weft_explorer_free(e);
}

/* ---- The explorer ---- */

TEST(zooming_does_not_jump)
{
    static const double xs[] = {8, 100, 333.25, 500, 612, 900, 1190};
    static const double notches[] = {-1, -7, 3, -0.25, 1.5, -3, -20, 6, 9};
    struct weft_explorer *e = explorer(1, false);
    for (size_t i = 0; i < COUNT(xs); i++)
        for (size_t k = 0; k < COUNT(notches); k++) {
            double time = explore_time_at(e, 0, xs[i]);
            weft_explorer_scroll(e, xs[i], 300, 0, notches[k], 0);
            weft_explorer_draw(e);
            int32_t x = weft_geometry_x(&e->pane[0].geometry, explore_round(time));
            double moved = (double)x / WEFT_PX - xs[i];
            struct explore_window w = explore_window_get(e, 0);
            bool bounded = w.from <= 1 || w.to >= e->pane[0].end - 1 || notches[k] < -10;
            double most = 1.1 + 1200 / (w.to - w.from); /* one nanosecond */
            if (!bounded && (moved > most || moved < -most))
                fail_msg("at %g, by %g notches: %g moved by %g pixels, in %g to %g", xs[i],
                         notches[k], time, moved, w.from, w.to);
        }
    weft_explorer_go(e, "fold=1&from=15000000&to=2000000000");
    char before[1000];
    snprintf(before, sizeof before, "%s", weft_explorer_place(e));
    for (int i = 0; i < 10; i++)
        weft_explorer_scroll(e, 400, 300, 0, -1, 0);
    for (int i = 0; i < 10; i++)
        weft_explorer_scroll(e, 400, 300, 0, 1, 0);
    for (int i = 0; i < 10; i++)
        weft_explorer_scroll(e, 400, 300, 1, 0, 0);
    for (int i = 0; i < 10; i++)
        weft_explorer_scroll(e, 400, 300, -1, 0, 0);
    weft_explorer_go(e, weft_explorer_place(e));
    const char *at = strstr(weft_explorer_place(e), "&spread");
    assert_true(!at || at - e->place <= (ptrdiff_t)strlen(before) + 100);
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from > 15000000 - 3 && w.from < 15000000 + 3);
    assert_true(w.to > 2000000000.0 - 3000 && w.to < 2000000000.0 + 3000);
    weft_explorer_free(e);
}

static void collect(struct weft_explorer *e, char *out, size_t room)
{
    uint32_t count;
    const struct weft_fact *fact = weft_explorer_facts(e, &count);
    size_t size = 0;
    for (uint32_t i = 0; i < count && size < room; i++)
        size += (size_t)snprintf(out + size, room - size, "%s: %s\n", fact[i].name, fact[i].text);
    assert_true(count > 0 && size < room);
}

TEST(facts_are_of_real_time)
{
    static const char *places[] = {"from=0&to=9000000000", "range=10000000-5000000000", "select=7",
                                   "select=1&range=500-40000000"};
    struct weft_explorer *e = explorer(1, true);
    assert_int_equal(weft_explorer_analyse(e), 0);
    for (size_t i = 0; i < COUNT(places); i++) {
        char open[20000], folded[20000], place[200];
        assert_true(weft_explorer_go(e, places[i]));
        assert_null(strstr(weft_explorer_place(e), "fold"));
        assert_null(explore_folds(e, 0));
        collect(e, open, sizeof open);
        snprintf(place, sizeof place, "%s&fold=1", places[i]);
        assert_true(weft_explorer_go(e, place));
        assert_non_null(strstr(weft_explorer_place(e), "fold=1"));
        assert_non_null(explore_folds(e, 0));
        collect(e, folded, sizeof folded);
        assert_string_equal(open, folded);
    }
    weft_explorer_free(e);
}

TEST(measuring_across_a_break_says_real_time)
{
    struct weft_explorer *e = explorer(1, false);
    const struct weft_geometry *g = &e->pane[0].geometry;
    const struct weft_fold *f = &e->pane[0].scene->folds.fold[1];
    double y = (double)(g->ruler_y0 + g->rows_y0) / 2 / WEFT_PX;
    double x0 = (double)weft_geometry_x(g, f->from_ns) / WEFT_PX - 4;
    double x1 = (double)weft_geometry_x(g, f->to_ns) / WEFT_PX + 4;
    weft_explorer_press(e, x0, y, 1, 0);
    weft_explorer_drag(e, x1, y);
    weft_explorer_release(e, x1, y);
    int64_t length = e->range_to_ns - e->range_from_ns;
    assert_in_range(length, 2 * SECOND, 2 * SECOND + 3 * MS);
    weft_explorer_free(e);
}

TEST(a_break_can_be_pointed_at_and_opened)
{
    struct weft_explorer *e = explorer(1, false);
    const struct weft_geometry *g = &e->pane[0].geometry;
    const struct weft_fold *f = &e->pane[0].scene->folds.fold[2];
    double x = (double)weft_geometry_x(g, f->from_ns + (f->to_ns - f->from_ns) / 2) / WEFT_PX;
    double y = (double)g->rows_y1 / WEFT_PX - 5;
    weft_explorer_point(e, x, y);
    assert_non_null(strstr(weft_explorer_tip(e), "asleep for 3 s"));
    weft_explorer_press(e, x, y, 2, 0);
    weft_explorer_release(e, x, y);
    weft_explorer_draw(e);
    int32_t width = weft_geometry_x(g, f->to_ns) - weft_geometry_x(g, f->from_ns);
    assert_true(width > (g->x1 - g->x0) / 2);
    weft_explorer_key(e, "u", 0); /* the same times, as long as they are */
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from <= (double)f->from_ns && w.to >= (double)f->to_ns);
    assert_null(strstr(weft_explorer_place(e), "fold"));
    weft_explorer_key(e, "u", 0);
    assert_non_null(strstr(weft_explorer_place(e), "fold=1"));
    weft_explorer_free(e);
}

/* A time that a link goes to is in the middle, whatever is folded beside it. */
TEST(a_moment_is_in_the_middle)
{
    struct weft_explorer *e = explorer(1, false);
    const struct weft_geometry *g = &e->pane[0].geometry;
    assert_true(weft_explorer_go(e, "from=15000000&to=1030000000&fold=1"));
    int64_t time = e->pane[0].scene->folds.fold[1].from_ns - 2 * MS;
    explore_moment_go(e, 0, WEFT_NONE, time, true);
    assert_non_null(weft_explorer_draw(e));
    int32_t off = weft_geometry_x(g, time) - (g->x0 + g->x1) / 2;
    assert_true(off >= -WEFT_PX && off <= WEFT_PX);
    weft_explorer_free(e);
}

TEST(linked_traces_are_not_folded)
{
    struct weft_explorer *e = explorer(2, false);
    assert_null(explore_folds(e, 0));
    assert_null(strstr(weft_explorer_place(e), "fold"));
    weft_explorer_command(e, WEFT_COMMAND_LINK);
    assert_non_null(explore_folds(e, 0));
    assert_non_null(explore_folds(e, 1));
    weft_explorer_draw(e);
    weft_explorer_command(e, WEFT_COMMAND_LINK);
    assert_null(explore_folds(e, 1));
    weft_explorer_remove(e, 1);
    assert_non_null(explore_folds(e, 0));
    assert_non_null(weft_explorer_draw(e));
    weft_explorer_free(e);
}

RUN_TESTS(NULL, NULL)
