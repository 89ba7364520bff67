/* SPDX-License-Identifier: ISC */
/* GCancellable: a promise that is fulfilled when it is cancelled. */
#include "glib.h"

REAL_OF(g_cancellable_new, GIO_SONAME);
REAL_OF(g_cancellable_source_new, GIO_SONAME);

static struct adapter_table cancellables;
static void (*own_cancelled)(GCancellable *), (*own_finalize)(GObject *);

static void on_cancelled(GCancellable *c)
{
    struct adapter_entry e;
    if (adapter_take(&cancellables, adapter_key(c), 0, &e) && adapter_on()) {
        glib_tasks_name();
        weft_fulfill(e.promise);
    }
    if (own_cancelled)
        own_cancelled(c);
}

static void on_finalize(GObject *c)
{
    struct adapter_entry e;
    if (adapter_take(&cancellables, adapter_key(c), 0, &e) && adapter_on())
        weft_forget(e.promise);
    own_finalize(c);
}

void glib_cancellable_class(gpointer class)
{
    GCancellableClass *c = class;
    own_cancelled = c->cancelled;
    own_finalize = c->parent_class.finalize;
    c->cancelled = on_cancelled;
    c->parent_class.finalize = on_finalize;
}

ADAPTER_EXPORT GCancellable *g_cancellable_new(void)
{
    GCancellable *c = REAL(g_cancellable_new)();
    if (c && glib_on()) {
        glib_tasks_name();
        struct adapter_entry e = {.key = adapter_key(c)};
        e.promise = adapter_create((const char *)__builtin_return_address(0) - 1, "cancellable",
                                   "GCancellable");
        adapter_put(&cancellables, &e);
    }
    return c;
}

weft_promise glib_cancellable_promise(gconstpointer cancellable)
{
    struct adapter_entry e;
    return adapter_get(&cancellables, adapter_key(cancellable), 0, &e) ? e.promise : 0;
}

ADAPTER_EXPORT GSource *g_cancellable_source_new(GCancellable *cancellable)
{
    GSource *source = REAL(g_cancellable_source_new)(cancellable);
    if (source && cancellable && glib_on())
        glib_source_waits(source, cancellable);
    return source;
}
