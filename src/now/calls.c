/* SPDX-License-Identifier: ISC */
#include "now/calls.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

static const struct now_call calls[] = {
#define CALL(number, name, kind, how) {number, name, NOW_CALL_##kind, how},
#include "now/calls.def"
#undef CALL
};

enum { CALLS = sizeof calls / sizeof *calls };

const struct now_call *now_call_by_number(int64_t number)
{
    for (unsigned i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

const struct now_call *now_call_by_name(const char *name)
{
    for (unsigned i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}
