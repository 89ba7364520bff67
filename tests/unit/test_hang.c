/* SPDX-License-Identifier: ISC */
/* What hangs: the promises that wait when a trace ends, and what is said of them. */
#include <limits.h>

#include "findings.h"
#include "packets.h"

#define MS UINT64_C(1000000)
#define HANGS WEFT_FINDINGS_AT_ONCE

static uint32_t looked_for = HANGS;

/* ---- Making and describing ---- */

/* Where promises are created: by type and label. */
enum site { TASK_, LOCK_, REPLY_, CONDITION_, JOB_, TIMER_, ACCEPT_, THREAD_, SITES };

static uint32_t site[SITES];

static struct trace trace = {.fd = -1};
static uint64_t now;

static void begin_as(unsigned state, bool wrapped)
{
    static const char *const types[SITES] = {"task", "lock",  "reply",  "condition",
                                             "job",  "timer", "accept", "thread"};
    trace_fini(&trace);
    now = 0;
    sites_packets(&trace, state, types, site, SITES);
    events_begin(&trace, (struct weft_events_header){.stream = 0, .sequence = wrapped ? 5 : 1});
}

static void begin(void)
{
    begin_as(WEFT_TRACE_STOPPED, false);
}

static void add(struct weft_event ev)
{
    ev.time_ns = now += 1000;
    events_put(&trace, ev, 0);
}

static void create(uint64_t creator, uint64_t p, enum site where, const char *text)
{
    struct weft_event ev = creates(0, creator, p, 0);
    ev.time_ns = now += 1000;
    events_put(&trace, with_text(ev, text), site[where]);
}

static void should(uint64_t p)
{
    add(should_resolve(0, p));
}

/* The loop has nothing to do for so long. */
static void sleep_ms(uint64_t ms)
{
    add(suspends(0));
    now += ms * MS;
    add(resumes(0));
}

/* The recording is off for 100 ms. */
static void pause_now(void)
{
    facts_pause(&trace, now + 500, now + 100 * MS);
    now += 100 * MS;
}

static struct weft_model *model_of(void)
{
    events_end(&trace, now);
    return trace_model(&trace);
}

static int each_rule_is_needed(void **state)
{
    (void)state;
    return rules_noticed(HANGS);
}

/* Name, confidence, culprit, how often, who is affected: a line for each finding; returns the first one's text. */
static void expect_of(const char *scene, struct weft_model *m, const char *wanted,
                      const char *const *words)
{
    struct weft_findings f;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(findings_find(&f, m), 0);
    for (uint32_t i = 0; i < f.count; i++) {
        const struct weft_finding *x = &f.finding[i];
        fprintf(out, "%s %s %u x%u:", weft_finding_name(x->kind),
                weft_confidence_name(x->confidence), (unsigned)m->promise[x->promise].id,
                (unsigned)x->count);
        for (uint32_t k = 0; k < x->affecteds; k++)
            fprintf(out, " %u", (unsigned)m->promise[x->affected[k]].id);
        fputs("\n", out);
        assert_int_equal(x->affected_total, x->affecteds);
        assert_true((x->doubt != NULL) == (x->confidence < WEFT_CERTAIN));
        findings_check(x);
    }
    fclose(out);
    bool right = strcmp(text, wanted) == 0;
    for (; right && words && *words; words++)
        right = strstr(f.finding[0].text, *words) != NULL;
    if (!right)
        print_error("expected:\n%sfound:\n%s%s %s\n", wanted, text,
                    f.count ? f.finding[0].text : "",
                    f.count && f.finding[0].doubt ? f.finding[0].doubt : "");
    assert_true(right);
    free(text);
    weft_findings_fini(&f);
    rules_change(HANGS, scene, findings_text, m);
    weft_model_free(m);
}

static void expect(const char *scene, const char *wanted, const char *const *words)
{
    expect_of(scene, model_of(), wanted, words);
}

#define EXPECT(wanted, ...) expect(__func__, wanted, (const char *const[]){__VA_ARGS__, NULL})
#define NOTHING() expect(__func__, "", NULL)

/* ---- Roots ---- */

/* main cancels what a worker waits for, and waits for the worker to end, which takes the next job instead. But what it waits for to
 * clean up is what hangs. */
TEST(cancelled_and_goes_on)
{
    for (int cleans_up = 0; cleans_up < 2; cleans_up++) {
        begin();
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(1, 2, TASK_, "worker");
        create(2, 3, JOB_, "job 1");
        add(try_read(0, 2, 3));
        add(cancels(0, 1, 3));
        add(try_read(0, 1, 2));
        add(reads(0, 2, 3));
        create(2, 4, cleans_up ? REPLY_ : JOB_, cleans_up ? "closed" : "job 2");
        add(try_read(0, 2, 4));
        sleep_ms(200);
        if (cleans_up)
            EXPECT("hang-root certain 4 x1: 2 1\n", "'closed'");
        else
            EXPECT("hang-root certain 2 x1: 1\n", "'worker' (task 2), created by 'main'",
                   "'main' (task 1) cancelled it while it waited for 'job 1' (job 3)",
                   "it goes on as before", "'job 2' (job 4)");
    }
}

static void chain(void)
{
    create(LOOP, 1, TASK_, "main");
    create(1, 2, TASK_, "query");
    create(2, 3, REPLY_, "answer");
    add(try_read(0, 1, 2));
    add(try_read(0, 2, 3));
}

TEST(a_root_and_what_hangs_behind_it)
{
    begin();
    chain();
    should(1);
    sleep_ms(200);
    EXPECT("hang-root certain 3 x1: 2 1\n", "'answer' (reply 3), created by 'query' for 'main'",
           "'query' (task 2) has waited for it since 4", "for 200 ms");
}

TEST(without_a_mark_it_is_only_possible)
{
    begin();
    chain();
    sleep_ms(200);
    EXPECT("hang-root possible 3 x1: 2 1\n", "'answer'");
    begin();
    chain();
    sleep_ms(50); /* too young */
    NOTHING();
    begin();
    chain();
    add(background(0, 3));
    sleep_ms(200);
    NOTHING();
}

/* ---- What is marked, how it ended, and when ---- */

static void lonely(void)
{
    create(LOOP, 1, TASK_, "main");
    create(1, 3, REPLY_, "answer");
    add(switches(0, 1));
    add(switches(0, LOOP));
    add(fulfills(0, 1, 1));
}

static void circle(void)
{
    create(LOOP, 1, TASK_, "main");
    create(LOOP, 3, TASK_, "other");
    add(try_read(0, 1, 3));
    add(try_read(0, 3, 1));
}

static void unheard(void)
{
    create(LOOP, 1, TASK_, "main");
    create(LOOP, 3, CONDITION_, "filled");
    sleep_ms(20);
    add(notifies(0, LOOP, 3));
    sleep_ms(20);
    add(switches(0, 1));
    add(try_read(0, 1, 3));
}

/* The kind of what is found first, and how sure that is. */
static void put_first(const struct weft_findings *f, char *out)
{
    const char *name = f->count ? weft_finding_name(f->finding[0].kind) : "-";
    snprintf(out, 3, "%c%c", name[0],
             f->count ? *weft_confidence_name(f->finding[0].confidence) : '-');
}

TEST(by_marks_and_ends)
{
    static const unsigned ends[] = {WEFT_TRACE_STOPPED, WEFT_TRACE_SAVED, WEFT_TRACE_KILLED};
    static const struct {
        void (*make)(void);
        /* By what is marked, promise 1 or 3; by what is meant to be pending; each by how the trace ended: after 50, after
         * 200 ms. */
        const char *found[3][3];
    } scenes[] = {
        {chain,
         {{"-- hp -- hp -- hp", "-- hp -- hp -- hp", "-- -- -- -- -- --"},
          {"hc hc hp hl hp hl", "-- hp -- hp -- hp", "hl hl hp hp hp hp"},
          {"hc hc hp hl hp hl", "hc hc hp hl hp hl", "-- -- -- -- -- --"}}},
        {lonely,
         {{"-- -- -- -- -- --", "-- -- -- -- -- --", "-- -- -- -- -- --"},
          {"-- -- -- -- -- --", "-- -- -- -- -- --", "-- -- -- -- -- --"},
          {"nc nc np np np nl", "nc nc np np np nl", "-- -- -- -- -- --"}}},
        {circle,
         {{"dl dl dp dl dp dl", "dl dl dp dl dp dl", "dl dl dp dl dp dl"},
          {"dc dc dp dl dp dl", "dl dl dp dl dp dl", "dc dc dp dl dp dl"},
          {"dc dc dp dl dp dl", "dl dl dp dl dp dl", "dl dl dp dl dp dl"}}},
        {unheard,
         {{"-- ll -- ll -- ll", "-- ll -- ll -- ll", "-- -- -- -- -- --"},
          {"lc lc lp ll lp ll", "-- ll -- ll -- ll", "ll ll lp ll lp ll"},
          {"lc lc lp ll lp ll", "lc lc lp ll lp ll", "-- -- -- -- -- --"}}},
    };
    for (unsigned i = 0; i < COUNT(scenes) * 9; i++) {
        char found[64] = "", *to = found;
        const uint64_t promises[] = {0, 1, 3};
        const uint64_t marked = promises[i / 3 % 3], meant = promises[i % 3];
        for (unsigned k = 0; k < 2 * COUNT(ends); k++) {
            begin_as(ends[k / 2], false);
            scenes[i / 9].make();
            if (marked)
                should(marked);
            if (meant)
                add(background(0, meant));
            sleep_ms(k % 2 ? 200 : 50);
            struct weft_model *m = model_of();
            struct weft_findings f;
            assert_int_equal(findings_find(&f, m), 0);
            if (k)
                *to++ = ' ';
            put_first(&f, to);
            to += 2;
            rules_change(HANGS, __func__, findings_text, m);
            weft_findings_fini(&f);
            weft_model_free(m);
        }
        const char *wanted = scenes[i / 9].found[i / 3 % 3][i % 3];
        if (strcmp(found, wanted) != 0)
            print_error("scene %u, marked %u, meant %u: \"%s\"\n", i / 9, (unsigned)marked,
                        (unsigned)meant, found);
        assert_string_equal(found, wanted);
    }
}

