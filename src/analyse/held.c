/* SPDX-License-Identifier: ISC */
/* What is held when the trace ends, and who hangs because of that. This uses only what the trace
 * says; where it does not say everything, no conclusion is drawn. */
#include "analyse/graph.h"

enum {
    ROUNDS = 16,   /* what is still undecided after this many rounds may continue */
    LOCK_SEEN = 8, /* this many holders, one after another, show that it is a lock */
};

uint32_t analyse_next_holder(const struct analyse_graph *g, uint32_t resource, uint32_t *at)
{
    const struct weft_history *h = g->s->h;
    for (; *at < h->holds_for_first[resource + 1]; (*at)++) {
        const struct weft_hold *x = &h->m->hold[h->holds_for[*at]];
        if (x->released_by == WEFT_NONE)
            return h->holds_for[(*at)++];
    }
    return WEFT_NONE;
}

uint32_t analyse_holder(const struct analyse_graph *g, uint32_t hold)
{
    return weft_model_final(g->s->m, g->s->m->hold[hold].holder);
}

bool analyse_is_passed(const struct weft_history *h, uint32_t resource)
{
    const struct weft_model *m = h->m;
    analyse_each(i, h->holds_for_first, resource) {
        const struct weft_hold *x = &m->hold[h->holds_for[i]];
        if (x->holder == WEFT_NONE ||
            (x->released_by != WEFT_NONE &&
             weft_model_final(m, x->released_by) != weft_model_final(m, x->holder)))
            return true;
    }
    return false;
}

bool analyse_is_place(const struct analyse_graph *g, uint32_t promise)
{
    const struct weft_model *m = g->s->m;
    if (g->next[promise] == WEFT_NONE)
        return false;
    const uint32_t resource = analyse_ahead(g, promise), name = weft_model_name(m, resource);
    return (g->mark[resource] & ANALYSE_HELD) && name != WEFT_NONE && resource != promise &&
           weft_model_name(m, promise) == name &&
           m->promise[promise].type == m->promise[resource].type;
}

bool analyse_holds_known(const struct weft_model *m, uint32_t resource)
{
    const struct weft_promise *p = &m->promise[resource];
    return m->quirks.at_once || (p->created && !p->promoted && p->start_ns >= m->known_ns);
}

/* Some events are missing, but others show that only one can hold it at a time, and who does. */
static bool is_lock(const struct weft_history *h, uint32_t resource)
{
    const struct weft_model *m = h->m;
    const uint32_t first = h->holds_for_first[resource], end = h->holds_for_first[resource + 1];
    int64_t until = INT64_MIN;
    if (end - first <= LOCK_SEEN)
        return false;
    for (uint32_t i = first; i < end; i++) {
        const struct weft_hold *x = &m->hold[h->holds_for[i]];
        if (x->from_ns < until || (x->released_by == WEFT_NONE && i + 1 < end))
            return false;
        until = x->to_ns;
    }
    return m->hold[h->holds_for[end - 1]].from_ns >= m->known_ns;
}

void analyse_mark_held(struct analyse_graph *g)
{
    const struct weft_history *h = g->s->h;
    for (uint32_t p = 1; p < h->m->promises && h->m->holds; p++) {
        uint32_t at = h->holds_for_first[p];
        if (analyse_is_pending(h->m, p) && analyse_next_holder(g, p, &at) != WEFT_NONE &&
            (analyse_holds_known(h->m, p) || is_lock(h, p)) && !analyse_is_passed(h, p))
            g->mark[p] |= ANALYSE_HELD;
    }
}

bool analyse_free_held(struct analyse_graph *g)
{
    const struct weft_model *m = g->s->m;
    bool any = false;
    for (uint32_t i = 0; i < m->holds; i++) {
        const struct weft_hold *x = &m->hold[i];
        const uint32_t resource = weft_model_final(m, x->resource);
        if (x->released_by != WEFT_NONE || !(g->mark[resource] & ANALYSE_HELD) ||
            (g->mark[resource] & ANALYSE_IDLE))
            continue;
        const uint32_t holder = analyse_holder(g, i);
        if (analyse_is_pending(m, holder) && (g->mark[holder] & ANALYSE_CAN_BE_FREED)) {
            g->mark[resource] |= ANALYSE_IDLE;
            any = true;
        }
    }
    return any;
}

