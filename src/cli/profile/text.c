/* SPDX-License-Identifier: ISC */
/* What all reports of weft profile share; and the list (--top). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common.h"
#include "cli/profile/profile.h"
#include "format/utf8.h"

/* ---- Numbers ---- */

/* Rounded so that the last digit is roughly not finer than weight_ns. */
static struct weft_figure time_cell(uint64_t ns, uint64_t total, uint64_t weight_ns)
{
    uint64_t step = 1000000000;
    while (step > 1 && total < step)
        step /= 1000;
    for (int digits = 0; digits < 3 && step >= 10 && step - step / 10 > weight_ns; digits++)
        step /= 10;
    return weft_axis_time((int64_t)ns, (int64_t)step, (int64_t)total);
}

struct weft_figure cli_profile_time(uint64_t ns, uint64_t total)
{
    return time_cell(ns, total, 0);
}

struct weft_figure cli_profile_amount(const struct cli_profile_view *v, uint64_t value,
                                      uint64_t total)
{
    return v->o.off_cpu ? cli_profile_time(value, total) : cli_profile_cpu(v, value, total);
}

struct weft_figure cli_profile_cpu(const struct cli_profile_view *v, uint64_t value, uint64_t total)
{
    const struct weft_profile *p = v->p;
    const struct cli_profile_facts *f = &v->facts;
    if (v->o.source >= p->sources || p->source[v->o.source].unit != WEFT_UNIT_NS)
        return weft_count_short(value);
    return time_cell(value, total, f->samples ? f->total / f->samples : 0);
}

double cli_profile_percent(uint64_t value, uint64_t total)
{
    return total ? 100 * ((double)value / (double)total) : 0;
}

struct weft_figure cli_profile_share(uint64_t value, uint64_t total)
{
    struct weft_figure c;
    snprintf(c.text, sizeof c.text, "%.1f %%", cli_profile_percent(value, total));
    return c;
}

/* ---- Names ---- */

const char *cli_profile_by_name(enum weft_profile_by by)
{
    static const char *const names[] = {
        [WEFT_PROFILE_BY_FUNCTION] = "function", [WEFT_PROFILE_BY_LINE] = "line",
        [WEFT_PROFILE_BY_PROMISE] = "promise",   [WEFT_PROFILE_BY_LABEL] = "label",
        [WEFT_PROFILE_BY_ROOT] = "root",         [WEFT_PROFILE_BY_THREAD] = "thread",
        [WEFT_PROFILE_BY_CORE] = "core",         [WEFT_PROFILE_BY_OBJECT] = "object",
        [WEFT_PROFILE_BY_PROCESS] = "process",
    };
    return names[by];
}

char *cli_profile_name(const struct weft_profile *p, const struct weft_named_frame *f)
{
    const char *text = weft_profile_text(p, f->text);
    size_t size = strlen(text), room = 3 * size + 32; /* one input byte may become three */
    char *name = malloc(room);
    if (!name) {
        cli_lacks_memory();
        return NULL;
    }
    size_t used = weft_text_clean(name, 3 * size + 1, text, size);
    name[used] = 0;
    if (f->kind == WEFT_FRAME_PROMISE && f->promise != WEFT_NONE && p->model &&
        f->promise < p->model->promises && f->promise != WEFT_ROOT)
        snprintf(name + used, room - used, " #%" PRIu64, p->model->promise[f->promise].id);
    return name;
}

const char *cli_profile_object(const struct cli_profile_view *v, const struct weft_named_frame *f)
{
    const struct weft_profile *p = v->p;
    uint32_t path = f->function != WEFT_NONE ? v->object[f->function] : 0;
    if (!path && f->location != WEFT_NONE && p->location[f->location].mapping != WEFT_NONE)
        path = p->mapping[p->location[f->location].mapping].path;
    return path ? weft_profile_text(p, path) : NULL;
}

struct cli_shown cli_profile_place(const struct cli_profile_view *v,
                                   const struct weft_named_frame *f)
{
    char text[600] = "";
    const struct weft_function *function =
        f->function != WEFT_NONE ? &v->p->function[f->function] : NULL;
    const char *file = function ? weft_profile_text(v->p, function->file) : "",
               *object = function ? cli_profile_object(v, f) : NULL;
    if (*file && function->start_line)
        snprintf(text, sizeof text, "%.500s:%" PRIu32, cli_base(file), function->start_line);
    else if (*file)
        snprintf(text, sizeof text, "%.500s", cli_base(file));
    else if (object && strncmp(object, "[kernel", 7) == 0)
        snprintf(text, sizeof text, "[kernel]");
    else if (object)
        snprintf(text, sizeof text, *object == '[' ? "%.500s" : "[%.500s]", cli_base(object));
    return cli_shown(text);
}

/* ---- The list ---- */

void cli_profile_say_nothing(const struct cli_profile_view *v)
{
    printf("Nothing of it is left: %s.\n",
           v->o.off_cpu ? "no thread was away then" : "no sample is of what was asked for");
}

uint32_t cli_profile_rows_shown(const struct weft_profile_list *l, uint64_t limit, double least)
{
    uint32_t n = 0;
    while (n < l->rows && n < limit && cli_profile_percent(l->row[n].total, l->total) >= least)
        n++;
    return n;
}

void cli_profile_cell_name(struct cli_table *t, const struct weft_profile *p,
                           const struct weft_named_frame *f)
{
    char *name = cli_profile_name(p, f);
    cli_cell(t, cli_style_if(f->kind == WEFT_FRAME_ADDRESS, CLI_FAINT), "%s", name ? name : "");
    free(name);
}

