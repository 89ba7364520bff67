/* SPDX-License-Identifier: ISC */
#include "view/index.h"

#include "base/array.h"
#include "base/lists.h"
#include "base/order.h"

/* ---- Lengths ---- */

static int lengths_init(struct view_lengths *l, uint32_t count)
{
    l->most[0] = calloc((size_t)count / VIEW_BLOCK + 1, sizeof(int64_t));
    l->most[1] = calloc((size_t)count / VIEW_BLOCK / VIEW_BLOCK + 1, sizeof(int64_t));
    return l->most[0] && l->most[1] ? 0 : WEFT_E_NOMEM;
}

static void add_length(struct view_lengths *l, uint32_t at, int64_t length)
{
    for (int i = 0; i < 2; i++) {
        at /= VIEW_BLOCK;
        l->most[i][at] = weft_later(l->most[i][at], length);
    }
}

uint32_t view_next_long(const struct view_lengths *l, uint32_t from, uint32_t end,
                        int64_t length_ns)
{
    const uint32_t all = VIEW_BLOCK * VIEW_BLOCK;
    while (from < end) {
        if (from % all == 0 && l->most[1][from / all] < length_ns)
            from += all;
        else if (l->most[0][from / VIEW_BLOCK] < length_ns)
            from = (from / VIEW_BLOCK + 1) * VIEW_BLOCK;
        else
            return from;
    }
    return end;
}

uint32_t view_long_span(const struct weft_index *x, const struct weft_layout *l, uint32_t span,
                        uint32_t end, int64_t length_ns)
{
    while (span < end) {
        span = view_next_long(&x->lines, span, end, length_ns);
        uint32_t block = (span / VIEW_BLOCK + 1) * VIEW_BLOCK;
        for (uint32_t last = block < end ? block : end; span < last; span++)
            if (l->until[span] - l->start[span] >= length_ns)
                return span;
    }
    return end;
}

static int index_regions(struct view_regions *r, const void *time, uint32_t count)
{
    *r = (struct view_regions){.time = time, .count = count, .sorted = true};
    if (lengths_init(&r->lengths, count) < 0)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < count; i++) {
        add_length(&r->lengths, i, r->time[i][1] - r->time[i][0]);
        r->sorted = r->sorted && (i == 0 || r->time[i][0] >= r->time[i - 1][1]);
    }
    return 0;
}

static int index_lengths(struct weft_index *x, const struct weft_model *m,
                         const struct weft_layout *l)
{
    TRY(lengths_init(&x->lines, m->promises));
    for (uint32_t s = 0; s + 1 < m->promises; s++)
        add_length(&x->lines, s, l->until[s] - l->start[s]);
    return 0;
}

static int index_all_regions(struct weft_index *x, const struct weft_model *m)
{
    TRY(index_regions(&x->sleeps, m->sleep, m->sleeps));
    TRY(index_regions(&x->pauses, m->pause, m->pauses));
    return index_regions(&x->missings, m->missing, m->missings);
}

/* ---- Runs ---- */

static int by_time(const void *a, const void *b)
{
    const struct view_run *x = a, *y = b;
    WEFT_ORDER(x->start_ns, y->start_ns);
    return weft_order(x->end_ns, y->end_ns);
}

/* The runs of a row come in the order of their promises, which is nearly that of time. */
static void sort_runs(struct view_run *run, uint32_t count)
{
    uint32_t i = 1;
    while (i < count && run[i - 1].start_ns <= run[i].start_ns)
        i++;
    if (i < count)
        qsort(run, count, sizeof *run, by_time);
}

/* Moves sorted runs of a row to another place; those that overlap (of a promise that runs on several threads) become one.
 * Returns where they end. */
static uint32_t join_runs(struct weft_index *x, uint32_t to, uint32_t from, uint32_t until)
{
    const uint32_t first = to;
    for (uint32_t i = from; i < until; i++)
        if (to > first && x->run[i].start_ns < x->run[to - 1].end_ns)
            x->run[to - 1].end_ns = weft_later(x->run[to - 1].end_ns, x->run[i].end_ns);
        else
            x->run[to++] = x->run[i];
    return to;
}

static int index_runs(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l)
{
    x->run_first = calloc((size_t)l->rows + 2, sizeof *x->run_first);
    x->run = malloc(((size_t)m->runs + 1) * sizeof *x->run);
    if (!x->run_first || !x->run)
        return WEFT_E_NOMEM;
    uint32_t *next = x->run_first + 1; /* becomes run_first[] itself when all are counted */
    for (uint32_t p = 1; p < m->promises; p++)
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
            next[l->row[p] + 1]++;
    for (uint32_t r = 0; r < l->rows; r++)
        next[r + 1] += next[r];
    for (uint32_t p = 1; p < m->promises; p++)
        for (uint32_t r = m->promise[p].first_run; r != WEFT_NONE; r = m->run[r].next)
            x->run[next[l->row[p]]++] = (struct view_run){
                m->run[r].start_ns,
                m->run[r].end_ns > m->run[r].start_ns ? m->run[r].end_ns : m->run[r].start_ns};
    uint32_t kept = 0;
    for (uint32_t r = 0, from = 0; r < l->rows; r++) {
        const uint32_t until = x->run_first[r + 1];
        sort_runs(x->run + from, until - from);
        x->run_first[r] = kept;
        kept = join_runs(x, kept, from, until);
        from = until;
    }
    x->run_first[l->rows] = kept;
    return 0;
}

