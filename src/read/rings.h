/* SPDX-License-Identifier: ISC */
/* The ring files of OCaml's runtime events; rings.c. */
#ifndef WEFT_READ_RINGS_H
#define WEFT_READ_RINGS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file that begins so is one. */
bool weft__is_rings(const unsigned char *head, size_t size);

#endif
