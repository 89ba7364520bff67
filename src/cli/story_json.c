/* SPDX-License-Identifier: ISC */
/* The story of a promise for programs. docs/man/weft-explain.1.md says what is in it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/path.h"
#include "cli/story.h"
#include "cli/trace_json.h"

static json_t *time_json(int64_t ns, int64_t none)
{
    return ns == none ? json_null() : json_integer(ns);
}

/* {"promise", "label", "type"}; the loop is -1. */
static json_t *named(const struct weft_model *m, uint32_t promise)
{
    json_t *out = json_object();
    const char *type =
        promise == WEFT_NONE || promise == WEFT_ROOT ? "" : weft_model_type(m, promise);
    bool has = promise != WEFT_NONE && promise != WEFT_ROOT;
    json_object_set_new(out, "promise", weft__json_id(m, promise));
    json_object_set_new(out, "label", weft__json_label(m, promise));
    json_object_set_new(out, "type", has ? weft__json_text(type, strlen(type)) : json_null());
    return out;
}

/* ---- Paths ---- */

static json_t *steps_json(const struct weft_model *m, const struct weft_path *p)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < p->count; i++) {
        const struct weft_step *s = &p->step[i];
        json_t *o = named(m, s->promise);
        json_object_set_new(o, "from_ns", json_integer(s->from_ns));
        json_object_set_new(o, "to_ns", json_integer(s->to_ns));
        json_object_set_new(o, "kind", json_string(weft_step_name(s->kind)));
        json_object_set_new(o, "behind", weft__json_id(m, s->behind));
        json_array_append_new(out, o);
    }
    return out;
}

static json_t *shares_json(const struct weft_model *m, const struct weft_share *share, uint32_t n)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *o = named(m, share[i].promise);
        json_object_set_new(o, "kind", json_string(weft_step_name(share[i].kind)));
        json_object_set_new(o, "total_ns", json_integer(share[i].total_ns));
        json_object_set_new(o, "steps", weft__json_number(share[i].steps));
        json_array_append_new(out, o);
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
        out =
            json_pack("{so so sb sb}", "shares", shares_json(h->m, share, count), "steps",
                      steps_json(h->m, &path), "pending", (int)path.pending, "cut", (int)path.cut);
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
        json_t *o = named(h->m, readers ? w->reader : w->source);
        json_object_set_new(o, "from_ns", json_integer(w->from_ns));
        json_object_set_new(o, "until_ns", json_integer(w->until_ns));
        json_object_set_new(o, "there_ns", time_json(list[i].there_ns, INT64_MAX));
        json_object_set_new(o, "by", weft__json_id(h->m, list[i].waker));
        json_object_set_new(o, "end", json_string(ends[w->end]));
        json_array_append_new(out, o);
    }
    return out;
}

/* The newest of what the promise held, or of who held it. */
static json_t *holds_json(const struct weft_history *h, const uint32_t *list, uint32_t count,
                          bool holders)
{
    json_t *out = json_array();
    for (uint32_t i = count > WEFT_STORY_KEPT ? count - WEFT_STORY_KEPT : 0; i < count; i++) {
        const struct weft_hold *x = &h->m->hold[list[i]];
        json_t *o = named(h->m, holders ? x->holder : x->resource);
        json_object_set_new(o, "from_ns", json_integer(x->from_ns));
        json_object_set_new(o, "to_ns", json_integer(x->to_ns));
        json_object_set_new(o, "released_by", weft__json_id(h->m, x->released_by));
        json_array_append_new(out, o);
    }
    return out;
}

