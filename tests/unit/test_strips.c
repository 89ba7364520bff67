/* SPDX-License-Identifier: ISC */
/* Strips of samples: what is drawn is what adding up all samples gives, however far one is away; and what lies where
 * it is pointed at. */
#include "../fuzz/try.h"
#include "allocations.h"
#include "profile/build.h"
#include "profile/join.h"
#include "samples.h"
#include "view/density.h"
#include "view/overview.h"

enum { SECOND = 1000000000, MS = 1000000, FRAMES = 5 };

/* A trace of one second, in which a promise runs for its first half. */
static struct weft_model *half_a_second(void)
{
    struct trace t = {.fd = -1};
    const struct weft_event ev[] = {creates(0, LOOP, 1, TASK),
                                    label(1, 1, "work"),
                                    switches(10, 1),
                                    switches(SECOND / 2, LOOP),
                                    fulfills(SECOND / 2 + 1, LOOP, 1),
                                    label(SECOND, LOOP, "end")};
    trace_packet(&t, 0, ev, COUNT(ev));
    return trace_model(&t);
}

struct made {
    struct weft_profile *p;
    uint32_t stack[FRAMES], threads;
};

static uint32_t text(struct weft_profile *p, const char *is)
{
    return weft_profile_add_text(p, is, (uint32_t)strlen(is));
}

static struct made begin(const struct weft_source *source)
{
    struct made x = {.p = weft_profile_new()};
    assert_non_null(x.p);
    struct weft_source s = *source;
    s.name = text(x.p, "cpu-clock");
    assert_int_equal(weft_profile_add_source(x.p, &s), 0);
    for (int i = 0; i < FRAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "function_%d", i);
        x.stack[i] = weft_profile_push(x.p, 0, 7, 0x1000 + 0x100 * (uint64_t)i, 0, 0);
        struct weft_function f = {.name = text(x.p, name)};
        struct weft_frame frame = {.function = weft_profile_add_function(x.p, &f)};
        assert_int_equal(weft_profile_resolve(x.p, x.p->stack[x.stack[i]].location, &frame, 1), 0);
    }
    return x;
}

static uint32_t thread(struct made *x, uint32_t number)
{
    char name[16];
    snprintf(name, sizeof name, "worker %u", number);
    return weft_profile_add_thread(x->p, 7, number, text(x->p, name));
}

static void sample(struct made *x, const struct weft_model *m, uint32_t of, int64_t time_ns,
                   uint64_t value, int frame)
{
    struct weft_sample s = {.time_ns = m->first_ns + (uint64_t)time_ns,
                            .value = value,
                            .stack = x->stack[frame],
                            .thread = of,
                            .core = 0};
    assert_int_equal(weft_profile_add_sample(x->p, &s), 0);
}

static struct weft_scene *scene_of(struct made *x, struct weft_model *m)
{
    struct weft_scene *s;
    assert_int_equal(weft_profile_finish(x->p), 0);
    assert_int_equal(weft_profile_join(x->p, m), 0);
    /* A trace of mirage's does not say which thread it is of. */
    for (uint32_t i = 0; i < x->p->samples; i++)
        if (x->p->sample[i].time_ns < m->first_ns + SECOND / 2)
            x->p->sample[i].promise = 1;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_scene_set_profile(s, x->p), 0);
    return s;
}

static struct weft_viewport whole(void)
{
    return (struct weft_viewport){
        .selected = WEFT_NONE, .hovered = WEFT_NONE, .focus_row = WEFT_NONE, .width_px = 1000};
}

/* ---- Sums ---- */

/* How long a thread was on a core before a time, by all samples that are shown. */
static struct view_on_core naive(const struct weft_scene *s, uint32_t thread, int64_t time_ns)
{
    struct view_on_core sum = {0, 0};
    uint64_t end = 0;
    for (uint32_t i = 0; i < s->p->samples; i++) {
        const struct weft_sample *x = &s->p->sample[i];
        if (x->thread != thread || x->source != s->d->source)
            continue;
        uint64_t weight = weft_scene_sample_ns(s, i);
        uint64_t from = x->time_ns > weight ? x->time_ns - weight : 0;
        from = from < end ? end : from;
        int64_t at = weft_model_time(x->time_ns, s->m->first_ns);
        uint64_t length = x->time_ns - from, part = weight;
        if (at > time_ns)
            part = at - time_ns < (int64_t)length
                       ? weight * (length - (uint64_t)(at - time_ns)) / length
                       : 0;
        sum.on_ns += part;
        sum.promise_ns += x->promise != WEFT_NONE ? part : 0;
        end = x->time_ns;
    }
    return sum;
}

