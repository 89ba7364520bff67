/* SPDX-License-Identifier: ISC */
/* Texts from the tables of options: --help, and the lists in the manual. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report.h"

enum { LEFT_MAX = 24, TEXT = 1024 };

static const struct cli_option no_pager = {
    .kind = CLI_IS_FLAG, .name = "no-pager", .help = "do not show it in a pager"};
static const struct cli_option help = {
    .kind = CLI_IS_FLAG, .name = "help", .help = "print this text"};

/* The help of an option: what it does, the allowed words, and the default. */
static void explain(char out[TEXT], const struct cli_option *o)
{
    const char *word;
    snprintf(out, TEXT, "%s", o->help);
    const bool listed = *out && out[strlen(out) - 1] == ':';
    for (unsigned i = 0; listed && (word = cli_word(o, i)); i++)
        cli_append(out, TEXT, "%s%s",
                   i == 0                          ? " "
                   : o->list || cli_word(o, i + 1) ? ", "
                                                   : " or ",
                   word);
    if (o->shown)
        cli_append(out, TEXT, " (default: %s)", o->shown);
}

/* "--check[=LEVEL]" */
static void append_name(char *out, size_t size, const struct cli_option *o)
{
    cli_append(out, size, "--%s%s%s%s", o->name,
               !o->value  ? ""
               : o->alone ? "[="
                          : " ",
               o->value ? o->value : "", o->value && o->alone ? "]" : "");
}

static void append_letter(char *out, size_t size, const struct cli_option *o)
{
    cli_append(out, size, "-%c%s%s", o->letter, o->value ? " " : "", o->value ? o->value : "");
}

/* ---- Usage ---- */

/* A line of usage, with all options for "@". */
static void expand(char out[TEXT], const struct cli_command *c, const char *line, size_t size)
{
    *out = '\0';
    for (size_t i = 0; i < size; i++) {
        const char *between = "";
        if (line[i] != '@')
            cli_append(out, TEXT, "%c", line[i]);
        for (const struct cli_option *o = c->options; line[i] == '@' && o->kind != CLI_IS_END;
             o++) {
            if (!cli_is_listed(o))
                continue;
            cli_append(out, TEXT, "%s%s", between, o->required ? "" : "[");
            (o->letter ? append_letter : append_name)(out, TEXT, o);
            cli_append(out, TEXT, "%s", o->required ? "" : "]");
            between = " ";
        }
    }
}

/* Calls put for each form of usage. */
static void each_usage(const struct cli_command *c,
                       void (*put)(const char *name, const char *usage))
{
    char text[TEXT];
    for (const char *line = c->usage; *line;) {
        const size_t size = strcspn(line, "\n");
        expand(text, c, line, size);
        put(c->name, text);
        line += size + (line[size] == '\n');
    }
}

/* ---- For people ---- */

static void put_usage(const char *name, const char *usage)
{
    static const char *before = "usage:";
    char first[80], rest[80];
    snprintf(first, sizeof first, "%s weft %s ", before, name);
    snprintf(rest, sizeof rest, "%*s", (int)strlen(first), "");
    cli_wrap(first, rest, usage);
    before = "      ";
}

/* Prints paragraphs. A line that begins with spaces is a list item: "  stop  end the recording". */
static void put_paragraphs(const char *text)
{
    char line[TEXT];
    while (*text) {
        const size_t size = strcspn(text, "\n"), in = strspn(text, " ");
        snprintf(line, sizeof line, "%.*s", (int)size, text);
        char *gap = strstr(line + (in < size ? in : size), "  ");
        if (gap && in) {
            gap += strspn(gap, " ");
            const int columns = cli_width(line) - cli_width(gap);
            printf("%.*s", (int)(gap - line), line);
            cli_wrap_behind(columns, gap);
        } else {
            char before[32];
            snprintf(before, sizeof before, "%.*s", (int)in, text);
            cli_wrap(before, before, line + in);
        }
        text += size + (text[size] == '\n');
    }
}

static int left(char out[80], const struct cli_option *o, bool letters)
{
    snprintf(out, 80, !letters ? "  " : o->letter ? "  -%c, " : "      ", o->letter);
    append_name(out, 80, o);
    return (int)strlen(out);
}

static void put_option(const struct cli_option *o, bool letters, int column)
{
    char name[80], text[TEXT];
    const int size = left(name, o, letters);
    explain(text, o);
    fputs(name, stdout);
    if (size + 2 > column)
        putchar('\n');
    printf("%*s", size + 2 > column ? column : column - size, "");
    cli_wrap_behind(column, text);
}

/* The option is in the first table, too. */
static bool is_repeated(const struct cli_option *o, const struct cli_option *first)
{
    for (; first && first->kind != CLI_IS_END; first++)
        if (cli_is_listed(o) && cli_is_listed(first) && strcmp(o->name, first->name) == 0 &&
            strcmp(o->help, first->help) == 0)
            return true;
    return false;
}

