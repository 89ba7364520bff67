/* SPDX-License-Identifier: ISC */
/* The arrows: which promise used which result, which waits for which, which resolved or signalled which.
 *
 * The wider an arrow, the fainter it is: a result used long after it was ready tells little. Arrows that look alike are
 * drawn once. If there are still too many, those about long-lived promises are kept, because that is where the time was
 * spent. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "view/canvas.h"

enum {
    ARROWS_MAX = 500, /* as many as a painter can draw in time */
    FEW = 2000,       /* up to this many interactions, each is considered */
    BLOCKS_MAX = 600, /* above that, only this many blocks: those with the heaviest interactions */
    CANDIDATES = 2000,
    CHOSEN_MAX = 64,     /* promises of a selection … */
    CHOSEN_ARROWS = 512, /* … whose arrows are drawn, up to this many of each */
    COLUMN = 4 * PX,     /* width of a column of the picture … */
    COLUMN_MAX = 5,      /* … in which more arrow heads than this would be a blot */
    ALPHA_CROWDED = 120, /* in such a column */
    FADE_FROM = 30 * PX, /* narrower ones are drawn in full */
    FADE_TO = 1500 * PX,
    ALPHA_MAX = 235,
    ALPHA_MIN = 44,
    HEAD = 9 * PX,    /* maximum length */
    FEW_ARROWS = 100, /* up to this many, all are drawn */
    STUB = 14 * PX,   /* length of an arrow whose other end is outside the picture */
};

struct arrow {
    int32_t x0, y0, x1, y1;
    int64_t lived_ns; /* lifetime of the promise that the arrow is about */
    uint32_t interaction;
    uint32_t count; /* how many interactions look the same */
    uint8_t kind;   /* enum weft_kind */
    bool chosen;    /* concerns the selection */
    bool crowded;
};

struct arrows {
    struct arrow *arrow;
    uint32_t count, room;
};

/* The promises and times at both ends of an interaction; false: it is not drawn. */
static bool ends_of(const struct canvas *c, const struct weft_interaction *x, uint32_t end[2],
                    int64_t time[2], enum weft_kind *kind)
{
    const struct weft_promise *other = &c->m->promise[x->other];
    if (x->replaced || x->actor == x->other || x->actor == WEFT_ROOT || x->other == WEFT_ROOT)
        return false;
    end[0] = x->actor;
    end[1] = x->other;
    time[0] = time[1] = x->time_ns;
    switch ((enum weft_interaction_kind)x->kind) {
    case WEFT_READS:
        end[0] = x->other;
        end[1] = x->actor;
        time[0] = other->end_ns < x->time_ns ? other->end_ns : x->time_ns;
        *kind = other->outcome == WEFT_FAILED ? WEFT_KIND_FAILURES : WEFT_KIND_READS;
        return true;
    case WEFT_WAITS:
        *kind = WEFT_KIND_WAITS;
        return true;
    case WEFT_RESOLVES:
    case WEFT_RESOLVES_AGAIN:
    case WEFT_CANCELS_LATE:
        *kind = WEFT_KIND_RESOLVES;
        return true;
    case WEFT_SIGNALS:
    case WEFT_NOTIFIES:
        *kind = WEFT_KIND_SIGNALS;
        return true;
    }
    return false;
}

static void add_arrow(struct canvas *c, struct arrows *a, uint32_t interaction, bool chosen)
{
    const struct weft_model *m = c->m;
    const struct weft_interaction *x = &m->interaction[interaction];
    const struct weft_promise *other = &m->promise[x->other];
    enum weft_kind kind;
    uint32_t end[2];
    int64_t time[2];
    struct arrow new;
    if (!ends_of(c, x, end, time, &kind) || !canvas_shows(c, kind) || time[1] < c->from_ns ||
        time[1] > c->to_ns || !canvas_y(c, end[1], &new.y1))
        return;
    new.x0 = canvas_x(c, time[0]);
    new.x1 = canvas_x(c, time[1]);
    if (!canvas_y(c, end[0], &new.y0)) { /* its row is empty in this part of the trace */
        new.y0 = new.y1;
        new.x0 = new.x1 - STUB > c->x0 ? new.x1 - STUB : c->x0;
    }
    new.kind = (uint8_t)kind;
    new.lived_ns = other->end_ns - other->start_ns;
    new.crowded = false;
    new.count = 1;
    new.interaction = interaction;
    const struct kin *actor = canvas_kin(c, x->actor), *about = canvas_kin(c, x->other);
    new.chosen = chosen || (actor && actor->joined) || (about && about->joined);
    if (canvas_grow(c, &a->arrow, a->count, &a->room, sizeof *a->arrow))
        a->arrow[a->count++] = new;
}

