/* SPDX-License-Identifier: ISC */
/* Packets of samples: they are found with the other packets and handed out whole. The profile knows
 * what is in them. */
#include <stdlib.h>

#include "read/weft.h"

int read_samples_add(struct weft_file *f, const struct place *p, struct weft_error *err)
{
    struct samples *s = &f->samples;
    if (!weft_reserve(&s->place, s->places, &s->room, sizeof *s->place))
        return weft_error_set(err, WEFT_E_NOMEM, p->offset, "out of memory for its packets");
    s->place[s->places++] = *p;
    f->common.facts.sample_packets++;
    f->common.facts.sample_bytes += p->content;
    return 0;
}

ptrdiff_t read_samples_next(struct weft_reader *r, const void **packet, uint64_t *offset,
                            struct weft_error *err)
{
    struct samples *s = &((struct weft_file *)r)->samples;
    *packet = NULL;
    while (s->next < s->places) {
        const struct place *p = &s->place[s->next++];
        *offset = p->offset;
        if (p->content > s->packet_room) {
            unsigned char *grown = realloc(s->packet, (size_t)p->content);
            if (!grown)
                return weft_error_set(err, WEFT_E_NOMEM, p->offset,
                                      "out of memory for a packet of samples");
            s->packet = grown;
            s->packet_room = (size_t)p->content;
        }
        ptrdiff_t got = weft_input_read(&r->input, s->packet, (size_t)p->content, p->offset, err);
        if (got < (ptrdiff_t)p->header_bytes && got >= 0) {
            read_reader_problem(r, p->offset + (uint64_t)got, 0,
                                "the file became shorter while it was read");
            continue;
        }
        *packet = s->packet;
        return got;
    }
    return 0;
}

void read_samples_fini(struct samples *s)
{
    free(s->place);
    free(s->packet);
}
