/* SPDX-License-Identifier: ISC */
/* weft in a Xen guest. The trace is in pages that the control domain may read: while the guest runs, after it
 * has hung, after it has crashed. In the control domain, `weft save -o guest.weft xen:NAME` copies it;
 * docs/xen.md says what the domain's configuration should contain.
 *
 * In a Linux guest, with libweft-xen (pkg-config weft-xen):
 *
 *     int rc = weft_xen_start(&(struct weft_xen_options){.bytes = 4 << 20});
 *     …                                       the calls of weft.h record
 *     weft_xen_stop();
 *
 * weft record --xen does the same without changes to the program.
 *
 * In a unikernel, with libweft-freestanding.a, you provide four functions that grant a page and write to
 * XenStore:
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
 * Threads: only one of these functions may run at a time. */
#ifndef WEFT_XEN_H
#define WEFT_XEN_H

#include <weft/weft.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- On any system ---- */

/* What the guest's system does; all four functions are needed. Those that return int return 0 on success and a
 * negative number on failure, which is passed on to the caller. Only the functions below call them. */
struct weft_xen_system {
    size_t size;   /* sizeof(struct weft_xen_system), or 0; see struct weft_options */
    void *context; /* the first argument of all of them */

    /* Lets domain read the page but not write to it. page: 4096 bytes, aligned to 4096. Sets *reference to that
     * of the grant. */
    int (*grant)(void *context, unsigned domain, void *page, uint32_t *reference);

    /* Ends the grant: domain may no longer read the page. (If the domain still has it mapped, it can still read
     * it; then the page must not be reused before the domain unmaps it.) reference: from grant. */
    void (*end)(void *context, void *page, uint32_t reference);

    /* XenStore. key is relative to the guest's own path ("data/mprof/ring-ref"); value is at most 2015 bytes.
     * remove: a missing key is no failure. */
    int (*write)(void *context, const char *key, const char *value);
    int (*remove)(void *context, const char *key);
    /* The first version ends here. */
};

/* The pages that are shared; the memory of this structure is the caller's, its content is private. Its size is
 * final: if system grows, it grows into reserved. */
struct weft_xen_share {
    unsigned char *memory;
    WEFT_IMPL_ALIGNED uint64_t pages; /* of the trace */
    uint64_t indices; /* index pages of level 0, after the trace; one more page follows */
    uint64_t granted; /* how many of all these pages are granted */
    uint32_t top;     /* the reference of the index page that the key names */
    unsigned domain;
    unsigned published;
    struct weft_xen_system system;
    void *reserved[4];
};

#define WEFT_XEN_INVALID                                                                           \
    (-22) /* memory not aligned to 4096, functions missing, too small, too large */
#define WEFT_XEN_TOO_NEW                                                                           \
    (-7) /* system has more fields than the library knows, and they are not 0 */

#ifndef WEFT_DISABLE

/* Grants memory to a domain (0: the control domain), page by page. memory: aligned to 4096, at least 3 pages,
 * at most 3.97 GiB; an incomplete page at the end is not used. The pages after the trace hold its references:
 * one for each 1020 pages of the trace, and one more. They belong to this share until weft_xen_end. system is
 * copied. share need not be initialised, and must have no grants.
 *
 * Returns how many bytes, from memory on, are for the trace. Pass them to weft_start or weft_start_on (which
 * need 64 KiB, or 142 KiB without an operating system, and some KiB more for each processor). If a page cannot
 * be granted, ends all grants made so far and returns what system->grant returned. Or returns WEFT_XEN_INVALID
 * or WEFT_XEN_TOO_NEW. */
int64_t weft_xen_grant(struct weft_xen_share *share, const struct weft_xen_system *system,
                       unsigned domain, void *memory, uint64_t bytes);

/* Publishes in XenStore where the trace is. If the references fit, which is true for about 500, it uses
 * mirage-profile's key (data/mprof/ring-ref); otherwise an index page (data/weft/ring-index). It removes the
 * other key first. Call it last, because readers wait for the key. Call it again if XenStore has lost the key.
 * Returns 0, or what system->remove or system->write returned; WEFT_XEN_INVALID: nothing is granted. */
int weft_xen_publish(struct weft_xen_share *share);

/* Removes the keys. Call it first, before weft_stop. Does nothing if nothing is published. */
void weft_xen_withdraw(struct weft_xen_share *share);

/* Ends all grants, and withdraws first if that has not been done. The memory is the caller's again, subject to
 * what system->end says. Does nothing if nothing is granted. */
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
    unsigned domain; /* that may read the pages; 0: the control domain */
    unsigned flags;  /* of WEFT_START_… */
    /* The first version ends here. */
};

#ifndef WEFT_DISABLE

/* Allocates pages that the domain may read, starts recording into them, and publishes them. Needs
 * /dev/xen/gntalloc (module xen-gntalloc, whose parameter limit sets the maximum number of pages, 1024 by
 * default) and XenStore (/dev/xen/xenbus), so usually root. No descriptor stays open. The child of a fork has
 * none of this.
 *
 * When the process ends, its pages are gone, unless another domain has mapped them (weft save --follow): this
 * is for the end of the guest, not of the process. A process that is killed, or has lost the right to write to
 * XenStore when it ends, leaves its key behind; readers then find that the pages are not shared.
 *
 * Returns 0, or a negative errno after undoing everything: those of weft_start; EALREADY; EINVAL (too small or
 * too large); ENOENT, ENODEV (not a guest, or no module); EACCES; ENOSPC (the module's limit, the domain's
 * grants, or XenStore's quota); ENOMEM.
 *
 * Without this call: WEFT_XEN=BYTES in the environment starts recording with the program, which must have
 * libweft-xen (linked, or LD_PRELOAD=libweft-xen.so.1). */
int weft_xen_start(const struct weft_xen_options *options);

/* Withdraws, ends the recording as weft_stop does, and releases the pages. Does nothing if there is no
 * recording. Also done when the program exits, before libweft ends. */
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

#endif
