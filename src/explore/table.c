/* SPDX-License-Identifier: ISC */
#include "explore/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/stats.h"
#include "base/array.h"
#include "base/order.h"
#include "explore/state.h"

enum {
    STEPS = 20000,    /* of weft_stats_work, at once: some milliseconds */
    SAMPLES = 200000, /* … of samples, and of promises that are only looked at */
    NAME_BYTES = 160,
    CELL_BYTES = sizeof(struct weft_figure),
};

const char *const weft_table_names[] = {"label", "family", "type", "creator", "finding"};

#define X(NAME, name, heading, file) heading,
const char *const weft_table_headings[] = {WEFT_TABLE_EACH_COLUMN(X)};
#undef X
#define X(NAME, name, heading, file) name,
static const char *const column_names[] = {WEFT_TABLE_EACH_COLUMN(X)};
#undef X
#define X(NAME, name, heading, file) file,
static const char *const file_names[] = {WEFT_TABLE_EACH_COLUMN(X)};
#undef X

/* What a table is of. */
struct of {
    unsigned pane;
    enum weft_table_by by;
    int64_t from_ns, to_ns;
    uint32_t pinned; /* or WEFT_NONE */
    const struct weft_model *model;
    const struct weft_search *search;
    const struct weft_history *history;
    const struct weft_analysis *analysis;
};

enum phase { NOTHING, CPU, ADD, DONE };

/* A row of the result, as it is sorted. */
struct ranked {
    uint64_t key;
    const char *type, *name; /* by name */
    int64_t total_ns;
    uint32_t promise, row;
};

struct shown {
    char name[NAME_BYTES], cell[WEFT_TABLE_COLUMNS][CELL_BYTES];
};

struct explore_table {
    struct weft_table_view view;
    struct of of; /* what the work, or what is shown, is of */
    enum phase phase;
    struct weft_stats_work *work;
    uint32_t sample;  /* the next one */
    uint64_t *cpu;    /* by promise, or NULL: there are no samples */
    uint8_t *created; /* by promise: whether the pinned one created it; NULL: nothing is pinned */
    struct weft_stats_member *member;
    unsigned pinned_pane, kind_pane;
    uint32_t pinned, kind; /* promises: kind is one of the chosen row; or WEFT_NONE */
    struct weft_stats_seek
        seek;         /* for the promise to go to; row: WEFT_NONE: nothing is looked for */
    uint32_t went_to; /* the promise that the last click on a row led to */
    uint32_t *rank;   /* of the rows that are shown: rows of the result */
    struct shown *shown;
    struct weft_table_row *row;
    struct weft_table_bar bar[WEFT_TABLE_BARS_MAX];
    char bar_text[WEFT_TABLE_BARS_MAX][150];
    char about[300], bars_about[NAME_BYTES + 80];
    char *tsv;
    uint32_t tsv_size, tsv_room;
    bool tsv_failed;
    bool is_stale; /* the texts */
};

/* ---- What it is of ---- */

static struct of subject(const struct weft_explorer *e)
{
    const struct explore_table *t = e->table;
    bool range = e->range_from_ns != e->range_to_ns;
    struct of of = {.by = t->view.by, .pinned = t->pinned};
    of.pane = t->pinned != WEFT_NONE     ? t->pinned_pane
              : range                    ? e->range_pane
              : e->selected != WEFT_NONE ? e->selected_pane
                                         : e->active;
    const struct explore_pane *p = &e->pane[of.pane];
    if (range && of.pane == e->range_pane) {
        of.from_ns = e->range_from_ns;
        of.to_ns = e->range_to_ns;
    }
    of.model = p->model;
    of.search = p->search && !weft_search_is_empty(p->search) ? p->search : NULL;
    of.history = p->analysis ? p->analysis->history : p->history;
    of.analysis = of.by == WEFT_TABLE_FINDING ? p->analysis : NULL;
    return of;
}

