/* SPDX-License-Identifier: ISC */
/* The viewer without a screen: what pointer, wheel, keys and places do. Linked with --wrap=malloc and so on,
 * so that allocations can be made to fail. */
#include "sessions.h"
#include "trace.h"

#include <inttypes.h>
#include <time.h>

#include "explore/explore.h"
#include "explore/state.h"

enum { WIDTH = 1200, HEIGHT = 700, PROMISES = 40, STEP = 100000, LIFE = 1000000 };

/* ---- Traces ---- */

/* Promise i begins after i steps, is called "task i" and lives for a while; each is created by the one
 * before it, which waits for it. Two counters, a collection. */
static struct weft_model *make_model(uint64_t count)
{
    struct trace t = {.fd = -1};
    static char name[32];
    trace_begin(&t, 0);
    trace_add(&t, gc(0, 0));
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t now = i * STEP;
        snprintf(name, sizeof name, "task %u%s", (unsigned)i, i % 8 == 0 ? " special" : "");
        trace_add(&t, creates(now, i > 1 ? i - 1 : LOOP, i, TASK));
        trace_add(&t, label(now, i, name));
        trace_add(&t, counter(now, i, (int64_t)i, i % 2 ? "odd" : "even, %"));
        if (i > 1)
            trace_add(&t, try_read(now + 5, i - 1, i));
        if (i * STEP > LIFE)
            trace_add(&t, fulfills(now + 10, i, i - LIFE / STEP));
    }
    return trace_model(&t);
}

static void add(struct weft_explorer *e, uint64_t count)
{
    struct weft_model *m = make_model(count);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "a trace"), 0);
}

static struct weft_explorer *explorer(unsigned panes)
{
    struct weft_explorer *e;
    assert_int_equal(weft_explorer_new(&e), 0);
    weft_explorer_resize(e, WIDTH, HEIGHT);
    for (unsigned i = 0; i < panes; i++)
        add(e, PROMISES);
    assert_non_null(weft_explorer_draw(e));
    return e;
}

static uint32_t by_id(const struct weft_explorer *e, unsigned pane, uint64_t id)
{
    uint32_t promise = weft_model_find(e->pane[pane].model, id);
    assert_int_not_equal(promise, WEFT_NONE);
    return promise;
}

/* Where a promise is seen. */
static void find(struct weft_explorer *e, unsigned pane, uint64_t id, double *x, double *y)
{
    assert_non_null(weft_explorer_draw(e));
    const struct explore_pane *p = &e->pane[pane];
    uint32_t promise = by_id(e, pane, id);
    const struct weft_promise *of = &p->model->promise[promise];
    int32_t middle, height;
    int64_t time = (weft_layout_line(p->scene->l, of) + of->end_ns) / 2;
    assert_true(explore_row_at(e, pane, p->scene->l->row[promise], &middle, &height));
    *x = (double)weft_geometry_x(&p->geometry, time) / WEFT_PX;
    *y = p->top_px + middle;
    for (int32_t dy = -height / 2; dy <= height / 2; dy++) { /* the line is not in the middle */
        struct weft_pick at = weft_view_pick(p->scene, &p->geometry, (int32_t)(*x * WEFT_PX),
                                             (int32_t)((*y + dy) * WEFT_PX));
        if (at.kind == WEFT_PLACE_PROMISE && at.promise == promise) {
            *y += dy;
            return;
        }
    }
    fail_msg("promise %u is not where it should be", (unsigned)id);
}

static void click(struct weft_explorer *e, double x, double y)
{
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y);
}

static uint64_t selected(const struct weft_explorer *e, unsigned *pane)
{
    unsigned where;
    uint32_t promise = weft_explorer_selected(e, &where);
    if (pane)
        *pane = where;
    return promise == WEFT_NONE ? 0 : e->pane[where].model->promise[promise].id;
}

static double span(const struct weft_explorer *e, unsigned pane)
{
    struct explore_window w = explore_window_get(e, pane);
    return w.to - w.from;
}

/* A y of the ruler of a pane. */
static double ruler(const struct weft_explorer *e, unsigned pane)
{
    const struct weft_geometry *g = &e->pane[pane].geometry;
    return (double)(g->ruler_y0 + g->rows_y0) / 2 / WEFT_PX;
}

/* ---- Times ---- */

TEST(zooming_keeps_what_is_under_the_pointer)
{
    struct weft_explorer *e = explorer(1);
    static const double xs[] = {8, 100, 333.25, 600, 1190};
    static const double notches[] = {-1, -7, 3, -0.25, 1.5, -20};
    for (size_t i = 0; i < COUNT(xs); i++)
        for (size_t k = 0; k < COUNT(notches); k++) {
            double before = explore_time_at(e, 0, xs[i]), pixel = span(e, 0) / WIDTH;
            weft_explorer_scroll(e, xs[i], 300, 0, notches[k], 0);
            double moved = explore_time_at(e, 0, xs[i]) - before;
            pixel = span(e, 0) / WIDTH > pixel ? span(e, 0) / WIDTH : pixel;
            assert_true(moved <= pixel && moved >= -pixel);
        }
    weft_explorer_free(e);
}

TEST(zooming_in_and_out_leads_back)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=1000000&to=2000000");
    weft_explorer_draw(e);
    char before[1000];
    snprintf(before, sizeof before, "%s", weft_explorer_place(e));
    for (int i = 0; i < 30; i++)
        weft_explorer_scroll(e, 500, 300, 0, -1, 0);
    assert_true(span(e, 0) < 10000);
    for (int i = 0; i < 30; i++)
        weft_explorer_scroll(e, 500, 300, 0, 1, 0);
    assert_string_equal(weft_explorer_place(e), before);
    weft_explorer_free(e);
}

TEST(zooming_has_limits)
{
    struct weft_explorer *e = explorer(1);
    double all = e->pane[0].end;
    for (int i = 0; i < 200; i++)
        weft_explorer_scroll(e, 500, 300, 0, -1, 0);
    assert_true(span(e, 0) >= 10 && span(e, 0) <= 101);
    for (int i = 0; i < 200; i++)
        weft_explorer_scroll(e, 500, 300, 0, 1, 0);
    assert_true(span(e, 0) >= all && span(e, 0) <= 1.2 * all);
    assert_true(explore_round(e->pane[0].view.spread) == 0);
    for (int i = 0; i < 200; i++)
        weft_explorer_scroll(e, 500, 300, 5, 0, 0);
    assert_true(explore_window_get(e, 0).from < all);
    weft_explorer_free(e);
}

TEST(dragging_moves_with_the_pointer)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=1000000&to=2000000");
    weft_explorer_draw(e);
    double at = explore_time_at(e, 0, 500);
    weft_explorer_press(e, 500, 300, 1, 0);
    weft_explorer_drag(e, 503, 300); /* no drag yet */
    assert_true(explore_time_at(e, 0, 500) == at);
    for (int x = 490; x >= 100; x -= 10) {
        weft_explorer_drag(e, x, 310);
        double error = explore_time_at(e, 0, x) - at;
        assert_true(error < 1e-3 && error > -1e-3);
    }
    weft_explorer_release(e, 500, 300);
    double error = explore_time_at(e, 0, 500) - at;
    assert_true(error < 1e-3 && error > -1e-3);
    assert_int_equal(selected(e, NULL), 0); /* that was no click */
    weft_explorer_free(e);
}

TEST(wheel_pans_with_shift_and_sideways)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=1000000&to=2000000");
    weft_explorer_draw(e);
    double before = span(e, 0);
    weft_explorer_scroll(e, 500, 300, 0, 1, WEFT_SHIFT);
    assert_true(explore_window_get(e, 0).from > 1000000);
    weft_explorer_scroll(e, 500, 300, -1, 0, 0);
    assert_int_equal(explore_round(explore_window_get(e, 0).from), 1000000);
    weft_explorer_scroll(e, 500, 300, 0, -1, WEFT_CTRL);
    assert_true(span(e, 0) - before < 1e-3 && before - span(e, 0) < 1e-3);
    assert_true(weft_explorer_key(e, "ArrowRight", 0));
    assert_true(weft_explorer_key(e, "ArrowLeft", 0));
    assert_int_equal(explore_round(explore_window_get(e, 0).from), 1000000);
    weft_explorer_free(e);
}

TEST(pinching_zooms)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=1000000&to=2000000");
    weft_explorer_draw(e);
    double at = explore_time_at(e, 0, 400);
    weft_explorer_pinch(e, 420, 300, 20, 0, 2);
    double error = explore_time_at(e, 0, 420) - at;
    assert_true(error < 1 && error > -1);
    assert_int_equal(explore_round(span(e, 0)), 500000);
    weft_explorer_free(e);
}

/* ---- Selecting ---- */

TEST(click_selects_what_is_there)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=500000&to=2500000");
    for (uint64_t id = 8; id < 18; id += 3) {
        double x, y;
        find(e, 0, id, &x, &y);
        weft_explorer_press(e, x, y, 1, 0);
        weft_explorer_drag(e, x + 2, y + 1);
        weft_explorer_release(e, x + 2, y + 1);
        assert_int_equal(selected(e, NULL), id);
        assert_int_equal(explore_round(explore_window_get(e, 0).from), 500000);
    }
    double x, y;
    find(e, 0, 12, &x, &y);
    weft_explorer_press(e, x, y, 2, 0);
    weft_explorer_release(e, x, y);
    struct explore_window w = explore_window_get(e, 0);
    assert_true(w.from < 12 * STEP && w.to > 12 * STEP + LIFE);
    assert_true(w.to - w.from < 1.5 * LIFE);
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_int_equal(selected(e, NULL), 0);
    assert_false(weft_explorer_key(e, "Escape", 0));
    weft_explorer_free(e);
}

TEST(selection_is_brought_into_view)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=100000&to=150000");
    weft_explorer_select(e, 0, by_id(e, 0, 20));
    struct explore_window w = explore_window_get(e, 0);
    assert_int_equal(selected(e, NULL), 20);
    assert_true(w.from < 20 * STEP + LIFE && w.to > 20 * STEP);
    int32_t middle, height;
    assert_non_null(weft_explorer_draw(e));
    assert_true(explore_row_at(e, 0, e->pane[0].scene->l->row[e->selected], &middle, &height));
    weft_explorer_select(e, 0, WEFT_NONE);
    assert_int_equal(selected(e, NULL), 0);
    weft_explorer_free(e);
}

