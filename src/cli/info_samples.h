/* SPDX-License-Identifier: ISC */
/* What weft info says about the samples in a trace. */
#pragma once

#include <jansson.h>

#include "profile/profile.h"
#include "read/reader.h"

/* The samples, unfinished; NULL if there are none, or if they cannot be read, which is printed. The caller frees the
 * profile. The reader's events must have been read. */
struct weft_profile *info_samples_load(const char *path, struct weft_reader *reader);

/* Prints lines; makes a JSON object. NULL stands for no samples. */
void info_samples_print(const struct weft_profile *p);
json_t *info_samples_json(const struct weft_profile *p, const struct weft_reader_facts *f);
