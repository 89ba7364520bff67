/* SPDX-License-Identifier: ISC */
#include "read/alive.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a small file of the system and terminates it with NUL. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

bool weft_boot_id(uint8_t id[16])
{
    char text[64];
    unsigned digits = 0;
    memset(id, 0, 16);
    if (!read_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
        return false;
    for (const char *c = text; *c && digits < 32; c++) {
        const char hex[] = "0123456789abcdef", *digit = *c == '-' ? NULL : strchr(hex, *c);
        if (!digit)
            continue;
        id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | (digit - hex));
        digits++;
    }
    return true;
}

static bool boot_id_is(const uint8_t wanted[16])
{
    uint8_t id[16];
    return weft_boot_id(id) && memcmp(id, wanted, sizeof id) == 0;
}

uint64_t weft_process_start(uint32_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
    if (!read_text(path, text, sizeof text))
        return 0;
    const char *at = strrchr(text, ')'); /* the end of field 2, which may contain anything */
    if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
        return 0;
    for (unsigned field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

bool weft_facts_alive_as(const struct weft_facts_header *facts, uint32_t pid)
{
    uint64_t start = facts->process_start;
    return facts->state == WEFT_TRACE_RECORDING && start != 0 && boot_id_is(facts->boot_id) &&
           weft_process_start(pid) == start;
}

bool weft_facts_alive(const struct weft_facts_header *facts)
{
    return weft_facts_alive_as(facts, facts->pid);
}
