/* SPDX-License-Identifier: ISC */
/* More promises are pending than the recording has room for: what is kept of which, and that the others are counted
 * exactly. The recorder writes into memory here; a packet is retired as soon as the ring comes round. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdlib.h>

#include "memory_input.h"
#include "model/model.h"
#include "format/packet.h"
#include "read/snapshot.h"

#include <weft/weft.h>

enum { BYTES = 512 << 10, LAPS = 60000 };

static alignas(8) unsigned char ring[BYTES];
static struct weft_reader *reader;
static struct weft_model *model;

static uint64_t next_tick(void)
{
    static uint64_t ticks;
    return ++ticks;
}

static int start(void **state)
{
    (void)state;
    return weft_start(&(struct weft_options){.memory = ring, .bytes = BYTES, .clock = next_tick});
}

static int end(void **state)
{
    (void)state;
    weft_stop();
    weft_model_free(model);
    weft_reader_close(reader);
    model = NULL;
    reader = NULL;
    return 0;
}

/* Other promises, which end, until all packets have been overwritten. */
static void go_round(void)
{
    for (unsigned i = 0; i < LAPS; i++)
        weft_fulfill(weft_create("other", NULL));
}

/* Reads a trace in memory, and closes it. */
static void read_copy(struct weft_input *copy)
{
    struct weft_error err;
    weft_model_free(model);
    weft_reader_close(reader);
    reader = copy_reader(copy);
    assert_int_equal(weft_model_build(&model, reader, NULL, NULL, &err), 0);
    weft_input_close(copy);
}

static void read_bytes(const unsigned char *bytes, size_t size)
{
    struct weft_input file = {.fd = memfd_create("ring", MFD_CLOEXEC), .size = size};
    assert_int_equal(write(file.fd, bytes, size), size);
    read_copy(&file);
}

/* Stops, and reads the ring. */
static void read_ring(void)
{
    weft_stop();
    read_bytes(ring, BYTES);
}

/* How many promises of a type are given up but known to be pending; and of how many even that is unknown. */
static uint64_t given_up(const char *type, uint64_t *unlisted)
{
    uint64_t pending = 0;
    *unlisted = 0;
    for (uint32_t i = 0; i < model->given_ups; i++)
        if (!strcmp(weft_model_text(model, model->given_up[i].type, NULL), type)) {
            pending += model->given_up[i].pending;
            *unlisted += model->given_up[i].unlisted;
        }
    return pending;
}

/* Type, place and waits are known, but not when it was created: it was there as the trace begins. */
static void assert_undated(weft_promise id, const char *type)
{
    const uint32_t p = weft_model_find(model, id);
    assert_int_not_equal(p, WEFT_NONE);
    const struct weft_promise *is = &model->promise[p];
    assert_string_equal(weft_model_type(model, p), type);
    assert_int_not_equal(weft_model_origin(model, p), WEFT_NONE);
    assert_true(is->promoted && !is->created);
    assert_int_equal(is->creator, WEFT_ROOT);
    assert_int_equal(is->outcome, WEFT_PENDING);
    if (is->start_ns > 0)
        print_error("starts at %" PRId64 "\n", is->start_ns);
    assert_true(is->start_ns <= 0);
}

static bool is_whole(weft_promise id)
{
    uint32_t p = weft_model_find(model, id);
    return p != WEFT_NONE && model->promise[p].created && model->promise[p].outcome == WEFT_PENDING;
}

static void assert_whole(weft_promise id, const char *type, const char *label)
{
    uint32_t p = weft_model_find(model, id);
    assert_true(is_whole(id));
    assert_string_equal(weft_model_type(model, p), type);
    if (label)
        assert_string_equal(weft_model_text(model, weft_model_name(model, p), NULL), label);
}

static void assert_waits(weft_promise reader_id, weft_promise id)
{
    uint32_t who = weft_model_find(model, reader_id), p = weft_model_find(model, id);
    unsigned waits = 0;
    for (uint32_t i = 0; i < model->interactions; i++)
        waits += model->interaction[i].kind == WEFT_WAITS && model->interaction[i].actor == who &&
                 model->interaction[i].other == p;
    assert_int_equal(waits, 1);
}

/* Of one sort, all waiting for something of another sort. */
static void crowd(weft_promise *connection, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        connection[i] = weft_create("connection", "from somewhere");
        weft_run(connection[i]);
        weft_wait(weft_create("recv", NULL));
    }
    weft_run(WEFT_LOOP);
}

