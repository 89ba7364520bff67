/* SPDX-License-Identifier: ISC */
/* Copies of traces in memory that is another machine's: what is said of it while it is alive and when it is dead, until
 * when it was recorded, and that memory filled by an enemy, or that is another at every reading, does no harm. Linked
 * with --wrap for clock_gettime and for what allocates. */
#include <fcntl.h>
#include <inttypes.h>
#include <time.h>

#include "memory_input.h"
#include "packets.h"
#include "read/snapshot.h"
#include "read/snapshot_parts.h"

#define SECOND UINT64_C(1000000000)
#define REAL_NS (UINT64_C(1700000000) * SECOND) /* that of the first pair */

/* ---- What the test stands in for ---- */

static uint64_t now_real_ns = REAL_NS;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (clock != CLOCK_REALTIME)
        return __real_clock_gettime(clock, ts);
    ts->tv_sec = (time_t)(now_real_ns / SECOND);
    ts->tv_nsec = (long)(now_real_ns % SECOND);
    return 0;
}

static uint64_t waited_ns;

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    waited_ns += (uint64_t)wanted->tv_sec * SECOND + (uint64_t)wanted->tv_nsec;
    return 0;
}

static size_t largest;  /* allocation */
static uint64_t behind; /* stands behind what calloc gives; 0: nothing does */
enum { BEHIND = 32768 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    largest = size > largest ? size : largest;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    largest = count * size > largest ? count * size : largest;
    uint64_t *p = __real_calloc(1, count * size + (behind ? BEHIND + 8 : 0));
    for (size_t i = (count * size + 7) / 8; p && behind && i < (count * size + BEHIND) / 8; i++)
        p[i] = behind;
    return p;
}

void *__wrap_realloc(void *old, size_t size)
{
    largest = size > largest ? size : largest;
    return __real_realloc(old, size);
}

/* ---- What is said of a copy ---- */

struct case_of {
    enum weft_writer writer;
    uint32_t state, becomes;
    bool live;
    enum weft_ended ended;
};

/* A guest without processes, that recorded for 100 ns. */
static struct trace guest(struct weft_facts_header facts, struct weft_events_header events)
{
    struct trace t = {.fd = -1};
    events.sequence = events.sequence ? events.sequence : 1;
    events.begin_ticks = events.begin_ticks ? events.begin_ticks : 1000;
    facts_packet(&t, facts, "");
    events_begin(&t, events);
    events_add(&t, WEFT_FORM_SWITCH, switches(events.begin_ticks + 100, LOOP), 0, 0);
    packet_pad(&t, 512 - (t.size - t.packet), 0);
    return t;
}

static struct weft_facts_header copied_facts(struct trace *t, enum weft_writer writer, bool live,
                                             struct weft_input *out)
{
    struct memory m = {.bytes = t->bytes, .size = t->size}, *place = &m;
    struct weft_input in = memory_input(&place, writer);
    struct weft_facts_header facts;
    struct weft_snapshot *s;
    struct weft_error err = {.code = 0};
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_int_equal(weft_snapshot_is_live(s), live);
    assert_int_equal(weft_snapshot_to_room(s, out, &err), 0);
    assert_int_equal(weft_snapshot_gone(s), 0);
    assert_null(out->copy);
    weft_snapshot_free(s);
    assert_int_equal(weft_input_read(out, &facts, sizeof facts, 0, &err), sizeof facts);
    return facts;
}

