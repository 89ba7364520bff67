/* SPDX-License-Identifier: ISC */
/* The roll: pending promises of which only number and sort were kept. This counts them for each
 * sort, without those that a cell or a packet still mentions. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/listed.h"
#include "read/weft.h"

enum { BLOCK = 64 << 10 }; /* bytes read at a time: the size of the reader's window */

bool read_roll_fits(const struct weft_roll_header *h, uint64_t header_bytes, uint64_t content)
{
    uint64_t sorts = (uint64_t)h->sorts * h->sort_bytes;
    return h->sorts <= WEFT_ROLL_SORTS_MAX && h->sort_bytes >= WEFT_ROLL_SORT_V1_1 &&
           h->sorts_at >= header_bytes && h->sorts_at <= content &&
           sorts <= content - h->sorts_at && h->numbers_at >= header_bytes &&
           h->numbers_at <= content && h->numbers <= (content - h->numbers_at) / sizeof(uint64_t);
}

/* Reads the list of sorts. sites: where each is in the list, by its site. */
static int read_sorts(struct weft_file *f, const struct weft_roll_header *h,
                      struct weft_idmap *sites, struct weft_error *err)
{
    struct weft_roll_sort s = {.site = 0};
    const size_t size = h->sort_bytes < sizeof s ? h->sort_bytes : sizeof s;
    for (uint32_t i = 0; i < h->sorts; i++) {
        uint64_t at = f->roll.offset + h->sorts_at + (uint64_t)i * h->sort_bytes;
        int rc = read_whole(&f->common.input, &s, size, at, err);
        if (rc <= 0)
            return rc;
        bool failed = false;
        const struct site *site = s.site ? texts_site(&f->texts, s.site, &failed) : NULL;
        if (failed || !weft_idmap_put(sites, s.site, i))
            return read_no_promises(err);
        f->sort[i].origin = site ? &site->origin : NULL;
        f->sort[i].unlisted = s.unlisted;
        f->sort[i].left_out = s.left_out;
    }
    return 0;
}

/* Calls a function for each word that is in a place. */
static int each_number(struct weft_file *f, const struct weft_roll_header *h, roll_use_fn *use,
                       void *data, struct weft_error *err)
{
    for (uint64_t first = 0, n; first < h->numbers; first += n) {
        n = h->numbers - first < BLOCK / 8 ? h->numbers - first : BLOCK / 8;
        ptrdiff_t got = weft_input_read(&f->common.input, f->window, (size_t)n * 8,
                                        f->roll.offset + h->numbers_at + first * 8, err);
        if (got < 0)
            return (int)got;
        for (ptrdiff_t at = 0; at + 8 <= got; at += 8) {
            const uint64_t word = format_u64(f->window + at);
            if (word && !use(data, word))
                return read_no_promises(err);
        }
    }
    return 0;
}

/* A roll_use_fn. */
static bool count_number(void *file, uint64_t word)
{
    struct weft_file *f = file;
    uint32_t sort = (uint32_t)word & (WEFT_ROLL_SORTS_MAX - 1);
    if (sort < f->sorts && sort != WEFT_ROLL_FRESH &&
        !read_pending_tells(f, word >> WEFT_ROLL_SORT_BITS))
        f->sort[sort].pending++;
    return true;
}

/* Returns 1; 0 if its tables are not within the packet; or a negative code. */
static int read_header(struct weft_file *f, struct weft_roll_header *h, struct weft_error *err)
{
    int rc = read_whole(&f->common.input, h, sizeof *h, f->roll.offset, err);
    return rc > 0 ? read_roll_fits(h, f->roll.header_bytes, f->roll.content) : rc;
}

int read_roll_numbers(struct weft_file *f, roll_use_fn *use, void *data, struct weft_error *err)
{
    struct weft_roll_header h;
    int rc = f->roll.content ? read_header(f, &h, err) : 0;
    return rc > 0 ? each_number(f, &h, use, data, err) : rc;
}

static int by_count(const void *a, const void *b)
{
    const struct weft_given_up *x = a, *y = b;
    WEFT_ORDER(y->pending, x->pending);
    WEFT_ORDER(y->unlisted, x->unlisted);
    return weft_order(y->left_out, x->left_out);
}

/* Adds the promises that found no room, according to the cells. Those without a sort count towards
 * the first sort, which includes all others. */
static void add_left_out(struct weft_file *f, struct weft_idmap *sites, const struct cells *c)
{
    for (uint64_t i = 0; i < c->knowns && f->sorts; i++) {
        const struct weft_pending_cell *cell = &c->known[i].cell;
        const uint32_t sort = cell->site ? weft_idmap_seek(sites, cell->site) : WEFT_IDMAP_NONE;
        if (!c->known[i].resolved)
            f->sort[sort == WEFT_IDMAP_NONE ? 0 : sort].left_out += cell->dropped;
    }
}

int read_roll_load(struct weft_file *f, const struct cells *cells, struct weft_error *err)
{
    struct weft_promotion *facts = &f->common.facts.promotion;
    struct weft_roll_header h;
    if (!f->roll.content)
        return 0;
    int rc = read_header(f, &h, err);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        read_reader_problem(&f->common, f->roll.offset + sizeof h.packet, 0,
                            "packet of %" PRIu64 " bytes says it holds %u sorts after %" PRIu64
                            " and %" PRIu64 " numbers after %" PRIu64 "; skipped",
                            f->roll.content, h.sorts, h.sorts_at, h.numbers, h.numbers_at);
        return 0;
    }
    f->sort = calloc((size_t)h.sorts + 1, sizeof *f->sort);
    f->sorts = h.sorts;
    struct weft_idmap *sites = weft_idmap_new();
    rc = f->sort && sites ? read_sorts(f, &h, sites, err) : read_no_promises(err);
    if (rc == 0)
        rc = each_number(f, &h, count_number, f, err);
    if (rc == 0)
        add_left_out(f, sites, cells);
    weft_idmap_free(sites);
    if (!f->sort)
        return rc;
    qsort(f->sort, h.sorts, sizeof *f->sort, by_count);
    facts->sort = f->sort;
    for (const struct weft_given_up *s = f->sort; s < f->sort + h.sorts; s++) {
        if (!s->pending && !s->unlisted && !s->left_out)
            break;
        facts->sorts++;
        facts->numbered += s->pending;
        facts->unlisted += s->unlisted;
        facts->left_out += s->left_out;
    }
    return rc;
}
