/* SPDX-License-Identifier: ISC */
/* What hangs: which groups of the graph become findings, and how certain they are. */
#include <stdlib.h>
#include <string.h>

#include "analyse/graph.h"
#include "analyse/types.h"

enum {
    FAMILY_SOME = 2,   /* this many that ended show that their sort does end */
    FAMILY_ENOUGH = 8, /* this many show how long one of their sort may take */
    FAMILY_MANY = 100, /* … and that there are always some of them */
    SHORT_PART = 10,   /* what is there for a tenth of the trace at most may have been in flight */
};

/* Goes through the groups that are reported together: start, those that are part of it, and the
 * others of its circle with theirs. WEFT_NONE: at was the last one. */
static uint32_t group_after(const struct analyse_graph *g, uint32_t start, uint32_t at)
{
    const struct analyse_group *gr = g->groups;
    if (gr[at].first_under != WEFT_NONE)
        return gr[at].first_under;
    while (gr[at].followed && gr[at].next_under == WEFT_NONE)
        at = gr[at].up;
    if (gr[at].followed)
        return gr[at].next_under;
    return gr[at].closed && gr[at].up != start ? gr[at].up : WEFT_NONE;
}

/* How long a wait has lasted when the trace ends. */
static int64_t waited_ns(const struct analyse_graph *g, uint32_t wait)
{
    return weft_later(g->s->m->end_ns - g->s->h->wait[wait].from_ns, 0);
}

/* Walks on from start; below the groups of a circle it stops at groups of that circle. */
static void measure_group(const struct analyse_graph *g, struct analyse_hang *x, uint32_t group)
{
    const struct weft_model *m = g->s->m;
    const struct analyse_group *gr = &g->groups[group];
    for (uint32_t i = gr->first; i < gr->first + gr->count; i++) {
        uint32_t p = g->order[i];
        bool behind = (g->mark[p] & ANALYSE_BEHIND_BACKGROUND) != 0;
        if (!m->promise[p].background) {
            x->alive |= !behind && (gr->count == 1 || gr->members || p != gr->node);
            x->expected = x->expected || (!behind && analyse_is_expected(g, p));
            uint32_t *near = behind ? &x->near_behind : &x->near;
            if (m->promise[p].should_resolve) {
                *near = *near == WEFT_NONE ? p : *near;
                x->top = p;
            }
        }
        x->affected += !analyse_is_place(g, p);
        if (g->next[p] != WEFT_NONE)
            x->cost_ns = weft_later(waited_ns(g, g->next[p]), x->cost_ns);
    }
}

/* ---- Confidence ---- */

static int64_t age_of(const struct analyse_graph *g, uint32_t p)
{
    return weft_later(g->s->m->end_ns - g->s->m->promise[p].start_ns, 0);
}

/* Returns true if others of its sort took as long, and it was there only for a short time. */
static bool is_young(const struct analyse_graph *g, uint32_t p)
{
    const struct analyse_habit *b = &g->habit[g->s->families->of[p]];
    int64_t age = age_of(g, p);
    return b->resolved >= FAMILY_ENOUGH && age <= b->longest_ns &&
           age <= g->s->m->end_ns / SHORT_PART;
}

/* Returns true for the first promise of the trace, a task, if it only waits for what it has created
 * itself, through what it has called. */
static bool waits_apart(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct analyse_group *gr = &g->groups[x->group];
    uint32_t first = 1;
    while (first < m->promises && !m->promise[first].created)
        first++;
    if (x->near != first || m->promise[first].creator != WEFT_ROOT ||
        gr->first_under != WEFT_NONE || strcmp(weft_model_type(m, first), "task") != 0)
        return false;
    for (uint32_t i = gr->first; i < gr->first + gr->count; i++) {
        uint32_t p = g->order[i];
        bool is_call = strcmp(weft_model_type(m, p), "call") == 0;
        if (analyse_count(g->in_first, p) > 1 || (p != gr->node && p != first && !is_call))
            return false;
    }
    return true;
}

/* TOLD if the trace itself says how all groups that are reported together depend on each other: each
 * that is part of another, or of the circle, is held by a promise that hangs there. CONCLUDED if for
 * one of them it is only inferred that nobody else holds it. */
