/* SPDX-License-Identifier: ISC */
/* weft explain PID of a process that records nothing, or of a core file: what waits for what in it now (now/now.h). */
#pragma once

#include <jansson.h>

#include "now/now.h"

/* Prints it on standard output. told: a thing whose stack was printed before, or NOW_NONE. all: all frames of all stacks,
 * and each of those that are alike. */
void cli_now_print(const struct now *n, uint32_t told, bool all);

/* Only the stack of one thing. */
void cli_now_print_stack(const struct now *n, uint32_t thing, bool all);

json_t *cli_now_json(const struct now *n);
json_t *cli_now_frames_json(const struct now_thing *t);
