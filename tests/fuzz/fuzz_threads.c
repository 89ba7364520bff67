/* SPDX-License-Identifier: ISC */
/* Bytes as what up to 64 threads do, which sleep, wake and use each other's promises in any order: a trace of weft's
 * own without a fault, whose model must be built and in which all searches look.
 *
 * For each event five bytes: kind, thread, two promises (small numbers), and the time since the last one. */
#include "../unit/encode.h"
#include "try.h"

enum { THREADS = 64, EVENTS_MAX = 1024, EVENT = 5 };
enum { TEXT = 16, SITE = 19 }; /* numbers of strings */
#define BYTES_MAX (4096 + THREADS * sizeof(struct weft_events_header) + EVENTS_MAX * WEFT_FORM_MAX)

static unsigned char trace[BYTES_MAX];
static size_t used;

static void put(const void *bytes, size_t size)
{
    REQUIRE(size <= sizeof trace - used);
    memcpy(trace + used, bytes, size);
    used += size;
}

/* Begins a packet; header: of its class, whose first part is made here. */
static size_t begin(unsigned class, void *header, size_t size)
{
    const struct weft_packet_header h = {.magic = WEFT_PACKET_MAGIC,
                                         .signature = WEFT_PACKET_SIGNATURE,
                                         .version = WEFT_FORMAT_VERSION,
                                         .class = (uint16_t) class,
                                         .header_bytes = (uint32_t)size};
    memcpy(header, &h, sizeof h);
    put(header, size);
    return used - size;
}

static void end(size_t at)
{
    struct weft_packet_header h;
    memcpy(&h, trace + at, sizeof h);
    h.packet_bits = h.content_bits = (used - at) * 8;
    memcpy(trace + at, &h, sizeof h);
}

/* All promises are created in one place. */
static void put_facts_and_texts(void)
{
    struct weft_facts_header f = {
        .state = WEFT_TRACE_STOPPED, .clock = WEFT_CLOCK_MONOTONIC, .hz = 1000000000};
    struct {
        uint32_t text_head;
        char text[8];
        uint32_t site_head;
        struct weft_site_entry site;
        uint32_t end;
    } const strings = {
        WEFT_STRING_TEXT << 24 | 4, "task", WEFT_STRING_SITE << 24 | 16, {TEXT, TEXT, 0, 0}, 0};
    struct weft_strings_header s = {.used_bytes = sizeof strings};
    end(begin(WEFT_PACKET_FACTS, &f, sizeof f));
    size_t at = begin(WEFT_PACKET_STRINGS, &s, sizeof s);
    put(&strings, sizeof strings);
    end(at);
}

/* The form that can say everything of that kind. */
static unsigned form_of(unsigned kind)
{
    unsigned widest = 0;
    for (unsigned code = 0; code < 256; code++)
        if (weft_forms[code].bytes && weft_forms[code].kind == kind &&
            weft_forms[code].bytes > weft_forms[widest].bytes)
            widest = code;
    return widest;
}

/* The events of one thread, in a packet. */
static void put_thread(uint32_t thread, const uint8_t *data, size_t size)
{
    size_t at = 0;
    uint64_t now = 1000;
    for (size_t i = 0; i + EVENT <= size && i < EVENT * EVENTS_MAX; i += EVENT) {
        now += data[i + 4];
        if (data[i + 1] % THREADS != thread)
            continue;
        const struct weft_event ev = {.time_ns = now,
                                      .kind = data[i] % WEFT_EVENT_KINDS,
                                      .a = data[i + 2] == 255 ? UINT64_MAX : data[i + 2],
                                      .b = data[i + 3] == 255 ? UINT64_MAX : data[i + 3]};
        struct weft_events_header h = {.begin_ticks = now,
                                       .stream = thread,
                                       .thread = 100 + thread,
                                       .sequence = thread + 1,
                                       .running = UINT64_MAX};
        if (!at)
            at = begin(WEFT_PACKET_EVENTS, &h, sizeof h);
        unsigned char bytes[WEFT_FORM_MAX];
        put(bytes, weft_form_encode(bytes, form_of(ev.kind), &ev,
                                    &(struct weft_form_context){.site = SITE}));
    }
    if (at)
        end(at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    used = 0;
    put_facts_and_texts();
    for (uint32_t thread = 0; thread < THREADS; thread++)
        put_thread(thread, data, size);
    REQUIRE(try_bytes(trace, used, 0, 1) >= 0);
    return 0;
}
