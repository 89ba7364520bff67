/* SPDX-License-Identifier: ISC */
/* Waits may lead in a circle: what no root leads to is begun with at the oldest of the rest, and what was told is not told
 * again. */
#include "cli/pending.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "base/array.h"
#include "base/order.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/trace_json.h"

enum {
    ALIKE_SHOWN = 2,
    LINES_MAX = 200,
    DEPTH_MAX = 16, /* what is deeper is not indented further */
    INDENT = 3,
};

struct edge { /* to stands below from */
    uint32_t from, to;
    uint32_t family; /* of to */
    bool created;    /* … since from has created it; otherwise from waits for it */
};

struct tree {
    const struct weft_history *h;
    struct analyse_families families;
    struct edge *edge; /* sorted by from, waits first, those of one family together */
    uint32_t edges, room;
    uint32_t *first;    /* of each promise: its first edge, and one more */
    uint32_t *run;      /* … the run on it that has not ended, or WEFT_NONE */
    bool *below, *told; /* … it stands below another one; it was printed, or counted */
    uint32_t *lone;     /* of each family: how many stand alone; 0: those were told */
    uint32_t *folded;   /* promises that were only counted */
    uint32_t folds, folds_room;
    bool all, failed;
    uint32_t lines;
    uint64_t left_out;
    struct step { /* what is still to be printed */
        uint32_t edge, more;
        unsigned depth;
    } * step;
    uint32_t steps, steps_room;
};

static bool is_pending(const struct weft_model *m, uint32_t promise)
{
    return promise != WEFT_NONE && promise != WEFT_ROOT &&
           m->promise[promise].outcome == WEFT_PENDING;
}

static void add(struct tree *t, uint32_t from, uint32_t to, bool created)
{
    if (!weft_reserve(&t->edge, t->edges, &t->room, sizeof *t->edge)) {
        t->failed = true;
        return;
    }
    t->edge[t->edges++] = (struct edge){from, to, t->families.of[to], created};
    t->below[to] = true;
}

static int by_from(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    WEFT_ORDER(x->from, y->from);
    WEFT_ORDER(x->created, y->created);
    WEFT_ORDER(x->family, y->family);
    return weft_order(x->to, y->to);
}

static void find_edges(struct tree *t)
{
    const struct weft_model *m = t->h->m;
    for (uint32_t i = 0; i < t->h->waits; i++) {
        const struct weft_wait *w = &t->h->wait[i];
        const uint32_t from = weft_model_final(m, w->reader), to = weft_model_final(m, w->source);
        if (w->end == WEFT_WAIT_OPEN && from != to && is_pending(m, from) && is_pending(m, to))
            add(t, from, to, false);
    }
    for (uint32_t p = 1; p < m->promises; p++)
        if (is_pending(m, p) && !t->below[p] && m->promise[p].created &&
            is_pending(m, m->promise[p].creator) && m->promise[p].creator != p)
            add(t, m->promise[p].creator, p, true);
    uint32_t kept = 0;
    if (t->edges)
        qsort(t->edge, t->edges, sizeof *t->edge, by_from);
    for (uint32_t i = 0; i < t->edges; i++)
        if (!kept || by_from(&t->edge[kept - 1], &t->edge[i]) != 0)
            t->edge[kept++] = t->edge[i];
    t->edges = kept;
    for (uint32_t i = 0; i < t->edges; i++)
        t->first[t->edge[i].from + 1]++;
    for (uint32_t p = 0; p < m->promises; p++)
        t->first[p + 1] += t->first[p];
}

static bool is_lone(const struct tree *t, uint32_t promise)
{
    return is_pending(t->h->m, promise) && !t->below[promise] &&
           t->first[promise] == t->first[promise + 1];
}