TEST(all_are_accounted_for)
{
    enum { COUNT = 5000 };
    static weft_promise connection[COUNT];
    uint64_t unlisted, whole = 0;
    weft_promise request = weft_create("request", "the one of yesterday");
    weft_should_resolve(request);
    weft_run(request);
    weft_promise reply = weft_create("rpc", "lost reply");
    weft_wait(reply);
    weft_run(WEFT_LOOP);
    crowd(connection, COUNT);
    weft_promise rare = weft_create("lock", "catalogue");
    go_round();
    read_ring();
    assert_whole(request, "request", "the one of yesterday");
    assert_whole(reply, "rpc", "lost reply");
    assert_whole(rare, "lock", "catalogue");
    assert_waits(request, reply);
    for (uint32_t i = 0; i < COUNT; i++)
        whole += is_whole(connection[i]);
    uint64_t more = given_up("connection", &unlisted);
    assert_true(whole > 100 && more > 1000);
    assert_int_equal(whole + more + unlisted, COUNT);
    assert_true(is_whole(connection[0])); /* of one sort the oldest stay */
    assert_int_equal(given_up("request", &unlisted) + given_up("lock", &unlisted), 0);
    uint32_t first = weft_model_find(model, connection[0]);
    assert_int_equal(weft_model_more_like(model, first), more);
}

/* Promises on the roll end: they are counted no more, whoever of them it is. */
TEST(endings_are_counted)
{
    enum { COUNT = 2000 };
    static weft_promise connection[COUNT];
    uint64_t unlisted, whole = 0, pending = 0;
    crowd(connection, COUNT);
    go_round();
    for (uint32_t i = 0; i < COUNT; i++)
        if (i % 3)
            weft_fulfill(connection[i]);
    go_round();
    read_ring();
    for (uint32_t i = 0; i < COUNT; i++) {
        whole += is_whole(connection[i]);
        pending += i % 3 == 0;
    }
    uint64_t more = given_up("connection", &unlisted);
    assert_int_equal(unlisted, 0);
    assert_int_equal(whole + more, pending);
}

/* That it matters is said long after the promise was put on the roll. */
TEST(who_matters_later)
{
    enum { COUNT = 1500 };
    static weft_promise connection[COUNT];
    weft_promise request = weft_create("request", NULL);
    weft_should_resolve(request);
    crowd(connection, COUNT);
    go_round();
    weft_run(request);
    for (uint32_t i = 0; i < COUNT; i += 100)
        weft_wait(connection[i]);
    weft_run(WEFT_LOOP);
    for (uint32_t i = 50; i < COUNT; i += 100)
        weft_should_resolve(connection[i]);
    go_round();
    read_ring();
    unsigned undated = 0;
    for (uint32_t i = 0; i < COUNT; i += 50) {
        if (is_whole(connection[i])) {
            assert_whole(connection[i], "connection", "from somewhere");
        } else {
            assert_undated(connection[i], "connection");
            undated++;
        }
    }
    assert_true(undated > 10 && undated < COUNT / 50);
    for (uint32_t i = 0; i < COUNT; i += 100)
        assert_waits(request, connection[i]);
}

/* A thread that waits for a promise and then records nothing more. */
struct slow {
    weft_promise *source;
    unsigned count;
    sem_t waits, over;
};

static void *wait_slowly(void *slow)
{
    struct slow *s = slow;
    for (unsigned i = 0; i < s->count; i++)
        weft_wait(s->source[i]);
    sem_post(&s->waits);
    sem_wait(&s->over);
    return NULL;
}

/* Of those promises, every creation that is in the ring comes before all other events about it. Returns how many
 * creations are undated. */
static unsigned count_undated(const weft_promise *id, unsigned count)
{
    bool seen[64] = {false};
    unsigned undated = 0;
    struct weft_error err;
    const struct weft_event *ev;
    struct weft_input file = {.fd = memfd_create("ring", MFD_CLOEXEC), .size = BYTES};
    assert_int_equal(write(file.fd, ring, BYTES), BYTES);
    struct weft_reader *r = copy_reader(&file);
    for (ptrdiff_t n; (n = weft_reader_next(r, &ev, &err)) != 0;) {
        assert_true(n > 0);
        for (const struct weft_event *last = ev + n; ev < last; ev++)
            for (unsigned i = 0; i < count; i++) {
                const bool creates = ev->kind == WEFT_EVENT_CREATES && ev->b == id[i];
                if (creates && seen[i])
                    print_error("created at %" PRIu64 ", after something else\n", ev->time_ns);
                assert_false(creates && seen[i]);
                seen[i] |= ev->a == id[i] || ev->b == id[i];
                undated += creates && ev->undated;
            }
    }
    weft_reader_close(r);
    weft_input_close(&file);
    return undated;
}

