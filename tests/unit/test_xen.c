/* SPDX-License-Identifier: ISC */
/* The control domain's side: it finds, maps and reads what guests offer, and says of everything else what is wrong
 * with it. Linked with --wrap=malloc and so on. */
#include <inttypes.h>

#include "allocations.h"
#include "hypervisor.h"
#include "test.h"

enum { GUEST = 5, PAGES = 6000 };

struct bench {
    struct hypervisor machine;
    struct hypervisor_place guest, control;
    struct weft_xen_system system;
    struct weft_xen xen;
};

static struct bench bench;

static int set_up(void **state)
{
    (void)state;
    struct bench *b = &bench;
    hypervisor_init(&b->machine, PAGES);
    hypervisor_domain(&b->machine, GUEST, "web");
    b->guest = (struct hypervisor_place){&b->machine, GUEST};
    b->control = (struct hypervisor_place){&b->machine, 0};
    b->system = hypervisor_guest(&b->guest);
    b->xen = hypervisor_control(&b->control);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    int rc = bench.machine.mapped ? -1 : 0; /* everything is unmapped */
    hypervisor_fini(&bench.machine);
    return rc;
}

static void assert_harmless(const char *text)
{
    assert_true(*text != '\0');
    for (const char *c = text; *c; c++)
        assert_true(*c >= 0x20 && *c < 0x7f);
}

/* ---- What a guest shares ---- */

static void fill(unsigned char *pages, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 8)
        memcpy(pages + i, &i, 8);
}

static bool is_filled(const unsigned char *copy, uint64_t bytes, uint64_t from)
{
    for (uint64_t i = 0; i < bytes; i += 8)
        if (memcmp(copy + i, &(uint64_t){from + i}, 8) != 0)
            return false;
    return true;
}

static struct weft_xen_ring *open_ring(void)
{
    struct weft_xen_ring *ring;
    struct weft_error err = {.text = ""};
    int rc = weft_xen_open(&ring, &bench.xen, GUEST, WEFT_XEN_BYTES_MAX, &err);
    if (rc < 0)
        print_message("%s\n", err.text);
    assert_int_equal(rc, 0);
    return ring;
}

/* It is offered by an index page, not as a list of mirage-profile's. */
static bool has_index(void)
{
    return hypervisor_get(&bench.machine, GUEST, WEFT_XEN_INDEX_KEY) != NULL;
}

/* Shares so many pages of the machine, all in all, and compares what the control domain sees. */
static void round_trip(uint64_t pages, bool indexed)
{
    struct weft_xen_share share;
    bench.machine.taken = 0;
    unsigned char *memory = hypervisor_take(&bench.machine, pages);
    int64_t bytes = weft_xen_grant(&share, &bench.system, 0, memory, pages * WEFT_XEN_PAGE);
    assert_true(bytes > 0);
    fill(memory, (uint64_t)bytes);
    assert_int_equal(weft_xen_publish(&share), 0);

    struct weft_xen_ring *ring = open_ring();
    assert_int_equal(weft_xen_ring_bytes(ring), bytes);
    assert_int_equal(has_index(), indexed);
    unsigned char *copy = malloc((size_t)bytes + 8);
    assert_int_equal(weft_xen_ring_copy(ring, copy, (size_t)bytes + 8, 0), bytes);
    assert_true(is_filled(copy, (uint64_t)bytes, 0));
    free(copy);
    weft_xen_close(ring);
    unsigned char head[WEFT_XEN_PAGE];
    uint64_t offered;
    assert_int_equal(weft_xen_look(&bench.xen, GUEST, head, &offered, NULL), 0);
    assert_int_equal(offered, bytes);
    assert_true(is_filled(head, sizeof head, 0));
    assert_int_equal(bench.machine.mapped, 0);
    weft_xen_end(&share);
}

TEST(sizes_come_through)
{
    /* From about 400 references of four digits on it takes an index. */
    static const uint64_t lists[] = {3, 4, 100, 300};
    static const uint64_t indices[] = {600,  1020, 1021, 1022, 1023, 1024, 1025, 2041, 2042,
                                       2043, 2044, 2045, 2046, 3063, 3064, 3065, 5000};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        round_trip(lists[i], false);
    for (unsigned i = 0; i < sizeof indices / sizeof *indices; i++)
        round_trip(indices[i], true);
}

