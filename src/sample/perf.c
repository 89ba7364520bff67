/* SPDX-License-Identifier: ISC */
/* Parses records of Linux's perf rings from bytes: no state, no system calls. Inconsistent records are refused,
 * because the bytes may come from anybody. */
#include <string.h>

#include "sample/state.h"

static const char *take_text(struct profile_perf_rest *b)
{
    const char *text = (const char *)profile_perf_take_bytes(b, b->bytes);
    b->cut |= !memchr(text, 0, (size_t)((const char *)b->at - text));
    return b->cut ? "" : text;
}

/* The identifier comes first, whatever else was requested. */
static void parse_sample(struct sample_perf_record *r, struct profile_perf_rest *b,
                         const struct weft_sampler *s)
{
    struct profile_perf_rest rest = *b;
    r->id = profile_perf_take_u64(&rest);
    const struct sample_event *e = sample_event_of(s, r->id);
    const struct perf_event_attr attr = {.sample_type = e ? s->sample_type[e->role] : 0,
                                         .sample_regs_user = s->regs_mask};
    b->cut = !e || !profile_perf_read(&r->sample, r->type, &attr, b->at, b->bytes);
}

static void parse_mapping(struct sample_perf_record *r, struct profile_perf_rest *b)
{
    r->process = profile_perf_take_u32(b);
    r->thread = profile_perf_take_u32(b);
    r->start = profile_perf_take_u64(b);
    r->size = profile_perf_take_u64(b);
    r->offset = profile_perf_take_u64(b);
    r->executable = !(r->misc & PERF_RECORD_MISC_MMAP_DATA);
    if (r->type == PERF_RECORD_MMAP2) {
        const uint8_t *file = profile_perf_take_bytes(b, 24);
        r->executable = profile_perf_take_u32(b) & 4; /* PROT_EXEC */
        profile_perf_take_u32(b);
        if (file && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
            r->build_id_bytes = file[0] <= 20 ? file[0] : 20;
            r->build_id = file + 4;
        }
    }
    r->text = take_text(b);
}

static void parse_body(struct sample_perf_record *r, struct profile_perf_rest *b)
{
    switch (r->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        parse_mapping(r, b);
        break;
    case PERF_RECORD_COMM:
        r->process = profile_perf_take_u32(b);
        r->thread = profile_perf_take_u32(b);
        r->text = take_text(b);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        r->process = profile_perf_take_u32(b);
        r->parent = profile_perf_take_u32(b);
        r->thread = profile_perf_take_u32(b);
        r->parent_thread = profile_perf_take_u32(b);
        r->time_ns = profile_perf_take_u64(b);
        break;
    case PERF_RECORD_LOST:
        r->id = profile_perf_take_u64(b);
        r->count = profile_perf_take_u64(b);
        break;
    case PERF_RECORD_LOST_SAMPLES:
        r->count = profile_perf_take_u64(b);
        break;
    }
}

bool sample_perf_parse(struct sample_perf_record *out, const struct weft_sampler *s,
                       const uint8_t *bytes, size_t room)
{
    static const struct perf_event_attr common = {.sample_type = SAMPLE_PERF_COMMON,
                                                  .sample_id_all = 1};
    struct perf_event_header head;
    if (room < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.size < sizeof head || head.size > room)
        return false;
    *out = (struct sample_perf_record){.type = head.type, .misc = head.misc, .text = ""};
    struct profile_perf_rest b = {bytes + sizeof head, head.size - sizeof head, false};
    if (head.type == PERF_RECORD_SAMPLE) {
        parse_sample(out, &b, s);
    } else {
        if (b.bytes < SAMPLE_PERF_TRAILER_BYTES)
            return false;
        profile_perf_read(&out->sample, head.type, &common, b.at, b.bytes);
        out->id = weft_read_u64(b.at + b.bytes - sizeof out->id);
        b.bytes -= SAMPLE_PERF_TRAILER_BYTES;
    }
    out->process = out->sample.process;
    out->thread = out->sample.thread;
    out->time_ns = out->sample.time_ns;
    parse_body(out, &b); /* which may know better */
    return !b.cut;
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
