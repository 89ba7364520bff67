/* SPDX-License-Identifier: ISC */
#include "sample/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_ROOM 65536

int sample_packet_init(struct sample_packet *p)
{
    p->seed = weft_seed();
    p->room = FIRST_ROOM;
    p->bytes = malloc(p->room);
    return p->bytes ? 0 : WEFT_E_NOMEM;
}

void sample_packet_fini(struct sample_packet *p)
{
    free(p->bytes);
    struct sample_once *once[] = {&p->texts, &p->nodes, &p->objects};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        weft_table_drop(&once[i]->by);
        free(once[i]->at);
    }
    *p = (struct sample_packet){0};
}

bool sample_packet_begun(const struct sample_packet *p)
{
    return p->used > 0;
}

bool sample_packet_fits(const struct sample_packet *p, size_t bytes)
{
    return bytes <= SAMPLE_PACKET_BYTES_MAX - p->used;
}

int sample_packet_reserve(struct sample_packet *p, size_t bytes)
{
    return weft_reserve_all(&p->bytes, p->used + bytes, &p->room, 1) ? 0 : WEFT_E_NOMEM;
}

/* ---- Records ---- */

/* Adds a record, for which there must be room; it is zeroed except for its head. */
static void *add(struct sample_packet *p, enum weft_record_kind kind, size_t bytes)
{
    const size_t size = (bytes + 7) & ~(size_t)7;
    struct weft_record_head *head = (struct weft_record_head *)(void *)(p->bytes + p->used);
    memset(head, 0, size);
    *head = (struct weft_record_head){.kind = (uint8_t)kind, .bytes = (uint32_t)size};
    p->used += size;
    return head;
}

/* ---- Texts and nodes, which are stored once ---- */

static uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const uint8_t *p = bytes;
    uint64_t h = weft_mix(size, seed), word;
    for (; size >= 8; size -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = weft_mix(h ^ word, seed);
    }
    word = 0;
    memcpy(&word, p, size);
    return weft_mix(h ^ word, seed);
}

/* For the hash table: the packet's bytes, and where the records of one kind begin. */
struct records {
    const uint8_t *bytes;
    const uint32_t *at;
};

static uint64_t hash_head(const struct weft_record_head *h, uint64_t seed)
{
    return hash_bytes(h + 1, h->bytes - sizeof *h, seed) ^ h->flags;
}

static uint64_t hash_record(const void *array, uint32_t item, uint64_t seed)
{
    const struct records *r = array;
    return hash_head((const void *)(r->bytes + r->at[item]), seed);
}

static bool same_record(const void *array, uint32_t item, const void *key)
{
    const struct records *r = array;
    const struct weft_record_head *h = key;
    return memcmp(r->bytes + r->at[item], h, h->bytes) == 0;
}

/* If the packet already has a record equal to the one just added, removes the new one. Returns the number of
 * the record that stays, counted from 0; UINT32_MAX: no memory. */
static uint32_t add_once(struct sample_packet *p, struct sample_once *o, size_t begin)
{
    if (!weft_table_reserve(&o->by, &(struct records){p->bytes, o->at}, o->count, hash_record,
                            p->seed) ||
        !weft_reserve(&o->at, o->count, &o->room, sizeof *o->at)) {
        p->used = begin;
        p->failed = true;
        return UINT32_MAX;
    }
    const struct weft_record_head *h = (const void *)(p->bytes + begin);
    uint32_t *slot = weft_table_find(&o->by, hash_head(h, p->seed), same_record,
                                     &(struct records){p->bytes, o->at}, h);
    if (*slot) {
        p->used = begin;
        return *slot - 1;
    }
    o->at[o->count] = (uint32_t)begin;
    *slot = ++o->count;
    return o->count - 1;
}

uint32_t sample_packet_text(struct sample_packet *p, const char *text)
{
    const size_t begin = p->used, size = text ? strlen(text) : 0;
    if (size == 0)
        return 0;
    struct weft_record_text *r = add(p, WEFT_RECORD_TEXT, sizeof *r + size + 1);
    r->size = (uint32_t)size;
    memcpy(r + 1, text, size);
    return add_once(p, &p->texts, begin) + 1;
}

