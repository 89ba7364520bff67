/* SPDX-License-Identifier: ISC */
/* A machine with Xen, made for tests: domains, XenStore, pages that are granted and mapped. Both sides of src/xen
 * stand on it.
 *
 *     struct hypervisor machine;
 *     hypervisor_init(&machine, 1024);                       pages of memory
 *     hypervisor_domain(&machine, 5, "web");                 domain 0 is there
 *     struct hypervisor_place guest = {&machine, 5}, control = {&machine, 0};
 *     struct weft_xen_system system = hypervisor_guest(&guest);
 *     struct weft_xen xen = hypervisor_control(&control);
 *     void *pages = hypervisor_take(&machine, 512);          of any domain
 *     …
 *     hypervisor_destroy(&machine, 5);                       its pages stay where they are mapped
 *     hypervisor_fini(&machine);
 *
 * What is mapped is the same memory, and read-only: it shows what the guest writes later. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xen/control.h"
#include <weft/xen.h>

enum { HYPERVISOR_DOMAINS = 16, HYPERVISOR_BUCKETS = 1024, HYPERVISOR_LOG = 1 << 16 };

struct hypervisor_grant {
    unsigned owner, to;
    uint32_t reference;
    uint32_t next; /* in the bucket, from 1; 0: none */
    uint64_t page; /* of the machine */
    bool ended;
};

struct hypervisor_entry {
    char path[128];
    char *value;
    size_t size;
};

struct hypervisor {
    unsigned char *memory;
    uint64_t pages, taken;
    int fd;

    struct {
        unsigned id;
        enum weft_xen_state state;
        bool there;
    } domains[HYPERVISOR_DOMAINS];

    struct hypervisor_entry *entries; /* XenStore */
    unsigned entry_count, entry_room;

    struct hypervisor_grant *grants; /* all that ever were */
    uint32_t grant_count, grant_room, granted, mapped;
    uint32_t buckets[HYPERVISOR_BUCKETS];

    /* What a test may set. */
    uint32_t (*number)(uint32_t n); /* the reference of the nth grant; NULL: 8 + (n ^ 5) */
    long fail_at; /* this call of a guest's function fails, counting down; 0: none */
    _Atomic long fail_control_at;            /* … of the control domain's */
    void (*meanwhile)(struct hypervisor *h); /* called when somebody waits */

    /* What it may look at: g grant, e end, w write, r remove, in the order of the calls. */
    char log[HYPERVISOR_LOG];
    unsigned logged;
    uint64_t changes, seen; /* of domains and XenStore */
};

struct hypervisor_place {
    struct hypervisor *machine;
    unsigned domain; /* whose side it is */
};

static inline void hypervisor_must(bool fine, const char *what)
{
    if (!fine) {
        fprintf(stderr, "hypervisor.h: %s\n", what);
        abort();
    }
}

/* ---- The machine ---- */

static inline unsigned char *hypervisor_take(struct hypervisor *h, uint64_t pages)
{
    unsigned char *at = h->memory + h->taken * WEFT_XEN_PAGE;
    hypervisor_must(pages <= h->pages - h->taken, "there are no more pages");
    h->taken += pages;
    return at;
}

static inline struct hypervisor_entry *hypervisor_find(struct hypervisor *h, const char *path)
{
    for (unsigned i = 0; i < h->entry_count; i++)
        if (strcmp(h->entries[i].path, path) == 0)
            return &h->entries[i];
    return NULL;
}

/* Writes to XenStore as somebody who may do everything. */
static inline void hypervisor_store(struct hypervisor *h, const char *path, const void *value,
                                    size_t size)
{
    struct hypervisor_entry *e = hypervisor_find(h, path);
    if (!e && h->entry_count == h->entry_room) {
        h->entry_room = h->entry_room * 2 + 16;
        h->entries = realloc(h->entries, h->entry_room * sizeof *h->entries);
        hypervisor_must(h->entries, "out of memory");
    }
    if (!e) {
        e = &h->entries[h->entry_count++];
        hypervisor_must(strlen(path) < sizeof e->path, "a long path");
        *e = (struct hypervisor_entry){.size = size};
        memcpy(e->path, path, strlen(path));
    }
    free(e->value);
    e->value = malloc(size + 1);
    hypervisor_must(e->value, "out of memory");
    memcpy(e->value, value, size);
    e->value[size] = 0;
    e->size = size;
    h->changes++;
}

