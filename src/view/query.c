/* SPDX-License-Identifier: ISC */
#include "view/query.h"

#include <string.h>

#include "base/count.h"
#include "base/duration.h"
#include "model/traced.h"

static const char *const prefixes[] = {
    [VIEW_TERM_WORD] = "",          [VIEW_TERM_LABEL] = "label:",     [VIEW_TERM_TYPE] = "type:",
    [VIEW_TERM_REASON] = "reason:", [VIEW_TERM_ID] = "id:",           [VIEW_TERM_TRACE] = "trace:",
    [VIEW_TERM_SPAN] = "span:",     [VIEW_TERM_OUTCOME] = "outcome:",
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- Parsing ---- */

/* A duration: "1.5ms". A number without a unit is not one. */
static bool parse_length(const char *text, size_t size, uint64_t *out)
{
    int64_t ns;
    if (!size || !is_digit(text[0]) || is_digit(text[size - 1]) || text[size - 1] == '.' ||
        !weft_parse_duration(text, size, &ns))
        return false;
    *out = (uint64_t)ns;
    return true;
}

/* Returns true if text is the beginning of that outcome's name; WEFT_OUTCOME_COUNT stands for "overdue". */
static bool is_outcome(unsigned outcome, const char *text, size_t size)
{
    const char *name =
        outcome < WEFT_OUTCOME_COUNT ? weft_outcome_name((enum weft_outcome)outcome) : "overdue";
    return !strncmp(name, text, size);
}

static void add_term(struct view_query *q, struct view_term t)
{
    uint16_t bit = (uint16_t)(1u << q->terms);
    bool word = t.kind == VIEW_TERM_WORD;
    const char *text = q->bytes + t.at;
    if (word || t.kind == VIEW_TERM_LABEL) {
        uint16_t i = t.size;
        while (i > 0 && is_digit(text[i - 1]))
            i--;
        if (i > 0 && i < t.size && (text[i - 1] == '+' || text[i - 1] == '-'))
            q->amounts |= bit;
        q->of_label |= bit;
    }
    if (word)
        q->plain |= bit;
    if (word || t.kind == VIEW_TERM_TYPE)
        q->of_type |= bit;
    if (word || t.kind == VIEW_TERM_REASON)
        q->of_reason |= bit;
    if (t.kind == VIEW_TERM_TRACE || t.kind == VIEW_TERM_SPAN)
        q->traced |= bit;
    if (t.is_id || q->traced & bit || t.kind == VIEW_TERM_LONGER || t.kind == VIEW_TERM_SHORTER)
        q->others |= bit;
    for (unsigned o = 0; t.kind == VIEW_TERM_OUTCOME && o <= WEFT_OUTCOME_COUNT; o++)
        if (is_outcome(o, text, t.size))
            *(o < WEFT_OUTCOME_COUNT ? &q->outcome[o] : &q->overdue) |= bit;
    q->texts += t.kind <= VIEW_TERM_REASON;
    q->all |= bit;
    q->term[q->terms++] = t;
}

/* Returns what is wrong with the value of a key. */
static enum view_mistake mistake_of(enum view_term_kind kind, bool is_id, const char *text,
                                    size_t size)
{
    const size_t digits = 2u * (kind == VIEW_TERM_TRACE ? WEFT_TRACE_ID_BYTES : WEFT_SPAN_ID_BYTES);
    bool known = false;
    switch (kind) {
    case VIEW_TERM_ID:
        return is_id ? VIEW_NO_MISTAKE : VIEW_NO_NUMBER;
    case VIEW_TERM_TRACE:
    case VIEW_TERM_SPAN:
        known = size <= digits && strspn(text, "0123456789abcdef") >= size;
        return known ? VIEW_NO_MISTAKE : kind == VIEW_TERM_TRACE ? VIEW_NO_TRACE : VIEW_NO_SPAN;
    case VIEW_TERM_OUTCOME:
        for (unsigned o = 0; o <= WEFT_OUTCOME_COUNT && !known; o++)
            known = is_outcome(o, text, size);
        return known ? VIEW_NO_MISTAKE : VIEW_NO_OUTCOME;
    default:
        return VIEW_NO_MISTAKE;
    }
}

/* A word, in lower case at bytes + at; it is quoted from byte `quote` on (quote == size: not quoted). */
static void understand(struct view_query *q, uint16_t at, uint16_t size, uint16_t quote)
{
    const char *text = q->bytes + at;
    struct view_term t = {.kind = VIEW_TERM_WORD, .at = at, .size = size};
    if (size > 1 && quote > 0 && (text[0] == '>' || text[0] == '<') &&
        parse_length(text + 1, size - 1u, &t.number)) {
        t.kind = text[0] == '>' ? VIEW_TERM_LONGER : VIEW_TERM_SHORTER;
        add_term(q, t);
        return;
    }
    if (size > 1 && quote > 1 && (text[0] == '>' || text[0] == '<') && is_digit(text[1]))
        t.mistake = VIEW_NO_TIME;
    for (unsigned kind = VIEW_TERM_LABEL; kind <= VIEW_TERM_OUTCOME; kind++) {
        uint16_t n = (uint16_t)strlen(prefixes[kind]);
        if (size < n || quote < n || memcmp(text, prefixes[kind], n) != 0)
            continue;
        if (size == n) /* incomplete: it asks for nothing yet */
            return;
        t.is_id = kind == VIEW_TERM_ID &&
                  weft_parse_digits(text + n, size - (size_t)n, UINT64_MAX, &t.number);
        t.mistake = mistake_of((enum view_term_kind)kind, t.is_id, text + n, size - (size_t)n);
        if (t.mistake)
            break;
        t.kind = (enum view_term_kind)kind;
        t.at = (uint16_t)(at + n);
        t.size = (uint16_t)(size - n);
        add_term(q, t);
        return;
    }
    uint16_t hash = size > 1 && text[0] == '#';
    t.is_id = weft_parse_digits(text + hash, size - (size_t)hash, UINT64_MAX, &t.number);
    if (size)
        add_term(q, t);
}

/* Where the word that begins at i ends; ">10 ms" is one word. */
static size_t end_of_duration(const char *text, size_t i, size_t size)
{
    size_t end = i + 1, number = 0;
    while (end < size && is_space(text[end]))
        end++;
    for (; end < size && (is_digit(text[end]) || text[end] == '.'); end++)
        number++;
    size_t unit = end;
    while (number && unit < size && is_space(text[unit]))
        unit++;
    while (number && unit < size && !is_space(text[unit]))
        unit++;
    return number ? unit : i;
}

void view_query_parse(struct view_query *q, const char *query)
{
    *q = (struct view_query){0};
    size_t size = strnlen(query, WEFT_SEARCH_BYTES), used = 0, i = 0;
    while (q->terms < WEFT_SEARCH_WORDS) {
        while (i < size && is_space(query[i]))
            i++;
        if (i == size)
            break;
        size_t at = used, quote = SIZE_MAX;
        bool apart = false;
        size_t duration = query[i] == '>' || query[i] == '<' ? end_of_duration(query, i, size) : i;
        uint64_t ns;
        if (duration > i) {
            q->bytes[used++] = query[i];
            size_t k = i + 1;
            while (is_space(query[k]))
                k++;
            for (; k < duration; k++)
                q->bytes[used++] = is_space(query[k]) ? ' ' : lower(query[k]);
            if (parse_length(q->bytes + at + 1, used - at - 1, &ns)) {
                i = duration;
                understand(q, (uint16_t)at, (uint16_t)(used - at), (uint16_t)(used - at));
                continue;
            }
            used = at;
            apart = is_space(query[i + 1]); /* "> 10" */
        }
        for (bool quoted = false; i < size && (quoted || !is_space(query[i])); i++) {
            if (query[i] == '"') {
                quoted = !quoted;
                quote = quote == SIZE_MAX ? used - at : quote;
            } else {
                q->bytes[used++] = lower(query[i]);
            }
        }
        if (quote == SIZE_MAX)
            quote = used - at;
        understand(q, (uint16_t)at, (uint16_t)(used - at), (uint16_t)quote);
        if (apart)
            q->term[q->terms - 1].mistake = VIEW_NO_TIME;
    }
}

/* ---- Matching ---- */

uint16_t view_query_find(const struct view_query *q, const char *text, uint32_t count,
                         uint32_t size)
{
    char folded[VIEW_QUERY_CHUNK + WEFT_SEARCH_BYTES];
    uint16_t words = 0;
    if (size > sizeof folded)
        size = sizeof folded;
    for (uint32_t i = 0; i < size; i++)
        folded[i] = lower(text[i]);
    for (uint32_t i = 0; i < q->terms; i++) {
        const struct view_term *t = &q->term[i];
        uint32_t within = count + t->size - 1u < size ? count + t->size - 1u : size;
        if (t->kind <= VIEW_TERM_REASON && t->size <= within &&
            memmem(folded, within, q->bytes + t->at, t->size))
            words |= (uint16_t)(1u << i);
    }
    return words;
}

static bool begins(const struct view_query *q, const struct view_term *t,
                   const unsigned char *bytes, size_t size)
{
    char text[2 * WEFT_TRACE_ID_BYTES];
    format_hex(text, bytes, size);
    return memcmp(text, q->bytes + t->at, t->size) == 0;
}

uint16_t view_query_traced(const struct view_query *q, const struct weft_model *m, uint32_t promise)
{
    const struct weft_traced *trace = weft_traced_inherited(m, promise);
    uint16_t words = 0;
    for (uint32_t i = 0; i < q->terms && trace; i++) {
        const struct view_term *t = &q->term[i];
        bool found = t->kind == VIEW_TERM_TRACE && begins(q, t, trace->ids, WEFT_TRACE_ID_BYTES);
        for (int kind = WEFT_TRACED_PARENT; kind <= WEFT_TRACED_SPAN && !found; kind++) {
            const struct weft_traced *span =
                weft_traced_of(m, promise, (enum weft_traced_kind)kind);
            found = t->kind == VIEW_TERM_SPAN && span &&
                    begins(q, t, span->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES);
        }
        words |= (uint16_t)((unsigned)found << i);
    }
    return words;
}

uint16_t view_query_match(const struct view_query *q, uint64_t id, int64_t length_ns)
{
    uint16_t words = 0;
    uint64_t length = (uint64_t)length_ns;
    for (uint32_t i = 0; i < q->terms; i++) {
        const struct view_term *t = &q->term[i];
        bool found = t->kind == VIEW_TERM_LONGER    ? length > t->number
                     : t->kind == VIEW_TERM_SHORTER ? length < t->number
                                                    : t->is_id && t->number == id;
        words |= (uint16_t)((unsigned)found << i);
    }
    return words;
}