/* Every size around the one where the list no longer fits. */
TEST(list_and_index_meet)
{
    unsigned lists = 0, indexed = 0;
    for (uint64_t pages = 380; pages < 520; pages += 4) {
        struct weft_xen_share share;
        bench.machine.taken = 0;
        unsigned char *memory = hypervisor_take(&bench.machine, pages);
        assert_true(weft_xen_grant(&share, &bench.system, 0, memory, pages * WEFT_XEN_PAGE) > 0);
        assert_int_equal(weft_xen_publish(&share), 0);
        struct weft_xen_ring *ring = open_ring();
        indexed += has_index();
        lists += !has_index();
        weft_xen_close(ring);
        weft_xen_end(&share);
    }
    assert_true(lists > 0 && indexed > 0);
}

TEST(parts_are_copied)
{
    struct weft_xen_share share;
    unsigned char buffer[4 * WEFT_XEN_PAGE];
    const uint64_t border = 1024 * WEFT_XEN_PAGE;
    unsigned char *memory = hypervisor_take(&bench.machine, 2100);
    int64_t bytes = weft_xen_grant(&share, &bench.system, 0, memory, 2100 * WEFT_XEN_PAGE);
    assert_true(bytes > (int64_t)(2 * border));
    fill(memory, (uint64_t)bytes);
    assert_int_equal(weft_xen_publish(&share), 0);
    struct weft_xen_ring *ring = open_ring();
    for (uint64_t at = border - 24; at <= border + 24; at += 8)
        for (size_t size = 8; size <= 64; size += 8) {
            assert_int_equal(weft_xen_ring_copy(ring, buffer, size, at), size);
            assert_true(is_filled(buffer, size, at));
        }
    assert_int_equal(weft_xen_ring_copy(ring, buffer, sizeof buffer, border - 8192), sizeof buffer);
    assert_true(is_filled(buffer, sizeof buffer, border - 8192));
    assert_int_equal(weft_xen_ring_copy(ring, buffer, 3, border - 1), 3);
    assert_memory_equal(buffer, memory + border - 1, 3);
    assert_int_equal(weft_xen_ring_copy(ring, buffer, 8, (uint64_t)bytes - 4), 4);
    assert_int_equal(weft_xen_ring_copy(ring, buffer, 8, (uint64_t)bytes), 0);
    assert_int_equal(weft_xen_ring_copy(ring, buffer, 8, UINT64_MAX), 0);
    memory[77] = 0xee; /* it is the guest's memory, not what it was */
    assert_int_equal(weft_xen_ring_copy(ring, buffer, 1, 77), 1);
    assert_int_equal(buffer[0], 0xee);
    weft_xen_close(ring);
    weft_xen_end(&share);
}

/* ---- What a hostile guest offers ---- */

static uint32_t next_reference;

static uint32_t chosen(uint32_t n)
{
    (void)n;
    return next_reference;
}

/* Grants a page of the machine by that reference. */
static void grant_as(unsigned char *page, uint32_t reference, unsigned to)
{
    uint32_t got;
    bench.machine.number = chosen;
    next_reference = reference;
    assert_int_equal(bench.system.grant(bench.system.context, to, page, &got), 0);
    assert_int_equal(got, reference);
}

/* Grants pages by the references from first on. */
static unsigned char *grant_from(uint32_t first, uint32_t count)
{
    unsigned char *pages = hypervisor_take(&bench.machine, count);
    for (uint32_t i = 0; i < count; i++)
        grant_as(pages + (size_t)i * WEFT_XEN_PAGE, first + i, 0);
    return pages;
}

static void put_value(const char *key, const char *value, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "/local/domain/%d/%s", GUEST, key);
    hypervisor_store(&bench.machine, path, value, size);
}

/* What is offered is refused, with that code and a sentence in which that stands. */
static void refused(int code, const char *sentence, uint64_t max_bytes)
{
    struct weft_xen_ring *ring = (void *)&bench;
    struct weft_error err = {.text = ""};
    int rc = weft_xen_open(&ring, &bench.xen, GUEST, max_bytes, &err);
    if (rc != code || !strstr(err.text, sentence))
        print_message("%d: %s\n   not %d: %s\n", rc, err.text, code, sentence);
    assert_int_equal(rc, code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, sentence));
    assert_harmless(err.text);
    assert_null(ring);
    assert_int_equal(bench.machine.mapped, 0);
}

#define VALUE(text) text, sizeof text - 1

