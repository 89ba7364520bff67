/* SPDX-License-Identifier: ISC */
/* LTTng-UST. bench/run-record starts its daemon and a session. */
#include "record.h"
#include "recorders/lttng_provider.h"
#include "recorders/peer.h"

struct recorder {
    struct promises promises;
};

#define record_create(r, parent, child, type, label)                                               \
    lttng_ust_tracepoint(weft_bench, creates, (parent), (child), (type), (label) ? (label) : "")
#define record_pair(r, kind, a, b) lttng_ust_tracepoint(weft_bench, kind, (a), (b))
#define record_label(r, p, text) lttng_ust_tracepoint(weft_bench, label, (p), (text))

static void recorder_start(const struct options *o)
{
    bool on = lttng_ust_tracepoint_enabled(weft_bench, fulfills) != 0;
    if (on == o->off)
        fail(on ? "LTTng is on" : "LTTng is off: there is no session for weft_bench");
}

static void recorder_stop(void)
{
}

static void recorder_enter(struct recorder *r, const struct options *o, unsigned thread)
{
    (void)o;
    promises_init(&r->promises, thread);
}

static void recorder_leave(struct recorder *r, uint64_t calls)
{
    (void)r, (void)calls;
}
