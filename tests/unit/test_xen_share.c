/* SPDX-License-Identifier: ISC */
/* A guest's side of the protocol: what it grants, what it writes where, in which order, and that nothing is left of it. */

#include "hypervisor.h"
#include "test.h"

enum { GUEST = 3, PER_INDEX = WEFT_XEN_INDEX_REFERENCES };

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- A guest with so many pages ---- */

struct bench {
    struct hypervisor machine;
    struct hypervisor_place guest, control;
    struct weft_xen_system system;
    struct weft_xen_share share;
    unsigned char *pages;
    uint64_t bytes;
};

static void bench_begin(struct bench *b, uint64_t pages)
{
    memset(&b->share, 0x5a, sizeof b->share); /* need not be initialised */
    hypervisor_init(&b->machine, pages + 1);
    hypervisor_domain(&b->machine, GUEST, "guest");
    b->guest = (struct hypervisor_place){&b->machine, GUEST};
    b->control = (struct hypervisor_place){&b->machine, 0};
    b->system = hypervisor_guest(&b->guest);
    b->pages = hypervisor_take(&b->machine, pages);
    b->bytes = pages * WEFT_XEN_PAGE;
}

static int64_t bench_grant(struct bench *b)
{
    return weft_xen_grant(&b->share, &b->system, 0, b->pages, b->bytes);
}

static void bench_end(struct bench *b)
{
    hypervisor_fini(&b->machine);
}

static const char *list_of(struct bench *b)
{
    return hypervisor_get(&b->machine, GUEST, WEFT_XEN_LIST_KEY);
}

static const char *index_of(struct bench *b)
{
    return hypervisor_get(&b->machine, GUEST, WEFT_XEN_INDEX_KEY);
}

static void assert_nothing_left(struct bench *b)
{
    assert_int_equal(b->machine.granted, 0);
    assert_null(list_of(b));
    assert_null(index_of(b));
}

/* ---- What a reader finds ---- */

static const struct hypervisor_grant *granted(struct bench *b, uint32_t reference)
{
    const struct hypervisor_grant *g = hypervisor_granted(&b->machine, GUEST, reference);
    assert_non_null(g);
    assert_int_equal(g->to, 0);
    return g;
}

/* The reference is of that page of the trace. */
static void assert_page(struct bench *b, uint32_t reference, uint64_t page)
{
    assert_int_equal(granted(b, reference)->page, page);
}

static const struct weft_xen_index *index_page(struct bench *b, uint32_t reference, unsigned level)
{
    const uint64_t page = granted(b, reference)->page;
    const struct weft_xen_index *index = (const void *)(b->machine.memory + page * WEFT_XEN_PAGE);
    assert_int_equal(memcmp(index, "wftindex", 8), 0);
    assert_true(index->magic == WEFT_XEN_INDEX_MAGIC);
    assert_int_equal(index->version, WEFT_XEN_INDEX_VERSION);
    assert_int_equal(index->level, level);
    assert_in_range(index->count, 1, PER_INDEX);
    for (uint32_t i = index->count; i < PER_INDEX; i++)
        assert_int_equal(index->reference[i], 0);
    return index;
}

static uint64_t check_list(struct bench *b)
{
    const char *at = list_of(b);
    uint64_t n = 0;
    assert_null(index_of(b));
    assert_in_range(strlen(at), 1, WEFT_XEN_LIST_MAX);
    for (;; at++) {
        char *end;
        assert_true(*at >= '1' && *at <= '9');
        assert_page(b, (uint32_t)strtoul(at, &end, 10), n++);
        at = end;
        if (!*at)
            return n;
        assert_int_equal(*at, ',');
    }
}

static uint64_t check_level_0(struct bench *b, uint32_t reference, uint64_t first)
{
    const struct weft_xen_index *index = index_page(b, reference, 0);
    for (uint32_t i = 0; i < index->count; i++)
        assert_page(b, index->reference[i], first + i);
    return index->count;
}

static uint64_t check_index(struct bench *b)
{
    char *end;
    const uint32_t top = (uint32_t)strtoul(index_of(b), &end, 10);
    assert_null(list_of(b));
    assert_int_equal(*end, 0);
    const uint64_t page = granted(b, top)->page;
    const struct weft_xen_index *root = (const void *)(b->machine.memory + page * WEFT_XEN_PAGE);
    if (root->level == 0)
        return check_level_0(b, top, 0);
    uint64_t n = 0;
    root = index_page(b, top, 1);
    assert_true(root->count > 1);
    for (uint32_t i = 0; i < root->count; i++) {
        assert_int_equal(n % PER_INDEX, 0);
        n += check_level_0(b, root->reference[i], n);
    }
    return n;
}

/* ---- Sizes ---- */

