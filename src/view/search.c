/* SPDX-License-Identifier: ISC */
/* A search reads each distinct text of the trace once, then the labels and promises in the order in which they lie in
 * memory. One bit per word of the query says whether it has been found. */
#include "view/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/duration.h"
#include "base/order.h"
#include "format/utf8.h"
#include "model/traced.h"
#include "model/strings.h"
#include "view/query.h"

enum {
    TEXT_STEP = 16, /* bytes of text that count as one step */
    TYPES_NAMED = 6,
};

enum phase { TEXTS, LABELS, PROMISES, PLACES, DONE };

struct weft_search {
    const struct weft_model *m;
    const struct weft_layout *l;
    struct view_query query;
    enum phase phase;
    uint32_t at;      /* the next item of this phase */
    uint32_t text_at; /* next byte of the current text */

    uint16_t *text;  /* of each text: the words found in it; freed when no longer needed */
    uint16_t *found; /* of each promise: the words found in its labels; freed likewise */
    uint64_t *bits;  /* of each promise: whether it is a hit */
    uint32_t hits;
    /* If several words mean one text, also of each promise: whether one of its labels has them all, and whether it
     * matches if they may be in different texts. */
    uint64_t *one_label, *apart;
    uint32_t hits_apart;

    /* For saying why there are no hits. */
    uint16_t
        seen; /* the words that some promise matches, of those that are looked for in texts or ask for outcomes */
    int64_t longest_ns, shortest_ns;
    uint32_t type[TYPES_NAMED], types; /* if the query asks for types: texts */
    bool more_types;
    char why[240];

    uint64_t *spans;   /* the same in the order of layout->spans */
    uint64_t *ordered; /* the same in the order of layout->order */
};

/* ---- Beginning and end ---- */

int weft_search_new(struct weft_search **out, const struct weft_scene *s, const char *query)
{
    *out = NULL;
    struct weft_search *q = calloc(1, sizeof *q);
    if (!q)
        return WEFT_E_NOMEM;
    uint32_t n = s->m->promises;
    q->m = s->m;
    q->l = s->l;
    view_query_parse(&q->query, query);
    q->phase = q->query.terms == 0 ? DONE : q->query.texts ? TEXTS : PROMISES;
    q->at = q->phase == PROMISES;
    q->bits = calloc((size_t)n / 64 + 1, sizeof *q->bits);
    q->spans = calloc((size_t)n / 64 + 1, sizeof *q->spans);
    q->ordered = calloc((size_t)n / 64 + 1, sizeof *q->ordered);
    bool failed = !q->ordered || !q->bits || !q->spans;
    if (__builtin_popcount(q->query.plain) > 1) {
        q->one_label = calloc((size_t)n / 64 + 1, sizeof *q->one_label);
        q->apart = calloc((size_t)n / 64 + 1, sizeof *q->apart);
        failed = failed || !q->one_label || !q->apart;
    }
    q->shortest_ns = INT64_MAX;
    if (q->phase == TEXTS) {
        q->text = calloc((size_t)weft_strings_count(s->m->strings) + 1, sizeof *q->text);
        q->found = calloc(n, sizeof *q->found);
        failed = failed || !q->text || !q->found;
    }
    if (failed) {
        weft_search_free(q);
        return WEFT_E_NOMEM;
    }
    *out = q;
    return 0;
}

void weft_search_free(struct weft_search *q)
{
    if (q)
        weft_free_all(q->text, q->found, q->bits, q->spans, q->ordered, q->one_label, q->apart, q);
}

/* ---- Searching ---- */

/* Each phase runs for at most that many steps and returns how many are left; it is done when q->at reaches the end. */

