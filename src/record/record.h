/* SPDX-License-Identifier: ISC */
/* The recorder's inside.
 *
 * One recording at a time. Its trace (facts, strings, pending promises, a pool of packets for events) lies
 * in memory that is a mapped file or the caller's; what only the process needs lies beside it, in private
 * pages. After weft_start nothing here allocates, locks or calls the system, but for the clock where that
 * has no other way, when a thread records for the first time or ends, and for a barrier before packets are
 * overwritten where there are several threads.
 *
 * The core, which needs no operating system (host.h says what it does need):
 *   calls.c    the calls of weft.h: events into packets
 *   pool.c     packets: claimed, closed, retired, left to others
 *   pending.c  what a packet says of promises that are still pending when it is overwritten
 *   cells.c    where that is kept
 *   roll.c     … for which there is no room there: number and sort
 *   text.c     texts and sites: each kept once
 *   layout.c   where things lie in a trace
 * Around it:
 *   start.c    weft_start, weft_stop, the file, the environment
 *   control.c  the same, asked for by another process
 *   follow.c   the children of a fork
 *   thread.c   what each OS thread has: a slot, taken at its first event
 *   clock.c    ticks
 *   freestanding.c  instead of these four, where there is no operating system */
#ifndef WEFT_RECORD_RECORD_H
#define WEFT_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/packet.h"
#include "record/host.h"

#pragma GCC visibility push(hidden)

enum { STOCK_MAX = 16 };

/* Something said of a promise that is much older than the packet. */
struct old_event {
    uint64_t id, other;
    uint16_t at; /* in its packet, in words; with the texts before it */
    uint8_t kind;
};

/* A stream: what one OS thread writes, or its signal handlers while it writes. */
struct writer {
    struct weft_events_header *packet; /* that it is writing to, or NULL */
    unsigned char *at, *end;
    uint64_t base;                /* the packet's: its first number for a promise */
    uint64_t next_id, ids_end;    /* numbers for promises created in it */
    uint64_t low, high;           /* of such promises the notes need not be told */
    struct old_event *old;        /* listed last in this packet, or NULL */
    uint64_t running;             /* as who reads the stream knows it */
    uint64_t ticks;               /* of this turn of the loop, where it is read once a turn */
    uint64_t events_base;         /* of the stream: events_base + packet_events were recorded */
    uint64_t discarded;           /* of the stream */
    uint32_t packet_events;       /* in the packet */
    uint32_t stream;              /* plus 1; 0: it has none yet */
    uint32_t generation;          /* recording that all of this belongs to */
    uint32_t stocked;             /* packets in stock: retired, to be begun next */
    uint32_t stock[STOCK_MAX];    /* their numbers */
    uint64_t spare_id, spare_end; /* numbers without a packet */
#if __STDC_HOSTED__
    uint64_t woken;        /* ticks at which this turn of the loop began; 0: nothing runs */
    uint64_t ran;          /* ticks, in turns since the thread's times were read */
    struct core_time core; /* … which were these */
#endif
};

struct thread {
    uint32_t busy; /* writers in use: 1 while an event is recorded, 2 in a handler meanwhile */
    uint32_t in_use;
    uint64_t running;   /* promise */
    uint64_t hazard[2]; /* of each writer: home, plus 1, of the promise resolved last; see pool.c */
    struct writer writer[2];
    uint32_t next_free; /* plus 1; while the slot is free */
    uint32_t tid;
    char name[16];
};

enum notes_state {
    CLEAN,   /* retired; nobody can store a byte in it */
    OPEN,    /* somebody writes to it, or it is left to somebody */
    LET_GO,  /* full */
    RETIRED, /* its home is not found any more */
};

enum { OLD_MAX = 32 };

/* A place in a packet from which it can be read on: before an event. */
struct mark {
    uint64_t running; /* as who reads the stream knows it */
    uint32_t created; /* promises, so far */
    uint32_t
        low; /* from here to the next mark something is said of this promise of the packet, or later ones */
    uint32_t stream;
    uint32_t at;
};

