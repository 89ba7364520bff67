/* SPDX-License-Identifier: ISC */
/* The library that C++ programs run with knows how their names are made, and it is on nearly every
 * machine. weft is written in C and does not require it, so it uses the library only if it is
 * there.
 * For a name of 500 bytes it can produce as many gigabytes as the name's author likes, and it
 * cannot be interrupted. So a worker of its own calls it, and ends when a name takes too long; that
 * name then stays as it is. */
#include "symbols/names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_BYTES = 8000, /* nobody writes such names; the demangler is recursive */
    NAME_MS = 250,         /* of CPU time, for what normally takes microseconds */
    PATIENCE_MS = 20000,   /* on a busy machine */
    LOSSES_MAX = 4,
};

typedef char *demangle_fn(const char *name, char *to, size_t *size, int *status);

/* ---- In the worker ---- */

static demangle_fn *library_fn;

static void load(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    for (unsigned i = 0; !library_fn && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&library_fn, &found, sizeof library_fn); /* ISO C has no cast for it */
    }
}

/* Rust's older names are C++ names followed by a hash: "core::fmt::write::h1f2e…" */
static void cut_hash(char *name)
{
    size_t size = strlen(name);
    if (size <= 19 || memcmp(name + size - 19, "::h", 3) != 0)
        return;
    if (strspn(name + size - 16, "0123456789abcdef") == 16)
        name[size - 19] = '\0';
}

static void work(int fd, void *data)
{
    static char name[NAME_MAX_BYTES];
    uint32_t size;
    (void)data;
    while (symbols_worker_get(fd, &size, sizeof size, -1) && size < sizeof name &&
           symbols_worker_get(fd, name, size, -1)) {
        int status = 0;
        name[size] = '\0';
        symbols_confine_time(NAME_MS);
        char *text = library_fn ? library_fn(name, NULL, NULL, &status) : NULL;
        if (text && status == 0)
            cut_hash(text);
        symbols_confine_time(0);
        size = text && status == 0 ? (uint32_t)strnlen(text, SYMBOLS_DEMANGLED_BYTES - 1) : 0;
        if (!symbols_worker_put(fd, &size, sizeof size) || !symbols_worker_put(fd, text, size))
            break;
        free(text);
    }
}

/* ---- Outside ---- */

bool symbols_demangle(struct symbols_demangler *d, const char *name,
                      char to[SYMBOLS_DEMANGLED_BYTES])
{
    static const struct symbols_worker_options options = {.prepare = load};
    uint32_t size = (uint32_t)strnlen(name, NAME_MAX_BYTES);
    if (name[0] != '_' || name[1] != 'Z' || size == NAME_MAX_BYTES || d->losses >= LOSSES_MAX ||
        (d->worker.pid <= 0 && symbols_worker_start(&d->worker, &options, work, NULL) < 0))
        return false;
    if (symbols_worker_put(d->worker.fd, &size, sizeof size) &&
        symbols_worker_put(d->worker.fd, name, size) &&
        symbols_worker_get(d->worker.fd, &size, sizeof size, PATIENCE_MS) &&
        size < SYMBOLS_DEMANGLED_BYTES && symbols_worker_get(d->worker.fd, to, size, PATIENCE_MS)) {
        to[size] = '\0';
        return size > 0;
    }
    symbols_demangler_end(d);
    d->losses++;
    return false;
}

void symbols_demangler_end(struct symbols_demangler *d)
{
    symbols_worker_stop(&d->worker);
}
