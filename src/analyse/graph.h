/* SPDX-License-Identifier: ISC */
/* Who waits for whom when the trace ends. Internal to analyse.
 * Promises that cannot continue are grouped by what they wait for in the end: a root, which does
 * not wait for anybody itself, or a circle. If a promise became another one, that one is used. */
#pragma once

#include "analyse/judge.h"

/* How a wake-up was lost. */
enum analyse_lost {
    ANALYSE_NOT_LOST,
    ANALYSE_LOST_BEFORE, /* it was notified when nobody waited, and waited for afterwards */
    /* it was notified once, for all who waited then; others began to wait afterwards */
    ANALYSE_LOST_LATE,
    ANALYSE_LOST_SIGNAL, /* it was notified while somebody waited, but nobody ran because of it */
    ANALYSE_LOST_RESULT, /* it was resolved, but the waiter never ran again */
    /* it was notified, but only another waiter ran because of it, which now waits again */
    ANALYSE_LOST_OTHER,
};

/* Why a promise is thought to be the one that would resolve a root. */
enum analyse_why {
    ANALYSE_NOBODY,
    ANALYSE_CREATED, /* it created the root; nothing else is known */
    /* it created the root, and most promises like the root were resolved by their creators */
    ANALYSE_AS_CREATOR,
    ANALYSE_AS_HOLDER, /* it got the previous one (a lock) and has not passed it on */
    ANALYSE_AS_BEFORE, /* it resolved most promises like the root */
    ANALYSE_HOLDS,     /* the trace says that it holds the root, perhaps together with others */
};

struct analyse_group {
    uint32_t node;         /* the root, or a member of the circle */
    uint32_t first, count; /* in order[]; node is the first one */
    uint32_t members;      /* the size of the circle; 0: it is a root */
    uint32_t circle;       /* how many of these there are when following next from node on */

    enum analyse_lost lost;
    uint32_t lost_wait; /* the wait that did not get the wake-up */
    int64_t lost_ns;    /* when it was notified or resolved */
    uint32_t lost_by;   /* the promise that did so, or WEFT_NONE */
    uint32_t lost_to;   /* OTHER: the wait that it ended instead */
    bool lost_often;    /* the same happened before without harm */
    /* it was signalled without a waiter before, or waited for: perhaps it said nothing new */
    bool lost_usual;
    bool lost_acted; /* the waiter may have handled the signal before it waited */
    bool lost_clear; /* … it did nothing at all in between, or was already waiting */

    uint32_t deaf;    /* a wait that was cancelled, though node continues as before; or WEFT_NONE */
    uint32_t deaf_to; /* … the promise that cancelled it */

    int64_t told_ns;  /* for a condition: when it was last notified, if told_by is set */
    uint32_t told_by; /* the promise that did so, or WEFT_NONE */
    bool vain;        /* … nobody waited for it at that time */

    /* Who would resolve the root. Among `all` promises like it, `of` were resolved in this way. If
     * the root is held: among `all` its holds, `of` are of promises that have ended; the owner is
     * one of those, or else the one that has held it for longest. */
    uint32_t owner;
    enum analyse_why why;
    uint32_t of, all;
    uint32_t up; /* the group in which the owner is blocked, or WEFT_NONE */
    /* lists of the groups whose up is this one, if it is followed */
    uint32_t first_under, next_under;
    bool followed;   /* it is reported as part of up */
    bool closed;     /* the owners form a circle: following `up` from here leads back here */
    uint32_t teller; /* … the group of that circle that the finding describes */
};

/* Bits of promises, in this order: it waits behind one that is meant to be pending; among others it
 * waits for one that is; it, or one that waits for it, should be resolved; among others it waits
 * for a time limit. */
enum {
    ANALYSE_BEHIND_BACKGROUND = 1,
    ANALYSE_CAN_BE_FREED = 2,
    ANALYSE_SHOULD = 4,
    ANALYSE_LIMITED = 8,
    /* somebody holds it, and the trace says, or shows, who all the holders are */
    ANALYSE_HELD = 16,
    ANALYSE_IDLE = 32, /* … and one of these waits for what may come at any time, or never */
};

struct analyse_graph {
    struct analyse_search *s;
    uint32_t *out_first, *out; /* blocking waits, by reader */
    uint32_t *in_first, *in;   /* … by source */
    uint32_t *next;            /* by blocked promise: the wait that leads to its group's root */
    uint32_t *group;           /* by promise; or WEFT_NONE */
    uint32_t *order;           /* promises by group, the closest first */
    uint32_t *queue, queued;   /* while it is made: promises whose waiters are still to be seen */
    unsigned char *mark;
    struct analyse_group *groups;
    uint32_t count, room;
    uint64_t budget; /* steps left for comparing promises with a reader */

    /* When a loop was last idle, and the time before that; INT64_MIN: never. */
    int64_t slept_ns, slept_twice_ns;

    /* By family: how its resolved promises were resolved. */
    struct analyse_habit {
        uint32_t resolved, own; /* own: by their creator */
        uint32_t slept;         /* by a timer that was created together with them */
        uint32_t pending, oldest_pending, newest_resolved;
        uint32_t major, votes, by_major;
        int64_t longest_ns; /* from creation to resolution */
    } * habit;
};

