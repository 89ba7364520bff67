/* SPDX-License-Identifier: ISC */
/* How a trace's clock stands to the wall clock: by the pairs in its packets, and by what was seen while it was recorded. */
#include <inttypes.h>
#include <time.h>

#include "packets.h"
#include "read/reader.h"
#include "read/sight.h"
#include "read/snapshot.h"

#define Y2020 INT64_C(1577836800000000000)
#define MS INT64_C(1000000)

/* ---- Pairs ---- */

struct pair {
    uint64_t ticks, mono_ns, real_ns;
    uint32_t error;
};

static void add_packet(struct trace *t, uint64_t sequence, struct pair p)
{
    events_begin(t, (struct weft_events_header){.sequence = sequence,
                                                .begin_ticks = p.ticks + 1,
                                                .pair_ticks = p.ticks,
                                                .pair_mono_ns = p.mono_ns,
                                                .pair_real_ns = p.real_ns,
                                                .pair_error = p.error});
    events_add(t, WEFT_FORM_CREATE, creates(p.ticks + 5, 0, sequence * 64 + 1, 0), 0, 0);
    events_end(t, p.ticks + 10);
}

/* Opens it; the trace is gone then. */
static struct weft_reader *reader_of(struct trace *t)
{
    struct weft_reader *r;
    struct weft_error err;
    assert_int_equal(weft_reader_open(&r, trace_path(t), &err), 0);
    trace_fini(t);
    return r;
}

static void expect_wall(struct trace *t, int64_t wall_ns, int64_t set_ns)
{
    struct weft_reader *r = reader_of(t);
    const struct weft_reader_facts *f = weft_reader_facts(r);
    assert_true(f->has_wall);
    assert_false(f->wall_measured);
    assert_int_equal(f->wall_ns, wall_ns);
    assert_int_equal(f->wall_set_ns, set_ns);
    weft_reader_close(r);
}

static void expect_none(struct trace *t)
{
    struct weft_reader *r = reader_of(t);
    assert_false(weft_reader_facts(r)->has_wall);
    weft_reader_close(r);
}

static void begin(struct trace *t, struct weft_facts_header h)
{
    *t = (struct trace){.fd = -1};
    h.state = WEFT_TRACE_STOPPED;
    facts_packet(t, h, "program=x\n");
}

/* That the wall clock was Y2020 at 0, ahead_ns more. */
static struct pair plain(uint64_t ns, int64_t ahead_ns)
{
    return (struct pair){.ticks = ns, .mono_ns = ns, .real_ns = (uint64_t)(Y2020 + ahead_ns) + ns};
}

TEST(pairs_tell_the_wall_clock)
{
    struct trace t;
    begin(&t, (struct weft_facts_header){.pid = 1});
    for (uint64_t i = 1; i <= 40; i++)
        add_packet(&t, i, plain(i * 20 * MS, 0));
    expect_wall(&t, Y2020, 0);

    begin(&t, (struct weft_facts_header){.pid = 1}); /* one will do */
    add_packet(&t, 1, plain(1000, 0));
    expect_wall(&t, Y2020, 0);

    begin(&t, (struct weft_facts_header){.pid = 1}); /* none: there is no wall clock */
    add_packet(&t, 1, (struct pair){.ticks = 1000, .mono_ns = 1000});
    expect_none(&t);
}

TEST(the_beginning_counts_where_packets_say_nothing)
{
    struct trace t;
    begin(&t, (struct weft_facts_header){
                  .start_ticks = 500, .start_mono_ns = 500, .start_real_ns = 500 + Y2020});
    add_packet(&t, 1, (struct pair){.ticks = 1000, .mono_ns = 1000});
    expect_wall(&t, Y2020, 0);
}

TEST(damaged_pairs_do_not_win)
{
    static const struct pair bad[] = {
        {50 * MS, 50 * MS, 1, 0},
        {50 * MS, 50 * MS, UINT64_MAX, 0},
        {50 * MS, 50 * MS, INT64_MAX, 0},
        {UINT64_MAX, 50 * MS, Y2020, 0},
        {50 * MS, 50 * MS, Y2020 + 90 * MS, 0},
        {50 * MS, 50 * MS, Y2020 + 90 * MS, 100000}, /* read slowly */
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct trace t;
        begin(&t, (struct weft_facts_header){.pid = 1});
        for (uint64_t k = 1; k <= 7; k++)
            add_packet(&t, k, k == 6 ? bad[i] : plain(k * 10 * MS, 0));
        expect_wall(&t, Y2020, 0);
    }
}