static bool is_same(const struct of *a, const struct of *b)
{
    return a->pane == b->pane && a->by == b->by && a->from_ns == b->from_ns &&
           a->to_ns == b->to_ns && a->pinned == b->pinned && a->model == b->model &&
           a->search == b->search && a->history == b->history && a->analysis == b->analysis;
}

static bool keep(const void *data, uint32_t promise)
{
    const struct explore_table *t = data;
    return (!t->of.search || weft_search_has(t->of.search, promise)) &&
           (!t->created || (t->created[promise] && promise != t->of.pinned));
}

static void drop_work(struct explore_table *t)
{
    weft_stats_end(t->work);
    t->work = NULL;
    weft_free_all(t->cpu, t->created, t->member);
    t->cpu = NULL;
    t->created = NULL;
    t->member = NULL;
    t->phase = NOTHING;
    t->seek.row = WEFT_NONE;
    t->of = (struct of){.pinned = WEFT_NONE};
}

static void say(struct weft_explorer *e, const char *why)
{
    struct explore_table *t = e->table;
    if (strcmp(t->about, why) == 0)
        return;
    snprintf(t->about, sizeof t->about, "%s", why);
    e->changed |= WEFT_CHANGED_TABLE;
}

/* ---- Adding up ---- */

static int by_row(const void *a, const void *b)
{
    const struct weft_stats_member *x = a, *y = b;
    WEFT_ORDER(x->row, y->row);
    return weft_order(x->promise, y->promise);
}

/* The promises of each finding. */
static bool find_members(struct explore_table *t, const struct weft_findings *f, uint32_t *members)
{
    uint64_t most = 0;
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < f->count; i++)
        most += 1 + (uint64_t)f->finding[i].affecteds;
    t->member = weft_resize(NULL, most, sizeof *t->member);
    if (!t->member)
        return false;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct weft_finding *x = &f->finding[i];
        if (x->promise != WEFT_ROOT && x->promise != WEFT_NONE)
            t->member[n++] = (struct weft_stats_member){i, x->promise};
        for (uint32_t k = 0; k < x->affecteds; k++)
            if (x->affected[k] != WEFT_ROOT)
                t->member[n++] = (struct weft_stats_member){i, x->affected[k]};
    }
    weft_sort(t->member, n, sizeof *t->member, by_row);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_row(&t->member[i], &t->member[i - 1]) != 0)
            t->member[kept++] = t->member[i];
    *members = kept;
    return true;
}

/* Begins anew. Returns false if there is no memory. */
static bool begin(struct weft_explorer *e, const struct of *of)
{
    static const enum weft_stats_by by[WEFT_TABLES] = {
        [WEFT_TABLE_LABEL] = WEFT_BY_LABEL,     [WEFT_TABLE_FAMILY] = WEFT_BY_FAMILY,
        [WEFT_TABLE_TYPE] = WEFT_BY_TYPE,       [WEFT_TABLE_CREATOR] = WEFT_BY_CREATOR,
        [WEFT_TABLE_FINDING] = WEFT_BY_MEMBERS,
    };
    struct explore_table *t = e->table;
    const struct weft_scene *s = e->pane[of->pane].scene;
    struct weft_stats_options o = {.by = by[of->by] | (s->l->raw ? WEFT_STATS_RAW : 0),
                                   .from_ns = of->from_ns,
                                   .to_ns = of->to_ns,
                                   .keep = keep,
                                   .data = t};
    drop_work(t);
    t->of = *of;
    if (of->analysis) {
        if (!find_members(t, &of->analysis->findings, &o.members))
            return false;
        o.member = t->member;
        o.rows = of->analysis->findings.count;
    }
    if (of->pinned != WEFT_NONE && !(t->created = explore_created_by(of->model, of->pinned)))
        return false;
    t->sample = 0;
    if (s->p && !(t->cpu = calloc(of->model->promises, sizeof *t->cpu)))
        return false;
    o.amount = t->cpu;
    t->phase = t->cpu ? CPU : ADD;
    return weft_stats_begin(&t->work, of->history, &o) == 0;
}

