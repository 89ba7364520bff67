/* SPDX-License-Identifier: ISC */
#include "format/events.h"

#include "format/bytes.h"

#define PROMISE(name) {WEFT_FIELD_PROMISE, #name},
#define TYPE(name) {WEFT_FIELD_TYPE, #name},
#define REASON(name) {WEFT_FIELD_REASON, #name},
#define SIGNED(name) {WEFT_FIELD_SIGNED, #name},
#define DURATION(name) {WEFT_FIELD_DURATION, #name},
#define TEXT(name) {WEFT_FIELD_TEXT, #name},
#define ORIGIN_MIRAGE true
#define ORIGIN_WEFT false

struct field {
    uint8_t field;
    const char *name;
};
#define COUNT_OF(...) (sizeof((const struct field[]){__VA_ARGS__{0, 0}}) / sizeof(struct field) - 1)

const struct weft_event_desc weft_event_kinds[WEFT_EVENT_KINDS] = {
#define EVENT(id, NAME, ename, ORIGIN, FIELDS, emeaning)                                           \
    [id] = {.name = ename,                                                                         \
            .meaning = emeaning,                                                                   \
            .in_mirage = ORIGIN_##ORIGIN,                                                          \
            .fields = COUNT_OF(FIELDS),                                                            \
            .field = {FIELDS}},
#include "format/events.def"
};

#undef PROMISE
#undef TYPE
#undef REASON
#undef SIGNED
#undef DURATION
#undef TEXT

/* The places of an event's fields, so that the decoder needs no branch for each field: a mask is all ones if
 * the field exists. Fields are always in the order promises, type, number, text. */
struct shape {
    uint64_t mask_a, mask_b, mask_value;
    uint8_t mask_type;
    uint8_t type_at, value_at;
    uint8_t fixed_size; /* up to the text; 0: there is no such kind */
    bool has_text;
    bool in_mirage;
};

enum { PROMISE_SIZE = 8, TYPE_SIZE = 1, VALUE_SIZE = 8 };

/* Each sort of field adds to its own decimal digit, so that a sum counts the fields of each sort. */
#define PROMISE(name) +1
#define TYPE(name) +10
#define REASON(name) +10
#define SIGNED(name) +100
#define DURATION(name) +100
#define TEXT(name) +1000
#define PROMISES_IN(n) ((n) % 10)
#define TYPES_IN(n) ((n) / 10 % 10)
#define VALUES_IN(n) ((n) / 100 % 10)
#define TEXTS_IN(n) ((n) / 1000)
#define MASK_IF(c) ((c) ? UINT64_MAX : 0)
#define TYPE_AT(n) (WEFT_EVENT_HEADER_SIZE + PROMISES_IN(n) * PROMISE_SIZE)
#define VALUE_AT(n) (TYPE_AT(n) + TYPES_IN(n) * TYPE_SIZE)
#define FIXED_SIZE(n) (VALUE_AT(n) + VALUES_IN(n) * VALUE_SIZE)

static const struct shape shapes[WEFT_EVENT_KINDS] = {
#define EVENT(id, NAME, ename, ORIGIN, FIELDS, emeaning)                                           \
    [id] = {.mask_a = MASK_IF(PROMISES_IN(0 FIELDS) > 0),                                          \
            .mask_b = MASK_IF(PROMISES_IN(0 FIELDS) > 1),                                          \
            .mask_value = MASK_IF(VALUES_IN(0 FIELDS)),                                            \
            .mask_type = TYPES_IN(0 FIELDS) ? 0xff : 0,                                            \
            .type_at = TYPE_AT(0 FIELDS),                                                          \
            .value_at = VALUE_AT(0 FIELDS),                                                        \
            .fixed_size = FIXED_SIZE(0 FIELDS),                                                    \
            .has_text = TEXTS_IN(0 FIELDS),                                                        \
            .in_mirage = ORIGIN_##ORIGIN},
#include "format/events.def"
};

/* The last byte that a fixed field can reach, including fields that are masked out. */
#define REACH (WEFT_EVENT_HEADER_SIZE + 2 * PROMISE_SIZE + TYPE_SIZE + VALUE_SIZE)

ptrdiff_t weft_event_decode(struct weft_event *ev, const unsigned char *bytes, size_t size)
{
    if (size < WEFT_EVENT_HEADER_SIZE)
        return WEFT_DECODE_SHORT;
    unsigned kind = bytes[8];
    if (kind >= WEFT_EVENT_KINDS || !shapes[kind].in_mirage)
        return WEFT_DECODE_UNKNOWN;
    const struct shape *s = &shapes[kind];
    if (size < s->fixed_size)
        return WEFT_DECODE_SHORT;

    unsigned char padded[REACH];
    const unsigned char *p = bytes;
    if (size < REACH) {
        memset(padded, 0, sizeof padded);
        p = memcpy(padded, bytes, size);
    }
    ev->time_ns = weft_read_u64(p);
    ev->kind = (uint8_t)kind;
    ev->a = weft_read_u64(p + 9) & s->mask_a;
    ev->b = weft_read_u64(p + 17) & s->mask_b;
    ev->type = p[s->type_at] & s->mask_type;
    ev->value = (int64_t)(weft_read_u64(p + s->value_at) & s->mask_value);
    ev->text = NULL;
    ev->text_size = 0;
    ev->total = 0;
    ev->running = 0;
    ev->origin = NULL;
    ev->stream = 0;
    ev->has_total = false;
    ev->gap = ev->missing = ev->promoted = ev->undated = ev->unsaid = false;
    if (!s->has_text)
        return s->fixed_size;

    const unsigned char *text = bytes + s->fixed_size;
    const unsigned char *end = memchr(text, 0, size - s->fixed_size);
    if (!end || end - text > UINT32_MAX)
        return WEFT_DECODE_SHORT;
    ev->text = (const char *)text;
    ev->text_size = (uint32_t)(end - text);
    return end + 1 - bytes;
}

size_t weft_event_size(const struct weft_event *ev)
{
    const struct shape *s = &shapes[ev->kind];
    return s->fixed_size + (s->has_text ? (size_t)ev->text_size + 1 : 0);
}

size_t weft_event_encode(unsigned char *bytes, const struct weft_event *ev)
{
    const struct shape *s = &shapes[ev->kind];
    weft_write_u64(bytes, ev->time_ns);
    bytes[8] = ev->kind;
    if (s->mask_a)
        weft_write_u64(bytes + 9, ev->a);
    if (s->mask_b)
        weft_write_u64(bytes + 17, ev->b);
    if (s->mask_type)
        bytes[s->type_at] = ev->type;
    if (s->mask_value)
        weft_write_u64(bytes + s->value_at, (uint64_t)ev->value);
    if (!s->has_text)
        return s->fixed_size;
    if (ev->text_size)
        memcpy(bytes + s->fixed_size, ev->text, ev->text_size);
    bytes[s->fixed_size + ev->text_size] = 0;
    return weft_event_size(ev);
}

const char *weft_type_name(unsigned type)
{
    static const char *const names[] = {
#define TYPE_NAME(id, name) [id] = name,
#include "format/events.def"
    };
    _Static_assert(sizeof names / sizeof *names == WEFT_TYPES, "WEFT_TYPES counts the table");
    return type < WEFT_TYPES ? names[type] : NULL;
}

const char *weft_reason_name(unsigned reason)
{
    static const char *const names[] = {
#define REASON_NAME(id, name) [id] = name,
#include "format/events.def"
    };
    return reason < sizeof names / sizeof *names ? names[reason] : NULL;
}
