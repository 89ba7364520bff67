/* SPDX-License-Identifier: ISC */
/* What weft info says of a trace that was made of a look from outside (now/trace.h). */
#pragma once

#include <jansson.h>

#include "read/reader.h"

/* null if the process recorded the trace itself. */
json_t *info_outside_json(const struct weft_outside *o);

/* How it was looked at, what the trace cannot say, and who says more. */
void info_outside_print(const struct weft_process_facts *p);
