/* SPDX-License-Identifier: ISC */
/* Looks at the packets that are being written to, again and again. If one has grown, its first new
 * event was recorded before now, by our clock, and became visible after the previous look. So that
 * event gives an upper and a lower bound for how far our clock is ahead. The narrowest bounds over
 * all events are used. (Between reading the clock and becoming visible, an event takes some tens of
 * nanoseconds. If its thread is interrupted in between, the event becomes visible too late, and the
 * lower bound is too high. If the two bounds contradict each other, this has happened, and the
 * upper bound counts.) Looking again without a break makes the result precise; but on a machine
 * with few processors it keeps the threads whose events we wait for from running. So it does that
 * half of the time, and in the other half it sleeps between two looks. */
#include "read/sight.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "format/walk.h"

enum {
    WATCHED = 16,      /* packets watched at a time: the newest ones */
    ENOUGH = 64,       /* events that are enough */
    IDLE_NS = 5000000, /* if nothing grows for this long, other packets may be in use */
    TURN_NS = 8000000, /* how long it looks in each of the two ways */
    REST_NS = 50000,
    SCANNED = 1024, /* packets scanned before looking at the clock again */
    PACKET_LEAST = 1024,
};

#define SECOND UINT64_C(1000000000)
#define HUGE_NS 1e18         /* no clock is off by this much */
#define NOMINAL_ERROR 4096.0 /* a counter's frequency is known to one part in this many */

struct open_packet {
    uint64_t at, bytes, sequence, begin_ticks;
    uint64_t content_bits; /* at the previous look */
    uint64_t looked_ns;    /* when that look began */
};

struct watch {
    const struct weft_input *in;
    uint64_t pool_at, packets, packet_bytes, hz;
    struct open_packet open[WATCHED];
    unsigned opens;
    bool is_plain;                            /* ticks are nanoseconds */
    uint64_t began_ns, deadline_ns, grown_ns; /* CLOCK_MONOTONIC */
    unsigned seen;
    uint64_t first_ticks, first_real_ns; /* of the first event seen */
    double least_ns, most_ns; /* bounds of how far we are ahead, relative to that event */
    double width_ns;          /* the uncertainty of the event that gave most_ns */
};

static uint64_t now_ns(clockid_t clock)
{
    return (uint64_t)weft_clock_ns(clock);
}

static bool read_bytes(const struct watch *w, void *to, size_t size, uint64_t at)
{
    struct weft_error err;
    return weft_input_read(w->in, to, size, at, &err) == (ptrdiff_t)size;
}

static bool read_word(const struct watch *w, uint64_t *to, uint64_t at)
{
    bool got = read_bytes(w, to, sizeof *to, at);
    /* the bytes that a size covers must be read after the size */
    atomic_thread_fence(memory_order_acquire);
    return got;
}

/* Finds the pool. Everything is checked against the memory's size. */
static bool find_pool(struct watch *w)
{
    struct weft_facts_header f;
    uint64_t size = w->in->size;
    if (!read_bytes(w, &f, sizeof f, 0) || !format_is_facts(&f))
        return false;
    if (f.event_packet_bytes < PACKET_LEAST || f.event_packet_bytes % 8 || f.events_at % 8 ||
        f.events_at >= size)
        return false;
    uint64_t most = (size - f.events_at) / f.event_packet_bytes;
    w->pool_at = f.events_at;
    w->packet_bytes = f.event_packet_bytes;
    w->packets = f.event_packets < most ? f.event_packets : most;
    w->is_plain = f.clock == WEFT_CLOCK_MONOTONIC;
    w->hz = w->is_plain || !f.hz ? SECOND : f.hz;
    return true;
}

/* Keeps the newest packets. */
static void watch_packet(struct watch *w, const struct open_packet *p)
{
    unsigned at = w->opens;
    if (at == WATCHED) {
        at = 0;
        for (unsigned i = 1; i < WATCHED; i++)
            at = w->open[i].sequence < w->open[at].sequence ? i : at;
        if (w->open[at].sequence >= p->sequence)
            return;
    } else {
        w->opens++;
    }
    w->open[at] = *p;
}

