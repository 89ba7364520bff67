/* SPDX-License-Identifier: ISC */
#include "view/canvas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

enum {
    BUCKET = 64 * PX,  /* of heights in the picture: more than a text and its distance */
    COLUMN = 128 * PX, /* of a bucket */
    ABOVE = 2 * PX,    /* from the line up to the baseline */
    LOW = 10 * PX,     /* texts hide lower rows, so there they stand farther from each other … */
    APART = 8 * PX,    /* … by at most this much */
    GAP = 4 * PX,      /* between two texts on a line */
    ROOM = 40 * PX,    /* a cut text has at least this much … */
    ASIDE = 90 * PX,   /* … or this, if it is not at the start of its line */
    SHORT = 20 * PX,   /* with less room, a promise is not read to see how long its name is */
    TICK = 4 * PX,     /* mark at the start of the line, if that cannot be seen otherwise */
    TRIES = 24,        /* places that are tried along a line */
    FOLDED_MAX = 400,  /* folded promises that are considered, of each sort */
    FOLDED_MIN = 24 * PX,
    FOLDED_WIDE = 280, /* px: a text takes this width, so that the folded lines stay visible … */
    FOLDED_HIGH = 36,  /* … and this height */
    CHANGES_MAX = 32,  /* labels of a promise that are considered, after its name */
    MANY = 1000,       /* candidates: then those in low rows have only their names */
    GAPS_MAX = 16,     /* that are told apart along a line */
    AHEAD = 8,         /* texts to prefetch */
    TOGETHER = 16,     /* candidates whose labels are read together */
};

struct box {
    int32_t x0, y0, x1, y1;
};

/* A box in one of the columns that it reaches into, with its distance from others. */
struct part {
    struct box box;
    uint32_t next; /* the part that was there before, or WEFT_NONE */
};

enum text_kind { NAME, REASON, CHANGE };

struct text {
    int32_t x, y, room;
    uint32_t promise, label; /* label: of CHANGE, or of NAME, or WEFT_NONE */
    enum text_kind kind;
    bool tick;
    int32_t height; /* of the row */
};

/* A promise that a text may be about. */
struct candidate {
    uint32_t span, at;
    int32_t x0, x1, y; /* the visible part of its line */
    uint8_t rank;      /* 0: first */
    uint8_t width;     /* logarithm */
    bool single;       /* its line is drawn as a shape */
};

struct names {
    struct canvas *c;
    uint32_t *column, columns, buckets; /* columns of each bucket: the latest part */
    struct part *part;
    struct text *text;
    struct candidate *candidate;
    uint32_t folded; /* how many may still be placed */
    uint32_t parts, parts_room, texts, texts_room, candidates, candidates_room;
};

/* ---- What lies where ---- */

static uint32_t bucket_at(const struct names *n, int32_t y)
{
    int32_t at = (y - n->c->top) / BUCKET;
    return at < 0 ? 0 : (uint32_t)at < n->buckets ? (uint32_t)at : n->buckets - 1;
}

static uint32_t column_at(const struct names *n, int32_t x)
{
    return x < 0 ? 0 : (uint32_t)x / COLUMN < n->columns ? (uint32_t)x / COLUMN : n->columns - 1;
}

static void occupy(struct names *n, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    const uint32_t from = column_at(n, x0 - GAP), to = column_at(n, x1 + GAP);
    for (uint32_t b = bucket_at(n, y0); b <= bucket_at(n, y1); b++)
        for (uint32_t *at = n->column + (size_t)b * n->columns + from, k = from; k <= to; k++) {
            if (!canvas_grow(n->c, &n->part, n->parts, &n->parts_room, sizeof *n->part))
                return;
            n->part[n->parts] = (struct part){{x0, y0, x1, y1}, *at};
            *at++ = n->parts++;
        }
}

/* The box of a text: its letters and a little of their descenders. */
static int32_t top_of(const struct canvas *c, int32_t baseline)
{
    return baseline - c->font * 3 / 4;
}

static int32_t bottom_of(const struct canvas *c, int32_t baseline)
{
    return baseline + c->font / 5;
}

void view_names_take(struct names *n, int32_t x, int32_t baseline, int32_t width)
{
    occupy(n, x, top_of(n->c, baseline), x + width, bottom_of(n->c, baseline));
}

/* Returns true if something is at x between two heights; *x is then moved behind it. Otherwise *end is moved to before
 * the next thing. */
