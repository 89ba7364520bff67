/* SPDX-License-Identifier: ISC */
/* What runs on each stream, and when nothing does. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "model/build.h"

struct weft_running *model_stream(struct weft_builder *b, uint32_t stream)
{
    while (stream >= b->streams) {
        if (!model_grow(&b->stream, b->streams, &b->stream_room, sizeof *b->stream))
            return NULL;
        b->stream[b->streams++] = (struct weft_running){.promise = WEFT_NONE};
    }
    return &b->stream[stream];
}

/* Stores the stream of the next run. As long as there is only one stream, this is not needed. */
static int note_stream(struct weft_builder *b, uint32_t stream)
{
    struct weft_model *m = b->m;
    if (stream == 0 && !m->run_stream)
        return 0;
    const bool first = !m->run_stream;
    if (!model_grow(&m->run_stream, m->runs, &b->run_stream_room, sizeof *m->run_stream))
        return model_no_room(b, m->runs, "runs");
    if (first)
        memset(m->run_stream, 0, m->runs * sizeof *m->run_stream);
    m->run_stream[m->runs] = stream;
    return 0;
}

static int add_run(struct weft_builder *b, uint32_t stream, uint32_t promise, int64_t start,
                   int64_t end, uint32_t again)
{
    struct weft_model *m = b->m;
    TRY(note_stream(b, stream));
    if (again >= WEFT_AGAIN_LEAST)
        APPEND(b, m->again, m->agains, b->again_room, "runs",
               (struct weft_again){.run = m->runs, .times = again});
    APPEND(b, m->run, m->runs, b->run_room, "runs",
           (struct weft_run){.start_ns = start, .end_ns = end, .next = promise});
    return 0;
}

static int add_sleep(struct weft_builder *b, uint32_t stream, int64_t start, int64_t end)
{
    struct weft_model *m = b->m;
    if (start > end)
        return 0;
    if (!model_grow(&m->sleep, m->sleeps, &b->sleep_room, sizeof *m->sleep) ||
        !model_grow(&b->sleeper, m->sleeps, &b->sleeper_room, sizeof *b->sleeper))
        return model_no_room(b, m->sleeps, "suspensions");
    b->sleeper[m->sleeps] = stream;
    m->sleep[m->sleeps++] = (struct weft_span){.start_ns = start, .end_ns = end};
    return 0;
}

int model_switch(struct weft_builder *b, struct weft_running *s, int64_t now, uint32_t next)
{
    const struct weft_model *m = b->m;
    const uint32_t p = s->promise, stream = (uint32_t)(s - b->stream);
    if (s->suspended && next != WEFT_NONE) {
        s->suspended = false;
        TRY(add_sleep(b, stream, s->suspended_ns, now));
    }
    if (p == next) {
        s->again += s->again < UINT32_MAX;
        return 0;
    }
    int64_t since = s->since_ns, end = now;
    uint32_t again = s->again;
    s->again = 0;
    s->promise = next;
    s->since_ns = now;
    if (p == WEFT_NONE)
        return 0;
    const struct weft_promise *ran = &m->promise[p];
    if (p != WEFT_ROOT && ran->outcome != WEFT_PENDING && ran->end_ns < end)
        end = ran->end_ns;
    if (end < since) /* it was resolved before */
        return 0;
    TRY(add_run(b, stream, p, since, end, again));
    return p == WEFT_ROOT && m->quirks.loop_is_sleep ? add_sleep(b, stream, since, end) : 0;
}

int model_suspend(struct weft_builder *b, struct weft_running *s)
{
    if (s->suspended)
        return 0;
    int rc = model_switch(b, s, b->now, WEFT_NONE);
    s->suspended = s->suspends = true;
    s->suspended_ns = b->now;
    return rc;
}

/* A stream goes to sleep or wakes up. */
struct change {
    int64_t time_ns;
    int64_t awake; /* 1 or -1: how many more streams are awake */
};

static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(y->awake, x->awake);
}

/* Finds when the process slept: when all streams did that are ever suspended. A stream is also
 * asleep before its first event, and after its last one unless it runs a promise. But nothing is
 * known about the time before the first event, and after the last one, of all streams. */
static int intersect_sleeps(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    size_t count = 0;
    struct change *change =
        weft_resize(NULL, 2 * ((uint64_t)m->sleeps + b->streams), sizeof *change);
    if (!change)
        return model_no_room(b, m->sleeps, "suspensions");
    for (uint32_t i = 0; i < m->sleeps; i++) {
        change[count++] = (struct change){m->sleep[i].start_ns, -1};
        change[count++] = (struct change){m->sleep[i].end_ns, 1};
    }
    for (uint32_t i = 0; i < b->streams; i++) {
        const struct weft_running *s = &b->stream[i];
        if (!s->suspends)
            continue;
        change[count++] = (struct change){s->first_ns, 1};
        change[count++] = (struct change){s->suspended ? m->end_ns : s->last_ns, -1};
    }
    qsort(change, count, sizeof *change, by_time);
    /* There may be more of them than before: if streams come one after the other, the times in
     * between are added. */
    struct weft_span *sleep = weft_resize(NULL, (uint64_t)count + 1, sizeof *sleep);
    if (!sleep) {
        free(change);
        return model_no_room(b, m->sleeps, "suspensions");
    }
    int64_t awake = 0;
    m->sleeps = 0;
    for (size_t i = 0; i < count; i++) {
        if (awake == 0 && i && change[i].time_ns > change[i - 1].time_ns)
            sleep[m->sleeps++] = (struct weft_span){change[i - 1].time_ns, change[i].time_ns};
        awake += change[i].awake;
    }
    free(change);
    free(m->sleep);
    m->sleep = sleep;
    return 0;
}

/* Stores when each stream was suspended. */
static int keep_idle(struct weft_builder *b)
{
    struct weft_model *m = b->m;
    m->idle = weft_resize(NULL, (uint64_t)m->sleeps + 1, sizeof *m->idle);
    if (!m->idle)
        return model_no_room(b, m->sleeps, "suspensions");
    for (uint32_t i = 0; i < m->sleeps; i++)
        m->idle[i] = (struct weft_idle){m->sleep[i].start_ns, m->sleep[i].end_ns, b->sleeper[i]};
    m->idles = m->sleeps;
    return 0;
}

int model_rest(struct weft_builder *b)
{
    int64_t end = b->m->end_ns;
    uint32_t sleepers = 0;
    bool awake = false;
    b->m->sleep_stream = b->m->quirks.loop_is_sleep ? 0 : WEFT_NONE;
    b->m->runs_ended = b->m->runs;
    for (uint32_t i = 0; i < b->streams; i++) {
        struct weft_running *s = &b->stream[i];
        const bool runs = s->promise != WEFT_NONE && s->promise != WEFT_ROOT;
        s->last_ns = runs ? end : s->last_ns;
        awake |= runs;
        TRY(model_switch(b, s, end, WEFT_NONE));
        if (s->suspended)
            TRY(add_sleep(b, i, s->suspended_ns, end));
        sleepers += s->suspends;
        if (s->suspends)
            b->m->sleep_stream = i;
        awake |= s->suspends && !s->suspended;
    }
    b->m->asleep = !awake && b->streams && (sleepers || b->m->quirks.loop_is_sleep);
    b->m->streams = b->streams;
    if (sleepers < 2)
        return 0;
    TRY(keep_idle(b));
    return intersect_sleeps(b);
}
