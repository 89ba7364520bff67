/* SPDX-License-Identifier: ISC */
#include "cli/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The number behind a key, if the file has lines "KEY NUMBER", or else, without a key, at its beginning. UINT64_MAX: it is
 * not there, or "max". */
static uint64_t number_in(const char *path, const char *key)
{
    char line[256];
    const size_t size = strlen(key);
    uint64_t number = UINT64_MAX;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, size) == 0 && sscanf(line + size, "%" SCNu64, &number) == 1)
            break;
    if (f)
        fclose(f);
    return number;
}

uint64_t cli_memory_line(const char *path, const char *key)
{
    char begin[64];
    snprintf(begin, sizeof begin, "%s:", key);
    const uint64_t kilobytes = number_in(path, begin);
    return kilobytes < UINT64_MAX >> 10 ? kilobytes << 10 : UINT64_MAX;
}

uint64_t cli_memory_available(void)
{
    return cli_memory_line("/proc/meminfo", "MemAvailable");
}

/* ---- What is left ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a == UINT64_MAX || b == UINT64_MAX ? a : a > b ? a - b : 0;
}

static uint64_t number_below(const char *folder, const char *name, const char *key)
{
    char path[PATH_MAX];
    const bool fits = (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path;
    return fits ? number_in(path, key) : UINT64_MAX;
}

/* What one cgroup leaves. The files that it has in memory are given up when there is need. */
static uint64_t group_leaves(const char *folder, bool first_version)
{
    const uint64_t limit =
        number_below(folder, first_version ? "memory.limit_in_bytes" : "memory.max", "");
    uint64_t used =
        number_below(folder, first_version ? "memory.usage_in_bytes" : "memory.current", "");
    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    used = less(used, number_below(folder, "memory.stat",
                                   first_version ? "total_inactive_file " : "inactive_file "));
    used = less(used, number_below(folder, "memory.stat",
                                   first_version ? "total_active_file " : "active_file "));
    return less(limit, used);
}

/* The cgroup of that path, and all above it. */
static uint64_t groups_leave(const char *root, char *path, bool first_version)
{
    char folder[PATH_MAX];
    uint64_t left = UINT64_MAX;
    for (char *end = path + strcspn(path, "\n"); end; end = strrchr(path, '/')) {
        *end = '\0';
        if ((size_t)snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root,
                             first_version ? "/memory" : "", path) < sizeof folder)
            left = least(left, group_leaves(folder, first_version));
    }
    return left;
}

static uint64_t cgroup_leaves(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    uint64_t left = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char *kind = strchr(line, ':'), *at = kind ? strchr(kind + 1, ':') : NULL;
        if (!at)
            continue;
        *at = '\0';
        if (!kind[1] || strcmp(kind + 1, "memory") == 0)
            left = least(left, groups_leave(root, at + 1, kind[1]));
    }
    if (f)
        fclose(f);
    return left;
}

static uint64_t limit_leaves(const struct rlimit *limit, const char *counts)
{
    return limit->rlim_cur == RLIM_INFINITY
               ? UINT64_MAX
               : less(limit->rlim_cur, cli_memory_line("/proc/self/status", counts));
}

uint64_t cli_memory_left(const char *root)
{
    struct rlimit space = {RLIM_INFINITY, RLIM_INFINITY}, data = space;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    uint64_t left = cli_memory_line(path, "MemAvailable");
    const uint64_t swap = cli_memory_line(path, "SwapFree");
    if (left != UINT64_MAX && swap != UINT64_MAX)
        left += swap;
    left = least(left, cgroup_leaves(root));
    getrlimit(RLIMIT_AS, &space);
    getrlimit(RLIMIT_DATA, &data);
    left = least(left, limit_leaves(&space, "VmSize"));
    return least(left, limit_leaves(&data, "VmData"));
}

/* RLIMIT_DATA counts private writable memory, such as the heap; not the pages of a guest, which are shared, nor memfds.
 * Existing memory counts, too: under a sanitizer that is terabytes. */
struct rlimit cli_memory_confine(uint64_t bytes)
{
    struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY}, now;
    uint64_t limit, used = cli_memory_line("/proc/self/status", "VmData");
    if (getrlimit(RLIMIT_DATA, &before) < 0 || __builtin_add_overflow(used, bytes, &limit))
        return before;
    now = before;
    if (limit < before.rlim_cur) {
        now.rlim_cur = limit;
        setrlimit(RLIMIT_DATA, &now);
    }
    return before;
}

void cli_memory_release(const struct rlimit *before)
{
    setrlimit(RLIMIT_DATA, before);
}
