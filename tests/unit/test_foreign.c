/* SPDX-License-Identifier: ISC */
/* Profiles that others recorded: what a small writer here puts into Akaros's streams and perf.data comes out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <zstd.h>

#include "allocations.h"
#include "profile/foreign.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define KERNEL_AT UINT64_C(0xffffffff81000000)
#define NS_AN_EVENT 1000000

/* ---- Bytes ---- */

struct bytes {
    unsigned char at[1 << 16];
    size_t size;
};

static void put(struct bytes *b, const void *from, size_t size)
{
    assert_true(b->size + size <= sizeof b->at);
    memcpy(b->at + b->size, from, size);
    b->size += size;
}

static void put_u16(struct bytes *b, uint16_t v)
{
    put(b, &v, sizeof v);
}

static void put_u32(struct bytes *b, uint32_t v)
{
    put(b, &v, sizeof v);
}

static void put_u64(struct bytes *b, uint64_t v)
{
    put(b, &v, sizeof v);
}

static void put_words(struct bytes *b, const uint64_t *word, size_t words)
{
    for (size_t i = 0; i < words; i++)
        put_u64(b, word[i]);
}

static void put_text(struct bytes *b, const char *text)
{
    static const char zeros[8];
    size_t size = strlen(text);
    put(b, text, size);
    put(b, zeros, 8 - size % 8);
}

/* ---- Loading ---- */

struct loaded {
    struct weft_profile *p;
    struct weft_foreign_facts facts;
    struct weft_error err;
    int rc;
};

static struct weft_input input_of(const struct bytes *b)
{
    struct weft_input in = {.fd = memfd_create("test", MFD_CLOEXEC), .size = b->size};
    assert_true(in.fd >= 0);
    assert_int_equal(pwrite(in.fd, b->at, b->size, 0), (ssize_t)b->size);
    return in;
}

static struct loaded load_with(const struct bytes *b, const struct weft_foreign_options *o)
{
    struct loaded l = {.p = weft_profile_new(), .err = {.offset = WEFT_NO_OFFSET}};
    struct weft_input in = input_of(b);
    assert_non_null(l.p);
    l.rc = weft_profile_load_foreign(l.p, &in, o, &l.facts, &l.err);
    assert_int_equal(weft_profile_finish(l.p), 0);
    assert_int_equal(l.facts.samples, l.p->samples);
    weft_input_close(&in);
    return l;
}

static struct loaded load(const struct bytes *b)
{
    return load_with(b, NULL);
}

static void done(struct loaded *l)
{
    weft_profile_free(l->p);
}

static void fails(const struct loaded *l, int rc, uint64_t offset, const char *words)
{
    assert_int_equal(l->rc, rc);
    assert_int_equal(l->err.code, rc);
    assert_int_equal(l->err.offset, offset);
    if (!strstr(l->err.text, words))
        print_error("it says '%s'\n", l->err.text);
    assert_non_null(strstr(l->err.text, words));
}

/* The stack of a sample, the innermost address first, ends with 0. */
static void has_stack(const struct weft_profile *p, uint32_t sample, const uint64_t *expected)
{
    uint32_t at = p->sample[sample].stack;
    for (; *expected; expected++, at = p->stack[at].parent) {
        assert_int_not_equal(at, 0);
        assert_int_equal(p->location[p->stack[at].location].address, *expected);
    }
    assert_int_equal(at, 0);
}
#define HAS_STACK(p, sample, ...) has_stack(p, sample, (const uint64_t[]){__VA_ARGS__, 0})

static const struct weft_location *innermost(const struct weft_profile *p, uint32_t sample)
{
    return &p->location[p->stack[p->sample[sample].stack].location];
}

static const char *path_of(const struct weft_profile *p, const struct weft_location *l)
{
    return l->mapping == WEFT_NONE ? "" : weft_profile_text(p, p->mapping[l->mapping].path);
}

/* ---- kpoprofile ---- */

static void v1(struct bytes *b, uint64_t time, unsigned core, const uint64_t *pc, unsigned pcs)
{
    put_u64(b, UINT64_C(0xee01) << 48 | (uint64_t)core << 16 | pcs);
    put_u64(b, time);
    put_words(b, pc, pcs);
}
#define V1(b, time, core, ...)                                                                     \
    v1(b, time, core, (const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

TEST(akaros_stream)
{
    struct bytes b = {.size = 0};
    V1(&b, 5000, 3, KERNEL_AT + 8, KERNEL_AT + 0x100, 0x400100);
    V1(&b, 1000, 65535, 0x400100);
    V1(&b, 9000, 0, UINT64_C(0x7fffffffffffffff));
    struct loaded l = load(&b);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.facts.kind, WEFT_FOREIGN_AKAROS);
    assert_int_equal(l.p->samples, 3);
    HAS_STACK(l.p, 0, 0x400100);
    HAS_STACK(l.p, 1, KERNEL_AT + 8, KERNEL_AT + 0x100, 0x400100);
    assert_int_equal(l.p->sample[0].time_ns, 1000);
    assert_int_equal(l.p->sample[0].core, 65535);
    assert_int_equal(l.p->sample[0].flags, 0);
    assert_int_equal(l.p->sample[1].flags, WEFT_SAMPLE_IN_KERNEL);
    assert_true(innermost(l.p, 1)->kernel);
    assert_false(innermost(l.p, 2)->kernel);
    assert_string_equal(path_of(l.p, innermost(l.p, 1)), "[kernel.kallsyms]");
    assert_int_equal(innermost(l.p, 0)->mapping, WEFT_NONE);
    for (uint32_t i = 0; i < 3; i++) /* 8000 ns in 3 samples */
        assert_int_equal(l.p->sample[i].value, 2666);
    assert_int_equal(l.p->source[0].period, 2666);
    assert_int_equal(l.p->source[0].unit, WEFT_UNIT_NS);
    done(&l);

    l = load_with(&b, &(struct weft_foreign_options){.period_ns = 250000});
    assert_int_equal(l.p->sample[2].value, 250000);
    done(&l);
}

/* Addresses that op2 took for the same, since their lower halves are. */
TEST(akaros_wide_addresses)
{
    struct bytes b = {.size = 0};
    V1(&b, 1, 0, 0x81001234);
    V1(&b, 2, 0, UINT64_C(0x481001234));
    V1(&b, 3, 0, UINT64_C(0xffffffff81001234));
    struct loaded l = load(&b);
    assert_int_equal(l.p->locations, 3);
    HAS_STACK(l.p, 2, UINT64_C(0xffffffff81001234));
    assert_true(innermost(l.p, 2)->kernel);
    assert_false(innermost(l.p, 1)->kernel);
    done(&l);
}

TEST(akaros_single)
{
    struct bytes b = {.size = 0};
    V1(&b, UINT64_MAX, 0, 1);
    struct loaded l = load(&b);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.p->sample[0].value, 1000000); /* of Akaros's timer, as it begins */
    done(&l);

    b.size = 0;
    l = load_with(&b, &(struct weft_foreign_options){.kind = WEFT_FOREIGN_AKAROS});
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.p->samples, 0);
    done(&l);
    l = load(&b);
    fails(&l, WEFT_E_FORMAT, 0, "neither");
    done(&l);
}

