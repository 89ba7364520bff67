/* SPDX-License-Identifier: ISC */
/* What a picture leaves out, and that its legend says so: names in low rows, and what is counted. */
#include "../fuzz/try.h"
#include "trace.h"
#include "view/text.h"

/* ---- Pictures ---- */

struct picture {
    struct weft_model *m;
    struct weft_scene *s;
    struct weft_drawlist list;
    struct weft_geometry g;
    struct weft_viewport vp;
};

static struct picture *new_picture(const struct weft_event *ev, size_t count)
{
    struct picture *p = calloc(1, sizeof *p);
    struct trace t = {.fd = -1};
    assert_non_null(p);
    trace_packet(&t, 0, ev, count);
    p->m = trace_model(&t);
    assert_int_equal(weft_scene_new(&p->s, p->m, false, NULL, NULL), 0);
    p->vp =
        (struct weft_viewport){.selected = WEFT_NONE, .hovered = WEFT_NONE, .focus_row = WEFT_NONE};
    return p;
}

static void free_picture(struct picture *p)
{
    weft_drawlist_fini(&p->list);
    weft_geometry_fini(&p->g);
    weft_scene_free(p->s);
    weft_model_free(p->m);
    free(p);
}

static void draw(struct picture *p)
{
    assert_int_equal(weft_view_draw(&p->list, &p->g, p->s, &p->vp), 0);
    try_drawlist(&p->list);
}

/* The promises with a draw of that sort: at[promise] is its first one, or NULL. Returns how many. */
static uint32_t find_promises(const struct picture *p, enum weft_draw_op op,
                              const struct weft_draw **at)
{
    uint32_t count = 0;
    memset(at, 0, p->m->promises * sizeof *at);
    for (uint32_t i = 0; i < p->list.draws; i++) {
        const struct weft_draw *d = &p->list.draw[i];
        if (d->op != op || d->promise == WEFT_NONE)
            continue;
        assert_true(d->promise < p->m->promises);
        count += !at[d->promise];
        at[d->promise] = at[d->promise] ? at[d->promise] : d;
    }
    return count;
}

static uint32_t count_draws(const struct picture *p, enum weft_draw_op op, enum weft_ink ink)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->list.draws; i++)
        count += p->list.draw[i].op == op && p->list.draw[i].ink == ink;
    return count;
}

static bool has_text(const struct picture *p, const char *text)
{
    for (uint32_t i = 0; i < p->list.draws; i++) {
        const struct weft_draw *d = &p->list.draw[i];
        if (d->op == WEFT_DRAW_TEXT &&
            memmem(p->list.texts + d->first, d->count, text, strlen(text)))
            return true;
    }
    return false;
}

/* The legend's lines as one text, as they stand below one another. */
static void legend(const struct picture *p, char *out, size_t room)
{
    size_t n = 0;
    for (uint32_t i = 0; i < p->list.draws; i++) {
        const struct weft_draw *d = &p->list.draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->y0 > p->g.counters_y1)
            n += (size_t)snprintf(out + n, room - n, "%.*s ", (int)d->count,
                                  p->list.texts + d->first);
        assert_true(n < room);
    }
}

static void require_legend(const struct picture *p, const char *says, bool wanted)
{
    char text[8000] = "";
    legend(p, text, sizeof text);
    if (wanted != (strstr(text, says) != NULL))
        print_error("'%s' is%s in: %s\n", says, wanted ? " not" : "", text);
    assert_int_equal(strstr(text, says) != NULL, wanted);
    assert_null(strstr(text, "…"));
}

/* ---- Names ---- */

enum { ROWS = 60, END = 1000000 };

