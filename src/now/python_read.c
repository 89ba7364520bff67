/* SPDX-License-Identifier: ISC */
/* A read of the process costs two messages to the child that does it, so blocks are kept; each is where its address
 * says, and the next one there replaces it. Types are kept likewise. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/utf8.h"
#include "now/python.h"

struct python_block {
    uint64_t at; /* address / PYTHON_BLOCK, plus 1; 0: empty */
    bool there;  /* all of it could be read */
    uint8_t *bytes;
};

bool python_open(struct python *py, struct now *n, struct python_source source)
{
    *py = (struct python){.now = n, .source = source};
    py->block = calloc(PYTHON_BLOCKS, sizeof *py->block);
    py->type = calloc(PYTHON_TYPES, sizeof *py->type);
    return py->block && py->type;
}

void python_close(struct python *py)
{
    for (uint32_t i = 0; py->block && i < PYTHON_BLOCKS; i++)
        free(py->block[i].bytes);
    weft_free_all(py->block, py->type, py->thread, py->chain, py->hold);
    *py = (struct python){.now = NULL};
}

/* ---- Memory ---- */

static bool fetch(struct python *py, uint64_t at, void *to, size_t bytes)
{
    py->too_much |= ++py->fetches > PYTHON_FETCHES_MAX;
    return py->source.read(py->source.data, at, to, bytes);
}

/* NULL: it cannot be read as a whole. */
static const uint8_t *block_of(struct python *py, uint64_t number)
{
    struct python_block *b = &py->block[number % PYTHON_BLOCKS];
    if (b->at != number + 1) {
        if (!b->bytes && !(b->bytes = malloc(PYTHON_BLOCK)))
            return NULL;
        b->at = number + 1;
        b->there = fetch(py, number * PYTHON_BLOCK, b->bytes, PYTHON_BLOCK);
    }
    return b->there ? b->bytes : NULL;
}

bool python_bytes(struct python *py, uint64_t at, void *to, size_t bytes)
{
    const uint64_t number = at / PYTHON_BLOCK, first = at % PYTHON_BLOCK;
    py->too_much |= ++py->reads > PYTHON_READS_MAX;
    if (at < PYTHON_BLOCK || at > UINT64_MAX / 2 || py->too_much) {
        memset(to, 0, bytes);
        return false;
    }
    const uint8_t *block = first + bytes <= PYTHON_BLOCK ? block_of(py, number) : NULL;
    if (!block) /* over the end of a block, or beside memory that is not there */
        return fetch(py, at, to, bytes);
    memcpy(to, block + first, bytes);
    return true;
}

void python_refresh(struct python *py)
{
    for (uint32_t i = 0; i < PYTHON_BLOCKS; i++)
        py->block[i].at = 0;
}

uint64_t python_word(struct python *py, uint64_t at)
{
    uint64_t word;
    return python_bytes(py, at, &word, sizeof word) ? word : 0;
}

uint32_t python_u32(struct python *py, uint64_t at)
{
    uint32_t word;
    return python_bytes(py, at, &word, sizeof word) ? word : 0;
}

uint8_t python_u8(struct python *py, uint64_t at)
{
    uint8_t byte;
    return python_bytes(py, at, &byte, sizeof byte) ? byte : 0;
}

int64_t python_size(struct python *py, uint64_t object)
{
    return (int64_t)python_word(py, object + PYTHON_SIZE);
}

void python_chars(struct python *py, uint64_t at, char *to, size_t room)
{
    size_t i = 0;
    while (i + 1 < room && (to[i] = (char)python_u8(py, at + i)))
        i++;
    to[i] = 0;
}

/* ---- Types ---- */

static const struct python_type *type_at(struct python *py, uint64_t address)
{
    if (address == 0 || address % 8)
        return NULL;
    struct python_type *t = &py->type[address / 16 % PYTHON_TYPES];
    if (t->address != address) {
        uint64_t word[(PYTHON_TYPE_DICT_OFFSET + 8) / 8];
        *t = (struct python_type){.address = address};
        const bool is_there = python_bytes(py, address, word, sizeof word);
        const uint64_t type = word[PYTHON_TYPE / 8];
        t->flags = (uint32_t)word[PYTHON_TYPE_FLAGS / 8];
        t->base = word[PYTHON_TYPE_BASE / 8];
        t->basic_size = (int64_t)word[PYTHON_TYPE_BASIC_SIZE / 8];
        t->dict_offset = (int64_t)word[PYTHON_TYPE_DICT_OFFSET / 8];
        /* The type of a type is a type. */
        if (is_there && (python_u32(py, type + PYTHON_TYPE_FLAGS) & (uint32_t)PYTHON_TYPE_TYPE))
            python_chars(py, word[PYTHON_TYPE_NAME / 8], t->name, sizeof t->name);
    }
    return t->name[0] ? t : NULL;
}

