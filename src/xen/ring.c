/* SPDX-License-Identifier: ISC */
#include "xen/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "xen/refs.h"

/* Kernels limit how many pages one call can map. */
enum { CHUNK = 1024, SLICE_MS = 1000 };

/* Above this count the hypervisor may have run out of mappings, which it reports like a page that is not
 * granted. */
enum { MANY = 65536 };

#define CHUNK_BYTES ((uint64_t)CHUNK * WEFT_XEN_PAGE)

struct weft_xen_ring {
    const struct weft_xen *xen;
    unsigned domain;
    struct weft_xen_refs refs; /* without the references, once it is mapped */
    void *chunk[];             /* of CHUNK pages each, except the last; NULL: not mapped */
};

static uint32_t chunks(const struct weft_xen_ring *ring)
{
    return (ring->refs.pages + CHUNK - 1) / CHUNK;
}

static uint32_t chunk_pages(const struct weft_xen_ring *ring, uint32_t chunk)
{
    const uint32_t left = ring->refs.pages - chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

/* ---- Mapping ---- */

/* Of pages that cannot be mapped together, finds the first that cannot be mapped at all, by bisection. */
static int say_refused(const struct weft_xen_ring *ring, uint32_t *reference, uint32_t first,
                       uint32_t count, struct weft_error *err)
{
    const struct weft_xen *xen = ring->xen;
    int error = errno;
    char what[64];
    while (count > 1 && error != ENOMEM) {
        const uint32_t half = count / 2;
        void *mapped = xen->map(xen->context, ring->domain, reference + first, half);
        if (mapped) {
            xen->unmap(xen->context, mapped, half);
            first += half;
            count -= half;
        } else {
            error = errno;
            count = half;
        }
    }
    snprintf(what, sizeof what, "page %u of %u", first + 1, ring->refs.pages);
    if (error == EINVAL && first >= MANY)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "reference %u (%s) is refused by the hypervisor: that page is not "
                              "granted to this domain, or so many cannot be mapped: see "
                              "gnttab_max_maptrack_frames in docs/xen.md",
                              reference[first], what);
    return weft_xen_refused(xen, ring->domain, reference[first], what, error, err);
}

static int map(struct weft_xen_ring *ring, uint32_t *reference, struct weft_error *err)
{
    const struct weft_xen *xen = ring->xen;
    for (uint32_t i = 0; i < chunks(ring); i++) {
        const uint32_t count = chunk_pages(ring, i);
        ring->chunk[i] = xen->map(xen->context, ring->domain, reference + i * CHUNK, count);
        if (!ring->chunk[i])
            return say_refused(ring, reference, i * CHUNK, count, err);
    }
    return 0;
}

int weft_xen_open(struct weft_xen_ring **out, const struct weft_xen *xen, unsigned domain,
                  uint64_t max_bytes, struct weft_error *err)
{
    struct weft_xen_refs refs;
    *out = NULL;
    int rc = weft_xen_refs_read(&refs, xen, domain, max_bytes, err);
    if (rc < 0)
        return rc;
    struct weft_xen_ring *ring =
        calloc(1, sizeof *ring + (refs.pages / CHUNK + 1) * sizeof *ring->chunk);
    if (ring) {
        ring->xen = xen;
        ring->domain = domain;
        ring->refs = refs;
        rc = map(ring, refs.reference + refs.indices, err);
        free(refs.reference);
        ring->refs.reference = NULL;
    } else {
        rc = weft_no_memory(err);
        weft_xen_refs_fini(&refs);
    }
    if (rc < 0)
        weft_xen_close(ring);
    else
        *out = ring;
    return rc;
}

int weft_xen_look(const struct weft_xen *xen, unsigned domain, unsigned char head[WEFT_XEN_PAGE],
                  uint64_t *bytes, struct weft_error *err)
{
    struct weft_xen_refs refs;
    int rc = weft_xen_refs_read(&refs, xen, domain, WEFT_XEN_BYTES_MAX, err);
    if (rc < 0)
        return rc;
    uint32_t first = refs.reference[refs.indices];
    void *page = xen->map(xen->context, domain, &first, 1);
    if (page) {
        weft_xen_copy(head, page, WEFT_XEN_PAGE);
        xen->unmap(xen->context, page, 1);
        *bytes = (uint64_t)refs.pages * WEFT_XEN_PAGE;
    } else {
        rc = weft_xen_refused(xen, domain, first, "its first page", errno, err);
    }
    weft_xen_refs_fini(&refs);
    return rc;
}

