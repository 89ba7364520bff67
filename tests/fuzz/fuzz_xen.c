/* SPDX-License-Identifier: ISC */
/* Any bytes as what a Xen guest offers, in XenStore and in its pages, which change while they are read. What is copied
 * of it goes the way of any other trace.
 *
 * The bytes: flags, how many pages and changes there are, how long the two values are; the values; the changes; then
 * what stands in the pages: again and again how many words are left at 0, how many bytes follow, and these. Page n
 * is granted by reference 8 + n, and by some more. Without a value there is a list of all pages. */
#include <errno.h>

#include "read/input.h"
#include "read/snapshot.h"
#include "try.h"
#include "xen/control.h"

enum {
    DEAD = 1, /* it has crashed when it is looked at */
    LIMIT = 2,
    LIST = 4,
    INDEX = 8,
    TORN = 16,   /* pages change while they are copied, too */
    STREAM = 32, /* the copy goes where nobody can seek */
    FIRST = 8,   /* reference */
    REFERENCES = 1100,
    MAPS = 64,
    DOMAIN = 5,
};

struct head {
    uint8_t flags, pages, changes, list_bytes, index_bytes;
};

struct change {
    uint8_t after; /* so many calls, the one before this */
    uint8_t what;
    uint8_t at[2]; /* in words */
    uint8_t value[8];
};

struct mapped {
    unsigned char *bytes;
    uint32_t count;
    uint32_t *page;
};

static struct {
    struct head head;
    unsigned char *memory;
    uint32_t bytes; /* of it */
    const uint8_t *list, *index, *change;
    unsigned next, calls; /* change; since the last one */
    bool withdrawn;
    enum weft_xen_state state;
    struct mapped mapped[MAPS];
} guest;

/* ---- Pages that change ---- */

/* The mapped pages show what stands in those of the guest. */
static void show(uint32_t at, uint32_t size)
{
    for (unsigned m = 0; m < MAPS; m++)
        for (uint32_t i = 0; i < guest.mapped[m].count; i++) {
            const uint32_t from = guest.mapped[m].page[i] * WEFT_XEN_PAGE;
            if (at < from + WEFT_XEN_PAGE && from < at + size)
                memcpy(guest.mapped[m].bytes + (size_t)i * WEFT_XEN_PAGE, guest.memory + from,
                       WEFT_XEN_PAGE);
        }
}

static void change(const struct change *c)
{
    uint64_t value, word;
    uint32_t at = (c->at[0] | (uint32_t)c->at[1] << 8) * 8 % guest.bytes;
    uint32_t size = guest.bytes - at < 256 ? guest.bytes - at : 256;
    memcpy(&value, c->value, 8);
    memcpy(&word, guest.memory + at, 8);
    switch (c->what % 7) {
    case 0:
    case 1:
    case 2:
        word = c->what % 7 == 0 ? value : c->what % 7 == 1 ? word + value : word ^ value;
        memcpy(guest.memory + at, &word, 8);
        size = 8;
        break;
    case 3:
        memset(guest.memory + at, (int)(value & 0xff), size);
        break;
    case 4:
        memmove(guest.memory + at, guest.memory + value % (guest.bytes - size + 1), size);
        break;
    case 5:
        guest.state = (enum weft_xen_state)(value % (WEFT_XEN_GONE + 1));
        return;
    case 6:
        guest.withdrawn = true;
        return;
    }
    show(at, size);
}

/* Something is called: what is due by now happens. */
static void call(void)
{
    guest.calls++;
    while (guest.next < guest.head.changes) {
        struct change c;
        memcpy(&c, guest.change + guest.next * sizeof c, sizeof c);
        if (guest.calls < c.after)
            break;
        guest.calls = 0;
        guest.next++;
        change(&c);
    }
}

/* ---- The system ---- */

static char *keep(const void *bytes, size_t size, size_t *out)
{
    char *copy = malloc(size + 1);
    REQUIRE(copy);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    *out = size;
    return copy;
}

