/* SPDX-License-Identifier: ISC */
/* The search: what queries mean, and that hits are found in any pieces and any order as a plain reading of the
 * trace finds them. */
#include <inttypes.h>

#include "model/model.h"
#include "packets.h"
#include "view/search.h"

enum { MILLION = 1000000 };

static struct weft_scene *scene_of(const struct weft_model *m)
{
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    return s;
}

static struct weft_search *search(const struct weft_scene *s, const char *query, uint32_t steps)
{
    struct weft_search *q;
    uint32_t hits = 0;
    assert_int_equal(weft_search_new(&q, s, query), 0);
    while (weft_search_work(q, steps)) {
        assert_true(steps != 0 && weft_search_hits(q) >= hits);
        hits = weft_search_hits(q);
    }
    assert_false(weft_search_work(q, steps));
    return q;
}

/* ---- What queries mean ---- */

/* The ids of the hits, "1 2 44". */
static void expect(const struct weft_scene *s, const char *query, const char *wanted)
{
    char found[256] = "";
    size_t used = 0;
    struct weft_search *q = search(s, query, 0);
    uint32_t hits = 0;
    for (uint32_t p = 1; p < s->m->promises; p++)
        if (weft_search_has(q, p))
            used += (size_t)snprintf(found + used, sizeof found - used, "%s%" PRIu64,
                                     hits++ ? " " : "", s->m->promise[p].id);
    assert_int_equal(weft_search_hits(q), hits);
    assert_false(weft_search_has(q, WEFT_ROOT));
    if (strcmp(found, wanted) != 0)
        print_message("%s\n", query);
    assert_string_equal(found, wanted);
    weft_search_free(q);
}

static struct weft_model *some(void)
{
    const struct weft_event ev[] = {
        creates(0, LOOP, 1, TASK),
        creates(0, LOOP, 2, WAIT),
        creates(0, LOOP, 3, TASK),
        creates(0, LOOP, 44, TASK),
        creates(0, LOOP, 5, CONDITION),
        label(1, 1, "Connect to 44"),
        label(2, 1, "later: \xc3\x84\xff end"),
        label(3, 2, "wait for task"),
        counter(4, 3, 5, "Queue#1"),
        increases(5, 3, -2, "Queue#1"),
        label(6, 44, "type:task"),
        label(7, 44, ">10ms"),
        label(8, 5, "__should_resolve"),
        fails(MILLION, LOOP, 3, "Connection refused"),
        becomes(2 * MILLION, 2, 1),
        fulfills(15 * MILLION, LOOP, 1),
        fulfills(1500 * MILLION, LOOP, 44),
    };
    struct trace t = {.fd = -1};
    trace_packet(&t, 0, ev, COUNT(ev));
    return trace_model(&t);
}

