/* SPDX-License-Identifier: ISC */
/* weft's own packets of samples. Nothing in them is trusted: each record must be within the packet,
 * each number must refer to something before it. A packet's tree of stacks is independent of
 * processes, but the profile's is not. A node becomes a stack of a process when a sample refers to
 * it; how often that happens is bounded by the packet's size. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/builder.h"

struct node {
    uint64_t address;
    uint32_t parent;
    uint16_t depth;
    uint8_t flags;
};

/* A node as a stack of a process. */
struct known {
    uint32_t node, process, generation, stack;
};
#define KNOWN_KEY offsetof(struct known, stack)

struct packet {
    struct weft_profile *p;
    const unsigned char *bytes;
    size_t content; /* bytes that are used */
    size_t at;      /* the current record */
    uint64_t file_offset;
    uint32_t *text, *source; /* numbers of the profile */
    struct node *node;       /* [0]: none */
    struct weft_mapping *object;
    uint32_t texts, sources, nodes, objects;
    uint32_t text_room, source_room, node_room, object_room;
    struct known *known;
    uint32_t knowns, known_room, most_known;
    struct weft_table known_by;
    struct weft_frame *frame;
    uint32_t frame_room;
};

/* Reports that the current record, or what it refers to, cannot be used. */
__attribute__((format(printf, 2, 3))) static void skip(struct packet *k, const char *format, ...)
{
    struct weft_profile *p = k->p;
    if (p->skipped++)
        return;
    char text[sizeof p->first_skipped.text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    weft_error_set(&p->first_skipped, WEFT_E_FORMAT, k->file_offset + k->at, "%s", text);
}

/* ---- Tables of the packet ---- */

#define APPEND(k, array, count, room, ...)                                                         \
    do {                                                                                           \
        if (profile_is_there((k)->p, weft_reserve(&(array), (count), &(room), sizeof *(array))))   \
            (array)[(count)++] = (__VA_ARGS__);                                                    \
    } while (0)

static void add_text(struct packet *k, const char *text, uint32_t size)
{
    APPEND(k, k->text, k->texts, k->text_room, weft_profile_add_text(k->p, text, size));
}

/* The profile's number for a text. Reports it if there is none. */
static bool get_text(struct packet *k, uint32_t number, uint32_t *text)
{
    bool there = number < k->texts;
    if (!there)
        skip(k, "a record uses text %" PRIu32 ", but only %" PRIu32 " stand before it", number,
             k->texts - 1);
    *text = there ? k->text[number] : 0;
    return there;
}

static void take_text(struct packet *k, const void *record)
{
    const struct weft_record_text *r = record;
    uint64_t room = r->head.bytes - sizeof *r;
    if (r->size >= room) {
        skip(k, "a text of %" PRIu32 " bytes stands in a record of %" PRIu32, r->size,
             r->head.bytes);
        add_text(k, "?", 1); /* later ones keep their numbers */
        return;
    }
    const char *text = (const char *)(r + 1);
    add_text(k, text, (uint32_t)strnlen(text, r->size));
}

static void take_source(struct packet *k, const void *record)
{
    const struct weft_record_source *r = record;
    struct weft_source s = {
        .unit = (enum weft_source_unit)(r->head.small <= WEFT_UNIT_CYCLES ? r->head.small
                                                                          : WEFT_UNIT_COUNT),
        .frequency = r->frequency,
        .period = r->period,
    };
    get_text(k, r->name, &s.name);
    APPEND(k, k->source, k->sources, k->source_room, weft_profile_add_source(k->p, &s));
}

static void take_node(struct packet *k, const void *record)
{
    const struct weft_record_node *r = record;
    uint32_t parent = r->parent;
    if (parent >= k->nodes) {
        skip(k, "a stack's caller is node %" PRIu32 ", but only %" PRIu32 " stand before it",
             parent, k->nodes - 1);
        parent = 0;
    }
    struct node n = k->node[parent];
    if (n.depth < PROFILE_DEPTH_MAX)
        n = (struct node){r->address, parent, (uint16_t)(n.depth + 1), r->head.flags};
    APPEND(k, k->node, k->nodes, k->node_room, n);
}

/* The first node, going outwards, that is not yet known as a stack of the process, up to one that
 * is; *stack is that one's stack. */
static uint32_t climb(const struct packet *k, struct known key, uint32_t *way, uint32_t *stack)
{
    uint32_t steps = 0;
    *stack = 0;
    for (; key.node; key.node = k->node[key.node].parent) {
        uint32_t found =
            weft_table_get(&k->known_by, k->known, sizeof key, KNOWN_KEY, &key, k->p->build->seed);
        if (found != UINT32_MAX) {
            *stack = k->known[found].stack;
            break;
        }
        way[steps++] = key.node;
    }
    return steps;
}

/* The stack of a process for a node at that time. *cut is set if that would be too many. WEFT_NONE:
 * no memory. */
static uint32_t stack_of(struct packet *k, uint32_t node, uint32_t process, uint64_t time_ns,
                         bool *cut)
{
    uint32_t way[PROFILE_DEPTH_MAX], stack;
    uint64_t seed = k->p->build->seed;
    struct known key = {.node = node, .process = process};
    key.generation = profile_generation(k->p, process, time_ns);
    uint32_t steps = climb(k, key, way, &stack);
    if (steps > k->most_known - k->knowns) {
        *cut = true;
        return 0;
    }
    while (steps) {
        const struct node *n = &k->node[way[--steps]];
        key.node = way[steps];
        key.stack = stack = weft_profile_push(k->p, stack, process, n->address, n->flags, time_ns);
        if (!profile_is_there(k->p,
                              weft_table_add(&k->known_by, &k->known, &k->knowns, &k->known_room,
                                             sizeof key, KNOWN_KEY, &key, seed) != UINT32_MAX))
            return WEFT_NONE;
    }
    return stack;
}

/* ---- Records ---- */

/* The stack of a record that is about that thread, and the thread. Returns false if it cannot be
 * used. */
static bool find_stack(struct packet *k, uint32_t node, uint32_t process, uint32_t thread,
                       uint64_t time_ns, uint32_t *stack, uint32_t *index, bool *cut)
{
    if (node >= k->nodes) {
        skip(k, "a record's stack is node %" PRIu32 ", but only %" PRIu32 " stand before it", node,
             k->nodes - 1);
        return false;
    }
    *stack = stack_of(k, node, process, time_ns, cut);
    *index = weft_profile_add_thread(k->p, process, thread, WEFT_NONE);
    if (*cut)
        skip(k, "its stacks take more memory than a packet of %zu bytes should", k->content);
    return true;
}

static void take_sample(struct packet *k, const void *record)
{
    const struct weft_record_sample *r = record;
    k->p->build->seen++;
    struct weft_sample s = {
        .time_ns = r->time_ns, .value = r->value, .core = r->core, .flags = r->head.flags};
    bool cut = false;
    if (r->head.small >= k->sources) {
        skip(k, "a sample is of source %u, but only %" PRIu32 " stand before it",
             (unsigned)r->head.small, k->sources);
        return;
    }
    if (!find_stack(k, r->stack, r->process, r->thread, r->time_ns, &s.stack, &s.thread, &cut))
        return;
    s.source = k->source[r->head.small];
    s.flags = (uint8_t)(s.flags | (cut ? WEFT_SAMPLE_CUT : 0));
    weft_profile_add_sample(k->p, &s);
}

static void take_switch(struct packet *k, const void *record)
{
    const struct weft_record_switch *r = record;
    uint32_t stack, thread;
    bool cut = false;
    bool out = r->head.flags & WEFT_SWITCH_OUT;
    if (!find_stack(k, out ? r->stack : 0, r->process, r->thread, r->time_ns, &stack, &thread,
                    &cut))
        return;
    if (out)
        profile_switch_out(k->p, thread, r->time_ns, r->core, stack,
                           r->head.flags & WEFT_SWITCH_PREEMPTED);
    else
        profile_switch_in(k->p, thread, r->time_ns);
}

static void take_mapping(struct packet *k, const void *record)
{
    const struct weft_record_mapping *r = record;
    struct weft_mapping m = {
        .process = r->process,
        .start = r->start,
        .size = r->size,
        .offset = r->offset,
        .from_ns = r->time_ns,
        .kernel = r->head.flags & WEFT_MAPPING_KERNEL,
    };
    if (r->head.small > WEFT_BUILD_ID_MAX) {
        skip(k, "a mapping's build id has %u bytes", (unsigned)r->head.small);
        return;
    }
    if (!get_text(k, r->path, &m.path))
        return;
    m.build_id_bytes = (uint8_t)r->head.small;
    memcpy(m.build_id, r->build_id, m.build_id_bytes);
    weft_profile_add_mapping(k->p, &m);
}

static void take_thread(struct packet *k, const void *record)
{
    const struct weft_record_thread *r = record;
    struct weft_profile *p = k->p;
    uint32_t name;
    if (!get_text(k, r->name, &name))
        return;
    weft_profile_add_thread(p, r->process, r->thread, r->name ? name : WEFT_NONE);
    if (r->head.flags & WEFT_THREAD_EXEC)
        weft_profile_exec(p, r->process, r->time_ns);
    else if (r->parent != UINT32_MAX && r->thread == r->process)
        weft_profile_fork(p, r->process, r->parent, r->time_ns);
}

static void take_exit(struct packet *k, const void *record)
{
    const struct weft_record_exit *r = record;
    uint32_t thread = weft_profile_add_thread(k->p, r->process, r->thread, WEFT_NONE);
    profile_switch_exit(k->p, thread, r->time_ns);
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void take_lost(struct packet *k, const void *record)
{
    const struct weft_record_lost *r = record;
    struct weft_profile *p = k->p;
    uint64_t *lost = r->head.flags & WEFT_LOST_OTHER ? &p->lost_other : &p->lost;
    *lost = add_up(*lost, r->count);
    if (r->head.flags & WEFT_LOST_SWITCHES &&
        (!p->switches_until_ns || r->time_ns < p->switches_until_ns))
        p->switches_until_ns = r->time_ns;
}

static void take_interrupt(struct packet *k, const void *record)
{
    const struct weft_record_interrupt *r = record;
    struct weft_interrupt i = {
        .from_ns = r->from_ns,
        .to_ns = r->to_ns,
        .core = r->core,
        .thread = WEFT_NONE,
        .number = r->number,
        .soft = r->head.flags & WEFT_INTERRUPT_SOFT,
    };
    if (r->to_ns < r->from_ns) {
        skip(k, "an interrupt ends before it begins");
        return;
    }
    if (!get_text(k, r->name, &i.name))
        return;
    if (r->thread != UINT32_MAX)
        i.thread = profile_thread_by_number(k->p, r->thread);
    weft_profile_add_interrupt(k->p, &i);
}

static void take_object(struct packet *k, const void *record)
{
    const struct weft_record_object *r = record;
    struct weft_mapping o = {.process = r->process};
    if (r->head.small > WEFT_BUILD_ID_MAX)
        skip(k, "an object's build id has %u bytes", (unsigned)r->head.small);
    else
        o.build_id_bytes = (uint8_t)r->head.small;
    memcpy(o.build_id, r->build_id, o.build_id_bytes);
    get_text(k, r->path, &o.path);
    APPEND(k, k->object, k->objects, k->object_room, o);
}

/* The function and line of a frame. Returns false if it cannot be used. */
static bool make_frame(struct packet *k, const struct weft_symbol_frame *r,
                       struct weft_frame *frame)
{
    struct weft_function f = {.start_line = r->start_line};
    if (!get_text(k, r->name, &f.name) || !get_text(k, r->system_name, &f.system_name) ||
        !get_text(k, r->file, &f.file))
        return false;
    if (!r->system_name)
        f.system_name = f.name;
    *frame = (struct weft_frame){weft_profile_add_function(k->p, &f), r->line};
    return true;
}

static void take_symbol(struct packet *k, const void *record)
{
    const struct weft_record_symbol *r = record;
    const struct weft_symbol_frame *frame = (const struct weft_symbol_frame *)(r + 1);
    uint32_t frames = r->head.small;
    if (frames > (r->head.bytes - sizeof *r) / sizeof *frame) {
        skip(k, "a symbol of %" PRIu32 " frames stands in a record of %" PRIu32 " bytes", frames,
             r->head.bytes);
        return;
    }
    if (r->object >= k->objects) {
        skip(k, "a symbol is of object %" PRIu32 ", but only %" PRIu32 " stand before it",
             r->object, k->objects);
        return;
    }
    for (uint32_t i = 0; i < frames; i++) {
        if (!profile_is_there(k->p, weft_reserve(&k->frame, i, &k->frame_room, sizeof *k->frame)) ||
            !make_frame(k, &frame[i], &k->frame[i]))
            return;
    }
    weft_profile_add_symbol(k->p, &k->object[r->object], r->offset, k->frame, frames);
}

/* ---- The packet ---- */

static const struct {
    void (*take)(struct packet *k, const void *record);
    size_t least_bytes;
} kinds[] = {
    [WEFT_RECORD_TEXT] = {take_text, sizeof(struct weft_record_text)},
    [WEFT_RECORD_SOURCE] = {take_source, sizeof(struct weft_record_source)},
    [WEFT_RECORD_NODE] = {take_node, sizeof(struct weft_record_node)},
    [WEFT_RECORD_SAMPLE] = {take_sample, sizeof(struct weft_record_sample)},
    [WEFT_RECORD_SWITCH] = {take_switch, sizeof(struct weft_record_switch)},
    [WEFT_RECORD_MAPPING] = {take_mapping, sizeof(struct weft_record_mapping)},
    [WEFT_RECORD_THREAD] = {take_thread, sizeof(struct weft_record_thread)},
    [WEFT_RECORD_EXIT] = {take_exit, sizeof(struct weft_record_exit)},
    [WEFT_RECORD_LOST] = {take_lost, sizeof(struct weft_record_lost)},
    [WEFT_RECORD_INTERRUPT] = {take_interrupt, sizeof(struct weft_record_interrupt)},
    [WEFT_RECORD_OBJECT] = {take_object, sizeof(struct weft_record_object)},
    [WEFT_RECORD_SYMBOL] = {take_symbol, sizeof(struct weft_record_symbol)},
};

static void take_records(struct packet *k)
{
    struct weft_record_head head;
    while (profile_is_there(k->p, true) && k->content - k->at >= sizeof head) {
        memcpy(&head, k->bytes + k->at, sizeof head);
        if (head.bytes < sizeof head || head.bytes % 8 || head.bytes > k->content - k->at) {
            skip(k, "a record says it has %" PRIu32 " bytes, with %zu left in its packet",
                 head.bytes, k->content - k->at);
            return;
        }
        bool known = head.kind < sizeof kinds / sizeof *kinds && kinds[head.kind].take;
        if (!known)
            skip(k, "a record is of kind %u, which this version of weft does not know",
                 (unsigned)head.kind);
        else if (head.bytes < kinds[head.kind].least_bytes)
            skip(k, "a record of kind %u has %" PRIu32 " bytes, but needs %zu", (unsigned)head.kind,
                 head.bytes, kinds[head.kind].least_bytes);
        else
            kinds[head.kind].take(k, k->bytes + k->at);
        k->at += head.bytes;
    }
    if (profile_is_there(k->p, true) && k->content != k->at)
        skip(k, "a packet of samples ends in the middle of a record");
}

static void free_packet(struct packet *k)
{
    weft_free_all(k->text, k->source, k->node, k->object, k->known, k->frame, k->known_by.slot);
}

/* What packets before this one had, also those that are overwritten. Packets come in their order. */
static void take_before(struct packet *k, const struct weft_samples_before *before)
{
    struct weft_profile *p = k->p;
    struct weft_profile_build *b = p->build;
    if (before->samples > b->seen) {
        p->overwritten = add_up(p->overwritten, before->samples - b->seen);
        b->seen = before->samples;
    }
    const uint64_t lost = add_up(b->lost_at, before->lost),
                   other = add_up(b->lost_other_at, before->lost_other);
    p->lost = lost > p->lost ? lost : p->lost;
    p->lost_other = other > p->lost_other ? other : p->lost_other;
}

int weft_profile_load_packet(struct weft_profile *p, const void *packet, size_t bytes, uint64_t at,
                             struct weft_error *err)
{
    struct weft_samples_header h;
    if (bytes < sizeof h)
        return weft_error_set(err, WEFT_E_FORMAT, at,
                              "expected a packet of samples, found %zu bytes", bytes);
    memcpy(&h, packet, sizeof h);
    uint64_t content = h.packet.content_bits / 8;
    content = content < bytes ? content : bytes;
    if (h.packet.class != WEFT_PACKET_SAMPLES || h.packet.header_bytes < sizeof h ||
        h.packet.header_bytes % 8 || h.packet.header_bytes > content)
        return weft_error_set(err, WEFT_E_FORMAT, at,
                              "expected a packet of samples, found one of class %u with a header "
                              "of %" PRIu32 " bytes",
                              (unsigned)h.packet.class, h.packet.header_bytes);
    struct packet k = {
        .p = p,
        .bytes = packet,
        .content = (size_t)content,
        .at = h.packet.header_bytes,
        .file_offset = at,
        .most_known = (uint32_t)(bytes / 2 < UINT32_MAX ? bytes / 2 : UINT32_MAX - 1),
    };
    static const uint8_t unknown[sizeof p->boot_id];
    if (memcmp(p->boot_id, unknown, sizeof unknown) == 0)
        memcpy(p->boot_id, h.boot_id, sizeof p->boot_id);
    struct weft_samples_before before;
    if (h.packet.header_bytes >= sizeof h + sizeof before) {
        memcpy(&before, (const char *)packet + sizeof h, sizeof before);
        take_before(&k, &before);
    }
    add_text(&k, "", 0);
    APPEND(&k, k.node, k.nodes, k.node_room, (struct node){.depth = 0});
    take_records(&k);
    free_packet(&k);
    return profile_is_there(p, true)
               ? 0
               : weft_error_set(err, WEFT_E_NOMEM, at, "out of memory for its samples");
}

int weft_profile_load_trace(struct weft_profile *p, struct weft_reader *r, struct weft_error *err)
{
    const void *packet;
    uint64_t offset;
    ptrdiff_t bytes;
    p->build->seen = 0;
    p->build->lost_at = p->lost;
    p->build->lost_other_at = p->lost_other;
    while ((bytes = weft_reader_next_samples(r, &packet, &offset, err)) > 0) {
        struct weft_error odd;
        int rc = weft_profile_load_packet(p, packet, (size_t)bytes, offset, &odd);
        if (rc == WEFT_E_FORMAT) { /* the others may be valid */
            p->first_skipped = p->skipped++ ? p->first_skipped : odd;
        } else if (rc < 0) {
            if (err)
                *err = odd;
            return rc;
        }
    }
    return (int)bytes;
}
