/* SPDX-License-Identifier: ISC */
/* weft in a Xen guest: the trace lies in pages that the control domain may read, while the guest runs, after it hung,
 * after it crashed. There `weft save -o guest.weft xen:NAME` copies it; docs/xen.md says what the domain's configuration
 * should have.
 *
 * In a Linux guest, with libweft-xen (pkg-config weft-xen):
 *
 *     int rc = weft_xen_start(&(struct weft_xen_options){.bytes = 4 << 20});
 *     …                                       the calls of weft.h record
 *     weft_xen_stop();
 *
 * Without touching the program, weft record --xen does the same.
 *
 * In a unikernel, with libweft-freestanding.a, four functions say how its system grants a page and writes to XenStore:
 *
 *     static const struct weft_xen_system mine = {
 *         .grant = my_grant, .end = my_end, .write = my_write, .remove = my_remove};
 *     static struct weft_xen_share share;
 *
 *     int64_t room = weft_xen_grant(&share, &mine, 0, pages, sizeof pages);
 *     if (room > 0 && weft_start(&(struct weft_options){.memory = pages,
 *                                                       .bytes = room,
 *                                                       .clock = nanoseconds_since_boot}) == 0)
 *         weft_xen_publish(&share);
 *     …
 *     weft_xen_withdraw(&share);              then weft_stop(), weft_xen_end(&share)
 *
 * Threads: none of these functions may run at the same time as another one of them. */
#pragma once

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- On any system ---- */

/* What the guest's system does; all four are needed. Where an int is returned, 0 is success, and a negative number a
 * failure, which is handed on. Nothing is called but by the functions below. */
struct weft_xen_system {
    size_t size;   /* sizeof(struct weft_xen_system), or 0; see struct weft_options */
    void *context; /* the first argument of all of them */

    /* Lets domain read the page, and not write it. page: 4096 bytes at a multiple of that. *reference: of the grant. */
    int (*grant)(void *context, unsigned domain, void *page, uint32_t *reference);

    /* The domain is not to read the page any more. (If it has it mapped, it still does: then the page must not be used
     * again before it has let go of it.) reference: what grant has said. */
    void (*end)(void *context, void *page, uint32_t reference);

    /* XenStore. key is relative to the guest's own path ("data/mprof/ring-ref"), value at most 2015 bytes. remove: it may
     * not be there, which is no failure. */
    int (*write)(void *context, const char *key, const char *value);
    int (*remove)(void *context, const char *key);
    /* Up to here in the first version. */
};

/* Pages that are shared; the caller's memory. Nothing in it is for callers. Its size is final: whatever system
 * grows by is taken from reserved. */
struct weft_xen_share {
    unsigned char *memory;
    WEFT_IMPL_ALIGNED uint64_t pages; /* of the trace */
    uint64_t indices;                 /* index pages of level 0, behind them; then one more page */
    uint64_t granted;                 /* so many of all of them */
    uint32_t top;                     /* the reference of the index page that a key names */
    unsigned domain;
    unsigned published;
    struct weft_xen_system system;
    void *reserved[4];
};

#define WEFT_XEN_INVALID                                                                           \
    (-22) /* memory not at a multiple of 4096, missing functions, too small, too large */
#define WEFT_XEN_TOO_NEW                                                                           \
    (-7) /* system has more fields than the library knows, and they are not 0 */

#ifndef WEFT_DISABLE

/* Grants memory to a domain (0: the control domain), page by page. memory: at a multiple of 4096, at least 3 pages, at
 * most 3.97 GiB; of bytes, what is less than a page is left over. Behind the trace, pages hold its references and belong
 * to this share until weft_xen_end: one for each 1020 pages of the trace, and one more. Returns how many bytes are for
 * the trace, from memory on, which may be given to weft_start or weft_start_on (which want 64 KiB, without an operating
 * system 142 KiB, and some KiB more for each processor); or, if a page cannot be granted, what system->grant has
 * returned, all that had been granted being ended; or WEFT_XEN_INVALID, WEFT_XEN_TOO_NEW. system is copied. share need not have been
 * initialised, and must not be one that still has grants. */
