/* SPDX-License-Identifier: ISC */
/* One small trace for each rule of docs/model.md. What is expected is worked out by hand from the text
 * of the rules, not from the code. Long, for there are many rules. */
#include <inttypes.h>

#include "models.h"

/* ---- Building and describing ---- */

/* A line for each promise, by id:
 *     id type creator start end outcome becomes label
 * and, if that is simplified, " wakes TIME under ID"; if it should resolve, " should". */
static char *describe(const struct weft_model *m)
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
        fprintf(out, " %s", name == WEFT_NONE ? "-" : weft_model_text(m, name, NULL));
        if (p->simplified) {
            fprintf(out, " wakes %" PRId64 " under", weft_model_wake(m, p));
            print_id(out, m, weft_model_under(m, p));
        } else {
            assert_int_equal(weft_model_wake(m, p), p->start_ns);
            assert_int_equal(weft_model_under(m, p), p->creator);
        }
        fprintf(out, "%s\n", p->should_resolve ? " should" : "");
    }
    free(sorted);
    fclose(out);
    return text;
}

static void expect_model(const struct weft_model *m, const char *wanted)
{
    char *found = describe(m);
    expect_text(found, wanted);
    free(found);
}

/* The promises of those events are as the text says. */
#define EXPECT(wanted, ...)                                                                        \
    do {                                                                                           \
        const struct weft_event ev_[] = {__VA_ARGS__};                                             \
        struct weft_model *m_ = trace_model_of(ev_, COUNT(ev_));                                   \
        expect_model(m_, wanted);                                                                  \
        assert_int_equal(m_->contradictions.created_twice + m_->contradictions.resolved_twice +    \
                             m_->contradictions.circles + m_->contradictions.on_loop,              \
                         0);                                                                       \
        weft_model_free(m_);                                                                       \
    } while (0)

/* The interactions of a promise as the actor: "reads 2 at 10, waits 3 at 20". */
static void expect_interactions(const struct weft_model *m, uint64_t id, const char *wanted)
{
    static const char *const names[] = {[WEFT_READS] = "reads",
                                        [WEFT_WAITS] = "waits",
                                        [WEFT_RESOLVES] = "resolves",
                                        [WEFT_SIGNALS] = "signals"};
    char found[256] = "";
    size_t used = 0;
    uint32_t p = weft_model_find(m, id);
    assert_int_not_equal(p, WEFT_NONE);
    for (uint32_t i = m->promise[p].first_interaction; i != WEFT_NONE; i = m->interaction[i].next)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s %" PRId64 " at %" PRId64,
                                 used ? ", " : "", names[m->interaction[i].kind],
                                 (int64_t)m->promise[m->interaction[i].other].id,
                                 m->interaction[i].time_ns);
    assert_string_equal(found, wanted);
}

/* ---- Reading ---- */

TEST(times_count_from_the_first_event)
{
    EXPECT("1 task -1 5 10 fulfilled - -\n", switches(UINT64_MAX / 2, LOOP),
           creates(UINT64_MAX / 2 + 5, LOOP, 1, TASK), fulfills(UINT64_MAX / 2 + 10, LOOP, 1));
}

TEST(a_promise_first_seen_is_preexisting)
{
    EXPECT("7 preexisting -1 0 40 pending - -\n"
           "8 task 7 40 60 fulfilled - -\n"
           "9 preexisting -1 0 60 pending - -\n",
           switches(100, LOOP), creates(140, 7, 8, TASK), fulfills(160, 9, 8));
}

TEST(every_type_has_its_name)
{
    EXPECT("0 wait -1 0 0 pending - -\n"
           "2 bind -1 0 0 pending - -\n"
           "11 on_termination -1 0 0 pending - -\n"
           "17 switch -1 0 0 pending - -\n"
           "18 type-18 -1 0 0 pending - -\n"
           "19 type-99 -1 0 0 pending - -\n"
           "20 type-100 -1 0 0 pending - -\n"
           "21 type-255 -1 0 0 pending - -\n",
           creates(0, LOOP, 0, WAIT), creates(0, LOOP, 2, BIND), creates(0, LOOP, 11, 11),
           creates(0, LOOP, 17, 17), creates(0, LOOP, 18, 18), creates(0, LOOP, 19, 99),
           creates(0, LOOP, 20, 100), creates(0, LOOP, 21, 255));
}