/* So many pages, with which so many are for the trace, shared as a list or by so many index pages. */
static const struct {
    uint64_t pages, trace;
    unsigned indices;
} sizes[] = {
    {3, 1, 0},       {4, 2, 0},       {18, 16, 0},     {514, 512, 0},   {900, 898, 1},
    {1022, 1020, 1}, {1023, 1020, 1}, {1024, 1021, 3}, {1025, 1022, 3}, {2043, 2040, 3},
    {2044, 2040, 3}, {2045, 2041, 4}, {5000, 4994, 6},
};

TEST(test_sizes)
{
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        struct bench b;
        bench_begin(&b, sizes[i].pages);
        b.bytes += 4095 * (i % 2); /* less than a page is left over */
        assert_int_equal(bench_grant(&b), sizes[i].trace * WEFT_XEN_PAGE);
        assert_int_equal(b.machine.granted, sizes[i].trace + sizes[i].indices);
        assert_null(list_of(&b));
        assert_null(index_of(&b));
        memset(b.pages, 0xee, sizes[i].trace * WEFT_XEN_PAGE); /* which is all the caller's */
        assert_int_equal(weft_xen_publish(&b.share), 0);
        assert_int_equal(sizes[i].indices ? check_index(&b) : check_list(&b), sizes[i].trace);
        weft_xen_withdraw(&b.share);
        assert_null(list_of(&b));
        assert_null(index_of(&b));
        assert_int_equal(b.machine.granted, sizes[i].trace + sizes[i].indices);
        weft_xen_end(&b.share);
        assert_nothing_left(&b);
        bench_end(&b);
    }
}

static uint32_t four_digits_but(uint32_t n, uint32_t longer)
{
    return n < longer ? 10000 + n : 1000 + n;
}

static uint32_t just_fits(uint32_t n)
{
    return four_digits_but(n, 1);
}

static uint32_t just_does_not(uint32_t n)
{
    return four_digits_but(n, 2);
}

static uint32_t longest(uint32_t n)
{
    return UINT32_MAX - n;
}

TEST(test_list_limit)
{
    static const struct {
        uint32_t (*number)(uint32_t n);
        uint64_t trace;
        bool fits;
    } cases[] = {{just_fits, 403, true},
                 {just_does_not, 403, false},
                 {longest, 183, true},
                 {longest, 184, false},
                 {longest, 1500, false}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        const uint64_t more = cases[i].trace > PER_INDEX ? 3 : 2;
        bench_begin(&b, cases[i].trace + more);
        b.machine.number = cases[i].number;
        assert_int_equal(bench_grant(&b), cases[i].trace * WEFT_XEN_PAGE);
        assert_int_equal(weft_xen_publish(&b.share), 0);
        assert_int_equal(cases[i].fits ? check_list(&b) : check_index(&b), cases[i].trace);
        if (cases[i].number == just_fits)
            assert_int_equal(strlen(list_of(&b)), WEFT_XEN_LIST_MAX);
        weft_xen_end(&b.share);
        assert_nothing_left(&b);
        bench_end(&b);
    }
}

static uint32_t given(uint32_t n)
{
    return (const uint32_t[]){8, 4294967295u, 10, 0, 99, 100}[n];
}

TEST(test_text)
{
    struct bench b;
    bench_begin(&b, 8);
    b.machine.number = given;
    assert_int_equal(bench_grant(&b), 6 * WEFT_XEN_PAGE);
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_string_equal(list_of(&b), "8,4294967295,10,0,99,100");
    weft_xen_end(&b.share);
    bench_end(&b);
}

/* ---- Much, with memory that is not there ---- */

struct cheap {
    unsigned char *memory;
    uint64_t granted, ended, in_order;
    uint32_t top;
    char value[32];
};

/* Any two are different, also to those that count in other ways. */
static uint32_t cheap_reference(uint64_t page)
{
    return (uint32_t)page * 2654435761u + 7;
}

static int cheap_grant(void *context, unsigned domain, void *page, uint32_t *reference)
{
    struct cheap *c = context;
    const uint64_t n = (uint64_t)((unsigned char *)page - c->memory) / WEFT_XEN_PAGE;
    assert_int_equal(domain, 9);
    c->in_order += n == c->granted;
    c->granted++;
    *reference = cheap_reference(n);
    return 0;
}

static void cheap_end(void *context, void *page, uint32_t reference)
{
    struct cheap *c = context;
    const uint64_t n = (uint64_t)((unsigned char *)page - c->memory) / WEFT_XEN_PAGE;
    c->ended += reference == cheap_reference(n) && n == c->granted - c->ended - 1;
}

static int cheap_write(void *context, const char *key, const char *value)
{
    struct cheap *c = context;
    assert_string_equal(key, WEFT_XEN_INDEX_KEY);
    snprintf(c->value, sizeof c->value, "%s", value);
    return 0;
}

