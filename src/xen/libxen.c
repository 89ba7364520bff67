/* SPDX-License-Identifier: ISC */
#include "xen/libxen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <xenctrl.h>
#include <xengnttab.h>
#include <xenstore.h>

#include "base/clock.h"
#include "xen/quiet.h"

enum {
    PAUSE_MS = 200,       /* between two events that are passed on */
    EVENTS_MAX = 1 << 16, /* read at once: a guest may create more without end */
};

struct connection {
    struct xs_handle *store;
    xengnttab_handle *grants;
    xc_interface *control; /* NULL: the state of domains is unknown */
    bool watches;
    unsigned watched;    /* domain */
    int64_t happened_ms; /* when wait last returned 1; 0: not yet */
};

/* ---- XenStore ---- */

static char *read_value(void *context, const char *path, size_t *size)
{
    const struct connection *c = context;
    unsigned length = 0;
    char *value = xs_read(c->store, XBT_NULL, path, &length);
    *size = length;
    return value;
}

static char **list_names(void *context, const char *path, unsigned *count)
{
    const struct connection *c = context;
    return xs_directory(c->store, XBT_NULL, path, count);
}

/* ---- Pages ---- */

static void *map_pages(void *context, unsigned domain, uint32_t *reference, uint32_t count)
{
    const struct connection *c = context;
    return xengnttab_map_domain_grant_refs(c->grants, count, domain, reference, PROT_READ);
}

static void unmap_pages(void *context, void *pages, uint32_t count)
{
    const struct connection *c = context;
    xengnttab_unmap(c->grants, pages, count);
}

/* ---- Domains ---- */

static enum weft_xen_state state(bool dying, bool shutdown, unsigned reason)
{
    if (dying)
        return WEFT_XEN_GONE;
    if (!shutdown)
        return WEFT_XEN_RUNNING;
    return reason == SHUTDOWN_crash || reason == SHUTDOWN_watchdog ? WEFT_XEN_CRASHED
                                                                   : WEFT_XEN_SHUT;
}

#ifdef WEFT_HAS_GETINFO_SINGLE /* from Xen 4.18 on */

static enum weft_xen_state domain_state(void *context, unsigned domain)
{
    const struct connection *c = context;
    xc_domaininfo_t info;
    if (!c->control)
        return WEFT_XEN_UNKNOWN;
    if (xc_domain_getinfo_single(c->control, domain, &info) < 0)
        return errno == ESRCH ? WEFT_XEN_GONE : WEFT_XEN_UNKNOWN;
    return state(info.flags & XEN_DOMINF_dying, info.flags & XEN_DOMINF_shutdown,
                 (info.flags >> XEN_DOMINF_shutdownshift) & XEN_DOMINF_shutdownmask);
}

#else

/* Before Xen 4.18 the call returned the next domain from that number on. */
static enum weft_xen_state domain_state(void *context, unsigned domain)
{
    const struct connection *c = context;
    xc_dominfo_t info;
    if (!c->control)
        return WEFT_XEN_UNKNOWN;
    int found = xc_domain_getinfo(c->control, domain, 1, &info);
    if (found < 0 && errno != ESRCH)
        return WEFT_XEN_UNKNOWN;
    if (found < 1 || info.domid != domain)
        return WEFT_XEN_GONE;
    if (info.crashed) /* shutdown is not set in this case */
        return state(info.dying, true, SHUTDOWN_crash);
    return state(info.dying, info.shutdown, info.shutdown_reason);
}

#endif

/* ---- Waiting ---- */

/* Sets or removes all watches. Returns false, with errno, if one cannot be set. */
static bool set_watches(const struct connection *c, bool on)
{
    char path[3][128] = {"@releaseDomain"};
    bool set = true;
    snprintf(path[1], sizeof *path, "/local/domain/%u/%s", c->watched, WEFT_XEN_LIST_KEY);
    snprintf(path[2], sizeof *path, "/local/domain/%u/%s", c->watched, WEFT_XEN_INDEX_KEY);
    for (unsigned i = 0; i < 3 && set; i++)
        set = (on ? xs_watch : xs_unwatch)(c->store, path[i], "weft") || !on;
    return set;
}

