/* SPDX-License-Identifier: ISC */
/* The recorder's surroundings where there is no operating system; replaces start.c, thread.c and clock.c. All
 * its data is in the caller's memory: the trace, then a packet that readers skip, which holds the recorder's
 * own tables. */
#include <weft/freestanding.h>

#include "format/put.h"
#include "record/options.h"
#include "record/record.h"

#define PAGE UINT64_C(4096)
#define MACHINE_FIRST (sizeof(void *) == 8 ? 56u : 28u) /* struct weft_machine of version 1 */
WEFT_RECORD_FROZEN(offsetof(struct weft_machine, processors), 8, 4);
WEFT_RECORD_FROZEN(offsetof(struct weft_machine, processor), 16, 8);
WEFT_RECORD_FROZEN(offsetof(struct weft_machine, wall_ns), 24, 12);
WEFT_RECORD_FROZEN(offsetof(struct weft_machine, random), 32, 16);
WEFT_RECORD_FROZEN(offsetof(struct weft_machine, program), 40, 20);
WEFT_RECORD_FROZEN(offsetof(struct weft_machine, host), 48, 24);
#define NS_PER_S UINT64_C(1000000000)

uint32_t weft_impl_state;
struct recorder weft_record_rec;

static struct thread *slots; /* one for each processor */
static uint32_t slot_count;
static unsigned (*processor)(void);
static uint64_t (*wall_ns)(void);

/* Threads: processors */

struct thread *weft_record_this_thread(void)
{
    const unsigned n = processor ? processor() : 0;
    return n < slot_count ? &slots[n] : NULL;
}

bool weft_record_is_on(void)
{
    return recording();
}

bool weft_record_thread_renew(struct thread *t, struct writer *w)
{
    const uint32_t generation = weft_record_rec.generation;
    /* True in an interrupt handler if the interrupted code had not got this far. */
    if (t->writer[0].generation != generation)
        t->running = WEFT_LOOP;
    *w = (struct writer){.running = WEFT_LOOP, .low = UINT64_MAX, .generation = generation};
    return true;
}

struct thread *weft_record_threads(uint32_t *count)
{
    *count = slot_count;
    return slots;
}

bool weft_record_threads_alone(void)
{
    return slot_count == 1;
}

void weft_record_threads_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the others make fences, too: fenced */
}

static void name_slot(struct thread *t, uint32_t number)
{
    struct put p = put_begin(t->name, sizeof t->name);
    t->tid = number;
    t->in_use = 1;
    put_text(&p, "cpu ");
    put_number(&p, number);
}

/* Clocks */

uint64_t weft_record_clock_ticks(const struct clock_source *c)
{
    return clock_has_counter(c) ? clock_counter() : c->caller();
}

/* Here the trace's clock itself is the monotonic one. */
struct clock_pair weft_record_clock_pair(const struct clock_source *c)
{
    struct clock_pair pair = {.ticks = weft_record_clock_ticks(c)};
    pair.mono_ns = pair.ticks / c->hz * NS_PER_S + pair.ticks % c->hz * NS_PER_S / c->hz;
    pair.real_ns = wall_ns ? wall_ns() : 0;
    return pair;
}

/* Returns false if the clock's frequency is not given. */
static bool choose_clock(struct clock_source *c, const struct weft_options *o)
{
    *c = (struct clock_source){.kind = WEFT_CLOCK_CALLER, .caller = o->clock, .hz = o->clock_hz};
    if (o->clock) {
        c->hz = o->clock_hz ? o->clock_hz : NS_PER_S;
        return true;
    }
#if defined __x86_64__
    c->kind = WEFT_CLOCK_TSC;
#elif defined __aarch64__
    c->kind = WEFT_CLOCK_ARM64;
    if (!c->hz)
        __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(c->hz));
#else
    return false;
#endif
    return c->hz != 0;
}

/* Starting and stopping */

/* The size of what follows the trace: a packet header, the slots, and the core's tables. */
static uint64_t private_bytes(const struct layout *l, uint64_t processors)
{
    return 2 * 64 + (processors * sizeof(struct thread) + 63) / 64 * 64 +
           weft_record_layout_private(l);
}

/* Finds the largest trace that leaves enough room for the rest. */
static bool divide(struct layout *l, uint64_t bytes, uint64_t pending, uint64_t processors)
{
    for (uint64_t trace = bytes / PAGE * PAGE; weft_record_layout_plan(l, trace, pending);) {
        uint64_t all = trace + private_bytes(l, processors);
        if (all <= bytes)
            return true;
        uint64_t over = (all - bytes + PAGE - 1) / PAGE * PAGE;
        trace -= over < trace ? over : trace;
    }
    return false;
}

