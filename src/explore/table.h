/* SPDX-License-Identifier: ISC */
/* The table beside the picture: promises by label, type, creator or finding, with the numbers of weft stats.
 *
 *     weft_explorer_table_show(e, WEFT_TABLE_LABEL);
 *     while (weft_explorer_work(e))
 *         ;
 *     const struct weft_table_view *t = weft_explorer_table(e);
 *     for (uint32_t i = 0; i < t->rows; i++)
 *         show(t->row[i].cell);
 *
 * Only promises count that the search finds, if there is one, that are alive in the measured range, if there is one, and
 * that the pinned promise created, directly or not, if one is pinned. Counts and latencies are of the whole promises; what
 * they waited, stood ready, ran and had of a core is of the measured range.
 *
 * Numbers are added up in steps, by weft_explorer_work; WEFT_CHANGED_TABLE says when there is something new. Until then
 * the table shows what it showed before. Texts are like all texts of the explorer. */
#pragma once

#include "explore/explore.h"

enum weft_table_by {
    WEFT_TABLE_LABEL,
    WEFT_TABLE_FAMILY, /* labels without their numbers */
    WEFT_TABLE_TYPE,
    WEFT_TABLE_CREATOR, /* by the label of what created them */
    WEFT_TABLE_FINDING, /* what a finding is about: its culprit, and those it affects */
    WEFT_TABLES
};

/* X(NAME, "name in links", "heading", "name in files") */
#define WEFT_TABLE_EACH_COLUMN(X)                                                                  \
    X(NAME, "name", "Name", "name")                                                                \
    X(COUNT, "count", "Count", "count")                                                            \
    X(TOTAL, "total", "Total", "total_ns")                                                         \
    X(P50, "p50", "p50", "p50_ns")                                                                 \
    X(P99, "p99", "p99", "p99_ns")                                                                 \
    X(MAX, "max", "Max", "max_ns")                                                                 \
    X(WAITING, "waiting", "Waiting", "waiting_ns")                                                 \
    X(READY, "ready", "Ready", "ready_ns")                                                         \
    X(RUNNING, "running", "Running", "running_ns")                                                 \
    X(FAILED, "failed", "Failed", "failed")                                                        \
    X(CPU, "cpu", "CPU", "cpu_ns")

enum weft_table_column {
#define X(NAME, ...) WEFT_TABLE_##NAME,
    WEFT_TABLE_EACH_COLUMN(X)
#undef X
        WEFT_TABLE_COLUMNS
};

struct weft_table_row {
    const char *cell[WEFT_TABLE_COLUMNS]; /* "": there is no such number */
    bool chosen;
};

/* Of the histogram of the chosen row. */
struct weft_table_bar {
    int64_t from_ns, to_ns; /* latencies from from_ns on, below to_ns */
    uint32_t count;
    const char *text; /* "1 ms to 2 ms: 12 promises" */
};

#define WEFT_TABLE_ROWS_MAX 1000
#define WEFT_TABLE_BARS_MAX 64

struct weft_table_view {
    bool open, working;
    enum weft_table_by by;
    enum weft_table_column sort;
    bool ascending; /* the smallest first; names: from Z to A */
    bool has_cpu;   /* there are samples; otherwise the column is empty */
    bool pinned;    /* only what a certain promise created */
    const char *
        about; /* "12 kinds, 1,204 promises alive in the measured range", or why there is nothing */
    const struct weft_table_row *row;
    uint32_t rows;
    uint64_t all; /* of which rows has the first ones */
    const char *
        bars_about; /* the chosen row's name, and how many latencies it has; "": no row is chosen */
    const struct weft_table_bar *bar;
    uint32_t bars, bar_max; /* the largest count */
};

extern const char *const weft_table_names[WEFT_TABLES];           /* "label" */
extern const char *const weft_table_headings[WEFT_TABLE_COLUMNS]; /* "p99" */

/* What is to be shown; valid until something changes. */
const struct weft_table_view *weft_explorer_table(struct weft_explorer *e);

/* Opens it, or shows something else in it. WEFT_TABLES: closes it. */
void weft_explorer_table_show(struct weft_explorer *e, enum weft_table_by by);

/* Sorts by a column, the largest first (names: from A to Z); if it is already, the other way around. */
void weft_explorer_table_sort(struct weft_explorer *e, enum weft_table_column column);

/* Goes to the slowest promise of a row; if the selection is one of the row that was reached in this way, to the next
 * slowest; after the fastest, to the slowest again. The row is chosen. In a large trace, weft_explorer_work gets there.
 * Returns false if there is no such row. */
bool weft_explorer_table_go(struct weft_explorer *e, uint32_t row);

/* Searches for promises whose lengths are those of the bars from `first` to `last`, besides what is searched for. */
void weft_explorer_table_brush(struct weft_explorer *e, uint32_t first, uint32_t last);

/* Pins the selection: from then on the table has only what it created. If it is pinned, or nothing is selected: all
 * again. Returns false if there is nothing to do. */
bool weft_explorer_table_pin(struct weft_explorer *e);

/* All rows as lines of values that are separated by tabs, after a line with the names of the columns; times in
 * nanoseconds. Sorting takes a while if there are very many. NULL: no memory. */
const char *weft_explorer_table_tsv(struct weft_explorer *e);