TEST(alive_and_dead)
{
    static const struct case_of cases[] = {
        {WEFT_WRITER_ALIVE, WEFT_TRACE_RECORDING, WEFT_TRACE_SAVED, true, WEFT_ENDED_SAVED},
        {WEFT_WRITER_ALIVE, WEFT_TRACE_STOPPED, WEFT_TRACE_STOPPED, false, WEFT_ENDED_STOPPED},
        {WEFT_WRITER_ALIVE, WEFT_TRACE_SAVED, WEFT_TRACE_SAVED, false, WEFT_ENDED_SAVED},
        {WEFT_WRITER_ALIVE, 77, 77, false, WEFT_ENDED_UNKNOWN},
        {WEFT_WRITER_DEAD, WEFT_TRACE_RECORDING, WEFT_TRACE_KILLED, false, WEFT_ENDED_KILLED},
        {WEFT_WRITER_DEAD, WEFT_TRACE_STOPPED, WEFT_TRACE_STOPPED, false, WEFT_ENDED_STOPPED},
        {WEFT_WRITER_DEAD, WEFT_TRACE_KILLED, WEFT_TRACE_KILLED, false, WEFT_ENDED_KILLED},
        {WEFT_WRITER_PROCESS, WEFT_TRACE_RECORDING, WEFT_TRACE_RECORDING, false,
         WEFT_ENDED_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct case_of *c = &cases[i];
        struct weft_input out;
        struct trace t = guest((struct weft_facts_header){.state = c->state},
                               (struct weft_events_header){.stream = 0});
        assert_int_equal(copied_facts(&t, c->writer, c->live, &out).state, c->becomes);
        struct weft_reader *r = copy_reader(&out);
        assert_int_equal(weft_reader_facts(r)->ended, c->ended);
        weft_reader_close(r);
        weft_input_close(&out);

        struct memory m = {.bytes = t.bytes, .size = t.size}, *place = &m;
        struct weft_input in = memory_input(&place, c->writer);
        struct weft_facts_header facts;
        assert_int_equal(weft_snapshot_of_live(&out, &in, NULL), c->live);
        if (c->live) {
            assert_int_equal(weft_input_read(&out, &facts, sizeof facts, 0, NULL), sizeof facts);
            assert_int_equal(facts.state, c->state);
            weft_input_close(&out);
        }
        assert_int_equal(out.fd, -1);
        trace_fini(&t);
    }
}

static struct weft_facts_header this_process(void)
{
    struct weft_facts_header h = {.state = WEFT_TRACE_RECORDING, .pid = (uint32_t)getpid()};
    char text[1024] = "", *at;
    FILE *f = fopen("/proc/self/stat", "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    at = strrchr(text, ')');
    for (unsigned field = 2; field < 22; field++)
        at = strchr(at + 1, ' ');
    h.process_start = strtoull(at, NULL, 10);
    f = fopen("/proc/sys/kernel/random/boot_id", "r");
    assert_non_null(f);
    for (unsigned i = 0; i < 16; i++) {
        unsigned byte;
        if (i == 4 || i == 6 || i == 8 || i == 10)
            assert_int_equal(fgetc(f), '-');
        assert_int_equal(fscanf(f, "%2x", &byte), 1);
        h.boot_id[i] = (uint8_t)byte;
    }
    fclose(f);
    return h;
}

/* A guest may say that it is a process of this machine. */
TEST(claims_to_be_a_process_here)
{
    struct weft_input out;
    struct trace t = guest(this_process(), (struct weft_events_header){.stream = 0});
    struct weft_facts_header facts = copied_facts(&t, WEFT_WRITER_PROCESS, true, &out);
    weft_input_close(&out);
    assert_int_equal(facts.state, WEFT_TRACE_SAVED);
    facts = copied_facts(&t, WEFT_WRITER_DEAD, false, &out);
    weft_input_close(&out);
    assert_int_equal(facts.state, WEFT_TRACE_KILLED);
    assert_int_equal(facts.stop_mono_ns, 0);
    facts = copied_facts(&t, WEFT_WRITER_ALIVE, true, &out);
    weft_input_close(&out);
    assert_int_equal(facts.state, WEFT_TRACE_SAVED);
    assert_int_equal(facts.stop_mono_ns, 1100); /* its pair has no wall clock */
    trace_fini(&t);
}

/* ---- Until when it was recorded ---- */

struct until_case {
    uint32_t clock, pid;
    uint64_t hz;
    struct until_pair pair;
    uint64_t newest; /* ticks */
    uint64_t real_ns, until_ns;
};

#define PAIR(ticks, mono_ns)                                                                       \
    {                                                                                              \
        ticks, mono_ns, REAL_NS                                                                    \
    }

TEST(until)
{
    static const struct until_case cases[] = {
        /* Nothing for a minute after the pair, and a second after the last event. */
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, PAIR(500, 500), 59 * SECOND, REAL_NS + 60 * SECOND,
         60 * SECOND + 500},
        {WEFT_CLOCK_TSC, 1, 2 * SECOND, PAIR(7000, 500), 7000 + 2000, REAL_NS + 60 * SECOND,
         60 * SECOND + 500},
        {WEFT_CLOCK_CALLER, 0, 1000, PAIR(2000, 2 * SECOND), 5000, REAL_NS + 60 * SECOND,
         62 * SECOND},
        /* The wall clock says that it was before the last event, or that it is not later than the pair. */
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, PAIR(500, 500), 59 * SECOND, REAL_NS + 58 * SECOND,
         59 * SECOND},
        {WEFT_CLOCK_TSC, 1, 2 * SECOND, PAIR(7000, 500), 7000 + 4000, REAL_NS, 2500},
        {WEFT_CLOCK_TSC, 1, 2 * SECOND, PAIR(7000, 500), 6000, REAL_NS, 500},
        {WEFT_CLOCK_CALLER, 0, 1000, PAIR(2000, 2 * SECOND), 5000, REAL_NS, 5 * SECOND},
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, PAIR(500, 500), 600, REAL_NS - SECOND, 600},
        /* … by more than a second. */
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, PAIR(500, 500), 600, REAL_NS - SECOND - 1, 600},
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, PAIR(500, 500), 400, REAL_NS - SECOND - 1, 400},
        /* It has no wall clock, or one that began at 1970. */
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, {500, 500, 0}, 600, REAL_NS, 600},
        {WEFT_CLOCK_MONOTONIC, 1, SECOND, {500, 500, 3 * SECOND}, 600, REAL_NS, 600},
        /* A clock of the program's own says nothing of the other. */
        {WEFT_CLOCK_CALLER, 1, 1000, PAIR(2000, 2 * SECOND), 500000, REAL_NS + SECOND, 3 * SECOND},
        /* Numbers that are not true. */
        {WEFT_CLOCK_TSC, 1, 0, PAIR(0, 500), UINT64_MAX, REAL_NS, UINT64_MAX},
        {WEFT_CLOCK_TSC, 1, 1, PAIR(0, 500), UINT64_MAX, REAL_NS, UINT64_MAX},
        {WEFT_CLOCK_MONOTONIC, 1, 1, {0, UINT64_MAX - 5, REAL_NS}, 7, UINT64_MAX, UINT64_MAX},
        {99, 1, 1, {0, 1, UINT64_MAX}, 7, UINT64_MAX, 7 * SECOND + 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct until_case *c = &cases[i];
        const struct weft_facts_header f = {.clock = c->clock, .pid = c->pid, .hz = c->hz};
        uint64_t got = read_until_ns(&f, &c->pair, c->newest, c->real_ns);
        if (got != c->until_ns)
            fprintf(stderr, "case %zu\n", i);
        assert_int_equal(got, c->until_ns);
    }
}

