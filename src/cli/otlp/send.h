/* SPDX-License-Identifier: ISC */
/* Sends spans to a collector of OpenTelemetry: OTLP over HTTP, with bodies in JSON. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/error.h"

/* Returns true if the name of an output is the URL of a collector. */
bool otlp_is_url(const char *target);

/* Posts each line of the file, from its beginning, to the collector at that URL; if the URL has no path, to its
 * /v1/traces, as OTEL_EXPORTER_OTLP_ENDPOINT means it. *rejected: how many spans the collector did not take. Prints what it
 * says about that. Blocks, at most 30 s for each line. Returns 0 or a negative WEFT_E code: WEFT_E_IO if the collector cannot
 * be reached, or refuses a line; the lines before it have arrived. */
int otlp_send(FILE *lines, const char *url, uint64_t *rejected, struct weft_error *err);
