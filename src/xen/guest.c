/* SPDX-License-Identifier: ISC */
/* libweft-xen in a Linux guest.
 *
 * No descriptor stays open, for two reasons. A program may close all its descriptors and open others with the
 * same numbers. And the child of a fork must not use its parent's connection to XenStore. The pages live as
 * long as they are mapped. */
#include <weft/xen.h>

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xenstore.h>

#include <xengnttab.h>

#include "format/sized.h"
#include "format/xen.h"
#include "xen/quiet.h"

#define OPTIONS_FIRST 24u /* size of struct weft_xen_options of version 1: never changes */
_Static_assert(offsetof(struct weft_xen_options, bytes) == 8, "frozen");
_Static_assert(offsetof(struct weft_xen_options, flags) == 20, "frozen");
#define DEFAULT_BYTES (UINT64_C(2) << 20)
#define CONFLICTS_MAX 1000 /* consecutive conflicts with other writers of XenStore */

/* The step that failed. */
enum step { NOTHING, SIZE, OPEN, SHARE, GRANT, START, STORE, PUBLISH };

static struct guest {
    struct weft_xen_share share;
    unsigned char *memory; /* NULL: no pages */
    uint64_t pages;
    pid_t owner;
    uint32_t *references; /* only while pages are granted */
    struct xs_handle *store;
    xs_transaction_t transaction;
    unsigned domain;
    enum step failed;
} * guest; /* zeroed in the child of a fork, whatever kind of fork it was */

/* Pages that weft_xen_stop released: their addresses are still reserved, without memory, because a thread that
 * was stopped in the middle of an event may still write there. While they exist, weft_start fails. */
static unsigned char *former;
static uint64_t former_pages;

static bool is_ours(void)
{
    return guest && guest->memory && guest->owner == getpid();
}

