/* SPDX-License-Identifier: ISC */
/* The table beside the picture, and the flame graph of waits: both must say what weft stats says, for random traces, in
 * whole, in a range, of a search, and of what a promise created. Linked with --wrap=malloc and so on. */
#include "allocations.h"
#include "analyse/spent.h"
#include "analyse/stats.h"
#include "explore/state.h"
#include "explore/table.h"
#include "trace.h"

enum { PROMISES = 60, EVENTS = 500, SEEDS = 60, MANY = 200000 };

/* ---- Random traces ---- */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(0x2545f4914f6cdd1d) >> 32) * limit >> 32;
}

/* Promises with few labels that create, wait for, run and end each other, also in circles; some become another one, some
 * are older than the trace. */
static struct weft_model *random_model(uint64_t seed)
{
    struct trace t = {.fd = -1};
    uint64_t now = 0, made = 0;
    bool ended[PROMISES + 1] = {false};
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    trace_begin(&t, 0);
    for (unsigned i = 0; i < EVENTS; i++) {
        uint64_t a = 1 + random_below(made + 1), b = 1 + random_below(made + 1);
        char name[16];
        now += random_below(4);
        if (made < PROMISES && (made < 4 || random_below(6) == 0)) {
            made++;
            trace_add(&t, creates(now, random_below(made), made, (unsigned)random_below(3)));
            snprintf(name, sizeof name, "%c %u", "abc"[random_below(3)], (unsigned)random_below(2));
            if (random_below(4))
                trace_add(&t, label(now, made, name));
            continue;
        }
        a = a > made ? made : a;
        b = b > made ? made : b;
        switch (random_below(6)) {
        case 0:
        case 1:
            trace_add(&t, try_read(now, a, b));
            break;
        case 2:
            trace_add(&t, switches(now, random_below(3) ? a : LOOP));
            break;
        case 3:
            trace_add(&t, reads(now, a, b));
            break;
        default:
            if (ended[b] || random_below(2))
                break;
            ended[b] = true;
            trace_add(&t, random_below(5) == 0 && !ended[a] && a != b ? becomes(now, b, a)
                          : random_below(4)                           ? fulfills(now, a, b)
                                                                      : fails(now, a, b, "why"));
        }
    }
    return trace_model(&t);
}

static struct weft_explorer *explorer_of(struct weft_model *m)
{
    struct weft_explorer *e;
    struct weft_scene *s;
    assert_int_equal(weft_explorer_new(&e), 0);
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    assert_int_equal(weft_explorer_add(e, s, m, "trace"), 0);
    assert_int_equal(weft_explorer_analyse(e), 0);
    return e;
}

static const struct weft_history *history(struct weft_explorer *e)
{
    return weft_explorer_analysis(e, 0)->history;
}

static void work(struct weft_explorer *e)
{
    while (weft_explorer_work(e))
        ;
}

/* ---- What the table must say, added up by promise ---- */

struct sums {
    uint64_t count, failed, waiting, ready, running;
    int64_t total, max;
};

/* What a promise spent in the range, added up nanosecond by nanosecond. */
static void add_spent(struct sums *out, const struct weft_history *h, uint32_t p, int64_t from,
                      int64_t to)
{
    struct weft_meter meter = {.h = h};
    struct weft_spent_part *part = NULL;
    struct weft_spent spent;
    uint32_t parts = 0, room = 0;
    uint64_t sum[3] = {0}, whole[3] = {0};
    assert_int_equal(weft_spent_parts(&part, &parts, &room, &meter, p), 0);
    assert_int_equal(weft_spent_find(&spent, &meter, p), 0);
    for (uint32_t i = 0; i < parts; i++) {
        assert_true(part[i].from_ns < part[i].to_ns);
        assert_true(i == 0 || part[i - 1].to_ns <= part[i].from_ns);
        assert_int_equal(part[i].kind == WEFT_SPENT_WAITING, part[i].wait != WEFT_NONE);
        for (int64_t at = part[i].from_ns; at < part[i].to_ns; at++) {
            whole[part[i].kind]++;
            sum[part[i].kind] += from == to || (at >= from && at < to);
        }
    }
    assert_int_equal(whole[WEFT_SPENT_WAITING], spent.waiting_ns);
    assert_int_equal(whole[WEFT_SPENT_READY], spent.ready_ns);
    assert_int_equal(whole[WEFT_SPENT_RUNNING], spent.running_ns + spent.collecting_ns);
    out->waiting += sum[WEFT_SPENT_WAITING];
    out->ready += sum[WEFT_SPENT_READY];
    out->running += sum[WEFT_SPENT_RUNNING];
    free(part);
    weft_meter_fini(&meter);
}

