/* SPDX-License-Identifier: ISC */
/* The rules of docs/model.md for weft's own traces: what mirage's lack, and several threads. */
#include <inttypes.h>

#include "model/model.h"
#include "model/traced.h"
#include "models.h"
#include "packets.h"

/* ---- Building and describing ---- */

enum site { S_TASK, S_QUEUE, S_BIND, S_UNNAMED, S_COUNT };

/* An event of a stream; of creations, where. */
static struct weft_model *build_trace(struct trace *t)
{
    struct weft_reader *r;
    struct weft_model *m;
    assert_int_equal(weft_reader_open(&r, trace_path(t), NULL), 0);
    assert_int_equal(weft_model_build(&m, r, NULL, NULL, NULL), 0);
    assert_int_equal(weft_reader_damage(r)->problems, 0);
    weft_reader_close(r);
    trace_fini(t);
    return m;
}

/* Off from paused to resumed (0: to the end). */
static struct weft_model *build_with_pause(uint64_t paused, uint64_t resumed,
                                           const struct step *step, size_t count)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site[S_COUNT] = {strings_site(&s, strings_text(&s, "task"), 0, 0, 0)};
    facts_packet_with_pause(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED,
                                                           .start_mono_ns = 1,
                                                           .stop_mono_ns = 1000});
    facts_pause(&t, paused, resumed);
    strings_packet(&t, &s);
    steps_put(&t, step, count, site, LOOP);
    return build_trace(&t);
}

/* A packet for each stream; running: what the first stream's header says. */
static struct weft_model *build(const struct step *step, size_t count, uint64_t running)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t file = strings_text(&s, "main.c"), site[S_COUNT];
    site[S_TASK] = strings_site(&s, strings_text(&s, "task"), 0, file, 10);
    site[S_QUEUE] = strings_site(&s, strings_text(&s, "queue"), strings_text(&s, "q"), file, 20);
    site[S_BIND] = strings_site(&s, strings_text(&s, "bind"), 0, 0, 0);
    site[S_UNNAMED] = strings_site(&s, 0, 0, file, 10);
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    strings_packet(&t, &s);
    steps_put(&t, step, count, site, running);
    return build_trace(&t);
}

#define BUILD(...)                                                                                 \
    build((const struct step[]){__VA_ARGS__}, COUNT(((const struct step[]){__VA_ARGS__})), LOOP)

static struct step first(struct weft_event ev)
{
    return (struct step){.ev = ev};
}

static struct step second(struct weft_event ev)
{
    return (struct step){.ev = ev, .stream = 1};
}

static struct step third(struct weft_event ev)
{
    return (struct step){.ev = ev, .stream = 2};
}

static struct step made(struct weft_event ev, enum site site)
{
    return (struct step){.ev = ev, .site = site};
}

/* "id type creator start end outcome becomes label", a line each, by id. */
static void expect_model(struct weft_model *m, const char *wanted)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    uint32_t *sorted = weft_model_by_id(m);
    assert_non_null(sorted);
    for (uint32_t i = 0; i + 1 < m->promises; i++) {
        const struct weft_promise *p = &m->promise[sorted[i]];
        uint32_t name = weft_model_name(m, sorted[i]);
        fprintf(out, "%" PRId64 " %s", (int64_t)p->id, weft_model_type(m, sorted[i]));
        print_id(out, m, p->creator);
        fprintf(out, " %" PRId64 " %" PRId64 " %s", p->start_ns, p->end_ns,
                weft_outcome_name((enum weft_outcome)p->outcome));
        print_id(out, m, p->becomes);
        fprintf(out, " %s%s%s%s\n", name == WEFT_NONE ? "-" : weft_model_text(m, name, NULL),
                p->should_resolve ? " should" : "", p->background ? " background" : "",
                p->simplified ? " simplified" : "");
    }
    free(sorted);
    fclose(out);
    expect_text(text, wanted);
    free(text);
    weft_model_free(m);
}

static void assert_no_contradiction(const struct weft_model *m)
{
    const struct weft_contradictions *c = &m->contradictions;
    assert_int_equal(c->created_twice + c->resolved_twice + c->circles + c->on_loop, 0);
}

