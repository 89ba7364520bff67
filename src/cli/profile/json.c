/* SPDX-License-Identifier: ISC */
/* The reports of weft profile as JSON. A row at a time: there may be many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/profile/profile.h"
#include "cli/trace_json.h"

static const char *const units[] = {
    [WEFT_UNIT_COUNT] = "count", [WEFT_UNIT_NS] = "ns", [WEFT_UNIT_CYCLES] = "cycles"};

static json_t *profile_text(const struct weft_profile *p, uint32_t number)
{
    return number ? cli_json_string(weft_profile_text(p, number)) : json_null();
}

/* ---- What was measured ---- */

static json_t *files_json(const struct cli_profiles *files)
{
    const struct cli_profiles_file *f = files->file;
    return CLI_LIST(i, files->files,
                    CLI_OBJECT("file", f[i].path, "kind", cli_profiles_kind(f[i].kind),
                               CLI_FIELDS(&f[i], samples, absences, events, program)));
}

static json_t *event_json(const struct cli_profile_view *v)
{
    const struct weft_profile *p = v->p;
    if (v->o.source >= p->sources)
        return json_null();
    const struct weft_source *s = &p->source[v->o.source];
    return CLI_OBJECT("name", weft_profile_text(p, s->name), "unit",
                      s->unit <= WEFT_UNIT_CYCLES ? units[s->unit] : "count", "period",
                      cli_json_if(s->period, s->period), "frequency_asked",
                      cli_json_if(s->frequency, s->frequency), "rate",
                      v->facts.rate > 0 ? json_real(v->facts.rate) : json_null());
}

static json_t *measured_json(const struct cli_profile_view *v)
{
    const struct cli_profile_facts *f = &v->facts;
    uint64_t until = v->p->switches_until_ns;
    return CLI_OBJECT("event", event_json(v), "samples", f->samples, "total", f->total,
                      "overwritten", v->p->overwritten, "lost", v->p->lost, "lost_other",
                      v->p->lost_other, "switches_until_ns",
                      until ? json_integer(weft_model_time(
                                  until, v->p->model ? v->p->model->first_ns : v->p->first_ns))
                            : json_null(),
                      "skipped", v->p->skipped, "span_ns", (uint64_t)(f->last_ns - f->first_ns),
                      "threads", f->threads, "processes", f->processes, "away_ns", f->away_ns,
                      "away_times", f->away, "preempted_ns", f->preempted_ns, "promises",
                      (bool)(v->p->model && v->p->model->promises > 1));
}

/* The sums of x, a list or a tree. */
#define SUMS_JSON(x)                                                                               \
    CLI_OBJECT(CLI_FIELDS(x, samples, total, without_promise), "overwritten",                      \
               (x)->gap[WEFT_GAP_OVERWRITTEN], "not_recorded", (x)->gap[WEFT_GAP_OUTSIDE], "unit", \
               units[(x)->unit])

/* ---- Rows ---- */

static const char *const kinds[] = {
    [WEFT_FRAME_FUNCTION] = "function", [WEFT_FRAME_ADDRESS] = "address",
    [WEFT_FRAME_PROMISE] = "promise",   [WEFT_FRAME_LABEL] = "label",
    [WEFT_FRAME_THREAD] = "thread",     [WEFT_FRAME_CORE] = "core",
    [WEFT_FRAME_OBJECT] = "object",     [WEFT_FRAME_PROCESS] = "process",
    [WEFT_FRAME_STATE] = "state",
};

/* What is known about a frame; null for what is not known. */
static json_t *frame_json(const struct cli_profile_view *v, const struct weft_named_frame *f)
{
    const struct weft_profile *p = v->p;
    json_t *o = CLI_OBJECT("name", profile_text(p, f->text), "kind", kinds[f->kind]);
    const struct weft_function *function =
        f->function != WEFT_NONE ? &p->function[f->function] : NULL;
    if (function)
        CLI_SET(o, "file", profile_text(p, function->file), "start_line",
                cli_json_if(function->start_line, function->start_line), "line",
                cli_json_if(f->line, f->line));
    const char *object = cli_profile_object(v, f);
    if (object)
        CLI_SET(o, "object", object);
    if (f->promise != WEFT_NONE && p->model)
        CLI_SET(o, "promise", cli_json_id(p->model, f->promise));
    return o;
}

static json_t *row_json(const struct cli_profile_view *v, const struct weft_profile_row *r)
{
    json_t *o = frame_json(v, &r->frame);
    CLI_SET(o, CLI_FIELDS(r, self, total, samples));
    return o;
}

static void print_list(const struct cli_profile_view *v, enum weft_profile_by by, const char *head,
                       const char *rows)
{
    struct weft_profile_list *l = cli_profile_list(v, by);
    if (!l)
        return;
    const uint32_t shown = cli_profile_rows_shown(l, v->r->limit, v->r->least);
    if (head)
        cli_json_dump(SUMS_JSON(l), head);
    fputs(rows, stdout);
    for (uint32_t i = 0; i < shown; i++)
        cli_json_dump(row_json(v, &l->row[i]), i ? ",\n  " : "\n  ");
    putchar(']');
    weft_profile_list_free(l);
}

