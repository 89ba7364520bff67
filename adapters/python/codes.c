/* SPDX-License-Identifier: ISC */
#include "codes.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

enum { CODES_MAX = 1 << 16, PLACES_MAX = 1 << 17, NAME_MAX_BYTES = 512 };

static struct code unknown = {.name = "?", .file = ""};
static char *library;
struct runtime runtimes[RUNTIMES];

static size_t hash_code(const void *entry)
{
    return table_mix(((const struct code *)entry)->object, NULL, 0);
}

static bool same_code(const void *entry, const void *wanted)
{
    return ((const struct code *)entry)->object == ((const struct code *)wanted)->object;
}

static size_t hash_place(const void *entry)
{
    const struct place *p = entry;
    return table_mix(p->where, p->what, p->line * 8 + p->use);
}

static bool same_place(const void *entry, const void *wanted)
{
    const struct place *p = entry, *w = wanted;
    return p->where == w->where && p->what == w->what && p->line == w->line && p->use == w->use;
}

static struct table codes = {.hash = hash_code, .same = same_code};
static struct table places = {.hash = hash_place, .same = same_place};

/* A copy that the caller owns; NULL without an exception: there is none. */
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
    for (unsigned i = 0; i < RUNTIMES; i++)
        if (is_below(file, runtimes[i].folder))
            return CODE_RUNTIME;
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
    }
    if (c && text && file && table_insert(&codes, c)) {
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
    struct code *c = table_find(&codes, &(struct code){.object = object});
    if (!c && codes.used < CODES_MAX)
        c = make_code(object, name);
    return c ? c : &unknown;
}

const struct code *code_of(PyObject *object, PyObject *name)
{
    return object ? find_code(object, name) : &unknown;
}

const struct code *code_known(PyObject *object)
{
    return table_find(&codes, &(struct code){.object = object});
}

struct line {
    const struct code *code;
    unsigned instruction, line;
};

static size_t hash_line(const void *entry)
{
    const struct line *l = entry;
    return table_mix(l->code, NULL, l->instruction);
}

static bool same_line(const void *entry, const void *wanted)
{
    const struct line *l = entry, *w = wanted;
    return l->code == w->code && l->instruction == w->instruction;
}

static struct table lines = {.hash = hash_line, .same = same_line};

unsigned code_line(const struct code *c, unsigned instruction)
{
    const struct line *l =
        table_find(&lines, &(struct line){.code = c, .instruction = instruction});
    return l ? l->line : 0;
}

void code_set_line(const struct code *c, unsigned instruction, unsigned line)
{
    struct line *l = c != &unknown && lines.used < PLACES_MAX ? malloc(sizeof *l) : NULL;
    if (!l)
        return;
    *l = (struct line){.code = c, .instruction = instruction, .line = line};
    if (!table_insert(&lines, l))
        free(l);
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

void code_library(const char *folder)
{
    library = strdup(folder);
}

void runtime_add(const char *folder, PyObject *cancelled)
{
    struct runtime *r = &runtimes[runtimes[0].cancelled ? 1 : 0];
    Py_INCREF(cancelled);
    *r = (struct runtime){.folder = strdup(folder), .cancelled = cancelled};
}

struct place *place_of(const struct code *where, unsigned line, const struct code *what,
                       enum place_use use)
{
    static struct place none; /* it is not a literal, and nothing is stored in it */
    const struct place key = {.where = where, .what = what, .line = line, .use = use};
    struct place *p = table_find(&places, &key);
    if (p)
        return p;
    p = places.used < PLACES_MAX ? malloc(sizeof *p) : NULL;
    if (!p)
        return &none;
    *p = key;
    p->site = (struct weft_site){
        .file = where->file, .line = line, .literal = use == FOR_LABELLED ? 1 : 3};
    if (table_insert(&places, p))
        return p;
    free(p);
    return &none;
}
