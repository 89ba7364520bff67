/* SPDX-License-Identifier: ISC */
/* Sums over a range of time, from summaries of many records at a time.
 *
 * Records lie nearly in order of time. For each block of records, its first and last time and its sums are stored:
 * blocks inside a range count as a whole, and only those at its edges are read. Promises that outlive thousands of
 * others would make all blocks reach far, so they are kept separately; so are pending ones, of which there may be many:
 * only when they begin matters. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "explore/busy.h"
#include "explore/fact.h"

enum { BLOCK = 1024, LASTING = 4096 };

enum column { INTERACTIONS, LABELS, RUNS, SLEEPS, PAUSES, COLUMNS };

struct extent {
    int64_t from_ns, to_ns;
};

struct block {
    struct extent extent; /* of all of its records */
    uint64_t sum_ns;
    uint32_t count;
};

struct lives { /* a block of promises, without the long-lived ones */
    struct extent extent;
    uint32_t all, created, resolved, failed, becoming;
};

struct open_lives { /* the pending promises of a block, which end with the trace */
    struct extent begins;
    int64_t until_ns; /* the latest end */
    uint32_t all, created;
};

struct explore_ranges {
    const struct weft_scene *s;
    struct block *block[COLUMNS];
    struct lives *lives;
    struct open_lives *open;
    uint32_t *lasting;
    uint32_t all_lasting;
    struct explore_busy *busy;
    uint64_t events, runs; /* streams that have records, in the whole trace */
};

struct sums {
    uint64_t events; /* see exact */
    bool exact;      /* else some events are assumed to be spread evenly over runs */
    uint64_t alive, created, resolved, failed;
    uint64_t sleeping_ns;
    struct explore_busy_sum busy;
    uint64_t sleeps, pauses;      /* those that begin in the range */
    struct weft_greatest longest; /* sorted by how much of them lies in it */
};

/* The records of a column, and where their times are in each. */
struct records {
    const void *first;
    uint32_t count;
    size_t size, from, to;
};

#define RECORDS(array, count, begins, ends)                                                        \
    {                                                                                              \
        m->array, m->count, sizeof *m->array, offsetof(__typeof__(*m->array), begins),             \
            offsetof(__typeof__(*m->array), ends)                                                  \
    }

static struct records records_of(const struct weft_model *m, enum column c)
{
    const struct records records[COLUMNS] = {
        [INTERACTIONS] = RECORDS(interaction, interactions, time_ns, time_ns),
        [LABELS] = RECORDS(label, labels, time_ns, time_ns),
        [RUNS] = RECORDS(run, runs, start_ns, end_ns),
        [SLEEPS] = RECORDS(sleep, sleeps, start_ns, end_ns),
        [PAUSES] = RECORDS(pause, pauses, start_ns, end_ns),
    };
    return records[c];
}

static void times_of(const struct records *r, uint32_t i, int64_t *from, int64_t *to)
{
    const char *record = (const char *)r->first + i * r->size;
    memcpy(from, record + r->from, sizeof *from);
    memcpy(to, record + r->to, sizeof *to);
}

static uint32_t blocks(uint32_t records)
{
    return records / BLOCK + 1;
}

static void add_up(uint64_t *sum, uint64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = UINT64_MAX;
}

static uint64_t overlap(int64_t from, int64_t to, int64_t a, int64_t b)
{
    from = from > a ? from : a;
    to = to < b ? to : b;
    return to > from ? (uint64_t)(to - from) : 0;
}

/* ---- Making ---- */

static void include(struct extent *e, bool first, int64_t from_ns, int64_t to_ns)
{
    e->from_ns = first ? from_ns : weft_earlier(e->from_ns, from_ns);
    e->to_ns = first ? to_ns : weft_later(e->to_ns, to_ns);
}

static struct block *summarize(const struct weft_model *m, enum column c)
{
    const struct records records = records_of(m, c);
    struct block *block = calloc(blocks(records.count), sizeof *block);
    for (uint32_t i = 0; block && i < records.count; i++) {
        struct block *b = &block[i / BLOCK];
        int64_t from, to;
        times_of(&records, i, &from, &to);
        include(&b->extent, b->count++ == 0, from, from > to ? from : to);
        add_up(&b->sum_ns, overlap(from, to, from, to));
    }
    return block;
}

static bool is_resolved(const struct weft_promise *p)
{
    return p->outcome != WEFT_PENDING;
}

/* The end of a promise is an event, but not an interaction. */
static bool ends_by_itself(const struct weft_promise *p)
{
    return p->outcome == WEFT_BECAME || p->outcome == WEFT_FORGOTTEN;
}