TEST(sums_are_those_of_all_samples)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    struct made x = begin(&source);
    uint32_t random = 88172645, a = thread(&x, 1), b = thread(&x, 2);
    for (int64_t t = 0; t < SECOND; t += next_random(&random) % 2000000)
        sample(&x, m, next_random(&random) % 3 ? a : b, t, 1 + next_random(&random) % MS, 0);
    struct weft_scene *s = scene_of(&x, m);
    assert_int_equal(s->d->strips, 2);
    for (uint32_t strip = 0; strip < 2; strip++) {
        uint32_t hint = 0;
        for (int64_t t = -5 * MS; t < SECOND + 5 * MS; t += next_random(&random) % 300000) {
            struct view_on_core is = view_density_until(s->d, strip, VIEW_SAMPLES, t, &hint);
            struct view_on_core want = naive(s, s->d->strip[strip].thread, t);
            assert_int_equal(is.on_ns, want.on_ns);
            assert_int_equal(is.promise_ns, want.promise_ns);
        }
        uint32_t none = 0; /* and from anywhere */
        for (int i = 0; i < 1000; i++) {
            int64_t t = (int64_t)(next_random(&random) % SECOND);
            hint = next_random(&random) % 100;
            assert_int_equal(view_density_until(s->d, strip, VIEW_SAMPLES, t, &hint).on_ns,
                             view_density_until(s->d, strip, VIEW_SAMPLES, t, &none).on_ns);
            none = 0;
        }
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* ---- Pictures ---- */

/* Opacities of all cells of a strip, by what is drawn. */
static void shades(uint8_t *shade, uint32_t cells, const struct weft_drawlist *list,
                   const struct weft_geometry *g, uint32_t strip, enum weft_ink ink)
{
    int32_t height = (g->strips_y1 - g->rows_y1) / (int32_t)g->strips;
    int32_t y0 = g->rows_y1 + (int32_t)strip * height;
    memset(shade, 0, cells);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op != WEFT_DRAW_SHADES || d->ink != ink || d->y0 < y0 || d->y1 > y0 + height)
            continue;
        for (uint32_t k = 0; k < d->count; k++)
            shade[(uint32_t)((d->x0 - g->x0) / d->size) + k] = list->shades[d->first + k];
    }
}

/* A thread that is busy for the first three quarters of a second, half of the time from 500 ms on. */
TEST(shades_say_how_busy)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    struct made x = begin(&source);
    uint32_t a = thread(&x, 1);
    for (int64_t t = 1; t <= 500; t++)
        sample(&x, m, a, t * MS, MS, 0);
    for (int64_t t = 501; t <= 750; t += 2)
        sample(&x, m, a, t * MS, MS, 1);
    struct weft_scene *s = scene_of(&x, m);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    try_drawlist(&list);
    assert_int_equal(g.strips, 1);
    assert_true(g.strips_y1 > g.rows_y1);
    enum { CELLS = 492 };
    uint8_t promise[CELLS], other[CELLS];
    shades(promise, CELLS, &list, &g, 0, WEFT_INK_CPU_PROMISE);
    shades(other, CELLS, &list, &g, 0, WEFT_INK_ELSE);
    for (uint32_t i = 0; i < CELLS; i++) {
        int64_t from = weft_geometry_time(&g, g.x0 + (int32_t)i * 128);
        int64_t to = weft_geometry_time(&g, g.x0 + (int32_t)(i + 1) * 128);
        if (to < 499 * MS)
            assert_true(promise[i] == 255 && other[i] == 0);
        else if (from > 502 * MS && to < 748 * MS)
            assert_true(promise[i] == 0 && other[i] > 100 && other[i] < 230);
        else if (from > 751 * MS)
            assert_true(promise[i] == 0 && other[i] == 0);
    }

    /* What lies there. */
    struct weft_strip_pick at;
    struct weft_pick pick = weft_view_pick(s, &g, weft_geometry_x(&g, 250 * MS), g.rows_y1 + 1);
    assert_int_equal(pick.kind, WEFT_PLACE_STRIP);
    weft_view_strip_at(&at, s, &g, &pick);
    assert_int_equal(at.thread, a);
    assert_true(at.samples > 1 && at.looked == at.samples && at.hottest == at.samples);
    assert_int_equal(at.location, x.p->stack[x.stack[0]].location);
    assert_true(at.on_ns == at.promise_ns && at.on_ns == (uint64_t)(at.to_ns - at.from_ns));
    pick = weft_view_pick(s, &g, weft_geometry_x(&g, 900 * MS), g.rows_y1 + 1);
    weft_view_strip_at(&at, s, &g, &pick);
    assert_true(at.samples == 0 && at.on_ns == 0 && at.location == WEFT_NONE);

    /* Off. */
    vp.no_strips = true;
    int32_t height = list.height;
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    assert_true(g.strips == 0 && g.strips_y1 == g.rows_y1 && list.height < height);
    weft_geometry_fini(&g);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* … even if there are only two; of one there is nothing to say. */
