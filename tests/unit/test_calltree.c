/* SPDX-License-Identifier: ISC */
/* Samples added up: whatever is asked, the parts are the whole. */
#include "packets.h"
#include "profile/build.h"
#include "profile/calltree.h"

static struct weft_profile *new_profile(void)
{
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    for (unsigned i = 0; i < 2; i++)
        weft_profile_add_source(p,
                                &(struct weft_source){.unit = i ? WEFT_UNIT_CYCLES : WEFT_UNIT_NS});
    return p;
}

static uint32_t text_of(struct weft_profile *p, const char *text)
{
    return weft_profile_add_text(p, text, (uint32_t)strlen(text));
}

/* A stack as "main;run;parse:12": of each frame the name, and the line if there is one; ';' makes a new one, '/' one that
 * is inlined into what stands before it. Equal ones have the same address. */
static uint32_t stack_of(struct weft_profile *p, const char *text)
{
    char copy[256], *frames = copy, *frame;
    uint32_t stack = 0;
    snprintf(copy, sizeof copy, "%s", text);
    while (*text && (frame = strsep(&frames, ";"))) {
        uint64_t address = 0;
        struct weft_frame in[8];
        uint32_t count = 0;
        for (const char *c = frame; *c; c++)
            address = address * 31 + (uint8_t)*c;
        char *part, *parts = frame;
        while ((part = strsep(&parts, "/"))) {
            char *line = strchr(part, ':');
            if (line)
                *line++ = 0;
            struct weft_function f = {.name = text_of(p, part), .file = text_of(p, "a.c")};
            memmove(in + 1, in, count++ * sizeof *in);
            in[0] = (struct weft_frame){weft_profile_add_function(p, &f),
                                        line ? (uint32_t)atoi(line) : 0};
        }
        stack = weft_profile_push(p, stack, 1, address, 0, 1);
        assert_int_equal(weft_profile_resolve(p, p->stack[stack].location, in, count), 0);
    }
    return stack;
}

static void add(struct weft_profile *p, const char *stack, uint64_t time_ns, uint64_t value,
                uint32_t thread, uint32_t core, uint32_t source)
{
    struct weft_sample s = {.time_ns = time_ns,
                            .value = value,
                            .stack = stack_of(p, stack),
                            .thread = weft_profile_add_thread(p, 1, thread, text_of(p, "t")),
                            .core = core,
                            .source = source};
    assert_int_equal(weft_profile_add_sample(p, &s), 0);
}

static void away(struct weft_profile *p, const char *stack, uint64_t from_ns, uint64_t to_ns,
                 bool preempted)
{
    struct weft_sample a = {.time_ns = from_ns,
                            .value = to_ns - from_ns,
                            .stack = stack_of(p, stack),
                            .thread = weft_profile_add_thread(p, 1, 1, WEFT_NONE),
                            .preempted = preempted};
    assert_int_equal(weft_profile_add_absence(p, &a), 0);
}

/* "main 30/0 run 30/10": each call, total and self, after its caller, in order. */
static void print_tree(const struct weft_profile *p, const struct weft_calltree *t, char *out,
                       size_t room)
{
    *out = 0;
    for (uint32_t at = t->call[0].first_child; at != WEFT_NONE && at != 0;) {
        const struct weft_call *c = &t->call[at];
        snprintf(out + strlen(out), room - strlen(out), "%s%u:%s %u/%u", *out ? " " : "", c->depth,
                 weft_profile_text(p, c->frame.text), (unsigned)c->total, (unsigned)c->self);
        if (c->first_child != WEFT_NONE) {
            at = c->first_child;
            continue;
        }
        while (at != 0 && t->call[at].next_sibling == WEFT_NONE)
            at = t->call[at].parent;
        at = at ? t->call[at].next_sibling : 0;
    }
}

static void expect_tree(struct weft_profile *p, const struct weft_calltree_options *o,
                        const char *wanted)
{
    struct weft_calltree *t;
    char text[1024];
    assert_int_equal(weft_calltree_make(&t, p, o), 0);
    print_tree(p, t, text, sizeof text);
    weft_calltree_free(t);
    assert_string_equal(text, wanted);
}

static void expect_list(struct weft_profile *p, const struct weft_calltree_options *o,
                        const char *wanted)
{
    struct weft_profile_list *l;
    char text[1024] = "";
    assert_int_equal(weft_profile_list_make(&l, p, o), 0);
    for (uint32_t i = 0; i < l->rows; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %u/%u", i ? " " : "",
                 weft_profile_text(p, l->row[i].frame.text), (unsigned)l->row[i].total,
                 (unsigned)l->row[i].self);
    weft_profile_list_free(l);
    assert_string_equal(text, wanted);
}

