/* SPDX-License-Identifier: ISC */
#ifndef WEFT_PYTHON_DESCRIBE_H
#define WEFT_PYTHON_DESCRIBE_H

#include "codes.h"

/* An exception, as it would stand in a traceback: ValueError('bad row 7'). Nothing of the program's own runs for it:
 * of what is no plain text or number only the class is named, ClientError(<Key>, 111). Leaves no exception. */
void describe(char *to, size_t size, PyObject *exception);

/* "sleep 0.5 s", by a number of seconds, or "sleep": it is none, or NULL. Takes the reference. Leaves no exception. */
void describe_sleep(char *to, size_t size, PyObject *delay);

#endif