static uint64_t signs_of_holders(const struct analyse_graph *g, uint32_t start)
{
    uint64_t signs = ANALYSE_H_TOLD;
    for (uint32_t at = start; at != WEFT_NONE; at = group_after(g, start, at)) {
        const struct analyse_group *gr = &g->groups[at];
        if (gr->why == ANALYSE_HOLDS)
            signs |= analyse_holds_known(g->s->m, gr->node) ? 0 : ANALYSE_H_CONCLUDED;
        else if (at != start || gr->closed)
            signs &= ~ANALYSE_H_TOLD;
    }
    return signs;
}

/* Since when no holder of a resource has moved. *runs is set if one runs when the trace ends. */
static int64_t holders_still_since(const struct analyse_graph *g, uint32_t resource, bool *runs)
{
    uint32_t at = g->s->h->holds_for_first[resource], hold;
    int64_t since = INT64_MIN;
    while ((hold = analyse_next_holder(g, resource, &at)) != WEFT_NONE) {
        const uint32_t holder = analyse_holder(g, hold);
        if (holder == WEFT_ROOT || !analyse_is_pending(g->s->m, holder))
            continue;
        since = weft_later(analyse_last_life(g, holder), since);
        *runs |= analyse_runs_on(g, holder);
    }
    return since;
}

/* A program may intentionally wait for something that will never come, until somebody ends it. Then
 * others continue in the meantime. */
static bool is_on_purpose(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct weft_model *m = g->s->m;
    uint32_t ended = 0;
    int64_t from, last = 0;
    if (x->kind != WEFT_FINDING_HANG_ROOT || x->near == WEFT_NONE || x->wait == WEFT_NONE ||
        (g->mark[g->groups[x->group].node] & ANALYSE_HELD) || g->habit[x->family].resolved ||
        !waits_apart(g, x))
        return false;
    from = g->s->h->wait[x->wait].from_ns;
    for (uint32_t p = 1; p < m->promises; p++)
        if (m->promise[p].created && m->promise[p].start_ns >= from && !analyse_is_pending(m, p)) {
            ended++;
            last = weft_later(m->promise[p].end_ns, last);
        }
    return ended >= FAMILY_ENOUGH && last - from > (m->end_ns - from) / 2;
}

/* Returns true if the process falls asleep when the trace ends, which does not say for how long. */
static bool ends_asleep(const struct weft_model *m)
{
    return !m->end_known && m->asleep;
}

/* If the program had not ended by itself: it may still continue if it moved so recently. */
static uint64_t signs_of_end(const struct analyse_graph *g, const struct analyse_hang *x,
                             int64_t still_ns)
{
    const struct weft_model *m = g->s->m;
    const struct analyse_group *gr = &g->groups[x->group];
    uint32_t root = gr->node, waiter = x->near;
    const struct analyse_habit *b = &g->habit[g->s->families->of[root]];
    uint32_t judged = b->resolved < FAMILY_ENOUGH && waiter != WEFT_NONE ? waiter : root;
    uint64_t signs = b->resolved == 0 ? ANALYSE_H_FIRST : 0;
    /* A program that ends because nothing is left to do has not slept since. */
    if (is_young(g, judged))
        signs |= ANALYSE_H_YOUNG | (g->habit[g->s->families->of[judged]].resolved >= FAMILY_MANY ||
                                            g->slept_ns > m->promise[judged].start_ns
                                        ? ANALYSE_H_IN_FLIGHT
                                        : 0);
    /* All that could give the root back hang, too, or have ended. */
    bool kept = gr->members || gr->closed || (gr->why == ANALYSE_HOLDS && gr->of == gr->all);
    /* If it is marked, or will not come, and all sleeps at the end, it should be looked at. */
    bool sleeps = ends_asleep(m) && (waiter != WEFT_NONE || (g->mark[root] & ANALYSE_SHOULD) ||
                                     (!m->quirks.mirage_kinds && kept));
    if (still_ns < g->s->o->hang_ns && !sleeps)
        signs |= ANALYSE_H_MOVED;
    else if (still_ns / 3 < b->longest_ns)
        signs |= ANALYSE_H_USUAL;
    return signs;
}

