/* SPDX-License-Identifier: ISC */
/* The layout of a trace in memory, and its first content: facts, metadata, strings, pending promises, roll,
 * pool. Part of the core: it calls nothing of the operating system. */
#include "record/record.h"

#define MIN_BYTES (UINT64_C(64) << 10)
#define MAX_BYTES (UINT64_C(1) << (sizeof(size_t) < 8 ? 30 : 40))
#define PAGE UINT64_C(4096)
#define PACKET_MIN UINT64_C(4096)
#define PACKET_MAX (UINT64_C(64) << 10)
#define CELLS_WANTED (UINT64_C(8) << 20) /* for 65 000 promises */
#define PACKETS_WANTED 64                /* prefer smaller packets to fewer */
#define METADATA_BYTES (UINT64_C(12) << 10)

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* Divides the space for pending promises. If there is little, cells get most of it, because they keep
 * everything; if there is much, half of it is for the roll, which holds 16 times as many promises in the same
 * space. */
static void plan_pending(struct layout *l, uint64_t room)
{
    uint64_t full = room / 4 * 3 < CELLS_WANTED ? room / 4 * 3 : CELLS_WANTED;
    full = full < room / 2 ? room / 2 : full;
    l->cells = weft_record_pending_cells(full);
    uint64_t used = pages(weft_record_pending_bytes(l->cells));
    weft_record_roll_plan(l, room > used ? room - used : 0);
}

bool weft_record_layout_plan(struct layout *l, uint64_t bytes, uint64_t pending)
{
    if (bytes < MIN_BYTES || bytes > MAX_BYTES)
        return false;
    *l = (struct layout){.bytes = bytes / 8 * 8, .metadata_at = PAGE, .texts = 256};
    /* The smallest traces have no room for a description of themselves. */
    l->strings_at =
        l->metadata_at + (WEFT_HOST_DESCRIBES && bytes >= 16 * MIN_BYTES ? METADATA_BYTES : 0);
    l->strings_bytes = pages(bytes / 16);
    if (l->strings_bytes > UINT64_C(4) << 20)
        l->strings_bytes = UINT64_C(4) << 20;
    while (l->texts < l->strings_bytes / 8)
        l->texts *= 2;
    l->pending_at = l->strings_at + l->strings_bytes;
    /* By default 10 000 promises in 8 MiB; with the roll, a million in 64 MiB. */
    plan_pending(l, !pending ? bytes / 4 : pending < bytes / 2 ? pending : bytes / 2);
    l->roll_at = l->pending_at + pages(weft_record_pending_bytes(l->cells));
    l->pool_at = l->roll_at + pages(weft_record_roll_bytes(l));
    uint64_t pool = bytes - l->pool_at;
    for (l->packet_bytes = PACKET_MAX; l->packet_bytes > PACKET_MIN; l->packet_bytes /= 2)
        if (pool / l->packet_bytes >= PACKETS_WANTED)
            break;
    l->packets = pool / l->packet_bytes;
    return true;
}

size_t weft_record_layout_private(const struct layout *l)
{
    return weft_record_pool_private(&weft_record_rec, NULL, l->packets) +
           l->texts * sizeof *weft_record_rec.texts + l->cells * sizeof *weft_record_rec.cell_tags;
}

void *weft_record_layout_packet(void *at, uint64_t bytes, const uint8_t uuid[16],
                                enum weft_packet_class class, size_t header_bytes)
{
    struct weft_packet_header *h = at;
    memset(h, 0, bytes);
    h->magic = WEFT_PACKET_MAGIC;
    h->signature = WEFT_PACKET_SIGNATURE;
    h->version = WEFT_FORMAT_VERSION;
    h->class = (uint16_t) class;
    h->header_bytes = (uint32_t)header_bytes;
    h->packet_bits = bytes * 8;
    h->content_bits = header_bytes * UINT64_C(8);
    memcpy(h->uuid, uuid, sizeof h->uuid);
    return h;
}

static void write_headers(struct recorder *r, const struct layout *l, unsigned char *base,
                          const uint8_t uuid[16])
{
#if WEFT_HOST_DESCRIBES
    if (l->strings_at > l->metadata_at) {
        struct weft_packet_header *h =
            weft_record_layout_packet(base + l->metadata_at, l->strings_at - l->metadata_at, uuid,
                                      WEFT_PACKET_METADATA, sizeof *h);
        h->content_bits +=
            weft_record_metadata((char *)(h + 1), METADATA_BYTES - sizeof *h) * UINT64_C(8);
    }
#endif
    r->strings = weft_record_layout_packet(base + l->strings_at, l->strings_bytes, uuid,
                                           WEFT_PACKET_STRINGS, sizeof *r->strings);
    r->strings->packet.content_bits = r->strings->packet.packet_bits;
    r->pending = weft_record_layout_packet(base + l->pending_at, sizeof *r->pending, uuid,
                                           WEFT_PACKET_PENDING, sizeof *r->pending);
    r->pending->packet.packet_bits = (l->roll_at - l->pending_at) * 8;
    weft_record_pending_init(r->pending, l->cells); /* zeroes the rest of it */
    r->pending->first_number = weft_record_pool_next_number();
    r->roll = weft_record_layout_packet(base + l->roll_at, l->pool_at - l->roll_at, uuid,
                                        WEFT_PACKET_ROLL, sizeof *r->roll);
    weft_record_roll_init(r->roll, l);
    r->facts = weft_record_layout_packet(base, PAGE, uuid, WEFT_PACKET_FACTS,
                                         sizeof *r->facts + sizeof(struct weft_facts_pause));
}

