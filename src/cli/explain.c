/* SPDX-License-Identifier: ISC */
/* weft explain: what went wrong, in words, with the evidence. */
#include "cli/common.h"

static const char help[] = "usage: weft explain FILE\n";

static int run(int argc, char **argv)
{
    (void)argc, (void)argv;
    return WEFT__FAILED;
}

const struct weft__command weft__explain = {
    "explain", "what went wrong, in words, with the evidence", help, run};