TEST(two_samples_are_enough_to_guess)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_CYCLES};
    for (int64_t samples = 1; samples <= 2; samples++) {
        struct made x = begin(&source);
        uint32_t a = thread(&x, 1);
        for (int64_t i = 1; i <= samples; i++)
            sample(&x, m, a, 7 * i * MS, 99, 0);
        struct weft_scene *s = scene_of(&x, m);
        assert_int_equal(s->d->period_ns, samples == 2 ? 7 * MS : MS);
        weft_scene_free(s);
    }
    weft_model_free(m);
}

/* Where samples were taken something went on: such time is shown. */
TEST(no_sample_is_in_a_fold)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    for (int late = 0; late < 2; late++) {
        struct made x = begin(&source);
        uint32_t a = thread(&x, 1);
        for (int64_t t = 10; t <= 490; t += 10)
            sample(&x, m, a, (late ? 500 + t : t) * MS, MS, 0);
        struct weft_scene *s = scene_of(&x, m);
        assert_int_equal(s->folds.count, !late);
        weft_scene_free(s);
    }
    weft_model_free(m);
}

/* The same holds for interrupts, the first of them, too. */
TEST(no_interrupt_is_in_a_fold)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    for (uint32_t interrupts = 0; interrupts <= 1; interrupts++) {
        struct made x = begin(&source);
        uint32_t a = thread(&x, 1);
        sample(&x, m, a, 100 * MS, MS, 0);
        const struct weft_interrupt r = {
            .from_ns = m->first_ns + 740 * MS, .to_ns = m->first_ns + 750 * MS, .thread = a};
        if (interrupts)
            assert_int_equal(weft_profile_add_interrupt(x.p, &r), 0);
        struct weft_scene *s = scene_of(&x, m);
        assert_int_equal(s->folds.count, interrupts ? 2 : 1);
        assert_int_equal(s->folds.fold[0].to_ns, interrupts ? 750 * MS : SECOND);
        weft_scene_free(s);
    }
    weft_model_free(m);
}

/* One is enough for a strip, wherever it is among the others. */
TEST(a_thread_with_one_sample_has_a_strip)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    for (int64_t one = 1; one <= 5; one += 2) {
        struct made x = begin(&source);
        uint32_t a = thread(&x, 1), b = thread(&x, 2);
        sample(&x, m, b, one * MS, MS, 0);
        sample(&x, m, a, 2 * MS, MS, 0);
        sample(&x, m, a, 4 * MS, MS, 0);
        struct weft_scene *s = scene_of(&x, m);
        assert_int_equal(s->d->strips, 2);
        assert_int_equal(s->d->strip[0].thread, a); /* the busier one is above */
        assert_int_equal(s->d->strip[1].thread, b);
        weft_scene_free(s);
    }
    weft_model_free(m);
}

