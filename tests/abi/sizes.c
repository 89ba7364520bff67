/* SPDX-License-Identifier: ISC */
/* Structures of an older and of a newer header, in front of a page that cannot be read. OLD: the library may know more
 * than this header. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef FREESTANDING
#include <weft/freestanding.h>
#endif
#ifdef XEN
#include <weft/xen.h>
#endif
#include <weft/weft.h>

enum { MORE = 24, TRACE = 1 << 20, INVALID = -22, TOO_NEW = -7 };

static int wrong;
static unsigned char *edge; /* where the page begins */
static unsigned char trace[TRACE] __attribute__((aligned(4096)));

/* Bytes in front of the page: a structure, or what is known of it, then zeros. */
static void *place(const void *structure, size_t known, size_t bytes)
{
    unsigned char *at = edge - bytes;
    memset(at, 0, bytes);
    memcpy(at, structure, bytes < known ? bytes : known);
    memcpy(at, &bytes, sizeof bytes);
    return at;
}

static void set_size(void *structure, size_t size)
{
    memcpy(structure, &size, sizeof size);
}

static void expect(const char *what, size_t n, int wanted, int got)
{
    if (wanted != got && ++wrong)
        printf("%s %zu: %d instead of %d\n", what, n, got, wanted);
}

/* Tries a structure of every size. first: that of version 1; start: gives it to the library, and stops again. */
static void try_all(const char *what, const void *structure, size_t known, size_t first,
                    int (*start)(const void *))
{
    unsigned char *s = place(structure, known, first);
    set_size(s, 0);
    expect(what, 0, 0, start(s));
    for (size_t n = sizeof n; n < first; n++) {
        s = place(structure, known, n);
        expect(what, n, INVALID, start(s));
    }
    set_size(s, 1);
    expect(what, 1, INVALID, start(s));
    for (size_t n = known; n <= known + MORE; n++)
        expect(what, n, 0, start(place(structure, known, n)));
#ifndef OLD
    for (size_t at = known; at < known + MORE; at++) {
        s = place(structure, known, known + MORE);
        s[at] = 1;
        expect("something unknown at", at, TOO_NEW, start(s));
        set_size(s, 0); /* then it is not looked at */
        expect("something not read at", at, 0, start(s));
    }
#endif
    s = place(structure, known, known);
    set_size(s, 4097);
    expect(what, 4097, TOO_NEW, start(s));
    set_size(s, SIZE_MAX);
    expect(what, SIZE_MAX, TOO_NEW, start(s));
}

static int start_options(const void *o)
{
    int rc = weft_start((const struct weft_options *)o);
    weft_stop();
    return rc;
}

static uint64_t now;

static uint64_t count(void)
{
    return ++now;
}

#ifdef FREESTANDING
static int start_machine(const void *m)
{
    const struct weft_options o = {.memory = trace, .bytes = sizeof trace, .clock = count};
    int rc = weft_start_on((const struct weft_machine *)m, &o);
    weft_stop();
    return rc;
}
#endif

#ifdef XEN
static int give(void *context, unsigned domain, void *page, uint32_t *reference)
{
    (void)context;
    (void)domain;
    (void)page;
    *reference = 1;
    return 0;
}

static void take(void *context, void *page, uint32_t reference)
{
    (void)context;
    (void)page;
    (void)reference;
}

static int put(void *context, const char *key, const char *value)
{
    (void)context;
    (void)key;
    (void)value;
    return 0;
}

static int drop(void *context, const char *key)
{
    (void)context;
    (void)key;
    return 0;
}

/* The share lies in front of a page, too. */
static int share(const void *system)
{
    static unsigned char *end;
    if (!end) {
        end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(end + 4096, 4096, PROT_NONE);
    }
    struct weft_xen_share *s = (void *)(end + 4096 - sizeof *s);
    int64_t rc = weft_xen_grant(s, system, 0, trace, sizeof trace);
    if (rc > 0 && weft_xen_publish(s))
        return 1;
    weft_xen_end(s);
    return rc > 0 ? 0 : (int)rc;
}
#endif

int main(void)
{
    edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (edge == MAP_FAILED || mprotect(edge + 4096, 4096, PROT_NONE))
        return 2;
    edge += 4096;
    struct weft_options o = {.memory = trace, .bytes = sizeof trace, .clock = count};
    try_all("options of size", &o, sizeof o, sizeof(void *) == 8 ? 56 : 40, start_options);
    o.flags = 1u << 31;
    expect("an unknown flag", 31, TOO_NEW, start_options(&o));
#ifdef FREESTANDING
    const struct weft_machine m = {.program = "sizes"};
    try_all("machine of size", &m, sizeof m, sizeof(void *) == 8 ? 56 : 28, start_machine);
#endif
#ifdef XEN
    const struct weft_xen_system system = {
        .grant = give, .end = take, .write = put, .remove = drop};
    try_all("system of size", &system, sizeof system, 6 * sizeof(void *), share);
#endif
    return wrong != 0;
}
