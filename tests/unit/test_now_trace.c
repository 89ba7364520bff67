/* SPDX-License-Identifier: ISC */
/* Graphs that are made up by seed, as traces (now/trace.h): things, labels and links are all there, and what is found in
 * the trace does not contradict the graph. Real processes: ../e2e/now_trace.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyse/explain.h"
#include "now/trace.h"
#include "read/reader.h"
#include "test.h"

#define MS UINT64_C(1000000)
#define HOUR (UINT64_C(3600) * 1000 * MS)

static uint64_t seed;

static uint32_t chance(uint32_t below) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 20) % below;
}

static const char *const hows[] = {"waits for", "locks", "is held by", "awaits", "is locked by"};

static bool is_hold(const struct now_link *l)
{
    return strstr(l->how, " by") != NULL;
}

/* The moment of all graphs: long after the boot of the machine. */
static struct now *new_graph(void)
{
    struct now *n = calloc(1, sizeof *n);
    assert_non_null(n);
    n->pid = 4711;
    n->program = strdup("made up");
    n->from_ns = HOUR;
    n->to_ns = HOUR + 3 * MS;
    n->real_ns = UINT64_C(1700000000) * 1000 * MS;
    n->stopped_ns = 5000;
    return n;
}

static void add_things(struct now *n, uint32_t things)
{
    for (uint32_t i = 0; i < things; i++) {
        const enum now_kind kind = (enum now_kind)chance(NOW_KINDS);
        const uint32_t t = now_thing(n, kind, i);
        now_name(n, t, "thing %u 'name'", (unsigned)i);
        if (chance(2))
            now_state(n, t, "state %u", (unsigned)chance(3));
        if (kind == NOW_THREAD || kind == NOW_PROCESS)
            n->thing[t].start_ns = chance(3) ? HOUR - MS * chance(5000) : chance(2) ? 0 : 2 * HOUR;
        n->thing[t].runs = kind == NOW_THREAD && chance(4) == 0;
        if (chance(3) == 0)
            now_frame(n, t, "f", "f.c", 7);
    }
}

static bool is_code(const struct now *n, uint32_t thing)
{
    return n->thing[thing].kind == NOW_THREAD || n->thing[thing].kind == NOW_TASK;
}

/* As processes are: locks wait for nothing but the one that holds them, and only code waits. */
static void add_likely_link(struct now *n, bool *held)
{
    const uint32_t from = chance(n->things), to = chance(n->things);
    if (n->thing[from].kind == NOW_LOCK && is_code(n, to) && !held[from])
        now_link(n, from, to, false, "is held by");
    else if (is_code(n, from) && !n->thing[from].runs)
        now_link(n, from, to, n->thing[to].kind == NOW_DESCRIPTOR, "waits for");
    held[from] |= n->thing[from].kind == NOW_LOCK && is_code(n, to);
}

static struct now *graph(uint64_t number, bool likely)
{
    struct now *n = new_graph();
    seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    const uint32_t things = 1 + chance(12), links = chance(20);
    bool held[16] = {false};
    add_things(n, things);
    for (uint32_t i = 0; i < links; i++)
        if (likely)
            add_likely_link(n, held);
        else
            now_link(n, chance(things), chance(things), chance(3) == 0, hows[chance(5)]);
    for (uint32_t i = chance(3); i-- > 0;)
        now_remark(n, "remark %u", (unsigned)i);
    n->left_out = chance(3) == 0;
    now_finish(n);
    assert_false(n->failed);
    return n;
}

/* ---- As a trace ---- */

struct made {
    struct weft_reader *r;
    struct weft_model *m;
    struct weft_history *h;
    struct weft_findings found;
};

