/* SPDX-License-Identifier: ISC */
/* Layout and picture: what must hold for every trace (fuzz/try.h checks that), and that each thing that
 * happens can be seen. */
#include "../fuzz/try.h"
#include "packets.h"
#include "base/count.h"
#include "view/canvas.h"
#include "view/groups.h"
#include "view/index.h"
#include "view/text.h"

enum { MILLION = 1000000 };

/* ---- Making pictures ---- */

static struct weft_model *build(const struct weft_event *ev, size_t count)
{
    struct trace t = {.fd = -1};
    trace_packet(&t, 0, ev, count);
    return trace_model(&t);
}

#define BUILD(...)                                                                                 \
    build((const struct weft_event[]){__VA_ARGS__},                                                \
          COUNT(((const struct weft_event[]){__VA_ARGS__})))

static struct weft_model *build_many(uint64_t events, struct weft_event make(uint64_t i))
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < events; i++) {
        struct weft_event ev = make(i);
        weft_event_encode(trace_extend(&t, weft_event_size(&ev)), &ev);
    }
    trace_set_sizes(&t, t.size);
    return trace_model(&t);
}

static struct weft_scene *lay_out(const struct weft_model *m, bool raw)
{
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, raw, NULL, NULL), 0);
    try_layout(m, s->l);
    return s;
}

/* Where query is not NULL, its hits are marked. */
static struct weft_drawlist draw_with(const struct weft_model *m, struct weft_viewport vp,
                                      const char *query)
{
    struct weft_drawlist list = {0};
    struct weft_scene *s = lay_out(m, false);
    struct weft_search *q = try_search(s, query);
    vp.search = q;
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
    try_drawlist(&list);
    try_size(&list);
    weft_search_free(q);
    weft_scene_free(s);
    return list;
}

static struct weft_drawlist draw(const struct weft_model *m, struct weft_viewport vp)
{
    return draw_with(m, vp, NULL);
}

static struct weft_viewport whole(void)
{
    return (struct weft_viewport){
        .selected = WEFT_NONE, .hovered = WEFT_NONE, .focus_row = WEFT_NONE, .tips = true};
}

/* How many draws there are of that sort; above the legend, which shows a sample of each. */
static unsigned count_draws(const struct weft_drawlist *list, enum weft_draw_op op,
                            enum weft_ink ink)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < list->draws; i++)
        n += list->draw[i].op == op && list->draw[i].ink == ink;
    return n;
}

static bool has_text(const struct weft_drawlist *list, const char *text)
{
    size_t size = strlen(text);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && memmem(list->texts + d->first, d->count, text, size))
            return true;
    }
    return false;
}

/* ---- Layout ---- */

static void expect_rows(struct weft_model *m, const char *wanted)
{
    char found[256] = "";
    size_t used = 0;
    struct weft_scene *s = lay_out(m, false);
    uint32_t *sorted = weft_model_by_id(m);
    for (uint32_t i = 0; i + 1 < m->promises; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%" PRIu64 ":%u",
                                 i ? " " : "", m->promise[sorted[i]].id, s->l->row[sorted[i]]);
    assert_string_equal(found, wanted);
    free(sorted);
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(children_go_below)
{
    expect_rows(BUILD(creates(0, LOOP, 1, TASK), creates(10, 1, 2, TASK), creates(20, 1, 3, TASK),
                      creates(30, 2, 4, TASK), fulfills(100, LOOP, 4), fulfills(100, LOOP, 3),
                      fulfills(100, LOOP, 2), fulfills(100, LOOP, 1)),
                "1:0 2:1 3:2 4:3");
}

TEST(rows_are_used_again)
{
    expect_rows(BUILD(creates(0, LOOP, 1, TASK), creates(10, 1, 2, TASK), fulfills(20, LOOP, 2),
                      creates(30, 1, 3, TASK), /* where 2 was */
                      creates(30, 1, 4, TASK), fulfills(40, LOOP, 3),
                      creates(40, 1, 5, TASK), /* not where 3 ends at the same moment */
                      fulfills(100, LOOP, 5), fulfills(100, LOOP, 4), fulfills(100, LOOP, 1),
                      creates(101, LOOP, 6, TASK)),
                "1:0 2:1 3:1 4:2 5:3 6:0");
}

TEST(what_it_becomes_goes_on_in_its_row)
{
    expect_rows(BUILD(creates(0, LOOP, 1, TASK), creates(5, 1, 2, TASK), creates(6, 1, 3, TASK),
                      becomes(10, 1, 2), fulfills(30, LOOP, 3), fulfills(40, LOOP, 2)),
                "1:0 2:0 3:1");
}

TEST(a_simplified_bind_hangs_under_what_it_read)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, 1, 3, BIND),
              reads(50, 3, 2), fulfills(60, 3, 3), fulfills(60, LOOP, 1), fulfills(60, LOOP, 2));
    struct weft_scene *s = lay_out(m, true);
    uint32_t p = weft_model_find(m, 3);
    assert_int_equal(weft_layout_line(s->l, &m->promise[p]), 0);
    assert_int_equal(weft_layout_parent(s->l, &m->promise[p]), weft_model_find(m, 1));
    weft_scene_free(s);
    s = lay_out(m, false);
    assert_int_equal(weft_layout_line(s->l, &m->promise[p]), 50);
    assert_int_equal(weft_layout_parent(s->l, &m->promise[p]), weft_model_find(m, 2));
    assert_true(s->l->row[p] > s->l->row[weft_model_find(m, 2)]);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Where the line of a promise ends. */
static int64_t line_end(const struct weft_scene *s, uint64_t id)
{
    return weft_layout_end(s->l, s->m, weft_model_find(s->m, id));
}

/* Who waits for what is never resolved is seen to the end, as is what it waits for. */
TEST(what_waits_to_the_end_is_drawn_to_the_end)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(0, 1, 2, TASK), try_read(5, 1, 2),
              creates(6, LOOP, 3, TASK), creates(7, LOOP, 4, TASK), creates(7, LOOP, 5, TASK),
              try_read(8, 4, 5), fulfills(20, LOOP, 5), creates(30, LOOP, 6, TASK),
              fulfills(100, LOOP, 6));
    struct weft_scene *s = lay_out(m, false);
    assert_int_equal(line_end(s, 1), 100);
    assert_int_equal(line_end(s, 2), 100);
    assert_int_equal(line_end(s, 3), 6); /* waits for nothing: its last sign of life */
    assert_int_equal(line_end(s, 4), 8);
    assert_int_equal(line_end(s, 5), 20);
    weft_scene_free(s);
    weft_model_free(m);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % limit;
}

/* Anything, in order of time. */
static struct weft_event random_event(uint64_t i)
{
    uint64_t a = random_below(i / 4 + 1), b = random_below(i / 4 + 1), t = i / 2 * 100;
    switch (random_below(8)) {
    case 0:
    case 1:
        return creates(t, a, i, (unsigned)random_below(WEFT_TYPES));
    case 2:
        return fulfills(t, a, b);
    case 3:
        return becomes(t, a, b);
    case 4:
        return reads(t, a, b);
    case 5:
        return try_read(t, a, b);
    case 6:
        return fails(t, a, b, "Not_found");
    default:
        return label(t, a, "some label");
    }
}

/* No child above the promise that it hangs under. */
static void require_descent(const struct weft_model *m, const struct weft_layout *l)
{
    for (uint32_t i = 1; i < m->promises; i++) {
        const struct weft_promise *p = &m->promise[i];
        uint32_t parent = weft_layout_parent(l, p);
        bool known = parent != WEFT_ROOT &&
                     weft_layout_line(l, &m->promise[parent]) < weft_layout_line(l, p);
        if (known)
            assert_true(l->row[i] >= l->row[parent]);
        if (known && m->promise[parent].end_ns >= weft_layout_line(l, p) &&
            m->promise[parent].becomes != i)
            assert_true(l->row[i] > l->row[parent]);
    }
}

/* What a line's look says without its promise is true. */
static void require_names(const struct weft_model *m, const struct weft_layout *l)
{
    for (uint32_t i = 0; i + 1 < m->promises; i++) {
        const bool named = weft_model_name(m, l->spans[i]) != WEFT_NONE;
        if (named != ((l->look[i] & WEFT_LOOK_NAMED) != 0))
            fail_msg("line %u of promise %u: %s a name", i, l->spans[i], named ? "has" : "has not");
    }
}

TEST(random_traces_are_laid_out)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_state = seed;
        struct weft_model *m = build_many(UINT64_C(20) << (seed % 8), random_event);
        try_model(m);
        for (int raw = 0; raw < 2; raw++) {
            struct weft_scene *s = lay_out(m, raw);
            require_descent(m, s->l);
            require_names(m, s->l);
            for (unsigned i = 0; i < TRY_VIEWPORTS; i++)
                try_view(s, i);
            weft_scene_free(s);
        }
        weft_model_free(m);
    }
}

/* ---- A million promises: time is in proportion, or the test's time limit ends it ---- */

static struct weft_event chain_of_becomes(uint64_t i)
{
    return i % 2 ? becomes(100 * i, i / 2, i / 2 + 1) : creates(100 * i, LOOP, i / 2 + 1, BIND);
}

static struct weft_event chain_of_creations(uint64_t i)
{
    return creates(100 * i, i, i + 1, TASK);
}

static struct weft_event alive_at_once(uint64_t i)
{
    return i < MILLION ? creates(i, LOOP, i, TASK) : fulfills(i, LOOP, 2 * MILLION - 1 - i);
}

static struct weft_event all_at_the_same_time(uint64_t i)
{
    return creates(5, i / 2, i + 1, BIND);
}

static struct weft_event short_ones(uint64_t i)
{
    uint64_t p = i / 4;
    switch (i % 4) {
    case 0:
        return creates(1000 * p, p > 200 && p % 7 ? p - 200 : LOOP, p, BIND);
    case 1:
        return reads(1000 * p + 300, p, p ? p - 1 : 0);
    case 2:
        return label(1000 * p + 301, p, "a name");
    default:
        return p % 3 ? fulfills(1000 * p + 500, p, p) : fails(1000 * p + 700, p, p, "error");
    }
}

static struct weft_event counter_zigzag(uint64_t i)
{
    return counter(i % 2 ? i : MILLION - i, 1, (int64_t)(i * i % 1000), i % 3 ? "a" : "b");
}

static struct weft_event many_counters(uint64_t i)
{
    static char name[32];
    snprintf(name, sizeof name, "c#%u", (unsigned)i);
    return counter(i, 1, (int64_t)i, name);
}

static struct weft_event runs_by_turns(uint64_t i)
{
    return i < 100 ? creates(0, LOOP, i, TASK) : switches(1000 * i, i % 3 ? i * 7 % 100 : LOOP);
}

TEST(pictures_of_millions_are_bounded)
{
    static const struct {
        const char *name;
        uint64_t events;
        struct weft_event (*make)(uint64_t i);
    } sorts[] = {
        {"chain_of_becomes", 2 * MILLION, chain_of_becomes},
        {"chain_of_creations", MILLION, chain_of_creations},
        {"alive_at_once", 2 * MILLION, alive_at_once},
        {"all_at_the_same_time", MILLION, all_at_the_same_time},
        {"short_ones", 4 * MILLION, short_ones},
        {"counter_zigzag", MILLION, counter_zigzag},
        {"many_counters", MILLION / 5, many_counters},
        {"runs_by_turns", MILLION, runs_by_turns},
    };
    for (size_t i = 0; i < COUNT(sorts); i++) {
        struct weft_model *m = build_many(sorts[i].events, sorts[i].make);
        struct weft_viewport vp = whole();
        vp.selected = m->promises / 2;
        struct weft_drawlist list = draw_with(m, vp, "a name");
        print_message("%s: %u promises, %u draws, %u points, %u bytes of text\n", sorts[i].name,
                      m->promises - 1, list.draws, list.point_count, list.text_bytes);
        assert_true(list.draws < 150000);
        assert_true(list.point_count < 100000);
        weft_drawlist_fini(&list);
        weft_model_free(m);
    }
}

/* ---- Waiting for it ---- */

struct told {
    double last;
    unsigned times, most;
};

static bool progress_rises(void *data, double share)
{
    struct told *t = data;
    assert_true(share > t->last && share <= 1);
    t->last = share;
    return ++t->times < t->most;
}

TEST(progress_is_told)
{
    struct weft_model *m = build_many(20000, short_ones);
    struct weft_scene *s;
    struct told all = {.last = -1, .most = UINT32_MAX};
    assert_int_equal(weft_scene_new(&s, m, false, progress_rises, &all), 0);
    weft_scene_free(s);
    assert_true(all.times >= 4 && all.last > 0.9);
    for (unsigned n = 1; n <= all.times; n++) {
        struct told some = {.last = -1, .most = n};
        assert_int_equal(weft_scene_new(&s, m, false, progress_rises, &some), WEFT_E_CANCELED);
        assert_null(s);
        assert_int_equal(some.times, n);
    }
    weft_model_free(m);
}

/* ---- The picture ---- */

