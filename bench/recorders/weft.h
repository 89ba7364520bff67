/* SPDX-License-Identifier: ISC */
/* weft; with -DWEFT_DISABLE, nothing: what the workloads themselves cost. */
#include <string.h>

#include <weft/weft.h>

#include "record.h"

struct recorder {
    char none;
};

static struct weft_counter counted = WEFT_COUNTER("counted");

static void recorder_start(const struct options *o)
{
    struct weft_options w = {.size = sizeof w, .path = o->path, .bytes = o->bytes};
    if (o->turn_clock) {
#ifdef WEFT_START_TURN_CLOCK
        w.flags |= WEFT_START_TURN_CLOCK;
#else
        fail("this libweft takes the time for each event");
#endif
    }
    int rc = o->off ? 0 : weft_start(&w);
    if (rc < 0)
        fail(strerror(-rc));
}

static void recorder_stop(void)
{
    weft_stop();
}

static void recorder_enter(struct recorder *r, const struct options *o, unsigned thread)
{
    (void)r, (void)o, (void)thread;
}

static void recorder_leave(struct recorder *r, uint64_t calls)
{
    (void)r, (void)calls;
}

#define CREATE(r, type, label) weft_create(#type, label)
#define LABEL(r, p, text) weft_label(p, text)
#define RUN(r, p) weft_run(p)
#define WAIT(r, p) weft_wait(p)
#define WAKE(r, reader, p) weft_wake(reader, p)
#define FULFIL(r, p) weft_fulfill(p)
#define NOTIFY(r, p) weft_notify(p)
#define COUNT(r, n) weft_counter_add(&counted, n)
#define TURN(r) (weft_suspend(WEFT_WAIT_FOR_WORK), weft_resume())