static const struct value {
    const char *text;
    size_t size;
    const char *sentence; /* NULL: it is good */
} values[] = {
    {VALUE("8,9,10"), NULL},
    {VALUE("10,8,9"), NULL},
    {VALUE("8"), NULL},
    {VALUE("8,9,10\n"), NULL},
    {VALUE("8,9,10\0"), NULL},
    {VALUE("8,9,10\n\0"), NULL},
    {VALUE("008,9"), NULL},
    {VALUE(""), "ring-ref in XenStore is empty"},
    {VALUE("\n"), "ring-ref in XenStore is empty"},
    {VALUE(","), "item 1 is empty"},
    {VALUE("8,"), "item 2 is empty"},
    {VALUE(",8"), "item 1 is empty"},
    {VALUE("8,,9"), "item 2 is empty"},
    {VALUE("-1"), "is no grant reference, a decimal number: \"-1\""},
    {VALUE("8,-9"), "item 2 is no grant reference, a decimal number: \"-9\""},
    {VALUE("+8"), "\"+8\""},
    {VALUE("8, 9"), "item 2 is no grant reference, a decimal number: \" 9\""},
    {VALUE(" 8"), "\" 8\""},
    {VALUE("8 "), "\"8 \""},
    {VALUE("8\n\n"), "\"8?\""},
    {VALUE("8\0,9"), "item 1 is no grant reference, a decimal number: \"8?\""},
    {VALUE("0x8"), "\"0x8\""},
    {VALUE("8.0"), "\"8.0\""},
    {VALUE("8;9"), "\"8;9\""},
    {VALUE("eight"), "\"eight\""},
    {VALUE("\x1b[2J\xff\xc3"), "\"?[2J??\""},
    {VALUE("%s%n%s%n"), "\"%s%n%s%n\""},
    {VALUE("a very long text that nobody would want to read"), "\"a very long text that no...\""},
    {VALUE("4294967296"), "larger than a grant reference can be: \"4294967296\""},
    {VALUE("8,18446744073709551624"), "item 2 is larger than a grant reference can be"},
    {VALUE("99999999999999999999999999999999"), "larger than a grant reference can be"},
    {VALUE("8,8"), "reference 8 is named more than once"},
    {VALUE("8,9,10,9"), "reference 9 is named more than once"},
    {VALUE("8,08"), "reference 8 is named more than once"},
    {VALUE("4294967295,4294967295"), "reference 4294967295 is named more than once"},
};

TEST(lists_are_judged)
{
    grant_from(8, 3);
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        const struct value *v = &values[i];
        put_value(WEFT_XEN_LIST_KEY, v->text, v->size);
        if (v->sentence)
            refused(WEFT_E_FORMAT, v->sentence, WEFT_XEN_BYTES_MAX);
        else
            weft_xen_close(open_ring());
    }
    static char text[5000];
    memset(text, '1', sizeof text);
    put_value(WEFT_XEN_LIST_KEY, text, sizeof text);
    refused(WEFT_E_FORMAT, "is 5000 bytes long; 4096 are possible", WEFT_XEN_BYTES_MAX);
    memset(text, ',', sizeof text);
    put_value(WEFT_XEN_LIST_KEY, text, 4096);
    refused(WEFT_E_FORMAT, "item 1 is empty", WEFT_XEN_BYTES_MAX);
}

TEST(order_of_a_list_counts)
{
    unsigned char *pages = grant_from(8, 3), c;
    for (unsigned i = 0; i < 3; i++)
        pages[i * WEFT_XEN_PAGE] = (unsigned char)('a' + i);
    put_value(WEFT_XEN_LIST_KEY, VALUE("10,8,9"));
    struct weft_xen_ring *ring = open_ring();
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(weft_xen_ring_copy(ring, &c, 1, i * WEFT_XEN_PAGE), 1);
        assert_int_equal(c, "cab"[i]);
    }
    weft_xen_close(ring);
}

TEST(index_numbers_are_judged)
{
    static const struct value bad[] = {
        {VALUE(""), "ring-index in XenStore is empty"},
        {VALUE("8,9"), "ring-index in XenStore is no grant reference, a decimal number: \"8,9\""},
        {VALUE("x"), "\"x\""},
        {VALUE("-8"), "\"-8\""},
        {VALUE("4294967296"), "larger than a grant reference can be"},
    };
    grant_from(8, 1);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8")); /* good, but it does not count */
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_value(WEFT_XEN_INDEX_KEY, bad[i].text, bad[i].size);
        refused(WEFT_E_FORMAT, bad[i].sentence, WEFT_XEN_BYTES_MAX);
    }
    put_value(WEFT_XEN_INDEX_KEY, VALUE("77"));
    refused(WEFT_E_IO, "reference 77 (the index page) is refused by the hypervisor",
            WEFT_XEN_BYTES_MAX);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("8"));
    refused(WEFT_E_FORMAT, "the index page (reference 8) is none: it does not begin with",
            WEFT_XEN_BYTES_MAX);
}

