/* SPDX-License-Identifier: ISC */
/* Flame graphs: what must hold for every tree (boxes lie within their parents, nothing overlaps, every pixel is
 * accounted for), and what is drawn of some. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "profile/build.h"
#include "test.h"
#include "view/flame.h"
#include "view/view.h"

enum { X0 = 8 * WEFT_PX, WIDTH = 1000 * WEFT_PX, CALLS = 4000 };

/* ---- Trees ---- */

struct tree {
    struct weft_calltree t;
    struct weft_call call[CALLS];
    uint32_t last[CALLS]; /* child of each */
};

static struct tree *new_tree(uint64_t total)
{
    struct tree *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->t = (struct weft_calltree){
        .call = t->call, .calls = 1, .total = total, .samples = total, .unit = WEFT_UNIT_NS};
    t->call[0] = (struct weft_call){.parent = WEFT_NONE,
                                    .first_child = WEFT_NONE,
                                    .next_sibling = WEFT_NONE,
                                    .total = total,
                                    .self = total,
                                    .samples = total};
    return t;
}

static uint32_t call(struct tree *t, uint32_t parent, uint32_t text, uint64_t total)
{
    uint32_t at = t->t.calls++;
    assert_true(at < CALLS);
    t->call[at] = (struct weft_call){
        .parent = parent,
        .first_child = WEFT_NONE,
        .next_sibling = WEFT_NONE,
        .frame = {.kind = WEFT_FRAME_FUNCTION,
                  .text = text,
                  .function = WEFT_NONE,
                  .location = WEFT_NONE,
                  .promise = WEFT_NONE},
        .self = total,
        .total = total,
        .samples = total,
        .depth = t->call[parent].depth + 1,
    };
    if (t->call[parent].first_child == WEFT_NONE)
        t->call[parent].first_child = at;
    else
        t->call[t->last[parent]].next_sibling = at;
    t->last[parent] = at;
    t->call[parent].self -= total;
    if (t->call[at].depth > t->t.depth)
        t->t.depth = t->call[at].depth;
    return at;
}

/* Sums reach as far as they can. */
static struct tree *random_tree(uint32_t *random)
{
    uint64_t total = (uint64_t)next_random(random) << next_random(random) % 33 | 1;
    struct tree *t = new_tree(total);
    uint32_t wanted = 1 + next_random(random) % (CALLS - 2);
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t parent =
            next_random(random) % 3 ? t->t.calls - 1 : next_random(random) % t->t.calls;
        uint64_t left = t->call[parent].self;
        if (left == 0)
            continue;
        uint64_t part = next_random(random) % 4 ? left / (1 + next_random(random) % 50) : left;
        call(t, parent, 0, part ? part : 1);
    }
    return t;
}

/* ---- What must hold ---- */

static const struct weft_flame_box *parent_of(const struct weft_flame *f, const struct tree *t,
                                              const struct weft_flame_box *box)
{
    for (uint32_t i = 0; i < f->boxes; i++)
        if (f->box[i].row + 1 == box->row && f->box[i].merged == 1 &&
            f->box[i].node == t->call[box->node].parent)
            return &f->box[i];
    return NULL;
}

/* Whether a frame is drawn, alone or with others, or is less than a pixel; counted once. */
static void check_layout(const struct weft_flame *f, const struct tree *t, uint32_t focus,
                         int32_t x0, int32_t x1)
{
    uint64_t frames = 0;
    uint32_t above = t->call[focus].depth;
    for (uint32_t i = 0; i < f->boxes; i++) {
        const struct weft_flame_box *b = &f->box[i];
        assert_true(b->x0 >= x0 && b->x1 <= x1 && b->row < f->rows);
        if (i && b->row == b[-1].row)
            assert_true(b->x0 >= b[-1].x1);
        else if (i)
            assert_int_equal(b->row, b[-1].row + 1);
        if (b->row <= above) {
            assert_true(b->x0 == x0 && b->x1 == x1 && b->merged == 1);
            continue;
        }
        assert_true(b->x1 - b->x0 >= WEFT_PX);
        const struct weft_flame_box *p = parent_of(f, t, b);
        assert_non_null(p);
        assert_true(b->x0 >= p->x0 && b->x1 <= p->x1);
        assert_true(b->total <= p->total && b->before >= p->before);
        assert_true(b->before + b->total <= p->before + p->total);
        /* As wide as its share, to the unit. */
        long double wide = (long double)b->total / (long double)t->call[focus].total * (x1 - x0);
        assert_true(b->x1 - b->x0 - wide < 3 && wide - (b->x1 - b->x0) < 3);
        frames += b->merged;
    }
    /* Every child of a box that is drawn alone is in a box, or hidden. */
    uint64_t children = 0;
    for (uint32_t i = 0; i < f->boxes; i++) {
        const struct weft_flame_box *b = &f->box[i];
        if (b->row < above || b->merged > 1)
            continue;
        uint64_t sum = 0;
        uint32_t child = t->call[b->node].first_child;
        for (; child != WEFT_NONE; child = t->call[child].next_sibling) {
            children++;
            sum += t->call[child].total;
        }
        assert_true(sum + t->call[b->node].self == t->call[b->node].total);
    }
    assert_int_equal(children, frames + f->hidden);
}

