/* SPDX-License-Identifier: ISC */
/* Profiles: how they are filled, which mapping an address lies in, and packets of samples, sound and damaged. */
#include <inttypes.h>

#include "allocations.h"
#include "model/strings.h"
#include "profile/calltree.h"
#include "profile/join.h"
#include "profile/build.h"
#include "read/snapshot.h"
#include "samples.h"

/* ---- Filling ---- */

static struct weft_profile *new_profile(void)
{
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    return p;
}

static uint32_t text_of(struct weft_profile *p, const char *text)
{
    return weft_profile_add_text(p, text, (uint32_t)strlen(text));
}

static uint32_t map(struct weft_profile *p, uint32_t process, uint64_t from, const char *path,
                    uint64_t start, uint64_t size, uint64_t offset)
{
    struct weft_mapping m = {.process = process,
                             .path = text_of(p, path),
                             .start = start,
                             .size = size,
                             .offset = offset,
                             .from_ns = from};
    return weft_profile_add_mapping(p, &m);
}

/* A location by itself. */
static uint32_t locate(struct weft_profile *p, uint32_t process, uint64_t address, uint8_t flags,
                       uint64_t time_ns)
{
    uint32_t stack = weft_profile_push(p, 0, process, address, flags, time_ns);
    assert_int_not_equal(stack, WEFT_NONE);
    return p->stack[stack].location;
}

TEST(test_equal_is_kept_once)
{
    struct weft_profile *p = new_profile();
    assert_string_equal(weft_profile_text(p, 0), "");
    uint32_t f = weft_profile_add_function(p, &(struct weft_function){.name = text_of(p, "f")});
    assert_int_equal(f, weft_profile_add_function(p, &(struct weft_function){.name = 1}));
    assert_int_not_equal(
        f, weft_profile_add_function(p, &(struct weft_function){.name = 1, .start_line = 5}));
    uint32_t a = weft_profile_push(p, 0, 7, 0x1000, 0, 50),
             b = weft_profile_push(p, a, 7, 0x2000, 0, 50);
    assert_int_equal(a, weft_profile_push(p, 0, 7, 0x1000, 0, 90));
    assert_int_equal(b, weft_profile_push(p, a, 7, 0x2000, 0, 10));
    assert_int_equal(p->locations, 2);
    assert_int_not_equal(a, weft_profile_push(p, 0, 8, 0x1000, 0, 50));
    assert_int_not_equal(a, weft_profile_push(p, 0, 7, 0x1000, WEFT_NODE_CALLER, 50));
    uint32_t k = weft_profile_push(p, a, 7, 0xffff1000, WEFT_NODE_KERNEL, 50);
    assert_int_equal(p->location[p->stack[k].location].process, UINT32_MAX);
    assert_int_equal(
        p->stack[weft_profile_push(p, a, 8, 0xffff1000, WEFT_NODE_KERNEL, 50)].location,
        p->stack[k].location);
    uint32_t t = weft_profile_add_thread(p, 7, 9, text_of(p, "old"));
    assert_int_equal(t, weft_profile_add_thread(p, 7, 9, WEFT_NONE));
    assert_string_equal(weft_profile_text(p, p->thread[t].name), "old");
    weft_profile_add_thread(p, 7, 9, text_of(p, "new"));
    assert_string_equal(weft_profile_text(p, p->thread[t].name), "new");
    assert_int_not_equal(t, weft_profile_add_thread(p, 8, 9, WEFT_NONE));
    weft_profile_free(p);
}

TEST(test_many)
{
    struct weft_profile *p = new_profile();
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 20000; i++)
            assert_int_equal(weft_profile_push(p, 0, 1, i * 16, 0, 5), i + 1);
        assert_int_equal(weft_profile_finish(p), 0); /* drops the tables, which are made again */
    }
    assert_int_equal(p->stacks, 20001);
    uint32_t deep = 0;
    for (unsigned i = 0; i < 5000; i++)
        deep = weft_profile_push(p, deep, 1, 8 + 16 * i, 0, 5);
    unsigned depth = 0;
    for (; deep; deep = p->stack[deep].parent)
        depth++;
    assert_int_equal(depth, 4096);
    weft_profile_free(p);
}

static void add_sample(struct weft_profile *p, uint64_t time_ns)
{
    struct weft_sample s = {.time_ns = time_ns, .value = p->samples};
    assert_int_equal(weft_profile_add_sample(p, &s), 0);
}

TEST(test_order)
{
    struct weft_profile *p = new_profile();
    uint32_t x = 12345;
    weft_profile_add_thread(p, 1, 1, WEFT_NONE);
    weft_profile_add_source(p, &(struct weft_source){.name = 0});
    for (unsigned i = 0; i < 3000; i++)
        add_sample(p, 1000 + i / 3 * 3);
    for (unsigned i = 0; i < 3000; i++)
        add_sample(p, 500 + i);
    for (unsigned i = 0; i < 1000; i++)
        add_sample(p, (x = x * 1664525 + 1013904223) % 5000);
    add_sample(p, 0);
    assert_int_equal(weft_profile_finish(p), 0);
    for (uint32_t i = 1; i < p->samples; i++) {
        const struct weft_sample *a = &p->sample[i - 1], *b = &p->sample[i];
        assert_true(a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->value < b->value));
    }
    assert_int_equal(p->first_ns, 0);
    assert_int_equal(p->last_ns, p->sample[p->samples - 1].time_ns);
    weft_profile_free(p);
}