/* Of one whose only pairs are nonsense, no more can be said than that they are. */
TEST(nonsense_is_no_wall_clock)
{
    static const struct pair bad[] = {
        {1000, 1000, UINT64_MAX, 0},
        {UINT64_MAX, UINT64_MAX, Y2020, 0},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct trace t;
        begin(&t, (struct weft_facts_header){.pid = 1});
        add_packet(&t, 1, bad[i]);
        expect_none(&t);
    }
}

TEST(a_clock_that_is_set_counts_as_it_was_at_the_end)
{
    static const uint64_t packets[] = {2, 3, 9, 40, 400};
    for (size_t i = 0; i < COUNT(packets); i++) {
        struct trace t;
        begin(&t, (struct weft_facts_header){.pid = 1});
        uint64_t set = packets[i] / 2;            /* after that one */
        for (uint64_t k = packets[i]; k > 0; k--) /* whatever their order */
            add_packet(&t, k, plain(k * 20 * MS, k > set ? 1500 * MS : 0));
        expect_wall(&t, Y2020 + 1500 * MS, 1500 * MS);
    }
}

/* A clock of the program's own, of 625 MHz, which the pairs' monotonic clock says nothing of. */
TEST(a_clock_of_the_programs_own)
{
    struct trace t;
    begin(&t, (struct weft_facts_header){.clock = WEFT_CLOCK_CALLER, .hz = 625000000});
    for (uint64_t k = 1; k <= 5; k++)
        add_packet(&t, k,
                   (struct pair){.ticks = k * 6250000,
                                 .mono_ns = 7,
                                 .real_ns = (uint64_t)Y2020 + k * 10 * MS});
    expect_wall(&t, Y2020, 0);
}

TEST(mirages_traces_have_none)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_add(&t, creates(0, LOOP, 1, TASK));
    expect_none(&t);
}

/* ---- What was seen ---- */

static struct weft_sight sight_of(const char *text, bool good)
{
    struct weft_sight s;
    assert_int_equal(weft_sight_read(&s, text), good);
    return s;
}

TEST(sights_are_written_and_read)
{
    char text[WEFT_SIGHT_TEXT];
    struct weft_sight s = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    size_t size = weft_sight_write(text, &s);
    assert_int_equal(size, strlen(text) + 1);
    assert_memory_equal(text, "wall=", 5);
    struct weft_sight got = sight_of(text + 5, true);
    assert_memory_equal(&got, &s, sizeof s);
    static const char *const bad[] = {"",
                                      ":",
                                      "1:2",
                                      "1:2:",
                                      ":2:3",
                                      "1:0:3",
                                      "1:2:3 ",
                                      "1:2:3:4",
                                      "-1:2:3",
                                      "1:2:18446744073709551616",
                                      "99999999999999999999999:1:1"};
    for (size_t i = 0; i < COUNT(bad); i++)
        sight_of(bad[i], false);
}

TEST(what_others_say_is_no_sight)
{
    static const char texts[] = "wall=1:2:3\0host=wall=1\0wall=4:5:6\0wallx=1\0wall=7";
    static const char blank[] = "-all=1:2:3\0host=wall=1\0-all=4:5:6\0wallx=1\0-all=7";
    char got[sizeof texts];
    memcpy(got, texts, sizeof texts);
    weft_sight_blank(got, sizeof texts);
    assert_memory_equal(got, blank, sizeof blank);
    memcpy(got, texts, sizeof texts);
    weft_sight_blank(got, 4); /* not even the key */
    assert_memory_equal(got, texts, sizeof texts);
}

/* Another machine's memory, whose program records an event each time that we look at a size, between two of our
 * readings of the clock. Its clock is ours, some time ago. */
