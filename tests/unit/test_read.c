/* SPDX-License-Identifier: ISC */
/* Files as rings, crashes and accidents leave them: which events come out, in which order, and what is
 * said of the rest. Linked with --wrap=pread64, to count what is read. Long, for there are many ways. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/types.h>

#include "read/reader.h"
#include "trace.h"

static uint64_t bytes_read;

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
    ssize_t got = __real_pread64(fd, buffer, size, offset);
    bytes_read += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* ---- Reading all of a file ---- */

struct result {
    int rc; /* of opening it */
    uint64_t events;
    char order[4096]; /* the first promise of each, as text: "1 2 3" */
    struct weft_damage damage;
    struct weft_reader_facts facts;
    struct weft_error err;
};

static struct result read_open(struct weft_reader *r)
{
    struct result res = {0};
    const struct weft_event *ev;
    ptrdiff_t n;
    size_t used = 0;
    while ((n = weft_reader_next(r, &ev, &res.err)) > 0) {
        for (ptrdiff_t i = 0; i < n; i++) {
            if (used < sizeof res.order - 24)
                used += (size_t)snprintf(res.order + used, sizeof res.order - used, "%s%" PRId64,
                                         used ? " " : "", (int64_t)ev[i].a);
            assert_true(ev[i].kind != WEFT_EVENT_LABEL || ev[i].text_size == 0 || ev[i].text);
        }
        res.events += (uint64_t)n;
    }
    res.rc = (int)n;
    res.damage = *weft_reader_damage(r);
    res.facts = *weft_reader_facts(r);
    weft_reader_close(r);
    return res;
}

static struct result read_path(const char *path)
{
    struct weft_reader *r;
    struct result res = {0};
    res.rc = weft_reader_open(&r, path, &res.err);
    if (res.rc < 0) {
        assert_null(r);
        assert_int_equal(res.err.code, res.rc);
        assert_true(res.err.text[0] != '\0');
        return res;
    }
    return read_open(r);
}

static struct result read_trace(struct trace *t)
{
    struct result res = read_path(trace_path(t));
    trace_fini(t);
    return res;
}

static void assert_undamaged(const struct result *res)
{
    assert_int_equal(res->rc, 0);
    assert_int_equal(res->damage.problems, 0);
    assert_int_equal(res->damage.skipped_bytes, 0);
    assert_int_equal(res->damage.half_written, 0);
    assert_int_equal(res->damage.backward_times, 0);
}

/* A packet whose one event says its number: switch to the promise 100 + number, at that time. */
static void add_numbered(struct trace *t, uint64_t number)
{
    trace_begin(t, number);
    trace_add(t, switches(1000 + number, 100 + number));
}

/* A trace of such packets. Ends with -1. */
static struct result read_numbered(const int64_t *number, size_t tail)
{
    struct trace t = {.fd = -1};
    for (; *number >= 0; number++) {
        add_numbered(&t, (uint64_t)*number);
        trace_pad(&t, tail, 0x55);
    }
    return read_trace(&t);
}

/* ---- Rings ---- */

TEST(events_come_in_order)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < 700; i++) /* more than a batch */
        trace_add(&t, switches(i, i));
    struct result res = read_trace(&t);
    assert_undamaged(&res);
    assert_int_equal(res.events, 700);
    assert_memory_equal(res.order, "0 1 2 3 ", 8);
    assert_int_equal(res.facts.packets, 1);
    assert_false(res.facts.wrapped);
}

TEST(wrapped_ring)
{
    struct result res = read_numbered((const int64_t[]){4, 5, 2, 3, -1}, 40);
    assert_undamaged(&res);
    assert_string_equal(res.order, "102 103 104 105");
    assert_true(res.facts.wrapped);
    assert_int_equal(res.facts.overwritten_packets, 2);
    assert_int_equal(res.facts.missing_packets, 0);
    assert_int_equal(res.facts.packets, 4);
}

