/* SPDX-License-Identifier: ISC */
/* How a Xen guest publishes the place of its trace, as described in docs/format.md: pages that another domain
 * may read, and their grant references in XenStore. */
#pragma once

#include <stdint.h>

#define WEFT_XEN_PAGE 4096u

/* Keys below the domain's own path, /local/domain/N. At any time only one of them exists. */

/* mirage-profile's key: the references of the pages in order, decimal, separated by commas. */
#define WEFT_XEN_LIST_KEY "data/mprof/ring-ref"

/* For more pages than fit into that value: the reference of an index page, decimal. */
#define WEFT_XEN_INDEX_KEY "data/weft/ring-index"

/* The longest value in bytes that a guest can write: measured with Xen 4.17 and both XenStore daemons. */
#define WEFT_XEN_LIST_MAX 2015u

#define WEFT_XEN_INDEX_MAGIC UINT64_C(0x7865646e69746677) /* "wftindex" */
#define WEFT_XEN_INDEX_VERSION 1u
#define WEFT_XEN_INDEX_REFERENCES 1020u

/* A page of references, little endian, granted like the others. Level 0: references to pages of the trace, in
 * order; level 1: to index pages of level 0. The key names the only page of the highest level. */
struct weft_xen_index {
    uint64_t magic;
    uint16_t version;
    uint16_t level;
    uint32_t count; /* references in this page */
    uint32_t reference[WEFT_XEN_INDEX_REFERENCES];
};

_Static_assert(sizeof(struct weft_xen_index) == WEFT_XEN_PAGE, "docs/format.md");

/* The most pages that two levels can hold: 3.97 GiB. */
#define WEFT_XEN_PAGES_MAX (WEFT_XEN_INDEX_REFERENCES * WEFT_XEN_INDEX_REFERENCES)