/* Adds everything that a promise does, and everything done to it. */
static void add_all_of(struct canvas *c, struct arrows *a, uint32_t promise)
{
    const struct weft_model *m = c->m;
    const struct view_groups *g = &c->x->about;
    uint32_t i = m->promise[promise].first_interaction;
    for (int n = 0; i != WEFT_NONE && n < CHOSEN_ARROWS; i = m->interaction[i].next, n++)
        add_arrow(c, a, i, true);
    int n = 0;
    for (uint32_t k = g->first[promise / 16]; k < g->first[promise / 16 + 1] && n < CHOSEN_ARROWS;
         k++)
        if (m->interaction[g->item[k]].other == promise) {
            add_arrow(c, a, g->item[k], true);
            n++;
        }
}

/* The first interaction at or after a time. */
static uint32_t first_after(const struct canvas *c, int64_t time_ns)
{
    uint32_t low = 0, high = c->m->interactions;
    WEFT_SEEK(low, high, c->m->interaction[view_interaction_at(c->x, middle)].time_ns < time_ns);
    return low;
}

struct choice {
    uint32_t first, end; /* interactions, in the order of time */
    unsigned weight;
    uint32_t step, every; /* every step-th block, and in it every every-th interaction */
};

/* Counts the interactions of at least that weight and, if `a` is given, adds every `every`-th. */
static uint32_t choose(struct canvas *c, struct arrows *a, const struct choice *ch)
{
    const struct weft_index *x = c->x;
    uint32_t nth = 0, found = 0;
    for (uint32_t b = ch->first / VIEW_HEAP; b <= (ch->end - 1) / VIEW_HEAP; b++) {
        if (x->weightiest[b] < ch->weight || nth++ % ch->step != 0)
            continue;
        uint32_t i = b * VIEW_HEAP < ch->first ? ch->first : b * VIEW_HEAP;
        uint32_t last = (b + 1) * VIEW_HEAP < ch->end ? (b + 1) * VIEW_HEAP : ch->end;
        for (; i < last; i++)
            if (x->weight[i] >= ch->weight && found++ % ch->every == 0 && a)
                add_arrow(c, a, view_interaction_at(x, i), false);
    }
    return found;
}

/* Adds the most important of many interactions: chooses a weight that at most BLOCKS_MAX blocks reach. */
static void add_weightiest(struct canvas *c, struct arrows *a, uint32_t first, uint32_t end)
{
    const struct weft_index *x = c->x;
    uint32_t from = first / VIEW_HEAP, to = (end - 1) / VIEW_HEAP, blocks = 0, count[256] = {0};
    unsigned weight = 255;
    for (uint32_t b = from; b <= to; b++)
        count[x->weightiest[b]]++;
    while (weight > 1 && blocks + count[weight] <= BLOCKS_MAX)
        blocks += count[weight--];
    if (blocks > 0)
        weight++;
    else
        blocks = count[weight];
    struct choice ch = {.first = first, .end = end, .weight = weight, .every = 1};
    ch.step = blocks / BLOCKS_MAX + 1; /* all have the same weight: take some of them */
    uint32_t found = choose(c, NULL, &ch);
    ch.every = found / CANDIDATES + 1; /* spread over the whole picture */
    choose(c, a, &ch);
}

/* How many of the interactions before `end` could be drawn. */
static uint32_t drawable_before(const struct weft_index *x, uint32_t end)
{
    uint32_t n = x->drawable[end / VIEW_HEAP];
    for (uint32_t i = end / VIEW_HEAP * VIEW_HEAP; i < end; i++)
        n += x->weight[i] != 0;
    return n;
}

static void collect(struct canvas *c, struct arrows *a)
{
    uint32_t first = first_after(c, c->from_ns), end = first_after(c, c->to_ns + 1), chosen = 0;
    c->left_out.arrows = drawable_before(c->x, end) - drawable_before(c->x, first);
    if (c->vp->hovered_arrow && c->vp->hovered_arrow <= c->m->interactions)
        add_arrow(c, a, c->vp->hovered_arrow - 1, true);
    if (end - first > FEW) {
        add_weightiest(c, a, first, end);
    } else {
        for (uint32_t i = first; i < end && !c->list->failed; i++)
            add_arrow(c, a, view_interaction_at(c->x, i), false);
    }
    uint32_t hovered = c->vp->hovered;
    if (hovered != WEFT_ROOT && hovered < c->m->promises)
        add_all_of(c, a, hovered);
    for (uint32_t i = 0; i < c->kins && chosen < CHOSEN_MAX; i++)
        if (c->kin[i].joined && c->kin[i].promise != hovered) {
            add_all_of(c, a, c->kin[i].promise);
            chosen++;
        }
}