/* What happened after the result was there, so that the waiter could have run. */
static uint64_t signs_of_lost(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct weft_history *h = g->s->h;
    const struct analyse_group *gr = &g->groups[x->group];
    uint32_t reader = analyse_reader(g, gr->lost_wait), run = weft_history_last_run(h, reader);
    int64_t since = gr->lost_ns, until = h->m->end_ns, twice = g->slept_twice_ns;
    uint64_t signs =
        (gr->lost_often ? ANALYSE_H_VAIN_BEFORE : 0) | (gr->lost_usual ? ANALYSE_H_SIGNALS : 0) |
        (gr->lost_acted ? ANALYSE_H_ACTED : 0) | (gr->lost_clear ? ANALYSE_H_CLEAR : 0) |
        (gr->lost == ANALYSE_LOST_OTHER ? ANALYSE_H_TO_OTHER : 0) |
        (gr->lost == ANALYSE_LOST_LATE ? ANALYSE_H_LATE : 0);
    if (gr->lost == ANALYSE_LOST_BEFORE || gr->lost == ANALYSE_LOST_LATE ||
        until - since >= g->s->o->hang_ns)
        return signs;
    if (run != WEFT_NONE)
        twice = analyse_slept_ns(h, weft_history_stream(h, run), 1);
    return twice <= since ? signs | ANALYSE_H_SOON : signs;
}

/* Returns true if it is a timer that goes off by itself: others of its sort did, and it is not long
 * overdue; or it is the only one, and others continue in the meantime. */
static bool is_set(const struct analyse_graph *g, const struct analyse_hang *x, uint32_t root)
{
    enum { LATE = 10 }; /* times the sum of the longest of the others and hang_ns */
    const struct analyse_habit *b = &g->habit[g->s->families->of[root]];
    if (!analyse_is_timer(g->s->m, root))
        return false;
    return b->resolved < FAMILY_ENOUGH ? is_on_purpose(g, x)
                                       : age_of(g, root) / LATE <= b->longest_ns + g->s->o->hang_ns;
}

/* What depends on it: marks, and what the trace says about who would resolve it. */
static uint64_t signs_of_need(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct analyse_group *gr = &g->groups[x->group];
    const int64_t lasted = x->wait == WEFT_NONE ? age_of(g, gr->node) : waited_ns(g, x->wait);
    const uint64_t held = signs_of_holders(g, x->group);
    const bool locked = gr->members || (gr->closed && held & ANALYSE_H_TOLD);
    return held | (gr->closed ? ANALYSE_H_CLOSED : 0) |
           (locked && x->alive ? ANALYSE_H_LOCKED : 0) |
           (g->mark[gr->node] & ANALYSE_SHOULD ? ANALYSE_H_ROOT_MARKED : 0) |
           (x->near != WEFT_NONE ? ANALYSE_H_MARKED : 0) |
           (x->near_behind != WEFT_NONE ? ANALYSE_H_MARKED_LATER : 0) |
           (analyse_is_meant(g, gr->node) ? ANALYSE_H_MEANT : 0) |
           (x->alive ? ANALYSE_H_ALIVE : 0) |
           (lasted < g->s->o->hang_ns && (m->quirks.mirage_kinds || !ends_asleep(m))
                ? ANALYSE_H_SHORT
                : 0) |
           (x->expected ? ANALYSE_H_EXPECTED : 0) | (is_set(g, x, gr->node) ? ANALYSE_H_SET : 0) |
           (analyse_has_worked(g, gr->node) ? ANALYSE_H_WORKED : 0) |
           (gr->why == ANALYSE_HOLDS && gr->of == gr->all ? ANALYSE_H_KEPT : 0);
}

/* Returns true if what makes this a hang was kept when the promise's events were overwritten: that
 * it is pending, since when, and who waits for it. Of signals only the last one is kept. */
static bool is_kept_over_losses(const struct analyse_graph *g, const struct analyse_hang *x,
                                uint32_t promise)
{
    const struct weft_promise *p = &g->s->m->promise[promise];
    const struct weft_losses *l = &g->s->m->losses;
    bool simple = x->kind == WEFT_FINDING_HANG_ROOT || x->kind == WEFT_FINDING_NEVER_RESOLVED ||
                  (x->kind == WEFT_FINDING_DEADLOCK && !l->pending);
    return simple && p->promoted && !l->discarded;
}

