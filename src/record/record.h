/* SPDX-License-Identifier: ISC */
/* The internals of the recorder.
 *
 * There is one recording at a time. Its trace (facts, strings, pending promises, roll, a pool of packets for
 * events) is in memory that is a mapped file or belongs to the caller. What only this process needs is in
 * private pages beside it. After weft_start nothing here allocates, locks or makes system calls, with three
 * exceptions: reading the clock where there is no other way, a thread that records for the first time or ends,
 * and a barrier before packets are overwritten if there are several threads.
 *
 * Terms
 *   home    the block of numbers for the promises created in one packet; a promise's home follows from its number
 *   cell    what is kept about one pending promise whose packet was overwritten
 *   roll    the list of pending promises that have no cell
 *   sort    all promises created at one site
 *   hazard  the home of the promise that a thread is just resolving (pool.c)
 *   stock   packets that a thread has made reusable and will use next
 *
 * The core, which needs no operating system (host.h says what it does need):
 *   calls.c    the calls of weft.h: they write events into packets
 *   pool.c     packets: claimed, closed, retired, left to other threads
 *   pending.c  what must be kept of a packet before it is overwritten, because promises are still pending
 *   cells.c    where that is kept
 *   roll.c     the number and sort of pending promises that have no cell
 *   text.c     texts and sites: each is stored once
 *   layout.c   the layout of a trace
 * Around it:
 *   start.c    weft_start, weft_stop, the file, the environment
 *   control.c  starting and stopping on behalf of another process
 *   follow.c   the children of a fork
 *   thread.c   what each OS thread has: a slot, taken at its first event
 *   clock.c    ticks
 *   freestanding.c  replaces these where there is no operating system */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/packet.h"
#include "record/host.h"

#pragma GCC visibility push(hidden)

enum { STOCK_MAX = 16 };

/* An event about a promise that is much older than the packet. */
struct old_event {
    uint64_t id, other;
    uint16_t at; /* offset in its packet, in words, of the event or the texts before it */
    uint8_t kind;
};

/* A writer produces one stream: the events of one OS thread, or of the signal handlers that interrupt it while
 * it writes. */
struct writer {
    struct weft_events_header *packet; /* that it is writing to, or NULL */
    unsigned char *at, *end;
    uint64_t base;                /* the packet's first number for a promise */
    uint64_t next_id, ids_end;    /* free numbers for promises created in it */
    uint64_t low, high;           /* promises in this range need no entry in the notes */
    struct old_event *old;        /* the last one listed in this packet, or NULL */
    uint64_t running;             /* promise, as a reader of the stream knows it */
    uint64_t ticks;               /* of this turn of the loop, if the clock is read once a turn */
    uint64_t events_base;         /* of the stream: it has recorded events_base + packet_events */
    uint64_t discarded;           /* of the stream */
    uint32_t packet_events;       /* in this packet */
    uint32_t stream;              /* its number plus 1; 0: it has none yet */
    uint32_t generation;          /* of the recording that all of this belongs to */
    uint32_t stocked;             /* packets in stock */
    uint32_t stock[STOCK_MAX];    /* their numbers */
    uint64_t spare_id, spare_end; /* numbers that belong to no packet */
#if __STDC_HOSTED__
    uint64_t woken;        /* ticks at which this turn of the loop began; 0: nothing runs */
    uint64_t ran;          /* ticks that turns took since core was read */
    struct core_time core; /* the thread's scheduler times, when last read */
#endif
};

struct thread {
    /* Writers in use: 1 while an event is recorded, 2 in a handler that interrupts it. */
    uint32_t busy;
    uint32_t in_use;
    uint64_t running; /* promise */
    /* For each writer: the home plus 1 of the promise it resolved last; see pool.c. */
    uint64_t hazard[2];
    struct writer writer[2];
    uint32_t next_free; /* its number plus 1; while the slot is free */
    uint32_t tid;
    char name[16];
};

