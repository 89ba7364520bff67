/* SPDX-License-Identifier: ISC */
/* weft's own traces made by hand, for tests: packets of facts, strings and events, into a struct trace.
 *
 *     struct trace t = {.fd = -1};
 *     struct strings s = {0};
 *     uint32_t site = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
 *     facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "program=x");
 *     strings_packet(&t, &s);
 *     events_begin(&t, (struct weft_events_header){.stream = 0, .sequence = 1, .begin_ticks = 100});
 *     events_add(&t, WEFT_FORM_CREATE, creates(105, 0, 1, 0), site, 0);
 *     events_end(&t, 200);
 *
 * Unless it is said otherwise, the clock is CLOCK_MONOTONIC: ticks are nanoseconds. */
#pragma once

#include "encode.h"
#include "format/names.h"
#include "trace.h"

#define TEST_UUID "0123456789abcdef"

/* ---- Packets ---- */

static inline struct weft_packet_header packet_header(unsigned class, size_t header_bytes)
{
    struct weft_packet_header h = {.magic = WEFT_PACKET_MAGIC,
                                   .signature = WEFT_PACKET_SIGNATURE,
                                   .version = WEFT_FORMAT_VERSION,
                                   .class = (uint16_t) class,
                                   .header_bytes = (uint32_t)header_bytes};
    memcpy(h.uuid, TEST_UUID, sizeof h.uuid);
    return h;
}

/* Says in the last packet's header that it ends here, and which part of it is used. */
static inline void packet_sizes(struct trace *t, size_t content)
{
    struct weft_packet_header h;
    memcpy(&h, t->bytes + t->packet, sizeof h);
    h.packet_bits = (uint64_t)(t->size - t->packet) * 8;
    h.content_bits = (uint64_t)content * 8;
    memcpy(t->bytes + t->packet, &h, sizeof h);
}

/* A packet that begins with that header, whose first part is made here. */
static inline void packet_begin(struct trace *t, unsigned class, void *header, size_t size)
{
    struct weft_packet_header h = packet_header(class, size);
    memcpy(header, &h, sizeof h);
    t->packet = t->size;
    memcpy(trace_extend(t, size), header, size);
    packet_sizes(t, size);
}

static inline void packet_bytes(struct trace *t, const void *bytes, size_t size)
{
    if (size)
        memcpy(trace_extend(t, size), bytes, size);
    packet_sizes(t, t->size - t->packet);
}

/* An unused tail of the last packet. */
static inline void packet_pad(struct trace *t, size_t size, int fill)
{
    size_t content = t->size - t->packet;
    memset(trace_extend(t, size), fill, size);
    packet_sizes(t, content);
}

/* texts: "key=value", each one ending with a newline. */
static inline void facts_packet(struct trace *t, struct weft_facts_header h, const char *texts)
{
    h.clock = h.clock ? h.clock : WEFT_CLOCK_MONOTONIC;
    h.hz = h.hz ? h.hz : 1000000000;
    packet_begin(t, WEFT_PACKET_FACTS, &h, sizeof h);
    packet_bytes(t, texts, strlen(texts));
    for (size_t i = t->packet + sizeof h; i < t->size; i++)
        if (t->bytes[i] == '\n')
            t->bytes[i] = 0;
}

/* The same without texts, with room for when the recording was off. */
static inline void facts_packet_with_pause(struct trace *t, struct weft_facts_header h)
{
    struct {
        struct weft_facts_header facts;
        struct weft_facts_pause pause;
    } all = {.facts = h};
    all.facts.clock = WEFT_CLOCK_MONOTONIC;
    all.facts.hz = 1000000000;
    packet_begin(t, WEFT_PACKET_FACTS, &all, sizeof all);
}

/* So many packets were overwritten; events were discarded. */
static inline void facts_overwritten(struct trace *t, uint64_t packets)
{
    memcpy(t->bytes + offsetof(struct weft_facts_header, overwritten_packets), &packets,
           sizeof packets);
}

static inline void facts_discarded(struct trace *t, uint64_t events)
{
    memcpy(t->bytes + offsetof(struct weft_facts_header, discarded_events), &events, sizeof events);
}

/* Says in such facts, which come first, that it was. */
static inline void facts_pause(struct trace *t, uint64_t paused, uint64_t resumed)
{
    const struct weft_facts_pause p = {paused, resumed};
    memcpy(t->bytes + sizeof(struct weft_facts_header), &p, sizeof p);
}

/* ---- Strings ---- */

struct strings {
    unsigned char bytes[4096];
    size_t used;
};

static inline uint32_t strings_add(struct strings *s, unsigned kind, const void *body, size_t size)
{
    size_t at = s->used;
    assert_true(at + size + 8 < sizeof s->bytes);
    weft_write_u32(s->bytes + at, kind << 24 | (uint32_t)size);
    memcpy(s->bytes + at + 4, body, size);
    s->used += 4 + (size + 1 + 3) / 4 * 4;
    return (uint32_t)(sizeof(struct weft_strings_header) + at) / 4;
}

