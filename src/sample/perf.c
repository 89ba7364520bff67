/* SPDX-License-Identifier: ISC */
/* Parses records of Linux's perf rings from bytes: no state, no system calls. Inconsistent records are refused,
 * because the bytes may come from anybody. */
#include <string.h>

#include "sample/state.h"

/* The unread rest of a record. After one read that did not fit, all others fail. */
struct bytes {
    const uint8_t *at;
    size_t left;
    bool short_of;
};

static const uint8_t *take_bytes(struct bytes *b, uint64_t n)
{
    if (n > b->left) {
        b->short_of = true;
        b->left = 0;
        return NULL;
    }
    const uint8_t *at = b->at;
    b->at += n;
    b->left -= (size_t)n;
    return at;
}

/* Copies what is next; the rings use the machine's own byte order. If it is not there, to is zeroed. */
static void take_value(struct bytes *b, void *to, size_t size)
{
    const uint8_t *at = take_bytes(b, size);
    memset(to, 0, size);
    if (at)
        memcpy(to, at, size);
}

static uint64_t take_u64(struct bytes *b)
{
    uint64_t v;
    take_value(b, &v, sizeof v);
    return v;
}

static uint32_t take_u32(struct bytes *b)
{
    uint32_t v;
    take_value(b, &v, sizeof v);
    return v;
}

/* n numbers of 8 bytes, or NULL. */
static const uint8_t *take_array(struct bytes *b, uint64_t n)
{
    return n <= b->left / 8 ? take_bytes(b, n * 8) : take_bytes(b, UINT64_MAX);
}

static const char *take_text(struct bytes *b)
{
    const uint8_t *at = b->at;
    if (!memchr(at, 0, b->left)) {
        b->short_of = true;
        return "";
    }
    b->at += b->left;
    b->left = 0;
    return (const char *)at;
}

static void take_place(struct sample_perf_record *r, struct bytes *b)
{
    struct sample_perf_place p;
    take_value(b, &p, sizeof p);
    r->process = p.process;
    r->thread = p.thread;
    r->time_ns = p.time_ns;
}

/* Identifier, instruction, thread and time come first, whatever else was requested. */
static void parse_sample(struct sample_perf_record *r, struct bytes *b,
                         const struct weft_sampler *s)
{
    r->id = take_u64(b);
    const struct sample_event *e = sample_event_of(s, r->id);
    const uint64_t type = e ? s->sample_type[e->role] : 0;
    r->ip = take_u64(b);
    take_place(r, b);
    if (type & PERF_SAMPLE_PERIOD)
        r->period = take_u64(b);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        r->chain_count = take_u64(b);
        r->chain = take_array(b, r->chain_count);
    }
    if (type & PERF_SAMPLE_RAW) {
        r->raw_bytes = take_u32(b);
        r->raw = take_bytes(b, r->raw_bytes);
    }
    if (type & PERF_SAMPLE_REGS_USER && take_u64(b) != PERF_SAMPLE_REGS_ABI_NONE)
        r->regs = take_array(b, (unsigned)__builtin_popcountll(s->regs_mask));
    if (type & PERF_SAMPLE_STACK_USER) {
        uint64_t size = take_u64(b);
        r->stack = take_bytes(b, size);
        r->stack_bytes = size ? take_u64(b) : 0;
        b->short_of |= r->stack_bytes > size;
    }
    if (type == 0)
        b->short_of = true; /* none of our events has this */
}

static void parse_mapping(struct sample_perf_record *r, struct bytes *b)
{
    r->process = take_u32(b);
    r->thread = take_u32(b);
    r->start = take_u64(b);
    r->size = take_u64(b);
    r->offset = take_u64(b);
    r->executable = !(r->misc & PERF_RECORD_MISC_MMAP_DATA);
    if (r->type == PERF_RECORD_MMAP2) {
        const uint8_t *file = take_bytes(b, 24);
        r->executable = take_u32(b) & 4; /* PROT_EXEC */
        take_u32(b);
        if (file && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
            r->build_id_bytes = file[0] <= 20 ? file[0] : 20;
            r->build_id = file + 4;
        }
    }
    r->text = take_text(b);
}

static void parse_body(struct sample_perf_record *r, struct bytes *b)
{
    switch (r->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        parse_mapping(r, b);
        break;
    case PERF_RECORD_COMM:
        r->process = take_u32(b);
        r->thread = take_u32(b);
        r->text = take_text(b);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        r->process = take_u32(b);
        r->parent = take_u32(b);
        r->thread = take_u32(b);
        r->parent_thread = take_u32(b);
        r->time_ns = take_u64(b);
        break;
    case PERF_RECORD_LOST:
        r->id = take_u64(b);
        r->count = take_u64(b);
        break;
    case PERF_RECORD_LOST_SAMPLES:
        r->count = take_u64(b);
        break;
    }
}

size_t sample_perf_parse(struct sample_perf_record *out, const struct weft_sampler *s,
                         const uint8_t *bytes, size_t room)
{
    struct perf_event_header head;
    if (room < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    if (head.size < sizeof head || head.size > room)
        return 0;
    *out = (struct sample_perf_record){
        .type = head.type, .misc = head.misc, .process = UINT32_MAX, .text = ""};
    struct bytes b = {bytes + sizeof head, head.size - sizeof head, false};
    if (head.type == PERF_RECORD_SAMPLE) {
        parse_sample(out, &b, s);
    } else {
        if (b.left < SAMPLE_PERF_TRAILER_BYTES)
            return 0;
        b.left -= SAMPLE_PERF_TRAILER_BYTES;
        struct bytes trailer = {b.at + b.left, SAMPLE_PERF_TRAILER_BYTES, false};
        take_place(out, &trailer);
        out->id = take_u64(&trailer);
        parse_body(out, &b);
    }
    return b.short_of ? 0 : head.size;
}

uint64_t sample_perf_time(const uint8_t *bytes, size_t room)
{
    struct perf_event_header head;
    uint64_t time_ns = 0;
    if (room < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    if (head.size > room)
        return 0;
    /* In a sample: after the identifier, the instruction and the thread, which all of our events have. */
    size_t at = head.type == PERF_RECORD_SAMPLE ? sizeof head + 24 : head.size - (size_t)24;
    if (head.size >= sizeof head + SAMPLE_PERF_TRAILER_BYTES)
        memcpy(&time_ns, bytes + at, sizeof time_ns);
    return time_ns;
}
