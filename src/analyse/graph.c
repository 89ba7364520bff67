/* SPDX-License-Identifier: ISC */
#include "analyse/graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/types.h"

/* ---- Blocking waits ---- */

/* Returns true if the trace says when waiters continue: else waits for what is over mean
 * nothing. */
static bool says_who_goes_on(const struct weft_history *h)
{
    uint64_t told = 0, untold = 0;
    for (uint32_t i = 0; i < h->waits; i++) {
        const struct weft_wait *w = &h->wait[i];
        told += analyse_is_served(w);
        untold +=
            w->end == WEFT_WAIT_ENDED && weft_history_resolved_ns(h, w->source) <= w->until_ns;
    }
    /* A small program may have only waits of which nothing says how they ended. */
    return told >= untold;
}

/* Returns true if somebody may still be waiting for it: it has no result, or was dropped. */
static bool is_missing(const struct weft_model *m, uint32_t promise)
{
    return analyse_is_pending(m, promise) || m->promise[promise].outcome == WEFT_FORGOTTEN;
}

/* Returns true for a time limit: whoever waits for it waits for the first of several. As long as
 * the program runs, it ends the wait for everything else. */
static bool is_limit(const struct analyse_search *s, uint32_t p)
{
    return (analyse_known(s, p) & ANALYSE_TIMER) != 0;
}

/* Returns true if the reader continued without what it waited for there, which was resolved by an
 * interaction: something else that it waited for came first (a race), or it ended it itself. */
static bool went_on(const struct weft_model *m, uint32_t r, const struct weft_wait *w, uint32_t by,
                    const struct weft_wait *last)
{
    if (by != WEFT_NONE && weft_model_final(m, m->interaction[by].actor) == r)
        return true;
    return last && (last->ended_by != WEFT_NONE ? last->ended_by > w->begun_by
                                                : last->until_ns > w->from_ns);
}

/* The last wait to end, among those after which a reader continued. */
static const struct weft_wait *last_woken(const struct weft_history *h, uint32_t r)
{
    const struct weft_wait *last = NULL;
    analyse_each(i, h->waits_of_first, r) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (analyse_is_served(w) && (!last || w->until_ns >= last->until_ns))
            last = w;
    }
    return last;
}

/* Adds those of a reader's open waits that block it, after the first `start` of the list: the waits
 * for what is missing; if there are none, or only time limits, the one for what came last. told:
 * waits for what is resolved count. Returns how many there are in all. */
static uint32_t add_blocking(const struct analyse_graph *g, uint32_t r, bool told, uint32_t start)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    uint32_t count = start, latest = WEFT_NONE, resolved_by = WEFT_NONE;
    int64_t there = INT64_MIN;
    bool only_limits = true; /* … and since when, by interactions, it waits for them */
    uint32_t newest = 0;
    const struct weft_wait *last = last_woken(h, r);
    analyse_each(i, h->waits_of_first, r) { /* the history has closed those of earlier runs */
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        const uint32_t source = weft_model_final(m, w->source), by = h->resolution[source];
        if (w->end != WEFT_WAIT_OPEN || (source == r && w->source != w->reader))
            continue;
        if (is_missing(m, source)) {
            only_limits = only_limits && is_limit(g->s, source);
            newest = w->begun_by; /* in order */
            g->out[count++] = h->waits_of[i];
        } else if (m->promise[source].end_ns >= there && !went_on(m, r, w, by, last)) {
            there = m->promise[source].end_ns;
            latest = h->waits_of[i];
            resolved_by = by;
        }
    }
    /* If it began to wait for a limit after that, it has continued since. */
    if (!only_limits || latest == WEFT_NONE || !told ||
        (count > start && (resolved_by == WEFT_NONE || newest >= resolved_by)))
        return count;
    g->out[start] = latest;
    return start + 1;
}

static uint32_t source_in_list(const void *graph, uint32_t i)
{
    const struct analyse_graph *g = graph;
    return analyse_source(g, g->out[i]);
}

static void list_by_source(struct analyse_graph *g, uint32_t count)
{
    const struct analyse_lists l = analyse_lists(g->s, g->s->m->promises, count, source_in_list, g);
    for (uint32_t i = 0; i < count && !g->s->failed; i++)
        l.item[i] = g->out[l.item[i]];
    g->in_first = l.first;
    g->in = l.item;
}

