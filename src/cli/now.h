/* SPDX-License-Identifier: ISC */
/* weft explain PID of a process that records nothing: what waits for what in it now (now/now.h). */
#pragma once

#include <jansson.h>

#include "now/now.h"

/* Prints it on standard output. all: all frames of all stacks, and each of those that are alike. */
void cli_now_print(const struct now *n, bool all);

json_t *cli_now_json(const struct now *n);