static uint64_t mixed(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

static void make_uuid(uint8_t uuid[16], const struct weft_machine *m, const void *memory)
{
    uint64_t parts[2] = {weft_record_clock_ticks(&weft_record_rec.clock),
                         m->wall_ns ? m->wall_ns() : 0};
    parts[0] = mixed(parts[0] ^ (uintptr_t)memory);
    parts[1] = mixed(parts[0] + parts[1] + weft_record_rec.generation);
    memcpy(uuid, m->random ? m->random : parts, 16);
}

/* Sets up what follows the trace. Returns the part for the core. */
static unsigned char *take_private(unsigned char *at, unsigned char *end, uint32_t processors,
                                   const uint8_t uuid[16])
{
    const size_t head = sizeof(struct weft_packet_header);
    weft_record_layout_packet(at, (uint64_t)(end - at), uuid, WEFT_PACKET_PRIVATE, head);
    at += head;
    at += -(uintptr_t)at % 64;
    slots = (struct thread *)(void *)at;
    slot_count = processors;
    for (uint32_t i = 0; i < processors; i++) {
        slots[i].writer[0].generation = slots[i].writer[1].generation = UINT32_MAX; /* none */
        name_slot(&slots[i], i);
    }
    return at + (processors * sizeof *slots + 63) / 64 * 64;
}

static void start(const struct weft_machine *m, const struct weft_options *o,
                  const struct layout *l, uint32_t processors)
{
    struct recorder *r = &weft_record_rec;
    unsigned char *memory = o->memory;
    uint8_t uuid[16];
    processor = m->processor;
    wall_ns = m->wall_ns;
    r->generation++;
    r->fenced = processors > 1;
    make_uuid(uuid, m, memory);
    unsigned char *private =
        take_private(memory + l->bytes, memory + o->bytes / 8 * 8, processors, uuid);
    weft_record_layout_write(l, memory, private, uuid, o->flags & WEFT_START_TURN_CLOCK);
    if (m->program)
        weft_record_layout_fact("program", m->program);
    if (m->host)
        weft_record_layout_fact("host", m->host);
    __atomic_store_n(&r->open, 1, __ATOMIC_RELEASE); /* (G) everything is set up */
    __atomic_store_n(&r->recording, r->generation, __ATOMIC_RELEASE);
    if (!(o->flags & WEFT_START_PAUSED))
        __atomic_or_fetch(&weft_impl_state, 1, __ATOMIC_RELEASE);
}

int weft_start_on(const struct weft_machine *machine, const struct weft_options *options)
{
    struct weft_machine m = {0};
    struct weft_options o = {0};
    struct clock_source clock;
    struct layout layout;
    int rc = machine ? (int)weft_sized_take(&m, sizeof m, machine, MACHINE_FIRST) : 0;
    if (rc == 0)
        rc = weft_record_options_take(&o, options);
    if (rc < 0)
        return rc;
    const uint32_t processors = m.processors ? m.processors : 1;
    if (!o.memory || (uintptr_t)o.memory % 8 || o.path || (processors > 1 && !m.processor) ||
        !choose_clock(&clock, &o) || !divide(&layout, o.bytes, o.pending_bytes, processors))
        return WEFT_START_INVALID;
    if (weft_record_rec.open)
        return WEFT_START_ALREADY;
    weft_record_rec.clock = clock;
    start(&m, &o, &layout, processors);
    return 0;
}

int weft_start(const struct weft_options *options)
{
    return weft_start_on(NULL, options);
}

void weft_stop(void)
{
    struct recorder *r = &weft_record_rec;
    if (!r->open)
        return;
    __atomic_and_fetch(&weft_impl_state, ~1u, __ATOMIC_SEQ_CST);
    __atomic_store_n(&r->recording, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&r->open, 0, __ATOMIC_SEQ_CST);
    weft_record_layout_stop();
    slot_count = 0; /* the memory belongs to the caller again */
}

void weft_pause(void)
{
    if ((__atomic_fetch_and(&weft_impl_state, ~1u, __ATOMIC_SEQ_CST) & 1) && weft_record_rec.open)
        weft_record_layout_switched(false);
}

void weft_unpause(void)
{
    if (weft_record_rec.open && !(__atomic_fetch_or(&weft_impl_state, 1, __ATOMIC_SEQ_CST) & 1))
        weft_record_layout_switched(true);
}

void weft_standby(int on)
{
    if (on)
        __atomic_or_fetch(&weft_impl_state, 2, __ATOMIC_SEQ_CST);
    else
        __atomic_and_fetch(&weft_impl_state, ~2u, __ATOMIC_SEQ_CST);
}