/* Removes path, and what stands below it. */
static inline void hypervisor_forget(struct hypervisor *h, const char *path)
{
    const size_t length = strlen(path);
    for (unsigned i = h->entry_count; i-- > 0;) {
        const char *p = h->entries[i].path;
        if (strncmp(p, path, length) != 0 || (p[length] && p[length] != '/'))
            continue;
        free(h->entries[i].value);
        h->entries[i] = h->entries[--h->entry_count];
        h->changes++;
    }
}

static inline void hypervisor_path(char path[128], unsigned domain, const char *key)
{
    const int n = snprintf(path, 128, "/local/domain/%u/%s", domain, key);
    hypervisor_must(n < 128, "a long key");
}

/* XenStore below a domain's own path. value NULL: removes it. */
static inline void hypervisor_put(struct hypervisor *h, unsigned domain, const char *key,
                                  const char *value)
{
    char path[128];
    hypervisor_path(path, domain, key);
    if (value)
        hypervisor_store(h, path, value, strlen(value));
    else
        hypervisor_forget(h, path);
}

/* NULL: it is not there. */
static inline const char *hypervisor_get(struct hypervisor *h, unsigned domain, const char *key)
{
    char path[128];
    hypervisor_path(path, domain, key);
    const struct hypervisor_entry *e = hypervisor_find(h, path);
    return e ? e->value : NULL;
}

static inline void hypervisor_domain(struct hypervisor *h, unsigned id, const char *name)
{
    char number[16];
    unsigned i = 0;
    while (i < HYPERVISOR_DOMAINS && h->domains[i].there)
        i++;
    hypervisor_must(i < HYPERVISOR_DOMAINS, "too many domains");
    h->domains[i].id = id;
    h->domains[i].state = WEFT_XEN_RUNNING;
    h->domains[i].there = true;
    snprintf(number, sizeof number, "%u", id);
    hypervisor_put(h, id, "domid", number);
    if (name)
        hypervisor_put(h, id, "name", name);
}

static inline void hypervisor_set_state(struct hypervisor *h, unsigned id,
                                        enum weft_xen_state state)
{
    for (unsigned i = 0; i < HYPERVISOR_DOMAINS; i++)
        if (h->domains[i].there && h->domains[i].id == id) {
            h->domains[i].state = state;
            h->changes++;
        }
}

static inline enum weft_xen_state hypervisor_state(const struct hypervisor *h, unsigned id)
{
    for (unsigned i = 0; i < HYPERVISOR_DOMAINS; i++)
        if (h->domains[i].there && h->domains[i].id == id)
            return h->domains[i].state;
    return WEFT_XEN_GONE;
}

/* The domain is no more, nor are its grants and its part of XenStore. What is mapped of it stays mapped. */
static inline void hypervisor_destroy(struct hypervisor *h, unsigned id)
{
    char path[64];
    snprintf(path, sizeof path, "/local/domain/%u", id);
    hypervisor_forget(h, path);
    hypervisor_set_state(h, id, WEFT_XEN_GONE);
    for (uint32_t i = 0; i < h->grant_count; i++)
        if (h->grants[i].owner == id && !h->grants[i].ended) {
            h->grants[i].ended = true;
            h->granted--;
        }
}

