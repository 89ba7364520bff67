/* SPDX-License-Identifier: ISC */
/* Applies the records to the profile, in order of time. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/bytes.h"
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
};

/* A record with the parts decoded that all records share. */
struct record {
    uint32_t type;
    uint16_t misc;
    const unsigned char *body;
    size_t bytes; /* of the body */
    struct profile_perf_event *event;
    struct profile_perf_trailer trailer; /* not for samples */
};

static bool no_memory(uint32_t index)
{
    return index == WEFT_NONE;
}

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

static int tell_unwinder(struct apply *a, const struct weft_mapping *m)
{
    const struct weft_foreign_unwinder *u = a->f->options->unwinder;
    if (!u || m->kernel)
        return 0;
    return u->map(u->data, m, weft_profile_text(a->p, m->path));
}

/* pid, tid, address, size, offset; then, for MMAP2, the file's number or its build id, and the
 * protection. */
static int add_mapping(struct apply *a, const struct record *r)
{
    bool second = r->type == PERF_RECORD_MMAP2;
    unsigned path_at = second ? 64 : 32;
    if (r->bytes <= path_at)
        return a->p->skipped++, 0;
    const unsigned char *b = r->body;
    const char *path = (const char *)b + path_at;
    size_t size = strnlen(path, r->bytes - path_at);
    bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    bool host = kernel || (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
    if (!host || (!second && r->misc & PERF_RECORD_MISC_MMAP_DATA))
        return 0; /* of a guest, or of data */
    /* "[kernel.kallsyms]_text": the symbol that its offset was made of */
    const char *bracket = kernel && *path == '[' ? memchr(path, ']', size) : NULL;
    size = bracket ? (size_t)(bracket + 1 - path) : size;
    struct weft_mapping m = {
        .process = kernel ? UINT32_MAX : weft_read_u32(b),
        .path = weft_profile_add_text(a->p, path, (uint32_t)size),
        .start = weft_read_u64(b + 8),
        .size = weft_read_u64(b + 16),
        .offset = weft_read_u64(b + 24),
        .from_ns = r->trailer.time_ns,
        .kernel = kernel,
    };
    m.size = m.size > UINT64_MAX - m.start ? UINT64_MAX - m.start : m.size;
    if (size == sizeof kernel_name - 1 && memcmp(path, kernel_name, size) == 0 && kernel)
        a->f->facts->kernel_start = m.start;
    if (no_memory(m.path))
        return profile_foreign_no_memory(a->f);
    if (second && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && b[32] <= WEFT_BUILD_ID_MAX) {
        m.build_id_bytes = b[32];
        memcpy(m.build_id, b + 36, b[32]);
    } else {
        set_build_id(a->d, &m);
    }
    if (no_memory(weft_profile_add_mapping(a->p, &m)) || tell_unwinder(a, &m) < 0)
        return profile_foreign_no_memory(a->f);
    return 0;
}

static int add_name(struct apply *a, const struct record *r)
{
    if (r->bytes <= 8)
        return a->p->skipped++, 0;
    const char *name = (const char *)r->body + 8;
    uint32_t process = weft_read_u32(r->body), thread = weft_read_u32(r->body + 4);
    uint32_t text = weft_profile_add_text(a->p, name, (uint32_t)strnlen(name, r->bytes - 8));
    if (no_memory(text) || no_memory(weft_profile_add_thread(a->p, process, thread, text)))
        return profile_foreign_no_memory(a->f);
    if (r->misc & PERF_RECORD_MISC_COMM_EXEC) {
        const struct weft_foreign_unwinder *u = a->f->options->unwinder;
        weft_profile_exec(a->p, process, r->trailer.time_ns);
        if (u)
            u->forget(u->data, process);
    }
    return 0;
}

/* pid, parent's pid, tid, parent's tid. */
static int add_fork(struct apply *a, const struct record *r)
{
    if (r->bytes < 16)
        return a->p->skipped++, 0;
    uint32_t process = weft_read_u32(r->body), parent = weft_read_u32(r->body + 4);
    uint32_t thread = weft_read_u32(r->body + 8), from = weft_read_u32(r->body + 12);
    uint32_t maker = weft_profile_add_thread(a->p, parent, from, WEFT_NONE);
    if (no_memory(maker) ||
        no_memory(weft_profile_add_thread(a->p, process, thread, a->p->thread[maker].name)))
        return profile_foreign_no_memory(a->f);
    if (process == parent)
        return 0;
    const struct weft_foreign_unwinder *u = a->f->options->unwinder;
    if (weft_profile_fork(a->p, process, parent, r->trailer.time_ns) < 0 ||
        (u && u->fork(u->data, process, parent) < 0))
        return profile_foreign_no_memory(a->f);
    return 0;
}

/* ---- Switches ---- */

static int add_switch(struct apply *a, const struct record *r)
{
    const struct profile_perf_trailer *t = &r->trailer;
    if (t->thread == 0 || t->thread == UINT32_MAX || !t->time_ns)
        return 0; /* idle, or it does not say who or when */
    uint32_t thread = weft_profile_add_thread(a->p, t->process, t->thread, WEFT_NONE);
    if (no_memory(thread))
        return profile_foreign_no_memory(a->f);
    bool ok = r->misc & PERF_RECORD_MISC_SWITCH_OUT
                  ? profile_switch_out(a->p, thread, t->time_ns, t->core, 0,
                                       r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
                  : profile_switch_in(a->p, thread, t->time_ns);
    return ok ? 0 : profile_foreign_no_memory(a->f);
}

static int add_exit(struct apply *a, const struct record *r)
{
    if (r->bytes < 16)
        return a->p->skipped++, 0;
    uint32_t thread = weft_profile_add_thread(a->p, weft_read_u32(r->body),
                                              weft_read_u32(r->body + 8), WEFT_NONE);
    if (no_memory(thread) || !profile_switch_exit(a->p, thread, r->trailer.time_ns))
        return profile_foreign_no_memory(a->f);
    return 0;
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
    const struct weft_foreign_unwinder *u = a->f->options->unwinder;
    uint64_t regs[64], pcs[512];
    unsigned count = (unsigned)__builtin_popcountll(sample->regs_mask);
    if (!sample->regs || !sample->stack_bytes)
        return;
    if (!u || sample->regs_abi != PERF_SAMPLE_REGS_ABI_64) {
        a->f->facts->without_callers++;
        return;
    }
    for (unsigned i = 0; i < count; i++)
        regs[i] = weft_read_u64(sample->regs + i * 8);
    uint32_t found = u->run(u->data, sample->process, sample->thread, sample->regs_mask, regs,
                            sample->stack, sample->stack_bytes, pcs, sizeof pcs / sizeof *pcs);
    /* A sample in the program itself already has its address. */
    for (uint32_t i = s->has_user && found ? 1 : 0; i < found; i++)
        add_pc(s, pcs[i], PERF_RECORD_MISC_USER, i == 0);
}

static int add_source(struct apply *a, struct profile_perf_event *e)
{
    uint32_t name = e->name;
    if (name == WEFT_NONE) {
        struct profile_perf_name made = profile_perf_event_name(&e->attr);
        name = weft_profile_add_text(a->p, made.text, (uint32_t)strlen(made.text));
    }
    if (name == WEFT_NONE)
        return profile_foreign_no_memory(a->f);
    struct weft_source s = {.name = name, .unit = profile_perf_event_unit(&e->attr)};
    if (e->attr.freq)
        s.frequency = e->attr.sample_freq < UINT32_MAX ? (uint32_t)e->attr.sample_freq : 0;
    else
        s.period = e->attr.sample_period;
    e->source = weft_profile_add_source(a->p, &s);
    return no_memory(e->source) ? profile_foreign_no_memory(a->f) : 0;
}

static uint32_t push_all(struct apply *a, const struct pcs *s, uint32_t process, uint64_t time_ns)
{
    uint32_t stack = 0;
    for (uint32_t i = s->count; i-- > 0 && stack != WEFT_NONE;) {
        const struct pc *pc = &s->pc[i];
        uint32_t whose = pc->flags & WEFT_NODE_KERNEL ? UINT32_MAX : pc->guest ? GUEST : process;
        stack = weft_profile_push(a->p, stack, whose, pc->address, pc->flags, time_ns);
    }
    return stack;
}

static int add_sample(struct apply *a, const struct record *r)
{
    struct pcs s; /* large: it must not be cleared for each sample */
    s.count = 0;
    s.has_user = false;
    struct profile_perf_sample from;
    const struct perf_event_attr *attr = &r->event->attr;
    unsigned mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (!profile_perf_sample_read(&from, attr, r->body, r->bytes))
        return a->p->skipped++, 0; /* it was valid a moment ago */
    if (r->event->source == WEFT_NONE && add_source(a, r->event) < 0)
        return WEFT_E_NOMEM;
    add_chain(&s, &from, mode);
    unwind(a, &s, &from);
    uint64_t fixed = attr->freq ? 1 : attr->sample_period;
    struct weft_sample sample = {
        .time_ns = from.time_ns,
        .value = attr->sample_type & PERF_SAMPLE_PERIOD ? from.period : fixed,
        .stack = push_all(a, &s, from.process, from.time_ns),
        .thread = weft_profile_add_thread(a->p, from.process, from.thread, WEFT_NONE),
        .core = from.core,
        .source = r->event->source,
        .promise = WEFT_NONE,
        .flags = s.count && s.pc[0].flags & WEFT_NODE_KERNEL ? WEFT_SAMPLE_IN_KERNEL : 0,
    };
    if (no_memory(sample.stack) || no_memory(sample.thread) ||
        weft_profile_add_sample(a->p, &sample) < 0)
        return profile_foreign_no_memory(a->f);
    a->f->facts->samples++;
    a->f->facts->other_machines += s.count && s.pc[0].guest;
    return 0;
}

/* ---- All of them ---- */

static int apply_record(struct apply *a, const struct record *r)
{
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        return add_sample(a, r);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return add_mapping(a, r);
    case PERF_RECORD_COMM:
        return add_name(a, r);
    case PERF_RECORD_FORK:
        return add_fork(a, r);
    case PERF_RECORD_EXIT:
        return add_exit(a, r);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return add_switch(a, r);
    case PERF_RECORD_LOST: /* id, count */
        a->p->lost += r->bytes >= 16 ? weft_read_u64(r->body + 8) : 0;
        return 0;
    case PERF_RECORD_LOST_SAMPLES:
        a->p->lost += r->bytes >= 8 ? weft_read_u64(r->body) : 0;
        return 0;
    default:
        return 0;
    }
}

static int apply_place(struct apply *a, uint64_t place)
{
    const unsigned char *b = fetch(a, place);
    if (!b || weft_read_u16(b + 6) != (uint16_t)place)
        return a->p->skipped++, 0; /* the file changes while it is read */
    struct record r = {
        .type = weft_read_u32(b),
        .misc = weft_read_u16(b + 4),
        .body = b + HEADER,
        .bytes = (size_t)(uint16_t)place - HEADER,
    };
    const struct profile_perf_event *e = profile_perf_event_of(a->d, r.type, r.body, r.bytes);
    if (!e)
        return a->p->skipped++, 0;
    r.event = &a->d->event[e - a->d->event];
    if (r.type != PERF_RECORD_SAMPLE) {
        r.trailer = profile_perf_trailer_read(&e->attr, r.body, r.bytes);
        unsigned words = profile_perf_trailer_words(&e->attr);
        r.bytes -= words * 8 <= r.bytes ? words * 8 : 0;
    }
    return apply_record(a, &r);
}

int profile_perf_apply(struct profile_perf *d)
{
    struct apply a = {.d = d, .f = d->f, .p = d->f->p, .cache = calloc(1, sizeof *a.cache)};
    int rc = 0;
    if (!a.cache || !profile_sort_by_time(d->record, d->records, sizeof *d->record))
        rc = profile_foreign_no_memory(d->f);
    if (d->build_ids)
        qsort(d->build_id, d->build_ids, sizeof *d->build_id, by_path);
    for (uint32_t i = 0; i < d->records && rc == 0; i++)
        rc = apply_place(&a, d->record[i].place);
    free(a.cache);
    return rc;
}
