/* SPDX-License-Identifier: ISC */
/* The calls of the workloads for a recorder that knows nothing of promises: each becomes one event, with the
 * fields that weft's has. What runs is known for each thread, as in weft. The recorder gives
 *
 *     record_create(r, parent, child, type, label)
 *     record_pair(r, KIND, a, b)
 *     record_label(r, p, text) */
#pragma once

#include <stdint.h>

/* Numbers and names of mirage-profile, where it has them. */
enum kind {
    KIND_creates = 0,
    KIND_read = 1,
    KIND_fulfills = 2,
    KIND_label = 5,
    KIND_switch = 7,
    KIND_try_read = 10,
    KIND_counter = 11,
    KIND_notify = 13,
};

struct promises {
    uint64_t running, last;
};

static inline void promises_init(struct promises *p, unsigned thread)
{
    *p = (struct promises){.running = UINT64_MAX, .last = (uint64_t)thread << 40};
}

#define CREATE(r, type, label)                                                                     \
    __extension__({                                                                                \
        const char *label_ = (label);                                                              \
        record_create((r), (r)->promises.running, ++(r)->promises.last, TYPE_##type, label_);      \
        (r)->promises.last;                                                                        \
    })
#define LABEL(r, p, text) record_label((r), (p), (text))
#define RUN(r, p)                                                                                  \
    do {                                                                                           \
        (r)->promises.running = (p);                                                               \
        record_pair((r), switch, (r)->promises.running, 0);                                        \
    } while (0)
#define WAIT(r, p) record_pair((r), try_read, (r)->promises.running, (p))
#define WAKE(r, reader, p)                                                                         \
    do {                                                                                           \
        (r)->promises.running = (reader);                                                          \
        record_pair((r), read, (r)->promises.running, (p));                                        \
    } while (0)
#define FULFIL(r, p) record_pair((r), fulfills, (r)->promises.running, (p))
#define NOTIFY(r, p) record_pair((r), notify, (r)->promises.running, (p))
#define COUNT(r, n) record_pair((r), counter, (r)->promises.running, (uint64_t)(n))
#define TURN(r)                                                                                    \
    do {                                                                                           \
        RUN((r), UINT64_MAX);                                                                      \
        RUN((r), UINT64_MAX);                                                                      \
    } while (0)
