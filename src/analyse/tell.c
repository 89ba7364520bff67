/* SPDX-License-Identifier: ISC */
/* The sentences and the evidence about what hangs. */
#include <string.h>

#include "analyse/graph.h"

enum {
    CIRCLE_NAMES = 4, /* members of a circle that are named */
    HOLDERS = 3,      /* holders that are named */
    PATH_SHOWN = 5,   /* waits on the way to the root that are given as evidence */
    LISTED = 5,       /* affected promises that are listed */
};

/* ---- Evidence ---- */

/* Adds evidence if there is room and it is not there yet. */
static void prove_once(const struct analyse_graph *g, int64_t time_ns,
                       enum weft_evidence_event event, uint32_t promise, uint32_t other)
{
    const struct weft_finding *f = g->s->finding;
    if (f->evidences == WEFT_EVIDENCE_MAX)
        return;
    for (uint32_t i = 0; i < f->evidences; i++) {
        const struct weft_evidence *x = &f->evidence[i];
        if (x->event == event && x->promise == promise && x->other == other)
            return;
    }
    analyse_show(g->s, time_ns, event, promise, other);
}

static void prove_wait(const struct analyse_graph *g, uint32_t wait)
{
    prove_once(g, g->s->h->wait[wait].from_ns, WEFT_EVIDENCE_WAITS, analyse_reader(g, wait),
               analyse_source(g, wait));
}

static void prove_creation(const struct analyse_graph *g, uint32_t promise)
{
    const struct weft_promise *x = &g->s->m->promise[promise];
    if (x->created)
        prove_once(g, x->start_ns, WEFT_EVIDENCE_CREATED, promise, x->creator);
}

static void prove_end(const struct analyse_graph *g, uint32_t promise)
{
    const struct weft_promise *p = &g->s->m->promise[promise];
    const bool pending = p->outcome == WEFT_PENDING;
    prove_once(g, pending ? g->s->m->end_ns : p->end_ns,
               pending ? WEFT_EVIDENCE_PENDING : analyse_ending(g->s->m, promise), promise,
               analyse_resolver(g->s->h, promise));
}

/* The last sign of life: why it last ran, and until when. */
static void prove_last_run(const struct analyse_graph *g, uint32_t promise)
{
    const uint32_t run = weft_history_last_run(g->s->h, promise);
    if (run == WEFT_NONE)
        return;
    const struct weft_run *r = &g->s->m->run[run];
    const uint32_t cause = weft_history_cause(g->s->h, run);
    const bool still = r->end_ns >= g->s->m->end_ns;
    prove_once(g, r->start_ns, cause == WEFT_NONE ? WEFT_EVIDENCE_RUNS : WEFT_EVIDENCE_WOKEN,
               promise, cause);
    prove_once(g, still ? g->s->m->end_ns : r->end_ns,
               still ? WEFT_EVIDENCE_RUNS_STILL : WEFT_EVIDENCE_STOPS, promise, WEFT_NONE);
}

/* The wait; or, if its reader is only a place in a queue, a wait for that. */
static uint32_t behind_place(const struct analyse_graph *g, uint32_t wait)
{
    const uint32_t reader = analyse_reader(g, wait);
    return analyse_is_place(g, reader) && analyse_count(g->in_first, reader) > 0
               ? g->in[g->in_first[reader]]
               : wait;
}

/* When the owner of a group got its root. */
static void prove_hold(const struct analyse_graph *g, const struct analyse_group *gr)
{
    uint32_t at = g->s->h->holds_for_first[gr->node], hold;
    while ((hold = analyse_next_holder(g, gr->node, &at)) != WEFT_NONE)
        if (analyse_holder(g, hold) == gr->owner) {
            prove_once(g, g->s->m->hold[hold].from_ns, WEFT_EVIDENCE_ACQUIRED, gr->owner, gr->node);
            return;
        }
}

