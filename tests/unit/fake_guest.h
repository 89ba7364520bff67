/* SPDX-License-Identifier: ISC */
/* The functions of libxengnttab and libxenstore that a Linux guest calls, over a machine made for tests. What defines them
 * comes before the real libraries.
 *
 * Environment, for programs that are started:
 *   FAKE_MACHINE=FILE           the machine's memory is this file; what is done in XenStore is told on standard error
 *   FAKE_FAIL=N, FAKE_ERRNO=E   the Nth call fails with that errno */
#pragma once

#include <xenstore.h>

#include <xengnttab.h>

#include "format/packet.h"
#include "hypervisor.h"

#include <fcntl.h>

enum { FAKE_DOMAIN = 3, FAKE_PAGES = 2048, FAKE_CHANGES = 4 };

static struct hypervisor fake_machine;
static struct hypervisor_place fake_place = {&fake_machine, FAKE_DOMAIN};

/* What is seen of it, in all processes. */
static struct fake_seen {
    long calls;
    int handles;      /* that are open */
    void *pages;      /* that were shared last */
    uint64_t first;   /* … of the machine */
    unsigned removed; /* keys, outside of a transaction */
    unsigned state;   /* of the trace, just then */
} * fake_seen;

static long fake_fail_at;
static int fake_errno = ENOSPC;
static unsigned fake_conflicts; /* so many transactions fail */

static struct fake_change {
    char key[64], value[WEFT_XEN_LIST_MAX + 1];
    bool removes;
} fake_changes[FAKE_CHANGES]; /* of the transaction */
static unsigned fake_changed;

static const char *fake_file;

