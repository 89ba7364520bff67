/* SPDX-License-Identifier: ISC */
/* What is seen first: the overview of the whole time, and what a ring that has wrapped shows of promises that are older
 * than it. */
#include "sessions.h"
#include "packets.h"

#include <stdio.h>

#include "explore/explore.h"
#include "explore/state.h"
#include "view/overview.h"

enum { WIDTH = 1016, HEIGHT = 700, AXIS = 1000, LENGTH = 100000 }; /* pixels; ns */

/* ---- Traces ---- */

static struct weft_model *build(const struct weft_event *ev, size_t count)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (size_t i = 0; i < count; i++)
        trace_add(&t, ev[i]);
    return trace_model(&t);
}

#define BUILD(...)                                                                                 \
    build((const struct weft_event[]){__VA_ARGS__},                                                \
          sizeof(struct weft_event[]){__VA_ARGS__} / sizeof(struct weft_event))

/* Something runs in the first tenth and for a moment at 80 %; a promise fails at the end of that. */
static struct weft_model *busy_model(void)
{
    return BUILD(creates(0, LOOP, 1, TASK), switches(0, 1), switches(10000, LOOP),
                 creates(80000, LOOP, 2, TASK), switches(80000, 2), counter(80500, 2, 7, "queued"),
                 fails(81000, 2, 2, "broken"), switches(81000, LOOP), fulfills(LENGTH, LOOP, 1));
}

/* Another thread's events are from 100 on, those of the loop from 1000: before, its packets were overwritten. Promises
 * 5, 6 and 7 are older; of 5 there is nothing, 6 is fulfilled, 7 runs. 900 ran and was fulfilled by the other thread, but
 * its creation is gone. late: when a third thread begins, of which something was overwritten, too; 0: there is none. */
static struct weft_model *wrapped_at(uint64_t late)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site = strings_site(&s, strings_text(&s, "rpc"), 0, 0, 0);
    const uint64_t ids[3] = {5, 6, 7};
    struct weft_pending_cell cells[3];
    for (unsigned i = 0; i < COUNT(cells); i++)
        cells[i] = (struct weft_pending_cell){
            .created_ticks = 20 + i, .creator = LOOP, .site = site, .packet = 1};
    facts_packet(&t,
                 (struct weft_facts_header){.state = WEFT_TRACE_STOPPED,
                                            .overwritten_packets = 6,
                                            .overwritten_events = 60},
                 "");
    strings_packet(&t, &s);
    pending_packet(&t, (struct weft_pending_header){.kept = 3}, ids, cells, COUNT(cells));
    events_begin(&t, (struct weft_events_header){.stream = 1, .sequence = 3, .begin_ticks = 100});
    events_put(&t, switches(100, 900), 0);
    events_put(&t, fulfills(140, 900, 900), 0);
    events_end(&t, 150);
    events_begin(
        &t, (struct weft_events_header){.sequence = 7, .begin_ticks = 1000, .events_before = 60});
    events_put(&t, switches(1000, 7), 0);
    events_put(&t, switches(1500, LOOP), 0);
    events_put(&t, fulfills(1700, LOOP, 6), 0);
    events_put(&t, switches(3000, LOOP), 0);
    events_end(&t, 3100);
    if (late) {
        events_begin(&t, (struct weft_events_header){
                             .stream = 2, .sequence = 9, .begin_ticks = late, .events_before = 5});
        events_put(&t, switches(late, LOOP), 0);
    }
    return trace_model(&t);
}

static struct weft_model *wrapped_model(void)
{
    return wrapped_at(0);
}

static void add(struct weft_explorer *e, struct weft_model *m)
{
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "a trace"), 0);
}

static struct weft_explorer *explorer(struct weft_model *m)
{
    struct weft_explorer *e;
    assert_int_equal(weft_explorer_new(&e), 0);
    weft_explorer_resize(e, WIDTH, HEIGHT);
    add(e, m);
    return e;
}

static const struct weft_promise *by_id(const struct weft_explorer *e, uint64_t id)
{
    uint32_t promise = weft_model_find(e->pane[0].model, id);
    assert_int_not_equal(promise, WEFT_NONE);
    return &e->pane[0].model->promise[promise];
}