TEST(boxes_tile)
{
    uint32_t random = 2463534242;
    struct weft_flame f = {0};
    for (int round = 0; round < 300; round++) {
        struct tree *t = random_tree(&random);
        uint32_t focus = round % 3 ? 0 : next_random(&random) % t->t.calls;
        int32_t x1 = X0 + (int32_t)(1 + next_random(&random) % WIDTH);
        if (t->call[focus].total) {
            assert_int_equal(weft_flame_layout(&f, &t->t, focus, X0, x1), 0);
            check_layout(&f, t, focus, X0, x1);
        }
        free(t);
    }
    weft_flame_fini(&f);
}

/* Two children of a third each and 100 of a third together, of a thousand pixels. */
TEST(narrow_frames_are_one)
{
    struct tree *t = new_tree(300000);
    struct weft_flame f = {0};
    uint32_t a = call(t, 0, 0, 100000), b = call(t, 0, 0, 100000);
    call(t, a, 0, 100000);
    for (int i = 0; i < 1000; i++)
        call(t, call(t, 0, 0, 100), 0, 100);
    assert_int_equal(weft_flame_layout(&f, &t->t, 0, 0, 900 * WEFT_PX), 0);
    assert_int_equal(f.boxes, 5);
    assert_int_equal(f.rows, 3);
    assert_int_equal(f.hidden, 0);
    const struct weft_flame_box *more = &f.box[3];
    assert_int_equal(f.box[1].node, a);
    assert_int_equal(f.box[2].node, b);
    assert_int_equal(more->merged, 1000);
    assert_int_equal(more->total, 100000);
    assert_int_equal(more->x0, 600 * WEFT_PX);
    assert_int_equal(more->x1, 900 * WEFT_PX);
    assert_int_equal(f.box[4].row, 2);

    /* From nearer, they are single again. */
    assert_int_equal(weft_flame_layout(&f, &t->t, a, 0, 900 * WEFT_PX), 0);
    assert_int_equal(f.boxes, 3);
    assert_int_equal(f.box[0].node, 0);
    assert_int_equal(f.box[2].x1, 900 * WEFT_PX);
    assert_int_equal(weft_flame_layout(&f, &t->t, CALLS, 0, 900 * WEFT_PX), WEFT_E_INVALID);
    weft_flame_fini(&f);
    free(t);
}

/* ---- Pictures ---- */

static bool has_text(const struct weft_drawlist *list, const char *text)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->op == WEFT_DRAW_TEXT && d->count == strlen(text) &&
            !memcmp(list->texts + d->first, text, d->count))
            return true;
    }
    return false;
}

static bool has_tip(const struct weft_drawlist *list, const char *text)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        if (d->tip != WEFT_NO_TIP && d->tip_size == strlen(text) &&
            !memcmp(list->texts + d->tip, text, d->tip_size))
            return true;
    }
    return false;
}

/* Everything lies within the picture, and texts within the list. */
static void check_list(const struct weft_drawlist *list)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        assert_true(d->x0 >= 0 && d->x0 <= d->x1 && d->x1 <= list->width);
        assert_true(d->y0 >= 0 && d->y0 <= d->y1 && d->y1 <= list->height);
        if (d->op == WEFT_DRAW_TEXT)
            assert_true(d->first + d->count <= list->text_bytes);
        if (d->tip != WEFT_NO_TIP)
            assert_true(d->tip + d->tip_size <= list->text_bytes);
    }
}