uint32_t view_run_at(const struct weft_index *x, uint32_t row, int64_t time_ns)
{
    uint32_t low = x->run_first[row], high = x->run_first[row + 1];
    WEFT_SEEK(low, high, x->run[middle].start_ns < time_ns);
    return low > x->run_first[row] && x->run[low - 1].end_ns >= time_ns ? low - 1 : low;
}

/* ---- Spans ---- */

uint32_t view_bucket_at(const struct weft_index *x, int64_t time_ns)
{
    uint32_t low = 1, high = x->buckets;
    WEFT_SEEK(low, high, x->time[middle] <= time_ns);
    return low - 1;
}

uint32_t view_span_reaching(const struct weft_index *x, const struct weft_layout *l, uint32_t row,
                            uint32_t bucket, int64_t time_ns)
{
    uint32_t low = l->first[row], high = l->first[row + 1], at = bucket / x->cursor_step;
    if (at < x->cursors && x->time[at * x->cursor_step] <= time_ns)
        low = x->cursor[(size_t)at * x->rows + row];
    if (at + 1 < x->cursors && x->time[(at + 1) * x->cursor_step] >= time_ns)
        high = x->cursor[(size_t)(at + 1) * x->rows + row];
    WEFT_SEEK(low, high, l->until[middle] < time_ns);
    return low;
}

uint32_t view_span_after(const struct weft_index *x, const struct weft_layout *l, uint32_t row,
                         uint32_t bucket, int64_t time_ns)
{
    /* A span that ends before a time also begins before it; and few of the spans that reach the time begin before it. */
    uint32_t low = view_span_reaching(x, l, row, bucket, time_ns);
    VIEW_GALLOP(low, l->first[row + 1], l->start[middle] <= time_ns);
    return low;
}

/* ---- What leads from one thing to others ---- */

/* How much an interaction matters, by the lifetime of the promise it is about. 0: not drawn. */
static uint8_t weight_of(const struct weft_model *m, uint32_t interaction)
{
    const struct weft_interaction *i = &m->interaction[interaction];
    if (i->replaced || i->actor == i->other || i->actor == WEFT_ROOT || i->other == WEFT_ROOT)
        return 0;
    const struct weft_promise *p = &m->promise[i->other];
    uint64_t lived = p->end_ns > p->start_ns ? (uint64_t)(p->end_ns - p->start_ns) + 1 : 1;
    unsigned bits = 63 - (unsigned)__builtin_clzll(lived); /* the lifetime to a quarter of 2^bits */
    unsigned quarter = bits >= 2 ? (unsigned)(lived >> (bits - 2)) & 3 : 0;
    return (uint8_t)(1 + bits * 4 + quarter);
}

/* Nobody asks about the loop. */
static uint32_t group_of(uint32_t promise)
{
    return promise == WEFT_ROOT || promise == WEFT_NONE ? UINT32_MAX : promise / 16;
}

static uint32_t group_of_other(const void *model, uint32_t interaction)
{
    return group_of(((const struct weft_model *)model)->interaction[interaction].other);
}

static uint32_t group_of_becomes(const void *model, uint32_t promise)
{
    return group_of(((const struct weft_model *)model)->promise[promise].becomes);
}

static uint32_t counter_of(const void *model, uint32_t change)
{
    return ((const struct weft_model *)model)->change[change].counter;
}

struct moment {
    int64_t time_ns;
    uint32_t number;
};

static int by_moment(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(x->number, y->number);
}

static int64_t time_of(const struct weft_model *m, bool changes, uint32_t number)
{
    return changes ? m->change[number].time_ns : m->interaction[number].time_ns;
}

/* Sorts the numbers of changes, or of interactions, by time, if they are not in this order: times may run backwards.
 * *number is NULL for 0 … n - 1, and stays so if these are in order. */
static int sort_by_moment(uint32_t **number, uint32_t n, const struct weft_model *m, bool changes)
{
    uint32_t i = 1;
    while (i < n && time_of(m, changes, *number ? (*number)[i] : i) >=
                        time_of(m, changes, *number ? (*number)[i - 1] : i - 1))
        i++;
    if (i >= n)
        return 0;
    struct moment *moment = malloc(n * sizeof *moment);
    uint32_t *sorted = *number ? *number : malloc(n * sizeof *sorted);
    if (!moment || !sorted) {
        free(moment);
        free(*number ? NULL : sorted);
        return WEFT_E_NOMEM;
    }
    for (i = 0; i < n; i++) {
        uint32_t k = *number ? (*number)[i] : i;
        moment[i] = (struct moment){time_of(m, changes, k), k};
    }
    qsort(moment, n, sizeof *moment, by_moment);
    for (i = 0; i < n; i++)
        sorted[i] = moment[i].number;
    *number = sorted;
    free(moment);
    return 0;
}

