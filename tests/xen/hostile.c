/* SPDX-License-Identifier: ISC */
/* A guest that lies on purpose. Orders (data/lab/order) are names of the table `tricks`; each is in force until the next.
 * With "list" as the argument it prints the names, with what must come of each: refused, or any (a copy, or refused). */
#include "orders.h"

#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xengnttab.h>

#include "format/packet.h"
#include "format/xen.h"
#include <weft/weft.h>

enum { PAGES = 64, NOBODY = 77 };

static xengntshr_handle *share;
static struct xs_handle *xs;
static unsigned char *pages, *foreign; /* foreign: granted to a domain that there is not */
static uint32_t reference[PAGES], foreign_reference;
static struct weft_xen_index *page[2]; /* the first and the second page, as index pages */
static uint64_t dice = 88172645463325252u;
static pthread_t thread;
static bool has_thread;
static int stop;

static uint64_t roll(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    return dice ^= dice << 17;
}

/* ---- What stands in XenStore ---- */

static void put(const char *key, const void *value, size_t size)
{
    if (!xs_write(xs, XBT_NULL, key, value, (unsigned)size))
        err(1, "cannot write %s", key);
}

static void list(const char *value)
{
    put(WEFT_XEN_LIST_KEY, value, strlen(value));
}

static void list_pages(uint32_t last)
{
    char value[WEFT_XEN_LIST_MAX];
    size_t at = 0;
    for (unsigned i = 0; i < PAGES; i++)
        at += (size_t)snprintf(value + at, sizeof value - at, "%s%" PRIu32, i ? "," : "",
                               i == PAGES - 1 ? last : reference[i]);
    list(value);
}

static void list_all(void)
{
    list_pages(reference[PAGES - 1]);
}

/* As many numbers as there is room for: the piece, followed by 0, step, 2 * step …, if there is a step. */
static void fill_list(const char *piece, unsigned step)
{
    char value[WEFT_XEN_LIST_MAX + 1], number[64];
    size_t at = 0, size;
    for (unsigned i = 0;; i += step, at += size) {
        size = (size_t)(step ? snprintf(number, sizeof number, "%s%s%u", at ? "," : "", piece, i)
                             : snprintf(number, sizeof number, "%s%s", at ? "," : "", piece));
        if (at + size >= sizeof value)
            break;
        memcpy(value + at, number, size + 1);
    }
    list(value);
}

static void index_by(uint32_t number)
{
    char value[16];
    snprintf(value, sizeof value, "%" PRIu32, number);
    put(WEFT_XEN_INDEX_KEY, value, strlen(value));
}

static struct weft_xen_index *index_page(unsigned i, uint16_t level, uint32_t count)
{
    *page[i] = (struct weft_xen_index){
        .magic = WEFT_XEN_INDEX_MAGIC, .version = 1, .level = level, .count = count};
    for (uint32_t n = 0; n < WEFT_XEN_INDEX_REFERENCES; n++)
        page[i]->reference[n] = n + 2 < PAGES ? reference[n + 2] : 0;
    if (i == 0)
        index_by(reference[0]);
    return page[i];
}

/* ---- What is in the pages ---- */

/* Records into the pages, so that they hold a trace that is right. */
static void record(void)
{
    if (weft_start(
            &(struct weft_options){.memory = pages, .bytes = (uint64_t)PAGES * WEFT_XEN_PAGE}))
        errx(1, "weft_start");
    for (unsigned i = 0; i < 2000; i++)
        weft_fulfill(weft_create("task", i % 2 ? "some" : "other"));
    list_all();
}

static void random_pages(void)
{
    for (size_t i = 0; i < (size_t)PAGES * WEFT_XEN_PAGE; i += 8)
        *(uint64_t *)(void *)(pages + i) = roll();
}

/* ---- What changes all the time, in a thread ---- */

static void *flip_bytes(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        for (unsigned i = 0; i < 1000; i++)
            pages[roll() % ((uint64_t)PAGES * WEFT_XEN_PAGE)] = (unsigned char)roll();
    return unused;
}

