/* SPDX-License-Identifier: ISC */
/* Included before everything else: the program as if its author had marked nothing. */
#include <weft/weft.h>

#define weft_should_resolve(p) ((void)(p))
#define weft_background(p) ((void)(p))