enum { MARKS_MAX = 16 };

/* What the one who retires a packet wants to know of it. Its writer's until it is let go. */
struct notes {
    uint64_t home;      /* NO_HOME: none */
    uint64_t low, high; /* numbers of the promises that something is said of, but the old ones */
    uint32_t created;   /* promises */
    uint32_t ended;     /* all before this one are resolved */
    uint32_t pending;   /* promises, when it was retired */
    uint8_t state;      /* enum notes_state */
    uint8_t olds;       /* OLD_MAX + 1: there are more */
    uint8_t marks;
    bool held;  /* it could not be retired at once: some of its promises may be on the roll */
    bool links; /* it says of promises of other packets what they became */
    struct mark mark[MARKS_MAX];
    struct old_event old[OLD_MAX];
};

#define NO_HOME UINT64_MAX /* of a packet; 0 in the directory */
enum { HOME_BITS = 24 };

struct recorder {
    /* Of the path of an event; not changed after the start. */
    uint32_t recording; /* its generation, or NO_RECORDING */
    uint32_t id_bits;   /* a packet has 1 << id_bits numbers */
    bool quick_clock;   /* the processor's counter, read for each event */
    bool turn_clock;    /* time is read once per turn of the loop */
    uint64_t
        core_ticks; /* the scheduler is asked after turns that took so long together; UINT64_MAX: never */
    struct clock_source clock;
    /* The directory: (home + 1) << HOME_BITS | packet, at home & homes_mask; or 0. */
    uint64_t *homes;
    uint64_t homes_mask;
    unsigned char *pool;
    uint32_t packet_bits; /* a packet has 1 << packet_bits bytes */
    uint32_t packet_bytes;
    uint32_t fenced; /* the system has no membarrier: who resolves makes a fence */
    uint32_t tracks; /* pending promises by packets; not so with a program's own numbers */

    uint32_t generation; /* counts recordings, from 1 */
    uint32_t open;       /* there is one, perhaps paused */
    bool stuck;          /* the last one ended with a thread in the middle of an event */
    struct weft_facts_header *facts;
    struct weft_strings_header *strings;
    struct weft_pending_header *pending;
    struct weft_roll_header *roll;
    uint64_t packets;

    unsigned char *map; /* all of the trace, if it is ours to unmap */
    uint64_t map_bytes;

    void *private; /* the rest, in pages of our own */
    uint64_t private_bytes;
    struct notes *notes; /* of each packet */
    uint64_t *queue;     /* of packets that were let go; see pool.c */
    uint64_t queue_mask;
    uint32_t *next;  /* a packet's neighbour in one of the stacks */
    uint64_t *texts; /* hash table: hash in the high half, number in the low one; 0: free */
    uint64_t texts_mask;
    uint16_t
        *kept_by_home; /* how many cells there are of promises with such a home, by its low bits */
    uint64_t kept_mask;
    uint16_t *cell_tags; /* of each cell: see cells.c */

    /* What threads change, on lines of its own. */
    _Alignas(64) uint64_t queue_head;
    uint64_t queue_tail; /* taken, put: counts */
    uint64_t sequence;   /* of the packet claimed last */
    uint64_t moves;      /* of pending promises from the roll to a cell, and back */
    /* Stacks: a packet's number plus 1, and a tag. */
    uint64_t left;  /* by ended threads to new ones, with room */
    uint64_t clean; /* retired, and in nobody's stock */
};

extern struct recorder weft_record_rec;

/* The present recording, or NO_RECORDING. */
static inline uint32_t recording(void)
{
    return __atomic_load_n(&weft_record_rec.recording,
                           __ATOMIC_ACQUIRE); /* with (G): all is set up */
}

static inline bool tracks(void)
{
    return __atomic_load_n(&weft_record_rec.tracks, __ATOMIC_RELAXED) != 0;
}