TEST(ids_are_any_numbers)
{
    EXPECT("0 task -1 0 0 pending - -\n"
           "9223372036854775807 task -1 2 3 fulfilled - -\n"
           "-9223372036854775808 task -1 1 1 pending - -\n"
           "-2 task 0 0 1 pending - -\n",
           creates(0, LOOP, 0, TASK), creates(0, 0, UINT64_MAX - 1, TASK),
           creates(1, LOOP, 1ull << 63, TASK), creates(2, LOOP, INT64_MAX, TASK),
           try_read(1, UINT64_MAX - 1, UINT64_MAX - 1), fulfills(3, LOOP, INT64_MAX));
}

/* ---- Identity ---- */

TEST(the_creator_is_followed_at_that_moment)
{
    EXPECT("1 task -1 0 20 became 2 -\n"
           "2 task -1 0 30 pending - -\n"
           "3 task 1 10 10 pending - -\n"
           "4 task 2 30 30 pending - -\n",
           creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(10, 1, 3, TASK),
           becomes(20, 1, 2), creates(30, 1, 4, TASK));
}

TEST(a_number_means_what_it_has_become)
{
    EXPECT("1 task -1 0 10 became 2 -\n"
           "2 task -1 0 20 became 3 name\n"
           "3 task -1 0 40 failed - late\n",
           creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, LOOP, 3, TASK),
           becomes(10, 1, 2), label(15, 1, "name"), becomes(20, 1, 3), label(30, 2, "late"),
           fails(40, LOOP, 1, "oh"));
}

/* q's own becoming joins the chain: 1 -> 2, then 3 -> 1 means 3 -> 2. */
TEST(becoming_follows_both)
{
    struct weft_model *m = MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK),
                                 creates(0, LOOP, 3, TASK), becomes(10, 1, 2), becomes(20, 3, 1));
    expect_model(m, "1 task -1 0 10 became 2 -\n"
                    "2 task -1 0 0 pending - -\n"
                    "3 task -1 0 20 became 2 -\n");
    for (uint64_t id = 1; id <= 3; id++)
        assert_int_equal(weft_model_final(m, weft_model_find(m, id)), weft_model_find(m, 2));
    weft_model_free(m);
}

/* ---- What runs ---- */

TEST(switch_read_and_signal_make_run)
{
    struct weft_model *m =
        MODEL(switches(0, LOOP), switches(10, 1), reads(20, 2, 1), signals(30, 3, 1),
              read_later(35, 4, 1), signal_only(36, 5, 1), try_read(37, 6, 1), switches(40, LOOP),
              switches(50, 1), switches(55, 1), switches(60, 2));
    expect_runs(m, LOOP, "0-10 40-50");
    expect_runs(m, 1, "10-20 50-60");
    expect_runs(m, 2, "20-30 60-60");
    expect_runs(m, 3, "30-40");
    expect_runs(m, 4, "");
    expect_runs(m, 5, "");
    expect_runs(m, 6, "");
    weft_model_free(m);
}

TEST(becoming_hands_the_run_over)
{
    struct weft_model *m = MODEL(switches(0, 1), becomes(10, 1, 2), switches(30, LOOP),
                                 becomes(40, 3, 4), switches(50, 1));
    expect_runs(m, 1, "0-10");
    expect_runs(m, 2, "10-30 50-50");
    expect_runs(m, 3, "");
    expect_runs(m, 4, "");
    weft_model_free(m);
}

TEST(resolving_clips_the_run)
{
    struct weft_model *m = MODEL(switches(0, 1), fulfills(10, 1, 1), label(20, 2, "x"),
                                 switches(30, LOOP), switches(40, LOOP));
    expect_runs(m, 1, "0-10");
    expect_runs(m, LOOP, "30-40");
    weft_model_free(m);
}

TEST(reading_the_loop_says_nothing)
{
    struct weft_model *m = MODEL(switches(0, 1), reads(10, 2, LOOP), read_later(20, 3, LOOP),
                                 try_read(30, 4, LOOP), switches(40, LOOP));
    assert_int_equal(m->promises, 2);
    assert_int_equal(m->interactions, 0);
    expect_runs(m, 1, "0-40");
    weft_model_free(m);
}

