/* SPDX-License-Identifier: ISC */
/* A file of samples that is a ring: how large it is, what is left in it, and what it says of the rest, wherever its
 * writer is killed and however often the ring has wrapped. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allocations.h"
#include "profile/build.h"
#include "read/reader.h"
#include "read/snapshot.h"
#include "sample/file.h"
#include "test.h"

enum { RING = 256 << 10, PROCESSES = 5 };

static int new_file(void)
{
    int fd = memfd_create("samples", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* ---- What is written ---- */

static struct weft_samples_file *begin(int fd, uint64_t bytes)
{
    struct weft_samples_file *f = NULL;
    const char *const args[] = {"./x", "1"};
    const struct weft_samples_facts facts = {
        .process = 7, .program = "./x", .arg = args, .args = 2, .ring_bytes = bytes};
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .frequency = 99, .period = 10101010};
    weft_samples_begin(&f, fd, &facts, &source, "cpu-clock", NULL);
    return f;
}

/* Names and paths are as long as the process's number says, so that they are told apart. */
static const char *name_of(uint32_t process)
{
    static const char names[] = "abcdefghij";
    return names + sizeof names - 1 - process % 8 - 1;
}

static struct weft_sampled record(enum weft_record_kind kind, uint64_t time_ns, uint32_t process)
{
    return (struct weft_sampled){.kind = kind,
                                 .time_ns = time_ns,
                                 .process = process,
                                 .thread = process,
                                 .core = 1,
                                 .parent = UINT32_MAX,
                                 .text = ""};
}

static int put_thread(struct weft_samples_file *f, uint64_t time_ns, uint32_t process,
                      uint8_t flags, uint32_t parent, const char *name)
{
    struct weft_sampled r = record(WEFT_RECORD_THREAD, time_ns, process);
    r.flags = flags;
    r.parent = parent;
    r.text = name;
    return weft_samples_put(f, &r);
}

static int put_mapping(struct weft_samples_file *f, uint64_t time_ns, uint32_t process,
                       uint64_t start, uint64_t size, const char *path)
{
    static const uint8_t id[] = {1, 2, 3};
    struct weft_sampled r = record(WEFT_RECORD_MAPPING, time_ns, process);
    r.start = start;
    r.size = size;
    r.text = path;
    r.build_id = id;
    r.build_id_bytes = sizeof id;
    return weft_samples_put(f, &r);
}

static int put_kernel(struct weft_samples_file *f)
{
    struct weft_sampled r = record(WEFT_RECORD_MAPPING, 1, UINT32_MAX);
    r.flags = WEFT_MAPPING_KERNEL;
    r.start = r.offset = 0xffff0000;
    r.size = 0x10000;
    r.text = "[kernel]";
    return weft_samples_put(f, &r);
}

static int put_sample(struct weft_samples_file *f, uint64_t time_ns, uint32_t process)
{
    const uint64_t address[] = {0xffff0000 + time_ns % 97, 0x5000 + time_ns % 89, 0x6000};
    struct weft_sampled r = record(WEFT_RECORD_SAMPLE, time_ns, process);
    r.value = 10101010;
    r.flags = WEFT_SAMPLE_IN_KERNEL;
    r.address = address;
    r.addresses = 3;
    r.kernel_addresses = 1;
    return weft_samples_put(f, &r);
}

static int put_lost(struct weft_samples_file *f, uint64_t time_ns, uint8_t flags, uint64_t count)
{
    struct weft_sampled r = record(WEFT_RECORD_LOST, time_ns, UINT32_MAX);
    r.flags = flags;
    r.value = count;
    return weft_samples_put(f, &r);
}

/* What exists before sampling. */
static int put_world(struct weft_samples_file *f)
{
    int rc = put_kernel(f);
    for (uint32_t i = 1; rc == 0 && i <= PROCESSES; i++) {
        rc = put_thread(f, 1, i, 0, UINT32_MAX, name_of(i));
        if (rc == 0)
            rc = put_mapping(f, 2, i, 0x5000, 0x2000, name_of(i + 1));
        if (rc == 0)
            rc = put_mapping(f, 2, i, 0x10000, 0x1000, "/never/sampled");
    }
    return rc;
}