/* ---- Cancelled in vain ---- */

enum { DEEP = 16 };

/* Who cancelled what a wait of its reader was for, or what a wait of one of the reader's calls was
 * for; *by: that interaction. WEFT_NONE: nobody, or the reader itself. */
static uint32_t canceller(const struct analyse_graph *g, const struct weft_wait *w, uint32_t *by)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = g->s->m;
    uint32_t reader = weft_model_final(m, w->reader), source = weft_model_final(m, w->source);
    for (unsigned i = 0; i < DEEP && m->promise[source].outcome != WEFT_CANCELLED; i++) {
        const struct weft_wait *last = analyse_last_wait(h, source);
        if (!last || weft_model_final(m, m->promise[source].creator) != reader)
            return WEFT_NONE;
        reader = source;
        source = weft_model_final(m, last->source);
    }
    *by = h->resolution[source];
    if (m->promise[source].outcome != WEFT_CANCELLED || *by == WEFT_NONE)
        return WEFT_NONE;
    uint32_t who = weft_model_final(m, m->interaction[*by].actor);
    return who == WEFT_ROOT || who == weft_model_final(m, w->reader) ? WEFT_NONE : who;
}

/* Returns true if somebody waits for a promise, directly or not, only since an interaction. */
static bool waits_since(const struct analyse_graph *g, uint32_t who, uint32_t promise,
                        uint32_t since)
{
    uint32_t p = promise;
    for (unsigned i = 0; i < DEEP && g->in_first[p] < g->in_first[p + 1]; i++) {
        uint32_t wait = g->in[g->in_first[p]];
        p = analyse_reader(g, wait);
        if (p == who)
            return g->s->h->wait[wait].begun_by > since;
    }
    return false;
}

/* Somebody cancelled what a promise waited for, and waits for the promise to end; but the promise
 * waits for the same sort of thing again. Returns the wait that was cancelled, or WEFT_NONE. */
static uint32_t deaf_wait(const struct analyse_graph *g, uint32_t promise, uint32_t *who)
{
    const struct weft_history *h = g->s->h;
    const uint32_t *family = g->s->families->of;
    const struct weft_wait *last = analyse_last_wait(h, promise);
    if (!last || last->end != WEFT_WAIT_OPEN || analyse_count(g->in_first, promise) == 0)
        return WEFT_NONE;
    const uint32_t first = h->waits_of_first[promise], end = h->waits_of_first[promise + 1];
    const uint32_t now = family[weft_model_final(g->s->m, last->source)];
    uint32_t by;
    for (uint32_t i = end - 1; i-- > first;) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (w->end == WEFT_WAIT_OPEN) /* it waits for several things at once */
            return WEFT_NONE;
        if (family[weft_model_final(g->s->m, w->source)] != now)
            continue;
        *who = canceller(g, w, &by);
        if (*who != WEFT_NONE && waits_since(g, *who, promise, by))
            return h->waits_of[i];
    }
    return WEFT_NONE;
}

/* What such promises wait for is not what holds up others. */
static void leave_out_deaf(struct analyse_graph *g)
{
    const uint32_t promises = g->s->m->promises;
    uint32_t kept = 0, at = 0, who;
    for (uint32_t r = 0; r < promises; r++) {
        const uint32_t end = g->out_first[r + 1];
        const bool deaf = at < end && deaf_wait(g, r, &who) != WEFT_NONE;
        g->out_first[r] = kept;
        for (; at < end; at++)
            if (!deaf)
                g->out[kept++] = g->out[at];
    }
    g->out_first[promises] = kept;
    if (kept < at)
        list_by_source(g, kept);
}

static void find_blocking(struct analyse_graph *g)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = g->s->m;
    uint32_t open = 0;
    for (uint32_t i = 0; i < h->waits; i++)
        open += h->wait[i].end == WEFT_WAIT_OPEN;
    g->out = analyse_take(g->s, open, sizeof *g->out);
    g->out_first = analyse_take(g->s, (uint64_t)m->promises + 1, sizeof *g->out_first);
    if (g->s->failed)
        return;
    const bool told = says_who_goes_on(h);
    uint32_t count = 0;
    for (uint32_t r = 0; r < m->promises; r++) {
        if (r != WEFT_ROOT && analyse_is_pending(m, r))
            count = add_blocking(g, r, told, count);
        g->out_first[r + 1] = count;
    }
    list_by_source(g, count);
    if (!g->s->failed)
        leave_out_deaf(g);
}