/* Two wait for it: one is marked, and nothing that is meant to be pending stands between; or a marked one only behind that. */
TEST(one_of_two_is_marked)
{
    for (int i = 0; i < 4; i++) {
        const bool behind = i % 2, killed = i / 2;
        begin_as(killed ? WEFT_TRACE_KILLED : WEFT_TRACE_STOPPED, false);
        create(LOOP, 1, TASK_, "main");
        create(LOOP, 2, TASK_, "cleaner");
        create(LOOP, 3, TASK_, "report");
        create(LOOP, 4, REPLY_, "answer");
        add(try_read(0, 1, 4));
        add(try_read(0, 2, 4));
        add(try_read(0, 3, 2));
        add(background(0, 2));
        should(3);
        if (!behind)
            should(1);
        sleep_ms(200);
        EXPECT(behind && killed   ? "hang-root possible 4 x1: 1 2 3\n"
               : behind || killed ? "hang-root likely 4 x1: 1 2 3\n"
                                  : "hang-root certain 4 x1: 1 2 3\n",
               "'answer'");
    }
}

TEST(what_is_meant_to_wait_does)
{
    for (int marked = 0; marked < 3; marked++) {
        begin();
        create(LOOP, 1, TASK_, "accept");
        create(1, 2, REPLY_, "connection");
        create(LOOP, 3, TASK_, "main");
        add(background(0, 1));
        add(try_read(0, 1, 2));
        if (marked == 1)
            should(2);
        if (marked == 2) {
            should(3);
            add(try_read(0, 3, 1));
        }
        sleep_ms(200);
        EXPECT(marked == 1   ? "hang-root certain 2 x1: 1\n"
               : marked == 2 ? "hang-root likely 2 x1: 1 3\n"
                             : "",
               NULL);
    }
}

/* Questions that are answered in a millisecond, but for one; of which nothing is marked. */
static void questions(unsigned end, uint64_t answered, bool again)
{
    begin_as(end, false);
    for (uint64_t i = 1; i <= answered; i++) {
        create(LOOP, 2 * i, TASK_, "question");
        create(2 * i, 2 * i + 1, REPLY_, "answer");
        add(try_read(0, 2 * i, 2 * i + 1));
        sleep_ms(1);
        add(fulfills(0, LOOP, 2 * i + 1));
        add(reads(0, 2 * i, 2 * i + 1));
        add(fulfills(0, 2 * i, 2 * i));
    }
    create(LOOP, 100, TASK_, "question");
    if (again) {
        create(100, 101, REPLY_, "answer");
        add(try_read(0, 100, 101));
        sleep_ms(1);
        add(fulfills(0, LOOP, 101));
        add(reads(0, 100, 101));
    }
    create(100, 102, REPLY_, "answer");
    add(try_read(0, 100, 102));
}

TEST(others_have_long_been_answered)
{
    questions(WEFT_TRACE_STOPPED, 8, false);
    sleep_ms(200);
    EXPECT("hang-root likely 102 x1: 100\n", "'answer'",
           "Of those like 'answer' 8 have ended, each within 1 ms.");
    questions(WEFT_TRACE_KILLED, 8, false);
    sleep_ms(200);
    EXPECT("hang-root likely 102 x1: 100\n", "'answer'");
    questions(WEFT_TRACE_STOPPED, 7, false); /* too few */
    sleep_ms(200);
    EXPECT("hang-root possible 102 x1: 100\n", "'answer'");
    questions(WEFT_TRACE_STOPPED, 8, true); /* it asks again and again */
    sleep_ms(300);
    EXPECT("hang-root likely 102 x1: 100\n", "'answer'");
    questions(WEFT_TRACE_STOPPED, 8, false); /* too soon */
    sleep_ms(99);
    NOTHING();
    questions(WEFT_TRACE_STOPPED, 8, false); /* the loop was not free */
    add(switches(0, 3));
    now += 300 * MS;
    add(switches(0, LOOP));
    EXPECT("hang-root possible 102 x1: 100\n", "'answer'");
}

/* Those that have no label may be anything: that most of them end says nothing of the others. */
TEST(others_without_a_label_are_no_others)
{
    for (int named = 0; named < 2; named++) {
        begin();
        for (uint64_t p = 1; p <= 9; p++) {
            if (named)
                create(LOOP, p, TASK_, "job");
            else
                events_put(&trace, creates(now += 1000, LOOP, p, 0), site[TASK_]);
            if (p == 9)
                continue;
            sleep_ms(1);
            add(fulfills(0, p, p));
        }
        create(9, 100, REPLY_, "answer");
        add(try_read(0, 9, 100));
        sleep_ms(200);
        EXPECT(named ? "hang-root likely 100 x1: 9\n" : "hang-root possible 100 x1: 9\n",
               "'answer'");
    }
}

/* A server waits for the next connection, however quickly the others came, and who looks again at each change for the next one. */
TEST(the_next_one_may_come_at_any_time)
{
    for (int way = 0; way < 4; way++) {
        const bool again = way & 1;
        const enum site what = way & 2 ? CONDITION_ : ACCEPT_;
        begin();
        create(LOOP, 1, TASK_, "server");
        for (uint64_t p = 2; p <= 12; p++) {
            const uint64_t creator = again ? 1 : 100 + p;
            if (!again)
                create(LOOP, creator, TASK_, "server");
            create(creator, p, what, "next");
            add(try_read(0, creator, p));
            if (p == 12)
                break;
            sleep_ms(1);
            add(fulfills(0, LOOP, p));
            add(reads(0, creator, p));
            if (!again)
                add(fulfills(0, creator, creator));
        }
        sleep_ms(200);
        EXPECT(again ? "hang-root possible 12 x1: 1\n" : "hang-root likely 12 x1: 112\n", "'next'");
    }
}

/* From one on nobody is answered, as after an error that keeps a lock; unless one of them is after all. */
TEST(none_is_answered_any_more)
{
    static const char *const expected[] = {
        "hang-root likely 102 x8: 100 104 106 108 110 112 114 116\n",
        "hang-root possible 102 x7: 100 104 106 108 110 112 114\n",
        "hang-root possible 102 x7: 100 106 108 110 112 114 116\n"};
    for (int way = 0; way < 3; way++) { /* 1: too few */
        const uint64_t asked = way == 1 ? 7 : 8;
        questions(WEFT_TRACE_STOPPED, 8, false);
        for (uint64_t p = 104; p < 102 + 2 * asked; p += 2) {
            create(LOOP, p, TASK_, "question");
            create(p, p + 1, REPLY_, "answer");
            add(try_read(0, p, p + 1));
        }
        if (way == 2) {
            add(fulfills(0, LOOP, 105));
            add(fulfills(0, LOOP, 104));
        }
        sleep_ms(200);
        EXPECT(expected[way], "'answer'");
    }
}

/* Where a timer that is made with each of them ends it, one may be set to a long time. */
TEST(others_have_slept_for_less)
{
    for (uint64_t asleep = 4; asleep <= 5; asleep++) {
        begin();
        for (uint64_t i = 1; i <= 9; i++) {
            const uint64_t timer = 200 + i;
            create(LOOP, 2 * i, TASK_, "question");
            create(2 * i, 2 * i + 1, REPLY_, "answer");
            create(2 * i, timer, TIMER_, "pause");
            add(try_read(0, 2 * i, 2 * i + 1));
            if (i == 9)
                break;
            sleep_ms(1);
            add(fulfills(0, i <= asleep ? timer : LOOP, 2 * i + 1));
            add(fulfills(0, LOOP, timer));
            add(reads(0, 2 * i, 2 * i + 1));
            add(fulfills(0, 2 * i, 2 * i));
        }
        sleep_ms(200);
        EXPECT(asleep > 4 ? "hang-root possible 19 x1: 18\n" : "hang-root likely 19 x1: 18\n",
               "'answer'");
    }
}

/* Uploads that end in a millisecond, but for one, for which nobody waits. */
TEST(others_have_long_ended)
{
    for (int worked = 0; worked < 2; worked++) {
        begin();
        for (uint64_t i = 1; i <= 9; i++) {
            create(LOOP, i, JOB_, "upload");
            if (worked) {
                add(switches(0, i));
                add(switches(0, LOOP));
            }
            sleep_ms(1);
            if (i < 9)
                add(fulfills(0, LOOP, i));
        }
        sleep_ms(200);
        if (worked)
            EXPECT("never-resolved likely 9 x1:\n", "'upload'");
        else
            EXPECT("never-resolved possible 9 x1:\n", "'upload'");
    }
}

/* The program ended by itself, and this had run and was not done. */
TEST(what_was_at_work_when_the_program_ended)
{
    for (int killed = 0; killed < 2; killed++) {
        begin_as(killed ? WEFT_TRACE_KILLED : WEFT_TRACE_STOPPED, false);
        create(LOOP, 1, TASK_, "upload");
        add(switches(0, 1));
        add(switches(0, LOOP));
        sleep_ms(200);
        if (killed)
            NOTHING();
        else
            EXPECT("never-resolved possible 1 x1:\n", "'upload'");
    }
}

/* Reports that take 60 ms; the last one has been waited for for longer, and the program still ran. */
TEST(others_have_taken_nearly_as_long)
{
    static const char *const sure[2][2] = {{"likely", "possible"}, {"certain", "certain"}};
    for (int stopped = 0; stopped < 2; stopped++)
        for (int near = 0; near < 2; near++) {
            begin_as(stopped ? WEFT_TRACE_STOPPED : WEFT_TRACE_KILLED, false);
            create(LOOP, 1, TASK_, "main");
            should(1);
            for (uint64_t i = 2; i < 5; i++) {
                create(1, i, REPLY_, "report");
                add(try_read(0, 1, i));
                sleep_ms(i < 4 ? 60 : near ? 150 : 300);
                if (i < 4) {
                    add(fulfills(0, LOOP, i));
                    add(reads(0, 1, i));
                }
            }
            char wanted[64];
            snprintf(wanted, sizeof wanted, "hang-root %s 4 x1: 1\n", sure[stopped][near]);
            EXPECT(wanted, "'report'");
        }
}