TEST(out_of_range)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), fulfills(100, LOOP, 1));
    struct weft_scene *s = lay_out(m, false);
    const struct weft_viewport bad[] = {
        {.from_ns = 5, .to_ns = 5},
        {.from_ns = 6, .to_ns = 5},
        {.from_ns = 1},
        {.from_ns = INT64_MIN, .to_ns = INT64_MAX},
        {.to_ns = WEFT_TIME_MAX + 1},
        {.width_px = WEFT_PICTURE_MIN_PX - 1},
        {.width_px = WEFT_PICTURE_MAX_PX + 1},
        {.height_px = WEFT_PICTURE_MIN_PX - 1},
        {.height_px = WEFT_PICTURE_MAX_PX + 1},
        {.width_px = -1},
        {.height_px = INT32_MIN},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct weft_drawlist list = {0};
        assert_int_equal(weft_view_draw(&list, NULL, s, &bad[i]), WEFT_E_INVALID);
        weft_drawlist_fini(&list);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(sizes_are_what_was_asked_for)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), fulfills(100, LOOP, 1));
    static const int32_t sizes[] = {WEFT_PICTURE_MIN_PX, 333, 1000, WEFT_PICTURE_MAX_PX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct weft_viewport vp = whole();
        vp.width_px = sizes[i];
        vp.height_px = sizes[COUNT(sizes) - 1 - i];
        struct weft_drawlist list = draw(m, vp);
        assert_int_equal(list.width, vp.width_px * WEFT_PX);
        assert_int_equal(list.height, vp.height_px * WEFT_PX);
        weft_drawlist_fini(&list);
    }
    struct weft_drawlist list = draw(m, whole());
    assert_int_equal(list.width, 1600 * WEFT_PX);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* One event or two more, one thing more that can be seen. */
TEST(each_thing_is_drawn)
{
    const struct weft_event before[] = {switches(0, 3), creates(0, LOOP, 1, TASK),
                                        creates(10, LOOP, 2, TASK), creates(20, LOOP, 3, TASK),
                                        label(30, 1, "some name")};
    const struct weft_event after[] = {fulfills(990, LOOP, 1), fulfills(990, LOOP, 2),
                                       fulfills(990, LOOP, 3), label(1000, LOOP, "the end")};
    const struct {
        const char *name;
        enum weft_draw_op op;
        enum weft_ink ink;
        struct weft_event ev[3];
        unsigned events;
    } thing[] = {
        {"running", WEFT_DRAW_RECT, WEFT_INK_RUN, {switches(300, 1), switches(600, 2)}, 2},
        {"sleeping", WEFT_DRAW_RECT, WEFT_INK_SLEEP, {switches(300, LOOP), switches(600, 2)}, 2},
        {"gc", WEFT_DRAW_RECT, WEFT_INK_GC, {gc(600, 200)}, 1},
        {"pending",
         WEFT_DRAW_POINTER,
         WEFT_INK_PENDING,
         {creates(300, 1, 4, TASK), label(600, 4, "x")},
         2},
        {"failed",
         WEFT_DRAW_RECT,
         WEFT_INK_FAILED,
         {creates(300, 1, 4, TASK), fails(600, 1, 4, "No")},
         2},
        {"overdue",
         WEFT_DRAW_RECT,
         WEFT_INK_FAILED,
         {creates(300, 1, 4, TASK), label(301, 4, "__should_resolve")},
         2},
        {"creation",
         WEFT_DRAW_LINE,
         WEFT_INK_EDGE,
         {creates(300, 1, 4, TASK), label(600, 4, "x")},
         2},
        {"read",
         WEFT_DRAW_ARROW,
         WEFT_INK_READ,
         {creates(300, 1, 4, TASK), fulfills(400, LOOP, 4), read_later(500, 2, 4)},
         3},
        {"read failure",
         WEFT_DRAW_ARROW,
         WEFT_INK_READ_FAILED,
         {creates(300, 1, 4, TASK), fails(400, LOOP, 4, ""), read_later(500, 2, 4)},
         3},
        {"wait", WEFT_DRAW_ARROW, WEFT_INK_WAITS, {try_read(500, 2, 1)}, 1},
        {"resolve",
         WEFT_DRAW_ARROW,
         WEFT_INK_RESOLVE,
         {creates(300, 1, 4, TASK), fulfills(600, 2, 4)},
         2},
        {"signal", WEFT_DRAW_ARROW, WEFT_INK_SIGNAL, {signal_only(500, 1, 2)}, 1},
        {"counter", WEFT_DRAW_STEPS, WEFT_INK_COUNTER_0, {counter(500, 1, 7, "queue")}, 1},
    };
    const unsigned head = COUNT(before), tail = COUNT(after);
    for (size_t i = 0; i < COUNT(thing); i++) {
        struct weft_event ev[16];
        memcpy(ev, before, sizeof before);
        memcpy(ev + head, after, sizeof after);
        struct weft_model *without = build(ev, head + tail);
        memcpy(ev + head, thing[i].ev, thing[i].events * sizeof *ev);
        memcpy(ev + head + thing[i].events, after, sizeof after);
        struct weft_model *with = build(ev, head + thing[i].events + tail);
        struct weft_viewport vp = whole();
        vp.no_legend = true;
        struct weft_drawlist a = draw(without, vp), b = draw(with, vp);
        unsigned n = count_draws(&a, thing[i].op, thing[i].ink);
        unsigned more = count_draws(&b, thing[i].op, thing[i].ink);
        if (more <= n)
            print_error("%s: %u, then %u\n", thing[i].name, n, more);
        assert_true(more > n);
        weft_drawlist_fini(&a);
        weft_drawlist_fini(&b);
        weft_model_free(without);
        weft_model_free(with);
    }
}

/* While one thread lacks events the process may sleep or collect, as far as is known: what is missing lies above that. */
TEST(what_is_missing_is_seen)
{
    struct trace t = {.fd = -1};
    const struct weft_event ev[] = {suspends(100), resumes(900), gc(950, 700)};
    for (uint64_t n = 0; n < 2; n++) {
        events_begin(&t, (struct weft_events_header){.stream = 1,
                                                     .sequence = 1 + n,
                                                     .begin_ticks = 300 + 300 * n,
                                                     .events_before = 10 * n});
        events_put(&t, fulfills(300 + 300 * n, LOOP, 1), 0);
    }
    events_begin(&t, (struct weft_events_header){.sequence = 9, .begin_ticks = 100});
    for (size_t i = 0; i < COUNT(ev); i++)
        events_put(&t, ev[i], 0);
    struct weft_model *m = trace_model(&t);
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    const struct weft_draw *missing = NULL;
    unsigned below = 0;
    for (const struct weft_draw *d = list.draw; d < list.draw + list.draws; d++) {
        missing = d->op == WEFT_DRAW_RECT && d->ink == WEFT_INK_MISSING ? d : missing;
        below += d->ink == WEFT_INK_SLEEP || d->ink == WEFT_INK_GC;
        assert_false(missing && (d->ink == WEFT_INK_SLEEP || d->ink == WEFT_INK_GC));
    }
    assert_non_null(missing);
    assert_int_equal(below, 2);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* In low rows what runs is as high as two thirds of its row, in others as in a high one. */
TEST(runs_are_as_high_as_rows_allow)
{
    enum { ROWS = 40 };
    struct weft_event ev[3 * ROWS + 1];
    size_t n = 0;
    for (uint64_t i = 0; i < ROWS; i++)
        ev[n++] = creates(0, LOOP, i + 1, TASK);
    for (uint64_t i = 0; i < ROWS; i++)
        ev[n++] = switches(100 + 20 * i, i + 1);
    ev[n++] = switches(100 + 20 * ROWS, LOOP);
    for (uint64_t i = 0; i < ROWS; i++)
        ev[n++] = fulfills(1000, LOOP, i + 1);
    struct weft_model *m = build(ev, n);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    unsigned low = 0, high = 0;
    vp.no_legend = true;
    for (int32_t height = 250; height <= 1000; height += 50) {
        vp.height_px = height;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        if (g.lanes < ROWS)
            continue;
        assert_int_equal(g.kind[WEFT_KIND_RUNNING].count, ROWS);
        const int32_t row = (g.shown_y[ROWS] - g.shown_y[0]) / ROWS;
        for (uint32_t i = 0; i < list.draws; i++) {
            const struct weft_draw *d = &list.draw[i];
            if (d->op != WEFT_DRAW_RECT || d->ink != WEFT_INK_RUN)
                continue;
            assert_in_range(d->x1 - d->x0, weft_geometry_x(&g, 20) - g.x0 - 1,
                            weft_geometry_x(&g, 20) - g.x0 + 1);
            if (row < 8 * WEFT_PX - 1)
                assert_in_range(3 * (d->y1 - d->y0), 2 * row - 8, 2 * row + 8);
            else if (row > 8 * WEFT_PX)
                assert_int_equal(d->y1 - d->y0, 5 * WEFT_PX);
            *(row < 8 * WEFT_PX ? &low : &high) += 1;
        }
    }
    assert_true(low >= ROWS && high >= ROWS);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* The band behind what is pointed at covers its row, if that is low. */
TEST(bands_are_as_high_as_low_rows)
{
    enum { ROWS = 40 };
    struct weft_event ev[2 * ROWS];
    for (uint64_t i = 0; i < ROWS; i++) {
        ev[i] = creates(0, LOOP, i + 1, TASK);
        ev[ROWS + i] = fulfills(1000, LOOP, i + 1);
    }
    struct weft_model *m = build(ev, COUNT(ev));
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    unsigned low = 0;
    vp.no_legend = true;
    vp.hovered = weft_model_find(m, ROWS / 2);
    for (int32_t height = 250; height <= 600; height += 25) {
        vp.height_px = height;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        const int32_t y0 = g.shown_y[ROWS / 2 - 1], y1 = g.shown_y[ROWS / 2];
        if (y1 - y0 < 5 * WEFT_PX || y1 - y0 > 9 * WEFT_PX)
            continue;
        for (uint32_t i = 0; i < list.draws; i++) {
            const struct weft_draw *d = &list.draw[i];
            if (d->ink != WEFT_INK_HOVER)
                continue;
            assert_in_range(d->y0, y0 - 2, y0 + 2);
            assert_in_range(d->y1, y1 - 2, y1 + 2);
            low++;
        }
    }
    assert_true(low > 2);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* A promise that runs on several threads at once: what goes on longest is seen also where only that is left. */
TEST(runs_that_overlap_are_seen)
{
    enum { THREADS = 4 };
    const uint32_t site = 0;
    struct trace t = {.fd = -1};
    struct step step[1 + 2 * THREADS] = {{creates(0, LOOP, 1, 0), 0, 0}};
    for (uint32_t i = 0; i < THREADS; i++) {
        step[1 + 2 * i] = (struct step){switches(10 + 10 * i, 1), i, 0};
        step[2 + 2 * i] = (struct step){suspends(i ? 600 : 1000), i, 0};
    }
    steps_put(&t, step, COUNT(step), &site, 0);
    struct weft_model *m = trace_model(&t);
    int32_t end = 0;
    for (int64_t from = 0; from < 1000; from += 250) {
        struct weft_viewport vp = whole();
        vp.from_ns = from;
        vp.to_ns = 1000;
        vp.no_legend = true;
        struct weft_drawlist list = draw(m, vp);
        int32_t until = 0;
        for (uint32_t i = 0; i < list.draws; i++)
            if (list.draw[i].ink == WEFT_INK_RUN && list.draw[i].x1 > until)
                until = list.draw[i].x1;
        end = end ? end : until;
        assert_true(until > 0);
        assert_int_equal(until, end);
        weft_drawlist_fini(&list);
    }
    weft_model_free(m);
}

TEST(texts_are_shown)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(10, LOOP, 2, TASK), creates(20, LOOP, 31337, TRY),
              label(100, 1, "first name"), label(50000, 1, "second\tname\x1b"),
              label(2, 2, "__should_resolve"), counter(60000, 2, 5, "queue"),
              fails(70000, LOOP, 1, "Not_found"), gc(90000, 9000), fulfills(100000, LOOP, 31337));
    struct weft_viewport vp = whole();
    vp.title = "net.ctf";
    struct weft_drawlist list = draw(m, vp);
    static const char *const texts[] = {"first name", "second name ", "31337",   "Not_found",
                                        "GC",         "queue+5",      "queue 5", "task",
                                        "net.ctf",    "try",          "100 µs",  "never resolved"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!has_text(&list, texts[i]))
            print_error("not there: %s\n", texts[i]);
        assert_true(has_text(&list, texts[i]));
    }
    weft_drawlist_fini(&list);
    vp.no_counters = true;
    list = draw(m, vp);
    assert_false(has_text(&list, "queue 5"));
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* A long title is cut where the note right of it begins. */
TEST(titles_end_before_the_note)
{
    char title[400];
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), fulfills(100000, LOOP, 1));
    memset(title, 'm', sizeof title - 1);
    title[sizeof title - 1] = '\0';
    for (int32_t width = 1000; width <= 1600; width += 100) {
        struct weft_viewport vp = whole();
        vp.width_px = width;
        vp.title = title;
        struct weft_drawlist list = draw(m, vp);
        const struct weft_draw *begin = NULL, *note = NULL;
        for (const struct weft_draw *d = list.draw; d < list.draw + list.draws; d++) {
            const char *text = list.texts + d->first;
            if (d->op == WEFT_DRAW_TEXT && d->count > 4 && memcmp(text, "mmmm", 4) == 0)
                begin = d;
            else if (d->op == WEFT_DRAW_TEXT && d->count > 5 && memcmp(text, "from ", 5) == 0)
                note = d;
        }
        assert_true(begin && note);
        assert_true(begin->x1 < note->x0 && begin->x1 > note->x0 - 50 * WEFT_PX);
        weft_drawlist_fini(&list);
    }
    weft_model_free(m);
}

