/* SPDX-License-Identifier: ISC */
/* weft top --json: an object for each interval, on a line of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/json.h"
#include "cli/top/tree.h"
#include "cli/top/views.h"
#include "cli/trace_json.h"

enum { TREE_CHILDREN = 20 };

static const char *const keys[TOP_VIEWS] = {"pending", "tree",     "latencies",
                                            "threads", "counters", "samples"};

static json_t *name_json(const struct live *l, uint32_t name)
{
    return name ? cli_json_string(live_name(l, name)) : json_null();
}

/* -1: the event loop; null: not known. */
static json_t *id_json(uint64_t id)
{
    return id == 0 ? json_null() : id == WEFT_ID_LOOP ? json_integer(-1) : cli_json_number(id);
}

static json_t *promise_json(const struct top_process *p, const struct live_promise *one)
{
    const struct live *l = p->live;
    json_t *o = CLI_OBJECT(
        "pid", (int64_t)p->pid, "promise", id_json(one->id), "type", name_json(l, one->type),
        "label", name_json(l, one->label), "age_ns", top_age_ns(p, one->created_ns), "older",
        one->older, "unsure", one->created_ns < live_totals(p->live)->off_ns, "waits_for",
        id_json(one->waits_for), "waiting_ns",
        cli_json_if(one->waits_for != 0, top_age_ns(p, one->waits_since_ns)), "became",
        id_json(one->became), "holder", id_json(one->holder), "creator", id_json(one->creator),
        "file", name_json(l, one->file), "line", cli_json_if(one->file != 0, one->line));
    CLI_SET(o, "background", one->background, "should_resolve", one->should_resolve);
    return o;
}

static json_t *row_json(const struct top_process *p, uint32_t index)
{
    const struct live_row *r = top_row(p, index);
    const bool any = top_row_measured(r) > 0;
    return CLI_OBJECT("pid", (int64_t)p->pid, "type", name_json(p->live, r->type), "label",
                      name_json(p->live, r->label),
                      CLI_FIELDS(r, pending, fulfilled, failed, resolved, cancelled, forgotten),
                      "p50_ns", cli_json_if(any, live_percentile(r->took, 0.5)), "p90_ns",
                      cli_json_if(any, live_percentile(r->took, 0.9)), "p99_ns",
                      cli_json_if(any, live_percentile(r->took, 0.99)), "max_ns",
                      cli_json_if(any, top_row_max_ns(r)), "total_ns", r->total_ns);
}

static json_t *thread_json(const struct top_process *p, uint32_t index)
{
    uint32_t count;
    const struct live_thread *t = &live_threads(p->live, &count)[index];
    const struct top_use use = top_window_use(&p->window, index);
    return CLI_OBJECT("pid", (int64_t)p->pid, "tid", t->tid, "stream", t->number, "name",
                      cli_json_string(t->name), "kind", t->is_loop ? "loop" : "worker", "idle",
                      t->idle, "since_ns", top_age_ns(p, t->since_ns), "busy_ns",
                      cli_json_if(t->is_loop, use.busy_ns), "turns",
                      cli_json_if(t->is_loop, use.turns), "longest_turn_ns",
                      cli_json_if(t->is_loop, use.longest_ns), "running", id_json(t->running));
}

static json_t *counter_json(const struct top_process *p, uint32_t index)
{
    uint32_t count;
    const struct live_counter *c = &live_counters(p->live, &count)[index];
    return CLI_OBJECT("pid", (int64_t)p->pid, "name", name_json(p->live, c->name), "value",
                      c->value);
}

static json_t *item_json(enum top_view view, const struct top_item *item)
{
    uint32_t count;
    switch (view) {
    case TOP_PENDING:
        return promise_json(item->p, &live_promises(item->p->live, &count)[item->index]);
    case TOP_LATENCY:
        return row_json(item->p, item->index);
    case TOP_THREADS:
        return thread_json(item->p, item->index);
    default:
        return counter_json(item->p, item->index);
    }
}

/* left_out: gets how many rows the view has besides these. */
static json_t *list_json(const struct top *t, enum top_view view, json_t *left_out)
{
    uint32_t count;
    uint64_t all;
    struct top_item *item = top_pick(t, view, t->request.rows, &count, &all);
    json_t *list = CLI_LIST(i, count, item_json(view, &item[i]));
    CLI_SET(left_out, keys[view], all - count);
    free(item);
    return list;
}

