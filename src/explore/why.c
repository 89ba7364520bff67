/* SPDX-License-Identifier: ISC */
#include "explore/why.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "analyse/spent.h"
#include "base/array.h"
#include "base/order.h"
#include "base/table.h"
#include "format/utf8.h"
#include "profile/build.h"

/* What a frame is, if it is not a label. */
enum state { RUNNING, READY, UNKNOWN, CYCLE, NOT_FOLLOWED, STATES };

static const char *const states[STATES] = {"(running)", "(ready)", "(unknown)", "(cycle)",
                                           "(not followed)"};

struct key {
    uint32_t parent, what; /* a sort of promises, or UINT32_MAX minus a state */
};

/* What a promise did from one time to another, as far as it is known, and how far that has been added up. */
struct visit {
    uint32_t promise, node;
    uint32_t at, end; /* parts */
    int64_t cursor_ns, to_ns;
};

/* Where the parts of a promise are. */
struct life {
    uint32_t first, count; /* first: WEFT_NONE: not asked yet */
};

struct explore_why {
    const struct weft_history *h;
    const struct weft_model *m;
    struct explore_why_of of;
    struct analyse_sorting sorting; /* while the sorts are made */
    struct analyse_families sorts;
    struct weft_meter meter;
    struct weft_spent_part *part;
    uint32_t parts, part_room;
    struct life *life; /* by promise */
    struct visit visit[EXPLORE_WHY_DEPTH + 1];
    uint32_t depth; /* visits that are open */
    uint32_t at;    /* the next promise that may have waited */
    uint32_t visits;

    struct weft_calltree *tree;
    struct weft_profile *names;
    uint32_t *text; /* by sort, WEFT_NONE: not named yet */
    uint32_t state_text[STATES];
    struct key *key; /* parallel to the calls */
    uint32_t keys, key_room, call_room;
    struct weft_table by;
    uint64_t seed;
};

/* ---- Names ---- */

static uint32_t name_sort(struct explore_why *w, uint32_t sort)
{
    const struct weft_model *m = w->m;
    const uint32_t promise = w->sorts.first[sort], name = weft_model_name(m, promise);
    char shape[ANALYSE_SHAPE_BYTES], clean[3 * ANALYSE_SHAPE_BYTES];
    uint32_t size = 0;
    const char *label =
        name == WEFT_NONE ? weft_model_type(m, promise) : weft_model_text(m, name, &size);
    if (name == WEFT_NONE)
        size = (uint32_t)strlen(label);
    if (name != WEFT_NONE && w->sorts.differs[sort]) {
        size = analyse_shape(shape, label, size);
        label = shape;
    }
    size = (uint32_t)weft_text_clean(clean, sizeof clean, label, size);
    return weft_profile_add_text(w->names, clean, size);
}

/* ---- The tree ---- */

/* A frame below another one, made if it is not there; if there are too many, the upper one. WEFT_NONE: no memory. */
static uint32_t node_of(struct explore_why *w, uint32_t parent, uint32_t what)
{
    struct weft_calltree *t = w->tree;
    const struct key key = {parent, what};
    const bool is_state = what > UINT32_MAX - STATES;
    uint32_t at = weft_table_get(&w->by, w->key, sizeof key, sizeof key, &key, w->seed);
    if (at != WEFT_NONE)
        return at;
    if (t->calls == WEFT_CALLS_MAX)
        return parent;
    if (!is_state && w->text[what] == WEFT_NONE)
        w->text[what] = name_sort(w, what);
    uint32_t text = is_state ? w->state_text[UINT32_MAX - what] : w->text[what];
    if (text == WEFT_NONE || !weft_reserve(&t->call, w->keys, &w->call_room, sizeof *t->call))
        return WEFT_NONE;
    at = weft_table_add(&w->by, &w->key, &w->keys, &w->key_room, sizeof key, sizeof key, &key,
                        w->seed);
    if (at == WEFT_NONE)
        return WEFT_NONE;
    uint32_t depth = t->call[parent].depth + 1;
    t->call[at] = (struct weft_call){
        .parent = parent,
        .first_child = WEFT_NONE,
        .next_sibling = WEFT_NONE,
        .frame = {.kind = is_state ? WEFT_FRAME_STATE : WEFT_FRAME_LABEL,
                  .text = text,
                  .function = WEFT_NONE,
                  .location = WEFT_NONE,
                  .promise = is_state ? WEFT_NONE : w->sorts.first[what]},
        .depth = depth,
    };
    t->calls = w->keys;
    t->depth = depth > t->depth ? depth : t->depth;
    return at;
}

