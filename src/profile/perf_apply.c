/* SPDX-License-Identifier: ISC */
/* Applies the records to the profile, in order of time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "profile/builder.h"
#include "profile/perf.h"

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

enum {
    HEADER = 8,
    BLOCK_BITS = 16,
    BLOCK = 1 << BLOCK_BITS,
    BLOCKS = 64,
    CHAIN_MAX = UINT16_MAX / 8
};

static const char kernel_name[] = "[kernel.kallsyms]";

/* A process whose addresses are not those of this machine's processes. */
#define GUEST (UINT32_MAX - 1)

/* The records of each core are stored together, so in order of time one jumps between as many
 * places as there are cores. Each gets its own block. */
struct cache {
    struct {
        uint64_t number; /* the block's number, from 1; bit 63: in the decompressed data */
        size_t have;
        unsigned char at[BLOCK];
    } block[BLOCKS];
    unsigned char whole[BLOCK]; /* for a record that is in two blocks */
};

struct apply {
    struct profile_perf *d;
    struct profile_foreign *f;
    struct weft_profile *p;
    struct cache *cache;
    const struct weft_foreign_unwinder *u; /* or NULL */
};

/* A record with the parts decoded that all records share. */
struct record {
    uint32_t type;
    uint16_t misc;
    const unsigned char *body;
    size_t bytes; /* of the body */
    struct profile_perf_event *event;
    struct profile_perf_sample sample; /* of other records only who, when and where */
};

/* ---- Fetching them ---- */

/* NULL: the file was truncated in the meantime, or cannot be read. */
static const unsigned char *fetch(struct apply *a, uint64_t place)
{
    struct cache *c = a->cache;
    bool unpacked = place >> 63;
    uint64_t at = place << 1 >> 17;
    size_t bytes = place & UINT16_MAX, within = at % BLOCK;
    const struct weft_input *in = unpacked ? profile_perf_unpacked(a->d) : a->f->in;
    if (within + bytes > BLOCK) {
        ptrdiff_t got = weft_input_read(in, c->whole, bytes, at, NULL);
        return got < 0 || (size_t)got < bytes ? NULL : c->whole;
    }
    uint64_t number = (at / BLOCK + 1) | (uint64_t)unpacked << 63;
    unsigned slot = (unsigned)((at / BLOCK) % BLOCKS);
    if (c->block[slot].number != number) {
        ptrdiff_t got = weft_input_read(in, c->block[slot].at, BLOCK, at - within, NULL);
        c->block[slot].number = number;
        c->block[slot].have = got < 0 ? 0 : (size_t)got;
    }
    return within + bytes > c->block[slot].have ? NULL : c->block[slot].at + within;
}

/* ---- Mappings, threads ---- */

static int by_path(const void *a, const void *b)
{
    uint32_t x = ((const struct profile_perf_build_id *)a)->path;
    uint32_t y = ((const struct profile_perf_build_id *)b)->path;
    return weft_order(x, y);
}

static void set_build_id(const struct profile_perf *d, struct weft_mapping *m)
{
    const struct profile_perf_build_id key = {.path = m->path};
    const struct profile_perf_build_id *b =
        d->build_ids ? bsearch(&key, d->build_id, d->build_ids, sizeof *b, by_path) : NULL;
    if (!b)
        return;
    m->build_id_bytes = b->bytes;
    memcpy(m->build_id, b->id, b->bytes);
}

/* pid, tid, address, size, offset; then, for MMAP2, the file's number or its build id, and the
 * protection. */