/* Half a record is no sample, and what stands before it is good. */
TEST(akaros_cut)
{
    struct bytes b = {.size = 0};
    V1(&b, 1000, 0, 1, 2, 3);
    V1(&b, 2000, 0, 4);
    size_t whole = b.size;
    V1(&b, 3000, 0, 5, 6);
    for (size_t size = whole + 1; size < whole + 4 * 8; size++) {
        b.size = size;
        struct loaded l = load(&b);
        fails(&l, WEFT_E_FORMAT, whole, "ends within a record");
        assert_int_equal(l.p->samples, 2);
        assert_int_equal(l.p->sample[1].value, 500);
        done(&l);
    }
}

TEST(akaros_malformed)
{
    const struct {
        uint64_t word;
        const char *says;
    } odd[] = {
        {UINT64_C(0xee02) << 48 | 1, "version 2"},
        {UINT64_C(0xee01) << 48, "0 addresses"},
        {0x1234, "expected a record of kpoprofile"},
    };
    for (unsigned i = 0; i < COUNT(odd); i++) {
        struct bytes b = {.size = 0};
        V1(&b, 1000, 0, 1, 2, 3);
        put_u64(&b, odd[i].word);
        put_words(&b, (const uint64_t[]){1, 2, 3, 4}, 4);
        struct loaded l = load(&b);
        fails(&l, WEFT_E_FORMAT, 40, odd[i].says);
        assert_int_equal(l.p->samples, 1);
        done(&l);
    }
}

/* ---- kpdata ---- */

static void put_varint(struct bytes *b, uint64_t v)
{
    for (; v > 127; v >>= 7)
        put(b, &(unsigned char){(unsigned char)(v | 128)}, 1);
    put(b, &(unsigned char){(unsigned char)v}, 1);
}

static void kp_record(struct bytes *b, uint64_t type, const struct bytes *body)
{
    put_varint(b, type);
    put_varint(b, body->size);
    put(b, body->at, body->size);
}

static void kp_trace(struct bytes *b, uint64_t time, uint32_t process, uint16_t core,
                     const uint64_t *pc, uint16_t pcs)
{
    struct bytes r = {.size = 0};
    put_u64(&r, 0);
    put_u64(&r, time);
    put_u32(&r, process);
    put_u16(&r, core);
    put_u16(&r, pcs);
    put_words(&r, pc, pcs);
    kp_record(b, pcs && pc[0] >> 63 ? 1 : 2, &r);
}

static void kp_mapping(struct bytes *b, uint64_t time, uint32_t process, uint64_t start,
                       uint64_t size, uint64_t offset, const char *path)
{
    struct bytes r = {.size = 0};
    put_words(&r, (const uint64_t[]){time, start, size, offset}, 4);
    put_u32(&r, process);
    put(&r, path, strlen(path) + 1);
    kp_record(b, 3, &r);
}

static void kp_process(struct bytes *b, uint64_t time, uint32_t process, const char *path)
{
    struct bytes r = {.size = 0};
    put_u64(&r, time);
    put_u32(&r, process);
    put(&r, path, strlen(path) + 1);
    kp_record(b, 4, &r);
}