static char *all_pages(size_t *size)
{
    char text[2048];
    int used = 0;
    for (unsigned i = 0; i < guest.head.pages; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%u", i ? "," : "", FIRST + i);
    return keep(text, (size_t)used, size);
}

static char *xen_read(void *context, const char *path, size_t *size)
{
    (void)context;
    call();
    const char *key = strstr(path, "/data/");
    if (strcmp(path, "/local/domain/5/name") == 0)
        return keep("guest", 5, size);
    if (key && !guest.withdrawn && !strncmp(path, "/local/domain/5/", 16)) {
        if (strcmp(key + 1, WEFT_XEN_INDEX_KEY) == 0 && guest.head.flags & INDEX)
            return keep(guest.index, guest.head.index_bytes, size);
        if (strcmp(key + 1, WEFT_XEN_LIST_KEY) == 0 && guest.head.flags & LIST)
            return guest.head.list_bytes ? keep(guest.list, guest.head.list_bytes, size)
                                         : all_pages(size);
    }
    errno = ENOENT;
    return NULL;
}

static char **xen_list(void *context, const char *path, unsigned *count)
{
    (void)context, (void)path;
    char **names = malloc(2 * sizeof *names + 4);
    REQUIRE(names);
    names[0] = memcpy(names + 2, "0\0005", 4);
    names[1] = names[0] + 2;
    *count = 2;
    return names;
}

static void *xen_map(void *context, unsigned domain, uint32_t *reference, uint32_t count)
{
    (void)context;
    struct mapped *m = guest.mapped;
    call();
    REQUIRE(domain == DOMAIN && count > 0);
    errno = EINVAL;
    if (guest.state == WEFT_XEN_GONE)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (reference[i] < FIRST || reference[i] >= FIRST + REFERENCES || !guest.head.pages)
            return NULL;
    while (m->count)
        m++;
    REQUIRE(m < guest.mapped + MAPS);
    *m = (struct mapped){.bytes = malloc((size_t)count * WEFT_XEN_PAGE),
                         .page = malloc(count * sizeof *m->page),
                         .count = count};
    REQUIRE(m->bytes && m->page);
    for (uint32_t i = 0; i < count; i++)
        m->page[i] = (reference[i] - FIRST) % guest.head.pages;
    show(0, guest.bytes);
    return m->bytes;
}

static void xen_unmap(void *context, void *pages, uint32_t count)
{
    (void)context;
    struct mapped *m = guest.mapped;
    while (m < guest.mapped + MAPS && m->bytes != pages)
        m++;
    REQUIRE(m < guest.mapped + MAPS && m->count == count);
    free(m->bytes);
    free(m->page);
    *m = (struct mapped){.count = 0};
    call();
}

static enum weft_xen_state xen_state(void *context, unsigned domain)
{
    (void)context;
    call();
    return domain == DOMAIN ? guest.state : WEFT_XEN_RUNNING;
}

static int xen_wait(void *context, unsigned domain, int timeout_ms)
{
    (void)context;
    REQUIRE(domain == DOMAIN && timeout_ms >= 0);
    call();
    return guest.next < guest.head.changes;
}

/* ---- The input ---- */

struct rest {
    const uint8_t *at;
    size_t size;
};

/* What is missing is left out. */
static const uint8_t *take(struct rest *r, size_t size)
{
    const uint8_t *at = r->at;
    if (size > r->size)
        return NULL;
    r->at += size;
    r->size -= size;
    return at;
}

static void fill(struct rest *r)
{
    uint32_t at = 0;
    for (const uint8_t *h; (h = take(r, 4));) {
        uint32_t size = h[2] | (uint32_t)h[3] << 8;
        at += (h[0] | (uint32_t)h[1] << 8) * 8;
        if (size > r->size)
            size = (uint32_t)r->size;
        if (at >= guest.bytes)
            break;
        memcpy(guest.memory + at, take(r, size), size < guest.bytes - at ? size : guest.bytes - at);
        at += size;
    }
}

static bool begin(const uint8_t *data, size_t size)
{
    struct rest r = {data, size};
    const uint8_t *head = take(&r, sizeof guest.head);
    memset(&guest, 0, sizeof guest);
    if (!head)
        return false;
    memcpy(&guest.head, head, sizeof guest.head);
    guest.list = take(&r, guest.head.list_bytes);
    guest.index = take(&r, guest.head.index_bytes);
    guest.change = take(&r, guest.head.changes * sizeof(struct change));
    if (!guest.list || !guest.index || !guest.change)
        return false;
    guest.state = guest.head.flags & DEAD ? WEFT_XEN_CRASHED : WEFT_XEN_RUNNING;
    guest.bytes = (guest.head.pages ? guest.head.pages : 1) * WEFT_XEN_PAGE;
    guest.memory = calloc(1, guest.bytes);
    REQUIRE(guest.memory);
    fill(&r);
    return true;
}

/* ---- What is done with it ---- */

static size_t copy(const void *memory, void *buffer, size_t size, uint64_t offset)
{
    call();
    if (!(guest.head.flags & TORN) || size <= 8)
        return weft_xen_ring_copy(memory, buffer, size, offset);
    const size_t first = guest.calls * 8 % size;
    const size_t copied = weft_xen_ring_copy(memory, buffer, first, offset);
    call();
    if (copied < first)
        return copied;
    return first + weft_xen_ring_copy(memory, (char *)buffer + first, size - first, offset + first);
}

struct stream {
    unsigned char *bytes;
    size_t size;
};

static ssize_t append(void *stream, const char *bytes, size_t size)
{
    struct stream *s = stream;
    s->bytes = realloc(s->bytes, s->size + size + 1);
    REQUIRE(s->bytes);
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return (ssize_t)size;
}

/* Returns what the copy's writing returned. */
static int write_stream(struct weft_snapshot *snapshot, struct stream *s, struct weft_error *err)
{
    FILE *f = fopencookie(s, "w", (cookie_io_functions_t){.write = append});
    REQUIRE(f);
    int rc = weft_snapshot_write(snapshot, f, NULL, NULL, err);
    REQUIRE(fclose(f) == 0);
    return rc;
}

static int write_memory(struct weft_snapshot *snapshot, struct stream *s, struct weft_error *err)
{
    struct weft_input out;
    int rc = weft_snapshot_to_room(snapshot, &out, err);
    if (rc < 0)
        return rc;
    s->size = out.size;
    s->bytes = malloc(out.size + 1);
    REQUIRE(s->bytes);
    REQUIRE(weft_input_read(&out, s->bytes, s->size, 0, NULL) == (ptrdiff_t)s->size);
    weft_input_close(&out);
    return rc;
}

/* For the library: nobody writes here with the time. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)wanted;
    (void)left;
    return 0;
}

static void try_snapshot(const struct weft_xen_ring *ring, bool dead)
{
    const struct weft_input in = {.fd = -1,
                                  .size = weft_xen_ring_bytes(ring),
                                  .copy = copy,
                                  .memory = ring,
                                  .writer = dead ? WEFT_WRITER_DEAD : WEFT_WRITER_ALIVE};
    struct weft_snapshot *s;
    struct stream out = {NULL, 0};
    struct weft_error err = {.code = 0};
    int rc = weft_snapshot_begin(&s, &in, &err);
    REQUIRE((rc == 1) == (s != NULL));
    if (rc < 0)
        try_error(&err, rc);
    if (rc <= 0)
        return;
    rc = guest.head.flags & STREAM ? write_stream(s, &out, &err) : write_memory(s, &out, &err);
    if (rc < 0) {
        try_error(&err, rc);
    } else {
        REQUIRE(out.size <= in.size);
        try_bytes(out.bytes ? out.bytes : (unsigned char *)"", out.size, guest.head.changes, 1);
    }
    free(out.bytes);
    weft_snapshot_free(s);
}

static void try_guest(const struct weft_xen *xen)
{
    struct weft_xen_domain *all, one;
    struct weft_xen_ring *ring;
    struct weft_error err = {.code = 0};
    enum weft_xen_state state;
    uint32_t count;
    REQUIRE(weft_xen_domains(xen, &all, &count, &err) == 0 && count == 2);
    REQUIRE(all[0].id == 0 && all[1].id == DOMAIN);
    free(all);
    REQUIRE(weft_xen_find(xen, "guest", &one, &err) == 0 && one.id == DOMAIN);
    uint64_t max_bytes = guest.head.flags & LIMIT ? 16 * WEFT_XEN_PAGE : WEFT_XEN_BYTES_MAX;
    int rc = weft_xen_open(&ring, xen, one.id, max_bytes, &err);
    REQUIRE((rc == 0) == (ring != NULL));
    if (rc < 0) {
        try_error(&err, rc);
        return;
    }
    REQUIRE(weft_xen_ring_bytes(ring) <= max_bytes);
    try_snapshot(ring, guest.state == WEFT_XEN_CRASHED || guest.state == WEFT_XEN_GONE);
    rc = weft_xen_ring_wait(ring, 0, &state, &err);
    if (rc < 0)
        try_error(&err, rc);
    weft_xen_close(ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct weft_xen xen = {.read = xen_read,
                                        .list = xen_list,
                                        .map = xen_map,
                                        .unmap = xen_unmap,
                                        .state = xen_state,
                                        .wait = xen_wait};
    if (!begin(data, size))
        return 0;
    try_guest(&xen);
    for (unsigned i = 0; i < MAPS; i++)
        REQUIRE(!guest.mapped[i].count);
    free(guest.memory);
    return 0;
}
