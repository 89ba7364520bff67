/* SPDX-License-Identifier: ISC */
/* weft's own files, whole, in parts, damaged and hostile: which events come out and what is said of the
 * rest. Linked with --wrap=pread64, to change files while they are read. Long, for there are many ways. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <sys/types.h>

#include "packets.h"
#include "read/columns.h"
#include "read/input.h"
#include "read/reader.h"

/* ---- Files that change while they are read ---- */

static uint64_t bytes_read;
static uint64_t reads_left; /* before it changes; 0: it does not */
static int changes;         /* file */
static const struct trace *changed_to;
static size_t at_once; /* so many bytes, at most, are read at once; 0: all */
static long fail_at;   /* the read that fails; 0: none */

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
    if (reads_left && --reads_left == 0)
        assert_int_equal(pwrite(changes, changed_to->bytes, changed_to->size, 0), changed_to->size);
    if (fail_at && --fail_at == 0) {
        errno = EIO;
        return -1;
    }
    ssize_t got = __real_pread64(fd, buffer, at_once && at_once < size ? at_once : size, offset);
    bytes_read += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* ---- Reading all of a file ---- */

struct result {
    int rc; /* of opening it */
    uint64_t events;
    char text[8192]; /* of each event: "time stream name a b"; what else it has behind it */
    struct weft_damage damage;
    struct weft_reader_facts facts;
    struct weft_stream_facts stream[16];
    struct weft_error err;
};

static void describe(char *text, size_t room, const struct weft_event *ev)
{
    size_t n = (size_t)snprintf(text, room, "%" PRIu64 " %u %s %" PRId64 " %" PRId64, ev->time_ns,
                                ev->stream, weft_event_kinds[ev->kind].name, (int64_t)ev->a,
                                (int64_t)ev->b);
    if (ev->origin)
        n += (size_t)snprintf(text + n, room - n, " %s %s:%u", ev->origin->type,
                              ev->origin->file ? ev->origin->file : "-", ev->origin->line);
    if (ev->text)
        n += (size_t)snprintf(text + n, room - n, " \"%.*s\"", (int)ev->text_size, ev->text);
    if (ev->value)
        n += (size_t)snprintf(text + n, room - n, " %" PRId64, ev->value);
    if (ev->has_total)
        n += (size_t)snprintf(text + n, room - n, " = %" PRId64, ev->total);
    snprintf(text + n, room - n, "%s%s\n",
             ev->missing ? " missing"
             : ev->gap   ? " gap"
                         : "",
             ev->promoted ? " promoted" : "");
}

static struct result read_path(const char *path)
{
    struct weft_reader *r;
    struct result res = {0};
    const struct weft_event *ev;
    ptrdiff_t n;
    size_t used = 0;
    uint64_t last = 0, kept = 0;
    res.rc = weft_reader_open(&r, path, &res.err);
    if (res.rc < 0) {
        assert_null(r);
        assert_true(res.err.text[0] != '\0');
        return res;
    }
    while ((n = weft_reader_next(r, &ev, &res.err)) > 0) {
        for (ptrdiff_t i = 0; i < n; i++) {
            bool last_ones = ev[i].promoted && ev[i].kind >= WEFT_EVENT_RESOLVES;
            assert_true(ev[i].time_ns >= last || last_ones);
            last = ev[i].time_ns > last ? ev[i].time_ns : last;
            if (used < sizeof res.text - 256)
                describe(res.text + used, sizeof res.text - used, &ev[i]);
            used += strlen(res.text + used);
        }
        res.events += (uint64_t)n;
    }
    assert_int_equal(n, 0);
    assert_true(weft_reader_progress(r) == 1);
    res.damage = *weft_reader_damage(r);
    res.facts = *weft_reader_facts(r);
    for (uint32_t i = 0; i < res.facts.streams; i++) {
        kept += res.facts.stream[i].kept;
        if (i < COUNT(res.stream))
            res.stream[i] = res.facts.stream[i];
    }
    assert_int_equal(kept + res.facts.promotion.events, res.events + res.facts.unknown_events);
    weft_reader_close(r);
    return res;
}

static struct result read_trace(struct trace *t)
{
    struct result res = read_path(trace_path(t));
    trace_fini(t);
    return res;
}

static void expect(struct trace *t, const char *wanted)
{
    struct result res = read_trace(t);
    assert_int_equal(res.rc, 0);
    if (strcmp(res.text, wanted) != 0)
        fprintf(stderr, "expected:\n%sfound:\n%s", wanted, res.text);
    assert_string_equal(res.text, wanted);
    for (uint64_t i = 0; i < res.damage.problems && i < WEFT_DAMAGE_KEPT; i++)
        fprintf(stderr, "%s\n", res.damage.first[i].text);
    assert_int_equal(res.damage.problems, 0);
    assert_int_equal(res.damage.skipped_bytes, 0);
    assert_int_equal(res.damage.backward_times, 0);
}

/* A packet of that stream with events at these times, which switch to the promise sequence * 100 + n. The
 * times end with 0. */
static void add_packet(struct trace *t, uint32_t stream, uint64_t sequence, const uint64_t *times)
{
    struct weft_events_header h = {.stream = stream, .sequence = sequence, .begin_ticks = times[0]};
    events_begin(t, h);
    for (uint64_t n = 0; times[n]; n++)
        events_add(t, WEFT_FORM_SWITCH, switches(times[n], sequence * 100 + n), 0, 0);
}

/* Changes the header of the last packet: SET_HEADER(&t, events = 7). */
#define SET_HEADER(trace, assignment)                                                              \
    do {                                                                                           \
        struct weft_events_header h_ = events_header(trace);                                       \
        h_.assignment;                                                                             \
        events_set_header((trace), h_);                                                            \
    } while (0)

#define TIMES(...) ((const uint64_t[]){__VA_ARGS__, 0})

/* ---- Whole files ---- */

TEST(a_small_trace)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t type = strings_text(&s, "rpc"), label = strings_text(&s, "GET /"),
             file = strings_text(&s, "a.c"), other = strings_text(&s, "queue");
    uint32_t site = strings_site(&s, type, 0, file, 12),
             labelled = strings_site(&s, type, label, file, 13);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 100, .base = 5});
    events_add(&t, WEFT_FORM_CREATE, creates(100, 0, 6, 0), site, 0);
    events_add(&t, WEFT_FORM_CREATE, creates(101, 0, 7, 0), labelled, 0);
    events_add(&t, WEFT_FORM_CREATE_BY, creates(102, 6, 8, 0), labelled, other);
    events_add(&t, WEFT_FORM_SWITCH, switches(103, 7), 0, 0);
    events_add(&t, WEFT_FORM_WAIT, try_read(104, 0, 6), 0, 0);
    events_add(&t, WEFT_FORM_FAIL, fails(105, 0, 6, ""), 0, other);
    events_add(&t, WEFT_FORM_FAIL, fails(106, 0, 8, ""), 0, 0);
    events_add(
        &t, WEFT_FORM_INCREASE,
        (struct weft_event){.time_ns = 107, .kind = WEFT_EVENT_INCREASE, .value = -2, .total = 40},
        0, other);
    events_end(&t, 110);
    packet_pad(&t, 100, 0xee);
    expect(&t, "100 0 creates -1 6 rpc a.c:12\n"
               "101 0 creates -1 7 rpc a.c:13 \"GET /\"\n"
               "102 0 creates 6 8 rpc a.c:13 \"queue\"\n"
               "103 0 switch 7 0\n"
               "104 0 try_read 7 6\n"
               "105 0 fails 7 6 \"queue\"\n"
               "106 0 fails 7 8\n"
               "107 0 increase 7 0 \"queue\" -2 = 40\n");
}

