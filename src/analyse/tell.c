/* SPDX-License-Identifier: ISC */
/* The sentences about what hangs, and the evidence. */
#include <string.h>

#include "analyse/graph.h"

enum {
    CIRCLE_NAMES = 4, /* of a circle that are named */
    HOLDERS = 3,      /* of those who hold something that are named */
    PATH_SHOWN = 5,   /* waits on the way to the root that are evidence */
    LISTED = 5,       /* of those that are affected */
};

/* ---- Evidence ---- */

/* No more than there is room for, and nothing twice. */
static void prove(const struct weft__graph *g, struct weft_finding *f, int64_t time_ns,
                  enum weft_evidence_event event, uint32_t promise, uint32_t other)
{
    if (f->evidences == WEFT_EVIDENCE_MAX)
        return;
    for (uint32_t i = 0; i < f->evidences; i++) {
        const struct weft_evidence *x = &f->evidence[i];
        if (x->event == event && x->promise == promise && x->other == other)
            return;
    }
    weft__finding_evidence(g->s, f, time_ns, event, promise, other);
}

static void prove_wait(const struct weft__graph *g, struct weft_finding *f, uint32_t wait)
{
    prove(g, f, g->s->h->wait[wait].from_ns, WEFT_EVIDENCE_WAITS, weft__reader(g, wait),
          weft__source(g, wait));
}

static void prove_creation(const struct weft__graph *g, struct weft_finding *f, uint32_t promise)
{
    const struct weft_promise *x = &g->s->m->promise[promise];
    if (x->created)
        prove(g, f, x->start_ns, WEFT_EVIDENCE_CREATED, promise, x->creator);
}

static void prove_end(const struct weft__graph *g, struct weft_finding *f, uint32_t promise)
{
    const struct weft_model *m = g->s->m;
    static const enum weft_evidence_event events[WEFT_OUTCOME_COUNT] = {
        [WEFT_PENDING] = WEFT_EVIDENCE_PENDING,     [WEFT_FULFILLED] = WEFT_EVIDENCE_FULFILLED,
        [WEFT_FAILED] = WEFT_EVIDENCE_FAILED,       [WEFT_BECAME] = WEFT_EVIDENCE_BECAME,
        [WEFT_RESOLVED] = WEFT_EVIDENCE_RESOLVED,   [WEFT_CANCELLED] = WEFT_EVIDENCE_CANCELLED,
        [WEFT_FORGOTTEN] = WEFT_EVIDENCE_FORGOTTEN,
    };
    const uint32_t outcome = m->promise[promise].outcome;
    int64_t time = outcome == WEFT_PENDING ? m->end_ns : m->promise[promise].end_ns;
    prove(g, f, time, events[outcome], promise, weft__resolver(g->s->h, promise));
}

/* The last sign of life: why it ran for the last time, and until when. */
static void prove_last_run(const struct weft__graph *g, struct weft_finding *f, uint32_t promise)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    if (h->runs_of_first[promise] == h->runs_of_first[promise + 1])
        return;
    uint32_t run = h->runs_of[h->runs_of_first[promise + 1] - 1], cause = h->run_cause[run];
    const struct weft_interaction *x = cause == WEFT_NONE ? NULL : &m->interaction[cause];
    if (x)
        prove(g, f, m->run[run].start_ns, WEFT_EVIDENCE_WOKEN, promise,
              x->kind == WEFT_SIGNALS ? x->actor : x->other);
    else
        prove(g, f, m->run[run].start_ns, WEFT_EVIDENCE_RUNS, promise, WEFT_NONE);
    if (m->run[run].end_ns < m->end_ns)
        prove(g, f, m->run[run].end_ns, WEFT_EVIDENCE_STOPS, promise, WEFT_NONE);
    else
        prove(g, f, m->end_ns, WEFT_EVIDENCE_RUNS_STILL, promise, WEFT_NONE);
}

/* The wait, or where its reader is only a place in a queue, one for that. */
static uint32_t behind_place(const struct weft__graph *g, uint32_t wait)
{
    const uint32_t reader = weft__reader(g, wait);
    return weft__is_place(g, reader) && g->in_first[reader] < g->in_first[reader + 1]
               ? g->in[g->in_first[reader]]
               : wait;
}

