/* SPDX-License-Identifier: ISC */
/* Finds which mapping an address was in at a given time.
 * For each process, its changes are processed in order of time, together with the queries about it.
 * The boundaries of its mappings cut the address space into pieces; a mapping covers a range of
 * pieces. The pieces are the leaves of a binary tree: a mapping's number is written into the few
 * nodes that make up its range, and the newest mapping over an address is the largest number on the
 * way from its leaf to the root. So each step takes time logarithmic in the number of mappings,
 * whatever the file says.
 * A query that finds nothing is tried again: with later mappings of the process, which may have
 * been reported a little late; then with the process that it was forked from, at that time; then
 * with the mappings that all processes have. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "profile/builder.h"

enum { ANCESTORS = 64 };

struct query {
    uint64_t time_ns;
    uint32_t process, location;
    bool found;
};

/* One process. */
struct space {
    const struct weft_profile *p;
    const struct profile_change *change;
    uint32_t changes;
    uint64_t *bound; /* ascending; piece i lies between bound i and the next */
    uint32_t bounds;
    uint32_t *newest; /* the tree: node 1 is the root, leaf i is node bounds + i */
    uint32_t floor;   /* mappings that are not newer than this are gone */
};

static int by_process(const void *a, const void *b)
{
    const struct profile_change *x = a, *y = b;
    WEFT_ORDER(x->process, y->process);
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(x->order, y->order);
}

static int query_order(const void *a, const void *b)
{
    const struct query *x = a, *y = b;
    WEFT_ORDER(x->process, y->process);
    WEFT_ORDER(x->time_ns, y->time_ns);
    return weft_order(x->location, y->location);
}

static uint64_t end_of(const struct weft_mapping *m)
{
    return m->size < UINT64_MAX - m->start ? m->start + m->size : UINT64_MAX;
}

/* How many bounds are <= address. */
static uint32_t bounds_until(const struct space *s, uint64_t address)
{
    uint32_t low = 0, high = s->bounds;
    WEFT_SEEK(low, high, s->bound[middle] <= address);
    return low;
}

static void cover(struct space *s, const struct weft_mapping *m, uint32_t number)
{
    if (m->size == 0)
        return;
    uint32_t l = s->bounds + bounds_until(s, m->start) - 1;
    uint32_t r = s->bounds + bounds_until(s, end_of(m)) - 1;
    for (; l < r; l /= 2, r /= 2) {
        if (l & 1)
            s->newest[l++] = number;
        if (r & 1)
            s->newest[--r] = number;
    }
}

/* The newest mapping over an address; 0: none. */
static uint32_t newest_over(const struct space *s, uint64_t address)
{
    uint32_t piece = bounds_until(s, address), newest = 0;
    if (piece == 0)
        return 0;
    for (uint32_t node = s->bounds + piece - 1; node; node /= 2)
        newest = s->newest[node] > newest ? s->newest[node] : newest;
    return newest > s->floor ? newest : 0;
}

static int begin(struct space *s, const struct weft_profile *p, const struct profile_change *change,
                 uint32_t changes)
{
    *s = (struct space){.p = p, .change = change, .changes = changes};
    s->bound = weft_resize(NULL, UINT64_C(2) * changes, sizeof *s->bound);
    s->newest = weft_resize(NULL, UINT64_C(4) * changes, sizeof *s->newest);
    if (!s->bound || !s->newest || changes >= UINT32_MAX / 4)
        return WEFT_E_NOMEM;
    uint32_t count = 0;
    for (uint32_t i = 0; i < changes; i++)
        if (change[i].mapping != WEFT_NONE) {
            s->bound[count++] = p->mapping[change[i].mapping].start;
            s->bound[count++] = end_of(&p->mapping[change[i].mapping]);
        }
    weft_sort(s->bound, count, sizeof *s->bound, weft_order_u64);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || s->bound[i] != s->bound[s->bounds - 1])
            s->bound[s->bounds++] = s->bound[i];
    return 0;
}

static void clear(struct space *s)
{
    s->floor = 0;
    memset(s->newest, 0, (size_t)s->bounds * 2 * sizeof *s->newest);
}

static void end(struct space *s)
{
    free(s->bound);
    free(s->newest);
}

static void answer(struct weft_profile *p, struct query *q, const struct profile_change *c)
{
    p->location[q->location].mapping = c->mapping;
    q->found = true;
}

/* Answers what was mapped by then. A query without an answer goes on to the parent, or to the
 * mappings of all processes. */
