/* SPDX-License-Identifier: ISC */
#include "read/seen.h"

#include "base/array.h"
#include "base/order.h"

static int by_sequence(const void *a, const void *b)
{
    const struct seen_packet *x = a, *y = b;
    return weft_order(x->sequence, y->sequence);
}

uint64_t read_seen_bytes(const struct read_seen *s, uint64_t sequence)
{
    const struct seen_packet key = {.sequence = sequence};
    const struct seen_packet *p =
        s->olds ? bsearch(&key, s->old, s->olds, sizeof *s->old, by_sequence) : NULL;
    return p ? p->bytes : 0;
}

bool read_seen_note(struct read_seen *s, uint64_t sequence, uint64_t bytes)
{
    if (!weft_reserve(&s->new, s->news, &s->new_room, sizeof *s->new))
        return false;
    s->new[s->news++] = (struct seen_packet){sequence, bytes};
    return true;
}

struct seen_stream *read_seen_stream(struct read_seen *s, uint32_t number)
{
    uint32_t at = weft_idmap_seek(s->by_number, number);
    if (at == WEFT_IDMAP_NONE) {
        at = s->streams;
        if (!weft_reserve(&s->stream, s->streams, &s->streams_room, sizeof *s->stream) ||
            !weft_idmap_put(s->by_number, number, at))
            return NULL;
        s->stream[s->streams++] = (struct seen_stream){0};
    }
    return &s->stream[at];
}

void read_seen_end(struct read_seen *s)
{
    struct seen_packet *packet = s->old;
    const uint32_t room = s->old_room;
    weft_sort(s->new, s->news, sizeof *s->new, by_sequence);
    s->old = s->new;
    s->olds = s->news;
    s->old_room = s->new_room;
    s->new = packet;
    s->new_room = room;
    s->begun = true;
}
