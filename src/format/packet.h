/* SPDX-License-Identifier: ISC */
/* The packets of weft's own traces, as described in docs/format.md: little endian, every structure aligned to 8
 * bytes. The recorder fills them in place; the reader copies them out of a file.
 *
 * Terms
 *   cell   what is kept about one pending promise whose packet was overwritten
 *   roll   the list of pending promises that have no cell, by number and sort
 *   sort   all promises created at one site
 *   note   a fact about a promise, kept in its cell */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WEFT_PACKET_MAGIC 0xC1FC1FC1u
#define WEFT_PACKET_SIGNATURE 0x74666577u /* "weft" */
#define WEFT_FORMAT_VERSION 1u

enum weft_packet_class {
    WEFT_PACKET_EVENTS = 1,
    WEFT_PACKET_STRINGS = 2,
    WEFT_PACKET_FACTS = 3,
    WEFT_PACKET_METADATA = 4,
    WEFT_PACKET_PENDING = 5, /* cells */
    WEFT_PACKET_PRIVATE = 6, /* the recorder's own tables, if it has no other memory */
    WEFT_PACKET_SAMPLES = 7, /* from the sampling profiler: format/samples.h */
    WEFT_PACKET_ROLL = 8,    /* the roll */
    WEFT_PACKET_OCAML = 9,   /* what weft record read from a ring of OCaml's runtime */
    WEFT_PACKET_NAMES = 10,  /* of functions that the recorder knew by address: format/names.h */
};

/* Every packet begins with this. */
struct weft_packet_header {
    uint32_t magic;
    uint8_t uuid[16]; /* of the trace; random */
    uint32_t signature;
    uint16_t version;
    uint16_t class;        /* enum weft_packet_class */
    uint32_t header_bytes; /* this header and that of its class */
    uint64_t packet_bits;
    /* With the headers. In packets of events it is stored after each event, with release order. */
    uint64_t content_bits;
};

/* Times are ticks of the trace's clock. A clock pair gives one moment on two clocks. */
struct weft_events_header {
    struct weft_packet_header packet;
    uint64_t begin_ticks;
    uint64_t end_ticks; /* 0: still being written */
    uint32_t stream;    /* numbers threads from 0 */
    uint32_t thread;    /* the system's number of the thread */
    uint64_t sequence;  /* numbers the trace's packets from 1; 0 while the packet changes hands */
    uint64_t events_before;    /* events recorded in this stream before this packet */
    uint64_t discarded_before; /* … and discarded */
    uint64_t running;          /* promise that runs when the packet begins */
    uint64_t base;             /* short promise numbers are relative to it */
    uint64_t pair_ticks;
    uint64_t pair_mono_ns; /* CLOCK_MONOTONIC */
    uint64_t pair_real_ns; /* CLOCK_REALTIME */
    uint32_t pair_error;   /* how many ticks reading the pair took */
    uint32_t events;       /* in this packet; valid once end_ticks is not 0 */
    char thread_name[16];  /* padded with zeros */
    /* The first files of version 1 end here. */
    /* The offset in the packet of the ended bytes: one for each promise from base on; enum weft_ended_byte. */
    uint32_t ended_at;
    uint32_t ended_count; /* number of these bytes; 0: none */
    uint64_t counts;      /* see WEFT_COUNTS_BITS */
};

/* The values of an ended byte; odd if an event says that the promise has ended. */
enum weft_ended_byte {
    WEFT_BYTE_PENDING = 0,
    WEFT_BYTE_ENDED = 1,
    WEFT_BYTE_BECAME =
        3, /* it became another one: waits for it are kept as long as that one is pending */
    WEFT_BYTE_LET_GO = 5, /* … but there was no room to keep what */
    WEFT_BYTE_LINKED =
        7, /* its cell says what it became, if it has one; the event has been overwritten */
};

#define WEFT_EVENTS_HEADER_V1_0 160u /* without ended_at and what follows */

/* counts: the events overwritten so far in this place of the pool << WEFT_COUNTS_BITS | the events in this
 * packet, valid once it is closed. One word holds both, so that the process may be killed at any moment. */
#define WEFT_COUNTS_BITS 20

/* A promise's number is its packet's base plus its index among the promises created in the packet. */
#define WEFT_NUMBERS_SHARE 16u /* a packet of n bytes has n / 16 numbers */

