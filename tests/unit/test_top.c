/* SPDX-License-Identifier: ISC */
/* What weft top computes: sums over the last seconds, trees of what waits for what, the text for Prometheus; of a process
 * that is made up here, so that all numbers and times are known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/top/top.h"
#include "cli/top/tree.h"
#include "cli/top/window.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

/* ---- The process ---- */

enum { MANY = 20000 };

struct live {
    struct live_promise *promise;
    uint32_t promises;
    struct live_row row[300];
    uint32_t rows;
    struct live_thread thread[4];
    uint32_t threads;
    struct live_counter counter[4];
    uint32_t counters;
    struct live_totals totals;
    const char *name[300];
};

const struct live_promise *live_promises(const struct live *l, uint32_t *count)
{
    *count = l->promises;
    return l->promise;
}

/* Ids are indices, plus 1. */
const struct live_promise *live_find(const struct live *l, uint64_t id)
{
    return id && id <= l->promises ? &l->promise[id - 1] : NULL;
}

const struct live_row *live_rows(const struct live *l, uint32_t *count)
{
    *count = l->rows;
    return l->row;
}

const struct live_thread *live_threads(const struct live *l, uint32_t *count)
{
    *count = l->threads;
    return l->thread;
}

const struct live_counter *live_counters(const struct live *l, uint32_t *count)
{
    *count = l->counters;
    return l->counter;
}

const struct live_totals *live_totals(const struct live *l)
{
    return &l->totals;
}

const char *live_name(const struct live *l, uint32_t name)
{
    return l->name[name] ? l->name[name] : "";
}

static struct live live;
static struct live_promise room[MANY];

static void reset(void)
{
    memset(&live, 0, sizeof live);
    memset(room, 0, sizeof room);
    live.promise = room;
    live.totals.now_ns = 100 * SECOND;
}

/* ---- The window ---- */

/* So many more promises of a row were fulfilled, each in 1 ms. */
static void fulfil(uint32_t row, uint64_t n)
{
    live.row[row].fulfilled += n;
    live.row[row].took[live_bucket_of(1000000)] += n;
    live.row[row].total_ns += n * 1000000;
    live.totals.events += 2 * n;
    live.totals.ended += n;
}

static void look(struct top_window *w, uint64_t after_ns)
{
    live.totals.now_ns += after_ns;
    assert_int_equal(top_window_note(w, &live), 0);
}

static uint64_t fulfilled(const struct top_window *w, uint32_t row)
{
    uint32_t count;
    const struct live_row *rows = top_window_rows(w, &count);
    assert_true(row < count);
    return rows[row].fulfilled;
}

TEST(test_window)
{
    struct top_window w = {.seconds = 3};
    reset();
    live.rows = 2;
    fulfil(1, 1000); /* before the first look */
    look(&w, 0);
    assert_int_equal(top_window_ns(&w), 0);
    assert_int_equal(fulfilled(&w, 1), 1000);
    for (unsigned i = 1; i <= 5; i++) {
        fulfil(1, i);
        live.row[1].pending = i;
        look(&w, SECOND);
    }
    /* The last three seconds. */
    assert_int_equal(top_window_ns(&w), 3 * SECOND);
    assert_int_equal(fulfilled(&w, 1), 3 + 4 + 5);
    assert_int_equal(fulfilled(&w, 0), 0);
    assert_int_equal(top_window_totals(&w).events, 2 * 12);
    assert_int_equal(top_window_totals(&w).ended, 12);
    uint32_t count;
    const struct live_row *r = &top_window_rows(&w, &count)[1];
    assert_int_equal(r->pending, 5);
    assert_int_equal(r->took[live_bucket_of(1000000)], 12);
    assert_int_equal(r->total_ns, 12000000);
    /* What is kept reaches back further: to the second look. */
    top_window_set(&w, 60);
    assert_int_equal(fulfilled(&w, 1), 1 + 2 + 3 + 4 + 5);
    assert_int_equal(top_window_ns(&w), 5 * SECOND);
    top_window_set(&w, 1);
    assert_int_equal(fulfilled(&w, 1), 5);
    /* A row that comes later, and a long silence. */
    live.rows = 3;
    fulfil(2, 7);
    look(&w, SECOND);
    assert_int_equal(fulfilled(&w, 2), 7);
    assert_int_equal(fulfilled(&w, 1), 0);
    look(&w, 1000 * SECOND);
    assert_int_equal(fulfilled(&w, 2), 0);
    top_window_fini(&w);
}