TEST(ring_that_has_not_wrapped)
{
    struct result res = read_numbered((const int64_t[]){0, 1, 2, -1}, 0);
    assert_undamaged(&res);
    assert_string_equal(res.order, "100 101 102");
    assert_false(res.facts.wrapped);
    assert_int_equal(res.facts.overwritten_packets, 0);
}

TEST(sequence_numbers_wrap)
{
    struct result res = read_numbered((const int64_t[]){0x10000, 0x10001, 0xfffe, 0xffff, -1}, 7);
    assert_undamaged(&res);
    assert_string_equal(res.order, "65634 65635 65636 65637");
    assert_int_equal(res.facts.missing_packets, 0);
    assert_true(res.facts.wrapped);
}

TEST(packets_in_any_order)
{
    struct result res = read_numbered((const int64_t[]){3, 0, 4, 1, 2, -1}, 9);
    assert_undamaged(&res);
    assert_string_equal(res.order, "100 101 102 103 104");
    /* Here the numbers alone mislead: 0xffff seems to be the oldest. The times tell. */
    res = read_numbered((const int64_t[]){0xfffe, 0x10001, 0xffff, 0x10000, -1}, 0);
    assert_undamaged(&res);
    assert_string_equal(res.order, "65634 65635 65636 65637");
    assert_int_equal(res.facts.missing_packets, 0);
    res = read_numbered((const int64_t[]){9, 8, 7, 6, 5, -1}, 0);
    assert_string_equal(res.order, "105 106 107 108 109");
}

TEST(gaps_are_counted)
{
    struct result res = read_numbered((const int64_t[]){3, 4, 9, -1}, 0);
    assert_undamaged(&res);
    assert_int_equal(res.facts.missing_packets, 4);
}

TEST(more_packets_than_numbers)
{
    enum { PACKETS = 140000, TURN = 30000 };
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        struct trace t = {.fd = -1};
        uint64_t turn = wrapped ? TURN : 0;
        for (uint64_t i = 0; i < PACKETS; i++) {
            uint64_t number = i < turn ? PACKETS + i : i;
            trace_begin(&t, number);
            trace_add(&t, switches(1000 + number, number));
        }
        struct weft_reader *r;
        const struct weft_event *ev;
        ptrdiff_t n;
        uint64_t next = turn;
        assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
        while ((n = weft_reader_next(r, &ev, NULL)) > 0)
            for (ptrdiff_t i = 0; i < n; i++)
                assert_int_equal(ev[i].a, next++);
        assert_int_equal(next, turn + PACKETS);
        assert_int_equal(weft_reader_damage(r)->problems, 0);
        assert_int_equal(weft_reader_facts(r)->missing_packets, 0);
        assert_int_equal(weft_reader_facts(r)->wrapped, wrapped);
        weft_reader_close(r);
        trace_fini(&t);
    }
}

TEST(unused_packets_are_left_out)
{
    struct trace t = {.fd = -1};
    add_numbered(&t, 7);
    for (int i = 0; i < 2; i++) {
        trace_begin(&t, 0);
        trace_pad(&t, 100, 0);
    }
    struct result res = read_trace(&t);
    assert_undamaged(&res);
    assert_string_equal(res.order, "107");
    assert_int_equal(res.facts.packets, 1);
    assert_int_equal(res.facts.unused_packets, 2);

    trace_begin(&t, 0); /* nothing was recorded at all */
    trace_pad(&t, 10, 0);
    res = read_trace(&t);
    assert_undamaged(&res);
    assert_int_equal(res.events, 0);
    assert_int_equal(res.facts.unused_packets, 1);
}

/* ---- Large packets ---- */

