/* SPDX-License-Identifier: ISC */
/* What the searches share. Internal to analyse.
 * A search goes through the history and adds findings. Problems with one cause become one finding.
 * Each search joins its own: the same fault of the same family is one finding with a count, which
 * describes the worst case. join.c joins findings of different searches. */
#pragma once

#include "analyse/explain.h"
#include "analyse/names.h"
#include "analyse/sentence.h"
#include "base/lists.h"
#include "base/order.h"

struct analyse_search {
    const struct weft_history *h;
    const struct weft_model *m;
    const struct weft_explain_options *o; /* no field is 0 */
    const struct analyse_families *families;
    struct weft_findings *out;
    uint32_t room;
    struct weft_finding *finding; /* the one that is being described: the last one that was added */
    struct analyse_text list;     /* pieces that will fill a slot of its next sentence */
    void **taken;                 /* memory of the current search */
    uint32_t takens, taken_room;
    bool failed;                /* there was no memory; nothing more is added */
    weft_progress_fn *progress; /* or NULL */
    double done;                /* how much of all, before this search */
    void *data;
    bool canceled;

    /* For joining: when a loop was blocked or spun. loop.c fills it; sorted by start, without
     * overlaps. Promises that only this held up are not findings of their own. */
    struct analyse_blocked {
        int64_t from_ns, to_ns;
        uint32_t finding;
    } * blocked;
    uint32_t blockeds, blocked_room;
};

/* Makes room for one more item in an array; takes its address, and count, the number of items;
 * *room is its capacity. Returns false if s has failed. */
bool analyse_search_room(struct analyse_search *s, void *array, uint32_t count, uint32_t *room,
                         size_t item);

/* Allocates count (or 1) items that are 0, until the search ends. NULL: s has failed. */
void *analyse_take(struct analyse_search *s, uint64_t count, size_t item);

/* Adds an item of `size` bytes to an array that is NULL or was made by this function; it lasts until
 * the search ends. Takes the address of the array. Does nothing if there is no memory. */
void analyse_append(struct analyse_search *s, void *array, uint32_t *count, uint32_t *room,
                    const void *item, size_t size);

/* weft_lists, which last until the search ends. */
struct analyse_lists {
    uint32_t *first, *item;
};
struct analyse_lists analyse_lists(struct analyse_search *s, uint32_t lists, uint32_t count,
                                   weft_list_fn *list_of, const void *data);

/* Runs a search, then releases its memory and sorts the evidence of its findings by time. */
void analyse_search_run(struct analyse_search *s, void (*search)(struct analyse_search *s));

struct analyse_verdict; /* judge.h */

/* Adds a finding, which is then s->finding, and returns it; it is valid until the next one is added.
 * end_ns is INT64_MAX if it lasts until the trace ends; in a damaged trace it may have begun later
 * than that: then its length is 0. NULL: no memory, or this kind is ignored. */
struct weft_finding *analyse_finding_add(struct analyse_search *s, enum weft_finding_kind kind,
                                         const struct analyse_verdict *v, uint32_t promise,
                                         int64_t start_ns, int64_t end_ns, int64_t cost_ns);

/* What follows describes s->finding. */

/* Adds a sentence to its text; or a piece to s->list, which the next sentence ends. */
#define analyse_say(s, which, ...) analyse_say_slots(s, which, ANALYSE_SLOTS(__VA_ARGS__))
#define analyse_list(s, separator, which, ...)                                                     \
    analyse_list_slots(s, separator, which, ANALYSE_SLOTS(__VA_ARGS__))
void analyse_say_slots(struct analyse_search *s, enum analyse_sentence which,
                       const struct analyse_slot *slots, size_t count);
void analyse_list_slots(struct analyse_search *s, const char *separator,
                        enum analyse_sentence which, const struct analyse_slot *slots,
                        size_t count);
void analyse_doubt(struct analyse_search *s, const char *why);

/* Add evidence and affected promises. Beyond the limits, the last piece of evidence is replaced,
 * and affected promises are only counted. */
void analyse_show(struct analyse_search *s, int64_t time_ns, enum weft_evidence_event event,
                  uint32_t promise, uint32_t other);
void analyse_affects(struct analyse_search *s, uint32_t promise);

/* Add evidence: who created it; how it ended, and by whom; that a wait began, that its reader
 * continued, and both; that a wait lasts to the end of the trace. */