/* ---- What is read ---- */

static struct weft_profile *load(int fd)
{
    char path[64];
    struct weft_reader *r;
    struct weft_profile *p = weft_profile_new();
    assert_non_null(p);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(weft_reader_open(&r, path, NULL), 0);
    assert_int_equal(weft_profile_load_trace(p, r, NULL), 0);
    const struct weft_damage *damage = weft_reader_damage(r);
    if (damage->problems)
        print_error("%s\n", damage->first[0].text);
    assert_int_equal(damage->problems, 0);
    weft_reader_close(r);
    assert_int_equal(weft_profile_finish(p), 0);
    return p;
}

static const char *path_of(const struct weft_profile *p, uint32_t location)
{
    const uint32_t mapping = p->location[location].mapping;
    return mapping == WEFT_NONE ? "none" : weft_profile_text(p, p->mapping[mapping].path);
}

/* Samples were put at the times 1000, 1001, …; `put` of them, of which at least `flushed` must be accounted for. Those
 * that are there are the last ones without a gap, and have their names. */
static void expect(const struct weft_profile *p, uint64_t put, uint64_t flushed)
{
    const uint64_t known = p->samples + p->overwritten;
    assert_in_range(known, flushed, put);
    assert_int_equal(p->skipped, 0);
    for (uint32_t i = 0; i < p->samples; i++) {
        const struct weft_sample *s = &p->sample[i];
        const struct weft_thread *t = &p->thread[s->thread];
        const struct weft_stack *inner = &p->stack[s->stack], *outer = &p->stack[inner->parent];
        assert_int_equal(s->time_ns, 1000 + p->overwritten + i);
        assert_int_equal(t->process, 1 + s->time_ns % PROCESSES);
        assert_string_equal(weft_profile_text(p, t->name), name_of(t->process));
        assert_string_equal(path_of(p, inner->location), "[kernel]");
        assert_string_equal(path_of(p, outer->location), name_of(t->process + 1));
    }
    for (uint32_t i = 0; i < p->mappings; i++)
        assert_string_not_equal(weft_profile_text(p, p->mapping[i].path), "/never/sampled");
}

static uint64_t size_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return (uint64_t)st.st_size;
}

/* ---- Writing, watched ---- */

static void (*watch)(int fd); /* called between any two writes, and in the middle of long ones */
static uint64_t disk_bytes;   /* > 0: how much the disk has room for */

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at);
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    if (disk_bytes && (uint64_t)at + size > disk_bytes) {
        errno = ENOSPC;
        return -1;
    }
    const size_t first = watch && size > 4096 ? size / 2 : size;
    const ssize_t n = syscall(SYS_pwrite64, fd, bytes, first, at);
    if (watch && n > 0)
        watch(fd);
    return n;
}

/* ---- The tests ---- */

TEST(wraps_many_times)
{
    enum { MANY = 60000 };
    int fd = new_file();
    struct weft_samples_file *f = begin(fd, RING);
    assert_non_null(f);
    assert_int_equal(put_world(f), 0);
    for (uint64_t i = 0; i < MANY; i++) {
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES)), 0);
        if (i % 50 != 49)
            continue;
        assert_int_equal(weft_samples_flush(f, NULL), 0);
        assert_true(size_of(fd) <= RING);
    }
    const uint64_t gone = weft_samples_overwritten(f);
    assert_true(gone > MANY / 2);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    struct weft_profile *p = load(fd);
    expect(p, MANY, MANY);
    assert_int_equal(p->overwritten, gone);
    /* All but one place of the ring is full. */
    assert_true(p->samples > (RING * 3 / 4) / 100);
    weft_profile_free(p);
    close(fd);
}

static uint64_t now_put, now_flushed, looks, most_bytes, wrapped;

static void look(int fd)
{
    looks++;
    struct weft_profile *p = load(fd);
    /* One place may just be given to another packet. */
    expect(p, now_put, now_flushed);
    wrapped += p->overwritten > 0;
    weft_profile_free(p);
    most_bytes = size_of(fd) > most_bytes ? size_of(fd) : most_bytes;
}

