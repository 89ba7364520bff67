/* SPDX-License-Identifier: ISC */
/* Input from outside: connections, reads from them, processes. */
#pragma once

#include "codes.h"
#include "promises.h"

/* "connect 127.0.0.1:8080", "read 127.0.0.1:8080", from the address that is connected to, or the reader that waits.
 * False: it is not known. */
bool label_connect(char *to, size_t size, PyObject *address);
bool label_read(char *to, size_t size, PyObject *reader);
