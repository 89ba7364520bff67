/* SPDX-License-Identifier: ISC */
/* Packets of samples made by hand, for tests.
 *
 *     samples_begin(&t, 1);
 *     uint32_t main_ = put_node(&t, 0, 0x1000, 0);
 *     put_source(&t, put_text(&t, "cpu-clock"), WEFT_UNIT_NS);
 *     put_sample(&t, 105, 7, 7, main_, 1000);
 *
 * Texts and nodes are numbered by samples_texts and samples_nodes, which samples_begin sets back. */
#pragma once

#include "format/samples.h"
#include "packets.h"

static uint32_t samples_texts, samples_nodes;

static inline void samples_begin(struct trace *t, uint64_t sequence)
{
    struct weft_samples_header h = {.sequence = sequence};
    packet_begin(t, WEFT_PACKET_SAMPLES, &h, sizeof h);
    samples_texts = samples_nodes = 0;
}

/* A record; what follows it is put by itself. */
static inline void put_record(struct trace *t, unsigned kind, unsigned flags, unsigned small,
                              void *record, size_t size, size_t more)
{
    struct weft_record_head head = {(uint8_t)kind, (uint8_t)flags, (uint16_t)small,
                                    (uint32_t)(size + more)};
    memcpy(record, &head, sizeof head);
    packet_bytes(t, record, size);
}

static inline uint32_t put_text(struct trace *t, const char *text)
{
    struct weft_record_text r = {.size = (uint32_t)strlen(text)};
    char bytes[512] = {0};
    size_t padded = (strlen(text) + 1 + 7) / 8 * 8;
    assert_true(padded <= sizeof bytes);
    memcpy(bytes, text, strlen(text));
    put_record(t, WEFT_RECORD_TEXT, 0, 0, &r, sizeof r, padded);
    packet_bytes(t, bytes, padded);
    return ++samples_texts;
}

static inline void put_source(struct trace *t, uint32_t name, unsigned unit)
{
    struct weft_record_source r = {.name = name, .frequency = 1000};
    put_record(t, WEFT_RECORD_SOURCE, 0, unit, &r, sizeof r, 0);
}

static inline uint32_t put_node(struct trace *t, uint32_t parent, uint64_t address, unsigned flags)
{
    struct weft_record_node r = {.parent = parent, .address = address};
    put_record(t, WEFT_RECORD_NODE, flags, 0, &r, sizeof r, 0);
    return ++samples_nodes;
}

static inline void put_sample(struct trace *t, uint64_t time_ns, uint32_t process, uint32_t thread,
                              uint32_t stack, uint64_t value)
{
    struct weft_record_sample r = {.time_ns = time_ns,
                                   .process = process,
                                   .thread = thread,
                                   .core = 1,
                                   .stack = stack,
                                   .value = value};
    put_record(t, WEFT_RECORD_SAMPLE, 0, 0, &r, sizeof r, 0);
}

static inline void put_switch(struct trace *t, unsigned flags, uint64_t time_ns, uint32_t process,
                              uint32_t thread, uint32_t stack)
{
    struct weft_record_switch r = {
        .time_ns = time_ns, .process = process, .thread = thread, .core = 2, .stack = stack};
    put_record(t, WEFT_RECORD_SWITCH, flags, 0, &r, sizeof r, 0);
}

static inline void put_mapping(struct trace *t, uint64_t time_ns, uint32_t process, uint32_t path,
                               uint64_t start, uint64_t size, uint64_t offset, unsigned flags)
{
    struct weft_record_mapping r = {.time_ns = time_ns,
                                    .process = process,
                                    .path = path,
                                    .start = start,
                                    .size = size,
                                    .offset = offset,
                                    .build_id = {1, 2, 3, 4}};
    put_record(t, WEFT_RECORD_MAPPING, flags, 4, &r, sizeof r, 0);
}

static inline void put_thread(struct trace *t, unsigned flags, uint64_t time_ns, uint32_t process,
                              uint32_t thread, uint32_t parent, uint32_t name)
{
    struct weft_record_thread r = {
        .time_ns = time_ns, .process = process, .thread = thread, .parent = parent, .name = name};
    put_record(t, WEFT_RECORD_THREAD, flags, 0, &r, sizeof r, 0);
}

static inline void put_exit(struct trace *t, uint64_t time_ns, uint32_t process, uint32_t thread)
{
    struct weft_record_exit r = {.time_ns = time_ns, .process = process, .thread = thread};
    put_record(t, WEFT_RECORD_EXIT, 0, 0, &r, sizeof r, 0);
}

static inline void put_object(struct trace *t, uint32_t path, uint32_t process)
{
    struct weft_record_object r = {.path = path, .process = process, .build_id = {1, 2, 3, 4}};
    put_record(t, WEFT_RECORD_OBJECT, 0, 4, &r, sizeof r, 0);
}

/* One frame. */
static inline void put_symbol(struct trace *t, uint32_t object, uint64_t offset, uint32_t name,
                              uint32_t file, uint32_t line)
{
    struct weft_record_symbol r = {.object = object, .offset = offset};
    struct weft_symbol_frame f = {.name = name, .file = file, .line = line};
    put_record(t, WEFT_RECORD_SYMBOL, 0, name != 0, &r, sizeof r, name ? sizeof f : 0);
    if (name)
        packet_bytes(t, &f, sizeof f);
}
