/* SPDX-License-Identifier: ISC */
/* The sentences about what hangs, and the evidence. */
#include <inttypes.h>
#include <string.h>

#include "analyse/graph.h"

enum {
    CIRCLE_NAMES = 4, /* of a circle that are named */
    HOLDERS = 3,      /* of those who hold something that are named */
    PATH_SHOWN = 5,   /* waits on the way to the root that are evidence */
    LISTED = 5,       /* of those that are affected */
};

/* ---- Evidence ---- */

/* In order of time: at equal times as they come. */
struct proof {
    struct weft_evidence item[WEFT_EVIDENCE_MAX];
    uint32_t count;
};

static void prove(struct proof *p, int64_t time_ns, enum weft_evidence_event event,
                  uint32_t promise, uint32_t other)
{
    uint32_t at = p->count;
    if (p->count == WEFT_EVIDENCE_MAX)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->item[i].event == event && p->item[i].promise == promise && p->item[i].other == other)
            return;
    for (; at > 0 && p->item[at - 1].time_ns > time_ns; at--)
        p->item[at] = p->item[at - 1];
    p->item[at] = (struct weft_evidence){time_ns, event, promise, other};
    p->count++;
}

static void prove_wait(const struct weft__graph *g, struct proof *p, uint32_t wait)
{
    prove(p, g->s->h->wait[wait].from_ns, WEFT_EVIDENCE_WAITS, weft__reader(g, wait),
          weft__source(g, wait));
}

static void prove_creation(const struct weft__graph *g, struct proof *p, uint32_t promise)
{
    const struct weft_promise *x = &g->s->m->promise[promise];
    if (x->created)
        prove(p, x->start_ns, WEFT_EVIDENCE_CREATED, promise, x->creator);
}

static void prove_end(const struct weft__graph *g, struct proof *p, uint32_t promise)
{
    const struct weft_model *m = g->s->m;
    static const enum weft_evidence_event events[WEFT_OUTCOME_COUNT] = {
        [WEFT_PENDING] = WEFT_EVIDENCE_PENDING,     [WEFT_FULFILLED] = WEFT_EVIDENCE_FULFILLED,
        [WEFT_FAILED] = WEFT_EVIDENCE_FAILED,       [WEFT_BECAME] = WEFT_EVIDENCE_BECAME,
        [WEFT_RESOLVED] = WEFT_EVIDENCE_RESOLVED,   [WEFT_CANCELLED] = WEFT_EVIDENCE_CANCELLED,
        [WEFT_FORGOTTEN] = WEFT_EVIDENCE_FORGOTTEN,
    };
    uint32_t by = g->s->h->resolution[promise], outcome = m->promise[promise].outcome;
    int64_t time = outcome == WEFT_PENDING ? m->end_ns : m->promise[promise].end_ns;
    prove(p, time, events[outcome], promise,
          by == WEFT_NONE ? WEFT_NONE : m->interaction[by].actor);
}

