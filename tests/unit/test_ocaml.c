/* SPDX-License-Identifier: ISC */
/* The file in which a program in OCaml 5 keeps its runtime events (format/ocaml.h): rings of words, and what is read from them. */
#include "format/ocaml.h"
#include "packets.h"
#include "read/reader.h"

enum {
    RINGS = 3,
    ROOM = 16, /* words of a ring */
    RINGS_AT = WEFT_OCAML_HEAD_BYTES + RINGS * WEFT_OCAML_RING_HEAD_BYTES,
    NAMES_AT = RINGS_AT + RINGS * ROOM * 8,
    BYTES = NAMES_AT + WEFT_OCAML_NAMES * WEFT_OCAML_NAME_BYTES,
    COUNT_ID = 7, /* the event that counts */
};

static unsigned char file[BYTES];

static unsigned char *counts_of(unsigned ring)
{
    return file + WEFT_OCAML_HEAD_BYTES + ring * WEFT_OCAML_RING_HEAD_BYTES;
}

/* The first `before` words of each ring were overwritten. */
static void begin(uint64_t before)
{
    const uint64_t head[WEFT_OCAML_HEAD_WORDS] = {
        WEFT_OCAML_VERSION, RINGS,   WEFT_OCAML_RING_HEAD_BYTES,
        8 * ROOM,           ROOM,    WEFT_OCAML_HEAD_BYTES,
        RINGS_AT,           NAMES_AT};
    memset(file, 0, sizeof file);
    memcpy(file, head, sizeof head);
    strcpy((char *)file + NAMES_AT + COUNT_ID * WEFT_OCAML_NAME_BYTES, "count");
    for (unsigned ring = 0; ring < RINGS; ring++) {
        weft_write_u64(counts_of(ring), before);
        weft_write_u64(counts_of(ring) + 8, before);
    }
}

static void put(unsigned ring, uint64_t time_ns, uint64_t value)
{
    const struct weft_ocaml_item item = {3, true, WEFT_OCAML_INT, COUNT_ID};
    const uint64_t words[] = {weft_ocaml_item_head(&item), time_ns, value};
    const uint64_t at = weft_read_u64(counts_of(ring) + 8);
    assert_true(at % ROOM + COUNT(words) <= ROOM);
    memcpy(file + RINGS_AT + 8 * (ring * ROOM + at % ROOM), words, sizeof words);
    weft_write_u64(counts_of(ring) + 8, at + COUNT(words));
}

struct seen {
    struct weft_damage damage;
    uint64_t overwritten; /* words */
};

/* "time ring value, …": all counts that come. */
static void expect_counts(struct weft_reader *r, const char *wanted)
{
    const struct weft_event *ev;
    char found[500] = "";
    size_t used = 0;
    for (ptrdiff_t n; (n = weft_reader_next(r, &ev, NULL)) != 0;) {
        assert_true(n > 0);
        for (ptrdiff_t i = 0; i < n; i++)
            if (ev[i].kind == WEFT_EVENT_COUNTER)
                used += (size_t)snprintf(found + used, sizeof found - used, "%s%d %d %d%s",
                                         used ? ", " : "", (int)ev[i].time_ns, (int)ev[i].stream,
                                         (int)ev[i].value, ev[i].gap ? " gap" : "");
    }
    expect_text(found, wanted);
}

static struct seen expect(const char *wanted, uint64_t streams)
{
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    memcpy(trace_extend(&t, sizeof file), file, sizeof file);
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    expect_counts(r, wanted);
    assert_int_equal(weft_reader_facts(r)->streams, streams);
    assert_int_equal(weft_reader_facts(r)->wrapped, weft_reader_facts(r)->overwritten_words > 0);
    const struct seen seen = {*weft_reader_damage(r), weft_reader_facts(r)->overwritten_words};
    weft_reader_close(r);
    trace_fini(&t);
    return seen;
}

/* One ring was never used, which is no damage. */
TEST(rings_are_merged)
{
    begin(0);
    put(0, 100, 1);
    put(2, 110, 2);
    put(2, 115, 3);
    put(0, 120, 4);
    const struct seen seen = expect("100 0 1, 110 1 2, 115 1 3, 120 0 4", 2);
    assert_int_equal(seen.damage.problems, 0);
    assert_int_equal(seen.damage.backward_times, 0);
    assert_int_equal(seen.overwritten, 0);
}

TEST(times_that_run_backwards)
{
    begin(0);
    put(1, 100, 1);
    put(1, 90, 2);
    put(1, 90, 3);
    put(1, 110, 4);
    put(1, 110, 5);
    const struct seen seen = expect("100 0 1, 100 0 2, 100 0 3, 110 0 4, 110 0 5", 1);
    assert_int_equal(seen.damage.backward_times, 2);
    assert_int_equal(seen.damage.problems, 0);
}

