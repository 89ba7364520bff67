/* SPDX-License-Identifier: ISC */
/* The part of try.h that is about what is made of a model: history, findings, paths, statistics, comparison. */
#pragma once

#include "analyse/diff.h"
#include "analyse/explain.h"
#include "analyse/path.h"
#include "analyse/stats.h"
#include "format/utf8.h"

/* keys lists lie one after another in items, whose values are below limit. */
static inline void try_lists(const uint32_t *first, const uint32_t *items, uint32_t keys,
                             uint32_t limit)
{
    REQUIRE(first[0] == 0);
    for (uint32_t i = 0; i < keys; i++)
        REQUIRE(first[i] <= first[i + 1]);
    for (uint32_t i = 0; i < first[keys]; i++)
        REQUIRE(items[i] < limit);
}

static inline void try_history(const struct weft_history *h)
{
    const struct weft_model *m = h->m;
    try_lists(h->waits_of_first, h->waits_of, m->promises, h->waits);
    try_lists(h->waits_for_first, h->waits_for, m->promises, h->waits);
    try_lists(h->runs_of_first, h->runs_of, m->promises, m->runs);
    try_lists(h->stream_first, h->stream_run, h->streams, m->runs);
    try_lists(h->notified_first, h->notified, m->promises, m->interactions);
    try_lists(h->children_first, h->children, m->promises, m->promises);
    REQUIRE(h->waits_of_first[m->promises] == h->waits);
    REQUIRE(h->runs_of_first[m->promises] == m->runs && h->stream_first[h->streams] == m->runs);
    REQUIRE(h->children_first[m->promises] == m->promises - 1);
    for (uint32_t i = 0; i < h->waits; i++) {
        const struct weft_wait *w = &h->wait[i];
        REQUIRE(w->reader < m->promises && w->source < m->promises && w->source != WEFT_ROOT);
        REQUIRE(w->begun_by < m->interactions && m->interaction[w->begun_by].kind == WEFT_WAITS);
        REQUIRE(w->end == WEFT_WAIT_OPEN || w->from_ns <= w->until_ns);
        REQUIRE((w->end == WEFT_WAIT_READ) == (w->ended_by != WEFT_NONE));
    }
    for (uint32_t i = 0; i < m->runs; i++) {
        REQUIRE(h->run_promise[i] < m->promises && weft_history_stream(h, i) < h->streams);
        REQUIRE(h->run_cause[i] == WEFT_NONE || h->run_cause[i] < m->interactions);
    }
    for (uint32_t s = 0; s < h->streams; s++) {
        uint32_t times;
        for (uint32_t i = h->idle_first[s]; i < h->idle_first[s + 1]; i++)
            REQUIRE(h->idle[i].stream == s && h->idle[i].start_ns < h->idle[i].end_ns);
        REQUIRE(weft_history_idle(h, s, 0, m->end_ns, 0, &times) >= 0);
    }
}

static inline void try_sentence(const char *text)
{
    size_t size = text ? strlen(text) : 0;
    char *clean = malloc(size + 1);
    REQUIRE(size > 0 && clean);
    REQUIRE(weft_text_clean(clean, size, text, size) == size && memcmp(clean, text, size) == 0);
    free(clean);
}

static inline void try_findings(const struct weft_history *h)
{
    const struct weft_model *m = h->m;
    struct weft_findings found;
    REQUIRE(weft_explain(&found, h, NULL, NULL, NULL) == 0);
    REQUIRE(found.count <= WEFT_FINDINGS_MAX);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct weft_finding *f = &found.finding[i];
        REQUIRE(f->kind < WEFT_FINDING_KINDS && f->confidence < WEFT_CONFIDENCES);
        REQUIRE(i == 0 || found.finding[i - 1].confidence >= f->confidence);
        REQUIRE(f->promise < m->promises && f->start_ns <= f->end_ns && f->cost_ns >= 0);
        REQUIRE(f->count > 0 && f->affecteds <= WEFT_AFFECTED_MAX &&
                f->affecteds <= f->affected_total);
        try_sentence(f->text);
        if (f->doubt)
            try_sentence(f->doubt);
        REQUIRE(f->evidences <= WEFT_EVIDENCE_MAX);
        for (uint32_t k = 0; k < f->evidences; k++) {
            const struct weft_evidence *e = &f->evidence[k];
            REQUIRE(e->event < WEFT_EVIDENCE_EVENTS && e->promise < m->promises);
            REQUIRE(e->other == WEFT_NONE || e->other < m->promises);
            REQUIRE(k == 0 || f->evidence[k - 1].time_ns <= e->time_ns);
        }
        for (uint32_t k = 0; k < f->affecteds; k++)
            REQUIRE(f->affected[k] < m->promises);
    }
    weft_findings_fini(&found);
}

static inline void try_path(const struct weft_history *h, uint32_t promise)
{
    const struct weft_model *m = h->m;
    const struct weft_promise *p = &m->promise[promise];
    struct weft_path path = {0};
    REQUIRE(weft_path_find(&path, h, promise) == 0);
    for (uint32_t i = 0; i < path.count; i++) {
        const struct weft_step *s = &path.step[i];
        REQUIRE(s->kind < WEFT_STEP_KINDS && s->promise < m->promises && s->from_ns < s->to_ns);
        REQUIRE(s->behind == WEFT_NONE || s->behind < m->promises);
        REQUIRE(s->from_ns == (i ? path.step[i - 1].to_ns : p->start_ns));
    }
    uint32_t shares;
    struct weft_share *share = weft_path_shares(&path, m, &shares);
    int64_t sum = 0;
    for (uint32_t i = 0; i < shares; i++)
        sum += share[i].total_ns;
    REQUIRE(path.count == 0 || sum == path.step[path.count - 1].to_ns - p->start_ns);
    free(share);
    weft_path_fini(&path);
}

static inline void try_stats(const struct weft_history *h)
{
    for (unsigned by = WEFT_BY_LABEL; by <= WEFT_BY_TYPE; by++) {
        struct weft_stats s;
        uint64_t count = 0;
        REQUIRE(weft_stats_find(&s, h, by, NULL, NULL) == 0);
        for (uint32_t i = 0; i < s.rows; i++) {
            const struct weft_stats_row *r = &s.row[i];
            REQUIRE(r->promise < h->m->promises && r->p50_ns <= r->p90_ns);
            REQUIRE(r->p90_ns <= r->p99_ns && r->p99_ns <= r->max_ns);
            REQUIRE(r->waiting_ns >= 0 && r->ready_ns >= 0 && r->running_ns >= 0);
            count += r->count;
        }
        REQUIRE(count == h->m->promises - 1);
        weft_stats_fini(&s);
    }
}

/* A run is not different from itself. */
static inline void try_diff(const struct weft_history *h)
{
    struct weft_diff d;
    REQUIRE(weft_diff_find(&d, &h, 1, h, NULL, NULL) == 0);
    REQUIRE(!d.divergence.found && d.changes == 0 && d.latencies == 0);
    weft_diff_fini(&d);
}

static inline void try_analyse(const struct weft_model *m)
{
    struct weft_history *h;
    REQUIRE(weft_history_new(&h, m, NULL, NULL) == 0);
    try_history(h);
    try_findings(h);
    for (uint32_t i = 1; i <= 8; i++)
        try_path(h, (uint32_t)((uint64_t)(m->promises - 1) * i / 8));
    try_stats(h);
    try_diff(h);
    weft_history_free(h);
}