static bool is_taken(const struct names *n, int32_t *x, int32_t y0, int32_t y1, int32_t *end)
{
    const uint32_t first = bucket_at(n, y0), last = bucket_at(n, y1), from = column_at(n, *x);
    for (uint32_t b = first; b <= last; b++) {
        const uint32_t *column = n->column + (size_t)b * n->columns;
        for (uint32_t i = column[from]; i != WEFT_NONE; i = n->part[i].next) {
            const struct box *box = &n->part[i].box;
            if (box->y1 > y0 && box->y0 < y1 && box->x0 - GAP <= *x && *x < box->x1 + GAP) {
                *x = box->x1 + GAP;
                return true;
            }
        }
        for (uint32_t k = from; k < n->columns && (k == from || (int32_t)k * COLUMN < *end); k++)
            for (uint32_t i = column[k]; i != WEFT_NONE; i = n->part[i].next) {
                const struct box *box = &n->part[i].box;
                if (box->y1 > y0 && box->y0 < y1 && box->x0 > *x && box->x0 - GAP < *end)
                    *end = box->x0 - GAP;
            }
    }
    return false;
}

bool view_names_is_free(const struct names *n, int32_t x0, int32_t x1, int32_t baseline)
{
    int32_t x = x0, end = x1;
    return !is_taken(n, &x, top_of(n->c, baseline), bottom_of(n->c, baseline), &end) && end == x1;
}

/* Looks for a place for a text of that width that begins between x and last. Returns the space there; 0: there is none. */
static int32_t find_place(const struct names *n, int32_t *x, int32_t last, int32_t end,
                          int32_t baseline, int32_t width)
{
    int32_t y0 = top_of(n->c, baseline), y1 = bottom_of(n->c, baseline), first = *x;
    for (int tries = 0; tries < TRIES && *x <= last; tries++) {
        int32_t enough = *x == first ? ROOM : ASIDE, until = end;
        enough = width < enough ? width : enough;
        if (is_taken(n, x, y0, y1, &until))
            continue;
        if (until - *x >= enough)
            return until - *x;
        if (until == end)
            return 0;
        *x = until + GAP; /* where something is already */
    }
    return 0;
}

/* ---- Which texts come first ---- */

static uint8_t rank_of(const struct canvas *c, uint32_t at, uint32_t span)
{
    uint32_t promise = c->l->spans[span];
    const struct kin *kin = canvas_kin(c, promise);
    const struct weft_search *search = c->vp->search;
    if ((kin && kin->joined) || c->seen[at].marked || (search && weft_search_has(search, promise)))
        return 0;
    if (c->l->look[span] & WEFT_LOOK_RED)
        return 1;
    return c->l->look[span] & WEFT_LOOK_NAMED ? 2 : 3;
}

static void add_candidate(struct names *n, uint32_t at, uint32_t span, bool single)
{
    struct canvas *c = n->c;
    struct candidate new = {.span = span,
                            .at = at,
                            .y = canvas_row_y(c, at),
                            .rank = rank_of(c, at, span),
                            .single = single};
    canvas_ends(c, c->l->start[span], weft_layout_span_end(c->l, c->m, span), 0, &new.x0, &new.x1);
    if (new.x1 - new.x0<LABEL_LINE &&new.rank> 1)
        return;
    for (int32_t width = (new.x1 - new.x0) / PX; width > 0; width /= 2)
        new.width++;
    if (canvas_grow(c, &n->candidate, n->candidates, &n->candidates_room, sizeof *n->candidate))
        n->candidate[n->candidates++] = new;
}

static void add_single(struct names *n)
{
    const struct canvas *c = n->c;
    for (uint32_t i = 0; i < c->shapes; i++)
        if (canvas_row_height(c, c->shape[i].at) < c->row_height_text)
            add_candidate(n, c->shape[i].at, c->shape[i].span, true);
}

/* Of many, takes every n-th, so that they come from the whole height. */
struct sample {
    struct {
        uint32_t at, span;
    } item[2 * FOLDED_MAX];
    uint32_t count, step, seen;
};

static void sample_add(struct sample *s, uint32_t at, uint32_t span)
{
    if (s->seen++ % s->step != 0)
        return;
    if (s->count == 2 * FOLDED_MAX) {
        s->count = FOLDED_MAX;
        for (uint32_t i = 0; i < FOLDED_MAX; i++)
            s->item[i] = s->item[2 * i];
        s->step *= 2;
        if ((s->seen - 1) % s->step != 0)
            return;
    }
    s->item[s->count].at = at;
    s->item[s->count++].span = span;
}