/* Each name is a group, or, if there are too many, the last group has the rest. */
TEST(the_last_group_has_the_others)
{
    for (uint32_t kinds = WEFT_GROUPS_MAX - 1; kinds < WEFT_GROUPS_MAX + 20; kinds++) {
        struct trace t = {.fd = -1};
        struct weft_groups *g;
        trace_begin(&t, 0);
        for (uint32_t i = 0; i < kinds; i++) {
            const char name[] = {(char)('a' + i / 20), (char)('a' + i % 20), '\0'};
            trace_add(&t, creates(2 * i, LOOP, i + 1, TASK));
            trace_add(&t, label(2 * i + 1, i + 1, name));
        }
        struct weft_model *m = trace_model(&t);
        struct weft_scene *s = lay_out(m, false);
        assert_int_equal(weft_groups_new(&g, s, WEFT_GROUP_LABEL, NULL), 0);
        const bool too_many = kinds > WEFT_GROUPS_MAX;
        const struct weft_group *last = &g->group[g->count - 1];
        assert_int_equal(g->count, too_many ? WEFT_GROUPS_MAX : kinds);
        assert_int_equal(last->promises, too_many ? kinds - WEFT_GROUPS_MAX + 1 : 1);
        assert_int_equal(strcmp(last->name, "others") == 0, too_many);
        for (uint32_t i = 0; i + 1 < g->count; i++)
            assert_int_equal(g->group[i].promises, 1);
        weft_groups_free(g);
        weft_scene_free(s);
        weft_model_free(m);
    }
}

/* Two rows of promises, each after the other: requests, and in the second half tasks, without names. */
static struct weft_event one_after_another(uint64_t i)
{
    static char name[2][32];
    const uint64_t n = i / 3, at = n / 2 * 1000;
    const bool is_task = n % 2 && n >= 400;
    snprintf(name[n % 2], sizeof name[0], "GET /u/%" PRIu64, n);
    if (i % 3 == 0)
        return creates(at, LOOP, n, is_task ? TASK : TRY);
    return i % 3 == 1 ? is_task ? fulfills(at + 900, LOOP, n) : label(at, n, name[n % 2])
                      : fulfills(at + 900, LOOP, n);
}

/* Lines that are too short for names of their own have one together: the type, what the names have in common, how many. */
TEST(many_have_a_name_together)
{
    struct weft_model *m = build_many(2400, one_after_another);
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    static const char begin[] = "GET /u/… try × ~";
    uint64_t count = 0;
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        const char *text = list.texts + d->first;
        if (d->op == WEFT_DRAW_TEXT && d->count >= sizeof begin &&
            memcmp(text, begin, sizeof begin - 1) == 0)
            weft_parse_digits(text + sizeof begin - 1, d->count - sizeof begin + 1, UINT64_MAX,
                              &count);
    }
    assert_in_range(count, 500, 700); /* 600 of them */
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* Lines below each other, eight in each row, and each with a second label in its middle. */
static struct weft_event twice_named(uint64_t i, uint64_t rows)
{
    const uint64_t n = i / 4, column = n / rows, at = column * 100000 + n % rows;
    switch (i % 4) {
    case 0:
        return creates(at, LOOP, n, TASK);
    case 1:
        return label(at, n, "a");
    case 2:
        return label(column * 100000 + 40000 + n % rows, n, "later");
    default:
        return fulfills(column * 100000 + 90000 + n % rows, LOOP, n);
    }
}

static struct weft_event in_low_rows(uint64_t i)
{
    return twice_named(i, 140);
}

static struct weft_event in_few_rows(uint64_t i)
{
    return twice_named(i, 60);
}

static unsigned count_texts(const struct weft_drawlist *list, const char *text)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < list->draws; i++)
        count += list->draw[i].op == WEFT_DRAW_TEXT && list->draw[i].count == strlen(text) &&
                 memcmp(list->texts + list->draw[i].first, text, strlen(text)) == 0;
    return count;
}

/* Of many lines in low rows nobody sees which one a text in the middle is of. */
TEST(many_low_rows_have_only_their_names)
{
    static const struct {
        struct weft_event (*event)(uint64_t);
        uint64_t rows;
        bool has_later;
    } cases[] = {{in_few_rows, 60, true}, {in_low_rows, 140, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weft_model *m = build_many(cases[i].rows * 8 * 4, cases[i].event);
        struct weft_viewport vp = whole();
        vp.width_px = 1600;
        vp.height_px = 800;
        vp.no_legend = true;
        struct weft_drawlist list = draw(m, vp);
        assert_true(count_texts(&list, "a") > 100);
        assert_int_equal(count_texts(&list, "later") > 0, cases[i].has_later);
        weft_drawlist_fini(&list);
        weft_model_free(m);
    }
}

/* What has no name is named by its number and its type, if there is room for both; otherwise by its type. */
TEST(a_number_has_its_type_beside_it)
{
    const int32_t font = 11 * WEFT_PX, gap = 4 * WEFT_PX, edges = 3 * WEFT_PX;
    const int32_t both =
        weft_text_width("31337", 5, font, false) + gap + weft_text_width("task", 4, font, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    for (int32_t more = -3; more <= 3; more++) {
        vp.to_ns = 1584 * WEFT_PX; /* a nanosecond is as wide as a unit */
        struct weft_model *m =
            BUILD(creates(0, LOOP, 1, TASK),
                  creates((uint64_t)(vp.to_ns - both - edges - more), LOOP, 31337, TASK),
                  fulfills((uint64_t)vp.to_ns, LOOP, 31337), fulfills((uint64_t)vp.to_ns, LOOP, 1));
        struct weft_scene *s = lay_out(m, false);
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        assert_int_equal(g.x1 - g.x0, vp.to_ns);
        assert_int_equal(has_text(&list, "31337"), more >= 0);
        weft_scene_free(s);
        weft_model_free(m);
    }
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
}

/* Beside a name there is the whole type, if there is room for it, or nothing of it. */
TEST(a_type_is_never_cut)
{
    const int32_t font = 11 * WEFT_PX, gap = 4 * WEFT_PX, edges = 3 * WEFT_PX;
    const int32_t both =
        weft_text_width("ARP", 3, font, false) + gap + weft_text_width("condition", 9, font, false);
    struct weft_drawlist list = {0};
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    vp.to_ns = 1584 * WEFT_PX; /* a nanosecond is as wide as a unit */
    for (int32_t more = -3; more <= 3; more++) {
        const uint64_t end = (uint64_t)vp.to_ns, begin = end - (uint64_t)(both + edges + more);
        struct weft_model *m =
            BUILD(creates(0, LOOP, 1, TASK), creates(begin, LOOP, 2, CONDITION),
                  label(begin, 2, "ARP"), fulfills(end, LOOP, 2), fulfills(end, LOOP, 1));
        struct weft_scene *s = lay_out(m, false);
        assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
        assert_true(has_text(&list, "ARP"));
        assert_int_equal(has_text(&list, "condition"), more >= 0);
        assert_int_equal(has_text(&list, "co"), more >= 0);
        weft_scene_free(s);
        weft_model_free(m);
    }
    weft_drawlist_fini(&list);
}

TEST(labels_are_texts_and_nothing_else)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), label(1, 1, "\xff\xc3\x01\xe2\x80\xae<b>\xed\xa0\x80"),
              label(1000, LOOP, ""), fulfills(1000, LOOP, 1));
    struct weft_drawlist list = draw(m, whole());
    assert_true(has_text(&list, "<b>"));
    for (uint32_t i = 0; i < list.text_bytes; i++)
        assert_true((unsigned char)list.texts[i] >= 0x20 && list.texts[i] != 0x7f);
    char *clean = malloc(list.text_bytes + 1);
    assert_int_equal(weft_text_clean(clean, list.text_bytes, list.texts, list.text_bytes),
                     list.text_bytes);
    assert_memory_equal(clean, list.texts, list.text_bytes);
    free(clean);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

TEST(hits_and_selection)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, BIND), creates(0, LOOP, 3, TASK),
              creates(0, LOOP, 44, TASK), label(1, 1, "Connect"), counter(2, 3, 1, "Queue#1"),
              fails(50, LOOP, 3, "Refused"), becomes(60, 2, 1), fulfills(100, LOOP, 1),
              fulfills(100, LOOP, 44));
    static const struct {
        const char *search;
        uint64_t id; /* LOOP: none */
    } cases[] = {{"connect", 1}, {"CONN", 1}, {"REFUSE", 3}, {"queue#", 3}, {"bind", 2},
                 {"44", 44},     {"4", LOOP}, {"", LOOP},    {"zzz", LOOP}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weft_scene *s = lay_out(m, false);
        struct weft_search *q = try_search(s, cases[i].search);
        for (uint32_t p = 1; p < m->promises; p++)
            assert_int_equal(weft_search_has(q, p), m->promise[p].id == cases[i].id);
        weft_search_free(q);
        weft_scene_free(s);
        struct weft_viewport vp = whole();
        vp.no_legend = true;
        struct weft_drawlist list = draw_with(m, vp, cases[i].search);
        assert_int_equal(count_draws(&list, WEFT_DRAW_RECT, WEFT_INK_HIT), cases[i].id != LOOP);
        weft_drawlist_fini(&list);
    }

    struct weft_viewport vp = whole();
    vp.no_legend = true;
    vp.selected = weft_model_find(m, 2);
    struct weft_drawlist list = draw(m, vp);
    assert_int_equal(count_draws(&list, WEFT_DRAW_RECT, WEFT_INK_SELECTED), 2);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* The legend says of what is selected what became of it. */
TEST(a_selection_is_described)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), creates(10, 1, 2, BIND),
                                 creates(20, LOOP, 3, TASK), label(21, 3, "the result"),
                                 becomes(60, 2, 3), fulfills(100, LOOP, 3), fulfills(100, LOOP, 1));
    struct weft_viewport vp = whole();
    vp.selected = weft_model_find(m, 2);
    struct weft_drawlist list = draw(m, vp);
    assert_true(has_text(&list, "Selected: (bind) #2, created at 10 ns by (task) #1; "));
    assert_true(has_text(&list, " after 50 ns the result (task) #3; ran for 0 ns."));
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* Hits that lie a few pixels apart in a row can be told apart. */
TEST(each_hit_has_its_band)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(100, 1, 2, TASK), label(100, 2, "found"),
              fulfills(110, 1, 2), creates(118, 1, 3, TASK), label(118, 3, "found"),
              fulfills(128, 1, 3), fulfills(1584, LOOP, 1)); /* a pixel is a nanosecond wide */
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw_with(m, vp, "found");
    assert_int_equal(count_draws(&list, WEFT_DRAW_RECT, WEFT_INK_HIT), 2);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* … also if so many lines are seen that those behind bands are passed over: the second lies behind the first one, the last one right of it. */
TEST(no_hit_beside_a_band_is_passed_over)
{
    enum { ROWS = 21000 };
    const struct weft_event ev[] = {
        creates(100, LOOP, ROWS + 1, TASK), label(100, ROWS + 1, "found"),
        creates(101, LOOP, ROWS + 2, TASK), label(101, ROWS + 2, "found"),
        fulfills(110, LOOP, ROWS + 2),      fulfills(111, LOOP, ROWS + 1),
        creates(113, LOOP, ROWS + 3, TASK), creates(118, LOOP, ROWS + 4, TASK),
        label(118, ROWS + 4, "found"),      fulfills(130, LOOP, ROWS + 4),
        fulfills(131, LOOP, ROWS + 3)};
    struct weft_event *all = calloc(2 * ROWS + COUNT(ev), sizeof *all);
    size_t n = 0;
    assert_non_null(all);
    for (uint64_t i = 0; i < ROWS; i++)
        all[n++] = creates(0, LOOP, i + 1, TASK);
    memcpy(all + n, ev, sizeof ev);
    n += COUNT(ev);
    for (uint64_t i = 0; i < ROWS; i++)
        all[n++] = fulfills(1584, LOOP, i + 1);
    struct weft_model *m = build(all, n);
    struct weft_viewport vp = whole();
    vp.height_px = 300;
    vp.tips = false;
    vp.no_legend = true;
    struct weft_drawlist list = draw_with(m, vp, "found");
    assert_int_equal(count_draws(&list, WEFT_DRAW_RECT, WEFT_INK_HIT), 2);
    weft_drawlist_fini(&list);
    weft_model_free(m);
    free(all);
}

/* The legend is as high as its lines; texts in it end where the picture does; without one nothing is below the rows. */
TEST(a_legend_is_as_high_as_its_lines)
{
    static char longer[1000];
    const char *note[] = {longer, "short"};
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), creates(100, 1, 2, TASK),
                                 fulfills(900, 1, 2), fulfills(1000, LOOP, 1));
    struct weft_scene *s = lay_out(m, false);
    struct weft_geometry g = {0};
    const int32_t line = 17 * WEFT_PX;
    memset(longer, 'n', sizeof longer - 1);
    for (uint32_t notes = 0; notes <= 2; notes++) {
        struct weft_drawlist list = {0};
        struct weft_viewport vp = whole();
        vp.note = note;
        vp.notes = notes;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        const int32_t height = g.y1 - g.counters_y1 - ((int32_t)notes + 2) * line;
        assert_in_range(height, 0, line - 1);
        assert_true(has_text(&list, weft_kinds[WEFT_KIND_WAITING].text));
        assert_int_equal(has_text(&list, "nnn"), notes > 0);
        for (uint32_t i = 0; i < list.draws; i++)
            if (list.draw[i].op == WEFT_DRAW_TEXT)
                assert_true(list.draw[i].x1 <= list.width - 8 * WEFT_PX);
        vp.no_legend = true;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        assert_false(has_text(&list, weft_kinds[WEFT_KIND_WAITING].text));
        for (uint32_t i = 0; i < list.draws; i++)
            assert_true(list.draw[i].y0 < g.y1);
        weft_drawlist_fini(&list);
    }
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* What can be pointed at says which promise it is. */
TEST(shapes_know_their_promises)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), creates(100, 1, 2, TASK),
                                 fulfills(900, 1, 2), fulfills(1000, LOOP, 1));
    struct weft_drawlist list = draw(m, whole());
    bool found[3] = {0};
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->promise == WEFT_NONE || d->op == WEFT_DRAW_TEXT)
            continue;
        assert_in_range(d->promise, 1, 2);
        found[d->promise] = true;
        char number[8];
        snprintf(number, sizeof number, "#%u", (unsigned)m->promise[d->promise].id);
        assert_int_not_equal(d->tip, WEFT_NO_TIP);
        assert_non_null(memmem(list.texts + d->tip, d->tip_size, number, 2));
    }
    assert_true(found[1] && found[2]);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