/* When one of the latest promises that it has created last moved. */
static int64_t children_still_since(const struct analyse_graph *g, uint32_t p)
{
    enum { LOOKED_AT = 64 };
    const struct weft_history *h = g->s->h;
    const uint32_t first = h->children_first[p];
    int64_t since = INT64_MIN;
    for (uint32_t i = h->children_first[p + 1], n = 0; i-- > first && n < LOOKED_AT; n++)
        since = weft_later(analyse_last_life(g, h->children[i]), since);
    return since;
}

static bool judge_hang(const struct analyse_graph *g, struct analyse_hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct analyse_group *gr = &g->groups[x->group];
    const struct analyse_habit *b = &g->habit[x->family];
    bool runs = false;
    uint32_t who = x->near != WEFT_NONE          ? x->near
                   : x->near_behind != WEFT_NONE ? x->near_behind
                                                 : gr->node;
    if (x->near == WEFT_NONE && x->wait != WEFT_NONE && (g->mark[gr->node] & ANALYSE_SHOULD))
        who = analyse_reader(g, x->wait);
    int64_t since = analyse_still_since(g, who, &runs);
    if (gr->why == ANALYSE_HOLDS && !gr->closed)
        since = weft_later(holders_still_since(g, gr->node, &runs), since);
    if (runs && x->kind != WEFT_FINDING_DEADLOCK)
        return false;
    if (x->kind == WEFT_FINDING_NEVER_RESOLVED)
        since = weft_later(children_still_since(g, gr->node), since);
    x->signs = signs_of_need(g, x) | signs_of_end(g, x, m->end_ns - since);
    if ((x->near != WEFT_NONE || x->near_behind == WEFT_NONE) &&
        (g->mark[who] & ANALYSE_CAN_BE_FREED) && !analyse_is_meant(g, gr->node))
        x->signs |= ANALYSE_H_FREE;
    if (g->mark[who] & ANALYSE_LIMITED)
        x->signs |= ANALYSE_H_LIMITED;
    if (is_on_purpose(g, x))
        x->signs |= ANALYSE_H_ON_PURPOSE;
    if (!analyse_hangs_since_pause(g, x, who))
        x->signs |= ANALYSE_H_PAUSED;
    if (x->kind == WEFT_FINDING_LOST_WAKEUP)
        x->signs |= signs_of_lost(g, x);
    else if (x->kind != WEFT_FINDING_DEADLOCK)
        x->ordinary = b->resolved >= FAMILY_SOME && age_of(g, gr->node) <= b->longest_ns;
    uint64_t known = analyse_signs(g->s, gr->node), reader = 0;
    if (is_kept_over_losses(g, x, gr->node))
        known &= ~(uint64_t)ANALYSE_INCOMPLETE;
    if (x->wait != WEFT_NONE && !(known & ANALYSE_INCOMPLETE) &&
        !is_kept_over_losses(g, x, analyse_reader(g, x->wait)))
        reader = analyse_signs(g->s, analyse_reader(g, x->wait));
    if (reader & ANALYSE_OVERWRITTEN)
        x->signs |= ANALYSE_H_READER_OVERWRITTEN;
    if (reader & ANALYSE_OLDER)
        x->signs |= ANALYSE_H_READER_OLDER;
    x->signs |= known;
    return analyse_judge(&x->verdict, x->kind, x->signs);
}

/* ---- What a blocked loop explains ---- */

/* The finding of what ran for too long when this began to hang, or WEFT_NONE. */
static uint32_t explained_by(const struct analyse_graph *g, const struct analyse_hang *x)
{
    enum { LOOKED_AT = 1000 };
    struct analyse_search *s = g->s;
    const struct analyse_group *gr = &g->groups[x->group];
    int64_t end = s->m->end_ns, from = s->m->promise[gr->node].start_ns;
    if (x->kind == WEFT_FINDING_DEADLOCK || gr->lost == ANALYSE_LOST_BEFORE ||
        gr->lost == ANALYSE_LOST_LATE)
        return WEFT_NONE;
    if (x->wait != WEFT_NONE)
        from = gr->lost ? gr->lost_ns : s->h->wait[x->wait].from_ns;
    for (uint32_t i = s->blockeds, n = 0; i-- > 0 && n < LOOKED_AT; n++) {
        const struct analyse_blocked *b = &s->blocked[i];
        const struct weft_finding *f = &s->out->finding[b->finding];
        if (b->to_ns < end - s->o->hang_ns)
            break;
        uint32_t culprit = weft_model_final(s->m, f->promise);
        int64_t covered = b->to_ns - (b->from_ns > from ? b->from_ns : from);
        bool inside = culprit != WEFT_ROOT && g->group[culprit] == x->group && !gr->lost;
        if (f->confidence >= WEFT_LIKELY &&
            ((from >= b->from_ns && covered >= (end - from) / 10 * 9) ||
             (inside && (culprit == gr->node || covered > (end - from) / 2))))
            return b->finding;
    }
    return WEFT_NONE;
}

