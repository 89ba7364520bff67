/* SPDX-License-Identifier: ISC */
/* What programs say in Fuchsia's trace format, but for Eio's, as events of ours: a duration is a promise that runs on its thread, an
 * asynchronous one a promise with its arguments as labels; a flow is a signal from the duration that it left to the one where it
 * arrives. */
#ifndef WEFT_READ_FXT_SPANS_H
#define WEFT_READ_FXT_SPANS_H

#include <stdint.h>

#include "format/events.h"

/* Kinds of events, by the format's numbers. */
enum read_fxt_kind {
    READ_FXT_INSTANT = 0,
    READ_FXT_COUNTER = 1,
    READ_FXT_BEGIN = 2,
    READ_FXT_END = 3,
    READ_FXT_COMPLETE = 4,
    READ_FXT_ASYNC_BEGIN = 5,
    READ_FXT_ASYNC_INSTANT = 6,
    READ_FXT_ASYNC_END = 7,
    READ_FXT_FLOW_BEGIN = 8,
    READ_FXT_FLOW_STEP = 9,
    READ_FXT_FLOW_END = 10,
    READ_FXT_COMPLETE_END = 11, /* ours: the other end of 4 */
};

struct read_fxt_text {
    const char *text; /* of the file */
    uint32_t size;
};

struct read_fxt_value {
    struct read_fxt_text name, text;
    int64_t value;
    double real;
    enum {
        READ_FXT_NUMBER,
        READ_FXT_UNSIGNED,
        READ_FXT_REAL,
        READ_FXT_TEXT,
        READ_FXT_NOTHING
    } type;
};

#define READ_FXT_ARGS_MAX 15u

struct read_span_item {
    uint64_t time_ns;
    uint64_t order; /* of its record in the file */
    uint64_t id; /* what begin and end of async ones and flows have in common, in all processes */
    struct read_fxt_text category, name;
    uint32_t arg, args; /* arg: index of the first */
    uint32_t stream;
    uint8_t kind;
    bool empty; /* a complete one without length */
};

struct read_spans;

/* streams: how many. The caller owns it. NULL: no memory. */
struct read_spans *read_spans_new(uint32_t streams);
void read_spans_free(struct read_spans *s);

/* An item becomes up to so many events. */
#define READ_SPANS_MOST 20u

/* The texts of what has been told are not needed any more. */
void read_spans_begin_batch(struct read_spans *s);

/* Tells what the item means; arg: its arguments. Items come in order of time. Returns how many events, or a negative
 * WEFT_E code. */
int read_spans_tell(struct read_spans *s, struct weft_event *out, const struct read_span_item *item,
                    const struct read_fxt_value *arg);

#endif
