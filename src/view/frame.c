/* SPDX-License-Identifier: ISC */
/* What is drawn around and behind the promises: title, ruler and grid, sleep and collections, legend. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "view/canvas.h"
#include "view/density.h"

enum {
    GRID_MIN = 70 * PX,  /* between two lines of the grid … */
    GRID_GAP = 10 * PX,  /* … and beside a time */
    MINOR_MIN = 5 * PX,  /* between two of the small marks on the ruler */
    REGION_MIN = PX / 2, /* narrower sleeps are visible only where they add up */
    REGION_TEXT_MIN = 50 * PX,
    LEGEND_HEIGHT = 17 * PX,
    REGIONS_MAX = 4000, /* in a picture; zoom in to tell the rest apart */
};

void canvas_draw_title(struct canvas *c)
{
    const struct weft_model *m = c->m;
    char right[200];
    int n = snprintf(right, sizeof right, "from %s, %s long; %u promises, %u of %u rows",
                     weft_duration(c->from_ns).text, weft_duration(c->to_ns - c->from_ns).text,
                     m->promises - 1, c->shown, c->l->rows);
    if (c->axis.folds.count)
        n += snprintf(right + n, sizeof right - (size_t)n, "; %s folded",
                      weft_duration(c->to_ns - c->from_ns - (int64_t)c->axis.span).text);
    if (c->vp->search && c->hits)
        n += snprintf(right + n, sizeof right - (size_t)n, "; %u found", c->hits);
    if (weft_text_width(right, (size_t)n, c->font, false) > (c->x1 - c->x0) / 2)
        *right = '\0';
    canvas_title(c, c->top, c->x1 - c->vp->title_room_px * PX, c->vp->title, right, 3 * MARGIN);
}

/* Regions come in the order of their times; neighbours that cannot be told apart are drawn as one. */
struct region {
    int32_t x0, x1;
    enum weft_ink ink;
    const char *name;
};

static void draw_region(struct canvas *c, const struct region *r)
{
    int32_t x0 = r->x0 < c->x0 ? c->x0 : r->x0, x1 = r->x1 > c->x1 ? c->x1 : r->x1;
    if (x1 <= x0)
        return;
    canvas_rect(c, r->ink, x0, c->rows_y0, x1, c->rows_y1);
    int32_t text = weft_text_width(r->name, strlen(r->name), c->font_small, false);
    if (x1 - x0 >= REGION_TEXT_MIN && text <= x1 - x0)
        canvas_text(c, WEFT_INK_REGION_TEXT, c->font_small, false, x0 + (x1 - x0 - text) / 2,
                    c->rows_y0 + canvas_scaled(c, 11 * PX), text, r->name, strlen(r->name));
}

static void add_region(struct canvas *c, struct region *open, int64_t start, int64_t end)
{
    int32_t x0 = canvas_x(c, start), x1 = canvas_x(c, end);
    if (open->x1 > open->x0 && x0 <= open->x1 + PX / 2) {
        open->x1 = x1 > open->x1 ? x1 : open->x1;
        return;
    }
    draw_region(c, open);
    open->x0 = x0;
    open->x1 = x1;
}

static bool is_wide(const struct canvas *c, const int64_t time[2])
{
    return time[1] >= c->from_ns && time[0] <= c->to_ns &&
           canvas_x(c, time[1]) - canvas_x(c, time[0]) >= REGION_MIN;
}

/* How many are in the picture, counted from low; none before low is. */
static uint32_t regions_between(const struct canvas *c, const struct view_regions *r, uint32_t low)
{
    uint32_t first = low, high = r->count, count = 0;
    if (high > low && r->time[high - 1][0] == r->time[high - 1][1]) /* where the trace ends */
        high--;
    if (r->sorted) {
        WEFT_SEEK(low, high, r->time[middle][0] <= c->to_ns);
        return low - first;
    }
    for (uint32_t i = 0; i < high; i++)
        count += r->time[i][1] >= c->from_ns && r->time[i][0] <= c->to_ns;
    return count;
}

/* Draws the regions that are wide enough to be seen, in the order of their times; if times run backwards, all are
 * visited. */
