/* SPDX-License-Identifier: ISC */
/* The packet of facts: the process that recorded, its clock, what was lost, and how it ended. */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "read/alive.h"
#include "read/weft.h"

static enum weft_ended how_it_ended(const struct weft_facts_header *h, int fd)
{
    if (h->state == WEFT_TRACE_STOPPED)
        return WEFT_ENDED_STOPPED;
    if (h->state == WEFT_TRACE_SAVED)
        return WEFT_ENDED_SAVED;
    if (h->state == WEFT_TRACE_KILLED)
        return WEFT_ENDED_KILLED;
    if (weft_facts_sampling(h, fd))
        return WEFT_ENDED_RUNNING;
    if (h->state != WEFT_TRACE_RECORDING || !h->pid)
        return WEFT_ENDED_UNKNOWN;
    return weft_facts_alive(h) ? WEFT_ENDED_RUNNING : WEFT_ENDED_KILLED;
}

/* "exit 3" or "signal 9". */
static struct weft_exit read_exit(const char *text)
{
    static const char exited[] = "exit ", killed[] = "signal ";
    const bool by_signal = strncmp(text, killed, sizeof killed - 1) == 0;
    const char *number = text + (by_signal ? sizeof killed : sizeof exited) - 1;
    if (!by_signal && strncmp(text, exited, sizeof exited - 1) != 0)
        return (struct weft_exit){.known = false};
    uint64_t n = 0;
    const bool known = weft_parse_count(number, 999, &n);
    return (struct weft_exit){.known = known, .by_signal = by_signal, .number = (uint32_t)n};
}

/* The number at the beginning of a text, up to a space. Returns what follows; NULL: there is none. */
static const char *take_number(const char *text, uint64_t *n)
{
    const char *space = strchr(text, ' ');
    const size_t size = space ? (size_t)(space - text) : strlen(text);
    return weft_parse_digits(text, size, UINT64_MAX, n) ? text + size + (space != NULL) : NULL;
}

/* "STOPPED_NS STACKS", and perhaps " core". */
static void read_outside(struct weft_outside *o, const char *value)
{
    const char *rest = take_number(value, &o->stopped_ns);
    rest = rest ? take_number(rest, &o->stacks) : NULL;
    o->known = rest != NULL;
    o->core = o->known && strcmp(rest, "core") == 0;
}

/* "COUNT AS HOW". Returns false if there is no memory. */
static bool add_outside_link(struct weft_file *f, const char *value)
{
    struct weft_outside *o = &f->common.facts.process.outside;
    struct weft_outside_links l = {0};
    const char *rest = take_number(value, &l.links);
    if (!rest || !rest[0] || rest[1] != ' ')
        return true;
    l.as = rest[0];
    l.how = rest + 2;
    if (!weft_reserve(&f->outside_link, o->links, &f->outside_links_room, sizeof l))
        return false;
    f->outside_link[o->links++] = l;
    o->link = f->outside_link;
    return true;
}

static bool add_remark(struct weft_file *f, const char *value)
{
    struct weft_outside *o = &f->common.facts.process.outside;
    if (!weft_reserve(&f->remark, o->remarks, &f->remarks_room, sizeof *f->remark))
        return false;
    f->remark[o->remarks++] = value;
    o->remark = f->remark;
    return true;
}

/* "BEGIN FROM TO STREAM PROMISE": of a part that weft save made; all ones where it leaves nothing out. */
static void read_part(struct weft_reader *r, const char *value)
{
    struct read_bounds b = {.begin_ns = 0};
    uint64_t *const number[] = {&b.begin_ns, &b.from_ns, &b.to_ns, &b.part.stream, &b.part.promise};
    for (size_t i = 0; i < sizeof number / sizeof *number && value; i++)
        value = take_number(value, number[i]);
    if (value)
        read_is_part(r, &b);
}

/* Finds the texts "key=value", each with its NUL, in size bytes, which a NUL follows. */
static bool find_texts(struct weft_file *f, char *text, size_t size)
{
    struct weft_process_facts *p = &f->common.facts.process;
    uint32_t room = 0;
    for (char *at = text, *end = text + size; at < end; at += strlen(at) + 1) {
        char *value = strchr(at, '=');
        if (!value)
            continue;
        const size_t key = (size_t)(value++ - at);
#define IS(name) (key == sizeof(name) - 1 && !memcmp(at, name, key))
        if (IS("program"))
            p->program = value;
        else if (IS("host"))
            p->host = value;
        else if (IS("version"))
            p->version = value;
        else if (IS(WEFT_SIGHT_KEY))
            f->wall.has_sight = weft_sight_read(&f->wall.sight, value);
        else if (IS("part"))
            read_part(&f->common, value);
        else if (IS("refused"))
            f->common.facts.refused = true;
        else if (IS("outside"))
            read_outside(&p->outside, value);
        else if ((IS("link") && !add_outside_link(f, value)) ||
                 (IS("remark") && !add_remark(f, value)))
            return false;
        else if (IS("end"))
            p->exit = read_exit(value);
        else if (IS("arg") && !weft_reserve(&f->arg, p->args, &room, sizeof *f->arg))
            return false;
        else if (IS("arg"))
            f->arg[p->args++] = value;
#undef IS
    }
    p->arg = f->arg;
    return true;
}

