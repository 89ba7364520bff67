/* SPDX-License-Identifier: ISC */
/* Prints a critical path in words, and has the building blocks of such tables. To standard output. */
#ifndef WEFT_CLI_PATH_TEXT_H
#define WEFT_CLI_PATH_TEXT_H

#include "analyse/names.h"
#include "analyse/path.h"

enum {
    CLI_TEXT_BAR = 20,                                          /* columns of a full bar, */
    CLI_TEXT_TIME = 12,                                         /* of a moment, */
    CLI_TEXT_LENGTH = 9,                                        /* of a length, */
    CLI_TEXT_ROW = 2 + CLI_TEXT_TIME + 2 + CLI_TEXT_LENGTH + 2, /* of cli_text_row */
};

void cli_text_length(int64_t ns);
void cli_text_row(int64_t from_ns, int64_t length_ns);
double cli_text_percent(int64_t part, int64_t whole);
void cli_text_heading(const char *text);

/* What the time of a step went to; named: up to the name of a promise. */
const char *cli_text_step(enum weft_step_kind kind, bool named);

/* A row of a share, with a bar and a text, which it releases. */
void cli_text_share(int64_t ns, int64_t whole, struct analyse_text *t);

/* Whether share i, of that length, has its row; the row for the others, if there are any. */
bool cli_text_lists(uint32_t i, uint32_t count, int64_t ns, int64_t whole);
void cli_text_other_shares(uint32_t count, int64_t ns, int64_t whole);

/* The path in a sentence and step by step; whole: as a table, too. */
void cli_path_text(const struct weft_history *h, uint32_t promise, bool whole);

#endif