/* The waits from a blocked promise to its root: its own, and the last few. */
static void prove_path(const struct analyse_graph *g, uint32_t from)
{
    const struct analyse_group *gr = &g->groups[g->group[from]];
    uint32_t last[PATH_SHOWN], n = 0;
    if (from == gr->node)
        return;
    prove_wait(g, g->next[from]);
    /* Where circles touch, the path may go round another one. */
    for (uint32_t at = from; at != gr->node && n < gr->count; at = analyse_ahead(g, at))
        last[n++ % PATH_SHOWN] = g->next[at];
    for (uint32_t i = 0; i < n && i < PATH_SHOWN; i++)
        prove_wait(g, last[i]);
}

/* ---- Sentences ---- */

/* The last one that should be resolved, if it is not among those listed below the text. */
static void say_last_waiter(const struct analyse_graph *g, const struct analyse_hang *x)
{
    if (x->top != WEFT_NONE && x->top != g->groups[x->group].node && x->affected > LISTED)
        analyse_say(g->s, SAY_LAST_WAITER, PROMISE(last, x->top));
}

/* It has a result, or was dropped: nothing more will come from it. */
static bool is_over(const struct analyse_graph *g, uint32_t promise)
{
    return promise != WEFT_ROOT && !analyse_is_pending(g->s->m, promise);
}

/* What a holder waits for, or WEFT_NONE. */
static uint32_t holder_waits_for(const struct analyse_graph *g, uint32_t holder)
{
    const bool waits = holder != WEFT_ROOT && !is_over(g, holder) && g->next[holder] != WEFT_NONE;
    return waits ? analyse_ahead(g, holder) : WEFT_NONE;
}

static void prove_holder(const struct analyse_graph *g, uint32_t hold)
{
    const uint32_t holder = analyse_holder(g, hold);
    prove_once(g, g->s->m->hold[hold].from_ns, WEFT_EVIDENCE_ACQUIRED, holder,
               weft_model_final(g->s->m, g->s->m->hold[hold].resource));
    if (is_over(g, holder))
        prove_end(g, holder);
    else if (holder_waits_for(g, holder) != WEFT_NONE)
        prove_wait(g, g->next[holder]);
}

/* A holder of a resource, since when, and what became of it. */
static void list_holder(const struct analyse_graph *g, uint32_t hold)
{
    const struct weft_hold *x = &g->s->m->hold[hold];
    const uint32_t holder = analyse_holder(g, hold), ahead = holder_waits_for(g, holder);
    const bool wants = ahead == weft_model_final(g->s->m, x->resource);
    analyse_list(g->s, "; ", is_over(g, holder) ? SAY_BY_HOLDER_ENDED : SAY_BY_HOLDER,
                 PROMISE(holder, holder), TIME(since, x->from_ns),
                 PROMISE(ahead, wants ? WEFT_NONE : ahead), FLAG(wants, wants));
    prove_holder(g, hold);
}

/* All holders of what a group waits for; those that have ended come first. */
static void say_holders(const struct analyse_graph *g, const struct analyse_group *gr)
{
    uint32_t at = g->s->h->holds_for_first[gr->node], named = 0, hold;
    if (gr->all == 1) {
        hold = analyse_next_holder(g, gr->node, &at);
        const uint32_t holder = analyse_holder(g, hold), ahead = holder_waits_for(g, holder);
        analyse_say(g->s, is_over(g, holder) ? SAY_HOLDER_ENDED : SAY_HOLDER,
                    PROMISE(holder, holder), TIME(since, g->s->m->hold[hold].from_ns),
                    PROMISE(ahead, ahead == gr->node ? WEFT_NONE : ahead),
                    FLAG(wants, ahead == gr->node));
        prove_holder(g, hold);
        return;
    }
    for (unsigned pass = 0; pass < 2; pass++, at = g->s->h->holds_for_first[gr->node])
        while (named < HOLDERS && (hold = analyse_next_holder(g, gr->node, &at)) != WEFT_NONE)
            if (is_over(g, analyse_holder(g, hold)) == (pass == 0)) {
                list_holder(g, hold);
                named++;
            }
    analyse_say(g->s, SAY_HOLDERS, AMOUNT(all, gr->all),
                AMOUNT(ended, gr->of < gr->all ? gr->of : 0), TEXT(holders, g->s->list.text),
                AMOUNT(more, gr->all - named));
}