TEST(kpdata_records)
{
    static const uint64_t user[] = {0x400123}, kernel[] = {KERNEL_AT + 1, KERNEL_AT + 2};
    struct bytes b = {.size = 0}, unknown = {.at = "abc", .size = 3};
    uint64_t many[300];
    for (unsigned i = 0; i < COUNT(many); i++)
        many[i] = 0x400000 + i;
    kp_process(&b, 1000, 7, "/bin/first");
    kp_mapping(&b, 1000, 7, 0x400000, 0x1000, 0x2000, "/bin/first");
    kp_trace(&b, 1100, 7, 2, user, 1);
    kp_trace(&b, 1200, UINT32_MAX, 0, kernel, 2);
    kp_record(&b, UINT64_C(1) << 40, &unknown);
    kp_trace(&b, 1300, 7, 65535, many, COUNT(many)); /* its size takes two bytes */
    kp_process(&b, 2000, 7, "/bin/second");          /* the number is used again */
    kp_mapping(&b, 2000, 7, 0x400000, 0x1000, 0, "/bin/second");
    kp_trace(&b, 2100, 7, 1, user, 1);
    struct loaded l = load(&b);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.facts.kind, WEFT_FOREIGN_KPDATA);
    assert_int_equal(l.p->samples, 4);
    assert_int_equal(l.p->skipped, 1);
    HAS_STACK(l.p, 0, 0x400123);
    HAS_STACK(l.p, 1, KERNEL_AT + 1, KERNEL_AT + 2);
    HAS_STACK(l.p, 3, 0x400123);
    assert_string_equal(path_of(l.p, innermost(l.p, 0)), "/bin/first");
    assert_string_equal(path_of(l.p, innermost(l.p, 3)), "/bin/second");
    assert_int_equal(l.p->mapping[innermost(l.p, 0)->mapping].offset, 0x2000);
    assert_int_equal(l.p->sample[0].value, 250); /* 1000 ns in 4 samples */
    assert_int_equal(l.p->thread[l.p->sample[0].thread].process, 7);
    assert_int_equal(l.p->thread[l.p->sample[1].thread].process, UINT32_MAX);
    assert_string_equal(weft_profile_text(l.p, l.p->thread[l.p->sample[3].thread].name), "second");
    assert_int_equal(l.p->sample[2].core, 65535);
    done(&l);
}

TEST(kpdata_malformed)
{
    static const uint64_t user[] = {0x400123};
    const uint64_t sizes[] = {25, 1000, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT64_MAX};
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        struct bytes b = {.size = 0};
        kp_trace(&b, 1000, 7, 2, user, 1);
        size_t at = b.size;
        put_varint(&b, 1);
        put_varint(&b, sizes[i]);
        put(&b, "0123456789abcdef01234567", 24);
        struct loaded l = load(&b);
        fails(&l, WEFT_E_FORMAT, at, "ends within a record");
        assert_int_equal(l.p->samples, 1);
        done(&l);
    }
    struct bytes b = {.size = 0};
    kp_trace(&b, 1000, 7, 2, user, 1);
    size_t at = b.size;
    put(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\xff\xff", 12);
    struct loaded l = load(&b);
    fails(&l, WEFT_E_FORMAT, at, "more than 64 bits");
    done(&l);

    /* Contents that contradict the size are left out. */
    struct bytes short_one = {.size = 20}, no_end = {.at = "0123456789abpath", .size = 16};
    b.size = 0;
    kp_trace(&b, 1000, 7, 2, user, 1);
    kp_record(&b, 1, &short_one);
    kp_record(&b, 4, &no_end);
    kp_record(&b, 3, &no_end);
    kp_trace(&b, 2000, 7, 2, user, 1);
    l = load(&b);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.p->samples, 2);
    assert_int_equal(l.p->skipped, 3);
    done(&l);
}

TEST(ticks_histogram)
{
    struct bytes b = {.size = 0};
    char line[128];
    const struct {
        uint64_t address, ticks;
        const char *name;
    } rows[] = {{0, 112, "total"},
                {0, 12, "user"},
                {KERNEL_AT, 60, "schedule"},
                {KERNEL_AT + 8, 0, "unused"},
                {KERNEL_AT + 16, 40, "a_name_of_more_than_29_characters"}};
    for (unsigned i = 0; i < COUNT(rows); i++)
        put(&b, line,
            (size_t)snprintf(line, sizeof line, "%016llx %29.29s %016llx\n",
                             (unsigned long long)rows[i].address, rows[i].name,
                             (unsigned long long)rows[i].ticks));
    struct loaded l = load(&b);
    assert_int_equal(l.rc, 0);
    assert_int_equal(l.facts.kind, WEFT_FOREIGN_TICKS);
    assert_int_equal(l.p->samples, 3);
    const char *const names[] = {"(outside the kernel)", "schedule",
                                 "a_name_of_more_than_29_charac"};
    for (uint32_t i = 0; i < 3; i++) {
        const struct weft_location *loc = innermost(l.p, i);
        assert_int_equal(loc->frames, 1);
        uint32_t function = l.p->frame[loc->first_frame].function;
        assert_string_equal(weft_profile_text(l.p, l.p->function[function].name), names[i]);
        assert_int_equal(loc->kernel, i > 0);
    }
    assert_int_equal(l.p->sample[0].value, 12);
    assert_int_equal(l.p->sample[2].value, 40);
    done(&l);
    b.at[3 * 64] = 'x';
    l = load(&b);
    fails(&l, WEFT_E_FORMAT, 3 * 64, "hexadecimal");
    assert_int_equal(l.p->samples, 2);
    done(&l);
}

/* ---- perf.data ---- */

#define USUAL                                                                                      \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |                \
     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

struct perf {
    struct perf_event_attr attr[4];
    uint64_t id[4]; /* of each event one */
    unsigned events;
    struct bytes records, features[32];
};

static void perf_begin(struct perf *f, uint64_t sample_type)
{
    memset(f, 0, sizeof *f);
    f->events = 1;
    f->id[0] = 101;
    f->attr[0] = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                          .size = sizeof f->attr[0],
                                          .config = PERF_COUNT_SW_CPU_CLOCK,
                                          .sample_period = NS_AN_EVENT,
                                          .sample_type = sample_type,
                                          .sample_id_all = 1};
}

