/* SPDX-License-Identifier: ISC */
#include "view/canvas.h"

#include "base/array.h"

enum {
    GAP_ROWS_MAX = 20000, /* rows times gaps */
    SMEAR_CELLS = 3,      /* an interval may be this many cells wide */
    WHOLE = 257,          /* the greatest sum of weights */
};

/* How much one cell of a block counts. */
struct mix_entry {
    uint32_t at, weight;
};

void canvas_free_mix(struct canvas *c)
{
    if (c->mix)
        weft_free_all(c->mix->first, c->mix->begin, c->mix->order, c->mix->group, c->mix->entry,
                      c->mix);
}

static bool add_gap(struct mix *x, uint32_t bucket, int64_t from_ns, int64_t to_ns)
{
    if (x->gaps && x->gap[x->gaps - 1].to_ns >= from_ns) {
        x->gap[x->gaps - 1].to_ns = to_ns;
        x->gap[x->gaps - 1].end = bucket + 1;
        return true;
    }
    if (x->gaps >= x->gaps_max)
        return false;
    x->gap[x->gaps++] = (struct mix_gap){from_ns, to_ns, bucket, bucket + 1};
    return true;
}

static uint64_t width_of(const struct weft_index *x, uint32_t first, uint32_t end)
{
    end = end < x->buckets ? end : x->buckets;
    return (uint64_t)x->time[end] - (uint64_t)x->time[first];
}

static uint64_t shown_between(const struct canvas *c, int64_t from_ns, int64_t to_ns)
{
    return axis_since(&c->axis, to_ns) - axis_since(&c->axis, from_ns);
}

/* So that sums fit 16 bits. */
static void limit_weights(struct mix *m, uint32_t sum)
{
    for (uint32_t i = 0; i < m->entries && sum > WHOLE; i++)
        if (m->entry[i].weight > sum - WHOLE) {
            m->entry[i].weight -= sum - WHOLE;
            sum = WHOLE;
        }
    for (uint32_t i = 0; i < m->entries && sum > WHOLE; i++) { /* many, none of which counts much */
        sum -= m->entry[i].weight;
        m->entry[i].weight = 0;
    }
}

/* Adds the groups of a cell. */
static void add_groups(struct canvas *c, struct mix *m)
{
    const uint32_t first = m->groups, last = c->x->level_at[c->x->levels] - MIX_WIDE;
    for (uint32_t i = 0; i < m->entries; i++) {
        const uint32_t at = m->entry[i].at;
        uint32_t g = first;
        while (g < m->groups && at - m->group[g].at >= MIX_WIDE)
            g++;
        if (g == m->groups) {
            if (!canvas_grow(c, &m->group, m->groups, &m->room, sizeof *m->group))
                return;
            m->group[m->groups++] = (struct mix_group){.at = at < last ? at : last};
        }
        m->group[g].weight[at - m->group[g].at] += (uint16_t)m->entry[i].weight;
    }
}

/* Adds what the cell from t0 to t1 consists of; it begins in that bucket. Returns the bucket in which the next cell
 * begins. */
static uint32_t mix_cell(struct canvas *c, struct mix *m, uint32_t bucket, int64_t t0, int64_t t1)
{
    const struct weft_index *x = c->x;
    uint64_t width = (uint64_t)t1 - (uint64_t)t0, shown = shown_between(c, t0, t1);
    uint32_t sum = 0;
    m->entries = 0;
    while (bucket < x->buckets && x->time[bucket] < t1) {
        uint32_t level = 0, begin = bucket, many = 1;
        for (uint32_t next = 1; next < x->levels; next++) {
            uint32_t from = bucket >> 2 * next << 2 * next;
            if (width_of(x, from, from + (1u << 2 * next)) > width - width / 4)
                break;
            level = next;
            begin = from;
            many = 1u << 2 * next;
        }
        uint32_t end = begin + many < x->buckets ? begin + many : x->buckets;
        int64_t from = x->time[begin] > t0 ? x->time[begin] : t0;
        int64_t to = x->time[end] < t1 ? x->time[end] : t1;
        bucket = end;
        if (to <= from)
            continue;
        if (width_of(x, begin, end) / SMEAR_CELLS > width && add_gap(m, begin, from, to))
            continue;
        uint64_t part = shown_between(c, from, to), whole = shown;
        for (; part >> 50; part >>= 1)
            whole >>= 1;
        uint32_t weight = (uint32_t)(part * 256 / (whole ? whole : 1));
        weight = weight ? weight : 1;
        if (!canvas_grow(c, &m->entry, m->entries, &m->entries_room, sizeof *m->entry))
            break;
        m->entry[m->entries++] =
            (struct mix_entry){.at = x->level_at[level] + (begin >> 2 * level), .weight = weight};
        sum += weight;
    }
    limit_weights(m, sum);
    add_groups(c, m);
    if (bucket > 0 && x->time[bucket] > t1)
        bucket = view_bucket_at(x, t1);
    return bucket < x->buckets ? bucket : x->buckets - 1;
}

static void put_in_order(struct mix *m, uint32_t cells)
{
    enum { KINDS = 32 };
    uint32_t next[KINDS + 1] = {0};
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t many = m->first[i + 1] - m->first[i];
        next[(many < KINDS ? many : KINDS - 1) + 1]++;
    }
    for (int kind = 0; kind < KINDS; kind++)
        next[kind + 1] += next[kind];
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t many = m->first[i + 1] - m->first[i];
        m->order[next[many < KINDS ? many : KINDS - 1]++] = i;
    }
}

const struct mix *canvas_mix(struct canvas *c, uint32_t cells)
{
    if (c->mix || c->list->failed)
        return c->mix;
    struct mix *m = calloc(1, sizeof *m);
    c->mix = m;
    if (m) {
        m->first = malloc(((size_t)cells + 1) * sizeof *m->first);
        m->begin = malloc(((size_t)cells + 1) * sizeof *m->begin);
        m->order = malloc(((size_t)cells + 1) * sizeof *m->order);
    }
    if (!m || !m->first || !m->begin || !m->order) {
        c->list->failed = true;
        return m;
    }
    uint32_t bucket = view_bucket_at(c->x, c->from_ns), last = view_bucket_at(c->x, c->to_ns);
    m->useful = last - bucket >= cells && c->x->level_at[c->x->levels] >= MIX_WIDE;
    m->gaps_max =
        GAP_ROWS_MAX / (c->shown + 1) < MIX_GAPS_MAX ? GAP_ROWS_MAX / (c->shown + 1) : MIX_GAPS_MAX;
    for (uint32_t i = 0; i < cells; i++) {
        int32_t x1 = c->x0 + (int32_t)(i + 1) * CELL;
        int64_t t0 = axis_time(&c->axis, c->x0 + (int32_t)i * CELL);
        int64_t t1 = x1 < c->x1 ? axis_time(&c->axis, x1) : c->to_ns + 1;
        m->first[i] = m->groups;
        m->begin[i] = bucket;
        if (m->useful) /* then a cell has a bucket of its own, so t0 < t1 */
            bucket = mix_cell(c, m, bucket, t0, t1);
    }
    m->first[cells] = m->groups;
    m->begin[cells] = last;
    put_in_order(m, cells);
    return m;
}
