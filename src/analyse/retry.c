/* SPDX-License-Identifier: ISC */
/* Attempts that fail, of which each begins as soon as the one before has failed: promises of one sort and creator, in the
 * order of creation. Several may be made side by side. */
#include <stdlib.h>

#include "analyse/finding.h"
#include "analyse/judge.h"
#include "analyse/loop.h"
#include "analyse/types.h"

#define PAUSE_NS WEFT__MS       /* a longer one is a pause */
#define LONG_NS (50 * WEFT__MS) /* attempts that take as long do not come thick and fast */
enum {
    BESIDE = 8, /* attempts side by side */
    LOOKED_AT = 16,
};

struct series {
    uint32_t creator, first, last;
    uint32_t count, others; /* … after waits for something else */
    int64_t failed_ns[BESIDE];
    int64_t sum_ns; /* of what the attempts took */
};

struct finder {
    struct weft__search *s;
    const struct weft_model *m;
    const struct weft_history *h;
    struct series *open, *worst; /* by family */
    uint64_t *total;             /* … attempts in all series that are long enough */
};

static bool has_failed(const struct weft_model *m, uint32_t p)
{
    return m->promise[p].becomes == WEFT_NONE && m->promise[p].outcome == WEFT_FAILED;
}

/* The last failure of a series up to a time, or INT64_MIN. */
static int64_t failure_before(const struct series *x, int64_t time_ns)
{
    int64_t last = INT64_MIN;
    for (uint32_t i = 0; i < BESIDE && i < x->count; i++)
        if (x->failed_ns[i] <= time_ns && x->failed_ns[i] > last)
            last = x->failed_ns[i];
    return last;
}

enum between { NOTHING, OTHERS, TIME };

/* What the creator waited for between a failure and the next attempt. */
static enum between waited(const struct finder *f, uint32_t creator, uint32_t family, int64_t from,
                           int64_t to)
{
    const struct weft_history *h = f->h;
    bool others = false;
    for (uint32_t i = weft_history_wait_from(h, creator, from), n = 0;
         i < h->waits_of_first[creator + 1] && n < LOOKED_AT; i++, n++) {
        const struct weft_wait *w = &h->wait[h->waits_of[i]];
        if (w->from_ns > to)
            break;
        if (weft__is_timer(f->m, w->source))
            return TIME;
        others |= f->s->families->of[w->source] != family && w->until_ns <= to;
    }
    return others ? OTHERS : NOTHING;
}

static void end_series(struct finder *f, uint32_t family)
{
    struct series *x = &f->open[family];
    if (x->count >= f->s->o->retries) {
        f->total[family] += x->count;
        if (x->count > f->worst[family].count)
            f->worst[family] = *x;
    }
    *x = (struct series){.creator = WEFT_NONE};
}

static void add(struct finder *f, uint32_t creator, uint32_t p)
{
    const struct weft_promise *q = &f->m->promise[p];
    uint32_t family = f->s->families->of[p];
    struct series *x = &f->open[family];
    if (x->creator != creator)
        end_series(f, family);
    int64_t failed = failure_before(x, q->start_ns);
    bool first = x->count == 0;
    if (!first && x->count >= BESIDE && failed == INT64_MIN)
        end_series(f, family);
    else if (!first && failed != INT64_MIN) {
        enum between did =
            creator == WEFT_ROOT ? NOTHING : waited(f, creator, family, failed, q->start_ns);
        if (q->start_ns - failed > PAUSE_NS || did == TIME)
            end_series(f, family);
        x->others += did == OTHERS;
    }
    if (!has_failed(f->m, p)) {
        if (q->outcome != WEFT_PENDING)
            end_series(f, family);
        return;
    }
    if (x->count == 0)
        *x = (struct series){.creator = creator, .first = p};
    x->last = p;
    x->failed_ns[x->count++ % BESIDE] = q->end_ns;
    x->sum_ns = weft__sum(x->sum_ns, q->end_ns - q->start_ns);
}

