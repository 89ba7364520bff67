/* SPDX-License-Identifier: ISC */
/* The page without a trace, which weft html puts traces into. Made by
 * web/make-page. */
#ifndef WEFT_CLI_PAGE_H
#define WEFT_CLI_PAGE_H

#include <stddef.h>

extern const unsigned char weft__page[];
extern const size_t weft__page_bytes;

/* The places of what weft html adds: in the head, and where the traces go. */
#define WEFT__PAGE_HEAD "<!--@HEAD@-->"
#define WEFT__PAGE_TRACES "<!--@TRACES@-->"

#endif
