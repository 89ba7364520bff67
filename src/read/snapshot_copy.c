/* SPDX-License-Identifier: ISC */
/* The second half of copying weft's own traces, see snapshot.c: writing the copy. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "format/samples.h"
#include "read/snapshot_parts.h"
#include "read/wall.h"

enum { BLOCK = 64 << 10 };

int read_snapshot_cannot_write(struct weft_error *err)
{
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "cannot be written: %s", strerror(errno));
}

/* ---- 4, 5, 6. Copying ---- */

/* How many bytes at the beginning are zeros, in whole blocks. */
static size_t zeros_of(const unsigned char *bytes, size_t size)
{
    static const unsigned char zeros[BLOCK];
    size_t n = 0;
    while (size - n >= BLOCK && memcmp(bytes + n, zeros, BLOCK) == 0)
        n += BLOCK;
    return n;
}

/* A file may consist of a hole, whatever it says was recorded: the copy then has a hole there,
 * too. */
static int write_bytes(struct weft_snapshot *s, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    s->written += size;
    for (size_t left = size, n; left; from += n, left -= n) {
        const size_t hole = s->leaves_holes ? zeros_of(from, left - 1) : 0;
        n = hole ? hole : left < BLOCK ? left : BLOCK;
        if (hole ? fseeko(s->out, (off_t)hole, SEEK_CUR) != 0 : fwrite(from, 1, n, s->out) != n)
            return read_snapshot_cannot_write(s->err);
    }
    return 0;
}

/* Cuts the packet in the buffer to that many bytes, at least a header's, and writes it. */
static int write_buffered(struct weft_snapshot *s, uint64_t bytes)
{
    static const unsigned char zeros[8];
    struct weft_packet_header *h = (struct weft_packet_header *)s->buffer;
    uint64_t padding = -bytes & 7;
    h->packet_bits = (bytes + padding) * 8;
    if (h->content_bits > bytes * 8)
        h->content_bits = bytes * 8;
    int rc = write_bytes(s, s->buffer, bytes);
    return rc < 0 ? rc : write_bytes(s, zeros, padding);
}

/* Notes where the copy of a packet has ended bytes that were not set before the moment. */
static int compare_ended(struct weft_snapshot *s, const struct piece *p,
                         const struct weft_events_header *h, uint64_t bytes)
{
    if (!s->live || h->packet.header_bytes < sizeof *h || bytes < h->packet.header_bytes ||
        !format_has_ended(h))
        return 0;
    const struct ended *e = read_snapshot_ended_at(s, p->at);
    if (e && e->sequence != p->sequence)
        e = NULL;
    uint32_t same = 0;
    while (same < h->ended_count && (s->buffer[h->ended_at + same] & 3) == read_ended_bits(e, same))
        same++;
    if (same == h->ended_count)
        return 0;
    int rc = read_scan_grow(s, &s->late, s->lates, &s->lates_room, sizeof *s->late);
    if (rc == 0)
        s->late[s->lates++] = (struct late){s->written + h->ended_at, h->ended_count, e};
    return rc;
}

static int count_gone(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_events_header h;
    s->gone++;
    read_snapshot_lose(s, p->end_ticks);
    if (p->events != UINT32_MAX) {
        s->overwritten += p->events;
        return 0;
    }
    int rc = read_scan_header(s, p->at, p->room, &h);
    if (rc >= 0 && format_overwritten(&h) > p->overwritten)
        s->overwritten += format_overwritten(&h) - p->overwritten;
    return rc < 0 ? rc : 0;
}

/* Writes the packet in the buffer; h is its header, already checked. */
static int write_events(struct weft_snapshot *s, const struct piece *p,
                        struct weft_events_header *h, uint64_t bytes)
{
    const bool is_long = h->packet.header_bytes >= sizeof *h;
    uint64_t last = 0;
    if (p->events == UINT32_MAX || h->end_ticks > s->moment) {
        bytes = read_snapshot_walk(h, s->buffer, bytes, s->moment, &last);
        h->end_ticks = 0;
        h->events = 0;
    }
    h->packet.content_bits = bytes * 8;
    if (is_long && bytes >= sizeof *h)
        h->counts = h->events; /* the facts say what was overwritten */
    const size_t header = is_long ? sizeof *h : WEFT_EVENTS_HEADER_V1_0;
    memcpy(s->buffer, h, bytes < header ? bytes : header);
    TRY(compare_ended(s, p, h, bytes));
    s->copied++;
    s->last_copied = p->sequence > s->last_copied ? p->sequence : s->last_copied;
    return write_buffered(s, bytes);
}