/* What it has started still moves when the program is killed. */
TEST(its_children_still_move)
{
    for (int moves = 0; moves < 2; moves++) {
        begin_as(WEFT_TRACE_KILLED, false);
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(1, 2, TASK_, "server");
        sleep_ms(200);
        if (moves)
            add(switches(0, 2));
        add(switches(0, LOOP));
        sleep_ms(20);
        EXPECT(moves ? "never-resolved possible 1 x1:\n" : "never-resolved likely 1 x1:\n",
               "'main'");
    }
}

/* A copy of what is still recorded: nobody knows how long such a thing takes, or it is known. */
TEST(none_like_it_has_ended_yet)
{
    for (int known = 0; known < 2; known++) {
        begin_as(WEFT_TRACE_SAVED, false);
        for (uint64_t i = known ? 1 : 2; i < 3; i++) {
            create(LOOP, i, JOB_, "upload");
            should(i);
            sleep_ms(i < 2 ? 1 : 200);
            if (i < 2)
                add(fulfills(0, LOOP, i));
        }
        EXPECT(known ? "never-resolved likely 2 x1:\n" : "never-resolved possible 2 x1:\n",
               "'upload'");
    }
}

/* Nobody waits for it, and nothing like it has ended: that is nothing new in a trace that says neither. */
TEST(a_lonely_one_of_mirage)
{
    trace_begin(&trace, 0);
    trace_add(&trace, creates(100, LOOP, 1, TASK));
    trace_add(&trace, label(110, 1, "__should_resolve"));
    trace_add(&trace, switches(120, LOOP));
    trace_add(&trace, switches(200 * MS, LOOP));
    expect_of(__func__, trace_model(&trace), "never-resolved likely 1 x1:\n", NULL);
}

/* mirage's traces say nothing of the end: that it hung at once is likely all the same, and that others took as long. */
TEST(a_trace_of_mirage)
{
    for (int others = 0; others < 2; others++) {
        trace_begin(&trace, 0);
        trace_add(&trace, creates(100, LOOP, 1, TASK));
        trace_add(&trace, label(110, 1, "__should_resolve"));
        trace_add(&trace, creates(120, LOOP, 2, TASK));
        trace_add(&trace, creates(120, 1, 3, WAIT));
        trace_add(&trace, label(120, 3, "answer"));
        for (uint64_t i = 4; i < 8 && others; i++) {
            trace_add(&trace, creates(120, 2, i, WAIT));
            trace_add(&trace, label(120, i, "answer"));
            trace_add(&trace, fulfills(60 * MS, 2, i));
        }
        trace_add(&trace, try_read(60 * MS, 1, 3));
        trace_add(&trace, switches(60 * MS, 2));
        trace_add(&trace, counter(others ? 210 * MS : 61 * MS, 2, 1, "x"));
        expect_of(__func__, trace_model(&trace), "hang-root likely 3 x1: 1\n", NULL);
    }
}

TEST(others_have_overtaken_it)
{
    for (uint64_t others = 2; others < 4; others++) {
        begin();
        for (uint64_t i = 1; i < 2 + others; i++) {
            create(LOOP, i, JOB_, i == 1 ? "GET /missing" : "GET /");
            add(switches(0, i));
            add(switches(0, LOOP));
            if (i > 1)
                add(fulfills(0, LOOP, i));
            sleep_ms(10);
        }
        EXPECT(others == 3 ? "never-resolved possible 1 x1:\n" : "", NULL);
    }
}

/* A server whose main task waits for what nobody tells it, while others come and go. */
TEST(a_server_waits_on_purpose)
{
    for (int others = 0; others < 2; others++) {
        begin_as(WEFT_TRACE_STOPPED, false);
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(1, 2, REPLY_, "for ever");
        add(try_read(0, 1, 2));
        for (uint64_t i = 0; i < 10; i++) {
            if (others || i < 5) {
                create(LOOP, 10 + i, JOB_, "request");
                sleep_ms(20);
                add(fulfills(0, LOOP, 10 + i));
            } else
                sleep_ms(20);
        }
        if (others)
            EXPECT("hang-root possible 2 x1: 1\n", "'for ever'");
        else
            EXPECT("hang-root certain 2 x1: 1\n", "'for ever'");
    }
}

/* ---- The recording was off for a time ---- */

TEST(what_was_pending_then_may_have_ended)
{
    begin();
    chain();
    should(1);
    pause_now();
    sleep_ms(200);
    EXPECT("hang-root possible 3 x1: 2 1\n", "'answer'");
    begin(); /* it is off still */
    chain();
    should(1);
    sleep_ms(200);
    facts_pause(&trace, now, 0);
    EXPECT("hang-root possible 3 x1: 2 1\n", "'answer'");
    begin(); /* nobody waits */
    create(LOOP, 1, TASK_, "main");
    should(1);
    pause_now();
    sleep_ms(200);
    EXPECT("never-resolved possible 1 x1:\n", "'main'");
    begin(); /* a circle */
    create(LOOP, 1, TASK_, "one");
    create(LOOP, 2, TASK_, "two");
    add(try_read(0, 1, 2));
    add(try_read(0, 2, 1));
    should(1);
    pause_now();
    sleep_ms(200);
    EXPECT("deadlock possible 1 x1: 2\n", "'one'");
}

TEST(what_was_seen_pending_since_has_not)
{
    begin(); /* it is waited for anew */
    chain();
    should(1);
    pause_now();
    create(LOOP, 4, TASK_, "other");
    add(try_read(0, 4, 3));
    sleep_ms(200);
    EXPECT("hang-root certain 3 x1: 2 4 1\n", "'answer'");
    begin(); /* it ran anew */
    create(LOOP, 1, TASK_, "main");
    create(1, 2, TASK_, "query");
    add(try_read(0, 1, 2));
    should(1);
    pause_now();
    add(switches(0, 2));
    sleep_ms(200);
    EXPECT("hang-root certain 2 x1: 1\n", "'query'");
    begin(); /* it began afterwards */
    create(LOOP, 9, TASK_, "before");
    pause_now();
    chain();
    should(1);
    sleep_ms(200);
    EXPECT("hang-root certain 3 x1: 2 1\n", "'answer'");
    begin(); /* one of a circle is waited for anew */
    create(LOOP, 1, TASK_, "one");
    create(LOOP, 2, TASK_, "two");
    add(try_read(0, 1, 2));
    should(1);
    pause_now();
    add(try_read(0, 2, 1));
    sleep_ms(200);
    EXPECT("deadlock certain 1 x1: 2\n", "'one'");
}

/* What ran as it was switched off need not run on, nor as it is on again. */
TEST(what_ran_then_is_no_sign_of_life)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    add(switches(0, 1));
    pause_now();
    create(1, 2, JOB_, "of another one, in truth");
    sleep_ms(200);
    EXPECT("never-resolved possible 1 x1:\n", "'main'");
}

/* That it is notified does not show that who waited for it waits still. */
TEST(a_condition_needs_a_new_wait)
{
    for (int anew = 0; anew < 2; anew++) {
        begin();
        create(LOOP, 1, CONDITION_, "filled");
        create(LOOP, 2, TASK_, "consumer");
        should(2);
        if (!anew)
            add(try_read(0, 2, 1));
        pause_now();
        if (anew)
            add(try_read(0, 2, 1));
        else
            create(LOOP, 3, TASK_, "another");
        if (!anew)
            add(try_read(0, 3, 1));
        sleep_ms(200);
        EXPECT(anew ? "hang-root certain 1 x1: 2\n" : "hang-root possible 1 x1: 2 3\n", "'filled'");
    }
}

TEST(behind_what_is_meant_to_be_pending)
{
    begin();
    chain();
    should(1);
    add(background(0, 3));
    sleep_ms(200);
    EXPECT("hang-root likely 3 x1: 2 1\n", "'answer'");
    begin_as(WEFT_TRACE_RECORDING, false);
    chain();
    should(1);
    add(background(0, 2));
    sleep_ms(200);
    EXPECT("hang-root possible 3 x1: 2 1\n", "'answer'");
}

TEST(a_killed_program_may_have_gone_on)
{
    begin_as(WEFT_TRACE_RECORDING, false);
    chain();
    should(1);
    sleep_ms(200);
    EXPECT("hang-root likely 3 x1: 2 1\n", "'answer'");
    begin_as(WEFT_TRACE_RECORDING, false);
    chain();
    should(1);
    sleep_ms(60);
    EXPECT("hang-root possible 3 x1: 2 1\n", "'answer'");
}

/* How long it slept is not known: the trace ends with the last event. */
TEST(what_sleeps_in_a_trace_without_an_end)
{
    for (int marked = 0; marked < 2; marked++)
        for (int runs = 0; runs < 2; runs++) { /* up to the last event, and no longer */
            begin_as(WEFT_TRACE_RECORDING, false);
            chain();
            if (marked)
                should(1);
            if (runs)
                add(switches(0, 2));
            add(suspends(0));
            EXPECT(marked ? "hang-root likely 3 x1: 2 1\n" : "hang-root possible 3 x1: 2 1\n",
                   "'answer'");
        }
    begin_as(WEFT_TRACE_RECORDING, false);
    chain();
    should(1);
    add(suspends(0));
    add(resumes(0)); /* it was about to do something */
    EXPECT("hang-root possible 3 x1: 2 1\n", "'answer'");
    for (int holder = 2; holder <= 3; holder++) { /* 3: has ended */
        begin_as(WEFT_TRACE_RECORDING, false);
        create(LOOP, 1, TASK_, "a");
        create(LOOP, 2, TASK_, "b");
        create(LOOP, 3, TASK_, "c");
        create(LOOP, 4, LOCK_, "catalogue");
        add(acquires(0, (uint64_t)holder, 4));
        add(try_read(0, 1, 4));
        add(fulfills(0, 3, 3));
        add(suspends(0));
        EXPECT(holder == 2 ? "hang-root possible 4 x1: 1\n" : "hang-root likely 4 x1: 1\n",
               "'catalogue'");
    }
}