/* Lines one below the other, all from left to right; the 20th fails, the 40th should be resolved. */
static struct picture *many_lines(void)
{
    static char name[ROWS + 1][32];
    static struct weft_event ev[5 * ROWS];
    size_t n = 0;
    for (unsigned i = 1; i <= ROWS; i++) {
        snprintf(name[i], sizeof name[i], "request number %u", i);
        ev[n++] = creates(0, LOOP, i, TASK);
        ev[n++] = label(0, i, name[i]);
        if (i == 40)
            ev[n++] = label(0, i, "__should_resolve");
    }
    for (unsigned i = 1; i <= ROWS; i++)
        if (i == 20)
            ev[n++] = fails(END - 1, LOOP, i, "no route");
        else if (i != 40)
            ev[n++] = fulfills(END, LOOP, i);
    return new_picture(ev, n);
}

/* A name that comes at the last moment of a picture is seen in it; one that comes later is not. */
TEST(a_name_of_the_last_moment_is_seen)
{
    static struct weft_event ev[3 * ROWS];
    for (int later = 0; later < 2; later++) {
        size_t n = 0;
        for (unsigned i = 1; i <= ROWS; i++)
            ev[n++] = creates(0, LOOP, i, TASK);
        for (unsigned i = 1; i <= ROWS; i++)
            ev[n++] = label(END / 2 + (uint64_t)later, i, "late");
        for (unsigned i = 1; i <= ROWS; i++)
            ev[n++] = fulfills(END, LOOP, i);
        struct picture *p = new_picture(ev, n);
        p->vp.to_ns = END / 2;
        p->vp.height_px = 500;
        draw(p);
        assert_int_equal(has_text(p, "late"), !later);
        free_picture(p);
    }
}

/* Names get fewer as rows get lower, but never all at once, and the ones that matter stay. */
TEST(names_thin_out)
{
    struct picture *p = many_lines();
    const struct weft_draw **at = calloc(p->m->promises, sizeof *at);
    uint32_t before = 0;
    assert_non_null(at);
    p->vp.selected = weft_model_find(p->m, 50);
    for (int32_t height = 1700; height >= 200; height--) {
        p->vp.height_px = height;
        draw(p);
        uint32_t named = find_promises(p, WEFT_DRAW_TEXT, at);
        if (height == 1700)
            assert_int_equal(named, ROWS);
        else if (named + 2 < before - before / 4)
            print_error("%u names at a height of %d, %u one pixel above\n", named, height, before);
        assert_true(height == 1700 || named + 2 >= before - before / 4);
        assert_true(at[weft_model_find(p->m, 20)] && at[weft_model_find(p->m, 40)] &&
                    at[weft_model_find(p->m, 50)]);
        before = named;
    }
    assert_true(before >= 3 && before < ROWS / 2);
    free(at);
    free_picture(p);
}

/* No text of a promise lies over another's, in whatever room. */
TEST(names_do_not_lie_over_names)
{
    struct picture *p = many_lines();
    for (int32_t height = 200; height <= 1700; height += 37)
        for (uint16_t percent = 50; percent <= 300; percent += 50) {
            p->vp.height_px = height;
            p->vp.text_percent = percent;
            p->vp.width_px = 200 + height;
            draw(p);
            for (uint32_t i = 0; i < p->list.draws; i++) {
                const struct weft_draw *a = &p->list.draw[i];
                for (uint32_t k = 0; a->op == WEFT_DRAW_TEXT && a->promise != WEFT_NONE && k < i;
                     k++) {
                    const struct weft_draw *b = &p->list.draw[k];
                    if (b->op == WEFT_DRAW_TEXT && b->promise != WEFT_NONE && a->x0 < b->x1 &&
                        b->x0 < a->x1)
                        assert_true(abs(a->y0 - b->y0) >= a->size * 9 / 10);
                }
            }
        }
    free_picture(p);
}

