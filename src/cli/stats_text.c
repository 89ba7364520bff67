/* SPDX-License-Identifier: ISC */
/* What weft stats shows, for people: a table, small histograms for many kinds or a large one for a single kind, and the
 * loops. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/report.h"
#include "cli/stats.h"

enum {
    LOOPS = 4, /* streams that are described */
    WORKERS = 8,
    SPREADS = 10, /* rows with a small histogram */
};

/* ---- Shared ---- */

/* "3.21"; "1.23 M" */
static struct weft_figure three_digits(double value)
{
    struct weft_figure c;
    if (value >= 999.5)
        return weft_count_short(value < 1e18 ? (uint64_t)(value + 0.5) : UINT64_MAX / 2);
    snprintf(c.text, sizeof c.text, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
    return c;
}

/* "task ARP query". The caller releases it. */
static struct analyse_text kind_of(const struct cli_stats_view *v, const struct weft_stats_row *r)
{
    char *label;
    struct analyse_text kind = {0};
    const bool failed = weft_stats_label(&label, v->s, v->h->m, r) < 0;
    analyse_put_format(&kind, "%.64s%s", weft_stats_type(v->h->m, r), label ? " " : "");
    analyse_text_add(&kind, label ? label : "");
    if (failed || kind.failed)
        cli_lacks_memory();
    free(label);
    return kind;
}

/* How many rows are shown. */
static uint32_t shown_rows(const struct cli_stats_view *v)
{
    return v->s->rows < v->top ? v->s->rows : v->top;
}

/* ---- The table ---- */

struct figure {
    struct cli_column column;
    enum {
        COUNT,
        SOME,
        RATE,
        LATENCY,
        SPENT
    } is;      /* COUNT and LATENCY may be 0, others are "-" then */
    size_t at; /* in a row */
    enum cli_style style;
};

#define AT(field) offsetof(struct weft_stats_row, field)
static const struct figure figures[] = {
    {{.head = "count"}, COUNT, AT(count), CLI_PLAIN},
    {{.head = "/s", .keep = 2}, RATE, AT(rate), CLI_PLAIN},
    {{.head = "pend", .keep = 9}, SOME, AT(pending), CLI_WARNING},
    {{.head = "fail", .keep = 8}, SOME, AT(failed), CLI_BAD},
    {{.head = "p50", .keep = 11}, LATENCY, AT(p50_ns), CLI_PLAIN},
    {{.head = "p90", .keep = 3}, LATENCY, AT(p90_ns), CLI_PLAIN},
    {{.head = "p99", .keep = 10}, LATENCY, AT(p99_ns), CLI_PLAIN},
    {{.head = "max", .keep = 7}, LATENCY, AT(max_ns), CLI_PLAIN},
    {{.head = "waiting", .keep = 6}, SPENT, AT(waiting_ns), CLI_PLAIN},
    {{.head = "blocked", .keep = 5}, SPENT, AT(blocked_ns), CLI_PLAIN},
    {{.head = "ready", .keep = 5}, SPENT, AT(ready_ns), CLI_PLAIN},
    {{.head = "running", .keep = 4}, SPENT, AT(running_ns), CLI_PLAIN},
    {{.head = "total", .keep = 1}, LATENCY, AT(total_ns), CLI_PLAIN},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static struct weft_figure cell_of(const struct weft_stats_row *r, const struct figure *f)
{
    const void *at = (const char *)r + f->at;
    const struct weft_figure none = {"-"};
    if (f->is == RATE)
        return r->rate > 0 ? three_digits(r->rate) : none;
    if (f->is == COUNT || f->is == SOME) {
        const uint32_t n = *(const uint32_t *)at;
        return n || f->is == COUNT ? weft_count_short(n) : none;
    }
    const int64_t ns = *(const int64_t *)at;
    return (f->is == LATENCY ? r->latencies > 0 : ns != 0) ? weft_duration_narrow(ns) : none;
}

static const char *style_of(const struct figure *f, const char *text)
{
    if (strcmp(text, "-") == 0)
        return cli_style(CLI_FAINT);
    if (f->is != LATENCY && f->is != SPENT)
        return cli_style_if(f->style != CLI_PLAIN, f->style);
    const char *unit = text + strcspn(text, "nmhsdu\xc2");
    if (strcmp(unit, "s") == 0 || strcmp(unit, "h") == 0 || strcmp(unit, "d") == 0)
        return cli_style(CLI_BOLD);
    return cli_style_if(strcmp(unit, "ms") != 0, CLI_FAINT);
}

/* "and 1,204 more kinds, 3 % of the time" */
static void print_rest(const struct cli_stats_view *v)
{
    uint32_t shown = shown_rows(v);
    double all = 0, rest = 0;
    for (uint32_t i = 0; i < v->s->rows; i++) {
        all += (double)v->s->row[i].total_ns;
        rest += i >= shown ? (double)v->s->row[i].total_ns : 0;
    }
    if (shown == v->s->rows)
        return;
    printf("and %s", cli_many(v->s->rows - shown, "more kind").text);
    if (all > 0)
        printf(", %s %% of the time", rest == 0            ? "0"
                                      : rest / all < 0.001 ? "less than 0.1"
                                                           : three_digits(100 * rest / all).text);
    puts(" (--top 0 shows all)");
}

static void print_table(const struct cli_stats_view *v)
{
    bool blocked = false; /* because otherwise there is no column for it */
    for (uint32_t i = 0; i < shown_rows(v); i++)
        blocked |= v->s->row[i].blocked_ns > 0;
    struct cli_column columns[1 + FIGURES] = {{.head = "kind", .left = true}};
    const struct figure *figure[FIGURES];
    unsigned n = 0;
    for (const struct figure *f = figures; f < figures + FIGURES; f++)
        if (blocked || f->at != AT(blocked_ns)) {
            figure[n++] = f;
            columns[n] = f->column;
        }
    struct cli_table t = {.column = columns, .columns = 1 + n};
    for (uint32_t i = 0; i < shown_rows(v); i++) {
        struct analyse_text kind = kind_of(v, &v->s->row[i]);
        cli_cell(&t, "", "%s", kind.text ? kind.text : "");
        analyse_text_fini(&kind);
        for (unsigned c = 0; c < n; c++) {
            const struct weft_figure cell = cell_of(&v->s->row[i], figure[c]);
            cli_cell(&t, style_of(figure[c], cell.text), "%s", cell.text);
        }
    }
    cli_table_print(&t);
    print_rest(v);
    if (v->labels_folded)
        cli_wrap("", "",
                 "Labels that differ in their numbers only are one kind, with # for the numbers; "
                 "--by label shows each.");
}

/* ---- How latencies are spread, small ---- */

struct axis {
    unsigned first, last; /* powers of two: [i] holds what is below twice that */
    int label, step;      /* columns of the label, and of each power */
};

static unsigned power_of(int64_t ns)
{
    return ns < 2 ? 0 : 63 - (unsigned)__builtin_clzll((uint64_t)ns);
}

/* That of the smallest latency. */
static unsigned least_power(const struct weft_stats *s, const struct weft_stats_row *r)
{
    unsigned i = 0;
    while (i + 1 < WEFT_STATS_POWERS && !weft_stats_in_power(s, r, i))
        i++;
    return i;
}

/* Labels the start and, as far as there is room, the powers of ten. */
static void print_axis(const struct axis *a)
{
    const struct weft_figure begin = weft_duration(a->first ? INT64_C(1) << a->first : 1);
    int at = cli_width(begin.text), end = (int)(a->last + 1 - a->first) * a->step;
    printf("%*s %s%s", a->label, "", cli_style(CLI_FAINT), begin.text);
    int64_t ns = 1;
    for (unsigned i = 0; i < 18; i++, ns *= 10) {
        const struct weft_figure c = weft_axis_time(ns, ns, ns);
        int place = ((int)power_of(ns) - (int)a->first) * a->step;
        int width = cli_width(c.text);
        if (place <= at || place >= end || a->label + 1 + place + width > cli_columns())
            continue;
        printf("%*s%s", place - at, "", c.text);
        at = place + width;
    }
    printf("%s\n", cli_style(CLI_PLAIN));
}

static void print_spread(const struct cli_stats_view *v, const struct axis *a,
                         const struct weft_stats_row *r)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t most = 1;
    struct analyse_text kind = kind_of(v, r);
    cli_put_cut(kind.text ? kind.text : "", a->label);
    analyse_text_fini(&kind);
    putchar(' ');
    for (unsigned i = a->first; i <= a->last; i++) {
        uint32_t n = weft_stats_in_power(v->s, r, i);
        most = n > most ? n : most;
    }
    unsigned last = power_of(r->max_ns);
    for (unsigned i = a->first; i <= last; i++) {
        uint64_t n = weft_stats_in_power(v->s, r, i), level = (8 * n + most - 1) / most;
        for (int k = 0; k < a->step; k++)
            fputs(blocks[level], stdout);
    }
    putchar('\n');
}

static void print_spreads(const struct cli_stats_view *v)
{
    const struct weft_stats *s = v->s;
    struct axis a = {.first = 63};
    unsigned rows = 0;
    for (uint32_t i = 0; i < shown_rows(v) && rows < SPREADS; i++) {
        const struct weft_stats_row *r = &s->row[i];
        if (r->latencies < 2)
            continue;
        unsigned least = least_power(s, r), most = power_of(r->max_ns);
        struct analyse_text kind = kind_of(v, r);
        int width = cli_width(kind.text ? kind.text : "");
        analyse_text_fini(&kind);
        a.label = width > a.label ? width : a.label;
        a.first = least < a.first ? least : a.first;
        a.last = most > a.last ? most : a.last;
        rows++;
    }
    if (rows == 0)
        return;
    int powers = (int)(a.last - a.first) + 1;
    a.step = powers * 2 + CLI_TEXT_LEAST < cli_columns() ? 2 : 1;
    int room = cli_columns() - powers * a.step - 1;
    room = room < 10 ? 10 : room;
    a.label = a.label < room ? a.label : room;
    printf("\n%sHow long they took%s, how many in each doubling of time:\n", cli_style(CLI_BOLD),
           cli_style(CLI_PLAIN));
    print_axis(&a);
    for (uint32_t i = 0; rows > 0; i++)
        if (s->row[i].latencies >= 2) {
            print_spread(v, &a, &s->row[i]);
            rows--;
        }
}

/* ---- How latencies are spread, large ---- */

/* Bounds between latencies: 1, 2, 5, 10 … or, if all are about the same size, equal steps. */
struct bounds {
    int64_t at[72];
    unsigned count;
};

/* The smallest 1, 2 or 5 times a power of ten that is at least this. */
static int64_t round_up(int64_t ns)
{
    int64_t ten = 1;
    while (ten < INT64_MAX / 10 && 10 * ten <= ns)
        ten *= 10;
    return ns <= ten ? ten : ns <= 2 * ten ? 2 * ten : ns <= 5 * ten ? 5 * ten : 10 * ten;
}

static struct bounds bounds_of(int64_t least, int64_t most)
{
    enum { STEPS = 20, FACTOR = 8 };
    struct bounds b = {.count = 0};
    if (most / FACTOR < least) {
        int64_t step = round_up((most - least) / STEPS + 1);
        for (int64_t at = least / step * step;; at += step) {
            b.at[b.count++] = at;
            if (at > most)
                return b;
        }
    }
    b.at[b.count++] = 0;
    for (int64_t ten = 1;; ten *= 10)
        for (unsigned i = 1; i <= 5; i += i == 1 ? 1 : 3) {
            int64_t at = ten * i;
            if (at <= least)
                b.count = 0; /* begins later */
            b.at[b.count++] = at;
            if (at > most)
                return b;
        }
}

static void print_percentiles(const struct weft_stats_row *r, int64_t from, int64_t to, int left)
{
    const struct {
        const char *name;
        int64_t ns;
    } marks[] = {{"p50", r->p50_ns}, {"p90", r->p90_ns}, {"p99", r->p99_ns}, {"max", r->max_ns}};
    for (unsigned i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].ns >= from && marks[i].ns < to) {
            printf("%*s %s", left, "", marks[i].name);
            left = 0;
        }
}

