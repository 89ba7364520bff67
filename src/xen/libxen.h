/* SPDX-License-Identifier: ISC */
/* Implements struct weft_xen with Xen's own libraries: libxenstore, libxengnttab, and libxenctrl for the state
 * of domains. */
#ifndef WEFT_XEN_LIBXEN_H
#define WEFT_XEN_LIBXEN_H

#include "xen/control.h"

/* Connects. Returns 0; or WEFT_E_IO with a sentence that says what is missing (not a Xen system, not root, no
 * /dev/xen/gntdev). After success, call weft_xen_disconnect. */
int weft_xen_connect(struct weft_xen *xen, struct weft_error *err);
void weft_xen_disconnect(struct weft_xen *xen);

#endif
