/* SPDX-License-Identifier: ISC */
/* The bottom floor: arrays, searching and sorting, hashing, numbers as text and back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/duration.h"
#include "base/greatest.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/order.h"
#include "base/table.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define US INT64_C(1000)
#define MS (1000 * US)
#define S (1000 * MS)

/* ---- The greatest few ---- */

TEST(the_greatest_few_of_many)
{
    struct weft_greatest g = {.room = 3};
    for (uint32_t i = 0; i < 7; i++) {
        const int64_t value[] = {-4, 5, 5, INT64_MAX, 5, INT64_MIN, 6};
        const int64_t second[] = {9, 1, 2, 0, 2, 0, -1};
        weft_greatest_add(&g, i, value[i], second[i]);
        assert_int_equal(g.count, i < 2 ? i + 1 : 3);
    }
    assert_int_equal(g.item[0], 3);
    assert_int_equal(g.item[1], 6);
    assert_int_equal(g.item[2], 2); /* before 1 by its second value; before 4, which came later */
    assert_int_equal(g.value[2], 5);
    assert_int_equal(g.second[2], 2);
    struct weft_greatest one = {.room = 1};
    weft_greatest_add(&one, 7, 1, 0);
    weft_greatest_add(&one, 8, 1, 0);
    assert_int_equal(one.item[0], 7);
    weft_greatest_add(&one, 9, 1, 1);
    assert_int_equal(one.item[0], 9);
    assert_int_equal(one.count, 1);
}

/* ---- Arrays ---- */

TEST(arrays_grow)
{
    uint16_t *item = NULL;
    uint32_t room = 0, grown = 0;
    for (uint32_t used = 0; used < 1000; used++) {
        const uint32_t before = room;
        assert_true(weft_reserve(&item, used, &room, sizeof *item));
        assert_true(room > used);
        grown += room != before;
        item[used] = (uint16_t)used;
    }
    assert_in_range(grown, 2, 15); /* by half: not each time */
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(item[i], i);

    uint16_t *const there = item;
    const uint32_t had = room;
    assert_true(weft_reserve_all(&item, room, &room, sizeof *item)); /* there is room already */
    assert_int_equal(room, had);
    assert_false(weft_reserve_all(&item, UINT64_C(1) << 32, &room, sizeof *item));
    assert_false(weft_reserve_all(&item, UINT64_MAX, &room, sizeof *item));
    assert_false(weft_reserve(&item, UINT32_MAX, &room, sizeof *item));
    assert_false(weft_reserve_all(&item, UINT32_MAX, &room, SIZE_MAX / 2)); /* it does not fit */
    assert_ptr_equal(item, there);
    assert_int_equal(room, had);
    assert_int_equal(item[999], 999);
    assert_true(weft_reserve_all(&item, 5000, &room, sizeof *item));
    assert_int_equal(room, 5000);
    assert_int_equal(item[999], 999);
    free(item);
}

TEST(items_are_reached)
{
    uint16_t *item = NULL;
    uint32_t room = 0;
    assert_true(weft_reach(&item, 7, &room, sizeof *item, 0));
    assert_true(room > 7);
    memset(item, 1, room * sizeof *item);
    const uint32_t before = room;
    assert_true(weft_reach(&item, before - 1, &room, sizeof *item, 0xff)); /* it is there already */
    assert_int_equal(room, before);
    assert_true(weft_reach(&item, 1000, &room, sizeof *item, 0xff));
    for (uint32_t i = 0; i < room; i++)
        assert_int_equal(item[i], i < before ? 0x0101 : 0xffff);
    assert_false(weft_reach(&item, UINT32_MAX, &room, sizeof *item, 0));
    assert_int_equal(item[1000], 0xffff);
    free(item);
}

TEST(sizes_that_do_not_fit_are_no_memory)
{
    assert_null(weft_resize(NULL, UINT64_MAX, 1));
    assert_null(weft_resize(NULL, UINT64_MAX / 8 + 2, 8)); /* 8 bytes if it wrapped around */
    assert_null(weft_resize(NULL, (uint64_t)PTRDIFF_MAX / 8 + 1, 8));
    char *none = weft_resize(NULL, 0, 8);
    assert_non_null(none);
    memset(none, 1, 8);
    none = weft_resize(none, 100, 1);
    assert_non_null(none);
    assert_int_equal(none[7], 1);
    free(none);
}

