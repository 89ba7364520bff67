/* SPDX-License-Identifier: ISC */
/* Turns the events of programs that write Fuchsia's trace format without Eio into weft's events. A
 * duration becomes a promise that runs on its thread. An asynchronous duration becomes a promise
 * with its arguments as labels. A flow becomes a signal from the duration that it leaves to the one
 * where it arrives. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "format/events.h"

/* Kinds of events, with the format's numbers. */
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
    READ_FXT_COMPLETE_END = 11, /* weft's own: the end of kind 4 */
};

struct read_fxt_text {
    const char *text; /* points into the file */
    uint32_t size;
};

struct read_fxt_value {
    struct read_fxt_text name, text;
    int64_t value;
    double real;
    enum {
        READ_FXT_NOTHING,
        READ_FXT_NUMBER,
        READ_FXT_UNSIGNED,
        READ_FXT_REAL,
        READ_FXT_TEXT
    } type;
};

#define READ_FXT_ARGS_MAX 15u

struct read_span_item {
    uint64_t time_ns;
    uint64_t order; /* position of its record in the file */
    /* links the begin and end of asynchronous events, and the steps of flows; unique over all
     * processes */
    uint64_t id;
    struct read_fxt_text category, name;
    uint32_t arg, args; /* arg: index of the first one */
    uint32_t stream;
    uint8_t kind;
    bool empty; /* a complete event of length 0 */
};

struct read_spans;

/* streams: how many there are. The caller owns the result. NULL: no memory. */
struct read_spans *read_spans_new(uint32_t streams);
void read_spans_free(struct read_spans *s);

/* An item becomes at most this many events. */
#define READ_SPANS_MOST 20u

/* The texts of events that were handed out are not needed any more. */
void read_spans_begin_batch(struct read_spans *s);

/* Translates an item; arg: its arguments. Pass the items in order of time. Returns how many events
 * it wrote to out, or a negative WEFT_E code. */
int read_spans_tell(struct read_spans *s, struct weft_event *out, const struct read_span_item *item,
                    const struct read_fxt_value *arg);