/* … stands in the copy, for a guest that hangs, and readers say it. */
TEST(hangs)
{
    static const uint32_t clocks[] = {WEFT_CLOCK_CALLER, WEFT_CLOCK_MONOTONIC};
    for (size_t i = 0; i < COUNT(clocks); i++) {
        struct weft_input out;
        struct trace t =
            guest((struct weft_facts_header){.state = WEFT_TRACE_RECORDING,
                                             .clock = clocks[i],
                                             .stop_ticks = 9, /* it stops just now */
                                             .start_mono_ns = 900,
                                             .start_real_ns = REAL_NS - 100},
                  (struct weft_events_header){
                      .pair_ticks = 1000, .pair_mono_ns = 1000, .pair_real_ns = REAL_NS});
        now_real_ns = REAL_NS + 5 * SECOND;
        struct weft_facts_header facts = copied_facts(&t, WEFT_WRITER_ALIVE, true, &out);
        now_real_ns = REAL_NS;
        assert_int_equal(facts.stop_mono_ns, 5 * SECOND + 1000);
        assert_int_equal(facts.stop_ticks, 0);
        struct weft_reader *r = copy_reader(&out);
        assert_int_equal(weft_reader_facts(r)->process.until_ns, 5 * SECOND + 1000);
        weft_reader_close(r);
        weft_input_close(&out);
        facts = copied_facts(&t, WEFT_WRITER_DEAD, false, &out);
        assert_int_equal(facts.stop_mono_ns, 0);
        weft_input_close(&out);
        trace_fini(&t);
    }
}

