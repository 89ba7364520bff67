/* SPDX-License-Identifier: ISC */
/* D-Bus. A message is locked when it is sent, on the thread that sends it; then it says what it is. The tasks with which
 * GIO waits for the reply to a call have just been created. */
#include "glib.h"

#include <stdio.h>
#include <string.h>

REAL_OF(g_dbus_message_get_message_type, GIO_SONAME);
REAL_OF(g_dbus_message_get_flags, GIO_SONAME);
REAL_OF(g_dbus_message_get_interface, GIO_SONAME);
REAL_OF(g_dbus_message_get_member, GIO_SONAME);
REAL_OF(g_dbus_message_get_serial, GIO_SONAME);
REAL_OF(g_dbus_message_get_reply_serial, GIO_SONAME);
REAL_OF(g_dbus_message_get_sender, GIO_SONAME);
REAL_OF(g_dbus_message_get_destination, GIO_SONAME);
REAL_OF(g_dbus_message_get_error_name, GIO_SONAME);
REAL_OF(g_dbus_method_invocation_get_message, GIO_SONAME);
REAL_OF(g_dbus_message_get_arg0, GIO_SONAME);
REAL_OF(g_str_hash, GLIB_SONAME);

static void (*own_message_change)(GObject *, guint, GParamSpec **);
static void (*own_constructed)(GObject *), (*own_finalize)(GObject *);
static struct adapter_table invocations; /* by invocation */
static struct adapter_table requests;    /* by serial and sender */

enum { NAMED = 1, SILENT = 2 };

static const char *method_of(GDBusMessage *m, char text[ADAPTER_TEXT])
{
    const char *interface = REAL(g_dbus_message_get_interface)(m);
    const char *member = REAL(g_dbus_message_get_member)(m);
    snprintf(text, ADAPTER_TEXT, "%s%s%s", interface ? interface : "", interface ? "." : "",
             member ? member : "?");
    return text;
}

static uint64_t request_key(uint32_t serial, const char *peer)
{
    return (uint64_t)serial << 32 | (peer ? REAL(g_str_hash)(peer) : 0);
}

/* The error is for whoever has sent the request. */
static void fail(weft_promise p, const char *error)
{
    weft_fail(p, error);
    weft_read(WEFT_LOOP, p);
}

static void sent(GDBusMessage *m)
{
    char text[ADAPTER_TEXT];
    struct adapter_entry e;
    const GDBusMessageType type = REAL(g_dbus_message_get_message_type)(m);
    if (type == G_DBUS_MESSAGE_TYPE_METHOD_CALL && glib_on()) {
        glib_tasks_call(method_of(m, text));
    } else if (type == G_DBUS_MESSAGE_TYPE_METHOD_RETURN || type == G_DBUS_MESSAGE_TYPE_ERROR) {
        const uint64_t key = request_key(REAL(g_dbus_message_get_reply_serial)(m),
                                         REAL(g_dbus_message_get_destination)(m));
        if (!adapter_take(&requests, key, 0, &e))
            return;
        if (type == G_DBUS_MESSAGE_TYPE_ERROR)
            fail(e.promise, REAL(g_dbus_message_get_error_name)(m));
        else
            weft_fulfill(e.promise);
    }
}

/* ---- Errors ---- */

/* What GIO's thread, of which there is one, has read last, unless that is gone. Looked at only under the lock. */
static GDBusMessage *newest;
static uint32_t looking;
static void (*own_message_constructed)(GObject *), (*own_message_finalize)(GObject *);

static void forked(void)
{
    looking = 0;
    newest = NULL;
}

ADAPTER_IN_CHILD(forked)

static void set_newest(GDBusMessage *message, const void *gone)
{
    adapter_lock(&looking);
    if (message || newest == gone)
        newest = message;
    adapter_unlock(&looking);
}

static void on_message_finalize(GObject *message)
{
    set_newest(NULL, message);
    own_message_finalize(message);
}

static void on_message_constructed(GObject *message)
{
    own_message_constructed(message);
    if (adapter_on() && !glib_on())
        set_newest((GDBusMessage *)message, NULL);
}

const char *glib_error_reply(char text[ADAPTER_TEXT])
{
    const char *found = NULL;
    adapter_lock(&looking);
    if (newest && REAL(g_dbus_message_get_message_type)(newest) == G_DBUS_MESSAGE_TYPE_ERROR) {
        const char *name = REAL(g_dbus_message_get_error_name)(newest);
        const char *said = REAL(g_dbus_message_get_arg0)(newest);
        snprintf(text, ADAPTER_TEXT, "%.120s%s%.120s", name ? name : "", said ? ": " : "",
                 said ? said : "");
        found = text;
    }
    adapter_unlock(&looking);
    return found;
}

static void on_message_change(GObject *message, guint n, GParamSpec **what)
{
    for (guint i = 0; adapter_on() && i < n; i++)
        if (strcmp(what[i]->name, "locked") == 0)
            sent((GDBusMessage *)message);
    own_message_change(message, n, what);
}

void glib_message_class(gpointer class)
{
    GObjectClass *c = class;
    own_message_constructed = c->constructed;
    c->constructed = on_message_constructed;
    own_message_finalize = c->finalize;
    c->finalize = on_message_finalize;
    own_message_change = c->dispatch_properties_changed;
    c->dispatch_properties_changed = on_message_change;
}

/* ---- Requests that come by D-Bus ---- */

weft_promise glib_invocation_promise(gconstpointer object)
{
    char text[ADAPTER_TEXT];
    struct adapter_entry e;
    if (!adapter_get(&invocations, adapter_key(object), 0, &e))
        return 0;
    if (e.number & NAMED)
        return e.promise;
    GDBusMessage *m =
        REAL(g_dbus_method_invocation_get_message)((GDBusMethodInvocation *)(uintptr_t)object);
    e.promise = adapter_create_from(WEFT_LOOP, NULL, "request", method_of(m, text));
    e.number = NAMED;
    if (REAL(g_dbus_message_get_flags)(m) & G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED)
        e.number |= SILENT;
    else
        weft_should_resolve(e.promise);
    adapter_put(&invocations, &e);
    e.key = request_key(REAL(g_dbus_message_get_serial)(m), REAL(g_dbus_message_get_sender)(m));
    e.callback = (void *)(uintptr_t)object;
    adapter_put(&requests, &e);
    return e.promise;
}

bool glib_is_invocation(gconstpointer data)
{
    struct adapter_entry e;
    return adapter_get(&invocations, adapter_key(data), 0, &e);
}

static void on_constructed(GObject *invocation)
{
    const struct adapter_entry e = {.key = adapter_key(invocation)};
    own_constructed(invocation);
    if (adapter_on())
        adapter_put(&invocations, &e);
}

static void on_finalize(GObject *invocation)
{
    struct adapter_entry e, request;
    if (adapter_take(&invocations, adapter_key(invocation), 0, &e) && e.promise && adapter_on()) {
        GDBusMessage *m =
            REAL(g_dbus_method_invocation_get_message)((GDBusMethodInvocation *)invocation);
        if (adapter_take(
                &requests,
                request_key(REAL(g_dbus_message_get_serial)(m), REAL(g_dbus_message_get_sender)(m)),
                0, &request)) {
            if (e.number & SILENT)
                weft_fulfill(e.promise);
            else
                weft_forget(e.promise);
        }
    }
    own_finalize(invocation);
}

void glib_invocation_class(gpointer class)
{
    GObjectClass *c = class;
    own_constructed = c->constructed;
    own_finalize = c->finalize;
    c->constructed = on_constructed;
    c->finalize = on_finalize;
}
