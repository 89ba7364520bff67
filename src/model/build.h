/* SPDX-License-Identifier: ISC */
/* The model under construction; internal to the model. */
#pragma once

#include "base/array.h"
#include "base/idmap.h"
#include "model/model.h"
#include "model/numbers.h"
#include "model/strings.h"
#include "model/traced.h"

/* What is known about a promise only while events are read is stored in fields that are not in use
 * yet, since there are many promises:
 *     first_interaction           its last interaction
 *     end_ns                      if pending: when its latest child was created
 *     first_label, first_run      the latest wait for it or signal to it, as two halves of a time
 *     simplified                  it has created another promise
 *     start_ns                    if its creation is not there, in a trace of weft's own: its first mention
 * Labels, interactions and runs are chained once all are there. Until then weft_label.next marks
 * those that belong before all others, and weft_run.next is the promise. */
#define MODEL_LABEL_FIRST (WEFT_NONE - 1)

static inline void model_set_checked(struct weft_promise *p, int64_t time)
{
    p->first_label = (uint32_t)(uint64_t)time;
    p->first_run = (uint32_t)((uint64_t)time >> 32);
}

static inline int64_t model_checked(const struct weft_promise *p)
{
    return (int64_t)((uint64_t)p->first_run << 32 | p->first_label);
}

/* It has just created another promise. */
static inline void model_set_child(struct weft_promise *p, int64_t now)
{
    p->simplified = true;
    if (p->outcome == WEFT_PENDING)
        p->end_ns = now;
}

/* A stream and what runs on it. */
struct weft_running {
    uint32_t promise; /* or WEFT_NONE */
    bool begun;
    bool suspended;
    bool suspends;  /* it was suspended at least once */
    uint32_t again; /* how often it was made to run although it already ran */
    int64_t since_ns;
    int64_t suspended_ns;             /* when it was last suspended */
    int64_t first_ns, last_ns;        /* times of events */
    int64_t turn_ns;                  /* since when it has not been suspended, as far as is known */
    int64_t still_ns, still_until_ns; /* the longest time without an event since then */
};

/* Where promises are created: what they have in common. */
struct weft_site_known {
    uint32_t type;  /* text, or WEFT_NONE: not set yet */
    uint32_t place; /* or MODEL_NO_PLACE */
};

#define MODEL_NO_PLACE (WEFT_PLACES_MAX - 1) /* the same as in weft_promise.place */

struct weft_builder {
    struct weft_model *m;
    uint32_t hold_room;
    uint32_t promise_room, label_room, interaction_room, run_room, sleep_room, pause_room,
        change_room, counter_room, origin_room, run_stream_room, again_room, missing_room,
        preemption_room, traced_room;
    /* a promise that somebody waits for counts as resolved, but may be pending */
    bool unsure;
    bool labels_late;     /* there are labels that belong before others of their promise */
    uint32_t *counter_of; /* from texts to counters, or WEFT_NONE */
    uint32_t counter_of_room;
    uint32_t should_resolve_text, preexisting_text;
    uint32_t type_text[256];      /* for mirage's numbers; WEFT_NONE: not set yet */
    struct weft_site_known *site; /* by the number of a creation's origin */
    uint32_t site_room;
    struct weft_running *stream;
    uint32_t streams, stream_room;
    uint32_t *sleeper; /* parallel to m->sleep: the stream, until all are known */
    uint32_t sleeper_room;

    const struct weft_reader *reader;
    const struct weft_reader_facts *facts;
    const struct weft_event *event; /* the current one */
    const uint32_t *number;         /* its promises (numbers.h); NULL: they are to be looked up */
    bool begun;
    int64_t now; /* of the current event */
    struct weft_error *err;
};

/* Makes room for one more item. used, room: in items. Returns false if there is no memory, or the
 * number of the next item would be WEFT_NONE. */
static inline bool model_grow(void *array, uint32_t used, uint32_t *room, size_t item)
{
    return used < WEFT_NONE - 1 && weft_reserve(array, used, room, item);
}

/* Closes the last runs, then finds what can be known only at the end: when pending promises end,
 * which binds are simplified, and the scales of the counters. Returns 0 or a negative WEFT_E
 * code. */
int model_finish(struct weft_builder *b);

/* Sets the error: there is no memory for another one of what, or there are too many. */
int model_no_room(struct weft_builder *b, uint32_t used, const char *what);

/* Appends to an array of the model and to the parallel one in the builder. */
#define APPEND(b, array, count, room, what, ...)                                                   \
    do {                                                                                           \
        if (!model_grow(&(array), (count), &(room), sizeof *(array)))                              \
            return model_no_room((b), (count), (what));                                            \
        (array)[(count)++] = (__VA_ARGS__);                                                        \
    } while (0)

/* The promise with an id of the current event; WEFT_IDMAP_NONE: it is new. */
static inline uint32_t model_seek(const struct weft_builder *b, uint64_t id)
{
    const uint32_t known =
        b->number ? model_number(b->number, b->event, id) : weft_idmap_seek(b->m->ids, id);
    return known < b->m->promises ? known : WEFT_IDMAP_NONE;
}

/* Adding; build.c. All return 0 or a negative WEFT_E code. */

int model_add_promise(struct weft_builder *b, uint64_t id, uint32_t creator, int64_t start,
                      uint32_t type, uint32_t *out);

/* The promise that an id in an event refers to. */
int model_lookup(struct weft_builder *b, uint64_t id, uint32_t *out);

/* The number of the event's text, or of a NUL-terminated text. */
int model_add_text(struct weft_builder *b, const struct weft_event *ev, uint32_t *out);
int model_add_name(struct weft_builder *b, const char *name, uint32_t *out);

/* Takes over from the reader which pending promises were given up. */
int model_add_given_up(struct weft_builder *b);

/* Adds a label, or a counter's change. next: WEFT_NONE or MODEL_LABEL_FIRST. */
int model_add_label(struct weft_builder *b, int64_t now, uint32_t promise, bool is_change,
                    uint32_t what, uint32_t next);

/* Creations; create.c */
int model_on_creates(struct weft_builder *b, const struct weft_event *ev);

/* Who holds what; holds.c. The second function is called at the end, once it is known what each
 * promise became, and before anybody asks which resources are not fully known. */
int model_on_holds(struct weft_builder *b, const struct weft_event *ev);
int model_finish_holds(struct weft_builder *b);

/* Spans of distributed traces; traced.c. The second function is called when all creators are known. */
int model_on_span(struct weft_builder *b, const struct weft_event *ev);
int model_finish_traced(struct weft_builder *b);

/* What runs; running.c */

/* The stream with that index; added if it is new. NULL: no memory. */
struct weft_running *model_stream(struct weft_builder *b, uint32_t stream);

/* From now on next runs on s (WEFT_NONE: nothing does). */
int model_switch(struct weft_builder *b, struct weft_running *s, int64_t now, uint32_t next);

/* s is suspended. */
int model_suspend(struct weft_builder *b, struct weft_running *s);

/* Ends the last runs and computes when the process slept. */
int model_rest(struct weft_builder *b);
