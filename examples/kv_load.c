/* SPDX-License-Identifier: ISC */
/* kv_load: puts and gets values of kv_server, over several connections at once; checks the answers, counts
 * and times them. It is not traced: it stands for the rest of the world. */
#include <arpa/inet.h>
#include <getopt.h>
#include <http_parser.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#define DEPTH_MAX 64u
#define VALUE_MAX (1u << 25)
#define SLOTS (64u * 64u) /* of the histogram of latencies: 64 for each power of two */

struct request {
    uint64_t sent_ns;
    unsigned key;
    bool put;
};

struct client {
    uv_tcp_t socket;
    uv_connect_t connect;
    uv_write_t write;
    http_parser parser;
    struct request flying[DEPTH_MAX]; /* answers come in this order */
    unsigned first, count;
    size_t body_bytes;
    bool open, body_wrong;
    char *out;
};

static struct {
    uv_loop_t loop;
    struct sockaddr_in address;
    uint64_t connections, depth, requests, seconds, timeout, put_percent, keys, value_bytes, seed;
    bool fill, json;
} load = {.connections = 8,
          .depth = 1,
          .timeout = 60,
          .put_percent = 20,
          .keys = 1000,
          .value_bytes = 1024,
          .seed = 1};

static struct client *clients;
static uv_timer_t deadline;
static uint64_t started_ns, stop_ns, sent, answered, stored, not_found, errors, random_state,
    filled;
static uint64_t histogram[SLOTS], slowest_ns;
static char in[65536];

/* code: an error of libuv, the status of an answer, or 0. */
static void fail(const char *what, int code)
{
    if (errors++ < 5)
        fprintf(stderr, "kv_load: %s%s%s %.0d\n", what, code ? ": " : "",
                code < 0 ? uv_strerror(code) : "", code > 0 ? code : 0);
}

/* splitmix64 */
static uint64_t any(uint64_t below)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

/* The value is known from the key, which has its size too: so what comes back can be checked. */
static char value_byte(unsigned key, size_t at)
{
    return (char)('a' + (key + at + at / 26) % 26);
}

static void count_latency(uint64_t ns)
{
    unsigned shift = ns < 64 ? 0 : 58u - (unsigned)__builtin_clzll(ns);
    histogram[64 * shift + (ns >> shift)]++; /* 1.6 % exact */
    if (ns > slowest_ns)
        slowest_ns = ns;
}

static uint64_t percentile(double part)
{
    uint64_t wanted = (uint64_t)((double)answered * part), seen = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        seen += histogram[i];
        if (seen > wanted)
            return (uint64_t)(i % 64) << (i / 64);
    }
    return slowest_ns;
}

static bool more_to_send(void)
{
    if (load.fill && filled < load.keys)
        return true;
    return load.requests ? sent < load.requests : uv_hrtime() < stop_ns;
}

static void drop(struct client *client)
{
    if (client->open && !uv_is_closing((uv_handle_t *)&client->socket))
        uv_close((uv_handle_t *)&client->socket, NULL);
    client->open = false;
    for (uint64_t i = 0; i < load.connections; i++)
        if (clients[i].open)
            return;
    if (!uv_is_closing((uv_handle_t *)&deadline))
        uv_close((uv_handle_t *)&deadline, NULL);
}

static void on_written(uv_write_t *write, int status)
{
    struct client *client = write->data;
    if (status != 0 && client->open) {
        fail("write", status);
        drop(client);
    }
}

/* All that may be on the way at once, in one write; the last one has been written if nothing is flying. */
static void send_requests(struct client *client)
{
    size_t bytes = 0;
    if (!client->open || client->count > 0)
        return;
    while (client->count < load.depth && more_to_send()) {
        struct request *request = &client->flying[client->count++];
        bool fill = load.fill && filled < load.keys;
        request->key = (unsigned)(fill ? filled++ : any(load.keys));
        request->put = fill || any(100) < load.put_percent;
        request->sent_ns = uv_hrtime();
        if (request->put) {
            bytes += (size_t)sprintf(client->out + bytes,
                                     "PUT /key-%u.%" PRIu64
                                     " HTTP/1.1\r\nHost: kv\r\nContent-Length: %" PRIu64 "\r\n\r\n",
                                     request->key, load.value_bytes, load.value_bytes);
            for (size_t i = 0; i < load.value_bytes; i++)
                client->out[bytes++] = value_byte(request->key, i);
            stored++;
        } else {
            bytes += (size_t)sprintf(client->out + bytes,
                                     "GET /key-%u.%" PRIu64 " HTTP/1.1\r\nHost: kv\r\n\r\n",
                                     request->key, load.value_bytes);
        }
        sent++;
    }
    client->first = 0;
    if (client->count == 0) {
        drop(client);
        return;
    }
    uv_buf_t buffer = uv_buf_init(client->out, (unsigned)bytes);
    client->write.data = client;
    uv_write(&client->write, (uv_stream_t *)&client->socket, &buffer, 1, on_written);
}

