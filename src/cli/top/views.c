/* SPDX-License-Identifier: ISC */
/* The views of weft top. Columns of numbers have fixed widths, so that nothing jumps when numbers change; the columns of
 * texts share the rest, and the last one may be as long as it likes. */
#include "cli/top/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/duration.h"
#include "base/order.h"
#include "cli/common.h"
#include "cli/report.h"
#include "cli/top/tree.h"

#define LATE_NS                                                                                    \
    UINT64_C(1000000000) /* of a promise that waits for nothing, and that others wait for */

enum {
    TEXT_LEAST = 12,
    TEXT_MOST = 60,
    NUMBER = 8,
    DEPTH_SHOWN = 16,
    TREE_CHILDREN = 20,
    TREE_SEARCHED = 100000, /* nodes, for those that match the filter */
    BAR = 12,
};

/* The columns in use: pid only if there are several processes. */
static void put_pid(struct top_page *page, const struct top *t, const struct top_process *p)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)p->pid);
    if (t->processes > 1)
        top_cell(page, TOP_FAINT, 7, pid);
}

static void put_head(struct top_page *page, const struct top *t, enum top_view view,
                     const char *const *heads, const int *widths)
{
    const char *sort = top_view_sorts(view)[t->sort[view]];
    char head[64];
    if (t->processes > 1)
        top_cell(page, TOP_HEAD, 7, "PID");
    for (unsigned i = 0; heads[i]; i++) {
        const char *name = strchr(heads[i], ':');
        const bool sorted = name && strcmp(name + 1, sort) == 0;
        snprintf(head, sizeof head, "%.*s%s", (int)strcspn(heads[i], ":"), heads[i],
                 !sorted            ? ""
                 : t->reverse[view] ? "^"
                                    : "v");
        top_cell(page, sorted ? TOP_BOLD : TOP_HEAD, widths[i], head);
    }
    top_end(page, (struct top_key){0});
}

static int text_width(int columns, const struct top *t, int taken, int parts)
{
    const int left = columns - taken - (t->processes > 1 ? 8 : 0);
    const int width = left / parts;
    return width < TEXT_LEAST ? TEXT_LEAST : width > TEXT_MOST ? TEXT_MOST : width;
}

static void put_more(struct top_page *page, uint32_t shown, uint64_t all, const char *what)
{
    if (all > shown)
        top_say(page, TOP_FAINT, "  and %s more %s", weft_count(all - shown).text, what);
    if (all == 0)
        top_say(page, TOP_FAINT, "  none");
}

/* "file.c:12", or "". */
static void put_where(char *where, size_t size, const struct live *l, const struct live_promise *p)
{
    const char *file = live_name(l, p->file);
    if (*file)
        snprintf(where, size, "%s:%" PRIu32, cli_base(file), p->line);
    else
        *where = 0;
}

typedef void put_item_fn(struct top_page *page, const struct top *t, const struct top_item *item,
                         const int *widths);

/* A view that is a list: at most so many of its items, which are called that. */
static void put_list(struct top_page *page, const struct top *t, enum top_view view,
                     const char *const *heads, const int *widths, uint32_t most,
                     put_item_fn *put_item, const char *what)
{
    uint32_t count;
    uint64_t all;
    put_head(page, t, view, heads, widths);
    struct top_item *item = top_pick(t, view, most, &count, &all);
    for (uint32_t i = 0; i < count; i++)
        put_item(page, t, &item[i], widths);
    put_more(page, count, all, what);
    free(item);
}

/* ---- The oldest pending ---- */