static bool has_label(const struct weft_model *m, uint32_t p, const char *type, const char *name)
{
    uint32_t text = weft_model_name(m, p);
    const char *own = text == WEFT_NONE ? weft_model_type(m, p) : weft_model_text(m, text, NULL);
    return strcmp(weft_model_type(m, p), type) == 0 && strcmp(own, name) == 0;
}

static bool is_created_by(const struct weft_model *m, uint32_t p, uint32_t by)
{
    while (p != WEFT_ROOT) {
        p = m->promise[p].creator;
        if (p == by)
            return true;
    }
    return false;
}

struct filter {
    int64_t from, to;
    bool failed;
    uint32_t creator; /* WEFT_NONE: any */
};

static struct sums expect(const struct weft_history *h, const struct filter *f, const char *type,
                          const char *name)
{
    const struct weft_model *m = h->m;
    struct sums s = {0};
    for (uint32_t p = 1; p < m->promises; p++) {
        const struct weft_promise *x = &m->promise[p];
        const unsigned outcome = m->promise[weft_model_final(m, p)].outcome;
        int64_t end = weft_history_ended_ns(h, p);
        if (!has_label(m, p, type, name) || (f->failed && x->outcome != WEFT_FAILED) ||
            (f->from != f->to && (x->start_ns > f->to || end < f->from)) ||
            (f->creator != WEFT_NONE && !is_created_by(m, p, f->creator)))
            continue;
        s.count++;
        s.failed += outcome == WEFT_FAILED;
        add_spent(&s, h, p, f->from, f->to);
        if (!x->created ||
            (outcome != WEFT_FAILED && outcome != WEFT_FULFILLED && outcome != WEFT_RESOLVED))
            continue;
        int64_t ns = end - weft_model_wake(m, x);
        ns = ns > 0 ? ns : 0;
        s.total += ns;
        s.max = ns > s.max ? ns : s.max;
    }
    return s;
}

/* Splits off a cell, which ends at a tab or at the end of the line. */
static char *cell(char **at)
{
    char *text = *at;
    *at += strcspn(*at, "\t\n");
    assert_true(**at != '\0');
    *(*at)++ = '\0';
    return text;
}

/* Compares each row with what it must say; together they must have all that count. */
static void compare(struct weft_explorer *e, const struct filter *f)
{
    const struct weft_history *h = history(e);
    work(e);
    const struct weft_table_view *t = weft_explorer_table(e);
    assert_true(t->open && !t->working);
    assert_int_equal(t->rows, t->all);
    char *text = strdup(weft_explorer_table_tsv(e)), *at = text;
    uint64_t count = 0, all = 0, rows = 0;
    while (*at != '\n')
        at++;
    for (at++; *at; rows++) {
        char *value[WEFT_TABLE_COLUMNS + 1];
        for (unsigned c = 0; c <= WEFT_TABLE_COLUMNS; c++)
            value[c] = cell(&at);
        struct sums s = expect(h, f, value[WEFT_TABLE_COLUMNS], value[WEFT_TABLE_NAME]);
#define VALUE(column) strtoull(value[WEFT_TABLE_##column], NULL, 10)
        assert_int_equal(VALUE(COUNT), s.count);
        assert_int_equal(VALUE(FAILED), s.failed);
        assert_int_equal(VALUE(TOTAL), s.total);
        assert_int_equal(VALUE(MAX), s.max);
        assert_int_equal(VALUE(WAITING), s.waiting);
        assert_int_equal(VALUE(READY), s.ready);
        assert_int_equal(VALUE(RUNNING), s.running);
        count += s.count;
#undef VALUE
    }
    free(text);
    assert_int_equal(rows, t->rows);
    for (uint32_t p = 1; p < h->m->promises; p++) {
        all += (!f->failed || h->m->promise[p].outcome == WEFT_FAILED) &&
               (f->from == f->to ||
                (h->m->promise[p].start_ns <= f->to && weft_history_ended_ns(h, p) >= f->from)) &&
               (f->creator == WEFT_NONE || is_created_by(h->m, p, f->creator));
    }
    assert_int_equal(count, all);
}

