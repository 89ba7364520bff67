/* SPDX-License-Identifier: ISC */
/* Lets the n-th allocation fail, for n = 1, 2, 3 … until all succeed: each time "out of memory" comes
 * back, nothing is leaked, and nothing crashes. Linked with --wrap=malloc and so on. */
#include "allocations.h"
#include "packets.h"
#include "read/snapshot.h"
#include "read/reader.h"
#include "view/view.h"
#include "write/mirage.h"

/* Runs what until no allocation fails; returns how many there were. */
static long try_each_failure(int what(void *data, struct weft_error *err), void *data)
{
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc)) {
        struct weft_error err = {.code = 1};
        rc = what(data, &err);
        if (rc < 0 && err.code != 1) { /* who fills it, says so */
            assert_int_equal(err.code, WEFT_E_NOMEM);
            assert_true(err.text[0] != '\0');
        }
    }
    return f.n - 1;
}

/* A trace with enough of everything that all arrays grow more than once. */
static void make_trace(struct trace *t)
{
    static char text[32];
    for (uint64_t p = 0; p < 100; p++) {
        trace_begin(t, p);
        for (uint64_t i = 100 * p; i < 100 * p + 12; i++) {
            snprintf(text, sizeof text, "text %u", (unsigned)i);
            trace_add(t, creates(1000 * i, i % 3 ? i - 1 : LOOP, i, (unsigned)(i % WEFT_TYPES)));
            trace_add(t, label(1000 * i + 1, i, text));
            trace_add(t, label(1000 * i + 1, i, "__should_resolve"));
            trace_add(t, switches(1000 * i + 2, i));
            trace_add(t, counter(1000 * i + 3, i, (int64_t)i, text));
            trace_add(t, reads(1000 * i + 4, i, i / 2));
            trace_add(t, gc(1000 * i + 10, 3));
            trace_add(t,
                      i % 2 ? fails(1000 * i + 900, i, i, text) : becomes(1000 * i + 9, i, i + 1));
        }
    }
}

static int read_model(void *data, struct weft_error *err)
{
    struct weft_reader *r;
    struct weft_model *m = NULL;
    int rc = weft_reader_open(&r, data, err);
    if (rc == 0)
        rc = weft_model_build(&m, r, NULL, NULL, err);
    else
        assert_null(r);
    if (rc < 0)
        assert_null(m);
    weft_reader_close(r);
    weft_model_free(m);
    return rc;
}

TEST(reader_and_model)
{
    struct trace t = {.fd = -1};
    make_trace(&t);
    char path[sizeof t.path];
    memcpy(path, trace_path(&t), sizeof path);
    assert_true(try_each_failure(read_model, path) > 60);
    trace_fini(&t);
}

/* The same for weft's own: many streams, sites and clock pairs; pending promises and ended ones. */
static void make_weft_trace(struct trace *t)
{
    struct strings s = {.used = 0};
    uint32_t site[90], type = strings_text(&s, "task");
    char place[40][32];
    for (uint32_t i = 0; i < COUNT(site); i++) {
        uint32_t code = type;
        if (i < COUNT(place)) {
            snprintf(place[i], sizeof place[i], "/usr/lib/x+0x%x", i);
            code = strings_text(&s, place[i]);
        }
        site[i] = strings_site(&s, code, i % 2 ? code : 0, code, i % 3);
    }
    facts_packet(t,
                 (struct weft_facts_header){.state = WEFT_TRACE_RECORDING, .clock = WEFT_CLOCK_TSC},
                 "program=x\narg=1\narg=2\nhost=h\n");
    for (int i = 0; i < 20; i++)
        packet_bytes(t, "arg=3\0", 6);
    packet_pad(t, -t->size & 7, 0);
    strings_packet(t, &s);
    for (uint32_t i = 0; i < COUNT(place); i += 20) {
        names_begin(t, 20);
        for (uint32_t j = 0; j < 20; j++)
            names_entry(t, &(struct name_entry){place[i + j], j % 4 ? "f" : "", "a.c", j}, 0);
    }
    uint64_t ids[300];
    struct weft_pending_cell cells[300] = {{.version = 0}};
    for (uint64_t i = 0; i < COUNT(ids); i++) {
        ids[i] = (100000 + i) | (i % 3 ? 0 : WEFT_PENDING_RESOLVED);
        cells[i] = (struct weft_pending_cell){
            .site = site[i % 90], .packet = 1 << 20, .note_tag = {WEFT_EVENT_NOTIFIES << 24 | 200}};
    }
    pending_packet(t, (struct weft_pending_header){.kept = 300}, ids, cells, COUNT(ids));
    for (uint64_t p = 1; p < 100; p++) {
        uint64_t begin = 1000000000 * p;
        struct weft_events_header h = {.stream = (uint32_t)p / 2,
                                       .sequence = p + 1,
                                       .base = 64 * p + 1,
                                       .begin_ticks = begin,
                                       .pair_ticks = begin,
                                       .pair_mono_ns = begin};
        events_begin_ended(t, h, "1111");
        for (uint64_t i = 0; i < 12; i++) {
            uint64_t id = 64 * p + 1 + i;
            events_put(t, with_text(creates(begin + i, LOOP, id, 0), "label"), site[id % 90]);
            events_put(t, switches(begin + i, id), 0);
            events_put(t, should_resolve(begin + i, id), 0);
            events_put(t, suspends(begin + i + 1), 0);
            events_put(t, resumes(begin + i + 100), 0);
            events_put(t, fails(begin + i + 101, id, id / 2, i % 2 ? "text" : place[1]), 0);
        }
        events_stream(t, begin + 500, 1000 + (uint32_t)p, 7, "x");
        events_put(t, notifies(begin + 600, p, 2 * p), 0);
        packet_pad(t, -t->size & 7, 0);
    }
}