/* ---- Searching and sorting ---- */

static uint32_t seek(const uint32_t *sorted, uint32_t items, uint32_t wanted)
{
    uint32_t low = 0, high = items;
    WEFT_SEEK(low, high, sorted[middle] < wanted);
    return low;
}

TEST(seek_finds_the_first_place)
{
    uint32_t sorted[40];
    for (uint32_t items = 0; items <= COUNT(sorted); items++) {
        for (uint32_t i = 0; i < items; i++)
            sorted[i] = 10 + 2 * (i / 3); /* each of them three times */
        for (uint32_t wanted = 0; wanted < 50; wanted++) {
            uint32_t expected = 0;
            while (expected < items && sorted[expected] < wanted)
                expected++;
            assert_int_equal(seek(sorted, items, wanted), expected);
        }
        assert_int_equal(seek(sorted, items, 0), 0);
        assert_int_equal(seek(sorted, items, UINT32_MAX), items);
    }

    /* The middle of two large numbers does not overflow, and neither end need be 0. */
    uint64_t low = UINT64_MAX - 9, high = UINT64_MAX;
    WEFT_SEEK(low, high, middle < UINT64_MAX - 2);
    assert_true(low == UINT64_MAX - 2);
    int64_t from = INT64_MIN / 2, to = INT64_MAX / 2;
    WEFT_SEEK(from, to, middle < -7);
    assert_int_equal(from, -7);
}

struct two {
    int64_t first;
    uint64_t second;
};

static int by_both(const void *a, const void *b)
{
    const struct two *x = a, *y = b;
    WEFT_ORDER(x->first, y->first);
    return weft_order(x->second, y->second);
}

TEST(orders)
{
    const uint64_t none = 0;
    assert_true(weft_order(INT64_MIN, INT64_MAX) < 0);
    assert_true(weft_order(INT64_MAX, INT64_MIN) > 0);
    assert_int_equal(weft_order(-1, -1), 0);
    assert_true(weft_order(-1, 1) < 0);
    assert_true(weft_order(UINT64_MAX, UINT64_C(1)) > 0);
    assert_true(weft_order(none, UINT64_MAX) < 0);
    assert_int_equal(weft_order(UINT64_MAX, UINT64_MAX), 0);

    struct two item[] = {{1, 0}, {-1, UINT64_MAX}, {-1, 3}, {1, 0}, {INT64_MIN, 5}};
    qsort(item, COUNT(item), sizeof *item, by_both);
    for (size_t i = 1; i < COUNT(item); i++)
        assert_true(item[i - 1].first < item[i].first ||
                    (item[i - 1].first == item[i].first && item[i - 1].second <= item[i].second));

    uint32_t small[] = {3, UINT32_MAX, 0, 0x80000000u};
    uint64_t large[] = {UINT64_MAX, 2, UINT64_C(1) << 63};
    int64_t both[] = {1, INT64_MIN, 0, INT64_MAX, -1};
    qsort(small, COUNT(small), sizeof *small, weft_order_u32);
    qsort(large, COUNT(large), sizeof *large, weft_order_u64);
    qsort(both, COUNT(both), sizeof *both, weft_order_i64);
    for (size_t i = 1; i < COUNT(small); i++)
        assert_true(small[i - 1] < small[i]);
    for (size_t i = 1; i < COUNT(large); i++)
        assert_true(large[i - 1] < large[i]);
    for (size_t i = 1; i < COUNT(both); i++)
        assert_true(both[i - 1] < both[i]);
}

/* ---- Time and hashing ---- */

TEST(the_clock_does_not_go_back)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    const int64_t now = weft_monotonic_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(now >= before.tv_sec * S + before.tv_nsec);
    assert_true(now <= after.tv_sec * S + after.tv_nsec);
}

