/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "explore/table_state.h"

enum {
    STEPS = 20000,    /* of weft_stats_work, at once: some milliseconds */
    SAMPLES = 200000, /* … of samples, and of promises that are only looked at */
};

const char *const weft_table_names[] = {"label", "family", "type", "creator", "finding"};

#define X(NAME, name, heading, file) heading,
const char *const weft_table_headings[] = {WEFT_TABLE_EACH_COLUMN(X)};
#undef X
#define X(NAME, name, heading, file) name,
static const char *const column_names[] = {WEFT_TABLE_EACH_COLUMN(X)};
#undef X
/* ---- What it is of ---- */

static struct explore_table_of subject(const struct weft_explorer *e)
{
    const struct explore_table *t = e->table;
    bool range = e->range_from_ns != e->range_to_ns;
    struct explore_table_of of = {.by = t->view.by, .pinned = t->pinned};
    of.pane = t->pinned != WEFT_NONE     ? t->pinned_pane
              : range                    ? e->range_pane
              : e->selected != WEFT_NONE ? e->selected_pane
                                         : e->active;
    const struct explore_pane *p = &e->pane[of.pane];
    if (range && of.pane == e->range_pane) {
        of.from_ns = e->range_from_ns;
        of.to_ns = e->range_to_ns;
    }
    of.model = p->model;
    of.search = p->search && !weft_search_is_empty(p->search) ? p->search : NULL;
    of.history = p->trace->analysis ? p->trace->analysis->history : p->trace->history;
    of.analysis = of.by == WEFT_TABLE_FINDING ? p->trace->analysis : NULL;
    return of;
}

static bool is_same(const struct explore_table_of *a, const struct explore_table_of *b)
{
    return a->pane == b->pane && a->by == b->by && a->from_ns == b->from_ns &&
           a->to_ns == b->to_ns && a->pinned == b->pinned && a->model == b->model &&
           a->search == b->search && a->history == b->history && a->analysis == b->analysis;
}

static bool keep(const void *data, uint32_t promise)
{
    const struct explore_table *t = data;
    return (!t->of.search || weft_search_has(t->of.search, promise)) &&
           (!t->created || (t->created[promise] && promise != t->of.pinned));
}

static void drop_work(struct explore_table *t)
{
    weft_stats_end(t->work);
    t->work = NULL;
    weft_free_all(t->cpu, t->created, t->member);
    t->cpu = NULL;
    t->created = NULL;
    t->member = NULL;
    t->phase = TABLE_NOTHING;
    t->seek.row = WEFT_NONE;
    t->of = (struct explore_table_of){.pinned = WEFT_NONE};
}

static void say(struct weft_explorer *e, const char *why)
{
    struct explore_table *t = e->table;
    if (strcmp(t->about, why) == 0)
        return;
    snprintf(t->about, sizeof t->about, "%s", why);
    e->changed |= WEFT_CHANGED_TABLE;
}

/* ---- Adding up ---- */

static int by_row(const void *a, const void *b)
{
    const struct weft_stats_member *x = a, *y = b;
    WEFT_ORDER(x->row, y->row);
    return weft_order(x->promise, y->promise);
}

/* The promises of each finding. */
static bool find_members(struct explore_table *t, const struct weft_findings *f, uint32_t *members)
{
    uint64_t most = 0;
    uint32_t n = 0, kept = 0;
    for (uint32_t i = 0; i < f->count; i++)
        most += 1 + (uint64_t)f->finding[i].affecteds;
    t->member = weft_resize(NULL, most, sizeof *t->member);
    if (!t->member)
        return false;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct weft_finding *x = &f->finding[i];
        if (x->promise != WEFT_ROOT && x->promise != WEFT_NONE)
            t->member[n++] = (struct weft_stats_member){i, x->promise};
        for (uint32_t k = 0; k < x->affecteds; k++)
            if (x->affected[k] != WEFT_ROOT)
                t->member[n++] = (struct weft_stats_member){i, x->affected[k]};
    }
    weft_sort(t->member, n, sizeof *t->member, by_row);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || by_row(&t->member[i], &t->member[i - 1]) != 0)
            t->member[kept++] = t->member[i];
    *members = kept;
    return true;
}

