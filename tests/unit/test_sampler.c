/* SPDX-License-Identifier: ISC */
/* The sampler: what the kernel's rings say, made up here, since what a kernel does is never twice the same; and files
 * of samples, written and read back. What needs a kernel is in e2e/sampler.sh. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocations.h"
#include "profile/build.h"
#include "read/reader.h"
#include "rings.h"
#include "sample/file.h"

/* ---- What is handed out, as text ---- */

struct log {
    char text[4096];
    uint32_t left; /* records until the caller has enough; 0: never */
};

__attribute__((format(printf, 2, 3))) static void say(struct log *log, const char *format, ...)
{
    va_list args;
    size_t n = strlen(log->text);
    va_start(args, format);
    vsnprintf(log->text + n, sizeof log->text - n, format, args);
    va_end(args);
}

static bool take(void *data, const struct weft_sampled *r)
{
    struct log *log = data;
    say(log, "%u%s %llu", r->kind, r->flags ? "+" : "", (unsigned long long)r->time_ns);
    if (r->flags)
        say(log, " flags %u", r->flags);
    say(log, " t%u c%u", r->thread, r->core);
    if (r->value)
        say(log, " v%llu", (unsigned long long)r->value);
    for (uint32_t i = 0; i < r->addresses; i++)
        say(log, "%s%llx",
            i == 0                     ? " ["
            : i == r->kernel_addresses ? "|"
                                       : " ",
            (unsigned long long)r->address[i]);
    say(log, "%s%s%s\n", r->addresses ? "] " : " ", r->text, r->build_id_bytes ? " id" : "");
    return log->left == 0 || --log->left > 0;
}

static void add(struct rings *r, uint32_t ring, struct raw w)
{
    assert_int_equal(rings_add(r, ring, w.bytes, w.size), 0);
}

#define CHAIN(...) ((const uint64_t[]){__VA_ARGS__, 0})
#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER ((uint64_t)PERF_CONTEXT_USER)

static struct rings *new_rings(void)
{
    struct rings *r = malloc(sizeof *r);
    assert_non_null(r);
    rings_init(r);
    return r;
}

static void done(struct rings *r)
{
    rings_fini(r);
    free(r);
}

TEST(records_are_in_order_of_time)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    add(r, 0, raw_switch(false, 30, 1));
    add(r, 0, raw_switch(false, 10, 2)); /* overtaken by an interrupt */
    add(r, 1, raw_switch(false, 20, 3));
    add(r, 1, raw_switch(false, 30, 4));
    add(r, 1, raw_switch(false, 50, 5));
    assert_int_equal(rings_read(r, 40, take, &log), 4);
    add(r, 0, raw_switch(false, 45, 6));
    assert_int_equal(rings_read(r, UINT64_MAX, take, &log), 2);
    assert_int_equal(rings_read(r, UINT64_MAX, take, &log), 0);
    assert_string_equal(log.text, "5 10 t2 c10 \n5 20 t3 c11 \n5 30 t1 c10 \n5 30 t4 c11 \n"
                                  "5 45 t6 c10 \n5 50 t5 c11 \n");
    done(r);
}

TEST(a_caller_may_stop)
{
    struct rings *r = new_rings();
    struct log log = {.left = 2};
    for (uint32_t i = 0; i < 5; i++)
        add(r, i % 2, raw_switch(false, 10 + i, i + 1));
    assert_int_equal(rings_read(r, UINT64_MAX, take, &log), 2);
    log.left = 0;
    assert_int_equal(rings_read(r, UINT64_MAX, take, &log), 3);
    assert_string_equal(log.text,
                        "5 10 t1 c10 \n5 11 t2 c11 \n5 12 t3 c10 \n5 13 t4 c11 \n5 14 t5 c10 \n");
    done(r);
}