/* Of a packet outside of the part that is copied: its times, its place in its stream, and its pair of clocks. */
static int copy_header(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_events_header h;
    int rc = read_scan_header(s, p->at, p->room, &h);
    if (rc == 0)
        return count_gone(s, p);
    const bool is_long = h.packet.header_bytes >= sizeof h;
    const size_t size = is_long ? sizeof h : WEFT_EVENTS_HEADER_V1_0;
    if (rc > 0)
        rc = read_scan_reserve(s, size + 8);
    if (rc < 0)
        return rc;
    h.packet.header_bytes = (uint32_t)size;
    h.packet.content_bits = size * 8;
    h.events = h.ended_at = h.ended_count = 0;
    h.counts = 0;
    memcpy(s->buffer, &h, size);
    s->copied++;
    s->last_copied = p->sequence > s->last_copied ? p->sequence : s->last_copied;
    return write_buffered(s, size);
}

static int copy_events(struct weft_snapshot *s, const struct piece *p)
{
    if (p->left_out)
        return copy_header(s, p);
    struct weft_events_header before, after;
    int rc = read_scan_header(s, p->at, p->room, &before);
    if (rc < 0)
        return rc;
    bool same = rc > 0 && before.sequence == p->sequence;
    uint64_t bytes = p->bytes;
    if (same && before.begin_ticks > s->moment)
        return 0;
    if (same && bytes > before.packet.packet_bits / 8)
        bytes = before.packet.packet_bits / 8;
    ptrdiff_t n = same ? read_snapshot_get(s, p->at, bytes < p->room ? bytes : p->room) : 0;
    if (n < 0)
        return (int)n;
    same = same && read_scan_header(s, p->at, p->room, &after) > 0 && after.sequence == p->sequence;
    if (!same || n < WEFT_EVENTS_HEADER_V1_0)
        return count_gone(s, p);
    return write_events(s, p, &before, (uint64_t)n & ~UINT64_C(3));
}

/* Removes from a cell what is newer than the moment. Returns false if nothing is left. */
static bool cut_cell(const struct weft_snapshot *s, struct weft_pending_cell *c)
{
    if (!(c->flags & (WEFT_PENDING_UNBORN | WEFT_PENDING_UNDATED)) && c->created_ticks > s->moment)
        return false;
    for (unsigned i = 0; i < WEFT_PENDING_NOTES; i++)
        if (c->note_ticks[i] > s->moment)
            c->note_tag[i] = 0;
    c->version = 0;
    return true;
}

/* Returns true if what had ended at the first look is also right for the moment, or events in the
 * copy say the rest. */
static bool is_lossless(const struct weft_snapshot *s)
{
    return s->live && !s->lossy;
}

static int write_cells(struct weft_snapshot *s, const struct piece *p,
                       const struct weft_packet_header *packet, struct cells *c)
{
    const struct ended *found = read_snapshot_ended_at(s, p->at),
                       /* otherwise bits, of a packet of events */
        *e = found && !found->sequence ? found : NULL;
    const uint64_t ids = sizeof c->h, each = sizeof(uint64_t) + sizeof(struct weft_pending_cell);
    read_emptied_mark(&s->emptied, c);
    uint64_t count = 0;
    for (uint64_t i = 0; i < c->knowns && ids + (count + 1) * each <= p->room; i++)
        if (cut_cell(s, &c->known[i].cell))
            c->known[count++] = c->known[i];
    const uint64_t cells = ids + count * sizeof(uint64_t), bytes = ids + count * each;
    TRY(read_scan_reserve(s, bytes + 8));
    c->h.packet = *packet;
    c->h.packet.header_bytes = sizeof c->h;
    c->h.packet.content_bits = bytes * 8;
    c->h.cells = (uint32_t)count;
    c->h.cell_bytes = sizeof(struct weft_pending_cell);
    c->h.ids_at = ids;
    c->h.cells_at = cells;
    memcpy(s->buffer, &c->h, sizeof c->h);
    for (uint64_t i = 0; i < count; i++) {
        const struct known *k = &c->known[i];
        uint64_t marked = k->id | WEFT_PENDING_RESOLVED;
        bool before = e && k->place < e->count && e->word[k->place] == marked;
        bool ended = k->ended || (k->resolved && (before || !is_lossless(s)));
        memcpy(s->buffer + ids + i * 8, ended ? &marked : &k->id, 8);
        memcpy(s->buffer + cells + i * sizeof k->cell, &k->cell, sizeof k->cell);
    }
    return write_buffered(s, bytes);
}

