/* SPDX-License-Identifier: ISC */
/* The rings that the kernel fills. They are shared memory: the kernel stores data_head after the bytes before
 * it, and does not overwrite bytes that are not yet released by data_tail. Bytes are copied out first; the copy
 * is checked. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sample/state.h"

#define RING_BYTES ((size_t)2 << 20)
#define RING_BYTES_PIECES ((size_t)8 << 20) /* each sample has a piece of a stack */
#define OFTEN 1000u /* samples per second: smaller rings would not hold half a second of them */
#define RING_BYTES_MIN ((size_t)32 << 10)

static void unmap(struct sample_ring *r)
{
    if (r->map)
        munmap(r->map, r->map_bytes);
    r->map = NULL;
}

void sample_unmap_rings(struct weft_sampler *s)
{
    for (uint32_t i = 0; i < s->rings; i++)
        unmap(&s->ring[i]);
}

/* Maps the rings; the first event of each core owns that core's ring. Returns 0 or an errno. */
static int map_all(struct weft_sampler *s)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (uint32_t i = 0; i < s->events; i++) {
        struct sample_ring *r = &s->ring[s->event[i].ring];
        if (r->map)
            continue;
        void *map =
            mmap(NULL, s->ring_bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, s->event[i].fd, 0);
        if (map == MAP_FAILED) {
            int error = errno;
            sample_unmap_rings(s);
            return error;
        }
        r->map = map;
        r->map_bytes = s->ring_bytes + page;
        r->owner = i;
    }
    return 0;
}

/* The kernel requires a power of two. */
static size_t ring_bytes(const struct weft_sampler *s)
{
    const uint64_t rate = sample_rate(s);
    const bool often = rate == 0 || rate > OFTEN;
    const bool pieces = s->o.dwarf_bytes || (often && sample_piece_bytes(s, SAMPLE_MAIN));
    return pieces ? RING_BYTES_PIECES : RING_BYTES;
}

static int watch(struct weft_sampler *s, uint32_t event)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = event};
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->event[event].fd, &e);
}

int sample_map_rings(struct weft_sampler *s, struct weft_error *err)
{
    int error;
    s->ring_bytes = ring_bytes(s);
    /* The limit on locked memory applies to all rings of a user together. */
    while ((error = map_all(s)) != 0 && (error == EPERM || error == ENOMEM) &&
           s->ring_bytes > RING_BYTES_MIN)
        s->ring_bytes /= 2;
    if (error == EPERM)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "no memory may be locked for the rings; that needs a larger sysctl "
                              "kernel.perf_event_mlock_kb, or fewer samplers at once");
    if (error)
        return weft_error_set(err, error == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO, WEFT_NO_OFFSET,
                              "the rings cannot be mapped: %s", strerror(error));
    if (s->ring_bytes < RING_BYTES / 16)
        sample_note(s,
                    "the rings have only %zu KiB for each core, so samples may be lost: sysctl "
                    "kernel.perf_event_mlock_kb limits them",
                    s->ring_bytes >> 10);
    for (uint32_t i = 0; i < s->events; i++) {
        const struct sample_ring *r = &s->ring[s->event[i].ring];
        int rc = r->owner == i
                     ? watch(s, i)
                     : ioctl(s->event[i].fd, PERF_EVENT_IOC_SET_OUTPUT, s->event[r->owner].fd);
        if (rc < 0)
            return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                                  "the events cannot share a ring: %s", strerror(errno));
    }
    return 0;
}

/* An event whose threads are all gone signals that forever. Replaces it as the ring's owner by another event of
 * the ring. */
static void replace_owner(struct weft_sampler *s, uint32_t event)
{
    const uint32_t ring = s->event[event].ring;
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->event[event].fd, NULL);
    for (uint32_t i = event + 1; i < s->events; i++)
        if (s->event[i].ring == ring && watch(s, i) == 0)
            return;
}

int sample_wait(struct weft_sampler *s, int timeout_ms)
{
    struct epoll_event e[32];
    int n = epoll_wait(s->epoll, e, sizeof e / sizeof *e, timeout_ms);
    if (n < 0)
        return errno == EINTR ? 0 : WEFT_E_IO;
    for (int i = 0; i < n; i++)
        if (e[i].events & EPOLLHUP)
            replace_owner(s, e[i].data.u32);
    return 0;
}

/* ---- Reading ---- */

