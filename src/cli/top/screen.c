/* SPDX-License-Identifier: ISC */
/* weft top's screen, drawn with ncurses. */
#include "cli/top/screen.h"

#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncurses.h>

#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/views.h"
#include "format/utf8.h"

#define SECOND_NS INT64_C(1000000000)
enum {
    MESSAGE_SECONDS = 6,
    ROWS_LEAST = 50,
    LINES_FOR_TABS = 9, /* a screen that is not as high has none */
    LINES_FOR_FOOT = 4,
    EMPTY_READS_MOST = 100, /* … of a terminal that has something to read: it is gone */
};

/* ---- One line ---- */

static bool coloured;

static attr_t attribute(enum top_style style, short *pair)
{
    static const struct {
        attr_t plain, coloured;
        short pair;
    } styles[TOP_STYLES] = {
        [TOP_BOLD] = {WA_BOLD, WA_BOLD, 0},
        [TOP_FAINT] = {WA_DIM, WA_DIM, 0},
        [TOP_BAD] = {WA_BOLD | WA_UNDERLINE, WA_BOLD, TOP_BAD},
        [TOP_WARNING] = {WA_BOLD, WA_NORMAL, TOP_WARNING},
        [TOP_GOOD] = {WA_NORMAL, WA_NORMAL, TOP_GOOD},
        [TOP_HEAD] = {WA_NORMAL, WA_NORMAL, 0},
    };
    *pair = coloured ? styles[style].pair : 0;
    return coloured ? styles[style].coloured : styles[style].plain;
}

/* Adds one character at the cursor, if it is in the visible part; *at: its column in the line. */
static bool add(uint32_t code, int *at, int shift, int columns)
{
    char ascii[12];
    if (cli_ascii()) {
        for (const char *c = cli_ascii_of(code, ascii); *c; c++, ++*at)
            if (*at >= shift && *at - shift < columns)
                addnstr(c, 1);
        return *at - shift < columns;
    }
    const int width = (int)weft_columns_of(code);
    if (*at + width - shift > columns)
        return false;
    wchar_t text[3] = {(wchar_t)code, 0, 0};
    if (wcwidth((wchar_t)code) != width) { /* the C library has other tables */
        text[0] = width ? L'?' : 0;
        text[1] = width > 1 ? L'?' : 0;
    }
    if (*at >= shift && text[0])
        addwstr(text);
    *at += width;
    return true;
}

/* Draws a line of a page. over: attributes for all of it, and up to the right edge. */
static void draw_line(int y, const char *text, int shift, int columns, attr_t over)
{
    int at = 0;
    move(y, 0);
    attr_set(over, 0, NULL);
    while (*text) {
        uint32_t code;
        short pair;
        const unsigned char first = (unsigned char)*text;
        if (first < TOP_STYLES) {
            const attr_t a = attribute(first, &pair);
            attr_set(over ? over | (a & WA_BOLD) : a, pair, NULL);
            text++;
            continue;
        }
        text += weft_utf8_decode(text, strnlen(text, 4), &code);
        if (!add(code, &at, shift, columns))
            break;
    }
    attr_set(over, 0, NULL);
    for (int x = getcurx(stdscr); x < columns && getcury(stdscr) == y && (over || x); x++)
        addch(' ');
    attr_set(WA_NORMAL, 0, NULL);
}

/* ---- The parts ---- */

static void draw_tabs(const struct top_screen *s, int y)
{
    static const char *const names[TOP_VIEWS] = {"1 Pending", "2 Tree",     "3 Latency",
                                                 "4 Threads", "5 Counters", "6 Samples"};
    move(y, 0);
    for (unsigned v = 0; v < TOP_VIEWS && s->mode == TOP_LIST; v++) {
        if (getcurx(stdscr) + (int)strlen(names[v]) + 2 >= s->columns)
            break;
        attr_set(v == s->t->view ? WA_REVERSE | WA_BOLD : WA_DIM, 0, NULL);
        printw(" %s ", names[v]);
    }
    attr_set(WA_BOLD, 0, NULL);
    if (s->mode == TOP_DETAILS)
        addnstr("details", s->columns);
    else if (s->mode == TOP_HELP)
        addnstr("keys", s->columns);
    attr_set(WA_NORMAL, 0, NULL);
}

