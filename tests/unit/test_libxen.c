/* SPDX-License-Identifier: ISC */
/* What src/xen/libxen.c makes of Xen's libraries, whose functions this program has of its own. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <xenctrl.h>
#include <xengnttab.h>
#include <xenstore.h>

#include "test.h"
#include "xen/libxen.h"

static struct {
    int store_error, grants_error, control_error; /* 0: it opens */
    int opened;                                   /* and not closed */
    bool quiet;

    int pipe[2];
    unsigned watches, events; /* set; waiting to be taken */
    bool flood;               /* there is always one more event */
    int check_error;          /* when there is none; 0: EAGAIN */
    char watched[8][128];

    int info_error; /* 0: info_is of domain info_of */
    uint32_t info_of;
    bool dying, shut;
    unsigned reason;
} xen;

/* ---- The libraries ---- */

static void *opened(int error)
{
    errno = error;
    xen.opened += !error;
    return error ? NULL : &xen;
}

struct xs_handle *xs_open(unsigned long flags)
{
    assert_int_equal(flags, 0);
    return opened(xen.store_error);
}

void xs_close(struct xs_handle *h)
{
    assert_ptr_equal(h, &xen);
    xen.opened--;
}

void *xs_read(struct xs_handle *h, xs_transaction_t t, const char *path, unsigned *size)
{
    (void)h, (void)t;
    errno = ENOENT;
    *size = 5;
    return strcmp(path, "/there") == 0 ? memcpy(malloc(6), "va\0ue", 6) : NULL;
}

char **xs_directory(struct xs_handle *h, xs_transaction_t t, const char *path, unsigned *count)
{
    (void)h, (void)t, (void)path;
    *count = 0;
    return malloc(sizeof(char *));
}

static void happen(unsigned events)
{
    xen.events += events;
    assert_int_equal(write(xen.pipe[1], "x", 1), 1);
}

bool xs_watch(struct xs_handle *h, const char *path, const char *token)
{
    (void)h, (void)token;
    assert_true(xen.watches < 8);
    strcpy(xen.watched[xen.watches++], path);
    happen(1);
    return true;
}

bool xs_unwatch(struct xs_handle *h, const char *path, const char *token)
{
    (void)h, (void)token;
    for (unsigned i = 0; i < xen.watches; i++)
        if (strcmp(xen.watched[i], path) == 0) {
            memmove(xen.watched[i], xen.watched[--xen.watches], sizeof xen.watched[i]);
            return true;
        }
    errno = ENOENT;
    return false;
}

int xs_fileno(struct xs_handle *h)
{
    (void)h;
    return xen.pipe[0];
}

char **xs_check_watch(struct xs_handle *h)
{
    char byte;
    struct pollfd p = {.fd = xen.pipe[0], .events = POLLIN};
    (void)h;
    if (xen.events || xen.flood) {
        xen.events -= xen.events > 0;
        return calloc(2, sizeof(char *));
    }
    while (poll(&p, 1, 0) > 0)
        assert_int_equal(read(xen.pipe[0], &byte, 1), 1);
    errno = xen.check_error ? xen.check_error : EAGAIN;
    return NULL;
}

xengnttab_handle *xengnttab_open(struct xentoollog_logger *logger, unsigned flags)
{
    (void)flags;
    xen.quiet = logger != NULL;
    return opened(xen.grants_error);
}

int xengnttab_close(xengnttab_handle *h)
{
    (void)h;
    xen.opened--;
    return 0;
}

void *xengnttab_map_domain_grant_refs(xengnttab_handle *h, uint32_t count, uint32_t domain,
                                      uint32_t *reference, int prot)
{
    (void)h, (void)domain, (void)reference, (void)count;
    assert_int_equal(prot, 1); /* PROT_READ */
    return NULL;
}

