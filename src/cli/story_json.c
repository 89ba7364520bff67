/* SPDX-License-Identifier: ISC */
/* The story of a promise for programs. docs/man/weft-explain.1.md says what is in it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/path.h"
#include "cli/story.h"
#include "cli/trace_json.h"

/* ---- Paths ---- */

static json_t *steps_json(const struct weft_model *m, const struct weft_path *p)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < p->count; i++) {
        const struct weft_step *s = &p->step[i];
        json_t *o = cli_json_promise(m, s->promise);
        CLI_SET(o, "from_ns", s->from_ns, "to_ns", s->to_ns, "kind", weft_step_name(s->kind),
                "behind", cli_json_id(m, s->behind));
        cli_json_append(out, o);
    }
    return out;
}

static json_t *shares_json(const struct weft_model *m, const struct weft_share *share, uint32_t n)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *o = cli_json_promise(m, share[i].promise);
        CLI_SET(o, "kind", weft_step_name(share[i].kind), "total_ns", share[i].total_ns, "steps",
                share[i].steps);
        cli_json_append(out, o);
    }
    return out;
}

/* NULL: no memory. */
static json_t *path_json(const struct weft_history *h, uint32_t promise)
{
    struct weft_path path = {0};
    uint32_t count;
    json_t *out = NULL;
    if (weft_path_find(&path, h, promise) < 0)
        return NULL;
    struct weft_share *share = weft_path_shares(&path, h->m, &count);
    if (share || path.count == 0)
        out = CLI_OBJECT("shares", shares_json(h->m, share, count), "steps",
                         steps_json(h->m, &path), "pending", path.pending, "cut", path.cut);
    free(share);
    weft_path_fini(&path);
    return out;
}

/* ---- One promise ---- */

static json_t *waits_json(const struct weft_history *h, const struct weft_story_wait *list,
                          uint32_t count, bool readers)
{
    static const char *const ends[] = {[WEFT_WAIT_OPEN] = "open",
                                       [WEFT_WAIT_READ] = "read",
                                       [WEFT_WAIT_RAN] = "ran",
                                       [WEFT_WAIT_ENDED] = "ended",
                                       [WEFT_WAIT_LEFT] = "left"};
    json_t *out = json_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct weft_wait *w = &h->wait[list[i].wait];
        json_t *o = cli_json_promise(h->m, readers ? w->reader : w->source);
        CLI_SET(o, "from_ns", w->from_ns, "until_ns", w->until_ns, "there_ns",
                list[i].there_ns == INT64_MAX ? json_null() : json_integer(list[i].there_ns), "by", cli_json_id(h->m, list[i].waker),
                "end", ends[w->end]);
        cli_json_append(out, o);
    }
    return out;
}

/* The latest things that the promise held, or that held it. */
static json_t *holds_json(const struct weft_history *h, const uint32_t *list, uint32_t count,
                          bool holders)
{
    json_t *out = json_array();
    for (uint32_t i = count > WEFT_STORY_KEPT ? count - WEFT_STORY_KEPT : 0; i < count; i++) {
        const struct weft_hold *x = &h->m->hold[list[i]];
        json_t *o = cli_json_promise(h->m, holders ? x->holder : x->resource);
        CLI_SET(o, "from_ns", x->from_ns, "to_ns", x->to_ns, "released_by",
                cli_json_id(h->m, x->released_by));
        cli_json_append(out, o);
    }
    return out;
}

static json_t *runs_json(const struct weft_history *h, const struct weft_story *s)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < s->kept_runs; i++) {
        const struct weft_run *r = &h->m->run[s->run[i].run];
        cli_json_append(out, CLI_OBJECT("from_ns", r->start_ns, "to_ns", r->end_ns, "because",
                                        cli_json_id(h->m, s->run[i].because), "ready_ns",
                                        s->run[i].ready_ns, "stream",
                                        (int)weft_history_stream(h, s->run[i].run)));
    }
    return out;
}

static json_t *labels_json(const struct weft_model *m, uint32_t promise)
{
    enum { MAX = 1000 };
    json_t *out = json_array();
    uint32_t n = 0;
    for (uint32_t i = m->promise[promise].first_label; i != WEFT_NONE && n < MAX;
         i = m->label[i].next) {
        if (m->label[i].is_change)
            continue;
        cli_json_append(out, CLI_OBJECT("time_ns", m->label[i].time_ns, "text",
                                        cli_json_model_text(m, m->label[i].what)));
        n++;
    }
    return out;
}

static json_t *origin_json(const struct weft_model *m, uint32_t promise)
{
    uint32_t origin = weft_model_origin(m, promise);
    if (origin == WEFT_NONE)
        return json_null();
    return CLI_OBJECT("file", cli_json_model_text(m, m->origin[origin].file), "line",
                      m->origin[origin].line);
}

static void add_beginning(json_t *o, const struct weft_model *m, const struct weft_story *s)
{
    const struct weft_promise *p = &m->promise[s->promise];
    json_t *creators = json_array();
    for (uint32_t i = 0; i < s->creators; i++)
        cli_json_append(creators, cli_json_promise(m, s->creator[i]));
    CLI_SET(o, "created", (bool)p->created, "start_ns", s->start_ns, "end_ns", s->end_ns, "outcome",
            weft_outcome_name(m->promise[s->final].outcome), "background", (bool)p->background,
            "should_resolve", (bool)p->should_resolve, "became",
            p->becomes == WEFT_NONE ? json_null() : cli_json_id(m, s->final), "became_ns",
            p->becomes == WEFT_NONE ? json_null() : json_integer(p->end_ns), "resolver",
            cli_json_id(m, s->resolver), "ended_again", cli_json_again(m, s->final), "reason",
            cli_json_model_text(m, weft_model_reason(m, s->final)), "creators", creators, "origin",
            origin_json(m, s->promise), "labels", labels_json(m, s->promise));
}