static void print_latencies(const struct weft_stats *s, const struct weft_stats_row *r)
{
    struct bounds b = bounds_of(s->latency[r->first_latency], r->max_ns);
    uint32_t most = 1;
    for (unsigned i = 0; i + 1 < b.count; i++) {
        uint32_t n = weft_stats_below(s, r, b.at[i + 1]) - weft_stats_below(s, r, b.at[i]);
        most = n > most ? n : most;
    }
    int bar = (cli_columns() < 120 ? cli_columns() : 120) - 56;
    printf("%s%19s %11s %7s%s\n", cli_style(CLI_BOLD), "from - to", "count", "so far",
           cli_style(CLI_PLAIN));
    for (unsigned i = 0; i + 1 < b.count; i++) {
        uint32_t before = weft_stats_below(s, r, b.at[i]), n = weft_stats_below(s, r, b.at[i + 1]);
        const struct weft_figure from = weft_duration_narrow(b.at[i]);
        const struct weft_figure to = weft_duration_narrow(b.at[i + 1]);
        double share = 100.0 * n / r->latencies;
        printf("%*s%s - %*s%s %11s %5.1f %% ", 8 - cli_width(from.text), "", from.text,
               8 - cli_width(to.text), "", to.text, weft_count(n - before).text,
               n < r->latencies && share > 99.9 ? 99.9 : share);
        const int left = bar - cli_bar(n - before, most, bar);
        print_percentiles(r, b.at[i], b.at[i + 1], left);
        putchar('\n');
    }
}

