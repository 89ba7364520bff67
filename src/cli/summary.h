/* SPDX-License-Identifier: ISC */
/* A trace in numbers, found in one pass over its events.
 *
 *     struct cli_summary s;
 *     if (cli_summary_open(&s, path) && cli_summary_count(&s))
 *         printf("%" PRIu64 "\n", s.events_total);
 *     cli_summary_close(&s);
 *
 * Prints what is wrong on standard error. One thread. */
#pragma once

#include "cli/common.h"

struct cli_summary {
    const char *path;
    struct weft_reader *reader; /* NULL: failed */
    uint64_t events[WEFT_EVENT_KINDS];
    uint64_t events_total;
    uint64_t promises;
    uint64_t span_ns; /* from the first event to the latest */
    /* The reader's, complete after counting. What they point to belongs to the reader, or to the summary. */
    struct weft_reader_facts facts;
    struct weft_damage damage;
    struct weft_stream_facts *stream; /* to be freed */
};

/* On failure, both print why and return false. */
bool cli_summary_open(struct cli_summary *s, const char *path);
bool cli_summary_count(struct cli_summary *s);

/* The same from the model that was made of all that the reader handed out. */
void cli_summary_take(struct cli_summary *s, const struct weft_model *m);

/* Also after a failure. */
void cli_summary_close(struct cli_summary *s);
