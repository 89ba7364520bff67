/* SPDX-License-Identifier: ISC */
/* weft explain: all findings with the usual thresholds, and where the time of the slowest went. */
#include <stdlib.h>

#include "cli/index/parts.h"

#define FINDING(kind, member) INDEX_FIELD(struct weft_finding, kind, member)
static const struct index_field finding_fields[] = {
    FINDING(U32, kind),           FINDING(U32, confidence),   FINDING(ANY_TIME, start_ns),
    FINDING(ANY_TIME, end_ns),    FINDING(ANY_TIME, cost_ns), FINDING(U64, count),
    FINDING(U64, affected_total),
};

static const struct index_field evidence_fields[] = {
    INDEX_FIELD(struct weft_evidence, TIME, time_ns),
    INDEX_FIELD(struct weft_evidence, U32, event),
};

#define SLOW(kind, member) INDEX_FIELD(struct weft_slow_sort, kind, member)
static const struct index_field sort_fields[] = {
    SLOW(U32, count),        SLOW(U32, looked),           SLOW(FLAG, all),
    SLOW(ANY_TIME, slow_ns), SLOW(ANY_TIME, median_ns),   SLOW(ANY_TIME, total_ns),
    SLOW(FLAG, cause.lock),  SLOW(U32, cause.share.kind), SLOW(ANY_TIME, cause.share.total_ns),
};

/* ---- Writing ---- */

static void name_all(struct index_names *n, const struct cli_explained *x)
{
    for (uint32_t k = 0; k < x->found.count; k++) {
        const struct weft_finding *f = &x->found.finding[k];
        index_name(n, f->promise);
        for (uint32_t i = 0; i < f->evidences; i++) {
            index_name(n, f->evidence[i].promise);
            index_name(n, f->evidence[i].other);
        }
        for (uint32_t i = 0; i < f->affecteds; i++)
            index_name(n, f->affected[i]);
    }
    for (uint32_t k = 0; k < x->slow.count; k++) {
        index_name(n, x->slow.sort[k].slowest);
        index_name(n, x->slow.sort[k].cause.share.promise);
    }
    index_names_sort(n);
}

static json_t *evidence_json(const struct index_names *n, const struct weft_evidence *e)
{
    json_t *one = json_array();
    index_add(&one, index_put(e, evidence_fields));
    index_add(&one, index_ref(n, e->promise));
    index_add(&one, index_ref(n, e->other));
    return one;
}

static json_t *finding_json(const struct index_names *n, const struct weft_finding *f)
{
    json_t *one = json_array(), *evidence = json_array(), *affected = json_array();
    for (uint32_t i = 0; i < f->evidences; i++)
        index_add(&evidence, evidence_json(n, &f->evidence[i]));
    for (uint32_t i = 0; i < f->affecteds; i++)
        index_add(&affected, index_ref(n, f->affected[i]));
    index_add(&one, index_put(f, finding_fields));
    index_add(&one, index_ref(n, f->promise));
    index_add(&one, index_text(f->text));
    index_add(&one, index_text(f->doubt));
    index_add(&one, evidence);
    index_add(&one, affected);
    return one;
}

static json_t *sort_json(const struct index_names *n, const struct weft_slow_sort *s)
{
    json_t *one = json_array();
    index_add(&one, index_put(s, sort_fields));
    index_add(&one, index_ref(n, s->slowest));
    index_add(&one, index_ref(n, s->cause.share.promise));
    index_add(&one, index_text(s->name));
    index_add(&one, index_text(s->text));
    index_add(&one, index_text(s->cause.name));
    index_add(&one, index_text(s->cause.holder_name));
    return one;
}

void cli_index_add_explained(struct cli_index *x, const struct cli_explained *from)
{
    if (!index_lacks(x, "explain"))
        return;
    struct index_names n = {.promise = NULL};
    json_t *section = json_array(), *findings = json_array(), *sorts = json_array();
    name_all(&n, from);
    for (uint32_t i = 0; i < from->found.count; i++)
        index_add(&findings, finding_json(&n, &from->found.finding[i]));
    for (uint32_t i = 0; i < from->slow.count; i++)
        index_add(&sorts, sort_json(&n, &from->slow.sort[i]));
    index_add(&section, json_integer((json_int_t)from->found.left_out));
    index_add(&section, json_boolean(from->history->preemption_first));
    index_add(&section, index_names_json(&n, from->model));
    index_add(&section, findings);
    index_add(&section, sorts);
    index_add_model(x, from->model);
    index_put_section(x, "explain", section);
    index_names_fini(&n);
}

