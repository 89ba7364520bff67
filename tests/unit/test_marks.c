/* SPDX-License-Identifier: ISC */
/* Marks in pictures: flags, bands, paths, where two runs diverge. */
#include "trace.h"

#include "view/legend.h"
#include "view/view.h"

enum { PROMISES = 40, LIFE = 1000, WIDTH = 1000, HEIGHT = 600 };

struct subject {
    struct weft_model *m;
    struct weft_scene *s;
    struct weft_drawlist list;
    struct weft_geometry g;
    struct weft_viewport v;
};

/* Promise i lives from i - 1 (times begin with the first event) to LIFE - 1 and is called "task i". */
static void take(struct subject *x, uint64_t promises)
{
    struct trace t = {.fd = -1};
    char name[32];
    trace_begin(&t, 0);
    for (uint64_t i = 1; i <= promises; i++) {
        snprintf(name, sizeof name, "task %u", (unsigned)i);
        trace_add(&t, creates(i, LOOP, i, TASK));
        trace_add(&t, label(i, i, name));
    }
    for (uint64_t i = 1; i <= promises; i++)
        trace_add(&t, fulfills(LIFE, LOOP, i));
    *x = (struct subject){.m = trace_model(&t)};
    assert_int_equal(weft_scene_new(&x->s, x->m, false, NULL, NULL), 0);
    x->v = (struct weft_viewport){.from_ns = 0,
                                  .to_ns = LIFE,
                                  .width_px = WIDTH,
                                  .height_px = HEIGHT,
                                  .selected = WEFT_NONE,
                                  .hovered = WEFT_NONE,
                                  .focus_row = WEFT_NONE};
}

static void leave(struct subject *x)
{
    weft_drawlist_fini(&x->list);
    weft_geometry_fini(&x->g);
    weft_scene_free(x->s);
    weft_model_free(x->m);
}

static void draw(struct subject *x)
{
    assert_int_equal(weft_view_draw(&x->list, &x->g, x->s, &x->v), 0);
}

static uint32_t by_id(const struct subject *x, uint64_t id)
{
    return weft_model_find(x->m, id);
}

static struct weft_mark evidence(const struct subject *x, uint64_t id, int64_t time, const char *n)
{
    return (struct weft_mark){.kind = WEFT_MARK_EVIDENCE,
                              .promise = by_id(x, id),
                              .other = WEFT_NONE,
                              .from_ns = time,
                              .to_ns = time,
                              .text = n};
}

static unsigned count(const struct subject *x, enum weft_draw_op op, enum weft_ink ink)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < x->list.draws; i++)
        n += x->list.draw[i].op == op && x->list.draw[i].ink == ink;
    return n;
}

static const struct weft_draw *text(const struct subject *x, const char *wanted)
{
    for (uint32_t i = 0; i < x->list.draws; i++) {
        const struct weft_draw *d = &x->list.draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->count == strlen(wanted) &&
            !memcmp(x->list.texts + d->first, wanted, d->count))
            return d;
    }
    return NULL;
}

/* The box of a flag: the last rectangle before its text. */
static const struct weft_draw *flag(const struct subject *x, const char *n)
{
    const struct weft_draw *d = text(x, n);
    assert_non_null(d);
    assert_int_equal(d->ink, WEFT_INK_GROUND);
    d--;
    assert_int_equal(d->op, WEFT_DRAW_RECT);
    assert_int_equal(d->ink, WEFT_INK_EVIDENCE);
    return d;
}

static int32_t row_height(const struct subject *x, uint64_t id)
{
    uint32_t row = x->s->l->row[by_id(x, id)];
    for (uint32_t i = 0; i < x->g.shown; i++)
        if (x->g.shown_row[i] == row)
            return (x->g.shown_y[i + 1] - x->g.shown_y[i]) / WEFT_PX;
    return -1;
}