/* Returns true if it is meant to be pending: it is marked so, and its holder, if any, may stay. */
static inline bool analyse_is_meant(const struct analyse_graph *g, uint32_t promise)
{
    return g->s->m->promise[promise].background &&
           (g->mark[promise] & (ANALYSE_HELD | ANALYSE_IDLE)) != ANALYSE_HELD;
}

static inline uint32_t analyse_reader(const struct analyse_graph *g, uint32_t wait)
{
    return weft_model_final(g->s->m, g->s->h->wait[wait].reader);
}

static inline uint32_t analyse_source(const struct analyse_graph *g, uint32_t wait)
{
    return weft_model_final(g->s->m, g->s->h->wait[wait].source);
}

/* What a blocked promise waits for. */
static inline uint32_t analyse_ahead(const struct analyse_graph *g, uint32_t promise)
{
    return analyse_source(g, g->next[promise]);
}

/* Returns false if there is no memory. What it takes lasts until the search ends. */
bool analyse_graph_init(struct analyse_graph *g, struct analyse_search *s);

/* What a finding is going to say about a group, and about the groups that are part of it. */
struct analyse_hang {
    uint32_t group, family; /* family: of its node */
    enum weft_finding_kind kind;
    uint64_t signs;
    struct analyse_verdict verdict;
    bool ordinary; /* others like the root took as long */
    bool expected; /* analyse_is_expected is true for a promise in it */
    uint32_t wait; /* the first wait for the root, or in the circle; WEFT_NONE: nobody waits */
    /* promises marked should_resolve: the closest that counts, the closest behind something that is
     * meant to be pending, and the last one; or WEFT_NONE */
    uint32_t near, near_behind, top;
    bool alive; /* a promise depends on it that is not meant to be pending */
    int64_t cost_ns;
    uint64_t affected;
};

/* tell.c: sets text, doubt, evidence and affected promises; same: how many others are alike. */
void analyse_tell_hang(const struct analyse_graph *g, const struct analyse_hang *x, uint64_t same);

/* The end of the last idle time of a stream, or of one before it; INT64_MIN: there is none. */
int64_t analyse_slept_ns(const struct weft_history *h, uint32_t stream, uint32_t before);

/* life.c */

/* Returns true if it runs when the trace ends, and not only because nothing says what runs after
 * it. */
bool analyse_runs_on(const struct analyse_graph *g, uint32_t promise);

int64_t analyse_last_life(const struct analyse_graph *g, uint32_t promise);

/* Since when nothing has moved on the way from a blocked promise to its root (or into the circle).
 * *runs is set if something on that way runs. */
int64_t analyse_still_since(const struct analyse_graph *g, uint32_t promise, bool *runs);

/* Returns true if it has run, but not shortly before the end; or several later ones have ended. */
bool analyse_has_worked(const struct analyse_graph *g, uint32_t promise);

/* Returns true if it will end by itself: it is a timer, or most promises of its sort were ended by
 * a timer created with them. */
bool analyse_sleeps(const struct analyse_graph *g, uint32_t promise);

/* Returns true if others of its sort ended within a hundredth of the time in which nothing of this
 * one has moved, though the loop was free: so it should have ended, too. */
bool analyse_is_expected(const struct analyse_graph *g, uint32_t promise);

/* life.c: returns true if the recording was never off, or what happened afterwards shows that it
 * still hangs. who: the promise that the finding is about: it waits for the root, or is the
 * root. */
bool analyse_hangs_since_pause(const struct analyse_graph *g, const struct analyse_hang *x,
                               uint32_t who);

/* wakeup.c: finds whether a wake-up was lost that would have let the root's first waiter go on. */
void analyse_find_lost(struct analyse_graph *g, struct analyse_group *group);

/* held.c */

/* Marks promises that are held. */
void analyse_mark_held(struct analyse_graph *g);

/* Marks promises as idle if their holders can continue. Returns true if it marked any more. */
bool analyse_free_held(struct analyse_graph *g);

/* For groups whose roots are held: finds who holds them, and in which group the holders hang. */
void analyse_find_held(struct analyse_graph *g);

/* … and groups that hang only because of one other root: that root is the one to report. Called
 * once it is known who hangs where. */
void analyse_follow_holders(struct analyse_graph *g);

/* The next hold of a resource that has not ended; at starts at the resource's first place in
 * holds_for. WEFT_NONE: there are no more. */
uint32_t analyse_next_holder(const struct analyse_graph *g, uint32_t resource, uint32_t *at);

/* The holder of that hold. */
uint32_t analyse_holder(const struct analyse_graph *g, uint32_t hold);

/* Returns true if what hangs is only a place in the queue for what is held: same type and label. */
bool analyse_is_place(const struct analyse_graph *g, uint32_t promise);

/* Returns true if the trace still has every event about who holds the resource. */
bool analyse_holds_known(const struct weft_model *m, uint32_t resource);

/* Returns true if a resource is given back by others than those who got it: nothing says who. */
bool analyse_is_passed(const struct weft_history *h, uint32_t resource);

/* owner.c: finds how the promises of each sort ended, and who would resolve the roots. Returns
 * false if there is no memory. */
bool analyse_find_habits(struct analyse_graph *g);
bool analyse_find_owners(struct analyse_graph *g);
