/* SPDX-License-Identifier: ISC */
/* Reading with a second thread gives what one thread gives: the events of large traces with all that they point to, what is
 * known about the file, the numbers of promises; and it ends whenever the caller wants. */
#include "packets.h"

#include "base/hash.h"
#include "read/ahead.h"

enum { LARGE = 5 << 20, LONG = 100000, PROMISES = 5000 };

static uint64_t state;

static uint64_t below(uint64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (state >> 33) % limit;
}

/* ---- Traces ---- */

/* Every kind of mirage's events, with texts that fit into a batch and some that do not. */
static void make_mirage(struct trace *t)
{
    static char text[LONG + 1];
    uint64_t at = 0;
    memset(text, 'x', LONG);
    state = 1;
    for (uint64_t packet = 0; t->size < LARGE; packet++) {
        trace_begin(t, packet);
        for (int i = 0; i < 1000; i++, at += 100) {
            const uint64_t a = below(50) ? below(PROMISES) : LOOP,
                           b = below(50) ? below(PROMISES) : LOOP;
            const int size = below(1000) ? (int)below(80) : LONG;
            struct weft_event ev = {.time_ns = at,
                                    .kind = (uint8_t)below(14),
                                    .a = a,
                                    .b = b,
                                    .type = (uint8_t)below(WEFT_TYPES),
                                    .value = (int64_t)below(1000)};
            const struct weft_event_desc *d = &weft_event_kinds[ev.kind];
            if (d->field[d->fields - 1].field == WEFT_FIELD_TEXT)
                ev = with_text(ev, text + LONG - size);
            trace_add(t, ev);
        }
    }
}

/* Two streams of weft's own at the same time; sites that are stored, and one that is missing. */
static void make_own(struct trace *t)
{
    struct strings s = {.used = 0};
    const uint32_t text = strings_text(&s, "a text"), type = strings_text(&s, "task");
    const uint32_t site = strings_site(&s, type, text, 0, 0);
    uint64_t at = 1000, id = 0;
    facts_packet(t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "program=x\n");
    strings_packet(t, &s);
    for (uint64_t packet = 0; t->size < LARGE; packet++) {
        const uint64_t begin = at;
        for (uint32_t stream = 0; stream < 2; stream++) {
            at = begin + stream;
            events_begin(t, (struct weft_events_header){.stream = stream,
                                                        .sequence = 2 * packet + stream + 1,
                                                        .begin_ticks = at});
            for (int i = 0; i < 2000; i++, at += 10)
                events_add(t, WEFT_FORM_CREATE, creates(at, LOOP, id++, 0), i % 7 ? site : 77777,
                           0);
            events_end(t, at);
        }
    }
}

/* ---- What is read ---- */

static uint64_t mix_text(uint64_t sum, const char *text, size_t size)
{
    sum = weft_mix(sum ^ size, 1);
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + (unsigned char)text[i];
    return sum;
}

static uint64_t mix(uint64_t sum, const struct weft_event *ev)
{
    const uint64_t words[] = {ev->time_ns,   ev->a,
                              ev->b,         (uint64_t)ev->value,
                              ev->running,   ev->stream,
                              ev->kind,      ev->type,
                              ev->gap,       ev->missing,
                              ev->promoted,  ev->undated,
                              ev->text_size, (uint64_t)ev->total,
                              ev->has_total};
    for (size_t i = 0; i < COUNT(words); i++)
        sum = weft_mix(sum ^ words[i], 1);
    if (ev->text)
        sum = mix_text(sum, ev->text, ev->text_size);
    if (ev->origin) {
        sum = mix_text(sum, ev->origin->type, strlen(ev->origin->type));
        sum = weft_mix(sum ^ ev->origin->number ^ (uint64_t)ev->origin->line << 32, 1);
    }
    return sum;
}

struct counted {
    uint32_t events;
};

static void count_all(void *data, const struct weft_event *event, ptrdiff_t events,
                      uint32_t (*number)[WEFT_NUMBERS])
{
    struct counted *c = data;
    for (ptrdiff_t i = 0; i < events; i++) {
        number[i][0] = c->events++;
        number[i][1] = (uint32_t)event[i].a;
        number[i][2] = (uint32_t)event[i].time_ns;
    }
}

/* The sum over all events, and how far the reader says that it is; ahead: another thread decodes them, and its numbers are those of the events. */
static uint64_t read_all(struct weft_reader *r, bool ahead, uint32_t *threads)
{
    struct counted c = {0};
    const struct weft_event *ev;
    ptrdiff_t n;
    uint64_t sum = 0;
    uint32_t events = 0;
    if (ahead)
        weft_reader_read_ahead(r, count_all, &c);
    while ((n = weft_reader_next(r, &ev, NULL)) > 0) {
        const uint32_t(*number)[WEFT_NUMBERS] = weft_reader_numbers(r);
        *threads = number ? 2 : 1;
        for (ptrdiff_t i = 0; i < n; i++, events++) {
            sum = mix(sum, &ev[i]);
            if (!number)
                continue;
            assert_int_equal(number[i][0], events);
            assert_int_equal(number[i][1], (uint32_t)ev[i].a);
            assert_int_equal(number[i][2], (uint32_t)ev[i].time_ns);
        }
        sum = weft_mix(sum ^ weft_reader_first(r), 1);
        sum = weft_mix(sum ^ (uint64_t)(weft_reader_progress(r) * 1e9), 1);
    }
    assert_int_equal(n, 0);
    weft_reader_stop_ahead(r);
    return sum;
}

