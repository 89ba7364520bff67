/* SPDX-License-Identifier: ISC */
/* Decodes records of perf's rings and passes them to the caller in the sampler's own terms. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/order.h"
#include "sample/state.h"

const struct sample_event *sample_event_of(const struct weft_sampler *s, uint64_t id)
{
    uint32_t low = 0, high = s->events;
    WEFT_SEEK(low, high, s->by_id[middle]->id < id);
    return low < s->events && s->by_id[low]->id == id ? s->by_id[low] : NULL;
}

/* ---- Stacks ---- */

static bool in_kernel(const struct sample_perf_record *r)
{
    return (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* Splits the chain at perf's marks into the kernel's part and the user's. */
static void walk_chain(const struct sample_perf_record *r, struct sample_stack *st, uint64_t *to,
                       uint32_t room)
{
    bool kernel = in_kernel(r);
    for (uint64_t i = 0; i < r->sample.chain_length; i++) {
        const uint64_t address = weft_read_u64(r->sample.chain + 8 * i);
        if (address >= PERF_CONTEXT_MAX) {
            kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
            continue;
        }
        if (address == 0)
            continue;
        if (st->count == room) {
            st->cut = true;
            return;
        }
        to[st->count++] = address;
        if (kernel && st->kernel == st->count - 1)
            st->kernel++;
    }
}

/* The callers in user space. They come from DWARF and a copy of the stack; or from the kernel's chain of frame
 * pointers, repaired with a small copy of the innermost stack. The copy is needed because a library function
 * without a frame pointer hides its direct caller, and that is the function one looks for.
 * `to` has count of them, found by frame pointers, and room for more. Returns their new number; sets *cut to true
 * if some may be missing. */
static uint32_t user_callers(struct weft_sampler *s, const struct sample_perf_record *r,
                             uint64_t *to, uint32_t count, uint32_t room, bool *cut)
{
    uint64_t regs[64];
    bool complete;
    if (!s->unwinder || !r->sample.regs || r->process == NONE || room == 0)
        return count;
    memcpy(regs, r->sample.regs, (size_t)__builtin_popcountll(s->regs_mask) * sizeof *regs);
    struct weft_unwind_input in = {
        .process = r->process,
        .thread = r->thread,
        .regs_mask = s->regs_mask,
        .regs = regs,
        .stack = r->sample.stack,
        .stack_bytes = r->sample.stack_bytes,
    };
    if (!s->o.dwarf_bytes) {
        count = weft_unwinder_mend(s->unwinder, &in, to, count, room, &complete);
        *cut |= !complete;
        return count;
    }
    count = weft_unwinder_run(s->unwinder, &in, to, room);
    *cut |= r->sample.stack_bytes + 8 >= s->o.dwarf_bytes;
    return count;
}

static struct sample_stack stack_of(struct weft_sampler *s, const struct sample_perf_record *r,
                                    uint64_t *to)
{
    struct sample_stack st = {0};
    walk_chain(r, &st, to, s->max_frames);
    st.count = st.kernel + user_callers(s, r, to + st.kernel, st.count - st.kernel,
                                        s->max_frames - st.kernel, &st.cut);
    if (st.count == 0 && r->sample.ip) {
        to[st.count++] = r->sample.ip;
        st.kernel = in_kernel(r);
    }
    st.cut |= st.count >= s->max_frames;
    return st;
}

/* ---- Records ---- */

/* The kernel reports a timer's first period, even after it was changed. */
static uint64_t value_of(const struct weft_sampler *s, const struct sample_perf_record *r)
{
    if (!sample_is_clock(s->kind))
        return r->sample.period;
    return r->time_ns < s->period_since_ns ? s->period_before : s->period;
}

static void take_sample(struct weft_sampler *s, const struct sample_perf_record *r,
                        struct weft_sampled *out)
{
    struct sample_stack st = stack_of(s, r, s->address);
    s->counts.samples++;
    out->kind = WEFT_RECORD_SAMPLE;
    out->flags =
        (uint8_t)((in_kernel(r) ? WEFT_SAMPLE_IN_KERNEL : 0) | (st.cut ? WEFT_SAMPLE_CUT : 0));
    out->value = value_of(s, r);
    out->address = s->address;
    out->addresses = st.count;
    out->kernel_addresses = st.kernel;
}

static bool take_switch(struct weft_sampler *s, struct sample_ring *ring,
                        const struct sample_perf_record *r, struct weft_sampled *out)
{
    const bool leaves = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
    out->kind = WEFT_RECORD_SWITCH;
    out->flags =
        (uint8_t)((leaves ? WEFT_SWITCH_OUT : 0) |
                  (leaves && r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? WEFT_SWITCH_PREEMPTED
                                                                           : 0));
    if (leaves && ring->leaving_stack.count && ring->leaving_thread == r->thread) {
        out->address = ring->leaving;
        out->addresses = ring->leaving_stack.count;
        out->kernel_addresses = ring->leaving_stack.kernel;
    }
    ring->leaving_stack.count = 0;
    s->counts.switches++;
    return r->thread != 0; /* the idle thread does not count */
}

static bool take_event(struct weft_sampler *s, struct sample_ring *ring,
                       const struct sample_perf_record *r, struct weft_sampled *out)
{
    const struct sample_event *e = sample_event_of(s, r->id);
    if (!e)
        return false;
    switch (e->role) {
    case SAMPLE_MAIN:
        take_sample(s, r, out);
        return true;
    case SAMPLE_LEAVE:
        ring->leaving_stack = stack_of(s, r, ring->leaving);
        ring->leaving_thread = r->thread;
        return false;
    default:
        return e->role >= SAMPLE_IRQ_ENTRY && sample_interrupt(s, ring, e->role, r, out);
    }
}

bool sample_hand_mapping(struct weft_sampler *s, const struct weft_sampled *r)
{
    if (!s->unwinder || r->kind != WEFT_RECORD_MAPPING || r->process == NONE)
        return true;
    struct weft_mapping m = {
        .process = r->process,
        .start = r->start,
        .size = r->size,
        .offset = r->offset,
        .from_ns = r->time_ns,
        .build_id_bytes = (uint8_t)r->build_id_bytes,
    };
    if (r->build_id_bytes)
        memcpy(m.build_id, r->build_id, r->build_id_bytes);
    return weft_unwinder_map(s->unwinder, &m, r->text) != WEFT_E_NOMEM;
}

static bool take_mapping(struct weft_sampler *s, const struct sample_perf_record *r,
                         struct weft_sampled *out, uint8_t id[WEFT_BUILD_ID_MAX])
{
    if (!r->executable || r->size == 0)
        return false;
    out->kind = WEFT_RECORD_MAPPING;
    out->start = r->start;
    out->size = r->size;
    out->offset = r->offset;
    out->text = r->text;
    out->build_id = id;
    out->build_id_bytes = r->build_id_bytes;
    if (r->build_id_bytes)
        memcpy(id, r->build_id, r->build_id_bytes);
    else if (r->process != NONE)
        out->build_id_bytes = sample_build_id(&s->build_ids, r->process, r->text, id);
    return sample_hand_mapping(s, out);
}

static void take_name(struct weft_sampler *s, const struct sample_perf_record *r,
                      struct weft_sampled *out)
{
    const bool exec = r->misc & PERF_RECORD_MISC_COMM_EXEC;
    out->kind = WEFT_RECORD_THREAD;
    out->flags = exec ? WEFT_THREAD_EXEC : 0;
    out->text = r->text;
    sample_comms_set(&s->comms, r->thread, r->text);
    if (exec && s->unwinder)
        weft_unwinder_forget(s->unwinder, r->process);
}

static void take_fork(struct weft_sampler *s, const struct sample_perf_record *r,
                      struct weft_sampled *out)
{
    out->kind = WEFT_RECORD_THREAD;
    out->parent = r->parent == r->process ? NONE : r->parent;
    out->text = sample_comms_get(&s->comms, r->parent_thread);
    sample_comms_set(&s->comms, r->thread, out->text);
    if (s->unwinder && out->parent != NONE)
        weft_unwinder_fork(s->unwinder, r->process, out->parent);
}

static void take_exit(struct weft_sampler *s, const struct sample_perf_record *r,
                      struct weft_sampled *out)
{
    out->kind = WEFT_RECORD_EXIT;
    sample_comms_drop(&s->comms, r->thread);
    /* Its other threads may still run, which is rare; they then get frame pointers only. */
    if (s->unwinder && !s->o.dwarf_bytes && r->thread == r->process)
        weft_unwinder_forget(s->unwinder, r->process);
}

bool sample_hand_lost(struct weft_sampler *s, struct sample_ring *ring, uint64_t total,
                      struct weft_sampled *out)
{
    if (total <= ring->lost_told)
        return false;
    out->kind = WEFT_RECORD_LOST;
    out->flags = ring->side ? WEFT_LOST_OTHER : 0;
    out->value = total - ring->lost_told;
    ring->lost_told = total;
    *(ring->side ? &s->counts.lost_switches : &s->counts.lost) += out->value;
    return true;
}

/* A thread that was found late may have been created by one that already had its events, and has then inherited
 * them. So what happens is reported twice: by the thread's own events, which are switched off at the first sign
 * of this, and under the ids of the creator's events. */
static bool is_double(struct weft_sampler *s, const struct sample_perf_record *r)
{
    if (s->late == s->events || r->type == PERF_RECORD_LOST)
        return false;
    const struct sample_event *e = sample_event_of(s, r->id);
    if (!e || (pid_t)r->thread == e->thread)
        return e && e->doubled;
    for (uint32_t i = s->late; i < s->events; i++) {
        struct sample_event *own = &s->event[i];
        if (own->thread != (pid_t)r->thread || own->role != e->role || own->doubled)
            continue;
        own->doubled = true;
        ioctl(own->fd, PERF_EVENT_IOC_DISABLE, 0);
    }
    return false;
}

static bool decode(struct weft_sampler *s, struct sample_ring *ring,
                   const struct sample_perf_record *r, struct weft_sampled *out,
                   uint8_t id[WEFT_BUILD_ID_MAX])
{
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        return take_event(s, ring, r, out);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return take_switch(s, ring, r, out);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        return take_mapping(s, r, out, id);
    case PERF_RECORD_COMM:
        take_name(s, r, out);
        return true;
    case PERF_RECORD_FORK:
        take_fork(s, r, out);
        return true;
    case PERF_RECORD_EXIT:
        take_exit(s, r, out);
        return true;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        ring->lost_seen += r->count;
        return sample_hand_lost(s, ring, ring->lost_seen, out);
    case PERF_RECORD_THROTTLE:
        s->counts.throttled++;
        return false;
    default:
        return false;
    }
}

bool sample_hand_out(struct weft_sampler *s, struct sample_ring *ring, const uint8_t *bytes,
                     uint32_t size)
{
    struct sample_perf_record r;
    uint8_t id[WEFT_BUILD_ID_MAX];
    if (!sample_perf_parse(&r, s, bytes, size)) {
        /* The record does not have the form that we requested: we do not understand this kernel. */
        ++*(ring->side ? &s->counts.lost_switches : &s->counts.lost);
        return true;
    }
    struct weft_sampled out = sample_record(0, r.time_ns);
    out.process = r.process;
    out.thread = r.thread;
    out.core = ring->core;
    if ((s->by_cores && !sample_family_has(s, &r)) || is_double(s, &r) ||
        !decode(s, ring, &r, &out, id))
        return true;
    if (out.kind == WEFT_RECORD_SWITCH || out.kind == WEFT_RECORD_EXIT)
        sample_blocked_back(s, out.thread);
    return sample_give(s, &out);
}