TEST(a_leaving_thread_has_its_stack)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    add(r, 0, raw_sample(SAMPLE_LEAVE, 1, 10, 1, CHAIN(KERNEL, 5, 6, USER, 7)));
    add(r, 1, raw_switch(true, 10, 2)); /* its own was lost */
    add(r, 0, raw_switch(true, 11, 1));
    add(r, 0, raw_sample(SAMPLE_LEAVE, 1, 12, 3, CHAIN(KERNEL, 9)));
    add(r, 0, raw_switch(true, 13, 4)); /* what says that 3 leaves was lost */
    add(r, 0, raw_switch(true, 14, 3));
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "5+ 10 flags 1 t2 c11 \n5+ 11 flags 1 t1 c10 [5 6|7] \n"
                                  "5+ 13 flags 1 t4 c10 \n5+ 14 flags 1 t3 c10 \n");
    assert_int_equal(r->s.counts.switches, 4);
    assert_int_equal(r->s.counts.samples, 0);
    done(r);
}

TEST(stacks_have_two_parts)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    const uint16_t kernel = PERF_RECORD_MISC_KERNEL, user = PERF_RECORD_MISC_USER;
    add(r, 0, raw_sample(SAMPLE_MAIN, kernel, 1, 1, CHAIN(KERNEL, 1, 2, USER, 3, 4)));
    add(r, 0, raw_sample(SAMPLE_MAIN, user, 2, 1, CHAIN(USER, 3, 4)));
    add(r, 0, raw_sample(SAMPLE_MAIN, kernel, 3, 1, CHAIN(KERNEL, 1)));
    add(r, 0, raw_sample(SAMPLE_MAIN, user, 4, 1, CHAIN(USER))); /* only where */
    add(r, 0, raw_sample(SAMPLE_MAIN, user, 5, 1, CHAIN(USER, 1, 2, 3, 4, 5, 6, 7, 8, 9)));
    r->s.period = 2000; /* from 4 on; the kernel goes on saying 999 */
    r->s.period_before = 1000;
    r->s.period_since_ns = 4;
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "4+ 1 flags 1 t1 c10 v1000 [1 2|3 4] \n"
                                  "4 2 t1 c10 v1000 [3 4] \n"
                                  "4+ 3 flags 1 t1 c10 v1000 [1] \n"
                                  "4 4 t1 c10 v2000 [1234] \n"
                                  "4+ 5 flags 2 t1 c10 v2000 [1 2 3 4 5 6 7 8] \n");
    assert_int_equal(r->s.counts.samples, 5);
    done(r);
}

TEST(threads_have_names)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    add(r, 0, raw_comm(true, 1, 100, "shell"));
    add(r, 0, raw_task(PERF_RECORD_FORK, 2, 100, 100, 101, 100));
    add(r, 0, raw_task(PERF_RECORD_FORK, 3, 200, 100, 200, 101));
    add(r, 0, raw_comm(false, 4, 101, "worker"));
    add(r, 0, raw_task(PERF_RECORD_EXIT, 5, 100, 1, 100, 1));
    add(r, 0, raw_task(PERF_RECORD_FORK, 6, 300, 100, 300, 101));
    add(r, 0, raw_task(PERF_RECORD_FORK, 7, 400, 100, 400, 100)); /* of one that is not known */
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "7+ 1 flags 1 t100 c10 shell\n7 2 t101 c10 shell\n"
                                  "7 3 t200 c10 shell\n7 4 t101 c10 worker\n8 5 t100 c10 \n"
                                  "7 6 t300 c10 worker\n7 7 t400 c10 \n");
    done(r);
}

TEST(names_move)
{
    void *n = NULL;
    char text[16];
    for (uint32_t i = 1; i <= 2000; i++) { /* many of them meet in one place */
        snprintf(text, sizeof text, "t%u", i);
        assert_true(sample_comms_set(&n, i * 64, text));
    }
    for (uint32_t i = 1; i <= 2000; i += 3)
        sample_comms_drop(&n, i * 64);
    sample_comms_drop(&n, 7);
    for (uint32_t i = 1; i <= 2000; i++) {
        snprintf(text, sizeof text, "t%u", i);
        assert_string_equal(sample_comms_get(&n, i * 64), i % 3 == 1 ? "" : text);
    }
    for (uint32_t i = 1; i <= 20000; i++) /* creators' names, while the table grows */
        assert_true(sample_comms_set(&n, 64 * 2000 + i, sample_comms_get(&n, 64 * 2000 + i - 1)));
    assert_string_equal(sample_comms_get(&n, 64 * 2000 + 20000), "t2000");
    assert_true(sample_comms_set(&n, 5, "a name that is much too long"));
    assert_string_equal(sample_comms_get(&n, 5), "a name that is ");
    sample_comms_fini(&n);
}