static void expect_sleeps(struct weft_model *m, const char *wanted)
{
    char found[256] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < m->sleeps; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%" PRId64 "-%" PRId64,
                                 used ? " " : "", m->sleep[i].start_ns, m->sleep[i].end_ns);
    assert_string_equal(found, wanted);
    weft_model_free(m);
}

/* ---- Types, labels, places ---- */

TEST(types_and_labels)
{
    struct weft_model *m =
        BUILD(first(creates(10, LOOP, 1, 0)), made(creates(11, 1, 2, 0), S_QUEUE),
              made(with_text(creates(12, 1, 3, 0), "given"), S_QUEUE), first(label(13, 3, "later")),
              made(creates(14, LOOP, 4, 0), S_UNNAMED), first(creates(15, LOOP, 5, 0)));
    uint32_t origin = weft_model_origin(m, weft_model_find(m, 2));
    assert_string_equal(weft_model_text(m, m->origin[origin].file, NULL), "main.c");
    assert_int_equal(m->origin[origin].line, 20);
    assert_int_equal(weft_model_origin(m, weft_model_find(m, 3)), origin);
    assert_int_equal(m->origins, 3);
    assert_no_contradiction(m);
    expect_model(m, "1 task -1 0 2 pending - -\n"
                    "2 queue 1 1 1 pending - q\n"
                    "3 queue 1 2 3 pending - given\n"
                    "4 promise -1 4 4 pending - -\n"
                    "5 task -1 5 5 pending - -\n");
}

TEST(a_label_at_creation_keeps_a_bind_whole)
{
    expect_model(BUILD(first(creates(0, LOOP, 1, 0)), made(creates(10, LOOP, 2, 0), S_BIND),
                       made(with_text(creates(11, LOOP, 3, 0), "x"), S_BIND),
                       first(reads(20, 2, 1)), first(reads(21, 3, 1))),
                 "1 task -1 0 0 pending - -\n"
                 "2 bind -1 10 21 pending - - simplified\n"
                 "3 bind -1 11 21 pending - x\n");
}

/* ---- Outcomes and marks ---- */

TEST(ways_to_end)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
              first(creates(2, LOOP, 3, 0)), first(creates(3, LOOP, 4, 0)),
              first(creates(4, LOOP, 5, 0)), first(resolves(10, 1, 2)), first(cancels(20, 1, 3)),
              first(forgets(30, 4)), first(fails(40, 1, 5, "why")), first(forgets(50, 5)));
    assert_no_contradiction(m);
    assert_int_equal(m->interactions, 3);
    for (uint32_t i = 0; i < m->interactions; i++)
        assert_int_equal(m->interaction[i].kind, WEFT_RESOLVES);
    expect_model(m, "1 task -1 0 40 pending - -\n"
                    "2 task -1 1 10 resolved - -\n"
                    "3 task -1 2 20 cancelled - -\n"
                    "4 task -1 3 30 forgotten - -\n"
                    "5 task -1 4 40 failed - -\n");
}

TEST(a_failure_without_a_reason)
{
    struct weft_event ev = fails(40, 1, 2, "");
    ev.text = NULL;
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(ev), first(fails(50, 1, 3, "r")));
    assert_int_equal(weft_model_reason(m, weft_model_find(m, 2)), WEFT_NONE);
    assert_string_equal(weft_model_text(m, weft_model_reason(m, weft_model_find(m, 3)), NULL), "r");
    weft_model_free(m);
}

TEST(ended_twice)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(forgets(10, 1)), first(cancels(20, 2, 1)),
              first(resolves(30, 2, 1)), first(forgets(40, LOOP)), first(cancels(50, 1, LOOP)));
    assert_int_equal(m->contradictions.resolved_twice, 2);
    assert_int_equal(m->contradictions.on_loop, 2);
    expect_model(m, "1 task -1 0 20 cancelled - -\n2 preexisting -1 0 30 pending - -\n");
}

