/* SPDX-License-Identifier: ISC */
/* Copies of mirage-profile's ring while its writer goes on at every reading: what is in a copy is whole, without a
 * gap, and all that had been recorded when the copy began and was not overwritten. */
#include <inttypes.h>
#include <time.h>

#include "memory_input.h"
#include "read/snapshot.h"

enum {
    PACKETS_MAX = 16,
    EVENT = 26, /* of a counter without a name: time, id, promise, value, NUL */
    VALUE_AT = 17
};

/* For the library: the writer here goes on when it is read, not with the time. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    return 0;
}

/* ---- The writer, step by step ---- */

struct writer {
    struct memory m;
    struct weft_input in;
    struct memory *place;
    size_t packet_bytes, packets, active;
    size_t at;         /* in the ring: where the next event goes */
    uint64_t sequence; /* of the active packet, not modulo 2^16 */
    uint64_t events;   /* that are whole */
    enum { IDLE, NEXT, COVERED } state;
    unsigned steps; /* at each reading */
    bool bursts;
    uint64_t begun[PACKETS_MAX]; /* of each packet its first event */
    unsigned char event[EVENT];
};

static size_t packet_end(const struct writer *w)
{
    return w->active + 1 == w->packets ? w->m.size : (w->active + 1) * w->packet_bytes;
}

static void put_header(struct writer *w, size_t packet, uint16_t sequence, size_t content)
{
    size_t at = packet * w->packet_bytes, end = at + w->packet_bytes;
    end = packet + 1 == w->packets ? w->m.size : end;
    weft_mirage_header_write(
        w->m.bytes + at,
        (struct weft_mirage_header){(uint32_t)(end - at) * 8, (uint32_t)content * 8, sequence});
}

static void cover(struct writer *w, size_t end)
{
    weft_write_u32(w->m.bytes + w->active * w->packet_bytes + 26,
                   (uint32_t)(end - w->active * w->packet_bytes) * 8);
}

/* One store, or a few that belong together. */
static void step(struct writer *w)
{
    unsigned char *active;
    switch (w->state) {
    case IDLE:
        if (w->at + EVENT >= packet_end(w)) {
            w->active = (w->active + 1) % w->packets;
            w->sequence++;
            active = w->m.bytes + w->active * w->packet_bytes;
            weft_write_u16(active + 24, (uint16_t)w->sequence);
            w->state = NEXT;
            return;
        }
        cover(w, w->at + EVENT);
        w->state = COVERED;
        return;
    case NEXT:
        w->at = w->active * w->packet_bytes + WEFT_MIRAGE_HEADER_SIZE;
        cover(w, w->at);
        w->begun[w->active] = w->events;
        w->state = IDLE;
        return;
    default: {
        unsigned char *at = w->m.bytes + w->at;
        memcpy(at, w->event, EVENT);
        weft_write_u64(at, 1000 + w->events);
        weft_write_u64(at + VALUE_AT, w->events);
        w->at += EVENT;
        w->events++;
        w->state = IDLE;
    }
    }
}

static uint64_t seed;

static unsigned random_below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void change(struct memory *m)
{
    struct writer *w = (struct writer *)(void *)m;
    unsigned steps = w->steps;
    if (w->bursts) /* mostly slow, and then not */
        steps = random_below(16) ? random_below(3) : steps * 16;
    for (unsigned i = 0; i < steps; i++)
        step(w);
}

static void writer_init(struct writer *w, size_t packets, size_t size, uint16_t sequence)
{
    *w = (struct writer){.packets = packets, .packet_bytes = size / packets, .sequence = sequence};
    w->m = (struct memory){.bytes = calloc(1, size), .size = size, .change = change};
    w->place = &w->m;
    w->in = memory_input(&w->place, WEFT_WRITER_ALIVE);
    w->at = WEFT_MIRAGE_HEADER_SIZE;
    for (size_t i = 0; i < packets; i++)
        put_header(w, i, (uint16_t)(sequence + i), WEFT_MIRAGE_HEADER_SIZE);
    const struct weft_event event = counter(0, LOOP, 0, "");
    assert_int_equal(weft_event_size(&event), EVENT);
    weft_event_encode(w->event, &event);
}

/* ---- What is in a copy ---- */

struct seen {
    uint64_t first, events, half_written, unused;
};

static struct seen read_copy(const struct weft_input *copy)
{
    struct seen seen = {.events = 0};
    struct weft_reader *r = copy_reader(copy);
    struct weft_error err = {.code = 0};
    const struct weft_event *ev;
    ptrdiff_t n;
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++) {
            assert_int_equal(ev[i].kind, WEFT_EVENT_COUNTER);
            if (!seen.events++)
                seen.first = (uint64_t)ev[i].value;
            assert_int_equal(ev[i].value, seen.first + seen.events - 1);
            assert_int_equal(ev[i].time_ns, 1000 + ev[i].value);
        }
    assert_int_equal(n, 0);
    assert_int_equal(weft_reader_facts(r)->missing_packets, 0);
    assert_int_equal(weft_reader_damage(r)->problems, 0);
    seen.half_written = weft_reader_damage(r)->half_written;
    seen.unused = weft_reader_facts(r)->unused_packets;
    weft_reader_close(r);
    return seen;
}

