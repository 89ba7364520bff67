/* SPDX-License-Identifier: ISC */
/* Turns what a program in OCaml that uses Eio reports through OCaml's runtime events into weft's
 * events. The same facts are in the runtime's ring files (rings.c) and in eio-trace's recordings
 * (fxt.c). The recordings have less: no promises, semaphores or mutexes, so there a fiber waits for
 * an operation.
 * A fiber becomes a promise that runs. So does a cancellation context, which its fiber ends. A
 * suspension whose object is known becomes a wait for that object. Any other suspension becomes a
 * wait for a new promise, with the operation as its label.
 * Source: Eio's lib_eio/runtime_events and OCaml's runtime/runtime_events.c. */
#pragma once

#include <stdint.h>

#include "format/events.h"

/* X(NAME, "Eio's name"): the user events in a ring. */
#define WEFT_EIO_EVENTS(X)                                                                         \
    X(CREATE_OBJ, "eio.create_obj")     /* id; kind */                                             \
    X(CREATE_CC, "eio.create_cc")       /* id; kind */                                             \
    X(CREATE_FIBER, "eio.create_fiber") /* id; other: its context */                               \
    X(GET, "eio.get")                   /* id */                                                   \
    X(TRY_GET, "eio.try_get")           /* id */                                                   \
    X(PUT, "eio.put")                   /* id */                                                   \
    X(EXIT_CC, "eio.exit_cc")                                                                      \
    X(EXIT_FIBER, "eio.exit_fiber") /* id */                                                       \
    X(ERROR, "eio.error")           /* id; text */                                                 \
    X(NAME, "eio.name")             /* id; text */                                                 \
    X(LOG, "eio.log")               /* text */                                                     \
    X(ENTER_SPAN, "eio.enter_span") /* text */                                                     \
    X(EXIT_SPAN, "eio.exit_span")                                                                  \
    X(FIBER, "eio.fiber")                 /* id: it runs from now on */                            \
    X(SUSPEND_FIBER, "eio.suspend_fiber") /* text: the operation */                                \
    X(SUSPEND_DOMAIN, "eio.suspend_domain")                                                        \
    X(DOMAIN_SPAWN, "eio.domain_spawn") /* id: the fiber that started it */

enum read_eio_event {
#define X(NAME, name) READ_EIO_##NAME,
    WEFT_EIO_EVENTS(X)
#undef X
        READ_EIO_RESUME_DOMAIN, /* the end of SUSPEND_DOMAIN */
    READ_EIO_GC_BEGIN,          /* begin of a phase */
    READ_EIO_GC_END,
    READ_EIO_RING_START, /* a domain begins to write, perhaps not the one that wrote before */
    READ_EIO_LOST,       /* events are missing before the next one */
    READ_EIO_COUNTER,    /* id: its value; text: its name */
    READ_EIO_EVENTS,     /* how many there are; as an event: one that means nothing here */
};

/* Kinds in create_obj and create_cc. */
enum {
    READ_EIO_SWITCH = 3,
    READ_EIO_PROTECT,
    READ_EIO_SUB,
    READ_EIO_ROOT,
    READ_EIO_ANY,
    READ_EIO_PROMISE = 15,
    READ_EIO_SEMAPHORE,
    READ_EIO_STREAM = 18,
    READ_EIO_MUTEX,
};

struct read_eio_item {
    uint64_t time_ns;
    uint64_t id, other;
    const char *text; /* valid until the next call; NULL: none */
    uint32_t text_size;
    uint32_t ring;
    uint8_t event; /* enum read_eio_event */
    uint8_t kind;
};

struct read_eio;

/* rings: how many there are. The caller owns the result. NULL: no memory. */
struct read_eio *read_eio_new(uint32_t rings);
void read_eio_free(struct read_eio *e);

/* The kind with that name; 0: there is none. */
uint8_t read_eio_kind(const char *name, uint32_t size);

/* The name of the ring with that number. */
struct weft_stream_facts;
void read_eio_name_stream(struct weft_stream_facts *f, uint32_t number);

/* An item becomes at most this many events. */
#define READ_EIO_MOST 10u

/* Translates an item: writes up to READ_EIO_MOST events to out and returns how many, or a negative
 * WEFT_E code. Pass the items in order of time. next: the item that follows on the same ring, or
 * NULL; what a fiber does first after a wait shows why it continued. The texts of the events belong
 * to the item, or are valid as long as e. */
int read_eio_tell(struct read_eio *e, struct weft_event *out, const struct read_eio_item *item,
                  const struct read_eio_item *next);
