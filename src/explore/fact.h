/* SPDX-License-Identifier: ISC */
/* Facts about a promise, a range of time or a trace, as lines of a name and a text, with links. Private to src/explore.
 *
 *     struct explore_facts f = {0};
 *     if (explore_facts_of_promise(&f, scene, promise) == 0)
 *         for (uint32_t i = 0; i < f.count; i++)
 *             show(&f.fact[i]);
 *     explore_facts_fini(&f);
 *
 * All texts are valid UTF-8 without control characters, of at most about 200 bytes, and valid until the next call that
 * fills the struct. Lists are bounded; what is left out is counted ("and 12 more"). */
#pragma once

#include "analyse/sentence.h"
#include "base/count.h"
#include "base/duration.h"
#include "base/greatest.h"
#include "analyse/names.h"
#include "analyse/path.h"
#include "explore/explore.h"

struct explore_target {
    uint32_t promise; /* WEFT_LINK_PROMISE, WEFT_LINK_MOMENT; the index of a WEFT_LINK_FINDING */
    int64_t
        time_ns; /* WEFT_LINK_TIME, WEFT_LINK_MOMENT; also where the fact of a promise happened, if it has a
                       * time */
    unsigned pane; /* which model, in facts about several */
};

struct explore_ranges; /* of ranges.c */

struct explore_facts {
    struct weft_fact *fact;
    struct explore_target *target; /* parallel to fact */
    uint32_t count;
    const char *trace; /* if not NULL: shown for a promise, because there are several traces */
    const struct weft_history
        *history; /* of the scene's model; NULL: there are no facts about waits (yet) */
    const struct weft_hung *hung;         /* NULL: there are no facts about what waits (yet) */
    const struct weft_analysis *analysis; /* of the trace, or NULL … */
    bool analysing;                       /* … yet */
    uint64_t hidden;                      /* promises in groups that are not shown */
    const char *axis;                     /* if not NULL: shown about a trace's time axis */
    const struct weft_path *path;         /* if not NULL: shown about a promise */

    /* Of facts.c. */
    char *texts;
    uint32_t *at; /* parallel to fact: where its name and its text begin in texts */
    uint32_t fact_room, target_room, at_room, text_bytes, texts_room;
    bool failed;
    struct explore_ranges *ranges; /* of the last scene that was measured, which must stay */
};

/* Each of these replaces all facts. Returns 0 or WEFT_E_NOMEM; then there are no facts. */

/* Some tens of milliseconds for ten million events, once there is a history. */
int explore_facts_of_promise(struct explore_facts *f, const struct weft_scene *s, uint32_t promise);

/* Facts about what happens from from_ns to to_ns, both included. The first call for a scene takes as long as facts
 * about a promise; later calls take a few milliseconds at most. */
int explore_facts_of_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                           int64_t to_ns);

/* How many promises are alive, created, resolved and failed in a range, as those facts say. */
struct explore_range_counts {
    uint64_t alive, created, resolved, failed;
};
int explore_range_count(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                        int64_t to_ns, struct explore_range_counts *out);

/* Two promises or two ranges side by side, of one trace or of two. */
struct explore_side {
    const struct weft_scene *s;
    const struct weft_history *h; /* of its model; NULL: it is not there yet */
    const char *trace;            /* its name */
    unsigned pane;
    uint32_t promise;       /* WEFT_NONE: a range */
    int64_t from_ns, to_ns; /* of the range */
};

/* count: 1 if there is nothing yet that the first is compared with. */
int explore_facts_of_compared(struct explore_facts *f, const struct explore_side side[2],
                              unsigned count);

/* title may be NULL. What is missing comes first; then, with an analysis, what it found. */
int explore_facts_of_trace(struct explore_facts *f, const struct weft_scene *s, const char *title);

/* How many findings are shown: those that are at least likely, which come first; if there are none, as in weft explain,
 * the first few that are possible. NULL: 0. */
uint32_t explore_findings_shown(const struct weft_analysis *a);

/* Facts about a finding of f->analysis, of which `shown` are shown. */
int explore_facts_of_finding(struct explore_facts *f, const struct weft_scene *s, uint32_t finding,
                             uint32_t shown);

