/* SPDX-License-Identifier: ISC */
/* The tour: each step leads to its place in data/example.weft, and what its text names is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/state.h"
#include "explore/table.h"
#include "explore/tour.h"
#include "trace.h"

enum { WIDTH = 1400, HEIGHT = 800, WORDS_MAX = 50 };

/* ---- Traces ---- */

static void add_file(struct weft_explorer *e, const char *path)
{
    struct weft_reader *r;
    struct weft_model *m;
    struct weft_scene *s;
    struct weft_error err = {.offset = 0};
    if (weft_reader_open(&r, path, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(weft_model_build(&m, r, NULL, NULL, NULL), 0);
    assert_int_equal(weft_scene_load(&s, m, r, false, NULL, NULL), 0);
    weft_reader_close(r);
    assert_int_equal(weft_explorer_add(e, s, m, "example.weft"), 0);
}

static void add_example(struct weft_explorer *e)
{
    char path[4096];
    const char *root = getenv("SOURCE_ROOT");
    assert_non_null(root);
    snprintf(path, sizeof path, "%s/data/example.weft", root);
    add_file(e, path);
}

static void add_other(struct weft_explorer *e)
{
    struct trace t = {.fd = -1};
    struct weft_scene *s;
    trace_begin(&t, 0);
    trace_add(&t, creates(0, LOOP, 5, TASK));
    trace_add(&t, fulfills(28000, LOOP, 5));
    struct weft_model *m = trace_model(&t);
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "other"), 0);
}

/* An explorer as the window has it: analysed. */
static struct weft_explorer *explorer(void)
{
    struct weft_explorer *e;
    assert_int_equal(weft_explorer_new(&e), 0);
    weft_explorer_resize(e, WIDTH, HEIGHT);
    weft_explorer_usually_overview(e);
    return e;
}

static struct weft_explorer *at_example(void)
{
    struct weft_explorer *e = explorer();
    add_example(e);
    assert_int_equal(weft_explorer_analyse(e), 0);
    return e;
}

/* ---- What is there ---- */

static bool is_drawn(struct weft_explorer *e, const char *text)
{
    const struct weft_drawlist *list = weft_explorer_draw(e);
    assert_non_null(list);
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->count >= strlen(text) &&
            !memcmp(list->texts + d->first, text, strlen(text)))
            return true;
    }
    return false;
}

static bool is_fact(struct weft_explorer *e, const char *text)
{
    uint32_t count;
    const struct weft_fact *f = weft_explorer_facts(e, &count);
    for (uint32_t i = 0; i < count; i++)
        if (strstr(f[i].name, text) || strstr(f[i].text, text))
            return true;
    return false;
}

static bool is_on_screen(struct weft_explorer *e, enum weft_kind kind)
{
    const char *text;
    bool shown;
    assert_non_null(weft_explorer_draw(e));
    return weft_explorer_kind(e, kind, &text, &shown) && shown;
}

static void expect_found(struct weft_explorer *e, const char *query, const char *found)
{
    weft_explorer_search(e, query);
    while (weft_explorer_work(e))
        ;
    assert_string_equal(weft_explorer_found(e), found);
    weft_explorer_search(e, "");
}

static unsigned words(const char *text)
{
    unsigned n = 0;
    for (const char *t = text; *t; t++)
        n += *t != ' ' && (t == text || t[-1] == ' ');
    return n;
}

/* ---- Steps ---- */

TEST(test_each_step)
{
    struct weft_explorer *e = at_example();
    char place[EXPLORE_PLACE_BYTES], link[32];
    for (unsigned step = 1; step <= WEFT_TOUR_STEPS; step++) {
        const struct weft_tour_step *s = &weft_tour_steps[step - 1];
        char name[64];
        if (words(s->text) > WORDS_MAX)
            fail_msg("step %u has %u words", step, words(s->text));
        weft_explorer_changed(e);
        assert_true(weft_explorer_tour_go(e, step));
        assert_true(weft_explorer_changed(e) & WEFT_CHANGED_TOUR);
        assert_int_equal(weft_explorer_tour(e), step);
        snprintf(place, sizeof place, "%s", weft_explorer_place(e));
        /* The step alone, its place, and the place that it is copied as, lead to the same view. */
        snprintf(link, sizeof link, "tour=%u", step);
        assert_memory_equal(place, link, strlen(link));
        assert_true(weft_explorer_go(e, ""));
        assert_int_equal(weft_explorer_tour(e), 0);
        assert_true(weft_explorer_go(e, s->place));
        assert_int_equal(weft_explorer_tour(e), 0);
        assert_string_equal(weft_explorer_place(e), place + strlen(link) + 1);
        assert_true(weft_explorer_go(e, link));
        assert_string_equal(weft_explorer_place(e), place);
        assert_true(weft_explorer_go(e, place));
        assert_string_equal(weft_explorer_place(e), place);
        /* What stands in quotes is drawn. */
        for (const char *t = strchr(s->text, '"'); t; t = strchr(t, '"')) {
            int size = (int)strcspn(++t, "\"");
            snprintf(name, sizeof name, "%.*s", size, t);
            if (!is_drawn(e, name))
                fail_msg("step %u: \"%s\" is not in the picture", step, name);
            t += size + 1;
        }
    }
    weft_explorer_free(e);
}

