/* SPDX-License-Identifier: ISC */
/* Promises that become others: who waits for them waits for what they became, however long ago that was recorded. The
 * recorder writes into memory here; a packet is retired as soon as the ring comes round. */
#include <stdalign.h>
#include <stdlib.h>

#include "memory_input.h"
#include "model/model.h"
#include "format/listed.h"
#include "read/snapshot.h"

#include <weft/weft.h>

enum { BYTES = 512 << 10, LARGE = 2 << 20, LAPS = 30000 };

static alignas(8) unsigned char ring[LARGE];
static size_t bytes; /* of it */
static struct weft_reader *reader;
static struct weft_model *model;
static bool own; /* numbers are the program's */

static uint64_t next_tick(void)
{
    static uint64_t ticks;
    return ++ticks;
}

static int start(void **state)
{
    own = *state != NULL;
    bytes = BYTES;
    return weft_start(&(struct weft_options){.memory = ring, .bytes = bytes, .clock = next_tick});
}

/* Begins again, with larger packets. */
static void start_large(void)
{
    weft_stop();
    bytes = LARGE;
    assert_int_equal(
        weft_start(&(struct weft_options){.memory = ring, .bytes = bytes, .clock = next_tick}), 0);
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

static weft_promise create(const char *type)
{
    static weft_promise last = 0x10000;
    return own ? weft_create_id(WEFT_LOOP, last += 16, type, NULL) : weft_create(type, NULL);
}

/* Other promises, which end, until all packets have been overwritten. */
static void go_round(void)
{
    for (size_t i = 0; i < LAPS * bytes / BYTES; i++)
        weft_fulfill(create("other"));
}

static void build(struct weft_input *copy)
{
    struct weft_error err;
    weft_model_free(model);
    weft_reader_close(reader);
    reader = copy_reader(copy);
    assert_int_equal(weft_model_build(&model, reader, NULL, NULL, &err), 0);
    weft_input_close(copy);
}

/* Reads the ring as it is: as if the program had been killed. */
static void read_ring(void)
{
    struct weft_input file = {.fd = memfd_create("ring", MFD_CLOEXEC), .size = bytes};
    assert_int_equal(write(file.fd, ring, bytes), bytes);
    build(&file);
}

/* Reads a copy, as of a machine that has died. */
static void read_copy(void)
{
    struct weft_input in, copy;
    struct weft_snapshot *s;
    struct weft_error err;
    struct memory memory = {.bytes = ring, .size = bytes}, *m = &memory;
    in = memory_input(&m, WEFT_WRITER_DEAD);
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_int_equal(weft_snapshot_to_room(s, &copy, &err), 0);
    weft_snapshot_free(s);
    build(&copy);
}

/* How often the promise waits for the other, or for what became it. */
static unsigned count_waits(weft_promise who, weft_promise id)
{
    const uint32_t w = weft_model_find(model, who), p = weft_model_find(model, id);
    unsigned waits = 0;
    for (uint32_t i = 0; i < model->interactions && w != WEFT_NONE && p != WEFT_NONE; i++)
        waits += model->interaction[i].kind == WEFT_WAITS && model->interaction[i].actor == w &&
                 weft_model_final(model, model->interaction[i].other) == p;
    return waits;
}

static bool is_pending(weft_promise id)
{
    const uint32_t p = weft_model_find(model, id);
    return p != WEFT_NONE && model->promise[p].outcome == WEFT_PENDING;
}

static void assert_waits(weft_promise who, weft_promise id)
{
    assert_true(is_pending(who) && is_pending(id));
    assert_int_equal(count_waits(who, id), 1);
}

static void assert_nothing_lacks(void)
{
    const struct weft_promotion *p = &weft_reader_facts(reader)->promotion;
    if (p->lacks || model->losses.pending)
        fail_msg("given up %d, numbered %d, unlisted %d, left out %d", (int)p->given_up,
                 (int)p->numbered, (int)p->unlisted, (int)p->left_out);
}

/* Whether it is seen that not all is known. */
static bool lacks(void)
{
    return weft_reader_facts(reader)->promotion.lacks || model->losses.pending;
}

/* The wait is overwritten before P becomes Q, or with that, or begins after it, long or at once. */
static void waits_are_inherited(void **state)
{
    (void)state;
    weft_promise q[6], who[6], p[6];
    for (unsigned i = 0; i < 6; i++) {
        p[i] = create("bind");
        if (i == 5)
            go_round();
        q[i] = create("reply");
        who[i] = create("request");
        if (i < 3)
            weft_wait_by(who[i], p[i]);
        if (i == 1)
            go_round();
        weft_become(p[i], q[i]);
        if (i == 3)
            weft_wait_by(who[i], p[i]);
        if (i == 2)
            weft_should_resolve(p[i]);
    }
    go_round();
    weft_wait_by(who[4], p[4]);
    weft_wait_by(who[5], p[5]);
    for (unsigned laps = 0; laps < 3; laps++) { /* what is in the ring is said once, too */
        read_ring();
        for (unsigned i = 0; i < 6; i++)
            assert_waits(who[i], q[i]);
        assert_true(model->promise[weft_model_find(model, q[2])].should_resolve);
        assert_nothing_lacks();
        assert_int_equal(model->contradictions.resolved_twice, 0);
        read_copy();
        for (unsigned i = 0; i < 6; i++)
            assert_waits(who[i], q[i]);
        go_round();
    }
    for (unsigned i = 0; i < 6; i++)
        weft_fulfill(q[i]);
    read_ring();
    for (unsigned i = 0; i < 6; i++)
        assert_false(is_pending(q[i]) || is_pending(p[i]));
    go_round();
    read_ring();
    for (unsigned i = 0; i < 6; i++) {
        assert_true(is_pending(who[i]) && !is_pending(q[i]) && !is_pending(p[i]));
        assert_int_equal(count_waits(who[i], q[i]), 0);
    }
    assert_int_equal(weft_reader_facts(reader)->promotion.promises, 6);
    assert_nothing_lacks();
}

/* The waits are recorded in the packets of their promises, but after many others, which have ended. */
static void waits_begin_late(void **state)
{
    enum { COUNT = 12 };
    weft_promise who[COUNT], p[COUNT];
    (void)state;
    start_large();
    for (unsigned i = 0; i < COUNT; i++) {
        who[i] = create("request");
        p[i] = create("reply");
        for (unsigned others = 0; others < 150 + 20 * i; others++)
            weft_fulfill(create("other"));
        weft_wait_by(who[i], p[i]);
        for (unsigned others = 0; others < 200; others++)
            weft_fulfill(create("other"));
    }
    go_round();
    read_ring();
    for (unsigned i = 0; i < COUNT; i++)
        assert_waits(who[i], p[i]);
    assert_nothing_lacks();
}

/* … likewise what they become. */
static void becomes_late(void **state)
{
    enum { COUNT = 12 };
    weft_promise who[COUNT], p[COUNT], q[COUNT];
    (void)state;
    start_large();
    for (unsigned i = 0; i < COUNT; i++) {
        who[i] = create("request");
        p[i] = create("bind");
        q[i] = create("reply");
        weft_wait_by(who[i], p[i]);
        for (unsigned others = 0; others < 150 + 20 * i; others++)
            weft_fulfill(create("other"));
        weft_become(p[i], q[i]);
        for (unsigned others = 0; others < 200; others++)
            weft_fulfill(create("other"));
    }
    go_round();
    read_ring();
    for (unsigned i = 0; i < COUNT; i++)
        assert_waits(who[i], q[i]);
    assert_nothing_lacks();
}

/* One becomes the next, in any order of times. */
static void chains(void **state)
{
    enum { COUNT = 8 };
    weft_promise p[COUNT], back[COUNT], who = create("request"), other = create("request");
    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        p[i] = create("bind");
        back[i] = create("bind");
    }
    weft_wait_by(who, p[0]);
    weft_wait_by(other, back[0]);
    for (unsigned i = 0; i + 1 < COUNT; i++) {
        weft_become(p[i], p[i + 1]);
        weft_become(back[COUNT - 2 - i], back[COUNT - 1 - i]);
        if (i % 2)
            go_round();
    }
    go_round();
    read_ring();
    assert_waits(who, p[COUNT - 1]);
    assert_waits(other, back[COUNT - 1]);
    assert_nothing_lacks();
    weft_fulfill(p[COUNT - 1]);
    weft_fulfill(back[COUNT - 1]);
    go_round();
    read_ring();
    assert_int_equal(count_waits(who, p[COUNT - 1]) + count_waits(other, back[COUNT - 1]), 0);
    assert_int_equal(weft_reader_facts(reader)->promotion.promises, 2);
}