void weft_xen_close(struct weft_xen_ring *ring)
{
    if (!ring)
        return;
    if (ring->xen->unwatch)
        ring->xen->unwatch(ring->xen->context);
    for (uint32_t i = 0; i < chunks(ring); i++)
        if (ring->chunk[i])
            ring->xen->unmap(ring->xen->context, ring->chunk[i], chunk_pages(ring, i));
    weft_xen_refs_fini(&ring->refs);
    free(ring);
}

uint64_t weft_xen_ring_bytes(const struct weft_xen_ring *ring)
{
    return (uint64_t)ring->refs.pages * WEFT_XEN_PAGE;
}

/* ---- Reading ---- */

size_t weft_xen_ring_copy(const void *memory, void *buffer, size_t size, uint64_t offset)
{
    const struct weft_xen_ring *ring = memory;
    const uint64_t bytes = weft_xen_ring_bytes(ring);
    if (offset >= bytes)
        return 0;
    if (size > bytes - offset)
        size = (size_t)(bytes - offset);
    for (size_t done = 0; done < size;) {
        const uint64_t at = offset + done, within = at % CHUNK_BYTES;
        const uint64_t left = CHUNK_BYTES - within;
        const size_t part = size - done < left ? size - done : (size_t)left;
        weft_xen_copy((char *)buffer + done, (const char *)ring->chunk[at / CHUNK_BYTES] + within,
                      part);
        done += part;
    }
    return size;
}

/* ---- Waiting ---- */

/* Checks whether XenStore no longer knows the domain: a tool that destroys a domain removes its keys first, and
 * then its memory. Returns 1, 0, or a negative WEFT_E code. */
static int is_removed(const struct weft_xen_ring *ring, struct weft_error *err)
{
    static const char *const keys[] = {"domid", "name"}; /* keys that the guest cannot remove */
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *value;
        size_t size;
        int rc = weft_xen_key(ring->xen, ring->domain, keys[i], &value, &size, err);
        free(value);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
    return 1;
}

/* Checks whether the ring's domain has ended: 1, 0, or a negative WEFT_E code. */
static int is_over(const struct weft_xen_ring *ring, enum weft_xen_state *state,
                   struct weft_error *err)
{
    char *value;
    size_t size;
    *state = ring->xen->state(ring->xen->context, ring->domain);
    if (*state == WEFT_XEN_SHUT || *state == WEFT_XEN_CRASHED || *state == WEFT_XEN_GONE)
        return 1;
    int rc = weft_xen_key(ring->xen, ring->domain, ring->refs.key, &value, &size, err);
    if (rc == 0) {
        rc = is_removed(ring, err);
        if (rc > 0)
            *state = WEFT_XEN_GONE;
        return rc < 0 ? rc : 1;
    }
    if (rc < 0)
        return rc;
    const bool same = size == ring->refs.value_size && memcmp(value, ring->refs.value, size) == 0;
    free(value);
    return !same;
}

int weft_xen_ring_wait(struct weft_xen_ring *ring, int timeout_ms, enum weft_xen_state *state,
                       struct weft_error *err)
{
    const struct weft_xen *xen = ring->xen;
    const int64_t end = weft_monotonic_ns() / 1000000 +
                        (timeout_ms >= 0 && timeout_ms < SLICE_MS ? timeout_ms : SLICE_MS);
    int happened = 1, rc;
    while ((rc = is_over(ring, state, err)) == 0 && happened) {
        const int64_t left = end - weft_monotonic_ns() / 1000000;
        if (left < 0)
            return 0;
        happened = xen->wait(xen->context, ring->domain, (int)left);
        if (happened < 0) {
            rc = weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                                "XenStore does not answer any more: %s", strerror(errno));
            break;
        }
    }
    if (rc != 0 && xen->unwatch)
        xen->unwatch(xen->context);
    return rc;
}