static void walk_forward(struct weft_profile *p, struct space *s, struct query *query,
                         uint32_t queries)
{
    uint32_t next = 0;
    const struct profile_change *birth = NULL;
    clear(s);
    for (uint32_t i = 0; i < queries; i++) {
        struct query *q = &query[i];
        for (; next < s->changes && s->change[next].time_ns <= q->time_ns; next++) {
            const struct profile_change *c = &s->change[next];
            if (c->mapping != WEFT_NONE) {
                cover(s, &p->mapping[c->mapping], next + 1);
            } else {
                s->floor = next + 1;
                birth = c;
            }
        }
        uint32_t newest = newest_over(s, p->location[q->location].address);
        if (newest) {
            answer(p, q, &s->change[newest - 1]);
        } else {
            q->process = birth ? birth->parent : UINT32_MAX;
            q->time_ns = birth && birth->parent != UINT32_MAX ? birth->time_ns : q->time_ns;
        }
    }
}

/* Answers a query with what was mapped next. */
static void answer_next(struct weft_profile *p, const struct space *s, struct query *q)
{
    uint32_t next = q->found ? 0 : newest_over(s, p->location[q->location].address);
    if (next)
        answer(p, q, &s->change[s->changes - next]);
}

/* Answers what was mapped next, but not by another program, and sets when mappings end. times: of
 * the queries, in the same order. */
static void walk_backward(struct weft_profile *p, struct space *s, struct query *query,
                          uint32_t queries, const uint64_t *time_ns, bool set_ends)
{
    uint32_t left = queries;
    uint64_t gone_ns = UINT64_MAX; /* all mappings */
    clear(s);
    for (uint32_t i = s->changes; i-- > 0;) {
        const struct profile_change *c = &s->change[i];
        for (; left && time_ns[left - 1] >= c->time_ns; left--)
            answer_next(p, s, &query[left - 1]);
        uint32_t number = s->changes - i;
        if (c->mapping == WEFT_NONE) {
            s->floor = number;
            gone_ns = c->time_ns;
            continue;
        }
        struct weft_mapping *m = &p->mapping[c->mapping];
        if (set_ends) {
            uint32_t next = newest_over(s, m->start);
            m->to_ns = next ? s->change[s->changes - next].time_ns : gone_ns;
        }
        cover(s, m, number);
    }
    while (left)
        answer_next(p, s, &query[--left]);
}

static int ask_process(struct weft_profile *p, const struct profile_change *change,
                       uint32_t changes, struct query *query, uint32_t queries, bool first)
{
    struct space s;
    uint64_t *time_ns = weft_resize(NULL, (uint64_t)queries + 1, sizeof *time_ns);
    int rc = begin(&s, p, change, changes);
    if (!time_ns)
        rc = WEFT_E_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < queries; i++)
            time_ns[i] = query[i].time_ns;
        walk_forward(p, &s, query, queries);
        walk_backward(p, &s, query, first ? queries : 0, time_ns, first);
    }
    end(&s);
    free(time_ns);
    return rc;
}

/* Runs the queries for each process. Those for processes about which nothing is known go on to the
 * mappings of all processes. */
static int ask_all(struct weft_profile *p, struct query *query, uint32_t queries, bool first)
{
    const struct profile_change *change = p->build->change;
    uint32_t changes = p->build->changes, q = 0;
    qsort(query, queries, sizeof *query, query_order);
    for (uint32_t c = 0; c < changes;) {
        uint32_t last = c, process = change[c].process;
        while (last < changes && change[last].process == process)
            last++;
        for (; q < queries && query[q].process < process; q++)
            query[q].process = UINT32_MAX;
        uint32_t end = q;
        while (end < queries && query[end].process == process)
            end++;
        int rc =
            first || end > q ? ask_process(p, change + c, last - c, query + q, end - q, first) : 0;
        if (rc < 0)
            return rc;
        c = last;
        q = end;
    }
    for (; q < queries; q++)
        query[q].process = UINT32_MAX;
    return 0;
}

/* Keeps the queries without an answer. Returns true if one of them is about a single process. */
static uint32_t keep_open(struct query *query, uint32_t queries, bool *single)
{
    uint32_t kept = 0;
    *single = false;
    for (uint32_t i = 0; i < queries; i++)
        if (!query[i].found) {
            *single |= query[i].process != UINT32_MAX;
            query[kept++] = query[i];
        }
    return kept;
}

int profile_mappings_assign(struct weft_profile *p)
{
    struct weft_profile_build *b = p->build;
    struct query *query = weft_resize(NULL, (uint64_t)p->locations + 1, sizeof *query);
    uint32_t queries = 0;
    if (!query)
        return WEFT_E_NOMEM;
    for (uint32_t i = 0; i < p->locations; i++) {
        p->location[i].mapping = WEFT_NONE;
        query[queries++] = (struct query){b->first_ns[i], p->location[i].process, i, false};
    }
    weft_sort(b->change, b->changes, sizeof *b->change, by_process);
    bool single = true;
    int rc = ask_all(p, query, queries, true);
    for (unsigned i = 0; i < ANCESTORS && rc == 0 && single; i++) {
        queries = keep_open(query, queries, &single);
        if (queries)
            rc = ask_all(p, query, queries, false);
    }
    free(query);
    return rc;
}