TEST(keys_walk_and_lead_back)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_select(e, 0, by_id(e, 0, 20));
    assert_true(weft_explorer_key(e, "c", 0));
    assert_int_equal(selected(e, NULL), 19);
    assert_true(weft_explorer_key(e, "W", 0));
    assert_int_equal(selected(e, NULL), 20);
    assert_true(weft_explorer_key(e, "r", 0)); /* the 30th resolved it */
    assert_int_equal(selected(e, NULL), 30);
    char place[1000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_true(weft_explorer_key(e, "Backspace", 0));
    assert_int_equal(selected(e, NULL), 20);
    assert_true(weft_explorer_key(e, "ArrowLeft", WEFT_ALT));
    assert_int_equal(selected(e, NULL), 19);
    assert_true(weft_explorer_key(e, "ArrowRight", WEFT_ALT));
    assert_true(weft_explorer_key(e, "ArrowRight", WEFT_ALT));
    assert_string_equal(weft_explorer_place(e), place);
    assert_false(weft_explorer_key(e, "ArrowRight", WEFT_ALT));
    for (unsigned i = 0; i < 300; i++)
        weft_explorer_select(e, 0, by_id(e, 0, 5 + i % 9));
    unsigned back = 0;
    while (weft_explorer_command(e, WEFT_COMMAND_BACK))
        back++;
    assert_int_equal(back, EXPLORE_HISTORY_MAX - 1);
    weft_explorer_free(e);
}

TEST(rows_can_be_walked)
{
    struct weft_explorer *e = explorer(2);
    assert_true(weft_explorer_key(e, "j", 0)); /* something */
    assert_int_not_equal(selected(e, NULL), 0);
    weft_explorer_select(e, 0, by_id(e, 0, 1));
    unsigned rows = 0, pane;
    while (weft_explorer_key(e, "J", 0))
        rows++;
    assert_true(rows > 10); /* through both traces */
    selected(e, &pane);
    assert_int_equal(pane, 1);
    while (weft_explorer_key(e, "K", 0))
        rows--;
    selected(e, &pane);
    assert_int_equal(pane, 0);
    uint64_t before = selected(e, NULL);
    if (weft_explorer_key(e, "j", 0)) {
        assert_true(weft_explorer_key(e, "k", 0));
        assert_int_equal(selected(e, NULL), before);
    }
    weft_explorer_free(e);
}

/* ---- Measuring, facts ---- */

static bool has_heading(struct weft_explorer *e, const char *text)
{
    uint32_t count;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    for (uint32_t i = 0; i < count; i++)
        if (f[i].heading && strstr(f[i].name, text))
            return true;
    return false;
}

TEST(ruler_measures)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=1000000&to=2000000");
    weft_explorer_draw(e);
    uint32_t before, during, after;
    weft_explorer_facts(e, &before);
    assert_true(before > 2);
    weft_explorer_changed(e);
    double y = ruler(e, 0);
    weft_explorer_press(e, 700, y, 1, 0);
    weft_explorer_drag(e, 300, y + 40);
    int64_t from = explore_round(explore_time_at(e, 0, 300)),
            to = explore_round(explore_time_at(e, 0, 700));
    assert_in_range(e->range_from_ns - from + 2, 0, 4);
    assert_in_range(e->range_to_ns - to + 2, 0, 4);
    assert_true(weft_explorer_changed(e) & WEFT_CHANGED_FACTS);
    weft_explorer_release(e, 300, y);
    weft_explorer_facts(e, &during);
    assert_true(during > 2);
    assert_non_null(strstr(weft_explorer_place(e), "range="));
    weft_explorer_select(e, 0, by_id(e, 0, 12));
    weft_explorer_facts(e, &after);
    assert_true(after > during); /* both */
    click(e, 500, ruler(e, 0));
    assert_null(strstr(weft_explorer_place(e), "range="));
    assert_int_equal(selected(e, NULL), 12);
    assert_false(has_heading(e, "nothing of the kind"));
    weft_explorer_free(e);
}

TEST(links_lead_somewhere)
{
    struct weft_explorer *e = explorer(1);
    uint32_t count, followed = 0;
    weft_explorer_select(e, 0, by_id(e, 0, 20));
    weft_explorer_facts(e, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_fact *f = weft_explorer_facts(e, &count);
        if (i >= count || f[i].link != WEFT_LINK_PROMISE)
            continue;
        weft_explorer_follow(e, i);
        followed += selected(e, NULL) != 20;
        weft_explorer_select(e, 0, by_id(e, 0, 20));
    }
    assert_true(followed >= 2);
    weft_explorer_follow(e, 100000); /* there is none */
    weft_explorer_free(e);
}

TEST(tips_say_what_is_there)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=500000&to=2500000");
    double x, y;
    find(e, 0, 12, &x, &y);
    weft_explorer_draw(e);
    weft_explorer_changed(e);
    weft_explorer_point(e, x, y);
    assert_string_equal(weft_explorer_tip(e),
                        "task 12 (task) #12: at 1.2 ms, 1 ms, fulfilled; here it waits for "
                        "'task 13', since 1.3 ms and for 1 ms");
    assert_true(weft_explorer_changed(e) & WEFT_CHANGED_PICTURE);
    weft_explorer_point(e, x + 1, y);
    assert_false(weft_explorer_changed(e) & WEFT_CHANGED_PICTURE);
    weft_explorer_leave(e);
    assert_true(weft_explorer_changed(e) & WEFT_CHANGED_PICTURE);
    assert_string_equal(weft_explorer_tip(e), "");
    weft_explorer_free(e);
}

/* ---- The legend, arrows, the path ---- */

TEST(the_legend_is_a_set_of_switches)
{
    struct weft_explorer *e = explorer(1);
    const char *text;
    bool shown;
    weft_explorer_go(e, "from=500000&to=2500000");
    assert_non_null(weft_explorer_draw(e));
    assert_true(e->legend_px > 0 && e->legend.items > 0);
    assert_int_equal(e->pane[0].height_px + e->legend_px, HEIGHT);
    assert_true(weft_explorer_kind(e, WEFT_KIND_WAITING, &text, &shown) && shown);
    assert_int_equal(strncmp(text, "waiting ", 8), 0);                /* and how many */
    assert_false(weft_explorer_kind(e, WEFT_KIND_GC, &text, &shown)); /* there is none */

    /* The one that is named first: pointing says what it means, a click switches it off and on. */
    const struct weft_legend_item item = e->legend.item[0];
    double x = (item.x0 + item.x1) / 2 / WEFT_PX, y = (item.y0 + item.y1) / 2 / WEFT_PX;
    weft_explorer_point(e, x, y);
    assert_non_null(strstr(weft_explorer_tip(e), weft_kinds[item.kind].meaning));
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y);
    assert_int_equal(e->hidden, weft_kind_bit(item.kind));
    assert_non_null(weft_explorer_draw(e));
    assert_false(e->pane[0].geometry.kind[item.kind].seen);
    assert_int_equal(e->legend.item[0].kind, item.kind); /* it is still named */
    assert_true(weft_explorer_kind(e, item.kind, &text, &shown) && !shown);
    char place[400];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_non_null(strstr(place, "hide=waiting"));
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y);
    assert_int_equal(e->hidden, 0);

    assert_true(weft_explorer_go(e, place));
    assert_int_equal(e->hidden, weft_kind_bit(item.kind));
    assert_false(weft_explorer_go(e, "hide=reads,nothing")); /* what is known is still hidden */
    assert_int_equal(e->hidden, weft_kind_bit(WEFT_KIND_READS));
    assert_true(weft_explorer_key(e, "i", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->legend_px, 0);
    assert_non_null(strstr(weft_explorer_place(e), "legend=off"));
    weft_explorer_free(e);
}

/* Each kind that can be switched off and was there is not drawn any more, and nothing else is missing. */
TEST(each_switch_hides_its_kind)
{
    struct weft_explorer *e = explorer(1);
    struct weft_kind_seen all[WEFT_KINDS];
    weft_explorer_go(e, "from=500000&to=900000&select=5");
    assert_non_null(weft_explorer_draw(e));
    memcpy(all, e->pane[0].geometry.kind, sizeof all);
    for (unsigned k = 0; k < WEFT_KINDS; k++) {
        weft_explorer_show_kind(e, (enum weft_kind)k, false);
        assert_non_null(weft_explorer_draw(e));
        for (unsigned i = 0; i < WEFT_KINDS; i++) {
            bool seen = e->pane[0].geometry.kind[i].seen;
            if (seen != (all[i].seen && i != k))
                print_error("%s, without %s\n", weft_kinds[i].key, weft_kinds[k].key);
            assert_int_equal(seen, all[i].seen && i != k);
        }
        weft_explorer_show_kind(e, (enum weft_kind)k, true);
    }
    weft_explorer_free(e);
}

TEST(arrows_say_what_they_mean)
{
    struct weft_explorer *e = explorer(1);
    unsigned reads = 0, waits = 0;
    weft_explorer_go(e, "from=500000&to=900000");
    assert_non_null(weft_explorer_draw(e));
    const struct weft_model *m = e->pane[0].model;
    for (uint32_t i = 0; i < e->pane[0].geometry.arrows; i++) {
        const struct weft_arrow a = e->pane[0].geometry.arrow[i];
        double x = (a.x0 / 2 + a.x1 / 2) / (double)WEFT_PX;
        double y = (a.y0 / 2 + a.y1 / 2) / (double)WEFT_PX;
        struct weft_pick at = explore_pick(e, 0, x, y);
        if (at.kind != WEFT_PLACE_ARROW) /* it crosses a line there */
            continue;
        const struct weft_interaction *is =
            &m->interaction[e->pane[0].geometry.arrow[at.arrow].interaction];
        weft_explorer_point(e, x, y);
        const char *tip = weft_explorer_tip(e);
        assert_non_null(strstr(tip, analyse_as_name(m, is->actor).text));
        assert_non_null(strstr(tip, analyse_as_name(m, is->other).text));
        if (is->kind == WEFT_READS)
            reads += strstr(tip, " went on because ") || strstr(tip, " used the result of ");
        if (is->kind == WEFT_WAITS)
            waits += strstr(tip, " began to wait for ") != NULL;
        weft_explorer_leave(e);
        assert_non_null(weft_explorer_draw(e));
    }
    if (reads + waits == 0)
        print_error("%u arrows\n", e->pane[0].geometry.arrows);
    assert_true(reads + waits > 0);
    weft_explorer_free(e);
}