/* Numbers in headers, wherever one stands. */
static void *lie_in_headers(void *unused)
{
    static const uint64_t numbers[] = {0, 1, 48, 4096, UINT32_MAX, INT64_MAX, UINT64_MAX};
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        for (unsigned at = 0; at < PAGES; at++) {
            struct weft_packet_header *h = (void *)(pages + (size_t)at * WEFT_XEN_PAGE);
            if (h->magic != WEFT_PACKET_MAGIC)
                continue;
            uint64_t *word = (uint64_t *)(void *)h + 4 + roll() % 18;
            uint64_t was = *word;
            *(volatile uint64_t *)word = roll() % 2 ? numbers[roll() % 7] : roll();
            for (volatile unsigned wait = (unsigned)(roll() % 5000); wait > 0; wait--)
                ;
            *(volatile uint64_t *)word = was;
        }
    return unused;
}

static void *lie_in_index(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        page[0]->count = (uint32_t)(roll() % 3 ? PAGES - 2 : roll());
        page[0]->level = (uint16_t)(roll() % 8 ? 0 : 1);
        page[0]->reference[roll() % (PAGES - 2)] = (uint32_t)(roll() % 2 ? roll() : reference[2]);
        page[0]->reference[roll() % (PAGES - 2)] = reference[2 + roll() % (PAGES - 2)];
    }
    return unused;
}

static void *change_keys(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        list_all();
        xs_rm(xs, XBT_NULL, WEFT_XEN_LIST_KEY);
        list("8");
        index_by(reference[0]);
        xs_rm(xs, XBT_NULL, WEFT_XEN_INDEX_KEY);
    }
    return unused;
}

static void begin(void *(*what)(void *))
{
    has_thread = pthread_create(&thread, NULL, what, NULL) == 0;
    if (!has_thread)
        errx(1, "pthread_create");
}

static void stop_all(void)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    if (has_thread)
        pthread_join(thread, NULL);
    has_thread = false;
    stop = 0;
    weft_stop();
    xs_rm(xs, XBT_NULL, WEFT_XEN_INDEX_KEY);
    xs_rm(xs, XBT_NULL, WEFT_XEN_LIST_KEY);
    memset(pages, 0, (size_t)PAGES * WEFT_XEN_PAGE);
}

/* ---- Tricks ---- */

/* clang-format off */
/* X(name, verdict, statements) */
#define TRICKS(X) \
    X(list_empty, "refused", list("")) \
    X(list_text, "refused", list("all of them")) \
    X(list_control, "refused", put(WEFT_XEN_LIST_KEY, "8\033[31m\n\0\xff\xfe,9", 14)) \
    X(list_negative, "refused", list("-1")) \
    X(list_commas, "refused", list(",,,,8,,9")) \
    X(list_comma_last, "refused", list("8,9,")) \
    X(list_spaces, "refused", list("8 9 10")) \
    X(list_hexadecimal, "refused", list("0x8")) \
    X(list_overflow, "refused", list("4294967296")) \
    X(list_overflow_twice, "refused", list("18446744073709551624")) \
    X(list_long_number, "refused", fill_list("0000000000000000000000000000000000000000008", 0)) \
    X(list_repeated, "refused", (record(), list_pages(reference[0]))) \
    X(list_same, "refused", fill_list("8", 0)) \
    X(list_never_granted, "refused", (record(), list_pages(4000000))) \
    X(list_largest, "refused", (record(), list_pages(UINT32_MAX))) \
    X(list_many_never_granted, "refused", fill_list("2", 1)) \
    X(list_xenstore_page, "refused", list("1")) \
    X(list_of_another, "refused", (record(), list_pages(foreign_reference))) \
    X(index_text, "refused", put(WEFT_XEN_INDEX_KEY, "page", 4)) \
    X(index_list, "refused", put(WEFT_XEN_INDEX_KEY, "8,9", 3)) \
    X(index_empty, "refused", put(WEFT_XEN_INDEX_KEY, "", 0)) \
    X(index_never_granted, "refused", index_by(4000000)) \
    X(index_of_another, "refused", index_by(foreign_reference)) \
    X(index_zeros, "refused", index_by(reference[0])) \
    X(index_version, "refused", index_page(0, 0, 8)->version = 99) \
    X(index_level, "refused", index_page(0, 7, 8)) \
    X(index_none, "refused", index_page(0, 0, 0)) \
    X(index_many, "refused", index_page(0, 0, WEFT_XEN_INDEX_REFERENCES + 1)) \
    X(index_most, "refused", index_page(0, 0, UINT32_MAX)) \
    X(index_itself, "refused", index_page(0, 0, 8)->reference[3] = reference[0]) \
    X(index_same, "refused", index_page(0, 0, 8)->reference[3] = reference[2]) \
    X(index_root_of_itself, "refused", index_page(0, 1, 1)->reference[0] = reference[0]) \
    X(index_roots, "refused", (index_page(1, 1, 1)->reference[0] = reference[0], \
                               index_page(0, 1, 1)->reference[0] = reference[1])) \
    X(index_same_twice, "refused", many_times()) \
    X(index_partly_granted, "refused", index_page(0, 0, PAGES)) \
    X(index_over_list, "refused", (record(), index_by(4000000))) \
    X(index_changes, "any", (index_page(0, 0, PAGES - 2), begin(lie_in_index))) \
    X(keys_change, "any", begin(change_keys)) \
    X(pages_zero, "any", list_all()) \
    X(pages_random, "any", (random_pages(), list_all())) \
    X(pages_in_disorder, "any", (record(), list_disorder())) \
    X(ring_ended, "any", (record(), weft_stop(), random_tail())) \
    X(ring_random_bytes, "any", (record(), begin(flip_bytes))) \
    X(ring_headers_lie, "any", (record(), begin(lie_in_headers))) \
    X(mirage_headers_lie, "any", (mirage(), begin(lie_in_mirage)))
