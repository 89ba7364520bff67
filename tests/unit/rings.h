/* SPDX-License-Identifier: ISC */
/* Made-up contents of perf's rings, and a sampler that takes them for real. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "sample/state.h"

/* Ids of events are their roles + 1. */
enum { ID_MAIN = SAMPLE_MAIN + 1, ID_LEAVE = SAMPLE_LEAVE + 1, FRAMES = 8, RINGS = 2 };

struct rings {
    struct weft_sampler s;
    struct sample_ring ring[RINGS];
    struct sample_event event[SAMPLE_ROLES], *by_id[SAMPLE_ROLES];
    uint64_t address[FRAMES + 1], leaving[RINGS][FRAMES + 1];
};

static inline void rings_init(struct rings *r)
{
    memset(r, 0, sizeof *r);
    struct weft_sampler *s = &r->s;
    s->kind = sample_event_kind(NULL);
    s->period = 1000;
    s->max_frames = FRAMES;
    s->ring = r->ring;
    s->rings = RINGS;
    s->event = r->event;
    s->by_id = r->by_id;
    s->events = s->late = SAMPLE_ROLES;
    s->address = r->address;
    for (uint32_t i = 0; i < RINGS; i++) {
        r->ring[i].core = 10 + i;
        r->ring[i].leaving = r->leaving[i];
    }
    for (int i = 0; i < SAMPLE_ROLES; i++) {
        r->event[i] = (struct sample_event){
            .fd = -1, .role = (enum sample_role)i, .thread = -1, .id = (uint64_t)i + 1};
        r->by_id[i] = &r->event[i];
        s->sample_type[i] = SAMPLE_PERF_COMMON;
        if (i == SAMPLE_MAIN)
            s->sample_type[i] |= PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
        if (i == SAMPLE_LEAVE)
            s->sample_type[i] |= PERF_SAMPLE_CALLCHAIN;
        if (i >= SAMPLE_IRQ_ENTRY) {
            s->sample_type[i] |= PERF_SAMPLE_RAW;
            s->tracepoint[i] = (struct sample_tracepoint){
                .id = 1, .number_at = 0, .name_at = i == SAMPLE_IRQ_ENTRY ? 4 : NONE};
        }
    }
}

static inline void rings_fini(struct rings *r)
{
    sample_order_fini(&r->s.order);
    sample_comms_fini(&r->s.comms);
    sample_build_ids_fini(&r->s.build_ids);
}

/* Puts the bytes into a ring. */
static inline int rings_add(struct rings *r, uint32_t ring, const void *bytes, size_t size)
{
    uint64_t broken = 0;
    uint8_t *to = sample_order_room(&r->s.order, size);
    if (!to)
        return WEFT_E_NOMEM;
    memcpy(to, bytes, size);
    int rc = sample_order_add(&r->s.order, size, ring, &broken);
    r->s.counts.lost += broken;
    return rc;
}

/* Hands out what is older than that. */
static inline ptrdiff_t rings_read(struct rings *r, uint64_t before_ns, weft_sampled_fn *fn,
                                   void *data)
{
    const uint8_t *bytes;
    uint32_t size, ring;
    bool more = true;
    r->s.fn = fn;
    r->s.data = data;
    r->s.given = 0;
    sample_order_sort(&r->s.order);
    while (more && (bytes = sample_order_take(&r->s.order, before_ns, &size, &ring)))
        more = sample_hand_out(&r->s, &r->ring[ring], bytes, size);
    int rc = sample_order_drop(&r->s.order);
    return rc < 0 ? rc : r->s.given;
}

/* ---- Records ---- */

struct raw {
    uint8_t bytes[1024];
    size_t size;
};

static inline void raw_put(struct raw *w, const void *bytes, size_t size)
{
    memcpy(w->bytes + w->size, bytes, size);
    w->size += size;
}

static inline void raw_u64(struct raw *w, uint64_t v)
{
    raw_put(w, &v, sizeof v);
}

static inline void raw_u32(struct raw *w, uint32_t low, uint32_t high)
{
    raw_u64(w, low | (uint64_t)high << 32);
}

static inline void raw_text(struct raw *w, const char *text)
{
    char padded[64] = "";
    size_t n = (strlen(text) + 8) & ~(size_t)7;
    memcpy(padded, text, strlen(text));
    raw_put(w, padded, n);
}