const struct python_type *python_type_of(struct python *py, uint64_t object)
{
    return object == 0 || object % 8 ? NULL : type_at(py, python_word(py, object + PYTHON_TYPE));
}

bool python_is(struct python *py, uint64_t object, const char *type)
{
    enum { BASES_MAX = 64 };
    const struct python_type *t = python_type_of(py, object);
    for (unsigned i = 0; t && i < BASES_MAX; i++) {
        if (strcmp(t->name, type) == 0)
            return true;
        t = type_at(py, t->base);
    }
    return false;
}

bool python_has_flag(struct python *py, uint64_t object, int flag)
{
    const struct python_type *t = python_type_of(py, object);
    return t && (t->flags & (uint32_t)flag);
}

/* ---- Texts and numbers ---- */

static size_t encode(uint32_t c, char to[4])
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xc0 | c >> 6), to[1] = (char)(0x80 | (c & 0x3f)), 2;
    if (c < 0x10000)
        return to[0] = (char)(0xe0 | c >> 12), to[1] = (char)(0x80 | (c >> 6 & 0x3f)),
               to[2] = (char)(0x80 | (c & 0x3f)), 3;
    return to[0] = (char)(0xf0 | (c >> 18 & 7)), to[1] = (char)(0x80 | (c >> 12 & 0x3f)),
           to[2] = (char)(0x80 | (c >> 6 & 0x3f)), to[3] = (char)(0x80 | (c & 0x3f)), 4;
}

bool python_text(struct python *py, uint64_t object, char *to, size_t room)
{
    uint64_t head[5]; /* PyASCIIObject up to its state */
    uint8_t piece[256];
    size_t used = 0;
    to[0] = 0;
    if (!python_has_flag(py, object, PYTHON_TEXT) || !python_bytes(py, object, head, sizeof head))
        return false;
    const uint64_t length = head[PYTHON_TEXT_LENGTH / 8], state = head[PYTHON_TEXT_STATE / 8];
    const unsigned kind = state >> 2 & 7;
    const bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
    if (kind != 1 && kind != 2 && kind != 4)
        return false;
    const uint64_t chars = !compact ? python_word(py, object + py->at.text_compact)
                                    : object + (ascii ? py->at.text_ascii : py->at.text_compact);
    for (uint64_t i = 0; i < length; i++) {
        const uint64_t per = sizeof piece / kind, k = i % per;
        const uint64_t left = (length - i < per ? length - i : per) * kind;
        char character[4];
        uint32_t c = 0;
        if (k == 0 && !python_bytes(py, chars + i * kind, piece, (size_t)left))
            break;
        memcpy(&c, piece + k * kind, kind); /* little-endian */
        const size_t size = encode(c, character);
        if (used + size >= room)
            break;
        memcpy(to + used, character, size);
        used += size;
    }
    to[used] = 0;
    return true;
}

bool python_int(struct python *py, uint64_t object, int64_t *value)
{
    *value = 0;
    if (!python_has_flag(py, object, PYTHON_INT))
        return false;
    const int64_t tag = python_size(py, object);
    const bool tagged = py->at.minor >= PYTHON_3_12;
    const uint64_t size = tag < 0 ? 0 - (uint64_t)tag : (uint64_t)tag;
    const uint64_t digits = tagged ? (uint64_t)(tag >> 3) : size;
    uint32_t digit[3] = {0}; /* of 30 bits */
    if (digits > 3 || !python_bytes(py, object + PYTHON_DIGITS, digit, (size_t)digits * 4) ||
        digit[2] > 7)
        return digits == 0;
    *value = (int64_t)((uint64_t)digit[2] << 60 | (uint64_t)digit[1] << 30 | digit[0]);
    if (tagged ? (tag & 3) == 2 : tag < 0)
        *value = (int64_t) - (uint64_t)*value;
    return true;
}

