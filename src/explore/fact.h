/* SPDX-License-Identifier: ISC */
/* Writing facts down; inside of facts. Where there is no memory f->failed is set, and nothing is added. */
#ifndef WEFT_EXPLORE_FACT_H
#define WEFT_EXPLORE_FACT_H

#include "base/count.h"
#include "base/duration.h"
#include "explore/facts.h"

#define WEFT__FACT_BYTES 200   /* of a text, and of a name */
#define WEFT__FACT_LONG 1000   /* of a long text */
#define WEFT__FACT_LABEL 72    /* of a label within that */
#define WEFT__FACT_NUMBER 48   /* of a number or time */
#define WEFT__FACT_PROMISE 144 /* of how a promise is called, within a text */
#define WEFT__FACT_NAMED 100   /* of its name alone */

#define WEFT__PRINTF(at) __attribute__((format(printf, at, at + 1)))

void weft__fact_begin(struct weft__facts *f);
int weft__fact_end(struct weft__facts *f); /* 0 or WEFT_E_NOMEM */

/* Begins a group; a name that may be any bytes. */
void weft__fact_heading(struct weft__facts *f, const char *format, ...) WEFT__PRINTF(2);

/* With a text, any bytes. */
void weft__fact_text(struct weft__facts *f, const char *name, const char *format, ...)
    WEFT__PRINTF(3);

/* … that leads to a time. */
void weft__fact_time(struct weft__facts *f, const char *name, int64_t time_ns, const char *format,
                     ...) WEFT__PRINTF(4);

/* A text of up to WEFT__FACT_LONG bytes, with any link. */
void weft__fact_long(struct weft__facts *f, const char *name, const char *text, enum weft_link link,
                     struct weft__target target);

/* … that leads to a promise: the promise's own text, then what the format says. */
void weft__fact_promise(struct weft__facts *f, const char *name, const struct weft_scene *s,
                        uint32_t promise, const char *format, ...) WEFT__PRINTF(5);

/* … of which only its name is said, and that it failed: what follows has times of its own. */
void weft__fact_named(struct weft__facts *f, const char *name, const struct weft_scene *s,
                      uint32_t promise, const char *format, ...) WEFT__PRINTF(5);

/* A group about a path. */
void weft__fact_path(struct weft__facts *f, const struct weft_scene *s,
                     const struct weft_path *path);

/* The last one is bad. */
void weft__fact_bad(struct weft__facts *f);

/* "and 12 more", if there are more than were shown. */
void weft__fact_more(struct weft__facts *f, uint64_t all, uint64_t shown);

/* A text of the trace, cleaned and cut with an ellipsis to room, terminated. Returns its size. */
size_t weft__fact_clean(char *out, size_t room, const char *text, size_t size);

/* Likewise of the first label of a promise; "" if it has none. */
size_t weft__fact_label(char *out, size_t room, const struct weft_model *m, uint32_t promise);

/* "35 %"; "" if whole is 0. */
struct weft_figure weft__share(uint64_t part, uint64_t whole);

/* How long the line of a promise is. */
int64_t weft__length(const struct weft_scene *s, uint32_t promise);

/* The longest few of many promises. */
#define WEFT__TOP_MAX 8
struct weft__top {
    uint32_t promise[WEFT__TOP_MAX];
    int64_t length[WEFT__TOP_MAX], second[WEFT__TOP_MAX];
    uint32_t count, room;
};

/* second decides where lengths are equal; then the one that was added earlier comes first. */
void weft__top_add(struct weft__top *t, uint32_t promise, int64_t length, int64_t second);

#endif
