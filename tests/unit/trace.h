/* SPDX-License-Identifier: ISC */
/* Traces made by hand, for tests: events into packets in memory, and those into a file.
 *
 *     struct trace t = {.fd = -1};
 *     trace_begin(&t, 0);
 *     trace_add(&t, creates(0, LOOP, 1, TASK));
 *     … trace_path(&t) …
 *     trace_fini(&t); */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/events.h"
#include "format/mirage.h"
#include "model/model.h"
#include "test.h"

#define LOOP WEFT_ID_LOOP
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum type { WAIT, TASK, BIND, TRY, CHOOSE, PICK, JOIN, MAP, CONDITION };

/* ---- Events ---- */

#define EVENT_OF_TWO(name, kind_)                                                                  \
    static inline struct weft_event name(uint64_t t, uint64_t a, uint64_t b)                       \
    {                                                                                              \
        return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_##kind_, .a = a, .b = b};      \
    }
EVENT_OF_TWO(reads, READ)
EVENT_OF_TWO(fulfills, FULFILLS)
EVENT_OF_TWO(becomes, BECOMES)
EVENT_OF_TWO(signals, SIGNAL)
EVENT_OF_TWO(try_read, TRY_READ)
EVENT_OF_TWO(read_later, READ_LATER)
EVENT_OF_TWO(signal_only, SIGNAL_ONLY)
#undef EVENT_OF_TWO

static inline struct weft_event creates(uint64_t t, uint64_t parent, uint64_t child, unsigned type)
{
    return (struct weft_event){.time_ns = t, .a = parent, .b = child, .type = (uint8_t)type};
}

static inline struct weft_event switches(uint64_t t, uint64_t p)
{
    return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_SWITCH, .a = p};
}

static inline struct weft_event gc(uint64_t t, uint64_t duration)
{
    return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_GC, .value = (int64_t)duration};
}

static inline struct weft_event preempted(uint64_t t, uint64_t duration)
{
    return (struct weft_event){
        .time_ns = t, .kind = WEFT_EVENT_PREEMPTED, .value = (int64_t)duration};
}

static inline struct weft_event with_text(struct weft_event ev, const char *text)
{
    ev.text = text;
    ev.text_size = (uint32_t)strlen(text);
    return ev;
}

static inline struct weft_event label(uint64_t t, uint64_t p, const char *text)
{
    return with_text((struct weft_event){.time_ns = t, .kind = WEFT_EVENT_LABEL, .a = p}, text);
}

static inline struct weft_event fails(uint64_t t, uint64_t resolver, uint64_t p, const char *text)
{
    return with_text(
        (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_FAILS, .a = resolver, .b = p}, text);
}

static inline struct weft_event counter(uint64_t t, uint64_t p, int64_t value, const char *name)
{
    return with_text(
        (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_COUNTER, .a = p, .value = value},
        name);
}

static inline struct weft_event increases(uint64_t t, uint64_t p, int64_t amount, const char *name)
{
    struct weft_event ev = counter(t, p, amount, name);
    ev.kind = WEFT_EVENT_INCREASE;
    return ev;
}

/* ---- Bytes ---- */

struct trace {
    unsigned char *bytes;
    size_t size, room;
    size_t packet; /* where the last one begins */
    int fd;        /* -1: no file yet */
    char path[64];
};

/* Room for more bytes at the end, which count from now on. */
static inline unsigned char *trace_extend(struct trace *t, size_t bytes)
{
    if (t->size + bytes > t->room) {
        t->room = 2 * (t->size + bytes);
        t->bytes = realloc(t->bytes, t->room);
        assert_non_null(t->bytes);
    }
    t->size += bytes;
    return t->bytes + t->size - bytes;
}

/* Says in the last packet's header that it ends here, and which part of it is used. */
static inline void trace_set_sizes(struct trace *t, size_t content)
{
    struct weft_mirage_header h = weft_mirage_header_read(t->bytes + t->packet);
    h.packet_bits = (uint32_t)(t->size - t->packet) * 8;
    h.content_bits = (uint32_t)content * 8;
    weft_mirage_header_write(t->bytes + t->packet, h);
}

/* Begins a packet with that number (modulo 2^16). */
static inline void trace_begin(struct trace *t, uint64_t sequence)
{
    struct weft_mirage_header h = {.sequence = (uint16_t)sequence};
    t->packet = t->size;
    weft_mirage_header_write(trace_extend(t, WEFT_MIRAGE_HEADER_SIZE), h);
    trace_set_sizes(t, WEFT_MIRAGE_HEADER_SIZE);
}

static inline void trace_add_bytes(struct trace *t, const void *bytes, size_t size)
{
    memcpy(trace_extend(t, size), bytes, size);
    trace_set_sizes(t, t->size - t->packet);
}

static inline void trace_add(struct trace *t, struct weft_event ev)
{
    size_t size = weft_event_size(&ev);
    weft_event_encode(trace_extend(t, size), &ev);
    trace_set_sizes(t, t->size - t->packet);
}

/* An unused tail of the last packet. */
static inline void trace_pad(struct trace *t, size_t bytes, int fill)
{
    size_t content = t->size - t->packet;
    memset(trace_extend(t, bytes), fill, bytes);
    trace_set_sizes(t, content);
}

/* A packet with those events. */
static inline void trace_packet(struct trace *t, uint64_t sequence, const struct weft_event *ev,
                                size_t count)
{
    trace_begin(t, sequence);
    for (size_t i = 0; i < count; i++)
        trace_add(t, ev[i]);
}

/* The bytes as a file, or what is there now in the same file. */
static inline const char *trace_path(struct trace *t)
{
    if (t->fd < 0) {
        t->fd = memfd_create("trace", MFD_CLOEXEC);
        assert_true(t->fd >= 0);
        snprintf(t->path, sizeof t->path, "/proc/self/fd/%d", t->fd);
    }
    assert_int_equal(ftruncate(t->fd, 0), 0);
    if (t->size)
        assert_int_equal(pwrite(t->fd, t->bytes, t->size, 0), t->size);
    return t->path;
}

static inline void trace_fini(struct trace *t)
{
    if (t->fd >= 0)
        close(t->fd);
    free(t->bytes);
    *t = (struct trace){.fd = -1};
}

/* The model; the trace is gone then. */
static inline struct weft_model *trace_model(struct trace *t)
{
    struct weft_reader *r;
    struct weft_model *m;
    assert_int_equal(weft_reader_open(&r, trace_path(t), NULL), 0);
    assert_int_equal(weft_model_build(&m, r, NULL, NULL, NULL), 0);
    weft_reader_close(r);
    trace_fini(t);
    return m;
}

/* The model of a packet with those events. */
static inline struct weft_model *trace_model_of(const struct weft_event *ev, size_t count)
{
    struct trace t = {.fd = -1};
    trace_packet(&t, 0, ev, count);
    return trace_model(&t);
}

#define MODEL(...)                                                                                 \
    trace_model_of((const struct weft_event[]){__VA_ARGS__},                                       \
                   COUNT(((const struct weft_event[]){__VA_ARGS__})))