static inline uint32_t strings_text(struct strings *s, const char *text)
{
    return strings_add(s, WEFT_STRING_TEXT, text, strlen(text));
}

static inline uint32_t strings_site(struct strings *s, uint32_t type, uint32_t label, uint32_t file,
                                    uint32_t line)
{
    struct weft_site_entry e = {type, label, file, line};
    return strings_add(s, WEFT_STRING_SITE, &e, sizeof e);
}

static inline void strings_packet(struct trace *t, const struct strings *s)
{
    struct weft_strings_header h = {.used_bytes = s->used};
    packet_begin(t, WEFT_PACKET_STRINGS, &h, sizeof h);
    packet_bytes(t, s->bytes, sizeof s->bytes);
}

/* Facts and strings of a recording that ended like that. site: places of creation, one for each of these types. */
static inline void sites_packets(struct trace *t, unsigned state, const char *const *types,
                                 uint32_t *site, unsigned count)
{
    struct strings s = {.used = 0};
    for (unsigned i = 0; i < count; i++)
        site[i] = strings_site(&s, strings_text(&s, types[i]), 0, 0, 0);
    facts_packet_with_pause(t, (struct weft_facts_header){.state = (uint16_t)state});
    strings_packet(t, &s);
}

/* ---- Events ---- */

/* A packet of events. Zero means: nothing runs but the loop, no clock pair, not closed. */
static inline void events_begin(struct trace *t, struct weft_events_header h)
{
    h.running = h.running ? h.running : LOOP;
    packet_begin(t, WEFT_PACKET_EVENTS, &h, sizeof h);
}

/* … with ended bytes: text says of each promise from base on, '1' if it has ended. */
#define ENDED_BYTES 64
static inline void events_begin_ended(struct trace *t, struct weft_events_header h,
                                      const char *text)
{
    unsigned char bytes[sizeof h + ENDED_BYTES] = {0};
    for (size_t i = 0; text[i]; i++)
        bytes[sizeof h + i] = text[i] == '1';
    h.running = h.running ? h.running : LOOP;
    h.ended_at = sizeof h;
    h.ended_count = ENDED_BYTES;
    memcpy(bytes, &h, sizeof h);
    packet_begin(t, WEFT_PACKET_EVENTS, bytes, sizeof bytes);
}

/* The last packet's header; a packet may stand at any multiple of 4 bytes. */
static inline struct weft_events_header events_header(const struct trace *t)
{
    struct weft_events_header h;
    memcpy(&h, t->bytes + t->packet, sizeof h);
    return h;
}

static inline void events_set_header(struct trace *t, struct weft_events_header h)
{
    memcpy(t->bytes + t->packet, &h, sizeof h);
}

static inline void events_add(struct trace *t, unsigned form, struct weft_event ev, uint32_t site,
                              uint32_t text)
{
    unsigned char bytes[WEFT_FORM_MAX];
    struct weft_events_header h = events_header(t);
    struct weft_form_context c = {.base = h.base, .site = site, .text = text};
    size_t size = weft_form_encode(bytes, form, &ev, &c);
    h.events++;
    events_set_header(t, h);
    packet_bytes(t, bytes, size);
}

/* The widest form of that kind: it can say everything. */
static inline unsigned widest_form(unsigned kind)
{
    static unsigned widest_of[256];
    assert_true(kind < 256);
    if (widest_of[kind] == 0)
        for (unsigned code = 1; code < 256; code++)
            if (weft_forms[code].bytes && weft_forms[code].kind == kind &&
                !weft_forms[code].words[WEFT_WORD_IDS] &&
                weft_forms[code].bytes >= weft_forms[widest_of[kind]].bytes)
                widest_of[kind] = code;
    return widest_of[kind];
}

/* text: the event's own is written before it. */
static inline void events_put(struct trace *t, struct weft_event ev, uint32_t site)
{
    unsigned char bytes[1024];
    if (ev.text) {
        assert_true(ev.text_size < sizeof bytes - 20);
        packet_bytes(t, bytes, weft_form_encode_text(bytes, ev.time_ns, ev.text, ev.text_size));
    }
    events_add(t, widest_form(ev.kind), ev, site, ev.text ? WEFT_STRING_INLINE : 0);
}

/* The thread lets the packet go. */
static inline void events_end(struct trace *t, uint64_t ticks)
{
    struct weft_events_header h = events_header(t);
    h.end_ticks = ticks;
    events_set_header(t, h);
}

