/* SPDX-License-Identifier: ISC */
/* Samples in the viewer: what it says of them, and its flame graph. */
#include "allocations.h"
#include "explore/explore.h"
#include "explore/fact.h"
#include "profile/build.h"
#include "profile/join.h"
#include "trace.h"

enum { SECOND = 1000000000, MS = 1000000, WIDTH = 1000, HEIGHT = 800 };

/* Promise 1 runs in the first half of a second, 2, which it has created, in the third quarter; then the loop. */
static struct weft_model *made_model(void)
{
    struct trace t = {.fd = -1};
    const struct weft_event ev[] = {creates(0, LOOP, 1, TASK),
                                    label(1, 1, "outer"),
                                    creates(2, 1, 2, TASK),
                                    label(3, 2, "inner"),
                                    switches(10, 1),
                                    switches(SECOND / 2, 2),
                                    fulfills(SECOND / 4 * 3, 2, 2),
                                    switches(SECOND / 4 * 3 + 1, LOOP),
                                    fulfills(SECOND / 4 * 3 + 2, LOOP, 1),
                                    label(SECOND, LOOP, "end")};
    trace_packet(&t, 0, ev, COUNT(ev));
    return trace_model(&t);
}

static uint32_t text(struct weft_profile *p, const char *is)
{
    return weft_profile_add_text(p, is, (uint32_t)strlen(is));
}

static uint32_t stack(struct weft_profile *p, uint32_t parent, const char *name)
{
    uint64_t address = 0x1000 + 0x100 * (uint64_t)p->locations;
    uint32_t at = weft_profile_push(p, parent, 7, address, 0, 0);
    struct weft_function f = {.name = text(p, name), .file = text(p, "src/a.c"), .start_line = 3};
    struct weft_frame frame = {.function = weft_profile_add_function(p, &f)};
    assert_int_equal(weft_profile_resolve(p, p->stack[at].location, &frame, 1), 0);
    return at;
}

/* A sample each millisecond: main;run;outer, main;run;inner, main;run. */
static struct weft_profile *made_profile(const struct weft_model *m)
{
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    struct weft_source source = {.name = text(p, "cpu-clock"), .unit = WEFT_UNIT_NS, .period = MS};
    assert_int_equal(weft_profile_add_source(p, &source), 0);
    uint32_t thread = weft_profile_add_thread(p, 7, 11, text(p, "server"));
    uint32_t run = stack(p, stack(p, 0, "main"), "run");
    uint32_t outer = stack(p, run, "in_outer"), inner = stack(p, run, "in_inner");
    for (int t = 1; t <= 900; t++) {
        struct weft_sample s = {.time_ns = m->first_ns + (uint64_t)t * MS,
                                .value = MS,
                                .thread = thread,
                                .stack = t <= 500   ? outer
                                         : t <= 750 ? inner
                                                    : run};
        assert_int_equal(weft_profile_add_sample(p, &s), 0);
    }
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(weft_profile_join(p, m), 0);
    for (uint32_t i = 0; i < 750; i++) /* a trace of mirage's does not say which thread it is of */
        p->sample[i].promise = i < 500 ? 1 : 2;
    return p;
}

static struct weft_explorer *shown(bool samples)
{
    struct weft_explorer *e;
    struct weft_model *m = made_model();
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    if (samples)
        assert_int_equal(weft_scene_set_profile(s, made_profile(m)), 0);
    assert_int_equal(weft_explorer_new(&e), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "made up"), 0);
    weft_explorer_resize(e, WIDTH, HEIGHT);
    assert_non_null(weft_explorer_draw(e));
    return e;
}

/* The text of the fact with that name below that heading; NULL: there is none. */
static const char *fact(struct weft_explorer *e, const char *heading, const char *name)
{
    uint32_t count;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    bool below = false;
    for (uint32_t i = 0; i < count; i++) {
        if (f[i].heading)
            below = strcmp(f[i].name, heading) == 0;
        else if (below && strcmp(f[i].name, name) == 0)
            return f[i].text;
    }
    return NULL;
}

static bool has_text(const struct weft_drawlist *list, const char *text)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->y0 < list->height && d->count == strlen(text) &&
            !memcmp(list->texts + d->first, text, d->count))
            return true;
    }
    return false;
}

/* ---- Facts and tips ---- */

