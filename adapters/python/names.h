/* SPDX-License-Identifier: ISC */
/* Names of attributes and the like as Python strings: s_self is "self". */
#pragma once

#include "codes.h"

#define NAME(name) extern PyObject *s_##name;
#include "names.def"
#undef NAME

/* 0 or -1 with an exception. */
int names_init(void);