static void perf_record_of(struct bytes *out, uint32_t type, unsigned misc,
                           const struct bytes *body)
{
    put_u32(out, type);
    put_u16(out, (uint16_t)misc);
    put_u16(out, (uint16_t)(8 + body->size));
    put(out, body->at, body->size);
}

struct who {
    uint32_t process, thread, core;
    uint64_t time, id;
};

static void put_who(struct bytes *b, struct who w)
{
    put_u32(b, w.process);
    put_u32(b, w.thread);
    put_u64(b, w.time);
    put_u64(b, w.core);
    put_u64(b, w.id ? w.id : 101);
}

static void perf_map(struct perf *f, struct who w, unsigned misc, uint64_t start, uint64_t size,
                     uint64_t offset, const char *path)
{
    struct bytes r = {.size = 0};
    put_u32(&r, w.process);
    put_u32(&r, w.thread);
    put_words(&r, (const uint64_t[]){start, size, offset}, 3);
    put_text(&r, path);
    put_who(&r, w);
    perf_record_of(&f->records, PERF_RECORD_MMAP, misc, &r);
}

static void perf_map2(struct perf *f, struct who w, uint64_t start, uint64_t size, uint64_t offset,
                      const char *path, const char *build_id)
{
    struct bytes r = {.size = 0};
    put_u32(&r, w.process);
    put_u32(&r, w.thread);
    put_words(&r, (const uint64_t[]){start, size, offset}, 3);
    if (build_id) {
        put_u32(&r, (uint32_t)strlen(build_id));
        put(&r, build_id, strlen(build_id));
        r.size += 20 - strlen(build_id);
    } else {
        put_words(&r, (const uint64_t[]){1, 2, 3}, 3);
    }
    put_u64(&r, 5);
    put_text(&r, path);
    put_who(&r, w);
    perf_record_of(&f->records, PERF_RECORD_MMAP2,
                   PERF_RECORD_MISC_USER | (build_id ? 1u << 14 : 0), &r);
}

static void perf_name(struct perf *f, struct who w, bool exec, const char *name)
{
    struct bytes r = {.size = 0};
    put_u32(&r, w.process);
    put_u32(&r, w.thread);
    put_text(&r, name);
    put_who(&r, w);
    perf_record_of(&f->records, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, &r);
}

/* of: the new thread; by: who made it */
static void perf_task(struct perf *f, uint32_t type, struct who of, struct who by)
{
    struct bytes r = {.size = 0};
    put_u32(&r, of.process);
    put_u32(&r, by.process);
    put_u32(&r, of.thread);
    put_u32(&r, by.thread);
    put_u64(&r, of.time);
    put_who(&r, of);
    perf_record_of(&f->records, type, 0, &r);
}

static void perf_sample(struct perf *f, struct who w, unsigned misc, uint64_t period,
                        const uint64_t *chain, unsigned pcs)
{
    struct bytes r = {.size = 0};
    put_words(&r, (const uint64_t[]){w.id ? w.id : 101, pcs ? chain[pcs > 1] : 0x999}, 2);
    put_u32(&r, w.process);
    put_u32(&r, w.thread);
    put_words(&r, (const uint64_t[]){w.time, w.core, period, pcs}, 4);
    put_words(&r, chain, pcs);
    perf_record_of(&f->records, PERF_RECORD_SAMPLE, misc, &r);
}
#define PERF_SAMPLE_OF(f, w, misc, ...)                                                            \
    perf_sample(f, w, misc, NS_AN_EVENT, (const uint64_t[]){__VA_ARGS__},                          \
                COUNT(((const uint64_t[]){__VA_ARGS__})))

static void perf_switch(struct perf *f, struct who w, unsigned misc)
{
    struct bytes r = {.size = 0};
    put_who(&r, w);
    perf_record_of(&f->records, PERF_RECORD_SWITCH, misc, &r);
}

/* The file: header, ids, events, records, features. */
static void perf_file(const struct perf *f, struct bytes *b)
{
    size_t entry = sizeof f->attr[0] + 16, data = 104 + 8 * f->events + entry * f->events;
    uint64_t bits = 0;
    b->size = 0;
    for (unsigned i = 0; i < COUNT(f->features); i++)
        bits |= (uint64_t)(f->features[i].size > 0) << i;
    put(b, "PERFILE2", 8);
    put_words(b,
              (const uint64_t[]){104, entry, 104 + 8 * f->events, entry * f->events, data,
                                 f->records.size, 0, 0, bits, 0, 0, 0},
              12);
    put_words(b, f->id, f->events);
    for (unsigned i = 0; i < f->events; i++) {
        put(b, &f->attr[i], sizeof f->attr[i]);
        put_u64(b, 104 + 8 * i);
        put_u64(b, 8);
    }
    put(b, f->records.at, f->records.size);
    size_t at = b->size + 16 * (size_t)__builtin_popcountll(bits);
    for (unsigned i = 0; i < COUNT(f->features); i++)
        if (f->features[i].size) {
            put_u64(b, at);
            put_u64(b, f->features[i].size);
            at += f->features[i].size;
        }
    for (unsigned i = 0; i < COUNT(f->features); i++)
        put(b, f->features[i].at, f->features[i].size);
}

/* What goes through a pipe: events and features are records. */
static void perf_pipe(const struct perf *f, struct bytes *b)
{
    b->size = 0;
    put(b, "PERFILE2", 8);
    put_u64(b, 16);
    for (unsigned i = 0; i < f->events; i++) {
        struct bytes r = {.size = 0};
        put(&r, &f->attr[i], sizeof f->attr[i]);
        put_u64(&r, f->id[i]);
        perf_record_of(b, 64, 0, &r);
    }
    for (unsigned i = 0; i < COUNT(f->features); i++)
        if (i == 2) { /* build ids are records by themselves */
            put(b, f->features[i].at, f->features[i].size);
        } else if (f->features[i].size) {
            struct bytes r = {.size = 0};
            put_u64(&r, i);
            put(&r, f->features[i].at, f->features[i].size);
            perf_record_of(b, 80, 0, &r);
        }
    put(b, f->records.at, f->records.size);
}