/* ---- Interactions ---- */

TEST(interactions_belong_to_the_actor)
{
    struct weft_model *m =
        MODEL(reads(0, 1, 2), try_read(1, 1, 3), read_later(2, 1, 4), fulfills(3, 1, 5),
              fails(4, 1, 6, ""), signals(5, 7, 1), signal_only(6, 8, 1), fulfills(7, LOOP, 9));
    expect_interactions(m, 1,
                        "reads 2 at 0, waits 3 at 1, reads 4 at 2, resolves 5 at 3, "
                        "resolves 6 at 4, signals 7 at 5, signals 8 at 6");
    expect_interactions(m, 7, "");
    expect_interactions(m, LOOP, "resolves 9 at 7");
    weft_model_free(m);
}

TEST(a_read_replaces_the_wait_before_it)
{
    struct weft_model *m =
        MODEL(try_read(0, 1, 2), reads(10, 1, 2),                      /* replaced */
              try_read(20, 3, 2), try_read(21, 3, 4), reads(22, 3, 2), /* not: 4 in between */
              try_read(30, 5, 2), read_later(31, 5, 2), read_later(32, 5, 2), /* once only */
              try_read(40, 6, 2), try_read(41, 6, 2), reads(42, 6, 2) /* only the last wait */);
    expect_interactions(m, 1, "reads 2 at 10");
    expect_interactions(m, 3, "waits 2 at 20, waits 4 at 21, reads 2 at 22");
    expect_interactions(m, 5, "reads 2 at 31, reads 2 at 32");
    expect_interactions(m, 6, "waits 2 at 40, reads 2 at 42");
    weft_model_free(m);
}

/* ---- Labels ---- */

TEST(labels)
{
    struct weft_model *m =
        MODEL(label(0, LOOP, "dropped"), label(1, 1, "__should_resolve"), label(2, 1, "first"),
              counter(3, 2, 5, "queue"), increases(4, 2, -7, "queue"), label(5, 2, "second"),
              label(6, 1, ""), label(7, 3, ""));
    expect_model(m, "1 preexisting -1 0 7 pending - first should\n"
                    "2 preexisting -1 0 5 pending - second\n"
                    "3 preexisting -1 0 7 pending - \n");
    static const char *const texts[] = {"queue+5", "queue-7", "second"};
    char text[64];
    unsigned n = 0;
    for (uint32_t l = m->promise[weft_model_find(m, 2)].first_label; l != WEFT_NONE;
         l = m->label[l].next) {
        assert_int_equal(weft_model_label_text(m, &m->label[l], text, sizeof text),
                         strlen(texts[n]));
        assert_string_equal(text, texts[n++]);
    }
    assert_int_equal(n, COUNT(texts));
    assert_int_equal(weft_model_label_text(m, &m->label[1], text, 6), 5); /* cut */
    assert_string_equal(text, "queue");
    assert_int_equal(weft_model_label_text(m, &m->label[1], text, 7), 6);
    assert_string_equal(text, "queue+");
    assert_int_equal(weft_model_label_text(m, &m->label[1], text, 1), 0);
    assert_int_equal(weft_model_label_text(m, &m->label[1], text, 0), 0);
    assert_int_equal(m->promise[WEFT_ROOT].first_label, WEFT_NONE);
    weft_model_free(m);
}

/* ---- Ends ---- */

TEST(resolved_promises_end_then)
{
    EXPECT("1 task -1 0 10 fulfilled - after its end\n"
           "2 task -1 0 20 failed - -\n"
           "3 task -1 0 30 became 4 -\n"
           "4 task -1 0 0 pending - -\n", /* being what another became does not count */
           creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, LOOP, 3, TASK),
           creates(0, LOOP, 4, TASK), fulfills(10, LOOP, 1), fails(20, LOOP, 2, "reason"),
           becomes(30, 3, 4), label(40, 1, "after its end"), switches(50, LOOP));
}