TEST(flags_stand_at_their_moments)
{
    struct subject x;
    take(&x, 5);
    struct weft_mark marks[] = {
        evidence(&x, 2, 500, "1"),  evidence(&x, 2, 500, "2"),  evidence(&x, 3, LIFE, "3"),
        evidence(&x, 4, LIFE, "4"), evidence(&x, 4, LIFE, "5"),
    };
    x.v.mark = marks;
    x.v.marks = COUNT(marks);
    x.v.no_legend = true;
    draw(&x);
    assert_int_equal(flag(&x, "1")->x0, weft_geometry_x(&x.g, 500));
    assert_int_equal(text(&x, "1")->x0 - flag(&x, "1")->x0,
                     flag(&x, "1")->x1 - text(&x, "1")->x1); /* in its middle */
    assert_true(flag(&x, "2")->x0 >= flag(&x, "1")->x1);
    assert_int_equal(flag(&x, "2")->y0, flag(&x, "1")->y0);
    assert_true(flag(&x, "3")->x1 <= x.g.x1);
    assert_true(flag(&x, "5")->x1 <= x.g.x1);
    assert_true(flag(&x, "4")->x1 <= flag(&x, "5")->x0);
    assert_true(flag(&x, "3")->y0 > flag(&x, "2")->y0); /* each on its line */
    assert_int_equal(count(&x, WEFT_DRAW_LINE, WEFT_INK_EVIDENCE), COUNT(marks)); /* poles */
    x.v.to_ns = 499; /* none of them is in sight */
    draw(&x);
    assert_int_equal(count(&x, WEFT_DRAW_RECT, WEFT_INK_EVIDENCE), 0);
    leave(&x);
}

/* The line of the only flag. */
static const struct weft_draw *pole(const struct subject *x)
{
    const struct weft_draw *d = x->list.draw;
    while (d->op != WEFT_DRAW_LINE || d->ink != WEFT_INK_EVIDENCE)
        assert_true(++d < x->list.draw + x->list.draws);
    return d;
}

TEST(what_has_no_line_is_on_the_ruler)
{
    struct subject x;
    take(&x, 3);
    struct weft_mark mark = evidence(&x, 1, 300, "1");
    mark.promise = WEFT_ROOT;
    x.v.mark = &mark;
    x.v.marks = 1;
    draw(&x);
    assert_true(flag(&x, "1")->y1 <= x.g.rows_y0);
    assert_true(flag(&x, "1")->y0 >= x.g.ruler_y0);
    const int32_t width = pole(&x)->size;
    mark.promise = by_id(&x, 1);
    draw(&x);
    assert_int_equal(pole(&x)->size, width);
    leave(&x);
}

TEST(labels_make_room)
{
    struct subject x;
    take(&x, 3);
    struct weft_mark marks[] = {evidence(&x, 2, 2, "1"), evidence(&x, 2, 2, "2")};
    draw(&x);
    int32_t before = text(&x, "task 2")->x0;
    x.v.mark = marks;
    x.v.marks = COUNT(marks);
    draw(&x);
    assert_true(text(&x, "task 2")->x0 > before);
    assert_true(text(&x, "task 2")->x0 >= flag(&x, "2")->x1);
    assert_int_equal(text(&x, "task 3")->x0, weft_geometry_x(&x.g, 2) + WEFT_PX);
    leave(&x);
}

/* A flag that ends where a text begins, or before it, does not move it. */
TEST(labels_stay_behind_flags)
{
    struct subject x;
    take(&x, 3);
    draw(&x);
    x.v.to_ns = x.g.x1 - x.g.x0; /* a nanosecond is as wide as a unit */
    x.v.from_ns = -1000;
    x.v.to_ns -= 1000;
    struct weft_mark mark = evidence(&x, 3, -900, "1");
    x.v.mark = &mark;
    x.v.marks = 1;
    draw(&x);
    const int32_t before = text(&x, "task 2")->x0 + 1; /* of the third, which is a unit later */
    mark.from_ns += before - flag(&x, "1")->x1;
    for (int beyond = -1; beyond <= 1; beyond++) {
        mark.from_ns += beyond < 0 ? -1 : 1;
        draw(&x);
        assert_int_equal(flag(&x, "1")->x1 - before, beyond);
        if (beyond <= 0)
            assert_int_equal(text(&x, "task 3")->x0, before);
        else
            assert_true(text(&x, "task 3")->x0 > flag(&x, "1")->x1);
    }
    leave(&x);
}

TEST(marked_rows_can_be_read)
{
    struct subject x;
    take(&x, 400);
    struct weft_mark marks[] = {evidence(&x, 7, 500, "1"), evidence(&x, 390, 500, "2")};
    draw(&x);
    assert_true(row_height(&x, 7) < 3);
    x.v.mark = marks;
    x.v.marks = COUNT(marks);
    for (int k = 0; k < 2; k++) { /* with a selection, too */
        draw(&x);
        assert_true(row_height(&x, 7) >= 15);
        assert_true(row_height(&x, 390) >= 15);
        assert_true(row_height(&x, 300) < 4);
        x.v.selected = by_id(&x, 200);
    }
    assert_true(row_height(&x, 200) >= 15);
    assert_int_equal(x.g.shown, 400);
    leave(&x);
}