static void add_samples(struct explore_table *t, const struct weft_scene *s)
{
    uint32_t left = s->p->samples - t->sample, end = t->sample + (left < SAMPLES ? left : SAMPLES);
    for (; t->sample < end; t->sample++) {
        const struct weft_sample *x = &s->p->sample[t->sample];
        int64_t at = weft_model_time(x->time_ns, s->m->first_ns);
        if (x->promise < s->m->promises &&
            (t->of.from_ns == t->of.to_ns || (at >= t->of.from_ns && at <= t->of.to_ns)))
            t->cpu[x->promise] += weft_scene_sample_ns(s, t->sample);
    }
    if (t->sample == s->p->samples)
        t->phase = ADD;
}

/* Continues. Returns a negative code if there is no memory. */
static int go_on(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    int rc = 1;
    if (t->phase == CPU)
        add_samples(t, e->pane[t->of.pane].scene);
    else
        rc = weft_stats_work(t->work, STEPS);
    if (rc == 0) {
        t->phase = DONE;
        t->is_stale = true;
        e->changed |= WEFT_CHANGED_TABLE;
    }
    return rc;
}

/* Why it cannot be made now; NULL: it can. */
static const char *obstacle(struct weft_explorer *e, const struct of *of)
{
    struct explore_pane *p = &e->pane[of->pane];
    if (p->analysing)
        return "The trace is being analysed \xe2\x80\xa6";
    if (p->searching)
        return "Searching \xe2\x80\xa6";
    if (of->by == WEFT_TABLE_FINDING && !p->analysis)
        return "The trace has not been analysed: e does that";
    if (!explore_history_of(p))
        return "There is no memory for the table";
    return NULL;
}

static bool seek(struct weft_explorer *e);

bool explore_table_work(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    if (!t || !t->view.open || e->panes == 0 || e->drag.grip == EXPLORE_GRIP_RULER)
        return false;
    struct of of = subject(e);
    const char *why = obstacle(e, &of);
    if (why) {
        drop_work(t);
        say(e, why);
        return false;
    }
    of = subject(e); /* the history may be there only now */
    if (!is_same(&of, &t->of)) {
        if (!begin(e, &of)) {
            drop_work(t);
            t->of = of; /* not again */
            t->phase = DONE;
            say(e, "There is no memory for the table");
        }
        return t->phase != DONE;
    }
    if (t->phase == DONE)
        return t->work && seek(e);
    if (go_on(e) < 0) {
        drop_work(t);
        t->of = of;
        t->phase = DONE;
        say(e, "There is no memory for the table");
    }
    return t->phase != DONE;
}

/* ---- Order ---- */

static uint64_t key_of(const struct weft_stats_row *r, enum weft_table_column column)
{
    const int64_t keys[] = {
        [WEFT_TABLE_COUNT] = r->count,    [WEFT_TABLE_TOTAL] = r->total_ns,
        [WEFT_TABLE_P50] = r->p50_ns,     [WEFT_TABLE_P99] = r->p99_ns,
        [WEFT_TABLE_MAX] = r->max_ns,     [WEFT_TABLE_WAITING] = r->waiting_ns,
        [WEFT_TABLE_READY] = r->ready_ns, [WEFT_TABLE_RUNNING] = r->running_ns,
        [WEFT_TABLE_FAILED] = r->failed,
    };
    return column == WEFT_TABLE_CPU    ? r->amount
           : column == WEFT_TABLE_NAME ? 0
                                       : (uint64_t)keys[column];
}

static struct ranked rank_of(const struct explore_table *t, uint32_t row)
{
    const struct weft_stats_row *r = &weft_stats_result(t->work)->row[row];
    const struct weft_model *m = t->of.model;
    struct ranked x = {key_of(r, t->view.sort), "", "", r->total_ns, r->promise, row};
    if (t->view.ascending)
        x.key = UINT64_MAX - x.key;
    if (t->view.sort != WEFT_TABLE_NAME || t->of.by == WEFT_TABLE_FINDING || r->named == WEFT_ROOT)
        return x;
    uint32_t name = t->of.by == WEFT_TABLE_TYPE ? WEFT_NONE : weft_model_name(m, r->named);
    x.type = weft_model_type(m, r->named);
    x.name = name == WEFT_NONE ? "" : weft_model_text(m, name, NULL);
    return x;
}