/* Begins anew. Returns false if there is no memory. */
static bool begin(struct weft_explorer *e, const struct explore_table_of *of)
{
    static const enum weft_stats_by by[WEFT_TABLES] = {
        [WEFT_TABLE_LABEL] = WEFT_BY_LABEL,     [WEFT_TABLE_FAMILY] = WEFT_BY_FAMILY,
        [WEFT_TABLE_TYPE] = WEFT_BY_TYPE,       [WEFT_TABLE_CREATOR] = WEFT_BY_CREATOR,
        [WEFT_TABLE_FINDING] = WEFT_BY_MEMBERS,
    };
    struct explore_table *t = e->table;
    const struct weft_scene *s = e->pane[of->pane].scene;
    struct weft_stats_options o = {.by = by[of->by] | (s->l->raw ? WEFT_STATS_RAW : 0),
                                   .from_ns = of->from_ns,
                                   .to_ns = of->to_ns,
                                   .keep = keep,
                                   .data = t};
    drop_work(t);
    t->of = *of;
    if (of->analysis) {
        if (!find_members(t, &of->analysis->findings, &o.members))
            return false;
        o.member = t->member;
        o.rows = of->analysis->findings.count;
    }
    if (of->pinned != WEFT_NONE && !(t->created = explore_created_by(of->model, of->pinned)))
        return false;
    t->sample = 0;
    if (s->p && !(t->cpu = calloc(of->model->promises, sizeof *t->cpu)))
        return false;
    o.amount = t->cpu;
    t->phase = t->cpu ? TABLE_CPU : TABLE_ADD;
    e->changed |= WEFT_CHANGED_TABLE;
    return weft_stats_begin(&t->work, of->history, &o) == 0;
}

static void add_samples(struct explore_table *t, const struct weft_scene *s)
{
    uint32_t left = s->p->samples - t->sample, end = t->sample + (left < SAMPLES ? left : SAMPLES);
    for (; t->sample < end; t->sample++) {
        const struct weft_sample *x = &s->p->sample[t->sample];
        int64_t at = weft_model_time(x->time_ns, s->m->first_ns);
        if (x->promise < s->m->promises &&
            (t->of.from_ns == t->of.to_ns || (at >= t->of.from_ns && at <= t->of.to_ns)))
            t->cpu[x->promise] += weft_scene_sample_ns(s, t->sample);
    }
    if (t->sample == s->p->samples)
        t->phase = TABLE_ADD;
}

/* Continues. Returns a negative code if there is no memory. */
static int go_on(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    int rc = 1;
    if (t->phase == TABLE_CPU)
        add_samples(t, e->pane[t->of.pane].scene);
    else
        rc = weft_stats_work(t->work, STEPS);
    if (rc == 0) {
        t->phase = TABLE_DONE;
        t->is_stale = true;
        e->changed |= WEFT_CHANGED_TABLE;
    }
    return rc;
}

/* Why it cannot be made now; NULL: it can. */
static const char *obstacle(struct weft_explorer *e, const struct explore_table_of *of)
{
    struct explore_pane *p = &e->pane[of->pane];
    if (p->trace->analysing)
        return "The trace is being analysed \xe2\x80\xa6";
    if (p->searching)
        return "Searching \xe2\x80\xa6";
    if (of->by == WEFT_TABLE_FINDING && !p->trace->analysis)
        return "The trace has not been analysed: e does that";
    if (!explore_history_of(p))
        return "There is no memory for the table";
    return NULL;
}

static bool seek(struct weft_explorer *e);

bool explore_table_work(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    if (!t || !t->view.open || e->panes == 0 || e->drag.grip == EXPLORE_GRIP_RULER)
        return false;
    struct explore_table_of of = subject(e);
    const char *why = obstacle(e, &of);
    if (why) {
        drop_work(t);
        say(e, why);
        return false;
    }
    of = subject(e); /* the history may be there only now */
    if (!is_same(&of, &t->of)) {
        if (!begin(e, &of)) {
            drop_work(t);
            t->of = of; /* not again */
            t->phase = TABLE_DONE;
            say(e, "There is no memory for the table");
        }
        return t->phase != TABLE_DONE;
    }
    if (t->phase == TABLE_DONE)
        return t->work && seek(e);
    if (go_on(e) < 0) {
        drop_work(t);
        t->of = of;
        t->phase = TABLE_DONE;
        say(e, "There is no memory for the table");
    }
    return t->phase != TABLE_DONE;
}

/* ---- What is shown ---- */

const struct weft_table_view *weft_explorer_table(struct weft_explorer *e)
{
    static const struct weft_table_view closed = {.about = "", .bars_about = ""};
    struct explore_table *t = e->table;
    if (!t)
        return &closed;
    if (t->is_stale && t->phase == TABLE_DONE && t->work)
        explore_table_fill(t);
    t->view.working = t->phase != TABLE_DONE;
    t->view.pinned = t->pinned != WEFT_NONE;
    t->view.about = t->work && t->view.working ? "Adding up \xe2\x80\xa6" : t->about;
    t->view.bars_about = t->bars_about;
    t->view.row = t->row;
    t->view.bar = t->bar;
    return &t->view;
}

