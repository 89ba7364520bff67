/* SPDX-License-Identifier: ISC */
/* weft stats: latencies by label, and how busy the loop was. */
#include "cli/stats.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "base/order.h"
#include "cli/common.h"
#include "cli/index/index.h"
#include "cli/report.h"
#include "cli/trace_json.h"

#define TOP_ROWS 20

static const char *const by_names[] = {[WEFT_BY_LABEL] = "label",
                                       [WEFT_BY_FAMILY] = "family",
                                       [WEFT_BY_TYPE] = "type",
                                       [WEFT_BY_CREATOR] = "creator",
                                       NULL};

/* ---- Order ---- */

static const char *const key_names[] = {"total",   "count",  "p50",     "p90",     "p99",
                                        "max",     "failed", "pending", "waiting", "ready",
                                        "running", "name",   NULL};
enum { SORT_NAME = 11 };

struct order {
    const struct weft_model *m;
    unsigned key; /* of key_names */
};

static int64_t key_of(const struct weft_stats_row *r, unsigned key)
{
    const int64_t keys[] = {r->total_ns,   r->count,    r->p50_ns,     r->p90_ns,
                            r->p99_ns,     r->max_ns,   r->failed,     r->pending,
                            r->waiting_ns, r->ready_ns, r->running_ns, 0};
    return keys[key];
}

static uint32_t name_of(const struct weft_model *m, const struct weft_stats_row *r)
{
    return r->named == WEFT_ROOT ? WEFT_NONE : weft_model_name(m, r->named);
}

static int by_name(const struct weft_model *m, const struct weft_stats_row *a,
                   const struct weft_stats_row *b)
{
    uint32_t x = name_of(m, a), y = name_of(m, b);
    int types = strcmp(weft_stats_type(m, a), weft_stats_type(m, b));
    if (types != 0 || x == y)
        return types;
    if (x == WEFT_NONE || y == WEFT_NONE)
        return x == WEFT_NONE ? -1 : 1;
    return strcmp(weft_model_text(m, x, NULL), weft_model_text(m, y, NULL));
}

static int by_key(const void *a, const void *b, void *data)
{
    const struct weft_stats_row *x = a, *y = b;
    const struct order *o = data;
    int names = o->key == SORT_NAME ? by_name(o->m, x, y) : 0;
    if (names != 0)
        return names;
    WEFT_ORDER(key_of(y, o->key), key_of(x, o->key));
    WEFT_ORDER(y->total_ns, x->total_ns);
    return weft_order(x->promise, y->promise);
}

/* ---- For programs ---- */

static json_t *latency(const struct weft_stats_row *r, int64_t ns)
{
    return r->latencies ? json_integer(ns) : json_null();
}

/* As cli_json_histogram makes it of the latencies, of which only this is known. */
static json_t *powers_json(const struct weft_stats *s, const struct weft_stats_row *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < WEFT_STATS_POWERS; i++) {
        const uint32_t n = weft_stats_in_power(s, r, i);
        if (n)
            cli_json_append(list,
                            CLI_OBJECT("from_ns", i == 0 ? 0 : INT64_C(1) << i, "to_ns",
                                       i == WEFT_STATS_POWERS - 1 ? INT64_MAX : INT64_C(2) << i,
                                       "count", n));
    }
    return list;
}

static json_t *row_json(const struct cli_stats_view *v, const struct weft_stats_row *r)
{
    const struct weft_model *m = v->h->m;
    char *label;
    if (weft_stats_label(&label, v->s, m, r) < 0)
        return NULL;
    json_t *o = CLI_OBJECT("type", weft_stats_type(m, r), "label", label,
                           CLI_FIELDS(r, count, rate, resolved, failed, cancelled, forgotten,
                                      pending, became, preexisting, latencies));
    CLI_SET(o, "p50_ns", latency(r, r->p50_ns), "p90_ns", latency(r, r->p90_ns), "p99_ns",
            latency(r, r->p99_ns), "max_ns", latency(r, r->max_ns), "mean_ns",
            latency(r, r->total_ns / (r->latencies ? r->latencies : 1)), "total_ns",
            (uint64_t)r->total_ns, "slowest", cli_json_id(m, r->slowest),
            CLI_FIELDS(r, waiting_ns, blocked_ns, ready_ns, running_ns), "histogram",
            v->s->latency ? cli_json_histogram(v->s->latency + r->first_latency, r->latencies,
                                               sizeof(int64_t))
                          : powers_json(v->s, r));
    free(label);
    return o;
}

