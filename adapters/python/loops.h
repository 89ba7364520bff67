/* SPDX-License-Identifier: ISC */
#ifndef WEFT_PYTHON_LOOPS_H
#define WEFT_PYTHON_LOOPS_H

/* In the child of a fork. */
void loops_forked(void);

#endif