TEST(pending_promises_end_with_their_last_sign_of_life)
{
    EXPECT("1 task -1 5 5 pending - -\n"  /* its start */
           "2 task -1 5 10 pending - -\n" /* a child */
           "3 task 2 10 10 pending - -\n"
           "4 task -1 10 20 pending - x\n" /* a label */
           "5 task -1 10 30 pending - -\n" /* a counter */
           "6 task -1 10 40 pending - -\n" /* its interaction */
           "7 task -1 10 50 pending - -\n" /* somebody's wait for it */
           "8 task -1 10 52 pending - -\n"
           "9 task -1 10 60 pending - -\n"  /* a signal to it */
           "10 task -1 10 65 pending - -\n" /* its signal */
           "11 task -1 10 80 pending - -\n" /* the end of its run */
           "12 task -1 10 10 pending - -\n" /* being read does not count */
           "13 preexisting -1 0 70 pending - -\n"
           "14 task -1 10 100 pending - -\n", /* it still runs */
           switches(0, LOOP), creates(5, LOOP, 1, TASK), creates(5, LOOP, 2, TASK),
           creates(10, 2, 3, TASK), creates(10, LOOP, 4, TASK), creates(10, LOOP, 5, TASK),
           creates(10, LOOP, 6, TASK), creates(10, LOOP, 7, TASK), creates(10, LOOP, 8, TASK),
           creates(10, LOOP, 9, TASK), creates(10, LOOP, 10, TASK), creates(10, LOOP, 11, TASK),
           creates(10, LOOP, 12, TASK), creates(10, LOOP, 14, TASK), label(20, 4, "x"),
           increases(30, 5, 1, "c"), read_later(40, 6, 12), try_read(50, 8, 7),
           read_later(52, 8, 7), /* replaces the wait, which still counts for 7 */
           signal_only(60, 9, LOOP), signal_only(65, 13, 10), read_later(70, 13, 12),
           switches(75, 11), switches(80, 14), label(100, LOOP, "the end"));
}

TEST(what_should_resolve_ends_with_the_trace)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, LOOP, 3, TASK),
              creates(0, LOOP, 4, TASK), creates(0, LOOP, 5, TASK), label(1, 1, "__should_resolve"),
              label(1, 2, "__should_resolve"), label(1, 3, "__should_resolve"), becomes(5, 2, 4),
              fulfills(6, LOOP, 3), label(7, 5, "__should_resolve?"), switches(50, LOOP));
    expect_model(m, "1 task -1 0 50 pending - - should\n"
                    "2 task -1 0 5 became 4 - should\n"
                    "3 task -1 0 6 fulfilled - - should\n"
                    "4 task -1 0 50 pending - - should\n"
                    "5 task -1 0 7 pending - __should_resolve?\n");
    assert_true(weft_model_overdue(m, weft_model_find(m, 1)));
    assert_false(weft_model_overdue(m, weft_model_find(m, 2)));
    assert_false(weft_model_overdue(m, weft_model_find(m, 3)));
    assert_true(weft_model_overdue(m, weft_model_find(m, 4)));
    assert_false(weft_model_overdue(m, weft_model_find(m, 5)));
    weft_model_free(m);
}

/* ---- Simplification ---- */

TEST(a_bind_starts_with_its_first_read)
{
    EXPECT("1 task -1 0 20 fulfilled - -\n"
           "2 bind -1 0 30 fulfilled - - wakes 25 under 1\n"
           "3 try -1 0 26 pending - - wakes 26 under 1\n"
           "7 map -1 0 27 pending - - wakes 27 under 1\n"
           "10 on_failure -1 0 28 pending - - wakes 28 under 1\n"
           "11 on_termination -1 0 29 pending - - wakes 29 under 1\n"
           "13 ignore_result -1 0 30 pending - - wakes 30 under 1\n",
           creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, BIND), creates(0, LOOP, 3, TRY),
           creates(0, LOOP, 7, MAP), creates(0, LOOP, 10, 10), creates(0, LOOP, 11, 11),
           creates(0, LOOP, 13, 13), fulfills(20, LOOP, 1), read_later(25, 2, 1),
           read_later(26, 3, 1), read_later(27, 7, 1), read_later(28, 10, 1), read_later(29, 11, 1),
           fulfills(30, 2, 2), read_later(30, 13, 1));
}