/* ---- Inputs ---- */

TEST(closed_inputs)
{
    unsigned char bytes[10] = "123456789", to[20];
    struct memory m = {.bytes = bytes, .size = 9}, *place = &m;
    struct weft_input in = memory_input(&place, WEFT_WRITER_ALIVE);
    assert_int_equal(weft_input_read(&in, to, sizeof to, 0, NULL), 9);
    assert_int_equal(weft_input_read(&in, to, sizeof to, 7, NULL), 2);
    assert_memory_equal(to, "89", 2);
    assert_int_equal(weft_input_read(&in, to, sizeof to, 9, NULL), 0);
    assert_int_equal(weft_input_read(&in, to, sizeof to, UINT64_MAX, NULL), 0);
    weft_input_close(&in);
    assert_null(in.copy);
    assert_int_equal(in.fd, -1);
}

/* ---- Enemies ---- */

enum { CHANGES_AT = 4096, ENDED = 65536, CELLS = 2000 };
static uint64_t changes_after;
static struct trace other;

static void change_class(struct memory *m)
{
    if (m->reads > changes_after)
        memcpy(m->bytes + CHANGES_AT, other.bytes, other.size);
}

/* What had ended in a packet of events are bits, many in a word; in one of pending promises, words. A packet that was one
 * and is the other is not taken for it. */
TEST(another_class)
{
    static uint64_t ids[CELLS];
    static struct weft_pending_cell cells[CELLS];
    static unsigned char header[sizeof(struct weft_events_header) + ENDED];
    struct weft_events_header h = {.sequence = 1,
                                   .begin_ticks = 1000,
                                   .running = LOOP,
                                   .ended_at = sizeof h,
                                   .ended_count = ENDED};
    for (size_t i = 0; i < CELLS; i++)
        ids[i] = 77 | WEFT_PENDING_RESOLVED;
    other = (struct trace){.fd = -1};
    pending_packet(&other, (struct weft_pending_header){.kept = CELLS}, ids, cells, CELLS);
    packet_pad(&other, -other.size & 7, 0);
    uint64_t mixed = 0, reads = 0, whole = 0;
    for (changes_after = 0; changes_after <= reads; changes_after++) {
        struct trace t = {.fd = -1};
        facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_RECORDING}, "");
        packet_pad(&t, CHANGES_AT - t.size, 0);
        memcpy(header, &h, sizeof h);
        packet_begin(&t, WEFT_PACKET_EVENTS, header, sizeof header);
        packet_pad(&t, other.size - sizeof header, 0);
        struct memory m = {.bytes = t.bytes, .size = t.size, .change = change_class}, *place = &m;
        struct weft_input in = memory_input(&place, WEFT_WRITER_ALIVE), out;
        struct weft_snapshot *s;
        uint64_t marked = 0, found[CELLS];
        struct weft_pending_header p = {.cells = 0};
        behind = ids[0];
        assert_int_equal(weft_snapshot_begin(&s, &in, NULL), 1);
        assert_int_equal(weft_snapshot_to_room(s, &out, NULL), 0);
        behind = 0;
        weft_snapshot_free(s);
        for (uint64_t at = 0; at < out.size && p.packet.class != WEFT_PACKET_PENDING;
             at += p.packet.packet_bits / 8) {
            assert_true(weft_input_read(&out, &p, sizeof p, at, NULL) > 0);
            if (p.packet.class == WEFT_PACKET_PENDING)
                weft_input_read(&out, found, p.cells * sizeof *found, at + p.ids_at, NULL);
        }
        p.cells = p.packet.class == WEFT_PACKET_PENDING ? p.cells : 0;
        for (uint32_t i = 0; i < p.cells; i++)
            marked += found[i] == ids[0];
        mixed += marked > 0 && marked < p.cells;
        whole += p.cells == CELLS && !marked;
        reads = m.reads;
        weft_input_close(&out);
        trace_fini(&t);
    }
    assert_int_equal(mixed, 0);
    assert_true(whole > 0);
    trace_fini(&other);
}

static uint64_t seed;

