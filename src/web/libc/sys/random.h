/* SPDX-License-Identifier: ISC */
/* Linux's <sys/random.h>, for the page: see system.c. */
#pragma once

#include <sys/types.h>

#define GRND_NONBLOCK 1

ssize_t getrandom(void *buffer, size_t size, unsigned flags);
