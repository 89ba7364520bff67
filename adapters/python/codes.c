/* SPDX-License-Identifier: ISC */
#include "codes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CODES_MAX = 1 << 16, PLACES_MAX = 1 << 17, NAME_MAX_BYTES = 512 };

static struct code unknown = {.name = "?", .file = ""};
static char *library, *asyncio;

/* A table of pointers by open addressing: room is a power of two, at most half of it used. */
struct table {
    void **at;
    size_t room, used;
};

static struct table codes, places;

static size_t mix(uintptr_t a, uintptr_t b, uintptr_t c)
{
    uint64_t h = (a >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ b >> 4) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ c) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(h >> 24);
}

static size_t hash_code(const void *entry)
{
    return mix((uintptr_t)((const struct code *)entry)->object, 0, 0);
}

static size_t hash_place(const void *entry)
{
    const struct place *p = entry;
    return mix((uintptr_t)p->where, (uintptr_t)p->what, p->line * 8 + p->use);
}

static bool make_room(struct table *t, size_t (*hash)(const void *))
{
    if (t->room > 2 * t->used)
        return true;
    struct table n = {.room = t->room ? 2 * t->room : 256, .used = t->used};
    n.at = calloc(n.room, sizeof *n.at);
    if (!n.at)
        return false;
    for (size_t i = 0; i < t->room; i++) {
        size_t at = t->at[i] ? hash(t->at[i]) & (n.room - 1) : 0;
        while (t->at[i] && n.at[at])
            at = (at + 1) & (n.room - 1);
        if (t->at[i])
            n.at[at] = t->at[i];
    }
    free(t->at);
    *t = n;
    return true;
}

/* A copy that the caller keeps; NULL without an exception: there is none. */
static char *copy_text(PyObject *text)
{
    char *copy = NULL;
    PyObject *bytes = text && PyUnicode_Check(text)
                          ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace")
                          : NULL;
    if (bytes)
        copy = strndup(PyBytes_AsString(bytes), NAME_MAX_BYTES);
    Py_XDECREF(bytes);
    PyErr_Clear();
    return copy;
}

static char *copy_attribute(PyObject *object, const char *name)
{
    PyObject *text = PyObject_GetAttrString(object, name);
    char *copy = copy_text(text);
    Py_XDECREF(text);
    PyErr_Clear();
    return copy;
}

static bool is_below(const char *file, const char *folder)
{
    return folder && strncmp(file, folder, strlen(folder)) == 0;
}

static enum code_owner owner_of(const char *file)
{
    if (is_below(file, asyncio))
        return CODE_ASYNCIO;
    if (strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
        is_below(file, library) || strncmp(file, "<frozen", 7) == 0)
        return CODE_LIBRARY;
    return CODE_PROGRAM;
}

static struct code *make_code(PyObject *object, PyObject *name)
{
    struct code *c = calloc(1, sizeof *c);
    char *text = name ? copy_text(name) : NULL, *file = copy_attribute(object, "co_filename");
    PyObject *line = PyObject_GetAttrString(object, "co_firstlineno");
    if (!text)
        text = copy_attribute(object, "co_qualname"); /* 3.11 and later */
    if (!text)
        text = copy_attribute(object, "co_name");
    if (c && text && file) {
        *c = (struct code){.object = object, .name = text, .file = file, .owner = owner_of(file)};
        const size_t size = strlen(text);
        c->inlined = size > 5 && strcmp(text + size - 5, "comp>") == 0;
        c->line = line ? (unsigned)PyLong_AsLong(line) : 0;
        Py_INCREF(object);
    } else {
        free(c);
        free(text);
        free(file);
        c = NULL;
    }
    Py_XDECREF(line);
    PyErr_Clear();
    return c;
}

static struct code *find_code(PyObject *object, PyObject *name)
{
    struct code *c = &unknown;
    if (!make_room(&codes, hash_code))
        return &unknown;
    size_t at = mix((uintptr_t)object, 0, 0) & (codes.room - 1);
    while ((c = codes.at[at]) && c->object != object)
        at = (at + 1) & (codes.room - 1);
    if (c)
        return c;
    c = codes.used < CODES_MAX ? make_code(object, name) : NULL;
    if (!c)
        return &unknown;
    codes.at[at] = c;
    codes.used++;
    return c;
}

const struct code *code_of(PyObject *object, PyObject *name)
{
    return object ? find_code(object, name) : &unknown;
}

int code_tell(PyObject *object, PyObject *name, int kind)
{
    struct code *c = find_code(object, name);
    if (c == &unknown) {
        PyErr_NoMemory();
        return -1;
    }
    c->kind = (enum code_kind)kind;
    return 0;
}

void code_folders(const char *of_library, const char *of_asyncio)
{
    library = strdup(of_library);
    asyncio = strdup(of_asyncio);
}

struct place *place_of(const struct code *where, unsigned line, const struct code *what,
                       enum place_use use)
{
    static struct place none; /* it is no literal, and nothing is kept in it */
    const struct place key = {.where = where, .what = what, .line = line, .use = use};
    struct place *p;
    if (!make_room(&places, hash_place))
        return &none;
    size_t at = hash_place(&key) & (places.room - 1);
    while ((p = places.at[at]) &&
           (p->where != where || p->what != what || p->line != line || p->use != use))
        at = (at + 1) & (places.room - 1);
    if (p)
        return p;
    p = places.used < PLACES_MAX ? malloc(sizeof *p) : NULL;
    if (!p)
        return &none;
    *p = key;
    p->site = (struct weft_site){
        .file = where->file, .line = line, .literal = use == FOR_LABELLED ? 1 : 3};
    places.at[at] = p;
    places.used++;
    return p;
}
