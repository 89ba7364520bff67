/* SPDX-License-Identifier: ISC */
/* The recorder's core (weft/freestanding.h) records the graph: it writes into memory, by a clock that stands where it is set.
 * Each thread that runs is one of its processors, and so a stream. What it cannot know is written into its packets
 * afterwards: which threads these were, and the facts. */
#include "now/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/order.h"
#include "format/packet.h"
#include "read/alive.h"
#include "weft/freestanding.h"

enum {
    STREAMS_MAX = 256, /* threads that run; others are only said to */
    EVENT_BYTES = 32, /* about, with its share of what packets have besides, but without its text */
    EVENTS_OF_THING = 4, /* it is created, has a state, is in the background, runs */
    TRIES = 8,           /* … with twice the room */
    KINDS_MAX = 64,      /* of links */
    FACTS_BYTES = 4096,
    LAST_FACT = 80, /* bytes, for how many others there was no room for */
};
#define ROOM_LEAST (UINT64_C(1) << 20)
#define PENDING_BYTES (UINT64_C(16) << 10) /* nothing is overwritten */

struct kind {
    const char *how;
    char as; /* struct weft_outside_links */
    uint64_t links;
};

struct maker {
    const struct now *n;
    uint32_t *circle; /* of each thing */
    uint32_t *order;  /* things, by when they began */
    uint32_t runs[STREAMS_MAX], streams;
    struct kind kind[KINDS_MAX];
    uint32_t kinds;
    uint64_t others; /* links of further kinds */
    uint64_t more;   /* threads that run, too */
    unsigned char *trace;
    uint64_t bytes;
};

/* ---- For the recorder ---- */

static uint64_t moment_ns, to_real_ns;
static unsigned stream;

static uint64_t the_moment(void)
{
    return moment_ns;
}

static uint64_t the_wall_clock(void)
{
    return moment_ns + to_real_ns;
}

static unsigned the_stream(void)
{
    return stream;
}

/* ---- Recording ---- */

static weft_promise number_of(uint32_t thing)
{
    return (weft_promise)thing + 1;
}

/* When it began, if that is known and was before. */
static uint64_t began_ns(const struct now *n, uint32_t thing)
{
    const uint64_t at = n->thing[thing].start_ns;
    return at && at < n->from_ns ? at : n->from_ns;
}

static int by_beginning(const void *a, const void *b, void *now)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    WEFT_ORDER(began_ns(now, x), began_ns(now, y));
    return weft_order(x, y);
}

static void record_thing(const struct now *n, uint32_t i)
{
    static struct weft_site site[NOW_KINDS];
    const struct now_thing *t = &n->thing[i];
    moment_ns = began_ns(n, i);
    if (WEFT_IMPL_ON())
        weft_impl_create_id(&site[t->kind], WEFT_LOOP, number_of(i), now_kind_names[t->kind],
                            t->name);
}

/* dated: those whose beginning is known. Their states come last, since the line of such a promise ends with its last event. */
static void record_states(const struct now *n, bool dated)
{
    for (uint32_t i = 0; i < n->things; i++) {
        const struct now_thing *t = &n->thing[i];
        if ((began_ns(n, i) < n->from_ns) != dated)
            continue;
        if (t->state)
            weft_label(number_of(i), t->state);
        if (t->kind == NOW_DESCRIPTOR || t->kind == NOW_TIMER || t->kind == NOW_PROCESS)
            weft_background(number_of(i));
    }
}

static bool is_hold(const struct now_link *l)
{
    return strcmp(l->how, "is held by") == 0 || strcmp(l->how, "is locked by") == 0;
}

/* How the trace says it. Several may hold something in a trace, too, and one that gives it back suffices. */
static char form_of(const struct maker *m, const struct now_link *l)
{
    const bool loose = l->any || m->n->thing[l->from].brief;
    if (loose && m->circle[l->from] && m->circle[l->from] == m->circle[l->to])
        return 'l';
    return is_hold(l) ? 'h' : l->any ? 'a' : 'w';
}

static void record_link(const struct now_link *l, char form)
{
    if (form == 'h')
        weft_acquire_by(number_of(l->to), number_of(l->from));
    else if (form != 'l')
        weft_wait_by(number_of(l->from), number_of(l->to));
}