/* When the owner of a group got its root. */
static void prove_hold(const struct weft__graph *g, struct weft_finding *f,
                       const struct weft__group *gr)
{
    uint32_t at = g->s->h->holds_for_first[gr->node], hold;
    while ((hold = weft__next_holder(g, gr->node, &at)) != WEFT_NONE)
        if (weft__holder(g, hold) == gr->owner) {
            prove(g, f, g->s->m->hold[hold].from_ns, WEFT_EVIDENCE_ACQUIRED, gr->owner, gr->node);
            return;
        }
}

/* The waits from a blocked promise to its root: its own, and the last few. */
static void prove_path(const struct weft__graph *g, struct weft_finding *f, uint32_t from)
{
    const struct weft__group *gr = &g->groups[g->group[from]];
    uint32_t last[PATH_SHOWN], n = 0;
    if (from == gr->node)
        return;
    prove_wait(g, f, g->next[from]);
    /* Where circles touch, it may lead round in another one. */
    for (uint32_t at = from; at != gr->node && n < gr->count; at = weft__ahead(g, at))
        last[n++ % PATH_SHOWN] = g->next[at];
    for (uint32_t i = 0; i < n && i < PATH_SHOWN; i++)
        prove_wait(g, f, last[i]);
}

/* ---- Sentences ---- */

/* The last one that should be resolved, where it is not among the few that are listed under the text. */
static void put_behind(const struct weft__graph *g, struct weft_finding *f,
                       const struct weft__hang *x)
{
    if (x->top == WEFT_NONE || x->top == g->groups[x->group].node || x->affected <= LISTED)
        return;
    weft__say(g->s, f, " In the end, %p waits for it, too.", x->top);
}

/* How a promise ended, if it has: " failed at 1.2 s ('bad record')". which stands before that. */
static bool put_ending(const struct weft__graph *g, struct weft_finding *f, uint32_t promise,
                       const char *which)
{
    const struct weft_promise *p = &g->s->m->promise[promise];
    if (promise == WEFT_ROOT || p->outcome == WEFT_PENDING)
        return false;
    weft__say(g->s, f, "%s %e at %t", (intptr_t)which, promise, p->end_ns);
    if (p->outcome == WEFT_FAILED && weft__has_reason(g->s->m, promise))
        weft__say(g->s, f, " ('%r')", promise);
    return true;
}

/* One who holds a resource, since when, and what has become of it. */
static void put_holder(const struct weft__graph *g, struct weft_finding *f, uint32_t hold,
                       bool alone)
{
    const struct weft_hold *x = &g->s->m->hold[hold];
    const uint32_t holder = weft__holder(g, hold);
    const uint32_t resource = weft_model_final(g->s->m, x->resource);
    weft__say(g->s, f, "%?{ |by }%p", alone, holder);
    const bool ended = put_ending(g, f, holder, ", which");
    weft__say(g->s, f, "%?{,|}%s%t", ended,
              (intptr_t)(!alone  ? " since "
                         : ended ? " still holds it, since "
                                 : " has held it since "),
              x->from_ns);
    prove(g, f, x->from_ns, WEFT_EVIDENCE_ACQUIRED, holder, resource);
    if (ended) {
        prove_end(g, f, holder);
    } else if (holder != WEFT_ROOT && g->next[holder] != WEFT_NONE) {
        const uint32_t ahead = weft__ahead(g, holder);
        weft__say(g->s, f, alone ? ", and waits for " : ", which waits for ");
        weft__say(g->s, f, ahead != resource ? "%p" : alone ? "it" : "one more", ahead);
        weft__say(g->s, f, alone ? " itself" : "");
        prove_wait(g, f, g->next[holder]);
    }
}

/* Names some of those who hold the resource: who has ended, or who has not. Returns how many. */
static uint32_t name_holders(const struct weft__graph *g, struct weft_finding *f, uint32_t resource,
                             bool ended, uint32_t named)
{
    uint32_t at = g->s->h->holds_for_first[resource], hold;
    while (named < HOLDERS && (hold = weft__next_holder(g, resource, &at)) != WEFT_NONE) {
        const uint32_t holder = weft__holder(g, hold);
        if ((holder != WEFT_ROOT && !weft__is_pending(g->s->m, holder)) != ended)
            continue;
        weft__say(g->s, f, named ? "; " : "");
        put_holder(g, f, hold, false);
        named++;
    }
    return named;
}