/* For a resource that the trace does not fully describe: who certainly holds it. */
static void say_known_holders(const struct analyse_graph *g, uint32_t resource)
{
    const struct weft_history *h = g->s->h;
    uint32_t at = h->holds_for_first[resource], hold, count = 0, first = WEFT_NONE;
    if (analyse_is_passed(h, resource))
        return;
    while ((hold = analyse_next_holder(g, resource, &at)) != WEFT_NONE)
        if (h->m->hold[hold].from_ns >= h->m->known_ns)
            first = count++ ? first : hold;
    if (count) {
        list_holder(g, first);
        analyse_say(g->s, SAY_KNOWN_HOLDERS, TEXT(holders, g->s->list.text),
                    AMOUNT(more, count - 1));
    } else if (!analyse_holds_known(h->m, resource) &&
               analyse_count(h->holds_for_first, resource) > 0)
        analyse_say(g->s, SAY_HOLDERS_NOT_KNOWN);
}

/* The promise that should have given a result, and what became of it. */
static void say_owner(const struct analyse_graph *g, const struct analyse_group *gr,
                      bool creator_named)
{
    static const enum analyse_sentence sentences[] = {
        [ANALYSE_CREATED] = SAY_OWNER,
        [ANALYSE_AS_CREATOR] = SAY_OWNER_LIKE_CREATORS,
        [ANALYSE_AS_HOLDER] = SAY_OWNER_GOT_IT,
        [ANALYSE_AS_BEFORE] = SAY_OWNER_BEFORE,
    };
    const struct weft_model *m = g->s->m;
    const uint32_t owner = gr->owner;
    if (owner == WEFT_NONE)
        return;
    if (gr->why == ANALYSE_HOLDS) {
        say_holders(g, gr);
        return;
    }
    const bool over = is_over(g, owner);
    if (gr->why == ANALYSE_CREATED && !gr->closed &&
        (!over || m->promise[owner].end_ns < m->promise[gr->node].start_ns))
        return;
    const bool waits = !over && g->next[owner] != WEFT_NONE;
    analyse_say(g->s, sentences[gr->why], PROMISE(owner, owner),
                FLAG(say_created, !creator_named || weft_model_name(m, owner) == WEFT_NONE),
                PHRASE(share, gr->of == gr->all ? SAY_SHARE_ALL : SAY_SHARE_SOME),
                AMOUNT(all, gr->all), AMOUNT(some, gr->of),
                PHRASE(deed, over    ? SAY_DEED_ENDED
                             : waits ? SAY_DEED_WAITS
                                     : SAY_DEED_NONE),
                PROMISE(ahead, waits ? analyse_ahead(g, owner) : WEFT_NONE));
    if (over)
        prove_end(g, owner);
    else if (waits)
        prove_wait(g, g->next[owner]);
}