TEST(a_time_limit_will_free_it)
{
    for (int limit = 0; limit < 2; limit++) {
        begin_as(WEFT_TRACE_RECORDING, false);
        create(LOOP, 1, TASK_, "request");
        should(1);
        create(1, 2, REPLY_, "answer");
        create(1, 3, limit ? TIMER_ : REPLY_, "other");
        add(try_read(0, 1, 2));
        add(try_read(0, 1, 3));
        sleep_ms(200);
        struct weft_model *m = model_of();
        struct weft_findings f;
        assert_int_equal(findings_find(&f, m), 0);
        assert_true(f.count > 0);
        assert_int_equal(f.finding[0].confidence, limit ? WEFT_POSSIBLE : WEFT_LIKELY);
        rules_change(HANGS, __func__, findings_text, m);
        weft_findings_fini(&f);
        weft_model_free(m);
    }
}

TEST(who_waits_is_older)
{
    for (int wrapped = 0; wrapped < 2; wrapped++) {
        begin();
        if (wrapped)
            facts_overwritten(&trace, 4);
        create(1, 2, REPLY_, "answer");
        add(try_read(0, 1, 2));
        should(1);
        sleep_ms(200);
        EXPECT("hang-root likely 2 x1: 1\n", "'answer'");
    }
}

/* Both are older: their beginnings were overwritten, or were before the recording. */
TEST(a_ring_that_has_wrapped_lowers_confidence)
{
    for (int i = 0; i < 4; i++) {
        const bool wrapped = i % 2, killed = i / 2;
        begin_as(killed ? WEFT_TRACE_KILLED : WEFT_TRACE_STOPPED, wrapped);
        if (wrapped)
            facts_overwritten(&trace, 4);
        add(try_read(0, 1, 2));
        should(1);
        sleep_ms(200);
        EXPECT(killed ? "hang-root possible 2 x1: 1\n" : "hang-root likely 2 x1: 1\n",
               "preexisting 2");
    }
}

TEST(what_is_missing_in_between_lowers_confidence)
{
    begin();
    facts_discarded(&trace, 3);
    chain();
    should(1);
    sleep_ms(200);
    EXPECT("hang-root likely 3 x1: 2 1\n", "'answer'");
}

TEST(what_runs_does_not_hang)
{
    begin_as(WEFT_TRACE_RECORDING, false);
    chain();
    should(1);
    sleep_ms(1);
    add(switches(0, 3));
    now += 500 * MS;
    add(counter(0, 3, 1, "x"));
    NOTHING();
}

TEST(never_resolved)
{
    begin();
    create(LOOP, 1, TASK_, "upload");
    create(1, 2, REPLY_, "receipt");
    should(2);
    add(fails(0, 1, 1, "disk full"));
    sleep_ms(20);
    EXPECT("never-resolved certain 2 x1:\n", "'receipt' (reply 2)", "'upload' (task 1)",
           "failed at", "'disk full'");
    begin();
    create(LOOP, 1, TASK_, "upload");
    should(1);
    add(forgets(0, 1));
    EXPECT("never-resolved certain 1 x1:\n", "was dropped");
    begin();
    create(LOOP, 1, TASK_, "accept");
    should(1);
    add(background(0, 1));
    sleep_ms(200);
    NOTHING();
}

TEST(losers_of_a_race_do_not_hang)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    for (uint64_t i = 0; i < 5; i++) {
        create(1, 10 * i + 10, REPLY_, "answer");
        create(1, 10 * i + 11, REPLY_, "time limit");
        add(try_read(0, 1, 10 * i + 10));
        add(try_read(0, 1, 10 * i + 11));
        sleep_ms(50);
        add(fulfills(0, LOOP, 10 * i + 10));
        add(reads(0, 1, 10 * i + 10));
        if (i % 2)
            add(cancels(0, 1, 10 * i + 11));
    }
    add(fulfills(0, 1, 1));
    sleep_ms(200);
    NOTHING();
}

TEST(many_of_one_family_are_one_finding)
{
    begin();
    for (uint64_t i = 0; i < 3; i++) {
        create(LOOP, 10 * i + 10, TASK_, "request");
        should(10 * i + 10);
        create(10 * i + 10, 10 * i + 11, REPLY_, "rows");
        add(try_read(0, 10 * i + 10, 10 * i + 11));
    }
    sleep_ms(200);
    EXPECT("hang-root certain 11 x3: 10 20 30\n", "2 more like it");
}

/* Requests that are answered; the last one is cut off by the end. */
static void requests(uint64_t last_ms)
{
    begin();
    for (uint64_t i = 1; i <= 20; i++) {
        create(LOOP, 2 * i, TASK_, "request");
        should(2 * i);
        create(2 * i, 2 * i + 1, REPLY_, "rows");
        add(try_read(0, 2 * i, 2 * i + 1));
        if (i < 20 || last_ms)
            sleep_ms(i < 20 ? 10 : last_ms);
        if (i == 20)
            return;
        add(fulfills(0, LOOP, 2 * i + 1));
        add(reads(0, 2 * i, 2 * i + 1));
        add(fulfills(0, 2 * i, 2 * i));
    }
}

TEST(what_is_in_flight_at_the_end_does_not_hang)
{
    requests(3);
    EXPECT("hang-root possible 41 x1: 40\n", "'rows'");
    /* Either nothing was left to do, or it was cut off. */
    requests(0);
    EXPECT("hang-root likely 41 x1: 40\n", "'rows'");
    requests(100);
    EXPECT("hang-root certain 41 x1: 40\n", "'rows'");
}

/* Others like it have gone off; so will this one, if it is not long overdue. */
TEST(a_timer_that_has_yet_to_go_off)
{
    for (uint64_t others = 7; others < 9; others++)
        for (int overdue = 0; overdue < 2; overdue++) {
            begin_as(WEFT_TRACE_RECORDING, false);
            create(LOOP, 1, TASK_, "main");
            should(1);
            for (uint64_t i = 2; i <= 2 + others; i++) {
                create(1, i, TIMER_, "pause");
                add(try_read(0, 1, i));
                sleep_ms(i < 2 + others ? 100 : overdue ? 2200 : 150);
                if (i < 2 + others) {
                    add(fulfills(0, LOOP, i));
                    add(reads(0, 1, i));
                    add(switches(0, LOOP));
                }
            }
            if (others == 8 && !overdue)
                NOTHING();
            else
                EXPECT(others == 7 ? "hang-root possible 9 x1: 1\n"
                                   : "hang-root possible 10 x1: 1\n",
                       "'pause'");
        }
    for (int on = 0; on < 2; on++) { /* the only one; do others go on meanwhile? */
        begin_as(WEFT_TRACE_RECORDING, false);
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(1, 2, TIMER_, "pause");
        add(try_read(0, 1, 2));
        for (uint64_t i = 3; i < 15; i++) {
            create(LOOP, i, REPLY_, "answer");
            add(fulfills(0, LOOP, i));
            sleep_ms(on ? 50 : 1);
        }
        sleep_ms(200);
        if (on)
            NOTHING();
        else
            EXPECT("hang-root possible 2 x1: 1\n", "'pause'");
    }
}

/* A timer may take ten times as long as the longest of the others and 100 ms, and hardly more. */
TEST(a_timer_that_is_just_not_overdue)
{
    for (uint64_t late = 9; late <= 10; late++) {
        uint64_t made, longest = 0;
        begin_as(WEFT_TRACE_RECORDING, false);
        create(LOOP, 1, TASK_, "main");
        should(1);
        for (uint64_t i = 2; i < 10; i++) {
            create(1, i, TIMER_, "pause");
            made = now;
            add(try_read(0, 1, i));
            sleep_ms(100);
            add(fulfills(0, LOOP, i));
            longest = now - made;
            add(reads(0, 1, i));
            add(switches(0, LOOP));
        }
        create(1, 10, TIMER_, "pause");
        made = now;
        add(try_read(0, 1, 10));
        add(suspends(0));
        now = made + 10 * (longest + 100 * MS) + late - 1000;
        add(resumes(0));
        if (late == 9)
            NOTHING();
        else
            EXPECT("hang-root possible 10 x1: 1\n", "'pause'");
    }
}

/* main waits for a ticker as well, which has only been cut off. */
TEST(what_goes_on_as_always_is_not_the_cause)
{
    begin();
    chain();
    should(1);
    create(1, 4, TASK_, "ticker");
    add(try_read(0, 1, 4));
    for (uint64_t i = 10; i < 14; i++) {
        create(4, i, JOB_, "tick");
        add(try_read(0, 4, i));
        sleep_ms(i < 13 ? 50 : 20);
        if (i < 13) {
            add(fulfills(0, LOOP, i));
            add(reads(0, 4, i));
        }
    }
    EXPECT("hang-root certain 3 x1: 2 1\nhang-root possible 13 x1: 4\n", "'answer'");
}

/* ---- Circles ---- */

TEST(a_circle_of_waits)
{
    begin();
    chain();
    should(1);
    add(try_read(0, 3, 2));
    sleep_ms(200);
    EXPECT("deadlock certain 2 x1: 3 1\n", "2 promises wait for each other",
           "'query' (task 2) has waited for 'answer' (reply 3)", "'answer' (reply 3) for 'query'");
    begin();
    chain();
    add(try_read(0, 3, 2));
    EXPECT("deadlock likely 2 x1: 3 1\n", "2 promises");
    begin();
    chain();
    should(1);
    add(try_read(0, 3, 3));
    EXPECT("deadlock certain 3 x1: 2 1\n", "waited for itself");
}