TEST(only_what_is_in_the_time_span_is_drawn)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), label(0, 1, "early"), fulfills(1000, LOOP, 1),
              creates(0, LOOP, 2, TASK), creates(5000, LOOP, 3, TASK), label(5000, 3, "late"),
              fulfills(9000, LOOP, 3), label(9000, 2, "long"), fulfills(9001, LOOP, 2));
    struct weft_viewport vp = whole();
    vp.from_ns = 2000;
    vp.to_ns = 3000;
    struct weft_drawlist list = draw(m, vp);
    assert_false(has_text(&list, "early") || has_text(&list, "late"));
    unsigned shapes = 0;
    for (uint32_t i = 0; i < list.draws; i++)
        shapes += list.draw[i].promise != WEFT_NONE && list.draw[i].op == WEFT_DRAW_RECT;
    assert_int_equal(shapes, 1);
    weft_drawlist_fini(&list);
    vp.from_ns = 20000; /* nothing at all */
    vp.to_ns = 30000;
    list = draw(m, vp);
    for (uint32_t i = 0; i < list.draws; i++)
        assert_int_equal(list.draw[i].promise, WEFT_NONE);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

static struct weft_event two_failures_among_many(uint64_t i)
{
    if (i < 3000)
        return creates(0, LOOP, i, TASK);
    return i == 3000   ? fails(250000, LOOP, 101, "first")
           : i == 3001 ? fails(750000, LOOP, 100, "second")
                       : fulfills(1000000, LOOP, i == 3100 + 2 || i == 3101 + 2 ? 0 : i - 3002);
}

/* Rows that are squeezed together still show each failure where it happened. */
TEST(failures_are_seen_from_afar)
{
    struct weft_model *m = build_many(6002, two_failures_among_many);
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    bool seen[2] = {0};
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->ink != WEFT_INK_FAILED)
            continue;
        for (int k = 0; k < 2; k++) {
            int32_t x = list.width / 4 * (k ? 3 : 1);
            seen[k] = seen[k] || (d->x0 < x + 8 * WEFT_PX && d->x1 > x - 8 * WEFT_PX &&
                                  (d->op == WEFT_DRAW_RECT || d->op == WEFT_DRAW_SHADES));
        }
    }
    assert_true(seen[0]);
    assert_true(seen[1]);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* The same list again, from a model and a layout made anew, whose tables are hashed otherwise. */
TEST(the_same_trace_gives_the_same_picture)
{
    struct weft_drawlist list[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        random_state = 7;
        struct weft_model *m = build_many(20000, random_event);
        struct weft_viewport vp = whole();
        vp.selected = 77;
        list[i] = draw_with(m, vp, "1");
        weft_model_free(m);
    }
    assert_int_equal(list[0].draws, list[1].draws);
    assert_int_equal(list[0].text_bytes, list[1].text_bytes);
    assert_memory_equal(list[0].draw, list[1].draw, list[0].draws * sizeof *list[0].draw);
    assert_memory_equal(list[0].texts, list[1].texts, list[0].text_bytes);
    weft_drawlist_fini(&list[0]);
    weft_drawlist_fini(&list[1]);
}

TEST(a_list_can_be_used_again)
{
    random_state = 3;
    struct weft_model *m = build_many(3000, random_event);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0}, fresh = {0};
    struct weft_viewport vp = whole();
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
    vp.from_ns = 5000;
    vp.to_ns = 9000;
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
    assert_int_equal(weft_view_draw(&fresh, NULL, s, &vp), 0);
    assert_int_equal(list.draws, fresh.draws);
    assert_memory_equal(list.draw, fresh.draw, list.draws * sizeof *list.draw);
    weft_drawlist_fini(&list);
    weft_drawlist_fini(&fresh);
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(nothing_at_all)
{
    struct weft_model *m = build(NULL, 0);
    struct weft_scene *s = lay_out(m, false);
    assert_int_equal(s->l->rows, 0);
    for (unsigned i = 0; i < TRY_VIEWPORTS; i++)
        try_view(s, i);
    weft_scene_free(s);
    weft_model_free(m);
}

/* ---- Questions about a picture ---- */

/* Whether something is drawn at a point: a shape, or a shade, not farther than some pixels. */
static bool is_drawn(const struct weft_drawlist *list, int32_t x, int32_t y)
{
    const int32_t near = 4 * WEFT_PX;
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (x + near < d->x0 || x - near > d->x1 || y + 8 * WEFT_PX < d->y0 ||
            y - 8 * WEFT_PX > d->y1)
            continue;
        if (d->op == WEFT_DRAW_RECT && d->promise != WEFT_NONE)
            return true;
        if (d->op != WEFT_DRAW_SHADES || d->ink != WEFT_INK_FOLD)
            continue;
        for (uint32_t k = 0; k < d->count; k++) {
            int32_t x0 = d->x0 + (int32_t)k * d->size;
            if (list->shades[d->first + k] && x0 <= x + near && x0 + d->size >= x - near)
                return true;
        }
    }
    return false;
}

/* Every promise is drawn where it is, and what is picked there is it, or a fold in which it counts. */
static void require_all(const struct weft_scene *s, struct weft_viewport vp)
{
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    for (uint32_t p = 1; p < s->m->promises; p += 1 + s->m->promises / 500) {
        int64_t start = weft_layout_line(s->l, &s->m->promise[p]);
        int64_t end = weft_layout_end(s->l, s->m, p);
        if (end < g.from_ns || start > g.to_ns)
            continue;
        uint32_t at = 0;
        while (at < g.shown && g.shown_row[at] != s->l->row[p])
            at++;
        assert_true(at < g.shown);
        int64_t middle =
            (start > g.from_ns ? start : g.from_ns) / 2 + (end < g.to_ns ? end : g.to_ns) / 2;
        int32_t x = weft_geometry_x(&g, middle), y = (g.shown_y[at] + g.shown_y[at + 1]) / 2;
        if (!is_drawn(&list, x, y))
            print_error("#%" PRIu64 " in row %u at %d, %d is not drawn\n", s->m->promise[p].id,
                        s->l->row[p], x, y);
        assert_true(is_drawn(&list, x, y));
        struct weft_pick pick = weft_view_pick(s, &g, x, y);
        assert_true(pick.kind == WEFT_PLACE_PROMISE || pick.kind == WEFT_PLACE_FOLD ||
                    pick.kind == WEFT_PLACE_ARROW);
        assert_int_not_equal(pick.promise, WEFT_NONE); /* also below an arrow */
        if (pick.kind == WEFT_PLACE_FOLD)
            assert_true(pick.folded > 1);
    }
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
}

TEST(nothing_vanishes)
{
    for (uint64_t seed = 0; seed < 9; seed++) {
        random_state = seed + 100;
        struct weft_model *m = seed == 8 ? build_many(400000, short_ones)
                                         : build_many(UINT64_C(100) << seed, random_event);
        struct weft_scene *s = lay_out(m, false);
        for (int64_t zoom = 1; zoom <= 1000; zoom *= 10) {
            struct weft_viewport vp = whole();
            vp.from_ns = m->end_ns / 3 - (m->end_ns / 3) / zoom;
            vp.to_ns = m->end_ns / 3 + (m->end_ns - m->end_ns / 3) / zoom + 1;
            vp.height_px = 400;
            require_all(s, vp);
            vp.spread = (uint16_t)(250 * (seed % 5));
            vp.focus_row = s->l->rows / 3;
            vp.focus_px = 150;
            require_all(s, vp);
        }
        weft_scene_free(s);
        weft_model_free(m);
    }
}

/* How many promises there are in a row between two times, by asking each. */
static uint32_t count_between(const struct weft_scene *s, uint32_t row, int64_t from, int64_t to,
                              uint32_t *longest)
{
    uint32_t n = 0;
    int64_t most = -1;
    for (uint32_t p = 1; p < s->m->promises; p++) {
        int64_t start = weft_layout_line(s->l, &s->m->promise[p]);
        int64_t end = weft_layout_end(s->l, s->m, p);
        if (s->l->row[p] != row || end < from || start > to)
            continue;
        n++;
        if (end - start > most) {
            most = end - start;
            *longest = p;
        }
    }
    return n;
}