static int by_number(const void *a, const void *b)
{
    const struct on_roll *x = a, *y = b;
    return weft_order(x->word >> WEFT_ROLL_SORT_BITS, y->word >> WEFT_ROLL_SORT_BITS);
}

static ptrdiff_t read_roll(struct weft_snapshot *s, const struct piece *p,
                           struct weft_roll_header *h)
{
    ptrdiff_t n = read_snapshot_get(s, p->at, p->room);
    if (n < (ptrdiff_t)sizeof *h)
        return n < 0 ? n : 0;
    memcpy(h, s->buffer, sizeof *h);
    return read_roll_fits(h, sizeof *h, (uint64_t)n) ? n : 0;
}

/* A promise may move from the roll to a cell after the cells were read; it would then be in
 * neither. */
static int look_at_roll(struct weft_snapshot *s)
{
    struct weft_roll_header h;
    size_t i = 0;
    while (i < s->pieces && s->piece[i].class != WEFT_PACKET_ROLL)
        i++;
    if (!s->live || s->on_roll || i == s->pieces)
        return 0;
    ptrdiff_t n = read_roll(s, &s->piece[i], &h);
    if (n <= 0)
        return (int)n;
    const uint64_t bytes = (h.numbers + 1) * sizeof *s->on_roll;
    TRY(read_scan_spend(s, bytes));
    s->on_roll = calloc(1, bytes);
    if (!s->on_roll)
        return weft_no_memory(s->err);
    for (uint64_t k = 0; k < h.numbers; k++) {
        struct on_roll *o = &s->on_roll[s->on_rolls];
        memcpy(&o->word, s->buffer + h.numbers_at + k * 8, 8);
        s->on_rolls += o->word != 0;
    }
    qsort(s->on_roll, s->on_rolls, sizeof *s->on_roll, by_number);
    return 0;
}

static int copy_pending(struct weft_snapshot *s, const struct piece *p,
                        const struct weft_packet_header *h)
{
    struct cells cells = {.knowns = 0};
    int rc = look_at_roll(s);
    if (rc == 0)
        rc = read_snapshot_load_cells(s, &(struct spot){p->at, p->room, *h}, &cells);
    if (rc > 0)
        rc = write_cells(s, p, h, &cells);
    read_cells_fini(&cells);
    return rc;
}

/* Returns true if the whole pool is in the file: then all packets up to the newest that are not
 * copied were overwritten. */
static bool is_whole(const struct weft_snapshot *s)
{
    const struct weft_facts_header *f = &s->facts;
    return s->has_facts && s->facts_found == 1 && f->event_packets && f->event_packet_bytes &&
           f->events_at <= s->in->size &&
           f->event_packets <= (s->in->size - f->events_at) / f->event_packet_bytes;
}

/* When it was copied, on the clock of the process, if that is known. */
static uint64_t until_ns(const struct weft_snapshot *s, const struct weft_facts_header *f)
{
    if (s->sampling)
        return (uint64_t)weft_monotonic_ns();
    if (s->in->writer == WEFT_WRITER_ALIVE)
        return s->live ? read_until_ns(f, &s->pair, s->newest, s->now_real_ns) : 0;
    if (s->in->writer == WEFT_WRITER_PROCESS && (s->live || read_snapshot_alive(s, f)))
        return (uint64_t)weft_monotonic_ns();
    return 0;
}