static void compare(struct trace *t)
{
    struct weft_reader *alone, *ahead;
    uint32_t one, two;
    assert_int_equal(weft_reader_open(&alone, trace_path(t), NULL), 0);
    assert_int_equal(weft_reader_open(&ahead, trace_path(t), NULL), 0);
    const uint64_t a = read_all(alone, false, &one), b = read_all(ahead, true, &two);
    assert_int_equal(one, 1);
    assert_int_equal(two, sysconf(_SC_NPROCESSORS_ONLN) < 2 ? 1 : 2);
    assert_int_equal(a, b);
    assert_memory_equal(weft_reader_damage(alone), weft_reader_damage(ahead),
                        sizeof(struct weft_damage));
    const struct weft_reader_facts *f = weft_reader_facts(alone), *g = weft_reader_facts(ahead);
    assert_int_equal(f->first_ns, g->first_ns);
    assert_int_equal(f->streams, g->streams);
    for (uint32_t i = 0; f->stream && i < f->streams; i++)
        assert_int_equal(f->stream[i].kept, g->stream[i].kept);
    weft_reader_close(alone);
    weft_reader_close(ahead);
}

/* ---- Tests ---- */

TEST(same_events)
{
    struct trace t = {.fd = -1};
    make_mirage(&t);
    compare(&t);
    trace_fini(&t);
    make_own(&t);
    compare(&t);
    trace_fini(&t);
}

TEST(same_damage)
{
    struct trace t = {.fd = -1};
    make_mirage(&t);
    state = 2;
    for (int i = 0; i < 50; i++)
        t.bytes[t.size / 10 + below(t.size / 10 * 9)] = 0xff;
    compare(&t);
    trace_fini(&t);
    make_own(&t);
    for (int i = 0; i < 50; i++)
        t.bytes[t.size / 10 + below(t.size / 10 * 9)] = 0xff;
    compare(&t);
    trace_fini(&t);
}

/* Whoever does not read to the end stops the thread, or closes the reader. */
TEST(ends_at_once)
{
    struct trace t = {.fd = -1};
    make_mirage(&t);
    for (int batches = 0; batches < 100; batches += 7) {
        struct weft_reader *r;
        struct counted c = {0};
        const struct weft_event *ev;
        assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
        weft_reader_read_ahead(r, count_all, &c);
        for (int i = 0; i < batches; i++)
            assert_true(weft_reader_next(r, &ev, NULL) > 0);
        if (batches % 2)
            weft_reader_stop_ahead(r);
        weft_reader_close(r);
    }
    trace_fini(&t);
}

static void mention(uint32_t *number, uint32_t *promises, uint64_t id)
{
    if (id != LOOP && !number[id])
        number[id] = (*promises)++;
}

/* The promises of a model are numbered in the order of first mention. */
TEST(same_numbers)
{
    static uint32_t number[PROMISES];
    uint32_t promises = 1;
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    const struct weft_event *ev;
    ptrdiff_t n;
    make_mirage(&t);
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    while ((n = weft_reader_next(r, &ev, NULL)) > 0)
        for (ptrdiff_t i = 0; i < n; i++) {
            const struct weft_event_desc *d = &weft_event_kinds[ev[i].kind];
            const bool reads = ev[i].kind == WEFT_EVENT_READ || ev[i].kind == WEFT_EVENT_TRY_READ ||
                               ev[i].kind == WEFT_EVENT_READ_LATER;
            if (reads && ev[i].b == LOOP) /* the program sleeps */
                continue;
            if (d->fields && d->field[0].field == WEFT_FIELD_PROMISE)
                mention(number, &promises, ev[i].a);
            if (d->fields > 1 && d->field[1].field == WEFT_FIELD_PROMISE)
                mention(number, &promises, ev[i].b);
        }
    weft_reader_close(r);
    struct weft_model *m = trace_model(&t);
    assert_int_equal(m->promises, promises);
    for (uint64_t id = 0; id < PROMISES; id++) {
        assert_int_equal(weft_model_find(m, id), number[id] ? number[id] : WEFT_NONE);
        if (number[id])
            assert_int_equal(m->promise[number[id]].id, id);
    }
    weft_model_free(m);
}

/* Of a promise that has ended, though no event says so, a model knows it as well. */
TEST(ended_in_a_large_trace)
{
    struct trace t = {.fd = -1};
    uint64_t at = 1000;
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    for (uint64_t packet = 0; t.size < LARGE; packet++) {
        const struct weft_events_header h = {.sequence = packet + 7, /* six were overwritten */
                                             .begin_ticks = at,
                                             .base = ENDED_BYTES * packet + 1};
        events_begin_ended(&t, h, packet == 0 ? "01" : "");
        if (packet == 0)
            for (uint64_t id = 1; id <= 2; id++)
                events_add(&t, WEFT_FORM_CREATE, creates(at, LOOP, id, 0), 0, 0);
        for (int i = 0; i < 2000; i++, at += 10)
            events_add(&t, WEFT_FORM_SWITCH, switches(at, i % 2 ? LOOP : 1), 0, 0);
        events_end(&t, at);
    }
    struct weft_model *m = trace_model(&t);
    assert_int_equal(m->promise[weft_model_find(m, 1)].outcome, WEFT_PENDING);
    assert_int_equal(m->promise[weft_model_find(m, 2)].outcome, WEFT_RESOLVED);
    weft_model_free(m);
}

RUN_TESTS(NULL, NULL)
