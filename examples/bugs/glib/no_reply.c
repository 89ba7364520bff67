/* SPDX-License-Identifier: ISC */
/* A client calls a service by D-Bus for four balances. The service, in the same process here, forgets to reply if the account is
 * not there. With "good" as argument it replies with an error.
 *
 *     gcc no_reply.c -o no_reply $(pkg-config --cflags --libs gio-2.0)
 */
#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>

enum { CALLS = 4 };

static const char interface_xml[] =
    "<node><interface name='org.example.Bank'><method name='GetBalance'>"
    "<arg name='account' type='u' direction='in'/><arg name='balance' type='u' direction='out'/>"
    "</method></interface></node>";
static GMainLoop *loop;
static GDBusConnection *sides[2]; /* the client's, the service's */
static unsigned ended, opened;
static gboolean good;

static void get_balance(GDBusConnection *connection, const char *sender, const char *path,
                        const char *interface, const char *method, GVariant *parameters,
                        GDBusMethodInvocation *invocation, gpointer data)
{
    guint32 account;
    (void)connection, (void)sender, (void)path, (void)interface, (void)method, (void)data;
    g_variant_get(parameters, "(u)", &account);
    if (account != 2)
        g_dbus_method_invocation_return_value(invocation, g_variant_new("(u)", 100 * account));
    else if (good)
        g_dbus_method_invocation_return_dbus_error(invocation, "org.example.Bank.NoAccount",
                                                   "there is no account 2");
}

static void have_balance(GObject *object, GAsyncResult *result, gpointer data)
{
    GVariant *balance = g_dbus_connection_call_finish(G_DBUS_CONNECTION(object), result, NULL);
    (void)data;
    if (balance)
        g_variant_unref(balance);
    if (++ended == CALLS)
        g_main_loop_quit(loop);
}

static void call_all(void)
{
    static const GDBusInterfaceVTable table = {.method_call = get_balance};
    GDBusNodeInfo *info = g_dbus_node_info_new_for_xml(interface_xml, NULL);
    g_dbus_connection_register_object(sides[1], "/bank", info->interfaces[0], &table, NULL, NULL,
                                      NULL);
    for (guint32 i = 0; i < CALLS; i++)
        g_dbus_connection_call(sides[0], NULL, "/bank", "org.example.Bank", "GetBalance",
                               g_variant_new("(u)", i), NULL, G_DBUS_CALL_FLAGS_NONE, G_MAXINT,
                               NULL, have_balance, NULL);
    g_dbus_node_info_unref(info);
}

static void have_side(GObject *object, GAsyncResult *result, gpointer data)
{
    GDBusConnection **side = data;
    (void)object;
    *side = g_dbus_connection_new_finish(result, NULL);
    if (++opened == 2)
        call_all();
}

static GIOStream *stream_of(int descriptor)
{
    GSocket *socket = g_socket_new_from_fd(descriptor, NULL);
    GIOStream *stream = G_IO_STREAM(g_socket_connection_factory_create_connection(socket));
    g_object_unref(socket);
    return stream;
}

int main(int argc, char **argv)
{
    int pair[2];
    good = argc > 1 && strcmp(argv[1], "good") == 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 1;
    loop = g_main_loop_new(NULL, FALSE);
    GIOStream *client = stream_of(pair[0]), *service = stream_of(pair[1]);
    char *guid = g_dbus_generate_guid();
    g_dbus_connection_new(service, guid,
                          G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_SERVER |
                              G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_ALLOW_ANONYMOUS,
                          NULL, NULL, have_side, &sides[1]);
    g_dbus_connection_new(client, NULL, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, NULL, NULL,
                          have_side, &sides[0]);
    g_main_loop_run(loop);
    g_print("%u replies\n", ended);
    g_free(guid);
    return 0;
}