/* clang-format on */

/* A root all of whose references are of the same index page: 1020 times as large as it is. */
static void many_times(void)
{
    index_page(1, 0, PAGES - 2);
    index_page(0, 1, WEFT_XEN_INDEX_REFERENCES);
    for (unsigned n = 0; n < WEFT_XEN_INDEX_REFERENCES; n++)
        page[0]->reference[n] = reference[1];
}

static void list_disorder(void)
{
    for (unsigned i = 0; i < PAGES; i++) {
        unsigned other = (unsigned)(roll() % PAGES);
        uint32_t was = reference[i];
        reference[i] = reference[other];
        reference[other] = was;
    }
    list_all();
}

static void random_tail(void)
{
    memset(pages + (size_t)PAGES / 2 * WEFT_XEN_PAGE, 0xff, (size_t)PAGES / 4 * WEFT_XEN_PAGE);
}

static void mirage(void)
{
    static const unsigned char head[] =
        "\xc1\x1f\xfc\xc1\x05\x88\x3b\x8d\x52\x1a\x48\x7b\xb3\x97\x45"
        "\x6a\xb1\x50\x68\x0c\x00\x00\x08\x00\x00\x00\x00\x00\x04";
    for (unsigned p = 0; p < PAGES; p += 16) {
        memcpy(pages + (size_t)p * WEFT_XEN_PAGE, head, sizeof head);
        pages[(size_t)p * WEFT_XEN_PAGE + 24] = (unsigned char)(p / 16);
    }
    list_all();
}

static void *lie_in_mirage(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        unsigned char *head = pages + roll() % 4 * 16 * WEFT_XEN_PAGE;
        head[20 + roll() % 10] = (unsigned char)roll();
        head[23] = 0;
    }
    return unused;
}

#define X(name, verdict, does)                                                                     \
    static void trick_##name(void)                                                                 \
    {                                                                                              \
        does;                                                                                      \
    }
TRICKS(X)
#undef X

static const struct trick {
    const char *name, *verdict;
    void (*play)(void);
} tricks[] = {
#define X(name, verdict, does) {#name, verdict, trick_##name},
    TRICKS(X)
#undef X
};

static void play(const char *name)
{
    for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
        if (!strcmp(tricks[i].name, name)) {
            tricks[i].play();
            return;
        }
    errx(2, "no trick %s", name);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
            printf("%s %s\n", tricks[i].name, tricks[i].verdict);
        return 0;
    }
    struct orders o;
    orders_open(&o, "data/lab/order");
    xs = xs_open(0);
    share = xengntshr_open(NULL, 0);
    if (!xs || !share)
        err(1, "hostile");
    pages = xengntshr_share_pages(share, 0, PAGES, reference, 0);
    foreign = xengntshr_share_pages(share, NOBODY, 1, &foreign_reference, 0);
    if (!pages || !foreign)
        err(1, "cannot share");
    for (unsigned i = 0; i < 2; i++)
        page[i] = (void *)(pages + (size_t)i * WEFT_XEN_PAGE);
    orders_write(o.xs, "data/lab/ready", "1");
    for (;;) {
        const char *name = orders_next(&o);
        stop_all();
        if (strcmp(name, "nothing"))
            play(name);
        orders_answer(&o, "yes");
    }
}