static bool add_time(struct explore_why *w, uint32_t node, enum state state, int64_t ns)
{
    uint32_t at = node_of(w, node, UINT32_MAX - state);
    if (at == WEFT_NONE)
        return false;
    w->tree->call[at].self += (uint64_t)ns;
    w->tree->total += (uint64_t)ns;
    return true;
}

/* ---- What promises did ---- */

/* The parts of a promise's life, which are found once. */
static const struct life *life_of(struct explore_why *w, uint32_t promise)
{
    struct life *l = &w->life[promise];
    if (l->first != WEFT_NONE)
        return l;
    uint32_t first = w->parts;
    if (weft_spent_parts(&w->part, &w->parts, &w->part_room, &w->meter, promise) < 0)
        return NULL;
    *l = (struct life){first, w->parts - first};
    return l;
}

static bool is_above(const struct explore_why *w, uint32_t promise)
{
    for (uint32_t i = 0; i < w->depth; i++)
        if (w->visit[i].promise == promise)
            return true;
    return false;
}

/* Begins to look at what a promise did in that time, for a frame. */
static bool begin_visit(struct explore_why *w, uint32_t promise, uint32_t node, int64_t from_ns,
                        int64_t to_ns)
{
    const struct life *l = life_of(w, promise);
    if (!l)
        return false;
    uint32_t low = l->first, high = l->first + l->count;
    WEFT_SEEK(low, high, w->part[middle].to_ns <= from_ns);
    w->visit[w->depth++] = (struct visit){promise, node, low, l->first + l->count, from_ns, to_ns};
    return true;
}

/* Somebody waited for the source of a wait in that time; node is theirs. */
static bool add_wait(struct explore_why *w, uint32_t node, uint32_t wait, int64_t from_ns,
                     int64_t to_ns)
{
    uint32_t source = w->h->wait[wait].source, final = weft_model_final(w->m, source);
    node = node_of(w, node, w->sorts.of[source]);
    if (node == WEFT_NONE)
        return false;
    if (is_above(w, final))
        return add_time(w, node, CYCLE, to_ns - from_ns);
    if (w->depth > EXPLORE_WHY_DEPTH || w->visits >= EXPLORE_WHY_VISITS)
        return add_time(w, node, NOT_FOLLOWED, to_ns - from_ns);
    return begin_visit(w, final, node, from_ns, to_ns);
}

/* Adds up the next piece of the innermost visit. */
static bool step(struct explore_why *w)
{
    struct visit *v = &w->visit[w->depth - 1];
    const struct weft_spent_part *p = v->at < v->end ? &w->part[v->at] : NULL;
    const bool outer = w->depth == 1; /* of the promise itself: only its waits count */
    int64_t from = v->cursor_ns;
    if (from >= v->to_ns) {
        w->depth--;
        return true;
    }
    w->visits++;
    if (!p || p->from_ns > from) { /* nothing is known */
        v->cursor_ns = p ? weft_earlier(p->from_ns, v->to_ns) : v->to_ns;
        return outer || add_time(w, v->node, UNKNOWN, v->cursor_ns - from);
    }
    int64_t to = weft_earlier(p->to_ns, v->to_ns);
    v->cursor_ns = to;
    v->at++;
    if (p->kind == WEFT_SPENT_WAITING)
        return add_wait(w, v->node, p->wait, from, to);
    return outer || add_time(w, v->node, p->kind == WEFT_SPENT_READY ? READY : RUNNING, to - from);
}

/* Goes to the next promise that counts. Returns false if there is no memory. */
static bool begin_promise(struct explore_why *w)
{
    uint32_t p = w->at++, sort = w->sorts.of[p];
    if (w->of.promise != WEFT_NONE && sort != w->sorts.of[w->of.promise])
        return true;
    if (analyse_count(w->h->waits_of_first, p) == 0)
        return true;
    const struct life *l = life_of(w, p);
    bool waits = false;
    for (uint32_t i = 0; l && i < l->count && !waits; i++)
        waits = w->part[l->first + i].kind == WEFT_SPENT_WAITING;
    if (!l || !waits)
        return l != NULL;
    uint32_t node = node_of(w, 0, sort);
    return node != WEFT_NONE && begin_visit(w, p, node, w->part[l->first].from_ns,
                                            w->part[l->first + l->count - 1].to_ns);
}