static void find_open(struct watch *w)
{
    w->opens = 0;
    for (uint64_t i = 0; i < w->packets; i++) {
        struct weft_events_header h;
        uint64_t at = w->pool_at + i * w->packet_bytes;
        if (i % SCANNED == SCANNED - 1 && now_ns(CLOCK_MONOTONIC) > w->deadline_ns)
            return;
        if (!read_bytes(w, &h, WEFT_EVENTS_HEADER_V1_0, at))
            return;
        if (h.sequence && !h.end_ticks && h.packet.class == WEFT_PACKET_EVENTS)
            watch_packet(w, &(struct open_packet){.at = at,
                                                  .bytes = w->packet_bytes,
                                                  .sequence = h.sequence,
                                                  .begin_ticks = h.begin_ticks,
                                                  .content_bits = UINT64_MAX});
    }
}

/* An event of that time became visible between the two. */
static void narrow_by_event(struct watch *w, uint64_t ticks, uint64_t from_ns, uint64_t to_ns)
{
    if (w->seen++ == 0) {
        w->first_ticks = ticks;
        w->first_real_ns = to_ns;
        w->least_ns = -HUGE_NS;
        w->most_ns = HUGE_NS;
    }
    double own = (double)(int64_t)(ticks - w->first_ticks) * 1e9 / (double)w->hz;
    double doubt = w->is_plain ? 0 : (own < 0 ? -own : own) / NOMINAL_ERROR;
    double most = (double)(int64_t)(to_ns - w->first_real_ns) - own + doubt;
    double least = (double)(int64_t)(from_ns - w->first_real_ns) - own - doubt;
    if (most < w->most_ns) {
        w->most_ns = most;
        w->width_ns = most - least;
    }
    if (least > w->least_ns)
        w->least_ns = least;
}

/* Computes the first event's time on our clock. */
static bool compute_sight(const struct watch *w, struct weft_sight *out)
{
    double width = w->least_ns <= w->most_ns ? w->most_ns - w->least_ns : w->width_ns;
    double ahead = w->most_ns - width / 2;
    if (!w->seen || !(ahead > -HUGE_NS && ahead < HUGE_NS && width < HUGE_NS))
        return false;
    *out = (struct weft_sight){.ticks = w->first_ticks,
                               .real_ns = w->first_real_ns + (uint64_t)(int64_t)ahead,
                               .error_ns = (uint64_t)(width / 2) + 1};
    return true;
}

/* Looks at a packet again. Returns false if another packet is there now. */
static bool look_again(struct watch *w, struct open_packet *p)
{
    uint64_t content, word, end, sequence = 0, before = now_ns(CLOCK_REALTIME);
    if (!read_word(w, &content, p->at + offsetof(struct weft_packet_header, content_bits)))
        return false;
    uint64_t after = now_ns(CLOCK_REALTIME), at = p->content_bits / 8;
    bool grown = content > p->content_bits && at % 4 == 0 && at + sizeof word <= p->bytes;
    if (grown && read_word(w, &word, p->at + at) &&
        read_word(w, &sequence, p->at + offsetof(struct weft_events_header, sequence)) &&
        sequence == p->sequence && before >= p->looked_ns && after >= before) {
        narrow_by_event(w, format_form_ticks((const unsigned char *)&word, p->begin_ticks),
                        p->looked_ns, after);
        w->grown_ns = now_ns(CLOCK_MONOTONIC);
    }
    bool is_same = content >= p->content_bits || p->content_bits == UINT64_MAX;
    p->content_bits = content;
    p->looked_ns = before;
    return is_same && (!grown || sequence == p->sequence) &&
           read_word(w, &end, p->at + offsetof(struct weft_events_header, end_ticks)) && !end;
}

/* Watches until a packet is closed, nothing grows, or enough was seen. Returns true to continue
 * with other packets. */
static bool watch_open(struct watch *w)
{
    const struct timespec rest = {.tv_nsec = REST_NS};
    uint64_t now = w->grown_ns = now_ns(CLOCK_MONOTONIC);
    for (; now < w->grown_ns + IDLE_NS; now = now_ns(CLOCK_MONOTONIC)) {
        if (now >= w->deadline_ns || w->seen >= ENOUGH)
            return false;
        for (unsigned i = 0; i < w->opens; i++)
            if (!look_again(w, &w->open[i]))
                return true;
        if ((now - w->began_ns) / TURN_NS % 2)
            nanosleep(&rest, NULL);
    }
    return true;
}

bool weft_sight_take(struct weft_sight *out, const struct weft_input *in, unsigned most_ms)
{
    struct watch w = {.in = in, .began_ns = now_ns(CLOCK_MONOTONIC)};
    w.deadline_ns = w.began_ns + (uint64_t)most_ms * 1000000;
    if (!find_pool(&w))
        return false;
    do
        find_open(&w);
    while (w.opens && watch_open(&w));
    return compute_sight(&w, out);
}
