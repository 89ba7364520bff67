/* SPDX-License-Identifier: ISC */
#include "cli/top/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/report.h"
#include "format/utf8.h"

static bool reserve(struct top_page *page, size_t more)
{
    if (page->failed || page->bytes + more <= page->bytes_room)
        return !page->failed;
    uint64_t room = page->bytes_room ? 2 * page->bytes_room : 16384;
    while (room < page->bytes + more)
        room *= 2;
    char *text = weft_resize(page->text, room, 1);
    page->failed = !text;
    if (!text)
        return false;
    page->text = text;
    page->bytes_room = room;
    return true;
}

static void begin(struct top_page *page)
{
    if (page->begun)
        return;
    page->begun = weft_reserve(&page->line, page->lines, &page->lines_room, sizeof *page->line);
    page->failed |= !page->begun;
    if (page->begun)
        page->line[page->lines] = (struct top_line){.at = page->bytes};
}

/* Adds a text that is clean. */
static void add(struct top_page *page, enum top_style style, const char *text, size_t size)
{
    begin(page);
    if (!page->begun || !reserve(page, size + 3))
        return;
    if (style != TOP_PLAIN)
        page->text[page->bytes++] = (char)style;
    memcpy(page->text + page->bytes, text, size);
    page->bytes += size;
    if (style != TOP_PLAIN)
        page->text[page->bytes++] = TOP_PLAIN;
}

static void add_spaces(struct top_page *page, int columns)
{
    static const char spaces[] = "                                                                ";
    for (int n; columns > 0; columns -= n) {
        n = columns < (int)sizeof spaces - 1 ? columns : (int)sizeof spaces - 1;
        add(page, TOP_PLAIN, spaces, (size_t)n);
    }
}

static void put_list(struct top_page *page, enum top_style style, const char *format, va_list args)
{
    char raw[1024], clean[3 * sizeof raw];
    const int n = vsnprintf(raw, sizeof raw, format, args);
    const size_t size = n < 0 ? 0 : (size_t)n < sizeof raw ? (size_t)n : sizeof raw - 1;
    add(page, style, clean, weft_text_clean(clean, sizeof clean, raw, size));
}

void top_put(struct top_page *page, enum top_style style, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_list(page, style, format, args);
    va_end(args);
}

void top_cell(struct top_page *page, enum top_style style, int columns, const char *text)
{
    char clean[1536];
    const bool left = columns < 0;
    const int room = left ? -columns : columns;
    int used;
    size_t size = weft_text_clean(clean, sizeof clean, text, strlen(text));
    size_t kept = cli_fit(clean, size, room, &used);
    const bool cut = kept < size;
    if (cut)
        kept = cli_fit(clean, size, room - cli_width("…"), &used);
    if (!left)
        add_spaces(page, room - used - (cut ? cli_width("…") : 0));
    add(page, style, clean, kept);
    if (cut)
        add(page, style, "…", strlen("…"));
    if (left)
        add_spaces(page, room - used - (cut ? cli_width("…") : 0));
    add_spaces(page, 1);
}

void top_bar(struct top_page *page, double share, int columns)
{
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    int full = (int)(share * columns + 0.5);
    if (full == 0 && share > 0)
        full = 1;
    const enum top_style style = share >= 0.9 ? TOP_BAD : share >= 0.6 ? TOP_WARNING : TOP_GOOD;
    top_put(page, TOP_BOLD, "[");
    for (int i = 0; i < full; i++)
        add(page, style, "|", 1);
    add_spaces(page, columns - full);
    top_put(page, TOP_BOLD, "]");
}

void top_end(struct top_page *page, struct top_key key)
{
    begin(page);
    if (!page->begun || !reserve(page, 1))
        return;
    page->text[page->bytes++] = 0;
    page->line[page->lines++].key = key;
    page->begun = false;
}

void top_say(struct top_page *page, enum top_style style, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_list(page, style, format, args);
    va_end(args);
    top_end(page, (struct top_key){0});
}

int top_line_columns(const char *text)
{
    int columns = 0, used;
    while (*text) {
        if (*text<TOP_STYLES && * text> 0) {
            text++;
            continue;
        }
        const size_t n = strcspn(text, "\1\2\3\4\5\6\7");
        cli_fit(text, n, INT32_MAX / 2, &used);
        columns += used;
        text += n;
    }
    return columns;
}

void top_page_print(const struct top_page *page)
{
    static const enum cli_style styles[TOP_STYLES] = {
        [TOP_PLAIN] = CLI_PLAIN, [TOP_BOLD] = CLI_BOLD,       [TOP_FAINT] = CLI_FAINT,
        [TOP_BAD] = CLI_BAD,     [TOP_WARNING] = CLI_WARNING, [TOP_GOOD] = CLI_GOOD,
        [TOP_HEAD] = CLI_BOLD,
    };
    for (uint32_t i = 0; i < page->lines; i++) {
        const char *text = top_line_text(page, i);
        size_t size = strlen(text);
        while (size && text[size - 1] == ' ')
            size--;
        for (size_t at = 0; at < size; at++) {
            const unsigned char c = (unsigned char)text[at];
            if (c < TOP_STYLES)
                fputs(cli_style(styles[c]), stdout);
            else
                putchar(c);
        }
        putchar('\n');
    }
}

void top_page_clear(struct top_page *page)
{
    page->bytes = page->lines = 0;
    page->begun = page->failed = false;
}

void top_page_fini(struct top_page *page)
{
    weft_free_all(page->text, page->line);
    *page = (struct top_page){0};
}
