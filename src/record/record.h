/* SPDX-License-Identifier: ISC */
/* The recorder's inside.
 *
 * One recording at a time. Its trace (facts, strings, a pool of packets for events) lies in memory that is
 * a mapped file or the caller's; what only the process needs lies beside it, in private pages. After
 * weft_start nothing here allocates, locks or calls the system, but for the clock where that has no other
 * way, and when a thread records for the first time or ends.
 *
 *   start.c   weft_start, weft_stop, the file, the environment
 *   thread.c  what each OS thread has: a slot, taken at its first event
 *   pool.c    packets: claimed, closed, left to others
 *   text.c    texts and sites: each kept once
 *   calls.c   the calls of weft.h: events into packets
 *   clock.c   ticks */
#ifndef WEFT_RECORD_RECORD_H
#define WEFT_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/packet.h"
#include "record/clock.h"

/* A stream: what one OS thread writes, or its signal handlers while it writes. */
struct writer {
    struct weft_events_header *packet; /* that it is writing to, or NULL */
    unsigned char *at, *end;
    uint64_t base;              /* the packet's */
    uint64_t running;           /* as who reads the stream knows it */
    uint64_t events, discarded; /* of the stream */
    uint64_t next_id, ids_end;  /* numbers for new promises */
    uint32_t packet_events;
    uint32_t stream;     /* plus 1; 0: it has none yet */
    uint32_t generation; /* recording that all of this belongs to */
};

struct thread {
    uint32_t busy; /* writers in use: 1 while an event is recorded, 2 in a handler meanwhile */
    uint32_t in_use;
    uint32_t next_free; /* plus 1; while the slot is free */
    uint32_t tid;
    char name[16];
    uint64_t running; /* promise */
    struct writer writer[2];
};

struct recorder {
    uint32_t generation; /* counts recordings */
    uint32_t open;       /* there is one, perhaps paused */
    bool stuck;          /* the last one ended with a thread in the middle of an event */
    struct clock_source clock;
    struct weft_facts_header *facts;
    struct weft_strings_header *strings;
    unsigned char *pool;
    uint32_t packet_bytes;
    uint64_t packets;

    unsigned char *map; /* all of the trace, if it is ours to unmap */
    uint64_t map_bytes;

    void *private; /* the rest, in pages of our own */
    uint64_t private_bytes;
    uint64_t *queue; /* of packets that were let go; see pool.c */
    uint64_t queue_mask;
    uint64_t queue_head, queue_tail; /* taken, put: counts */
    uint64_t sequence;               /* of the packet claimed last */
    uint64_t left; /* packets that ended threads left to new ones: number plus 1, and a tag */
    uint32_t *left_next;
    uint64_t *texts; /* hash table: hash in the high half, number in the low one; 0: free */
    uint64_t texts_mask;
};

extern struct recorder weft__rec;

/* thread.c */

/* The calling thread's slot; taken if it has none. NULL: there is no more. */
struct thread *weft__thread(void);

/* Waits until no thread is recording. False: one still is after a second. */
bool weft__threads_quiet(void);

/* Once for the process. forked: called in the child of a fork. */
void weft__threads_init(void (*forked)(void));

/* Makes the slot's writer one of the present recording. */
void weft__thread_renew(struct thread *t, struct writer *w);

/* pool.c */

void weft__pool_init(void);

/* Gives w a packet with room for size bytes. ticks: the time of the event that needs it; id: a promise in
 * it. False: there is no packet. */
bool weft__pool_claim(struct thread *t, struct writer *w, size_t size, uint64_t ticks, uint64_t id);

/* The packet is full: w lets it go. */
void weft__pool_close(struct writer *w);

/* The thread ends: its packet, if it has room, is left to the next new one. */
void weft__pool_leave(struct writer *w);

/* text.c */

struct text_ref {
    uint32_t number; /* 0: none; WEFT_STRING_INLINE: text and size go before the event */
    uint32_t size;
    const char *text;
};

/* Finds or adds a text; NULL is none. */
struct text_ref weft__text(const char *text);

/* A text that is not looked for. */
struct text_ref weft__text_inline(const char *text);

/* Finds or adds a site. WEFT_STRING_INLINE if there is no room. */
uint32_t weft__site(const struct weft_site_entry *site);

#endif
