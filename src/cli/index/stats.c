/* SPDX-License-Identifier: ISC */
/* weft stats: the rows by label and, if labels that differ in numbers only are joined, by family, with the loops. */
#include <stdlib.h>

#include "cli/index/parts.h"

enum { ROWS_MOST = 30000, STREAMS_MOST = 30000 }; /* more do not fit into the largest index */

#define STATS(kind, member) INDEX_FIELD(struct weft_stats, kind, member)
static const struct index_field stats_fields[] = {
    STATS(LENGTH, span_ns),
    STATS(U32, ready_max),
    STATS(TIME, ready_max_ns),
    STATS(REAL, ready_mean),
};

#define ROW(kind, member) INDEX_FIELD(struct weft_stats_row, kind, member)
static const struct index_field row_fields[] = {
    ROW(FLAG, one_label),  ROW(U32, count),         ROW(U32, resolved),
    ROW(U32, failed),      ROW(U32, cancelled),     ROW(U32, forgotten),
    ROW(U32, pending),     ROW(U32, became),        ROW(U32, preexisting),
    ROW(U32, latencies),   ROW(REAL, rate),         ROW(LENGTH, p50_ns),
    ROW(LENGTH, p90_ns),   ROW(LENGTH, p99_ns),     ROW(LENGTH, max_ns),
    ROW(LENGTH, total_ns), ROW(LENGTH, waiting_ns), ROW(LENGTH, blocked_ns),
    ROW(LENGTH, ready_ns), ROW(LENGTH, running_ns),
};

#define STREAM(kind, member) INDEX_FIELD(struct weft_stats_stream, kind, member)
static const struct index_field stream_fields[] = {
    STREAM(U32, stream),     STREAM(FLAG, is_loop),         STREAM(FLAG, suspends),
    STREAM(LENGTH, span_ns), STREAM(LENGTH, busy_ns),       STREAM(LENGTH, loop_ns),
    STREAM(LENGTH, idle_ns), STREAM(LENGTH, collecting_ns), STREAM(U64, runs),
    STREAM(U64, turns),      STREAM(TIME, turn_from_ns),    STREAM(TIME, turn_to_ns),
    STREAM(U64, turn_runs),
};

static const struct index_field run_fields[] = {
    INDEX_FIELD(struct weft_run, TIME, start_ns),
    INDEX_FIELD(struct weft_run, TIME, end_ns),
};

static uint32_t longest_runs(const struct weft_stats_stream *s)
{
    uint32_t n = 0;
    while (n < WEFT_STATS_RUNS && s->longest_run[n] != WEFT_NONE)
        n++;
    return n;
}

/* ---- Writing ---- */

static void name_all(struct index_names *n, const struct weft_stats *s,
                     const struct weft_history *h)
{
    for (uint32_t k = 0; k < s->rows; k++) {
        index_name(n, s->row[k].promise);
        index_name(n, s->row[k].named);
        index_name(n, s->row[k].slowest);
    }
    for (uint32_t k = 0; k < s->streams; k++)
        for (uint32_t i = 0; i < longest_runs(&s->stream[k]); i++)
            index_name(n, h->run_promise[s->stream[k].longest_run[i]]);
    index_names_sort(n);
}

/* Counts up to the last power that is not empty. */
static json_t *powers_json(const struct weft_stats *s, const struct weft_stats_row *r)
{
    json_t *list = json_array();
    uint32_t left = r->latencies;
    for (unsigned i = 0; left && i < WEFT_STATS_POWERS; i++) {
        const uint32_t n = weft_stats_in_power(s, r, i);
        index_add(&list, json_integer(n));
        left -= n;
    }
    return list;
}

static json_t *row_json(const struct index_names *n, const struct weft_stats *s,
                        const struct weft_stats_row *r)
{
    json_t *one = json_array();
    index_add(&one, index_put(r, row_fields));
    index_add(&one, index_ref(n, r->promise));
    index_add(&one, index_ref(n, r->named));
    index_add(&one, index_ref(n, r->slowest));
    index_add(&one, powers_json(s, r));
    return one;
}

static json_t *run_json(const struct index_names *n, const struct weft_history *h, uint32_t run)
{
    json_t *one = json_array();
    index_add(&one, index_put(&h->m->run[run], run_fields));
    index_add(&one, index_ref(n, h->run_promise[run]));
    return one;
}

static json_t *stream_json(const struct index_names *n, const struct weft_history *h,
                           const struct weft_stats_stream *s)
{
    json_t *one = json_array(), *runs = json_array();
    for (uint32_t i = 0; i < longest_runs(s); i++)
        index_add(&runs, run_json(n, h, s->longest_run[i]));
    index_add(&one, index_put(s, stream_fields));
    index_add(&one, runs);
    return one;
}

static json_t *stats_json(const struct weft_stats *s, const struct weft_history *h)
{
    struct index_names n = {.promise = NULL};
    json_t *out = json_array(), *rows = json_array(), *streams = json_array();
    name_all(&n, s, h);
    for (uint32_t i = 0; rows && i < s->rows; i++)
        index_add(&rows, row_json(&n, s, &s->row[i]));
    for (uint32_t i = 0; streams && i < s->streams; i++)
        index_add(&streams, stream_json(&n, h, &s->stream[i]));
    index_add(&out, index_put(s, stats_fields));
    index_add(&out, index_names_json(&n, h->m));
    index_add(&out, rows);
    index_add(&out, streams);
    index_names_fini(&n);
    return out;
}

static void add_rows(json_t **section, const struct weft_stats *s, const struct weft_history *h)
{
    if (s->rows <= ROWS_MOST && s->streams <= STREAMS_MOST)
        index_set(section, s->by == WEFT_BY_FAMILY ? "family" : "label", stats_json(s, h));
}