void cli_stats_print_histogram(const struct cli_stats_view *v, const struct weft_stats_row *r)
{
    struct analyse_text kind = kind_of(v, r);
    printf("%s%s%s: %s latenc%s", cli_style(CLI_BOLD), kind.text ? kind.text : "",
           cli_style(CLI_PLAIN), weft_count(r->latencies).text, r->latencies == 1 ? "y" : "ies");
    analyse_text_fini(&kind);
    if (r->latencies)
        printf("; p50 %s, p90 %s, p99 %s, max %s (promise %" PRIu64 ")",
               weft_duration(r->p50_ns).text, weft_duration(r->p90_ns).text,
               weft_duration(r->p99_ns).text, weft_duration(r->max_ns).text,
               v->h->m->promise[r->slowest].id);
    putchar('\n');
    if (r->latencies)
        print_latencies(v->s, r);
    putchar('\n');
}

/* ---- Loops ---- */

static struct weft_figure share_cell(int64_t part, int64_t whole)
{
    double share = whole > 0 ? 100.0 * (double)part / (double)whole : 0;
    struct weft_figure c;
    snprintf(c.text, sizeof c.text, "%.30s %%", three_digits(share < 100 ? share : 100).text);
    return c;
}

/* A template behind what it is about. */
#define line(what, m, template, ...) line_slots(what, m, template, ANALYSE_SLOTS(__VA_ARGS__))
static void line_slots(const char *what, const struct weft_model *m, const char *template,
                       const struct analyse_slot *slots, size_t count)
{
    char first[48];
    snprintf(first, sizeof first, "%-15s ", what);
    cli_wrap_slots(first, "                ", m, template, slots, count);
}