/* The first to be shown is the least. */
static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    WEFT_ORDER(y->key, x->key);
    int names = strcmp(x->name, y->name);
    names = names ? names : strcmp(x->type, y->type);
    if (names)
        return names;
    WEFT_ORDER(y->total_ns, x->total_ns);
    WEFT_ORDER(x->promise, y->promise);
    return weft_order(x->row, y->row);
}

/* Names from Z to A. */
static int by_rank_back(const void *a, const void *b)
{
    return -by_rank(a, b);
}

/* Puts an item where the last one of a heap was (the last to be shown is at the top). */
static void sift(struct ranked *heap, uint32_t count, uint32_t at,
                 int order(const void *, const void *))
{
    for (;;) {
        uint32_t most = at;
        for (uint64_t child = 2 * (uint64_t)at + 1; child <= 2 * (uint64_t)at + 2; child++)
            if (child < count && order(&heap[child], &heap[most]) > 0)
                most = (uint32_t)child;
        if (most == at)
            return;
        struct ranked x = heap[at];
        heap[at] = heap[most];
        heap[most] = x;
        at = most;
    }
}

/* The first `room` rows in order; the caller frees *out, which is NULL if there is no memory. Returns how many. */
static uint32_t find_first(struct ranked **out, struct explore_table *t, uint32_t room,
                           uint64_t *all)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    int (*order)(const void *, const void *) =
        t->view.sort == WEFT_TABLE_NAME && t->view.ascending ? by_rank_back : by_rank;
    uint32_t count = 0;
    room = room < s->rows ? room : s->rows;
    struct ranked *heap = *out = weft_resize(NULL, room, sizeof *heap);
    *all = 0;
    for (uint32_t i = 0; heap && i < s->rows; i++) {
        if (s->row[i].count == 0)
            continue;
        ++*all;
        struct ranked x = rank_of(t, i);
        if (count < room) {
            heap[count++] = x;
            if (count == room)
                for (uint32_t k = count / 2; k-- > 0;)
                    sift(heap, count, k, order);
        } else if (order(&x, &heap[0]) < 0) {
            heap[0] = x;
            sift(heap, count, 0, order);
        }
    }
    if (heap)
        weft_sort(heap, count, sizeof *heap, order);
    return count;
}

/* ---- Texts ---- */

static void put_name(char *out, size_t room, const struct explore_table *t, uint32_t row)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    const struct weft_stats_row *r = &s->row[row];
    const struct weft_model *m = t->of.model;
    char *label = NULL, type[64], text[600];
    if (t->of.by == WEFT_TABLE_FINDING) {
        const struct weft_finding *f = &t->of.analysis->findings.finding[row];
        snprintf(text, sizeof text, "%" PRIu32 " %s: %s", row + 1, weft_finding_name(f->kind),
                 f->text ? f->text : "");
        explore_fact_clean(out, room, text, strlen(text));
        return;
    }
    if (r->named == WEFT_ROOT) {
        snprintf(out, room, "the event loop");
        return;
    }
    explore_fact_type(type, sizeof type, m, r->named);
    if (weft_stats_label(&label, s, m, r) < 0 || !label)
        snprintf(out, room, "%s", type);
    else
        explore_fact_clean(out, room, label, strlen(label));
    free(label);
}

static void put_cell(char out[CELL_BYTES], const struct weft_stats_row *r, enum weft_table_column c,
                     bool has_cpu)
{
    uint64_t value = key_of(r, c);
    bool counts = c == WEFT_TABLE_COUNT || c == WEFT_TABLE_FAILED;
    bool latency = c >= WEFT_TABLE_TOTAL && c <= WEFT_TABLE_MAX;
    *out = '\0';
    if ((latency && r->latencies == 0) || (c == WEFT_TABLE_CPU && !has_cpu))
        return;
    value = value < INT64_MAX ? value : INT64_MAX;
    snprintf(out, CELL_BYTES, "%s",
             counts || value == 0 ? weft_count(value).text : weft_duration((int64_t)value).text);
}

