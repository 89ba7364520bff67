/* SPDX-License-Identifier: ISC */
/* What the model is packed into: numbers that are nearly too large, and what shares its place with something
 * else while events are read. */
#include <inttypes.h>

#include "base/array.h"
#include "model/build.h"
#include "base/idmap.h"
#include "model/model.h"
#include "trace.h"

static const struct weft_promise *promise(const struct weft_model *m, uint64_t id)
{
    uint32_t p = weft_model_find(m, id);
    assert_int_not_equal(p, WEFT_NONE);
    return &m->promise[p];
}

/* ---- Room ---- */

TEST(records_are_small)
{
    assert_true(sizeof(struct weft_promise) <= 56);
    assert_int_equal(sizeof(struct weft_interaction), 20);
    assert_int_equal(sizeof(struct weft_label), 20);
    assert_int_equal(sizeof(struct weft_run), 20);
}

TEST(numbers_keep_all_their_bits)
{
    const uint32_t last = WEFT_PROMISES_MAX - 1;
    struct weft_interaction x = {.time_ns = -WEFT_TIME_MAX,
                                 .actor = last & (WEFT_PROMISES_MAX - 1),
                                 .other = 1,
                                 .kind = WEFT_NOTIFIES,
                                 .next = WEFT_NONE};
    assert_true(x.actor == last && x.other == 1 && x.kind == WEFT_NOTIFIES && !x.replaced);
    x.other = x.actor;
    x.actor = 0;
    x.replaced = true;
    assert_true(x.actor == 0 && x.other == last && x.kind == WEFT_NOTIFIES && x.replaced);
    assert_true(x.time_ns == -WEFT_TIME_MAX && x.next == WEFT_NONE);
    struct weft_label l = {.what = WEFT_TEXTS_MAX, .next = WEFT_NONE};
    assert_true(l.what == WEFT_TEXTS_MAX && !l.is_change);
    l.is_change = true;
    assert_true(l.what == WEFT_TEXTS_MAX && l.promise == 0);
    struct weft_promise p = {.place = MODEL_NO_PLACE};
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++) {
        p.outcome = o & 7u;
        assert_true(p.outcome == o && p.place == MODEL_NO_PLACE && !p.created && !p.simplified);
    }
}

/* A builder that has as many promises as there can be, or nearly. */
TEST(too_many_promises)
{
    struct weft_error err = {0};
    struct weft_model m = {.promises = WEFT_PROMISES_MAX};
    struct weft_builder b = {.m = &m, .err = &err};
    uint32_t p;
    assert_int_equal(model_add_promise(&b, 1, WEFT_ROOT, 0, 0, &p), WEFT_E_LIMIT);
    assert_string_equal(err.text, "has more than 1073741823 promises; look at a part of it");
}

TEST(too_many_texts)
{
    struct weft_error err = {0};
    struct weft_model m = {0};
    struct weft_builder b = {.m = &m, .err = &err};
    assert_int_equal(model_add_label(&b, 1, 0, false, WEFT_TEXTS_MAX, WEFT_NONE), 0);
    assert_int_equal(model_add_label(&b, 1, 0, false, WEFT_TEXTS_MAX + 1, WEFT_NONE), WEFT_E_LIMIT);
    assert_string_equal(err.text, "has more than 2147483647 texts; look at a part of it");
    assert_int_equal(model_add_label(&b, 1, 0, true, WEFT_TEXTS_MAX + 1, WEFT_NONE), WEFT_E_LIMIT);
    assert_string_equal(err.text, "has more than 2147483647 counter changes; look at a part of it");
    assert_int_equal(m.labels, 1);
    free(m.label);
}

/* The last number means none. */
TEST(no_room)
{
    struct weft_error err;
    struct weft_builder b = {.err = &err};
    assert_int_equal(model_no_room(&b, WEFT_NONE - 2, "promises"), WEFT_E_NOMEM);
    assert_int_equal(model_no_room(&b, WEFT_NONE - 1, "promises"), WEFT_E_LIMIT);
}

TEST(sizes_do_not_wrap)
{
    assert_null(weft_resize(NULL, UINT64_MAX, 1));
    assert_null(weft_resize(NULL, UINT64_MAX / 8 + 2, 8));
    assert_null(weft_resize(NULL, (uint64_t)PTRDIFF_MAX / 16 + 1, 16));
    uint32_t room = 0, *array = NULL;
    assert_true(model_grow(&array, 0, &room, sizeof *array) && room >= 1);
    assert_false(model_grow(&array, WEFT_NONE - 1, &(uint32_t){WEFT_NONE - 1}, sizeof *array));
    free(array);
}

/* ---- Numbers of promises ---- */

static void put(struct weft_idmap *map, uint64_t id, uint32_t value)
{
    assert_true(weft_idmap_put(map, id, value));
    assert_int_equal(weft_idmap_get(map, id), value);
    assert_int_equal(weft_idmap_seek(map, id), value);
}

