/* SPDX-License-Identifier: ISC */
#include "promises.h"

#include <stdlib.h>

#include "table.h"

static size_t hash_object(const void *entry)
{
    return table_mix(((const struct promise *)entry)->object, NULL, 0);
}

static bool same_object(const void *entry, const void *wanted)
{
    return ((const struct promise *)entry)->object == ((const struct promise *)wanted)->object;
}

static size_t hash_ref(const void *entry)
{
    return table_mix(((const struct promise *)entry)->ref, NULL, 0);
}

static bool same_ref(const void *entry, const void *wanted)
{
    return ((const struct promise *)entry)->ref == ((const struct promise *)wanted)->ref;
}

/* Only the weak reference is known of an object that is gone. */
static struct table by_object = {.hash = hash_object, .same = same_object};
static struct table by_ref = {.hash = hash_ref, .same = same_ref};
static PyObject *callback;

void (*promise_gone)(struct promise *p);

static void release(struct promise *p)
{
    for (unsigned i = 0; i < p->count; i++)
        Py_XDECREF(p->calls[i].ref);
    free(p->calls);
    free(p->requests);
    free(p->label);
    Py_XDECREF(p->answer);
    Py_DECREF(p->ref);
    free(p);
}

static PyObject *object_gone(PyObject *self, PyObject *ref)
{
    struct promise *p = table_find(&by_ref, &(struct promise){.ref = ref});
    (void)self;
    if (p) {
        table_remove(&by_object, p);
        table_remove(&by_ref, p);
        if (promise_gone)
            promise_gone(p);
        release(p);
    }
    Py_RETURN_NONE;
}

int promises_init(void)
{
    static PyMethodDef def = {"weft", object_gone, METH_O, NULL};
    callback = PyCFunction_New(&def, NULL);
    return callback ? 0 : -1;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                     \
    "-Wdeprecated-declarations" /* since 3.13; a reference that is new there cannot be in an older table */
PyObject *promise_referent(PyObject *ref)
{
    return PyWeakref_GetObject(ref);
}
#pragma GCC diagnostic pop

struct promise *promise_find(PyObject *object)
{
    return table_find(&by_object, &(struct promise){.object = object});
}

struct promise *promise_add(PyObject *object, weft_promise id)
{
    struct promise *p = calloc(1, sizeof *p);
    PyObject *ref = p ? PyWeakref_NewRef(object, callback) : NULL;
    if (!ref)
        goto none;
    *p = (struct promise){.object = object, .ref = ref, .id = id};
    if (!table_insert(&by_object, p))
        goto none;
    if (!table_insert(&by_ref, p)) {
        table_remove(&by_object, p);
        goto none;
    }
    return p;
none:
    PyErr_Clear();
    Py_XDECREF(ref);
    free(p);
    return NULL;
}

void promises_drop(void)
{
    for (size_t i = 0; i < by_object.room; i++)
        if (by_object.at[i])
            release(by_object.at[i]);
    free(by_object.at);
    free(by_ref.at);
    by_object.at = by_ref.at = NULL;
    by_object.room = by_object.used = by_ref.room = by_ref.used = 0;
}

weft_promise promise_works_at(const struct promise *p)
{
    return p->requests_count ? p->requests[p->requests_count - 1] : p->id;
}

bool promise_has_request(const struct promise *p, weft_promise request)
{
    for (unsigned i = 0; i < p->requests_count; i++)
        if (p->requests[i] == request)
            return true;
    return false;
}

struct promise *promise_of_request(weft_promise request)
{
    for (size_t i = 0; i < by_object.room; i++)
        if (by_object.at[i] && promise_has_request(by_object.at[i], request))
            return by_object.at[i];
    return NULL;
}

weft_promise promise_inner(const struct promise *p)
{
    for (unsigned i = p->count; i-- > 0;)
        if (p->calls[i].id)
            return p->calls[i].id;
    return p->whole ? p->whole : p->id;
}
