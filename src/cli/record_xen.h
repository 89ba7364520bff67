/* SPDX-License-Identifier: ISC */
/* weft record --xen: the trace is not in a file but in pages of this Xen guest that the control domain may read. */
#ifndef WEFT_CLI_RECORD_XEN_H
#define WEFT_CLI_RECORD_XEN_H

#include <stdint.h>

/* The range of bytes. */
#define CLI_XEN_MIN_BYTES (UINT64_C(72) << 10)
#define CLI_XEN_MAX_BYTES (UINT64_C(3900) << 20)

/* Runs the program with libweft-xen loaded into it. Returns weft's exit status if it cannot be executed; otherwise does
 * not return: weft ends the way the program did. */
int cli_record_xen(uint64_t bytes, char **argv);

#endif