void cli_index_add_stats(struct cli_index *x, const struct weft_history *h,
                         const struct weft_stats *found)
{
    struct weft_stats own = {.row = NULL}, label = {.row = NULL};
    if (!index_lacks(x, "stats"))
        return;
    json_t *section = json_object();
    int rc = found ? 0 : weft_stats_find(&own, h, WEFT_BY_AUTO, NULL, NULL);
    found = found ? found : &own;
    if (rc == 0)
        add_rows(&section, found, h);
    if (rc == 0 && found->by == WEFT_BY_FAMILY)
        rc = weft_stats_find(&label, h, WEFT_BY_LABEL, NULL, NULL);
    if (rc == 0 && found->by == WEFT_BY_FAMILY)
        add_rows(&section, &label, h);
    weft_stats_fini(&own);
    weft_stats_fini(&label);
    index_add_model(x, h->m);
    index_put_section(x, "stats", section);
}

/* ---- Reading ---- */

struct reading {
    struct cli_excerpt *e;
    struct weft_stats *s;
    uint32_t runs; /* of the excerpt */
};

/* The longest one is among those of the last power. */
static bool is_last_power(int64_t max_ns, size_t powers)
{
    return powers == 0 || max_ns >> (powers - 1) == 1 || (powers == 1 && max_ns == 0);
}

static bool get_row(const struct reading *r, const json_t *one)
{
    const json_t *powers = json_array_get(one, 4);
    struct weft_stats *s = r->s;
    struct weft_stats_row *row = &s->row[s->rows];
    uint64_t n = 0, all = 0;
    bool fine = index_get(row, row_fields, json_array_get(one, 0)) &&
                index_get_ref(json_array_get(one, 1), r->e->model, &row->promise) &&
                index_get_ref(json_array_get(one, 2), r->e->model, &row->named) &&
                index_get_ref(json_array_get(one, 3), r->e->model, &row->slowest) &&
                json_array_size(powers) <= WEFT_STATS_POWERS &&
                is_last_power(row->max_ns, json_array_size(powers));
    row->first_latency = WEFT_STATS_POWERS * s->rows;
    for (size_t i = 0; fine && i < json_array_size(powers); i++) {
        fine = index_number(powers, i, UINT32_MAX, &n);
        s->power[row->first_latency + i] = (uint32_t)n;
        all += n;
    }
    s->rows++;
    return fine && all == row->latencies && row->named != WEFT_NONE &&
           (!row->latencies || row->slowest != WEFT_NONE);
}

static bool get_stream(struct reading *r, const json_t *one)
{
    const json_t *runs = json_array_get(one, 1);
    struct weft_stats_stream *t = &r->s->stream[r->s->streams++];
    bool fine = index_get(t, stream_fields, json_array_get(one, 0)) &&
                json_array_size(runs) <= WEFT_STATS_RUNS;
    for (size_t i = 0; i < WEFT_STATS_RUNS; i++) {
        const json_t *run = json_array_get(runs, i);
        const uint32_t at = r->runs;
        t->longest_run[i] = WEFT_NONE;
        if (!fine || !run)
            continue;
        fine =
            index_get(&r->e->model->run[at], run_fields, json_array_get(run, 0)) &&
            index_get_ref(json_array_get(run, 1), r->e->model, &r->e->history->run_promise[at]) &&
            r->e->history->run_promise[at] != WEFT_NONE;
        t->longest_run[i] = at;
        r->runs++;
    }
    return fine;
}

static bool get_stats(struct cli_index *x, const json_t *list, struct cli_excerpt *e,
                      struct weft_stats *s)
{
    const json_t *rows = json_array_get(list, 2), *streams = json_array_get(list, 3);
    const size_t row_count = json_array_size(rows), stream_count = json_array_size(streams);
    struct reading r = {.e = e, .s = s};
    if (row_count > ROWS_MOST || stream_count > STREAMS_MOST ||
        !index_get(s, stats_fields, json_array_get(list, 0)) ||
        !index_excerpt(e, x, json_array_get(list, 1)))
        return false;
    s->row = calloc(row_count + 1, sizeof *s->row);
    s->power = calloc(row_count + 1, WEFT_STATS_POWERS * sizeof *s->power);
    s->stream = calloc(stream_count + 1, sizeof *s->stream);
    e->model->run = calloc(stream_count + 1, WEFT_STATS_RUNS * sizeof *e->model->run);
    e->history->run_promise =
        calloc(stream_count + 1, WEFT_STATS_RUNS * sizeof *e->history->run_promise);
    bool fine = s->row && s->power && s->stream && e->model->run && e->history->run_promise;
    for (size_t i = 0; fine && i < row_count; i++)
        fine = get_row(&r, json_array_get(rows, i));
    for (size_t i = 0; fine && i < stream_count; i++)
        fine = get_stream(&r, json_array_get(streams, i));
    if (!fine)
        index_excerpt_free(e);
    return fine;
}

bool cli_index_get_stats(struct cli_index *x, enum weft_stats_by by, struct cli_excerpt *e,
                         struct weft_stats *s)
{
    const json_t *section = index_section(x, "stats");
    const json_t *label = json_object_get(section, "label");
    const json_t *family = json_object_get(section, "family");
    const json_t *list = by == WEFT_BY_FAMILY || (by == WEFT_BY_AUTO && family) ? family
                         : by == WEFT_BY_LABEL || by == WEFT_BY_AUTO            ? label
                                                                                : NULL;
    *s = (struct weft_stats){.by = list == family ? WEFT_BY_FAMILY : WEFT_BY_LABEL};
    if (list && index_checked(x, "stats", get_stats(x, list, e, s)))
        return true;
    weft_stats_fini(s);
    return false;
}
