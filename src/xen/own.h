/* SPDX-License-Identifier: ISC */
/* What this domain, a guest or the control domain, has in XenStore about itself. Only in a weft that is built with Xen. */
#ifndef WEFT_XEN_OWN_H
#define WEFT_XEN_OWN_H

#include <stdbool.h>

/* Removes a key of this domain's if it has that value: what a program has published that was killed. Returns whether it
 * was there and is gone. key, value: by anybody; only WEFT_XEN_LIST_KEY and WEFT_XEN_INDEX_KEY are removed. Needs root. */
bool weft_xen_forget(const char *key, const char *value);

#endif