/* ---- Mappings ---- */

#define IN(p, of) (p)->location[of].mapping

TEST(test_mappings)
{
    struct weft_profile *p = new_profile();
    uint32_t program = map(p, 7, 100, "/bin/a", 0x1000, 0x1000, 0);
    uint32_t library = map(p, 7, 200, "/lib/b", 0x5000, 0x3000, 0x800);
    uint32_t over = map(p, 7, 300, "/lib/c", 0x6000, 0x1000, 0);
    uint32_t all = map(p, UINT32_MAX, 0, "/all", 0x20000, 0x1000, 0);
    uint32_t other = map(p, 8, 0, "/bin/o", 0x1000, 0x1000, 0);
    uint32_t in_program = locate(p, 7, 0x1800, 0, 150), late = locate(p, 7, 0x5100, 0, 150);
    uint32_t before = locate(p, 7, 0x6100, 0, 250), after = locate(p, 7, 0x6200, 0, 350);
    uint32_t beyond = locate(p, 7, 0x7100, 0, 350), end = locate(p, 7, 0x2000, 0, 350);
    uint32_t common = locate(p, 7, 0x20010, 0, 350), nowhere = locate(p, 9, 0x1800, 0, 350);
    uint32_t others = locate(p, 8, 0x1800, 0, 1), unknown = locate(p, UINT32_MAX, 0x20020, 0, 1);
    for (unsigned round = 0; round < 2; round++) { /* again gives the same */
        assert_int_equal(weft_profile_finish(p), 0);
        assert_int_equal(IN(p, in_program), program);
        assert_int_equal(IN(p, late), library); /* told a little late */
        assert_int_equal(IN(p, before), library);
        assert_int_equal(IN(p, after), over);
        assert_int_equal(IN(p, beyond), library);
        assert_int_equal(IN(p, end), WEFT_NONE);
        assert_int_equal(IN(p, common), all);
        assert_int_equal(IN(p, nowhere), WEFT_NONE);
        assert_int_equal(IN(p, others), other);
        assert_int_equal(IN(p, unknown), all);
    }
    assert_true(p->mapping[library].to_ns == UINT64_MAX); /* its beginning is still there */
    weft_profile_free(p);
}

TEST(test_programs)
{
    struct weft_profile *p = new_profile();
    uint32_t shell = map(p, 7, 100, "/bin/sh", 0x1000, 0x1000, 0);
    uint32_t before = locate(p, 7, 0x1800, 0, 150);
    assert_int_equal(weft_profile_fork(p, 8, 7, 200), 0);
    uint32_t child = locate(p, 8, 0x1800, 0, 210);
    assert_int_equal(weft_profile_fork(p, 9, 8, 220), 0);
    uint32_t grandchild = locate(p, 9, 0x1800, 0, 230);
    weft_profile_exec(p, 8, 300);
    uint32_t program = map(p, 8, 310, "/bin/ls", 0x1000, 0x1000, 0);
    uint32_t started = locate(p, 8, 0x1800, 0, 320);
    uint32_t lost = locate(p, 8, 0x5000, 0, 320);
    weft_profile_exec(p, 7, 400);
    uint32_t next = map(p, 7, 410, "/bin/next", 0x1000, 0x1000, 0);
    uint32_t after = locate(p, 7, 0x1900, 0, 420), still = locate(p, 9, 0x1900, 0, 500);
    assert_int_not_equal(child, started); /* not one location */
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(IN(p, before), shell);
    assert_int_equal(IN(p, child), shell);
    assert_int_equal(IN(p, grandchild), shell);
    assert_int_equal(IN(p, started), program);
    assert_int_equal(IN(p, lost), WEFT_NONE);
    assert_int_equal(IN(p, after), next);
    assert_int_equal(IN(p, still), shell);
    assert_int_equal(p->mapping[shell].to_ns, 400);
    weft_profile_free(p);
}