/* An index page of those references. */
static struct weft_xen_index *index_page(uint32_t reference, uint16_t level, uint32_t count,
                                         uint32_t first)
{
    struct weft_xen_index *index = (void *)grant_from(reference, 1);
    *index = (struct weft_xen_index){.magic = WEFT_XEN_INDEX_MAGIC,
                                     .version = WEFT_XEN_INDEX_VERSION,
                                     .level = level,
                                     .count = count};
    for (uint32_t i = 0; i < count; i++)
        index->reference[i] = first + i;
    return index;
}

TEST(index_pages_are_judged)
{
    struct weft_xen_index *page = index_page(7, 0, 3, 8);
    grant_from(8, 3);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("7\n"));
    weft_xen_close(open_ring());
    page->magic ^= 1;
    refused(WEFT_E_FORMAT, "does not begin with \"wftindex\"", WEFT_XEN_BYTES_MAX);
    page->magic ^= 1;
    page->version = 2;
    refused(WEFT_E_FORMAT, "is of version 2; this weft reads version 1", WEFT_XEN_BYTES_MAX);
    page->version = 1;
    page->level = 2;
    refused(WEFT_E_FORMAT, "says it is of level 2; at most 1 is possible there",
            WEFT_XEN_BYTES_MAX);
    page->level = 0;
    page->count = 0;
    refused(WEFT_E_FORMAT, "says that it holds 0 references", WEFT_XEN_BYTES_MAX);
    page->count = WEFT_XEN_INDEX_REFERENCES + 1;
    refused(WEFT_E_FORMAT, "says that it holds 1021 references", WEFT_XEN_BYTES_MAX);
    page->count = UINT32_MAX;
    refused(WEFT_E_FORMAT, "says that it holds 4294967295 references", WEFT_XEN_BYTES_MAX);
    page->count = 5; /* of which two are 0 */
    refused(WEFT_E_FORMAT, "reference 0 is named more than once", WEFT_XEN_BYTES_MAX);
    page->count = 3;
    page->reference[1] = 10;
    refused(WEFT_E_FORMAT, "reference 10 is named more than once", WEFT_XEN_BYTES_MAX);
    page->reference[1] = 7; /* the index page itself */
    refused(WEFT_E_FORMAT, "reference 7 is named more than once", WEFT_XEN_BYTES_MAX);
    page->reference[1] = 99;
    refused(WEFT_E_IO,
            "reference 99 (page 2 of 3) is refused by the hypervisor: that page is not granted to "
            "this domain",
            WEFT_XEN_BYTES_MAX);
}

TEST(two_levels_are_judged)
{
    struct weft_xen_index *root = index_page(1, 1, 2, 2);
    struct weft_xen_index *one = index_page(2, 0, WEFT_XEN_INDEX_REFERENCES, 5000);
    struct weft_xen_index *two = index_page(3, 0, 2, 5000 + WEFT_XEN_INDEX_REFERENCES);
    grant_from(5000, WEFT_XEN_INDEX_REFERENCES + 2);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("1"));
    struct weft_xen_ring *ring = open_ring();
    assert_int_equal(weft_xen_ring_bytes(ring), (WEFT_XEN_INDEX_REFERENCES + 2) * WEFT_XEN_PAGE);
    weft_xen_close(ring);
    two->level = 1;
    refused(WEFT_E_FORMAT, "index page 2 of 2 (reference 3) says it is of level 1; at most 0",
            WEFT_XEN_BYTES_MAX);
    two->level = 0;
    one->count = 1019;
    refused(WEFT_E_FORMAT,
            "index page 1 of 2 (reference 2) holds 1019 references; all but the last hold 1020",
            WEFT_XEN_BYTES_MAX);
    one->count = 1020;
    two->reference[1] = 5000;
    refused(WEFT_E_FORMAT, "reference 5000 is named more than once", WEFT_XEN_BYTES_MAX);
    two->reference[1] = 2;
    refused(WEFT_E_FORMAT, "reference 2 is named more than once", WEFT_XEN_BYTES_MAX);
    two->reference[1] = 9999;
    refused(WEFT_E_IO, "reference 9999 (page 1022 of 1022) is refused", WEFT_XEN_BYTES_MAX);
    root->reference[1] = 9998;
    refused(WEFT_E_IO, "reference 9998 (index page 2 of 2) is refused", WEFT_XEN_BYTES_MAX);
    root->reference[1] = 2;
    refused(WEFT_E_FORMAT, "reference 2 is named more than once", WEFT_XEN_BYTES_MAX);
    root->reference[1] = 1;
    refused(WEFT_E_FORMAT, "reference 1 is named more than once", WEFT_XEN_BYTES_MAX);
    root->reference[1] = 3;
    root->count = WEFT_XEN_INDEX_REFERENCES; /* most of them 0 */
    refused(WEFT_E_FORMAT, "reference 0 is named more than once", WEFT_XEN_BYTES_MAX);
}