TEST(what_is_affected_has_a_band)
{
    struct subject x;
    take(&x, 5);
    struct weft_mark mark = {.kind = WEFT_MARK_AFFECTED, .promise = by_id(&x, 4)};
    x.v.mark = &mark;
    x.v.marks = 1;
    x.v.no_legend = true;
    draw(&x);
    assert_int_equal(count(&x, WEFT_DRAW_RECT, WEFT_INK_AFFECTED), 1);
    leave(&x);
}

static struct weft_mark step(const struct subject *x, enum weft_mark_kind kind, uint64_t id,
                             int64_t from, int64_t to)
{
    return (struct weft_mark){
        .kind = kind, .promise = by_id(x, id), .other = WEFT_NONE, .from_ns = from, .to_ns = to};
}

/* Those in which a step can be seen; moments do not count. */
TEST(rows_of_a_path_can_be_read)
{
    struct subject x;
    take(&x, 400);
    const struct weft_mark path[] = {step(&x, WEFT_MARK_RUNNING, 7, 100, 600),
                                     step(&x, WEFT_MARK_RUNNING, 300, 600, 601),
                                     step(&x, WEFT_MARK_RUNNING, 390, 601, 900)};
    x.v.path = path;
    x.v.path_steps = COUNT(path);
    draw(&x);
    assert_true(row_height(&x, 7) >= 15);
    assert_true(row_height(&x, 300) < 4);
    assert_true(row_height(&x, 390) >= 15);
    leave(&x);
}

/* The path is drawn above it. */
static const struct weft_draw *veil(const struct subject *x)
{
    const struct weft_draw *d = x->list.draw;
    while (d->op != WEFT_DRAW_RECT || d->ink != WEFT_INK_GROUND || d->x0 != 0)
        assert_true(++d < x->list.draw + x->list.draws);
    return d;
}

TEST(a_path_is_one_line)
{
    struct subject x;
    take(&x, 5);
    struct weft_mark path[] = {
        step(&x, WEFT_MARK_RUNNING, 1, 10, 100),   step(&x, WEFT_MARK_OUTSIDE, 3, 100, 400),
        step(&x, WEFT_MARK_READY, 1, 400, 700),    step(&x, WEFT_MARK_COLLECTING, 1, 700, 800),
        step(&x, WEFT_MARK_UNKNOWN, 2, 800, LIFE),
    };
    x.v.path = path;
    x.v.path_steps = COUNT(path);
    x.v.no_legend = true;
    draw(&x);
    int32_t last = 0, y = 0;
    for (unsigned k = 0; k < COUNT(path); k++) {
        enum weft_ink ink =
            weft_kinds[WEFT_KIND_PATH_RUNNING + (path[k].kind - WEFT_MARK_RUNNING)].ink;
        const struct weft_draw *d = veil(&x);
        while (d->op != WEFT_DRAW_RECT || d->ink != ink)
            assert_true(++d < x.list.draw + x.list.draws);
        assert_int_equal(d->x0, weft_geometry_x(&x.g, path[k].from_ns));
        assert_int_equal(d->x1, weft_geometry_x(&x.g, path[k].to_ns));
        assert_true(k == 0 || d->x0 == last); /* they touch */
        last = d->x1;
        if (k == 3) /* on the same row as the one before: nothing joins them */
            assert_int_equal((d->y0 + d->y1) / 2, y);
        y = (d->y0 + d->y1) / 2;
    }
    unsigned joints = 0;
    for (const struct weft_draw *d = veil(&x); d < x.list.draw + x.list.draws; d++)
        joints += d->op == WEFT_DRAW_LINE && d->size == 3 * WEFT_PX;
    assert_int_equal(joints, 3);
    x.v.from_ns = 450;
    x.v.to_ns = 500; /* only what is in sight */
    draw(&x);
    assert_int_equal(count(&x, WEFT_DRAW_RECT, WEFT_INK_ELSE), 1);
    assert_int_equal(count(&x, WEFT_DRAW_RECT, WEFT_INK_OUTSIDE), 0);
    leave(&x);
}

TEST(a_long_path_is_bounded_by_the_picture)
{
    struct subject x;
    enum { STEPS = 100000 };
    take(&x, PROMISES);
    struct weft_mark *path = calloc(STEPS, sizeof *path);
    assert_non_null(path);
    for (int i = 0; i < STEPS; i++)
        path[i] = step(&x, i % 2 ? WEFT_MARK_READY : WEFT_MARK_RUNNING, 1 + (uint64_t)i % PROMISES,
                       i * (int64_t)LIFE / STEPS, (i + 1) * (int64_t)LIFE / STEPS);
    draw(&x);
    uint32_t without = x.list.draws;
    x.v.path = path;
    x.v.path_steps = STEPS;
    draw(&x);
    assert_true(x.list.draws > without + 100);
    assert_true(x.list.draws < without + 4 * WIDTH);
    free(path);
    leave(&x);
}