static int on_message_begin(http_parser *parser)
{
    struct client *client = parser->data;
    client->body_bytes = 0;
    client->body_wrong = false;
    return 0;
}

static int on_body(http_parser *parser, const char *at, size_t bytes)
{
    struct client *client = parser->data;
    unsigned key = client->flying[client->first].key;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != value_byte(key, client->body_bytes + i))
            client->body_wrong = true;
    client->body_bytes += bytes;
    return 0;
}

static int on_message_complete(http_parser *parser)
{
    struct client *client = parser->data;
    unsigned status = parser->status_code;
    if (client->count == 0) {
        fail("an answer to nothing", 0);
        return 0;
    }
    struct request *request = &client->flying[client->first++];
    client->count--;
    answered++;
    count_latency(uv_hrtime() - request->sent_ns);
    if (request->put ? status != 200 && status != 201 : status != 200 && status != 404)
        fail(request->put ? "status of an answer to PUT" : "status of an answer to GET",
             (int)status);
    else if (!request->put && status == 404)
        not_found++;
    else if (!request->put && (client->body_wrong || client->body_bytes != load.value_bytes))
        fail("the value is not what was put", 0);
    if (!http_should_keep_alive(parser) && (client->count > 0 || more_to_send()))
        fail("the server closes the connection", 0);
    return 0;
}

static const http_parser_settings parser_settings = {.on_message_begin = on_message_begin,
                                                     .on_body = on_body,
                                                     .on_message_complete = on_message_complete};

static void on_room(uv_handle_t *handle, size_t hint, uv_buf_t *buffer)
{
    (void)handle;
    (void)hint;
    *buffer = uv_buf_init(in, sizeof in);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct client *client = stream->data;
    if (count < 0) {
        fail("connection lost", (int)count);
        drop(client);
    } else if (count > 0) {
        size_t used =
            http_parser_execute(&client->parser, &parser_settings, buffer->base, (size_t)count);
        if (used != (size_t)count) {
            fail(http_errno_description(HTTP_PARSER_ERRNO(&client->parser)), 0);
            drop(client);
        }
        send_requests(client);
    }
}

static void on_connected(uv_connect_t *connect, int status)
{
    struct client *client = connect->data;
    if (status != 0) {
        if (client->open)
            fail("connect", status);
        drop(client);
        return;
    }
    uv_tcp_nodelay(&client->socket, 1);
    uv_read_start((uv_stream_t *)&client->socket, on_room, on_read);
    send_requests(client);
}

static void on_deadline(uv_timer_t *timer)
{
    (void)timer;
    fail("took too long; see --timeout", 0);
    for (uint64_t i = 0; i < load.connections; i++)
        drop(&clients[i]);
}

static int run(void)
{
    clients = calloc(load.connections, sizeof *clients);
    if (!clients)
        return UV_ENOMEM;
    uv_loop_init(&load.loop);
    uv_timer_init(&load.loop, &deadline);
    uv_timer_start(&deadline, on_deadline, (load.timeout + load.seconds) * 1000, 0);
    for (uint64_t i = 0; i < load.connections; i++) {
        struct client *client = &clients[i];
        client->out = malloc(load.depth * (load.value_bytes + 128));
        if (!client->out)
            return UV_ENOMEM;
        client->open = true;
        client->socket.data = client->connect.data = client->parser.data = client;
        http_parser_init(&client->parser, HTTP_RESPONSE);
        uv_tcp_init(&load.loop, &client->socket);
        int bad = uv_tcp_connect(&client->connect, &client->socket,
                                 (const struct sockaddr *)&load.address, on_connected);
        if (bad)
            return bad;
    }
    uv_run(&load.loop, UV_RUN_DEFAULT);
    uv_loop_close(&load.loop);
    for (uint64_t i = 0; i < load.connections; i++)
        free(clients[i].out);
    free(clients);
    return 0;
}