/* first: the table above this one, or NULL. */
static void put_table(const struct cli_option *table, const struct cli_option *first, bool paged)
{
    char name[80];
    int column = 0;
    bool letters = false;
    for (const struct cli_option *o = table; o->kind != CLI_IS_END; o++)
        letters |= o->letter != 0;
    for (const struct cli_option *o = table; o->kind != CLI_IS_END; o++) {
        const int size = cli_is_listed(o) ? left(name, o, letters) : 0;
        column = size > column && size <= LEFT_MAX ? size : column;
    }
    column += 2;
    for (const struct cli_option *o = table; o->kind != CLI_IS_END; o++) {
        if (o->kind == CLI_IS_HEADING) {
            if (o != table)
                putchar('\n');
            put_paragraphs(o->help);
        } else if (cli_is_listed(o) && !is_repeated(o, first)) {
            put_option(o, letters, column);
        }
    }
    if (paged)
        put_option(&no_pager, letters, column);
    if (!first)
        put_option(&help, letters, column);
}

void cli_help(const struct cli_command *c)
{
    cli_narrow_output();
    each_usage(c, put_usage);
    putchar('\n');
    put_paragraphs(c->about);
    putchar('\n');
    put_table(c->options, NULL, c->paged);
    if (c->others) {
        putchar('\n');
        put_paragraphs(c->others_about);
        put_table(c->others, c->options, false);
    }
    if (c->more) {
        putchar('\n');
        put_paragraphs(c->more);
    }
    if (!c->examples)
        return;
    const bool several = strchr(c->examples, '\n');
    const char *before = several ? "Examples: " : "Example: ";
    putchar('\n');
    for (const char *e = c->examples; *e; before = several ? "          " : "         ") {
        const size_t size = strcspn(e, "\n");
        printf("%s%.*s\n", before, (int)size, e);
        e += size + (e[size] == '\n');
    }
}

/* ---- For the manual, in Markdown ---- */

/* A word of a usage line: an option, a placeholder or a literal word. */
static void put_word(const char *word, size_t size)
{
    bool small = false, capital = false;
    for (size_t i = 0; i < size; i++) {
        small |= islower((unsigned char)word[i]) != 0;
        capital |= isupper((unsigned char)word[i]) != 0;
    }
    if (*word == '-')
        printf("**`%.*s`**", (int)size, word);
    else if (capital && !small && *word == '=')
        printf("**=***%.*s*", (int)size - 1, word + 1);
    else if (capital && !small)
        printf("*%.*s*", (int)size, word);
    else
        printf("**%.*s**", (int)size, word);
}

static void put_markdown(const char *usage)
{
    static const char ellipsis[] = "…";
    for (const char *c = usage; *c;) {
        size_t word = strcspn(c + (*c == '='), " []|=\xe2") + (*c == '=');
        if (word)
            put_word(c, word);
        c += word;
        if (strncmp(c, ellipsis, strlen(ellipsis)) == 0) {
            fputs("...", stdout);
            c += strlen(ellipsis);
        } else if (*c) {
            printf(*c == ' ' ? "%c" : "\\%c", *c);
            c++;
        }
    }
}

static void put_synopsis(const char *name, const char *usage)
{
    printf("\n**weft %s** ", name);
    put_markdown(usage);
    putchar('\n');
}

/* One sentence of the help text. */
static void put_sentence(const char *text)
{
    putchar(toupper((unsigned char)*text++));
    for (char last = ' '; *text; last = *text++) {
        if (strncmp(text, "--", 2) == 0 && (last == ' ' || last == '(')) {
            const size_t size = strcspn(text, " ,.;:)");
            printf("**`%.*s`**", (int)size, text);
            text += size - 1;
        } else {
            printf(strchr("*_[]|`<\\", *text) ? "\\%c" : "%c", *text);
        }
    }
    puts(".");
}

static void put_entry(const char *mark, const struct cli_option *o)
{
    char text[TEXT], letter[80] = "", name[80] = "";
    if (o->kind == CLI_IS_HEADING) {
        const size_t size = strlen(o->help);
        printf("@heading -\n## %.*s\n", (int)(size - (o->help[size - 1] == ':')), o->help);
        return;
    }
    if (!cli_is_listed(o))
        return;
    printf("@%s --%s\n", mark, o->name);
    if (o->letter) {
        append_letter(letter, sizeof letter, o);
        put_markdown(letter);
        fputs(", ", stdout);
    }
    append_name(name, sizeof name, o);
    put_markdown(name);
    explain(text, o);
    fputs("\n: ", stdout);
    put_sentence(text);
}

void cli_manual(const struct cli_command *c)
{
    puts("@synopsis");
    each_usage(c, put_synopsis);
    for (const struct cli_option *o = c->options; o->kind != CLI_IS_END; o++)
        put_entry("option", o);
    if (c->paged)
        put_entry("option", &no_pager);
    put_entry("option", &help);
    for (const struct cli_option *o = c->others; o && o->kind != CLI_IS_END; o++)
        if (!is_repeated(o, c->options))
            put_entry("other", o);
}