/* All who hold what a group waits for. */
static void put_holders(const struct weft__graph *g, struct weft_finding *f,
                        const struct weft__group *gr)
{
    uint32_t at = g->s->h->holds_for_first[gr->node];
    if (gr->all == 1) {
        put_holder(g, f, weft__next_holder(g, gr->node, &at), true);
        weft__say(g->s, f, ".");
        return;
    }
    weft__say(g->s, f, " It is held %c %{time|times}", gr->all);
    if (gr->of && gr->of < gr->all)
        weft__say(g->s, f, ", %c of them by %{one that has|some that have} ended", gr->of);
    weft__say(g->s, f, ": ");
    uint32_t named = name_holders(g, f, gr->node, true, 0);
    named = name_holders(g, f, gr->node, false, named);
    if (gr->all > named) {
        weft__say(g->s, f, "; and %c more", gr->all - named);
    }
    weft__say(g->s, f, ".");
}

/* Of a resource of which the trace does not tell all: who holds it for sure. */
static void put_some_holders(const struct weft__graph *g, struct weft_finding *f, uint32_t resource)
{
    const struct weft_model *m = g->s->m;
    uint32_t at = g->s->h->holds_for_first[resource], hold, count = 0, first = WEFT_NONE;
    if (weft__is_passed(g->s->h, resource))
        return;
    while ((hold = weft__next_holder(g, resource, &at)) != WEFT_NONE)
        if (m->hold[hold].from_ns >= m->known_ns) {
            first = count++ ? first : hold;
        }
    if (!count && !weft__holds_known(m, resource) &&
        g->s->h->holds_for_first[resource] < g->s->h->holds_for_first[resource + 1])
        weft__say(g->s, f, " Who holds it is not known: not all events about it are there.");
    if (!count)
        return;
    weft__say(g->s, f, " As far as the trace tells, it is held ");
    put_holder(g, f, first, false);
    if (count > 1) {
        weft__say(g->s, f, "; and by %c more", count - 1);
    }
    weft__say(g->s, f, ".");
}

/* The one from whom a result was expected, and what became of him. */
static void put_owner(const struct weft__graph *g, struct weft_finding *f,
                      const struct weft__group *gr, bool creator_named)
{
    const struct weft_model *m = g->s->m;
    uint32_t owner = gr->owner;
    if (owner == WEFT_NONE)
        return;
    if (gr->why == WEFT__HOLDS) {
        put_holders(g, f, gr);
        return;
    }
    const struct weft_promise *o = &m->promise[owner];
    const bool ended = o->outcome != WEFT_PENDING && owner != WEFT_ROOT, all = gr->of == gr->all;
    if (gr->why == WEFT__CREATED && !gr->closed &&
        (!ended || o->end_ns < m->promise[gr->node].start_ns))
        return;
    weft__say(g->s, f, " ");
    if (gr->why == WEFT__CREATED || gr->why == WEFT__AS_CREATOR) {
        bool named = creator_named && weft_model_name(m, owner) != WEFT_NONE;
        if (gr->why == WEFT__AS_CREATOR) {
            weft__say(g->s, f,
                      all ? "Others like it were resolved by who created them (all %c), but "
                          : "Others like it were resolved by who created them (%c of %c), but ",
                      all ? gr->all : gr->of, gr->all);
        }
        weft__say(g->s, f, "%p%?{|, which created it,}", owner, named);
    } else if (gr->why == WEFT__AS_HOLDER) {
        weft__say(g->s, f, "%p, which got it last and has not passed it on,", owner);
    } else {
        weft__say(g->s, f,
                  all ? "%p, which resolved those like it before (all %c),"
                      : "%p, which resolved those like it before (%c of %c),",
                  owner, all ? gr->all : gr->of, gr->all);
    }
    if (put_ending(g, f, owner, "")) {
        weft__say(g->s, f, " without resolving it.");
        prove_end(g, f, owner);
    } else if (g->next[owner] != WEFT_NONE) {
        weft__say(g->s, f, " waits for %p itself.", weft__ahead(g, owner));
        prove_wait(g, f, g->next[owner]);
    } else
        weft__say(g->s, f, " has not resolved this one.");
}