struct other {
    unsigned char bytes[64 << 10];
    size_t size;
    uint64_t packet, content; /* of the packet that is open */
    uint64_t behind_ns;
    unsigned looks, events;
    bool asleep, hostile;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void record(struct other *o)
{
    struct weft_form_context c = {.begin_ticks = 0};
    struct weft_event ev = switches(now_ns() - o->behind_ns, 1);
    unsigned char *at = o->bytes + o->packet + o->content;
    if (o->content + WEFT_FORM_MAX > o->size - o->packet)
        return;
    o->content += weft_form_encode(at, WEFT_FORM_SWITCH, &ev, &c);
    struct weft_packet_header h;
    memcpy(&h, o->bytes + o->packet, sizeof h);
    h.content_bits = o->content * 8;
    memcpy(o->bytes + o->packet, &h, sizeof h);
    o->events++;
}

static size_t copy_other(const void *memory, void *buffer, size_t size, uint64_t offset)
{
    struct other *o = (struct other *)(uintptr_t)memory;
    if (size == 8 && offset == o->packet + offsetof(struct weft_packet_header, content_bits) &&
        !o->asleep && o->looks++ > 0)
        record(o);
    if (o->hostile && offset >= 200) /* anything, and never the same */
        for (size_t i = 0; i < size && offset + i < o->size; i++)
            o->bytes[offset + i] = (unsigned char)(o->bytes[offset + i] * 5 + o->looks++ % 3);
    if (offset >= o->size)
        return 0;
    size = size < o->size - offset ? size : (size_t)(o->size - offset);
    memcpy(buffer, o->bytes + offset, size);
    return size;
}

static void other_init(struct other *o, uint64_t behind_ns)
{
    struct trace t = {.fd = -1};
    uint64_t began = now_ns() - behind_ns;
    memset(o, 0, sizeof *o);
    facts_packet(
        &t, (struct weft_facts_header){.state = WEFT_TRACE_RECORDING, .event_packet_bytes = 16384},
        "program=x\nhost=other\n");
    packet_pad(&t, -t.size & 7, 0);
    size_t at = t.size;
    events_begin(&t, (struct weft_events_header){.sequence = 1,
                                                 .begin_ticks = began,
                                                 .pair_ticks = began,
                                                 .pair_mono_ns = began,
                                                 .pair_real_ns = 1});
    packet_pad(&t, 16384 - sizeof(struct weft_events_header), 0);
    struct weft_facts_header f;
    memcpy(&f, t.bytes, sizeof f);
    f.events_at = at;
    f.event_packets = 1;
    memcpy(t.bytes, &f, sizeof f);
    assert_true(t.size <= sizeof o->bytes);
    memcpy(o->bytes, t.bytes, t.size);
    o->size = t.size;
    o->packet = at;
    o->content = sizeof(struct weft_events_header);
    o->behind_ns = behind_ns;
    trace_fini(&t);
}

static struct weft_input input_of(const struct other *o)
{
    return (struct weft_input){
        .fd = -1, .size = o->size, .copy = copy_other, .memory = o, .writer = WEFT_WRITER_ALIVE};
}

#define BEHIND (UINT64_C(21) * 1000000)

TEST(an_event_that_comes_tells_the_clock)
{
    static struct other o;
    other_init(&o, BEHIND);
    struct weft_input in = input_of(&o);
    struct weft_sight s;
    assert_true(weft_sight_take(&s, &in, 10000));
    assert_in_range(o.events, 1, 100);
    int64_t off = (int64_t)(s.real_ns - s.ticks - BEHIND);
    assert_true(off <= (int64_t)s.error_ns + 1 && -off <= (int64_t)s.error_ns + 1);

    /* A copy says so, and its reader believes it more than the pairs. */
    in.sight = &s;
    struct weft_snapshot *snapshot;
    struct weft_error err;
    struct trace copy = {.fd = -1};
    o.asleep = true;
    assert_int_equal(weft_snapshot_begin(&snapshot, &in, &err), 1);
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    assert_int_equal(weft_snapshot_write(snapshot, file, NULL, NULL, &err), 0);
    weft_snapshot_free(snapshot);
    fclose(file);
    memcpy(trace_extend(&copy, size), bytes, size);
    free(bytes);
    struct weft_reader *r = reader_of(&copy);
    const struct weft_reader_facts *f = weft_reader_facts(r);
    assert_true(f->has_wall && f->wall_measured);
    assert_int_equal(f->wall_ns, s.real_ns - s.ticks);
    assert_int_equal(f->wall_error_ns, s.error_ns);
    assert_string_equal(f->process.host, "other");
    weft_reader_close(r);
}

TEST(nothing_is_seen_where_nothing_is_recorded)
{
    static struct other o;
    struct weft_sight s;
    other_init(&o, BEHIND);
    o.asleep = true;
    struct weft_input in = input_of(&o);
    assert_false(weft_sight_take(&s, &in, 20));
    in.size = 100; /* not even facts */
    assert_false(weft_sight_take(&s, &in, 20));
}

/* Whatever is there: it ends, in time. */
TEST(hostile_memory_is_looked_at)
{
    static struct other o;
    struct weft_sight s;
    for (unsigned i = 0; i < 20; i++) {
        other_init(&o, BEHIND);
        o.hostile = true;
        o.looks = i;
        struct weft_input in = input_of(&o);
        weft_sight_take(&s, &in, 3);
    }
    for (unsigned i = 0; i < 300; i++) { /* and facts that lie */
        other_init(&o, BEHIND);
        for (unsigned k = 0; k < 8; k++)
            o.bytes[48 + (i * 7 + k) % 150] = (unsigned char)(k % 2 ? 0xff : i);
        struct weft_input in = input_of(&o);
        weft_sight_take(&s, &in, 1);
    }
}

RUN_TESTS(NULL, NULL)