static json_t *runs_json(const struct weft_history *h, const struct weft_story *s)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < s->kept_runs; i++) {
        const struct weft_run *r = &h->m->run[s->run[i].run];
        json_array_append_new(out, json_pack("{sI sI so sI si}", "from_ns", (json_int_t)r->start_ns,
                                             "to_ns", (json_int_t)r->end_ns, "because",
                                             weft__json_id(h->m, s->run[i].because), "ready_ns",
                                             (json_int_t)s->run[i].ready_ns, "stream",
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
        json_array_append_new(out, json_pack("{sI so}", "time_ns", (json_int_t)m->label[i].time_ns,
                                             "text", weft__json_model_text(m, m->label[i].what)));
        n++;
    }
    return out;
}

static json_t *origin_json(const struct weft_model *m, uint32_t promise)
{
    uint32_t origin = weft_model_origin(m, promise);
    if (origin == WEFT_NONE)
        return json_null();
    return json_pack("{so so}", "file", weft__json_model_text(m, m->origin[origin].file), "line",
                     weft__json_number(m->origin[origin].line));
}

static void add_beginning(json_t *o, const struct weft_model *m, const struct weft_story *s)
{
    const struct weft_promise *p = &m->promise[s->promise];
    json_t *creators = json_array();
    for (uint32_t i = 0; i < s->creators; i++)
        json_array_append_new(creators, named(m, s->creator[i]));
    json_object_set_new(o, "created", json_boolean(p->created));
    json_object_set_new(o, "start_ns", json_integer(s->start_ns));
    json_object_set_new(o, "end_ns", json_integer(s->end_ns));
    json_object_set_new(o, "outcome", json_string(weft_outcome_name(m->promise[s->final].outcome)));
    json_object_set_new(o, "background", json_boolean(p->background));
    json_object_set_new(o, "should_resolve", json_boolean(p->should_resolve));
    json_object_set_new(o, "became",
                        p->becomes == WEFT_NONE ? json_null() : weft__json_id(m, s->final));
    json_object_set_new(o, "became_ns",
                        p->becomes == WEFT_NONE ? json_null() : json_integer(p->end_ns));
    json_object_set_new(o, "resolver", weft__json_id(m, s->resolver));
    json_object_set_new(o, "ended_again", weft__json_again(m, s->final));
    json_object_set_new(o, "reason", weft__json_model_text(m, weft_model_reason(m, s->final)));
    json_object_set_new(o, "creators", creators);
    json_object_set_new(o, "origin", origin_json(m, s->promise));
    json_object_set_new(o, "labels", labels_json(m, s->promise));
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
    json_t *o = named(h->m, promise);
    add_beginning(o, h->m, &s);
    json_object_set_new(o, "waiting_ns", json_integer(s.spent.waiting_ns));
    json_object_set_new(o, "blocked_ns", json_integer(s.spent.blocked_ns));
    json_object_set_new(o, "ready_ns", json_integer(s.spent.ready_ns));
    json_object_set_new(o, "running_ns", json_integer(s.spent.running_ns));
    json_object_set_new(o, "collecting_ns", json_integer(s.spent.collecting_ns));
    json_object_set_new(o, "longest_run_ns", json_integer(s.longest_run_ns));
    json_object_set_new(o, "waits", weft__json_number(s.waits));
    json_object_set_new(o, "waits_open", weft__json_number(s.waits_open));
    json_object_set_new(o, "waited_for", waits_json(h, s.wait, s.kept_waits, false));
    json_object_set_new(o, "readers", weft__json_number(s.readers));
    json_object_set_new(o, "readers_open", weft__json_number(s.readers_open));
    json_object_set_new(o, "waited_for_by", waits_json(h, s.reader, s.kept_readers, true));
    const uint32_t *of = h->holds_of_first + promise, *by = h->holds_for_first + promise;
    json_object_set_new(o, "holds", weft__json_number(of[1] - of[0]));
    json_object_set_new(o, "held", holds_json(h, h->holds_of + of[0], of[1] - of[0], false));
    json_object_set_new(o, "holders", weft__json_number(by[1] - by[0]));
    json_object_set_new(o, "held_by", holds_json(h, h->holds_for + by[0], by[1] - by[0], true));
    json_object_set_new(o, "runs", weft__json_number(s.runs));
    json_object_set_new(o, "longest_runs", runs_json(h, &s));
    json_object_set_new(o, "path", path);
    return o;
}

/* Prints it, and releases it. */
static int print(json_t *o)
{
    bool ok = weft__json_write(o, JSON_INDENT(2));
    if (o)
        putchar('\n');
    json_decref(o);
    return ok || ferror(stdout) ? 0 : WEFT_E_NOMEM;
}

int weft__story_json(const struct weft_history *h, uint32_t promise)
{
    return print(story_json(h, promise));
}

/* ---- Many promises ---- */

static json_t *crowd_shares(const struct weft_model *m, const struct weft__crowd_told *told)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < told->crowd.shares; i++) {
        const struct weft_crowd_share *s = &told->crowd.share[i];
        json_t *o = named(m, s->promise);
        struct weft__text t = {0};
        if (s->family != WEFT_NONE)
            weft__put_family(&t, m, told->families, s->family);
        json_object_set_new(o, "kind", json_string(weft_step_name(s->kind)));
        json_object_set_new(o, "name", weft__json_string(t.text));
        json_object_set_new(o, "total_ns", json_integer(s->total_ns));
        json_object_set_new(o, "steps", weft__json_number(s->steps));
        json_array_append_new(out, o);
        weft__text_fini(&t);
    }
    return out;
}

