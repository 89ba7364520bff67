/* SPDX-License-Identifier: ISC */
/* Copies of memory into which a guest's processors record at every reading: the recorder itself, in between. Each event
 * is whole; of each processor there are its newest up to the moment, without a gap that is not counted; and what is
 * pending then is there, once. */
#include <weft/freestanding.h>

#include <inttypes.h>

#include "format/packet.h"
#include "memory_input.h"
#include "read/snapshot.h"

enum { CPUS = 3, PENDING = 20, MEMORY = 1 << 20 };

static uint64_t memory[MEMORY / 8];
static uint64_t now = 1, recorded[CPUS];
static unsigned cpu, cpus, speed;
static weft_promise pending[PENDING];
static uint64_t seed = 1, all_gone;

static uint64_t
    interrupted_ns; /* if it is not 0, the call that is being made had taken its time then */

static uint64_t clock_ns(void)
{
    return interrupted_ns ? interrupted_ns : (now += 7);
}

static unsigned this_cpu(void)
{
    return cpu;
}

static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

/* Two events of a promise that ends, and one with a number that counts. */
static void record(void)
{
    static struct weft_counter counters[CPUS] = {WEFT_COUNTER("a"), WEFT_COUNTER("b"),
                                                 WEFT_COUNTER("c")};
    cpu = (unsigned)random_below(cpus);
    weft_promise p = weft_create("task", NULL);
    weft_fulfill(p);
    weft_counter_set(&counters[cpu], (int64_t)++recorded[cpu]);
}

static uint64_t stalled_at; /* that reading, for as long as so many calls take */
static unsigned stalled_calls;
static uint64_t labelled_at; /* that reading a call goes on that had begun at labelled_ns */
static uint64_t labelled_ns;

static void go_on(void)
{
    char text[32];
    snprintf(text, sizeof text, "label %" PRIu64, labelled_at);
    cpu = cpus - 1;
    interrupted_ns = labelled_ns;
    weft_label(pending[0], text);
    interrupted_ns = labelled_at = 0;
}

static bool texts_are_lost; /* one at each reading */

static void change(struct memory *m)
{
    if (texts_are_lost)
        ((struct weft_facts_header *)memory)->lost_texts = m->reads;
    for (unsigned i = 0; i < speed; i++)
        record();
    if (m->reads == labelled_at) {
        stalled_at = labelled_at;
        go_on();
    }
    if (m->reads != stalled_at)
        return;
    stalled_at = 0;
    for (unsigned i = 0; i < stalled_calls; i++)
        record();
}

/* ---- What is in a copy ---- */

struct seen {
    uint64_t first[CPUS], last[CPUS], count[CPUS];
    unsigned created[PENDING], ended[PENDING], labels;
    uint64_t lost, lost_texts;
};

static void see(struct seen *s, const struct weft_event *ev)
{
    if (ev->kind == WEFT_EVENT_COUNTER) {
        const unsigned of = (unsigned)(ev->text[0] - 'a');
        const uint64_t n = (uint64_t)ev->value;
        assert_true(of < CPUS && n > s->last[of]);
        s->first[of] = s->count[of]++ ? s->first[of] : n;
        s->last[of] = n;
        return;
    }
    if (ev->kind == WEFT_EVENT_LABEL) {
        assert_int_equal(strncmp(ev->text, "label ", 6), 0);
        s->labels++;
    }
    for (unsigned i = 0; i < PENDING; i++) {
        s->created[i] += ev->kind == WEFT_EVENT_CREATES && ev->b == pending[i];
        s->ended[i] += ev->kind != WEFT_EVENT_CREATES && ev->b == pending[i];
    }
}

static void read_copy(const struct weft_input *copy, struct seen *seen)
{
    struct weft_reader *r = copy_reader(copy);
    struct weft_error err = {.code = 0};
    const struct weft_event *ev;
    ptrdiff_t n;
    *seen = (struct seen){.lost = 0};
    while ((n = weft_reader_next(r, &ev, &err)) > 0)
        for (ptrdiff_t i = 0; i < n; i++)
            see(seen, &ev[i]);
    assert_int_equal(n, 0);
    const struct weft_reader_facts *f = weft_reader_facts(r);
    assert_int_equal(weft_reader_damage(r)->problems, 0);
    assert_int_equal(f->missing_packets, 0);
    assert_int_equal(f->ended, WEFT_ENDED_SAVED);
    seen->lost = f->overwritten_events;
    seen->lost_texts = f->lost_texts;
    assert_true(f->process.until_ns <= now);
    weft_reader_close(r);
}

struct copy {
    uint64_t readings, events, lost_texts;
    unsigned labels;
};