static void put_string(struct bytes *b, const char *text)
{
    size_t size = strlen(text) / 8 * 8 + 8;
    put_u32(b, (uint32_t)size);
    put_text(b, text);
}

static const struct who one = {.process = 10, .thread = 10, .core = 1, .time = 1000};

static struct who at(struct who w, uint64_t time)
{
    w.time = time;
    return w;
}

/* A process that runs another program, forks, and has a second thread; a build id each way. */
static void perf_story(struct perf *f)
{
    const struct who thread = {10, 11, 2, 1300, 0}, child = {20, 20, 3, 1500, 0};
    perf_begin(f, USUAL);
    perf_map(f, (struct who){.process = UINT32_MAX, .thread = 0}, PERF_RECORD_MISC_KERNEL,
             KERNEL_AT, 0x1000000, KERNEL_AT, "[kernel.kallsyms]_text");
    perf_name(f, at(one, 0), false, "shell");
    perf_map(f, at(one, 0), PERF_RECORD_MISC_USER, 0x400000, 0x1000, 0, "/bin/shell");
    /* Samples of one core before the mappings that another one told earlier. */
    PERF_SAMPLE_OF(f, at(one, 2000), PERF_RECORD_MISC_USER, PERF_CONTEXT_USER, 0x400100, 0x400200);
    PERF_SAMPLE_OF(f, at(one, 2100), PERF_RECORD_MISC_KERNEL, PERF_CONTEXT_KERNEL, KERNEL_AT + 1,
                   KERNEL_AT + 2, PERF_CONTEXT_USER, 0x7f0000000100, 0x400200);
    PERF_SAMPLE_OF(f, at(one, 1000), PERF_RECORD_MISC_USER, PERF_CONTEXT_USER, 0x400100);
    perf_name(f, at(one, 1200), true, "program");
    perf_map2(f, at(one, 1201), 0x400000, 0x1000, 0x3000, "/bin/program", "0123456789abcdef0123");
    perf_map2(f, at(one, 1202), 0x7f0000000000, 0x1000, 0, "/lib/lib.so", NULL);
    perf_task(f, PERF_RECORD_FORK, thread, one);
    perf_task(f, PERF_RECORD_FORK, child, one);
    PERF_SAMPLE_OF(f, at(child, 1600), PERF_RECORD_MISC_USER, PERF_CONTEXT_USER, 0x400100);
    PERF_SAMPLE_OF(f, at(thread, 1700), PERF_RECORD_MISC_USER, PERF_CONTEXT_USER, 0x400100);

    struct bytes id = {.size = 0};
    put_u32(&id, UINT32_MAX);
    put(&id, "bbbbbbbbbbbbbbbb\0\0\0\0\x10\0\0\0", 24);
    put_text(&id, "/lib/lib.so");
    perf_record_of(&f->features[2], 67, PERF_RECORD_MISC_USER | 1u << 15, &id);
    put_string(&f->features[3], "a-host");
    put_string(&f->features[4], "6.1.0");
    put_u32(&f->features[11], 2);
    put_string(&f->features[11], "perf");
    put_string(&f->features[11], "record");
    put_u32(&f->features[29], 1);
    put_u32(&f->features[29], 1);
    put_u64(&f->features[29], 1700000000000000000);
    put_u64(&f->features[29], 900);
}

static void check_story(const struct loaded *l)
{
    const struct weft_profile *p = l->p;
    assert_int_equal(l->rc, 0);
    assert_int_equal(l->facts.kind, WEFT_FOREIGN_PERF);
    assert_int_equal(p->skipped, 0);
    assert_int_equal(p->samples, 5); /* in order of time */
    HAS_STACK(p, 0, 0x400100);
    HAS_STACK(p, 3, 0x400100, 0x400200);
    HAS_STACK(p, 4, KERNEL_AT + 1, KERNEL_AT + 2, 0x7f0000000100, 0x400200);
    const char *const path[] = {"/bin/shell", "/bin/program", "/bin/program", "/bin/program",
                                "[kernel.kallsyms]"};
    const uint32_t thread[] = {10, 20, 11, 10, 10};
    const char *const name[] = {"program", "program", "program", "program", "program"};
    for (uint32_t i = 0; i < 5; i++) {
        const struct weft_thread *t = &p->thread[p->sample[i].thread];
        assert_string_equal(path_of(p, innermost(p, i)), path[i]);
        assert_int_equal(t->thread, thread[i]);
        assert_string_equal(weft_profile_text(p, t->name), name[i]);
        assert_int_equal(p->sample[i].value, NS_AN_EVENT);
    }
    const struct weft_mapping *program = &p->mapping[innermost(p, 3)->mapping];
    assert_int_equal(program->build_id_bytes, 20);
    assert_memory_equal(program->build_id, "0123456789abcdef0123", 20);
    assert_int_equal(program->offset, 0x3000);

    uint32_t node = p->stack[p->sample[4].stack].parent;
    assert_true(p->location[p->stack[node].location].caller);
    node = p->stack[node].parent; /* where the program called the kernel: no return address */
    const struct weft_location *user = &p->location[p->stack[node].location];
    assert_false(user->caller);
    assert_false(user->kernel);
    assert_int_equal(p->mapping[user->mapping].build_id_bytes, 16);
    assert_memory_equal(p->mapping[user->mapping].build_id, "bbbbbbbbbbbbbbbb", 16);
    assert_true(p->location[p->stack[p->stack[node].parent].location].caller);
    assert_false(innermost(p, 4)->caller);
    assert_true(innermost(p, 4)->kernel);

    assert_int_equal(p->sources, 1);
    assert_int_equal(p->source[0].unit, WEFT_UNIT_NS);
    assert_int_equal(p->source[0].period, NS_AN_EVENT);
    assert_string_equal(weft_profile_text(p, p->source[0].name), "cpu-clock");
    assert_string_equal(l->facts.host, "a-host");
    assert_string_equal(l->facts.release, "6.1.0");
    assert_string_equal(l->facts.command, "perf record");
    assert_int_equal(l->facts.real_ns, 1700000000000000000);
    assert_int_equal(l->facts.clock_ns, 900);
    assert_int_equal(l->facts.kernel_start, KERNEL_AT);
}

