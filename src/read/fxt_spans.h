/* SPDX-License-Identifier: ISC */
/* What programs say in Fuchsia's trace format, but for Eio's, as events of ours: a duration is a promise that runs on its thread, an
 * asynchronous one a promise with its arguments as labels; a flow is a signal from the duration that it left to the one where it
 * arrives. */
#ifndef WEFT_READ_FXT_SPANS_H
#define WEFT_READ_FXT_SPANS_H

#include <stdint.h>

#include "format/events.h"

/* Kinds of events, by the format's numbers. */
enum weft__fxt_kind {
    WEFT__FXT_INSTANT = 0,
    WEFT__FXT_COUNTER = 1,
    WEFT__FXT_BEGIN = 2,
    WEFT__FXT_END = 3,
    WEFT__FXT_COMPLETE = 4,
    WEFT__FXT_ASYNC_BEGIN = 5,
    WEFT__FXT_ASYNC_INSTANT = 6,
    WEFT__FXT_ASYNC_END = 7,
    WEFT__FXT_FLOW_BEGIN = 8,
    WEFT__FXT_FLOW_STEP = 9,
    WEFT__FXT_FLOW_END = 10,
    WEFT__FXT_COMPLETE_END = 11, /* ours: the other end of 4 */
};

struct weft__fxt_text {
    const char *text; /* of the file */
    uint32_t size;
};

struct weft__fxt_value {
    struct weft__fxt_text name, text;
    int64_t value;
    double real;
    enum {
        WEFT__FXT_NUMBER,
        WEFT__FXT_UNSIGNED,
        WEFT__FXT_REAL,
        WEFT__FXT_TEXT,
        WEFT__FXT_NOTHING
    } type;
};

#define WEFT__FXT_ARGS_MAX 15u

struct weft__span_item {
    uint64_t time_ns;
    uint64_t order; /* of its record in the file */
    uint64_t id; /* what begin and end of async ones and flows have in common, in all processes */
    struct weft__fxt_text category, name;
    uint32_t arg, args; /* arg: index of the first */
    uint32_t stream;
    uint8_t kind;
    bool empty; /* a complete one without length */
};

struct weft__spans;

/* streams: how many. The caller owns it. NULL: no memory. */
struct weft__spans *weft__spans_new(uint32_t streams);
void weft__spans_free(struct weft__spans *s);

/* An item becomes up to so many events. */
#define WEFT__SPANS_MOST 20u

/* The texts of what has been told are not needed any more. */
void weft__spans_begin_batch(struct weft__spans *s);

/* Tells what the item means; arg: its arguments. Items come in order of time. Returns how many events, or a negative
 * WEFT_E code. */
int weft__spans_tell(struct weft__spans *s, struct weft_event *out,
                     const struct weft__span_item *item, const struct weft__fxt_value *arg);

#endif