static void record_runs(const struct maker *m)
{
    if (m->streams)
        weft_resume();
    for (stream = 0; stream < m->streams; stream++)
        weft_run(number_of(m->runs[stream]));
    stream = 0;
}

/* What happened before the look is not known, but a trace would take it for a loop that is busy. So it sleeps. */
static void record_all(const struct maker *m)
{
    const struct now *n = m->n;
    moment_ns = n->things ? began_ns(n, m->order[0]) : n->from_ns;
    weft_suspend(WEFT_WAIT_FOR_WORK);
    for (uint32_t i = 0; i < n->things; i++)
        record_thing(n, m->order[i]);
    moment_ns = n->from_ns;
    record_runs(m);
    record_states(n, false);
    for (uint32_t i = 0; i < n->links; i++)
        record_link(&n->link[i], form_of(m, &n->link[i]));
    moment_ns = n->to_ns;
    record_states(n, true);
    if (!m->streams) /* what runs would not do so any more */
        weft_suspend(WEFT_WAIT_FOR_WORK);
}

static bool record(const struct maker *m, uint64_t bytes)
{
    const struct now *n = m->n;
    struct utsname host = {.nodename = ""};
    uname(&host);
    const struct weft_machine machine = {.processors = m->streams ? m->streams : 1,
                                         .processor = the_stream,
                                         .wall_ns = the_wall_clock,
                                         .program = n->program,
                                         .host = n->core ? NULL : host.nodename,
                                         .size = sizeof machine};
    const struct weft_options options = {.memory = m->trace,
                                         .bytes = bytes,
                                         .clock = the_moment,
                                         .pending_bytes = PENDING_BYTES,
                                         .size = sizeof options};
    moment_ns = n->from_ns;
    to_real_ns = n->real_ns - n->to_ns;
    stream = 0;
    if (weft_start_on(&machine, &options) < 0)
        return false;
    record_all(m);
    weft_stop();
    return true;
}

/* ---- What the recorder does not know ---- */

static struct weft_facts_header *facts_of(const struct maker *m)
{
    return (struct weft_facts_header *)(void *)m->trace;
}

/* Tells its packets which thread each stream is. Returns false if some packets were overwritten. */
static bool name_streams(const struct maker *m)
{
    const struct weft_facts_header *f = facts_of(m);
    const struct now *n = m->n;
    bool whole = !f->discarded_events;
    for (uint64_t i = 0; i < f->event_packets; i++) {
        struct weft_events_header *h =
            (void *)(m->trace + f->events_at + i * f->event_packet_bytes);
        if (h->packet.class != WEFT_PACKET_EVENTS || !h->sequence)
            continue;
        whole &= h->sequence <= f->event_packets;
        memset(h->thread_name, 0, sizeof h->thread_name);
        if (h->thread < m->streams) {
            const struct now_thing *t = &n->thing[m->runs[h->thread]];
            const char *name = t->name ? strchr(t->name, '\'') : NULL;
            h->thread = (uint32_t)t->key;
            for (unsigned k = 0;
                 name && k < sizeof h->thread_name && name[k + 1] && name[k + 1] != '\''; k++)
                h->thread_name[k] = name[k + 1];
        } else {
            h->thread = (uint32_t)n->pid;
        }
    }
    return whole;
}