TEST(weft_reader_and_model)
{
    struct trace t = {.fd = -1};
    make_weft_trace(&t);
    char path[sizeof t.path];
    memcpy(path, trace_path(&t), sizeof path);
    assert_true(try_each_failure(read_model, path) > 60);
    trace_fini(&t);
}

static int copy(void *data, struct weft_error *err)
{
    struct weft_input in, out = {.fd = -1};
    struct weft_snapshot *s = NULL;
    int rc = weft_input_open(&in, data, err);
    if (rc == 0)
        rc = weft_snapshot_begin(&s, &in, err);
    if (rc > 0)
        rc = weft_snapshot_to_room(s, &out, err);
    else
        assert_null(s);
    weft_snapshot_free(s);
    weft_input_close(&in);
    weft_input_close(&out);
    return rc;
}

TEST(snapshot)
{
    struct trace t = {.fd = -1};
    make_weft_trace(&t);
    char path[sizeof t.path];
    memcpy(path, trace_path(&t), sizeof path);
    assert_true(try_each_failure(copy, path) > 60);
    trace_fini(&t);
}

TEST(mirage_snapshot)
{
    struct trace t = {.fd = -1};
    for (unsigned i = 0; i < 40; i++) {
        trace_begin(&t, i);
        trace_add(&t, switches(i, LOOP));
    }
    char path[sizeof t.path];
    memcpy(path, trace_path(&t), sizeof path);
    assert_true(try_each_failure(copy, path) > 4);
    trace_fini(&t);
}

/* A text so long that the reader's window must grow. */
TEST(window)
{
    struct trace t = {.fd = -1};
    char *text = malloc(1 << 20), path[sizeof t.path];
    memset(text, 'x', (1 << 20) - 1);
    text[(1 << 20) - 1] = '\0';
    trace_begin(&t, 0);
    trace_add(&t, label(1, 1, text));
    memcpy(path, trace_path(&t), sizeof path);
    assert_true(try_each_failure(read_model, path) > 10);
    trace_fini(&t);
    free(text);
}

static int lay_out_and_draw(void *data, struct weft_error *err)
{
    const struct weft_model *m = data;
    struct weft_scene *s;
    struct weft_search *q = NULL;
    struct weft_drawlist list = {0};
    struct weft_viewport vp = {.selected = 40,
                               .hovered = WEFT_NONE,
                               .focus_row = WEFT_NONE,
                               .title = "title",
                               .tips = true};
    (void)err;
    int rc = weft_scene_new(&s, m, false, NULL, NULL);
    if (rc < 0)
        assert_null(s);
    else
        rc = weft_search_new(&q, s, "text");
    if (q)
        weft_search_work(q, 0);
    vp.search = q;
    if (rc == 0)
        rc = weft_view_draw(&list, NULL, s, &vp);
    weft_drawlist_fini(&list);
    weft_search_free(q);
    weft_scene_free(s);
    return rc;
}

TEST(layout_and_view)
{
    struct trace t = {.fd = -1};
    make_trace(&t);
    struct weft_model *m = trace_model(&t);
    assert_true(try_each_failure(lay_out_and_draw, m) > 20);
    weft_model_free(m);
}

/* Many lines in a row, so that they are drawn from the index; times that run backwards, so that what is recorded
 * must be sorted. */
TEST(summaries)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (uint64_t p = 0; p < 4000; p++) {
        uint64_t back = 1000 * (5000 - p);
        struct weft_event ev[] = {creates(1000 * p, LOOP, p, 1), switches(1000 * p + 100, p),
                                  fulfills(1000 * p + 600, LOOP, p),
                                  p % 2 ? label(back, p, "text") : counter(back, p, 7, "level"),
                                  read_later(back, p, p / 2)};
        for (size_t i = 0; i < COUNT(ev); i++)
            weft_event_encode(trace_extend(&t, weft_event_size(&ev[i])), &ev[i]);
    }
    trace_set_sizes(&t, t.size);
    struct weft_model *m = trace_model(&t);
    assert_true(try_each_failure(lay_out_and_draw, m) > 20);
    weft_model_free(m);
}

static int ask(void *data, struct weft_error *err)
{
    const struct weft_model *m = data;
    uint32_t *sorted = weft_model_by_id(m);
    (void)err;
    int rc = sorted ? 0 : WEFT_E_NOMEM;
    free(sorted);
    return rc;
}

TEST(questions)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (uint64_t i = 100; i > 0; i--) /* so that they must be sorted */
        trace_add(&t, creates(i, LOOP, i, 1));
    struct weft_model *m = trace_model(&t);
    assert_int_equal(try_each_failure(ask, m), 2);
    weft_model_free(m);
}

static int write_events(void *data, struct weft_error *err)
{
    struct weft_mirage_writer *w;
    int rc = weft_mirage_writer_open(&w, data, NULL, err);
    for (uint64_t i = 0; rc == 0 && i < 1000; i++) {
        struct weft_event ev = label(i, i, "some text");
        rc = weft_mirage_writer_append(w, &ev, err);
    }
    if (rc < 0)
        weft_mirage_writer_abandon(w);
    else
        rc = weft_mirage_writer_close(w, err);
    return rc;
}

TEST(writer)
{
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    assert_true(try_each_failure(write_events, out) > 3);
    fclose(out);
}

RUN_TESTS(NULL, NULL)
