/* SPDX-License-Identifier: ISC */
/* What weft top knows as text for Prometheus: OpenMetrics 1.0, or Prometheus's older format 0.0.4. Names come from traces
 * and may be anything, but no two series may have the same labels: what looks alike once it is cleaned is added up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/top/top.h"
#include "format/utf8.h"

enum {
    KINDS_MAX = 100,     /* of promises of a process; the others are one more, called "…" */
    COUNTERS_MAX = 1000, /* of a process */
    BUCKETS_SHARED = 8,  /* of live.h, in a bucket here: two powers of two */
    TEXT_BYTES = 3 * LIVE_NAME_BYTES + 1,
};
#define REST "…"

/* What happened to a row when it was first seen here. A series never moves: it would seem to go back. */
enum { NOT_SEEN, HAS_SERIES, IN_REST };

struct kind {
    char type[TEXT_BYTES], label[TEXT_BYTES];
    struct live_row sum;
};

struct writer {
    FILE *out;
    bool openmetrics;
    struct top *t;
    struct kind *kind; /* of the process in hand */
    uint32_t kinds;
};

/* ---- Kinds ---- */

static uint64_t weight(const struct live_row *r)
{
    return r->pending + r->fulfilled + r->failed + r->resolved + r->cancelled + r->forgotten;
}

/* Gives series to rows that are new: to those that count most, as long as there are series. */
static bool assign(struct top_process *p, const struct live_row *row, uint32_t rows)
{
    if (rows &&
        !weft_reach(&p->exported, rows - 1, &p->exported_room, sizeof *p->exported, NOT_SEEN))
        return false;
    while (p->exported_names < KINDS_MAX) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < rows; i++)
            if (p->exported[i] == NOT_SEEN && weight(&row[i]) &&
                (!best || weight(&row[i]) > weight(&row[best])))
                best = i;
        if (!best)
            return true;
        p->exported[best] = HAS_SERIES;
        p->exported_names++;
    }
    for (uint32_t i = 1; i < rows; i++)
        if (p->exported[i] == NOT_SEEN && weight(&row[i]))
            p->exported[i] = IN_REST;
    return true;
}

static void clean(char text[TEXT_BYTES], const char *name)
{
    text[weft_text_clean(text, TEXT_BYTES - 1, name, strlen(name))] = 0;
}

static void add_row(struct live_row *to, const struct live_row *from)
{
    to->pending += from->pending;
    to->fulfilled += from->fulfilled;
    to->failed += from->failed;
    to->resolved += from->resolved;
    to->cancelled += from->cancelled;
    to->forgotten += from->forgotten;
    to->total_ns += from->total_ns;
    for (unsigned i = 0; i < LIVE_BUCKETS; i++)
        to->took[i] += from->took[i];
}

/* The kind with these names, which are clean; a new one if there is none. */
static struct kind *kind_of(struct writer *w, const char *type, const char *label)
{
    for (uint32_t i = 0; i < w->kinds; i++)
        if (strcmp(w->kind[i].type, type) == 0 && strcmp(w->kind[i].label, label) == 0)
            return &w->kind[i];
    struct kind *k = &w->kind[w->kinds++];
    memset(k, 0, sizeof *k);
    memcpy(k->type, type, strlen(type) + 1);
    memcpy(k->label, label, strlen(label) + 1);
    return k;
}

static bool gather(struct writer *w, struct top_process *p)
{
    uint32_t rows;
    char type[TEXT_BYTES], label[TEXT_BYTES];
    const struct live_row *row = live_rows(p->live, &rows);
    w->kinds = 0;
    if (!assign(p, row, rows))
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        const bool own = p->exported[i] == HAS_SERIES;
        if (!weight(&row[i]))
            continue;
        clean(type, own ? live_name(p->live, row[i].type) : REST);
        clean(label, own ? live_name(p->live, row[i].label) : REST);
        add_row(&kind_of(w, type, label)->sum, &row[i]);
    }
    return true;
}

/* ---- Writing ---- */

static void put_value(struct writer *w, const char *text)
{
    putc('"', w->out);
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            putc('\\', w->out);
        if (*text == '\n')
            fputs("\\n", w->out);
        else
            putc(*text, w->out);
    }
    putc('"', w->out);
}

static void put_head(struct writer *w, const char *name, const char *type, const char *unit,
                     const char *help)
{
    const bool total = !w->openmetrics && strcmp(type, "counter") == 0;
    const bool info = strcmp(type, "info") == 0;
    const char *end = total ? "_total" : info && !w->openmetrics ? "_info" : "";
    fprintf(w->out, "# TYPE %s%s %s\n", name, end, info && !w->openmetrics ? "gauge" : type);
    if (unit && w->openmetrics)
        fprintf(w->out, "# UNIT %s %s\n", name, unit);
    fprintf(w->out, "# HELP %s%s %s\n", name, end, help);
}

