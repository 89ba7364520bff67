/* SPDX-License-Identifier: ISC */
/* Names: evdns. */
#include <arpa/inet.h>
#include <stdlib.h>

#include <event2/dns.h>
#include <event2/util.h>

#include "libevent.h"

LIBEVENT(evdns_getaddrinfo);
LIBEVENT(evdns_base_resolve_ipv4);
LIBEVENT(evdns_base_resolve_ipv6);
LIBEVENT(evdns_base_resolve_reverse);
LIBEVENT(evdns_base_resolve_reverse_ipv6);
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

static struct libevent_pair *new_query(evdns_callback_type callback, void *argument,
                                       const char *what)
{
    if (!adapter_on() || !callback || libevent_is_own((const void *)callback))
        return NULL;
    return new_pair((void *)callback, argument, what);
}

static struct evdns_request *sent(struct libevent_pair *pair, struct evdns_request *request)
{
    begun(pair, request == NULL);
    return request;
}

ADAPTER_EXPORT struct evdns_request *evdns_base_resolve_ipv4(struct evdns_base *base,
                                                             const char *name, int flags,
                                                             evdns_callback_type callback,
                                                             void *argument)
{
    struct libevent_pair *pair = new_query(callback, argument, name);
    if (!pair)
        return REAL(evdns_base_resolve_ipv4)(base, name, flags, callback, argument);
    return sent(pair, REAL(evdns_base_resolve_ipv4)(base, name, flags, on_answer, pair));
}

ADAPTER_EXPORT struct evdns_request *evdns_base_resolve_ipv6(struct evdns_base *base,
                                                             const char *name, int flags,
                                                             evdns_callback_type callback,
                                                             void *argument)
{
    struct libevent_pair *pair = new_query(callback, argument, name);
    if (!pair)
        return REAL(evdns_base_resolve_ipv6)(base, name, flags, callback, argument);
    return sent(pair, REAL(evdns_base_resolve_ipv6)(base, name, flags, on_answer, pair));
}

static const char *reverse_of(char text[ADAPTER_TEXT], int family, const void *address)
{
    char ip[INET6_ADDRSTRLEN];
    snprintf(text, ADAPTER_TEXT, "name of %s", inet_ntop(family, address, ip, sizeof ip));
    return text;
}

ADAPTER_EXPORT struct evdns_request *evdns_base_resolve_reverse(struct evdns_base *base,
                                                                const struct in_addr *address,
                                                                int flags,
                                                                evdns_callback_type callback,
                                                                void *argument)
{
    char text[ADAPTER_TEXT];
    struct libevent_pair *pair = new_query(callback, argument, reverse_of(text, AF_INET, address));
    if (!pair)
        return REAL(evdns_base_resolve_reverse)(base, address, flags, callback, argument);
    return sent(pair, REAL(evdns_base_resolve_reverse)(base, address, flags, on_answer, pair));
}

ADAPTER_EXPORT struct evdns_request *evdns_base_resolve_reverse_ipv6(struct evdns_base *base,
                                                                     const struct in6_addr *address,
                                                                     int flags,
                                                                     evdns_callback_type callback,
                                                                     void *argument)
{
    char text[ADAPTER_TEXT];
    struct libevent_pair *pair = new_query(callback, argument, reverse_of(text, AF_INET6, address));
    if (!pair)
        return REAL(evdns_base_resolve_reverse_ipv6)(base, address, flags, callback, argument);
    return sent(pair, REAL(evdns_base_resolve_reverse_ipv6)(base, address, flags, on_answer, pair));
}