static uint64_t oldest(const struct writer *w)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < w->packets; i++)
        first = w->begun[i] < first ? w->begun[i] : first;
    return first;
}

struct result {
    uint64_t copies, gone, most_gone, halves, events;
};

/* A copy while that many steps are done at each reading. */
static void copy_once(struct writer *w, unsigned steps, struct result *result)
{
    struct weft_snapshot *s;
    struct weft_error err = {.code = 0};
    struct weft_input out;
    const uint64_t before = w->events, first = oldest(w);
    w->steps = steps;
    assert_int_equal(weft_snapshot_begin(&s, &w->in, &err), 1);
    assert_true(weft_snapshot_is_live(s));
    const uint64_t begun = w->events;
    assert_int_equal(weft_snapshot_to_room(s, &out, &err), 0);
    assert_int_equal(weft_snapshot_bytes(s), w->m.size);
    assert_int_equal(out.size, w->m.size);
    const uint64_t gone = weft_snapshot_gone(s);
    weft_snapshot_free(s);
    struct seen seen = read_copy(&out);
    weft_input_close(&out);
    assert_true(gone <= w->packets);
    result->copies++;
    result->gone += gone;
    result->most_gone = gone > result->most_gone ? gone : result->most_gone;
    result->halves += seen.half_written;
    result->events += seen.events;
    if (seen.events) {
        assert_true(seen.first + seen.events >= before);
        /* Of a later moment, if nothing could be kept of the first one; which the slow never do to it. */
        const bool slow = w->m.size >= UINT64_C(8192) * steps && !w->bursts;
        assert_true(seen.first + seen.events <= (slow ? begun : w->events) + 1);
    }
    if (!steps) { /* nothing is lost */
        assert_int_equal(gone, 0);
        assert_int_equal(seen.events ? seen.first + seen.events : before, before);
        assert_true(w->state == NEXT || !seen.events || seen.first == first);
    } else if (!gone && seen.events) {
        assert_true(seen.first <= oldest(w) || seen.unused);
    }
}

/* From every state in which the writer may stand, at every speed. (In a ring of one packet nobody can tell what is
 * left of the events before.) */
TEST(at_every_speed)
{
    static const unsigned speeds[] = {0, 1, 2, 3, 5, 11, 40, 170, 700};
    struct result result = {.copies = 0};
    for (size_t packets = 2; packets <= 6; packets++)
        for (size_t speed = 0; speed < COUNT(speeds); speed++) {
            struct writer w;
            writer_init(&w, packets, (speed ? 700 : 2500) * packets + 13, 0xfffd);
            while (!w.events)
                step(&w);
            for (unsigned start = 0; start < (speeds[speed] < 100 ? 400 : 40); start++) {
                copy_once(&w, speeds[speed], &result);
                step(&w);
            }
            free(w.m.bytes);
        }
    printf("%" PRIu64 " copies, %" PRIu64 " packets overwritten meanwhile, %" PRIu64
           " events, %" PRIu64 " half written\n",
           result.copies, result.gone, result.events, result.halves);
    assert_true(result.gone > 1000);
    assert_true(result.events > 100000);
}

/* At a speed that changes. */
TEST(at_any_speed)
{
    struct result result = {.copies = 0};
    for (seed = 1; result.copies < 6000;) {
        struct writer w;
        writer_init(&w, 2 + random_below(PACKETS_MAX - 1), 20000 + random_below(100), 7);
        for (unsigned i = 0; i < 500; i++) {
            w.bursts = i % 2;
            copy_once(&w, 1u << random_below(9), &result);
            for (unsigned n = random_below(2000); n > 0; n--)
                step(&w);
        }
        free(w.m.bytes);
    }
    printf("%" PRIu64 " packets overwritten meanwhile, %" PRIu64 " events\n", result.gone,
           result.events);
    assert_true(result.events > 500000);
}

/* Slowly, only the oldest packet can be lost, if it is overwritten before it is copied. */
TEST(slowly)
{
    struct result result = {.copies = 0};
    struct writer w;
    writer_init(&w, 4, 64 << 10, 0);
    for (unsigned i = 0; i < 20000; i++)
        step(&w);
    for (unsigned i = 0; i < 2000; i++)
        copy_once(&w, 1, &result);
    assert_int_equal(result.most_gone, 1);
    assert_true(result.gone < result.copies / 20);
    free(w.m.bytes);
}

/* ---- What does not change ---- */