static void put_promise(struct top_page *page, const struct top *t, const struct top_item *item,
                        const int *widths)
{
    const struct top_process *p = item->p;
    const struct live *l = p->live;
    uint32_t count;
    const struct live_promise *promise = &live_promises(l, &count)[item->index];
    const struct live_promise *creator = live_find(l, promise->creator);
    char id[32], needs[TOP_NEEDS_BYTES], where[300], name[TOP_NAME_BYTES];
    put_pid(page, t, p);
    snprintf(id, sizeof id, "#%" PRIu64, promise->id);
    snprintf(name, sizeof name, "%s%s%s", promise->older ? ">" : "",
             weft_duration_narrow((int64_t)top_age_ns(p, promise->created_ns)).text,
             promise->created_ns < live_totals(l)->off_ns ? "?" : "");
    top_cell(page, promise->background ? TOP_FAINT : TOP_PLAIN, widths[0], name);
    top_cell(page, TOP_PLAIN, widths[1],
             promise->waits_for
                 ? weft_duration_narrow((int64_t)top_age_ns(p, promise->waits_since_ns)).text
                 : "-");
    top_cell(page, TOP_FAINT, widths[2], id);
    top_cell(page, TOP_PLAIN, widths[3], live_name(l, promise->type));
    top_cell(page, promise->background ? TOP_FAINT : TOP_BOLD, widths[4],
             live_name(l, promise->label));
    top_needs(needs, l, promise);
    top_cell(page, TOP_PLAIN, widths[5],
             *needs                ? needs
             : promise->background ? "(background)"
                                   : "-");
    put_where(where, sizeof where, l, promise);
    top_cell(page, TOP_FAINT, widths[6], where);
    if (creator)
        top_name(name, l, creator);
    else if (promise->creator == WEFT_ID_LOOP || !promise->creator)
        snprintf(name, sizeof name, "%s", promise->creator ? "loop" : "");
    else
        snprintf(name, sizeof name, "#%" PRIu64, promise->creator);
    top_cell(page, TOP_FAINT, widths[7], name);
    top_end(page, (struct top_key){.process = p->pid, .promise = promise->id});
}

static void put_pending(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    static const char *const heads[] = {"AGE:age",   "WAITING:waiting", "ID",
                                        "TYPE:type", "LABEL:label",     "WAITS FOR",
                                        "AT:where",  "CREATED BY",      NULL};
    const int text = text_width(columns, t, 2 * (NUMBER + 1) + 2 * 11, 4);
    const int widths[] = {NUMBER, NUMBER, 8, -12, -text, -2 * text, -text, -TEXT_MOST};
    put_list(page, t, TOP_PENDING, heads, widths, most, put_promise, "are pending");
}

/* ---- What waits for what ---- */

static void put_branch(struct top_page *page, const struct top_node *n)
{
    char text[8 * DEPTH_SHOWN + 64];
    size_t at = 0;
    const uint32_t from = n->depth > DEPTH_SHOWN ? n->depth - DEPTH_SHOWN : 1;
    *text = 0;
    if (from > 1)
        at = (size_t)snprintf(text, sizeof text, "(%" PRIu32 ") ", n->depth);
    for (uint32_t d = from; d <= n->depth && n->depth; d++) {
        const bool last = d < 32 && (n->last >> d & 1);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s",
                               d < n->depth ? last ? "   " : "│  "
                               : last       ? "└─ "
                                            : "├─ ");
    }
    top_put(page, TOP_FAINT, "%s", text);
}

static void put_node(struct top_page *page, const struct top *t, const struct top_process *p,
                     const struct top_node *n)
{
    const struct live *l = p->live;
    uint32_t count;
    const struct live_promise *promise = &live_promises(l, &count)[n->promise];
    char name[TOP_NAME_BYTES], where[300];
    static const char *const needs[] = {[TOP_NEEDS_NOTHING] = "",
                                        [TOP_WAITS] = "waits",
                                        [TOP_BECAME] = "became it",
                                        [TOP_HELD] = "held by it"};
    put_pid(page, t, p);
    if (n->more) {
        top_cell(page, TOP_PLAIN, NUMBER, "");
        put_branch(page, n);
        top_put(page, TOP_FAINT, "and %s more", weft_count(n->more).text);
        top_end(page, (struct top_key){0});
        return;
    }
    top_cell(page, TOP_PLAIN, NUMBER,
             weft_duration_narrow((int64_t)top_age_ns(p, promise->created_ns)).text);
    put_branch(page, n);
    if (n->circle && n->depth == 0)
        top_put(page, TOP_BAD, "deadlock: ");
    top_put(page, TOP_FAINT, "%s", needs[n->need]);
    if (n->need == TOP_WAITS)
        top_put(page, TOP_FAINT, " %s: ",
                weft_duration_narrow((int64_t)top_age_ns(p, promise->waits_since_ns)).text);
    else if (n->need != TOP_NEEDS_NOTHING)
        top_put(page, TOP_FAINT, ": ");
    top_name(name, l, promise);
    top_put(page,
            n->circle                   ? TOP_BAD
            : n->depth == 0 && n->below ? TOP_BOLD
                                        : TOP_PLAIN,
            "%s", name);
    if (n->again)
        top_put(page, TOP_BAD, "  which closes the circle");
    else if (n->depth == 0 && !n->circle && n->below) {
        const bool late = top_age_ns(p, promise->created_ns) >= LATE_NS && !promise->background;
        top_put(page, late ? TOP_WARNING : TOP_FAINT, "  %s wait%s for it%s",
                weft_count(n->below).text, n->below == 1 ? "s" : "",
                late ? ", and nobody here resolves it" : "");
    }
    if (promise->background && !n->circle)
        top_put(page, TOP_FAINT, "  (background)");
    put_where(where, sizeof where, l, promise);
    if (*where)
        top_put(page, TOP_FAINT, "  %s", where);
    top_end(page, (struct top_key){.process = p->pid, .promise = promise->id});
}