/* Reads the pending events. Returns false, with errno, if the connection is lost. */
static bool drain(const struct connection *c)
{
    for (unsigned i = 0; i < EVENTS_MAX; i++) {
        char **event = xs_check_watch(c->store);
        if (!event)
            return errno == EAGAIN;
        free(event);
    }
    return true;
}

static void unwatch(void *context)
{
    struct connection *c = context;
    if (!c->watches)
        return;
    c->watches = false;
    c->happened_ms = 0;
    set_watches(c, false);
    drain(c);
}

/* XenStore reports each new watch once immediately, so nothing that happened before is missed. */
static bool watch(struct connection *c, unsigned domain)
{
    if (c->watches && c->watched == domain)
        return true;
    unwatch(c);
    c->watches = true;
    c->watched = domain;
    if (set_watches(c, true))
        return true;
    int error = errno;
    unwatch(c);
    errno = error;
    return false;
}

/* Like poll, but a signal is a normal return, not a failure. */
static int poll_for(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int rc = poll(&p, 1, timeout_ms);
    return rc < 0 && errno == EINTR ? 0 : rc;
}

static int wait_for(void *context, unsigned domain, int timeout_ms)
{
    struct connection *c = context;
    if (!watch(c, domain))
        return -1;
    const int fd = xs_fileno(c->store);
    if (fd < 0)
        return -1;
    int rc = poll_for(fd, timeout_ms);
    if (rc <= 0)
        return rc;
    /* A guest may write its keys without end: everything that it writes within the pause counts as one
     * event. */
    const int64_t due = c->happened_ms ? c->happened_ms + PAUSE_MS : 0,
                  now = weft_monotonic_ns() / 1000000;
    if (due > now) {
        const int64_t left = due - now;
        const bool in_time = timeout_ms < 0 || left < timeout_ms;
        if (poll(NULL, 0, in_time ? (int)left : timeout_ms) < 0 || !in_time)
            return 0;
    }
    c->happened_ms = weft_monotonic_ns() / 1000000;
    return drain(c) ? 1 : -1;
}

/* ---- Connecting ---- */

static int no_store(int error, struct weft_error *err)
{
    if (error == EACCES || error == EPERM)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET, "XenStore can only be asked by root");
    return weft_error_set(
        err, WEFT_E_IO, WEFT_NO_OFFSET,
        "this is no Xen system, or xenstored does not run: XenStore is neither at "
        "/run/xenstored/socket nor at /dev/xen/xenbus%s%s",
        error == ENOENT ? "" : ": ", error == ENOENT ? "" : strerror(error));
}

static int no_grants(int error, struct weft_error *err)
{
    if (error == EACCES || error == EPERM)
        return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                              "pages of other domains can only be mapped by root: "
                              "/dev/xen/gntdev: %s",
                              strerror(error));
    return weft_error_set(err, WEFT_E_IO, WEFT_NO_OFFSET,
                          "pages of other domains cannot be mapped: /dev/xen/gntdev: %s; "
                          "modprobe xen-gntdev",
                          strerror(error));
}

static void disconnect(struct connection *c)
{
    if (c->store)
        unwatch(c);
    if (c->control)
        xc_interface_close(c->control);
    if (c->grants)
        xengnttab_close(c->grants);
    if (c->store)
        xs_close(c->store);
    free(c);
}

int weft_xen_connect(struct weft_xen *xen, struct weft_error *err)
{
    int rc = 0;
    *xen = (struct weft_xen){.context = NULL};
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        return weft_no_memory(err);
    c->store = xs_open(0);
    if (!c->store)
        rc = no_store(errno, err);
    if (rc == 0) {
        c->grants = xengnttab_open(&quiet, 0);
        if (!c->grants)
            rc = no_grants(errno, err);
    }
    if (rc < 0) {
        disconnect(c);
        return rc;
    }
    c->control = xc_interface_open(&quiet, &quiet, 0);
    *xen = (struct weft_xen){
        .context = c,
        .read = read_value,
        .list = list_names,
        .map = map_pages,
        .unmap = unmap_pages,
        .state = domain_state,
        .wait = wait_for,
        .unwatch = unwatch,
    };
    return 0;
}

void weft_xen_disconnect(struct weft_xen *xen)
{
    if (xen->context)
        disconnect(xen->context);
    *xen = (struct weft_xen){.context = NULL};
}