enum notes_state {
    CLEAN,   /* retired; nobody can store a byte in it */
    OPEN,    /* a thread writes to it, or it was left to the next new thread */
    LET_GO,  /* full */
    RETIRED, /* its home is removed from the directory */
};

enum { OLD_MAX = 32 };

/* A place in a packet, before an event, from which a reader can start. */
struct mark {
    uint64_t running; /* as a reader of the stream knows it */
    uint32_t created; /* promises created before this place */
    /* Between this mark and the next, the packet mentions this one of its promises and later ones, none before. */
    uint32_t low;
    uint32_t stream;
    uint32_t at;
};

enum { MARKS_MAX = 16 };

/* What is needed to retire a packet. Only the packet's writer changes it until the packet is released. */
struct notes {
    uint64_t home;      /* NO_HOME: none */
    uint64_t low, high; /* numbers of the promises it mentions, except the old ones */
    uint32_t created;   /* promises */
    uint32_t ended;     /* all promises before this index are resolved */
    uint32_t pending;   /* promises, when it was retired */
    uint8_t state;      /* enum notes_state */
    uint8_t olds;       /* OLD_MAX + 1: there are more */
    uint8_t marks;
    bool held;  /* it could not be retired at once: some of its promises may be on the roll */
    bool links; /* it says what promises of other packets became */
    struct mark mark[MARKS_MAX];
    struct old_event old[OLD_MAX];
};

#define NO_HOME UINT64_MAX /* a packet without one; in the directory, that is 0 */
enum { HOME_BITS = 24 };

struct recorder {
    /* Read on the path of an event; not changed after the start. */
    uint32_t recording; /* its generation, or NO_RECORDING */
    uint32_t id_bits;   /* a packet has 1 << id_bits numbers */
    bool quick_clock;   /* the processor's counter is read for each event */
    bool turn_clock;    /* the clock is read once per turn of the loop */
    /* The scheduler is asked when turns have taken this many ticks together; UINT64_MAX: never. */
    uint64_t core_ticks;
    struct clock_source clock;
    /* The directory: (home + 1) << HOME_BITS | packet, at home & homes_mask; or 0. */
    uint64_t *homes;
    uint64_t homes_mask;
    unsigned char *pool;
    uint32_t packet_bits; /* a packet has 1 << packet_bits bytes */
    uint32_t packet_bytes;
    uint32_t fenced; /* there is no membarrier: whoever resolves makes a fence */
    /* Pending promises are tracked by packets. This is not so if the program uses its own numbers. */
    uint32_t tracks;

    uint32_t generation; /* counts recordings, from 1 */
    uint32_t open;       /* there is a recording, perhaps paused */
    bool stuck;          /* the last recording ended with a thread in the middle of an event */
    struct weft_facts_header *facts;
    struct weft_strings_header *strings;
    struct weft_pending_header *pending;
    struct weft_roll_header *roll;
    uint64_t packets;

    unsigned char *map; /* the whole trace, if we must unmap it */
    uint64_t map_bytes;

    void *private; /* the rest, in private pages */
    uint64_t private_bytes;
    struct notes *notes; /* of each packet */
    uint64_t *queue;     /* of released packets; see pool.c */
    uint64_t queue_mask;
    uint32_t *next;  /* the packet below this one in a stack */
    uint64_t *texts; /* hash table: hash in the high half, number in the low one; 0: free */
    uint64_t texts_mask;
    /* How many cells there are for each home, by the low bits of the home. */
    uint16_t *kept_by_home;
    uint64_t kept_mask;
    uint16_t *cell_tags; /* of each cell: see cells.c */

    /* Changed by threads, so on cache lines of their own. */
    _Alignas(64) uint64_t queue_head;
    uint64_t queue_tail; /* counts of packets taken and put */
    uint64_t sequence;   /* of the packet claimed last */
    uint64_t moves;      /* counts moves of pending promises between the roll and cells */
    /* Stacks: a packet's number plus 1, and a tag. */
    uint64_t left;  /* packets with room that ended threads have left */
    uint64_t clean; /* retired packets that are in no thread's stock */
};