static void report(void)
{
    static const double parts[4] = {0.5, 0.9, 0.99, 1};
    double seconds = (double)(uv_hrtime() - started_ns) / 1e9;
    double us[4];
    for (int i = 0; i < 4; i++)
        us[i] = (double)percentile(parts[i]) / 1e3;
    if (sent > answered)
        errors += sent - answered;
    if (load.json)
        printf("{\"requests\":%" PRIu64 ",\"puts\":%" PRIu64 ",\"not_found\":%" PRIu64
               ",\"errors\":%" PRIu64 ",\"seconds\":%.6f,\"requests_per_second\":%.1f,"
               "\"p50_us\":%.1f,\"p90_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n",
               answered, stored, not_found, errors, seconds, (double)answered / seconds, us[0],
               us[1], us[2], us[3]);
    else
        printf("requests  %" PRIu64 " in %.3f s, %.0f/s; %" PRIu64 " put, %" PRIu64 " not found\n"
               "latency   p50 %.0f us, p90 %.0f us, p99 %.0f us, max %.0f us\n"
               "errors    %" PRIu64 "\n",
               answered, seconds, (double)answered / seconds, stored, not_found, us[0], us[1],
               us[2], us[3], errors);
}

static const char usage[] =
    "usage: kv_load [OPTION...] --port PORT\n"
    "Puts and gets values of a kv_server. Exits with 1 if anything went wrong.\n"
    "  -p, --port PORT        of the server\n"
    "  -a, --address ADDRESS  in 127.0.0.0/8 (127.0.0.1)\n"
    "  -c, --connections N    at once (8)\n"
    "  -d, --depth N          requests at once on each of them, at most 64 (1)\n"
    "  -n, --requests N       in all (10000)\n"
    "  -t, --seconds N        instead of --requests\n"
    "  -w, --puts PERCENT     of the requests; the others are gets (20)\n"
    "  -k, --keys N           different ones (1000)\n"
    "  -f, --fill             put every key once first, so that each is found\n"
    "  -v, --value BYTES      (1024)\n"
    "  -s, --seed N           of what is random (1)\n"
    "      --timeout SECONDS  give up after (60)\n"
    "      --json             report as JSON\n";

static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *value >= min && *value <= max;
}

/* Only this machine: it is a load generator. */
static bool target(const char *address, uint64_t port)
{
    return uv_ip4_addr(address, (int)port, &load.address) == 0 &&
           ntohl(load.address.sin_addr.s_addr) >> 24 == 127;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"port", required_argument, NULL, 'p'},
                                            {"address", required_argument, NULL, 'a'},
                                            {"connections", required_argument, NULL, 'c'},
                                            {"depth", required_argument, NULL, 'd'},
                                            {"requests", required_argument, NULL, 'n'},
                                            {"seconds", required_argument, NULL, 't'},
                                            {"puts", required_argument, NULL, 'w'},
                                            {"keys", required_argument, NULL, 'k'},
                                            {"fill", no_argument, NULL, 'f'},
                                            {"value", required_argument, NULL, 'v'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"timeout", required_argument, NULL, 'T'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *address = "127.0.0.1";
    uint64_t port = 0;
    bool good = true;
    for (int c; (c = getopt_long(argc, argv, "p:a:c:d:n:t:w:k:fv:s:", options, NULL)) != -1;) {
        if (c == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (c == 'a')
            address = optarg;
        else if (c == 'f')
            load.fill = true;
        else if (c == 'j')
            load.json = true;
        else
            good = good && ((c == 'p' && number(optarg, 1, 65535, &port)) ||
                            (c == 'c' && number(optarg, 1, 10000, &load.connections)) ||
                            (c == 'd' && number(optarg, 1, DEPTH_MAX, &load.depth)) ||
                            (c == 'n' && number(optarg, 1, UINT32_MAX, &load.requests)) ||
                            (c == 't' && number(optarg, 1, 86400, &load.seconds)) ||
                            (c == 'w' && number(optarg, 0, 100, &load.put_percent)) ||
                            (c == 'k' && number(optarg, 1, UINT32_MAX, &load.keys)) ||
                            (c == 'v' && number(optarg, 0, VALUE_MAX, &load.value_bytes)) ||
                            (c == 's' && number(optarg, 0, UINT64_MAX, &load.seed)) ||
                            (c == 'T' && number(optarg, 1, 86400, &load.timeout)));
    }
    if (!good || optind != argc || port == 0 || !target(address, port)) {
        fputs(usage, stderr);
        return 2;
    }
    if (load.requests == 0 && load.seconds == 0)
        load.requests = 10000;
    signal(SIGPIPE, SIG_IGN);
    random_state = load.seed;
    started_ns = uv_hrtime();
    stop_ns = started_ns + load.seconds * 1000000000u;
    int bad = run();
    if (bad)
        fail("cannot run", bad);
    report();
    return errors ? 1 : 0;
}