TEST(runs_diverge_at_a_dashed_line)
{
    struct subject x;
    take(&x, 5);
    struct weft_mark mark = {.kind = WEFT_MARK_DIVERGENCE,
                             .promise = WEFT_NONE,
                             .other = WEFT_NONE,
                             .from_ns = 400,
                             .to_ns = 400,
                             .text = "alike until here"};
    x.v.mark = &mark;
    x.v.marks = 1;
    x.v.no_legend = true;
    draw(&x);
    const unsigned dashes = count(&x, WEFT_DRAW_LINE, WEFT_INK_EVIDENCE);
    assert_true(dashes > 10);
    assert_int_equal(x.g.kind[WEFT_KIND_EVIDENCE].count, 1);
    int32_t next = x.g.rows_y0;
    for (uint32_t i = 0; i < x.list.draws; i++) {
        const struct weft_draw *d = &x.list.draw[i];
        if (d->op != WEFT_DRAW_LINE || d->ink != WEFT_INK_EVIDENCE)
            continue;
        const int32_t end = next + 7 * WEFT_PX;
        assert_int_equal(d->y0, next);
        assert_int_equal(d->y1, end < x.g.rows_y1 ? end : x.g.rows_y1);
        next = end + 4 * WEFT_PX;
    }
    assert_true(next >= x.g.rows_y1);
    const struct weft_draw *caption = text(&x, "alike until here");
    assert_non_null(caption);
    assert_true(caption->x0 < weft_geometry_x(&x.g, 400));
    assert_true(caption->x1 > weft_geometry_x(&x.g, 400));
    assert_true(caption->y0 <= x.g.rows_y0);
    leave(&x);
}

TEST(the_legend_says_what_is_there)
{
    struct subject x;
    take(&x, 5);
    static const char *const notes[] = {"what happened", "and when"};
    struct weft_mark mark = evidence(&x, 2, 500, "1");
    struct weft_mark path = step(&x, WEFT_MARK_READY, 2, 10, 600);
    draw(&x);
    assert_null(text(&x, "what shows it"));
    x.v.mark = &mark;
    x.v.path = &path;
    x.v.marks = x.v.path_steps = 1;
    x.v.note = notes;
    x.v.notes = COUNT(notes);
    draw(&x);
    assert_non_null(text(&x, "what shows it 1"));
    assert_non_null(text(&x, "path: something else runs 1"));
    assert_null(text(&x, "path: running"));
    assert_null(text(&x, "affected, or different"));
    assert_non_null(text(&x, "what happened"));
    assert_true(text(&x, "and when")->y0 > text(&x, "what happened")->y0);
    leave(&x);
}

/* Whatever the marks say. */
TEST(senseless_marks_do_no_harm)
{
    struct subject x;
    enum { MARKS = WEFT_MARKS_MAX + 50 };
    take(&x, 5);
    struct weft_mark *marks = calloc(MARKS, sizeof *marks);
    assert_non_null(marks);
    static const int64_t times[] = {0, -WEFT_TIME_MAX, WEFT_TIME_MAX, 500, INT64_MIN, INT64_MAX};
    static const uint32_t promises[] = {0, 1, 3, 77, WEFT_NONE, WEFT_NONE - 1};
    for (uint32_t i = 0; i < MARKS; i++)
        marks[i] = (struct weft_mark){.kind = (enum weft_mark_kind)(i % WEFT_MARK_KINDS),
                                      .promise = promises[i / 7 % COUNT(promises)],
                                      .other = promises[i / 5 % COUNT(promises)],
                                      .from_ns = times[i / 3 % COUNT(times)],
                                      .to_ns = times[i % COUNT(times)],
                                      .text = i % 4 ? "x" : NULL};
    x.v.mark = x.v.path = marks;
    x.v.marks = x.v.path_steps = MARKS;
    for (int32_t width = 200; width <= 1600; width *= 2) {
        x.v.width_px = width;
        draw(&x);
        for (uint32_t i = 0; i < x.list.draws; i++) {
            const struct weft_draw *d = &x.list.draw[i];
            if (d->op == WEFT_DRAW_RECT)
                assert_true(d->x0 <= d->x1 && d->y0 <= d->y1);
        }
    }
    free(marks);
    leave(&x);
}

RUN_TESTS(NULL, NULL)