static void make(struct made *x, const struct now *n)
{
    struct weft_error err = {.text = ""};
    char path[32];
    const int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    const int rc = now_trace(n, fd, &err);
    if (rc < 0)
        print_message("%s\n", err.text);
    assert_int_equal(rc, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(weft_reader_open(&x->r, path, &err), 0);
    close(fd);
    assert_int_equal(weft_model_build(&x->m, x->r, NULL, NULL, &err), 0);
    assert_int_equal(weft_reader_damage(x->r)->problems, 0);
    assert_int_equal(weft_history_new(&x->h, x->m, NULL, NULL), 0);
    assert_int_equal(weft_explain(&x->found, x->h, NULL, NULL, NULL), 0);
}

static void drop(struct made *x)
{
    weft_findings_fini(&x->found);
    weft_history_free(x->h);
    weft_model_free(x->m);
    weft_reader_close(x->r);
}

static uint32_t promise_of(const struct weft_model *m, uint32_t thing)
{
    return weft_model_find(m, (uint64_t)thing + 1);
}

static const char *const types[NOW_KINDS] = {"thread",     "task",  "promise", "lock",
                                             "descriptor", "timer", "process"};

static void check_things(const struct now *n, const struct weft_model *m)
{
    assert_int_equal(m->promises - 1, n->things);
    for (uint32_t i = 0; i < n->things; i++) {
        const struct now_thing *t = &n->thing[i];
        const uint32_t p = promise_of(m, i);
        const bool dated = t->start_ns && t->start_ns < n->from_ns;
        assert_int_not_equal(p, WEFT_NONE);
        assert_string_equal(weft_model_text(m, weft_model_name(m, p), NULL), t->name);
        assert_string_equal(weft_model_type(m, p), types[t->kind]);
        assert_int_equal(m->promise[p].outcome, WEFT_PENDING);
        assert_int_equal(m->promise[p].created, dated);
        const uint64_t start = (uint64_t)m->promise[p].start_ns + m->first_ns;
        assert_int_equal(start, dated ? t->start_ns : n->from_ns);
        assert_int_equal(m->promise[p].background, t->kind == NOW_DESCRIPTOR ||
                                                       t->kind == NOW_TIMER ||
                                                       t->kind == NOW_PROCESS);
    }
}

/* ---- Links ---- */

static bool leads(const struct now *n, uint32_t from, uint32_t to)
{
    bool seen[16] = {false};
    seen[from] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < n->links; i++)
            if (seen[n->link[i].from] && !seen[n->link[i].to])
                more = seen[n->link[i].to] = true;
    }
    return seen[to];
}

static bool is_left_out(const struct now *n, const struct now_link *l)
{
    return l->any && leads(n, l->to, l->from);
}

/* How often the graph has such a wait or hold. Several links between the same things are one wait. */
static bool has_wait(const struct now *n, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < n->links; i++)
        if (n->link[i].from == from && n->link[i].to == to && !is_hold(&n->link[i]) &&
            !is_left_out(n, &n->link[i]))
            return true;
    return false;
}

static uint32_t holds(const struct now *n, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->links; i++)
        count += n->link[i].from == from && n->link[i].to == to && is_hold(&n->link[i]) &&
                 !is_left_out(n, &n->link[i]);
    return count;
}

static void check_links(const struct now *n, const struct made *x)
{
    const struct weft_model *m = x->m;
    for (uint32_t a = 0; a < n->things; a++)
        for (uint32_t b = 0; b < n->things; b++) {
            const uint32_t from = promise_of(m, a), to = promise_of(m, b);
            bool waits = false;
            uint32_t held = 0;
            for (uint32_t i = 0; i < x->h->waits; i++) {
                const struct weft_wait *w = &x->h->wait[i];
                waits |= w->reader == from && w->source == to && w->end == WEFT_WAIT_OPEN;
            }
            for (uint32_t i = 0; i < m->holds; i++)
                held += m->hold[i].resource == from && m->hold[i].holder == to &&
                        m->hold[i].released_by == WEFT_NONE;
            if (waits != has_wait(n, a, b) || held != holds(n, a, b))
                print_message("from %u to %u\n", (unsigned)a, (unsigned)b);
            assert_int_equal(waits, has_wait(n, a, b));
            assert_int_equal(held, holds(n, a, b));
        }
}

static void check_facts(const struct now *n, const struct made *x)
{
    const struct weft_outside *o = &weft_reader_facts(x->r)->process.outside;
    uint64_t links = 0, left_out = 0, truly = 0, stacks = 0;
    assert_true(o->known);
    assert_false(o->core);
    assert_int_equal(weft_reader_facts(x->r)->process.pid, n->pid);
    assert_int_equal(o->stopped_ns, n->stopped_ns);
    for (uint32_t i = 0; i < o->links; i++) {
        links += o->link[i].links;
        left_out += o->link[i].as == 'l' ? o->link[i].links : 0;
    }
    for (uint32_t i = 0; i < n->links; i++)
        truly += is_left_out(n, &n->link[i]);
    for (uint32_t i = 0; i < n->things; i++)
        stacks += n->thing[i].frames > 0;
    assert_int_equal(links, n->links);
    assert_int_equal(left_out, truly);
    assert_int_equal(o->stacks, stacks);
    assert_int_equal(o->remarks, n->remarks + (n->left_out > 0));
}

static bool has_deadlock(const struct made *x)
{
    for (uint32_t i = 0; i < x->found.count; i++)
        if (x->found.finding[i].kind == WEFT_FINDING_DEADLOCK)
            return true;
    return false;
}