/* A function's own time, and its time with everything it called. */
static void print_calls(const struct cli_profile_view *v, const struct weft_profile_list *l,
                        uint32_t shown)
{
    static const struct cli_column columns[] = {
        {.head = "self", .least = 10},   {.head = "self %", .least = 8},
        {.head = "sum %", .least = 8},   {.head = "total", .gap = 2, .least = 10},
        {.head = "total %", .least = 8}, {.head = "function", .gap = 2, .left = true}};
    struct cli_table t = CLI_TABLE(columns);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < shown; i++) {
        const struct weft_profile_row *r = &l->row[i];
        sum += r->self;
        cli_cell(&t, "", "%s", cli_profile_amount(v, r->self, l->total).text);
        cli_cell(&t, "", "%s", cli_profile_share(r->self, l->total).text);
        cli_cell(&t, "", "%s", cli_profile_share(sum, l->total).text);
        cli_cell(&t, "", "%s", cli_profile_amount(v, r->total, l->total).text);
        cli_cell(&t, "", "%s", cli_profile_share(r->total, l->total).text);
        cli_profile_cell_name(&t, v->p, &r->frame);
        cli_cell_aside(&t, cli_profile_place(v, &r->frame).text);
    }
    if (shown < l->rows) {
        cli_cell(&t, "", "%s", cli_profile_amount(v, l->total - sum, l->total).text);
        cli_cell(&t, "", "%s", cli_profile_share(l->total - sum, l->total).text);
        cli_cell(&t, "", "%s", cli_profile_share(l->total, l->total).text);
        cli_cell(&t, "", "%s", "");
        cli_cell(&t, "", "%s", "");
        cli_cell(&t, "", "%s more; --limit 0 shows all", weft_count(l->rows - shown).text);
    }
    cli_table_print(&t);
}

void cli_profile_put_folded(const struct cli_profile_view *v)
{
    if (v->o.by_family)
        printf("%s#: any number; --fold=no keeps such labels apart%s\n", cli_style(CLI_FAINT),
               cli_style(CLI_PLAIN));
}

static void put_group(struct cli_table *t, const struct cli_profile_view *v,
                      const struct weft_profile_list *l, const char *style, uint64_t samples,
                      uint64_t value, uint64_t sum)
{
    cli_cell(t, style, "%s", cli_profile_amount(v, value, l->total).text);
    cli_cell(t, style, "%s", cli_profile_share(value, l->total).text);
    cli_cell(t, style, "%s", cli_profile_share(sum, l->total).text);
    cli_cell(t, style, "%s", weft_count(samples).text);
}

/* Groups: each sample is in one, so they add up to the total. */
static void print_groups(const struct cli_profile_view *v, const struct weft_profile_list *l,
                         enum weft_profile_by by, uint32_t shown)
{
    const struct cli_column columns[] = {
        {.head = v->o.off_cpu ? "away" : "took", .least = 10},
        {.head = "share", .least = 8},
        {.head = "sum %", .least = 8},
        {.head = v->o.off_cpu ? "times" : "samples", .gap = 2, .least = 10},
        {.head = by == WEFT_PROFILE_BY_ROOT ? "on behalf of" : cli_profile_by_name(by),
         .gap = 2,
         .left = true}};
    struct cli_table t = CLI_TABLE(columns);
    uint64_t sum = 0, samples = 0;
    for (uint32_t i = 0; i < shown; i++) {
        const struct weft_profile_row *r = &l->row[i];
        sum += r->self;
        samples += r->samples;
        put_group(&t, v, l, "", r->samples, r->self, sum);
        cli_profile_cell_name(&t, v->p, &r->frame);
    }
    if (shown < l->rows) {
        put_group(&t, v, l, "", l->samples - samples, l->total - sum, l->total);
        cli_cell(&t, "", "%s more; --limit 0 shows all", weft_count(l->rows - shown).text);
    }
    put_group(&t, v, l, cli_style(CLI_FAINT), l->samples, l->total, l->total);
    cli_cell(&t, cli_style(CLI_FAINT), "total");
    cli_table_print(&t);
    if (by == WEFT_PROFILE_BY_LABEL || by == WEFT_PROFILE_BY_ROOT)
        cli_profile_put_folded(v);
}

struct weft_profile_list *cli_profile_list(const struct cli_profile_view *v,
                                           enum weft_profile_by by)
{
    struct weft_calltree_options o = v->o;
    struct weft_profile_list *l = NULL;
    o.by = by;
    if (weft_profile_list_make(&l, v->p, &o) < 0)
        cli_lacks_memory();
    return l;
}

void cli_profile_print_top(const struct cli_profile_view *v, enum weft_profile_by by,
                           uint64_t limit)
{
    struct weft_profile_list *l = cli_profile_list(v, by);
    if (!l)
        return;
    uint32_t shown = cli_profile_rows_shown(l, limit, v->r->least);
    bool second = by == WEFT_PROFILE_BY_LABEL && v->r->report == PROFILE_OVERVIEW;
    if (second && l->samples)
        putchar('\n');
    if (l->samples == 0 && !second)
        cli_profile_say_nothing(v);
    else if (by == WEFT_PROFILE_BY_FUNCTION)
        print_calls(v, l, shown);
    else if (l->samples)
        print_groups(v, l, by, shown);
    weft_profile_list_free(l);
}