static inline uint64_t home_of(uint64_t id)
{
    return (id - 1) >> weft_record_rec.id_bits;
}

static inline uint64_t index_of(uint64_t id)
{
    return (id - 1) & ((UINT64_C(1) << weft_record_rec.id_bits) - 1);
}

/* The packet in which the promise was created, if it is not retired. False: no such. */
static inline bool find_home(uint64_t id, uint64_t *packet)
{
    const uint64_t home = home_of(id);
    uint64_t place = __atomic_load_n(&weft_record_rec.homes[home & weft_record_rec.homes_mask],
                                     __ATOMIC_ACQUIRE); /* with (K), (L) */
    *packet = place & ((UINT64_C(1) << HOME_BITS) - 1);
    return place >> HOME_BITS == home + 1;
}

/* Where events begin in a packet. */
static inline size_t events_at(void)
{
    return sizeof(struct weft_events_header) + (UINT64_C(1) << weft_record_rec.id_bits);
}

/* The ended bytes of a packet. */
static inline unsigned char *ended_bytes(uint64_t packet)
{
    return weft_record_rec.pool + (packet << weft_record_rec.packet_bits) +
           sizeof(struct weft_events_header);
}

/* thread.c; more of it in host.h */

/* Waits until no thread is recording. False: one still is after a second. */
bool weft_record_threads_quiet(void);

/* Once for the process. forked: called in the child of a fork. */
void weft_record_threads_prepare(void (*forked)(void));

/* This process is the child of a fork: what is done for it where that has not been told. */
void weft_record_threads_forked(void);

/* Before the first recording. */
void weft_record_threads_init(void (*forked)(void));

/* The process ends, or a plug-in with a static copy is unloaded: threads that end later must not call back. Of the
 * two it is not known which, and at an end other threads may still come by: so what they look at is unmapped only, and
 * true returned, if there is no other thread. */
bool weft_record_threads_end(void);

/* layout.c */

/* Where things lie in the memory of a trace. */
struct layout {
    uint64_t bytes, metadata_at, strings_at, strings_bytes, pending_at, roll_at, pool_at,
        packet_bytes, packets;
    uint64_t texts;   /* places of the hash table */
    uint32_t cells;   /* for pending promises */
    uint32_t sorts;   /* of them, on the roll: a power of two */
    uint64_t numbers; /* places on the roll */
};

/* pending: how many of the bytes are for pending promises; 0: a quarter; half of them at most. False: too few
 * bytes, or too many. */
bool weft_record_layout_plan(struct layout *l, uint64_t bytes, uint64_t pending);

/* How much private memory there must be, zeros, at a multiple of 64. */
size_t weft_record_layout_private(const struct layout *l);

/* Writes a trace without events into base, which has the layout's bytes, and sets the recorder up for it; its
 * clock is set. */
void weft_record_layout_write(const struct layout *l, unsigned char *base, unsigned char *private,
                              const uint8_t uuid[16], bool turn_clock);

/* Adds key=value to the facts, if there is room. */
void weft_record_layout_fact(const char *key, const char *value);

/* Adds that the process has forked, for which room is left. */
void weft_record_layout_forked(void);

/* Adds that events were discarded because two others were interrupted; likewise. */
void weft_record_layout_refused(void);

/* The facts say that the recording was switched on again, or off, just now: by one store, so a reader sees it whole. */
void weft_record_layout_switched(bool on);

/* The facts say that the recording has ended. */
void weft_record_layout_stop(void);

/* pool.c */

/* How much private memory a pool of so many packets needs; if at is not NULL, it lies there. */
size_t weft_record_pool_private(struct recorder *r, unsigned char *at, uint64_t packets);

void weft_record_pool_init(void);

/* Gives w a packet with room for size bytes, and a number for a promise. ticks: the time of the event that
 * needs it; id: a promise in it. False: there is no packet. */