static const struct weft_calltree_options all = WEFT_CALLTREE_ALL;

TEST(test_tree_and_list)
{
    struct weft_profile *p = new_profile();
    add(p, "main;parse", 1, 10, 1, 0, 0);
    add(p, "main;write", 2, 20, 1, 0, 0);
    add(p, "main;parse", 3, 15, 1, 0, 0);
    add(p, "main", 4, 1, 1, 0, 0);
    add(p, "start;parse", 5, 2, 1, 0, 0);
    add(p, "", 6, 3, 1, 0, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    expect_tree(p, &all,
                "1:main 46/1 2:parse 25/25 2:write 20/20 1:(no stack) 3/3 1:start 2/0 2:parse 2/2");
    expect_list(p, &all, "parse 27/27 write 20/20 (no stack) 3/3 main 46/1 start 2/0");
    weft_profile_free(p);
}

TEST(test_recursion)
{
    struct weft_profile *p = new_profile();
    add(p, "main;f;g;f;g;f", 1, 10, 1, 0, 0);
    add(p, "main;f/f;g", 1, 5, 1, 0, 0); /* inlined into itself */
    assert_int_equal(weft_profile_finish(p), 0);
    expect_list(p, &all, "f 15/10 g 15/5 main 15/0");
    expect_tree(p, &all,
                "1:main 15/0 2:f 15/0 3:g 10/0 4:f 10/0 5:g 10/0 6:f 10/10 3:f 5/0 4:g 5/5");
    weft_profile_free(p);
}

/* A function whose body comes from two files is one; another one of the same name leaves open which it is. */
TEST(test_spread)
{
    struct weft_profile *p = new_profile();
    for (uint32_t i = 0; i < 3; i++) {
        struct weft_function f = {.name = text_of(p, "f"),
                                  .system_name = text_of(p, i == 2 ? "f2" : "f1"),
                                  .file = text_of(p, i ? "b.h" : "a.c"),
                                  .start_line = 7};
        struct weft_frame frame = {weft_profile_add_function(p, &f), 10 + i};
        struct weft_sample s = {.value = 10,
                                .stack = weft_profile_push(p, 0, 1, 0x1000 + i, 0, 1),
                                .thread = weft_profile_add_thread(p, 1, 1, WEFT_NONE)};
        assert_int_equal(weft_profile_resolve(p, p->stack[s.stack].location, &frame, 1), 0);
        assert_int_equal(weft_profile_add_sample(p, &s), 0);
        assert_int_equal(weft_profile_finish(p), 0);
        struct weft_profile_list *l;
        assert_int_equal(weft_profile_list_make(&l, p, &all), 0);
        assert_int_equal(l->rows, 1);
        assert_int_equal(l->row[0].self, 10 * (i + 1));
        assert_int_equal(l->row[0].frame.function, i == 2 ? WEFT_NONE : 0);
        assert_int_equal(l->row[0].frame.line, i ? 0 : 10);
        weft_profile_list_free(l);
    }
    weft_profile_free(p);
}

TEST(test_lines)
{
    struct weft_profile *p = new_profile();
    struct weft_calltree_options o = all;
    o.by = WEFT_PROFILE_BY_LINE;
    add(p, "main:5;parse:10", 1, 10, 1, 0, 0);
    add(p, "main:5;parse:11", 1, 20, 1, 0, 0);
    add(p, "main:6;parse:11", 1, 30, 1, 0, 0);
    add(p, "main:6;memcpy", 1, 5, 1, 0, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    expect_list(p, &o, "a.c:11 50/50 a.c:10 10/10 memcpy 5/5 a.c:6 35/0 a.c:5 30/0");
    expect_tree(
        p, &o,
        "1:a.c:6 35/0 2:a.c:11 30/30 2:memcpy 5/5 1:a.c:5 30/0 2:a.c:11 20/20 2:a.c:10 10/10");
    weft_profile_free(p);
}

static void map(struct weft_profile *p, uint32_t process, uint64_t start, const char *path)
{
    struct weft_mapping m = {.process = process,
                             .path = text_of(p, path),
                             .start = start,
                             .size = 0x1000,
                             .kernel = process == UINT32_MAX};
    assert_int_not_equal(weft_profile_add_mapping(p, &m), WEFT_NONE);
}

/* At an address, called from 0x1000; of the kernel if it is above 0xf000. */
static void add_at(struct weft_profile *p, uint64_t address, uint64_t value, uint32_t process,
                   uint32_t thread)
{
    const bool kernel = address > 0xf000;
    const uint32_t caller = weft_profile_push(p, 0, process, 0x1000, WEFT_NODE_CALLER, 1);
    struct weft_sample s = {.time_ns = 10,
                            .value = value,
                            .stack = address ? weft_profile_push(p, caller, process, address,
                                                                 kernel ? WEFT_NODE_KERNEL : 0, 1)
                                             : 0,
                            .thread = weft_profile_add_thread(p, process, thread, WEFT_NONE),
                            .flags = kernel ? WEFT_SAMPLE_IN_KERNEL : 0};
    assert_int_equal(weft_profile_add_sample(p, &s), 0);
}

TEST(test_objects_and_processes)
{
    struct weft_profile *p = new_profile();
    struct weft_calltree_options o = all;
    map(p, 5, 0x1000, "/bin/main");
    map(p, 6, 0x1000, "/bin/other");
    map(p, 5, 0x2000, "/lib/c");
    map(p, 6, 0x2000, "/lib/c");
    map(p, UINT32_MAX, 0x10000, "[net]");
    weft_profile_add_thread(p, 5, 51, text_of(p, "worker"));
    weft_profile_add_thread(p, 5, 5, text_of(p, "server"));
    add_at(p, 0x2010, 1, 5, 5);
    add_at(p, 0x2020, 2, 5, 51);
    add_at(p, 0x1020, 4, 6, 61); /* whose first thread is not known */
    add_at(p, 0x2020, 8, 6, 62);
    add_at(p, 0x10020, 16, 5, 51);
    add_at(p, 0xff020, 32, 5, 51);
    add_at(p, 0x7020, 64, 5, 51);
    add_at(p, 0, 128, UINT32_MAX, UINT32_MAX);
    assert_int_equal(weft_profile_finish(p), 0);
    o.by = WEFT_PROFILE_BY_OBJECT;
    expect_list(p, &o,
                "(no stack) 128/128 (file not known) 64/64 [kernel] 32/32 [net] 16/16 "
                "/lib/c 11/11 /bin/other 4/4");
    o.where = WEFT_PROFILE_IN_KERNEL;
    expect_list(p, &o, "[kernel] 32/32 [net] 16/16");
    o.by = WEFT_PROFILE_BY_PROCESS;
    expect_list(p, &o, "server 5 48/48");
    o.where = WEFT_PROFILE_IN_USER;
    expect_list(p, &o, "(process not known) 128/128 server 5 67/67 process 6 12/12");
    o.thread = 0;
    expect_list(p, &o, "server 5 66/66");
    weft_profile_free(p);
}

TEST(test_groups_and_filters)
{
    struct weft_profile *p = new_profile();
    struct weft_calltree_options o = all;
    add(p, "main;f", 10, 10, 1, 0, 0);
    add(p, "main;g", 20, 20, 2, 1, 0);
    add(p, "main;g", 30, 5, 2, UINT32_MAX, 0);
    add(p, "main;g", 30, 7, 2, 1, 1); /* another source */
    assert_int_equal(weft_profile_finish(p), 0);
    o.by = WEFT_PROFILE_BY_THREAD;
    expect_list(p, &o, "t 2 25/25 t 1 10/10");
    expect_tree(p, &o, "1:t 2 25/0 2:main 25/0 3:g 25/25 1:t 1 10/0 2:main 10/0 3:f 10/10");
    o.by = WEFT_PROFILE_BY_CORE;
    expect_list(p, &o, "core 1 20/20 core 0 10/10 (core not known) 5/5");
    o.by = WEFT_PROFILE_BY_FUNCTION;
    o.source = 1;
    expect_list(p, &o, "g 7/7 main 7/0");
    o = all;
    o.thread = 0;
    expect_list(p, &o, "f 10/10 main 10/0");
    o = all;
    o.from_ns = 10;
    o.to_ns = 30;
    expect_list(p, &o, "g 20/20 f 10/10 main 30/0");
    o.to_ns = 10;
    expect_list(p, &o, "");
    weft_profile_free(p);
}

TEST(test_off_cpu)
{
    struct weft_profile *p = new_profile();
    struct weft_calltree_options o = all;
    o.off_cpu = true;
    away(p, "main;read", 100, 200, false);
    away(p, "main;burn", 210, 215, true);
    away(p, "", 300, 340, false);
    away(p, "main;read", 400, 410, false);
    assert_int_equal(weft_profile_finish(p), 0);
    expect_list(p, &o, "read 110/110 (waiting) 40/40 (preempted) 5/5 main 115/0 burn 5/0");
    expect_tree(p, &o,
                "1:main 115/0 2:read 110/110 2:burn 5/0 3:(preempted) 5/5 1:(waiting) 40/40");
    o.from_ns = 150;
    o.to_ns = 405;
    expect_list(p, &o, "read 55/55 (waiting) 40/40 (preempted) 5/5 main 60/0 burn 5/0");
    weft_profile_free(p);
}

/* ---- Whatever is asked ---- */

static uint64_t x = 1;

static uint32_t any(uint32_t below)
{
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return (uint32_t)(x >> 20) % below;
}

static void check_tree(const struct weft_calltree *t, uint64_t total, uint64_t samples)
{
    uint64_t self = 0;
    for (uint32_t i = 0; i < t->calls; i++) {
        const struct weft_call *c = &t->call[i];
        uint64_t children = 0, counted = 0, last = UINT64_MAX;
        self += c->self;
        for (uint32_t k = c->first_child; k != WEFT_NONE; k = t->call[k].next_sibling) {
            assert_int_equal(t->call[k].parent, i);
            assert_true(k > i);
            assert_true(t->call[k].total <= last);
            last = t->call[k].total;
            children += t->call[k].total;
            counted += t->call[k].samples;
            assert_int_equal(t->call[k].depth, c->depth + 1);
        }
        assert_int_equal(c->total, c->self + children);
        assert_true(counted <= c->samples);
        assert_true(c->depth <= t->depth);
    }
    assert_int_equal(self, total);
    assert_int_equal(t->call[0].total, total);
    assert_int_equal(t->call[0].samples, samples);
    assert_int_equal(t->total, total);
    assert_int_equal(t->samples, samples);
}

static void check_list(const struct weft_profile_list *l, uint64_t total, uint64_t samples)
{
    uint64_t self = 0, counted = 0;
    for (uint32_t i = 0; i < l->rows; i++) {
        self += l->row[i].self;
        counted += l->row[i].samples;
        assert_true(l->row[i].total >= l->row[i].self && l->row[i].total <= total);
        assert_true(i == 0 || l->row[i].self <= l->row[i - 1].self);
    }
    assert_int_equal(self, total);
    assert_int_equal(counted, samples);
    assert_int_equal(l->total, total);
}

TEST(test_sums_at_random)
{
    for (unsigned round = 0; round < 60; round++) {
        struct weft_profile *p = new_profile();
        uint64_t total = 0, off = 0;
        uint32_t samples = any(300), absences = any(100);
        for (uint32_t i = 0; i < samples; i++) {
            char stack[128] = "";
            for (uint32_t depth = any(8); depth; depth--)
                snprintf(stack + strlen(stack), sizeof stack - strlen(stack), "%sf%u%s",
                         *stack ? ";" : "", any(5), any(4) ? "" : "/in:7");
            uint64_t value = any(1000);
            total += value;
            add(p, stack, any(1000), value, any(4), any(3), 0);
        }
        for (uint32_t i = 0; i < absences; i++) {
            uint64_t from = any(1000), size = any(100);
            off += size;
            away(p, any(2) ? "f1;f2" : "", from, from + size, any(2));
        }
        assert_int_equal(weft_profile_finish(p), 0);
        static const enum weft_profile_by by[] = {
            WEFT_PROFILE_BY_FUNCTION, WEFT_PROFILE_BY_LINE,   WEFT_PROFILE_BY_THREAD,
            WEFT_PROFILE_BY_CORE,     WEFT_PROFILE_BY_OBJECT, WEFT_PROFILE_BY_PROCESS};
        for (unsigned i = 0; i < 2 * COUNT(by); i++) {
            struct weft_calltree_options o = all;
            struct weft_calltree *t;
            struct weft_profile_list *l;
            o.by = by[i / 2];
            o.off_cpu = i % 2;
            assert_int_equal(weft_calltree_make(&t, p, &o), 0);
            assert_int_equal(weft_profile_list_make(&l, p, &o), 0);
            check_tree(t, i % 2 ? off : total, i % 2 ? absences : samples);
            check_list(l, i % 2 ? off : total, i % 2 ? absences : samples);
            weft_calltree_free(t);
            weft_profile_list_free(l);
        }
        weft_profile_free(p);
    }
}

/* What would run over is left out in the same way everywhere. */
TEST(test_too_much)
{
    struct weft_profile *p = new_profile();
    add(p, "main;f", 1, UINT64_MAX - 5, 1, 0, 0);
    add(p, "main;g", 2, UINT64_MAX, 1, 0, 0);
    add(p, "main;h", 3, 7, 1, 0, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    struct weft_calltree *t;
    struct weft_profile_list *l;
    assert_int_equal(weft_calltree_make(&t, p, &all), 0);
    assert_int_equal(weft_profile_list_make(&l, p, &all), 0);
    check_tree(t, UINT64_MAX, 3);
    check_list(l, UINT64_MAX, 3);
    weft_calltree_free(t);
    weft_profile_list_free(l);
    weft_profile_free(p);
}

/* What has no place any more counts to its callers, or to what they are a group of. */
TEST(test_too_many)
{
    struct weft_profile *p = new_profile();
    struct weft_calltree_options o = all;
    struct weft_calltree *t;
    char text[256];
    add(p, "main;f;g", 1, 1, 1, 0, 0);
    add(p, "main;f;h", 2, 10, 1, 0, 0);
    add(p, "main;f;g", 3, 100, 1, 0, 0);
    add(p, "other;f", 4, 1000, 1, 0, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    o.calls_max = 4;
    assert_int_equal(weft_calltree_make(&t, p, &o), 0);
    print_tree(p, t, text, sizeof text);
    assert_string_equal(text, "1:main 111/0 2:f 111/10 3:g 101/101");
    assert_true(t->calls == 4 && t->cut == 2);
    assert_true(t->call[0].self == 1000 && t->call[0].total == 1111);
    weft_calltree_free(t);
    o.calls_max = 1;
    o.by = WEFT_PROFILE_BY_THREAD;
    assert_int_equal(weft_calltree_make(&t, p, &o), 0);
    assert_true(t->calls == 1 && t->cut == 4 && t->call[0].self == 1111);
    weft_calltree_free(t);
    weft_profile_free(p);
}

TEST(test_nothing)
{
    struct weft_profile *p = weft_profile_new();
    assert_int_equal(weft_profile_finish(p), 0);
    expect_tree(p, &all, "");
    expect_list(p, &all, "");
    weft_profile_free(p);
}

/* ---- Beside each other ---- */

TEST(test_compare)
{
    struct weft_profile *a = new_profile(), *b = new_profile();
    text_of(b, "other numbers");
    add(a, "main;f", 1, 30, 1, 0, 0);
    add(a, "main;g", 1, 10, 1, 0, 0);
    add(b, "main;g", 1, 40, 1, 0, 0);
    add(b, "main;h;f", 1, 40, 1, 0, 0);
    assert_int_equal(weft_profile_finish(a), 0);
    assert_int_equal(weft_profile_finish(b), 0);
    struct weft_calltree *before, *after;
    struct weft_profile_list *old, *new;
    struct weft_profile_deltas *d;
    struct weft_call_before *was;
    assert_int_equal(weft_calltree_make(&before, a, &all), 0);
    assert_int_equal(weft_calltree_make(&after, b, &all), 0);
    assert_int_equal(weft_profile_list_make(&old, a, &all), 0);
    assert_int_equal(weft_profile_list_make(&new, b, &all), 0);
    assert_int_equal(weft_profile_compare(&d, a, old, b, new), 0);
    assert_int_equal(d->rows, 4);
    assert_string_equal(d->row[0].text, "f");
    assert_int_equal(d->row[0].before_self, 30);
    assert_int_equal(d->row[0].after_self, 40);
    assert_true(d->row[0].self_share > -0.2501 && d->row[0].self_share < -0.2499);
    assert_string_equal(d->row[1].text, "g");
    assert_true(d->row[1].self_share > 0.2499 && d->row[1].self_share < 0.2501);
    assert_string_equal(d->row[2].text, "h");
    assert_int_equal(d->row[2].before_row, WEFT_NONE);
    assert_string_equal(d->row[3].text, "main");
    assert_int_equal(weft_calltree_compare(&was, a, before, b, after), 0);
    assert_int_equal(was[0].total, 40);
    for (uint32_t i = 1; i < after->calls; i++) {
        const char *name = weft_profile_text(b, after->call[i].frame.text);
        uint32_t depth = after->call[i].depth;
        uint64_t wanted = !strcmp(name, "main") ? 40 : !strcmp(name, "g") ? 10 : 0;
        assert_true(depth < 4);
        assert_int_equal(was[i].total, wanted);
    }
    free(was);
    weft_profile_deltas_free(d);
    weft_calltree_free(before);
    weft_calltree_free(after);
    weft_profile_list_free(old);
    weft_profile_list_free(new);
    weft_profile_free(a);
    weft_profile_free(b);
}

RUN_TESTS(NULL, NULL)