/* Facts about two compared traces; the targets say which trace each promise belongs to. */
int explore_facts_of_diff(struct explore_facts *f, const struct weft_scene *good,
                          const struct weft_scene *bad, const struct weft_diff *d);

void explore_facts_fini(struct explore_facts *f);

/* Some tens of milliseconds for ten million events; any thread. */
void explore_hung_find(struct weft_hung *out, const struct weft_history *h);

/* "35 ms 'query' (outside)" */
void explore_put_share(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_share *s);

/* The promises that keys go to; WEFT_NONE: none, or the loop, which has no line. */
uint32_t explore_walk_creator(const struct weft_scene *s, uint32_t promise);
uint32_t explore_walk_waited_for(const struct weft_history *h, uint32_t promise); /* the longest */
uint32_t explore_walk_resolver(const struct weft_scene *s, uint32_t promise);
uint32_t explore_walk_became(const struct weft_scene *s, uint32_t promise);

/* ---- Writing facts. Without memory, f->failed is set and nothing is added. ---- */

#define EXPLORE_FACT_BYTES 200   /* of a text, and of a name */
#define EXPLORE_FACT_LONG 1000   /* of a long text */
#define EXPLORE_FACT_LABEL 72    /* of a label within that */
#define EXPLORE_FACT_PROMISE 144 /* of how a promise is called, within a text */
#define EXPLORE_FACT_NAMED 100   /* of its name alone */

enum explore_fact {
#define FACT(NAME, name, text) FACT_##NAME,
#include "explore/facts.def"
#undef FACT
};

/* Where a fact's link goes. */
struct explore_link {
    enum weft_link link;
    struct explore_target target;
    bool again;   /* it has the same name as the fact before it, so the name is left out */
    bool is_long; /* up to EXPLORE_FACT_LONG bytes */
};

static inline struct explore_link explore_nowhere(void)
{
    return (struct explore_link){.link = WEFT_LINK_NONE, .target.promise = WEFT_NONE};
}

static inline struct explore_link explore_time(int64_t time_ns)
{
    return (struct explore_link){.link = WEFT_LINK_TIME,
                                 .target = {.promise = WEFT_NONE, .time_ns = time_ns}};
}

/* A long text with any link. */
static inline struct explore_link explore_long(enum weft_link link, struct explore_target target)
{
    return (struct explore_link){.link = link, .target = target, .is_long = true};
}

struct explore_link explore_promise(const struct weft_scene *s, uint32_t promise, bool again);

/* What a promise is called in a fact: with how long it lasted, or by its name alone if times of its own follow. In a
 * slot: TEXT(promise, explore_called(s, promise).text). */
struct explore_name {
    char text[EXPLORE_FACT_PROMISE];
};
struct explore_name explore_called(const struct weft_scene *s, uint32_t promise);
struct explore_name explore_named(const struct weft_scene *s, uint32_t promise);

void explore_fact_begin(struct explore_facts *f);
int explore_fact_end(struct explore_facts *f); /* 0 or WEFT_E_NOMEM */

/* Adds a fact of facts.def with its slots filled (analyse/sentence.h); or a heading, which begins a group and has no text. Promises
 * carry their model: PROMISE_OF. */
#define explore_say(f, to, which, ...) explore_say_slots(f, to, which, ANALYSE_SLOTS(__VA_ARGS__))
#define explore_heading(f, which, ...)                                                             \
    explore_say_slots(f, explore_nowhere(), which, ANALYSE_SLOTS(__VA_ARGS__))
void explore_say_slots(struct explore_facts *f, struct explore_link to, enum explore_fact which,
                       const struct analyse_slot *slots, size_t count);

/* The name of a fact, a slot filled with one, and the fact's text. */
const char *explore_fact_name(enum explore_fact which);
#define FIELD(name, which) TEXT(name, explore_fact_name(which))
const char *explore_fact_text(enum explore_fact which);

/* Facts that only name a promise and link to it, name a time and link to it, or count. */
void explore_say_promise(struct explore_facts *f, const struct weft_scene *s,
                         enum explore_fact which, uint32_t promise, bool again);