static void print_loop(const struct cli_stats_view *v, const struct weft_stats_stream *s, bool only)
{
    const struct weft_model *m = v->h->m;
    char name[32] = "event loop";
    if (!only)
        snprintf(name, sizeof name, "stream %" PRIu32, s->stream);
    line(name, m,
         "busy {share} of {span}[, with {loop} in the loop itself][{with}{collecting} of garbage "
         "collections]; {runs} run{runs||s} in {turns} turn{turns||s}[ (it never says that it "
         "sleeps: its own time counts as sleep){silent}]",
         TEXT(share, share_cell(s->busy_ns, s->span_ns).text), LENGTH(span, s->span_ns),
         LENGTH(loop, s->loop_ns), TEXT(with, s->loop_ns ? " and " : ", with "),
         LENGTH(collecting, s->collecting_ns), AMOUNT(runs, s->runs), AMOUNT(turns, s->turns),
         FLAG(silent, !s->suspends));
    if (s->turns > 1 && s->turn_runs)
        line("  longest turn", m, "{length} at {at}: {runs} run{runs||s} before it slept again",
             LENGTH(length, s->turn_to_ns - s->turn_from_ns), TIME(at, s->turn_from_ns),
             AMOUNT(runs, s->turn_runs));
    for (unsigned i = 0; i < WEFT_STATS_RUNS && s->longest_run[i] != WEFT_NONE; i++) {
        const struct weft_run *r = &m->run[s->longest_run[i]];
        line(i ? "" : "  longest runs", m, "{length} at {at}: {promise}",
             LENGTH(length, r->end_ns - r->start_ns), TIME(at, r->start_ns),
             PROMISE(promise, v->h->run_promise[s->longest_run[i]]));
    }
}