TEST(killed_anywhere)
{
    int fd = new_file();
    struct weft_samples_file *f = begin(fd, RING);
    now_put = now_flushed = looks = most_bytes = wrapped = 0;
    assert_non_null(f);
    assert_int_equal(put_world(f), 0);
    watch = look;
    for (uint64_t i = 0; i < 12000; i++) {
        now_put = i + 1;
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES)), 0);
        if (i % 100 != 99)
            continue;
        assert_int_equal(weft_samples_flush(f, NULL), 0);
        now_flushed = i + 1;
    }
    watch = NULL;
    weft_samples_end(f, NULL);
    assert_true(looks > 300);
    assert_true(wrapped > 100);
    assert_true(most_bytes <= RING);
    close(fd);
}

TEST(losses_stay)
{
    int fd = new_file();
    struct weft_samples_file *f = begin(fd, RING);
    assert_non_null(f);
    assert_int_equal(put_world(f), 0);
    assert_int_equal(put_lost(f, 5, 0, 11), 0);
    assert_int_equal(put_lost(f, 6, WEFT_LOST_OTHER, 7), 0);
    assert_int_equal(put_lost(f, 7, WEFT_LOST_SWITCHES, 0), 0);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES)), 0);
    assert_int_equal(put_lost(f, 50000, 0, 3), 0);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    struct weft_profile *p = load(fd);
    assert_true(p->overwritten > 1000);
    assert_int_equal(p->lost, 14);
    assert_int_equal(p->lost_other, 7);
    assert_int_equal(p->switches_until_ns, 7);
    weft_profile_free(p);
    close(fd);
}

/* A process forks, the child runs another program, maps over it, ends, and its number is used again. */
TEST(processes_begin_and_end)
{
    int fd = new_file();
    struct weft_samples_file *f = begin(fd, RING);
    uint64_t now = 1000, last[4];
    assert_non_null(f);
    assert_int_equal(put_world(f), 0);
    for (unsigned round = 0; round < 30; round++) {
        assert_int_equal(put_thread(f, now++, 77, 0, 1, "forked"), 0);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(put_sample(f, now++, 77), 0);
        last[0] = now;
        assert_int_equal(put_thread(f, now++, 77, WEFT_THREAD_EXEC, UINT32_MAX, "anew"), 0);
        assert_int_equal(put_mapping(f, now++, 77, 0x5000, 0x3000, "/anew"), 0);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(put_sample(f, now++, 77), 0);
        last[1] = now;
        assert_int_equal(put_mapping(f, now++, 77, 0x5800, 0x400, "/over"), 0);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(put_sample(f, now++, 77), 0);
        last[2] = now;
        struct weft_sampled end = record(WEFT_RECORD_EXIT, now++, 77);
        assert_int_equal(weft_samples_put(f, &end), 0);
        assert_int_equal(put_thread(f, now++, 77, 0, 2, "again"), 0);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(put_sample(f, now++, 77), 0);
        last[3] = now;
        end.time_ns = now++;
        assert_int_equal(weft_samples_put(f, &end), 0);
    }
    assert_int_equal(weft_samples_end(f, NULL), 0);
    struct weft_profile *p = load(fd);
    assert_true(p->overwritten > 1000);
    assert_int_equal(p->overwritten + p->samples, 30 * 800);
    static const char *const path[] = {NULL, "/anew", "/anew", NULL};
    uint32_t seen[4] = {0};
    for (uint32_t i = 0; i < p->samples; i++) {
        const uint64_t at = p->sample[i].time_ns;
        if (at + 900 < last[3]) /* the last round */
            continue;
        unsigned part = 0;
        while (at >= last[part])
            part++;
        const struct weft_stack *s = &p->stack[p->stack[p->sample[i].stack].parent];
        const char *forked = name_of(part ? 3 : 2);
        seen[part] += at + 200 >= last[part];
        if (at + 190 < last[part])
            continue;
        assert_string_equal(path_of(p, s->location), path[part] ? path[part] : forked);
        assert_string_equal(path_of(p, p->stack[s->parent].location),
                            path[part] ? path[part] : forked);
    }
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(seen[i], 190, 200);
    weft_profile_free(p);
    close(fd);
}