/* The last sign of life: why it ran for the last time, and until when. */
static void prove_last_run(const struct weft__graph *g, struct proof *p, uint32_t promise)
{
    const struct weft_history *h = g->s->h;
    const struct weft_model *m = h->m;
    if (h->runs_of_first[promise] == h->runs_of_first[promise + 1])
        return;
    uint32_t run = h->runs_of[h->runs_of_first[promise + 1] - 1], cause = h->run_cause[run];
    const struct weft_interaction *x = cause == WEFT_NONE ? NULL : &m->interaction[cause];
    if (x)
        prove(p, m->run[run].start_ns, WEFT_EVIDENCE_WOKEN, promise,
              x->kind == WEFT_SIGNALS ? x->actor : x->other);
    else
        prove(p, m->run[run].start_ns, WEFT_EVIDENCE_RUNS, promise, WEFT_NONE);
    if (m->run[run].end_ns < m->end_ns)
        prove(p, m->run[run].end_ns, WEFT_EVIDENCE_STOPS, promise, WEFT_NONE);
    else
        prove(p, m->end_ns, WEFT_EVIDENCE_RUNS_STILL, promise, WEFT_NONE);
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
static void prove_hold(const struct weft__graph *g, struct proof *p, const struct weft__group *gr)
{
    uint32_t at = g->s->h->holds_for_first[gr->node], hold;
    while ((hold = weft__next_holder(g, gr->node, &at)) != WEFT_NONE)
        if (weft__holder(g, hold) == gr->owner) {
            prove(p, g->s->m->hold[hold].from_ns, WEFT_EVIDENCE_ACQUIRED, gr->owner, gr->node);
            return;
        }
}

/* The waits from a blocked promise to its root: its own, and the last few. */
static void prove_path(const struct weft__graph *g, struct proof *p, uint32_t from)
{
    const struct weft__group *gr = &g->groups[g->group[from]];
    uint32_t last[PATH_SHOWN], n = 0;
    if (from == gr->node)
        return;
    prove_wait(g, p, g->next[from]);
    /* Where circles touch, it may lead round in another one. */
    for (uint32_t at = from; at != gr->node && n < gr->count; at = weft__ahead(g, at))
        last[n++ % PATH_SHOWN] = g->next[at];
    for (uint32_t i = 0; i < n && i < PATH_SHOWN; i++)
        prove_wait(g, p, last[i]);
}

/* ---- Sentences ---- */

static void at_time(struct weft__text *t, int64_t time_ns)
{
    weft__put(t, " at ");
    weft__put_time(t, time_ns);
}

/* A promise and where it comes from, as the subject of a sentence. */
static void put_subject(const struct weft__graph *g, struct weft__text *t, uint32_t promise)
{
    weft__put_full(t, g->s->m, promise);
    size_t size = t->size;
    weft__put_origin(t, g->s->m, promise);
    weft__put(t, t->size > size ? ", " : " ");
}

/* How long that is ago when the trace ends. */
static void put_since(const struct weft__graph *g, struct weft__text *t, int64_t time_ns)
{
    int64_t end = g->s->m->end_ns;
    weft__put_length(t, end > time_ns ? end - time_ns : 0);
}

static void put_number(struct weft__text *t, uint64_t n, const char *one, const char *many)
{
    weft__put_count(t, n);
    weft__put(t, " %s", n == 1 ? one : many);
}

/* The last one that should be resolved, where it is not among the few that are listed under the text. */
static void put_behind(const struct weft__graph *g, struct weft__text *t,
                       const struct weft__hang *x)
{
    if (x->top == WEFT_NONE || x->top == g->groups[x->group].node || x->affected <= LISTED)
        return;
    weft__put(t, " In the end, ");
    weft__put_full(t, g->s->m, x->top);
    weft__put(t, " waits for it, too.");
}

static void put_same(const struct weft__graph *g, struct weft__text *t, const struct weft__hang *x,
                     uint64_t same)
{
    if (same == 0)
        return;
    weft__put(t, " The same holds for ");
    put_number(t, same, "more like it", "more like it");
    weft__put(t, " (");
    weft__put_family(t, g->s->m, g->s->families, x->family);
    weft__put(t, ").");
}

/* Those of the same sort for which the recording had no room. */
static void put_given_up(const struct weft__graph *g, struct weft__text *t, uint32_t promise)
{
    uint64_t more = weft_model_more_like(g->s->m, promise);
    if (more == 0)
        return;
    weft__put(t, " And ");
    put_number(t, more, "more like it is pending, of which nothing else was kept.",
               "more like it are pending, of which nothing else was kept.");
}

static void put_share(struct weft__text *t, const struct weft__group *gr)
{
    if (gr->of == gr->all)
        weft__put(t, "all ");
    else {
        weft__put_count(t, gr->of);
        weft__put(t, " of ");
    }
    weft__put_count(t, gr->all);
}

/* How a promise ended, if it has: " failed at 1.2 s ('bad record')". which stands before that. */
static bool put_ending(const struct weft__graph *g, struct weft__text *t, uint32_t promise,
                       const char *which)
{
    const struct weft_model *m = g->s->m;
    const struct weft_promise *p = &m->promise[promise];
    if (promise == WEFT_ROOT || p->outcome == WEFT_PENDING)
        return false;
    weft__put(t, "%s %s", which, weft__outcome_verb(m, promise));
    at_time(t, p->end_ns);
    uint32_t reason = p->outcome == WEFT_FAILED ? weft_model_reason(m, promise) : WEFT_NONE;
    if (reason != WEFT_NONE)
        weft__put(t, " ('%.100s')", weft_model_text(m, reason, NULL));
    return true;
}

/* One who holds a resource, since when, and what has become of it. */
static void put_holder(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                       uint32_t hold, bool alone)
{
    const struct weft_hold *x = &g->s->m->hold[hold];
    const uint32_t holder = weft__holder(g, hold);
    const uint32_t resource = weft_model_final(g->s->m, x->resource);
    weft__put(t, alone ? " " : "by ");
    weft__put_full(t, g->s->m, holder);
    const bool ended = put_ending(g, t, holder, ", which");
    weft__put(t, ended ? "," : "");
    weft__put(t, !alone ? " since " : ended ? " still holds it, since " : " has held it since ");
    weft__put_time(t, x->from_ns);
    prove(proof, x->from_ns, WEFT_EVIDENCE_ACQUIRED, holder, resource);
    if (ended) {
        prove_end(g, proof, holder);
    } else if (holder != WEFT_ROOT && g->next[holder] != WEFT_NONE) {
        const uint32_t ahead = weft__ahead(g, holder);
        weft__put(t, alone ? ", and waits for " : ", which waits for ");
        if (ahead == resource)
            weft__put(t, alone ? "it" : "one more");
        else
            weft__put_full(t, g->s->m, ahead);
        weft__put(t, alone ? " itself" : "");
        prove_wait(g, proof, g->next[holder]);
    }
}

/* Names some of those who hold the resource: who has ended, or who has not. Returns how many. */
static uint32_t name_holders(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                             uint32_t resource, bool ended, uint32_t named)
{
    uint32_t at = g->s->h->holds_for_first[resource], hold;
    while (named < HOLDERS && (hold = weft__next_holder(g, resource, &at)) != WEFT_NONE) {
        const uint32_t holder = weft__holder(g, hold);
        if ((holder != WEFT_ROOT && !weft__is_pending(g->s->m, holder)) != ended)
            continue;
        weft__put(t, named ? "; " : "");
        put_holder(g, t, proof, hold, false);
        named++;
    }
    return named;
}

/* All who hold what a group waits for. */
static void put_holders(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                        const struct weft__group *gr)
{
    uint32_t at = g->s->h->holds_for_first[gr->node];
    if (gr->all == 1) {
        put_holder(g, t, proof, weft__next_holder(g, gr->node, &at), true);
        weft__put(t, ".");
        return;
    }
    weft__put(t, " It is held ");
    put_number(t, gr->all, "time", "times");
    if (gr->of && gr->of < gr->all) {
        weft__put(t, ", ");
        weft__put_count(t, gr->of);
        weft__put(t, gr->of == 1 ? " of them by one that has ended"
                                 : " of them by some that have ended");
    }
    weft__put(t, ": ");
    uint32_t named = name_holders(g, t, proof, gr->node, true, 0);
    named = name_holders(g, t, proof, gr->node, false, named);
    if (gr->all > named) {
        weft__put(t, "; and ");
        weft__put_count(t, gr->all - named);
        weft__put(t, " more");
    }
    weft__put(t, ".");
}

/* Of a resource of which the trace does not tell all: who holds it for sure. */
static void put_some_holders(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                             uint32_t resource)
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
        weft__put(t, " Who holds it is not known: not all events about it are there.");
    if (!count)
        return;
    weft__put(t, " As far as the trace tells, it is held ");
    put_holder(g, t, proof, first, false);
    if (count > 1) {
        weft__put(t, "; and by ");
        weft__put_count(t, count - 1);
        weft__put(t, " more");
    }
    weft__put(t, ".");
}