/* Against the simplest way to say it. */
TEST(test_mappings_at_random)
{
    uint32_t x = 99;
    for (unsigned round = 0; round < 200; round++) {
        struct weft_profile *p = new_profile();
        uint64_t start[60], end[60], from[60], address[60], when[60];
        uint32_t location[60];
        for (unsigned i = 0; i < 60; i++) {
            start[i] = (x = x * 1664525 + 1013904223) >> 24;
            end[i] = start[i] + ((x = x * 1664525 + 1013904223) >> 25);
            from[i] = (x = x * 1664525 + 1013904223) >> 26;
            assert_int_equal(map(p, 1, from[i], "/a", start[i], end[i] - start[i], 0), i);
        }
        for (unsigned i = 0; i < 60; i++) {
            address[i] = i * 5 + round % 5;
            when[i] = (x = x * 1664525 + 1013904223) >> 26;
            location[i] = locate(p, 1, address[i], 0, when[i]);
        }
        assert_int_equal(weft_profile_finish(p), 0);
        for (unsigned i = 0; i < 60; i++) {
            uint32_t wanted = WEFT_NONE, later = WEFT_NONE;
            for (uint32_t m = 0; m < 60; m++) {
                if (address[i] < start[m] || address[i] >= end[m])
                    continue;
                if (from[m] <= when[i] && (wanted == WEFT_NONE || from[m] >= from[wanted]))
                    wanted = m;
                if (from[m] > when[i] && (later == WEFT_NONE || from[m] < from[later]))
                    later = m;
            }
            assert_int_equal(IN(p, location[i]), wanted == WEFT_NONE ? later : wanted);
        }
        weft_profile_free(p);
    }
}

TEST(test_odd_mappings)
{
    struct weft_profile *p = new_profile();
    map(p, 1, 5, "/empty", 0x1000, 0, 0);
    uint32_t high = map(p, 1, 5, "/high", UINT64_MAX - 10, UINT64_MAX, 0);
    uint32_t all = map(p, 1, 1, "/all", 0, UINT64_MAX, 0);
    uint32_t a = locate(p, 1, 0x1000, 0, 6), b = locate(p, 1, UINT64_MAX - 5, 0, 6);
    assert_int_equal(weft_profile_fork(p, 3, 4, 5), 0); /* two that have each other as parent */
    assert_int_equal(weft_profile_fork(p, 4, 3, 5), 0);
    uint32_t c = locate(p, 3, 0x1000, 0, 6), d = locate(p, 9, 0, 0, 0);
    assert_int_equal(weft_profile_fork(p, 5, 5, 5), 0);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_int_equal(IN(p, a), all);
    assert_int_equal(IN(p, b), high);
    assert_int_equal(IN(p, c), WEFT_NONE);
    assert_int_equal(IN(p, d), WEFT_NONE);
    weft_profile_free(p);
}

/* ---- Symbols ---- */

static const char *name_of(const struct weft_profile *p, uint32_t location)
{
    const struct weft_location *l = &p->location[location];
    if (!l->resolved)
        return "?";
    return l->frames ? weft_profile_text(p, p->function[p->frame[l->first_frame].function].name)
                     : "nothing";
}

static struct weft_frame frame_of(struct weft_profile *p, const char *name)
{
    struct weft_function f = {.name = text_of(p, name)};
    return (struct weft_frame){weft_profile_add_function(p, &f), 12};
}

TEST(test_symbols)
{
    struct weft_profile *p = new_profile();
    struct weft_mapping object = {.process = UINT32_MAX, .path = text_of(p, "/lib/a")};
    struct weft_mapping kernel = {
        .process = UINT32_MAX, .path = text_of(p, "[kernel]"), .kernel = true};
    struct weft_mapping jit = {.process = 7, .path = text_of(p, "//anon")};
    struct weft_mapping other = object;
    other.build_id_bytes = 2;
    map(p, 7, 1, "/lib/a", 0x7000, 0x1000, 0x200);
    map(p, 7, 1, "//anon", 0x9000, 0x1000, 0);
    map(p, 8, 1, "//anon", 0x9000, 0x1000, 0);
    kernel.start = 0xf000;
    kernel.size = 0x1000;
    weft_profile_add_mapping(p, &kernel);
    uint32_t leaf = locate(p, 7, 0x7100, 0, 5), caller = locate(p, 7, 0x7100, WEFT_NODE_CALLER, 5);
    uint32_t in_kernel = locate(p, 7, 0xf100, WEFT_NODE_KERNEL, 5);
    uint32_t made = locate(p, 7, 0x9100, 0, 5), not_made = locate(p, 8, 0x9100, 0, 5);
    uint32_t unknown = locate(p, 7, 0x7200, 0, 5), nothing = locate(p, 7, 0x7300, 0, 5);
    struct weft_frame at = frame_of(p, "at"), before = frame_of(p, "before"), k = frame_of(p, "k"),
                      j = frame_of(p, "j"), no = frame_of(p, "no");
    assert_int_equal(weft_profile_add_symbol(p, &object, 0x300, &no, 1), 0);
    assert_int_equal(weft_profile_add_symbol(p, &object, 0x300, &at, 1), 0); /* replaces */
    assert_int_equal(weft_profile_add_symbol(p, &object, 0x2ff, &before, 1), 0);
    assert_int_equal(weft_profile_add_symbol(p, &other, 0x400, &no, 1), 0);
    assert_int_equal(weft_profile_add_symbol(p, &object, 0x500, NULL, 0), 0);
    assert_int_equal(weft_profile_add_symbol(p, &kernel, 0xf100, &k, 1), 0);
    assert_int_equal(weft_profile_add_symbol(p, &jit, 0x9100, &j, 1), 0);
    assert_int_equal(weft_profile_finish(p), 0);
    assert_string_equal(name_of(p, leaf), "at");
    assert_string_equal(name_of(p, caller), "before");
    assert_string_equal(name_of(p, in_kernel), "k");
    assert_string_equal(name_of(p, made), "j");
    assert_string_equal(name_of(p, not_made), "?");
    assert_string_equal(name_of(p, unknown), "?");
    assert_string_equal(name_of(p, nothing), "?"); /* may be found here */
    assert_int_equal(weft_profile_symbol_offset(p, caller), 0x2ff);
    assert_int_equal(weft_profile_resolve(p, leaf, &k, 1), 0);
    assert_string_equal(name_of(p, leaf), "k");
    assert_string_equal(name_of(p, caller), "before");
    weft_profile_free(p);
}