TEST(streams_are_merged)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 9, 1, TIMES(10, 40, 40, 90));
    add_packet(&t, 4, 3, TIMES(20, 40, 95));
    add_packet(&t, 9, 2, TIMES(91, 93));
    expect(&t, "10 1 switch 100 0\n20 0 switch 300 0\n40 1 switch 101 0\n40 1 switch 102 0\n"
               "40 0 switch 301 0\n90 1 switch 103 0\n91 1 switch 200 0 gap\n93 1 switch 201 0\n"
               "95 0 switch 302 0\n");
}

TEST(more_than_a_batch)
{
    struct trace t = {.fd = -1};
    for (uint32_t stream = 0; stream < 3; stream++) {
        struct weft_events_header h = {
            .stream = stream, .sequence = stream + 1, .begin_ticks = 1 + stream};
        events_begin(&t, h);
        for (uint64_t i = 0; i < 1000; i++)
            events_add(&t, WEFT_FORM_SWITCH, switches(1 + stream + 7 * i, i), 0, 0);
        events_end(&t, 10000);
    }
    struct result res = read_trace(&t);
    assert_int_equal(res.events, 3000);
    assert_int_equal(res.facts.packets, 3);
    assert_int_equal(res.facts.streams, 3);
    assert_int_equal(res.damage.problems, 0);
}

/* A thread that has ended leaves its packet to another one. */
TEST(streams_share_a_packet)
{
    struct trace t = {.fd = -1};
    events_begin(&t, (struct weft_events_header){.stream = 3,
                                                 .sequence = 1,
                                                 .begin_ticks = 10,
                                                 .thread = 33,
                                                 .events_before = 5,
                                                 .discarded_before = 2,
                                                 .running = 77,
                                                 .thread_name = "first"});
    events_add(&t, WEFT_FORM_RESOLVE, resolves(11, 0, 1), 0, 0);
    events_stream(&t, 12, 4, 44, "a name of 16 byt");
    events_add(&t, WEFT_FORM_RESOLVE, resolves(13, 0, 2), 0, 0);
    events_add(&t, WEFT_FORM_SWITCH, switches(14, 9), 0, 0);
    events_begin(&t, (struct weft_events_header){
                         .stream = 4, .sequence = 2, .begin_ticks = 20, .events_before = 2});
    SET_HEADER(&t, running = 9);
    events_add(&t, WEFT_FORM_RESOLVE, resolves(21, 0, 3), 0, 0);
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "11 0 resolves 77 1\n13 1 resolves -1 2\n14 1 switch 9 0\n"
                                  "21 1 resolves 9 3\n");
    assert_int_equal(res.facts.streams, 2);
    assert_int_equal(res.stream[0].number, 3);
    assert_int_equal(res.stream[0].thread, 33);
    assert_string_equal(res.stream[0].name, "first");
    assert_int_equal(res.stream[0].kept, 1);
    assert_int_equal(res.stream[0].overwritten, 5);
    assert_int_equal(res.stream[0].discarded, 2);
    assert_int_equal(res.stream[1].number, 4);
    assert_int_equal(res.stream[1].kept, 3);
    assert_int_equal(res.stream[1].overwritten, 0);
}

TEST(a_stream_that_only_begins_in_a_packet)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 0, 1, TIMES(10));
    events_stream(&t, 12, 8, 88, "sixteen letters.");
    events_add(&t, WEFT_FORM_SWITCH, switches(14, 9), 0, 0);
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 switch 100 0\n14 1 switch 9 0\n");
    assert_int_equal(res.stream[1].number, 8);
    assert_string_equal(res.stream[1].name, "sixteen letters.");
}

/* ---- What was overwritten ---- */

TEST(older_packets_are_gone)
{
    struct trace t = {.fd = -1};
    facts_packet(&t,
                 (struct weft_facts_header){.overwritten_events = 1000,
                                            .overwritten_packets = 4,
                                            .discarded_events = 9,
                                            .lost_texts = 3,
                                            .streams = 6},
                 "");
    for (uint64_t n = 0; n < 2; n++) { /* sequences 5 and 6; two events each */
        struct weft_events_header h = {.sequence = 6 - n,
                                       .begin_ticks = 100 - 50 * n,
                                       .events_before = 12 - 2 * n,
                                       .discarded_before = 7 - n};
        h.running = 40 + n;
        events_begin(&t, h);
        events_add(&t, WEFT_FORM_FULFIL, fulfills(101 - 50 * n, 0, 1), 0, 0);
        events_add(&t, WEFT_FORM_FULFIL, fulfills(102 - 50 * n, 0, 2), 0, 0);
        events_end(&t, 103 - 50 * n);
    }
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "51 0 fulfills 41 1\n52 0 fulfills 41 2\n"
                                  "101 0 fulfills 40 1 gap\n102 0 fulfills 40 2\n");
    assert_int_equal(res.stream[0].kept, 4);
    assert_int_equal(res.stream[0].overwritten, 10);
    assert_int_equal(res.stream[0].discarded, 7);
    assert_int_equal(res.facts.overwritten_events, 1000);
    assert_int_equal(res.facts.overwritten_packets, 4);
    assert_int_equal(res.facts.missing_packets, 0);
    assert_int_equal(res.facts.discarded_events, 9);
    assert_int_equal(res.facts.lost_texts, 3);
    assert_int_equal(res.facts.streams_recorded, 6);
    assert_true(res.facts.wrapped);
}

/* Packets of a stream were overwritten before older ones of it: what is missing between is known. Stream 5 begins in a packet of
 * stream 0. The newest packet of stream 0 has no event yet. */
TEST(what_is_missing_between)
{
    struct trace t = {.fd = -1};
    facts_packet(
        &t, (struct weft_facts_header){.overwritten_events = 1000, .overwritten_packets = 95}, "");
    const uint64_t before[] = {30, 32, 40}, five[] = {1, 1, 11};
    for (uint64_t n = 0; n < 3; n++) {
        events_begin(&t, (struct weft_events_header){.sequence = 2 + 10 * n,
                                                     .begin_ticks = 100 * n + 10,
                                                     .events_before = before[n]});
        events_add(&t, WEFT_FORM_FULFIL, fulfills(100 * n + 10, 0, 1), 0, 0);
        events_add(&t, WEFT_FORM_FULFIL, fulfills(100 * n + 11, 0, 2), 0, 0);
    }
    events_stream(&t, 220, 5, 88, "short");
    events_add(&t, WEFT_FORM_FULFIL, fulfills(221, 0, 3), 0, 0);
    for (uint64_t n = 1; n < 3; n++) {
        events_begin(&t, (struct weft_events_header){.sequence = 30 + n,
                                                     .stream = 5,
                                                     .begin_ticks = 230 + 10 * n,
                                                     .events_before = five[n]});
        if (n == 2)
            events_add(&t, WEFT_FORM_FULFIL, fulfills(251, 0, 4), 0, 0);
    }
    events_begin(
        &t, (struct weft_events_header){.sequence = 100, .begin_ticks = 900, .events_before = 50});
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 fulfills -1 1\n11 0 fulfills -1 2\n"
                                  "110 0 fulfills -1 1\n111 0 fulfills -1 2\n"
                                  "210 0 fulfills -1 1 missing\n211 0 fulfills -1 2\n"
                                  "221 1 fulfills -1 3\n251 1 fulfills -1 4 missing\n");
    assert_int_equal(res.stream[0].kept, 6);
    assert_int_equal(res.stream[0].overwritten, 30);
    assert_int_equal(res.stream[0].missing, 14);
    assert_int_equal(res.stream[1].kept, 2);
    assert_int_equal(res.stream[1].overwritten, 0);
    assert_int_equal(res.stream[1].missing, 10);
    assert_int_equal(res.facts.missing_events, 24);
    assert_int_equal(res.facts.overwritten_events, 976);
    assert_int_equal(res.facts.overwritten_elsewhere, 946);
}

