/* SPDX-License-Identifier: ISC */
/* What a picture asks about the labels of a promise is the same as what walking along them says, for few and many, with
 * changes of counters between them, in the order of time and not. */
#include "../fuzz/try.h"
#include "packets.h"
#include "view/canvas.h"

enum { EVENTS = 3000, PROMISES = 4, WIDTH = 1000 * PX };

/* Of each ten events of a promise, one is a text; the third promise has only changes, the fourth few. */
static struct weft_model *build(bool backwards, bool changes_are_labels)
{
    struct trace t = {.fd = -1};
    char text[16];
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < EVENTS; i++) {
        const uint64_t p = i % 100 == 99 ? 4 : i % 3 + 1;
        const uint64_t time = backwards && p == 1 ? 100 + i * 7919 % EVENTS : 100 + i;
        snprintf(text, sizeof text, "at %u", (unsigned)i);
        struct weft_event ev = p != 3 && i / 3 % 10 == 7 ? label(time, p, text)
                                                         : counter(time, p, (int64_t)i, "count");
        if (i < PROMISES)
            ev = creates(i, LOOP, i + 1, TASK);
        weft_event_encode(trace_extend(&t, weft_event_size(&ev)), &ev);
    }
    trace_set_sizes(&t, t.size);
    struct weft_model *m = trace_model(&t);
    m->quirks.changes_are_labels = changes_are_labels;
    return m;
}

static uint32_t walk(const struct weft_model *m, uint32_t label)
{
    while (label != WEFT_NONE && m->label[label].is_change && !m->quirks.changes_are_labels)
        label = m->label[label].next;
    return label;
}

static uint32_t walk_to_start(const struct canvas *c, uint32_t promise, int32_t x0)
{
    const struct weft_model *m = c->m;
    uint32_t l = walk(m, m->promise[promise].first_label), chosen = l;
    for (; l != WEFT_NONE && canvas_x(c, m->label[l].time_ns) <= x0 + 12 * PX; l = m->label[l].next)
        if (!m->label[l].is_change)
            return l;
        else if (m->label[l].time_ns < c->from_ns)
            chosen = l;
    return chosen;
}

static void try_names(const struct canvas *c, uint32_t promise)
{
    const struct weft_model *m = c->m;
    assert_int_equal(view_name(c, promise), weft_model_name(m, promise));
    for (int32_t x = c->x0; x <= c->x1; x += WIDTH / 50)
        assert_int_equal(view_label_at_start(c, promise, x), walk_to_start(c, promise, x));
    for (uint32_t l = m->promise[promise].first_label; l != WEFT_NONE; l = m->label[l].next)
        assert_int_equal(view_next_label(c, l), walk(m, l));
}

/* Of what is left out, all is left of x; and the answer itself is only if nothing is known. */
static void try_from(const struct canvas *c, uint32_t label, int32_t x, bool in_order)
{
    const struct weft_model *m = c->m;
    const uint32_t found = view_label_from(c, label, x);
    uint32_t l = walk(m, label);
    for (; l != found; l = walk(m, m->label[l].next)) {
        assert_int_not_equal(l, WEFT_NONE);
        assert_true(canvas_x(c, m->label[l].time_ns) < x);
    }
    if (in_order && found != WEFT_NONE)
        assert_true(canvas_x(c, m->label[found].time_ns) >= x);
}

static void try_scene(struct weft_model *m, bool backwards)
{
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    for (int64_t from = -500; from < EVENTS; from += 700) {
        struct canvas c = {.m = m, .l = s->l, .x = s->x, .from_ns = from, .to_ns = from + 900};
        c.x0 = MARGIN;
        c.x1 = MARGIN + WIDTH;
        axis_init(&c.axis, NULL, c.from_ns, c.to_ns, c.x0, c.x1);
        for (uint32_t p = 1; p < m->promises; p++)
            try_names(&c, p);
        for (uint32_t l = 0; l < m->labels; l += 5)
            try_from(&c, l, c.x0 + (int32_t)(l * 7919 % WIDTH),
                     !backwards || m->label[l].promise != 1);
    }
    weft_scene_free(s);
}

TEST(they_are_as_if_walked)
{
    for (int i = 0; i < 4; i++) {
        struct weft_model *m = build(i & 1, i & 2);
        assert_int_equal(m->promises, PROMISES + 1);
        try_scene(m, i & 1);
        weft_model_free(m);
    }
}

/* A name is found behind any number of changes. */
TEST(a_name_behind_many_changes)
{
    enum { CHANGES = 900 };
    struct trace t = {.fd = -1};
    struct weft_scene *s;
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < CHANGES; i++) {
        struct weft_event ev = i == 0             ? creates(0, LOOP, 1, TASK)
                               : i == CHANGES / 2 ? label(i, 1, "a name")
                                                  : counter(i, 1, (int64_t)i, "count");
        weft_event_encode(trace_extend(&t, weft_event_size(&ev)), &ev);
    }
    trace_set_sizes(&t, t.size);
    struct weft_model *m = trace_model(&t);
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    struct canvas c = {.m = m, .l = s->l, .x = s->x, .to_ns = CHANGES, .x0 = MARGIN};
    c.x1 = MARGIN + WIDTH;
    axis_init(&c.axis, NULL, c.from_ns, c.to_ns, c.x0, c.x1);
    assert_string_equal(weft_model_text(m, view_name(&c, 1), NULL), "a name");
    try_names(&c, 1);
    weft_scene_free(s);
    weft_model_free(m);
}

/* The work does not grow with the labels that a picture does not show: only promises in order of time are listed, and only
 * those with many labels. */
TEST(those_with_many_are_listed)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        struct weft_model *m = build(backwards, false);
        struct weft_scene *s;
        assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
        const struct view_chains *x = &s->x->chains;
        assert_int_equal(x->count, 4);
        for (uint32_t i = 0; i < x->count; i++) {
            const struct view_chain *l = &x->list[i];
            uint32_t shown = 0;
            for (uint32_t k = 0; k < m->labels; k++)
                shown += m->label[k].promise == l->promise && !m->label[k].is_change;
            assert_int_equal(l->promise, i + 1);
            assert_int_equal(l->in_order, !backwards || i > 0);
            assert_int_equal(l->end - l->first, l->in_order ? shown : 0);
        }
        weft_scene_free(s);
        weft_model_free(m);
    }
}

RUN_TESTS(NULL, NULL)
