/* SPDX-License-Identifier: ISC */
/* What is known of a trace by the headers of its packets, and the picture of it. */
#include "allocations.h"
#include "packets.h"

#include "fuzz/try.h"
#include "view/outline.h"

enum { WIDE = 1008, HIGH = 900, MARGIN = 8 };

static void add_packet(struct trace *t, uint32_t stream, uint64_t begin, uint64_t end,
                       unsigned events)
{
    static uint64_t sequence;
    struct weft_events_header h = {.stream = stream,
                                   .sequence = ++sequence,
                                   .thread = 100 + stream,
                                   .begin_ticks = begin,
                                   .end_ticks = end};
    memcpy(h.thread_name, "worker", 6);
    events_begin(t, h);
    for (unsigned i = 0; i < events; i++)
        events_add(t, WEFT_FORM_SWITCH,
                   (struct weft_event){.kind = WEFT_EVENT_SWITCH, .time_ns = begin, .a = 7}, 0, 0);
}

static struct weft_outline *outline_of(struct trace *t)
{
    struct weft_reader *r;
    struct weft_outline *o;
    assert_int_equal(weft_reader_open(&r, trace_path(t), NULL), 0);
    assert_int_equal(weft_outline_new(&o, r), 0);
    weft_reader_close(r);
    trace_fini(t);
    return o;
}

/* The shades of a picture as a text: for each row that many letters, '.' where nothing was recorded, 'a' for the least. */
static char *shades_of(const struct weft_outline *o, unsigned letters)
{
    static char text[4096];
    struct weft_drawlist list = {0};
    char *to = text;
    int32_t y = -1;
    assert_int_equal(weft_outline_draw(&list, o, "a trace", WIDE, HIGH, 0), 0);
    try_drawlist(&list);
    for (uint32_t i = 0; i < list.draws; i++) {
        const struct weft_draw *d = &list.draw[i];
        if (d->op != WEFT_DRAW_SHADES)
            continue;
        if (d->y0 != y) {
            to += to > text;
            memset(to, '.', letters);
            to[letters] = '\n';
            to[letters + 1] = '\0';
            to += letters;
        }
        y = d->y0;
        for (uint32_t k = 0; k < d->count; k++) {
            const uint32_t column = (uint32_t)(d->x0 / WEFT_PX - MARGIN) / 2 + k;
            char *at = to - letters + column * letters / ((WIDE - 2 * MARGIN) / 2);
            const char letter = (char)('a' + list.shades[d->first + k] / 24);
            *at = letter > *at ? letter : *at;
        }
    }
    weft_drawlist_fini(&list);
    return text;
}

static bool says(const struct weft_outline *o, const char *words)
{
    struct weft_drawlist list = {0};
    bool found = false;
    assert_int_equal(weft_outline_draw(&list, o, "a trace", WIDE, HIGH, 0), 0);
    for (uint32_t i = 0; i < list.draws; i++)
        if (list.draw[i].op == WEFT_DRAW_TEXT)
            found |= list.draw[i].count == strlen(words) &&
                     memcmp(list.texts + list.draw[i].first, words, strlen(words)) == 0;
    weft_drawlist_fini(&list);
    return found;
}

/* Each stream has a row; half as much in the same time is a step lighter. A packet that nobody has closed lasts until the end. */
TEST(rows_and_shades)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 1, 1000, 1900, 40);
    add_packet(&t, 0, 3100, 4900, 40);
    add_packet(&t, 1, 6100, 6900, 10);
    add_packet(&t, 2, 8100, 8900, 90);
    add_packet(&t, 1, 10100, 10999, 40);
    add_packet(&t, 0, 10100, 0, 40);
    struct weft_outline *o = outline_of(&t);
    assert_non_null(o);
    expect_text(shades_of(o, 10), "..ii.....j\n"
                                  "j....h...j\n"
                                  ".......k..\n");
    assert_true(says(o, "worker 100") && says(o, "worker 101") && says(o, "worker 102"));
    assert_true(says(o, "a trace"));
    assert_true(says(o, "10 µs, 3 threads, shaded by how much was recorded"));
    weft_outline_free(o);
}

/* … which is when the recorder stopped, if it says so. */
TEST(until_it_stopped)
{
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED, .stop_mono_ns = 21000},
                 "");
    add_packet(&t, 0, 1000, 5900, 40);
    add_packet(&t, 1, 11000, 0, 40);
    struct weft_outline *o = outline_of(&t);
    assert_non_null(o);
    expect_text(shades_of(o, 4), "k...\n"
                                 "..jj\n");
    assert_true(says(o, "20 µs, 2 threads, shaded by how much was recorded"));
    weft_outline_free(o);
}

/* Of many streams, those that recorded most have a row of their own. */
TEST(many_streams)
{
    struct trace t = {.fd = -1};
    for (uint32_t i = 0; i < 100; i++)
        add_packet(&t, i, 1000 + i, 2000, i == 3 ? 90 : 1 + i / 50);
    struct weft_outline *o = outline_of(&t);
    assert_true(says(o, "worker 103") && says(o, "worker 150") && says(o, "worker 195"));
    assert_false(says(o, "worker 104"));
    assert_false(says(o, "worker 196"));
    assert_true(says(o, "53 others"));
    weft_outline_free(o);
}

/* Packets of mirage last until the next one begins. */
TEST(mirage)
{
    struct trace t = {.fd = -1};
    static const uint64_t begins[] = {100, 1100, 3700, 9100};
    for (uint64_t i = 0; i < 4; i++) {
        trace_begin(&t, i);
        for (int k = 0; k < 20; k++)
            trace_add(&t,
                      (struct weft_event){.kind = WEFT_EVENT_SWITCH, .time_ns = begins[i], .a = 1});
        trace_set_sizes(&t, t.size - t.packet);
    }
    struct weft_outline *o = outline_of(&t);
    expect_text(shades_of(o, 9), "kjjiiiiii\n");
    assert_true(says(o, "12 µs, 1 thread, shaded by how much was recorded"));
    weft_outline_free(o);
}

/* What is at one moment has a picture, too; what has no packets, or no events, has none. */
TEST(little)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 0, 5, 5, 1);
    struct weft_outline *o = outline_of(&t);
    assert_non_null(strchr(shades_of(o, 5), 'k'));
    weft_outline_free(o);

    t = (struct trace){.fd = -1};
    add_packet(&t, 0, 5, 9, 0);
    assert_null(outline_of(&t));

    t = (struct trace){.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    assert_null(outline_of(&t));
}

TEST(each_allocation_may_fail)
{
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    for (uint32_t i = 0; i < 60; i++)
        add_packet(&t, i, 1000 + i, 2000, 1);
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc)) {
        struct weft_drawlist list = {0};
        struct weft_outline *o;
        rc = weft_outline_new(&o, r);
        assert_true((rc == 0) == (o != NULL));
        if (o)
            rc = weft_outline_draw(&list, o, "a trace", WIDE, HIGH, 0);
        weft_outline_free(o);
        weft_drawlist_fini(&list);
    }
    assert_true(f.n > 6);
    weft_reader_close(r);
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
