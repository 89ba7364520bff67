/* SPDX-License-Identifier: ISC */
/* weft diff: what is different in a bad run. */
#include "cli/common.h"

static const char help[] = "usage: weft diff FILE\n";

static int run(int argc, char **argv)
{
    (void)argc, (void)argv;
    return WEFT__FAILED;
}

const struct weft__command weft__diff = {"diff", "what is different in a bad run", help, run};
