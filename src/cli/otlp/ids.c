/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "cli/otlp/otlp.h"
#include "profile/join.h"

/* ---- Ids that are made ---- */

enum salt { OF_SPAN = 1, OF_TRACE, OF_TRACE_TOO };

/* The finalizer of splitmix64: no number has the result of another. */
static uint64_t mix(uint64_t n)
{
    n ^= n >> 30;
    n *= UINT64_C(0xbf58476d1ce4e5b9);
    n ^= n >> 27;
    n *= UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

static uint64_t made(const struct otlp_ids *o, uint64_t number, enum salt salt)
{
    const uint64_t n = mix(mix(mix(number ^ o->seed[0]) ^ o->seed[1]) + salt);
    return n ? n : 1; /* an id is not 0 */
}

static void put(unsigned char *to, uint64_t n)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (unsigned char)(n >> (56 - 8 * i));
}

/* Any format but weft's own has no UUID: then the times and the program's name take its place. */
static void seed(struct otlp_ids *o, const struct weft_reader_facts *facts)
{
    const unsigned char zeros[sizeof facts->uuid] = {0};
    memcpy(o->seed, facts->uuid, sizeof o->seed);
    if (memcmp(facts->uuid, zeros, sizeof zeros) != 0)
        return;
    o->seed[0] = mix(o->m->first_ns ^ mix((uint64_t)o->m->wall_ns));
    o->seed[1] = mix((uint64_t)o->m->end_ns + o->m->events_total);
    for (const char *c = facts->process.program; c && *c; c++)
        o->seed[0] = mix(o->seed[0] ^ (unsigned char)*c);
}

/* ---- Which promise is a span ---- */

struct marked {
    const struct weft_traced *t;
    uint32_t index;
};

static int by_ids(const void *a, const void *b)
{
    const struct marked *x = a, *y = b;
    const int order = memcmp(x->t->ids, y->t->ids, WEFT_IDS_BYTES);
    return order ? order : weft_order(x->index, y->index);
}

/* Two spans with one id would be one; the first promise in the order of mention is it. */
static bool find_again(struct otlp_ids *o)
{
    const struct weft_model *m = o->m;
    struct marked *list = malloc(((size_t)m->traceds + 1) * sizeof *list);
    uint32_t n = 0;
    if (!list)
        return false;
    for (uint32_t i = 0; i < m->traceds; i++)
        if (m->traced[i].kind == WEFT_TRACED_SPAN)
            list[n++] = (struct marked){&m->traced[i], i};
    weft_sort(list, n, sizeof *list, by_ids);
    for (uint32_t i = 1; i < n; i++)
        o->again[list[i].index] = memcmp(list[i].t->ids, list[i - 1].t->ids, WEFT_IDS_BYTES) == 0;
    free(list);
    return true;
}

int otlp_ids_init(struct otlp_ids *o, const struct weft_model *m,
                  const struct weft_reader_facts *facts)
{
    *o = (struct otlp_ids){.m = m};
    seed(o, facts);
    o->root = weft_profile_roots(m);
    o->again = calloc((size_t)m->traceds + 1, sizeof *o->again);
    return o->root && o->again && find_again(o) ? 0 : WEFT_E_NOMEM;
}

void otlp_ids_fini(struct otlp_ids *o)
{
    free(o->root);
    free(o->again);
}

/* ---- Ids ---- */

/* The span that the promise alone is marked as, or NULL. */
static const struct weft_traced *mark_of(const struct otlp_ids *o, uint32_t promise)
{
    const struct weft_traced *t = weft_traced_of(o->m, promise, WEFT_TRACED_SPAN);
    return t && !o->again[t - o->m->traced] ? t : NULL;
}

struct otlp_span otlp_ids_of(const struct otlp_ids *o, uint32_t promise)
{
    const struct weft_traced *trace = weft_traced_inherited(o->m, promise),
                             *mark = mark_of(o, promise);
    const uint32_t root = o->root[promise] == WEFT_NONE ? promise : o->root[promise];
    struct otlp_span s = {.known = true};
    unsigned char *span = s.ids + WEFT_TRACE_ID_BYTES;
    if (trace) {
        memcpy(s.ids, trace->ids, WEFT_TRACE_ID_BYTES);
    } else {
        put(s.ids, made(o, o->m->promise[root].id, OF_TRACE));
        put(s.ids + 8, made(o, o->m->promise[root].id, OF_TRACE_TOO));
    }
    if (mark)
        memcpy(span, mark->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
    else
        put(span, made(o, o->m->promise[promise].id, OF_SPAN));
    return s;
}

struct otlp_span otlp_parent_of(const struct otlp_ids *o, uint32_t promise)
{
    const struct weft_traced *parent = weft_traced_of(o->m, promise, WEFT_TRACED_PARENT),
                             *mark = weft_traced_of(o->m, promise, WEFT_TRACED_SPAN);
    const struct otlp_span own = otlp_ids_of(o, promise);
    const uint32_t creator = o->m->promise[promise].creator;
    struct otlp_span s = {.known = false};
    if (mark && o->again[mark - o->m->traced]) {
        s.known = true;
        memcpy(s.ids, mark->ids, sizeof s.ids);
    } else if (parent && memcmp(parent->ids, own.ids, WEFT_TRACE_ID_BYTES) == 0) {
        s.known = s.remote = true;
        memcpy(s.ids, parent->ids, sizeof s.ids);
    } else if (creator != WEFT_ROOT && creator != promise) {
        s = otlp_ids_of(o, creator);
        s.known = memcmp(s.ids, own.ids, WEFT_TRACE_ID_BYTES) == 0;
    }
    return s;
}