static uint32_t look_at_texts(struct weft_search *q, uint32_t steps)
{
    uint32_t end = weft_strings_count(q->m->strings), size;
    while (q->at < end && steps) {
        const char *text = weft_strings_get(q->m->strings, q->at, &size);
        uint32_t left = size - q->text_at,
                 chunk = left < VIEW_QUERY_CHUNK ? left : VIEW_QUERY_CHUNK;
        uint32_t cost = 1 + chunk / TEXT_STEP * q->query.texts;
        q->text[q->at] |= view_query_find(&q->query, text + q->text_at, chunk, left);
        steps -= cost < steps ? cost : steps;
        q->text_at += chunk;
        if (q->text_at == size) {
            q->at++;
            q->text_at = 0;
        }
    }
    return steps;
}

static uint16_t words_in_label(const struct weft_search *q, const struct weft_label *l)
{
    const struct weft_model *m = q->m;
    if (!l->is_change)
        return q->text[l->what];
    if (!m->quirks.changes_are_labels)
        return 0;
    uint16_t words = q->text[m->counter[m->change[l->what].counter].name];
    if (q->query.amounts & ~words) { /* rare: "name+1" */
        char text[256];
        uint32_t size = weft_model_label_text(m, l, text, sizeof text);
        words |= view_query_find(&q->query, text, size, size);
    }
    return words;
}

static void set_bit(uint64_t *bits, uint32_t at)
{
    bits[at / 64] |= UINT64_C(1) << (at % 64);
}

static bool has_bit(const uint64_t *bits, uint32_t at)
{
    return bits[at / 64] >> (at % 64) & 1;
}

/* Returns true if one text of a promise has all words without a key; its number counts as part of each text. */
static bool is_one_text(const struct weft_search *q, uint16_t words, uint32_t promise)
{
    uint16_t missing = q->query.plain & (uint16_t)~words;
    if (missing & q->query.others)
        missing &= (uint16_t)~view_query_match(&q->query, q->m->promise[promise].id, 0);
    return missing == 0;
}

static uint32_t look_at_labels(struct weft_search *q, uint32_t steps)
{
    const struct weft_model *m = q->m;
    uint32_t end = m->labels - q->at > steps ? q->at + steps : m->labels;
    steps -= end - q->at;
    for (; q->at < end; q->at++) {
        const struct weft_label *l = &m->label[q->at];
        uint16_t words = words_in_label(q, l) & q->query.of_label;
        if (!words)
            continue;
        q->found[l->promise] |= words;
        if (q->one_label && is_one_text(q, words, l->promise))
            set_bit(q->one_label, l->promise);
    }
    return steps;
}

static void note_type(struct weft_search *q, uint32_t type)
{
    for (uint32_t i = 0; i < q->types; i++)
        if (q->type[i] == type)
            return;
    if (q->types < TYPES_NAMED)
        q->type[q->types++] = type;
    else
        q->more_types = true;
}

static void add_hit(struct weft_search *q, uint32_t promise)
{
    const struct weft_promise *p = &q->m->promise[promise];
    if (q->apart) {
        const uint32_t reason = weft_model_reason(q->m, promise);
        set_bit(q->apart, promise);
        q->hits_apart++;
        if (!has_bit(q->one_label, promise) && !is_one_text(q, q->text[p->type], promise) &&
            (reason == WEFT_NONE || !is_one_text(q, q->text[reason], promise)))
            return;
    }
    set_bit(q->bits, promise);
    q->hits++;
}

