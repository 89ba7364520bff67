/* SPDX-License-Identifier: ISC */
/* weft stats: latencies by label, and how busy the loop was. */
#include "cli/common.h"

static const char help[] = "usage: weft stats FILE\n";

static int run(int argc, char **argv)
{
    (void)argc, (void)argv;
    return WEFT__FAILED;
}

const struct weft__command weft__stats = {"stats", "latencies by label, and how busy the loop was",
                                          help, run};