/* A wait that the read replaces is no other interaction before it. */
TEST(a_wait_and_the_read_are_one)
{
    EXPECT("1 task -1 0 20 fulfilled - -\n"
           "2 bind -1 0 25 pending - - wakes 25 under 1\n"
           "3 bind -1 0 26 pending - -\n", /* its first interaction is a wait for 2 */
           creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, BIND), creates(0, LOOP, 3, BIND),
           try_read(1, 2, 1), fulfills(20, LOOP, 1), read_later(25, 2, 1), try_read(26, 3, 3));
}

TEST(other_types_are_not_simplified)
{
    EXPECT("0 wait -1 0 25 pending - -\n"
           "1 task -1 0 25 pending - -\n"
           "4 choose -1 0 25 pending - -\n"
           "6 join -1 0 25 pending - -\n"
           "9 on_success -1 0 25 pending - -\n"
           "12 on_any -1 0 25 pending - -\n"
           "20 preexisting -1 0 25 pending - -\n"
           "21 preexisting -1 0 0 pending - -\n"
           "99 type-99 -1 0 25 pending - -\n",
           creates(0, LOOP, 0, WAIT), creates(0, LOOP, 1, TASK), creates(0, LOOP, 4, CHOOSE),
           creates(0, LOOP, 6, JOIN), creates(0, LOOP, 9, 9), creates(0, LOOP, 12, 12),
           creates(0, LOOP, 99, 99), read_later(25, 0, 21), read_later(25, 1, 21),
           read_later(25, 4, 21), read_later(25, 6, 21), read_later(25, 9, 21),
           read_later(25, 12, 21), read_later(25, 20, 21), read_later(25, 99, 21));
}

TEST(a_bind_that_its_creator_became_is_not)
{
    EXPECT("1 task -1 0 0 pending - -\n"
           "2 task -1 0 30 became 3 -\n"
           "3 bind 2 5 20 pending - -\n",
           creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(5, 2, 3, BIND),
           read_later(20, 3, 1), becomes(30, 2, 3));
}

TEST(a_bind_with_an_earlier_label_is_not)
{
    EXPECT("1 preexisting -1 0 0 pending - -\n"
           "2 bind -1 0 10 pending - early\n"
           "3 bind -1 0 10 pending - same wakes 10 under 1\n"
           "4 bind -1 0 11 pending - later wakes 10 under 1\n"
           "5 bind -1 0 10 pending - -\n" /* a counter's change is a label */
           "6 bind -1 0 11 pending - - wakes 10 under 1 should\n", /* a mark is none */
           creates(0, LOOP, 2, BIND), creates(0, LOOP, 3, BIND), creates(0, LOOP, 4, BIND),
           creates(0, LOOP, 5, BIND), creates(0, LOOP, 6, BIND), label(5, 2, "early"),
           increases(6, 5, 1, "c"), label(7, 6, "__should_resolve"), label(10, 3, "same"),
           read_later(10, 2, 1), read_later(10, 3, 1), read_later(10, 4, 1), read_later(10, 5, 1),
           read_later(10, 6, 1), label(11, 4, "later"));
}

TEST(a_bind_that_is_waited_for_is_not)
{
    EXPECT("1 preexisting -1 0 0 pending - -\n"
           "2 bind -1 0 10 pending - -\n"                    /* waited for before */
           "3 bind -1 0 10 pending - -\n"                    /* … at the same time */
           "4 bind -1 0 11 pending - - wakes 10 under 1\n"   /* … afterwards */
           "5 bind -1 0 12 fulfilled - - wakes 10 under 1\n" /* by a wait that was replaced */
           "6 preexisting -1 0 11 pending - -\n"
           "7 preexisting -1 0 13 pending - -\n",
           creates(0, LOOP, 2, BIND), creates(0, LOOP, 3, BIND), creates(0, LOOP, 4, BIND),
           creates(0, LOOP, 5, BIND), try_read(1, 6, 2), try_read(2, 7, 5), read_later(10, 2, 1),
           read_later(10, 3, 1), read_later(10, 4, 1), read_later(10, 5, 1), try_read(10, 6, 3),
           try_read(11, 6, 4), fulfills(12, LOOP, 5), read_later(13, 7, 5));
}

/* ---- Counters ---- */

