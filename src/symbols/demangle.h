/* SPDX-License-Identifier: ISC */
/* C++ and Rust names as people write them. */
#ifndef WEFT_SYMBOLS_DEMANGLE_H
#define WEFT_SYMBOLS_DEMANGLE_H

#include "symbols/worker.h"

enum { SYMBOLS_DEMANGLED_BYTES = 4096 }; /* what is longer is cut */

struct symbols_demangler { /* all zero: none yet */
    struct symbols_worker worker;
    unsigned losses; /* of workers; after some, names stay as they are */
};

/* false: it is no such name, nobody can tell, or that takes too long. */
bool symbols_demangle(struct symbols_demangler *d, const char *name,
                      char to[SYMBOLS_DEMANGLED_BYTES]);

void symbols_demangler_end(struct symbols_demangler *d);

#endif