/* What is missing is before the packet, although its first event is of an unknown kind, or all are. */
TEST(what_is_missing_before_the_unknown)
{
    struct trace t = {.fd = -1};
    const uint64_t before[] = {0, 10, 12, 20, 21, 23};
    for (uint64_t n = 0; n < COUNT(before); n++) {
        unsigned char unknown[12] = {(unsigned char)(20 * n + 10), [7] = 1 * 32 + 31};
        events_begin(&t, (struct weft_events_header){.sequence = 1 + n,
                                                     .begin_ticks = 20 * n + 10,
                                                     .running = n == 5 ? 7 : LOOP,
                                                     .events_before = before[n]});
        packet_bytes(&t, unknown, sizeof unknown);
        if (n != 3)
            events_add(&t, WEFT_FORM_FULFIL, fulfills(20 * n + 11, 0, n), 0, 0);
    }
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "11 0 fulfills -1 0\n31 0 fulfills -1 1 missing\n"
                                  "51 0 fulfills -1 2\n91 0 fulfills -1 4 missing\n"
                                  "111 0 fulfills 7 5 gap\n");
    assert_int_equal(res.facts.unknown_events, 6);
    assert_int_equal(res.stream[0].kept, 11);
    assert_int_equal(res.facts.missing_events, 14);
}

static size_t memory_now(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* Packets that say they are full, and are holes but for an event, all at the same time; or zeros, one after the other. They
 * are not all in memory. */
TEST(packets_of_holes)
{
    enum { PACKETS = 12, EACH = 16 << 20 };
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    const struct weft_event *ev;
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    packet_pad(&t, 4096 - t.size, 0);
    trace_path(&t);
    for (int whole = 0; whole < 2; whole++) {
        size_t most = 0, before = memory_now();
        uint64_t events = 0;
        ptrdiff_t n;
        for (uint64_t i = 0; i < PACKETS; i++) {
            struct trace one = {.fd = -1};
            events_begin(&one, (struct weft_events_header){.sequence = 1 + i,
                                                           .begin_ticks = 1000 + i,
                                                           .end_ticks = whole ? 1001 + i : 5000,
                                                           .events = 1});
            events_add(&one, WEFT_FORM_FULFIL, fulfills(1000 + i, 0, i + 1), 0, 0);
            struct weft_events_header h = events_header(&one);
            h.packet.packet_bits = h.packet.content_bits = (uint64_t)EACH * 8;
            events_set_header(&one, h);
            assert_int_equal(pwrite(t.fd, one.bytes, one.size, (off_t)(4096 + i * EACH)), one.size);
            for (uint64_t at = 4096; whole && at < EACH; at += 4096)
                assert_int_equal(pwrite(t.fd, "", 1, (off_t)(4096 + i * EACH + at)), 1);
            trace_fini(&one);
        }
        assert_int_equal(ftruncate(t.fd, 4096 + (off_t)PACKETS * EACH), 0);
        assert_int_equal(weft_reader_open(&r, t.path, NULL), 0);
        while ((n = weft_reader_next(r, &ev, NULL)) > 0) {
            events += (uint64_t)n;
            size_t now = memory_now() - before;
            most = now > most ? now : most;
        }
        assert_int_equal(n, 0);
        assert_int_equal(events, PACKETS);
        if (most > 5u * EACH)
            print_error("%zu bytes\n", most);
        assert_true(most <= 5u * EACH);
        weft_reader_close(r);
    }
    trace_fini(&t);
}

/* Without the facts, the headers say it. */
TEST(half_a_file)
{
    struct trace t = {.fd = -1};
    trace_extend(&t, 333);
    memset(t.bytes, 0x5a, 333);
    events_begin(
        &t, (struct weft_events_header){.sequence = 8, .begin_ticks = 10, .events_before = 70});
    events_add(&t, WEFT_FORM_LABEL, label(10, 1, ""), 0, 123);
    events_add(&t, WEFT_FORM_CREATE, creates(11, 0, 1, 0), 456, 0);
    events_add(&t, WEFT_FORM_CREATE_LABELLED, creates(12, 0, 2, 0), 0, 4000000000);
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 label 1 0 \"#123\"\n"
                                  "11 0 creates -1 1 #456 -:0\n"
                                  "12 0 creates -1 2 promise -:0 \"#4000000000\"\n");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 333);
    assert_int_equal(res.facts.overwritten_packets, 7);
    assert_int_equal(res.facts.overwritten_events, 70);
    assert_int_equal(res.facts.ended, WEFT_ENDED_UNKNOWN);
    assert_int_equal(res.facts.process.pid, 0);
}

/* ---- Texts ---- */

TEST(texts_in_the_packet)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t used = strings_text(&s, "kept");
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 10});
    events_put(&t, with_text(creates(10, LOOP, 1, 0), "a label"), used);
    events_put(&t, label(11, 1, ""), 0);
    events_put(&t, label(12, 1, "1234"), 0);
    unsigned char bytes[64];
    packet_bytes(&t, bytes, weft_form_encode_text(bytes, 13, "type", 4));
    packet_bytes(&t, bytes, weft_form_encode_text(bytes, 13, "label", 5));
    events_add(&t, WEFT_FORM_CREATE_LABELLED, creates(13, 0, 2, 0), WEFT_STRING_INLINE,
               WEFT_STRING_INLINE);
    packet_bytes(&t, bytes, weft_form_encode_text(bytes, 14, "typ", 3));
    events_add(&t, WEFT_FORM_CREATE_LABELLED, creates(14, 0, 3, 0), WEFT_STRING_INLINE, used);
    events_add(&t, WEFT_FORM_CREATE_LABELLED, creates(15, 0, 4, 0), WEFT_STRING_INLINE,
               WEFT_STRING_INLINE);
    /* used is a text, no site. */
    expect(&t, "10 0 creates -1 1 #16 -:0 \"a label\"\n"
               "11 0 label 1 0 \"\"\n"
               "12 0 label 1 0 \"1234\"\n"
               "13 0 creates -1 2 type -:0 \"label\"\n"
               "14 0 creates -1 3 typ -:0 \"kept\"\n"
               "15 0 creates -1 4 promise -:0 \"#4294967295\"\n");
}