/* Adjusts the facts for packets that are not in the copy. */
static void set_facts(const struct weft_snapshot *s, struct weft_facts_header *f)
{
    if (s->facts_found == 1)
        f->overwritten_events += s->overwritten;
    f->overwritten_packets += s->gone;
    if (is_whole(s))
        f->overwritten_packets = s->last_listed - s->listed;
    const uint64_t until = until_ns(s, f);
    if (until) {
        f->stop_mono_ns = until;
        f->stop_ticks = 0; /* it may have been stopped after the moment */
    }
    if (s->keeps_state)
        f->state = s->facts.state;
    else if (until || s->live)
        f->state = WEFT_TRACE_SAVED;
    else if (s->in->writer == WEFT_WRITER_DEAD && f->state == WEFT_TRACE_RECORDING)
        f->state = WEFT_TRACE_KILLED;
    f->events_at = f->event_packets = f->strings_at = 0; /* does not apply to the copy */
}

/* How much of a packet is content, out of its *bytes; h is its header. Returns a negative code if it cannot be read. */
static int used_of(struct weft_snapshot *s, const struct piece *p,
                   const struct weft_packet_header *h, uint64_t *bytes)
{
    *bytes = h->packet_bits / 8 < p->room ? h->packet_bits / 8 : p->room;
    if (h->header_bytes > *bytes)
        return 0;
    if (p->class == WEFT_PACKET_STRINGS) {
        struct weft_strings_header strings;
        int rc = read_whole(s->in, &strings, sizeof strings, p->at, s->err);
        if (rc > 0 && strings.used_bytes < *bytes - h->header_bytes)
            *bytes = h->header_bytes + strings.used_bytes;
        return rc;
    }
    const uint64_t content = h->content_bits / 8;
    const bool ends = p->class == WEFT_PACKET_METADATA || p->class == WEFT_PACKET_FACTS;
    if (ends && content >= h->header_bytes && content < *bytes)
        *bytes = content;
    return 0;
}

/* Says in the facts, which take size bytes in the buffer, which part of the trace the copy is; there is room. Returns the
 * new size. Of several such texts the part is what is in all of them. */
static ptrdiff_t add_part(struct weft_snapshot *s, ptrdiff_t size)
{
    struct weft_packet_header *h = (struct weft_packet_header *)s->buffer;
    const size_t more = strlen(s->part) + 1;
    if (more == 1 || h->content_bits / 8 != (uint64_t)size || (uint64_t)size < h->header_bytes)
        return size;
    size_t gap = (size_t)size > h->header_bytes && s->buffer[size - 1] != '\0';
    if (gap)
        s->buffer[size] = '\0';
    memcpy(s->buffer + size + gap, s->part, more);
    h->content_bits += (gap + more) * 8;
    return size + (ptrdiff_t)(gap + more);
}

/* Appends the sight of the source's clock to the facts, which take size bytes in the buffer; there
 * is room. Returns the new size. */
static ptrdiff_t add_sight(struct weft_snapshot *s, ptrdiff_t size)
{
    struct weft_packet_header *h = (struct weft_packet_header *)s->buffer;
    if (s->in->copy)
        weft_sight_blank((char *)s->buffer + h->header_bytes,
                         (size_t)size > h->header_bytes ? (size_t)size - h->header_bytes : 0);
    if (!s->in->sight || h->content_bits / 8 != (uint64_t)size || s->buffer[size - 1] != '\0')
        return size;
    char text[WEFT_SIGHT_TEXT];
    size_t more = weft_sight_write(text, s->in->sight);
    memcpy(s->buffer + size, text, more);
    h->content_bits += more * 8;
    return size + (ptrdiff_t)more;
}

/* Removes the free places from a roll, which takes size bytes in the buffer, and adds the promises
 * that have left it since the cells were read. Returns the new size; 0 if the roll is empty. */
