/* SPDX-License-Identifier: ISC */
/* C++ and Rust names as people write them. */
#ifndef WEFT_SYMBOLS_DEMANGLE_H
#define WEFT_SYMBOLS_DEMANGLE_H

#include "symbols/worker.h"

enum { WEFT__DEMANGLED_BYTES = 4096 }; /* what is longer is cut */

struct weft__demangler { /* all zero: none yet */
    struct weft__worker worker;
    unsigned losses; /* of workers; after some, names stay as they are */
};

/* false: it is no such name, nobody can tell, or that takes too long. */
bool weft__demangle(struct weft__demangler *d, const char *name, char to[WEFT__DEMANGLED_BYTES]);

void weft__demangler_end(struct weft__demangler *d);

#endif
