/* SPDX-License-Identifier: ISC */
#include "promises.h"

#include <stdint.h>
#include <stdlib.h>

/* Found by the object, and by the weak reference when the object is gone. Open addressing; what follows a hole is moved
 * into it. */
struct index {
    struct promise **at;
    size_t room, used;
};

static struct index by_object, by_ref;
static PyObject *callback;

void (*promise_gone)(struct promise *p);

static uintptr_t key_of(const struct index *x, const struct promise *p)
{
    return (uintptr_t)(x == &by_object ? p->object : p->ref);
}

static size_t start_of(const struct index *x, uintptr_t key)
{
    return (size_t)((key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (x->room - 1);
}

static bool grow(struct index *x)
{
    if (x->room > 2 * x->used)
        return true;
    struct index n = {.room = x->room ? 2 * x->room : 1024};
    struct promise **old = x->at;
    const size_t room = x->room;
    n.at = calloc(n.room, sizeof(struct promise *));
    if (!n.at)
        return false;
    n.used = x->used;
    *x = n;
    for (size_t i = 0; i < room; i++) {
        size_t at = old[i] ? start_of(x, key_of(x, old[i])) : 0;
        while (old[i] && x->at[at])
            at = (at + 1) & (x->room - 1);
        if (old[i])
            x->at[at] = old[i];
    }
    free(old);
    return true;
}

static struct promise *find(const struct index *x, uintptr_t key)
{
    struct promise *p = NULL;
    if (x->room == 0)
        return NULL;
    for (size_t at = start_of(x, key); (p = x->at[at]); at = (at + 1) & (x->room - 1))
        if (key_of(x, p) == key)
            break;
    return p;
}

static void insert(struct index *x, struct promise *p)
{
    size_t at = start_of(x, key_of(x, p));
    while (x->at[at])
        at = (at + 1) & (x->room - 1);
    x->at[at] = p;
    x->used++;
}

static void take_out(struct index *x, struct promise *p)
{
    const size_t mask = x->room - 1;
    size_t hole = start_of(x, key_of(x, p));
    while (x->at[hole] != p)
        hole = (hole + 1) & mask;
    x->at[hole] = NULL;
    x->used--;
    for (size_t at = (hole + 1) & mask; x->at[at]; at = (at + 1) & mask) {
        const size_t start = start_of(x, key_of(x, x->at[at]));
        if (((at - start) & mask) < ((at - hole) & mask))
            continue;
        x->at[hole] = x->at[at];
        x->at[at] = NULL;
        hole = at;
    }
}

static void release(struct promise *p)
{
    for (unsigned i = 0; i < p->count; i++)
        Py_XDECREF(p->calls[i].ref);
    free(p->calls);
    free(p->label);
    Py_DECREF(p->ref);
    free(p);
}

static PyObject *object_gone(PyObject *self, PyObject *ref)
{
    struct promise *p = find(&by_ref, (uintptr_t)ref);
    (void)self;
    if (p) {
        take_out(&by_object, p);
        take_out(&by_ref, p);
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

struct promise *promise_find(PyObject *object)
{
    return find(&by_object, (uintptr_t)object);
}

struct promise *promise_add(PyObject *object, weft_promise id)
{
    struct promise *p = calloc(1, sizeof *p);
    PyObject *ref = p ? PyWeakref_NewRef(object, callback) : NULL;
    if (!ref || !grow(&by_object) || !grow(&by_ref)) {
        PyErr_Clear();
        Py_XDECREF(ref);
        free(p);
        return NULL;
    }
    p->object = object;
    p->ref = ref;
    p->id = id;
    insert(&by_object, p);
    insert(&by_ref, p);
    return p;
}

void promises_drop(void)
{
    struct index old = by_object;
    free(by_ref.at);
    by_object = by_ref = (struct index){0};
    for (size_t i = 0; i < old.room; i++)
        if (old.at[i])
            release(old.at[i]);
    free(old.at);
}

weft_promise promise_inner(const struct promise *p)
{
    for (unsigned i = p->count; i-- > 0;)
        if (p->calls[i].id)
            return p->calls[i].id;
    return p->id;
}