/* ---- Groups ---- */

static bool is_waited_for(const struct analyse_graph *g, uint32_t p)
{
    return g->in_first[p] < g->in_first[p + 1];
}

static bool is_waiting(const struct analyse_graph *g, uint32_t p)
{
    return g->out_first[p] < g->out_first[p + 1];
}

static struct analyse_group *add_group(struct analyse_graph *g, uint32_t node)
{
    const struct analyse_group added = {.node = node,
                                        .deaf = WEFT_NONE,

                                        .told_by = WEFT_NONE,
                                        .owner = WEFT_NONE,
                                        .up = WEFT_NONE,
                                        .first_under = WEFT_NONE,
                                        .next_under = WEFT_NONE};
    g->group[node] = g->count;
    analyse_append(g->s, &g->groups, &g->count, &g->room, &added, sizeof added);
    return g->s->failed ? NULL : &g->groups[g->count - 1];
}

/* Puts the waiters for those in queue[head…] into their groups, the closest first. */
static void spread_groups(struct analyse_graph *g, uint32_t head)
{
    for (; head < g->queued && !g->s->failed; head++) {
        uint32_t node = g->queue[head];
        unsigned behind = g->mark[node] & ANALYSE_BEHIND_BACKGROUND;
        /* A condition is always pending; what missed its signal waits for nothing else. */
        const struct analyse_group *group = &g->groups[g->group[node]];
        if (analyse_is_meant(g, node) && !(group->lost_clear && group->node == node))
            behind = ANALYSE_BEHIND_BACKGROUND;
        analyse_each(i, g->in_first, node) {
            uint32_t reader = analyse_reader(g, g->in[i]);
            if (g->group[reader] != WEFT_NONE)
                continue;
            g->group[reader] = g->group[node];
            g->next[reader] = g->in[i];
            g->mark[reader] |= (unsigned char)behind;
            g->queue[g->queued++] = reader;
        }
    }
}

/* Adds roots: first those with something wrong, then (weak) those that are meant to be pending. mark: only those that have
 * it; 0: all. */
static void add_roots(struct analyse_graph *g, bool weak, unsigned char mark)
{
    const uint32_t head = g->queued;
    for (uint32_t p = 1; p < g->s->m->promises; p++) {
        if (g->group[p] != WEFT_NONE || is_waiting(g, p) || !is_waited_for(g, p) ||
            (g->mark[p] & mark) != mark)
            continue;
        struct analyse_group *group = add_group(g, p);
        if (!group)
            return;
        /* If it is held, whatever waits for it really waits for the holders. */
        if (!(g->mark[p] & ANALYSE_HELD))
            analyse_find_lost(g, group);
        group->deaf = deaf_wait(g, p, &group->deaf_to);
        if (!weak && analyse_is_meant(g, p) && !group->lost) {
            g->group[p] = WEFT_NONE;
            g->count--;
            continue;
        }
        g->queue[g->queued++] = p;
    }
    spread_groups(g, head);
}

/* Adds promises that nobody waits for, though they should be resolved: they are marked, or others
 * of their sort were resolved. Or the program ended by itself though they had something to do. */
static void add_lonely(struct analyse_graph *g)
{
    const struct weft_model *m = g->s->m;
    for (uint32_t p = 1; p < m->promises; p++) {
        if (g->group[p] != WEFT_NONE || !is_missing(m, p) ||
            !(m->promise[p].should_resolve || analyse_is_expected(g, p) ||
              (m->losses.ended == WEFT_ENDED_STOPPED && analyse_has_worked(g, p))))
            continue;
        if (!add_group(g, p))
            return;
        g->queue[g->queued++] = p;
    }
}

/* Returns true if a mark begins at a promise: it should be resolved; or it is waited for, and may
 * come at any time or never, or is a time limit. */