TEST(perf_whole)
{
    static struct perf f;
    static struct bytes b;
    perf_story(&f);
    perf_file(&f, &b);
    struct loaded l = load(&b);
    check_story(&l);
    done(&l);
    perf_pipe(&f, &b);
    l = load(&b);
    check_story(&l);
    done(&l);
}

/* The records compressed, in pieces that do not end where records do. */
TEST(perf_compressed)
{
    static struct perf f, packed;
    static struct bytes b;
    perf_story(&f);
    packed = f;
    packed.records.size = 0;
    ZSTD_CStream *stream = ZSTD_createCStream();
    for (size_t from = 0; from < f.records.size; from += 100) {
        size_t left = f.records.size - from;
        struct bytes piece = {.size = 0};
        ZSTD_inBuffer in = {f.records.at + from, left < 100 ? left : 100, 0};
        ZSTD_outBuffer out = {piece.at, sizeof piece.at, 0};
        assert_int_equal(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush), 0);
        piece.size = out.pos;
        perf_record_of(&packed.records, 81, 0, &piece);
    }
    ZSTD_freeCStream(stream);
    perf_file(&packed, &b);
    struct loaded l = load(&b);
    check_story(&l);
    done(&l);

    struct bytes junk = {.at = "no zstd", .size = 8};
    size_t at_offset = b.size;
    perf_record_of(&f.records, 81, 0, &junk);
    perf_file(&f, &b);
    at_offset = 104 + 8 + sizeof f.attr[0] + 16 + f.records.size - 16;
    l = load(&b);
    fails(&l, WEFT_E_FORMAT, at_offset, "cannot be decompressed");
    assert_int_equal(l.p->samples, 5);
    done(&l);
}

/* A few bytes must not become a terabyte. */
TEST(perf_bomb)
{
    static struct perf f;
    static struct bytes b;
    static uint64_t round[1 << 17];
    for (unsigned i = 0; i < COUNT(round); i++)
        round[i] = UINT64_C(8) << 48 | 68; /* a record that says nothing */
    perf_begin(&f, USUAL);
    ZSTD_CStream *stream = ZSTD_createCStream();
    for (unsigned i = 0; i < 20000 && f.records.size < 1 << 14; i++) {
        struct bytes piece = {.size = 0};
        ZSTD_inBuffer in = {round, sizeof round, 0};
        ZSTD_outBuffer out = {piece.at, sizeof piece.at, 0};
        assert_int_equal(ZSTD_compressStream2(stream, &out, &in, ZSTD_e_flush), 0);
        piece.size = out.pos;
        perf_record_of(&f.records, 81, 0, &piece);
    }
    ZSTD_freeCStream(stream);
    perf_file(&f, &b);
    struct loaded l = load(&b);
    assert_int_equal(l.rc, WEFT_E_LIMIT);
    assert_non_null(strstr(l.err.text, "20 times"));
    done(&l);
}

/* All fields that may stand before the one that is looked for, and behind it. */
TEST(perf_fields)
{
    static struct perf f;
    static struct bytes b;
    struct bytes r = {.size = 0};
    perf_begin(&f, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                       PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                       PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
                       PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
                       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC);
    f.attr[0].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED;
    f.attr[0].branch_sample_type = 1u << 17; /* an index before the branches */
    f.attr[0].sample_regs_user = 5;
    put_u64(&r, 0x400100);
    put_u32(&r, 10);
    put_u32(&r, 11);
    put_words(&r, (const uint64_t[]){1234, 0xadd7, 101, 55, 6, 777}, 6);
    put_words(&r, (const uint64_t[]){2, 9, 1, 101, 2, 102}, 6);           /* read */
    put_words(&r, (const uint64_t[]){2, PERF_CONTEXT_USER, 0x400100}, 3); /* chain */
    put_u32(&r, 12);                                                      /* raw */
    put(&r, "123456789abc", 12);
    put_words(&r, (const uint64_t[]){1, UINT64_MAX, 1, 2, 3}, 5); /* branches */
    put_words(&r, (const uint64_t[]){2, 70, 72}, 3);              /* registers */
    put_words(&r, (const uint64_t[]){16, 1, 2, 8}, 4);            /* stack, of which 8 are there */
    put_words(&r, (const uint64_t[]){1, 2}, 2);
    perf_record_of(&f.records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &r);
    size_t fields = r.size;
    perf_file(&f, &b);
    struct loaded l = load(&b);
    assert_int_equal(l.p->samples, 1);
    HAS_STACK(l.p, 0, 0x400100);
    assert_int_equal(l.p->sample[0].time_ns, 1234);
    assert_int_equal(l.p->sample[0].core, 6);
    assert_int_equal(l.p->sample[0].value, 777);
    assert_int_equal(l.facts.without_callers, 1);
    done(&l);
    /* One that is too short for its fields is none; the last two are not asked for. */
    for (size_t size = 0; size < fields - 16; size += 4) {
        f.records.size = 0;
        r.size = size;
        perf_record_of(&f.records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &r);
        perf_file(&f, &b);
        l = load(&b);
        assert_int_equal(l.rc, 0);
        assert_int_equal(l.p->samples, 0);
        assert_int_equal(l.p->skipped, 1);
        done(&l);
    }
}