/* Looks that come often share slots: the longest window is covered all the same. */
TEST(test_often)
{
    struct top_window w = {.seconds = TOP_SECONDS_MAX};
    reset();
    live.rows = 1;
    look(&w, 0);
    for (unsigned i = 0; i < 1200; i++) {
        fulfil(0, 1);
        look(&w, SECOND / 10);
    }
    const uint64_t ns = top_window_ns(&w);
    assert_in_range(ns, 60 * SECOND - SECOND / 2, 60 * SECOND + SECOND / 2);
    assert_int_equal(fulfilled(&w, 0), ns / (SECOND / 10));
    top_window_set(&w, 2);
    assert_in_range(fulfilled(&w, 0), 15, 25);
    /* A clock that goes back. */
    live.totals.now_ns -= 50 * SECOND;
    fulfil(0, 3);
    assert_int_equal(top_window_note(&w, &live), 0);
    assert_in_range(top_window_ns(&w), 0, 3 * SECOND);
    top_window_fini(&w);
}

/* More changes between two looks than a slot takes: the rest counts at the next look, and nothing is lost. */
TEST(test_many_changes)
{
    struct top_window w = {.seconds = 60};
    uint32_t count;
    uint64_t sum = 0, all = 0;
    reset();
    live.rows = 300;
    look(&w, 0);
    for (uint32_t i = 0; i < live.rows; i++)
        for (unsigned b = 0; b < LIVE_BUCKETS; b++)
            all += ++live.row[i].took[b];
    look(&w, SECOND);
    const struct live_row *r = top_window_rows(&w, &count);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned b = 0; b < LIVE_BUCKETS; b++)
            sum += r[i].took[b];
    assert_int_equal(sum, TOP_CHANGES_MAX);
    for (unsigned i = 0; i < 4; i++)
        look(&w, SECOND);
    r = top_window_rows(&w, &count);
    sum = 0;
    for (uint32_t i = 0; i < count; i++)
        for (unsigned b = 0; b < LIVE_BUCKETS; b++)
            sum += r[i].took[b];
    assert_int_equal(sum, all);
    top_window_fini(&w);
}

TEST(test_loops)
{
    struct top_window w = {.seconds = 2};
    struct live_thread *t = &live.thread[0];
    reset();
    live.threads = 1;
    *t = (struct live_thread){.is_loop = true, .idle = true, .since_ns = live.totals.now_ns};
    look(&w, 0);
    /* A turn of 400 ms, and others. */
    t->busy_ns += SECOND / 2;
    t->turns += 10;
    top_window_turned(&w, 0, 400000000);
    top_window_turned(&w, 0, 1000);
    look(&w, SECOND);
    struct top_use use = top_window_use(&w, 0);
    assert_int_equal(use.busy_ns, SECOND / 2);
    assert_int_equal(use.turns, 10);
    assert_int_equal(use.longest_ns, 400000000);
    /* It is blocked: the turn that has not ended counts. */
    t->idle = false;
    t->since_ns = live.totals.now_ns;
    look(&w, SECOND);
    look(&w, SECOND);
    look(&w, SECOND);
    use = top_window_use(&w, 0);
    assert_int_equal(use.busy_ns, 2 * SECOND);
    assert_int_equal(use.longest_ns, 3 * SECOND);
    assert_int_equal(use.turns, 0);
    /* It ends at once: nothing counts twice. */
    t->idle = true;
    t->busy_ns += 3 * SECOND;
    t->turns++;
    top_window_turned(&w, 0, 3 * SECOND);
    t->since_ns = live.totals.now_ns;
    look(&w, SECOND);
    use = top_window_use(&w, 0);
    assert_int_equal(use.busy_ns, SECOND);
    assert_int_equal(use.longest_ns, 3 * SECOND);
    look(&w, 10 * SECOND);
    use = top_window_use(&w, 0);
    assert_int_equal(use.busy_ns + use.longest_ns + use.turns, 0);
    assert_int_equal(top_window_use(&w, 1).busy_ns, 0);
    top_window_fini(&w);
}