static bool begins_mark(const struct analyse_graph *g, uint32_t p, unsigned char mark)
{
    const struct weft_promise *q = &g->s->m->promise[p];
    if (!is_missing(g->s->m, p))
        return false;
    if (mark == ANALYSE_SHOULD)
        return q->should_resolve && !q->background;
    return !is_waiting(g, p) && is_waited_for(g, p) &&
           (mark == ANALYSE_LIMITED ? is_limit(g->s, p)
                                    : analyse_is_meant(g, p) || (g->mark[p] & ANALYSE_IDLE));
}

/* Gives a mark to those, and to everything that waits for them, whatever else it waits for. SHOULD:
 * to everything that they wait for, up to what is meant to be pending. */
static void spread_mark(struct analyse_graph *g, unsigned char mark)
{
    const bool ahead = mark == ANALYSE_SHOULD;
    const uint32_t *first = ahead ? g->out_first : g->in_first, *wait = ahead ? g->out : g->in;
    uint32_t tail = 0;
    for (uint32_t p = 1; p < g->s->m->promises; p++)
        if (begins_mark(g, p, mark)) {
            g->mark[p] |= mark;
            g->queue[tail++] = p;
        }
    for (uint32_t head = 0; head < tail; head++)
        analyse_each(i, first, g->queue[head]) {
            uint32_t p = ahead ? analyse_source(g, wait[i]) : analyse_reader(g, wait[i]);
            if ((g->mark[p] & mark) || (ahead && analyse_is_meant(g, p)))
                continue;
            g->mark[p] |= mark;
            g->queue[tail++] = p;
        }
}

/* ---- Circles ---- */

/* Tarjan's strongly connected components of promises without a group, without recursion. */
struct tarjan {
    uint32_t *index, *low, *at, *from, *stack; /* index 0: not seen; low UINT32_MAX: done */
    uint32_t depth, counter;
};

static void tarjan_enter(struct tarjan *t, const struct analyse_graph *g, uint32_t node,
                         uint32_t from)
{
    t->index[node] = t->low[node] = ++t->counter;
    t->at[node] = g->out_first[node];
    t->from[node] = from;
    t->stack[t->depth++] = node;
}

/* If the component on top of the stack is a circle, makes it a group: each waits for another. */
static void add_circle(struct analyse_graph *g, struct tarjan *t, uint32_t root)
{
    uint32_t first = t->depth;
    bool self = false;
    while (t->stack[--first] != root)
        ;
    analyse_each(i, g->out_first, root)
        self |= analyse_source(g, g->out[i]) == root;
    if (t->depth - first > 1 || self) {
        struct analyse_group *group = add_group(g, root);
        if (!group)
            return;
        group->members = t->depth - first;
        for (uint32_t i = first; i < t->depth; i++)
            g->group[t->stack[i]] = g->count - 1;
        for (uint32_t i = first; i < t->depth; i++) {
            uint32_t p = t->stack[i];
            analyse_each(e, g->out_first, p)
                if (g->group[analyse_source(g, g->out[e])] == g->count - 1)
                    g->next[p] = g->out[e];
        }
        /* after this many steps the walk is in the circle itself */
        for (uint32_t i = 0; i < group->members; i++)
            group->node = analyse_ahead(g, group->node);
        uint32_t p = group->node;
        do {
            group->circle++;
            p = analyse_ahead(g, p);
        } while (p != group->node);
        g->queue[g->queued++] = group->node;
        for (uint32_t i = first; i < t->depth; i++)
            if (t->stack[i] != group->node)
                g->queue[g->queued++] = t->stack[i];
    }
    for (uint32_t i = first; i < t->depth; i++)
        t->low[t->stack[i]] = UINT32_MAX;
    t->depth = first;
}

static void add_circles_from(struct analyse_graph *g, struct tarjan *t, uint32_t start)
{
    tarjan_enter(t, g, start, WEFT_NONE);
    for (uint32_t node = start; node != WEFT_NONE && !g->s->failed;) {
        if (t->at[node] < g->out_first[node + 1]) {
            uint32_t to = analyse_source(g, g->out[t->at[node]++]);
            if (g->group[to] != WEFT_NONE || t->low[to] == UINT32_MAX)
                continue;
            if (t->index[to] == 0) {
                tarjan_enter(t, g, to, node);
                node = to;
            } else if (t->index[to] < t->low[node])
                t->low[node] = t->index[to];
            continue;
        }
        uint32_t from = t->from[node], low = t->low[node];
        if (low == t->index[node])
            add_circle(g, t, node);
        if (from != WEFT_NONE && low < t->low[from])
            t->low[from] = low;
        node = from;
    }
}

