/* SPDX-License-Identifier: ISC */
/* C++ and Rust names as people write them. */
#ifndef WEFT_SYMBOLS_DEMANGLE_H
#define WEFT_SYMBOLS_DEMANGLE_H

#include "symbols/worker.h"

enum { SYMBOLS_DEMANGLED_BYTES = 4096 }; /* longer names are cut */

struct symbols_demangler { /* all zero: no worker yet */
    struct symbols_worker worker;
    unsigned losses; /* how many workers were lost; after a few, names stay as they are */
};

/* Returns false if it is not such a name, there is no library, or it takes too long. */
bool symbols_demangle(struct symbols_demangler *d, const char *name,
                      char to[SYMBOLS_DEMANGLED_BYTES]);

void symbols_demangler_end(struct symbols_demangler *d);

#endif