static void draw_regions(struct canvas *c, const struct view_regions *r, enum weft_kind kind,
                         const char *name)
{
    struct region open = {.ink = weft_kinds[kind].ink, .name = name};
    if (!canvas_shows(c, kind))
        return;
    uint32_t low = 0, high = r->sorted ? r->count : 0;
    int64_t length = axis_length(&c->axis, REGION_MIN - 1);
    WEFT_SEEK(low, high, r->time[middle][1] < c->from_ns);
    uint32_t drawn = c->list->draws, added = 0;
    for (uint32_t i = low; (i = view_next_long(&r->lengths, i, r->count, length)) < r->count; i++) {
        if (r->sorted && r->time[i][0] > c->to_ns)
            break;
        if (!is_wide(c, r->time[i]))
            continue;
        add_region(c, &open, r->time[i][0], r->time[i][1]);
        added++;
        if (c->list->draws - drawn > REGIONS_MAX)
            break;
    }
    draw_region(c, &open);
    canvas_saw(c, kind, added);
    c->left_out.regions += regions_between(c, r, low) - added;
}

void canvas_draw_regions(struct canvas *c)
{
    draw_regions(c, &c->x->sleeps, WEFT_KIND_SLEEPS, "sleeping");
    draw_regions(c, &c->x->pauses, WEFT_KIND_GC, "GC");
    /* Drawn last, because a thread may lack events while the process seems to sleep. */
    draw_regions(c, &c->x->missings, WEFT_KIND_MISSING, "events are missing");
    const int64_t whole = weft_layout_whole(c->m);
    if (whole > c->from_ns && whole > 0 && canvas_shows(c, WEFT_KIND_MISSING)) {
        draw_region(c, &(struct region){.x0 = canvas_x(c, 0),
                                        .x1 = canvas_x(c, whole),
                                        .ink = WEFT_INK_MISSING,
                                        .name = "events are overwritten"});
        canvas_saw(c, WEFT_KIND_MISSING, 1);
    }
}

static bool is_region_name(const struct weft_draw *d)
{
    return d->op == WEFT_DRAW_TEXT && d->ink == WEFT_INK_REGION_TEXT;
}

/* Whether two texts lie over each other. */
static bool touch(const struct weft_draw *a, const struct weft_draw *b)
{
    const int32_t size = a->size > b->size ? a->size : b->size;
    return a->x0 < b->x1 && b->x0 < a->x1 && abs(a->y0 - b->y0) < size;
}

static bool is_covered(const struct weft_drawlist *list, const struct weft_draw *name,
                       uint32_t labels, uint32_t labels_end)
{
    for (uint32_t i = labels; i < labels_end; i++)
        if (list->draw[i].op == WEFT_DRAW_TEXT && touch(name, &list->draw[i]))
            return true;
    return false;
}

void canvas_drop_covered_regions(struct canvas *c, uint32_t from, uint32_t to, uint32_t labels,
                                 uint32_t labels_end)
{
    struct weft_drawlist *list = c->list;
    uint32_t kept = from;
    if (list->failed)
        return;
    for (uint32_t i = from; i < to; i++) {
        const struct weft_draw d = list->draw[i];
        if (is_region_name(&d) && is_covered(list, &d, labels, labels_end)) {
            const bool apart = kept > from && list->draw[kept - 1].op == WEFT_DRAW_RECT &&
                               list->draw[kept - 1].ink == WEFT_INK_GROUND;
            kept -= apart; /* its ground: see canvas_text_apart */
        } else {
            list->draw[kept++] = d;
        }
    }
    if (kept == to)
        return;
    memmove(list->draw + kept, list->draw + to, (list->draws - to) * sizeof *list->draw);
    list->draws -= to - kept;
}

/* Gets the visible part of the measured range; false: none of it is visible. */
static bool range_seen(const struct canvas *c, int32_t *x0, int32_t *x1)
{
    const struct weft_viewport *vp = c->vp;
    if (vp->range_from_ns >= vp->range_to_ns)
        return false;
    canvas_ends(c, vp->range_from_ns, vp->range_to_ns, 0, x0, x1);
    return *x1 > *x0;
}

/* Draws the measured range behind everything; its length is on the ruler (canvas_draw_ruler). */
void canvas_draw_range(struct canvas *c)
{
    int32_t x0, x1;
    if (range_seen(c, &x0, &x1))
        canvas_rect(c, WEFT_INK_RANGE, x0, c->rows_y0, x1, c->rows_y1)->alpha = 200;
}