TEST(limits_are_kept)
{
    struct weft_xen_index *root = index_page(1, 1, 2, 2);
    index_page(2, 0, WEFT_XEN_INDEX_REFERENCES, 5000);
    index_page(3, 0, 2, 5000 + WEFT_XEN_INDEX_REFERENCES);
    grant_from(5000, WEFT_XEN_INDEX_REFERENCES + 2);
    put_value(WEFT_XEN_LIST_KEY, VALUE("5000,5001,5002"));
    refused(WEFT_E_LIMIT, "offers 3 pages, 12288 bytes; the limit is 12287 bytes", 12287);
    refused(WEFT_E_LIMIT, "the limit is 0 bytes", 0);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("1"));
    refused(WEFT_E_LIMIT, "offers at least 1021 pages", 1020 * WEFT_XEN_PAGE);
    refused(WEFT_E_LIMIT, "offers at least 1022 pages", 1021 * WEFT_XEN_PAGE);
    struct weft_xen_ring *ring;
    assert_int_equal(weft_xen_open(&ring, &bench.xen, GUEST, 1022 * WEFT_XEN_PAGE, NULL), 0);
    weft_xen_close(ring);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("2"));
    refused(WEFT_E_LIMIT, "offers 1020 pages", 1019 * WEFT_XEN_PAGE);
    /* What is too large is refused before anything is made for it. */
    for (unsigned i = 0; i < WEFT_XEN_INDEX_REFERENCES; i++)
        root->reference[i] = 100000 + i;
    root->count = WEFT_XEN_INDEX_REFERENCES;
    put_value(WEFT_XEN_INDEX_KEY, VALUE("1"));
    refused(WEFT_E_LIMIT, "offers at least 1039381 pages", UINT64_C(1) << 30);
    refused(WEFT_E_IO, "reference 100000 (index page 1 of 1020) is refused", UINT64_MAX);
}

/* ---- Pages that change, and domains that end ---- */

static unsigned char *to_change;

static void unmap_and_change(void *context, void *pages, uint32_t count)
{
    hypervisor_unmap(context, pages, count);
    if (to_change)
        memset(to_change, 0xff, WEFT_XEN_PAGE);
}

/* Only the copy of an index page is used. */
TEST(index_pages_are_read_once)
{
    to_change = (unsigned char *)index_page(7, 0, 3, 8);
    fill(grant_from(8, 3), 3 * WEFT_XEN_PAGE);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("7"));
    bench.xen.unmap = unmap_and_change;
    struct weft_xen_ring *ring = open_ring();
    assert_int_equal(weft_xen_ring_bytes(ring), 3 * WEFT_XEN_PAGE);
    to_change = NULL;
    weft_xen_close(ring);
}

/* Which page is refused is said whichever it is. */
TEST(each_refusal_is_found)
{
    const uint32_t count = 1100, first = 20000;
    struct weft_xen_index *root = index_page(1, 1, 2, 2);
    index_page(2, 0, WEFT_XEN_INDEX_REFERENCES, first);
    index_page(3, 0, count - WEFT_XEN_INDEX_REFERENCES, first + WEFT_XEN_INDEX_REFERENCES);
    unsigned char *pages = grant_from(first, count);
    assert_int_equal(root->count, 2);
    put_value(WEFT_XEN_INDEX_KEY, VALUE("1"));
    for (uint32_t i = 0; i < count; i += i == 1022 ? 1 : 73) {
        char sentence[64];
        unsigned char *page = pages + (size_t)i * WEFT_XEN_PAGE;
        bench.system.end(bench.system.context, page, first + i);
        snprintf(sentence, sizeof sentence, "reference %u (page %u of %u) is refused", first + i,
                 i + 1, count);
        refused(WEFT_E_IO, sentence, WEFT_XEN_BYTES_MAX);
        grant_as(page, first + i, 0);
    }
}

