/* SPDX-License-Identifier: ISC */
/* Events: their names, their fields, and their bytes in mirage-profile's layout.
 *
 *     struct weft_event ev;
 *     ptrdiff_t n = weft_event_decode(&ev, bytes, size);
 *     if (n > 0)
 *         printf("%s at %" PRIu64 "\n", weft_event_kinds[ev.kind].name, ev.time_ns);
 *
 * There is no state; every function may be called from any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The event loop: it is the actor if no promise is. */
#define WEFT_ID_LOOP UINT64_MAX

/* The stream of a promoted event if it is not known, or if nothing else of that stream is left. */
#define WEFT_STREAM_NONE UINT32_MAX

enum weft_event_kind {
#define EVENT(id, NAME, name, ORIGIN, FIELDS, meaning) WEFT_EVENT_##NAME = id,
#include "format/events.def"
    WEFT_EVENT_KINDS
};

/* Where a promise was created. */
struct weft_origin {
    const char *type; /* with a NUL; never NULL */
    const char *file; /* with a NUL, or NULL */
    uint32_t line;
    uint32_t number; /* of the place in its trace, from 1: it stays until the reader is closed.
                      * 0: valid only as long as the event */
};

/* A decoded event. Fields that its kind does not have are 0. */
struct weft_event {
    uint64_t time_ns; /* the clock of the trace; differences are meaningful, the origin is not. In
                         * weft's own traces CLOCK_MONOTONIC, unless the program gave a clock */
    uint64_t a, b;    /* first and second promise */
    int64_t value;    /* amount, value or duration */
    int64_t total;    /* an increase's new value; only if has_total */
    /* Only in weft's own traces: what runs on the stream, before the event changes that. */
    uint64_t running;
    const char
        *text; /* borrowed, not terminated, any bytes but NUL. In weft's own traces creates has
                         * one, too: the label. NULL: no text */
    const struct weft_origin *origin; /* of creates in weft's own traces; else NULL */
    uint32_t stream;    /* index in the reader's table of streams, or WEFT_STREAM_NONE */
    uint32_t text_size; /* in bytes */
    uint8_t kind;       /* enum weft_event_kind */
    uint8_t type;       /* mirage's type of promise, or a reason */
    bool has_total;
    bool gap;     /* events of the stream are missing before this one, or something else runs now */
    bool missing; /* … and those were certainly recorded, after those that are there */
    /* Its packet was overwritten; the event was kept because its promise was pending. */
    bool promoted;
    /* A promoted creation of which only type and place are known: not by whom (a is the event loop), on which
     * stream and when. time_ns is early enough for everything that is known about the promise. */
    bool undated;
    /* Who did it does not belong to the part of the trace that is read; a is the event loop. */
    bool unsaid;
};

enum weft_field {
    WEFT_FIELD_PROMISE,  /* into a; a second one into b */
    WEFT_FIELD_TYPE,     /* into type */
    WEFT_FIELD_REASON,   /* into type */
    WEFT_FIELD_SIGNED,   /* into value */
    WEFT_FIELD_DURATION, /* into value, which is then unsigned */
    WEFT_FIELD_TEXT,     /* into text, text_size */
};

#define WEFT_FIELDS_MAX 4

struct weft_event_desc {
    const char *name;
    const char *meaning;
    uint8_t fields; /* how many */
    bool in_mirage; /* mirage-profile knows it */
    struct {
        uint8_t field; /* enum weft_field */
        const char *name;
    } field[WEFT_FIELDS_MAX];
};

/* Indexed by enum weft_event_kind. */
extern const struct weft_event_desc weft_event_kinds[WEFT_EVENT_KINDS];

/* The name of a mirage type number ("bind"), or NULL for a number that is not in the table. */
const char *weft_type_name(unsigned type);
#define WEFT_TYPES 18u

/* The name of a reason for a suspension, or NULL. */
const char *weft_reason_name(unsigned reason);

/* Every event begins with a time (u64) and a kind (u8). */
#define WEFT_EVENT_HEADER_SIZE 9u

enum {
    WEFT_DECODE_SHORT = 0,    /* the bytes end in the middle of the event */
    WEFT_DECODE_UNKNOWN = -1, /* no such kind in mirage's format; its size cannot be known */
};

/* Decodes one event in mirage's layout from size bytes. Returns how many it took, or one of the two
 * above; *ev is then undefined. The text stays in bytes. */
ptrdiff_t weft_event_decode(struct weft_event *ev, const unsigned char *bytes, size_t size);

/* How many bytes weft_event_encode writes for *ev. */
size_t weft_event_size(const struct weft_event *ev);

/* Writes *ev in mirage's layout to bytes, which has room for weft_event_size(ev). The text must not
 * contain a NUL. Kinds that mirage lacks are written in the same way. Returns the size. */
size_t weft_event_encode(unsigned char *bytes, const struct weft_event *ev);