TEST(counters_and_scales)
{
    struct weft_model *m =
        MODEL(counter(0, 1, 3, "b#2"), counter(1, 1, 500, "b#1"), increases(2, 1, -600, "b#1"),
              counter(3, 1, 7, "tcp-to-ip"), counter(4, 1, 40, "tcp-ackd-segs"),
              counter(5, 1, -4, "a"), counter(6, 1, 2, "b#1#x"), increases(7, 1, 4, "b#2"));
    static const struct {
        const char *name;
        int64_t min, max;
        const char *like; /* shares its scale */
    } wanted[] = {{"a", -4, 6, "a"},
                  {"b#1", -100, 500, "b#1"},
                  {"b#1#x", 0, 10, "b#1#x"},
                  {"b#2", -100, 500, "b#1"},
                  {"tcp-ackd-segs", 0, 40, "tcp-ackd-segs"},
                  {"tcp-to-ip", 0, 40, "tcp-ackd-segs"}};
    assert_int_equal(m->counters, COUNT(wanted));
    assert_int_equal(m->scales, 4);
    for (uint32_t i = 0; i < m->counters; i++) {
        const struct weft_counter_info *c = &m->counter[i];
        assert_string_equal(weft_model_text(m, c->name, NULL), wanted[i].name);
        assert_int_equal(m->scale[c->scale].min, wanted[i].min);
        assert_int_equal(m->scale[c->scale].max, wanted[i].max);
        for (uint32_t k = 0; k < i; k++)
            assert_int_equal(m->counter[k].scale == c->scale,
                             !strcmp(wanted[k].like, wanted[i].like));
    }
    const struct weft_change *last = &m->change[m->counter[1].last_change];
    assert_int_equal(last->value, -100);
    assert_int_equal(last->amount, -600);
    assert_int_equal(m->change[m->counter[3].last_change].value, 7);
    weft_model_free(m);
}

TEST(counters_do_not_overflow)
{
    struct weft_model *m = MODEL(counter(0, 1, INT64_MAX, "c"), increases(1, 1, 1, "c"),
                                 counter(2, 1, INT64_MAX, "c"));
    assert_int_equal(m->change[1].value, INT64_MIN);
    assert_int_equal(m->change[2].amount, -1);
    assert_int_equal(m->scale[0].min, INT64_MIN);
    assert_int_equal(m->scale[0].max, INT64_MAX);
    weft_model_free(m);
}

TEST(collections)
{
    struct weft_model *m =
        MODEL(switches(100, LOOP), gc(150, 30), gc(160, 500), gc(170, UINT64_MAX));
    assert_int_equal(m->pauses, 3);
    assert_int_equal(m->pause[0].start_ns, 20);
    assert_int_equal(m->pause[0].end_ns, 50);
    assert_int_equal(m->pause[1].start_ns, -440);
    assert_true(m->pause[2].start_ns < -1000000 && m->pause[2].end_ns == 70);
    weft_model_free(m);
}

/* ---- Damage ---- */

#define CONTRADICTIONS(m, created, resolved, circles_, loop)                                       \
    do {                                                                                           \
        assert_int_equal((m)->contradictions.created_twice, created);                              \
        assert_int_equal((m)->contradictions.resolved_twice, resolved);                            \
        assert_int_equal((m)->contradictions.circles, circles_);                                   \
        assert_int_equal((m)->contradictions.on_loop, loop);                                       \
    } while (0)

TEST(becoming_oneself_is_ignored)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), becomes(10, 1, 1), fulfills(20, LOOP, 1));
    expect_model(m, "1 task -1 0 20 fulfilled - -\n");
    CONTRADICTIONS(m, 0, 0, 1, 0);
    weft_model_free(m);
}

TEST(circles_are_ignored)
{
    struct weft_model *m = MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK),
                                 creates(0, LOOP, 3, TASK), becomes(10, 1, 2), becomes(20, 2, 3),
                                 becomes(30, 3, 1), becomes(31, 1, 3), fulfills(40, LOOP, 2));
    expect_model(m, "1 task -1 0 10 became 2 -\n"
                    "2 task -1 0 20 became 3 -\n"
                    "3 task -1 0 40 fulfilled - -\n");
    CONTRADICTIONS(m, 0, 0, 2, 0);
    weft_model_free(m);
}