static bool has_text(struct weft_explorer *e, const char *text)
{
    const struct weft_drawlist *list = weft_explorer_draw(e);
    assert_non_null(list);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->count == strlen(text) &&
            !memcmp(list->texts + d->first, text, d->count))
            return true;
    }
    return false;
}

static void expect_window(const struct weft_explorer *e, double from, double to)
{
    struct explore_window w = explore_window_get(e, 0);
    if (w.from < from - 101 || w.from > from + 101 || w.to < to - 101 || w.to > to + 101)
        fail_msg("from %f to %f, not from %f to %f", w.from, w.to, from, to);
}

/* In the strip: x of a time of a trace that is LENGTH long. */
static double at(double time)
{
    return 8 + time * AXIS / LENGTH;
}

static void drag(struct weft_explorer *e, double from, double to)
{
    weft_explorer_press(e, at(from), 30, 1, 0);
    weft_explorer_drag(e, at((from + to) / 2), 33);
    weft_explorer_release(e, at(to), from == to ? 30 : 300);
}

/* ---- The overview ---- */

TEST(sums_are_right)
{
    struct weft_model *m = busy_model();
    struct weft_scene *s;
    struct weft_overview_sum sum;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_overview_between(&sum, s, 0, LENGTH);
    assert_int_equal(sum.run_ns, 11000);
    assert_int_equal(sum.failed, 1);
    weft_overview_between(&sum, s, 20000, 79000);
    assert_int_equal(sum.run_ns, 0);
    assert_int_equal(sum.acts, 0);
    weft_overview_between(&sum, s, 79990, 81050);
    assert_int_equal(sum.run_ns, 1000);
    assert_int_equal(sum.failed, 1);
    weft_overview_between(&sum, s, 80000, 80000); /* the cell that this moment is in */
    assert_true(sum.from_ns <= 80000 && sum.to_ns > 80000);
    assert_int_equal(sum.run_ns, sum.to_ns - 80000);
    assert_int_equal(s->o->counters, 1);
    assert_int_equal(s->o->value[0], 0);
    assert_int_equal(s->o->value[s->o->cells - 1], 7);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Where it says in the strip that something ran, or failed: from the first column to the last one, as times. */
static void expect_shown(const struct weft_drawlist *list, enum weft_ink ink, int64_t from,
                         int64_t to)
{
    const struct weft_draw *found = NULL;
    for (uint32_t i = 0; i < list->draws; i++)
        if (list->draw[i].op == WEFT_DRAW_SHADES && list->draw[i].ink == ink &&
            list->draw[i].x0 >= from * AXIS / LENGTH * WEFT_PX - 4 * WEFT_PX)
            found = found ? found : &list->draw[i];
    if (!found)
        fail_msg("nothing is shown in ink %d from %lld on", (int)ink, (long long)from);
    assert_in_range(found->x0, 0, to * AXIS / LENGTH * WEFT_PX);
    assert_in_range(found->x1, from * AXIS / LENGTH * WEFT_PX, (to * AXIS / LENGTH + 8) * WEFT_PX);
    assert_int_not_equal(list->shades[found->first], 0);
}

TEST(what_fails_is_shown)
{
    struct weft_model *m = busy_model();
    struct weft_scene *s;
    struct weft_drawlist list = {0};
    const struct weft_overview_strip strip = {
        .x1 = AXIS * WEFT_PX, .y1 = 60 * WEFT_PX, .to_ns = LENGTH, .view_to_ns = LENGTH};
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
    expect_shown(&list, WEFT_INK_RUN, 0, 10000);
    expect_shown(&list, WEFT_INK_FAILED, 81000, 81000);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* The shade at a point in that ink, 0 if there is none; nothing is drawn twice there. */
static uint8_t shade_at(const struct weft_drawlist *list, enum weft_ink ink, int32_t x, int32_t y)
{
    unsigned draws = 0;
    uint8_t shade = 0;
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op != WEFT_DRAW_SHADES || d->ink != ink || x < d->x0 ||
            x >= d->x0 + (int32_t)d->count * d->size || y < d->y0 || y >= d->y1)
            continue;
        shade = list->shades[d->first + (uint32_t)((x - d->x0) / d->size)];
        draws++;
    }
    assert_in_range(draws, 0, 1);
    return shade;
}

