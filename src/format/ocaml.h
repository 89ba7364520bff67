/* SPDX-License-Identifier: ISC */
/* The file in which an OCaml 5 program keeps its runtime events: PID.events, with one ring of 8-byte words per
 * domain. Words are little endian on all machines that weft runs on.
 *
 *   8 words  head of the file: enum weft_ocaml_head
 *   rings    their heads: two counts of words that only grow, head and tail, and padding
 *   rings    their words: those from head to tail are valid; a word is at (count mod size of the ring)
 *   names    of the program's own events, WEFT_OCAML_NAMES of WEFT_OCAML_NAME_BYTES each, padded with zeros
 *
 * A ring contains items: a head word, a word with the time (CLOCK_MONOTONIC, ns), and further words. An item
 * never wraps around the end of the ring: a padding item, which has no time, fills the rest.
 *
 * Sources: OCaml's runtime/caml/runtime_events.h and runtime_events_consumer.c, versions 5.0 to 5.3. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes.h"

enum {
    WEFT_OCAML_VERSION = 1,
    WEFT_OCAML_HEAD_BYTES = 64,
    WEFT_OCAML_RING_HEAD_BYTES = 80,
    WEFT_OCAML_DOMAINS_MAX = 4096,
    WEFT_OCAML_RING_WORDS_MAX = 1 << 24,
    WEFT_OCAML_NAMES = 8192,
    WEFT_OCAML_NAME_BYTES = 128,
    WEFT_OCAML_ITEM_WORDS_MAX = 1023,
};

/* The words of the file's head; offsets are in bytes. */
enum weft_ocaml_head {
    WEFT_OCAML_HEAD_VERSION,
    WEFT_OCAML_HEAD_DOMAINS,
    WEFT_OCAML_HEAD_RING_HEAD_BYTES,
    WEFT_OCAML_HEAD_RING_BYTES,
    WEFT_OCAML_HEAD_RING_WORDS,
    WEFT_OCAML_HEAD_RING_HEADS_AT,
    WEFT_OCAML_HEAD_RINGS_AT,
    WEFT_OCAML_HEAD_NAMES_AT,
    WEFT_OCAML_HEAD_WORDS,
};

/* Returns true if a file of rings begins like this, with possible sizes; then reads the words. */
static inline bool weft_ocaml_head_read(const unsigned char *bytes, size_t size,
                                        uint64_t w[WEFT_OCAML_HEAD_WORDS])
{
    if (size < WEFT_OCAML_HEAD_BYTES)
        return false;
    for (int i = 0; i < WEFT_OCAML_HEAD_WORDS; i++)
        w[i] = weft_read_u64(bytes + 8 * i);
    const uint64_t words = w[WEFT_OCAML_HEAD_RING_WORDS];
    return w[WEFT_OCAML_HEAD_VERSION] == WEFT_OCAML_VERSION && w[WEFT_OCAML_HEAD_DOMAINS] &&
           w[WEFT_OCAML_HEAD_DOMAINS] <= WEFT_OCAML_DOMAINS_MAX &&
           w[WEFT_OCAML_HEAD_RING_HEAD_BYTES] == WEFT_OCAML_RING_HEAD_BYTES && words &&
           !(words & (words - 1)) && words <= WEFT_OCAML_RING_WORDS_MAX &&
           w[WEFT_OCAML_HEAD_RING_BYTES] == 8 * words &&
           w[WEFT_OCAML_HEAD_RING_HEADS_AT] == WEFT_OCAML_HEAD_BYTES;
}

/* Types of the runtime's own items, numbers of its lifecycle, and types of the program's own events. */
enum weft_ocaml_type {
    WEFT_OCAML_PADDING = 0,
    WEFT_OCAML_LIFECYCLE = 1,
    WEFT_OCAML_BEGIN = 2,
    WEFT_OCAML_END = 3,
    WEFT_OCAML_NAME = 15, /* weft's own, only in its traces: docs/format.md */
};
enum weft_ocaml_lifecycle { WEFT_OCAML_RING_START = 0, WEFT_OCAML_RING_STOP = 1 };
enum weft_ocaml_user_type {
    WEFT_OCAML_UNIT = 0,
    WEFT_OCAML_INT = 1,
    WEFT_OCAML_SPAN_BEGIN = 2,
    WEFT_OCAML_SPAN_END = 3,
    WEFT_OCAML_CUSTOM = 4,
};

/* The content of an item's head word. */
struct weft_ocaml_item {
    unsigned words; /* including the head */
    bool user;      /* an event of the program's own */
    unsigned type, id;
};

static inline struct weft_ocaml_item weft_ocaml_item(uint64_t head)
{
    return (struct weft_ocaml_item){.words = (unsigned)(head >> 54),
                                    .user = head >> 53 & 1,
                                    .type = head >> 49 & 15,
                                    .id = head >> 36 & (WEFT_OCAML_NAMES - 1)};
}

static inline uint64_t weft_ocaml_item_head(const struct weft_ocaml_item *i)
{
    return (uint64_t)i->words << 54 | (uint64_t)i->user << 53 | (uint64_t)i->type << 49 |
           (uint64_t)i->id << 36;
}

static inline bool weft_ocaml_is_padding(const struct weft_ocaml_item *i)
{
    return !i->user && i->type == WEFT_OCAML_PADDING && i->id == 0;
}

/* Returns true if an item of this type can have that many words, and they are all there. */
static inline bool weft_ocaml_fits(const struct weft_ocaml_item *i, uint64_t left)
{
    return i->words >= (weft_ocaml_is_padding(i) ? 1u : 2u) && i->words <= left;
}