static json_t *latency_json(const struct weft_crowd *c)
{
    if (c->members == 0)
        return json_null();
    return json_pack("{so sI sI sI sI sI}", "count", weft__json_number(c->members), "min_ns",
                     (json_int_t)c->member[0].ns, "p50_ns",
                     (json_int_t)weft_crowd_percentile(c, 50), "p90_ns",
                     (json_int_t)weft_crowd_percentile(c, 90), "p99_ns",
                     (json_int_t)weft_crowd_percentile(c, 99), "max_ns",
                     (json_int_t)c->member[c->members - 1].ns);
}

/* How many took from 2^i ns on, below twice that; the first also 0. Those that are empty are left out. */
static json_t *histogram_json(const struct weft_crowd *c)
{
    json_t *out = json_array();
    for (uint32_t i = 0, next; i < c->members; i = next) {
        int64_t from = 1;
        while (c->member[i].ns >> 1 >= from)
            from *= 2;
        for (next = i; next < c->members && c->member[next].ns / 2 < from; next++)
            ;
        json_array_append_new(
            out, json_pack("{sI sI so}", "from_ns", (json_int_t)(from == 1 ? 0 : from), "to_ns",
                           (json_int_t)(from > INT64_MAX / 2 ? INT64_MAX : 2 * from), "count",
                           weft__json_number(next - i)));
    }
    return out;
}

int weft__crowd_json(const struct weft_history *h, const struct weft__crowd_told *told)
{
    const struct weft_crowd *c = &told->crowd;
    uint32_t slowest[WEFT__SLOWEST], n = weft__story_slowest(told, slowest);
    json_t *outcomes = json_object(), *stories = json_array(), *o = json_object();
    bool ok = true;
    for (unsigned i = 0; i < WEFT_OUTCOME_COUNT; i++)
        if (i != WEFT_BECAME)
            json_object_set_new(outcomes, weft_outcome_name(i), weft__json_number(c->outcomes[i]));
    for (uint32_t i = 0; i < n && ok; i++) {
        json_t *story = story_json(h, slowest[i]);
        ok = story && json_array_append_new(stories, story) == 0;
    }
    json_object_set_new(o, "which", weft__json_text(told->which, strlen(told->which)));
    json_object_set_new(o, "count", weft__json_number(c->count));
    json_object_set_new(o, "preexisting", weft__json_number(c->preexisting));
    json_object_set_new(o, "outcomes", outcomes);
    json_object_set_new(o, "oldest_pending", weft__json_id(h->m, c->oldest_pending));
    json_object_set_new(o, "latency", latency_json(c));
    json_object_set_new(o, "histogram", histogram_json(c));
    json_object_set_new(o, "sampled", weft__json_number(c->sampled));
    json_object_set_new(o, "sampled_ns", json_integer(c->sampled_ns));
    json_object_set_new(o, "shares", crowd_shares(h->m, told));
    json_object_set_new(o, "slowest", stories);
    if (!ok) {
        json_decref(o);
        return WEFT_E_NOMEM;
    }
    return print(o);
}