/* A disk that is full before the ring has its size: the ring stays as large as it is. */
TEST(a_full_disk)
{
    int fd = new_file();
    struct weft_samples_file *f = begin(fd, RING);
    assert_non_null(f);
    assert_int_equal(put_world(f), 0);
    disk_bytes = 150000;
    uint64_t flushed = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES)), 0);
        if (i % 100 == 99) {
            assert_int_equal(weft_samples_flush(f, NULL), 0);
            flushed = i + 1;
        }
    }
    assert_int_equal(weft_samples_end(f, NULL), 0);
    disk_bytes = 0;
    assert_true(size_of(fd) <= 150000);
    struct weft_profile *p = load(fd);
    expect(p, 20000, flushed);
    assert_true(p->samples > 500);
    weft_profile_free(p);
    close(fd);
}

TEST(too_small)
{
    int fd = new_file();
    assert_null(begin(fd, 60 << 10));
    struct weft_samples_file *f = begin(fd, WEFT_SAMPLES_RING_LEAST);
    assert_non_null(f);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    close(fd);
}

/* A record as large as there is one, and a short run: the file is no larger than what it has. */
TEST(large_and_short)
{
    int fd = new_file();
    uint64_t address[170];
    char path[4096];
    struct weft_samples_file *f = begin(fd, (uint64_t)1 << 30);
    assert_non_null(f);
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    assert_int_equal(put_thread(f, 1, 1, 0, UINT32_MAX, "x"), 0);
    for (uint32_t i = 0; i < 170; i++) {
        address[i] = 0x100000 + i * 0x1000;
        path[0] = (char)('a' + i % 26);
        path[1] = (char)('a' + i / 26);
        assert_int_equal(put_mapping(f, 2, 1, address[i], 0x1000, path), 0);
    }
    struct weft_sampled r = record(WEFT_RECORD_SAMPLE, 1000, 1);
    r.address = address;
    r.addresses = 170;
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(weft_samples_put(f, &r), 0);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    assert_in_range(size_of(fd), 170 * 4096, (170 + 16) * 4300);
    struct weft_profile *p = load(fd);
    assert_int_equal(p->samples, 40);
    for (uint32_t i = 0; i < p->locations; i++)
        assert_string_not_equal(path_of(p, i), "none");
    weft_profile_free(p);
    close(fd);
}

/* The names of what was sampled last are there, and at least half of the samples. */
TEST(symbols_are_bounded)
{
    int fd = new_file();
    struct weft_samples_file *f = begin(fd, RING);
    assert_non_null(f);
    assert_int_equal(put_world(f), 0);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES)), 0);
    assert_int_equal(weft_samples_flush(f, NULL), 0);
    struct weft_profile *p = load(fd);
    const uint32_t before = p->samples;
    char name[2000];
    for (uint32_t i = 0; i < p->locations; i++) {
        const int n = snprintf(name, sizeof name, "%u%01500u", i, i);
        const struct weft_function fn = {.name = weft_profile_add_text(p, name, (uint32_t)n)};
        const struct weft_frame frame = {weft_profile_add_function(p, &fn), 3};
        assert_int_equal(weft_profile_resolve(p, i, &frame, 1), 0);
    }
    assert_int_equal(weft_samples_put_symbols(f, p, NULL), 0);
    weft_profile_free(p);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    assert_true(size_of(fd) <= RING);
    p = load(fd);
    assert_in_range(p->samples, before * 2 / 5, before);
    assert_int_equal(p->samples + p->overwritten, 20000);
    const struct weft_stack *s = &p->stack[p->sample[p->samples - 1].stack];
    assert_int_equal(p->location[s->location].frames, 1);
    assert_int_equal(p->location[p->stack[s->parent].location].frames, 1);
    weft_profile_free(p);
    close(fd);
}

