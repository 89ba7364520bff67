/* SPDX-License-Identifier: ISC */
#include "model/strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/table.h"

struct text {
    uint64_t at; /* in bytes */
    uint32_t size;
    uint32_t hash;
};

struct weft_strings {
    char *bytes; /* NUL-terminated texts, one after another */
    uint64_t bytes_used, bytes_room;
    struct text *text;
    uint32_t texts, texts_room;
    struct weft_table by; /* texts by content */
    uint64_t seed;
};

/* The bytes of a text of less than 8 bytes in one word, different for each text of that size. They
 * are not copied byte by byte: a load of what has just been stored in pieces stalls. */
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

static uint64_t hash_of_text(const void *texts, uint32_t text, uint64_t seed)
{
    (void)seed;
    return ((const struct text *)texts)[text].hash;
}

struct weft_strings *weft_strings_new(void)
{
    struct weft_strings *s = calloc(1, sizeof *s);
    if (s)
        s->seed = weft_seed();
    return s;
}

void weft_strings_free(struct weft_strings *s)
{
    if (!s)
        return;
    weft_table_drop(&s->by);
    weft_free_all(s->bytes, s->text, s);
}

static bool make_room(struct weft_strings *s, uint32_t size)
{
    if (!weft_reserve(&s->text, s->texts, &s->texts_room, sizeof *s->text))
        return false;
    if (s->bytes_room - s->bytes_used <= size) {
        uint64_t room = s->bytes_room + s->bytes_room / 2 + size + 64;
        void *grown = weft_resize(s->bytes, room, 1);
        if (!grown)
            return false;
        s->bytes = grown;
        s->bytes_room = room;
    }
    return true;
}

struct sought {
    const struct weft_strings *s;
    const char *text;
    uint32_t size, hash;
};

static bool is_sought(const void *texts, uint32_t text, const void *key)
{
    const struct sought *k = key;
    const struct text *t = &((const struct text *)texts)[text];
    return t->hash == k->hash && t->size == k->size &&
           (!k->size || !memcmp(k->s->bytes + t->at, k->text, k->size));
}

uint32_t weft_strings_add(struct weft_strings *s, const char *text, uint32_t size)
{
    const struct sought key = {s, text, size, hash_of(text, size, s->seed)};
    if (!weft_table_reserve(&s->by, s->text, s->texts, hash_of_text, s->seed))
        return WEFT_STRINGS_NONE;
    uint32_t *slot = weft_table_find(&s->by, key.hash, is_sought, s->text, &key);
    if (*slot)
        return *slot - 1;
    if (s->texts == UINT32_MAX - 1 || !make_room(s, size))
        return WEFT_STRINGS_NONE;
    s->text[s->texts] = (struct text){.at = s->bytes_used, .size = size, .hash = key.hash};
    if (size)
        memcpy(s->bytes + s->bytes_used, text, size);
    s->bytes[s->bytes_used + size] = '\0';
    s->bytes_used += (uint64_t)size + 1;
    *slot = ++s->texts;
    return s->texts - 1;
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
    return s->texts;
}
