/* SPDX-License-Identifier: ISC */
/* Promises and async functions of a Node.js program, as its heap has them (v8.h). A promise has a list of reactions: what
 * goes on once it is settled. Those tell who waits; who will settle it is an async function, another promise, or
 * whoever holds its resolve functions (node_resolvers.c). */
#include "now/node.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "now/look.h"

enum {
    REACTIONS_MAX = 1 << 14, /* of one promise */
    MODULE_WORDS = 24,
    COPIES = 3,
    CHECKED = 256, /* objects of which it is checked that they did not move */
};

/* ---- Names ---- */

const struct v8_place *node_place(struct node *d, uint64_t function, int32_t code_offset)
{
    static const struct v8_place nowhere = {0};
    const uint64_t shared = v8_field(&d->v, function, d->v.number[V8_FUNCTION_SHARED]);
    const uint64_t key = shared * UINT64_C(0x9e3779b97f4a7c15) ^ (uint32_t)code_offset;
    uint32_t *at = weft_idmap_at(d->place_by_key, key);
    if (!at || (*at == WEFT_IDMAP_NONE &&
                !weft_reserve(&d->place, d->places, &d->places_room, sizeof *d->place))) {
        d->n->failed = true;
        return &nowhere;
    }
    if (*at == WEFT_IDMAP_NONE) {
        v8_function(&d->v, function, code_offset, &d->place[d->places]);
        *at = d->places++;
    }
    return &d->place[*at];
}

static void add_frame(struct node *d, uint32_t thing, const struct v8_place *at)
{
    now_frame(d->n, thing, at->function[0] ? at->function : NULL, at->file[0] ? at->file : NULL,
              at->line ? at->line : at->begins);
}

/* ---- Finding ---- */

static bool is_pending(struct node *d, uint64_t promise)
{
    const uint64_t flags = v8_field(&d->v, promise, V8_PROMISE_FLAGS);
    const uint64_t first = v8_field(&d->v, promise, V8_PROMISE_REACTIONS);
    return v8_is(&d->v, promise, V8_TYPE_PROMISE) && v8_is_small(flags) &&
           (v8_small(flags) & 3) == 0 && (first == 0 || v8_is(&d->v, first, V8_TYPE_REACTION));
}

bool node_is_suspended(struct node *d, uint64_t generator)
{
    const uint64_t next = v8_field(&d->v, generator, V8_GENERATOR_CONTINUATION);
    return v8_is_small(next) && v8_small(next) >= 0 &&
           v8_is_function(&d->v, v8_field(&d->v, generator, V8_GENERATOR_FUNCTION));
}

static bool push(struct node *d, struct node_list *l, uint64_t object)
{
    if (!weft_reserve(&l->object, l->count, &l->room, sizeof *l->object)) {
        d->n->failed = true;
        return false;
    }
    l->object[l->count++] = object;
    return true;
}

static void found(void *data, uint64_t object, enum v8_number type)
{
    struct node *d = data;
    if (d->pending.count + d->suspended.count >= NOW_THINGS_MAX)
        d->n->left_out++;
    else if (type == V8_TYPE_PROMISE && is_pending(d, object))
        push(d, &d->pending, object);
    else if (type == V8_TYPE_ASYNC && node_is_suspended(d, object) &&
             is_pending(d, v8_field(&d->v, object, V8_ASYNC_PROMISE)))
        push(d, &d->suspended, object);
}

/* ---- What goes on once a promise is settled ---- */

/* The promise behind it: itself, or that of a capability; 0: none that is pending. */
static uint64_t promise_of(struct node *d, uint64_t object)
{
    if (v8_is(&d->v, object, V8_TYPE_CAPABILITY))
        object = v8_field(&d->v, object, V8_CAPABILITY_PROMISE);
    return is_pending(d, object) ? object : 0;
}

static uint32_t promise_thing(struct node *d, uint64_t promise)
{
    const uint32_t before = d->n->things, thing = now_thing(d->n, NOW_PROMISE, promise);
    if (d->n->things != before)
        now_name(d->n, thing, "promise 0x%" PRIx64, promise - 1);
    return thing;
}