/* Entries that are not what they should be are not there. */
TEST(hostile_strings)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t good = strings_text(&s, "good"), nul = strings_text(&s, "a.b"),
             open = strings_text(&s, "abcd"), overlap = strings_text(&s, "....\x03..\x01uvw"),
             site = strings_site(&s, good, nul, 999, 7), small, last,
             full = strings_text(&s, "abc"), next = strings_text(&s, "next"),
             tail = strings_text(&s, "tail"), more;
    char letters[253] = "";
    memset(letters, 'x', sizeof letters - 1);
    more = strings_text(&s, letters);
    weft_write_u32(s.bytes + (tail * 4 - 64) + 8, WEFT_STRING_TEXT << 24 | 256); /* with its end */
    memcpy(s.bytes + (more * 4 - 64), "xxxx", 4);
    s.bytes[(nul * 4 - 64) + 5] = 0;
    s.bytes[(open * 4 - 64) + 8] = 'x'; /* does not end */
    small = strings_add(&s, WEFT_STRING_SITE, "12 bytes....", 12);
    last = strings_text(&s, "last");
    weft_write_u32(s.bytes + (last * 4 - 64), WEFT_STRING_TEXT << 24 | 0xffffff);
    weft_write_u32(s.bytes + (overlap * 4 - 64) + 8, WEFT_STRING_TEXT << 24 | 3);
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 10});
    const uint32_t numbers[] = {good,    nul,  open, overlap, overlap + 2, good + 1,
                                0,       1,    15,   last,    1000000,     good,
                                overlap, full, next, tail,    tail + 2};
    for (uint64_t i = 0; i < COUNT(numbers); i++)
        events_add(&t, WEFT_FORM_LABEL, label(10 + i, 0, ""), 0, numbers[i]);
    events_add(&t, WEFT_FORM_CREATE, creates(30, 0, 1, 0), site, 0);
    events_add(&t, WEFT_FORM_CREATE, creates(31, 0, 1, 0), site, 0);
    events_add(&t, WEFT_FORM_CREATE, creates(32, 0, 1, 0), small, 0);
    events_add(&t, WEFT_FORM_CREATE, creates(33, 0, 1, 0), good, 0);
    char wanted[2048], *w = wanted;
    for (uint64_t i = 0; i < COUNT(numbers); i++) {
        const char *there = numbers[i] == good   ? "good"
                            : numbers[i] == full ? "abc"
                            : numbers[i] == next ? "next"
                            : numbers[i] == tail ? "tail"
                                                 : NULL;
        w += sprintf(w, "%" PRIu64 " 0 label 0 0", 10 + i);
        if (numbers[i] == overlap)
            w += sprintf(w, " \"....\x03..\x01%.3s\"", (char *)s.bytes + overlap * 4 - 64 + 12);
        else if (numbers[i])
            w += there ? sprintf(w, " \"%s\"", there) : sprintf(w, " \"#%u\"", numbers[i]);
        w += sprintf(w, "\n");
    }
    w += sprintf(w, "30 0 creates -1 1 good #999:7 \"#%u\"\n", nul);
    w += sprintf(w, "31 0 creates -1 1 good #999:7 \"#%u\"\n", nul);
    w += sprintf(w, "32 0 creates -1 1 #%u -:0\n33 0 creates -1 1 #%u -:0\n", small, good);
    struct result res = read_trace(&t);
    /* The bytes of the longer entry include a head, which are shown as they are. */
    assert_int_equal(res.events, COUNT(numbers) + 4);
    for (char *line = wanted, *found = res.text; *line;) {
        size_t n = strcspn(line, "\n") + 1, m = strcspn(found, "\n") + 1;
        if (!memmem(line, n, "....", 4) && (n != m || memcmp(line, found, n) != 0))
            fail_msg("wanted %.*s, found %.*s", (int)n - 1, line, (int)m - 1, found);
        line += n;
        found += m;
    }
}

/* ---- What a reader does not know ---- */

TEST(unknown_things_are_counted)
{
    struct trace t = {.fd = -1};
    struct weft_events_header h = {0};
    add_packet(&t, 0, 1, TIMES(10));
    unsigned char form[12] = {12, [7] = 1 * 32 + 31};
    packet_bytes(&t, form, sizeof form);
    events_add(&t, WEFT_FORM_SWITCH, switches(13, 5), 0, 0);
    events_end(&t, 20);
    SET_HEADER(&t, events = 3);
    for (unsigned class = WEFT_PACKET_PRIVATE; class < WEFT_PACKET_PRIVATE + 8; class ++) {
        packet_begin(&t, class, &h, sizeof h);
        packet_pad(&t, 24, 0x77);
    }
    h.sequence = 2;
    packet_begin(&t, WEFT_PACKET_EVENTS, &h, sizeof h);
    SET_HEADER(&t, packet.version = 2);
    packet_begin(&t, WEFT_PACKET_EVENTS, &h, sizeof h);
    SET_HEADER(&t, packet.uuid[3] = 'x');
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 switch 100 0\n13 0 switch 5 0\n");
    assert_int_equal(res.facts.unknown_events, 1);
    assert_int_equal(res.facts.unknown_packets, 4); /* three classes and version 2 */
    assert_int_equal(res.facts.sample_packets, 1);
    assert_int_equal(res.facts.other_packets, 1);
    assert_int_equal(res.stream[0].kept, 3);
    assert_int_equal(res.damage.problems, 0);
}

TEST(a_header_may_be_longer)
{
    struct trace t = {.fd = -1};
    struct {
        struct weft_events_header h;
        char more[40];
    } longer = {.h = {.sequence = 1, .begin_ticks = 5, .running = 6}};
    memset(longer.more, 0xff, sizeof longer.more);
    packet_begin(&t, WEFT_PACKET_EVENTS, &longer, sizeof longer);
    events_add(&t, WEFT_FORM_RESOLVE, resolves(5, 0, 3), 0, 0);
    expect(&t, "5 0 resolves 6 3\n");
}

TEST(only_a_later_version)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 0, 1, TIMES(10));
    SET_HEADER(&t, packet.version = 7);
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, WEFT_E_FORMAT);
    assert_non_null(strstr(res.err.text, "version"));
}

/* ---- Files put together ---- */

TEST(the_same_trace_twice)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t first = strings_text(&s, "first");
    strings_packet(&t, &s);
    add_packet(&t, 0, 1, TIMES(10, 20));
    add_packet(&t, 0, 2, TIMES(30));
    uint32_t second = strings_text(&s, "second"); /* later, more has been recorded */
    strings_packet(&t, &s);
    add_packet(&t, 0, 2, TIMES(30, 40));
    events_add(&t, WEFT_FORM_LABEL, label(50, 1, ""), 0, second);
    events_add(&t, WEFT_FORM_LABEL, label(51, 1, ""), 0, first);
    add_packet(&t, 0, 1, TIMES(10, 20));
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 switch 100 0\n20 0 switch 101 0\n30 0 switch 200 0 gap\n"
                                  "40 0 switch 201 0\n50 0 label 1 0 \"second\"\n"
                                  "51 0 label 1 0 \"first\"\n");
    assert_int_equal(res.facts.repeated_packets, 3);
    assert_int_equal(res.damage.problems, 0);
}

/* ---- Damage ---- */

static void add_example(struct trace *t)
{
    struct strings s = {.used = 0};
    uint32_t type = strings_text(&s, "task");
    uint32_t site = strings_site(&s, type, 0, 0, 0);
    facts_packet(t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "program=example\n");
    strings_packet(t, &s);
    for (uint64_t n = 1; n <= 3; n++) {
        events_begin(t, (struct weft_events_header){
                            .stream = (n - 1) & 1, .sequence = n, .begin_ticks = n * 100});
        events_add(t, WEFT_FORM_CREATE, creates(n * 100, 0, n, 0), site, 0);
        events_put(t, label(n * 100 + 50, n, "text"), 0);
        events_end(t, n * 100 + 90);
        packet_pad(t, 60, 0xcc);
    }
}