/* Who holds the root of a group. */
struct holders {
    bool stuck;     /* the group may be stuck for ever */
    bool free;      /* one of them does not hang */
    bool together;  /* all of them hang in one group: */
    uint32_t group; /* the group of the oldest hold */
    uint32_t owner; /* one of those that have ended, or else the one that has held it for longest */
    uint32_t ended, all;
};

static struct holders holders_of(const struct analyse_graph *g, uint32_t resource)
{
    struct holders s = {.together = true, .group = WEFT_NONE, .owner = WEFT_NONE};
    uint32_t at = g->s->h->holds_for_first[resource], hold;
    while ((hold = analyse_next_holder(g, resource, &at)) != WEFT_NONE) {
        const uint32_t holder = analyse_holder(g, hold);
        const bool hangs = holder != WEFT_ROOT && g->next[holder] != WEFT_NONE;
        const bool ended = holder != WEFT_ROOT && !analyse_is_pending(g->s->m, holder);
        if (s.all++ == 0 || (ended && s.ended == 0))
            s.owner = holder;
        s.ended += ended;
        s.free |= !hangs;
        if (!hangs)
            continue;
        s.group = s.group == WEFT_NONE ? g->group[holder] : s.group;
        s.together &= g->group[holder] == s.group;
    }
    return s;
}

/* Returns true if all that hold the root hang in groups that are stuck. */
static bool all_holders_hang(const struct analyse_graph *g, const struct holders *of,
                             uint32_t resource)
{
    uint32_t at = g->s->h->holds_for_first[resource], hold;
    while ((hold = analyse_next_holder(g, resource, &at)) != WEFT_NONE)
        if (!of[g->group[analyse_holder(g, hold)]].stuck)
            return false;
    return true;
}

/* Of the groups that may be stuck, keeps those whose holders all hang in such groups: for ever. */
static void keep_stuck_groups(const struct analyse_graph *g, struct holders *of)
{
    bool changed = true;
    for (unsigned round = 0; changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++)
            if (of[i].stuck && (round == ROUNDS || !all_holders_hang(g, of, g->groups[i].node))) {
                of[i].stuck = false;
                changed = true;
            }
    }
}

/* Returns true if the group depends on something that may come at any time. */
static bool may_come(const struct analyse_graph *g, const struct analyse_group *group)
{
    return analyse_is_meant(g, group->node) && !group->lost;
}

void analyse_find_held(struct analyse_graph *g)
{
    struct holders *of = analyse_take(g->s, g->count, sizeof *of); /* by group */
    if (g->s->failed)
        return;
    for (uint32_t i = 0; i < g->count; i++) {
        struct analyse_group *group = &g->groups[i];
        if (!(g->mark[group->node] & ANALYSE_HELD) || group->members || group->lost)
            continue;
        of[i] = holders_of(g, group->node);
        of[i].stuck = !of[i].free;
        group->why = ANALYSE_HOLDS;
        group->owner = of[i].owner;
        group->of = of[i].ended;
        group->all = of[i].all;
    }
    keep_stuck_groups(g, of);
    for (uint32_t i = 0; i < g->count; i++)
        if (of[i].all && !of[i].free &&
            (of[i].stuck || (of[i].together && !may_come(g, &g->groups[of[i].group]))))
            g->groups[i].up = of[i].group;
}

void analyse_follow_holders(struct analyse_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct analyse_group *group = &g->groups[i];
        if (group->why != ANALYSE_HOLDS || group->up != WEFT_NONE || group->of || group->all != 1 ||
            group->owner == WEFT_ROOT)
            continue;
        const uint32_t at = g->group[group->owner];
        const struct analyse_group *other = at == WEFT_NONE || at == i ? NULL : &g->groups[at];
        if (other && other->node == group->owner && other->up == WEFT_NONE && !other->members &&
            !may_come(g, other))
            group->up = at;
    }
}