static void say_lost(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct analyse_group *gr = &g->groups[x->group];
    const uint32_t reader = analyse_reader(g, x->wait);
    const int64_t from = g->s->h->wait[x->wait].from_ns;
    if (gr->lost == ANALYSE_LOST_BEFORE || gr->lost == ANALYSE_LOST_LATE) {
        const bool late = gr->lost == ANALYSE_LOST_LATE;
        analyse_say(g->s, late ? SAY_LOST_LATE : SAY_LOST_BEFORE, PROMISE(condition, gr->node),
                    TIME(came, gr->lost_ns), FLAG(lost, !gr->lost_usual),
                    FLAG(usual, gr->lost_usual), PROMISE(waiter, reader), TIME(began, from));
        prove_once(g, gr->lost_ns, late ? WEFT_EVIDENCE_SIGNALLED : WEFT_EVIDENCE_SIGNALLED_NOBODY,
                   gr->node, gr->lost_by);
    } else if (gr->lost == ANALYSE_LOST_OTHER) {
        const uint32_t woken = analyse_reader(g, gr->lost_to);
        analyse_say(g->s, SAY_LOST_TO_OTHER, PROMISE(condition, gr->node), TIME(came, gr->lost_ns),
                    PROMISE(woken, woken), PROMISE(waiter, reader), TIME(began, from));
        prove_once(g, gr->lost_ns, WEFT_EVIDENCE_SIGNALLED, gr->node, gr->lost_by);
        prove_once(g, g->s->h->wait[gr->lost_to].until_ns, WEFT_EVIDENCE_WOKEN, woken, gr->node);
    } else {
        const uint32_t outcome = g->s->m->promise[gr->node].outcome;
        analyse_say(g->s, SAY_NOT_WOKEN,
                    PHRASE(what, gr->lost != ANALYSE_LOST_RESULT ? SAY_THE_SIGNAL
                                 : outcome == WEFT_FAILED        ? SAY_THE_FAILURE
                                 : outcome == WEFT_CANCELLED     ? SAY_THE_END
                                                                 : SAY_THE_RESULT),
                    PROMISE(condition, gr->node), TIME(came, gr->lost_ns), PROMISE(waiter, reader),
                    FLAG(before, from <= gr->lost_ns), FLAG(later, from > gr->lost_ns),
                    TIME(began, from));
        if (gr->lost == ANALYSE_LOST_SIGNAL)
            prove_once(g, gr->lost_ns, WEFT_EVIDENCE_SIGNALLED, gr->node, gr->lost_by);
        else
            prove_end(g, gr->node);
    }
    if (x->top != reader)
        say_last_waiter(g, x);
}

static int64_t waits_since(const struct analyse_graph *g, uint32_t promise)
{
    return g->s->h->wait[g->next[promise]].from_ns;
}

static void say_circle(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct analyse_group *gr = &g->groups[x->group];
    uint32_t p = gr->node;
    bool has_last = false;
    for (uint32_t i = 0; i < gr->circle; i++, p = analyse_ahead(g, p)) {
        has_last |= gr->circle > 1 && p == x->top;
        if (i < CIRCLE_NAMES)
            analyse_list(g->s, ", ", SAY_CIRCLE_MEMBER, FLAG(first, i == 0),
                         FLAG(last, i + 1 == gr->circle), PROMISE(waiter, p),
                         PROMISE(ahead, analyse_ahead(g, p)), TIME(since, waits_since(g, p)));
        if (i < WEFT_EVIDENCE_MAX / 2)
            prove_wait(g, g->next[p]);
    }
    if (gr->circle == 1)
        analyse_say(g->s, SAY_CIRCLE_OF_ONE, PROMISE(promise, p), TIME(since, waits_since(g, p)));
    else
        analyse_say(g->s, SAY_CIRCLE, AMOUNT(count, gr->circle), TEXT(members, g->s->list.text),
                    FLAG(more, gr->circle > CIRCLE_NAMES));
    if (!has_last)
        say_last_waiter(g, x);
}

/* The holders of the resource wait for more of it. */
static void say_held_by_waiters(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct analyse_group *gr = &g->groups[x->group];
    if (gr->all == 1) {
        uint32_t at = g->s->h->holds_for_first[gr->node];
        const uint32_t ahead = analyse_ahead(g, gr->owner);
        const bool itself = ahead == gr->node;
        analyse_say(g->s, SAY_HELD_BY_WAITER, PROMISE(resource, gr->node),
                    PROMISE(owner, gr->owner),
                    TIME(held, g->s->m->hold[analyse_next_holder(g, gr->node, &at)].from_ns),
                    PROMISE(ahead, itself ? WEFT_NONE : ahead), FLAG(itself, itself),
                    TIME(since, waits_since(g, gr->owner)));
        prove_hold(g, gr);
        prove_path(g, gr->owner);
    } else {
        analyse_say(g->s, SAY_HELD_BY_WAITERS, PROMISE(resource, gr->node));
        say_holders(g, gr);
    }
    say_last_waiter(g, x);
}

