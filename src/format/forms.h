/* SPDX-License-Identifier: ISC */
/* The forms of events in weft's own packets: their bytes, made from the table in events.def.
 *
 *     struct weft_form_context c = {.begin_ticks = …, .base = …, .running = …};  from the packet's header
 *     while ((n = weft_form_decode(&ev, &c, bytes, size)) > 0) {
 *         if (ev.kind < WEFT_EVENT_KINDS)
 *             use(&ev, &c);            ev.time_ns is in ticks; texts are numbers, in c
 *         bytes += n, size -= n;
 *     }
 *
 * There is no state outside the context; every function may be called from any thread. */
#pragma once

#include "format/events.h"
#include "format/ids.h"
#include "format/walk.h"

struct weft_form_text {
    const char *text; /* borrowed from the packet; no NUL in it or after it */
    uint32_t size;
};

#define WEFT_FORM_TEXTS 2 /* at most, before an event */

struct weft_form_context {
    uint64_t begin_ticks, base; /* the packet's */
    uint64_t running;           /* what runs on the stream; initially from the packet's header */

    /* About the event decoded last. The numbers of its site and its text; 0: none; WEFT_STRING_INLINE: a text
     * that preceded the event. The inline text of an event is in the event; the inline text of a site is its
     * type: site_text. */
    uint32_t site, text;
    struct weft_form_text site_text;
    const unsigned char
        *ids; /* WEFT_IDS_BYTES in the packet, which are the event's text; or NULL */

    /* About the stream that began last (WEFT_FORM_STREAM_BEGINS). */
    uint32_t stream, thread;
    char thread_name[16];

    uint64_t unknown; /* forms skipped so far */

    struct weft_form_text before[WEFT_FORM_TEXTS]; /* texts for the next event */
    unsigned befores;
};

/* The value of ev->kind if no event was decoded. */
enum {
    WEFT_FORM_NO_EVENT = WEFT_EVENT_KINDS, /* an unknown form, or a text for the next event */
    WEFT_FORM_NEW_STREAM,                  /* the context says which one */
};

/* Decodes the form at bytes; size bytes are left up to the end of the packet's content. Returns how many bytes
 * it took, a multiple of 4; or WEFT_DECODE_SHORT, and *ev is undefined. bytes may contain anything. */
ptrdiff_t weft_form_decode(struct weft_event *ev, struct weft_form_context *c,
                           const unsigned char *bytes, size_t size);

/* Indexed by code: 256 of them. */
extern const struct weft_form_desc *const weft_forms;
