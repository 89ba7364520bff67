/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "read/weft.h"

/* The numbers come from the file; a factor that its author cannot know spreads them. */
static uint32_t first_slot(const struct streams *s, uint32_t number)
{
    return (uint32_t)((number * s->factor) >> 32) & (s->slots - 1);
}

static uint32_t *find(const struct streams *s, uint32_t number)
{
    uint32_t i = first_slot(s, number);
    while (s->slot[i] && s->stream[s->slot[i] - 1].number != number)
        i = (i + 1) & (s->slots - 1);
    return &s->slot[i];
}

static bool grow(struct streams *s)
{
    uint32_t room = s->room ? s->room * 2 : 16;
    if (room > UINT32_MAX / 8)
        return false;
    struct weft_stream_facts *stream = realloc(s->stream, room * sizeof *stream);
    if (!stream)
        return false;
    s->stream = stream;
    struct stream_state *state = realloc(s->state, room * sizeof *state);
    if (!state)
        return false;
    s->state = state;
    uint32_t *slot = calloc(room * (size_t)4, sizeof *slot);
    if (!slot)
        return false;
    if (!s->factor && getrandom(&s->factor, sizeof s->factor, GRND_NONBLOCK) != sizeof s->factor)
        s->factor = (uintptr_t)s;
    s->factor |= 1;
    free(s->slot);
    s->slot = slot;
    s->slots = room * 4;
    s->room = room;
    for (uint32_t i = 0; i < s->count; i++)
        *find(s, s->stream[i].number) = i + 1;
    return true;
}

uint32_t weft__streams_add(struct streams *s, uint32_t number, uint32_t thread, const char name[16])
{
    if (s->count == s->room && !grow(s))
        return WEFT_NO_STREAM;
    uint32_t *slot = find(s, number);
    if (!*slot) {
        struct weft_stream_facts *new = &s->stream[s->count];
        *new = (struct weft_stream_facts){.number = number, .thread = thread};
        memcpy(new->name, name, 16);
        s->state[s->count] = (struct stream_state){0};
        *slot = ++s->count;
    }
    return *slot - 1;
}

uint32_t weft__streams_find(const struct streams *s, uint32_t number)
{
    return s->slots ? *find(s, number) - 1 : WEFT_NO_STREAM;
}

uint32_t weft__streams_index(const struct streams *s, uint32_t number)
{
    return *find(s, number) - 1;
}

static int by_number(const void *a, const void *b)
{
    return weft_order_u32(a, b); /* the number comes first */
}

void weft__streams_sort(struct streams *s)
{
    if (s->count)
        qsort(s->stream, s->count, sizeof *s->stream, by_number);
    for (uint32_t i = 0; i < s->slots; i++)
        s->slot[i] = 0;
    for (uint32_t i = 0; i < s->count; i++)
        *find(s, s->stream[i].number) = i + 1;
}

void weft__streams_fini(struct streams *s)
{
    free(s->state);
    free(s->stream);
    free(s->slot);
}
