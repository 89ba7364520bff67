/* SPDX-License-Identifier: ISC */
/* A trace in numbers, found in one pass over its events.
 *
 *     struct weft__summary s;
 *     if (weft__summary_open(&s, path) && weft__summary_count(&s))
 *         printf("%" PRIu64 "\n", s.events_total);
 *     weft__summary_close(&s);
 *
 * Says on standard error what is wrong. One thread. */
#ifndef WEFT_CLI_SUMMARY_H
#define WEFT_CLI_SUMMARY_H

#include "cli/common.h"

struct weft__summary {
    const char *path;
    struct weft_reader *reader; /* its facts and damage are complete after counting; NULL: failed */
    uint64_t events[WEFT_EVENT_KINDS];
    uint64_t events_total;
    uint64_t promises;
    uint64_t span_ns; /* from the first event to the latest */
};

/* Both return false after saying what is wrong. */
bool weft__summary_open(struct weft__summary *s, const char *path);
bool weft__summary_count(struct weft__summary *s);

/* Also after a failure. */
void weft__summary_close(struct weft__summary *s);

#endif