static uint32_t text(struct weft_profile *p, const char *is)
{
    uint32_t at = weft_profile_add_text(p, is, (uint32_t)strlen(is));
    assert_int_not_equal(at, WEFT_NONE);
    return at;
}

struct made {
    struct weft_profile *p;
    struct tree *t;
    uint32_t parse, promise;
};

static struct made make(void)
{
    struct made m = {.p = weft_profile_new(), .t = new_tree(1000000000)};
    struct weft_function f = {
        .name = text(m.p, "parse"), .file = text(m.p, "src/parse.c"), .start_line = 12};
    f.system_name = f.name;
    uint32_t function = weft_profile_add_function(m.p, &f);
    m.promise = call(m.t, 0, text(m.p, "GET <b>&\x01"), 600000000);
    m.t->call[m.promise].frame.kind = WEFT_FRAME_PROMISE;
    m.parse = call(m.t, m.promise, f.name, 351600000);
    m.t->call[m.parse].frame.function = function;
    call(m.t, 0, text(m.p, "0x7f12 (libz.so.1)"), 300000000);
    m.t->call[3].frame.kind = WEFT_FRAME_ADDRESS;
    call(m.t, 0, text(m.p, "narrow"), 5000000);
    return m;
}

static void free_made(struct made *m)
{
    weft_profile_free(m->p);
    free(m->t);
}

TEST(is_drawn)
{
    struct made m = make();
    struct weft_drawlist list = {0};
    struct weft_flame f = {0};
    struct weft_flame_options o = {
        .width_px = 800, .hovered = WEFT_NONE, .title = "title", .note = "note", .tips = true};
    assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
    check_list(&list);
    assert_true(has_text(&list, "title") && has_text(&list, "note") && has_text(&list, "all"));
    assert_true(has_text(&list, "parse") && has_text(&list, "0x7f12 (libz.so.1)"));
    assert_true(has_tip(
        &list, "parse: 35.2 % (352 ms, 351,600,000 samples), itself 35.2 %; src/parse.c:12"));
    assert_true(has_text(&list, "program") && has_text(&list, "promise") &&
                !has_text(&list, "kernel"));
    assert_int_equal(list.width, 800 * WEFT_PX);

    /* Each box is found where it is drawn, and nothing elsewhere. */
    for (uint32_t i = 0; i < f.boxes; i++) {
        int32_t y = f.frames_y0 + (int32_t)f.box[i].row * f.row_height;
        assert_int_equal(weft_flame_at(&f, f.box[i].x0, y), i);
        assert_int_equal(weft_flame_at(&f, f.box[i].x1 - 1, y + f.row_height - 1), i);
    }
    /* … also not where the last picture had more boxes. */
    const struct weft_flame_box *last = &f.box[--f.boxes];
    int32_t last_y = f.frames_y0 + (int32_t)last->row * f.row_height;
    assert_int_equal(weft_flame_at(&f, last->x0, last_y), WEFT_NONE);
    f.boxes++;
    assert_int_equal(weft_flame_at(&f, 400 * WEFT_PX, f.frames_y0 - 1), WEFT_NONE);
    assert_int_equal(weft_flame_at(&f, 400 * WEFT_PX, f.y1), WEFT_NONE);
    assert_int_equal(weft_flame_at(&f, -1, f.frames_y0), WEFT_NONE);

    /* The same again gives the same; below another picture it is only moved. */
    struct weft_drawlist other = {0};
    o.top_px = 100;
    assert_int_equal(weft_flame_draw(&other, &f, m.p, &m.t->t, &o), 0);
    assert_int_equal(other.draws, list.draws);
    assert_memory_equal(other.texts, list.texts, list.text_bytes);
    for (uint32_t i = 0; i < list.draws; i++)
        assert_true(list.draw[i].y0 + 100 * WEFT_PX == other.draw[i].y0 &&
                    list.draw[i].x1 == other.draw[i].x1);
    weft_drawlist_fini(&other);

    o = (struct weft_flame_options){.width_px = 100};
    assert_int_equal(weft_flame_draw(&other, &f, m.p, &m.t->t, &o), WEFT_E_INVALID);
    o = (struct weft_flame_options){.top_px = 16 * WEFT_PICTURE_MAX_PX + 1};
    assert_int_equal(weft_flame_draw(&other, &f, m.p, &m.t->t, &o), WEFT_E_INVALID);
    o.top_px--;
    assert_int_equal(weft_flame_draw(&other, &f, m.p, &m.t->t, &o), 0);
    weft_drawlist_fini(&other);
    o = (struct weft_flame_options){.focus = CALLS};
    assert_int_equal(weft_flame_draw(&other, &f, m.p, &m.t->t, &o), WEFT_E_INVALID);
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    free_made(&m);
}

