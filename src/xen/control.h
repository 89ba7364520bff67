/* SPDX-License-Identifier: ISC */
/* Finding, mapping and reading the trace of another Xen domain, from the control domain.
 *
 *     struct weft_xen_domain domain;
 *     struct weft_xen_ring *ring;
 *     if (weft_xen_find(&xen, "web", &domain, &err) == 0 &&
 *         weft_xen_open(&ring, &xen, domain.id, WEFT_XEN_BYTES_MAX, &err) == 0)
 *         weft_xen_ring_copy(ring, buffer, size, 0);
 *
 * All that comes from the guest, in XenStore and in its pages, is hostile: it is checked, bounded, and may change at any
 * moment. Errors say what was found; texts of the guest in them are cut and made harmless (weft_error_set).
 *
 * One thread at a time. */
#ifndef WEFT_XEN_CONTROL_H
#define WEFT_XEN_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"
#include "format/xen.h"

enum weft_xen_state {
    WEFT_XEN_UNKNOWN, /* the hypervisor does not tell: it is taken for running */
    WEFT_XEN_RUNNING, /* or blocked, or paused */
    WEFT_XEN_SHUT,    /* has shut down, and is still there */
    WEFT_XEN_CRASHED, /* has crashed, and is still there (on_crash=preserve) */
    WEFT_XEN_GONE,    /* is being destroyed, or not there */
};

/* "unknown", "running", "shut down", "crashed", "gone" */
const char *weft_xen_state_name(enum weft_xen_state state);

/* The system that all of it stands on: Xen's libraries (libxen.h), or what a test puts in their place. Where a pointer is
 * returned, NULL is a failure, and errno says which. */
struct weft_xen {
    void *context; /* the first argument of all of them */

    /* XenStore. Values are any bytes; *size does not count the NUL that stands behind them. The caller frees them. */
    char *(*read)(void *context, const char *path, size_t *size);
    /* The names below path, each terminated; one piece of memory, which the caller frees. */
    char **(*list)(void *context, const char *path, unsigned *count);

    /* Maps that many pages of a domain for reading, in order, one behind the other. */
    void *(*map)(void *context, unsigned domain, uint32_t *reference, uint32_t count);
    void (*unmap)(void *context, void *pages, uint32_t count);

    enum weft_xen_state (*state)(void *context, unsigned domain);

    /* Waits until something may have happened to a domain, or to its keys, at most timeout_ms (-1: for ever). Returns 1,
     * 0 if the time has passed or a signal came, or -1 with errno. However often the guest writes its keys, it
     * returns 1 only some times a second. */
    int (*wait)(void *context, unsigned domain, int timeout_ms);

    /* Nobody waits for now, so that nothing is kept of what happens. May be NULL. */
    void (*unwatch)(void *context);
};

/* ---- Domains ---- */

#define WEFT_XEN_NAME_MAX 255

struct weft_xen_domain {
    unsigned id;
    enum weft_xen_state state;
    char name[WEFT_XEN_NAME_MAX + 1]; /* any bytes, terminated; "" if it has none */
    bool lists;                       /* WEFT_XEN_LIST_KEY is there */
    bool indexes;                     /* WEFT_XEN_INDEX_KEY is there */
};

/* All domains, by number, the control domain among them. The caller frees *domains. Returns 0 or a negative WEFT_E code. */
int weft_xen_domains(const struct weft_xen *xen, struct weft_xen_domain **domains, uint32_t *count,
                     struct weft_error *err);

/* The domain of that number, if name is one in decimal, otherwise of that name. WEFT_E_INVALID: there is none, or several
 * have the name. */
int weft_xen_find(const struct weft_xen *xen, const char *name, struct weft_xen_domain *domain,
                  struct weft_error *err);

/* ---- Its trace ---- */

struct weft_xen_ring;

#define WEFT_XEN_BYTES_MAX ((uint64_t)WEFT_XEN_PAGES_MAX * WEFT_XEN_PAGE)

/* Maps the trace that a domain offers, at most that many bytes. WEFT_E_INVALID: it offers none. WEFT_E_FORMAT: what
 * stands in XenStore or in an index page is not as it should be: not numbers, too many, one of them twice. WEFT_E_LIMIT:
 * larger than max_bytes. WEFT_E_IO: the hypervisor refuses, because the references are not of pages that are granted to
 * this domain, or the domain is gone. What this needs besides the mapping is 12 bytes a page, until it returns. xen must
 * stay as long as the ring. On success the caller owns *out; otherwise it is NULL. */
int weft_xen_open(struct weft_xen_ring **out, const struct weft_xen *xen, unsigned domain,
                  uint64_t max_bytes, struct weft_error *err);

/* ring may be NULL. */
void weft_xen_close(struct weft_xen_ring *ring);

/* What a domain offers, without mapping all of it: *bytes, and a copy of the first page in head. Fails as weft_xen_open
 * does, but does not see whether the other pages can be mapped. */
int weft_xen_look(const struct weft_xen *xen, unsigned domain, unsigned char head[WEFT_XEN_PAGE],
                  uint64_t *bytes, struct weft_error *err);

uint64_t weft_xen_ring_bytes(const struct weft_xen_ring *ring);

/* Copies up to size bytes from offset on, as they are at this moment; returns how many. The guest may write to them
 * meanwhile; a word of 8 bytes at a multiple of 8 is copied in one piece if size is 8. Also after the domain has ended. */
size_t weft_xen_ring_copy(const void *ring, void *buffer, size_t size, uint64_t offset);

/* Waits until the domain that has the ring is no longer running, or does not offer this ring any more, at most timeout_ms
 * (-1: as long as it likes). Returns 1 if that is so; 0 if not, since the time has passed, a signal came, or a
 * second has passed whatever timeout_ms is: so callers ask in a loop, and look there whether they are to stop; or a
 * negative WEFT_E code. *state: of the domain; WEFT_XEN_GONE also if only XenStore does not know it any more. */
int weft_xen_ring_wait(struct weft_xen_ring *ring, int timeout_ms, enum weft_xen_state *state,
                       struct weft_error *err);

#endif
