/* SPDX-License-Identifier: ISC */
/* Signs of life of promises that hang. */
#include <string.h>

#include "analyse/graph.h"
#include "analyse/types.h"

/* When a run that still lasts began: the run of a promise that became this one continues in it. */
static int64_t runs_since(const struct weft_history *h, uint32_t run)
{
    const struct weft_model *m = h->m;
    uint32_t stream = weft_history_stream(h, run), first = h->stream_first[stream];
    uint32_t at = h->stream_first[stream + 1] - 1, p = h->run_promise[run];
    while (at > first &&
           m->run[h->stream_run[at - 1]].end_ns == m->run[h->stream_run[at]].start_ns &&
           m->promise[h->run_promise[h->stream_run[at - 1]]].becomes == p)
        p = h->run_promise[h->stream_run[--at]];
    return m->run[h->stream_run[at]].start_ns;
}

bool analyse_runs_on(const struct analyse_graph *g, uint32_t p)
{
    const struct weft_model *m = g->s->m;
    uint32_t run = weft_history_last_run(g->s->h, p);
    if (run == WEFT_NONE || run < m->runs_ended || m->losses.ended == WEFT_ENDED_STOPPED ||
        p == WEFT_ROOT)
        return false;
    return g->next[p] == WEFT_NONE || g->s->h->wait[g->next[p]].from_ns < runs_since(g->s->h, run);
}

int64_t analyse_last_life(const struct analyse_graph *g, uint32_t p)
{
    const struct weft_model *m = g->s->m;
    uint32_t run = weft_history_last_run(g->s->h, p), next = g->next[p];
    int64_t life = m->promise[p].start_ns, said = m->promise[p].end_ns;
    /* One more waiter for something that is held is not a sign of life. */
    const bool spoken_of =
        m->promise[p].should_resolve || m->promise[p].promoted || (g->mark[p] & ANALYSE_HELD);
    if (!spoken_of && said < m->end_ns && said > life)
        life = said;
    if (run != WEFT_NONE && m->run[run].end_ns > life)
        life = m->run[run].end_ns;
    if (run != WEFT_NONE && m->run[run].end_ns >= m->end_ns && next != WEFT_NONE)
        life = m->run[run].start_ns;
    if (next != WEFT_NONE && g->s->h->wait[next].from_ns > life)
        life = g->s->h->wait[next].from_ns;
    return life;
}

int64_t analyse_still_since(const struct analyse_graph *g, uint32_t p, bool *runs)
{
    const struct analyse_group *gr = &g->groups[g->group[p]];
    bool deaf = gr->deaf != WEFT_NONE; /* here moving and running is itself the fault */
    int64_t since = deaf ? g->s->h->wait[gr->deaf].until_ns : analyse_last_life(g, gr->node);
    *runs |= !deaf && analyse_runs_on(g, gr->node);
    for (uint32_t i = 0; p != gr->node && i < gr->count; i++) {
        int64_t life = analyse_last_life(g, p);
        since = life > since ? life : since;
        *runs |= analyse_runs_on(g, p);
        p = analyse_ahead(g, p);
    }
    return since;
}

/* ---- What should have ended ---- */

/* Returns true if it has waited for such a thing before: it continues each time one comes. */
static bool waits_again(const struct analyse_graph *g, uint32_t p)
{
    const struct weft_history *h = g->s->h;
    const uint32_t *family = g->s->families->of, next = g->next[p];
    enum { LOOKED_AT = 100 };
    for (uint32_t i = h->waits_of_first[p], n = 0;
         next != WEFT_NONE && i < h->waits_of_first[p + 1] && n < LOOKED_AT; i++, n++)
        if (h->waits_of[i] != next &&
            family[h->wait[h->waits_of[i]].source] == family[h->wait[next].source])
            return true;
    return false;
}

/* Returns true if its creator waits for it as it did for earlier ones of its sort: for the next
 * connection, perhaps, or the next change that a condition announces. */
static bool is_awaited_again(const struct analyse_graph *g, uint32_t p)
{
    const uint32_t creator = g->s->m->promise[p].creator;
    return creator != WEFT_ROOT && (analyse_known(g->s, p) & (ANALYSE_ORDERED | ANALYSE_REUSED)) &&
           g->next[creator] != WEFT_NONE && analyse_ahead(g, creator) == p &&
           waits_again(g, creator);
}