static void tell_lost(const struct weft__graph *g, struct weft_finding *f,
                      const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct weft__group *gr = &g->groups[x->group];
    uint32_t reader = weft__reader(g, x->wait);
    int64_t from = g->s->h->wait[x->wait].from_ns;
    weft__say(g->s, f,
              gr->lost != WEFT__LOST_RESULT                    ? "The signal of "
              : m->promise[gr->node].outcome == WEFT_FAILED    ? "The failure of "
              : m->promise[gr->node].outcome == WEFT_CANCELLED ? "The end of "
                                                               : "The result of ");
    weft__say(g->s, f, "%p%O ", gr->node, gr->node);
    if (gr->lost == WEFT__LOST_BEFORE || gr->lost == WEFT__LOST_LATE) {
        bool late = gr->lost == WEFT__LOST_LATE;
        weft__say(g->s, f,
                  "came at %t%s%p began to wait for it %?{only |}at %t and has waited ever since, "
                  "for %a.",
                  gr->lost_ns,
                  (intptr_t)(late             ? " and woke all who waited then; "
                             : gr->lost_usual ? ", when nobody waited for it; "
                                              : ", when nobody waited for it, and is lost: "),
                  reader, late, from, from);
        prove(g, f, gr->lost_ns, late ? WEFT_EVIDENCE_SIGNALLED : WEFT_EVIDENCE_SIGNALLED_NOBODY,
              gr->node, gr->lost_by);
    } else if (gr->lost == WEFT__LOST_OTHER) {
        const struct weft_wait *w = &g->s->h->wait[gr->lost_to];
        weft__say(
            g->s, f,
            "came for the last time at %t and woke only %p, which had no use for it and waits "
            "again. %p, which has waited "
            "since %t, was not woken: where they wait for different things, all must be notified.",
            gr->lost_ns, weft_model_final(m, w->reader), reader, from);
        prove(g, f, gr->lost_ns, WEFT_EVIDENCE_SIGNALLED, gr->node, gr->lost_by);
        prove(g, f, w->until_ns, WEFT_EVIDENCE_WOKEN, weft_model_final(m, w->reader), gr->node);
    } else {
        weft__say(g->s, f,
                  "came at %t, but %p, which %?{had waited for it since|began to wait for it only "
                  "at} %t, was not woken: it has not run in the %a since.",
                  gr->lost_ns, reader, from <= gr->lost_ns, from, gr->lost_ns);
        if (gr->lost == WEFT__LOST_SIGNAL)
            prove(g, f, gr->lost_ns, WEFT_EVIDENCE_SIGNALLED, gr->node, gr->lost_by);
        else
            prove_end(g, f, gr->node);
    }
    if (x->top != reader)
        put_behind(g, f, x);
}

/* "'a' waits for 'b', 'b' for 'c', and 'c' for 'a'", with when each began. */
static void tell_circle(const struct weft__graph *g, struct weft_finding *f,
                        const struct weft__hang *x)
{
    const struct weft__group *gr = &g->groups[x->group];
    uint32_t p = gr->node;
    bool in_circle = false;
    for (uint32_t i = 0; i < gr->circle; i++, p = weft__ahead(g, p))
        in_circle |= p == x->top;
    if (gr->circle == 1) {
        weft__say(g->s, f, "%p%O ", p, p);
        weft__say(g->s, f, "has waited for itself since %t: it can never go on.",
                  g->s->h->wait[g->next[p]].from_ns);
        prove_wait(g, f, g->next[p]);
        put_behind(g, f, x);
        return;
    }
    weft__say(g->s, f,
              "%c promises wait for each other in a circle, so that none of them can go on: ",
              gr->circle);
    for (uint32_t i = 0; i < gr->circle && i < CIRCLE_NAMES; i++, p = weft__ahead(g, p))
        weft__say(g->s, f, "%s%p%?{ has waited for | for }%p since %t",
                  (intptr_t)(i == 0                ? ""
                             : i + 1 == gr->circle ? ", and "
                                                   : ", "),
                  p, i == 0, weft__ahead(g, p), g->s->h->wait[g->next[p]].from_ns);
    weft__say(g->s, f, gr->circle > CIRCLE_NAMES ? " and so on, back to the first." : ".");
    p = gr->node;
    for (uint32_t i = 0; i < gr->circle && i < WEFT_EVIDENCE_MAX / 2; i++, p = weft__ahead(g, p))
        prove_wait(g, f, g->next[p]);
    if (!in_circle)
        put_behind(g, f, x);
}