TEST(hashes_differ)
{
    const uint64_t seed = weft_seed();
    assert_true(seed != weft_seed());
    assert_true(weft_hash(WEFT_HASH_BEGIN, "foobar", 6) ==
                UINT64_C(0x85944171f73967e8)); /* FNV's own */
    assert_true(weft_hash(weft_hash(WEFT_HASH_BEGIN, "foo", 3), "bar", 3) ==
                UINT64_C(0x85944171f73967e8));
    unsigned low = 0, high = 0;
    for (uint64_t i = 0; i < 64; i++) {
        const uint64_t differs = weft_mix(0, seed) ^ weft_mix(UINT64_C(1) << i, seed);
        low += (differs & 0xff) != 0;
        high += (differs >> 56) != 0;
        assert_true(differs != 0);
        assert_true(weft_mix(i, seed) == weft_mix(i, seed));
        assert_true(weft_mix(i, 1) != weft_mix(i, 2));
    }
    assert_true(low > 32 && high > 32); /* each bit reaches both ends */
}

TEST(ids_are_found)
{
    enum { IDS = 3000 };
    struct weft_idmap *map = weft_idmap_new();
    assert_non_null(map);
    assert_true(weft_idmap_get(map, 7) == WEFT_IDMAP_NONE);
    assert_true(weft_idmap_seek(map, 7) == WEFT_IDMAP_NONE);
    for (uint32_t i = 0; i < IDS; i++) { /* neighbours, multiples, high bits, values out of order */
        assert_true(weft_idmap_put(map, i, i));
        assert_true(weft_idmap_put(map, UINT64_MAX - UINT64_C(1000003) * i, IDS - i));
    }
    *weft_idmap_at(map, UINT64_C(1) << 40) = 5;
    for (uint32_t i = 0; i < IDS; i++) {
        assert_int_equal(weft_idmap_get(map, i), i);
        assert_int_equal(weft_idmap_seek(map, UINT64_MAX - UINT64_C(1000003) * i), IDS - i);
    }
    assert_int_equal(weft_idmap_get(map, UINT64_C(1) << 40), 5);
    assert_true(weft_idmap_get(map, (UINT64_C(1) << 40) + 1) == WEFT_IDMAP_NONE);
    assert_true(
        weft_idmap_put(map, 4, 99)); /* another value, outside of the row of its neighbours */
    assert_int_equal(weft_idmap_get(map, 4), 99);
    assert_int_equal(weft_idmap_get(map, 5), 5);
    weft_idmap_free(map);
    weft_idmap_free(NULL);
}

static uint64_t all_alike(const void *array, uint32_t item, uint64_t seed)
{
    (void)array, (void)item;
    return seed;
}

static uint64_t by_itself(const void *array, uint32_t item, uint64_t seed)
{
    return weft_mix(((const uint64_t *)array)[item], seed);
}

static bool is_number(const void *array, uint32_t item, const void *key)
{
    return ((const uint64_t *)array)[item] == *(const uint64_t *)key;
}

TEST(tables_find_what_was_put)
{
    enum { ITEMS = 700 };
    weft_hash_fn *const hashes[] = {by_itself, all_alike}; /* the worst: all in one row */
    static uint64_t item[ITEMS];
    for (unsigned h = 0; h < 2; h++) {
        struct weft_table t = {0};
        for (uint32_t i = 0; i < ITEMS; i++) {
            item[i] = i * UINT64_C(0x100000001);
            assert_true(weft_table_reserve(&t, item, i, hashes[h], 7));
            assert_true(t.room >= 2 * (i + 1));
            uint32_t *slot = weft_table_find(&t, hashes[h](item, i, 7), is_number, item, &item[i]);
            assert_int_equal(*slot, 0);
            *slot = i + 1;
        }
        for (uint32_t i = 0; i < ITEMS; i++)
            assert_int_equal(*weft_table_find(&t, hashes[h](item, i, 7), is_number, item, &item[i]),
                             i + 1);
        weft_table_drop(&t);
        assert_null(t.slot);
        assert_true(weft_table_reserve(&t, item, ITEMS, hashes[h], 7)); /* entered again */
        assert_int_equal(*weft_table_find(&t, hashes[h](item, 99, 7), is_number, item, &item[99]),
                         100);
        weft_table_drop(&t);
    }
}