TEST(perf_two_events)
{
    static struct perf f;
    static struct bytes b;
    perf_begin(&f, USUAL);
    f.events = 3;
    f.attr[1] = f.attr[2] = f.attr[0];
    f.attr[1].type = PERF_TYPE_HARDWARE;
    f.attr[1].config = PERF_COUNT_HW_CPU_CYCLES | UINT64_C(7) << 32;
    f.attr[1].freq = 1;
    f.attr[1].sample_freq = 99;
    f.attr[2].type = PERF_TYPE_RAW;
    f.attr[2].config = 0x1c2;
    f.id[1] = 102;
    f.id[2] = 103;
    struct who w = one;
    for (uint64_t id = 101; id <= 104; id++) { /* of 104 nothing is known */
        w.id = id;
        w.time++;
        perf_sample(&f, w, PERF_RECORD_MISC_USER, id * 10, NULL, 0);
    }
    for (int pipe = 0; pipe < 2; pipe++) {
        (pipe ? perf_pipe : perf_file)(&f, &b);
        struct loaded l = load(&b);
        const char *const names[] = {"cpu-clock", "cycles", "event-4-0x1c2"};
        const enum weft_source_unit units[] = {WEFT_UNIT_NS, WEFT_UNIT_CYCLES, WEFT_UNIT_COUNT};
        assert_int_equal(l.p->samples, 3);
        assert_int_equal(l.p->skipped, 1);
        assert_int_equal(l.p->sources, 3);
        for (uint32_t i = 0; i < 3; i++) {
            const struct weft_source *s = &l.p->source[l.p->sample[i].source];
            assert_string_equal(weft_profile_text(l.p, s->name), names[i]);
            assert_int_equal(s->unit, units[i]);
            assert_int_equal(l.p->sample[i].value, 1010 + 10 * i);
            HAS_STACK(l.p, i, 0x999); /* no chain: where it was */
        }
        assert_int_equal(l.p->source[1].frequency, 99);
        done(&l);
    }
    /* The names that were asked for. */
    struct bytes *names = &f.features[12];
    put_u32(names, 3);
    put_u32(names, sizeof f.attr[0]);
    for (unsigned i = 3; i-- > 0;) {
        char name[32];
        snprintf(name, sizeof name, "event %u", i);
        put(names, &f.attr[i], sizeof f.attr[i]);
        put_u32(names, 1);
        put_string(names, name);
        put_u64(names, f.id[i]);
    }
    perf_file(&f, &b);
    struct loaded l = load(&b);
    assert_string_equal(weft_profile_text(l.p, l.p->source[2].name), "event 2");
    done(&l);
}

TEST(perf_switches)
{
    static struct perf f;
    static struct bytes b;
    perf_begin(&f, USUAL);
    perf_switch(&f, at(one, 1000), PERF_RECORD_MISC_SWITCH_OUT);
    perf_switch(&f, at(one, 1500), 0);
    perf_switch(&f, at(one, 1600),
                PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    perf_switch(&f, at(one, 1610), 0);
    perf_switch(&f, at(one, 1700), PERF_RECORD_MISC_SWITCH_OUT);
    perf_task(&f, PERF_RECORD_EXIT, at(one, 1800), one);
    perf_switch(&f, (struct who){0, 0, 0, 900, 0}, PERF_RECORD_MISC_SWITCH_OUT); /* idle */
    struct bytes r = {.size = 0};
    put_words(&r, (const uint64_t[]){101, 17}, 2);
    put_who(&r, one);
    perf_record_of(&f.records, PERF_RECORD_LOST, 0, &r);
    perf_file(&f, &b);
    struct loaded l = load(&b);
    assert_int_equal(l.p->absences, 3);
    assert_int_equal(l.p->absence[0].value, 500);
    assert_false(l.p->absence[0].preempted);
    assert_true(l.p->absence[1].preempted);
    assert_int_equal(l.p->absence[2].time_ns + l.p->absence[2].value, 1800);
    assert_int_equal(l.p->lost, 17);
    done(&l);
}

/* ---- An unwinder ---- */

struct told {
    char text[512];
};

static int tell_map(void *data, const struct weft_mapping *m, const char *path)
{
    struct told *t = data;
    size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "map %u %s;", m->process, path);
    return 0;
}

static void tell_forget(void *data, uint32_t process)
{
    struct told *t = data;
    size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "forget %u;", process);
}

static int tell_fork(void *data, uint32_t process, uint32_t parent)
{
    struct told *t = data;
    size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "fork %u of %u;", process, parent);
    return 0;
}

static uint32_t tell_run(void *data, uint32_t process, uint32_t thread, uint64_t regs_mask,
                         const uint64_t *regs, const uint8_t *stack, uint64_t stack_bytes,
                         uint64_t *pcs, uint32_t room)
{
    struct told *t = data;
    size_t used = strlen(t->text);
    snprintf(t->text + used, sizeof t->text - used, "run %u %u %llx %llu %u;", process, thread,
             (unsigned long long)regs_mask, (unsigned long long)stack_bytes, stack[0]);
    assert_true(room >= 3);
    memcpy(pcs, (const uint64_t[]){regs[1], 0x400200, 0x400300}, 24);
    return 3;
}

