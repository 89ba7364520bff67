/* SPDX-License-Identifier: ISC */
/* Finds, maps and reads the trace of another Xen domain, from the control domain.
 *
 *     struct weft_xen_domain domain;
 *     struct weft_xen_ring *ring;
 *     if (weft_xen_find(&xen, "web", &domain, &err) == 0 &&
 *         weft_xen_open(&ring, &xen, domain.id, WEFT_XEN_BYTES_MAX, &err) == 0)
 *         weft_xen_ring_copy(ring, buffer, size, 0);
 *
 * Everything that comes from the guest, in XenStore and in its pages, is hostile: it is checked and bounded,
 * and it may change at any moment. Errors say what was found; texts of the guest in them are shortened and made
 * safe to print (weft_error_set).
 *
 * Only one thread at a time may call these functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/error.h"
#include "format/xen.h"

enum weft_xen_state {
    WEFT_XEN_UNKNOWN, /* the hypervisor does not say: treated as running */
    WEFT_XEN_RUNNING, /* or blocked, or paused */
    WEFT_XEN_SHUT,    /* has shut down, but still exists */
    WEFT_XEN_CRASHED, /* has crashed, but still exists (on_crash=preserve) */
    WEFT_XEN_GONE,    /* is being destroyed, or does not exist */
};

/* "unknown", "running", "shut down", "crashed", "gone" */
const char *weft_xen_state_name(enum weft_xen_state state);

/* The system underneath: Xen's libraries (libxen.h), or a test's replacement. Functions that return a pointer
 * return NULL on failure and set errno. */
struct weft_xen {
    void *context; /* the first argument of all of them */

    /* XenStore. Values may contain any bytes; *size does not count the NUL after them. The caller frees
     * them. */
    char *(*read)(void *context, const char *path, size_t *size);
    /* The names below path, each with its NUL; all in one piece of memory, which the caller frees. */
    char **(*list)(void *context, const char *path, unsigned *count);

    /* Maps `count` pages of a domain for reading, contiguously and in order. */
    void *(*map)(void *context, unsigned domain, uint32_t *reference, uint32_t count);
    void (*unmap)(void *context, void *pages, uint32_t count);

    enum weft_xen_state (*state)(void *context, unsigned domain);

    /* Waits until something may have happened to a domain or to its keys, for at most timeout_ms (-1: forever).
     * Returns 1; 0 after the timeout or a signal; or -1 with errno. However often the guest writes its keys,
     * this returns 1 only a few times per second. */
    int (*wait)(void *context, unsigned domain, int timeout_ms);

    /* Called when nobody waits for the time being, so that events need not be queued. May be NULL. */
    void (*unwatch)(void *context);
};

/* ---- Domains ---- */

#define WEFT_XEN_NAME_MAX 255

struct weft_xen_domain {
    unsigned id;
    enum weft_xen_state state;
    char name[WEFT_XEN_NAME_MAX + 1]; /* any bytes, with a NUL; "" if it has none */
    bool lists;                       /* WEFT_XEN_LIST_KEY exists */
    bool indexes;                     /* WEFT_XEN_INDEX_KEY exists */
};

/* Lists all domains by number, including the control domain. The caller frees *domains. Returns 0 or a negative
 * WEFT_E code. */
int weft_xen_domains(const struct weft_xen *xen, struct weft_xen_domain **domains, uint32_t *count,
                     struct weft_error *err);

/* Finds a domain by its number, if name is a decimal number, otherwise by its name. WEFT_E_INVALID: there is
 * none, or several have this name. */
int weft_xen_find(const struct weft_xen *xen, const char *name, struct weft_xen_domain *domain,
                  struct weft_error *err);

/* ---- Its trace ---- */

struct weft_xen_ring;

#define WEFT_XEN_BYTES_MAX ((uint64_t)WEFT_XEN_PAGES_MAX * WEFT_XEN_PAGE)

/* Maps the trace that a domain offers, at most max_bytes. On success the caller owns *out; otherwise it is
 * NULL. xen must stay valid as long as the ring. Besides the mapping, this needs 12 bytes per page until it
 * returns.
 *
 * WEFT_E_INVALID: the domain offers no trace. WEFT_E_FORMAT: XenStore or an index page contains something
 * invalid: not a number, too many references, or the same one twice. WEFT_E_LIMIT: the trace is larger than
 * max_bytes. WEFT_E_IO: the hypervisor refuses, because the references are not of pages that are granted to
 * this domain, or the domain is gone. */
int weft_xen_open(struct weft_xen_ring **out, const struct weft_xen *xen, unsigned domain,
                  uint64_t max_bytes, struct weft_error *err);

/* ring may be NULL. */
void weft_xen_close(struct weft_xen_ring *ring);

/* Finds out what a domain offers without mapping all of it: sets *bytes and copies the first page to head.
 * Fails like weft_xen_open, but does not notice if other pages cannot be mapped. */
int weft_xen_look(const struct weft_xen *xen, unsigned domain, unsigned char head[WEFT_XEN_PAGE],
                  uint64_t *bytes, struct weft_error *err);

uint64_t weft_xen_ring_bytes(const struct weft_xen_ring *ring);

/* Copies up to size bytes from offset on, as they are at this moment; returns how many. The guest may write to
 * them during the copy; if size is 8 and offset a multiple of 8, the word is copied atomically. Works after the
 * domain has ended, too. */
size_t weft_xen_ring_copy(const void *ring, void *buffer, size_t size, uint64_t offset);

/* Waits until the domain is no longer running or no longer offers this ring, for at most timeout_ms (-1: no
 * limit). Returns 1 if that is so; or a negative WEFT_E code. Returns 0 if it is not so yet: after the timeout,
 * after a signal, and in any case after a second. So call it in a loop, and check there whether to stop.
 * *state: of the domain; WEFT_XEN_GONE also if only XenStore no longer knows the domain. */
int weft_xen_ring_wait(struct weft_xen_ring *ring, int timeout_ms, enum weft_xen_state *state,
                       struct weft_error *err);