TEST(the_path_is_shown_when_asked_for)
{
    struct weft_explorer *e = explorer(1);
    assert_int_equal(weft_explorer_analyse(e), 0);
    weft_explorer_go(e, "");
    for (uint32_t p = 1; p < e->pane[0].model->promises && !explore_path(e); p++)
        weft_explorer_select(e, 0, p);
    assert_non_null(explore_path(e)); /* it has one */
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].viewport.path_steps, 0);
    assert_null(strstr(weft_explorer_place(e), "path="));
    assert_true(weft_explorer_key(e, "p", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_true(e->pane[0].viewport.path_steps > 0);
    assert_non_null(strstr(weft_explorer_place(e), "path=1"));
    assert_true(weft_explorer_key(e, "p", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].viewport.path_steps, 0);
    weft_explorer_free(e);
}

/* Of what still waits when the trace ends, all is seen. */
TEST(what_waits_is_shown_to_the_end)
{
    struct weft_explorer *e = explorer(1);
    const uint32_t waits = by_id(e, 0, PROMISES - 5);
    assert_int_equal(e->pane[0].model->promise[waits].outcome, WEFT_PENDING);
    weft_explorer_select(e, 0, waits);
    assert_true(weft_explorer_key(e, "f", 0));
    struct explore_window w = explore_window_get(e, 0);
    if (w.from < LIFE || w.to < e->pane[0].end)
        fail_msg("%f to %f of %f", w.from, w.to, e->pane[0].end);
    weft_explorer_free(e);
}

/* ---- Several traces ---- */

TEST(panes_are_linked_or_free)
{
    struct weft_explorer *e = explorer(2);
    assert_int_equal(e->pane[0].height_px + e->pane[1].height_px + e->legend_px, HEIGHT);
    weft_explorer_scroll(e, 400, 100, 0, -3, 0);
    assert_true(explore_window_get(e, 0).from == explore_window_get(e, 1).from);
    assert_true(span(e, 1) < 3000000);

    struct explore_window other = explore_window_get(e, 0);
    double at = explore_time_at(e, 1, 500);
    weft_explorer_press(e, 500, 500, 1, WEFT_ALT); /* the lower one alone */
    weft_explorer_drag(e, 450, 500);
    weft_explorer_release(e, 450, 500);
    assert_true(explore_window_get(e, 0).from == other.from);
    double error = explore_time_at(e, 1, 450) - at;
    assert_true(error < 1e-2 && error > -1e-2);
    assert_non_null(strstr(weft_explorer_place(e), "offset.2="));
    double offset = e->pane[1].view.offset;
    weft_explorer_scroll(e, 400, 600, 1, 0, 0); /* they move together */
    assert_true(explore_window_get(e, 0).from > other.from);
    assert_true(explore_window_get(e, 1).from - explore_window_get(e, 0).from - offset < 1e-3);

    weft_explorer_press(e, 500, 100, 1, WEFT_ALT); /* the upper one: the lower one stays */
    other = explore_window_get(e, 1);
    weft_explorer_drag(e, 520, 100);
    weft_explorer_release(e, 520, 100);
    error = explore_window_get(e, 1).from - other.from;
    assert_true(error < 1e-2 && error > -1e-2);

    assert_true(weft_explorer_key(e, "l", 0));
    other = explore_window_get(e, 1);
    weft_explorer_scroll(e, 400, 100, 0, -3, 0);
    assert_true(explore_window_get(e, 1).from == other.from);
    assert_non_null(strstr(weft_explorer_place(e), "free=1"));
    assert_true(weft_explorer_key(e, "l", 0));
    assert_true(span(e, 0) - span(e, 1) < 1e-2);
    assert_true(weft_explorer_key(e, "0", 0));
    assert_true(weft_explorer_key(e, "0", 0)); /* once more: no offsets */
    assert_true(e->pane[1].view.offset == 0 && explore_window_is_fit(e));
    weft_explorer_remove(e, 0);
    assert_int_equal(weft_explorer_panes(e), 1);
    assert_non_null(weft_explorer_draw(e));
    weft_explorer_free(e);
}

/* Whether all of a trace can be seen. */
static void assert_is_whole(const struct weft_explorer *e, unsigned pane)
{
    struct explore_window w = explore_window_get(e, pane);
    if (w.from > 0.5 || w.to < e->pane[pane].end - 0.5)
        fail_msg("pane %u: %f to %f is visible of %f", pane, w.from, w.to, e->pane[pane].end);
}

/* Of a short trace beside a long one that began earlier, all is seen when the axes are freed. */
TEST(freed_axes_show_each_trace)
{
    struct weft_explorer *e = explorer(1);
    struct weft_model *m = make_model(PROMISES / 10);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "short"), 0);
    for (int moved = 0; moved < 2; moved++) {
        weft_explorer_go(e, "offset.2=-5000000&from=0&to=1");
        assert_true(weft_explorer_key(e, "0", 0));
        assert_non_null(weft_explorer_draw(e));
        if (moved)
            assert_true(weft_explorer_key(e, "}", 0));
        assert_true(weft_explorer_key(e, "l", 0));
        assert_non_null(weft_explorer_draw(e));
        assert_is_whole(e, 1);
        if (!moved) {
            assert_is_whole(e, 0);
            assert_true(explore_window_is_fit(e));
        }
        assert_true(weft_explorer_key(e, "l", 0));
    }
    weft_explorer_free(e);
}

/* Begins that much after the year 2001. */
static struct weft_model *model_at(int64_t after_ns)
{
    struct weft_model *m = make_model(PROMISES);
    m->has_wall = true;
    m->wall_ns = INT64_C(978307200000000000) + after_ns;
    return m;
}

static void add_at(struct weft_explorer *e, int64_t after_ns)
{
    struct weft_model *m = model_at(after_ns);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "a trace"), 0);
}

/* Whether a time of the first pane and one of another are at the same place, within two pixels. */
static bool is_beside(struct weft_explorer *e, int64_t time, unsigned pane, int64_t other)
{
    assert_non_null(weft_explorer_draw(e));
    int32_t by = weft_geometry_x(&e->pane[0].geometry, time) -
                 weft_geometry_x(&e->pane[pane].geometry, other);
    return by < 2 * WEFT_PX && by > -2 * WEFT_PX;
}

static const char *fact(struct weft_explorer *e, const char *name)
{
    uint32_t count;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(f[i].name, name) == 0)
            return f[i].text;
    return "";
}

TEST(the_same_moment_is_at_the_same_place)
{
    struct weft_explorer *e = explorer(0);
    weft_explorer_resize(e, WIDTH, 4 * 250);
    add_at(e, 0);
    assert_string_equal(fact(e, "time axis"), "");
    assert_string_equal(fact(e, "began"), "2001-01-01 00:00:00.000000 UTC");
    add_at(e, 1500000);
    add_at(e, -1000000);
    add_at(e, INT64_C(3600000000000)); /* an hour later: nothing in common */
    assert_true(is_beside(e, 2000000, 1, 500000));
    assert_true(is_beside(e, 2000000, 2, 3000000));
    assert_true(is_beside(e, 2000000, 3, 2000000));
    assert_string_equal(fact(e, "time axis"), "aligned by the wall clock");
    assert_true(explore_window_is_fit(e));
    assert_null(strstr(weft_explorer_place(e), "offset"));

    char place[1000];
    assert_true(weft_explorer_key(e, "L", 0)); /* each from its beginning */
    assert_string_equal(weft_explorer_why(e), "Each trace begins at the left");
    assert_true(is_beside(e, 2000000, 1, 2000000));
    assert_true(is_beside(e, 2000000, 2, 2000000));
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_non_null(strstr(place, "offset.2=0&offset.3=0"));
    assert_null(strstr(place, "offset.4"));
    assert_true(weft_explorer_key(e, "L", 0));
    assert_string_equal(weft_explorer_why(e),
                        "By the wall clock, as far as the traces have a time in common");
    assert_true(is_beside(e, 2000000, 1, 500000));
    assert_true(weft_explorer_key(e, "l", 0));
    assert_string_equal(weft_explorer_why(e), "Each trace has its own time axis now");
    assert_true(weft_explorer_key(e, "l", 0));
    assert_string_equal(weft_explorer_why(e), "All traces have the same time axis now");
    assert_true(weft_explorer_go(e, place));
    assert_true(is_beside(e, 2000000, 1, 2000000));
    assert_string_equal(weft_explorer_place(e), place);
    assert_true(weft_explorer_go(e, "from=0&to=3000000"));
    assert_true(is_beside(e, 2000000, 1, 500000));

    weft_explorer_press(e, 500, 350, 1, WEFT_ALT); /* the second one alone */
    weft_explorer_drag(e, 450, 350);
    weft_explorer_release(e, 450, 350);
    assert_false(is_beside(e, 2000000, 1, 500000));
    weft_explorer_select(e, 1, by_id(e, 1, 9));
    weft_explorer_select(e, 1, WEFT_NONE);
    assert_non_null(strstr(fact(e, "time axis"), " earlier than by the wall clock"));
    weft_explorer_key(e, "0", 0);
    weft_explorer_key(e, "0", 0);
    assert_true(is_beside(e, 2000000, 1, 500000));
    weft_explorer_remove(e, 0);
    assert_true(is_beside(e, 500000, 1, 3000000));
    weft_explorer_free(e);
}

TEST(reading_again_keeps_the_clock)
{
    struct weft_explorer *e = explorer(0);
    add_at(e, 0);
    add_at(e, 1500000);
    struct weft_model *m = model_at(1501000); /* now it is known better */
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 1, s, m);
    assert_true(e->pane[1].view.offset == -1501000);
    assert_true(weft_explorer_go(e, "from=0&to=3000000&offset.2=77"));
    m = model_at(1500000);
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 1, s, m);
    assert_true(e->pane[1].view.offset == 77);
    weft_explorer_free(e);
}

/* The calendar is our own. */
TEST(dates_are_right)
{
    static const int64_t seconds[] = {0,         951782399,  951782400,  951868800,  978307199,
                                      978307200, 1709164800, 1709251200, 4107542399, 4107542400};
    for (size_t i = 0; i < COUNT(seconds) + 800; i++) {
        int64_t at = i < COUNT(seconds) ? seconds[i] : (int64_t)i * 5077777;
        struct weft_explorer *e = explorer(0);
        struct weft_model *m = make_model(1);
        struct weft_scene *s;
        char wanted[64];
        time_t t = (time_t)at;
        struct tm tm;
        m->has_wall = true;
        m->wall_ns = at * 1000000000 + 123456789;
        assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
        assert_int_equal(weft_explorer_add(e, s, m, "a trace"), 0);
        strftime(wanted, sizeof wanted, "%Y-%m-%d %H:%M:%S.123456 UTC", gmtime_r(&t, &tm));
        assert_string_equal(fact(e, "began"), wanted);
        weft_explorer_free(e);
    }
}