static void add_circles(struct analyse_graph *g)
{
    const uint32_t promises = g->s->m->promises, head = g->queued;
    uint32_t *array = analyse_take(g->s, promises, 5 * sizeof *array);
    if (!array)
        return;
    struct tarjan t = {.index = array,
                       .low = array + promises,
                       .at = array + 2 * (size_t)promises,
                       .from = array + 3 * (size_t)promises,
                       .stack = array + 4 * (size_t)promises};
    for (uint32_t p = 1; p < promises && !g->s->failed; p++)
        if (t.index[p] == 0 && g->group[p] == WEFT_NONE && is_waiting(g, p))
            add_circles_from(g, &t, p);
    spread_groups(g, head);
}

/* ---- All of it ---- */

/* Puts the queue in order of groups. */
static void sort_groups(struct analyse_graph *g)
{
    g->order = analyse_take(g->s, g->queued, sizeof *g->order);
    if (g->s->failed)
        return;
    for (uint32_t i = 0; i < g->queued; i++)
        g->groups[g->group[g->queue[i]]].count++;
    for (uint32_t i = 0, first = 0; i < g->count; i++) {
        g->groups[i].first = first;
        first += g->groups[i].count;
        g->groups[i].count = 0;
    }
    for (uint32_t i = 0; i < g->queued; i++) {
        struct analyse_group *group = &g->groups[g->group[g->queue[i]]];
        g->order[group->first + group->count++] = g->queue[i];
    }
}

int64_t analyse_slept_ns(const struct weft_history *h, uint32_t stream, uint32_t before)
{
    return analyse_count(h->idle_first, stream) > before
               ? h->idle[h->idle_first[stream + 1] - 1 - before].end_ns
               : INT64_MIN;
}

bool analyse_graph_init(struct analyse_graph *g, struct analyse_search *s)
{
    const struct weft_history *h = s->h;
    uint32_t promises = s->m->promises, rounds = 16; /* more of them only waits longer */
    *g = (struct analyse_graph){.s = s,
                                .budget = (uint64_t)promises + s->m->interactions,
                                .slept_ns = INT64_MIN,
                                .slept_twice_ns = INT64_MIN};
    for (uint32_t i = 0; i < h->streams; i++)
        if (h->is_loop[i]) {
            g->slept_ns = weft_later(analyse_slept_ns(h, i, 0), g->slept_ns);
            g->slept_twice_ns = weft_later(analyse_slept_ns(h, i, 1), g->slept_twice_ns);
        }
    g->next = analyse_take(s, promises, sizeof *g->next);
    g->group = analyse_take(s, promises, sizeof *g->group);
    g->mark = analyse_take(s, promises, sizeof *g->mark);
    g->queue = analyse_take(s, promises, sizeof *g->queue);
    if (!s->failed)
        find_blocking(g);
    if (s->failed || !analyse_find_habits(g))
        return false;
    memset(g->next, 0xff, promises * sizeof *g->next);
    memset(g->group, 0xff, promises * sizeof *g->group);
    analyse_mark_held(g);
    do
        spread_mark(g, ANALYSE_CAN_BE_FREED);
    while (--rounds && analyse_free_held(g));
    if (s->m->losses.ended != WEFT_ENDED_STOPPED)
        spread_mark(g, ANALYSE_LIMITED);
    spread_mark(g, ANALYSE_SHOULD);
    if (s->m->quirks.at_once) {
        /* Each waits for all that it waits for: a circle is one, whatever else is waited for. */
        add_circles(g);
        add_roots(g, false, ANALYSE_HELD);
    }
    add_roots(g, false, 0);
    add_circles(g);
    add_roots(g, true, 0);
    add_lonely(g);
    sort_groups(g);
    return !s->failed && analyse_find_owners(g);
}
