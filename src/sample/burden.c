/* SPDX-License-Identifier: ISC */
/* What it costs to record when threads leave their cores. On a busy server that happens a hundred thousand
 * times a second. Each time costs the server one to two microseconds, and the sampler about the same. */
#include <string.h>

#include "sample/state.h"

/* This rate costs 1 % of a core. A burst of this size is tolerated as well, as when a program starts. */
#define A_SECOND 4000u
#define AT_ONCE 5000u

/* The idle thread does not count, and a thread that comes back has left before. */
void sample_burden_count(struct sample_burden *b, const uint8_t *bytes, size_t size)
{
    struct perf_event_header head;
    uint32_t thread;
    while (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
        if (head.size < sizeof head || head.size > size)
            return;
        if ((head.type == PERF_RECORD_SWITCH || head.type == PERF_RECORD_SWITCH_CPU_WIDE) &&
            head.misc & PERF_RECORD_MISC_SWITCH_OUT &&
            head.size >= sizeof head + SAMPLE_PERF_TRAILER_BYTES) {
            memcpy(&thread, bytes + head.size - SAMPLE_PERF_TRAILER_BYTES + 4, sizeof thread);
            b->left += thread != 0;
        }
        bytes += head.size;
        size -= head.size;
    }
}

bool sample_burden_look(struct sample_burden *b, uint64_t now_ns)
{
    if (b->over)
        return false;
    if (b->looked_ns == 0)
        b->looked_ns = b->window_ns = b->started_ns = now_ns;
    const uint64_t borne = (uint64_t)((double)(now_ns - b->looked_ns) * A_SECOND / 1e9);
    b->looked_ns = now_ns;
    b->window_left += b->left;
    b->level += b->left;
    b->left = 0;
    if (b->level > borne) {
        b->level -= borne;
    } else {
        b->level = b->window_left = 0;
        b->window_ns = now_ns;
    }
    b->over = b->level > AT_ONCE;
    return b->over;
}

uint64_t sample_burden_rate(const struct sample_burden *b)
{
    const uint64_t ns = b->looked_ns - b->window_ns;
    return (uint64_t)((double)b->window_left * 1e9 / (double)(ns ? ns : 1));
}