static void draw_range_on_ruler(struct canvas *c)
{
    const struct weft_viewport *vp = c->vp;
    int32_t x0, x1;
    if (!range_seen(c, &x0, &x1))
        return;
    canvas_rect(c, WEFT_INK_RANGE, x0, c->ruler_y0, x1, c->rows_y0);
    const struct weft_figure length = weft_duration(vp->range_to_ns - vp->range_from_ns);
    const size_t size = strlen(length.text);
    int32_t width = weft_text_width(length.text, size, c->font_small, true);
    int32_t x = x0 + (x1 - x0 - width) / 2; /* in the middle, or beside a narrow range */
    x = x > c->x1 - width ? c->x1 - width : x < c->x0 ? c->x0 : x;
    canvas_rect(c, WEFT_INK_RANGE, x - 2 * PX, c->ruler_y0, x + width + 2 * PX, c->rows_y0);
    canvas_text(c, WEFT_INK_TEXT, c->font_small, true, x, c->ruler_y0 + canvas_scaled(c, 12 * PX),
                width, length.text, size);
}

static int64_t far_time(const struct canvas *c)
{
    return c->to_ns > -c->from_ns ? c->to_ns : c->from_ns;
}

/* The width of the widest label of a grid with that step. */
static int32_t time_width(const struct canvas *c, int64_t step)
{
    const struct weft_figure from = weft_axis_time(c->from_ns, step, far_time(c));
    const struct weft_figure to = weft_axis_time(c->to_ns, step, far_time(c));
    int32_t width = weft_text_width(from.text, strlen(from.text), c->font_small, false);
    int32_t last = weft_text_width(to.text, strlen(to.text), c->font_small, false);
    return width > last ? width : last;
}

/* The step of the grid: the smallest of 1, 2, 5, 10, 20, 50 … that leaves room for the labels. */
static int64_t grid_step(const struct canvas *c)
{
    uint64_t span = c->axis.span;
    int64_t ten = 1;
    for (; ten < INT64_C(1000000000000000000); ten *= 10)
        for (int64_t times = 1; times <= 5; times += times == 1 ? 1 : 3) {
            int64_t step = ten * times;
            int32_t room = canvas_scaled(c, GRID_MIN), needed = time_width(c, step) + GRID_GAP;
            room = room > needed ? room : needed;
            if (span / (uint64_t)step <= (uint64_t)((c->x1 - c->x0) / room))
                return step;
        }
    return ten;
}

/* The step of the small marks between two lines: as many as fit, at round times. 0: none. */
static int64_t minor_step(const struct canvas *c, int64_t step)
{
    static const int parts[3][4] = {{10, 5, 2, 0}, {4, 2, 0}, {5, 0}};
    int64_t digit = step;
    while (digit >= 10)
        digit /= 10;
    uint64_t span = c->axis.span;
    uint64_t most = (uint64_t)((c->x1 - c->x0) / MINOR_MIN);
    for (const int *n = parts[digit == 1 ? 0 : digit == 2 ? 1 : 2]; *n; n++)
        if (step % *n == 0 && span / (uint64_t)(step / *n) <= most)
            return step / *n;
    return 0;
}

/* The first multiple of step at or after from. */
static int64_t first_multiple(int64_t from, int64_t step)
{
    int64_t rest = from % step;
    if (rest < 0)
        rest += step;
    if (rest == 0)
        return from;
    return from - rest + step;
}

static void draw_small_ticks(struct canvas *c, int64_t step, int64_t from_ns, int64_t to_ns)
{
    for (int64_t t = first_multiple(from_ns, step); t <= to_ns; t += step) {
        int32_t x = canvas_x(c, t);
        canvas_line(c, WEFT_INK_GRID, PX, x, c->rows_y0 - 4 * PX, x, c->rows_y0);
    }
}

/* Texts begin at next or later; beside a fold they can be closer together than elsewhere. Returns where the next one
 * may begin. */
