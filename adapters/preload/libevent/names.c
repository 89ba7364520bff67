/* SPDX-License-Identifier: ISC */
/* Names: evdns. */
#include <arpa/inet.h>
#include <stdlib.h>

#include <event2/dns.h>
#include <event2/util.h>

#include "libevent.h"

LIBEVENT(evdns_getaddrinfo);
LIBEVENT(evdns_err_to_string);
LIBEVENT(evutil_gai_strerror);

/* Of a pair: who frees it. The callback may run before the call returns, or on another thread. */
enum state { BEGINS, BEGUN, CALLED };

static struct libevent_pair *new_pair(void *callback, void *argument, const char *what)
{
    struct libevent_pair *pair = libevent_pair_new(callback, argument);
    if (pair) {
        pair->promise = adapter_create(callback, "lookup", what);
        weft_should_resolve(pair->promise);
    }
    return pair;
}

static struct libevent_pair called(struct libevent_pair *pair)
{
    const struct libevent_pair copy = *pair;
    if (__atomic_exchange_n(&pair->state, CALLED, __ATOMIC_ACQ_REL) == BEGUN)
        free(pair);
    return copy;
}

/* The call has returned. no_callback: it failed. */
static void begun(struct libevent_pair *pair, bool no_callback)
{
    if (__atomic_exchange_n(&pair->state, BEGUN, __ATOMIC_ACQ_REL) == CALLED) {
        free(pair);
    } else if (no_callback) {
        weft_fail(pair->promise, "it could not be sent");
        free(pair);
    }
}

static void on_addresses(int result, struct evutil_addrinfo *addresses, void *argument)
{
    const struct libevent_pair pair = called(argument);
    struct libevent_frame f;
    libevent_begin(&f, pair.promise,
                   result == 0                   ? LIBEVENT_FULFILLED
                   : result == EVUTIL_EAI_CANCEL ? LIBEVENT_CANCELLED
                                                 : LIBEVENT_FAILED,
                   result ? REAL(evutil_gai_strerror)(result) : NULL);
    ((evdns_getaddrinfo_cb)pair.callback)(result, addresses, pair.argument);
    libevent_end(&f);
}

ADAPTER_EXPORT struct evdns_getaddrinfo_request *evdns_getaddrinfo(
    struct evdns_base *base, const char *host, const char *service,
    const struct evutil_addrinfo *hints, evdns_getaddrinfo_cb callback, void *argument)
{
    struct libevent_pair *pair = NULL;
    if (adapter_on() && !libevent_is_own((const void *)callback))
        pair = new_pair((void *)callback, argument, host);
    if (!pair)
        return REAL(evdns_getaddrinfo)(base, host, service, hints, callback, argument);
    adapter_enter();
    struct evdns_getaddrinfo_request *request =
        REAL(evdns_getaddrinfo)(base, host, service, hints, on_addresses, pair);
    adapter_leave();
    begun(pair, false);
    return request;
}

static void on_answer(int result, char type, int count, int ttl, void *addresses, void *argument)
{
    const struct libevent_pair pair = called(argument);
    struct libevent_frame f;
    libevent_begin(&f, pair.promise,
                   result == DNS_ERR_NONE     ? LIBEVENT_FULFILLED
                   : result == DNS_ERR_CANCEL ? LIBEVENT_CANCELLED
                                              : LIBEVENT_FAILED,
                   result ? REAL(evdns_err_to_string)(result) : NULL);
    ((evdns_callback_type)pair.callback)(result, type, count, ttl, addresses, pair.argument);
    libevent_end(&f);
}

static bool is_query(evdns_callback_type callback)
{
    return adapter_on() && callback && !libevent_is_own((const void *)callback);
}

static const char *reverse_of(char text[ADAPTER_TEXT], int family, const void *address)
{
    char ip[INET6_ADDRSTRLEN];
    snprintf(text, ADAPTER_TEXT, "name of %s", inet_ntop(family, address, ip, sizeof ip));
    return text;
}

/* type, of: what is asked for; what: an expression that may fill `text`. */
#define QUERY(name, type, of, what)                                                                \
    LIBEVENT(name);                                                                                \
    ADAPTER_EXPORT struct evdns_request *name(struct evdns_base *base, type of, int flags,         \
                                              evdns_callback_type callback, void *argument)        \
    {                                                                                              \
        char text[ADAPTER_TEXT];                                                                   \
        (void)text;                                                                                \
        struct libevent_pair *pair =                                                               \
            is_query(callback) ? new_pair((void *)callback, argument, what) : NULL;                \
        if (!pair)                                                                                 \
            return REAL(name)(base, of, flags, callback, argument);                                \
        struct evdns_request *request = REAL(name)(base, of, flags, on_answer, pair);              \
        begun(pair, request == NULL);                                                              \
        return request;                                                                            \
    }

QUERY(evdns_base_resolve_ipv4, const char *, host, host)
QUERY(evdns_base_resolve_ipv6, const char *, host, host)
QUERY(evdns_base_resolve_reverse, const struct in_addr *, address,
      reverse_of(text, AF_INET, address))
QUERY(evdns_base_resolve_reverse_ipv6, const struct in6_addr *, address,
      reverse_of(text, AF_INET6, address))