static json_t *stream_json(const struct cli_stats_view *v, const struct weft_stats_stream *s)
{
    const struct weft_model *m = v->h->m;
    json_t *runs = json_array();
    for (unsigned i = 0; i < WEFT_STATS_RUNS && s->longest_run[i] != WEFT_NONE; i++) {
        const struct weft_run *r = &m->run[s->longest_run[i]];
        uint32_t p = v->h->run_promise[s->longest_run[i]];
        cli_json_append(runs,
                        CLI_OBJECT("promise", cli_json_id(m, p), "name", analyse_as_name(m, p).text,
                                   CLI_FIELDS(r, start_ns, end_ns)));
    }
    json_t *turn = s->turns ? CLI_OBJECT("start_ns", s->turn_from_ns, "end_ns", s->turn_to_ns,
                                         "runs", s->turn_runs)
                            : json_null();
    double share = s->span_ns ? (double)s->busy_ns / (double)s->span_ns : 0;
    return CLI_OBJECT(CLI_FIELDS(s, stream), "kind", s->is_loop ? "loop" : "worker",
                      CLI_FIELDS(s, suspends), "utilisation", share < 1 ? share : 1.0,
                      CLI_FIELDS(s, span_ns, busy_ns, loop_ns, idle_ns, collecting_ns, runs, turns),
                      "longest_runs", runs, "longest_turn", turn);
}

/* A row at a time: there may be as many as promises. */
static void print_json(const struct cli_stats_view *v)
{
    const struct weft_stats *s = v->s;
    cli_json_dump(cli_json_string(v->path), "{\"file\": ");
    cli_json_dump(json_string(by_names[s->by]), ",\n \"by\": ");
    cli_json_dump(json_integer(s->span_ns), ",\n \"span_ns\": ");
    cli_json_dump(cli_json_number(v->promises - 1), ",\n \"promises\": ");
    cli_json_dump(cli_json_number(s->rows), ",\n \"kinds\": ");
    fputs(",\n \"rows\": [", stdout);
    for (uint32_t i = 0; i < s->rows && i < v->top; i++)
        cli_json_dump(row_json(v, &s->row[i]), i ? ",\n  " : "\n  ");
    fputs("],\n \"streams\": [", stdout);
    for (uint32_t i = 0; i < s->streams; i++)
        cli_json_dump(stream_json(v, &s->stream[i]), i ? ",\n  " : "\n  ");
    cli_json_dump(CLI_OBJECT("max", s->ready_max, "max_at_ns",
                             s->ready_max ? json_integer(s->ready_max_ns) : json_null(), "mean",
                             s->ready_mean),
                  "],\n \"ready\": ");
    fputs("}\n", stdout);
}

/* ---- What was asked for ---- */

struct request {
    const char *path, *histogram;
    enum weft_stats_by by;
    unsigned key;
    uint32_t top;
    bool raw, json, top_given;
};

static struct request request = {.top = TOP_ROWS};

static const struct cli_option options[] = {
    CLI_WORD("by", request.by, "label|family|type|creator",
             "what makes a kind; family: labels without their numbers, so that \"GET /users/7\" is "
             "\"GET /users/#\"; creator: the label of what created them",
             .words = by_names + WEFT_BY_LABEL, .first = WEFT_BY_LABEL,
             .shown = "family if some labels differ in their numbers only, else label; with --json "
                      "label"),
    CLI_WORD("sort", request.key, "KEY", "what comes first:", .words = key_names,
             .shown = "total, the time"),
    CLI_NUMBER("top", request.top, "N", "so many kinds; 0: all", .given = &request.top_given,
               .shown = "20"),
    CLI_TEXT("histogram", request.histogram, "TEXT",
             "only the latencies of the kinds whose label is TEXT, or contains it"),
    CLI_FLAG("raw", request.raw,
             "a bind and the like begins with its creation, not with its first read"),
    CLI_FLAG("json", request.json, "print a JSON object"),
    CLI_INDEX,
    CLI_PART,
    CLI_END,
};

/* Keeps the rows whose label equals the text; if there are none, those whose label contains it or whose type equals it.
 * Returns 0, or a negative code. */
static int keep_matching(struct weft_stats *s, const struct weft_model *m, const char *text)
{
    for (int exact = 1; exact >= 0; exact--) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < s->rows; i++) {
            char *label;
            if (weft_stats_label(&label, s, m, &s->row[i]) < 0)
                return WEFT_E_NOMEM;
            bool matches = exact ? label && strcmp(label, text) == 0
                                 : (label && strstr(label, text)) ||
                                       strcmp(weft_stats_type(m, &s->row[i]), text) == 0;
            free(label);
            if (matches) {
                struct weft_stats_row row = s->row[i];
                s->row[i] = s->row[kept];
                s->row[kept++] = row;
            }
        }
        if (kept || !exact) {
            s->rows = kept;
            return 0;
        }
    }
    return 0;
}

