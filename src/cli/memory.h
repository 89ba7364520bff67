/* SPDX-License-Identifier: ISC */
/* How much memory there is, and a limit on using more: a control domain has little, and a guest can make the trace that
 * it offers as large as it likes. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>

/* The value of a key ("MemAvailable") in a file like /proc/meminfo, converted from kilobytes to bytes; UINT64_MAX if it
 * is not there. */
uint64_t cli_memory_line(const char *path, const char *key);

/* Bytes that can be allocated without evicting anything else; UINT64_MAX if that is not known. */
uint64_t cli_memory_available(void);

/* Bytes that this process can still allocate: what is available on this machine, swap included, unless limits of its own or of
 * its cgroup, and those above it, leave less. root: of the files that say so, "" as a rule. UINT64_MAX: not known. */
uint64_t cli_memory_left(const char *root);

/* Limits this process, and programs it runs, to allocating at most that many more bytes: beyond that, allocations fail,
 * which is an ordinary error, instead of some other process being killed. Files and shared memory do not count. Returns
 * the previous limit. */
struct rlimit cli_memory_confine(uint64_t bytes);

/* What a command needs in addition to the trace that it copies. */
#define CLI_MEMORY_SLACK (UINT64_C(256) << 20)

void cli_memory_release(const struct rlimit *before);