/* The one from whom a result was expected, and what became of him. */
static void put_owner(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                      const struct weft__group *gr, bool creator_named)
{
    const struct weft_model *m = g->s->m;
    uint32_t owner = gr->owner;
    if (owner == WEFT_NONE)
        return;
    if (gr->why == WEFT__HOLDS) {
        put_holders(g, t, proof, gr);
        return;
    }
    const struct weft_promise *o = &m->promise[owner];
    bool ended = o->outcome != WEFT_PENDING && owner != WEFT_ROOT;
    if (gr->why == WEFT__CREATED && !gr->closed &&
        (!ended || o->end_ns < m->promise[gr->node].start_ns))
        return;
    weft__put(t, " ");
    if (gr->why == WEFT__CREATED || gr->why == WEFT__AS_CREATOR) {
        bool named = creator_named && weft_model_name(m, owner) != WEFT_NONE;
        if (gr->why == WEFT__AS_CREATOR) {
            weft__put(t, "Others like it were resolved by who created them (");
            put_share(t, gr);
            weft__put(t, "), but ");
        }
        weft__put_full(t, m, owner);
        weft__put(t, named ? "" : ", which created it,");
    } else if (gr->why == WEFT__AS_HOLDER) {
        weft__put_full(t, m, owner);
        weft__put(t, ", which got it last and has not passed it on,");
    } else {
        weft__put_full(t, m, owner);
        weft__put(t, ", which resolved those like it before (");
        put_share(t, gr);
        weft__put(t, "),");
    }
    if (put_ending(g, t, owner, "")) {
        weft__put(t, " without resolving it.");
        prove_end(g, proof, owner);
    } else if (g->next[owner] != WEFT_NONE) {
        weft__put(t, " waits for ");
        weft__put_full(t, m, weft__ahead(g, owner));
        weft__put(t, " itself.");
        prove_wait(g, proof, g->next[owner]);
    } else
        weft__put(t, " has not resolved this one.");
}