/* Zeros are events too: loop 0 creates 0 at time 0. */
TEST(packet_of_300_mib)
{
    enum { EVENT = 26 };
    const uint64_t events = (300u << 20) / EVENT, size = WEFT_MIRAGE_HEADER_SIZE + events * EVENT;
    struct trace t = {.fd = -1}, second = {.fd = -1};
    trace_begin(&t, 0);
    weft_mirage_header_write(t.bytes,
                             (struct weft_mirage_header){.packet_bits = (uint32_t)(size * 8),
                                                         .content_bits = (uint32_t)(size * 8)});
    add_numbered(&second, 1);
    const char *path = trace_path(&t);
    assert_int_equal(pwrite(t.fd, second.bytes, second.size, (off_t)size), second.size);
    struct result res = read_path(path);
    assert_undamaged(&res);
    assert_int_equal(res.events, events + 1);
    assert_int_equal(res.facts.packets, 2);
    assert_int_equal(res.facts.file_bytes, size + second.size);
    trace_fini(&t);
    trace_fini(&second);
}

/* As large as the header can say, and nearly unused. */
TEST(packets_of_512_mib)
{
    struct trace t = {.fd = -1};
    const uint64_t size = UINT32_MAX / 8;
    char path[sizeof t.path];
    struct trace sparse = {.fd = -1};
    memcpy(path, trace_path(&sparse), sizeof path);
    for (uint64_t i = 0; i < 3; i++) {
        add_numbered(&t, i);
        struct weft_mirage_header h = weft_mirage_header_read(t.bytes);
        h.packet_bits = (uint32_t)(size * 8);
        weft_mirage_header_write(t.bytes, h);
        assert_int_equal(pwrite(sparse.fd, t.bytes, t.size, (off_t)(i * size)), t.size);
        trace_fini(&t);
    }
    assert_int_equal(ftruncate(sparse.fd, (off_t)(3 * size)), 0);
    struct result res = read_path(path);
    assert_undamaged(&res);
    assert_string_equal(res.order, "100 101 102");
    assert_int_equal(res.facts.packets, 3);
    trace_fini(&sparse);
}

/* One event of 3 MiB, larger than what is read at a time. */
TEST(event_larger_than_the_window)
{
    char *text = malloc((3u << 20) + 1);
    assert_non_null(text);
    memset(text, 'x', 3u << 20);
    text[3u << 20] = '\0';
    struct trace t = {.fd = -1};
    add_numbered(&t, 0);
    trace_add(&t, label(1001, 7, text));
    trace_add(&t, switches(1002, 8));
    struct weft_reader *r;
    const struct weft_event *ev;
    ptrdiff_t n;
    unsigned found = 0;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    while ((n = weft_reader_next(r, &ev, NULL)) > 0)
        for (ptrdiff_t i = 0; i < n; i++, found++)
            if (ev[i].kind == WEFT_EVENT_LABEL) {
                assert_int_equal(ev[i].text_size, 3u << 20);
                assert_memory_equal(ev[i].text, text, 3u << 20);
            }
    assert_int_equal(found, 3);
    weft_reader_close(r);
    trace_fini(&t);
    free(text);
}

/* ---- What a crash leaves ---- */

TEST(half_written_zeros)
{
    struct trace t = {.fd = -1};
    add_numbered(&t, 0);
    add_numbered(&t, 1);
    trace_add_bytes(&t, (const char[26]){0}, 26); /* the room of a creation, not filled in */
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, 0);
    assert_string_equal(res.order, "100 101");
    assert_int_equal(res.damage.half_written, 1);
    assert_int_equal(res.damage.skipped_bytes, 26);
    assert_int_equal(res.damage.problems, 0);
}

TEST(half_written_at_every_byte)
{
    struct weft_event last = label(2000, 9, "some text");
    unsigned char bytes[64];
    size_t size = weft_event_encode(bytes, &last);
    for (size_t written = 1; written < size; written++) {
        struct trace t = {.fd = -1};
        add_numbered(&t, 0);
        trace_add_bytes(&t, bytes, written);
        struct result res = read_trace(&t);
        assert_string_equal(res.order, "100");
        assert_int_equal(res.damage.half_written, 1);
        assert_int_equal(res.damage.skipped_bytes, written);
        assert_int_equal(res.damage.problems, 0);
    }
}

