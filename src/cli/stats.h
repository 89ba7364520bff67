/* SPDX-License-Identifier: ISC */
/* What weft stats shows, for people. */
#ifndef WEFT_CLI_STATS_H
#define WEFT_CLI_STATS_H

#include "analyse/stats.h"

struct cli_stats_view {
    const char *path;
    const struct weft_history *h;
    const struct weft_stats *s; /* rows in the order in which they are shown */
    uint32_t top;               /* how many of them */
    bool labels_folded;         /* families were not requested */
};

/* Prints the table, the histograms of its first rows, and the loops. False: no memory. */
bool cli_stats_print(const struct cli_stats_view *v);

/* stats_spread.c. False: no memory. A large histogram of one row; small ones of the first rows. */
bool cli_stats_print_histogram(const struct cli_stats_view *v, const struct weft_stats_row *r);
bool cli_stats_print_spreads(const struct cli_stats_view *v);

/* ---- Shared by those ---- */

/* "task ARP query". The caller frees it. NULL: no memory. */
char *cli_stats_kind(const struct cli_stats_view *v, const struct weft_stats_row *r);

/* How many rows are shown. */
uint32_t cli_stats_shown(const struct cli_stats_view *v);

#endif
