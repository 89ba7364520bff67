/* SPDX-License-Identifier: ISC */
/* The packets of a weft trace: what is stored about each, and their order. */
#include "format/samples.h"
#include "read/seen.h"
#include "read/snapshot.h"
#include "read/weft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 64 << 10,
    HEADER = sizeof(struct weft_packet_header),
    MARK = 24, /* up to the signature's end */
    HOLE_LEAST = 1 << 20,
    TRIES = 4, /* attempts to read a packet that is being handed over */
};

#define LONG(n) ((unsigned long long)(n))

static bool is_mark(const unsigned char *bytes)
{
    struct weft_packet_header h;
    memcpy(&h, bytes, MARK);
    return format_has_mark(&h);
}

/* Streams */

uint32_t read_streams_find(const struct streams *s, uint32_t number)
{
    return s->count ? weft_idmap_seek(s->index, number) : WEFT_NO_STREAM;
}

uint32_t read_streams_add(struct streams *s, uint32_t number, uint32_t thread, const char name[16])
{
    uint32_t at = read_streams_find(s, number);
    if (at != WEFT_NO_STREAM)
        return at;
    if (!s->index && !(s->index = weft_idmap_new()))
        return WEFT_NO_STREAM;
    if (!weft_reserve(&s->stream, s->count, &s->room, sizeof *s->stream) ||
        !weft_reserve(&s->state, s->count, &s->state_room, sizeof *s->state) ||
        !weft_idmap_put(s->index, number, s->count))
        return WEFT_NO_STREAM;
    struct weft_stream_facts *new = &s->stream[s->count];
    *new = (struct weft_stream_facts){.number = number, .thread = thread};
    memcpy(new->name, name, 16);
    s->state[s->count] = (struct stream_state){0};
    return s->count++;
}

static bool sort_streams(struct streams *s)
{
    bool ok = true;
    weft_sort(s->stream, s->count, sizeof *s->stream, weft_order_u32); /* by number */
    for (uint32_t i = 0; i < s->count; i++)
        ok &= weft_idmap_put(s->index, s->stream[i].number, i);
    return ok;
}

/* Packets */

static void read_sizes(struct read_packet *p)
{
    p->size = p->h.packet_bits / 8;
    p->says = p->h.content_bits / 8;
}

/* Returns true if the packet has the header of its class; otherwise reports it. */
static bool has_header(struct weft_file *f, const struct read_packet *p, size_t least)
{
    uint64_t says = p->h.header_bytes;
    if (says >= least && says <= p->content)
        return true;
    read_reader_problem(&f->common, p->offset + 28, p->size - HEADER,
                        "packet of %llu bytes that holds %llu says its header has %llu; skipped",
                        LONG(p->size), LONG(p->content), LONG(says));
    return false;
}

/* How much of a packet's content is there. A recorder leaves no holes in it, but anybody can make a
 * file of holes, where each packet would take memory. Small packets need not be checked. */
static uint64_t up_to_hole(struct weft_file *f, uint64_t offset, uint64_t content)
{
    const uint64_t there =
        content > HOLE_LEAST ? weft_input_hole(&f->common.input, offset) - offset : content;
    if (there < HEADER || there >= content)
        return content;
    read_reader_problem(&f->common, offset + there, content - there,
                        "packet says it holds %llu bytes, but the file has a hole after %llu",
                        LONG(content), LONG(there));
    return there;
}

int read_one_owner(struct weft_file *f, void *header, size_t size, uint64_t *sequence,
                   uint64_t offset, struct weft_error *err)
{
    for (uint64_t tries = 0, before = 0; tries < TRIES; tries++, before = *sequence) {
        int rc = read_whole(&f->common.input, header, size, offset, err);
        if (rc <= 0)
            return rc;
        if (tries && *sequence == before)
            return 1;
    }
    *sequence = 0;
    return 1;
}