/* In the order in which they are shown, each with its depth. */
static void add_tree(json_t *list, const struct top *t, const struct top_process *p)
{
    static const char *const needs[] = {[TOP_NEEDS_NOTHING] = NULL,
                                        [TOP_WAITS] = "waits",
                                        [TOP_BECAME] = "became",
                                        [TOP_HELD] = "held"};
    const struct top_tree_options o = {t->request.rows, TREE_CHILDREN};
    struct top_tree tree;
    uint32_t count;
    if (top_tree_build(&tree, p->live, &o) < 0)
        cli_lacks_memory();
    const struct live_promise *promise = live_promises(p->live, &count);
    for (uint32_t i = 0; i < tree.nodes; i++) {
        const struct top_node *n = &tree.node[i];
        const struct live_promise *one = &promise[n->promise];
        json_t *node = CLI_OBJECT("pid", (int64_t)p->pid, "depth", n->depth);
        if (n->more)
            CLI_SET(node, "left_out", n->more);
        else
            CLI_SET(node, "promise", id_json(one->id), "type", name_json(p->live, one->type),
                    "label", name_json(p->live, one->label), "need",
                    cli_json_string(needs[n->need]), "below", n->below, "deadlock", n->circle,
                    "again", n->again);
        cli_json_append(list, node);
    }
    top_tree_fini(&tree);
}

static json_t *process_json(const struct top_process *p)
{
    const struct live_totals *all = live_totals(p->live);
    const struct live_totals now = top_window_totals(&p->window);
    uint32_t pending;
    live_promises(p->live, &pending);
    json_t *o = CLI_OBJECT(
        "pid", (int64_t)p->pid, "program", p->program, "recording_ns", p->recording_ns, "paused",
        p->paused, "ended", cli_json_string(p->ended ? p->how : NULL), "trouble",
        cli_json_string(*p->trouble ? p->trouble : NULL), "pending", pending, "events", now.events,
        "created", now.created, "promises_ended", now.ended, "failed", now.failed, "lost",
        all->lost, "window_ns", top_window_ns(&p->window), "unfollowed", all->unfollowed);
    return o;
}

static json_t *function_json(const struct top_samples *s, const struct top_share *share)
{
    const struct top_place *place = top_samples_place(s, share->of);
    return CLI_OBJECT("function", cli_json_string(place ? place->function : NULL), "object",
                      cli_json_string(place ? place->object : NULL), "samples", share->samples);
}

static json_t *label_json(const struct live *l, const struct top_share *share)
{
    uint32_t rows;
    const struct live_row *row = live_rows(l, &rows);
    const bool is_row = share->of < rows;
    return CLI_OBJECT("type", is_row ? name_json(l, row[share->of].type) : json_null(), "label",
                      is_row ? name_json(l, row[share->of].label) : json_null(), "loop",
                      share->of == TOP_LOOP_RAN, "samples", share->samples);
}

static json_t *samples_json(const struct top *t)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < t->processes; i++) {
        const struct top_process *p = t->process[i];
        const struct top_samples *s = &p->samples;
        const uint32_t rows = t->request.rows,
                       functions = s->functions < rows ? s->functions : rows,
                       labels = s->labels < rows ? s->labels : rows;
        if (!s->hz)
            continue;
        json_t *left_out =
            CLI_OBJECT("functions", s->functions - functions, "labels", s->labels - labels);
        cli_json_append(list,
                        CLI_OBJECT("pid", (int64_t)p->pid, "hz", s->hz, "sampling",
                                   s->began && !*s->trouble, "trouble",
                                   cli_json_string(*s->trouble ? s->trouble : NULL), "window_ns",
                                   s->window_ns, "samples", s->samples, "functions",
                                   CLI_LIST(k, functions, function_json(s, &s->function[k])),
                                   "labels", CLI_LIST(k, labels, label_json(p->live, &s->label[k])),
                                   "left_out", left_out));
    }
    return list;
}

void top_json_print(const struct top *t)
{
    json_t *tree = json_array(), *left_out = json_object();
    json_t *o = CLI_OBJECT("time_ns", weft_clock_ns(CLOCK_REALTIME), "look_ns", t->look_ns,
                           "processes", CLI_LIST(i, t->processes, process_json(t->process[i])));
    for (enum top_view v = TOP_PENDING; v < TOP_VIEWS; v++)
        if (v != TOP_TREE && v != TOP_SAMPLES && (t->request.all_views || t->view == v))
            CLI_SET(o, keys[v], list_json(t, v, left_out));
    for (uint32_t i = 0; i < t->processes && (t->request.all_views || t->view == TOP_TREE); i++)
        add_tree(tree, t, t->process[i]);
    if (t->request.all_views || t->view == TOP_TREE)
        CLI_SET(o, keys[TOP_TREE], tree);
    else
        json_decref(tree);
    if (t->request.all_views || t->view == TOP_SAMPLES)
        CLI_SET(o, keys[TOP_SAMPLES], samples_json(t));
    CLI_SET(o, "left_out", left_out);
    cli_json_dump(o, "");
    putchar('\n');
    fflush(stdout);
}
