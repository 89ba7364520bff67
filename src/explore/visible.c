/* SPDX-License-Identifier: ISC */
/* Finds the longest visible lines. In a row, no span of a piece starts before the piece's first start or ends after the
 * latest end up to its last span. That bounds the longest line of a piece; so the pieces are halved, the one with the
 * greatest bound first, until they are single lines. */
#include "explore/visible.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "explore/fact.h"

enum {
    ROWS_MAX = 20000,
    HALVINGS_MAX = 60000,
    EXACT_MAX = 10000,
    GLANCE = 64, /* lines that are read if there was no time for halving */
};

/* Spans first … last of a row, and the most that can be visible of any of them. */
struct piece {
    int64_t most;
    uint32_t first, last;
    bool is_line; /* it is one line, and most is its visible length */
};

struct sight {
    const struct weft_model *m;
    const struct weft_layout *l;
    int64_t from_ns, to_ns;
    struct piece *piece; /* a heap, the greatest first */
    uint32_t pieces;
};

struct found {
    int64_t start_ns;
    uint32_t promise;
};

static int64_t start_of(const struct sight *v, uint32_t span)
{
    return v->l->start[span];
}

static void push(struct sight *v, struct piece p)
{
    uint32_t i = v->pieces++;
    for (; i > 0 && v->piece[(i - 1) / 2].most < p.most; i = (i - 1) / 2)
        v->piece[i] = v->piece[(i - 1) / 2];
    v->piece[i] = p;
}

static struct piece pop(struct sight *v)
{
    struct piece top = v->piece[0], p = v->piece[--v->pieces];
    uint32_t i = 0;
    for (uint32_t child = 1; child < v->pieces; child = 2 * i + 1) {
        if (child + 1 < v->pieces && v->piece[child + 1].most > v->piece[child].most)
            child++;
        if (v->piece[child].most <= p.most)
            break;
        v->piece[i] = v->piece[child];
        i = child;
    }
    v->piece[i] = p;
    return top;
}

/* The visible length of what reaches from one time to another; negative: nothing is visible. */
static int64_t seen(const struct sight *v, int64_t start, int64_t end)
{
    start = start > v->from_ns ? start : v->from_ns;
    end = end < v->to_ns ? end : v->to_ns;
    return end >= start ? end - start : -1;
}

static int64_t line_seen(const struct sight *v, uint32_t span)
{
    return seen(v, start_of(v, span), weft_layout_span_end(v->l, v->m, span));
}

static void push_piece(struct sight *v, uint32_t first, uint32_t last)
{
    struct piece p = {.first = first, .last = last, .is_line = first == last};
    p.most = p.is_line ? line_seen(v, first) : seen(v, start_of(v, first), v->l->until[last]);
    if (p.most >= 0)
        push(v, p);
}

/* Finds the spans of a row that start no later than the picture ends, from the first that may still be visible; returns
 * how many. */
static uint32_t in_row(const struct sight *v, uint32_t row, uint32_t *first)
{
    uint32_t low = v->l->first[row], high = v->l->first[row + 1], end = high;
    WEFT_SEEK(low, high, v->l->until[middle] < v->from_ns);
    *first = low;
    high = end;
    WEFT_SEEK(low, high, start_of(v, middle) <= v->to_ns);
    return low - *first;
}

/* Turns the rows into pieces. Returns how many lines there are. */
static uint64_t begin(struct sight *v, const struct weft_geometry *g)
{
    uint32_t step = g->shown / ROWS_MAX + 1, first;
    uint64_t all = 0, exact = 0;
    for (uint32_t i = 0; i < g->shown; i += step) {
        uint32_t count = in_row(v, g->shown_row[i], &first);
        if (count)
            push_piece(v, first, first + count - 1);
        all += (uint64_t)count * step;
    }
    if (all > EXACT_MAX || step > 1)
        return all;
    for (uint32_t i = 0; i < g->shown; i++)
        for (uint32_t count = in_row(v, g->shown_row[i], &first); count--;)
            exact += line_seen(v, first + count) >= 0;
    return exact;
}

/* Finds the longest of the first few lines of a piece. */
static uint32_t glance(const struct sight *v, const struct piece *p)
{
    uint32_t best = p->first;
    int64_t most = -1;
    for (uint32_t i = p->first; i <= p->last && i - p->first < GLANCE; i++) {
        int64_t length = line_seen(v, i);
        if (length > most) {
            most = length;
            best = i;
        }
    }
    return best;
}

static uint32_t find(struct sight *v, struct found *out, uint32_t max)
{
    uint32_t count = 0, halvings = 0;
    while (v->pieces && count < max) {
        struct piece p = pop(v);
        if (!p.is_line && halvings++ < HALVINGS_MAX) {
            uint32_t middle = p.first + (p.last - p.first) / 2;
            push_piece(v, p.first, middle);
            push_piece(v, middle + 1, p.last);
            continue;
        }
        uint32_t span = p.is_line ? p.first : glance(v, &p);
        if (line_seen(v, span) >= 0)
            out[count++] =
                (struct found){.promise = v->l->spans[span], .start_ns = start_of(v, span)};
    }
    return count;
}

static int by_start(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    WEFT_ORDER(x->start_ns, y->start_ns);
    return weft_order(x->promise, y->promise);
}

/* "fsync log, #12, from 1.2 ms, 3 ms long, failed" */
static void describe(char *out, size_t room, const struct weft_scene *s, uint32_t promise)
{
    const struct weft_promise *p = &s->m->promise[promise];
    const char *name = weft_model_type(s->m, promise);
    char type[EXPLORE_FACT_LABEL], label[EXPLORE_FACT_LABEL];
    explore_fact_clean(type, sizeof type, name, strlen(name));
    bool labelled = explore_fact_label(label, sizeof label, s->m, promise) != 0;
    snprintf(out, room, "%s%s%s, #%" PRIu64 ", from %s, %s long, %s", type, labelled ? " " : "",
             label, p->id, weft_moment(weft_layout_start(s->l, p)).text,
             weft_duration(explore_length(s, promise)).text,
             weft_model_overdue(s->m, promise) ? "never resolved, but must be"
                                               : weft_outcome_name((enum weft_outcome)p->outcome));
}

void explore_visible_clear(struct explore_visible *v)
{
    v->count = v->all = 0;
}

int explore_visible_list(struct explore_visible *v, const struct weft_scene *s,
                         const struct weft_geometry *g, unsigned pane, uint32_t max)
{
    struct sight sight = {.m = s->m, .l = s->l, .from_ns = g->from_ns, .to_ns = g->to_ns};
    struct found found[WEFT_VISIBLE_MAX];
    uint32_t rows = g->shown < ROWS_MAX ? g->shown : ROWS_MAX;
    max = max < WEFT_VISIBLE_MAX - v->count ? max : WEFT_VISIBLE_MAX - v->count;
    sight.piece = malloc((rows + HALVINGS_MAX + 2u) * sizeof *sight.piece);
    if (!sight.piece)
        return WEFT_E_NOMEM;
    uint64_t all = v->all + begin(&sight, g);
    v->all = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
    uint32_t count = find(&sight, found, max);
    free(sight.piece);
    if (count)
        qsort(found, count, sizeof *found, by_start);
    for (uint32_t i = 0; i < count; i++) {
        char *text = v->text[v->count];
        describe(text, sizeof v->text[0], s, found[i].promise);
        v->item[v->count++] =
            (struct weft_visible){.text = text, .pane = pane, .promise = found[i].promise};
    }
    return 0;
}
