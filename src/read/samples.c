/* SPDX-License-Identifier: ISC */
/* Packets of samples are handed out whole. The profile knows what is in them. In a ring they do not lie in their order,
 * and may be overwritten while they are read. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "format/samples.h"
#include "read/weft.h"

static int read_sequence(const struct weft_input *in, uint64_t offset, uint64_t *sequence,
                         struct weft_error *err)
{
    struct weft_samples_header h;
    const int rc = read_whole(in, &h, sizeof h, offset, err);
    *sequence = rc > 0 && h.packet.class == WEFT_PACKET_SAMPLES ? h.sequence : 0;
    return rc < 0 ? rc : 0;
}

int read_samples_add(struct weft_file *f, const struct read_packet *p, struct weft_error *err)
{
    struct samples *s = &f->samples;
    struct sample_place place = {{p->offset, p->size, p->content, p->h.header_bytes}, 0};
    TRY(read_sequence(&f->common.input, p->offset, &place.sequence, err));
    f->common.facts.sample_packets++;
    f->common.facts.sample_bytes += p->content;
    return read_packets_append(&s->place, &s->places, &s->room, sizeof place, &place, p->offset,
                               err);
}

static int by_sequence(const void *a, const void *b)
{
    const struct sample_place *x = a, *y = b;
    WEFT_ORDER(x->sequence, y->sequence);
    return weft_order(x->in.offset, y->in.offset);
}

void read_samples_sort(struct weft_file *f)
{
    weft_sort(f->samples.place, f->samples.places, sizeof *f->samples.place, by_sequence);
}

/* Reads a packet's content. Returns its size, 0 if it is not there any more, or a negative WEFT_E code. */
static ptrdiff_t read_packet(struct weft_reader *r, struct samples *s, const struct sample_place *p,
                             struct weft_error *err)
{
    const struct place *in = &p->in;
    uint64_t sequence;
    if (in->content > s->packet_room) {
        unsigned char *grown = realloc(s->packet, (size_t)in->content);
        if (!grown)
            return weft_error_set(err, WEFT_E_NOMEM, in->offset,
                                  "out of memory for a packet of samples");
        s->packet = grown;
        s->packet_room = (size_t)in->content;
    }
    ptrdiff_t got = weft_input_read(&r->input, s->packet, (size_t)in->content, in->offset, err);
    if (got < (ptrdiff_t)in->header_bytes && got >= 0) {
        read_reader_problem(r, in->offset + (uint64_t)got, 0,
                            "the file became shorter while it was read");
        return 0;
    }
    if (got < 0)
        return got;
    TRY(read_sequence(&r->input, in->offset, &sequence, err));
    return sequence == p->sequence ? got : 0; /* otherwise it is being overwritten */
}

ptrdiff_t read_samples_next(struct weft_reader *r, const void **packet, uint64_t *offset,
                            struct weft_error *err)
{
    struct samples *s = &((struct weft_file *)r)->samples;
    ptrdiff_t got = 0;
    while (got == 0 && s->next < s->places) {
        const struct sample_place *p = &s->place[s->next++];
        *offset = p->in.offset;
        got = read_packet(r, s, p, err);
    }
    *packet = got > 0 ? s->packet : NULL;
    return got;
}