static uint32_t look_at_promises(struct weft_search *q, uint32_t steps)
{
    const struct weft_model *m = q->m;
    const struct view_query *query = &q->query;
    uint32_t end = m->promises - q->at > steps ? q->at + steps : m->promises;
    steps -= end - q->at;
    for (; q->at < end; q->at++) {
        const struct weft_promise *p = &m->promise[q->at];
        uint16_t words = query->outcome[p->outcome];
        if (q->text) {
            words |= q->found[q->at] | (q->text[p->type] & query->of_type);
            uint32_t reason = weft_model_reason(m, q->at);
            if (reason != WEFT_NONE)
                words |= q->text[reason] & query->of_reason;
        }
        if (p->should_resolve && p->outcome == WEFT_PENDING)
            words |= query->overdue;
        q->seen |= words;
        if (query->of_type & (uint16_t)~query->plain)
            note_type(q, p->type);
        if (((words | query->others) & query->all) != query->all)
            continue;
        if (query->others) {
            const int64_t lasts = weft_layout_lasts(m, q->l->raw, q->at);
            q->longest_ns = lasts > q->longest_ns ? lasts : q->longest_ns;
            q->shortest_ns = lasts < q->shortest_ns ? lasts : q->shortest_ns;
            words |= view_query_match(query, p->id, lasts);
            if (query->traced)
                words |= view_query_traced(query, m, q->at);
        }
        if ((words & query->all) == query->all)
            add_hit(q, q->at);
    }
    return steps;
}

/* Where the hits are in the two orders of the layout. */
static uint32_t look_at_places(struct weft_search *q, uint32_t steps)
{
    uint32_t n = q->m->promises - 1, end = n - q->at > steps ? q->at + steps : n;
    steps -= end - q->at;
    for (uint32_t at = q->at; at < end; at++) {
        if (weft_search_has(q, q->l->order[at]))
            set_bit(q->ordered, at);
        if (weft_search_has(q, q->l->spans[at]))
            set_bit(q->spans, at);
    }
    q->at = end;
    return steps;
}

static void end_phase(struct weft_search *q)
{
    if (q->phase == PROMISES && q->apart && q->hits == 0) { /* no text has all words */
        uint64_t *bits = q->bits;
        q->bits = q->apart;
        q->hits = q->hits_apart;
        q->apart = bits;
    }
    q->phase++;
    q->at = q->phase == PROMISES; /* without the loop */
    q->text_at = 0;
    if (q->phase < DONE)
        return;
    weft_free_all(q->text, q->found);
    q->text = q->found = NULL;
}

bool weft_search_work(struct weft_search *q, uint32_t steps)
{
    static uint32_t (*const looks[])(struct weft_search * q, uint32_t steps) = {
        look_at_texts, look_at_labels, look_at_promises, look_at_places};
    const uint32_t ends[] = {weft_strings_count(q->m->strings), q->m->labels, q->m->promises,
                             q->m->promises - 1};
    uint32_t left = steps ? steps : UINT32_MAX;
    while (q->phase != DONE && left) {
        left = looks[q->phase](q, left);
        if (q->at == ends[q->phase])
            end_phase(q);
        if (!steps)
            left = UINT32_MAX;
    }
    return q->phase != DONE;
}

/* ---- Questions ---- */

uint32_t weft_search_hits(const struct weft_search *q)
{
    return q->hits;
}

bool weft_search_is_empty(const struct weft_search *q)
{
    return q->query.terms == 0;
}

bool weft_search_has(const struct weft_search *q, uint32_t promise)
{
    return has_bit(q->bits, promise);
}

uint32_t weft_search_next_span(const struct weft_search *q, uint32_t span, uint32_t end)
{
    while (span < end) {
        uint64_t word = q->spans[span / 64] & (UINT64_MAX << (span % 64));
        span = span / 64 * 64 + (word ? (uint32_t)__builtin_ctzll(word) : 64);
        if (word)
            return span < end ? span : end;
    }
    return end;
}

/* How many bits are set from `from` on, below `end`. */
static uint32_t count_bits(const uint64_t *bits, uint32_t from, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t w = from / 64; from < end && w <= (end - 1) / 64; w++) {
        uint64_t word = bits[w];
        word &= w == from / 64 ? UINT64_MAX << (from % 64) : UINT64_MAX;
        word &= w == (end - 1) / 64 ? UINT64_MAX >> (63 - (end - 1) % 64) : UINT64_MAX;
        count += (uint32_t)__builtin_popcountll(word);
    }
    return count;
}

