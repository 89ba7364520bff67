/* SPDX-License-Identifier: ISC */
/* What the keys of weft top's screen do. They are those of htop where htop has the same. */
#include "cli/top/screen.h"

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncurses.h>

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/count.h"
#include "base/duration.h"
#include "cli/common.h"
#include "cli/top/views.h"
#include "format/utf8.h"

#define SECOND_NS INT64_C(1000000000)
enum { ESCAPE = 27, ENTER = '\r', DELETE = 127, BACKSPACE = 8, SHIFT = 16, TO_THE_END = 10000 };

void top_help_put(struct top_page *page, const struct top *t)
{
    static const char *const keys[][2] = {
        {"1 2 3 4 5 6, Tab", "the views: oldest pending, what waits for what, latencies, threads, "
                             "counters, samples"},
        {"Up Down PgUp PgDn Home End", "move the selection"},
        {"Left Right", "show what is further left or right"},
        {"Enter", "all about the selected line; there, Enter follows a promise, Esc goes back"},
        {"F3 /", "search in the lines; n: the next one"},
        {"F4 \\", "show only what has a text in its label, type, file or program"},
        {"F5 t", "what waits for what, as a tree"},
        {"F6 > <", "sort by the next column, the one before; I: the other way round"},
        {"Space p", "pause the display; the processes go on"},
        {"+ -", "look less often, more often"},
        {"] [", "count rates and latencies over more seconds, fewer (1 to 60)"},
        {"e", "explain the selected process (weft explain PID)"},
        {"s", "save its trace in the present folder (weft save)"},
        {"S", "sample the selected process, and no more: where its CPU time goes (6)"},
        {"u", "only the processes of one user (for root)"},
        {"Ctrl-L", "draw the screen anew"},
        {"F1 h ?", "these keys"},
        {"F10 q", "quit"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        top_put(page, TOP_PLAIN, "  ");
        top_cell(page, TOP_BOLD, -27, keys[i][0]);
        top_put(page, TOP_PLAIN, "%s", keys[i][1]);
        top_end(page, (struct top_key){0});
    }
    top_say(page, TOP_PLAIN, "%s", "");
    top_say(page, TOP_PLAIN,
            "  AGE: since its creation. WAITING: since it began to wait. Red: a deadlock, "
            "failures, a loop that is");
    top_say(page, TOP_PLAIN,
            "  busy all the time, turns of 100 ms and more. Faint: in the background. Now "
            "over %u s, every %s.",
            t->window_seconds, weft_duration(t->wait_ns).text);
}

/* ---- Views and order ---- */

static void to_view(struct top_screen *s, enum top_view view)
{
    s->t->view = view;
    s->mode = TOP_LIST;
    s->backs = 0;
    s->selected = s->scroll = s->wanted = 0;
    s->shift = 0;
    s->moved = false;
}

static void sort_by(struct top_screen *s, int step)
{
    struct top *t = s->t;
    const char *const *names = top_view_sorts(t->view);
    unsigned count = 0;
    while (names[count])
        count++;
    t->sort[t->view] = (t->sort[t->view] + count + (unsigned)step) % count;
    s->moved = false;
    s->selected = s->scroll = 0;
    top_screen_tell(s, false, "sorted by %s", names[t->sort[t->view]]);
}

static void set_window(struct top_screen *s, int step)
{
    struct top *t = s->t;
    const int seconds = (int)t->window_seconds + step;
    t->window_seconds = seconds < 1                 ? 1
                        : seconds > TOP_SECONDS_MAX ? (unsigned)TOP_SECONDS_MAX
                                                    : (unsigned)seconds;
    for (uint32_t i = 0; i < t->processes; i++)
        top_window_set(&t->process[i]->window, t->window_seconds);
    top_screen_tell(s, false, "rates and latencies over %u s", t->window_seconds);
}

static void set_interval(struct top_screen *s, bool longer)
{
    static const int64_t steps_ms[] = {100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000};
    const size_t count = sizeof steps_ms / sizeof *steps_ms;
    size_t i = 0;
    while (i + 1 < count && steps_ms[i] * 1000000 < s->t->interval_ns)
        i++;
    if (longer && i + 1 < count)
        i++;
    else if (!longer && i > 0)
        i--;
    s->t->interval_ns = s->t->wait_ns = steps_ms[i] * 1000000;
    s->look_now = true;
    top_screen_tell(s, false, "every %s", weft_duration(s->t->interval_ns).text);
}

/* Samples the selected process, or does so no more. */
static void switch_sampling(struct top_screen *s)
{
    struct top_process *p = NULL;
    const struct top_process *chosen = top_screen_process(s);
    for (uint32_t i = 0; i < s->t->processes; i++)
        if (s->t->process[i] == chosen)
            p = s->t->process[i];
    if (!p || p->ended)
        return;
    const bool begin = !p->samples.hz;
    if (!top_sample(s->t, p, begin))
        top_screen_tell(s, true, "%d processes are sampled already", TOP_SAMPLED_MAX);
    else if (begin)
        top_screen_tell(s, false, "process %d (%s) is sampled, %s a second; S ends it", (int)p->pid,
                        p->program, cli_many(p->samples.hz, "time").text);
    else
        top_screen_tell(s, false, "process %d (%s) is not sampled any more", (int)p->pid,
                        p->program);
    if (begin && s->t->view != TOP_SAMPLES)
        to_view(s, TOP_SAMPLES);
}

/* ---- Selection ---- */

static void select_by(struct top_screen *s, int64_t by)
{
    const int64_t lines = (int64_t)s->body.lines - s->heads, at = (int64_t)s->selected + by;
    s->selected = at < 0 ? 0 : at >= lines ? (uint32_t)(lines > 0 ? lines - 1 : 0) : (uint32_t)at;
    s->moved = s->selected > 0;
    if (s->body.lines > s->heads)
        s->key = s->body.line[s->heads + s->selected].key;
}

static void to_end(struct top_screen *s)
{
    s->wanted = TO_THE_END;
    top_screen_draw(s); /* with more lines */
    select_by(s, INT32_MAX);
}

static void enter(struct top_screen *s)
{
    if (!s->key.process || (s->mode == TOP_DETAILS && !s->key.promise))
        return;
    if (s->backs == TOP_BACK) {
        memmove(s->back, s->back + 1, (TOP_BACK - 1) * sizeof *s->back);
        s->backs--;
    }
    s->back[s->backs++] = s->key;
    s->mode = TOP_DETAILS;
    s->selected = s->scroll = 0;
    s->moved = false;
}

static void go_back(struct top_screen *s)
{
    if (s->mode == TOP_DETAILS && --s->backs)
        return;
    if (s->mode == TOP_LIST && *s->t->filter) {
        *s->t->filter = 0;
        top_screen_tell(s, false, "no filter");
    } else if (s->mode != TOP_LIST) {
        if (s->mode == TOP_DETAILS) {
            s->key = s->back[0];
            s->moved = true;
        }
        s->mode = TOP_LIST;
    }
}

/* ---- Prompts ---- */

static void begin_prompt(struct top_screen *s, enum top_prompt prompt)
{
    if (prompt == TOP_USER && geteuid() != 0) {
        top_screen_tell(s, true, "only root sees the processes of others");
        return;
    }
    s->prompt = prompt;
    snprintf(s->before, sizeof s->before, "%s", s->t->filter);
    snprintf(s->text, sizeof s->text, "%s", prompt == TOP_FILTER ? s->t->filter : "");
}

static void remove_foreign(struct top *t, uid_t user)
{
    for (uint32_t i = 0; i < t->processes; i++)
        if (user != (uid_t)-1 && t->process[i]->user != user && !t->process[i]->ended) {
            t->process[i]->ended = true;
            snprintf(t->process[i]->how, sizeof t->process[i]->how, "is another user's");
        }
}

static void set_user(struct top_screen *s)
{
    const struct passwd *user = *s->text ? getpwnam(s->text) : NULL;
    uint64_t number = 0;
    if (*s->text && !user && !weft_parse_count(s->text, UINT32_MAX - 1, &number)) {
        top_screen_tell(s, true, "there is no user \"%s\"", s->text);
        return;
    }
    const uid_t uid = !*s->text ? (uid_t)-1 : user ? user->pw_uid : (uid_t)number;
    top_finder_user(s->t->finder, uid);
    remove_foreign(s->t, uid);
    s->look_now = true;
}

static void end_prompt(struct top_screen *s, bool keep)
{
    const enum top_prompt prompt = s->prompt;
    s->prompt = TOP_NO_PROMPT;
    if (prompt == TOP_USER && keep)
        set_user(s);
    if (prompt == TOP_FILTER && !keep)
        snprintf(s->t->filter, sizeof s->t->filter, "%s", s->before);
}

/* What was typed takes effect at once. */
static void apply_prompt(struct top_screen *s)
{
    if (s->prompt == TOP_FILTER)
        snprintf(s->t->filter, sizeof s->t->filter, "%s", s->text);
    if (s->prompt != TOP_SEARCH)
        return;
    snprintf(s->search, sizeof s->search, "%s", s->text);
    if (*s->search && !top_screen_find(s, false))
        top_screen_tell(s, true, "not found: %s", s->search);
}

static void type(struct top_screen *s, wchar_t c)
{
    char bytes[8];
    mbstate_t state = {0};
    const size_t n = wcrtomb(bytes, c, &state), size = strlen(s->text);
    if (n == (size_t)-1 || size + n >= sizeof s->text)
        return;
    memcpy(s->text + size, bytes, n);
    s->text[size + n] = 0;
}

static void prompt_key(struct top_screen *s, int key, bool special)
{
    const size_t size = strlen(s->text);
    if ((special && key == KEY_ENTER) || (!special && (key == ENTER || key == '\n')))
        end_prompt(s, true);
    else if (!special && key == ESCAPE)
        end_prompt(s, false);
    else if ((special && key == KEY_BACKSPACE) || (!special && (key == DELETE || key == BACKSPACE)))
        s->text[size ? weft_text_keep(s->text, size, size - 1) : 0] = 0;
    else if (!special && key == 'U' - '@')
        *s->text = 0;
    else if (!special && key >= ' ')
        type(s, (wchar_t)key);
    if (s->prompt)
        apply_prompt(s);
}

/* ---- Keys ---- */

static bool special_key(struct top_screen *s, int key)
{
    switch (key) {
    case KEY_UP:
        select_by(s, -1);
        return true;
    case KEY_DOWN:
        select_by(s, 1);
        return true;
    case KEY_PPAGE:
        select_by(s, -(int64_t)s->body_lines);
        return true;
    case KEY_NPAGE:
        s->wanted = s->selected + 3 * s->body_lines;
        select_by(s, s->body_lines);
        return true;
    case KEY_HOME:
        s->wanted = 0;
        select_by(s, -(int64_t)INT32_MAX);
        return true;
    case KEY_END:
        to_end(s);
        return true;
    case KEY_LEFT:
        s->shift = s->shift > SHIFT ? s->shift - SHIFT : 0;
        return true;
    case KEY_RIGHT:
        s->shift += s->shift < 512 ? SHIFT : 0;
        return true;
    case KEY_ENTER:
        enter(s);
        return true;
    default:
        return false;
    }
}

/* Keys with a number do what letters do. */
static int letter_of(int key)
{
    static const struct {
        int key, letter;
    } same[] = {{KEY_F(1), 'h'}, {KEY_F(3), '/'},        {KEY_F(4), '\\'}, {KEY_F(5), 't'},
                {KEY_F(6), '>'}, {KEY_F(10), 'q'},       {KEY_BTAB, 'Z'},  {KEY_F(7), '['},
                {KEY_F(8), ']'}, {KEY_BACKSPACE, ESCAPE}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (same[i].key == key)
            return same[i].letter;
    return 0;
}

static void view_key(struct top_screen *s, int letter)
{
    struct top *t = s->t;
    if (letter >= '1' && letter < '1' + (int)TOP_VIEWS)
        to_view(s, (enum top_view)(letter - '1'));
    else if (letter == '\t')
        to_view(s, (enum top_view)((t->view + 1) % TOP_VIEWS));
    else if (letter == 'Z')
        to_view(s, (enum top_view)((t->view + TOP_VIEWS - 1) % TOP_VIEWS));
    else if (letter == 't')
        to_view(s, t->view == TOP_TREE ? TOP_PENDING : TOP_TREE);
    else if (letter == '>' || letter == '.')
        sort_by(s, 1);
    else if (letter == '<' || letter == ',')
        sort_by(s, -1);
    else if (letter == 'I')
        t->reverse[t->view] = !t->reverse[t->view];
    else if (letter == ']' || letter == '[')
        set_window(s, letter == ']' ? 1 : -1);
    else if (letter == '+' || letter == '=' || letter == '-')
        set_interval(s, letter != '-');
}

static void letter_key(struct top_screen *s, int letter)
{
    switch (letter) {
    case 'q':
    case 'Q':
        s->quit = s->mode == TOP_LIST;
        if (s->mode != TOP_LIST) {
            s->backs = s->mode == TOP_DETAILS ? 1 : 0;
            go_back(s);
        }
        return;
    case 'h':
    case '?':
        s->mode = s->mode == TOP_HELP ? TOP_LIST : TOP_HELP;
        s->backs = 0;
        s->selected = s->scroll = 0;
        return;
    case ESCAPE:
        go_back(s);
        return;
    case ENTER:
    case '\n':
        enter(s);
        return;
    case ' ':
    case 'p':
        s->frozen = !s->frozen;
        s->look_now = !s->frozen;
        return;
    case '/':
        begin_prompt(s, TOP_SEARCH);
        return;
    case '\\':
        begin_prompt(s, TOP_FILTER);
        return;
    case 'u':
        begin_prompt(s, TOP_USER);
        return;
    case 'n':
        if (!top_screen_find(s, true))
            top_screen_tell(s, true, *s->search ? "not found: %s" : "nothing was searched%s",
                            s->search);
        return;
    case 'e':
        top_explain(s);
        return;
    case 's':
        top_save(s);
        return;
    case 'S':
        switch_sampling(s);
        return;
    case 'k':
        select_by(s, -1);
        return;
    case 'j':
        select_by(s, 1);
        return;
    case 'L' - '@':
        top_screen_return();
        return;
    default:
        view_key(s, letter);
    }
}

void top_screen_key(struct top_screen *s, int key, bool special)
{
    if (special && key == KEY_RESIZE)
        return;
    if (s->prompt) {
        prompt_key(s, key, special);
        return;
    }
    if (special && special_key(s, key))
        return;
    const int letter = special ? letter_of(key) : key;
    if (letter)
        letter_key(s, letter);
}
