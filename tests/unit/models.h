/* SPDX-License-Identifier: ISC */
/* What the tests of models expect of promises. */
#pragma once

#include <inttypes.h>

#include "trace.h"

/* -1 for the loop, - for none. */
static inline void print_id(FILE *out, const struct weft_model *m, uint32_t promise)
{
    if (promise == WEFT_NONE)
        fputs(" -", out);
    else
        fprintf(out, " %" PRId64, (int64_t)m->promise[promise].id);
}

/* The runs of a promise: "10-20 30-40". */
static inline void expect_runs(const struct weft_model *m, uint64_t id, const char *wanted)
{
    char found[256] = "";
    size_t used = 0;
    uint32_t p = weft_model_find(m, id);
    assert_int_not_equal(p, WEFT_NONE);
    for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%" PRId64 "-%" PRId64,
                                 used ? " " : "", m->run[r].start_ns, m->run[r].end_ns);
    assert_string_equal(found, wanted);
}