/* Few are, so eight are looked at together. */
static uint32_t next_red(const uint8_t *look, uint32_t span, uint32_t end)
{
    const uint64_t red = UINT64_C(0x0101010101010101) * WEFT_LOOK_RED;
    for (uint64_t eight; end - span >= sizeof eight; span += sizeof eight) {
        memcpy(&eight, look + span, sizeof eight);
        if (eight & red)
            break;
    }
    while (span < end && !(look[span] & WEFT_LOOK_RED))
        span++;
    return span;
}

/* Adds the spans of a shown row that are long enough, marked or red. */
enum wanted { LONG, FOUND, RED };

static uint32_t next_of(const struct canvas *c, enum wanted wanted, uint32_t span, uint32_t end,
                        int64_t length)
{
    switch (wanted) {
    case LONG:
        return view_long_span(c->x, c->l, span, end, length);
    case FOUND:
        return weft_search_next_span(c->vp->search, span, end);
    case RED:
        return next_red(c->l->look, span, end);
    }
    return end;
}

static uint32_t sample_folded(const struct canvas *c, struct sample *s, enum wanted wanted,
                              int64_t length)
{
    *s = (struct sample){.step = 1};
    for (uint32_t lane = 0; lane < c->g->lanes; lane++) {
        if (c->g->lane[lane + 1] - c->g->lane[lane] == 1)
            continue;
        for (uint32_t at = c->g->lane[lane]; at < c->g->lane[lane + 1]; at++) {
            uint32_t end = c->seen[at].end;
            for (uint32_t i = c->seen[at].begin; (i = next_of(c, wanted, i, end, length)) < end;
                 i++)
                if (weft_layout_span_end(c->l, c->m, i) >= c->from_ns)
                    sample_add(s, at, i);
        }
    }
    return s->count;
}

static void add_sample(struct names *n, const struct sample *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        add_candidate(n, s->item[i].at, s->item[i].span, false);
}

/* Adds the spans that matter most in rows that are drawn together. */
static void add_folded(struct names *n)
{
    const struct canvas *c = n->c;
    struct sample *s = malloc(sizeof *s);
    if (!s) {
        c->list->failed = true;
        return;
    }
    if (c->vp->search && sample_folded(c, s, FOUND, 0))
        add_sample(n, s);
    if (sample_folded(c, s, RED, 0))
        add_sample(n, s);
    int32_t width = (c->x1 - c->x0) / 4;
    while (sample_folded(c, s, LONG, axis_length(&c->axis, width)) < FOLDED_MAX &&
           width / 2 >= FOLDED_MIN)
        width /= 2;
    add_sample(n, s);
    n->folded = (uint32_t)((c->x1 - c->x0) / PX * ((c->rows_y1 - c->rows_y0) / PX) /
                           (FOLDED_WIDE * FOLDED_HIGH)) +
                1;
    free(s);
}

static int by_span(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return weft_order(x->span, y->span);
}

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    WEFT_ORDER(x->rank, y->rank);
    WEFT_ORDER(y->width, x->width);
    return by_span(a, b);
}

static void sort_candidates(struct names *n)
{
    uint32_t kept = 0;
    if (n->candidates == 0)
        return;
    qsort(n->candidate, n->candidates, sizeof *n->candidate, by_span);
    for (uint32_t i = 0; i < n->candidates; i++) /* some are found twice */
        if (i == 0 || n->candidate[i].span != n->candidate[i - 1].span)
            n->candidate[kept++] = n->candidate[i];
    n->candidates = kept;
    qsort(n->candidate, n->candidates, sizeof *n->candidate, by_rank);
}

/* ---- Texts ---- */

struct words {
    char room[256];
    const char *text;
    uint32_t size;
    enum weft_ink ink;
};

static void find_words(struct words *w, const struct canvas *c, const struct text *t)
{
    const struct weft_model *m = c->m;
    w->text = w->room;
    w->ink = t->kind == REASON ? WEFT_INK_FAILED : WEFT_INK_TEXT;
    if (t->kind == REASON) {
        w->text = view_reason_text(c, t->promise, &w->size);
        w->size = w->text ? w->size : 0;
    } else if (t->label != WEFT_NONE) {
        w->size = weft_model_label_text(m, &m->label[t->label], w->room, sizeof w->room);
    } else {
        int n = snprintf(w->room, sizeof w->room, "%" PRIu64 " %.100s", m->promise[t->promise].id,
                         weft_model_type(m, t->promise));
        w->size = (uint32_t)n;
        w->ink = WEFT_INK_FAINT_TEXT;
    }
}