/* "12 kinds, 1,204 promises, that the search found, alive in the measured range" */
static void put_about(struct explore_table *t)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    static const char *const sorts[] = {"label", "kind of label", "type", "creator", "finding"};
    uint64_t promises = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        promises += s->row[i].count;
    snprintf(t->about, sizeof t->about, "%s %s%s, %s promise%s%s%s%s%s",
             weft_count(t->view.all).text, sorts[t->of.by], weft_plural(t->view.all),
             weft_count(promises).text, weft_plural(promises),
             t->of.search ? ", found by the search" : "",
             t->of.from_ns != t->of.to_ns ? ", alive in the measured range" : "",
             t->created ? ", created by #" : "",
             t->created ? weft_count(t->of.model->promise[t->of.pinned].id).text : "");
}

/* ---- The histogram ---- */

/* Where a bar begins: a power of two, or one that many times between two of them. */
static int64_t bound(uint32_t i, uint32_t parts)
{
    if (i == 0)
        return 0;
    unsigned octave = (i - 1) / parts, part = (i - 1) % parts;
    if (octave >= 62)
        return INT64_MAX;
    uint64_t from = UINT64_C(1) << octave;
    return (int64_t)(from + from / parts * part + from % parts * part / parts);
}

static uint32_t bar_of(int64_t ns, uint32_t parts)
{
    uint32_t low = 0, high = 63 * parts;
    WEFT_SEEK(low, high, bound(middle + 1, parts) <= ns);
    return low;
}

static void make_bars(struct explore_table *t, const struct weft_stats_row *r, const char *name)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    struct weft_table_view *v = &t->view;
    snprintf(t->bars_about, sizeof t->bars_about, "%s: %s duration%s", name,
             weft_count(r->latencies).text, weft_plural(r->latencies));
    if (r->latencies == 0)
        return;
    int64_t least = s->latency[r->first_latency], most = r->max_ns;
    uint32_t parts = 4;
    while (parts > 1 && bar_of(most, parts) - bar_of(least, parts) >= WEFT_TABLE_BARS_MAX)
        parts /= 2;
    for (uint32_t i = bar_of(least, parts);
         i <= bar_of(most, parts) && v->bars < WEFT_TABLE_BARS_MAX; i++) {
        struct weft_table_bar *b = &t->bar[v->bars];
        *b = (struct weft_table_bar){.from_ns = bound(i, parts), .to_ns = bound(i + 1, parts)};
        if (b->to_ns <= b->from_ns)
            continue;
        b->count = weft_stats_below(s, r, b->to_ns) - weft_stats_below(s, r, b->from_ns);
        v->bar_max = b->count > v->bar_max ? b->count : v->bar_max;
        snprintf(t->bar_text[v->bars], sizeof t->bar_text[0], "%s to %s: %s promise%s",
                 weft_duration(b->from_ns).text, weft_duration(b->to_ns).text,
                 weft_count(b->count).text, weft_plural(b->count));
        b->text = t->bar_text[v->bars++];
    }
}

/* ---- What is shown ---- */

static bool reserve(struct explore_table *t)
{
    if (!t->shown)
        t->shown = malloc(WEFT_TABLE_ROWS_MAX * sizeof *t->shown);
    if (!t->row)
        t->row = malloc(WEFT_TABLE_ROWS_MAX * sizeof *t->row);
    if (!t->rank)
        t->rank = malloc(WEFT_TABLE_ROWS_MAX * sizeof *t->rank);
    return t->shown && t->row && t->rank;
}

static uint32_t chosen_row(const struct explore_table *t)
{
    bool has = t->kind < t->of.model->promises && t->kind_pane == t->of.pane;
    return has ? weft_stats_row_of(t->work, t->kind) : WEFT_NONE;
}