TEST(more_panes_than_fit)
{
    struct weft_explorer *e = explorer(8);
    const int least = WEFT_PICTURE_MIN_PX, seen = weft_explorer_panes_seen(e);
    assert_true(seen < HEIGHT); /* the legend is below them */
    assert_int_equal(weft_explorer_panes_height(e), 8 * least);
    assert_int_equal(e->pane[0].height_px, least);
    assert_int_equal(e->pane[7].height_px, 0);
    weft_explorer_select(e, 7, by_id(e, 7, 9));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[7].top_px + e->pane[7].height_px, seen);
    char place[1000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_non_null(strstr(place, "&top="));
    weft_explorer_select(e, 0, by_id(e, 0, 9));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(e->pane[0].top_px, 0);
    assert_true(weft_explorer_go(e, place)); /* as far down as before */
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(weft_explorer_panes_top(e), 8 * least - seen);
    assert_string_equal(weft_explorer_place(e), place);

    weft_explorer_panes_scroll(e, 50); /* the upper one is cut off */
    const struct weft_drawlist *list = weft_explorer_draw(e);
    assert_non_null(list);
    assert_int_equal(list->height, HEIGHT * WEFT_PX);
    assert_int_equal(e->pane[0].top_px, -50);
    weft_explorer_scroll(e, 100, 160, 0, 1, 0); /* over the title of the second one */
    assert_int_equal(weft_explorer_panes_top(e), 130);
    weft_explorer_scroll(e, 100, 300, 0, -1, WEFT_ALT);
    assert_int_equal(weft_explorer_panes_top(e), 50);
    weft_explorer_panes_scroll(e, 1000000);
    assert_int_equal(weft_explorer_panes_top(e), 8 * least - seen);

    weft_explorer_select(e, 0, by_id(e, 0, 9)); /* by keys, from the first one */
    for (int i = 0; i < 7; i++)
        assert_true(weft_explorer_key(e, "PageDown", WEFT_SHIFT));
    assert_false(weft_explorer_key(e, "PageDown", WEFT_SHIFT));
    assert_int_equal(e->active, 7);
    weft_explorer_resize(e, WIDTH, 8 * least + HEIGHT - seen);
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(weft_explorer_panes_top(e), 0);
    assert_int_equal(e->pane[7].height_px, least);
    weft_explorer_free(e);
}

TEST(there_is_a_limit)
{
    struct weft_explorer *e = explorer(WEFT_PANES_MAX);
    struct weft_model *m = make_model(3);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "one too many"), WEFT_E_LIMIT);
    assert_false(weft_explorer_command(e, WEFT_COMMAND_DUPLICATE));
    weft_scene_free(s);
    weft_model_free(m);
    weft_explorer_free(e);
}

/* The traces that are shown, from top to bottom: "2,1". */
static const char *order(const struct weft_explorer *e)
{
    static char text[200];
    size_t n = 0;
    for (unsigned i = 0; i < weft_explorer_panes(e); i++)
        n += (size_t)snprintf(text + n, sizeof text - n, i ? ",%u" : "%u",
                              weft_explorer_source(e, i));
    return text;
}

TEST(panes_are_moved_and_closed)
{
    struct weft_explorer *e = explorer(3);
    weft_explorer_select(e, 1, by_id(e, 1, 9));
    assert_true(weft_explorer_key(e, "PageUp", WEFT_ALT));
    assert_string_equal(order(e), "2,1,3");
    assert_int_equal(e->selected_pane, 0);
    assert_int_equal(e->active, 0);
    assert_false(weft_explorer_key(e, "PageUp", WEFT_ALT));
    assert_non_null(strstr(weft_explorer_place(e), "&panes=2,1,3&"));
    assert_non_null(strstr(weft_explorer_place(e), "&select=9"));

    /* By its title, to the bottom. */
    assert_non_null(weft_explorer_draw(e));
    double y = e->pane[0].top_px + 8;
    weft_explorer_press(e, 50, y, 1, 0);
    double below = e->pane[2].top_px + 100;
    weft_explorer_drag(e, 50, below);
    weft_explorer_release(e, 50, below);
    assert_string_equal(order(e), "1,3,2");
    assert_int_equal(e->selected_pane, 2);

    /* The cross at the end of a title asks for it to be closed. */
    unsigned pane;
    assert_non_null(weft_explorer_draw(e));
    y = e->pane[1].top_px + 8;
    weft_explorer_point(e, 50, y);
    assert_string_equal(weft_explorer_tip(e), "drag this up or down to move the trace");
    double x = (double)e->pane[1].geometry.x1 / WEFT_PX - 5;
    weft_explorer_point(e, x, y);
    assert_string_equal(weft_explorer_tip(e), "closes this trace (X)");
    assert_false(weft_explorer_wants_close(e, &pane));
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y + 60); /* not there */
    assert_false(weft_explorer_wants_close(e, &pane));
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y);
    assert_true(weft_explorer_wants_close(e, &pane));
    assert_int_equal(pane, 1);
    weft_explorer_close_wanted(e);
    assert_string_equal(order(e), "1,2");
    assert_int_equal(e->selected_pane, 1);

    /* A link names those that are left, in their order. */
    assert_true(weft_explorer_go(e, "panes=2,1&select.2=9"));
    assert_string_equal(order(e), "2,1");
    assert_int_equal(e->selected_pane, 1);
    assert_false(weft_explorer_go(e, "panes=3,2"));
    assert_false(weft_explorer_go(e, "panes=1,4"));
    assert_false(weft_explorer_go(e, "panes=,0,1,99999999999999999999,x"));
    weft_explorer_close_wanted(e);
    assert_string_equal(order(e), "1");
    weft_explorer_forget_source(e, 2); /* it will not come back */
    add(e, PROMISES);
    assert_string_equal(order(e), "1,3");
    weft_explorer_free(e);
}

TEST(a_trace_is_shown_twice)
{
    struct weft_explorer *e = explorer(1);
    assert_true(weft_explorer_key(e, "D", WEFT_SHIFT));
    assert_string_equal(order(e), "1,1");
    assert_ptr_equal(e->pane[0].model, e->pane[1].model);
    assert_int_equal(e->active, 1);
    assert_true(weft_explorer_key(e, "l", 0));
    weft_explorer_scroll(e, 400, HEIGHT - 100, 0, -3, 0); /* each at a time of its own */
    assert_true(explore_window_get(e, 0).to > explore_window_get(e, 1).to);
    char place[1000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_non_null(strstr(place, "&panes=1,1"));

    weft_explorer_search(e, "special"); /* found once, though shown twice */
    while (weft_explorer_work(e))
        ;
    assert_string_equal(weft_explorer_found(e), "5 found");
    weft_explorer_select(e, 1, by_id(e, 1, 16));
    assert_string_equal(weft_explorer_found(e), "2 of 5");

    /* Analysed and read again in both. */
    assert_int_equal(weft_explorer_analyse(e), 0);
    assert_non_null(e->pane[0].trace->analysis);
    assert_ptr_equal(e->pane[0].trace->analysis, e->pane[1].trace->analysis);
    assert_non_null(weft_explorer_draw(e));
    struct weft_model *m = make_model(PROMISES + 5);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 0, s, m);
    assert_ptr_equal(e->pane[0].model, m);
    assert_ptr_equal(e->pane[1].model, m);
    assert_null(e->pane[1].trace->analysis);
    assert_non_null(weft_explorer_draw(e));

    /* A link shows it twice; one without that, once. */
    weft_explorer_remove(e, 0);
    assert_string_equal(order(e), "1");
    assert_true(weft_explorer_go(e, place));
    assert_string_equal(order(e), "1,1");
    assert_string_equal(weft_explorer_place(e), place);
    assert_non_null(weft_explorer_draw(e));
    assert_true(weft_explorer_go(e, "from=0&to=1000000"));
    weft_explorer_close_wanted(e);
    assert_string_equal(order(e), "1");
    weft_explorer_free(e);
}

/* ---- Notes ---- */

/* All notes: "413~slow;t1000~". */
static const char *notes(struct weft_explorer *e)
{
    static char text[2000];
    uint32_t count;
    const struct weft_note *note = weft_explorer_notes(e, &count);
    size_t n = 0;
    *text = '\0';
    for (uint32_t i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s~%s", i ? ";" : "", note[i].at,
                              note[i].text);
    return text;
}

TEST(notes_are_written_and_changed)
{
    struct weft_explorer *e = explorer(2);
    weft_explorer_select(e, 1, by_id(e, 1, 9));
    assert_memory_equal(weft_explorer_note_place(e), "#9 ", 3);
    assert_false(weft_explorer_notes_unsaved(e, 2));
    assert_true(weft_explorer_note_add(e, "a\nb\x01 & \xff;~"));
    assert_true(weft_explorer_notes_unsaved(e, 2));
    assert_false(weft_explorer_notes_unsaved(e, 1));
    weft_explorer_notes_saved(e, 2);
    assert_false(weft_explorer_notes_unsaved(e, 2));
    assert_true(weft_explorer_key(e, "Escape", 0));
    explore_range_set(e, 0, 2000000, 1000000);
    assert_string_equal(weft_explorer_note_place(e), "from 1 ms to 2 ms");
    assert_true(weft_explorer_note_add(e, ""));
    assert_true(weft_explorer_note_add(e, "")); /* the same once more */
    assert_true(weft_explorer_key(e, "Escape", 0));
    weft_explorer_point(e, 400, 100);
    assert_true(weft_explorer_note_add(e, "here"));
    const int64_t at = explore_round(explore_time_at(e, 0, 400));
    char wanted[200];
    snprintf(wanted, sizeof wanted, "r1000000-2000000~;t%" PRId64 "~here;9~a b  & \xef\xbf\xbd;~",
             at);
    assert_string_equal(notes(e), wanted);

    /* A link has them, and brings them to where they are missing. */
    char place[2000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    struct weft_explorer *other = explorer(2);
    assert_true(weft_explorer_go(other, place));
    assert_string_equal(notes(other), wanted);
    assert_string_equal(weft_explorer_place(other), place);
    assert_false(weft_explorer_notes_unsaved(other, 1)); /* it is not the user's change */
    weft_explorer_free(other);

    /* What is deleted or changed does not come back. */
    assert_true(weft_explorer_note_delete(e, 1));
    assert_true(weft_explorer_note_edit(e, 1, "b"));
    assert_false(weft_explorer_note_edit(e, 2, "b"));
    assert_false(weft_explorer_note_delete(e, 2));
    assert_true(weft_explorer_go(e, place));
    assert_string_equal(notes(e), "r1000000-2000000~;9~b");
    assert_true(weft_explorer_note_edit(e, 1, "b")); /* as it is */
    assert_string_equal(notes(e), "r1000000-2000000~;9~b");

    /* Going to them */
    assert_true(weft_explorer_key(e, ".", 0));
    assert_int_equal(e->range_to_ns - e->range_from_ns, 1000000);
    assert_true(weft_explorer_key(e, ".", 0));
    unsigned pane;
    assert_int_equal(selected(e, &pane), 9);
    assert_int_equal(pane, 1);
    assert_true(weft_explorer_key(e, ",", 0));
    assert_false(weft_explorer_note_go(e, 2));
    weft_explorer_free(e);
}

TEST(notes_are_drawn)
{
    struct weft_explorer *e = explorer(1);
    double x, y;
    find(e, 0, 9, &x, &y);
    assert_true(weft_explorer_note_put(e, 1, "0", "9", "look at this"));
    assert_true(weft_explorer_note_put(e, 1, "0", "t1000000", "and this"));
    const struct weft_drawlist *list = weft_explorer_draw(e);
    bool one = false, two = false;
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        one = one || (d->op == WEFT_DRAW_TEXT && d->count == 12 &&
                      !memcmp(list->texts + d->first, "look at this", 12));
        two = two || (d->op == WEFT_DRAW_TEXT && d->count == 8 &&
                      !memcmp(list->texts + d->first, "and this", 8));
    }
    assert_true(one && two);
    find(e, 0, 9, &x, &y);
    weft_explorer_point(e, x, y);
    assert_non_null(strstr(weft_explorer_tip(e), "; note: look at this"));
    const struct weft_geometry *g = &e->pane[0].geometry;
    weft_explorer_point(e, (double)weft_geometry_x(g, 1000000) / WEFT_PX,
                        (double)(g->ruler_y0 + g->rows_y0) / 2 / WEFT_PX);
    assert_non_null(strstr(weft_explorer_tip(e), "; note: and this"));
    weft_explorer_free(e);
}

