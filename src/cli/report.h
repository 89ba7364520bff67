/* SPDX-License-Identifier: ISC */
/* What reports for people are made of: sentences, tables and bars on standard output, as wide as the terminal, in the
 * characters that the locale has, with colours where there are some, and through a pager where it is a long one.
 *
 *     cli_wrap("   ", "   ", "a sentence of any length");
 *
 *     static const struct cli_column columns[] = {{.head = "kind", .left = true}, {.head = "count"}};
 *     struct cli_table table = CLI_TABLE(columns);
 *     cli_cell(&table, "", "%s", name);
 *     cli_cell(&table, cli_style(CLI_FAINT), "%d", count);
 *     return cli_table_print(&table);
 *
 * Texts are clean (cli_shown, weft_text_clean). One thread. */
#ifndef WEFT_CLI_REPORT_H
#define WEFT_CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/names.h"

/* ---- Where it goes ---- */

/* Makes standard error, or standard output, fit for the locale: where that is not UTF-8, what is written becomes ASCII.
 * Not for standard output where a file may go there. */
void cli_narrow_messages(void);
void cli_narrow_output(void);

/* Starts a pager, if standard output is a terminal and nobody wants none: WEFT_PAGER, PAGER or less. It gets what is
 * written from then on, and weft waits for it when it exits. */
void cli_page(void);

/* There is one, and it has the terminal. */
extern bool cli_paged;

/* The locale has only ASCII. */
bool cli_ascii(void);

/* Columns to write into: the terminal's, or COLUMNS; at least 40. Else 100. cli_is_narrow: somebody has said how many. */
int cli_columns(void);
bool cli_is_narrow(void);

/* Columns of sentences: not more than can be read well. */
int cli_cli_width(void);

enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_FAINT, CLI_BAD, CLI_WARNING, CLI_GOOD };

/* Begins a style, and ends it with CLI_PLAIN; "" where there are no colours: standard output is no terminal, or NO_COLOR
 * is set. */
const char *cli_style(enum cli_style style);

/* The same, or "", for a cell or a word. */
const char *cli_style_if(bool wanted, enum cli_style style);

/* ---- Texts ---- */

/* How many columns a text takes. */
int cli_width(const char *text);

/* Filled up with spaces to width, behind it or in front of it. cli_put_cut: … and cut, if it is too long. */
void cli_put_left(const char *text, int width);
void cli_put_right(const char *text, int width);
void cli_put_cut(const char *text, int width);

/* The text, broken between words, each line ended. first and rest go before the first line and the others. */
void cli_wrap(const char *first, const char *rest, const char *text);

/* The same behind columns that are already there, which the further lines leave empty. */
void cli_wrap_behind(int columns, const char *text);

/* Likewise of a text that was put together, and is released. False: no memory. */
bool cli_wrap_text(const char *first, const char *rest, struct analyse_text *text);

/* A line in bold. */
void cli_heading(const char *text);

/* A bar of part in whole, where whole takes width columns; it is never empty unless part is 0. Returns its columns. */
int cli_bar(double part, double whole, int width);

/* ---- Tables ---- */

enum {
    CLI_COLUMNS_MAX = 16,
    CLI_TEXT_LEAST = 24, /* columns that a text in a table should have */
};

struct cli_column {
    const char *head;
    int gap;   /* spaces in front of it; 0: one, but none in front of the first column */
    int least; /* columns that it has at least */
    int most;  /* and at most, of a text; 0: no limit */
    bool left; /* a text; else a number, which stands at the right */
    int keep;  /* where there is no room for all columns, those with the least go first; 0: never */
};

struct cli_table {
    const struct cli_column *column;
    unsigned columns;
    struct cli_cell *cell; /* row by row */
    size_t cells, room;
    bool failed;
};

#define CLI_TABLE(columns_)                                                                        \
    {                                                                                              \
        .column = columns_, .columns = sizeof(columns_) / sizeof *(columns_)                       \
    }

/* The next cell. style: of cli_style. */
void cli_cell(struct cli_table *t, const char *style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What stands behind the last cell of a row, faint, if there is room. */
void cli_cell_aside(struct cli_table *t, const char *text);

/* Prints it, as wide as it must be, and releases it. Texts of the first column are cut where there is no room, and so are
 * those of the last one on a terminal. False: no memory. */
bool cli_table_print(struct cli_table *t);

#endif