TEST(folds_are_counted_exactly)
{
    struct weft_model *m = build_many(20000, short_ones);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    vp.height_px = 300;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    unsigned folds = 0;
    for (uint32_t lane = 0; lane < g.lanes; lane++)
        for (int32_t x = g.x0; x < g.x1 - 2 * WEFT_PX; x += 38 * WEFT_PX) {
            uint32_t first = g.lane[lane], last = g.lane[lane + 1], n = 0, longest = 0, best = 0;
            int32_t y = (g.shown_y[first] + g.shown_y[last]) / 2;
            struct weft_pick pick = weft_view_pick(s, &g, x, y);
            int64_t from = weft_geometry_time(&g, x), most = -1;
            int64_t to = weft_geometry_time(&g, x + 2 * WEFT_PX) - 1;
            for (uint32_t at = first; at < last; at++) {
                uint32_t more = count_between(s, g.shown_row[at], from, to, &longest);
                const struct weft_promise *p = &m->promise[longest];
                n += more;
                if (more && weft_layout_end(s->l, m, longest) - weft_layout_line(s->l, p) > most) {
                    most = weft_layout_end(s->l, m, longest) - weft_layout_line(s->l, p);
                    best = longest;
                }
            }
            if (pick.folded < 2) /* an arrow may lie above it */
                continue;
            folds++;
            assert_int_equal(pick.folded, n);
            const struct weft_promise *p = &m->promise[pick.promise];
            assert_int_equal(weft_layout_end(s->l, m, pick.promise) - weft_layout_line(s->l, p),
                             most);
            assert_true(best != 0);
        }
    assert_true(folds > 10);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(lines_are_picked)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(100, 1, 2, TASK), fulfills(400, 1, 2),
              creates(600, 1, 3, TASK), fulfills(900, 1, 3), fulfills(1000, LOOP, 1));
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    static const struct {
        int64_t time;
        uint32_t row;
        uint64_t id; /* 0: none */
    } cases[] = {{500, 0, 1}, {110, 1, 2}, {390, 1, 2}, {401, 1, 2},
                 {500, 1, 0}, {599, 1, 3}, {899, 1, 3}, {950, 1, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        int32_t x = weft_geometry_x(&g, cases[i].time);
        int32_t y =
            g.shown_y[cases[i].row + 1] - 5 * WEFT_PX; /* on the line, where no arrow is picked */
        struct weft_pick pick = weft_view_pick(s, &g, x, y);
        assert_int_equal(pick.row, cases[i].row);
        assert_int_equal(pick.kind, cases[i].id ? WEFT_PLACE_PROMISE : WEFT_PLACE_NONE);
        if (cases[i].id)
            assert_int_equal(m->promise[pick.promise].id, cases[i].id);
        assert_in_range(pick.time_ns, cases[i].time - 1, cases[i].time + 1);
    }
    int32_t x = weft_geometry_x(&g, 500);
    assert_true(g.rows_y0 < g.shown_y[0]);
    assert_int_equal(weft_view_pick(s, &g, x, g.rows_y0 + 1).row, 0); /* the nearest one */
    assert_int_equal(weft_view_pick(s, &g, x, g.ruler_y0 + 5).kind, WEFT_PLACE_RULER);
    assert_int_equal(weft_view_pick(s, &g, x, 5).kind, WEFT_PLACE_NONE);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Where several rows share a lane, the row is that of the promise that is picked, wherever in the lane the pointer is. */
TEST(a_row_of_a_lane_is_picked)
{
    enum { ROWS = 2000 };
    struct weft_event *ev = calloc(2 * ROWS, sizeof *ev);
    assert_non_null(ev);
    for (uint64_t i = 0; i < ROWS; i++) {
        ev[i] = creates(i, LOOP, i + 1, TASK);
        ev[ROWS + i] = fulfills(100000 + 10 * i, LOOP, i + 1);
    }
    struct weft_model *m = build(ev, 2 * ROWS);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    unsigned others = 0;
    vp.height_px = 500;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    for (uint32_t lane = 0; lane < g.lanes; lane++) {
        const int32_t x = weft_geometry_x(&g, 50000), y = g.shown_y[g.lane[lane]] + 1;
        const struct weft_pick pick = weft_view_pick(s, &g, x, y);
        assert_int_equal(pick.kind, WEFT_PLACE_FOLD);
        assert_int_equal(pick.folded, g.lane[lane + 1] - g.lane[lane]);
        assert_int_equal(pick.row, s->l->row[pick.promise]);
        assert_in_range(pick.row, g.shown_row[g.lane[lane]], g.shown_row[g.lane[lane + 1] - 1]);
        others += pick.row != g.shown_row[g.lane[lane]];
    }
    assert_true(others > 20);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
    free(ev);
}

/* A picture below another is the same as alone, but for where it is. */
TEST(pictures_lie_one_above_the_other)
{
    random_state = 5;
    struct weft_model *m = build_many(5000, random_event);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist both = {0}, alone = {0};
    struct weft_viewport vp = whole();
    vp.height_px = 300;
    assert_int_equal(weft_view_draw(&alone, NULL, s, &vp), 0);
    assert_int_equal(weft_view_draw(&both, NULL, s, &vp), 0);
    vp.top_px = 300;
    assert_int_equal(weft_view_draw(&both, NULL, s, &vp), 0);
    assert_int_equal(both.height, 600 * WEFT_PX);
    assert_int_equal(both.draws, 2 * alone.draws);
    for (uint32_t i = 0; i < both.draws; i++) {
        const struct weft_draw *a = &alone.draw[i % alone.draws], *b = &both.draw[i];
        int32_t top = i < alone.draws ? 0 : 300 * WEFT_PX;
        assert_true(a->op == b->op && a->ink == b->ink && a->alpha == b->alpha);
        assert_true(a->x0 == b->x0 && a->x1 == b->x1);
        if (a->op != WEFT_DRAW_STEPS)
            assert_true(a->y0 + top == b->y0 && a->y1 + top == b->y1);
        if (a->op == WEFT_DRAW_TEXT)
            assert_memory_equal(alone.texts + a->first, both.texts + b->first, a->count);
        if (a->op == WEFT_DRAW_SHADES)
            assert_memory_equal(alone.shades + a->first, both.shades + b->first, a->count);
    }
    weft_drawlist_fini(&both);
    weft_drawlist_fini(&alone);
    weft_scene_free(s);
    weft_model_free(m);
}

static struct weft_event many_rows(uint64_t i)
{
    return i < 400 ? creates(i, LOOP, i, TASK) : fulfills(10000 + i, LOOP, i - 400);
}

TEST(the_focus_stays_where_it_is)
{
    struct weft_model *m = build_many(800, many_rows);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    vp.height_px = 500;
    vp.no_legend = true;
    for (int spread = 0; spread <= WEFT_SPREAD_MAX; spread += 125)
        for (uint32_t row = 100; row < 300; row += 40) {
            vp.spread = (uint16_t)spread;
            vp.focus_row = row;
            /* Where it lies when all rows are alike, so that every spread can do it. */
            vp.focus_px = 60 + (int32_t)row;
            assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
            assert_int_equal(g.shown, 400);
            assert_true(g.shown_y[0] <= g.rows_y0 + 10 * WEFT_PX);
            assert_true(g.shown_y[400] >= g.rows_y1 - 10 * WEFT_PX);
            int32_t middle = (g.shown_y[row] + g.shown_y[row + 1]) / 2;
            if (spread >= 500)
                assert_in_range(middle, vp.focus_px * WEFT_PX - 2, vp.focus_px * WEFT_PX + 2);
            int32_t height = g.shown_y[row + 1] - g.shown_y[row];
            if (spread == WEFT_SPREAD_MAX)
                assert_in_range(height, 22 * WEFT_PX - 1, 22 * WEFT_PX);
        }
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Rows around a selection keep their height, as many above it as below it; the others have what is left, all of it. */
/* Without a focus or a selection it is the first row that stays where it was asked for. */
TEST(the_first_row_is_the_focus_of_none)
{
    struct weft_model *m = build_many(4000, many_rows);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry first = {0}, none = {0};
    struct weft_viewport vp = whole();
    vp.height_px = 500;
    vp.focus_px = 100;
    for (vp.spread = WEFT_SPREAD_MAX / 4; vp.spread <= WEFT_SPREAD_MAX;
         vp.spread += WEFT_SPREAD_MAX / 4) {
        vp.focus_row = 0;
        assert_int_equal(weft_view_draw(&list, &first, s, &vp), 0);
        vp.focus_row = WEFT_NONE;
        assert_int_equal(weft_view_draw(&list, &none, s, &vp), 0);
        assert_true(none.shown > 500 && none.shown == first.shown);
        assert_memory_equal(none.shown_y, first.shown_y, (none.shown + 1) * sizeof *none.shown_y);
    }
    weft_drawlist_fini(&list);
    weft_geometry_fini(&first);
    weft_geometry_fini(&none);
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(the_selection_is_not_squeezed)
{
    struct weft_model *m = build_many(800, many_rows);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    for (int32_t height_px = 300; height_px <= 1500; height_px += 400)
        for (uint32_t row = 100; row < 300; row += 50) {
            vp.height_px = height_px;
            vp.selected = s->l->spans[s->l->first[row]];
            assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
            assert_int_equal(g.shown, 400);
            uint32_t first = row, last = row;
            const int32_t high = g.shown_y[row + 1] - g.shown_y[row];
            assert_int_equal(high, 22 * WEFT_PX);
            while (first > 0 && g.shown_y[first] - g.shown_y[first - 1] == high)
                first--;
            while (last + 1 < 400 && g.shown_y[last + 2] - g.shown_y[last + 1] == high)
                last++;
            assert_int_equal(last - row, row - first);
            assert_true(last - row >= 3);
            const int32_t above = g.shown_y[first] - g.shown_y[0], least = above / (int32_t)first;
            assert_true(least > 0 && least < high / 2);
            assert_in_range(g.shown_y[400] - g.shown_y[last + 1], least * (399 - (int32_t)last),
                            (least + 1) * (399 - (int32_t)last));
            assert_in_range(g.shown_y[400], g.rows_y1 - 10 * WEFT_PX, g.rows_y1 + 10 * WEFT_PX);
        }
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* ---- Shades, against sums over all promises ---- */

enum { CELLS_MAX = 1000, SHADES = 8 };

struct naive {
    int64_t edge_ns[CELLS_MAX + 1]; /* of the cells */
    double cover[CELLS_MAX], run[CELLS_MAX];
    uint8_t failed[CELLS_MAX]; /* something that is folded fails in it */
};

/* What of a cell is covered, 1 for all of it. */
static void naive_add(double *part, const int64_t *edge_ns, int32_t cells, int64_t start,
                      int64_t end)
{
    for (int32_t i = 0; i < cells; i++) {
        int64_t t0 = edge_ns[i], t1 = edge_ns[i + 1];
        int64_t from = start > t0 ? start : t0, to = end < t1 ? end : t1;
        if (to > from)
            part[i] += (double)(to - from) / (double)(t1 - t0);
    }
}

/* What is folded in a lane, and what runs in it. */
static void naive_lane(struct naive *n, const struct weft_scene *s, const struct weft_geometry *g,
                       uint32_t lane)
{
    const struct weft_layout *l = s->l;
    uint32_t rows = g->lane[lane + 1] - g->lane[lane];
    const int32_t cells = (g->x1 - g->x0) / CELL;
    memset(n, 0, sizeof *n);
    for (int32_t i = 0; i <= cells; i++)
        n->edge_ns[i] = weft_geometry_time(g, g->x0 + i * CELL);
    for (uint32_t at = g->lane[lane]; at < g->lane[lane + 1]; at++)
        for (uint32_t k = l->first[g->shown_row[at]]; k < l->first[g->shown_row[at] + 1]; k++) {
            int64_t end = weft_layout_span_end(l, s->m, k);
            if (end < g->from_ns || l->start[k] > g->to_ns)
                continue;
            int32_t x0 = weft_geometry_x(g, l->start[k]), x1 = weft_geometry_x(g, end);
            x0 = x0 < g->x0 ? g->x0 : x0;
            x1 = x1 > g->x1 ? g->x1 : x1;
            if (rows > 1 || x1 - x0 < g->shape_width) {
                naive_add(n->cover, n->edge_ns, cells, l->start[k], end);
                if (rows > 1 && s->m->promise[l->spans[k]].outcome == WEFT_FAILED &&
                    end <= g->to_ns)
                    n->failed[(x1 - g->x0) / CELL] = 255;
            }
            uint32_t r = s->m->promise[l->spans[k]].first_run;
            for (; r != WEFT_NONE; r = s->m->run[r].next) {
                const struct weft_run *run = &s->m->run[r];
                naive_add(n->run, n->edge_ns, cells, run->start_ns, run->end_ns);
            }
        }
    for (int i = 0; i < CELLS_MAX; i++)
        n->cover[i] /= rows;
}

/* The shades that are drawn in that ink about a height. */
static void drawn_shades(uint8_t *shade, const struct weft_drawlist *list, enum weft_ink ink,
                         const struct weft_geometry *g, int32_t y0, int32_t y1)
{
    memset(shade, 0, CELLS_MAX);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        int32_t y = d->y0 / 2 + d->y1 / 2;
        if (d->op == WEFT_DRAW_SHADES && d->ink == ink && y > y0 && y < y1)
            for (uint32_t k = 0; k < d->count; k++)
                shade[(d->x0 - g->x0) / CELL + (int32_t)k] = list->shades[d->first + k];
    }
}

/* Whether shades are those of parts, up to one of them, and up to a cell in place. */
static unsigned compare_shades(const uint8_t *shade, const double *part, int32_t cells, int base,
                               int steps)
{
    unsigned wrong = 0;
    for (int32_t i = 2; i < cells - 2; i++) {
        double least = part[i], most = part[i];
        for (int32_t k = i - 2; k <= i + 2; k++) {
            least = part[k] < least ? part[k] : least;
            most = part[k] > most ? part[k] : most;
        }
        int found = shade[i] ? (shade[i] - base) * SHADES / steps : 0;
        double low = least * SHADES - 1.05, high = most * SHADES + 2.05;
        bool ok = found >= (low < SHADES - 1 ? low : SHADES - 1) && found <= high;
        if (!ok)
            print_error("cell %d: %d of 8, but %.3f (%.3f to %.3f)\n", i, found, part[i], least,
                        most);
        wrong += !ok;
    }
    return wrong;
}

/* Whether each failure that is marked is one, up to two cells in place, and each failure is marked. */
static unsigned compare_failures(const uint8_t *shade, const uint8_t *failed, int32_t cells)
{
    unsigned wrong = 0;
    for (int32_t i = 2; i < cells - 2; i++) {
        bool ok = (!shade[i] || memchr(failed + i - 2, 255, 5)) &&
                  (!failed[i] || memchr(shade + i - 2, 255, 5));
        if (!ok)
            print_error("cell %d: %s\n", i, shade[i] ? "no failure" : "a failure is not shown");
        wrong += !ok;
    }
    return wrong;
}

static unsigned failures; /* cells in which something failed */

static void require_shades(const struct weft_scene *s, struct weft_viewport vp)
{
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    static struct naive naive;
    uint8_t shade[CELLS_MAX];
    unsigned wrong = 0;
    vp.tips = false;
    vp.no_legend = true;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    int32_t cells = (g.x1 - g.x0) / CELL;
    uint32_t step = g.lanes / 12 + 1;
    for (uint32_t lane = 0; lane < g.lanes && wrong < 20; lane += step) {
        int32_t y0 = g.shown_y[g.lane[lane]], y1 = g.shown_y[g.lane[lane + 1]];
        if (y1 - y0 < 2 * WEFT_PX)
            continue;
        naive_lane(&naive, s, &g, lane);
        drawn_shades(shade, &list, WEFT_INK_FOLD, &g, y0, y1);
        bool several = g.lane[lane + 1] - g.lane[lane] > 1;
        wrong += compare_shades(shade, naive.cover, cells, several ? 24 : 40, several ? 80 : 160);
        drawn_shades(shade, &list, WEFT_INK_RUN, &g, y0, y1);
        if (several)
            wrong += compare_shades(shade, naive.run, cells, 0, 200);
        drawn_shades(shade, &list, WEFT_INK_FAILED, &g, y0, y1);
        for (int32_t k = 0; k < cells; k++)
            shade[k] = shade[k] ? 255 : 0;
        if (several)
            wrong += compare_failures(shade, naive.failed, cells);
        for (int32_t k = 0; k < cells; k++)
            failures += naive.failed[k] != 0;
        if (wrong)
            print_error("lane %u of %u, %u rows, from %" PRId64 " to %" PRId64 "\n", lane, g.lanes,
                        g.lane[lane + 1] - g.lane[lane], g.from_ns, g.to_ns);
    }
    assert_int_equal(wrong, 0);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
}

/* Requests that run now and then; about as many rows as are alive. */
/* Where lines are few, the index has intervals of equal length, up to the end. */
TEST(silence_is_divided_evenly)
{
    enum { LINES = 200, LENGTH = 10000 };
    struct weft_event ev[2 * LINES];
    for (uint64_t i = 0; i < LINES; i++) {
        ev[2 * i] = creates(2 * i, LOOP, i + 1, TASK);
        ev[2 * i + 1] = fulfills(i + 1 < LINES ? 2 * i + 1 : LENGTH, LOOP, i + 1);
    }
    struct weft_model *m = build(ev, COUNT(ev));
    struct weft_scene *s = lay_out(m, false);
    const struct weft_index *x = s->x;
    assert_int_equal(s->l->rows, 1);
    assert_int_equal(x->time[0], 0);
    assert_int_equal(x->time[x->buckets], LENGTH + 1);
    for (uint32_t b = 0; b < x->buckets; b++)
        assert_in_range(x->time[b + 1] - x->time[b], 1, LENGTH / (LINES / 2 + 1) + 1);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Of the few long ones of many none is passed over, and where none can be the search goes on. */
TEST(long_ones_are_found)
{
    enum { ITEMS = 5000, END = ITEMS - 7, LONG = 100 };
    static const uint32_t some[] = {0, 15, 16, 40, 255, 256, 1000, 1024, 2100, 4500, 4990};
    int64_t blocks[ITEMS / VIEW_BLOCK + 1] = {0};
    int64_t more[ITEMS / VIEW_BLOCK / VIEW_BLOCK + 1] = {0};
    const struct view_lengths l = {{blocks, more}};
    for (size_t i = 0; i < COUNT(some); i++)
        blocks[some[i] / VIEW_BLOCK] = more[some[i] / VIEW_BLOCK / VIEW_BLOCK] = LONG;
    for (uint32_t from = 0, next = 0; from < END; from++) {
        while (next < COUNT(some) && some[next] / VIEW_BLOCK < from / VIEW_BLOCK)
            next++;
        const uint32_t block = next < COUNT(some) ? some[next] / VIEW_BLOCK * VIEW_BLOCK : END;
        assert_int_equal(view_next_long(&l, from, END, LONG), block > from ? block : from);
        assert_int_equal(view_next_long(&l, from, END, LONG + 1), END);
        assert_int_equal(view_next_long(&l, from, END, 0), from);
    }
}

static uint64_t alive, gap_ns;
static bool failing; /* one of them in 50 */

static struct weft_event requests(uint64_t i)
{
    uint64_t p = i / 3, t = gap_ns * p;
    switch (i % 3) {
    case 0:
        return creates(t, LOOP, p, TASK);
    case 1:
        return switches(t + gap_ns / 4, p % 5 ? p - random_below(p < 20 ? p + 1 : 20) : LOOP);
    default:
        break;
    }
    if (p < alive)
        return label(t, p, "begins");
    uint64_t ended = p - alive + random_below(alive / 2 + 1);
    return !failing || p % 50 ? fulfills(t + gap_ns / 2, LOOP, ended)
                              : fails(t + gap_ns / 2, LOOP, ended, "refused");
}

/* Both ways to fold, line by line (few can be seen) and from the index (many), must give what a sum over all
 * lines gives; so they agree with one another. */
TEST(shades_are_sums)
{
    static const uint64_t rows[] = {3, 40, 300, 3000, 20000};
    for (size_t i = 0; i < COUNT(rows); i++) {
        random_state = i;
        alive = rows[i];
        gap_ns = 1000;
        failing = true;
        struct weft_model *m = build_many(600000, requests);
        failing = false;
        struct weft_scene *s = lay_out(m, false);
        failures = 0;
        static const int64_t part[] = {1, 7, 60, 500, 5000, 50000};
        for (size_t k = 0; k < COUNT(part); k++) {
            struct weft_viewport vp = whole();
            vp.width_px = 800;
            vp.height_px = k % 2 ? 300 : 800;
            vp.from_ns = m->end_ns / 3;
            vp.to_ns = vp.from_ns + m->end_ns / 2 / part[k];
            require_shades(s, vp);
        }
        assert_true(failures > 20 || rows[i] < 300);
        weft_scene_free(s);
        weft_model_free(m);
    }
}

/* Rows that the index knows only together are in one lane, if so many lines are in them that it is needed. */
TEST(lanes_do_not_divide_what_is_crowded)
{
    random_state = 1;
    alive = 3000;
    gap_ns = 1000;
    struct weft_model *m = build_many(300000, requests);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    vp.tips = false;
    unsigned edges = 0;
    for (int32_t height = 300; height <= 1500; height += 300) {
        vp.height_px = height;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        assert_true(g.lanes > 20);
        for (uint32_t lane = 1; lane < g.lanes; lane++) {
            const uint32_t row = g.shown_row[g.lane[lane]], block = s->x->block_of[row];
            const uint32_t *rows = &s->x->block_row[block];
            const uint32_t lines = s->l->first[rows[1]] - s->l->first[rows[0]];
            edges += lines > 300;
            if (lines > 300 && g.lane[lane] - g.lane[lane - 1] > 1)
                assert_int_equal(row, rows[0]);
        }
    }
    assert_true(edges > 20);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* So many lines in each of 768 rows, one after another; the index knows three rows together. */
static uint64_t lines_a_row;

static struct weft_event in_768_rows(uint64_t i)
{
    const uint64_t column = i / (2 * 768), at = i % (2 * 768), id = column * 768 + at % 768 + 1;
    return at < 768 ? creates(column * 10000 + at, LOOP, id, TASK)
                    : fulfills(column * 10000 + 8000 + at, LOOP, id);
}

/* 300 lines are few enough to tell the rows of a block apart, more are not. */
TEST(lanes_divide_what_is_not_crowded)
{
    for (lines_a_row = 100; lines_a_row <= 101; lines_a_row++) {
        struct weft_model *m = build_many(2 * 768 * lines_a_row, in_768_rows);
        struct weft_scene *s = lay_out(m, false);
        struct weft_drawlist list = {0};
        struct weft_geometry g = {0};
        struct weft_viewport vp = whole();
        unsigned divided = 0;
        vp.height_px = 1600;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        assert_int_equal(g.shown, 768);
        assert_int_equal(s->x->block_row[1], 3);
        for (uint32_t lane = 0; lane < g.lanes; lane++)
            divided += s->x->block_row[s->x->block_of[g.lane[lane]]] != g.lane[lane];
        assert_int_equal(divided > 0, 3 * lines_a_row <= 300);
        weft_drawlist_fini(&list);
        weft_geometry_fini(&g);
        weft_scene_free(s);
        weft_model_free(m);
    }
}

/* What a cell of the picture consists of is added up in few steps: neighbours are in one group. */
TEST(neighbours_are_mixed_together)
{
    enum { CELLS = 800 * PX / CELL };
    random_state = 1;
    alive = 3000;
    gap_ns = 1000;
    struct weft_model *m = build_many(300000, requests);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct canvas c = {.list = &list, .m = m, .l = s->l, .x = s->x, .to_ns = m->end_ns};
    c.x1 = CELLS * CELL;
    axis_init(&c.axis, NULL, c.from_ns, c.to_ns, c.x0, c.x1);
    const struct mix *x = canvas_mix(&c, CELLS);
    assert_true(x->useful);
    const uint32_t last = s->x->level_at[s->x->levels] - MIX_WIDE;
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        unsigned sum = 0;
        for (uint32_t g = x->first[cell]; g < x->first[cell + 1]; g++) {
            for (uint32_t h = g + 1; h < x->first[cell + 1]; h++)
                assert_true(x->group[h].at - x->group[g].at >= MIX_WIDE || x->group[h].at == last);
            for (int i = 0; i < MIX_WIDE; i++)
                sum += x->group[g].weight[i];
        }
        assert_in_range(sum, 200, 257);
    }
    canvas_free_mix(&c);
    weft_scene_free(s);
    weft_model_free(m);
}

/* How much of what is drawn as folds is red, in per cent; opacity counts. */
static double red_of(const struct weft_scene *s, int32_t height_px)
{
    struct weft_drawlist list = {0};
    struct weft_viewport vp = whole();
    double all = 0, red = 0;
    vp.height_px = height_px;
    vp.no_legend = true;
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        double height = (d->y1 - d->y0) / (double)WEFT_PX;
        for (uint32_t k = 0; d->op == WEFT_DRAW_SHADES && k < d->count; k++) {
            uint8_t shade = list.shades[d->first + k];
            red += d->ink == WEFT_INK_FAILED ? height * shade / 255 : 0;
            all += d->ink == WEFT_INK_FOLD && shade ? height : 0;
        }
    }
    weft_drawlist_fini(&list);
    return all > 0 ? 100 * red / all : -1;
}

/* One failure among many promises is a small mark; if half of them fail, that is what one sees. */
static uint32_t fails_of_1000;

static struct weft_event some_fail(uint64_t i)
{
    uint64_t p = i / 2, t = 100 * p;
    if (i % 2 == 0)
        return creates(t, LOOP, p + 1, TASK);
    if (p < 64)
        return label(t, p + 1, "begins");
    p -= 64;
    return random_below(1000) < fails_of_1000 ? fails(t + 50, LOOP, p + 1, "refused")
                                              : fulfills(t + 50, LOOP, p + 1);
}

TEST(failures_look_like_their_share)
{
    static const struct {
        uint32_t of_1000;
        double least, most; /* per cent; marks also cover the pixel between two lanes */
    } cases[] = {{2, 0.1, 12}, {20, 1, 40}, {900, 70, 150}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        random_state = 7;
        fails_of_1000 = cases[i].of_1000;
        struct weft_model *m = build_many(800000, some_fail);
        struct weft_scene *s = lay_out(m, false);
        for (int32_t height = 250; height <= 1000; height += 250) {
            double red = red_of(s, height);
            if (red < cases[i].least || red > cases[i].most)
                print_error("%u of 1000 failed, %d px: %.2f %% are red\n", fails_of_1000, height,
                            red);
            assert_true(red >= cases[i].least && red <= cases[i].most);
        }
        weft_scene_free(s);
        weft_model_free(m);
    }
}

enum { FINE_ROWS = 200, FAILING_ROWS = 200 };

/* All begin at one moment and end at another; the lower half fails. */
static struct weft_event upper_and_lower(uint64_t i)
{
    const uint64_t rows = FINE_ROWS + FAILING_ROWS, p = i - 1;
    if (i == 0 || i > 2 * rows)
        return label(i ? 10000 : 0, LOOP, "nothing");
    if (p < rows)
        return creates(5000, LOOP, p + 1, TASK);
    return p - rows < FINE_ROWS ? fulfills(8000, LOOP, p - rows + 1)
                                : fails(8000, LOOP, p - rows + 1, "refused");
}

/* How many end well in one lane makes the failures of another one no smaller. */
TEST(where_all_fail_the_mark_is_as_high_as_the_lane)
{
    struct weft_model *m = build_many(2 * (FINE_ROWS + FAILING_ROWS) + 2, upper_and_lower);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    unsigned marks = 0, lanes = 0;
    vp.height_px = 600;
    vp.tips = false;
    vp.no_legend = true;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    for (uint32_t lane = 0; lane < g.lanes; lane++) {
        const int32_t y0 = g.shown_y[g.lane[lane]], y1 = g.shown_y[g.lane[lane + 1]];
        if (g.shown_row[g.lane[lane]] < FINE_ROWS || g.lane[lane + 1] - g.lane[lane] == 1)
            continue;
        lanes++;
        for (uint32_t i = 0; i < list.draws; i++) {
            const struct weft_draw *d = &list.draw[i];
            if (d->op == WEFT_DRAW_SHADES && d->ink == WEFT_INK_FAILED &&
                d->y0 / 2 + d->y1 / 2 > y0 && d->y0 / 2 + d->y1 / 2 < y1) {
                marks++;
                assert_int_equal(d->count, 1);
                assert_int_equal(list.shades[d->first], 255);
                assert_in_range(d->y1 - d->y0, y1 - y0 - WEFT_PX, y1 - y0 + WEFT_PX);
            }
        }
    }
    assert_true(lanes > 20);
    assert_int_equal(marks, lanes);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

static struct weft_event one_of_1009_fails(uint64_t i)
{
    const uint64_t rows = 8, p = i / 2, t = 100 * p;
    if (i % 2 == 0)
        return creates(t, LOOP, p + 1, TASK);
    if (p < rows)
        return label(t, p + 1, "begins");
    return p % 1009 ? fulfills(t + 50, LOOP, p - rows + 1)
                    : fails(t + 50, LOOP, p - rows + 1, "refused");
}

/* A cell counts only its own failures. */
TEST(one_failure_of_many_is_a_small_mark)
{
    struct weft_model *m = build_many(400000, one_of_1009_fails);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    unsigned marks = 0;
    vp.width_px = 800;
    vp.tips = false;
    vp.no_legend = true;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    const int32_t high = (g.shown_y[g.shown] - g.shown_y[0]) / (int32_t)g.lanes;
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->op != WEFT_DRAW_SHADES || d->ink != WEFT_INK_FAILED)
            continue;
        assert_true(d->y1 - d->y0 <= high / 3);
        marks++;
    }
    assert_in_range(marks, 100, 200);
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Many rows that only wait: what runs there can be seen. */
static struct weft_event all_wait(uint64_t i)
{
    const uint64_t rows = 240, end = 100000;
    if (i < rows)
        return creates(i, LOOP, i + 1, TASK);
    return i < 2 * rows ? fulfills(end + i, LOOP, i - rows + 1) : switches(end + i, LOOP);
}

TEST(waiting_is_no_wall)
{
    struct weft_model *m = build_many(481, all_wait);
    struct weft_scene *s = lay_out(m, false);
    for (int32_t height = 300; height <= 3000; height += 300) {
        struct weft_drawlist list = {0};
        struct weft_geometry g = {0};
        struct weft_viewport vp = whole();
        double dark = 0;
        vp.height_px = height;
        vp.no_legend = true;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        for (uint32_t i = 0; i < list.draws;
             i++) { /* in the middle of the picture, from top to bottom */
            const struct weft_draw *d = &list.draw[i];
            int32_t x = (g.x0 + g.x1) / 2;
            double high = d->y1 - d->y0;
            if (d->x0 > x || d->x1 < x)
                continue;
            if (d->op == WEFT_DRAW_SHADES && d->ink == WEFT_INK_FOLD)
                dark += high * list.shades[d->first + (uint32_t)((x - d->x0) / d->size)] / 255;
            else if (d->op == WEFT_DRAW_RECT && d->ink == WEFT_INK_WAIT)
                dark += high * d->alpha / 255;
        }
        dark /= g.shown_y[g.shown] - g.shown_y[0];
        if (dark < 0.05 || dark > 0.45)
            print_error("%d px: %.2f are covered\n", height, dark);
        assert_true(dark >= 0.05 && dark <= 0.45);
        weft_drawlist_fini(&list);
        weft_geometry_fini(&g);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* One row of promises, each as long as an interval of the index: every other one is long and runs all the time. */
static struct weft_event by_turns(uint64_t i)
{
    const uint64_t p = i / 3, at = 1000 * p;
    const bool runs = p % 2 == 0;
    switch (i % 3) {
    case 0:
        return creates(at, LOOP, p + 1, TASK);
    case 1:
        return switches(at, runs ? p + 1 : LOOP);
    default:
        return fulfills(at + (runs ? 990 : 10), LOOP, p + 1);
    }
}

/* Where each cell shows two intervals of the index, one full and one nearly empty, each cell is half full. */
TEST(each_interval_of_a_cell_counts)
{
    struct weft_model *m = build_many(3 * 20000, by_turns);
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    uint8_t cover[CELLS_MAX], run[CELLS_MAX];
    vp.width_px = 800;
    vp.tips = false;
    vp.no_legend = true;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    const int32_t cells = (g.x1 - g.x0) / CELL;
    for (int64_t from = 6000000; from < 6002000; from += 250) {
        vp.from_ns = from;
        vp.to_ns = from + 2000 * cells;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        assert_int_equal(g.shown, 1);
        drawn_shades(cover, &list, WEFT_INK_FOLD, &g, g.shown_y[0], g.shown_y[1]);
        drawn_shades(run, &list, WEFT_INK_RUN, &g, g.shown_y[0], g.shown_y[1]);
        for (int32_t i = 1; i < cells - 1; i++)
            if (cover[i] < 100 || cover[i] > 140 || run[i] < 75 || run[i] > 125)
                fail_msg("from %" PRId64 ", cell %d: %d are covered, %d run", from, i, cover[i],
                         run[i]);
    }
    weft_drawlist_fini(&list);
    weft_geometry_fini(&g);
    weft_scene_free(s);
    weft_model_free(m);
}

enum { LINE_ROWS = 40, LINES_OF_A_ROW = 240, LINE_NS = 1000 };

/* Rows full of lines, of which every other one is wide. */
static struct weft_event wide_and_narrow(uint64_t i)
{
    const uint64_t p = i / 2, at = p / LINE_ROWS * LINE_NS;
    const uint64_t length = p / LINE_ROWS % 2 ? 990 : 550;
    return i % 2 ? fulfills(at + length, LOOP, p + 1) : creates(at, LOOP, p + 1, TASK);
}

/* If more lines could be drawn than a painter can in time, the widest ones are, in every row. */
TEST(the_widest_lines_are_drawn)
{
    struct weft_event *ev = calloc(2 * LINE_ROWS * LINES_OF_A_ROW, sizeof *ev);
    size_t n = 0;
    assert_non_null(ev);
    for (uint64_t k = 0; k < LINES_OF_A_ROW; k++) {
        for (uint64_t row = 0; row < LINE_ROWS; row++)
            ev[n++] = wide_and_narrow(2 * (k * LINE_ROWS + row));
        for (uint64_t row = 0; row < LINE_ROWS; row++)
            ev[n++] = wide_and_narrow(2 * (k * LINE_ROWS + row) + 1);
    }
    struct weft_model *m = build(ev, n);
    free(ev);
    struct weft_viewport vp = whole();
    vp.tips = false;
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    unsigned drawn[2] = {0}; /* narrow, wide */
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->op == WEFT_DRAW_RECT && d->promise != WEFT_NONE)
            drawn[(m->promise[d->promise].id - 1) / LINE_ROWS % 2]++;
    }
    assert_int_equal(drawn[0], 0);
    assert_int_equal(drawn[1], LINE_ROWS * LINES_OF_A_ROW / 2);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

static struct weft_event silence_and_burst(uint64_t i)
{
    const uint64_t minute = UINT64_C(60000000000);
    struct weft_event ev = requests(i);
    ev.time_ns += i < 30 ? 0 : i < 1499970 ? 30 * minute : 60 * minute;
    return ev;
}

/* An hour in which there is a burst of a second, seen from afar and from near. */
TEST(a_burst_in_an_hour_of_silence)
{
    const int64_t half = INT64_C(1800000000000);
    random_state = 1;
    alive = 500;
    gap_ns = 2000;
    struct weft_model *m = build_many(1500000, silence_and_burst);
    struct weft_scene *s = lay_out(m, false);
    static const int64_t length[] = {
        4 * INT64_C(1800000000000), 2000000000, 1000000000, 100000000, 10000000, 1000000, 10000};
    for (size_t i = 0; i < COUNT(length); i++) {
        struct weft_viewport vp = whole();
        vp.width_px = 800;
        vp.height_px = 600;
        vp.from_ns = half + 300000000 - length[i] / 3;
        vp.to_ns = vp.from_ns + length[i];
        require_shades(s, vp);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* ---- Damaged traces, and what is asked for ---- */

static struct weft_event backwards(uint64_t i)
{
    uint64_t t = 1000 * (40000 - i);
    if (i < 100)
        return creates(0, LOOP, i, TASK);
    if (i < 200)
        return fulfills(41000000, LOOP, i - 100);
    return i % 2 ? try_read(t, i % 97, i % 89 + 1) : counter(t, 1, (int64_t)(i % 1000), "level");
}

/* Wherever one looks, there are arrows and changes, whatever the order of recording. */
TEST(times_may_run_backwards)
{
    struct weft_model *m = build_many(40000, backwards);
    for (int64_t from = 1000000; from < 38000000; from += 4000000) {
        struct weft_viewport vp = whole();
        vp.from_ns = from;
        vp.to_ns = from + 1000000;
        vp.no_legend = true;
        struct weft_drawlist list = draw(m, vp);
        assert_true(count_draws(&list, WEFT_DRAW_ARROW, WEFT_INK_WAITS) > 20);
        assert_true(list.point_count > 200);
        weft_drawlist_fini(&list);
    }
    weft_model_free(m);
}

TEST(counters_can_be_switched_off)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), counter(10, 1, 5, "queue"), counter(20, 1, 50000, "bytes"),
              counter(500, 1, 7, "queue"), fulfills(1000, LOOP, 1));
    assert_int_equal(m->counters, 2);
    int queue = strcmp(weft_model_text(m, m->counter[0].name, NULL), "queue") != 0;
    for (unsigned bits = 0; bits < 4; bits++) {
        uint8_t off[2] = {bits & 1, bits >> 1 & 1};
        struct weft_viewport vp = whole();
        vp.counter_off = off;
        struct weft_drawlist list = draw(m, vp);
        assert_int_equal(has_text(&list, "queue 7"), !off[queue]);
        assert_int_equal(has_text(&list, "bytes 50000"), !off[!queue]);
        assert_int_equal(count_draws(&list, WEFT_DRAW_STEPS, WEFT_INK_COUNTER_0) +
                             count_draws(&list, WEFT_DRAW_STEPS, WEFT_INK_COUNTER_1),
                         !off[0] + !off[1]);
        weft_drawlist_fini(&list);
    }
    weft_model_free(m);
}

/* A loop that sleeps while many promises are pending, of which some have long names. */
static struct weft_model *rows_asleep(uint64_t rows, uint64_t named, uint64_t named_end)
{
    struct weft_event *ev = calloc(3 * rows + 2, sizeof *ev);
    uint32_t n = 0;
    assert_non_null(ev);
    for (uint64_t i = 0; i < rows; i++) {
        ev[n++] = creates(i ? 500 : 0, LOOP, i + 1, TASK);
        if (i >= named && i < named_end)
            ev[n++] = label(i ? 500 : 0, i + 1, "a name that is so long that it lies over others");
    }
    ev[n++] = switches(510, LOOP);
    ev[n++] = switches(900, 1);
    for (uint64_t i = 0; i < rows; i++)
        ev[n++] = fulfills(1000, LOOP, i + 1);
    struct weft_model *m = build(ev, n);
    free(ev);
    return m;
}

/* Letters reach three quarters of their size above the line that they stand on, and one quarter below it. */
static bool lies_over(const struct weft_draw *a, const struct weft_draw *b)
{
    return a->op == WEFT_DRAW_TEXT && b->op == WEFT_DRAW_TEXT && a->x0 < b->x1 && b->x0 < a->x1 &&
           a->y0 - b->y0 < (3 * a->size + b->size) / 4 &&
           b->y0 - a->y0 < (3 * b->size + a->size) / 4;
}

/* Draws it so high, as far as the rows need if that is 0; no text lies over another one. Returns whether the region has its name. */
static bool names_its_region(const struct weft_model *m, int32_t height_px)
{
    struct weft_viewport vp = whole();
    vp.height_px = height_px;
    struct weft_drawlist list = draw(m, vp);
    for (uint32_t i = 0; i < list.draws; i++)
        for (uint32_t k = 0; k < i; k++)
            if (lies_over(&list.draw[i], &list.draw[k]))
                fail_msg("'%.*s' lies over '%.*s'", (int)list.draw[i].count,
                         list.texts + list.draw[i].first, (int)list.draw[k].count,
                         list.texts + list.draw[k].first);
    assert_true(count_draws(&list, WEFT_DRAW_RECT, WEFT_INK_SLEEP) > 0);
    const bool named = count_draws(&list, WEFT_DRAW_TEXT, WEFT_INK_REGION_TEXT) > 0;
    weft_drawlist_fini(&list);
    return named;
}

/* Where names of low rows reach up to it, "sleeping" is left out with its ground; nothing else is. */
TEST(names_of_regions_give_way)
{
    enum { ROWS = 150, NAMED_MOST = 60 };
    uint32_t left_out = 0;
    struct weft_model *m = rows_asleep(ROWS, 0, 4);
    assert_false(names_its_region(m, 700));
    assert_true(names_its_region(m, 0));
    weft_model_free(m);
    for (uint64_t named = 1; named <= NAMED_MOST; named++) {
        m = rows_asleep(ROWS, named, named + 2);
        left_out += !names_its_region(m, 700);
        weft_model_free(m);
    }
    assert_in_range(left_out, 1, NAMED_MOST - 1);
}

/* What the index says of blocks of changes is true of each counter, wherever its changes begin among those of all. */
TEST(extremes_are_those_of_the_changes)
{
    enum { CHANGES = 1000, FEW = 3 };
    struct weft_event ev[CHANGES];
    random_state = 7;
    for (uint64_t i = 0; i < CHANGES; i++)
        ev[i] = counter(i, LOOP, (int64_t)random_below(1000), i % 100 < FEW ? "a" : "b");
    struct weft_model *m = build(ev, CHANGES);
    struct weft_scene *s = lay_out(m, false);
    const struct weft_index *x = s->x;
    assert_int_equal(m->counters, 2);
    for (uint32_t k = 0; k < m->counters; k++)
        for (uint32_t first = x->change_first[k], n = 0; first < x->change_first[k + 1]; n++) {
            const struct view_extremes *e = &x->extremes[x->extremes_first[k] + n];
            const struct weft_change *c = &m->change[x->change[first]];
            struct view_extremes is = {.time_ns = c->time_ns, .min = c->value, .max = c->value};
            for (int i = 0; i < VIEW_CHANGES && first < x->change_first[k + 1]; i++) {
                is.last = m->change[x->change[first++]].value;
                is.min = is.last < is.min ? is.last : is.min;
                is.max = is.last > is.max ? is.last : is.max;
            }
            assert_memory_equal(e, &is, sizeof is);
        }
    weft_scene_free(s);
    weft_model_free(m);
}

/* Many rows leave counters low strips; where there is no room for all, the last strip says so. */
TEST(counters_beside_many_rows)
{
    enum { ROWS = 300 };
    struct weft_event ev[ROWS + 4];
    for (uint64_t i = 0; i < ROWS; i++)
        ev[i] = creates(i, LOOP, i + 1, TASK);
    ev[ROWS] = counter(500, 1, 5, "queue");
    ev[ROWS + 1] = counter(600, 1, 50000, "bytes");
    ev[ROWS + 2] = counter(700, 1, 7, "clients");
    ev[ROWS + 3] = fulfills(1000, LOOP, 1);
    struct weft_model *m = build(ev, ROWS + 4);
    struct weft_viewport vp = whole();
    vp.height_px = 700;
    struct weft_drawlist list = draw(m, vp);
    assert_true(has_text(&list, "queue 5"));
    assert_true(has_text(&list, "bytes 50000"));
    assert_true(has_text(&list, "clients 7"));
    weft_drawlist_fini(&list);
    vp.height_px = 220;
    list = draw(m, vp);
    assert_true(has_text(&list, "bytes 50000"));
    assert_false(has_text(&list, "queue 5"));
    assert_true(has_text(&list, "50000; no room for 2 more strips"));
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* Where the first line of a counter begins, and how high it is there. */
static const struct weft_point *first_point(const struct weft_drawlist *list, enum weft_ink ink)
{
    for (uint32_t i = 0; i < list->draws; i++)
        if (list->draw[i].op == WEFT_DRAW_STEPS && list->draw[i].ink == ink)
            return &list->points[list->draw[i].first];
    return NULL;
}

/* Of a ring that has wrapped: a change that says its old value tells what there was before; another one does not. Nobody
 * takes it for 0. */
TEST(counters_of_a_wrapped_ring)
{
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        struct trace t = {.fd = -1};
        struct weft_event less = increases(5 * MILLION, 1, -2, "queue"),
                          more = increases(8 * MILLION, 1, 10, "queue");
        less.has_total = more.has_total = true;
        less.total = 40;
        more.total = 50;
        facts_packet(&t,
                     (struct weft_facts_header){.overwritten_packets = wrapped ? 6 : 0,
                                                .overwritten_events = wrapped ? 100 : 0},
                     "");
        events_begin(&t, (struct weft_events_header){.sequence = wrapped ? 7 : 1});
        events_put(&t, creates(0, LOOP, 1, 0), 0);
        events_put(&t, less, 0);
        events_put(&t, counter(6 * MILLION, 1, 7, "level"), 0);
        events_put(&t, more, 0);
        events_put(&t, switches(10 * MILLION, LOOP), 0);
        struct weft_model *m = trace_model(&t);
        struct weft_scene *s = lay_out(m, false);
        assert_int_equal(m->counters, 2); /* level, queue */
        static const struct {
            int64_t time_ns, level, queue;
        } values[] = {{0, 0, 42},
                      {5 * MILLION - 1, 0, 42},
                      {5 * MILLION, 0, 40},
                      {7 * MILLION, 7, 40},
                      {9 * MILLION, 7, 50}};
        for (unsigned i = 0; i < COUNT(values); i++) {
            int64_t level = -1, queue = -1;
            assert_int_equal(weft_view_counter_at(&level, s, 0, values[i].time_ns),
                             !wrapped || values[i].level);
            assert_int_equal(level, values[i].level);
            assert_true(weft_view_counter_at(&queue, s, 1, values[i].time_ns));
            assert_int_equal(queue, values[i].queue);
        }
        int64_t before;
        assert_int_equal(weft_view_counter_at(&before, s, 1, -1), !wrapped);
        struct weft_viewport vp = whole();
        vp.to_ns = 10 * MILLION;
        struct weft_drawlist all = draw(m, vp);
        const struct weft_point *level = first_point(&all, WEFT_INK_COUNTER_0),
                                *queue = first_point(&all, WEFT_INK_COUNTER_1);
        assert_true(level && queue);
        assert_int_equal(level->x > queue->x, wrapped);
        /* a line that begins at its value before has a step down by 2 of 50, then up by 10 */
        assert_true(queue[0].y == queue[1].y && queue[1].y < queue[2].y);
        vp.to_ns = 4 * MILLION;
        struct weft_drawlist early = draw(m, vp);
        assert_true(has_text(&early, "queue 42"));
        assert_int_equal(has_text(&early, "level: not known"), wrapped);
        assert_int_equal(has_text(&early, "level 0"), !wrapped);
        weft_drawlist_fini(&all);
        weft_drawlist_fini(&early);
        weft_scene_free(s);
        weft_model_free(m);
    }
}

static const struct weft_draw *text_of(const struct weft_drawlist *list, const char *text)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->count == strlen(text) &&
            memcmp(list->texts + d->first, text, d->count) == 0)
            return d;
    }
    return NULL;
}