TEST(what_is_not_granted_to_us_is_refused)
{
    unsigned char *pages = hypervisor_take(&bench.machine, 2);
    grant_as(pages, 8, 0);
    grant_as(pages + WEFT_XEN_PAGE, 9, 7);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8,9"));
    refused(WEFT_E_IO,
            "reference 9 (page 2 of 2) is refused by the hypervisor: that page is not "
            "granted to this domain",
            WEFT_XEN_BYTES_MAX);
    put_value(WEFT_XEN_LIST_KEY, VALUE("9,8"));
    unsigned char head[WEFT_XEN_PAGE];
    uint64_t bytes;
    struct weft_error why;
    assert_int_equal(weft_xen_look(&bench.xen, GUEST, head, &bytes, &why), WEFT_E_IO);
    assert_non_null(strstr(why.text, "reference 9 (its first page) is refused"));
    hypervisor_domain(&bench.machine, 6, "other");
    hypervisor_put(&bench.machine, 6, WEFT_XEN_LIST_KEY, "8"); /* web's */
    struct weft_xen_ring *ring;
    struct weft_error err;
    assert_int_equal(weft_xen_open(&ring, &bench.xen, 6, WEFT_XEN_BYTES_MAX, &err), WEFT_E_IO);
    assert_non_null(strstr(err.text, "reference 8 (page 1 of 1) is refused"));
}

TEST(nothing_is_offered)
{
    refused(WEFT_E_INVALID,
            "offers no trace: in XenStore it has neither data/weft/ring-index nor "
            "data/mprof/ring-ref",
            WEFT_XEN_BYTES_MAX);
    grant_from(8, 1);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8"));
    hypervisor_set_state(&bench.machine, GUEST, WEFT_XEN_GONE);
    refused(WEFT_E_IO, "reference 8 (page 1 of 1) cannot be mapped: the domain is gone",
            WEFT_XEN_BYTES_MAX);
    hypervisor_destroy(&bench.machine, GUEST);
    refused(WEFT_E_INVALID, "offers no trace", WEFT_XEN_BYTES_MAX);
}

TEST(what_is_mapped_outlives_the_domain)
{
    unsigned char copy[2 * WEFT_XEN_PAGE];
    enum weft_xen_state now;
    fill(grant_from(8, 2), sizeof copy);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8,9"));
    struct weft_xen_ring *ring = open_ring();
    hypervisor_destroy(&bench.machine, GUEST);
    assert_int_equal(weft_xen_ring_copy(ring, copy, sizeof copy, 0), sizeof copy);
    assert_true(is_filled(copy, sizeof copy, 0));
    assert_int_equal(weft_xen_ring_wait(ring, -1, &now, NULL), 1);
    assert_int_equal(now, WEFT_XEN_GONE);
    weft_xen_close(ring);
}

/* ---- Waiting ---- */

static unsigned meanwhiles;
static const char *new_value;
static enum weft_xen_state new_state;

static void changes_state(struct hypervisor *h)
{
    if (meanwhiles++ == 0)
        hypervisor_set_state(h, GUEST, new_state);
}

static void changes_key(struct hypervisor *h)
{
    if (meanwhiles++ == 0)
        hypervisor_put(h, GUEST, WEFT_XEN_LIST_KEY, new_value);
}

/* As xl destroy begins. */
static void removes_all(struct hypervisor *h)
{
    if (meanwhiles++ == 0)
        hypervisor_forget(h, "/local/domain/5");
}

static void writes_elsewhere(struct hypervisor *h)
{
    if (meanwhiles++ < 1000)
        hypervisor_put(h, GUEST, WEFT_XEN_LIST_KEY, "8");
}

static void nothing_happens(struct hypervisor *h)
{
    (void)h;
    meanwhiles++;
}

static unsigned unwatched;

static void count_unwatch(void *context)
{
    (void)context;
    unwatched++;
}

static int wait_for(struct weft_xen_ring *ring, int timeout_ms,
                    void (*meanwhile)(struct hypervisor *), enum weft_xen_state *state)
{
    struct weft_error err;
    meanwhiles = 0;
    bench.machine.meanwhile = meanwhile;
    return weft_xen_ring_wait(ring, timeout_ms, state, &err);
}