void analyse_show_created(struct analyse_search *s, uint32_t promise);
void analyse_show_ended(struct analyse_search *s, uint32_t promise);
void analyse_show_waits(struct analyse_search *s, const struct weft_wait *w);
void analyse_show_woken(struct analyse_search *s, const struct weft_wait *w);
void analyse_show_waited(struct analyse_search *s, const struct weft_wait *w);
void analyse_show_waits_still(struct analyse_search *s, const struct weft_wait *w);

/* … that what a wait was for was resolved, if it was resolved by then. */
void analyse_show_resolved(struct analyse_search *s, const struct weft_wait *w);

/* Sorts the evidence by time, stably; and releases what a finding owns. */
void analyse_finding_sort(struct weft_finding *f);
void analyse_finding_fini(struct weft_finding *f);

/* How a promise ended, as a kind of evidence; and who ended it, or WEFT_NONE. */
enum weft_evidence_event analyse_ending(const struct weft_model *m, uint32_t promise);
uint32_t analyse_resolver(const struct weft_history *h, uint32_t promise);

/* Who ended it; WEFT_ROOT: the event loop, or it is not known. */
static inline uint32_t analyse_ended_by(const struct weft_history *h, uint32_t promise)
{
    const uint32_t by = analyse_resolver(h, promise);
    return by == WEFT_NONE ? WEFT_ROOT : by;
}

/* The run in which a promise was resolved, or WEFT_NONE. */
uint32_t analyse_resolving_run(const struct weft_history *h, uint32_t promise);

/* Returns true if the promise has no result, and nothing says that nobody wants one. */
static inline bool analyse_is_pending(const struct weft_model *m, uint32_t promise)
{
    return m->promise[promise].outcome == WEFT_PENDING;
}

/* Returns true if it, or what it became, has ended; never the event loop. */
static inline bool analyse_has_ended(const struct weft_model *m, uint32_t promise)
{
    return promise != WEFT_ROOT && !analyse_is_pending(m, weft_model_final(m, promise));
}

static inline bool analyse_has_failed(const struct weft_model *m, uint32_t promise)
{
    return m->promise[promise].outcome == WEFT_FAILED;
}

/* Returns true if `promise` is `whose`, or `whose` is among its closest `creators` creators. */
bool analyse_is_of(const struct weft_model *m, uint32_t promise, uint32_t whose, unsigned creators);

/* Returns true if the waiter continued because of that. */
static inline bool analyse_is_served(const struct weft_wait *w)
{
    return w->end == WEFT_WAIT_READ || w->end == WEFT_WAIT_RAN;
}

/* The last wait of a promise in a list by promise that lasts to the end of the trace, or WEFT_NONE;
 * *count: how many there are, up to 2. */
uint32_t analyse_open(const struct weft_history *h, const uint32_t *first, const uint32_t *list,
                      uint32_t promise, uint32_t *count);

/* When a promise ended; if it is pending, the end of the trace. */
static inline int64_t analyse_end_ns(const struct weft_history *h, uint32_t promise)
{
    const int64_t end = weft_history_ended_ns(h, promise);
    return end < h->m->end_ns ? end : h->m->end_ns;
}

/* How long two periods overlap. */
static inline int64_t analyse_overlap(int64_t from_ns, int64_t to_ns, int64_t since_ns,
                                      int64_t until_ns)
{
    const int64_t ns = weft_earlier(to_ns, until_ns) - weft_later(from_ns, since_ns);
    return ns > 0 ? ns : 0;
}

/* In which of so many equal parts of a period a time is; 0 if it is earlier. */
unsigned analyse_part(int64_t time_ns, int64_t from_ns, int64_t to_ns, unsigned parts);

/* Sorts the values. Returns the median, the upper of two middle ones; 0 if there are none. */
int64_t analyse_median(int64_t *value, uint32_t count);

/* What was read when a run began, or WEFT_NONE; run may be WEFT_NONE. */
uint32_t analyse_run_read(const struct weft_history *h, uint32_t run);

/* The sum of two lengths, capped; in a damaged trace they may be anything. */
static inline int64_t analyse_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return b < 0 ? a : __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Returns true if a promise is among the first `most` that get a label between two times. */
bool analyse_is_labelled(const struct weft_model *m, uint32_t promise, int64_t from_ns,
                         int64_t to_ns, uint32_t most);

/* hang.c: if a finding about something that hangs follows from a failure, as its evidence says: the
 * promise that failed, which would have resolved it; otherwise WEFT_NONE. */
uint32_t analyse_hang_failure(const struct weft_finding *f);

/* join.c: called after all searches; joins findings that have one cause. */
void analyse_join(struct analyse_search *s);

/* The searches: searches.def. */
#define SEARCH(file, name) void analyse_find_##name(struct analyse_search *s);
#include "analyse/searches.def"