TEST(tables_keep_each_once)
{
    struct weft_table t = {0};
    uint64_t *item = NULL;
    uint32_t items = 0, room = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        const uint64_t key = i * i % 1009; /* each of the 505 squares several times */
        const uint32_t before = items;
        const uint32_t at =
            weft_table_put(&t, &item, &items, &room, sizeof *item, by_itself, is_number, &key, 7);
        assert_true(at < items && item[at] == key);
        assert_true(items == before || (items == before + 1 && at == before));
    }
    assert_int_equal(items, 505);
    weft_table_drop(&t);
    free(item);
}

/* ---- Counts and sizes ---- */

TEST(counts)
{
    static const struct {
        uint64_t n;
        const char *whole, *brief;
    } cases[] = {
        {0, "0", "0"},
        {9, "9", "9"},
        {999, "999", "999"},
        {1000, "1,000", "1,000"},
        {12345, "12,345", "12,345"},
        {999999, "999,999", "999,999"},
        {1000000, "1,000,000", "1.00 M"},
        {9994999, "9,994,999", "9.99 M"},
        {9995000, "9,995,000", "10.0 M"},
        {99950000, "99,950,000", "100 M"},
        {999499999, "999,499,999", "999 M"},
        {999500000, "999,500,000", "1.00 G"},
        {UINT64_C(2410000000000), "2,410,000,000,000", "2.41 T"},
        {UINT64_C(3000000000000000), "3,000,000,000,000,000", "3.00 P"},
        {UINT64_MAX, "18,446,744,073,709,551,615", "18.4 E"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(weft_count(cases[i].n).text, cases[i].whole);
        assert_string_equal(weft_count_short(cases[i].n).text, cases[i].brief);
    }
    assert_string_equal(weft_plural(0), "s");
    assert_string_equal(weft_plural(1), "");
    assert_string_equal(weft_plural(2), "s");
    assert_string_equal(weft_plural(UINT64_MAX), "s");
}

TEST(counts_back)
{
    uint64_t n;
    assert_true(weft_parse_count("0", 0, &n) && n == 0);
    assert_true(weft_parse_count("007", 10, &n) && n == 7);
    assert_true(weft_parse_count("10", 10, &n) && n == 10);
    assert_false(weft_parse_count("11", 10, &n));
    assert_true(weft_parse_count("18446744073709551615", UINT64_MAX, &n) && n == UINT64_MAX);
    static const char *const wrong[] = {"",
                                        " 1",
                                        "1 ",
                                        "-1",
                                        "+1",
                                        "1,000",
                                        "0x1",
                                        "1.",
                                        "/",
                                        ":",
                                        "18446744073709551616",
                                        "99999999999999999999",
                                        "100000000000000000000000000000000000000"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(weft_parse_count(wrong[i], UINT64_MAX, &n));
    assert_true(weft_parse_digits("123x", 3, UINT64_MAX, &n) && n == 123);
    assert_false(weft_parse_digits("123x", 4, UINT64_MAX, &n));
    assert_false(weft_parse_digits("123", 0, UINT64_MAX, &n));
    int64_t i;
    assert_true(weft_parse_signed("-12x", 3, -12, 0, &i) && i == -12);
    assert_true(weft_parse_signed("9223372036854775807", 19, 0, INT64_MAX, &i) && i == INT64_MAX);
    assert_false(weft_parse_signed("-13", 3, -12, 0, &i));
    assert_false(weft_parse_signed("1", 1, -12, 0, &i));
    assert_false(weft_parse_signed("9223372036854775808", 19, 0, INT64_MAX, &i));
    assert_false(weft_parse_signed("-", 1, -12, 0, &i));
    assert_false(weft_parse_signed("--1", 3, -12, 0, &i));
}

TEST(sizes)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},
        {10239, "10239 bytes"},
        {10240, "10 KiB"},
        {(10 << 20) - 1, "10239 KiB"},
        {64 << 20, "64 MiB"},
        {UINT64_C(10) << 30, "10 GiB"},
        {UINT64_C(5) << 40, "5120 GiB"},
        {UINT64_MAX, "16777215 TiB"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(weft_size(cases[i].bytes).text, cases[i].text);

    static const struct {
        const char *text;
        uint64_t bytes;
    } back[] = {
        {"0", 0},
        {"65536", 65536},
        {"64K", 65536},
        {"64k", 65536},
        {"64KB", 65536},
        {"64KiB", 65536},
        {"3M", 3 << 20},
        {"3mB", 3 << 20},
        {"1GiB", 1 << 30},
        {"2t", UINT64_C(2) << 40},
        {"16777215T", UINT64_C(16777215) << 40},
        {"16777216T", UINT64_MAX},
        {"18446744073709551615", UINT64_MAX},
    };
    uint64_t n;
    for (size_t i = 0; i < COUNT(back); i++) {
        assert_true(weft_parse_size(back[i].text, &n));
        assert_true(n == back[i].bytes);
    }
    static const char *const wrong[] = {
        "",     "K",     "KiB",  "1X", "1 K",    "-1", "1Kb",
        "1KIB", "1KiBs", "1.5M", "1B", "1bytes", "1@", "18446744073709551616"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(weft_parse_size(wrong[i], &n));
}

/* ---- Durations ---- */

TEST(durations)
{
    static const struct {
        int64_t ns;
        const char *text, *narrow, *moment;
    } cases[] = {
        {0, "0 ns", "0ns", "0 ns"},
        {1, "1 ns", "1ns", "1 ns"},
        {999, "999 ns", "999ns", "999 ns"},
        {1000, "1 µs", "1.00µs", "1 µs"},
        {1234, "1.23 µs", "1.23µs", "1.234 µs"},
        {1235, "1.24 µs", "1.24µs", "1.235 µs"},
        {9994, "9.99 µs", "9.99µs", "9.994 µs"},
        {9995, "10 µs", "10.0µs", "9.995 µs"},
        {99949, "99.9 µs", "99.9µs", "99.949 µs"},
        {99950, "100 µs", "100µs", "99.95 µs"},
        {999499, "999 µs", "999µs", "999.499 µs"},
        {999500, "1 ms", "1.00ms", "999.5 µs"},
        {999600, "1 ms", "1.00ms", "999.6 µs"},
        {-8213000, "-8.21 ms", "-8.21ms", "-8.213 ms"},
        {39912345, "39.9 ms", "39.9ms", "39.912 ms"},
        {999499999, "999 ms", "999ms", "999.499 ms"},
        {999500000, "1 s", "1.00s", "999.5 ms"},
        {1408291159, "1.41 s", "1.41s", "1.408291 s"},
        {1500000000, "1.5 s", "1.50s", "1.5 s"},
        {120 * S, "120 s", "120s", "120 s"},
        {600 * S - 1, "600 s", "600s", "599.999999 s"},
        {600 * S, "10 min", "10.0min", "600 s"},
        {754 * S, "12.6 min", "12.6min", "754 s"},
        {3600 * S - 1, "60 min", "60.0min", "3599.999999 s"},
        {3600 * S, "1 h", "1.00h", "3600 s"},
        {12240 * S, "3.4 h", "3.40h", "12240 s"},
        {86400 * S - 1, "24 h", "24.0h", "86399.999999 s"},
        {86400 * S, "1 d", "1.00d", "86400 s"},
        {1000 * 86400 * S, "1000 d", "1000d", "86400000 s"},
        {INT64_MAX, "106752 d", "106752d", "9223372036.854775 s"},
        {INT64_MIN, "-106752 d", "-106752d", "-9223372036.854775 s"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(weft_duration(cases[i].ns).text, cases[i].text);
        assert_string_equal(weft_duration_narrow(cases[i].ns).text, cases[i].narrow);
        assert_string_equal(weft_moment(cases[i].ns).text, cases[i].moment);
    }
}

TEST(axis_times)
{
    static const struct {
        int64_t ns, step_ns, far_ns;
        const char *text;
    } cases[] = {
        {0, 1, 1, "0 ns"},
        {646500 * US, 500 * US, 800 * MS, "646.5 ms"},
        {646 * MS, 500 * US, 800 * MS, "646.0 ms"},
        {646500 * US, 500 * US, 2 * S, "0.6465 s"},
        {-20 * MS, 10 * MS, -20 * MS, "-20 ms"},
        {7 * S, S, 7000 * S, "7 s"},
        {100, 100, 100, "100 ns"},
        {10 * US, 10 * US, 10 * US, "10 µs"},
        {7489600 * US, MS, 8 * S, "7.490 s"}, /* to the nearest */
        {7489499 * US, MS, 8 * S, "7.489 s"},
        {INT64_MAX, 1, INT64_MAX, "9223372036.854775807 s"},
        {INT64_MIN, 1, INT64_MIN, "-9223372036.854775808 s"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(weft_axis_time(cases[i].ns, cases[i].step_ns, cases[i].far_ns).text,
                            cases[i].text);
}

TEST(durations_back)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"0", 0},
        {"12", 12},
        {"+12 ns", 12},
        {"1us", US},
        {"1.5µs", 1500},        /* U+00B5 */
        {"1.5\xce\xbcs", 1500}, /* U+03BC */
        {"39.5ms", 39500 * US},
        {"-2   s", -2 * S},
        {"2.", 2},
        {".5s", 500 * MS},
        {"5.s", 5 * S},
        {"1.500000000000000s", 1500 * MS}, /* zeros may follow */
        {"7.0", 7},
        {"3m", 180 * S},
        {"3min", 180 * S},
        {"1.5h", 5400 * S},
        {"1d", 86400 * S},
        {"0.000000001h", 3600},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036.854775807 s", -INT64_MAX},
    };
    int64_t ns;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(weft_parse_duration(cases[i].text, strlen(cases[i].text), &ns));
        assert_int_equal(ns, cases[i].ns);
    }
    static const char *const wrong[] = {"",
                                        "-",
                                        "+",
                                        ".",
                                        "s",
                                        " 1s",
                                        "1s ",
                                        "1 s2",
                                        "--1",
                                        "1x",
                                        "1ms0",
                                        "1e3",
                                        "0x10",
                                        "1.2.3s",
                                        "1,5s",
                                        "0.5",
                                        "0.5ns",
                                        "1.0001us",
                                        "1.00000000001h",
                                        "9223372036854775808",
                                        "9223372036.854775808s",
                                        "106752d",
                                        "99999999999999999999999s",
                                        "1\tms",
                                        "1MS",
                                        "inf",
                                        "nan"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (weft_parse_duration(wrong[i], strlen(wrong[i]), &ns))
            fail_msg("'%s' is read as %" PRId64, wrong[i], ns);
    assert_true(weft_parse_duration("15ms", 3, &ns)); /* of the first three bytes: minutes */
    assert_int_equal(ns, 900 * S);
    assert_false(weft_parse_duration("1s", 0, &ns));
}

/* What is printed exactly is read back as it was; what is rounded, to within half of the last digit. */
TEST(printed_and_read_back)
{
    uint64_t random = 1;
    for (unsigned i = 0; i < 20000; i++) {
        random = weft_mix(random, 12345);
        const int64_t ns = (int64_t)(random >> (i % 63 + 1)) * (i & 1 ? -1 : 1);
        int64_t back;
        struct weft_figure f = weft_axis_time(ns, 1, ns);
        assert_true(weft_parse_duration(f.text, strlen(f.text), &back));
        assert_int_equal(back, ns);
        const int64_t size = ns < 0 ? -ns : ns;
        f = weft_moment(ns);
        assert_true(weft_parse_duration(f.text, strlen(f.text), &back));
        assert_true(llabs(back - ns) < (size < MS ? 1 : US));
        const struct weft_figure rounded[] = {weft_duration(ns), weft_duration_narrow(ns)};
        for (unsigned k = 0; k < 2; k++) {
            if (!weft_parse_duration(rounded[k].text, strlen(rounded[k].text), &back)) {
                assert_true(size > INT64_MAX - 86400 * S); /* rounded up, it does not fit */
                continue;
            }
            assert_true(llabs(back - ns) <= size / 199 + 1);
            assert_true((back < 0) == (ns < 0) || back == 0);
        }
        uint64_t count;
        char plain[32];
        f = weft_count(random);
        unsigned used = 0;
        for (const char *c = f.text; *c; c++)
            if (*c != ',')
                plain[used++] = *c;
        assert_true(weft_parse_digits(plain, used, UINT64_MAX, &count) && count == random);
    }
}

RUN_TESTS(NULL, NULL)