/* Where rows are drawn together, too: of the long ones some, of the failed and the found first. */
TEST(folded_rows_have_names)
{
    enum { MANY = 2000 };
    static struct weft_event ev[4 * MANY];
    size_t n = 0;
    for (unsigned i = 1; i <= MANY; i++) {
        ev[n++] = creates(i, LOOP, i, TASK);
        ev[n++] = label(i, i, i == 700 ? "needle" : "hay");
    }
    ev[n++] = fails(500000, LOOP, 1500, "no route");
    for (unsigned i = 1; i <= MANY; i++)
        if (i != 1500)
            ev[n++] = fulfills(END, LOOP, i);
    struct picture *p = new_picture(ev, n);
    const struct weft_draw **at = calloc(p->m->promises, sizeof *at);
    assert_non_null(at);
    p->vp.height_px = 500;
    p->vp.search = try_search(p->s, "needle");
    draw(p);
    uint32_t named = find_promises(p, WEFT_DRAW_TEXT, at);
    assert_true(named >= 5 && named < 100);
    assert_non_null(at[weft_model_find(p->m, 1500)]);
    assert_non_null(at[weft_model_find(p->m, 700)]);
    weft_search_free((struct weft_search *)(uintptr_t)p->vp.search);
    free(at);
    free_picture(p);
}

/* ---- The legend ---- */

TEST(promises_and_texts_are_counted)
{
    struct picture *p = many_lines();
    const struct weft_draw **line = calloc(p->m->promises, sizeof *line);
    const struct weft_draw **text = calloc(p->m->promises, sizeof *text);
    char says[80];
    uint32_t unnamed = 0;
    assert_true(line && text);
    for (int32_t height = 200; height < 1600; height += 50) {
        p->vp.height_px = height;
        p->vp.width_px = height % 100 ? 1600 : 500;
        draw(p);
        uint32_t singly = find_promises(p, WEFT_DRAW_RECT, line), without = 0;
        find_promises(p, WEFT_DRAW_TEXT, text);
        for (uint32_t i = 0; i < p->m->promises; i++)
            without += line[i] && !text[i];
        assert_int_equal(p->g.left_out.folded, ROWS - singly);
        assert_int_equal(p->g.left_out.names, without);
        unnamed += without;
        snprintf(says, sizeof says, "drawn singly: %u.", ROWS - singly);
        require_legend(p, says, singly < ROWS);
        snprintf(says, sizeof says, "the texts of %u line", without);
        require_legend(p, says, without != 0);
    }
    assert_true(unnamed != 0);

    /* Of lines that are over before the picture begins none counts. */
    p->vp.from_ns = END / 2;
    p->vp.to_ns = END + 1;
    draw(p);
    assert_int_equal(p->g.left_out.folded + find_promises(p, WEFT_DRAW_RECT, line), ROWS);
    free(line);
    free(text);
    free_picture(p);
}

/* The same picture below the first one has as much as that. Its legend needs several lines, which is known only when it
 * has been drawn once: of that nothing is left. */
TEST(another_picture_below)
{
    enum { HEIGHT = 300 };
    struct picture *p = many_lines();
    p->vp.height_px = HEIGHT;
    p->vp.width_px = 300;
    draw(p);
    const struct weft_drawlist one = p->list;
    assert_true(p->g.y1 - p->g.counters_y1 > 5 * 11 * WEFT_PX);
    p->vp.top_px = HEIGHT;
    draw(p);
    assert_int_equal(p->list.draws, 2 * one.draws);
    assert_int_equal(p->list.text_bytes, 2 * one.text_bytes);
    assert_int_equal(p->list.point_count, 2 * one.point_count);
    assert_int_equal(p->list.shade_count, 2 * one.shade_count);
    assert_int_equal(p->list.width, one.width);
    assert_int_equal(p->list.height, one.height + HEIGHT * WEFT_PX);
    free_picture(p);
}