/* Who holds the resource waits for more of it. */
static void tell_held_by_waiters(const struct weft__graph *g, struct weft_finding *f,
                                 const struct weft__hang *x)
{
    const struct weft__group *gr = &g->groups[x->group];
    weft__say(g->s, f, "%p%O ", gr->node, gr->node);
    weft__say(g->s, f, gr->all == 1 ? "can never be given back: " : "can never be given back.");
    if (gr->all == 1) {
        uint32_t at = g->s->h->holds_for_first[gr->node];
        const uint32_t ahead = weft__ahead(g, gr->owner);
        weft__say(g->s, f, "%p, which has held it since %t, ", gr->owner,
                  g->s->m->hold[weft__next_holder(g, gr->node, &at)].from_ns);
        prove_hold(g, f, gr);
        if (ahead == gr->node)
            weft__say(g->s, f, "has waited for it itself");
        else
            weft__say(g->s, f, "waits for it by way of %p,", ahead);
        weft__say(g->s, f, " since %t.", g->s->h->wait[g->next[gr->owner]].from_ns);
        prove_path(g, f, gr->owner);
    } else {
        put_holders(g, f, gr);
    }
    put_behind(g, f, x);
}

/* Owners in a circle: who waits for what whose owner waits … */
static void tell_owners(const struct weft__graph *g, struct weft_finding *f,
                        const struct weft__hang *x)
{
    uint32_t at = x->group, named = 0;
    bool owns = false;
    if (g->groups[at].up == at && g->groups[at].why == WEFT__HOLDS) {
        tell_held_by_waiters(g, f, x);
        return;
    }
    weft__say(g->s, f, "Each of these waits for what another one of them holds: ");
    do {
        const struct weft__group *gr = &g->groups[at];
        uint32_t up = gr->up;
        owns |= gr->owner == x->top;
        if (named < CIRCLE_NAMES) {
            weft__say(g->s, f, "%?{|; }%p%s%p, has waited for ", named == 0, gr->owner,
                      (intptr_t)(gr->why == WEFT__HOLDS       ? ", which holds "
                                 : gr->why == WEFT__AS_HOLDER ? ", which is to pass on "
                                 : gr->why == WEFT__AS_BEFORE ? ", which is to resolve "
                                                              : ", which created "),
                      gr->node);
            const uint32_t ahead = weft__ahead(g, gr->owner);
            weft__say(g->s, f, "%p since %t",
                      weft__is_place(g, ahead) ? weft__ahead(g, ahead) : ahead,
                      g->s->h->wait[g->next[gr->owner]].from_ns);
            prove_creation(g, f, gr->node);
            if (gr->why == WEFT__HOLDS)
                prove_hold(g, f, gr);
            prove_path(g, f, gr->owner);
        }
        named++;
        at = up;
    } while (at != x->group);
    weft__say(g->s, f, named > CIRCLE_NAMES ? "; and so on, back to the first." : ".");
    if (!owns)
        put_behind(g, f, x);
}

/* What the root did when somebody cancelled what it waited for. */
static void put_deaf(const struct weft__graph *g, struct weft_finding *f,
                     const struct weft__group *gr)
{
    const struct weft_history *h = g->s->h;
    const struct weft_wait *w = &h->wait[gr->deaf];
    uint32_t last = h->waits_of[h->waits_of_first[gr->node + 1] - 1];
    weft__say(
        g->s, f,
        " %p cancelled it while it waited for %p at %t, but it goes on as before: since %t it "
        "has waited for %p.",
        gr->deaf_to, weft_model_final(h->m, w->source), w->until_ns, h->wait[last].from_ns,
        weft__source(g, last));
    prove_end(g, f, weft_model_final(h->m, w->source));
    prove_wait(g, f, last);
}

/* Why one that is not marked should have ended: those like it have. */
static void put_others(const struct weft__graph *g, struct weft_finding *f,
                       const struct weft__hang *x)
{
    const struct weft__group *gr = &g->groups[x->group];
    uint32_t i = gr->first, end = gr->first + gr->count;
    while (i < end && !weft__is_expected(g, g->order[i]))
        i++;
    if (i == end)
        return;
    const struct weft__habit *b = &g->habit[g->s->families->of[g->order[i]]];
    weft__say(g->s, f, " Of those like %n %c have ended, each within %l.", g->order[i], b->resolved,
              b->longest_ns);
}

