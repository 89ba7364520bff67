/* SPDX-License-Identifier: ISC */
/* What the facts of a trace say about a process, so that a process id that was reused is noticed. Used by readers,
 * and by the recorder, also in signal handlers; so everything is inline. */
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/put.h"

/* Reads a small file of the system. Returns the number of bytes read; a NUL follows them. */
static inline size_t format_read_small(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, room - 1);
    if (fd >= 0)
        close(fd);
    out[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* The boot id of the running system. Returns false, and sets zeros, if it is not known. */
static inline bool format_boot_id(uint8_t id[16])
{
    static const char hex[] = "0123456789abcdef";
    char text[64];
    const bool known = format_read_small("/proc/sys/kernel/random/boot_id", text, sizeof text) > 0;
    memset(id, 0, 16);
    for (unsigned i = 0, digits = 0; text[i] && digits < 32; i++) {
        const char *digit = strchr(hex, text[i]);
        if (digit)
            id[digits / 2] = (uint8_t)(id[digits / 2] | (digit - hex) << (digits % 2 ? 0 : 4));
        digits += digit != NULL;
    }
    return known;
}

/* Field 22 of /proc/PID/stat: when the process started, in clock ticks after boot. 0: there is no such process, or it
 * has ended and its parent has not waited for it yet. */
static inline uint64_t format_process_start(uint32_t pid)
{
    char name[32], text[1024];
    struct put p = put_begin(name, sizeof name);
    put_text(&p, "/proc/");
    put_number(&p, pid);
    put_text(&p, "/stat");
    put_end(&p);
    format_read_small(name, text, sizeof text);
    const char *at = strrchr(text, ')'); /* the end of field 2, which may contain anything */
    if (at && (!strncmp(at, ") Z", 3) || !strncmp(at, ") X", 3)))
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}
