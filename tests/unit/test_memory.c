/* SPDX-License-Identifier: ISC */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/memory.h"
#include "test.h"

static uint64_t line_of(const char *text, const char *key)
{
    char path[] = "/tmp/test_memory.XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    uint64_t value = cli_memory_line(path, key);
    unlink(path);
    return value;
}

TEST(test_lines)
{
    const char *text =
        "MemTotal:       524288 kB\nMemAvailable:   1024 kB\nVmData:\t  12 kB\nBad: x\n"
        "Huge: 99999999999999999999 kB\n";
    assert_int_equal(line_of(text, "MemAvailable"), 1 << 20);
    assert_int_equal(line_of(text, "VmData"), 12 << 10);
    assert_int_equal(line_of(text, "Mem"), UINT64_MAX);
    assert_int_equal(line_of(text, "Bad"), UINT64_MAX);
    assert_int_equal(line_of(text, "Huge"), UINT64_MAX);
    assert_int_equal(line_of("", "MemAvailable"), UINT64_MAX);
    assert_int_equal(cli_memory_line("/nowhere", "MemAvailable"), UINT64_MAX);
}

TEST(test_available)
{
    assert_in_range(cli_memory_available(), 1 << 20, UINT64_MAX);
}

static char root[] = "/tmp/test_memory.XXXXXX";

/* Makes a file below the root, and its folders. */
static void put(const char *name, const char *text)
{
    char path[256];
    int n = snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(n > 0 && fputs(text, f) >= 0 && fclose(f) == 0);
}

TEST(test_left)
{
    char remove[64];
    struct rlimit own = {0};
    assert_non_null(mkdtemp(root));
    getrlimit(RLIMIT_DATA, &own);
    if (own.rlim_cur == RLIM_INFINITY)
        assert_int_equal(cli_memory_left(root), UINT64_MAX);
    else
        assert_in_range(cli_memory_left(root), 1, own.rlim_cur);
    put("proc/meminfo", "MemAvailable: 4000 kB\nSwapFree: 96 kB\n");
    assert_int_equal(cli_memory_left(root), 4096 << 10);
    /* Its own group has no limit, the one above it has; files in memory do not count. */
    put("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    put("sys/fs/cgroup/a/b/memory.current", "1000\n");
    assert_int_equal(cli_memory_left(root), 4096 << 10);
    put("sys/fs/cgroup/a/memory.max", "3000\n");
    put("sys/fs/cgroup/a/memory.current", "2500\n");
    assert_int_equal(cli_memory_left(root), 500);
    put("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1200\nactive_file 300\n");
    assert_int_equal(cli_memory_left(root), 2000);
    put("sys/fs/cgroup/a/memory.current", "5000\n");
    assert_int_equal(cli_memory_left(root), 0);
    /* The first version of cgroups */
    put("proc/self/cgroup", "3:cpu:/z\n4:memory:/m\n");
    put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "700\n");
    put("sys/fs/cgroup/memory/m/memory.usage_in_bytes", "600\n");
    assert_int_equal(cli_memory_left(root), 100);
    put("sys/fs/cgroup/memory/m/memory.stat", "inactive_file 1\ntotal_inactive_file 50\n");
    assert_int_equal(cli_memory_left(root), 150);
    snprintf(remove, sizeof remove, "rm -r %s", root);
    assert_int_equal(system(remove), 0);
}

static bool can_have(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && munmap(at, bytes) == 0;
}

/* What is allowed can be had, what is not cannot; afterwards all is as before. */
TEST(test_confine)
{
    struct rlimit before, now;
    getrlimit(RLIMIT_DATA, &before);
    struct rlimit kept = cli_memory_confine(64 << 20);
    assert_true(can_have(16 << 20));
    assert_false(can_have((size_t)256 << 20));
    assert_int_equal(kept.rlim_cur, before.rlim_cur);
    cli_memory_release(&kept);
    getrlimit(RLIMIT_DATA, &now);
    assert_int_equal(now.rlim_cur, before.rlim_cur);
    assert_true(can_have((size_t)256 << 20));
}

/* No limit is raised, and what is not known limits nothing. */
TEST(test_limits)
{
    struct rlimit before, now;
    struct rlimit first = cli_memory_confine(64 << 20);
    getrlimit(RLIMIT_DATA, &before);
    cli_memory_confine((uint64_t)1 << 40);
    cli_memory_confine(UINT64_MAX);
    getrlimit(RLIMIT_DATA, &now);
    assert_int_equal(now.rlim_cur, before.rlim_cur);
    cli_memory_release(&first);
}

RUN_TESTS(NULL, NULL)