bool python_float(struct python *py, uint64_t object, double *value)
{
    int64_t whole;
    *value = 0;
    if (python_is(py, object, "float"))
        return python_bytes(py, object + PYTHON_SIZE, value, sizeof *value);
    if (!python_int(py, object, &whole))
        return false;
    *value = (double)whole;
    return true;
}

bool python_true(struct python *py, uint64_t object)
{
    int64_t value;
    return python_int(py, object, &value) && value != 0;
}

/* ---- Containers ---- */

enum { GENERAL, UNICODE, SPLIT, SET, ITEMS };

static bool walk_keys(struct python *py, uint64_t keys, uint64_t values, struct python_walk *w)
{
    uint64_t indices;
    const uint64_t count = python_word(py, keys + py->at.keys_entries);
    if (py->at.keys_kinds) {
        uint8_t head[3]; /* dk_log2_size, dk_log2_index_bytes, dk_kind */
        python_bytes(py, keys + 8, head, sizeof head);
        indices = head[1] < 40 ? UINT64_C(1) << head[1] : 0;
        w->kind = head[2];
    } else { /* dk_size */
        const uint64_t size = python_word(py, keys + 8);
        indices = size * (size <= 0xff ? 1 : size <= 0xffff ? 2 : size <= 0xffffffff ? 4 : 8);
        w->kind = values ? SPLIT : GENERAL;
    }
    if (count > PYTHON_ITEMS_MAX || w->kind > SPLIT || indices > UINT64_C(1) << 40)
        return false;
    w->entry_bytes = py->at.keys_kinds && w->kind != GENERAL ? 16 : 24;
    w->entry = keys + py->at.keys_indices + indices;
    w->values = values;
    w->count = (uint32_t)count;
    return true;
}

void python_walk(struct python *py, uint64_t object, struct python_walk *w)
{
    const int64_t size = python_size(py, object);
    *w = (struct python_walk){.kind = ITEMS, .entry_bytes = 8};
    if (python_has_flag(py, object, PYTHON_DICT)) {
        const uint64_t values = python_word(py, object + PYTHON_DICT_VALUES);
        if (!walk_keys(py, python_word(py, object + PYTHON_DICT_KEYS),
                       values ? values + py->at.values : 0, w))
            w->count = 0;
    } else if (python_is(py, object, "set") || python_is(py, object, "frozenset")) {
        const uint64_t mask = python_word(py, object + PYTHON_SET_MASK);
        w->kind = SET;
        w->entry = python_word(py, object + PYTHON_SET_TABLE);
        w->count = mask < 4 * PYTHON_ITEMS_MAX ? (uint32_t)mask + 1 : 0;
        w->entry_bytes = 16;
    } else if (size > 0 && size <= PYTHON_ITEMS_MAX) {
        const bool list = python_has_flag(py, object, PYTHON_LIST);
        if (list || python_has_flag(py, object, PYTHON_TUPLE))
            w->count = (uint32_t)size;
        w->entry = list ? python_word(py, object + PYTHON_LIST_ITEMS) : object + PYTHON_TUPLE_ITEMS;
    }
}

bool python_next(struct python *py, struct python_walk *w, uint64_t *key, uint64_t *value)
{
    while (w->at < w->count && !py->too_much) {
        uint64_t entry[3] = {0}; /* (hash, key, value), (key, value), (key, hash) or a key */
        const uint64_t at = w->entry + (uint64_t)w->at * w->entry_bytes;
        const uint32_t i = w->at++;
        if (!python_bytes(py, at, entry, w->entry_bytes))
            return w->at = w->count, false;
        const bool wide = w->entry_bytes == 24;
        *key = wide ? entry[1] : entry[0];
        *value = w->kind == SET || w->kind == ITEMS ? 0
                 : w->values                        ? python_word(py, w->values + UINT64_C(8) * i)
                 : wide                             ? entry[2]
                                                    : entry[1];
        if (*key && (*value || w->kind == SET || w->kind == ITEMS))
            return true;
    }
    return false;
}

static uint64_t find(struct python *py, struct python_walk *w, const char *name)
{
    uint64_t key, value;
    char text[PYTHON_NAME_MAX];
    while (python_next(py, w, &key, &value))
        if (python_text(py, key, text, sizeof text) && strcmp(text, name) == 0)
            return value;
    return 0;
}

