/* SPDX-License-Identifier: ISC */
#include "cli/otlp/send.h"

#include <string.h>

#ifdef WEFT_HAS_SOUP
#include <inttypes.h>
#include <jansson.h>
#include <libsoup/soup.h>
#include <stdlib.h>

#include "cli/common.h"

enum {
    SECONDS = 30,          /* for an answer */
    ANSWER_BYTES = 1 << 20 /* of it that are read */
};

/* The collector's URL for traces. NULL: it is no URL. The caller frees it with g_uri_unref. */
static GUri *traces_at(const char *url)
{
    GUri *uri = g_uri_parse(url, SOUP_HTTP_URI_FLAGS, NULL);
    const char *path = uri ? g_uri_get_path(uri) : "";
    if (uri && strcmp(path, "/") != 0 && *path)
        return uri;
    GUri *traces = uri ? soup_uri_copy(uri, SOUP_URI_PATH, "/v1/traces", SOUP_URI_NONE) : NULL;
    if (uri)
        g_uri_unref(uri);
    return traces;
}

/* What the collector did not take of a line, by its answer. */
static uint64_t read_rejected(const char *url, GBytes *answer)
{
    gsize size;
    const char *bytes = g_bytes_get_data(answer, &size);
    json_t *root = size && size <= ANSWER_BYTES ? json_loadb(bytes, size, 0, NULL) : NULL;
    const json_t *partial = json_object_get(root, "partialSuccess");
    const json_t *count = json_object_get(partial, "rejectedSpans");
    const char *why = json_string_value(json_object_get(partial, "errorMessage"));
    const json_int_t n = json_is_string(count) ? strtoll(json_string_value(count), NULL, 10)
                                               : json_integer_value(count);
    if (n > 0 || (why && *why))
        cli_say(url, "%s", why && *why ? cli_shown(why).text : "some spans were rejected");
    json_decref(root);
    return n > 0 ? (uint64_t)n : 0;
}

static int send_line(SoupSession *session, GUri *uri, const char *url, const char *line,
                     size_t size, uint64_t *rejected, struct weft_error *err)
{
    GError *error = NULL;
    SoupMessage *m = soup_message_new_from_uri("POST", uri);
    GBytes *body = g_bytes_new(line, size);
    soup_message_set_request_body_from_bytes(m, "application/json", body);
    g_bytes_unref(body);
    GBytes *answer = soup_session_send_and_read(session, m, NULL, &error);
    const guint status = soup_message_get_status(m);
    int rc = 0;
    if (!answer)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s", error->message);
    else if (status < 200 || status > 299)
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "answers with %u, %s", status,
                            soup_status_get_phrase(status));
    else
        *rejected += read_rejected(url, answer);
    g_clear_error(&error);
    g_clear_pointer(&answer, g_bytes_unref);
    g_object_unref(m);
    return rc;
}

int otlp_send(FILE *lines, const char *url, uint64_t *rejected, struct weft_error *err)
{
    GUri *uri = traces_at(url);
    SoupSession *session = soup_session_new_with_options("timeout", (guint)SECONDS, NULL);
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    *rejected = 0;
    int rc = uri ? 0 : weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET, "is no URL");
    rewind(lines);
    while (rc == 0 && (size = getline(&line, &room, lines)) > 0)
        rc = send_line(session, uri, url, line, (size_t)size, rejected, err);
    if (rc == 0 && ferror(lines))
        rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "what is to be sent cannot be read");
    free(line);
    g_object_unref(session);
    if (uri)
        g_uri_unref(uri);
    return rc;
}
#else
int otlp_send(FILE *lines, const char *url, uint64_t *rejected, struct weft_error *err)
{
    (void)lines;
    (void)url;
    *rejected = 0;
    return weft_error_set(err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                          "this weft was built without libsoup, which sends to collectors; export "
                          "to a file, and send its lines");
}
#endif

bool otlp_is_url(const char *target)
{
    return strncmp(target, "http://", 7) == 0 || strncmp(target, "https://", 8) == 0;
}
