/* SPDX-License-Identifier: ISC */
/* Decodes the fields of a sample; sample_type says which there are: see perf_event_open(2). */
#include "profile/perf.h"

#define BRANCH_HW_INDEX (UINT64_C(1) << 17)

/* count items of size bytes. */
static const unsigned char *take_array(struct profile_perf_rest *r, uint64_t count, unsigned size)
{
    return profile_perf_take_bytes(r, count > r->bytes ? UINT64_MAX : count * size);
}

static void take_ids(struct profile_perf_rest *r, uint64_t type, struct profile_perf_sample *s)
{
    const unsigned char *b;
    if (type & PERF_SAMPLE_IDENTIFIER)
        profile_perf_take_bytes(r, 8);
    if (type & PERF_SAMPLE_IP)
        s->ip = profile_perf_take_u64(r);
    if (type & PERF_SAMPLE_TID && (b = profile_perf_take_bytes(r, 8))) {
        s->process = weft_read_u32(b);
        s->thread = weft_read_u32(b + 4);
    }
    if (type & PERF_SAMPLE_TIME)
        s->time_ns = profile_perf_take_u64(r);
    if (type & PERF_SAMPLE_ADDR)
        profile_perf_take_bytes(r, 8);
    if (type & PERF_SAMPLE_ID)
        profile_perf_take_bytes(r, 8);
    if (type & PERF_SAMPLE_STREAM_ID)
        profile_perf_take_bytes(r, 8);
    if (type & PERF_SAMPLE_CPU && (b = profile_perf_take_bytes(r, 8)))
        s->core = weft_read_u32(b);
    if (type & PERF_SAMPLE_PERIOD)
        s->period = profile_perf_take_u64(r);
}