static bool set_up(void)
{
    if (!guest) {
        void *p =
            mmap(NULL, sizeof *guest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return false;
        madvise(p, sizeof *guest,
                MADV_WIPEONFORK); /* old kernels do not know it: then owner tells */
        guest = p;
    }
    *guest = (struct guest){.owner = getpid()};
    return true;
}

/* ---- The functions that share.c calls ---- */

static int grant(void *context, unsigned domain, void *page, uint32_t *reference)
{
    const struct guest *g = context;
    (void)domain; /* they are granted already, all together */
    *reference = g->references[((unsigned char *)page - g->memory) / WEFT_XEN_PAGE];
    return 0;
}

static void end(void *context, void *page, uint32_t reference)
{
    (void)context;
    (void)page;
    (void)reference;
}

static int negative_errno(void)
{
    return errno > 0 ? -errno : -EIO;
}

/* Lets only the guest itself and the control domain read the guest's key. */
static bool permit(const struct guest *g, const char *key)
{
    unsigned count = 0;
    if (g->domain == 0)
        return true;
    struct xs_permissions *now = xs_get_permissions(g->store, g->transaction, key, &count);
    bool fine = now && count;
    if (fine) {
        struct xs_permissions wanted[2] = {now[0], {.id = g->domain, .perms = XS_PERM_READ}};
        wanted[0].perms = XS_PERM_NONE;
        fine = xs_set_permissions(g->store, g->transaction, key, wanted, 2);
    }
    free(now);
    return fine;
}

static int write_key(void *context, const char *key, const char *value)
{
    const struct guest *g = context;
    errno = 0;
    if (xs_write(g->store, g->transaction, key, value, (unsigned)strlen(value)) && permit(g, key))
        return 0;
    return negative_errno();
}

static int remove_key(void *context, const char *key)
{
    const struct guest *g = context;
    errno = 0;
    if (xs_rm(g->store, g->transaction, key) || errno == ENOENT)
        return 0;
    return negative_errno();
}

/* ---- Pages ---- */

static int fail(struct guest *g, enum step step, int rc)
{
    g->failed = step;
    return rc;
}

static int share_pages(struct guest *g, uint64_t pages)
{
    errno = 0;
    xengntshr_handle *h = xengntshr_open(&quiet, 0);
    if (!h)
        return fail(g, OPEN, negative_errno());
    errno = 0;
    void *p = xengntshr_share_pages(h, g->domain, (int)pages, g->references, false);
    int rc = p ? 0 : fail(g, SHARE, negative_errno());
    if (p) {
        g->memory = p;
        g->pages = pages;
        madvise(p, pages * WEFT_XEN_PAGE, MADV_DONTFORK); /* a child would keep them shared */
    }
    xengntshr_close(h);
    return rc;
}

static void let_go(struct guest *g)
{
    const uint64_t bytes = g->pages * WEFT_XEN_PAGE;
    weft_xen_end(&g->share);
    /* While such pages exist, weft_start fails, so no thread has seen the new ones. */
    if (former ||
        mmap(g->memory, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
        munmap(g->memory, bytes);
    } else {
        former = g->memory;
        former_pages = g->pages;
    }
    g->memory = NULL;
}

/* ---- XenStore ---- */

/* Changes both keys in one transaction. */
static int publish_at_once(struct guest *g)
{
    int rc = -EAGAIN;
    for (int i = 0; rc == -EAGAIN && i < CONFLICTS_MAX; i++) {
        errno = 0;
        g->transaction = xs_transaction_start(g->store);
        if (g->transaction == XBT_NULL)
            return negative_errno();
        rc = weft_xen_publish(&g->share);
        errno = 0;
        if (!xs_transaction_end(g->store, g->transaction, rc < 0) && rc == 0)
            rc = negative_errno();
        g->transaction = XBT_NULL;
    }
    return rc;
}

static int publish(struct guest *g)
{
    errno = 0;
    g->store = xs_open(0);
    if (!g->store)
        return fail(g, STORE, negative_errno());
    int rc = publish_at_once(g);
    if (rc < 0) {
        fail(g, PUBLISH, rc);
        g->share.published = 0; /* this may have been set in a transaction that failed */
    }
    xs_close(g->store);
    return rc;
}

static void withdraw(struct guest *g)
{
    g->store = g->share.published ? xs_open(0) : NULL;
    g->transaction = XBT_NULL;
    if (g->store) {
        weft_xen_withdraw(&g->share);
        xs_close(g->store);
    }
    g->share.published = 0;
}

/* ---- Starting and stopping ---- */

static int record(struct guest *g, unsigned flags)
{
    const struct weft_xen_system system = {
        .context = g, .grant = grant, .end = end, .write = write_key, .remove = remove_key};
    int64_t room =
        weft_xen_grant(&g->share, &system, g->domain, g->memory, g->pages * WEFT_XEN_PAGE);
    if (room < 0)
        return fail(g, GRANT, -EINVAL);
    int rc = weft_start(
        &(struct weft_options){.memory = g->memory, .bytes = (uint64_t)room, .flags = flags});
    if (rc < 0)
        return fail(g, START, rc);
    if (former)
        munmap(former, former_pages * WEFT_XEN_PAGE);
    former = NULL;
    rc = publish(g);
    if (rc < 0)
        weft_stop();
    return rc;
}

static int start(const struct weft_xen_options *o)
{
    const uint64_t bytes = o->bytes ? o->bytes : DEFAULT_BYTES;
    const uint64_t pages = bytes / WEFT_XEN_PAGE + (bytes % WEFT_XEN_PAGE != 0);
    if (is_ours())
        return -EALREADY;
    if (!set_up())
        return -ENOMEM;
    guest->domain = o->domain;
    if (pages < 3 || pages > WEFT_XEN_PAGES_MAX)
        return fail(guest, SIZE, -EINVAL);
    guest->references = calloc(pages, sizeof *guest->references);
    if (!guest->references)
        return -ENOMEM;
    int rc = share_pages(guest, pages);
    if (rc == 0) {
        rc = record(guest, o->flags);
        if (rc < 0)
            let_go(guest);
    }
    free(guest->references);
    guest->references = NULL;
    return rc;
}

int weft_xen_start(const struct weft_xen_options *options)
{
    struct weft_xen_options o = {0};
    int rc = options ? (int)weft_sized_take(&o, sizeof o, options, OPTIONS_FIRST) : 0;
    return rc < 0 ? rc : start(&o);
}

/* At exit the pages stay until the process is gone: a thread may be in the middle of an event. */
static void stop_at_exit(void)
{
    if (!is_ours())
        return;
    withdraw(guest);
    weft_stop();
}

void weft_xen_stop(void)
{
    const bool ours = is_ours();
    stop_at_exit();
    if (ours)
        let_go(guest);
}

/* ---- The environment ---- */

static const char limit_file[] = "/sys/module/xen_gntalloc/parameters/limit";

static unsigned module_limit(void)
{
    unsigned limit = 0;
    FILE *f = fopen(limit_file, "re");
    if (f && fscanf(f, "%u", &limit) != 1)
        limit = 0;
    if (f)
        fclose(f);
    return limit;
}

static void explain_share(char *why, size_t size, int error, uint64_t pages)
{
    const unsigned limit = module_limit();
    if (error != ENOSPC)
        snprintf(why, size, "cannot share %" PRIu64 " pages: %s", pages, strerror(error));
    else if (limit && pages > limit)
        snprintf(why, size,
                 "%" PRIu64 " pages are wanted, but the module allows %u; echo %" PRIu64 " >%s, "
                 "modprobe xen-gntalloc limit=%" PRIu64 ", or give a smaller size",
                 pages, limit, pages, limit_file, pages);
    else
        snprintf(why, size,
                 "there is no room for %" PRIu64 " more shared pages; all programs may share %u "
                 "(%s), the domain 512 for each of its max_grant_frames",
                 pages, limit, limit_file);
}

/* Explains why weft_xen_start returned rc. */
static void explain(char *why, size_t size, int rc, uint64_t bytes)
{
    const int error = -rc;
    const enum step step = guest ? guest->failed : NOTHING;
    if (step == SIZE || step == GRANT || (step == START && error == EINVAL))
        snprintf(why, size, "needs a size from 72K to 3.9G (WEFT_XEN=BYTES)");
    else if (step == OPEN && (error == EACCES || error == EPERM))
        snprintf(why, size, "/dev/xen/gntalloc: %s; only root may share pages", strerror(error));
    else if (step == OPEN)
        snprintf(why, size,
                 "/dev/xen/gntalloc: %s; this is not a Xen guest, or modprobe xen-gntalloc",
                 strerror(error));
    else if (step == SHARE)
        explain_share(why, size, error, (bytes + WEFT_XEN_PAGE - 1) / WEFT_XEN_PAGE);
    else if (step == START && error == EALREADY)
        snprintf(why, size, "the program is being recorded already (WEFT_TRACE)");
    else if (step == STORE)
        snprintf(why, size, "XenStore cannot be reached (/dev/xen/xenbus): %s", strerror(error));
    else if (step == PUBLISH)
        snprintf(why, size,
                 "XenStore does not take the references of the pages (below data/): %s%s",
                 strerror(error), error == ENOSPC ? "; the guest's quota there is full" : "");
    else
        snprintf(why, size, "%s", strerror(error));
}

static bool number(const char *text, uint64_t *n)
{
    char *last = NULL;
    errno = 0;
    *n = strtoull(text, &last, 10);
    return !errno && !*last && *text >= '0' && *text <= '9';
}

/* Finds the first of these keys of this domain that exists and is not empty: sets *key to it and text to its
 * value. If there is none, *key is NULL. */
static void find_value(const char *const keys[2], const char **key, char *text, size_t size)
{
    struct xs_handle *store = xs_open(0);
    *key = NULL;
    for (unsigned i = 0; store && !*key && i < 2; i++) {
        unsigned length = 0;
        char *value = xs_read(store, XBT_NULL, keys[i], &length);
        if (value && *value) {
            *key = keys[i];
            snprintf(text, size, "%s", value);
        }
        free(value);
    }
    if (store)
        xs_close(store);
}

/* The name that the control domain uses for this domain. */
static void find_name(char *name, size_t size)
{
    static const char *const keys[] = {"name", "domid"};
    const char *key;
    snprintf(name, size, "NAME");
    find_value(keys, &key, name, size);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
}

/* ---- weft record --xen, which started this program ---- */

/* Parses "FD:INODE" of a pipe. The inode is checked because, later or after exec, that descriptor number may
 * belong to the program. Returns -1 if it is not that pipe. */
static int find_report(const char *who)
{
    const char *text = secure_getenv("WEFT_XEN_REPORT");
    struct stat st;
    uint64_t inode;
    int fd;
    if (!who || !text || sscanf(text, "%d:%" SCNu64, &fd, &inode) != 2 || fd <= STDERR_FILENO ||
        fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) || (uint64_t)st.st_ino != inode)
        return -1;
    return fd;
}

/* Reports to weft record: the size in bytes and the domain's name; in the next line, a key with its value,
 * which weft record removes if the program is killed; or 0. */
static void report(int fd, uint64_t bytes)
{
    static const char *const keys[] = {WEFT_XEN_LIST_KEY, WEFT_XEN_INDEX_KEY};
    char name[256], value[WEFT_XEN_LIST_MAX + 1] = "";
    const char *key;
    if (bytes) {
        find_value(keys, &key, value, sizeof value);
        find_name(name, sizeof name);
        dprintf(STDERR_FILENO,
                "weft: xen:%s: recording into pages that the control domain can read; there: "
                "weft save -o FILE xen:%s\n",
                name, name);
        dprintf(fd, "%" PRIu64 " %s\n%s %s\n", bytes, name, key ? key : "", value);
    } else {
        dprintf(fd, "0\n");
    }
    close(fd);
}

/* WEFT_XEN=BYTES starts recording with the program. WEFT_TRACE_FOR is the only process that is to record;
 * WEFT_TRACE_CLOCK as in libweft. */
static void start_from_environment(void)
{
    const char *size = secure_getenv("WEFT_XEN");
    const char *who = secure_getenv("WEFT_TRACE_FOR");
    const char *clock = secure_getenv("WEFT_TRACE_CLOCK");
    struct weft_xen_options o = {0};
    char why[512];
    if (!size || !*size || (who && strtol(who, NULL, 10) != (long)getpid()))
        return;
    if (clock && strcmp(clock, "turn") == 0)
        o.flags |= WEFT_START_TURN_CLOCK;
    if (!number(size, &o.bytes) || o.bytes == 0)
        o.bytes = 1; /* an invalid size */
    const int rc = start(&o), fd = find_report(who);
    if (rc < 0) {
        explain(why, sizeof why, rc, o.bytes);
        dprintf(STDERR_FILENO, "weft: xen: %s; the program runs on without recording\n", why);
    }
    if (fd >= 0)
        report(fd, rc < 0 ? 0 : guest->share.pages * WEFT_XEN_PAGE);
}

/* Registered this early, it runs after everything that the program registers, and before the destructors of
 * libweft, whether that is shared or part of the program. */
__attribute__((constructor)) static void begin(void)
{
    atexit(stop_at_exit);
    start_from_environment();
}
