/* SPDX-License-Identifier: ISC */
/* Reads packets in place: their headers, and the forms of events one after the other.
 *
 *     for (uint64_t at = h->header_bytes; at + FORMAT_FORM_HEAD <= size; at += format_form_bytes(bytes + at, size - at))
 *         use(format_forms[bytes[at + 7]], bytes + at);
 *
 * Used by readers, and by the recorder when it overwrites a packet; so everything is inline and needs no
 * library. bytes may contain anything unless a function says otherwise. */
#pragma once

#include <stdbool.h>

#include "format/events.h"
#include "format/packet.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packets are read as they are");

static inline uint32_t format_u32(const unsigned char *at)
{
    uint32_t n;
    __builtin_memcpy(&n, at, sizeof n);
    return n;
}

static inline uint64_t format_u64(const unsigned char *at)
{
    uint64_t n;
    __builtin_memcpy(&n, at, sizeof n);
    return n;
}

/* ---- Headers ---- */

/* Returns true if a packet begins here; its sizes may be wrong. */
static inline bool format_has_mark(const struct weft_packet_header *h)
{
    return h->magic == WEFT_PACKET_MAGIC && h->signature == WEFT_PACKET_SIGNATURE;
}

/* … and if its sizes are possible. */
static inline bool format_is_packet(const struct weft_packet_header *h)
{
    return format_has_mark(h) && h->header_bytes >= sizeof *h && h->packet_bits % 64 == 0 &&
           h->packet_bits / 8 >= h->header_bytes;
}

static inline bool format_is_facts(const struct weft_facts_header *h)
{
    return format_is_packet(&h->packet) && h->packet.class == WEFT_PACKET_FACTS &&
           h->packet.header_bytes >= sizeof *h;
}

static inline bool format_has_events(const struct weft_packet_header *h)
{
    return h->class == WEFT_PACKET_EVENTS && h->header_bytes >= WEFT_EVENTS_HEADER_V1_0;
}

/* Returns true if the packet has ended bytes that are within its header. */
static inline bool format_has_ended(const struct weft_events_header *h)
{
    uint32_t header = h->packet.header_bytes;
    return h->ended_count && h->ended_at >= sizeof *h && h->ended_at <= header &&
           h->ended_count <= header - h->ended_at;
}

/* How many events were overwritten in this place of the pool; if it is changing hands, including those of this
 * packet. */
static inline uint64_t format_overwritten(const struct weft_events_header *h)
{
    uint64_t last = h->sequence ? 0 : h->counts & ((1u << WEFT_COUNTS_BITS) - 1);
    return (h->counts >> WEFT_COUNTS_BITS) + last;
}

/* ---- Forms ---- */

#define FORMAT_FORM_HEAD 8u /* a form's time and code */

/* The size in bytes of the form at bytes, of which size bytes are there, at least FORMAT_FORM_HEAD. If the
 * result is larger than size, the form is cut off. */
static inline uint64_t format_form_bytes(const unsigned char *bytes, uint64_t size)
{
    const unsigned code = bytes[7];
    if (code != WEFT_FORM_TEXT_FOLLOWS)
        return FORMAT_FORM_HEAD + 4 * (code >> 5);
    return FORMAT_FORM_HEAD + 4 +
           (size < FORMAT_FORM_HEAD + 4 ? 0 : 4 * (uint64_t)format_u32(bytes + FORMAT_FORM_HEAD));
}

/* The time of the form at bytes, in ticks. */
static inline uint64_t format_form_ticks(const unsigned char *bytes, uint64_t begin_ticks)
{
    const uint64_t mask = (UINT64_C(1) << WEFT_TIME_BITS) - 1;
    return begin_ticks + ((format_u64(bytes) - begin_ticks) & mask);
}

enum weft_form_word {
    WEFT_WORD_A,
    WEFT_WORD_B,
    WEFT_WORD_SITE,
    WEFT_WORD_TEXT,
    WEFT_WORD_VALUE,
    WEFT_WORD_TOTAL,
    WEFT_WORD_REASON,
    WEFT_WORD_IDS,
    WEFT_WORDS
};

struct weft_form_desc {
    uint8_t kind;              /* enum weft_event_kind */
    uint8_t bytes;             /* the whole form; 0: no form has this code */
    bool by_running;           /* a is what runs on the stream */
    bool is_unsigned;          /* the value is a duration */
    uint8_t at[WEFT_WORDS];    /* offset in the event, in bytes */
    uint8_t words[WEFT_WORDS]; /* of four bytes each: 0, 1 or 2; 6 of IDS */
};

/* Returns the promise at that place. */
static inline uint64_t format_promise(const unsigned char *at, unsigned words, uint64_t base)
{
    if (words == 2)
        return format_u64(at);
    const int32_t distance = (int32_t)format_u32(at);
    return distance == WEFT_SHORT_LOOP ? WEFT_ID_LOOP : base + (uint64_t)(int64_t)distance;
}

/* Reads the promises of an event of that form; 0: the event has none. */
static inline void format_promises(const struct weft_form_desc *f, const unsigned char *bytes,
                                   uint64_t base, uint64_t running, uint64_t *a, uint64_t *b)
{
    *a = f->by_running ? running : 0;
    *b = 0;
    if (f->words[WEFT_WORD_A])
        *a = format_promise(bytes + f->at[WEFT_WORD_A], f->words[WEFT_WORD_A], base);
    if (f->words[WEFT_WORD_B])
        *b = format_promise(bytes + f->at[WEFT_WORD_B], f->words[WEFT_WORD_B], base);
}

/* Returns what runs on the stream after an event, given what ran before it. */
static inline uint64_t format_running(unsigned kind, uint64_t a, uint64_t b, uint64_t running)
{
    switch (kind) {
    case WEFT_EVENT_SWITCH:
    case WEFT_EVENT_READ:
    case WEFT_EVENT_SIGNAL:
        return a;
    case WEFT_EVENT_BECOMES:
        return a == running ? b : running;
    case WEFT_EVENT_SUSPEND:
    case WEFT_EVENT_RESUME:
        return WEFT_ID_LOOP;
    default:
        return running;
    }
}