/* A tree of one process: where it begins among the nodes. */
struct root {
    const struct top_process *p;
    const struct top_tree *tree;
    uint32_t first, end;
    uint64_t age_ns;
};

static int by_importance(const void *a, const void *b)
{
    const struct root *x = a, *y = b;
    const struct top_node *m = &x->tree->node[x->first], *n = &y->tree->node[y->first];
    WEFT_ORDER(n->circle, m->circle);
    WEFT_ORDER(n->below, m->below);
    WEFT_ORDER(y->age_ns, x->age_ns);
    WEFT_ORDER(x->p->pid, y->p->pid);
    return weft_order(x->first, y->first);
}

/* One of its nodes matches the filter. */
static bool root_matches(const struct top *t, const struct root *r)
{
    uint32_t count;
    const struct live_promise *promise = live_promises(r->p->live, &count);
    for (uint32_t i = r->first; i < r->end; i++)
        if (top_promise_matches(t, r->p, &promise[r->tree->node[i].promise]))
            return true;
    return false;
}

/* Adds the roots of a process that match. False: no memory. */
static bool add_roots(struct root **root, uint32_t *roots, uint32_t *room, const struct top *t,
                      const struct top_process *p, const struct top_tree *tree)
{
    uint32_t count;
    const struct live_promise *promise = live_promises(p->live, &count);
    for (uint32_t i = 0; i < tree->nodes;) {
        struct root r = {p, tree, i, i + 1,
                         top_age_ns(p, promise[tree->node[i].promise].created_ns)};
        while (r.end < tree->nodes && tree->node[r.end].depth)
            r.end++;
        i = r.end;
        if (!root_matches(t, &r))
            continue;
        if (!weft_reserve(root, *roots, room, sizeof **root))
            return false;
        (*root)[(*roots)++] = r;
    }
    return true;
}

static void put_tree(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    static const char *const heads[] = {"AGE", "WHAT WAITS FOR WHAT (WHO WAITS STANDS BELOW)",
                                        NULL};
    const int widths[] = {NUMBER, -50};
    const uint32_t begin = page->lines;
    const struct top_tree_options o = {*t->filter ? TREE_SEARCHED : most, TREE_CHILDREN};
    struct top_tree *tree = calloc((size_t)t->processes + 1, sizeof *tree);
    struct root *root = NULL;
    uint32_t roots = 0, room = 0;
    bool more = false;
    (void)columns;
    put_head(page, t, TOP_TREE, heads, widths);
    for (uint32_t i = 0; tree && i < t->processes; i++) {
        const struct top_process *p = t->process[i];
        if (top_tree_build(&tree[i], p->live, &o) < 0 ||
            !add_roots(&root, &roots, &room, t, p, &tree[i]))
            page->failed = true;
        more |= tree[i].cut;
    }
    weft_sort(root, roots, sizeof *root, by_importance);
    for (uint32_t i = 0; i < roots; i++)
        for (uint32_t k = root[i].first; k < root[i].end; k++) {
            if (page->lines - begin <= most)
                put_node(page, t, root[i].p, &root[i].tree->node[k]);
            else
                more = true;
        }
    if (more)
        top_say(page, TOP_FAINT, "  and more");
    if (page->lines == begin + 1)
        top_say(page, TOP_FAINT, "  nothing is pending");
    for (uint32_t i = 0; tree && i < t->processes; i++)
        top_tree_fini(&tree[i]);
    weft_free_all(tree, root);
}

