/* SPDX-License-Identifier: ISC */
#pragma once

#include "cli/top/top.h"

/* Prints a line with a JSON object: what weft top knows now. */
void top_json_print(const struct top *t);