static void draw_keys(const struct top_screen *s)
{
    static const struct {
        const char *key, *name;
    } list[] = {{"F1", "Help  "},   {"F3", "Search"},     {"F4", "Filter"}, {"F5", "Tree  "},
                {"F6", "Sort  "},   {"Enter", "Details"}, {"e", "Explain"}, {"s", "Save"},
                {"Space", "Pause"}, {"q", "Quit"}},
      back[] = {
          {"Esc", "Back"}, {"Enter", "Follow"}, {"e", "Explain"}, {"s", "Save"}, {"q", "Quit"}};
    const unsigned count = s->mode == TOP_LIST ? 10 : 5;
    for (unsigned i = 0; i < count; i++) {
        const char *key = s->mode == TOP_LIST ? list[i].key : back[i].key;
        const char *name = s->mode == TOP_LIST ? list[i].name : back[i].name;
        if (getcurx(stdscr) + (int)strlen(key) + (int)strlen(name) + 1 >= s->columns)
            break;
        attr_set(WA_BOLD, 0, NULL);
        addstr(key);
        attr_set(WA_REVERSE, 0, NULL);
        addstr(name);
        attr_set(WA_NORMAL, 0, NULL);
        addch(' ');
    }
}

static void draw_foot(const struct top_screen *s, int y)
{
    static const char *const prompts[] = {
        [TOP_SEARCH] = "Search: ", [TOP_FILTER] = "Filter: ", [TOP_USER] = "User (empty: all): "};
    struct top_page line = {0};
    move(y, 0);
    clrtoeol();
    if (s->prompt)
        top_say(&line, TOP_BOLD, "%s%s_", prompts[s->prompt], s->text);
    else if (*s->message)
        top_say(&line, s->bad_message ? TOP_BAD : TOP_BOLD, "%s", s->message);
    else if (s->frozen)
        top_say(&line, TOP_WARNING, "%s", "paused; space goes on");
    if (line.lines)
        draw_line(y, top_line_text(&line, 0), 0, s->columns, 0);
    else
        draw_keys(s);
    top_page_fini(&line);
}

/* ---- Making the lines ---- */

static bool same(const struct top_key *a, const struct top_key *b)
{
    return a->process == b->process && a->promise == b->promise && a->row == b->row &&
           a->thread == b->thread && a->counter == b->counter;
}

static uint32_t rest(const struct top_screen *s)
{
    return s->body.lines > s->heads ? s->body.lines - s->heads : 0;
}

/* The selection stays with what it is about; and is in the visible part. */
static void keep_selection(struct top_screen *s)
{
    const uint32_t lines = rest(s);
    for (uint32_t i = 0; s->moved && s->key.process && i < lines; i++) {
        if (!same(&s->body.line[s->heads + i].key, &s->key))
            continue;
        s->selected = i;
        break;
    }
    if (s->selected >= lines)
        s->selected = lines ? lines - 1 : 0;
    if (s->selected < s->scroll)
        s->scroll = s->selected;
    if (s->body_lines && s->selected >= s->scroll + s->body_lines)
        s->scroll = s->selected - s->body_lines + 1;
    if (lines)
        s->key = s->body.line[s->heads + s->selected].key;
}

static void make_body(struct top_screen *s)
{
    struct top *t = s->t;
    top_page_clear(&s->body);
    s->heads = 0;
    if (s->mode == TOP_HELP) {
        top_help_put(&s->body, t);
    } else if (s->mode == TOP_DETAILS && s->backs) {
        top_details_put(&s->body, t, &s->back[s->backs - 1], s->columns);
    } else if (!t->processes) {
        top_nothing_put(&s->body, t);
    } else {
        uint32_t most = s->scroll + 2 * s->body_lines;
        most = most > s->wanted ? most : s->wanted;
        top_view_put(&s->body, t, t->view, s->columns,
                     most > ROWS_LEAST ? most : (uint32_t)ROWS_LEAST);
        s->heads = 1;
    }
}

void top_screen_draw(struct top_screen *s)
{
    getmaxyx(stdscr, s->lines, s->columns);
    const int foot = s->lines >= LINES_FOR_FOOT, tabs = s->lines >= LINES_FOR_TABS;
    top_page_clear(&s->head);
    top_head_put(&s->head, s->t, s->columns,
                 s->lines >= LINES_FOR_TABS ? (uint32_t)s->lines / 3 : 1);
    const int head = (int)s->head.lines < s->lines ? (int)s->head.lines : s->lines;
    const int room = s->lines - head - tabs - foot;
    s->body_lines = room > 1 ? (uint32_t)room - (s->mode == TOP_LIST) : 1;
    make_body(s);
    keep_selection(s);
    erase();
    int y = 0;
    for (; y < head; y++)
        draw_line(y, top_line_text(&s->head, (uint32_t)y), 0, s->columns, 0);
    if (tabs)
        draw_tabs(s, y++);
    const int end = s->lines - foot;
    if (s->heads && s->body.lines && y < end)
        draw_line(y++, top_line_text(&s->body, 0), s->shift, s->columns, WA_REVERSE);
    for (uint32_t i = s->scroll; i < rest(s) && y < end; i++)
        draw_line(y++, top_line_text(&s->body, s->heads + i), s->shift, s->columns,
                  i == s->selected && s->mode != TOP_HELP ? WA_REVERSE : 0);
    if (foot)
        draw_foot(s, s->lines - 1);
    refresh();
}

