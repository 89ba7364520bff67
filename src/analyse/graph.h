/* SPDX-License-Identifier: ISC */
/* Who waits for whom when the trace ends; inside of analyse.
 *
 * Promises that cannot go on are grouped by what they wait for in the end: a root, which itself waits for
 * nobody, or a circle. A promise stands for what became it. */
#ifndef WEFT_ANALYSE_GRAPH_H
#define WEFT_ANALYSE_GRAPH_H

#include "analyse/judge.h"

/* How a wake-up was lost. */
enum analyse_lost {
    ANALYSE_NOT_LOST,
    ANALYSE_LOST_BEFORE, /* notified when nobody waited, waited for afterwards */
    ANALYSE_LOST_LATE,   /* notified once, for all who waited then; waited for afterwards */
    ANALYSE_LOST_SIGNAL, /* notified while somebody waited, and nobody ran because of it */
    ANALYSE_LOST_RESULT, /* resolved, and the one who waited never ran again */
    ANALYSE_LOST_OTHER,  /* notified, and only another one ran because of it, which waits again */
};

/* Why somebody is thought to be the one who would resolve a root. */
enum analyse_why {
    ANALYSE_NOBODY,
    ANALYSE_CREATED,    /* created it; nothing else is known */
    ANALYSE_AS_CREATOR, /* created it, and most like it were resolved by their creators */
    ANALYSE_AS_HOLDER,  /* got the one before it (a lock), and has not passed it on since */
    ANALYSE_AS_BEFORE,  /* resolved most like it */
    ANALYSE_HOLDS,      /* the trace says that it holds the root, perhaps with others */
};

struct analyse_group {
    uint32_t node;         /* the root, or one of the circle */
    uint32_t first, count; /* in order[]; node is the first one */
    uint32_t members;      /* of the circle; 0: a root */
    uint32_t circle;       /* how many of them next leads through, from node on */

    enum analyse_lost lost;
    uint32_t lost_wait; /* the wait that it was lost for */
    int64_t lost_ns;    /* when it was notified or resolved */
    uint32_t lost_by;   /* who did, or WEFT_NONE */
    uint32_t lost_to;   /* OTHER: the wait that it ended */
    bool lost_often;    /* the same was seen before, and did no harm */
    bool
        lost_usual; /* it was signalled in vain before, or waited for: perhaps it told of nothing new */
    bool lost_acted; /* the waiter may have dealt with the signal before it waited */
    bool lost_clear; /* … did nothing at all in between, or it was waiting */

    uint32_t deaf;    /* the wait that was cancelled, and node goes on as before; or WEFT_NONE */
    uint32_t deaf_to; /* … who cancelled */

    int64_t told_ns;  /* a condition: when it was notified last, if told_by says so */
    uint32_t told_by; /* who did, or WEFT_NONE */
    bool vain;        /* … when nobody waited for it */

    /* Who would resolve the root; of promises like it, of many were resolved so out of all. Of one that is held: of all
     * its holds, of many are those of promises that have ended; the owner is one of these, or has held it for longest. */
    uint32_t owner;
    enum analyse_why why;
    uint32_t of, all;
    uint32_t up;                      /* the group that the owner is blocked in, or WEFT_NONE */
    uint32_t first_under, next_under; /* groups whose up is this one, where it is followed */
    bool followed;                    /* told as a part of up */
    bool closed;     /* owners form a circle: following `up` from here leads back here */
    uint32_t teller; /* … the group of the circle that the finding describes */
};

/* Of promises: waits behind one that is meant to be pending; waits, among others, for one that is; should be
 * resolved, or one that should waits for it; waits, among others, for a time limit. */
enum {
    ANALYSE_BEHIND_BACKGROUND = 1,
    ANALYSE_CAN_BE_FREED = 2,
    ANALYSE_SHOULD = 4,
    ANALYSE_LIMITED = 8,
    ANALYSE_HELD = 16, /* somebody holds it, and the trace says, or shows, who they all are */
    ANALYSE_IDLE =
        32, /* … of whom one waits for something that is meant to come at some time or never */
};

struct analyse_graph {
    struct analyse_search *s;
    uint32_t *out_first, *out; /* blocking waits by reader */
    uint32_t *in_first, *in;   /* … by source */
    uint32_t *next;            /* of a blocked promise: the wait that leads to its group's root */
    uint32_t *group;           /* of a promise, or WEFT_NONE */
    uint32_t *order;           /* promises by group, the nearest first */
    unsigned char *mark;
    struct analyse_group *groups;
    uint32_t count, room;
    uint64_t budget; /* steps left for comparing promises with a reader */

    /* When a loop was last idle, and the time before that; INT64_MIN: never. */
    int64_t slept_ns, slept_twice_ns;

