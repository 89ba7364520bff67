/* SPDX-License-Identifier: ISC */
/* The guest's side of the protocol, for any system; part of libweft-xen and of libweft-freestanding. It calls
 * no function except memcpy and memset.
 *
 * The caller's memory, page by page:
 *
 *     the trace | index pages of level 0 | one more: the text of the list, or the index page of level 1
 *
 * A page's reference is stored where an index would have it, even if that index page is not granted. */
#include <weft/xen.h>

#include <stdbool.h>

#include "format/sized.h"
#include "format/xen.h"

/* Never changes, because programs are compiled with it. */
#define SYSTEM_FIRST (6 * sizeof(void *)) /* size of struct weft_xen_system of version 1 */
_Static_assert(offsetof(struct weft_xen_system, remove) == 5 * sizeof(void *), "frozen");
_Static_assert(sizeof(struct weft_xen_share) == (sizeof(void *) == 8 ? 128 : 88), "frozen");

static const char list_key[] = WEFT_XEN_LIST_KEY;
static const char index_key[] = WEFT_XEN_INDEX_KEY;

static unsigned char *page_at(const struct weft_xen_share *s, uint64_t n)
{
    return s->memory + n * WEFT_XEN_PAGE;
}

static struct weft_xen_index *index_at(const struct weft_xen_share *s, uint64_t n)
{
    return (struct weft_xen_index *)(void *)page_at(s, s->pages + n);
}

/* The page after the trace and the index pages of level 0. */
static struct weft_xen_index *root_of(const struct weft_xen_share *s)
{
    return index_at(s, s->indices);
}

static char *text_of(const struct weft_xen_share *s)
{
    return (char *)root_of(s);
}

/* The place for the reference of the nth page. */
static uint32_t *reference_at(struct weft_xen_share *s, uint64_t n)
{
    if (n < s->pages)
        return &index_at(s, n / WEFT_XEN_INDEX_REFERENCES)
                    ->reference[n % WEFT_XEN_INDEX_REFERENCES];
    if (n < s->pages + s->indices && s->indices > 1)
        return &root_of(s)->reference[n - s->pages];
    return &s->top;
}

/* ---- Granting ---- */

/* Grants pages until this many are granted. */
static int grant_up_to(struct weft_xen_share *s, uint64_t pages)
{
    for (; s->granted < pages; s->granted++) {
        int rc = s->system.grant(s->system.context, s->domain, page_at(s, s->granted),
                                 reference_at(s, s->granted));
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void begin_index(struct weft_xen_index *index, uint16_t level, uint64_t count)
{
    __builtin_memset(index, 0, sizeof *index);
    index->magic = WEFT_XEN_INDEX_MAGIC;
    index->version = WEFT_XEN_INDEX_VERSION;
    index->level = level;
    index->count = (uint32_t)count;
}

static void begin_indices(struct weft_xen_share *s)
{
    uint64_t left = s->pages;
    for (uint64_t i = 0; i < s->indices; i++) {
        uint64_t count = left < WEFT_XEN_INDEX_REFERENCES ? left : WEFT_XEN_INDEX_REFERENCES;
        begin_index(index_at(s, i), 0, count);
        left -= count;
    }
    if (s->indices > 1)
        begin_index(root_of(s), 1, s->indices);
}

static unsigned put_number(char digits[10], uint32_t number)
{
    char reversed[10];
    unsigned n = 0, at = 0;
    do
        reversed[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n)
        digits[at++] = reversed[--n];
    return at;
}

/* Returns false if the references do not fit into one value. */
static bool write_list(struct weft_xen_share *s)
{
    char *text = text_of(s);
    unsigned size = 0;
    if (s->indices > 1)
        return false;
    for (uint64_t i = 0; i < s->pages; i++) {
        char digits[10];
        unsigned n = put_number(digits, *reference_at(s, i));
        if (size + (i > 0) + n > WEFT_XEN_LIST_MAX)
            return false;
        if (i)
            text[size++] = ',';
        __builtin_memcpy(text + size, digits, n);
        size += n;
    }
    text[size] = 0;
    return true;
}

static int grant_all(struct weft_xen_share *s, const struct weft_xen_system *system,
                     unsigned domain, void *memory, uint64_t bytes)
{
    const uint64_t pages = bytes / WEFT_XEN_PAGE;
    __builtin_memset(s, 0, sizeof *s);
    if (!system || !memory || (uintptr_t)memory % WEFT_XEN_PAGE || pages < 3)
        return WEFT_XEN_INVALID;
    const int rc = (int)weft_sized_take(&s->system, sizeof s->system, system, SYSTEM_FIRST);
    if (rc < 0)
        return rc;
    if (!s->system.grant || !s->system.end || !s->system.write || !s->system.remove)
        return WEFT_XEN_INVALID;
    s->memory = memory;
    s->domain = domain;
    /* Of 1 + 1021 · n pages, n are index pages. */
    s->indices = (pages - 1 + WEFT_XEN_INDEX_REFERENCES) / (WEFT_XEN_INDEX_REFERENCES + 1);
    s->pages = pages - 1 - s->indices;
    if (s->pages % WEFT_XEN_INDEX_REFERENCES ==
        0) /* the last one may be empty: then it is not used */
        s->indices = s->pages / WEFT_XEN_INDEX_REFERENCES;
    return s->pages <= WEFT_XEN_PAGES_MAX ? 0 : WEFT_XEN_INVALID;
}

int64_t weft_xen_grant(struct weft_xen_share *share, const struct weft_xen_system *system,
                       unsigned domain, void *memory, uint64_t bytes)
{
    struct weft_xen_share *s = share;
    const int taken = grant_all(s, system, domain, memory, bytes);
    if (taken < 0) {
        __builtin_memset(s, 0, sizeof *s);
        return taken;
    }
    begin_indices(s);
    int rc = grant_up_to(s, s->pages);
    if (rc == 0 && !write_list(s))
        rc = grant_up_to(s, s->pages + s->indices + (s->indices > 1));
    if (rc == 0)
        return (int64_t)(s->pages * WEFT_XEN_PAGE);
    weft_xen_end(s);
    return rc;
}

/* ---- Publishing ---- */

static bool is_indexed(const struct weft_xen_share *s)
{
    return s->granted > s->pages;
}

int weft_xen_publish(struct weft_xen_share *share)
{
    struct weft_xen_share *s = share;
    char number[11];
    if (!s->granted)
        return WEFT_XEN_INVALID;
    number[put_number(number, s->top)] = 0;
    /* Whoever sees the key must also see the index pages, however the system writes the key. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    int rc = s->system.remove(s->system.context, is_indexed(s) ? list_key : index_key);
    if (rc < 0)
        return rc;
    rc = s->system.write(s->system.context, is_indexed(s) ? index_key : list_key,
                         is_indexed(s) ? number : text_of(s));
    if (rc < 0)
        return rc;
    s->published = 1;
    return 0;
}

void weft_xen_withdraw(struct weft_xen_share *share)
{
    struct weft_xen_share *s = share;
    if (s->published)
        s->system.remove(s->system.context, is_indexed(s) ? index_key : list_key);
    s->published = 0;
}

void weft_xen_end(struct weft_xen_share *share)
{
    struct weft_xen_share *s = share;
    weft_xen_withdraw(s);
    while (s->granted) {
        s->granted--;
        s->system.end(s->system.context, page_at(s, s->granted), *reference_at(s, s->granted));
    }
    __builtin_memset(s, 0, sizeof *s);
}