/* 200 promises are resolved in a moment, each by another one: too many arrows for a column. */
TEST(arrows_are_counted)
{
    enum { MANY = 200 };
    static struct weft_event ev[3 * MANY + 2];
    size_t n = 0;
    for (unsigned i = 1; i <= MANY; i++)
        ev[n++] = creates(i, LOOP, i, TASK);
    for (unsigned i = 1; i < MANY; i++)
        ev[n++] = fulfills(END / 2, i, i + 1);
    ev[n++] = fulfills(END / 2, LOOP, 1); /* has no arrow */
    ev[n++] = creates(END, LOOP, MANY + 1, TASK);
    struct picture *p = new_picture(ev, n);
    char says[80];
    for (int select = 0; select < 2; select++) {
        p->vp.height_px = 5000;
        p->vp.selected = select ? weft_model_find(p->m, 77) : WEFT_NONE;
        p->vp.hovered = select ? weft_model_find(p->m, 78) : WEFT_NONE;
        draw(p);
        uint32_t drawn = count_draws(p, WEFT_DRAW_ARROW, WEFT_INK_RESOLVE) - 1; /* the legend's */
        assert_true(drawn >= 5 && drawn < MANY / 2);
        assert_int_equal(p->g.left_out.arrows, MANY - 1 - drawn);
        for (uint32_t i = 0; !select && i < p->list.draws; i++) { /* faint, as many are there */
            const struct weft_draw *d = &p->list.draw[i];
            if (d->op == WEFT_DRAW_ARROW && d->y1 < p->g.rows_y1)
                assert_int_equal(d->alpha, 120);
        }
        for (uint32_t i = 0; !select && i < p->g.arrows; i++) { /* those that lived longest */
            const uint32_t about = p->m->interaction[p->g.arrow[i].interaction].other;
            assert_in_range(p->m->promise[about].id, 2, 1 + drawn);
        }
        snprintf(says, sizeof says, "Left out: %u arrows", MANY - 1 - drawn);
        require_legend(p, says, true);
    }
    p->vp.from_ns = 0; /* before all of them */
    p->vp.to_ns = END / 4;
    draw(p);
    assert_int_equal(p->g.left_out.arrows, 0);
    require_legend(p, "arrow", false);
    free_picture(p);
}

/* 50,000 alike: those in the picture less those that one of the drawn arrows stands for. */
TEST(arrows_of_many_are_counted)
{
    enum { MANY = 50000 };
    struct weft_event *ev = calloc(2 * MANY + 2, sizeof *ev);
    size_t n = 0;
    assert_non_null(ev);
    ev[n++] = creates(0, LOOP, 1, TASK);
    ev[n++] = creates(0, LOOP, 2, CONDITION);
    for (unsigned i = 0; i < MANY; i++) {
        ev[n++] = signal_only(10 + 20 * (uint64_t)i, 1, 2);
        ev[n++] = signal_only(11 + 20 * (uint64_t)i, 1, 1); /* has no arrow */
    }
    struct picture *p = new_picture(ev, n);
    draw(p);
    uint32_t drawn = count_draws(p, WEFT_DRAW_ARROW, WEFT_INK_SIGNAL) - 1;
    assert_true(drawn > 10 && p->g.left_out.arrows <= MANY - drawn && p->g.left_out.arrows > 0);
    p->vp.from_ns = 20 * 1000; /* few enough that all are looked at: none is left out */
    p->vp.to_ns = 20 * 1002;
    draw(p);
    drawn = count_draws(p, WEFT_DRAW_ARROW, WEFT_INK_SIGNAL) - 1;
    assert_int_equal(drawn, 2);
    assert_int_equal(p->g.left_out.arrows, 0);
    free(ev);
    free_picture(p);
}

