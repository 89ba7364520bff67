/* SPDX-License-Identifier: ISC */
#include "cli/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t cli_memory_line(const char *path, const char *key)
{
    char line[256];
    uint64_t bytes = UINT64_MAX, kilobytes;
    size_t size = strlen(key);
    FILE *f = fopen(path, "re");
    while (f && bytes == UINT64_MAX && fgets(line, sizeof line, f))
        if (strncmp(line, key, size) == 0 && line[size] == ':' &&
            sscanf(line + size + 1, "%" SCNu64, &kilobytes) == 1 && kilobytes < UINT64_MAX >> 10)
            bytes = kilobytes << 10;
    if (f)
        fclose(f);
    return bytes;
}

uint64_t cli_memory_available(void)
{
    return cli_memory_line("/proc/meminfo", "MemAvailable");
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