TEST(hot_functions)
{
    struct weft_explorer *e = shown(true);
    assert_string_equal(fact(e, "Hot functions", "in all"), "about 900 ms, 900 samples");
    assert_string_equal(fact(e, "Hot functions", "56 %"), "in_outer");
    assert_string_equal(fact(e, "Hot functions", "28 %"), "in_inner");
    assert_string_equal(fact(e, "Hot functions", "17 %"), "run");
    weft_explorer_select(e, 0, 1);
    assert_string_equal(fact(e, "On a core", "itself"), "about 500 ms, 500 samples");
    assert_string_equal(fact(e, "On a core", "with all that it created"),
                        "about 750 ms, 750 samples");
    assert_string_equal(fact(e, "Hot functions", "100 %"), "in_outer");
    weft_explorer_select(e, 0, 2);
    assert_null(fact(e, "On a core", "with all that it created"));
    assert_string_equal(fact(e, "Hot functions", "100 %"), "in_inner");
    assert_true(weft_explorer_go(e, "range=700000000-800000000"));
    assert_string_equal(fact(e, "On a core", "in all"), "about 101 ms, 101 samples");
    assert_string_equal(fact(e, "Hot functions", "50 %"), "in_inner");
    assert_true(weft_explorer_go(e, "range=950000000-960000000"));
    assert_non_null(fact(e, "On a core", "no sample"));
    weft_explorer_free(e);
}

TEST(strips_tell)
{
    struct weft_explorer *e = shown(true);
    weft_explorer_command(e, WEFT_COMMAND_LEGEND);
    weft_explorer_point(e, 300, HEIGHT - 10); /* at about 297 ms */
    const char *tip = weft_explorer_tip(e);
    assert_non_null(strstr(tip, "server 11, at 2"));
    assert_non_null(strstr(tip, "on a core 100 % of "));
    assert_non_null(strstr(tip, "100 % of that for a promise; mostly in in_outer ("));
    weft_explorer_point(e, 980, HEIGHT - 10);
    assert_non_null(strstr(weft_explorer_tip(e), "on no core"));
    assert_true(weft_explorer_key(e, "S", WEFT_SHIFT));
    weft_explorer_point(e, 300, HEIGHT - 10);
    assert_null(strstr(weft_explorer_tip(e), "server"));
    assert_non_null(strstr(weft_explorer_place(e), "samples=off"));
    weft_explorer_free(e);
}

/* ---- The flame graph ---- */

/* Where a frame's name is drawn; y below 0: it is not. */
static void find(struct weft_explorer *e, const char *name, double *x, double *y)
{
    const struct weft_drawlist *list = weft_explorer_draw(e);
    *y = -1;
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->count == strlen(name) &&
            !memcmp(list->texts + d->first, name, d->count)) {
            *x = (d->x0 + d->x1) / 2.0 / WEFT_PX;
            *y = d->y0 / (double)WEFT_PX - 3;
        }
    }
}

static void click(struct weft_explorer *e, const char *name)
{
    double x, y;
    find(e, name, &x, &y);
    assert_true(y > 0);
    weft_explorer_press(e, x, y, 1, 0);
    weft_explorer_release(e, x, y);
}

TEST(opens_and_closes)
{
    struct weft_explorer *e = shown(true);
    assert_false(has_text(weft_explorer_draw(e), "in_outer"));
    assert_true(weft_explorer_key(e, "F", WEFT_SHIFT));
    assert_true(has_text(weft_explorer_draw(e), "Flame graph of all samples"));
    assert_true(has_text(weft_explorer_draw(e), "in_outer"));
    assert_non_null(strstr(weft_explorer_place(e), "flame=1"));
    assert_string_equal(fact(e, "Flame graph", "of"), "all samples");
    assert_string_equal(fact(e, "Flame graph", "outermost"),
                        "main: 100.0 % (900 ms, 900 samples), itself 0.0 %; src/a.c:3");

    /* A click brings a frame nearer, Escape leads back, then closes. */
    double x, y;
    find(e, "in_inner", &x, &y);
    weft_explorer_point(e, x, y);
    assert_string_equal(weft_explorer_tip(e),
                        "in_inner: 27.8 % (250 ms, 250 samples), itself 27.8 %; src/a.c:3");
    click(e, "in_inner");
    assert_false(has_text(weft_explorer_draw(e), "in_outer"));
    assert_non_null(strstr(fact(e, "Flame graph", "frame"), "in_inner"));
    assert_non_null(strstr(weft_explorer_place(e), "&frame="));
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_true(has_text(weft_explorer_draw(e), "in_outer"));
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_false(has_text(weft_explorer_draw(e), "in_outer"));
    assert_false(weft_explorer_key(e, "Escape", 0));
    weft_explorer_free(e);
}