TEST(kept_notes_are_checked)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "t",
                                        "t1x",
                                        "r",
                                        "r5",
                                        "r5-",
                                        "r5-5",
                                        "r6-5",
                                        "0",
                                        "-1",
                                        "t--1",
                                        "r-5",
                                        "99999999999999999999",
                                        "t9999999999999999999",
                                        "1 ",
                                        "r1-9999999999999999999"};
    struct weft_explorer *e = explorer(1);
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (weft_explorer_note_put(e, 1, "0", wrong[i], "text"))
            fail_msg("'%s' is taken", wrong[i]);
    assert_false(weft_explorer_note_put(e, 2, "0", "9", "of no trace"));
    assert_string_equal(notes(e), "");
    assert_true(weft_explorer_note_put(e, 1, "junk", "r-5--2", "before"));
    assert_true(weft_explorer_note_put(e, 1, "0", "123456789", "of nothing"));
    assert_string_equal(notes(e), "r-5--2~before;123456789~of nothing");
    assert_false(weft_explorer_note_go(e, 1));
    assert_false(weft_explorer_go(e, "notes=x~a;5;t7~c;;~"));
    assert_string_equal(notes(e), "r-5--2~before;t7~c;5~;123456789~of nothing");

    /* The oldest events of a ring are gone since they were saved. */
    e->pane[0].model->first_ns = 5000;
    assert_true(weft_explorer_note_put(e, 1, "2000", "t4000", "later"));
    assert_true(weft_explorer_note_put(e, 1, "7000", "t4000", "other"));
    assert_non_null(strstr(notes(e), "t1000~later;t4000~other"));
    assert_string_equal(weft_explorer_notes_since(e, 1), "5000");

    char text[3 * WEFT_NOTE_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_true(weft_explorer_note_put(e, 1, "0", "t8", text)); /* cut, and too long for a link */
    assert_null(strstr(weft_explorer_place(e), "t8~"));
    unsigned n = 6;
    for (char at[20]; n < 2 * WEFT_NOTES_MAX; n++) {
        snprintf(at, sizeof at, "t%u", 100000 + n);
        if (!weft_explorer_note_put(e, 1, "0", at, "one of many"))
            break;
    }
    assert_in_range(n, WEFT_NOTES_MAX - 2, WEFT_NOTES_MAX + 2);
    assert_in_range(strlen(weft_explorer_place(e)), 500, 2500); /* as many as fit */
    weft_explorer_free(e);
}

/* ---- Comparing ---- */

TEST(two_are_compared)
{
    struct weft_explorer *e = explorer(2);
    assert_false(weft_explorer_key(e, "V", WEFT_SHIFT)); /* nothing to keep */
    weft_explorer_select(e, 0, by_id(e, 0, 9));
    assert_true(weft_explorer_key(e, "V", WEFT_SHIFT));
    assert_string_equal(fact(e, "second"), "the same");
    assert_non_null(strstr(weft_explorer_place(e), "&with=9"));
    weft_explorer_select(e, 1, by_id(e, 1, PROMISES));
    assert_memory_equal(fact(e, "first"), "#9 ", 3);
    assert_memory_equal(fact(e, "second"), "#40 ", 4);
    assert_string_equal(fact(e, "outcome"), "fulfilled \xe2\x86\x92 pending");
    char place[1000];
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_string_equal(fact(e, "second"), "the promise that is selected next");
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_null(strstr(weft_explorer_place(e), "with="));
    assert_true(weft_explorer_go(e, place));
    assert_memory_equal(fact(e, "second"), "#40 ", 4);
    assert_string_equal(weft_explorer_place(e), place);
    assert_true(weft_explorer_key(e, "V", WEFT_SHIFT)); /* no more */
    assert_true(weft_explorer_key(e, "Escape", 0));

    /* Ranges: the second has twice as many. Promise i lives from i steps on for 10 steps. */
    explore_range_set(e, 0, 1450000, 1550000);
    assert_true(weft_explorer_key(e, "V", WEFT_SHIFT));
    assert_non_null(strstr(weft_explorer_place(e), "&with=r1450000-1550000"));
    explore_range_set(e, 0, 2050000, 2550000);
    assert_string_equal(fact(e, "duration"),
                        "100 \xc2\xb5s \xe2\x86\x92 500 \xc2\xb5s, +400 \xc2\xb5s");
    assert_string_equal(fact(e, "created"), "1 \xe2\x86\x92 5, +4");
    assert_string_equal(fact(e, "resolved"), "1 \xe2\x86\x92 5, +4");
    weft_explorer_remove(e, 0); /* with what was compared */
    assert_null(strstr(weft_explorer_place(e), "with="));
    assert_false(weft_explorer_go(e, "with=t5"));
    assert_false(weft_explorer_go(e, "with=x"));
    assert_false(weft_explorer_go(e, "with=123456"));
    assert_false(weft_explorer_go(e, "with.2=9"));
    weft_explorer_free(e);
}

/* ---- Searching ---- */

TEST(search_goes_through_all)
{
    struct weft_explorer *e = explorer(2);
    assert_string_equal(weft_explorer_found(e), "");
    weft_explorer_search(e, "special");
    assert_memory_equal(weft_explorer_found(e), "searching", 9);
    while (weft_explorer_work(e))
        ;
    assert_string_equal(weft_explorer_found(e), "10 found");
    static const uint64_t ids[] = {8, 16, 24, 32, 40, 8, 16, 24, 32, 40};
    for (unsigned lap = 0; lap < 2; lap++)
        for (unsigned i = 0; i < COUNT(ids); i++) {
            unsigned pane;
            char found[32];
            assert_true(weft_explorer_key(e, "n", 0));
            assert_int_equal(selected(e, &pane), ids[i]);
            assert_int_equal(pane, i / 5);
            snprintf(found, sizeof found, "%u of 10", i + 1);
            assert_string_equal(weft_explorer_found(e), found);
        }
    for (unsigned i = COUNT(ids) - 1; i-- > 0;) {
        assert_true(weft_explorer_key(e, "N", 0));
        assert_int_equal(selected(e, NULL), ids[i]);
    }
    weft_explorer_search(e, "nobody");
    while (weft_explorer_work(e))
        ;
    assert_string_equal(weft_explorer_found(e), "not found");
    assert_false(weft_explorer_key(e, "n", 0));
    weft_explorer_search(e, "");
    assert_string_equal(weft_explorer_found(e), "");
    weft_explorer_search(e, "a\x01"
                            "b\xff");
    assert_string_equal(weft_explorer_query(e), "a b\xef\xbf\xbd");
    weft_explorer_free(e);
}

TEST(search_begins_at_the_left_edge)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_search(e, "special");
    while (weft_explorer_work(e))
        ;
    weft_explorer_go(e, "search=special&from=1700000&to=2000000");
    while (weft_explorer_work(e))
        ;
    assert_true(weft_explorer_key(e, "n", 0));
    assert_int_equal(selected(e, NULL), 24);
    weft_explorer_go(e, "search=special&from=1700000&to=2000000");
    while (weft_explorer_work(e))
        ;
    assert_true(weft_explorer_key(e, "N", 0));
    assert_int_equal(selected(e, NULL), 16);
    weft_explorer_free(e);
}

/* ---- Places ---- */

static void expect_place(const char *place, const char *wanted, bool sound)
{
    struct weft_explorer *e = explorer(2);
    bool was = weft_explorer_go(e, place);
    if (was != sound)
        print_error("%s: %s\n", place, was ? "sound" : "not sound");
    assert_int_equal(was, sound);
    assert_string_equal(weft_explorer_place(e), wanted);
    assert_true(weft_explorer_go(e, wanted));
    assert_string_equal(weft_explorer_place(e), wanted);
    weft_explorer_free(e);
}

TEST(places_are_what_they_say)
{
    expect_place("", "from=0&to=4000010", true);
    expect_place("from=1000&to=2000000", "from=1000&to=2000000", true);
    expect_place("from=1000&to=2000000&select=7", "from=1000&to=2000000&select=7", true);
    expect_place("select.2=7&search=a%20%C3%A4%26+b",
                 "from=0&to=4000010&select.2=7&search=a%20%C3%A4%26%20b", true);
    expect_place("range.2=-5-77", "from=0&to=4000010&range.2=-5-77", true);
    expect_place("offset.2=500&from=3&to=1000003", "from=3&to=1000003&offset.2=500", true);
    expect_place("free=1&from=3&to=1000003&from.2=7&to.2=9007&offset.2=1",
                 "from=3&to=1000003&from.2=7&to.2=9007&free=1", true);
    expect_place("spread=300&row=4&y=200", "from=0&to=4000010&row=4&y=200&spread=300", true);
    expect_place("counters=off&text=150", "from=0&to=4000010&counters=off&text=150", true);
    expect_place("off.2=odd,even%2C%20%25", "from=0&to=4000010&off.2=even%2C%20%25,odd", true);
    expect_place("newer=1&from=5", "from=5&to=4000010", true);
}