/* More than are looked at one by one, but few enough that some in each part of the picture are drawn. */
TEST(arrows_are_drawn_of_some_thousands)
{
    enum { MANY = 5000 };
    struct weft_event *ev = calloc(MANY + 2, sizeof *ev);
    size_t n = 0;
    uint32_t quarter[4] = {0};
    assert_non_null(ev);
    ev[n++] = creates(0, LOOP, 1, TASK);
    ev[n++] = creates(0, LOOP, 2, CONDITION);
    for (unsigned i = 0; i < MANY; i++)
        ev[n++] = signal_only(10 + 20 * (uint64_t)i, 1, 2);
    struct picture *p = new_picture(ev, n);
    draw(p);
    for (uint32_t i = 0; i < p->g.arrows; i++)
        quarter[p->g.arrow[i].interaction * 4 / MANY]++;
    for (int i = 0; i < 4; i++)
        assert_in_range(quarter[i], 20, 200);
    free(ev);
    free_picture(p);
}

/* Of very many, only those about the promises that lived longest, also if the others lived only a fifth less. */
TEST(arrows_are_about_what_lived_longest)
{
    enum { BLOCK = 64, LONG = 300 * BLOCK, SHORT = 500 * BLOCK, UNIT = 1 << 17 };
    struct weft_event *ev = calloc(LONG + SHORT + 5, sizeof *ev);
    size_t n = 0;
    assert_non_null(ev);
    ev[n++] = creates(0, LOOP, 1, TASK);
    ev[n++] = creates(0, LOOP, 2, CONDITION);
    ev[n++] = creates(0, LOOP, 3, CONDITION);
    for (uint64_t i = 0; i < LONG + SHORT; i++)
        ev[n++] = signal_only(10 + 10 * i, i < LONG ? 2 : 3, 1);
    ev[n++] = fulfills(4 * UNIT - 1, LOOP, 3);
    ev[n++] = fulfills(5 * UNIT - 1, LOOP, 2);
    struct picture *p = new_picture(ev, n);
    draw(p);
    assert_true(p->g.arrows > 20);
    for (uint32_t i = 0; i < p->g.arrows; i++) {
        const uint32_t about = p->m->interaction[p->g.arrow[i].interaction].other;
        assert_int_equal(p->m->promise[about].id, 2);
    }
    free(ev);
    free_picture(p);
}

/* What the trace does not know, the picture cannot show. */
TEST(unknown_waits_are_said)
{
    struct picture *p = new_picture((const struct weft_event[]){creates(0, LOOP, 1, TASK)}, 1);
    for (int lacks = 0; lacks < 2; lacks++) {
        p->m->losses.pending = lacks;
        draw(p);
        require_legend(p, "Not all that is pending, or who waits for it, is known.", lacks);
    }
    free_picture(p);
}

TEST(pauses_are_counted)
{
    struct picture *p = new_picture(
        (const struct weft_event[]){creates(0, LOOP, 1, TASK), gc(100000, 50000), gc(200000, 1),
                                    gc(300000, 1), gc(400000, 50000), fulfills(END, LOOP, 1)},
        6);
    draw(p);
    assert_int_equal(count_draws(p, WEFT_DRAW_RECT, WEFT_INK_GC) - 1, 2);
    assert_int_equal(p->g.left_out.regions, 2);
    require_legend(p, "short sleeps, collections and gaps: 2", true);
    p->vp.from_ns = 299000;
    p->vp.to_ns = 301000; /* from near, it is seen */
    draw(p);
    assert_int_equal(p->g.left_out.regions, 0);
    require_legend(p, "short sleeps", false);
    free_picture(p);
}

/* Of more pauses than a picture draws, the first are drawn, and the others counted. */
TEST(many_pauses_are_counted)
{
    enum {
        PAUSES = 5000,
        DRAWN = 4002
    }; /* the limit, the one that exceeds it, and one that was held back */
    static struct weft_event ev[PAUSES + 2];
    size_t n = 0;
    ev[n++] = creates(0, LOOP, 1, TASK);
    for (uint64_t i = 0; i < PAUSES; i++)
        ev[n++] = gc(1000 * i + 500, 500);
    ev[n++] = fulfills(1000 * PAUSES, LOOP, 1);
    struct picture *p = new_picture(ev, n);
    p->vp.width_px = WEFT_PICTURE_MAX_PX;
    draw(p);
    assert_int_equal(count_draws(p, WEFT_DRAW_RECT, WEFT_INK_GC) - 1, DRAWN);
    assert_int_equal(p->g.left_out.regions, PAUSES - DRAWN);
    free_picture(p);
}