/* What is pointed at has a frame: four straight lines along the inside of its edges. */
TEST(what_is_pointed_at_has_a_frame)
{
    struct made m = make();
    struct weft_drawlist list = {0};
    struct weft_flame f = {0};
    struct weft_flame_options o = {.width_px = 800, .hovered = WEFT_NONE, .no_legend = true};
    assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
    for (o.hovered = 0; o.hovered < f.boxes; o.hovered++) {
        assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
        const struct weft_draw *d = list.draw;
        while (d->op != WEFT_DRAW_LINE)
            assert_true(++d < list.draw + list.draws);
        const struct weft_draw *box = d - 1;
        const int32_t x0 = box->x0 + WEFT_PX / 2, x1 = box->x1 - WEFT_PX / 2;
        const int32_t y0 = box->y0 + WEFT_PX / 2, y1 = box->y1 - WEFT_PX / 2;
        const int32_t line[4][4] = {{box->x0, y0, box->x1, y0},
                                    {box->x0, y1, box->x1, y1},
                                    {x0, box->y0, x0, box->y1},
                                    {x1, box->y0, x1, box->y1}};
        assert_int_equal(box->op, WEFT_DRAW_RECT);
        assert_int_equal(box->x0, f.box[o.hovered].x0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(d[i].op, WEFT_DRAW_LINE);
            assert_memory_equal(((int32_t[]){d[i].x0, d[i].y0, d[i].x1, d[i].y1}), line[i],
                                sizeof line[i]);
        }
    }
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    free_made(&m);
}

/* A deep one, in little room: it scrolls, as far as there is something. */
TEST(scrolls)
{
    struct made m = make();
    struct weft_drawlist list = {0};
    struct weft_flame f = {0};
    uint32_t at = m.parse;
    for (int i = 0; i < 100; i++)
        at = call(m.t, at, m.t->call[m.parse].frame.text, 351600000);
    struct weft_flame_options o = {.width_px = 800, .height_px = 200, .hovered = WEFT_NONE};
    assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
    assert_int_equal(f.rows, 103);
    assert_int_equal(f.shown_rows, 9);
    assert_int_equal(f.first_row, 0);
    o.scrolled = 1000;
    assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
    assert_int_equal(f.first_row, 94);
    assert_true(list.height <= 200 * WEFT_PX);
    uint32_t box = weft_flame_at(&f, 20 * WEFT_PX, f.frames_y0);
    assert_int_not_equal(box, WEFT_NONE);
    assert_int_equal(f.box[box].row, 94);
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    free_made(&m);
}

/* One that is deeper than a picture can be high: with its title and its legend it is not higher. */
TEST(no_higher_than_a_picture)
{
    for (int legend = 0; legend < 2; legend++) {
        struct made m = make();
        struct weft_drawlist list = {0};
        struct weft_flame f = {0};
        uint32_t at = m.parse;
        for (int i = 0; i < 3900; i++)
            at = call(m.t, at, m.t->call[m.parse].frame.text, 351600000);
        struct weft_flame_options o = {
            .hovered = WEFT_NONE, .tips = true, .no_legend = !legend, .text_percent = 150};
        assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
        assert_true(f.shown_rows < f.rows);
        assert_int_equal(list.height, f.y1 - f.y0);
        assert_in_range(list.height, WEFT_PICTURE_MAX_PX * WEFT_PX - f.row_height,
                        WEFT_PICTURE_MAX_PX * WEFT_PX);
        weft_drawlist_fini(&list);
        weft_flame_fini(&f);
        free_made(&m);
    }
}

