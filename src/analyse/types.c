/* SPDX-License-Identifier: ISC */
#include "analyse/types.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"

/* The types of the adapters are included; docs/guide.md has the same table. */
static const struct {
    const char *type;
    unsigned is;
} types[] = {
    {"timer", ANALYSE_TIMER},
    {"sleep", ANALYSE_TIMER},
    {"interval", ANALYSE_TIMER},
    {"timeout", ANALYSE_TIMER},
    {"delay", ANALYSE_TIMER},
    {"tick", ANALYSE_TIMER},
    {"ticker", ANALYSE_TIMER},
    {"lock", ANALYSE_LOCK | ANALYSE_REUSED},
    {"mutex", ANALYSE_LOCK | ANALYSE_REUSED},
    {"semaphore", ANALYSE_LOCK | ANALYSE_REUSED},
    {"Lock.acquire", ANALYSE_LOCK | ANALYSE_ORDERED},
    {"Semaphore.acquire", ANALYSE_LOCK | ANALYSE_ORDERED},
    {"rwlock", ANALYSE_REUSED},
    {"condition", ANALYSE_REUSED},
    {"event", ANALYSE_REUSED},
    {"queue", ANALYSE_REUSED},
    {"channel", ANALYSE_REUSED | ANALYSE_LASTING},
    {"connection", ANALYSE_LASTING | ANALYSE_OUTSIDE},
    {"session", ANALYSE_LASTING | ANALYSE_OUTSIDE},
    {"socket", ANALYSE_LASTING | ANALYSE_OUTSIDE},
    {"request", ANALYSE_OUTSIDE},
    {"server", ANALYSE_LASTING},
    {"worker", ANALYSE_LASTING},
    {"thread", ANALYSE_LASTING | ANALYSE_THREAD},
    {"accept", ANALYSE_LASTING | ANALYSE_ORDERED},
    {"read", ANALYSE_LASTING | ANALYSE_ORDERED},
    {"write", ANALYSE_ORDERED},
    {"receive", ANALYSE_LASTING | ANALYSE_ORDERED},
    {"iter_s", ANALYSE_ORDERED},
};

unsigned analyse_type(const struct weft_model *m, uint32_t promise)
{
    const char *type = promise == WEFT_ROOT ? "" : weft_model_type(m, promise);
    /* most differ in the first byte */
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (*types[i].type == *type && strcmp(types[i].type, type) == 0)
            return types[i].is;
    return 0;
}

/* ---- Words ---- */

enum {
    WORD_BYTES = 24,   /* longer ones are in no list */
    TEXT_BYTES = 256,  /* bytes of a text that are examined */
    LIST_BYTES = 4096, /* bytes of all words that mean the same */
};

static const struct {
    const char *name;
    unsigned is;
} sets[] = {
    {"timer", ANALYSE_TIMER},      {"lock", ANALYSE_LOCK},
    {"may-last", ANALYSE_LASTING}, {"in-order", ANALYSE_ORDERED},
    {"for-all", ANALYSE_FOR_ALL},  {"meant-to-fail", ANALYSE_GIVEN_UP},
};
enum { SETS = sizeof sets / sizeof *sets };

/* For each set: words with a space before and after each. */
struct weft_words {
    char *list[SETS];
};

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_in(const char *word, size_t size, const char *words)
{
    char spaced[WORD_BYTES + 3];
    spaced[0] = ' ';
    memcpy(spaced + 1, word, size);
    memcpy(spaced + 1 + size, " ", 2);
    return size > 0 && strstr(words, spaced);
}

/* word: lower-case letters, with space for one more. */
static bool matches(char *word, size_t size, const char *words)
{
    static const char *const endings[] = {"s", "d", "r", "ed", "er", "ing", "ers"};
    if (is_in(word, size, words))
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (size <= n + 1 || memcmp(word + size - n, endings[i], n) != 0)
            continue;
        if (is_in(word, size - n, words))
            return true;
        char last = word[size - n]; /* "writing" comes from "write" */
        word[size - n] = 'e';
        bool found = is_in(word, size - n + 1, words);
        word[size - n] = last;
        if (found)
            return true;
    }
    return false;
}

