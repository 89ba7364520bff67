/* SPDX-License-Identifier: ISC */
#include "adapter.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

__thread unsigned adapter_inside;
bool adapter_aside;

/* A runtime that has an adapter of its own, and a function that only its programs have. */
static const struct {
    const char *runtime, *function;
    bool records; /* by a recorder that is not this one */
} others[] = {
    {"python", "Py_IsInitialized", true},
    {"node", "napi_module_register", true},
    {"ocaml", "caml_main", false},
};

bool adapter_is_chosen(const char *name)
{
    const char *list = secure_getenv("WEFT_ADAPTERS");
    const size_t n = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ','))
            return true;
    return false;
}

__attribute__((constructor)) static void stand_aside(void)
{
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (adapter_is_chosen(others[i].runtime) && dlsym(RTLD_DEFAULT, others[i].function)) {
            adapter_aside = true;
            if (others[i].records)
                weft_stop(); /* it is not due to begin with the first call */
        }
}

bool adapter_file_of(struct adapter_file *f, const void *address)
{
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0)
        return false;
    const struct link_map *map = found.dlfo_link_map;
    *f = (struct adapter_file){map->l_name, (uintptr_t)found.dlfo_map_start,
                               (uintptr_t)found.dlfo_map_end, map->l_addr};
#else
    Dl_info found;
    struct link_map *map = NULL;
    if (!dladdr1(address, &found, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    *f = (struct adapter_file){map->l_name, (uintptr_t)found.dli_fbase, 0, map->l_addr};
#endif
    return true;
}

bool adapter_is_in(struct adapter_range *library, const void *function, const void *address)
{
    struct adapter_file f, other;
    uintptr_t end = __atomic_load_n(&library->end, __ATOMIC_ACQUIRE);
    if (!end && !adapter_file_of(&f, function))
        return false;
    if (!end && !f.end)
        return adapter_file_of(&other, address) && other.begin == f.begin;
    if (!end) {
        __atomic_store_n(&library->begin, f.begin, __ATOMIC_RELAXED);
        __atomic_store_n(&library->end, end = f.end, __ATOMIC_RELEASE);
    }
    return (uintptr_t)address < end &&
           (uintptr_t)address >= __atomic_load_n(&library->begin, __ATOMIC_RELAXED);
}