static uint32_t put_node(struct sample_packet *p, uint32_t parent, uint64_t address, uint8_t flags)
{
    const size_t begin = p->used;
    struct weft_record_node *r = add(p, WEFT_RECORD_NODE, sizeof *r);
    r->head.flags = flags;
    r->parent = parent;
    r->address = address;
    return add_once(p, &p->nodes, begin) + 1;
}

static uint32_t put_stack(struct sample_packet *p, const struct weft_sampled *s)
{
    uint32_t node = 0;
    for (uint32_t i = s->addresses; i-- > 0 && !p->failed;) {
        /* The innermost user address is where the thread was interrupted, or where it called the kernel. */
        const bool caller = i != 0 && i != s->kernel_addresses;
        node = put_node(p, node, s->address[i],
                        (uint8_t)((i < s->kernel_addresses ? WEFT_NODE_KERNEL : 0) |
                                  (caller ? WEFT_NODE_CALLER : 0)));
    }
    return node;
}

/* ---- Packets ---- */

static void forget(struct sample_once *o)
{
    if (o->count)
        memset(o->by.slot, 0, (size_t)o->by.room * sizeof *o->by.slot);
    o->count = 0;
}

int sample_packet_begin(struct sample_packet *p, const char *source_name,
                        const struct weft_source *source)
{
    p->used = sizeof(struct weft_samples_header);
    p->first_ns = UINT64_MAX;
    p->last_ns = 0;
    p->failed = false;
    int rc = sample_packet_reserve(p, 256 + strlen(source_name));
    if (rc < 0)
        return rc;
    memset(p->bytes, 0, p->used);
    forget(&p->texts);
    forget(&p->nodes);
    forget(&p->objects);
    uint32_t name = sample_packet_text(p, source_name);
    struct weft_record_source *r = add(p, WEFT_RECORD_SOURCE, sizeof *r);
    r->head.small = (uint16_t)source->unit;
    r->name = name;
    r->frequency = source->frequency;
    r->period = source->period;
    p->begun = p->used;
    return p->failed ? WEFT_E_NOMEM : 0;
}

const void *sample_packet_end(struct sample_packet *p, size_t *size)
{
    if (p->used <= p->begun) {
        p->used = 0;
        return NULL;
    }
    struct weft_samples_header h = {
        .packet = {.magic = WEFT_PACKET_MAGIC,
                   .signature = WEFT_PACKET_SIGNATURE,
                   .version = WEFT_FORMAT_VERSION,
                   .class = WEFT_PACKET_SAMPLES,
                   .header_bytes = sizeof h,
                   .packet_bits = p->used * 8,
                   .content_bits = p->used * 8},
        .first_ns = p->last_ns ? p->first_ns : 0,
        .last_ns = p->last_ns,
        .sequence = ++p->sequence,
    };
    memcpy(h.packet.uuid, p->uuid, sizeof p->uuid);
    memcpy(h.boot_id, p->boot_id, sizeof p->boot_id);
    memcpy(p->bytes, &h, sizeof h);
    *size = p->used;
    p->used = 0;
    return p->bytes;
}

/* ---- What the sampler hands out ---- */

static void put_sample(struct sample_packet *p, const struct weft_sampled *s)
{
    uint32_t stack = put_stack(p, s);
    struct weft_record_sample *r = add(p, WEFT_RECORD_SAMPLE, sizeof *r);
    r->head.flags = s->flags;
    r->time_ns = s->time_ns;
    r->process = s->process;
    r->thread = s->thread;
    r->core = s->core;
    r->stack = stack;
    r->value = s->value;
    if (s->time_ns < p->first_ns)
        p->first_ns = s->time_ns;
    if (s->time_ns > p->last_ns)
        p->last_ns = s->time_ns;
}

static void put_switch(struct sample_packet *p, const struct weft_sampled *s)
{
    uint32_t stack = put_stack(p, s);
    struct weft_record_switch *r = add(p, WEFT_RECORD_SWITCH, sizeof *r);
    r->head.flags = s->flags;
    r->time_ns = s->time_ns;
    r->process = s->process;
    r->thread = s->thread;
    r->core = s->core;
    r->stack = stack;
}

static void put_mapping(struct sample_packet *p, const struct weft_sampled *s)
{
    uint32_t path = sample_packet_text(p, s->text);
    struct weft_record_mapping *r = add(p, WEFT_RECORD_MAPPING, sizeof *r);
    const uint32_t id =
        s->build_id_bytes < WEFT_BUILD_ID_MAX ? s->build_id_bytes : WEFT_BUILD_ID_MAX;
    r->head.flags = s->flags;
    r->head.small = (uint16_t)id;
    r->time_ns = s->time_ns;
    r->start = s->start;
    r->size = s->size;
    r->offset = s->offset;
    r->process = s->process;
    r->path = path;
    if (id)
        memcpy(r->build_id, s->build_id, id);
}

