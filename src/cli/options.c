/* SPDX-License-Identifier: ISC */
#include "cli/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common.h"

enum { OPTIONS_MAX = 64, FIRST = 1000, HELP = FIRST + OPTIONS_MAX, NO_PAGER };

/* ---- Misspelled names ---- */

/* How many letters must be inserted, dropped or replaced to turn a into b. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32];
    size_t width = strlen(b);
    if (width >= sizeof row / sizeof *row)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[width];
}

const char *cli_nearest(const char *typed, const char *(*next)(const void *data, size_t i),
                        const void *data)
{
    const char *nearest = NULL, *name;
    size_t least = 3; /* a greater distance is not a typing error */
    for (size_t i = 0; (name = next(data, i)); i++) {
        size_t d = distance(typed, name);
        if (d < least && d < strlen(name)) {
            least = d;
            nearest = name;
        }
    }
    return nearest;
}

void cli_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* ---- Values ---- */

const char *cli_word(const struct cli_option *o, unsigned i)
{
    return o->words ? o->words[i] : o->word ? o->word(i) : NULL;
}

static const char *word_name(const void *option, size_t i)
{
    return cli_word(option, (unsigned)i);
}

_Noreturn static void refuse_word(const struct cli_command *c, const struct cli_option *o,
                                  const char *text, size_t size)
{
    char list[700] = "", given[80];
    const char *word;
    snprintf(given, sizeof given, "%.*s", (int)size, text);
    const char *nearest = cli_nearest(given, word_name, o);
    if (nearest)
        cli_misuse(c->name, "--%s: there is no \"%s\" (did you mean \"%s\"?)", o->name, given,
                   nearest);
    for (unsigned i = 0; (word = cli_word(o, i)); i++)
        cli_append(list, sizeof list, "%s%s", i ? ", " : "", word);
    cli_misuse(c->name, "--%s: there is no \"%.*s\"; there are %s", o->name, (int)size, text, list);
}

static unsigned find_word(const struct cli_command *c, const struct cli_option *o, const char *text,
                          size_t size)
{
    const char *word;
    for (unsigned i = 0; (word = cli_word(o, i)); i++)
        if (strlen(word) == size && strncasecmp(word, text, size) == 0)
            return i;
    refuse_word(c, o, text, size);
}

const char *cli_allowed_word(const struct cli_command *c, const struct cli_option *o,
                             const char *text)
{
    return cli_word(o, find_word(c, o, text, strlen(text)));
}

static void take_words(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    if (!o->list) {
        *(unsigned *)o->to = o->first + find_word(c, o, text, strlen(text));
        return;
    }
    for (size_t size; *text; text += size + (text[size] == ',')) {
        size = strcspn(text, ",");
        *(uint32_t *)o->to |= 1u << find_word(c, o, text, size);
    }
}

static void store(const struct cli_option *o, uint64_t n)
{
    if (o->bytes == sizeof(uint32_t))
        *(uint32_t *)o->to = (uint32_t)n;
    else
        *(uint64_t *)o->to = n;
}

static void take_number(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    uint64_t n, most = o->most ? o->most : o->bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
    if (weft_parse_count(text, most, &n) && n >= o->least) {
        store(o, n);
        return;
    }
    char range[80] = "";
    if (o->most)
        snprintf(range, sizeof range, " from %" PRIu64 " to %" PRIu64, o->least, o->most);
    else if (o->least)
        snprintf(range, sizeof range, " from %" PRIu64 " on", o->least);
    cli_misuse(c->name, "--%s: \"%s\" is not a number%s", o->name, text, range);
}

/* "64K": exact, in the form used on the command line. */
static const char *exact_bytes(char text[32], uint64_t bytes)
{
    unsigned unit = 0;
    for (; bytes && bytes % 1024 == 0 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, 32, "%" PRIu64 "%.1s", bytes, &" KMGT"[unit]);
    text[strcspn(text, " ")] = '\0';
    return text;
}