/* ---- The tree ---- */

/* Adds a promise, which waits for another one (0: for none). Returns its id. */
static uint64_t pending(uint64_t waits_for)
{
    struct live_promise *p = &room[live.promises++];
    p->id = live.promises;
    p->created_ns = live.promises;
    p->waits_for = waits_for;
    return p->id;
}

/* "1(2 3(4)) 5": ids, with what stands below in brackets; ! in a deadlock, @ what closes it, +N left out. */
static const char *shape(const struct top_tree_options *o)
{
    static char text[4096];
    struct top_tree tree;
    size_t at = 0;
    uint32_t depth = 0;
    assert_int_equal(top_tree_build(&tree, &live, o), 0);
    *text = 0;
    for (uint32_t i = 0; i < tree.nodes; i++) {
        const struct top_node *n = &tree.node[i];
        if (i && n->depth <= depth) {
            for (; depth > n->depth; depth--)
                text[at++] = ')';
            text[at++] = ' ';
        }
        assert_true(n->depth <= depth + 1);
        for (; depth < n->depth; depth++)
            text[at++] = '(';
        if (n->more)
            at += (size_t)snprintf(text + at, sizeof text - at, "+%u", (unsigned)n->more);
        else
            at += (size_t)snprintf(text + at, sizeof text - at, "%u%s%s", (unsigned)n->promise + 1,
                                   n->circle ? "!" : "", n->again ? "@" : "");
        const bool last = i + 1 == tree.nodes || tree.node[i + 1].depth < n->depth;
        if (last && n->depth && n->depth < 32)
            assert_true(n->last >> n->depth & 1);
    }
    while (depth--)
        text[at++] = ')';
    text[at] = 0;
    top_tree_fini(&tree);
    return text;
}

static const struct top_tree_options usual = {1000, 20};

TEST(test_tree)
{
    reset();
    assert_string_equal(shape(&usual), "");
    const uint64_t alone = pending(0), root = pending(0);
    pending(root);
    const uint64_t middle = pending(root);
    pending(middle);
    pending(middle);
    pending(999); /* that has ended */
    assert_string_equal(shape(&usual), "2(3 4(5 6)) 1 7");
    (void)alone;
    /* A lock, its holder, and who waits for the lock. */
    reset();
    const uint64_t holder = pending(0), lock = pending(0);
    pending(lock);
    room[lock - 1].holder = holder;
    assert_string_equal(shape(&usual), "1(2(3))");
    /* What it became counts before what it waits for. */
    reset();
    const uint64_t a = pending(0), b = pending(0);
    room[pending(a) - 1].became = b;
    assert_string_equal(shape(&usual), "2(3) 1");
}

TEST(test_deadlocks)
{
    /* Two tasks and two locks. */
    reset();
    const uint64_t first = pending(0), second = pending(0), x = pending(0), y = pending(0);
    room[first - 1].waits_for = y;
    room[second - 1].waits_for = x;
    room[x - 1].holder = first;
    room[y - 1].holder = second;
    const uint64_t other = pending(first);
    pending(other);
    assert_string_equal(shape(&usual), "1!(3!(2!(4!(1!@))) 5(6))");
    struct top_tree tree;
    assert_int_equal(top_tree_build(&tree, &live, &usual), 0);
    assert_int_equal(tree.deadlocks, 1);
    assert_int_equal(tree.roots, 1);
    assert_int_equal(tree.node[0].below, 5);
    assert_int_equal(tree.node[1].need, TOP_HELD);
    assert_int_equal(tree.node[2].need, TOP_WAITS);
    top_tree_fini(&tree);
    /* One that waits for itself, behind a tree that is larger. */
    reset();
    const uint64_t root = pending(0);
    pending(root);
    pending(root);
    room[pending(0) - 1].waits_for = 4;
    assert_string_equal(shape(&usual), "4!(4!@) 1(2 3)");
}