/* ---- Reading ---- */

static bool get_evidence(struct weft_evidence *e, const struct weft_model *m, const json_t *one)
{
    return index_get(e, evidence_fields, json_array_get(one, 0)) &&
           index_get_ref(json_array_get(one, 1), m, &e->promise) &&
           index_get_ref(json_array_get(one, 2), m, &e->other) && e->event < WEFT_EVIDENCE_EVENTS &&
           e->promise != WEFT_NONE;
}

static bool get_finding(struct weft_finding *f, const struct weft_model *m, const json_t *one)
{
    const json_t *evidence = json_array_get(one, 4), *affected = json_array_get(one, 5);
    const size_t evidences = json_array_size(evidence), affecteds = json_array_size(affected);
    if (evidences > WEFT_EVIDENCE_MAX || affecteds > WEFT_AFFECTED_MAX)
        return false;
    f->evidence = calloc(evidences + 1, sizeof *f->evidence);
    f->affected = calloc(affecteds + 1, sizeof *f->affected);
    bool fine =
        f->evidence && f->affected && index_get(f, finding_fields, json_array_get(one, 0)) &&
        f->kind < WEFT_FINDING_KINDS && f->confidence < WEFT_CONFIDENCES &&
        f->affected_total >= affecteds && index_get_ref(json_array_get(one, 1), m, &f->promise) &&
        f->promise != WEFT_NONE && index_get_text(json_array_get(one, 2), &f->text) &&
        index_get_text(json_array_get(one, 3), &f->doubt);
    for (size_t i = 0; fine && i < evidences; i++)
        fine = get_evidence(&f->evidence[f->evidences++], m, json_array_get(evidence, i));
    for (size_t i = 0; fine && i < affecteds; i++) {
        uint32_t *promise = &f->affected[f->affecteds++];
        fine = index_get_ref(json_array_get(affected, i), m, promise) && *promise != WEFT_NONE;
    }
    return fine;
}

static bool get_sort(struct weft_slow_sort *s, const struct weft_model *m, const json_t *one)
{
    return index_get(s, sort_fields, json_array_get(one, 0)) &&
           s->cause.share.kind < WEFT_STEP_KINDS &&
           index_get_ref(json_array_get(one, 1), m, &s->slowest) && s->slowest != WEFT_NONE &&
           index_get_ref(json_array_get(one, 2), m, &s->cause.share.promise) &&
           index_get_text(json_array_get(one, 3), &s->name) &&
           index_get_text(json_array_get(one, 4), &s->text) && s->text &&
           index_get_text(json_array_get(one, 5), &s->cause.name) &&
           index_get_text(json_array_get(one, 6), &s->cause.holder_name);
}

static bool get_all(struct cli_explained *to, const json_t *section)
{
    const json_t *findings = json_array_get(section, 3), *sorts = json_array_get(section, 4);
    const size_t count = json_array_size(findings), sort_count = json_array_size(sorts);
    if (!index_number(section, 0, UINT64_MAX, &to->found.left_out) || count > WEFT_FINDINGS_MAX ||
        sort_count > WEFT_SLOW_SORTS)
        return false;
    if (json_is_true(json_array_get(section, 1)))
        to->history->preemption_first = calloc(1, sizeof *to->history->preemption_first);
    to->found.finding = calloc(count + 1, sizeof *to->found.finding);
    bool fine = to->found.finding;
    for (size_t i = 0; fine && i < count; i++)
        fine = get_finding(&to->found.finding[to->found.count++], to->model,
                           json_array_get(findings, i));
    for (size_t i = 0; fine && i < sort_count; i++)
        fine = get_sort(&to->slow.sort[to->slow.count++], to->model, json_array_get(sorts, i));
    return fine;
}

static bool get_explained(struct cli_index *x, const json_t *section, struct cli_explained *to)
{
    struct cli_excerpt e;
    if (!index_excerpt(&e, x, json_array_get(section, 2)))
        return false;
    to->model = e.model;
    to->history = e.history;
    to->promises = e.promises;
    to->slow_known = true;
    if (get_all(to, section))
        return true;
    weft_findings_fini(&to->found);
    weft_slow_fini(&to->slow);
    index_excerpt_free(&e);
    to->model = NULL;
    to->history = NULL;
    to->slow_known = false;
    return false;
}

bool cli_index_get_explained(struct cli_index *x, struct cli_explained *to)
{
    const json_t *section = index_section(x, "explain");
    return section && index_checked(x, "explain", get_explained(x, section, to));
}
