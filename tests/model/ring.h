/* SPDX-License-Identifier: ISC */
/* A tiny recorder: a few threads, packets of one or two events, a few cells; and what a reader makes of it.
 *
 *   writer.c   what a thread does, one access to shared memory after the other: src/record
 *   retire.c   … before it overwrites packets
 *   memory.c   shared memory, and the stores that are on their way to it
 *   reader.c   what src/read makes of the file, at once or bit by bit, and what must hold
 *   model.c    which recorders are explored; variants with a fault, which must be found
 *
 * A thread's stores go through a buffer, from which they come to memory later: in their order (x86), or in
 * any order that C11's release stores and fences leave them (arm64, and what a compiler may do). Loads are
 * made in program order; where the order of two loads matters, the sources argue it. The barrier of
 * weft__threads_barrier waits, for each other thread, for a moment at which its buffer is empty.
 *
 * The process may be killed at any moment: so the file is judged in each state, without what is in buffers. */
#ifndef WEFT_TESTS_MODEL_RING_H
#define WEFT_TESTS_MODEL_RING_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;

enum { THREADS = 3, PLACES = 4, EVENTS = 2, PROMISES = 3, CELLS = 3, STORES = 5, DIRECTORY = 8 };

/* Shared memory, a byte for each variable. A place is that of a packet. */
enum {
    SEQUENCE, /* the first ones of a place */
    CONTENT,  /* events covered by content_bits */
    COUNTS,   /* overwritten here << 2 | events of this packet */
    BASE,     /* its home, plus 1; stands for all of the header */
    EVENT,
    ENDED = EVENT + EVENTS,
    PLACE_BYTES = ENDED + EVENTS,

    VERSION = 0, /* of a cell */
    ID,          /* promise plus 1; MARK: resolved */
    FLAGS,       /* UNBORN: the creation is not here */
    PACKET,      /* sequence of the creation's packet */
    NOTE,        /* sequence of the note's packet; 0: none */
    CELL_BYTES,

    HOME_AT = PLACES * PLACE_BYTES, /* the directory: home << 2 | place, plus 1; 0: NO_HOME */
    CELL_AT = HOME_AT + DIRECTORY,
    KEPT_AT = CELL_AT + CELLS * CELL_BYTES, /* kept_by_home */
    BUSY_AT = KEPT_AT + 4,
    HAZARD_AT = BUSY_AT + THREADS,  /* home plus 1 */
    KNOWN_AT = HAZARD_AT + THREADS, /* the program has told other threads of the promise */
    GIVEN_UP = KNOWN_AT + PROMISES,
    MEMORY,

    ALL_ENDED = 0xff, /* as an address, with the place as the value: all ended bytes become 0 */
};

enum { MARK = 0x80, UNBORN = 1 };

#define IN_PLACE(k, what) ((u8)((k)*PLACE_BYTES + (what)))
#define IN_CELL(c, what) ((u8)(CELL_AT + (c)*CELL_BYTES + (what)))

/* An event is a byte: its kind, its promise, and the sequence of its packet, by which one that is there from
 * an earlier time is known. */
enum kind { CREATES, ENDS, NOTES, FILLS };
enum { TAG = 15 };
#define EVENT_OF(kind, p, sequence) ((u8)((kind) << 6 | (p) << 4 | ((sequence)&TAG)))

enum { RELEASE = 1, FENCED = 2 /* behind a fence */ };

struct store {
    u8 at, value, order;
};

struct thread {
    u8 pc, left, kind, p;                /* left: events to come; kind, p: the present one */
    u8 packet, at, made, home, sequence; /* place plus 1; events and promises in it */
    u8 begun;                            /* it has a stream */
    u8 stock[2], stocked;
    /* Getting a packet; walking through an old one. */
    u8 former; /* packet that it has finished, plus 1 */
    u8 got, list[2], listed, current, clean, again;
    u8 event, old, pending, unborn, late;
    u8 q, creation, found, cell, added, drop, back, oldest, tries;
    u8 stores, fresh; /* fresh: since the last access to memory that was not a store */
    struct store store[STORES];
};

/* What the recorder notes of a packet outside of the file: its owner's alone. */
struct notes {
    u8 home, made, state, pending; /* home plus 1 */
};

enum { IS_CLEAN, IS_OPEN, IS_LET_GO, IS_RETIRED };

/* What a reader has seen of the file. */
struct view {
    u8 place[PLACES][PLACE_BYTES];
    u8 cell[CELLS][CELL_BYTES];
    u8 given_up;
};

