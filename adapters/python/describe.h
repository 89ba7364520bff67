/* SPDX-License-Identifier: ISC */
#pragma once

#include "codes.h"

/* An exception as in a traceback: ValueError('bad row 7'). None of the program's own code runs for it: arguments that
 * are not plain texts or numbers are shown by their class, ClientError(<Key>, 111). Leaves no exception. */
void describe(char *to, size_t size, PyObject *exception);

/* "sleep 0.5 s" for a number of seconds; "sleep" if it is not a number, or NULL. Takes the reference. Leaves no
 * exception. */
void describe_sleep(char *to, size_t size, PyObject *delay);
