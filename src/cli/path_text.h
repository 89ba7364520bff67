/* SPDX-License-Identifier: ISC */
/* Prints a critical path in words, and has the building blocks of such tables. To standard output. */
#ifndef WEFT_CLI_PATH_TEXT_H
#define WEFT_CLI_PATH_TEXT_H

#include "analyse/names.h"
#include "analyse/path.h"

enum {
    CLI_TEXT_BAR = 20,   /* columns of a full bar, */
    CLI_TEXT_TIME = 12,  /* of a moment, */
    CLI_TEXT_LENGTH = 9, /* of a length, */
    CLI_TEXT_BEFORE_SHARE = 2 + CLI_TEXT_LENGTH + 2 + 7 + 2 + CLI_TEXT_BAR + 2,
    CLI_TEXT_SHARES = 12,    /* lines of what the time went to; */
    CLI_TEXT_FEW_SHARES = 5, /* this many even if they are less than 0.1 % */
};

void cli_text_moment(int64_t time_ns);

void cli_text_length(int64_t ns);

double cli_text_percent(int64_t part, int64_t whole);

/* A bar as long as the share, in eighths of a column, padded to its full length if something follows. */
void cli_text_bar(int64_t part, int64_t whole, bool padded);

void cli_text_heading(const char *text);

/* Prints the text after columns that are already there, wrapped at the end of the line, and releases it. */
int cli_text_behind(struct analyse_text *t, int columns);

int cli_text_print(struct analyse_text *t);

void cli_text_share(int64_t ns, int64_t whole);

/* The whole path: in a sentence, as a table, and step by step. */
int cli_path_text(const struct weft_history *h, uint32_t promise, bool whole);

#endif
