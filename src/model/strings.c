/* SPDX-License-Identifier: ISC */
#include "model/strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

enum { FIRST_ROOM = 64 };

struct text {
    uint64_t at; /* in bytes */
    uint32_t size;
    uint32_t hash;
};

struct weft_strings {
    char *bytes; /* terminated texts, one after another */
    uint64_t bytes_used, bytes_room;
    struct text *text;
    uint64_t texts;
    uint32_t texts_room;
    uint32_t *slot; /* open addressing, at most half full: number plus 1, 0 is free */
    uint64_t room;  /* a power of two */
    uint64_t seed;
};

struct weft_strings *weft_strings_new(void)
{
    struct weft_strings *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->seed = weft_seed();
    s->room = FIRST_ROOM;
    s->slot = calloc(FIRST_ROOM, sizeof *s->slot);
    if (!s->slot) {
        free(s);
        return NULL;
    }
    return s;
}

void weft_strings_free(struct weft_strings *s)
{
    if (!s)
        return;
    free(s->bytes);
    free(s->text);
    free(s->slot);
    free(s);
}

/* The bytes of a text of less than 8 in one word; another one for each text of that size. Not copied
 * byte by byte: to load what has just been stored in pieces stalls. */
static uint64_t short_word(const char *text, uint32_t size)
{
    const unsigned char *t = (const unsigned char *)text;
    if (size >= 4) {
        uint32_t first, last;
        memcpy(&first, t, 4);
        memcpy(&last, t + size - 4, 4);
        return first | (uint64_t)last << 32;
    }
    return size ? (uint64_t)(t[0] | t[size / 2] << 8 | t[size - 1] << 16) : 0;
}

static uint32_t hash_of(const char *text, uint32_t size, uint64_t seed)
{
    uint64_t h = seed ^ size, word;
    if (size < 8)
        return (uint32_t)weft_mix(h ^ short_word(text, size), seed);
    for (uint32_t at = 0; at + 8 < size; at += 8) {
        memcpy(&word, text + at, 8);
        h = weft_mix(h ^ word, seed);
    }
    memcpy(&word, text + size - 8, 8); /* may overlap the one before */
    return (uint32_t)weft_mix(h ^ word, seed);
}

static bool grow_slots(struct weft_strings *s)
{
    uint64_t room = s->room * 2;
    uint32_t *slot = weft_resize(s->slot, room, sizeof *slot);
    if (!slot)
        return false;
    memset(slot, 0, (size_t)room * sizeof *slot);
    for (uint64_t t = 0; t < s->texts; t++) {
        uint64_t i = s->text[t].hash & (room - 1);
        while (slot[i])
            i = (i + 1) & (room - 1);
        slot[i] = (uint32_t)t + 1;
    }
    s->slot = slot;
    s->room = room;
    return true;
}

static bool make_room(struct weft_strings *s, uint32_t size)
{
    if (!weft_reserve(&s->text, s->texts, &s->texts_room, sizeof *s->text))
        return false;
    if (s->bytes_room - s->bytes_used <= size) {
        uint64_t room = s->bytes_room + s->bytes_room / 2 + size + FIRST_ROOM;
        void *grown = weft_resize(s->bytes, room, 1);
        if (!grown)
            return false;
        s->bytes = grown;
        s->bytes_room = room;
    }
    return s->texts < s->room / 2 || grow_slots(s);
}

uint32_t weft_strings_add(struct weft_strings *s, const char *text, uint32_t size)
{
    uint32_t hash = hash_of(text, size, s->seed);
    uint64_t i = hash & (s->room - 1);
    for (; s->slot[i]; i = (i + 1) & (s->room - 1)) {
        const struct text *t = &s->text[s->slot[i] - 1];
        if (t->hash == hash && t->size == size && (!size || !memcmp(s->bytes + t->at, text, size)))
            return s->slot[i] - 1;
    }
    if (s->texts == UINT32_MAX - 1 || !make_room(s, size))
        return WEFT_STRINGS_NONE;
    for (i = hash & (s->room - 1); s->slot[i]; i = (i + 1) & (s->room - 1))
        ;
    s->text[s->texts] = (struct text){.at = s->bytes_used, .size = size, .hash = hash};
    if (size)
        memcpy(s->bytes + s->bytes_used, text, size);
    s->bytes[s->bytes_used + size] = '\0';
    s->bytes_used += (uint64_t)size + 1;
    s->slot[i] = (uint32_t)++s->texts;
    return (uint32_t)s->texts - 1;
}

const char *weft_strings_get(const struct weft_strings *s, uint32_t number, uint32_t *size)
{
    const struct text *t = &s->text[number];
    if (size)
        *size = t->size;
    return s->bytes + t->at;
}

uint32_t weft_strings_count(const struct weft_strings *s)
{
    return (uint32_t)s->texts;
}