TEST(perf_unwound)
{
    static struct perf f;
    static struct bytes b;
    struct told told = {.text = ""};
    const struct weft_foreign_unwinder u = {&told, tell_map, tell_forget, tell_run, tell_fork};
    perf_begin(&f, USUAL | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
    f.attr[0].sample_regs_user = 3;
    perf_map(&f, at(one, 1), PERF_RECORD_MISC_USER, 0x400000, 0x1000, 0, "/bin/a");
    perf_name(&f, at(one, 2), true, "b");
    perf_map(&f, at(one, 3), PERF_RECORD_MISC_USER, 0x400000, 0x1000, 0, "/bin/b");
    perf_task(&f, PERF_RECORD_FORK, (struct who){20, 20, 0, 4, 0}, one);
    for (unsigned i = 0; i < 2; i++) { /* in the program, and in the kernel that it called */
        struct bytes r = {.size = 0};
        put_words(&r, (const uint64_t[]){101, i ? KERNEL_AT : 0x400100}, 2);
        put_u32(&r, 10);
        put_u32(&r, 10);
        put_words(&r, (const uint64_t[]){1000 + i, 0, NS_AN_EVENT, 2}, 4);
        put_u64(&r, i ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
        put_u64(&r, i ? KERNEL_AT : 0x400100);
        put_words(&r, (const uint64_t[]){2, 0x7ffe0000, 0x400100}, 3);
        put_words(&r, (const uint64_t[]){16, 42, 43, 8}, 4);
        perf_record_of(&f.records, PERF_RECORD_SAMPLE,
                       i ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &r);
    }
    perf_file(&f, &b);
    struct loaded l = load_with(&b, &(struct weft_foreign_options){.unwinder = &u});
    HAS_STACK(l.p, 0, 0x400100, 0x400200, 0x400300);
    HAS_STACK(l.p, 1, KERNEL_AT, 0x400100, 0x400200, 0x400300);
    assert_string_equal(told.text, "map 10 /bin/a;forget 10;map 10 /bin/b;fork 20 of 10;"
                                   "run 10 10 3 8 42;run 10 10 3 8 42;");
    assert_int_equal(l.facts.without_callers, 0);
    done(&l);
}

/* ---- What is no perf.data, or not all of it ---- */

TEST(perf_refused)
{
    static struct perf f;
    static struct bytes b;
    perf_story(&f);
    perf_file(&f, &b);
    memcpy(b.at, "2ELIFREP", 8);
    struct loaded l = load(&b);
    fails(&l, WEFT_E_FORMAT, 0, "other byte order");
    done(&l);
    memcpy(b.at, "PERFFILE", 8);
    l = load(&b);
    fails(&l, WEFT_E_FORMAT, 0, "newer");
    done(&l);
    memcpy(b.at, "PERFILE2", 8);
    b.size = 60;
    l = load(&b);
    fails(&l, WEFT_E_FORMAT, 8, "header");
    done(&l);
}

TEST(perf_cut)
{
    static struct perf f;
    static struct bytes b;
    perf_story(&f);
    perf_file(&f, &b);
    size_t data = 104 + 8 + sizeof f.attr[0] + 16, end = data + f.records.size, last = 8 * 8 + 16;
    for (size_t size = data; size < end; size += 8) {
        b.size = size;
        struct loaded l = load(&b);
        assert_int_equal(l.rc, WEFT_E_FORMAT);
        assert_true(l.err.offset <= size);
        assert_true(l.p->samples <= 5 && (size < end - last || l.p->samples == 4));
        done(&l);
    }
    /* What perf leaves when it is killed: it does not say how much there is. */
    perf_file(&f, &b);
    b.size = end;
    memset(b.at + 48, 0, 8);
    struct loaded l = load(&b);
    assert_int_equal(l.rc, 0);
    assert_true(l.facts.cut);
    assert_int_equal(l.p->samples, 5);
    done(&l);
    /* A record that has no size would be read for ever. */
    perf_file(&f, &b);
    memset(b.at + data + 6, 0, 2);
    l = load(&b);
    fails(&l, WEFT_E_FORMAT, data, "of 0 bytes");
    done(&l);
}

/* ---- No memory ---- */

TEST(out_of_memory)
{
    static struct perf f;
    static struct bytes b[3];
    static const uint64_t user[] = {0x400123, 0x400124};
    perf_story(&f);
    perf_file(&f, &b[0]);
    V1(&b[1], 1000, 0, KERNEL_AT, 1, 2, 3);
    kp_process(&b[2], 1000, 7, "/bin/first");
    kp_mapping(&b[2], 1000, 7, 0x400000, 0x1000, 0x2000, "/bin/first");
    kp_trace(&b[2], 1100, 7, 2, user, 2);
    for (unsigned i = 0; i < COUNT(b); i++) {
        struct weft_input in = input_of(&b[i]);
        struct failing f = {0};
        int rc = 0;
        while (fails_next(&f, rc)) {
            struct weft_error err = {.code = 0};
            struct weft_profile *p = weft_profile_new();
            rc = p ? weft_profile_load_foreign(p, &in, NULL, NULL, &err) : WEFT_E_NOMEM;
            assert_true(rc == 0 || !p || *err.text);
            weft_profile_free(p);
        }
        assert_true(f.n > 9);
        weft_input_close(&in);
    }
}

RUN_TESTS(NULL, NULL)