/* As promises do. What came later is kept as an event. */
TEST(the_first_end_counts)
{
    const struct {
        struct weft_event end;
        const char *outcome;
    } first_end[] = {{fulfills(10, 2, 1), "fulfilled"},
                     {fails(10, 2, 1, "why"), "failed"},
                     {resolves(10, 2, 1), "resolved"},
                     {cancels(10, 2, 1), "cancelled"}};
    const struct weft_event later[] = {fulfills(20, 3, 1), fails(20, 3, 1, "late"),
                                       resolves(20, 3, 1), becomes(20, 1, 3), cancels(20, 3, 1)};
    for (unsigned i = 0; i < sizeof first_end / sizeof *first_end; i++)
        for (unsigned k = 0; k < sizeof later / sizeof *later; k++) {
            char wanted[300];
            struct weft_model *m =
                BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
                      first(creates(2, LOOP, 3, 0)), first(first_end[i].end),
                      first(switches(15, 3)), first(later[k]), first(switches(30, LOOP)));
            bool late = later[k].kind == WEFT_EVENT_CANCELS;
            assert_int_equal(m->contradictions.resolved_twice, !late);
            assert_int_equal(m->interactions, 2);
            assert_int_equal(m->interaction[0].kind, WEFT_RESOLVES);
            assert_int_equal(m->interaction[1].kind,
                             late ? WEFT_CANCELS_LATE : WEFT_RESOLVES_AGAIN);
            assert_int_equal(m->interaction[1].actor, weft_model_find(m, 3));
            assert_int_equal(m->interaction[1].other, weft_model_find(m, 1));
            assert_int_equal(weft_model_reason(m, weft_model_find(m, 1)) != WEFT_NONE, i == 1);
            snprintf(wanted, sizeof wanted,
                     "1 task -1 0 10 %s - -\n2 task -1 1 %d pending - -\n"
                     "3 task -1 2 30 pending - -\n",
                     first_end[i].outcome, 10);
            expect_model(m, wanted);
        }
}

/* A becoming hands over what is said later. */
TEST(what_another_one_became_ends_once)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)), first(becomes(5, 1, 2)),
              first(fulfills(10, LOOP, 1)), first(fails(20, LOOP, 2, "late")));
    assert_int_equal(m->contradictions.resolved_twice, 1);
    expect_model(m, "1 task -1 0 5 became 2 -\n2 task -1 1 10 fulfilled - -\n");
}

TEST(marks)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
              first(creates(2, LOOP, 3, 0)), first(should_resolve(3, 1)), first(background(4, 2)),
              first(becomes(5, 1, 3)), first(background(6, LOOP)), first(should_resolve(7, LOOP)),
              first(label(8, 2, "__should_resolve")), first(switches(20, LOOP)));
    assert_no_contradiction(m);
    assert_true(weft_model_overdue(m, weft_model_find(m, 3)));
    expect_model(m, "1 task -1 0 5 became 3 - should\n"
                    "2 task -1 1 20 pending - - should background\n"
                    "3 task -1 2 20 pending - - should\n");
}

#define TRACE_A "4bf92f3577b34da6a3ce929d0e0e4736"
#define TRACE_B "0af7651916cd43dd8448eb211c80319c"
#define SPAN_1 "00f067aa0ba902b7"
#define SPAN_2 "b7ad6b7169203331"

static void print_ids(FILE *out, const struct weft_traced *t)
{
    char text[WEFT_IDS_TEXT + 1] = "none";
    if (t)
        format_ids_write(text, t->ids);
    fprintf(out, " %s", text);
}

/* Of each promise, by number: the one with the nearest ids, and these ids; its own; its parent's. */
static void expect_spans(struct weft_model *m, const char *wanted)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    uint32_t *sorted = weft_model_by_id(m);
    for (uint32_t i = 0; i + 1 < m->promises; i++) {
        const uint32_t p = sorted[i], nearest = weft_traced_nearest(m, p);
        fprintf(out, "%" PRIu64 " by %" PRId64, m->promise[p].id,
                nearest == WEFT_NONE ? -1 : (int64_t)m->promise[nearest].id);
        print_ids(out, weft_traced_inherited(m, p));
        print_ids(out, weft_traced_of(m, p, WEFT_TRACED_SPAN));
        print_ids(out, weft_traced_of(m, p, WEFT_TRACED_PARENT));
        fputc('\n', out);
    }
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
    free(sorted);
    weft_model_free(m);
}