struct weft_strings_header {
    struct weft_packet_header packet;
    uint64_t used_bytes; /* after the header; may exceed the packet once it is full */
    uint64_t lost;       /* texts that did not fit */
};

/* Texts and sites follow, each at a multiple of 4 bytes. Their number is their offset in the packet, divided by
 * 4. The head is stored last; 0 means there is nothing here (yet). */
#define WEFT_STRING_TEXT 1u /* head >> 24; head & 0xffffff is its size; bytes, a NUL, padding */
#define WEFT_STRING_SITE 2u /* then struct weft_site_entry */
#define WEFT_STRING_INLINE UINT32_MAX /* the text that precedes the event */
#define WEFT_TEXT_LONGEST 8192u /* recorders cut longer texts; readers read no more than this */

struct weft_site_entry {
    uint32_t type, label, file; /* numbers of texts; 0: none */
    uint32_t line;
};

/* Promises that were still pending when the packet with their creation was overwritten. */
struct weft_pending_header {
    struct weft_packet_header packet;
    uint32_t cells, cell_bytes;
    uint64_t ids_at, cells_at; /* offsets in the packet of `cells` numbers and `cells` cells */
    uint64_t given_up;         /* pending promises that lost their cell to another one */
    uint64_t kept;             /* promises that have ever had a cell */
    uint64_t skipped;          /* notes for which there was no room */
    uint64_t longest_pause_ticks, pauses; /* of a thread that needed a new packet */
    uint64_t unsure;       /* 1: there are promises that belong to no packet; see docs/format.md */
    uint64_t first_number; /* smaller ones were handed out before this recording; 0: not known */
};

#define WEFT_PENDING_RESOLVED (UINT64_C(1) << 63) /* in a number: an event says so */
#define WEFT_PENDING_NOTES 4
#define WEFT_NOTE_BITS 24 /* of the sequence in a note's tag; the kind is above */
#define WEFT_NOTE_WAITS_FOR                                                                        \
    128u /* kind of a note that is not an event: the promise waits for the other one */

enum weft_pending_flags {
    WEFT_PENDING_SHOULD_RESOLVE = 1,
    WEFT_PENDING_BACKGROUND = 2,
    WEFT_PENDING_UNBORN = 4,  /* the packet with its creation has not been overwritten yet */
    WEFT_PENDING_UNDATED = 8, /* of its creation only the site is known */
};

struct weft_pending_cell {
    uint32_t version;       /* odd while it is written to */
    uint32_t stream;        /* of the creation */
    uint64_t created_ticks; /* if the creation is undated: of a later event about the promise */
    uint64_t creator;
    uint32_t site, text;
    uint32_t packet; /* low half of the sequence of the packet with its creation */
    uint8_t flags;   /* enum weft_pending_flags */
    uint8_t dropped; /* waits for it that found no room, at most 255 */
    uint16_t reserved;
    /* Notes: events about the promise. A tag is the kind << WEFT_NOTE_BITS | the sequence of its packet; 0: no
     * note. */
    uint64_t note_ticks[WEFT_PENDING_NOTES];
    uint64_t note_other[WEFT_PENDING_NOTES]; /* the other promise, or the number of the text */
    uint32_t note_tag[WEFT_PENDING_NOTES];
};

/* The roll. A sort is all promises created at one site. */
struct weft_roll_header {
    struct weft_packet_header packet;
    uint32_t sorts, sort_bytes;
    uint64_t numbers;              /* number of places for numbers */
    uint64_t sorts_at, numbers_at; /* offsets in the packet */
};

struct weft_roll_sort {
    uint32_t site;     /* 0: none; the first sort is for all promises that have no other */
    uint32_t cells;    /* promises of this sort with cells, about; for the recorder */
    uint64_t unlisted; /* promises of this sort for whose number there was no place either */
    /* The first files with a roll end here. */
    /* Facts about promises of this sort that are kept nowhere: waits, marks, notifications. */
    uint64_t left_out;
};

#define WEFT_ROLL_SORT_V1_1 16u /* without left_out */

/* A place on the roll: a promise's number << WEFT_ROLL_SORT_BITS | the index of its sort; 0: free. */
#define WEFT_ROLL_SORT_BITS 12
#define WEFT_ROLL_SORTS_MAX (1u << WEFT_ROLL_SORT_BITS)