/* NULL: no memory. */
static json_t *story_json(const struct weft_history *h, uint32_t promise)
{
    struct weft_story s;
    json_t *path = path_json(h, promise);
    if (!path || weft_story_find(&s, h, promise) < 0) {
        json_decref(path);
        return NULL;
    }
    json_t *o = cli_json_promise(h->m, promise);
    add_beginning(o, h->m, &s);
    CLI_SET(o, "waiting_ns", s.spent.waiting_ns, "blocked_ns", s.spent.blocked_ns, "ready_ns",
            s.spent.ready_ns, "running_ns", s.spent.running_ns, "collecting_ns",
            s.spent.collecting_ns, "longest_run_ns", s.longest_run_ns, "waits", s.waits,
            "waits_open", s.waits_open, "waited_for", waits_json(h, s.wait, s.kept_waits, false),
            "readers", s.readers, "readers_open", s.readers_open, "waited_for_by",
            waits_json(h, s.reader, s.kept_readers, true));
    const uint32_t *of = h->holds_of_first + promise, *by = h->holds_for_first + promise;
    CLI_SET(o, "holds", (uint64_t)(of[1] - of[0]), "held",
            holds_json(h, h->holds_of + of[0], of[1] - of[0], false), "holders",
            (uint64_t)(by[1] - by[0]), "held_by",
            holds_json(h, h->holds_for + by[0], by[1] - by[0], true), "runs", s.runs,
            "longest_runs", runs_json(h, &s), "path", path);
    return o;
}

int cli_story_json(const struct weft_history *h, uint32_t promise)
{
    return cli_json_print(story_json(h, promise)) ? 0 : WEFT_E_NOMEM;
}

/* ---- Many promises ---- */

static json_t *crowd_shares(const struct weft_model *m, const struct cli_crowd_told *told)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < told->crowd.shares; i++) {
        const struct weft_crowd_share *s = &told->crowd.share[i];
        json_t *o = cli_json_promise(m, s->promise);
        struct analyse_text t = {0};
        if (s->family != WEFT_NONE)
            analyse_put_family(&t, m, told->families, s->family);
        CLI_SET(o, "kind", weft_step_name(s->kind), "name", t.text, "total_ns", s->total_ns,
                "steps", s->steps);
        cli_json_append(out, o);
        analyse_text_fini(&t);
    }
    return out;
}

static json_t *latency_json(const struct weft_crowd *c)
{
    if (c->members == 0)
        return json_null();
    return CLI_OBJECT("count", c->members, "min_ns", c->member[0].ns, "p50_ns",
                      weft_crowd_percentile(c, 50), "p90_ns", weft_crowd_percentile(c, 90),
                      "p99_ns", weft_crowd_percentile(c, 99), "max_ns",
                      c->member[c->members - 1].ns);
}

/* How many took at least 2^i ns and less than twice that; the first includes 0. Empty ones are left out. */
static json_t *histogram_json(const struct weft_crowd *c)
{
    json_t *out = json_array();
    for (uint32_t i = 0, next; i < c->members; i = next) {
        int64_t from = 1;
        while (c->member[i].ns >> 1 >= from)
            from *= 2;
        for (next = i; next < c->members && c->member[next].ns / 2 < from; next++)
            ;
        cli_json_append(out, CLI_OBJECT("from_ns", (from == 1 ? 0 : from), "to_ns",
                                        (from > INT64_MAX / 2 ? INT64_MAX : 2 * from), "count",
                                        (uint64_t)(next - i)));
    }
    return out;
}

int cli_crowd_json(const struct weft_history *h, const struct cli_crowd_told *told)
{
    const struct weft_crowd *c = &told->crowd;
    uint32_t slowest[CLI_SLOWEST], n = cli_story_slowest(told, slowest);
    json_t *outcomes = json_object(), *stories = json_array(), *o = json_object();
    bool ok = true;
    for (unsigned i = 0; i < WEFT_OUTCOME_COUNT; i++)
        if (i != WEFT_BECAME)
            json_object_set_new(outcomes, weft_outcome_name(i), cli_json_number(c->outcomes[i]));
    for (uint32_t i = 0; i < n && ok; i++) {
        json_t *story = story_json(h, slowest[i]);
        ok = story && cli_json_append(stories, story);
    }
    CLI_SET(o, "which", cli_json_text(told->which, strlen(told->which)), "count", c->count,
            "preexisting", c->preexisting, "outcomes", outcomes, "oldest_pending",
            cli_json_id(h->m, c->oldest_pending), "latency", latency_json(c), "histogram",
            histogram_json(c), "sampled", c->sampled, "sampled_ns", c->sampled_ns, "shares",
            crowd_shares(h->m, told), "slowest", stories);
    if (!ok) {
        json_decref(o);
        return WEFT_E_NOMEM;
    }
    return cli_json_print(o) ? 0 : WEFT_E_NOMEM;
}