/* From the uppermost to the lowest y of what is shaded in that ink. */
static void shaded(const struct weft_drawlist *list, enum weft_ink ink, int32_t *y0, int32_t *y1)
{
    *y0 = INT32_MAX;
    *y1 = INT32_MIN;
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op != WEFT_DRAW_SHADES || d->ink != ink)
            continue;
        *y0 = d->y0 < *y0 ? d->y0 : *y0;
        *y1 = d->y1 > *y1 ? d->y1 : *y1;
    }
    assert_true(*y0 < *y1);
}

/* All the time in the first quarter, half of it in the second, once for a moment at 80 %. */
static struct weft_model *more_and_less(void)
{
    enum { QUARTER = LENGTH / 4, TURN = 50 };
    static struct weft_event ev[QUARTER / TURN + 8];
    size_t n = 0;
    ev[n++] = creates(0, LOOP, 1, TASK);
    ev[n++] = switches(0, 1);
    for (uint64_t t = QUARTER; t < 2 * QUARTER; t += TURN)
        ev[n++] = switches(t, t / TURN % 2 ? 1 : LOOP);
    ev[n++] = switches(2 * QUARTER, LOOP);
    ev[n++] = switches(LENGTH / 5 * 4, 1);
    ev[n++] = switches(LENGTH / 5 * 4 + 2, LOOP);
    ev[n++] = fulfills(LENGTH, LOOP, 1);
    return build(ev, n);
}