/* A circle is a bug of the program, and harms nobody. */
static void circles(void **state)
{
    weft_promise a = create("bind"), b = create("bind"), who = create("request");
    (void)state;
    weft_wait_by(who, a);
    weft_become(a, b);
    go_round();
    weft_become(b, a);
    weft_become(who, who);
    weft_become(b, WEFT_LOOP);
    go_round();
    weft_wait_by(create("request"), b);
    go_round();
    read_ring();
    read_copy();
}

/* As a loop in Lwt does: each turn's promise becomes the one of the loop, which stays pending. There is no room for all, and
 * none is needed. */
static void many_become_one(void **state)
{
    (void)state;
    weft_promise loop = create("bind"), who = create("request"), q = create("reply"),
                 p = create("bind"), late = create("request"), turn = 0, first = 0;
    weft_wait_by(who, p);
    weft_become(p, q);
    for (unsigned i = 0; i < 30000; i++) {
        turn = create("bind");
        first = first ? first : turn;
        weft_fulfill(create("other"));
        weft_become(turn, loop);
    }
    go_round();
    read_ring();
    assert_waits(who, q);
    assert_true(is_pending(loop));
    assert_nothing_lacks();
    /* Who waits for one of those that have been let go cannot be known; but that is. */
    weft_wait_by(late, first);
    read_ring();
    assert_true(count_waits(late, loop) == 1 || lacks());
    go_round();
    read_ring();
    assert_true(count_waits(late, loop) == 1 || lacks());
    weft_fulfill(late);
}

