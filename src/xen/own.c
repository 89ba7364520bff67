/* SPDX-License-Identifier: ISC */
#include "xen/libxen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xenstore.h>

#define CONFLICTS_MAX 1000

/* Returns 0 if the key was removed; EAGAIN; another errno; or -1 if it has another value or does not exist. */
static int forget_once(struct xs_handle *store, const char *key, const char *value)
{
    unsigned size = 0;
    xs_transaction_t t = xs_transaction_start(store);
    if (t == XBT_NULL)
        return EIO;
    char *now = xs_read(store, t, key, &size);
    const bool same = now && size == strlen(value) && memcmp(now, value, size) == 0;
    const bool removed = same && xs_rm(store, t, key);
    free(now);
    if (!xs_transaction_end(store, t, !removed))
        return errno == EAGAIN ? EAGAIN : EIO;
    return removed ? 0 : -1;
}

bool weft_xen_forget(const char *key, const char *value)
{
    int rc = EAGAIN;
    if (strcmp(key, WEFT_XEN_LIST_KEY) != 0 && strcmp(key, WEFT_XEN_INDEX_KEY) != 0)
        return false;
    struct xs_handle *store = xs_open(0);
    for (int i = 0; store && rc == EAGAIN && i < CONFLICTS_MAX; i++)
        rc = forget_once(store, key, value);
    if (store)
        xs_close(store);
    return rc == 0;
}