/* The more ran, the higher is the bar; what ran for a moment is seen, too. */
TEST(bars_say_how_much_ran)
{
    enum { LEVELS = 4 };
    struct weft_model *m = more_and_less();
    struct weft_scene *s;
    struct weft_drawlist list = {0};
    const struct weft_overview_strip strip = {
        .x1 = AXIS * WEFT_PX, .y1 = 60 * WEFT_PX, .to_ns = LENGTH, .view_to_ns = LENGTH};
    int32_t y0, y1;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
    shaded(&list, WEFT_INK_RUN, &y0, &y1);
    assert_true(y0 > 0 && y1 < strip.y1 && y1 - y0 > strip.y1 / 2);
    static const struct {
        int64_t time;
        uint8_t least[LEVELS], most[LEVELS]; /* from below */
    } cases[] = {
        {LENGTH / 8, {255, 255, 255, 255}, {255, 255, 255, 255}},
        {LENGTH / 8 * 3, {255, 130, 0, 0}, {255, 255, 120, 0}},
        {LENGTH / 10 * 7, {0, 0, 0, 0}, {0, 0, 0, 0}},
        {LENGTH / 5 * 4 + 1, {60, 0, 0, 0}, {120, 0, 0, 0}},
        {LENGTH / 10 * 9, {0, 0, 0, 0}, {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int32_t level = 0; level < LEVELS; level++) {
            const int32_t x = (int32_t)(cases[i].time * AXIS / LENGTH) * WEFT_PX;
            const int32_t y = y1 - (y1 - y0) * (2 * level + 1) / (2 * LEVELS);
            const uint8_t shade = shade_at(&list, WEFT_INK_RUN, x, y);
            if (shade < cases[i].least[level] || shade > cases[i].most[level])
                fail_msg("at %d, level %d: %u", (int)cases[i].time, level, shade);
        }
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Beside a trace that begins earlier: nothing ran before it began, up to the last cell before that. */
TEST(bars_begin_with_the_trace)
{
    struct weft_model *m = more_and_less();
    struct weft_scene *s;
    struct weft_drawlist list = {0};
    const struct weft_overview_strip strip = {.x1 = AXIS * WEFT_PX,
                                              .y1 = 60 * WEFT_PX,
                                              .from_ns = -LENGTH,
                                              .to_ns = LENGTH,
                                              .view_to_ns = LENGTH};
    int32_t y0, y1;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
    shaded(&list, WEFT_INK_RUN, &y0, &y1);
    assert_int_equal(shade_at(&list, WEFT_INK_RUN, (AXIS / 2 - 1) * WEFT_PX, y1 - 1), 0);
    assert_int_equal(shade_at(&list, WEFT_INK_RUN, (AXIS / 2 + 1) * WEFT_PX, y1 - 1), 255);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* A counter goes on from left to right, and up where it rises. */
TEST(counters_are_steps)
{
    struct weft_model *m = busy_model();
    struct weft_scene *s;
    struct weft_drawlist list = {0};
    const struct weft_overview_strip strip = {
        .x1 = AXIS * WEFT_PX, .y1 = 60 * WEFT_PX, .to_ns = LENGTH, .view_to_ns = LENGTH};
    const struct weft_draw *line = NULL;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
    for (uint32_t i = 0; i < list.draws; i++)
        if (list.draw[i].op == WEFT_DRAW_STEPS) {
            assert_null(line);
            line = &list.draw[i];
        }
    assert_non_null(line);
    const struct weft_point *p = &list.points[line->first];
    unsigned rises = 0;
    for (uint32_t i = 1; i < line->count; i++) {
        assert_true(p[i].x >= p[i - 1].x && (p[i].x == p[i - 1].x || p[i].y == p[i - 1].y));
        if (p[i].y == p[i - 1].y)
            continue;
        assert_in_range(p[i].x, (80500 - 400) * AXIS / LENGTH * WEFT_PX,
                        (80500 + 400) * AXIS / LENGTH * WEFT_PX);
        rises++;
    }
    assert_int_equal(rises, 1);
    assert_true(p[0].x == 0 && p[0].y < strip.y1);
    p += line->count - 1;
    assert_true(p->x == strip.x1 && 0 < p->y && p->y < strip.y1 / 2);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* In a low strip it has less room, and in a very low one it is left out. */
TEST(counters_stay_in_low_strips)
{
    struct weft_model *m = busy_model();
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    for (int32_t height = 8; height < 60; height++) {
        struct weft_drawlist list = {0};
        const struct weft_overview_strip strip = {.x1 = AXIS * WEFT_PX,
                                                  .y0 = 500 * WEFT_PX,
                                                  .y1 = (500 + height) * WEFT_PX,
                                                  .to_ns = LENGTH,
                                                  .view_to_ns = LENGTH};
        unsigned lines = 0;
        assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
        for (uint32_t i = 0; i < list.draws; i++) {
            const struct weft_draw *d = &list.draw[i];
            if (d->op != WEFT_DRAW_STEPS)
                continue;
            const struct weft_point *first = &list.points[d->first], *last = first + d->count - 1;
            assert_true(strip.y0 < last->y && last->y < first->y && first->y < strip.y1);
            lines++;
        }
        assert_int_equal(lines, height > 11);
        weft_drawlist_fini(&list);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* What the view shows has four edges, and the rest lies under a veil. A low strip has no text, wherever it is. */
TEST(the_window_has_edges)
{
    struct weft_model *m = busy_model();
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    for (int low = 0; low < 2; low++) {
        struct weft_drawlist list = {0};
        struct weft_overview_strip strip = {.x1 = AXIS * WEFT_PX,
                                            .y0 = 500 * WEFT_PX,
                                            .y1 = (low ? 520 : 560) * WEFT_PX,
                                            .to_ns = LENGTH,
                                            .view_from_ns = LENGTH / 4,
                                            .view_to_ns = LENGTH / 2};
        const int32_t x0 = strip.x1 / 4, x1 = strip.x1 / 2;
        unsigned edges = 0, veils = 0, texts = 0;
        assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
        for (uint32_t i = 0; i < list.draws; i++) {
            const struct weft_draw *d = &list.draw[i];
            texts += d->op == WEFT_DRAW_TEXT;
            if (d->op != WEFT_DRAW_RECT)
                continue;
            assert_true(d->y0 >= strip.y0 && d->y1 <= strip.y1);
            assert_true(d->x0 < d->x1 && d->y0 < d->y1);
            if (d->ink == WEFT_INK_PANEL && d->alpha < 255) {
                assert_true((d->x0 == 0 && d->x1 == x0) || (d->x0 == x1 && d->x1 == strip.x1));
                veils++;
            }
            if (d->ink == WEFT_INK_READ) {
                assert_true(d->x0 >= x0 - 4 * WEFT_PX && d->x1 <= x1 + 4 * WEFT_PX);
                edges++;
            }
        }
        assert_int_equal(edges, 4);
        assert_int_equal(veils, 2);
        assert_int_equal(texts, !low);
        weft_drawlist_fini(&list);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(only_who_asks_sees_it)
{
    struct weft_explorer *e = explorer(busy_model());
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].top_px, 0);
    assert_null(strstr(weft_explorer_place(e), "overview"));
    assert_true(weft_explorer_go(e, "overview=1"));
    assert_non_null(weft_explorer_draw(e));
    int32_t height = e->pane[0].top_px;
    assert_in_range(height, 40, 60);
    assert_int_equal(e->pane[0].top_px + e->pane[0].height_px, HEIGHT - e->legend_px);
    assert_non_null(strstr(weft_explorer_place(e), "overview=1"));
    assert_true(weft_explorer_go(e, ""));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].top_px, 0);

    weft_explorer_usually_overview(e);
    assert_true(weft_explorer_go(e, ""));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].top_px, height);
    assert_true(weft_explorer_key(e, "v", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].top_px, 0);
    assert_non_null(strstr(weft_explorer_place(e), "overview=0"));
    weft_explorer_resize(e, WIDTH, 220); /* no room */
    assert_true(weft_explorer_key(e, "v", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].top_px, 0);
    weft_explorer_free(e);
}

TEST(the_view_is_a_window_in_it)
{
    struct weft_explorer *e = explorer(busy_model());
    weft_explorer_usually_overview(e);
    drag(e, 40000, 60000); /* everything is in view: a new view */
    expect_window(e, 40000, 60000);
    drag(e, 50000, 70000); /* the window is moved */
    expect_window(e, 60000, 80000);
    drag(e, 80000, 90000); /* its right edge */
    expect_window(e, 60000, 90000);
    drag(e, 60000, 75000); /* its left one */
    expect_window(e, 75000, 90000);
    drag(e, 75000, 95000); /* across the other one */
    expect_window(e, 90000, 95000);
    drag(e, 30000, 10000); /* beside it, backwards: a new view */
    expect_window(e, 10000, 30000);
    drag(e, 50000, 50000); /* a click: goes there */
    expect_window(e, 40000, 60000);
    assert_true(weft_explorer_command(e, WEFT_COMMAND_BACK));
    expect_window(e, 10000, 30000);
    weft_explorer_scroll(e, at(80000), 30, 0, -1, 0);
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from < 80000 && w.to > 80000 && w.to - w.from < 19900);
    weft_explorer_press(e, at(50000), 30, 2, 0);
    weft_explorer_release(e, at(50000), 30);
    expect_window(e, 0, LENGTH);
    drag(e, 50000, 30000);
    drag(e, 40000, 1000); /* not beyond the beginning */
    expect_window(e, 0, 20000);
    weft_explorer_press(e, at(50000), 30, 2, 0);
    weft_explorer_release(e, at(50000), 30);
    drag(e, 80000, 80000); /* a click when everything is in view: zooms in */
    expect_window(e, 75000, 85000);
    weft_explorer_free(e);
}

TEST(tips_say_what_is_in_it)
{
    struct weft_explorer *e = explorer(busy_model());
    weft_explorer_usually_overview(e);
    weft_explorer_point(e, at(5000), 30);
    assert_non_null(strstr(weft_explorer_tip(e), "running 100 %"));
    assert_null(strstr(weft_explorer_tip(e), "failed"));
    weft_explorer_point(e, at(81000), 30);
    assert_non_null(strstr(weft_explorer_tip(e), "1 failed"));
    weft_explorer_point(e, at(50000), 30);
    assert_non_null(strstr(weft_explorer_tip(e), "running 0 %"));
    weft_explorer_free(e);
}

/* For people who cannot see it. */
TEST(words_say_what_is_in_it)
{
    struct weft_explorer *e;
    assert_int_equal(weft_explorer_new(&e), 0);
    assert_string_equal(weft_explorer_where(e), "");
    add(e, busy_model());
    assert_true(weft_explorer_go(e, "from=20000&to=40000"));
    assert_string_equal(weft_explorer_where(e),
                        "20 µs to 40 µs of 100 µs are in view. Busiest from 0 ns to 5.024 µs: "
                        "running 100 %; 1 failed in all.");
    weft_explorer_free(e);
    e = explorer(wrapped_model());
    assert_non_null(strstr(weft_explorer_where(e), "Complete from 900 ns on"));
    assert_non_null(strstr(weft_explorer_where(e), "Pending since before the trace: 3."));
    weft_explorer_free(e);
}

/* Two traces: a band for each; with a common axis while they are linked. */
TEST(each_trace_has_a_band)
{
    struct weft_explorer *e = explorer(busy_model());
    add(e, busy_model());
    weft_explorer_usually_overview(e);
    assert_non_null(weft_explorer_draw(e));
    assert_in_range(e->pane[0].top_px, 40, 60);
    weft_explorer_press(e, at(20000), 40, 1, 0);
    weft_explorer_release(e, at(40000), 40);
    assert_int_equal(e->active, 1);
    expect_window(e, 20000, 40000);
    assert_true(weft_explorer_command(e, WEFT_COMMAND_LINK));
    weft_explorer_press(e, at(60000), 40, 1, 0);
    weft_explorer_release(e, at(70000), 40);
    expect_window(e, 20000, 40000); /* the first one stays */
    assert_in_range((int)explore_window_get(e, 1).from, 59900, 60100);
    weft_explorer_free(e);
}

/* ---- Rings that have wrapped ---- */

TEST(lines_begin_with_the_first_event)
{
    struct weft_explorer *e = explorer(wrapped_model());
    const struct weft_layout *l = e->pane[0].scene->l;
    assert_int_equal(weft_layout_whole(e->pane[0].model), 900);
    assert_int_equal(weft_layout_line(l, by_id(e, 7)), 900);
    assert_int_equal(weft_layout_line(l, by_id(e, 6)), 1600);
    assert_int_equal(weft_layout_line(l, by_id(e, 900)), 0);
    assert_int_equal(weft_layout_line(l, by_id(e, 5)), -80);
    assert_int_equal(weft_layout_start(l, by_id(e, 7)), -78); /* facts and analyses keep that */
    assert_int_equal(l->gones, 3);
    assert_int_equal(l->quiet, 1);
    assert_int_equal(weft_layout_pending_since(l, 1600), 3);
    assert_int_equal(weft_layout_pending_since(l, 1601), 2);
    weft_explorer_free(e);
}

/* Whatever the first event about it is, the line of an older promise begins there. */
TEST(any_event_begins_a_line)
{
    const struct weft_event first[] = {
        creates(1200, 5, 10, 0), label(1200, 5, "a name"), switches(1200, 5),
        try_read(1200, 5, 6),    try_read(1200, 6, 5),     becomes(1200, 6, 5),
        fulfills(1200, LOOP, 5), notifies(1200, 6, 5),     fails(1200, 6, 5, "broken"),
    };
    for (size_t i = 0; i < COUNT(first); i++) {
        struct trace t = {.fd = -1};
        struct strings s = {.used = 0};
        const uint32_t site = strings_site(&s, strings_text(&s, "rpc"), 0, 0, 0);
        const uint64_t ids[2] = {5, 6};
        const struct weft_pending_cell cells[2] = {
            {.created_ticks = 20, .creator = LOOP, .site = site, .packet = 1},
            {.created_ticks = 21, .creator = LOOP, .site = site, .packet = 1}};
        facts_packet(
            &t, (struct weft_facts_header){.overwritten_packets = 6, .overwritten_events = 60}, "");
        strings_packet(&t, &s);
        pending_packet(&t, (struct weft_pending_header){.kept = 2}, ids, cells, COUNT(cells));
        events_begin(&t, (struct weft_events_header){
                             .sequence = 7, .begin_ticks = 1000, .events_before = 60});
        events_put(&t, switches(1000, LOOP), 0);
        events_put(&t, first[i], site);
        events_put(&t, label(1300, 5, "another name"), 0);
        events_put(&t, switches(3000, LOOP), 0);
        struct weft_explorer *e = explorer(trace_model(&t));
        const int64_t line = weft_layout_line(e->pane[0].scene->l, by_id(e, 5));
        if (line != 200)
            fail_msg("event %u: the line begins at %d", (unsigned)i, (int)line);

        weft_explorer_free(e);
    }
}

TEST(the_others_are_one_row_until_asked_for)
{
    struct weft_explorer *e = explorer(wrapped_model());
    assert_true(has_text(e, "pending since before the trace: 3, 1 not shown"));
    const struct explore_pane *p = &e->pane[0];
    uint32_t rows = p->geometry.shown;
    assert_int_equal(rows, p->scene->l->rows - 1);
    double y = (p->geometry.rows_y1 + p->geometry.older_y1) / 2.0 / WEFT_PX;
    uint8_t
        pending[3]; /* at the beginning all of them, one less since 1600, nothing after the end */
    for (int i = 0; i < 3; i++)
        pending[i] =
            shade_at(weft_explorer_draw(e), WEFT_INK_FOLD,
                     weft_geometry_x(&p->geometry, 1000 + 1400 * i), (int32_t)(y * WEFT_PX));
    assert_true(pending[0] > pending[1] && pending[1] > 0);
    assert_int_equal(pending[2], 0);
    weft_explorer_point(e, 600, y);
    assert_non_null(strstr(weft_explorer_tip(e), "3 promises were pending since before the trace"));
    weft_explorer_press(e, 600, y, 1, 0);
    weft_explorer_release(e, 600, y);
    assert_true(has_text(e, "pending since before the trace: 3, all shown"));
    assert_int_equal(p->geometry.shown, rows + 1);
    assert_non_null(strstr(weft_explorer_place(e), "older=1"));
    assert_true(weft_explorer_key(e, "U", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(p->geometry.shown, rows);
    /* What is selected is shown. */
    weft_explorer_select(e, 0, (uint32_t)(by_id(e, 5) - p->model->promise));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(p->geometry.shown, rows + 1);
    weft_explorer_free(e);
}

TEST(what_is_complete_is_seen_first)
{
    struct weft_explorer *e = explorer(wrapped_model());
    assert_true(has_text(e, "complete from here"));
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from > 700 && w.from < 900 && w.to == e->pane[0].end);
    weft_explorer_point(e, 9, e->pane[0].geometry.ruler_y0 / WEFT_PX + 5.0);
    assert_non_null(strstr(weft_explorer_tip(e), "not complete"));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_FIT));
    assert_true(explore_window_get(e, 0).from == 0);
    assert_true(weft_explorer_go(e, ""));
    assert_true(explore_window_get(e, 0).from == w.from);
    weft_explorer_free(e);
}

/* A thread that seldom records does not hide what the others did. */
TEST(not_if_little_is_complete)
{
    struct weft_explorer *e = explorer(wrapped_at(3000));
    assert_int_equal(weft_layout_whole(e->pane[0].model), 2900);
    assert_true(explore_window_get(e, 0).from == 0);
    weft_explorer_free(e);
}

/* A trace that is whole has none of this. */
TEST(others_are_as_they_were)
{
    struct weft_explorer *e = explorer(BUILD(fulfills(100, LOOP, 1), creates(200, LOOP, 2, TASK)));
    const struct weft_layout *l = e->pane[0].scene->l;
    assert_int_equal(l->olders, 0);
    assert_int_equal(weft_layout_line(l, by_id(e, 1)), 0);
    assert_false(has_text(e, "complete from here"));
    assert_int_equal(e->pane[0].geometry.older_y1, e->pane[0].geometry.rows_y1);
    assert_false(weft_explorer_key(e, "U", 0));
    weft_explorer_free(e);
}

/* ---- No memory ---- */

static int session(struct weft_model *m)
{
    struct weft_explorer *e = NULL;
    struct weft_scene *s = NULL;
    int rc = weft_explorer_new(&e);
    if (rc == 0)
        rc = weft_scene_new(&s, m, false, NULL, NULL);
    if (rc == 0)
        rc = weft_explorer_add(e, s, m, "t");
    if (rc < 0) {
        weft_scene_free(s);
        weft_model_free(m);
    } else {
        weft_explorer_usually_overview(e);
        rc = weft_explorer_draw(e) ? 0 : WEFT_E_NOMEM;
        weft_explorer_point(e, 300, 30);
        weft_explorer_tip(e);
    }
    weft_explorer_free(e);
    return rc;
}

TEST(no_memory)
{
    try_sessions(wrapped_model, session);
}

RUN_TESTS(NULL, NULL)
