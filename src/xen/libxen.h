/* SPDX-License-Identifier: ISC */
/* Implements struct weft_xen with Xen's own libraries: libxenstore, libxengnttab, and libxenctrl for the state
 * of domains. */
#pragma once

#include "xen/control.h"

/* Connects. Returns 0; or WEFT_E_IO with a sentence that says what is missing (not a Xen system, not root, no
 * /dev/xen/gntdev). After success, call weft_xen_disconnect. */
int weft_xen_connect(struct weft_xen *xen, struct weft_error *err);
void weft_xen_disconnect(struct weft_xen *xen);

/* ---- own.c: what this domain, a guest or the control domain, has in XenStore about itself ---- */

/* Removes a key of this domain if it has that value: it was published by a program that was killed. Returns
 * true if the key existed and is gone now. key and value may come from anybody; only WEFT_XEN_LIST_KEY and
 * WEFT_XEN_INDEX_KEY are removed. Needs root. */
bool weft_xen_forget(const char *key, const char *value);
