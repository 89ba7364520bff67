/* SPDX-License-Identifier: ISC */
#pragma once

#include <stdbool.h>

/* Returns true if a text in UTF-8 matches a pattern: '*' stands for any characters, '?' for one, a backslash makes the
 * next character literal. Everything else is literal, too, because labels have brackets; that, and that it does not
 * depend on the locale, makes the difference to fnmatch. Takes time in proportion to the product of the lengths. */
bool weft_glob_matches(const char *pattern, const char *text);
