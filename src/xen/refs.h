/* SPDX-License-Identifier: ISC */
/* Where the pages of a domain's trace are: its grant references, out of XenStore and of index pages. */
#ifndef WEFT_XEN_REFS_H
#define WEFT_XEN_REFS_H

#include "xen/control.h"

struct weft_xen_refs {
    uint32_t *
        reference; /* of the index pages, then of the pages of the trace in order; no two are equal */
    uint32_t indices;
    uint32_t pages; /* of the trace */
    const char *key;
    char *value; /* of the key */
    size_t value_size;
};

/* As weft_xen_open says. On failure there is nothing to be freed. */
int weft_xen_refs_read(struct weft_xen_refs *refs, const struct weft_xen *xen, unsigned domain,
                       uint64_t max_bytes, struct weft_error *err);

void weft_xen_refs_fini(struct weft_xen_refs *refs);

/* Reads a key of the domain. Returns 1; 0 if it is not there, *value being NULL; or a negative WEFT_E code. The
 * caller frees *value. */
int weft_xen_key(const struct weft_xen *xen, unsigned domain, const char *key, char **value,
                 size_t *size, struct weft_error *err);

/* Out of memory that the guest may write to at any moment. */
void weft_xen_copy(void *to, const void *from, size_t size);

/* Says why reference could not be mapped; error: errno. what: which page it is. Returns a negative WEFT_E code. */
int weft_xen_refused(const struct weft_xen *xen, unsigned domain, uint32_t reference,
                     const char *what, int error, struct weft_error *err);

#endif