TEST(places_may_be_nonsense)
{
    static const char *const odd[] = {
        "from=x",
        "from=5&to=5",
        "from=1e3",
        "to=-5",
        "select=4711",
        "select=0",
        "select=-1",
        "select.3=1",
        "row=100000",
        "spread=1001",
        "range=5-4",
        "range=5",
        "search=%zz",
        "off=nobody",
        "text=10",
        "y=-1",
        "free=2",
        "raw=1",
        "counters=maybe",
        "from=99999999999999999999",
        "=5",
        "from.0=5",
        "from.1=5",
        "from.x=5",
        "from=6000000&to=7000000",
        "search=%",
        "from=1&to=2",
        "offset.2=9999999999999999999999",
        "averyveryverylongkey=1",
    };
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct weft_explorer *e = explorer(2);
        if (weft_explorer_go(e, odd[i]))
            print_error("%s: sound\n", odd[i]);
        char place[1000];
        snprintf(place, sizeof place, "%s", weft_explorer_place(e));
        assert_false(weft_explorer_go(e, odd[i]));
        assert_true(weft_explorer_go(e, place));
        assert_string_equal(weft_explorer_place(e), place);
        weft_explorer_free(e);
    }
    assert_true(weft_explorer_place_is_raw("from=1&raw=1&x"));
    assert_false(weft_explorer_place_is_raw("from=1&raw=0"));
}

/* The same place and size: the same picture, to the last byte. */
TEST(places_lead_to_the_same_picture)
{
    struct weft_explorer *a = explorer(2), *b = explorer(2);
    weft_explorer_scroll(a, 450, 150, 0, -6.5, 0);
    weft_explorer_press(a, 450, 150, 1, 0);
    weft_explorer_drag(a, 500, 190);
    weft_explorer_release(a, 500, 190);
    weft_explorer_select(a, 1, by_id(a, 1, 9));
    assert_true(weft_explorer_go(b, weft_explorer_place(a)));
    assert_true(weft_explorer_go(a, weft_explorer_place(a)));
    const struct weft_drawlist *x = weft_explorer_draw(a), *y = weft_explorer_draw(b);
    assert_non_null(x);
    assert_non_null(y);
    assert_int_equal(x->draws, y->draws);
    assert_memory_equal(x->draw, y->draw, x->draws * sizeof *x->draw);
    weft_explorer_free(a);
    weft_explorer_free(b);
}

/* ---- Reading again ---- */

TEST(reading_again_keeps_the_place)
{
    struct weft_explorer *e = explorer(1);
    struct weft_model *m;
    struct weft_scene *s;
    weft_explorer_search(e, "special");
    weft_explorer_go(e, "from=2000000&to=4000010&select=30&search=special");
    weft_explorer_show_counter(e, 1, false);
    m = make_model(2 * PROMISES);
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 0, s, m);
    while (weft_explorer_work(e))
        ;
    assert_string_equal(weft_explorer_found(e), "10 found");
    assert_string_equal(weft_explorer_place(e),
                        "from=2000000&to=8000010&select=30&search=special&off=odd");
    weft_explorer_go(e, "from=2000000&to=3000000");
    m = make_model(3 * PROMISES);
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 0, s, m);
    assert_string_equal(weft_explorer_place(e), "from=2000000&to=3000000");
    m = make_model(3 * PROMISES);
    m->first_ns += 500000; /* a ring, whose oldest events are gone: the same events are seen */
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 0, s, m);
    assert_string_equal(weft_explorer_place(e), "from=1500000&to=2500000");
    m = make_model(3 * PROMISES); /* recorded at another time */
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 0, s, m);
    assert_string_equal(weft_explorer_place(e), "from=1500000&to=2500000");
    assert_non_null(weft_explorer_draw(e));
    weft_explorer_free(e);
}

TEST(counters_can_be_switched)
{
    struct weft_explorer *e = explorer(1);
    bool shown;
    assert_int_equal(weft_explorer_counters(e), 2);
    assert_string_equal(weft_explorer_counter(e, 0, &shown), "even, %");
    assert_true(shown);
    weft_explorer_show_counter(e, 0, false);
    weft_explorer_counter(e, 0, &shown);
    assert_false(shown);
    assert_true(weft_explorer_key(e, " ", 0));
    weft_explorer_counter(e, 1, &shown);
    assert_false(shown);
    weft_explorer_show_counter(e, 0, true); /* that one, and no other */
    weft_explorer_counter(e, 0, &shown);
    assert_true(shown);
    weft_explorer_counter(e, 1, &shown);
    assert_false(shown);
    weft_explorer_free(e);
}

TEST(changes_are_told_once)
{
    struct weft_explorer *e = explorer(1);
    assert_true(weft_explorer_changed(e) != 0);
    assert_int_equal(weft_explorer_changed(e), 0);
    const struct weft_drawlist *list = weft_explorer_draw(e);
    assert_ptr_equal(weft_explorer_draw(e), list);
    assert_int_equal(weft_explorer_changed(e), 0);
    weft_explorer_resize(e, WIDTH, HEIGHT);
    weft_explorer_search(e, "");
    weft_explorer_drag(e, 5, 5);
    weft_explorer_release(e, 5, 5);
    weft_explorer_text_size(e, 100);
    assert_int_equal(weft_explorer_changed(e), 0);
    weft_explorer_scroll(e, 300, 300, 0, -1, 0);
    assert_true(weft_explorer_changed(e) & WEFT_CHANGED_PICTURE);
    weft_explorer_free(e);
}

/* ---- Nothing at all ---- */

static void try_everything(struct weft_explorer *e)
{
    uint32_t count, all;
    for (unsigned i = 0; i < WEFT_COMMANDS; i++)
        weft_explorer_command(e, (enum weft_command)i);
    weft_explorer_point(e, 300, 300);
    weft_explorer_tip(e);
    click(e, 300, 300);
    click(e, 300, 35);
    weft_explorer_scroll(e, 300, 300, 1, 1, 0);
    weft_explorer_pinch(e, 300, 300, 1, 1, 0.5);
    weft_explorer_search(e, "x");
    while (weft_explorer_work(e))
        ;
    weft_explorer_found(e);
    weft_explorer_go(e, weft_explorer_place(e));
    weft_explorer_facts(e, &count);
    weft_explorer_visible(e, &count, &all);
    assert_int_equal(count, 0);
    weft_explorer_select(e, 0, WEFT_NONE);
    weft_explorer_leave(e);
}

TEST(nothing_to_show)
{
    struct weft_explorer *e = explorer(0);
    const struct weft_drawlist *list = weft_explorer_draw(e);
    assert_int_equal(list->width, WIDTH * WEFT_PX);
    assert_int_equal(list->height, HEIGHT * WEFT_PX);
    assert_true(list->text_bytes > 0);
    try_everything(e);
    assert_string_equal(weft_explorer_place(e), "search=x");
    weft_explorer_free(e);
}

TEST(an_empty_trace)
{
    struct weft_explorer *e = explorer(0);
    add(e, 0);
    assert_non_null(weft_explorer_draw(e));
    try_everything(e);
    assert_non_null(weft_explorer_draw(e));
    weft_explorer_free(e);
}

/* ---- Keys ---- */

TEST(no_key_means_two_things)
{
    char all[WEFT_COMMANDS * 2][24];
    unsigned count = 0;
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "%s", weft_commands[i].keys);
        for (char *key = strtok(keys, " "); key; key = strtok(NULL, " ")) {
            for (unsigned k = 0; k < count; k++)
                assert_string_not_equal(all[k], key);
            snprintf(all[count++], sizeof all[0], "%s", key);
            unsigned mods = 0;
            const char *name = key;
            if (!strncmp(name, "Ctrl+", 5))
                mods |= WEFT_CTRL, name += 5;
            if (!strncmp(name, "Alt+", 4))
                mods |= WEFT_ALT, name += 4;
            if (!strncmp(name, "Shift+", 6))
                mods |= WEFT_SHIFT, name += 6;
            assert_int_equal(weft_command_of_key(strcmp(name, "Space") ? name : " ", mods), i);
        }
    }
    /* Letters come as capitals or not, depending on the system and the lock. */
    assert_int_equal(weft_command_of_key("z", WEFT_CTRL | WEFT_SHIFT), WEFT_COMMAND_REDO);
    assert_int_equal(weft_command_of_key("Z", WEFT_CTRL), WEFT_COMMAND_UNDO);
    assert_int_equal(weft_command_of_key("W", WEFT_SHIFT), WEFT_COMMAND_WAITED_FOR);
    assert_int_equal(weft_command_of_key("w", WEFT_CTRL), WEFT_COMMANDS);
    assert_int_equal(weft_command_of_key("", 0), WEFT_COMMANDS);
    assert_int_equal(weft_command_of_key("Unidentified", 0), WEFT_COMMANDS);
    assert_int_equal(weft_command_of_key("averyveryverylongnameofakey", 0), WEFT_COMMANDS);
}

TEST(commands_are_found_by_words)
{
    enum weft_command found[WEFT_COMMANDS];
    assert_int_equal(weft_command_find("", found), WEFT_COMMANDS);
    for (unsigned i = 0; i < WEFT_COMMANDS; i++)
        assert_int_equal(found[i], i);
    assert_int_equal(weft_command_find(" FINDING  next", found), 1);
    assert_int_equal(found[0], WEFT_COMMAND_NEXT_FINDING);
    for (unsigned i = 0; i < WEFT_COMMANDS; i++) { /* each by its name */
        unsigned count = weft_command_find(weft_commands[i].name, found), at = 0;
        while (at < count && found[at] != (enum weft_command)i)
            at++;
        if (at == count)
            fail_msg("%s is not among %u", weft_commands[i].name, count);
    }
    assert_int_equal(weft_command_find("no such words", found), 0);
}

/* ---- Undo ---- */

