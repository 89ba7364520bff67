/* SPDX-License-Identifier: ISC */
/* A search reads each distinct text of the trace once, then the labels and promises in the order in which they lie in
 * memory. One bit per word of the query says whether it has been found. */
#include "view/search.h"

#include "base/array.h"
#include "base/order.h"
#include "model/strings.h"
#include "view/query.h"

enum { TEXT_STEP = 16 }; /* bytes of text that count as one step */

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
        weft_free_all(q->text, q->found, q->bits, q->spans, q->ordered, q);
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

static void set_bit(uint64_t *bits, uint32_t at)
{
    bits[at / 64] |= UINT64_C(1) << (at % 64);
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
        if (query->others)
            words |= view_query_match(query, p->id, weft_layout_lasts(q->l, m, q->at));
        if ((words & query->all) != query->all)
            continue;
        set_bit(q->bits, q->at);
        q->hits++;
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
    return q->bits[promise / 64] >> (promise % 64) & 1;
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
    int64_t a_start = weft_layout_start(q->l, &q->m->promise[a]);
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