TEST(rows_are_those_of_stats)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct weft_explorer *e = explorer_of(random_model(seed));
        const struct weft_model *m = history(e)->m;
        weft_explorer_table_show(e, WEFT_TABLE_LABEL);
        struct filter f = {.creator = WEFT_NONE};
        compare(e, &f);
        weft_explorer_search(e, "outcome:failed");
        f.failed = true;
        compare(e, &f);
        weft_explorer_search(e, "");
        f.failed = false;
        for (unsigned i = 0; i < 4; i++) {
            char place[80];
            f.from = (int64_t)random_below((uint64_t)m->end_ns);
            f.to = f.from + 1 + (int64_t)random_below(200);
            snprintf(place, sizeof place, "table=label&range=%d-%d", (int)f.from, (int)f.to);
            assert_true(weft_explorer_go(e, place));
            compare(e, &f);
        }
        weft_explorer_go(e, "table=label");
        f.from = f.to = 0;
        f.creator = 1 + (uint32_t)random_below(m->promises - 1);
        weft_explorer_select(e, 0, f.creator);
        assert_true(weft_explorer_table_pin(e));
        compare(e, &f);
        weft_explorer_free(e);
    }
}

/* By type and by family they must be the rows of weft_stats_find, in its order. */
static const char *time_text(char out[40], int64_t ns)
{
    snprintf(out, 40, "%s", ns ? weft_duration(ns).text : "0");
    return out;
}

TEST(other_rows_too)
{
    static const enum weft_stats_by by[] = {[WEFT_TABLE_LABEL] = WEFT_BY_LABEL,
                                            [WEFT_TABLE_FAMILY] = WEFT_BY_FAMILY,
                                            [WEFT_TABLE_TYPE] = WEFT_BY_TYPE,
                                            [WEFT_TABLE_CREATOR] = WEFT_BY_CREATOR};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct weft_explorer *e = explorer_of(random_model(seed));
        for (unsigned b = WEFT_TABLE_LABEL; b <= WEFT_TABLE_CREATOR; b++) {
            struct weft_stats s;
            assert_int_equal(weft_stats_find(&s, history(e), by[b], NULL, NULL), 0);
            weft_explorer_table_show(e, b);
            work(e);
            const struct weft_table_view *t = weft_explorer_table(e);
            assert_int_equal(t->rows, s.rows);
            uint64_t all = 0;
            for (uint32_t i = 0; i < t->rows; i++) {
                const struct weft_stats_row *r = &s.row[i];
                char text[40];
                assert_string_equal(t->row[i].cell[WEFT_TABLE_COUNT], weft_count(r->count).text);
                assert_string_equal(t->row[i].cell[WEFT_TABLE_P99],
                                    r->latencies ? time_text(text, r->p99_ns) : "");
                assert_string_equal(t->row[i].cell[WEFT_TABLE_WAITING],
                                    time_text(text, r->waiting_ns));
                assert_string_equal(t->row[i].cell[WEFT_TABLE_CPU], "");
                all += r->count;
            }
            assert_int_equal(all, history(e)->m->promises - 1);
            weft_stats_fini(&s);
        }
        weft_explorer_free(e);
    }
}