static void put_thread(struct sample_packet *p, const struct weft_sampled *s)
{
    uint32_t name = sample_packet_text(p, s->text);
    struct weft_record_thread *r = add(p, WEFT_RECORD_THREAD, sizeof *r);
    r->head.flags = s->flags;
    r->time_ns = s->time_ns;
    r->process = s->process;
    r->thread = s->thread;
    r->parent = s->parent;
    r->name = name;
}

static void put_exit(struct sample_packet *p, const struct weft_sampled *s)
{
    struct weft_record_exit *r = add(p, WEFT_RECORD_EXIT, sizeof *r);
    r->time_ns = s->time_ns;
    r->process = s->process;
    r->thread = s->thread;
}

static void put_lost(struct sample_packet *p, const struct weft_sampled *s)
{
    struct weft_record_lost *r = add(p, WEFT_RECORD_LOST, sizeof *r);
    r->head.flags = s->flags;
    r->time_ns = s->time_ns;
    r->count = s->value;
    r->core = s->core;
}

static void put_interrupt(struct sample_packet *p, const struct weft_sampled *s)
{
    uint32_t name = sample_packet_text(p, s->text);
    struct weft_record_interrupt *r = add(p, WEFT_RECORD_INTERRUPT, sizeof *r);
    r->head.flags = s->flags;
    r->from_ns = s->time_ns;
    r->to_ns = s->to_ns;
    r->core = s->core;
    r->thread = s->thread;
    r->number = (uint32_t)s->value;
    r->name = name;
}

int sample_packet_put(struct sample_packet *p, const struct weft_sampled *s)
{
    const size_t before = p->used;
    p->failed = false;
    switch (s->kind) {
    case WEFT_RECORD_SAMPLE:
        put_sample(p, s);
        break;
    case WEFT_RECORD_SWITCH:
        put_switch(p, s);
        break;
    case WEFT_RECORD_MAPPING:
        put_mapping(p, s);
        break;
    case WEFT_RECORD_THREAD:
        put_thread(p, s);
        break;
    case WEFT_RECORD_EXIT:
        put_exit(p, s);
        break;
    case WEFT_RECORD_LOST:
        put_lost(p, s);
        break;
    case WEFT_RECORD_INTERRUPT:
        put_interrupt(p, s);
        break;
    default:
        return WEFT_E_INVALID;
    }
    if (!p->failed)
        return 0;
    /* Its texts and nodes that are already added stay, and so do the tables that refer to them. */
    size_t end = before;
    for (size_t at = before; at < p->used;) {
        const struct weft_record_head *h = (const void *)(p->bytes + at);
        at += h->bytes;
        if (h->kind == WEFT_RECORD_TEXT || h->kind == WEFT_RECORD_NODE)
            end = at;
    }
    p->used = end;
    return WEFT_E_NOMEM;
}

/* ---- Symbols ---- */

uint32_t sample_packet_object(struct sample_packet *p, const struct sample_object *o)
{
    const uint32_t path = sample_packet_text(p, o->path);
    const size_t begin = p->used;
    struct weft_record_object *r = add(p, WEFT_RECORD_OBJECT, sizeof *r);
    const uint8_t id =
        o->build_id_bytes < WEFT_BUILD_ID_MAX ? o->build_id_bytes : WEFT_BUILD_ID_MAX;
    r->head.small = id;
    r->path = path;
    r->process = o->process;
    memcpy(r->build_id, o->build_id, id);
    return add_once(p, &p->objects, begin);
}

int sample_packet_symbol(struct sample_packet *p, uint32_t object, uint64_t offset,
                         const struct weft_symbol_frame *frame, uint16_t frames)
{
    if (p->failed)
        return WEFT_E_NOMEM;
    struct weft_record_symbol *r = add(p, WEFT_RECORD_SYMBOL, sizeof *r + frames * sizeof *frame);
    r->head.small = frames;
    r->object = object;
    r->offset = offset;
    if (frames)
        memcpy(r + 1, frame, frames * sizeof *frame);
    return 0;
}