TEST(mappings)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    add(r, 0, raw_mmap2(1, 5, 20, "/bin/x"));
    add(r, 0, raw_mmap2(2, 1, 20, "/bin/data"));
    add(r, 0, raw_mmap2(3, 5, 0, "//anon"));
    add(r, 0, raw_mmap2(4, 5, 200, "/bin/y")); /* more bytes than there are */
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "6 1 t101 c10 /bin/x id\n6 3 t101 c10 //anon\n"
                                  "6 4 t101 c10 /bin/y id\n");
    done(r);
}

TEST(interrupts_are_paired)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    add(r, 0, raw_irq(SAMPLE_IRQ_EXIT, 1, 7, "")); /* it began before */
    add(r, 0, raw_irq(SAMPLE_SOFT_ENTRY, 2, 3, ""));
    add(r, 0, raw_irq(SAMPLE_IRQ_ENTRY, 3, 7, "disk"));
    add(r, 1, raw_irq(SAMPLE_IRQ_EXIT, 4, 7, "")); /* another core's */
    add(r, 0, raw_irq(SAMPLE_IRQ_EXIT, 5, 7, ""));
    add(r, 0, raw_irq(SAMPLE_IRQ_EXIT, 6, 7, ""));
    add(r, 0, raw_irq(SAMPLE_SOFT_EXIT, 7, 3, ""));
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "10 3 t101 c10 v7 disk\n10+ 2 flags 1 t101 c10 v3 net_rx\n");
    done(r);
}

TEST(losses_are_counted)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    add(r, 1, raw_lost(5, 42));
    add(r, 1, raw_tail(raw_begin(PERF_RECORD_MAX - 1, 0), 6, 1)); /* of a newer kernel */
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "9 5 t101 c11 v42 \n");
    assert_int_equal(r->s.counts.lost, 42);
    r->ring[0].side = true; /* what a ring of switches has lost are no samples */
    add(r, 0, raw_lost(7, 3));
    add(r, 1, raw_lost(8, 8));
    *log.text = 0;
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "9+ 7 flags 1 t101 c10 v3 \n9 8 t101 c11 v8 \n");
    assert_int_equal(r->s.counts.lost, 50);
    assert_int_equal(r->s.counts.lost_switches, 3);
    /* At the end 60 are told of that ring; then the ring says itself what it has lost meanwhile, and one more. */
    struct weft_sampled out = {0};
    assert_true(sample_hand_lost(&r->s, &r->ring[1], 60, &out));
    assert_int_equal(out.value, 10);
    assert_false(sample_hand_lost(&r->s, &r->ring[1], 60, &out));
    add(r, 1, raw_lost(9, 10));
    add(r, 1, raw_lost(10, 1));
    *log.text = 0;
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "9 10 t101 c11 v1 \n");
    assert_int_equal(r->s.counts.lost, 61);
    done(r);
}

/* Threads leave their cores n times by a ring, then there is a look: of one each 10 ms. */
static bool look(struct sample_burden *b, uint32_t n, uint64_t *now_ns)
{
    uint8_t bytes[3 * 40];
    const struct raw list[] = {raw_switch(true, 1, 7), raw_switch(false, 1, 7),
                               raw_switch(true, 1, 0)}; /* coming back, and idling, do not count */
    for (size_t i = 0; i < 3; i++)
        memcpy(bytes + i * 40, list[i].bytes, 40);
    assert_int_equal(list[0].size, 40);
    for (uint32_t i = 0; i < n; i++)
        sample_burden_count(b, bytes, sizeof bytes);
    return sample_burden_look(b, *now_ns += 10000000);
}

