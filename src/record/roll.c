/* SPDX-License-Identifier: ISC */
/* The roll: the list of pending promises that have no cell, by number and sort (a sort is all promises created
 * at one site).
 *
 * A promise's number selects two cache lines of the roll, and it is in one of them. So finding it and taking it
 * off when it ends costs two cache lines.
 *
 * A promise that loses its cell is put on the roll first, and whoever ends a promise looks at the cells first:
 * so it finds one or the other. A promise that gets a cell again is taken off the roll last. In between, or if
 * the process is killed in between, the promise is in both; the reader believes the cell.
 *
 * (V) Whoever finds a number finds the site of its sort, too. No scene of tests/model shows that: a thread that wants the
 * site has taken a cell before, and the cells of the thread that knew the sort carry the site. It must see old values of all
 * of them to miss it, more than a scene can try. */
#include "record/roll.h"

#include "format/listed.h"
#include "record/record.h"

enum {
    LINE = 8,    /* numbers in 64 bytes */
    PROBES = 32, /* entries of the table of sorts that are tried */
};

#define NUMBER_MAX (UINT64_MAX >> WEFT_ROLL_SORT_BITS)

static struct weft_roll_sort *sort_at(unsigned i)
{
    struct weft_roll_header *h = weft_record_rec.roll;
    return (struct weft_roll_sort *)(void *)((unsigned char *)h + h->sorts_at) + i;
}

uint64_t weft_record_roll_bytes(const struct layout *l)
{
    return sizeof(struct weft_roll_header) + 48 + l->sorts * sizeof(struct weft_roll_sort) +
           l->numbers * sizeof(uint64_t);
}

void weft_record_roll_plan(struct layout *l, uint64_t bytes)
{
    l->sorts = 16;
    while (l->sorts < WEFT_ROLL_SORTS_MAX / 2 &&
           l->sorts * sizeof(struct weft_roll_sort) < bytes / 32)
        l->sorts *= 2;
    l->numbers = 0;
    uint64_t others = weft_record_roll_bytes(l);
    l->numbers = bytes > others ? (bytes - others) / sizeof(uint64_t) / LINE * LINE : 0;
}

void weft_record_roll_init(struct weft_roll_header *h, const struct layout *l)
{
    h->packet.content_bits = weft_record_roll_bytes(l) * 8;
    h->sorts = l->sorts;
    h->sort_bytes = sizeof(struct weft_roll_sort);
    h->numbers = l->numbers;
    h->sorts_at = sizeof *h;
    h->numbers_at = (sizeof *h + l->sorts * sizeof(struct weft_roll_sort) + 63) / 64 * 64;
}

/* Sorts */

unsigned weft_record_roll_sort(uint32_t site)
{
    const uint32_t mask = weft_record_rec.roll->sorts - 1, hash = site * UINT32_C(0x9e3779b1);
    if (!site || site == WEFT_STRING_INLINE)
        return 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = ((hash >> 12) + i) & mask, have = 0;
        struct weft_roll_sort *s = sort_at(at);
        if (!at)
            continue;
        if (__atomic_compare_exchange_n(&s->site, &have, site, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            have == site)
            return at;
    }
    return 0;
}

uint32_t weft_record_roll_site(unsigned sort)
{
    return __atomic_load_n(&sort_at(sort)->site, __ATOMIC_RELAXED);
}

uint32_t weft_record_roll_cells(unsigned sort)
{
    uint32_t cells = __atomic_load_n(&sort_at(sort)->cells, __ATOMIC_RELAXED);
    return cells <= INT32_MAX ? cells : 0; /* not exact if threads race */
}

void weft_record_roll_count(unsigned sort, int cells)
{
    __atomic_fetch_add(&sort_at(sort)->cells, (uint32_t)cells, __ATOMIC_RELAXED);
}

void weft_record_roll_leave_out(unsigned sort, uint64_t count)
{
    __atomic_fetch_add(&sort_at(sort)->left_out, count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&weft_record_rec.pending->skipped, count, __ATOMIC_RELAXED);
}

/* Numbers */

/* Finds the place that holds a number, among the two lines of promise id. number 0: finds a free place. *word:
 * its content. */
static uint64_t *search(uint64_t id, uint64_t number, uint64_t *word)
{
    const struct weft_roll_header *h = weft_record_rec.roll;
    const uint64_t lines = h->numbers / LINE, mixed = id * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t half = mixed >> 32;
    for (int turn = 0; turn < 2 && lines; turn++) {
        uint64_t *place =
            (uint64_t *)(void *)((unsigned char *)h + h->numbers_at) + (half * lines >> 32) * LINE;
        for (uint64_t *end = place + LINE; place < end; place++) {
            *word = __atomic_load_n(place, __ATOMIC_ACQUIRE); /* with (V) */
            if (*word >> WEFT_ROLL_SORT_BITS == number)
                return place;
        }
        half = (mixed * UINT64_C(0xff51afd7ed558ccd)) >> 32;
    }
    return NULL;
}

/* Puts a number and the index of a sort on the roll. Returns false if there is no place. */
static bool put_number(uint64_t id, unsigned index)
{
    uint64_t *place, word;
    while (id <= NUMBER_MAX && (place = search(id, 0, &word)))
        if (__atomic_compare_exchange_n(place, &word, id << WEFT_ROLL_SORT_BITS | index, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) /* (V) */
            return true;
    return false;
}

void weft_record_roll_unlisted(unsigned sort)
{
    __atomic_fetch_add(&sort_at(sort)->unlisted, 1, __ATOMIC_RELAXED);
}

bool weft_record_roll_add(uint64_t id, unsigned sort)
{
    bool added = put_number(id, sort);
    if (!added)
        weft_record_roll_unlisted(sort);
    return added;
}

bool weft_record_roll_add_fresh(uint64_t id)
{
    return put_number(id, WEFT_ROLL_FRESH);
}

void weft_record_roll_undo(uint64_t id, unsigned sort, bool added)
{
    if (added)
        weft_record_roll_drop(id); /* unless whoever has ended it has done so */
    else
        __atomic_fetch_sub(&sort_at(sort)->unlisted, 1, __ATOMIC_RELAXED);
}

bool weft_record_roll_find(uint64_t id, unsigned *sort)
{
    uint64_t word;
    if (!search(id, id, &word))
        return false;
    *sort = (unsigned)word & (WEFT_ROLL_SORTS_MAX - 1);
    return true;
}

bool weft_record_roll_set_sort(uint64_t id, unsigned sort)
{
    uint64_t word, *place = search(id, id, &word);
    return place && (word & (WEFT_ROLL_SORTS_MAX - 1)) == WEFT_ROLL_FRESH &&
           __atomic_compare_exchange_n(place, &word, id << WEFT_ROLL_SORT_BITS | sort, false,
                                       __ATOMIC_RELEASE, __ATOMIC_RELAXED); /* (V) */
}

bool weft_record_roll_drop_from(uint64_t id, unsigned sort)
{
    uint64_t word, *place = search(id, id, &word);
    return place && (word & (WEFT_ROLL_SORTS_MAX - 1)) == sort &&
           __atomic_compare_exchange_n(place, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool weft_record_roll_drop(uint64_t id)
{
    uint64_t word, *place;
    while ((place = search(id, id, &word))) /* again if another thread gives it a sort meanwhile */
        if (__atomic_compare_exchange_n(place, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return true;
    return false;
}