/* In the overview samples have a strip of their own, below what ran. */
TEST(the_overview_has_samples)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    struct made x = begin(&source);
    uint32_t a = thread(&x, 1);
    for (int64_t t = 250; t <= 750; t++)
        sample(&x, m, a, t * MS, MS, 0);
    struct weft_scene *s = scene_of(&x, m);
    struct weft_drawlist list = {0};
    struct weft_overview_strip strip = {
        .x1 = 1000 * WEFT_PX, .y1 = 60 * WEFT_PX, .to_ns = SECOND, .view_to_ns = SECOND};
    int32_t ran_y1 = 0, on_y0 = INT32_MAX, on_y1 = 0, x0 = INT32_MAX, x1 = 0;
    assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
    assert_int_equal(list.draw[0].ink, WEFT_INK_PANEL); /* its ground, as wide as the picture */
    assert_int_equal(list.draw[0].x0, 0);
    assert_int_equal(list.draw[0].x1, strip.x1 + WEFT_OVERVIEW_MARGIN);
    assert_int_equal(list.draw[0].y0, strip.y0);
    assert_int_equal(list.draw[0].y1, strip.y1);
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->op != WEFT_DRAW_SHADES || (d->ink != WEFT_INK_RUN && d->ink != WEFT_INK_ELSE))
            continue;
        if (d->ink == WEFT_INK_RUN) {
            ran_y1 = d->y1 > ran_y1 ? d->y1 : ran_y1;
            continue;
        }
        for (uint32_t k = 4; k + 4 < d->count; k++)
            assert_int_equal(list.shades[d->first + k], 255); /* busy all the time */
        on_y0 = d->y0 < on_y0 ? d->y0 : on_y0;
        on_y1 = d->y1 > on_y1 ? d->y1 : on_y1;
        x0 = d->x0 < x0 ? d->x0 : x0;
        x1 = d->x1 > x1 ? d->x1 : x1;
    }
    assert_true(0 < ran_y1 && ran_y1 <= on_y0 && on_y0 < on_y1 && on_y1 < strip.y1);
    assert_in_range(x0, 245 * WEFT_PX, 251 * WEFT_PX);
    assert_in_range(x1, 749 * WEFT_PX, 755 * WEFT_PX);
    list.draws = 0;
    strip.no_strips = true;
    assert_int_equal(weft_overview_draw(&list, s, &strip), 0);
    for (uint32_t i = 0; i < list.draws; i++)
        assert_int_not_equal(list.draw[i].ink, WEFT_INK_ELSE);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* From so near that a sample is wider than a pixel it covers its period, but no time away. */
TEST(from_near)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_CYCLES, .frequency = 100};
    struct made x = begin(&source);
    uint32_t a = thread(&x, 1);
    sample(&x, m, a, 100 * MS, 12345, 0);
    sample(&x, m, a, 200 * MS, 99, 0);
    struct weft_sample away = {.time_ns = m->first_ns + 150 * MS, .value = 48 * MS, .thread = a};
    assert_int_equal(weft_profile_add_absence(x.p, &away), 0);
    /* Away for moments only: on a core now and then, for half of the time. */
    sample(&x, m, a, 220 * MS, 99, 0);
    away.time_ns = m->first_ns + 205 * MS;
    away.value = 5 * MS;
    assert_int_equal(weft_profile_add_absence(x.p, &away), 0);
    struct weft_scene *s = scene_of(&x, m);
    uint32_t hint = 0;
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, 90 * MS, &hint).on_ns, 0);
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, 95 * MS, &hint).on_ns, 5 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, 100 * MS, &hint).on_ns, 10 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, 198 * MS, &hint).on_ns, 10 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, 199 * MS, &hint).on_ns, 15 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, 210 * MS, &hint).on_ns, 25 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_SAMPLES, SECOND, &hint).on_ns, 30 * MS);
    weft_scene_free(s);
    weft_model_free(m);
}

/* If nothing says how often samples were taken, what is usual between those of a busy thread is: not the pauses in which
 * it had nothing to do, nor that two were taken at the same time. */
TEST(the_period_is_guessed)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_CYCLES};
    struct made x = begin(&source);
    uint32_t a = thread(&x, 1);
    for (int64_t i = 0; i < 40; i++)
        for (int64_t t = 1; t <= 4; t++) {
            sample(&x, m, a, (20 * i + 2 * t) * MS, 99, 0);
            sample(&x, m, a, (20 * i + 2 * t) * MS, 99, 1);
        }
    struct weft_scene *s = scene_of(&x, m);
    assert_int_equal(s->d->period_ns, 2 * MS);
    assert_true(s->d->estimated);
    weft_scene_free(s);
    weft_model_free(m);
}