static int cheap_remove(void *context, const char *key)
{
    struct cheap *c = context;
    if (strcmp(key, WEFT_XEN_INDEX_KEY) == 0)
        c->value[0] = 0;
    return 0;
}

/* pages: all of them; only those behind the trace may be touched. */
static void share_cheaply(uint64_t pages, uint64_t trace, uint64_t indices)
{
    struct cheap c = {0};
    const struct weft_xen_system system = {sizeof system, &c,          cheap_grant,
                                           cheap_end,     cheap_write, cheap_remove};
    struct weft_xen_share share;
    char top[16];
    c.memory = mmap(NULL, pages * WEFT_XEN_PAGE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(c.memory, MAP_FAILED);
    struct weft_xen_index *index = (void *)(c.memory + trace * WEFT_XEN_PAGE);
    assert_int_equal(mprotect(index, (pages - trace) * WEFT_XEN_PAGE, PROT_READ | PROT_WRITE), 0);
    assert_int_equal(weft_xen_grant(&share, &system, 9, c.memory, pages * WEFT_XEN_PAGE),
                     trace * WEFT_XEN_PAGE);
    assert_int_equal(c.granted, trace + indices + 1);
    assert_int_equal(c.in_order, c.granted);
    assert_int_equal(weft_xen_publish(&share), 0);
    snprintf(top, sizeof top, "%u", cheap_reference(trace + indices));
    assert_string_equal(c.value, top);
    assert_int_equal(index[indices].level, 1);
    assert_int_equal(index[indices].count, indices);
    for (uint64_t i = 0, wrong = 0; i < indices; i++) {
        wrong += index[indices].reference[i] != cheap_reference(trace + i);
        wrong += index[i].level != 0;
        wrong += index[i].count != (i + 1 < indices ? PER_INDEX : trace - i * PER_INDEX);
        for (uint32_t k = 0; k < index[i].count; k++)
            wrong += index[i].reference[k] != cheap_reference(i * PER_INDEX + k);
        assert_int_equal(wrong, 0);
    }
    weft_xen_end(&share);
    assert_string_equal(c.value, "");
    assert_int_equal(c.ended, c.granted);
    munmap(c.memory, pages * WEFT_XEN_PAGE);
}

TEST(test_much)
{
    share_cheaply(262144, 261886, 257); /* 1 GiB */
    /* All that there can be; and a page too much, which is left over. */
    share_cheaply(WEFT_XEN_PAGES_MAX + PER_INDEX + 1, WEFT_XEN_PAGES_MAX, PER_INDEX);
    share_cheaply(WEFT_XEN_PAGES_MAX + PER_INDEX + 2, WEFT_XEN_PAGES_MAX, PER_INDEX);
}

/* ---- Order ---- */

static void assert_log(struct bench *b, const char *wanted)
{
    assert_string_equal(b->machine.log, wanted);
    memset(b->machine.log, 0, sizeof b->machine.log);
    b->machine.logged = 0;
}

/* Granted, then published; the other key is removed before. Withdrawn, then ended. */
TEST(test_order)
{
    struct bench b;
    bench_begin(&b, 5);
    assert_true(bench_grant(&b) > 0);
    assert_log(&b, "ggg");
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_log(&b, "rw");
    weft_xen_end(&b.share);
    assert_log(&b, "reee");
    weft_xen_end(&b.share);
    weft_xen_withdraw(&b.share);
    assert_log(&b, "");
    assert_true(bench_grant(&b) > 0);
    weft_xen_withdraw(&b.share); /* it is not published */
    weft_xen_end(&b.share);
    assert_log(&b, "gggeee");
    bench_end(&b);
}

TEST(test_again)
{
    struct bench b;
    bench_begin(&b, 6);
    hypervisor_put(&b.machine, GUEST, WEFT_XEN_INDEX_KEY, "17"); /* of one that was killed */
    assert_true(bench_grant(&b) > 0);
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_int_equal(check_list(&b), 4);
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_int_equal(check_list(&b), 4);
    hypervisor_put(&b.machine, GUEST, WEFT_XEN_LIST_KEY, NULL); /* XenStore has lost it */
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_int_equal(check_list(&b), 4);
    weft_xen_withdraw(&b.share);
    weft_xen_withdraw(&b.share);
    assert_null(list_of(&b));
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_int_equal(check_list(&b), 4);
    weft_xen_end(&b.share);
    assert_nothing_left(&b);
    assert_int_equal(weft_xen_publish(&b.share), WEFT_XEN_INVALID);
    assert_nothing_left(&b);
    bench_end(&b);
}

/* The other way round: a list is there, and an index is to be. */
TEST(test_other_key)
{
    struct bench b;
    bench_begin(&b, 700);
    hypervisor_put(&b.machine, GUEST, WEFT_XEN_LIST_KEY, "1,2,3");
    assert_true(bench_grant(&b) > 0);
    assert_int_equal(weft_xen_publish(&b.share), 0);
    assert_int_equal(check_index(&b), 698);
    weft_xen_end(&b.share);
    assert_nothing_left(&b);
    bench_end(&b);
}

/* ---- Failures ---- */

/* Each call fails once. */
static void fail_each(uint64_t pages, unsigned calls)
{
    struct bench b;
    bench_begin(&b, pages);
    for (unsigned n = 1; n <= calls; n++) {
        b.machine.fail_at = n;
        const bool in_grant = n <= calls - 2;
        int64_t room = bench_grant(&b);
        assert_int_equal(room < 0, in_grant);
        if (in_grant)
            assert_int_equal(room, -ENOSPC);
        else
            assert_int_equal(weft_xen_publish(&b.share), -EIO);
        assert_int_equal(b.machine.fail_at, 0);
        assert_null(list_of(&b));
        assert_null(index_of(&b));
        if (!in_grant)
            weft_xen_end(&b.share);
        assert_nothing_left(&b);
        weft_xen_end(&b.share);
    }
    assert_true(bench_grant(&b) > 0);
    assert_int_equal(weft_xen_publish(&b.share), 0);
    b.machine.fail_at = 1; /* XenStore is gone: the grants end all the same */
    weft_xen_end(&b.share);
    assert_int_equal(b.machine.granted, 0);
    bench_end(&b);
}

TEST(test_failures)
{
    fail_each(4, 2 + 2);
    fail_each(800, 798 + 1 + 2);
    fail_each(1024, 1021 + 3 + 2);
}

TEST(test_invalid)
{
    struct bench b;
    bench_begin(&b, 8);
    assert_int_equal(weft_xen_grant(&b.share, NULL, 0, b.pages, b.bytes), WEFT_XEN_INVALID);
    assert_int_equal(weft_xen_grant(&b.share, &b.system, 0, NULL, b.bytes), WEFT_XEN_INVALID);
    assert_int_equal(weft_xen_grant(&b.share, &b.system, 0, b.pages + 8, b.bytes - 4096),
                     WEFT_XEN_INVALID);
    assert_int_equal(weft_xen_publish(&b.share), WEFT_XEN_INVALID);
    weft_xen_withdraw(&b.share);
    weft_xen_end(&b.share);
    static const uint64_t bytes[] = {
        0,          1,
        4096,       3 * 4096 - 1,
        UINT64_MAX, (WEFT_XEN_PAGES_MAX + PER_INDEX + 3) * UINT64_C(4096)};
    for (unsigned i = 0; i < COUNT(bytes); i++)
        assert_int_equal(weft_xen_grant(&b.share, &b.system, 0, b.pages, bytes[i]),
                         WEFT_XEN_INVALID);
    for (unsigned i = 0; i < 4; i++) {
        struct weft_xen_system lacks = b.system;
        if (i == 0)
            lacks.grant = NULL;
        else if (i == 1)
            lacks.end = NULL;
        else if (i == 2)
            lacks.write = NULL;
        else
            lacks.remove = NULL;
        assert_int_equal(weft_xen_grant(&b.share, &lacks, 0, b.pages, b.bytes), WEFT_XEN_INVALID);
    }
    assert_string_equal(b.machine.log, "");
    bench_end(&b);
}

/* What the library does not know must be zeros; what does not belong to the structure is not read. */
TEST(test_struct_size)
{
    struct bench b;
    struct {
        struct weft_xen_system known;
        void *unknown[4];
    } later;
    bench_begin(&b, 8);
    later.known = b.system;
    memset(later.unknown, 0x7e, sizeof later.unknown);
    later.known.size = 0;
    assert_true(weft_xen_grant(&b.share, &later.known, 0, b.pages, b.bytes) > 0);
    weft_xen_end(&b.share);
    later.known.size = sizeof later;
    assert_int_equal(weft_xen_grant(&b.share, &later.known, 0, b.pages, b.bytes), WEFT_XEN_TOO_NEW);
    memset(later.unknown, 0, sizeof later.unknown);
    assert_true(weft_xen_grant(&b.share, &later.known, 0, b.pages, b.bytes) > 0);
    weft_xen_end(&b.share);

    const size_t size = offsetof(struct weft_xen_system, remove);
    void *earlier = malloc(size); /* nothing behind it may be read */
    assert_non_null(earlier);
    b.system.size = size;
    memcpy(earlier, &b.system, size);
    assert_int_equal(weft_xen_grant(&b.share, earlier, 0, b.pages, b.bytes), WEFT_XEN_INVALID);
    free(earlier);
    assert_nothing_left(&b);
    bench_end(&b);
}

RUN_TESTS(NULL, NULL)
