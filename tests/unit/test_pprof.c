/* SPDX-License-Identifier: ISC */
/* Profiles for pprof: what is written is unpacked again, by protobuf-c and by hand. */
#include <zlib.h>

#include "allocations.h"
#include "format/bytes.h"
#include "pprof/pprof.h"
#include "pprof/profile.pb-c.h"
#include "profile/build.h"
#include "profile/join.h"
#include "samples.h"

#define PID 70
#define TID 71
#define KERNEL_AT UINT64_C(0xffffffff81000000)

/* ---- A profile ---- */

static uint32_t text(struct weft_profile *p, const char *t)
{
    return weft_profile_add_text(p, t, (uint32_t)strlen(t));
}

static struct weft_profile *new_profile(void)
{
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    assert_int_equal(weft_profile_add_source(p, &(struct weft_source){.name = text(p, "cpu-clock"),
                                                                      .unit = WEFT_UNIT_NS,
                                                                      .period = 1000000}),
                     0);
    return p;
}

static void map(struct weft_profile *p, uint32_t process, uint64_t start, uint64_t offset,
                const char *path, bool kernel)
{
    struct weft_mapping m = {.process = process,
                             .path = text(p, path),
                             .start = start,
                             .size = 0x1000,
                             .offset = offset,
                             .kernel = kernel,
                             .build_id = "\x01\xab\xff",
                             .build_id_bytes = kernel ? 0 : 3};
    assert_int_not_equal(weft_profile_add_mapping(p, &m), WEFT_NONE);
}

