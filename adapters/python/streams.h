/* SPDX-License-Identifier: ISC */
/* What comes from outside: connections, what is read from them, processes. */
#ifndef WEFT_PYTHON_STREAMS_H
#define WEFT_PYTHON_STREAMS_H

#include "codes.h"
#include "promises.h"

/* "connect 127.0.0.1:8080", "read 127.0.0.1:8080", by the address that is connected to, or the reader that waits.
 * False: it cannot be told. */
bool label_connect(char *to, size_t size, PyObject *address);
bool label_read(char *to, size_t size, PyObject *reader);

#endif