static int by_interaction(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    WEFT_ORDER(x->interaction, y->interaction);
    return y->chosen - x->chosen;
}

/* Keeps one arrow for each interaction: the selection's, if there is one. */
static void drop_doubles(struct arrows *a)
{
    uint32_t n = 0;
    qsort(a->arrow, a->count, sizeof *a->arrow, by_interaction);
    for (uint32_t i = 0; i < a->count; i++)
        if (n == 0 || a->arrow[n - 1].interaction != a->arrow[i].interaction)
            a->arrow[n++] = a->arrow[i];
    a->count = n;
}

/* Arrows that differ by less than two pixels look alike. */
static int32_t coarse(int32_t v)
{
    return v / (2 * PX);
}

static int by_look(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    const int32_t p[6] = {!x->chosen, x->kind, coarse(x->x1), x->y1, x->y0, coarse(x->x0)};
    const int32_t q[6] = {!y->chosen, y->kind, coarse(y->x1), y->y1, y->y0, coarse(y->x0)};
    for (int i = 0; i < 6; i++)
        WEFT_ORDER(p[i], q[i]);
    return 0;
}

/* A total order, so that the result does not depend on how a machine's qsort treats equal items. */
static int by_look_and_place(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    int look = by_look(a, b);
    if (look != 0)
        return look;
    WEFT_ORDER(x->x1, y->x1);
    WEFT_ORDER(x->x0, y->x0);
    return weft_order(x->interaction, y->interaction);
}

/* Among equals, those that are kept should not all lie at one end of the picture, and should stay the same while the
 * user pans. */
static uint32_t scattered(const struct arrow *a)
{
    return a->interaction * 2654435761u;
}

static int by_weight(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    WEFT_ORDER(y->chosen, x->chosen);
    WEFT_ORDER(y->lived_ns, x->lived_ns);
    WEFT_ORDER(scattered(x), scattered(y));
    return by_look(a, b);
}

/* Faint arrows come first, so that the others are drawn above them; then the order of the kinds. The start of a wait
 * comes last: it is often at a place where something was just resolved, and must not be hidden. */
static int by_layer(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    WEFT_ORDER(x->chosen, y->chosen);
    int32_t wide = abs(x->x1 - x->x0) > FADE_FROM, wide_too = abs(y->x1 - y->x0) > FADE_FROM;
    WEFT_ORDER(wide_too, wide);
    if ((x->kind == WEFT_KIND_WAITS) != (y->kind == WEFT_KIND_WAITS))
        return x->kind == WEFT_KIND_WAITS ? 1 : -1;
    return by_look(a, b);
}

/* Remembers where it is, for hit tests. */
static void keep_arrow(struct canvas *c, const struct arrow *a)
{
    struct weft_geometry *g = c->g;
    if (canvas_grow(c, &g->arrow, g->arrows, &g->arrows_room, sizeof *g->arrow))
        g->arrow[g->arrows++] = (struct weft_arrow){.x0 = a->x0,
                                                    .y0 = a->y0,
                                                    .x1 = a->x1,
                                                    .y1 = a->y1,
                                                    .interaction = a->interaction,
                                                    .count = a->count};
}

static void draw_arrow(struct canvas *c, const struct arrow *a)
{
    int32_t width = abs(a->x1 - a->x0), line = a->chosen ? 2 * PX : PX;
    struct weft_draw *d = canvas_line(c, weft_kinds[a->kind].ink, line, a->x0, a->y0, a->x1, a->y1);
    d->op = WEFT_DRAW_ARROW;
    if (a->chosen)
        return;
    if (width >= FADE_TO) {
        d->alpha = ALPHA_MIN;
    } else if (width > FADE_FROM) {
        /* The opacity falls steeply at first. */
        int64_t left = FADE_TO - width, all = FADE_TO - FADE_FROM;
        d->alpha =
            (uint8_t)(ALPHA_MIN + (ALPHA_MAX - ALPHA_MIN) * left / all * left / all * left / all);
    } else {
        d->alpha = a->crowded ? ALPHA_CROWDED : ALPHA_MAX;
    }
}