/* The innermost address first; all but that one are callers. */
static uint32_t stack_of(struct weft_profile *p, uint32_t process, const uint64_t *pc, unsigned pcs)
{
    uint32_t stack = 0;
    for (unsigned i = pcs; i-- > 0;) {
        uint8_t flags =
            (uint8_t)((pc[i] >> 63 ? WEFT_NODE_KERNEL : 0) | (i ? WEFT_NODE_CALLER : 0));
        stack = weft_profile_push(p, stack, process, pc[i], flags, 1);
        assert_int_not_equal(stack, WEFT_NONE);
    }
    return stack;
}
#define STACK(p, process, ...)                                                                     \
    stack_of(p, process, (const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

static void sample(struct weft_profile *p, uint32_t process, uint32_t thread, uint64_t time,
                   uint32_t stack, uint32_t source, uint64_t value)
{
    struct weft_sample s = {
        .time_ns = time, .stack = stack, .source = source, .value = value, .promise = WEFT_NONE};
    s.thread = weft_profile_add_thread(p, process, thread, WEFT_NONE);
    assert_int_equal(weft_profile_add_sample(p, &s), 0);
}

static uint32_t function(struct weft_profile *p, const char *name, const char *system_name,
                         const char *file, uint32_t line)
{
    return weft_profile_add_function(
        p, &(struct weft_function){.name = text(p, name),
                                   .system_name = system_name ? text(p, system_name) : 0,
                                   .file = file ? text(p, file) : 0,
                                   .start_line = line});
}

/* Two samples with one stack, in which a function is inlined; one of the kernel; two processes. */
static struct weft_profile *small(void)
{
    struct weft_profile *p = new_profile();
    map(p, PID, 0x400000, 0x3000, "/bin/a", false);
    map(p, UINT32_MAX, KERNEL_AT, KERNEL_AT, "[kernel]", true);
    weft_profile_add_thread(p, PID, TID, text(p, "worker"));
    uint32_t user = STACK(p, PID, 0x400100, 0x400200), one = STACK(p, PID, 0x400100);
    uint32_t kernel = STACK(p, PID, KERNEL_AT + 8, 0x400200);
    sample(p, PID, TID, 1000, user, 0, 1000000);
    sample(p, PID, TID, 2000, user, 0, 1000000);
    sample(p, PID, TID, 3000, kernel, 0, 1000000);
    sample(p, PID + 1, TID + 1, 4000, one, 0, 1000000);
    assert_int_equal(weft_profile_finish(p), 0);
    uint32_t inner = function(p, "inner", NULL, "a.c", 10);
    uint32_t outer = function(p, "ns::outer()", "_ZN2ns5outerEv", "b\xff.c", 20);
    const struct weft_frame frames[] = {{inner, 11}, {outer, 22}};
    assert_int_equal(weft_profile_resolve(p, p->stack[user].location, frames, 2), 0);
    assert_int_equal(
        weft_profile_resolve(p, p->stack[p->stack[user].parent].location, frames + 1, 1), 0);
    return p;
}

/* ---- What was written ---- */

struct written {
    char *bytes;
    size_t size;
    struct weft_error err;
    int rc;
    uint64_t cut;
    WeftPprof__Profile *profile;
};

static struct written write_parts(const struct weft_pprof_part *part, uint32_t parts,
                                  const struct weft_pprof_options *o, bool legacy)
{
    struct written w = {.err = {.code = 0}, .cut = 99};
    FILE *out = open_memstream(&w.bytes, &w.size);
    assert_non_null(out);
    w.rc =
        (legacy ? weft_pprof_write_legacy : weft_pprof_write)(out, part, parts, o, &w.cut, &w.err);
    fclose(out);
    return w;
}

static WeftPprof__Profile *unpack(const struct written *w)
{
    static unsigned char plain[1 << 20];
    z_stream z = {.next_in = (unsigned char *)w->bytes,
                  .avail_in = (unsigned)w->size,
                  .next_out = plain,
                  .avail_out = sizeof plain};
    assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    WeftPprof__Profile *p = weft_pprof__profile__unpack(NULL, z.total_out, plain);
    assert_non_null(p);
    assert_string_equal(p->string_table[0], "");
    return p;
}

static struct written export(struct weft_profile *p, const struct weft_pprof_options *o)
{
    static const struct weft_pprof_options plain;
    const struct weft_pprof_part part = {p, 1700000000000000000, "a \"command\"", NULL};
    struct written w = write_parts(&part, 1, o ? o : &plain, false);
    assert_int_equal(w.rc, 0);
    w.profile = unpack(&w);
    return w;
}

static void done(struct written *w)
{
    if (w->profile)
        weft_pprof__profile__free_unpacked(w->profile, NULL);
    free(w->bytes);
}

#define TEXT(w, n) ((w)->profile->string_table[n])

static const WeftPprof__Location *location(const struct written *w, uint64_t id)
{
    for (size_t i = 0; i < w->profile->n_location; i++)
        if (w->profile->location[i]->id == id)
            return w->profile->location[i];
    fail();
    return NULL;
}

static const WeftPprof__Function *function_of(const struct written *w, uint64_t id)
{
    for (size_t i = 0; i < w->profile->n_function; i++)
        if (w->profile->function[i]->id == id)
            return w->profile->function[i];
    fail();
    return NULL;
}

static const WeftPprof__Mapping *mapping(const struct written *w, const char *path)
{
    for (size_t i = 0; i < w->profile->n_mapping; i++)
        if (strcmp(TEXT(w, w->profile->mapping[i]->filename), path) == 0)
            return w->profile->mapping[i];
    fail();
    return NULL;
}

/* "0x400100 inner:11<ns::outer():22 | 0x4001ff …", the innermost first. */
static void expect_stack(const struct written *w, size_t sample, const char *wanted)
{
    char found[2048] = "";
    size_t used = 0;
    const WeftPprof__Sample *s = w->profile->sample[sample];
    for (size_t i = 0; i < s->n_location_id; i++) {
        const WeftPprof__Location *l = location(w, s->location_id[i]);
        used += (size_t)snprintf(found + used, sizeof found - used, "%s0x%llx", i ? " | " : "",
                                 (unsigned long long)l->address);
        for (size_t f = 0; f < l->n_line; f++)
            used += (size_t)snprintf(found + used, sizeof found - used, "%s%s:%lld", f ? "<" : " ",
                                     TEXT(w, function_of(w, l->line[f]->function_id)->name),
                                     (long long)l->line[f]->line);
    }
    assert_string_equal(found, wanted);
}

static void expect_labels(const struct written *w, size_t sample, const char *wanted)
{
    char found[2048] = "";
    size_t used = 0;
    const WeftPprof__Sample *s = w->profile->sample[sample];
    for (size_t i = 0; i < s->n_label; i++) {
        assert_int_equal(s->label[i]->num, 0);
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s=%s", i ? " " : "",
                                 TEXT(w, s->label[i]->key), TEXT(w, s->label[i]->str));
    }
    assert_string_equal(found, wanted);
}

static void expect_types(const struct written *w, const char *wanted)
{
    char found[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < w->profile->n_sample_type; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s/%s", i ? " " : "",
                                 TEXT(w, w->profile->sample_type[i]->type),
                                 TEXT(w, w->profile->sample_type[i]->unit));
    assert_string_equal(found, wanted);
}

/* ---- profile.proto ---- */

TEST(whole)
{
    struct weft_profile *p = small();
    struct written w = export(p, NULL);
    expect_types(&w, "samples/count cpu/nanoseconds");
    assert_string_equal(TEXT(&w, w.profile->period_type->type), "cpu");
    assert_string_equal(TEXT(&w, w.profile->period_type->unit), "nanoseconds");
    assert_int_equal(w.profile->period, 1000000);
    assert_int_equal(w.profile->time_nanos, 1700000000000000000);
    assert_int_equal(w.profile->duration_nanos, 3000);
    assert_string_equal(TEXT(&w, w.profile->default_sample_type), "cpu");
    assert_int_equal(w.profile->n_comment, 1);
    assert_string_equal(TEXT(&w, w.profile->comment[0]), "a \"command\"");

    assert_int_equal(w.profile->n_sample, 3); /* two were alike */
    assert_int_equal(w.profile->sample[0]->value[0], 2);
    assert_int_equal(w.profile->sample[0]->value[1], 2000000);
    expect_stack(&w, 0, "0x400100 inner:11<ns::outer():22 | 0x4001ff ns::outer():22");
    expect_labels(&w, 0, "thread=worker pid=70 tid=71 core=0");
    expect_stack(&w, 1, "0xffffffff81000008 | 0x4001ff ns::outer():22");
    expect_labels(&w, 2, "pid=71 tid=72 core=0");

    const WeftPprof__Function *f = NULL;
    for (size_t i = 0; i < w.profile->n_function; i++)
        if (w.profile->function[i]->start_line == 20)
            f = w.profile->function[i];
    assert_non_null(f);
    assert_string_equal(TEXT(&w, f->system_name), "_ZN2ns5outerEv");
    assert_string_equal(TEXT(&w, f->filename), "b\xef\xbf\xbd.c"); /* UTF-8 */

    const WeftPprof__Mapping *m = w.profile->mapping[0]; /* the program's */
    assert_string_equal(TEXT(&w, m->filename), "/bin/a");
    assert_int_equal(m->memory_start, 0x400000);
    assert_int_equal(m->memory_limit, 0x401000);
    assert_int_equal(m->file_offset, 0x3000);
    assert_string_equal(TEXT(&w, m->build_id), "01abff");
    assert_true(m->has_functions && m->has_filenames && m->has_line_numbers);
    assert_int_equal(location(&w, w.profile->sample[0]->location_id[0])->mapping_id, m->id);
    m = mapping(&w, "[kernel.kallsyms]");
    assert_false(m->has_functions || m->has_line_numbers);
    done(&w);

    w = export(p, &(struct weft_pprof_options){.only = true, .process = PID + 1});
    assert_int_equal(w.profile->n_sample, 1);
    expect_labels(&w, 0, "pid=71 tid=72 core=0");
    done(&w);
    weft_profile_free(p);
}

/* Sources that count different things; the same one told twice; one that counts samples. */
TEST(several_sources)
{
    struct weft_profile *p = new_profile();
    uint32_t cycles = weft_profile_add_source(
        p, &(struct weft_source){.name = text(p, "cycles"), .unit = WEFT_UNIT_CYCLES});
    uint32_t again = weft_profile_add_source(
        p, &(struct weft_source){.name = text(p, "cpu-clock"), .unit = WEFT_UNIT_NS, .period = 5});
    uint32_t ticks = weft_profile_add_source(
        p, &(struct weft_source){.name = text(p, "samples"), .unit = WEFT_UNIT_COUNT});
    uint32_t stack = STACK(p, PID, 0x400100);
    sample(p, PID, TID, 1, stack, 0, 10);
    sample(p, PID, TID, 2, stack, again, 5);
    sample(p, PID, TID, 3, stack, cycles, 7777);
    sample(p, PID, TID, 4, stack, cycles, INT64_MAX);
    sample(p, PID, TID, 5, stack, ticks, 40);
    assert_int_equal(weft_profile_finish(p), 0);
    struct written w = export(p, NULL);
    expect_types(&w, "cpu-clock_samples/count cpu-clock/nanoseconds cycles_samples/count "
                     "cycles/count samples/count");
    const int64_t values[] = {2, 15, 2, INT64_MAX, 40};
    assert_int_equal(w.profile->n_sample, 1);
    assert_memory_equal(w.profile->sample[0]->value, values, sizeof values);
    done(&w);
    weft_profile_free(p);
}

TEST(too_many_sources)
{
    struct weft_profile *p = new_profile();
    char name[16];
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "event %u", i);
        weft_profile_add_source(p, &(struct weft_source){.name = text(p, name)});
    }
    assert_int_equal(weft_profile_finish(p), 0);
    const struct weft_pprof_part part = {.profile = p};
    struct written w = write_parts(&part, 1, &(struct weft_pprof_options){.only = false}, false);
    assert_int_equal(w.rc, WEFT_E_LIMIT);
    assert_non_null(strstr(w.err.text, "64 kinds"));
    done(&w);
    weft_profile_free(p);
}

