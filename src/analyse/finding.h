/* SPDX-License-Identifier: ISC */
/* What the searches share; inside of analyse.
 *
 * A search goes over the history and adds findings. Those that have one cause are one finding: a search joins
 * its own (the same fault of the same family is one finding with a count, and the worst is told); explain.c
 * joins those of different searches. */
#ifndef WEFT_ANALYSE_FINDING_H
#define WEFT_ANALYSE_FINDING_H

#include "analyse/explain.h"
#include "analyse/names.h"
#include "analyse/sentence.h"
#include "base/order.h"

struct analyse_search {
    const struct weft_history *h;
    const struct weft_model *m;
    const struct weft_explain_options *o; /* no field is 0 */
    const struct analyse_families *families;
    struct weft_findings *out;
    uint32_t room;
    void **taken; /* memory of the search that goes on */
    uint32_t takens, taken_room;
    bool failed;                /* no memory: nothing is added any more */
    weft_progress_fn *progress; /* or NULL */
    void *data;
    bool canceled;

    /* For joining: when a loop was blocked or spun, filled by loop.c: by start, not overlapping. Promises that were
     * held up only by this are no findings of their own. */
    struct analyse_blocked {
        int64_t from_ns, to_ns;
        uint32_t finding;
    } * blocked;
    uint32_t blockeds, blocked_room;
};

/* Makes room for one more item in the array of count items whose address is given; *room is its capacity. False: s
 * has failed. */
bool analyse_search_room(struct analyse_search *s, void *array, uint32_t count, uint32_t *room,
                         size_t item);

/* Memory until the search ends: count items that are 0, at least one. NULL: s has failed. */
void *analyse_take(struct analyse_search *s, uint64_t count, size_t item);

/* analyse_search_room for an array that is NULL, or that this has made: until the search ends. */
bool analyse_take_room(struct analyse_search *s, void *array, uint32_t count, uint32_t *room,
                       size_t item);

/* Items in lists: item[first[k]] to item[first[k + 1]] are in list k, in order. */
struct analyse_lists {
    uint32_t *first, *item;
};

/* Those of count items, until the search ends. list_of says in which list one is; WEFT_NONE: in none. */
struct analyse_lists analyse_lists(struct analyse_search *s, uint32_t lists, uint32_t count,
                                   uint32_t (*list_of)(const void *data, uint32_t item),
                                   const void *data);

/* Runs a search, then releases the memory that it took and sorts the evidence of its findings by time. */
void analyse_search_run(struct analyse_search *s, void (*search)(struct analyse_search *s));

struct analyse_verdict; /* judge.h */

/* Adds a finding and returns it for the caller to fill in; valid until the next one is added. NULL: no memory, or
 * this kind is ignored. */
struct weft_finding *analyse_finding_add(struct analyse_search *s, enum weft_finding_kind kind,
                                         const struct analyse_verdict *v, uint32_t promise,
                                         int64_t start_ns, int64_t end_ns, int64_t cost_ns);

/* The same for what lasts until the trace ends. In a damaged one it may have begun later: then it is of no length. */
struct weft_finding *analyse_finding_add_open(struct analyse_search *s, enum weft_finding_kind kind,
                                              const struct analyse_verdict *v, uint32_t promise,
                                              int64_t start_ns, int64_t cost_ns);

/* Adds a sentence to its text, or a piece to a list that is going to fill a slot of one. */
#define analyse_say(s, f, which, ...) analyse_say_slots(s, f, which, ANALYSE_SLOTS(__VA_ARGS__))
#define analyse_list(s, list, separator, which, ...)                                               \
    analyse_list_slots(s, list, separator, which, ANALYSE_SLOTS(__VA_ARGS__))
void analyse_say_slots(struct analyse_search *s, struct weft_finding *f,
                       enum analyse_sentence which, const struct analyse_slot *slots, size_t count);
void analyse_list_slots(struct analyse_search *s, struct analyse_text *list, const char *separator,
                        enum analyse_sentence which, const struct analyse_slot *slots,
                        size_t count);

/* The list is in its sentence: releases it. */
void analyse_list_end(struct analyse_search *s, struct analyse_text *list);
void analyse_finding_doubt(struct analyse_search *s, struct weft_finding *f, const char *why);

/* Beyond the limits, the last piece of evidence is replaced, and affected promises are only counted. */
void analyse_finding_evidence(struct analyse_search *s, struct weft_finding *f, int64_t time_ns,
                              enum weft_evidence_event event, uint32_t promise, uint32_t other);
void analyse_finding_affects(struct analyse_search *s, struct weft_finding *f, uint32_t promise);

/* Evidence: who created it; how it ended, and by whom; that somebody waited, and went on. */
void analyse_evidence_created(struct analyse_search *s, struct weft_finding *f, uint32_t promise);
void analyse_evidence_ended(struct analyse_search *s, struct weft_finding *f, uint32_t promise);
void analyse_evidence_waited(struct analyse_search *s, struct weft_finding *f,
                             const struct weft_wait *w);

/* … that what a wait was for was resolved, if it was by then. */
void analyse_evidence_resolved(struct analyse_search *s, struct weft_finding *f,
                               const struct weft_wait *w);

/* Sorts the evidence by time, stably; releases what a finding holds. */
void analyse_finding_sort(struct weft_finding *f);
void analyse_finding_fini(struct weft_finding *f);

/* How a promise ended, as evidence; and who ended it, or WEFT_NONE. */
enum weft_evidence_event analyse_ending(const struct weft_model *m, uint32_t promise);
uint32_t analyse_resolver(const struct weft_history *h, uint32_t promise);

/* The promise has no result, and nothing says that nobody wants one. */
static inline bool analyse_is_pending(const struct weft_model *m, uint32_t promise)
{
    return m->promise[promise].outcome == WEFT_PENDING;
}

static inline bool analyse_has_failed(const struct weft_model *m, uint32_t promise)
{
    return m->promise[promise].outcome == WEFT_FAILED;
}

/* Whether `promise` is `whose`, or was created by it, directly or over at most `creators` creators. */
bool analyse_is_of(const struct weft_model *m, uint32_t promise, uint32_t whose, unsigned creators);

/* Whether the one who waited went on because of that. */
static inline bool analyse_is_served(const struct weft_wait *w)
{
    return w->end == WEFT_WAIT_READ || w->end == WEFT_WAIT_RAN;
}

/* Sorts them. Returns the median, the upper one of two; 0 if there are none. */
int64_t analyse_median(int64_t *value, uint32_t count);

/* What was read as a run began, or WEFT_NONE. */
uint32_t analyse_run_read(const struct weft_history *h, uint32_t run);

/* The sum of two lengths; in a damaged trace they may be anything. */
static inline int64_t analyse_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return b < 0 ? a : __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Whether a promise gets a label between two times; looks only at the first `most` labels in that time. */
bool analyse_is_labelled(const struct weft_model *m, uint32_t promise, int64_t from_ns,
                         int64_t to_ns, uint32_t most);

/* hang.c: the failure from which a finding about what hangs follows, as its evidence says: of the one who would have
 * resolved it; or WEFT_NONE. */
uint32_t analyse_hang_failure(const struct weft_finding *f);

/* join.c: after all searches, makes one finding of those that have one cause. */
void analyse_join(struct analyse_search *s);

/* The searches: searches.def. */
#define SEARCH(file, name) void analyse_find_##name(struct analyse_search *s);
#include "analyse/searches.def"

#endif
