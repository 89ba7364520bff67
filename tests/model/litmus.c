/* SPDX-License-Identifier: ISC */
#include "litmus.h"

#include <stdint.h>

#include "host.h"

static uint64_t x, y, plain;
static uint64_t a, b, c, d; /* what was seen; these are nobody's shared memory */

static void set_up(void)
{
    begin_recording(3);
    x = y = plain = 0;
    host_variable(&x, sizeof x, "x");
    host_variable(&y, sizeof y, "y");
    host_variable(&plain, sizeof plain, "plain");
}

#define STORE(to, value, order) __atomic_store_n(&(to), value, __ATOMIC_##order)
#define LOAD(from, order) __atomic_load_n(&(from), __ATOMIC_##order)
#define FENCE(order) __atomic_thread_fence(__ATOMIC_##order)

/* A message: x, then y says that it is there. */
#define MESSAGE(name, before, order_y, order_read, after)                                          \
    static void name##_send(void)                                                                  \
    {                                                                                              \
        STORE(x, 1, RELAXED);                                                                      \
        before;                                                                                    \
        STORE(y, 1, order_y);                                                                      \
    }                                                                                              \
    static void name##_take(void)                                                                  \
    {                                                                                              \
        a = LOAD(y, order_read);                                                                   \
        after;                                                                                     \
        b = LOAD(x, RELAXED);                                                                      \
    }
MESSAGE(relaxed, , RELAXED, ACQUIRE, )
MESSAGE(unread, , RELEASE, RELAXED, )
MESSAGE(ordered, , RELEASE, ACQUIRE, )
MESSAGE(fenced, FENCE(RELEASE), RELAXED, RELAXED, FENCE(ACQUIRE))
MESSAGE(half_fenced, FENCE(RELEASE), RELAXED, RELAXED, )

static void no_message(void)
{
    if (a == 1 && b == 0)
        fail("the message is not there");
}

/* A message in memory that is not atomic: a race, unless it is ordered. */
static void plain_send(void)
{
    plain = 1;
    STORE(y, 1, RELEASE);
}

static void plain_take(void)
{
    if (LOAD(y, ACQUIRE))
        a = plain;
}

static void plain_take_early(void)
{
    if (LOAD(y, RELAXED))
        a = plain;
}

/* Both store, then look at the other's. */
#define BUFFER(name, order, between)                                                               \
    static void name##_one(void)                                                                   \
    {                                                                                              \
        STORE(x, 1, order);                                                                        \
        between;                                                                                   \
        a = LOAD(y, order);                                                                        \
    }                                                                                              \
    static void name##_two(void)                                                                   \
    {                                                                                              \
        STORE(y, 1, order);                                                                        \
        between;                                                                                   \
        b = LOAD(x, order);                                                                        \
    }
BUFFER(buffer, RELAXED, )
BUFFER(buffer_fenced, RELAXED, FENCE(SEQ_CST))
BUFFER(buffer_weakly, RELAXED, FENCE(ACQ_REL))
BUFFER(buffer_total, SEQ_CST, )

static void none_saw(void)
{
    if (!a && !b)
        fail("neither has seen the other's");
}

/* Two loads of one location. */
static void store_twice(void)
{
    STORE(x, 1, RELAXED);
    STORE(x, 2, RELAXED);
}

static void load_twice(void)
{
    a = LOAD(x, RELAXED);
    b = LOAD(x, RELAXED);
}

static void backwards(void)
{
    if (a > b)
        fail("a location goes backwards");
}

/* Two stores by two threads, seen in opposite orders by two more. */
static void store_x(void)
{
    STORE(x, 1, RELEASE);
}

static void store_y(void)
{
    STORE(y, 1, RELEASE);
}

static void load_x_y(void)
{
    a = LOAD(x, ACQUIRE);
    b = LOAD(y, ACQUIRE);
}

static void load_y_x(void)
{
    c = LOAD(y, ACQUIRE);
    d = LOAD(x, ACQUIRE);
}

static void opposite(void)
{
    if (a && !b && c && !d)
        fail("two threads have seen two stores in opposite orders");
}

/* A read-modify-write in between carries on what a release store said. */
static void add(void)
{
    __atomic_fetch_add(&y, 1, __ATOMIC_RELAXED);
}

static void take_of_two(void)
{
    a = LOAD(y, ACQUIRE) == 2;
    b = LOAD(x, RELAXED);
}

#define U UNLIMITED
#define TEST(name, one, two, wrong, may)                                                           \
    {                                                                                              \
        {name, set_up, {one, two}, wrong, U, U, NO_KILL}, may                                      \
    }

const struct litmus litmus[] = {
    TEST("message, relaxed", relaxed_send, relaxed_take, no_message, true),
    TEST("message, no acquire", unread_send, unread_take, no_message, true),
    TEST("message, ordered", ordered_send, ordered_take, no_message, false),
    TEST("message, fences", fenced_send, fenced_take, no_message, false),
    TEST("message, one fence", half_fenced_send, half_fenced_take, no_message, true),
    TEST("plain, ordered", plain_send, plain_take, NULL, false),
    TEST("plain, race", plain_send, plain_take_early, NULL, true),
    TEST("buffer", buffer_one, buffer_two, none_saw, true),
    TEST("buffer, fences", buffer_fenced_one, buffer_fenced_two, none_saw, false),
    TEST("buffer, weak fences", buffer_weakly_one, buffer_weakly_two, none_saw, true),
    TEST("buffer, seq_cst", buffer_total_one, buffer_total_two, none_saw, false),
    TEST("one location", store_twice, load_twice, backwards, false),
    {{"carried on", set_up, {ordered_send, add, take_of_two}, no_message, U, U, NO_KILL}, false},
    {{"opposite orders", set_up, {store_x, store_y, load_x_y, load_y_x}, opposite, U, U, NO_KILL},
     true},
};
const unsigned litmus_count = sizeof litmus / sizeof *litmus;