/* The memory outlives the process. */
static inline void fake_keep(struct hypervisor *h)
{
    const int fd = open(fake_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    hypervisor_must(fd >= 0 && ftruncate(fd, (off_t)(h->pages * WEFT_XEN_PAGE)) == 0 &&
                        dup3(fd, h->fd, O_CLOEXEC) >= 0,
                    fake_file);
    close(fd);
    void *p = mmap(h->memory, h->pages * WEFT_XEN_PAGE, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED, h->fd, 0);
    hypervisor_must(p != MAP_FAILED, fake_file);
}

static inline void fake_tell(const char *what, const char *key, const char *value)
{
    if (fake_file)
        dprintf(STDERR_FILENO, "fake: %s %s %.20s\n", what, key, value);
}

static inline void fake_begin(void)
{
    if (fake_seen)
        return;
    const char *at = getenv("FAKE_FAIL"), *error = getenv("FAKE_ERRNO");
    fake_seen =
        mmap(NULL, sizeof *fake_seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    hypervisor_must(fake_seen != MAP_FAILED, "out of memory");
    hypervisor_init(&fake_machine, FAKE_PAGES);
    hypervisor_domain(&fake_machine, FAKE_DOMAIN, "web");
    fake_file = getenv("FAKE_MACHINE");
    if (fake_file)
        fake_keep(&fake_machine);
    fake_fail_at = at ? atol(at) : 0;
    fake_errno = error ? atoi(error) : ENOSPC;
}

static inline bool fake_fails(void)
{
    fake_begin();
    fake_seen->calls++;
    if (fake_fail_at <= 0 || --fake_fail_at > 0)
        return false;
    errno = fake_errno;
    return true;
}

/* ---- Pages ---- */

xengntshr_handle *xengntshr_open(struct xentoollog_logger *logger, unsigned flags)
{
    hypervisor_must(logger && flags == 0, "it may talk");
    if (fake_fails())
        return NULL;
    fake_seen->handles++;
    return (void *)fake_seen;
}

int xengntshr_close(xengntshr_handle *h)
{
    hypervisor_must((void *)h == fake_seen, "a wrong handle");
    fake_seen->handles--;
    return 0;
}

void *xengntshr_share_pages(xengntshr_handle *h, uint32_t domain, int count, uint32_t *references,
                            int writable)
{
    struct hypervisor *m = &fake_machine;
    hypervisor_must((void *)h == fake_seen && !writable, "a wrong handle, or pages to write");
    if (fake_fails())
        return NULL;
    if ((uint64_t)count > m->pages - m->taken) {
        errno = ENOSPC;
        return NULL;
    }
    unsigned char *pages = hypervisor_take(m, (uint64_t)count);
    for (int i = 0; i < count; i++)
        hypervisor_grant(&fake_place, domain, pages + (size_t)i * WEFT_XEN_PAGE, &references[i]);
    fake_seen->first = (uint64_t)(pages - m->memory) / WEFT_XEN_PAGE;
    fake_seen->pages = mmap(NULL, (size_t)count * WEFT_XEN_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
                            m->fd, pages - m->memory);
    hypervisor_must(fake_seen->pages != MAP_FAILED, "out of memory");
    return fake_seen->pages;
}

/* ---- XenStore ---- */

static inline void fake_check(const struct xs_handle *h)
{
    hypervisor_must(h && (const void *)h == fake_seen, "a wrong handle");
}

struct xs_handle *xs_open(unsigned long flags)
{
    hypervisor_must(flags == 0, "wrong flags");
    if (fake_fails())
        return NULL;
    fake_seen->handles++;
    return (void *)fake_seen;
}

void xs_close(struct xs_handle *h)
{
    hypervisor_must((void *)h == fake_seen, "a wrong handle");
    fake_seen->handles--;
}

xs_transaction_t xs_transaction_start(struct xs_handle *h)
{
    fake_check(h);
    fake_changed = 0;
    return fake_fails() ? XBT_NULL : 7;
}

bool xs_transaction_end(struct xs_handle *h, xs_transaction_t t, bool abandon)
{
    fake_check(h);
    hypervisor_must(t == 7, "a wrong transaction");
    if (abandon)
        return true;
    if (fake_fails())
        return false;
    if (fake_conflicts && fake_conflicts--) {
        errno = EAGAIN;
        return false;
    }
    for (unsigned i = 0; i < fake_changed; i++) {
        const struct fake_change *c = &fake_changes[i];
        hypervisor_put(&fake_machine, FAKE_DOMAIN, c->key, c->removes ? NULL : c->value);
        if (!c->removes)
            fake_tell("wrote", c->key, c->value);
    }
    return true;
}

static inline void fake_change(const char *key, const void *value, unsigned size)
{
    hypervisor_must(fake_changed < FAKE_CHANGES, "many changes");
    struct fake_change *c = &fake_changes[fake_changed++];
    hypervisor_must(strlen(key) < sizeof c->key && size < sizeof c->value, "too long");
    memcpy(c->key, key, strlen(key) + 1);
    c->removes = !value;
    if (value)
        memcpy(c->value, value, size);
    c->value[size] = 0;
}

bool xs_write(struct xs_handle *h, xs_transaction_t t, const char *key, const void *value,
              unsigned size)
{
    fake_check(h);
    if (fake_fails())
        return false;
    hypervisor_must(t == 7, "a write outside of a transaction");
    fake_change(key, value, size);
    return true;
}

bool xs_rm(struct xs_handle *h, xs_transaction_t t, const char *key)
{
    fake_check(h);
    if (fake_fails())
        return false;
    if (t == XBT_NULL) {
        fake_seen->removed++;
        memcpy(&fake_seen->state,
               fake_machine.memory + fake_seen->first * WEFT_XEN_PAGE +
                   offsetof(struct weft_facts_header, state),
               sizeof(uint32_t));
        fake_tell("removed", key,
                  fake_seen->state == WEFT_TRACE_RECORDING ? "while recording" : "too late");
    }
    const bool there = hypervisor_get(&fake_machine, FAKE_DOMAIN, key) != NULL;
    if (t == XBT_NULL)
        hypervisor_put(&fake_machine, FAKE_DOMAIN, key, NULL);
    else
        fake_change(key, NULL, 0);
    errno = ENOENT;
    return there;
}

void *xs_read(struct xs_handle *h, xs_transaction_t t, const char *key, unsigned *size)
{
    fake_check(h);
    (void)t;
    const char *value = hypervisor_get(&fake_machine, FAKE_DOMAIN, key);
    *size = value ? (unsigned)strlen(value) : 0;
    return value ? strdup(value) : NULL;
}

struct xs_permissions *xs_get_permissions(struct xs_handle *h, xs_transaction_t t, const char *key,
                                          unsigned *count)
{
    fake_check(h);
    (void)t;
    (void)key;
    if (fake_fails())
        return NULL;
    struct xs_permissions *p = calloc(1, sizeof *p);
    hypervisor_must(p, "out of memory");
    p->id = FAKE_DOMAIN;
    *count = 1;
    return p;
}

static struct xs_permissions fake_permissions[2];

bool xs_set_permissions(struct xs_handle *h, xs_transaction_t t, const char *key,
                        struct xs_permissions *permissions, unsigned count)
{
    fake_check(h);
    (void)t;
    (void)key;
    if (fake_fails())
        return false;
    hypervisor_must(count == 2, "permissions");
    memcpy(fake_permissions, permissions, sizeof fake_permissions);
    return true;
}
