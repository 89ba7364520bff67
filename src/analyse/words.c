/* SPDX-License-Identifier: ISC */
#include "analyse/words.h"

#include <string.h>
#include <strings.h>

const char weft__words_ordered[] =
    /* time */
    " sleep timer timeout tick delay interval wait pause backoff nap heartbeat ping keepalive "
    /* pieces of a stream, and pages */
    "recv receive accept next poll chunk block piece frame packet cursor page pagination paginate "
    "offset after marker continuation scroll batch "
    /* what comes from a person or a queue */
    "press keypress keystroke keyboard click tap input stdin prompt event dequeue pop "
    /* locks */
    "lock mutex acquire semaphore permit slot lease "
    /* steps of which each needs the last */
    "flush drain fsync commit retry attempt try step stage phase handshake migration redirect ";
const char weft__words_transfers[] = " read write send byte bytes data ";
const char weft__words_inputs[] = " key line command message char character ";
const char weft__words_transactions[] = " begin commit rollback transaction savepoint ";
const char weft__words_timers[] =
    " sleep timer timeout tick delay interval pause backoff nap heartbeat clock ";
const char weft__words_clients[] = " client generator benchmark simulator traffic ";
const char weft__words_loads[] = " request connection session round iteration cycle ";

const char weft__words_news[] =
    " tick timer timeout interval clock heartbeat broadcast publish published "
    "subscribe subscription topic change update news barrier "
    "config configuration setting reload state status version shutdown stop ";

const char weft__words_lasting[] = " connection conn client session peer socket subscriber "
                                   "channel stream worker thread server ";
const char weft__words_idle[] = " accept receive recv read next poll idle message event request "
                                "job signal command input ";
const char weft__words_reused[] =
    " condition cond event mutex semaphore channel queue barrier latch ";
const char weft__words_general[] = " task promise future fiber coroutine wait preexisting ";

const char weft__words_outside[] = " connection conn client session peer socket visitor subscriber "
                                   "request handler rpc ";
const char weft__words_doors[] = " accept acceptor listen listener ";
const char weft__words_unhandled[] = " unhandled ";
const char weft__words_programs[] = " main program root app application test ";
const char weft__words_cancelled[] =
    " cancel canceled cancelled canceling cancelling cancellation abort "
    "aborted ecanceled ecancelled superseded shutdown ";

const char *const weft__parts_limits[] = {"timer", "timeout",  "time limit", "sleep",
                                          "delay", "deadline", NULL};
const char *const weft__parts_locks[] = {"lock", "mutex", "semaphore", "latch", NULL};

enum {
    WORD_BYTES = 24,  /* longer ones are in no list */
    TEXT_BYTES = 256, /* of a text that are looked at */
    NOUN = 3,         /* letters that a word has which says something */
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

/* word: small letters, with room for one more. */
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
        char last = word[size - n]; /* "writing" is of "write" */
        word[size - n] = 'e';
        bool found = is_in(word, size - n + 1, words);
        word[size - n] = last;
        if (found)
            return true;
    }
    return false;
}

/* Whether a text has a word that is in the list; or one that is not. */
static bool any_word(const char *text, uint32_t size, const char *words, bool listed)
{
    char word[WORD_BYTES + 1];
    size_t used = 0;
    size = size < TEXT_BYTES ? size : TEXT_BYTES;
    for (uint32_t i = 0; i <= size; i++) {
        char c = i < size ? text[i] : ' ';
        bool letter = is_small(c) || is_capital(c);
        bool begins = is_capital(c) && i > 0 && is_small(text[i - 1]);
        if (!letter || begins) {
            bool found = used <= WORD_BYTES && matches(word, used, words);
            if (found ? listed : !listed && used >= NOUN)
                return true;
            used = 0;
        }
        if (letter && used < WORD_BYTES)
            word[used++] = is_capital(c) ? (char)(c - 'A' + 'a') : c;
        else if (letter)
            used = WORD_BYTES + 1;
    }
    return false;
}

bool weft__text_has_word(const char *text, uint32_t size, const char *words)
{
    return any_word(text, size, words, true);
}

bool weft__text_has_other_word(const char *text, uint32_t size, const char *words)
{
    return any_word(text, size, words, false);
}

bool weft__has_word(const struct weft_model *m, uint32_t promise, const char *words)
{
    if (promise == WEFT_ROOT)
        return false;
    const char *type = weft_model_type(m, promise);
    if (weft__text_has_word(type, (uint32_t)strnlen(type, TEXT_BYTES), words))
        return true;
    uint32_t size, name = weft_model_name(m, promise);
    if (name == WEFT_NONE)
        return false;
    const char *label = weft_model_text(m, name, &size);
    return weft__text_has_word(label, size, words);
}

/* In the beginning of a text, which may be long and that of many. */
static bool says(const char *text, const char *word)
{
    enum { BYTES = 80 };
    size_t size = strlen(word);
    for (const char *end = text + BYTES; text < end && *text; text++)
        if ((*text | 0x20) == *word && strncasecmp(text, word, size) == 0) /* small letters */
            return true;
    return false;
}

bool weft__is_called(const struct weft_model *m, uint32_t p, const char *const *parts)
{
    uint32_t name = weft_model_name(m, p);
    for (; *parts; parts++)
        if (says(weft_model_type(m, p), *parts) ||
            (name != WEFT_NONE && says(weft_model_text(m, name, NULL), *parts)))
            return true;
    return false;
}

bool weft__is_timer(const struct weft_model *m, uint32_t promise)
{
    static const char *const types[] = {"timer",    "sleep", "timeout", "delay",
                                        "interval", "tick",  "ticker"};
    const char *type = promise == WEFT_ROOT ? "" : weft_model_type(m, promise);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}
