/* SPDX-License-Identifier: ISC */
/* Reads the cells of a packet of pending promises, which may be written to in the meantime. When a
 * cell is taken, its number is stored last. While a cell is written to, its version is odd. */
#include <stdlib.h>
#include <string.h>

#include "read/weft.h"

enum {
    BYTES_MAX = 4096, /* the largest size of a cell */
    BLOCK = 64 << 10, /* bytes of cells that are read at a time */
    TRIES = 4,        /* attempts to read a cell in one piece */
};

/* Returns true if the tables lie within the packet. */
static bool tables_fit(const struct weft_pending_header *h, const struct place *p)
{
    uint64_t ids = (uint64_t)h->cells * sizeof(uint64_t);
    uint64_t cells = (uint64_t)h->cells * h->cell_bytes;
    return h->cell_bytes >= sizeof(struct weft_pending_cell) && h->cell_bytes <= BYTES_MAX &&
           h->ids_at >= p->header_bytes && h->ids_at <= p->content &&
           ids <= p->content - h->ids_at && h->cells_at >= p->header_bytes &&
           h->cells_at <= p->content && cells <= p->content - h->cells_at;
}

static int read_ids(const struct cells *c, uint32_t first, uint32_t n, uint64_t *ids)
{
    const uint64_t at = c->offset + c->h.ids_at + (uint64_t)first * sizeof *ids;
    return read_filled(c->in, ids, n * sizeof *ids, at, c->err);
}

/* Reads n cells, starting with number first, and their numbers before them. */
static int read_both(const struct cells *c, uint32_t first, uint32_t n, uint64_t *ids,
                     unsigned char *cells)
{
    TRY(read_ids(c, first, n, ids));
    size_t size = (size_t)n * c->h.cell_bytes;
    uint64_t at = c->offset + c->h.cells_at + (uint64_t)first * c->h.cell_bytes;
    return read_filled(c->in, cells, size, at, c->err);
}

static bool is_same_version(const unsigned char *cell, const unsigned char *again)
{
    uint32_t x, y;
    memcpy(&x, cell, sizeof x); /* a cell begins with its version */
    memcpy(&y, again, sizeof y);
    return x == y && x % 2 == 0;
}

/* Adds cell i, which has been read twice. If it changed between the two reads, it is read again. If
 * it never becomes stable, the writer was killed in the middle of a change, and what is there is
 * valid. */
static int add_cell(struct cells *c, uint32_t i, uint64_t ids[2], const unsigned char *cell,
                    const unsigned char *again)
{
    unsigned char one[2][BYTES_MAX];
    const unsigned char *best = again;
    for (int tries = 0; tries < TRIES && ids[1]; tries++) {
        if (((ids[0] ^ ids[1]) & ~WEFT_PENDING_RESOLVED) == 0 && is_same_version(cell, again)) {
            best = cell; /* it was read between the two versions */
            break;
        }
        for (int n = 0; n < 2; n++)
            TRY(read_both(c, i, 1, &ids[n], one[n]));
        cell = one[0];
        best = again = one[1];
    }
    struct known k = {.id = ids[1] & ~WEFT_PENDING_RESOLVED, .place = i};
    k.resolved = k.id != ids[1];
    memcpy(&k.cell, best, sizeof k.cell);
    if (!k.id)
        return 0;
    if (!weft_reserve(&c->known, c->knowns, &c->room, sizeof k))
        return read_no_promises(c->err);
    c->known[c->knowns++] = k;
    return 0;
}