TEST(what_is_waited_for_is_seen)
{
    enum weft_xen_state now;
    grant_from(8, 1);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8"));
    bench.xen.unwatch = count_unwatch;
    unwatched = 0;
    struct weft_xen_ring *ring = open_ring();
    assert_int_equal(wait_for(ring, 0, nothing_happens, &now), 0);
    assert_int_equal(wait_for(ring, -1, nothing_happens, &now), 0);
    assert_int_equal(now, WEFT_XEN_RUNNING);
    assert_int_equal(wait_for(ring, -1, writes_elsewhere, &now), 0);
    assert_int_equal(unwatched, 0);
    static const enum weft_xen_state ends[] = {WEFT_XEN_SHUT, WEFT_XEN_CRASHED, WEFT_XEN_GONE};
    for (unsigned i = 0; i < 3; i++) {
        new_state = ends[i];
        assert_int_equal(wait_for(ring, -1, changes_state, &now), 1);
        assert_int_equal(now, ends[i]);
        assert_int_equal(unwatched, i + 1);
        hypervisor_set_state(&bench.machine, GUEST, WEFT_XEN_RUNNING);
    }
    new_state = WEFT_XEN_UNKNOWN; /* taken for running */
    assert_int_equal(wait_for(ring, -1, changes_state, &now), 0);
    static const char *const others[] = {NULL, "9", "8 ", "", "8,9"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        new_value = others[i];
        assert_int_equal(wait_for(ring, -1, changes_key, &now), 1);
        assert_int_equal(now, WEFT_XEN_UNKNOWN);
        put_value(WEFT_XEN_LIST_KEY, VALUE("8"));
        assert_int_equal(wait_for(ring, -1, nothing_happens, &now), 0);
    }
    assert_int_equal(wait_for(ring, -1, removes_all, &now), 1);
    assert_int_equal(now, WEFT_XEN_GONE);
    weft_xen_close(ring);
}

TEST(waiting_can_fail)
{
    enum weft_xen_state now;
    struct weft_error err;
    grant_from(8, 1);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8"));
    struct weft_xen_ring *ring = open_ring();
    bench.machine.fail_control_at = 1;
    assert_int_equal(weft_xen_ring_wait(ring, 0, &now, &err), WEFT_E_IO);
    assert_non_null(strstr(err.text, "ring-ref cannot be read in XenStore"));
    bench.machine.fail_control_at = 2;
    assert_int_equal(weft_xen_ring_wait(ring, 0, &now, &err), WEFT_E_IO);
    assert_non_null(strstr(err.text, "XenStore does not answer any more"));
    weft_xen_close(ring);
}

/* ---- Domains ---- */

static void not_found(const char *name, const char *sentence)
{
    struct weft_xen_domain d;
    struct weft_error err = {.text = ""};
    assert_int_equal(weft_xen_find(&bench.xen, name, &d, &err), WEFT_E_INVALID);
    assert_harmless(err.text);
    if (!strstr(err.text, sentence))
        print_message("%s: %s\n", name, err.text);
    assert_non_null(strstr(err.text, sentence));
}

static struct weft_xen_domain found(const char *name)
{
    struct weft_xen_domain d;
    struct weft_error err = {.text = ""};
    if (weft_xen_find(&bench.xen, name, &d, &err) < 0)
        print_message("%s: %s\n", name, err.text);
    assert_int_equal(weft_xen_find(&bench.xen, name, &d, &err), 0);
    return d;
}

TEST(domains_are_found)
{
    struct hypervisor *h = &bench.machine;
    char longest[400], path[] = "/local/domain/14/name";
    hypervisor_domain(h, 12, "7");
    hypervisor_domain(h, 9, "twice");
    hypervisor_domain(h, 10, "twice");
    hypervisor_domain(h, 11, NULL);
    hypervisor_domain(h, 13, "\xff\xfe\x1b[31m");
    hypervisor_domain(h, 14, NULL);
    hypervisor_domain(h, 15, "");
    memset(longest, 'x', sizeof longest);
    hypervisor_store(h, path, longest, sizeof longest);
    hypervisor_set_state(h, 10, WEFT_XEN_CRASHED);
    put_value(WEFT_XEN_LIST_KEY, VALUE("8"));
    hypervisor_put(h, 10, WEFT_XEN_INDEX_KEY, "");

    struct weft_xen_domain d = found("web");
    assert_int_equal(d.id, GUEST);
    assert_string_equal(d.name, "web");
    assert_int_equal(d.state, WEFT_XEN_RUNNING);
    assert_true(d.lists && !d.indexes);
    d = found("5");
    assert_int_equal(d.id, GUEST);
    assert_string_equal(d.name, "web");
    d = found("10");
    assert_int_equal(d.state, WEFT_XEN_CRASHED);
    assert_true(d.indexes && !d.lists);
    assert_int_equal(found("0").id, 0);
    assert_int_equal(found("Domain-0").id, 0);
    assert_int_equal(found("\xff\xfe\x1b[31m").id, 13);
    assert_string_equal(found("12").name, "7");
    assert_string_equal(found("11").name, "");
    assert_int_equal(strlen(found("14").name), WEFT_XEN_NAME_MAX);

    not_found("7", "there is no such domain"); /* a number is no name */
    not_found("", "there is no such domain");
    not_found("WEB", "there is no such domain");
    not_found("05", "there is no such domain");
    not_found("-5", "there is no such domain");
    not_found("5 ", "there is no such domain");
    not_found("4294967301", "there is no such domain");
    not_found("18446744073709551621", "there is no such domain");
    not_found("32752", "there is no such domain");
    not_found("twice", "2 domains have this name: 9, 10; give a number, as in xen:9");
}