static int32_t font_of(const struct weft_drawlist *list, const char *text)
{
    const struct weft_draw *d = text_of(list, text);
    return d ? d->size : 0;
}

TEST(texts_have_the_size_asked_for)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), label(0, 1, "name"),
                                 creates(5, LOOP, 2, TASK), fulfills(1000000, LOOP, 1));
    static const uint16_t percent[] = {50, 75, 100, 150, 200, 300};
    int32_t height = 0;
    for (size_t i = 0; i < COUNT(percent); i++) {
        struct weft_viewport vp = whole();
        vp.text_percent = percent[i];
        struct weft_drawlist list = draw(m, vp);
        assert_int_equal(font_of(&list, "name"), 11 * WEFT_PX * percent[i] / 100);
        assert_true(list.height > height);
        height = list.height;
        weft_drawlist_fini(&list);
    }
    weft_model_free(m);
    struct weft_viewport vp = whole();
    m = BUILD(creates(0, LOOP, 1, TASK), fulfills(1000000, LOOP, 1));
    struct weft_scene *s = lay_out(m, false);
    struct weft_drawlist list = {0};
    vp.text_percent = 49;
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), WEFT_E_INVALID);
    vp.text_percent = 301;
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), WEFT_E_INVALID);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Whether something is drawn left of a name that looks like what it names. */
static bool has_sample(const struct weft_drawlist *list, const struct weft_legend_item *item)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        const int32_t y = (d->y0 + d->y1) / 2;
        if (d->op != WEFT_DRAW_TEXT && d->ink == weft_kinds[item->kind].ink && d->x0 >= item->x0 &&
            d->x1 <= item->x0 + 26 * WEFT_PX && y > item->y0 && y < item->y1 &&
            (d->x1 > d->x0 || d->y1 > d->y0))
            return true;
    }
    return false;
}