TEST(off_cpu)
{
    struct weft_profile *p = new_profile();
    uint32_t stack = STACK(p, PID, 0x400100);
    sample(p, PID, TID, 1, stack, 0, 10);
    struct weft_sample a = {.time_ns = 100, .value = 500, .stack = stack, .promise = WEFT_NONE};
    weft_profile_add_absence(p, &a);
    a.time_ns = 200;
    a.value = 400;
    weft_profile_add_absence(p, &a);
    a.preempted = true;
    a.stack = 0;
    weft_profile_add_absence(p, &a);
    assert_int_equal(weft_profile_finish(p), 0);
    struct written w = export(p, &(struct weft_pprof_options){.off_cpu = true});
    expect_types(&w, "samples/count cpu/nanoseconds off_cpu/nanoseconds");
    assert_int_equal(w.profile->n_sample, 3);
    assert_int_equal(w.profile->sample[0]->value[2], 0);
    assert_int_equal(w.profile->sample[1]->value[1], 0);
    assert_int_equal(w.profile->sample[1]->value[2], 900);
    expect_labels(&w, 1, "pid=70 tid=71 core=0 state=waiting");
    expect_stack(&w, 2, "0x0 (preempted):0");
    assert_int_equal(w.profile->sample[2]->value[2], 400);
    expect_labels(&w, 2, "pid=70 tid=71 core=0 state=preempted");
    done(&w);
    w = export(p, NULL);
    expect_types(&w, "samples/count cpu/nanoseconds");
    assert_int_equal(w.profile->n_sample, 1);
    done(&w);
    weft_profile_free(p);
}