bool weft_record_pool_claim(struct thread *t, struct writer *w, size_t size, uint64_t ticks,
                            uint64_t id);

/* Lets the writer's packet go. */
void weft_record_pool_close(struct writer *w);

/* The thread ends: its packet, if it has room, is left to the next new one. */
void weft_record_pool_leave(struct writer *w);

/* The first of as many numbers for promises as a packet has, and the one after them. No packet has these, unless the
 * caller sees to it. */
uint64_t weft_record_pool_numbers(uint64_t *end);

/* No number that is smaller will be handed out any more. */
uint64_t weft_record_pool_next_number(void);

/* pending.c */

/* How many cells so many bytes have room for, with the header; and how many bytes those take. */
uint32_t weft_record_pending_cells(uint64_t bytes);
uint64_t weft_record_pending_bytes(uint32_t cells);

/* Sets up the packet, of which what every packet begins with is written. */
void weft_record_pending_init(struct weft_pending_header *p, uint32_t cells);

/* w says something of a promise whose number is not from low to high, in an event at at. */
void weft_record_pending_note(struct writer *w, unsigned kind, uint64_t id, uint64_t other,
                              const unsigned char *at);

/* The program has numbers of its own from here on: see pending.c. w: of the first one. */
void weft_record_pending_own(const struct writer *w);

/* A promise with such a number is created. */
void weft_record_pending_created(uint64_t id, uint32_t site);

/* w has just said that a promise is resolved whose home is not found; at: where, or NULL: there was no
 * room to say it. */
void weft_record_pending_resolved(struct writer *w, unsigned kind, uint64_t id,
                                  const unsigned char *at);

/* w says of a promise of another packet what it became. */
void weft_record_pending_links(const struct writer *w);

/* w has just said that p, whose home is not found, became q. */
void weft_record_pending_became(const struct writer *w, uint64_t p, uint64_t q, uint64_t ticks);

/* Whether the promise has ended, or has become another: what it waits for is of no interest any more. */
bool weft_record_pending_over(uint64_t id);

/* Whether the promise has ended, and so has what it became: who waits for it is of no interest any more. */
bool weft_record_pending_gone(uint64_t id);

/* The promise's home is there, and the event that says what it became has not been overwritten. */
bool weft_record_pending_unlinked(uint64_t id);

/* Keeps what the packet says of pending promises. hazard: of the thread and writer that ask. Returns how many of its own
 * may be pending, or that another thread has a cell which is needed: to be tried again later. */
#define WEFT_PENDING_HELD UINT32_MAX
uint32_t weft_record_pending_keep(uint64_t packet, uint64_t *hazard);

/* Lets those go that have been resolved since; pending: what weft_record_pending_keep said. */
void weft_record_pending_recheck(uint64_t packet, uint32_t pending);

/* roll.c; more of it in roll.h */

/* Sets the layout's sorts and numbers, for a packet of so many bytes; how many it takes; and sets it up. */
void weft_record_roll_plan(struct layout *l, uint64_t bytes);
uint64_t weft_record_roll_bytes(const struct layout *l);
void weft_record_roll_init(struct weft_roll_header *h, const struct layout *l);

/* text.c */

struct text_ref {
    uint32_t number; /* 0: none; WEFT_STRING_INLINE: text and size go before the event */
    uint32_t size;
    const char *text;
};

/* Finds or adds a text; NULL is none. */
struct text_ref weft_record_text(const char *text);

/* A text that is not looked for. */
struct text_ref weft_record_text_inline(const char *text);

/* A text of a pending promise, for which room is kept. 0: there is none left. */
uint32_t weft_record_text_pending(const char *text, size_t size);

/* Finds or adds a site. WEFT_STRING_INLINE if there is no room. */
uint32_t weft_record_site(const struct weft_site_entry *site);

/* … of a pending promise, of which only the type is known. */
uint32_t weft_record_site_pending(const char *type, size_t size);

#pragma GCC visibility pop

#endif
