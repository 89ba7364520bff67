/* SPDX-License-Identifier: ISC */
/* The trace does not say who will resolve a promise. But programs repeat what they have done
 * before, so it can be inferred who is expected to. */
#include "analyse/graph.h"
#include "analyse/pairs.h"
#include "analyse/types.h"

/* ---- Habits of families ---- */

/* Who resolved a promise; WEFT_NONE: nobody, it is not known, or it was cancelled. */
static uint32_t resolver_of(const struct analyse_graph *g, uint32_t p)
{
    const struct weft_model *m = g->s->m;
    uint32_t by = g->s->h->resolution[p], outcome = m->promise[p].outcome;
    if (by == WEFT_NONE || outcome == WEFT_CANCELLED || outcome == WEFT_BECAME)
        return WEFT_NONE;
    return weft_model_final(m, m->interaction[by].actor);
}

bool analyse_find_habits(struct analyse_graph *g)
{
    const struct weft_model *m = g->s->m;
    const struct analyse_families *f = g->s->families;
    g->habit = analyse_take(g->s, f->count, sizeof *g->habit);
    if (!g->habit)
        return false;
    for (uint32_t p = 1; p < m->promises; p++) {
        uint32_t by = resolver_of(g, p);
        struct analyse_habit *b = &g->habit[f->of[p]];
        if (analyse_is_pending(m, p) && b->pending++ == 0)
            b->oldest_pending = p;
        if (by == WEFT_NONE)
            continue;
        int64_t length = m->promise[p].end_ns - m->promise[p].start_ns;
        if (m->promise[p].created && length > b->longest_ns)
            b->longest_ns = length;
        b->resolved++;
        b->newest_resolved = p;
        b->slept += analyse_is_sleep(g->s, p);
        b->own += by != WEFT_ROOT && by == weft_model_final(m, m->promise[p].creator);
        if (b->votes == 0)
            b->major = by;
        b->votes = by == b->major ? b->votes + 1 : b->votes - 1;
    }
    for (uint32_t p = 1; p < m->promises; p++) { /* the one that remains may be the majority */
        struct analyse_habit *b = &g->habit[f->of[p]];
        b->by_major += resolver_of(g, p) == b->major;
    }
    return true;
}

static void set_owner(struct analyse_group *group, uint32_t owner, enum analyse_why why,
                      uint64_t of, uint64_t all)
{
    group->owner = owner;
    group->why = why;
    group->of = (uint32_t)of;
    group->all = (uint32_t)all;
}

/* ---- Locks ---- */

/* Promises of the same type and label, one of which is a root: whether the promise that got it is
 * the one that passes it on, and which one has it now. */
struct locks {
    struct analyse_pairs names; /* types and labels; parallel to lock */
    struct lock {
        uint32_t holder;        /* or WEFT_NONE */
        bool taken;             /* by a signal, without a waiter */
        uint64_t passed, given; /* given: by any promise */
    } * lock;
};

static struct lock *lock_of(const struct analyse_graph *g, const struct locks *k, uint32_t p)
{
    const struct weft_model *m = g->s->m;
    const uint32_t at = analyse_pairs_find(&k->names, m->promise[p].type, weft_model_name(m, p));
    return at == WEFT_NONE ? NULL : &k->lock[at];
}

/* Returns true if it must be guessed who would resolve the root. */
static bool is_plain(const struct analyse_graph *g, const struct analyse_group *group)
{
    return group->why != ANALYSE_HOLDS && !group->members && !group->lost &&
           group->deaf == WEFT_NONE && analyse_is_pending(g->s->m, group->node);
}

static void follow_lock(const struct analyse_graph *g, const struct locks *k,
                        const struct weft_interaction *x)
{
    const uint32_t p = x->kind == WEFT_SIGNALS ? x->actor : x->other;
    const uint32_t who = weft_model_final(g->s->m, x->kind == WEFT_SIGNALS ? x->other : x->actor);
    struct lock *l = x->kind == WEFT_WAITS || p == WEFT_ROOT ? NULL : lock_of(g, k, p);
    if (!l)
        return;
    if (x->kind == WEFT_READS || x->kind == WEFT_SIGNALS) {
        l->holder = who;
        l->taken = x->kind == WEFT_SIGNALS;
    } else {
        l->given++;
        l->passed += l->holder == who;
        l->holder = WEFT_NONE;
    }
}

