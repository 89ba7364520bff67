/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "analyse/graph.h"
#include "analyse/types.h"

/* The waits for a condition and its notifications, as recorded, up to a wait that never ended. */
struct sweep {
    const struct weft_history *h;
    uint32_t at, end;  /* in h->waits_for */
    uint32_t latest;   /* the last interaction that ended one of the waits so far */
    int64_t latest_ns; /* … its time, or, if no interaction did, when it ended */
    uint32_t woken;    /* the same, for those that were woken */
    int64_t woken_ns;
};

static void set_lost(struct analyse_group *group, enum analyse_lost lost, int64_t time_ns,
                     uint32_t by, uint32_t wait)
{
    group->lost = lost;
    group->lost_ns = time_ns;
    group->lost_by = by;
    group->lost_wait = wait;
}

static void pass_waits(struct sweep *p, uint32_t before)
{
    const struct weft_history *h = p->h;
    for (; p->at < p->end && h->wait[h->waits_for[p->at]].begun_by < before; p->at++) {
        const struct weft_wait *w = &h->wait[h->waits_for[p->at]];
        bool woken = analyse_is_served(w);
        if (w->ended_by != WEFT_NONE) {
            p->latest = w->ended_by > p->latest ? w->ended_by : p->latest;
            p->woken = woken && w->ended_by > p->woken ? w->ended_by : p->woken;
        } else if (w->end != WEFT_WAIT_OPEN) {
            p->latest_ns = weft_later(w->until_ns, p->latest_ns);
            p->woken_ns = woken ? weft_later(w->until_ns, p->woken_ns) : p->woken_ns;
        }
    }
}

/* Returns true if another promise like the reader continued in the meantime without waiting for c:
 * such promises check for themselves before they wait, and it took what the signal announced. */
static bool taken_meanwhile(struct analyse_graph *g, uint32_t c, const struct weft_wait *w,
                            int64_t since)
{
    enum { NEAR = 1000 };
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    uint32_t reader = weft_model_final(m, w->reader), family = g->s->families->of[reader];
    uint32_t least = reader > NEAR ? reader - NEAR : 1;
    for (uint32_t q = reader; q-- > least && g->budget > 0; g->budget -= g->budget > 0) {
        const struct weft_promise *p = &m->promise[q];
        if (g->s->families->of[q] != family || p->start_ns >= w->from_ns ||
            weft_model_final(m, q) == reader)
            continue;
        uint32_t run = weft_history_run_before(h, q, w->from_ns);
        bool active = p->start_ns > since || (run != WEFT_NONE && m->run[run].end_ns > since) ||
                      (p->outcome != WEFT_PENDING && p->end_ns > since);
        uint32_t i = h->waits_of_first[q], end = h->waits_of_first[q + 1];
        for (; i < end && weft_model_final(m, h->wait[h->waits_of[i]].source) != c; i++)
            g->budget -= g->budget > 0;
        if (active && i == end)
            return true;
    }
    return false;
}

/* Returns true if one of these promises notified something between two interactions, or resolved
 * something other than a lock. any: also if it resolved a lock, or waited for something. */
static bool did_anything(struct analyse_graph *g, const uint32_t *who, uint32_t count,
                         uint32_t after, uint32_t before, bool any)
{
    const struct weft_model *m = g->s->m;
    for (uint32_t i = after + 1; i < before; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (g->budget == 0)
            return true;
        g->budget--;
        if (x->kind != WEFT_NOTIFIES && x->kind != WEFT_RESOLVES && !(any && x->kind == WEFT_WAITS))
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (weft_model_final(m, x->actor) == who[k] &&
                (any || x->kind == WEFT_NOTIFIES ||
                 !(analyse_known(g->s, x->other) & ANALYSE_LOCK)))
                return true;
    }
    return false;
}

/* How often c was notified without a waiter before the wait, and whether that did no harm. */
static void judge_vain_signal(struct analyse_graph *g, struct analyse_group *group, uint32_t last,
                              uint32_t vain, bool waited)
{
    enum { WORK_NS = 1000000 };
    const struct weft_history *h = g->s->h;
    const struct weft_wait *w = &h->wait[group->lost_wait];
    const uint32_t reader = weft_model_final(h->m, w->reader);
    const uint32_t run = weft_history_run_before(h, w->reader, w->from_ns);
    /* it may have worked on what the signal announced */
    const bool worked = run != WEFT_NONE &&
                        w->from_ns - weft_later(h->m->run[run].start_ns, group->lost_ns) >= WORK_NS;
    if (taken_meanwhile(g, group->node, w, group->lost_ns)) {
        group->lost = ANALYSE_NOT_LOST;
        group->lost_often = false;
        return;
    }
    group->lost_usual = vain > 1 || waited;
    /* the reader may have handled the signal before it waited */
    group->lost_acted = did_anything(g, &reader, 1, last, w->begun_by, true);
    group->lost_clear = vain == 1 && !group->lost_acted && !worked;
}