/* Items of a ring of OCaml's runtime (format/ocaml.h) follow. Counts of words include all words the ring has
 * ever had. */
struct weft_ocaml_header {
    struct weft_packet_header packet;
    uint64_t sequence; /* numbers the trace's packets from 1; 0 while the packet changes hands */
    uint32_t ring;     /* the domain's number */
    uint32_t reserved;
    uint64_t from,
        to;        /* the items come from these words; those that weft does not use are left out */
    uint64_t lost; /* words before `from` that the runtime overwrote before they were read */
    uint64_t pair_mono_ns; /* CLOCK_MONOTONIC */
    uint64_t pair_real_ns; /* CLOCK_REALTIME */
};

#define WEFT_OCAML_PACKET_MAX (UINT32_C(1) << 20) /* a larger one is damaged */

enum weft_trace_state {
    WEFT_TRACE_RECORDING = 1, /* or its process was killed */
    WEFT_TRACE_STOPPED = 2,
    WEFT_TRACE_SAVED = 3,  /* a copy of a trace that was recording */
    WEFT_TRACE_KILLED = 4, /* … and whose program or machine had died by then */
};

enum weft_clock_kind {
    WEFT_CLOCK_TSC = 1,
    WEFT_CLOCK_ARM64 = 2,
    WEFT_CLOCK_MONOTONIC = 3, /* nanoseconds */
    WEFT_CLOCK_CALLER = 4,    /* relates to the pairs' clocks only as the pairs say */
};

/* The first packet of the file, and the only one that all threads write to. */
struct weft_facts_header {
    struct weft_packet_header packet;
    uint32_t state; /* enum weft_trace_state */
    uint32_t pid;
    uint32_t clock; /* enum weft_clock_kind */
    uint32_t event_packet_bytes;
    uint64_t hz; /* nominal ticks per second */
    uint64_t events_at, event_packets;
    uint64_t strings_at;
    uint64_t start_ticks, start_mono_ns, start_real_ns;
    uint64_t stop_ticks, stop_mono_ns; /* 0 until it stops */
    uint64_t overwritten_events, overwritten_packets;
    uint64_t discarded_events;
    uint64_t lost_texts; /* texts cut, or left out because there was no room */
    uint64_t streams;
    uint8_t boot_id[16];
    uint64_t process_start; /* field 22 of /proc/PID/stat: shows that a process id was reused */
    /* Followed by weft_facts_pause if header_bytes says so; then by texts "key=value", each with its NUL:
     * program, arg (repeated), host, version, end. */
};

/* When the recording was last switched off and on again while it was open; 0: never. It is off if paused >
 * resumed. */
struct weft_facts_pause {
    uint64_t paused_ticks, resumed_ticks;
};

#define WEFT_FACTS_END 32u /* bytes left free for the fact "end", which weft record adds */

_Static_assert(sizeof(struct weft_packet_header) == 48, "docs/format.md");
_Static_assert(offsetof(struct weft_packet_header, packet_bits) == 32, "docs/format.md");
_Static_assert(sizeof(struct weft_events_header) == 176, "docs/format.md");
_Static_assert(sizeof(struct weft_pending_header) == 128, "docs/format.md");
_Static_assert(sizeof(struct weft_pending_cell) == 120, "docs/format.md");
_Static_assert(sizeof(struct weft_roll_header) == 80, "docs/format.md");
_Static_assert(sizeof(struct weft_roll_sort) == 24, "docs/format.md");
_Static_assert(sizeof(struct weft_ocaml_header) == 104, "docs/format.md");
_Static_assert(offsetof(struct weft_events_header, thread_name) == 144, "docs/format.md");
_Static_assert(sizeof(struct weft_strings_header) == 64, "docs/format.md");
_Static_assert(sizeof(struct weft_facts_header) == 200, "docs/format.md");
_Static_assert(sizeof(struct weft_facts_pause) == 16, "docs/format.md");

/* The code and sizes of each form; see src/format/events.def. */
enum weft_form {
#define FORM(words, number, NAME, KIND, FIELDS) WEFT_FORM_##NAME = (words)*32 + (number),
#include "format/events.def"
};

#define WEFT_TIME_BITS 56
#define WEFT_SHORT_LOOP INT32_MIN