TEST(many_small_moves_are_one_step)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=500000&to=2500000");
    weft_explorer_draw(e);
    const struct explore_window first = explore_window_get(e, 0);
    for (unsigned i = 0; i < 5; i++)
        weft_explorer_scroll(e, 300, 300, 0, -1, 0);
    const struct explore_window zoomed = explore_window_get(e, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_true(weft_explorer_key(e, "d", 0));
    weft_explorer_rest(e); /* the user thought, and went on */
    const struct explore_window panned = explore_window_get(e, 0);
    assert_true(weft_explorer_key(e, "d", 0));
    const struct explore_window last = explore_window_get(e, 0);
    const struct explore_window *back[] = {&panned, &zoomed, &first};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(weft_explorer_key(e, "z", 0));
        struct explore_window w = explore_window_get(e, 0);
        if (w.from != back[i]->from || w.to != back[i]->to)
            fail_msg("undone %u times: %f to %f instead of %f to %f", i + 1, w.from, w.to,
                     back[i]->from, back[i]->to);
    }
    const struct explore_window *forth[] = {&zoomed, &panned, &last};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(weft_explorer_key(e, "z", WEFT_CTRL | WEFT_SHIFT));
        struct explore_window w = explore_window_get(e, 0);
        if (w.from != forth[i]->from || w.to != forth[i]->to)
            fail_msg("redone %u times: %f to %f instead of %f to %f", i + 1, w.from, w.to,
                     forth[i]->from, forth[i]->to);
    }
    assert_false(weft_explorer_key(e, "Z", 0));
    assert_string_equal(weft_explorer_why(e), "There is nothing to redo");
    weft_explorer_free(e);
}

TEST(a_drag_is_a_step_and_back_passes_over_it)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_select(e, 0, by_id(e, 0, 20));
    assert_true(weft_explorer_key(e, "c", 0));
    const struct explore_window before = explore_window_get(e, 0);
    weft_explorer_changed(e);
    for (unsigned drag = 0; drag < 2; drag++) {
        weft_explorer_draw(e);
        weft_explorer_press(e, 500, 300, 1, 0);
        for (int x = 0; x <= 60; x += 6)
            weft_explorer_drag(e, 500 + x, 300);
        weft_explorer_release(e, 560, 300);
        assert_true(weft_explorer_changed(e) & WEFT_CHANGED_STEP);
    }
    const struct explore_window moved = explore_window_get(e, 0);
    assert_true(moved.from < before.from);
    assert_true(weft_explorer_key(e, "z", WEFT_CTRL));
    assert_true(explore_window_get(e, 0).from > moved.from);
    assert_true(explore_window_get(e, 0).from < before.from);
    assert_int_equal(selected(e, NULL), 19);
    assert_true(weft_explorer_key(e, "Backspace", 0));
    assert_int_equal(selected(e, NULL), 20);
    assert_true(weft_explorer_key(e, "ArrowRight", WEFT_ALT));
    assert_int_equal(selected(e, NULL), 19);
    weft_explorer_free(e);
}

/* What cannot be seen to move is no step: nobody would know what was undone. */
TEST(what_does_not_move_is_no_step)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_draw(e);
    weft_explorer_scroll(e, 300, 300, 0, 100, 0);
    weft_explorer_rest(e);
    const struct explore_window w = explore_window_get(e, 0);
    weft_explorer_changed(e);
    weft_explorer_scroll(e, 400, 350, 0, 100, 0);
    weft_explorer_rest(e);
    assert_true(explore_window_get(e, 0).from == w.from);
    assert_false(weft_explorer_changed(e) & WEFT_CHANGED_STEP);
    weft_explorer_free(e);
}

TEST(wasd_moves_around_the_pointer)
{
    struct weft_explorer *e = explorer(1);
    weft_explorer_go(e, "from=1000000&to=2000000");
    weft_explorer_draw(e);
    for (double x = 300; x < 900; x += 250) {
        weft_explorer_point(e, x, 300);
        double at = explore_time_at(e, 0, x), width = span(e, 0);
        assert_true(weft_explorer_key(e, "w", 0));
        double error = explore_time_at(e, 0, x) - at;
        if (error > 1 || error < -1 || !(span(e, 0) < width / 1.3))
            fail_msg("at %f: moved by %f ns, %f ns wide, before %f", x, error, span(e, 0), width);
        assert_true(weft_explorer_key(e, "s", 0));
        error = explore_time_at(e, 0, x) - at;
        if (error > 1 || error < -1)
            fail_msg("at %f: moved by %f ns", x, error);
        weft_explorer_draw(e);
    }
    weft_explorer_leave(e); /* then around the middle, where nothing is selected */
    double middle = explore_axis_x0(e) + explore_axis_px(e) / 2, at = explore_time_at(e, 0, middle);
    assert_true(weft_explorer_key(e, "w", 0));
    double error = explore_time_at(e, 0, middle) - at, from = explore_window_get(e, 0).from;
    assert_true(error < 1 && error > -1);
    assert_true(weft_explorer_key(e, "a", 0));
    assert_true(explore_window_get(e, 0).from < from);
    assert_true(weft_explorer_key(e, "d", 0));
    assert_true(explore_window_get(e, 0).from - from < 1e-3);
    weft_explorer_free(e);
}

/* ---- Why nothing happened ---- */

/* Each command either changes something or says why it does not. */
TEST(what_does_nothing_says_why)
{
    for (unsigned panes = 0; panes < 3; panes++) {
        struct weft_explorer *e = explorer(panes);
        weft_explorer_draw(e);
        for (unsigned i = 0; i < WEFT_COMMANDS; i++) {
            if (weft_commands[i].where == WEFT_COMMAND_FRONT)
                continue;
            for (unsigned times = 0; times < 100; times++) {
                bool done = weft_explorer_command(e, (enum weft_command)i);
                if (done && (i == WEFT_COMMAND_LINK || i == WEFT_COMMAND_ALIGN))
                    continue; /* these say what they did */
                if (done == (*weft_explorer_why(e) != '\0'))
                    fail_msg("%s with %u traces %s, and says \"%s\"", weft_commands[i].name, panes,
                             done ? "is done" : "does nothing", weft_explorer_why(e));
            }
        }
        weft_explorer_free(e);
    }
    struct weft_explorer *e = explorer(1);
    assert_false(weft_explorer_key(e, "c", 0));
    assert_string_equal(weft_explorer_why(e), "Nothing is selected: click a promise, or press j");
    assert_false(weft_explorer_key(e, "q", 0));
    assert_string_equal(weft_explorer_why(e), "q is no command: ? shows the keys, : all commands");
    assert_false(weft_explorer_key(e, "\xc3\xa4", 0));
    assert_string_equal(weft_explorer_why(e),
                        "\xc3\xa4 is no command: ? shows the keys, : all commands");
    static const char *const none[] = {"Shift", "Tab", "F7", "\x1b", "\xff", "\xc3", ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(weft_explorer_key(e, none[i], 0));
        assert_string_equal(weft_explorer_why(e), "");
    }
    assert_false(weft_explorer_key(e, "u", WEFT_CTRL)); /* the browser's or the desktop's */
    assert_string_equal(weft_explorer_why(e), "");
    weft_explorer_free(e);
}

/* ---- No memory ---- */

/* A session; its calls that cannot say that there was no memory must live with it. */
static int session(struct weft_model *m)
{
    struct weft_explorer *e = NULL;
    struct weft_scene *s = NULL;
    struct weft_drawlist still = {0};
    uint32_t count, all;
    int rc = weft_explorer_new(&e);
    if (rc == 0)
        rc = weft_scene_new(&s, m, false, NULL, NULL);
    if (rc == 0)
        rc = weft_explorer_add(e, s, m, "t");
    if (rc < 0) {
        weft_scene_free(s);
        weft_model_free(m);
    } else {
        bool drawn = weft_explorer_draw(e) != NULL;
        weft_explorer_search(e, "special");
        while (weft_explorer_work(e))
            ;
        weft_explorer_key(e, "n", 0);
        weft_explorer_key(e, "c", 0);
        weft_explorer_facts(e, &count);
        weft_explorer_visible(e, &count, &all);
        weft_explorer_point(e, 300, 300);
        weft_explorer_go(e, "from=5&to=800000&range=5-700");
        weft_explorer_facts(e, &count);
        drawn = weft_explorer_draw(e) && drawn;
        rc = weft_explorer_picture(e, &still);
        rc = drawn ? rc : WEFT_E_NOMEM;
        weft_drawlist_fini(&still);
    }
    weft_explorer_free(e);
    return rc;
}

static struct weft_model *many(void)
{
    return make_model(PROMISES);
}

TEST(no_memory)
{
    try_sessions(many, session);
}

/* Groups have rows of their own; what is closed is one lane, what is hidden is counted. */
TEST(groups_have_rows_of_their_own)
{
    struct weft_explorer *e = explorer(1);
    const struct explore_pane *p = &e->pane[0];
    const uint32_t rows = p->scene->l->rows;
    assert_true(weft_explorer_go(e, "search=special&group=search&pinned=found"));
    const struct weft_groups *g = p->trace->groups;
    assert_int_equal(g->count, 2);
    assert_string_equal(g->group[0].name, "found");
    assert_int_equal(g->group[0].promises, PROMISES / 8);
    assert_int_equal(g->group[0].promises + g->group[1].promises, PROMISES);
    const uint32_t border = p->scene->l->group_first[1];
    for (uint64_t id = 1; id <= PROMISES; id++)
        assert_int_equal(p->scene->l->row[by_id(e, 0, id)] < border, id % 8 == 0);
    char place[1000];
    assert_true(weft_explorer_go(e, "search=special&group=search&closed=found&hidden=rest"));
    assert_string_equal(p->trace->groups->group[1].name, "found");
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    assert_non_null(strstr(place, "&group=search&closed=found&hidden=rest"));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(p->geometry.lanes, 1);
    assert_int_equal(p->geometry.heads, 1);
    assert_int_equal(p->geometry.left_out.hidden, PROMISES - PROMISES / 8);
    assert_int_equal(explore_groups_hidden(p->trace->groups), PROMISES - PROMISES / 8);
    const struct weft_group_head h = p->geometry.head[0];
    const double x = (double)h.x0 / WEFT_PX + 3, y = (double)h.y0 / WEFT_PX + 3;
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y);
    assert_false(p->trace->groups->group[1].is_closed);
    assert_true(weft_explorer_go(e, place));
    assert_string_equal(weft_explorer_place(e), place);
    assert_false(weft_explorer_go(e, "group=label&closed=nothing"));
    assert_false(weft_explorer_go(e, "group=nothing"));
    assert_true(weft_explorer_go(e, ""));
    assert_null(p->trace->groups);
    assert_int_equal(p->scene->l->rows, rows);
    weft_explorer_free(e);
}