    /* By family: how those that are resolved were. */
    struct analyse_habit {
        uint32_t resolved, own; /* own: by their creator */
        uint32_t slept;         /* by a timer that was made with them */
        uint32_t pending, oldest_pending, newest_resolved;
        uint32_t major, votes, by_major;
        int64_t longest_ns; /* from creation to resolution */
    } * habit;
};

/* It is meant to be pending: marked so, and if it is held, then by somebody who may well hold it for long. */
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

/* False: no memory. To be released in any case; *g is empty before. */
bool analyse_graph_init(struct analyse_graph *g, struct analyse_search *s);
void analyse_graph_fini(struct analyse_graph *g);

/* What a finding will say of a group, and of those that are a part of it. */
struct analyse_hang {
    uint32_t group, family; /* family: of its node */
    enum weft_finding_kind kind;
    uint64_t signs;
    struct analyse_verdict verdict;
    bool ordinary; /* others like the root took as long */
    bool expected; /* analyse_is_expected says so of somebody in it */
    uint32_t wait; /* the first for the root, or of the circle; WEFT_NONE: nobody waits */
    uint32_t near,
        top; /* marked should_resolve: the nearest that counts, and the last one; or WEFT_NONE */
    int64_t cost_ns;
    uint64_t affected;
};

/* tell.c: text, doubt, evidence and what is affected; same: how many others are alike. */
void analyse_tell_hang(const struct analyse_graph *g, const struct analyse_hang *x,
                       struct weft_finding *f, uint64_t same);

/* When a stream was idle for the last time but one: its end, or INT64_MIN. */
int64_t analyse_slept_before_last(const struct weft_history *h, uint32_t stream);

/* life.c */

/* Its last run, or WEFT_NONE. */
uint32_t analyse_last_run(const struct weft_history *h, uint32_t promise);

/* It runs when the trace ends, and not only because nothing says what runs after it. */
bool analyse_runs_on(const struct analyse_graph *g, uint32_t promise);

int64_t analyse_last_life(const struct analyse_graph *g, uint32_t promise);

/* From a blocked promise to its root (or into the circle): since when nothing of it has moved. *runs is set if something of
 * it runs. */
int64_t analyse_still_since(const struct analyse_graph *g, uint32_t promise, bool *runs);

/* It has run, but not shortly before the end, or several like it that came later have ended. */
bool analyse_has_worked(const struct analyse_graph *g, uint32_t promise);

/* It will end by itself: it is a timer, or most of its sort were ended by a timer created with them. */
bool analyse_sleeps(const struct analyse_graph *g, uint32_t promise);

/* Others of its sort ended within a hundredth of the time for which nothing of this one has moved, though the loop
 * was free: it should have ended, too. */
bool analyse_is_expected(const struct analyse_graph *g, uint32_t promise);

/* life.c: the recording was never off, or what happened afterwards shows that it hangs still. who: the one it is about, who
 * waits for the root, or the root. */
bool analyse_hangs_since_pause(const struct analyse_graph *g, const struct analyse_hang *x,
                               uint32_t who);

/* wakeup.c: whether a wake-up was lost by which the first that waits for the group's root would have gone on. */
void analyse_find_lost(struct analyse_graph *g, struct analyse_group *group);

/* held.c */

/* Marks what is held. */
void analyse_mark_held(struct analyse_graph *g);

/* Marks as idle what is held by those who can be freed. Returns true if there was any more. */
bool analyse_free_held(struct analyse_graph *g);

/* The groups whose roots are held: who holds them, and in which group these hang. False: no memory. */
bool analyse_find_held(struct analyse_graph *g);

/* … and those that one other root alone holds: that root is the one to report. Called once it is known who hangs
 * where. */
void analyse_follow_holders(struct analyse_graph *g);

/* The next hold of a resource that has not ended; at begins with the first of its places in holds_for. WEFT_NONE: it was
 * the last. */
uint32_t analyse_next_holder(const struct analyse_graph *g, uint32_t resource, uint32_t *at);

/* Whose hold that is. */
uint32_t analyse_holder(const struct analyse_graph *g, uint32_t hold);

/* Whether a promise that hangs is only a place in the queue for what is held: of the same type and label as that. */
bool analyse_is_place(const struct analyse_graph *g, uint32_t promise);

/* Whether the trace still has every event about who holds the resource. */
bool analyse_holds_known(const struct weft_model *m, uint32_t resource);

/* Whether others give the resource back than those who have got it: then nothing says who will. */
bool analyse_is_passed(const struct weft_history *h, uint32_t resource);

/* owner.c: how those of each sort ended, and who would resolve the roots. False: no memory. */
bool analyse_find_habits(struct analyse_graph *g);
bool analyse_find_owners(struct analyse_graph *g);

#endif