/* ---- Packets ---- */

/* One of everything, in two packets. */
static void put_all(struct trace *t)
{
    samples_begin(t, 1);
    uint32_t clock = put_text(t, "cpu-clock"), program = put_text(t, "/bin/a");
    uint32_t name = put_text(t, "worker"), f = put_text(t, "main"), g = put_text(t, "burn");
    uint32_t kernel = put_text(t, "[kernel]"), file = put_text(t, "a.c");
    put_source(t, clock, WEFT_UNIT_NS);
    put_mapping(t, 10, 7, program, 0x1000, 0x1000, 0, 0);
    put_mapping(t, 10, UINT32_MAX, kernel, 0xf000, 0x1000, 0, WEFT_MAPPING_KERNEL);
    put_thread(t, 0, 20, 7, 7, UINT32_MAX, name);
    uint32_t outer = put_node(t, 0, 0x1100, WEFT_NODE_CALLER), leaf = put_node(t, outer, 0x1200, 0);
    uint32_t inside = put_node(t, leaf, 0xf100, WEFT_NODE_KERNEL);
    put_sample(t, 100, 7, 7, leaf, 1000);
    put_sample(t, 110, 7, 7, inside, 1000);
    put_switch(t, WEFT_SWITCH_OUT, 120, 7, 7, inside);
    put_sample(t, 125, 7, 8, leaf, 1000);
    put_object(t, program, UINT32_MAX);
    put_object(t, kernel, UINT32_MAX);
    put_symbol(t, 0, 0x10ff - 0x1000, f, file, 5);
    put_symbol(t, 0, 0x1200 - 0x1000, g, file, 9);
    put_symbol(t, 1, 0xf100, 0, 0, 0);

    samples_begin(t, 2);
    put_source(t, put_text(t, "cpu-clock"), WEFT_UNIT_NS);
    put_switch(t, 0, 150, 7, 7, 0);
    put_switch(t, WEFT_SWITCH_OUT | WEFT_SWITCH_PREEMPTED, 170, 7, 8, 0);
    put_thread(t, 0, 160, 9, 9, 7, 0);
    outer = put_node(t, 0, 0x1100, WEFT_NODE_CALLER);
    put_sample(t, 160, 9, 9, put_node(t, outer, 0x1200, 0), 500);
    put_thread(t, WEFT_THREAD_EXEC, 165, 9, 9, UINT32_MAX, 0);
    put_exit(t, 180, 9, 9);
    struct weft_record_lost lost = {.time_ns = 180, .count = 3};
    put_record(t, WEFT_RECORD_LOST, 0, 0, &lost, sizeof lost, 0);
    struct weft_record_interrupt irq = {
        .from_ns = 175, .to_ns = 185, .core = 1, .thread = 8, .number = 30};
    put_record(t, WEFT_RECORD_INTERRUPT, WEFT_INTERRUPT_SOFT, 0, &irq, sizeof irq, 0);
}

static struct weft_profile *load(struct trace *t, uint64_t *problems)
{
    struct weft_reader *r;
    struct weft_error err = {.code = 0};
    struct weft_profile *p = new_profile();
    assert_int_equal(weft_reader_open(&r, trace_path(t), &err), 0);
    assert_int_equal(weft_profile_load_trace(p, r, &err), 0);
    if (problems)
        *problems = weft_reader_damage(r)->problems;
    assert_int_equal(weft_reader_facts(r)->unknown_packets, 0);
    weft_reader_close(r);
    assert_int_equal(weft_profile_finish(p), 0);
    return p;
}

/* "main;burn" */
static void expect_stack(struct weft_profile *p, uint32_t stack, const char *wanted)
{
    struct weft_frames *f;
    uint32_t count;
    char text[512] = "";
    assert_int_equal(
        weft_frames_new(&f, p, &(struct weft_frames_options){.async = WEFT_ASYNC_NONE}), 0);
    const struct weft_named_frame *frame = weft_frames_of(f, stack, WEFT_NONE, 0, 0, &count);
    assert_non_null(frame);
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? ";" : "",
                 weft_profile_text(p, frame[i].text));
    weft_frames_free(f);
    assert_string_equal(text, wanted);
}