TEST(queries)
{
    struct weft_model *m = some();
    struct weft_scene *s = scene_of(m);
    static const char *const cases[][2] = {
        /* Words are looked for everywhere. */
        {"connect", "1 3"},
        {"CONNECT", "1 3"},
        {"  connect\tto ", "1"},
        {"44", "1 44"},
        {"#44", "44"},
        {"4", "1"},
        {"task", "1 2 3 44"},
        {"wait", "2"},
        {"refused connection", "3"},
        {"connect zzz", ""},
        /* Quoted ones are one. */
        {"\"connect to\"", "1"},
        {"\"to connect\"", ""},
        {"\"connect to", "1"},
        {"con\"nect t\"o", "1"},
        {"\"type:task\"", "44"},
        {"\">10ms\"", "44"},
        /* Only a to z match in either case; bytes that are no characters match themselves. */
        {"\xc3\x84", "1"},
        {"\xc3\xa4", ""},
        {"\xff END", "1"},
        /* Prefixes. */
        {"label:task", "2 44"},
        {"label:\"wait for\"", "2"},
        {"type:task", "1 3 44"},
        {"TYPE:TASK connect", "1 3"},
        {"type:connect", ""},
        {"reason:connect", "3"},
        {"reason:task", ""},
        {"id:44", "44"},
        {"id:4", ""},
        {"id:044", "44"},
        {"id:4x", ""},
        {"id:99999999999999999999", ""},
        {"outcome:failed", "3"},
        {"outcome:f", "1 3 44"},
        {"outcome:pending", "5"},
        {"outcome:overdue", "5"},
        {"outcome:became", "2"},
        {"outcome:never", ""},
        {"later:", "1"},
        {"foo:bar", ""},
        /* Not asked for yet. */
        {"type:", ""},
        {"type: connect", "1 3"},
        {"", ""},
        {"   ", ""},
        {"\"\"", ""},
        /* How long. */
        {">10ms", "1 44 5"},
        {"> 10 ms", "1 44 5"},
        {">15ms", "44 5"},
        {"<2ms", "3"},
        {"<2ms >1s", ""},
        {">0.5ms <1.5MS", "3"},
        {">999us <1001\xc2\xb5s", "3"},
        {">999999ns <1000001ns", "3"},
        {">1s", "44 5"},
        {">1.4s connect", ""},
        {"<1min type:task outcome:fulfilled", "1 44"},
        {">10", "44"}, /* as it stands */
        {">10ms0", ""},
        {">.", ""},
        {">", "44"},
        {">99999999999999999999999999min", ""}, /* it does not fit: a word */
        {"<99999999999999999999999999min task", ""},
        {"<1h type:task outcome:fulfilled", "1 44"},
        {"<2 d type:task outcome:fulfilled", "1 44"},
        {"type:task outcome:fulfilled > 15 ms", "44"},
        /* A counter's change is a label. */
        {"queue#1", "3"},
        {"label:queue#1+5", "3"},
        {"queue#1-2", "3"},
        {"queue#1-3", ""},
        {"type:queue", ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect(s, cases[i][0], cases[i][1]);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Words mean one text of a promise; only if there is none with all of them, several. */
TEST(words_of_one_text)
{
    const struct weft_event ev[] = {
        creates(0, LOOP, 1, TASK),
        label(1, 1, "ARP query"),
        label(2, 1, "DHCP response"),
        creates(3, LOOP, 2, TASK),
        label(4, 2, "ARP response"),
        creates(5, LOOP, 3, WAIT),
        label(6, 3, "wait"),
        label(7, 3, "response (no ARP)"),
        creates(8, LOOP, 4, TASK),
        label(9, 4, "closed"),
        fails(10, LOOP, 4, "no response to ARP"),
    };
    static const char *const cases[][2] = {
        {"ARP response", "2 3 4"},
        {"response arp", "2 3 4"},
        {"\"ARP response\"", "2"},
        {"label:arp label:response", "1 2 3"},
        {"query response", "1"}, /* nowhere in one text */
        {"dhcp arp task", "1"},  /* … */
        {"arp response 2", "2"}, /* a number goes with any text */
        {"2 4", ""},
        {"arp response type:task", "2 4"},
        {"arp response outcome:failed", "4"},
        {"arp response zzz", ""},
    };
    struct trace t = {.fd = -1};
    trace_packet(&t, 0, ev, COUNT(ev));
    struct weft_model *m = trace_model(&t);
    struct weft_scene *s = scene_of(m);
    for (unsigned i = 0; i < COUNT(cases); i++)
        expect(s, cases[i][0], cases[i][1]);
    for (uint32_t steps = 1; steps < 20; steps++) { /* piece by piece, the hits do not change */
        struct weft_search *q = search(s, "ARP response", steps);
        assert_int_equal(weft_search_hits(q), 3);
        assert_int_equal(m->promise[weft_search_next(q, WEFT_NONE, 0, 1)].id, 2);
        weft_search_free(q);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* What is wrong with a query, which is said at once, or what the trace has instead. */
TEST(why_nothing_is_found)
{
    static const struct {
        const char *query, *why;
        bool at_once;
    } cases[] = {
        {"outcome:foo",
         "outcome: takes pending, fulfilled, failed, became, resolved, cancelled, forgotten or "
         "overdue",
         true},
        {"connect outcome:foo",
         "outcome: takes pending, fulfilled, failed, became, resolved, cancelled, forgotten or "
         "overdue",
         true},
        {"outcome:fo", "not found: no promise is 'fo'", false},
        {"outcome:canc", "not found: no promise is 'canc'", false},
        {"id:foo", "id: takes the number of a promise, as in id:12", true},
        {"id:6", "not found: there is no promise 6", false},
        {">12", "> and < take a time with a unit (ns, us, ms, s, min, h, d), as in >10ms", true},
        {"> 12", "> and < take a time with a unit (ns, us, ms, s, min, h, d), as in >10ms", true},
        {"<3mm", "> and < take a time with a unit (ns, us, ms, s, min, h, d), as in >10ms", true},
        {"type:foo", "not found: no type has 'foo'; types are task, wait, condition", false},
        {"label:foo", "not found: no label has 'foo'", false},
        {"reason:foo", "not found: no failure says 'foo'", false},
        {">2s", "not found: the longest promise lasts 1.5 s", false},
        {"<1ns", "not found: the shortest promise lasts 1 ms", false},
        {"foo:bar", "not found", false},
        {"\"outcome:foo\"", "not found", false},
        {"connect zzz", "not found: nothing has 'zzz'", false},
        {"wait refused", "not found", false},
        {"connect", "", false},
        {"outcome:", "", false},
        {"", "", false},
    };
    struct weft_model *m = some();
    struct weft_scene *s = scene_of(m);
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct weft_search *q;
        assert_int_equal(weft_search_new(&q, s, cases[i].query), 0);
        assert_string_equal(weft_search_why(q), cases[i].at_once ? cases[i].why : "");
        while (weft_search_work(q, 1))
            ;
        assert_string_equal(weft_search_why(q), cases[i].why);
        weft_search_free(q);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* A pending promise lasts until the trace ends, also beyond its last sign of life; a bind from its first read on. */
TEST(how_long)
{
    const struct weft_event ev[] = {
        creates(0, LOOP, 1, TASK),
        creates(0, LOOP, 2, WAIT),
        creates(0, 1, 3, BIND),
        fulfills(5 * MILLION, LOOP, 2),
        reads(5 * MILLION, 3, 2),
        fulfills(6 * MILLION, 3, 3),
        creates(7 * MILLION, LOOP, 4, TASK),
        fulfills(20 * MILLION, LOOP, 4),
    };
    struct trace t = {.fd = -1};
    trace_packet(&t, 0, ev, COUNT(ev));
    struct weft_model *m = trace_model(&t);
    struct weft_scene *s = scene_of(m);
    expect(s, ">19ms", "1");
    expect(s, ">4ms <21ms", "1 2 4");
    expect(s, "<2ms", "3");
    weft_scene_free(s);
    weft_model_free(m);
}

TEST(queries_are_bounded)
{
    struct weft_model *m = some();
    struct weft_scene *s = scene_of(m);
    char query[3 * WEFT_SEARCH_BYTES];
    /* What comes after that many bytes does not count. */
    memset(query, ' ', sizeof query);
    memcpy(query, "connect", 7);
    memcpy(query + sizeof query - 8, "zzz", 4);
    expect(s, query, "1 3");
    /* Nor what comes after that many words. */
    size_t used = 0;
    for (unsigned i = 0; i < WEFT_SEARCH_WORDS; i++)
        used += (size_t)snprintf(query + used, sizeof query - used, "task ");
    snprintf(query + used, sizeof query - used, "zzz");
    expect(s, query, "1 2 3 44");
    memset(query, 'a', sizeof query - 1);
    query[sizeof query - 1] = 0;
    expect(s, query, "");
    /* Any bytes. */
    for (unsigned seed = 1; seed < 3000; seed++) {
        const char alphabet[] = "a1.\"<>:#ms \t\xc3\xb5\xff-+idtype";
        uint32_t x = seed * 2654435761u;
        unsigned n = seed % 40;
        for (unsigned i = 0; i < n; i++) {
            x = x * 1664525u + 1013904223u;
            query[i] = alphabet[(x >> 16) % (sizeof alphabet - 1)];
        }
        query[n] = 0;
        struct weft_search *q = search(s, query, 0);
        assert_true(!weft_search_is_empty(q) || weft_search_hits(q) == 0);
        weft_search_free(q);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* ---- Many promises ---- */

/* Some of their lines begin late: the order by start is not that of the indices. */
static struct weft_model *many(uint64_t n)
{
    struct trace t = {.fd = -1};
    uint64_t now = 0;
    trace_begin(&t, 0);
    for (uint64_t i = 1; i <= n; i++) {
        char text[40];
        struct weft_event ev[6];
        size_t count = 0;
        snprintf(text, sizeof text, "number %" PRIu64 "%s", i % 97, i % 5 ? "" : " five");
        ev[count++] = creates(now, i > 9 ? i - 9 : LOOP, i, i % 3 ? TASK : BIND);
        if (i > 30 && (i - 30) % 3 == 0) {
            ev[count++] = reads(now, i - 30, i - 29);
            ev[count++] = label(now, i - 30, "woken five");
        } else if (i > 30) {
            ev[count++] = label(now, i - 30, text);
        }
        if (i > 100 && i % 7)
            ev[count++] = fulfills(now, LOOP, i - 100);
        for (size_t k = 0; k < count; k++)
            weft_event_encode(trace_extend(&t, weft_event_size(&ev[k])), &ev[k]);
        now += i % 4 ? 10 : 0;
    }
    trace_set_sizes(&t, t.size);
    return trace_model(&t);
}

static int64_t start_of(const struct weft_scene *s, uint32_t p)
{
    return weft_layout_line(s->l, &s->m->promise[p]);
}

static const struct weft_scene *sorted_scene;

static int by_start(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t s = start_of(sorted_scene, x), t = start_of(sorted_scene, y);
    return s != t ? (s < t ? -1 : 1) : x < y ? -1 : x > y;
}

static void expect_order(const struct weft_scene *s, const struct weft_search *q)
{
    uint32_t n = s->m->promises, hits = 0, *order = malloc(n * sizeof *order);
    assert_non_null(order);
    for (uint32_t p = 1; p < n; p++)
        if (weft_search_has(q, p))
            order[hits++] = p;
    assert_int_equal(hits, weft_search_hits(q));
    sorted_scene = s;
    if (hits)
        qsort(order, hits, sizeof *order, by_start);
    for (uint32_t i = 0; i < hits; i++) {
        uint32_t next = order[(i + 1) % hits];
        assert_int_equal(weft_search_rank(q, order[i]), i + 1);
        assert_int_equal(weft_search_next(q, order[i], 0, 1), next);
        assert_int_equal(weft_search_next(q, next, 0, -1), order[i]);
    }
    for (uint32_t p = 1; p < n; p += 13) { /* from what is no hit, and from a time */
        int64_t start = start_of(s, p);
        uint32_t after = 0, at = 0, until = 0;
        while (after < hits && (by_start(&order[after], &p) <= 0))
            after++;
        while (at < hits && start_of(s, order[at]) < start)
            at++;
        while (until < hits && start_of(s, order[until]) <= start)
            until++;
        uint32_t none = WEFT_NONE;
        assert_int_equal(weft_search_next(q, p, 0, 1), hits ? order[after % hits] : none);
        assert_int_equal(weft_search_next(q, WEFT_NONE, start, 1), hits ? order[at % hits] : none);
        assert_int_equal(weft_search_next(q, WEFT_NONE, start, -1),
                         hits ? order[(until + hits - 1) % hits] : none);
        if (!weft_search_has(q, p))
            assert_int_equal(weft_search_rank(q, p), 0);
    }
    free(order);
}

static void expect_spans(const struct weft_scene *s, const struct weft_search *q)
{
    uint32_t n = s->m->promises - 1, hits = 0;
    for (uint32_t at = 0; (at = weft_search_next_span(q, at, n)) < n; at++)
        hits += weft_search_has(q, s->l->spans[at]);
    assert_int_equal(hits, weft_search_hits(q));
    uint32_t x = 1;
    for (unsigned i = 0; i < 3000; i++) {
        x = x * 1664525u + 1013904223u;
        uint32_t from = (x >> 8) % n, end = from + (i % 3 ? i : n) % (n - from + 1), count = 0;
        uint32_t first = end;
        for (uint32_t at = end; at-- > from;)
            if (weft_search_has(q, s->l->spans[at])) {
                first = at;
                count++;
            }
        assert_int_equal(weft_search_next_span(q, from, end), first);
        assert_int_equal(weft_search_count_spans(q, from, end), count);
    }
    assert_int_equal(weft_search_next_span(q, 5, 5), 5);
    assert_int_equal(weft_search_count_spans(q, 5, 5), 0);
}

TEST(hits_in_order)
{
    static const char *const cases[] = {"five", "woken five", "type:bind", "id:777", ">1ns",
                                        "zzz",  "number 13",  "<1us 13",   ""};
    struct weft_model *m = many(9000);
    struct weft_scene *s = scene_of(m);
    bool late = false;
    for (uint32_t p = 2; p < m->promises; p++)
        late = late || start_of(s, p) < start_of(s, p - 1);
    assert_true(late);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct weft_search *q = search(s, cases[i], 0);
        expect_order(s, q);
        expect_spans(s, q);
        /* In pieces, the same. */
        for (uint32_t steps = 1; steps < 100000; steps = steps * 13 + 1) {
            struct weft_search *r = search(s, cases[i], steps);
            assert_int_equal(weft_search_hits(r), weft_search_hits(q));
            for (uint32_t p = 0; p < m->promises; p++)
                assert_int_equal(weft_search_has(r, p), weft_search_has(q, p));
            assert_int_equal(weft_search_next(r, WEFT_NONE, 0, 1),
                             weft_search_next(q, WEFT_NONE, 0, 1));
            weft_search_free(r);
        }
        weft_search_free(q);
    }
    weft_scene_free(s);
    weft_model_free(m);
}

/* Questions before the end have sensible answers. */
TEST(half_way)
{
    struct weft_model *m = many(5000);
    struct weft_scene *s = scene_of(m);
    struct weft_search *q;
    assert_int_equal(weft_search_new(&q, s, "five"), 0);
    assert_int_equal(weft_search_next(q, WEFT_NONE, 0, 1), WEFT_NONE);
    for (bool more = true; more;) {
        more = weft_search_work(q, 37);
        uint32_t p = weft_search_next(q, WEFT_NONE, 0, 1);
        assert_true(p == WEFT_NONE ? weft_search_hits(q) == 0 : weft_search_has(q, p));
        if (p == WEFT_NONE)
            continue;
        uint32_t next = weft_search_next(q, p, 0, 1);
        assert_true(weft_search_has(q, next));
        assert_int_equal(weft_search_next(q, next, 0, -1), p);
        assert_in_range(weft_search_rank(q, p), 1, weft_search_hits(q));
        assert_in_range(weft_search_next_span(q, 0, m->promises - 1), 0, m->promises - 1);
        assert_in_range(weft_search_count_spans(q, 0, m->promises - 1), 0, weft_search_hits(q));
    }
    assert_int_equal(weft_search_count_spans(q, 0, m->promises - 1), weft_search_hits(q));
    weft_search_free(q);
    weft_scene_free(s);
    weft_model_free(m);
}

/* Texts longer than what is looked at in one go, with the word at any place. */
TEST(long_texts)
{
    enum { SIZE = 20000 };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    for (size_t at = 0; at + 6 <= SIZE; at += at < 4080 || at > 4110 ? 997 : 1) {
        memset(text, 'a', SIZE);
        text[SIZE] = 0;
        memcpy(text + at, "Needle", 6);
        struct trace t = {.fd = -1};
        trace_begin(&t, 0);
        trace_add(&t, creates(0, LOOP, 1, TASK));
        trace_add(&t, label(1, 1, text));
        trace_add(&t, creates(2, LOOP, 2, TASK));
        struct weft_model *m = trace_model(&t);
        struct weft_scene *s = scene_of(m);
        expect(s, "needle", "1");
        expect(s, "needles", "");
        weft_scene_free(s);
        weft_model_free(m);
    }
    free(text);
}

TEST(nothing_to_search)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    trace_add(&t, gc(10, 1));
    struct weft_model *m = trace_model(&t);
    struct weft_scene *s = scene_of(m);
    struct weft_search *q = search(s, "a", 0);
    assert_int_equal(weft_search_hits(q), 0);
    assert_int_equal(weft_search_next(q, WEFT_NONE, 0, -1), WEFT_NONE);
    assert_int_equal(weft_search_next_span(q, 0, 0), 0);
    weft_search_free(q);
    weft_scene_free(s);
    weft_model_free(m);
}

/* ---- Spans of distributed traces ---- */

#define TRACE_A "4bf92f3577b34da6a3ce929d0e0e4736"
#define TRACE_B "4bf92f0000000000a3ce929d0e0e4736"
#define SPAN_1 "00f067aa0ba902b7"
#define SPAN_2 "b7ad6b7169203331"

/* 1 is caused by a span of A, and creates 2, which is one of it and creates 3; 4 is one of B; 5 has none. */
static struct weft_model *traced(void)
{
    const struct step steps[] = {
        {.ev = creates(0, LOOP, 1, 0)},
        {.ev = with_text(in_span(1, 1), TRACE_A "-" SPAN_1)},
        {.ev = creates(2, 1, 2, 0)},
        {.ev = with_text(is_span(3, 2), TRACE_A "-" SPAN_2)},
        {.ev = creates(4, 2, 3, 0)},
        {.ev = creates(5, LOOP, 4, 0)},
        {.ev = with_text(is_span(6, 4), TRACE_B "-" SPAN_1)},
        {.ev = creates(7, LOOP, 5, 0)},
    };
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    const uint32_t site = strings_site(&s, strings_text(&s, "task"), 0, 0, 0);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    steps_put(&t, steps, COUNT(steps), &site, LOOP);
    return trace_model(&t);
}

static void expect_why(const struct weft_scene *s, const char *query, const char *wanted)
{
    struct weft_search *q = search(s, query, 0);
    assert_string_equal(weft_search_why(q), wanted);
    weft_search_free(q);
}

TEST(spans)
{
    static const char *const cases[][2] = {
        {"trace:" TRACE_A, "1 2 3"},
        {"trace:4BF92F3577B34DA6A3CE929D0E0E4736", "1 2 3"},
        {"trace:4bf92f3", "1 2 3"},
        {"trace:4bf92f", "1 2 3 4"},
        {"trace:4", "1 2 3 4"},
        {"trace:5", ""},
        {"span:" SPAN_1, "1 4"},
        {"span:0", "1 4"},
        {"span:" SPAN_2, "2"},
        {"span:" SPAN_2 " trace:" TRACE_B, ""},
        {"span:" SPAN_1 " trace:" TRACE_B, "4"},
        {"trace:4 type:task id:3", "3"},
        {"trace:", ""},
        {TRACE_A, ""},
        {"\"trace:4\"", ""},
    };
    struct weft_model *m = traced(), *none = some();
    struct weft_scene *s = scene_of(m), *without = scene_of(none);
    for (unsigned i = 0; i < COUNT(cases); i++)
        expect(s, cases[i][0], cases[i][1]);
    expect_why(s, "trace:5", "not found: no id of a trace begins with '5'");
    expect_why(s, "span:5", "not found: no id of a span begins with '5'");
    expect_why(s, "trace:4 span:5", "not found");
    expect_why(s, "trace:4x", "trace: takes the first hexadecimal digits of an id, at most 32");
    expect_why(s, "span:" SPAN_1 "0",
               "span: takes the first hexadecimal digits of an id, at most 16");
    expect_why(without, "trace:4", "not found: the recording has no ids of distributed traces");
    expect_why(without, "type:task span:4", "not found: the recording has no ids of spans");
    weft_scene_free(s);
    weft_scene_free(without);
    weft_model_free(m);
    weft_model_free(none);
}

RUN_TESTS(NULL, NULL)