/* The writer has made room in a packet that an earlier lap had filled. */
TEST(half_written_over_an_earlier_lap)
{
    struct trace t = {.fd = -1};
    add_numbered(&t, 5);
    add_numbered(&t, 3);
    add_numbered(&t, 4);
    /* Packet 5 again, now with two stale events and a half behind its own. */
    struct trace stale = {.fd = -1};
    add_numbered(&stale, 5);
    trace_add(&stale, label(901, 2, "of packet 2"));
    trace_add(&stale, switches(902, 2));
    trace_add_bytes(&stale, "\x90\x03", 2);
    trace_add_bytes(&stale, t.bytes + t.size / 3, t.size - t.size / 3);
    stale.packet = 0;
    size_t own = stale.size - (t.size - t.size / 3);
    size_t all = stale.size;
    stale.size = own;
    trace_set_sizes(&stale, own);
    stale.size = all;
    struct result res = read_trace(&stale);
    assert_int_equal(res.rc, 0);
    assert_string_equal(res.order, "103 104 105");
    assert_int_equal(res.damage.half_written, 1);
    assert_int_equal(res.damage.problems, 0);
    assert_int_equal(res.damage.backward_times, 0);
    trace_fini(&t);
}

/* It has emptied a packet and made room for its first event, where an old one stands. */
TEST(half_written_first_event)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 5);
    trace_add(&t, switches(1002, 102)); /* what packet 2 said here */
    trace_pad(&t, 10, 0);
    add_numbered(&t, 3);
    add_numbered(&t, 4);
    struct result res = read_trace(&t);
    assert_string_equal(res.order, "103 104");
    assert_int_equal(res.damage.half_written, 1);
    assert_int_equal(res.damage.problems, 0);
}

/* A clock that was set back is not a half-written event. */
TEST(old_times_before_the_tail_stay)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_add(&t, switches(5000, 0));
    for (uint64_t i = 1; i < 101; i++)
        trace_add(&t, switches(i, i));
    struct result res = read_trace(&t);
    assert_int_equal(res.damage.backward_times, 1);
    assert_true(res.events >= 101 - 1024 / 17 - 1);
    assert_memory_equal(res.order, "0 1 2 3 ", 8);

    trace_begin(&t, 0); /* … nor is one that goes on rightly afterwards */
    trace_add(&t, switches(5000, 0));
    trace_add(&t, switches(4999, 1));
    trace_add(&t, switches(5001, 2));
    res = read_trace(&t);
    assert_string_equal(res.order, "0 1 2");
    assert_int_equal(res.damage.backward_times, 1);
    assert_int_equal(res.damage.half_written, 0);
}

/* Cut anywhere, no whole event before the cut is lost, and nothing is made up. */
TEST(truncated_at_every_byte)
{
    struct trace t = {.fd = -1};
    size_t end[32], events = 0, size;
    for (uint64_t p = 0; p < 3; p++) {
        trace_begin(&t, p);
        trace_add(&t, creates(100 * p, 1, p, TASK));
        end[events++] = t.size;
        trace_add(&t, label(100 * p + 1, 2, "text"));
        end[events++] = t.size;
        trace_add(&t, switches(100 * p + 2, 3));
        end[events++] = t.size;
        trace_pad(&t, p == 1 ? 50 : 0, 0x77);
    }
    size = t.size;
    for (size_t cut = 0; cut < size; cut++) {
        uint64_t wanted = 0;
        while (wanted < events && end[wanted] <= cut)
            wanted++;
        t.size = cut;
        struct result res = read_path(trace_path(&t));
        if (cut < WEFT_MIRAGE_HEADER_SIZE) {
            assert_int_equal(res.rc, WEFT_E_FORMAT);
            continue;
        }
        assert_int_equal(res.rc, 0);
        if (res.events != wanted)
            print_error("cut at %zu\n", cut);
        assert_int_equal(res.events, wanted);
        assert_true(res.damage.skipped_bytes < WEFT_MIRAGE_HEADER_SIZE + 26);
    }
    trace_fini(&t);
}