/* Nothing was passed on yet; but whoever took it failed. */
static bool is_lost(const struct analyse_graph *g, const struct lock *l, uint32_t p)
{
    const uint32_t *notified = g->s->h->notified_first;
    return l->taken && notified[p] == notified[p + 1] &&
           g->s->m->promise[l->holder].outcome == WEFT_FAILED;
}

/* Only for families that have a root, so that other interactions cost nothing. */
static void find_holders(struct analyse_graph *g, const bool *has_root)
{
    const struct weft_model *m = g->s->m;
    struct locks k = {.lock = analyse_take(g->s, g->count, sizeof *k.lock)};
    for (uint32_t i = 0; i < g->count && !g->s->failed; i++) {
        const uint32_t p = g->groups[i].node;
        k.lock[i].holder = WEFT_NONE;
        if (is_plain(g, &g->groups[i]))
            g->s->failed |=
                analyse_pairs_add(&k.names, m->promise[p].type, weft_model_name(m, p)) == WEFT_NONE;
    }
    for (uint32_t i = 0; i < m->interactions && k.names.count; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (has_root[g->s->families->of[x->kind == WEFT_SIGNALS ? x->actor : x->other]])
            follow_lock(g, &k, x);
    }
    for (uint32_t i = 0; i < g->count && !g->s->failed; i++) {
        struct analyse_group *group = &g->groups[i];
        const struct lock *l = is_plain(g, group) ? lock_of(g, &k, group->node) : NULL;
        /* The first one that gives it away may have got it while it was free; or it was free, and
         * nobody gave it. If nothing was passed on yet, the type must say that it will be. */
        if (!l || l->holder == WEFT_NONE || 2 * l->passed + 1 < l->given ||
            (l->passed == 0 &&
             (l->given > 1 ||
              !((analyse_known(g->s, group->node) & ANALYSE_LOCK) || is_lost(g, l, group->node)))))
            continue;
        set_owner(group, l->holder, ANALYSE_AS_HOLDER, l->passed, l->given);
    }
    analyse_pairs_fini(&k.names);
}

/* ---- Who would resolve a root ---- */

static bool waits_for(const struct analyse_graph *g, uint32_t reader, uint32_t source)
{
    return g->group[reader] == g->group[source] && g->next[reader] != WEFT_NONE &&
           analyse_ahead(g, reader) == source;
}

static void find_owner(const struct analyse_graph *g, struct analyse_group *group)
{
    const struct weft_model *m = g->s->m;
    uint32_t p = group->node, creator = weft_model_final(m, m->promise[p].creator);
    const struct analyse_habit *b = &g->habit[g->s->families->of[p]];
    bool own = creator != WEFT_ROOT && creator != p && !waits_for(g, creator, p);
    if (own && b->resolved && b->own > b->resolved - b->own) {
        set_owner(group, creator, ANALYSE_AS_CREATOR, b->own, b->resolved);
    } else if (group->why == ANALYSE_AS_HOLDER && !waits_for(g, group->owner, p)) {
        return;
    } else if (b->by_major >= 2 && b->by_major >= b->resolved - b->resolved / 4 &&
               b->major != WEFT_ROOT && b->major != p && !waits_for(g, b->major, p)) {
        set_owner(group, b->major, ANALYSE_AS_BEFORE, b->by_major, b->resolved);
    } else if (own && b->resolved == 0) {
        set_owner(group, creator, ANALYSE_CREATED, 0, 0);
    } else {
        set_owner(group, WEFT_NONE, ANALYSE_NOBODY, 0, 0);
    }
}

/* ---- Whether the owner is held up, or has nothing to do ---- */

/* A worker with nothing to do waits, too: for what it always waits for before the next job. Or it
 * waits in the middle of a job. To decide: did that wait begin while the job was there? */
struct work {
    uint32_t worker, target; /* family of what it waits for now */
    uint64_t in_job, between;
};

static void record_work(const struct analyse_graph *g, struct work *work, const uint32_t *last,
                        const struct weft_interaction *x)
{
    const struct weft_model *m = g->s->m;
    struct work *w = &work[g->s->families->of[x->other]];
    uint32_t who = weft_model_final(m, x->actor);
    if (x->kind != WEFT_RESOLVES || w->worker != who || w->worker == WEFT_NONE || !last[who])
        return;
    const struct weft_wait *wait = &g->s->h->wait[last[who] - 1];
    if (g->s->families->of[weft_model_final(m, wait->source)] != w->target)
        return;
    if (wait->from_ns >= m->promise[x->other].start_ns)
        w->in_job++;
    else
        w->between++;
}

