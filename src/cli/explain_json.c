/* SPDX-License-Identifier: ISC */
#include "cli/common.h"
#include "cli/explain.h"
#include "cli/trace_json.h"

static json_t *type_json(const struct weft_model *m, uint32_t promise)
{
    return cli_json_string(promise == WEFT_ROOT ? "loop" : weft_model_type(m, promise));
}

static json_t *evidence_json(const struct weft_model *m, const struct weft_evidence *e)
{
    return CLI_OBJECT("time_ns", e->time_ns, "event", weft_evidence_name(e->event), "promise",
                      cli_json_id(m, e->promise), "other", cli_json_id(m, e->other), "label",
                      cli_json_label(m, e->promise));
}

static json_t *finding_json(const struct weft_model *m, const struct weft_finding *f)
{
    json_t *evidence = json_array(), *affected = json_array();
    for (uint32_t i = 0; i < f->evidences; i++)
        cli_json_append(evidence, evidence_json(m, &f->evidence[i]));
    for (uint32_t i = 0; i < f->affecteds; i++)
        cli_json_append(affected, CLI_OBJECT("promise", cli_json_id(m, f->affected[i]), "label",
                                             cli_json_label(m, f->affected[i]), "type",
                                             type_json(m, f->affected[i])));
    json_t *o = CLI_OBJECT("name", weft_finding_name(f->kind), "confidence",
                           weft_confidence_name(f->confidence), "promise",
                           cli_json_id(m, f->promise), "label", cli_json_label(m, f->promise),
                           "type", type_json(m, f->promise), "text", f->text ? f->text : "");
    CLI_SET(o, "start_ns", f->start_ns, "end_ns", f->end_ns, "cost_ns", f->cost_ns, "count",
            f->count, "evidence", evidence, "affected", affected, "affected_total",
            f->affected_total, "doubt", f->doubt ? json_string(f->doubt) : json_null(), "hint",
            weft_finding_hint(f->kind));
    return o;
}

static json_t *cause_json(const struct weft_model *m, const struct weft_slow_cause *c)
{
    json_t *o = CLI_OBJECT("kind", weft_slow_cause_name(c), "total_ns", c->share.total_ns);
    bool named = c->share.promise != WEFT_NONE;
    CLI_SET(o, "promise", cli_json_id(m, c->share.promise), "type",
            named ? type_json(m, c->share.promise) : json_null(), "name",
            c->name ? json_string(c->name) : json_null(), "held_by",
            c->holder_name ? json_string(c->holder_name) : json_null());
    return o;
}

static json_t *slow_json(const struct weft_model *m, const struct weft_slow *slow)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < slow->count; i++) {
        const struct weft_slow_sort *s = &slow->sort[i];
        json_t *o = CLI_OBJECT("name", s->name, "promise", cli_json_id(m, s->slowest), "label",
                               cli_json_label(m, s->slowest), "type", type_json(m, s->slowest),
                               "text", s->text);
        CLI_SET(o, "count", s->count, "looked_at", s->looked, "all_alike", s->all, "slow_ns",
                s->slow_ns, "median_ns", s->median_ns, "total_ns", s->total_ns, "cause",
                cause_json(m, &s->cause));
        cli_json_append(list, o);
    }
    return list;
}

/* When the recording was off, the last time. */
static json_t *pause_json(const struct weft_model *m)
{
    if (m->resumed_ns == WEFT_TIME_MIN)
        return json_null();
    return CLI_OBJECT("from_ns", m->paused_ns, "to_ns",
                      m->resumed_ns == WEFT_TIME_MAX ? json_null() : json_integer(m->resumed_ns));
}

json_t *cli_explained_json(const struct cli_explained *x)
{
    const struct weft_model *m = x->model;
    json_t *findings = json_array(), *kinds = json_array();
    for (uint32_t i = 0; i < x->found.count; i++)
        if (x->shown[i])
            cli_json_append(findings, finding_json(m, &x->found.finding[i]));
    for (unsigned k = 0; k < WEFT_FINDING_KINDS; k++)
        if (!(x->ignored >> k & 1))
            cli_json_append(kinds, json_string(weft_finding_name(k)));
    json_t *o =
        CLI_OBJECT("file", cli_shown(x->path).text, "findings", findings, "looked_for", kinds);
    CLI_SET(o, "not_shown",
            CLI_OBJECT("less_confident", x->below, "accepted", x->accepted, "left_out",
                       x->found.left_out),
            "slow", slow_json(m, &x->slow), "times",
            x->history->preemption_first ? "core" : "clock", "nothing_recorded",
            (bool)(weft_model_is_empty(m)), "events_total", m->events_total, "promises",
            m->promises - 1, "span_ns", m->end_ns, "ended", weft_ended_name(m->ended));
    cli_json_exit(o, &m->exit);
    CLI_SET(o, "overwritten", m->losses.overwritten, "pending_known", (bool)(!m->losses.pending),
            "paused", pause_json(m), "missing", m->losses.discarded);
    return o;
}