static void print_worker(const struct cli_stats_view *v, const struct weft_stats_stream *s)
{
    const uint32_t run = s->longest_run[0];
    const struct weft_run none = {0}, *r = run == WEFT_NONE ? &none : &v->h->m->run[run];
    char name[32];
    snprintf(name, sizeof name, "stream %" PRIu32, s->stream);
    line(name, v->h->m,
         "worker, busy {share}, {runs} run{runs||s}[, longest {length} at {at}: {promise.name}]",
         TEXT(share, share_cell(s->busy_ns, s->span_ns).text), AMOUNT(runs, s->runs),
         TEXT(length, weft_duration(r->end_ns - r->start_ns).text), TIME(at, r->start_ns),
         PROMISE(promise, run == WEFT_NONE ? WEFT_NONE : v->h->run_promise[run]));
}

static void print_streams(const struct cli_stats_view *v)
{
    const struct weft_stats *s = v->s;
    uint32_t loops = 0, workers = 0;
    putchar('\n');
    for (uint32_t i = 0; i < s->streams; i++)
        loops += s->stream[i].is_loop;
    for (uint32_t i = 0, n = 0; i < s->streams; i++)
        if (s->stream[i].is_loop && n++ < LOOPS)
            print_loop(v, &s->stream[i], loops == 1);
    line("ready to run", NULL,
         s->ready_max ? "at most {max} at the same time, at {at}; {mean} on average"
                      : "nothing that could run had to wait",
         AMOUNT(max, s->ready_max), TIME(at, s->ready_max_ns),
         TEXT(mean, s->ready_mean < 0.005 ? "less than 0.01" : three_digits(s->ready_mean).text));
    for (uint32_t i = 0; i < s->streams; i++)
        if (!s->stream[i].is_loop && workers++ < WORKERS)
            print_worker(v, &s->stream[i]);
    if (loops > LOOPS)
        printf("and %s more event loops\n", weft_count(loops - LOOPS).text);
    if (workers > WORKERS)
        printf("and %s more workers\n", weft_count(workers - WORKERS).text);
}

/* ---- All of it ---- */

static void print_head(const struct cli_stats_view *v)
{
    const struct weft_model *m = v->h->m;
    uint64_t failed = 0, pending = 0, cancelled = 0, forgotten = 0, old = 0;
    for (const struct weft_stats_row *r = v->s->row; r < v->s->row + v->s->rows; r++) {
        failed += r->failed;
        pending += r->pending;
        cancelled += r->cancelled;
        forgotten += r->forgotten;
        old += r->preexisting;
    }
    cli_wrap_filled("", "", m,
                    "{file}: {promises} promise{promises||s} of {kinds} kind{kinds||s} in {span}[, "
                    "{pending} pending][, {failed} failed][, {cancelled} cancelled][, {forgotten} "
                    "dropped][, {old} older than the trace][; {missing} events in between are "
                    "missing, so that some numbers are too low][; not all that is pending is "
                    "known{unknown}]",
                    TEXT(file, cli_shown(v->path).text), AMOUNT(promises, v->promises - 1),
                    AMOUNT(kinds, v->s->rows), LENGTH(span, v->s->span_ns),
                    AMOUNT(pending, pending), AMOUNT(failed, failed), AMOUNT(cancelled, cancelled),
                    AMOUNT(forgotten, forgotten), AMOUNT(old, old),
                    AMOUNT(missing, m->losses.discarded), FLAG(unknown, m->losses.pending));
}

void cli_stats_print(const struct cli_stats_view *v)
{
    print_head(v);
    if (v->s->rows) {
        putchar('\n');
        print_table(v);
        print_spreads(v);
    }
    if (!v->h->m->quirks.at_once)
        print_streams(v);
}