/* Words that were overwritten are counted, and the rest is where the counts say. */
TEST(rings_that_have_wrapped)
{
    begin(ROOM + 2);
    put(0, 100, 1);
    put(1, 110, 2);
    const struct seen seen = expect("100 0 1 gap, 110 1 2 gap", RINGS);
    assert_int_equal(seen.overwritten, RINGS * (ROOM + 2));
    assert_int_equal(seen.damage.problems, 0);
}

/* A ring has at most as many words as there is room for, and not less than none. */
TEST(counts_that_cannot_be)
{
    static const struct {
        uint64_t head, tail;
        bool right;
    } counts[] = {{0, ROOM, true}, {0, ROOM + 1, false}, {4, 3, false}, {3, 3 + ROOM, true}};
    for (unsigned i = 0; i < COUNT(counts); i++) {
        begin(0);
        put(0, 100, 1);
        put(2, 105, 1);
        memset(file + RINGS_AT + 8 * ROOM, 0, 8 * ROOM);
        for (unsigned word = 0; word < ROOM; word++) /* padding of one word */
            weft_write_u64(file + RINGS_AT + 8 * (ROOM + word), UINT64_C(1) << 54);
        weft_write_u64(counts_of(1), counts[i].head);
        weft_write_u64(counts_of(1) + 8, counts[i].tail);
        const struct seen seen = expect(counts[i].right ? "100 0 1, 105 2 1" : "100 0 1, 105 1 1",
                                        counts[i].right ? 3 : 2);
        assert_int_equal(seen.damage.problems, !counts[i].right);
    }
}

/* ---- Items that were copied out of the rings ---- */

/* A packet with counts of these values, at times of 10 ns each; words before `from` were in other packets. */
static uint64_t copied(struct trace *t, uint64_t sequence, uint64_t from, const uint64_t *values)
{
    const struct weft_ocaml_item name = {2, false, WEFT_OCAML_NAME, COUNT_ID},
                                 count = {3, true, WEFT_OCAML_INT, COUNT_ID};
    struct weft_ocaml_header h = {.sequence = sequence, .ring = 1, .from = from, .to = from};
    uint64_t words[32] = {weft_ocaml_item_head(&name)};
    size_t used = 2;
    memcpy(&words[1], "count", 6);
    for (; *values; values++, h.to += 3) {
        words[used++] = weft_ocaml_item_head(&count);
        words[used++] = *values * 10;
        words[used++] = *values;
    }
    packet_begin(t, WEFT_PACKET_OCAML, &h, sizeof h);
    packet_bytes(t, words, used * 8);
    return h.to;
}

#define VALUES(...) ((const uint64_t[]){__VA_ARGS__, 0})

/* A packet that is used again after it was found is left out, and counted. */
TEST(packets_that_change)
{
    for (int changes = 0; changes < 2; changes++) {
        struct trace t = {.fd = -1};
        struct weft_reader *r;
        const uint64_t other = 9;
        facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
        uint64_t word = copied(&t, 1, 0, VALUES(1, 2, 3));
        word = copied(&t, 2, word, VALUES(4, 5));
        const off_t second = (off_t)t.packet;
        copied(&t, 3, word, VALUES(6));
        assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
        if (changes)
            assert_int_equal(pwrite(t.fd, &other, sizeof other,
                                    second + (off_t)offsetof(struct weft_ocaml_header, sequence)),
                             sizeof other);
        expect_counts(r, changes ? "10 0 1, 20 0 2, 30 0 3, 60 0 6 gap"
                                 : "10 0 1, 20 0 2, 30 0 3, 40 0 4, 50 0 5, 60 0 6");
        assert_int_equal(weft_reader_facts(r)->changed_packets, changes);
        assert_int_equal(weft_reader_damage(r)->problems, 0);
        weft_reader_close(r);
        trace_fini(&t);
    }
}

/* Of many packets all items are read. */
TEST(many_packets)
{
    enum { PACKETS = 5000 };
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    const struct weft_event *ev;
    uint64_t word = 0;
    int64_t counts = 0;
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    for (uint64_t i = 1; i <= PACKETS; i++)
        word = copied(&t, i, word, VALUES(i));
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    for (ptrdiff_t n; (n = weft_reader_next(r, &ev, NULL)) != 0;) {
        assert_true(n > 0);
        for (ptrdiff_t i = 0; i < n; i++)
            if (ev[i].kind == WEFT_EVENT_COUNTER)
                assert_int_equal(ev[i].value, ++counts);
    }
    assert_int_equal(counts, PACKETS);
    weft_reader_close(r);
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
