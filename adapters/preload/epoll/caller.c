/* SPDX-License-Identifier: ISC */
/* Whose calls are recorded. The libraries below call epoll and poll themselves; what their adapters record says more. */
#include "ready.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *adapter, *object;
} others[] = {
    {"libuv", "libuv.so"},      {"libevent", "libevent"},  {"libev", "libev.so"},
    {"glib", "libglib-2.0.so"}, {"glib", "libgio-2.0.so"}, {NULL, "weft-"},
    {NULL, "libweft"},
};
#define OTHERS (sizeof others / sizeof *others)

static uint32_t chosen; /* a bit for each of these */

__attribute__((constructor)) static void choose(void)
{
    const char *list = secure_getenv("WEFT_ADAPTERS");
    for (unsigned i = 0; i < OTHERS; i++) {
        const char *name = others[i].adapter;
        bool found = !name;
        for (const char *at = list; at && *at && !found;
             at += strcspn(at, ",") + (strchr(at, ',') != NULL))
            found = strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0;
        if (found)
            chosen |= 1u << i;
    }
}

static const char *object_of(const void *code)
{
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found; /* takes no lock */
    return _dl_find_object((void *)(uintptr_t)code, &found) == 0 ? found.dlfo_link_map->l_name : "";
#else
    Dl_info info;
    return dladdr(code, &info) && info.dli_fname ? info.dli_fname : "";
#endif
}

static bool look(const void *caller)
{
    const char *path = object_of(caller), *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (unsigned i = 0; i < OTHERS; i++)
        if (chosen & 1u << i && strncmp(name, others[i].object, strlen(others[i].object)) == 0)
            return false;
    return true;
}

/* Programs call these from few places. A word has an address, and in its last bit what is known of it. */
bool ready_sees(const void *caller)
{
    static uint64_t known[64];
    const uint64_t place = (uint64_t)(uintptr_t)caller << 1;
    uint64_t *word = &known[(place * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
    const uint64_t found = __atomic_load_n(word, __ATOMIC_RELAXED);
    if ((found & ~UINT64_C(1)) == place)
        return found & 1;
    const bool seen = look(caller);
    __atomic_store_n(word, place | seen, __ATOMIC_RELAXED);
    return seen;
}
