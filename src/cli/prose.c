/* SPDX-License-Identifier: ISC */
#include "cli/prose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, WIDEST = 110, USUAL = 100 };

int prose_width(void)
{
    static int width;
    struct winsize size;
    if (width)
        return width;
    width = USUAL;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        width = size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
    return width;
}

bool prose_colours(void)
{
    static int colours = -1;
    if (colours < 0) {
        const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
        colours = isatty(STDOUT_FILENO) && (!no || !*no) && terminal && strcmp(terminal, "dumb");
    }
    return colours;
}

const char *prose_style(enum prose_style style)
{
    static const char *const codes[] = {
        [PROSE_PLAIN] = "\033[0m",  [PROSE_BOLD] = "\033[1m",     [PROSE_FAINT] = "\033[2m",
        [PROSE_BAD] = "\033[1;31m", [PROSE_WARNING] = "\033[33m", [PROSE_GOOD] = "\033[32m",
    };
    return prose_colours() ? codes[style] : "";
}

static size_t columns(const char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80; /* begins a character */
    return n;
}

size_t prose_columns(const char *text)
{
    return columns(text, strlen(text));
}

/* Behind at columns. */
static void wrap(size_t at, const char *rest, const char *text)
{
    size_t width = (size_t)prose_width();
    bool begun = false;
    while (*text) {
        size_t word = strcspn(text, " "), wide = columns(text, word);
        if (begun && at + 1 + wide > width) {
            printf("\n%s", rest);
            at = prose_columns(rest);
        } else if (begun) {
            putchar(' ');
            at++;
        }
        fwrite(text, 1, word, stdout);
        at += wide;
        begun = true;
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
}

void prose_wrap(const char *first, const char *rest, const char *text)
{
    fputs(first, stdout);
    wrap(prose_columns(first), rest, text);
}

void prose_behind(int columns, const char *text)
{
    char rest[128];
    snprintf(rest, sizeof rest, "%*s", columns, "");
    wrap(strlen(rest), rest, text);
}