/* … as high as one row, also if it is not the first one. */
TEST(closed_groups_are_as_high_as_a_row)
{
    struct weft_explorer *e = explorer(1);
    int height[2];
    for (int closed = 0; closed < 2; closed++) {
        assert_true(
            weft_explorer_go(e, closed ? "search=special&group=search&pinned=found&closed=rest"
                                       : "search=special&group=search&pinned=found&hidden=rest"));
        assert_non_null(weft_explorer_draw(e));
        height[closed] = weft_explorer_natural_height(e, 100000);
    }
    assert_int_equal(height[1] - height[0], 22);
    weft_explorer_free(e);
}

/* Where the name of a group is, no other name is. */
TEST(names_stay_beside_those_of_groups)
{
    struct weft_explorer *e = explorer(1);
    const struct explore_pane *p = &e->pane[0];
    unsigned names = 0, heads = 0;
    for (int i = 0; i < 4; i++) {
        assert_true(weft_explorer_go(e, i % 2 ? "search=special&group=search" : "group=label"));
        weft_explorer_resize(e, WIDTH, i < 2 ? HEIGHT : 3 * HEIGHT);
        const struct weft_drawlist *list = weft_explorer_draw(e);
        assert_non_null(list);
        heads += p->geometry.heads;
        for (uint32_t d = 0; d < list->draws; d++) {
            const struct weft_draw *t = &list->draw[d];
            if (t->op != WEFT_DRAW_TEXT || t->promise == WEFT_NONE)
                continue;
            names++;
            for (uint32_t k = 0; k < p->geometry.heads; k++) {
                const struct weft_group_head *h = &p->geometry.head[k];
                if (t->x0 < h->x1 && t->y0 > h->y0 && t->y0 - t->size / 2 < h->y1)
                    fail_msg("%.*s at %d, %d, beside a head from %d to %d, up to %d", (int)t->count,
                             list->texts + t->first, t->x0, t->y0, h->y0, h->y1, h->x1);
            }
        }
    }
    assert_true(heads >= 4 && names > 20);
    weft_explorer_free(e);
}

TEST(keys_group_hide_and_pin)
{
    struct weft_explorer *e = explorer(1);
    const struct explore_pane *p = &e->pane[0];
    assert_false(weft_explorer_key(e, "H", 0)); /* nothing is hidden */
    assert_true(weft_explorer_key(e, "g", 0));
    assert_int_equal(p->trace->groups->by, WEFT_GROUP_LABEL);
    assert_string_equal(p->trace->groups->group[0].name, "task");
    assert_false(weft_explorer_key(e, "h", 0)); /* nothing is selected */
    weft_explorer_select(e, 0, by_id(e, 0, 5));
    assert_true(weft_explorer_key(e, "G", 0));
    assert_true(p->trace->groups->group[0].is_pinned);
    assert_true(weft_explorer_key(e, "x", 0));
    assert_true(p->trace->groups->group[0].is_closed);
    assert_true(weft_explorer_key(e, "h", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_int_equal(p->geometry.shown, 0);
    assert_true(weft_explorer_key(e, "H", 0));
    assert_non_null(weft_explorer_draw(e));
    assert_true(p->geometry.shown > 0);
    for (int i = 0; i < WEFT_GROUP_BYS && p->trace->groups; i++)
        weft_explorer_key(e, "g", 0);
    assert_null(p->trace->groups);
    weft_explorer_free(e);
}

/* Each of these is a step that can be undone and done again: the place, which says how things are grouped, is the same then. */
TEST(grouping_and_hiding_can_be_undone)
{
    static const char *const keys[] = {"g", "x", "G", "h", "H", "g"};
    enum { STEPS = COUNT(keys) + 1 };
    struct weft_explorer *e = explorer(1);
    char place[STEPS + 1][EXPLORE_PLACE_BYTES];
    weft_explorer_select(e, 0, by_id(e, 0, 5));
    for (unsigned i = 0; i <= STEPS; i++) {
        snprintf(place[i], sizeof place[i], "%s", weft_explorer_place(e));
        if (i < COUNT(keys))
            assert_true(weft_explorer_key(e, keys[i], 0));
        else if (i < STEPS)
            weft_explorer_show_kind(e, WEFT_KIND_FAILED, false);
        if (i)
            assert_string_not_equal(place[i], place[i - 1]);
    }
    assert_non_null(strstr(place[4], "&group=label&closed=*&hidden=*&pinned=*"));
    assert_non_null(strstr(place[STEPS], "&hide="));
    for (unsigned i = STEPS; i-- > 0;) {
        assert_true(weft_explorer_command(e, i % 2 ? WEFT_COMMAND_UNDO : WEFT_COMMAND_BACK));
        assert_non_null(weft_explorer_draw(e));
        assert_string_equal(weft_explorer_place(e), place[i]);
    }
    for (unsigned i = 1; i <= STEPS; i++) {
        assert_true(weft_explorer_command(e, WEFT_COMMAND_REDO));
        assert_string_equal(weft_explorer_place(e), place[i]);
    }
    weft_explorer_free(e);
}

/* With rows at a readable height, the wheel with Alt moves over all of them, and by no more than it says. */
TEST(readable_rows_scroll)
{
    struct weft_explorer *e = explorer(1);
    const struct explore_pane *p = &e->pane[0];
    weft_explorer_resize(e, WIDTH, 260);
    weft_explorer_text_size(e, 140);
    weft_explorer_key(e, " ", 0); /* no counters */
    assert_true(weft_explorer_key(e, "R", 0));
    assert_non_null(strstr(weft_explorer_place(e), "spread=1000"));
    for (int i = 0; i < 400; i++)
        weft_explorer_scroll(e, 500, 80, 0, -1, WEFT_ALT);
    assert_non_null(weft_explorer_draw(e));
    const uint32_t last = p->geometry.shown - 1;
    int32_t middle, height;
    assert_true(explore_row_at(e, 0, p->geometry.shown_row[0], &middle, &height));
    assert_in_range(height, 9, 30);
    uint32_t steps = 0;
    for (height = 0; steps < 60; steps++) {
        int32_t before[2], after[2];
        const uint32_t row = p->geometry.shown_row[last / 2];
        assert_true(explore_row_at(e, 0, row, &before[0], &before[1]));
        weft_explorer_scroll(e, 500, 80, 0, 0.5, WEFT_ALT);
        assert_non_null(weft_explorer_draw(e));
        assert_true(explore_row_at(e, 0, row, &after[0], &after[1]));
        if (after[0] > before[0] + 1 || before[0] - after[0] > 42)
            fail_msg("step %u: from %d to %d", steps, before[0], after[0]);
        assert_true(explore_row_at(e, 0, p->geometry.shown_row[last], &middle, &height));
    }
    assert_in_range(height, 5, 30); /* the last row is as high as it needs */
    assert_true(weft_explorer_key(e, "R", 0));
    assert_null(strstr(weft_explorer_place(e), "spread="));
    weft_explorer_free(e);
}

/* The y of a row that both pictures show. */
static int32_t y_of(const struct weft_explorer *e, uint32_t row)
{
    const struct weft_geometry *g = &e->pane[0].geometry;
    for (uint32_t at = 0; at < g->shown; at++)
        if (g->shown_row[at] == row)
            return g->shown_y[at];
    return INT32_MIN;
}

/* After one notch of the wheel, a row of a picture on a screen goes the same way as one at rest, a part in each frame, and
 * ends at the same place. A saved picture has it there at once. */
TEST(rows_glide)
{
    enum { FRAME = 16000000 };
    struct weft_explorer *e = explorer(1), *rested = explorer(1);
    const uint32_t rows = e->pane[0].scene->l->rows;
    weft_explorer_resize(e, WIDTH, 240);
    weft_explorer_resize(rested, WIDTH, 240);
    int64_t now = 0;
    weft_explorer_frame(e, now);
    assert_non_null(weft_explorer_draw(e));
    assert_false(weft_explorer_glides(e)); /* nothing was there before */
    int32_t before[PROMISES], first = 0;
    assert_in_range(rows, 2, PROMISES);
    for (uint32_t row = 0; row < rows; row++)
        before[row] = y_of(e, row);
    weft_explorer_scroll(e, WIDTH / 2, 120, 0, -1, WEFT_CTRL);
    weft_explorer_scroll(rested, WIDTH / 2, 120, 0, -1, WEFT_CTRL);
    assert_non_null(weft_explorer_draw(rested));
    unsigned frames = 0;
    do {
        weft_explorer_frame(e, now += FRAME);
        assert_non_null(weft_explorer_draw(e));
        for (uint32_t row = 0; row < rows; row++) {
            const int32_t y = y_of(e, row), to = y_of(rested, row), last = before[row];
            if (y == INT32_MIN || to == INT32_MIN || last == INT32_MIN)
                continue;
            const int32_t way = to > last ? to - last : last - to;
            if (y < (last < to ? last : to) || y > (last < to ? to : last))
                fail_msg("frame %u: row %u goes from %d to %d, but its place is %d", frames, row,
                         last, y, to);
            if (way > 4 * WEFT_PX && (y > last ? y - last : last - y) > way / 2)
                fail_msg("frame %u: row %u jumps from %d to %d", frames, row, last, y);
            first += frames == 0 && y != last;
            before[row] = y;
        }
        struct weft_drawlist still = {0}, still_rested = {0};
        assert_int_equal(weft_explorer_picture(e, &still), 0);
        assert_int_equal(weft_explorer_picture(rested, &still_rested), 0);
        assert_int_equal(still.draws, still_rested.draws);
        assert_memory_equal(still.draw, still_rested.draw, still.draws * sizeof *still.draw);
        weft_drawlist_fini(&still);
        weft_drawlist_fini(&still_rested);
    } while (weft_explorer_glides(e) && ++frames < 60);
    assert_in_range(first, 1, PROMISES);
    assert_in_range(frames, 3, 40);
    for (uint32_t row = 0; row < rows; row++)
        assert_int_equal(y_of(e, row), y_of(rested, row));

    weft_explorer_scroll(e, WIDTH / 2, 120, 0, -1, WEFT_CTRL);
    weft_explorer_scroll(rested, WIDTH / 2, 120, 0, -1, WEFT_CTRL);
    weft_explorer_frame(e, now += FRAME);
    assert_non_null(weft_explorer_draw(e));
    assert_true(weft_explorer_glides(e));
    assert_non_null(weft_explorer_draw(e)); /* without the time: at rest */
    assert_non_null(weft_explorer_draw(rested));
    for (uint32_t row = 0; row < rows; row++)
        assert_int_equal(y_of(e, row), y_of(rested, row));
    weft_explorer_free(e);
    weft_explorer_free(rested);
}

RUN_TESTS(NULL, NULL)
