/* SPDX-License-Identifier: ISC */
/* Linux's <sys/random.h>, for the page: see system.c. */
#ifndef WEFT_WEB_LIBC_SYS_RANDOM_H
#define WEFT_WEB_LIBC_SYS_RANDOM_H

#include <sys/types.h>

#define GRND_NONBLOCK 1

ssize_t getrandom(void *buffer, size_t size, unsigned flags);

#endif