/* ---- Damage ---- */

/* Three packets, of which something changes the second; returns what is read. */
static struct result read_damaged(size_t at, uint64_t value, size_t bytes)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 3; i++) {
        add_numbered(&t, i);
        trace_add(&t, switches(1000 + i, 200 + i));
    }
    unsigned char number[8];
    weft_write_u64(number, value);
    memcpy(t.bytes + t.size / 3 + at, number, bytes);
    return read_trace(&t);
}

TEST(damaged_magic)
{
    struct result res = read_damaged(0, 0, 4);
    assert_int_equal(res.rc, 0);
    assert_string_equal(res.order, "100 200 102 202");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 64);
    assert_int_equal(res.damage.first[0].offset, 64);
}

TEST(damaged_sizes)
{
    static const uint64_t sizes[] = {0,      8,       8 * 29,  8 * 30,     8 * 31,  8 * 63,
                                     8 * 65, 8 * 100, 8 * 127, UINT32_MAX, 1u << 31};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct result res = read_damaged(20, sizes[i], 4);
        assert_int_equal(res.rc, 0);
        assert_true(res.damage.problems > 0);
        if (!strstr(res.order, "100 200") || !strstr(res.order, "102 202"))
            print_error("size %u: %s\n", (unsigned)sizes[i], res.order);
        assert_true(strstr(res.order, "100 200") && strstr(res.order, "102 202"));
        /* All of the second packet, unless its size says that it ends before its content does. */
        if (sizes[i] == 0 || sizes[i] >= 8 * 64 || sizes[i] < 8 * 30)
            assert_string_equal(res.order, "100 200 101 201 102 202");
        assert_in_range(res.damage.problems, 1, 2);
    }
}

TEST(damaged_content)
{
    struct result res = read_damaged(26, 8 * 29, 4);
    assert_string_equal(res.order, "100 200 102 202");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 34);
    res = read_damaged(26, UINT32_MAX, 4); /* more than the packet: as much as the packet has */
    assert_string_equal(res.order, "100 200 101 201 102 202");
    assert_int_equal(res.damage.problems, 1);
    res = read_damaged(26, 8 * 47, 4); /* less: that is what it says */
    assert_string_equal(res.order, "100 200 101 102 202");
    res = read_damaged(26, 8 * 50, 4);
    assert_string_equal(res.order, "100 200 101 102 202");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 3);
}

TEST(unknown_event)
{
    struct result res = read_damaged(30 + 8, 99, 1);
    assert_string_equal(res.order, "100 200 102 202");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 34);
    assert_int_equal(res.damage.first[0].offset, 64 + 30);
    assert_non_null(strstr(res.damage.first[0].text, "99"));
}

TEST(unknown_types_are_kept)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_add(&t, creates(1, LOOP, 1, 17));
    trace_add(&t, creates(2, LOOP, 2, 18));
    trace_add(&t, creates(3, LOOP, 3, 255));
    struct result res = read_trace(&t);
    assert_undamaged(&res);
    assert_int_equal(res.events, 3);
    assert_int_equal(res.damage.unknown_types, 2);
}

TEST(text_without_end)
{
    struct trace t = {.fd = -1};
    add_numbered(&t, 0);
    trace_add(&t, label(1001, 5, "abc"));
    t.size--;
    trace_set_sizes(&t, t.size);
    add_numbered(&t, 1);
    struct result res = read_trace(&t);
    assert_string_equal(res.order, "100 101");
    assert_int_equal(res.damage.problems, 1);
    assert_int_equal(res.damage.skipped_bytes, 20);
}

