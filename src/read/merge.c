/* SPDX-License-Identifier: ISC */
/* Merges the packets of a weft trace into one sequence of events.
 * A packet has one writer at a time, so its events are in order. The events of several packets are
 * merged by time, with a heap of the packets that have begun and not ended. Only these are in
 * memory: one for each thread that was recording at that moment. They do not overlap in the file,
 * so the file's size bounds the memory.
 * A packet may be overwritten while the file is read. So its header is read before and after its
 * content; if the sequence number has changed, the packet is left out. Of a packet that grows, only
 * what was there when the file was opened is used. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read/choose.h"
#include "read/seen.h"
#include "read/weft.h"

/* Signal handlers make times run backwards by a little; that is not damage. */
#define BACKWARD_NS UINT64_C(1000000)

/* Limits the memory of packets that have ended, but whose texts the events of the batch still use:
 * the batch ends early if they take more bytes. */
#define RETIRED_MAX (16u << 20)

/* The kinds of events that read_pending_see needs. */
#define ENDINGS                                                                                    \
    (1u << WEFT_EVENT_CREATES | 1u << WEFT_EVENT_FULFILLS | 1u << WEFT_EVENT_FAILS |               \
     1u << WEFT_EVENT_BECOMES | 1u << WEFT_EVENT_RESOLVES | 1u << WEFT_EVENT_CANCELS |             \
     1u << WEFT_EVENT_FORGETS)

/* The order in which things are handed out. Sequence numbers are unique. */
struct key {
    uint64_t ns, sequence;
};

/* A packet that is being read. */
struct source {
    struct key key; /* of its next event */
    uint64_t next_ticks, end_ticks;
    uint64_t clock_hint;
    size_t at, size; /* in bytes, after the header */
    struct weft_form_context form;
    struct source *retired;
    const struct packet *packet;
    uint32_t stream;
    uint32_t says_events; /* UINT32_MAX: not closed */
    uint64_t events;
    unsigned char bytes[];
};

struct merge {
    struct source **heap; /* the earliest comes first */
    size_t heaped;
    uint32_t room;
    struct key next; /* of the next packet to open, or the next promoted event to hand out */
    /* packets that have been opened: those before this index in the file's array */
    uint64_t opened;
    uint64_t done_bytes;
    struct source *retired; /* to be freed before the next batch: texts point into them */
    size_t retired_bytes;
    uint64_t last_ns;  /* time up to which packets have been read */
    uint64_t until_ns; /* later events are left for another look (follow.h) */
    bool finished;

    /* What the events of the batch point to; same indices. */
    struct weft_origin loose[WEFT_BATCH];
    char missing[WEFT_BATCH][2][12];
    char ids[WEFT_BATCH][WEFT_IDS_TEXT];
    char *own[WEFT_BATCH * 2]; /* texts; to be freed before the next batch */
    unsigned owns;
};

/* Heap */

static bool is_earlier(struct key a, struct key b)
{
    return a.ns < b.ns || (a.ns == b.ns && a.sequence < b.sequence);
}

static void sift_down(struct merge *m)
{
    struct source *moving = m->heap[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < m->heaped; at = child) {
        child += child + 1 < m->heaped && is_earlier(m->heap[child + 1]->key, m->heap[child]->key);
        if (!is_earlier(m->heap[child]->key, moving->key))
            break;
        m->heap[at] = m->heap[child];
    }
    m->heap[at] = moving;
}