static void fill(struct explore_table *t)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    struct weft_table_view *v = &t->view;
    struct ranked *first = NULL;
    uint32_t count = reserve(t) ? find_first(&first, t, WEFT_TABLE_ROWS_MAX, &v->all) : 0;
    uint32_t chosen = chosen_row(t);
    v->has_cpu = t->cpu != NULL;
    v->rows = v->bars = v->bar_max = 0;
    *t->bars_about = '\0';
    for (uint32_t i = 0; i < count; i++) {
        struct shown *x = &t->shown[i];
        struct weft_table_row *row = &t->row[v->rows];
        t->rank[v->rows++] = first[i].row;
        put_name(x->name, sizeof x->name, t, first[i].row);
        for (unsigned c = 0; c < WEFT_TABLE_COLUMNS; c++) {
            row->cell[c] = c == WEFT_TABLE_NAME ? x->name : x->cell[c];
            if (c != WEFT_TABLE_NAME)
                put_cell(x->cell[c], &s->row[first[i].row], c, v->has_cpu);
        }
        row->chosen = first[i].row == chosen;
    }
    free(first);
    put_about(t);
    if (chosen < s->rows && s->row[chosen].count) {
        char name[NAME_BYTES];
        put_name(name, sizeof name, t, chosen);
        make_bars(t, &s->row[chosen], name);
    }
    t->is_stale = false;
}

const struct weft_table_view *weft_explorer_table(struct weft_explorer *e)
{
    static const struct weft_table_view closed = {.about = "", .bars_about = ""};
    struct explore_table *t = e->table;
    if (!t)
        return &closed;
    if (t->is_stale && t->phase == DONE && t->work)
        fill(t);
    t->view.working = t->phase != DONE;
    t->view.pinned = t->pinned != WEFT_NONE;
    t->view.about = t->about;
    t->view.bars_about = t->bars_about;
    t->view.row = t->row;
    t->view.bar = t->bar;
    return &t->view;
}

static void changed(struct weft_explorer *e)
{
    e->table->is_stale = true;
    explore_changed(e, WEFT_CHANGED_TABLE | WEFT_CHANGED_PLACE);
}

/* ---- Life ---- */

/* NULL: no memory. */
static struct explore_table *table_of(struct weft_explorer *e)
{
    if (!e->table && (e->table = calloc(1, sizeof *e->table))) {
        e->table->pinned = e->table->kind = e->table->went_to = WEFT_NONE;
        e->table->of.pinned = e->table->seek.row = WEFT_NONE;
        e->table->view.sort = WEFT_TABLE_TOTAL;
    }
    return e->table;
}

void explore_table_forget(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    if (!t)
        return;
    drop_work(t);
    e->changed |= t->view.open ? WEFT_CHANGED_TABLE : 0;
}

void explore_table_leave(struct weft_explorer *e)
{
    explore_table_forget(e);
    if (e->table)
        e->table->pinned = e->table->kind = e->table->went_to = WEFT_NONE;
}

void explore_table_fini(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    if (!t)
        return;
    drop_work(t);
    weft_free_all(t->tsv, t->shown, t->row, t->rank, t);
    e->table = NULL;
}

void weft_explorer_table_show(struct weft_explorer *e, enum weft_table_by by)
{
    struct explore_table *t = table_of(e);
    if (!t)
        return;
    t->view.open = by < WEFT_TABLES;
    if (t->view.open)
        t->view.by = by;
    else
        drop_work(t);
    changed(e);
}

void weft_explorer_table_sort(struct weft_explorer *e, enum weft_table_column column)
{
    struct explore_table *t = table_of(e);
    if (!t || column >= WEFT_TABLE_COLUMNS)
        return;
    t->view.ascending = t->view.sort == column && !t->view.ascending;
    t->view.sort = column;
    changed(e);
}

/* ---- What can be done with it ---- */

/* Looks on for the promise to go to; after the fastest one comes the slowest again. Returns true if there is more to
 * do. */