/* … while a packet of a slow thread, in which something is said of it, is still there. */
TEST(who_mattered_before)
{
    enum { COUNT = 1500, SOME = 30 };
    static weft_promise connection[COUNT];
    weft_promise some[SOME];
    struct slow slow = {.source = some, .count = SOME};
    pthread_t thread;
    sem_init(&slow.waits, 0, 0);
    sem_init(&slow.over, 0, 0);
    crowd(connection, COUNT);
    go_round();
    for (unsigned i = 0; i < SOME; i++)
        some[i] = connection[i * (COUNT / SOME)];
    assert_int_equal(pthread_create(&thread, NULL, wait_slowly, &slow), 0);
    sem_wait(&slow.waits);
    for (unsigned i = 0; i < SOME; i++)
        weft_should_resolve(some[i]);
    go_round();
    read_ring();
    sem_post(&slow.over);
    pthread_join(thread, NULL);
    assert_in_range(count_undated(some, SOME), 10, SOME);
}

/* A marked promise waits for one that waits for one …, all of them of common sorts. */
TEST(a_chain)
{
    enum { COUNT = 6000, CHAIN = 40 };
    static weft_promise connection[COUNT];
    weft_promise chain[CHAIN];
    for (unsigned i = 0; i < CHAIN; i++) {
        chain[i] = weft_create("connection", "of the chain");
        if (i == 0)
            weft_should_resolve(chain[i]);
        else
            weft_wait_by(chain[i - 1], chain[i]);
    }
    crowd(connection, COUNT);
    go_round();
    read_ring();
    for (unsigned i = 0; i < CHAIN; i++) {
        assert_whole(chain[i], "connection", "of the chain");
        if (i)
            assert_waits(chain[i - 1], chain[i]);
    }
}

/* Sorts share the room: a rare one loses nothing to common ones, marked or not. */
TEST(sorts_share)
{
    enum { COUNT = 3000, RARE = 10 };
    weft_promise rare[RARE];
    for (unsigned i = 0; i < COUNT; i++) {
        weft_should_resolve(weft_create("common and marked", NULL));
        weft_background(weft_create("common and idle", NULL));
        weft_create("common", NULL);
        if (i % (COUNT / RARE) == 0)
            rare[i / (COUNT / RARE)] = weft_create("rare", NULL);
    }
    go_round();
    read_ring();
    for (unsigned i = 0; i < RARE; i++)
        assert_whole(rare[i], "rare", NULL);
}

/* The program's own numbers have room on the roll up to 52 bits; those that are larger are counted. */
TEST(large_numbers)
{
    const weft_promise largest = (UINT64_C(1) << 52) - 1;
    uint64_t unlisted;
    weft_create_id(WEFT_LOOP, largest, "large", NULL);
    weft_create_id(WEFT_LOOP, largest + 1, "too large", NULL);
    weft_create_id(WEFT_LOOP, UINT64_C(1) << 63 | 7, "too large", NULL);
    go_round();
    read_ring();
    assert_whole(largest, "large", NULL);
    assert_int_equal(given_up("large", &unlisted), 0);
    assert_int_equal(unlisted, 0);
    assert_int_equal(given_up("too large", &unlisted), 0);
    assert_int_equal(unlisted, 2);
    assert_true(model->losses.pending);
}

/* A copy has the roll, without its free places. */
TEST(a_copy)
{
    enum { COUNT = 3000 };
    static weft_promise connection[COUNT];
    struct weft_input in, copy;
    struct weft_snapshot *s;
    struct weft_error err;
    struct memory memory = {.bytes = ring, .size = BYTES}, *m = &memory;
    uint64_t unlisted, unlisted_copy;
    crowd(connection, COUNT);
    go_round();
    in = memory_input(&m, WEFT_WRITER_DEAD);
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_int_equal(weft_snapshot_to_room(s, &copy, &err), 0);
    weft_snapshot_free(s);
    read_copy(&copy);
    uint64_t more_copy = given_up("connection", &unlisted_copy);
    read_ring();
    assert_true(more_copy > 0);
    assert_int_equal(more_copy, given_up("connection", &unlisted));
    assert_int_equal(unlisted_copy, unlisted);
}

/* The packets of events of a ring as it was earlier, and what else is there now: as it may be read while it is written. */
static void take_events(unsigned char *bytes, const unsigned char *earlier)
{
    const struct weft_packet_header *h;
    for (size_t at = 0; at + sizeof *h < BYTES; at += 4096) {
        h = (const void *)(earlier + at);
        if (h->magic == WEFT_PACKET_MAGIC && h->class == WEFT_PACKET_EVENTS)
            memcpy(bytes + at, h, h->packet_bits / 8);
    }
}

