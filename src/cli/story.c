/* SPDX-License-Identifier: ISC */
/* weft explain --promise, and the story for programs. docs/man/weft-explain.1.md says what is in it. */
#include <jansson.h>
#include <stdlib.h>

#include "cli/common.h"
#include "cli/explain.h"
#include "cli/hot.h"
#include "cli/report.h"
#include "cli/trace_json.h"
#include "model/traced.h"

/* ---- Paths ---- */

static json_t *step_json(const struct weft_model *m, const struct weft_step *s)
{
    return CLI_OBJECT(CLI_PROMISE(m, s->promise), CLI_FIELDS(s, from_ns, to_ns), "kind",
                      weft_step_name(s->kind), "behind", cli_json_id(m, s->behind));
}

static json_t *share_json(const struct weft_model *m, const struct weft_share *s)
{
    return CLI_OBJECT(CLI_PROMISE(m, s->promise), "kind", weft_step_name(s->kind),
                      CLI_FIELDS(s, total_ns, steps));
}

static json_t *path_json(const struct weft_history *h, uint32_t promise)
{
    struct weft_path path = {0};
    uint32_t count;
    json_t *out = NULL;
    if (weft_path_find(&path, h, promise) < 0)
        return NULL;
    struct weft_share *share = weft_path_shares(&path, h->m, &count);
    if (share || path.count == 0)
        out = CLI_OBJECT("shares", CLI_LIST(i, count, share_json(h->m, &share[i])), "steps",
                         CLI_LIST(i, path.count, step_json(h->m, &path.step[i])),
                         CLI_FIELDS(&path, pending, cut));
    free(share);
    weft_path_fini(&path);
    return out;
}

/* ---- One promise ---- */

static json_t *wait_json(const struct weft_history *h, const struct weft_story_wait *s, bool reader)
{
    static const char *const ends[] = {[WEFT_WAIT_OPEN] = "open",
                                       [WEFT_WAIT_READ] = "read",
                                       [WEFT_WAIT_RAN] = "ran",
                                       [WEFT_WAIT_ENDED] = "ended",
                                       [WEFT_WAIT_LEFT] = "left"};
    const struct weft_wait *w = &h->wait[s->wait];
    const uint32_t p = reader ? w->reader : w->source;
    return CLI_OBJECT(CLI_PROMISE(h->m, p), CLI_FIELDS(w, from_ns, until_ns), "there_ns",
                      s->there_ns == INT64_MAX ? INT64_MIN : s->there_ns, "by",
                      cli_json_id(h->m, s->waker), "end", ends[w->end]);
}

static json_t *hold_json(const struct weft_model *m, const struct weft_hold *x, bool holder)
{
    const uint32_t p = holder ? x->holder : x->resource;
    return CLI_OBJECT(CLI_PROMISE(m, p), CLI_FIELDS(x, from_ns, to_ns), "released_by",
                      cli_json_id(m, x->released_by));
}

/* The latest things that the promise held, or that held it. */
static json_t *holds_json(const struct weft_model *m, const uint32_t *list, uint32_t count,
                          bool holders)
{
    const uint32_t kept = count < WEFT_STORY_KEPT ? count : WEFT_STORY_KEPT;
    return CLI_LIST(i, kept, hold_json(m, &m->hold[list[count - kept + i]], holders));
}