/* Promises of next values, which an async generator resolves. */
static void requests(struct node *d, uint64_t generator, uint32_t task)
{
    uint64_t request = v8_field(&d->v, generator, V8_ASYNC_QUEUE);
    for (uint32_t i = 0; i < REACTIONS_MAX && v8_is(&d->v, request, V8_TYPE_REQUEST); i++) {
        const uint64_t promise = v8_field(&d->v, request, V8_REQUEST_PROMISE);
        if (is_pending(d, promise)) {
            const uint32_t thing = promise_thing(d, promise);
            now_name(d->n, thing, "next value of %s", d->n->thing[task].name);
            now_link(d->n, thing, task, false, "is resolved by");
        }
        request = v8_field(&d->v, request, V8_REQUEST_NEXT);
    }
}

uint32_t node_task(struct node *d, uint64_t generator)
{
    const char *what =
        v8_is(&d->v, generator, V8_TYPE_ASYNC) ? "async function" : "async generator";
    const uint32_t before = d->n->things, task = now_thing(d->n, NOW_TASK, generator);
    if (task == NOW_NONE || d->n->things == before)
        return task;
    const int32_t offset = v8_small(v8_field(&d->v, generator, V8_GENERATOR_CODE_OFFSET));
    const struct v8_place *at =
        node_place(d, v8_field(&d->v, generator, V8_GENERATOR_FUNCTION), offset < 0 ? -1 : offset);
    if (at->function[0])
        now_name(d->n, task, "%s %s", what, at->function);
    else if (at->module)
        now_name(d->n, task, "module %s", at->file);
    else
        now_name(d->n, task, "%s of line %" PRIu32, what, at->begins);
    add_frame(d, task, at);
    if (v8_is(&d->v, generator, V8_TYPE_ASYNC_GENERATOR))
        requests(d, generator, task);
    return task;
}

/* Promise.all and Promise.allSettled: all must be there; Promise.race, and resolve functions as callbacks: one of them
 * will do. */
static void combined(struct node *d, uint64_t derived, uint32_t awaited, bool all)
{
    const uint32_t before = d->n->things, thing = promise_thing(d, derived);
    if (all && d->n->things != before)
        now_name(d->n, thing, "Promise.all 0x%" PRIx64, derived - 1);
    now_link(d->n, thing, awaited, !all, all ? "needs" : "follows");
}

/* What imports a module waits for another promise than that of its code. */
static void module(struct node *d, uint64_t object, uint32_t awaited)
{
    for (int32_t i = 1; i < MODULE_WORDS; i++) {
        const uint64_t promise = v8_field(&d->v, object, i * 8);
        if (is_pending(d, promise) && v8_field(&d->v, promise, V8_PROMISE_REACTIONS) != 0)
            now_link(d->n, promise_thing(d, promise), awaited, false, "follows");
    }
}

/* A callback that V8 made has its own context, whose first slots say what it is for. */
static bool own_callback(struct node *d, uint32_t awaited, uint64_t context)
{
    struct v8 *v = &d->v;
    if (!v8_is_context(v, context))
        return false;
    for (int32_t slot = V8_CONTEXT_FIRST; slot <= V8_CONTEXT_FIRST + 8; slot += 8) {
        const uint64_t value = v8_field(v, context, slot);
        const int32_t type = v8_type(v, value);
        if (type == v->number[V8_TYPE_ASYNC] || type == v->number[V8_TYPE_ASYNC_GENERATOR]) {
            now_link(d->n, node_task(d, value), awaited, false, "awaits");
            return true;
        }
        if (type == v->number[V8_TYPE_MODULE]) {
            module(d, value, awaited);
            return true;
        }
        if (type == v->number[V8_TYPE_CAPABILITY] || type == v->number[V8_TYPE_PROMISE]) {
            const uint64_t derived = promise_of(d, value);
            if (derived)
                combined(d, derived, awaited, type == v->number[V8_TYPE_CAPABILITY]);
            return true;
        }
    }
    return false;
}

/* A callback of the program: what then() returned is settled by it. */
static void callback(struct node *d, uint32_t awaited, uint64_t function, uint64_t derived)
{
    if (!derived)
        return;
    const uint32_t thing = promise_thing(d, derived);
    if (v8_is_function(&d->v, function)) {
        const struct v8_place *at = node_place(d, function, -1);
        if (at->begins) {
            now_name(d->n, thing, "promise of then(%s)", at->function[0] ? at->function : "…");
            add_frame(d, thing, at);
        }
    }
    now_link(d->n, thing, awaited, false, "follows");
}

