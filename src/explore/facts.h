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
#ifndef WEFT_EXPLORE_FACTS_H
#define WEFT_EXPLORE_FACTS_H

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
    const struct weft_analysis *analysis; /* of the trace, or NULL … */
    bool analysing;                       /* … yet */
    const char *axis;                     /* if not NULL: shown about a trace's time axis */
    const struct weft_path *path;         /* if not NULL: shown about a promise */

    /* Of facts.c. */
    char *texts;
    uint32_t *at; /* parallel to fact: where its name and its text begin in texts */
    uint32_t fact_room, target_room, at_room, text_bytes, texts_room;
    bool failed;
    struct explore_ranges *ranges; /* of the last scene that was measured */
};

/* Each of these replaces all facts. Returns 0 or WEFT_E_NOMEM; then there are no facts. */

/* Some tens of milliseconds for ten million events, once there is a history. */
int explore_facts_of_promise(struct explore_facts *f, const struct weft_scene *s, uint32_t promise);

/* Facts about what happens from from_ns to to_ns, both included. The first call for a scene takes as long as facts
 * about a promise; later calls take a few milliseconds at most. */
int explore_facts_of_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                           int64_t to_ns);

/* title may be NULL. With an analysis, what it found comes first. */
int explore_facts_of_trace(struct explore_facts *f, const struct weft_scene *s, const char *title);

/* Facts about a finding of f->analysis, of which `shown` are shown. */
int explore_facts_of_finding(struct explore_facts *f, const struct weft_scene *s, uint32_t finding,
                             uint32_t shown);

/* Facts about two compared traces; the targets say which trace each promise belongs to. */
int explore_facts_of_diff(struct explore_facts *f, const struct weft_scene *good,
                          const struct weft_scene *bad, const struct weft_diff *d);

void explore_facts_fini(struct explore_facts *f);

/* "35 ms 'query' (outside)" */
void explore_put_share(struct analyse_text *t, const struct weft_model *m,
                       const struct weft_share *s);

/* The promises that keys go to; WEFT_NONE: none, or the loop, which has no line. */
uint32_t explore_walk_creator(const struct weft_scene *s, uint32_t promise);
uint32_t explore_walk_waited_for(const struct weft_history *h, uint32_t promise); /* the longest */
uint32_t explore_walk_resolver(const struct weft_scene *s, uint32_t promise);
uint32_t explore_walk_became(const struct weft_scene *s, uint32_t promise);

#endif