/* Returns true if several promises like it, which its creator made after it, have ended since. */
static bool is_overtaken(const struct analyse_graph *g, uint32_t p)
{
    enum { SEVERAL = 3, LOOKED_AT = 64 };
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    const uint32_t creator = m->promise[p].creator;
    uint32_t low = h->children_first[creator], high = h->children_first[creator + 1], ended = 0;
    WEFT_SEEK(low, high, h->children[middle] <= p); /* they are in order of creation */
    for (uint32_t n = 0; low < h->children_first[creator + 1] && n < LOOKED_AT; low++, n++)
        ended += m->promise[h->children[low]].type == m->promise[p].type &&
                 !analyse_is_pending(m, h->children[low]);
    return ended >= SEVERAL;
}

bool analyse_has_worked(const struct analyse_graph *g, uint32_t p)
{
    const struct weft_model *m = g->s->m;
    uint32_t run = weft_history_last_run(g->s->h, p);
    return run != WEFT_NONE && run < m->runs_ended &&
           (m->run[run].end_ns < m->end_ns - g->s->o->hang_ns || is_overtaken(g, p));
}

bool analyse_sleeps(const struct analyse_graph *g, uint32_t p)
{
    const struct analyse_habit *b = &g->habit[g->s->families->of[p]];
    return analyse_is_sleep(g->s, p) || b->slept > b->resolved / 2;
}

/* mirage's traces do not say what is given up. Promises without a label may be different things. */
bool analyse_is_expected(const struct analyse_graph *g, uint32_t p)
{
    /* FEW: one pending for this many that ended. SOME: enough if all are pending from then on. */
    enum { ENOUGH = 8, TIMES = 100, SOME = 10, FEW = 8 };
    const struct weft_model *m = g->s->m;
    const struct analyse_habit *b = &g->habit[g->s->families->of[p]];
    const int64_t since = analyse_last_life(g, p), still_ns = m->end_ns - since;
    const bool none_since = b->pending >= ENOUGH && b->oldest_pending > b->newest_resolved;
    return !m->quirks.mirage_kinds && weft_model_name(m, p) != WEFT_NONE && b->resolved >= ENOUGH &&
           (b->pending <= b->resolved / FEW || none_since) && m->promise[p].created &&
           !m->promise[p].background && still_ns >= g->s->o->hang_ns &&
           still_ns / (none_since ? SOME : TIMES) >= b->longest_ns &&
           (m->asleep || g->slept_ns > since) && !analyse_sleeps(g, p) && !waits_again(g, p) &&
           !is_awaited_again(g, p);
}

/* ---- After the recording was off ---- */

/* Returns true if it was pending then: it began, was waited for, or ran again. That something was
 * recorded about it is not enough: what runs when the recording resumes is not known. */
static bool seen_since(const struct analyse_graph *g, uint32_t p)
{
    const struct weft_history *h = g->s->h;
    const int64_t since = h->m->resumed_ns;
    uint32_t run = weft_history_last_run(h, p);
    bool seen = h->m->promise[p].start_ns >= since ||
                (run != WEFT_NONE && h->m->run[run].start_ns >= since);
    for (uint32_t i = g->in_first[p]; i < g->in_first[p + 1] && !seen; i++)
        seen = h->wait[g->in[i]].from_ns >= since;
    return seen;
}

/* The first wait for the root on which `who` depends. */
static uint32_t wait_for_root(const struct analyse_graph *g, const struct analyse_hang *x,
                              uint32_t who)
{
    const struct analyse_group *gr = &g->groups[x->group];
    uint32_t wait = x->wait;
    if (g->group[who] != x->group)
        return wait;
    for (uint32_t i = 0, p = who; p != gr->node && i < gr->count; i++, p = analyse_ahead(g, p))
        wait = g->next[p];
    return wait;
}

bool analyse_hangs_since_pause(const struct analyse_graph *g, const struct analyse_hang *x,
                               uint32_t who)
{
    const struct weft_history *h = g->s->h;
    const int64_t since = h->m->resumed_ns;
    const struct analyse_group *gr = &g->groups[x->group];
    /* whoever waited for it before may have been notified, though it is still pending */
    const bool notified = analyse_count(h->notified_first, gr->node) > 0 ||
                          strcmp(weft_model_type(h->m, gr->node), "condition") == 0;
    bool seen = seen_since(g, gr->node);
    if (gr->lost)
        return gr->lost_ns >= since && h->wait[x->wait].from_ns >= since &&
               seen_since(g, analyse_reader(g, x->wait));
    if (x->wait != WEFT_NONE && !gr->circle && notified)
        return h->wait[wait_for_root(g, x, who)].from_ns >= since;
    for (uint32_t i = 1, p = gr->node; i < gr->circle; i++) {
        p = analyse_ahead(g, p);
        seen |= seen_since(g, p);
    }
    return seen; /* so whoever waits for it cannot have continued */
}
