/* SPDX-License-Identifier: ISC */
/* A tree of calls: equal calls, reached in the same way, are one node. Nodes are found by
 * (parent, kind, text); in groups by promise also by the promise, since many promises have the
 * same label. */
#include "profile/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "profile/gather.h"

struct key {
    uint32_t parent, text, kind;
    uint32_t
        group; /* for those directly below the root, what they are a group of; else WEFT_NONE */
};

struct maker {
    struct profile_gather gather;
    struct weft_calltree *tree;
    struct key *key; /* parallel to the calls */
    uint32_t keys, key_room, call_room, calls_max;
    struct weft_table calls_by;
    uint64_t seed;
};

/* ---- Adding ---- */

/* Makes room for a call, and adds its key. Returns its index; WEFT_NONE: no memory. */
static uint32_t add_key(struct maker *t, const struct key *key)
{
    if (!weft_reserve(&t->tree->call, t->keys, &t->call_room, sizeof *t->tree->call))
        return WEFT_NONE;
    return weft_table_add(&t->calls_by, &t->key, &t->keys, &t->key_room, sizeof *key, sizeof *key,
                          key, t->seed);
}

/* WEFT_NONE: no memory. It returns the parent itself if there are too many calls. */
static uint32_t call_of(struct maker *t, uint32_t parent, const struct weft_named_frame *frame,
                        uint32_t group)
{
    struct weft_calltree *tree = t->tree;
    const struct key key = {parent, frame->text, frame->kind, group};
    if (frame->text == WEFT_NONE)
        return WEFT_NONE;
    uint32_t at = weft_table_get(&t->calls_by, t->key, sizeof key, sizeof key, &key, t->seed);
    if (at != WEFT_NONE) {
        profile_gather_merge(&t->gather, &tree->call[at].frame, frame);
        return at;
    }
    if (tree->calls == t->calls_max)
        return parent;
    at = add_key(t, &key);
    if (at == WEFT_NONE)
        return WEFT_NONE;
    uint32_t depth = tree->call[parent].depth + 1;
    tree->call[at] = (struct weft_call){
        .parent = parent,
        .first_child = WEFT_NONE,
        .next_sibling = WEFT_NONE,
        .frame = *frame,
        .depth = depth,
    };
    tree->calls = t->keys;
    tree->depth = depth > tree->depth ? depth : tree->depth;
    return at;
}

/* Moves to a call of *at. Returns false if there is none because there are too many. */
static bool go_on(struct maker *t, uint32_t *at, const struct weft_named_frame *frame,
                  uint32_t group)
{
    uint32_t from = *at;
    *at = call_of(t, from, frame, group);
    return *at != from;
}

static bool take_item(void *data, const struct profile_item *item)
{
    struct maker *t = data;
    uint32_t at = 0, count;
    const struct weft_named_frame *frame = weft_frames_of(
        t->gather.frames, item->stack, item->promise, item->thread, item->time_ns, &count);
    if (!frame)
        return false;
    bool cut = false;
    if (profile_is_group(t->gather.o->by)) {
        struct weft_named_frame group = profile_gather_group(&t->gather, item->group);
        cut = !go_on(t, &at, &group, item->group);
    }
    for (uint32_t i = 0; i < count && !cut && at != WEFT_NONE; i++) {
        struct weft_named_frame shown = profile_gather_shown(&t->gather, &frame[i]);
        cut = !go_on(t, &at, &shown, WEFT_NONE);
    }
    struct weft_named_frame state;
    if (!cut && at != WEFT_NONE && profile_gather_state(&t->gather, item, &state))
        cut = !go_on(t, &at, &state, WEFT_NONE);
    if (at == WEFT_NONE)
        return false;
    t->tree->cut += cut ? item->samples : 0;
    t->tree->call[at].self += item->value;
    t->tree->call[at].samples += item->samples;
    return true;
}

/* ---- Adding up, and order ---- */

static void add_up(struct weft_calltree *tree)
{
    for (uint32_t i = 0; i < tree->calls; i++)
        tree->call[i].total = tree->call[i].self;
    for (uint32_t i = tree->calls; i-- > 1;) { /* parents stand before children */
        struct weft_call *parent = &tree->call[tree->call[i].parent];
        parent->total += tree->call[i].total;
        parent->samples += tree->call[i].samples;
    }
}

struct ordered {
    const char *text;
    uint64_t total;
    uint32_t parent, call;
};

static int by_weight(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    WEFT_ORDER(x->parent, y->parent);
    WEFT_ORDER(y->total, x->total);
    int order = strcmp(x->text, y->text);
    return order ? order : weft_order(x->call, y->call);
}

/* Links each one's calls, the heaviest first. */
static bool link_calls(struct weft_calltree *tree, const struct weft_profile *p)
{
    struct ordered *order = weft_resize(NULL, tree->calls, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 1; i < tree->calls; i++) {
        const struct weft_call *c = &tree->call[i];
        order[i - 1] =
            (struct ordered){weft_profile_text(p, c->frame.text), c->total, c->parent, i};
    }
    uint32_t count = tree->calls - 1;
    weft_sort(order, count, sizeof *order, by_weight);
    for (uint32_t i = count; i-- > 0;) {
        struct weft_call *parent = &tree->call[order[i].parent];
        tree->call[order[i].call].next_sibling = parent->first_child;
        parent->first_child = order[i].call;
    }
    free(order);
    return true;
}

int weft_calltree_add_up(struct weft_calltree *t, const struct weft_profile *p)
{
    add_up(t);
    return link_calls(t, p) ? 0 : WEFT_E_NOMEM;
}

/* ---- The whole ---- */

static bool begin(struct maker *t)
{
    t->tree = calloc(1, sizeof *t->tree);
    if (!t->tree || add_key(t, &(struct key){.parent = WEFT_NONE, .group = WEFT_NONE}) != 0)
        return false;
    t->tree->call[0] = (struct weft_call){
        .parent = WEFT_NONE,
        .first_child = WEFT_NONE,
        .next_sibling = WEFT_NONE,
        .frame = profile_named(WEFT_FRAME_STATE, 0),
    };
    t->tree->calls = 1;
    return true;
}

int weft_calltree_make(struct weft_calltree **out, struct weft_profile *p,
                       const struct weft_calltree_options *o)
{
    struct maker t = {.calls_max = o->calls_max ? o->calls_max : WEFT_CALLS_MAX,
                      .seed = weft_seed()};
    *out = NULL;
    int rc = begin(&t) ? profile_gather_run(&t.gather, p, o, true, take_item, &t) : WEFT_E_NOMEM;
    if (rc == 0) {
        t.tree->total = t.gather.total;
        t.tree->samples = t.gather.samples;
        t.tree->without_promise = t.gather.without_promise;
        memcpy(t.tree->gap, t.gather.gap, sizeof t.tree->gap);
        t.tree->unit = t.gather.unit;
        rc = weft_calltree_add_up(t.tree, p);
    }
    if (rc == 0)
        *out = t.tree;
    else
        weft_calltree_free(t.tree);
    profile_gather_fini(&t.gather);
    weft_free_all(t.key, t.calls_by.slot);
    return rc;
}

void weft_calltree_free(struct weft_calltree *t)
{
    if (t)
        weft_free_all(t->call, t);
}
