/* SPDX-License-Identifier: ISC */
/* Whose calls are recorded. The libraries below call epoll and poll themselves; what their adapters record says more. */
#include "ready.h"

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
    for (unsigned i = 0; i < OTHERS; i++)
        if (!others[i].adapter || adapter_is_chosen(others[i].adapter))
            chosen |= 1u << i;
}

static bool look(const void *caller)
{
    struct adapter_file file;
    const char *path = adapter_file_of(&file, caller) ? file.name : "", *slash = strrchr(path, '/');
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
