/* SPDX-License-Identifier: ISC */
/* Lets allocations fail, and counts them; for a test that is linked with --wrap=malloc and so on. */
#pragma once

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/error.h"
#include "test.h"

static _Atomic long fail_at;      /* this one fails, counting down; 0: none */
static _Atomic long live;         /* allocations that nobody has freed */
static _Atomic size_t live_bytes; /* large work is done by two threads */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *p);

static bool fails_now(void)
{
    return fail_at > 0 && --fail_at == 0;
}

void *__wrap_malloc(size_t size)
{
    void *p = fails_now() ? NULL : __real_malloc(size);
    live += p != NULL;
    live_bytes += malloc_usable_size(p);
    return p;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *p = fails_now() ? NULL : __real_calloc(count, size);
    live += p != NULL;
    live_bytes += malloc_usable_size(p);
    return p;
}

void *__wrap_realloc(void *old, size_t size)
{
    size_t before = malloc_usable_size(old);
    void *p = fails_now() ? NULL : __real_realloc(old, size);
    live += p != NULL && old == NULL;
    live_bytes += p ? malloc_usable_size(p) - before : 0;
    return p;
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    live_bytes -= malloc_usable_size(p);
    __real_free(p);
}

/* Lets what stands in the loop fail at its first allocation, then at its second, … until none fails. Each time it has
 * to free what it has, and rc has to be WEFT_E_NOMEM, and 0 in the end.
 *
 *     struct failing f = {0};
 *     int rc = 0;
 *     while (fails_next(&f, rc))
 *         rc = …;
 *     assert_true(f.n > 20);   allocations, if it matters */
struct failing {
    long n, before;
};

static inline bool fails_next(struct failing *f, int rc)
{
    if (f->n) {
        const bool failed = fail_at == 0;
        fail_at = 0;
        if (live != f->before)
            print_error("allocation %ld: %ld leaked\n", f->n, live - f->before);
        assert_int_equal(live, f->before);
        assert_int_equal(rc, failed ? WEFT_E_NOMEM : 0);
        assert_true(f->n < 10000);
        if (!failed)
            return false;
    }
    f->before = live;
    fail_at = ++f->n;
    return true;
}
