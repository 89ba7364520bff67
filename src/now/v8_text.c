/* SPDX-License-Identifier: ISC */
/* Strings, and the places of functions. Where a suspended function is comes from the table of positions of its bytecode,
 * which V8 makes for every function that can be suspended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "now/v8.h"

enum {
    SOURCE_MAX = 1 << 24,    /* characters of a script in which lines are counted */
    POSITIONS_MAX = 1 << 16, /* bytes of a table of positions */
    INDIRECT_MAX = 4,        /* strings that are only a name for another one */
    PARTS_MAX = 32,          /* of a string that is one after another */
    STRING_DATA = 24,        /* of an external string */
};

/* ---- Strings ---- */

/* The characters of a string: n from `at` on, of one or two bytes. */
struct text {
    uint64_t at, n;
    bool wide;
};

static int32_t form_of(struct v8 *v, uint64_t string)
{
    const int32_t type = v8_type(v, string);
    return type < v->number[V8_FIRST_NONSTRING] ? type & v->number[V8_STRING_REPRESENTATION] : -1;
}

static uint32_t length_of(struct v8 *v, uint64_t string)
{
    uint32_t length = 0;
    if (v8_is_object(string))
        v8_read(v, string - 1 + (uint64_t)v->number[V8_STRING_LENGTH], &length, sizeof length);
    return length;
}

/* The string that another one is only a name for, or a part of; 0: it is none of these. */
static uint64_t behind(struct v8 *v, uint64_t string, uint64_t *skip)
{
    const int32_t form = form_of(v, string);
    if (form == v->number[V8_STRING_THIN])
        return v8_field(v, string, v->number[V8_THIN_ACTUAL]);
    if (form == v->number[V8_STRING_SLICED]) {
        *skip += (uint32_t)v8_small(v8_field(v, string, v->number[V8_SLICED_OFFSET]));
        return v8_field(v, string, v->number[V8_SLICED_PARENT]);
    }
    /* V8 joins both parts into the first when somebody needs them. */
    if (form == v->number[V8_STRING_CONS] &&
        length_of(v, v8_field(v, string, v->number[V8_CONS_SECOND])) == 0)
        return v8_field(v, string, v->number[V8_CONS_FIRST]);
    return 0;
}

/* False: it is no string, or its text is not in one place. */
static bool find_text(struct v8 *v, uint64_t string, struct text *t)
{
    uint64_t skip = 0, next = 0;
    t->n = length_of(v, string);
    for (unsigned i = 0; i < INDIRECT_MAX && (next = behind(v, string, &skip)); i++)
        string = next;
    const int32_t form = form_of(v, string);
    t->wide = (v8_type(v, string) & v->number[V8_STRING_ENCODING]) != v->number[V8_STRING_ONE_BYTE];
    if (form == v->number[V8_STRING_SEQUENTIAL])
        t->at = string - 1 + (uint64_t)v->number[V8_STRING_CHARS] + (skip << t->wide);
    else if (form == v->number[V8_STRING_EXTERNAL])
        t->at = v8_field(v, string, STRING_DATA) + (skip << t->wide);
    else
        return false;
    return true;
}

static size_t put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6), to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12), to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

static size_t put_text(struct v8 *v, const struct text *t, char *to, size_t room)
{
    size_t used = 0;
    for (uint64_t i = 0; i < t->n && used + 4 < room; i++) {
        uint16_t c = 0;
        if (!v8_read(v, t->at + (i << t->wide), &c, t->wide ? 2 : 1))
            break;
        used += put_utf8(to + used, c);
    }
    return used;
}

void v8_string(struct v8 *v, uint64_t string, char *text, size_t room)
{
    uint64_t part[PARTS_MAX] = {string};
    size_t used = 0;
    for (uint32_t parts = 1, steps = 0; parts && steps < PARTS_MAX; steps++) {
        struct text t;
        const uint64_t next = part[--parts];
        if (find_text(v, next, &t))
            used += put_text(v, &t, text + used, room - used);
        else if (form_of(v, next) == v->number[V8_STRING_CONS] && parts + 2 <= PARTS_MAX) {
            part[parts++] = v8_field(v, next, v->number[V8_CONS_SECOND]);
            part[parts++] = v8_field(v, next, v->number[V8_CONS_FIRST]);
        }
    }
    text[used] = 0;
}

/* ---- Lines ---- */

/* The line, from 1, in which a character of a script is; 0: not known. */
static uint32_t line_of(struct v8 *v, uint64_t script, int32_t position)
{
    struct text t;
    uint32_t line = 1;
    uint8_t piece[4096];
    if (position < 0 || position > SOURCE_MAX ||
        !find_text(v, v8_field(v, script, v->number[V8_SCRIPT_SOURCE]), &t) ||
        (uint64_t)position > t.n)
        return 0;
    const uint64_t bytes = (uint64_t)position << t.wide;
    for (uint64_t done = 0; done < bytes;) {
        const size_t n = (size_t)(bytes - done < sizeof piece ? bytes - done : sizeof piece);
        if (v8_late(v) || !v8_read(v, t.at + done, piece, n))
            return 0;
        for (size_t i = 0; i < n; i += 1u + t.wide)
            line += piece[i] == '\n' && (!t.wide || piece[i + 1] == 0);
        done += n;
    }
    return line;
}