TEST(findings_have_rows)
{
    uint64_t seen = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct weft_explorer *e = explorer_of(random_model(seed));
        const struct weft_findings *f = &weft_explorer_analysis(e, 0)->findings;
        weft_explorer_table_show(e, WEFT_TABLE_FINDING);
        weft_explorer_table_sort(e, WEFT_TABLE_COUNT);
        work(e);
        const struct weft_table_view *t = weft_explorer_table(e);
        for (uint32_t i = 0; i < t->rows; i++) {
            uint32_t number = (uint32_t)strtoul(t->row[i].cell[WEFT_TABLE_NAME], NULL, 10);
            assert_in_range(number, 1, f->count);
            const struct weft_finding *x = &f->finding[number - 1];
            uint64_t count = strtoull(t->row[i].cell[WEFT_TABLE_COUNT], NULL, 10);
            assert_in_range(count, 1, 1 + (uint64_t)x->affecteds);
            assert_true(i == 0 ||
                        strtoull(t->row[i - 1].cell[WEFT_TABLE_COUNT], NULL, 10) >= count);
            seen++;
        }
        weft_explorer_free(e);
    }
    assert_true(seen > SEEDS);
}

/* ---- What can be done with it ---- */

TEST(sorts_by_each_column)
{
    struct weft_explorer *e = explorer_of(random_model(7));
    weft_explorer_table_show(e, WEFT_TABLE_LABEL);
    work(e);
    for (unsigned c = 0; c < WEFT_TABLE_COLUMNS; c++)
        for (unsigned up = 0; up < 2; up++) {
            weft_explorer_table_sort(e, c);
            const struct weft_table_view *t = weft_explorer_table(e);
            assert_int_equal(t->sort, c);
            char *text = strdup(weft_explorer_table_tsv(e)), *at = strchr(text, '\n') + 1;
            char last[200] = "";
            for (bool first = true; *at; first = false) {
                char *value[WEFT_TABLE_COLUMNS + 1];
                for (unsigned i = 0; i <= WEFT_TABLE_COLUMNS; i++)
                    value[i] = cell(&at);
                uint64_t now = strtoull(value[c], NULL, 10), before = strtoull(last, NULL, 10);
                if (!first && c != WEFT_TABLE_NAME)
                    assert_true(t->ascending ? now >= before : now <= before);
                snprintf(last, sizeof last, "%s", value[c]);
            }
            free(text);
        }
    weft_explorer_free(e);
}

/* Each click leads to the next slowest, and all of them are reached. */
TEST(goes_to_the_next_slowest)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct weft_explorer *e = explorer_of(random_model(seed));
        const struct weft_history *h = history(e);
        weft_explorer_table_show(e, WEFT_TABLE_TYPE);
        work(e);
        uint32_t count =
            (uint32_t)strtoul(weft_explorer_table(e)->row[0].cell[WEFT_TABLE_COUNT], NULL, 10);
        bool seen[2 * PROMISES] = {false}; /* also those that are only mentioned */
        int64_t before = INT64_MAX;
        uint32_t first = WEFT_NONE;
        for (uint32_t i = 0; i < count; i++) {
            assert_true(weft_explorer_table_go(e, 0));
            uint32_t at = weft_explorer_selected(e, NULL);
            const struct weft_promise *p = &h->m->promise[at];
            if (seen[at])
                print_error("seed %u: promise %u again, as number %u of %u\n", (unsigned)seed, at,
                            i, count);
            assert_false(seen[at]);
            seen[at] = true;
            first = i == 0 ? at : first;
            const unsigned outcome = h->m->promise[weft_model_final(h->m, at)].outcome;
            bool ended = p->created && (outcome == WEFT_FULFILLED || outcome == WEFT_FAILED ||
                                        outcome == WEFT_RESOLVED);
            int64_t ns = ended ? weft_history_ended_ns(h, at) - weft_model_wake(h->m, p) : -1;
            ns = ended && ns < 0 ? 0 : ns;
            assert_true(ns <= before);
            before = ns;
        }
        assert_true(weft_explorer_table_go(e, 0)); /* and again from the slowest */
        assert_int_equal(weft_explorer_selected(e, NULL), first);
        weft_explorer_free(e);
    }
}

