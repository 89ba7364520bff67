/* SPDX-License-Identifier: ISC */
/* Names of attributes and the like as Python strings: s_self is "self". */
#ifndef WEFT_PYTHON_NAMES_H
#define WEFT_PYTHON_NAMES_H

#include "codes.h"

#define NAME(name) extern PyObject *s_##name;
#include "names.def"
#undef NAME

/* 0 or -1 with an exception. */
int names_init(void);

#endif
