/* SPDX-License-Identifier: ISC */
/* Building blocks of reports for people: sentences, tables and bars on standard output, as wide as the terminal, in the
 * locale's characters, with colours if the terminal has them, and through a pager for long reports.
 *
 *     cli_wrap("   ", "   ", "a sentence of any length");
 *
 *     static const struct cli_column columns[] = {{.head = "kind", .left = true}, {.head = "count"}};
 *     struct cli_table table = CLI_TABLE(columns);
 *     cli_cell(&table, "", "%s", name);
 *     cli_cell(&table, cli_style(CLI_FAINT), "%d", count);
 *     cli_table_print(&table);
 *
 * Texts are clean (cli_shown, weft_text_clean). One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/sentence.h"

/* ---- Where it goes ---- */

/* Adapts standard error, or standard output, to the locale: if that is not UTF-8, output is converted to ASCII. Do not
 * use it for standard output that may receive a file. */
void cli_narrow_messages(void);
void cli_narrow_output(void);

/* Starts a pager if standard output is a terminal and the user has not turned it off: WEFT_PAGER, PAGER or less. It
 * gets everything written from then on; weft waits for it before it exits. */
void cli_page(void);

/* There would be one. */
bool cli_has_pager(void);

/* Returns true if a pager is running and has the terminal. */
extern bool cli_paged;

/* The locale has only ASCII. */
bool cli_ascii(void);

/* What stands for a character if there is only ASCII: in text, or constant. */
const char *cli_ascii_of(uint32_t code, char text[12]);

/* The width in columns: the terminal's, or COLUMNS, but at least 40; else 100. cli_is_narrow: the width was given. */
int cli_columns(void);
bool cli_is_narrow(void);

enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_FAINT, CLI_BAD, CLI_WARNING, CLI_GOOD };

/* Begins a style, and ends it with CLI_PLAIN; "" if there are no colours: standard output is not a terminal, or
 * NO_COLOR is set. */
const char *cli_style(enum cli_style style);

/* The same, or "", for a cell or a word. */
const char *cli_style_if(bool wanted, enum cli_style style);

/* ---- Texts ---- */

/* How many columns a text takes. */
int cli_width(const char *text);

/* How many of the first `size` bytes of a text fit into a number of columns; *used: how many columns they take. */
size_t cli_fit(const char *text, size_t size, int room, int *used);

/* Prints a text with spaces on its left up to that width; or on its right, and cut if it is too long. */
void cli_put_right(const char *text, int width);
void cli_put_cut(const char *text, int width);

/* Prints the text, wrapped between words; each line ends with a newline. first and rest are printed before the first
 * line and before the others. */
void cli_wrap(const char *first, const char *rest, const char *text);

/* The same after columns that are already printed; further lines leave those columns empty. */
void cli_wrap_behind(int columns, const char *text);

/* The same for a text that was composed, which it releases. */
void cli_wrap_text(const char *first, const char *rest, struct analyse_text *text);
void cli_wrap_text_behind(int columns, struct analyse_text *text);

/* The same for a template with slots of promises of m (analyse/sentence.h). */
#define cli_wrap_filled(first, rest, m, template, ...)                                             \
    cli_wrap_slots(first, rest, m, template, ANALYSE_SLOTS(__VA_ARGS__))
void cli_wrap_slots(const char *first, const char *rest, const struct weft_model *m,
                    const char *template, const struct analyse_slot *slots, size_t count);

/* Notes that there was no memory for a part of the output. Returns true if that was noted since it was asked last. */
void cli_lacks_memory(void);
bool cli_lacked_memory(void);

/* A line in bold. */
void cli_heading(const char *text);

/* Prints a bar for part out of whole, where whole takes width columns; it is never empty unless part is 0. Returns its
 * columns. */
int cli_bar(double part, double whole, int width);

/* ---- Tables ---- */

enum {
    CLI_COLUMNS_MAX = 16,
    CLI_TEXT_LEAST = 24, /* minimum columns that a text in a table should have */
};

struct cli_column {
    const char *head;
    int gap;   /* spaces in front of it; 0: one, but none in front of the first column */
    int least; /* minimum width in columns */
    int most;  /* maximum width of a text; 0: no limit */
    bool left; /* a text; else a number, which is right-aligned */
    int keep; /* if there is no room for all columns, those with the lowest value are dropped first; 0: never */
};

struct cli_table {
    const struct cli_column *column;
    unsigned columns;
    struct cli_cell *cell; /* row by row */
    uint32_t cells, room;
    bool failed;
};

#define CLI_TABLE(columns_)                                                                        \
    {                                                                                              \
        .column = columns_, .columns = sizeof(columns_) / sizeof *(columns_)                       \
    }

/* Adds the next cell. style: from cli_style. */
void cli_cell(struct cli_table *t, const char *style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a faint text after the last cell of a row, shown if there is room. */
void cli_cell_aside(struct cli_table *t, const char *text);

/* Prints the table, as wide as needed, and releases it. Texts in the first column are cut if there is no room; those in
 * the last column, too, on a terminal. */
void cli_table_print(struct cli_table *t);
