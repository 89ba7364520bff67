/* SPDX-License-Identifier: ISC */
/* What the parts of the table share: table.c adds up and does what the user wants, table_text.c sorts and writes. */
#pragma once

#include "analyse/stats.h"
#include "explore/state.h"
#include "explore/table.h"

enum {
    TABLE_NAME_BYTES = 160,
    TABLE_CELL_BYTES = sizeof(struct weft_figure),
};

/* What a table is of. */
struct explore_table_of {
    unsigned pane;
    enum weft_table_by by;
    int64_t from_ns, to_ns;
    uint32_t pinned; /* or WEFT_NONE */
    const struct weft_model *model;
    const struct weft_search *search;
    const struct weft_history *history;
    const struct weft_analysis *analysis;
};

enum explore_table_phase { TABLE_NOTHING, TABLE_CPU, TABLE_ADD, TABLE_DONE };

struct explore_table_shown {
    char name[TABLE_NAME_BYTES], cell[WEFT_TABLE_COLUMNS][TABLE_CELL_BYTES];
};

struct explore_table {
    struct weft_table_view view;
    struct explore_table_of of; /* what the work, or what is shown, is of */
    enum explore_table_phase phase;
    struct weft_stats_work *work;
    uint32_t sample;  /* the next one */
    uint64_t *cpu;    /* by promise, or NULL: there are no samples */
    uint8_t *created; /* by promise: whether the pinned one created it; NULL: nothing is pinned */
    struct weft_stats_member *member;
    unsigned pinned_pane, kind_pane;
    uint32_t pinned, kind; /* promises: kind is one of the chosen row; or WEFT_NONE */
    struct weft_stats_seek
        seek;         /* for the promise to go to; row: WEFT_NONE: nothing is looked for */
    uint32_t went_to; /* the promise that the last click on a row led to */
    uint32_t *rank;   /* of the rows that are shown: rows of the result */
    struct explore_table_shown *shown;
    struct weft_table_row *row;
    struct weft_table_bar bar[WEFT_TABLE_BARS_MAX];
    char bar_text[WEFT_TABLE_BARS_MAX][150];
    char about[300], bars_about[TABLE_NAME_BYTES + 80];
    char *tsv;
    uint32_t tsv_size, tsv_room;
    bool tsv_failed;
    bool is_stale; /* the texts */
};

/* The result's row that is chosen, or WEFT_NONE. */
uint32_t explore_table_chosen(const struct explore_table *t);

/* Makes the rows, the histogram and the texts of what was added up. */
void explore_table_fill(struct explore_table *t);
