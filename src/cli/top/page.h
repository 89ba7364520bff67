/* SPDX-License-Identifier: ISC */
/* Lines of text with styles, before it is decided where they go: to a terminal's screen, or out as plain text.
 *     struct top_page page = {0};
 *     top_put(&page, TOP_BAD, "%s", "deadlock");
 *     top_cell(&page, TOP_PLAIN, -20, label);      on the left of 20 columns
 *     top_end(&page, (struct top_key){.process = p->pid, .promise = id});
 * Texts that come from traces are cleaned here. If there is no memory, the rest is left out, and failed is set. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* They stand in the text as bytes of this value, which clean texts do not have. */
enum top_style {
    TOP_PLAIN = 1,
    TOP_BOLD,
    TOP_FAINT,
    TOP_BAD,
    TOP_WARNING,
    TOP_GOOD,
    TOP_HEAD, /* the heads of columns */
    TOP_STYLES
};

/* What a line is about; equal for the same thing in two pages. */
struct top_key {
    pid_t process;        /* 0: it is about nothing */
    uint64_t promise;     /* or 0 */
    uint32_t row, thread; /* plus 1; 0: none */
    uint32_t counter;
};

struct top_line {
    uint64_t at; /* of its text, which ends with a NUL */
    struct top_key key;
};

struct top_page {
    char *text;
    uint64_t bytes, bytes_room;
    struct top_line *line;
    uint32_t lines, lines_room;
    bool begun; /* a line */
    bool failed;
};

void top_put(struct top_page *page, enum top_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A text in a column, then a space: on its right; or, if columns is negative, on its left. It is cut to them. */
void top_cell(struct top_page *page, enum top_style style, int columns, const char *text);

/* A bar of `columns` columns for a share from 0 to 1. */
void top_bar(struct top_page *page, double share, int columns);

void top_end(struct top_page *page, struct top_key key);

/* A line without a key. */
void top_say(struct top_page *page, enum top_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline const char *top_line_text(const struct top_page *page, uint32_t line)
{
    return page->text + page->line[line].at;
}

/* The number of columns that its text takes. */
int top_line_columns(const char *text);

/* Prints the lines on standard output, with colours if it has them. */
void top_page_print(const struct top_page *page);

void top_page_clear(struct top_page *page);
void top_page_fini(struct top_page *page);
