/* SPDX-License-Identifier: ISC */
/* Finds the pages of a domain's trace: their grant references, from XenStore and from index pages. */
#pragma once

#include "xen/control.h"

struct weft_xen_refs {
    /* References of the index pages, then of the pages of the trace in order; all different. */
    uint32_t *reference;
    uint32_t indices;
    uint32_t pages; /* of the trace */
    const char *key;
    char *value; /* of the key */
    size_t value_size;
};

/* Returns what weft_xen_open returns. After a failure there is nothing to free. */
int weft_xen_refs_read(struct weft_xen_refs *refs, const struct weft_xen *xen, unsigned domain,
                       uint64_t max_bytes, struct weft_error *err);

void weft_xen_refs_fini(struct weft_xen_refs *refs);

/* Reads a key of the domain. Returns 1; 0 if it does not exist, with *value NULL; or a negative WEFT_E code.
 * The caller frees *value. */
int weft_xen_key(const struct weft_xen *xen, unsigned domain, const char *key, char **value,
                 size_t *size, struct weft_error *err);

/* Copies from memory that the guest may write to at any moment. */
void weft_xen_copy(void *to, const void *from, size_t size);

/* Explains why reference could not be mapped. error: the errno. what: which page it is. Returns a negative
 * WEFT_E code. */
int weft_xen_refused(const struct weft_xen *xen, unsigned domain, uint32_t reference,
                     const char *what, int error, struct weft_error *err);