TEST(too_many_switches)
{
    struct sample_burden b = {0};
    uint64_t now_ns = 1000000000;
    for (uint32_t i = 0; i < 1000; i++) /* 3900 a second, for ten seconds */
        assert_false(look(&b, 39, &now_ns));
    assert_false(look(&b, 4900, &now_ns)); /* at once */
    for (uint32_t i = 0; i < 150; i++)
        assert_false(look(&b, 0, &now_ns));
    assert_false(look(&b, 4900, &now_ns)); /* that is forgotten */
    for (uint32_t i = 0; i < 200; i++)
        assert_false(look(&b, 0, &now_ns));
    uint32_t looks = 1; /* 10000 a second: 60 too many at each look */
    while (!look(&b, 100, &now_ns))
        looks++;
    assert_int_equal(looks, 84);
    assert_int_equal(sample_burden_rate(&b), 10000);
    assert_false(look(&b, 5000, &now_ns)); /* once */
    const struct raw w = raw_switch(true, 1, 7);
    for (size_t size = 0; size < w.size; size++) { /* cut */
        struct sample_burden cut = {0};
        uint8_t *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, w.bytes, size);
        sample_burden_count(&cut, exact, size);
        assert_int_equal(cut.left, 0);
        free(exact);
    }
}

/* What records switches is closed, after it has said what it has lost; the other ring stays. */
TEST(side_rings_are_closed)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    const uint64_t is[2] = {0, 7};
    int own[2], side[2];
    assert_true(pipe(own) == 0 && pipe(side) == 0);
    assert_int_equal(write(side[1], is, sizeof is), sizeof is);
    for (int i = 0; i < RINGS; i++) {
        r->ring[i].map_bytes = 4096;
        r->ring[i].map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(r->ring[i].map, MAP_FAILED);
    }
    r->ring[1].side = true;
    r->event[SAMPLE_MAIN].fd = own[0];
    r->event[SAMPLE_SWITCHES].fd = side[0];
    r->event[SAMPLE_SWITCHES].ring = r->event[SAMPLE_LEAVE].ring = 1;
    r->s.fn = take;
    r->s.data = &log;
    assert_true(sample_close_side(&r->s));
    assert_non_null(strstr(log.text, " c11 v7 \n"));
    assert_int_equal(r->s.counts.lost_switches, 7);
    assert_int_equal(fcntl(side[0], F_GETFD), -1);
    assert_int_equal(fcntl(own[0], F_GETFD), 0);
    assert_int_equal(r->event[SAMPLE_SWITCHES].fd, -1);
    assert_null(r->ring[1].map);
    assert_non_null(r->ring[0].map);
    close(own[0]);
    close(own[1]);
    close(side[1]);
    sample_unmap_rings(&r->s);
    done(r);
}

TEST(inherited_twice)
{
    struct rings *r = new_rings();
    struct log log = {.text = ""};
    /* The event of leaving is one that was opened for thread 7 later; the main one is thread 5's. */
    r->event[SAMPLE_MAIN].thread = 5;
    struct sample_event *late = &r->event[SAMPLE_ROLES - 1];
    *late = (struct sample_event){.fd = -1, .role = SAMPLE_MAIN, .thread = 7, .id = SAMPLE_ROLES};
    r->s.late = SAMPLE_ROLES - 1;
    struct raw own = raw_sample(SAMPLE_MAIN, 2, 20, 7, CHAIN(USER, 3));
    const uint64_t id = SAMPLE_ROLES;
    memcpy(own.bytes + 8, &id, sizeof id);
    add(r, 0, own);
    add(r, 0, raw_sample(SAMPLE_MAIN, 2, 21, 5, CHAIN(USER, 3)));
    add(r, 0, raw_sample(SAMPLE_MAIN, 2, 22, 6, CHAIN(USER, 3))); /* inherited; it has no other */
    rings_read(r, UINT64_MAX, take, &log);
    assert_false(late->doubled);
    add(r, 0, raw_sample(SAMPLE_MAIN, 2, 30, 7, CHAIN(USER, 3))); /* inherited: as its own one */
    add(r, 0, own);
    rings_read(r, UINT64_MAX, take, &log);
    assert_true(late->doubled);
    add(r, 0, own);
    add(r, 0, raw_sample(SAMPLE_MAIN, 2, 40, 7, CHAIN(USER, 3)));
    rings_read(r, UINT64_MAX, take, &log);
    assert_string_equal(log.text, "4 20 t7 c10 v1000 [3] \n4 21 t5 c10 v1000 [3] \n"
                                  "4 22 t6 c10 v1000 [3] \n"
                                  "4 20 t7 c10 v1000 [3] \n4 30 t7 c10 v1000 [3] \n"
                                  "4 40 t7 c10 v1000 [3] \n");
    done(r);
}