static bool runs(const struct weft_model *m, uint32_t promise, const struct weft_history *h)
{
    for (uint32_t r = m->runs_ended; r < m->runs; r++)
        if (h->run_promise[r] == promise)
            return true;
    return false;
}

/* likely: then a deadlock is found wherever there is one. */
static void check_graph(const struct now *n, bool likely)
{
    struct made x = {.r = NULL};
    make(&x, n);
    check_things(n, x.m);
    check_links(n, &x);
    check_facts(n, &x);
    for (uint32_t i = 0; i < n->things; i++)
        assert_int_equal(runs(x.m, promise_of(x.m, i), x.h), n->thing[i].runs);
    for (uint32_t i = 0; i < x.found.count; i++) {
        const enum weft_finding_kind kind = x.found.finding[i].kind;
        assert_true(kind == WEFT_FINDING_DEADLOCK || kind == WEFT_FINDING_HANG_ROOT);
    }
    if (has_deadlock(&x) ? !n->cycles : n->cycles && likely)
        for (uint32_t i = 0; i < n->links; i++)
            print_message("%u %s %u\n", (unsigned)n->link[i].from, n->link[i].how,
                          (unsigned)n->link[i].to);
    assert_true(n->cycles || !has_deadlock(&x));
    assert_true(has_deadlock(&x) || !n->cycles || !likely);
    drop(&x);
}

TEST(test_made_up)
{
    enum { GRAPHS = 2000 };
    uint32_t cycles = 0;
    for (uint64_t i = 1; i <= GRAPHS; i++) {
        struct now *n = graph(i, i % 2);
        if (i % 500 == 0)
            print_message("graph %u\n", (unsigned)i);
        cycles += n->cycles && i % 2;
        check_graph(n, i % 2);
        now_free(n);
    }
    print_message("deadlocks in %u likely graphs\n", (unsigned)cycles);
    assert_in_range(cycles, GRAPHS / 20, GRAPHS);
}

/* ---- Large ones ---- */

/* As many as are looked at, each with a long name of its own, in a circle. */
TEST(test_large)
{
    enum { THINGS = 200000 };
    struct now *n = new_graph();
    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (uint32_t i = 0; i < THINGS; i++) {
        now_name(n, now_thing(n, NOW_TASK, i), "%u %s", (unsigned)i, name);
        now_link(n, i, (i + 1) % THINGS, false, "awaits");
    }
    now_finish(n);
    struct made x = {.r = NULL};
    make(&x, n);
    assert_int_equal(x.m->promises - 1, THINGS);
    assert_int_equal(x.h->waits, THINGS);
    assert_string_equal(
        weft_model_text(x.m, weft_model_name(x.m, promise_of(x.m, THINGS - 1)), NULL),
        n->thing[THINGS - 1].name);
    assert_true(has_deadlock(&x));
    drop(&x);
    now_free(n);
}

/* More threads run than become streams, and there are more remarks than there is room for in the facts. */
TEST(test_many)
{
    enum { THREADS = 1000, REMARKS = 50 };
    struct now *n = new_graph();
    for (uint32_t i = 0; i < THREADS; i++) {
        const uint32_t t = now_thing(n, NOW_THREAD, 5000 + i);
        now_name(n, t, "thread %u 'worker'", (unsigned)(5000 + i));
        n->thing[t].runs = true;
    }
    for (uint32_t i = 0; i < REMARKS; i++)
        now_remark(n, "%0300u", (unsigned)i);
    now_finish(n);
    struct made x = {.r = NULL};
    make(&x, n);
    const struct weft_reader_facts *f = weft_reader_facts(x.r);
    assert_int_equal(x.m->promises - 1, THREADS);
    assert_int_equal(f->streams, 256);
    for (uint32_t i = 0; i < f->streams; i++) {
        assert_in_range(f->stream[i].thread, 5000, 5000 + THREADS - 1);
        assert_string_equal(f->stream[i].name, "worker");
    }
    const struct weft_outside *o = &f->process.outside;
    assert_in_range(o->remarks, 3, REMARKS);
    assert_string_equal(o->remark[0],
                        "744 more threads run; in the trace that is only their label.");
    print_message("%s\n", o->remark[o->remarks - 1]);
    assert_non_null(strstr(o->remark[o->remarks - 1], "more on what could not be seen"));
    drop(&x);
    now_free(n);
}

TEST(test_nothing)
{
    struct now *n = new_graph();
    struct made x = {.r = NULL};
    now_finish(n);
    make(&x, n);
    assert_int_equal(x.m->promises - 1, 0);
    assert_int_equal(x.found.count, 0);
    drop(&x);
    now_free(n);
}

RUN_TESTS(NULL, NULL)
