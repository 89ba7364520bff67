/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "read/weft.h"

static uint64_t hash_of(const void *stream, uint32_t i, uint64_t seed)
{
    return weft_mix(((const struct weft_stream_facts *)stream)[i].number, seed);
}

static bool has_number(const void *stream, uint32_t i, const void *number)
{
    return ((const struct weft_stream_facts *)stream)[i].number == *(const uint32_t *)number;
}

static uint32_t *find_slot(const struct streams *s, uint32_t number)
{
    return weft_table_find(&s->table, weft_mix(number, s->seed), has_number, s->stream, &number);
}

uint32_t read_streams_add(struct streams *s, uint32_t number, uint32_t thread, const char name[16])
{
    if (!s->table.room)
        s->seed = weft_seed();
    if (!weft_reserve(&s->stream, s->count, &s->room, sizeof *s->stream) ||
        !weft_reserve(&s->state, s->count, &s->state_room, sizeof *s->state) ||
        !weft_table_reserve(&s->table, s->stream, s->count, hash_of, s->seed))
        return WEFT_NO_STREAM;
    uint32_t *slot = find_slot(s, number);
    if (!*slot) {
        struct weft_stream_facts *new = &s->stream[s->count];
        *new = (struct weft_stream_facts){.number = number, .thread = thread};
        memcpy(new->name, name, 16);
        s->state[s->count] = (struct stream_state){0};
        *slot = ++s->count;
    }
    return *slot - 1;
}

uint32_t read_streams_find(const struct streams *s, uint32_t number)
{
    return s->table.room ? *find_slot(s, number) - 1 : WEFT_NO_STREAM;
}

uint32_t read_streams_index(const struct streams *s, uint32_t number)
{
    return *find_slot(s, number) - 1;
}

static int by_number(const void *a, const void *b)
{
    return weft_order_u32(a, b); /* the number is the first member */
}

void read_streams_sort(struct streams *s)
{
    if (s->count)
        qsort(s->stream, s->count, sizeof *s->stream, by_number);
    if (s->table.room)
        memset(s->table.slot, 0, (size_t)s->table.room * sizeof *s->table.slot);
    for (uint32_t i = 0; i < s->count; i++)
        *find_slot(s, s->stream[i].number) = i + 1;
}

void read_streams_fini(struct streams *s)
{
    free(s->state);
    free(s->stream);
    weft_table_drop(&s->table);
}