TEST(test_packets)
{
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    put_all(&t);
    uint64_t problems;
    struct weft_profile *p = load(&t, &problems);
    trace_fini(&t);
    assert_int_equal(problems, 0);
    assert_string_equal(p->first_skipped.text, "");
    assert_int_equal(p->skipped, 0);
    assert_int_equal(p->samples, 4);
    assert_int_equal(p->sources, 1);
    assert_int_equal(p->source[0].unit, WEFT_UNIT_NS);
    assert_int_equal(p->lost, 3);
    assert_int_equal(p->first_ns, 100);
    assert_int_equal(p->last_ns, 185);
    expect_stack(p, p->sample[0].stack, "main;burn");
    expect_stack(p, p->sample[1].stack, "main;burn;0xf100 ([kernel])");
    expect_stack(p, p->sample[3].stack,
                 "main;burn"); /* of a child, which has its parent's mappings */
    assert_int_equal(p->absences, 2);
    assert_int_equal(p->absence[0].time_ns, 120);
    assert_int_equal(p->absence[0].value, 30);
    assert_false(p->absence[0].preempted);
    expect_stack(p, p->absence[0].stack, "main;burn;0xf100 ([kernel])");
    assert_int_equal(p->absence[1].time_ns, 170);
    assert_int_equal(p->absence[1].value, 15);
    assert_true(p->absence[1].open && p->absence[1].preempted);
    assert_int_equal(p->interrupts, 1);
    assert_int_equal(p->thread[p->interrupt[0].thread].thread, 8);
    assert_string_equal(weft_profile_text(p, p->thread[0].name), "worker");
    weft_profile_free(p);
}

TEST(test_switches)
{
    struct trace t = {.fd = -1};
    samples_begin(&t, 1);
    put_switch(&t, 0, 10, 7, 7, 0);               /* it was away before */
    put_switch(&t, WEFT_SWITCH_OUT, 20, 7, 7, 0); /* nobody knows when it came back */
    put_switch(&t, WEFT_SWITCH_OUT, 30, 7, 7, 0);
    put_switch(&t, 0, 35, 7, 7, 0);
    put_switch(&t, WEFT_SWITCH_OUT, 40, 7, 7, 0);
    put_exit(&t, 45, 7, 7);
    put_switch(&t, WEFT_SWITCH_OUT, 46, 7, 7, 0); /* for the last time */
    put_switch(&t, WEFT_SWITCH_OUT, 50, 7, 9, 0);
    put_switch(&t, 0, 40, 7, 9, 0); /* before it left */
    struct weft_profile *p = load(&t, NULL);
    trace_fini(&t);
    assert_int_equal(p->absences, 2);
    assert_int_equal(p->absence[0].time_ns, 30);
    assert_int_equal(p->absence[0].value, 5);
    assert_int_equal(p->absence[1].time_ns, 40);
    assert_int_equal(p->absence[1].value, 5);
    assert_false(p->absence[1].open);
    weft_profile_free(p);
}

static void put_lost(struct trace *t, uint8_t flags, uint64_t time_ns, uint64_t count)
{
    struct weft_record_lost lost = {.time_ns = time_ns, .count = count};
    put_record(t, WEFT_RECORD_LOST, flags, 0, &lost, sizeof lost, 0);
}

/* Whoever is away when switches are not recorded any more, is so until then as far as is known. */
TEST(test_lost)
{
    struct trace t = {.fd = -1};
    samples_begin(&t, 1);
    put_source(&t, put_text(&t, "cpu-clock"), WEFT_UNIT_NS);
    put_lost(&t, 0, 10, 3);
    put_lost(&t, WEFT_LOST_OTHER, 10, 4);
    put_switch(&t, WEFT_SWITCH_OUT, 20, 7, 7, 0);
    put_switch(&t, WEFT_SWITCH_OUT, 45, 7, 8, 0); /* of another core, a little later */
    put_lost(&t, WEFT_LOST_OTHER | WEFT_LOST_SWITCHES, 50, 1);
    put_lost(&t, WEFT_LOST_OTHER | WEFT_LOST_SWITCHES, 40, 0);
    put_sample(&t, 90, 7, 7, 0, 1);
    struct weft_profile *p = load(&t, NULL);
    trace_fini(&t);
    assert_int_equal(p->lost, 3);
    assert_int_equal(p->lost_other, 5);
    assert_int_equal(p->switches_until_ns, 40);
    assert_int_equal(p->absences, 1);
    assert_int_equal(p->absence[0].time_ns + p->absence[0].value, 40);
    assert_true(p->absence[0].open);
    weft_profile_free(p);
}

/* Damage is counted, and what is sound remains. */
static void expect_damage(struct trace *t, uint32_t samples, const char *wanted)
{
    put_sample(t, 5, 1, 1, 0, 1);
    struct weft_profile *p = load(t, NULL);
    trace_fini(t);
    *t = (struct trace){.fd = -1};
    assert_int_equal(p->skipped, wanted != NULL);
    assert_string_equal(p->first_skipped.text, wanted ? wanted : "");
    assert_int_equal(p->samples, samples);
    weft_profile_free(p);
}

static void begin_damage(struct trace *t)
{
    samples_begin(t, 1);
    put_source(t, 0, WEFT_UNIT_COUNT);
}

