/* SPDX-License-Identifier: ISC */
/* The page without a trace, into which weft html puts traces. Made by web/make-page. */
#ifndef WEFT_CLI_PAGE_H
#define WEFT_CLI_PAGE_H

#include <stddef.h>

extern const unsigned char cli_html_page[];
extern const size_t cli_page_bytes;

/* The markers for what weft html adds: in the head, and where the traces go. */
#define CLI_PAGE_HEAD "<!--@HEAD@-->"
#define CLI_PAGE_TRACES "<!--@TRACES@-->"

#endif