/* ---- Latencies ---- */

static void put_latency(struct top_page *page, const struct top *t, const struct top_item *item,
                        const int *widths)
{
    const struct top_process *p = item->p;
    const struct live_row *r = top_row(p, item->index);
    const uint64_t ns = top_window_ns(&p->window), measured = top_row_measured(r);
    const uint64_t ended = top_row_ended(r);
    static const double shares[] = {0.5, 0.9, 0.99};
    put_pid(page, t, p);
    top_cell(page, TOP_PLAIN, widths[0],
             ns ? top_rate(ended, ns).text : weft_count_short(ended).text);
    for (unsigned i = 0; i < 3; i++)
        top_cell(page, i == 2 ? TOP_BOLD : TOP_PLAIN, widths[1 + i],
                 measured ? weft_duration_narrow((int64_t)live_percentile(r->took, shares[i])).text
                          : "-");
    top_cell(page, TOP_PLAIN, widths[4],
             measured ? weft_duration_narrow((int64_t)top_row_max_ns(r)).text : "-");
    top_cell(page, r->failed ? TOP_BAD : TOP_FAINT, widths[5],
             !r->failed ? "-"
             : ns       ? top_rate(r->failed, ns).text
                        : weft_count_short(r->failed).text);
    top_cell(page, r->pending ? TOP_PLAIN : TOP_FAINT, widths[6], weft_count(r->pending).text);
    top_cell(page, TOP_PLAIN, widths[7], live_name(p->live, r->type));
    top_cell(page, TOP_BOLD, widths[8],
             *live_name(p->live, r->label) || item->index ? live_name(p->live, r->label) : "…");
    top_end(page, (struct top_key){.process = p->pid, .row = item->index + 1});
}

static bool first_looks(const struct top *t)
{
    for (uint32_t i = 0; i < t->processes; i++)
        if (top_window_ns(&t->process[i]->window))
            return false;
    return true;
}

static void put_latencies(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    const bool first = first_looks(t);
    const char *const heads[] = {first ? "ENDED:count" : "/S:count",
                                 "P50:p50",
                                 "P90:p90",
                                 "P99:p99",
                                 "MAX:max",
                                 first ? "FAILED:failed" : "FAIL/S:failed",
                                 "PENDING:pending",
                                 "TYPE",
                                 "LABEL:label",
                                 NULL};
    const int widths[] = {NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, -14, -200};
    (void)columns;
    put_list(page, t, TOP_LATENCY, heads, widths, most, put_latency, "kinds");
}

/* ---- Threads ---- */

