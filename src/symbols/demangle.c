/* SPDX-License-Identifier: ISC */
/* The library that C++ programs run with knows how their names are made, and is on nearly every machine; weft is
 * in C and does not need it. So it is asked where it is there. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf_file.h"

enum { NAME_MAX_BYTES = 8000 }; /* names that nobody writes; the demangler recurses */

typedef char *demangle_fn(const char *name, char *to, size_t *size, int *status);

static demangle_fn *demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    static bool tried;
    static demangle_fn *fn;
    for (unsigned i = 0; !tried && !fn && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&fn, &found, sizeof fn); /* ISO C has no cast for it */
    }
    tried = true;
    return fn;
}

/* Rust's older names are C++'s with a hash behind them: "core::fmt::write::h1f2e…" */
static void cut_hash(char *name)
{
    size_t size = strlen(name);
    if (size <= 19 || memcmp(name + size - 19, "::h", 3) != 0)
        return;
    if (strspn(name + size - 16, "0123456789abcdef") == 16)
        name[size - 19] = '\0';
}

char *weft__demangle(const char *name)
{
    int status = 0;
    if (name[0] != '_' || name[1] != 'Z' || strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
        return NULL;
    demangle_fn *fn = demangler();
    char *text = fn ? fn(name, NULL, NULL, &status) : NULL;
    if (text && status == 0)
        cut_hash(text);
    return text;
}