/* Adds a text to the facts, if there is room for it and for `left` bytes more. */
static bool add_fact(const struct maker *m, size_t left, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool add_fact(const struct maker *m, size_t left, const char *format, ...)
{
    struct weft_facts_header *f = facts_of(m);
    const size_t at = (size_t)(f->packet.content_bits / 8),
                 room = FACTS_BYTES - WEFT_FACTS_END - at;
    va_list list;
    va_start(list, format);
    const int size = vsnprintf((char *)m->trace + at, room, format, list);
    va_end(list);
    if (size < 0 || (size_t)size + left >= room) {
        memset(m->trace + at, 0, room);
        return false;
    }
    f->packet.content_bits += ((uint64_t)size + 1) * 8;
    return true;
}

static void set_facts(const struct maker *m)
{
    struct weft_facts_header *f = facts_of(m);
    const struct now *n = m->n;
    uint64_t stacks = 0, remarks = 0;
    for (uint32_t i = 0; i < n->things; i++)
        stacks += n->thing[i].frames > 0;
    f->state = WEFT_TRACE_SAVED;
    f->pid = (uint32_t)n->pid;
    f->process_start = n->core ? 0 : weft_process_start(f->pid);
    f->stop_ticks = 0;
    /* If nothing runs, the last event says that, and not until when. */
    f->stop_mono_ns = m->streams ? n->to_ns : 0;
    add_fact(m, 0, "outside=%" PRIu64 " %" PRIu64 "%s", n->stopped_ns, stacks,
             n->core ? " core" : "");
    for (uint32_t i = 0; i < m->kinds; i++)
        add_fact(m, 0, "link=%" PRIu64 " %c %s", m->kind[i].links, m->kind[i].as, m->kind[i].how);
    if (m->others)
        add_fact(m, 0, "remark=%" PRIu64 " links of other kinds are in it, too.", m->others);
    if (m->more)
        add_fact(m, 0,
                 "remark=%" PRIu64 " more threads run; in the trace that is only their label.",
                 m->more);
    if (n->left_out)
        add_fact(m, 0, "remark=%" PRIu64 " more things are not in it: there are too many.",
                 n->left_out);
    for (uint32_t i = 0; i < n->remarks; i++)
        remarks += !add_fact(m, LAST_FACT, "remark=%s", n->remark[i]);
    if (remarks)
        add_fact(m, 0, "remark=%" PRIu64 " more on what could not be seen", remarks);
}

/* ---- All of it ---- */

static void count_link(struct maker *m, const char *how, char as)
{
    uint32_t i = 0;
    while (i < m->kinds && (m->kind[i].as != as || strcmp(m->kind[i].how, how) != 0))
        i++;
    if (i == KINDS_MAX) {
        m->others++;
        return;
    }
    if (i == m->kinds)
        m->kind[m->kinds++] = (struct kind){.how = how, .as = as};
    m->kind[i].links++;
}

static bool prepare(struct maker *m)
{
    const struct now *n = m->n;
    m->circle = calloc((size_t)n->things + 1, sizeof *m->circle);
    m->order = calloc((size_t)n->things + 1, sizeof *m->order);
    if (!m->circle || !m->order || !now_circles(n, m->circle))
        return false;
    for (uint32_t i = 0; i < n->things; i++) {
        m->order[i] = i;
        if (n->thing[i].runs && m->streams < STREAMS_MAX)
            m->runs[m->streams++] = i;
        else
            m->more += n->thing[i].runs;
    }
    if (n->things)
        qsort_r(m->order, n->things, sizeof *m->order, by_beginning, (void *)(uintptr_t)n);
    for (uint32_t i = 0; i < n->links; i++)
        count_link(m, n->link[i].how, form_of(m, &n->link[i]));
    return true;
}

static uint64_t room_for(const struct maker *m)
{
    const struct now *n = m->n;
    uint64_t bytes = (uint64_t)n->links * EVENT_BYTES;
    for (uint32_t i = 0; i < n->things; i++)
        bytes += EVENTS_OF_THING * EVENT_BYTES + (n->thing[i].name ? strlen(n->thing[i].name) : 0) +
                 (n->thing[i].state ? strlen(n->thing[i].state) : 0);
    return ROOM_LEAST + bytes + bytes / 2 + (uint64_t)m->streams * (64 << 10);
}

/* Makes the trace in that much room. Returns 1; 0: there is too little room; or a negative code. */
static int make(struct maker *m, int fd, uint64_t bytes, struct weft_error *err)
{
    void *memory = MAP_FAILED;
    if (ftruncate(fd, 0) == 0 && ftruncate(fd, (off_t)bytes) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "no room to hold it: %s",
                              strerror(errno));
    m->trace = memory;
    const bool whole = record(m, bytes) && name_streams(m);
    if (whole)
        set_facts(m);
    munmap(memory, bytes);
    return whole;
}

int now_trace(const struct now *n, int fd, struct weft_error *err)
{
    struct maker m = {.n = n};
    int rc = prepare(&m) ? 0 : weft_no_memory(err);
    uint64_t bytes = rc == 0 ? room_for(&m) : 0;
    for (unsigned i = 0; rc == 0 && i < TRIES; i++, bytes *= 2)
        rc = make(&m, fd, bytes, err);
    weft_free_all(m.circle, m.order);
    return rc > 0    ? 0
           : rc == 0 ? weft_error_set(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "is too much for a trace")
                     : rc;
}