static void find_work(struct analyse_graph *g, struct work *work)
{
    const struct weft_model *m = g->s->m;
    const struct weft_history *h = g->s->h;
    uint32_t at = 0, any = 0, *last = analyse_take(g->s, m->promises, sizeof *last);
    for (uint32_t i = 0; i < g->s->families->count; i++)
        work[i] = (struct work){WEFT_NONE, WEFT_NONE, 0, 0};
    for (uint32_t i = 0; i < g->count; i++) {
        const struct analyse_group *group = &g->groups[i];
        if (group->why != ANALYSE_AS_BEFORE || g->next[group->owner] == WEFT_NONE)
            continue;
        struct work *w = &work[g->s->families->of[group->node]];
        w->worker = group->owner;
        w->target = g->s->families->of[analyse_ahead(g, group->owner)];
        any++;
    }
    for (uint32_t i = 0; i < m->interactions && any && last; i++) {
        if (at < h->waits && h->wait[at].begun_by == i) {
            last[weft_model_final(m, h->wait[at].reader)] = at + 1;
            at++;
        }
        record_work(g, work, last, &m->interaction[i]);
    }
}

/* Finds the group in which an owner is held up. */
static void find_up(struct analyse_graph *g, struct analyse_group *group, const struct work *work)
{
    uint32_t owner = group->owner;
    if (owner == WEFT_NONE || owner == WEFT_ROOT || g->next[owner] == WEFT_NONE)
        return;
    uint32_t up = g->group[owner];
    const struct analyse_group *held = &g->groups[up];
    const struct work *w = &work[g->s->families->of[group->node]];
    bool idle = group->why == ANALYSE_AS_BEFORE && w->in_job == 0 && w->between > 0;
    /* … unless the signal that it missed was for this job. */
    if (idle && !(held->lost && held->lost_ns >= g->s->m->promise[group->node].start_ns))
        return;
    if (analyse_is_meant(g, held->node) && !held->lost)
        return;
    group->up = up;
}

/* Finds circles of groups, each owner held up in the next one. Marks those that count. */
static void close_circles(struct analyse_graph *g, uint32_t *seen)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t at = i, length = 0, guesses = 0;
        while (at != WEFT_NONE && seen[at] == 0) {
            seen[at] = i + 1;
            at = g->groups[at].up;
        }
        if (at == WEFT_NONE || seen[at] != i + 1)
            continue;
        const uint32_t first = at;
        uint32_t teller = first;
        bool same = true;
        do {
            length++;
            teller = at < teller ? at : teller;
            guesses += g->groups[at].why == ANALYSE_CREATED;
            same &= g->groups[at].owner == g->groups[first].owner;
            at = g->groups[at].up;
        } while (at != first);
        if (guesses && (length == 1 || same))
            continue;
        do {
            g->groups[at].closed = true;
            g->groups[at].teller = teller;
            at = g->groups[at].up;
        } while (at != first);
    }
}

/* Adds to each group the list of groups that are part of it. */
static void link_groups(struct analyse_graph *g)
{
    for (uint32_t i = g->count; i-- > 0;) {
        struct analyse_group *group = &g->groups[i];
        if (group->closed || group->up == WEFT_NONE || group->up == i ||
            group->why == ANALYSE_CREATED)
            continue;
        group->followed = true;
        group->next_under = g->groups[group->up].first_under;
        g->groups[group->up].first_under = i;
    }
}

bool analyse_find_owners(struct analyse_graph *g)
{
    const struct analyse_families *f = g->s->families;
    bool *has_root = analyse_take(g->s, f->count, sizeof *has_root);
    uint32_t *seen = analyse_take(g->s, g->count, sizeof *seen);
    struct work *work = analyse_take(g->s, f->count, sizeof *work);
    analyse_find_held(g);
    if (g->s->failed)
        return false;
    for (uint32_t i = 0; i < g->count; i++)
        has_root[f->of[g->groups[i].node]] |= is_plain(g, &g->groups[i]);
    find_holders(g, has_root);
    for (uint32_t i = 0; i < g->count; i++)
        if (is_plain(g, &g->groups[i]))
            find_owner(g, &g->groups[i]);
    find_work(g, work);
    for (uint32_t i = 0; i < g->count; i++)
        if (is_plain(g, &g->groups[i]))
            find_up(g, &g->groups[i], work);
    analyse_follow_holders(g);
    close_circles(g, seen);
    link_groups(g);
    return !g->s->failed;
}