/* From V8 12 on a reaction begins with another word. Its next reaction is one, or 0; a callback is neither. */
static int32_t reaction_shift(struct v8 *v, uint64_t reaction)
{
    const uint64_t second = v8_field(v, reaction, V8_REACTION_REJECT);
    return v8_is_small(second) || v8_is(v, second, V8_TYPE_REACTION) ? 8 : 0;
}

static void reactions(struct node *d, uint64_t promise)
{
    struct v8 *v = &d->v;
    uint64_t reaction = v8_field(v, promise, V8_PROMISE_REACTIONS);
    if (!v8_is(v, reaction, V8_TYPE_REACTION))
        return;
    const uint32_t thing = promise_thing(d, promise);
    const int32_t shift = reaction_shift(v, reaction);
    for (uint32_t i = 0; i < REACTIONS_MAX && v8_is(v, reaction, V8_TYPE_REACTION); i++) {
        if (i % 256 == 255 && v8_late(v))
            break;
        const uint64_t function = v8_field(v, reaction, shift + V8_REACTION_FULFILL);
        const uint64_t context =
            v8_is_function(v, function) ? v8_field(v, function, v->number[V8_FUNCTION_CONTEXT]) : 0;
        if (!own_callback(d, thing, context))
            callback(d, thing, function,
                     promise_of(d, v8_field(v, reaction, shift + V8_REACTION_DERIVED)));
        reaction = v8_field(v, reaction, shift + V8_REACTION_NEXT);
    }
}

/* ---- All of it ---- */

static void tasks(struct node *d)
{
    for (uint32_t i = 0; i < d->suspended.count && !v8_late(&d->v); i++) {
        const uint64_t generator = d->suspended.object[i];
        const uint64_t promise = v8_field(&d->v, generator, V8_ASYNC_PROMISE);
        const uint32_t task = node_task(d, generator);
        if (task != NOW_NONE)
            d->n->thing[task].result = promise;
        if (task == NOW_NONE || v8_field(&d->v, promise, V8_PROMISE_REACTIONS) == 0)
            continue; /* nobody waits for it */
        const uint32_t thing = promise_thing(d, promise);
        now_name(d->n, thing, "promise of %s", d->n->thing[task].name);
        now_link(d->n, thing, task, false, "is resolved by");
    }
}

static bool moved(struct node *d, const struct node_list *l)
{
    const uint32_t step = l->count / CHECKED + 1;
    for (uint32_t i = 0; i < l->count; i += step)
        if (v8_changed(&d->v, l->object[i]))
            return true;
    return false;
}

/* The program may collect garbage during the copy: then objects are in it twice, or not at all. One that hangs does it
 * once at most. */
static bool find(struct node *d)
{
    static const enum v8_number types[] = {V8_TYPE_PROMISE, V8_TYPE_ASYNC};
    bool again = true;
    for (unsigned i = 0; i < COPIES && again; i++) {
        d->pending.count = d->suspended.count = 0;
        if (!v8_copy(&d->v) || !v8_each(&d->v, types, sizeof types / sizeof *types, found, d))
            return false;
        again = moved(d, &d->pending) || moved(d, &d->suspended);
    }
    if (again)
        now_remark(d->n, "the program goes on while its promises are looked at: what is said of "
                         "them may be of different moments");
    return true;
}

static void look(struct node *d)
{
    if (!find(d)) {
        now_remark(d->n,
                   "its promises were not looked at: there is no memory for a copy of its heap");
        return;
    }
    tasks(d);
    for (uint32_t i = 0; i < d->pending.count && !v8_late(&d->v); i++)
        reactions(d, d->pending.object[i]);
    node_resolvers(d);
    node_stacks(d);
    if (v8_late(&d->v))
        now_remark(d->n, "not all promises were looked at in the time there was");
    if (d->v.left_bytes)
        now_remark(d->n,
                   "%" PRIu64 " MB of the heap of JavaScript were not searched for promises: "
                   "that would take too long",
                   (d->v.left_bytes >> 20) + 1);
}

void now_look_node(struct now *n, struct now_process *p)
{
    struct node d = {.n = n};
    bool odd;
    if (v8_open(&d.v, p, &odd)) {
        d.place_by_key = weft_idmap_new();
        if (d.place_by_key)
            look(&d);
        else
            n->failed = true;
    } else if (odd)
        now_remark(n, "its promises cannot be seen: weft does not know this version of V8");
    weft_free_all(d.place, d.pending.object, d.suspended.object);
    weft_idmap_free(d.place_by_key);
    v8_close(&d.v);
}
