/* SPDX-License-Identifier: ISC */
/* How much memory there is, and not taking more: a control domain has little, and the trace that a guest offers may be
 * as large as the guest makes it. */
#ifndef WEFT_CLI_MEMORY_H
#define WEFT_CLI_MEMORY_H

#include <stdint.h>
#include <sys/resource.h>

/* The number of kilobytes behind such a key ("MemAvailable") in a file like /proc/meminfo, in bytes; UINT64_MAX if it is
 * not there. */
uint64_t cli_memory_line(const char *path, const char *key);

/* Bytes that can be had without that anything else has to go; UINT64_MAX if it is not known. */
uint64_t cli_memory_available(void);

/* Lets this process, and what it runs, allocate at most that many bytes more: then there is no memory, which is an error
 * like others, instead of the end of some other process. Files and memory that is shared do not count. Returns what the
 * limit was. */
struct rlimit cli_memory_confine(uint64_t bytes);

/* What a command needs beside the trace that it copies. */
#define CLI_MEMORY_SLACK (UINT64_C(256) << 20)

void cli_memory_release(const struct rlimit *before);

#endif
