/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/names.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/stats.h"

enum {
    LOOPS = 4, /* streams that are described */
    WORKERS = 8,
};

/* ---- Numbers ---- */

/* "3.21"; "1.23 M" */
static struct weft_figure three_digits(double value)
{
    struct weft_figure c;
    if (value >= 999.5)
        return weft_count_short(value < 1e18 ? (uint64_t)(value + 0.5) : UINT64_MAX / 2);
    snprintf(c.text, sizeof c.text, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    return c;
}

/* ---- The table ---- */

enum column {
    COUNT,
    RATE,
    PENDING,
    FAILED,
    P50,
    P90,
    P99,
    MAX,
    WAITING,
    BLOCKED,
    READY,
    RUNNING,
    TOTAL,
    COLUMNS
};

static const struct cli_column columns[1 + COLUMNS] = {
    {.head = "kind", .left = true},
    [1 + COUNT] = {.head = "count"},
    [1 + RATE] = {.head = "/s", .keep = 2},
    [1 + PENDING] = {.head = "pend", .keep = 9},
    [1 + FAILED] = {.head = "fail", .keep = 8},
    [1 + P50] = {.head = "p50", .keep = 11},
    [1 + P90] = {.head = "p90", .keep = 3},
    [1 + P99] = {.head = "p99", .keep = 10},
    [1 + MAX] = {.head = "max", .keep = 7},
    [1 + WAITING] = {.head = "waiting", .keep = 6},
    [1 + BLOCKED] = {.head = "blocked", .keep = 5},
    [1 + READY] = {.head = "ready", .keep = 5},
    [1 + RUNNING] = {.head = "running", .keep = 4},
    [1 + TOTAL] = {.head = "total", .keep = 1},
};

static struct weft_figure cell_of(const struct weft_stats_row *r, enum column c)
{
    const struct weft_figure none = {"-"};
    switch (c) {
    case COUNT:
        return weft_count_short(r->count);
    case RATE:
        return r->rate > 0 ? three_digits(r->rate) : none;
    case PENDING:
        return r->pending ? weft_count_short(r->pending) : none;
    case FAILED:
        return r->failed ? weft_count_short(r->failed) : none;
    case P50:
        return r->latencies ? weft_duration_narrow(r->p50_ns) : none;
    case P90:
        return r->latencies ? weft_duration_narrow(r->p90_ns) : none;
    case P99:
        return r->latencies ? weft_duration_narrow(r->p99_ns) : none;
    case MAX:
        return r->latencies ? weft_duration_narrow(r->max_ns) : none;
    case WAITING:
        return r->waiting_ns ? weft_duration_narrow(r->waiting_ns) : none;
    case BLOCKED:
        return r->blocked_ns ? weft_duration_narrow(r->blocked_ns) : none;
    case READY:
        return r->ready_ns ? weft_duration_narrow(r->ready_ns) : none;
    case RUNNING:
        return r->running_ns ? weft_duration_narrow(r->running_ns) : none;
    case TOTAL:
        return r->latencies ? weft_duration_narrow(r->total_ns) : none;
    case COLUMNS:
        break;
    }
    return none;
}

static const char *style_of(enum column c, const char *text)
{
    if (strcmp(text, "-") == 0)
        return cli_style(CLI_FAINT);
    if (c == FAILED || c == PENDING)
        return cli_style(c == FAILED ? CLI_BAD : CLI_WARNING);
    size_t size = strlen(text);
    bool time = c >= P50,
         second = text[size - 1] == 's' && text[size - 2] >= '0' && text[size - 2] <= '9';
    bool more = text[size - 1] == 'h' || text[size - 1] == 'd';
    bool millis = size > 2 && strcmp(text + size - 2, "ms") == 0;
    if (time && (second || more))
        return cli_style(CLI_BOLD);
    return time && !millis ? cli_style(CLI_FAINT) : "";
}

char *cli_stats_kind(const struct cli_stats_view *v, const struct weft_stats_row *r)
{
    char *label, *kind = NULL;
    struct analyse_text text = {0};
    if (weft_stats_label(&label, v->s, v->h->m, r) < 0)
        return NULL;
    analyse_put_format(&text, "%.64s", weft_model_type(v->h->m, r->promise));
    const char *type = text.failed || !text.text ? "" : text.text;
    size_t size = strlen(type) + (label ? strlen(label) : 0) + 2;
    if (!text.failed && (kind = malloc(size)))
        snprintf(kind, size, "%s%s%s", type, label ? " " : "", label ? label : "");
    free(label);
    analyse_text_fini(&text);
    return kind;
}

uint32_t cli_stats_shown(const struct cli_stats_view *v)
{
    return v->s->rows < v->top ? v->s->rows : v->top;
}

/* "and 1,204 more kinds, 3 % of the time" */
static void print_rest(const struct cli_stats_view *v)
{
    uint32_t shown = cli_stats_shown(v);
    double all = 0, rest = 0;
    for (uint32_t i = 0; i < v->s->rows; i++) {
        all += (double)v->s->row[i].total_ns;
        rest += i >= shown ? (double)v->s->row[i].total_ns : 0;
    }
    if (shown == v->s->rows)
        return;
    printf("and %s more kind%s", weft_count(v->s->rows - shown).text,
           weft_plural(v->s->rows - shown));
    if (all > 0)
        printf(", %s %% of the time", rest == 0            ? "0"
                                      : rest / all < 0.001 ? "less than 0.1"
                                                           : three_digits(100 * rest / all).text);
    puts(" (--top 0 shows all)");
}

static bool print_table(const struct cli_stats_view *v)
{
    struct cli_table t = CLI_TABLE(columns);
    bool blocked = false; /* because otherwise there is no column for it */
    for (uint32_t i = 0; i < cli_stats_shown(v); i++)
        blocked |= v->s->row[i].blocked_ns > 0;
    struct cli_column shown[1 + COLUMNS];
    unsigned n = 0;
    for (unsigned c = 0; c < 1 + COLUMNS; c++)
        if (blocked || c != 1 + BLOCKED)
            shown[n++] = columns[c];
    t.column = shown;
    t.columns = n;
    for (uint32_t i = 0; i < cli_stats_shown(v); i++) {
        char *kind = cli_stats_kind(v, &v->s->row[i]);
        cli_cell(&t, "", "%s", kind ? kind : "");
        t.failed |= !kind;
        free(kind);
        for (unsigned c = 0; c < COLUMNS; c++) {
            const struct weft_figure cell = cell_of(&v->s->row[i], c);
            if (blocked || c != BLOCKED)
                cli_cell(&t, style_of(c, cell.text), "%s", cell.text);
        }
    }
    if (!cli_table_print(&t))
        return false;
    print_rest(v);
    if (v->labels_folded)
        cli_wrap("", "",
                 "Labels that differ in their numbers only are one kind, with # for the numbers; "
                 "--by label shows each.");
    return true;
}

/* ---- Loops ---- */

static struct weft_figure share_cell(int64_t part, int64_t whole)
{
    double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    struct weft_figure c;
    snprintf(c.text, sizeof c.text, "%.30s %%", three_digits(share < 100 ? share : 100).text);
    return c;
}

/* "12.3 ms at 3.2 s: 'GET /x' (request 12)" */
static void put_run(struct analyse_text *t, const struct cli_stats_view *v, uint32_t run, bool full)
{
    const struct weft_run *r = &v->h->m->run[run];
    analyse_put_format(t, "%s at %s: ", weft_duration(r->end_ns - r->start_ns).text,
                       weft_moment(r->start_ns).text);
    if (full)
        analyse_put_full(t, v->h->m, v->h->run_promise[run]);
    else
        analyse_put_name(t, v->h->m, v->h->run_promise[run]);
}

static void put_loop(struct analyse_text *t, const struct weft_stats_stream *s)
{
    analyse_put_format(t, "busy %s of %s", share_cell(s->busy_ns, s->span_ns).text,
                       weft_duration(s->span_ns).text);
    if (s->loop_ns)
        analyse_put_format(t, ", with %s in the loop itself", weft_duration(s->loop_ns).text);
    if (s->collecting_ns)
        analyse_put_format(t, "%s%s of garbage collections", s->loop_ns ? " and " : ", with ",
                           weft_duration(s->collecting_ns).text);
    analyse_put_format(
        t, "; %s run%s in %s turn%s%s", weft_count(s->runs).text, weft_plural(s->runs),
        weft_count(s->turns).text, weft_plural(s->turns),
        s->suspends ? "" : " (it never says that it sleeps: its own time counts as sleep)");
}

static bool line(const char *what, struct analyse_text *t)
{
    char first[48];
    bool ok = !t->failed && t->text;
    snprintf(first, sizeof first, "%-15s ", what);
    if (ok)
        cli_wrap(first, "                ", t->text);
    analyse_text_fini(t);
    return ok;
}

static bool print_loop(const struct cli_stats_view *v, const struct weft_stats_stream *s, bool only)
{
    struct analyse_text t = {0};
    char name[32];
    bool ok = true;
    put_loop(&t, s);
    snprintf(name, sizeof name, "stream %" PRIu32, s->stream);
    ok = line(only ? "event loop" : name, &t);
    if (s->turns > 1 && s->turn_runs) {
        analyse_put_format(&t, "%s at %s: %s run%s before it slept again",
                           weft_duration(s->turn_to_ns - s->turn_from_ns).text,
                           weft_moment(s->turn_from_ns).text, weft_count(s->turn_runs).text,
                           weft_plural(s->turn_runs));
        ok = ok && line("  longest turn", &t);
    }
    for (unsigned i = 0; ok && i < WEFT_STATS_RUNS && s->longest_run[i] != WEFT_NONE; i++) {
        put_run(&t, v, s->longest_run[i], true);
        ok = line(i ? "" : "  longest runs", &t);
    }
    return ok;
}

static bool print_worker(const struct cli_stats_view *v, const struct weft_stats_stream *s)
{
    struct analyse_text t = {0};
    char name[32];
    snprintf(name, sizeof name, "stream %" PRIu32, s->stream);
    analyse_put_format(&t, "worker, busy %s, %s run%s", share_cell(s->busy_ns, s->span_ns).text,
                       weft_count(s->runs).text, weft_plural(s->runs));
    if (s->longest_run[0] != WEFT_NONE) {
        analyse_put_format(&t, ", longest ");
        put_run(&t, v, s->longest_run[0], false);
    }
    return line(name, &t);
}

static bool print_ready(const struct cli_stats_view *v)
{
    struct analyse_text t = {0};
    if (v->s->ready_max == 0)
        analyse_put_format(&t, "nothing that could run had to wait");
    else {
        analyse_put_format(&t, "at most %s at the same time, at %s; %s on average",
                           weft_count(v->s->ready_max).text, weft_moment(v->s->ready_max_ns).text,
                           v->s->ready_mean < 0.005 ? "less than 0.01"
                                                    : three_digits(v->s->ready_mean).text);
    }
    return line("ready to run", &t);
}

static bool print_streams(const struct cli_stats_view *v)
{
    const struct weft_stats *s = v->s;
    uint32_t loops = 0, workers = 0;
    bool ok = true;
    putchar('\n');
    for (uint32_t i = 0; i < s->streams; i++)
        loops += s->stream[i].is_loop;
    for (uint32_t i = 0, n = 0; ok && i < s->streams; i++)
        if (s->stream[i].is_loop && n++ < LOOPS)
            ok = print_loop(v, &s->stream[i], loops == 1);
    ok = ok && print_ready(v);
    for (uint32_t i = 0; ok && i < s->streams; i++)
        if (!s->stream[i].is_loop && workers++ < WORKERS)
            ok = print_worker(v, &s->stream[i]);
    if (loops > LOOPS)
        printf("and %s more event loops\n", weft_count(loops - LOOPS).text);
    if (workers > WORKERS)
        printf("and %s more workers\n", weft_count(workers - WORKERS).text);
    return ok;
}

/* ---- All of it ---- */

static void put_part(struct analyse_text *t, uint64_t n, const char *what)
{
    if (n == 0)
        return;
    analyse_put_format(t, ", %s %s", weft_count(n).text, what);
}

static bool print_head(const struct cli_stats_view *v)
{
    const struct weft_model *m = v->h->m;
    uint64_t failed = 0, pending = 0, cancelled = 0, forgotten = 0, old = 0;
    struct analyse_text t = {0};
    for (uint32_t i = 0; i < v->s->rows; i++) {
        failed += v->s->row[i].failed;
        pending += v->s->row[i].pending;
        cancelled += v->s->row[i].cancelled;
        forgotten += v->s->row[i].forgotten;
        old += v->s->row[i].preexisting;
    }
    analyse_put_format(&t, "%s: %s promise%s of %s kind%s in %s", cli_shown(v->path).text,
                       weft_count(m->promises - 1).text, weft_plural(m->promises - 1),
                       weft_count(v->s->rows).text, weft_plural(v->s->rows),
                       weft_duration(v->s->span_ns).text);
    put_part(&t, pending, "pending");
    put_part(&t, failed, "failed");
    put_part(&t, cancelled, "cancelled");
    put_part(&t, forgotten, "dropped");
    put_part(&t, old, "older than the trace");
    if (m->losses.discarded)
        analyse_put_format(&t,
                           "; %s events in between are missing, so that some numbers are too low",
                           weft_count(m->losses.discarded).text);
    if (m->losses.pending)
        analyse_put_format(&t, "; not all that is pending is known");
    bool ok = !t.failed && t.text;
    if (ok)
        cli_wrap("", "", t.text);
    analyse_text_fini(&t);
    return ok;
}

bool cli_stats_print(const struct cli_stats_view *v)
{
    if (!print_head(v))
        return false;
    if (v->s->rows) {
        putchar('\n');
        if (!print_table(v) || !cli_stats_print_spreads(v))
            return false;
    }
    return print_streams(v);
}