static uint64_t random_word(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static struct trace full_trace(void)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    strings_text(&s, "text");
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_RECORDING},
                 "program=123456\n\n");
    struct weft_packet_header metadata;
    packet_begin(&t, WEFT_PACKET_METADATA, &metadata, sizeof metadata);
    packet_pad(&t, 80, 7);
    strings_packet(&t, &s);
    uint64_t ids[40];
    struct weft_pending_cell cells[40] = {{.version = 0}};
    for (unsigned i = 0; i < COUNT(ids); i++) {
        ids[i] = 64 * (i + 1);
        cells[i].created_ticks = i;
    }
    pending_packet(&t, (struct weft_pending_header){.kept = 3}, ids, cells, COUNT(ids));
    for (unsigned i = 0; i < 10; i++) {
        events_begin_ended(&t,
                           (struct weft_events_header){.sequence = i == 3 ? 0 : i + 1,
                                                       .begin_ticks = 1000 * (i + 1),
                                                       .base = 64 * (i + 1),
                                                       .counts = 5},
                           "101");
        for (unsigned n = 0; n < 20; n++)
            events_add(&t, WEFT_FORM_SWITCH, switches(1000 * (i + 1) + n, LOOP), 0, 0);
        if (i % 2)
            events_end(&t, 1000 * (i + 1) + 30);
        packet_pad(&t, 1024 - (t.size - t.packet), 0);
    }
    struct weft_packet_header other;
    packet_begin(&t, WEFT_PACKET_PRIVATE, &other, sizeof other);
    packet_pad(&t, 80, 0);
    packet_begin(&t, WEFT_PACKET_SAMPLES, &other, sizeof other);
    packet_pad(&t, 80, 0);
    return t;
}

struct enemy {
    struct memory m;
    unsigned one_in; /* so many words are lies */
    bool enlarges;
};

/* Says that packets of weft's are larger than they are, their headers and tables, too. */
static void enlarge(const struct enemy *e, unsigned char *bytes, size_t size, uint64_t offset)
{
    for (size_t i = 0; i + sizeof(struct weft_packet_header) <= size; i += 4) {
        struct weft_packet_header h;
        memcpy(&h, bytes + i, sizeof h);
        if (h.magic != WEFT_PACKET_MAGIC)
            continue;
        const uint64_t r = random_word();
        const uint64_t large[] = {e->m.size * 8, (e->m.size - offset - i) * 8, 8192 * 8,
                                  UINT64_C(1) << 40, UINT64_C(1) << 63};
        h.packet_bits = r & 1 ? large[(r >> 8) % COUNT(large)] : h.packet_bits;
        h.content_bits = r & 2 ? large[(r >> 16) % COUNT(large)] : h.content_bits;
        h.header_bytes = (r >> 2) % 4 ? h.header_bytes : (uint32_t)(large[(r >> 24) % 3] / 8);
        memcpy(bytes + i, &h, sizeof h);
        const size_t tables = i + offsetof(struct weft_events_header, ended_at);
        const uint32_t table[2] = {r & 64 ? 176 : (uint32_t)(r >> 32), (uint32_t)(r >> 16)};
        if ((r & 32) && tables + sizeof table <= size)
            memcpy(bytes + tables, table, sizeof table);
    }
}

/* What is read is what is there, but for some words, which are others at every reading. */
static size_t lie(const void *memory, void *buffer, size_t size, uint64_t offset)
{
    struct enemy *e = *(struct enemy *const *)memory;
    const uint64_t lies[] = {0,
                             1,
                             48,
                             160,
                             176,
                             4096,
                             e->m.size,
                             e->m.size * 8,
                             UINT32_MAX,
                             UINT64_MAX,
                             UINT64_C(1) << 63,
                             WEFT_PACKET_MAGIC,
                             UINT64_C(0xffffff00ffffff),
                             (e->m.size - offset) * 8};
    unsigned char *to = buffer;
    e->m.reads++;
    memcpy(buffer, e->m.bytes + offset, size);
    if (e->enlarges && random_word() % 2)
        enlarge(e, to, size, offset);
    for (size_t i = 0; i + 4 <= size && !e->enlarges; i += 4) {
        uint64_t r = random_word();
        if (r % e->one_in)
            continue;
        uint64_t word = r >> 40 & 1 ? random_word() : lies[(r >> 41) % COUNT(lies)];
        memcpy(to + i, &word, i + 8 <= size && r >> 39 & 1 ? 8 : 4);
        if (r >> 38 & 1) /* that of somewhere else */
            memcpy(to + i, e->m.bytes + (r >> 8) % (e->m.size - 8) / 4 * 4, 4);
    }
    return size;
}

