/* SPDX-License-Identifier: ISC */
#include "adapter.h"

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

static bool is_chosen(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ',') && (at[n] == 0 || at[n] == ','))
            return true;
    return false;
}

/* WEFT_ADAPTERS: what weft record has set up, for instance "python,node,libuv". */
__attribute__((constructor)) static void stand_aside(void)
{
    const char *chosen = secure_getenv("WEFT_ADAPTERS");
    for (unsigned i = 0; chosen && i < sizeof others / sizeof *others; i++)
        if (is_chosen(chosen, others[i].runtime) && dlsym(RTLD_DEFAULT, others[i].function)) {
            adapter_aside = true;
            if (others[i].records)
                weft_stop(); /* it is not due to begin with the first call */
        }
}