/* More threads than strips: the busiest have one of their own, the others share the last one. */
TEST(many_threads)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    struct made x = begin(&source);
    for (uint32_t n = 0; n < 20; n++) {
        uint32_t t = thread(&x, 100 + n);
        for (int64_t i = 0; i <= n; i++)
            sample(&x, m, t, (5 + i) * MS, MS, 0);
    }
    thread(&x, 999); /* without samples: no strip */
    struct weft_scene *s = scene_of(&x, m);
    assert_int_equal(s->d->strips, VIEW_STRIPS);
    assert_int_equal(x.p->thread[s->d->strip[0].thread].thread, 119);
    assert_int_equal(s->d->strip[VIEW_STRIPS - 1].threads, 13);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->d->strips; i++) {
        uint32_t hint = 0;
        sum += view_density_until(s->d, i, VIEW_SAMPLES, SECOND, &hint).on_ns;
    }
    assert_int_equal(sum, 210 * (uint64_t)MS);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    for (int32_t height = 0; height <= 900; height += height ? 100 : 200) {
        vp.height_px = height;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        try_drawlist(&list);
        assert_true(g.strips >= 1 && g.strips <= VIEW_STRIPS);
        struct weft_strip_pick at;
        struct weft_pick pick =
            weft_view_pick(s, &g, weft_geometry_x(&g, 10 * MS), g.strips_y1 - 1);
        assert_true(pick.kind == WEFT_PLACE_STRIP && pick.strip == g.strips - 1);
        weft_view_strip_at(&at, s, &g, &pick);
        assert_int_equal(at.threads, 20 - (g.strips - 1));
        assert_int_equal(at.thread, WEFT_NONE);
    }
    /* The rows come first: there is one strip more now and then, even if strips are high. */
    uint32_t strips = 0;
    vp.text_percent = 200;
    vp.no_legend = true;
    for (int32_t height = WEFT_PICTURE_MIN_PX; height <= 2000; height += 10) {
        vp.height_px = height;
        assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
        assert_in_range(g.strips, strips, strips + 1);
        assert_true(strips == 0 || g.strips_y1 - g.rows_y1 <= list.height / 4);
        strips = g.strips;
    }
    assert_int_equal(strips, VIEW_STRIPS);
    weft_geometry_fini(&g);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Of more samples than are read for the place under the pointer, some of each thread are, whichever strips they are in. */
TEST(some_of_many)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    struct made x = begin(&source);
    for (uint32_t n = 0; n < 20; n++) {
        uint32_t t = thread(&x, 100 + n);
        for (int64_t i = 0; i < 1000; i++)
            sample(&x, m, t, 5 * MS + i, 1, 0);
    }
    struct weft_scene *s = scene_of(&x, m);
    struct weft_drawlist list = {0};
    struct weft_geometry g = {0};
    struct weft_viewport vp = whole();
    assert_int_equal(weft_view_draw(&list, &g, s, &vp), 0);
    assert_true(g.strips > 2);
    for (uint32_t strip = 0; strip < g.strips; strip++) {
        const struct weft_pick pick = {.kind = WEFT_PLACE_STRIP, .strip = strip, .time_ns = 5 * MS};
        struct weft_strip_pick at;
        weft_view_strip_at(&at, s, &g, &pick);
        const uint32_t threads = strip + 1 < g.strips ? 1 : 20 - strip;
        const uint32_t least = threads * 1000 < 4096 ? threads * 1000 : 2048;
        assert_int_equal(at.samples, threads * 1000);
        assert_in_range(at.looked, least, 4096);
        assert_int_not_equal(at.location, WEFT_NONE);
    }
    weft_geometry_fini(&g);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(interrupts)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    struct made x = begin(&source);
    uint32_t a = thread(&x, 1);
    sample(&x, m, a, 100 * MS, MS, 0);
    static const int64_t times[][2] = {{10, 20}, {12, 15}, {18, 30}, {900, 901}};
    for (size_t i = 0; i < COUNT(times); i++) {
        struct weft_interrupt r = {.from_ns = m->first_ns + (uint64_t)times[i][0] * MS,
                                   .to_ns = m->first_ns + (uint64_t)times[i][1] * MS,
                                   .thread = a};
        assert_int_equal(weft_profile_add_interrupt(x.p, &r), 0);
    }
    struct weft_scene *s = scene_of(&x, m);
    uint32_t hint = 0;
    assert_int_equal(view_density_until(s->d, 0, VIEW_INTERRUPTS, 10 * MS, &hint).on_ns, 0);
    assert_int_equal(view_density_until(s->d, 0, VIEW_INTERRUPTS, 15 * MS, &hint).on_ns, 5 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_INTERRUPTS, 40 * MS, &hint).on_ns, 20 * MS);
    assert_int_equal(view_density_until(s->d, 0, VIEW_INTERRUPTS, SECOND, &hint).on_ns, 21 * MS);
    struct weft_drawlist list = {0};
    struct weft_viewport vp = whole();
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
    unsigned marks = 0;
    for (uint32_t i = 0; i < list.draws; i++)
        marks += list.draw[i].op == WEFT_DRAW_SHADES && list.draw[i].ink == WEFT_INK_AWAY;
    assert_int_equal(marks, 2);
    weft_drawlist_fini(&list);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Without samples nothing is different. */