/* Keeps the heaviest arrows of each column and of the whole picture. */
static uint32_t thin_out(struct canvas *c, struct arrow *a, uint32_t count)
{
    size_t columns = (size_t)(c->list->width / COLUMN) + 2;
    uint32_t *in_column = calloc(columns, sizeof *in_column), kept = 0;
    if (!in_column) {
        c->list->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        in_column[a[i].x1 / COLUMN]++;
    for (uint32_t i = 0; i < count; i++)
        a[i].crowded = in_column[a[i].x1 / COLUMN] > COLUMN_MAX;
    memset(in_column, 0, columns * sizeof *in_column);
    qsort(a, count, sizeof *a, by_weight);
    for (uint32_t i = 0; i < count && (a[i].chosen || kept < ARROWS_MAX); i++)
        if (a[i].chosen || count < FEW_ARROWS || in_column[a[i].x1 / COLUMN]++ < COLUMN_MAX)
            a[kept++] = a[i];
    free(in_column);
    return kept;
}

void canvas_draw_arrows(struct canvas *c)
{
    struct arrows a = {0};
    collect(c, &a);
    c->arrows_begin = c->arrows_end = c->list->draws;
    if (!a.count)
        return;
    drop_doubles(&a);
    qsort(a.arrow, a.count, sizeof *a.arrow, by_look_and_place);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a.count; i++) {
        if (n == 0 || by_look(&a.arrow[n - 1], &a.arrow[i]) != 0) {
            a.arrow[n++] = a.arrow[i];
            continue;
        }
        struct arrow *like = &a.arrow[n - 1];
        like->count++;
        like->lived_ns =
            a.arrow[i].lived_ns > like->lived_ns ? a.arrow[i].lived_ns : like->lived_ns;
    }
    n = thin_out(c, a.arrow, n);
    for (uint32_t i = 0; i < n; i++)
        c->left_out.arrows -= a.arrow[i].count;
    qsort(a.arrow, n, sizeof *a.arrow, by_layer);
    for (uint32_t i = 0; i < n; i++) {
        draw_arrow(c, &a.arrow[i]);
        canvas_saw(c, (enum weft_kind)a.arrow[i].kind, a.arrow[i].count);
        if (n - i <= WEFT_ARROWS_MAX)
            keep_arrow(c, &a.arrow[i]);
    }
    c->arrows_end = c->list->draws;
    free(a.arrow);
}

/* ---- Heads over labels ---- */

/* The tip of an arrow. */
struct tip {
    int32_t x, y;
    uint32_t arrow; /* counted from the first one */
};

static int by_height(const void *a, const void *b)
{
    const struct tip *x = a, *y = b;
    return weft_order(x->y, y->y);
}

/* Finds over which tips, sorted by height, the veil of one of the labels lies. */
static void find_hidden(const struct canvas *c, const struct tip *tip, uint32_t count, bool *hidden,
                        uint32_t labels)
{
    for (uint32_t i = labels; i < c->list->draws; i++) {
        const struct weft_draw *veil = &c->list->draw[i];
        uint32_t low = 0, high = veil->op == WEFT_DRAW_RECT ? count : 0;
        WEFT_SEEK(low, high, tip[middle].y < veil->y0 - HEAD);
        for (; veil->op == WEFT_DRAW_RECT && low < count && tip[low].y <= veil->y1 + HEAD; low++)
            if (tip[low].x >= veil->x0 - HEAD && tip[low].x <= veil->x1 + HEAD)
                hidden[tip[low].arrow] = true;
    }
}

static void draw_head(struct canvas *c, const struct weft_draw d)
{
    /* If an arrow is shorter than a head, its head is made that short, too. */
    bool tiny = abs(d.x1 - d.x0) < HEAD && abs(d.y1 - d.y0) < HEAD;
    struct weft_draw *again = canvas_line(c, (enum weft_ink)d.ink, d.size, d.x0, d.y0, d.x1, d.y1);
    again->op = tiny ? WEFT_DRAW_ARROW : WEFT_DRAW_POINTER;
    again->alpha = d.alpha;
}

void canvas_draw_heads(struct canvas *c, uint32_t labels)
{
    const uint32_t count = c->arrows_end - c->arrows_begin;
    if (count == 0 || labels == c->list->draws || c->list->failed)
        return;
    struct tip *tip = malloc(count * sizeof *tip);
    bool *hidden = calloc(count, sizeof *hidden);
    if (!tip || !hidden) {
        c->list->failed = true;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            const struct weft_draw *d = &c->list->draw[c->arrows_begin + i];
            tip[i] = (struct tip){d->x1, d->y1, i};
        }
        qsort(tip, count, sizeof *tip, by_height);
        find_hidden(c, tip, count, hidden, labels);
        for (uint32_t i = 0; i < count && !c->list->failed; i++)
            if (hidden[i])
                draw_head(c, c->list->draw[c->arrows_begin + i]);
    }
    free(tip);
    free(hidden);
}