/* Sorts the promises by label. Returns 1 if there is more to do, 0 when it is done, or WEFT_E_NOMEM. */
static int sort_promises(struct explore_why *w, uint32_t *steps)
{
    int rc = analyse_sorting_work(&w->sorting, steps);
    if (rc != 0)
        return rc;
    w->sorts = w->sorting.f;
    w->sorting.f = (struct analyse_families){.count = 0};
    analyse_sorting_end(&w->sorting);
    w->text = weft_new_none(w->sorts.count, sizeof *w->text);
    return w->text ? 0 : WEFT_E_NOMEM;
}

int explore_why_work(struct explore_why *w, uint32_t steps)
{
    while (!w->text && steps) {
        int rc = sort_promises(w, &steps);
        if (rc < 0)
            return rc;
    }
    if (!w->text)
        return 1;
    for (; steps && (w->depth || w->at < w->m->promises); steps--)
        if (!(w->depth ? step(w) : begin_promise(w)))
            return WEFT_E_NOMEM;
    return w->depth || w->at < w->m->promises;
}

/* ---- Begin and end ---- */

static bool begin(struct explore_why *w)
{
    const struct key root = {WEFT_NONE, WEFT_NONE};
    if (analyse_sorting_begin(&w->sorting, w->m, weft_model_name, !w->of.family) < 0)
        return false;
    w->life = weft_new_none(w->m->promises, sizeof *w->life);
    w->names = weft_profile_new();
    w->tree = calloc(1, sizeof *w->tree);
    if (!w->life || !w->names || !w->tree ||
        !weft_reserve(&w->tree->call, 0, &w->call_room, sizeof *w->tree->call) ||
        weft_table_add(&w->by, &w->key, &w->keys, &w->key_room, sizeof root, sizeof root, &root,
                       w->seed) != 0)
        return false;
    w->tree->call[0] = (struct weft_call){
        .parent = WEFT_NONE,
        .first_child = WEFT_NONE,
        .next_sibling = WEFT_NONE,
        .frame = {.kind = WEFT_FRAME_STATE,
                  .function = WEFT_NONE,
                  .location = WEFT_NONE,
                  .promise = WEFT_NONE},
    };
    w->tree->calls = 1;
    w->tree->unit = WEFT_UNIT_NS;
    w->tree->waits = true;
    bool named = true;
    for (unsigned i = 0; i < STATES; i++) {
        w->state_text[i] = weft_profile_add_text(w->names, states[i], (uint32_t)strlen(states[i]));
        named = named && w->state_text[i] != WEFT_NONE;
    }
    return named;
}

int explore_why_begin(struct explore_why **out, const struct weft_history *h,
                      const struct explore_why_of *of)
{
    struct explore_why *w = *out = calloc(1, sizeof *w);
    if (!w)
        return WEFT_E_NOMEM;
    w->h = h;
    w->m = h->m;
    w->of = *of;
    w->at = 1;
    w->seed = weft_seed();
    w->meter = (struct weft_meter){.h = h, .from_ns = of->from_ns, .to_ns = of->to_ns};
    if (begin(w))
        return 0;
    explore_why_end(w);
    *out = NULL;
    return WEFT_E_NOMEM;
}

void explore_why_take(struct explore_why *w, struct weft_calltree **tree,
                      struct weft_profile **names)
{
    *tree = w->tree;
    *names = w->names;
    w->tree = NULL;
    w->names = NULL;
    if (weft_calltree_add_up(*tree, *names) == 0)
        return;
    weft_calltree_free(*tree);
    weft_profile_free(*names);
    *tree = NULL;
    *names = NULL;
}

void explore_why_end(struct explore_why *w)
{
    if (!w)
        return;
    analyse_sorting_end(&w->sorting);
    analyse_families_fini(&w->sorts);
    weft_meter_fini(&w->meter);
    weft_calltree_free(w->tree);
    weft_profile_free(w->names);
    weft_free_all(w->part, w->life, w->text, w->key, w->by.slot, w);
}