static void print_calls(const struct cli_profile_view *v)
{
    struct weft_calltree *t;
    if (weft_calltree_make(&t, v->p, &v->o) < 0) {
        cli_lacks_memory();
        return;
    }
    cli_tell_cut(t);
    cli_json_dump(SUMS_JSON(t), ",\n \"shown\": ");
    fputs(",\n \"calls\": [", stdout);
    for (uint32_t i = 1; i < t->calls; i++) {
        const struct weft_call *c = &t->call[i];
        fputs(i > 1 ? ",\n  {" : "\n  {", stdout);
        cli_json_dump_members(frame_json(v, &c->frame));
        char parent[16] = "null";
        if (c->parent)
            snprintf(parent, sizeof parent, "%" PRIu32, c->parent);
        printf(", \"call\": %" PRIu32 ", \"parent\": %s, \"self\": %" PRIu64 ", \"total\": %" PRIu64
               ", \"samples\": %" PRIu64 "}",
               i, parent, c->self, c->total, c->samples);
    }
    putchar(']');
    weft_calltree_free(t);
}

static json_t *wait_json(const struct cli_profile_view *v, const struct cli_profile_waits *w,
                         const struct cli_profile_wait *wait)
{
    json_t *stack = json_array();
    for (uint32_t c = wait->call; c && c != WEFT_NONE; c = w->tree->call[c].parent)
        if (w->tree->call[c].frame.kind != WEFT_FRAME_STATE)
            cli_json_append(stack, profile_text(v->p, w->tree->call[c].frame.text));
    return CLI_OBJECT("why", wait->preempted ? "preempted" : "waits", "ns", wait->ns, "times",
                      wait->times, "stack", stack);
}

static void print_waits(const struct cli_profile_view *v)
{
    struct cli_profile_waits w;
    cli_profile_waits_find(&w, v);
    fputs(",\n \"places\": [", stdout);
    for (uint32_t i = 0; i < w.waits && i < v->r->limit; i++)
        cli_json_dump(wait_json(v, &w, &w.wait[i]), i ? ",\n  " : "\n  ");
    putchar(']');
    cli_profile_waits_fini(&w);
}

static void print_blanks(const struct cli_profile_view *v)
{
    struct cli_profile_blanks b;
    cli_profile_blanks_find(&b, v);
    fputs(",\n \"without_name\": [", stdout);
    for (uint32_t i = 0; i < b.blanks; i++) {
        const struct cli_profile_blank *blank = &b.blank[i];
        cli_json_dump(CLI_OBJECT("object", profile_text(v->p, blank->path), "why",
                                 cli_profile_nameless[blank->why].name, "samples", blank->samples,
                                 "total", blank->value),
                      i ? ",\n  " : "\n  ");
    }
    putchar(']');
    free(b.blank);
}

void cli_profile_print_json(const struct cli_profile_view *v)
{
    static const char *const reports[] = {"top", "top", "tree", "lines"};
    const struct cli_profile_request *r = v->r;
    bool waits = r->off_cpu && r->report != PROFILE_TREE && r->by == WEFT_PROFILE_BY_FUNCTION;
    const char *report = waits ? "off_cpu" : reports[r->report];
    cli_json_dump(files_json(v->files), "{\"files\": ");
    cli_json_dump(measured_json(v), ",\n \"measured\": ");
    cli_json_dump(json_string(report), ",\n \"report\": ");
    cli_json_dump(json_string(cli_profile_by_name(r->by)), ",\n \"by\": ");
    cli_json_dump(json_boolean(v->o.by_family), ",\n \"folded\": ");
    cli_json_dump(json_boolean(r->off_cpu), ",\n \"off_cpu\": ");
    if (r->report == PROFILE_TREE)
        print_calls(v);
    else
        print_list(v, r->by, ",\n \"shown\": ", ",\n \"rows\": [");
    if (waits) {
        print_waits(v);
        print_list(v, WEFT_PROFILE_BY_THREAD, NULL, ",\n \"threads\": [");
    } else if (r->report == PROFILE_OVERVIEW && v->p->model && v->p->model->promises > 1) {
        print_list(v, WEFT_PROFILE_BY_LABEL, NULL, ",\n \"labels\": [");
    }
    print_blanks(v);
    fputs("}\n", stdout);
}

/* ---- Two ---- */

static json_t *side_json(const struct cli_profile_side *s)
{
    return CLI_OBJECT("files", files_json(s->v->files), "measured", measured_json(s->v), "shown",
                      SUMS_JSON(s->l));
}

static json_t *change_json(const struct cli_profile_changes *c, const struct weft_profile_delta *d)
{
    const struct cli_profile_view *v;
    const struct weft_named_frame f = cli_profile_changed(c, d, &v);
    json_t *o = frame_json(v, &f);
    CLI_SET(o, CLI_FIELDS(d, before_self, after_self, before_total, after_total), "before_percent",
            cli_profile_percent(d->before_self, c->before.l->total), "after_percent",
            cli_profile_percent(d->after_self, c->after.l->total), "points", 100 * d->self_share);
    return o;
}

void cli_profile_print_diff_json(const struct cli_profile_view *before,
                                 const struct cli_profile_view *after)
{
    struct cli_profile_changes c;
    if (cli_profile_changes_find(&c, before, after)) {
        cli_json_dump(json_string("diff"), "{\"report\": ");
        cli_json_dump(json_string(cli_profile_by_name(after->o.by)), ",\n \"by\": ");
        cli_json_dump(side_json(&c.before), ",\n \"before\": ");
        cli_json_dump(side_json(&c.after), ",\n \"after\": ");
        fputs(",\n \"rows\": [", stdout);
        for (uint32_t i = 0; i < c.deltas->rows && i < after->r->limit; i++)
            cli_json_dump(change_json(&c, &c.deltas->row[i]), i ? ",\n  " : "\n  ");
        fputs("]}\n", stdout);
    }
    cli_profile_changes_fini(&c);
}