static void put_text(const struct finder *f, const struct series *x, struct weft__text *t)
{
    const struct weft_promise *first = &f->m->promise[x->first], *last = &f->m->promise[x->last];
    uint32_t reason = weft_model_reason(f->m, x->last), size = 0;
    const char *why = reason == WEFT_NONE ? NULL : weft_model_text(f->m, reason, &size);
    weft__put_full(t, f->m, x->creator);
    weft__put(t, " started ");
    weft__put_count(t, x->count);
    weft__put(t, " promises (");
    weft__put_family(t, f->m, f->s->families, f->s->families->of[x->first]);
    weft__put(t, ", %.64s), which all failed, from ", weft_model_type(f->m, x->first));
    weft__put_time(t, first->start_ns);
    weft__put(t, " to ");
    weft__put_time(t, last->end_ns);
    weft__put(t, ": each less than 1 ms after one before it had failed");
    if (why && size)
        weft__put(t, " (the last one: '%.*s')", (int)(size < 200 ? size : 200), why);
    weft__put(t, ".");
}

static void report(struct finder *f, uint32_t family)
{
    enum { SHOWN = 3 };
    const struct series *x = &f->worst[family];
    const struct weft_history *h = f->h;
    const struct weft_promise *promise = f->m->promise;
    struct weft__verdict v;
    uint64_t signs = weft__signs(f->s, WEFT_ROOT);
    signs |= x->creator == WEFT_ROOT ? WEFT__R_LOOP : 0;
    signs |= 2 * x->others > x->count ? WEFT__R_OTHER : 0;
    signs |= x->sum_ns / x->count > LONG_NS ? WEFT__R_SLOW : 0;
    if (!weft__judge(&v, WEFT_FINDING_RETRY_STORM, signs))
        return;
    int64_t from = promise[x->first].start_ns, to = promise[x->last].end_ns;
    struct weft_finding *g =
        weft__finding_add(f->s, WEFT_FINDING_RETRY_STORM, v.confidence,
                          x->creator == WEFT_ROOT ? x->first : x->creator, from, to, to - from);
    if (!g)
        return;
    struct weft__text t = {0};
    put_text(f, x, &t);
    weft__finding_text(f->s, g, &t);
    weft__finding_doubt(f->s, g, v.doubt);
    g->count = f->total[family];
    uint32_t low = weft_history_child_from(h, x->creator, from),
             end = h->children_first[x->creator + 1], shown = 0;
    for (uint32_t i = low; i < end && promise[h->children[i]].start_ns <= promise[x->last].start_ns;
         i++) {
        uint32_t p = h->children[i], by = h->resolution[p];
        if (f->s->families->of[p] != family || !has_failed(f->m, p))
            continue;
        weft__finding_affects(f->s, g, p);
        if (shown++ >= SHOWN && p != x->last)
            continue;
        weft__finding_evidence(f->s, g, promise[p].start_ns, WEFT_EVIDENCE_CREATED, p, x->creator);
        weft__finding_evidence(f->s, g, promise[p].end_ns, WEFT_EVIDENCE_FAILED, p,
                               by == WEFT_NONE ? WEFT_NONE : (uint32_t)f->m->interaction[by].actor);
    }
    weft__finding_sort(g);
}

void weft__find_retries(struct weft__search *s)
{
    struct finder f = {.s = s, .m = s->m, .h = s->h};
    uint32_t families = s->families->count;
    f.open = calloc(families, sizeof *f.open);
    f.worst = calloc(families, sizeof *f.worst);
    f.total = calloc(families, sizeof *f.total);
    s->failed |= !f.open || !f.worst || !f.total;
    for (uint32_t i = 0; i < families && !s->failed; i++)
        f.open[i].creator = WEFT_NONE;
    for (uint32_t c = 0; c < f.m->promises && !s->failed; c++)
        if (f.h->children_first[c + 1] - f.h->children_first[c] >= s->o->retries)
            for (uint32_t i = f.h->children_first[c]; i < f.h->children_first[c + 1]; i++)
                add(&f, c, f.h->children[i]);
    for (uint32_t i = 1; i < families && !s->failed; i++) {
        end_series(&f, i);
        if (f.worst[i].count)
            report(&f, i);
    }
    free(f.open);
    free(f.worst);
    free(f.total);
}