static bool seek(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    struct weft_stats_seek *s = &t->seek;
    if (s->row == WEFT_NONE)
        return false;
    if (weft_stats_slower(t->work, s, SAMPLES))
        return true;
    if (s->best == WEFT_NONE && s->before != WEFT_NONE) {
        *s = (struct weft_stats_seek){.row = s->row, .before = WEFT_NONE, .best = WEFT_NONE};
        return true;
    }
    s->row = WEFT_NONE;
    if (s->best == WEFT_NONE)
        return false;
    t->kind = t->went_to = s->best;
    t->kind_pane = t->of.pane;
    changed(e);
    explore_jump(e, t->of.pane, s->best);
    return false;
}

bool weft_explorer_table_go(struct weft_explorer *e, uint32_t row)
{
    struct explore_table *t = e->table;
    const struct weft_table_view *v = weft_explorer_table(e);
    if (!t || t->phase != DONE || !t->work || row >= v->rows)
        return false;
    uint32_t at = t->rank[row];
    bool again = t->went_to != WEFT_NONE && t->went_to == e->selected &&
                 e->selected_pane == t->of.pane && chosen_row(t) == at;
    t->seek = (struct weft_stats_seek){
        .row = at, .before = again ? t->went_to : WEFT_NONE, .best = WEFT_NONE};
    if (seek(e) && t->of.model->promises < SAMPLES)
        seek(e);
    e->changed |= WEFT_CHANGED_TABLE;
    return true;
}

void weft_explorer_table_brush(struct weft_explorer *e, uint32_t first, uint32_t last)
{
    const struct weft_table_view *v = weft_explorer_table(e);
    char query[EXPLORE_QUERY_BYTES + 1] = "", word[80];
    size_t used = 0;
    if (first > last) {
        uint32_t other = first;
        first = last;
        last = other;
    }
    if (last >= v->bars)
        return;
    for (const char *at = e->query; *at;) { /* without the lengths of an earlier one */
        size_t size = strcspn(at, " ");
        bool quoted = memchr(at, '"', size) != NULL;
        if (quoted) /* up to its end; the rest may hold anything */
            size = strlen(at);
        if (size && (quoted || (*at != '>' && *at != '<')) && used + size + 1 < sizeof query) {
            used += (size_t)snprintf(query + used, sizeof query - used, "%s%.*s", used ? " " : "",
                                     (int)size, at);
        }
        at += size;
        at += strspn(at, " ");
    }
    int n = snprintf(word, sizeof word, "%s>%" PRId64 "ns <%" PRId64 "ns", used ? " " : "",
                     v->bar[first].from_ns - 1, v->bar[last].to_ns);
    if (v->bar[first].from_ns == 0)
        n = snprintf(word, sizeof word, "%s<%" PRId64 "ns", used ? " " : "", v->bar[last].to_ns);
    if (used + (size_t)n < sizeof query)
        memcpy(query + used, word, (size_t)n + 1);
    weft_explorer_search(e, query);
}

bool weft_explorer_table_pin(struct weft_explorer *e)
{
    struct explore_table *t = table_of(e);
    if (!t || (t->pinned == WEFT_NONE && e->selected == WEFT_NONE))
        return false;
    bool pinned = t->pinned != WEFT_NONE;
    t->pinned = pinned ? WEFT_NONE : e->selected;
    t->pinned_pane = pinned ? 0 : e->selected_pane;
    t->view.open = true;
    changed(e);
    return true;
}

bool explore_table_command(struct weft_explorer *e, enum weft_command command)
{
    if (command == WEFT_COMMAND_TABLE_PIN)
        return weft_explorer_table_pin(e);
    const struct weft_table_view *v = weft_explorer_table(e);
    weft_explorer_table_show(e, v->open    ? WEFT_TABLES
                                : e->table ? e->table->view.by
                                           : WEFT_TABLE_LABEL);
    return true;
}

/* ---- As a file ---- */

static void put(struct explore_table *t, const char *text, char end)
{
    size_t size = strlen(text);
    t->tsv_failed =
        t->tsv_failed || !weft_reserve_all(&t->tsv, t->tsv_size + size + 2, &t->tsv_room, 1);
    if (t->tsv_failed)
        return;
    memcpy(t->tsv + t->tsv_size, text, size);
    t->tsv_size += (uint32_t)size;
    t->tsv[t->tsv_size++] = end;
    t->tsv[t->tsv_size] = '\0';
}