/* When it ends, as weft_layout_lasts says; not before it starts. */
static int64_t life_end(const struct weft_model *m, uint32_t i)
{
    const struct weft_promise *p = &m->promise[i];
    int64_t end = p->outcome == WEFT_PENDING ? weft_later(p->end_ns, m->end_ns) : p->end_ns;
    return weft_later(end, p->start_ns);
}

static void count_life(struct lives *b, const struct weft_promise *p, int64_t end)
{
    include(&b->extent, b->all++ == 0, weft_earlier(p->start_ns, p->end_ns),
            weft_later(end, p->end_ns));
    b->created += p->created && !p->promoted;
    b->resolved += is_resolved(p);
    b->failed += p->outcome == WEFT_FAILED;
    b->becoming += ends_by_itself(p);
}

static void count_open(struct open_lives *b, const struct weft_promise *p, int64_t end)
{
    include(&b->begins, b->all == 0, p->start_ns, p->start_ns);
    b->until_ns = b->all++ == 0 ? end : weft_later(b->until_ns, end);
    b->created += p->created && !p->promoted;
}

static bool make_lives(struct explore_ranges *r, const struct weft_model *m)
{
    uint32_t room = 0;
    r->lives = calloc(blocks(m->promises), sizeof *r->lives);
    r->open = calloc(blocks(m->promises), sizeof *r->open);
    if (!r->lives || !r->open)
        return false;
    for (uint32_t i = 1; i < m->promises; i++) {
        int64_t end = life_end(m, i);
        if (!is_resolved(&m->promise[i])) {
            count_open(&r->open[i / BLOCK], &m->promise[i], end);
            continue;
        }
        if (m->promises - i <= LASTING || end <= m->promise[i + LASTING].start_ns) {
            count_life(&r->lives[i / BLOCK], &m->promise[i], end);
            continue;
        }
        if (!weft_reserve(&r->lasting, r->all_lasting, &room, sizeof *r->lasting))
            return false;
        r->lasting[r->all_lasting++] = i;
    }
    return true;
}

static void ranges_free(struct explore_ranges *r)
{
    if (!r)
        return;
    for (unsigned c = 0; c < COLUMNS; c++)
        free(r->block[c]);
    explore_busy_free(r->busy);
    weft_free_all(r->lives, r->open, r->lasting, r);
}

/* ---- Asking ---- */

struct range {
    const struct explore_ranges *r;
    const struct weft_model *m;
    const struct weft_layout *l;
    int64_t from_ns, to_ns;
};

static bool is_outside(const struct range *g, const struct extent *e)
{
    return e->to_ns < g->from_ns || e->from_ns > g->to_ns;
}

static bool is_inside(const struct range *g, const struct extent *e)
{
    return e->from_ns >= g->from_ns && e->to_ns <= g->to_ns;
}

/* Counts the records that begin in the range (a collection is one event, at its end), and adds up how long they are in
 * it. */
static void sum_column(const struct range *g, enum column c, uint64_t *count, uint64_t *sum)
{
    const struct records records = records_of(g->m, c);
    for (uint32_t k = 0; k < blocks(records.count); k++) {
        const struct block *b = &g->r->block[c][k];
        if (!b->count || is_outside(g, &b->extent))
            continue;
        if (is_inside(g, &b->extent)) {
            *count += b->count;
            add_up(sum, b->sum_ns);
            continue;
        }
        for (uint32_t i = k * BLOCK; i < records.count && i / BLOCK == k; i++) {
            int64_t from, to;
            times_of(&records, i, &from, &to);
            int64_t at = c == PAUSES ? to : from;
            *count += at >= g->from_ns && at <= g->to_ns;
            add_up(sum, overlap(from, to, g->from_ns, g->to_ns));
        }
    }
}

static bool within(const struct range *g, int64_t time)
{
    return time >= g->from_ns && time <= g->to_ns;
}

static void sum_life(const struct range *g, uint32_t i, struct sums *out, uint64_t *becoming)
{
    const struct weft_promise *p = &g->m->promise[i];
    bool ends_here = within(g, p->end_ns);
    out->created += p->created && !p->promoted && within(g, p->start_ns);
    out->resolved += ends_here && is_resolved(p);
    out->failed += ends_here && p->outcome == WEFT_FAILED;
    *becoming += ends_here && ends_by_itself(p);
    int64_t end = life_end(g->m, i);
    if (p->start_ns > g->to_ns || end < g->from_ns)
        return;
    out->alive++;
    struct weft_greatest *t = &out->longest;
    int64_t inside = (int64_t)overlap(p->start_ns, end, g->from_ns, g->to_ns);
    if (t->count == t->room && inside < t->value[t->count - 1])
        return;
    int64_t start = weft_layout_start(g->l, p); /* not earlier */
    inside = (int64_t)overlap(start, end, g->from_ns, g->to_ns);
    weft_greatest_add(t, i, inside, end > start ? end - start : 0);
}