/* Two pairs that wait for each other, and for one of the other pair as well: one circle, but who follows the latest waits
 * from one pair does not come to the other. */
TEST(circles_that_touch)
{
    for (uint64_t marked = 2; marked <= 5; marked++) {
        static const uint64_t waits[][2] = {{2, 3}, {3, 4}, {3, 2}, {4, 5}, {5, 2}, {5, 4}};
        begin();
        for (uint64_t p = 2; p <= 5; p++)
            create(LOOP, p, TASK_, "pair");
        should(marked);
        for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++)
            add(try_read(0, waits[i][0], waits[i][1]));
        EXPECT("deadlock certain 2 x1: 3 4 5\n", "2 promises wait for each other");
    }
}

TEST(a_circle_that_somebody_outside_can_break)
{
    begin();
    chain();
    should(1);
    create(LOOP, 4, REPLY_, "time limit");
    add(background(0, 4));
    add(try_read(0, 3, 2));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("deadlock likely 2 x1: 3 1\n", "2 promises");
    begin();
    chain();
    should(1);
    create(LOOP, 4, REPLY_, "other");
    add(try_read(0, 3, 2));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("hang-root certain 4 x1: 3 2 1\n", "'other'");
}

TEST(becoming_is_no_circle)
{
    begin();
    create(LOOP, 1, TASK_, "outer");
    create(LOOP, 2, TASK_, "inner");
    should(2);
    add(try_read(0, 1, 2));
    add(becomes(0, 1, 2));
    sleep_ms(200);
    EXPECT("never-resolved certain 2 x1:\n", "'inner'");
    begin();
    create(LOOP, 1, TASK_, "outer");
    create(LOOP, 2, TASK_, "inner");
    should(1);
    add(try_read(0, 1, 2));
    add(becomes(0, 2, 1));
    sleep_ms(200);
    EXPECT("never-resolved certain 1 x1:\n", "'outer'");
}

static void locks(void)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    create(1, 2, TASK_, "a");
    create(1, 3, TASK_, "b");
    add(try_read(0, 1, 2));
    add(try_read(0, 1, 3));
}

TEST(locks_that_their_holders_created)
{
    locks();
    create(2, 4, LOCK_, "account 1");
    create(3, 5, LOCK_, "account 2");
    add(try_read(0, 2, 5));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("deadlock likely 4 x1: 3 1 5 2\n",
           "'a' (task 2), which created 'account 1' (lock 4), has waited for 'account 2' (lock 5)");
}

TEST(locks_that_were_read)
{
    locks();
    create(1, 4, LOCK_, "first");
    create(1, 5, LOCK_, "second");
    add(reads(0, 2, 4));
    add(reads(0, 3, 5));
    sleep_ms(1);
    add(try_read(0, 2, 5));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("deadlock likely 4 x1: 3 1 5 2\n",
           "'a' (task 2), which is to pass on 'first' (lock 4), has waited for 'second' (lock 5)");
}

/* ---- What is held ---- */

/* main waits for 2 and 3, which use the lock 4. */
static void one_lock(void)
{
    locks();
    create(1, 4, LOCK_, "catalogue");
    add(background(0, 4));
}

TEST(who_failed_still_holds_what_is_not_marked)
{
    begin();
    create(LOOP, 2, TASK_, "a");
    create(LOOP, 3, TASK_, "b");
    create(LOOP, 4, LOCK_, "catalogue");
    add(acquires(0, 2, 4));
    add(try_read(0, 3, 4));
    add(fails(0, 2, 2, "bad record"));
    sleep_ms(200);
    EXPECT("hang-root likely 4 x1: 3\n", "still holds it");
}

TEST(who_failed_still_holds_it)
{
    one_lock();
    add(acquires(0, 2, 4));
    add(try_read(0, 3, 4));
    sleep_ms(1);
    add(fails(0, 2, 2, "bad record"));
    sleep_ms(200);
    EXPECT("hang-root certain 4 x1: 3 1\n",
           "'catalogue' (lock 4), created by 'main', was never given back; 'b' (task 3) has waited",
           "'a' (task 2), which failed at 1.012 ms ('bad record'), still holds it, since 8 µs.");
}

TEST(who_holds_it_waits_for_something_else)
{
    one_lock();
    create(2, 5, REPLY_, "answer");
    add(acquires(0, 2, 4));
    add(try_read(0, 3, 4));
    add(try_read(0, 2, 5));
    sleep_ms(200);
    EXPECT("hang-root certain 5 x1: 2 4 3 1\n", "'answer' (reply 5)",
           "So nobody gives back 'catalogue' (lock 4). 'a' (task 2) has held it since 9 µs, and "
           "waits for 'answer' (reply 5) itself.");
}

TEST(who_holds_it_runs)
{
    one_lock();
    add(acquires(0, 2, 4));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("hang-root certain 2 x1: 1 4 3\n",
           "So nobody gives back 'catalogue' (lock 4). 'a' (task 2) has held it since 8 µs.");
    begin_as(WEFT_TRACE_RECORDING, false);
    create(LOOP, 1, TASK_, "main");
    should(1);
    create(1, 2, TASK_, "a");
    create(1, 4, LOCK_, "catalogue");
    add(acquires(0, 2, 4));
    add(try_read(0, 1, 4));
    sleep_ms(200);
    add(switches(0, 2));
    now += 500 * MS;
    add(counter(0, 2, 1, "x"));
    NOTHING();
}

TEST(a_circle_over_what_is_held)
{
    one_lock();
    create(1, 5, LOCK_, "orders");
    add(background(0, 5));
    add(acquires(0, 2, 4));
    add(acquires(0, 3, 5));
    add(try_read(0, 2, 5));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT(
        "deadlock certain 4 x1: 3 1 5 2\n",
        "Each of these waits for what another one of them holds: 'a' (task 2), which holds "
        "'catalogue' (lock 4), has waited for 'orders' (lock 5) since 12 µs; 'b' (task 3), which "
        "holds 'orders' (lock 5), has waited for 'catalogue' (lock 4) since 13 µs.");
}

/* That others come and queue up does not show that it goes on. */
TEST(others_queue_behind_a_circle)
{
    begin_as(WEFT_TRACE_RECORDING, false);
    create(0, 2, TASK_, "a");
    create(0, 3, TASK_, "b");
    create(0, 4, LOCK_, "catalogue");
    create(0, 5, LOCK_, "orders");
    add(acquires(0, 2, 4));
    add(acquires(0, 3, 5));
    add(try_read(0, 2, 5));
    add(try_read(0, 3, 4));
    for (uint64_t p = 6; p < 10; p++) {
        sleep_ms(60);
        create(0, p, TASK_, "c");
        add(try_read(0, p, 4));
    }
    EXPECT("deadlock likely 4 x1: 3 6 7 8 9 5 2\n", "'orders'");
}

TEST(who_holds_it_waits_for_it)
{
    one_lock();
    add(acquires(0, 2, 4));
    add(try_read(0, 2, 4));
    sleep_ms(200);
    EXPECT("deadlock certain 4 x1: 2\nhang-root certain 3 x1: 1\n",
           "can never be given back: 'a' (task 2), which has held it since 8 µs, has waited for it "
           "itself since 9 µs.");
    one_lock();
    add(acquires(0, 2, 4));
    add(try_read(0, 2, 3));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("deadlock certain 4 x1: 3 1 2\n", "waits for it by way of 'b' (task 3)");
}

/* A pool of two: only if both are lost to the circle it is one. */
TEST(a_pool_is_stuck_when_all_who_hold_it_are)
{
    for (int free = 0; free < 2; free++) {
        one_lock();
        create(1, 5, TASK_, "c");
        create(1, 6, TASK_, "d");
        add(acquires(0, 2, 4));
        add(acquires(0, 3, 4));
        add(try_read(0, 2, 4));
        add(try_read(0, 5, 4));
        if (!free)
            add(try_read(0, 3, 4));
        sleep_ms(200);
        if (free)
            EXPECT("hang-root certain 4 x1: 2 5\nhang-root certain 3 x1: 1\n",
                   "It is held 2 times: by 'a' (task 2) since 10 µs, which waits for one more; by "
                   "'b' (task 3) since 11 µs.");
        else
            EXPECT(
                "deadlock certain 4 x1: 2 3 5 1\n",
                "can never be given back. It is held 2 times: by 'a' (task 2) since 10 µs, which "
                "waits for one more; by 'b' (task 3) since 11 µs, which waits for one more.");
    }
}

TEST(an_empty_pool_names_who_has_it)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    create(LOOP, 2, LOCK_, "pool");
    for (uint64_t i = 10; i < 20; i++) {
        create(LOOP, i, JOB_, "job");
        add(acquires(0, i, 2));
        if (i < 12)
            add(cancels(0, LOOP, i));
    }
    add(try_read(0, 1, 2));
    sleep_ms(200);
    EXPECT("hang-root certain 2 x1: 1\n", "'pool' (lock 2) was never given back; ",
           "It is held 10 times, 2 of them by some that have ended: by 'job' (job 10), which was "
           "cancelled at 5 µs, since 4 µs; by 'job' (job 11), which was cancelled at 8 µs, since "
           "7 µs; by 'job' (job 12) since 10 µs; and 7 more.");
}

/* A signal when nobody waited is none that was lost, if it is held since. */
TEST(who_holds_it_has_taken_the_signal)
{
    one_lock();
    add(acquires(0, 3, 4));
    add(releases(0, 3, 4));
    add(notifies(0, 3, 4));
    add(acquires(0, 2, 4));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("hang-root certain 2 x1: 1 4 3\n", "'a' (task 2) has held it since 11 µs.");
}

/* What others give back than those who have got it: nothing is concluded. */
TEST(what_is_passed_on_is_nobodys)
{
    one_lock();
    add(releases(0, 3, 4));
    add(acquires(0, 2, 4));
    add(fulfills(0, 2, 2));
    add(try_read(0, 3, 4));
    sleep_ms(200);
    EXPECT("hang-root likely 4 x1: 3 1\n", "was never resolved; 'b' (task 3) has waited for it "
                                           "since 11 µs, for 200 ms.");
}