/* A legend of its own has texts of the size asked for, and lines in proportion. */
TEST(legends_have_the_size_asked_for)
{
    static const uint16_t percent[] = {50, 90, 100, 210};
    for (size_t i = 0; i < COUNT(percent); i++) {
        struct weft_legend l = {.top_px = 40,
                                .width_px = 400,
                                .lines = 2,
                                .text_percent = percent[i],
                                .hidden = weft_kind_bit(WEFT_KIND_RUNNING),
                                .pointed = WEFT_KINDS};
        struct weft_drawlist list = {0};
        for (unsigned k = 0; k < WEFT_KINDS; k++)
            l.kind[k] = (struct weft_kind_seen){.count = 1000 * k, .seen = true};
        assert_int_equal(weft_legend_draw(&list, &l), 0);
        assert_true(l.items > 1);
        assert_int_equal(l.items + l.left, WEFT_KINDS);
        unsigned texts = 0;
        for (uint32_t k = 0; k < list.draws; k++) {
            const struct weft_draw *d = &list.draw[k];
            assert_true(d->op != WEFT_DRAW_LINE || d->size > 0);
            if (d->op != WEFT_DRAW_TEXT)
                continue;
            assert_int_equal(d->size, 10 * WEFT_PX * percent[i] / 100);
            assert_true(d->x1 <= (l.width_px - 8) * WEFT_PX);
            texts++;
        }
        assert_int_equal(texts, l.items + 1); /* how many more there are */
        for (uint32_t k = 0; k < l.items; k++) {
            const struct weft_legend_item *item = &l.item[k];
            assert_int_equal(item->y1 - item->y0, 17 * percent[i] / 100 * WEFT_PX);
            assert_int_equal(weft_legend_at(&l, item->x0, item->y0), item->kind);
            assert_true(has_sample(&list, item));
        }
        weft_drawlist_fini(&list);
    }
}

