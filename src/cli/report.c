/* SPDX-License-Identifier: ISC */
#include "cli/report.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/common.h"
#include "format/utf8.h"

enum { NARROWEST = 40, WIDEST_PROSE = 110, USUAL = 100 };

/* ---- Characters ---- */

bool cli_ascii(void)
{
    static int ascii = -1;
    if (ascii < 0) {
        const char *names[] = {getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")}, *name = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names && !name; i++)
            name = names[i] && *names[i] ? names[i] : NULL;
        /* If no locale is set, as in a container, terminals usually support UTF-8 anyway. */
        ascii = name && !strcasestr(name, "utf-8") && !strcasestr(name, "utf8");
    }
    return ascii;
}

const char *cli_ascii_of(uint32_t code, char text[12])
{
    static const struct {
        uint32_t code;
        const char *text;
    } known[] = {
        {0xb5, "u"},     {0x3bc, "u"},  {0xd7, "x"},    {0x2010, "-"},  {0x2013, "-"},
        {0x2014, "-"},   {0x2018, "'"}, {0x2019, "'"},  {0x201c, "\""}, {0x201d, "\""},
        {0x2026, "..."}, {0x203a, ">"}, {0x2190, "<-"}, {0x2192, "->"}, {0x2500, "-"},
        {0x2502, "|"},   {0x250c, "+"}, {0x2510, "+"},  {0x2514, "+"},  {0x2518, "+"},
        {0x251c, "+"},   {0x2524, "+"}, {0x252c, "+"},  {0x2534, "+"},  {0x253c, "+"},
        {0x2581, "_"},   {0x2582, "."}, {0x2583, ":"},  {0x2584, "-"},  {0x2585, "="},
        {0x2586, "+"},   {0x2587, "*"}, {0x2588, "#"},  {0x2589, "#"},  {0x258a, "#"},
        {0x258b, "#"},   {0x258c, "#"}, {0x258d, "-"},  {0x258e, "-"},  {0x258f, "-"},
        {0xfffd, "?"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return known[i].text;
    snprintf(text, 12, code < 0x80 ? "%c" : code > 0xffff ? "\\U%08x" : "\\u%04x", code);
    return text;
}

/* A stream in front of another one. Characters may come in pieces. */
struct narrow {
    FILE *file;
    size_t kept;
    char part[4];
};

/* The length in bytes of a character that begins with this byte. */
static size_t length(unsigned char lead)
{
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

static ssize_t write_narrow(void *cookie, const char *text, size_t size)
{
    struct narrow *n = cookie;
    char room[12];
    for (size_t i = 0; i < size; i++) {
        uint32_t code;
        n->part[n->kept++] = text[i];
        if (n->kept < length((unsigned char)n->part[0]))
            continue;
        weft_utf8_decode(n->part, n->kept, &code);
        n->kept = 0;
        fputs(cli_ascii_of(code, room), n->file);
    }
    return fflush(n->file) == 0 ? (ssize_t)size : -1;
}

static FILE *narrow(struct narrow *n, FILE *file, int mode)
{
    FILE *f = fopencookie(n, "w", (cookie_io_functions_t){.write = write_narrow});
    n->file = file;
    setvbuf(file, NULL, _IOFBF, BUFSIZ);
    if (f)
        setvbuf(f, NULL, mode, BUFSIZ);
    return f ? f : file;
}

void cli_narrow_messages(void)
{
    static struct narrow messages;
    if (cli_ascii())
        stderr = narrow(&messages, stderr, _IONBF);
}

void cli_narrow_output(void)
{
    static struct narrow output;
    if (cli_ascii() && !output.file)
        stdout = narrow(&output, stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
}

/* ---- The terminal ---- */

static int known_columns(void)
{
    static int columns = -1;
    struct winsize size;
    if (columns >= 0)
        return columns;
    const char *said = getenv("COLUMNS");
    uint64_t n;
    columns = 0;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    else if (said && weft_parse_count(said, 10000, &n))
        columns = (int)n;
    if (columns)
        columns = columns < NARROWEST ? NARROWEST : columns;
    return columns;
}

int cli_columns(void)
{
    return known_columns() ? known_columns() : USUAL;
}

bool cli_is_narrow(void)
{
    return known_columns() != 0;
}

const char *cli_style(enum cli_style style)
{
    static const char *const codes[] = {
        [CLI_PLAIN] = "\033[0m",  [CLI_BOLD] = "\033[1m",     [CLI_FAINT] = "\033[2m",
        [CLI_BAD] = "\033[1;31m", [CLI_WARNING] = "\033[33m", [CLI_GOOD] = "\033[32m",
    };
    static int colours = -1;
    if (colours < 0) {
        const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
        colours = isatty(STDOUT_FILENO) && (!no || !*no) && terminal && strcmp(terminal, "dumb");
    }
    return colours ? codes[style] : "";
}

const char *cli_style_if(bool wanted, enum cli_style style)
{
    return wanted ? cli_style(style) : "";
}

/* ---- The pager ---- */

bool cli_paged;
static pid_t pager;

static void wait_for_pager(void)
{
    if (!pager)
        return;
    close(STDOUT_FILENO);
    (void)!TEMP_FAILURE_RETRY(waitpid(pager, NULL, 0));
    pager = 0;
}

static void flush_and_wait(void)
{
    fflush(stdout);
    wait_for_pager();
}

static void end_by(int signal_number)
{
    wait_for_pager();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static bool is_there(const char *program)
{
    const char *path = getenv("PATH");
    char name[4096];
    for (size_t n; path && *path; path += n + (path[n] == ':')) {
        n = strcspn(path, ":");
        snprintf(name, sizeof name, "%.*s/%s", (int)n, path, program);
        if (access(name, X_OK) == 0)
            return true;
    }
    return false;
}

/* Whether the shell would find what a command begins with; what is more than a name is left to the shell. */
static bool can_run(const char *command)
{
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(command, " \t"), command);
    if (strpbrk(word, "=\"'$;|&()\\~"))
        return true;
    return strchr(word, '/') ? access(word, X_OK) == 0 : is_there(word);
}

/* NULL: none. */
static const char *pager_command(void)
{
    const char *own = getenv("WEFT_PAGER"), *usual = getenv("PAGER");
    const char *command = own ? own : usual && *usual ? usual : is_there("less") ? "less" : "";
    return *command && strcmp(command, "cat") != 0 && can_run(command) ? command : NULL;
}

bool cli_has_pager(void)
{
    return !cli_no_pager && pager_command();
}

void cli_page(void)
{
    int fds[2];
    const char *command = pager_command();
    if (cli_no_pager || !command || !isatty(STDOUT_FILENO) || pipe(fds) < 0)
        return;
    cli_columns(); /* like the terminal */
    cli_style(CLI_PLAIN);
    fflush(stdout);
    pager = fork();
    if (pager == 0) {
        dup2(fds[0], STDIN_FILENO);
        close(fds[0]);
        close(fds[1]);
        signal(SIGPIPE, cli_sigpipe);
        setenv("LESS", "FRX", 0);
        setenv("LV", "-c", 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(fds[0]);
    if (pager > 0) {
        cli_paged = true;
        dup2(fds[1], STDOUT_FILENO);
        atexit(flush_and_wait);
        signal(SIGINT, end_by);
        signal(SIGTERM, end_by);
        signal(SIGHUP, end_by);
    } else {
        pager = 0;
    }
    close(fds[1]);
}

/* ---- Texts ---- */

size_t cli_fit(const char *text, size_t size, int room, int *used)
{
    size_t at = 0;
    char ascii[12];
    *used = 0;
    while (at < size) {
        uint32_t code;
        const size_t n = weft_utf8_decode(text + at, size - at, &code);
        const int width =
            cli_ascii() ? (int)strlen(cli_ascii_of(code, ascii)) : (int)weft_columns_of(code);
        if (*used + width > room)
            break;
        *used += width;
        at += n;
    }
    return at;
}

static int width_of(const char *text, size_t size)
{
    int used;
    cli_fit(text, size, INT32_MAX / 2, &used);
    return used;
}

int cli_width(const char *text)
{
    return width_of(text, strlen(text));
}

void cli_put_right(const char *text, int width)
{
    const int used = cli_width(text);
    printf("%*s%s", used < width ? width - used : 0, "", text);
}

void cli_put_cut(const char *text, int width)
{
    static const char ellipsis[] = "…";
    int used;
    const size_t all = strlen(text);
    if (cli_fit(text, all, width, &used) == all) {
        printf("%s%*s", text, width > used ? width - used : 0, "");
        return;
    }
    const int dots = cli_width(ellipsis);
    const size_t size = cli_fit(text, all, width > dots ? width - dots : 0, &used);
    printf("%.*s%s%*s", (int)size, text, ellipsis, width > used + dots ? width - used - dots : 0,
           "");
}

/* After `at` columns. */
static void wrap(int at, const char *rest, const char *text)
{
    const int width = cli_columns() < WIDEST_PROSE ? cli_columns() : WIDEST_PROSE;
    bool begun = false;
    while (*text) {
        const size_t word = strcspn(text, " ");
        const int wide = width_of(text, word);
        if (begun && at + 1 + wide > width) {
            printf("\n%s", rest);
            at = cli_width(rest);
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

void cli_wrap(const char *first, const char *rest, const char *text)
{
    fputs(first, stdout);
    wrap(cli_width(first), rest, text);
}

void cli_wrap_behind(int columns, const char *text)
{
    char rest[128];
    snprintf(rest, sizeof rest, "%*s", columns, "");
    wrap((int)strlen(rest), rest, text);
}

static bool lacked_memory;

void cli_lacks_memory(void)
{
    lacked_memory = true;
}

bool cli_lacked_memory(void)
{
    const bool lacked = lacked_memory;
    lacked_memory = false;
    return lacked;
}

static const char *finished(const struct analyse_text *text)
{
    lacked_memory |= text->failed;
    return text->text ? text->text : "";
}

void cli_wrap_text(const char *first, const char *rest, struct analyse_text *text)
{
    cli_wrap(first, rest, finished(text));
    analyse_text_fini(text);
}

void cli_wrap_text_behind(int columns, struct analyse_text *text)
{
    cli_wrap_behind(columns, finished(text));
    analyse_text_fini(text);
}

void cli_wrap_slots(const char *first, const char *rest, const struct weft_model *m,
                    const char *template, const struct analyse_slot *slots, size_t count)
{
    struct analyse_text t = {0};
    analyse_fill(&t, m, NULL, template, slots, count);
    cli_wrap_text(first, rest, &t);
}

void cli_heading(const char *text)
{
    printf("%s%s%s\n", cli_style(CLI_BOLD), text, cli_style(CLI_PLAIN));
}

int cli_bar(double part, double whole, int width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const double share = whole > 0 ? part / whole : 0;
    int n = (int)((share > 1 ? 1 : share) * width * 8 + 0.5);
    n = n == 0 && part > 0 ? 1 : n;
    for (int i = 0; i < n / 8; i++)
        fputs("█", stdout);
    fputs(eighths[n % 8], stdout);
    return (n + 7) / 8;
}

/* ---- Tables ---- */

struct cli_cell {
    char *text, *aside;
    const char *style;
};

void cli_cell(struct cli_table *t, const char *style, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    const bool made = vasprintf(&text, format, args) >= 0;
    va_end(args);
    if (!made || !weft_reserve(&t->cell, t->cells, &t->room, sizeof *t->cell)) {
        t->failed = true;
        if (made)
            free(text);
        return;
    }
    t->cell[t->cells++] = (struct cli_cell){.text = text, .style = style};
}

void cli_cell_aside(struct cli_table *t, const char *text)
{
    if (t->failed || !*text)
        return;
    t->cell[t->cells - 1].aside = strdup(text);
    t->failed |= !t->cell[t->cells - 1].aside;
}

static int gap(const struct cli_table *t, unsigned c)
{
    return t->column[c].gap ? t->column[c].gap : c ? 1 : 0;
}

/* The widths of the columns; 0: no space for that column. */
static void lay_out(const struct cli_table *t, int *width)
{
    const unsigned last = t->columns - 1;
    int total = 0, keeps = 0;
    for (unsigned c = 0; c < t->columns; c++) {
        const int head = cli_width(t->column[c].head);
        width[c] = head > t->column[c].least ? head : t->column[c].least;
    }
    for (size_t i = 0; i < t->cells; i++) {
        const int wide = cli_width(t->cell[i].text);
        const int most = t->column[i % t->columns].most;
        int *of = &width[i % t->columns];
        *of = wide <= *of ? *of : most && wide > most ? most : wide;
    }
    for (unsigned c = 0; c < t->columns; c++) {
        total += gap(t, c) + width[c];
        keeps = t->column[c].keep > keeps ? t->column[c].keep : keeps;
    }
    /* Texts may be cut; a column is dropped only if too little would be left of them. */
    const unsigned text = t->column[0].left ? 0 : last;
    const int least = width[text] < CLI_TEXT_LEAST ? width[text] : CLI_TEXT_LEAST;
    for (int keep = 1; keep <= keeps && total - width[text] + least > cli_columns(); keep++)
        for (unsigned c = 0; c < t->columns; c++)
            if (t->column[c].keep == keep && width[c]) {
                total -= gap(t, c) + width[c];
                width[c] = 0;
            }
    if (!t->column[text].left || total <= cli_columns() || (text == last && !cli_is_narrow()))
        return;
    const int room = cli_columns() - (total - width[text]);
    width[text] = room > least ? room : least;
}

static void put_cell(const struct cli_table *t, const int *width, unsigned c, const char *text,
                     const char *style)
{
    const bool last = c + 1 == t->columns;
    printf("%*s", gap(t, c), "");
    if (!t->column[c].left && *style) { /* not the spaces */
        printf("%*s%s%s", width[c] - cli_width(text), "", style, text);
    } else {
        fputs(style, stdout);
        if (!t->column[c].left)
            cli_put_right(text, width[c]);
        else if (last && cli_width(text) <= width[c])
            fputs(text, stdout);
        else
            cli_put_cut(text, width[c]);
    }
    if (*style)
        fputs(cli_style(CLI_PLAIN), stdout);
}

static void put_aside(const struct cli_table *t, const int *width, const struct cli_cell *cell)
{
    int used = cli_width(cell->text) + 2 + (cell->aside ? cli_width(cell->aside) : 0);
    for (unsigned c = 0; c < t->columns; c++)
        used += (width[c] ? gap(t, c) : 0) + (c + 1 < t->columns ? width[c] : 0);
    if (cell->aside && (used <= cli_columns() || !cli_is_narrow()))
        printf("  %s%s%s", cli_style(CLI_FAINT), cell->aside, cli_style(CLI_PLAIN));
}

void cli_table_print(struct cli_table *t)
{
    int width[CLI_COLUMNS_MAX];
    const bool ok = !t->failed;
    bool heads = false;
    lacked_memory |= t->failed;
    for (unsigned c = 0; c < t->columns; c++)
        heads |= *t->column[c].head != '\0';
    if (ok)
        lay_out(t, width);
    if (ok && heads) {
        fputs(cli_style(CLI_BOLD), stdout);
        for (unsigned c = 0; c < t->columns; c++)
            if (width[c])
                put_cell(t, width, c, t->column[c].head, "");
        printf("%s\n", cli_style(CLI_PLAIN));
    }
    for (uint32_t i = 0; i < t->cells; i++) {
        const unsigned c = i % t->columns;
        if (ok && width[c])
            put_cell(t, width, c, t->cell[i].text, t->cell[i].style);
        if (ok && c + 1 == t->columns) {
            put_aside(t, width, &t->cell[i]);
            putchar('\n');
        }
        free(t->cell[i].text);
        free(t->cell[i].aside);
    }
    free(t->cell);
    *t = (struct cli_table){.column = t->column, .columns = t->columns};
}
