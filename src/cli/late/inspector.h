/* SPDX-License-Identifier: ISC */
/* Speaks to the inspector of a Node.js process: HTTP and WebSocket on the loopback (libsoup). The process may be hostile:
 * what it sends is limited. Times are CLOCK_MONOTONIC. One thread. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_inspector;

struct cli_inspector_peer {
    const char *host; /* "127.0.0.1" or "[::1]" */
    uint16_t port;
    /* Called for each connection, from that port, before anything is sent. False: it is somebody else. */
    bool (*is_peer)(void *data, uint16_t from);
    void *data;
};

struct cli_inspector_error {
    bool late; /* it has not answered in time */
    char text[256];
};

/* peer stays the caller's, and must live as long. NULL: *e says why. */
struct cli_inspector *cli_inspector_open(const struct cli_inspector_peer *peer, int64_t until_ns,
                                         struct cli_inspector_error *e);

/* Calls a method with these parameters, which become the callee's. Returns its result, which is the caller's; NULL: *e
 * says why. */
json_t *cli_inspector_call(struct cli_inspector *i, const char *method, json_t *params,
                           int64_t until_ns, struct cli_inspector_error *e);

/* The same in two parts: between them the process answers. */
void cli_inspector_ask(struct cli_inspector *i, const char *method, json_t *params);
json_t *cli_inspector_answer(struct cli_inspector *i, int64_t until_ns,
                             struct cli_inspector_error *e);

/* Calls a method after which the other side closes the connection. False: it has not in that time. */
bool cli_inspector_last(struct cli_inspector *i, const char *method, json_t *params,
                        int64_t until_ns);

/* NULL is allowed. */
void cli_inspector_close(struct cli_inspector *i);