TEST(spans_are_inherited)
{
    expect_spans(
        BUILD(made(creates(0, LOOP, 1, 0), S_TASK), made(creates(1, 1, 2, 0), S_TASK),
              first(with_text(in_span(2, 1), TRACE_A "-" SPAN_1)),
              made(creates(3, 2, 3, 0), S_TASK),
              first(with_text(is_span(4, 3), TRACE_B "-" SPAN_1)), /* replaced by the next one */
              first(with_text(is_span(5, 3), TRACE_A "-" SPAN_2)),
              first(with_text(in_span(6, 3), TRACE_B "-" SPAN_2)),
              made(creates(7, 3, 4, 0), S_TASK), made(creates(8, LOOP, 5, 0), S_TASK)),
        "1 by 1 " TRACE_A "-" SPAN_1 " none " TRACE_A "-" SPAN_1 "\n"
        "2 by 1 " TRACE_A "-" SPAN_1 " none none\n"
        "3 by 3 " TRACE_A "-" SPAN_2 " " TRACE_A "-" SPAN_2 " " TRACE_B "-" SPAN_2 "\n"
        "4 by 3 " TRACE_A "-" SPAN_2 " none none\n"
        "5 by -1 none none none\n");
    /* Creators before they are created, and in a circle. */
    expect_spans(BUILD(made(creates(0, 2, 1, 0), S_TASK), made(creates(1, 3, 2, 0), S_TASK),
                       made(creates(2, 2, 3, 0), S_TASK), made(creates(3, 4, 5, 0), S_TASK),
                       first(with_text(is_span(4, 4), TRACE_A "-" SPAN_1))),
                 "1 by -1 none none none\n"
                 "2 by -1 none none none\n"
                 "3 by -1 none none none\n"
                 "4 by 4 " TRACE_A "-" SPAN_1 " " TRACE_A "-" SPAN_1 " none\n"
                 "5 by 4 " TRACE_A "-" SPAN_1 " none none\n");
}

TEST(what_is_no_span)
{
    static const char *const texts[] = {
        "",
        TRACE_A,
        TRACE_A "-",
        TRACE_A "-" SPAN_1 "0",
        TRACE_A "_" SPAN_1,
        TRACE_A "-00F067aa0ba902b7",
        "00000000000000000000000000000000-" SPAN_1,
        TRACE_A "-0000000000000000",
        "4bf92f3577b34da6a3ce929d0e0e473g-" SPAN_1,
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        expect_spans(BUILD(made(creates(0, LOOP, 1, 0), S_TASK),
                           first(with_text(is_span(1, 1), texts[i])),
                           first(with_text(is_span(2, LOOP), TRACE_A "-" SPAN_1))),
                     "1 by -1 none none none\n");
}

TEST(notifying_is_a_sign_of_life)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
              first(notifies(10, 1, 2)), first(notifies(20, 1, 2)), first(switches(30, LOOP)));
    assert_int_equal(m->interactions, 2);
    assert_int_equal(m->interaction[1].kind, WEFT_NOTIFIES);
    assert_int_equal(m->interaction[1].other, weft_model_find(m, 2));
    expect_model(m, "1 task -1 0 20 pending - -\n2 task -1 1 20 pending - -\n");
}

/* holder resource from to released_by, - for nobody. */
static void expect_holds(struct weft_model *m, const char *wanted)
{
    char found[512] = "", *at = found;
    for (uint32_t i = 0; i < m->holds; i++) {
        const struct weft_hold *x = &m->hold[i];
        const uint32_t who[] = {x->holder, x->released_by};
        char name[2][8];
        for (int k = 0; k < 2; k++)
            snprintf(name[k], sizeof name[k], who[k] == WEFT_NONE ? "-" : "%" PRId64,
                     who[k] == WEFT_NONE ? 0 : (int64_t)m->promise[who[k]].id);
        at += sprintf(at, "%s %" PRIu64 " %" PRId64 " %" PRId64 " %s\n", name[0],
                      m->promise[x->resource].id, x->from_ns, x->to_ns, name[1]);
    }
    assert_string_equal(found, wanted);
    weft_model_free(m);
}

TEST(who_holds_what)
{
    expect_holds(BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
                       first(creates(2, LOOP, 3, 0)), first(creates(2, LOOP, 4, 0)),
                       first(acquires(3, 1, 3)), first(acquires(4, 2, 3)), first(acquires(5, 1, 3)),
                       first(acquires(6, 1, 4)), first(releases(7, 1, 3)), first(releases(8, 2, 3)),
                       first(fulfills(9, LOOP, 1)), first(switches(20, LOOP))),
                 "1 3 3 7 1\n2 3 4 8 2\n1 3 5 20 -\n1 4 6 20 -\n");
}