TEST(junk_around_packets)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 2; i++) {
        memset(trace_extend(&t, 77), 0x11, 77);
        add_numbered(&t, i);
    }
    memset(trace_extend(&t, 5), 0x11, 5);
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, 0);
    assert_string_equal(res.order, "100 101");
    assert_int_equal(res.damage.skipped_bytes, 77 + 77 + 5);
    assert_int_equal(res.damage.problems, 3);
}

TEST(many_problems_are_counted_and_few_kept)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 100; i++) {
        trace_begin(&t, i);
        trace_add_bytes(&t, "12345678\xff", 9);
    }
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, 0);
    assert_int_equal(res.events, 0);
    assert_int_equal(res.damage.problems, 100);
    assert_int_equal(res.damage.skipped_bytes, 900);
    for (unsigned i = 0; i < WEFT_DAMAGE_KEPT; i++)
        assert_int_equal(res.damage.first[i].offset, 39 * i + 30);
}

/* ---- Hostile files: nothing is read over and over ---- */

static void assert_read_often(struct trace *t, unsigned times)
{
    uint64_t size = t->size;
    bytes_read = 0;
    struct result res = read_trace(t);
    assert_int_equal(res.rc, 0);
    if (bytes_read > times * size)
        print_error("%" PRIu64 " bytes read of %" PRIu64 "\n", bytes_read, size);
    assert_in_range(bytes_read, size, times * size);
}

TEST(headers_that_claim_much)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 20000; i++) {
        unsigned char *header = trace_extend(&t, WEFT_MIRAGE_HEADER_SIZE);
        weft_mirage_header_write(header, (struct weft_mirage_header){.packet_bits = UINT32_MAX,
                                                                     .content_bits = 8 * 30,
                                                                     .sequence = (uint16_t)i});
    }
    assert_read_often(&t, 50);
}

TEST(headers_that_point_into_nothing)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 20000; i++) {
        unsigned char *header = trace_extend(&t, WEFT_MIRAGE_HEADER_SIZE);
        weft_mirage_header_write(header,
                                 (struct weft_mirage_header){.packet_bits = 8 * 1111,
                                                             .content_bits = i ? 8 * 5 : 8 * 30,
                                                             .sequence = (uint16_t)i});
    }
    memset(trace_extend(&t, 2000), 0, 2000);
    assert_read_often(&t, 50);
}

TEST(tiny_packets_backwards)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 20000; i-- > 0;)
        add_numbered(&t, i);
    assert_read_often(&t, 5);
    for (uint64_t i = 0; i < 20000; i++) /* here and there by turns */
        add_numbered(&t, i % 2 ? 10000 + i / 2 : i / 2);
    assert_read_often(&t, 5);
}

/* ---- Not traces; other sorts of files ---- */

static void not_a_trace(const char *bytes, size_t size, const char *text)
{
    struct trace t = {.fd = -1};
    if (size)
        memcpy(trace_extend(&t, size), bytes, size);
    struct result res = read_trace(&t);
    assert_int_equal(res.rc, WEFT_E_FORMAT);
    if (!strstr(res.err.text, text))
        print_error("%s\n", res.err.text);
    assert_non_null(strstr(res.err.text, text));
}

TEST(other_files_are_refused)
{
    not_a_trace("", 0, "is empty");
    not_a_trace("#!/bin/sh\n", 10, "it is text");
    not_a_trace("#!/bin/sh\0", 10, "it begins with 23 21 2f 62");
    not_a_trace("\xc1\x1f\xfc\xc1"
                "0123456789abcdef0123456789",
                30, "another UUID");
    for (size_t n = 1; n < WEFT_MIRAGE_MARK_SIZE; n++) /* cut short: not called anything else */
        not_a_trace(WEFT_MIRAGE_MARK, n, "ends");
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_pad(&t, 100, 0);
    weft_write_u32(t.bytes + 26, 8 * 29); /* a trace, but nothing of it can be read */
    not_a_trace((const char *)t.bytes, t.size, "says it holds 29 bytes");
    trace_fini(&t);
    struct result res = read_path("/nonexistent/file");
    assert_int_equal(res.rc, WEFT_E_IO);
    assert_non_null(strstr(res.err.text, "No such file"));
    res = read_path("/");
    assert_int_equal(res.rc, WEFT_E_IO);
    assert_non_null(strstr(res.err.text, "directory"));
    res = read_path("/dev/zero");
    assert_int_equal(res.rc, WEFT_E_IO);
    assert_non_null(strstr(res.err.text, "device"));
}