static int32_t width_of(const struct canvas *c, const struct words *w)
{
    return weft_text_width(w->text, strnlen(w->text, w->size), c->font, false);
}

/* Places t somewhere from t->x to last, if there is room. */
static bool place(struct names *n, struct text t, int32_t last, int32_t end)
{
    struct words w;
    int32_t begin = t.x;
    if (!find_place(n, &begin, last, end, t.y, 1)) /* so there is none for any text */
        return false;
    find_words(&w, n->c, &t);
    int32_t width = width_of(n->c, &w);
    begin = t.x;
    t.room = width ? find_place(n, &t.x, last, end, t.y, width) : 0;
    if (t.room == 0 || !canvas_grow(n->c, &n->text, n->texts, &n->texts_room, sizeof *n->text))
        return false;
    t.room = t.room < width ? t.room : width;
    t.tick = t.tick && t.x == begin;
    n->text[n->texts++] = t;
    int32_t apart = t.height < LOW ? LOW - t.height : 0;
    apart = apart < APART ? apart : APART;
    occupy(n, t.x - apart, top_of(n->c, t.y) - apart, t.x + t.room + apart,
           bottom_of(n->c, t.y) + apart);
    return true;
}

/* Returns the place of the name of a candidate, and in *last and *end where it begins and ends at the latest. */
static struct text name_of(const struct canvas *c, const struct candidate *x, int32_t *last,
                           int32_t *end)
{
    *end = canvas_span_room(c, c->shown_row[x->at], x->span) - 2 * PX;
    *last = x->x0 + PX + (x->x1 - x->x0) / 2;
    return (struct text){.x = x->x0 + PX, .y = x->y - ABOVE, .kind = NAME};
}

/* Returns false if there is no room for its name, without a look at the promise. */
static bool may_be_named(const struct names *n, const struct candidate *x)
{
    int32_t last, end;
    struct text t = name_of(n->c, x, &last, &end);
    return (x->single && x->rank <= 1) || find_place(n, &t.x, last, end, t.y, SHORT);
}

static bool place_name(struct names *n, const struct candidate *x)
{
    const struct canvas *c = n->c;
    uint32_t promise = c->l->spans[x->span], size;
    int32_t last, end;
    struct text t = name_of(c, x, &last, &end);
    t.promise = promise;
    t.label = view_label_at_start(c, promise, x->x0);
    if (t.label != WEFT_NONE && c->m->label[t.label].time_ns > c->to_ns)
        t.label = WEFT_NONE;
    t.tick = !x->single;
    t.height = canvas_row_height(c, x->at);
    bool placed = place(n, t, last, end);
    if (!x->single || x->rank > 1 || !view_reason_text(c, promise, &size))
        return placed;
    struct words w;
    t.kind = REASON;
    find_words(&w, c, &t);
    t.tick = false;
    t.x = canvas_x(c, c->m->promise[promise].end_ns) + GAP;
    if (t.x + width_of(c, &w) > end) /* then to the left of its end */
        t.x = end - width_of(c, &w);
    return (t.x > x->x0 && place(n, t, t.x, end)) || placed;
}

/* Where a text can begin: from x0 up to x1. */
struct gap {
    int32_t x0, x1;
};

/* Finds where a text can begin from x up to last. Returns how many gaps there are; if there are more, the last one reaches
 * to the end. */
static uint32_t find_gaps(const struct names *n, struct gap *gap, int32_t x, int32_t last,
                          int32_t baseline)
{
    const int32_t y0 = top_of(n->c, baseline), y1 = bottom_of(n->c, baseline);
    uint32_t gaps = 0;
    for (int32_t end = last + 1; x <= last && gaps < GAPS_MAX; end = last + 1)
        if (!is_taken(n, &x, y0, y1, &end)) {
            const int32_t x1 = end > last ? end : end - SHORT; /* before something else */
            gap[gaps] = (struct gap){x, x1};
            gaps += x1 > x;
            x = end;
        }
    if (gaps == GAPS_MAX)
        gap[gaps - 1].x1 = last + 1;
    return gaps;
}

static bool is_in(const struct gap *gap, uint32_t gaps, int32_t x)
{
    for (uint32_t i = 0; i < gaps; i++)
        if (x >= gap[i].x0 && x < gap[i].x1)
            return true;
    return false;
}