/* … nor of what is older than the events that are there. */
TEST(what_is_not_known_of_all_is_said_so)
{
    begin_as(WEFT_TRACE_STOPPED, true);
    create(LOOP, 1, TASK_, "main");
    should(1);
    add(acquires(0, 1, 4));
    add(try_read(0, 1, 4));
    sleep_ms(200);
    EXPECT(
        "hang-root likely 4 x1: 1\n",
        "As far as the trace tells, it is held by 'main' (task 1) since 2 µs, which waits for one "
        "more.");
    begin_as(WEFT_TRACE_STOPPED, true);
    create(LOOP, 1, TASK_, "main");
    should(1);
    add(acquires(0, 1, 4));
    add(releases(0, 1, 4));
    add(try_read(0, 1, 4));
    sleep_ms(200);
    EXPECT("hang-root likely 4 x1: 1\n",
           "Who holds it is not known: not all events about it are there.");
}

/* … unless those that are there show that it is a lock. */
TEST(what_one_at_a_time_has_held_is_a_lock)
{
    for (int two = 0; two < 2; two++) {
        begin_as(WEFT_TRACE_STOPPED, true);
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(1, 2, TASK_, "a");
        add(try_read(0, 1, 2));
        for (int i = 0; i < 8; i++) {
            add(acquires(0, 1, 4));
            if (two)
                add(acquires(0, 2, 4));
            add(releases(0, 1, 4));
            if (two)
                add(releases(0, 2, 4));
        }
        add(acquires(0, 2, 4));
        add(try_read(0, 2, 4));
        sleep_ms(200);
        EXPECT(two ? "hang-root likely 4 x1: 2 1\n" : "deadlock possible 4 x1: 2 1\n",
               two ? "As far as the trace tells, it is held by 'a' (task 2)"
                   : "can never be given back: 'a' (task 2), which has held it since 20 µs");
    }
}

/* Who holds it waits for what may come at any time, as in a server that accepts. */
TEST(who_holds_it_may_be_idle)
{
    for (int idle = 0; idle < 2; idle++) {
        begin();
        create(LOOP, 1, TASK_, "worker");
        create(LOOP, 2, TASK_, "worker");
        create(LOOP, 3, TASK_, "accept");
        create(LOOP, 4, LOCK_, "accept lock");
        add(background(0, 4));
        if (idle)
            add(background(0, 3));
        add(acquires(0, 1, 4));
        add(try_read(0, 1, 3));
        add(try_read(0, 2, 4));
        sleep_ms(200);
        if (idle)
            NOTHING();
        else
            EXPECT("hang-root possible 3 x1: 1 4 2\n", "'accept' (task 3)");
    }
}

/* main has created what its child waits for: that does not say that main would resolve it. */
TEST(a_creator_alone_is_no_circle)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    create(1, 2, TASK_, "child");
    create(1, 3, REPLY_, "settings");
    add(try_read(0, 1, 2));
    add(try_read(0, 2, 3));
    sleep_ms(200);
    EXPECT("hang-root certain 3 x1: 2 1\n", "'settings'");
}

/* ---- Who would resolve it ---- */

/* A worker takes jobs and answers them; the last one it does not answer: it waits for rows, or for the next job. */
static void worker(bool held_up)
{
    begin();
    create(LOOP, 1, TASK_, "caller");
    should(1);
    create(LOOP, 2, TASK_, "worker");
    create(2, 10, JOB_, "next job");
    add(try_read(0, 2, 10));
    for (uint64_t i = 0; i < 5; i++) {
        add(switches(0, 1));
        create(1, 20 + i, REPLY_, "answer");
        add(try_read(0, 1, 20 + i));
        add(fulfills(0, 1, 10 + i));
        add(reads(0, 2, 10 + i));
        if (i < 4)
            add(fulfills(0, 2, 20 + i));
        if (i == 4 && held_up) {
            create(2, 30, REPLY_, "rows");
            add(try_read(0, 2, 30));
        } else {
            create(2, 11 + i, JOB_, "next job");
            add(try_read(0, 2, 11 + i));
        }
        if (i < 4)
            add(reads(0, 1, 20 + i));
        sleep_ms(1);
    }
    sleep_ms(200);
}

TEST(the_one_who_would_resolve_it_is_held_up)
{
    worker(true);
    should(30); /* whoever else waits for it */
    EXPECT("hang-root certain 30 x1: 2 24 1\n", "'rows'");
    worker(true);
    EXPECT("hang-root likely 30 x1: 2 24 1\n", "'rows'", "nobody resolves 'answer' (reply 24)",
           "'worker' (task 2), which resolved those like it before (all 4), waits for 'rows'");
}

TEST(a_worker_with_nothing_to_do_is_not_held_up)
{
    struct weft_findings f;
    worker(false);
    struct weft_model *m = model_of();
    assert_int_equal(findings_find(&f, m), 0);
    assert_int_equal(f.finding[0].kind, WEFT_FINDING_HANG_ROOT);
    assert_int_equal(m->promise[f.finding[0].promise].id, 24);
    assert_int_equal(f.finding[0].confidence, WEFT_CERTAIN);
    weft_findings_fini(&f);
    weft_model_free(m);
}

/* ---- Lost wake-ups ---- */

static void wait_too_late(void)
{
    create(LOOP, 1, TASK_, "main");
    create(1, 2, TASK_, "query");
    create(2, 3, CONDITION_, "response");
    add(try_read(0, 1, 2));
    sleep_ms(20);
    add(notifies(0, LOOP, 3));
    sleep_ms(20);
    add(switches(0, 2));
    add(try_read(0, 2, 3));
}

static void waits_too_late(void)
{
    begin();
    wait_too_late();
}

TEST(signalled_before_anybody_waited)
{
    waits_too_late();
    should(1);
    sleep_ms(200);
    EXPECT("lost-wakeup certain 3 x1: 2 1\n",
           "'response' (condition 3), created by 'query' for 'main', came at 20.0",
           "nobody waited for it, and is lost", "'query' (task 2) began to wait for it at 40.0");
    waits_too_late();
    sleep_ms(200);
    EXPECT("lost-wakeup likely 3 x1: 2 1\n", "'response'");
    waits_too_late(); /* it becomes another one of its sort, which waits */
    should(1);
    create(2, 4, TASK_, "query");
    add(becomes(0, 2, 4));
    sleep_ms(200);
    EXPECT("lost-wakeup certain 3 x1: 4 1\n", "'response'");
    waits_too_late(); /* signalled again in time */
    should(1);
    add(notifies(0, LOOP, 3));
    add(signals(0, 2, 3));
    add(fulfills(0, 2, 2));
    add(reads(0, 1, 2));
    add(fulfills(0, 1, 1));
    sleep_ms(200);
    NOTHING();
}

/* That a signal comes in vain is the rule here: who needs it looks first. */
TEST(signalled_in_vain_as_always)
{
    for (int killed = 0; killed < 2; killed++) {
        begin_as(killed ? WEFT_TRACE_KILLED : WEFT_TRACE_STOPPED, false);
        wait_too_late();
        should(1);
        for (int i = 0; i < 3; i++) {
            sleep_ms(1);
            add(notifies(0, LOOP, 3));
            add(signals(0, 2, 3));
            add(notifies(0, LOOP, 3));
            add(try_read(0, 2, 3));
        }
        sleep_ms(200);
        EXPECT(killed ? "lost-wakeup possible 3 x1: 2 1\n" : "lost-wakeup likely 3 x1: 2 1\n",
               "'response'");
    }
}

/* In mirage's traces a condition makes what its waiters wait for. It was signalled in vain if it made nothing then, and ended
 * nothing. */
TEST(a_condition_of_mirage)
{
    enum { VAIN, MAKES, MAKES_LAST, ENDS, ENDS_LAST, MAKES_LATE, WAYS };
    for (unsigned way = 0; way < WAYS; way++) {
        const uint64_t signalled = 20 * MS, ran = signalled + 1000;
        trace_begin(&trace, 0);
        trace_add(&trace, creates(100, LOOP, 1, TASK));
        trace_add(&trace, label(110, 1, "__should_resolve"));
        trace_add(&trace, creates(120, 1, 2, CONDITION));
        trace_add(&trace, label(120, 2, "response"));
        trace_add(&trace, creates(130, LOOP, 3, TASK));
        trace_add(&trace, creates(140, LOOP, 4, WAIT));
        trace_add(&trace, switches(10 * MS, 3));
        trace_add(&trace, signals(signalled, 2, 3));
        if (way == MAKES || way == MAKES_LAST)
            trace_add(&trace, creates(way == MAKES ? signalled + 500 : ran, 2, 5, WAIT));
        if (way == ENDS || way == ENDS_LAST)
            trace_add(&trace, fulfills(way == ENDS ? signalled + 500 : ran, 2, 4));
        trace_add(&trace, switches(ran, 3));
        if (way == MAKES_LATE)
            trace_add(&trace, creates(ran + 1, 2, 5, WAIT));
        trace_add(&trace, fulfills(30 * MS, 3, 4));
        trace_add(&trace, fulfills(30 * MS, 3, 5));
        trace_add(&trace, switches(40 * MS, 1));
        trace_add(&trace, creates(40 * MS, 2, 6, WAIT));
        trace_add(&trace, try_read(40 * MS, 1, 6));
        trace_add(&trace, switches(40 * MS, 3));
        trace_add(&trace, counter(300 * MS, 3, 1, "x"));
        expect_of(__func__, trace_model(&trace),
                  way == VAIN || way == MAKES_LATE ? "lost-wakeup likely 6 x1: 1\n"
                                                   : "hang-root likely 6 x1: 1\n",
                  NULL);
    }
}