static void skip_read(struct profile_perf_rest *r, uint64_t format)
{
    unsigned times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
    times += (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
    unsigned words = 1;
    words += (format & PERF_FORMAT_ID) != 0;
    words += (format & PERF_FORMAT_LOST) != 0;
    uint64_t values = format & PERF_FORMAT_GROUP ? profile_perf_take_u64(r) : 1;
    take_array(r, times, 8);
    take_array(r, values, words * 8);
}

static void skip_branches(struct profile_perf_rest *r, uint64_t branch_type)
{
    uint64_t count = profile_perf_take_u64(r);
    if (branch_type & BRANCH_HW_INDEX)
        profile_perf_take_bytes(r, 8);
    take_array(r, count, 24);
}

static void take_stack(struct profile_perf_rest *r, const struct perf_event_attr *attr,
                       struct profile_perf_sample *s)
{
    if (attr->sample_type & PERF_SAMPLE_REGS_USER) {
        s->regs_abi = profile_perf_take_u64(r);
        s->regs_mask = attr->sample_regs_user;
        if (s->regs_abi != PERF_SAMPLE_REGS_ABI_NONE)
            s->regs = take_array(r, (unsigned)__builtin_popcountll(s->regs_mask), 8);
    }
    if (attr->sample_type & PERF_SAMPLE_STACK_USER) {
        uint64_t bytes = profile_perf_take_u64(r);
        s->stack = bytes ? profile_perf_take_bytes(r, bytes) : NULL;
        uint64_t there = bytes ? profile_perf_take_u64(r) : 0; /* as much as there was */
        s->stack_bytes = !s->stack ? 0 : there < bytes ? there : bytes;
    }
}

/* … and the identifier after these. */
#define TRAILER                                                                                    \
    (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)

size_t profile_perf_trailer_bytes(const struct perf_event_attr *attr)
{
    const uint64_t fields = attr->sample_type & (TRAILER | PERF_SAMPLE_IDENTIFIER);
    return attr->sample_id_all ? 8 * (size_t)__builtin_popcountll(fields) : 0;
}

bool profile_perf_read(struct profile_perf_sample *s, uint32_t record,
                       const struct perf_event_attr *attr, const unsigned char *body, size_t bytes)
{
    struct profile_perf_rest r = {.at = body, .bytes = bytes};
    uint64_t type = attr->sample_type;
    *s = (struct profile_perf_sample){
        .process = UINT32_MAX, .thread = UINT32_MAX, .core = UINT32_MAX};
    if (record != PERF_RECORD_SAMPLE) {
        const size_t trailer = profile_perf_trailer_bytes(attr);
        if (trailer && trailer <= bytes) {
            r.at += bytes - trailer;
            r.bytes = trailer;
            take_ids(&r, type & TRAILER, s);
        }
        return true;
    }
    take_ids(&r, type, s);
    if (type & PERF_SAMPLE_READ)
        skip_read(&r, attr->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        s->chain_length = profile_perf_take_u64(&r);
        s->chain = take_array(&r, s->chain_length, 8);
    }
    if (type & PERF_SAMPLE_RAW) {
        s->raw_bytes = profile_perf_take_u32(&r);
        s->raw = profile_perf_take_bytes(&r, s->raw_bytes);
    }
    if (type & PERF_SAMPLE_BRANCH_STACK)
        skip_branches(&r, attr->branch_sample_type);
    take_stack(&r, attr, s);
    return !r.cut; /* what follows says nothing about where it was */
}

const struct profile_perf_event *profile_perf_event_of(const struct profile_perf *d, uint32_t type,
                                                       const unsigned char *body, size_t bytes)
{
    if (d->events <= 1 || d->id_at == PROFILE_PERF_NO_ID)
        return d->events ? d->event : NULL;
    uint32_t event = WEFT_NONE;
    if (type == PERF_RECORD_SAMPLE && bytes >= d->id_at + 8)
        event = profile_perf_find_id(d, weft_read_u64(body + d->id_at));
    else if (type != PERF_RECORD_SAMPLE && d->event->attr.sample_id_all && bytes >= d->id_at_end)
        event = profile_perf_find_id(d, weft_read_u64(body + bytes - d->id_at_end));
    if (event != WEFT_NONE)
        return &d->event[event];
    /* Records made by perf itself have no id; their trailer has the form of the first event. */
    return type == PERF_RECORD_SAMPLE ? NULL : d->event;
}

/* ---- What events are ---- */

/* The sampler offers the first ones. */
const struct profile_perf_kind profile_perf_kinds[PROFILE_PERF_KINDS] = {
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, WEFT_UNIT_NS},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, WEFT_UNIT_NS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, WEFT_UNIT_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, WEFT_UNIT_COUNT},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, WEFT_UNIT_COUNT},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, WEFT_UNIT_COUNT},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, WEFT_UNIT_COUNT},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, WEFT_UNIT_COUNT},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, WEFT_UNIT_COUNT},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, WEFT_UNIT_COUNT},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, WEFT_UNIT_COUNT},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, WEFT_UNIT_COUNT},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, WEFT_UNIT_COUNT},
    [PROFILE_PERF_SAMPLED] = {"bus-cycles", PERF_TYPE_HARDWARE, 6, WEFT_UNIT_COUNT},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, 7, WEFT_UNIT_COUNT},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, 8, WEFT_UNIT_COUNT},
    {"ref-cycles", PERF_TYPE_HARDWARE, 9, WEFT_UNIT_COUNT},
    {"alignment-faults", PERF_TYPE_SOFTWARE, 7, WEFT_UNIT_COUNT},
    {"emulation-faults", PERF_TYPE_SOFTWARE, 8, WEFT_UNIT_COUNT},
    {"dummy", PERF_TYPE_SOFTWARE, 9, WEFT_UNIT_COUNT},
    {"bpf-output", PERF_TYPE_SOFTWARE, 10, WEFT_UNIT_COUNT},
    {"cgroup-switches", PERF_TYPE_SOFTWARE, 11, WEFT_UNIT_COUNT},
};

const struct profile_perf_kind *profile_perf_kind_of(uint32_t type, uint64_t config)
{
    for (size_t i = 0; i < PROFILE_PERF_KINDS; i++)
        if (profile_perf_kinds[i].type == type && profile_perf_kinds[i].config == config)
            return &profile_perf_kinds[i];
    return NULL;
}