/* Promises whose further labels are read together, since what is known of them lies far apart in memory: each is fetched
 * before the first is read. */
struct reading {
    struct {
        const struct candidate *candidate;
        struct gap gap[GAPS_MAX];
        uint32_t gaps;
        uint32_t next;                /* label, or WEFT_NONE */
        uint32_t change[CHANGES_MAX]; /* labels for which there may be room */
        uint32_t changes;
    } line[TOGETHER];
    uint32_t lines;
};

static void fetch_label(const struct canvas *c, uint32_t label)
{
    if (label != WEFT_NONE)
        __builtin_prefetch(&c->m->label[label]);
}

/* Returns true if further labels may stand along its line. Among many, a text that is more than twice as high as its row is
 * not seen to be of it. */
static bool has_changes(const struct names *n, const struct candidate *x)
{
    const struct canvas *c = n->c;
    return x->single && c->l->look[x->span] & WEFT_LOOK_LABELS &&
           (n->candidates < MANY || x->rank == 0 ||
            canvas_row_height(c, x->at) >= c->row_height_text / 2);
}

/* Chooses those of some candidates along whose line there is room, and finds the labels at the start. */
static void begin_reading(const struct names *n, struct reading *r, const struct candidate *x,
                          uint32_t count)
{
    const struct canvas *c = n->c;
    const struct weft_model *m = c->m;
    r->lines = 0;
    for (uint32_t i = 0; i < count; i++) {
        r->line[r->lines].candidate = &x[i];
        r->line[r->lines].changes = 0;
        r->line[r->lines].gaps =
            has_changes(n, &x[i])
                ? find_gaps(n, r->line[r->lines].gap, x[i].x0 + PX + 1, x[i].x1, x[i].y - ABOVE)
                : 0;
        if (r->line[r->lines].gaps) /* otherwise the promise is not read */
            __builtin_prefetch(&m->promise[c->l->spans[x[i].span]].first_label);
        r->lines += r->line[r->lines].gaps != 0;
    }
    for (uint32_t i = 0; i < r->lines; i++)
        fetch_label(c, m->promise[c->l->spans[r->line[i].candidate->span]].first_label);
    for (uint32_t i = 0; i < r->lines; i++)
        r->line[i].next = view_label_at_start(c, c->l->spans[r->line[i].candidate->span],
                                              r->line[i].candidate->x0);
}

/* Reads the next label of each promise. Returns how many have one. */
static uint32_t read_labels(const struct canvas *c, struct reading *r)
{
    const struct weft_model *m = c->m;
    uint32_t left = 0;
    for (uint32_t i = 0; i < r->lines; i++)
        if (r->line[i].next != WEFT_NONE)
            fetch_label(c, r->line[i].next = m->label[r->line[i].next].next);
    for (uint32_t i = 0; i < r->lines; i++) {
        const uint32_t l = view_next_label(c, r->line[i].next);
        const bool is_seen = l != WEFT_NONE && m->label[l].time_ns <= c->to_ns;
        r->line[i].next = is_seen ? l : WEFT_NONE;
        left += is_seen;
        if (is_seen && is_in(r->line[i].gap, r->line[i].gaps, canvas_x(c, m->label[l].time_ns)))
            r->line[i].change[r->line[i].changes++] = l;
    }
    return left;
}

/* Adds further labels of promises along their lines. */
static void place_changes(struct names *n, const struct candidate *x, uint32_t count)
{
    const struct canvas *c = n->c;
    struct reading r;
    begin_reading(n, &r, x, count);
    for (uint32_t seen = 0; seen < CHANGES_MAX && read_labels(c, &r); seen++)
        ;
    for (uint32_t i = 0; i < r.lines; i++)
        for (uint32_t k = 0; k < r.line[i].changes; k++) {
            const struct candidate *of = r.line[i].candidate;
            const uint32_t label = r.line[i].change[k];
            struct text t = {.x = canvas_x(c, c->m->label[label].time_ns),
                             .y = of->y - ABOVE,
                             .kind = CHANGE,
                             .promise = c->l->spans[of->span],
                             .label = label,
                             .tick = true,
                             .height = canvas_row_height(c, of->at)};
            place(n, t, t.x, canvas_span_room(c, c->shown_row[of->at], of->span) - 2 * PX);
        }
}

static int by_place(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    WEFT_ORDER(x->y, y->y);
    return weft_order(x->x, y->x);
}