extern struct recorder weft_record_rec;

/* The generation of the current recording, or NO_RECORDING. */
static inline uint32_t recording(void)
{
    return __atomic_load_n(&weft_record_rec.recording,
                           __ATOMIC_ACQUIRE); /* with (G): everything is set up */
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

/* Finds the packet in which the promise was created. Returns false if that packet has been retired. */
static inline bool find_home(uint64_t id, uint64_t *packet)
{
    const uint64_t home = home_of(id);
    uint64_t place = __atomic_load_n(&weft_record_rec.homes[home & weft_record_rec.homes_mask],
                                     __ATOMIC_ACQUIRE); /* with (L) */
    *packet = place & ((UINT64_C(1) << HOME_BITS) - 1);
    return place >> HOME_BITS == home + 1;
}

/* The offset of the first event in a packet. */
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

/* In thread.c; more of it in host.h */

/* Waits until no thread is recording. Returns false if one still is after a second. */
bool weft_record_threads_quiet(void);

/* Call it once in the process. forked: called in the child of a fork. */
void weft_record_threads_prepare(void (*forked)(void));

/* Called in the child of a fork if the fork handlers did not run: does their work. */
void weft_record_threads_forked(void);

/* Call it before the first recording. */
void weft_record_threads_init(void (*forked)(void));

/* Call it when the process ends, or when a plug-in with a static copy of the library is unloaded: threads that
 * end later must not call back into it. It is not known which of the two happens, and while a process ends,
 * other threads may still make calls. So what they read is unmapped, and true returned, only if there is no
 * other thread. */
bool weft_record_threads_end(void);

/* In layout.c */

/* The layout of a trace in memory. */
struct layout {
    uint64_t bytes, metadata_at, strings_at, strings_bytes, pending_at, roll_at, pool_at,
        packet_bytes, packets;
    uint64_t texts;   /* entries of the hash table */
    uint32_t cells;   /* for pending promises */
    uint32_t sorts;   /* on the roll: a power of two */
    uint64_t numbers; /* places on the roll */
};

/* Plans the layout. pending: how many of the bytes are for pending promises; 0: a quarter; at most half.
 * Returns false if bytes is too small or too large. */
bool weft_record_layout_plan(struct layout *l, uint64_t bytes, uint64_t pending);

/* The size of the private memory, which must be zeroed and aligned to 64 bytes. */
size_t weft_record_layout_private(const struct layout *l);

/* Writes a trace without events into base, which has the layout's size, and sets up the recorder for it. The
 * recorder's clock must be set. */
void weft_record_layout_write(const struct layout *l, unsigned char *base, unsigned char *private,
                              const uint8_t uuid[16], bool turn_clock);

/* Begins a packet: a header, and zeros up to its end. Returns at. */
void *weft_record_layout_packet(void *at, uint64_t bytes, const uint8_t uuid[16],
                                enum weft_packet_class class, size_t header_bytes);

/* Adds key=value to the facts, if there is room. */
void weft_record_layout_fact(const char *key, const char *value);

/* Adds key=yes: "forked", that the process has forked; or "refused", that events were discarded because they
 * interrupted two others. Room for both is reserved. */
void weft_record_layout_yes(const char *key);

/* Stores in the facts that the recording was just switched on or off. It is a single store, so a reader sees
 * all of it. */
void weft_record_layout_switched(bool on);

/* Stores in the facts that the recording has ended. */
void weft_record_layout_stop(void);

/* In pool.c */

/* Returns how much private memory a pool of that many packets needs. If at is not NULL, sets the pool up
 * there. */
size_t weft_record_pool_private(struct recorder *r, unsigned char *at, uint64_t packets);

void weft_record_pool_init(void);

/* Gives w a packet with room for size bytes and a free number for a promise. ticks: the time of the event that
 * needs it; id: a promise in that event. Returns false if there is no packet. */
bool weft_record_pool_claim(struct thread *t, struct writer *w, size_t size, uint64_t ticks,
                            uint64_t id);

/* Closes the writer's packet and releases it. */
void weft_record_pool_close(struct writer *w);

/* The thread ends: if its packet has room, the next new thread continues in it. */
void weft_record_pool_leave(struct writer *w);

/* Returns the first of a block of promise numbers, as many as a packet has; *end is the one after the last.
 * They belong to no packet unless the caller gives them to one. */
uint64_t weft_record_pool_numbers(uint64_t *end);

/* All smaller numbers have been handed out. */
uint64_t weft_record_pool_next_number(void);

/* In pending.c */

/* How many cells fit into that many bytes, with the header; and how many bytes that many cells take. */
uint32_t weft_record_pending_cells(uint64_t bytes);
uint64_t weft_record_pending_bytes(uint32_t cells);

/* Sets up the packet of pending promises, whose common header is already written. */
void weft_record_pending_init(struct weft_pending_header *p, uint32_t cells);

/* Called when w mentions a promise outside low … high, in the event at at. */
void weft_record_pending_note(struct writer *w, unsigned kind, uint64_t id, uint64_t other,
                              const unsigned char *at);

/* The program uses its own numbers from now on: see pending.c. w: the writer of the first one. */
void weft_record_pending_own(const struct writer *w);

/* A promise with an own number was created. */
void weft_record_pending_created(uint64_t id, uint32_t site);

/* Called after w has written that a promise is resolved whose home is not in the directory. at: the event, or
 * NULL if there was no room for it. */
void weft_record_pending_resolved(struct writer *w, unsigned kind, uint64_t id,
                                  const unsigned char *at);

/* w says what a promise of another packet became. */
void weft_record_pending_links(const struct writer *w);

/* Called after w has written that p, whose home is not in the directory, became q. */
void weft_record_pending_became(const struct writer *w, uint64_t p, uint64_t q, uint64_t ticks);

/* Returns true if the promise has ended or become another: what it waits for no longer matters. */
bool weft_record_pending_over(uint64_t id);

/* Returns true if the promise has ended, together with what it became: who waits for it no longer matters. */
bool weft_record_pending_gone(uint64_t id);

/* Returns true if the promise's home is in the directory and the event that says what it became is not
 * overwritten. */
bool weft_record_pending_unlinked(uint64_t id);

/* Keeps what the packet says about pending promises. hazard: that of the calling thread and writer. Returns how
 * many promises of the packet may be pending; or WEFT_PENDING_HELD if another thread holds a cell that is
 * needed: then try again later. */
#define WEFT_PENDING_HELD UINT32_MAX
uint32_t weft_record_pending_keep(uint64_t packet, uint64_t *hazard);

/* Drops the promises that have been resolved since. pending: what weft_record_pending_keep returned. */
void weft_record_pending_recheck(uint64_t packet, uint32_t pending);

/* In roll.c; more of it in roll.h */

/* Three steps: plan the numbers of sorts and of places for a roll of that many bytes; its size; set it up. */
void weft_record_roll_plan(struct layout *l, uint64_t bytes);
uint64_t weft_record_roll_bytes(const struct layout *l);
void weft_record_roll_init(struct weft_roll_header *h, const struct layout *l);

/* In text.c */

struct text_ref {
    uint32_t number; /* 0: none; WEFT_STRING_INLINE: text and size precede the event */
    uint32_t size;
    const char *text;
};

/* Finds or adds a text. NULL gives no text. */
struct text_ref weft_record_text(const char *text);

/* A text that is not looked up. */
struct text_ref weft_record_text_inline(const char *text);

/* Adds a text of a pending promise, for which room is reserved. Returns 0 if no room is left. */
uint32_t weft_record_text_pending(const char *text, size_t size);

/* Finds or adds a site. Returns WEFT_STRING_INLINE if there is no room. */
uint32_t weft_record_site(const struct weft_site_entry *site);

/* Adds the site of a pending promise of which only the type is known. */
uint32_t weft_record_site_pending(const char *type, size_t size);

#pragma GCC visibility pop