/* The same, while somebody waits for the first of a chain: the others of it are needed, too, though nobody waits for them. */
static void a_chain_among_many(void **state)
{
    enum { COUNT = 5 };
    (void)state;
    weft_promise loop = create("bind"), who = create("request"), p[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        p[i] = create("bind");
    weft_wait_by(who, p[0]);
    for (unsigned i = 0; i + 1 < COUNT; i++) {
        weft_become(p[i], p[i + 1]);
        go_round();
    }
    for (unsigned i = 0; i < 30000; i++) {
        weft_promise turn = create("bind");
        weft_fulfill(create("other"));
        weft_become(turn, loop);
    }
    go_round();
    read_ring();
    assert_waits(who, p[COUNT - 1]);
    assert_nothing_lacks();
}

/* They end soon, as most do: there is always room. */
static void short_lives(void **state)
{
    (void)state;
    weft_promise who = create("request"), q = create("reply"), p = create("bind");
    weft_wait_by(who, p);
    weft_become(p, q);
    for (unsigned i = 0; i < 60000; i++) {
        weft_promise a = create("bind"), b = create("bind"), w = create("task");
        weft_wait_by(w, a);
        weft_become(a, b);
        weft_fulfill(b);
        weft_fulfill(w);
    }
    read_ring();
    assert_waits(who, q);
    assert_nothing_lacks();
    go_round();
    read_ring();
    assert_waits(who, q);
    assert_nothing_lacks();
    assert_false(weft_reader_facts(reader)->promotion.let_go);
}

/* More wait than there is room for: each is there, or it is said that something is not. */
static void too_many(void **state)
{
    enum { COUNT = 6000 };
    static weft_promise who[COUNT], p[COUNT];
    unsigned there = 0;
    (void)state;
    weft_promise q = create("reply");
    for (unsigned i = 0; i < COUNT; i++) {
        who[i] = create("request");
        p[i] = create("bind");
        weft_wait_by(who[i], p[i]);
        weft_become(p[i], q);
    }
    go_round();
    read_ring();
    for (unsigned i = 0; i < COUNT; i++)
        there += count_waits(who[i], q);
    printf("%u of %u waits are there\n", there, (unsigned)COUNT);
    assert_true(there > 100 && there < COUNT);
    assert_true(weft_reader_facts(reader)->promotion.left_out +
                    weft_reader_facts(reader)->promotion.numbered >
                0);
    assert_true(lacks());
}

/* Many wait for one, more than its cell has room for. */
static void many_wait(void **state)
{
    enum { COUNT = 40 };
    weft_promise who[COUNT], p = create("bind"), q = create("reply");
    (void)state;
    weft_label(p, "a label");
    weft_notify(p);
    for (unsigned i = 0; i < COUNT; i++) {
        who[i] = create("request");
        weft_wait_by(who[i], p);
        if (i == COUNT / 2)
            weft_become(p, q);
        if (i % 15 == 0)
            go_round();
    }
    weft_notify(p);
    go_round();
    read_ring();
    for (unsigned i = 0; i < COUNT; i++)
        assert_waits(who[i], q);
    assert_nothing_lacks();
}

#define BOTH(test)                                                                                 \
    cmocka_unit_test_prestate_setup_teardown(test, start, end, NULL),                              \
    {                                                                                              \
        "own_" #test, test, start, end, &own                                                       \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(waits_are_inherited),
        BOTH(waits_begin_late),
        BOTH(becomes_late),
        BOTH(chains),
        BOTH(circles),
        BOTH(many_become_one),
        BOTH(a_chain_among_many),
        BOTH(short_lives),
        BOTH(too_many),
        BOTH(many_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