/* ---- Rings that no kernel fills ---- */

static bool ignore(void *data, const struct weft_sampled *r)
{
    size_t *bytes = data; /* all that is pointed to is there */
    for (uint32_t i = 0; i < r->addresses; i++)
        *bytes += r->address[i] & 1;
    for (uint32_t i = 0; i < r->build_id_bytes; i++)
        *bytes += r->build_id[i];
    assert_true(r->kernel_addresses <= r->addresses && r->addresses <= FRAMES);
    *bytes += strlen(r->text);
    return true;
}

static void hostile(struct raw w)
{
    size_t bytes = 0;
    for (size_t size = 0; size <= w.size; size++) { /* cut, and saying so or not */
        struct rings *r = new_rings();
        struct raw cut = w;
        uint8_t *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        cut.size = size;
        if (size >= 8 && size % 2)
            raw_end(&cut);
        memcpy(exact, cut.bytes, size);
        rings_add(r, 0, exact, size);
        free(exact);
        rings_read(r, UINT64_MAX, ignore, &bytes);
        done(r);
    }
    for (size_t i = 8; i < w.size; i++)
        for (unsigned value = 0; value < 256; value += 51) {
            struct rings *r = new_rings();
            struct raw other = w;
            other.bytes[i] = (uint8_t)value;
            rings_add(r, 0, other.bytes, other.size);
            rings_read(r, UINT64_MAX, ignore, &bytes);
            done(r);
        }
}

TEST(hostile_records)
{
    hostile(raw_sample(SAMPLE_MAIN, 1, 10, 1, CHAIN(KERNEL, 5, 6, USER, 7)));
    hostile(raw_sample(SAMPLE_LEAVE, 1, 10, 1, CHAIN(KERNEL, 5)));
    hostile(raw_mmap2(1, 5, 20, "/bin/x"));
    hostile(raw_comm(true, 1, 100, "shell"));
    hostile(raw_task(PERF_RECORD_FORK, 2, 100, 100, 101, 100));
    hostile(raw_irq(SAMPLE_IRQ_ENTRY, 3, 7, "disk"));
    hostile(raw_lost(5, 42));
}

/* ---- Files ---- */

static struct weft_samples_file *begin(int fd)
{
    struct weft_samples_file *f;
    const char *const args[] = {"./x", "1"};
    const struct weft_samples_facts facts = {
        .process = 7, .program = "./x", .arg = args, .args = 2};
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .frequency = 1000, .period = 1000000};
    struct weft_error err;
    return weft_samples_begin(&f, fd, &facts, &source, "cpu-clock", &err) == 0 ? f : NULL;
}