uint32_t weft_search_count_spans(const struct weft_search *q, uint32_t span, uint32_t end)
{
    return q->phase == DONE ? count_bits(q->spans, span, end) : 0;
}

static bool is_before(const struct weft_search *q, uint32_t a, int64_t start, uint32_t index)
{
    int64_t a_start = weft_layout_line(q->l, &q->m->promise[a]);
    return a_start != start ? a_start < start : a < index;
}

/* The n-th hit, from 0, in the order of their starts; until that is known, of their indices. */
static uint32_t nth(const struct weft_search *q, uint32_t n)
{
    const uint64_t *bits = q->phase == DONE ? q->ordered : q->bits;
    uint32_t w = 0, count;
    while ((count = (uint32_t)__builtin_popcountll(bits[w])) <= n) {
        n -= count;
        w++;
    }
    uint64_t word = bits[w];
    while (n--)
        word &= word - 1;
    uint32_t at = w * 64 + (uint32_t)__builtin_ctzll(word);
    return q->phase == DONE ? q->l->order[at] : at;
}

/* How many hits come before the one with that start and index. */
static uint32_t count_before(const struct weft_search *q, int64_t start, uint32_t index)
{
    if (q->phase != DONE)
        return count_bits(q->bits, 0, index < q->m->promises ? index : q->m->promises);
    uint32_t low = 0, high = q->m->promises - 1;
    WEFT_SEEK(low, high, is_before(q, q->l->order[middle], start, index));
    return count_bits(q->ordered, 0, low);
}

uint32_t weft_search_next(const struct weft_search *q, uint32_t promise, int64_t time_ns, int step)
{
    if (q->hits == 0)
        return WEFT_NONE;
    bool given = promise < q->m->promises;
    int64_t start = given ? weft_layout_line(q->l, &q->m->promise[promise]) : time_ns;
    uint32_t at;
    if (step > 0) {
        at = count_before(q, start, given ? promise + 1 : 0);
        return nth(q, at < q->hits ? at : 0);
    }
    at = count_before(q, start, given ? promise : WEFT_NONE);
    return nth(q, at > 0 ? at - 1 : q->hits - 1);
}

uint32_t weft_search_rank(const struct weft_search *q, uint32_t promise)
{
    if (promise >= q->m->promises || !weft_search_has(q, promise))
        return 0;
    return count_before(q, weft_layout_line(q->l, &q->m->promise[promise]), promise) + 1;
}

/* ---- Why there are none ---- */

/* The word of a term, cut. */
struct word {
    char text[64];
};

static struct word word_of(const struct weft_search *q, const struct view_term *t)
{
    struct word w;
    size_t size = weft_text_clean(w.text, sizeof w.text - 1, q->query.bytes + t->at, t->size);
    w.text[size] = '\0';
    return w;
}

static void say_outcomes(struct weft_search *q)
{
    size_t used = (size_t)snprintf(q->why, sizeof q->why, "outcome: takes");
    for (unsigned o = 0; o < WEFT_OUTCOME_COUNT; o++)
        used += (size_t)snprintf(q->why + used, sizeof q->why - used, "%s %s", o ? "," : "",
                                 weft_outcome_name((enum weft_outcome)o));
    snprintf(q->why + used, sizeof q->why - used, " or overdue");
}

static void say_types(struct weft_search *q, const struct view_term *t)
{
    size_t used = (size_t)snprintf(q->why, sizeof q->why, "not found: no type has '%s'; types are",
                                   word_of(q, t).text);
    for (uint32_t i = 0; i < q->types && used + 40 < sizeof q->why; i++) {
        uint32_t size;
        const char *type = weft_strings_get(q->m->strings, q->type[i], &size);
        used += (size_t)snprintf(q->why + used, sizeof q->why - used, "%s ", i ? "," : "");
        used += weft_text_clean(q->why + used, 24, type, size);
    }
    snprintf(q->why + used, sizeof q->why - used, "%s", q->more_types ? " and others" : "");
}