/* The oldest goes; of a release for which there is nothing, that is kept. The loop may hold, too, and be held by nobody. */
TEST(others_may_give_it_back)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
              first(creates(2, LOOP, 3, 0)), first(releases(3, 1, 3)), first(acquires(4, 1, 3)),
              first(acquires(5, LOOP, 3)), first(releases(6, 2, 3)), first(releases(7, 99, 3)),
              first(releases(8, LOOP, 3)), first(acquires(9, 1, LOOP)));
    assert_int_equal(m->contradictions.on_loop, 1);
    expect_holds(m, "- 3 3 3 1\n1 3 4 6 2\n-1 3 5 8 -1\n");
}

TEST(what_they_became_holds_it)
{
    expect_holds(BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
                       first(creates(2, LOOP, 3, 0)), first(creates(2, LOOP, 4, 0)),
                       first(acquires(3, 1, 3)), first(becomes(4, 1, 2)), first(becomes(5, 3, 4)),
                       first(releases(6, 2, 4)), first(acquires(7, 1, 3))),
                 "1 3 3 6 2\n2 4 7 7 -\n");
}

TEST(holding_is_a_sign_of_life)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), first(creates(1, LOOP, 2, 0)),
              first(acquires(10, 1, 2)), first(releases(20, 1, 2)), first(switches(30, LOOP)));
    assert_int_equal(m->interactions, 0);
    expect_model(m, "1 task -1 0 20 pending - -\n2 task -1 1 20 pending - -\n");
}

TEST(totals_are_right_although_the_beginning_is_gone)
{
    struct weft_event ev = increases(10, 1, 5, "queued");
    ev.total = 105;
    ev.has_total = true;
    struct weft_event again = increases(20, 1, -3, "queued");
    again.total = 102;
    struct weft_model *m = BUILD(first(ev), first(again), first(counter(30, 1, 7, "queued")));
    assert_int_equal(m->counters, 1);
    assert_int_equal(m->changes, 3);
    assert_int_equal(m->change[0].value, 105);
    assert_int_equal(m->change[0].amount, 5);
    assert_int_equal(m->change[1].value, 102);
    assert_int_equal(m->change[2].value, 7);
    assert_int_equal(m->change[2].amount, -95);
    weft_model_free(m);
}

/* ---- What runs ---- */

TEST(each_stream_runs_by_itself)
{
    struct weft_model *m =
        BUILD(first(switches(0, 1)), second(switches(10, 2)), first(switches(20, LOOP)),
              second(reads(30, 1, 3)), first(switches(40, 1)), second(becomes(50, 1, 2)),
              first(switches(60, LOOP)), second(switches(70, LOOP)));
    expect_runs(m, 1, "0-20 30-50 40-50");
    expect_runs(m, 2, "10-30 50-70");
    expect_runs(m, LOOP, "0-0 10-10 20-40 60-70 70-70");
    weft_model_free(m);
}

TEST(the_header_says_what_runs)
{
    const struct step steps[] = {first(label(10, 5, "x")), first(switches(20, 6)),
                                 first(switches(30, LOOP))};
    struct weft_model *m = build(steps, COUNT(steps), 5);
    expect_runs(m, 5, "0-10");
    expect_runs(m, 6, "10-20");
    assert_int_equal(m->sleeps, 0);
    weft_model_free(m);
}

TEST(after_a_gap_something_else_runs)
{
    struct trace t = {.fd = -1};
    for (uint64_t n = 0; n < 3; n++) {
        static const uint64_t running[] = {1, 2, 2};
        events_begin(&t, (struct weft_events_header){
                             .sequence = n + 1, .begin_ticks = 100 * n, .running = running[n]});
        events_put(&t, label(100 * n, 9, "a"), 0);
        events_put(&t, label(100 * n + 10, 9, "b"), 0);
    }
    struct weft_model *m = build_trace(&t);
    expect_runs(m, 1, "0-10");
    expect_runs(m, 2, "100-210");
    weft_model_free(m);
}