unsigned analyse_words_in(const struct weft_words *words, const char *text, uint32_t size)
{
    char word[WORD_BYTES + 1];
    size_t used = 0;
    unsigned is = 0;
    size = size < TEXT_BYTES ? size : TEXT_BYTES;
    for (uint32_t i = 0; i <= size; i++) {
        char c = i < size ? text[i] : ' ';
        bool letter = is_small(c) || is_capital(c);
        bool begins = is_capital(c) && i > 0 && is_small(text[i - 1]);
        if (!letter || begins) {
            for (unsigned k = 0; k < SETS && used && used <= WORD_BYTES; k++)
                if (words->list[k] && matches(word, used, words->list[k]))
                    is |= sets[k].is;
            used = 0;
        }
        if (letter && used < WORD_BYTES)
            word[used++] = is_capital(c) ? (char)(c - 'A' + 'a') : c;
        else if (letter)
            used = WORD_BYTES + 1;
    }
    return is;
}

/* Copies words, each with a space before it, to out, with room for the line and two more bytes. */
static const char *copy_words(const char *line, char *out)
{
    while (*(line += strspn(line, " \t"))) {
        size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz");
        if (n == 0 || !strchr(" \t", line[n]))
            return "a word is small letters a to z only";
        if (n > WORD_BYTES)
            return "a word has 24 letters at most";
        *out++ = ' ';
        memcpy(out, line, n);
        out += n;
        line += n;
    }
    memcpy(out, " ", 2);
    return NULL;
}

const char *weft_words_add(struct weft_words **words, const char *line)
{
    line += strspn(line, " \t");
    const size_t size = strlen(line), name = strcspn(line, ":");
    unsigned k = 0;
    if (!*line || *line == '#')
        return NULL;
    while (k < SETS && (strlen(sets[k].name) != name || memcmp(sets[k].name, line, name) != 0))
        k++;
    if (k == SETS || line[name] != ':')
        return "expected timer, lock, may-last, in-order, for-all or meant-to-fail, a colon and "
               "words, as in: may-last: session peer";
    if (!*words && !(*words = calloc(1, sizeof **words)))
        return "out of memory";
    char **list = &(*words)->list[k];
    const size_t before = *list ? strlen(*list) : 0;
    if (before + size > LIST_BYTES)
        return "more than 4096 bytes of words that say the same";
    char *grown = realloc(*list, before + size + 2);
    if (!grown)
        return "out of memory";
    *list = grown;
    grown[before] = '\0';
    const char *wrong = copy_words(line + name + 1, grown + before);
    if (wrong)
        grown[before] = '\0';
    return wrong;
}

void weft_words_free(struct weft_words *words)
{
    for (unsigned k = 0; words && k < SETS; k++)
        free(words->list[k]);
    free(words);
}

/* ---- Promises ---- */

unsigned analyse_text_called(const struct analyse_search *s, uint32_t text)
{
    uint32_t size;
    if (text == WEFT_NONE || !s->o->words)
        return 0;
    const char *bytes = weft_model_text(s->m, text, &size);
    return analyse_words_in(s->o->words, bytes, size);
}

unsigned analyse_called(const struct analyse_search *s, uint32_t promise)
{
    return promise == WEFT_ROOT ? 0 : analyse_text_called(s, weft_model_name(s->m, promise));
}

unsigned analyse_known(const struct analyse_search *s, uint32_t promise)
{
    return analyse_type(s->m, promise) | analyse_called(s, promise);
}

bool analyse_is_sleep(const struct analyse_search *s, uint32_t promise)
{
    const struct weft_model *m = s->m;
    const uint32_t by = analyse_ended_by(s->h, promise);
    return (analyse_known(s, promise) & ANALYSE_TIMER) ||
           ((analyse_known(s, by) & ANALYSE_TIMER) &&
            m->promise[by].creator == m->promise[promise].creator &&
            m->promise[by].start_ns >= m->promise[promise].start_ns);
}

uint32_t analyse_timer_line(const struct analyse_search *s, uint32_t last, uint32_t *line,
                            uint32_t most)
{
    const uint32_t *of = s->families->of;
    uint32_t count = 0, next;
    for (uint32_t p = last; p != WEFT_ROOT && of[p] == of[last] && count < most &&
                            analyse_count(s->h->runs_of_first, p) > 0;
         p = next) {
        line[count++] = p;
        next = weft_model_final(s->m, s->m->promise[p].creator);
        if (next >= p) /* its creator became a later one, perhaps this one: no line */
            break;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        const uint32_t p = line[i];
        line[i] = line[count - 1 - i];
        line[count - 1 - i] = p;
    }
    return count;
}