static struct copy copy_once(unsigned at_each_reading)
{
    struct memory m = {.bytes = (unsigned char *)memory, .size = sizeof memory, .change = change},
                  *place = &m;
    struct weft_input in = memory_input(&place, WEFT_WRITER_ALIVE), out;
    struct weft_snapshot *s;
    struct weft_error err = {.code = 0};
    struct seen seen;
    uint64_t before[CPUS], events = 0;
    memcpy(before, recorded, sizeof before);
    speed = at_each_reading;
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_true(weft_snapshot_is_live(s));
    assert_int_equal(weft_snapshot_to_room(s, &out, &err), 0);
    const uint64_t gone = weft_snapshot_gone(s);
    all_gone += gone;
    weft_snapshot_free(s);
    read_copy(&out, &seen);
    weft_input_close(&out);
    for (unsigned i = 0; i < cpus; i++) {
        if (!gone && seen.count[i]) {
            assert_true(seen.last[i] >= before[i]);
            assert_int_equal(seen.last[i] - seen.first[i] + 1, seen.count[i]);
        }
        const uint64_t missing = seen.last[i] - seen.count[i];
        assert_true(seen.last[i] <= recorded[i]);
        assert_true(missing <= seen.lost);
        if (!speed && !stalled_calls)
            assert_int_equal(seen.last[i], recorded[i]);
        events += seen.count[i];
    }
    assert_true(events > 0 ||
                speed > 3); /* faster, the ring comes round while the packets are found */
    for (unsigned i = 0; i < PENDING; i++) {
        assert_int_equal(seen.created[i], 1);
        assert_int_equal(seen.ended[i], 0);
    }
    return (struct copy){m.reads, events, seen.lost_texts, seen.labels};
}

static void begin(unsigned processors, size_t bytes)
{
    const struct weft_machine machine = {.processors = processors, .processor = this_cpu};
    memset(memory, 0, sizeof memory);
    memset(recorded, 0, sizeof recorded);
    cpus = processors;
    assert_int_equal(
        weft_start_on(&machine,
                      &(struct weft_options){.memory = memory, .bytes = bytes, .clock = clock_ns}),
        0);
    for (unsigned i = 0; i < PENDING; i++) {
        cpu = (unsigned)random_below(cpus);
        pending[i] = weft_create("rpc", NULL);
        assert_true(pending[i] != 0);
        for (unsigned n = 0; n < 100; n++)
            record();
    }
}

TEST(while_it_records)
{
    static const unsigned speeds[] = {0, 1, 3, 20, 150};
    unsigned copies = 0;
    for (unsigned processors = 1; processors <= CPUS; processors++)
        for (size_t bytes = 256 << 10; bytes <= MEMORY; bytes *= 2) {
            begin(processors, bytes);
            for (unsigned round = 0; round < 3; round++)
                for (size_t i = 0; i < COUNT(speeds); i++, copies++)
                    copy_once(speeds[i]);
            weft_stop();
        }
    printf("%u copies, %" PRIu64 " packets overwritten meanwhile\n", copies, all_gone);
    assert_true(all_gone > copies);
}

/* The copying is interrupted once, at any reading, while the ring comes round. */
TEST(while_it_is_lapped)
{
    const size_t bytes = 256 << 10;
    for (unsigned processors = 1; processors <= CPUS; processors++) {
        begin(processors, bytes);
        stalled_calls = 0;
        const struct copy whole = copy_once(0);
        stalled_calls = bytes / 8;
        for (uint64_t i = 1; i <= whole.readings; i++) {
            stalled_at = i;
            assert_true(copy_once(0).events > whole.events / 10); /* packets are not alike */
            assert_int_equal(stalled_at, 0);
        }
        printf("%u processors: interrupted %" PRIu64 " times\n", processors, whole.readings);
        weft_stop();
    }
}

/* A call that had taken its time before the moment goes on at any reading, and stores its text and its event; and then
 * the ring comes round, so that the event is with those of pending promises. */
TEST(while_it_labels)
{
    const size_t bytes = 256 << 10;
    unsigned labels = 0;
    begin(2, bytes);
    for (size_t i = 0; i < bytes / 8; i++) /* until what is pending has cells */
        record();
    stalled_calls = 0;
    const uint64_t readings = copy_once(0).readings;
    stalled_calls = bytes / 8;
    for (uint64_t i = readings / 2; i <= readings; i++) { /* there is room for so many texts */
        cpu = 1;
        weft_fulfill(weft_create("task", NULL));
        labelled_ns = now;
        cpus = 1; /* the other one goes on */
        record();
        cpus = 2;
        labelled_at = i;
        labels += copy_once(0).labels;
    }
    printf("%u labels in the copies\n", labels);
    assert_true(labels > 0);
    weft_stop();
}

/* Counted are also those that were lost while it was copied. */
TEST(while_texts_are_lost)
{
    begin(1, MEMORY);
    stalled_calls = 0;
    texts_are_lost = true;
    const struct copy copy = copy_once(0);
    assert_int_equal(copy.lost_texts, copy.readings);
    texts_are_lost = false;
    weft_stop();
}

RUN_TESTS(NULL, NULL)
