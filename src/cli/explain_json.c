/* SPDX-License-Identifier: ISC */
#include "cli/common.h"
#include "cli/explain.h"
#include "cli/trace_json.h"

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
        cli_json_append(affected, cli_json_who(m, f->affected[i]));
    return CLI_OBJECT("name", weft_finding_name(f->kind), "confidence",
                      weft_confidence_name(f->confidence), CLI_WHO(m, f->promise), "text",
                      f->text ? f->text : "", CLI_FIELDS(f, start_ns, end_ns, cost_ns, count),
                      "evidence", evidence, "affected", affected,
                      CLI_FIELDS(f, affected_total, doubt), "hint", weft_finding_hint(f->kind));
}

static json_t *cause_json(const struct weft_model *m, const struct weft_slow_cause *c)
{
    const uint32_t promise = c->share.promise;
    return CLI_OBJECT("kind", weft_slow_cause_name(c), "total_ns", c->share.total_ns, "promise",
                      cli_json_id(m, promise), "type",
                      promise == WEFT_NONE ? NULL : cli_json_type(m, promise), "name", c->name,
                      "held_by", c->holder_name);
}

static json_t *slow_json(const struct weft_model *m, const struct weft_slow *slow)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < slow->count; i++) {
        const struct weft_slow_sort *s = &slow->sort[i];
        cli_json_append(list,
                        CLI_OBJECT("name", s->name, CLI_WHO(m, s->slowest),
                                   CLI_FIELDS(s, text, count), "looked_at", s->looked, "all_alike",
                                   s->all, CLI_FIELDS(s, slow_ns, median_ns, total_ns), "cause",
                                   cause_json(m, &s->cause)));
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