TEST(brushing_searches)
{
    struct weft_explorer *e = explorer_of(random_model(3));
    weft_explorer_search(e, "type:task >5ns");
    weft_explorer_table_show(e, WEFT_TABLE_TYPE);
    work(e);
    assert_true(weft_explorer_table_go(e, 0));
    const struct weft_table_view *t = weft_explorer_table(e);
    assert_true(t->row[0].chosen);
    uint64_t all = 0;
    for (uint32_t i = 0; i < t->bars; i++) {
        assert_true(i == 0 || t->bar[i].from_ns == t->bar[i - 1].to_ns);
        all += t->bar[i].count;
    }
    assert_true(t->bars > 2);
    assert_non_null(strstr(t->bars_about, weft_count(all).text));
    char query[80];
    snprintf(query, sizeof query, "type:task >%dns <%dns", (int)t->bar[1].from_ns - 1,
             (int)t->bar[2].to_ns);
    weft_explorer_table_brush(e, 2, 1);
    assert_string_equal(weft_explorer_query(e), query);
    weft_explorer_table_brush(e, 999, 1);
    assert_string_equal(weft_explorer_query(e), query);
    weft_explorer_free(e);
}

TEST(is_in_places)
{
    struct weft_explorer *e = explorer_of(random_model(5));
    assert_null(strstr(weft_explorer_place(e), "table="));
    assert_true(weft_explorer_go(e, "table=creator&sort=-p99&kind=3&pin=1"));
    assert_non_null(strstr(weft_explorer_place(e), "table=creator&sort=-p99&kind=3&pin=1"));
    work(e);
    const struct weft_table_view *t = weft_explorer_table(e);
    assert_int_equal(t->by, WEFT_TABLE_CREATOR);
    assert_int_equal(t->sort, WEFT_TABLE_P99);
    assert_true(t->ascending && t->pinned && t->open);
    assert_true(weft_explorer_go(e, "table=label"));
    assert_non_null(strstr(weft_explorer_place(e), "table=label"));
    assert_false(weft_explorer_go(e, "table=nonsense"));
    assert_false(weft_explorer_go(e, "table=label&sort=nonsense"));
    assert_true(weft_explorer_go(e, ""));
    assert_false(weft_explorer_table(e)->open);
    assert_true(weft_explorer_command(e, WEFT_COMMAND_TABLE));
    assert_true(weft_explorer_table(e)->open);
    weft_explorer_free(e);
}

/* What is pinned and chosen stays, by number, when the trace is read again. */
TEST(reading_again_keeps_it)
{
    struct weft_explorer *e = explorer_of(random_model(5));
    assert_true(weft_explorer_go(e, "table=type&kind=3&pin=1"));
    work(e);
    uint32_t rows = weft_explorer_table(e)->rows;
    struct weft_model *m = random_model(5);
    struct weft_scene *s;
    assert_int_equal(weft_scene_new(&s, m, false, NULL, NULL), 0);
    weft_explorer_replace(e, 0, s, m);
    work(e);
    assert_non_null(strstr(weft_explorer_place(e), "table=type&kind=3&pin=1"));
    assert_int_equal(weft_explorer_table(e)->rows, rows);
    weft_explorer_remove(e, 0);
    work(e);
    assert_true(weft_explorer_table(e)->open);
    assert_null(strstr(weft_explorer_place(e), "pin="));
    weft_explorer_free(e);
}

