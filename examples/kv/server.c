/* SPDX-License-Identifier: ISC */
/* kv_server: a key-value service over HTTP/1.1, and an example of how a program is instrumented with weft.
 *
 *     GET /KEY   PUT /KEY   DELETE /KEY   GET / (statistics)
 *
 * What is a promise here: whatever somebody waits for. In the picture, below one another,
 *
 *     accept                   for ever; has the connections as its children
 *      connection              until it is closed; waits in turn for
 *       receive                the head of the next request to arrive, and
 *       request                its answer to be written, which waits for
 *        body                  what is put to arrive,
 *        get, put              the store (store.c) to do its work in several steps,
 *        response              the client to take the answer
 *       timer                  the connection has been idle for long
 *
 * The rule for what runs: libuv calls back, and the event loop runs (WEFT_LOOP). It resolves the promise
 * that the callback is about. weft_wake lets the one go on that has waited for it, until it creates what
 * it will wait for next, says so with weft_wait, and the callback returns to the loop: weft_run(WEFT_LOOP). */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "awake.h"
#include "http.h"

static uv_tcp_t listener;
static uv_signal_t signals[2];
static struct kv_http http = {.max_value = 1u << 20, .idle_ms = 30000};
static weft_promise accepting;
static int exit_status;

static void on_connection(uv_stream_t *stream, int status)
{
    kv_awake();
    weft_run(accepting);
    if (status == 0)
        kv_http_accept(&http, stream);
    weft_run(WEFT_LOOP);
}

static void on_store_closed(int status)
{
    if (status != 0) {
        fprintf(stderr, "kv_server: the last sync failed: %s\n", uv_strerror(status));
        exit_status = 1;
    }
    kv_awake_stop();
}

static void on_connections_closed(void)
{
    kv_store_close(http.store, on_store_closed);
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)handle;
    (void)number;
    kv_awake();
    weft_cancel(accepting);
    uv_close((uv_handle_t *)&listener, NULL);
    for (int i = 0; i < 2; i++) /* a second signal ends the process */
        uv_close((uv_handle_t *)&signals[i], NULL);
    kv_http_stop(&http, on_connections_closed);
}

static int start_listening(uint16_t port)
{
    static const int numbers[2] = {SIGINT, SIGTERM};
    static char label[32];
    struct sockaddr_in address;
    int size = sizeof address;
    uv_ip4_addr("127.0.0.1", port, &address);
    uv_tcp_init(http.loop, &listener);
    int bad = uv_tcp_bind(&listener, (struct sockaddr *)&address, 0);
    if (!bad)
        bad = uv_listen((uv_stream_t *)&listener, 511, on_connection);
    if (!bad)
        bad = uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &size);
    if (bad)
        return bad;
    for (int i = 0; i < 2; i++) {
        uv_signal_init(http.loop, &signals[i]);
        uv_signal_start(&signals[i], on_signal, numbers[i]);
    }
    snprintf(label, sizeof label, "127.0.0.1:%u", ntohs(address.sin_port));
    accepting = weft_create("accept", label);
    weft_background(accepting); /* waits for ever, as it should */
    printf("listening on %s\n", label);
    fflush(stdout);
    return 0;
}

static const char usage[] =
    "usage: kv_server [OPTION...] FILE\n"
    "Serves the key-value store in FILE over HTTP on 127.0.0.1, until SIGINT or SIGTERM.\n"
    "  --port PORT        0, the default: a free one; it is printed\n"
    "  --sync             answer a PUT when it is on the disk\n"
    "  --flush MS         sync so long after a write (100)\n"
    "  --idle MS          close a connection that has been idle for so long (30000)\n"
    "  --max-value BYTES  refuse larger values (1048576)\n";

static bool number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    *value = n;
    return *text >= '0' && *text <= '9' && !*end && n <= max;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"port", required_argument, NULL, 'p'},
                                            {"sync", no_argument, NULL, 's'},
                                            {"flush", required_argument, NULL, 'f'},
                                            {"idle", required_argument, NULL, 'i'},
                                            {"max-value", required_argument, NULL, 'm'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct kv_options store = {.flush_ms = 100};
    uint64_t port = 0;
    bool good = true;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (c == 's')
            store.sync = true;
        else
            good = good && ((c == 'p' && number(optarg, 65535, &port)) ||
                            (c == 'f' && number(optarg, 3600000, &store.flush_ms)) ||
                            (c == 'i' && number(optarg, 86400000, &http.idle_ms)) ||
                            (c == 'm' && number(optarg, KV_VALUE_MAX, &http.max_value)));
    }
    if (!good || optind + 1 != argc) {
        fputs(usage, stderr);
        return 2;
    }
    store.path = argv[optind];

    signal(SIGPIPE, SIG_IGN);
    http.loop = uv_default_loop();
    int bad = kv_store_open(&http.store, http.loop, &store);
    if (bad) {
        fprintf(stderr, "kv_server: %s: %s\n", store.path, uv_strerror(bad));
        return 1;
    }
    bad = start_listening((uint16_t)port);
    if (bad) {
        fprintf(stderr, "kv_server: 127.0.0.1:%u: %s\n", (unsigned)port, uv_strerror(bad));
        return 1;
    }
    kv_awake_start(http.loop);
    uv_run(http.loop, UV_RUN_DEFAULT);
    uv_loop_close(http.loop);
    uv_library_shutdown();
    return exit_status;
}