void top_screen_tell(struct top_screen *s, bool bad, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->message, sizeof s->message, format, args);
    va_end(args);
    s->bad_message = bad;
    s->message_until_ns = weft_monotonic_ns() + MESSAGE_SECONDS * SECOND_NS;
}

/* Without the bytes that are styles. */
static bool line_has(const char *line, const char *text)
{
    char plain[2048];
    size_t n = 0;
    for (; *line && n < sizeof plain - 1; line++)
        if ((unsigned char)*line >= TOP_STYLES)
            plain[n++] = *line;
    plain[n] = 0;
    return strcasestr(plain, text) != NULL;
}

bool top_screen_find(struct top_screen *s, bool next)
{
    const uint32_t lines = rest(s);
    for (uint32_t i = 0; i < lines && *s->search; i++) {
        const uint32_t at = (s->selected + i + next) % lines;
        if (!line_has(top_line_text(&s->body, s->heads + at), s->search))
            continue;
        s->selected = at;
        s->moved = true;
        s->key = s->body.line[s->heads + at].key;
        return true;
    }
    return false;
}

const struct top_process *top_screen_process(const struct top_screen *s)
{
    const struct top_process *p = top_process_of(
        s->t, s->mode == TOP_DETAILS && s->backs ? s->back[s->backs - 1].process : s->key.process);
    return p ? p : s->t->processes ? s->t->process[0] : NULL;
}

/* ---- The terminal ---- */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    stop = number;
}

void top_screen_leave(void)
{
    endwin();
}

void top_screen_return(void)
{
    clearok(stdscr, TRUE);
    refresh();
}

static bool begin(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const char *no = getenv("NO_COLOR");
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* ncurses asks the C library what characters are. */
    if (cli_ascii() || !setlocale(LC_CTYPE, "") || MB_CUR_MAX < 4)
        setlocale(LC_CTYPE, cli_ascii() ? "C" : "C.UTF-8");
    /* Not stdout, which may be a stream that converts to ASCII. */
    const int fd = dup(STDOUT_FILENO);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out || !newterm(NULL, out, stdin))
        return false;
    set_escdelay(25);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    coloured = has_colors() && (!no || !*no);
    if (coloured) {
        start_color();
        use_default_colors();
        init_pair(TOP_BAD, COLOR_RED, -1);
        init_pair(TOP_WARNING, COLOR_YELLOW, -1);
        init_pair(TOP_GOOD, COLOR_GREEN, -1);
    }
    return true;
}

/* Reads what was typed. Returns false if there was nothing. */
static bool read_keys(struct top_screen *s)
{
    wint_t key;
    bool any = false;
    for (int rc; (rc = get_wch(&key)) != ERR && !s->quit; any = true)
        top_screen_key(s, (int)key, rc == KEY_CODE_YES);
    return any;
}

static void look(struct top_screen *s, int64_t *next_ns)
{
    const int64_t begun_ns = weft_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!s->frozen)
        top_look(s->t);
    if (s->message_until_ns < weft_monotonic_ns())
        *s->message = 0;
    top_screen_draw(s);
    top_pace(s->t, weft_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns);
    /* The second look comes soon: only then are there rates. */
    const int64_t wait_ns =
        s->t->looks == 1 && s->t->wait_ns > SECOND_NS ? SECOND_NS : s->t->wait_ns;
    *next_ns = weft_monotonic_ns() + wait_ns;
    s->look_now = false;
}

int top_screen_run(struct top *t, struct top_serve *serve)
{
    struct top_screen s = {.t = t, .serve = serve};
    int64_t next_ns = 0;
    unsigned empty = 0;
    if (!begin())
        return cli_fail("top",
                        "there is no description of the terminal \"%s\"; weft top -b needs none",
                        cli_shown(getenv("TERM")).text);
    while (!s.quit && !stop && empty < EMPTY_READS_MOST) {
        if (s.look_now || weft_monotonic_ns() >= next_ns)
            look(&s, &next_ns);
        if (!top_serve_wait(serve, STDIN_FILENO, next_ns)) {
            empty = 0;
            continue;
        }
        empty = read_keys(&s) ? 0 : empty + 1;
        top_screen_draw(&s);
    }
    endwin();
    top_page_fini(&s.head);
    top_page_fini(&s.body);
    return CLI_DONE;
}