static void tell_lost(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                      const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct weft__group *gr = &g->groups[x->group];
    uint32_t reader = weft__reader(g, x->wait);
    int64_t from = g->s->h->wait[x->wait].from_ns;
    weft__put(t, gr->lost != WEFT__LOST_RESULT                    ? "The signal of "
                 : m->promise[gr->node].outcome == WEFT_FAILED    ? "The failure of "
                 : m->promise[gr->node].outcome == WEFT_CANCELLED ? "The end of "
                                                                  : "The result of ");
    put_subject(g, t, gr->node);
    if (gr->lost == WEFT__LOST_BEFORE || gr->lost == WEFT__LOST_LATE) {
        bool late = gr->lost == WEFT__LOST_LATE;
        weft__put(t, "came");
        at_time(t, gr->lost_ns);
        weft__put(t, late             ? " and woke all who waited then; "
                     : gr->lost_usual ? ", when nobody waited for it; "
                                      : ", when nobody waited for it, and is lost: ");
        weft__put_full(t, m, reader);
        weft__put(t, late ? " began to wait for it only" : " began to wait for it");
        at_time(t, from);
        weft__put(t, " and has waited ever since, for ");
        put_since(g, t, from);
        weft__put(t, ".");
        prove(proof, gr->lost_ns, late ? WEFT_EVIDENCE_SIGNALLED : WEFT_EVIDENCE_SIGNALLED_NOBODY,
              gr->node, gr->lost_by);
    } else if (gr->lost == WEFT__LOST_OTHER) {
        const struct weft_wait *w = &g->s->h->wait[gr->lost_to];
        weft__put(t, "came for the last time");
        at_time(t, gr->lost_ns);
        weft__put(t, " and woke only ");
        weft__put_full(t, m, weft_model_final(m, w->reader));
        weft__put(t, ", which had no use for it and waits again. ");
        weft__put_full(t, m, reader);
        weft__put(t, ", which has waited since ");
        weft__put_time(t, from);
        weft__put(t,
                  ", was not woken: where they wait for different things, all must be notified.");
        prove(proof, gr->lost_ns, WEFT_EVIDENCE_SIGNALLED, gr->node, gr->lost_by);
        prove(proof, w->until_ns, WEFT_EVIDENCE_WOKEN, weft_model_final(m, w->reader), gr->node);
    } else {
        weft__put(t, "came");
        at_time(t, gr->lost_ns);
        weft__put(t, ", but ");
        weft__put_full(t, m, reader);
        weft__put(t, from <= gr->lost_ns ? ", which had waited for it since "
                                         : ", which began to wait for it only at ");
        weft__put_time(t, from);
        weft__put(t, ", was not woken: it has not run in the ");
        put_since(g, t, gr->lost_ns);
        weft__put(t, " since.");
        if (gr->lost == WEFT__LOST_SIGNAL)
            prove(proof, gr->lost_ns, WEFT_EVIDENCE_SIGNALLED, gr->node, gr->lost_by);
        else
            prove_end(g, proof, gr->node);
    }
    if (x->top != reader)
        put_behind(g, t, x);
}