/* Requests of which the second one gives nothing back, where nobody needs to wait for the first two. */
TEST(a_condition_of_a_pool)
{
    begin();
    create(LOOP, 1, CONDITION_, "free");
    for (uint64_t i = 2; i < 5; i++) {
        create(LOOP, i, JOB_, "request");
        should(i);
        add(switches(0, i));
        if (i == 2)
            add(notifies(0, i, 1));
        if (i == 4)
            add(try_read(0, i, 1));
        else
            add(fulfills(0, i, i));
        sleep_ms(10);
    }
    sleep_ms(200);
    EXPECT("hang-root certain 1 x1: 4\n", "'free' (condition 1)", "signalled for the last time",
           "when nobody waited", "'request' (job 4) has waited");
}

TEST(one_signal_too_many_to_be_certain)
{
    waits_too_late();
    should(1);
    add(notifies(0, LOOP, 3)); /* it goes on … */
    add(signals(0, 2, 3));
    sleep_ms(20);
    add(notifies(0, LOOP, 3)); /* … and this one is in vain */
    sleep_ms(20);
    add(switches(0, 2));
    add(try_read(0, 2, 3));
    sleep_ms(200);
    EXPECT("lost-wakeup likely 3 x1: 2 1\n", "nobody waited for it; 'query'");
}

/* A condition is always pending, so one may say that it is meant to be. */
TEST(a_condition_that_is_marked_as_background)
{
    waits_too_late();
    should(1);
    add(background(0, 3));
    sleep_ms(200);
    EXPECT("lost-wakeup likely 3 x1: 2 1\n", "is lost");
    begin_as(WEFT_TRACE_RECORDING, false); /* a worker that took the job and found no other */
    create(LOOP, 1, TASK_, "worker");
    create(LOOP, 3, CONDITION_, "job there");
    add(background(0, 3));
    should(1);
    sleep_ms(20);
    add(notifies(0, LOOP, 3));
    add(switches(0, 1));
    create(1, 4, REPLY_, "store");
    add(try_read(0, 1, 4));
    sleep_ms(20);
    add(fulfills(0, LOOP, 4));
    add(reads(0, 1, 4));
    add(try_read(0, 1, 3));
    sleep_ms(200);
    EXPECT("lost-wakeup possible 3 x1: 1\n", NULL);
}

/* The worker has looked after each signal but did not wait for it: it may have seen to the last one, too. */
TEST(who_waits_may_have_acted_on_it)
{
    for (int killed = 0; killed < 2; killed++)
        for (int signals_ = 1; signals_ < 3; signals_++)
            for (int acts = 0; acts < 2; acts++) {
                begin_as(killed ? WEFT_TRACE_KILLED : WEFT_TRACE_STOPPED, false);
                create(LOOP, 1, TASK_, "worker");
                create(LOOP, 3, CONDITION_, "job there");
                should(1);
                for (uint64_t i = 0; i < (uint64_t)signals_; i++) {
                    sleep_ms(20);
                    add(notifies(0, LOOP, 3));
                    add(switches(0, 1));
                    if (acts) {
                        create(1, 4 + i, REPLY_, "store");
                        add(try_read(0, 1, 4 + i));
                        sleep_ms(20);
                        add(fulfills(0, LOOP, 4 + i));
                        add(reads(0, 1, 4 + i));
                    }
                }
                add(try_read(0, 1, 3));
                sleep_ms(200);
                char wanted[64];
                snprintf(wanted, sizeof wanted, "lost-wakeup %s 3 x1: 1\n",
                         signals_ == 2 && acts && killed ? "possible"
                         : signals_ == 2 || killed       ? "likely"
                                                         : "certain");
                EXPECT(wanted, "'job there'");
            }
}

/* … and the recording ended at once. */
TEST(the_end_comes_soon_after_a_signal)
{
    for (int killed = 0; killed < 2; killed++) {
        begin_as(killed ? WEFT_TRACE_KILLED : WEFT_TRACE_STOPPED, false);
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(1, 3, CONDITION_, "filled");
        add(try_read(0, 1, 3));
        sleep_ms(150);
        add(notifies(0, LOOP, 3));
        sleep_ms(5);
        EXPECT(killed ? "lost-wakeup possible 3 x1: 1\n" : "lost-wakeup likely 3 x1: 1\n",
               "'filled'");
    }
}

TEST(signalled_once_for_all)
{
    begin();
    create(LOOP, 1, CONDITION_, "loaded");
    for (uint64_t i = 2; i < 5; i++) {
        create(LOOP, i, TASK_, i == 4 ? "late" : "early");
        should(i);
        if (i < 4)
            add(try_read(0, i, 1));
    }
    sleep_ms(20);
    add(notifies(0, LOOP, 1));
    for (uint64_t i = 2; i < 4; i++) {
        add(signals(0, i, 1));
        add(fulfills(0, i, i));
    }
    sleep_ms(20);
    add(switches(0, 4));
    add(try_read(0, 4, 1));
    sleep_ms(200);
    EXPECT("lost-wakeup likely 1 x1: 4\n", "woke all who waited then",
           "'late' (task 4) began to wait for it only at 40");
}

/* Both sides of a buffer wait at one condition, and the last signal is for the wrong one. Not so if that has told others since, or
 * if all are of one sort: then there may just be nothing to do. */
TEST(signalled_the_wrong_one)
{
    enum { WRONG, TOLD, ONE_SORT, WAYS };
    for (int way = 0; way < WAYS; way++) {
        begin();
        create(LOOP, 1, TASK_, "main");
        should(1);
        create(LOOP, 2, CONDITION_, "changed");
        create(1, 3, TASK_, "get");
        create(1, 4, TASK_, way == ONE_SORT ? "get" : "put");
        add(try_read(0, 1, 3));
        add(try_read(0, 1, 4));
        add(try_read(0, 3, 2));
        add(try_read(0, 4, 2));
        add(notifies(0, 1, 2));
        add(reads(0, 3, 2));
        if (way == TOLD) {
            add(notifies(0, 3, 2));
            add(reads(0, 4, 2));
            add(try_read(0, 4, 2));
        }
        add(try_read(0, 3, 2));
        sleep_ms(200);
        if (way == WRONG)
            EXPECT("lost-wakeup likely 2 x1: 3 4 1\n", "woke only 'get' (task 3)",
                   "'put' (task 4), which has waited since", "was not woken");
        else
            EXPECT("hang-root certain 2 x1: 3 4 1\n", "'changed'");
    }
}

TEST(signalled_and_nobody_ran)
{
    waits_too_late();
    should(1);
    sleep_ms(1);
    add(notifies(0, LOOP, 3));
    sleep_ms(200);
    EXPECT("lost-wakeup certain 3 x1: 2 1\n", "was not woken");
    waits_too_late(); /* it was for the other one */
    should(1);
    create(LOOP, 4, TASK_, "other");
    add(try_read(0, 4, 3));
    sleep_ms(1);
    add(notifies(0, LOOP, 3));
    add(signals(0, 4, 3));
    add(fulfills(0, 4, 4));
    sleep_ms(200);
    EXPECT("hang-root certain 3 x1: 2 1\n", "'response'");
}

/* main reads a first answer, so the trace says such things; of the second one it was not told. */
static void answers(void)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    for (uint64_t i = 2; i < 4; i++) {
        create(1, i, REPLY_, "answer");
        add(try_read(0, 1, i));
        sleep_ms(10);
        add(fulfills(0, LOOP, i));
        if (i == 2)
            add(reads(0, 1, i));
    }
}

TEST(resolved_and_nobody_was_told)
{
    answers();
    sleep_ms(10);
    sleep_ms(10);
    EXPECT("lost-wakeup certain 3 x1: 1\n", "The result of 'answer' (reply 3)", "'main' (task 1)");
    answers();
    EXPECT("lost-wakeup likely 3 x1: 1\n", "'answer'");
    answers();
    add(switches(0, 1)); /* it goes on, though nothing says why */
    add(fulfills(0, 1, 1));
    sleep_ms(200);
    NOTHING();
}

TEST(resolved_and_nobody_marked_was_told)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    create(1, 2, REPLY_, "answer");
    add(try_read(0, 1, 2));
    sleep_ms(10);
    add(fulfills(0, LOOP, 2));
    add(reads(0, 1, 2));
    create(1, 3, REPLY_, "receipt");
    add(try_read(0, 1, 3));
    sleep_ms(10);
    add(fulfills(0, LOOP, 3));
    sleep_ms(200);
    EXPECT("lost-wakeup likely 3 x1: 1\n", "'receipt'");
}

TEST(resolved_in_a_program_that_tells_nothing_else)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    create(1, 2, REPLY_, "answer");
    add(try_read(0, 1, 2));
    sleep_ms(10);
    add(fulfills(0, LOOP, 2));
    sleep_ms(100);
    sleep_ms(100);
    EXPECT("lost-wakeup certain 2 x1: 1\n", "The result of 'answer' (reply 2)");
}

/* A thread is woken by the system, whenever a core is free; and then it may run, or wait in a call that nothing says, for as
 * long as it likes. The same things are wrong of a task, which others need. */
TEST(a_thread_is_no_event_loop)
{
    looked_for = 1u << WEFT_FINDING_SLOW_WAKE | 1u << WEFT_FINDING_LOOP_BLOCKED;
    for (int scene = 0; scene < 3; scene++) {
        const enum site who = scene == 0 ? TASK_ : THREAD_;
        begin();
        create(LOOP, 1, scene == 2 ? TASK_ : who, "first"); /* 2: that one is the loop's */
        create(LOOP, 2, who, "second");
        for (uint64_t p = 1; p <= 2; p++) {
            create(p, 10 + p, REPLY_, "answer");
            add(switches(0, p));
            add(try_read(0, p, 10 + p));
            sleep_ms(10);
            add(fulfills(0, LOOP, 10 + p));
            if (p == 2) {
                add(switches(0, LOOP));
                sleep_ms(300);
            }
            add(reads(0, p, 10 + p));
        }
        if (scene == 1)
            now += 3000 * MS; /* it runs up to the end */
        struct weft_model *m = model_of();
        struct weft_findings f;
        assert_int_equal(findings_find(&f, m), 0);
        assert_int_equal(f.count, scene == 0);
        for (uint32_t i = 0; i < f.count; i++)
            assert_int_equal(f.finding[i].kind, WEFT_FINDING_SLOW_WAKE);
        weft_findings_fini(&f);
        weft_model_free(m);
    }
    looked_for = HANGS;
}