static json_t *run_json(const struct weft_history *h, uint32_t run, uint32_t because,
                        int64_t ready_ns)
{
    const struct weft_run *r = &h->m->run[run];
    return CLI_OBJECT("from_ns", r->start_ns, "to_ns", r->end_ns, "because",
                      cli_json_id(h->m, because), "ready_ns", ready_ns, "stream",
                      (int)weft_history_stream(h, run));
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

static json_t *end_json(const struct weft_model *m, const struct weft_interaction *x)
{
    return CLI_OBJECT(CLI_NAMED(m, x->other), "ended_ns", m->promise[x->other].end_ns, "by",
                      cli_json_id(m, x->actor), "by_label", cli_json_label(m, x->actor), "again_ns",
                      x->time_ns);
}

/* Repeated ends of a promise that had already ended. */
static json_t *again_json(const struct weft_model *m, uint32_t promise)
{
    enum { LISTED = 100 };
    uint32_t first[LISTED];
    uint64_t all = weft_ended_again(m, promise, first, LISTED);
    return CLI_OBJECT(
        "count", all, "first",
        CLI_LIST(i, all < LISTED ? all : LISTED, end_json(m, &m->interaction[first[i]])));
}

static json_t *hex_json(const unsigned char *bytes, size_t size)
{
    char text[2 * WEFT_TRACE_ID_BYTES + 1] = "";
    format_hex(text, bytes, size);
    return json_string(text);
}

/* Of the promise itself, or of its nearest creator that has one. */
static json_t *trace_id_json(const struct weft_model *m, uint32_t promise)
{
    const struct weft_traced *t = weft_traced_inherited(m, promise);
    return t ? hex_json(t->ids, WEFT_TRACE_ID_BYTES) : json_null();
}

static json_t *span_id_json(const struct weft_model *m, uint32_t promise,
                            enum weft_traced_kind kind)
{
    const struct weft_traced *t = weft_traced_of(m, promise, kind);
    return t ? hex_json(t->ids + WEFT_TRACE_ID_BYTES, WEFT_SPAN_ID_BYTES) : json_null();
}

static void add_beginning(json_t *o, const struct weft_model *m, const struct weft_story *s)
{
    const struct weft_promise *p = &m->promise[s->promise];
    CLI_SET(o, "created", (bool)p->created, "start_ns", s->start_ns, "end_ns", s->end_ns, "outcome",
            weft_outcome_name(m->promise[s->final].outcome), "background", (bool)p->background,
            "should_resolve", (bool)p->should_resolve, "became",
            p->becomes == WEFT_NONE ? json_null() : cli_json_id(m, s->final), "became_ns",
            p->becomes == WEFT_NONE ? json_null() : json_integer(p->end_ns), "resolver",
            cli_json_id(m, s->resolver), "ended_again", again_json(m, s->final), "reason",
            cli_json_model_text(m, weft_model_reason(m, s->final)), "trace_id",
            trace_id_json(m, s->promise), "span_id", span_id_json(m, s->promise, WEFT_TRACED_SPAN),
            "parent_span_id", span_id_json(m, s->promise, WEFT_TRACED_PARENT), "creators",
            CLI_LIST(i, s->creators, CLI_OBJECT(CLI_PROMISE(m, s->creator[i]))), "origin",
            origin_json(m, s->promise), "labels", labels_json(m, s->promise));
}

/* NULL: no memory. */
static json_t *story_json(const struct weft_history *h, uint32_t promise)
{
    struct weft_story s;
    if (weft_story_find(&s, h, promise) < 0)
        return NULL;
    json_t *o = CLI_OBJECT(CLI_PROMISE(h->m, promise));
    add_beginning(o, h->m, &s);
    CLI_SET(o, CLI_FIELDS(&s.spent, waiting_ns, blocked_ns, ready_ns, running_ns, collecting_ns),
            CLI_FIELDS(&s, longest_run_ns, waits, waits_open), "waited_for",
            CLI_LIST(i, s.kept_waits, wait_json(h, &s.wait[i], false)),
            CLI_FIELDS(&s, readers, readers_open), "waited_for_by",
            CLI_LIST(i, s.kept_readers, wait_json(h, &s.reader[i], true)));
    const uint32_t *of = h->holds_of_first + promise, *by = h->holds_for_first + promise;
    CLI_SET(
        o, "holds", (uint64_t)(of[1] - of[0]), "held",
        holds_json(h->m, h->holds_of + of[0], of[1] - of[0], false), "holders",
        (uint64_t)(by[1] - by[0]), "held_by",
        holds_json(h->m, h->holds_for + by[0], by[1] - by[0], true), "runs", s.runs, "longest_runs",
        CLI_LIST(i, s.kept_runs, run_json(h, s.run[i].run, s.run[i].because, s.run[i].ready_ns)),
        "path", path_json(h, promise));
    return o;
}

/* ---- Many promises ---- */

uint32_t cli_story_slowest(const struct cli_crowd_told *c, uint32_t slowest[CLI_SLOWEST])
{
    uint32_t n = 0;
    while (n < CLI_SLOWEST && n < c->crowd.members) {
        slowest[n] = c->crowd.member[c->crowd.members - 1 - n].promise;
        n++;
    }
    if (n == 0 && c->crowd.oldest_pending != WEFT_NONE)
        slowest[n++] = c->crowd.oldest_pending;
    return n;
}

static json_t *crowd_share_json(const struct weft_model *m, const struct analyse_families *families,
                                const struct weft_crowd_share *s)
{
    struct analyse_text t = {0};
    if (s->family != WEFT_NONE)
        analyse_put_family(&t, m, families, s->family);
    json_t *out = CLI_OBJECT(CLI_PROMISE(m, s->promise), "kind", weft_step_name(s->kind), "name",
                             t.text, CLI_FIELDS(s, total_ns, steps));
    analyse_text_fini(&t);
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

static void crowd_json(const struct weft_history *h, const struct cli_crowd_told *told)
{
    const struct weft_crowd *c = &told->crowd;
    uint32_t slowest[CLI_SLOWEST], n = cli_story_slowest(told, slowest);
    json_t *outcomes = json_object();
    for (unsigned i = 0; i < WEFT_OUTCOME_COUNT; i++)
        if (i != WEFT_BECAME)
            json_object_set_new(outcomes, weft_outcome_name(i), cli_json_number(c->outcomes[i]));
    cli_json_print(CLI_OBJECT(
        "which", told->which, CLI_FIELDS(c, count, preexisting), "outcomes", outcomes,
        "oldest_pending", cli_json_id(h->m, c->oldest_pending), "latency", latency_json(c),
        "histogram",
        cli_json_histogram(c->members ? &c->member->ns : NULL, c->members, sizeof *c->member),
        CLI_FIELDS(c, sampled, sampled_ns), "shares",
        CLI_LIST(i, c->shares, crowd_share_json(h->m, &told->families, &c->share[i])), "slowest",
        CLI_LIST(i, n, story_json(h, slowest[i]))));
}

/* ---- What is told ---- */

static void print_hot(const struct weft_history *h, const struct weft_profile *profile,
                      const struct cli_hot *hot)
{
    struct analyse_text spots = {0};
    if (cli_hot_put(&spots, profile, hot)) {
        putchar('\n');
        cli_wrap_filled("", "", h->m, "Where it used the CPU ({samples} samples): {spots}.",
                        AMOUNT(samples, hot->samples), TEXT(spots, spots.text));
    }
    analyse_text_fini(&spots);
}

static void print_one(const struct weft_history *h, const struct weft_profile *profile,
                      uint32_t promise, bool json)
{
    struct cli_hot hot;
    if (cli_hot_find(&hot, profile, promise, WEFT_TIME_MIN, WEFT_TIME_MAX) < 0)
        cli_lacks_memory();
    if (json) {
        json_t *o = story_json(h, promise);
        if (o)
            CLI_SET(o, "on_cpu", cli_hot_json(profile, &hot));
        cli_json_print(o);
    } else {
        cli_story_text(h, promise);
        print_hot(h, profile, &hot);
    }
}

static void print_crowd(const struct weft_history *h, struct cli_crowd_told *c, bool json)
{
    if (weft_crowd_find(&c->crowd, h, &c->families, c->found.promise, c->found.count) < 0)
        cli_lacks_memory();
    else if (json)
        crowd_json(h, c);
    else
        cli_crowd_text(h, c);
    weft_crowd_fini(&c->crowd);
}

int cli_story_print(const struct weft_history *h, const struct weft_profile *profile,
                    const char *which, bool json)
{
    struct cli_crowd_told told = {.which = which};
    uint64_t id; /* "413" or "#413" */
    const bool numbered = weft_parse_count(which + (*which == '#'), UINT64_MAX - 1, &id);
    const uint32_t number = numbered ? weft_model_find(h->m, id) : WEFT_NONE;
    if (number != WEFT_NONE && number != WEFT_ROOT) {
        print_one(h, profile, number, json);
        return CLI_DONE;
    }
    if (analyse_families_init(&told.families, h->m) < 0) {
        cli_lacks_memory();
        return CLI_FAILED;
    }
    const bool any = cli_which_find(&told.found, h->m, &told.families, which);
    if (any && told.found.count == 1)
        print_one(h, profile, told.found.promise[0], json);
    else if (any)
        print_crowd(h, &told, json);
    free(told.found.promise);
    analyse_families_fini(&told.families);
    return any ? CLI_DONE : CLI_FAILED;
}