/* A value that makes no sense. Returns false if this one does. */
static bool say_mistake(struct weft_search *q, const struct view_term *t)
{
    switch (t->mistake) {
    case VIEW_NO_MISTAKE:
        return false;
    case VIEW_NO_OUTCOME:
        say_outcomes(q);
        break;
    case VIEW_NO_NUMBER:
        snprintf(q->why, sizeof q->why, "id: takes the number of a promise, as in id:12");
        break;
    case VIEW_NO_TIME:
        snprintf(q->why, sizeof q->why,
                 "> and < take a time with a unit (ns, us, ms, s, min, h, d), as in >10ms");
        break;
    case VIEW_NO_TRACE:
    case VIEW_NO_SPAN:
        snprintf(q->why, sizeof q->why,
                 "%s: takes the first hexadecimal digits of an id, at most %u",
                 t->mistake == VIEW_NO_TRACE ? "trace" : "span",
                 2u * (t->mistake == VIEW_NO_TRACE ? WEFT_TRACE_ID_BYTES : WEFT_SPAN_ID_BYTES));
        break;
    }
    return true;
}

/* A word that no promise matches. Returns false if one does, or that is not known. */
static bool say_missing(struct weft_search *q, const struct view_term *t, bool seen, bool alone)
{
    const struct word word = word_of(q, t);
    switch (t->kind) {
    case VIEW_TERM_TYPE:
        if (!seen)
            say_types(q, t);
        return !seen;
    case VIEW_TERM_LABEL:
    case VIEW_TERM_REASON:
    case VIEW_TERM_OUTCOME:
        if (!seen)
            snprintf(q->why, sizeof q->why, "not found: no %s '%s'",
                     t->kind == VIEW_TERM_LABEL    ? "label has"
                     : t->kind == VIEW_TERM_REASON ? "failure says"
                                                   : "promise is",
                     word.text);
        return !seen;
    case VIEW_TERM_ID:
        if (weft_model_find(q->m, t->number) != WEFT_NONE)
            return false;
        snprintf(q->why, sizeof q->why, "not found: there is no promise %" PRIu64, t->number);
        return true;
    case VIEW_TERM_TRACE:
    case VIEW_TERM_SPAN:
        if (q->m->traceds == 0)
            snprintf(q->why, sizeof q->why, "not found: the recording has no ids of %s",
                     t->kind == VIEW_TERM_TRACE ? "distributed traces" : "spans");
        else if (alone)
            snprintf(q->why, sizeof q->why, "not found: no id of a %s begins with '%s'",
                     t->kind == VIEW_TERM_TRACE ? "trace" : "span", word.text);
        return q->m->traceds == 0 || alone;
    case VIEW_TERM_LONGER:
    case VIEW_TERM_SHORTER:
        if (alone && q->m->promises > 1)
            snprintf(
                q->why, sizeof q->why, "not found: the %s promise lasts %s",
                t->kind == VIEW_TERM_LONGER ? "longest" : "shortest",
                weft_duration(t->kind == VIEW_TERM_LONGER ? q->longest_ns : q->shortest_ns).text);
        return alone && q->m->promises > 1;
    case VIEW_TERM_WORD:
        if (!alone && !seen && !t->is_id)
            snprintf(q->why, sizeof q->why, "not found: nothing has '%s'", word.text);
        return !alone && !seen && !t->is_id;
    }
    return false;
}

const char *weft_search_why(struct weft_search *q)
{
    const struct view_query *query = &q->query;
    if (q->hits || query->terms == 0)
        return "";
    for (uint32_t i = 0; i < query->terms; i++)
        if (say_mistake(q, &query->term[i]))
            return q->why;
    if (q->phase != DONE)
        return "";
    for (uint32_t i = 0; i < query->terms; i++)
        if (say_missing(q, &query->term[i], q->seen >> i & 1, query->terms == 1))
            return q->why;
    return "not found";
}