/* What runs before and after is the same; what ran in between is not known. Two streams have gaps at one time. */
TEST(where_events_are_missing)
{
    struct trace t = {.fd = -1};
    for (uint64_t n = 0; n < 4; n++) {
        uint32_t stream = n % 2;
        events_begin(&t, (struct weft_events_header){.sequence = n + 1,
                                                     .stream = stream,
                                                     .begin_ticks = 100 * (n / 2) + 5 * stream,
                                                     .events_before = n < 2 ? 7 : 20,
                                                     .running = 1 + stream});
        events_put(&t, label(100 * (n / 2) + 5 * stream, 9, "a"), 0);
        events_put(&t, label(100 * (n / 2) + 50 + 5 * stream, 9, "b"), 0);
    }
    struct weft_model *m = build_trace(&t);
    expect_runs(m, 1, "0-50 100-155");
    expect_runs(m, 2, "5-55 105-155");
    assert_int_equal(m->missings, 1);
    assert_int_equal(m->missing[0].start_ns, 50);
    assert_int_equal(m->missing[0].end_ns, 105);
    assert_int_equal(m->losses.discarded, 2 * (20 - 7 - 2));
    weft_model_free(m);
}

/* The gap of one stream begins when that of another one ends, or a little later. */
TEST(gaps_that_touch)
{
    for (uint64_t later = 0; later < 2; later++) {
        struct trace t = {.fd = -1};
        for (uint64_t n = 0; n < 4; n++) {
            uint64_t begin = (n < 2 ? 100 : 200) + (n % 2) * (100 + later);
            events_begin(&t, (struct weft_events_header){.sequence = n + 1,
                                                         .stream = n % 2,
                                                         .begin_ticks = begin,
                                                         .events_before = n < 2 ? 0 : 9,
                                                         .running = 1 + n % 2});
            events_put(&t, label(begin, 9, "a"), 0);
        }
        struct weft_model *m = build_trace(&t);
        assert_int_equal(m->missings, 1 + later);
        assert_int_equal(m->missing[0].start_ns, 0);
        assert_int_equal(m->missing[0].end_ns, later ? 100 : 200);
        assert_int_equal(m->missing[later].end_ns, 200 + later);
        weft_model_free(m);
    }
}

/* ---- Sleep ---- */

TEST(suspended_is_asleep)
{
    struct weft_model *m =
        BUILD(first(switches(0, 1)), first(suspends(10)), first(suspends(15)), first(resumes(20)),
              first(switches(25, 1)), first(suspends(30)), first(reads(40, 1, 2)),
              first(suspends(50)), first(label(60, 1, "x")));
    expect_runs(m, 1, "0-10 25-30 40-50");
    expect_runs(m, LOOP, "0-0 20-25");
    expect_sleeps(m, "10-20 30-40 50-60");
}

TEST(the_loop_alone_does_not_sleep)
{
    expect_sleeps(BUILD(first(switches(0, 1)), first(switches(10, LOOP)), first(switches(20, 1))),
                  "");
}

TEST(all_streams_that_suspend)
{
    /* The third one never does. */
    expect_sleeps(BUILD(first(switches(0, 1)), first(suspends(10)), second(switches(30, 1)),
                        second(suspends(40)), third(switches(45, 9)), first(resumes(50)),
                        first(suspends(60)), second(resumes(70)), second(suspends(80)),
                        first(resumes(90)), third(switches(95, 9)), first(switches(100, 1)),
                        third(label(120, 1, "x"))),
                  "10-30 40-50 60-70 80-90");
}

/* Threads one after the other, each of which sleeps once: all sleep then, and in between. */
TEST(sleeps_of_short_threads)
{
    enum { THREADS = 64 };
    struct step step[THREADS * 4];
    for (uint32_t i = 0; i < THREADS; i++) {
        uint64_t t = 100 * i;
        const struct weft_event event[] = {switches(t, i + 1), suspends(t + 10), resumes(t + 20),
                                           switches(t + 30, LOOP)};
        for (size_t k = 0; k < 4; k++)
            step[4 * i + k] = (struct step){.ev = event[k], .stream = i};
    }
    struct weft_model *m = build(step, COUNT(step), LOOP);
    assert_int_equal(m->sleeps, 2 * THREADS - 1);
    for (uint32_t i = 0; i < m->sleeps; i++) {
        int64_t start = 100 * (i / 2) + (i % 2 ? 30 : 10);
        assert_int_equal(m->sleep[i].start_ns, start);
        assert_int_equal(m->sleep[i].end_ns, i % 2 ? start + 70 : start + 10);
    }
    assert_int_equal(m->idles, THREADS);
    weft_model_free(m);
}