static inline struct raw raw_begin(uint32_t type, uint16_t misc)
{
    struct raw w = {.size = 0};
    raw_u64(&w, type | (uint64_t)misc << 32);
    return w;
}

static inline void raw_end(struct raw *w)
{
    struct perf_event_header h;
    memcpy(&h, w->bytes, sizeof h);
    h.size = (uint16_t)w->size;
    memcpy(w->bytes, &h, sizeof h);
}

/* … of a record that is no sample. */
static inline struct raw raw_tail(struct raw w, uint64_t time_ns, uint32_t thread)
{
    raw_u32(&w, 100, thread);
    raw_u64(&w, time_ns);
    raw_u32(&w, 0, 0);
    raw_u64(&w, SAMPLE_TRACK + 1);
    raw_end(&w);
    return w;
}

static inline struct raw raw_sample_begin(enum sample_role role, uint16_t misc, uint64_t time_ns,
                                          uint32_t thread)
{
    struct raw w = raw_begin(PERF_RECORD_SAMPLE, misc);
    raw_u64(&w, (uint64_t)role + 1);
    raw_u64(&w, 0x1234);
    raw_u32(&w, 100, thread);
    raw_u64(&w, time_ns);
    raw_u32(&w, 0, 0);
    return w;
}

/* chain ends with 0. */
static inline struct raw raw_sample(enum sample_role role, uint16_t misc, uint64_t time_ns,
                                    uint32_t thread, const uint64_t *chain)
{
    struct raw w = raw_sample_begin(role, misc, time_ns, thread);
    uint64_t n = 0;
    if (role == SAMPLE_MAIN)
        raw_u64(&w, 999);
    while (chain[n])
        n++;
    raw_u64(&w, n);
    raw_put(&w, chain, 8 * n);
    raw_end(&w);
    return w;
}

static inline struct raw raw_switch(bool out, uint64_t time_ns, uint32_t thread)
{
    return raw_tail(raw_begin(PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0), time_ns,
                    thread);
}

static inline struct raw raw_comm(bool exec, uint64_t time_ns, uint32_t thread, const char *name)
{
    struct raw w = raw_begin(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    raw_u32(&w, 100, thread);
    raw_text(&w, name);
    return raw_tail(w, time_ns, thread);
}

static inline struct raw raw_task(uint32_t type, uint64_t time_ns, uint32_t process,
                                  uint32_t parent, uint32_t thread, uint32_t parent_thread)
{
    struct raw w = raw_begin(type, 0);
    raw_u32(&w, process, parent);
    raw_u32(&w, thread, parent_thread);
    raw_u64(&w, time_ns);
    return raw_tail(w, time_ns, thread);
}

static inline struct raw raw_mmap2(uint64_t time_ns, uint32_t protection, uint8_t id_bytes,
                                   const char *path)
{
    struct raw w = raw_begin(PERF_RECORD_MMAP2, id_bytes ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0);
    uint8_t id[24] = {id_bytes, 0, 0, 0, 0xaa, 0xbb};
    raw_u32(&w, 100, 101);
    raw_u64(&w, 0x7000);
    raw_u64(&w, 0x1000);
    raw_u64(&w, 0x3000);
    raw_put(&w, id, sizeof id);
    raw_u32(&w, protection, 0);
    raw_text(&w, path);
    return raw_tail(w, time_ns, 101);
}

static inline struct raw raw_lost(uint64_t time_ns, uint64_t count)
{
    struct raw w = raw_begin(PERF_RECORD_LOST, 0);
    raw_u64(&w, 1);
    raw_u64(&w, count);
    return raw_tail(w, time_ns, 101);
}

static inline struct raw raw_irq(enum sample_role role, uint64_t time_ns, uint32_t number,
                                 const char *name)
{
    struct raw w = raw_sample_begin(role, PERF_RECORD_MISC_KERNEL, time_ns, 101);
    const uint32_t size = 8 + 16 + 4, where = 8 | 16 << 16;
    char padded[16 + 4] = "";
    memcpy(padded, name, strlen(name));
    raw_put(&w, &size, 4);
    raw_put(&w, &number, 4);
    raw_put(&w, &where, 4);
    raw_put(&w, padded, sizeof padded);
    raw_end(&w);
    return w;
}