TEST(ids_in_any_order)
{
    struct weft_idmap *map = weft_idmap_new();
    assert_int_equal(weft_idmap_get(map, 0), WEFT_IDMAP_NONE);
    assert_int_equal(weft_idmap_seek(map, 0), WEFT_IDMAP_NONE);
    put(map, 5, 0); /* the first of its block would be -5 */
    assert_int_equal(weft_idmap_get(map, 4), WEFT_IDMAP_NONE);
    assert_int_equal(weft_idmap_get(map, 6), WEFT_IDMAP_NONE);
    put(map, 6, 1);
    put(map, 4, 2); /* out of order */
    put(map, UINT64_MAX, 3);
    put(map, UINT64_MAX - 1, 4);
    for (uint64_t id = 1000; id-- > 100;)
        put(map, id * 3, (uint32_t)id);
    for (uint64_t id = 100; id < 1000; id++) {
        assert_int_equal(weft_idmap_get(map, id * 3), id);
        assert_int_equal(weft_idmap_get(map, id * 3 + 1), WEFT_IDMAP_NONE);
    }
    assert_int_equal(weft_idmap_get(map, 4), 2);
    assert_int_equal(weft_idmap_get(map, 5), 0);
    assert_int_equal(weft_idmap_get(map, 6), 1);
    assert_int_equal(weft_idmap_get(map, 7), WEFT_IDMAP_NONE);
    assert_int_equal(weft_idmap_get(map, UINT64_MAX), 3);
    assert_int_equal(weft_idmap_get(map, UINT64_MAX - 1), 4);
    weft_idmap_free(map);
}

TEST(values_change_and_go)
{
    struct weft_idmap *map = weft_idmap_new();
    for (uint32_t id = 0; id < 64; id++)
        put(map, id, id + 7);
    put(map, 20, 1);
    put(map, 21, WEFT_IDMAP_NONE);
    *weft_idmap_at(map, 40) = 2;
    assert_int_equal(*weft_idmap_at(map, 41), 48);
    assert_int_equal(*weft_idmap_at(map, 64), WEFT_IDMAP_NONE);
    for (uint32_t id = 0; id < 64; id++)
        assert_int_equal(weft_idmap_get(map, id), id == 20   ? 1
                                                  : id == 21 ? WEFT_IDMAP_NONE
                                                  : id == 40 ? 2
                                                             : id + 7);
    weft_idmap_free(map);
}

/* ---- What shares its place ---- */

TEST(why_it_failed_and_what_it_became)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, LOOP, 3, TASK),
              creates(0, LOOP, 4, TASK), fails(5, LOOP, 1, "why"), fails(6, LOOP, 2, "first"),
              becomes(7, 2, 3), becomes(8, 3, 4));
    uint32_t last = weft_model_find(m, 4);
    assert_string_equal(weft_model_text(m, weft_model_reason(m, weft_model_find(m, 1)), NULL),
                        "why");
    for (uint64_t id = 2; id <= 4; id++) {
        assert_int_equal(weft_model_reason(m, weft_model_find(m, id)), WEFT_NONE);
        assert_int_equal(weft_model_final(m, weft_model_find(m, id)), last);
    }
    assert_int_equal(promise(m, 2)->becomes, weft_model_find(m, 3));
    assert_int_equal(promise(m, 3)->becomes, last);
    assert_int_equal(m->contradictions.resolved_twice, 1);
    assert_int_equal(weft_model_origin(m, last), WEFT_NONE); /* there are none */
    weft_model_free(m);
}

/* A promise with nothing but checks and children, whose traces lie where chains will be. */
TEST(signs_of_life_leave_no_trace)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(10, 1, 2, TASK), try_read(30, 2, 1),
              creates(UINT64_C(1) << 40, 1, 3, TASK), creates(5, LOOP, 4, TASK));
    const struct weft_promise *p = promise(m, 1);
    assert_int_equal(p->end_ns, INT64_C(1) << 40);
    assert_int_equal(p->first_label, WEFT_NONE);
    assert_int_equal(p->first_run, WEFT_NONE);
    assert_int_equal(p->first_interaction, WEFT_NONE);
    assert_false(p->simplified);
    assert_int_equal(promise(m, 4)->end_ns, 5);
    assert_int_equal(promise(m, 2)->end_ns, 30);
    weft_model_free(m);
}

/* The chains are made in the end; in the order of recording, whatever the times. */
TEST(chains_are_in_the_order_of_recording)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), label(30, 1, "a"),
              label(40, 2, "x"), label(20, 1, "b"), increases(10, 1, 5, "c"), label(50, 1, "d"),
              try_read(60, 1, 2), try_read(61, 1, 2), reads(62, 1, 2), try_read(63, 1, 2));
    static const char *const wanted[] = {"a", "b", "c+5", "d"};
    char text[16];
    uint32_t n = 0;
    for (uint32_t l = promise(m, 1)->first_label; l != WEFT_NONE; l = m->label[l].next) {
        weft_model_label_text(m, &m->label[l], text, sizeof text);
        assert_true(n < COUNT(wanted));
        assert_string_equal(text, wanted[n++]);
    }
    assert_int_equal(n, COUNT(wanted));
    static const uint8_t kinds[] = {WEFT_WAITS, WEFT_READS, WEFT_WAITS};
    n = 0;
    for (uint32_t i = promise(m, 1)->first_interaction; i != WEFT_NONE; i = m->interaction[i].next)
        assert_true(n < COUNT(kinds) && m->interaction[i].kind == kinds[n++]);
    assert_int_equal(n, COUNT(kinds));
    assert_true(m->interaction[1].replaced && !m->interaction[0].replaced);
    assert_int_equal(m->interaction[1].time_ns, 61);
    weft_model_free(m);
}

/* A mark counts for what the promise has become by then, and becomes later. */
TEST(a_mark_follows)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, LOOP, 3, TASK),
              creates(0, LOOP, 4, TASK), becomes(1, 1, 2), label(2, 1, "__should_resolve"),
              becomes(3, 2, 3), becomes(4, 3, 4), switches(90, LOOP));
    assert_false(promise(m, 1)->should_resolve);
    assert_true(promise(m, 2)->should_resolve);
    assert_false(promise(m, 3)->should_resolve);
    assert_true(promise(m, 4)->should_resolve);
    assert_int_equal(promise(m, 4)->end_ns, 90);
    weft_model_free(m);
}

RUN_TESTS(NULL, NULL)
