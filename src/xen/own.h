/* SPDX-License-Identifier: ISC */
/* What this domain, a guest or the control domain, has in XenStore about itself. Only in a weft built with
 * Xen. */
#ifndef WEFT_XEN_OWN_H
#define WEFT_XEN_OWN_H

#include <stdbool.h>

/* Removes a key of this domain if it has that value: it was published by a program that was killed. Returns
 * true if the key existed and is gone now. key and value may come from anybody; only WEFT_XEN_LIST_KEY and
 * WEFT_XEN_INDEX_KEY are removed. Needs root. */
bool weft_xen_forget(const char *key, const char *value);

#endif