static void tell_root(const struct weft__graph *g, struct weft_finding *f,
                      const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct weft__group *gr = &g->groups[x->group];
    const struct weft_promise *p = &m->promise[gr->node];
    uint32_t reader = x->wait == WEFT_NONE ? WEFT_NONE : weft__reader(g, x->wait);
    weft__say(g->s, f, "%p%O ", gr->node, gr->node);
    if (p->outcome == WEFT_FORGOTTEN) {
        weft__say(g->s, f, "was dropped without a result at %t", p->end_ns);
    } else if (gr->told_by != WEFT_NONE) {
        weft__say(g->s, f, "was signalled for the last time at %t%?{, when nobody waited for it|}",
                  gr->told_ns, gr->vain);
        prove(g, f, gr->told_ns,
              gr->vain ? WEFT_EVIDENCE_SIGNALLED_NOBODY : WEFT_EVIDENCE_SIGNALLED, gr->node,
              gr->told_by);
    } else if (gr->why == WEFT__HOLDS)
        weft__say(g->s, f, gr->of ? "was never given back" : "is held");
    else
        weft__say(g->s, f,
                  strncmp(weft_model_type(m, gr->node), "cond", 4) == 0 ? "was never signalled"
                                                                        : "was never resolved");
    if (reader != WEFT_NONE) {
        const int64_t from = g->s->h->wait[x->wait].from_ns;
        weft__say(g->s, f, "; %p has waited for it since %t, for %a",
                  weft__reader(g, behind_place(g, x->wait)), from, from);
    } else if (p->created) {
        weft__say(g->s, f, "%?{, though it should have been|}: it is %a old", p->should_resolve,
                  p->start_ns);
    }
    weft__say(g->s, f, ".");
    if (x->expected && x->near == WEFT_NONE)
        put_others(g, f, x);
    if (x->top != reader)
        put_behind(g, f, x);
    if (gr->deaf == WEFT_NONE)
        put_owner(g, f, gr, true);
    else
        put_deaf(g, f, gr);
    if (gr->why != WEFT__HOLDS)
        put_some_holders(g, f, gr->node);
}

/* Those that are expected from somebody who hangs here. */
static void tell_parts(const struct weft__graph *g, struct weft_finding *f,
                       const struct weft__hang *x)
{
    uint32_t part = g->groups[x->group].first_under;
    while (part != WEFT_NONE && !(g->mark[g->groups[part].node] & WEFT__SHOULD))
        part = g->groups[part].next_under;
    if (part == WEFT_NONE)
        return;
    const struct weft__group *gr = &g->groups[part];
    weft__say(g->s, f, "%?{ So nobody gives back | So nobody resolves }%p.", gr->why == WEFT__HOLDS,
              gr->node);
    put_owner(g, f, gr, false);
    if (gr->count > 1)
        prove_wait(g, f, g->next[g->order[gr->first + 1]]);
}

void weft__tell_hang(const struct weft__graph *g, const struct weft__hang *x,
                     struct weft_finding *f, uint64_t same)
{
    const struct weft__group *gr = &g->groups[x->group];
    prove_creation(g, f, gr->node);
    if (x->wait != WEFT_NONE) {
        const uint32_t wait = behind_place(g, x->wait);
        prove_wait(g, f, wait);
        prove(g, f, g->s->m->end_ns, WEFT_EVIDENCE_WAITS_STILL, weft__reader(g, wait),
              weft__source(g, x->wait));
    }
    if (!gr->lost) {
        prove_last_run(g, f, gr->node);
        prove_end(g, f, gr->node);
    }
    if (gr->closed)
        tell_owners(g, f, x);
    else if (gr->members)
        tell_circle(g, f, x);
    else if (gr->lost)
        tell_lost(g, f, x);
    else
        tell_root(g, f, x);
    if (x->top != WEFT_NONE && g->group[x->top] == x->group)
        prove_path(g, f, x->top);
    if (x->top != WEFT_NONE)
        prove(g, f, g->s->m->end_ns, WEFT_EVIDENCE_PENDING, x->top, WEFT_NONE);
    tell_parts(g, f, x);
    if (same)
        weft__say(g->s, f, " The same holds for %c more like it (%f).", (int64_t)same, x->family);
    const uint64_t more = weft_model_more_like(g->s->m, gr->node); /* for which there was no room */
    if (more)
        weft__say(g->s, f,
                  " And %c more like it %{is|are} pending, of which nothing else was kept.",
                  (int64_t)more);
}