TEST(test_damage)
{
    struct trace t = {.fd = -1};
    begin_damage(&t);
    expect_damage(&t, 1, NULL);
    begin_damage(&t);
    put_node(&t, 5, 1, 0);
    expect_damage(&t, 1, "a stack's caller is node 5, but only 0 stand before it");
    begin_damage(&t);
    put_sample(&t, 1, 1, 1, 3, 1);
    expect_damage(&t, 1, "a record's stack is node 3, but only 0 stand before it");
    begin_damage(&t);
    put_mapping(&t, 1, 1, 9, 0, 5, 0, 0);
    expect_damage(&t, 1, "a record uses text 9, but only 0 stand before it");
    begin_damage(&t);
    put_symbol(&t, 2, 5, 0, 0, 0);
    expect_damage(&t, 1, "a symbol is of object 2, but only 0 stand before it");
    struct weft_record_sample s = {.time_ns = 5};
    begin_damage(&t);
    put_record(&t, WEFT_RECORD_SAMPLE, 0, 1, &s, sizeof s, 0);
    expect_damage(&t, 1, "a sample is of source 1, but only 1 stand before it");
    begin_damage(&t);
    put_record(&t, WEFT_RECORD_SAMPLE, 0, 0, &s, 16, 0);
    expect_damage(&t, 1, "a record of kind 4 has 16 bytes, but needs 40");
    begin_damage(&t);
    put_record(&t, 99, 0, 0, &s, 16, 0);
    expect_damage(&t, 1, "a record is of kind 99, which this version of weft does not know");
    begin_damage(&t);
    put_record(&t, WEFT_RECORD_SAMPLE, 0, 0, &s, 16, 7);
    expect_damage(&t, 0, "a record says it has 23 bytes, with 56 left in its packet");
    begin_damage(&t);
    struct weft_record_text text = {.size = 8};
    put_record(&t, WEFT_RECORD_TEXT, 0, 0, &text, sizeof text, 8);
    packet_bytes(&t, "12345678", 8);
    expect_damage(&t, 1, "a text of 8 bytes stands in a record of 24");
    begin_damage(&t);
    struct weft_record_symbol symbol = {.object = 0};
    put_object(&t, 0, UINT32_MAX);
    put_record(&t, WEFT_RECORD_SYMBOL, 0, 2, &symbol, sizeof symbol, 24);
    packet_bytes(&t, &text, sizeof text);
    packet_bytes(&t, &text, 8);
    expect_damage(&t, 1, "a symbol of 2 frames stands in a record of 48 bytes");
    begin_damage(&t);
    struct weft_record_mapping mapping = {.size = 5};
    put_record(&t, WEFT_RECORD_MAPPING, 0, 21, &mapping, sizeof mapping, 0);
    expect_damage(&t, 1, "a mapping's build id has 21 bytes");
    begin_damage(&t);
    struct weft_record_interrupt irq = {.from_ns = 5, .to_ns = 4};
    put_record(&t, WEFT_RECORD_INTERRUPT, 0, 0, &irq, sizeof irq, 0);
    expect_damage(&t, 1, "an interrupt ends before it begins");
}

TEST(test_no_packet)
{
    struct weft_profile *p = new_profile();
    struct weft_error err;
    struct weft_samples_header h = {.packet = packet_header(WEFT_PACKET_SAMPLES, sizeof h)};
    assert_int_equal(weft_profile_load_packet(p, &h, 20, 0, &err), WEFT_E_FORMAT);
    assert_string_equal(err.text, "expected a packet of samples, found 20 bytes");
    assert_int_equal(weft_profile_load_packet(p, &h, sizeof h, 0, &err), WEFT_E_FORMAT);
    h.packet.content_bits = sizeof h * 8;
    h.packet.class = WEFT_PACKET_EVENTS;
    assert_int_equal(weft_profile_load_packet(p, &h, sizeof h, 0, &err), WEFT_E_FORMAT);
    h.packet.class = WEFT_PACKET_SAMPLES;
    assert_int_equal(weft_profile_load_packet(p, &h, sizeof h, 0, &err), 0);
    weft_profile_free(p);
}

/* Asks everything of what was loaded. */
static void use(struct weft_profile *p)
{
    assert_int_equal(weft_profile_finish(p), 0);
    for (unsigned off = 0; off < 2; off++) {
        struct weft_calltree_options o = WEFT_CALLTREE_ALL;
        struct weft_calltree *tree;
        struct weft_profile_list *list;
        o.off_cpu = off;
        assert_int_equal(weft_calltree_make(&tree, p, &o), 0);
        assert_int_equal(weft_profile_list_make(&list, p, &o), 0);
        uint64_t in_tree = 0, in_list = 0;
        for (uint32_t i = 0; i < tree->calls; i++)
            in_tree += tree->call[i].self;
        for (uint32_t i = 0; i < list->rows; i++)
            in_list += list->row[i].self;
        assert_true(in_tree == tree->total && in_list == tree->total);
        weft_calltree_free(tree);
        weft_profile_list_free(list);
    }
}

