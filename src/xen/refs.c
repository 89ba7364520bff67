/* SPDX-License-Identifier: ISC */
#include "xen/refs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

enum { VALUE_MAX = 4096 }; /* of any value in XenStore, whoever wrote it */

struct source {
    const struct weft_xen *xen;
    unsigned domain;
    uint32_t most; /* maximum number of pages */
    uint64_t max_bytes;
    struct weft_error *err;
};

/* A text of the guest, made safe to print on a terminal. */
struct quoted {
    char text[28];
};

static struct quoted quoted(const char *text, size_t size)
{
    struct quoted q = {{0}};
    const size_t room = sizeof q.text - 4;
    for (size_t i = 0; i < size && i < room; i++)
        q.text[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    if (size > room)
        strcpy(q.text + room, "...");
    return q;
}

static int too_large(const struct source *s, const char *least, uint64_t pages)
{
    return weft_error_set(s->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                          "offers %s%llu pages, %llu bytes; the limit is %llu bytes", least,
                          (unsigned long long)pages, (unsigned long long)pages * WEFT_XEN_PAGE,
                          (unsigned long long)s->max_bytes);
}

/* ---- XenStore ---- */

int weft_xen_key(const struct weft_xen *xen, unsigned domain, const char *key, char **value,
                 size_t *size, struct weft_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "/local/domain/%u/%s", domain, key);
    *value = xen->read(xen->context, path, size);
    if (*value)
        return 1;
    if (errno == ENOENT)
        return 0;
    if (errno == ENOMEM)
        return weft_no_memory(err);
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "%s cannot be read in XenStore: %s%s",
                          path, strerror(errno),
                          errno == EACCES ? "; run weft in the control domain, as root" : "");
}

/* Returns 1; 0 if it is not a number; -1 if it is too large. */
static int parse_reference(const char *text, size_t size, uint32_t *reference)
{
    uint64_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        n = n * 10 + (uint64_t)(text[i] - '0');
        if (n > UINT32_MAX)
            n = (uint64_t)UINT32_MAX + 1; /* and it stays there, whatever digits follow */
    }
    *reference = (uint32_t)n;
    return size == 0 ? 0 : n > UINT32_MAX ? -1 : 1;
}

static int bad_reference(const char *key, uint32_t item, const char *text, size_t size, int why,
                         struct weft_error *err)
{
    char which[32] = "";
    if (item)
        snprintf(which, sizeof which, ": item %u", item);
    if (size == 0)
        return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s in XenStore%s is empty", key,
                              which);
    return weft_error_set(
        err, WEFT_E_FORMAT, WEFT_NO_OFFSET, "%s in XenStore%s is %s: \"%s\"", key, which,
        why < 0 ? "larger than a grant reference can be" : "no grant reference, a decimal number",
        quoted(text, size).text);
}

static int parse_list(struct weft_xen_refs *refs, size_t size, const struct source *s)
{
    const char *at = refs->value, *end = at + size;
    uint32_t count = 1;
    for (const char *c = at; c < end; c++)
        count += *c == ',';
    if (count > s->most)
        return too_large(s, "", count);
    refs->reference = malloc(count * sizeof *refs->reference);
    if (!refs->reference)
        return weft_no_memory(s->err);
    for (; refs->pages < count; refs->pages++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const size_t item = (size_t)((comma ? comma : end) - at);
        int rc = parse_reference(at, item, &refs->reference[refs->pages]);
        if (rc <= 0)
            return bad_reference(refs->key, count > 1 ? refs->pages + 1 : 0, at, item, rc, s->err);
        at += item + 1;
    }
    return 0;
}

/* Reads the one of the two keys that exists, the index first. Returns 1; 0 if there is none; or a negative
 * code. */
static int read_key(struct weft_xen_refs *refs, const struct source *s)
{
    static const char *const keys[] = {WEFT_XEN_INDEX_KEY, WEFT_XEN_LIST_KEY};
    int rc = 0;
    for (unsigned i = 0; i < 2 && rc == 0; i++) {
        refs->key = keys[i];
        rc = weft_xen_key(s->xen, s->domain, keys[i], &refs->value, &refs->value_size, s->err);
    }
    return rc;
}

/* ---- Mapping ---- */

