/* SPDX-License-Identifier: ISC */
/* Promises that are named after functions. What weft keeps for a place in the program is kept here for each function and
 * type, so such a promise costs no more than one of weft_create. Nothing is allocated, and no lock is taken. */
#include "adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 1 << 12 /* a power of two */, TRIES = 16, NAME_MAX_BYTES = 512 };

struct place {
    const void *code;
    const char *type;
    struct weft_site plain;    /* type and label are literals: for promises without a detail */
    struct weft_site detailed; /* only the type is */
    char name[];               /* of code */
};

static struct place *places[PLACES];

/* Mapped in blocks, never given back. */
static void *room_for(size_t bytes)
{
    enum { BLOCK = 1 << 16 };
    static char *block; /* the next free byte of it; 0 in its last bits: it is used up */
    bytes = (bytes + 15) & ~(size_t)15;
    char *at = __atomic_load_n(&block, __ATOMIC_ACQUIRE);
    for (;;) {
        const size_t used = (uintptr_t)at % BLOCK;
        if (at && used && used + bytes < BLOCK) {
            if (__atomic_compare_exchange_n(&block, &at, at + bytes, true, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return at;
            continue;
        }
        char *fresh =
            mmap(NULL, 2 * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED)
            return NULL;
        char *begin = fresh + (BLOCK - (uintptr_t)fresh % BLOCK) % BLOCK + 16;
        if (!__atomic_compare_exchange_n(&block, &at, begin, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            munmap(fresh, 2 * BLOCK);
        else
            at = begin;
    }
}

/* Names with spaces cannot be told from what follows them; then only the last part is used. */
static const char *usable(const char *file)
{
    const char *slash = strrchr(file, '/');
    for (const char *c = file; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return slash ? slash + 1 : file;
    return file;
}

size_t adapter_name(char *text, size_t size, const void *code)
{
    static char program[NAME_MAX_BYTES]; /* the same for all threads */
    struct adapter_file file;
    if (!adapter_file_of(&file, code))
        return (size_t)snprintf(text, size, "%p", code);
    if (!*file.name && !*program) {
        char path[NAME_MAX_BYTES];
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        memcpy(program, path, sizeof path);
    }
    return (size_t)snprintf(text, size, "%s+0x%llx", usable(*file.name ? file.name : program),
                            (unsigned long long)((uintptr_t)code - file.moved));
}

static struct place *new_place(const void *code, const char *type)
{
    char name[NAME_MAX_BYTES] = "";
    if (code)
        adapter_name(name, sizeof name, code);
    const size_t bytes = strlen(name) + 1;
    struct place *p = room_for(sizeof *p + bytes);
    if (!p)
        return NULL;
    p->code = code;
    p->type = type;
    memcpy(p->name, name, bytes);
    p->plain = (struct weft_site){0, code ? p->name : NULL, 0, 3};
    p->detailed = (struct weft_site){0, code ? p->name : NULL, 0, 1};
    return p;
}

/* NULL: there is no room for it. */
static struct place *place_of(const void *code, const char *type)
{
    const uint64_t h = ((uintptr_t)code ^ (uintptr_t)type << 20) * UINT64_C(0x9e3779b97f4a7c15);
    struct place *fresh = NULL;
    for (unsigned i = 0; i < TRIES; i++) {
        struct place **slot = &places[((h >> 40) + i) % PLACES];
        struct place *p = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (!p && (fresh || (fresh = new_place(code, type))) &&
            __atomic_compare_exchange_n(slot, &p, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return fresh;
        if (!p)
            return NULL;
        if (p->code == code && p->type == type)
            return p;
    }
    return NULL;
}

static weft_promise create(weft_promise parent, bool by_parent, struct weft_site *site,
                           const char *type, const char *label)
{
    return by_parent ? weft_impl_create_from(site, parent, type, label)
                     : weft_impl_create(site, type, label);
}

/* "name detail". snprintf would take longer than all else here. */
static void put_label(char label[NAME_MAX_BYTES + ADAPTER_TEXT], const char *name,
                      const char *detail)
{
    const size_t n = strnlen(name, NAME_MAX_BYTES - 1), m = strnlen(detail, ADAPTER_TEXT - 1);
    memcpy(label, name, n);
    label[n] = ' ';
    memcpy(label + n + 1, detail, m);
    label[n + 1 + m] = 0;
}

static weft_promise create_at(weft_promise parent, bool by_parent, const void *code,
                              const char *type, const char *detail)
{
    static struct weft_site nowhere = {0, NULL, 0, 0}; /* of many types */
    char label[NAME_MAX_BYTES + ADAPTER_TEXT];
    const int error = errno;
    struct place *p = place_of(code, type);
    if (!p && code)
        adapter_name(label, sizeof label, code);
    errno = error;
    if (!code)
        return create(parent, by_parent, p ? &p->detailed : &nowhere, type, detail);
    if (p && !detail)
        return create(parent, by_parent, &p->plain, type, p->name);
    if (p)
        put_label(label, p->name, detail);
    return create(parent, by_parent, p ? &p->detailed : &nowhere, type, label);
}

weft_promise adapter_create(const void *code, const char *type, const char *detail)
{
    return create_at(0, false, code, type, detail);
}

weft_promise adapter_create_from(weft_promise parent, const void *code, const char *type,
                                 const char *detail)
{
    return create_at(parent, true, code, type, detail);
}
