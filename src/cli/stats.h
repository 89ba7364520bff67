/* SPDX-License-Identifier: ISC */
/* What weft stats shows, for people. */
#pragma once

#include "analyse/stats.h"

struct cli_stats_view {
    const char *path;
    const struct weft_history *h;
    uint32_t promises;          /* in the trace, with the loop */
    const struct weft_stats *s; /* rows in the order in which they are shown */
    uint32_t top;               /* how many of them */
    bool labels_folded;         /* families were not requested */
};

/* Prints the table, the histograms of its first rows, and the loops. */
void cli_stats_print(const struct cli_stats_view *v);

/* Prints a large histogram of one row. */
void cli_stats_print_histogram(const struct cli_stats_view *v, const struct weft_stats_row *r);