/* The oldest children stay, others are counted; what is cut is said. */
TEST(test_large)
{
    struct top_tree tree;
    reset();
    const uint64_t root = pending(0);
    for (unsigned i = 0; i < 100; i++)
        room[pending(root) - 1].created_ns = 1000 - i;
    const struct top_tree_options few = {1000, 3};
    assert_string_equal(shape(&few), "1(101 100 99 +97)");
    const struct top_tree_options cut = {3, 3};
    assert_int_equal(top_tree_build(&tree, &live, &cut), 0);
    assert_int_equal(tree.nodes, 3);
    assert_true(tree.cut);
    assert_int_equal(tree.node[0].below, 100);
    top_tree_fini(&tree);
    /* A chain that is longer than any stack would bear. */
    reset();
    for (unsigned i = 0; i < MANY; i++)
        pending(i);
    assert_int_equal(top_tree_build(&tree, &live, &(struct top_tree_options){2 * MANY, 20}), 0);
    assert_int_equal(tree.nodes, MANY);
    assert_int_equal(tree.node[MANY - 1].depth, MANY - 1);
    assert_int_equal(tree.node[0].below, MANY - 1);
    assert_false(tree.cut);
    top_tree_fini(&tree);
    /* … and as a circle. */
    room[0].waits_for = MANY;
    assert_int_equal(top_tree_build(&tree, &live, &(struct top_tree_options){2 * MANY, 20}), 0);
    assert_int_equal(tree.nodes, MANY + 1);
    assert_true(tree.node[MANY].again);
    top_tree_fini(&tree);
}

/* ---- Metrics ---- */

static struct top_process process = {.pid = 4711, .program = "ser\"ver\\", .live = &live};
static struct top_process *processes[] = {&process};
static struct top top = {.process = processes, .processes = 1};

static char *metrics(bool openmetrics)
{
    size_t size = 0;
    char *text = top_metrics(&top, openmetrics, &size);
    assert_non_null(text);
    assert_int_equal(strlen(text), size);
    return text;
}

static void has(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    if (!at || (at != text && at[-1] != '\n') || at[strlen(line)] != '\n')
        fail_msg("no line %s in\n%s", line, text);
}

#define WHO "program=\"ser\\\"ver\\\\\",pid=\"4711\""

static void begin_metrics(void)
{
    reset();
    free(process.exported);
    process.exported = NULL;
    process.exported_room = process.exported_names = 0;
}