TEST(created_twice)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(5, 1, 1, BIND), creates(6, 2, 1, BIND),
              label(7, 3, "seen before"), creates(8, 1, 3, BIND), /* its creation was missing */
              creates(9, 4, 5, TASK), creates(10, 5, 4, TASK) /* would be its own ancestor */);
    expect_model(m, "1 task -1 0 0 pending - -\n"
                    "2 preexisting -1 0 0 pending - -\n"
                    "3 bind 1 0 7 pending - seen before\n"
                    "4 task -1 0 9 pending - -\n"
                    "5 task 4 9 9 pending - -\n");
    CONTRADICTIONS(m, 4, 0, 0, 0);
    weft_model_free(m);
}

TEST(resolved_twice)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(0, LOOP, 2, TASK), creates(0, LOOP, 3, TASK),
              fulfills(10, LOOP, 1), fails(20, LOOP, 1, "again"), fails(10, LOOP, 2, "first"),
              fulfills(20, LOOP, 2), fulfills(10, LOOP, 3), becomes(20, 3, 1));
    expect_model(m, "1 task -1 0 20 failed - -\n"
                    "2 task -1 0 20 fulfilled - -\n"
                    "3 task -1 0 20 became 1 -\n");
    CONTRADICTIONS(m, 0, 3, 0, 0);
    assert_string_equal(weft_model_text(m, weft_model_reason(m, weft_model_find(m, 1)), NULL),
                        "again");
    weft_model_free(m);
}

TEST(resolved_before_it_is_read)
{
    struct weft_model *m =
        MODEL(fulfills(0, LOOP, 1), creates(10, LOOP, 2, BIND), fulfills(20, LOOP, 2),
              reads(30, 2, 1), /* a bind that is resolved, then reads and runs */
              switches(40, LOOP));
    expect_model(m, "1 preexisting -1 0 0 fulfilled - -\n"
                    "2 bind -1 10 20 fulfilled - - wakes 30 under 1\n");
    expect_runs(m, 2, ""); /* it had ended */
    weft_model_free(m);
}

TEST(time_runs_backwards)
{
    struct weft_model *m = MODEL(switches(1000, 1), creates(500, 1, 2, TASK), switches(400, 2),
                                 fulfills(1500, 2, 2), switches(900, 1), switches(1300, LOOP));
    assert_int_equal(m->end_ns, 500);
    expect_runs(m, 1, "-100-300"); /* the first one would have ended before it began */
    expect_runs(m, 2, "-600--100");
    expect_model(m, "1 preexisting -1 0 300 pending - -\n"
                    "2 task 1 -500 500 fulfilled - -\n");
    for (uint32_t r = 0; r < m->runs; r++)
        assert_true(m->run[r].start_ns <= m->run[r].end_ns);
    weft_model_free(m);
}

/* Unknown times do not overflow anything: the differences are kept small enough. */
TEST(times_are_anything)
{
    struct weft_model *m =
        MODEL(switches(1ull << 63, 1), creates(UINT64_MAX, 1, 2, TASK), fulfills(0, 1, 2),
              creates(1, 1, 3, TASK), switches(UINT64_MAX / 4, LOOP), gc(5, UINT64_MAX));
    for (uint32_t p = 0; p < m->promises; p++) {
        assert_true(m->promise[p].start_ns <= WEFT_TIME_MAX);
        assert_true(m->promise[p].start_ns >= -WEFT_TIME_MAX);
        assert_true(m->promise[p].end_ns <= WEFT_TIME_MAX);
        assert_true(m->promise[p].end_ns >= -WEFT_TIME_MAX);
    }
    weft_model_free(m);
}

TEST(the_loop_as_a_target)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), creates(1, 1, LOOP, TASK), fulfills(2, 1, LOOP),
              fails(3, 1, LOOP, "x"), becomes(4, LOOP, 1), signals(5, LOOP, 1),
              label(6, LOOP, "__should_resolve"), counter(7, LOOP, 1, "c"), switches(8, 1));
    CONTRADICTIONS(m, 0, 0, 0, 4);
    expect_model(m, "1 task -1 0 8 pending - -\n");
    assert_int_equal(m->promise[WEFT_ROOT].outcome, WEFT_PENDING);
    assert_int_equal(m->promise[WEFT_ROOT].becomes, WEFT_NONE);
    assert_int_equal(m->promise[WEFT_ROOT].end_ns, 8);
    assert_false(m->promise[WEFT_ROOT].should_resolve);
    expect_runs(m, LOOP, "5-8");
    weft_model_free(m);
}

