/* SPDX-License-Identifier: ISC */
/* Sentences on standard output: as wide as the terminal, with colours where it has them.
 *
 *     prose_wrap("   ", "   ", "a sentence of any length");
 *
 * Texts are valid UTF-8 without control characters. One thread. */
#ifndef WEFT_CLI_PROSE_H
#define WEFT_CLI_PROSE_H

#include <stdbool.h>
#include <stddef.h>

/* Columns to write into: the terminal's, from 40 to 110; else 100. */
int prose_width(void);

/* Whether to use colours: standard output is a terminal, and NO_COLOR is not set. */
bool prose_colours(void);

enum prose_style { PROSE_PLAIN, PROSE_BOLD, PROSE_FAINT, PROSE_BAD, PROSE_WARNING, PROSE_GOOD };

/* Begins a style, and ends it with PROSE_PLAIN; nothing where there are no colours. */
const char *prose_style(enum prose_style style);

/* The text, broken between words, each line ended. first and rest go before the first line and the others. */
void prose_wrap(const char *first, const char *rest, const char *text);

/* The same behind columns that are already there, which the further lines leave empty. */
void prose_behind(int columns, const char *text);

/* How many columns a text takes, counted in characters. */
size_t prose_columns(const char *text);

#endif
