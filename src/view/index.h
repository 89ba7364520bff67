/* SPDX-License-Identifier: ISC */
/* What is stored in addition to a layout, so that any part of a large trace can be drawn without reading all of it.
 * Private to src/view.
 *
 * - For lines, sleeps and pauses, the greatest length in each block: used to find all long ones in a range.
 * - The runs of each row, sorted by time.
 * - Times between which about equally many lines begin (so a burst in a silent hour gets its share), and for
 *   each interval and block of rows how much lines and runs cover: this is what is drawn if many fall
 *   into one pixel. Coarser levels join four intervals each.
 * - For some of these times, the place in each row: used to find what is visible without searching whole rows.
 * - The weight of each interaction, in one byte, and the maximum of each block.
 * - The labels of promises that have many.
 * - What was done to a promise; what became one; the changes of each counter. */
#pragma once

#include "base/order.h"
#include "view/scene.h"

#define VIEW_BLOCK 16     /* lengths in a block */
#define VIEW_HEAP 64      /* interactions in a block */
#define VIEW_LEVELS 12    /* of cells */
#define VIEW_CHANGES 16   /* changes of a counter in a block */
#define VIEW_SHARE 65280u /* 255 * 256: a row that is covered completely */

/* Maximum lengths of blocks, and of blocks of blocks. */
struct view_lengths {
    int64_t *most[2];
};

/* Lists of numbers by key / 16, so that the table of keys stays small; whoever reads a list compares the keys. */
struct view_groups {
    uint32_t *first; /* of each 16 keys */
    uint32_t *item;
};

/* Stretches of time in which the process sleeps, collects garbage or lacks events, in the order of the model. */
struct view_regions {
    const int64_t (*time)[2]; /* borrowed from the model */
    uint32_t count;
    bool sorted; /* none begins before the one before it ends */
    struct view_lengths lengths;
};

struct view_run {
    int64_t start_ns, end_ns;
};

struct view_extremes { /* of a block of changes */
    int64_t time_ns;   /* of the first */
    int64_t min, max, last;
};

/* The labels of a promise that has many. */
struct view_chain {
    uint32_t promise;
    uint32_t first, end; /* of those that are shown, in order */
    uint32_t name;       /* the first label that is a text, or WEFT_NONE */
    uint32_t last;       /* while it is made */
    bool in_order;       /* of time; otherwise the others are not there */
};

struct view_chains {
    struct view_chain *list; /* by promise */
    uint32_t *label, count;
};

struct weft_index {
    struct view_lengths lines;
    struct view_regions sleeps, pauses, missings;

    uint32_t *run_first;  /* runs of row r are run_first[r] … run_first[r + 1] */
    struct view_run *run; /* in a row, in order of time, without overlaps */

    uint32_t buckets;
    int64_t *time;       /* bucket b is from time[b] to time[b + 1] */
    uint32_t blocks;     /* of rows */
    uint32_t *block_row; /* first row of each; and all rows */
    uint16_t *block_of;  /* each row */
    uint32_t levels;
    uint32_t
        level_at[VIEW_LEVELS + 1]; /* where the cells of a level begin, within those of a block */
    uint16_t *cell;                /* cover | running << 8, level_at[levels] for each block */
    uint64_t *failed;              /* a bit for each bucket, failed_words for each block */
    uint32_t failed_words;

    uint32_t cursor_step;            /* buckets */
    uint32_t cursors, *cursor, rows; /* at time[i * cursor_step]: [i * rows + row] */

    uint32_t *by_time;        /* the interactions; NULL: they are recorded in that order */
    uint8_t *weight;          /* of each, in that order; 0: not drawn */
    uint8_t *weightiest;      /* of each block */
    uint32_t *drawable;       /* how many with a weight lie before each block */
    struct view_groups about; /* interactions by the promise they act on */
    struct view_groups became;

    struct view_chains chains;

    uint32_t *change_first; /* where each counter begins in `change`; with one extra entry */
    uint32_t *change;       /* of each counter by time */
    uint32_t *extremes_first;
    struct view_extremes *extremes;
};

/* Returns 0 or WEFT_E_NOMEM; *out is then NULL. */
int view_index_new(struct weft_index **out, const struct weft_model *m,
                   const struct weft_layout *l);

/* Its two parts. They write different things, so two threads may make them at the same time. They return 0, WEFT_E_NOMEM or, the
 * first one, WEFT_E_CANCELED; the index is to be freed in any case. */
int view_index_rows(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l,
                    weft_progress_fn *progress, void *data);
int view_index_rest(struct weft_index *x, const struct weft_model *m);
void view_index_free(struct weft_index *x);

/* The part of making it that is in cells.c. Returns 0 or WEFT_E_NOMEM. */
int view_index_cells(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l);

/* The part in chains.c. The same. */
int view_chains_init(struct view_chains *x, const struct weft_model *m);

/* ---- Questions ---- */

/* Like WEFT_SEEK, where the place is probably soon after low. */
#define VIEW_GALLOP(low, end, holds)                                                               \
    do {                                                                                           \
        __typeof__(low) high = (low);                                                              \
        for (uint32_t step = 1; high < (end); step *= 2) {                                         \
            const __typeof__(low) middle = high;                                                   \
            if (!(holds))                                                                          \
                break;                                                                             \
            (low) = high + 1;                                                                      \
            high = (end)-high > step ? high + step : (end);                                        \
        }                                                                                          \
        WEFT_SEEK(low, high, holds);                                                               \
    } while (0)

/* The first run of a row that can end at or after a time. */
uint32_t view_run_at(const struct weft_index *x, uint32_t row, int64_t time_ns);

/* The next span in [span, end) whose block says that it may be that long. */
uint32_t view_long_span(const struct weft_index *x, const struct weft_layout *l, uint32_t span,
                        uint32_t end, int64_t length_ns);

/* The bucket of a time; 0 or the last one where it lies outside. */
uint32_t view_bucket_at(const struct weft_index *x, int64_t time_ns);

/* The first span of a row that reaches time_ns; bucket is the bucket of that time. */
uint32_t view_span_reaching(const struct weft_index *x, const struct weft_layout *l, uint32_t row,
                            uint32_t bucket, int64_t time_ns);

/* The first span of a row that begins after time_ns. */
uint32_t view_span_after(const struct weft_index *x, const struct weft_layout *l, uint32_t row,
                         uint32_t bucket, int64_t time_ns);

/* Prefetches for a call of view_span_reaching about a row: what that reads lies far apart in memory. */
static inline void view_fetch_row(const struct weft_index *x, const struct weft_layout *l,
                                  uint32_t row, uint32_t bucket)
{
    uint32_t at = bucket / x->cursor_step;
    if (row < x->rows && at < x->cursors) {
        uint32_t span = x->cursor[(size_t)at * x->rows + row];
        __builtin_prefetch(&l->until[span]);
        __builtin_prefetch(&l->start[span]);
    }
}

/* The same for view_run_at. */
static inline void view_fetch_runs(const struct weft_index *x, uint32_t row)
{
    uint32_t first = x->run_first[row], middle = first + (x->run_first[row + 1] - first) / 2;
    __builtin_prefetch(&x->run[middle]);
}

/* The first item in [from, end) that may be that long, given the maxima of the blocks. */
uint32_t view_next_long(const struct view_lengths *l, uint32_t from, uint32_t end,
                        int64_t length_ns);

/* The interaction at a place in the order of time. */
static inline uint32_t view_interaction_at(const struct weft_index *x, uint32_t at)
{
    return x->by_time ? x->by_time[at] : at;
}
