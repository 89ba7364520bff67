/* SPDX-License-Identifier: ISC */
/* Replaces the operating system in a page. Private to src/web. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What weft_input_open opens from now on, whatever the path: the caller's bytes, which must stay. */
void web_input(const unsigned char *bytes, size_t size);

/* Sets the random seed, before anything else: getrandom's output is derived from it. */
void web_seed(uint64_t bits);
