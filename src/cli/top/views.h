/* SPDX-License-Identifier: ISC */
/* What weft top shows, as lines: of the screen, or of plain text. */
#pragma once

#include "cli/top/top.h"
#include "cli/top/page.h"

/* "pending", "tree", "latency", "threads", "counters", then NULL. */
extern const char *const top_view_names[];

/* By what the rows of a view can be sorted, then NULL; the first is the default. */
const char *const *top_view_sorts(enum top_view view);

/* The lines above the views: what is known of each process, in at most `most` lines. */
void top_head_put(struct top_page *page, const struct top *t, int columns, uint32_t most);

/* A view: a line with the heads of its columns, then its rows, at most `most`, and a line that says how many more there
 * are. */
void top_view_put(struct top_page *page, const struct top *t, enum top_view view, int columns,
                  uint32_t most);

/* All that is known about what a line of a view is about. */
void top_details_put(struct top_page *page, const struct top *t, const struct top_key *key,
                     int columns);

/* If nothing records: what to do. */
void top_nothing_put(struct top_page *page, const struct top *t);

/* ---- Shared by the files that make these lines and the JSON ---- */

enum { TOP_NAME_BYTES = 640, TOP_NEEDS_BYTES = 2 * TOP_NAME_BYTES + 64 };

/* "GET /x (request)", "request", "#12": for one promise. Not clean. */
void top_name(char name[TOP_NAME_BYTES], const struct live *l, const struct live_promise *p);

/* What a promise waits for, in words; "" if nothing is known. */
void top_needs(char text[TOP_NEEDS_BYTES], const struct live *l, const struct live_promise *p);

/* Since when it waits, or 0. */
uint64_t top_age_ns(const struct top_process *p, uint64_t since_ns);

struct top_rate {
    char text[32];
};
/* "0", "0.2", "12", "12.3 k". */
struct top_rate top_rate(uint64_t count, uint64_t ns);

/* Whether the text has the filter in it; case does not matter. */
bool top_matches(const struct top *t, const char *text);
bool top_promise_matches(const struct top *t, const struct top_process *p,
                         const struct live_promise *promise);
/* The one with that id; NULL: there is none (any more). */
const struct top_process *top_process_of(const struct top *t, pid_t pid);

/* A row of a view before it is put: which, of which process. */
struct top_item {
    const struct top_process *p;
    uint32_t index;
};

/* The first `most` items of a view in the order asked for; *all: how many match. The caller frees the array, which is
 * NULL if there are none, or no memory. */
struct top_item *top_pick(const struct top *t, enum top_view view, uint32_t most, uint32_t *count,
                          uint64_t *all);

/* The percentiles of a row in the window, and its largest latency, in the window. */
uint64_t top_row_max_ns(const struct live_row *r);
const struct live_row *top_row(const struct top_process *p, uint32_t index);
uint64_t top_row_ended(const struct live_row *r);
uint64_t top_row_measured(const struct live_row *r);