static bool hand_over(const struct analyse_graph *g, const struct analyse_hang *x)
{
    uint32_t finding = explained_by(g, x);
    if (finding == WEFT_NONE)
        return false;
    struct weft_finding *f = g->s->finding = &g->s->out->finding[finding];
    for (uint32_t at = x->group; at != WEFT_NONE; at = group_after(g, x->group, at)) {
        const struct analyse_group *gr = &g->groups[at];
        for (uint32_t i = gr->first; i < gr->first + gr->count; i++)
            if (g->order[i] != weft_model_final(g->s->m, f->promise))
                analyse_affects(g->s, g->order[i]);
    }
    return true;
}

/* ---- Findings ---- */

/* The first wait for the root, or the first in the circle. */
static uint32_t first_wait(const struct analyse_graph *g, const struct analyse_group *gr)
{
    const struct weft_wait *wait = g->s->h->wait;
    uint32_t first = WEFT_NONE, p = gr->node;
    if (gr->lost)
        return gr->lost_wait;
    for (uint32_t i = 0; i < gr->circle; i++, p = analyse_ahead(g, p))
        if (first == WEFT_NONE || wait[g->next[p]].from_ns < wait[first].from_ns)
            first = g->next[p];
    /* otherwise those that also wait for something else, and are counted there */
    bool own = gr->count > 1;
    for (uint32_t i = g->in_first[p]; i < g->in_first[p + 1] && !gr->members; i++)
        if ((!own || g->group[analyse_reader(g, g->in[i])] == g->group[p]) &&
            (first == WEFT_NONE || wait[g->in[i]].from_ns < wait[first].from_ns))
            first = g->in[i];
    return first;
}

static bool measure_hang(const struct analyse_graph *g, uint32_t group, struct analyse_hang *x)
{
    const struct analyse_group *gr = &g->groups[group];
    const bool alone =
        gr->count == 1 && gr->first_under == WEFT_NONE && analyse_count(g->in_first, gr->node) == 0;
    *x = (struct analyse_hang){.group = group,
                               .kind = gr->members || gr->closed ? WEFT_FINDING_DEADLOCK
                                       : gr->lost                ? WEFT_FINDING_LOST_WAKEUP
                                       : alone                   ? WEFT_FINDING_NEVER_RESOLVED
                                                                 : WEFT_FINDING_HANG_ROOT,
                               .family = g->s->families->of[gr->node],
                               .wait = first_wait(g, gr),
                               .near = WEFT_NONE,
                               .near_behind = WEFT_NONE,
                               .top = WEFT_NONE};
    for (uint32_t at = group; at != WEFT_NONE; at = group_after(g, group, at))
        measure_group(g, x, at);
    x->affected--;
    x->expected = x->expected && !analyse_sleeps(g, gr->node);
    if (x->kind == WEFT_FINDING_HANG_ROOT && gr->count == 1 && x->wait != WEFT_NONE)
        x->cost_ns = waited_ns(g, x->wait);
    if (x->kind == WEFT_FINDING_NEVER_RESOLVED)
        x->cost_ns = age_of(g, gr->node);
    if (x->kind == WEFT_FINDING_NEVER_RESOLVED && g->s->m->promise[gr->node].background)
        return false;
    return !hand_over(g, x) && judge_hang(g, x);
}

uint32_t analyse_hang_failure(const struct weft_finding *f)
{
    for (uint32_t i = 0; i < f->evidences; i++)
        if (f->evidence[i].event == WEFT_EVIDENCE_FAILED)
            return f->evidence[i].promise;
    return WEFT_NONE;
}

static int by_size(const struct analyse_hang *x, const struct analyse_hang *y)
{
    WEFT_ORDER(y->affected, x->affected);
    WEFT_ORDER(y->cost_ns, x->cost_ns);
    return weft_order(x->group, y->group);
}