void explore_say_time(struct explore_facts *f, enum explore_fact which, int64_t time_ns);
void explore_say_count(struct explore_facts *f, enum explore_fact which, uint64_t count);

/* A group about what of the trace is not there. Returns false, and adds nothing, if all is. */
bool explore_fact_missing(struct explore_facts *f, const struct weft_model *m);

/* A group about a path. */
void explore_fact_path(struct explore_facts *f, const struct weft_scene *s,
                       const struct weft_path *path);

/* Marks the last fact as bad. */
void explore_fact_bad(struct explore_facts *f);

/* "and 12 more", if there are more than were shown. */
void explore_fact_more(struct explore_facts *f, uint64_t all, uint64_t shown);

/* A text of the trace, cleaned and cut with an ellipsis to room, terminated. Returns its size. */
size_t explore_fact_clean(char *out, size_t room, const char *text, size_t size);

/* The same for the type of a promise, and for its first label; "" if it has none. */
size_t explore_fact_type(char *out, size_t room, const struct weft_model *m, uint32_t promise);
size_t explore_fact_label(char *out, size_t room, const struct weft_model *m, uint32_t promise);

/* "35 %"; "" if whole is 0. */
struct weft_figure explore_share(uint64_t part, uint64_t whole);

/* How long a promise lasts: weft_layout_lasts. */
int64_t explore_length(const struct weft_scene *s, uint32_t promise);

#define EXPLORE_TOP_SHOWN 8 /* of the longest promises, by most lists */

/* ---- hot.c: what ran while samples were taken ---- */

/* A mark for each promise: set for this one and those it created, directly or not. The caller frees the array. NULL: no
 * memory. */
uint8_t *explore_created_by(const struct weft_model *m, uint32_t promise);

/* The innermost function at a location, cleaned: "parse_request", "0x7f1234 (libz.so.1)". Returns its size. */
size_t explore_function_name(char *out, size_t room, const struct weft_profile *p,
                             uint32_t location);

/* Adds groups of facts, if there are samples. */
void explore_fact_hot_promise(struct explore_facts *f, const struct weft_scene *s,
                              uint32_t promise);
void explore_fact_hot_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                            int64_t to_ns);
void explore_fact_hot_trace(struct explore_facts *f, const struct weft_scene *s);

/* ---- dealings.c: what acted on a promise and what it acted on. Waits come from the history. ---- */

#define EXPLORE_ACTS_KEPT 8

/* Waits of the promise, or for it. */
struct explore_waits {
    const uint32_t *wait; /* of the history, in the order of beginning */
    uint32_t count, open;
    int64_t total_ns;   /* that it waited, or that at least one waited for it */
    int64_t blocked_ns; /* of the promise's own: the part in which its loop did not look; else 0 */
    int64_t late_ns;    /* from ready to running: total, of waits for it the sum … */
    int64_t latest_ns;  /* … and the longest */
    uint32_t latest;    /* wait */
};

/* Other interactions of one kind: the first few. */
struct explore_acts {
    uint32_t interaction[EXPLORE_ACTS_KEPT];
    uint32_t kept;
    uint64_t all;
};

struct explore_dealings {
    struct explore_waits mine, others;
    struct explore_acts used, used_by; /* reads without a wait before them */
    struct explore_acts resolved, signalled, signalled_by, notified, notified_by;
    struct explore_acts again; /* attempts to end it after it had ended */
    uint64_t notified_in_vain; /* of notified_by: nobody waited then … */
    int64_t in_vain_ns;        /* … the last time */
    uint32_t resolution;       /* the last interaction that resolved it, or WEFT_NONE */
    int64_t running_ns;        /* without garbage collections, … */
    int64_t collecting_ns;     /* … which took this long while it ran */
};

/* raw: as the layout. Returns 0 or WEFT_E_NOMEM. Nothing needs to be released. */
int explore_dealings_find(struct explore_dealings *out, const struct weft_history *h,
                          uint32_t promise, bool raw);

/* "once, when nobody waited: at 20 ms"; bad if something still waits. notified_in_vain is not 0. */
void explore_fact_in_vain(struct explore_facts *f, enum explore_fact often, enum explore_fact once,
                          const struct explore_dealings *d);