/* ---- Several threads ---- */

TEST(used_before_it_is_created)
{
    struct weft_model *m =
        BUILD(first(creates(0, LOOP, 1, 0)), second(fulfills(20, 1, 2)),
              second(label(21, 2, "late")), second(creates(22, 2, 3, 0)),
              made(with_text(creates(30, 1, 2, 0), "first"), S_QUEUE), second(label(40, 4, "x")));
    assert_no_contradiction(m);
    assert_true(m->promise[weft_model_find(m, 2)].created);
    expect_model(m, "1 task -1 0 30 pending - -\n"
                    "2 queue 1 20 20 fulfilled - first\n"
                    "3 task 2 22 22 pending - -\n"
                    "4 preexisting -1 0 40 pending - x\n");
}

TEST(nobody_is_his_own_ancestor)
{
    struct weft_model *m = BUILD(first(creates(0, 1, 2, 0)), first(creates(10, 2, 3, 0)),
                                 first(creates(20, 3, 1, 0)), first(creates(30, 4, 4, 0)),
                                 first(creates(40, LOOP, 2, 0)), first(creates(50, 1, LOOP, 0)));
    assert_int_equal(m->contradictions.created_twice, 1);
    assert_int_equal(m->contradictions.on_loop, 1);
    expect_model(m, "1 task -1 0 0 pending - -\n"
                    "2 task 1 0 10 pending - -\n"
                    "3 task 2 10 10 pending - -\n"
                    "4 task -1 30 30 pending - -\n");
}

/* Of a long chain only some ancestors are looked at: then it could be a circle, and the creator counts as unknown. */
TEST(ancestors_far_away)
{
    enum { LOOKED_AT = 63, LATE = 1000 };
    for (uint64_t more = 0; more < 2; more++) {
        struct step step[LOOKED_AT + 3];
        size_t count = 0;
        step[count++] = first(creates(0, LATE, LATE + 1, 0)); /* it is created later */
        for (uint64_t id = 1; id <= LOOKED_AT + more; id++)
            step[count++] = first(creates(id, id > 1 ? id - 1 : LOOP, id, 0));
        step[count++] = first(creates(100, LOOKED_AT + more, LATE, 0));
        struct weft_model *m = build(step, count, LOOP);
        const uint32_t creator = m->promise[weft_model_find(m, LATE)].creator;
        assert_int_equal(m->promise[creator].id, more ? LOOP : LOOKED_AT);
        weft_model_free(m);
    }
}

/* What ran when the recording was paused ran until then. When it is taken up, nobody knows what runs. */
TEST(off_for_a_time)
{
    const struct step step[] = {first(switches(100, 1)), second(switches(110, 2)),
                                second(suspends(120)),   first(label(300, 1, "x")),
                                first(switches(320, 3)), second(resumes(330))};
    struct weft_model *m = build_with_pause(150, 250, step, COUNT(step));
    assert_int_equal(m->paused_ns, 50);
    assert_int_equal(m->resumed_ns, 150);
    assert_int_equal(m->end_ns, 900);
    expect_runs(m, 1, "0-50");
    expect_runs(m, 2, "10-20");
    expect_runs(m, 3, "220-900");
    assert_int_equal(m->missings, 1);
    assert_int_equal(m->missing[0].start_ns, 50);
    assert_int_equal(m->missing[0].end_ns, 150);
    weft_model_free(m);
    m = build_with_pause(350, 0, step, COUNT(step));
    assert_int_equal(m->paused_ns, 250);
    assert_int_equal(m->resumed_ns, WEFT_TIME_MAX);
    assert_int_equal(m->end_ns, 250); /* not when it was stopped */
    expect_runs(m, 1, "0-220");
    assert_int_equal(m->missings, 0);
    weft_model_free(m);
    m = BUILD(first(switches(100, 1)), first(switches(110, 2)));
    assert_true(m->paused_ns == WEFT_TIME_MIN && m->resumed_ns == WEFT_TIME_MIN);
    weft_model_free(m);
}

RUN_TESTS(NULL, NULL)