/* A row of very many is sorted in pieces, in small steps. */
TEST(many_in_small_steps)
{
    struct trace t = {.fd = -1};
    random_state = 99;
    for (uint64_t i = 1; i <= MANY; i++) {
        if (i % 1000 == 1)
            trace_begin(&t, i / 1000);
        trace_add(&t, creates(i, LOOP, i, TASK));
    }
    uint64_t now = MANY;
    for (uint64_t i = 1; i <= MANY; i++) {
        if (i % 1000 == 1)
            trace_begin(&t, (MANY + i) / 1000);
        trace_add(&t, fulfills(now += random_below(1000), LOOP, 1 + i * 7919 % MANY));
    }
    struct weft_model *m = trace_model(&t);
    struct weft_history *h;
    struct weft_stats_work *w;
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    const struct weft_stats_options o = {.by = WEFT_BY_TYPE};
    assert_int_equal(weft_stats_begin(&w, h, &o), 0);
    int rc;
    while ((rc = weft_stats_work(w, 777)) > 0)
        ;
    assert_int_equal(rc, 0);
    const struct weft_stats *s = weft_stats_result(w);
    assert_int_equal(s->rows, 1);
    assert_int_equal(s->row[0].latencies, MANY);
    int64_t sum = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(i == 0 || s->latency[i - 1] <= s->latency[i]);
        sum += s->latency[i];
    }
    assert_int_equal(sum, s->row[0].total_ns);
    assert_int_equal(s->row[0].p50_ns, s->latency[MANY / 2 - 1]);
    assert_int_equal(s->row[0].max_ns, s->latency[MANY - 1]);
    weft_stats_end(w);
    weft_history_free(h);
    weft_model_free(m);
}

/* ---- Why they waited ---- */

/* Children and the frame itself must add up, and no label may be followed in a circle. */
static void check_tree(const struct weft_calltree *t)
{
    uint64_t *sum = calloc(t->calls, sizeof *sum);
    assert_non_null(sum);
    for (uint32_t i = t->calls; i-- > 1;) {
        assert_true(t->call[i].parent < i);
        sum[t->call[i].parent] += t->call[i].total;
    }
    for (uint32_t i = 0; i < t->calls; i++)
        assert_int_equal(t->call[i].total, t->call[i].self + sum[i]);
    assert_int_equal(t->call[0].total, t->total);
    assert_int_equal(t->call[0].self, 0);
    free(sum);
}

TEST(waits_add_up)
{
    uint64_t cycles = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct weft_explorer *e = explorer_of(random_model(seed));
        const struct weft_history *h = history(e);
        for (uint32_t p = 0; p < h->m->promises; p += 7) {
            for (unsigned ranged = 0; ranged < 2; ranged++) {
                uint32_t name = p ? weft_model_name(h->m, p) : WEFT_NONE;
                struct filter f = {.creator = WEFT_NONE};
                if (ranged)
                    f.to = (f.from = 40) + 150;
                struct sums s = {0};
                for (uint32_t i = 1; i < h->m->promises; i++)
                    if (!p || (h->m->promise[i].type == h->m->promise[p].type &&
                               weft_model_name(h->m, i) == name))
                        add_spent(&s, h, i, f.from, f.to);
                struct explore_why *w;
                struct weft_calltree *tree;
                struct weft_profile *names;
                const struct explore_why_of of = {p ? p : WEFT_NONE, false, f.from, f.to};
                assert_int_equal(explore_why_begin(&w, h, &of), 0);
                while (explore_why_work(w, 3) > 0)
                    ;
                explore_why_take(w, &tree, &names);
                explore_why_end(w);
                assert_non_null(tree);
                assert_int_equal(tree->total, s.waiting);
                check_tree(tree);
                for (uint32_t i = 1; i < tree->calls; i++)
                    cycles += strcmp(weft_flame_name(names, tree, i), "(cycle)") == 0;
                weft_calltree_free(tree);
                weft_profile_free(names);
            }
        }
        weft_explorer_free(e);
    }
    assert_true(cycles > 0);
}