static void take_size(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    char least[32], most[32];
    uint64_t bytes, limit = o->most ? o->most : UINT64_MAX;
    if (!weft_parse_size(text, &bytes))
        cli_misuse(c->name, "--%s: \"%s\" is not a size; expected for instance 64M", o->name, text);
    if (bytes >= o->least && bytes <= limit) {
        store(o, bytes);
        return;
    }
    cli_misuse(c->name, "--%s: %s is too %s; possible is %s%s%s", o->name, text,
               bytes < o->least ? "small" : "large", exact_bytes(least, o->least),
               o->most ? " to " : " and more", o->most ? exact_bytes(most, o->most) : "");
}

int64_t cli_time(const struct cli_command *c, const struct cli_option *o, const char *text)
{
    int64_t ns;
    if (!weft_parse_duration(text, strlen(text), &ns))
        cli_misuse(c->name,
                   "--%s: \"%s\" is not a time; expected for instance 39.5ms, 2s or 1500 "
                   "(nanoseconds)",
                   o->name, text);
    if (o->least && ns < (int64_t)o->least)
        cli_misuse(c->name, "--%s: \"%s\" is too short; expected %s%s", o->name, text,
                   o->least == 1 ? "a time above 0" : "at least ",
                   o->least == 1 ? "" : weft_duration((int64_t)o->least).text);
    if (o->most && ns > (int64_t)o->most)
        cli_misuse(c->name, "--%s: \"%s\" is too long; expected at most %s", o->name, text,
                   weft_duration((int64_t)o->most).text);
    return ns;
}

bool cli_is_listed(const struct cli_option *o)
{
    return o->kind != CLI_IS_REFUSED && o->kind != CLI_IS_HEADING;
}

static void set_option(const struct cli_command *c, const struct cli_option *o, const char *value)
{
    if (o->given)
        *o->given = true;
    value = value ? value : o->alone;
    if (o->kind == CLI_IS_FLAG)
        *(bool *)o->to = true;
    else if (o->kind == CLI_IS_REFUSED)
        cli_misuse(c->name, "--%s%s", o->name, o->help);
    else if (o->kind == CLI_IS_CALL)
        o->call(c, o, value);
    else if (o->kind == CLI_IS_TEXT)
        *(const char **)o->to = cli_word(o, 0) ? cli_allowed_word(c, o, value) : value;
    else if (o->kind == CLI_IS_NUMBER)
        take_number(c, o, value);
    else if (o->kind == CLI_IS_SIZE)
        take_size(c, o, value);
    else if (o->kind == CLI_IS_TIME)
        *(int64_t *)o->to = cli_time(c, o, value);
    else if (o->kind == CLI_IS_WORD)
        take_words(c, o, value);
}

/* ---- The command line ---- */

/* The table in the form that getopt_long needs. */
struct known {
    struct option list[OPTIONS_MAX + 3];
    char letters[2 * OPTIONS_MAX + 4];
};

static void describe(struct known *k, const struct cli_command *c, const struct cli_option *table)
{
    size_t n = 0;
    char *letter = k->letters;
    if (c->program)
        *letter++ = '+';
    *letter++ = ':';
    for (const struct cli_option *o = table; o->kind != CLI_IS_END && n < OPTIONS_MAX; o++) {
        if (o->kind == CLI_IS_HEADING)
            continue;
        k->list[n++] = (struct option){o->name,
                                       !o->value  ? no_argument
                                       : o->alone ? optional_argument
                                                  : required_argument,
                                       NULL, FIRST + (int)(o - table)};
        if (o->letter)
            *letter++ = o->letter;
        if (o->letter && o->value)
            *letter++ = ':';
    }
    if (c->paged)
        k->list[n++] = (struct option){"no-pager", no_argument, NULL, NO_PAGER};
    k->list[n++] = (struct option){"help", no_argument, NULL, HELP};
    k->list[n] = (struct option){0};
    *letter = '\0';
}

/* "--size or --sample": lists the options that a word, without its value, may abbreviate. Returns how many. */
static unsigned candidates(char *out, size_t size, const char *word, const struct option *options)
{
    const size_t n = strcspn(word, "=");
    unsigned count = 0, said = 0;
    *out = '\0';
    for (const struct option *o = options; o->name; o++)
        count += strncmp(o->name, word, n) == 0;
    for (const struct option *o = options; o->name; o++)
        if (strncmp(o->name, word, n) == 0)
            cli_append(out, size, "%s--%s",
                       said++ == 0     ? ""
                       : said == count ? " or "
                                       : ", ",
                       o->name);
    return count;
}