void weft_xen_copy(void *to, const void *from, size_t size)
{
    if (size == 8 && (uintptr_t)from % 8 == 0) {
        const uint64_t word = __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED);
        memcpy(to, &word, sizeof word);
    } else {
        memcpy(to, from, size);
    }
    /* What is checked later must be this copy: the compiler must not read the pages again instead. And what is
     * copied later must be read later, also on a processor that reorders loads (arm64): an event after the size
     * that covers it. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

int weft_xen_refused(const struct weft_xen *xen, unsigned domain, uint32_t reference,
                     const char *what, int error, struct weft_error *err)
{
    if (error == ENOMEM || error == ENOSPC)
        return weft_error_set(err, error == ENOMEM ? WEFT_E_NOMEM : WEFT_E_IO, WEFT_NO_OFFSET,
                              "reference %u (%s) cannot be mapped: %s; the module xen-gntdev has a "
                              "limit, and the hypervisor has gnttab_max_maptrack_frames",
                              reference, what, strerror(error));
    if (xen->state(xen->context, domain) == WEFT_XEN_GONE)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "reference %u (%s) cannot be mapped: the domain is gone", reference,
                              what);
    if (error == EINVAL)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "reference %u (%s) is refused by the hypervisor: that page is not "
                              "granted to this domain",
                              reference, what);
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "reference %u (%s) cannot be mapped: %s",
                          reference, what, strerror(error));
}

/* ---- Index pages ---- */

/* level: its maximum. what: for messages. */
static int check_index(const struct weft_xen_index *page, uint32_t reference, const char *what,
                       unsigned level, struct weft_error *err)
{
    if (page->magic != WEFT_XEN_INDEX_MAGIC)
        return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                              "%s (reference %u) is none: it does not begin with \"wftindex\"",
                              what, reference);
    if (page->version != WEFT_XEN_INDEX_VERSION)
        return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                              "%s (reference %u) is of version %u; this weft reads version %u",
                              what, reference, page->version, WEFT_XEN_INDEX_VERSION);
    if (page->level > level)
        return weft_error_set(
            err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
            "%s (reference %u) says it is of level %u; at most %u is possible there", what,
            reference, page->level, level);
    if (page->count == 0 || page->count > WEFT_XEN_INDEX_REFERENCES)
        return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                              "%s (reference %u) says that it holds %u references; 1 to %u are "
                              "possible",
                              what, reference, page->count, WEFT_XEN_INDEX_REFERENCES);
    return 0;
}

/* Copies the page, and only then checks it: the guest may change it at any moment. */
static int read_index(const struct source *s, uint32_t reference, const char *what, unsigned level,
                      struct weft_xen_index *page)
{
    void *mapped = s->xen->map(s->xen->context, s->domain, &reference, 1);
    if (!mapped)
        return weft_xen_refused(s->xen, s->domain, reference, what, errno, s->err);
    weft_xen_copy(page, mapped, sizeof *page);
    s->xen->unmap(s->xen->context, mapped, 1);
    return check_index(page, reference, what, level, s->err);
}

static int check_repeated(const struct weft_xen_refs *refs, struct weft_error *err)
{
    const size_t count = (size_t)refs->indices + refs->pages;
    uint32_t *sorted = malloc(count * sizeof *sorted);
    size_t i = 1;
    if (!sorted)
        return weft_no_memory(err);
    memcpy(sorted, refs->reference, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, weft_order_u32);
    while (i < count && sorted[i - 1] != sorted[i])
        i++;
    const uint32_t twice = i < count ? sorted[i] : 0;
    free(sorted);
    if (i >= count)
        return 0;
    return weft_error_set(err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                          "reference %u is named more than once", twice);
}

/* Appends the references in an index page of level 0. */
static int append_leaf(struct weft_xen_refs *refs, const struct source *s,
                       const struct weft_xen_index *page)
{
    if (page->count > s->most - refs->pages)
        return too_large(s, "at least ", (uint64_t)refs->pages + page->count);
    memcpy(refs->reference + refs->indices + refs->pages, page->reference,
           page->count * sizeof *page->reference);
    refs->pages += page->count;
    return 0;
}