/* "'a' waits for 'b', 'b' for 'c', and 'c' for 'a'", with when each began. */
static void tell_circle(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                        const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct weft__group *gr = &g->groups[x->group];
    uint32_t p = gr->node;
    bool in_circle = false;
    for (uint32_t i = 0; i < gr->circle; i++, p = weft__ahead(g, p))
        in_circle |= p == x->top;
    if (gr->circle == 1) {
        put_subject(g, t, p);
        weft__put(t, "has waited for itself since ");
        weft__put_time(t, g->s->h->wait[g->next[p]].from_ns);
        weft__put(t, ": it can never go on.");
        prove_wait(g, proof, g->next[p]);
        put_behind(g, t, x);
        return;
    }
    weft__put_count(t, gr->circle);
    weft__put(t, " promises wait for each other in a circle, so that none of them can go on: ");
    for (uint32_t i = 0; i < gr->circle && i < CIRCLE_NAMES; i++, p = weft__ahead(g, p)) {
        weft__put(t, i == 0 ? "" : i + 1 == gr->circle ? ", and " : ", ");
        weft__put_full(t, m, p);
        weft__put(t, i == 0 ? " has waited for " : " for ");
        weft__put_full(t, m, weft__ahead(g, p));
        weft__put(t, " since ");
        weft__put_time(t, g->s->h->wait[g->next[p]].from_ns);
    }
    weft__put(t, gr->circle > CIRCLE_NAMES ? " and so on, back to the first." : ".");
    p = gr->node;
    for (uint32_t i = 0; i < gr->circle && i < WEFT_EVIDENCE_MAX / 2; i++, p = weft__ahead(g, p))
        prove_wait(g, proof, g->next[p]);
    if (!in_circle)
        put_behind(g, t, x);
}

/* Who holds the resource waits for more of it. */
static void tell_held_by_waiters(const struct weft__graph *g, struct weft__text *t,
                                 struct proof *proof, const struct weft__hang *x)
{
    const struct weft__group *gr = &g->groups[x->group];
    put_subject(g, t, gr->node);
    weft__put(t, gr->all == 1 ? "can never be given back: " : "can never be given back.");
    if (gr->all == 1) {
        weft__put_full(t, g->s->m, gr->owner);
        weft__put(t, ", which has held it since ");
        uint32_t at = g->s->h->holds_for_first[gr->node];
        weft__put_time(t, g->s->m->hold[weft__next_holder(g, gr->node, &at)].from_ns);
        prove_hold(g, proof, gr);
        if (weft__ahead(g, gr->owner) == gr->node)
            weft__put(t, ", has waited for it itself since ");
        else {
            weft__put(t, ", waits for it by way of ");
            weft__put_full(t, g->s->m, weft__ahead(g, gr->owner));
            weft__put(t, ", since ");
        }
        weft__put_time(t, g->s->h->wait[g->next[gr->owner]].from_ns);
        weft__put(t, ".");
        prove_path(g, proof, gr->owner);
    } else {
        put_holders(g, t, proof, gr);
    }
    put_behind(g, t, x);
}

