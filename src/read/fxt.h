/* SPDX-License-Identifier: ISC */
/* Fuchsia trace format, of eio-trace; fxt.c. */
#ifndef WEFT_READ_FXT_H
#define WEFT_READ_FXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file that begins so is one. */
bool weft__is_fxt(const unsigned char *head, size_t size);

#endif