/* Returns true if no record of a block inside the range is among the longest. */
static bool too_short(const struct weft_greatest *t, const struct extent *e)
{
    return t->count == t->room && e->to_ns - e->from_ns < t->value[t->count - 1];
}

/* Returns true if all of them lie in the range in the same way, and none is among the longest. */
static bool is_plain(const struct range *g, const struct open_lives *b,
                     const struct weft_greatest *t)
{
    const struct extent *e = &b->begins;
    if (e->to_ns > g->to_ns || (e->from_ns < g->from_ns && e->to_ns >= g->from_ns) ||
        g->from_ns > g->m->end_ns || t->count < t->room)
        return false;
    const int64_t inside = (int64_t)overlap(e->from_ns, b->until_ns, g->from_ns, g->to_ns);
    const int64_t least = t->value[t->count - 1];
    return inside < least ||
           (inside == least && b->until_ns - e->from_ns <= t->second[t->count - 1]);
}

static void sum_open(const struct range *g, struct sums *out, uint64_t *becoming)
{
    for (uint32_t k = 0; k < blocks(g->m->promises); k++) {
        const struct open_lives *b = &g->r->open[k];
        if (!b->all || b->begins.from_ns > g->to_ns || b->until_ns < g->from_ns)
            continue;
        if (is_plain(g, b, &out->longest)) {
            out->alive += b->all;
            out->created += b->begins.from_ns >= g->from_ns ? b->created : 0;
            continue;
        }
        for (uint32_t i = k ? k * BLOCK : 1; i < g->m->promises && i / BLOCK == k; i++)
            if (!is_resolved(&g->m->promise[i]))
                sum_life(g, i, out, becoming);
    }
}

static void sum_lives(const struct range *g, struct sums *out, uint64_t *becoming)
{
    sum_open(g, out, becoming);
    for (uint32_t i = 0; i < g->r->all_lasting; i++)
        sum_life(g, g->r->lasting[i], out, becoming);
    for (uint32_t k = 0, next = 0; k < blocks(g->m->promises); k++) {
        const struct lives *b = &g->r->lives[k];
        if (!b->all || is_outside(g, &b->extent))
            continue;
        if (is_inside(g, &b->extent) && too_short(&out->longest, &b->extent)) {
            out->alive += b->all;
            out->created += b->created;
            out->resolved += b->resolved;
            out->failed += b->failed;
            *becoming += b->becoming;
            continue;
        }
        /* The long-lived ones among them are already counted. */
        while (next < g->r->all_lasting && g->r->lasting[next] < k * BLOCK)
            next++;
        for (uint32_t i = k ? k * BLOCK : 1; i < g->m->promises && i / BLOCK == k; i++) {
            if (next < g->r->all_lasting && g->r->lasting[next] == i)
                next++;
            else if (is_resolved(&g->m->promise[i]))
                sum_life(g, i, out, becoming);
        }
    }
}

/* Both times are included. Takes a few milliseconds at most, unless most promises outlive thousands of others. */
static void sum_up(struct sums *out, const struct explore_ranges *r, const struct weft_scene *s,
                   int64_t from_ns, int64_t to_ns)
{
    struct range g = {.r = r, .m = s->m, .l = s->l, .from_ns = from_ns, .to_ns = to_ns};
    uint64_t runs = 0, none = 0, becoming = 0;
    *out = (struct sums){.exact = true};
    out->longest.room = EXPLORE_TOP_SHOWN;
    sum_lives(&g, out, &becoming);
    out->events = out->created + becoming;
    sum_column(&g, INTERACTIONS, &out->events, &none);
    sum_column(&g, LABELS, &out->events, &none);
    sum_column(&g, PAUSES, &out->pauses, &none);
    sum_column(&g, RUNS, &runs, &none);
    sum_column(&g, SLEEPS, &out->sleeps, &out->sleeping_ns);
    explore_busy_add_up(&out->busy, r->busy, from_ns, to_ns);
    out->events += out->pauses;
    uint64_t all = s->m->events_total + s->m->promoted_events;
    if (!r->events || r->events >= all)
        return;
    out->exact = runs == r->runs;
    if (out->exact)
        out->events += all - r->events;
    else if (r->runs)
        out->events += (uint64_t)((double)(all - r->events) * (double)runs / (double)r->runs);
}

