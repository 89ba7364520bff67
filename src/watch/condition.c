/* SPDX-License-Identifier: ISC */
#include "watch/condition.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/duration.h"

#define SECOND UINT64_C(1000000000)
#define WINDOW_DEFAULT (10 * SECOND)
#define WINDOW_MAX (24 * 3600 * SECOND)

struct parser {
    struct watch_condition *c;
    const char *text, *at;
    struct watch_mistake *mistake;
};

static bool wrong(struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool wrong(struct parser *p, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(p->mistake->why, sizeof p->mistake->why, format, args);
    va_end(args);
    p->mistake->at = (size_t)(at - p->text);
    return false;
}

static void skip_spaces(struct parser *p)
{
    p->at += strspn(p->at, " \t");
}

static size_t word_size(const char *at)
{
    return strcspn(at, " \t<>");
}

/* Takes a word if it comes next. */
static bool take_word(struct parser *p, const char *word)
{
    const size_t n = strlen(word);
    if (word_size(p->at) != n || strncmp(p->at, word, n) != 0)
        return false;
    p->at += n;
    skip_spaces(p);
    return true;
}

/* ---- Patterns ---- */

/* Where the first of these characters comes, or the end; one behind a backslash does not count. *tight: there, but before
 * the spaces that come last. */
static const char *find_one(const char *from, const char *stops, const char **tight)
{
    const char *at = *tight = from;
    while (*at && !strchr(stops, *at)) {
        const bool space = *at == ' ' || *at == '\t';
        at += *at == '\\' && at[1] ? 2 : 1;
        if (!space)
            *tight = at;
    }
    return at;
}

static bool take_pattern(struct parser *p, const char *what)
{
    const char *begin = p->at, quote[] = {*begin == '"' || *begin == '\'' ? *begin : 0, 0};
    const char *from = begin + (*quote != 0), *tight;
    const char *stop = find_one(from, *quote ? quote : "<>", &tight), *end = *quote ? stop : tight;
    if (*quote && !*stop)
        return wrong(p, begin, "this quote is not closed");
    if (end == from)
        return wrong(p, begin, "%s is missing here; * stands for any", what);
    p->at = stop + (*quote != 0);
    memcpy(p->c->pattern, from, (size_t)(end - from));
    p->c->pattern[end - from] = 0;
    skip_spaces(p);
    return true;
}

/* ---- What comes behind them ---- */

static bool take_sign(struct parser *p, bool below)
{
    if (*p->at == '<' && below)
        p->c->below = true;
    else if (*p->at == '<')
        return wrong(p, p->at, "only > is possible here");
    else if (*p->at != '>')
        return wrong(p, p->at, "%s is missing here", below ? "> or <" : "> and a bound");
    p->at++;
    if (*p->at == '=')
        return wrong(p, p->at, "only %s is possible, without =", below ? "> or <" : ">");
    skip_spaces(p);
    return true;
}

/* A time, which may have a space before its unit. */
static bool take_time(struct parser *p, int64_t *ns)
{
    const char *begin = p->at;
    size_t n = word_size(begin), gap = strspn(begin + n, " \t"), more = 0;
    while (isalpha((unsigned char)begin[n + gap + more]))
        more++;
    const bool has_unit = n > 0 && isalpha((unsigned char)begin[n - 1]);
    bool fine = has_unit && weft_parse_duration(begin, n, ns);
    if (!has_unit && n && more && weft_parse_duration(begin, n + gap + more, ns)) {
        fine = true;
        n += gap + more;
    }
    if (!n)
        return wrong(p, begin, "a time is missing here, as in 500ms or 2s");
    if (!fine)
        return wrong(p, begin, "\"%.*s\" is no time; 500ms, 2s or 5min would be",
                     (int)(n < 40 ? n : 40), begin);
    if (*ns <= 0)
        return wrong(p, begin, "the time must be more than 0");
    p->at += n;
    skip_spaces(p);
    return true;
}

static bool take_number(struct parser *p, int64_t *number)
{
    const size_t n = word_size(p->at);
    if (!n)
        return wrong(p, p->at, "a number is missing here");
    if (!weft_parse_signed(p->at, n, -INT64_MAX, INT64_MAX, number))
        return wrong(p, p->at, "\"%.*s\" is no whole number", (int)(n < 40 ? n : 40), p->at);
    p->at += n;
    skip_spaces(p);
    return true;
}

/* "5/s", "0.5/s", "100/min" */
static bool take_rate(struct parser *p)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
    const char *begin = p->at;
    const size_t n = word_size(begin), digits = strspn(begin, "0123456789."),
                 dot = strcspn(begin, ".");
    if (!n)
        return wrong(p, begin, "a rate is missing here, as in 5/s");
    if (begin[digits] == '/' && digits && digits < 32 && dot != digits - 1 &&
        (dot >= digits || !memchr(begin + dot + 1, '.', digits - dot - 1))) {
        /* without strtod, which depends on the locale */
        double value = 0, scale = 1;
        for (size_t i = 0; i < digits; i++) {
            if (begin[i] != '.')
                value = value * 10 + (begin[i] - '0');
            scale *= i > dot ? 10 : 1;
        }
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (n - digits - 1 == strlen(units[i].name) &&
                strncmp(begin + digits + 1, units[i].name, n - digits - 1) == 0) {
                p->c->per_second = value / scale / units[i].seconds;
                p->at += n;
                skip_spaces(p);
                return true;
            }
    }
    return wrong(p, begin, "\"%.*s\" is no rate; 5/s, 0.5/s, 100/min or 3/h would be",
                 (int)(n < 40 ? n : 40), begin);
}

