/* SPDX-License-Identifier: ISC */
/* Objects are found by their first word, which is the map of their type; maps by the number of the type. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "now/v8.h"

enum {
    MAPS_MAX = 4096,
};

struct map {
    uint64_t value;
    enum v8_number type;
};

struct scan {
    struct v8 *v;

    const enum v8_number *types;
    uint32_t type_count;
    struct map map[MAPS_MAX];
    uint32_t maps;

    uint8_t filter[1 << 17]; /* a bit for each value that is looked for */
};

static uint32_t filter_bit(uint64_t value)
{
    return (uint32_t)((value >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 44);
}

static void filter_add(struct scan *s, uint64_t value)
{
    const uint32_t bit = filter_bit(value);
    s->filter[bit / 8] |= (uint8_t)(1 << bit % 8);
}

static bool filter_has(const struct scan *s, uint64_t value)
{
    const uint32_t bit = filter_bit(value);
    return s->filter[bit / 8] >> bit % 8 & 1;
}

/* ---- Maps ---- */

static void find_maps(struct scan *s, const struct v8_piece *p)
{
    const uint32_t type_at = (uint32_t)s->v->number[V8_MAP_TYPE];
    const uint32_t step = type_at / 8, shift = type_at % 8 * 8;
    for (uint32_t i = 0; i + step < p->words; i++) {
        if (!v8_is_object(p->word[i]))
            continue;
        const int32_t type = (uint16_t)(p->word[i + step] >> shift);
        for (uint32_t k = 0; k < s->type_count; k++)
            if (type == s->v->number[s->types[k]] && s->maps < MAPS_MAX &&
                v8_is(s->v, p->at + i * 8 + 1, V8_TYPE_MAP))
                s->map[s->maps++] = (struct map){p->at + i * 8 + 1, s->types[k]};
    }
}

static int by_value(const void *a, const void *b)
{
    const struct map *x = a, *y = b;
    return weft_order(x->value, y->value);
}

/* NULL: it is none that is looked for. */
static const struct map *known_map(const struct scan *s, uint64_t value)
{
    uint32_t low = 0, high = s->maps;
    if (!v8_is_object(value) || !filter_has(s, value))
        return NULL;
    WEFT_SEEK(low, high, s->map[middle].value < value);
    return low < s->maps && s->map[low].value == value ? &s->map[low] : NULL;
}

/* ---- Objects ---- */

bool v8_each(struct v8 *v, const enum v8_number *types, uint32_t count,
             void (*found)(void *data, uint64_t object, enum v8_number type), void *data)
{
    struct scan *s = calloc(1, sizeof *s);
    if (!s)
        return false;
    s->v = v, s->types = types, s->type_count = count;
    for (uint32_t i = 0; i < v->pieces; i++)
        find_maps(s, &v->piece[i]);
    weft_sort(s->map, s->maps, sizeof *s->map, by_value);
    for (uint32_t i = 0; i < s->maps; i++)
        filter_add(s, s->map[i].value);
    for (uint32_t i = 0; i < v->pieces; i++) {
        const struct v8_piece *p = &v->piece[i];
        for (uint32_t k = 0; k < p->words; k++) {
            const struct map *m = known_map(s, p->word[k]);
            if (m)
                found(data, p->at + k * 8 + 1, m->type);
        }
    }
    free(s);
    return true;
}

void v8_each_word(struct v8 *v, const uint64_t *values, uint32_t count,
                  void (*found)(void *data, uint64_t at, uint64_t value), void *data)
{
    struct scan s = {.v = v};
    for (uint32_t i = 0; i < count; i++)
        filter_add(&s, values[i]);
    for (uint32_t i = 0; i < v->pieces; i++) {
        const struct v8_piece *p = &v->piece[i];
        for (uint32_t k = 0; k < p->words; k++) {
            uint32_t low = 0, high = count;
            if (!v8_is_object(p->word[k]) || !filter_has(&s, p->word[k]))
                continue;
            WEFT_SEEK(low, high, values[middle] < p->word[k]);
            if (low < count && values[low] == p->word[k])
                found(data, p->at + k * 8, p->word[k]);
        }
    }
}
