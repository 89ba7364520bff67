/* SPDX-License-Identifier: ISC */
#include "view/layout.h"

#include "base/array.h"
#include "view/older.h"

/* A set of rows in which the lowest member at or above a row is found in constant time: one bit per row, one bit for
 * each non-zero word of those, and so on. */
enum { LEVELS = 6 }; /* 64^6 > 2^32 */

struct rowset {
    uint64_t *level[LEVELS];
    uint32_t levels;
};

static int rowset_init(struct rowset *s, uint32_t rows)
{
    *s = (struct rowset){0};
    uint64_t words = rows;
    do {
        words = words / 64 + 1;
        s->level[s->levels] = calloc(words, sizeof(uint64_t));
        if (!s->level[s->levels++])
            return WEFT_E_NOMEM;
    } while (words > 1);
    return 0;
}

static void rowset_fini(struct rowset *s)
{
    for (uint32_t i = 0; i < s->levels; i++)
        free(s->level[i]);
}

static void rowset_add(struct rowset *s, uint32_t row)
{
    for (uint32_t i = 0; i < s->levels; i++, row /= 64)
        s->level[i][row / 64] |= UINT64_C(1) << (row % 64);
}

static void rowset_remove(struct rowset *s, uint32_t row)
{
    for (uint32_t i = 0; i < s->levels; i++, row /= 64) {
        s->level[i][row / 64] &= ~(UINT64_C(1) << (row % 64));
        if (s->level[i][row / 64])
            return;
    }
}

static bool rowset_has(const struct rowset *s, uint32_t row)
{
    return s->level[0][row / 64] >> (row % 64) & 1;
}

/* The lowest member at or above row; WEFT_NONE: there is none. */
static uint32_t rowset_next(const struct rowset *s, uint32_t row)
{
    uint64_t at = row;
    for (uint32_t i = 0; i < s->levels; i++) {
        /* Searches the word that `at` lies in; then, one level up, the words after it. */
        uint64_t word = s->level[i][at / 64] & (UINT64_MAX << (at % 64));
        if (word) {
            at = at / 64 * 64 + (uint64_t)__builtin_ctzll(word);
            while (i-- > 0)
                at = at * 64 + (uint64_t)__builtin_ctzll(s->level[i][at]);
            return (uint32_t)at;
        }
        at = at / 64 + 1;
    }
    return WEFT_NONE;
}

/* Ends of lines, earliest first. */
struct ending {
    int64_t end_ns;
    uint32_t row;
};

struct heap {
    struct ending *item; /* room for one per promise */
    uint32_t used;
};