/* A read may give less than was asked for. */
TEST(in_pieces)
{
    struct trace t = {.fd = -1};
    unsigned char bytes[64] = {0};
    struct weft_input in;
    add_example(&t);
    struct result all = read_path(trace_path(&t));
    at_once = 5;
    assert_int_equal(weft_input_open(&in, trace_path(&t), NULL), 0);
    assert_int_equal(weft_input_read(&in, bytes, 17, 3, NULL), 17);
    assert_memory_equal(bytes, t.bytes + 3, 17);
    assert_int_equal(bytes[17], 0);
    assert_int_equal(weft_input_read(&in, bytes, sizeof bytes, t.size - 17, NULL), 17);
    assert_memory_equal(bytes, t.bytes + t.size - 17, 17);
    weft_input_close(&in);
    struct result res = read_path(trace_path(&t));
    assert_string_equal(res.text, all.text);
    at_once = 0;
    trace_fini(&t);
}

/* Each read may fail: then there is an error, or all is read nevertheless. core: the trace is in a core file. */
static void reads_fail(bool core)
{
    struct trace t = {.fd = -1};
    struct result all;
    if (core) {
        memset(trace_extend(&t, 4096), 0, 4096);
        memcpy(t.bytes, "\177ELF", 4);
        t.bytes[16] = 4;
    }
    add_example(&t);
    if (core) { /* the texts come after the facts */
        struct weft_facts_header f;
        struct strings s;
        memcpy(&f, t.bytes + 4096, sizeof f);
        f.strings_at = f.packet.packet_bits / 8;
        f.events_at = f.strings_at + sizeof(struct weft_strings_header) + sizeof s.bytes;
        f.event_packets = 1; /* as if it were one */
        f.event_packet_bytes = (uint32_t)(t.size - 4096 - f.events_at);
        memcpy(t.bytes + 4096, &f, sizeof f);
    }
    all = read_path(trace_path(&t));
    assert_int_equal(all.events, 6);
    bool failed = true;
    for (long each = 1; failed; each++) {
        struct weft_reader *r;
        const struct weft_event *ev;
        ptrdiff_t n = 0;
        uint64_t events = 0;
        fail_at = each;
        int rc = weft_reader_open(&r, trace_path(&t), NULL);
        while (rc == 0 && (n = weft_reader_next(r, &ev, NULL)) > 0)
            events += (uint64_t)n;
        weft_reader_close(r);
        failed = fail_at == 0;
        fail_at = 0;
        rc = rc < 0 ? rc : (int)n;
        if (rc == 0)
            assert_int_equal(events, 6);
        else
            assert_int_equal(rc, WEFT_E_IO);
        assert_true(failed || rc == 0);
    }
    trace_fini(&t);
}

TEST(each_read_may_fail)
{
    reads_fail(false);
    reads_fail(true);
}

/* Whatever is cut off the end, what stands before it is read. */
TEST(cut_anywhere)
{
    struct trace whole = {.fd = -1};
    add_example(&whole);
    struct result all = read_path(trace_path(&whole));
    assert_int_equal(all.events, 6);
    uint64_t before = 0;
    for (size_t size = 24; size < whole.size; size += size < 4000 ? 13 : 1) {
        struct trace t = {.fd = -1};
        memcpy(trace_extend(&t, size), whole.bytes, size);
        struct result res = read_trace(&t);
        if (res.rc < 0) {
            assert_true(size < 300);
            continue;
        }
        assert_true(res.events >= before);
        assert_memory_equal(res.text, all.text, strlen(res.text));
        before = res.events;
    }
    assert_int_equal(before, 6);
    trace_fini(&whole);
}

/* It becomes shorter after its packets were found: what is left is read, and where it ends is said. */
TEST(shorter_while_it_is_read)
{
    enum { LEFT = 5 };
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    const struct weft_event *ev;
    uint64_t events = 0;
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 10});
    size_t left = 0;
    for (uint64_t i = 0; i < 2 * LEFT; i++) {
        events_add(&t, WEFT_FORM_SWITCH, switches(10 + i, i % 2), 0, 0);
        left = i < LEFT ? t.size : left;
    }
    events_end(&t, 30);
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    assert_int_equal(ftruncate(t.fd, (off_t)left), 0);
    for (ptrdiff_t n; (n = weft_reader_next(r, &ev, NULL)) != 0; events += (uint64_t)n)
        assert_true(n > 0);
    assert_int_equal(events, LEFT);
    assert_true(weft_reader_damage(r)->problems > 0);
    assert_int_equal(weft_reader_damage(r)->first[0].offset, left);
    weft_reader_close(r);
    trace_fini(&t);
}

/* A ring that was cut, also between two packets or where a packet was never used; not a file to which nothing belongs but its packets. */
TEST(shorter_than_its_ring)
{
    enum { PACKETS = 4, EACH = 4096 };
    for (int ring = 0; ring < 2; ring++) {
        for (size_t there = 0; there <= PACKETS * EACH; there += EACH / 2) {
            struct trace t = {.fd = -1};
            facts_packet(&t,
                         (struct weft_facts_header){.state = WEFT_TRACE_STOPPED,
                                                    .event_packet_bytes = EACH,
                                                    .events_at = EACH,
                                                    .event_packets = ring ? PACKETS : 0},
                         "");
            packet_pad(&t, EACH - t.size, 0);
            for (uint64_t i = 0; i < PACKETS; i++) {
                add_packet(&t, 0, 1 + i, TIMES(10 + i));
                packet_pad(&t, EACH * (2 + i) - t.size, 0);
            }
            t.size = EACH + there;
            const struct result res = read_trace(&t);
            assert_int_equal(res.events, (there + EACH / 2) / EACH);
            const bool cut = ring && there < PACKETS * EACH;
            assert_int_equal(res.damage.problems, cut);
            if (cut) {
                assert_int_equal(res.damage.first[0].offset, EACH + there);
                assert_non_null(strstr(res.damage.first[0].text, "of 4 packets"));
            }
        }
    }
}

TEST(junk_and_zeros_between)
{
    for (int fill = 0; fill < 2; fill++) {
        struct trace t = {.fd = -1};
        add_packet(&t, 0, 1, TIMES(10));
        memset(trace_extend(&t, 100000), fill ? 0x55 : 0, 100000);
        add_packet(&t, 0, 2, TIMES(20));
        memset(trace_extend(&t, 77), fill ? 0x55 : 0, 77);
        struct result res = read_trace(&t);
        assert_int_equal(res.events, 2);
        assert_int_equal(res.damage.problems, fill ? 2 : 0);
        assert_int_equal(res.damage.skipped_bytes, fill ? 100077 : 0);
    }
}

/* A cut file, and another one behind it. */
TEST(a_packet_within_a_packet)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 0, 1, TIMES(10, 11, 12));
    packet_pad(&t, 5000, 0);
    t.size -= 5000 + 8; /* in the middle of the third event */
    add_packet(&t, 0, 2, TIMES(20));
    packet_pad(&t, 6000, 0x11);
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 switch 100 0\n11 0 switch 101 0\n20 0 switch 200 0 gap\n");
    assert_true(res.damage.problems >= 1);
}