/* Who waits for a time limit, too, waits for the first of both. */
TEST(a_result_before_the_time_limit)
{
    for (int limit = 0; limit < 3; limit++) {
        begin();
        create(LOOP, 1, TASK_, "request");
        should(1);
        create(1, 2, REPLY_, "answer");
        create(1, 3, limit ? TIMER_ : REPLY_, "other");
        add(try_read(0, 1, 2));
        if (limit < 2)
            add(try_read(0, 1, 3));
        sleep_ms(10);
        add(fulfills(0, LOOP, 2));
        if (limit == 2) /* it has gone on since */
            add(try_read(0, 1, 3));
        sleep_ms(200);
        EXPECT(limit == 1 ? "lost-wakeup certain 2 x1: 1\n" : "hang-root certain 3 x1: 1\n",
               "'request' (task 1)");
    }
}

/* A race: the time limit came first, then the one who waited cancels the other, but never answers. */
TEST(what_the_waiter_ends_itself_is_not_lost)
{
    for (int by_itself = 0; by_itself < 2; by_itself++) {
        begin();
        create(LOOP, 1, TASK_, "request");
        should(1);
        create(1, 2, REPLY_, "backend");
        create(1, 3, REPLY_, "timeout");
        add(try_read(0, 1, 2));
        add(try_read(0, 1, 3));
        sleep_ms(10);
        add(fulfills(0, LOOP, 3));
        add(reads(0, 1, 3));
        if (!by_itself)
            sleep_ms(10);
        add(by_itself ? cancels(0, 1, 2) : fulfills(0, LOOP, 2));
        sleep_ms(100);
        sleep_ms(100);
        EXPECT("never-resolved certain 1 x1:\n", "'request' (task 1)");
    }
}

/* ---- One cause, one finding ---- */

/* The last of three fails, and does not say so. */
static void fetches(void)
{
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    for (uint64_t i = 0; i < 3; i++) {
        create(1, 2 + 2 * i, JOB_, "fetch");
        create(2 + 2 * i, 3 + 2 * i, REPLY_, "reply");
        add(try_read(0, 1, 3 + 2 * i));
        sleep_ms(10);
        add(switches(0, 2 + 2 * i));
        if (i < 2) {
            add(fulfills(0, 2 + 2 * i, 3 + 2 * i));
            add(fulfills(0, 2 + 2 * i, 2 + 2 * i));
            add(reads(0, 1, 3 + 2 * i));
        } else
            add(fails(0, 2 + 2 * i, 2 + 2 * i, "gone"));
        sleep_ms(10);
    }
    sleep_ms(100);
}

TEST(a_failure_and_what_hangs_because_of_it)
{
    fetches();
    looked_for = UINT32_MAX;
    EXPECT("swallowed-failure certain 6 x1: 1 7\n", "'fetch' (job 6)", "'reply'",
           "which it was to resolve");
    looked_for = HANGS;
}

static unsigned kinds_found(const struct weft_model *m, uint32_t without)
{
    struct weft_findings f;
    unsigned kinds = 0;
    looked_for = ~without;
    assert_int_equal(findings_find(&f, m), 0);
    looked_for = HANGS;
    for (uint32_t i = 0; i < f.count; i++)
        if (f.finding[i].confidence >= WEFT_LIKELY)
            kinds |= 1u << f.finding[i].kind;
    weft_findings_fini(&f);
    return kinds;
}

/* Replies that never come and are waited for are a leak, too, but for the same cause. */
TEST(what_piles_up_because_it_hangs)
{
    begin();
    for (uint64_t i = 0; i < 150; i++) {
        create(LOOP, 2 * i + 1, JOB_, "request");
        should(2 * i + 1);
        create(2 * i + 1, 2 * i + 2, REPLY_, "reply");
        add(try_read(0, 2 * i + 1, 2 * i + 2));
        sleep_ms(10);
        if (i % 3 == 0)
            continue;
        add(fulfills(0, LOOP, 2 * i + 2));
        add(reads(0, 2 * i + 1, 2 * i + 2));
        add(fulfills(0, 2 * i + 1, 2 * i + 1));
    }
    sleep_ms(200);
    struct weft_model *m = model_of();
    assert_int_equal(kinds_found(m, HANGS), 1u << WEFT_FINDING_LEAK);
    assert_int_equal(kinds_found(m, 0), 1u << WEFT_FINDING_HANG_ROOT);
    weft_model_free(m);
}

TEST(what_waits_for_several_has_not_lost_the_first)
{
    answers();
    create(LOOP, 4, REPLY_, "more");
    add(try_read(0, 1, 4));
    sleep_ms(200);
    EXPECT("hang-root certain 4 x1: 1\n", "'more'");
}

/* ---- With other findings ---- */

/* The poller is what is wrong; that main waits for it follows. */
TEST(what_spins_does_not_hang)
{
    struct weft_findings f;
    struct weft_history *h;
    begin();
    create(LOOP, 1, TASK_, "main");
    should(1);
    create(1, 2, TASK_, "poller");
    add(try_read(0, 1, 2));
    for (uint64_t i = 0; i < 3000; i++) {
        add(switches(0, 2));
        add(switches(0, LOOP));
    }
    struct weft_model *m = model_of();
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    assert_int_equal(weft_explain(&f, h, NULL, NULL, NULL), 0);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.finding[0].kind, WEFT_FINDING_SPIN);
    assert_true(f.finding[0].affected_total > 0);
    weft_findings_fini(&f);
    weft_history_free(h);
    weft_model_free(m);
}

/* How far it is, up to the end; whoever is told may stop it each time. */
struct told {
    double last;
    unsigned times, most;
};

static bool progress_rises(void *data, double share)
{
    struct told *told = data;
    assert_true(share >= told->last && share <= 1);
    told->last = share;
    return ++told->times < told->most;
}

TEST(progress_is_told)
{
    struct weft_findings f;
    struct weft_history *h;
    struct told told = {.most = UINT_MAX};
    begin();
    chain();
    sleep_ms(200);
    struct weft_model *m = model_of();
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    assert_int_equal(weft_explain(&f, h, NULL, progress_rises, &told), 0);
    assert_true(told.last == 1);
    assert_int_equal(f.count, 1);
    weft_findings_fini(&f);
    for (unsigned most = 1, all = told.times; most <= all; most++) {
        told = (struct told){.most = most};
        assert_int_equal(weft_explain(&f, h, NULL, progress_rises, &told), WEFT_E_CANCELED);
        assert_int_equal(told.times, most);
    }
    weft_history_free(h);
    weft_model_free(m);
}

/* Large enough for two threads: each time the caller's is told, it may say that it is enough. */
TEST(progress_of_two_threads)
{
    struct weft_findings f;
    struct weft_history *h;
    begin();
    for (uint64_t i = 0; i < 8000; i++) {
        create(LOOP, i + 1, JOB_, "job");
        sleep_ms(1);
        if (i % 2)
            add(i % 16 == 1 ? fails(0, LOOP, i + 1, "no") : fulfills(0, LOOP, i + 1));
    }
    struct weft_model *m = model_of();
    assert_int_equal(weft_history_new(&h, m, NULL, NULL), 0);
    assert_int_equal(weft_explain(&f, h, NULL, NULL, NULL), 0);
    const uint32_t all = f.count;
    assert_true(all > 0);
    weft_findings_fini(&f);
    for (unsigned most = 1, times = 2; most <= times; most++) {
        struct told told = {.most = most};
        const int rc = weft_explain(&f, h, NULL, progress_rises, &told);
        times = told.times < most ? 0 : most + 1;
        assert_int_equal(rc, told.times == most ? WEFT_E_CANCELED : 0);
        assert_int_equal(f.count, told.times == most ? 0 : all);
        weft_findings_fini(&f);
    }
    weft_history_free(h);
    weft_model_free(m);
}

TEST(only_the_most_important_are_told)
{
    struct weft_findings f;
    begin();
    for (uint64_t i = 0; i < 3 * WEFT_FINDINGS_MAX; i++) {
        char text[] = "letter aaaa";
        for (uint64_t k = 0, n = i; k < 4; k++, n /= 26)
            text[7 + k] = (char)('a' + n % 26);
        create(LOOP, i + 1, JOB_, text);
        if (i > 2 * WEFT_FINDINGS_MAX)
            should(i + 1);
        else if (i % 2)
            add(try_read(0, i, i + 1));
    }
    sleep_ms(200);
    struct weft_model *m = model_of();
    assert_int_equal(findings_find(&f, m), 0);
    assert_int_equal(f.count, WEFT_FINDINGS_MAX);
    assert_int_equal(f.left_out, WEFT_FINDINGS_MAX - 1);
    assert_int_equal(f.finding[WEFT_FINDINGS_MAX - 2].confidence, WEFT_CERTAIN);
    assert_int_equal(f.finding[WEFT_FINDINGS_MAX - 1].confidence, WEFT_POSSIBLE);
    weft_findings_fini(&f);
    weft_model_free(m);
}

/* ---- No memory ---- */

static void allocations_fail(bool joined)
{
    if (joined)
        fetches();
    else
        worker(true);
    struct weft_model *m = model_of();
    looked_for = joined ? UINT32_MAX : HANGS;
    assert_true(findings_without_memory(m) > 40);
    looked_for = HANGS;
    weft_model_free(m);
}

TEST(each_allocation_may_fail)
{
    allocations_fail(false);
}

TEST(each_allocation_of_joining_may_fail)
{
    allocations_fail(true);
}

RUN_TESTS(NULL, each_rule_is_needed)