TEST(every_reading_lies)
{
    struct trace weft = full_trace(), mirage = {.fd = -1};
    for (unsigned i = 0; i < 8; i++) {
        trace_begin(&mirage, i + (i < 3 ? 8 : 0));
        for (unsigned n = 0; n < 20; n++)
            trace_add(&mirage, counter(1000 * (i + 1), LOOP, n, "c"));
        trace_pad(&mirage, 200, 1);
    }
    uint64_t copies = 0, failures = 0, most_reads = 0, most_waited = 0;
    seed = 1;
    largest = 0;
    for (unsigned round = 0; round < 12000; round++) {
        const struct trace *t = round % 3 ? &weft : &mirage;
        struct enemy e = {{.bytes = t->bytes, .size = t->size},
                          2u << random_word() % 12,
                          round % 2},
                     *place = &e;
        struct weft_input in = {.fd = -1, .size = t->size, .copy = lie, .memory = &place}, out;
        in.writer = random_word() % 4 ? WEFT_WRITER_ALIVE : WEFT_WRITER_DEAD;
        struct weft_error err = {.code = 0};
        struct weft_snapshot *s;
        waited_ns = 0;
        int rc = weft_snapshot_begin(&s, &in, &err);
        if (rc > 0) {
            rc = weft_snapshot_to_room(s, &out, &err);
            if (rc == 0) {
                copies++;
                assert_true(out.size <= t->size + 8);
                weft_input_close(&out);
            }
            weft_snapshot_free(s);
        }
        failures += rc < 0;
        most_reads = e.m.reads > most_reads ? e.m.reads : most_reads;
        most_waited = waited_ns > most_waited ? waited_ns : most_waited;
    }
    printf("%" PRIu64 " copies, %" PRIu64 " failures; at most %" PRIu64 " readings\n", copies,
           failures, most_reads);
    assert_true(copies > 5000);
    assert_true(most_reads < 300000);
    assert_in_range(most_waited, SECOND / 10, SECOND / 4);
    assert_true(largest < 1 << 20);
    trace_fini(&weft);
    trace_fini(&mirage);
}

/* Memory full of the smallest packets, or of what looks like one. */
TEST(packets_everywhere)
{
    const size_t size = 32 << 20;
    unsigned char *bytes = malloc(size);
    static const unsigned steps[] = {24, 48, 160, 1024, 4096};
    for (unsigned class = WEFT_PACKET_EVENTS; class <= WEFT_PACKET_SAMPLES; class ++)
        for (size_t i = 0; i < COUNT(steps); i++) {
            memset(bytes, 0, size);
            for (size_t at = 0; at + sizeof(struct weft_facts_header) <= size; at += steps[i]) {
                struct weft_events_header h = {.packet = packet_header(class, 48)};
                if (at == 0)
                    h.packet.class = WEFT_PACKET_FACTS;
                h.packet.packet_bits = steps[i] * 8;
                h.packet.content_bits = steps[i] * 8;
                h.packet.header_bytes = steps[i] >= 176 ? 176 : steps[i];
                h.sequence = at + 1;
                h.begin_ticks = at;
                h.ended_at = sizeof h;
                h.ended_count = UINT32_MAX;
                memcpy(bytes + at, &h, steps[i] < sizeof h ? steps[i] : sizeof h);
                if (at == 0) {
                    struct weft_facts_header f = {.packet = h.packet,
                                                  .state = WEFT_TRACE_RECORDING};
                    f.packet.header_bytes = sizeof f;
                    f.packet.packet_bits = 4096 * 8;
                    memcpy(bytes, &f, sizeof f);
                    at = 4096 - steps[i];
                }
            }
            struct memory m = {.bytes = bytes, .size = size}, *place = &m;
            struct weft_input in = memory_input(&place, WEFT_WRITER_ALIVE), out;
            struct weft_error err = {.code = 0};
            struct weft_snapshot *s = NULL;
            largest = 0;
            int rc = weft_snapshot_begin(&s, &in, &err);
            if (rc > 0)
                rc = weft_snapshot_to_room(s, &out, &err);
            if (rc == 0 && s) {
                assert_true(out.size <= size);
                weft_input_close(&out);
            }
            weft_snapshot_free(s);
            assert_int_equal(rc, steps[i] < 1024 ? (steps[i] < 48 ? 0 : WEFT_E_LIMIT) : 0);
            assert_true(largest < size / 4);
            assert_true(m.reads < size / 16);
        }
    free(bytes);
}