TEST(each_kind_has_a_sample_in_a_legend)
{
    struct weft_legend l = {.width_px = 400, .lines = WEFT_KINDS, .pointed = WEFT_KINDS};
    struct weft_drawlist list = {0};
    for (unsigned k = 0; k < WEFT_KINDS; k++)
        l.kind[k] = (struct weft_kind_seen){.count = k, .seen = true};
    assert_int_equal(weft_legend_draw(&list, &l), 0);
    assert_int_equal(l.items, WEFT_KINDS);
    for (uint32_t k = 0; k < l.items; k++)
        assert_true(has_sample(&list, &l.item[k]));
    for (uint32_t i = 0; i < list.draws; i++)
        if (list.draw[i].op == WEFT_DRAW_LINE || list.draw[i].op == WEFT_DRAW_ARROW)
            assert_true(list.draw[i].size > 0);
    weft_drawlist_fini(&list);
}

TEST(a_range_says_how_long_it_is)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), fulfills(1000000, LOOP, 1));
    static const struct {
        int64_t from, to;
        const char *text; /* NULL: no band */
    } cases[] = {{100000, 437000, "337 µs"},
                 {-500000, 500000, "1 ms"},
                 {300000, 300000, NULL},
                 {2000000, 3000000, NULL},
                 {999990, 1000000, "10 ns"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weft_viewport vp = whole();
        vp.range_from_ns = cases[i].from;
        vp.range_to_ns = cases[i].to;
        struct weft_drawlist list = draw(m, vp);
        unsigned bands = count_draws(&list, WEFT_DRAW_RECT, WEFT_INK_RANGE);
        assert_int_equal(bands, cases[i].text ? 3 : 0);
        if (cases[i].text) {
            const struct weft_draw *length = text_of(&list, cases[i].text);
            assert_non_null(length);
            assert_int_equal(length->size, 10 * WEFT_PX);
            assert_int_equal(length[-1].ink, WEFT_INK_RANGE); /* its ground */
            assert_true(length[-1].x0 < length->x0 && length[-1].x1 > length->x1);
        }
        weft_drawlist_fini(&list);
    }
    weft_model_free(m);
}

/* At any width and length there are some times on the ruler, and none lies over another; between them are small marks, which
 * can be told apart. */
TEST(the_grid_has_times)
{
    struct weft_model *m = BUILD(creates(0, LOOP, 1, TASK), fulfills(1000000, LOOP, 1));
    struct weft_scene *s = lay_out(m, false);
    for (int32_t width = 400; width <= 2000; width += 133)
        for (int64_t length = 13; length < INT64_C(1000000000000000); length = length * 17 / 5) {
            struct weft_viewport vp = whole();
            vp.width_px = width;
            vp.from_ns = length % 7 ? 0 : INT64_C(1408291300999);
            vp.to_ns = vp.from_ns + length;
            struct weft_drawlist list = {0};
            struct weft_geometry g = {0};
            assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
            int32_t times = 0, end = 0, small = 0, last = 0;
            for (uint32_t i = 0; i < list.draws; i++) {
                const struct weft_draw *d = &list.draw[i];
                if (d->op == WEFT_DRAW_LINE && d->ink == WEFT_INK_GRID && d->y1 == g.rows_y0) {
                    assert_true(d->x0 - last >= 9 * WEFT_PX / 2 || last == 0);
                    last = d->x0;
                    small++;
                }
                if (d->op != WEFT_DRAW_TEXT || d->y0 < g.ruler_y0 || d->y0 > g.rows_y0)
                    continue;
                assert_true(d->x0 >= end);
                end = d->x1;
                times++;
            }
            assert_true(times >= (width >= 600 && vp.from_ns == 0 ? 4 : 2));
            assert_true(length < 1000 || small >= 2 * times);
            weft_drawlist_fini(&list);
            weft_geometry_fini(&g);
        }
    weft_scene_free(s);
    weft_model_free(m);
}

/* Of too many arrows, some are drawn in every part of the picture. */
TEST(arrows_are_left_out_evenly)
{
    struct weft_model *m = build_many(400000, short_ones);
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    unsigned arrows = 0, quarter[4] = {0};
    for (uint32_t i = 0; i < list.draws; i++)
        if (list.draw[i].op == WEFT_DRAW_ARROW) {
            quarter[(int64_t)list.draw[i].x1 * 4 / (list.width + 1)]++;
            arrows++;
        }
    assert_true(arrows >= 100);
    for (int i = 0; i < 4; i++)
        assert_true(quarter[i] >= arrows / 10);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* A wait often begins where something else is resolved, and lies over that. */
TEST(waits_lie_over_other_arrows)
{
    enum { PAIRS = 30 };
    struct weft_event ev[6 * PAIRS];
    size_t n = 0;
    for (uint64_t i = 0; i < 2 * PAIRS; i++)
        ev[n++] = creates(0, LOOP, i + 1, TASK);
    for (uint64_t i = 0; i < PAIRS; i++) {
        ev[n++] = try_read(100 + 10 * i, 2 * i + 1, 2 * i + 2);
        ev[n++] = fulfills(101 + 10 * i, 2 * ((i + 1) % PAIRS) + 1, 2 * i + 2);
    }
    for (uint64_t i = 0; i < PAIRS; i++)
        ev[n++] = fulfills(1000, LOOP, 2 * i + 1);
    struct weft_model *m = build(ev, n);
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    unsigned waits = 0, others = 0;
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->op != WEFT_DRAW_ARROW || d->x1 - d->x0 > WEFT_PX)
            continue;
        waits += d->ink == WEFT_INK_WAITS;
        others += d->ink == WEFT_INK_RESOLVE;
        assert_true(d->ink == WEFT_INK_WAITS || waits == 0);
    }
    assert_true(waits > 5 && others > 5);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

/* An arrow's head lies over the label where it ends. */
TEST(heads_lie_over_labels)
{
    struct weft_model *m =
        BUILD(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, CONDITION),
              label(0, 2, "ARP response"), signal_only(20000, 1, 2), signal_only(600000, 1, 2),
              fulfills(1000000, LOOP, 1), fulfills(1000000, LOOP, 2));
    struct weft_viewport vp = whole();
    vp.no_legend = true;
    struct weft_drawlist list = draw(m, vp);
    assert_int_equal(count_draws(&list, WEFT_DRAW_ARROW, WEFT_INK_SIGNAL), 2);
    assert_int_equal(count_draws(&list, WEFT_DRAW_POINTER, WEFT_INK_SIGNAL), 1);
    weft_drawlist_fini(&list);
    weft_model_free(m);
}

RUN_TESTS(NULL, NULL)