/* ---- Positions ---- */

struct table {
    const uint8_t *at, *end;
};

static bool get_number(struct table *t, int64_t *number)
{
    uint64_t bits = 0;
    for (unsigned shift = 0; t->at < t->end && shift < 64; shift += 7) {
        const uint8_t byte = *t->at++;
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *number = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
            return true;
        }
    }
    return false;
}

/* The position of the last entry that is not after code_offset. Entries are differences: of the offset (all bits
 * inverted unless a statement begins there), and of the position, shifted by one and plus one. -1: there is none. */
static int32_t position_at(const uint8_t *bytes, size_t n, int32_t code_offset)
{
    struct table t = {bytes, bytes + n};
    int64_t offset = 0, position = 0, step, change;
    int32_t found = -1;
    while (get_number(&t, &step) && get_number(&t, &change)) {
        if (step < -POSITIONS_MAX || step > POSITIONS_MAX * 16 || change < -INT64_C(0x100000000) ||
            change > INT64_C(0x100000000))
            return found;
        offset += step < 0 ? -(step + 1) : step;
        position += change;
        if (offset > code_offset)
            return found;
        found = (int32_t)((uint64_t)position >> 1 & 0x3fffffff) - 1;
    }
    return found;
}

static bool is_bytes(struct v8 *v, uint64_t object)
{
    const int32_t type = v8_type(v, object), trusted = v->number[V8_TYPE_TRUSTED_BYTES];
    return type == v->number[V8_TYPE_BYTES] || (trusted != V8_MISSING && type == trusted);
}

/* From V8 13 on a function has two fields for its code, and all others are one word later. */
static uint64_t script_of(struct v8 *v, uint64_t shared)
{
    const uint64_t script = v8_field(v, shared, V8_SHARED_SCRIPT);
    return v8_is(v, script, V8_TYPE_SCRIPT) ? script : v8_field(v, shared, V8_SHARED_SCRIPT + 8);
}

/* The bytecode of a function: at once, or behind one other object (that of its compiled code, of its counters). */
static uint64_t bytecode_of(struct v8 *v, uint64_t shared)
{
    const uint64_t code = v8_field(v, shared, V8_SHARED_CODE);
    if (v8_is(v, code, V8_TYPE_BYTECODE))
        return code;
    for (int32_t i = 1; v8_is_object(code) && i < 8; i++) {
        const uint64_t inner = v8_field(v, code, i * 8);
        if (v8_is(v, inner, V8_TYPE_BYTECODE))
            return inner;
    }
    return 0;
}

/* Which of its two tables of bytes is that of positions? The other one, of handlers, is of 32-bit numbers; its place
 * differs. So: the one that gives a position within the function. */
static int32_t await_position(struct v8 *v, uint64_t shared, int32_t code_offset, int32_t first,
                              int32_t end)
{
    const uint64_t code = bytecode_of(v, shared);
    code_offset -= v->number[V8_BYTECODE_DATA] - 1;
    for (int32_t i = 2; code && code_offset >= 0 && i < 6; i++) {
        const uint64_t table = v8_field(v, code, i * 8);
        const int32_t n = v8_small(v8_field(v, table, 8));
        if (!is_bytes(v, table) || n <= 0 || n > POSITIONS_MAX)
            continue;
        uint8_t *bytes = malloc((size_t)n);
        const bool read = bytes && v8_read(v, table + 15, bytes, (size_t)n);
        const int32_t position = read ? position_at(bytes, (size_t)n, code_offset) : -1;
        free(bytes);
        if (position > first && position < end)
            return position;
    }
    return -1;
}

/* ---- Functions ---- */

/* What a function's scope says of it: its variables, two words each; its name and a number, if it has one; a name that V8
 * made up; where it begins and ends. That of a module has no such end. */
struct scope {
    int32_t first, end; /* positions; -1: not known */
    bool module;
};

enum { SCOPE_KIND = 15, MODULE_SCOPE = 3, LATER_MODULE_SCOPE = 5 }; /* in the first word */

/* From V8 13 on the positions come before the variables, and the first word is a number as it is. */
static bool is_later(const struct v8 *v)
{
    return v->number[V8_SCOPE_VARIABLES] >= v->number[V8_SCOPE_LOCALS] + 3;
}

static bool is_module(struct v8 *v, uint64_t info, bool later)
{
    const uint64_t flags = v8_field(v, info, 8);
    return later ? (flags & SCOPE_KIND) == LATER_MODULE_SCOPE
                 : (v8_small(flags) & SCOPE_KIND) == MODULE_SCOPE;
}