static int add_events(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    struct weft_events_header h;
    struct weft_reader_facts *facts = &f->common.facts;
    size_t size = p->h.header_bytes < sizeof h ? WEFT_EVENTS_HEADER_V1_0 : sizeof h;
    if (!has_header(f, p, WEFT_EVENTS_HEADER_V1_0))
        return 0;
    memset(&h, 0, sizeof h);
    int rc = read_one_owner(f, &h, size, &h.sequence, p->offset, err);
    if (rc <= 0)
        return rc;
    if (!h.sequence) {
        f->in_transition += format_overwritten(&h);
        f->changing += h.begin_ticks != 0;
        facts->unused_packets++;
        return read_emptied_add(&f->emptied, &f->common.input, p->offset, p->size, &h, err);
    }
    if (read_streams_add(&f->streams, h.stream, h.thread, h.thread_name) == WEFT_NO_STREAM ||
        (h.pair_ticks | h.pair_mono_ns &&
         !clock_add(&f->clock, h.pair_ticks, h.pair_mono_ns, h.pair_error)))
        return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for its streams");
    wall_add(&f->wall, &(struct wall_pair){h.sequence, h.pair_ticks, h.pair_real_ns, h.pair_error});
    uint64_t content = h.packet.content_bits / 8;
    content = content < p->size ? content : p->size;
    const uint64_t there = up_to_hole(f, p->offset, content);
    const bool cut = p->cut || there < content;
    content = there < p->h.header_bytes ? p->h.header_bytes : there;
    return read_packets_append(&f->packet, &f->packets, &f->packets_room, sizeof *f->packet,
                               &(struct packet){
                                   .offset = p->offset,
                                   .content = content < p->size ? content : p->size,
                                   .sequence = h.sequence,
                                   .begin_ticks = h.begin_ticks,
                                   .end_ticks = h.end_ticks,
                                   .base = h.base,
                                   .events_before = h.events_before,
                                   .discarded_before = h.discarded_before,
                                   .header_bytes = p->h.header_bytes,
                                   .stream = h.stream,
                                   .ended_at = h.ended_at,
                                   .ended_count = h.ended_count,
                                   .overwritten = format_overwritten(&h),
                                   .cut = cut,
                               },
                               p->offset, err);
}

/* If there is such a packet already, keeps the newer one. */
static void keep_place(struct weft_file *f, const struct read_packet *p, struct place *place,
                       uint64_t content, bool newer)
{
    if (place->content) {
        f->common.facts.repeated_packets++;
        f->joined = true;
    }
    if (newer)
        *place = (struct place){p->offset, p->size, content, p->h.header_bytes};
}

/* Keeps the larger of two such packets: both belong to the same trace, and they only grow. */
static void add_place(struct weft_file *f, const struct read_packet *p, size_t least,
                      struct place *place, uint64_t content)
{
    if (has_header(f, p, least))
        keep_place(f, p, place, content, content > place->content);
}

/* Sets *used to how many bytes of a packet of strings are used, out of its size. */
static int used_of_strings(struct weft_file *f, uint64_t offset, uint64_t header, uint64_t size,
                           uint64_t *used, struct weft_error *err)
{
    struct weft_strings_header h;
    const int rc = read_filled(&f->common.input, &h, sizeof h, offset, err);
    const uint64_t room = size > header ? size - header : 0;
    if (rc == 0)
        *used = header + (h.used_bytes < room ? h.used_bytes : room);
    return rc;
}

/* If the trace is being recorded, more may be used now than when the packet was found. */
static int load_strings(struct weft_file *f, struct weft_error *err)
{
    struct place *p = &f->strings;
    uint64_t used = 0;
    if (!p->content)
        return 0;
    TRY(used_of_strings(f, p->offset, p->header_bytes, p->size, &used, err));
    p->content = up_to_hole(f, p->offset, used > p->content ? used : p->content);
    return texts_load(&f->texts, &f->common.input, p->offset, p->content, p->header_bytes, err);
}

static int add_strings(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    uint64_t used = 0;
    const int rc = used_of_strings(f, p->offset, p->h.header_bytes, p->size, &used, err);
    if (rc == 0)
        add_place(f, p, sizeof(struct weft_strings_header), &f->strings, used);
    return rc;
}

/* Keeps the newest such packet: its counters only grow. */
static int add_pending(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    struct weft_pending_header h;
    if (!has_header(f, p, sizeof h))
        return 0;
    TRY(read_filled(&f->common.input, &h, sizeof h, p->offset, err));
    uint64_t age = h.kept + h.given_up + h.skipped + h.pauses;
    keep_place(f, p, &f->pending, p->content, age >= f->pending_age);
    f->pending_age = age >= f->pending_age ? age : f->pending_age;
    return 0;
}

/* Returns true if a packet of another class is not larger than the recorder makes such packets. */
static bool fits(struct weft_file *f, const struct read_packet *p, uint64_t most, const char *of)
{
    if (p->content <= most)
        return true;
    read_reader_problem(&f->common, p->offset + 40, p->size - HEADER,
                        "packet of %s holds %llu bytes, more than %llu; skipped", of,
                        LONG(p->content), LONG(most));
    return false;
}

static int add_samples(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    if (!has_header(f, p, sizeof(struct weft_samples_header)) ||
        !fits(f, p, WEFT_SAMPLES_MAX, "samples"))
        return 0;
    return read_samples_add(f, p, err);
}