/* ---- Edges: the thin lines that show creation and becoming; of promises drawn as shapes, and of all if few are visible */

enum {
    EDGES_FEW = 10000,
    AHEAD = 8, /* shapes to prefetch */
};

struct edge {
    int32_t x, y0, y1;
};

struct edges {
    struct edge *edge;
    uint32_t count, room;
};

/* Adds an edge between the row at that height and the row of another promise. */
static void add_edge(struct canvas *c, struct edges *e, int64_t time_ns, int32_t y0, uint32_t other)
{
    int32_t y1;
    if (time_ns < c->from_ns || time_ns > c->to_ns || !canvas_y(c, other, &y1) || y0 == y1 ||
        !canvas_grow(c, &e->edge, e->count, &e->room, sizeof *e->edge))
        return;
    e->edge[e->count++] =
        (struct edge){.x = canvas_x(c, time_ns), .y0 = y0 < y1 ? y0 : y1, .y1 = y0 < y1 ? y1 : y0};
}

/* … of a span in a shown row. */
static void add_edges(struct canvas *c, struct edges *e, uint32_t at, uint32_t span)
{
    const struct weft_promise *p = &c->m->promise[c->l->spans[span]];
    const int32_t y = canvas_row_y(c, at);
    if (c->l->raw || !p->simplified)
        add_edge(c, e, p->start_ns, y, p->creator);
    if (p->becomes != WEFT_NONE)
        add_edge(c, e, p->end_ns, y, p->becomes);
}

/* What is known of promises lies far apart in memory: fetches it for a shape that comes soon, and for one that comes sooner
 * where the rows of its ends are. */
static void fetch_ends(const struct canvas *c, uint32_t shape)
{
    if (shape + 3 * AHEAD < c->shapes)
        __builtin_prefetch(&c->l->spans[c->shape[shape + 3 * AHEAD].span]);
    if (shape + 2 * AHEAD < c->shapes) {
        const char *p = (const char *)&c->m->promise[c->l->spans[c->shape[shape + 2 * AHEAD].span]];
        __builtin_prefetch(p);
        __builtin_prefetch(p + sizeof *c->m->promise - 1); /* it may lie across two lines */
    }
    if (shape + AHEAD >= c->shapes)
        return;
    const struct weft_promise *p = &c->m->promise[c->l->spans[c->shape[shape + AHEAD].span]];
    const uint32_t end[] = {p->creator, p->becomes};
    for (int i = 0; i < 2; i++)
        if (end[i] < c->m->promises)
            __builtin_prefetch(&c->l->row[end[i]]);
}

static int by_edge(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    WEFT_ORDER(x->x / PX, y->x / PX);
    WEFT_ORDER(x->y0, y->y0);
    WEFT_ORDER(x->y1, y->y1);
    return weft_order(x->x, y->x);
}

void canvas_draw_edges(struct canvas *c)
{
    struct edges e = {0};
    if (!canvas_shows(c, WEFT_KIND_EDGES))
        return;
    if (c->visible <= EDGES_FEW) {
        for (uint32_t at = 0; at < c->shown; at++)
            for (uint32_t s = c->seen[at].begin; s < c->seen[at].end; s++)
                add_edges(c, &e, at, s);
    } else {
        c->left_out.edges = true;
        for (uint32_t i = 0; i < c->shapes; i++) {
            fetch_ends(c, i);
            add_edges(c, &e, c->shape[i].at, c->shape[i].span);
        }
    }
    canvas_saw(c, WEFT_KIND_EDGES, e.count);
    weft_sort(e.edge, e.count, sizeof *e.edge, by_edge);
    for (uint32_t i = 0, next; i < e.count; i = next) {
        struct edge joined = e.edge[i];
        for (next = i + 1; next < e.count; next++) {
            const struct edge *n = &e.edge[next];
            if (n->x / PX != joined.x / PX || n->y0 > joined.y1)
                break;
            joined.y1 = n->y1 > joined.y1 ? n->y1 : joined.y1;
        }
        canvas_line(c, WEFT_INK_EDGE, PX, joined.x, joined.y0, joined.x, joined.y1)->alpha =
            e.count < 3000 ? 255 : 110;
    }
    free(e.edge);
}