int xengnttab_unmap(xengnttab_handle *h, void *pages, uint32_t count)
{
    (void)h, (void)pages, (void)count;
    return 0;
}

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *building,
                                unsigned flags)
{
    (void)flags;
    xen.quiet = xen.quiet && logger && building;
    return opened(xen.control_error);
}

int xc_interface_close(xc_interface *h)
{
    (void)h;
    xen.opened--;
    return 0;
}

#ifdef WEFT_HAS_GETINFO_SINGLE
int xc_domain_getinfo_single(xc_interface *h, uint32_t domain, xc_domaininfo_t *info)
{
    (void)h;
    errno = domain == xen.info_of ? xen.info_error : ESRCH;
    memset(info, 0, sizeof *info);
    info->domain = (domid_t)domain;
    info->flags = (xen.dying ? XEN_DOMINF_dying : 0) | (xen.shut ? XEN_DOMINF_shutdown : 0) |
                  xen.reason << XEN_DOMINF_shutdownshift;
    return errno ? -1 : 0;
}
#else
int xc_domain_getinfo(xc_interface *h, uint32_t first, unsigned most, xc_dominfo_t *info)
{
    (void)h, (void)first;
    assert_int_equal(most, 1);
    memset(info, 0, sizeof *info);
    info->domid = xen.info_of;
    info->dying = xen.dying;
    info->crashed = xen.shut && xen.reason == SHUTDOWN_crash;
    info->shutdown = xen.shut && !info->crashed; /* as the library does it */
    info->shutdown_reason = xen.reason;
    errno = xen.info_error;
    return xen.info_error ? -1 : 1;
}
#endif

/* ---- Tests ---- */

static int set_up(void **state)
{
    (void)state;
    memset(&xen, 0, sizeof xen);
    return pipe(xen.pipe);
}

static int tear_down(void **state)
{
    (void)state;
    close(xen.pipe[0]);
    close(xen.pipe[1]);
    return xen.opened;
}

static void connects_not(const char *sentence)
{
    struct weft_xen x;
    struct weft_error err = {.text = ""};
    assert_int_equal(weft_xen_connect(&x, &err), WEFT_E_IO);
    if (!strstr(err.text, sentence))
        print_message("%s\n", err.text);
    assert_non_null(strstr(err.text, sentence));
    assert_int_equal(xen.opened, 0);
    weft_xen_disconnect(&x);
}

TEST(what_is_missing_is_said)
{
    xen.store_error = ENOENT;
    connects_not("this is no Xen system, or xenstored does not run");
    xen.store_error = EACCES;
    connects_not("XenStore can only be asked by root");
    xen.store_error = 0;
    xen.grants_error = ENOENT;
    connects_not("/dev/xen/gntdev: No such file or directory; modprobe xen-gntdev");
    xen.grants_error = EACCES;
    connects_not("can only be mapped by root");
}

static struct weft_xen connected(void)
{
    struct weft_xen x;
    struct weft_error err;
    assert_int_equal(weft_xen_connect(&x, &err), 0);
    assert_true(xen.quiet);
    return x;
}

TEST(values_come_through)
{
    struct weft_xen x = connected();
    size_t size;
    char *value = x.read(x.context, "/there", &size);
    assert_int_equal(size, 5);
    assert_memory_equal(value, "va\0ue", 6);
    free(value);
    assert_null(x.read(x.context, "/elsewhere", &size));
    assert_int_equal(errno, ENOENT);
    weft_xen_disconnect(&x);
}