static ptrdiff_t pack_roll(struct weft_snapshot *s, ptrdiff_t size)
{
    struct weft_roll_header h;
    uint64_t word, used = 0, bytes = (uint64_t)size;
    bool empty = true;
    memcpy(&h, s->buffer, bytes < sizeof h ? bytes : sizeof h);
    if (bytes < sizeof h || !read_roll_fits(&h, sizeof h, bytes) ||
        h.sorts_at + (uint64_t)h.sorts * h.sort_bytes > h.numbers_at)
        return size; /* it is damaged: leave it as it is */
    for (uint64_t i = 0; i < h.numbers; i++) {
        memcpy(&word, s->buffer + h.numbers_at + i * 8, 8);
        memcpy(s->buffer + h.numbers_at + used * 8, &word, 8);
        used += word != 0;
        struct on_roll *o = s->on_rolls ? bsearch(&(struct on_roll){.word = word}, s->on_roll,
                                                  s->on_rolls, sizeof *s->on_roll, by_number)
                                        : NULL;
        if (o)
            o->still = true;
    }
    for (size_t i = 0; i < s->on_rolls && used < h.numbers; i++)
        if (!s->on_roll[i].still)
            memcpy(s->buffer + h.numbers_at + used++ * 8, &s->on_roll[i].word, 8);
    for (uint32_t i = 0; i < h.sorts; i++) {
        uint64_t at = h.sorts_at + (uint64_t)i * h.sort_bytes;
        struct weft_roll_sort sort = {.site = 0};
        memcpy(&sort, s->buffer + at, h.sort_bytes < sizeof sort ? h.sort_bytes : sizeof sort);
        empty &= !sort.unlisted && !sort.left_out;
    }
    if (!used && empty)
        return 0;
    h.numbers = used;
    h.packet.content_bits = (h.numbers_at + used * 8) * 8;
    memcpy(s->buffer, &h, sizeof h);
    return (ptrdiff_t)(h.numbers_at + used * 8);
}

/* In a ring, it may be overwritten meanwhile; then those that were before it are known to be missing. */
static int copy_samples(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_samples_header h, after;
    int rc = read_whole(s->in, &h, sizeof h, p->at, s->err);
    if (rc <= 0 || !format_is_packet(&h.packet) || h.packet.class != p->class)
        return rc < 0 ? rc : 0;
    uint64_t bytes = h.packet.packet_bits / 8 < p->room ? h.packet.packet_bits / 8 : p->room;
    if (h.packet.content_bits / 8 >= sizeof h && h.packet.content_bits / 8 < bytes)
        bytes = h.packet.content_bits / 8;
    const ptrdiff_t n = read_snapshot_get(s, p->at, bytes);
    rc = n < 0 ? (int)n : read_whole(s->in, &after, sizeof after, p->at, s->err);
    if (rc <= 0 || n < (ptrdiff_t)sizeof h)
        return rc < 0 ? rc : 0;
    const bool same = after.packet.class == p->class && after.sequence == h.sequence;
    memcpy(s->buffer, &h, sizeof h);
    return same ? write_buffered(s, (uint64_t)n) : 0;
}

static int copy_other(struct weft_snapshot *s, const struct piece *p)
{
    struct weft_packet_header h;
    uint64_t bytes;
    ptrdiff_t n = weft_input_read(s->in, &h, sizeof h, p->at, s->err);
    if (n < (ptrdiff_t)sizeof h || !format_is_packet(&h) || h.class != p->class)
        return n < 0 ? (int)n : 0;
    if (p->class == WEFT_PACKET_PENDING)
        return copy_pending(s, p, &h);
    if (p->class == WEFT_PACKET_SAMPLES)
        return copy_samples(s, p);
    int rc = used_of(s, p, &h, &bytes);
    rc = rc < 0 ? rc : read_scan_reserve(s, bytes + WEFT_SIGHT_TEXT + 1 + READ_PART_TEXT);
    n = rc < 0 ? rc : read_snapshot_get(s, p->at, bytes);
    if (n < (ptrdiff_t)sizeof h)
        return n < 0 ? (int)n : 0;
    memcpy(s->buffer, &h, sizeof h);
    if (p->class == WEFT_PACKET_FACTS && n >= (ptrdiff_t)sizeof s->facts) {
        if (s->written == 0) {
            s->begins_with_facts = true;
            s->facts_at = p->at;
            memcpy(&s->facts_copy, s->buffer, sizeof s->facts_copy);
            const size_t pause_end = sizeof s->facts_copy + sizeof(struct weft_facts_pause);
            s->says_pause = h.header_bytes >= pause_end && (size_t)n >= pause_end;
        }
        set_facts(s, (struct weft_facts_header *)s->buffer);
        n = add_part(s, s->written == 0 ? add_sight(s, n) : n);
    }
    if (p->class == WEFT_PACKET_ROLL)
        n = pack_roll(s, n);
    return n ? write_buffered(s, (uint64_t)n) : 0;
}