TEST(pipes)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 500; i++) /* less than a pipe holds */
        add_numbered(&t, i);
    int ends[2];
    char path[64];
    for (int from_stdin = 0; from_stdin < 2; from_stdin++) {
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], t.bytes, t.size), t.size);
        close(ends[1]);
        snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
        int saved = dup(STDIN_FILENO);
        if (from_stdin)
            dup2(ends[0], STDIN_FILENO);
        struct result res = read_path(from_stdin ? "-" : path);
        dup2(saved, STDIN_FILENO);
        close(saved);
        close(ends[0]);
        assert_undamaged(&res);
        assert_int_equal(res.events, 500);
        assert_int_equal(res.facts.file_bytes, t.size);
    }
    trace_fini(&t);
}

/* Standard input that is a file is read from its beginning, and left where it was. */
TEST(file_as_stdin)
{
    struct trace t = {.fd = -1};
    add_numbered(&t, 3);
    int fd = open(trace_path(&t), O_RDONLY), saved = dup(STDIN_FILENO);
    assert_true(fd >= 0 && saved >= 0);
    dup2(fd, STDIN_FILENO);
    struct result res = read_path("-");
    off_t offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(fd);
    assert_undamaged(&res);
    assert_string_equal(res.order, "103");
    assert_int_equal(offset, 0);
    trace_fini(&t);
}

TEST(file_that_grows)
{
    struct trace t = {.fd = -1};
    add_numbered(&t, 0);
    struct weft_reader *r;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    add_numbered(&t, 1);
    trace_path(&t);
    struct result res = read_open(r);
    assert_undamaged(&res);
    assert_string_equal(res.order, "100");
    trace_fini(&t);
}

TEST(file_that_shrinks)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 20000; i++) /* more than is read at a time */
        add_numbered(&t, i);
    const char *path = trace_path(&t);
    static const unsigned shares[] = {0, 1, 30, 50, 99};
    for (size_t i = 0; i < COUNT(shares); i++) {
        struct weft_reader *r;
        const struct weft_event *ev;
        uint64_t left = t.size * shares[i] / 100;
        trace_path(&t);
        assert_int_equal(weft_reader_open(&r, path, NULL), 0);
        ptrdiff_t n = weft_reader_next(r, &ev, NULL);
        assert_true(n > 0);
        assert_int_equal(ftruncate(t.fd, (off_t)left), 0);
        struct result res = read_open(r);
        assert_true(res.rc == 0 || res.rc == WEFT_E_IO);
        assert_true((uint64_t)n + res.events >= left / 47 && res.events < 20000);
        assert_true(res.rc < 0 || res.damage.problems > 0);
    }
    trace_fini(&t);
}

/* What happens while it is recorded: bytes change after they have been looked at. */
TEST(file_that_is_overwritten)
{
    struct trace t = {.fd = -1};
    for (uint64_t i = 0; i < 20000; i++)
        add_numbered(&t, i);
    struct weft_reader *r;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    memset(t.bytes, 0xff, t.size);
    trace_path(&t);
    struct result res = read_open(r);
    assert_int_equal(res.rc, 0);
    assert_int_equal(res.events, 0);
    assert_int_equal(res.damage.skipped_bytes, 20000 * 17);
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