/* The number before a text that ends like that, of the texts of the list; 0: there is none. */
static uint32_t number_of(const struct weft_drawlist *list, const char *end)
{
    for (uint32_t i = 0; i < list->draws; i++) {
        const struct weft_draw *d = &list->draw[i];
        char text[300] = "";
        uint32_t number = 0;
        if (d->op != WEFT_DRAW_TEXT || d->count >= sizeof text)
            continue;
        memcpy(text, list->texts + d->first, d->count);
        if (!strstr(text, end))
            continue;
        for (const char *c = text; *c && *c != ' '; c++)
            number = *c == ',' ? number : number * 10 + (uint32_t)(*c - '0');
        return number;
    }
    return 0;
}

/* What the legend says is left out is what is in no box. */
TEST(legend_says_what_is_left_out)
{
    uint32_t random = 88172645, some = 0, cuts = 0;
    struct weft_profile *p = weft_profile_new();
    struct weft_flame f = {0};
    struct weft_drawlist list = {0};
    for (int round = 0; round < 100; round++) {
        struct tree *t = random_tree(&random);
        uint32_t drawn = 0, below = 0;
        struct weft_flame_options o = {.width_px = 200 + (int32_t)(next_random(&random) % 3000),
                                       .height_px = round % 2 ? 0 : 300,
                                       .hovered = WEFT_NONE,
                                       .tips = true};
        o.focus = round % 3 ? 0 : next_random(&random) % t->t.calls;
        assert_int_equal(weft_flame_draw(&list, &f, p, &t->t, &o), 0);
        for (uint32_t i = 0; i < f.boxes; i++)
            if (f.box[i].row < f.shown_rows)
                drawn += f.box[i].merged;
        for (uint32_t i = 0; i < t->t.calls; i++) {
            uint32_t node = i;
            while (node != o.focus && node != WEFT_NONE)
                node = t->call[node].parent;
            below += node == o.focus;
        }
        uint32_t left_out = below + t->call[o.focus].depth - drawn;
        some += left_out != 0;
        if (o.width_px > 700) /* else it is cut */
            assert_int_equal(number_of(&list, "left out: "), left_out);
        const bool cut = f.shown_rows < f.rows;
        if (o.width_px > 1200) { /* … and why */
            assert_int_equal(number_of(&list, "no room for the row"), cut ? left_out : 0);
            assert_int_equal(number_of(&list, " wide, or below such ones"),
                             f.hidden || !cut ? left_out : 0);
            cuts += cut && left_out;
        }
        free(t);
    }
    assert_true(some > 20 && cuts > 5 && cuts < 40);
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    weft_profile_free(p);
}

static uint32_t boxes_in(const struct weft_drawlist *list, enum weft_ink ink)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->draws; i++)
        count += list->draw[i].op == WEFT_DRAW_RECT && list->draw[i].ink == ink;
    return count;
}