static void put_thread(struct top_page *page, const struct top *t, const struct top_item *item,
                       const int *widths)
{
    const struct top_process *p = item->p;
    uint32_t count;
    const struct live_thread *th = &live_threads(p->live, &count)[item->index];
    const struct top_use use = top_window_use(&p->window, item->index);
    const uint64_t ns = top_window_ns(&p->window);
    const uint64_t whole = ns ? ns : use.busy_ns + th->idle_ns;
    const double share = whole ? (double)use.busy_ns / (double)whole : 0;
    const struct live_promise *running = live_find(p->live, th->running);
    char text[TOP_NAME_BYTES];
    put_pid(page, t, p);
    snprintf(text, sizeof text, "%" PRIu32, th->tid);
    top_cell(page, TOP_FAINT, widths[0], text);
    top_cell(page, TOP_BOLD, widths[1], th->name);
    top_cell(page, TOP_PLAIN, widths[2], th->is_loop ? "loop" : "worker");
    top_cell(page, TOP_PLAIN, widths[3], !th->is_loop ? "-" : th->idle ? "idle" : "busy");
    top_cell(page, TOP_PLAIN, widths[4],
             th->is_loop ? weft_duration_narrow((int64_t)top_age_ns(p, th->since_ns)).text : "-");
    if (th->is_loop) {
        top_bar(page, share, BAR);
        top_put(page, TOP_PLAIN, "%5.1f%% ", 100 * share);
    } else
        top_cell(page, TOP_FAINT, -(BAR + 8), "");
    top_cell(page, TOP_PLAIN, widths[6], th->is_loop ? top_rate(use.turns, ns).text : "-");
    top_cell(page, use.longest_ns >= 100000000 ? TOP_BAD : TOP_PLAIN, widths[7],
             th->is_loop ? weft_duration_narrow((int64_t)use.longest_ns).text : "-");
    if (running)
        top_name(text, p->live, running);
    else
        snprintf(text, sizeof text, "%s",
                 th->running == WEFT_ID_LOOP ? "the loop itself"
                 : th->running               ? "?"
                                             : "-");
    top_cell(page, TOP_PLAIN, widths[8], th->idle ? "-" : text);
    top_end(page, (struct top_key){.process = p->pid, .thread = item->index + 1});
}

static void put_threads(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    static const char *const heads[] = {"TID",     "NAME:name", "KIND",          "NOW",
                                        "FOR",     "BUSY:busy", "TURNS/S:turns", "LONGEST:longest",
                                        "RUNNING", NULL};
    const int widths[] = {8, -16, -6, -4, NUMBER, -(BAR + 8), NUMBER, NUMBER, -200};
    (void)columns;
    put_list(page, t, TOP_THREADS, heads, widths, most, put_thread, "threads");
}

/* ---- Counters ---- */