/* The only signal that ever came woke several at once, and a waiter came only after it. */
static bool came_late(const struct weft_history *h, uint32_t c, uint32_t notified)
{
    uint32_t woken = 0;
    if (analyse_count(h->notified_first, c) != 1)
        return false;
    analyse_each(i, h->waits_for_first, c) {
        const struct weft_wait *w = &h->wait[h->waits_for[i]];
        bool open = w->end == WEFT_WAIT_OPEN || w->end == WEFT_WAIT_LEFT;
        if (w->begun_by > notified)
            continue;
        uint32_t reader = weft_model_final(h->m, w->reader);
        uint32_t last = h->waits_of[h->waits_of_first[reader + 1] - 1];
        woken++;
        if (open || (h->wait[last].source == w->source && h->wait[last].begun_by > notified))
            return false; /* it was not for all, or they wait for the next one */
    }
    return woken >= 2;
}

/* The promise itself, and those nested in it like calls: it created them and waits for them. */
enum { CALLS_MAX = 8 };
static uint32_t callers_of(struct analyse_graph *g, uint32_t promise, uint32_t who[CALLS_MAX])
{
    const struct weft_history *h = g->s->h;
    uint32_t n = 0, p = promise;
    while (p != WEFT_ROOT && n < CALLS_MAX) {
        uint32_t creator = weft_model_final(h->m, h->m->promise[p].creator);
        uint32_t i = h->waits_for_first[p], end = h->waits_for_first[p + 1];
        who[n++] = p;
        while (i < end && g->budget > 0 &&
               weft_model_final(h->m, h->wait[h->waits_for[i]].reader) != creator) {
            i++;
            g->budget--;
        }
        p = i < end ? creator : WEFT_ROOT;
    }
    return n;
}

/* The open wait of the promise that the last signal woke, if it has only waited again since; or
 * WEFT_NONE. *woken: the wait that the signal ended. */
static uint32_t wait_after_wake(struct analyse_graph *g, uint32_t c, uint32_t last, uint32_t *woken)
{
    const struct weft_history *h = g->s->h;
    uint32_t who[CALLS_MAX], again = WEFT_NONE;
    *woken = WEFT_NONE;
    analyse_each(i, h->waits_for_first, c) {
        const struct weft_wait *w = &h->wait[h->waits_for[i]];
        if (w->notified_by == last && analyse_is_served(w)) {
            if (*woken != WEFT_NONE) /* several: it was for all */
                return WEFT_NONE;
            *woken = h->waits_for[i];
        } else if (*woken != WEFT_NONE && w->end == WEFT_WAIT_OPEN &&
                   w->reader == h->wait[*woken].reader)
            again = h->waits_for[i];
    }
    return again != WEFT_NONE && did_anything(g, who, callers_of(g, h->wait[again].reader, who),
                                              last, h->wait[again].begun_by, false)
               ? WEFT_NONE
               : again;
}

/* Returns true if the last signal woke only a promise that had no use for it, while one of another
 * sort has waited since before it: they wait for different things at one condition. */
static bool woke_other(struct analyse_graph *g, struct analyse_group *group, uint32_t last)
{
    const struct weft_history *h = g->s->h;
    uint32_t c = group->node, woken, again = wait_after_wake(g, c, last, &woken);
    if (again == WEFT_NONE)
        return false;
    uint32_t family = g->s->families->of[h->wait[again].reader];
    analyse_each(i, h->waits_for_first, c) {
        const struct weft_wait *w = &h->wait[h->waits_for[i]];
        if (w->end != WEFT_WAIT_OPEN || w->begun_by > last ||
            g->s->families->of[w->reader] == family)
            continue;
        set_lost(group, ANALYSE_LOST_OTHER, group->told_ns, group->told_by, h->waits_for[i]);
        group->lost_to = woken;
        return true;
    }
    return false;
}