/* A promise on the roll gets a cell, since it matters, when its packet has been read, and the one that says so has not. */
TEST(read_before_its_cell)
{
    enum { COUNT = 1500, MATTERS = 50 };
    static alignas(8) unsigned char earlier[BYTES], bytes[BYTES];
    for (uint64_t i = 1; i <= COUNT; i++)
        weft_create_id(WEFT_LOOP, i * 16, "connection", NULL);
    memcpy(earlier, ring, BYTES);
    for (uint64_t lap = 0, other = UINT64_C(1) << 40; lap < 2; lap++) {
        for (unsigned i = 0; i < LAPS; i++, other += 16)
            weft_fulfill(weft_create_id(WEFT_LOOP, other, "other", NULL));
        for (uint64_t i = MATTERS; i <= COUNT && !lap; i += MATTERS)
            weft_should_resolve(i * 16);
    }
    weft_stop();
    memcpy(bytes, ring, BYTES);
    take_events(bytes, earlier);
    read_bytes(bytes, BYTES);
    assert_int_equal(model->contradictions.created_twice, 0);
    for (uint64_t i = 1; i <= COUNT; i++) {
        assert_whole(i * 16, "connection", NULL);
        assert_true(model->promise[weft_model_find(model, i * 16)].start_ns < COUNT * 10);
    }
}

static struct weft_roll_header *find_roll(unsigned char *bytes)
{
    for (size_t at = 0; at + sizeof(struct weft_roll_header) < BYTES; at += 4096) {
        struct weft_roll_header *h = (void *)(bytes + at);
        if (h->packet.magic == WEFT_PACKET_MAGIC && h->packet.class == WEFT_PACKET_ROLL)
            return h;
    }
    fail_msg("no roll");
    return NULL;
}

/* Whatever its header says, nothing outside the packet is read, and it is reported. */
TEST(hostile_rolls)
{
    static alignas(8) unsigned char bytes[BYTES];
    static weft_promise connection[2000];
    crowd(connection, 2000);
    go_round();
    weft_stop();
    const struct weft_roll_header *good = find_roll(ring);
    const struct weft_roll_header bad[] = {
        {.sorts = UINT32_MAX, .sort_bytes = 16, .sorts_at = 80, .numbers_at = 400},
        {.sorts = 16, .sort_bytes = UINT32_MAX, .sorts_at = 80, .numbers_at = 400},
        {.sorts = 16, .sort_bytes = 8, .sorts_at = 80, .numbers_at = 400},
        {.sorts = 16, .sort_bytes = 16, .sorts_at = UINT64_MAX - 8, .numbers_at = 400},
        {.sorts = 16, .sort_bytes = 16, .sorts_at = 0, .numbers_at = 400},
        {.sorts = 16, .sort_bytes = 16, .sorts_at = 80, .numbers_at = UINT64_MAX - 8},
        {.sorts = 16, .sort_bytes = 16, .sorts_at = 80, .numbers_at = 400, .numbers = UINT64_MAX},
        {.sorts = 16, .sort_bytes = 16, .sorts_at = 80, .numbers_at = 400, .numbers = 1u << 29},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(bytes, ring, BYTES);
        struct weft_roll_header *h = find_roll(bytes);
        *h = bad[i];
        h->packet = good->packet;
        read_bytes(bytes, BYTES);
        assert_int_equal(weft_reader_damage(reader)->problems, 1);
        assert_int_equal(model->given_ups, 0);
    }
    /* Sites that are none, and sorts that are none. */
    memcpy(bytes, ring, BYTES);
    struct weft_roll_header *h = find_roll(bytes);
    struct weft_roll_sort *sorts = (void *)((unsigned char *)h + h->sorts_at);
    for (uint32_t i = 0; i < h->sorts; i++)
        sorts[i].site = 0x12345u + i;
    memset((unsigned char *)h + h->numbers_at, 0xff, h->numbers * 8);
    read_bytes(bytes, BYTES);
    assert_int_equal(weft_reader_damage(reader)->problems, 0);
}

/* Promises of long ago begin to wait for one another, within one packet: more than its list of such events has room for. Some have
 * ended by then, and make room. */
TEST(many_waits_of_long_ago)
{
    enum { COUNT = 30 };
    weft_promise who[COUNT], what[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        who[i] = weft_create("task", NULL);
        what[i] = weft_create("answer", NULL);
    }
    go_round();
    for (unsigned i = 0; i < COUNT; i++) {
        weft_run(who[i]);
        weft_wait(what[i]);
        if (i % 2)
            weft_fulfill(who[i]);
    }
    weft_run(WEFT_LOOP);
    go_round();
    read_ring();
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(is_whole(who[i]), i % 2 == 0);
        assert_true(is_whole(what[i]));
        if (i % 2 == 0)
            assert_waits(who[i], what[i]);
    }
}

RUN_TESTS_WITH(NULL, NULL, start, end)