static int add_ocaml(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    if (!has_header(f, p, sizeof(struct weft_ocaml_header)) ||
        !fits(f, p, WEFT_OCAML_PACKET_MAX, "OCaml's rings"))
        return 0;
    return read_drained_add(f, p, err);
}

/* Before any text is asked for. */
static int add_names(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    if (!has_header(f, p, sizeof(struct weft_names_header)) || !fits(f, p, WEFT_NAMES_MAX, "names"))
        return 0;
    return read_names_add(&f->texts.names, &f->common, p->offset, p->content, p->h.header_bytes,
                          err);
}

static int add_any_packet(struct weft_reader *r, const struct read_packet *p,
                          struct weft_error *err)
{
    struct weft_file *f = (struct weft_file *)r;
    struct weft_reader_facts *facts = &r->facts;
    if (!f->has_uuid)
        memcpy(f->uuid, p->h.uuid, sizeof f->uuid);
    f->has_uuid = true;
    memcpy(facts->uuid, f->uuid, sizeof facts->uuid);
    if (memcmp(f->uuid, p->h.uuid, sizeof f->uuid) != 0) {
        facts->other_packets++;
        return 0;
    }
    if (p->h.version != WEFT_FORMAT_VERSION) {
        facts->unknown_packets++;
        return 0;
    }
    f->common.is_trace = true;
    switch (p->h.class) {
    case WEFT_PACKET_EVENTS:
        return add_events(f, p, err);
    case WEFT_PACKET_STRINGS:
        return add_strings(f, p, err);
    case WEFT_PACKET_FACTS:
        add_place(f, p, sizeof(struct weft_facts_header), &f->facts,
                  up_to_hole(f, p->offset, p->content));
        return 0;
    case WEFT_PACKET_METADATA:
    case WEFT_PACKET_PRIVATE:
        return 0;
    case WEFT_PACKET_PENDING:
        return add_pending(f, p, err);
    case WEFT_PACKET_SAMPLES:
        return add_samples(f, p, err);
    case WEFT_PACKET_OCAML:
        return add_ocaml(f, p, err);
    case WEFT_PACKET_NAMES:
        return add_names(f, p, err);
    case WEFT_PACKET_ROLL:
        add_place(f, p, sizeof(struct weft_roll_header), &f->roll, p->content);
        return 0;
    default:
        facts->unknown_packets++;
        return 0;
    }
}

static const struct read_packet_form packet_form = {
    .head_bytes = HEADER,
    .header_bytes = HEADER,
    .mark = {MARK, is_mark},
    .size_at = offsetof(struct weft_packet_header, packet_bits),
    .content_at = offsetof(struct weft_packet_header, content_bits),
    .read_sizes = read_sizes,
    .zeros_max = WINDOW,
    .add = add_any_packet,
};

/* Putting them in order */

static int by_sequence(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    WEFT_ORDER(x->sequence, y->sequence);
    return weft_order(y->content, x->content);
}

static int by_begin(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    WEFT_ORDER(x->begin_ns, y->begin_ns);
    return weft_order(x->sequence, y->sequence);
}

/* The file is the recorder's, which had room for a pool of packets; no part of another file was appended to it. */
static bool is_ring(const struct weft_file *f)
{
    return f->facts.content && f->facts.offset == 0 && !f->joined && f->pool_packets;
}

/* How many packets of its pool the file is long enough for. */
static uint64_t pool_there(const struct weft_file *f)
{
    const uint64_t size = f->common.input.size;
    const uint64_t there = size > f->pool_at ? (size - f->pool_at) / f->pool_packet_bytes : 0;
    return there < f->pool_packets ? there : f->pool_packets;
}

/* The file has its whole pool: packets that are not there were overwritten. */
static bool is_whole(const struct weft_file *f)
{
    return is_ring(f) && pool_there(f) == f->pool_packets;
}

/* Reports that the file was cut, which its packets need not show: it may have been cut between two, or where one was unused. */
static void check_length(struct weft_file *f)
{
    if (is_ring(f) && !is_whole(f))
        read_reader_problem(&f->common, f->common.input.size, 0,
                            "the file ends before its ring does: it has %llu of %llu packets",
                            LONG(pool_there(f)), LONG(f->pool_packets));
}

