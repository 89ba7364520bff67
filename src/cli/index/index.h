/* SPDX-License-Identifier: ISC */
/* What weft info, stats and explain say about a whole trace, in a file beside it, so that the next one need not read the
 * trace again: FILE.weft-index, or, where nobody may write there, a file in the user's cache directory.
 *
 *     struct cli_index *x = cli_index_open(path);
 *     if (!cli_index_get_summary(x, &summary)) {
 *         … read the trace …
 *         cli_index_add_summary(x, &summary);
 *     }
 *     cli_index_close(x);
 *
 * An index is used if it was made by this very program and fits the trace byte for byte: the trace is the file that was
 * read then, unchanged by what the file system says of it, or has the same bytes by a hash. Otherwise it is replaced. It
 * may be wrong in any other way, as any file: what is out of range is not taken, and the trace is read. What it says is
 * what its writer says; so it is taken only from this user, from the owner of the trace, or from root.
 *
 * It is JSON: {"weft-index": 1, "file", "program", "trace", "model", "summary", "stats", "explain"}. What stands in a list without
 * names has the order of the tables in this folder; only the same program reads it. One without a section is an index,
 * too.
 *
 * The functions take NULL for no index. Those that get something return false if the index does not have it, and drop what
 * is not as it should be; those that add something do nothing if it is there. Nothing is ever printed: an index that cannot
 * be read or written is none. */
#pragma once

#include "analyse/stats.h"
#include "cli/explain.h"
#include "cli/options.h"
#include "cli/summary.h"

struct cli_index;

extern uint32_t cli_index_use; /* by this option: */
#define CLI_INDEX                                                                                  \
    CLI_WORD(                                                                                      \
        "index", cli_index_use, "auto|always|never",                                               \
        "what was found is kept in FILE.weft-index, or in the cache directory, and not "           \
        "looked for again while the trace is the same; auto: of traces with 16 MiB of events",     \
        .words = cli_index_words, .shown = "auto")
extern const char *const cli_index_words[];

/* Gets the index of a trace. NULL: there shall be none, because of the option or since it is a part, no file, small, or
 * being recorded. */
struct cli_index *cli_index_open(const char *path);

/* Returns true if what is added is kept: the trace is large enough, as is known once it was read. */
bool cli_index_keeps(const struct cli_index *x);

/* Writes the index if something was added, and the trace is still what it was. Standard output is flushed first. */
void cli_index_close(struct cli_index *x);

/* ---- weft info ---- */

/* Completes s, which is open. */
bool cli_index_get_summary(struct cli_index *x, struct cli_summary *s);
void cli_index_add_summary(struct cli_index *x, const struct cli_summary *s);

/* … from a model, of which the reader has just handed out the last event. */
void cli_index_add_counts(struct cli_index *x, struct weft_reader *r, const struct weft_model *m);

/* ---- A model of only the promises that a report names ---- */

struct cli_excerpt {
    /* To be freed like others. Of its promises only ids, types and labels are known; of runs only when and what. */
    struct weft_model *model;
    struct weft_history *history;
    uint32_t promises; /* in the whole trace, with the loop */
};

/* ---- weft stats ---- */

/* Gets the rows by label, or those that WEFT_BY_AUTO leads to. s has no latencies, only counts of powers
 * (weft_stats_in_power). False: nothing is to be freed. */
bool cli_index_get_stats(struct cli_index *x, enum weft_stats_by by, struct cli_excerpt *e,
                         struct weft_stats *s);

/* Adds both. found: what WEFT_BY_AUTO led to; NULL: to be found. */
void cli_index_add_stats(struct cli_index *x, const struct weft_history *h,
                         const struct weft_stats *found);

/* ---- weft explain, with the usual thresholds ---- */

/* Gets model, history, what was found, and where the time of the slowest went. False: nothing is to be freed. */
bool cli_index_get_explained(struct cli_index *x, struct cli_explained *to);

/* Adds that; what of it is shown does not matter. */
void cli_index_add_explained(struct cli_index *x, const struct cli_explained *from);