static void heap_push(struct heap *h, struct ending e)
{
    uint32_t i = h->used++;
    for (; i > 0 && h->item[(i - 1) / 2].end_ns > e.end_ns; i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = e;
}

static struct ending heap_pop(struct heap *h)
{
    struct ending top = h->item[0], e = h->item[--h->used];
    uint64_t i = 0;
    for (uint64_t child = 1; child < h->used; child = 2 * i + 1) {
        if (child + 1 < h->used && h->item[child + 1].end_ns < h->item[child].end_ns)
            child++;
        if (h->item[child].end_ns >= e.end_ns)
            break;
        h->item[i] = h->item[child];
        i = child;
    }
    h->item[i] = e;
    return top;
}

struct start {
    uint64_t key;
    uint32_t promise;
};

/* Makes l->order. A radix sort, because the keys are numbers and mostly sorted already. */
static int make_order(struct weft_layout *l, const struct weft_model *m)
{
    enum { BITS = 11, BUCKETS = 1 << BITS };
    uint32_t n = m->promises - 1;
    struct start *from = malloc((n + 1) * sizeof *from), *to = malloc((n + 1) * sizeof *to);
    l->order = malloc((n + 1) * sizeof *l->order);
    int rc = from && to && l->order ? 0 : WEFT_E_NOMEM;
    uint64_t all_or = 0, min = UINT64_MAX;
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        uint64_t key = (uint64_t)weft_layout_line(l, &m->promise[i + 1]) ^ (UINT64_C(1) << 63);
        from[i] = (struct start){.key = key, .promise = i + 1};
        min = key < min ? key : min;
    }
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        all_or |= from[i].key -= min;
    for (unsigned shift = 0; shift < 64 && all_or >> shift; shift += BITS) {
        uint32_t count[BUCKETS + 1] = {0};
        for (uint32_t i = 0; i < n; i++)
            count[(from[i].key >> shift & (BUCKETS - 1)) + 1]++;
        for (unsigned b = 0; b < BUCKETS; b++)
            count[b + 1] += count[b];
        for (uint32_t i = 0; i < n; i++)
            to[count[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
        struct start *swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        l->order[i] = from[i].promise;
    weft_free_all(from, to);
    return rc;
}

struct placing {
    const struct weft_model *m;
    struct weft_layout *l;
    struct rowset free_rows;
    struct heap heap;
    uint32_t first_row;    /* of those to be used */
    uint32_t *occupant;    /* of each row, the latest */
    int64_t *busy_until;   /* each row */
    const uint32_t *group; /* of each promise, or NULL */
};

/* Frees the rows whose lines end before now. */
static void free_rows(struct placing *p, int64_t now)
{
    while (p->heap.used && p->heap.item[0].end_ns < now) {
        struct ending e = heap_pop(&p->heap);
        if (p->busy_until[e.row] == e.end_ns)
            rowset_add(&p->free_rows, e.row);
    }
}

static uint32_t choose_row(struct placing *p, uint32_t promise)
{
    const struct weft_promise *q = &p->m->promise[promise];
    uint32_t parent = weft_layout_parent(p->l, q);
    if (p->l->row[parent] == WEFT_NONE) /* only in a damaged trace, or below its own descendant */
        parent = q->creator;
    uint32_t at = p->l->row[parent];
    if (at == WEFT_NONE || at < p->first_row || (p->group && p->group[parent] != p->group[promise]))
        at = p->first_row;
    else if (p->m->promise[parent].becomes == promise && p->occupant[at] == parent)
        return at; /* continues on the parent's row, though that has not ended yet */
    uint32_t row = at < p->l->rows ? rowset_next(&p->free_rows, at) : WEFT_NONE;
    return row == WEFT_NONE ? p->l->rows : row;
}

static void place(struct placing *p, uint32_t promise)
{
    const struct weft_promise *q = &p->m->promise[promise];
    int64_t start = weft_layout_line(p->l, q), end = weft_layout_end(p->l, p->m, promise);
    free_rows(p, start);
    uint32_t row = choose_row(p, promise);
    if (row == p->l->rows)
        p->l->rows++;
    else if (rowset_has(&p->free_rows, row))
        rowset_remove(&p->free_rows, row);
    else if (p->busy_until[row] > end)
        end = p->busy_until[row]; /* the promise that becomes it ends even later */
    p->l->row[promise] = row;
    p->occupant[row] = promise;
    p->busy_until[row] = end;
    heap_push(&p->heap, (struct ending){.end_ns = end, .row = row});
}

static uint8_t look_of(const struct weft_layout *l, const struct weft_model *m, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    bool red = p->outcome == WEFT_FAILED || weft_model_overdue(m, promise);
    return (uint8_t)((red ? WEFT_LOOK_RED : 0) |
                     (p->outcome == WEFT_PENDING ? WEFT_LOOK_PENDING : 0) |
                     (p->background ? WEFT_LOOK_BACKGROUND : 0) |
                     (weft_layout_awaited(l, promise) ? WEFT_LOOK_AWAITED : 0));
}

static bool is_quiet(const struct weft_layout *l, uint32_t promise)
{
    const struct weft_older *older = l->quiet ? weft_layout_older(l, promise) : NULL;
    return older && older->quiet;
}

/* Places all promises in the order of time; those without events since before the trace come below all others. */
static void place_all(struct placing *p)
{
    const struct weft_layout *l = p->l;
    for (int quiet = 0; quiet < 2; quiet++) {
        for (uint32_t i = 0; i + 1 < p->m->promises; i++)
            if (is_quiet(l, l->order[i]) == (quiet == 1))
                place(p, l->order[i]);
        if (quiet == 0)
            p->l->own_rows = p->first_row = l->rows;
        if (l->quiet == 0)
            return;
    }
}

/* The same for each group, one below the other. Those without events are in none: they come last. */
static int place_groups(struct placing *p, uint32_t groups)
{
    struct weft_layout *l = p->l;
    const uint32_t n = p->m->promises - 1;
    uint32_t *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    uint32_t *next = calloc((size_t)groups + 2, sizeof *next);
    uint32_t *group = malloc(((size_t)n + 1) * sizeof *group); /* of those in l->order */
    l->group_first = calloc((size_t)groups + 1, sizeof *l->group_first);
    if (!sorted || !next || !group || !l->group_first) {
        weft_free_all(sorted, next, group);
        return WEFT_E_NOMEM;
    }
    l->groups = groups;
    for (uint32_t i = 0; i < n; i++) {
        group[i] = is_quiet(l, l->order[i]) ? groups : p->group[l->order[i]];
        next[group[i] + 1]++;
    }
    for (uint32_t g = 0; g < groups; g++)
        next[g + 1] += next[g];
    for (uint32_t i = 0; i < n; i++)
        sorted[next[group[i]]++] = l->order[i];
    for (uint32_t g = 0, i = 0; g <= groups; g++) { /* next is where each ends now */
        p->first_row = l->group_first[g] = l->rows;
        p->heap.used = 0;
        for (; i < next[g]; i++)
            place(p, sorted[i]);
    }
    l->own_rows = l->group_first[groups];
    weft_free_all(sorted, next, group);
    return 0;
}

/* Marks the lines of promises that have a name, and of those that have several labels. The labels are read in the order in
 * which they are stored, because a promise's own lie anywhere. */
static int mark_labelled(struct weft_layout *l, const struct weft_model *m)
{
    enum { ANY = 1 };
    uint8_t *look = calloc(m->promises, 1);
    if (!look)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < m->labels; i++) {
        if (m->label[i].promise >= m->promises)
            continue;
        uint8_t *of = &look[m->label[i].promise];
        *of |= *of & ANY ? ANY | WEFT_LOOK_LABELS : ANY;
        *of |= m->label[i].is_change ? 0 : WEFT_LOOK_NAMED;
    }
    for (uint32_t s = 0; s + 1 < m->promises; s++)
        l->look[s] |= look[l->spans[s]] & (WEFT_LOOK_NAMED | WEFT_LOOK_LABELS);
    free(look);
    return 0;
}

/* Distributes the promises into rows. */
static int make_spans(struct weft_layout *l, const struct weft_model *m)
{
    uint32_t n = m->promises - 1;
    l->first = calloc((size_t)l->rows + 2, sizeof *l->first);
    l->spans = malloc(((size_t)n + 1) * sizeof *l->spans);
    l->start = malloc(((size_t)n + 1) * sizeof *l->start);
    l->until = malloc(((size_t)n + 1) * sizeof *l->until);
    l->look = malloc((size_t)n + 1);
    if (!l->first || !l->spans || !l->start || !l->until || !l->look)
        return WEFT_E_NOMEM;
    uint32_t *next = l->first + 1; /* becomes first[] itself when all are counted */
    for (uint32_t i = 0; i < n; i++)
        next[l->row[l->order[i]] + 1]++;
    for (uint32_t r = 0; r < l->rows; r++)
        next[r + 1] += next[r];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t promise = l->order[i];
        uint32_t at = next[l->row[promise]]++;
        l->spans[at] = promise;
        l->start[at] = weft_layout_line(l, &m->promise[promise]);
        l->until[at] = weft_layout_end(l, m, promise);
        l->look[at] = look_of(l, m, promise);
    }
    for (uint32_t r = 0; r < l->rows; r++)
        for (uint32_t s = l->first[r] + 1; s < l->first[r + 1]; s++)
            if (l->until[s] < l->until[s - 1])
                l->until[s] = l->until[s - 1];
    return mark_labelled(l, m);
}

static int find_awaited(struct weft_layout *l, const struct weft_model *m)
{
    l->awaited = calloc((size_t)m->promises / 8 + 1, 1);
    if (!l->awaited)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < m->interactions; i++) {
        const struct weft_interaction *x = &m->interaction[i];
        if (x->kind != WEFT_WAITS || x->replaced || x->other == WEFT_ROOT || x->actor == x->other ||
            m->promise[x->other].outcome != WEFT_PENDING ||
            m->promise[weft_model_final(m, x->actor)].outcome != WEFT_PENDING)
            continue;
        l->awaited[x->other / 8] |= (uint8_t)(1u << (x->other % 8));
        if (x->actor != WEFT_ROOT && m->promise[x->actor].outcome == WEFT_PENDING)
            l->awaited[x->actor / 8] |= (uint8_t)(1u << (x->actor % 8));
    }
    return 0;
}