int64_t weft_xen_grant(struct weft_xen_share *share, const struct weft_xen_system *system,
                       unsigned domain, void *memory, uint64_t bytes);

/* Says in XenStore where the trace is: as mirage-profile did (data/mprof/ring-ref) if the references fit there, which are
 * about 500, otherwise by an index page (data/weft/ring-index); the other key is removed before. To be called last, since
 * who reads waits for it. May be called again, if XenStore has lost it. Returns 0, or what system->remove or
 * system->write has returned; WEFT_XEN_INVALID: nothing is granted. */
int weft_xen_publish(struct weft_xen_share *share);

/* Takes that back: to be called first, before weft_stop. Does nothing if it is not published. */
void weft_xen_withdraw(struct weft_xen_share *share);

/* Ends all grants. The memory is the caller's again, as far as system->end says so. Withdraws, if that has not been
 * done. Does nothing if nothing is granted. */
void weft_xen_end(struct weft_xen_share *share);

#else /* nothing is called */

WEFT_IMPL_CALL int64_t weft_xen_grant(struct weft_xen_share *share,
                                      const struct weft_xen_system *system, unsigned domain,
                                      void *memory, uint64_t bytes)
{
    (void)share;
    (void)system;
    (void)domain;
    (void)memory;
    return (int64_t)bytes;
}

WEFT_IMPL_CALL int weft_xen_publish(struct weft_xen_share *share)
{
    (void)share;
    return 0;
}

WEFT_IMPL_CALL void weft_xen_withdraw(struct weft_xen_share *share)
{
    (void)share;
}

WEFT_IMPL_CALL void weft_xen_end(struct weft_xen_share *share)
{
    (void)share;
}

#endif

/* ---- In a Linux guest ---- */

#if __STDC_HOSTED__

struct weft_xen_options {
    size_t size; /* sizeof(struct weft_xen_options), or 0; see struct weft_options */
    WEFT_IMPL_ALIGNED uint64_t
        bytes;       /* of the shared pages, 4096 each; 0: 2 MiB; at least 72 KiB */
    unsigned domain; /* that may read them; 0: the control domain */
    unsigned flags;  /* of WEFT_START_… */
    /* Up to here in the first version. */
};

#ifndef WEFT_DISABLE

/* Allocates pages that the domain may read, starts to record into them, and publishes them. Needs /dev/xen/gntalloc
 * (module xen-gntalloc, whose parameter limit says how many pages there may be, 1024 by default) and XenStore
 * (/dev/xen/xenbus), so usually root; no descriptor stays open. When the process ends, its pages are gone unless
 * somebody has mapped them (weft save --follow): this is for the end of the guest, not of the process. What is killed, or
 * ends without the right to write to XenStore, leaves its key behind; then readers are told that the pages are not
 * shared. The child of a fork has none of this. Returns 0 or a negative errno, nothing being left of it then: those of
 * weft_start; EALREADY; EINVAL (too small, too large); ENOENT, ENODEV (not a guest, or no module); EACCES; ENOSPC (the
 * module's limit, the domain's grants, or XenStore's quota); ENOMEM.
 *
 * Without a call: WEFT_XEN=BYTES in the environment starts it with the program, which must have libweft-xen (linked, or
 * LD_PRELOAD=libweft-xen.so.1). */
int weft_xen_start(const struct weft_xen_options *options);

/* Withdraws, ends the recording as weft_stop does, and lets the pages go. Does nothing if there is none. Also done when
 * the program exits, before libweft ends. */
void weft_xen_stop(void);

#else

WEFT_IMPL_CALL int weft_xen_start(const struct weft_xen_options *options)
{
    (void)options;
    return 0;
}

WEFT_IMPL_CALL void weft_xen_stop(void)
{
}

#endif
#endif

#ifdef __cplusplus
}
#endif