static bool find_value(struct python *py, struct python_walk *w, uint64_t wanted, char *to,
                       size_t room)
{
    uint64_t key, value;
    while (python_next(py, w, &key, &value))
        if (value == wanted && python_text(py, key, to, room) && to[0])
            return true;
    return false;
}

uint64_t python_get(struct python *py, uint64_t dict, const char *key)
{
    struct python_walk w;
    if (!python_has_flag(py, dict, PYTHON_DICT))
        return 0;
    python_walk(py, dict, &w);
    return find(py, &w, key);
}

bool python_key_of(struct python *py, uint64_t dict, uint64_t value, char *to, size_t room)
{
    struct python_walk w;
    to[0] = 0;
    if (!python_has_flag(py, dict, PYTHON_DICT))
        return false;
    python_walk(py, dict, &w);
    return find_value(py, &w, value, to, room);
}

/* ---- Attributes ---- */

/* The values of an object that needs no dict, by the keys of its type; false: it has a dict, if any, which is *dict. */
static bool walk_object(struct python *py, uint64_t object, struct python_walk *w, uint64_t *dict)
{
    const struct python_type *t = python_type_of(py, object);
    uint64_t values = 0;
    *dict = 0;
    if (!t)
        return false;
    const struct python_type type = *t;
    const bool managed = py->at.minor >= PYTHON_3_11 && (type.flags & PYTHON_MANAGED_DICT);
    if (!managed) {
        if (type.dict_offset > 0 && type.dict_offset < INT32_MAX)
            *dict = python_word(py, object + (uint64_t)type.dict_offset);
        return false;
    }
    const uint64_t word = python_word(py, object - 24);
    if (py->at.minor == PYTHON_3_11) { /* two pointers before the object */
        values = python_word(py, object - 32);
        *dict = values ? 0 : word;
    } else if (py->at.minor == PYTHON_3_12) { /* one, of either kind */
        values = word & 1 ? word + 1 : 0;
        *dict = word & 1 ? 0 : word;
    } else if (word) {
        *dict = word;
    } else if ((type.flags & PYTHON_INLINE_VALUES) && type.basic_size >= PYTHON_HEADER &&
               type.basic_size < INT32_MAX) { /* behind it; the fourth byte: are they valid? */
        const uint64_t at = object + (uint64_t)type.basic_size;
        values = python_u8(py, at + 3) ? at + py->at.values : 0;
    }
    *w = (struct python_walk){.kind = SPLIT};
    return values && (type.flags & PYTHON_HEAP_TYPE) &&
           walk_keys(py, python_word(py, type.address + py->at.type_keys), values, w);
}

/* An attribute of __slots__ is in the object, where a descriptor in the type's dict says. */
static uint64_t slot(struct python *py, uint64_t object, const char *name)
{
    enum { BASES_MAX = 16 };
    const struct python_type *t = python_type_of(py, object);
    for (unsigned i = 0; t && i < BASES_MAX && (t->flags & PYTHON_HEAP_TYPE); i++) {
        const uint64_t base = t->base;
        const uint64_t d = python_get(py, python_word(py, t->address + PYTHON_TYPE_DICT), name);
        if (d && python_is(py, d, "member_descriptor")) {
            const uint64_t offset = python_word(py, python_word(py, d + PYTHON_MEMBER_DEF) + 16);
            return offset < INT32_MAX ? python_word(py, object + offset) : 0;
        }
        t = type_at(py, base);
    }
    return 0;
}

uint64_t python_attribute(struct python *py, uint64_t object, const char *name)
{
    struct python_walk w;
    uint64_t dict;
    uint64_t value = walk_object(py, object, &w, &dict) ? find(py, &w, name)
                     : dict                             ? python_get(py, dict, name)
                                                        : 0;
    return value ? value : slot(py, object, name);
}

bool python_name_of(struct python *py, uint64_t object, uint64_t value, char *to, size_t room)
{
    struct python_walk w;
    uint64_t dict;
    to[0] = 0;
    return walk_object(py, object, &w, &dict) ? find_value(py, &w, value, to, room)
           : dict                             ? python_key_of(py, dict, value, to, room)
                                              : false;
}
