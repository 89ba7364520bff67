/* SPDX-License-Identifier: ISC */
/* Histograms of weft stats: small ones for many kinds, a large one for a single kind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/report.h"
#include "cli/stats.h"

#define SPREADS 10 /* rows with a small histogram */

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/* ---- How latencies are spread, small ---- */

struct axis {
    unsigned first, last; /* powers of two: [i] holds what is below twice that */
    int label, step;      /* columns of the label, and of each power */
};

static unsigned power_of(int64_t ns)
{
    return ns < 2 ? 0 : 63 - (unsigned)__builtin_clzll((uint64_t)ns);
}

static uint32_t in_power(const struct weft_stats *s, const struct weft_stats_row *r, unsigned i)
{
    uint32_t below = i == 0 ? 0 : weft_stats_below(s, r, INT64_C(1) << i);
    return (i >= 62 ? r->latencies : weft_stats_below(s, r, INT64_C(2) << i)) - below;
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

static bool print_spread(const struct cli_stats_view *v, const struct axis *a,
                         const struct weft_stats_row *r)
{
    uint32_t most = 1;
    char *kind = cli_stats_kind(v, r);
    if (!kind)
        return false;
    cli_put_cut(kind, a->label);
    free(kind);
    putchar(' ');
    for (unsigned i = a->first; i <= a->last; i++) {
        uint32_t n = in_power(v->s, r, i);
        most = n > most ? n : most;
    }
    unsigned last = power_of(r->max_ns);
    for (unsigned i = a->first; i <= last; i++) {
        uint64_t n = in_power(v->s, r, i), level = (8 * n + most - 1) / most;
        for (int k = 0; k < a->step; k++)
            fputs(blocks[level], stdout);
    }
    putchar('\n');
    return true;
}

bool cli_stats_print_spreads(const struct cli_stats_view *v)
{
    const struct weft_stats *s = v->s;
    struct axis a = {.first = 63};
    unsigned rows = 0;
    for (uint32_t i = 0; i < cli_stats_shown(v) && rows < SPREADS; i++) {
        const struct weft_stats_row *r = &s->row[i];
        if (r->latencies < 2)
            continue;
        unsigned least = power_of(s->latency[r->first_latency]), most = power_of(r->max_ns);
        char *kind = cli_stats_kind(v, r);
        if (!kind)
            return false;
        int width = cli_width(kind);
        free(kind);
        a.label = width > a.label ? width : a.label;
        a.first = least < a.first ? least : a.first;
        a.last = most > a.last ? most : a.last;
        rows++;
    }
    if (rows == 0)
        return true;
    int powers = (int)(a.last - a.first) + 1;
    a.step = powers * 2 + CLI_TEXT_LEAST < cli_columns() ? 2 : 1;
    int room = cli_columns() - powers * a.step - 1;
    room = room < 10 ? 10 : room;
    a.label = a.label < room ? a.label : room;
    printf("\n%sHow long they took%s, how many in each doubling of time:\n", cli_style(CLI_BOLD),
           cli_style(CLI_PLAIN));
    print_axis(&a);
    for (uint32_t i = 0, done = 0; i < cli_stats_shown(v) && done < rows; i++) {
        if (s->row[i].latencies < 2)
            continue;
        done++;
        if (!print_spread(v, &a, &s->row[i]))
            return false;
    }
    return true;
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

bool cli_stats_print_histogram(const struct cli_stats_view *v, const struct weft_stats_row *r)
{
    const struct weft_model *m = v->h->m;
    char *kind = cli_stats_kind(v, r);
    if (!kind)
        return false;
    printf("%s%s%s: %s latenc%s", cli_style(CLI_BOLD), kind, cli_style(CLI_PLAIN),
           weft_count(r->latencies).text, r->latencies == 1 ? "y" : "ies");
    free(kind);
    if (r->latencies)
        printf("; p50 %s, p90 %s, p99 %s, max %s (promise %" PRIu64 ")",
               weft_duration(r->p50_ns).text, weft_duration(r->p90_ns).text,
               weft_duration(r->p99_ns).text, weft_duration(r->max_ns).text,
               m->promise[r->slowest].id);
    putchar('\n');
    if (r->latencies)
        print_latencies(v->s, r);
    putchar('\n');
    return true;
}