static void add_mapping(struct apply *a, const struct record *r)
{
    bool second = r->type == PERF_RECORD_MMAP2;
    unsigned path_at = second ? 64 : 32;
    if (r->bytes <= path_at) {
        a->p->skipped++;
        return;
    }
    const unsigned char *b = r->body;
    const char *path = (const char *)b + path_at;
    size_t size = strnlen(path, r->bytes - path_at);
    bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    bool host = kernel || (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
    if (!host || (!second && r->misc & PERF_RECORD_MISC_MMAP_DATA))
        return; /* of a guest, or of data */
    /* "[kernel.kallsyms]_text": the symbol that its offset was made of */
    const char *bracket = kernel && *path == '[' ? memchr(path, ']', size) : NULL;
    size = bracket ? (size_t)(bracket + 1 - path) : size;
    struct weft_mapping m = {
        .process = kernel ? UINT32_MAX : weft_read_u32(b),
        .path = weft_profile_add_text(a->p, path, (uint32_t)size),
        .start = weft_read_u64(b + 8),
        .size = weft_read_u64(b + 16),
        .offset = weft_read_u64(b + 24),
        .from_ns = r->sample.time_ns,
        .kernel = kernel,
    };
    m.size = m.size > UINT64_MAX - m.start ? UINT64_MAX - m.start : m.size;
    if (size == sizeof kernel_name - 1 && memcmp(path, kernel_name, size) == 0 && kernel)
        a->f->facts->kernel_start = m.start;
    if (second && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && b[32] <= WEFT_BUILD_ID_MAX) {
        m.build_id_bytes = b[32];
        memcpy(m.build_id, b + 36, b[32]);
    } else {
        set_build_id(a->d, &m);
    }
    if (weft_profile_add_mapping(a->p, &m) != WEFT_NONE && a->u && !kernel)
        profile_is_there(a->p, a->u->map(a->u->data, &m, weft_profile_text(a->p, m.path)) == 0);
}

static void add_name(struct apply *a, const struct record *r)
{
    const char *name = (const char *)r->body + 8;
    uint32_t process = weft_read_u32(r->body), thread = weft_read_u32(r->body + 4);
    uint32_t text = weft_profile_add_text(a->p, name, (uint32_t)strnlen(name, r->bytes - 8));
    weft_profile_add_thread(a->p, process, thread, text);
    if (r->misc & PERF_RECORD_MISC_COMM_EXEC) {
        weft_profile_exec(a->p, process, r->sample.time_ns);
        if (a->u)
            a->u->forget(a->u->data, process);
    }
}

/* pid, parent's pid, tid, parent's tid. */
static void add_fork(struct apply *a, const struct record *r)
{
    uint32_t process = weft_read_u32(r->body), parent = weft_read_u32(r->body + 4);
    uint32_t thread = weft_read_u32(r->body + 8), from = weft_read_u32(r->body + 12);
    uint32_t maker = weft_profile_add_thread(a->p, parent, from, WEFT_NONE);
    if (maker == WEFT_NONE)
        return;
    weft_profile_add_thread(a->p, process, thread, a->p->thread[maker].name);
    if (process == parent)
        return;
    weft_profile_fork(a->p, process, parent, r->sample.time_ns);
    if (a->u)
        profile_is_there(a->p, a->u->fork(a->u->data, process, parent) == 0);
}

/* ---- Switches ---- */

static void add_switch(struct apply *a, const struct record *r)
{
    const struct profile_perf_sample *t = &r->sample;
    if (t->thread == 0 || t->thread == UINT32_MAX || !t->time_ns)
        return; /* idle, or it does not say who or when */
    uint32_t thread = weft_profile_add_thread(a->p, t->process, t->thread, WEFT_NONE);
    if (r->misc & PERF_RECORD_MISC_SWITCH_OUT)
        profile_switch_out(a->p, thread, t->time_ns, t->core, 0,
                           r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    else
        profile_switch_in(a->p, thread, t->time_ns);
}

static void add_exit(struct apply *a, const struct record *r)
{
    uint32_t thread = weft_profile_add_thread(a->p, weft_read_u32(r->body),
                                              weft_read_u32(r->body + 8), WEFT_NONE);
    profile_switch_exit(a->p, thread, r->sample.time_ns);
}

/* ---- Samples ---- */

struct pc {
    uint64_t address;
    uint8_t flags; /* enum weft_node_flags */
    bool guest;
};

struct pcs {
    struct pc pc[CHAIN_MAX + 2]; /* the innermost first */
    uint32_t count;
    bool has_user;
};

static void add_pc(struct pcs *s, uint64_t address, unsigned mode, bool first)
{
    if (s->count == sizeof s->pc / sizeof *s->pc)
        return;
    bool kernel = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_HYPERVISOR;
    uint8_t flags = (uint8_t)((kernel ? WEFT_NODE_KERNEL : 0) | (first ? 0 : WEFT_NODE_CALLER));
    s->has_user |= mode == PERF_RECORD_MISC_USER;
    s->pc[s->count++] =
        (struct pc){address, flags,
                    mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER};
}

static unsigned mode_after(uint64_t marker, unsigned mode)
{
    switch (marker) {
    case PERF_CONTEXT_HV:
        return PERF_RECORD_MISC_HYPERVISOR;
    case PERF_CONTEXT_KERNEL:
        return PERF_RECORD_MISC_KERNEL;
    case PERF_CONTEXT_USER:
        return PERF_RECORD_MISC_USER;
    case PERF_CONTEXT_GUEST_KERNEL:
        return PERF_RECORD_MISC_GUEST_KERNEL;
    case PERF_CONTEXT_GUEST:
    case PERF_CONTEXT_GUEST_USER:
        return PERF_RECORD_MISC_GUEST_USER;
    default:
        return mode;
    }
}

/* The first address after a marker is where it was executing; the others are return addresses. */
static void add_chain(struct pcs *s, const struct profile_perf_sample *sample, unsigned mode)
{
    bool first = true;
    for (uint64_t i = 0; i < sample->chain_length; i++) {
        uint64_t pc = weft_read_u64(sample->chain + i * 8);
        if (pc >= (uint64_t)PERF_CONTEXT_MAX) {
            mode = mode_after(pc, mode);
            first = true;
        } else {
            add_pc(s, pc, mode, first);
            first = false;
        }
    }
    if (s->count == 0 && sample->ip)
        add_pc(s, sample->ip, mode, true);
}

/* Finds the callers in the program, from a copy of its stack. */
static void unwind(struct apply *a, struct pcs *s, const struct profile_perf_sample *sample)
{
    uint64_t regs[64], pcs[512];
    unsigned count = (unsigned)__builtin_popcountll(sample->regs_mask);
    if (!sample->regs || !sample->stack_bytes)
        return;
    if (!a->u || sample->regs_abi != PERF_SAMPLE_REGS_ABI_64) {
        a->f->facts->without_callers++;
        return;
    }
    for (unsigned i = 0; i < count; i++)
        regs[i] = weft_read_u64(sample->regs + i * 8);
    uint32_t found = a->u->run(a->u->data, sample->process, sample->thread, sample->regs_mask, regs,
                               sample->stack, sample->stack_bytes, pcs, sizeof pcs / sizeof *pcs);
    /* A sample in the program itself already has its address. */
    for (uint32_t i = s->has_user && found ? 1 : 0; i < found; i++)
        add_pc(s, pcs[i], PERF_RECORD_MISC_USER, i == 0);
}

static void add_source(struct apply *a, struct profile_perf_event *e)
{
    const uint32_t type = e->attr.type;
    /* the upper bits: the kind of core */
    const uint64_t config =
        type == PERF_TYPE_HARDWARE ? e->attr.config & UINT32_MAX : e->attr.config;
    const struct profile_perf_kind *known = profile_perf_kind_of(type, config);
    struct weft_source s = {.name = e->name, .unit = known ? known->unit : WEFT_UNIT_COUNT};
    if (e->name == WEFT_NONE) {
        char made[64];
        snprintf(made, sizeof made, "event-%" PRIu32 "-0x%" PRIx64, type, config);
        const char *name = known ? known->name : made;
        s.name = weft_profile_add_text(a->p, name, (uint32_t)strlen(name));
    }
    if (e->attr.freq)
        s.frequency = e->attr.sample_freq < UINT32_MAX ? (uint32_t)e->attr.sample_freq : 0;
    else
        s.period = e->attr.sample_period;
    e->source = weft_profile_add_source(a->p, &s);
}

static uint32_t push_all(struct apply *a, const struct pcs *s, uint32_t process, uint64_t time_ns)
{
    uint32_t stack = 0;
    for (uint32_t i = s->count; i-- > 0;) {
        const struct pc *pc = &s->pc[i];
        uint32_t whose = pc->flags & WEFT_NODE_KERNEL ? UINT32_MAX : pc->guest ? GUEST : process;
        stack = weft_profile_push(a->p, stack, whose, pc->address, pc->flags, time_ns);
    }
    return stack;
}

static void add_sample(struct apply *a, const struct record *r)
{
    struct pcs s; /* large: it must not be cleared for each sample */
    s.count = 0;
    s.has_user = false;
    const struct profile_perf_sample *from = &r->sample;
    const struct perf_event_attr *attr = &r->event->attr;
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (r->event->source == WEFT_NONE)
        add_source(a, r->event);
    add_chain(&s, from, mode);
    unwind(a, &s, from);
    uint64_t fixed = attr->freq ? 1 : attr->sample_period;
    struct weft_sample sample = {
        .time_ns = from->time_ns,
        .value = attr->sample_type & PERF_SAMPLE_PERIOD ? from->period : fixed,
        .stack = push_all(a, &s, from->process, from->time_ns),
        .thread = weft_profile_add_thread(a->p, from->process, from->thread, WEFT_NONE),
        .core = from->core,
        .source = r->event->source,
        .flags = s.count && s.pc[0].flags & WEFT_NODE_KERNEL ? WEFT_SAMPLE_IN_KERNEL : 0,
    };
    weft_profile_add_sample(a->p, &sample);
    a->f->facts->samples++;
    a->f->facts->other_machines += s.count && s.pc[0].guest;
}

/* id, count; or only the count. */
static void add_lost(struct apply *a, const struct record *r)
{
    size_t at = r->type == PERF_RECORD_LOST ? 8 : 0;
    a->p->lost += r->bytes >= at + 8 ? weft_read_u64(r->body + at) : 0;
}

/* ---- All of them ---- */

/* What is done with a record, and how many bytes its body has at least. */
static const struct {
    void (*apply)(struct apply *a, const struct record *r);
    size_t least;
} records[] = {
    [PERF_RECORD_SAMPLE] = {add_sample, 0}, [PERF_RECORD_MMAP] = {add_mapping, 0},
    [PERF_RECORD_MMAP2] = {add_mapping, 0}, [PERF_RECORD_COMM] = {add_name, 9},
    [PERF_RECORD_FORK] = {add_fork, 16},    [PERF_RECORD_EXIT] = {add_exit, 16},
    [PERF_RECORD_SWITCH] = {add_switch, 0}, [PERF_RECORD_SWITCH_CPU_WIDE] = {add_switch, 0},
    [PERF_RECORD_LOST] = {add_lost, 0},     [PERF_RECORD_LOST_SAMPLES] = {add_lost, 0},
};

bool profile_perf_applies(uint32_t type)
{
    return type < sizeof records / sizeof *records && records[type].apply;
}

static void apply_place(struct apply *a, uint64_t place)
{
    const unsigned char *b = fetch(a, place);
    if (!b || weft_read_u16(b + 6) != (uint16_t)place || !profile_perf_applies(weft_read_u32(b))) {
        a->p->skipped++; /* the file changes while it is read */
        return;
    }
    struct record r = {
        .type = weft_read_u32(b),
        .misc = weft_read_u16(b + 4),
        .body = b + HEADER,
        .bytes = (size_t)(uint16_t)place - HEADER,
    };
    const struct profile_perf_event *e = profile_perf_event_of(a->d, r.type, r.body, r.bytes);
    if (!e || !profile_perf_read(&r.sample, r.type, &e->attr, r.body, r.bytes)) {
        a->p->skipped++;
        return;
    }
    r.event = &a->d->event[e - a->d->event];
    if (r.type != PERF_RECORD_SAMPLE) {
        const size_t trailer = profile_perf_trailer_bytes(&e->attr);
        r.bytes -= trailer <= r.bytes ? trailer : 0;
    }
    if (r.bytes < records[r.type].least)
        a->p->skipped++;
    else
        records[r.type].apply(a, &r);
}

int profile_perf_apply(struct profile_perf *d)
{
    struct apply a = {.d = d,
                      .f = d->f,
                      .p = d->f->p,
                      .cache = calloc(1, sizeof *a.cache),
                      .u = d->f->options->unwinder};
    int rc = 0;
    if (!a.cache || !profile_sort_by_time(d->record, d->records, sizeof *d->record))
        rc = weft_no_memory(d->f->err);
    weft_sort(d->build_id, d->build_ids, sizeof *d->build_id, by_path);
    for (uint32_t i = 0; i < d->records && rc == 0; i++) {
        apply_place(&a, d->record[i].place);
        rc = profile_foreign_added(d->f);
    }
    free(a.cache);
    return rc;
}
