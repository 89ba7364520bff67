/* SPDX-License-Identifier: ISC */
#ifndef WEFT_PYTHON_UVLOOPS_H
#define WEFT_PYTHON_UVLOOPS_H

/* 0 or -1 with an exception. */
int uvloops_init(void);

#endif