static int32_t draw_ticks(struct canvas *c, int64_t step, int64_t from_ns, int64_t to_ns,
                          int32_t next)
{
    for (int64_t t = first_multiple(from_ns, step); t <= to_ns; t += step) {
        int32_t x = canvas_x(c, t);
        const struct weft_figure time = weft_axis_time(t, step, far_time(c));
        canvas_line(c, WEFT_INK_GRID, PX, x, c->ruler_y0 + 4 * PX, x, c->rows_y1);
        if (c->axis.folds.count && x < next)
            continue;
        int32_t width = canvas_text(c, WEFT_INK_FAINT_TEXT, c->font_small, false, x + 3 * PX,
                                    c->ruler_y0 + canvas_scaled(c, 12 * PX), c->x1 - x - 3 * PX,
                                    time.text, strlen(time.text));
        next = x + 3 * PX + width + GRID_GAP / 2;
    }
    return next;
}

void canvas_draw_ruler(struct canvas *c)
{
    int64_t step = grid_step(c), minor = minor_step(c, step);
    canvas_rect(c, WEFT_INK_PANEL, 0, c->ruler_y0, c->x1 + MARGIN, c->rows_y0);
    const struct weft_folds *f = &c->axis.folds;
    int64_t from = c->from_ns;
    int32_t next = c->x0;
    for (uint32_t i = 0; i <= f->count; i++) { /* there are no ticks in folds */
        int64_t to = i < f->count && f->fold[i].from_ns < c->to_ns ? f->fold[i].from_ns : c->to_ns;
        if (minor && from <= to)
            draw_small_ticks(c, minor, from, to);
        if (from <= to)
            next = draw_ticks(c, step, from, to, next);
        if (i < f->count && f->fold[i].to_ns > from)
            from = f->fold[i].to_ns;
    }
    draw_range_on_ruler(c);
}

/* ---- The legend: what is seen (legend.c), what is selected, what is left out ---- */

int32_t canvas_legend_height(struct canvas *c)
{
    int32_t notes = c->vp->notes ? (int32_t)c->vp->notes : c->selected;
    int32_t lines = c->legend_lines + c->note_lines + notes;
    return lines * canvas_scaled(c, LEGEND_HEIGHT) + 8 * PX;
}

/* Writes "ARP response (wait) #413" to out, n bytes. */
static int describe(const struct canvas *c, uint32_t promise, char *out, size_t room)
{
    uint32_t label = view_name(c, promise);
    if (promise == WEFT_ROOT)
        return snprintf(out, room, "the event loop");
    return snprintf(out, room, "%.60s%s(%s) #%" PRIu64,
                    label == WEFT_NONE ? "" : weft_model_text(c->m, label, NULL),
                    label == WEFT_NONE ? "" : " ", weft_model_type(c->m, promise),
                    c->m->promise[promise].id);
}

/* One line on what is known of the selected promise. */
static void draw_selection(struct canvas *c, int32_t baseline)
{
    const struct weft_model *m = c->m;
    const struct weft_promise *p = &m->promise[c->vp->selected];
    char text[600], self[120], creator[120], other[120];
    uint64_t ran = 0;
    for (uint32_t r = p->first_run; r != WEFT_NONE; r = m->run[r].next)
        ran += (uint64_t)(m->run[r].end_ns - m->run[r].start_ns);
    describe(c, c->vp->selected, self, sizeof self);
    describe(c, p->creator, creator, sizeof creator);
    int n = snprintf(text, sizeof text, "Selected: %s, created at %s by %s; %s after %s", self,
                     weft_duration(p->start_ns).text, creator,
                     weft_outcome_name((enum weft_outcome)p->outcome),
                     weft_duration(p->end_ns - p->start_ns).text);
    if (p->becomes != WEFT_NONE) {
        describe(c, p->becomes, other, sizeof other);
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", other);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, "; ran for %s.",
                  weft_duration(ran < WEFT_TIME_MAX ? (int64_t)ran : WEFT_TIME_MAX).text);
    canvas_text(c, WEFT_INK_TEXT, c->font_small, false, c->x0, baseline, c->x1 - c->x0, text,
                (size_t)n);
}

/* ---- What is left out ---- */

enum { CLAUSES = 15, CLAUSE = 120 };

struct note {
    char clause[CLAUSES][CLAUSE]; /* no note is broken across lines */
    unsigned clauses;
};

static void add_clause(struct note *n, const char *format, uint64_t count, const char *plural)
{
    if (count)
        snprintf(n->clause[n->clauses++], CLAUSE, format, weft_count(count).text,
                 count == 1 ? "" : plural);
}