/* Both packets of put_all from memory, with every byte of them in its place. */
static void load_bytes(const unsigned char *bytes, size_t size)
{
    struct weft_profile *p = new_profile();
    uint64_t *aligned = malloc(size + 8);
    size_t at = 0;
    while (at + sizeof(struct weft_packet_header) <= size) {
        struct weft_packet_header h;
        memcpy(&h, bytes + at, sizeof h);
        size_t left = size - at, whole = h.packet_bits / 8;
        memcpy(aligned, bytes + at, left);
        int rc = weft_profile_load_packet(p, aligned, left, at, NULL);
        assert_true(rc == 0 || rc == WEFT_E_FORMAT);
        if (whole < sizeof h || whole > left)
            break;
        at += whole;
    }
    free(aligned);
    use(p);
    weft_profile_free(p);
}

TEST(test_truncated)
{
    struct trace t = {.fd = -1};
    put_all(&t);
    for (size_t size = 0; size <= t.size; size++)
        load_bytes(t.bytes, size);
    trace_fini(&t);
}

TEST(test_mutated)
{
    struct trace t = {.fd = -1};
    put_all(&t);
    unsigned char *bytes = malloc(t.size);
    uint64_t x = 88172645463325252u;
    for (unsigned round = 0; round < 4000; round++) {
        memcpy(bytes, t.bytes, t.size);
        for (unsigned i = 0; i < 1 + round % 8; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            size_t at = 48 + x % (t.size - 48);
            bytes[at] = (uint8_t)(x >> 32 & 1 ? x >> 40 : bytes[at] ^ (1u << (x >> 40 & 7)));
        }
        load_bytes(bytes, t.size);
    }
    free(bytes);
    trace_fini(&t);
}

/* A small packet that asks for much: a deep stack, of very many processes. */
TEST(test_greedy)
{
    struct trace t = {.fd = -1};
    uint32_t node = 0;
    begin_damage(&t);
    for (unsigned i = 0; i < 5000; i++)
        node = put_node(&t, node, i, 0);
    for (uint32_t i = 0; i < 5000; i++)
        put_sample(&t, i, i, i, node, 1);
    struct weft_profile *p = load(&t, NULL);
    assert_int_equal(p->samples, 5000);
    assert_true(p->stacks < t.size);
    assert_true(p->skipped > 0);
    assert_true(p->sample[4999].flags & WEFT_SAMPLE_CUT && p->sample[4999].stack == 0);
    trace_fini(&t);
    weft_profile_free(p);
}

/* ---- Files ---- */

TEST(test_no_events)
{
    struct trace t = {.fd = -1};
    struct weft_reader *r;
    struct weft_model *m;
    struct weft_error err;
    facts_packet(
        &t,
        (struct weft_facts_header){
            .state = WEFT_TRACE_STOPPED, .pid = 7, .start_mono_ns = 50, .stop_mono_ns = 250},
        "program=abcdefg\n");
    put_all(&t);
    assert_int_equal(weft_reader_open(&r, trace_path(&t), &err), 0);
    assert_int_equal(weft_reader_facts(r)->sample_packets, 2);
    assert_int_equal(weft_model_build(&m, r, NULL, NULL, &err), 0);
    assert_int_equal(m->promises, 1);
    assert_int_equal(m->first_ns, 50);
    assert_int_equal(m->end_ns, 200);
    assert_int_equal(weft_reader_damage(r)->problems, 0);
    weft_reader_close(r);
    struct weft_profile *p = load(&t, NULL);
    assert_int_equal(weft_profile_join(p, m), 0);
    assert_int_equal(p->sample[0].promise, WEFT_NONE);
    weft_profile_free(p);
    weft_model_free(m);

    /* A copy has them, too. */
    struct weft_input in, copy;
    struct weft_snapshot *s;
    assert_int_equal(weft_input_open(&in, trace_path(&t), &err), 0);
    assert_int_equal(weft_snapshot_begin(&s, &in, &err), 1);
    assert_int_equal(weft_snapshot_to_room(s, &copy, &err), 0);
    weft_snapshot_free(s);
    weft_input_close(&in);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", copy.fd);
    assert_int_equal(weft_reader_open(&r, path, &err), 0);
    p = new_profile();
    assert_int_equal(weft_profile_load_trace(p, r, &err), 0);
    assert_int_equal(p->samples, 4);
    weft_profile_free(p);
    weft_reader_close(r);
    weft_input_close(&copy);
    trace_fini(&t);
}

TEST(test_other_packets)
{
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    size_t before = t.size;
    put_all(&t);
    for (size_t at = before; at < t.size;) { /* of another trace */
        struct weft_packet_header h;
        memcpy(&h, t.bytes + at, sizeof h);
        t.bytes[at + 4]++;
        at += h.packet_bits / 8;
    }
    begin_damage(&t);
    put_sample(&t, 1, 1, 1, 0, 1);
    struct weft_reader *r;
    assert_int_equal(weft_reader_open(&r, trace_path(&t), NULL), 0);
    assert_int_equal(weft_reader_facts(r)->other_packets, 2);
    assert_int_equal(weft_reader_facts(r)->sample_packets, 1);
    const void *packet;
    uint64_t offset;
    ptrdiff_t bytes = weft_reader_next_samples(r, &packet, &offset, NULL);
    assert_int_equal(bytes, t.size - t.packet);
    assert_int_equal(offset, t.packet);
    assert_int_equal((uintptr_t)packet % 8, 0);
    assert_int_equal(weft_reader_next_samples(r, &packet, &offset, NULL), 0);
    weft_reader_close(r);
    trace_fini(&t);
}