/* ---- The whole ---- */

/* Overwrites bytes of the copy. */
static int write_at(struct weft_snapshot *s, off_t at, const void *bytes, size_t size)
{
    if (fseeko(s->out, at, SEEK_SET) == 0 && fwrite(bytes, 1, size, s->out) == size)
        return 0;
    return read_snapshot_cannot_write(s->err);
}

/* Writes the facts again, now that it is known what the copy lacks, how many texts there was no
 * room for so far, and whether the recording was paused after they were read. They are the copy's
 * first packet. */
static int put_facts_again(struct weft_snapshot *s, off_t start)
{
    struct weft_facts_header f = s->facts_copy;
    struct {
        struct weft_facts_header facts;
        struct weft_facts_pause pause;
    } now;
    ptrdiff_t n = weft_input_read(s->in, &now, sizeof now, s->facts_at, s->err);
    if (n < 0)
        return (int)n;
    const bool found = n >= (ptrdiff_t)sizeof now.facts && format_is_packet(&now.facts.packet);
    if (found && now.facts.lost_texts > f.lost_texts)
        f.lost_texts = now.facts.lost_texts;
    set_facts(s, &f);
    const size_t after = sizeof f.packet; /* the rest stays as it is */
    int rc = write_at(s, start + (off_t)after, (unsigned char *)&f + after, sizeof f - after);
    if (rc == 0 && found && s->says_pause && n == (ptrdiff_t)sizeof now)
        rc = write_at(s, start + (off_t)sizeof f, &now.pause, sizeof now.pause);
    return rc;
}

/* Replaces the ended bytes that were read late with what had ended before the moment. */
static int put_ended_again(struct weft_snapshot *s, off_t start)
{
    int rc = 0;
    for (size_t i = 0; i < s->lates && rc == 0; i++) {
        const struct late *l = &s->late[i];
        rc = read_scan_reserve(s, l->count);
        for (uint32_t n = 0; n < l->count && rc == 0; n++)
            s->buffer[n] = read_ended_bits(l->before, n);
        if (rc == 0)
            rc = write_at(s, start + (off_t)l->at, s->buffer, l->count);
    }
    return rc;
}

int read_snapshot_write_packets(struct weft_snapshot *s, off_t start, weft_progress_fn *progress,
                                void *data)
{
    int rc = 0;
    for (size_t i = 0; i < s->pieces && rc == 0; i++) {
        const struct piece *p = &s->piece[i];
        rc = p->sequence ? copy_events(s, p) : copy_other(s, p);
        if (rc == 0 && progress && !progress(data, (double)i / (double)s->pieces))
            rc = weft_error_set(s->err, WEFT_E_CANCELED, WEFT_NO_OFFSET, "stopped on request");
    }
    if (rc < 0 || start < 0)
        return rc;
    const off_t end = ftello(s->out);
    bool changed = s->copied != s->listed || s->gone;
    if (is_lossless(s))
        rc = put_ended_again(s, start);
    if (rc == 0 && s->begins_with_facts && s->facts_found == 1 && (s->live || changed)) {
        s->listed = s->copied;
        s->last_listed = s->last_copied;
        rc = put_facts_again(s, start);
    }
    if (rc == 0 && fseeko(s->out, end, SEEK_SET) != 0)
        rc = read_snapshot_cannot_write(s->err);
    return rc;
}
