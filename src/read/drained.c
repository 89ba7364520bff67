/* SPDX-License-Identifier: ISC */
/* Packets with items of OCaml's rings, which weft record copied out while the program ran. Packets
 * of the same ring follow one another by their counts of words. If words are missing, either the
 * runtime had overwritten them before they were copied, or weft record has overwritten the packet.
 * One packet of each ring is in memory at a time. */
#include <stdlib.h>

#include "format/ocaml.h"
#include "read/weft.h"

/* What is known about a packet, without its items. */
struct drained_packet {
    uint64_t offset, content; /* content: including the header */
    uint64_t sequence, from, to, lost;
    uint32_t header_bytes, ring;
};

int read_drained_add(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    struct weft_ocaml_header h;
    struct drained *d = &f->drained;
    int rc = read_one_owner(f, &h, sizeof h, &h.sequence, p->offset, err);
    if (rc <= 0 || !h.sequence) {
        f->common.facts.unused_packets += rc >= 0;
        return rc < 0 ? rc : 0;
    }
    if (h.to < h.from || h.lost > h.from || h.ring >= WEFT_OCAML_DOMAINS_MAX) {
        read_reader_problem(&f->common, p->offset + 56, p->size - sizeof h.packet,
                            "packet of OCaml's ring %u goes from word %llu to %llu; skipped",
                            h.ring, (unsigned long long)h.from, (unsigned long long)h.to);
        return 0;
    }
    /* Its size, according to the owner whose number was there. */
    const uint64_t most = p->size < WEFT_OCAML_PACKET_MAX ? p->size : WEFT_OCAML_PACKET_MAX,
                   says = h.packet.content_bits / 8, content = says < most ? says : most;
    const struct drained_packet packet = {
        .offset = p->offset,
        .content = content > p->h.header_bytes ? content : p->h.header_bytes,
        .sequence = h.sequence,
        .from = h.from,
        .to = h.to,
        .lost = h.lost,
        .header_bytes = p->h.header_bytes,
        .ring = h.ring,
    };
    wall_add(&f->wall, &(struct wall_pair){h.sequence, h.pair_mono_ns, h.pair_real_ns, 0});
    return read_packets_append(&d->packet, &d->packets, &d->room, sizeof packet, &packet, p->offset,
                               err);
}

static int by_ring(const void *a, const void *b)
{
    const struct drained_packet *x = a, *y = b;
    WEFT_ORDER(x->ring, y->ring);
    WEFT_ORDER(x->sequence, y->sequence);
    return weft_order(y->content, x->content);
}

/* Reads the packet's items. Returns 1; 0 if it has changed or shrunk since it was found; or a
 * negative code. */
static int read_items(struct weft_file *f, const struct drained_packet *p, unsigned char **words,
                      struct weft_error *err)
{
    struct weft_ocaml_header h = {.sequence = 0};
    const size_t size = (size_t)((p->content - p->header_bytes) & ~UINT64_C(7));
    unsigned char *bytes = malloc(size + 1);
    if (!bytes)
        return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for a packet");
    ptrdiff_t got =
        weft_input_read(&f->common.input, bytes, size, p->offset + p->header_bytes, err);
    const bool whole = got == (ptrdiff_t)size;
    if (got >= 0)
        got = weft_input_read(&f->common.input, &h, sizeof h, p->offset, err);
    if (got < 0 || !whole || h.sequence != p->sequence) {
        free(bytes);
        f->common.facts.changed_packets += got >= 0;
        return got < 0 ? (int)got : 0;
    }
    *words = bytes;
    return 1;
}

/* Reads the next packet of that ring. */
static int read_next_packet(struct read_ocaml *o, struct read_domain *d, struct weft_error *err)
{
    struct weft_file *f = o->data;
    while (d->next < d->last) {
        const struct drained_packet *p = &f->drained.packet[d->next++];
        unsigned char *words = NULL;
        int rc = read_items(f, p, &words, err);
        if (rc < 0)
            return rc;
        d->gap |= rc == 0 || p->from != d->until;
        d->until = p->to;
        if (rc == 0)
            continue;
        if (!read_ocaml_retire(o, d)) {
            free(words);
            return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for its packets");
        }
        d->bytes = words;
        d->words = (p->content - p->header_bytes) / 8;
        d->at = 0;
        d->file_at = p->offset + p->header_bytes;
        return 1;
    }
    return 0;
}

static void drop_repeated(struct weft_file *f)
{
    struct drained *d = &f->drained;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < d->packets; i++) {
        const struct drained_packet *p = &d->packet[i];
        if (kept && d->packet[kept - 1].ring == p->ring &&
            d->packet[kept - 1].sequence == p->sequence)
            f->common.facts.repeated_packets++;
        else
            d->packet[kept++] = *p;
    }
    d->packets = kept;
}

/* Adds the ring that these packets belong to. Returns the first packet of the next ring. */
static uint64_t add_ring(struct weft_file *f, uint64_t first)
{
    struct drained *d = &f->drained;
    struct weft_reader_facts *facts = &f->common.facts;
    struct read_domain ring = {.number = d->packet[first].ring, .next = first, .last = first};
    uint64_t lost = 0, gone = 0, until = 0, known = 0;
    for (; ring.last < d->packets && d->packet[ring.last].ring == ring.number; ring.last++) {
        const struct drained_packet *p = &d->packet[ring.last];
        const uint64_t gap = p->from > until ? p->from - until : 0,
                       more_lost = p->lost > known ? p->lost - known : 0;
        lost += more_lost < gap ? more_lost : gap;
        gone += gap;
        until = p->to;
        known = p->lost;
        facts->content_bytes += p->content;
        f->common.all += (p->content - p->header_bytes) / 8;
    }
    read_ocaml_add(&d->o, &ring)->overwritten = gone;
    facts->overwritten_words += gone;
    facts->lost_words += lost;
    return ring.last;
}

int read_drained_begin(struct weft_file *f, struct weft_error *err)
{
    struct drained *d = &f->drained;
    struct weft_reader_facts *facts = &f->common.facts;
    uint32_t rings = 0;
    if (!d->packets)
        return 0;
    if (f->packets) { /* the program's own recording has more information */
        facts->other_packets += d->packets;
        d->packets = 0;
        return 0;
    }
    qsort(d->packet, d->packets, sizeof *d->packet, by_ring);
    drop_repeated(f);
    for (uint64_t i = 0; i < d->packets; i++)
        rings += !i || d->packet[i].ring != d->packet[i - 1].ring;
    d->on = facts->of_ocaml = true;
    d->o.more = read_next_packet;
    d->o.data = f;
    TRY(read_ocaml_init(&d->o, &f->common, rings, err));
    f->common.all = 0;
    for (uint64_t i = 0; i < d->packets;)
        i = add_ring(f, i);
    facts->packets = d->packets;
    facts->wrapped = facts->overwritten_words > facts->lost_words;
    return read_ocaml_begin(&d->o, err);
}

void read_drained_fini(struct drained *d)
{
    free(d->packet);
    read_ocaml_fini(&d->o);
}