static void put_process(struct writer *w, const char *name, const struct top_process *p)
{
    fprintf(w->out, "%s{program=", name);
    put_value(w, p->program);
    fprintf(w->out, ",pid=\"%d\"", (int)p->pid);
}

static void put_kind(struct writer *w, const char *name, const struct top_process *p,
                     const struct kind *k)
{
    put_process(w, name, p);
    fputs(",type=", w->out);
    put_value(w, k->type);
    fputs(",label=", w->out);
    put_value(w, k->label);
}

static void put_seconds(struct writer *w, uint64_t ns)
{
    fprintf(w->out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

static void put_count(struct writer *w, uint64_t n)
{
    fprintf(w->out, "} %" PRIu64 "\n", n);
}

/* ---- Families ---- */

typedef void put_fn(struct writer *w, const struct top_process *p);

static void put_info(struct writer *w, const struct top_process *p)
{
    put_process(w, "weft_recording_info", p);
    put_count(w, 1);
}

static void put_events(struct writer *w, const struct top_process *p)
{
    put_process(w, "weft_events_total", p);
    put_count(w, live_totals(p->live)->events);
}

static void put_lost(struct writer *w, const struct top_process *p)
{
    put_process(w, "weft_events_lost_total", p);
    put_count(w, live_totals(p->live)->lost);
}

static void put_created(struct writer *w, const struct top_process *p)
{
    put_process(w, "weft_promises_created_total", p);
    put_count(w, live_totals(p->live)->created);
}

static void put_pending(struct writer *w, const struct top_process *p)
{
    for (uint32_t i = 0; i < w->kinds; i++) {
        put_kind(w, "weft_promises_pending", p, &w->kind[i]);
        put_count(w, w->kind[i].sum.pending);
    }
}

static void put_ended(struct writer *w, const struct top_process *p)
{
    for (uint32_t i = 0; i < w->kinds; i++) {
        const struct live_row *r = &w->kind[i].sum;
        const struct {
            const char *name;
            uint64_t count;
            bool always;
        } outcome[] = {{"fulfilled", r->fulfilled, true},
                       {"failed", r->failed, true},
                       {"resolved", r->resolved, false},
                       {"cancelled", r->cancelled, false},
                       {"forgotten", r->forgotten, false}};
        for (size_t k = 0; k < sizeof outcome / sizeof *outcome; k++) {
            if (!outcome[k].count && !outcome[k].always)
                continue;
            put_kind(w, "weft_promises_ended_total", p, &w->kind[i]);
            fprintf(w->out, ",outcome=\"%s\"", outcome[k].name);
            put_count(w, outcome[k].count);
        }
    }
}

static void put_durations(struct writer *w, const struct top_process *p)
{
    for (uint32_t i = 0; i < w->kinds; i++) {
        const struct kind *k = &w->kind[i];
        uint64_t count = 0;
        for (unsigned b = 0; b < LIVE_BUCKETS - 1; b++) {
            count += k->sum.took[b];
            if (b % BUCKETS_SHARED)
                continue;
            put_kind(w, "weft_promise_duration_seconds_bucket", p, k);
            fprintf(w->out, ",le=\"%.15g\"", (double)live_bucket_ns(b) / 1e9);
            put_count(w, count);
        }
        count += k->sum.took[LIVE_BUCKETS - 1];
        put_kind(w, "weft_promise_duration_seconds_bucket", p, k);
        fputs(",le=\"+Inf\"", w->out);
        put_count(w, count);
        put_kind(w, "weft_promise_duration_seconds_sum", p, k);
        put_seconds(w, k->sum.total_ns);
        put_kind(w, "weft_promise_duration_seconds_count", p, k);
        put_count(w, count);
    }
}

/* The labels of each event loop; index: where to begin. False: there is none any more. */
static bool put_loop(struct writer *w, const char *name, const struct top_process *p,
                     uint32_t *index, const struct live_thread **thread)
{
    uint32_t count;
    char text[TEXT_BYTES];
    const struct live_thread *t = live_threads(p->live, &count);
    while (*index < count && !t[*index].is_loop)
        ++*index;
    if (*index >= count)
        return false;
    *thread = &t[(*index)++];
    put_process(w, name, p);
    fputs(",thread=", w->out);
    clean(text, (*thread)->name);
    put_value(w, text);
    fprintf(w->out, ",stream=\"%" PRIu32 "\"", (*thread)->number);
    return true;
}

static void put_busy(struct writer *w, const struct top_process *p)
{
    const uint64_t now_ns = live_totals(p->live)->now_ns;
    const struct live_thread *t;
    for (uint32_t i = 0; put_loop(w, "weft_loop_busy_seconds_total", p, &i, &t);)
        put_seconds(w, t->busy_ns + (!t->idle && now_ns > t->since_ns ? now_ns - t->since_ns : 0));
}

static void put_turns(struct writer *w, const struct top_process *p)
{
    const struct live_thread *t;
    for (uint32_t i = 0; put_loop(w, "weft_loop_turns_total", p, &i, &t);)
        put_count(w, t->turns);
}

static void put_longest(struct writer *w, const struct top_process *p)
{
    const struct live_thread *t;
    for (uint32_t i = 0; put_loop(w, "weft_loop_turn_longest_seconds", p, &i, &t);)
        put_seconds(w, top_window_use(&p->window, i - 1).longest_ns);
}

/* Several counters of one name are added up. */
static void put_counters(struct writer *w, const struct top_process *p)
{
    uint32_t count;
    const struct live_counter *c = live_counters(p->live, &count);
    char(*name)[TEXT_BYTES] = malloc(COUNTERS_MAX * sizeof *name);
    int64_t *value = calloc(COUNTERS_MAX, sizeof *value);
    uint32_t names = 0;
    for (uint32_t i = 0; name && value && i < count && names < COUNTERS_MAX; i++) {
        uint32_t k = 0;
        clean(name[names], live_name(p->live, c[i].name));
        while (strcmp(name[k], name[names]) != 0)
            k++;
        value[k] = (int64_t)((uint64_t)value[k] + (uint64_t)c[i].value);
        names += k == names;
    }
    for (uint32_t i = 0; i < names; i++) {
        put_process(w, "weft_value", p);
        fputs(",name=", w->out);
        put_value(w, name[i]);
        fprintf(w->out, "} %" PRId64 "\n", value[i]);
    }
    weft_free_all(name, value);
}

static const struct {
    const char *name, *type, *unit, *help;
    put_fn *put;
    bool kinds; /* by type and label */
} families[] = {
    {"weft_recording", "info", NULL, "Processes that record and are followed.", put_info, false},
    {"weft_events", "counter", NULL, "Events that were recorded since weft top follows.",
     put_events, false},
    {"weft_events_lost", "counter", NULL, "Events that were overwritten before they were read.",
     put_lost, false},
    {"weft_promises_created", "counter", NULL, "Promises that were created since weft top follows.",
     put_created, false},
    {"weft_promises_ended", "counter", NULL,
     "Promises that have ended, by type, label and outcome.", put_ended, true},
    {"weft_promises_pending", "gauge", NULL, "Promises that are pending.", put_pending, true},
    {"weft_promise_duration_seconds", "histogram", "seconds",
     "Time from the creation of promises until they are resolved or fail.", put_durations, true},
    {"weft_loop_busy_seconds", "counter", "seconds", "Time in which the event loop was not idle.",
     put_busy, false},
    {"weft_loop_turns", "counter", NULL, "Turns of the event loop.", put_turns, false},
    {"weft_loop_turn_longest_seconds", "gauge", "seconds",
     "The longest turn of the event loop within the window of weft top.", put_longest, false},
    {"weft_value", "gauge", NULL, "What the counters of the program say, by name.", put_counters,
     false},
};

static bool put_all(struct writer *w)
{
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        put_head(w, families[f].name, families[f].type, families[f].unit, families[f].help);
        for (uint32_t i = 0; i < w->t->processes; i++) {
            struct top_process *p = w->t->process[i];
            if (p->ended)
                continue;
            if (families[f].kinds && !gather(w, p))
                return false;
            families[f].put(w, p);
        }
    }
    if (w->openmetrics)
        fputs("# EOF\n", w->out);
    return true;
}

char *top_metrics(struct top *t, bool openmetrics, size_t *size)
{
    char *text = NULL;
    struct writer w = {.openmetrics = openmetrics, .t = t};
    w.out = open_memstream(&text, size);
    w.kind = weft_resize(NULL, KINDS_MAX + 1, sizeof *w.kind);
    bool ok = w.out && w.kind && put_all(&w);
    if (w.out)
        ok = !ferror(w.out) && fclose(w.out) == 0 && ok;
    free(w.kind);
    if (ok)
        return text;
    free(text);
    return NULL;
}
