/* SPDX-License-Identifier: ISC */
#include "sample/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void sample_packet_fini(struct sample_packet *p)
{
    free(p->bytes);
    weft_strings_free(p->texts);
    weft_strings_free(p->nodes);
    weft_strings_free(p->objects);
    *p = (struct sample_packet){0};
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

/* If the packet already has a record equal to the one just added, removes the new one. Returns the number of
 * the record that stays, counted from 0; UINT32_MAX: no memory. */
static uint32_t add_once(struct sample_packet *p, struct weft_strings *records, size_t begin)
{
    const struct weft_record_head *h = (const void *)(p->bytes + begin);
    const uint32_t next = weft_strings_count(records);
    const uint32_t number = weft_strings_add(records, (const char *)h, h->bytes);
    p->used = number == next ? p->used : begin;
    p->failed |= number == WEFT_STRINGS_NONE;
    return number;
}

uint32_t sample_packet_text(struct sample_packet *p, const char *text)
{
    const size_t begin = p->used, size = text ? strlen(text) : 0;
    if (size == 0)
        return 0;
    struct weft_record_text *r = add(p, WEFT_RECORD_TEXT, sizeof *r + size + 1);
    r->size = (uint32_t)size;
    memcpy(r + 1, text, size);
    return add_once(p, p->texts, begin) + 1;
}

static uint32_t put_node(struct sample_packet *p, uint32_t parent, uint64_t address, uint8_t flags)
{
    const size_t begin = p->used;
    struct weft_record_node *r = add(p, WEFT_RECORD_NODE, sizeof *r);
    r->head.flags = flags;
    r->parent = parent;
    r->address = address;
    return add_once(p, p->nodes, begin) + 1;
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

static bool renew(struct weft_strings **records)
{
    weft_strings_free(*records);
    *records = weft_strings_new();
    return *records;
}

int sample_packet_begin(struct sample_packet *p, const char *source_name,
                        const struct weft_source *source)
{
    p->used = sizeof(struct weft_samples_header) + (p->slot_bytes ? sizeof p->before : 0);
    p->first_ns = UINT64_MAX;
    p->last_ns = 0;
    p->failed = false;
    if (!weft_reserve_all(&p->bytes, p->used + 256 + strlen(source_name), &p->room, 1) ||
        !renew(&p->texts) || !renew(&p->nodes) || !renew(&p->objects)) {
        p->used = 0;
        return WEFT_E_NOMEM;
    }
    memset(p->bytes, 0, p->used);
    uint32_t name = sample_packet_text(p, source_name);
    struct weft_record_source *r = add(p, WEFT_RECORD_SOURCE, sizeof *r);
    r->head.small = (uint16_t)source->unit;
    r->name = name;
    r->frequency = source->frequency;
    r->period = source->period;
    p->begun = p->used;
    return p->failed ? WEFT_E_NOMEM : 0;
}

size_t sample_packet_seal(struct sample_packet *p)
{
    struct weft_samples_header h = {
        .packet = {.magic = WEFT_PACKET_MAGIC,
                   .signature = WEFT_PACKET_SIGNATURE,
                   .version = WEFT_FORMAT_VERSION,
                   .class = WEFT_PACKET_SAMPLES,
                   .header_bytes = sizeof h + (p->slot_bytes ? sizeof p->before : 0),
                   .packet_bits = (p->slot_bytes ? p->slot_bytes : p->used) * 8,
                   .content_bits = p->used * 8},
        .first_ns = p->last_ns ? p->first_ns : 0,
        .last_ns = p->last_ns,
        .sequence = p->sequence + 1,
    };
    if (p->used <= p->begun)
        return 0;
    memcpy(h.packet.uuid, p->uuid, sizeof p->uuid);
    memcpy(h.boot_id, p->boot_id, sizeof p->boot_id);
    memcpy(p->bytes, &h, sizeof h);
    if (p->slot_bytes)
        memcpy(p->bytes + sizeof h, &p->before, sizeof p->before);
    return h.packet.header_bytes;
}

const void *sample_packet_end(struct sample_packet *p, size_t *size)
{
    const bool filled = sample_packet_seal(p) > 0;
    *size = p->used;
    p->used = 0;
    p->sequence += filled;
    return filled ? p->bytes : NULL;
}

/* ---- What the sampler hands out ---- */

/* Copies a build id; returns its size. */
static uint16_t put_build_id(uint8_t to[WEFT_BUILD_ID_MAX], const uint8_t *id, uint32_t bytes)
{
    bytes = bytes < WEFT_BUILD_ID_MAX ? bytes : WEFT_BUILD_ID_MAX;
    if (bytes)
        memcpy(to, id, bytes);
    return (uint16_t)bytes;
}

/* All kinds are zero where they say nothing, so that each record is put in one piece. */
union record {
    struct weft_record_head head;
    struct weft_record_sample sample;
    struct weft_record_switch leaves;
    struct weft_record_mapping mapping;
    struct weft_record_thread thread;
    struct weft_record_exit ended;
    struct weft_record_lost lost;
    struct weft_record_interrupt interrupt;
};

/* Returns the record's size; 0: it is of no kind that is stored. */
static size_t record_of(union record *r, const struct weft_sampled *s, uint32_t text,
                        uint32_t stack)
{
    switch (s->kind) {
    case WEFT_RECORD_SAMPLE:
        r->sample = (struct weft_record_sample){.time_ns = s->time_ns,
                                                .process = s->process,
                                                .thread = s->thread,
                                                .core = s->core,
                                                .stack = stack,
                                                .value = s->value};
        return sizeof r->sample;
    case WEFT_RECORD_SWITCH:
        r->leaves = (struct weft_record_switch){.time_ns = s->time_ns,
                                                .process = s->process,
                                                .thread = s->thread,
                                                .core = s->core,
                                                .stack = stack};
        return sizeof r->leaves;
    case WEFT_RECORD_MAPPING:
        r->mapping = (struct weft_record_mapping){.time_ns = s->time_ns,
                                                  .start = s->start,
                                                  .size = s->size,
                                                  .offset = s->offset,
                                                  .process = s->process,
                                                  .path = text};
        r->head.small = put_build_id(r->mapping.build_id, s->build_id, s->build_id_bytes);
        return sizeof r->mapping;
    case WEFT_RECORD_THREAD:
        r->thread = (struct weft_record_thread){.time_ns = s->time_ns,
                                                .process = s->process,
                                                .thread = s->thread,
                                                .parent = s->parent,
                                                .name = text};
        return sizeof r->thread;
    case WEFT_RECORD_EXIT:
        r->ended = (struct weft_record_exit){
            .time_ns = s->time_ns, .process = s->process, .thread = s->thread};
        return sizeof r->ended;
    case WEFT_RECORD_LOST:
        r->lost =
            (struct weft_record_lost){.time_ns = s->time_ns, .count = s->value, .core = s->core};
        return sizeof r->lost;
    case WEFT_RECORD_INTERRUPT:
        r->interrupt = (struct weft_record_interrupt){.from_ns = s->time_ns,
                                                      .to_ns = s->to_ns,
                                                      .core = s->core,
                                                      .thread = s->thread,
                                                      .number = (uint32_t)s->value,
                                                      .name = text};
        return sizeof r->interrupt;
    default:
        return 0;
    }
}

int sample_packet_put(struct sample_packet *p, const struct weft_sampled *s)
{
    union record r = {.head = {0}};
    p->failed = false;
    const uint32_t text = sample_packet_text(p, s->text), stack = put_stack(p, s);
    const size_t size = record_of(&r, s, text, stack);
    if (size == 0)
        return WEFT_E_INVALID;
    if (p->failed) /* the texts and nodes that were added before stay */
        return WEFT_E_NOMEM;
    struct weft_record_head *head = add(p, s->kind, size);
    head->flags = s->flags;
    head->small = r.head.small;
    memcpy(head + 1, &r.head + 1, size - sizeof *head);
    if (s->kind == WEFT_RECORD_SAMPLE) {
        p->first_ns = s->time_ns < p->first_ns ? s->time_ns : p->first_ns;
        p->last_ns = s->time_ns > p->last_ns ? s->time_ns : p->last_ns;
    }
    return 0;
}

/* ---- Symbols ---- */

uint32_t sample_packet_object(struct sample_packet *p, const char *path_text, uint32_t process,
                              const struct weft_mapping *m)
{
    const uint32_t path = sample_packet_text(p, path_text);
    const size_t begin = p->used;
    struct weft_record_object *r = add(p, WEFT_RECORD_OBJECT, sizeof *r);
    r->head.small = put_build_id(r->build_id, m->build_id, m->build_id_bytes);
    r->path = path;
    r->process = process;
    return add_once(p, p->objects, begin);
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