/* Owners in a circle: who waits for what whose owner waits … */
static void tell_owners(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                        const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    uint32_t at = x->group, named = 0;
    bool owns = false;
    if (g->groups[at].up == at && g->groups[at].why == WEFT__HOLDS) {
        tell_held_by_waiters(g, t, proof, x);
        return;
    }
    weft__put(t, "Each of these waits for what another one of them holds: ");
    do {
        const struct weft__group *gr = &g->groups[at];
        uint32_t up = gr->up;
        owns |= gr->owner == x->top;
        if (named < CIRCLE_NAMES) {
            weft__put(t, "%s", named == 0 ? "" : "; ");
            weft__put_full(t, m, gr->owner);
            weft__put(t, gr->why == WEFT__HOLDS       ? ", which holds "
                         : gr->why == WEFT__AS_HOLDER ? ", which is to pass on "
                         : gr->why == WEFT__AS_BEFORE ? ", which is to resolve "
                                                      : ", which created ");
            weft__put_full(t, m, gr->node);
            weft__put(t, ", has waited for ");
            const uint32_t ahead = weft__ahead(g, gr->owner);
            weft__put_full(t, m, weft__is_place(g, ahead) ? weft__ahead(g, ahead) : ahead);
            weft__put(t, " since ");
            weft__put_time(t, g->s->h->wait[g->next[gr->owner]].from_ns);
            prove_creation(g, proof, gr->node);
            if (gr->why == WEFT__HOLDS)
                prove_hold(g, proof, gr);
            prove_path(g, proof, gr->owner);
        }
        named++;
        at = up;
    } while (at != x->group);
    weft__put(t, named > CIRCLE_NAMES ? "; and so on, back to the first." : ".");
    if (!owns)
        put_behind(g, t, x);
}

/* What the root did when somebody cancelled what it waited for. */
static void put_deaf(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                     const struct weft__group *gr)
{
    const struct weft_history *h = g->s->h;
    const struct weft_wait *w = &h->wait[gr->deaf];
    uint32_t last = h->waits_of[h->waits_of_first[gr->node + 1] - 1];
    weft__put(t, " ");
    weft__put_full(t, h->m, gr->deaf_to);
    weft__put(t, " cancelled it while it waited for ");
    weft__put_full(t, h->m, weft_model_final(h->m, w->source));
    at_time(t, w->until_ns);
    weft__put(t, ", but it goes on as before: since ");
    weft__put_time(t, h->wait[last].from_ns);
    weft__put(t, " it has waited for ");
    weft__put_full(t, h->m, weft__source(g, last));
    weft__put(t, ".");
    prove_end(g, proof, weft_model_final(h->m, w->source));
    prove_wait(g, proof, last);
}

/* Why one that is not marked should have ended: those like it have. */
static void put_others(const struct weft__graph *g, struct weft__text *t,
                       const struct weft__hang *x)
{
    const struct weft__group *gr = &g->groups[x->group];
    uint32_t i = gr->first, end = gr->first + gr->count;
    while (i < end && !weft__is_expected(g, g->order[i]))
        i++;
    if (i == end)
        return;
    const struct weft__habit *b = &g->habit[g->s->families->of[g->order[i]]];
    weft__put(t, " Of those like ");
    weft__put_name(t, g->s->m, g->order[i]);
    weft__put(t, " ");
    weft__put_count(t, b->resolved);
    weft__put(t, " have ended, each within ");
    weft__put_length(t, b->longest_ns);
    weft__put(t, ".");
}