/* Returns 0 or WEFT_E_NOMEM. Some tens of milliseconds for ten million events. */
static int ranges_new(struct explore_ranges **out, const struct weft_scene *s)
{
    const struct weft_model *m = s->m;
    struct explore_ranges *r = calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return WEFT_E_NOMEM;
    r->s = s;
    bool made = make_lives(r, m) && explore_busy_new(&r->busy, m) == 0;
    for (unsigned c = 0; c < COLUMNS && made; c++)
        made = (r->block[c] = summarize(m, (enum column)c)) != NULL;
    if (!made) {
        ranges_free(r);
        return WEFT_E_NOMEM;
    }
    struct sums all;
    sum_up(&all, r, s, -WEFT_TIME_MAX, WEFT_TIME_MAX);
    r->events = all.events;
    for (uint32_t i = 0; i < blocks(m->runs); i++)
        r->runs += r->block[RUNS][i].count;
    *out = r;
    return 0;
}

int explore_range_count(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                        int64_t to_ns, struct explore_range_counts *out)
{
    struct sums sums;
    *out = (struct explore_range_counts){0};
    if (!f->ranges || f->ranges->s != s) {
        ranges_free(f->ranges);
        TRY(ranges_new(&f->ranges, s));
    }
    sum_up(&sums, f->ranges, s, from_ns, to_ns);
    *out = (struct explore_range_counts){sums.alive, sums.created, sums.resolved, sums.failed};
    return 0;
}

/* ---- Facts ---- */

static void add_length(struct explore_facts *f, enum explore_fact which, uint64_t ns, uint64_t all,
                       uint32_t threads)
{
    if (__builtin_mul_overflow(all, threads ? threads : 1, &all))
        all = UINT64_MAX;
    explore_say(
        f, explore_nowhere(), which, LENGTH(length, ns < INT64_MAX ? (int64_t)ns : INT64_MAX),
        TEXT(share, explore_share(ns, all).text), AMOUNT(threads, threads > 1 ? threads : 0));
}

int explore_facts_of_range(struct explore_facts *f, const struct weft_scene *s, int64_t from_ns,
                           int64_t to_ns)
{
    struct sums sums;
    explore_fact_begin(f);
    if (!f->ranges || f->ranges->s != s) {
        ranges_free(f->ranges);
        f->failed = ranges_new(&f->ranges, s) < 0;
    }
    if (from_ns > to_ns) {
        int64_t swap = from_ns;
        from_ns = to_ns;
        to_ns = swap;
    }
    from_ns = from_ns < -WEFT_TIME_MAX ? -WEFT_TIME_MAX : from_ns;
    to_ns = to_ns > WEFT_TIME_MAX ? WEFT_TIME_MAX : to_ns;
    if (f->failed || from_ns > to_ns)
        return explore_fact_end(f);
    sum_up(&sums, f->ranges, s, from_ns, to_ns);
    uint64_t all = (uint64_t)(to_ns - from_ns);
    explore_heading(f, FACT_RANGE_HEAD);
    explore_say(f, explore_nowhere(), FACT_DURATION, LENGTH(length, to_ns - from_ns));
    explore_say_time(f, FACT_FROM, from_ns);
    explore_say_time(f, FACT_TO, to_ns);
    explore_say(f, explore_nowhere(), FACT_EVENTS, AMOUNT(count, sums.events),
                FLAG(about, !sums.exact));
    if (sums.busy.known)
        add_length(f, FACT_RUNNING, sums.busy.running_ns, all, sums.busy.threads);
    if (sums.busy.loop_ns)
        add_length(f, FACT_LOOP_RUNNING, sums.busy.loop_ns, all, sums.busy.threads);
    if (s->m->sleeps)
        add_length(f, FACT_SLEEPING, sums.sleeping_ns, all, 1);
    if (s->m->pauses)
        add_length(f, FACT_COLLECTING, sums.busy.collecting_ns, all, 1);
    explore_heading(f, FACT_PROMISES_HEAD);
    explore_say_count(f, FACT_ALIVE_IN_IT, sums.alive);
    explore_say_count(f, FACT_CREATED_IN_IT, sums.created);
    explore_say_count(f, FACT_RESOLVED_IN_IT, sums.resolved);
    if (sums.failed) {
        explore_say_count(f, FACT_FAILED_IN_IT, sums.failed);
        explore_fact_bad(f);
    }
    for (uint32_t i = 0; i < sums.longest.count; i++)
        explore_say_promise(f, s, FACT_LONGEST_IN_IT, sums.longest.item[i], i > 0);
    explore_fact_more(f, sums.alive, sums.longest.count);
    explore_fact_hot_range(f, s, from_ns, to_ns);
    return explore_fact_end(f);
}

void explore_facts_fini(struct explore_facts *f)
{
    weft_free_all(f->fact, f->target, f->at, f->texts);
    ranges_free(f->ranges);
    *f = (struct explore_facts){0};
}
