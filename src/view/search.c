/* SPDX-License-Identifier: ISC */
/* A search reads each distinct text of the trace once, then the labels and promises in the order in which they lie in
 * memory. One bit per word of the query says whether it has been found. */
#include "view/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "model/strings.h"
#include "view/query.h"

enum {
    TEXT_STEP = 16, /* bytes of text that count as one step */
    RADIX_BITS = 11,
    RADIX = 1 << RADIX_BITS,
};

enum phase { TEXTS, LABELS, PROMISES, SPANS, COUNT, SCATTER, DONE };

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

    uint64_t *spans;        /* the same in the order of layout->spans */
    uint64_t *span_words;   /* of each word of spans: whether it is not 0 */
    uint32_t *spans_before; /* hits before each word of span_words, that is every 4096 spans */

    uint32_t *order;           /* the hits by the start of their lines; NULL: by index */
    uint32_t *other;           /* scratch space while sorting */
    int64_t first_ns, last_ns; /* starts of hits */
    int64_t latest_ns;         /* while collecting: start of the last hit */
    bool unsorted;
    unsigned shift;
    uint32_t radix[RADIX + 1]; /* where those of each digit go */
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
    q->first_ns = INT64_MAX;
    q->last_ns = q->latest_ns = INT64_MIN;
    q->phase = q->query.terms == 0 ? DONE : q->query.texts ? TEXTS : PROMISES;
    q->at = q->phase == PROMISES;
    q->bits = calloc((size_t)n / 64 + 1, sizeof *q->bits);
    q->spans = calloc((size_t)n / 64 + 1, sizeof *q->spans);
    q->span_words = calloc((size_t)n / 4096 + 1, sizeof *q->span_words);
    q->spans_before = calloc((size_t)n / 4096 + 2, sizeof *q->spans_before);
    q->order = malloc(n * sizeof *q->order); /* unused pages cost nothing */
    q->other = malloc(n * sizeof *q->other);
    bool failed =
        !q->order || !q->other || !q->bits || !q->spans || !q->span_words || !q->spans_before;
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
    if (!q)
        return;
    free(q->text);
    free(q->found);
    free(q->bits);
    free(q->spans);
    free(q->span_words);
    free(q->spans_before);
    free(q->order);
    free(q->other);
    free(q);
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

static uint32_t look_at_labels(struct weft_search *q, uint32_t steps)
{
    const struct weft_model *m = q->m;
    uint32_t end = m->labels - q->at > steps ? q->at + steps : m->labels;
    steps -= end - q->at;
    for (; q->at < end; q->at++) {
        const struct weft_label *l = &m->label[q->at];
        uint16_t words = words_in_label(q, l) & q->query.of_label;
        if (words)
            q->found[l->promise] |= words;
    }
    return steps;
}

static void add_hit(struct weft_search *q, uint32_t promise, int64_t start)
{
    q->bits[promise / 64] |= UINT64_C(1) << (promise % 64);
    q->hits++;
    q->unsorted = q->unsorted || start < q->latest_ns;
    q->latest_ns = start;
    q->first_ns = start < q->first_ns ? start : q->first_ns;
    q->last_ns = start > q->last_ns ? start : q->last_ns;
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
        if (((words | query->others) & query->all) != query->all)
            continue;
        int64_t start = weft_layout_start(q->l, p);
        if (query->others)
            words |= view_query_match(query, p->id, weft_layout_end(q->l, m, q->at) - start);
        if ((words & query->all) == query->all)
            add_hit(q, q->at, start);
    }
    return steps;
}

static uint32_t look_at_spans(struct weft_search *q, uint32_t steps)
{
    uint32_t n = q->m->promises - 1, end = n - q->at > steps ? q->at + steps : n;
    steps -= end - q->at;
    for (; q->at < end; q->at++) {
        uint32_t at = q->at;
        if (!weft_search_bit(q->bits, q->l->spans[at]))
            continue;
        q->spans[at / 64] |= UINT64_C(1) << (at % 64);
        q->span_words[at / 4096] |= UINT64_C(1) << (at / 64 % 64);
        q->spans_before[at / 4096 + 1]++;
    }
    return steps;
}