static void make_note(struct note *n, const struct canvas *c)
{
    const struct weft_left_out *out = &c->left_out;
    const int64_t step = grid_step(c);
    *n = (struct note){.clauses = 1};
    snprintf(n->clause[0], CLAUSE, "Each grid division: %s.",
             weft_axis_time(step, step, step).text);
    add_clause(n, "Too short to be drawn singly: %s.", out->folded, "");
    add_clause(n, "Hidden with their groups: %s promise%s.", out->hidden, "s");
    unsigned before = n->clauses;
    add_clause(n, "%s arrow%s", out->arrows, "s");
    add_clause(n, "the texts of %s line%s", out->names, "s");
    add_clause(n, "short sleeps, collections and gaps: %s", out->regions, "s");
    add_clause(n, "%s group%s of counters", out->scales, "s");
    add_clause(n, "%s counter%s more", out->counters, "s");
    add_clause(n, "the names of %s counter%s", out->counter_names, "s");
    add_clause(n, "the samples of %s thread%s", out->threads, "s");
    add_clause(n, "%s mark%s", out->marks, "s");
    for (unsigned i = before; i < n->clauses; i++) { /* one sentence of them */
        char text[CLAUSE];
        memcpy(text, n->clause[i], CLAUSE);
        snprintf(n->clause[i], CLAUSE, "%s%.80s%s", i == before ? "Left out: " : "", text,
                 i + 1 == n->clauses ? "." : ",");
    }
    add_clause(n, "Threads that share a strip: %s.", out->together, "");
    add_clause(n, "Creating and becoming is shown of single lines only.", out->edges, "");
    add_clause(n, "What a sample stands for is estimated.", canvas_strips(c) && c->d->estimated,
               "");
    add_clause(n, "Not all that is pending, or who waits for it, is known.", c->m->losses.pending,
               "");
}

/* Writes the notes from the baseline on, if one is given. Returns how many lines they take. */
static int32_t write_note(struct canvas *c, const struct note *n, int32_t baseline)
{
    int32_t space = weft_text_width(" ", 1, c->font_small, false), room = c->x1 - c->x0, lines = 0;
    for (unsigned i = 0, next; i < n->clauses; i = next, lines++) {
        char line[CLAUSES * CLAUSE] = "";
        int32_t width = 0;
        size_t size = 0;
        for (next = i; next < n->clauses; next++) {
            size_t more = strlen(n->clause[next]);
            int32_t wide = weft_text_width(n->clause[next], more, c->font_small, false) + space;
            if (next > i && width + wide > room)
                break;
            size += (size_t)snprintf(line + size, sizeof line - size, "%s%s", size ? " " : "",
                                     n->clause[next]);
            width += wide;
        }
        if (baseline)
            canvas_text(c, WEFT_INK_FAINT_TEXT, c->font_small, false, c->x0,
                        baseline + lines * canvas_scaled(c, LEGEND_HEIGHT), room, line, size);
    }
    return lines;
}

int32_t canvas_note_lines(const struct canvas *c)
{
    struct note n;
    struct canvas same = *c;
    make_note(&n, c);
    return write_note(&same, &n, 0);
}

/* The last lines say what the picture leaves out. */
void canvas_draw_legend(struct canvas *c, int32_t y0)
{
    struct note note;
    int32_t height = canvas_legend_height(c);
    canvas_rect(c, WEFT_INK_PANEL, 0, y0, c->x1 + MARGIN, y0 + height);
    canvas_name_kinds(c, y0, true);
    int32_t lines = c->legend_lines;
    int32_t y = y0 + lines * canvas_scaled(c, LEGEND_HEIGHT) + canvas_scaled(c, LEGEND_HEIGHT) / 2 +
                15 * PX / 2;
    for (uint32_t i = 0; i < c->vp->notes; i++) {
        const char *text = c->vp->note[i];
        canvas_text(c, WEFT_INK_TEXT, c->font_small, false, c->x0, y, c->x1 - c->x0, text,
                    strlen(text));
        y += canvas_scaled(c, LEGEND_HEIGHT);
    }
    if (c->selected && !c->vp->notes) {
        draw_selection(c, y);
        y += canvas_scaled(c, LEGEND_HEIGHT);
    }
    make_note(&note, c);
    write_note(c, &note, y);
}