static void changed(struct weft_explorer *e)
{
    e->table->is_stale = true;
    explore_changed(e, WEFT_CHANGED_TABLE | WEFT_CHANGED_PLACE);
}

/* ---- Life ---- */

/* NULL: no memory. */
static struct explore_table *table_of(struct weft_explorer *e)
{
    if (!e->table && (e->table = calloc(1, sizeof *e->table))) {
        e->table->pinned = e->table->kind = e->table->went_to = WEFT_NONE;
        e->table->of.pinned = e->table->seek.row = WEFT_NONE;
        e->table->view.sort = WEFT_TABLE_TOTAL;
    }
    return e->table;
}

void explore_table_forget(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    if (!t)
        return;
    drop_work(t);
    e->changed |= t->view.open ? WEFT_CHANGED_TABLE : 0;
}

static uint32_t kept(const struct weft_model *old, const struct weft_model *m, uint32_t promise)
{
    return promise == WEFT_NONE ? WEFT_NONE : weft_model_find(m, old->promise[promise].id);
}

void explore_table_keep(struct weft_explorer *e, unsigned pane, const struct weft_model *m)
{
    struct explore_table *t = e->table;
    const struct weft_model *old = e->pane[pane].model;
    explore_table_forget(e);
    if (t && t->pinned_pane == pane)
        t->pinned = kept(old, m, t->pinned);
    if (t && t->kind_pane == pane) {
        t->kind = kept(old, m, t->kind);
        t->went_to = kept(old, m, t->went_to);
    }
}

void explore_table_leave(struct weft_explorer *e)
{
    explore_table_forget(e);
    struct explore_table *t = e->table;
    if (!t)
        return;
    t->pinned = t->kind = t->went_to = WEFT_NONE;
    t->view.rows = t->view.bars = 0;
    *t->about = *t->bars_about = '\0';
}

void explore_table_fini(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    if (!t)
        return;
    drop_work(t);
    weft_free_all(t->tsv, t->shown, t->row, t->rank, t);
    e->table = NULL;
}

void weft_explorer_table_show(struct weft_explorer *e, enum weft_table_by by)
{
    struct explore_table *t = table_of(e);
    if (!t)
        return;
    t->view.open = by < WEFT_TABLES;
    if (t->view.open)
        t->view.by = by;
    else
        drop_work(t);
    changed(e);
}

void weft_explorer_table_sort(struct weft_explorer *e, enum weft_table_column column)
{
    struct explore_table *t = table_of(e);
    if (!t || column >= WEFT_TABLE_COLUMNS)
        return;
    t->view.ascending = t->view.sort == column && !t->view.ascending;
    t->view.sort = column;
    changed(e);
}

/* ---- What can be done with it ---- */

/* Looks on for the promise to go to; after the fastest one comes the slowest again. Returns true if there is more to
 * do. */
static bool seek(struct weft_explorer *e)
{
    struct explore_table *t = e->table;
    struct weft_stats_seek *s = &t->seek;
    if (s->row == WEFT_NONE)
        return false;
    if (weft_stats_slower(t->work, s, SAMPLES))
        return true;
    if (s->best == WEFT_NONE && s->before != WEFT_NONE) {
        *s = (struct weft_stats_seek){.row = s->row, .before = WEFT_NONE, .best = WEFT_NONE};
        return true;
    }
    s->row = WEFT_NONE;
    if (s->best == WEFT_NONE)
        return false;
    t->kind = t->went_to = s->best;
    t->kind_pane = t->of.pane;
    changed(e);
    explore_jump(e, t->of.pane, s->best);
    return false;
}

bool weft_explorer_table_go(struct weft_explorer *e, uint32_t row)
{
    struct explore_table *t = e->table;
    const struct weft_table_view *v = weft_explorer_table(e);
    if (!t || t->phase != TABLE_DONE || !t->work || row >= v->rows)
        return false;
    uint32_t at = t->rank[row];
    bool again = t->went_to != WEFT_NONE && t->went_to == e->selected &&
                 e->selected_pane == t->of.pane && explore_table_chosen(t) == at;
    t->seek = (struct weft_stats_seek){
        .row = at, .before = again ? t->went_to : WEFT_NONE, .best = WEFT_NONE};
    if (seek(e) && t->of.model->promises < SAMPLES)
        seek(e);
    e->changed |= WEFT_CHANGED_TABLE;
    return true;
}

