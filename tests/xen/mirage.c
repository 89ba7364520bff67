/* SPDX-License-Identifier: ISC */
/* A guest of the old kind: writes mirage-profile's own format into pages that it shares, at full speed, round and round.
 * Each event is a counter's new value, from which its number and its text follow (../record/pattern.h).
 *
 *     mirage [PAGES]                           until it is killed
 *
 * docs/format.md and mirage-profile's mProf.ml say how the packets change. As there, a packet's content size grows before
 * the event is written. */
#include <err.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xengnttab.h>

#include "../record/pattern.h"
#include "format/mirage.h"
#include "format/xen.h"
#include "orders.h"

enum { PACKETS = 4 };

struct ring {
    unsigned char *start;
    uint32_t packet_bytes;
    unsigned packet; /* the present one */
    uint16_t sequence;
    uint32_t content;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Makes the packet an empty one with that number. */
static unsigned char *begin(struct ring *r, unsigned packet, uint16_t sequence)
{
    unsigned char *at = r->start + (size_t)packet * r->packet_bytes;
    r->packet = packet;
    r->sequence = sequence;
    r->content = WEFT_MIRAGE_HEADER_SIZE;
    weft_mirage_header_write(at, (struct weft_mirage_header){.packet_bits = r->packet_bytes * 8,
                                                             .content_bits = r->content * 8,
                                                             .sequence = sequence});
    return at;
}

static void write_event(struct ring *r, uint64_t n)
{
    char text[128];
    pattern_text(text, n);
    uint32_t size = 8 + 1 + 8 + 8 + (uint32_t)strlen(text) + 1;
    unsigned char *packet = r->start + (size_t)r->packet * r->packet_bytes;
    if (r->content + size > r->packet_bytes)
        packet = begin(r, (r->packet + 1) % PACKETS, (uint16_t)(r->sequence + 1));
    unsigned char *at = packet + r->content;
    r->content += size;
    weft_write_u32(packet + 26, r->content * 8);
    atomic_signal_fence(memory_order_seq_cst);
    weft_write_u64(at, now_ns());
    at[8] = 11; /* counter */
    weft_write_u64(at + 9, n);
    weft_write_u64(at + 17, pattern_check(n));
    memcpy(at + 25, text, strlen(text) + 1);
}

int main(int argc, char **argv)
{
    uint32_t pages = argc > 1 ? (uint32_t)atoi(argv[1]) : 64;
    uint32_t *reference = calloc(pages, sizeof *reference);
    char list[WEFT_XEN_LIST_MAX + 16] = "";
    size_t at = 0;
    xengntshr_handle *share = xengntshr_open(NULL, 0);
    struct ring r = {.packet_bytes = pages / PACKETS * WEFT_XEN_PAGE};
    struct xs_handle *xs = xs_open(0);
    if (!share || !reference || !xs || !r.packet_bytes)
        err(1, "mirage");
    r.start = xengntshr_share_pages(share, 0, (int)pages, reference, 0);
    if (!r.start)
        err(1, "cannot share %" PRIu32 " pages", pages);
    for (unsigned p = PACKETS; p-- > 0;)
        begin(&r, p, (uint16_t)p);
    for (uint32_t i = 0; i < pages && at < WEFT_XEN_LIST_MAX; i++)
        at +=
            (size_t)snprintf(list + at, sizeof list - at, "%s%" PRIu32, i ? "," : "", reference[i]);
    orders_write(xs, WEFT_XEN_LIST_KEY, list);
    for (uint64_t n = 1;; n++) {
        write_event(&r, n);
        if (n == 1000)
            orders_write(xs, "data/lab/ready", "1");
    }
}
