/* SPDX-License-Identifier: ISC */
/* Where each promise's line goes: rows, counted from the top.
 *
 * mirage-trace-viewer's rule: a child goes on the first free row below its parent; the promise that another one becomes
 * may continue on that one's row. Promises are placed in order of time, so no search among all intervals is needed: n
 * promises, `a` of them alive at once, take O(n log a).
 *
 *     struct weft_layout *l;
 *     if (weft_layout_new(&l, model, false) == 0)
 *         row = l->row[promise];
 *
 * Does not change once made; any number of threads may read it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/order.h"
#include "model/model.h"

/* A promise that began before what a ring still has. */
struct weft_older {
    uint32_t promise;
    bool quiet;      /* there is no event about it */
    int64_t line_ns; /* of the first event about it; quiet: when it began */
};

struct weft_layout {
    const struct weft_model *m; /* borrowed */
    uint32_t rows;
    bool raw;         /* without the simplification of binds */
    uint32_t *row;    /* of each promise; WEFT_NONE for the loop, which has none */
    uint32_t *spans;  /* the promises row by row, in each by start */
    int64_t *start;   /* parallel to spans: when the line begins */
    int64_t *until;   /* parallel to spans: the latest end of a line in the row up to there */
    uint8_t *look;    /* parallel to spans: WEFT_LOOK_… */
    uint32_t *first;  /* spans of row r are spans[first[r] … first[r + 1]) */
    uint8_t *awaited; /* a bit for each promise: see weft_layout_awaited */

    struct weft_older *older; /* by promise; only in a ring that has wrapped */
    uint32_t olders, quiet;   /* how many; how many of them are quiet */
    uint32_t own_rows;        /* rows from here on are those of the quiet ones */
    int64_t *
        gone; /* of those that have been pending since before the trace, sorted: when they ended … */
    uint32_t gones; /* … or INT64_MAX */
    uint32_t groups,
        *group_first; /* rows of group g: group_first[g] … group_first[g + 1] - 1; 0: none */

    uint32_t *order; /* the promises by the start of their lines, then by index; without the loop */
};

/* What is known of a line without reading its promise. */
enum {
    WEFT_LOOK_RED = 1, /* failed, or overdue */
    WEFT_LOOK_PENDING = 2,
    WEFT_LOOK_BACKGROUND = 4,
    WEFT_LOOK_AWAITED = 8,
    WEFT_LOOK_NAMED = 16,  /* see weft_model_name */
    WEFT_LOOK_LABELS = 32, /* has more than one label */
};

/* On success the caller owns *out. Returns 0 or WEFT_E_NOMEM; *out is then NULL. */
int weft_layout_new(struct weft_layout **out, const struct weft_model *m, bool raw);

/* The same with groups of promises that have rows of their own, one group below the other. group: the group of each
 * promise, below `groups`. Borrowed only for the call. */
int weft_layout_new_grouped(struct weft_layout **out, const struct weft_model *m, bool raw,
                            const uint32_t *group, uint32_t groups);

void weft_layout_free(struct weft_layout *l);

/* When a promise begins: from then on it lasts. */
static inline int64_t view_start(const struct weft_model *m, bool raw, const struct weft_promise *p)
{
    return raw ? p->start_ns : weft_model_wake(m, p);
}

static inline int64_t weft_layout_start(const struct weft_layout *l, const struct weft_promise *p)
{
    return view_start(l->m, l->raw, p);
}

/* The time from which on a ring that has wrapped is complete. */
static inline int64_t weft_layout_whole(const struct weft_model *m)
{
    return m->losses.overwritten && m->known_ns > 0 ? m->known_ns : 0;
}

/* When a view begins that shows everything from that time on: a little before, but not before the trace. */
static inline int64_t weft_layout_before(const struct weft_model *m, int64_t time_ns)
{
    return weft_later(time_ns - (int64_t)(0.03 * (double)(m->end_ns - time_ns)), 0);
}

/* When a view of what was seen at one moment begins; 0: the trace is of more than one. */
static inline int64_t weft_layout_moment(const struct weft_model *m)
{
    const bool is_inside = m->known_ns > 0 && m->known_ns < m->end_ns;
    return m->quirks.at_once && is_inside ? weft_layout_before(m, m->known_ns) : 0;
}

/* What is known of a promise that is older than the trace; NULL: it is not, or the ring has not wrapped. */
const struct weft_older *weft_layout_older(const struct weft_layout *l, uint32_t promise);

/* How many of the promises that have been pending since before the trace still are at that time. */
uint32_t weft_layout_pending_since(const struct weft_layout *l, int64_t time_ns);

/* When the line of a promise begins: with the promise, or later, if that is older than the trace. */
static inline int64_t weft_layout_line(const struct weft_layout *l, const struct weft_promise *p)
{
    const struct weft_older *older = NULL;
    if (l->olders && (p->promoted || !p->created))
        older = weft_layout_older(l, (uint32_t)(p - l->m->promise));
    return older && !older->quiet ? older->line_ns : weft_layout_start(l, p);
}

/* True if a promise hangs: it is pending, and waits for another pending promise, or that one for it. Its line goes on to
 * the end of the trace, beyond its last sign of life. */
static inline bool weft_layout_awaited(const struct weft_layout *l, uint32_t promise)
{
    return l->awaited[promise / 8] >> (promise % 8) & 1;
}

/* When the line of a promise ends: not before it begins. */
static inline int64_t weft_layout_end(const struct weft_layout *l, const struct weft_model *m,
                                      uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    int64_t start = weft_layout_line(l, p), end = p->end_ns;
    if (weft_layout_awaited(l, promise) && m->end_ns > end)
        end = m->end_ns;
    return end > start ? end : start;
}

/* How long a promise lasts, which is what everything says of it: from where its line begins to its end. A pending one
 * lasts until the trace ends, though its line may end earlier, with its last sign of life. */
static inline int64_t weft_layout_lasts(const struct weft_model *m, bool raw, uint32_t promise)
{
    const struct weft_promise *p = &m->promise[promise];
    int64_t start = view_start(m, raw, p), end = p->end_ns;
    if (p->outcome == WEFT_PENDING && m->end_ns > end)
        end = m->end_ns;
    return end > start ? end - start : 0;
}

/* The end of the line of a span. Few lines of a row overlap, so the model is hardly ever needed. */
static inline int64_t weft_layout_span_end(const struct weft_layout *l, const struct weft_model *m,
                                           uint32_t span)
{
    if (span == 0 || l->until[span] > l->until[span - 1])
        return l->until[span];
    return weft_layout_end(l, m, l->spans[span]);
}

/* The promise below which it is placed. */
static inline uint32_t weft_layout_parent(const struct weft_layout *l, const struct weft_promise *p)
{
    return l->raw ? p->creator : weft_model_under(l->m, p);
}