static void tell_root(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                      const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    const struct weft__group *gr = &g->groups[x->group];
    const struct weft_promise *p = &m->promise[gr->node];
    uint32_t reader = x->wait == WEFT_NONE ? WEFT_NONE : weft__reader(g, x->wait);
    put_subject(g, t, gr->node);
    if (p->outcome == WEFT_FORGOTTEN) {
        weft__put(t, "was dropped without a result");
        at_time(t, p->end_ns);
    } else if (gr->told_by != WEFT_NONE) {
        weft__put(t, "was signalled for the last time");
        at_time(t, gr->told_ns);
        weft__put(t, gr->vain ? ", when nobody waited for it" : "");
        prove(proof, gr->told_ns,
              gr->vain ? WEFT_EVIDENCE_SIGNALLED_NOBODY : WEFT_EVIDENCE_SIGNALLED, gr->node,
              gr->told_by);
    } else if (gr->why == WEFT__HOLDS)
        weft__put(t, gr->of ? "was never given back" : "is held");
    else
        weft__put(t, strncmp(weft_model_type(m, gr->node), "cond", 4) == 0 ? "was never signalled"
                                                                           : "was never resolved");
    if (reader != WEFT_NONE) {
        weft__put(t, "; ");
        weft__put_full(t, m, weft__reader(g, behind_place(g, x->wait)));
        weft__put(t, " has waited for it since ");
        weft__put_time(t, g->s->h->wait[x->wait].from_ns);
        weft__put(t, ", for ");
        put_since(g, t, g->s->h->wait[x->wait].from_ns);
    } else if (p->created) {
        weft__put(t, p->should_resolve ? ", though it should have been: it is " : ": it is ");
        put_since(g, t, p->start_ns);
        weft__put(t, " old");
    }
    weft__put(t, ".");
    if (x->expected && x->near == WEFT_NONE)
        put_others(g, t, x);
    if (x->top != reader)
        put_behind(g, t, x);
    if (gr->deaf == WEFT_NONE)
        put_owner(g, t, proof, gr, true);
    else
        put_deaf(g, t, proof, gr);
    if (gr->why != WEFT__HOLDS)
        put_some_holders(g, t, proof, gr->node);
}

/* Those that are expected from somebody who hangs here. */
static void tell_parts(const struct weft__graph *g, struct weft__text *t, struct proof *proof,
                       const struct weft__hang *x)
{
    const struct weft_model *m = g->s->m;
    uint32_t part = g->groups[x->group].first_under;
    while (part != WEFT_NONE && !(g->mark[g->groups[part].node] & WEFT__SHOULD))
        part = g->groups[part].next_under;
    if (part == WEFT_NONE)
        return;
    const struct weft__group *gr = &g->groups[part];
    weft__put(t, gr->why == WEFT__HOLDS ? " So nobody gives back " : " So nobody resolves ");
    weft__put_full(t, m, gr->node);
    weft__put(t, ".");
    put_owner(g, t, proof, gr, false);
    if (gr->count > 1)
        prove_wait(g, proof, g->next[g->order[gr->first + 1]]);
}

void weft__tell_hang(const struct weft__graph *g, const struct weft__hang *x,
                     struct weft_finding *f, uint64_t same)
{
    struct weft__text t = {0};
    struct proof proof = {.count = 0};
    const struct weft__group *gr = &g->groups[x->group];
    prove_creation(g, &proof, gr->node);
    if (x->wait != WEFT_NONE) {
        const uint32_t wait = behind_place(g, x->wait);
        prove_wait(g, &proof, wait);
        prove(&proof, g->s->m->end_ns, WEFT_EVIDENCE_WAITS_STILL, weft__reader(g, wait),
              weft__source(g, x->wait));
    }
    if (!gr->lost) {
        prove_last_run(g, &proof, gr->node);
        prove_end(g, &proof, gr->node);
    }
    if (gr->closed)
        tell_owners(g, &t, &proof, x);
    else if (gr->members)
        tell_circle(g, &t, &proof, x);
    else if (gr->lost)
        tell_lost(g, &t, &proof, x);
    else
        tell_root(g, &t, &proof, x);
    if (x->top != WEFT_NONE && g->group[x->top] == x->group)
        prove_path(g, &proof, x->top);
    if (x->top != WEFT_NONE)
        prove(&proof, g->s->m->end_ns, WEFT_EVIDENCE_PENDING, x->top, WEFT_NONE);
    tell_parts(g, &t, &proof, x);
    put_same(g, &t, x, same);
    put_given_up(g, &t, gr->node);
    weft__finding_text(g->s, f, &t);
    weft__finding_doubt(g->s, f, x->verdict.doubt);
    for (uint32_t i = 0; i < proof.count; i++)
        weft__finding_evidence(g->s, f, proof.item[i].time_ns, proof.item[i].event,
                               proof.item[i].promise, proof.item[i].other);
}