static void put_line(struct explore_table *t, uint32_t row)
{
    const struct weft_stats_row *r = &weft_stats_result(t->work)->row[row];
    char text[NAME_BYTES * 4] = "";
    put_name(text, sizeof text, t, row);
    put(t, text, '\t');
    for (unsigned c = WEFT_TABLE_NAME + 1; c < WEFT_TABLE_COLUMNS; c++) {
        char cell[CELL_BYTES];
        put_cell(cell, r, c, t->cpu != NULL);
        snprintf(text, sizeof text, "%" PRIu64, key_of(r, c));
        put(t, *cell ? text : "", '\t');
    }
    *text = '\0';
    if (t->of.by != WEFT_TABLE_FINDING && r->named != WEFT_ROOT)
        explore_fact_type(text, sizeof text, t->of.model, r->named);
    put(t, text, '\n');
}

const char *weft_explorer_table_tsv(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    struct ranked *all = NULL;
    uint64_t count = 0;
    if (!t)
        return "";
    t->tsv_size = 0;
    t->tsv_failed = false;
    for (unsigned c = 0; c < WEFT_TABLE_COLUMNS; c++)
        put(t, file_names[c], '\t');
    put(t, "type", '\n');
    if (t->phase == DONE && t->work) {
        uint32_t rows = find_first(&all, t, UINT32_MAX, &count);
        for (uint32_t i = 0; i < rows; i++)
            put_line(t, all[i].row);
        t->tsv_failed |= !all;
    }
    free(all);
    return t->tsv_failed ? NULL : t->tsv;
}

/* ---- In places ---- */

struct explore_table_place explore_table_place(const struct weft_explorer *e)
{
    const struct explore_table *t = e->table;
    struct explore_table_place p = {.kind = WEFT_NONE, .pinned = WEFT_NONE};
    if (!t || !t->view.open)
        return p;
    p.by = weft_table_names[t->view.by];
    p.sort = column_names[t->view.sort];
    p.is_default = t->view.sort == WEFT_TABLE_TOTAL && !t->view.ascending;
    p.ascending = t->view.ascending;
    p.kind = t->kind;
    p.pane = t->kind_pane;
    p.pinned = t->pinned;
    p.pinned_pane = t->pinned_pane;
    return p;
}

/* The place of a text in a list of names, or `count`. */
static unsigned find_name(const char *const *names, unsigned count, const char *text)
{
    unsigned i = 0;
    while (i < count && strcmp(names[i], text) != 0)
        i++;
    return i;
}

bool explore_table_go(struct weft_explorer *e, const struct explore_table_place *p)
{
    if (!p->by && !e->table)
        return true;
    struct explore_table *t = table_of(e);
    if (!t)
        return false;
    unsigned by = p->by ? find_name(weft_table_names, WEFT_TABLES, p->by) : WEFT_TABLES;
    unsigned sort =
        p->sort ? find_name(column_names, WEFT_TABLE_COLUMNS, p->sort) : WEFT_TABLE_TOTAL;
    drop_work(t);
    t->view.open = by < WEFT_TABLES;
    if (t->view.open)
        t->view.by = by;
    t->view.sort = sort < WEFT_TABLE_COLUMNS ? sort : WEFT_TABLE_TOTAL;
    t->view.ascending = p->ascending;
    t->kind = p->kind;
    t->kind_pane = p->pane;
    t->pinned = p->pinned;
    t->pinned_pane = p->pinned_pane;
    t->went_to = WEFT_NONE;
    changed(e);
    return (!p->by || by < WEFT_TABLES) && sort < WEFT_TABLE_COLUMNS;
}

bool explore_table_is_family(const struct weft_explorer *e)
{
    return e->table && e->table->view.open && e->table->view.by == WEFT_TABLE_FAMILY;
}