/* From then on its number means the loop. */
TEST(becoming_the_loop)
{
    struct weft_model *m =
        MODEL(creates(0, LOOP, 1, TASK), label(1, 1, "__should_resolve"), becomes(2, 1, LOOP),
              creates(3, 1, 2, TASK), fulfills(4, LOOP, 1), reads(5, 2, 1), switches(6, 1));
    CONTRADICTIONS(m, 0, 0, 0, 1);
    expect_model(m, "1 task -1 0 2 became -1 - should\n"
                    "2 task -1 3 6 pending - -\n");
    weft_model_free(m);
}

TEST(nothing_at_all)
{
    struct weft_model *m = trace_model_of(NULL, 0);
    assert_int_equal(m->promises, 1);
    assert_int_equal(m->events_total, 0);
    assert_int_equal(m->end_ns, 0);
    expect_model(m, "");
    weft_model_free(m);
}

/* ---- Size and time ---- */

static struct weft_model *build_many(uint64_t events, struct weft_event make(uint64_t i))
{
    struct trace t = {.fd = -1};
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < events; i++) {
        struct weft_event ev = make(i);
        weft_event_encode(trace_extend(&t, weft_event_size(&ev)), &ev);
    }
    trace_set_sizes(&t, t.size);
    return trace_model(&t);
}

static struct weft_event chain_of_becomes(uint64_t i)
{
    return i == 0 ? creates(0, LOOP, 0, TASK) : becomes(i, i - 1, i);
}

static struct weft_event chain_of_becomes_backwards(uint64_t i)
{
    return becomes(i, 1000000 - i - 1, 1000000 - i);
}

static struct weft_event all_become_the_first(uint64_t i)
{
    return becomes(i, i + 1, i);
}

static struct weft_event same_slots(uint64_t i)
{
    return creates(i, i << 40, i << 20, TASK);
}

static struct weft_event marked_chain(uint64_t i)
{
    return i % 2 ? becomes(i, i / 2, i / 2 + 1) : label(i, i / 2, "__should_resolve");
}

/* Each of these took long where lookups were not amortized; the test's time limit says so. */
TEST(a_million_promises)
{
    struct weft_model *m = build_many(1000000, chain_of_becomes);
    assert_int_equal(weft_model_final(m, weft_model_find(m, 0)), weft_model_find(m, 999999));
    weft_model_free(m);
    m = build_many(1000000, chain_of_becomes_backwards);
    assert_int_equal(weft_model_final(m, weft_model_find(m, 1)), weft_model_find(m, 1000000));
    weft_model_free(m);
    m = build_many(1000000, all_become_the_first);
    assert_int_equal(weft_model_final(m, weft_model_find(m, 1000000)), weft_model_find(m, 0));
    weft_model_free(m);
    m = build_many(1000000, marked_chain);
    assert_int_equal(m->promise[weft_model_find(m, 1)].should_resolve, true);
    assert_int_equal(weft_model_final(m, weft_model_find(m, 1)), weft_model_find(m, 500000));
    weft_model_free(m);
    m = build_many(1000000, same_slots);
    assert_int_equal(m->promises, 1 + 1999999);
    weft_model_free(m);
}

static bool progress_rises(void *data, double share)
{
    double *last = data;
    assert_true(share >= *last && share <= 1);
    *last = share;
    return true;
}

TEST(progress_is_told)
{
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    struct weft_model *m;
    double last = 0;
    trace_begin(&t, 0);
    for (uint64_t i = 0; i < 5000; i++)
        trace_add(&t, switches(i, i));
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    assert_int_equal(weft_model_build(&m, r, progress_rises, &last, NULL), 0);
    assert_true(last == 1);
    assert_int_equal(m->events[WEFT_EVENT_SWITCH], 5000);
    assert_int_equal(m->events_total, 5000);
    weft_reader_close(r);
    weft_model_free(m);
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
