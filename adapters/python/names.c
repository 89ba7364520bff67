/* SPDX-License-Identifier: ISC */
#include "names.h"

#define NAME(name) PyObject *s_##name;
#include "names.def"
#undef NAME

int names_init(void)
{
#define NAME(name)                                                                                 \
    if (!(s_##name = PyUnicode_InternFromString(#name)))                                           \
        return -1;
#include "names.def"
#undef NAME
    return 0;
}
