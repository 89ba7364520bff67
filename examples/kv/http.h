/* SPDX-License-Identifier: ISC */
/* HTTP/1.1 in front of the store: its connections and requests. */
#ifndef KV_HTTP_H
#define KV_HTTP_H

#include "store.h"

struct kv_http {
    uv_loop_t *loop; /* set these first */
    struct kv_store *store;
    uint64_t max_value, idle_ms;

    struct connection *connections;
    unsigned open;
    uint64_t requests;
    void (*stopped)(void);
};

/* Takes the connection that the listener has to offer. */
void kv_http_accept(struct kv_http *http, uv_stream_t *listener);

/* Closes what is idle; requests that have arrived get their answers. Then calls stopped, once. */
void kv_http_stop(struct kv_http *http, void (*stopped)(void));

#endif
