/* SPDX-License-Identifier: ISC */
/* What a Node.js process is asked over its inspector: to begin to record, and to record what is pending. One thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/late/inspector.h"
#include "cli/late/node.h"

struct cli_late_ask {
    const struct cli_target *t;
    struct cli_late_node *l;
    const char *file; /* adapters/node/late.js, as the process sees it */
    const char *host; /* of its inspector */
    uint16_t port;
    bool opened;      /* the inspector has to be closed again */
    int64_t until_ns; /* when it has to have answered first */
};

/* As cli_late_node; -1: *e says why. */
int cli_late_ask(const struct cli_late_ask *a, struct cli_inspector_error *e);