static int read_cells(struct cells *c, unsigned char *cells, unsigned char *again)
{
    uint64_t ids[BLOCK / sizeof(struct weft_pending_cell)], ids_again[sizeof ids / sizeof *ids];
    uint32_t step = BLOCK / c->h.cell_bytes;
    for (uint32_t first = 0, n; first < c->h.cells; first += n) {
        n = c->h.cells - first < step ? c->h.cells - first : step;
        int rc = read_ids(c, first, n, ids);
        bool used = false;
        for (uint32_t i = 0; i < n; i++)
            used |= ids[i] != 0;
        if (rc == 0 && used)
            rc = read_both(c, first, n, ids, cells);
        if (rc == 0 && used)
            rc = read_both(c, first, n, ids_again, again);
        for (uint32_t i = 0; i < n && used && rc == 0; i++) {
            size_t at = (size_t)i * c->h.cell_bytes;
            uint64_t both[2] = {ids[i], ids_again[i]};
            if (both[0] | both[1])
                rc = add_cell(c, first + i, both, cells + at, again + at);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

int read_cells_load(struct cells *c, const struct weft_input *in, const struct place *p,
                    struct weft_error *err)
{
    c->in = in;
    c->offset = p->offset;
    c->err = err;
    int rc = read_whole(in, &c->h, sizeof c->h, p->offset, err);
    if (rc <= 0 || !tables_fit(&c->h, p))
        return rc < 0 ? rc : 0;
    unsigned char *cells = malloc(2 * (size_t)BLOCK);
    rc = cells ? read_cells(c, cells, cells + BLOCK) : read_no_promises(err);
    free(cells);
    return rc < 0 ? rc : 1;
}

void read_cells_fini(struct cells *c)
{
    free(c->known);
    *c = (struct cells){.knowns = 0};
}

/* Emptied packets */

int read_emptied_add(struct emptieds *e, const struct weft_input *in, uint64_t at, uint64_t size,
                     const struct weft_events_header *h, struct weft_error *err)
{
    struct weft_events_header again;
    if (h->sequence || !h->base || h->packet.header_bytes > size || !format_has_ended(h))
        return 0;
    unsigned char *bytes = malloc(h->ended_count);
    struct emptied new = {.base = h->base, .count = h->ended_count};
    new.bits = calloc(new.count / 64 + 1, sizeof *new.bits);
    ptrdiff_t got;
    if (bytes && new.bits && weft_reserve(&e->packet, e->packets, &e->room, sizeof *e->packet))
        got = weft_input_read(in, bytes, h->ended_count, at + h->ended_at, err);
    else
        got = weft_error_set(err, WEFT_E_NOMEM, at, "out of memory for its promises");
    for (ptrdiff_t i = 0; i < got; i++)
        new.bits[i / 64] |= (uint64_t)((bytes[i] & WEFT_BYTE_BECAME) == WEFT_BYTE_ENDED) << i % 64;
    /* The cell's next owner clears the bytes before it changes the base. */
    if (got > 0)
        got = weft_input_read(in, &again, sizeof again, at, err);
    if (got == (ptrdiff_t)sizeof again && again.base == h->base) {
        e->packet[e->packets++] = new;
        new.bits = NULL;
    }
    weft_free_all(new.bits, bytes);
    return got < 0 ? (int)got : 0;
}

static int compare_range(const void *key, const void *member)
{
    const uint64_t id = *(const uint64_t *)key;
    const struct emptied *e = member;
    return id < e->base ? -1 : id - e->base >= e->count;
}

void read_emptied_mark(struct emptieds *e, struct cells *c)
{
    /* only once: a malicious file may have cells in a million packets */
    if (e->sorted < e->packets)
        qsort(e->packet, e->packets, sizeof *e->packet, weft_order_u64); /* by base */
    e->sorted = e->packets;
    for (uint64_t i = 0; i < c->knowns && e->packets; i++) {
        struct known *k = &c->known[i];
        const struct emptied *of =
            bsearch(&k->id, e->packet, e->packets, sizeof *e->packet, compare_range);
        uint64_t n = of ? k->id - of->base : 0;
        k->ended = of && (of->bits[n / 64] >> n % 64 & 1);
    }
}

void read_emptied_fini(struct emptieds *e)
{
    for (size_t i = 0; i < e->packets; i++)
        free(e->packet[i].bits);
    free(e->packet);
    *e = (struct emptieds){.packets = 0};
}