TEST(test_what_texts_say)
{
    struct weft_explorer *e = at_example();
    assert_true(weft_explorer_tour_go(e, 1)); /* sleep is folded, and there are findings */
    assert_non_null(explore_folds(e, 0));
    assert_true(is_drawn(e, "8.97 s"));
    assert_int_equal(weft_explorer_analysis(e, 0)->findings.count, 3);
    assert_true(weft_explorer_tour_go(e, 2));
    assert_true(is_fact(e, "#5 GET /book/7"));
    assert_true(is_fact(e, "3.78 ms in 2 waits, 79 % of its life"));
    assert_true(is_on_screen(e, WEFT_KIND_WAITING) && is_on_screen(e, WEFT_KIND_RUNNING));
    assert_true(weft_explorer_tour_go(e, 3));
    assert_true(is_fact(e, "#12 SELECT book 3"));
    assert_true(is_fact(e, "#2 pool connections: waited"));
    assert_true(is_on_screen(e, WEFT_KIND_WAITS) && is_on_screen(e, WEFT_KIND_SIGNALS) &&
                is_on_screen(e, WEFT_KIND_READS));
    assert_true(weft_explorer_tour_go(e, 4));
    assert_true(is_fact(e, "Finding 1 of"));
    assert_true(is_on_screen(e, WEFT_KIND_EVIDENCE) && is_on_screen(e, WEFT_KIND_FAILED));
    expect_found(e, "type:query outcome:failed", "2 found");
    expect_found(e, "type:request outcome:pending", "4 found");
    weft_explorer_free(e);
}

TEST(test_the_table)
{
    struct weft_explorer *e = at_example();
    assert_true(weft_explorer_tour_go(e, 5));
    while (weft_explorer_work(e))
        ;
    const struct weft_table_view *t = weft_explorer_table(e);
    assert_true(t->open && t->has_cpu);
    assert_int_equal(t->all, 9);
    assert_string_equal(t->row[0].cell[WEFT_TABLE_NAME], "GET /report");
    assert_string_equal(t->row[0].cell[WEFT_TABLE_RUNNING], "26.8 ms");
    assert_true(is_fact(e, "sum_orders")); /* the hottest function of the measured range */
    weft_explorer_free(e);
}

/* ---- Commands ---- */

TEST(test_next_and_back)
{
    struct weft_explorer *e = at_example();
    assert_false(weft_explorer_key(e, "PageDown", 0));
    assert_string_equal(weft_explorer_why(e), "There is no tour: F1 begins one");
    assert_true(weft_explorer_tour_go(e, 1));
    assert_false(weft_explorer_key(e, "PageUp", 0));
    assert_string_equal(weft_explorer_why(e), "This is the first step of the tour");
    for (unsigned step = 2; step <= WEFT_TOUR_STEPS; step++) {
        assert_true(weft_explorer_key(e, "PageDown", 0));
        assert_int_equal(weft_explorer_tour(e), step);
    }
    assert_false(weft_explorer_key(e, "PageDown", 0));
    assert_string_equal(weft_explorer_why(e), "This is the last step of the tour");
    assert_true(weft_explorer_key(e, "PageUp", 0));
    assert_int_equal(weft_explorer_tour(e), WEFT_TOUR_STEPS - 1);
    /* Whatever is looked at meanwhile, the next step is the next one. */
    weft_explorer_key(e, "0", 0);
    assert_int_equal(weft_explorer_tour(e), WEFT_TOUR_STEPS - 1);
    /* Escape leaves the tour, and only that. */
    assert_true(weft_explorer_tour_go(e, 2));
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_int_equal(weft_explorer_tour(e), 0);
    assert_int_not_equal(weft_explorer_selected(e, NULL), WEFT_NONE);
    assert_true(weft_explorer_key(e, "Escape", 0));
    assert_int_equal(weft_explorer_selected(e, NULL), WEFT_NONE);
    assert_true(weft_explorer_tour_go(e, 2));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_TOUR_LEAVE));
    assert_false(weft_explorer_command(e, WEFT_COMMAND_TOUR_LEAVE));
    assert_string_equal(weft_explorer_why(e), "There is no tour: F1 begins one");
    weft_explorer_free(e);
}

TEST(test_other_traces)
{
    struct weft_explorer *e = explorer();
    assert_false(weft_explorer_tour_go(e, 1)); /* nothing is open */
    assert_false(weft_explorer_go(e, "tour=1"));
    add_other(e);
    assert_false(weft_explorer_is_example(e, 0));
    assert_false(weft_explorer_tour_go(e, 2));
    assert_false(weft_explorer_go(e, "tour=2"));
    assert_int_equal(weft_explorer_tour(e), 0);
    assert_int_equal(weft_explorer_selected(e, NULL), WEFT_NONE); /* it has a promise 5, too */
    assert_false(weft_explorer_go(e, "tour=6"));
    assert_false(weft_explorer_go(e, "tour=1&tour=x"));
    add_example(e);
    assert_true(weft_explorer_is_example(e, 1));
    assert_false(weft_explorer_tour_go(e, 1)); /* places are of the first trace */
    weft_explorer_remove(e, 0);
    assert_true(weft_explorer_tour_go(e, 1));
    add_other(e);
    assert_int_equal(weft_explorer_tour(e), 1);
    weft_explorer_remove(e, 0);
    assert_int_equal(weft_explorer_tour(e), 0);
    weft_explorer_free(e);
}

/* What a place says besides the step counts, too; what says where to look counts more. */
TEST(test_more_in_a_place)
{
    struct weft_explorer *e = at_example();
    assert_true(weft_explorer_go(e, "text=150&tour=2&legend=off"));
    assert_non_null(strstr(weft_explorer_place(e), "select=5&"));
    assert_non_null(strstr(weft_explorer_place(e), "&text=150"));
    assert_non_null(strstr(weft_explorer_place(e), "&legend=off"));
    assert_true(weft_explorer_go(e, "tour=2&from=1000&to=2000"));
    assert_string_equal(weft_explorer_place(e), "tour=2&from=1000&to=2000&overview=1&text=150");
    assert_true(weft_explorer_place_is_analysed("tour=4"));
    weft_explorer_free(e);
}

RUN_TESTS(NULL, NULL)