/* The owner of one group of a circle, and what it waits for. */
static void list_owner(const struct analyse_graph *g, const struct analyse_group *gr)
{
    const uint32_t ahead = analyse_ahead(g, gr->owner);
    analyse_list(g->s, "; ",
                 gr->why == ANALYSE_HOLDS       ? SAY_OWNER_HOLDS
                 : gr->why == ANALYSE_AS_HOLDER ? SAY_OWNER_PASSES_ON
                 : gr->why == ANALYSE_AS_BEFORE ? SAY_OWNER_RESOLVES
                                                : SAY_OWNER_CREATED,
                 PROMISE(owner, gr->owner), PROMISE(owned, gr->node),
                 PROMISE(ahead, analyse_is_place(g, ahead) ? analyse_ahead(g, ahead) : ahead),
                 TIME(since, waits_since(g, gr->owner)));
    prove_creation(g, gr->node);
    if (gr->why == ANALYSE_HOLDS)
        prove_hold(g, gr);
    prove_path(g, gr->owner);
}

/* A circle of owners: each waits for what the next one owns. */
static void say_owners(const struct analyse_graph *g, const struct analyse_hang *x)
{
    uint32_t at = x->group, owners = 0;
    bool has_last = false;
    if (g->groups[at].up == at && g->groups[at].why == ANALYSE_HOLDS) {
        say_held_by_waiters(g, x);
        return;
    }
    do {
        has_last |= g->groups[at].owner == x->top;
        if (owners++ < CIRCLE_NAMES)
            list_owner(g, &g->groups[at]);
        at = g->groups[at].up;
    } while (at != x->group);
    analyse_say(g->s, SAY_OWNERS, TEXT(members, g->s->list.text),
                FLAG(more, owners > CIRCLE_NAMES));
    if (!has_last)
        say_last_waiter(g, x);
}

/* What the root did when somebody cancelled what it waited for. */
static void say_deaf(const struct analyse_graph *g, const struct analyse_group *gr)
{
    const struct weft_history *h = g->s->h;
    const uint32_t source = analyse_source(g, gr->deaf);
    const uint32_t last = h->waits_of[h->waits_of_first[gr->node + 1] - 1];
    analyse_say(g->s, SAY_DEAF, PROMISE(by, gr->deaf_to), PROMISE(source, source),
                TIME(cancelled, h->wait[gr->deaf].until_ns), TIME(since, h->wait[last].from_ns),
                PROMISE(now, analyse_source(g, last)));
    prove_end(g, source);
    prove_wait(g, last);
}

/* Why a promise that is not marked should have ended: others like it have. */
static void say_others_ended(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct analyse_group *gr = &g->groups[x->group];
    uint32_t i = gr->first, end = gr->first + gr->count;
    while (i < end && !analyse_is_expected(g, g->order[i]))
        i++;
    if (i == end)
        return;
    const struct analyse_habit *b = &g->habit[g->s->families->of[g->order[i]]];
    analyse_say(g->s, SAY_LIKE_IT_ENDED, PROMISE(promise, g->order[i]), AMOUNT(count, b->resolved),
                LENGTH(longest, b->longest_ns));
}

/* What became of the root. */
static enum analyse_sentence fate_of(const struct analyse_graph *g, const struct analyse_group *gr)
{
    const struct weft_model *m = g->s->m;
    return m->promise[gr->node].outcome == WEFT_FORGOTTEN          ? SAY_FATE_DROPPED
           : gr->told_by != WEFT_NONE                              ? SAY_FATE_SIGNALLED
           : gr->why == ANALYSE_HOLDS && gr->of                    ? SAY_FATE_NOT_GIVEN_BACK
           : gr->why == ANALYSE_HOLDS                              ? SAY_FATE_HELD
           : strncmp(weft_model_type(m, gr->node), "cond", 4) == 0 ? SAY_FATE_NOT_SIGNALLED
                                                                   : SAY_FATE_NOT_RESOLVED;
}

