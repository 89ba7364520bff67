/* SPDX-License-Identifier: ISC */
/* LTTng-UST's events, one for each call of the workloads. It includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER weft_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "recorders/lttng_provider.h"

#if !defined BENCH_LTTNG_PROVIDER_H || defined LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(weft_bench, creates,
    LTTNG_UST_TP_ARGS(uint64_t, parent, uint64_t, child, uint8_t, type, const char *, label),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, parent, parent)
        lttng_ust_field_integer(uint64_t, child, child)
        lttng_ust_field_integer(uint8_t, type, type)
        lttng_ust_field_string(label, label)))

LTTNG_UST_TRACEPOINT_EVENT(weft_bench, label,
    LTTNG_UST_TP_ARGS(uint64_t, promise, const char *, text),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, promise, promise)
        lttng_ust_field_string(text, text)))

#define BENCH_PAIR(kind)                                        \
    LTTNG_UST_TRACEPOINT_EVENT(weft_bench, kind,                \
        LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b),            \
        LTTNG_UST_TP_FIELDS(                                    \
            lttng_ust_field_integer(uint64_t, a, a)             \
            lttng_ust_field_integer(uint64_t, b, b)))
BENCH_PAIR(read)
BENCH_PAIR(fulfills)
BENCH_PAIR(switch)
BENCH_PAIR(try_read)
BENCH_PAIR(counter)
BENCH_PAIR(notify)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