TEST(sizes_that_are_wrong)
{
    static const uint64_t sizes[] = {0, 8, 47 * 8, 159 * 8, 171 * 8, 1 << 20, UINT64_MAX};
    for (size_t i = 0; i < COUNT(sizes) * 3; i++) {
        struct trace t = {.fd = -1};
        add_packet(&t, 0, 1, TIMES(10, 11));
        size_t second = t.size;
        add_packet(&t, 0, 2, TIMES(20, 21));
        if (i % 3 == 0)
            SET_HEADER(&t, packet.packet_bits = sizes[i / 3]);
        else if (i % 3 == 1)
            SET_HEADER(&t, packet.content_bits = sizes[i / 3]);
        else
            SET_HEADER(&t, packet.header_bytes = (uint32_t)(sizes[i / 3] / 8));
        add_packet(&t, 0, 3, TIMES(30, 31));
        struct result res = read_trace(&t);
        assert_int_equal(res.rc, 0);
        assert_true(res.damage.problems >= 1 && res.events >= 4 && res.events <= 6);
        assert_memory_equal(res.text, "10 0 switch 100 0\n11 0 switch 101 0\n", 36);
        assert_non_null(strstr(res.text, "30 0 switch 300 0"));
        assert_true(res.damage.first[0].offset >= second);
    }
}

TEST(an_event_that_does_not_end)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 0, 1, TIMES(10));
    unsigned char form[8] = {12, [7] = WEFT_FORM_CREATE_WIDE};
    packet_bytes(&t, form, sizeof form);
    add_packet(&t, 0, 2, TIMES(20));
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "10 0 switch 100 0\n20 0 switch 200 0 gap\n");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 8);
}

TEST(a_wrong_number_of_events)
{
    struct trace t = {.fd = -1};
    add_packet(&t, 0, 1, TIMES(10, 11));
    events_end(&t, 20);
    SET_HEADER(&t, events = 7);
    struct result res = read_trace(&t);
    assert_int_equal(res.events, 2);
    assert_int_equal(res.damage.problems, 1);
    assert_string_equal(res.damage.first[0].text, "packet says it holds 7 events, found 2");
}

TEST(times_run_backwards)
{
    struct trace t = {.fd = -1};
    const uint64_t second = 1000000000;
    add_packet(&t, 0, 1, TIMES(second, 2 * second, 2 * second - 100, second + 1, 2 * second + 5));
    events_add(&t, WEFT_FORM_SWITCH, switches(9 * second, 7), 0, 0);
    events_end(&t, 3 * second); /* no event is later */
    struct result res = read_trace(&t);
    assert_string_equal(res.text, "1000000000 0 switch 100 0\n2000000000 0 switch 101 0\n"
                                  "2000000000 0 switch 102 0\n2000000000 0 switch 103 0\n"
                                  "2000000005 0 switch 104 0\n3000000000 0 switch 7 0\n");
    assert_int_equal(res.damage.backward_times, 2); /* by 100 ns is nothing */
}

TEST(packets_that_were_never_used)
{
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_RECORDING}, "");
    events_begin(&t, (struct weft_events_header){.sequence = 0});
    packet_pad(&t, 1000, 0);
    events_begin(&t, (struct weft_events_header){.sequence = 0, .begin_ticks = 7});
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, 0);
    assert_int_equal(res.events, 0);
    assert_int_equal(res.facts.unused_packets, 2);
    assert_int_equal(res.facts.changed_packets, 0); /* as it is left by a program that is killed */
    assert_int_equal(res.damage.problems, 0);
}

/* Headers that all say that they go on up to the same place, where something stands that is no packet. */
TEST(headers_without_end)
{
    enum { HEADERS = 5000, REST = 400000 };
    for (int fill = 0; fill < 3; fill++) {
        struct trace t = {.fd = -1};
        struct weft_packet_header h = {0};
        for (uint64_t i = 0; i < HEADERS; i++)
            packet_begin(&t, WEFT_PACKET_PRIVATE + 1, &h, sizeof h);
        for (uint64_t i = 0; i < HEADERS; i++) {
            weft_write_u64(t.bytes + i * sizeof h + 32, ((HEADERS - i) * sizeof h) * 8);
            weft_write_u64(t.bytes + i * sizeof h + 40, ((HEADERS - i) * sizeof h) * 8);
        }
        memset(trace_extend(&t, REST), fill ? 'x' : 0, REST);
        if (fill == 2)
            memset(t.bytes + t.size - REST, 0, 900);
        uint64_t size = t.size;
        bytes_read = 0;
        struct result res = read_trace(&t);
        assert_int_equal(res.rc, 0);
        assert_int_equal(res.events, 0);
        assert_true(bytes_read < 60 * size);
    }
}

/* ---- While it is recorded ---- */

/* Reads a file whose first bytes are replaced before that read. */
static struct result read_changing(struct trace *before, const struct trace *after,
                                   uint64_t at_read)
{
    const char *path = trace_path(before);
    changes = before->fd;
    changed_to = after;
    reads_left = at_read;
    const struct result res = read_path(path);
    reads_left = 0;
    return res;
}

/* The file changes at any of the reader's steps: each packet is read as it was or not at all. */
TEST(packets_change_hands)
{
    uint64_t changed = 0;
    for (uint64_t step = 1; step < 60; step++) {
        struct trace before = {.fd = -1}, after = {.fd = -1};
        for (uint64_t n = 1; n <= 4; n++)
            add_packet(&before, 0, n, TIMES(100 * n, 100 * n + 1, 100 * n + 2));
        for (uint64_t n = 5; n <= 8; n++)
            add_packet(&after, 1, n, TIMES(100 * n, 100 * n + 1, 100 * n + 2));
        const struct result res = read_changing(&before, &after, step);
        assert_int_equal(res.rc, 0);
        assert_int_equal(res.damage.problems, 0);
        assert_int_equal(res.events + 3 * res.facts.changed_packets, 12);
        changed += res.facts.changed_packets;
        for (const char *line = res.text; *line; line += strcspn(line, "\n") + 1)
            assert_non_null(strstr(line, " switch "));
        trace_fini(&before);
        trace_fini(&after);
    }
    assert_true(changed > 20);
}

/* What comes after the file was opened is left for another time. */
TEST(packets_grow)
{
    for (uint64_t step = 1; step < 40; step++) {
        struct trace before = {.fd = -1}, after = {.fd = -1};
        for (uint64_t n = 1; n <= 3; n++) {
            add_packet(&before, 0, n, TIMES(100 * n, 100 * n + 1));
            packet_pad(&before, 12, 0);
            add_packet(&after, 0, n, TIMES(100 * n, 100 * n + 1, 100 * n + 2));
        }
        const struct result res = read_changing(&before, &after, step);
        assert_int_equal(res.damage.problems, 0);
        assert_true(res.events >= 6 && res.events <= 9);
        trace_fini(&before);
        trace_fini(&after);
    }
}