TEST(test_metrics)
{
    begin_metrics();
    live.name[1] = "request";
    live.name[2] = "GET \"/x\"\n\\";
    live.rows = 2;
    live.row[1].type = 1;
    live.row[1].label = 2;
    live.row[1].pending = 3;
    live.row[1].failed = 2;
    fulfil(1, 5);
    live.row[1].took[LIVE_BUCKETS - 1] += 2;
    live.row[1].total_ns += 6000 * SECOND;
    live.totals.created = 10;
    live.totals.lost = 4;
    live.threads = 1;
    live.thread[0] = (struct live_thread){.is_loop = true,
                                          .name = "main",
                                          .number = 3,
                                          .busy_ns = 1500000000,
                                          .turns = 9,
                                          .since_ns = live.totals.now_ns - SECOND / 4};
    live.counters = 2;
    live.name[3] = "queued";
    live.counter[0] = (struct live_counter){.name = 3, .value = -7};
    live.counter[1] = (struct live_counter){.name = 3, .value = 5}; /* two of that name */
    char *text = metrics(true);
#define KIND WHO ",type=\"request\",label=\"GET \\\"/x\\\" \\\\\""
    has(text, "# TYPE weft_recording info");
    has(text, "weft_recording_info{" WHO "} 1");
    has(text, "# TYPE weft_events counter");
    has(text, "weft_events_total{" WHO "} 10");
    has(text, "weft_events_lost_total{" WHO "} 4");
    has(text, "weft_promises_created_total{" WHO "} 10");
    has(text, "weft_promises_pending{" KIND "} 3");
    has(text, "weft_promises_ended_total{" KIND ",outcome=\"fulfilled\"} 5");
    has(text, "weft_promises_ended_total{" KIND ",outcome=\"failed\"} 2");
    assert_null(strstr(text, "cancelled"));
    has(text, "# UNIT weft_promise_duration_seconds seconds");
    has(text, "weft_promise_duration_seconds_bucket{" KIND ",le=\"0.000262144\"} 0");
    has(text, "weft_promise_duration_seconds_bucket{" KIND ",le=\"0.001048576\"} 5");
    has(text, "weft_promise_duration_seconds_bucket{" KIND ",le=\"+Inf\"} 7");
    has(text, "weft_promise_duration_seconds_count{" KIND "} 7");
    has(text, "weft_promise_duration_seconds_sum{" KIND "} 6000.005000000");
    has(text, "weft_loop_busy_seconds_total{" WHO ",thread=\"main\",stream=\"3\"} 1.750000000");
    has(text, "weft_loop_turns_total{" WHO ",thread=\"main\",stream=\"3\"} 9");
    has(text, "weft_value{" WHO ",name=\"queued\"} -2");
    assert_string_equal(text + strlen(text) - 6, "# EOF\n");
    free(text);
    text = metrics(false);
    has(text, "# TYPE weft_events_total counter");
    has(text, "# TYPE weft_recording_info gauge");
    assert_null(strstr(text, "# UNIT"));
    assert_null(strstr(text, "# EOF"));
    free(text);
    process.ended = true;
    text = metrics(true);
    assert_null(strstr(text, "4711"));
    free(text);
    process.ended = false;
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* At most 100 kinds have series; they are the most frequent ones, and keep them. What looks alike is one. */
TEST(test_cardinality)
{
    static char names[300][16];
    begin_metrics();
    live.rows = 250;
    for (uint32_t i = 1; i < 290; i++) {
        snprintf(names[i], sizeof names[i], "kind %u", (unsigned)i);
        live.name[i] = names[i];
        live.row[i].label = i;
        live.row[i].type = 295;
        fulfil(i, i < 250 ? i : 0);
    }
    live.name[295] = "t";
    fulfil(0, 1); /* without room */
    char *text = metrics(true);
    assert_int_equal(count_of(text, "weft_promises_pending{"), 101);
    has(text, "weft_promises_ended_total{" WHO
              ",type=\"t\",label=\"kind 249\",outcome=\"fulfilled\"} 249");
    has(text, "weft_promises_ended_total{" WHO
              ",type=\"t\",label=\"kind 150\",outcome=\"fulfilled\"} 150");
    /* 1 + … + 149, and that without room */
    has(text,
        "weft_promises_ended_total{" WHO ",type=\"…\",label=\"…\",outcome=\"fulfilled\"} 11176");
    free(text);
    /* Another one becomes the most frequent: counts never go back. */
    fulfil(1, 100000);
    live.rows = 280;
    fulfil(270, 5);
    text = metrics(true);
    assert_int_equal(count_of(text, "weft_promises_pending{"), 101);
    has(text,
        "weft_promises_ended_total{" WHO ",type=\"…\",label=\"…\",outcome=\"fulfilled\"} 111181");
    free(text);
    /* Names that are equal once they are clean. */
    begin_metrics();
    live.rows = 4;
    live.name[1] = "a\tb";
    live.name[2] = "a\033b";
    live.name[3] = "…";
    for (uint32_t i = 1; i < 4; i++) {
        live.row[i].label = i;
        live.row[i].type = i == 3 ? 3 : 0;
        fulfil(i, i);
    }
    fulfil(0, 10);
    text = metrics(true);
    has(text, "weft_promises_ended_total{" WHO ",type=\"\",label=\"a b\",outcome=\"fulfilled\"} 3");
    has(text, "weft_promises_ended_total{" WHO ",type=\"…\",label=\"…\",outcome=\"fulfilled\"} 13");
    assert_int_equal(count_of(text, "weft_promises_pending{"), 2);
    free(text);
}

RUN_TESTS(NULL, NULL)