void weft_explorer_table_brush(struct weft_explorer *e, uint32_t first, uint32_t last)
{
    const struct weft_table_view *v = weft_explorer_table(e);
    char query[EXPLORE_QUERY_BYTES + 1] = "", word[80];
    size_t used = 0;
    if (first > last) {
        uint32_t other = first;
        first = last;
        last = other;
    }
    if (last >= v->bars)
        return;
    for (const char *at = e->query; *at;) { /* without the lengths of an earlier one */
        size_t size = strcspn(at, " ");
        bool quoted = memchr(at, '"', size) != NULL;
        if (quoted) /* up to its end; the rest may hold anything */
            size = strlen(at);
        if (size && (quoted || (*at != '>' && *at != '<')) && used + size + 1 < sizeof query) {
            used += (size_t)snprintf(query + used, sizeof query - used, "%s%.*s", used ? " " : "",
                                     (int)size, at);
        }
        at += size;
        at += strspn(at, " ");
    }
    int n = snprintf(word, sizeof word, "%s>%" PRId64 "ns <%" PRId64 "ns", used ? " " : "",
                     v->bar[first].from_ns - 1, v->bar[last].to_ns);
    if (v->bar[first].from_ns == 0)
        n = snprintf(word, sizeof word, "%s<%" PRId64 "ns", used ? " " : "", v->bar[last].to_ns);
    if (used + (size_t)n < sizeof query)
        memcpy(query + used, word, (size_t)n + 1);
    weft_explorer_search(e, query);
}

bool weft_explorer_table_pin(struct weft_explorer *e)
{
    struct explore_table *t = table_of(e);
    if (!t || (t->pinned == WEFT_NONE && e->selected == WEFT_NONE))
        return false;
    bool pinned = t->pinned != WEFT_NONE;
    t->pinned = pinned ? WEFT_NONE : e->selected;
    t->pinned_pane = pinned ? 0 : e->selected_pane;
    t->view.open = true;
    changed(e);
    return true;
}

bool explore_table_command(struct weft_explorer *e, enum weft_command command)
{
    if (command == WEFT_COMMAND_TABLE_PIN)
        return weft_explorer_table_pin(e);
    const struct weft_table_view *v = weft_explorer_table(e);
    weft_explorer_table_show(e, v->open    ? WEFT_TABLES
                                : e->table ? e->table->view.by
                                           : WEFT_TABLE_FAMILY);
    return true;
}

/* ---- In places ---- */

struct explore_table_place explore_table_place(const struct weft_explorer *e)
{
    const struct explore_table *t = e->table;
    struct explore_table_place p = {.kind = WEFT_NONE, .pinned = WEFT_NONE};
    if (!t || !t->view.open)
        return p;
    p.by = weft_table_names[t->view.by];
    p.sort = column_names[t->view.sort];
    p.is_default = t->view.sort == WEFT_TABLE_TOTAL && !t->view.ascending;
    p.ascending = t->view.ascending;
    p.kind = t->kind;
    p.pane = t->kind_pane;
    p.pinned = t->pinned;
    p.pinned_pane = t->pinned_pane;
    return p;
}

/* The place of a text in a list of names, or `count`. */
static unsigned find_name(const char *const *names, unsigned count, const char *text)
{
    unsigned i = 0;
    while (i < count && strcmp(names[i], text) != 0)
        i++;
    return i;
}

bool explore_table_go(struct weft_explorer *e, const struct explore_table_place *p)
{
    if (!p->by && !e->table)
        return true;
    struct explore_table *t = table_of(e);
    if (!t)
        return false;
    unsigned by = p->by ? find_name(weft_table_names, WEFT_TABLES, p->by) : WEFT_TABLES;
    unsigned sort =
        p->sort ? find_name(column_names, WEFT_TABLE_COLUMNS, p->sort) : WEFT_TABLE_TOTAL;
    drop_work(t);
    t->view.open = by < WEFT_TABLES;
    if (t->view.open)
        t->view.by = by;
    t->view.sort = sort < WEFT_TABLE_COLUMNS ? sort : WEFT_TABLE_TOTAL;
    t->view.ascending = p->ascending;
    t->kind = p->kind;
    t->kind_pane = p->pane;
    t->pinned = p->pinned;
    t->pinned_pane = p->pinned_pane;
    t->went_to = WEFT_NONE;
    changed(e);
    return (!p->by || by < WEFT_TABLES) && sort < WEFT_TABLE_COLUMNS;
}

bool explore_table_is_family(const struct weft_explorer *e)
{
    return e->table && e->table->view.open && e->table->view.by == WEFT_TABLE_FAMILY;
}