static void make(struct tree *t, const struct weft_history *h, bool all)
{
    const struct weft_model *m = h->m;
    *t = (struct tree){.h = h,
                       .all = all,
                       .first = calloc((size_t)m->promises + 1, sizeof *t->first),
                       .run = weft_new_none(m->promises, sizeof *t->run),
                       .below = calloc(m->promises, sizeof *t->below),
                       .told = calloc(m->promises, sizeof *t->told)};
    t->failed =
        !t->first || !t->run || !t->below || !t->told || analyse_families_init(&t->families, m) < 0;
    if (t->failed)
        return;
    for (uint32_t r = m->runs_ended; r < m->runs; r++)
        t->run[h->run_promise[r]] = r;
    find_edges(t);
    t->lone = calloc((size_t)t->families.count + 1, sizeof *t->lone);
    t->failed |= !t->lone;
    for (uint32_t p = 1; p < m->promises && t->lone; p++)
        t->lone[t->families.of[p]] += is_lone(t, p);
}

static void drop(struct tree *t)
{
    analyse_families_fini(&t->families);
    weft_free_all(t->edge, t->first, t->run, t->below, t->told, t->step, t->lone, t->folded);
}

/* ---- In words ---- */

static void put_thread(struct analyse_text *text, const struct weft_history *h, uint32_t run)
{
    const uint32_t stream = weft_history_stream(h, run);
    const struct weft_stream_thread *s = h->m->stream_thread;
    analyse_put_format(text, ", runs");
    if (s && stream < h->m->streams && s[stream].thread)
        analyse_put_format(text, " on thread %" PRIu32, s[stream].thread);
}

static void print_promise(struct tree *t, uint32_t promise, const char *how, uint32_t more,
                          unsigned depth)
{
    const struct weft_model *m = t->h->m;
    const struct weft_promise *p = &m->promise[promise];
    struct analyse_text text = {0};
    char first[INDENT * (DEPTH_MAX + 2) + 1], rest[INDENT * (DEPTH_MAX + 2) + 1];
    const uint32_t origin = weft_model_origin(m, promise);
    const int indent = INDENT * (int)(depth < DEPTH_MAX ? depth : DEPTH_MAX);
    if (!t->all && t->lines++ >= LINES_MAX) {
        t->left_out += 1 + (uint64_t)more;
        t->told[promise] = true;
        return;
    }
    analyse_put_format(&text, "%s", how);
    analyse_put_full(&text, m, promise);
    if (t->told[promise]) {
        analyse_put_format(&text, " (see above)");
    } else {
        analyse_put_format(&text, p->created ? ", pending for %s" : ", pending for more than %s",
                           weft_duration(m->end_ns - p->start_ns).text);
        if (origin != WEFT_NONE) {
            analyse_put_format(&text, ", from ");
            analyse_put_place(&text, m, origin);
        }
        if (t->run[promise] != WEFT_NONE)
            put_thread(&text, t->h, t->run[promise]);
    }
    if (more)
        analyse_put_format(&text, " (and %s more like it)", weft_count(more).text);
    snprintf(first, sizeof first, "%*s", indent, "");
    snprintf(rest, sizeof rest, "%*s", indent + INDENT, "");
    cli_wrap_text(first, rest, &text);
    t->told[promise] = true;
}

static void fold(struct tree *t, uint32_t promise)
{
    if (weft_reserve(&t->folded, t->folds, &t->folds_room, sizeof *t->folded))
        t->folded[t->folds++] = promise;
    else
        t->failed = true;
}

/* What stands below a promise is to be printed next, the first first; of those that are alike, only some. */
static void push(struct tree *t, uint32_t promise, unsigned depth)
{
    const uint32_t before = t->steps;
    analyse_each(i, t->first, promise) {
        const uint32_t head = i;
        uint32_t end = i;
        while (end < t->first[promise + 1] && t->edge[end].family == t->edge[head].family &&
               t->edge[end].created == t->edge[head].created)
            end++;
        const uint32_t shown = t->all || end - head <= ALIKE_SHOWN ? end - head : 1;
        for (uint32_t k = head; k < head + shown; k++) {
            if (!weft_reserve(&t->step, t->steps, &t->steps_room, sizeof *t->step)) {
                t->failed = true;
                return;
            }
            t->step[t->steps++] =
                (struct step){k, k + 1 == head + shown ? end - head - shown : 0, depth};
        }
        for (uint32_t k = head + shown; k < end; k++) {
            t->told[t->edge[k].to] = true;
            fold(t, t->edge[k].to);
        }
        i = end - 1;
    }
    for (uint32_t a = before, b = t->steps; a + 1 < b; a++) {
        const struct step s = t->step[a];
        t->step[a] = t->step[--b];
        t->step[b] = s;
    }
}

