/* SPDX-License-Identifier: ISC */
/* What waits for what in the heap of a Node.js process, seen from outside, as records for adapters/node/late.js. One
 * thread. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "now/now.h"

/* The promises and functions of its heap alone. The result belongs to the caller, now_free. NULL: no memory. */
struct now *cli_seen_look(pid_t pid);

/* Promises that are pending, as an object. complete: there is a record of each that something waits for. records: an
 * array for each, [index, type, label, state or null, [records it waits for]].
 * address: of the promises that the inspector lists, tagged as in the look; 0: not pending. index: among those; -1: it can
 * not be reached in the heap, so that nobody can resolve it any more. before: looked at before garbage was collected.
 * after: when the promises were at these addresses. The caller releases the result; NULL: no memory. */
json_t *cli_seen_records(const struct now *before, const struct now *after, const uint64_t *address,
                         uint32_t count);