TEST(none)
{
    struct weft_model *m = half_a_second();
    struct weft_scene *s;
    struct weft_drawlist list = {0}, other = {0};
    struct weft_viewport vp = whole();
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_view_draw(&list, NULL, s, &vp), 0);
    struct weft_profile *p = weft_profile_new();
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(weft_scene_set_profile(s, p), 0);
    assert_null(s->p);
    assert_null(s->d);
    assert_int_equal(weft_view_draw(&other, NULL, s, &vp), 0);
    assert_int_equal(list.draws, other.draws);
    assert_memory_equal(list.draw, other.draw, list.draws * sizeof *list.draw);
    weft_drawlist_fini(&list);
    weft_drawlist_fini(&other);
    weft_scene_free(s);
    weft_model_free(m);
}

/* That with the most samples is drawn. */
TEST(busiest_source)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .period = MS};
    for (uint32_t k = 0; k < 5; k++) { /* of three, then of two */
        const uint32_t sources = k < 3 ? 3 : 2, which = k < 3 ? k : k - 3;
        struct made x = begin(&source);
        for (uint32_t i = 1; i < sources; i++) {
            struct weft_source other = source;
            other.name = text(x.p, i == 1 ? "cache-misses" : "page-faults");
            assert_int_equal(weft_profile_add_source(x.p, &other), i);
        }
        struct weft_sample one = {.time_ns = m->first_ns + MS,
                                  .value = 1,
                                  .stack = x.stack[0],
                                  .thread = thread(&x, 1),
                                  .source = which};
        assert_int_equal(weft_profile_add_sample(x.p, &one), 0);
        assert_int_equal(weft_profile_finish(x.p), 0);
        struct weft_scene *s;
        assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
        assert_int_equal(weft_scene_set_profile(s, x.p), 0);
        assert_int_equal(s->d->source, which);
        weft_scene_free(s);
    }
    weft_model_free(m);
}

TEST(without_memory)
{
    struct weft_model *m = half_a_second();
    const struct weft_source source = {.unit = WEFT_UNIT_CYCLES};
    const struct weft_overview_strip strip = {
        .x1 = 1000 * WEFT_PX, .y1 = 60 * WEFT_PX, .to_ns = SECOND, .view_to_ns = SECOND};
    int failures = 0;
    for (long n = 1;; n++) {
        struct made x = begin(&source);
        for (uint32_t i = 0; i < 12; i++)
            sample(&x, m, thread(&x, i), (1 + i) * MS, 1, 0);
        assert_int_equal(weft_profile_finish(x.p), 0);
        struct weft_scene *s;
        struct weft_drawlist list = {0};
        struct weft_viewport vp = whole();
        assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
        fail_at = n;
        int rc = weft_scene_set_profile(s, x.p);
        if (rc == 0)
            rc = weft_view_draw(&list, NULL, s, &vp);
        if (rc == 0)
            rc = weft_overview_draw(&list, s, &strip);
        const bool failed = fail_at == 0;
        fail_at = 0;
        assert_int_equal(rc, failed ? WEFT_E_NOMEM : 0);
        weft_drawlist_fini(&list);
        weft_scene_free(s);
        if (!failed)
            break;
        failures++;
    }
    assert_true(failures > 20);
    weft_model_free(m);
}

/* The same for the samples in a trace's file: they are not left out without a word. */
TEST(no_memory_for_the_samples_of_a_file)
{
    struct trace t = {.fd = -1};
    struct weft_scene *s = NULL;
    bool failed = true;
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED, .pid = 7}, "");
    samples_begin(&t, 1);
    const uint32_t main_ = put_node(&t, 0, 0x1000, 0);
    put_source(&t, put_text(&t, "cpu-clock"), WEFT_UNIT_NS);
    for (uint64_t i = 1; i <= 20; i++)
        put_sample(&t, i * MS, 7, 7, main_, MS);
    for (long n = 1; failed; n++) {
        struct weft_reader *r;
        struct weft_model *m;
        assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
        assert_int_equal(weft_model_build(&m, r, NULL, NULL, NULL), 0);
        fail_at = n;
        int rc = weft_scene_load(&s, m, r, false, NULL, NULL);
        failed = fail_at == 0;
        fail_at = 0;
        assert_int_equal(rc, failed ? WEFT_E_NOMEM : 0);
        assert_int_equal(s != NULL, !failed);
        if (s)
            assert_int_equal(s->p->samples, 20);
        weft_scene_free(s);
        weft_model_free(m);
        weft_reader_close(r);
    }
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
