/* SPDX-License-Identifier: ISC */
/* Requests that libsoup sends: the task that it creates for one is named after it. Both libsoup 2.4 and libsoup 3 have
 * these functions, with other parameters, and no program has both; none of their headers is needed. */
#include "glib.h"

#include <stdio.h>

/* As many as any of them has. */
#define PARAMETERS void *session, void *message, void *a, void *b, void *c, void *d
#define ARGUMENTS session, message, a, b, c, d
#define SOUP_SONAME "libsoup-3.0.so.0"

struct soup2_message {
    GObject parent;
    const char *method;
};

struct soup2_uri {
    const char *scheme, *user, *password, *host;
    guint port;
    const char *path;
};

const char *soup_message_get_method(void *message);
void *soup_message_get_uri(void *message);
void soup_session_send_async(PARAMETERS);
void soup_session_send_and_read_async(PARAMETERS);
void soup_session_send_and_splice_async(PARAMETERS);
REAL_OF(soup_message_get_method, SOUP_SONAME);
REAL_OF(soup_message_get_uri, SOUP_SONAME);
REAL_OF(g_uri_get_host, GLIB_SONAME);
REAL_OF(g_uri_get_path, GLIB_SONAME);

static __thread bool sending;

static void put_label(char text[ADAPTER_TEXT], void *message)
{
    const char *method = NULL, *host = NULL, *path = NULL;
    void *uri = REAL(soup_message_get_uri) ? REAL(soup_message_get_uri)(message) : NULL;
    if (REAL(soup_message_get_method)) { /* 3 */
        method = REAL(soup_message_get_method)(message);
        host = uri ? REAL(g_uri_get_host)(uri) : NULL;
        path = uri ? REAL(g_uri_get_path)(uri) : NULL;
    } else {
        const struct soup2_message *m = message;
        const struct soup2_uri *u = uri;
        method = m->method;
        host = u ? u->host : NULL;
        path = u ? u->path : NULL;
    }
    snprintf(text, ADAPTER_TEXT, "%.20s %.90s%.130s", method ? method : "?", host ? host : "",
             path ? path : "");
}

#define SEND(name)                                                                                 \
    REAL_OF(name, SOUP_SONAME);                                                                    \
    ADAPTER_EXPORT void name(PARAMETERS)                                                           \
    {                                                                                              \
        struct glib_thread *t = &glib_thread;                                                      \
        if (sending || !message || !glib_on()) {                                                   \
            REAL(name)(ARGUMENTS);                                                                 \
            return;                                                                                \
        }                                                                                          \
        glib_tasks_name();                                                                         \
        put_label(t->next_label, message);                                                         \
        t->next_type = "http";                                                                     \
        sending = true;                                                                            \
        REAL(name)(ARGUMENTS);                                                                     \
        sending = false;                                                                           \
        glib_tasks_name();                                                                         \
        t->next_type = NULL;                                                                       \
    }

SEND(soup_session_send_async)
SEND(soup_session_send_and_read_async)
SEND(soup_session_send_and_splice_async)