/* Counters leave the rows their texts, and get lower before they get fewer. */
TEST(counters_have_the_room_that_is_left)
{
    enum { LINES = 20, COUNTERS = 5 };
    static char name[LINES][32];
    static struct weft_event ev[4 * LINES + 3 * COUNTERS];
    size_t n = 0;
    for (unsigned i = 0; i < LINES; i++) {
        snprintf(name[i], sizeof name[i], "line number %u", i);
        ev[n++] = creates(0, LOOP, i + 1, TASK);
        ev[n++] = label(0, i + 1, name[i]);
    }
    static const char *const names[COUNTERS] = {"a", "bb", "ccc", "dddd", "eeeee"};
    for (int64_t i = 0, value = 3; i < COUNTERS; i++, value *= 1000)
        ev[n++] = counter(1000, 1, value, names[i]);
    for (unsigned i = 0; i < LINES; i++)
        ev[n++] = fulfills(END, LOOP, i + 1);
    struct picture *p = new_picture(ev, n);
    const struct weft_draw **at = calloc(p->m->promises, sizeof *at);
    uint32_t before = 0;
    assert_non_null(at);
    for (int32_t height = 400; height < 900; height += 10) {
        char says[80];
        p->vp.height_px = height;
        draw(p);
        uint32_t shown = 0;
        for (int i = 0; i < COUNTERS; i++) {
            snprintf(says, sizeof says, "%s 3", names[i]);
            shown += has_text(p, says);
        }
        assert_int_equal(find_promises(p, WEFT_DRAW_TEXT, at), LINES);
        assert_true(shown >= before && shown >= 1);
        assert_int_equal(p->g.left_out.scales, p->m->scales - shown);
        snprintf(says, sizeof says, "%u group", p->m->scales - shown);
        require_legend(p, says, shown < p->m->scales);
        before = shown;
    }
    assert_int_equal(before, COUNTERS);
    p->vp.no_counters = true; /* that was asked for */
    draw(p);
    require_legend(p, "group", false);
    free(at);
    free_picture(p);
}

/* More counters with one scale than lines are told apart, and than there is room for names. */
TEST(counters_of_a_strip_are_counted)
{
    enum { COUNTERS = 40 };
    static char name[COUNTERS][32];
    static struct weft_event ev[COUNTERS + 2];
    size_t n = 0;
    ev[n++] = creates(0, LOOP, 1, TASK);
    for (unsigned i = 0; i < COUNTERS; i++) {
        snprintf(name[i], sizeof name[i], "pool#counter%u", i);
        ev[n++] = counter(1000, 1, 7, name[i]);
    }
    ev[n++] = fulfills(END, LOOP, 1);
    struct picture *p = new_picture(ev, n);
    draw(p);
    uint32_t lines = 0, names = 0;
    for (uint32_t i = 0; i < p->list.draws; i++) {
        const struct weft_draw *d = &p->list.draw[i];
        lines += d->op == WEFT_DRAW_STEPS;
        names += d->op == WEFT_DRAW_TEXT && d->promise == WEFT_NONE &&
                 memmem(p->list.texts + d->first, d->count, "pool#", 5);
    }
    assert_int_equal(p->g.left_out.counters, COUNTERS - lines);
    assert_int_equal(p->g.left_out.counter_names, lines - names);
    assert_true(names > 4 && names < lines && lines < COUNTERS);
    require_legend(p, "counters more", true);
    require_legend(p, "the names of", true);
    free_picture(p);
}

RUN_TESTS(NULL, NULL)