TEST(many_domains_of_one_name)
{
    for (unsigned i = 0; i < 13; i++)
        hypervisor_domain(&bench.machine, 31000 + i, "same");
    not_found("same", "13 domains have this name: 31000, 31001, ");
    char **name;
    unsigned count;
    name = bench.xen.list(bench.xen.context, "/local/domain", &count);
    assert_int_equal(count, 15);
    free(name);
}

TEST(domains_are_listed)
{
    struct weft_xen_domain *d;
    uint32_t count;
    hypervisor_domain(&bench.machine, 12, "b");
    hypervisor_domain(&bench.machine, 9, "a");
    /* What is no domain is left out. */
    static const char *const odd[] = {"x", "-1", "+3", "032", "32752", "99999999999", "5x", " 5"};
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        char path[64];
        snprintf(path, sizeof path, "/local/domain/%s/name", odd[i]);
        hypervisor_store(&bench.machine, path, VALUE("odd"));
    }
    assert_int_equal(weft_xen_domains(&bench.xen, &d, &count, NULL), 0);
    assert_int_equal(count, 4);
    static const unsigned ids[] = {0, GUEST, 9, 12};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(d[i].id, ids[i]);
    assert_string_equal(d[0].name, "Domain-0");
    assert_string_equal(d[2].name, "a");
    free(d);
}

static char **list_refused(void *context, const char *path, unsigned *count)
{
    (void)context, (void)path, (void)count;
    errno = EACCES;
    return NULL;
}

TEST(a_guest_cannot_look_at_others)
{
    struct weft_xen_domain *d;
    uint32_t count;
    struct weft_error err;
    bench.xen.list = list_refused;
    assert_int_equal(weft_xen_domains(&bench.xen, &d, &count, &err), WEFT_E_IO);
    assert_non_null(strstr(err.text, "run weft in the control domain, as root"));
    assert_null(d);
    assert_int_equal(count, 0);
}

/* ---- Failures ---- */

static int look_at_everything(struct weft_error *err)
{
    struct weft_xen_domain *d, one;
    uint32_t count;
    struct weft_xen_ring *ring = NULL;
    int rc = weft_xen_domains(&bench.xen, &d, &count, err);
    free(d);
    if (rc == 0)
        rc = weft_xen_find(&bench.xen, "web", &one, err);
    unsigned char head[WEFT_XEN_PAGE];
    uint64_t bytes;
    if (rc == 0)
        rc = weft_xen_look(&bench.xen, one.id, head, &bytes, err);
    if (rc == 0)
        rc = weft_xen_open(&ring, &bench.xen, one.id, WEFT_XEN_BYTES_MAX, err);
    assert_true((rc == 0) == (ring != NULL));
    weft_xen_close(ring);
    return rc;
}

/* Whatever fails, it is said, and nothing is left over. */
static void until_nothing_fails(_Atomic long *counter)
{
    const long before = live;
    struct weft_error err;
    for (long n = 1;; n++) {
        memset(&err, 0, sizeof err);
        *counter = n;
        int rc = look_at_everything(&err);
        const bool failed = *counter == 0;
        *counter = 0;
        assert_int_equal(live, before);
        assert_int_equal(bench.machine.mapped, 0);
        assert_int_equal(rc < 0, failed);
        if (!failed)
            break;
        assert_int_equal(err.code, rc);
        assert_harmless(err.text);
        assert_true(n < 1000);
    }
}

TEST(failures_are_handled)
{
    struct weft_xen_share share;
    static const uint64_t sizes[] = {100, 600, 2500};
    for (unsigned i = 0; i < 3; i++) {
        bench.machine.taken = 0;
        unsigned char *memory = hypervisor_take(&bench.machine, sizes[i]);
        assert_true(weft_xen_grant(&share, &bench.system, 0, memory, sizes[i] * WEFT_XEN_PAGE) > 0);
        assert_int_equal(weft_xen_publish(&share), 0);
        until_nothing_fails(&fail_at);
        until_nothing_fails(&bench.machine.fail_control_at);
        weft_xen_end(&share);
    }
}

RUN_TESTS_WITH(NULL, NULL, set_up, tear_down)