static struct scope read_scope(struct v8 *v, uint64_t info, char *name, size_t room)
{
    struct scope s = {-1, -1, false};
    const int32_t begin = v->number[V8_SCOPE_VARIABLES] + 1;
    const bool later = is_later(v);
    const int32_t locals = v8_small(v8_field(v, info, (v->number[V8_SCOPE_LOCALS] + 1) * 8));
    if (is_module(v, info, later))
        return (struct scope){0, INT32_MAX, true};
    if (locals < 0 || locals > 1 << 16)
        return s;
    if (later) {
        s.first = v8_small(v8_field(v, info, (begin - 2) * 8));
        s.end = v8_small(v8_field(v, info, (begin - 1) * 8));
        if (s.first < 0 || s.end <= s.first)
            return (struct scope){-1, -1, false};
        v8_string(v, v8_field(v, info, (begin + 2 * locals) * 8), name, room);
        return s;
    }
    uint64_t before = 0;
    int32_t named = -1;
    for (int32_t i = begin + 2 * locals; i < begin + 2 * locals + 9; i++) {
        const uint64_t value = v8_field(v, info, i * 8), next = v8_field(v, info, (i + 1) * 8);
        if (v8_is_object(value) && !name[0]) {
            v8_string(v, value, name, room);
            named = i;
        }
        if (v8_is_object(before) && v8_is_small(value) && v8_is_small(next) &&
            v8_small(value) >= 0 && v8_small(next) > v8_small(value)) {
            s.first = v8_small(value), s.end = v8_small(next);
            if (i - named == 1 && !strchr(name, '.'))
                name[0] = 0; /* made up, and at times of the wrong thing */
            break;
        }
        before = value;
    }
    return s;
}

/* One that never ran has no scope yet. */
static struct scope scope_of(struct v8 *v, uint64_t shared, char *name, size_t room)
{
    const uint64_t info = v8_field(v, shared, v->number[V8_SHARED_NAME]);
    struct scope s = {-1, -1, false};
    name[0] = 0;
    if (v8_is(v, info, V8_TYPE_SCOPE_INFO))
        return read_scope(v, info, name, room);
    v8_string(v, info, name, room);
    for (int32_t at = V8_SHARED_CODE; at < v->number[V8_SHARED_NAME]; at += 8) {
        const uint64_t code = v8_field(v, shared, at);
        if (v8_is_object(code) && !v8_is(v, code, V8_TYPE_BYTECODE) &&
            v8_read(v, code - 1 + (uint64_t)v->number[V8_UNCOMPILED_FIRST], &s.first, 4) &&
            v8_read(v, code - 1 + (uint64_t)v->number[V8_UNCOMPILED_END], &s.end, 4) &&
            s.first >= 0 && s.end > s.first)
            return s;
    }
    return (struct scope){-1, -1, false};
}

void v8_function(struct v8 *v, uint64_t function, int32_t code_offset, struct v8_place *place)
{
    const uint64_t shared = v8_field(v, function, v->number[V8_FUNCTION_SHARED]);
    const uint64_t script = script_of(v, shared);
    *place = (struct v8_place){0};
    const struct scope s = scope_of(v, shared, place->function, sizeof place->function);
    if (!v8_is(v, script, V8_TYPE_SCRIPT))
        return;
    v8_string(v, v8_field(v, script, v->number[V8_SCRIPT_NAME]), place->file, sizeof place->file);
    if (strncmp(place->file, "file://", 7) == 0)
        memmove(place->file, place->file + 7, strlen(place->file + 7) + 1);
    if (s.first < 0)
        return;
    place->begins = line_of(v, script, s.first);
    place->module = s.module || (s.first == 0 && !place->function[0]);
    if (code_offset >= 0)
        place->line = line_of(v, script, await_position(v, shared, code_offset, s.first, s.end));
}

size_t v8_source(struct v8 *v, uint64_t function, char *text, size_t room)
{
    const uint64_t shared = v8_field(v, function, v->number[V8_FUNCTION_SHARED]);
    const uint64_t script = script_of(v, shared);
    char name[8];
    struct text t;
    size_t used = 0;
    const struct scope s = scope_of(v, shared, name, sizeof name);
    if (s.first < 0 || !v8_is(v, script, V8_TYPE_SCRIPT) ||
        !find_text(v, v8_field(v, script, v->number[V8_SCRIPT_SOURCE]), &t) ||
        (!s.module && (uint64_t)s.end > t.n))
        return 0;
    for (uint64_t i = (uint64_t)s.first; i < (uint64_t)s.end && i < t.n && used < room; i++) {
        uint16_t c = 0;
        if (!v8_read(v, t.at + (i << t.wide), &c, t.wide ? 2 : 1))
            break;
        text[used++] = c && c < 0x80 ? (char)c : '?';
    }
    return used;
}
