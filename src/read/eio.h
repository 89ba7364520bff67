/* SPDX-License-Identifier: ISC */
/* What a program in OCaml that uses Eio says of itself through OCaml's runtime events, told as events of ours. The same facts
 * stand in the runtime's ring files (rings.c) and in eio-trace's recordings (fxt.c); the second say less: no promises,
 * semaphores or mutexes, so a fiber waits for an operation there.
 *
 * A fiber is a promise that runs; so is a cancellation context, which its fiber ends. A suspension whose object is known is
 * a wait for that one, any other one a wait for a promise of its own, with the operation as its label.
 *
 * Source: Eio's lib_eio/runtime_events and OCaml's runtime/runtime_events.c. */
#ifndef WEFT_READ_EIO_H
#define WEFT_READ_EIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/events.h"

/* X(NAME, "as Eio calls it"): what a ring's user events are called. */
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
    READ_EIO_GC_BEGIN,          /* a phase */
    READ_EIO_GC_END,
    READ_EIO_RING_START, /* a domain begins to write, another one perhaps than before */
    READ_EIO_LOST,       /* events are missing before the next one */
    READ_EIO_COUNTER,    /* id: its value; text: its name */
    READ_EIO_EVENTS,     /* how many; as an event: one that says nothing here */
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
    const char *text; /* borrowed until the next call; NULL: none */
    uint32_t text_size;
    uint32_t ring;
    uint8_t event; /* enum read_eio_event */
    uint8_t kind;
};

struct read_eio;

/* rings: how many there are. The caller owns it. NULL: no memory. */
struct read_eio *read_eio_new(uint32_t rings);
void read_eio_free(struct read_eio *e);

/* What the ring with that number is called. */
struct weft_stream_facts;
void read_eio_name_stream(struct weft_stream_facts *f, uint32_t number);

/* An item becomes up to so many events. */
#define READ_EIO_MOST 10u

/* Tells what the item means: writes up to READ_EIO_MOST events to out and returns how many, or a negative WEFT_E code. Items come in
 * order of time. next: the one that follows it on its ring, or NULL; what a fiber does first after a wait tells why it
 * went on. Texts of events are the item's, or last as long as e. */
int read_eio_tell(struct read_eio *e, struct weft_event *out, const struct read_eio_item *item,
                  const struct read_eio_item *next);

#endif