static void put_history(struct top_page *page, const struct top_process *p, uint32_t counter)
{
    static const char *const steps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (counter >= p->histories)
        return;
    const struct top_history *h = &p->history[counter];
    char text[4 * TOP_HISTORY + 1] = "";
    double least = (double)h->value[0], most = least;
    for (unsigned i = 1; i < h->values; i++) {
        const double v = (double)h->value[i];
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    for (unsigned i = 0; i < h->values; i++) {
        const double share = most > least ? ((double)h->value[i] - least) / (most - least) : 0;
        strcat(text, steps[(unsigned)(share * 7)]);
    }
    top_cell(page, TOP_GOOD, -TOP_HISTORY, text);
}

static void put_counter(struct top_page *page, const struct top *t, const struct top_item *item,
                        const int *widths)
{
    const struct top_process *p = item->p;
    uint32_t count;
    const struct live_counter *c = &live_counters(p->live, &count)[item->index];
    char value[32];
    put_pid(page, t, p);
    snprintf(value, sizeof value, "%" PRId64, c->value);
    top_cell(page, TOP_BOLD, widths[0], value);
    put_history(page, p, item->index);
    top_cell(page, TOP_PLAIN, widths[2], live_name(p->live, c->name));
    top_end(page, (struct top_key){.process = p->pid, .counter = item->index + 1});
}

static void put_counters(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    static const char *const heads[] = {"VALUE:value", "LAST SECONDS:change", "NAME:name", NULL};
    const int widths[] = {16, -TOP_HISTORY, -200};
    (void)columns;
    put_list(page, t, TOP_COUNTERS, heads, widths, most, put_counter, "counters");
}

/* ---- Samples ---- */

static void put_share(struct top_page *page, const struct top *t, const struct top_process *p,
                      const struct top_share *share, const int *widths)
{
    const double part = (double)share->samples / (double)p->samples.samples;
    put_pid(page, t, p);
    top_cell(page, TOP_PLAIN, widths[0], weft_count(share->samples).text);
    top_bar(page, part, BAR);
    top_put(page, TOP_PLAIN, "%5.1f%% ", 100 * part);
}

/* Returns false if nothing of it matches the filter. */
static bool put_function(struct top_page *page, const struct top *t, const struct top_process *p,
                         const struct top_share *share, const int *widths)
{
    const struct top_place *place = top_samples_place(&p->samples, share->of);
    const char *name = place ? place->function : "(others)", *object = place ? place->object : "";
    if (!top_matches(t, name) && !top_matches(t, object) && !top_matches(t, p->program))
        return false;
    put_share(page, t, p, share, widths);
    top_put(page, TOP_BOLD, "%s", name);
    top_put(page, TOP_FAINT, "  %s", object);
    top_end(page, (struct top_key){.process = p->pid});
    return true;
}

static bool put_label(struct top_page *page, const struct top *t, const struct top_process *p,
                      const struct top_share *share, const int *widths)
{
    uint32_t rows;
    const struct live_row *row = live_rows(p->live, &rows);
    const bool is_row = share->of < rows;
    const char *label = is_row                      ? live_name(p->live, row[share->of].label)
                        : share->of == TOP_LOOP_RAN ? "(the loop itself)"
                                                    : "(no promise)",
               *type = is_row ? live_name(p->live, row[share->of].type) : "";
    if (!top_matches(t, label) && !top_matches(t, type) && !top_matches(t, p->program))
        return false;
    put_share(page, t, p, share, widths);
    top_put(page, TOP_BOLD, "%s", *label ? label : type);
    if (*label && *type)
        top_put(page, TOP_FAINT, "  %s", type);
    top_end(page, (struct top_key){.process = p->pid, .row = is_row ? share->of + 1 : 0});
    return true;
}

typedef bool put_share_fn(struct top_page *page, const struct top *t, const struct top_process *p,
                          const struct top_share *share, const int *widths);

static void put_shares(struct top_page *page, const struct top *t, const struct top_process *p,
                       const struct top_share *share, uint32_t count, uint32_t most,
                       const int *widths, put_share_fn *put)
{
    uint32_t i = 0;
    for (uint32_t shown = 0; i < count && shown < most; i++)
        shown += put(page, t, p, &share[i], widths);
    if (i < count)
        top_say(page, TOP_FAINT, "  and %s more", weft_count(count - i).text);
}

static void put_sampled(struct top_page *page, const struct top *t, const struct top_process *p,
                        uint32_t most, const int *widths)
{
    const struct top_samples *s = &p->samples;
    put_pid(page, t, p);
    top_put(page, *s->trouble ? TOP_BAD : TOP_PLAIN, "%s: ", p->program);
    if (*s->trouble)
        top_put(page, TOP_BAD, "it is not sampled: %s", s->trouble);
    else
        top_put(page, TOP_PLAIN, "%s in %s, %s a second of a busy core",
                cli_many(s->samples, "sample").text, weft_duration((int64_t)s->window_ns).text,
                weft_count(s->hz).text);
    top_end(page, (struct top_key){.process = p->pid});
    if (!s->samples)
        return;
    top_say(page, TOP_HEAD, "%s", "by function");
    put_shares(page, t, p, s->function, s->functions, most / 2, widths, put_function);
    top_say(page, TOP_HEAD, "%s", "by promise");
    put_shares(page, t, p, s->label, s->labels, most - most / 2, widths, put_label);
}

static void put_samples(struct top_page *page, const struct top *t, int columns, uint32_t most)
{
    static const char *const heads[] = {"SAMPLES:samples", "SHARE", "WHERE THE CPU TIME GOES",
                                        NULL};
    const int widths[] = {NUMBER, -(BAR + 8), -TEXT_MOST};
    bool any = false;
    (void)columns;
    put_head(page, t, TOP_SAMPLES, heads, widths);
    for (uint32_t i = 0; i < t->processes; i++) {
        if (t->process[i]->samples.hz)
            put_sampled(page, t, t->process[i], most, widths);
        any |= t->process[i]->samples.hz > 0;
    }
    if (!any)
        top_say(page, TOP_FAINT, "  no process is sampled; %s",
                t->request.batch ? "--sample does that" : "S does that with the selected one");
}

void top_view_put(struct top_page *page, const struct top *t, enum top_view view, int columns,
                  uint32_t most)
{
    static void (*const put[TOP_VIEWS])(struct top_page * page, const struct top *t, int columns,
                                        uint32_t most) = {put_pending, put_tree,     put_latencies,
                                                          put_threads, put_counters, put_samples};
    put[view](page, t, columns, most);
}