/* ---- Order ---- */

static void end_order(struct weft_search *q)
{
    q->phase = DONE;
    free(q->other);
    q->other = NULL;
    if (q->unsorted)
        return;
    free(q->order); /* by start, they are in the order of their indices, too */
    q->order = NULL;
}

static void begin_order(struct weft_search *q)
{
    free(q->text);
    free(q->found);
    q->text = q->found = NULL;
    for (uint32_t i = 0; i <= (q->m->promises - 1) / 4096; i++)
        q->spans_before[i + 1] += q->spans_before[i];
    q->phase = COUNT;
    uint32_t k = 0;
    for (uint32_t w = 0; w <= q->m->promises / 64 && q->unsorted; w++)
        for (uint64_t bits = q->bits[w]; bits; bits &= bits - 1)
            q->order[k++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
    if (!q->unsorted)
        end_order(q);
}

static uint32_t digit(const struct weft_search *q, uint32_t promise)
{
    uint64_t start = (uint64_t)weft_layout_start(q->l, &q->m->promise[promise]);
    return (uint32_t)((start - (uint64_t)q->first_ns) >> q->shift) & (RADIX - 1);
}

/* A radix sort from the lowest digit on: two passes over the hits for each digit. */
static uint32_t sort(struct weft_search *q, uint32_t steps)
{
    uint32_t end = q->hits - q->at > steps ? q->at + steps : q->hits;
    steps -= end - q->at;
    if (q->phase == COUNT)
        for (; q->at < end; q->at++)
            q->radix[digit(q, q->order[q->at]) + 1]++;
    else
        for (; q->at < end; q->at++)
            q->other[q->radix[digit(q, q->order[q->at])]++] = q->order[q->at];
    return steps;
}

static void end_sort_pass(struct weft_search *q)
{
    if (q->phase == COUNT) {
        for (uint32_t i = 0; i < RADIX; i++)
            q->radix[i + 1] += q->radix[i];
        q->phase = SCATTER;
        return;
    }
    uint32_t *swap = q->order;
    q->order = q->other;
    q->other = swap;
    memset(q->radix, 0, sizeof q->radix);
    q->shift += RADIX_BITS;
    uint64_t range = (uint64_t)q->last_ns - (uint64_t)q->first_ns;
    q->phase = COUNT;
    if (q->shift >= 64 || range >> q->shift == 0)
        end_order(q);
}

/* Ends the phase. */
static void end_phase(struct weft_search *q)
{
    switch (q->phase) {
    case TEXTS:
        q->phase = LABELS;
        break;
    case LABELS:
        q->phase = PROMISES;
        break;
    case PROMISES:
        q->phase = SPANS;
        break;
    case SPANS:
        begin_order(q);
        break;
    case COUNT:
    case SCATTER:
        end_sort_pass(q);
        break;
    case DONE:
        break;
    }
    q->at = q->phase == PROMISES; /* without the loop */
    q->text_at = 0;
}

bool weft_search_work(struct weft_search *q, uint32_t steps)
{
    uint32_t left = steps ? steps : UINT32_MAX;
    while (q->phase != DONE && left) {
        uint32_t end = q->hits;
        switch (q->phase) {
        case TEXTS:
            left = look_at_texts(q, left);
            end = weft_strings_count(q->m->strings);
            break;
        case LABELS:
            left = look_at_labels(q, left);
            end = q->m->labels;
            break;
        case PROMISES:
            left = look_at_promises(q, left);
            end = q->m->promises;
            break;
        case SPANS:
            left = look_at_spans(q, left);
            end = q->m->promises - 1;
            break;
        case COUNT:
        case SCATTER:
        case DONE:
            left = sort(q, left);
            break;
        }
        if (q->at == end)
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

const uint64_t *weft_search_bits(const struct weft_search *q)
{
    return q->bits;
}

bool weft_search_has(const struct weft_search *q, uint32_t promise)
{
    return weft_search_bit(q->bits, promise);
}

/* The first bit at or after at and below end, or end. */
static uint32_t next_bit(const uint64_t *bits, uint32_t at, uint32_t end)
{
    for (uint64_t w = at / 64; at < end; at = (uint32_t)++w * 64) {
        uint64_t word = bits[w] & (UINT64_MAX << (at % 64));
        if (word) {
            at = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(word);
            return at < end ? at : end;
        }
        if (w * 64 + 64 >= end)
            break;
    }
    return end;
}

uint32_t weft_search_next_span(const struct weft_search *q, uint32_t span, uint32_t end)
{
    if (span >= end)
        return end;
    uint64_t word = q->spans[span / 64] & (UINT64_MAX << (span % 64));
    uint32_t at = span / 64;
    if (!word) {
        at = next_bit(q->span_words, at + 1, (end - 1) / 64 + 1);
        if (at > (end - 1) / 64)
            return end;
        word = q->spans[at];
    }
    at = at * 64 + (uint32_t)__builtin_ctzll(word);
    return at < end ? at : end;
}

/* The number of hits below span. */
static uint32_t spans_below(const struct weft_search *q, uint32_t span)
{
    uint32_t count = q->spans_before[span / 4096];
    for (uint32_t w = span / 4096 * 64; w < span / 64; w++)
        count += (uint32_t)__builtin_popcountll(q->spans[w]);
    if (span % 64)
        count += (uint32_t)__builtin_popcountll(q->spans[span / 64] << (64 - span % 64));
    return count;
}

uint32_t weft_search_count_spans(const struct weft_search *q, uint32_t span, uint32_t end)
{
    bool counted = q->phase >= COUNT;
    return counted && span < end ? spans_below(q, end) - spans_below(q, span) : 0;
}

static bool is_before(const struct weft_search *q, uint32_t a, int64_t start, uint32_t index)
{
    int64_t a_start = weft_layout_start(q->l, &q->m->promise[a]);
    return a_start != start ? a_start < start : a < index;
}

/* The n-th hit by index, from 0; and how many hits lie below a promise. */
static uint32_t nth_by_index(const struct weft_search *q, uint32_t n)
{
    uint32_t w = 0, count;
    while ((count = (uint32_t)__builtin_popcountll(q->bits[w])) <= n) {
        n -= count;
        w++;
    }
    uint64_t bits = q->bits[w];
    while (n--)
        bits &= bits - 1;
    return w * 64 + (uint32_t)__builtin_ctzll(bits);
}

static uint32_t below_by_index(const struct weft_search *q, uint32_t promise)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < promise / 64; w++)
        count += (uint32_t)__builtin_popcountll(q->bits[w]);
    if (promise % 64)
        count += (uint32_t)__builtin_popcountll(q->bits[promise / 64] << (64 - promise % 64));
    return count;
}

static uint32_t nth(const struct weft_search *q, uint32_t n)
{
    return q->order && q->phase == DONE ? q->order[n] : nth_by_index(q, n);
}

/* How many hits come before the one with that start and index. */
static uint32_t count_before(const struct weft_search *q, int64_t start, uint32_t index)
{
    if (q->phase != DONE)
        return below_by_index(q, index < q->m->promises ? index : q->m->promises);
    uint32_t low = 0, high = q->hits;
    WEFT_SEEK(low, high, is_before(q, nth(q, middle), start, index));
    return low;
}

uint32_t weft_search_next(const struct weft_search *q, uint32_t promise, int64_t time_ns, int step)
{
    if (q->hits == 0)
        return WEFT_NONE;
    bool given = promise < q->m->promises;
    int64_t start = given ? weft_layout_start(q->l, &q->m->promise[promise]) : time_ns;
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
    return count_before(q, weft_layout_start(q->l, &q->m->promise[promise]), promise) + 1;
}
