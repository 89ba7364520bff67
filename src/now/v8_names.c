/* SPDX-License-Identifier: ISC */
#include <ctype.h>
#include <string.h>

#include "now/v8.h"

enum {
    BACK_WORDS = 1 << 16, /* from a word to the beginning of its object */
    BACK_MAPS = 256,      /* from a map to the first one of its class */
    DESCRIPTORS_MAX = 256,
    PROPERTIES_MAX = 1 << 12,
    SLOTS_MAX = 1 << 16,   /* of a context */
    DESCRIPTOR_BYTES = 24, /* a key, details, a value */
    SOURCE_BYTES = 1 << 15,
};

uint64_t v8_object_around(struct v8 *v, uint64_t at, struct v8_around *before)
{
    uint64_t object = 0;
    for (uint64_t i = 0; i < BACK_WORDS && at > i * 8 && !object; i++) {
        uint64_t word;
        if (at - i * 8 == before->at) {
            object = before->object;
            break;
        }
        if (!v8_read(v, at - i * 8, &word, sizeof word))
            break;
        if (v8_is_object(word) && v8_is(v, word, V8_TYPE_MAP))
            object = at - i * 8 + 1;
    }
    *before = (struct v8_around){at, object};
    return object;
}

void v8_class(struct v8 *v, uint64_t object, char *name, size_t room)
{
    uint64_t maker = v8_field(v, object, 0);
    struct v8_place place = {0};
    for (unsigned i = 0; i < BACK_MAPS && v8_is(v, maker, V8_TYPE_MAP); i++)
        maker = v8_field(v, maker, v->number[V8_MAP_CONSTRUCTOR]);
    if (v8_is_function(v, maker))
        v8_function(v, maker, -1, &place);
    const size_t n = strnlen(place.function, room - 1);
    memcpy(name, place.function, n);
    name[n] = 0;
}

struct properties {
    uint64_t list;
    int32_t start, count; /* words before the first one; how many there are */
};

static bool find_properties(struct v8 *v, uint64_t object, struct properties *p)
{
    const uint64_t map = v8_field(v, object, 0);
    uint8_t start;
    uint16_t count;
    p->list = v8_field(v, map, v->number[V8_MAP_DESCRIPTORS]);
    if (!v8_is_object(map) || !v8_is_object(p->list) ||
        !v8_read(v, map - 1 + (uint64_t)v->number[V8_MAP_PROPERTIES_START], &start, 1) ||
        !v8_read(v, p->list - 1 + 8, &count, sizeof count))
        return false;
    p->start = start;
    p->count = count < DESCRIPTORS_MAX ? count : DESCRIPTORS_MAX;
    return true;
}

/* The offset of a property in its object, which may be beyond it: then it is kept elsewhere. -1: it is not kept. */
static int32_t property_offset(struct v8 *v, const struct properties *p, int32_t i, uint64_t *name)
{
    const int32_t at = v->number[V8_DESCRIPTORS_HEAD] + i * DESCRIPTOR_BYTES;
    const int32_t details = v8_small(v8_field(v, p->list, at + 8));
    *name = v8_field(v, p->list, at);
    if (details & v->number[V8_PROPERTY_LOCATION_MASK])
        return -1;
    return (p->start +
            ((details & v->number[V8_PROPERTY_INDEX_MASK]) >> v->number[V8_PROPERTY_INDEX_SHIFT])) *
           8;
}

void v8_property(struct v8 *v, uint64_t object, int32_t offset, char *name, size_t room)
{
    struct properties p;
    uint64_t text;
    name[0] = 0;
    if (find_properties(v, object, &p))
        for (int32_t i = 0; i < p.count && !name[0]; i++)
            if (property_offset(v, &p, i, &text) == offset)
                v8_string(v, text, name, room);
}

uint64_t v8_property_value(struct v8 *v, uint64_t object, const char *name)
{
    struct properties p;
    char found[64];
    uint64_t text;
    if (find_properties(v, object, &p))
        for (int32_t i = 0; i < p.count; i++) {
            const int32_t offset = property_offset(v, &p, i, &text);
            v8_string(v, text, found, sizeof found);
            if (offset > 0 && strcmp(found, name) == 0)
                return v8_field(v, object, offset);
        }
    return 0;
}

/* The variables are the last slots of a context; their names are in the same order in its scope, unless they are very
 * many. */
void v8_variable(struct v8 *v, uint64_t context, int32_t offset, char *name, size_t room)
{
    const uint64_t info = v8_field(v, context, V8_CONTEXT_SCOPE);
    const int32_t locals = v8_small(v8_field(v, info, (v->number[V8_SCOPE_LOCALS] + 1) * 8));
    const int32_t slots = v8_small(v8_field(v, context, V8_CONTEXT_LENGTH));
    name[0] = 0;
    if (locals < 0 || slots < locals || slots > SLOTS_MAX)
        return;
    const int32_t index = (offset - V8_CONTEXT_SCOPE) / 8 - (slots - locals);
    if (v8_is(v, info, V8_TYPE_SCOPE_INFO) && index >= 0 && index < locals)
        v8_string(v, v8_field(v, info, (v->number[V8_SCOPE_VARIABLES] + 1 + index) * 8), name,
                  room);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool v8_mentions(struct v8 *v, uint64_t function, const char *text)
{
    char source[SOURCE_BYTES];
    const size_t n = v8_source(v, function, source, sizeof source), length = strlen(text);
    const char *at = source;
    while (length && (at = memmem(at, n - (size_t)(at - source), text, length))) {
        const bool begins = at == source || !(in_word(at[-1]) || at[-1] == '.');
        if (begins && (at + length == source + n || !in_word(at[length])))
            return true;
        at++;
    }
    return false;
}