static int put(struct weft_samples_file *f, uint64_t i)
{
    const uint64_t address[] = {0xffff0000 + i % 3, 0xffff1000, 0x5000 + i % 7, 0x6000};
    const uint8_t id[] = {1, 2, 3};
    const struct weft_sampled list[] = {
        {.kind = WEFT_RECORD_THREAD,
         .time_ns = 1 + i,
         .process = 7,
         .thread = 7,
         .parent = UINT32_MAX,
         .text = "x"},
        {.kind = WEFT_RECORD_MAPPING,
         .time_ns = 2,
         .process = 7,
         .thread = 7,
         .text = "/bin/x",
         .start = 0x5000,
         .size = 0x2000,
         .build_id = id,
         .build_id_bytes = sizeof id},
        {.kind = WEFT_RECORD_SAMPLE,
         .flags = WEFT_SAMPLE_IN_KERNEL,
         .time_ns = 100 + i,
         .process = 7,
         .thread = 7,
         .core = 1,
         .value = 1000000,
         .address = address,
         .addresses = 4,
         .kernel_addresses = 2},
        {.kind = WEFT_RECORD_SWITCH,
         .flags = WEFT_SWITCH_OUT,
         .time_ns = 100 + i,
         .process = 7,
         .thread = 7,
         .core = 1,
         .address = address,
         .addresses = 4,
         .kernel_addresses = 2},
        {.kind = WEFT_RECORD_SWITCH, .time_ns = 101 + i, .process = 7, .thread = 7, .core = 1},
        {.kind = WEFT_RECORD_INTERRUPT,
         .time_ns = 100 + i,
         .to_ns = 101 + i,
         .core = 1,
         .thread = 7,
         .text = "disk",
         .value = 3},
        {.kind = WEFT_RECORD_LOST, .time_ns = 100 + i, .value = 2, .core = 1},
        {.kind = WEFT_RECORD_LOST,
         .flags = WEFT_LOST_OTHER,
         .time_ns = 100 + i,
         .value = 3,
         .core = 1},
        {.kind = WEFT_RECORD_LOST, .flags = WEFT_LOST_SWITCHES, .time_ns = UINT32_MAX + i},
        {.kind = WEFT_RECORD_EXIT, .time_ns = UINT32_MAX, .process = 9, .thread = 9},
    };
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < sizeof list / sizeof *list; k++)
        rc = weft_samples_put(f, &list[k]);
    return rc;
}