/* a waits for b, which waits for c from 20 to 50, then runs; c waits for a: a circle. */
TEST(says_what_was_waited_for)
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    static const char *const names[] = {"a", "b", "c"};
    for (uint64_t i = 1; i <= 3; i++) {
        trace_add(&t, creates(0, LOOP, i, TASK));
        trace_add(&t, label(0, i, names[i - 1]));
    }
    trace_add(&t, try_read(10, 1, 2));
    trace_add(&t, try_read(20, 2, 3));
    trace_add(&t, try_read(30, 3, 1));
    trace_add(&t, fulfills(50, LOOP, 3));
    trace_add(&t, switches(50, 2));
    trace_add(&t, fulfills(80, 2, 2));
    trace_add(&t, switches(80, 1));
    trace_add(&t, switches(100, LOOP));
    struct weft_explorer *e = explorer_of(trace_model(&t));
    assert_true(weft_explorer_go(e, "select=1&flame=1&why=1"));
    work(e);
    assert_non_null(weft_explorer_draw(e));
    const struct explore_flame_pane *f = &e->flame;
    assert_non_null(f->tree);
    static const struct {
        uint32_t depth;
        const char *name;
        uint64_t total;
    } frames[] = {{0, "all", 70},     {1, "a", 70},         {2, "b", 70},
                  {3, "c", 30},       {4, "(unknown)", 10}, {4, "a", 20},
                  {5, "(cycle)", 20}, {3, "(running)", 30}, {3, "(unknown)", 10}};
    assert_int_equal(f->tree->calls, COUNT(frames));
    for (size_t i = 0; i < COUNT(frames); i++) {
        bool found = false;
        for (uint32_t k = 0; k < f->tree->calls; k++)
            found |= f->tree->call[k].depth == frames[i].depth &&
                     f->tree->call[k].total == frames[i].total &&
                     strcmp(weft_flame_name(f->names, f->tree, k), frames[i].name) == 0;
        if (!found)
            print_error("no frame %s of %u ns\n", frames[i].name, (unsigned)frames[i].total);
        assert_true(found);
    }
    assert_non_null(strstr(weft_explorer_place(e), "flame=1&why=1"));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_FLAME)); /* the other graph */
    assert_null(strstr(weft_explorer_place(e), "why=1"));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_WHY));
    assert_true(weft_explorer_command(e, WEFT_COMMAND_WHY));
    assert_null(strstr(weft_explorer_place(e), "flame=1"));
    weft_explorer_free(e);
}

/* All that may be done with a table and a graph, whatever fails. */
static void use(struct weft_explorer *e)
{
    static const char *const places[] = {"table=label&sort=p99&kind=2",
                                         "table=creator&range=5-200",
                                         "table=finding&search=outcome:failed",
                                         "table=type&pin=1",
                                         "flame=1&why=1",
                                         "flame=1&why=1&table=family&select=3"};
    struct weft_drawlist still = {0};
    for (size_t i = 0; i < COUNT(places); i++) {
        uint32_t count;
        weft_explorer_go(e, places[i]);
        work(e);
        weft_explorer_table(e);
        weft_explorer_table_tsv(e);
        weft_explorer_table_go(e, 0);
        weft_explorer_table(e);
        weft_explorer_table_brush(e, 0, 1);
        work(e);
        weft_explorer_draw(e);
        weft_explorer_facts(e, &count);
        if (weft_explorer_picture(e, &still) == 0)
            weft_drawlist_fini(&still);
    }
}

TEST(no_memory)
{
    bool failed = true;
    long left = 0;
    for (long n = 1; failed; n += 1 + n / 50) {
        struct weft_explorer *e = explorer_of(random_model(2));
        long before = live;
        fail_at = n;
        use(e);
        failed = fail_at == 0;
        fail_at = 0;
        weft_explorer_free(e);
        if (n > 1 && live != left)
            print_error("allocation %ld: %ld leaked\n", n, live - left);
        assert_true(live < before);
        assert_true(n == 1 || live == left);
        left = live;
    }
}

RUN_TESTS(NULL, NULL)