struct reading {
    u8 phase, k, word;
    u8 lost;           /* places that changed hands */
    u8 created, ended; /* promises, when it began */
    struct view view;
};

struct state {
    _Alignas(8) u8 memory[MEMORY];
    struct thread thread[THREADS];
    u8 queue[PLACES], queued, left[PLACES], lefts, clean[PLACES], cleans;
    struct notes notes[PLACES];
    u8 homes, sequence; /* taken */
    /* The truth. */
    u8 promises, ending,
        noting; /* promises so far; those of which the program has begun to say so */
    u8 home_of[PROMISES], index_of[PROMISES];
    u8 created, ended, noted; /* what has been published */
    u8 published;             /* events */
    u8 skipped;               /* notes were not taken */
    u8 tenant[PLACES];        /* home plus 1, since the ended bytes are 0 */
    u8 bad;                   /* enum fault */
    struct reading reading;
};

enum fault { FINE, STALE_BYTE, FREED_PENDING };

/* Faults that the recorder or its reader could have. */
enum variant {
    NO_VARIANT,
    UNSETTLE_FIRST, /* taken out of the directory before its promises are kept */
    EMPTY_FIRST,    /* sequence 0 before its promises are kept */
    NO_BARRIER,
    NO_HAZARD_CHECK,
    NO_RECHECK,
    SEQUENCE_FIRST, /* published before the header is whole */
    TWO_COUNTS,     /* counted as overwritten and as its own by two stores */
    MARK_FIRST,     /* resolved in the byte or cell before the event is published */
    NO_CHECK_AGAIN, /* after a cell was added for another packet's promise */
    NO_SECOND_FIND, /* … and a byte is believed although the packet may have been retired since */
    COUNT_AGAIN,    /* … it goes if there is no other cell, although the creation may be in it */
    ONE_OF_TWO_CELLS,    /* the reader takes any one of a promise's cells */
    NO_EMPTIED_BYTES,    /* the reader takes no ended bytes of packets that have been emptied */
    GIVEN_UP_LATE,       /* counted after the cell is free */
    NO_SEQUENCE_IN_CELL, /* the reader takes the creation from the cell although its packet is there */
    PLAIN_CONTENT,       /* stores without release: */
    PLAIN_SEQUENCE,
    PLAIN_EMPTY,  /* of sequence 0 */
    PLAIN_HAZARD, /* which has not been found to matter here */
    PLAIN_BYTE,
    NO_FENCE,       /* after sequence 0 */
    NO_SECOND_LOOK, /* … does not compare the sequence after it has read events */
    VARIANTS,
};

struct setup {
    const char *name;
    u8 threads, places, events, promises, cells, batch, stores; /* stores: in a buffer */
    u8 left[THREADS];  /* events that each thread records */
    u8 kinds[THREADS]; /* 1 << kind */
    bool weak;         /* stores come to memory in any order that release leaves */
    bool any_order;    /* packets are claimed in any order */
    bool live; /* with a reader in between; else the file is read after a kill, in each state */
    enum variant variant;
};

/* The one that is explored. */
extern struct setup setup;

/* How often what is interesting has happened. */
enum witness {
    KEPT,
    KEPT_NOTE,
    FILLED_IN,
    SECOND_CELL,
    MARKED,
    PUT_BACK,
    RECHECKED,
    DROPPED_AGAIN,
    EVICTED,
    FREED,
    ADOPTED,
    STOCKED,
    DISCARDED,
    REUSED,
    CHANGED,
    READ,
    WITNESSES
};
extern uint64_t witness[WITNESSES];
extern const char *const witness_name[WITNESSES];

/* memory.c */

static inline bool is(enum variant v)
{
    return setup.variant == v;
}

/* What the thread sees. */
u8 load(const struct state *s, const struct thread *t, u8 at);

/* False: its buffer is full. */
bool store(struct thread *t, u8 at, u8 value, u8 order);

/* Whether its stores are in memory before what it does next: an atomic exchange with that order. */
bool can_exchange(const struct thread *t, bool release);

/* The n-th of the thread's stores comes to memory. False: not yet. */
bool commit(struct state *s, struct thread *t, unsigned n);

/* writer.c */

/* The thread goes on. choice: at the beginning of an event, which; elsewhere 0. */
enum { CHOICES = 8 };
bool writer_step(struct state *s, unsigned t, unsigned choice);
const char *writer_place(u8 pc);
void writer_first(struct state *s);

/* reader.c */

/* The reader goes on. */
bool reader_step(struct state *s);
bool reader_is_through(const struct state *s);

/* What is wrong; NULL: nothing. last: nobody can go on. */
const char *judge(const struct state *s, bool last);

#endif