int weft_layout_new(struct weft_layout **out, const struct weft_model *m, bool raw)
{
    return weft_layout_new_grouped(out, m, raw, NULL, 0);
}

int weft_layout_new_grouped(struct weft_layout **out, const struct weft_model *m, bool raw,
                            const uint32_t *group, uint32_t groups)
{
    *out = NULL;
    struct weft_layout *l = calloc(1, sizeof *l);
    if (!l)
        return WEFT_E_NOMEM;
    l->m = m;
    l->raw = raw;
    uint32_t n = m->promises;
    struct placing p = {.m = m, .l = l, .group = group};
    int rc = rowset_init(&p.free_rows, n);
    if (rc == 0)
        rc = find_awaited(l, m);
    if (rc == 0)
        rc = view_older_find(l, m);
    if (rc == 0)
        rc = make_order(l, m);
    l->row = malloc(n * sizeof *l->row);
    p.occupant = malloc(n * sizeof *p.occupant);
    p.busy_until = malloc(n * sizeof *p.busy_until);
    p.heap.item = malloc(n * sizeof *p.heap.item);
    if (rc == 0 && (!l->row || !p.occupant || !p.busy_until || !p.heap.item))
        rc = WEFT_E_NOMEM;
    if (rc == 0) {
        memset(l->row, 0xff, n * sizeof *l->row);
        if (group)
            rc = place_groups(&p, groups);
        else
            place_all(&p);
        if (rc == 0)
            rc = make_spans(l, m);
    }
    rowset_fini(&p.free_rows);
    weft_free_all(p.occupant, p.busy_until, p.heap.item);
    if (rc < 0)
        weft_layout_free(l);
    else
        *out = l;
    return rc;
}

void weft_layout_free(struct weft_layout *l)
{
    if (l)
        weft_free_all(l->row, l->spans, l->start, l->until, l->look, l->awaited, l->order, l->first,
                      l->older, l->gone, l->group_first, l);
}