static int drain(struct weft_sampler *s, uint32_t ring)
{
    struct sample_ring *r = &s->ring[ring];
    struct perf_event_mmap_page *page = r->map;
    if (!page)
        return 0;
    const size_t size = s->ring_bytes;
    const uint8_t *data = (const uint8_t *)page + (r->map_bytes - size);
    /* Acquire: pairs with the kernel's store of data_head after the records. */
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = page->data_tail; /* only we store it */
    const uint64_t filled = head - tail;
    if (filled == 0)
        return 0;
    if (filled > size) /* impossible with this kernel */
        return WEFT_E_IO;
    uint8_t *to = sample_order_room(&s->order, (size_t)filled);
    if (!to)
        return WEFT_E_NOMEM;
    const size_t from = (size_t)(tail & (size - 1));
    const size_t first = filled < size - from ? (size_t)filled : size - from;
    memcpy(to, data + from, first);
    memcpy(to + first, data, (size_t)filled - first);
    /* Release: we have read these bytes before the kernel may overwrite them. */
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    if (r->side)
        sample_burden_count(&s->burden, to, (size_t)filled);
    uint64_t broken = 0;
    int rc = sample_order_add(&s->order, (size_t)filled, ring, &broken);
    *(r->side ? &s->counts.lost_switches : &s->counts.lost) += broken;
    return rc;
}

int sample_drain(struct weft_sampler *s)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < s->rings; i++)
        rc = drain(s, i);
    return rc;
}

/* A ring reports lost records when the next record finds room. After the last record only the events know. */
static bool lost_at_end(struct weft_sampler *s, uint32_t ring)
{
    uint64_t total = 0, is[2]; /* records counted so far; records lost */
    if (s->no_lost_counts || !s->ring[ring].map)
        return true;
    for (uint32_t k = 0; k < s->events; k++)
        if (s->event[k].ring == ring && read(s->event[k].fd, is, sizeof is) == sizeof is)
            total += is[1];
    struct weft_sampled r = sample_record(WEFT_RECORD_LOST, sample_now_ns());
    r.core = s->ring[ring].core;
    return !sample_hand_lost(s, &s->ring[ring], total, &r) || sample_give(s, &r);
}

bool sample_lost_at_end(struct weft_sampler *s)
{
    bool more = true;
    for (uint32_t i = 0; more && i < s->rings; i++)
        more = lost_at_end(s, i);
    return more;
}

bool sample_close_side(struct weft_sampler *s)
{
    bool more = true;
    for (uint32_t i = 0; more && i < s->rings; i++)
        if (s->ring[i].side)
            more = lost_at_end(s, i);
    for (uint32_t i = 0; i < s->events; i++)
        if (s->ring[s->event[i].ring].side) {
            close(s->event[i].fd);
            s->event[i].fd = -1;
        }
    for (uint32_t i = 0; i < s->rings; i++)
        if (s->ring[i].side)
            unmap(&s->ring[i]);
    return more;
}

/* ---- What it costs to record when threads leave their cores ---- */

/* On a busy server that happens a hundred thousand times a second. Each time costs the server one to two
 * microseconds, and the sampler about the same. This rate costs 1 % of a core. A burst of this size is tolerated as well, as when a program starts. */
#define A_SECOND 4000u
#define AT_ONCE 5000u

/* The idle thread does not count, and a thread that comes back has left before. */
void sample_burden_count(struct sample_burden *b, const uint8_t *bytes, size_t size)
{
    struct perf_event_header head;
    uint32_t thread;
    while (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
        if (head.size < sizeof head || head.size > size)
            return;
        if ((head.type == PERF_RECORD_SWITCH || head.type == PERF_RECORD_SWITCH_CPU_WIDE) &&
            head.misc & PERF_RECORD_MISC_SWITCH_OUT &&
            head.size >= sizeof head + SAMPLE_PERF_TRAILER_BYTES) {
            memcpy(&thread, bytes + head.size - SAMPLE_PERF_TRAILER_BYTES + 4, sizeof thread);
            b->left += thread != 0;
        }
        bytes += head.size;
        size -= head.size;
    }
}

bool sample_burden_look(struct sample_burden *b, uint64_t now_ns)
{
    if (b->over)
        return false;
    if (b->looked_ns == 0)
        b->looked_ns = b->window_ns = b->started_ns = now_ns;
    const uint64_t borne = (uint64_t)((double)(now_ns - b->looked_ns) * A_SECOND / 1e9);
    b->looked_ns = now_ns;
    b->window_left += b->left;
    b->level += b->left;
    b->left = 0;
    if (b->level > borne) {
        b->level -= borne;
    } else {
        b->level = b->window_left = 0;
        b->window_ns = now_ns;
    }
    b->over = b->level > AT_ONCE;
    return b->over;
}

uint64_t sample_burden_rate(const struct sample_burden *b)
{
    const uint64_t ns = b->looked_ns - b->window_ns;
    return (uint64_t)((double)b->window_left * 1e9 / (double)(ns ? ns : 1));
}