TEST(is_of_what_is_selected)
{
    struct weft_explorer *e = shown(true);
    assert_true(weft_explorer_command(e, WEFT_COMMAND_FLAME));
    weft_explorer_select(e, 0, 1);
    assert_true(has_text(weft_explorer_draw(e), "Flame graph of #1 outer"));
    assert_false(has_text(weft_explorer_draw(e), "in_inner"));
    assert_true(weft_explorer_key(e, "C", WEFT_SHIFT));
    assert_true(has_text(weft_explorer_draw(e), "Flame graph of #1 outer and all that it created"));
    assert_true(has_text(weft_explorer_draw(e), "in_inner"));

    /* The same place gives the same, in another explorer, too. */
    char place[1000];
    click(e, "in_inner");
    snprintf(place, sizeof place, "%s", weft_explorer_place(e));
    struct weft_explorer *other = shown(true);
    assert_true(weft_explorer_go(other, place));
    const struct weft_drawlist *a = weft_explorer_draw(e), *b = weft_explorer_draw(other);
    assert_int_equal(a->draws, b->draws);
    assert_string_equal(weft_explorer_place(other), place);
    assert_false(has_text(b, "in_outer"));
    weft_explorer_free(other);

    /* A range; away from a core, of which nothing is known; and none. */
    assert_true(weft_explorer_go(e, "range=100000000-200000000&flame=1"));
    assert_true(has_text(weft_explorer_draw(e), "on a core for 101 ms, 101 samples"));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_FLAME_AWAY));
    assert_true(has_text(weft_explorer_draw(e), "No thread is known to have been away then"));
    assert_false(weft_explorer_go(e, "flame=2"));
    assert_true(weft_explorer_go(e, "flame=1&frame=4000000000"));
    assert_true(has_text(weft_explorer_draw(e), "in_outer"));
    weft_explorer_free(e);
}

/* Its pane can be dragged, turned at and pointed at anywhere, with a trace that comes and goes. */
TEST(stays_sound)
{
    struct weft_explorer *e = shown(true);
    uint32_t random = 1;
    weft_explorer_command(e, WEFT_COMMAND_FLAME);
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        double x = random >> 8 & 1023, y = random >> 18 & 1023;
        switch (random % 11) {
        case 0:
            weft_explorer_point(e, x, y);
            break;
        case 1:
            weft_explorer_press(e, x, y, 1, 0);
            break;
        case 2:
            weft_explorer_drag(e, x, y);
            break;
        case 3:
            weft_explorer_release(e, x, y);
            break;
        case 4:
            weft_explorer_scroll(e, x, y, 0, x > 500 ? 1 : -1, 0);
            break;
        case 5:
            weft_explorer_command(e, (enum weft_command)((random >> 10) % WEFT_COMMANDS));
            break;
        case 6:
            weft_explorer_resize(e, 200 + (int)x, 200 + (int)y);
            break;
        case 7:
            weft_explorer_select(e, 0, random >> 9 & 1 ? 1 : WEFT_NONE);
            break;
        case 8: {
            struct weft_model *m = made_model();
            struct weft_scene *s;
            assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
            if (random >> 20 & 1)
                assert_int_equal(weft_scene_set_profile(s, made_profile(m)), 0);
            weft_explorer_replace(e, 0, s, m);
            break;
        }
        default:
            weft_explorer_tip(e);
            assert_non_null(weft_explorer_draw(e));
        }
        uint32_t count;
        if (random % 5 == 0)
            weft_explorer_facts(e, &count);
        if (random % 13 == 0)
            weft_explorer_follow(e, random >> 20);
    }
    weft_explorer_remove(e, 0);
    assert_non_null(weft_explorer_draw(e));
    weft_explorer_free(e);
}

TEST(without_samples)
{
    struct weft_explorer *e = shown(false);
    assert_null(fact(e, "Hot functions", "in all"));
    weft_explorer_select(e, 0, 1);
    assert_null(fact(e, "On a core", "itself"));
    weft_explorer_command(e, WEFT_COMMAND_FLAME);
    assert_true(has_text(weft_explorer_draw(e),
                         "No samples are in this trace: weft record --sample takes some"));
    weft_explorer_free(e);
}

/* Promises whose creators form a circle, as in a damaged trace. */
TEST(circles)
{
    struct weft_model *m = made_model();
    m->promise[1].creator = 2;
    uint8_t *mark = explore_created_by(m, 2);
    assert_true(mark && mark[1] && mark[2] && !mark[0]);
    free(mark);
    m->promise[1].creator = 1;
    mark = explore_created_by(m, 2);
    assert_true(mark && !mark[1] && mark[2]);
    free(mark);
    weft_model_free(m);
}

TEST(without_memory)
{
    int failures = 0;
    for (long n = 1; n < 100000; n++) {
        struct weft_explorer *e = shown(true);
        uint32_t count;
        fail_at = n;
        weft_explorer_go(e, "select=1&flame=1&created=1&async=1");
        const struct weft_drawlist *list = weft_explorer_draw(e);
        weft_explorer_facts(e, &count);
        weft_explorer_point(e, 300, HEIGHT - 100);
        weft_explorer_tip(e);
        bool failed = fail_at == 0;
        fail_at = 0;
        (void)list;
        weft_explorer_free(e);
        if (!failed)
            break;
        failures++;
    }
    assert_true(failures > 30 && failures < 99999);
}

RUN_TESTS(NULL, NULL)
