/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "read/weft.h"

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

static int by_number(const void *a, const void *b)
{
    return weft_order_u32(a, b); /* the number is the first member */
}

bool read_streams_sort(struct streams *s)
{
    bool ok = true;
    if (s->count)
        qsort(s->stream, s->count, sizeof *s->stream, by_number);
    for (uint32_t i = 0; i < s->count; i++)
        ok &= weft_idmap_put(s->index, s->stream[i].number, i);
    return ok;
}

void read_streams_fini(struct streams *s)
{
    free(s->state);
    free(s->stream);
    weft_idmap_free(s->index);
}