static ssize_t append(void *cookie, const char *bytes, size_t size)
{
    struct trace *t = cookie;
    memcpy(trace_extend(t, size), bytes, size);
    return (ssize_t)size;
}

/* The copy is the same, whether one can go back in it or not. */
static void assert_same_copy(struct trace *t, enum weft_writer writer)
{
    struct memory m = {.bytes = t->bytes, .size = t->size}, *place = &m;
    struct weft_input in = memory_input(&place, writer), file, out;
    struct weft_error err = {.code = 0};
    struct weft_snapshot *s;
    assert_int_equal(weft_input_open(&file, trace_path(t), &err), 0);
    for (int way = 0; way < 4; way++) {
        struct trace copy = {.fd = -1};
        assert_int_equal(weft_snapshot_begin(&s, way & 1 ? &file : &in, &err), 1);
        assert_int_equal(weft_snapshot_is_live(s), !(way & 1) && writer == WEFT_WRITER_ALIVE);
        if (way & 2) {
            FILE *pipe = fopencookie(&copy, "w", (cookie_io_functions_t){.write = append});
            assert_int_equal(weft_snapshot_write(s, pipe, NULL, NULL, &err), 0);
            fclose(pipe);
        } else {
            assert_int_equal(weft_snapshot_to_room(s, &out, &err), 0);
            assert_int_equal(
                weft_input_read(&out, trace_extend(&copy, out.size), out.size, 0, &err), out.size);
            weft_input_close(&out);
        }
        assert_int_equal(weft_snapshot_gone(s), 0);
        assert_int_equal(weft_snapshot_bytes(s), t->size);
        assert_int_equal(copy.size, t->size);
        assert_memory_equal(copy.bytes, t->bytes, t->size);
        weft_snapshot_free(s);
        trace_fini(&copy);
    }
    weft_input_close(&file);
}

static void some_packets(struct trace *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        trace_begin(t, 65530 + (i + count - 2) % count);
        for (unsigned n = 0; n < 1 + i % 7; n++)
            trace_add(t, counter(i * 10 + n, LOOP, n, "x"));
        trace_pad(t, i * 3 % 90, 0xc1);
    }
}

TEST(byte_for_byte)
{
    static const unsigned counts[] = {1, 2, 4, 60};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct trace t = {.fd = -1};
        some_packets(&t, counts[i]);
        assert_same_copy(&t, WEFT_WRITER_PROCESS);
        assert_same_copy(&t, WEFT_WRITER_DEAD);
        memset(trace_extend(&t, 100), 7, 100);
        assert_same_copy(&t, WEFT_WRITER_PROCESS);
        trace_fini(&t);
    }
}

/* Whatever its headers say. */
TEST(damaged)
{
    seed = 5;
    for (unsigned round = 0; round < 500; round++) {
        struct trace t = {.fd = -1};
        some_packets(&t, 1 + random_below(20));
        for (unsigned n = random_below(10); n > 0; n--)
            t.bytes[WEFT_MIRAGE_HEADER_SIZE - 10 + random_below((unsigned)t.size - 20)] =
                (unsigned char)random_below(256);
        t.size -= random_below((unsigned)t.size - WEFT_MIRAGE_HEADER_SIZE);
        assert_same_copy(&t, WEFT_WRITER_PROCESS);
        trace_fini(&t);
    }
}

TEST(more_packets_than_bytes_allow)
{
    struct weft_snapshot *s;
    struct weft_error err = {.code = 0};
    struct trace t = {.fd = -1};
    for (unsigned i = 0; i < 10000; i++)
        trace_begin(&t, i);
    struct memory m = {.bytes = t.bytes, .size = t.size}, *place = &m;
    struct weft_input in = memory_input(&place, WEFT_WRITER_ALIVE), out;
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), WEFT_E_LIMIT);
    assert_null(s);
    assert_int_equal(weft_snapshot_of_live(&out, &in, &err), WEFT_E_LIMIT);
    trace_fini(&t);
}

/* ---- */

TEST(is_live_if_somebody_says_so)
{
    struct weft_input out;
    struct weft_error err;
    struct result result = {.copies = 0};
    struct writer w;
    writer_init(&w, 4, 4096, 0);
    for (unsigned i = 0; i < 1000; i++)
        step(&w);
    assert_int_equal(weft_snapshot_of_live(&out, &w.in, &err), 1);
    assert_true(read_copy(&out).events > 0);
    weft_input_close(&out);
    w.in.writer = WEFT_WRITER_DEAD;
    assert_int_equal(weft_snapshot_of_live(&out, &w.in, &err), 0);
    w.in.writer = WEFT_WRITER_PROCESS;
    assert_int_equal(weft_snapshot_of_live(&out, &w.in, &err), 0);
    w.in.writer = WEFT_WRITER_ALIVE;
    copy_once(&w, 0, &result);
    free(w.m.bytes);
}

RUN_TESTS(NULL, NULL)