static int find(struct weft_stats *s, const struct weft_history *h, const struct request *r,
                enum weft_stats_by by)
{
    struct cli_progress progress = cli_progress_begin(r->path);
    int rc =
        weft_stats_find(s, h, by | (r->raw ? WEFT_STATS_RAW : 0), cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (rc == 0 && r->histogram)
        rc = keep_matching(s, h->m, r->histogram);
    return rc;
}

static void print(const struct cli_stats_view *v, const struct request *r)
{
    if (r->json)
        print_json(v);
    else if (!r->histogram)
        cli_stats_print(v);
    if (r->json || !r->histogram)
        return;
    for (uint32_t i = 0; i < v->s->rows && i < v->top; i++)
        cli_stats_print_histogram(v, &v->s->row[i]);
    if (v->s->rows > v->top)
        printf("and %s more kinds\n", weft_count(v->s->rows - v->top).text);
}

/* What the rows are by, as far as it is known before they are there. */
static enum weft_stats_by wanted_by(const struct request *r)
{
    return r->by ? r->by : r->json || r->histogram ? WEFT_BY_LABEL : WEFT_BY_AUTO;
}

static void show(const struct weft_history *h, uint32_t promises, struct weft_stats *s,
                 const struct request *r)
{
    struct order order = {h->m, r->key};
    if (s->rows)
        qsort_r(s->row, s->rows, sizeof *s->row, by_key, &order);
    print(&(struct cli_stats_view){r->path, h, promises, s, r->top,
                                   !r->by && s->by == WEFT_BY_FAMILY},
          r);
}

static int find_and_show(const struct weft_history *h, struct cli_index *x, const struct request *r)
{
    struct weft_stats s;
    int rc = find(&s, h, r, wanted_by(r)), status = CLI_FAILED;
    if (rc == 0 && r->histogram && s.rows == 0 && !r->by) { /* it may be the name of a family */
        weft_stats_fini(&s);
        rc = find(&s, h, r, WEFT_BY_FAMILY);
    }
    if (rc < 0) {
        cli_say("stats", "out of memory");
    } else if (r->histogram && s.rows == 0) {
        cli_say(r->path, "no promise has a label that contains \"%s\"",
                cli_shown(r->histogram).text);
    } else {
        const bool usual = !r->histogram && !r->raw && wanted_by(r) == WEFT_BY_AUTO;
        show(h, h->m->promises, &s, r);
        fflush(stdout);
        cli_index_add_stats(x, h, usual ? &s : NULL);
        status = CLI_DONE;
    }
    weft_stats_fini(&s);
    return status;
}

static bool show_index(struct cli_index *x, const struct request *r)
{
    struct cli_excerpt e;
    struct weft_stats s;
    if (r->histogram || r->raw || !cli_index_get_stats(x, wanted_by(r), &e, &s))
        return false;
    cli_warn_of_model(r->path, e.model);
    show(e.history, e.promises, &s, r);
    weft_stats_fini(&s);
    weft_history_free(e.history);
    weft_model_free(e.model);
    return true;
}

/* Returns an exit status. */
static int read_and_show(struct cli_index *x, const struct request *r)
{
    struct weft_reader *reader = cli_open(r->path);
    struct weft_model *m = reader ? cli_model_of(reader, r->path) : NULL;
    if (m)
        cli_index_add_counts(x, reader, m);
    weft_reader_close(reader);
    struct weft_history *h = m ? cli_history(m, r->path) : NULL;
    const int status = h ? find_and_show(h, x, r) : CLI_FAILED;
    weft_history_free(h);
    weft_model_free(m);
    return status;
}

static int run(int files, char **file)
{
    (void)files;
    struct request *r = &request;
    if (r->top == 0 || (r->json && !r->top_given))
        r->top = UINT32_MAX;
    r->path = *file;
    struct cli_index *x = cli_index_open(r->path);
    const int status = show_index(x, r) ? CLI_DONE : read_and_show(x, r);
    cli_index_close(x);
    return status;
}

const struct cli_command cli_stats = {
    .name = "stats",
    .summary = "latencies by label, and how busy the loop was",
    .usage = "[OPTION…] FILE",
    .about = "How many promises of each kind (type and label) there were, how long they took, "
             "waited, stood ready and ran; and how busy the event loop was.\n",
    .options = options,
    .examples = "weft stats --sort p99 server.weft",
    .least = 1,
    .most = 1,
    .completes = CLI_TRACES,
    .paged = true,
    .run = run,
    .state = CLI_STATE(request),
};