static inline void hypervisor_init(struct hypervisor *h, uint64_t pages)
{
    *h = (struct hypervisor){.pages = pages};
    h->fd = memfd_create("hypervisor", MFD_CLOEXEC);
    hypervisor_must(h->fd >= 0 && ftruncate(h->fd, (off_t)(pages * WEFT_XEN_PAGE)) == 0,
                    "no memory for the machine");
    h->memory = mmap(NULL, pages * WEFT_XEN_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    hypervisor_must(h->memory != MAP_FAILED, "no memory for the machine");
    hypervisor_domain(h, 0, "Domain-0");
}

static inline void hypervisor_fini(struct hypervisor *h)
{
    munmap(h->memory, h->pages * WEFT_XEN_PAGE);
    close(h->fd);
    for (unsigned i = 0; i < h->entry_count; i++)
        free(h->entries[i].value);
    free(h->entries);
    free(h->grants);
    *h = (struct hypervisor){.fd = -1};
}

/* ---- A guest ---- */

static inline struct hypervisor_grant *hypervisor_granted(struct hypervisor *h, unsigned owner,
                                                          uint32_t reference)
{
    for (uint32_t i = h->buckets[reference % HYPERVISOR_BUCKETS]; i; i = h->grants[i - 1].next) {
        struct hypervisor_grant *g = &h->grants[i - 1];
        if (g->reference == reference && g->owner == owner && !g->ended)
            return g;
    }
    return NULL;
}

/* Whether this call is to fail. */
static inline bool hypervisor_call(struct hypervisor *h, char what)
{
    if (h->logged < HYPERVISOR_LOG - 1)
        h->log[h->logged++] = what;
    return h->fail_at > 0 && --h->fail_at == 0;
}

static inline int hypervisor_grant(void *context, unsigned domain, void *page, uint32_t *reference)
{
    const struct hypervisor_place *p = context;
    struct hypervisor *h = p->machine;
    const uint64_t offset = (uint64_t)((unsigned char *)page - h->memory);
    hypervisor_must(offset < h->pages * WEFT_XEN_PAGE && offset % WEFT_XEN_PAGE == 0,
                    "what is granted is no page of the machine");
    if (hypervisor_call(h, 'g'))
        return -ENOSPC;
    if (h->grant_count == h->grant_room) {
        h->grant_room = h->grant_room * 2 + 64;
        h->grants = realloc(h->grants, h->grant_room * sizeof *h->grants);
        hypervisor_must(h->grants, "out of memory");
    }
    const uint32_t n = h->grant_count++;
    *reference = h->number ? h->number(n) : 8 + (n ^ 5);
    hypervisor_must(!hypervisor_granted(h, p->domain, *reference), "a reference is used twice");
    uint32_t *bucket = &h->buckets[*reference % HYPERVISOR_BUCKETS];
    h->grants[n] = (struct hypervisor_grant){.owner = p->domain,
                                             .to = domain,
                                             .reference = *reference,
                                             .next = *bucket,
                                             .page = offset / WEFT_XEN_PAGE};
    *bucket = n + 1;
    h->granted++;
    return 0;
}

static inline void hypervisor_end(void *context, void *page, uint32_t reference)
{
    const struct hypervisor_place *p = context;
    struct hypervisor *h = p->machine;
    struct hypervisor_grant *g = hypervisor_granted(h, p->domain, reference);
    hypervisor_must(g && h->memory + g->page * WEFT_XEN_PAGE == (unsigned char *)page,
                    "what is ended was not granted");
    hypervisor_call(h, 'e');
    g->ended = true;
    h->granted--;
}

static inline int hypervisor_write(void *context, const char *key, const char *value)
{
    const struct hypervisor_place *p = context;
    if (hypervisor_call(p->machine, 'w'))
        return -EIO;
    if (strlen(value) > WEFT_XEN_LIST_MAX)
        return -ENOSPC;
    hypervisor_put(p->machine, p->domain, key, value);
    return 0;
}

static inline int hypervisor_remove(void *context, const char *key)
{
    const struct hypervisor_place *p = context;
    if (hypervisor_call(p->machine, 'r'))
        return -EIO;
    hypervisor_put(p->machine, p->domain, key, NULL);
    return 0;
}

/* place must live as long as what is returned. */
static inline struct weft_xen_system hypervisor_guest(struct hypervisor_place *place)
{
    return (struct weft_xen_system){.size = sizeof(struct weft_xen_system),
                                    .context = place,
                                    .grant = hypervisor_grant,
                                    .end = hypervisor_end,
                                    .write = hypervisor_write,
                                    .remove = hypervisor_remove};
}

/* ---- The control domain ---- */

static inline bool hypervisor_refuses(struct hypervisor *h, int error)
{
    errno = error;
    return h->fail_control_at > 0 && --h->fail_control_at == 0;
}

static inline char *hypervisor_read(void *context, const char *path, size_t *size)
{
    const struct hypervisor_place *p = context;
    if (hypervisor_refuses(p->machine, EIO))
        return NULL;
    const struct hypervisor_entry *e = hypervisor_find(p->machine, path);
    char *value = e ? malloc(e->size + 1) : NULL;
    if (!e)
        errno = ENOENT;
    if (!value)
        return NULL;
    memcpy(value, e->value, e->size + 1);
    *size = e->size;
    return value;
}

/* The name below path that entry has, and its length; NULL: it is not below. */
static inline const char *hypervisor_name(const struct hypervisor_entry *e, const char *path,
                                          size_t *length)
{
    const size_t n = strlen(path);
    if (strncmp(e->path, path, n) != 0 || e->path[n] != '/')
        return NULL;
    *length = strcspn(e->path + n + 1, "/");
    return e->path + n + 1;
}

static inline char **hypervisor_list(void *context, const char *path, unsigned *count)
{
    const struct hypervisor_place *p = context;
    struct hypervisor *h = p->machine;
    if (hypervisor_refuses(h, EIO))
        return NULL;
    char **names = malloc(h->entry_count * (sizeof *names + sizeof h->entries->path) + 1);
    if (!names)
        return NULL;
    char *text = (char *)(names + h->entry_count);
    *count = 0;
    for (unsigned i = 0; i < h->entry_count; i++) {
        size_t length;
        unsigned k = 0;
        const char *name = hypervisor_name(&h->entries[i], path, &length);
        if (!name)
            continue;
        memcpy(text, name, length);
        text[length] = 0;
        while (k < *count && strcmp(names[k], text) != 0)
            k++;
        if (k < *count)
            continue;
        names[(*count)++] = text;
        text += length + 1;
    }
    if (*count)
        return names;
    free(names);
    errno = ENOENT;
    return NULL;
}

/* All or nothing; what is refused is EINVAL, as by Linux and Xen 4.17. */
static inline void *hypervisor_map(void *context, unsigned domain, uint32_t *reference,
                                   uint32_t count)
{
    const struct hypervisor_place *p = context;
    struct hypervisor *h = p->machine;
    if (hypervisor_refuses(h, ENOMEM))
        return NULL;
    errno = EINVAL;
    if (count == 0 || hypervisor_state(h, domain) == WEFT_XEN_GONE)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct hypervisor_grant *g = hypervisor_granted(h, domain, reference[i]);
        if (!g || g->to != p->domain)
            return NULL;
    }
    unsigned char *pages = mmap(NULL, (size_t)count * WEFT_XEN_PAGE, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    hypervisor_must(pages != MAP_FAILED, "no room to map pages");
    for (uint32_t i = 0; i < count; i++) {
        const struct hypervisor_grant *g = hypervisor_granted(h, domain, reference[i]);
        void *at = mmap(pages + (size_t)i * WEFT_XEN_PAGE, WEFT_XEN_PAGE, PROT_READ,
                        MAP_SHARED | MAP_FIXED, h->fd, (off_t)(g->page * WEFT_XEN_PAGE));
        hypervisor_must(at != MAP_FAILED, "cannot map a page");
    }
    h->mapped += count;
    return pages;
}

static inline void hypervisor_unmap(void *context, void *pages, uint32_t count)
{
    const struct hypervisor_place *p = context;
    hypervisor_must(count <= p->machine->mapped, "what is unmapped was not mapped");
    munmap(pages, (size_t)count * WEFT_XEN_PAGE);
    p->machine->mapped -= count;
}

static inline enum weft_xen_state hypervisor_state_of(void *context, unsigned domain)
{
    const struct hypervisor_place *p = context;
    return hypervisor_state(p->machine, domain);
}

/* Never sleeps: what is to happen meanwhile is done by the test. */
static inline int hypervisor_wait(void *context, unsigned domain, int timeout_ms)
{
    const struct hypervisor_place *p = context;
    struct hypervisor *h = p->machine;
    (void)domain;
    if (hypervisor_refuses(h, EIO))
        return -1;
    if (h->changes == h->seen && h->meanwhile)
        h->meanwhile(h);
    hypervisor_must(h->changes != h->seen || timeout_ms >= 0, "it would wait for ever");
    const bool happened = h->changes != h->seen;
    h->seen = h->changes;
    return happened;
}

static inline struct weft_xen hypervisor_control(struct hypervisor_place *place)
{
    return (struct weft_xen){.context = place,
                             .read = hypervisor_read,
                             .list = hypervisor_list,
                             .map = hypervisor_map,
                             .unmap = hypervisor_unmap,
                             .state = hypervisor_state_of,
                             .wait = hypervisor_wait};
}