/* ---- Kinds ---- */

static bool take_slow(struct parser *p)
{
    return take_pattern(p, "a label") && take_sign(p, false) && take_time(p, &p->c->bound);
}

static bool take_failed(struct parser *p)
{
    return take_pattern(p, "a label");
}

static bool take_loop(struct parser *p)
{
    return take_sign(p, false) && take_time(p, &p->c->bound);
}

static bool take_counter(struct parser *p)
{
    return take_pattern(p, "a counter's name") && take_sign(p, true) &&
           take_number(p, &p->c->bound);
}

static bool take_per_second(struct parser *p)
{
    int64_t ns;
    p->c->failed = take_word(p, "failed");
    p->c->window_ns = WINDOW_DEFAULT;
    if (!take_pattern(p, "a label") || !take_sign(p, false) || !take_rate(p))
        return false;
    const char *begin = p->at;
    if (take_word(p, "over")) {
        if (!take_time(p, &ns))
            return false;
        if ((uint64_t)ns > WINDOW_MAX)
            return wrong(p, begin, "at most a day is possible");
        p->c->window_ns = (uint64_t)ns;
    }
    if (take_word(p, "for")) {
        if (!take_time(p, &ns))
            return false;
        p->c->for_ns = (uint64_t)ns;
    }
    return true;
}

int watch_signal_number(const char *name, size_t size)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH},
                   {"URG", SIGURG},   {"ALRM", SIGALRM}, {"IO", SIGIO}};
    if (size > 3 && strncmp(name, "SIG", 3) == 0) {
        name += 3;
        size -= 3;
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strlen(signals[i].name) == size && strncmp(name, signals[i].name, size) == 0)
            return signals[i].number;
    return 0;
}

static bool take_signal(struct parser *p)
{
    const size_t n = word_size(p->at);
    if (!n)
        return wrong(p, p->at, "the name of a signal is missing here, as in USR1");
    p->c->signal = watch_signal_number(p->at, n);
    if (!p->c->signal)
        return wrong(p, p->at,
                     "\"%.*s\" is no signal for this; USR1, USR2, URG, WINCH, ALRM and IO are",
                     (int)(n < 40 ? n : 40), p->at);
    p->at += n;
    skip_spaces(p);
    return true;
}

static bool take_call(struct parser *p)
{
    return !*p->at || take_pattern(p, "a reason");
}

static bool take_nothing(struct parser *p)
{
    (void)p;
    return true;
}

static const struct {
    const char *word;
    enum watch_kind kind;
    bool (*take)(struct parser *p);
} kinds[] = {
    {"pending", WATCH_PENDING, take_slow}, {"failed", WATCH_FAILED, take_failed},
    {"loop", WATCH_LOOP, take_loop},       {"counter", WATCH_COUNTER, take_counter},
    {"rate", WATCH_RATE, take_per_second}, {"signal", WATCH_SIGNAL, take_signal},
    {"call", WATCH_CALL, take_call},       {"crash", WATCH_CRASH, take_nothing},
    {"exit", WATCH_EXIT, take_nothing},
};

bool watch_condition_parse(struct watch_condition *out, const char *text,
                           struct watch_mistake *mistake)
{
    struct parser p = {.c = out, .text = text, .at = text, .mistake = mistake};
    bool (*take)(struct parser *) = take_slow;
    *out = (struct watch_condition){.kind = WATCH_SLOW, .pattern = "*"};
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t')
            return wrong(&p, c, "there is a control character");
    skip_spaces(&p);
    const char *end;
    find_one(p.at, "", &end);
    const size_t size = (size_t)(end - p.at);
    if (!size)
        return wrong(&p, text, "it is empty");
    if (size >= sizeof out->text)
        return wrong(&p, text, "it is longer than %u bytes", WATCH_TEXT_BYTES - 1);
    memcpy(out->text, p.at, size);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (take_word(&p, kinds[i].word)) {
            out->kind = kinds[i].kind;
            take = kinds[i].take;
            break;
        }
    return take(&p) && (!*p.at || wrong(&p, p.at, "nothing more was expected here"));
}