static int index_links(struct weft_index *x, const struct weft_model *m)
{
    x->weight = malloc((size_t)m->interactions + 1);
    x->weightiest = calloc((size_t)m->interactions / VIEW_HEAP + 1, 1);
    x->drawable = calloc((size_t)m->interactions / VIEW_HEAP + 2, sizeof *x->drawable);
    if (!x->weight || !x->weightiest || !x->drawable)
        return WEFT_E_NOMEM;
    int rc = sort_by_moment(&x->by_time, m->interactions, m, false);
    for (uint32_t i = 0; i < m->interactions && rc == 0; i++) {
        uint8_t weight = weight_of(m, view_interaction_at(x, i));
        uint8_t *most = &x->weightiest[i / VIEW_HEAP];
        x->weight[i] = weight;
        *most = weight > *most ? weight : *most;
        x->drawable[i / VIEW_HEAP + 1] += weight != 0;
    }
    for (uint32_t block = 0; block < m->interactions / VIEW_HEAP + 1; block++)
        x->drawable[block + 1] += x->drawable[block];
    const uint32_t groups = m->promises / 16 + 1;
    return rc == 0 &&
                   weft_lists(&x->about.first, &x->about.item, groups, m->interactions,
                              group_of_other, m) &&
                   weft_lists(&x->became.first, &x->became.item, groups, m->promises,
                              group_of_becomes, m)
               ? 0
               : WEFT_E_NOMEM;
}

static int index_changes(struct weft_index *x, const struct weft_model *m)
{
    uint32_t n = m->counters, blocks = 0;
    x->extremes_first = calloc((size_t)n + 2, sizeof *x->extremes_first);
    if (!x->extremes_first ||
        !weft_lists(&x->change_first, &x->change, n, m->changes, counter_of, m))
        return WEFT_E_NOMEM;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count = x->change_first[k + 1] - x->change_first[k];
        blocks += (count + VIEW_CHANGES - 1) / VIEW_CHANGES;
        x->extremes_first[k + 1] = blocks;
    }
    x->extremes = malloc(((size_t)blocks + 1) * sizeof *x->extremes);
    if (!x->extremes)
        return WEFT_E_NOMEM;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t first = x->change_first[k], *change = x->change + first;
        if (sort_by_moment(&change, x->change_first[k + 1] - first, m, true) < 0)
            return WEFT_E_NOMEM;
        for (uint32_t i = first; i < x->change_first[k + 1]; i++) {
            const struct weft_change *ch = &m->change[x->change[i]];
            struct view_extremes *e =
                &x->extremes[x->extremes_first[k] + (i - first) / VIEW_CHANGES];
            if ((i - first) % VIEW_CHANGES == 0)
                *e = (struct view_extremes){
                    .time_ns = ch->time_ns, .min = ch->value, .max = ch->value};
            e->min = ch->value < e->min ? ch->value : e->min;
            e->max = ch->value > e->max ? ch->value : e->max;
            e->last = ch->value;
        }
    }
    return 0;
}

/* ---- Making it ---- */

int view_index_rows(struct weft_index *x, const struct weft_model *m, const struct weft_layout *l,
                    weft_progress_fn *progress, void *data)
{
    int rc = 0;
    for (int step = 0; step < 3 && rc == 0; step++) {
        rc = step == 0   ? index_lengths(x, m, l)
             : step == 1 ? index_runs(x, m, l)
                         : view_index_cells(x, m, l);
        if (rc == 0 && progress && !progress(data, 0.5 + 0.15 * (step + 1)))
            rc = WEFT_E_CANCELED;
    }
    return rc;
}

int view_index_rest(struct weft_index *x, const struct weft_model *m)
{
    TRY(index_all_regions(x, m));
    TRY(view_chains_init(&x->chains, m));
    TRY(index_links(x, m));
    return index_changes(x, m);
}

int view_index_new(struct weft_index **out, const struct weft_model *m, const struct weft_layout *l)
{
    struct weft_index *x = calloc(1, sizeof *x);
    *out = NULL;
    int rc = x ? view_index_rest(x, m) : WEFT_E_NOMEM;
    if (rc == 0)
        rc = view_index_rows(x, m, l, NULL, NULL);
    if (rc < 0)
        view_index_free(x);
    else
        *out = x;
    return rc;
}

void view_index_free(struct weft_index *x)
{
    if (!x)
        return;
    struct view_lengths *lengths[] = {&x->lines, &x->sleeps.lengths, &x->pauses.lengths,
                                      &x->missings.lengths};
    for (int i = 0; i < 4; i++)
        weft_free_all(lengths[i]->most[0], lengths[i]->most[1]);
    weft_free_all(x->run_first, x->run, x->time, x->block_row, x->block_of, x->cell, x->failed,
                  x->cursor, x->by_time, x->weight, x->weightiest, x->drawable, x->about.first,
                  x->about.item, x->became.first, x->became.item, x->chains.list, x->chains.label,
                  x->change_first, x->change, x->extremes_first, x->extremes, x);
}
