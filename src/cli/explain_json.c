/* SPDX-License-Identifier: ISC */
#include "cli/common.h"
#include "cli/explain.h"
#include "cli/trace_json.h"

static json_t *type_json(const struct weft_model *m, uint32_t promise)
{
    return weft__json_string(promise == WEFT_ROOT ? "loop" : weft_model_type(m, promise));
}

static json_t *evidence_json(const struct weft_model *m, const struct weft_evidence *e)
{
    return json_pack("{sI ss so so so}", "time_ns", (json_int_t)e->time_ns, "event",
                     weft_evidence_name(e->event), "promise", weft__json_id(m, e->promise), "other",
                     weft__json_id(m, e->other), "label", weft__json_label(m, e->promise));
}

static json_t *finding_json(const struct weft_model *m, const struct weft_finding *f)
{
    json_t *evidence = json_array(), *affected = json_array();
    for (uint32_t i = 0; i < f->evidences; i++)
        json_array_append_new(evidence, evidence_json(m, &f->evidence[i]));
    for (uint32_t i = 0; i < f->affecteds; i++)
        json_array_append_new(affected,
                              json_pack("{so so so}", "promise", weft__json_id(m, f->affected[i]),
                                        "label", weft__json_label(m, f->affected[i]), "type",
                                        type_json(m, f->affected[i])));
    json_t *o = json_pack("{ss ss so so so ss}", "name", weft_finding_name(f->kind), "confidence",
                          weft_confidence_name(f->confidence), "promise",
                          weft__json_id(m, f->promise), "label", weft__json_label(m, f->promise),
                          "type", type_json(m, f->promise), "text", f->text ? f->text : "");
    json_object_set_new(o, "start_ns", json_integer(f->start_ns));
    json_object_set_new(o, "end_ns", json_integer(f->end_ns));
    json_object_set_new(o, "cost_ns", json_integer(f->cost_ns));
    json_object_set_new(o, "count", json_integer((json_int_t)f->count));
    json_object_set_new(o, "evidence", evidence);
    json_object_set_new(o, "affected", affected);
    json_object_set_new(o, "affected_total", json_integer((json_int_t)f->affected_total));
    json_object_set_new(o, "doubt", f->doubt ? json_string(f->doubt) : json_null());
    json_object_set_new(o, "hint", json_string(weft_finding_hint(f->kind)));
    return o;
}

static json_t *cause_json(const struct weft_model *m, const struct weft_slow_cause *c)
{
    json_t *o = json_pack("{ss sI}", "kind", weft_slow_cause_name(c), "total_ns",
                          (json_int_t)c->share.total_ns);
    bool named = c->share.promise != WEFT_NONE;
    json_object_set_new(o, "promise", weft__json_id(m, c->share.promise));
    json_object_set_new(o, "type", named ? type_json(m, c->share.promise) : json_null());
    json_object_set_new(o, "name", c->name ? json_string(c->name) : json_null());
    json_object_set_new(o, "held_by", c->holder_name ? json_string(c->holder_name) : json_null());
    return o;
}

static json_t *slow_json(const struct weft_model *m, const struct weft_slow *slow)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < slow->count; i++) {
        const struct weft_slow_sort *s = &slow->sort[i];
        json_t *o = json_pack(
            "{ss so so so ss}", "name", s->name, "promise", weft__json_id(m, s->slowest), "label",
            weft__json_label(m, s->slowest), "type", type_json(m, s->slowest), "text", s->text);
        json_object_set_new(o, "count", json_integer(s->count));
        json_object_set_new(o, "looked_at", json_integer(s->looked));
        json_object_set_new(o, "all_alike", json_boolean(s->all));
        json_object_set_new(o, "slow_ns", json_integer(s->slow_ns));
        json_object_set_new(o, "median_ns", json_integer(s->median_ns));
        json_object_set_new(o, "total_ns", json_integer(s->total_ns));
        json_object_set_new(o, "cause", cause_json(m, &s->cause));
        json_array_append_new(list, o);
    }
    return list;
}

/* When the recording was off, the last time. */
static json_t *pause_json(const struct weft_model *m)
{
    if (m->resumed_ns == WEFT_TIME_MIN)
        return json_null();
    return json_pack("{sI so}", "from_ns", (json_int_t)m->paused_ns, "to_ns",
                     m->resumed_ns == WEFT_TIME_MAX ? json_null() : json_integer(m->resumed_ns));
}

json_t *weft__explained_json(const struct weft__explained *x)
{
    const struct weft_model *m = x->model;
    json_t *findings = json_array(), *kinds = json_array();
    for (uint32_t i = 0; i < x->found.count; i++)
        if (x->shown[i])
            json_array_append_new(findings, finding_json(m, &x->found.finding[i]));
    for (unsigned k = 0; k < WEFT_FINDING_KINDS; k++)
        if (!(x->ignored >> k & 1))
            json_array_append_new(kinds, json_string(weft_finding_name(k)));
    json_t *o = json_pack("{ss so so}", "file", weft__shown(x->path).text, "findings", findings,
                          "looked_for", kinds);
    json_object_set_new(o, "not_shown",
                        json_pack("{sI sI sI}", "less_confident", (json_int_t)x->below, "accepted",
                                  (json_int_t)x->accepted, "left_out",
                                  (json_int_t)x->found.left_out));
    json_object_set_new(o, "slow", slow_json(m, &x->slow));
    json_object_set_new(o, "times", json_string(x->history->preemption_first ? "core" : "clock"));
    json_object_set_new(o, "nothing_recorded", json_boolean(weft_model_is_empty(m)));
    json_object_set_new(o, "events_total", json_integer((json_int_t)m->events_total));
    json_object_set_new(o, "promises", json_integer((json_int_t)m->promises - 1));
    json_object_set_new(o, "span_ns", json_integer(m->end_ns));
    json_object_set_new(o, "ended", json_string(weft_ended_name(m->ended)));
    weft__json_exit(o, &m->exit);
    json_object_set_new(o, "overwritten", json_boolean(m->losses.overwritten));
    json_object_set_new(o, "pending_known", json_boolean(!m->losses.pending));
    json_object_set_new(o, "paused", pause_json(m));
    json_object_set_new(o, "missing", json_integer((json_int_t)m->losses.discarded));
    return o;
}
