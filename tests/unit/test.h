/* SPDX-License-Identifier: ISC */
/* What a program of unit tests begins with: cmocka, and its tests, of which each is named once.
 *
 *     TEST(what_it_shows)
 *     {
 *         assert_int_equal(…);
 *     }
 *
 *     RUN_TESTS(NULL, NULL)
 *
 * They run in the order in which they stand; the two functions of RUN_TESTS before and after all, if there are any. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name)                                                                                 \
    static void name(void **unused);                                                               \
    __attribute__((constructor)) static void name##_is_a_test(void)                                \
    {                                                                                              \
        tests[__COUNTER__] = (struct CMUnitTest){#name, name, NULL, NULL, NULL};                   \
    }                                                                                              \
    static void name(void **unused __attribute__((unused)))

#define RUN_TESTS(before, after) RUN_TESTS_WITH(before, after, NULL, NULL)

/* … and two before and after each. */
#define RUN_TESTS_WITH(before, after, before_each, after_each)                                     \
    int main(void)                                                                                 \
    {                                                                                              \
        const size_t count = __COUNTER__;                                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            tests[i].setup_func = before_each;                                                     \
            tests[i].teardown_func = after_each;                                                   \
        }                                                                                          \
        return _cmocka_run_group_tests("tests", tests, count, before, after);                      \
    }

static struct CMUnitTest tests[250] __attribute__((unused));

/* A text of some lines, which is printed whole if it is another one. */
static inline void expect_text(const char *found, const char *wanted)
{
    if (strcmp(found, wanted) != 0)
        print_error("expected:\n%s\nfound:\n%s\n", wanted, found);
    assert_string_equal(found, wanted);
}

/* The next of a row of random numbers; not 0 at first. */
static inline uint32_t next_random(uint32_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 17;
    *random ^= *random << 5;
    return *random;
}