/* There is room. */
static void push(struct merge *m, struct source *s)
{
    size_t at = m->heaped++;
    for (; at && is_earlier(s->key, m->heap[(at - 1) / 2]->key); at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = s;
}

/* Packets */

/* Reads the packet into s. Returns 1, 0 if it is no longer there, or a negative WEFT_E code. */
static int read_packet_content(struct weft_file *f, struct source *s, const struct packet *p,
                               struct weft_error *err)
{
    const struct weft_input *in = &f->common.input;
    struct weft_events_header h;
    uint64_t after;
    const size_t size = (size_t)(p->content - p->header_bytes);
    int rc = read_whole(in, &h, WEFT_EVENTS_HEADER_V1_0, p->offset, err);
    if (rc <= 0 || h.sequence != p->sequence)
        return rc < 0 ? rc : 0;
    ptrdiff_t got = weft_input_read(in, s->bytes, size, p->offset + p->header_bytes, err);
    if (got < 0)
        return (int)got;
    s->size = (size_t)got;
    rc = read_whole(in, &after, sizeof after,
                    p->offset + offsetof(struct weft_events_header, sequence), err);
    if (rc <= 0 || after != p->sequence)
        return rc < 0 ? rc : 0;
    if (s->size < size && !p->cut)
        read_reader_problem(&f->common, p->offset + p->header_bytes + s->size, 0,
                            "the file became shorter while it was read");
    s->form.begin_ticks = h.begin_ticks;
    s->form.base = h.base;
    s->form.running = h.running ? h.running : WEFT_ID_LOOP;
    s->next_ticks = h.begin_ticks;
    s->end_ticks = h.end_ticks > h.begin_ticks ? h.end_ticks : UINT64_MAX;
    /* What was added after the file was opened is counted, but left out. */
    bool all = h.packet.content_bits / 8 == p->content;
    s->says_events = h.end_ticks && all ? h.events : UINT32_MAX;
    return 1;
}

/* Sets the time of the next event. Within a packet time does not run backwards, nor go beyond the
 * packet's end. */
static inline void look_ahead(struct weft_file *f, struct source *s)
{
    if (s->size - s->at < sizeof(uint64_t))
        return;
    uint64_t ticks = format_form_ticks(s->bytes + s->at, s->form.begin_ticks);
    if (__builtin_expect(ticks < s->next_ticks || ticks > s->end_ticks, 0)) {
        uint64_t hint = s->clock_hint, ns = clock_convert(&f->clock, ticks, &hint);
        f->common.damage.backward_times += ticks > s->end_ticks || s->key.ns - ns > BACKWARD_NS;
        if (ticks < s->next_ticks)
            return;
        ticks = s->end_ticks;
    }
    s->next_ticks = ticks;
    s->key.ns = clock_convert(&f->clock, ticks, &s->clock_hint);
}

static int no_room(const struct packet *p, struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for a packet");
}

/* Reads a packet; *out: NULL if it is no longer there. Returns 0 or a negative WEFT_E code. */
static int new_source(struct weft_file *f, const struct packet *p, struct source **out,
                      struct weft_error *err)
{
    struct source *s = malloc(sizeof *s + (size_t)(p->content - p->header_bytes));
    *out = NULL;
    if (!s)
        return no_room(p, err);
    memset(s, 0, sizeof *s);
    int rc = read_packet_content(f, s, p, err);
    if (rc > 0)
        *out = s;
    else
        free(s);
    return rc < 0 ? rc : 0;
}

int read_merge_look(struct weft_file *f, read_look_fn *look, void *data, struct weft_error *err)
{
    for (uint64_t i = 0; i < f->packets; i++) {
        struct source *s;
        struct weft_event ev;
        TRY(new_source(f, &f->packet[i], &s, err));
        for (ptrdiff_t n; s && (n = weft_form_decode(&ev, &s->form, s->bytes + s->at,
                                                     s->size - s->at)) != WEFT_DECODE_SHORT;
             s->at += (size_t)n)
            if (ev.kind < WEFT_EVENT_KINDS)
                look(data, &ev);
        free(s);
    }
    return 0;
}

/* If the trace is followed, a stream goes on where the last look left it. Returns false if there is no memory. */
static bool continue_stream(struct weft_file *f, uint32_t stream)
{
    struct stream_state *state = &f->streams.state[stream];
    const struct seen_stream *s =
        f->common.seen ? read_seen_stream(f->common.seen, f->streams.stream[stream].number) : NULL;
    if (s && !state->running) {
        state->next = s->next;
        state->running = s->running;
    }
    return s || !f->common.seen;
}

static bool begin_stream(struct weft_file *f, struct source *s)
{
    const struct weft_form_context *c = &s->form;
    uint32_t stream = read_streams_add(&f->streams, c->stream, c->thread, c->thread_name);
    if (stream == WEFT_NO_STREAM || !continue_stream(f, stream))
        return false;
    s->stream = stream;
    f->streams.state[stream].first = 0;
    return true;
}

/* Goes past what was handed out in earlier looks. Returns false if there is no memory. */
static bool skip_seen(struct weft_file *f, struct source *s)
{
    const uint64_t bytes = read_seen_bytes(f->common.seen, s->packet->sequence);
    struct weft_event ev;
    while (s->at + s->packet->header_bytes < bytes) {
        const uint64_t unknown = s->form.unknown;
        ptrdiff_t n = weft_form_decode(&ev, &s->form, s->bytes + s->at, s->size - s->at);
        if (n == WEFT_DECODE_SHORT)
            break;
        s->at += (size_t)n;
        s->events += ev.kind < WEFT_EVENT_KINDS || s->form.unknown != unknown;
        if (ev.kind == WEFT_FORM_NEW_STREAM && !begin_stream(f, s))
            return false;
        look_ahead(f, s);
    }
    return true;
}

/* Opens the next packet, if it is still there. */
static int open_next(struct weft_file *f, struct weft_error *err)
{
    struct merge *m = f->merge;
    const struct packet *p = &f->packet[m->opened];
    struct source *s;
    if (!weft_reserve(&m->heap, m->heaped, &m->room, sizeof(struct source *)))
        return no_room(p, err);
    TRY(new_source(f, p, &s, err));
    m->opened++;
    if (!s) {
        f->common.facts.changed_packets++;
        m->done_bytes += p->content;
        return 0;
    }
    s->packet = p;
    s->stream = p->stream;
    s->key = (struct key){p->begin_ns, p->sequence};
    look_ahead(f, s);
    if (f->common.seen && !skip_seen(f, s)) {
        free(s);
        return no_room(p, err);
    }
    push(m, s);
    return 0;
}

/* Reports what is wrong with the packet, now that it has been read. */
static void check_end(struct weft_file *f, const struct source *s)
{
    const struct packet *p = s->packet;
    uint64_t left = s->size - s->at, position = p->offset + p->header_bytes + s->at;
    if (left && p->cut)
        f->common.damage.skipped_bytes += left; /* the file's end has been reported */
    else if (left)
        read_reader_problem(&f->common, position, left,
                            "an event does not end within its packet; skipped %zu bytes",
                            (size_t)left);
    else if (s->says_events != UINT32_MAX && s->says_events != s->events && !p->cut)
        read_reader_problem(&f->common, p->offset + offsetof(struct weft_events_header, events), 0,
                            "packet says it holds %u events, found %" PRIu64, s->says_events,
                            s->events);
}

/* Closes the first packet in the heap, which has been read, or is read on in another look. Returns false if there is no
 * memory. */
static bool close_first(struct weft_file *f)
{
    struct merge *m = f->merge;
    struct source *s = m->heap[0];
    struct read_seen *seen = f->common.seen;
    if (s->key.ns <= m->until_ns)
        check_end(f, s);
    else
        f->cut_off |= s->at < s->size;
    m->last_ns = s->key.ns;
    m->done_bytes += s->packet->content;
    f->common.facts.unknown_events += s->form.unknown;
    m->heap[0] = m->heap[--m->heaped];
    if (m->heaped)
        sift_down(m);
    s->retired = m->retired;
    m->retired = s;
    m->retired_bytes += s->size;
    return !seen || read_seen_note(seen, s->packet->sequence, s->packet->header_bytes + s->at);
}

static void free_retired(struct merge *m)
{
    m->retired_bytes = 0;
    while (m->owns)
        free(m->own[--m->owns]);
    for (struct source *s; (s = m->retired);) {
        m->retired = s->retired;
        free(s);
    }
}

/* Texts */

/* Terminates a text that was stored before its event, by moving it over the size in front of it. */
static const char *terminate(const struct weft_form_text *text)
{
    char *at = (char *)(uintptr_t)text->text - 1;
    memmove(at, text->text, text->size);
    at[text->size] = '\0';
    return at;
}

/* Replaces a place in code in a text that is not in the table. */
static void name_code(struct weft_file *f, const char **text, uint32_t *size)
{
    bool own;
    f->texts.no_memory |= !read_names_replace(&f->texts.names, text, size, &own);
    if (own)
        f->merge->own[f->merge->owns++] = (char *)(uintptr_t)*text;
}

static bool set_origin(struct weft_file *f, struct weft_event *ev, size_t n,
                       const struct weft_form_context *c)
{
    struct weft_origin *loose = &f->merge->loose[n];
    const uint32_t number = c->site;
    bool no_memory = false;
    uint32_t unused;
    const struct site *site =
        number == WEFT_STRING_INLINE ? NULL : texts_site(&f->texts, number, &no_memory);
    if (site) {
        ev->origin = &site->origin;
        if (site->label && !c->text) {
            ev->text = site->label;
            ev->text_size = site->label_size;
        }
        return true;
    }
    *loose = (struct weft_origin){.type = "promise"};
    ev->origin = loose;
    if (number == WEFT_STRING_INLINE && c->site_text.size) {
        loose->type = terminate(&c->site_text);
        uint32_t size = (uint32_t)strlen(loose->type);
        name_code(f, &loose->type, &size);
    } else if (number && number != WEFT_STRING_INLINE)
        loose->type = texts_missing(f->merge->missing[n][0], number, &unused);
    return !no_memory;
}

/* Sets the texts of ev, which is event n of the batch. Returns false if there is no memory. */
static bool set_texts(struct weft_file *f, struct weft_event *ev, size_t n,
                      const struct weft_form_context *c)
{
    if (c->ids) {
        format_ids_write(f->merge->ids[n], c->ids);
        ev->text = f->merge->ids[n];
        ev->text_size = WEFT_IDS_TEXT;
    } else if (ev->text) {
        name_code(f, &ev->text, &ev->text_size);
    } else if (c->text) {
        ev->text =
            c->text == WEFT_STRING_INLINE ? NULL : texts_get(&f->texts, c->text, &ev->text_size);
        if (!ev->text)
            ev->text = texts_missing(f->merge->missing[n][1], c->text, &ev->text_size);
    }
    return (ev->kind != WEFT_EVENT_CREATES || set_origin(f, ev, n, c)) && !f->texts.no_memory;
}

/* Events */

static void count_event(struct weft_file *f, struct source *s)
{
    struct weft_stream_facts *stream = &f->streams.stream[s->stream];
    const bool before_newest = !s->packet->newest || s->stream != s->packet->stream;
    const bool here = s->key.ns >= f->common.from_ns;
    s->events++;
    f->streams.state[s->stream].running = s->form.running;
    f->streams.state[s->stream].next++;
    stream->kept += here;
    if (!here) { /* before the part that is read: as if it had been overwritten */
        f->streams.state[s->stream].first++;
        stream->overwritten += !before_newest;
    } else if (before_newest && stream->overwritten) {
        stream->overwritten--;
    }
}

/* Returns true if another packet of the stream is still being read: the clock has gone back a
 * little. */
static bool goes_on(const struct merge *m, const struct source *s)
{
    for (size_t i = 0; i < m->heaped; i++)
        if (m->heap[i] != s && m->heap[i]->stream == s->stream)
            return true;
    return false;
}

/* Finds out what is missing between the stream's last event and the first event of a packet,
 * whether its kind is known or not. */
static void find_gap(struct weft_file *f, const struct source *s, uint64_t running)
{
    struct stream_state *of = &f->streams.state[s->stream];
    const bool begun = s->stream != s->packet->stream; /* an event of this packet came already */
    const uint64_t before = begun ? 0 : s->packet->events_before;
    const bool skipped = before > of->next && !goes_on(f->merge, s),
               missing = of->running && skipped;
    if (skipped && f->common.seen && f->common.seen->begun)
        f->common.seen->lost += before - of->next;
    of->missing |= missing;
    of->gap |= missing || (of->running && of->running != running);
    of->next = before > of->next ? before : of->next;
}

/* Marks the first known event of a packet with what is missing before it. */
static void report_gap(struct stream_state *of, struct weft_event *ev)
{
    ev->gap = of->gap;
    ev->missing = of->missing;
    of->gap = of->missing = false;
}

/* What was seen at one moment was there before. */
static bool is_older(const struct weft_file *f, const struct weft_event *ev)
{
    const struct weft_reader_facts *facts = &f->common.facts;
    return facts->quirks.at_once && ev->time_ns >= facts->process.start_ns;
}

/* Returns true if the part that is read is about that event, which may be changed. */
static bool is_chosen(struct weft_file *f, const struct source *s, struct weft_event *ev)
{
    struct read_choice *c = f->common.choice;
    if (!c)
        return true;
    const bool chosen = read_choice_takes(c, ev, f->streams.stream[s->stream].number);
    if (chosen)
        f->packet[s->packet - f->packet].chosen = true;
    else
        f->common.facts.outside_events++;
    return chosen;
}

/* Decodes what s has before that time, at least one event, as long as the batch has room. *more: s
 * has more. Returns false if there is no memory. */
static bool decode(struct weft_file *f, struct source *s, struct key until, size_t *count,
                   bool *more)
{
    *more = true;
    struct endings *endings = f->pending_events.endings;
    do {
        struct weft_event *ev = &f->common.batch[*count];
        uint64_t unknown = s->form.unknown;
        ptrdiff_t size = weft_form_decode(ev, &s->form, s->bytes + s->at, s->size - s->at);
        if (size == WEFT_DECODE_SHORT) {
            *more = false;
            break;
        }
        s->at += (size_t)size;
        if (ev->kind < WEFT_EVENT_KINDS) {
            ev->time_ns = s->key.ns;
            ev->stream = s->stream;
            if (!s->events)
                find_gap(f, s, ev->running);
            if (s->events == s->form.unknown)
                report_gap(&f->streams.state[s->stream], ev);
            const bool here = s->key.ns >= f->common.from_ns && is_chosen(f, s, ev);
            if (here &&
                (s->form.site | s->form.text || s->form.ids || ev->kind == WEFT_EVENT_CREATES) &&
                !set_texts(f, ev, *count, &s->form))
                return false;
            ev->undated = ev->kind == WEFT_EVENT_CREATES && is_older(f, ev);
            count_event(f, s);
            if (__builtin_expect(endings && ENDINGS >> ev->kind & 1, 0) &&
                !read_pending_see(endings, ev))
                return false;
            *count += here;
        } else if (ev->kind == WEFT_FORM_NEW_STREAM) {
            if (!begin_stream(f, s))
                return false;
        } else if (s->form.unknown != unknown) {
            if (!s->events)
                find_gap(f, s, s->form.running);
            count_event(f, s);
        }
        look_ahead(f, s);
    } while (*count < WEFT_BATCH && is_earlier(s->key, until));
    return true;
}

/* The time up to which the first packet in the heap may be decoded: that of the next open packet,
 * or of whatever is opened next. */
static struct key decode_limit(const struct merge *m)
{
    struct key limit = m->next;
    for (size_t i = 1; i < 3 && i < m->heaped; i++)
        if (is_earlier(m->heap[i]->key, limit))
            limit = m->heap[i]->key;
    return limit;
}

/* Sets the key of whatever comes next outside the open packets: a packet to open, or a promoted
 * event. */
static void set_next(struct weft_file *f)
{
    struct merge *m = f->merge;
    m->next = (struct key){UINT64_MAX, UINT64_MAX};
    if (m->opened < f->packets)
        m->next = (struct key){f->packet[m->opened].begin_ns, f->packet[m->opened].sequence};
    if (f->pending_events.next_ns < UINT64_MAX && f->pending_events.next_ns <= m->next.ns)
        m->next = (struct key){f->pending_events.next_ns, 0};
}

/* Finds the time of the first event in the first packet of the heap, before it is decoded. */
static void find_first(struct weft_file *f)
{
    struct weft_reader *r = &f->common;
    const struct source *s = f->merge->heap[0];
    struct weft_form_context form = s->form;
    struct weft_event ev;
    uint64_t hint = 0;
    ptrdiff_t size;
    for (size_t at = s->at; (size = weft_form_decode(&ev, &form, s->bytes + at, s->size - at)) > 0;
         at += (size_t)size)
        if (ev.kind < WEFT_EVENT_KINDS) {
            r->facts.first_ns = clock_convert(&f->clock, ev.time_ns, &hint);
            r->has_first = true;
            return;
        }
}

/* Adds a promoted event to the batch, unless a recorded event says the same. Returns false if there
 * is no memory. */
static bool append_promoted(struct weft_file *f, const struct promoted *p, uint64_t ns,
                            size_t *count)
{
    if (p->kind == WEFT_EVENT_CREATES && read_pending_was_created(f->pending_events.endings, p->id))
        return true;
    struct weft_event *ev = &f->common.batch[*count];
    const struct weft_event_desc *d = &weft_event_kinds[p->kind];
    const bool of_first = d->fields < 2 || d->field[1].field == WEFT_FIELD_TEXT;
    *ev = (struct weft_event){
        .time_ns = ns,
        .a = of_first ? p->id : p->other,
        .b = of_first ? 0 : p->id,
        .running = WEFT_ID_LOOP,
        .stream = p->stream,
        .kind = p->kind,
        .promoted = true,
        .undated = p->undated && p->kind == WEFT_EVENT_CREATES,
    };
    if (f->common.choice && !read_choice_takes(f->common.choice, ev, WEFT_ALL_STREAMS))
        return true;
    f->common.facts.promotion.events++;
    return set_texts(f, ev, (*count)++,
                     &(struct weft_form_context){.site = p->site, .text = p->text});
}

/* Adds what comes after all events: marks, and events that end promises. Returns false if there is
 * no memory. */
static bool append_last(struct weft_file *f, size_t *count)
{
    struct pending *p = &f->pending_events;
    struct promoted ended = {
        .other = WEFT_ID_LOOP, .stream = WEFT_STREAM_NONE, .kind = WEFT_EVENT_RESOLVES};
    uint64_t ns;
    for (; *count < WEFT_BATCH && p->next < p->events; p->next++)
        if (!append_promoted(f, &p->event[p->next], f->merge->last_ns, count))
            return false;
    /* A part does not have the events that end them; and when they ended is an estimate. */
    while (*count < WEFT_BATCH && p->endings && !f->common.facts.is_part &&
           read_pending_ended(p->endings, &ended.id, &ns))
        if (!append_promoted(f, &ended, ns, count))
            return false;
    return true;
}

/* Opens packets, and hands out promoted events, until the next event comes from an open packet.
 * Returns 0 or a negative WEFT_E code. */
static int open_until_next(struct weft_file *f, size_t *count, struct weft_error *err)
{
    struct merge *m = f->merge;
    struct pending *p = &f->pending_events;
    while (*count < WEFT_BATCH && (!m->heaped || m->next.ns <= m->heap[0]->key.ns)) {
        bool packet = m->opened < f->packets && f->packet[m->opened].begin_ns <= m->until_ns;
        bool promoted = p->next_ns != UINT64_MAX;
        if (!packet && !promoted)
            break;
        if (packet && promoted) /* the first packet is opened in any case: find_first needs it */
            promoted =
                p->next_ns <= f->packet[m->opened].begin_ns && (m->heaped || f->common.has_first);
        if (!promoted) {
            TRY(open_next(f, err));
        } else {
            if (m->heaped && !f->common.has_first)
                find_first(f);
            if (!append_promoted(f, &p->event[p->next], p->next_ns, count))
                return weft_no_memory(err);
            p->next_ns = ++p->next < p->events ? p->event[p->next].ns : UINT64_MAX;
        }
        set_next(f);
    }
    return 0;
}

/* For the next look. Returns false if there is no memory. */
static bool leave_streams(struct weft_file *f)
{
    bool ok = true;
    for (uint32_t i = 0; f->common.seen && i < f->streams.count && ok; i++) {
        struct seen_stream *s = read_seen_stream(f->common.seen, f->streams.stream[i].number);
        ok = s != NULL;
        if (s && f->streams.state[i].running)
            *s = (struct seen_stream){f->streams.state[i].next, f->streams.state[i].running};
    }
    return ok;
}

/* Everything has been read: computes the sums that the facts do not contain. Returns false if there is no memory. */
static bool finish(struct weft_file *f)
{
    struct weft_reader_facts *facts = &f->common.facts;
    if (f->merge->finished)
        return true;
    f->merge->finished = true;
    uint64_t overwritten = 0, missing = 0, discarded = 0;
    for (uint32_t i = 0; i < f->streams.count; i++) {
        struct weft_stream_facts *s = &f->streams.stream[i];
        uint64_t first = f->streams.state[i].first;
        first = first < s->overwritten ? first : s->overwritten;
        /* Of a stream or a promise, packets without such events may have been left out by weft save. */
        s->missing = f->common.choice ? 0 : s->overwritten - first;
        s->overwritten = first;
        overwritten += s->overwritten;
        missing += s->missing;
        discarded += s->discarded;
    }
    if (!f->joined)
        facts->overwritten_events += f->in_pool + f->in_transition;
    facts->missing_events = missing; /* the facts count them as overwritten */
    facts->overwritten_events -=
        missing < facts->overwritten_events ? missing : facts->overwritten_events;
    if (facts->overwritten_events < overwritten)
        facts->overwritten_events = overwritten;
    if (facts->discarded_events < discarded)
        facts->discarded_events = discarded;
    facts->overwritten_elsewhere = facts->overwritten_events - overwritten;
    facts->discarded_elsewhere = facts->discarded_events - discarded;
    if (f->common.to_ns != UINT64_MAX && (f->cut_off || f->merge->opened < f->packets))
        read_cut_off(&f->common);
    facts->promotion.complete &= !facts->is_part && !facts->discarded_events &&
                                 !facts->missing_packets && !facts->changed_packets &&
                                 !f->common.damage.problems;
    return leave_streams(f);
}

static void show_streams(struct weft_file *f)
{
    f->common.facts.streams = f->streams.count;
    f->common.facts.stream = f->streams.stream;
    if (f->common.facts.streams_recorded < f->streams.count)
        f->common.facts.streams_recorded = f->streams.count;
}

ptrdiff_t read_merge_next(struct weft_reader *r, struct weft_error *err)
{
    struct weft_file *f = (struct weft_file *)r;
    struct merge *m = f->merge;
    size_t count = 0;
    free_retired(m);
    while (count < WEFT_BATCH) {
        TRY(open_until_next(f, &count, err));
        if (count == WEFT_BATCH)
            break;
        if (!m->heaped) {
            if (!append_last(f, &count) || (count < WEFT_BATCH && !finish(f)))
                return weft_no_memory(err);
            break;
        }
        struct key limit = decode_limit(m);
        bool more = false;
        if (limit.ns > m->until_ns)
            limit = (struct key){m->until_ns, UINT64_MAX};
        if (m->heap[0]->key.ns <= m->until_ns && !decode(f, m->heap[0], limit, &count, &more))
            return weft_no_memory(err);
        if (more)
            sift_down(m);
        else if (!close_first(f))
            return weft_no_memory(err);
        if (count == 0) /* nothing points into them */
            free_retired(m);
        if (m->retired_bytes > RETIRED_MAX)
            break;
    }
    show_streams(f);
    r->done = m->done_bytes + (m->heaped == 1 ? m->heap[0]->at : 0);
    return (ptrdiff_t)count;
}

int read_merge_begin(struct weft_file *f, struct weft_error *err)
{
    f->merge = calloc(1, sizeof *f->merge);
    if (!f->merge)
        return weft_no_memory(err);
    f->merge->until_ns = f->common.to_ns;
    if (f->common.seen && f->common.facts.clock_kind != WEFT_CLOCK_CALLER)
        f->merge->until_ns = f->common.seen->until_ns;
    bool ok = true;
    for (uint32_t i = 0; i < f->streams.count; i++)
        ok &= continue_stream(f, i);
    if (!ok)
        return weft_no_memory(err);
    set_next(f);
    show_streams(f);
    f->common.all = f->common.facts.content_bytes;
    return 0;
}

void read_merge_end(struct merge *m)
{
    if (!m)
        return;
    free_retired(m);
    for (size_t i = 0; i < m->heaped; i++)
        free(m->heap[i]);
    free(m->heap);
    free(m);
}