static void copy_counts(struct weft_file *f, const struct weft_facts_header *h)
{
    struct weft_reader_facts *facts = &f->common.facts;
    facts->clock_kind = h->clock;
    facts->clock_hz = h->hz;
    facts->overwritten_events = h->overwritten_events;
    facts->overwritten_packets = h->overwritten_packets;
    facts->discarded_events = h->discarded_events;
    facts->lost_texts = h->lost_texts;
    facts->streams_recorded = h->streams;
    struct weft_process_facts *p = &facts->process;
    p->pid = h->pid;
    p->started_at = h->process_start;
    memcpy(p->boot_id, h->boot_id, sizeof p->boot_id);
    p->start_ns = h->start_mono_ns;
    p->start_real_ns = h->start_real_ns;
    if (h->state == WEFT_TRACE_STOPPED && h->start_real_ns && h->stop_mono_ns >= h->start_mono_ns)
        p->stop_real_ns = h->start_real_ns + (h->stop_mono_ns - h->start_mono_ns);
    /* Without an operating system, the clock of the events is the monotonic one; whoever copied the
     * trace made sure of that. */
    bool on_axis = h->clock != WEFT_CLOCK_CALLER || (!h->pid && h->state == WEFT_TRACE_SAVED);
    if (on_axis && h->stop_mono_ns >= h->start_mono_ns)
        p->until_ns = h->stop_mono_ns;
    f->trace_state = h->state;
    f->pool_packet_bytes = h->event_packet_bytes;
    f->pool_at = h->events_at;
    f->pool_packets = h->event_packet_bytes ? h->event_packets : 0;
    facts->ended = how_it_ended(h, f->common.input.fd);
}

void read_process_pause(struct weft_file *f)
{
    struct weft_process_facts *p = &f->common.facts.process;
    uint64_t hint = 0;
    if (!f->pause.paused_ticks)
        return;
    p->was_paused = true;
    p->is_paused = f->pause.paused_ticks > f->pause.resumed_ticks;
    p->paused_ns = clock_convert(&f->clock, f->pause.paused_ticks, &hint);
    if (p->is_paused)
        p->until_ns = p->paused_ns;
    else
        p->resumed_ns = clock_convert(&f->clock, f->pause.resumed_ticks, &hint);
}

int read_process_load(struct weft_file *f, struct weft_error *err)
{
    struct weft_facts_header h = {0};
    if (!f->facts.content)
        return 0;
    const size_t size = (size_t)f->facts.content, header = f->facts.header_bytes;
    f->process_text = malloc(size + 1);
    if (!f->process_text)
        return weft_error_set(err, WEFT_E_NOMEM, f->facts.offset, "out of memory for its facts");
    ptrdiff_t got = weft_input_read(&f->common.input, f->process_text, size, f->facts.offset, err);
    if (got < 0)
        return (int)got;
    const size_t there = (size_t)got;
    memcpy(&h, f->process_text, there < sizeof h ? there : sizeof h);
    copy_counts(f, &h);
    /* when it was paused, if the facts are large enough to say so */
    if (header >= sizeof h + sizeof f->pause && there >= header)
        memcpy(&f->pause, f->process_text + sizeof h, sizeof f->pause);
    wall_add(&f->wall, &(struct wall_pair){0, h.start_ticks, h.start_real_ns, CLOCK_NO_ERROR});
    f->process_text[there] = '\0';
    bool room =
        (there < header || find_texts(f, f->process_text + header, there - header)) &&
        (!h.start_ticks || clock_add(&f->clock, h.start_ticks, h.start_mono_ns, CLOCK_NO_ERROR)) &&
        (!h.stop_ticks || clock_add(&f->clock, h.stop_ticks, h.stop_mono_ns, CLOCK_NO_ERROR));
    struct weft_process_facts *p = &f->common.facts.process;
    if (p->outside.known) { /* the clock of its events is the one of its facts */
        p->until_ns = h.stop_mono_ns;
        f->common.facts.quirks.at_once = true;
    }
    const struct weft_exit *e = &f->common.facts.process.exit;
    if (h.state == WEFT_TRACE_RECORDING && e->known)
        f->common.facts.ended = e->by_signal ? WEFT_ENDED_KILLED : WEFT_ENDED_EXITED;
    return room ? 0 : weft_no_memory(err);
}