/* A new stream goes on in the packet. */
static inline void events_stream(struct trace *t, uint64_t ticks, uint32_t stream, uint32_t thread,
                                 const char *name)
{
    unsigned char bytes[32] = {0};
    weft_write_u64(bytes, ticks | (uint64_t)WEFT_FORM_STREAM_BEGINS << WEFT_TIME_BITS);
    weft_write_u32(bytes + 8, stream);
    weft_write_u32(bytes + 12, thread);
    memcpy(bytes + 16, name, strnlen(name, 16));
    packet_bytes(t, bytes, sizeof bytes);
}

/* ---- Pending promises ---- */

/* Cells, each used if its id is not 0. Zero in h means: tables behind one another, of these cells. */
static inline void pending_packet(struct trace *t, struct weft_pending_header h,
                                  const uint64_t *ids, const struct weft_pending_cell *cells,
                                  uint32_t count)
{
    h.cells = h.cells ? h.cells : count;
    h.cell_bytes = h.cell_bytes ? h.cell_bytes : sizeof *cells;
    h.ids_at = h.ids_at ? h.ids_at : sizeof h;
    h.cells_at = h.cells_at ? h.cells_at : sizeof h + count * sizeof *ids;
    packet_begin(t, WEFT_PACKET_PENDING, &h, sizeof h);
    packet_bytes(t, ids, count * sizeof *ids);
    packet_bytes(t, cells, count * sizeof *cells);
}

/* ---- Names of places in code ---- */

struct name_entry {
    const char *place, *function, *file;
    uint32_t line;
};

static inline void names_begin(struct trace *t, uint32_t names)
{
    struct weft_names_header h = {.names = names};
    packet_begin(t, WEFT_PACKET_NAMES, &h, sizeof h);
}

/* … with that many bytes behind it. */
static inline void names_entry(struct trace *t, const struct name_entry *e, size_t more)
{
    unsigned char bytes[1024] = {0};
    const char *text[] = {e->place, e->function, e->file};
    size_t used = sizeof(struct weft_name_entry);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(used + strlen(text[i]) + 1 + more < sizeof bytes - 8);
        memcpy(bytes + used, text[i], strlen(text[i]));
        used += strlen(text[i]) + 1;
    }
    memset(bytes + used, more ? 0x77 : 0, more);
    used = (used + more + 7) & ~(size_t)7;
    weft_write_u32(bytes, (uint32_t)used);
    weft_write_u32(bytes + 4, e->line);
    packet_bytes(t, bytes, used);
}

static inline void names_packet(struct trace *t, const struct name_entry *e, uint32_t count)
{
    names_begin(t, count);
    for (uint32_t i = 0; i < count; i++)
        names_entry(t, &e[i], 0);
}

/* ---- More events ---- */

#define EVENT_OF_ONE(name, kind_)                                                                  \
    static inline struct weft_event name(uint64_t t, uint64_t p)                                   \
    {                                                                                              \
        return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_##kind_, .a = p};              \
    }
EVENT_OF_ONE(forgets, FORGETS)
EVENT_OF_ONE(should_resolve, SHOULD_RESOLVE)
EVENT_OF_ONE(background, BACKGROUND)
EVENT_OF_ONE(is_span, SPAN)
EVENT_OF_ONE(in_span, SPAN_PARENT)
#undef EVENT_OF_ONE

#define EVENT_OF_TWO(name, kind_)                                                                  \
    static inline struct weft_event name(uint64_t t, uint64_t a, uint64_t b)                       \
    {                                                                                              \
        return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_##kind_, .a = a, .b = b};      \
    }
EVENT_OF_TWO(resolves, RESOLVES)
EVENT_OF_TWO(cancels, CANCELS)
EVENT_OF_TWO(notifies, NOTIFIES)
EVENT_OF_TWO(acquires, ACQUIRES)
EVENT_OF_TWO(releases, RELEASES)
#undef EVENT_OF_TWO

static inline struct weft_event suspends(uint64_t t)
{
    return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_SUSPEND};
}

static inline struct weft_event resumes(uint64_t t)
{
    return (struct weft_event){.time_ns = t, .kind = WEFT_EVENT_RESUME};
}

/* An event of a stream; site: of a creation, its place among those that are given with it. */
struct step {
    struct weft_event ev;
    uint32_t stream;
    unsigned site;
};

/* A packet for each stream, from 0 on without a gap; running: what the first one's header says. */
static inline void steps_put(struct trace *t, const struct step *step, size_t count,
                             const uint32_t *site, uint64_t running)
{
    for (uint32_t stream = 0, found = 1; found; stream++) {
        found = 0;
        for (size_t i = 0; i < count; i++) {
            if (step[i].stream != stream)
                continue;
            if (!found++)
                events_begin(t, (struct weft_events_header){.stream = stream,
                                                            .sequence = stream + 1,
                                                            .begin_ticks = step[i].ev.time_ns,
                                                            .running = stream ? 0 : running});
            events_put(t, step[i].ev, site[step[i].site]);
        }
    }
}
