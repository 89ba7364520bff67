/* SPDX-License-Identifier: ISC */
/* A critical path in words, and the pieces of which such tables are made. To standard output. */
#ifndef WEFT_CLI_PATH_TEXT_H
#define WEFT_CLI_PATH_TEXT_H

#include "analyse/names.h"
#include "analyse/path.h"

enum {
    WEFT__TEXT_BAR = 20,   /* columns of a full bar, */
    WEFT__TEXT_TIME = 12,  /* of a moment, */
    WEFT__TEXT_LENGTH = 9, /* of a length, */
    WEFT__TEXT_BEFORE_SHARE = 2 + WEFT__TEXT_LENGTH + 2 + 7 + 2 + WEFT__TEXT_BAR + 2,
    WEFT__TEXT_SHARES = 12,    /* lines of what the time went to; */
    WEFT__TEXT_FEW_SHARES = 5, /* so many also where they are less than 0.1 % */
};

void weft__text_moment(int64_t time_ns);

void weft__text_length(int64_t ns);

double weft__text_percent(int64_t part, int64_t whole);

/* A bar as long as the share, in eighths of a column, padded to its full length if something follows. */
void weft__text_bar(int64_t part, int64_t whole, bool padded);

void weft__text_heading(const char *text);

/* Prints the text behind columns that are already there, broken where the line ends; and releases it. */
int weft__text_behind(struct weft__text *t, int columns);

int weft__text_print(struct weft__text *t);

void weft__text_share(int64_t ns, int64_t whole);

/* The whole path: in a sentence, as a table, and step by step. */
int weft__path_text(const struct weft_history *h, uint32_t promise, bool whole);

#endif
