/* SPDX-License-Identifier: ISC */
/* membarrier(2). The kernel's own header is not part of every libc. */
#ifndef WEFT_RECORD_MEMBARRIER_H
#define WEFT_RECORD_MEMBARRIER_H

#include <sys/syscall.h>
#include <unistd.h>

enum {
    MEMBARRIER_PRIVATE_EXPEDITED = 1 << 3,
    MEMBARRIER_REGISTER_PRIVATE_EXPEDITED = 1 << 4,
};

/* Negative if the system does not support it. */
static inline int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

#endif