/* Computes what the headers say about the losses of streams. The packets are sorted by sequence. */
static void count_losses(struct weft_file *f)
{
    struct weft_reader_facts *facts = &f->common.facts;
    for (uint64_t i = f->packets; i--;) {
        struct packet *p = &f->packet[i];
        struct weft_stream_facts *s = &f->streams.stream[p->stream];
        /* in the end, that of the oldest packet */
        f->streams.state[p->stream].first = p->events_before;
        p->newest = s->kept == 0;
        if (p->newest) {
            s->overwritten = p->events_before; /* minus those that will be found */
            s->discarded = p->discarded_before;
            s->kept = 1; /* seen */
        }
    }
    for (uint32_t i = 0; i < f->streams.count; i++)
        f->streams.stream[i].kept = 0;
    uint64_t claimed = f->packets ? f->packet[f->packets - 1].sequence : 0;
    uint64_t gone = claimed - f->packets;
    if (!f->facts.content || facts->is_part || is_whole(f))
        facts->overwritten_packets = gone;
    else if (gone > facts->overwritten_packets + f->changing)
        facts->missing_packets = gone - facts->overwritten_packets - f->changing;
    facts->wrapped = facts->overwritten_packets > 0;
}

/* Drops packets that do not belong to the part that is read. Of those that are not closed it is not known when they end. */
static void keep_part(struct weft_file *f)
{
    const struct weft_reader *r = &f->common;
    uint64_t kept = 0, hint = 0;
    for (uint64_t i = 0; i < f->packets; i++) {
        struct packet *p = &f->packet[i];
        const bool closed = p->end_ticks > p->begin_ticks;
        const bool before = closed && clock_convert(&f->clock, p->end_ticks, &hint) < r->from_ns;
        const bool after = p->begin_ns > r->to_ns;
        f->cut_off |= after;
        if (!before && !after)
            f->packet[kept++] = *p;
    }
    f->packets = kept;
    if (f->common.facts.overwritten_ns < r->from_ns)
        f->common.facts.overwritten_ns = r->from_ns;
}

static bool order_packets(struct weft_file *f)
{
    struct weft_reader_facts *facts = &f->common.facts;
    uint64_t kept = 0, hint = 0;
    weft_sort(f->packet, f->packets, sizeof *f->packet, by_sequence);
    if (!sort_streams(&f->streams))
        return false;
    for (uint64_t i = 0; i < f->packets; i++) {
        bool repeated = kept && f->packet[i].sequence == f->packet[kept - 1].sequence;
        facts->repeated_packets += repeated;
        f->joined |= repeated;
        if (repeated)
            continue;
        f->packet[kept] = f->packet[i];
        f->packet[kept++].stream = read_streams_find(&f->streams, f->packet[i].stream);
    }
    f->packets = kept;
    for (uint64_t i = 0; i < f->packets; i++)
        f->packet[i].begin_ns = clock_convert(&f->clock, f->packet[i].begin_ticks, &hint);
    if (facts->is_part)
        keep_part(f);
    count_losses(f);
    for (uint64_t i = 0; i < f->packets; i++) {
        struct packet *p = &f->packet[i];
        facts->content_bytes += p->content;
        f->in_pool += p->overwritten;
    }
    weft_sort(f->packet, f->packets, sizeof *f->packet, by_begin);
    facts->packets = f->packets;
    return true;
}

static void describe_clock(struct weft_file *f)
{
    static const char *const names[] = {
        [WEFT_CLOCK_TSC] = "TSC",
        [WEFT_CLOCK_ARM64] = "arm64's counter",
        [WEFT_CLOCK_MONOTONIC] = "CLOCK_MONOTONIC",
        [WEFT_CLOCK_CALLER] = "the program's own",
    };
    struct weft_reader_facts *facts = &f->common.facts;
    const char *name = "an unknown counter";
    if (facts->quirks.at_once) {
        facts->clock =
            facts->process.outside.core ? "wall clock, nanoseconds" : "CLOCK_BOOTTIME, nanoseconds";
        return;
    }
    if (facts->clock_kind < sizeof names / sizeof *names && names[facts->clock_kind])
        name = names[facts->clock_kind];
    if (f->clock.plain)
        snprintf(f->clock_text, sizeof f->clock_text, "%s, nanoseconds", name);
    else if (facts->clock_kind == WEFT_CLOCK_CALLER)
        snprintf(f->clock_text, sizeof f->clock_text, "%s, %" PRIu64 " ticks a second", name,
                 facts->clock_hz);
    else
        snprintf(f->clock_text, sizeof f->clock_text,
                 "%s of %" PRIu64 " Hz, as CLOCK_MONOTONIC by %" PRIu64 " readings", name,
                 facts->clock_hz, f->clock.points);
    facts->clock = f->clock_text;
}

/* If the trace is being recorded, reads a copy of it as it is at this moment. */
static int stand_still(struct weft_reader *r, struct weft_error *err)
{
    struct weft_input copy;
    int rc = weft_snapshot_of_live(&copy, &r->input, err);
    if (rc <= 0)
        return rc;
    weft_input_close(&r->input);
    r->input = copy;
    return 0;
}