/* It was notified when nobody waited, or when nobody ran because of it. */
static void lost_signal(struct analyse_graph *g, struct analyse_group *group, uint32_t wait)
{
    const struct weft_history *h = g->s->h;
    uint32_t c = group->node, last = WEFT_NONE, begun_by = h->wait[wait].begun_by, in_vain = 0;
    struct sweep p = {.h = h,
                      .at = h->waits_for_first[c],
                      .end = h->waits_for_first[c + 1],
                      .latest_ns = INT64_MIN,
                      .woken_ns = INT64_MIN};
    bool vain = false, before = false;
    analyse_each(i, h->notified_first, c) {
        uint32_t n = h->notified[i];
        const struct weft_interaction *x = &h->m->interaction[n];
        uint32_t passed = p.at;
        pass_waits(&p, n);
        /* A signal came without a waiter, and the next waiter was woken all the same. */
        group->lost_often |= vain && n < begun_by && p.at > passed;
        if (n > begun_by && !before) { /* from here on the wait in question is open */
            before = true;
            vain = false;
        }
        bool heard = before ? p.woken > n || p.woken_ns >= x->time_ns
                            : p.latest > n || p.latest_ns >= x->time_ns;
        vain = !heard;
        in_vain += vain;
        last = n;
    }
    if (last == WEFT_NONE)
        return;
    group->told_ns = h->m->interaction[last].time_ns;
    group->told_by = h->m->interaction[last].actor;
    group->vain = vain && !before;
    if (!vain && woke_other(g, group, last))
        return;
    if (!vain && (before || !came_late(h, c, last)))
        return;
    set_lost(group,
             before ? ANALYSE_LOST_SIGNAL
             : vain ? ANALYSE_LOST_BEFORE
                    : ANALYSE_LOST_LATE,
             group->told_ns, group->told_by, wait);
    group->lost_clear = before;
    uint32_t first = h->waits_for_first[c];
    if (group->lost == ANALYSE_LOST_BEFORE)
        judge_vain_signal(g, group, last, in_vain,
                          h->wait[h->waits_for[first]].begun_by < begun_by);
}

/* In mirage-profile's traces a signalled condition runs, to make a promise for a new waiter, or to
 * fulfil those of all. If it did neither, it was signalled when nobody waited. */
static bool was_in_vain(struct analyse_graph *g, uint32_t signal)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    const uint32_t c = m->interaction[signal].other;
    const int64_t since = m->interaction[signal].time_ns;
    const uint32_t run = weft_history_run_before(h, c, since + 1);
    if (run == WEFT_NONE || m->run[run].start_ns != since)
        return false;
    for (uint32_t i = signal + 1; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->time_ns > m->run[run].end_ns || g->budget == 0)
            break;
        g->budget--;
        if (x->actor == c && x->kind == WEFT_RESOLVES)
            return false;
    }
    for (uint32_t i = h->children_first[c]; i < h->children_first[c + 1] && g->budget; i++) {
        const int64_t start = m->promise[h->children[i]].start_ns;
        g->budget--;
        if (start >= since && start <= m->run[run].end_ns)
            return false;
    }
    return g->budget > 0;
}

/* What the waiter waits for was made by such a condition when its wait began. */
static void lost_on_condition(struct analyse_graph *g, struct analyse_group *group, uint32_t wait)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    const uint32_t c = m->promise[group->node].creator;
    const int64_t made = m->promise[group->node].start_ns;
    uint32_t last = WEFT_NONE, vain = 0;
    if (!m->quirks.mirage_kinds || c == WEFT_ROOT ||
        strcmp(weft_model_type(m, c), "condition") != 0)
        return;
    for (uint32_t i = 0; i < m->interactions && m->interaction[i].time_ns < made; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind == WEFT_SIGNALS && x->other == c && was_in_vain(g, i)) {
            last = i;
            vain++;
        }
    }
    if (last == WEFT_NONE || m->interaction[last].actor == WEFT_ROOT)
        return;
    set_lost(group, ANALYSE_LOST_BEFORE, m->interaction[last].time_ns, m->interaction[last].actor,
             wait);
    group->lost_usual = vain > 1;
    group->lost_clear = vain == 1;
}

void analyse_find_lost(struct analyse_graph *g, struct analyse_group *group)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = g->s->m;
    uint32_t c = group->node, first = WEFT_NONE;
    analyse_each(i, g->in_first, c)
        if (first == WEFT_NONE || h->wait[g->in[i]].begun_by < h->wait[first].begun_by)
            first = g->in[i];
    if (first == WEFT_NONE || m->promise[c].outcome == WEFT_FORGOTTEN)
        return;
    if (analyse_is_pending(m, c)) {
        lost_signal(g, group, first);
        if (!group->lost)
            lost_on_condition(g, group, first);
        return;
    }
    set_lost(group, ANALYSE_LOST_RESULT, m->promise[c].end_ns, analyse_resolver(h, c), first);
    group->lost_clear = true;
}