static const char *option_name(const void *list, size_t i)
{
    return ((const struct option *)list)[i].name;
}

/* Reports a word that is neither an option nor a unique abbreviation. */
_Noreturn static void refuse_option(const struct cli_command *c, const char *given,
                                    const struct option *options)
{
    char list[512];
    const int size = (int)strcspn(given, "=");
    if (strncmp(given, "--", 2) == 0 && given[2] &&
        candidates(list, sizeof list, given + 2, options) > 1)
        cli_misuse(c->name, "option %.*s is ambiguous: it may be %s", size, given, list);
    snprintf(list, sizeof list, "%.*s", size, given);
    const char *nearest =
        cli_nearest(list + (strncmp(list, "--", 2) == 0 ? 2 : 0), option_name, options);
    if (nearest)
        cli_misuse(c->name, "there is no option %s (did you mean --%s?)", given, nearest);
    cli_misuse(c->name, "there is no option %s", given);
}

/* Reports the error that getopt_long found. */
_Noreturn static void refuse(const struct cli_command *c, int found, char **argv,
                             const struct option *options)
{
    bool letter = optopt > ' ' && optopt < FIRST;
    if (found == ':' && letter)
        cli_misuse(c->name, "option -%c needs a value", optopt);
    if (found == ':')
        cli_misuse(c->name, "option %s needs a value", argv[optind - 1]);
    if (letter)
        cli_misuse(c->name, "there is no option -%c", optopt);
    if (optopt)
        cli_misuse(c->name, "option %s takes no value", argv[optind - 1]);
    refuse_option(c, argv[optind - 1], options);
}

static void check_required(const struct cli_command *c, const struct cli_option *table)
{
    for (const struct cli_option *o = table; o->kind != CLI_IS_END; o++) {
        char letter[4] = {'-', o->letter};
        if (o->required && !*(const char **)o->to)
            cli_misuse(c->name, "%s%s %s is missing", o->letter ? letter : "--",
                       o->letter ? "" : o->name, o->value);
    }
}

static void check_operands(const struct cli_command *c, int count, char **operand)
{
    if (count < c->least)
        cli_misuse(c->name, "%s", c->missing ? c->missing : "no FILE is given");
    if (c->most && count > c->most)
        cli_misuse(c->name,
                   c->most == 1 ? "one FILE is wanted, but there is also %s" : "%s is one too many",
                   operand[c->most]);
}

char **cli_parse(const struct cli_command *c, int argc, char **argv, int *operands)
{
    static struct known known;
    const bool other = c->wanted && c->wanted(argc, argv);
    const struct cli_option *table = other ? c->others : c->options;
    int found;
    cli_part = (struct weft_part)WEFT_WHOLE;
    describe(&known, c, table);
    opterr = 0;
    while ((found = getopt_long(argc, argv, known.letters, known.list, NULL)) != -1) {
        if (found == HELP || (found == '?' && optopt == 'h')) {
            cli_help(c);
            exit(cli_finish(CLI_DONE));
        }
        if (found == '?' || found == ':')
            refuse(c, found, argv, known.list);
        if (found == NO_PAGER) {
            cli_no_pager = true;
            continue;
        }
        const struct cli_option *o = found < FIRST ? table : table + (found - FIRST);
        while (found < FIRST && o->letter != found)
            o++;
        set_option(c, o, optarg);
    }
    *operands = argc - optind;
    check_required(c, table);
    if (cli_part.from_ns > cli_part.to_ns)
        cli_misuse(c->name, "--from is later than --to");
    if (cli_part.stream != WEFT_ALL_STREAMS && cli_part.promise != WEFT_ID_LOOP)
        cli_misuse(c->name, "--stream and --promise: only one of them");
    check_operands(c, *operands, argv + optind);
    return argv + optind;
}
