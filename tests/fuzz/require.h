/* SPDX-License-Identifier: ISC */
/* What all fuzz targets use. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(what)                                                                              \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The bytes as a file, which the next call overwrites; its path. */
static inline const char *try_file(const void *bytes, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("try", MFD_CLOEXEC);
        REQUIRE(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    REQUIRE(ftruncate(fd, 0) == 0);
    REQUIRE(pwrite(fd, bytes, size, 0) == (ssize_t)size);
    return path;
}