/* Two files, in which the same numbers mean different things. */
TEST(several_parts)
{
    struct weft_profile *p[2] = {small(), new_profile()};
    map(p[1], PID, 0x400000, 0, "/bin/other", false);
    sample(p[1], PID, TID, 1, STACK(p[1], PID, 0x400100), 0, 3);
    assert_int_equal(weft_profile_finish(p[1]), 0);
    const struct weft_pprof_part part[] = {{p[0], 2000, "one", NULL}, {p[1], 1000, "two", NULL}};
    struct written w = write_parts(part, 2, &(struct weft_pprof_options){.only = false}, false);
    assert_int_equal(w.rc, 0);
    w.profile = unpack(&w);
    expect_types(&w, "samples/count cpu/nanoseconds");
    assert_int_equal(w.profile->n_sample, 4);
    assert_int_equal(w.profile->time_nanos, 1000);
    assert_int_equal(w.profile->n_comment, 2);
    expect_stack(&w, 0, "0x400100 inner:11<ns::outer():22 | 0x4001ff ns::outer():22");
    expect_stack(&w, 3, "0x400100");
    assert_int_equal(location(&w, w.profile->sample[3]->location_id[0])->mapping_id,
                     mapping(&w, "/bin/other")->id);
    for (size_t i = 0; i < w.profile->n_location; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(w.profile->location[i]->id, w.profile->location[j]->id);
    done(&w);

    /* The older format has one address space. */
    w = write_parts(part, 2, &(struct weft_pprof_options){.only = false}, true);
    assert_int_equal(w.rc, WEFT_E_INVALID);
    assert_non_null(strstr(w.err.text, "/bin/other"));
    assert_non_null(strstr(w.err.text, "process 70"));
    done(&w);
    weft_profile_free(p[0]);
    weft_profile_free(p[1]);
}

/* ---- With promises ---- */

static struct step step(struct weft_event ev)
{
    return (struct step){.ev = ev};
}

#define TRACE_ID "4bf92f3577b34da6a3ce929d0e0e4736"

/* 3 was created by 2 "PUT /x", and that by 1 "accept", which is meant to go on for ever. caused: by a span; is: 3 is one. */
static struct weft_model *model_with(bool caused, bool is)
{
    struct trace t = {.fd = -1};
    struct strings s = {.used = 0};
    uint32_t site[1] = {strings_site(&s, strings_text(&s, "task"), 0, 0, 0)};
    const struct step steps[] = {
        step(creates(100, LOOP, 1, 0)), step(label(101, 1, "accept")), step(background(102, 1)),
        step(creates(103, 1, 2, 0)),    step(label(104, 2, "PUT /x")), step(creates(105, 2, 3, 0)),
        step(switches(1500, 3)),        step(switches(2500, LOOP)),
    };
    const struct weft_event parent = with_text(in_span(106, 2), TRACE_ID "-00f067aa0ba902b7"),
                            span = with_text(is_span(107, 3), TRACE_ID "-b7ad6b7169203331");
    facts_packet(&t, (struct weft_facts_header){.state = WEFT_TRACE_STOPPED, .pid = PID}, "");
    strings_packet(&t, &s);
    events_begin(&t, (struct weft_events_header){
                         .thread = TID, .sequence = 1, .begin_ticks = 100, .thread_name = "loop"});
    for (size_t i = 0; i < COUNT(steps); i++)
        events_put(&t, steps[i].ev, site[0]);
    if (caused)
        events_put(&t, parent, 0);
    if (is)
        events_put(&t, span, 0);
    return trace_model(&t);
}

static struct weft_model *model(void)
{
    return model_with(false, false);
}

TEST(spans)
{
    static const char *const labels[] = {
        "promise=3 type=task trace_id=" TRACE_ID " root=PUT /x thread=worker pid=70 tid=71 core=0",
        "promise=3 type=task trace_id=" TRACE_ID
        " span_id=b7ad6b7169203331 root=PUT /x thread=worker pid=70 tid=71 core=0"};
    for (int is = 0; is < 2; is++) {
        struct weft_model *m = model_with(true, is);
        struct weft_profile *p = small();
        assert_int_equal(weft_profile_join(p, m), 0);
        struct written w = export(p, NULL);
        expect_labels(&w, 1, labels[is]);
        done(&w);
        weft_profile_free(p);
        weft_model_free(m);
    }
}

TEST(promises)
{
    struct weft_model *m = model();
    struct weft_profile *p = small();
    assert_int_equal(weft_profile_join(p, m), 0);
    struct written w = export(p, NULL);
    assert_int_equal(w.profile->n_sample, 4); /* of the two that were alike, one has a promise */
    expect_labels(&w, 0, "thread=worker pid=70 tid=71 core=0");
    expect_labels(&w, 1, "promise=3 type=task root=PUT /x thread=worker pid=70 tid=71 core=0");
    expect_stack(&w, 1, "0x400100 inner:11<ns::outer():22 | 0x4001ff ns::outer():22");
    done(&w);

    w = export(p, &(struct weft_pprof_options){.async = WEFT_ASYNC_CREATORS});
    assert_int_equal(w.profile->n_sample, 4);
    const WeftPprof__Sample *s = w.profile->sample[1];
    /* Code is told as it is; then whose it was, outward. */
    expect_labels(&w, 1, "promise=3 type=task root=PUT /x thread=worker pid=70 tid=71 core=0");
    assert_true(s->n_location_id >= 3);
    const char *const outward[] = {"task", "PUT /x", "accept"};
    for (size_t i = 0; i < 3; i++) {
        const WeftPprof__Location *l = location(&w, s->location_id[s->n_location_id - 3 + i]);
        assert_int_equal(l->n_line, 1);
        assert_int_equal(l->address, 0);
        assert_int_equal(l->mapping_id, 0);
        assert_string_equal(TEXT(&w, function_of(&w, l->line[0]->function_id)->name), outward[i]);
    }
    const WeftPprof__Location *l = location(&w, s->location_id[0]);
    assert_int_equal(l->n_line, 2); /* what is inlined stays one location */
    assert_int_equal(l->address, 0x400100);
    done(&w);
    weft_profile_free(p);
    weft_model_free(m);
}

/* ---- The older format ---- */

static uint64_t word(const struct written *w, size_t n)
{
    assert_true(8 * n + 8 <= w->size);
    return weft_read_u64((unsigned char *)w->bytes + 8 * n);
}

static void expect_words(const struct written *w, const uint64_t *wanted, size_t words)
{
    for (size_t i = 0; i < words; i++)
        assert_int_equal(word(w, i), wanted[i]);
}
#define EXPECT_WORDS(w, ...)                                                                       \
    expect_words(w, (const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

static struct written export_legacy(struct weft_profile *p, const struct weft_pprof_options *o)
{
    static const struct weft_pprof_options plain;
    const struct weft_pprof_part part = {.profile = p};
    return write_parts(&part, 1, o ? o : &plain, true);
}

TEST(legacy)
{
    struct weft_profile *p = small();
    struct written w = export_legacy(p, NULL);
    assert_int_equal(w.rc, 0);
    /* In the order of the tree of stacks: callers as they were, for readers take one off. The process that has no
     * mapping there has its sample, too. */
    EXPECT_WORDS(&w, 0, 3, 0, 1000, 0, 2, 2, 0x400100, 0x400200, 1, 1, 0x400100, 1, 2,
                 KERNEL_AT + 8, 0x400200, 0, 1, 0);
    char *maps = strndup(w.bytes + 19 * 8, w.size - 19 * 8);
    assert_string_equal(maps, "00400000-00401000 r-xp 00003000 00:00 0 /bin/a\n"
                              "ffffffff81000000-ffffffff81001000 r-xp ffffffff81000000 00:00 0 "
                              "[kernel.kallsyms]\n");
    free(maps);
    done(&w);
    w = export_legacy(p, &(struct weft_pprof_options){.only = true, .process = PID + 1});
    EXPECT_WORDS(&w, 0, 3, 0, 1000, 0, 1, 1, 0x400100, 0, 1, 0);
    done(&w);
    weft_profile_free(p);
}

/* The period, in microseconds, of samples of these lengths. */
static uint64_t period_of(uint64_t first, uint64_t second)
{
    struct weft_profile *p = new_profile();
    uint32_t stack = STACK(p, PID, 0x400100);
    sample(p, PID, TID, 1, stack, 0, first);
    sample(p, PID, TID, 2, stack, 0, second);
    assert_int_equal(weft_profile_finish(p), 0);
    struct written w = export_legacy(p, NULL);
    assert_int_equal(w.rc, 0);
    uint64_t period = word(&w, 3);
    EXPECT_WORDS(&w, 0, 3, 0, period, 0, 2, 1, 0x400100, 0, 1, 0);
    done(&w);
    weft_profile_free(p);
    return period;
}

TEST(legacy_periods)
{
    assert_int_equal(period_of(1000000, 1000000), 1000);
    assert_int_equal(period_of(10101010, 10101010), 10101);
    assert_int_equal(period_of(1000000, 2001000), 1501); /* 1500.5 */
    assert_int_equal(period_of(1, 1), 1);
    assert_int_equal(period_of(0, 0), 1);
    assert_int_equal(period_of(UINT64_MAX, UINT64_MAX), UINT64_MAX / 2 / 1000 + 1);
}

/* Stacks of different processes with the same addresses are one record. */
TEST(legacy_same_addresses)
{
    struct weft_profile *p = new_profile();
    map(p, PID, 0x400000, 0, "/bin/a", false);
    map(p, PID + 1, 0x400000, 0, "/bin/a", false);
    map(p, PID + 2, 0x600000, 0, "/bin/b\nc", false);
    for (uint32_t i = 0; i < 3; i++)
        sample(p, PID + i, TID, i, STACK(p, PID + i, 0x400100), 0, 2000);
    sample(p, PID, TID, 5, 0, 0, 2000); /* without a stack */
    assert_int_equal(weft_profile_finish(p), 0);
    struct written w = export_legacy(p, NULL);
    EXPECT_WORDS(&w, 0, 3, 0, 2, 0, 1, 1, 0, 3, 1, 0x400100, 0, 1, 0);
    char *maps = strndup(w.bytes + 14 * 8, w.size - 14 * 8);
    assert_string_equal(maps, "00400000-00401000 r-xp 00000000 00:00 0 /bin/a\n"
                              "00600000-00601000 r-xp 00000000 00:00 0 /bin/b\\012c\n");
    free(maps);
    done(&w);
    weft_profile_free(p);
}

/* ---- Deep stacks: many in a small file make no file that fills the disk ---- */

enum { DEEP = 4000 };

/* Samples of the two innermost of DEEP frames, and of one that is just short enough. */
static struct weft_profile *deep(void)
{
    struct weft_profile *p = new_profile();
    uint32_t stack = 0;
    for (unsigned i = 0; i < DEEP; i++) {
        stack = weft_profile_push(p, stack, PID, 0x400000 + i, WEFT_NODE_CALLER, 1);
        assert_int_equal(weft_profile_depth(p, stack), i + 1);
        if (i + 1 == WEFT_FRAMES_MAX || i >= DEEP - 2)
            sample(p, PID, TID, 1500 + i / 10, stack, 0, 2000);
    }
    assert_int_equal(weft_profile_finish(p), 0);
    return p;
}

static void expect_last_frame(const struct written *w, size_t sample, const char *name)
{
    const WeftPprof__Sample *s = w->profile->sample[sample];
    const WeftPprof__Location *last = location(w, s->location_id[s->n_location_id - 1]);
    assert_int_equal(last->n_line, 1);
    assert_string_equal(TEXT(w, function_of(w, last->line[0]->function_id)->name), name);
}

TEST(deep_stacks)
{
    struct weft_profile *p = deep();
    struct written w = export(p, NULL);
    assert_int_equal(w.cut, 2);
    assert_int_equal(w.profile->n_sample, 3);
    assert_int_equal(w.profile->sample[0]->n_location_id, WEFT_FRAMES_MAX);
    assert_int_equal(location(&w, w.profile->sample[0]->location_id[WEFT_FRAMES_MAX - 1])->address,
                     0x400000 - 1);
    for (unsigned i = 1; i < 3; i++) {
        const WeftPprof__Sample *s = w.profile->sample[i];
        uint64_t innermost = 0x400000 + DEEP - 4 + i; /* callers: the byte before */
        assert_int_equal(s->n_location_id, WEFT_FRAMES_MAX + 1);
        assert_int_equal(location(&w, s->location_id[0])->address, innermost);
        assert_int_equal(location(&w, s->location_id[WEFT_FRAMES_MAX - 1])->address,
                         innermost - WEFT_FRAMES_MAX + 1);
        expect_last_frame(&w, i, "…");
    }
    /* the first 1024, and the last 1025, and "…": there is nothing of what nobody has */
    assert_int_equal(w.profile->n_location, 2 * WEFT_FRAMES_MAX + 2);
    done(&w);
    weft_profile_free(p);
}

TEST(deep_async_stacks)
{
    struct weft_profile *p = deep();
    struct weft_model *m = model();
    assert_int_equal(weft_profile_join(p, m), 0);
    struct written w = export(p, &(struct weft_pprof_options){.async = WEFT_ASYNC_CREATORS});
    assert_int_equal(w.cut, 3); /* creators need room, too */
    for (unsigned i = 0; i < 3; i++) {
        assert_in_range(w.profile->sample[i]->n_location_id, 512, WEFT_FRAMES_MAX + 1);
        expect_last_frame(&w, i, "accept");
    }
    done(&w);
    weft_profile_free(p);
    weft_model_free(m);
}

TEST(legacy_deep)
{
    enum { RECORD = 2 + WEFT_FRAMES_MAX };
    struct weft_profile *p = deep();
    struct written w = export_legacy(p, NULL);
    assert_int_equal(w.cut, 2);
    assert_int_equal(w.size, 8 * (5 + 3 * RECORD + 3));
    assert_int_equal(word(&w, 4 + RECORD), 0x400000);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(word(&w, 5 + i * RECORD), 1);
        assert_int_equal(word(&w, 6 + i * RECORD), WEFT_FRAMES_MAX);
        uint64_t innermost = word(&w, 7 + i * RECORD), last = word(&w, 4 + (i + 1) * RECORD);
        assert_int_equal(innermost, 0x400000 + DEEP - 3 + i);
        assert_int_equal(last, innermost - WEFT_FRAMES_MAX + 1);
    }
    done(&w);
    weft_profile_free(p);
}

TEST(legacy_conflict)
{
    struct weft_profile *p = new_profile();
    map(p, PID, 0x400000, 0, "/bin/a", false);
    map(p, PID + 1, 0x400800, 0, "/bin/b", false);
    sample(p, PID, TID, 1, STACK(p, PID, 0x400100), 0, 2000);
    sample(p, PID + 1, TID, 1, STACK(p, PID + 1, 0x400900), 0, 2000);
    assert_int_equal(weft_profile_finish(p), 0);
    struct written w = export_legacy(p, NULL);
    assert_int_equal(w.rc, WEFT_E_INVALID);
    assert_non_null(strstr(w.err.text, "/bin/a"));
    assert_non_null(strstr(w.err.text, "process 71"));
    done(&w);
    w = export_legacy(p, &(struct weft_pprof_options){.only = true, .process = PID});
    assert_int_equal(w.rc, 0);
    EXPECT_WORDS(&w, 0, 3, 0, 2, 0, 1, 1, 0x400100, 0, 1, 0);
    done(&w);
    weft_profile_free(p);
}

/* ---- What can fail ---- */

TEST(out_of_memory)
{
    struct weft_model *m = model();
    struct weft_profile *p = small();
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    assert_int_equal(weft_profile_join(p, m), 0);
    const struct weft_pprof_part part = {.profile = p, .comment = "\xff"};
    for (unsigned way = 0; way < 3; way++) {
        const struct weft_pprof_options o = {.async = way ? WEFT_ASYNC_CREATORS : WEFT_ASYNC_NONE,
                                             .off_cpu = way};
        long n, before = live;
        int rc = WEFT_E_NOMEM;
        for (n = 1; rc == WEFT_E_NOMEM && n < 10000; n++) {
            struct weft_error err = {.code = 0};
            uint64_t cut;
            fail_at = n;
            rc = (way == 2 ? weft_pprof_write_legacy : weft_pprof_write)(out, &part, 1, &o, &cut,
                                                                         &err);
            bool failed = fail_at == 0;
            fail_at = 0;
            assert_true(rc == 0 || (failed && rc == WEFT_E_NOMEM && *err.text));
            if (way == 2) /* names of promises are kept in the profile */
                assert_int_equal(live, before);
        }
        assert_true(n > 5 && n < 10000);
    }
    fclose(out);
    weft_profile_free(p);
    weft_model_free(m);
}

TEST(cannot_be_written)
{
    struct weft_profile *p = small();
    const struct weft_pprof_part part = {.profile = p};
    for (unsigned legacy = 0; legacy < 2; legacy++) {
        struct weft_error err = {.code = 0};
        uint64_t cut;
        FILE *out = fopen("/dev/full", "w");
        assert_non_null(out);
        setvbuf(out, NULL, _IONBF, 0);
        int rc = (legacy ? weft_pprof_write_legacy : weft_pprof_write)(
            out, &part, 1, &(struct weft_pprof_options){.only = false}, &cut, &err);
        assert_int_equal(rc, WEFT_E_IO);
        assert_non_null(strstr(err.text, "cannot be written"));
        fclose(out);
    }
    weft_profile_free(p);
}

RUN_TESTS(NULL, NULL)