/* Compared with another profile: only frames whose share is another one have another colour. */
TEST(what_grew_is_marked)
{
    struct weft_profile *p = weft_profile_new();
    struct tree *t = new_tree(1000);
    const uint32_t text_of = text(p, "f");
    const uint32_t a = call(t, 0, text_of, 500), b = call(t, 0, text_of, 500);
    struct weft_call_before before[8] = {{0}};
    struct weft_flame f = {0};
    struct weft_drawlist list = {0};
    struct weft_flame_options o = {
        .width_px = 1000, .hovered = WEFT_NONE, .before = before, .before_total = 100};
    static const struct {
        uint64_t a, b;
        unsigned grew, shrank;
    } cases[] = {{50, 50, 0, 0}, {20, 80, 1, 1}, {50, 20, 1, 0}, {50, 90, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        before[0].total = 100;
        before[a].total = cases[i].a;
        before[b].total = cases[i].b;
        o.no_legend = true;
        assert_int_equal(weft_flame_draw(&list, &f, p, &t->t, &o), 0);
        assert_int_equal(boxes_in(&list, WEFT_INK_FRAME_GREW), cases[i].grew);
        assert_int_equal(boxes_in(&list, WEFT_INK_FRAME_SHRANK), cases[i].shrank);
    }
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    free(t);
    weft_profile_free(p);
}

/* Where colours say what grew, what is found has a bar along the lower edge of its box. */
TEST(what_is_found_has_a_bar)
{
    struct made m = make();
    struct weft_call_before before[8] = {{0}};
    struct weft_flame_found found;
    struct weft_flame f = {0};
    struct weft_drawlist list = {0};
    struct weft_flame_options o = {.width_px = 1000,
                                   .hovered = WEFT_NONE,
                                   .before = before,
                                   .before_total = 100,
                                   .found = &found,
                                   .no_legend = true};
    assert_int_equal(weft_flame_find(&found, m.p, &m.t->t, "parse"), 0);
    assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
    const struct weft_draw *box = NULL;
    unsigned bars = 0;
    for (const struct weft_draw *d = list.draw; d < list.draw + list.draws; d++) {
        box = d->op == WEFT_DRAW_RECT && d->ink == WEFT_INK_FRAME_GROUP ? d : box;
        if (d->op != WEFT_DRAW_RECT || d->ink != WEFT_INK_FRAME_FOUND)
            continue;
        assert_true(d->x0 == box->x0 && d->x1 == box->x1 && d->y1 == box->y1);
        assert_in_range(d->y0, box->y0 + (box->y1 - box->y0) / 2, box->y1 - WEFT_PX);
        bars++;
    }
    assert_int_equal(bars, 1);
    weft_flame_found_fini(&found);
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    free_made(&m);
}

/* What is found within what is found counts once in the share, and what is too narrow counts, too. */
TEST(finds_frames)
{
    struct made m = make();
    struct weft_flame_found found;
    struct weft_drawlist list = {0};
    struct weft_flame f = {0};
    static const struct {
        const char *query, *says;
        uint32_t frames;
    } cases[] = {
        {"PARSE", "35.2 % in 2 frames", 2},
        {"parse array", "10.0 % in 1 frame", 1},
        {"\"parse array\"", "0.0 % in 0 frames", 0},
        {"narrow", "0.5 % in 1 frame", 1},
        {"0x7f12", "30.0 % in 1 frame", 1},
        {"type:parse", "0.0 % in 0 frames", 0},
        {"all", "0.0 % in 0 frames", 0},
        {"", "0.0 % in 0 frames", 0},
    };
    call(m.t, m.parse, text(m.p, "parse_array"), 100000000);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char says[80];
        assert_int_equal(weft_flame_find(&found, m.p, &m.t->t, cases[i].query), 0);
        weft_flame_found_text(says, sizeof says, &m.t->t, &found);
        assert_string_equal(says, cases[i].says);
        assert_int_equal(found.frames, cases[i].frames);
        struct weft_flame_options o = {
            .width_px = 1000, .hovered = WEFT_NONE, .found = &found, .tips = true};
        assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
        /* … and the legend's sample */
        assert_int_equal(boxes_in(&list, WEFT_INK_FRAME_FOUND),
                         cases[i].frames + (cases[i].frames != 0));
        assert_int_equal(has_text(&list, "found"), cases[i].frames != 0);
        o.no_legend = true;
        assert_int_equal(weft_flame_draw(&list, &f, m.p, &m.t->t, &o), 0);
        assert_int_equal(boxes_in(&list, WEFT_INK_FRAME_FOUND), cases[i].frames);
        weft_flame_found_fini(&found);
    }
    weft_drawlist_fini(&list);
    weft_flame_fini(&f);
    free_made(&m);
}

TEST(amounts)
{
    static const struct {
        enum weft_source_unit unit;
        uint64_t value;
        const char *text;
    } cases[] = {
        {WEFT_UNIT_NS, 1520000000, "1.52 s"},
        {WEFT_UNIT_NS, UINT64_MAX, "106752 d"},
        {WEFT_UNIT_COUNT, 99999, "99,999"},
        {WEFT_UNIT_COUNT, 1000000, "1.00 M"},
        {WEFT_UNIT_CYCLES, 1234567890, "1.23 G cycles"},
        {WEFT_UNIT_CYCLES, 45678900000, "45.7 G cycles"},
        {WEFT_UNIT_COUNT, UINT64_MAX, "18.4 E"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(weft_flame_amount(cases[i].unit, cases[i].value).text, cases[i].text);
}

TEST(without_memory)
{
    struct made m = make();
    struct weft_flame_options o = {.hovered = 0, .tips = true};
    struct failing each = {0};
    int rc = 0;
    while (fails_next(&each, rc)) {
        struct weft_drawlist list = {0};
        struct weft_flame f = {0};
        rc = weft_flame_draw(&list, &f, m.p, &m.t->t, &o);
        weft_drawlist_fini(&list);
        weft_flame_fini(&f);
    }
    assert_true(each.n > 3);
    free_made(&m);
}

RUN_TESTS(NULL, NULL)