/* Fetches the words of texts that come soon. */
static void fetch_words(const struct names *n, uint32_t i)
{
    const struct weft_model *m = n->c->m;
    if (i + 2 * AHEAD < n->texts)
        fetch_label(n->c, n->text[i + 2 * AHEAD].label);
    if (i + AHEAD >= n->texts || n->text[i + AHEAD].label == WEFT_NONE)
        return;
    const struct weft_label *l = &m->label[n->text[i + AHEAD].label];
    if (l->is_change)
        __builtin_prefetch(&m->change[l->what].counter);
}

static void draw_texts(struct names *n)
{
    struct canvas *c = n->c;
    weft_sort(n->text, n->texts, sizeof *n->text, by_place);
    for (uint32_t i = 0; i < n->texts; i++) {
        fetch_words(n, i);
        const struct text *t = &n->text[i];
        struct words w;
        find_words(&w, c, t);
        canvas_rect(c, WEFT_INK_GROUND, t->x - PX, top_of(c, t->y) - PX / 2, t->x + t->room + PX,
                    bottom_of(c, t->y))
            ->alpha = 170;
        uint32_t before = c->list->draws;
        canvas_text(c, w.ink, c->font, false, t->x, t->y, t->room, w.text, w.size);
        if (c->list->draws > before)
            c->list->draw[before].promise = t->promise;
        if (t->tick)
            canvas_line(c, WEFT_INK_TEXT, PX, t->x, t->y + ABOVE - TICK, t->x, t->y + ABOVE);
    }
}

/* Places the names of some candidates. What they need to know of promises lies far apart in memory: it is fetched for all
 * before the first is read. Returns how many lines that are drawn singly have a text. */
static uint32_t place_names(struct names *n, const struct candidate *x, uint32_t count)
{
    const struct canvas *c = n->c;
    const struct weft_model *m = c->m;
    const struct candidate *open[TOGETHER];
    uint32_t opens = 0, written = 0;
    for (uint32_t i = 0; i < count; i++)
        if ((x[i].single || n->folded) && may_be_named(n, &x[i])) {
            __builtin_prefetch(&c->l->spans[x[i].span]);
            open[opens++] = &x[i];
        }
    for (uint32_t i = 0; i < opens; i++)
        __builtin_prefetch(&m->promise[c->l->spans[open[i]->span]].first_label);
    for (uint32_t i = 0; i < opens; i++)
        fetch_label(c, m->promise[c->l->spans[open[i]->span]].first_label);
    for (uint32_t i = 0; i < opens; i++)
        if (open[i]->single)
            written += place_name(n, open[i]);
        else if (n->folded)
            n->folded -= place_name(n, open[i]);
    return written;
}

/* How many candidates from that one on are taken together. */
static uint32_t some(const struct names *n, uint32_t from)
{
    return n->candidates - from < TOGETHER ? n->candidates - from : TOGETHER;
}

/* Chooses, places and draws the names. Returns how many lines that are drawn singly (c->shape) have a text. */
static uint32_t write_names(struct names *n)
{
    struct canvas *c = n->c;
    uint32_t written = 0;
    for (uint32_t i = 0; i < c->flags; i++)
        occupy(n, c->flag[i].x0, c->flag[i].y0, c->flag[i].x1, c->flag[i].y1);
    add_single(n);
    add_folded(n);
    sort_candidates(n);
    for (uint32_t i = 0; i < n->candidates && !c->list->failed; i += TOGETHER)
        written += place_names(n, &n->candidate[i], some(n, i));
    for (uint32_t i = 0; i < n->candidates && !c->list->failed; i += TOGETHER)
        place_changes(n, &n->candidate[i], some(n, i));
    if (!c->list->failed)
        view_gross_write(c, n);
    if (!c->list->failed)
        draw_texts(n);
    return written;
}

void canvas_draw_labels(struct canvas *c)
{
    struct names n = {.c = c,
                      .buckets = (uint32_t)(c->height / BUCKET) + 2,
                      .columns = (uint32_t)(c->x1 / COLUMN) + 1};
    n.column = weft_new_none((size_t)n.buckets * n.columns, sizeof *n.column);
    if (n.column) {
        view_heads_place(c, &n);
        uint32_t written = view_labels_write(c, &n);
        c->left_out.names = c->shapes - written - write_names(&n);
        view_heads_draw(c);
    } else {
        c->list->failed = true;
    }
    weft_free_all(n.column, n.part, n.text, n.candidate);
}