static int new_file(void)
{
    int fd = memfd_create("samples", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static struct weft_profile *load(int fd)
{
    char path[64];
    struct weft_reader *r;
    struct weft_error err;
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (weft_reader_open(&r, path, &err) < 0) {
        weft_profile_free(p);
        return NULL;
    }
    assert_int_equal(weft_profile_load_trace(p, r, &err), 0);
    weft_reader_close(r);
    assert_int_equal(weft_profile_finish(p), 0);
    return p;
}

static void expect(const struct weft_profile *p, uint32_t samples)
{
    static const uint64_t callers[] = {0xffff1000, 0x5000, 0x6000};
    assert_int_equal(p->samples, samples);
    assert_int_equal(p->interrupts, samples);
    assert_int_equal(p->absences, samples);
    assert_int_equal(p->lost, 2 * samples);
    assert_int_equal(p->lost_other, 3 * samples);
    assert_int_equal(p->switches_until_ns, UINT32_MAX);
    assert_int_equal(p->skipped, 0);
    for (uint32_t i = 0; i < samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        assert_int_equal(s->time_ns, 100 + i);
        assert_int_equal(s->value, 1000000);
        assert_int_equal(s->core, 1);
        assert_int_equal(s->flags, WEFT_SAMPLE_IN_KERNEL);
        assert_int_equal(p->thread[s->thread].thread, 7);
        assert_string_equal(weft_profile_text(p, p->thread[s->thread].name), "x");
        assert_int_equal(p->source[s->source].unit, WEFT_UNIT_NS);
        assert_string_equal(weft_profile_text(p, p->source[s->source].name), "cpu-clock");
        uint32_t stack = s->stack;
        const struct weft_location *l = &p->location[p->stack[stack].location];
        assert_true(l->kernel && !l->caller && l->address == 0xffff0000 + i % 3);
        for (uint32_t k = 0; k < 3; k++) {
            stack = p->stack[stack].parent;
            l = &p->location[p->stack[stack].location];
            assert_int_equal(l->address, callers[k] + (k == 1 ? i % 7 : 0));
            assert_int_equal(l->kernel, k == 0);
            assert_int_equal(l->caller, k != 1); /* where the user has called the kernel */
        }
        assert_int_equal(p->stack[stack].parent, 0);
        assert_int_equal(p->mapping[l->mapping].build_id_bytes, 3);
    }
}

enum { SAMPLES = 9000 }; /* some packets */

TEST(samples_come_back)
{
    struct weft_error err;
    int fd = new_file();
    struct weft_samples_file *f = begin(fd);
    assert_non_null(f);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        assert_int_equal(put(f, i), 0);
        if (i == 5000)
            assert_int_equal(weft_samples_flush(f, &err), 0);
    }
    assert_int_equal(weft_samples_end(f, &err), 0);
    struct weft_profile *p = load(fd);
    assert_non_null(p);
    expect(p, SAMPLES);
    weft_profile_free(p);
    close(fd);
}

/* What was written is whole, wherever the writer was killed. */
TEST(killed_writer)
{
    struct weft_error err;
    int fd = new_file();
    struct weft_samples_file *f = begin(fd);
    off_t end[4];
    assert_non_null(f);
    for (uint64_t i = 0; i < 30; i++) {
        assert_int_equal(put(f, i), 0);
        if (i % 10 == 9) {
            assert_int_equal(weft_samples_flush(f, &err), 0);
            end[i / 10] = lseek(fd, 0, SEEK_END);
            struct weft_profile *p = load(fd);
            expect(p, (uint32_t)i + 1);
            weft_profile_free(p);
        }
    }
    for (off_t size = end[2] - 1; size > end[0]; size -= 29) { /* in the middle of writing */
        assert_int_equal(ftruncate(fd, size), 0);
        struct weft_profile *p = load(fd);
        if (!p)
            continue;
        /* Of the last packet records may be left out, of those before none. */
        assert_true(p->samples >= (size >= end[1] ? 20u : 10u));
        weft_profile_free(p);
    }
    weft_samples_end(f, &err);
    close(fd);
}

TEST(appended)
{
    struct weft_error err;
    int fd = new_file(), trace = new_file();
    struct weft_samples_file *f = begin(fd), *g = begin(trace);
    assert_non_null(f);
    assert_non_null(g);
    for (uint64_t i = 0; i < 500; i++)
        assert_int_equal(put(f, i), 0);
    assert_int_equal(weft_samples_end(f, &err), 0);
    assert_int_equal(weft_samples_end(g, &err), 0);
    assert_int_equal(ftruncate(trace, lseek(trace, 0, SEEK_END) + 3), 0);
    assert_int_equal(weft_samples_append(trace, fd, 0, &err), 0);
    struct weft_profile *p = load(trace);
    assert_non_null(p);
    expect(p, 500);
    weft_profile_free(p);
    struct weft_packet_header a, b;
    assert_int_equal(pread(trace, &a, sizeof a, 0), sizeof a);
    assert_int_equal(pread(trace, &b, sizeof b, (off_t)((a.packet_bits / 8 + 3 + 7) & ~7u)),
                     sizeof b);
    assert_memory_equal(a.uuid, b.uuid, sizeof a.uuid);
    int empty = new_file();
    assert_int_equal(weft_samples_append(empty, fd, 0, &err), WEFT_E_FORMAT);
    close(empty);
    close(fd);
    close(trace);
}

TEST(symbols_come_back)
{
    struct weft_error err;
    int fd = new_file();
    struct weft_samples_file *f = begin(fd);
    assert_non_null(f);
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(put(f, i), 0);
    assert_int_equal(weft_samples_flush(f, &err), 0);
    struct weft_profile *p = load(fd);
    assert_non_null(p);
    uint32_t outer = weft_profile_add_function(
        p, &(struct weft_function){.name = weft_profile_add_text(p, "outer", 5),
                                   .file = weft_profile_add_text(p, "a.c", 3),
                                   .start_line = 3});
    uint32_t inner = weft_profile_add_function(
        p, &(struct weft_function){.name = weft_profile_add_text(p, "inner", 5),
                                   .system_name = weft_profile_add_text(p, "_Zinner", 7)});
    const struct weft_frame frames[] = {{inner, 8}, {outer, 4}};
    for (uint32_t i = 0; i < p->locations; i++)
        assert_int_equal(
            weft_profile_resolve(p, i, frames, p->location[i].address == 0x6000 ? 0 : 2), 0);
    assert_int_equal(weft_samples_put_symbols(f, p, &err), 0);
    weft_profile_free(p);
    assert_int_equal(weft_samples_end(f, &err), 0);
    p = load(fd);
    assert_non_null(p);
    uint32_t resolved = 0;
    for (uint32_t i = 0; i < p->locations; i++) {
        const struct weft_location *l = &p->location[i];
        resolved += l->frames > 0;
        if (l->frames == 0)
            continue;
        assert_int_equal(l->frames, 2);
        const struct weft_frame *frame = &p->frame[l->first_frame];
        assert_string_equal(weft_profile_text(p, p->function[frame[0].function].system_name),
                            "_Zinner");
        assert_string_equal(weft_profile_text(p, p->function[frame[1].function].name), "outer");
        assert_string_equal(weft_profile_text(p, p->function[frame[1].function].file), "a.c");
        assert_int_equal(frame[0].line, 8);
        assert_int_equal(p->function[frame[1].function].start_line, 3);
    }
    assert_int_equal(resolved, 7); /* of the user; the kernel's mapping is not told here */
    weft_profile_free(p);
    close(fd);
}

TEST(out_of_memory)
{
    struct weft_error err;
    bool through = false;
    for (long n = 1; !through; n++) {
        int fd = new_file();
        const long before = live;
        fail_at = n;
        struct weft_samples_file *f = begin(fd);
        int rc = f ? 0 : WEFT_E_NOMEM;
        for (uint64_t i = 0; rc == 0 && i < 1500; i++)
            rc = put(f, i);
        if (f && rc == 0)
            rc = weft_samples_end(f, &err);
        else if (f)
            weft_samples_end(f, &err);
        through = fail_at > 0;
        fail_at = 0;
        assert_int_equal(rc, through ? 0 : WEFT_E_NOMEM);
        assert_int_equal(live, before);
        if (through) {
            struct weft_profile *p = load(fd);
            expect(p, 1500);
            weft_profile_free(p);
        }
        close(fd);
    }
}

TEST(out_of_memory_in_rings)
{
    bool through = false;
    for (long n = 1; !through; n++) {
        const long before = live;
        size_t bytes = 0;
        struct rings *r = new_rings();
        struct raw w = raw_comm(true, 1, 100, "shell"), x = raw_mmap2(3, 5, 0, "/bin/sh");
        fail_at = n;
        int rc = 0;
        for (uint32_t i = 0; rc == 0 && i < 3000; i++) {
            rc = rings_add(r, i % 2, w.bytes, w.size);
            if (rc == 0)
                rc = rings_add(r, i % 2, x.bytes, x.size);
            if (rc == 0 && i % 100 == 0 && rings_read(r, 2, ignore, &bytes) < 0)
                rc = WEFT_E_NOMEM;
        }
        if (rc == 0 && rings_read(r, UINT64_MAX, ignore, &bytes) < 0)
            rc = WEFT_E_NOMEM;
        through = fail_at > 0;
        fail_at = 0;
        assert_true(rc == 0 || rc == WEFT_E_NOMEM);
        done(r);
        assert_int_equal(live, before);
    }
}

TEST(a_full_disk)
{
    struct weft_error err;
    int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        skip();
    struct weft_samples_file *f;
    const struct weft_samples_facts facts = {0};
    const struct weft_source source = {0};
    assert_int_equal(weft_samples_begin(&f, fd, &facts, &source, "x", &err), WEFT_E_IO);
    assert_non_null(strstr(err.text, "No space left"));
    assert_null(f);
    close(fd);
}

/* ---- What cannot be sampled ---- */

static void refused(struct weft_sampler_options o, int code, const char *text)
{
    struct weft_sampler *s;
    struct weft_error err;
    assert_int_equal(weft_sampler_open(&s, &o, &err), code);
    assert_null(s);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
}

TEST(refusals)
{
    const struct weft_sampler_options o = {.scope = WEFT_SAMPLE_PROCESS, .process = 0x7ffffff0};
    struct weft_sampler_options x = o;
    refused(x, WEFT_E_IO, "there is no process 2147483632");
    x.event = "frobs";
    refused(x, WEFT_E_INVALID, "\"frobs\"");
    x = o;
    x.period = UINT64_MAX;
    refused(x, WEFT_E_INVALID, "too large");
    x.period = 9999;
    refused(x, WEFT_E_INVALID, "10000 ns");
    x = o;
    x.frequency = UINT32_MAX;
    refused(x, WEFT_E_INVALID, "samples a second");
    x = o;
    x.dwarf_bytes = 65529;
    refused(x, WEFT_E_INVALID, "65528");
}

RUN_TESTS(NULL, NULL)