/* The copy is one of a ring, and of one that is appended to a trace. */
TEST(is_copied)
{
    int fd = new_file(), trace = new_file(), copy = new_file();
    struct weft_samples_file *f = begin(fd, RING), *g = begin(trace, 0);
    struct weft_snapshot *s;
    assert_non_null(f);
    assert_non_null(g);
    assert_int_equal(put_world(f), 0);
    for (uint64_t i = 0; i < 20000; i++)
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES)), 0);
    assert_int_equal(weft_samples_flush(f, NULL), 0);
    struct weft_input in = {.fd = fd, .size = size_of(fd)};
    assert_int_equal(weft_snapshot_begin(&s, &in, NULL), 1);
    assert_int_equal(weft_snapshot_to_fd(s, copy, NULL), 0);
    weft_snapshot_free(s);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    assert_int_equal(weft_samples_end(g, NULL), 0);
    assert_int_equal(weft_samples_append(trace, fd, 0, NULL), 0);
    const int all[] = {fd, copy, trace};
    for (size_t i = 0; i < 3; i++) {
        struct weft_profile *p = load(all[i]);
        expect(p, 20000, 20000);
        weft_profile_free(p);
        assert_true(size_of(all[i]) <= RING + 4096);
    }
    close(fd);
    close(trace);
    close(copy);
}

/* The last packets of a ring are appended to a trace, and then others that are numbered from there on. */
TEST(is_appended_in_part)
{
    enum { ALL = 6000, SINCE = 1000 + ALL * 3 / 4 };
    int fd = new_file(), trace = new_file(), more = new_file();
    struct weft_samples_file *f = begin(fd, RING), *g = begin(trace, 0), *h = NULL;
    assert_int_equal(put_world(f), 0);
    for (uint64_t i = 0; i < ALL; i++)
        assert_int_equal(put_sample(f, 1000 + i, 1 + (uint32_t)(i % PROCESSES)), 0);
    assert_int_equal(weft_samples_end(f, NULL), 0);
    assert_int_equal(weft_samples_end(g, NULL), 0);
    const uint64_t packets = weft_samples_packets(fd);
    assert_in_range(packets, 4, 100);
    assert_int_equal(weft_samples_append(trace, fd, SINCE, NULL), 0);
    struct weft_profile *p = load(trace);
    assert_in_range(p->samples, 1000 + ALL - SINCE, (1000 + ALL - SINCE) * 2);
    assert_in_range(p->first_ns, 1001, SINCE);
    assert_int_equal(p->last_ns, 1000 + ALL - 1);
    assert_int_equal(p->overwritten + p->samples, ALL);
    assert_int_equal(p->skipped, 0);
    weft_profile_free(p);
    const struct weft_source source = {.unit = WEFT_UNIT_NS, .frequency = 99, .period = 10101010};
    assert_int_equal(weft_samples_begin(&h, more,
                                        &(struct weft_samples_facts){.packets_before = packets},
                                        &source, "cpu-clock", NULL),
                     0);
    assert_int_equal(put_sample(h, 1000 + ALL, 1), 0);
    assert_int_equal(weft_samples_end(h, NULL), 0);
    assert_int_equal(weft_samples_append(trace, more, SINCE, NULL), 0);
    assert_int_equal(weft_samples_packets(trace), packets + 1);
    close(fd);
    close(trace);
    close(more);
}

TEST(out_of_memory)
{
    struct failing each = {0};
    int rc = 0;
    while (fails_next(&each, rc)) {
        int fd = new_file();
        struct weft_samples_file *f = begin(fd, RING);
        rc = f ? put_world(f) : WEFT_E_NOMEM;
        for (uint64_t i = 0; rc == 0 && i < 60; i++)
            rc = put_sample(f, 1000 + i, 1 + (uint32_t)((1000 + i) % PROCESSES));
        if (rc == 0)
            rc = put_thread(f, 5000, 9, 0, 1, "forked");
        if (f && rc == 0)
            rc = weft_samples_end(f, NULL);
        else if (f)
            weft_samples_end(f, NULL);
        close(fd);
    }
}

RUN_TESTS(NULL, NULL)