/* Drops packets that have not grown since the last look. Returns false if there is no memory. */
static bool leave_out_seen(struct weft_file *f)
{
    uint64_t kept = 0;
    bool ok = true;
    for (uint64_t i = 0; i < f->packets && ok; i++) {
        const struct packet *p = &f->packet[i];
        const uint64_t bytes = read_seen_bytes(f->common.seen, p->sequence);
        if (bytes < p->content)
            f->packet[kept++] = *p;
        else
            ok = read_seen_note(f->common.seen, p->sequence, bytes);
    }
    f->packets = kept;
    f->pending_events.next_ns = UINT64_MAX;
    return ok;
}

static int open_weft(struct weft_reader *r, struct weft_error *err)
{
    struct weft_file *f = (struct weft_file *)r;
    r->texts = &f->texts;
    f->window = malloc(WINDOW);
    if (!f->window)
        return weft_no_memory(err);
    const bool goes_on = r->seen && r->seen->begun;
    int rc = goes_on ? 0 : stand_still(r, err);
    if (rc == 0)
        rc = read_packets(r, &packet_form, f->window, err);
    if (rc == 0)
        rc = read_process_load(f, err);
    /* After the headers: texts are stored in the file before the events that use them. */
    if (rc == 0)
        rc = load_strings(f, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < f->texts.names.names; i++) {
        const struct name *name = &f->texts.names.name[i];
        const bool found = name->function || name->file;
        r->facts.names += found;
        r->facts.nameless += !found;
    }
    if (!clock_finish(&f->clock, r->facts.clock_kind, r->facts.clock_hz))
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its clock");
    wall_find(&f->wall, &f->clock, &r->facts);
    read_process_pause(f);
    check_length(f);
    if (!order_packets(f))
        return weft_error_set(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for its streams");
    describe_clock(f);
    if (goes_on && !leave_out_seen(f))
        return weft_no_memory(err);
    read_samples_sort(f);
    rc = goes_on ? 0 : read_pending_load(f, err);
    if (rc == 0)
        rc = read_merge_begin(f, err);
    return rc == 0 ? read_drained_begin(f, err) : rc;
}

bool read_part_packets(const struct weft_reader *r, bool (*use)(void *data, uint64_t offset),
                       void *data)
{
    const struct weft_file *f = (const struct weft_file *)r;
    for (uint64_t i = 0; i < f->packets; i++)
        if ((!r->choice || f->packet[i].chosen) && !use(data, f->packet[i].offset))
            return false;
    return true;
}

static void tell_spans(const struct weft_reader *r, weft_span_fn *use, void *data)
{
    const struct weft_file *f = (const struct weft_file *)r;
    uint64_t hint = 0;
    for (uint64_t i = 0; i < f->packets; i++) {
        const struct packet *p = &f->packet[i];
        const bool closed = p->end_ticks >= p->begin_ticks;
        use(data, &(struct weft_packet_span){
                      .begin_ns = p->begin_ns,
                      .end_ns = closed ? clock_convert(&f->clock, p->end_ticks, &hint) : UINT64_MAX,
                      .bytes = p->content - p->header_bytes,
                      .stream = p->stream});
    }
}

static ptrdiff_t next_events(struct weft_reader *r, struct weft_error *err)
{
    struct weft_file *f = (struct weft_file *)r;
    return f->drained.on ? read_ocaml_next(&f->drained.o, err) : read_merge_next(r, err);
}

static void fini(struct weft_reader *r)
{
    struct weft_file *f = (struct weft_file *)r;
    weft_free_all(f->packet, f->window, f->process_text, f->arg, f->remark, f->outside_link,
                  f->sort, f->samples.place, f->samples.packet);
    texts_fini(&f->texts);
    clock_fini(&f->clock);
    weft_free_all(f->streams.state, f->streams.stream);
    weft_idmap_free(f->streams.index);
    read_pending_fini(&f->pending_events);
    read_emptied_fini(&f->emptied);
    read_drained_fini(&f->drained);
    read_merge_end(f->merge);
}

static bool probe(const unsigned char *bytes, size_t size)
{
    return size >= MARK && is_mark(bytes);
}

const struct weft_reader_format read_weft_format = {
    .name = "weft",
    .size = sizeof(struct weft_file),
    .probe = probe,
    .has_packets = true,
    .index = open_weft,
    .next = next_events,
    .next_samples = read_samples_next,
    .spans = tell_spans,
    .was_overwritten = read_pending_overwritten,
    .fini = fini,
};