/* An event that is found has its text, also if the text was added after its packet was found. */
TEST(texts_grow)
{
    int found[2] = {0};
    for (uint64_t step = 1; step < 40; step++) {
        struct trace before = {.fd = -1}, after = {.fd = -1};
        struct strings s = {.used = 0};
        strings_text(&s, "old");
        const size_t used = s.used;
        const uint32_t text = strings_text(&s, "new");
        strings_packet(&after, &s);
        s.used = used;
        strings_packet(&before, &s);
        add_packet(&before, 0, 1, TIMES(100));
        add_packet(&after, 0, 1, TIMES(100));
        const struct weft_events_header h = {
            .sequence = 2, .begin_ticks = 200, .events_before = 1, .running = 100};
        events_begin(&before, h);
        events_begin(&after, h);
        events_add(&after, WEFT_FORM_LABEL, label(200, 7, ""), 0, text);
        packet_pad(&before, after.size - before.size, 0);
        const struct result res = read_changing(&before, &after, step);
        expect_text(res.text, res.events == 1 ? "100 0 switch 100 0\n"
                                              : "100 0 switch 100 0\n200 0 label 7 0 \"new\"\n");
        found[res.events > 1]++;
        trace_fini(&before);
        trace_fini(&after);
    }
    assert_true(found[0] > 0 && found[1] > 0);
}

/* ---- Clocks ---- */

struct reading {
    uint64_t ticks, ns;
    uint32_t error;
};

/* The times of events at those ticks, as text; the packets have those readings. */
static void expect_times(uint32_t kind, uint64_t hz, const struct reading *reading, size_t readings,
                         const uint64_t *ticks, const char *wanted)
{
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.clock = kind, .hz = hz}, "");
    for (uint64_t i = 0; i < readings; i++)
        events_begin(&t, (struct weft_events_header){.sequence = i + 1,
                                                     .begin_ticks = reading[i].ticks,
                                                     .pair_ticks = reading[i].ticks,
                                                     .pair_mono_ns = reading[i].ns,
                                                     .pair_error = reading[i].error});
    add_packet(&t, 1, readings + 1, ticks);
    struct result res = read_trace(&t);
    char found[256] = "";
    for (char *line = res.text; *line; line += strcspn(line, "\n") + 1)
        strncat(found, line, strcspn(line, " ") + 1);
    assert_string_equal(found, wanted);
}

#define READINGS(...)                                                                              \
    ((const struct reading[]){__VA_ARGS__}),                                                       \
        sizeof((const struct reading[]){__VA_ARGS__}) / sizeof(struct reading)

TEST(ticks_become_nanoseconds)
{
    const uint64_t M = 1000000;
    /* One reading: the nominal frequency, in both directions, not below 0. */
    expect_times(WEFT_CLOCK_TSC, 2000 * M, READINGS({1000, 5000, 10}),
                 TIMES(1000, 1001, 1003, 3000), "5000 5001 5002 6000 ");
    expect_times(WEFT_CLOCK_TSC, 2000 * M, READINGS({100 * M, 10 * M, 10}),
                 TIMES(1, 90 * M, 100 * M, 110 * M), "0 5000000 10000000 15000000 ");
    /* Three: lines between, and their slopes outside. */
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({100 * M, 500 * M, 10}, {200 * M, 600 * M, 10}, {300 * M, 720 * M, 10}),
                 TIMES(50 * M, 150 * M, 200 * M, 250 * M, 300 * M, 400 * M),
                 "450000000 550000000 600000000 660000000 720000000 840000000 ");
    /* Nanoseconds as they are. */
    expect_times(WEFT_CLOCK_MONOTONIC, 0, READINGS({77, 99, 1}), TIMES(5, 1234567), "5 1234567 ");
    /* The program's own: by its frequency, whatever the readings say. */
    expect_times(WEFT_CLOCK_CALLER, 1000, READINGS({5, 99, 1}), TIMES(1, 2, 5000),
                 "1000000 2000000 5000000000 ");
    expect_times(WEFT_CLOCK_CALLER, 1, READINGS({5, 99, 1}), TIMES(1, 2), "1000000000 2000000000 ");
    expect_times(WEFT_CLOCK_CALLER, 3000 * M, READINGS({5, 99, 1}), TIMES(3, 30, 31), "1 10 10 ");
}

TEST(readings_that_are_wrong)
{
    const uint64_t M = 1000000;
    const uint64_t *ticks = TIMES(100 * M, 150 * M, 200 * M, 250 * M, 300 * M);
    const char *right = "100000000 150000000 200000000 250000000 300000000 ";
    /* Interrupted. */
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({100 * M, 100 * M, 10}, {150 * M, 155 * M, 100000},
                          {200 * M, 200 * M, 12}, {300 * M, 300 * M, 9}),
                 ticks, right);
    /* In the past, in the future, at another rate. */
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({100 * M, 100 * M, 10}, {150 * M, 5, 10}, {200 * M, 200 * M, 12},
                          {220 * M, 900 * M, 12}, {300 * M, 300 * M, 9}),
                 ticks, right);
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({90 * M, 1, 10}, {100 * M, 100 * M, 10}, {200 * M, 200 * M, 12},
                          {300 * M, 300 * M, 9}, {UINT64_MAX / 2, 301 * M, 9}),
                 TIMES(100 * M, 150 * M), "100000000 150000000 ");
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({100 * M, 100 * M, 10}, {200 * M, 200 * M, 10}, {210 * M, UINT64_MAX, 10},
                          {220 * M, 220 * M, 3}),
                 TIMES(205 * M), "205000000 ");
    /* So close together that their errors would make the slope. */
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({100 * M, 100 * M, 10}, {100 * M + 10, 100 * M + 19, 10}),
                 TIMES(100 * M, 200 * M), "100000000 200000000 ");
    /* Suspended: the counter went on, the time did not. */
    expect_times(WEFT_CLOCK_TSC, 1000 * M,
                 READINGS({100 * M, 100 * M, 10}, {200 * M, 200 * M, 10}, {900000 * M, 220 * M, 10},
                          {900100 * M, 320 * M, 10}),
                 TIMES(150 * M, 900050 * M), "150000000 270000000 ");
}

/* ---- Facts ---- */

static struct weft_reader *open_facts(struct trace *t, struct weft_facts_header h,
                                      const char *texts)
{
    struct weft_reader *r;
    facts_packet(t, h, texts);
    assert_int_equal(weft_reader_open(&r, trace_path(t), NULL), 0);
    return r;
}

TEST(facts_of_the_process)
{
    struct trace t = {.fd = -1};
    struct weft_reader *r = open_facts(
        &t,
        (struct weft_facts_header){.state = WEFT_TRACE_STOPPED,
                                   .pid = 1234,
                                   .start_mono_ns = 500,
                                   .start_real_ns = 1700000000000000000,
                                   .stop_mono_ns = 1500,
                                   .process_start = 42,
                                   .boot_id = "bootbootbootboot"},
        "program=/bin/x\narg=x\narg=--a=b\narg=\nnoise\n=\nfuture=1\nhost=h\nversion=0.1\nprogra");
    const struct weft_process_facts *p = &weft_reader_facts(r)->process;
    assert_int_equal(p->pid, 1234);
    assert_string_equal(p->program, "/bin/x");
    assert_string_equal(p->host, "h");
    assert_string_equal(p->version, "0.1");
    assert_int_equal(p->args, 3);
    assert_string_equal(p->arg[1], "--a=b");
    assert_string_equal(p->arg[2], "");
    assert_int_equal(p->started_at, 42);
    assert_int_equal(p->start_ns, 500);
    assert_int_equal(p->start_real_ns, 1700000000000000000);
    assert_int_equal(p->stop_real_ns, 1700000000000001000);
    assert_int_equal(weft_reader_facts(r)->ended, WEFT_ENDED_STOPPED);
    assert_string_equal(weft_reader_facts(r)->format, "weft");
    weft_reader_close(r);
    trace_fini(&t);
}