TEST(states_are_told_apart)
{
    static const struct {
        bool dying, shut;
        unsigned reason;
        enum weft_xen_state state;
    } cases[] = {
        {false, false, 0, WEFT_XEN_RUNNING},
        {false, false, SHUTDOWN_crash, WEFT_XEN_RUNNING}, /* the reason does not count */
        {false, true, SHUTDOWN_poweroff, WEFT_XEN_SHUT},
        {false, true, SHUTDOWN_reboot, WEFT_XEN_SHUT},
        {false, true, SHUTDOWN_suspend, WEFT_XEN_SHUT},
        {false, true, SHUTDOWN_crash, WEFT_XEN_CRASHED},
        {false, true, SHUTDOWN_watchdog, WEFT_XEN_CRASHED},
        {true, true, SHUTDOWN_crash, WEFT_XEN_GONE},
        {true, false, 0, WEFT_XEN_GONE},
    };
    struct weft_xen x = connected();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        xen.info_of = 5;
        xen.dying = cases[i].dying;
        xen.shut = cases[i].shut;
        xen.reason = cases[i].reason;
        assert_int_equal(x.state(x.context, 5), cases[i].state);
    }
    xen.dying = false;
    xen.info_of = 6; /* there is no 5, and this is the next one */
    assert_int_equal(x.state(x.context, 5), WEFT_XEN_GONE);
    xen.info_of = 5;
    xen.info_error = ESRCH;
    assert_int_equal(x.state(x.context, 5), WEFT_XEN_GONE);
    xen.info_error = EACCES;
    assert_int_equal(x.state(x.context, 5), WEFT_XEN_UNKNOWN);
    weft_xen_disconnect(&x);

    xen.control_error = EACCES;
    x = connected();
    assert_int_equal(x.state(x.context, 5), WEFT_XEN_UNKNOWN);
    weft_xen_disconnect(&x);
}

TEST(watches_are_set_and_removed)
{
    struct weft_xen x = connected();
    assert_int_equal(x.wait(x.context, 5, -1),
                     1); /* as each new one says that something happened */
    assert_int_equal(xen.watches, 3);
    assert_int_equal(x.wait(x.context, 5, 0), 0);
    assert_int_equal(x.wait(x.context, 5, 1), 0);
    assert_int_equal(xen.watches, 3);
    happen(7);
    assert_int_equal(x.wait(x.context, 5, -1), 1);
    assert_int_equal(xen.events, 0);
    assert_int_equal(x.wait(x.context, 5, 0), 0);
    assert_int_equal(x.wait(x.context, 6, -1), 1); /* another domain */
    assert_int_equal(xen.watches, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_null(strstr(xen.watched[i], "/5/"));
    x.unwatch(x.context);
    assert_int_equal(xen.watches, 0);
    x.unwatch(x.context);
    assert_int_equal(x.wait(x.context, 6, -1), 1);
    weft_xen_disconnect(&x);
    assert_int_equal(xen.watches, 0);
}

TEST(a_lost_connection_is_told)
{
    struct weft_xen x = connected();
    assert_int_equal(x.wait(x.context, 5, -1), 1);
    xen.check_error = EIO;
    happen(0);
    assert_int_equal(x.wait(x.context, 5, -1), -1);
    assert_int_equal(errno, EIO);
    weft_xen_disconnect(&x);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A guest that writes its keys all the time. */
TEST(events_without_end_are_slowed_down)
{
    struct weft_xen x = connected();
    xen.flood = true;
    const int64_t begin = now_ms();
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(x.wait(x.context, 5, -1), 1);
    assert_true(now_ms() - begin >= 4 * 200 - 5);
    if (x.wait(x.context, 5, 1)) /* too soon, but for a processor that was away for long */
        assert_true(now_ms() - begin >= 5 * 200 - 5);
    xen.flood = false;
    weft_xen_disconnect(&x);
}

static void nothing(int number)
{
    (void)number;
}

TEST(a_signal_ends_it)
{
    const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    const struct sigaction action = {.sa_handler = nothing};
    struct weft_xen x = connected();
    assert_int_equal(x.wait(x.context, 5, -1), 1);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    assert_int_equal(x.wait(x.context, 5, -1), 0);
    happen(1); /* also where it is slowed down */
    assert_int_equal(x.wait(x.context, 5, -1) & ~1, 0);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    weft_xen_disconnect(&x);
}

RUN_TESTS_WITH(NULL, NULL, set_up, tear_down)