/* Puts similar ones together, the worst first. */
static int by_family(const void *a, const void *b)
{
    const struct analyse_hang *x = a, *y = b;
    WEFT_ORDER(x->kind, y->kind);
    WEFT_ORDER(x->family, y->family);
    WEFT_ORDER(y->verdict.confidence, x->verdict.confidence);
    return by_size(x, y);
}

static bool are_alike(const struct analyse_hang *x, const struct analyse_hang *y)
{
    return x->kind == y->kind && x->family == y->family &&
           x->verdict.confidence == y->verdict.confidence;
}

/* Similar ones, which form one finding. */
struct sort {
    const struct analyse_hang *first;
    uint32_t count;
};

static int by_importance(const void *a, const void *b)
{
    const struct analyse_hang *x = ((const struct sort *)a)->first,
                              *y = ((const struct sort *)b)->first;
    WEFT_ORDER(y->verdict.confidence, x->verdict.confidence);
    WEFT_ORDER(x->kind, y->kind);
    return by_size(x, y);
}

static void add_finding(const struct analyse_graph *g, const struct analyse_hang *x, uint32_t count)
{
    struct analyse_search *s = g->s;
    const struct analyse_group *gr = &g->groups[x->group];
    int64_t start = s->m->promise[gr->node].start_ns;
    if (x->wait != WEFT_NONE)
        start = s->h->wait[x->wait].from_ns;
    if (gr->lost && gr->lost_ns < start)
        start = gr->lost_ns;
    struct weft_finding *f =
        analyse_finding_add(s, x->kind, &x->verdict, gr->node, start, INT64_MAX, x->cost_ns);
    if (!f)
        return;
    f->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t total = f->affected_total;
        for (uint32_t at = x[i].group; at != WEFT_NONE && f->affecteds < WEFT_AFFECTED_MAX;
             at = group_after(g, x[i].group, at)) {
            const struct analyse_group *part = &g->groups[at];
            uint32_t first = part->first + (at == x[i].group);
            for (uint32_t k = first;
                 k < part->first + part->count && f->affecteds < WEFT_AFFECTED_MAX; k++)
                if (!analyse_is_place(g, g->order[k]))
                    analyse_affects(s, g->order[k]);
        }
        f->affected_total = total + x[i].affected;
    }
    analyse_tell_hang(g, x, count - 1);
}

/* A wait as long as others before is not the fault if something else explains what hangs. */
static void clear_ordinary(struct analyse_hang *x, uint32_t count)
{
    bool other = false;
    for (uint32_t i = 0; i < count; i++)
        other |= !x[i].ordinary && x[i].verdict.confidence >= WEFT_LIKELY;
    for (uint32_t i = 0; i < count && other; i++)
        if (x[i].ordinary)
            analyse_judge(&x[i].verdict, x[i].kind, x[i].signs |= ANALYSE_H_ORDINARY);
}

/* Adds only as many as will be shown, since each takes memory. */
static bool add_findings(const struct analyse_graph *g, struct analyse_hang *found, uint32_t count)
{
    struct sort *sort = analyse_take(g->s, count, sizeof *sort);
    uint32_t sorts = 0;
    if (!sort)
        return false;
    qsort(found, count, sizeof *found, by_family);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || !are_alike(&found[i - 1], &found[i]))
            sort[sorts++] = (struct sort){&found[i], 0};
        sort[sorts - 1].count++;
    }
    qsort(sort, sorts, sizeof *sort, by_importance);
    for (uint32_t i = 0; i < sorts; i++)
        if (i < WEFT_FINDINGS_MAX)
            add_finding(g, sort[i].first, sort[i].count);
        else
            g->s->out->left_out++;
    return true;
}

void analyse_find_hangs(struct analyse_search *s)
{
    struct analyse_graph g;
    bool ok = analyse_graph_init(&g, s);
    struct analyse_hang *found = ok ? analyse_take(s, g.count, sizeof *found) : NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; found && i < g.count; i++)
        if (!g.groups[i].followed && (!g.groups[i].closed || g.groups[i].teller == i) &&
            measure_hang(&g, i, &found[count]))
            count++;
    if (found)
        clear_ordinary(found, count);
    s->failed |= !found || !add_findings(&g, found, count);
}