TEST(test_large_packet)
{
    struct trace t = {.fd = -1};
    begin_damage(&t);
    put_sample(&t, 1, 1, 1, 0, 1);
    samples_begin(&t, 2);
    void *zeros = calloc(1, (16 << 20) + 8);
    packet_bytes(&t, zeros, (16 << 20) + 8);
    free(zeros);
    samples_begin(&t, 3);
    put_source(&t, 0, WEFT_UNIT_COUNT);
    put_sample(&t, 2, 1, 1, 0, 1);
    uint64_t problems;
    struct weft_profile *p = load(&t, &problems);
    assert_int_equal(problems, 1);
    assert_int_equal(p->samples, 2);
    weft_profile_free(p);
    trace_fini(&t);
}

/* A packet that another one begins within ends there. */
TEST(test_cut_packet)
{
    struct trace t = {.fd = -1};
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED}, "");
    begin_damage(&t);
    put_sample(&t, 1, 1, 1, 0, 1);
    put_sample(&t, 2, 1, 1, 0, 1);
    packet_pad(&t, 4096, 0);
    packet_sizes(&t, t.size - t.packet);
    t.size -= 4096; /* says that it is larger than it is */
    begin_damage(&t);
    put_sample(&t, 3, 1, 1, 0, 1);
    uint64_t problems;
    struct weft_profile *p = load(&t, &problems);
    assert_int_equal(p->samples, 3);
    assert_int_equal(problems, 1);
    weft_profile_free(p);
    trace_fini(&t);
}

/* ---- Out of memory ---- */

static int load_and_ask(const void *first, size_t first_bytes, const void *second,
                        size_t second_bytes)
{
    struct weft_profile *p = weft_profile_new();
    if (!p)
        return WEFT_E_NOMEM;
    struct weft_calltree_options o = WEFT_CALLTREE_ALL;
    struct weft_calltree *tree = NULL;
    struct weft_profile_list *list = NULL;
    struct weft_profile_deltas *deltas = NULL;
    struct weft_call_before *before = NULL;
    int rc = weft_profile_load_packet(p, first, first_bytes, 0, NULL);
    if (rc == 0)
        rc = weft_profile_load_packet(p, second, second_bytes, first_bytes, NULL);
    if (rc == 0)
        rc = weft_profile_finish(p);
    if (rc == 0)
        rc = weft_calltree_make(&tree, p, &o);
    o.by = WEFT_PROFILE_BY_THREAD;
    if (rc == 0)
        rc = weft_profile_list_make(&list, p, &o);
    if (rc == 0)
        rc = weft_profile_compare(&deltas, p, list, p, list);
    if (rc == 0)
        rc = weft_calltree_compare(&before, p, tree, p, tree);
    if (rc == 0) {
        assert_int_equal(tree->total, 3500);
        assert_int_equal(list->total, 3500);
        assert_int_equal(deltas->rows, 3);
        assert_int_equal(before[0].total, 3500);
    }
    weft_calltree_free(tree);
    weft_profile_list_free(list);
    weft_profile_deltas_free(deltas);
    free(before);
    weft_profile_free(p);
    return rc;
}

TEST(test_out_of_memory)
{
    struct trace t = {.fd = -1};
    put_all(&t);
    struct weft_packet_header h;
    memcpy(&h, t.bytes, sizeof h);
    size_t first = h.packet_bits / 8, second = t.size - first;
    void *a = malloc(first), *b = malloc(second);
    memcpy(a, t.bytes, first);
    memcpy(b, t.bytes + first, second);
    struct failing f = {0};
    int rc = 0;
    while (fails_next(&f, rc))
        rc = load_and_ask(a, first, b, second);
    free(a);
    free(b);
    trace_fini(&t);
}

TEST(test_out_of_memory_in_a_file)
{
    struct trace t = {.fd = -1};
    put_all(&t);
    const char *path = trace_path(&t);
    long before = live;
    for (long n = 1; n < 10000; n++) {
        struct weft_reader *r = NULL;
        struct weft_profile *p = new_profile();
        fail_at = n;
        int rc = weft_reader_open(&r, path, NULL);
        if (rc == 0)
            rc = weft_profile_load_trace(p, r, NULL);
        bool failed = fail_at == 0;
        fail_at = 0;
        weft_reader_close(r);
        weft_profile_free(p);
        assert_int_equal(live, before);
        assert_int_equal(rc, failed ? WEFT_E_NOMEM : 0);
        if (!failed)
            break;
    }
    trace_fini(&t);
}

RUN_TESTS(NULL, NULL)