/* When the recording was off, in facts that have room for it. */
TEST(facts_of_a_pause)
{
    static const struct {
        uint64_t paused, resumed;
        bool was, is;
    } cases[] = {
        {0, 0, false, false},    {700, 0, true, true},   {700, 900, true, false},
        {700, 700, true, false}, {900, 700, true, true}, {0, 900, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace t = {.fd = -1};
        struct weft_reader *r;
        facts_packet_with_pause(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED,
                                                               .start_mono_ns = 500,
                                                               .stop_mono_ns = 1500});
        facts_pause(&t, cases[i].paused, cases[i].resumed);
        packet_bytes(&t, "program=x", 10);
        assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
        const struct weft_process_facts *p = &weft_reader_facts(r)->process;
        assert_string_equal(p->program, "x");
        assert_int_equal(p->was_paused, cases[i].was);
        assert_int_equal(p->is_paused, cases[i].is);
        assert_int_equal(p->paused_ns, cases[i].was ? cases[i].paused : 0);
        assert_int_equal(p->resumed_ns, cases[i].was && !cases[i].is ? cases[i].resumed : 0);
        assert_int_equal(p->until_ns, cases[i].is ? cases[i].paused : 1500);
        weft_reader_close(r);
        trace_fini(&t);
    }
}

/* When it was stopped is not on the clock of a program's own; but it is if the trace was made from outside. */
TEST(stopped_on_another_clock)
{
    for (int outside = 0; outside < 2; outside++) {
        struct trace t = {.fd = -1};
        facts_packet(&t,
                     (struct weft_facts_header){.state = WEFT_TRACE_STOPPED,
                                                .clock = WEFT_CLOCK_CALLER,
                                                .pid = 7,
                                                .start_mono_ns = 500,
                                                .stop_mono_ns = 1500},
                     outside ? "outside=100 3\n" : "");
        const struct result res = read_trace(&t);
        assert_int_equal(res.rc, 0);
        assert_int_equal(res.facts.process.outside.known, outside);
        assert_int_equal(res.facts.process.until_ns, outside ? 1500 : 0);
    }
}

static void read_small(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
}

TEST(how_it_ended)
{
    char stat[1024], boot[64];
    read_small("/proc/self/stat", stat, sizeof stat);
    read_small("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    char *at = strrchr(stat, ')');
    for (int i = 2; i < 22; i++)
        at = strchr(at + 1, ' ');
    struct weft_facts_header me = {.state = WEFT_TRACE_RECORDING,
                                   .pid = (uint32_t)getpid(),
                                   .process_start = strtoull(at, NULL, 10)};
    for (size_t i = 0, from = 0; i < 16; i++, from += 2) {
        from += boot[from] == '-';
        me.boot_id[i] = (uint8_t)strtoul((char[]){boot[from], boot[from + 1], 0}, NULL, 16);
    }
    const struct {
        uint32_t state, pid;
        uint64_t start;
        uint8_t boot;
        enum weft_ended wanted;
    } cases[] = {
        {WEFT_TRACE_RECORDING, me.pid, 0, 0, WEFT_ENDED_RUNNING},
        {WEFT_TRACE_RECORDING, me.pid, 1, 0, WEFT_ENDED_KILLED},
        {WEFT_TRACE_RECORDING, me.pid, 0, 1, WEFT_ENDED_KILLED},
        {WEFT_TRACE_RECORDING, 0x7ffffffe, 0, 0, WEFT_ENDED_KILLED},
        {WEFT_TRACE_RECORDING, 0, 0, 0, WEFT_ENDED_UNKNOWN},
        {WEFT_TRACE_STOPPED, me.pid, 0, 0, WEFT_ENDED_STOPPED},
        {WEFT_TRACE_SAVED, me.pid, 0, 0, WEFT_ENDED_SAVED},
        {99, me.pid, 0, 0, WEFT_ENDED_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trace t = {.fd = -1};
        struct weft_facts_header h = me;
        h.state = cases[i].state;
        h.pid = cases[i].pid;
        h.process_start += cases[i].start;
        h.boot_id[5] ^= cases[i].boot;
        struct weft_reader *r = open_facts(&t, h, "");
        assert_int_equal(weft_reader_facts(r)->ended, cases[i].wanted);
        assert_true(*weft_ended_name(weft_reader_facts(r)->ended));
        weft_reader_close(r);
        trace_fini(&t);
    }
}

/* ---- Many ---- */

TEST(many_streams_of_one_packet)
{
    enum { STREAMS = 100000 };
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < STREAMS; i++) {
        uint64_t n = i * 7919 % STREAMS; /* in any order */
        add_packet(&t, (uint32_t)n, n + 1, TIMES(10 + 3 * n, 14 + 3 * n));
    }
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, 0);
    assert_int_equal(res.events, 2 * STREAMS);
    assert_int_equal(res.facts.streams, STREAMS);
    assert_int_equal(res.damage.problems, 0);
    assert_memory_equal(res.text, "10 0 switch 100 0\n13 1 switch 200 0\n14 0 ", 40);
}

/* How the program ended is in a text of the facts. */
TEST(exits)
{
    static const struct {
        const char *text;
        struct weft_exit exit;
    } cases[] = {{"end=exit 0", {.known = true}},
                 {"end=exit 3", {.known = true, .number = 3}},
                 {"end=signal 9", {.known = true, .by_signal = true, .number = 9}},
                 {"end=signal", {.known = false}},
                 {"end=left", {.known = false}},
                 {"", {.known = false}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trace t = {.fd = -1};
        struct weft_reader *r;
        struct weft_error err;
        facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, cases[i].text);
        assert_int_equal(weft_reader_open(&r, trace_path(&t), &err), 0);
        const struct weft_exit *exit = &weft_reader_facts(r)->process.exit;
        assert_int_equal(exit->known, cases[i].exit.known);
        assert_int_equal(exit->by_signal && exit->known, cases[i].exit.by_signal);
        assert_int_equal(exit->number, cases[i].exit.number);
        weft_reader_close(r);
        trace_fini(&t);
    }
}

/* What is kept in columns becomes the same again, byte for byte, whatever comes last in a packet. */
TEST(columns_and_back)
{
    unsigned char *columns = malloc(READ_COLUMNS_ROOM), *back = malloc(READ_COLUMNS_BLOCK);
    assert_true(columns && back);
    for (unsigned last = 0; last < 3; last++) {
        struct trace t = {.fd = -1};
        size_t used;
        facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
        events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 10});
        events_put(&t, with_text(creates(10, LOOP, 1, 0), "a label"), 0);
        if (last > 0)
            events_add(&t, WEFT_FORM_SWITCH, switches(11, 1), 0, 0);
        if (last > 1)
            events_add(&t, WEFT_FORM_CREATE, creates(12, 1, 2, 0), 0, 0);
        events_end(&t, 20);
        const size_t size = read_columns_put(columns, t.bytes, t.size, &used);
        assert_int_equal(used, t.size);
        assert_int_equal(read_columns_get(back, columns, size), t.size);
        assert_memory_equal(back, t.bytes, t.size);
        trace_fini(&t);
    }
    free(columns);
    free(back);
}

RUN_TESTS(NULL, NULL)