static void say_root(const struct analyse_graph *g, const struct analyse_hang *x)
{
    const struct analyse_group *gr = &g->groups[x->group];
    const struct weft_promise *p = &g->s->m->promise[gr->node];
    const uint32_t reader = x->wait == WEFT_NONE ? WEFT_NONE : analyse_reader(g, x->wait);
    const enum analyse_sentence fate = fate_of(g, gr);
    const bool waited = reader != WEFT_NONE;
    analyse_say(g->s, !waited && p->created ? SAY_ROOT_UNWAITED : SAY_ROOT, PROMISE(root, gr->node),
                PHRASE(fate, fate), TIME(dropped, p->end_ns), TIME(signalled, gr->told_ns),
                FLAG(in_vain, gr->vain),
                PROMISE(waiter, waited ? analyse_reader(g, behind_place(g, x->wait)) : WEFT_NONE),
                TIME(began, waited ? g->s->h->wait[x->wait].from_ns : INT64_MIN),
                FLAG(should, p->should_resolve), TIME(made, p->start_ns));
    if (fate == SAY_FATE_SIGNALLED)
        prove_once(g, gr->told_ns,
                   gr->vain ? WEFT_EVIDENCE_SIGNALLED_NOBODY : WEFT_EVIDENCE_SIGNALLED, gr->node,
                   gr->told_by);
    if (x->expected && x->near == WEFT_NONE)
        say_others_ended(g, x);
    if (x->top != reader)
        say_last_waiter(g, x);
    if (gr->deaf == WEFT_NONE)
        say_owner(g, gr, true);
    else
        say_deaf(g, gr);
    if (gr->why != ANALYSE_HOLDS)
        say_known_holders(g, gr->node);
}

/* What should come from a promise that hangs here. */
static void say_parts(const struct analyse_graph *g, const struct analyse_hang *x)
{
    uint32_t part = g->groups[x->group].first_under;
    while (part != WEFT_NONE && !(g->mark[g->groups[part].node] & ANALYSE_SHOULD))
        part = g->groups[part].next_under;
    if (part == WEFT_NONE)
        return;
    const struct analyse_group *gr = &g->groups[part];
    analyse_say(g->s, gr->why == ANALYSE_HOLDS ? SAY_PART_NOT_GIVEN_BACK : SAY_PART_NOT_RESOLVED,
                PROMISE(promise, gr->node));
    say_owner(g, gr, false);
    if (gr->count > 1)
        prove_wait(g, g->next[g->order[gr->first + 1]]);
}

void analyse_tell_hang(const struct analyse_graph *g, const struct analyse_hang *x, uint64_t same)
{
    const struct analyse_group *gr = &g->groups[x->group];
    prove_creation(g, gr->node);
    if (x->wait != WEFT_NONE) {
        const uint32_t wait = behind_place(g, x->wait);
        prove_wait(g, wait);
        prove_once(g, g->s->m->end_ns, WEFT_EVIDENCE_WAITS_STILL, analyse_reader(g, wait),
                   analyse_source(g, x->wait));
    }
    if (!gr->lost) {
        prove_last_run(g, gr->node);
        prove_end(g, gr->node);
    }
    if (gr->closed)
        say_owners(g, x);
    else if (gr->members)
        say_circle(g, x);
    else if (gr->lost)
        say_lost(g, x);
    else
        say_root(g, x);
    if (x->top != WEFT_NONE && g->group[x->top] == x->group)
        prove_path(g, x->top);
    if (x->top != WEFT_NONE)
        prove_once(g, g->s->m->end_ns, WEFT_EVIDENCE_PENDING, x->top, WEFT_NONE);
    say_parts(g, x);
    if (same)
        analyse_say(g->s, SAY_HANG_LIKE_IT, AMOUNT(count, same), SORT(sort, x->family));
    /* for which there was no space */
    const uint64_t more = weft_model_more_like(g->s->m, gr->node);
    if (more)
        analyse_say(g->s, SAY_PENDING_LIKE_IT, AMOUNT(count, more));
}
