/* SPDX-License-Identifier: ISC */
/* Events of which each says where it belongs and proves that it is whole: the n-th call of thread t, for
 * who writes and for who reads. Its promises have numbers of their own (weft_create_id), or, if native, those
 * of the recorder; then who does something has the number that says where it belongs. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format/events.h"
#include <weft/weft.h>

#define PATTERN_KINDS 8u

static inline uint64_t pattern_id(unsigned t, uint64_t n)
{
    return (uint64_t)(t + 1) << 40 | n;
}

static inline uint64_t pattern_check(uint64_t id)
{
    uint64_t h = (id ^ id >> 29) * 0xbf58476d1ce4e5b9;
    return h ? h ^ h >> 32 : 1;
}

static inline void pattern_text(char *out, uint64_t id)
{
    uint64_t check = pattern_check(id);
    int n = sprintf(out, "%" PRIx64 " ", check % 1021); /* some come back */
    memset(out + n, 'a' + (int)(check % 1021 % 26), check % 1021 % 97);
    out[(unsigned)n + check % 1021 % 97] = 0;
}

/* The same with promises that weft_create has numbered. They are resolved some calls later. */
static inline void pattern_write_native(unsigned t, uint64_t n)
{
    static __thread weft_promise promise[2];
    uint64_t id = pattern_id(t, n);
    char text[128];
    pattern_text(text, id);
    switch (n % PATTERN_KINDS) {
    case 0:
        promise[0] = weft_create_from(id, "literal", text);
        break;
    case 1:
        promise[1] = weft_create_from(id, text, "literal");
        break;
    case 2:
        weft_read(id, pattern_check(id));
        break;
    case 3:
        weft_resolve_by(id, promise[0] ? promise[0] : id, WEFT_BY_VALUE, NULL);
        break;
    default:
        weft_resolve_by(id, promise[1] ? promise[1] : id, WEFT_BY_ERROR, text);
    }
}

static inline void pattern_write(unsigned t, uint64_t n)
{
    static struct weft_counter counter[64]; /* one for each thread */
    static const char *const names[] = {"even", "odd"};
    uint64_t id = pattern_id(t, n), check = pattern_check(id);
    char text[128];
    switch (n % PATTERN_KINDS) {
    case 0:
        pattern_text(text, id);
        weft_create_id(check, id, "literal", text);
        break;
    case 1:
        pattern_text(text, id);
        weft_create_id(check, id, text, "literal");
        break;
    case 2:
        weft_wake(id, check); /* and for the next: what runs */
        break;
    case 3:
        weft_fulfill(id);
        break;
    case 4:
        pattern_text(text, id);
        weft_label(id, text);
        break;
    case 5:
        weft_wait_by(id, pattern_id(t, n ^ 1));
        break;
    case 6:
        counter[t].name = names[t % 2];
        weft_counter_set(&counter[t], (int64_t)id);
        break;
    default:
        pattern_text(text, id);
        weft_resolve_by(check, id, WEFT_BY_ERROR, text);
    }
}

static inline bool pattern_is(const char *text, size_t size, uint64_t id)
{
    char wanted[128];
    pattern_text(wanted, id);
    return text && size == strlen(wanted) && !memcmp(text, wanted, size);
}

/* Of a call whose promises the recorder has numbered: 0 to 3, 7. */
static inline bool pattern_is_native(const struct weft_event *ev, uint64_t id)
{
    bool literal = ev->text && ev->text_size == 7 && !memcmp(ev->text, "literal", 7);
    switch ((id & ((UINT64_C(1) << 40) - 1)) % PATTERN_KINDS) {
    case 0:
        return ev->kind == WEFT_EVENT_CREATES && ev->origin &&
               !strcmp(ev->origin->type, "literal") && pattern_is(ev->text, ev->text_size, id);
    case 1:
        return ev->kind == WEFT_EVENT_CREATES && ev->origin && literal &&
               pattern_is(ev->origin->type, strlen(ev->origin->type), id);
    case 2:
        return ev->kind == WEFT_EVENT_READ_LATER && ev->b == pattern_check(id);
    case 3:
        return ev->kind == WEFT_EVENT_FULFILLS;
    case 7:
        return ev->kind == WEFT_EVENT_FAILS && pattern_is(ev->text, ev->text_size, id);
    default:
        return false;
    }
}

/* Which call of which thread that is. False: it is none. */
static inline bool pattern_read(const struct weft_event *ev, unsigned *t, uint64_t *n)
{
    uint64_t id = 0;
    bool ok = false;
    switch (ev->kind) {
    case WEFT_EVENT_CREATES:
    case WEFT_EVENT_FULFILLS:
    case WEFT_EVENT_FAILS:
        id = ev->b;
        break;
    case WEFT_EVENT_COUNTER:
        id = (uint64_t)ev->value;
        break;
    default:
        id = ev->a;
    }
    *t = (unsigned)(id >> 40) - 1;
    *n = id & ((UINT64_C(1) << 40) - 1);
    uint64_t check = pattern_check(id);
    bool literal = ev->text && ev->text_size == 7 && !memcmp(ev->text, "literal", 7);
    switch (*n % PATTERN_KINDS) {
    case 0:
        ok = ev->kind == WEFT_EVENT_CREATES && ev->a == check && ev->origin &&
             !strcmp(ev->origin->type, "literal") && pattern_is(ev->text, ev->text_size, id);
        break;
    case 1:
        ok = ev->kind == WEFT_EVENT_CREATES && ev->a == check && ev->origin && literal &&
             pattern_is(ev->origin->type, strlen(ev->origin->type), id);
        break;
    case 2:
        ok = ev->kind == WEFT_EVENT_READ && ev->b == check;
        break;
    case 3:
        ok = ev->kind == WEFT_EVENT_FULFILLS && ev->a == id - 1;
        break;
    case 4:
        ok = ev->kind == WEFT_EVENT_LABEL && pattern_is(ev->text, ev->text_size, id);
        break;
    case 5:
        ok = ev->kind == WEFT_EVENT_TRY_READ && ev->b == (id ^ 1);
        break;
    case 6:
        ok = ev->kind == WEFT_EVENT_COUNTER && ev->text && ev->text_size == (*t % 2 ? 3 : 4) &&
             !memcmp(ev->text, *t % 2 ? "odd" : "even", 3);
        break;
    default:
        ok = ev->kind == WEFT_EVENT_FAILS && ev->a == check &&
             pattern_is(ev->text, ev->text_size, id);
    }
    return ok;
}