/* Reads the index pages listed in refs, except the first. */
static int read_leaves(struct weft_xen_refs *refs, const struct source *s)
{
    struct weft_xen_index page;
    const uint32_t leaves = refs->indices - 1;
    int rc = 0;
    for (uint32_t i = 1; i <= leaves && rc == 0; i++) {
        char what[64];
        snprintf(what, sizeof what, "index page %u of %u", i, leaves);
        rc = read_index(s, refs->reference[i], what, 0, &page);
        if (rc == 0 && i < leaves && page.count < WEFT_XEN_INDEX_REFERENCES)
            return weft_error_set(s->err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                                  "%s (reference %u) holds %u references; all but the last hold %u",
                                  what, refs->reference[i], page.count, WEFT_XEN_INDEX_REFERENCES);
        if (rc == 0)
            rc = append_leaf(refs, s, &page);
    }
    return rc;
}

static int read_indices(struct weft_xen_refs *refs, const struct source *s, uint32_t root)
{
    struct weft_xen_index top;
    int rc = read_index(s, root, "the index page", 1, &top);
    if (rc < 0)
        return rc;
    const uint32_t leaves = top.level == 1 ? top.count : 0;
    const uint64_t least = leaves ? (leaves - 1) * WEFT_XEN_INDEX_REFERENCES + 1 : top.count;
    const uint64_t most = leaves ? leaves * WEFT_XEN_INDEX_REFERENCES : top.count;
    if (least > s->most)
        return too_large(s, leaves ? "at least " : "", least);
    refs->reference = malloc((1 + leaves + most) * sizeof *refs->reference);
    if (!refs->reference)
        return weft_no_memory(s->err);
    refs->reference[0] = root;
    refs->indices = 1 + leaves;
    if (!leaves)
        return append_leaf(refs, s, &top);
    memcpy(refs->reference + 1, top.reference, leaves * sizeof *top.reference);
    rc = check_repeated(refs, s->err); /* so that one page is not read a thousand times */
    return rc < 0 ? rc : read_leaves(refs, s);
}

/* ---- All of it ---- */

/* The size without the line end or NUL that a shell or a C program may have written. */
static size_t without_end(const char *value, size_t size)
{
    if (size && value[size - 1] == '\0')
        size--;
    if (size && value[size - 1] == '\n')
        size--;
    return size;
}

static int read_refs(struct weft_xen_refs *refs, const struct source *s)
{
    uint32_t root;
    int rc = read_key(refs, s);
    if (rc == 0)
        return weft_error_set(s->err, WEFT_E_INVALID, WEFT_NO_OFFSET,
                              "offers no trace: in XenStore it has neither %s nor %s",
                              WEFT_XEN_INDEX_KEY, WEFT_XEN_LIST_KEY);
    if (rc < 0)
        return rc;
    if (refs->value_size > VALUE_MAX)
        return weft_error_set(s->err, WEFT_E_FORMAT, WEFT_NO_OFFSET,
                              "%s in XenStore is %zu bytes long; %d are possible", refs->key,
                              refs->value_size, VALUE_MAX);
    const size_t size = without_end(refs->value, refs->value_size);
    if (strcmp(refs->key, WEFT_XEN_INDEX_KEY) != 0) {
        rc = parse_list(refs, size, s);
    } else {
        rc = parse_reference(refs->value, size, &root);
        rc = rc > 0 ? read_indices(refs, s, root)
                    : bad_reference(refs->key, 0, refs->value, size, rc, s->err);
    }
    return rc < 0 ? rc : check_repeated(refs, s->err);
}

int weft_xen_refs_read(struct weft_xen_refs *refs, const struct weft_xen *xen, unsigned domain,
                       uint64_t max_bytes, struct weft_error *err)
{
    struct source s = {
        .xen = xen,
        .domain = domain,
        .most = max_bytes < WEFT_XEN_BYTES_MAX ? (uint32_t)(max_bytes / WEFT_XEN_PAGE)
                                               : WEFT_XEN_PAGES_MAX,
        .max_bytes = max_bytes,
        .err = err,
    };
    *refs = (struct weft_xen_refs){.reference = NULL};
    int rc = read_refs(refs, &s);
    if (rc < 0)
        weft_xen_refs_fini(refs);
    return rc;
}

void weft_xen_refs_fini(struct weft_xen_refs *refs)
{
    free(refs->reference);
    free(refs->value);
    *refs = (struct weft_xen_refs){.reference = NULL};
}
