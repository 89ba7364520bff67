/* SPDX-License-Identifier: ISC */
/* The table's rows in order, and its texts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "explore/table_state.h"

#define X(NAME, name, heading, file) file,
static const char *const file_names[] = {WEFT_TABLE_EACH_COLUMN(X)};
#undef X

/* A row of the result, as it is sorted. */
struct ranked {
    uint64_t key;
    const char *type, *name; /* by name */
    int64_t total_ns;
    uint32_t promise, row;
};

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

static void put_cell(char out[TABLE_CELL_BYTES], const struct weft_stats_row *r,
                     enum weft_table_column c, bool has_cpu)
{
    uint64_t value = key_of(r, c);
    bool counts = c == WEFT_TABLE_COUNT || c == WEFT_TABLE_FAILED;
    bool latency = c >= WEFT_TABLE_TOTAL && c <= WEFT_TABLE_MAX;
    *out = '\0';
    if ((latency && r->latencies == 0) || (c == WEFT_TABLE_CPU && !has_cpu))
        return;
    value = value < INT64_MAX ? value : INT64_MAX;
    snprintf(out, TABLE_CELL_BYTES, "%s",
             counts || value == 0 ? weft_count(value).text : weft_duration((int64_t)value).text);
}

/* "12 kinds, 1,204 promises, that the search found, alive in the measured range" */
static void put_about(struct explore_table *t)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    static const char *const sorts[][2] = {
        /* before the plural's ending, and after it */
        {"label", ""}, {"kind", " of labels"}, {"type", ""}, {"creator", ""}, {"finding", ""},
    };
    uint64_t promises = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        promises += s->row[i].count;
    snprintf(t->about, sizeof t->about, "%s %s%s%s, %s promise%s%s%s%s%s",
             weft_count(t->view.all).text, sorts[t->of.by][0], weft_plural(t->view.all),
             sorts[t->of.by][1], weft_count(promises).text, weft_plural(promises),
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

uint32_t explore_table_chosen(const struct explore_table *t)
{
    bool has = t->kind < t->of.model->promises && t->kind_pane == t->of.pane;
    return has ? weft_stats_row_of(t->work, t->kind) : WEFT_NONE;
}

void explore_table_fill(struct explore_table *t)
{
    const struct weft_stats *s = weft_stats_result(t->work);
    struct weft_table_view *v = &t->view;
    struct ranked *first = NULL;
    uint32_t count = reserve(t) ? find_first(&first, t, WEFT_TABLE_ROWS_MAX, &v->all) : 0;
    uint32_t chosen = explore_table_chosen(t);
    v->has_cpu = t->cpu != NULL;
    v->rows = v->bars = v->bar_max = 0;
    *t->bars_about = '\0';
    for (uint32_t i = 0; i < count; i++) {
        struct explore_table_shown *x = &t->shown[i];
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
        char name[TABLE_NAME_BYTES];
        put_name(name, sizeof name, t, chosen);
        make_bars(t, &s->row[chosen], name);
    }
    t->is_stale = false;
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
    char text[TABLE_NAME_BYTES * 4] = "";
    put_name(text, sizeof text, t, row);
    put(t, text, '\t');
    for (unsigned c = WEFT_TABLE_NAME + 1; c < WEFT_TABLE_COLUMNS; c++) {
        char cell[TABLE_CELL_BYTES];
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
    if (t->phase == TABLE_DONE && t->work) {
        uint32_t rows = find_first(&all, t, UINT32_MAX, &count);
        for (uint32_t i = 0; i < rows; i++)
            put_line(t, all[i].row);
        t->tsv_failed |= !all;
    }
    free(all);
    return t->tsv_failed ? NULL : t->tsv;
}