/* A packet as large as all of it, with two tables in the same place: no more is allocated than that is worth, and the
 * copy is no larger. */
TEST(one_large_packet)
{
    static const size_t sizes[] = {32 << 10, 64 << 20};
    for (unsigned n = 0; n < 2 * (WEFT_PACKET_SAMPLES - WEFT_PACKET_EVENTS + 1); n++) {
        const unsigned class = WEFT_PACKET_EVENTS + n / 2;
        const size_t size = sizes[n % 2];
        struct trace t = {.fd = -1};
        memset(trace_extend(&t, size), 2, size);
        struct weft_facts_header f = {.packet = packet_header(WEFT_PACKET_FACTS, sizeof f),
                                      .state = WEFT_TRACE_RECORDING};
        f.packet.packet_bits = f.packet.content_bits = sizeof f * 8;
        struct weft_pending_header h = {.packet = packet_header(class, 176)};
        h.packet.packet_bits = h.packet.content_bits = (size - sizeof f) * 8;
        h.cell_bytes = sizeof(struct weft_pending_cell);
        h.cells = (uint32_t)((size - sizeof f - 176) / h.cell_bytes);
        h.ids_at = h.cells_at = 176;
        memcpy(t.bytes, &f, sizeof f);
        memcpy(t.bytes + sizeof f, &h, sizeof h);
        struct memory m = {.bytes = t.bytes, .size = size}, *place = &m;
        struct weft_input in = memory_input(&place, WEFT_WRITER_ALIVE), out = {.fd = -1};
        struct weft_error err = {.code = 0};
        struct weft_snapshot *s = NULL;
        largest = 0;
        int rc = weft_snapshot_begin(&s, &in, &err);
        if (rc > 0)
            rc = weft_snapshot_to_room(s, &out, &err);
        weft_snapshot_free(s);
        assert_true(rc == 0 || (rc == WEFT_E_LIMIT && n % 2));
        assert_true(out.size <= size);
        assert_true(largest < size / 2 + (16 << 20));
        weft_input_close(&out);
        trace_fini(&t);
    }
}

/* Where a packet holds nothing but zeros, a copy has a hole; not one that is appended to a file, where nobody can skip. */
TEST(zeros_in_a_copy)
{
    enum { ZEROS = 256 << 10 };
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_RECORDING}, "");
    packet_pad(&t, -t.size & 7, 0);
    events_begin(&t, (struct weft_events_header){.sequence = 1, .begin_ticks = 1});
    memset(trace_extend(&t, ZEROS), 0, ZEROS);
    packet_sizes(&t, t.size - t.packet);
    struct memory m = {.bytes = t.bytes, .size = t.size}, *place = &m;
    struct weft_input in = memory_input(&place, WEFT_WRITER_DEAD);
    unsigned char *copy[2];
    size_t bytes[2];
    for (int appends = 0; appends < 2; appends++) {
        struct weft_snapshot *s;
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(fcntl(fileno(file), F_SETFL, appends ? O_APPEND : 0), 0);
        assert_int_equal(weft_snapshot_begin(&s, &in, NULL), 1);
        assert_int_equal(weft_snapshot_write(s, file, NULL, NULL, NULL), 0);
        bytes[appends] = weft_snapshot_bytes(s);
        weft_snapshot_free(s);
        assert_int_equal(fflush(file), 0);
        copy[appends] = calloc(bytes[appends], 1);
        assert_non_null(copy[appends]);
        assert_int_equal(pread(fileno(file), copy[appends], bytes[appends], 0), bytes[appends]);
        fclose(file);
    }
    assert_true(bytes[0] > ZEROS);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(copy[0], copy[1], bytes[0]);
    weft_free_all(copy[0], copy[1]);
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