static void print_tree(struct tree *t, uint32_t root, uint32_t more)
{
    print_promise(t, root, "", more, 1);
    push(t, root, 2);
    while (t->steps) {
        const struct step s = t->step[--t->steps];
        const struct edge *e = &t->edge[s.edge];
        const bool told = t->told[e->to];
        print_promise(t, e->to, e->created ? "created " : "waits for ", s.more, s.depth);
        if (!told)
            push(t, e->to, s.depth + 1);
    }
}

/* What stands below those that were only counted is not told either, unless it stands elsewhere, too. */
static void leave_out_folded(struct tree *t)
{
    while (t->folds) {
        const uint32_t promise = t->folded[--t->folds];
        analyse_each(i, t->first, promise) {
            if (t->told[t->edge[i].to])
                continue;
            t->told[t->edge[i].to] = true;
            fold(t, t->edge[i].to);
        }
    }
}

/* Those that stand alone are often many, and alike. */
static void print_root(struct tree *t, uint32_t root)
{
    uint32_t *lone = &t->lone[t->families.of[root]], more = 0;
    if (is_lone(t, root) && !t->all) {
        if (*lone == 0)
            return;
        if (*lone > ALIKE_SHOWN) {
            more = *lone - 1;
            *lone = 0;
        }
    }
    print_tree(t, root, more);
    leave_out_folded(t);
}

void cli_pending_print(const struct weft_history *h, bool all)
{
    const struct weft_model *m = h->m;
    struct tree t;
    uint32_t pending = 0;
    make(&t, h, all);
    for (uint32_t p = 1; p < m->promises; p++)
        pending += is_pending(m, p);
    printf("%s%s pending%s%s\n", cli_style(CLI_BOLD), cli_many(pending, "promise").text,
           pending ? ":" : ".", cli_style(CLI_PLAIN));
    for (unsigned circles = 0; circles < 2 && !t.failed; circles++)
        for (uint32_t p = 1; p < m->promises && !t.failed; p++)
            if (is_pending(m, p) && !t.told[p] && (circles || !t.below[p]))
                print_root(&t, p);
    if (t.left_out)
        printf("%s more are not shown; --all shows them.\n", weft_count(t.left_out).text);
    if (t.failed)
        cli_lacks_memory();
    putchar('\n');
    drop(&t);
}

/* ---- For programs ---- */

static json_t *promise_json(const struct tree *t, uint32_t promise)
{
    const struct weft_model *m = t->h->m;
    json_t *waits = json_array();
    analyse_each(i, t->first, promise)
        if (!t->edge[i].created)
            cli_json_append(waits, cli_json_id(m, t->edge[i].to));
    return CLI_OBJECT(CLI_PROMISE(m, promise), "start_ns", m->promise[promise].start_ns, "creator",
                      cli_json_id(m, m->promise[promise].creator), "running",
                      (bool)(t->run[promise] != WEFT_NONE), "waits_for", waits);
}

json_t *cli_pending_json(const struct weft_history *h)
{
    struct tree t;
    json_t *list = json_array();
    make(&t, h, true);
    for (uint32_t p = 1; p < h->m->promises && !t.failed; p++)
        if (is_pending(h->m, p))
            cli_json_append(list, promise_json(&t, p));
    if (t.failed)
        cli_lacks_memory();
    drop(&t);
    return list;
}