static void write_facts(struct recorder *r, const struct layout *l)
{
    struct weft_facts_header *f = r->facts;
    struct clock_pair pair = weft_record_clock_pair(&r->clock);
    f->state = WEFT_TRACE_RECORDING;
    f->clock = r->clock.kind;
    f->event_packet_bytes = (uint32_t)l->packet_bytes;
    f->hz = r->clock.hz;
    f->events_at = l->pool_at;
    f->event_packets = l->packets;
    f->strings_at = l->strings_at;
    f->start_ticks = pair.ticks;
    f->start_mono_ns = pair.mono_ns;
    f->start_real_ns = pair.real_ns;
    weft_record_layout_fact("version", WEFT_VERSION);
}

void weft_record_layout_write(const struct layout *l, unsigned char *base, unsigned char *private,
                              const uint8_t uuid[16], bool turn_clock)
{
    struct recorder *r = &weft_record_rec;
    for (uint64_t at = 0; at < l->bytes; at += PAGE)
        ((volatile unsigned char *)base)[at] =
            0; /* so that no event is the first to touch a page */
    size_t pool = weft_record_pool_private(r, private, l->packets);
    r->texts = (uint64_t *)(void *)(private + pool);
    r->texts_mask = l->texts - 1;
    r->cell_tags = (uint16_t *)(void *)(r->texts + l->texts);
    r->pool = base + l->pool_at;
    r->packet_bytes = (uint32_t)l->packet_bytes;
    r->packets = l->packets;
    r->sequence = 0;
    r->tracks = 1;
    r->turn_clock = turn_clock;
    r->quick_clock = !turn_clock && clock_has_counter(&r->clock);
    write_headers(r, l, base, uuid);
    weft_record_pool_init();
    uint64_t end = l->pool_at + l->packets * l->packet_bytes;
    memset(base + end, 0, l->bytes - end); /* the caller's memory may contain anything */
    write_facts(r, l);
}

#define YES_BYTES 24u /* reserved for weft_record_layout_yes */

/* Leaves `left` bytes free. */
static void add_fact(const char *key, const char *value, size_t left)
{
    struct weft_facts_header *f = weft_record_rec.facts;
    char *at = (char *)f + f->packet.content_bits / 8;
    const char *end = (const char *)f + PAGE - left;
    size_t room = (size_t)(end - at), n = text_size(key, room), m = text_size(value, room);
    if (n + m + 2 > room)
        return;
    memcpy(at, key, n);
    at[n] = '=';
    memcpy(at + n + 1, value, m); /* the NUL is there already */
    f->packet.content_bits += ((uint64_t)n + m + 2) * 8;
}

void weft_record_layout_fact(const char *key, const char *value)
{
    add_fact(key, value, WEFT_FACTS_END + YES_BYTES);
}

void weft_record_layout_yes(const char *key)
{
    add_fact(key, "yes", WEFT_FACTS_END);
}

/* The later of the two times says whether recording is on. This also works with a clock that stands still, or
 * that of another processor. */
void weft_record_layout_switched(bool on)
{
    struct weft_facts_pause *p = (void *)(weft_record_rec.facts + 1);
    const uint64_t now = weft_record_clock_ticks(&weft_record_rec.clock);
    const uint64_t paused = __atomic_load_n(&p->paused_ticks, __ATOMIC_RELAXED);
    const uint64_t resumed = __atomic_load_n(&p->resumed_ticks, __ATOMIC_RELAXED);
    if (!on)
        __atomic_store_n(&p->paused_ticks, now > resumed ? now : resumed + 1, __ATOMIC_RELAXED);
    else if (paused)
        __atomic_store_n(&p->resumed_ticks, now > paused ? now : paused, __ATOMIC_RELAXED);
}

void weft_record_layout_stop(void)
{
    struct recorder *r = &weft_record_rec;
    struct clock_pair pair = weft_record_clock_pair(&r->clock);
    r->facts->stop_ticks = pair.ticks;
    r->facts->stop_mono_ns = pair.mono_ns;
    __atomic_store_n(&r->facts->state, WEFT_TRACE_STOPPED, __ATOMIC_RELEASE);
}
