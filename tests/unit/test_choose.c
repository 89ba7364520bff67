/* SPDX-License-Identifier: ISC */
/* A part of a trace: which events one promise, or one stream, has to do with (read/choose.h). */
#include <inttypes.h>

#include "packets.h"
#include "read/reader.h"

static struct trace t = {.fd = -1};

/* 1 waits for 2, which 3 ends; 4 is on another stream, and nothing to them. */
static void begin(void)
{
    static const uint32_t no_site[1];
    const struct step steps[] = {
        {.ev = creates(10, LOOP, 1, 0)},
        {.ev = creates(20, LOOP, 2, 0)},
        {.ev = creates(30, LOOP, 3, 0)},
        {.ev = switches(40, 1)},
        {.ev = try_read(50, 1, 2)},
        {.ev = switches(60, 3)},
        {.ev = label(70, 3, "three")},
        {.ev = fulfills(80, 3, 2)},
        {.ev = should_resolve(90, 4)},
        {.ev = switches(100, LOOP)},
        {.ev = reads(110, 1, 2)},
        {.ev = fulfills(120, 1, 1)},
        {.ev = switches(130, LOOP)},
        {.ev = creates(15, LOOP, 4, 0), .stream = 1},
        {.ev = switches(25, 4), .stream = 1},
        {.ev = fulfills(125, 4, 4), .stream = 1},
        {.ev = switches(135, LOOP), .stream = 1},
    };
    trace_fini(&t);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    steps_put(&t, steps, COUNT(steps), no_site, 0);
}

/* "time what a b": promises; ! before it: it is only there to say what became of a promise; ? before it: others were left
 * out of its stream. */
static void expect(struct weft_part part, const char *wanted)
{
    struct weft_reader *r;
    const struct weft_event *ev;
    char found[1000] = "";
    size_t used = 0;
    begin();
    assert_int_equal(weft_reader_open_part(&r, trace_path(&t), &part, NULL), 0);
    for (ptrdiff_t n; (n = weft_reader_next(r, &ev, NULL)) != 0;) {
        assert_true(n > 0);
        for (ptrdiff_t i = 0; i < n; i++) {
            const struct weft_event_desc *d = &weft_event_kinds[ev[i].kind];
            const bool both = d->fields > 1 && d->field[1].field == WEFT_FIELD_PROMISE;
            assert_int_equal(ev[i].gap, ev[i].missing);
            used += (size_t)snprintf(found + used, sizeof found - used, "%s%s%d %s %" PRId64,
                                     ev[i].promoted ? "!" : "", ev[i].gap ? "?" : "",
                                     (int)ev[i].time_ns, d->name, (int64_t)ev[i].a);
            if (both)
                used += (size_t)snprintf(found + used, sizeof found - used, " %" PRId64,
                                         (int64_t)ev[i].b);
            used += (size_t)snprintf(found + used, sizeof found - used, "\n");
        }
    }
    expect_text(found, wanted);
    weft_reader_close(r);
    trace_fini(&t);
}

/* What depends on others has to do with them, too; of others, who ended one for instance, only what they are. */
TEST(of_a_promise)
{
    struct weft_part part = WEFT_WHOLE;
    part.promise = 1;
    expect(part, "10 creates -1 1\n"
                 "20 creates -1 2\n"
                 "!30 creates -1 3\n"
                 "?40 switch 1\n"
                 "50 try_read 1 2\n"
                 "60 switch 3\n"
                 "!70 label 3\n"
                 "?80 fulfills 3 2\n"
                 "?110 read 1 2\n"
                 "120 fulfills 1 1\n"
                 "130 switch -1\n");
    part.promise = 4;
    expect(part, "15 creates -1 4\n"
                 "25 switch 4\n"
                 "!30 creates -1 3\n" /* it ran when it was said that 4 should end */
                 "!70 label 3\n"
                 "?90 should_resolve 4\n"
                 "125 fulfills 4 4\n"
                 "135 switch -1\n");
}

TEST(of_a_stream)
{
    struct weft_part part = WEFT_WHOLE;
    part.stream = 1;
    expect(part, "15 creates -1 4\n"
                 "25 switch 4\n"
                 "!90 should_resolve 4\n"
                 "125 fulfills 4 4\n"
                 "135 switch -1\n");
    part.stream = 0;
    expect(part, "10 creates -1 1\n"
                 "!15 creates -1 4\n"
                 "20 creates -1 2\n"
                 "30 creates -1 3\n"
                 "40 switch 1\n"
                 "50 try_read 1 2\n"
                 "60 switch 3\n"
                 "70 label 3\n"
                 "80 fulfills 3 2\n"
                 "90 should_resolve 4\n"
                 "100 switch -1\n"
                 "110 read 1 2\n"
                 "120 fulfills 1 1\n"
                 "!125 fulfills 4 4\n"
                 "130 switch -1\n");
}

/* There is no such promise, or stream. */
TEST(of_nothing)
{
    struct weft_part none[] = {WEFT_WHOLE, WEFT_WHOLE, WEFT_WHOLE};
    none[0].promise = 5;
    none[1].stream = 2;
    none[2].promise = 1;
    none[2].from_ns = 200;
    for (unsigned i = 0; i < COUNT(none); i++) {
        struct weft_reader *r;
        struct weft_error err;
        begin();
        assert_int_equal(weft_reader_open_part(&r, trace_path(&t), &none[i], &err), WEFT_E_INVALID);
        assert_non_null(strstr(err.text, i == 1 ? "stream 2" : i ? "promise 1" : "promise 5"));
        trace_fini(&t);
    }
}

RUN_TESTS(NULL, NULL)
